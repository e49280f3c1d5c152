"""The area that a court's order names: polygons of somebody's file, carried into the workspace's system as one."""

import geopandas as gpd
import numpy as np
import shapely

from geobill.domain.finding import Finding
from geobill.domain.network import Municipality
from geobill.errors import InputError
from geobill.intake.ground import inside
from geobill.intake.reader import Layer
from geobill.intake.reading import Options, Part
from geobill.intake.rows import prepare
from geobill.intake.zones import merge, repair_zones


def read_area(layer: Layer, crs: str | None, municipality: Municipality) -> tuple[str, tuple[Finding, ...]]:
    """Read polygons as one area, all of them or none.

    Parameters
    ----------
    layer : Layer
        From `reader.read_layer`.
    crs : str or None
        System of the file, where it doesn't say it.
    municipality : Municipality
        Each polygon must touch it.

    Returns
    -------
    tuple
        Well-known text in the workspace's system, and what a person should know of the file.

    Raises
    ------
    InputError
        If there is no polygon, one can't be used, or one lies outside the municipality: an order that covers less than
        the file says would have the city hall demand what a court forbids.
    """
    name = layer.path.name
    rows = prepare([Part(layer, Options(crs=crs))], municipality, (), "zone", None)
    frame = gpd.GeoDataFrame({"geometry": rows.geometry}, crs=municipality.crs)
    frame = frame.assign(source_row=range(1, len(rows) + 1), zone=rows.ids, land_value="1")
    zones, refused, repairs = repair_zones(frame)
    if refused:
        first = refused[0]
        raise InputError(
            f"Row {first.row} of {name} can't be used as an area ({first.reason_code}: {first.reason.replace('zone', 'area')}) "
            "The order would cover less than the file says. Nothing was changed: draw the area as polygons and try again."
        )
    if not len(zones):
        raise InputError(
            f"{name} has no polygon: an order over no ground would suspend nothing. Nothing was changed: draw the area as "
            "polygons, or leave --area out for the whole network."
        )
    outside = np.flatnonzero(~inside(zones.geometry.to_numpy(), municipality))
    if len(outside):
        raise InputError(
            f"Row {int(zones['source_row'].iloc[outside[0]])} of {name} lies outside {municipality.name}: no equipment of this "
            "workspace stands there. Is it the right file, in the right system (--crs)? Nothing was changed."
        )
    findings = (*rows.findings, *repairs)
    return shapely.to_wkt(merge(list(zones.geometry)), rounding_precision=-1), findings
