"""Pieces of a priced month for programs: CSV, GeoParquet or GeoPackage (the annex for people is another file)."""

import os
from decimal import Decimal
from pathlib import Path

import geopandas as gpd
import pandas as pd
from pyogrio.errors import DataLayerError, DataSourceError, FeatureError

from geobill.domain.money import plain
from geobill.errors import InputError

FORMATS = (".csv", ".parquet", ".gpkg")


def write_pieces(path: Path, pieces: pd.DataFrame, crs: int) -> None:
    """Write pieces with exact figures as decimal text; Parquet (GeoParquet) and GeoPackage with where they lie.

    Parameters
    ----------
    path : Path
        Ends in ``.csv`` (commas, points, UTF-8), ``.parquet`` or ``.gpkg``.
    pieces : DataFrame
        Pieces of :class:`geobill.pricing.price.PricedMonth`, with ``geometry`` unless for CSV.
    crs : int
        EPSG code of the workspace's system.

    Raises
    ------
    InputError
        For another ending, or where the file can't be written.
    """
    ending = path.suffix.lower()
    if ending not in FORMATS:
        raise InputError(f"--pieces {path.name}: give a file that ends in {', '.join(FORMATS)}.")
    names = [c for c in pieces.columns if c != "geometry"]
    table = pd.DataFrame({c: [_cell(v) for v in pieces[c]] for c in names}, dtype=object)
    partial = path.with_name(f".{path.stem}.{os.getpid()}.part{ending}")
    try:
        if ending == ".csv":
            table.to_csv(partial, index=False, encoding="utf-8", lineterminator="\n")
        elif ending == ".parquet":
            gpd.GeoDataFrame(table, geometry=list(pieces["geometry"]), crs=crs).to_parquet(partial, index=False)
        else:
            layer = gpd.GeoDataFrame(table, geometry=list(pieces["geometry"]), crs=crs)
            layer.to_file(partial, layer="pieces", driver="GPKG")
        partial.replace(path)
    except (OSError, DataSourceError, DataLayerError, FeatureError) as fault:
        raise InputError(f"--pieces {path} can't be written: {fault}. Choose a folder that you may write.") from None
    finally:
        partial.unlink(missing_ok=True)


def _cell(value: object) -> str | None:
    if value is None or (isinstance(value, float) and pd.isna(value)):
        return None
    if isinstance(value, tuple):
        return ";".join(value)
    return plain(value) if isinstance(value, Decimal) else str(value)
