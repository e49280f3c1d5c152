"""A value map: zones with a price of land, row by row; what zones do to each other is settled later."""

from dataclasses import replace
from typing import Any

import geopandas as gpd
import numpy as np
import pandas as pd
import shapely

from geobill.domain.finding import Finding
from geobill.domain.network import Municipality
from geobill.errors import InputError
from geobill.intake.checks import (
    Check,
    check_carried,
    check_finite,
    check_has_geometry,
    check_length,
    check_numbers,
    check_positive,
    check_type,
    run_checks,
)
from geobill.intake.faces import thin_sides, thin_zones
from geobill.intake.network import as_multi, decimal_text
from geobill.intake.reader import Layer
from geobill.intake.reading import Options, Part, Reading
from geobill.intake.rows import Rows, finish, prepare
from geobill.intake.value_tables import ValueTable, match_zones
from geobill.intake.zones import repair_zones

KEYS = ("zone", "land_value", "land_value_left", "land_value_right")
_SIDES = KEYS[2:]
_KINDS = {"Polygon": (3, 6), "LineString": (1, 5), "Point": (0, 4)}


def read_land_values(
    layer: Layer, options: Options, municipality: Municipality, table: ValueTable | None = None
) -> Reading:
    """Read the rows of a value map: polygons, or lines (faces of blocks, stretches of street), or points.

    A map is of one kind: where there is a polygon, lines and points are set aside; where there is a line, points are.

    Parameters
    ----------
    layer : Layer
        From `reader.read_layer`.
    options : Options
        Mapping of ``zone``, and of ``land_value`` or, for lines, of ``land_value_left`` and ``land_value_right``; land
        values in reais per square metre.
    municipality : Municipality
        Most zones must touch it; single ones may lie beyond.
    table : ValueTable or None
        Values by zone that stand beside the map; then ``land_value`` isn't mapped.

    Returns
    -------
    Reading
        ``accepted`` by `geobill.frames.ZONES` in the map's own geometry, for `settle_zones`; ``land_value_right`` besides where
        both sides have a value (then ``land_value`` is the left one). ``length_m`` is 0.

    Raises
    ------
    InputError
        If the whole file can't be used: mapping or coordinate system.
    """
    _check_mapping(layer, options, table)
    rows = prepare([Part(layer, options)], municipality, KEYS, "zone", None)
    sides = all(side in rows.columns[0] for side in _SIDES)
    figures = _SIDES if sides else ("land_value",)
    rows.read_all(numbers=figures)
    if table is not None:
        _take_values(rows, table)
    kind = "LineString" if sides else _kind(rows.geometry)
    checks: list[Check] = [check_has_geometry, check_type(kind, f"Multi{kind}"), check_finite, check_carried]
    checks += [check_length] if kind == "LineString" else []
    checks += [check_numbers(*figures)]
    for key in figures:
        noun = {"land_value_left": "land value on the left", "land_value_right": "land value on the right"}.get(
            key, "land value"
        )
        checks.append(check_positive(key, noun, "value_missing", "value_not_positive", "reais per m²"))
    run_checks(rows, checks)
    columns = {"zone": rows.ids, "land_value": decimal_text(rows.values[figures[0]])}
    columns |= {_SIDES[1]: decimal_text(rows.values[_SIDES[1]])} if sides else {}
    return finish(rows, columns, as_multi(rows.geometry, "Polygon"), measured=False)


def settle_zones(reading: Reading, max_gap_m: float, name: str) -> tuple[Reading, gpd.GeoDataFrame]:
    """Turn the rows of a value map into zones with an area, repaired where they were drawn wrongly.

    Parameters
    ----------
    reading : Reading
        From `read_land_values`.
    max_gap_m : float
        The policy: how far from a line or point the street still takes its value, in metres.
    name : str
        Name of the file, for the message.

    Returns
    -------
    Reading
        With the rows that couldn't be repaired set aside.
    GeoDataFrame
        Zones by `geobill.frames.ZONES`; a street with a value for either side is two.

    Raises
    ------
    InputError
        If the map is of lines or points and the policy gives streets no reach.
    """
    drawn = reading.accepted
    thin = not np.isin(shapely.get_type_id(drawn.geometry.to_numpy()), _KINDS["Polygon"]).any() and len(drawn) > 0
    zones, findings = (drawn, ()) if not thin else _thin(drawn, max_gap_m, name)
    zones, refused, repairs = repair_zones(zones)
    refused = tuple({s.row: s for s in refused}.values())  # a street's two sides are one row
    gone = {s.row for s in refused}
    kept = drawn[[r not in gone for r in drawn["source_row"]]]
    aside = tuple(sorted((*reading.set_aside, *refused), key=lambda s: s.row))
    bounds: Any = tuple(map(float, zones.total_bounds)) if len(zones) else None
    repaired = replace(
        reading, accepted=kept, set_aside=aside, findings=(*reading.findings, *findings, *repairs), bounds=bounds
    )
    return repaired, zones[[r not in gone for r in zones["source_row"]]]


