"""A survey's lines against permitted ones: which metres are which, on both sides."""

from collections.abc import Sequence
from dataclasses import dataclass

import geopandas as gpd
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from geobill.detection.beside import Beside, Pieces, find_beside
from geobill.detection.chains import Chains, chains_of
from geobill.detection.drawn import Drawn
from geobill.detection.intervals import Floats, Ints, contested, covered, outside, overlapping, united, within
from geobill.detection.labels import smoothed
from geobill.detection.serving import share_out
from geobill.domain.detection import DetectionTerms

MATCHED, BELOW_MINIMUM, MORE, MOVED, UNDECLARED = "matched", "below_minimum", "more", "moved", "undeclared"
SERVED, MISSING = "served", "missing"

_CROOKED = 1 / 3  # share of the reach within which a line is straight, and …
_CROOKED_MOST_M = 1.0
_CROSSES = 2 / np.sin(np.radians(8.0))  # a crossing is at most this many times the reach long: steeper than 8 degrees
_AT_THE_LIMIT = 0.95  # share of the reach
_LEAVES = 0.12  # metres aside for each along, of a branch that leaves its root: 7 degrees
_DEPTHS = (0.5, 0.6, 0.7, 0.8, 0.9)  # shares of the reach
_SHALLOW = 0.25  # what a metre that only just keeps within reach says, of what one in the middle says
_BRIDGED_M = 1e-3
_SNAPPED_M = 0.02
_CRUMB = 0.5  # share of the reach
Intervals = tuple[Floats, Floats]


@dataclass(frozen=True)
class Compared:
    """Both sides, stretch by stretch.

    ``surveyed`` and ``permitted`` are frames of stretches that cover every line from end to end: ``row`` (position in the
    frame that was given), ``part``, ``start_m`` and ``end_m`` along the row's line, ``state``, ``other`` (position of the
    row on the other side that it is matched with, or that it is nearest to; -1 for none) and, of a surveyed stretch that is
    more than permitted, ``rival`` (position of the surveyed row that has the place; else -1).
    """

    surveyed: pd.DataFrame
    permitted: pd.DataFrame


def compare(
    survey: gpd.GeoDataFrame,
    survey_lines: Drawn,
    permitted: gpd.GeoDataFrame,
    permitted_lines: Drawn,
    terms: DetectionTerms,
) -> Compared:
    """Say of each metre of a survey and of what is permitted what it is.

    Parameters
    ----------
    survey, permitted : GeoDataFrame
        By `frames.SURVEY_LINES` and `frames.SEGMENTS`; of each its lines.
    terms : DetectionTerms
    """
    reach, least = terms.reach_m, float(terms.min_length_m)
    crooked = min(_CROOKED * reach, _CROOKED_MOST_M)
    kinds = _Kinds(survey, permitted)
    mine, others = chains_of(survey_lines, kinds.mine, crooked), chains_of(permitted_lines, kinds.others, crooked)
    seen = find_beside(mine, others, reach, kinds.fit)
    hits, pieces = _hits(seen.pieces, mine, reach)
    start, end, is_hit, is_near, label = _labelled(mine, hits, pieces, seen, reach, least)
    undeclared = _snapped(mine, united(start[~label], end[~label]))
    matched = outside(*undeclared, mine.chain_from, mine.chain_to)[:2]
    below = label & ~is_hit & ~is_near
    served = share_out(_only_in(pieces, matched), mine, others)
    held = served.held
    more = _more(matched, held, served.lost, least)
    moved, moved_to = _moved(mine, others, undeclared, united(held.low, held.high, _BRIDGED_M), terms, kinds)
    *rival_at, rival, rivals_place = _rivals(mine, others, pieces, held, more)
    surveyed = _runs(
        mine,
        (
            (UNDECLARED, outside(*moved, *undeclared)[:2]),
            (MOVED, moved),
            (MORE, more),
            (BELOW_MINIMUM, (start[below], end[below])),
        ),
        MATCHED,
        (*rival_at, rivals_place),
        (held.start, held.end, _row(others, held.other)),
        (moved_to.start, moved_to.end, _row(others, moved_to.other)),
    )
    middle = (surveyed["start"] + surveyed["end"]).to_numpy() / 2
    surveyed["rival"] = _looked_up(middle, *rival_at, rival)
    surveyed.loc[_crumbs(mine, surveyed, reach) & (surveyed["state"] == UNDECLARED), "state"] = BELOW_MINIMUM
    allowed = _runs(
        others,
        ((MISSING, _missing(others, seen, held, moved_to, least)),),
        SERVED,
        *(_on_other_scale(p, mine) for p in (held, moved_to)),
    )
    allowed.loc[_crumbs(others, allowed, reach), "state"] = SERVED
    return Compared(_by_row(mine, surveyed), _by_row(others, allowed))


