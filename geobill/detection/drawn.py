"""Rows as the plain lines that they are made of, taken apart once."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import shapely
from numpy.typing import NDArray

from geobill.detection.intervals import Floats, Ints


@dataclass(frozen=True)
class Drawn:
    """Parts (LineString, two-dimensional, longer than nothing) of lines, those of a row together.

    ``offset`` is where each begins along its row's line, in metres.
    """

    parts: NDArray[np.object_]
    row: Ints
    length: Floats
    offset: Floats
    row_length: Floats  # by row

    @cached_property
    def tree(self) -> shapely.STRtree:
        """Index of the parts."""
        return shapely.STRtree(self.parts)


def drawn(lines: NDArray[np.object_]) -> Drawn:
    """Take lines (LineString or MultiLineString, metres) apart; null and empty ones have no part."""
    parts, row = shapely.get_parts(shapely.force_2d(lines), return_index=True)
    length = shapely.length(parts)
    real = length > 0
    parts, row, length = parts[real], row[real].astype(np.int64), length[real]
    before = np.cumsum(length) - length
    row_length = np.bincount(row, length, minlength=len(lines))
    return Drawn(parts, row, length, before - before[np.searchsorted(row, row)], row_length)
