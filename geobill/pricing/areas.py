"""Which metres of which lines lie inside an area that a court's order names: cut exactly like zones are."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import shapely
from numpy.typing import NDArray

from geobill.pricing.cut import Rules, ZoneSet, cut

_SLACK = 1e-6  # a micrometre: what rotating and re-reading coordinates may move


@dataclass(frozen=True)
class Area:
    """Polygons of one order, its ``number`` among the orders, and which lines it concerns by their position."""

    number: int
    polygons: Any
    concerned: NDArray[np.bool_]


def lay_areas(stretches: pd.DataFrame, lines: NDArray[np.object_], areas: Sequence[Area]) -> pd.DataFrame:
    """Cut stretches along lines where the lines enter and leave areas, and say in which of them each part lies.

    Parameters
    ----------
    stretches : DataFrame
        ``line``, ``nth``, ``start_m``, ``end_m`` and more, in order along each part.
    lines : array of LineString or MultiLineString
        The lines, in the areas' system, metres.
    areas : sequence of Area

    Returns
    -------
    pandas.DataFrame
        The same metres, with ``inside``: numbers of the areas, comma-joined in ascending order, "" for none.
    """
    laid = stretches.assign(inside="")
    for area in areas:
        laid = _lay(laid, _spans(lines, area), str(area.number))
    return laid


def _spans(lines: NDArray[np.object_], area: Area) -> dict[tuple[int, int], list[tuple[float, float]]]:
    """Metres inside an area, by line and part."""
    places = np.flatnonzero(area.concerned)
    if not len(places):
        return {}
    shapely.prepare(area.polygons)
    places = places[shapely.intersects(area.polygons, lines[places])]
    only = ZoneSet(np.array([area.polygons], dtype=object), np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64))
    found = cut(lines[places], only, Rules()) if len(places) else pd.DataFrame({"line": [], "part": [], "zone": []})
    nth = found["part"] - found.groupby("line")["part"].transform("min")
    spans: dict[tuple[int, int], list[tuple[float, float]]] = {}
    for row in found.assign(nth=nth)[found["zone"] == 0].itertuples():
        spans.setdefault((int(places[row.line]), int(row.nth)), []).append((row.start_m, row.end_m))
    return spans


def _lay(stretches: pd.DataFrame, spans: dict[tuple[int, int], list[tuple[float, float]]], number: str) -> pd.DataFrame:
    keys = zip(stretches["line"], stretches["nth"], strict=True)
    touched = np.fromiter((key in spans for key in keys), bool, len(stretches))
    if not touched.any():
        return stretches
    rows: list[dict[str, Any]] = []
    for stretch in stretches[touched].to_dict("records"):
        rows += _cut_up(stretch, spans[stretch["line"], stretch["nth"]], number)
    laid = pd.concat([stretches[~touched], pd.DataFrame(rows)], ignore_index=True)
    return laid.sort_values(["line", "nth", "start_m"], ignore_index=True)


def _cut_up(stretch: dict[str, Any], spans: list[tuple[float, float]], number: str) -> list[dict[str, Any]]:
    start, end, within = stretch["start_m"], stretch["end_m"], ",".join(filter(None, (stretch["inside"], number)))
    rows, at = [], start
    for s, e in spans:
        low, high = max(s, start), min(e, end)
        if high - low <= _SLACK:
            continue
        low, high = (at if low - at <= _SLACK else low), (end if end - high <= _SLACK else high)
        if low > at:
            rows.append({**stretch, "start_m": at, "end_m": low})
        rows.append({**stretch, "start_m": low, "end_m": high, "inside": within})
        at = high
    if at < end or not rows:
        rows.append({**stretch, "start_m": at, "end_m": end})
    return rows
