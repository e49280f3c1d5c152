"""Lines over value zones: every metre of every line in exactly one zone, or in none.

Lines that GEOS finds covered by one zone and away from every other are done at once. The rest are cut in one
dimension (see ``edges``): the places on each straight edge where anything could change (a zone's edge crossed, its
tolerance entered or left) cut it into elementary intervals; the midpoint of each says where the interval lies; runs of
intervals along the line say what it is: within one zone, in an overlap, on a border, or uncovered.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd
import shapely
from numpy.typing import NDArray

from geobill.errors import PolicyError
from geobill.pricing.edges import Edges, Ints, line_edges, look, polygon_edges
from geobill.pricing.nearest import GapStretch, nearest_along
from geobill.pricing.runs import Bools, Intervals, Runs, overhangs, part_lengths

BORDER_M = 0.015  # a stretch within this of two zones lies on their border (contract, "Border")
NARROW_M = 2 * BORDER_M  # overlaps and gaps narrower than this are borders; so are distances that differ by less
BORDER_LENGTH_M = 0.50  # shorter stretches near two zones only cross a border, unless the whole line is shorter
CORNER_M = 5.0  # passing a corner makes two zones' distances alike over some metres: that is no lying between them
_NOTHING = 1e-9  # a nanometre: what a corner exactly on a border leaves between two intervals is no stretch
_SLACK = 1e-6  # a micrometre: what rotating and re-reading coordinates may move them

ON_BORDER, ON_OVERLAP, IN_GAP = "on_border", "on_overlap", "in_gap"


@dataclass(frozen=True)
class ZoneSet:
    """Value zones ready to cut with.

    ``polygons`` are valid; ``rank`` orders zones by value (equal values, equal rank); ``order`` settles ties between
    equal values, so that the order of rows in a file never decides.
    """

    polygons: NDArray[np.object_]
    rank: Ints
    order: Ints


@dataclass(frozen=True)
class Rules:
    """The policy keys that decide where a metre belongs (contract: Policy)."""

    on_border: str = "lower"
    on_overlap: str = "hold"
    max_gap_m: float = 0.0

    def __post_init__(self) -> None:
        if self.on_border not in ("lower", "higher", "mean") or self.on_overlap not in ("hold", "lower", "higher"):
            raise PolicyError(f"The cut knows no on_border {self.on_border!r} with on_overlap {self.on_overlap!r}.")


def cut(lines: NDArray[np.object_], zones: ZoneSet, rules: Rules) -> pd.DataFrame:
    """Cut lines into stretches, each of which lies in one zone, is held, or lies in none.

    Parameters
    ----------
    lines : array of LineString or MultiLineString
        In one projected system, metres; none missing or empty.
    zones : ZoneSet
    rules : Rules

    Returns
    -------
    pandas.DataFrame
        ``line`` (position in the input), ``part`` (count over all parts of all lines), ``start_m`` and ``end_m`` along
        the part, ``zone`` (position, -1 for none), ``mate`` (the other zone where ``on_border = mean`` takes both,
        else -1), ``held`` (an overlap that nobody settled) and ``flags`` (comma-joined, sorted). The stretches of a
        part follow each other without hole or overlap from 0 to its length.
    """
    lines = shapely.force_2d(np.asarray(lines, dtype=object))
    whole, zone = _covered_by_one(lines, zones)
    parts, owner = shapely.get_parts(lines, return_index=True)
    simple = whole[owner] | (len(zones.polygons) == 0)
    done = pd.DataFrame(
        {
            "line": owner[simple],
            "part": np.flatnonzero(simple),
            "start_m": 0.0,
            "end_m": shapely.length(parts[simple]),
            "zone": zone[owner[simple]],
            "mate": -1,
            "held": False,
            "flags": "",
        }
    )
    rest = np.flatnonzero(~simple)
    if not len(rest):
        return done.sort_values("part", ignore_index=True)
    stretches = _cut_exactly(parts[rest], zones, rules)
    stretches["line"], stretches["part"] = owner[rest][stretches["part"]], rest[stretches["part"]]
    found = pd.concat([done, stretches], ignore_index=True)
    return found.sort_values(["part", "start_m"], ignore_index=True)


def _covered_by_one(lines: NDArray[np.object_], zones: ZoneSet) -> tuple[Bools, Ints]:
    """Which lines GEOS finds covered by one zone with no other zone near, and that zone."""
    shapely.prepare(zones.polygons)
    tree = shapely.STRtree(zones.polygons)
    near = np.bincount(tree.query(lines, "dwithin", distance=NARROW_M + _SLACK)[0], minlength=len(lines))
    covered = tree.query(lines, "covered_by")
    zone = np.full(len(lines), -1, dtype=np.int64)
    zone[covered[0]] = covered[1]
    return (near == 1) & (zone >= 0), zone


@dataclass(frozen=True)
class _Presence:
    """Zones at the midpoints of intervals, one pair a row, and what the pairs say of each interval."""

    interval: Ints
    zone: Ints
    inside: Bools
    distance: NDArray[np.float64]  # to the zone's outline
    covering: Ints  # zones that contain the midpoint
    deep: Ints  # of these, the ones that contain it by more than BORDER_M
    border: Bools  # within BORDER_M of two zones, or in a gap of theirs narrower than NARROW_M


def _cut_exactly(parts: NDArray[np.object_], zones: ZoneSet, rules: Rules) -> pd.DataFrame:
    edges = line_edges(parts)
    outline = polygon_edges(zones.polygons)
    intervals, pairs = _intervals(edges, outline)
    at = _presence(edges, outline, intervals, pairs, zones)

    # what each interval is, from the run of like intervals in which it stands
    run = Runs(intervals, at.border)
    overhang = at.border & overhangs(intervals, run, edges, BORDER_LENGTH_M)
    along = run.length - run.sum(np.where(overhang, intervals.length, 0.0))
    long_enough = np.minimum(BORDER_LENGTH_M, part_lengths(intervals)[intervals.part]) - _SLACK
    stretch = at.border & ~overhang & (along >= long_enough)
    run = Runs(intervals, at.covering >= 2)
    overlap = ~stretch & (at.covering >= 2) & run.any(at.deep >= 2)
    uncovered = ~stretch & (at.covering == 0)
    run = Runs(intervals, uncovered)
    slit = uncovered & (run.all(at.border) | _slits(intervals, at, uncovered, run))
    gap = uncovered & ~slit

    # whose it is
    outside = at.distance <= NARROW_M + _SLACK
    near = at.inside | (at.distance <= BORDER_M + _SLACK) | (outside & (at.covering == 0)[at.interval])
    lowest, highest = _extremes(at, np.where((stretch | slit)[at.interval], near, at.inside), len(gap), zones)
    zone, mate = _settle(lowest, highest, rules.on_border, zones)
    over, _ = _settle(lowest, highest, rules.on_overlap, zones)
    alike = zones.rank[lowest] == zones.rank[highest]
    held = overlap & (rules.on_overlap == "hold") & ~alike
    zone = np.where(overlap, np.where(alike, lowest, over), zone)
    flags = np.where(stretch, ON_BORDER, np.where(overlap, ON_OVERLAP, ""))
    frame = pd.DataFrame(
        {
            "edge": intervals.edge,
            "part": intervals.part,
            "start": intervals.start,
            "end": intervals.end,
            "zone": np.where(gap | held, -1, zone),
            "mate": np.where(overlap | gap, -1, mate),
            "held": held,
            "flags": flags,
            "gap": gap,
        }
    )
    if rules.max_gap_m > 0 and gap.any():
        frame = pd.concat([frame[~gap], _close_gaps(frame[gap], edges, outline, zones, rules)], ignore_index=True)
    return _along_parts(frame, edges)


def _intervals(edges: Edges, outline: Edges) -> tuple[Intervals, tuple[Ints, Ints]]:
    """Cut each straight edge wherever a zone's outline is crossed, or comes within or leaves a tolerance."""
    tree = shapely.STRtree(outline.geometries())
    e, k = tree.query(edges.geometries(), "dwithin", distance=NARROW_M + _SLACK)
    direction = (edges.b - edges.a) / edges.lengths[:, None]
    seen = look(edges.a[e], direction[e], outline.a[k], outline.b[k])
    places = [seen.crossing(), seen.xa, seen.xb, *seen.within(BORDER_M + _SLACK), *seen.within(NARROW_M + _SLACK)]
    everywhere = np.arange(len(edges))
    edge = np.concatenate([*([e] * len(places)), everywhere, everywhere])
    place = np.concatenate([*places, np.zeros(len(edges)), edges.lengths])
    ok = (place >= 0) & (place <= edges.lengths[edge])  # nan is neither
    edge, place = edge[ok], place[ok]
    order = np.lexsort((place, edge))
    edge, place = edge[order], place[order]
    # places closer than a nanometre are one; both ends of an edge stay
    last = np.append(edge[1:] != edge[:-1], True)
    first = np.insert(edge[1:] != edge[:-1], 0, True)
    close = np.insert((np.diff(place) < 1e-9) & (edge[1:] == edge[:-1]), 0, False)
    keep = (~close | last) & (first | ~np.append(close[1:] & last[1:], False))
    edge, place = edge[keep], place[keep]
    same = edge[1:] == edge[:-1]
    return Intervals(edge[:-1][same], edges.part[edge[:-1][same]], place[:-1][same], place[1:][same]), (e, k)


