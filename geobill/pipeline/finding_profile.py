"""A finding as a reviewer judges it: whose it is, what is permitted near it, and how far it lies from that, place by place."""

from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any

import geopandas as gpd
import numpy as np
import shapely
from sqlalchemy import Connection

from geobill.detection.offsets import PROFILE_REACHES, offset_profile
from geobill.domain.detection import MISSING, PHOTOGRAPHED, FindingFile, Survey
from geobill.domain.network import Operator
from geobill.pipeline.lawful import held_against, load_rights
from geobill.pipeline.map_place import to_degrees
from geobill.pipeline.review import Look
from geobill.pricing.in_force import text
from geobill.store.drawn import Drawn, Source, read_rows
from geobill.store.finding_queue import FindingQueue
from geobill.store.ledger import Ledger
from geobill.store.networks import Cadastre
from geobill.store.registers import Registers
from geobill.store.surveys import SurveyRegister
from geobill.store.workspace import Workspace

MOST_PLACES = 240  # of a profile: as many as a drawing can show
CENTIMETRE = Decimal("0.01")
PERMITTED_COLUMNS = [
    "segment",
    "operator",
    "service",
    "level",
    "permit",
    "status",
    "width_m",
    "installed_on",
    "removed_on",
]


@dataclass(frozen=True)
class Profile:
    """How far a stretch lies from the nearest line of the other side: metres along it, and the offset there in metres.

    The other side is what is permitted; where the finding is ``missing_in_survey``, it is what was surveyed. An offset is None
    where nothing is near. Within ``reach_m``, the tolerance widened by both accuracies, two lines are taken for one.
    """

    places: tuple[tuple[Decimal, Decimal | None], ...]
    reach_m: Decimal
    looked_m: Decimal

    @property
    def is_alone(self) -> bool:
        """Say whether nothing is near anywhere along it."""
        return all(offset is None for _, offset in self.places)


@dataclass(frozen=True)
class PermittedRow:
    """The permitted row that a finding concerns, as it is on record."""

    segment: str
    operator: str
    permit: str | None
    service: str | None
    level: str | None
    width_m: str | None
    installed_on: str | None


@dataclass(frozen=True)
class Glance:
    """A finding with its acts, its survey and when that was compared, and the workspace's operators by id."""

    file: FindingFile
    survey: Survey
    compared_at: str
    operators: dict[str, Operator]


@dataclass(frozen=True)
class Sheet:
    """What a reviewer sees of one finding besides its price.

    ``limits`` are west, south, east and north in degrees; ``profile`` is None for equipment. ``zones`` are
    those of the Mapa de Valores, on the survey's day, in which it lies; where there is none, ``beside`` is the nearest and its
    distance in metres, where one is near.
    """

    look: Look
    operators: dict[str, Operator]
    profile: Profile | None
    permitted: PermittedRow | None
    limits: tuple[float, float, float, float]
    zones: tuple[str, ...] = ()
    beside: tuple[str, Decimal] | None = None


def look_over(workspace: Workspace, finding: str) -> Glance | None:
    """Return a finding with its acts and its survey, without geometry; None where there is none of that id."""
    with workspace.database.read() as connection:
        register = SurveyRegister(connection, workspace.database.tables, workspace.database.srid)
        return _glance(register, connection, workspace, finding)


def look_closely(workspace: Workspace, finding: str) -> Sheet | None:
    """Return a finding with its profile and the permitted row that it concerns; None where there is none of that id."""
    with workspace.database.read() as connection:
        register = SurveyRegister(connection, workspace.database.tables, workspace.database.srid)
        glance = _glance(register, connection, workspace, finding)
        if glance is None:
            return None
        queue = FindingQueue(connection, workspace.database.tables, workspace.database.srid)
        shape = queue.load_shapes([finding]).geometry.iloc[0]
        drawn = Drawn(connection, workspace.database.tables)
        batches, rights = drawn.batches(), load_rights(workspace, connection)
        day = date.fromisoformat(glance.survey.compared_on or glance.compared_at[:10])
        cadastre = Cadastre(connection, workspace.database.tables, workspace.database.srid)
        editions = [drawn.batch(batch) for _, since, batch in cadastre.find_editions() if since <= day]
    found, survey = glance.file.finding, glance.survey
    near = _bounds(shape, PROFILE_REACHES * survey.terms.reach_m)
    permitted = read_rows(workspace.database, "segments", batches, PERMITTED_COLUMNS, near)
    allowed = held_against(rights.follow(permitted), survey)
    other = allowed
    if found.kind == MISSING:
        other = read_rows(workspace.database, "survey_lines", [Source(survey.id, "", "")], ["segment"], near)
    zones = read_rows(workspace.database, "value_zones", editions[-1:], ["zone"], near)
    inside, beside = _zones(shape, zones)
    return Sheet(
        look=Look(glance.file, survey, glance.compared_at, shape),
        operators=glance.operators,
        profile=_profile(shape, other, survey),
        permitted=_row(allowed, found.permitted),
        limits=_limits(shape, workspace.database.srid),
        zones=inside,
        beside=beside,
    )


