"""Decisions typed into the layer ``cases`` in QGIS come back: checked as the page checks them, and kept all at once or not at all.

What somebody else decided since the file was written is a conflict: it is named and left. The file is never written to,
so it may come twice: what it asks for and the register has already is not done again.
"""

import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from geobill.documents.field_styles import DISMISS, UNDO, UPHOLD
from geobill.domain.detection import (
    ATTRIBUTED,
    DECIDING,
    DISMISSED,
    IN_CASE,
    NOTED,
    UNDONE,
    UPHELD,
    FindingAct,
    FindingFile,
)
from geobill.errors import ConflictError, InputError
from geobill.intake.case_rows import (
    DECISION,
    FINDING,
    NOTE,
    OPERATOR,
    OPERATOR_READ,
    REASON,
    VERSION,
    WHO,
    CaseRow,
    read_case_rows,
)
from geobill.pipeline.finding_prices import price_anew
from geobill.pipeline.review import check_name, check_note, find_replaced
from geobill.store.registers import Registers
from geobill.store.surveys import SurveyRegister
from geobill.store.workspace import Workspace

ACTS = {UPHOLD: UPHELD, DISMISS: DISMISSED, UNDO: UNDONE}
MOST_NAMED, LONGEST_SHOWN = 10, 40


@dataclass(frozen=True)
class Taken:
    """What a row of the file came to: the acts that were recorded (kinds), and the finding after them."""

    finding: str
    row: int
    by: str
    acts: tuple[str, ...]
    state: str
    version: int
    operator: str | None


@dataclass(frozen=True)
class Synced:
    """What a file of decisions came to.

    ``already`` are findings for which it asks what is on record; ``conflicts`` stand with their rows.
    """

    file: str
    sha256: str
    read: int
    typed: int
    done: tuple[Taken, ...]
    already: tuple[str, ...]
    conflicts: tuple[tuple[int, ConflictError], ...]


@dataclass
class _Plan:
    """What all rows ask for together, as it is worked out row by row."""

    acts: list[FindingAct] = field(default_factory=list)
    seen: dict[str, int] = field(default_factory=dict)
    rows: dict[str, tuple[int, str]] = field(default_factory=dict)
    already: list[str] = field(default_factory=list)
    conflicts: list[tuple[int, ConflictError]] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)


def sync_cases(workspace: Workspace, path: Path, *, by: str, now: str, dry_run: bool = False) -> Synced:
    """Take the decisions, operators and notes that were typed into a file's layer ``cases``.

    Parameters
    ----------
    workspace : Workspace
    path : Path
        GeoPackage of ``geobill qgis`` or ``geobill detect --out``.
    by : str
        Who brings the file, and decides where a row names nobody else.
    now : str
        The moment in UTC, ISO text with Z.
    dry_run : bool
        Say what would be done; keep nothing.

    Raises
    ------
    InputError
        If the file can't be used, or any row asks for what can't be: each is named with row and column, and nothing is kept.
    """
    by = check_name(by)
    sent = read_case_rows(path)
    with (workspace.database.read if dry_run else workspace.database.write)() as connection:
        register = SurveyRegister(connection, workspace.database.tables, workspace.database.srid)
        operators = tuple(Registers(connection, workspace.database.tables).load_operators())
        plan = _plan(sent.rows, register, operators, by)
        if plan.faults:
            more = f"; and {len(plan.faults) - MOST_NAMED} more" if len(plan.faults) > MOST_NAMED else ""
            raise InputError(
                f"{path.name} can't be taken as it is: {'; '.join(plan.faults[:MOST_NAMED])}{more}. Nothing was changed. Mend these "
                "rows in QGIS, save, and bring the file again."
            )
        before = register.load_files(plan.rows)
        if not dry_run:
            register.save_acts(plan.acts, plan.seen, now)
            price_anew(workspace, connection, list(dict.fromkeys(a.finding for a in plan.acts if a.kind == ATTRIBUTED)))
    acts: dict[str, list[FindingAct]] = defaultdict(list)
    for act in plan.acts:
        acts[act.finding].append(act)
    done = []
    for finding, (row, who) in plan.rows.items():
        after = FindingFile(before[finding].finding, (*before[finding].acts, *acts[finding]))
        kinds = tuple(a.kind for a in acts[finding])
        done.append(Taken(finding, row, who, kinds, after.state, after.version, after.operator))
    return Synced(
        path.name, sent.sha256, sent.read, len(sent.rows), tuple(done), tuple(plan.already), tuple(plan.conflicts)
    )