def _presence(edges: Edges, outline: Edges, at: Intervals, pairs: tuple[Ints, Ints], zones: ZoneSet) -> _Presence:
    mid = (at.start + at.end) / 2
    direction = (edges.b - edges.a) / edges.lengths[:, None]
    xy = edges.a[at.edge] + mid[:, None] * direction[at.edge]
    tree = shapely.STRtree(zones.polygons)
    e, z = tree.query(edges.geometries(), "dwithin", distance=NARROW_M + _SLACK)
    interval, pick = _expand(at.edge, e)
    zone = z[pick]
    inside = shapely.intersects_xy(zones.polygons[zone], xy[interval, 0], xy[interval, 1])
    # distance to a zone's outline: the least over those of its edges that come near this straight edge
    e, k = pairs
    i, pick = _expand(at.edge, e)
    seen = look(edges.a[at.edge[i]], direction[at.edge[i]], outline.a[k[pick]], outline.b[k[pick]])
    least = pd.Series(seen.distance(mid[i])).groupby([i, outline.owner[k[pick]]]).min()
    distance = least.reindex(pd.MultiIndex.from_arrays([interval, zone])).fillna(np.inf).to_numpy()
    inside |= distance <= _SLACK
    count = len(mid)
    near = inside | (distance <= BORDER_M + _SLACK)
    deep = np.bincount(interval[inside & (distance > BORDER_M + _SLACK)], minlength=count)
    covering = np.bincount(interval[inside], minlength=count)
    border = (np.bincount(interval[near], minlength=count) >= 2) & (deep <= 1)
    border |= (covering == 0) & (_two_nearest(interval, distance, count) <= NARROW_M + _SLACK)
    return _Presence(interval, zone, inside, distance, covering, deep, border)


