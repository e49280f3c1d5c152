"""Well-known binary that GEOS refuses: arcs become chords, surfaces are named, a line of one point is a line of no length.

Read are ISO (SQL/MM part 3: kinds 1 to 17, plus 1000 with heights, 2000 with measures, 3000 with both) and EWKB (PostGIS:
the same by high bits, with or without an SRID). Heights are kept, measures are not.
"""

import math
import struct
from dataclasses import dataclass

import numpy as np
import shapely

STEP = math.radians(1)  # a chord spans no more: an arc comes out at most 0.0013 % short
_DEEPEST = 32  # collections in collections
_STRAIGHT = 1e-9  # height of an arc's triangle by the square of its side: flatter is straight
KINDS = {
    1: "Point", 2: "LineString", 3: "Polygon", 4: "MultiPoint", 5: "MultiLineString", 6: "MultiPolygon",
    7: "GeometryCollection", 8: "CircularString", 9: "CompoundCurve", 10: "CurvePolygon", 11: "MultiCurve",
    12: "MultiSurface", 13: "Curve", 14: "Surface", 15: "PolyhedralSurface", 16: "TIN", 17: "Triangle",
}  # fmt: skip
_LINES, _RINGS, _AREAS = {2, 8, 9}, {2, 8, 9}, {3, 10}


class SurfaceError(Exception):
    """The geometry is a surface in space, or holds one; the message names its kind."""


class BrokenError(Exception):
    """The bytes are no geometry; the message says why."""


@dataclass
class Linear:
    """A geometry of straight edges; ``error`` is how much of an arc's length is lost at most (0: there was no arc)."""

    geometry: shapely.Geometry
    error: float


def read_kind(wkb: bytes) -> int:
    """Kind of a geometry (1 to 17, as in ``KINDS``), from the first five bytes of its binary; 0 where they say none."""
    if len(wkb) < 5 or wkb[0] > 1:
        return 0
    code = int.from_bytes(wkb[1:5], "little" if wkb[0] else "big") & 0x0FFFFFFF
    kind = code % 1000
    return kind if code < 4000 and kind in KINDS else 0


def linearise(wkb: bytes) -> Linear:
    """Build a geometry, its arcs turned into chords of at most `STEP`.

    Raises
    ------
    SurfaceError
        If it is a TIN, a polyhedral surface or a triangle.
    BrokenError
        If the bytes are no geometry.
    """
    reader = _Reader(wkb)
    try:
        built = reader.geometry(0)
    except (shapely.errors.GEOSException, ArithmeticError, ValueError, struct.error) as e:
        raise BrokenError(" ".join(str(e).split())[:120]) from e
    return Linear(built, reader.error)