def find_pending(workspace: Workspace, path: Path) -> tuple[str, ...]:
    """Return the findings for which a file asks something that isn't on record: writing it anew would lose that."""
    sent = read_case_rows(path)
    with workspace.database.read() as connection:
        register = SurveyRegister(connection, workspace.database.tables, workspace.database.srid)
        operators = tuple(Registers(connection, workspace.database.tables).load_operators())
        plan = _plan(sent.rows, register, operators, "?")
    known = {*plan.already}
    return tuple(dict.fromkeys(r.text[FINDING] or f"row {r.fid}" for r in sent.rows if r.text[FINDING] not in known))


def _plan(rows: Sequence[CaseRow], register: SurveyRegister, operators: Sequence[str], by: str) -> _Plan:
    plan = _Plan()
    files = register.load_files(r.text[FINDING] for r in rows if r.text[FINDING])
    gone = frozenset(find_replaced(register, files))
    by_finding: dict[str | None, list[CaseRow]] = defaultdict(list)
    for row in rows:
        by_finding[row.text[FINDING]].append(row)
    for finding, same in by_finding.items():
        row = same[0]
        if finding is None:
            plan.faults += [_fault(r, FINDING, "the row names no finding: rows can't be added in QGIS") for r in same]
        elif finding not in files:
            plan.faults.append(_fault(row, FINDING, "there is no such finding in this workspace"))
        elif len(same) > 1:
            others = ", ".join(str(r.fid) for r in same[1:4])
            plan.faults.append(_fault(row, FINDING, f"the finding stands in row {others} too: which of them counts?"))
        elif finding in gone and row.text[DECISION]:
            plan.conflicts.append((row.fid, _compared_anew(finding)))
        else:
            _plan_row(row, files[finding], operators, by, plan)
    return plan


def _plan_row(row: CaseRow, file: FindingFile, operators: Sequence[str], by: str, plan: _Plan) -> None:
    """Work out what one row asks for: faults, a conflict, nothing any more, or acts."""
    faults = len(plan.faults)
    who = _name(row, by, plan.faults)
    reason, note = (_text(row, column, plan.faults) for column in (REASON, NOTE))
    kind, owner = _decision(row, plan.faults), _owner(row, operators, plan.faults)
    version = _version(row, file, plan.faults)
    if kind == DISMISSED and not reason:
        plan.faults.append(_fault(row, REASON, f"{DISMISS!r} says why: the operator and the court will ask"))
    if reason and row.text[DECISION] is None and owner is None:
        plan.faults.append(_fault(row, REASON, "a reason without a decision: choose one, or put the text into nota"))
    if len(plan.faults) > faults:
        return
    finding, past = file.finding.id, _until(file, version)
    wanted = [FindingAct(finding, ATTRIBUTED, who, reason, owner)] if owner not in (None, past.operator) else []
    if kind is not None and not (kind == past.state and kind in (UPHELD, DISMISSED)):
        wanted.append(FindingAct(finding, kind, who, reason))
    if wanted and version < file.version:
        since = [a for a in file.acts if a.kind in DECIDING][version:]
        if _alike(since[: len(wanted)]) != _alike(wanted):
            last = since[-1]
            plan.conflicts.append((row.fid, _conflict(finding, last)))
            return
        wanted = []
    elif wanted and file.state == IN_CASE:
        column = OPERATOR if wanted[0].kind == ATTRIBUTED else DECISION
        plan.faults.append(_fault(row, column, f"it is in the case {file.case}: what becomes of it is decided there"))
        return
    elif any(a.kind == UNDONE for a in wanted) and file.undoable is None:
        plan.faults.append(_fault(row, DECISION, "nothing was decided on it that could be taken back"))
        return
    if wanted:
        plan.seen[finding] = version
    if note and not any(a.kind == NOTED and a.note == note for a in file.acts):
        wanted.append(FindingAct(finding, NOTED, who, note))
    if wanted:
        plan.acts += wanted
        plan.rows[finding] = row.fid, who
    else:
        plan.already.append(finding)