def _crumbs(chains: Chains, runs: pd.DataFrame, reach: float) -> NDArray[np.bool_]:
    """Bits of a row, shorter than half the reach, that are only the fringe of a run on its neighbour."""
    length = (runs["end"] - runs["start"]).to_numpy()
    return (length < _CRUMB * reach) & (2 * length < chains.part_length[runs["part"].to_numpy()])


def _row(chains: Chains, edge: Ints) -> Ints:
    return chains.part_row[chains.part[edge]]


class _Kinds:
    """What may be one another: rows differ where both name a service, or both a level, and not the same."""

    def __init__(self, survey: gpd.GeoDataFrame, permitted: gpd.GeoDataFrame) -> None:
        self.codes = []
        for column in ("service", "level"):
            both = pd.concat([survey[column], permitted[column]], ignore_index=True)
            text = both.astype("string").str.strip().str.casefold().replace("", pd.NA)
            self.codes.append(np.split(pd.factorize(text)[0], [len(survey)]))
        owner = pd.factorize(survey["operator"].astype("string"))[0]
        (service, allowed_service), (level, allowed_level) = self.codes
        self.mine = _numbered(owner, service, level)
        self.others = _numbered(allowed_service, allowed_level)

    def fit(self, one: Ints, other: Ints) -> NDArray[np.bool_]:
        """Whether surveyed rows may be permitted rows."""
        fits = np.ones(len(one), dtype=bool)
        for mine, others in self.codes:
            a, b = mine[one], others[other]
            fits &= (a < 0) | (b < 0) | (a == b)
        return fits


def _numbered(*codes: Ints) -> Ints:
    return np.unique(np.stack(codes, axis=1), axis=0, return_inverse=True)[1].reshape(-1).astype(np.int64)


def _hits(pieces: Pieces, mine: Chains, reach: float) -> tuple[Intervals, Pieces]:
    """Where the survey runs beside a permitted line, less what only crosses one or only leaves one."""
    start, end = united(pieces.start, pieces.end, reach / 2)  # a crossing may be seen in two halves, at a joint
    if not len(start):
        return (start, end), pieces
    block = np.searchsorted(start, pieces.start, side="right") - 1
    first = _nearest(block, pieces.start - start[block], pieces.y_start)
    last = _nearest(block, end[block] - pieces.end, pieces.y_end)
    length, chain = end - start, mine.chain_of(start)
    far_first, far_last = np.abs(first) >= _AT_THE_LIMIT * reach, np.abs(last) >= _AT_THE_LIMIT * reach
    crosses = far_first & far_last & ((first > 0) != (last > 0)) & (length <= _CROSSES * reach)
    from_root = (start - mine.chain_from[chain] < _BRIDGED_M) & far_last & ~far_first
    to_root = (mine.chain_to[chain] - end < _BRIDGED_M) & far_first & ~far_last
    leaves = np.abs(np.abs(last) - np.abs(first)) >= _LEAVES * length
    stays = ~(crosses | ((from_root | to_root) & leaves))
    pieces = pieces.only(stays[block])
    return united(pieces.start, pieces.end, _BRIDGED_M), pieces