class _Reader:
    def __init__(self, wkb: bytes) -> None:
        self.wkb, self.at, self.error = wkb, 0, 0.0
        self.order, self.kind, self.width, self.z = "<", 0, 2, False

    def head(self) -> int:
        """Read byte order, kind and which ordinates there are; return the kind."""
        if len(self.wkb) < self.at + 5 or self.wkb[self.at] > 1:
            raise BrokenError("it is cut short or no well-known binary")
        self.order = "<" if self.wkb[self.at] else ">"
        (code,) = struct.unpack_from(self.order + "I", self.wkb, self.at + 1)
        self.at += 5 + (4 if code & 0x20000000 else 0)
        thousands, kind = divmod(code & 0x0FFFFFFF, 1000)
        if kind not in KINDS or thousands > 3:
            raise BrokenError(f"no kind of geometry has the code {code}")
        self.z = bool(code & 0x80000000) or thousands in (1, 3)
        measured = bool(code & 0x40000000) or thousands in (2, 3)
        self.width = 2 + self.z + measured
        if kind > 12:
            raise SurfaceError(KINDS[kind])
        return kind

    def count(self, smallest: int) -> int:
        """Read a number of things of at least so many bytes each."""
        (n,) = struct.unpack_from(self.order + "I", self.wkb, self.at)
        self.at += 4
        if n * smallest > len(self.wkb) - self.at:
            raise BrokenError("it is cut short")
        return int(n)

    def points(self, n: int) -> np.ndarray:
        flat = np.frombuffer(self.wkb, self.order + "f8", n * self.width, self.at)
        self.at += n * self.width * 8
        return flat.reshape(n, self.width)[:, : 2 + self.z].astype(float)

    def geometry(self, depth: int, allowed: set[int] | None = None) -> shapely.Geometry:
        if depth > _DEEPEST:
            raise BrokenError("collections lie too deep in one another")
        kind = self.head()
        if allowed is not None and kind not in allowed:
            raise BrokenError(f"a {KINDS[kind]} lies where it can't")
        if kind == 1:
            (xy,) = self.points(1)
            return shapely.Point() if np.isnan(xy[:2]).all() else shapely.Point(xy)
        if kind in _LINES:
            return _line(self.curve(kind))
        if kind == 3:
            return _polygon([self.points(self.count(8 * self.width)) for _ in range(self.count(4))])
        n = self.count(5)
        if kind == 10:
            return _polygon([self.curve(self._ring()) for _ in range(n)])
        inside = {4: {1}, 5: {2}, 6: {3}, 11: _LINES, 12: _AREAS}.get(kind)
        parts = [self.geometry(depth + 1, inside) for _ in range(n)]
        build = {4: shapely.MultiPoint, 5: shapely.MultiLineString, 6: shapely.MultiPolygon, 7: shapely.GeometryCollection,
                 11: shapely.MultiLineString, 12: shapely.MultiPolygon}[kind]  # fmt: skip
        return build([p for p in parts if kind == 7 or not p.is_empty])

    def _ring(self) -> int:
        kind = self.head()
        if kind not in _RINGS:
            raise BrokenError(f"a {KINDS[kind]} can't bound an area")
        return kind

    def curve(self, kind: int) -> np.ndarray:
        """Read the rest of a curve as vertices."""
        if kind == 9:
            pieces = []
            for _ in range(self.count(9)):
                inner = self.head()
                if inner not in (2, 8):
                    raise BrokenError(f"a {KINDS[inner]} can't be part of a curve")
                pieces.append(self.curve(inner))
            pieces = [p for p in pieces if len(p)]
            return np.concatenate([p[1 if n else 0 :] for n, p in enumerate(pieces)]) if pieces else np.empty((0, 2))
        points = self.points(self.count(8 * self.width))
        return self.arcs(points) if kind == 8 else points

    def arcs(self, points: np.ndarray) -> np.ndarray:
        """Turn a circular string (start, middle, end, middle, end …) into vertices."""
        if len(points) == 0:
            return points
        if len(points) < 3 or len(points) % 2 == 0:
            raise BrokenError(f"an arc has {len(points)} points")
        pieces = [points[:1]]
        for first in range(0, len(points) - 2, 2):
            pieces.append(self.arc(*points[first : first + 3]))
        return np.concatenate(pieces)

    def arc(self, a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
        """Vertices of an arc after its first point; a circle is an arc that ends where it begins (b lies opposite)."""
        centre = _centre(a[:2], b[:2], c[:2])
        if centre is None:
            return np.stack([b, c])
        turns = [math.atan2(*(p[:2] - centre)[::-1]) for p in (a, b, c)]
        (ux, uy), (vx, vy) = b[:2] - a[:2], c[:2] - a[:2]
        sign = 1 if ux * vy - uy * vx >= 0 else -1
        radius, pieces = math.hypot(*(a[:2] - centre)), []
        for start, end, begin, finish in ((turns[0], turns[1], a, b), (turns[1], turns[2], b, c)):
            sweep = sign * ((sign * (end - start)) % math.tau)
            n = max(1, math.ceil(abs(sweep) / STEP))
            share = np.arange(1, n + 1) / n
            angles = start + sweep * share
            chords = begin + (finish - begin) * share[:, None]  # heights rise evenly
            chords[:, 0] = centre[0] + radius * np.cos(angles)
            chords[:, 1] = centre[1] + radius * np.sin(angles)
            chords[-1] = finish
            pieces.append(chords)
            half = abs(sweep) / n / 2
            self.error = max(self.error, 1 - math.sin(half) / half if half else 0.0)
        return np.concatenate(pieces)


def _centre(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray | None:
    """Centre of the circle through three points; None where they lie on a line (or aren't finite)."""
    if (a == c).all():
        return None if (a == b).all() or not np.isfinite(a + b).all() else (a + b) / 2
    (bx, by), (cx, cy) = b - a, c - a
    double, longest = 2 * (bx * cy - by * cx), max(bx * bx + by * by, cx * cx + cy * cy)
    if not math.isfinite(double) or abs(double) <= _STRAIGHT * longest:
        return None
    b2, c2 = bx * bx + by * by, cx * cx + cy * cy
    return a + np.array([cy * b2 - by * c2, bx * c2 - cx * b2]) / double


def _line(points: np.ndarray) -> shapely.Geometry:
    if len(points) == 1:  # an export's stub: it has a place, and no length
        points = np.repeat(points, 2, axis=0)
    return shapely.LineString(points) if len(points) else shapely.LineString()


def _polygon(rings: list[np.ndarray]) -> shapely.Geometry:
    rings = [r for r in rings if len(r)]
    return shapely.Polygon(rings[0], rings[1:]) if rings else shapely.Polygon()