def _thin(drawn: gpd.GeoDataFrame, max_gap_m: float, name: str) -> tuple[gpd.GeoDataFrame, tuple[Finding, ...]]:
    geometry = drawn.geometry.to_numpy()
    lines = bool(np.isin(shapely.get_type_id(geometry), _KINDS["LineString"]).any())
    what = "line(s)" if lines else "point(s)"
    if not max_gap_m > 0:
        raise InputError(
            f"{name} gives its values by {what[:-3]}s, and the policy max_gap_m is 0: no metre of a street would take any of them. "
            "Nothing was changed; say how far a value reaches with geobill policy set max_gap_m METRES."
        )
    message = (
        f"{len(drawn)} {what} of {name} hold a value: a street's metres take the nearest one within {max_gap_m:g} m"
    )
    if _SIDES[1] in drawn:
        left, right = thin_sides(geometry)
        one = drawn.assign(zone=[f"{z} (lado esquerdo)" for z in drawn["zone"]]).set_geometry(
            gpd.GeoSeries(left, drawn.index)
        )
        other = drawn.assign(
            zone=[f"{z} (lado direito)" for z in drawn["zone"]], land_value=drawn[_SIDES[1]]
        ).set_geometry(gpd.GeoSeries(right, drawn.index))
        zones = pd.concat([one, other], ignore_index=True).drop(columns=_SIDES[1])
        message += "; either side has its own, and what runs along the line is on their border (policy on_border)"
    else:
        zones = drawn.set_geometry(gpd.GeoSeries(thin_zones(geometry), drawn.index))
    fix = "The policy max_gap_m decides the reach (art. 7, T): look at the priced coverage in QGIS."
    zones = gpd.GeoDataFrame(zones, geometry="geometry", crs=drawn.crs)
    return zones, (Finding("values_by_line" if lines else "values_by_point", "note", f"{message}.", fix),)


def _kind(geometry: np.ndarray) -> str:
    """Name what a map is drawn with: polygons where there is one, else lines, else points."""
    kinds = set(shapely.get_type_id(geometry[~shapely.is_missing(geometry)]).tolist())
    return next((name for name, types in _KINDS.items() if kinds & set(types)), "Polygon")


def _check_mapping(layer: Layer, options: Options, table: ValueTable | None) -> None:
    mapped = set(options.mapping)
    names = ", ".join(str(c) for c in layer.frame.columns if c != "geometry") or "none"
    if mapped & set(_SIDES) and ("land_value" in mapped or table is not None or not mapped >= set(_SIDES)):
        raise InputError(
            "A street with a value for either side needs both --map land_value_left=COLUMN and --map land_value_right=COLUMN, and "
            f"no other value. The columns of {layer.path.name} are: {names}."
        )
    wanted = ("zone",) if table is not None or mapped >= set(_SIDES) else KEYS[:2]
    missing = [k for k in wanted if k not in mapped]
    if missing:
        raise InputError(
            f"A value map needs {' and '.join(f'--map {k}=COLUMN' for k in missing)}: without it nobody knows what a square "
            f"metre is worth, or where. The columns of {layer.path.name} are: {names}."
        )


def _take_values(rows: Rows, table: ValueTable) -> None:
    """Give every row of the map its zone's value from the table."""
    zones = [str(z).strip() for z in rows.ids]
    rows.values["land_value"] = np.array([table.values.get(z) for z in zones], dtype=object)
    rows.faults["land_value"] = {at: table.faults[z] for at, z in enumerate(zones) if z in table.faults}
    rows.findings += [*table.findings, *match_zones(table, zones, rows.parts[0].layer.name)]
