"""What a case's papers say of the findings that it stands on, and the paper that shows them: the *auto de constatação*."""

from collections.abc import Sequence
from datetime import date
from decimal import Decimal
from fractions import Fraction

import geopandas as gpd
import numpy as np
import pandas as pd
import shapely
from sqlalchemy import Connection

from geobill.detection.offsets import PROFILE_REACHES, offset_profile
from geobill.documents.constatacao import FINDINGS_PAPER, Signed, render_constatacao
from geobill.documents.constatacao_facts import Shown
from geobill.documents.evidence_map import Ground as Around
from geobill.documents.grounds import Ground, Grounds, Price, is_point
from geobill.documents.html import record_of
from geobill.documents.offset_profile import OffsetProfile
from geobill.documents.overrides.folder import read_templates
from geobill.domain import case as acts
from geobill.domain.case import CaseAct, CaseFile, doubled_from
from geobill.domain.dates import BillingMonth
from geobill.domain.detection import MISSING, PHOTOGRAPHED, FindingFile, Survey
from geobill.domain.money import round_money
from geobill.domain.ratio import fraction
from geobill.errors import InputError, LawError, PolicyError
from geobill.pipeline.lawful import held_against
from geobill.pipeline.month import Stored
from geobill.pipeline.past import Past
from geobill.pipeline.place import place_of
from geobill.pipeline.retroactive import past_span
from geobill.store.cases import CaseRegister
from geobill.store.finding_queue import FindingQueue
from geobill.store.ledger import Ledger
from geobill.store.surveys import SurveyRegister
from geobill.store.workspace import Workspace

MOST_PLACES = 240  # of a profile: as many as a drawing can show
ZERO = Decimal("0.00")


def load_grounds(
    workspace: Workspace, connection: Connection, stored: Stored, file: CaseFile, act: CaseAct
) -> Grounds | None:
    """Gather what a step's paper says of a case's findings; None where the case stands on none.

    The decision of doubling says the price besides: the step is recorded already over this transaction.
    """
    register = _register(workspace, connection)
    ids = register.cases_of(file.case.id)
    if not ids:
        return None
    files, shapes = register.load_files(ids), _shapes(workspace, connection, ids)
    where = _places(workspace, stored, [shapes[i] for i in ids], act.on)
    auto = file.last_of(acts.FOUND)
    papers = CaseRegister(connection, workspace.database.tables).load_documents(file.case.id)
    page = next((p.content for p in papers if p.kind == f"{FINDINGS_PAPER}_html"), None)
    return Grounds(
        findings=tuple(Ground(files[i].finding, place) for i, place in zip(ids, where, strict=True)),
        auto_on=None if auto is None else auto.on,
        auto_reference="" if auto is None else auto.reference,
        auto_digest="" if page is None else record_of(page),
        price=_price(workspace, connection, file, act) if act.kind == acts.DOUBLED else None,
    )


def render_auto(
    workspace: Workspace,
    connection: Connection,
    stored: Stored,
    file: CaseFile,
    act: CaseAct,
    findings: Sequence[FindingFile],
) -> dict[str, bytes]:
    """Render the *auto de constatação* of a case as PDF and HTML: its findings, how they were found, where they are.

    Raises
    ------
    BooksDontCloseError, TemplateError
        See :func:`geobill.documents.constatacao.constatacao_job`.
    """
    register = _register(workspace, connection)
    ids = [f.finding.id for f in findings]
    shapes = _shapes(workspace, connection, ids)
    named = list(dict.fromkeys(f.finding.survey for f in findings))
    known = register.load_surveys()
    surveys = [known[s] for s in named]
    permitted = {s.id: [held_against(frame, s) for frame in (stored.segments, stored.equipment)] for s in surveys}
    lines, boxes = {s: register.load_lines(s) for s in named}, [register.load_equipment(s) for s in named]
    where = _places(workspace, stored, [shapes[i] for i in ids], act.on)
    shown = [
        Shown(f, shapes[f.finding.id], place, _profile(f, shapes[f.finding.id], known, permitted, lines))
        for f, place in zip(findings, where, strict=True)
    ]
    outline = place_of(workspace).boundary_wkb
    around = Around(
        permitted=_stacked([permitted[s][0] for s in named]),
        surveyed=_stacked(list(lines.values())),
        zones=_zones(stored, act.on),
        permitted_equipment=_stacked([permitted[s][1] for s in named]),
        surveyed_equipment=_stacked(boxes),
        town=None if outline is None else shapely.from_wkb(outline),
    )
    ledger = Ledger(connection, workspace.database.tables)
    photos = {a.paper: ledger.load_archived_file(a.paper) for f in findings for a in f.acts if a.kind == PHOTOGRAPHED}
    return render_constatacao(
        file.case,
        Signed(act.on, act.by, act.reference),
        stored.operators[file.case.operator],
        workspace.settings.authority,
        surveys,
        shown,
        around,
        stored.law.figures.title,
        photos,
        read_templates(workspace.root),
    )