def _expand(edge: Ints, sorted_or_not: Ints) -> tuple[Ints, Ints]:
    """For each interval all rows of a pair list whose first member is the interval's edge: (interval, row)."""
    order = np.argsort(sorted_or_not, kind="stable")
    keys = sorted_or_not[order]
    first, last = np.searchsorted(keys, edge, "left"), np.searchsorted(keys, edge, "right")
    count = last - first
    interval = np.repeat(np.arange(len(edge)), count)
    within = np.arange(len(interval)) - np.repeat(np.cumsum(count) - count, count)
    return interval, order[np.repeat(first, count) + within]


def _two_nearest(interval: Ints, distance: NDArray[np.float64], count: int) -> NDArray[np.float64]:
    """Sum of the two smallest distances of each interval: the width of a gap between two zones."""
    order = np.lexsort((distance, interval))
    rank = np.arange(len(order)) - np.searchsorted(interval[order], interval[order], "left")
    total = np.zeros(count)
    number = np.bincount(interval, minlength=count)
    np.add.at(total, interval[order][rank < 2], distance[order][rank < 2])
    return np.where(number >= 2, total, np.inf)


def _slits(intervals: Intervals, at: _Presence, uncovered: Bools, run: Runs) -> Bools:
    """Uncovered runs shorter than NARROW_M between two covered intervals: a slit in a zone, crossed."""
    before, after = np.maximum(run.starts - 1, 0), np.minimum(run.ends + 1, len(uncovered) - 1)
    part = intervals.part
    between = (part[before] == part[run.starts]) & (part[after] == part[run.ends])
    between &= (at.covering[before] > 0) & (at.covering[after] > 0)
    return uncovered & between[run.number] & (run.length < NARROW_M)


