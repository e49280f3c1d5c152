"""Rows of a reading that can't be accepted after all: set aside with a reason, the sums made again."""

from collections.abc import Collection, Sequence
from dataclasses import replace

import geopandas as gpd
import numpy as np
import pandas as pd
import shapely

from geobill.domain.finding import SetAside
from geobill.frames import ASIDE, whole_units
from geobill.intake.reading import Part, Reading
from geobill.intake.rows import own_texts


def put_aside(
    reading: Reading, parts: Sequence[Part], rows: Collection[int], id_key: str, code: str, reason: str
) -> Reading:
    """Move accepted rows to those that were set aside.

    Parameters
    ----------
    reading : Reading
        Of a network.
    parts : sequence of Part
        What was read.
    rows : collection of int
        By ``source_row``.
    id_key : str
        Column of ``accepted`` with the id.
    code, reason : str
        Why, for all of them.
    """
    where = reading.accepted["source_row"].isin(list(rows)).to_numpy()
    if not where.any():
        return reading
    firsts = np.cumsum([0, *(len(part.layer.frame) for part in parts)])
    out = reading.accepted[where]
    places = out["source_row"].to_numpy(dtype=int) - 1
    of = np.searchsorted(firsts, places, side="right") - 1
    moved = []
    for at, part in enumerate(parts):
        mine, layer = np.flatnonzero(of == at), part.layer
        for n, own in zip(mine, own_texts(layer, places[mine] - firsts[at]), strict=True):
            row, number = out.iloc[n], layer.number(int(places[n] - firsts[at]))
            moved.append((row["source_row"], layer.name, number, row[id_key], code, reason, own, row["geometry"]))
    columns = {name: pd.Series([m[i] for m in moved], dtype=object) for i, name in enumerate(ASIDE[:-1])}
    added = gpd.GeoDataFrame(columns, geometry=[m[-1] for m in moved], crs=reading.accepted.crs)
    aside = gpd.GeoDataFrame(pd.concat([reading.aside, added], ignore_index=True), crs=reading.accepted.crs)
    aside = aside.sort_values("source_row", kind="stable", ignore_index=True)
    several = len(parts) > 1
    kept = reading.accepted[~where].reset_index(drop=True)
    precision = parts[0].options.length_precision_m
    return replace(
        reading,
        accepted=kept,
        aside=aside,
        set_aside=tuple(
            SetAside(int(r.row), str(r.id), r.reason_code, r.reason, r.layer if several else None)
            for r in aside.itertuples(index=False)
        ),
        length_m=int(whole_units(shapely.length(kept.geometry.to_numpy()), precision).sum()) * precision,
        bounds=tuple(float(b) for b in kept.total_bounds) if len(kept) else None,  # type: ignore[arg-type]
    )
