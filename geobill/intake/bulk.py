"""One layer out of a file, whole or batch by batch: by pyogrio, and by fiona row by row where that is refused."""

import warnings
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import fiona
import geopandas as gpd
import numpy as np
import pandas as pd
import pyarrow as pa
import pyogrio
from shapely.geometry import shape

from geobill.intake.formats import Format
from geobill.intake.shapes import Shapes, geometries, join_shapes
from geobill.intake.text import decoded, read_again

BATCH = 1 << 16  # rows that are turned from bytes into geometry at a time
TOO_WIDE = 2**53  # whole numbers from here on lose digits in a float
_INTEGERS = {
    t: pd.Int64Dtype() for t in (pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32())
}
_TYPES = {**_INTEGERS, pa.uint64(): pd.UInt64Dtype(), pa.bool_(): pd.BooleanDtype()}


@dataclass(frozen=True)
class RawRows:
    """A layer's rows; ``shapes`` says which geometries couldn't be built, or were made straight; ``crs`` as declared."""

    frame: gpd.GeoDataFrame
    shapes: Shapes
    crs: str | None


def read_rows(path: Path, layer: str, format_: Format, encoding: str) -> RawRows:
    """Read all rows of a layer as they are.

    The frame has the file's columns with their exact values (whole numbers stay whole beside nulls) and
    ``geometry``, by a RangeIndex and without a coordinate system.
    """
    try:
        columns, shapes, crs = _at_once(path, layer, format_, encoding)
    except Exception:
        if format_.reads_itself:
            raise
        # whatever the bulk reader stumbles over, the slow reader gets its try and its own error
        columns, shapes, crs = next(_row_by_row(path, layer, format_, encoding))
    _restore_digits(columns, path, format_)
    return RawRows(_with_geometry(columns, shapes.geometry), shapes, crs)


def iter_batches(path: Path, layer: str, format_: Format, encoding: str, rows: int = BATCH) -> Iterator[RawRows]:
    """Read a layer some rows at a time, so that memory doesn't grow with the file; at least one batch comes.

    Each frame is as `read_rows` has it, with the rows counted through the layer by its index. Whole numbers too wide for
    a float stay floats. ``shapes`` counts rows through the layer too.

    Parameters
    ----------
    rows : int
        Rows of a batch, at most, where the file library reads; a format that reads itself chooses.
    """
    done = 0
    try:
        for table, wkb, crs in _tables(path, layer, format_, encoding, rows):
            yield _counted(_frame(table), geometries(wkb), crs, done)
            done += table.num_rows
    except Exception:
        if format_.reads_itself:
            raise
        # as in `read_rows`, from the row on where the bulk reader broke off
        for columns, shapes, crs in _row_by_row(path, layer, format_, encoding, rows, done):
            yield _counted(columns, shapes, crs, done)
            done += len(columns)


def _counted(columns: pd.DataFrame, shapes: Shapes, crs: str | None, done: int) -> RawRows:
    columns.index = pd.RangeIndex(done, done + len(columns))
    return RawRows(_with_geometry(columns, shapes.geometry), shapes.after(done), crs)


def _with_geometry(columns: pd.DataFrame, geometry: np.ndarray | None) -> gpd.GeoDataFrame:
    if "geometry" in columns.columns:
        columns = columns.rename(columns={"geometry": "geometry_"})
    return gpd.GeoDataFrame(columns, geometry=gpd.GeoSeries(geometry, index=columns.index))


def _at_once(path: Path, layer: str, format_: Format, encoding: str) -> tuple[pd.DataFrame, Shapes, str | None]:
    """All rows by Arrow; well-known binary becomes geometry batch by batch, so that it is never all there."""
    tables, drawn, crs, done = [], [], None, 0
    for table, wkb, declared in _tables(path, layer, format_, encoding, BATCH):
        tables.append(table)
        drawn.append(geometries(wkb).after(done))
        done, crs = done + table.num_rows, declared
    # a table without columns forgets its rows when it is joined to another
    columns = _frame(pa.concat_tables(tables)) if tables[0].num_columns else pd.DataFrame(index=pd.RangeIndex(done))
    return columns, join_shapes(drawn), crs


def _tables(
    path: Path, layer: str, format_: Format, encoding: str, rows: int
) -> Iterator[tuple[pa.Table, np.ndarray | None, str | None]]:
    """Columns, well-known binary and system, some rows at a time; the first comes even where there are no rows."""
    if format_.reads_itself:
        yield from format_.iter_encoded(path, layer, encoding, rows)
        return
    options: dict[str, Any] = dict(format_.open_options)
    known = format_.library_encoding(path, encoding)
    if format_.driver == "ESRI Shapefile":
        options["encoding"] = known
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        opened = pyogrio.open_arrow(
            path, layer=layer, return_fids=format_.fid_is_column, batch_size=rows, use_pyarrow=True, **options
        )
    with opened as (meta, reader):
        done = 0
        for batch in reader:
            if batch.num_rows:
                done += batch.num_rows
                table, wkb, crs = _parted(pa.Table.from_batches([batch]), meta, format_)
                yield table if known == encoding else _recoded(table, encoding), wkb, crs
        promised = format_.promised(path, layer) or 0
        if done < promised:  # some drivers end without a word where a file is broken in the middle
            raise ValueError(f"it promises {promised} rows and is broken after {done}")
        if not done:
            table, wkb, crs = _parted(reader.schema.empty_table(), meta, format_)
            yield table if known == encoding else _recoded(table, encoding), wkb, crs