def _extremes(at: _Presence, candidate: Bools, count: int, zones: ZoneSet) -> tuple[Ints, Ints]:
    """Lowest and highest valued candidate zone of each interval; -1 where there is none."""
    interval, zone = at.interval[candidate], at.zone[candidate]
    return _extreme(interval, zone, zones.rank, zones, count), _extreme(interval, zone, -zones.rank, zones, count)


def _extreme(interval: Ints, zone: Ints, by: Ints, zones: ZoneSet, count: int) -> Ints:
    order = np.lexsort((zones.order[zone], by[zone], interval))
    first = np.ones(len(order), dtype=bool)
    first[1:] = interval[order][1:] != interval[order][:-1]
    found = np.full(count, -1, dtype=np.int64)
    found[interval[order][first]] = zone[order][first]
    return found


def _settle(lowest: Ints, highest: Ints, policy: str, zones: ZoneSet) -> tuple[Ints, Ints]:
    """Take the zone that a policy chooses between the lowest and the highest, and its mate where it takes both."""
    if policy == "higher":
        return highest, np.full(len(highest), -1)
    differ = (zones.rank[lowest] != zones.rank[highest]) & (policy == "mean")
    return lowest, np.where(differ, highest, -1)


def _close_gaps(gaps: pd.DataFrame, edges: Edges, outline: Edges, zones: ZoneSet, rules: Rules) -> pd.DataFrame:
    """Give uncovered intervals to the nearest zone within reach; ties by ``on_border``."""
    gaps = gaps.sort_values(["part", "edge", "start"], ignore_index=True)
    joined = (gaps["edge"] == gaps["edge"].shift()) & ((gaps["start"] - gaps["end"].shift()).abs() < 1e-9)
    gaps = gaps.groupby((~joined).cumsum(), sort=False).agg(
        edge=("edge", "first"), part=("part", "first"), start=("start", "first"), end=("end", "last")
    )
    edge, part, start, end = (gaps[c].to_numpy() for c in ("edge", "part", "start", "end"))
    direction = (edges.b - edges.a) / edges.lengths[:, None]
    ends = edges.a[edge][:, None] + np.stack([start, end], 1)[..., None] * direction[edge][:, None]
    tree = shapely.STRtree(outline.geometries())
    reach = rules.max_gap_m + NARROW_M + 1e-3
    i, k = tree.query(shapely.linestrings(ends), "dwithin", distance=reach)
    order = np.argsort(i, kind="stable")
    i, k = i[order], k[order]
    bounds = np.searchsorted(i, np.arange(len(gaps) + 1))
    rows: list[tuple[int, int, GapStretch]] = []
    for g in range(len(gaps)):
        mine = k[bounds[g] : bounds[g + 1]]
        seen = look(edges.a[edge[g]], direction[edge[g]], outline.a[mine], outline.b[mine])
        found = nearest_along(seen, outline.owner[mine], start[g], end[g], rules.max_gap_m, NARROW_M + _SLACK)
        rows += [(part[g], edge[g], s) for s in found]
    stretches = [s for _, _, s in rows]
    tied = _drop_corners([p for p, _, _ in rows], stretches)
    pair_interval = np.repeat(np.arange(len(rows)), [len(t) for t in tied])
    pair_zone = np.array([z for t in tied for z in t], dtype=np.int64)
    low = _extreme(pair_interval, pair_zone, zones.rank, zones, len(rows))
    high = _extreme(pair_interval, pair_zone, -zones.rank, zones, len(rows))
    zone, mate = _settle(low, high, rules.on_border, zones)
    number = np.array([len(t) for t in tied])
    return pd.DataFrame(
        {
            "edge": [e for _, e, _ in rows],
            "part": [p for p, _, _ in rows],
            "start": [s.start for s in stretches],
            "end": [s.end for s in stretches],
            "zone": zone,
            "mate": mate,
            "held": False,
            "flags": np.where(number == 0, "", np.where(number == 1, IN_GAP, f"{IN_GAP},{ON_BORDER}")),
            "gap": True,
        }
    )


