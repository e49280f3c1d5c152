"""Past months of a case billed at once: double from the proven installation or the law's publication (arts. 10 § 3, 12)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from pathlib import Path

from sqlalchemy import Connection

from geobill.billing.cases import check_heard
from geobill.billing.month import issuer_incomplete
from geobill.billing.past import Demand, PastMonth, divide, held_by_year, limitation_of, note_lines
from geobill.domain.case import KINDS, UNREGISTERED, CaseFile, doubled_from, doubled_until
from geobill.domain.dates import BillingMonth
from geobill.domain.finding import Finding
from geobill.domain.invoice import Invoice
from geobill.domain.note import CREDIT, DIFFERENCE, RETROACTIVE, SINGLE_PAYMENT, Note, NoteLine
from geobill.errors import BooksDontCloseError, InputError, LawError
from geobill.pipeline.billing import due_day
from geobill.pipeline.case_inputs import inputs_of_case
from geobill.pipeline.month import Stored, basis_of
from geobill.pipeline.notes import blank_note, issue_note, note_due, notes_folder, write_note_files
from geobill.pipeline.past import Past, parts
from geobill.pipeline.replay import priced_again
from geobill.store.ledger import Ledger
from geobill.store.notes import NoteBook
from geobill.store.workspace import Workspace

ZERO = Decimal("0.00")
Say = Callable[[str], None]
WHAT = {False: "equipamento clandestino", True: "rede sem cadastro entregue"}


@dataclass(frozen=True)
class Retroactive:
    """Past months of a case: the note (without a number where nothing was issued), its months, files and findings."""

    file: CaseFile
    note: Note | None
    demand: Demand
    months: tuple[PastMonth, ...]
    priced: int
    issued: bool
    files: tuple[Path, ...]
    findings: tuple[Finding, ...]


def bill_retroactive(
    workspace: Workspace,
    case: str,
    *,
    until: BillingMonth | None,
    issued_on: date,
    due_on: date | None,
    by: str,
    out: Path | None,
    now: str,
    dry_run: bool = False,
    say: Say = lambda _: None,
) -> Retroactive:
    """Work out each past month of a decided case, and issue what is still to be demanded as one note, a line a month.

    Each month takes its own edition of the Mapa de Valores, figures of law and policy; R is that of the operator's network in
    that month. What the same metres were charged on the month's invoice, or on an earlier note of the case, is taken off.
    Months past the limitation are worked out and held (policy ``limitation_years``).

    Parameters
    ----------
    workspace : Workspace
    case : str
        Id of a case of a clandestine or an unregistered network that was decided.
    until : BillingMonth, optional
        Last month; by default the operator's last one that is invoiced, or the one before the day of issue.
    issued_on, due_on : date
        Day of issue, from which the age of a month counts; due date, by default the next due day of art. 8.
    by : str
        Who issues.
    out : Path, optional
        Folder for the files.
    now : str
        The moment in UTC, ISO text with Z.
    dry_run : bool
        Work it out and write nothing.

    Raises
    ------
    InputError
        If there is no such case, its rows aren't stored, or ``until`` isn't past.
    LawError
        If the case isn't decided for doubling (art. 10 §§ 1, 2).
    BooksDontCloseError
        If an issued invoice can't be computed again from its archive: what was paid isn't known then.
    """
    folder = notes_folder(workspace, out)
    with (workspace.database.read if dry_run else workspace.database.write)() as connection:
        stored = Stored(workspace, connection)
        file = _decided(stored, case)
        first, last = past_span(workspace, connection, stored, file, until, issued_on)
        say(f"{file.case.id}: {first} to {last}")
        months, priced, settled = _months(workspace, connection, stored, file, first, last)
        today = stored.policy(BillingMonth.of(issued_on))
        demand = divide(months, limitation_of(today, stored.decisions, issued_on), issued_on)
        findings = (*_findings(demand), *_settled(settled), *issuer_incomplete(workspace.settings.authority))
        note = None
        if demand.demanded:
            due = due_on or note_due(workspace.settings, stored.law, issued_on)
            note = _note(stored, workspace, file, demand, issued_on, due, by)
            inputs = inputs_of_case(stored, file, (m.month for m in demand.demanded))
            note = blank_note(note) if dry_run else issue_note(workspace, connection, note, inputs, now=now)
    issued = note is not None and not dry_run
    files = write_note_files(workspace, [note.number], folder) if note is not None and issued else ()
    return Retroactive(file, note, demand, months, priced, issued, files, findings)


def _decided(stored: Stored, case: str) -> CaseFile:
    """Return a case that was decided for doubling and whose rows are there; anything else is refused."""
    file = stored.cases.get(case)
    if file is None:
        known = ", ".join(stored.cases) or "none"
        raise InputError(f"There is no case {case!r} (open or closed: {known}). See geobill case list.")
    if doubled_from(file, stored.law.figures.published_on) is None:
        raise LawError(
            f"The case {case} isn't decided for doubling: past months are charged after the Secretary's act, the defence heard "
            f"(arts. 10 §§ 1 to 3, 12 § 3). Nothing was issued. See what it lacks with geobill case show {case}."
        )
    check_heard(file, "What is past")
    ids = {
        "segment": set(stored.segments[stored.segments["operator"] == file.case.operator]["segment"]),
        "equipment": set(stored.equipment[stored.equipment["operator"] == file.case.operator]["equipment"]),
    }
    lost = sorted({*file.case.segments} - ids["segment"]) + sorted({*file.case.equipment} - ids["equipment"])
    if lost:
        raise InputError(
            f"The case {case} names {', '.join(lost[:5])}, which {file.case.operator} has no stored row of: their past months would "
            "be left out. Nothing was issued. Import those rows, or open a case for what is there."
        )
    return file


def past_span(
    workspace: Workspace,
    connection: Connection,
    stored: Stored,
    file: CaseFile,
    until: BillingMonth | None,
    issued_on: date,
) -> tuple[BillingMonth, BillingMonth]:
    """Return the first and the last month of a decided case that is past and not to come with the operator's next invoices.

    Raises
    ------
    InputError
        If ``until`` isn't past, or no month is.
    """
    since = doubled_from(file, stored.law.figures.published_on)
    assert since is not None
    first, this = BillingMonth.of(since), BillingMonth.of(issued_on)
    invoiced = [
        i.month for i in _standing(connection, workspace) if i.operator.id == file.case.operator and i.month < this
    ]
    before = this.preceding()
    last = until or max(invoiced, default=before)
    if until is not None and until >= this:
        raise InputError(
            f"--until {until} isn't past on {issued_on.isoformat()}: that month comes with the operator's own invoice (geobill bill). "
            "Nothing was issued."
        )
    ended = doubled_until(file)
    if ended is not None:
        last = min(last, BillingMonth.of(ended))
    if last < first:
        raise InputError(
            f"The case {file.case.id} has no past month: it counts from {since.isoformat()}, and {last} is the last month that isn't "
            "charged with the operator's own invoices. Nothing was issued."
        )
    return first, last


def _months(
    workspace: Workspace,
    connection: Connection,
    stored: Stored,
    file: CaseFile,
    first: BillingMonth,
    last: BillingMonth,
) -> tuple[tuple[PastMonth, ...], int, list[str]]:
    """Work out each month: what it costs, what was demanded; how many were priced, and which another note settled."""
    segments, equipment = frozenset(file.case.segments), frozenset(file.case.equipment)
    ledger, book = Ledger(connection, workspace.database.tables), NoteBook(connection, workspace.database.tables)
    invoices = {i.month: i for i in _standing(connection, workspace) if i.operator.id == file.case.operator}
    notes = book.load(operator=file.case.operator)
    corrected = {
        line.month: n.number for n in notes if n.kind in (CREDIT, DIFFERENCE, SINGLE_PAYMENT) for line in n.lines
    }
    earlier, entangled = _earlier(stored, file, notes)
    corrected |= entangled
    past, found, settled = Past(stored, file.case.operator), [], []
    for month in first.until(last):
        if month in corrected:
            settled.append(f"{month} ({corrected[month]})")
            continue
        lines, held, reducer = past.lines(month, segments, equipment)
        invoice = invoices.get(month)
        before = sum((line.amount for line in earlier if line.month == month), ZERO)
        if invoice is not None:
            before += _paid(ledger, invoice, workspace, segments, equipment)
        found.append(
            PastMonth(
                month=month,
                due_on=due_day(workspace.settings, stored.law, month),
                lines=lines,
                now=sum((line.amount for line in lines), ZERO),
                before=before,
                edition=stored.edition(month)[0],
                reducer=reducer,
                held=held,
                invoice=None if invoice is None else invoice.number,
            )
        )
    return tuple(found), past.priced, settled


def _earlier(stored: Stored, file: CaseFile, notes: Sequence[Note]) -> tuple[list[NoteLine], dict[BillingMonth, str]]:
    """Return what notes demanded for these rows before: those of the case, and of others that name the same rows.

    A row may be clandestine by one case and unregistered by another. What the other demanded is taken off where all of its
    rows are this case's; where only some are, which part of its figure was theirs isn't on the note: those months, by the
    note's number, are for ``correct``, which compares the whole of them.
    """
    mine, found, entangled = _rows_of(file), [], dict[BillingMonth, str]()
    for note in notes:
        if note.kind != RETROACTIVE or note.case not in stored.cases:
            continue
        theirs = _rows_of(stored.cases[note.case])
        if theirs <= mine:
            found += note.lines
        elif theirs & mine:
            entangled |= {line.month: note.number for line in note.lines}
    return found, entangled


def _rows_of(file: CaseFile) -> set[tuple[str, str]]:
    return {("segment", i) for i in file.case.segments} | {("equipment", i) for i in file.case.equipment}


def _paid(
    ledger: Ledger, invoice: Invoice, workspace: Workspace, segments: frozenset[str], equipment: frozenset[str]
) -> Decimal:
    """Return what an issued invoice charged for some rows, in reais: their part of its lines, computed from its own archive."""
    again = priced_again(ledger, invoice, workspace.settings.municipality.srid)
    mine = next((o for o in again.bill.operators if o.operator.id == invoice.operator.id), None)
    if mine is None or mine.lines != invoice.lines:
        raise BooksDontCloseError(
            f"The invoice {invoice.number} can't be computed again from its archive, so what it charged for these metres isn't known. "
            f"Nothing was issued. See geobill verify {invoice.number}."
        )
    rounding = next(use.value for use in invoice.basis.policy if use.key == "rounding")
    lines, _, _ = parts(again, invoice.operator.id, segments, equipment, rounding)
    return sum((line.amount for line in lines), ZERO)


def _standing(connection: Connection, workspace: Workspace) -> list[Invoice]:
    """Issued invoices that weren't cancelled."""
    return Ledger(connection, workspace.database.tables).load_invoices(standing=True)


