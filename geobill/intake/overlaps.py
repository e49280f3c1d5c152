"""Where lines run on or beside one another: exact intervals along straight edges, found edge by edge.

An edge is beside another where it keeps within a reach of it, at less than 30 degrees, and not beyond its ends. On a
straight edge that is one interval, so vertices along a straight stretch, the way a line is drawn and the place where it
is cut change nothing.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import shapely

_MOST_PAIRS = 2_000_000  # pairs of edges that are looked at together: memory stays the same, whatever lies where
_SIN = 0.5  # of 30 degrees
_SHORTEST_M = 1e-6


@dataclass(frozen=True)
class Edges:
    """Straight edges of lines; ``at`` is where each begins on a scale on which no two edges of any line overlap."""

    begin: np.ndarray  # (n, 2)
    way: np.ndarray  # (n, 2), from its begin to its end
    length: np.ndarray
    line: np.ndarray  # position of the line it belongs to
    at: np.ndarray

    def __len__(self) -> int:
        return len(self.length)

    @property
    def boxes(self) -> tuple[np.ndarray, np.ndarray]:
        """Lower and upper corners."""
        end = self.begin + self.way
        return np.minimum(self.begin, end), np.maximum(self.begin, end)


@dataclass(frozen=True)
class Runs:
    """Stretches of lines beside other lines: ``line`` from ``start`` to ``end`` (on the scale of `Edges`) beside ``other``."""

    line: np.ndarray
    other: np.ndarray
    start: np.ndarray
    end: np.ndarray

    def only(self, where: np.ndarray) -> "Runs":
        """Keep some of them."""
        return Runs(self.line[where], self.other[where], self.start[where], self.end[where])

    def metres(self, lines: int) -> np.ndarray:
        """Metres of each line that lie in any of them, each place once."""
        return self._each_once(self.line, lines)

    def metres_by_pair(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Line, other line, and metres of the one beside the other."""
        pairs, which = np.unique(np.stack([self.line, self.other]), axis=1, return_inverse=True)
        return pairs[0], pairs[1], self._each_once(which.reshape(-1), pairs.shape[1])

    def _each_once(self, key: np.ndarray, keys: int) -> np.ndarray:
        if not len(key):
            return np.zeros(keys)
        order = np.lexsort((self.start, key))
        key, start, end = key[order], self.start[order], self.end[order]
        first = np.flatnonzero(np.r_[True, np.diff(key) > 0])
        span = np.maximum.reduceat(end, first) - start[first] + 1.0
        # each key's runs behind those of the key before, so that one running maximum serves all
        shift = np.repeat(np.cumsum(span) - span - start[first], np.diff(np.r_[first, len(key)]))
        start, end = start + shift, end + shift
        before = np.r_[-np.inf, np.maximum.accumulate(end)[:-1]]
        return np.bincount(key, np.maximum(0.0, end - np.maximum(start, before)), minlength=keys)


def edges_of(lines: np.ndarray) -> Edges:
    """Take lines (LineString or MultiLineString, metres) apart into their edges."""
    parts, line = shapely.get_parts(lines, return_index=True)
    xy, part = shapely.get_coordinates(parts, return_index=True)
    way = np.diff(xy, axis=0)
    length = np.hypot(way[:, 0], way[:, 1])
    real = (part[1:] == part[:-1]) & (length > 0)
    length = length[real]
    at = np.cumsum(length + 1.0) - length - 1.0
    return Edges(xy[:-1][real], way[real], length, line[part[:-1][real]], at)


def find_runs(
    mine: Edges,
    others: Edges,
    reach_m: float | Callable[[np.ndarray, np.ndarray], np.ndarray],
    wanted: Callable[[np.ndarray, np.ndarray], np.ndarray],
    farthest_m: float | None = None,
) -> Runs:
    """Find where lines run beside other lines.

    Parameters
    ----------
    mine, others : Edges
        Lines that are looked at, and those beside which they may run; may be the same.
    reach_m : float or callable
        How far apart, for all or for pairs of lines (two arrays of positions).
    wanted : callable
        Which pairs of lines count.
    farthest_m : float, optional
        The greatest reach, where ``reach_m`` is a callable.
    """
    found = []
    for e, f in _near(mine, others, farthest_m if callable(reach_m) else reach_m):
        count = wanted(mine.line[e], others.line[f])
        e, f = e[count], f[count]
        reach = reach_m(mine.line[e], others.line[f]) if callable(reach_m) else reach_m
        start, end = _beside(mine, e, others, f, reach)
        long = end - start > _SHORTEST_M
        e, f = e[long], f[long]
        found.append((mine.line[e], others.line[f], mine.at[e] + start[long], mine.at[e] + end[long]))
    if not found:
        none = np.zeros(0, dtype=np.int64)
        return Runs(none, none, np.zeros(0), np.zeros(0))
    return Runs(*(np.concatenate(column) for column in zip(*found, strict=True)))


def _near(mine: Edges, others: Edges, reach_m: float) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Pair edges whose boxes come within reach, some at a time."""
    if not len(mine) or not len(others):
        return
    tree = shapely.STRtree(_diagonals(*others.boxes))
    low, high = mine.boxes
    at, size = 0, 256
    while at < len(mine):
        some = slice(at, at + size)
        e, f = tree.query(_diagonals(low[some] - reach_m, high[some] + reach_m))
        yield e + at, f
        at += size
        size = int(min(2 * size, 1 << 16, max(1, size * _MOST_PAIRS // max(len(e), 1))))


def _diagonals(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Stand-ins for boxes: a tree looks at bounds only, and lines are built faster than polygons."""
    return shapely.linestrings(np.stack([low, high], axis=1))


def _beside(
    mine: Edges, e: np.ndarray, others: Edges, f: np.ndarray, reach: float | np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Where along edge e edge f runs within reach: start and end in metres, end below start where nowhere."""
    (ux, uy), length = (mine.way[e] / mine.length[e, None]).T, mine.length[e]
    (px, py), (wx, wy) = (others.begin[f] - mine.begin[e]).T, others.way[f].T
    along, aside = px * ux + py * uy, ux * py - uy * px
    ahead, apart = wx * ux + wy * uy, ux * wy - uy * wx  # from one end of f to the other
    with np.errstate(divide="ignore", invalid="ignore"):
        a, b = (-reach - aside) / apart, (reach - aside) / apart
    level = apart == 0
    first = np.where(level, 0.0, np.clip(np.minimum(a, b), 0, None))
    last = np.where(level, 1.0, np.clip(np.maximum(a, b), None, 1))
    nowhere = (np.abs(apart) > _SIN * others.length[f]) | (level & (np.abs(aside) > reach)) | (first > last)
    one, two = along + first * ahead, along + last * ahead
    start, end = np.maximum(np.minimum(one, two), 0), np.minimum(np.maximum(one, two), length)
    return start, np.where(nowhere, start - 1, end)
