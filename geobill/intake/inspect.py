"""Look into a file without taking anything from it: layers, columns, system, encoding, and what to beware of."""

from pathlib import Path
from typing import Any

import geopandas as gpd
import numpy as np
import pandas as pd
import shapely
from pyproj import CRS

from geobill.domain.finding import Finding
from geobill.domain.money import plain
from geobill.domain.network import Municipality
from geobill.errors import InputError
from geobill.frames import whole_units
from geobill.intake.crs import (
    CAIEIRAS,
    carry,
    check_inside,
    guess_systems,
    located_bounds,
    no_system,
    short,
)
from geobill.intake.reader import Layer, load_layer
from geobill.intake.reading import Options
from geobill.intake.source import Source, SourceLayer, open_source
from geobill.intake.values import is_blank, read_text

_EXAMPLE_LENGTH = 120


def inspect_file(path: Path, municipality: Municipality = CAIEIRAS) -> dict[str, Any]:
    """Report on a file as ``geobill inspect --json`` prints it.

    Parameters
    ----------
    path : Path
        Any file that `reader.read_layer` reads; all of its layers are looked at.
    municipality : Municipality
        Where the data should lie, for the guesses and the lengths.

    Returns
    -------
    dict
        ``file``, ``sha256``, ``layers`` and ``findings`` by the contract; lengths are decimal text in metres.

    Raises
    ------
    InputError
        If nothing can be read at all. A single layer that can't be read is a finding.
    """
    layers, findings = [], []
    with open_source(path) as source:
        for one in source.layers:
            try:
                report, found = _layer(source, one, municipality)
            except InputError as e:
                fix = "Repair it in QGIS or ask for it again."
                findings.append(Finding("layer_unreadable", "error", str(e), fix, one.name))
                continue
            layers.append(report)
            findings += found
    return {
        "file": str(path),
        "sha256": source.sha256,
        "layers": layers,
        "findings": [_as_json(f) for f in findings],
    }


def _layer(source: Source, one: SourceLayer, municipality: Municipality) -> tuple[dict[str, Any], list[Finding]]:
    layer, name = load_layer(source, one), one.name
    geometry = layer.frame.geometry.to_numpy()
    guesses = guess_systems(layer.frame, municipality)
    if layer.crs is not None:  # the system that the file declares is the likeliest, where it fits
        guesses.sort(key=lambda g: g != short(layer.crs))
    length_m, place = _place(layer, municipality)
    report = {
        "name": name,
        "features": len(layer.frame),
        "geometry_types": _types(geometry),
        "crs": None if layer.crs is None else short(layer.crs),
        "crs_guesses": guesses,
        "encoding": layer.encoding,
        "length_m": length_m,
        "fields": [_field(str(c), layer.frame[c]) for c in layer.frame.columns if c != "geometry"],
    }
    return report, [*layer.findings, *place, *_row_findings(name, geometry)]


def _types(geometry: np.ndarray) -> dict[str, int]:
    kinds = pd.Series(shapely.get_type_id(geometry[~shapely.is_missing(geometry)]))
    names = {t.value: t.name for t in shapely.GeometryType}
    pretty = {"LINESTRING": "LineString", "MULTILINESTRING": "MultiLineString", "MULTIPOINT": "MultiPoint",
              "MULTIPOLYGON": "MultiPolygon", "GEOMETRYCOLLECTION": "GeometryCollection"}  # fmt: skip
    return {pretty.get(names[k], names[k].title()): int(n) for k, n in kinds.value_counts().items()}


def _place(layer: Layer, municipality: Municipality) -> tuple[str | None, list[Finding]]:
    """Plan length in metres, None where the system is unknown; and what is wrong with where the layer lies."""
    located = len(located_bounds(layer.frame)) > 0
    if layer.crs is None:
        if not located:
            return None, []
        message = str(no_system(layer.frame, municipality, layer.path.name))
        return None, [_lies("crs_missing", message, layer)]
    try:
        carried, _ = carry(layer.frame, layer.crs, municipality, layer.path.name)
        check_inside(carried, layer.frame, layer.crs, municipality, layer.path.name)
    except InputError as e:
        return _length_as_declared(layer, municipality), [_lies("crs_suspect", str(e), layer)]
    return _length(carried), []


def _lies(code: str, message: str, layer: Layer) -> Finding:
    fix = "Ask the sender which system it is in, then import with --crs EPSG:n."
    return Finding(code, "error", message, fix, layer.name)


def _length_as_declared(layer: Layer, municipality: Municipality) -> str | None:
    """Length of a layer that lies elsewhere: in its own system where that measures metres, else carried over."""
    crs: CRS = layer.crs
    if crs.is_projected and all(axis.unit_conversion_factor == 1 for axis in crs.axis_info[:2]):
        return _length(layer.frame)
    try:
        return _length(carry(layer.frame, crs, municipality, layer.path.name)[0])
    except InputError:
        return None


def _length(frame: gpd.GeoDataFrame) -> str:
    geometry, precision = frame.geometry.to_numpy(), Options().length_precision_m
    lines = np.isin(shapely.get_type_id(geometry), (1, 5))
    with np.errstate(invalid="ignore"):
        lengths = shapely.length(geometry[lines])
    lengths = lengths[np.isfinite(lengths)]
    return plain(int(whole_units(lengths, precision).sum()) * precision)


def _field(name: str, values: pd.Series) -> dict[str, Any]:
    present = values[~values.isna()]
    example = next((read_text(v) for v in present if not is_blank(v)), None)
    return {
        "name": name,
        "type": _type(values, present),
        "nulls": int(len(values) - len(present)),
        "example": None if example is None else example[:_EXAMPLE_LENGTH],
    }


def _type(values: pd.Series, present: pd.Series) -> str:
    kinds = pd.api.types
    if kinds.is_bool_dtype(values.dtype):
        return "boolean"
    if kinds.is_integer_dtype(values.dtype):
        return "integer"
    if kinds.is_float_dtype(values.dtype):
        return "real"
    if kinds.is_datetime64_any_dtype(values.dtype):
        return "datetime"
    first = present.iloc[0] if len(present) else None
    return "text" if first is None or isinstance(first, str) else type(first).__name__.lower()


def _row_findings(layer: str, geometry: np.ndarray) -> list[Finding]:
    """Rows that an import would set aside for their geometry."""
    missing = shapely.is_missing(geometry) | shapely.is_empty(geometry)
    lines = np.isin(shapely.get_type_id(geometry), (1, 5)) & ~missing
    polygons = np.isin(shapely.get_type_id(geometry), (3, 6)) & ~missing
    looks = (
        (missing, "no_geometry", "warning", "row(s) have no geometry, so no place and no length",
         "They are set aside at import: ask the sender for them."),
        (lines & (shapely.length(geometry) == 0), "zero_length", "warning", "line(s) have no length",
         "They are set aside at import: ask the sender for them."),
        (polygons & ~shapely.is_valid(geometry), "invalid_polygon", "warning", "polygon(s) are invalid (crossing edges)",
         "They are repaired at import and the change of area reported; better, repair them at the source."),
    )  # fmt: skip
    found = []
    for where, code, severity, what, fix in looks:
        rows = tuple(int(r) + 1 for r in np.flatnonzero(where))
        if rows:
            found.append(Finding(code, severity, f"{len(rows)} {what}.", fix, layer, rows))
    return found


def _as_json(finding: Finding) -> dict[str, Any]:
    return {
        "code": finding.code,
        "severity": finding.severity,
        "layer": finding.layer,
        "rows": list(finding.rows),
        "message": finding.message,
        "fix": finding.fix,
    }