def load_photo(workspace: Workspace, finding: str, number: int) -> bytes | None:
    """Return the bytes of a finding's photo, counted from 1 in the order in which they came; None where there is none."""
    with workspace.database.read() as connection:
        register = SurveyRegister(connection, workspace.database.tables, workspace.database.srid)
        file = register.load_files([finding]).get(finding)
        photos = [a for a in file.acts if a.kind == PHOTOGRAPHED] if file else []
        if not 1 <= number <= len(photos):
            return None
        return Ledger(connection, workspace.database.tables).load_archived_file(photos[number - 1].paper)


def _glance(register: SurveyRegister, connection: Connection, workspace: Workspace, finding: str) -> Glance | None:
    file = register.load_files([finding]).get(finding)
    if file is None:
        return None
    survey = file.finding.survey
    operators = Registers(connection, workspace.database.tables).load_operators()
    return Glance(file, register.load_surveys()[survey], register.compared_at(survey), operators)


def _profile(shape: shapely.Geometry, other: gpd.GeoDataFrame, survey: Survey) -> Profile | None:
    if shape.geom_type != "LineString":
        return None
    reach = survey.terms.reach_m
    step = max(1.0, shape.length / MOST_PLACES)
    places = offset_profile(shape, np.asarray(other.geometry.values), reach, step)
    return Profile(
        tuple((_centimetres(at), None if offset is None else _centimetres(offset)) for at, offset in places),
        _centimetres(reach),
        _centimetres(PROFILE_REACHES * reach),
    )


def _row(allowed: gpd.GeoDataFrame, segment: str | None) -> PermittedRow | None:
    mine = allowed[allowed["segment"] == segment]
    if segment is None or not len(mine):
        return None
    row: Any = next(mine.itertuples())
    return PermittedRow(
        segment,
        row.operator,
        text(row.permit),
        text(row.service),
        text(row.level),
        text(row.width_m),
        text(row.installed_on),
    )


def _zones(shape: shapely.Geometry, zones: gpd.GeoDataFrame) -> tuple[tuple[str, ...], tuple[str, Decimal] | None]:
    """Name the zones in which something lies, in the order in which it comes through them; else the nearest of these."""
    if not len(zones):
        return (), None
    ground, names = zones.geometry.to_numpy(), zones["zone"].to_numpy()
    there = shapely.intersection(ground, shape)
    enough = ~shapely.is_empty(there) if shape.length == 0 else shapely.length(there) >= float(CENTIMETRE) / 2
    if enough.any():
        firsts = shapely.points(shapely.get_coordinates(shape)[0])
        order = np.argsort(shapely.distance(there[enough], firsts), kind="stable")
        return tuple(dict.fromkeys(str(name) for name in names[enough][order])), None
    away = shapely.distance(ground, shape)
    return (), (str(names[away.argmin()]), _centimetres(float(away.min())))


def _bounds(shape: shapely.Geometry, more: float) -> tuple[float, float, float, float]:
    west, south, east, north = shape.bounds
    return west - more, south - more, east + more, north + more


def _limits(shape: shapely.Geometry, srid: int) -> tuple[float, float, float, float]:
    west, south, east, north = shapely.total_bounds(to_degrees([shape], srid))
    return float(west), float(south), float(east), float(north)


def _centimetres(metres: float) -> Decimal:
    return Decimal(repr(metres)).quantize(CENTIMETRE)
