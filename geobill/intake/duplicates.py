"""The same stretch twice in one delivery: drawn in either direction, its parts in any order."""

from collections.abc import Iterable, Sequence
from datetime import date

import geopandas as gpd
import numpy as np
import pandas as pd
import shapely

TOLERANCE_M = 0.001


def find_duplicates(
    geometry: np.ndarray, owner: Sequence[tuple], installed_on: np.ndarray, removed_on: np.ndarray
) -> dict[int, int]:
    """Find rows that repeat an earlier one.

    Two rows are the same stretch when owner (operator, service, level) agrees, every vertex agrees to 0.001 m, and
    there is a day on which both are in force; the day on which one is taken out and its like put in doesn't count, nor
    do vertices on a straight stretch. The first stands; a row that repeats one that was itself found to be a duplicate
    counts only against those that stand.

    Parameters
    ----------
    geometry : array of LineString or MultiLineString
        In metres.
    owner : sequence of tuple
        What must agree besides the geometry.
    installed_on, removed_on : arrays of date or None
        First and last day in force, both included.

    Returns
    -------
    dict of int to int
        Position of each duplicate, and of the row that it repeats.
    """
    found: dict[int, int] = {}
    geometry = shapely.simplify(geometry, TOLERANCE_M / 2)
    for group in _same_stretches(geometry, owner):
        standing: list[int] = []
        for row in group:
            first = next((s for s in standing if _overlap(installed_on, removed_on, s, row)), None)
            if first is None:
                standing.append(row)
            else:
                found[row] = first
    return dict(sorted(found.items()))


def find_stored(accepted: gpd.GeoDataFrame, stored: gpd.GeoDataFrame) -> list[int]:
    """Rows of a file (``source_row``) whose stretch is stored already, from another import; frames by ``SEGMENTS``."""
    both = pd.concat([stored, accepted], ignore_index=True)
    owner = [tuple(map(str, row)) for row in both[["operator", "service", "level"]].itertuples(index=False, name=None)]
    installed, removed = (
        np.array([date.fromisoformat(d) if isinstance(d, str) else None for d in both[c]], dtype=object)
        for c in ("installed_on", "removed_on")
    )
    found = find_duplicates(np.asarray(both.geometry.values, dtype=object), owner, installed, removed)
    return [int(both["source_row"].iloc[row]) for row, first in found.items() if row >= len(stored) > first]


def _overlap(start: np.ndarray, end: np.ndarray, a: int, b: int) -> bool:
    begins = max(start[a] or date.min, start[b] or date.min)
    ends = min(end[a] or date.max, end[b] or date.max)
    return begins < ends or (begins == ends and start[a] == start[b])


def _same_stretches(geometry: np.ndarray, owner: Sequence[tuple]) -> Iterable[list[int]]:
    """Group rows, in their order, that are one stretch: bit by bit first, then to the tolerance."""
    if len(geometry) < 2:
        return []
    # GEOS's normal form settles direction and the order of parts
    shapes = pd.factorize(pd.Series(shapely.to_wkb(shapely.normalize(geometry)), dtype=object))[0]
    owners = pd.factorize(pd.Series(list(owner), dtype=object))[0]
    exact = pd.factorize(pd.Series(shapes) * (owners.max() + 1) + owners)[0]
    firsts = np.flatnonzero(~pd.Series(exact).duplicated())  # the first row of group 0, 1, …
    leader = np.arange(len(firsts))
    for a, b in _close_pairs(geometry[firsts], owners[firsts]):
        if _same_vertices(geometry[firsts[a]], geometry[firsts[b]]):
            low, high = sorted((leader[a], leader[b]))
            leader[leader == high] = low
    groups: dict[int, list[int]] = {}
    for row, group in enumerate(leader[exact].tolist()):
        groups.setdefault(group, []).append(row)
    return [g for g in groups.values() if len(g) > 1]


def _close_pairs(geometry: np.ndarray, owners: np.ndarray) -> list[tuple[int, int]]:
    """Pair rows of one owner whose bounds, number of vertices and way agree to the tolerance."""
    bounds = shapely.bounds(geometry)
    corners = shapely.points(bounds[:, 0], bounds[:, 1])
    a, b = shapely.STRtree(corners).query(corners, predicate="dwithin", distance=2 * TOLERANCE_M)
    count = shapely.get_num_coordinates(geometry)
    close = (a < b) & (owners[a] == owners[b]) & (count[a] == count[b])
    close &= (np.abs(bounds[a] - bounds[b]) <= 1.001 * TOLERANCE_M).all(axis=1)
    return list(zip(a[close].tolist(), b[close].tolist(), strict=True))


def _same_vertices(a: shapely.Geometry, b: shapely.Geometry) -> bool:
    """Tell whether every part of one has its like in the other, forwards or backwards."""
    ours = [shapely.get_coordinates(p) for p in shapely.get_parts(a)]
    theirs = [shapely.get_coordinates(p) for p in shapely.get_parts(b)]
    for part in ours:
        like = next((i for i, other in enumerate(theirs) if _alike(part, other) or _alike(part, other[::-1])), None)
        if like is None:
            return False
        theirs.pop(like)
    return not theirs


def _alike(a: np.ndarray, b: np.ndarray) -> bool:
    return len(a) == len(b) and bool((np.abs(a - b) <= TOLERANCE_M).all())
