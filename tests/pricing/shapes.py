"""Hand-made maps and networks for the tests of cutting and pricing; metres, EPSG:31983."""

import geopandas as gpd
import numpy as np
import shapely
from shapely import affinity

ORIGIN = (322000.0, 7416000.0)


def box(x0, y0, x1, y1):
    """Rectangle in metres from the origin of the tests."""
    return shapely.box(ORIGIN[0] + x0, ORIGIN[1] + y0, ORIGIN[0] + x1, ORIGIN[1] + y1)


def line(*xy):
    """Line through points in metres from the origin of the tests."""
    return shapely.LineString([(ORIGIN[0] + x, ORIGIN[1] + y) for x, y in xy])


def turn(geometry, angle, rounded=None):
    """Turn about the origin of the tests, and round coordinates to so many metres."""
    turned = affinity.rotate(geometry, angle, origin=ORIGIN)
    if rounded is None:
        return turned
    return shapely.transform(turned, lambda xy: np.round(xy / rounded) * rounded)


def zone_frame(*zones):
    """Zones from (name, value, polygon)."""
    names, values, shapes = zip(*zones, strict=True)
    data = {"source_row": range(1, len(zones) + 1), "zone": names, "land_value": [str(v) for v in values]}
    return gpd.GeoDataFrame(data, geometry=list(shapes), crs=31983)


def line_frame(*lines):
    """Segments S1, S2 … from lines."""
    return gpd.GeoDataFrame({"segment": [f"S{n}" for n in range(1, len(lines) + 1)]}, geometry=list(lines), crs=31983)
