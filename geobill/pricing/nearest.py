"""The nearest zone along a straight stretch that lies in none, cut exactly.

The squared distance from a place on a straight stretch to an edge is piecewise quadratic: its pieces end where the
foot of the perpendicular reaches an end of the edge. So the places where the nearest zone changes, where two zones
are equally near (to a tolerance) and where the reach ends are roots of polynomials; between two of them nothing
changes, and the midpoint decides.
"""

from dataclasses import dataclass, replace
from itertools import combinations, pairwise

import numpy as np

from geobill.pricing.edges import Floats, Ints, Sight

_PRUNE_M = 2.0  # a longer interval is halved first: fewer edges are in question on either half
_ROOT_SLACK = 1e-9
_LEVEL_M = 1e-6


@dataclass(frozen=True)
class GapStretch:
    """Part of a stretch, from ``start`` to ``end`` metres along it, with one answer.

    ``nearest`` is the nearest zone, None beyond reach; ``tied`` are all zones whose distance is within the tolerance
    of the nearest's, ascending; ``level`` says that two of them are equally near, to a micrometre.
    """

    start: float
    end: float
    nearest: int | None
    tied: tuple[int, ...]
    level: bool = False


def nearest_along(sight: Sight, zone: Ints, start: float, end: float, reach_m: float, tie_m: float) -> list[GapStretch]:
    """Cut the stretch from ``start`` to ``end`` by its nearest zone.

    Parameters
    ----------
    sight : Sight
        Every zone edge within ``reach_m + tie_m`` of the stretch, seen from it.
    zone : array of int
        Zone to which each edge belongs.
    start, end : float
        Metres along the stretch; the whole interval lies in no zone.
    reach_m : float
        The policy ``max_gap_m``: beyond it no zone is taken.
    tie_m : float
        Distances that differ by at most this much count as equal.

    Returns
    -------
    list of GapStretch
        In order, without holes between them, from ``start`` to ``end``.
    """
    found: list[GapStretch] = []
    todo = [(start, end, np.arange(len(zone)))]
    while todo:
        lo, hi, kept = todo.pop()
        seen = _take(sight, kept)
        half = (hi - lo) / 2
        # the distance to an edge is convex and changes by at most a metre a metre
        upper = float(np.maximum(seen.distance(np.array(lo)), seen.distance(np.array(hi))).min(initial=np.inf))
        worth = seen.distance(np.array(lo + half)) - half <= min(upper, reach_m) + tie_m + _ROOT_SLACK
        kept = kept[worth]
        zones = np.unique(zone[kept])
        if not len(zones):
            found.append(GapStretch(lo, hi, None, ()))
        elif len(zones) == 1 and upper <= reach_m:
            found.append(GapStretch(lo, hi, int(zones[0]), (int(zones[0]),)))
        elif half > _PRUNE_M / 2:
            todo += [(lo + half, hi, kept), (lo, lo + half, kept)]  # the first half is taken next
        else:
            found += _cut(_take(sight, kept), zone[kept], lo, hi, reach_m, tie_m)
    return _merge(found)


def _take(sight: Sight, rows: Ints) -> Sight:
    return Sight(*(getattr(sight, name)[rows] for name in ("xa", "ya", "xb", "yb", "ex", "ey", "m")))


def _cut(seen: Sight, zone: Ints, start: float, end: float, reach_m: float, tie_m: float) -> list[GapStretch]:
    """Cut a short stretch with few edges in question at every root."""
    with np.errstate(divide="ignore", invalid="ignore"):
        feet = seen.xa + seen.ya * seen.ey / seen.ex
        limits = np.concatenate([feet, feet + seen.m / seen.ex])
    cuts = _inside(limits, start, end)
    roots = [_roots(seen, zone, lo, hi, reach_m, tie_m) for lo, hi in pairwise(cuts)]
    cuts = _inside(np.concatenate([cuts, *roots]), start, end)
    mids = (cuts[:-1] + cuts[1:]) / 2
    distance = seen.distance(mids[:, None])  # cuts × edges
    found = []
    zones = np.unique(zone)
    by_zone = np.stack([distance[:, zone == z].min(axis=1) for z in zones], axis=1)
    for lo, hi, row in zip(cuts[:-1], cuts[1:], by_zone, strict=True):
        least = row.min()
        if least > reach_m:
            found.append(GapStretch(float(lo), float(hi), None, ()))
            continue
        tied = tuple(int(z) for z in zones[row <= least + tie_m])
        level = len(tied) > 1 and float(np.partition(row, 1)[1] - least) < _LEVEL_M
        found.append(GapStretch(float(lo), float(hi), int(zones[row.argmin()]), tied, level))
    return found


