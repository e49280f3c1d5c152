"""Geometry elements of KML 2.2 and of Google's extension as well-known binary.

Reference: OGC 07-147r2 (KML 2.2), 10 "Geometry", and Google's KML reference for gx:Track and gx:MultiTrack. Heights
are kept where one of them isn't 0, so that a riser can be told from a point.
"""

import re
import struct
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

POINT, LINE, POLYGON, POINTS, LINES, POLYGONS, COLLECTION = range(1, 8)  # codes of well-known binary
UNREADABLE = b""  # no well-known binary: the row's geometry is there and can't be built
_MULTI = {POINT: POINTS, LINE: LINES, POLYGON: POLYGONS}
_GROUPS = ("MultiGeometry", "MultiLineString", "MultiPoint", "MultiPolygon", "MultiTrack")
NAMES = frozenset(
    ("Point", "LineString", "LinearRing", "Polygon", "Track", "Model", "LatLonBox", "LatLonQuad", *_GROUPS)
)
_COMMAS = re.compile(r"\s*,\s*")
_THREE = re.compile(r"(?:[^\s,]+,[^\s,]+,[^\s,]+(?:\s+|$))+")  # positions with a height, all of them
_TWO = re.compile(r"(?:[^\s,]+,[^\s,]+,?(?:\s+|$))+")


@dataclass(slots=True)
class _Path:
    """Positions one after the other: x and y by turns, and the heights where one of them isn't 0."""

    xy: "array[float]"
    z: "array[float] | None" = None

    def __len__(self) -> int:
        return len(self.xy) // 2

    def closed(self) -> "_Path":
        """Return it with its first position at the end."""
        if not self.xy or self.xy[:2] == self.xy[-2:]:
            return self
        return _Path(self.xy + self.xy[:2], None if self.z is None else self.z + self.z[:1])

    def doubles(self, high: bool) -> bytes:
        """Return its coordinates as well-known binary has them."""
        if not high:
            return self.xy.tobytes()
        out = array("d", bytes(24 * len(self)))
        out[0::3], out[1::3] = self.xy[0::2], self.xy[1::2]
        if self.z is not None:
            out[2::3] = self.z
        return out.tobytes()


_Part = tuple[int, list[_Path]]  # kind, and its one path or its rings


@lru_cache(maxsize=4096)
def local(tag: str) -> str:
    """Name of an element without its namespace, or without a prefix that nobody declared."""
    return tag.rpartition("}")[2].rpartition(":")[2]


def build(elements: Sequence[Any]) -> bytes | None:
    """Well-known binary of a row's geometry elements; None where there is nothing, `UNREADABLE` where it is broken."""
    try:
        drawn = [part for element in elements for part in _parts(element)]
    except (ValueError, IndexError, TypeError):
        return UNREADABLE
    if not drawn:
        return None
    if len(drawn) == 1:
        return _binary(*drawn[0], _high(drawn[0]))
    kinds, high = {kind for kind, _ in drawn}, any(_high(part) for part in drawn)
    code = _MULTI[kinds.pop()] if len(kinds) == 1 else COLLECTION
    return struct.pack("<BII", 1, code + 1000 * high, len(drawn)) + b"".join(_binary(*part, high) for part in drawn)


def _parts(element: Any) -> list[_Part]:
    """Points, lines and polygons of an element, groups taken apart; empty ones left out."""
    name = local(element.tag)
    if name in ("LineString", "Point", "LinearRing"):
        line = _coordinates(element)
        if name == "Point" and len(line) > 1:
            raise ValueError("a point in several places")
        return [(POINT if name == "Point" else LINE, [line])] if line else []
    if name in _GROUPS:
        return [part for child in element if local(child.tag) in NAMES for part in _parts(child)]
    if name == "Polygon":
        rings = [_coordinates(e).closed() for e in element.iter("{*}LinearRing")]
        return [(POLYGON, [r for r in rings if r])] if any(rings) else []
    if name == "Track":
        line = _path(" ".join(",".join(c.text.split()) for c in element if local(c.tag) == "coord" and c.text))
        return [(LINE if len(line) > 1 else POINT, [line])] if line else []
    if name == "Model":
        place = element.find("{*}Location")
        axes = ("longitude", "latitude")
        return [] if place is None else [(POINT, [_Path(array("d", [float(place.findtext("{*}" + a)) for a in axes]))])]
    if name == "LatLonBox":
        n, s, e, w = (float(element.findtext("{*}" + side)) for side in ("north", "south", "east", "west"))
        return [(POLYGON, [_Path(array("d", [w, s, e, s, e, n, w, n, w, s]))])]
    ring = _coordinates(element).closed()
    return [(POLYGON, [ring])] if ring else []


def _coordinates(element: Any) -> _Path:
    return _path(" ".join([c.text for c in element if local(c.tag) == "coordinates" and c.text]))


def _path(text: str) -> _Path:
    """Longitude, latitude and perhaps a height, one position after the other; anything else raises ValueError."""
    text = text.strip()
    if not text:
        return _Path(array("d"))
    if ", " in text or " ," in text:
        text = _COMMAS.sub(",", text)
    if "_" in text:
        raise ValueError("no number")
    if _THREE.fullmatch(text):
        flat = array("d", map(float, text.replace(",", " ").split()))
        xy = array("d", bytes(16 * (len(flat) // 3)))
        xy[0::2], xy[1::2], z = flat[0::3], flat[1::3], flat[2::3]
        return _Path(xy, z if any(z) else None)
    if _TWO.fullmatch(text):
        return _Path(array("d", map(float, text.replace(",", " ").split())))
    mixed = [[float(v) for v in position.split(",") if v] for position in text.split()]
    if not all(2 <= len(p) <= 3 for p in mixed):
        raise ValueError("not two or three numbers")
    heights = array("d", [p[2] if len(p) == 3 else 0.0 for p in mixed])
    return _Path(array("d", [v for p in mixed for v in p[:2]]), heights if any(heights) else None)


def _high(part: _Part) -> bool:
    return any(path.z is not None for path in part[1])


def _binary(kind: int, paths: list[_Path], high: bool) -> bytes:
    head = struct.pack("<BI", 1, kind + 1000 * high)
    if kind == POINT:
        return head + paths[0].doubles(high)
    bodies = b"".join([struct.pack("<I", len(path)) + path.doubles(high) for path in paths])
    return head + (bodies if kind == LINE else struct.pack("<I", len(paths)) + bodies)
