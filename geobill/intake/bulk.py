"""One layer out of a file, whole: pyogrio for all rows at once, fiona row by row where that is refused."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import fiona
import geopandas as gpd
import numpy as np
import pandas as pd
import pyarrow as pa
import pyogrio
import shapely
from shapely.geometry import shape

from geobill.intake.formats import Format

TOO_WIDE = 2**53  # whole numbers from here on lose digits in a float
_INTEGERS = {
    t: pd.Int64Dtype() for t in (pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32())
}
_TYPES = {**_INTEGERS, pa.uint64(): pd.UInt64Dtype(), pa.bool_(): pd.BooleanDtype()}


@dataclass(frozen=True)
class RawRows:
    """A layer's rows; ``unreadable`` are those (first is 1) whose geometry couldn't be built; ``crs`` as declared."""

    frame: gpd.GeoDataFrame
    unreadable: list[int]
    crs: str | None


def read_rows(path: Path, layer: str, format_: Format, encoding: str) -> RawRows:
    """Read all rows of a layer as they are.

    The frame has the file's columns with their exact values (whole numbers stay whole beside nulls) and
    ``geometry``, by a RangeIndex and without a coordinate system.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            columns, wkb, crs = _arrow(path, layer, format_, encoding)
        geometry, unreadable = geometries(wkb)
    except Exception:
        if format_.reads_itself:
            raise
        # whatever the bulk reader stumbles over, the slow reader gets its try and its own error
        columns, geometry, unreadable, crs = _row_by_row(path, layer, format_, encoding)
    _restore_digits(columns, path, format_)
    if "geometry" in columns.columns:
        columns = columns.rename(columns={"geometry": "geometry_"})
    frame = gpd.GeoDataFrame(columns, geometry=gpd.GeoSeries(geometry, index=columns.index))
    return RawRows(frame, unreadable, crs)


def _arrow(
    path: Path, layer: str, format_: Format, encoding: str
) -> tuple[pd.DataFrame, np.ndarray | None, str | None]:
    if format_.reads_itself:
        table, wkb, crs = format_.read_table(path, layer)
        return _frame(table), wkb, crs
    options: dict[str, Any] = dict(format_.open_options)
    if format_.driver == "ESRI Shapefile":
        options["encoding"] = encoding
    meta, table = pyogrio.read_arrow(path, layer=layer, return_fids=format_.fid_is_column, **options)
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
    return _frame(table), wkb, meta["crs"]


def _frame(table: pa.Table) -> pd.DataFrame:
    """Columns with their exact values, each under a name of its own."""
    taken: dict[str, int] = {}
    unique = []
    for name in table.column_names:
        taken[name] = taken.get(name, 0) + 1
        unique.append(name if taken[name] == 1 else f"{name}_{taken[name]}")
    columns = _decoded(table.rename_columns(unique)).to_pandas(types_mapper=_TYPES.get, date_as_object=True)
    return columns.reset_index(drop=True)


def _decoded(table: pa.Table) -> pa.Table:
    """Replace bytes that are no UTF-8 by the sign for an unreadable character, so that the rest can be read."""
    try:
        table.validate(full=True)
    except pa.ArrowInvalid:
        for at, field in enumerate(table.schema):
            if pa.types.is_string(field.type) or pa.types.is_large_string(field.type):
                raw = table.column(at).cast(pa.large_binary()).to_pylist()
                text = [None if v is None else v.decode("utf-8", "replace") for v in raw]
                table = table.set_column(at, field.name, pa.array(text, pa.string()))
    return table


def geometries(wkb: np.ndarray | None) -> tuple[np.ndarray | None, list[int]]:
    """Plane geometries from well-known binary; None, with its row (first is 1), where one can't be built."""
    if wkb is None:
        return None, []
    try:
        built = shapely.from_wkb(wkb, on_invalid="ignore")
    except Exception:  # one curve makes shapely refuse them all
        built = np.array([_one(shapely.from_wkb, b) for b in wkb], dtype=object)
    unreadable = np.flatnonzero(shapely.is_missing(built) & ~pd.isna(wkb)) + 1
    return built, unreadable.tolist()


def _one(build: Callable[[Any], Any], value: Any) -> Any:
    try:
        return None if value is None else build(value)
    except Exception:
        return None


def _row_by_row(
    path: Path, layer: str, format_: Format, encoding: str
) -> tuple[pd.DataFrame, np.ndarray, list[int], str | None]:
    options = {"encoding": encoding} if format_.driver == "ESRI Shapefile" else dict(format_.open_options)
    rows, drawn, unreadable = [], [], []
    with fiona.open(path, layer=layer, driver=format_.driver, **options) as source:
        names = list(source.schema["properties"])
        crs = source.crs_wkt or None
        key = ["fid"] if format_.fid_is_column and "fid" not in names else []
        features = iter(source)
        while True:
            try:
                feature = next(features)
            except StopIteration:
                break
            except fiona.errors.UnsupportedGeometryTypeError:
                feature = None
            built = None if feature is None or feature.geometry is None else _one(shape, feature.geometry)
            if feature is None or (built is None and feature.geometry is not None):
                unreadable.append(len(rows) + 1)
            nothing: list[Any] = [None] * (len(key) + len(names))
            rows.append(
                nothing if feature is None else [feature.id] * len(key) + [feature.properties[n] for n in names]
            )
            drawn.append(built)
    frame = pd.DataFrame(rows, columns=key + names, dtype=object)
    geometry = np.empty(len(drawn), dtype=object)
    geometry[:] = drawn
    return frame, geometry, unreadable, crs


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
