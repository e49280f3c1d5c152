"""The daily fine of a case charged: one note, a line a month, no day twice (art. 9 § 2)."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from functools import partial
from pathlib import Path

from sqlalchemy import Connection

from geobill.billing.cases import check_heard
from geobill.billing.fines import FinedDays, by_share, days_to_charge, fine_line
from geobill.domain.case import ACCEPTED, FINED, CaseFile, defence_outcome, fine_from
from geobill.domain.note import FINE, Note, NoteLine
from geobill.errors import InputError, LawError
from geobill.pipeline.case_inputs import inputs_of_case
from geobill.pipeline.cases import base_of, find_case
from geobill.pipeline.month import Stored, basis_of
from geobill.pipeline.notes import blank_note, issue_note, note_due, notes_folder, write_note_files
from geobill.store.notes import NoteBook
from geobill.store.workspace import Workspace

ZERO = Decimal("0.00")


@dataclass(frozen=True)
class FineCharged:
    """A fine's note (without a number where nothing was issued), the days that wait for a decision on R, and its files."""

    file: CaseFile
    note: Note | None
    held: tuple[FinedDays, ...]
    issued: bool
    files: tuple[Path, ...]


def charge_fine(
    workspace: Workspace,
    case: str,
    *,
    until: date,
    issued_on: date,
    due_on: date | None,
    by: str,
    out: Path | None,
    now: str,
    dry_run: bool = False,
    say: Callable[[str], None] = lambda _: None,
) -> FineCharged:
    """Charge the days of a case's fine up to a day that no note charges yet.

    Each day costs ``fine_share`` of the operator's price of the whole month in which it lies, as priced today. Days of a
    month whose price is held (arts. 7, 15) are left for a later note: the fine of a price that nobody knows is unknown.

    Raises
    ------
    LawError
        If the fine wasn't decided by the mayor (art. 9 § 6), or all of its days are held.
    InputError
        If the day is after the day of issue, or no day is left to charge.
    """
    if until > issued_on:
        raise InputError(
            f"--until {until.isoformat()} is after the day of issue {issued_on.isoformat()}: a day is fined once it has passed. "
            "Nothing was issued."
        )
    folder = notes_folder(workspace, out)
    with (workspace.database.read if dry_run else workspace.database.write)() as connection:
        stored = Stored(workspace, connection)
        file = find_case(stored.cases, case)
        spans = _days(workspace, connection, file, until)
        lines, held = _lines(stored, file, spans, say)
        if not lines:
            raise LawError(
                f"The price of {file.case.operator} is held in {held[0].month} (arts. 7, 15), and a fine is a share of it "
                "(art. 9 § 2). Nothing was issued. Record the decision on R first: geobill decision add …"
            )
        total = sum((line.amount for line in lines), ZERO)
        if not total:
            raise InputError(
                f"{file.case.operator} has no monthly price in those months, and the fine is a share of it (art. 9 § 2): there is "
                "nothing to charge. Nothing was issued."
            )
        due = due_on or note_due(workspace.settings, stored.law, issued_on)
        note = _note(workspace, stored, file, lines, total, issued_on, due, by)
        inputs = inputs_of_case(stored, file, dict.fromkeys(line.month for line in lines))
        note = blank_note(note) if dry_run else issue_note(workspace, connection, note, inputs, now=now)
    files = () if dry_run else write_note_files(workspace, [note.number], folder)
    return FineCharged(file, note, tuple(held), not dry_run, files)


def _days(workspace: Workspace, connection: Connection, file: CaseFile, until: date) -> list[FinedDays]:
    if fine_from(file) is None:
        if file.acts_of(FINED) and defence_outcome(file) == ACCEPTED:
            raise LawError(
                f"No fine runs under the case {file.case.id} any more: the defence against it was accepted (art. 9 §§ 4 to 6). "
                f"Nothing was issued. The case ends with geobill case dismiss {file.case.id} …"
            )
        raise LawError(
            f"No fine runs under the case {file.case.id}: the mayor decides it after the notice's term and the legal office's ruling "
            f"(art. 9 §§ 2, 6). Nothing was issued. Record it with geobill case fine {file.case.id} --on D --by WHO --reference R."
        )
    check_heard(file, "The fine")
    notes = NoteBook(connection, workspace.database.tables).load(case=file.case.id)
    spans = days_to_charge(file, notes, until)
    if not spans:
        charged = ", ".join(n.number for n in notes if n.kind == FINE) or "none"
        raise InputError(
            f"No day of the fine of the case {file.case.id} is left to charge up to {until.isoformat()} (it runs from "
            f"{fine_from(file)}; notes: {charged}): no day is fined twice. Nothing was issued."
        )
    return spans


def _lines(
    stored: Stored, file: CaseFile, spans: list[FinedDays], say: Callable[[str], None]
) -> tuple[list[NoteLine], list[FinedDays]]:
    """Charge each month's days; what is held is left out."""
    lines, held, bases = [], [], {}
    for span in spans:
        if span.month not in bases:
            say(f"{span.month}: price of {file.case.operator}")
            bases[span.month] = base_of(stored, span.month, file.case.operator)
        base = bases[span.month]
        if base is None:
            held.append(span)
            continue
        rounding, edition = stored.policy(span.month).rounding, stored.edition(span.month)[0]
        for part, share in by_share(span, partial(stored.law.figures.figure, "fine_share")):
            lines.append(fine_line(part, base, share.value or ZERO, share.article, rounding, edition))
    return lines, held


def _note(
    workspace: Workspace,
    stored: Stored,
    file: CaseFile,
    lines: list[NoteLine],
    total: Decimal,
    issued_on: date,
    due_on: date,
    by: str,
) -> Note:
    newest = lines[-1].month
    name, since, _ = stored.edition(newest)
    return Note(
        number="",
        kind=FINE,
        issued_on=issued_on,
        due_on=due_on,
        authority=workspace.settings.authority,
        operator=stored.operators[file.case.operator],
        basis=basis_of(stored.law, stored.policy(newest), stored.decisions, name, since, newest.first_day),
        cause=f"Notificação não atendida: {file.case.subject}",
        lines=tuple(lines),
        total=total,
        case=file.case.id,
        by=by,
    )
