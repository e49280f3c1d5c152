"""Findings become a case: their stretches come in as rows that nothing is charged for yet, and their paper is drawn up."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from pathlib import Path

import geopandas as gpd
import shapely
from sqlalchemy import Connection

from geobill.billing.openings import find_objections, is_equipment, kind_of_case, without_width
from geobill.billing.permits import Missing
from geobill.documents.constatacao import FINDINGS_PAPER
from geobill.domain import case as acts
from geobill.domain.case import CLANDESTINE, Case, CaseAct
from geobill.domain.detection import (
    CLANDESTINE_KINDS,
    IN_CASE,
    FieldFinding,
    FindingAct,
    FindingFile,
    Survey,
)
from geobill.domain.finding import CrsUse, Finding, ImportReport
from geobill.domain.network import SUSPECTED
from geobill.errors import InputError
from geobill.frames import ASIDE, EQUIPMENT, SEGMENTS, plan_lengths, whole_units
from geobill.pipeline.billing import check_folder, write_files
from geobill.pipeline.blocks import refusal
from geobill.pipeline.case_grounds import render_auto
from geobill.pipeline.cases import CaseState, case_folder, find_case, record_case, state_of
from geobill.pipeline.judged_once import find_seen_twice
from geobill.pipeline.law import load_law
from geobill.pipeline.month import Stored
from geobill.pipeline.review import check_name, check_not_replaced, find_files
from geobill.store.batches import Batches
from geobill.store.cases import CaseRegister
from geobill.store.finding_queue import FindingQueue
from geobill.store.networks import Cadastre
from geobill.store.surveys import SurveyRegister
from geobill.store.workspace import Workspace

CENTIMETRE = Decimal("0.01")


@dataclass(frozen=True)
class Opening:
    """What is typed of a case that is opened on findings: its id, what it is about, who opens it and when.

    ``kind`` and ``operator``, where they are given, must be those of the findings; ``reference`` is the number of the auto de
    constatação; ``default_width_m`` the width of stretches that the survey gives none for (art. 7).
    """

    id: str
    subject: str
    opened_on: date
    by: str
    kind: str | None = None
    operator: str | None = None
    permit: str | None = None
    reference: str = ""
    default_width_m: Decimal | None = None


@dataclass(frozen=True)
class Opened:
    """A case that was opened on findings: its state, its first act, the batches of its rows, the files of its paper."""

    state: CaseState
    act: CaseAct
    findings: tuple[str, ...]
    batches: tuple[str, ...]
    files: tuple[Path, ...]


def open_case_on(workspace: Workspace, seen: Mapping[str, int], opening: Opening, *, now: str, today: date) -> Opened:
    """Open a case on findings: their rows come in, the auto de constatação is drawn up, all in one transaction.

    What nobody declared becomes rows of status ``suspected``, which cost nothing until the case is decided (art. 10 § 1), with
    the finding's id; what is wider, larger or elsewhere than permitted is a case about the permitted rows (art. 4).

    Parameters
    ----------
    workspace : Workspace
    seen : mapping of finding's id to version
        Each as whoever opens the case saw it.
    opening : Opening
    now : str
        The moment in UTC, ISO text with Z.
    today : date
        The case can't be opened on a later day.

    Raises
    ------
    ConflictError
        If somebody decided on one of them in between.
    InputError
        If they are of several operators or kinds of case, of an unknown operator, dismissed, not upheld by anybody, in a case,
        the day is to come, or nothing can be priced by what the survey says of them (art. 7).
    LawError
        As :func:`geobill.pipeline.cases.open_case`.
    """
    by = check_name(opening.by)
    folder = case_folder(workspace, opening.id)
    check_folder(folder)
    with workspace.database.write() as connection:
        register = SurveyRegister(connection, workspace.database.tables, workspace.database.srid)
        files = find_files(register, seen)
        check_not_replaced(register, files)
        marks = [FindingAct(i, IN_CASE, by, "", opening.id) for i in files]
        for conflict in register.find_conflicts(marks, seen):
            raise conflict
        surveys = register.load_surveys()
        against = _objections(connection, workspace, files, surveys, opening, today)
        if against:
            raise InputError(refusal("No case can be opened on these findings", against))
        kind, operator = _kind_and_operator(files, opening)
        law = load_law(workspace, connection)
        case = Case(opening.id, kind, operator, opening.opened_on, opening.subject, opening.permit)
        batches: tuple[str, ...] = ()
        if kind == CLANDESTINE:
            batches = _add_rows(workspace, connection, list(files.values()), surveys, case, opening, now)
        segments, equipment = _rows_of(files.values(), kind)
        case = replace(case, segments=segments, equipment=equipment)
        record_case(workspace, connection, case, law, now)
        register.save_acts(marks, seen, now)
        act = CaseAct(case.id, acts.FOUND, case.opened_on, by, opening.reference)
        cases = CaseRegister(connection, workspace.database.tables)
        cases.save_act(act, now)
        stored = Stored(workspace, connection)
        file = find_case(stored.cases, case.id)
        after = register.load_files(files)
        made = render_auto(workspace, connection, stored, file, act, list(after.values()))
        name = f"{len(file.acts):02d}-{FINDINGS_PAPER.removeprefix('caso_')}"
        papers = [(f"{name}.{form}", content) for form, content in made.items()]
        for form, (file_name, content) in zip(made, papers, strict=True):
            paper = FINDINGS_PAPER if form == "pdf" else f"{FINDINGS_PAPER}_{form}"
            cases.save_document(case.id, paper, file_name, content, now)
    return Opened(state_of(file, law), act, tuple(files), batches, write_files(folder, papers))


def findings_of(workspace: Workspace, case: str) -> tuple[FindingFile, ...]:
    """Return the findings on which a case stands, in the order in which they were found; empty for a case without any."""
    with workspace.database.read() as connection:
        register = SurveyRegister(connection, workspace.database.tables, workspace.database.srid)
        return tuple(register.load_files(register.cases_of(case)).values())


def find_finding(workspace: Workspace, name: str) -> FindingFile | None:
    """Return the finding of an id; None where there is none, or a case is called so."""
    with workspace.database.read() as connection:
        if name in CaseRegister(connection, workspace.database.tables).load_files():
            return None
        register = SurveyRegister(connection, workspace.database.tables, workspace.database.srid)
        return register.load_files([name]).get(name)


def objections_to(workspace: Workspace, findings: Iterable[str], opening: Opening, today: date) -> list[Missing]:
    """Say what is against opening a case on findings, as they are now; unknown ids and replaced ones are refused."""
    with workspace.database.read() as connection:
        register = SurveyRegister(connection, workspace.database.tables, workspace.database.srid)
        files = find_files(register, findings)
        check_not_replaced(register, files)
        return _objections(connection, workspace, files, register.load_surveys(), opening, today)


@dataclass(frozen=True)
class Narrow:
    """Stretches that the survey gives no width for, and the width that priced them where all their surveys had the same one."""

    findings: tuple[str, ...]
    width_m: Decimal | None


def find_narrow(workspace: Workspace, findings: Iterable[str]) -> Narrow:
    """Return those of some findings that can be charged only by a width that somebody gives (art. 7); unknown ids are refused."""
    with workspace.database.read() as connection:
        register = SurveyRegister(connection, workspace.database.tables, workspace.database.srid)
        found = [f.finding for f in find_files(register, findings).values()]
        surveys = register.load_surveys()
    mine = without_width([f for f in found if f.kind in CLANDESTINE_KINDS])
    widths = {surveys[f.survey].default_width_m for f in found if f.id in mine}
    return Narrow(tuple(mine), widths.pop() if len(widths) == 1 else None)


# -- what a case is about


def _objections(
    connection: Connection,
    workspace: Workspace,
    files: Mapping[str, FindingFile],
    surveys: Mapping[str, Survey],
    opening: Opening,
    today: date,
) -> list[Missing]:
    tables, srid = workspace.database.tables, workspace.database.srid
    register, queue = SurveyRegister(connection, tables, srid), FindingQueue(connection, tables, srid)
    cases = CaseRegister(connection, tables).load_files()
    found = find_objections(files, surveys, opening.opened_on, opening.default_width_m, today)
    return [*found, *find_seen_twice(register, queue, files, surveys, cases)]


def _kind_and_operator(files: Mapping[str, FindingFile], opening: Opening) -> tuple[str, str]:
    """Return the kind of case and the operator of the findings; others that were typed are refused."""
    first = next(iter(files.values()))
    kind, operator = kind_of_case(first.finding) or "", first.operator or ""
    for option, given, found in (("--kind", opening.kind, kind), ("--operator", opening.operator, operator)):
        if given is not None and given != found:
            raise InputError(
                f"{option} {given} isn't that of the findings, which is {found}. Nothing was changed. Leave {option} out, or name "
                "other findings."
            )
    return kind, operator


def _rows_of(files: Iterable[FindingFile], kind: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the segments and the equipment that a case is about: the findings' own rows, or for art. 4 the permitted ones."""
    lines: list[str] = []
    boxes: list[str] = []
    for file in files:
        name = file.finding.id if kind == CLANDESTINE else file.finding.permitted
        if name is not None:
            (boxes if is_equipment(file.finding) else lines).append(name)
    return tuple(dict.fromkeys(lines)), tuple(dict.fromkeys(boxes))


