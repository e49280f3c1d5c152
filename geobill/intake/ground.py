"""The municipality's ground: its boundary where the workspace has one, else its box; each with the margin around it."""

from functools import lru_cache

import numpy as np
import shapely
from pyproj import Transformer

from geobill.domain.network import Municipality


@lru_cache(maxsize=16)
def box_in_metres(municipality: Municipality) -> tuple[float, float, float, float]:
    """Return the municipality's box with its margin, in the workspace's system."""
    west, south, east, north = _box(municipality)
    m = municipality.margin_m
    return west - m, south - m, east + m, north + m


@lru_cache(maxsize=16)
def ground_of(municipality: Municipality) -> shapely.Geometry:
    """Return the boundary (else the box) with its margin, in the workspace's system, ready for many questions."""
    if municipality.boundary_wkb is None:
        ground = shapely.box(*box_in_metres(municipality))
    else:
        ground = shapely.buffer(shapely.from_wkb(municipality.boundary_wkb), municipality.margin_m)
    shapely.prepare(ground)
    return ground


@lru_cache(maxsize=16)
def _box(municipality: Municipality) -> tuple[float, float, float, float]:
    to_workspace = Transformer.from_crs("EPSG:4674", municipality.crs, always_xy=True)
    return to_workspace.transform_bounds(*municipality.bbox, densify_pts=21)


def inside(geometry: np.ndarray, municipality: Municipality) -> np.ndarray:
    """Whether each geometry reaches into the municipality's ground; False for what has no place."""
    reaches = _meets(shapely.bounds(geometry), box_of_ground(municipality))
    if municipality.boundary_wkb is not None:
        at = np.flatnonzero(reaches)
        reaches[at] = shapely.intersects(ground_of(municipality), geometry[at])
    return reaches


def bounds_inside(bounds: np.ndarray, municipality: Municipality) -> np.ndarray:
    """Whether each row of (minx, miny, maxx, maxy) in metres reaches into the ground; False where one isn't finite."""
    reaches = _meets(bounds, box_of_ground(municipality))
    if municipality.boundary_wkb is not None:
        at = np.flatnonzero(reaches)
        reaches[at] = shapely.intersects(ground_of(municipality), shapely.box(*bounds[at].T))
    return reaches


def box_of_ground(municipality: Municipality) -> tuple[float, float, float, float]:
    """Bounds of the municipality's ground in the workspace's system, in metres."""
    if municipality.boundary_wkb is None:
        return box_in_metres(municipality)
    return tuple(map(float, shapely.bounds(ground_of(municipality))))  # type: ignore[return-value]


def reach_beyond(geometry: np.ndarray, municipality: Municipality) -> np.ndarray:
    """How far each row reaches beyond the municipality's ground, in metres; 0 within it or without a place."""
    west, south, east, north = box_of_ground(municipality)
    x0, y0, x1, y1 = shapely.bounds(geometry).T
    reach = np.nan_to_num(
        np.max([west - x0, south - y0, x1 - east, y1 - north, np.zeros(len(x0))], axis=0), posinf=1e308
    )
    if municipality.boundary_wkb is None:
        return reach
    at = _astride(geometry, municipality)
    xy, row = shapely.get_coordinates(geometry[at], return_index=True)
    farthest = np.zeros(
        len(at)
    )  # of a straight piece one end lies farthest out, but for what a bay of the border hides
    np.maximum.at(farthest, row, shapely.distance(ground_of(municipality), shapely.points(xy)))
    reach[at] = np.maximum(reach[at], np.maximum(farthest, 0.01))
    return reach


def metres_beyond(geometry: np.ndarray, municipality: Municipality) -> np.ndarray:
    """Length of each row that lies beyond the municipality's ground, in metres; 0 within it or without a place."""
    metres = np.zeros(len(geometry))
    at = _astride(geometry, municipality)
    metres[at] = shapely.length(shapely.difference(geometry[at], ground_of(municipality)))
    return metres


def kilometres_away(x: float, y: float, municipality: Municipality) -> float:
    """Distance of a place in the workspace's system from the municipality's ground, in kilometres."""
    return float(shapely.distance(ground_of(municipality), shapely.Point(x, y))) / 1000


def _astride(geometry: np.ndarray, municipality: Municipality) -> np.ndarray:
    """Positions of what is placed and not wholly within the ground."""
    bounds = shapely.bounds(geometry)
    finite = np.isfinite(bounds).all(axis=1)
    xy, row = shapely.get_coordinates(geometry, return_index=True)
    finite[row[~np.isfinite(xy).all(axis=1)]] = False
    at = np.flatnonzero(finite)
    return at[~shapely.covers(ground_of(municipality), geometry[at])]


def _meets(bounds: np.ndarray, box: tuple[float, float, float, float]) -> np.ndarray:
    west, south, east, north = box
    x0, y0, x1, y1 = bounds.T
    return np.isfinite(bounds).all(axis=1) & (x1 >= west) & (x0 <= east) & (y1 >= south) & (y0 <= north)
