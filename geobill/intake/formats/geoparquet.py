"""GeoParquet: a Parquet table whose metadata say which column is the geometry and in which system it is."""

import json
import re
import struct
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import geopandas as gpd
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import shapely
from pyproj import CRS
from pyproj.exceptions import CRSError

from geobill.domain.finding import Finding
from geobill.errors import InputError
from geobill.intake.formats.base import Format, broken

# GeoParquet 1.1, "encoding": well-known binary, or one of GeoArrow's native layouts
_NATIVE = ("point", "linestring", "polygon", "multipoint", "multilinestring", "multipolygon")


def geo_columns(path: Path) -> dict[str, dict[str, Any]]:
    """Geometry columns and what the file says of them, in the order of the table; InputError where it says nothing."""
    try:
        schema = pq.read_schema(path)
    except (pa.ArrowException, OSError) as e:
        if isinstance(e, PermissionError):
            raise
        raise broken(path, f"its footer can't be read ({' '.join(str(e).split())[:120]})") from None
    said = (schema.metadata or {}).get(b"geo")
    if said is None:
        raise InputError(
            f"{path.name} is Parquet, but not GeoParquet: it has no `geo` metadata, so nothing says which column holds the "
            "geometry and in which coordinate system. Export it as GeoParquet (QGIS, GDAL and GeoPandas do)."
        )
    try:
        columns = {str(name): dict(about) for name, about in json.loads(said)["columns"].items()}
    except (ValueError, TypeError, KeyError, AttributeError):
        raise broken(path, "its `geo` metadata aren't those of a GeoParquet file") from None
    there = {name: columns[name] for name in schema.names if name in columns}
    if not there:
        raise broken(path, f"its geometry column {', '.join(columns) or '(none named)'} isn't among its columns")
    return there


class GeoParquet(Format):
    """GeoParquet 1.0 and 1.1; several geometry columns are told apart as layers are."""

    name = "GeoParquet"
    suffixes = (".parquet", ".geoparquet")
    driver = "Parquet"
    mark = re.compile(rb"PAR1")
    reads = "GeoParquet 1.0 and 1.1; each geometry column as a layer"
    leaves_out = "Parquet without the `geo` metadata; folders of many files"
    reads_itself = True  # the file library of the wheels has no Parquet

    def check(self, path: Path) -> None:
        """See that the marks at both ends, the footer and the description of the geometry are there."""
        size = path.stat().st_size
        with path.open("rb") as file:
            begins = file.read(4)
            file.seek(max(0, size - 8))
            footer, ends = struct.unpack("<I4s", file.read(8).rjust(8, b"\0"))
        if begins == b"PARE" or ends == b"PARE":
            raise InputError(f"{path.name} is encrypted Parquet: ask for it without encryption.")
        if begins != b"PAR1":
            raise broken(path, "it doesn't begin as a Parquet file does")
        if ends != b"PAR1" or footer + 12 > size:
            raise broken(path, "it doesn't end as a Parquet file does: the list of its columns stands at the end")
        geo_columns(path)

    def layers(self, path: Path) -> list[tuple[str, bool]]:
        """Return the file's name as the one layer, or each geometry column where there are several."""
        columns = list(geo_columns(path))
        return [(name, True) for name in (columns if len(columns) > 1 else [path.stem])]

    def iter_tables(self, path: Path, layer: str, rows: int) -> Iterator[tuple[pa.Table, np.ndarray, str | None]]:
        """Read the columns that aren't geometry, the geometry as well-known binary, and its system, batch by batch."""
        columns = geo_columns(path)
        name = layer if len(columns) > 1 else next(iter(columns))
        about = columns[name]
        covering = about.get("covering") or {}
        boxes = {place[0] for sides in covering.values() for place in sides.values()} if covering else set()
        for table in _tables(path, about, rows):
            kept = [n for n in table.column_names if n not in columns and n not in boxes]
            drawn = _binary(path, table, name, about)
            yield _simple(table.select(kept).replace_schema_metadata(None)), drawn, _system(about)

    def crs(self, path: Path, declared: CRS | None) -> tuple[CRS | None, tuple[Finding, ...]]:
        """Take EPSG:4326 for CRS84, which is the same with the axes named the other way round; say what can't be read."""
        columns = geo_columns(path)
        found = []
        if declared is None and any(about.get("crs", "absent") is not None for about in columns.values()):
            message = (
                f"The coordinate system written in {path.name} can't be understood or says only that it is undefined."
            )
            found.append(Finding("crs_unreadable", "error", message, "Ask the sender; then give it with --crs EPSG:n."))
        if any(about.get("edges") == "spherical" for about in columns.values()):
            message = (
                f"{path.name} means the lines between its points as arcs on a sphere; geobill draws them straight."
            )
            fix = "Lines of streets differ by less than a millimetre; ask for planar edges where points lie far apart."
            found.append(Finding("edges_spherical", "note", message, fix))
        if declared is not None and declared.to_authority() == ("OGC", "CRS84"):
            declared = CRS.from_epsg(4326)
        return declared, tuple(found)


def _system(about: dict[str, Any]) -> str | None:
    """Text of a column's system: longitude and latitude of WGS 84 where the key is absent (GeoParquet 1.1, "crs")."""
    crs = about.get("crs", "OGC:CRS84")
    try:
        return None if crs is None else CRS.from_user_input(crs).to_wkt()
    except (CRSError, TypeError, ValueError):
        return None


def _tables(path: Path, about: dict[str, Any], rows: int) -> Iterator[pa.Table]:
    """Batches of a file, at least one; the whole where the geometry is in a layout that is read as a whole."""
    options = {"page_checksum_verification": True, "arrow_extensions_enabled": False}
    if about.get("encoding", "WKB") != "WKB":
        yield pq.read_table(path, **options)
        return
    with pq.ParquetFile(path, **options) as file:
        if not file.metadata.num_rows:
            yield file.schema_arrow.empty_table()
        for batch in file.iter_batches(batch_size=rows):
            yield pa.Table.from_batches([batch])


def _binary(path: Path, table: pa.Table, name: str, about: dict[str, Any]) -> np.ndarray:
    encoding = about.get("encoding", "WKB")
    column = table.column(name)
    if encoding == "WKB":
        if not (pa.types.is_binary(column.type) or pa.types.is_large_binary(column.type)):
            raise broken(path, f"its geometry column {name} should hold well-known binary and holds {column.type}")
        return column.to_numpy(zero_copy_only=False)
    if encoding not in _NATIVE:
        raise InputError(
            f"{path.name} writes its geometry as {str(encoding)[:40]!r}, which geobill doesn't read: export it with WKB."
        )
    return shapely.to_wkb(gpd.read_parquet(path, columns=[name])[name].to_numpy())


def _simple(table: pa.Table) -> pa.Table:
    """Turn dictionaries into their values, and what isn't a plain value (lists, records, bytes) into text."""
    for at, field in enumerate(table.schema):
        column, kind = table.column(at), field.type
        if pa.types.is_dictionary(kind):
            column = column.cast(kind.value_type)
        elif pa.types.is_nested(kind) or pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
            write = partial(json.dumps, ensure_ascii=False, default=_in_text)
            text = [
                None if v is None else _in_text(v) if isinstance(v, bytes) else write(v) for v in column.to_pylist()
            ]
            column = pa.chunked_array([pa.array(text, pa.string())])
        table = table.set_column(at, pa.field(field.name, column.type), column)
    return table


def _in_text(value: Any) -> str:
    return value.hex() if isinstance(value, bytes) else str(value)
