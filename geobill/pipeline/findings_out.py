"""Findings written for QGIS, with all that they were seen against; decisions typed into such a file come back by case sync."""

from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

import geopandas as gpd
import pandas as pd
from sqlalchemy import Connection

from geobill.documents.findings_gpkg import CASES, FieldMap, Shown, field_layers, findings_gpkg
from geobill.documents.gpkg_layers import Layer
from geobill.documents.statute_words import StatuteWords
from geobill.domain.dates import BillingMonth
from geobill.domain.detection import SUSPECTED
from geobill.errors import InputError, StoreError
from geobill.frames import SURVEY_EQUIPMENT, SURVEY_LINES
from geobill.intake.case_rows import layer_names
from geobill.pipeline.case_sync import find_pending
from geobill.pipeline.lawful import lawful
from geobill.pipeline.month import Stored, edition_on
from geobill.store.finding_queue import FindingQueue, Query
from geobill.store.settings import replace_file
from geobill.store.surveys import SurveyRegister
from geobill.store.workspace import Workspace

if TYPE_CHECKING:
    from geobill.pipeline.detect import Detection  # the whole of the matching, which writing doesn't need

SUFFIX = ".gpkg"
ALL = 1 << 31
OURS = frozenset({"achados", "levantamento", "permitido"})  # by these a file of findings is known
MOST_NAMED = 5
Permitted = tuple[gpd.GeoDataFrame, gpd.GeoDataFrame]  # segments and equipment


def check_target(workspace: Workspace, path: Path) -> None:
    """Refuse a file that can't be written, or in which decisions wait to be brought in; before anything is done.

    Raises
    ------
    InputError
        If it doesn't end in ``.gpkg``, its folder isn't there, it is some other file, or decisions in it aren't on record.
    """
    if path.suffix.lower() != SUFFIX:
        raise InputError(f"{path.name} must end in {SUFFIX}: QGIS knows a GeoPackage by that. Nothing was done.")
    if not path.parent.is_dir():
        raise InputError(f"The folder {path.parent} isn't there. Nothing was done. Make it, or name another.")
    if not path.exists():
        return
    log = path.with_name(f"{path.name}-wal")
    if log.exists() and log.stat().st_size:
        raise InputError(
            f"{path} is open in QGIS (its log {log.name} stands beside it): written anew now, the log would spoil it. Nothing was "
            "done. Save and close it there, then try again."
        )
    there = frozenset() if path.is_dir() else layer_names(path)
    if not there >= OURS:
        raise InputError(
            f"{path} is there already and is no file of findings: it would be lost. Nothing was done. Name another file."
        )
    pending = find_pending(workspace, path) if CASES in there else ()
    if pending:
        more = f" and {len(pending) - MOST_NAMED} more" if len(pending) > MOST_NAMED else ""
        raise InputError(
            f"{path} holds decisions that aren't on record yet ({', '.join(pending[:MOST_NAMED])}{more}): written anew, they would be "
            f"lost. Nothing was done. Bring them in first (geobill case sync {path} --by NAME; where that names a conflict, empty "
            "that row in QGIS), or name another file."
        )


def write_findings(workspace: Workspace, found: "Detection", path: Path) -> Path:
    """Write what one comparison found; what wasn't kept (a dry run, a survey that misses as a whole) takes no decisions.

    Raises
    ------
    InputError
        As `check_target`.
    StoreError
        If the file can't be written; what was found is kept all the same.
    """
    check_target(workspace, path)
    survey, on = found.survey, date.fromisoformat(found.survey.compared_on)
    with workspace.database.read() as connection:
        if found.kept:
            query = Query(survey=survey.id, order="id")
            shown = load_field_map(workspace, connection, query, on, surveys=[survey.id], compared=found.against)
        else:
            findings = [
                Shown(f, shape, SUSPECTED, 0, f.operator) for f, shape in zip(found.findings, found.shapes, strict=True)
            ]
            seen = found.seen.lines.assign(survey=survey.id), found.seen.equipment.assign(survey=survey.id)
            stored = Stored(workspace, connection)
            shown = _field_map(stored, findings, *seen, on, decidable=False, compared=found.against)
    _write(path, findings_gpkg(shown))
    return path