def _register(workspace: Workspace, connection: Connection) -> SurveyRegister:
    return SurveyRegister(connection, workspace.database.tables, workspace.database.srid)


def _shapes(workspace: Workspace, connection: Connection, ids: Sequence[str]) -> gpd.GeoSeries:
    """Return the geometry of findings by their id."""
    queue = FindingQueue(connection, workspace.database.tables, workspace.database.srid)
    return queue.load_shapes(ids).set_index("id").geometry


# -- the price that a decision says


def _price(workspace: Workspace, connection: Connection, file: CaseFile, act: CaseAct) -> Price | None:
    """Work out a whole month of the case's rows, once and as decided; None where it is held or can't be priced."""
    stored = Stored(workspace, connection)  # anew: its rows follow the decision that was recorded
    since = doubled_from(file, stored.law.figures.published_on)
    month = BillingMonth.of(act.on)
    if since is None:
        return None
    if since > month.first_day:
        month = month.following()
    try:
        rows = (frozenset(file.case.segments), frozenset(file.case.equipment))
        lines, held, _ = Past(stored, file.case.operator).lines(month, *rows)
        rounding = stored.policy(month).rounding
    except (
        InputError,
        LawError,
        PolicyError,
    ):  # no map, no figures for that month: the paper says that the price isn't known
        return None
    if held or not lines:
        return None
    once = (round_money(line.exact / Fraction(fraction(line.multiplier)), rounding) for line in lines)
    first, last = _past(workspace, connection, stored, file, act.on)
    return Price(month, sum(once, ZERO), sum((line.amount for line in lines), ZERO), first, last)


def _past(
    workspace: Workspace, connection: Connection, stored: Stored, file: CaseFile, on: date
) -> tuple[BillingMonth | None, BillingMonth | None]:
    """First and last month that the charge of past months takes over; None where no month is past."""
    try:
        return past_span(workspace, connection, stored, file, None, on)
    except (InputError, LawError, PolicyError):
        return None, None


# -- where it is, and what is around it


def _places(workspace: Workspace, stored: Stored, shapes: Sequence[shapely.Geometry], on: date) -> list[str]:
    """Name the zone of the Mapa de Valores in which the middle of each lies, or beside which; blank where there is none."""
    zones = _zones(stored, on)
    if not len(zones) or not shapes:
        return [""] * len(shapes)
    middles = np.array(
        [g.interpolate(0.5, normalized=True) if g.geom_type == "LineString" else g.centroid for g in shapes]
    )
    reach = float(stored.policy(BillingMonth.of(on)).max_gap_m)
    tree = shapely.STRtree(zones.geometry.to_numpy())
    (which, zone), away = tree.query_nearest(middles, max_distance=max(reach, 0.01), return_distance=True)
    told = [""] * len(shapes)
    for n, z, metres in zip(which, zone, away, strict=True):
        name = zones["zone"].iloc[z]
        told[n] = told[n] or (f"zona {name}" if metres == 0 else f"junto à zona {name}")
    return told


def _zones(stored: Stored, on: date) -> gpd.GeoDataFrame:
    """Zones of the edition in force on a day; none where there is none."""
    in_force = [batch for _, since, batch in stored.cadastre.find_editions() if since <= on]
    return stored.zones(in_force[-1] if in_force else "")


def _profile(
    file: FindingFile,
    shape: shapely.Geometry,
    surveys: dict[str, Survey],
    permitted: dict[str, list[gpd.GeoDataFrame]],
    lines: dict[str, gpd.GeoDataFrame],
) -> OffsetProfile | None:
    if is_point(file.finding) or shape.geom_type != "LineString":
        return None
    of = file.finding.survey
    other = lines[of] if file.finding.kind == MISSING else permitted[of][0]
    reach = surveys[of].terms.reach_m
    places = offset_profile(shape, np.asarray(other.geometry.values), reach, max(1.0, shape.length / MOST_PLACES))
    return OffsetProfile(tuple(places), PROFILE_REACHES * reach)


def _stacked(frames: Sequence[gpd.GeoDataFrame]) -> gpd.GeoDataFrame:
    drawn = [frame[["geometry"]] for frame in frames]
    return gpd.GeoDataFrame(pd.concat(drawn, ignore_index=True), geometry="geometry", crs=drawn[0].crs)