def _until(file: FindingFile, version: int) -> FindingFile:
    """Return a finding's file as it was when its version was this."""
    acts, count = [], 0
    for act in file.acts:
        count += act.kind in DECIDING
        if count > version:
            break
        acts.append(act)
    return FindingFile(file.finding, tuple(acts))


def _alike(acts: Iterable[FindingAct]) -> list[tuple[str, str | None, str]]:
    """Return what acts say, whoever did them."""
    return [(a.kind, a.other, a.note) for a in acts]


def _conflict(finding: str, last: FindingAct) -> ConflictError:
    message = (
        f"The finding {finding} was changed since the file was written: {last.kind} by {last.by} at {last.at}. Nothing of it was "
        "written over. Write the file again, look at it, then decide."
    )
    return ConflictError(message, finding, last.kind, last.by, last.at)


def _compared_anew(finding: str) -> ConflictError:
    message = (
        f"The survey of {finding} was compared anew since the file was written: what it is about has a finding of its own there. "
        "Nothing was changed for it. Write the file again, and decide that one."
    )
    return ConflictError(message, finding, "replaced", "", "")


# -- what was typed


def _decision(row: CaseRow, faults: list[str]) -> str | None:
    typed = row.text[DECISION]
    if typed is None:
        return None
    folded = unicodedata.normalize("NFC", " ".join(typed.split())).casefold()  # as people type it: NÃO PROCEDE, procede
    kind = next((act for word, act in ACTS.items() if word.casefold() == folded), None)
    if kind is None:
        faults.append(_fault(row, DECISION, f"it can only be {', '.join(ACTS)}"))
    return kind


def _owner(row: CaseRow, operators: Sequence[str], faults: list[str]) -> str | None:
    """Return the operator that was typed; None where none was."""
    typed = row.text[OPERATOR]
    if typed == row.text[OPERATOR_READ]:
        return None
    if typed is None:
        faults.append(_fault(row, OPERATOR, f"{row.text[OPERATOR_READ]!r} can be changed, and not taken away"))
    elif typed not in operators:
        faults.append(_fault(row, OPERATOR, f"no such operator (known: {', '.join(operators) or 'none'})"))
    return typed


def _version(row: CaseRow, file: FindingFile, faults: list[str]) -> int:
    """Return the version that the row was written from; only a text or a number that is whole is one."""
    text = str(row.version).strip().removesuffix(".0")
    if not (text.isascii() and text.isdigit()) or int(text[:9]) > file.version:
        faults.append(_fault(row, VERSION, "it isn't the version that geobill wrote there"))
        return 0
    return int(text[:9])


def _name(row: CaseRow, by: str, faults: list[str]) -> str:
    """Return who decides: the one whom the row names, with the one who brings it, else the latter."""
    typed = row.text[WHO]
    if typed is None or typed == by:
        return by
    try:
        return check_name(f"{check_name(typed)} (trazido por {by})")
    except InputError:
        faults.append(_fault(row, WHO, "no name: up to 120 letters, with that of who brings the file"))
        return by


def _text(row: CaseRow, column: str, faults: list[str]) -> str:
    try:
        return check_note(row.text[column] or "")
    except InputError:
        faults.append(_fault(row, column, "it has characters that can't be seen, or too many of them"))
        return ""


def _fault(row: CaseRow, column: str, why: str) -> str:
    value = str(row.version if column == VERSION else row.text[column] or "")
    shown = value if len(value) <= LONGEST_SHOWN else value[:LONGEST_SHOWN] + "…"
    named = f" ({row.text[FINDING][:LONGEST_SHOWN]!r})" if row.text[FINDING] and column != FINDING else ""
    return f"row {row.fid}{named}, column {column} {shown!r}: {why}"
