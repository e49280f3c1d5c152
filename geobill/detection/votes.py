"""Votes for vectors: which shifts many places agree on (Hough 1962)."""

import numpy as np
from scipy.ndimage import maximum_filter, uniform_filter

from geobill.detection.intervals import Floats, Ints

_CANDIDATES = 12


def most_voted(place: Ints, vector: Floats, farthest_m: float, cell_m: float) -> list[Floats]:
    """Return the vectors that most places vote for, the most first; each place has one vote for a cell.

    Parameters
    ----------
    place : array of int
        Who votes.
    vector : array, n × 2
        For what, in metres; none is longer than ``farthest_m``.
    farthest_m, cell_m : float
        How far the votes reach, and the side of a cell, in metres: votes count for their cell and those around it.
    """
    side = 2 * int(farthest_m / cell_m) + 3
    column, row = np.floor(vector.T / cell_m + side / 2).astype(np.int64)
    once = np.unique((place * side + column) * side + row)
    votes = np.bincount(once % (side * side), minlength=side * side).reshape(side, side).astype(float)
    votes = uniform_filter(votes, 3, mode="constant")
    peaks = np.flatnonzero((votes == maximum_filter(votes, 5)) & (votes > 0))
    best = peaks[np.argsort(-votes.ravel()[peaks], kind="stable")[:_CANDIDATES]]
    return [(np.array(np.unravel_index(p, votes.shape)) + 0.5 - side / 2) * cell_m for p in best]
