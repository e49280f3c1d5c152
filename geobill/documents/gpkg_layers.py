"""Layers that become a GeoPackage with styles, titles and an index: equal layers give equal bytes.

What GDAL and SQLite would write of themselves (the time, the library's version) is replaced. Reference: OGC 12-128r17.
"""

import sqlite3
import tempfile
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyogrio
import shapely
from pyogrio.errors import DataLayerError, DataSourceError, FeatureError

from geobill.documents.gpkg_form import finish

TEXT, INTEGER, REAL, DATE = pa.string(), pa.int64(), pa.float64(), pa.date32()
Columns = tuple[tuple[str, pa.DataType, str], ...]  # name, type, the words that people see over it
UNSYNCED = {"OGR_SQLITE_SYNCHRONOUS": "OFF"}  # a temporary file: what isn't finished is thrown away
WRITE_FAULTS = (OSError, sqlite3.Error, DataSourceError, DataLayerError, FeatureError)


@dataclass(frozen=True)
class Layer:
    """A layer of a file: its table, title, columns, geometry type, style and rows (values by column, geometry)."""

    table: str
    title: str
    columns: Columns
    geometry_type: str
    style: str
    rows: list[dict[str, Any]]
    shapes: np.ndarray

    @property
    def aliases(self) -> dict[str, str]:
        """Words that people see over each column."""
        return titles(self.columns)


def titles(columns: Columns) -> dict[str, str]:
    """Words that people see over each column, by its name."""
    return {name: alias for name, _, alias in columns}


def gpkg_bytes(layers: Sequence[Layer], title: str, crs: str, moment: str) -> bytes:
    """Write layers as a GeoPackage; the first is what QGIS draws lowest.

    Parameters
    ----------
    layers : sequence of Layer
    title : str
        Description of each layer.
    crs : str
        ``EPSG:n``.
    moment : str
        Every time in the file: ISO text with a fraction of a second and Z.

    Raises
    ------
    OSError, sqlite3.Error, pyogrio.errors
        `WRITE_FAULTS`: if the folder for temporary files has no room.
    """
    with tempfile.TemporaryDirectory(prefix="geobill-") as folder:
        path = Path(folder) / "anexo.gpkg"
        pyogrio.set_gdal_config_options(UNSYNCED)
        try:
            for at, layer in enumerate(layers):
                pyogrio.write_arrow(
                    _table(layer), path, layer=layer.table, driver="GPKG", geometry_name="geom", crs=crs,
                    geometry_type=layer.geometry_type, append=at > 0, dataset_options={"VERSION": "1.3"} if not at else {},
                    layer_options={
                        "FID": "fid", "GEOMETRY_NAME": "geom", "SPATIAL_INDEX": "YES", "IDENTIFIER": layer.title,
                        "DESCRIPTION": title,
                    },
                )  # fmt: skip
        finally:
            pyogrio.set_gdal_config_options(dict.fromkeys(UNSYNCED))
        with closing(sqlite3.connect(path, isolation_level=None)) as database:
            finish(database, [(layer.table, layer.title, layer.style, layer.aliases) for layer in layers], moment)
        return without_traces(path.read_bytes())


def given(value: Any) -> Any:
    """Return a value; None for None, blank text and the NaN that a frame makes of None."""
    return None if value is None or value != value or value == "" else value


def multi(shapes: Any, build: Callable[[Sequence[Any]], Any]) -> np.ndarray:
    """Each shape as one of several parts, as the layer's type asks."""
    drawn = np.asarray(shapes, dtype=object)
    made = [g if g is None or g.geom_type.startswith("Multi") else build([g]) for g in drawn]
    return np.array(made, dtype=object) if made else np.empty(0, dtype=object)


def _table(layer: Layer) -> pa.Table:
    arrays = [pa.array([_typed(row.get(name), kind) for row in layer.rows], kind) for name, kind, _ in layer.columns]
    arrays.append(pa.array(list(shapely.to_wkb(layer.shapes)), pa.binary()))
    return pa.Table.from_arrays(arrays, names=[*(name for name, _, _ in layer.columns), "geom"])


def _typed(value: Any, kind: pa.DataType) -> Any:
    if value is None:
        return None
    if kind == REAL:
        return float(value)
    return pd.Timestamp(value).date() if kind == DATE else int(value) if kind == INTEGER else str(value)


def without_traces(content: bytes) -> bytes:
    """Return a GeoPackage without what depends on the moment it was written and on nothing in it; other content as it is.

    How many transactions SQLite counted (bytes 24 to 27, and 92 to 95 again: GDAL writes one fewer where two layers are done in
    the same millisecond), and which version of it wrote the file (96 to 99). SQLite file format, section 1.3.
    """
    if not content.startswith(b"SQLite format 3\0"):
        return content
    once = (1).to_bytes(4)
    return content[:24] + once + content[28:92] + once + bytes(4) + content[100:]
