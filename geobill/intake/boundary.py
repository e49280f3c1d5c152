"""The municipality's own outline: polygons of somebody's file, carried into the workspace's system as one."""

import geopandas as gpd
import numpy as np
import shapely
from pyproj import Transformer

from geobill.domain.finding import Finding
from geobill.domain.network import Municipality
from geobill.errors import InputError
from geobill.intake.ground import box_in_metres
from geobill.intake.reader import Layer
from geobill.intake.reading import Options, Part
from geobill.intake.rows import prepare
from geobill.intake.zones import merge, repair_zones

_WORDS = "The boundary decides which rows are set aside as outside_municipality"


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
        raise InputError(f"{name} can't be the boundary of {municipality.name}. {refusal}") from None
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
    _check_box(outline, municipality, name)
    return shapely.to_wkb(outline), (*rows.findings, *repairs)


def _check_box(outline: shapely.MultiPolygon, municipality: Municipality, name: str) -> None:
    """Refuse an outline that reaches beyond the box and its margin, with the box that would fit."""
    west, south, east, north = box_in_metres(municipality)
    x0, y0, x1, y1 = shapely.bounds(outline)
    beyond = max(west - x0, south - y0, x1 - east, y1 - north)
    if beyond <= 0:
        return
    to_degrees = Transformer.from_crs(municipality.crs, "EPSG:4674", always_xy=True)
    box = np.array(to_degrees.transform_bounds(x0, y0, x1, y1, densify_pts=21))
    fitting = ", ".join(f"{v:.4f}" for v in np.array([*np.floor(box[:2] * 1e4), *np.ceil(box[2:] * 1e4)]) / 1e4)
    raise InputError(
        f"The boundary in {name} reaches {beyond:,.0f} m beyond the box and margin of {municipality.name} in "
        f"geobill.toml: one of the two is wrong, and the box decides where coordinate systems are looked for. "
        f"If the file is right, write bbox = [{fitting}]."
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
