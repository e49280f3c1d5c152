"""A survey of poles or cabinets that misses as a whole by one vector: a fault of its coordinates, and no finding."""

import geopandas as gpd
import numpy as np
import shapely
from scipy.spatial import cKDTree

from geobill.detection.assignment import Floats
from geobill.detection.shift import APART_M, ENOUGH, FARTHEST_M, FEW_HIT, MOST_HIT, NEXT_BEST, ConstantShift
from geobill.detection.votes import most_voted

_HIT_M = 3.0  # more than of lines: a pole may be off in any direction, a line is only seen off to its side
_SAMPLE = 2000
_CELL_M = 2.0
_ROUNDS = 4
_MOST_VOTES = 5_000_000


def find_equipment_shift(survey: gpd.GeoDataFrame, permitted: gpd.GeoDataFrame) -> ConstantShift | None:
    """Find the one vector, 300 m long at most, by which surveyed equipment misses what is permitted.

    Each surveyed place votes for all vectors that lead to a permitted one (Hough 1962); the vectors with most votes are
    fitted (median of what is left) and counted.

    Parameters
    ----------
    survey, permitted : GeoDataFrame
        Equipment in the same projected system, by `frames.SURVEY_EQUIPMENT` and `frames.EQUIPMENT`.

    Returns
    -------
    ConstantShift or None
        Its shares are of the surveyed places (of those within 300 m of anything permitted) that lie within 3 m of a
        permitted one. None where there are fewer than 20 on a side, most lie there as they are, no vector brings four
        fifths of them there, or several do, as in a row of poles at even distances.
    """
    mine, others = (
        shapely.get_coordinates(shapely.centroid(np.asarray(f.geometry.values))) for f in (survey, permitted)
    )
    if min(len(mine), len(others)) < ENOUGH:
        return None
    tree = cKDTree(others)
    seen = mine[np.isfinite(tree.query(mine, distance_upper_bound=FARTHEST_M)[0])]
    seen = seen[:: max(1, -(-len(seen) // _SAMPLE))]
    as_is = _share(tree, seen)
    if len(seen) < ENOUGH or as_is > FEW_HIT:
        return None
    found = []
    for vector in _voted(seen, others, tree):
        fitted = _fitted(tree, seen, vector)
        if np.hypot(*fitted) <= FARTHEST_M:
            found.append((_share(tree, seen + fitted), fitted))
    found.sort(key=lambda f: -f[0])
    if not found or found[0][0] < MOST_HIT:
        return None
    share, best = found[0]
    if any(s > NEXT_BEST * share and np.hypot(*(v - best)) > APART_M for s, v in found[1:]):
        return None
    return ConstantShift(float(best[0]), float(best[1]), as_is, share)


def _share(tree: cKDTree, xy: Floats) -> float:
    """Share of the places that lie on a permitted one."""
    if not len(xy):
        return 0.0
    return float(np.isfinite(tree.query(xy, distance_upper_bound=_HIT_M)[0]).mean())


def _fitted(tree: cKDTree, seen: Floats, vector: Floats) -> Floats:
    """Improve a vector by the median of what is left to the nearest permitted places."""
    for within_m in np.linspace(2 * _CELL_M, _HIT_M, _ROUNDS):
        distance, at = tree.query(seen + vector, distance_upper_bound=within_m)
        near = np.isfinite(distance)
        if not near.any():
            break
        vector = vector + np.median(tree.data[at[near]] - (seen[near] + vector), axis=0)
    return vector


def _voted(seen: Floats, others: Floats, tree: cKDTree) -> list[Floats]:
    """Vectors that lead from most places to a permitted one, the most first."""
    votes_in_all = int(tree.query_ball_point(seen, FARTHEST_M, return_length=True).sum())
    some = seen[:: max(1, -(-votes_in_all // _MOST_VOTES))]
    pairs = cKDTree(some).sparse_distance_matrix(tree, FARTHEST_M, output_type="ndarray")
    place, vector = pairs["i"].astype(np.int64), others[pairs["j"]] - some[pairs["i"]]
    return most_voted(place, vector, FARTHEST_M, _CELL_M)