def _nearest(block: Ints, from_edge: Floats, y: Floats) -> Floats:
    """How far off the nearest permitted line is at the edge of each block."""
    at_edge = np.flatnonzero(from_edge < _BRIDGED_M)
    order = at_edge[np.lexsort((np.abs(y[at_edge]), block[at_edge]))]
    found = np.zeros(int(block.max()) + 1)
    one = np.unique(block[order], return_index=True)
    found[one[0]] = y[order[one[1]]]
    return found


def _labelled(
    mine: Chains, hits: Intervals, pieces: Pieces, seen: Beside, reach: float, least: float
) -> tuple[Floats, Floats, NDArray[np.bool_], NDArray[np.bool_], NDArray[np.bool_]]:
    """Stretches of all chains in order: start, end, whether a hit, whether a gap that stays near, whether matched."""
    gap_start, gap_end, _ = outside(*hits, mine.chain_from, mine.chain_to)
    start, end = np.r_[hits[0], gap_start], np.r_[hits[1], gap_end]
    hit = np.r_[np.ones(len(hits[0]), dtype=bool), np.zeros(len(gap_start), dtype=bool)]
    order = np.argsort(start, kind="stable")
    start, end, hit = start[order], end[order], hit[order]
    chain, length = mine.chain_of((start + end) / 2), end - start
    deep = np.zeros(len(start))
    for share in _DEPTHS:
        low, high = pieces.within(share * reach)
        deep += covered(start, end, *united(low[high > low], high[high > low])) / len(_DEPTHS)
    around, close = (
        united(*seen.around),
        united(np.r_[seen.around[0], seen.near[0]], np.r_[seen.around[1], seen.near[1]]),
    )
    same = chain[1:] == chain[:-1]
    between = np.r_[False, same] & np.r_[same, False] & ~hit
    turning = between & (covered(start, end, *around) >= length - _BRIDGED_M)  # the outer side of a corner
    wiggling = between & (covered(start, end, *close) >= length - _BRIDGED_M)
    weight = np.where(hit, _SHALLOW * length + (1 - _SHALLOW) * deep, length)
    weight = np.where(turning, length / 4, np.where(wiggling, length / 2, weight))
    return start, end, hit, turning | wiggling, smoothed(chain, hit, weight, least)


def _snapped(mine: Chains, runs: Intervals) -> Intervals:
    """Move the ends of runs to ends of parts that are hardly away: no finding of a centimetre."""
    edges = np.sort(np.r_[mine.part_at, mine.part_at + mine.part_length])
    moved = []
    for place in runs:
        near = np.clip(np.searchsorted(edges, place), 1, max(len(edges) - 1, 1))
        below, above = edges[near - 1], edges[np.minimum(near, len(edges) - 1)]
        nearest = np.where(place - below < above - place, below, above)
        moved.append(np.where(np.abs(nearest - place) <= _SNAPPED_M, nearest, place))
    real = moved[1] > moved[0]
    return moved[0][real], moved[1][real]


def _only_in(pieces: Pieces, places: Intervals) -> Pieces:
    which, place = overlapping(pieces.start, pieces.end, *places)
    start = np.maximum(pieces.start[which], places[0][place])
    end = np.minimum(pieces.end[which], places[1][place])
    real = end - start > _BRIDGED_M
    return pieces.cut(which[real], start[real], end[real])


def _more(matched: Intervals, held: Pieces, lost: Intervals, least: float) -> Intervals:
    """Find matched stretches that no permitted metre is left for, from the minimum length on."""
    start, end = np.r_[held.start, lost[0]], np.r_[held.end, lost[1]]
    hit = np.r_[np.ones(len(held), dtype=bool), np.zeros(len(lost[0]), dtype=bool)]
    order = np.argsort(start, kind="stable")
    start, end, hit = start[order], end[order], hit[order]
    line = np.searchsorted(matched[0], (start + end) / 2, side="right") - 1
    kept = smoothed(line, hit, end - start, least)
    # what lies between two such stretches of one matched run goes with them
    new = np.r_[True, (kept[1:] != kept[:-1]) | (line[1:] != line[:-1])] if len(kept) else kept
    first = np.flatnonzero(new)
    last = np.r_[first[1:], len(kept)] - 1
    lost_runs = ~kept[first]
    return start[first][lost_runs], end[last[: len(first)]][lost_runs]


