"""A month billed: numbers, lines, inputs and documents kept in one transaction, then written as files."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from pathlib import Path

import geopandas as gpd
from sqlalchemy import Connection

from geobill.billing.check import changes, check_may_be_issued, demand_text, latest
from geobill.billing.month import check_dates, draft_invoice, due_date, is_banking_day, issue_findings
from geobill.billing.standing import Demanded
from geobill.documents.overrides.folder import Templates, read_templates
from geobill.domain.apostila import PriceChange
from geobill.domain.check import DRAFTED, ISSUED, MonthCheck
from geobill.domain.dates import BillingMonth
from geobill.domain.finding import Finding
from geobill.domain.invoice import Bill, Invoice, OperatorBill, SetOff
from geobill.domain.record import sha256
from geobill.errors import InputError, StoreError
from geobill.intake.coverage import draw_coverage
from geobill.law.statutes.street_use import StreetUseLaw
from geobill.pipeline.decrees import month_decrees
from geobill.pipeline.month import Month, price_stored
from geobill.pipeline.month_page import month_page
from geobill.pipeline.papers import Desk, inputs_of, invoice_papers
from geobill.pipeline.policy import month_policy_findings, record_hand_edits
from geobill.pipeline.press import keep_press
from geobill.pipeline.standing import Standing, load_standing
from geobill.pipeline.suspensions import court_findings
from geobill.store.checks import Checks
from geobill.store.credits import CreditBook
from geobill.store.ledger import Ledger
from geobill.store.networks import Cadastre
from geobill.store.settings import Settings, holiday_on, replace_file
from geobill.store.workspace import Workspace

Say = Callable[[str], None]
NOTHING = Decimal("0.00")


@dataclass(frozen=True)
class BilledMonth:
    """What a run of ``bill`` did: invoices of the month, those issued now, files written, what to know.

    ``checked`` is another person's check on which the invoices issued now rest; None where the settings ask for none.
    ``decrees`` are issued decrees whose price isn't the recorded one any more.
    """

    month: Month
    invoices: tuple[Invoice, ...]
    issued_now: tuple[str, ...]
    files: tuple[Path, ...]
    findings: tuple[Finding, ...]
    checked: MonthCheck | None = None
    decrees: tuple[PriceChange, ...] = ()


def bill_month(
    workspace: Workspace,
    month: BillingMonth,
    *,
    issued_on: date,
    due_on: date | None,
    out: Path,
    now: str,
    by: str = "",
    say: Say = lambda _: None,
) -> BilledMonth:
    """Issue a month's invoices in one transaction, then write their documents and the drafts of decrees.

    Numbers, lines, inputs and the documents' bytes are kept together or not at all. Files are written after that,
    each whole or not at all, so a run that was cut off is finished by the next: it issues nothing twice.
    ``by`` names who issues, where that is to be recorded.

    Raises
    ------
    InputError
        If the settings ask for a second person and nobody else has checked exactly these figures, the due date has
        passed, or the folder can't be one.
    """
    check_folder(out)
    with workspace.database.write() as connection:
        ledger = Ledger(connection, workspace.database.tables)
        desk = open_desk(workspace, connection, month, now, say)
        standing = load_standing(workspace, connection, desk.month)
        waiting = standing.waiting
        due = due_on or due_day(workspace.settings, desk.month.law, month)
        checked = None
        if waiting:
            check_dates(issued_on, due, month)
            checked = _check_of_another(desk, ledger, say)
        decrees = month_decrees(desk)
        findings = (
            *issue_findings(month, issued_on, due_on is not None, len(waiting), workspace.settings.authority),
            *differences(desk.month.bill, standing.demanded),
            *undecided_credits(standing),
            *court_findings(desk.month.bill),
            *own_templates(desk.templates),
            *decrees.findings,
            *record_hand_edits(workspace, connection, now),
            *month_policy_findings(workspace.settings, desk.month),
        )
        new = [
            _issue(desk, ledger, mine, issued_on, due, say, standing.set_offs.get(mine.operator.id, ()))
            for mine in waiting
        ]
        if new and by:
            digest = sha256(demand_of(workspace, connection, desk.month))
            Checks(connection, workspace.database.tables).save(MonthCheck(month, ISSUED, by, digest, now))
        invoices = tuple(ledger.load_invoices(month, standing=True))
        numbers = [i.number for i in invoices]
        files = [(d.file_name, d.content) for d in ledger.load_documents(numbers)]
        say(f"papers of {month}")
        files += [(p.file_name, p.content) for p in decrees.papers]
        files += month_page(desk, invoices, [name for name, _ in files], decrees.changes)
    try:
        written = write_files(out, files)
    except StoreError as fault:
        raise StoreError(
            f"{fault} The invoices of {month} are issued and kept ({', '.join(numbers) or 'none'}); only their files are missing: "
            "then bill the month again, which issues nothing twice and writes them."
        ) from None
    issued_now = tuple(i.number for i in new)
    return BilledMonth(desk.month, invoices, issued_now, written, findings, checked, decrees.changes)


def open_desk(
    workspace: Workspace, connection: Connection, month: BillingMonth, now: str, say: Say, *, draft: bool = False
) -> Desk:
    """Price the month over an open transaction and lay out what its papers are made from."""
    say(f"pricing {month}")
    found = price_stored(workspace, connection, month, located=True)
    cadastre = Cadastre(connection, workspace.database.tables, workspace.database.srid)
    coverage = _coverage(cadastre, found, now)
    return Desk(workspace, connection, found, coverage, now, draft, read_templates(workspace.root))


def demand_of(workspace: Workspace, connection: Connection, found: Month) -> str:
    """Everything that a month demands, with who issues it and on which templates; see :func:`demand_text`."""
    standing = load_standing(workspace, connection, found)
    at_once = {o: d.paid_at_once.number for o, d in standing.demanded.items() if d.paid_at_once is not None}
    templates = read_templates(workspace.root).digests
    return demand_text(found.bill, workspace.settings.authority, templates, standing.set_offs, at_once)


def changed_since_draft(ledger: Ledger, taken: Sequence[MonthCheck], text: str) -> tuple[str, ...]:
    """Say what differs between the last draft and what is demanded now; nothing where there is no draft."""
    draft = latest(taken, DRAFTED)
    if draft is None or draft.digest == sha256(text):
        return ()
    return changes(ledger.load_archived(draft.digest), text)


def _check_of_another(desk: Desk, ledger: Ledger, say: Say) -> MonthCheck | None:
    """Return the check that the settings ask for, refusing to issue without it; None where they ask for none."""
    if not desk.settings.billing.second_person:
        return None
    bill = desk.month.bill
    taken = Checks(desk.connection, desk.workspace.database.tables).load(bill.month)
    text = demand_of(desk.workspace, desk.connection, desk.month)
    changed = changed_since_draft(ledger, taken, text)
    checked = check_may_be_issued(bill.month, taken, sha256(text), changed)
    say(f"conferido por {checked.by} em {checked.at}")
    return checked


def _issue(
    desk: Desk,
    ledger: Ledger,
    mine: OperatorBill,
    issued_on: date,
    due_on: date,
    say: Say,
    set_offs: tuple[SetOff, ...],
) -> Invoice:
    """Take the next number, book the invoice with its inputs, and keep its papers."""
    found, settings = desk.month, desk.settings
    number = f"{issued_on.year}/{ledger.next_number(issued_on.year):06d}"
    say(f"invoice {number}: {mine.operator.name}")
    kept = inputs_of(found, mine, desk.templates, set_offs)
    inputs = {role: ledger.archive(role, content) for role, content in kept.items()}
    bill = replace(found.bill, basis=replace(found.bill.basis, digests=tuple(sorted(inputs.items()))))
    invoice = draft_invoice(bill, mine, found.law, settings.authority, number, issued_on, due_on, set_offs)
    ledger.save_invoice(invoice, inputs, desk.now)
    keep_press(ledger, number)
    CreditBook(desk.connection, desk.workspace.database.tables).use(number, set_offs, desk.now)
    for paper in invoice_papers(desk, mine, invoice):
        ledger.save_document(number, paper.kind, paper.file_name, paper.content)
    return invoice


def own_templates(templates: Templates) -> tuple[Finding, ...]:
    """Say which templates of the workspace's own the papers are made with."""
    if not templates.files:
        return ()
    names = ", ".join(f"{name} ({digest[:12]}…)" for name, digest in templates.digests.items())
    return (
        Finding(
            "own_templates",
            "note",
            f"own templates in use (modelos próprios em uso): {names}",
            "geobill templates check shows what they change; each invoice keeps their text and digest",
        ),
    )


