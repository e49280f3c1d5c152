"""A month drafted, compared with the one before, and checked: what happens before ``bill`` issues."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path

from sqlalchemy import Connection

from geobill.billing.check import check_may_be_checked, latest, standing_check
from geobill.billing.month import draft_invoice
from geobill.documents.comparison import comparison_csv
from geobill.domain.check import CHECKED, DRAFT_NUMBER, DRAFTED, MonthCheck, OperatorComparison
from geobill.domain.dates import BillingMonth
from geobill.domain.finding import Finding
from geobill.domain.invoice import Invoice, OperatorBill, SetOff
from geobill.domain.record import sha256
from geobill.errors import InputError, StoreError
from geobill.pipeline.billing import (
    Say,
    changed_since_draft,
    check_folder,
    demand_of,
    differences,
    due_day,
    open_desk,
    own_templates,
    undecided_credits,
    write_files,
)
from geobill.pipeline.comparing import compare_month
from geobill.pipeline.decrees import month_decrees
from geobill.pipeline.month import Month, price_stored
from geobill.pipeline.month_page import month_page
from geobill.pipeline.papers import Desk, draft_prefix, inputs_of, invoice_papers
from geobill.pipeline.policy import month_policy_findings
from geobill.pipeline.standing import load_standing
from geobill.pipeline.suspensions import court_findings
from geobill.store.checks import Checks
from geobill.store.ledger import Ledger
from geobill.store.workspace import Workspace

DRAFT_FOLDER = "rascunho"


@dataclass(frozen=True)
class Comparison:
    """A month beside the one before, with who drafted and checked it.

    ``digest`` is that of today's figures. ``drafted`` is the last draft, of these figures or others; ``checked`` the
    last check that stands for these. ``unpriced`` says why last month can't be priced, where it can't.
    """

    month: BillingMonth
    previous: BillingMonth
    digest: str
    drafted: MonthCheck | None
    checked: MonthCheck | None
    operators: tuple[OperatorComparison, ...]
    unpriced: str | None = None


@dataclass(frozen=True)
class DraftedMonth:
    """What a run of ``bill --draft`` did: invoices without numbers, files written, the step recorded, what to know."""

    month: Month
    drafts: tuple[Invoice, ...]
    files: tuple[Path, ...]
    findings: tuple[Finding, ...]
    drafted: MonthCheck
    comparison: Comparison


def draft_month(
    workspace: Workspace,
    month: BillingMonth,
    *,
    by: str,
    drafted_on: date,
    out: Path,
    now: str,
    say: Say = lambda _: None,
) -> DraftedMonth:
    """Render a month's papers without numbers, and record who drafted which figures; nothing is issued.

    Raises
    ------
    InputError
        If the settings ask for a second person and nobody is named as the first.
    """
    if workspace.settings.billing.second_person and not by:
        raise InputError(
            "The settings ask for a second person ([billing] second_person = true): the draft must say who made it, so that "
            f"another can check it. Run geobill bill --month {month} --draft --by NAME."
        )
    check_folder(out)
    with workspace.database.write() as connection:
        ledger, checks = Ledger(connection, workspace.database.tables), Checks(connection, workspace.database.tables)
        desk = open_desk(workspace, connection, month, now, say, draft=True)
        standing = load_standing(workspace, connection, desk.month)
        demand = ledger.archive("demand", demand_of(workspace, connection, desk.month))
        drafted = MonthCheck(month, DRAFTED, by, demand, now)
        checks.save(drafted)
        say(f"comparing with {month.preceding()}")
        comparison = _comparison(workspace, connection, desk.month, checks.load(month))
        files, drafts = [], []
        for mine in standing.waiting:
            say(f"draft: {mine.operator.name}")
            drafts.append(_draft_invoice(desk, mine, drafted_on, standing.set_offs.get(mine.operator.id, ())))
            files += [(p.file_name, p.content) for p in invoice_papers(desk, mine, drafts[-1])]
        decrees = month_decrees(desk)
        findings = (
            *_issued_before(month, [o for o, d in standing.demanded.items() if d.invoice is not None]),
            *differences(desk.month.bill, standing.demanded),
            *undecided_credits(standing),
            *court_findings(desk.month.bill),
            *own_templates(desk.templates),
            *decrees.findings,
            *month_policy_findings(workspace.settings, desk.month),
        )
        files += [(p.file_name, p.content) for p in decrees.papers]
        files.append((f"conferencia-{month}.csv", comparison_csv(month, comparison.previous, comparison.operators)))
        files += month_page(desk, drafts, [name for name, _ in files], decrees.changes)
    try:
        written = write_files(out, files)
        _sweep(out, desk.month, {name for name, _ in files})
    except StoreError as fault:
        raise StoreError(f"{fault} The draft is recorded; only files are missing: draft again.") from None
    return DraftedMonth(desk.month, tuple(drafts), written, findings, drafted, comparison)


def check_month(
    workspace: Workspace, month: BillingMonth, *, by: str, note: str, now: str, say: Say = lambda _: None
) -> Comparison:
    """Compare a month with the one before; with a name, record that this person checked exactly these figures.

    Raises
    ------
    InputError
        If a name is given and there is no draft of exactly today's figures, or the settings ask for another person.
    """
    database = workspace.database
    with database.write() if by else database.read() as connection:
        ledger, checks = Ledger(connection, database.tables), Checks(connection, database.tables)
        say(f"pricing {month}")
        found = price_stored(workspace, connection, month)
        if by:
            text, taken = demand_of(workspace, connection, found), checks.load(month)
            digest = sha256(text)
            second = workspace.settings.billing.second_person
            changed = changed_since_draft(ledger, taken, text)
            check_may_be_checked(month, taken, digest, by, changed, second_person=second)
            checks.save(MonthCheck(month, CHECKED, by, digest, now, note))
        say(f"comparing with {month.preceding()}")
        return _comparison(workspace, connection, found, checks.load(month))


def _draft_invoice(desk: Desk, mine: OperatorBill, drafted_on: date, set_offs: tuple[SetOff, ...]) -> Invoice:
    """Invoice as it would be, without a number; it has no digest of its own, since it is no record."""
    found, settings = desk.month, desk.settings
    inputs = inputs_of(found, mine, desk.templates, set_offs)
    digests = tuple(sorted((role, sha256(text)) for role, text in inputs.items()))
    bill = replace(found.bill, basis=replace(found.bill.basis, digests=digests))
    due_on = due_day(settings, found.law, found.bill.month)  # not printed on a draft
    invoice = draft_invoice(bill, mine, found.law, settings.authority, DRAFT_NUMBER, drafted_on, due_on, set_offs)
    return replace(invoice, digest="")


def _issued_before(month: BillingMonth, issued: Sequence[str]) -> tuple[Finding, ...]:
    if not issued:
        return ()
    message = f"{len(issued)} invoices of {month} are issued already ({', '.join(issued)}): they aren't in this draft."
    return (Finding("issued_before", "note", message, "An issued invoice never changes."),)


def _sweep(out: Path, month: Month, written: set[str]) -> None:
    """Take away drafts of this month that an earlier run left and this one didn't make: nobody is to read them."""
    for left in out.glob(f"{draft_prefix(month)}*"):
        if left.name not in written:
            left.unlink(missing_ok=True)


def _comparison(workspace: Workspace, connection: Connection, found: Month, taken: list[MonthCheck]) -> Comparison:
    month, digest = found.bill.month, sha256(demand_of(workspace, connection, found))
    checked = standing_check(taken, digest, second_person=workspace.settings.billing.second_person)
    operators, unpriced = compare_month(workspace, connection, found)
    return Comparison(month, month.preceding(), digest, latest(taken, DRAFTED), checked, operators, unpriced)
