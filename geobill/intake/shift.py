"""A label that contradicts the ground: a file that misses the network on record by just the shift between two datums."""

from dataclasses import dataclass
from math import hypot

import numpy as np
import shapely
from pyproj import CRS

from geobill.domain.network import Municipality
from geobill.intake.crs import best_operation
from geobill.intake.crs_known import DATUMS, datum_of, same_grid

HIT_M = 2.0
NEAR_M = 300.0  # farther from all that is on record nothing can be compared
SAMPLE = 2000
ENOUGH = 20  # stretches on either side; a row of many parts counts as many
FEW_HIT, MOST_HIT = 0.5, 0.8
_APART_M = 3.0  # datums nearer to each other than this can't be told apart by hits of 2 m


@dataclass(frozen=True)
class DatumShift:
    """A datum in which nearly all of a file would lie on the network on record, as it doesn't as labelled.

    ``codes`` are the systems that would do so, most plausible first; ``dx_m`` and ``dy_m`` (east, north) move the file as
    labelled to where it would lie; the shares are of the file's vertices within `HIT_M` of the network. ``twice`` says
    that a shift from that datum seems to have been applied to coordinates that needed none.
    """

    codes: tuple[str, ...]
    name: str
    dx_m: float
    dy_m: float
    share_as_labelled: float
    share_shifted: float
    twice: bool


def find_datum_shift(
    geometry: np.ndarray, reference: np.ndarray, municipality: Municipality, source: CRS
) -> DatumShift | None:
    """Compare a delivery with the network on record, as labelled and as each other usual datum.

    Parameters
    ----------
    geometry : array of geometries
        The delivery, carried into the workspace's system as its label says.
    reference : array of geometries
        Lines of the network on record, in the workspace's system.
    municipality : Municipality
        For the operations between datums.
    source : CRS
        The delivery's label.

    Returns
    -------
    DatumShift or None
        None where there is too little to compare, most of it lies on the network as labelled, or no datum explains it: a
        network of somebody else across the street lies on it in none.
    """
    datum = datum_of(source)
    geometry, reference = shapely.get_parts(geometry), shapely.get_parts(reference)
    if datum is None or len(reference) < ENOUGH or len(geometry) < ENOUGH:
        return None
    tree = shapely.STRtree(reference)
    xy = _near(geometry, tree)
    if xy is None:
        return None
    as_labelled = _share(xy, tree)
    if as_labelled > FEW_HIT:
        return None
    found: list[tuple[float, bool, str, str, float, float]] = []
    x, y = map(float, np.median(xy, axis=0))
    for other in DATUMS:
        code = None if other is datum else same_grid(source, other)
        moved = None if code is None else _moved(x, y, source, CRS.from_epsg(code), municipality)
        if moved is None or hypot(*moved) < _APART_M:
            continue
        for twice, sign in ((False, 1), (True, -1)):
            dx, dy = sign * moved[0], sign * moved[1]
            found.append((_share(xy + (dx, dy), tree), twice, f"EPSG:{code}", other.name, dx, dy))
    best = max(found, key=lambda f: f[0], default=None)  # the first of several equals is the most plausible
    if best is None or best[0] < MOST_HIT:
        return None
    share, twice, _, name, dx, dy = best
    alike = [f[2] for f in found if f[1] == twice and hypot(f[4] - dx, f[5] - dy) < _APART_M]
    return DatumShift(tuple(alike), name, dx, dy, as_labelled, share, twice)


def _near(geometry: np.ndarray, tree: shapely.STRtree) -> np.ndarray | None:
    """Sample of vertices that lie near the network on record; None where they are of too few stretches."""
    xy, row = shapely.get_coordinates(geometry, return_index=True)
    finite = np.isfinite(xy).all(axis=1)
    xy, row = xy[finite], row[finite]
    step = max(1, -(-len(xy) // SAMPLE))
    xy, row = xy[::step], row[::step]
    at = np.unique(tree.query(shapely.points(xy), predicate="dwithin", distance=NEAR_M)[0]) if len(xy) else np.array([])
    return xy[at] if len(at) and len(np.unique(row[at])) >= ENOUGH else None


def _share(xy: np.ndarray, tree: shapely.STRtree) -> float:
    hits = tree.query(shapely.points(xy), predicate="dwithin", distance=HIT_M)[0]
    return len(np.unique(hits)) / len(xy)


def _moved(x: float, y: float, label: CRS, other: CRS, municipality: Municipality) -> tuple[float, float] | None:
    """How far east and north a place would move if its coordinates were in the other system; None where unknown."""
    as_labelled, as_other = best_operation(label, municipality), best_operation(other, municipality)
    if as_labelled is None or as_other is None:
        return None
    there = as_other.transformer.transform(*as_labelled.transformer.transform(x, y, direction="INVERSE"))
    return there[0] - x, there[1] - y