def differences(bill: Bill, demanded: Mapping[str, Demanded]) -> tuple[Finding, ...]:
    """Operators whose month, as it was demanded, is no longer what it would cost: said, never changed."""
    found = []
    now = {mine.operator.id: mine for mine in bill.operators}
    for owner, stands in demanded.items():
        mine = now.get(owner)  # None where its rows were taken back, or it is exempt by now
        total, lines = (mine.total, mine.lines) if mine else (NOTHING, ())
        fix = f"an issued invoice never changes: geobill correct --month {bill.month} --operator {owner} --reason TEXT settles it"
        if stands.invoice is None and stands.paid_at_once is not None:
            rest = "" if total == stands.total else f"; the month would now be R$ {total}"
            message = f"{owner} paid {bill.month} at once, R$ {stands.total} (note {stands.paid_at_once.number}){rest}"
            severity = "warning" if rest else "note"
            found.append(Finding("paid_at_once", severity, message, fix if rest else "no invoice is issued for it"))
        elif stands.is_partly_demanded and total != stands.total:
            numbers = ", ".join(dict.fromkeys(note.number for note, _ in stands.notes))
            message = (
                f"no invoice for {owner}: past months of a case demanded R$ {stands.total} of {bill.month} already "
                f"(note {numbers}); the whole month would be R$ {total}"
            )
            fix = f"if its other metres were never billed, {fix.partition(': ')[2].removesuffix(' settles it')} demands the rest"
            found.append(Finding("partly_demanded", "warning", message, fix))
        elif stands.invoice is not None and (total != stands.total or lines != stands.lines):
            notes = " with its notes" if stands.notes else ""
            message = f"invoice {stands.invoice.number} of {owner}{notes} stands at R$ {stands.total}; "
            message += f"the month would now be R$ {total}"
            if total == stands.total:
                fix = "its lines read otherwise now, its total doesn't: there is nothing to correct"
            found.append(Finding("differs_from_issued", "warning", message, fix))
    return tuple(found)