def _moved(
    mine: Chains, others: Chains, undeclared: Intervals, taken: Intervals, terms: DetectionTerms, kinds: _Kinds
) -> tuple[Intervals, Pieces]:
    """Undeclared stretches that run beside a permitted one which the survey doesn't have otherwise (art. 4)."""
    none = np.zeros(0, dtype=np.int64)
    within_m, least = float(terms.moved_within_m), float(terms.min_length_m)
    empty = Pieces(none, none, *(np.zeros(0) for _ in range(6)))
    if within_m <= terms.reach_m or not len(undeclared[0]):
        return (np.zeros(0), np.zeros(0)), empty
    free = outside(*taken, others.chain_from, others.chain_to)[:2]
    some = covered(mine.at, mine.at + mine.length, *undeclared) > _BRIDGED_M
    open_ones = covered(others.at, others.at + others.length, *free) > _BRIDGED_M
    few, rest = mine.only(some), others.only(open_ones)
    pieces = _only_in(_hits(find_beside(few, rest, within_m, kinds.fit).pieces, few, within_m)[1], undeclared)
    which, place = overlapping(pieces.low, pieces.high, *free)
    low, high = np.maximum(pieces.low[which], free[0][place]), np.minimum(pieces.high[which], free[1][place])
    p = pieces.only(which)
    one, two = p.t_at(low), p.t_at(high)
    pieces = pieces.cut(which, np.minimum(one, two), np.maximum(one, two))
    held = share_out(pieces, few, rest).held
    # what stays undeclared must be as long as a finding, and so must what moved
    hit_start, hit_end = united(held.start, held.end, _BRIDGED_M)
    gap_start, gap_end, _ = outside(hit_start, hit_end, *undeclared)
    start, end = np.r_[hit_start, gap_start], np.r_[hit_end, gap_end]
    order = np.argsort(start, kind="stable")
    start, end = start[order], end[order]
    hit = np.r_[np.ones(len(hit_start), dtype=bool), np.zeros(len(gap_start), dtype=bool)][order]
    line = np.searchsorted(undeclared[0], (start + end) / 2, side="right") - 1
    kept = smoothed(line, hit, end - start, least)
    start, end = united(start[kept], end[kept], _BRIDGED_M)
    long = end - start >= least
    moved = start[long], end[long]
    return moved, _only_in(held, moved)


def _missing(others: Chains, seen: Beside, held: Pieces, moved_to: Pieces, least: float) -> Intervals:
    """Permitted stretches that no surveyed one serves."""
    hits = united(np.r_[held.low, moved_to.low], np.r_[held.high, moved_to.high], _BRIDGED_M)
    gap_start, gap_end, _ = outside(*hits, others.chain_from, others.chain_to)
    start, end = np.r_[hits[0], gap_start], np.r_[hits[1], gap_end]
    order = np.argsort(start, kind="stable")
    start, end = start[order], end[order]
    hit = np.r_[np.ones(len(hits[0]), dtype=bool), np.zeros(len(gap_start), dtype=bool)][order]
    chain, length = others.chain_of((start + end) / 2), end - start
    same = chain[1:] == chain[:-1]
    between = np.r_[False, same] & np.r_[same, False] & ~hit
    turning = between & (covered(start, end, *united(*seen.around_other)) >= length - _BRIDGED_M)
    label = smoothed(chain, hit, np.where(turning, length / 4, length), least)
    return _snapped(others, united(start[~label], end[~label]))


def _on_other_scale(held: Pieces, mine: Chains) -> tuple[Floats, Floats, Ints]:
    order = np.argsort(held.low, kind="stable")
    return held.low[order], held.high[order], _row(mine, held.edge)[order]


