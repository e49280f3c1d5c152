"""Intervals on a line: united, looked up, shared out. All of the matching happens in this one dimension."""

import numpy as np
from numpy.typing import NDArray

from geobill.errors import InputError

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Won = tuple[Floats, Floats, Ints]  # start, end, which interval
_MOST_CELLS = 40_000_000  # beyond that memory would run out


def crowded() -> InputError:
    """Refusal of more than memory bears: so many lines in one place that matching them says nothing."""
    return InputError(
        "So many lines lie within the tolerance of one another that nothing can be told apart. Nothing was changed. Give a "
        "smaller tolerance, or look at the file with geobill inspect: a line may stand in it a thousand times."
    )


def united(start: Floats, end: Floats, bridged_m: float = 0.0) -> tuple[Floats, Floats]:
    """Disjoint intervals in order that cover the same places; gaps up to ``bridged_m`` are closed."""
    if not len(start):
        return np.zeros(0), np.zeros(0)
    order = np.argsort(start, kind="stable")
    start, reached = start[order], np.maximum.accumulate(end[order])
    first = np.flatnonzero(np.r_[True, start[1:] > reached[:-1] + bridged_m])
    return start[first], reached[np.r_[first[1:] - 1, len(start) - 1]]


def within(place: Floats, start: Floats, end: Floats) -> NDArray[np.bool_]:
    """Whether each place lies in one of some disjoint intervals that stand in order."""
    if not len(start):
        return np.zeros(len(place), dtype=bool)
    at = np.searchsorted(start, place, side="right") - 1
    return (at >= 0) & (place < end[at])


def covered(start: Floats, end: Floats, by_start: Floats, by_end: Floats) -> Floats:
    """Metres of each interval that lie in some disjoint intervals that stand in order."""
    if not len(by_start):
        return np.zeros(len(start))
    edges = np.empty(2 * len(by_start))
    edges[0::2], edges[1::2] = by_start, by_end
    filled = np.repeat(np.cumsum(by_end - by_start), 2)
    filled[0::2] -= by_end - by_start
    return np.interp(end, edges, filled) - np.interp(start, edges, filled)


def outside(start: Floats, end: Floats, low: Floats, high: Floats) -> tuple[Floats, Floats, Ints]:
    """Return what some disjoint ordered intervals leave of [low, high] (disjoint and ordered too): start, end, in which one."""
    edge = np.sort(np.r_[start, end, low, high])
    edge = edge[np.r_[True, np.diff(edge) > 0]] if len(edge) else edge
    middle = (edge[:-1] + edge[1:]) / 2
    free = within(middle, low, high) & ~within(middle, start, end)
    begin, stop = united(edge[:-1][free], edge[1:][free])
    return begin, stop, np.searchsorted(low, begin, side="right") - 1


def contested(start: Floats, end: Floats, cost: Floats) -> tuple[Won, Won]:
    """Say who has each place, where the cheapest of the intervals over it has it, and who would have liked to.

    Of equally cheap ones the first has it. Both answers as start, end and which interval.
    """
    if not len(start):
        nothing = (np.zeros(0), np.zeros(0), np.zeros(0, dtype=np.int64))
        return nothing, nothing
    edge = np.unique(np.r_[start, end])
    first, last = np.searchsorted(edge, start), np.searchsorted(edge, end)
    if int((last - first).sum()) > _MOST_CELLS:
        raise crowded()
    which = np.repeat(np.arange(len(start)), last - first)
    cell = counted(last - first) + first[which]
    order = np.lexsort((which, cost[which], cell))
    cell, which = cell[order], which[order]
    best = np.r_[True, np.diff(cell) > 0]
    return _stretches(edge, cell[best], which[best]), _stretches(edge, cell[~best], which[~best])


def _stretches(edge: Floats, cell: Ints, which: Ints) -> Won:
    """Join the neighbouring cells of each interval; in order of their start."""
    order = np.lexsort((cell, which))
    cell, which = cell[order], which[order]
    new = np.flatnonzero(np.r_[True, (np.diff(which) != 0) | (np.diff(cell) > 1)]) if len(cell) else cell
    stop = np.r_[new[1:], len(cell)] - 1
    start, end, which = edge[cell[new]], edge[cell[stop[: len(new)]] + 1], which[new]
    order = np.argsort(start, kind="stable")
    return start[order], end[order], which[order]


def counted(size: Ints) -> Ints:
    """0, 1, … of each size, one after the other."""
    return np.arange(int(size.sum())) - np.repeat(np.cumsum(size) - size, size)


def overlapping(start: Floats, end: Floats, other_start: Floats, other_end: Floats) -> tuple[Ints, Ints]:
    """Pairs (i, j) where interval i overlaps one of some disjoint intervals j that stand in order."""
    first = np.searchsorted(other_end, start, side="right")
    last = np.searchsorted(other_start, end, side="left")
    count = np.maximum(last - first, 0)
    one = np.repeat(np.arange(len(start)), count)
    return one, counted(count) + first[one]