def undecided_credits(standing: Standing) -> tuple[Finding, ...]:
    """Say once that credits wait because nobody has decided which part of a debt may be set off (art. 14)."""
    if not standing.undecided:
        return ()
    named = ", ".join(f"{c.credit.id} of {c.credit.operator} (R$ {c.left})" for c in standing.undecided)
    message = "nothing is set off: art. 14 allows a part of the debt and doesn't say which, and set_off_share is hold; "
    message += f"credits: {named}"
    fix = "geobill policy set set_off_share SHARE, once it is decided (art. 15)"
    return (Finding("set_off_held", "warning", message, fix),)


def _coverage(cadastre: Cadastre, found: Month, now: str) -> gpd.GeoDataFrame:
    """Return the drawn coverage under the policy in force, drawing and keeping it where the policy changed since import."""
    policy, max_gap_m = found.policy, found.policy.as_text()["max_gap_m"]
    if found.batch is None:
        return found.zones
    if not cadastre.has_coverage(found.batch, policy.on_overlap, max_gap_m):
        drawn = draw_coverage(found.zones, policy.on_overlap, float(policy.max_gap_m))  # type: ignore[arg-type]
        cadastre.save_coverage(drawn, found.batch, policy.on_overlap, max_gap_m, now)
    return cadastre.load_coverage(found.batch, policy.on_overlap, max_gap_m)


def due_day(settings: Settings, law: StreetUseLaw, month: BillingMonth) -> date:
    """Day on which a month's invoices are due (art. 8), by the policy and the calendar of the settings."""
    day = int(law.figures.value("due_day", law.day_for(month)))
    return due_date(month, day, settings.policy_in(month), business_days(settings))


def business_days(settings: Settings) -> Callable[[date], bool]:
    """Return what tells whether banks and the city hall work on a day, by the calendar of the settings."""
    calendar = settings.calendar

    def works(day: date) -> bool:
        return is_banking_day(
            day,
            state=calendar.state,
            local_holiday=lambda d: any(holiday_on(h, d) for h in calendar.local_holidays),
            carnival=calendar.carnival_without_banking,
            corpus_christi=calendar.corpus_christi_without_banking,
        )

    return works


def check_folder(out: Path) -> None:
    """Refuse a folder for documents that can't be one, before anything is issued."""
    there = next(p for p in (out, *out.absolute().parents) if p.exists())
    if not there.is_dir():
        raise InputError(f"{there} is a file: the documents need a folder. Name another with --out DIR.")


def write_files(out: Path, files: list[tuple[str, bytes]]) -> tuple[Path, ...]:
    """Write documents, each whole or not at all; one that stands there unchanged is left alone."""
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as fault:
        raise StoreError(f"The folder {out} can't be made: {fault.strerror}. Name another with --out DIR.") from None
    for partial in out.glob(".*.part"):
        with suppress(OSError):  # in use by another run
            partial.unlink()  # left by a run that was cut off
    for name, content in files:
        target = out / name
        if not target.is_file() or target.read_bytes() != content:
            replace_file(target, content)
    return tuple(out / name for name, _ in files)
