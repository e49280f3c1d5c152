"""The one geometry type: GeoPackage blobs in the embedded store, PostGIS geometry on a server.

Reference: OGC GeoPackage 1.3, clause 2.1.3 (geometry encoding).
"""

import struct
from typing import Any

import numpy as np
import shapely
from sqlalchemy import types
from sqlalchemy.engine import Dialect

_EMPTY = 0x10
_LITTLE_ENDIAN = 0x01
_ENVELOPE = {0: 0, 1: 32, 2: 48, 3: 48, 4: 64}  # bytes that the flag's envelope code announces


def to_gpkg(geometry: Any, srid: int) -> bytes:
    """Encode a geometry as a GeoPackage blob with its envelope (minx, maxx, miny, maxy)."""
    wkb = shapely.to_wkb(geometry, byte_order=1, include_srid=False)
    if geometry.is_empty:
        return struct.pack("<2sBBi", b"GP", 0, _EMPTY | _LITTLE_ENDIAN, srid) + wkb
    minx, miny, maxx, maxy = geometry.bounds
    return struct.pack("<2sBBi4d", b"GP", 0, 1 << 1 | _LITTLE_ENDIAN, srid, minx, maxx, miny, maxy) + wkb


def encoded(geometries: np.ndarray, srid: int, dialect: Dialect) -> list[Any]:
    """Encode many geometries for the database at once; what a server's driver takes stays as it is."""
    if dialect.name == "postgresql":
        return list(geometries)
    wkb, bounds = shapely.to_wkb(geometries, byte_order=1, include_srid=False), shapely.bounds(geometries)
    head, sound = struct.Struct("<2sBBi4d"), ~(shapely.is_empty(geometries) | shapely.is_missing(geometries))
    return [
        head.pack(b"GP", 0, 1 << 1 | _LITTLE_ENDIAN, srid, minx, maxx, miny, maxy) + body
        if plain
        else None
        if body is None
        else to_gpkg(geometry, srid)
        for body, (minx, miny, maxx, maxy), plain, geometry in zip(wkb, bounds.tolist(), sound, geometries, strict=True)
    ]


def from_gpkg(blob: bytes) -> Any:
    """Decode a GeoPackage blob, whoever wrote it, to a shapely geometry."""
    return shapely.from_wkb(blob[header_length(blob) :])


def header_length(blob: bytes) -> int:
    """Bytes before the WKB of a GeoPackage blob."""
    if blob[:2] != b"GP":
        raise ValueError("not a GeoPackage geometry")
    return 8 + _ENVELOPE[blob[3] >> 1 & 7]


class _GpkgBlob(types.UserDefinedType[bytes]):
    """A BLOB column that bears its geometry type's name, as GeoPackage wants it."""

    cache_ok = True

    def __init__(self, geometry_type: str):
        self.geometry_type = geometry_type

    def get_col_spec(self, **_: Any) -> str:
        return self.geometry_type


class Geometry(types.TypeDecorator[Any]):
    """A column of planar geometry in the workspace's system; values are shapely geometries.

    Parameters
    ----------
    geometry_type : str
        ``MULTILINESTRING``, ``MULTIPOLYGON`` or ``GEOMETRY``.
    srid : int
        EPSG code of the workspace's system.
    """

    impl = types.LargeBinary
    cache_ok = True

    def __init__(self, geometry_type: str, srid: int):
        super().__init__()
        self.geometry_type, self.srid = geometry_type, srid

    def load_dialect_impl(self, dialect: Dialect) -> types.TypeEngine[Any]:
        """Return the column type of a dialect."""
        if dialect.name == "postgresql":
            from geoalchemy2 import Geometry as PostgisGeometry  # half a second that an embedded store never needs

            return dialect.type_descriptor(PostgisGeometry(self.geometry_type, srid=self.srid, dimension=2))
        return dialect.type_descriptor(_GpkgBlob(self.geometry_type))

    def process_bind_param(self, value: Any, dialect: Dialect) -> Any:
        """Encode a geometry for the database; bytes are one that is `encoded` already."""
        if value is None or isinstance(value, bytes):
            return value
        if dialect.name == "postgresql":
            from geoalchemy2.shape import from_shape

            return from_shape(value, srid=self.srid)
        return to_gpkg(value, self.srid)

    def process_result_value(self, value: Any, dialect: Dialect) -> Any:
        """Decode a geometry from the database."""
        if value is None:
            return None
        if dialect.name == "postgresql":
            from geoalchemy2.shape import to_shape

            return to_shape(value)
        return from_gpkg(value)


def register_functions(connection: Any) -> None:
    """Register the five functions that GDAL's spatial-index triggers call, on a sqlite3 connection.

    A layer that QGIS has indexed keeps its R-tree by triggers that call ``ST_IsEmpty``, ``ST_MinX``, ``ST_MaxX``,
    ``ST_MinY`` and ``ST_MaxY``; without them the next write would fail (GeoPackage 1.3, annex F.3).
    """

    def bound(position: int) -> Any:
        def of(blob: bytes | None) -> float | None:
            if blob is None:
                return None
            geometry = from_gpkg(blob)
            return None if geometry.is_empty else float(geometry.bounds[position])

        return of

    def is_empty(blob: bytes | None) -> int | None:
        return None if blob is None else int(from_gpkg(blob).is_empty)

    connection.create_function("ST_IsEmpty", 1, is_empty, deterministic=True)
    for name, position in (("ST_MinX", 0), ("ST_MinY", 1), ("ST_MaxX", 2), ("ST_MaxY", 3)):
        connection.create_function(name, 1, bound(position), deterministic=True)
