"""The review: findings listed, looked at, decided, taken back; each act is recorded and none writes over another's."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from unicodedata import category

import geopandas as gpd
import numpy as np
import shapely
from sqlalchemy import Connection

from geobill.domain.detection import (
    ATTRIBUTED,
    DECIDING,
    DISMISSED,
    IN_CASE,
    NOTED,
    PHOTOGRAPHED,
    SUSPECTED,
    UNDONE,
    UPHELD,
    FindingAct,
    FindingFile,
    Survey,
)
from geobill.errors import ConflictError, ReviewError
from geobill.pipeline.finding_prices import price_anew
from geobill.pipeline.scans import read_scan
from geobill.store.finding_queue import FindingQueue, Listed, Query, Totals
from geobill.store.ledger import Ledger
from geobill.store.registers import Registers
from geobill.store.surveys import SurveyRegister
from geobill.store.workspace import Workspace

MOST_NAMED = 10
LONGEST_NOTE = 4000


@dataclass(frozen=True)
class Page:
    """One page of the queue with the sums of the whole query."""

    totals: Totals
    rows: tuple[Listed, ...]
    offset: int


@dataclass(frozen=True)
class Look:
    """A finding as a reviewer sees it: its file, its survey, its geometry (workspace's system)."""

    file: FindingFile
    survey: Survey
    compared_at: str
    shape: Any


@dataclass(frozen=True)
class Decided:
    """What a decision on several findings came to: those that were changed, and those that somebody else had changed."""

    done: tuple[str, ...]
    changed_meanwhile: tuple[ConflictError, ...] = ()
    files: Mapping[str, FindingFile] = field(default_factory=dict)


# -- looked at


def list_findings(workspace: Workspace, query: Query, offset: int = 0, limit: int = 100) -> Page:
    """Return a page of the queue."""
    with workspace.database.read() as connection:
        queue = _queue(workspace, connection)
        return Page(queue.totals(query), tuple(queue.list_findings(query, offset, limit)), offset)


def list_surveys(workspace: Workspace) -> tuple[dict[str, Survey], frozenset[str]]:
    """Return every survey by id, and which of them were compared anew."""
    with workspace.database.read() as connection:
        register = _register(workspace, connection)
        return register.load_surveys(), register.replaced()


def look_at(workspace: Workspace, finding: str) -> Look:
    """Return one finding with its acts and geometry; an unknown id is refused."""
    with workspace.database.read() as connection:
        register = _register(workspace, connection)
        file = find_files(register, [finding])[finding]
        shape = _queue(workspace, connection).load_shapes([finding]).geometry.iloc[0]
        listed = register.load_surveys()[file.finding.survey]
        return Look(file, listed, register.compared_at(file.finding.survey), shape)


def find_next(workspace: Workspace, query: Query, after: str | None) -> str | None:
    """Return the finding that comes after one in a query's order, after the last the first; None where there is no other.

    The one itself needn't be in the query any more: somebody may have decided it, and its place still counts.
    """
    with workspace.database.read() as connection:
        return _queue(workspace, connection).find_beside(query, after)


def find_previous(workspace: Workspace, query: Query, before: str | None) -> str | None:
    """Return the finding that comes before one, as :func:`find_next`; before the first the last."""
    with workspace.database.read() as connection:
        return _queue(workspace, connection).find_beside(query, before, backwards=True)


def find_in_area(workspace: Workspace, query: Query, area: shapely.Geometry) -> gpd.GeoDataFrame:
    """Return the findings of a query that lie wholly within an area (workspace's system), with their versions.

    Returns
    -------
    GeoDataFrame
        ``id``, ``version``, ``kind``, ``state``, ``operator``, ``length_m`` and geometry.

    Raises
    ------
    ReviewError
        If the area is no valid polygon.
    """
    if area.geom_type not in ("Polygon", "MultiPolygon") or area.is_empty or not shapely.is_valid(area):
        why = shapely.is_valid_reason(area)
        raise ReviewError(
            f"The area that was drawn can't be used: {why}. Nothing was changed. Draw it again, without crossing lines.",
            "no_area",
        )
    with workspace.database.read() as connection:
        queue = _queue(workspace, connection)
        shapes, versions = queue.load_shapes(query=query), dict(queue.find_ids(query))
    shapely.prepare(area)
    inside = shapes[np.asarray(shapely.covers(area, shapes.geometry.to_numpy()), dtype=bool)]
    return inside.assign(version=[versions[i] for i in inside["id"]])


def load_audit(workspace: Workspace, offset: int = 0, limit: int = 200) -> list[FindingAct]:
    """Return what was done about findings, the latest first."""
    with workspace.database.read() as connection:
        return _register(workspace, connection).load_audit(offset, limit)


# -- decided


def decide(
    workspace: Workspace, seen: Mapping[str, int], kind: str, *, by: str, note: str, now: str, partly: bool = False
) -> Decided:
    """Uphold or dismiss findings, each on the version that the reviewer saw.

    Parameters
    ----------
    workspace : Workspace
    seen : mapping of finding's id to version
    kind : {'upheld', 'dismissed'}
    by : str
        Who decides.
    note : str
        Why; a dismissal needs it.
    now : str
        The moment in UTC, ISO text with Z.
    partly : bool
        Leave out those that somebody changed meanwhile instead of refusing them all.

    Raises
    ------
    ConflictError
        If one was changed meanwhile and ``partly`` isn't given.
    ReviewError
        If one is unknown or can't be decided as it is, the name is blank, or a dismissal says no reason.
    """
    if kind not in (UPHELD, DISMISSED):
        raise ReviewError(f"A decision can't be {kind!r}. Allowed: {UPHELD}, {DISMISSED}.", "no_decision")
    by, note = check_name(by), check_note(note)
    if kind == DISMISSED and not note:
        raise ReviewError(
            "A dismissal says why: the operator and the court will ask. Nothing was changed. Give a reason.",
            "no_reason",
        )
    with workspace.database.write() as connection:
        register = _register(workspace, connection)
        files = find_files(register, seen)
        if not partly:
            check_not_replaced(register, files)
        gone = find_replaced(register, files)
        taken = [i for i, f in files.items() if f.state == IN_CASE]
        if taken and not partly:
            case = files[taken[0]].case or ""
            raise ReviewError(
                f"{_named(taken)} is in the case {case}: what becomes of it is decided there (geobill case show {case}). Nothing was "
                "changed.",
                "in_case",
                case,
            )
        acts = [
            FindingAct(i, kind, by, note)
            for i, f in files.items()
            if i not in taken and i not in gone and not _is_repeated(f, kind, by, note, seen[i])
        ]
        return _save(register, acts, seen, now, partly)


def undo(workspace: Workspace, seen: Mapping[str, int], *, by: str, note: str = "", now: str) -> Decided:
    """Take back the last decision on findings; it stays on record. What is in a case is past taking back here."""
    by, note = check_name(by), check_note(note)
    with workspace.database.write() as connection:
        register = _register(workspace, connection)
        files = find_files(register, seen)
        nothing = [i for i, f in files.items() if f.undoable is None and f.version == seen[i]]
        if nothing:
            file = files[nothing[0]]
            why = f"a case, {file.case}, rests on it" if file.state == IN_CASE else "nothing was decided on it"
            message = f"There is nothing to take back of {_named(nothing)}: {why}. Nothing was changed."
            raise ReviewError(message, "nothing_to_undo" if file.case is None else "in_case", file.case or "")
        return _save(register, [FindingAct(i, UNDONE, by, note) for i in files], seen, now, partly=False)


def add_note(workspace: Workspace, finding: str, *, by: str, note: str, now: str) -> FindingFile:
    """Add a note to a finding."""
    by, note = check_name(by), check_note(note)
    if not note:
        raise ReviewError("The note is blank. Nothing was changed.", "blank_note")
    return _add(workspace, FindingAct(finding, NOTED, by, note), now)


def add_photo(
    workspace: Workspace, finding: str, path: Path, *, by: str, note: str = "", now: str, file_name: str = ""
) -> FindingFile:
    """Keep a photo (PNG or JPEG, or a scan as PDF) with a finding; ``file_name`` is what its sender called it, a label only."""
    scan = read_scan(path)
    by, note = check_name(by), check_note(note)
    name = label_of(file_name or path.name)
    with workspace.database.write() as connection:
        register = _register(workspace, connection)
        find_files(register, [finding])
        digest = Ledger(connection, workspace.database.tables).archive_file("paper", scan)
        register.save_acts([FindingAct(finding, PHOTOGRAPHED, by, note, None, digest, name)], {}, now)
        return register.load_files([finding])[finding]


def attribute(
    workspace: Workspace, seen: Mapping[str, int], operator: str, *, by: str, note: str = "", now: str
) -> Decided:
    """Say whose findings are, where the survey didn't know or was wrong; not in a case any more."""
    by, note = check_name(by), check_note(note)
    with workspace.database.write() as connection:
        register = _register(workspace, connection)
        known = Registers(connection, workspace.database.tables).load_operators()
        if operator not in known:
            raise ReviewError(
                f"There is no operator {operator!r} in this workspace (known: {', '.join(known) or 'none'}). Nothing was changed.",
                "no_operator",
            )
        files = find_files(register, seen)
        taken = [i for i, f in files.items() if f.state == IN_CASE]
        if taken:
            message = f"{_named(taken)} is in a case against {files[taken[0]].operator}. Nothing was changed."
            raise ReviewError(message, "in_case", files[taken[0]].case or "")
        acts = [FindingAct(i, ATTRIBUTED, by, note, operator) for i, f in files.items() if f.operator != operator]
        done = _save(register, acts, seen, now, partly=False)
        price_anew(workspace, connection, done.done)
        return replace(done, files=register.load_files(done.done))


def find_files(register: SurveyRegister, ids: Iterable[str]) -> dict[str, FindingFile]:
    """Return findings with their acts; an unknown id is refused."""
    wanted = list(ids)
    files = register.load_files(wanted)
    unknown = [i for i in wanted if i not in files]
    if unknown:
        raise ReviewError(
            f"There is no finding {_named(unknown)} in this workspace. Nothing was changed. See geobill finding list.",
            "no_finding",
            _named(unknown),
        )
    return files


def _is_repeated(file: FindingFile, kind: str, by: str, note: str, seen: int) -> bool:
    """Say whether a decision stands already, as its author saw or because they sent it twice.

    Where somebody else came first with the same one it isn't: its author is told, and their reason isn't dropped in silence.
    """
    if file.state != kind:
        return False
    last = next(a for a in reversed(file.acts) if a.kind in DECIDING)
    return file.version == seen or (last.kind, last.by, last.note) == (kind, by, note)


def find_replaced(register: SurveyRegister, files: Mapping[str, FindingFile]) -> list[str]:
    """Find those that left the queue undecided when their survey was compared anew: what they are about has a finding there."""
    replaced = register.replaced()
    return [i for i, f in files.items() if f.state == SUSPECTED and f.finding.survey in replaced]


def check_not_replaced(register: SurveyRegister, files: Mapping[str, FindingFile]) -> None:
    """Refuse findings that left the queue: the same metres would be held against somebody twice."""
    gone = find_replaced(register, files)
    if gone:
        raise ReviewError(
            f"{_named(gone)}: the survey was compared anew since, and what this is about has a finding of its own there; both would "
            "count the same metres. Nothing was changed. See geobill finding list.",
            "replaced",
            _named(gone),
        )


# -- what was typed


def spaced(text: str) -> str:
    r"""Return a text whose spaces are plain and whose lines end plainly: what is copied from a page or a paper has others.

    Examples
    --------
    >>> spaced(" R$\u00a0300,00\r\n")
    'R$ 300,00'
    """
    return "".join(" " if category(c) == "Zs" else c for c in text.replace("\r\n", "\n")).strip()


def check_name(by: str) -> str:
    """Return who acts; a blank or unprintable name is refused."""
    by = spaced(by)
    if not by.strip() or not by.isprintable() or len(by) > 120:
        raise ReviewError(
            f"{by[:120]!r} is no name: each act says who did it, in up to 120 letters. Nothing was changed.", "no_name"
        )
    return by.strip()


def check_note(note: str) -> str:
    """Return a note as it is kept; control characters other than line breaks, and very long texts, are refused."""
    text = spaced(note)
    if not text.replace("\n", " ").replace("\t", " ").isprintable() or len(text) > LONGEST_NOTE:
        raise ReviewError(
            f"The note holds characters that can't be seen, or more than {LONGEST_NOTE} of them. Nothing was changed. Type it anew.",
            "unreadable_note",
        )
    return text


def label_of(file_name: str) -> str:
    r"""Return the last part of a file's name as a label: it is shown, never opened; what can't be seen is left out.

    Examples
    --------
    >>> label_of("../../etc/passwd"), label_of("C:\\fotos\\poste 7.jpg"), label_of("..")
    ('passwd', 'poste 7.jpg', 'foto')
    """
    last = file_name.replace("\\", "/").rpartition("/")[2]
    shown = "".join(c for c in last if c.isprintable()).strip(" .")
    return shown[-120:] or "foto"


# -- kept


def _register(workspace: Workspace, connection: Connection) -> SurveyRegister:
    return SurveyRegister(connection, workspace.database.tables, workspace.database.srid)


def _queue(workspace: Workspace, connection: Connection) -> FindingQueue:
    return FindingQueue(connection, workspace.database.tables, workspace.database.srid)


def _add(workspace: Workspace, act: FindingAct, now: str) -> FindingFile:
    with workspace.database.write() as connection:
        register = _register(workspace, connection)
        find_files(register, [act.finding])
        register.save_acts([act], {}, now)
        return register.load_files([act.finding])[act.finding]


def _save(
    register: SurveyRegister, acts: Sequence[FindingAct], seen: Mapping[str, int], now: str, partly: bool
) -> Decided:
    conflicts: list[ConflictError] = []
    if partly:
        conflicts = register.find_conflicts(acts, seen)
        changed = {c.subject for c in conflicts}
        acts = [a for a in acts if a.finding not in changed]
    register.save_acts(acts, seen, now)
    done = tuple(a.finding for a in acts)
    return Decided(done, tuple(conflicts), register.load_files(done))


def _named(ids: Sequence[str]) -> str:
    more = f" and {len(ids) - MOST_NAMED} more" if len(ids) > MOST_NAMED else ""
    return ", ".join(ids[:MOST_NAMED]) + more
