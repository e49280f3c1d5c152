"""Where surveyed edges run beside permitted ones: exact intervals, edge against edge, in arrays."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import shapely
from numpy.typing import NDArray

from geobill.detection.chains import Chains
from geobill.detection.intervals import Floats, Ints, crowded

NEAR = 1.3  # share of the reach: a line that wiggles out of it, but not beyond this, may be one within it
_MOST_PAIRS = 500_000  # pairs of edges looked at together: memory stays the same, whatever lies where
_MOST_PIECES = 20_000_000  # kept in all: beyond that memory would run out
_LEAST_SIN, _MOST_SIN = 0.25, 0.64  # 14 and 40 degrees
_SHORTEST_M = 1e-6


@dataclass(frozen=True)
class Pieces:
    """Stretches of surveyed edges beside permitted ones, both as places on their scales.

    ``y`` is how far off the permitted line is at start and end, left of the chain's direction positive; the permitted
    place moves evenly from ``u_start`` to ``u_end``.
    """

    edge: Ints
    other: Ints
    start: Floats
    end: Floats
    u_start: Floats
    u_end: Floats
    y_start: Floats
    y_end: Floats

    def __len__(self) -> int:
        return len(self.edge)

    def only(self, where: NDArray[np.bool_] | Ints) -> "Pieces":
        """Keep some of them."""
        return Pieces(*(column[where] for column in vars(self).values()))

    @property
    def offset(self) -> Floats:
        """Mean distance over each piece, in metres."""
        a, b = np.abs(self.y_start), np.abs(self.y_end)
        crosses = (self.y_start > 0) != (self.y_end > 0)
        return np.where(crosses, (a * a + b * b) / (2 * np.maximum(a + b, 1e-12)), (a + b) / 2)

    def within(self, offset_m: float) -> tuple[Floats, Floats]:
        """From where to where each piece is within an offset; end <= start for nowhere."""
        way = self.y_end - self.y_start
        level = np.abs(way) < 1e-9
        with np.errstate(divide="ignore", invalid="ignore"):
            one, two = (-offset_m - self.y_start) / way, (offset_m - self.y_start) / way
        inside = np.abs(self.y_start) <= offset_m
        low = np.where(level, np.where(inside, 0.0, 1.0), np.clip(np.minimum(one, two), 0.0, 1.0))
        high = np.where(level, np.where(inside, 1.0, 0.0), np.clip(np.maximum(one, two), 0.0, 1.0))
        length = self.end - self.start
        return self.start + low * length, self.start + high * length

    def cut(self, which: Ints, start: Floats, end: Floats) -> "Pieces":
        """Parts of pieces, from ``start`` to ``end`` on the surveyed scale."""
        p = self.only(which)
        length = np.maximum(p.end - p.start, 1e-12)
        a, b = (start - p.start) / length, (end - p.start) / length
        return Pieces(
            p.edge, p.other, start, end,
            p.u_start + a * (p.u_end - p.u_start), p.u_start + b * (p.u_end - p.u_start),
            p.y_start + a * (p.y_end - p.y_start), p.y_start + b * (p.y_end - p.y_start),
        )  # fmt: skip

    def t_at(self, u: Floats) -> Floats:
        """Place on the surveyed scale that belongs to a place on the permitted one."""
        way = self.u_end - self.u_start
        share = np.where(np.abs(way) > 1e-12, (u - self.u_start) / np.where(np.abs(way) > 1e-12, way, 1.0), 0.0)
        return np.clip(self.start + share * (self.end - self.start), self.start, self.end)

    @property
    def low(self) -> Floats:
        """Lower place on the permitted scale."""
        return np.minimum(self.u_start, self.u_end)

    @property
    def high(self) -> Floats:
        """Higher place on the permitted scale."""
        return np.maximum(self.u_start, self.u_end)


@dataclass(frozen=True)
class Beside:
    """All that one set of lines sees of another within reach.

    ``near`` and ``around`` are intervals (start, end) on the scale of the first, ``around_other`` on that of the second:
    running beside it a little beyond the reach, and anywhere within the reach whatever the direction.
    """

    pieces: Pieces
    near: tuple[Floats, Floats]
    around: tuple[Floats, Floats]
    around_other: tuple[Floats, Floats]


def find_beside(
    mine: Chains, others: Chains, reach_m: float, serves: Callable[[Ints, Ints], NDArray[np.bool_]]
) -> Beside:
    """Find where lines run beside other lines, within reach, in about their direction, not beyond their ends.

    Parameters
    ----------
    mine, others : Chains
    reach_m : float
        Metres.
    serves : callable
        Which rows of ``mine`` and ``others`` (arrays of positions) may be one another.

    Raises
    ------
    InputError
        If more lies within reach than memory bears.
    """
    found: list[tuple[Pieces, list[Floats]]] = []
    seen = 0
    for e, f in _pairs(mine, others, NEAR * reach_m):
        fits = serves(mine.part_row[mine.part[e]], others.part_row[others.part[f]])
        found.append(_look(mine, e[fits], others, f[fits], reach_m))
        seen += len(found[-1][0])
        if seen > _MOST_PIECES:
            raise crowded()
    if not found:
        found.append(_look(mine, np.zeros(0, dtype=np.int64), others, np.zeros(0, dtype=np.int64), reach_m))
    pieces = Pieces(*(np.concatenate([vars(p)[name] for p, _ in found]) for name in Pieces.__dataclass_fields__))
    near, near_end, around, around_end, there, there_end = (
        np.concatenate([columns[i] for _, columns in found]) for i in range(6)
    )
    return Beside(pieces, (near, near_end), (around, around_end), (there, there_end))


def _pairs(mine: Chains, others: Chains, reach_m: float) -> Iterator[tuple[Ints, Ints]]:
    """Pair edges whose boxes come within reach, some at a time."""
    if not len(mine) or not len(others):
        return
    tree = shapely.STRtree(_diagonals(*others.boxes))
    low, high = mine.boxes
    at, size = 0, 4096
    while at < len(mine):
        some = slice(at, at + size)
        e, f = tree.query(_diagonals(low[some] - reach_m, high[some] + reach_m))
        yield e + at, f
        at += size
        size = int(min(2 * size, 1 << 16, max(1, size * _MOST_PAIRS // max(len(e), 1))))


def _diagonals(low: Floats, high: Floats) -> NDArray[np.object_]:
    """Stand-ins for boxes: a tree looks at bounds only, and lines are built faster than polygons."""
    return shapely.linestrings(np.stack([low, high], axis=1))


def _look(mine: Chains, e: Ints, others: Chains, f: Ints, reach_m: float) -> tuple[Pieces, list[Floats]]:
    """See the edges f from the edges e: x runs along e from its begin, y off to its left."""
    length, m = mine.length[e], others.length[f]
    (ux, uy), (px, py) = (mine.way[e] / length[:, None]).T, (others.begin[f] - mine.begin[e]).T
    wx, wy = (others.way[f] / m[:, None]).T
    xa, ya = px * ux + py * uy, ux * py - uy * px
    ex, ey = wx * ux + wy * uy, ux * wy - uy * wx  # unit vector of f as e sees it
    around, around_end = _around(xa, ya, ex, ey, m, length, reach_m)
    # the other way round: e as f sees it, its begin at (bx, by)
    bx, by = -xa * ex - ya * ey, xa * ey - ya * ex
    there, there_end = _around(bx, by, ex, -ey, length, m, reach_m)
    seen, seen_there = around_end > around, there_end > there

    (hx, hy), (gx, gy) = mine.heading[e].T, others.heading[f].T
    bound = 2 * reach_m / np.minimum(mine.chord[e], others.chord[f])
    alike = np.abs(hx * gy - hy * gx) <= np.clip(bound, _LEAST_SIN, _MOST_SIN)
    # the foot falls on f: 0 <= (t - xa) ex - ya ey <= m; across f: |(t - xa) ey + ya ex| <= reach
    start, end = _between(ex, bx, 0.0, m)
    start, end = np.maximum(start, 0.0), np.minimum(end, length)
    across = -xa * ey + ya * ex
    limits = []
    for reach in (reach_m, NEAR * reach_m):
        lo, hi = _between(ey, across, -reach, reach)
        lo, hi = np.maximum(start, lo), np.minimum(end, hi)
        limits.append((lo, hi, alike & (hi - lo > _SHORTEST_M)))
    lo, hi, real = limits[0]
    lo, hi, e_, f_ = lo[real], hi[real], e[real], f[real]
    side = np.where(ex[real] >= 0, 1.0, -1.0)
    pieces = Pieces(
        e_, f_, mine.at[e_] + lo, mine.at[e_] + hi,
        others.at[f_] + lo * ex[real] + bx[real], others.at[f_] + hi * ex[real] + bx[real],
        side * (lo * ey[real] + across[real]), side * (hi * ey[real] + across[real]),
    )  # fmt: skip
    low, high, real = limits[1]
    columns = [mine.at[e[real]] + low[real], mine.at[e[real]] + high[real]]
    columns += [mine.at[e[seen]] + around[seen], mine.at[e[seen]] + around_end[seen]]
    columns += [others.at[f[seen_there]] + there[seen_there], others.at[f[seen_there]] + there_end[seen_there]]
    return pieces, columns


def _around(
    xa: Floats, ya: Floats, ex: Floats, ey: Floats, m: Floats, length: Floats, reach_m: float
) -> tuple[Floats, Floats]:
    """From where to where a straight stretch is within reach of a seen edge, ends included; end < start for nowhere.

    The places within reach of an edge are two discs and a rectangle, together convex: a straight line meets them in one
    interval.
    """
    lo, hi = _between(ex, -xa * ex - ya * ey, 0.0, m)
    lo2, hi2 = _between(ey, -xa * ey + ya * ex, -reach_m, reach_m)
    lo, hi = np.maximum(lo, lo2), np.minimum(hi, hi2)
    nowhere = lo > hi
    lo, hi = np.where(nowhere, np.inf, lo), np.where(nowhere, -np.inf, hi)
    for x, y in ((xa, ya), (xa + m * ex, ya + m * ey)):
        square = reach_m * reach_m - y * y
        half = np.sqrt(np.maximum(square, 0))
        lo = np.where(square >= 0, np.minimum(lo, x - half), lo)
        hi = np.where(square >= 0, np.maximum(hi, x + half), hi)
    return np.maximum(lo, 0.0), np.minimum(hi, length)


def _between(slope: Floats, offset: Floats, low: float, high: float | Floats) -> tuple[Floats, Floats]:
    """Where low <= slope × t + offset <= high, as (from, to); (inf, -inf) for nowhere."""
    with np.errstate(divide="ignore", invalid="ignore"):
        one, two = (low - offset) / slope, (high - offset) / slope
    flat = np.abs(slope) < 1e-15
    always = flat & (offset >= low) & (offset <= high)
    lo = np.where(flat, np.where(always, -np.inf, np.inf), np.fmin(one, two))
    hi = np.where(flat, np.where(always, np.inf, -np.inf), np.fmax(one, two))
    return lo, hi
