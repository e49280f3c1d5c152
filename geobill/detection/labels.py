"""What a line says as a whole, where its metres contradict each other: the labelling with the least contradiction.

Along a line, stretches that speak for it ("hit") and against it ("miss") take turns. The labelling chosen is the one that
contradicts the fewest (weighted) metres, where each end of a miss costs half the minimum length: short gaps are closed and
short islands dropped, in one step and in no order. It is found exactly (Viterbi 1967), all lines at once.
"""

import numpy as np
from numpy.typing import NDArray

from geobill.detection.intervals import Floats, Ints

_TIE = 1e-6  # a miss of just the minimum length is one


def smoothed(line: Ints, hit: NDArray[np.bool_], weight: Floats, min_length_m: float) -> NDArray[np.bool_]:
    """Label stretches that stand in order on lines: True for hit.

    Parameters
    ----------
    line : array of int
        Line of each stretch; those of one line stand together, in order.
    hit : array of bool
        What each stretch says.
    weight : array of float
        How many metres it says it with.
    min_length_m : float
        A miss between hits, or a whole line of it, stands from this length on; so does a hit between misses.

    Examples
    --------
    >>> line, hit = np.zeros(5, dtype=int), np.array([True, False, True, False, True])
    >>> smoothed(line, hit, np.array([40.0, 3.0, 9.0, 30.0, 2.0]), 5.0).tolist()
    [True, True, True, False, True]
    >>> smoothed(line, hit, np.array([40.0, 30.0, 3.0, 30.0, 40.0]), 5.0).tolist()
    [True, False, False, False, True]
    """
    count = len(line)
    if not count:
        return np.zeros(0, dtype=bool)
    step = (min_length_m - _TIE) / 2
    first = np.flatnonzero(np.r_[True, np.diff(line) != 0])
    size = np.diff(np.r_[first, count])
    longest_first = np.argsort(-size, kind="stable")
    first, size = first[longest_first], size[longest_first]
    as_hit, as_miss = np.where(hit, 0.0, weight), np.where(hit, weight, 0.0)
    from_miss = np.zeros((count, 2), dtype=bool)  # by label of the stretch: the label before it is miss
    cost_hit, cost_miss = as_hit[first].copy(), as_miss[first] + step
    going = [len(first)]
    for k in range(1, int(size[0])):
        n = int(np.searchsorted(-size, -k, side="left"))  # lines of more than k stretches
        going.append(n)
        i = first[:n] + k
        h, m = cost_hit[:n], cost_miss[:n]
        from_miss[i, 0], from_miss[i, 1] = m + step < h, m <= h + step
        cost_hit[:n], cost_miss[:n] = (
            np.minimum(h, m + step) + as_hit[i],
            np.minimum(m, h + step) + as_miss[i],
        )
    miss = cost_miss + step <= cost_hit
    found = np.empty(count, dtype=bool)
    for k in range(int(size[0]) - 1, -1, -1):
        n = going[k]
        i = first[:n] + k
        found[i] = ~miss[:n]
        if k:
            miss[:n] = from_miss[i, miss[:n].astype(int)]
    return found
