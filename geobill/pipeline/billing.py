"""A month billed: numbers, lines, inputs and documents kept in one transaction, then written as files."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path

import geopandas as gpd
from sqlalchemy import Connection

from geobill.billing.check import changes, check_may_be_issued, demand_text, latest
from geobill.billing.month import check_dates, draft_invoice, due_date, is_banking_day, issue_findings
from geobill.documents.overrides.folder import Templates, read_templates
from geobill.domain.apostila import PriceChange
from geobill.domain.check import DRAFTED, ISSUED, MonthCheck
from geobill.domain.dates import BillingMonth
from geobill.domain.finding import Finding
from geobill.domain.invoice import Bill, Invoice, OperatorBill
from geobill.domain.record import sha256
from geobill.errors import InputError, StoreError
from geobill.intake.coverage import draw_coverage
from geobill.law.statutes.street_use import StreetUseLaw
from geobill.pipeline.decrees import month_decrees
from geobill.pipeline.month import Month, price_stored
from geobill.pipeline.month_page import month_page
from geobill.pipeline.papers import Desk, inputs_of, invoice_papers
from geobill.store.checks import Checks
from geobill.store.ledger import Ledger
from geobill.store.networks import Cadastre
from geobill.store.settings import Settings, holiday_on, replace_file
from geobill.store.workspace import Workspace

Say = Callable[[str], None]


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
        issued = {i.operator.id: i for i in ledger.load_invoices(month)}
        waiting = waiting_for(desk.month.bill, issued)
        due = due_on or due_day(workspace.settings, desk.month.law, month)
        checked = None
        if waiting:
            check_dates(issued_on, due, month)
            checked = _check_of_another(desk, ledger, say)
        decrees = month_decrees(desk)
        findings = (
            *issue_findings(month, issued_on, due_on is not None, len(waiting), workspace.settings.authority),
            *differences(desk.month.bill, issued),
            *own_templates(desk.templates),
            *decrees.findings,
        )
        new = [_issue(desk, ledger, mine, issued_on, due, say) for mine in waiting]
        if new and by:
            digest = sha256(demand_of(workspace, desk.month.bill))
            Checks(connection, workspace.database.tables).save(MonthCheck(month, ISSUED, by, digest, now))
        invoices = tuple(ledger.load_invoices(month))
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


def waiting_for(bill: Bill, issued: dict[str, Invoice]) -> list[OperatorBill]:
    """Operators with something due and no invoice of the month yet, in the order of their numbers."""
    return [o for o in bill.operators if o.total > 0 and o.operator.id not in issued]


def demand_of(workspace: Workspace, bill: Bill) -> str:
    """Everything that a month demands, with who issues it and on which templates; see :func:`demand_text`."""
    return demand_text(bill, workspace.settings.authority, read_templates(workspace.root).digests)


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
    text = demand_of(desk.workspace, bill)
    changed = changed_since_draft(ledger, taken, text)
    checked = check_may_be_issued(bill.month, taken, sha256(text), changed)
    say(f"conferido por {checked.by} em {checked.at}")
    return checked


def _issue(desk: Desk, ledger: Ledger, mine: OperatorBill, issued_on: date, due_on: date, say: Say) -> Invoice:
    """Take the next number, book the invoice with its inputs, and keep its papers."""
    found, settings = desk.month, desk.settings
    number = f"{issued_on.year}/{ledger.next_number(issued_on.year):06d}"
    say(f"invoice {number}: {mine.operator.name}")
    kept = inputs_of(found, mine, desk.templates)
    inputs = {role: ledger.archive(role, content) for role, content in kept.items()}
    bill = replace(found.bill, basis=replace(found.bill.basis, digests=tuple(sorted(inputs.items()))))
    invoice = draft_invoice(bill, mine, found.law, settings.authority, number, issued_on, due_on)
    ledger.save_invoice(invoice, inputs, desk.now)
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


def differences(bill: Bill, issued: dict[str, Invoice]) -> tuple[Finding, ...]:
    """Operators whose issued invoice is no longer what the month would cost: said, never changed."""
    found = []
    now = {mine.operator.id: mine for mine in bill.operators}
    for owner, invoice in issued.items():
        mine = now.get(owner)  # None where its rows were taken back, or it is exempt by now
        if mine is None or invoice.lines != mine.lines:
            found.append(
                Finding(
                    "differs_from_issued",
                    "warning",
                    f"invoice {invoice.number} of {owner} stands at R$ {invoice.total}; "
                    f"the month would now be R$ {mine.total if mine else '0.00'}",
                    "an issued invoice never changes, and geobill writes no credit or difference notes yet: correct it outside of "
                    "the program",
                )
            )
    return tuple(found)


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
    calendar = settings.calendar

    def banking(day: date) -> bool:
        return is_banking_day(
            day,
            state=calendar.state,
            local_holiday=lambda d: any(holiday_on(h, d) for h in calendar.local_holidays),
            carnival=calendar.carnival_without_banking,
            corpus_christi=calendar.corpus_christi_without_banking,
        )

    return due_date(month, int(law.figures.value("due_day", month.first_day)), settings.policy_in(month), banking)


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
