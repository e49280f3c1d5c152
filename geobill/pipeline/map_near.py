"""One finding as the map shows it from close by: its own line, the exact lines around it, and how far it lies from them."""

from dataclasses import dataclass
from datetime import date
from typing import Any

import geopandas as gpd
import numpy as np
import shapely

from geobill.domain.detection import MISSING
from geobill.pipeline.lawful import held_against, lawful, load_rights
from geobill.pipeline.map_place import to_degrees
from geobill.pipeline.map_tiles import DRAWN, PERMITTED, SURVEYED, TileFile, plan_tiles
from geobill.pipeline.review import look_at
from geobill.store.drawn import read_rows
from geobill.store.workspace import Workspace

AROUND_M = 60.0  # what lies farther from a finding isn't drawn exactly
REACH_M = 30.0  # a line farther away isn't one that the finding would be held against
EVERY_M, MOST_OFFSETS = 10.0, 40


@dataclass(frozen=True)
class CloseUp:
    """Shapes in longitude and latitude (WGS 84); ``offsets`` are short lines from the finding to what it is held against."""

    shape: Any
    bounds: tuple[float, float, float, float]
    permitted: np.ndarray
    surveyed: np.ndarray
    offsets: np.ndarray


def look_close(workspace: Workspace, finding: str, on: date) -> CloseUp:
    """Return what the map shows around a finding.

    Raises
    ------
    InputError
        If there is no such finding.
    """
    look = look_at(workspace, finding)
    shape, srid = look.shape, workspace.database.srid
    west, south, east, north = shapely.bounds(shape).tolist()
    bounds = (west - AROUND_M, south - AROUND_M, east + AROUND_M, north + AROUND_M)
    plan = plan_tiles(workspace, on)
    network = _network(workspace, [f for f in plan if f.layer == PERMITTED], bounds)
    permitted = _shapes([lawful(frame, on) for frame in network])
    surveyed = _surveyed(workspace, [f for f in plan if f.survey == look.survey.id], bounds)
    held = _shapes([held_against(frame, look.survey) for frame in network])
    against = surveyed if look.file.finding.kind == MISSING else held
    return CloseUp(
        to_degrees(shape, srid)[0],
        tuple(shapely.bounds(to_degrees(shapely.box(west, south, east, north), srid)[0]).tolist()),
        to_degrees(permitted, srid),
        to_degrees(surveyed, srid),
        to_degrees(find_offsets(shape, against), srid),
    )


def find_offsets(shape: Any, against: np.ndarray) -> np.ndarray:
    """Return short lines from places along a finding, 10 m apart, to the nearest of some lines within 30 m."""
    if not len(against):
        return np.array([], dtype=object)
    if shape.length > 0:
        count = int(min(MOST_OFFSETS, max(2, shape.length // EVERY_M + 1)))
        places = shapely.line_interpolate_point(shape, np.linspace(0, shape.length, count))
    else:
        places = np.array([shapely.centroid(shape)], dtype=object)
    nearest = shapely.shortest_line(places, shapely.geometrycollections(against))
    length = shapely.length(nearest)
    return np.asarray(nearest[(length > 0.05) & (length <= REACH_M)], dtype=object)


def _network(
    workspace: Workspace, files: list[TileFile], bounds: tuple[float, float, float, float]
) -> list[gpd.GeoDataFrame]:
    """Read the network nearby as cases and permits leave it."""
    if not files:
        return []
    with workspace.database.read() as connection:
        rights = load_rights(workspace, connection)
    return [
        rights.follow(read_rows(workspace.database, table, files[0].sources, columns, bounds))
        for table, columns, _ in DRAWN[PERMITTED]
    ]


def _surveyed(workspace: Workspace, files: list[TileFile], bounds: tuple[float, float, float, float]) -> np.ndarray:
    if not files:
        return _shapes([])
    return _shapes(
        [read_rows(workspace.database, table, files[0].sources, (), bounds) for table, _, _ in DRAWN[SURVEYED]]
    )


def _shapes(frames: list[gpd.GeoDataFrame]) -> np.ndarray:
    """Return the shapes of some frames; one that was read without a row has none."""
    some = [frame.geometry.to_numpy() for frame in frames if isinstance(frame, gpd.GeoDataFrame) and len(frame)]
    return np.concatenate(some) if some else np.array([], dtype=object)