# -- their rows


def _add_rows(
    workspace: Workspace,
    connection: Connection,
    files: Sequence[FindingFile],
    surveys: Mapping[str, Survey],
    case: Case,
    opening: Opening,
    now: str,
) -> tuple[str, ...]:
    """Keep what was found as rows of the operator, a batch for each survey and kind; nothing is due for them as they are."""
    queue = FindingQueue(connection, workspace.database.tables, workspace.database.srid)
    shapes = queue.load_shapes([f.finding.id for f in files]).set_index("id").geometry
    batches = Batches(connection, workspace.database.tables)
    cadastre = Cadastre(connection, workspace.database.tables, workspace.database.srid)
    made = []
    for survey in dict.fromkeys(f.finding.survey for f in files):
        for equipment in (False, True):
            mine = [f.finding for f in files if f.finding.survey == survey and is_equipment(f.finding) == equipment]
            if not mine:
                continue
            batch = batches.new_id()
            drawn = [shapes[f.id] for f in mine]
            frame = (_equipment if equipment else _segments)(mine, drawn, case, opening, workspace.database.srid)
            report = _report(batch, surveys[survey], mine, frame, case, opening, workspace.settings.municipality.crs)
            batches.save(
                report,
                kind="cabinets" if equipment else "network",
                file=surveys[survey].file,
                layer=f"{surveys[survey].layer} [{survey}, processo {case.id}]",
                operator=case.operator,
                replaces=(),
                aside=gpd.GeoDataFrame(
                    {c: [] for c in ASIDE if c != "geometry"}, geometry=[], crs=workspace.database.srid
                ),
                now=now,
                format_="survey",
            )
            (cadastre.save_equipment if equipment else cadastre.save_segments)(frame, batch, now)
            made.append(batch)
    return tuple(made)