def _rivals(
    mine: Chains, others: Chains, pieces: Pieces, held: Pieces, more: Intervals
) -> tuple[Floats, Floats, Ints, Ints]:
    """Who has the place that a stretch would have needed: start, end, surveyed row, permitted row; disjoint, in order."""
    wish = _only_in(pieces, more)
    by_place = np.argsort(held.low, kind="stable")
    have = held.only(by_place)
    asks, holder = overlapping(wish.low, wish.high, have.low, have.high)
    p = wish.only(asks)
    one = p.t_at(np.maximum(p.low, have.low[holder]))
    two = p.t_at(np.minimum(p.high, have.high[holder]))
    start, end, which = contested(np.minimum(one, two), np.maximum(one, two), p.offset)[0]
    has = holder[which]
    return (
        start,
        end,
        _row(mine, have.edge[has]),
        _row(others, have.other[has]),
    )


def _runs(
    chains: Chains, states: tuple[tuple[str, Intervals], ...], else_: str, *lookups: Sequence[NDArray]
) -> pd.DataFrame:
    """Stretches of all parts by state and by the rows looked up, from end to end; on the scale of the chains.

    ``states`` come in order of precedence. A lookup is start, end (disjoint, in order) and rows; where the first has
    nothing, the next is asked.
    """
    part = np.argsort(chains.part_at, kind="stable")
    low, high = chains.part_at[part], chains.part_at[part] + chains.part_length[part]
    bounds = [low, high, *(place for _, interval in states for place in interval), *(b for x in lookups for b in x[:2])]
    edge = np.unique(np.concatenate(bounds))
    middle = (edge[:-1] + edge[1:]) / 2
    real = within(middle, low, high) & (np.diff(edge) > _BRIDGED_M)
    end, middle = edge[1:][real], middle[real]
    at = np.searchsorted(low, middle, side="right") - 1
    state = np.full(len(middle), else_, dtype=object)
    for name, interval in reversed(states):
        state[within(middle, *interval)] = name
    other = np.full(len(middle), -1, dtype=np.int64)
    for start, stop, row in lookups:
        other = np.where(other < 0, _looked_up(middle, start, stop, row), other)
    runs = pd.DataFrame({"at": at, "state": state, "other": other, "end": end})
    changed = (runs["at"].diff() != 0) | (runs["state"] != runs["state"].shift())
    runs["stretch"] = changed.cumsum()
    # what no line was found for, in a corner say, is its neighbour's
    known = runs["other"].where(runs["other"] >= 0)
    runs["other"] = known.groupby(runs["stretch"]).ffill().groupby(runs["stretch"]).bfill().fillna(-1).astype(np.int64)
    new = changed | (runs["other"] != runs["other"].shift())
    runs = runs[new.shift(-1, fill_value=True)].reset_index(drop=True)
    first = runs["at"].diff() != 0
    runs["start"] = np.where(first, low[runs["at"]], runs["end"].shift())
    runs["end"] = np.where(first.shift(-1, fill_value=True), high[runs["at"]], runs["end"])
    runs["part"] = part[runs["at"]]
    return runs[["part", "start", "end", "state", "other"]]


def _by_row(chains: Chains, runs: pd.DataFrame) -> pd.DataFrame:
    """From the scale of the chains to distances along each row's own line."""
    part = runs["part"].to_numpy()
    forward, length = chains.part_forward[part], chains.part_length[part]
    # a rounding's width before its beginning isn't on the line
    start = np.clip(runs["start"].to_numpy() - chains.part_at[part], 0.0, length)
    end = np.clip(runs["end"].to_numpy() - chains.part_at[part], 0.0, length)
    runs["row"] = chains.part_row[part]
    runs["start_m"] = chains.part_offset[part] + np.where(forward, start, length - end)
    runs["end_m"] = chains.part_offset[part] + np.where(forward, end, length - start)
    runs = runs.drop(columns=["start", "end"]).sort_values(["row", "start_m"], ignore_index=True)
    return runs


def _looked_up(place: Floats, start: Floats, end: Floats, value: Ints) -> Ints:
    """Value of the interval (disjoint, in order) in which each place lies, -1 for none."""
    if not len(start):
        return np.full(len(place), -1, dtype=np.int64)
    at = np.searchsorted(start, place, side="right") - 1
    return np.where((at >= 0) & (place < end[at]), value[at], -1)
