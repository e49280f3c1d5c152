"""A whole survey that misses by one vector: a fault of its coordinates, not an undeclared network."""

from dataclasses import dataclass

import geopandas as gpd
import numpy as np
import shapely
from scipy.spatial import cKDTree

from geobill.detection.drawn import Drawn, drawn
from geobill.detection.intervals import Floats
from geobill.detection.votes import most_voted

FARTHEST_M = 300.0
HIT_M = 2.0
ENOUGH = 20  # stretches on either side; a row of many parts counts as many
FEW_HIT, MOST_HIT = 0.5, 0.8
NEXT_BEST = 0.85  # of the best share: where another shift does nearly as well, as in a grid of streets, nobody can tell
APART_M = 12.0  # shifts nearer than this are one
_SAMPLE = 1000
_SPACED_M = 5.0
_CELL_M = 4.0
_ALIKE = 0.2  # sine of the angle between two lines of one direction
_ROUNDS = 4


@dataclass(frozen=True)
class ConstantShift:
    """``dx_m`` and ``dy_m`` (east, north) would carry the survey onto what is permitted.

    The shares are of the survey's metres (of those within 300 m of anything permitted) that lie within 2 m of a permitted
    line of their direction.
    """

    dx_m: float
    dy_m: float
    share_as_is: float
    share_shifted: float


@dataclass(frozen=True)
class _Places:
    """Places on lines with the lines' directions there."""

    xy: Floats
    heading: Floats

    def only(self, where: np.ndarray) -> "_Places":
        return _Places(self.xy[where], self.heading[where])


def find_constant_shift(survey: gpd.GeoDataFrame, permitted: gpd.GeoDataFrame) -> ConstantShift | None:
    """Find the one vector, 300 m long at most, by which a survey misses what is permitted.

    Places of the survey vote for all vectors that lead to a permitted line of their direction (Hough 1962); the vectors
    with most votes are fitted and counted.

    Parameters
    ----------
    survey, permitted : GeoDataFrame
        Lines in the same projected system.

    Returns
    -------
    ConstantShift or None
        None where most of the survey lies on what is permitted as it is, no vector brings four fifths of it there, or
        several do.
    """
    mine, others = drawn(np.asarray(survey.geometry.values)), drawn(np.asarray(permitted.geometry.values))
    if len(mine.parts) < ENOUGH or len(others.parts) < ENOUGH:
        return None
    allowed = _placed(others, _SPACED_M)
    seen = _placed(mine, max(float(mine.length.sum()) / _SAMPLE, 1.0))
    distance, _ = cKDTree(allowed.xy).query(seen.xy, distance_upper_bound=FARTHEST_M)
    seen = seen.only(np.isfinite(distance))
    edges = _Edges(others)
    as_is = edges.share(seen, np.zeros(2))
    if len(seen.xy) < ENOUGH or as_is > FEW_HIT:
        return None
    found: list[tuple[float, Floats]] = []
    for vector in _voted(seen, allowed):
        vector = edges.fitted(seen, vector)
        if np.hypot(*vector) <= FARTHEST_M:
            found.append((edges.share(seen, vector), vector))
    found.sort(key=lambda f: -f[0])
    if not found or found[0][0] < MOST_HIT:
        return None
    share, best = found[0]
    if any(s > NEXT_BEST * share and np.hypot(*(v - best)) > APART_M for s, v in found[1:]):
        return None
    return ConstantShift(float(best[0]), float(best[1]), as_is, share)


class _Edges:
    """Straight edges of lines, looked at from places."""

    def __init__(self, lines: Drawn) -> None:
        self.begin, way = _edges(lines)
        self.length = np.hypot(*way.T)
        self.heading = way / self.length[:, None]
        self.tree = shapely.STRtree(shapely.linestrings(np.stack([self.begin, self.begin + way], axis=1)))

    def share(self, places: _Places, vector: Floats) -> float:
        """Share of the places that lie on a line of their direction, if moved."""
        if not len(places.xy):
            return 0.0
        return len(np.unique(self._seen(places, vector, HIT_M)[0])) / len(places.xy)

    def fitted(self, places: _Places, vector: Floats) -> Floats:
        """Improve a vector: least squares of the distances across the nearest lines."""
        for within_m in np.linspace(1.5 * _CELL_M, HIT_M, _ROUNDS):
            place, edge = self._seen(places, vector, within_m)
            if not len(place):
                break
            across = np.stack([-self.heading[edge, 1], self.heading[edge, 0]], axis=1)
            off = np.sum((places.xy[place] + vector - self.begin[edge]) * across, axis=1)
            order = np.lexsort((np.abs(off), place))
            nearest = order[np.unique(place[order], return_index=True)[1]]
            across, off = across[nearest], off[nearest]
            # a little is held back, so that a network of one direction only moves across itself
            vector = vector - np.linalg.solve(across.T @ across + 1e-3 * len(off) * np.eye(2), across.T @ off)
        return vector

    def _seen(self, places: _Places, vector: Floats, within_m: float) -> tuple[np.ndarray, np.ndarray]:
        place, edge = self.tree.query(shapely.points(places.xy + vector), predicate="dwithin", distance=within_m)
        one, two = places.heading[place], self.heading[edge]
        alike = np.abs(one[:, 0] * two[:, 1] - one[:, 1] * two[:, 0]) <= _ALIKE
        return place[alike], edge[alike]


def _edges(lines: Drawn) -> tuple[Floats, Floats]:
    """Begin and way of each straight edge."""
    xy, part = shapely.get_coordinates(lines.parts, return_index=True)
    way = np.diff(xy, axis=0)
    real = (part[1:] == part[:-1]) & np.any(way != 0, axis=1)
    return xy[:-1][real], way[real]


def _placed(lines: Drawn, step_m: float) -> _Places:
    """Places a step apart along all lines, one after the other."""
    begin, way = _edges(lines)
    length = np.hypot(*way.T)
    before = np.cumsum(length) - length
    at = np.arange(step_m / 2, before[-1] + length[-1], step_m)
    edge = np.searchsorted(before, at, side="right") - 1
    heading = way[edge] / length[edge, None]
    return _Places(begin[edge] + (at - before[edge])[:, None] * heading, heading)


def _voted(seen: _Places, allowed: _Places) -> list[Floats]:
    """Vectors that lead from most places to a permitted one of their direction, the most first."""
    there = cKDTree(allowed.xy).query_ball_point(seen.xy, FARTHEST_M, return_sorted=False)
    place = np.repeat(np.arange(len(there)), [len(x) for x in there])
    other = np.concatenate([np.asarray(x, dtype=np.int64) for x in there])
    one, two = seen.heading[place], allowed.heading[other]
    alike = np.abs(one[:, 0] * two[:, 1] - one[:, 1] * two[:, 0]) <= _ALIKE
    place, vector = place[alike], (allowed.xy[other] - seen.xy[place])[alike]
    return most_voted(place, vector, FARTHEST_M, _CELL_M)