def _segments(
    findings: Sequence[FieldFinding], drawn: Sequence[shapely.Geometry], case: Case, opening: Opening, srid: int
) -> gpd.GeoDataFrame:
    rows = {
        "source_row": [f.source_row for f in findings],
        "segment": [f.id for f in findings],
        "operator": case.operator,
        "service": [f.service for f in findings],
        "level": [f.level for f in findings],
        "permit": None,
        "status": SUSPECTED,
        "width_m": [f"{f.width_m if f.width_m is not None else opening.default_width_m:f}" for f in findings],
        "declared_length_m": None,
        "installed_on": None,
        "removed_on": None,
    }
    lines = [shapely.MultiLineString([shapely.force_2d(g)]) for g in drawn]
    return gpd.GeoDataFrame(rows, geometry=lines, crs=srid)[[*SEGMENTS]]


def _equipment(
    findings: Sequence[FieldFinding], drawn: Sequence[shapely.Geometry], case: Case, opening: Opening, srid: int
) -> gpd.GeoDataFrame:
    rows = {
        "source_row": [f.source_row for f in findings],
        "equipment": [f.id for f in findings],
        "operator": case.operator,
        "service": [f.service for f in findings],
        "permit": None,
        "status": SUSPECTED,
        "volume_m3": [f"{f.volume_m3:f}" for f in findings],
        "installed_on": None,
        "removed_on": None,
    }
    return gpd.GeoDataFrame(rows, geometry=[shapely.force_2d(g) for g in drawn], crs=srid)[[*EQUIPMENT]]


def _report(
    batch: str,
    survey: Survey,
    findings: Sequence[FieldFinding],
    frame: gpd.GeoDataFrame,
    case: Case,
    opening: Opening,
    crs: str,
) -> ImportReport:
    """Say what came in as an import says it, and that nothing is due for it yet."""
    metres = Decimal(int(whole_units(plan_lengths(frame.geometry.values), CENTIMETRE).sum())) * CENTIMETRE
    message = (
        f"{len(frame)} row(s) are suspected: they are charged on no day until their case is decided (art. 10 § 1)."
    )
    waits = Finding("suspected_waits", "note", message, f"The case names them: geobill case show {case.id}")
    assumed = without_width(findings)
    extra: dict[str, object] = {"survey": survey.id, "case": case.id, "stands_on": [f.id for f in findings]}
    if assumed:
        extra |= {"default_width_m": f"{opening.default_width_m:f}", "without_width": assumed}
    return ImportReport(
        batch=batch,
        sha256=survey.sha256,
        read=len(frame),
        accepted=len(frame),
        set_aside=(),
        length_m=f"{metres:f}",
        bounds=tuple(map(float, frame.total_bounds)),  # type: ignore[arg-type]
        crs=CrsUse(crs, crs, None, None),
        findings=(waits,),
        extra=extra,
    )
