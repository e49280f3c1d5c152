"""GeoJSON text sequences: one feature after the other, each on a line of its own or behind a record separator.

The records are read here and not by GDAL, which passes over a broken line in silence and rounds long numbers.
Reference: RFC 8142 (records behind 0x1E), newline-delimited GeoJSON (one record a line), RFC 7946.
"""

import json
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import shapely
from pyproj import CRS

from geobill.domain.finding import Finding
from geobill.errors import InputError
from geobill.intake.formats.base import Format, broken
from geobill.intake.formats.geojson_crs import system_findings, system_of

SEPARATOR = b"\x1e"
GEOMETRIES = ("Point", "MultiPoint", "LineString", "MultiLineString", "Polygon", "MultiPolygon", "GeometryCollection")
_LONGEST = 1 << 20  # of a first line that is looked at to recognise the format
_UNREADABLE = b""  # no well-known binary: the row's geometry is there and can't be built


@dataclass
class _Column:
    """Which kinds of value a column has; whole numbers beyond 64 bits are told apart."""

    kinds: set[str] = field(default_factory=set)

    def type(self) -> pa.DataType:
        """Return the type that holds every value exactly: text where there are several kinds."""
        if not self.kinds:
            return pa.string()
        if self.kinds <= {"int"}:
            return pa.int64()
        if self.kinds <= {"int", "float"}:
            return pa.float64()
        return pa.bool_() if self.kinds <= {"bool"} else pa.string()


@dataclass(frozen=True)
class _Seen:
    """What a first reading found: columns in their order, how many records there are, what they say of the system."""

    columns: dict[str, pa.DataType]
    rows: int
    systems: tuple[str, ...]


class GeoJSONSeq(Format):
    """GeoJSON, feature by feature: newline-delimited, or behind record separators."""

    name = "GeoJSONSeq"
    suffixes = (".geojsonl", ".geojsons", ".ndjson")
    driver = "GeoJSONSeq"
    reads_itself = True
    reads = "features one after the other, on a line each or behind record separators; long numbers to the last digit"
    leaves_out = "members of a feature that GeoJSON doesn't know"

    def recognises(self, path: Path, head: bytes) -> bool:
        """Whether the first line is a whole feature and another one follows, or a record separator begins it all."""
        begun = head.lstrip(b"\xef\xbb\xbf \t\r\n")
        if begun.startswith(SEPARATOR):
            return True
        if not begun.startswith(b"{"):
            return False
        with path.open("rb") as file:
            first = next((line for line in iter(lambda: file.readline(_LONGEST), b"") if line.strip()), b"")
            second = next((line for line in iter(lambda: file.readline(_LONGEST), b"") if line.strip()), b"")
        try:
            record = json.loads(first.lstrip(b"\xef\xbb\xbf"))
        except (ValueError, RecursionError):
            return False
        return isinstance(record, dict) and record.get("type") == "Feature" and second.lstrip().startswith(b"{")

    def check(self, path: Path) -> None:
        """Read every record once: each must be whole."""
        _see(path)

    def layers(self, path: Path) -> list[tuple[str, bool]]:
        """Return the file's name as the one layer."""
        return [(path.stem, True)] if _see(path).rows else []

    def iter_tables(self, path: Path, layer: str, rows: int) -> Iterator[tuple[pa.Table, np.ndarray, str | None]]:
        """Read some records at a time."""
        columns, some = _see(path).columns, []
        for _, text, record in _records(path):
            some.append((text, record))
            if len(some) == rows:
                yield (*_table(columns, some), "EPSG:4326")
                some = []
        if some or not _see(path).rows:
            yield (*_table(columns, some), "EPSG:4326")

    def crs(self, path: Path, declared: CRS | None) -> tuple[CRS | None, tuple[Finding, ...]]:
        """Return WGS 84 (RFC 8142), or the system that the old ``crs`` member of every record names."""
        systems = _see(path).systems
        if not systems:
            return CRS.from_epsg(4326), ()
        member = json.loads(systems[0])
        return system_of(member), system_findings(path.name, member)