def _note(
    stored: Stored, workspace: Workspace, file: CaseFile, demand: Demand, issued_on: date, due_on: date, by: str
) -> Note:
    months = demand.demanded
    unregistered = file.case.kind == UNREGISTERED
    article = KINDS[file.case.kind]
    articles = tuple(dict.fromkeys(a for m in months for line in m.lines for a in line.articles))
    newest = months[-1].month
    name, since, _ = stored.edition(newest)
    rest = "" if unregistered else f", desde {_since(stored, file)}"
    reach = stored.policy(BillingMonth.of(issued_on)).limitation_years  # how far back is of the day of issue
    rules = replace(stored.policy(newest), limitation_years=reach)
    basis = basis_of(stored.law, rules, stored.decisions, name, since, newest.first_day)
    decided = demand.limitation.decision
    if decided is not None and decided not in {d.id for d in basis.decisions}:
        basis = replace(basis, decisions=(*basis.decisions, stored.decisions[decided]))
    return Note(
        number="",
        kind=RETROACTIVE,
        issued_on=issued_on,
        due_on=due_on,
        authority=workspace.settings.authority,
        operator=stored.operators[file.case.operator],
        basis=basis,
        cause=f"Meses passados de {WHAT[unregistered]} (art. {article}){rest}: {file.case.subject}",
        lines=note_lines(demand, WHAT[unregistered], articles),
        total=demand.total,
        held=held_by_year(file.case.operator, demand),
        case=file.case.id,
        by=by,
    )