def _parted(table: pa.Table, meta: dict[str, Any], format_: Format) -> tuple[pa.Table, np.ndarray | None, str | None]:
    """Part the library's table into the columns that people see and the geometry as well-known binary."""
    names, spatial = table.column_names, meta["geometry_name"] or "wkb_geometry"
    at = len(names) - 1 if names and names[-1] == spatial else -1
    wkb = (
        table.column(at).to_numpy(zero_copy_only=False)
        if at >= 0 and pa.types.is_binary(table.schema[at].type)
        else None
    )
    if wkb is not None:
        table = table.remove_column(at)
    fid = meta.get("fid_column") or None
    if format_.fid_is_column and table.num_columns and not fid:
        table = table.remove_column(0)
    return table, wkb, meta["crs"]


def _frame(table: pa.Table) -> pd.DataFrame:
    """Columns with their exact values, each under a name of its own."""
    taken: dict[str, int] = {}
    unique = []
    for name in table.column_names:
        taken[name] = taken.get(name, 0) + 1
        unique.append(name if taken[name] == 1 else f"{name}_{taken[name]}")
    columns = _decoded(table.rename_columns(unique)).to_pandas(types_mapper=_TYPES.get, date_as_object=True)
    return columns.reset_index(drop=True)


def _recoded(table: pa.Table, encoding: str) -> pa.Table:
    """Read text and names again that the library took byte for byte."""
    for at, field in enumerate(table.schema):
        if pa.types.is_string(field.type) or pa.types.is_large_string(field.type):
            text = [None if v is None else read_again(v, encoding) for v in table.column(at).to_pylist()]
            table = table.set_column(at, field.name, pa.array(text, pa.string()))
    return table.rename_columns([read_again(name, encoding) for name in table.column_names])


def _decoded(table: pa.Table) -> pa.Table:
    """Replace bytes that are no UTF-8 by the sign for an unreadable character, so that the rest can be read."""
    try:
        table.validate(full=True)
    except pa.ArrowInvalid:
        for at, field in enumerate(table.schema):
            if pa.types.is_string(field.type) or pa.types.is_large_string(field.type):
                raw = table.column(at).cast(pa.large_binary()).to_pylist()
                text = [None if v is None else decoded(v, "utf-8") for v in raw]
                table = table.set_column(at, field.name, pa.array(text, pa.string()))
    return table


def _one(build: Callable[[Any], Any], value: Any) -> Any:
    try:
        return None if value is None else build(value)
    except Exception:  # whatever a library says of one geometry costs that row alone, which is told
        return None


def _said_system(source: fiona.Collection) -> str | None:
    """System as the library has it; None where its own text is no UTF-8, which it can't hand over (the .prj is read apart)."""
    try:
        return source.crs_wkt or None
    except (UnicodeDecodeError, UnboundLocalError):
        return None


def _row_by_row(
    path: Path, layer: str, format_: Format, encoding: str, rows: int | None = None, skip: int = 0
) -> Iterator[tuple[pd.DataFrame, Shapes, str | None]]:
    """Rows from ``skip`` on by the slow reader, ``rows`` at a time (None: all at once); the first come even if none."""
    known = format_.library_encoding(path, encoding)
    options = {"encoding": known} if format_.driver == "ESRI Shapefile" else dict(format_.open_options)

    def said(value: Any) -> Any:
        return read_again(value, encoding) if known != encoding and isinstance(value, str) else value

    with fiona.open(path, layer=layer, driver=format_.driver, **options) as source:
        names = list(source.schema["properties"])
        key = ["fid"] if format_.fid_is_column and "fid" not in names else []
        features, first = _features(source, format_.promised(path, layer)), True
        deque(islice(features, skip), maxlen=0)
        while (some := list(islice(features, rows))) or first:
            nothing: list[Any] = [None] * (len(key) + len(names))
            table = [nothing if f is None else [f.id] * len(key) + [said(f.properties[n]) for n in names] for f in some]
            drawn = [None if f is None or f.geometry is None else _one(shape, f.geometry) for f in some]
            unbuilt = {
                n: ("no_geometry", "its geometry can't be read")
                for n, (f, built) in enumerate(zip(some, drawn, strict=True), 1)
                if f is None or (built is None and f.geometry is not None)
            }
            geometry = np.empty(len(drawn), dtype=object)
            geometry[:] = drawn
            columns = pd.DataFrame(table, columns=key + [said(n) for n in names], dtype=object)
            yield columns, Shapes(geometry, unbuilt), _said_system(source)
            first = False


def _features(source: fiona.Collection, told: int | None) -> Iterator[Any]:
    """Features in their order; None for each whose geometry the slow reader can't build.

    The slow reader ends without a word where a file is broken in the middle, so the rows are counted against those that
    the file promises (a Shapefile's promise counts its deleted rows too; its files are checked before).
    """
    features, done = iter(source), 0
    promised = told if told is not None else 0 if source.driver == "ESRI Shapefile" else len(source)
    while True:
        try:
            yield next(features)
        except StopIteration:
            if done < promised:
                raise ValueError(f"it promises {promised} rows and is broken after {done}") from None
            return
        except fiona.errors.UnsupportedGeometryTypeError:
            yield None
        done += 1


def _restore_digits(columns: pd.DataFrame, path: Path, format_: Format) -> None:
    """Replace float columns that hold whole numbers too wide for a float by the digits in the file."""
    wide = [
        str(name)
        for name, values in columns.items()
        if pd.api.types.is_float_dtype(values.dtype)
        and (values.abs() >= TOO_WIDE).any()
        and (values.dropna() % 1 == 0).all()
    ]
    if wide:
        for name, digits in format_.exact_numbers(path, wide, len(columns)).items():
            columns[name] = pd.Series(digits, index=columns.index, dtype=object)