def _see(path: Path) -> _Seen:
    state = path.stat()
    return _look(path, state.st_mtime_ns, state.st_size)


@lru_cache(maxsize=4)
def _look(path: Path, changed: int, size: int) -> _Seen:
    columns: dict[str, _Column] = {}
    systems: dict[str, None] = {}
    rows = 0
    for rows, (line, _, record) in enumerate(_records(path), 1):
        for name, value in _values(record).items():
            if value is not None:
                columns.setdefault(name, _Column()).kinds.add(_kind(value))
            else:
                columns.setdefault(name, _Column())
        systems[json.dumps(record["crs"]) if "crs" in record else ""] = None
        if len(systems) > 1:
            raise InputError(
                f"{path.name}: record {rows} (line {line}) names another coordinate system than those before it. Lengths in "
                "the wrong one would price the network wrongly: ask for the file in one system."
            )
    # a table without columns would forget its rows
    types = {name: c.type() for name, c in columns.items()} or {"id": pa.string()}
    return _Seen(types, rows, tuple(s for s in systems if s))


def _kind(value: Any) -> str:
    if type(value) is int and not -(2**63) <= value < 2**63:
        return "long"
    if type(value) is int and abs(value) >= 2**53:
        return "wide"
    return type(value).__name__


def _records(path: Path) -> Iterator[tuple[int, str, dict[str, Any]]]:
    """Each record with the line it begins on (first is 1), its text and what it says; the first broken one is refused."""
    for line, raw in _texts(path):
        try:
            text = raw.decode("utf-8")
            record = json.loads(text)
        except UnicodeDecodeError:
            raise broken(path, f"line {line} isn't UTF-8, which all GeoJSON is") from None
        except (ValueError, RecursionError) as e:
            raise broken(path, f"line {line} isn't JSON ({e})") from None
        kind = record.get("type") if isinstance(record, dict) else None
        if kind in GEOMETRIES:
            record = {"type": "Feature", "properties": {}, "geometry": record}
        elif kind != "Feature" or not isinstance(record.get("properties") or {}, dict):
            raise broken(path, f"line {line} is no GeoJSON feature ({text[:60]!r})")
        yield line, text, record


def _texts(path: Path) -> Iterator[tuple[int, bytes]]:
    """Bytes of each record, and the line it begins on."""
    with path.open("rb") as file:
        separated = file.read(64).lstrip(b"\xef\xbb\xbf \t\r\n").startswith(SEPARATOR)
        file.seek(0)
        begun, held = 1, []
        for number, line in enumerate(file, 1):
            raw = line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line
            if not separated:
                if raw.strip(b" \t\r\n\0"):
                    yield number, raw.strip(b" \t\r\n\0")
                continue
            for nth, part in enumerate(raw.split(SEPARATOR)):
                if nth:  # a separator stood before it
                    if b"".join(held).strip():
                        yield begun, b"".join(held)
                    begun, held = number, []
                held.append(part)
        if separated and b"".join(held).strip():
            yield begun, b"".join(held)


def _values(record: dict[str, Any]) -> dict[str, Any]:
    """Columns of a record; its id is one, unless a property has that name."""
    values = record.get("properties") or {}
    return {"id": record["id"], **values} if record.get("id") is not None else values


def _table(columns: dict[str, pa.DataType], some: list[tuple[str, dict[str, Any]]]) -> tuple[pa.Table, np.ndarray]:
    rows = [_values(record) for _, record in some]
    data = [pa.array([_as(row.get(name), kind) for row in rows], kind) for name, kind in columns.items()]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # numbers too large for a coordinate
        drawn = shapely.from_geojson([text for text, _ in some], on_invalid="ignore")
    there = np.array([record.get("geometry") is not None for _, record in some], dtype=bool)
    wkb = np.array(shapely.to_wkb(drawn), dtype=object)
    wkb[there & shapely.is_missing(drawn)] = _UNREADABLE
    return pa.Table.from_arrays(data, names=list(columns)), wkb


def _as(value: Any, kind: pa.DataType) -> Any:
    if value is None or not pa.types.is_string(kind):
        return float(value) if value is not None and pa.types.is_float64(kind) else value
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
