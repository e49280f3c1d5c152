"""Value maps that aren't areas: faces of blocks and stretches of street (lines), points of a valuation.

Each becomes a zone as thin as a pencil line, so that the street's metres are given to the nearest one within the policy
``max_gap_m`` by the same exact cut that shares out the gaps between polygons. What a line or point says holds on both
sides of it; where a street has a value for either side, the two meet on the line, and what runs along it is on their
border (policy ``on_border``).
"""

import numpy as np
import shapely

HALF_WIDTH_M = 0.005  # a third of the tolerance of a border (0.015 m): no metre changes its zone for it
SIDE_WIDTH_M = 0.05  # more than distances may differ by and count as equal (0.03 m): the nearer side is the nearer zone


def thin_zones(geometry: np.ndarray) -> np.ndarray:
    """Turn lines and points into polygons one centimetre wide around them.

    Parameters
    ----------
    geometry : array of Point, MultiPoint, LineString or MultiLineString
        In metres.

    Returns
    -------
    array of Polygon or MultiPolygon
    """
    return shapely.buffer(geometry, HALF_WIDTH_M, cap_style="flat" if _has_lines(geometry) else "square", quad_segs=2)


def thin_sides(lines: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Turn lines into a polygon five centimetres wide on the left of each, in the direction it is drawn in, and one on the right.

    Parameters
    ----------
    lines : array of LineString or MultiLineString
        In metres.

    Returns
    -------
    tuple of array of Polygon or MultiPolygon
        The left sides and the right sides; both end on the line itself.
    """
    left = shapely.buffer(lines, SIDE_WIDTH_M, single_sided=True, join_style="mitre")
    return left, shapely.buffer(lines, -SIDE_WIDTH_M, single_sided=True, join_style="mitre")


def _has_lines(geometry: np.ndarray) -> bool:
    return bool(np.isin(shapely.get_type_id(geometry), (1, 5)).any())
