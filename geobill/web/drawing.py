"""What was drawn on the map by a reviewer's hand: checked, and brought into the system that metres are measured in."""

import json
from decimal import Decimal

import numpy as np
import shapely

from geobill.pipeline.map_place import from_degrees, is_near
from geobill.store.workspace import Workspace
from geobill.web.refusals import PageError

MOST_VERTICES = 500
UNCHANGED = "Nada foi mudado."
REDRAW = "Desenhe de novo no mapa."


def read_vertices(text: str, workspace: Workspace) -> np.ndarray:
    """Read ``[[longitude, latitude], …]`` as places in the workspace's system, in metres.

    Raises
    ------
    PageError
        If it is anything else, has too many vertices, or lies far from the municipality.
    """
    try:
        given = json.loads(text, parse_constant=_no_constant)
        if not isinstance(given, list):
            raise TypeError(given)
        pairs = np.array([[_degrees(lon), _degrees(lat)] for lon, lat in given], dtype=float).reshape(-1, 2)
    except (ValueError, TypeError, RecursionError):
        raise PageError("O desenho não traz pares de longitude e latitude.", UNCHANGED, REDRAW) from None
    if len(pairs) > MOST_VERTICES:
        raise PageError(f"O desenho tem {len(pairs)} vértices; o limite é {MOST_VERTICES}.", UNCHANGED, REDRAW)
    place = workspace.settings.municipality
    if not is_near(pairs, place):
        raise PageError("O desenho sai do município e dos arredores.", UNCHANGED, REDRAW)
    return from_degrees(pairs, place.srid)


def read_area(text: str, workspace: Workspace) -> shapely.Polygon:
    """Read the outline of an area: a plain polygon in the workspace's system.

    Raises
    ------
    PageError
        If it can't be read, has less than three corners, or crosses itself.
    """
    corners = read_vertices(text, workspace)
    if len(corners) < 3:
        raise PageError("Uma área precisa de três vértices ou mais.", UNCHANGED, REDRAW)
    area = shapely.Polygon(corners)
    if not shapely.is_valid(area) or area.area == 0:
        raise PageError("O contorno da área cruza a si mesmo, ou não cerca nada.", UNCHANGED, REDRAW)
    return area


def hectares(square_metres: Decimal) -> Decimal:
    """Return an area in hectares, to a hundredth."""
    return (square_metres / 10_000).quantize(Decimal("0.01"))


def _degrees(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not abs(value) <= 180:
        raise ValueError(value)
    return float(value)


def _no_constant(name: str) -> float:
    raise ValueError(name)
