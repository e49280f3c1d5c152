"""The municipality's own outline: polygons of somebody's file, carried into the workspace's system as one."""

from dataclasses import replace

import geopandas as gpd
import numpy as np
import shapely
from pyproj import Transformer

from geobill.domain.finding import Finding
from geobill.domain.network import Municipality
from geobill.errors import InputError
from geobill.intake.columns import matching_columns, nearest
from geobill.intake.ground import box_in_metres
from geobill.intake.reader import Layer
from geobill.intake.reading import Options, Part
from geobill.intake.rows import prepare
from geobill.intake.values import read_column, read_text
from geobill.intake.zones import merge, repair_zones

_WORDS = "The boundary decides which rows are set aside as outside_municipality"


def only_where(layer: Layer, where: str) -> Layer:
    """Return a layer with only the rows whose column says a text, whatever the case; ``where`` is ``COLUMN=VALUE``.

    Raises
    ------
    InputError
        If it isn't written so, there is no such column, several could be meant, or no row says that.
    """
    name, equals, value = where.partition("=")
    columns = [str(c) for c in layer.frame.columns if c != "geometry"]
    found = matching_columns(name.strip(), columns)
    if not equals or len(found) != 1:
        hint = "" if not equals or found else nearest(name, columns)
        raise InputError(
            f"--where {where!r} names no column of {layer.path.name}: write COLUMN=VALUE, such as NM_MUN=Caieiras.{hint} "
            f"It has: {', '.join(columns) or 'no columns at all'}."
        )
    texts, _ = read_column(layer.frame[found[0]], read_text)
    said = np.array([t is not None and t.strip().casefold() == value.strip().casefold() for t in texts], dtype=bool)
    if not said.any():
        near = nearest(value.strip(), {t.strip() for t in texts if t is not None})
        raise InputError(f"No row of {layer.path.name} has {value!r} in {found[0]}.{near} Nothing was changed.")
    numbers = np.array([layer.number(int(at)) for at in np.flatnonzero(said)])
    return replace(layer, frame=layer.frame[said].reset_index(drop=True), numbers=numbers)


def read_boundary(layer: Layer, crs: str | None, municipality: Municipality) -> tuple[bytes, tuple[Finding, ...]]:
    """Read the polygons of a layer as the municipality's boundary, all of them or none.

    Parameters
    ----------
    layer : Layer
        From `reader.read_layer`.
    crs : str or None
        System of the file, where it doesn't say it.
    municipality : Municipality
        Its box, which the boundary must agree with, and the workspace's system.

    Returns
    -------
    tuple
        Well-known binary of one MultiPolygon in the workspace's system, and what a person should know of the file.

    Raises
    ------
    InputError
        If there is no polygon, one can't be used, or they lie elsewhere than the box of ``geobill.toml``.
    """
    name = layer.path.name
    try:
        rows = prepare([Part(layer, Options(crs=crs))], municipality, (), "zone", None)
    except InputError as refusal:
        many = f" And {_keep_one(len(layer.frame), municipality)}" if len(layer.frame) > 1 else ""
        raise InputError(f"{name} can't be the boundary of {municipality.name}. {refusal}{many}") from None
    frame = gpd.GeoDataFrame({"geometry": rows.geometry}, crs=municipality.crs)
    frame = frame.assign(source_row=range(1, len(rows) + 1), zone=rows.ids, land_value="1")
    zones, refused, repairs = repair_zones(frame)
    if refused:
        first = refused[0]
        raise InputError(
            f"Row {first.row} of {name} can't be part of the boundary of {municipality.name} ({first.reason_code}: "
            f"{first.reason.replace('zone', 'boundary')}) {_WORDS}: give a file with its polygons and nothing else."
        )
    if not len(zones):
        raise InputError(f"{name} has no polygon. {_WORDS}: give a file with the municipality's polygons.")
    outline = merge(list(zones.geometry))
    _check_box(outline, zones.geometry.to_numpy(), municipality, name)
    return shapely.to_wkb(outline), (*rows.findings, *repairs)


def _keep_one(count: int, municipality: Municipality) -> str:
    """Say what to do with a file of several municipalities."""
    return (
        f"the file has {count} polygons: if they are several municipalities, keep only that of {municipality.name} "
        "with --where COLUMN=VALUE."
    )


def _check_box(outline: shapely.MultiPolygon, zones: np.ndarray, municipality: Municipality, name: str) -> None:
    """Refuse an outline that reaches beyond the box and its margin, with the box that would fit.

    Where several of its polygons do, it is likely of several municipalities, and no box should be made to fit them all.
    """
    west, south, east, north = box_in_metres(municipality)
    x0, y0, x1, y1 = shapely.bounds(outline)
    beyond = max(west - x0, south - y0, x1 - east, y1 - north)
    if beyond <= 0:
        return
    to_degrees = Transformer.from_crs(municipality.crs, "EPSG:4674", always_xy=True)
    box = np.array(to_degrees.transform_bounds(x0, y0, x1, y1, densify_pts=21))
    ends = shapely.bounds(zones).T
    several = np.sum((ends[0] < west) | (ends[1] < south) | (ends[2] > east) | (ends[3] > north)) > 1
    why = "one of the two is wrong, and the box decides where coordinate systems are looked for. If the file is right"
    if several:
        why = f"{_keep_one(len(zones), municipality)} If all of them are {municipality.name}"
    fitting = ", ".join(f"{v:.4f}" for v in np.array([*np.floor(box[:2] * 1e4), *np.ceil(box[2:] * 1e4)]) / 1e4)
    raise InputError(
        f"The boundary in {name} reaches {beyond:,.0f} m beyond the box and margin of {municipality.name} in "
        f"geobill.toml: {why}, write bbox = [{fitting}]."
    )


def boundary_text(outline_wkb: bytes, municipality: Municipality) -> str:
    """Write a boundary as GeoJSON in the workspace's system, with the system's name in it."""
    frame = gpd.GeoDataFrame(
        {"municipality": [municipality.name]}, geometry=[shapely.from_wkb(outline_wkb)], crs=municipality.crs
    )
    return frame.to_json(show_bbox=False, drop_id=True, ensure_ascii=False)


def area_km2(outline_wkb: bytes) -> float:
    """Area of a boundary in square kilometres, in the workspace's plane."""
    return float(shapely.area(shapely.from_wkb(outline_wkb))) / 1e6