def _inside(places: Floats, start: float, end: float) -> Floats:
    """Sort the places strictly between start and end, drop those that coincide, and put both ends around them."""
    places = np.unique(places[(places > start + _ROOT_SLACK) & (places < end - _ROOT_SLACK)])
    if len(places):
        places = places[np.append(True, np.diff(places) > _ROOT_SLACK)]
    return np.concatenate([[start], places, [end]])


def _roots(seen: Sight, zone: Ints, start: float, end: float, reach_m: float, tie_m: float) -> Floats:
    """Places between start and end, where no edge changes its quadratic, at which an answer may change."""
    mid, half = (start + end) / 2, (end - start) / 2
    along = (mid - seen.xa) * seen.ex - seen.ya * seen.ey
    px, py = np.where(along < 0, seen.xa, seen.xb), np.where(along < 0, seen.ya, seen.yb)
    across = (mid - seen.xa) * seen.ey + seen.ya * seen.ex
    on_line = (along >= 0) & (along <= seen.m)
    # squared distance as a t² + b t + c, with t counted from the middle
    a = np.where(on_line, seen.ey**2, 1.0)
    b = np.where(on_line, 2 * seen.ey * across, 2 * (mid - px))
    c = np.where(on_line, across**2, (mid - px) ** 2 + py**2)
    d = np.sqrt(c)
    near = np.flatnonzero(d - half <= min(float(d.min()) + half, reach_m) + tie_m + _ROOT_SLACK)
    polynomials = [(a[k], b[k], c[k] - reach_m**2) for k in near if abs(d[k] - reach_m) <= half + _ROOT_SLACK]
    for k, other in combinations(near, 2):
        if zone[k] == zone[other]:
            continue
        difference = np.array([a[other] - a[k], b[other] - b[k], c[other] - c[k]])
        polynomials.append(tuple(difference))
        if abs(d[k] - d[other]) <= tie_m + 2 * half:
            # d' = d ± tie  <=>  (d'² - d² - tie²)² = 4 tie² d²
            shifted = difference - [0, 0, tie_m**2]
            polynomials.append(
                tuple(np.polysub(np.polymul(shifted, shifted), 4 * tie_m**2 * np.array([a[k], b[k], c[k]])))
            )
    return mid + np.concatenate([_real_roots(np.array(p), half) for p in polynomials] or [np.empty(0)])


def _real_roots(polynomial: Floats, half: float) -> Floats:
    scale = np.abs(polynomial).max()
    if scale == 0:
        return np.empty(0)
    if len(polynomial) == 3:
        return _quadratic(*polynomial)
    roots = np.roots(np.where(np.abs(polynomial) < 1e-14 * scale, 0.0, polynomial))
    return np.real(roots[np.abs(np.imag(roots)) < 1e-7 * (1 + half)])


def _quadratic(a: float, b: float, c: float) -> Floats:
    """Roots of a t² + b t + c, without the loss of digits of the schoolbook formula."""
    if abs(a) < 1e-15:
        return np.array([-c / b]) if abs(b) > 1e-15 else np.empty(0)
    inner = b * b - 4 * a * c
    if inner < 0:
        return np.empty(0)
    q = -(b + np.copysign(np.sqrt(inner), b)) / 2
    return np.array([q / a, c / q] if q else [0.0])


def _merge(found: list[GapStretch]) -> list[GapStretch]:
    merged: list[GapStretch] = []
    for s in found:
        last = merged[-1] if merged else None
        if last and (last.nearest, last.tied, last.level) == (s.nearest, s.tied, s.level):
            merged[-1] = replace(last, end=s.end)
        else:
            merged.append(s)
    return merged