def _drop_corners(parts: list[int], stretches: list[GapStretch]) -> list[tuple[int, ...]]:
    """Zones between which each gap stretch lies; where a line merely passes a corner, only the nearest.

    Where a street passes the corner at which two zones meet, their distances differ by less than NARROW_M for some
    metres to either side, though the line goes from the one zone's front to the other's. Such a short run, with a
    different single nearest zone at each end, is cut where the distances are equal; a run that keeps between two
    zones (the middle of a street, the front of an overlap) goes by ``on_border``.
    """
    tied = [s.tied for s in stretches]
    n = 0
    while n < len(tied):
        if len(tied[n]) < 2:
            n += 1
            continue
        end = n
        while end + 1 < len(tied) and parts[end + 1] == parts[n] and len(tied[end + 1]) > 1:
            end += 1
        length = sum(s.end - s.start for s in stretches[n : end + 1])
        level = sum(s.end - s.start for s in stretches[n : end + 1] if s.level)
        before = tied[n - 1] if n and parts[n - 1] == parts[n] else ()
        after = tied[end + 1] if end + 1 < len(tied) and parts[end + 1] == parts[n] else ()
        if len(before) == len(after) == 1 and before != after and length < CORNER_M and level < NARROW_M:
            for m in range(n, end + 1):
                tied[m] = (stretches[m].nearest,)  # type: ignore[assignment]
        n = end + 1
    return tied


def _along_parts(frame: pd.DataFrame, edges: Edges) -> pd.DataFrame:
    """Metres along straight edges to metres along parts; neighbours with one answer become one stretch."""
    new_part = np.insert(edges.part[1:] != edges.part[:-1], 0, True)
    before = np.cumsum(edges.lengths) - edges.lengths
    offset = before - before[new_part][np.cumsum(new_part) - 1] if len(edges) else before
    frame = frame.sort_values(["part", "edge", "start"], ignore_index=True)
    start = frame["start"].to_numpy() + offset[frame["edge"]]
    end = frame["end"].to_numpy() + offset[frame["edge"]]
    long_enough = end - start > _NOTHING
    frame, start, end = frame[long_enough].reset_index(drop=True), start[long_enough], end[long_enough]
    answer = ["part", "zone", "mate", "held", "flags"]
    new = (frame[answer] != frame[answer].shift()).any(axis=1).to_numpy()
    last = np.append(new[1:], True)[: len(new)]
    return frame.loc[new, answer].assign(start_m=start[new], end_m=end[last]).reset_index(drop=True)