def _since(stored: Stored, file: CaseFile) -> str:
    since = doubled_from(file, stored.law.figures.published_on)
    assert since is not None
    return since.strftime("%d/%m/%Y")


def _findings(demand: Demand) -> tuple[Finding, ...]:
    found = []
    years = demand.limitation.years
    if demand.held:
        total = sum((m.amount for m in demand.held), ZERO)
        message = (
            f"{len(demand.held)} month(s), {demand.held[0].month} to {demand.held[-1].month}, are older than {years} years: "
            f"R$ {total} worked out and held; the law has no term of limitation (art. 15)"
        )
        fix = "Record who decided how many years count: geobill decision add --question limitation_years --answer YEARS|none …"
        found.append(Finding("limitation", "warning", message, fix))
    if demand.lapsed:
        total = sum((m.amount for m in demand.lapsed), ZERO)
        message = (
            f"{len(demand.lapsed)} month(s) before {demand.lapsed[-1].month.following()} aren't demanded: R$ {total}, by the decision "
            f"{demand.limitation.decision} on {years} years"
        )
        found.append(Finding("lapsed", "note", message, "The decision is printed on the note."))
    return tuple(found)


def _settled(settled: list[str]) -> tuple[Finding, ...]:
    if not settled:
        return ()
    message = f"left out, since another note settled or charged more than these rows in them: {', '.join(settled)}"
    fix = "What those months still cost comes out of geobill correct --month YYYY-MM."
    return (Finding("settled_by_note", "warning", message, fix),)
