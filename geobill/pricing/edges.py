"""Lines and polygons as straight edges, and one edge seen from another, in arrays.

All of the cutting happens in one dimension: a place on a line is a distance in metres from the start of its straight
edge. No point is ever computed and put back on a line, so no metre can be lost or counted twice by rounding.
"""

from dataclasses import dataclass

import numpy as np
import shapely
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Edges:
    """Straight edges from ``a`` to ``b`` (n × 2, metres) and what each belongs to.

    ``owner`` is the position of the line or polygon in the input, ``part`` counts lines and rings over the whole
    input; edges of one part stand together, in drawing order. Edges of no length are left out.
    """

    a: Floats
    b: Floats
    owner: Ints
    part: Ints

    def __len__(self) -> int:
        return len(self.owner)

    @property
    def lengths(self) -> Floats:
        """Length of each edge in metres."""
        return np.hypot(*(self.b - self.a).T)

    def geometries(self) -> NDArray[np.object_]:
        """Return each edge as a two-point line."""
        return shapely.linestrings(np.stack([self.a, self.b], axis=1))


def line_edges(lines: NDArray[np.object_]) -> Edges:
    """Edges of lines and multi-part lines; heights are ignored."""
    parts, owner = shapely.get_parts(lines, return_index=True)
    return _edges(parts, owner)


def polygon_edges(polygons: NDArray[np.object_]) -> Edges:
    """Edges of all rings, holes included, of polygons and multi-part polygons."""
    parts, owner = shapely.get_parts(polygons, return_index=True)
    rings, part = shapely.get_rings(parts, return_index=True)
    return _edges(rings, owner[part])


def _edges(parts: NDArray[np.object_], owner: Ints) -> Edges:
    xy, part = shapely.get_coordinates(parts, return_index=True)
    follows = np.flatnonzero(part[1:] == part[:-1])
    follows = follows[np.any(xy[follows] != xy[follows + 1], axis=1)]
    return Edges(xy[follows], xy[follows + 1], np.asarray(owner, dtype=np.int64)[part[follows]], part[follows])


@dataclass(frozen=True)
class Sight:
    """Edges seen from straight stretches, one pair a row: ``x`` runs along the stretch, ``y`` off to its left.

    (xa, ya) and (xb, yb) are the seen edge's ends; (ex, ey) its unit vector; ``m`` its length. All in metres.
    """

    xa: Floats
    ya: Floats
    xb: Floats
    yb: Floats
    ex: Floats
    ey: Floats
    m: Floats

    def crossing(self) -> Floats:
        """Where the stretch's straight line crosses the seen edge; nan where it doesn't."""
        with np.errstate(divide="ignore", invalid="ignore"):
            x = self.xa + (self.xb - self.xa) * (self.ya / (self.ya - self.yb))
        return np.where((self.ya > 0) != (self.yb > 0), x, np.nan)

    def within(self, reach_m: float) -> tuple[Floats, Floats]:
        """Return from where to where the straight line is within reach of the seen edge; (nan, nan) for nowhere.

        The places within reach of an edge are two discs and a rectangle, together convex, so a straight line meets
        them in one interval.
        """
        lo = np.full(self.xa.shape, np.inf)
        hi = np.full(self.xa.shape, -np.inf)
        for x, y in ((self.xa, self.ya), (self.xb, self.yb)):
            half = reach_m * reach_m - y * y
            root = np.sqrt(np.maximum(half, 0))
            lo = np.where(half >= 0, np.minimum(lo, x - root), lo)
            hi = np.where(half >= 0, np.maximum(hi, x + root), hi)
        rlo, rhi = self.beside(reach_m)
        lo = np.where(rlo <= rhi, np.minimum(lo, rlo), lo)
        hi = np.where(rlo <= rhi, np.maximum(hi, rhi), hi)
        nowhere = lo > hi
        return np.where(nowhere, np.nan, lo), np.where(nowhere, np.nan, hi)

    def beside(self, reach_m: float | Floats) -> tuple[Floats, Floats]:
        """Return from where to where the straight line is beside the seen edge, within reach; lo > hi for nowhere.

        Beside: the foot of the perpendicular falls on the edge, so what lies beyond its ends isn't.
        """
        # along the edge: 0 <= (t - xa) ex - ya ey <= m; across it: |(t - xa) ey + ya ex| <= reach
        lo1, hi1 = _between(self.ex, -self.xa * self.ex - self.ya * self.ey, 0.0, self.m)
        lo2, hi2 = _between(self.ey, -self.xa * self.ey + self.ya * self.ex, -reach_m, reach_m)
        return np.maximum(lo1, lo2), np.minimum(hi1, hi2)

    def beyond(self) -> tuple[Floats, Floats]:
        """Return from where to where the straight line is past the seen edge's second end; lo > hi for nowhere."""
        return _between(self.ex, -self.xa * self.ex - self.ya * self.ey, self.m, np.inf)

    def short_of(self) -> tuple[Floats, Floats]:
        """Return from where to where the straight line is before the seen edge's first end; lo > hi for nowhere."""
        return _between(self.ex, -self.xa * self.ex - self.ya * self.ey, -np.inf, 0.0)

    def near_first_end(self, reach_m: float | Floats) -> tuple[Floats, Floats]:
        """Return from where to where the straight line is within reach of the seen edge's first end; lo > hi for nowhere."""
        half = reach_m * reach_m - self.ya * self.ya
        root = np.sqrt(np.maximum(half, 0))
        return np.where(half >= 0, self.xa - root, np.inf), np.where(half >= 0, self.xa + root, -np.inf)

    def distance(self, t: Floats) -> Floats:
        """Distance from the place ``t`` metres along the stretch to the seen edge."""
        along = (t - self.xa) * self.ex - self.ya * self.ey
        x = self.xa + np.clip(along, 0.0, self.m) * self.ex
        y = self.ya + np.clip(along, 0.0, self.m) * self.ey
        return np.hypot(t - x, y)


def look(start: Floats, direction: Floats, a: Floats, b: Floats) -> Sight:
    """See the edges a–b from stretches that begin at ``start`` and run along unit vectors ``direction``."""
    ux, uy = direction[..., 0], direction[..., 1]
    dxa, dya = a[..., 0] - start[..., 0], a[..., 1] - start[..., 1]
    dxb, dyb = b[..., 0] - start[..., 0], b[..., 1] - start[..., 1]
    xa, ya = dxa * ux + dya * uy, dya * ux - dxa * uy
    xb, yb = dxb * ux + dyb * uy, dyb * ux - dxb * uy
    m = np.hypot(xb - xa, yb - ya)
    return Sight(xa, ya, xb, yb, (xb - xa) / m, (yb - ya) / m, m)


def _between(slope: Floats, offset: Floats, low: float | Floats, high: float | Floats) -> tuple[Floats, Floats]:
    """Where low <= slope × t + offset <= high, as (from, to); (inf, -inf) for nowhere."""
    with np.errstate(divide="ignore", invalid="ignore"):
        t1, t2 = (low - offset) / slope, (high - offset) / slope
    flat = np.abs(slope) < 1e-15
    always = flat & (offset >= low) & (offset <= high)
    lo = np.where(flat, np.where(always, -np.inf, np.inf), np.fmin(t1, t2))
    hi = np.where(flat, np.where(always, np.inf, -np.inf), np.fmax(t1, t2))
    return lo, hi
