"""Stretches of lines, cut by distance: every vertex between the cuts stays where it is."""

import numpy as np
import shapely
from numpy.typing import NDArray

from geobill.detection.intervals import Floats, Ints, counted

_ON_VERTEX_M = 1e-6


def stretches(lines: NDArray[np.object_], line: Ints, start_m: Floats, end_m: Floats) -> NDArray[np.object_]:
    """Cut LineStrings out of lines.

    Parameters
    ----------
    lines : array of LineString
    line : array of int
        Position of the line that each stretch is cut from.
    start_m, end_m : array of float
        Distances along it.
    """
    if not len(line):
        return np.zeros(0, dtype=object)
    used, line = np.unique(line, return_inverse=True)
    lines = lines[used]
    start_m = np.maximum(start_m, 0.0)  # GEOS counts a negative distance from the other end
    xy, of = shapely.get_coordinates(lines, return_index=True)
    step = np.r_[0.0, np.hypot(*np.diff(xy, axis=0).T)]
    first = np.flatnonzero(np.r_[True, np.diff(of) != 0])
    step[first] = 1.0  # a metre between lines, so that one scale serves all
    scale = np.cumsum(step)
    start, end = scale[first][line] + start_m, scale[first][line] + end_m
    low = np.searchsorted(scale, start + _ON_VERTEX_M, side="right")
    high = np.searchsorted(scale, end - _ON_VERTEX_M, side="left")
    between = np.maximum(high - low, 0)
    size = between + 2
    which = np.repeat(np.arange(len(line)), size)
    rank = counted(size)
    out = np.empty((len(which), 2))
    inner = (rank > 0) & (rank < size[which] - 1)
    out[inner] = xy[(low[which] + rank - 1)[inner]]
    out[rank == 0] = shapely.get_coordinates(shapely.line_interpolate_point(lines[line], start_m))
    out[rank == size[which] - 1] = shapely.get_coordinates(shapely.line_interpolate_point(lines[line], end_m))
    return shapely.linestrings(out, indices=which)
