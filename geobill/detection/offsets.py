"""How far a stretch lies from the nearest permitted line: place by place for the eye, and in three figures."""

from dataclasses import dataclass

import numpy as np
import shapely
from numpy.typing import NDArray

from geobill.detection.drawn import Drawn
from geobill.detection.intervals import Floats, Ints, counted

PROFILE_REACHES = 10.0  # how many times the reach a profile looks


@dataclass(frozen=True)
class Offsets:
    """Distances along stretches to the nearest line, in metres; nan where there is none at all."""

    mean: Floats
    p95: Floats
    max: Floats


def offset_profile(
    stretch: shapely.LineString, permitted_lines: NDArray[np.object_], reach_m: float, step_m: float = 1.0
) -> list[tuple[float, float | None]]:
    """Distance to the nearest permitted line, place by place.

    Parameters
    ----------
    stretch : LineString
    permitted_lines : array of geometries
    reach_m : float
        `DetectionTerms.reach_m`; beyond ten times that nothing is looked for.
    step_m : float
        About how far apart the places are: the stretch is divided evenly, both ends belong to it.

    Returns
    -------
    list of (float, float or None)
        Metres along the stretch, and the offset there; None where nothing is near.
    """
    length = float(stretch.length)
    places = np.linspace(0.0, length, max(int(np.ceil(length / step_m)), 1) + 1)
    tree = shapely.STRtree(shapely.get_parts(permitted_lines))
    found = _nearest(shapely.line_interpolate_point(stretch, places), tree, PROFILE_REACHES * reach_m)
    return [(float(p), None if np.isnan(d) else float(d)) for p, d in zip(places, found, strict=True)]


def offsets(stretches: NDArray[np.object_], lines: Drawn) -> Offsets:
    """Mean, 95th percentile and greatest distance of each stretch to the nearest of some lines.

    Measured at the middles of even pieces of about two metres (8 to 100 of them) and, for the greatest, at both ends.
    """
    which, places, ends = _places(stretches)
    found = _nearest(np.r_[places, ends], lines.tree)
    return _figures(which, found[: len(places)], found[len(places) :])


def offsets_to(stretches: NDArray[np.object_], line: NDArray[np.object_]) -> Offsets:
    """Compute the same to one line for each stretch; nan where that is None."""
    which, places, ends = _places(stretches)
    return _figures(which, shapely.distance(places, line[which]), shapely.distance(ends, np.r_[line, line]))


def _places(stretches: NDArray[np.object_]) -> tuple[Ints, NDArray[np.object_], NDArray[np.object_]]:
    """Which stretch each place is on, the places, and first and last points."""
    size = np.clip(np.ceil(shapely.length(stretches) / 2), 8, 100).astype(np.int64)
    which = np.repeat(np.arange(len(stretches)), size)
    share = (counted(size) + 0.5) / size[which]
    places = shapely.line_interpolate_point(stretches[which], share, normalized=True)
    return which, places, np.r_[shapely.get_point(stretches, 0), shapely.get_point(stretches, -1)]


def _nearest(points: NDArray[np.object_], tree: shapely.STRtree, farthest_m: float | None = None) -> Floats:
    found = np.full(len(points), np.nan)
    if len(tree) and len(points):
        (at, _), distance = tree.query_nearest(points, max_distance=farthest_m, return_distance=True, all_matches=False)
        found[at] = distance
    return found


def _figures(which: Ints, found: Floats, at_ends: Floats) -> Offsets:
    """``which`` stretch each distance belongs to, in order."""
    count = len(at_ends) // 2
    size = np.bincount(which, minlength=count)
    mean = np.bincount(which, found, minlength=count) / np.maximum(size, 1)
    found = found[np.lexsort((found, which))]
    before = np.cumsum(size) - size
    p95 = found[before + np.ceil(0.95 * size).astype(np.int64) - 1]
    greatest = np.fmax(found[before + size - 1], np.fmax(at_ends[:count], at_ends[count:]))
    return Offsets(mean, p95, greatest)