def write_review(workspace: Workspace, path: Path, on: date) -> tuple[FieldMap, tuple[Layer, ...]]:
    """Write every finding of the review as it stands, with all surveys; see `check_target` for what is refused.

    Returns
    -------
    FieldMap, tuple of Layer
        What was written.
    """
    check_target(workspace, path)
    with workspace.database.read() as connection:
        shown = load_field_map(workspace, connection, Query(order="id"), on)
    layers = field_layers(shown)
    _write(path, findings_gpkg(shown, layers))
    return shown, layers


def load_field_map(
    workspace: Workspace,
    connection: Connection,
    query: Query,
    on: date,
    surveys: Sequence[str] | None = None,
    compared: Permitted | None = None,
) -> FieldMap:
    """Return the findings of a query with the surveys (none named: all that stand) and what is permitted on a day.

    What is permitted is as on record, or what of a file was ``compared`` with.
    """
    register = SurveyRegister(connection, workspace.database.tables, workspace.database.srid)
    queue = FindingQueue(connection, workspace.database.tables, workspace.database.srid)
    listed = queue.list_findings(query, limit=ALL)
    shapes = queue.load_shapes(query=query).set_index("id").geometry
    findings = [
        Shown(
            one.finding,
            shapes[one.finding.id],
            one.state,
            one.version,
            one.operator,
            one.case,
            one.by,
            one.changed_at,
            one.compared_at,
        )
        for one in listed
    ]
    ids = [i for i in register.load_surveys() if i not in register.replaced()] if surveys is None else list(surveys)
    stored = Stored(workspace, connection)
    lines = _joined([register.load_lines(i).assign(survey=i) for i in ids], SURVEY_LINES, workspace)
    boxes = _joined([register.load_equipment(i).assign(survey=i) for i in ids], SURVEY_EQUIPMENT, workspace)
    return _field_map(stored, findings, lines, boxes, on, compared=compared)


def _field_map(
    stored: Stored,
    findings: Sequence[Shown],
    lines: gpd.GeoDataFrame,
    boxes: gpd.GeoDataFrame,
    on: date,
    decidable: bool = True,
    compared: Permitted | None = None,
) -> FieldMap:
    """Put the file together; ``compared`` are the segments and equipment that stand for what is permitted on record."""
    segments, equipment = (lawful(frame, on) for frame in compared or (stored.segments, stored.equipment))
    _, _, batch = edition_on(stored.cadastre, on, needed=False)
    return FieldMap(
        title=f"Levantamento de campo e achados: {stored.settings.municipality.name}",
        srid=stored.settings.municipality.srid,
        moment=f"{on.isoformat()}T00:00:00Z",
        findings=findings,
        lines=lines,
        surveyed_equipment=boxes,
        segments=segments,
        equipment=equipment,
        zones=stored.zones(batch),
        operators={one.id: one.name for one in stored.operators.values()},
        statute=StatuteWords.of_month(stored.law.figures, BillingMonth.of(on)),
        decidable=decidable,
    )


def _joined(frames: Sequence[gpd.GeoDataFrame], columns: Sequence[str], workspace: Workspace) -> gpd.GeoDataFrame:
    some = [frame for frame in frames if len(frame)]
    if not some:
        empty: dict[str, list[Any]] = {c: [] for c in (*columns, "survey") if c != "geometry"}
        return gpd.GeoDataFrame(empty, geometry=[], crs=workspace.database.srid)
    return gpd.GeoDataFrame(pd.concat(some, ignore_index=True), crs=workspace.database.srid)


def _write(path: Path, content: bytes) -> None:
    try:
        replace_file(path, content)
    except StoreError as fault:
        raise StoreError(f"{fault} What was found is kept; only this file isn't.") from None
