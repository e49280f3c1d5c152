"""Between the workspace's system and the web map's: for drawing and for what is pointed at, never for what is charged."""

import math
from collections.abc import Callable
from decimal import Decimal
from functools import cache
from typing import Any

import numpy as np
import shapely
from pyproj import Transformer

from geobill.domain.network import Municipality
from geobill.frames import plan_lengths, whole_units

EARTH_RADIUS_M = 6378137.0  # of EPSG:3857, the system that tiles are cut in
CENTIMETRE = Decimal("0.01")


@cache
def _transformer(srid: int) -> Transformer:
    return Transformer.from_crs(srid, 4326, always_xy=True)


def to_degrees(shapes: Any, srid: int) -> np.ndarray:
    """Return planar shapes (workspace's system, metres) in longitude and latitude (WGS 84, degrees)."""
    return _moved(shapes, lambda x, y: _transformer(srid).transform(x, y))


def to_tiles(shapes: Any, srid: int) -> np.ndarray:
    """Return planar shapes in the system of web map tiles (EPSG:3857), by way of the degrees of :func:`to_degrees`."""

    def move(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        lon, lat = _transformer(srid).transform(x, y)
        north = np.log(np.tan(np.pi / 4 + np.radians(lat) / 2))
        return np.radians(lon) * EARTH_RADIUS_M, north * EARTH_RADIUS_M

    return _moved(shapes, move)


def from_degrees(vertices: np.ndarray, srid: int) -> np.ndarray:
    """Return pairs of longitude and latitude in the workspace's system: the way back of :func:`to_degrees`."""
    return np.column_stack(_transformer(srid).transform(vertices[:, 0], vertices[:, 1], direction="INVERSE"))


def is_near(vertices: np.ndarray, place: Municipality) -> bool:
    """Say whether pairs of longitude and latitude lie in a municipality, or no farther from it than it is wide.

    Beyond, its projected system measures nothing that anybody could use.
    """
    west, south, east, north = place.bbox
    far = max(east - west, north - south)
    x, y = vertices[:, 0], vertices[:, 1]
    return bool(((x > west - far) & (x < east + far) & (y > south - far) & (y < north + far)).all())


def measure(corners: np.ndarray) -> tuple[list[Decimal], Decimal, Decimal | None]:
    """Measure the legs between some places (workspace's system) as lengths are measured: each to the centimetre.

    Returns
    -------
    list of Decimal, Decimal, Decimal or None
        Metres of each leg, of all in one, and the square metres within where the legs enclose a plain polygon.
    """
    if len(corners) < 2:
        return [], Decimal("0.00"), None
    legs = shapely.linestrings(np.stack([corners[:-1], corners[1:]], axis=1))
    lengths = [_hundredths(whole) for whole in whole_units(plan_lengths(legs), CENTIMETRE)]
    total = _hundredths(whole_units(plan_lengths([shapely.LineString(corners)]), CENTIMETRE)[0])
    drawn = shapely.Polygon(corners) if len(corners) > 2 else shapely.Polygon()
    enclosed = drawn.area > 0 and shapely.is_valid(drawn)
    return lengths, total, _hundredths(math.floor(drawn.area * 100 + 0.5)) if enclosed else None


def _hundredths(whole: Any) -> Decimal:
    return Decimal(int(whole)).scaleb(-2)


def _moved(shapes: Any, move: Callable[[np.ndarray, np.ndarray], Any]) -> np.ndarray:
    array = np.atleast_1d(np.asarray(shapes, dtype=object))

    def each(xy: np.ndarray) -> np.ndarray:
        return np.column_stack(move(xy[:, 0], xy[:, 1]))

    return np.asarray(shapely.transform(array, each), dtype=object)
