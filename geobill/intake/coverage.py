"""The priced coverage: a value map made planar, as a layer that a person looks at in QGIS.

Three kinds of faces, none of which covers another: *zone*, what one value has to itself; *overlap*, ground that zones
of different value claim, settled by policy or held; *gap*, ground that no zone covers but that lies within reach of
one. Prices of gap metres are cut exactly elsewhere; the gap faces here are a drawing, true to 0.1 m.
"""

from typing import Any, Literal

import geopandas as gpd
import numpy as np
import pandas as pd
import shapely

from geobill.errors import PolicyError
from geobill.frames import ZONES, check_columns
from geobill.intake.zones import (
    Overlaps,
    highest,
    lowest,
    settle_overlaps,
    value_ranks,
)

COVERAGE: tuple[str, ...] = ("zone", "land_value", "source_row", "kind", "status", "area_m2", "geometry")
KINDS: tuple[str, ...] = ("zone", "overlap", "gap")


def draw_coverage(
    zones: gpd.GeoDataFrame, on_overlap: Literal["hold", "lower", "higher"], max_gap_m: float
) -> gpd.GeoDataFrame:
    """Turn a value map into the priced coverage (contract, "Overlap" and "Gap").

    Parameters
    ----------
    zones : GeoDataFrame
        By ``frames.ZONES``: valid MultiPolygons in a projected system, metres.
    on_overlap : {'hold', 'lower', 'higher'}
        What becomes of ground wider than 0.03 m that zones of different value claim. Narrower is a border and goes to
        the lower value; equal values go to the first row.
    max_gap_m : float
        How far from a zone uncovered ground still takes that zone's value, in metres; 0 draws no gap.

    Returns
    -------
    GeoDataFrame
        Columns of ``COVERAGE``, sorted by kind (zone, overlap, gap), then source row. ``land_value`` is decimal text;
        held overlaps have none, nor a source row, and name all their zones, "A | B". Zones that overlap no other keep
        every coordinate.

    Raises
    ------
    PolicyError
        For a value of ``on_overlap`` or ``max_gap_m`` that doesn't exist.
    InputError
        If a column of ``frames.ZONES`` is missing.
    """
    check_columns(zones, ZONES, "The value map")
    if on_overlap not in ("hold", "lower", "higher"):
        raise PolicyError(f"on_overlap can't be {on_overlap!r}: the allowed values are hold, lower, higher.")
    if not (np.isfinite(max_gap_m) and max_gap_m >= 0):
        raise PolicyError(f"max_gap_m can't be {max_gap_m}: it is a number of metres, 0 or more.")
    zones = zones.sort_values("source_row", kind="stable").reset_index(drop=True)
    shapes = np.asarray(zones.geometry.values, dtype=object)
    ranks = value_ranks(zones["land_value"])

    own, disputed = settle_overlaps(shapes, ranks)
    rows = [_row(zones, at, "zone", face) for at, face in enumerate(own) if face is not None]
    faces, owners = [f for f in own if f is not None], [at for at, f in enumerate(own) if f is not None]
    for claimants, face in sorted(disputed.items()):
        low, high = lowest(claimants, ranks), highest(claimants, ranks)
        if on_overlap == "hold":
            rows.append(_held_row(zones, claimants, face))
        else:
            rows.append(_row(zones, low if on_overlap == "lower" else high, "overlap", face))
        faces.append(face)
        owners.append(high if on_overlap == "higher" else low)
    if max_gap_m > 0 and faces:
        from geobill.intake.gaps import draw_gaps  # brings scipy, which an import of a network never needs

        covered = shapely.union_all(shapes)  # of the zones as drawn: the faces' seams may leave hairlines
        gaps = draw_gaps(covered, np.array(faces, dtype=object), np.array(owners), ranks, float(max_gap_m))
        rows += [_row(zones, at, "gap", face) for at, face in sorted(gaps.items())]
    return _frame(rows, zones.crs)


def coverage_summary(coverage: gpd.GeoDataFrame, overlaps: Overlaps) -> dict[str, Any]:
    """Figures of a priced coverage for the import report.

    Parameters
    ----------
    coverage : GeoDataFrame
        From `draw_coverage`.
    overlaps : Overlaps
        From `zones.overlap_report`, on the same zones.

    Returns
    -------
    dict
        ``zones`` (rows of the map that are seen in the coverage or the overlaps), ``area_m2`` by kind,
        ``overlap_pairs`` and ``overlap_area_m2`` (pairs from 1 m²), ``held_m2``, ``gap_closed_m2``: square metres,
        floats to the hundredth.
    """
    seen = {int(r) for r in coverage["source_row"] if r is not None and r == r}
    seen.update(row for pair in overlaps.rows for row in pair[:2])
    area = {kind: round(float(coverage.loc[coverage["kind"] == kind, "area_m2"].sum()), 2) for kind in KINDS}
    return {
        "zones": len(seen),
        "area_m2": area,
        "overlap_pairs": overlaps.pairs,
        "overlap_area_m2": round(overlaps.area_m2, 2),
        "held_m2": round(float(coverage.loc[coverage["status"] == "held", "area_m2"].sum()), 2),
        "gap_closed_m2": area["gap"],
    }


def _row(zones: gpd.GeoDataFrame, at: int, kind: str, face: shapely.Geometry) -> tuple[Any, ...]:
    name, value, row = zones["zone"].iloc[at], zones["land_value"].iloc[at], int(zones["source_row"].iloc[at])
    return (name, value, row, kind, "priced", at, face)


def _held_row(zones: gpd.GeoDataFrame, claimants: tuple[int, ...], face: shapely.Geometry) -> tuple[Any, ...]:
    names = " | ".join(str(zones["zone"].iloc[at]) for at in claimants)
    return (names, None, None, "overlap", "held", claimants[0], face)


def _frame(rows: list[tuple[Any, ...]], crs: Any) -> gpd.GeoDataFrame:
    rows = sorted(rows, key=lambda r: (KINDS.index(r[3]), r[5]))
    shapes = [r[6] for r in rows]
    columns: dict[str, Any] = {
        name: pd.Series([r[i] for r in rows], dtype=object) for i, name in enumerate(COVERAGE[:5])
    }
    columns["area_m2"] = shapely.area(np.array(shapes, dtype=object)) if rows else np.array([], dtype=float)
    return gpd.GeoDataFrame(columns, geometry=gpd.GeoSeries(shapes, crs=crs), columns=list(COVERAGE))
