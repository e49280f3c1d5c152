"""One-to-one assignment: as many pairs as possible, and among those the least total cost.

Only rows that candidates join, directly or through others, decide on each other. Such groups are solved exactly (Jonker and
Volgenant 1987 for sparse candidates, as scipy has it), small ones some hundred at a time: a call costs more than they do.
A group of 20,000 rows that all hang together takes about three seconds, and time grows with the square of it.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import connected_components, min_weight_full_bipartite_matching

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_AT_ONCE = 1_000  # candidate pairs of small groups in one call


def assign(one: Ints, other: Ints, cost: Floats) -> Ints:
    """Choose among candidate pairs, so that each row is in at most one.

    Parameters
    ----------
    one, other : array of int
        Row on each side of every candidate pair; a pair stands once.
    cost : array of float
        What each pair costs, 0 or more.

    Returns
    -------
    array of int
        Positions of the chosen pairs, in order. Among choices that are as good the rows' numbers decide, always alike.

    Examples
    --------
    >>> assign(np.array([0, 0, 1]), np.array([0, 1, 0]), np.array([0.0, 1.0, 5.0])).tolist()  # two pairs before one cheap pair
    [1, 2]
    """
    if not len(one):
        return np.zeros(0, dtype=np.int64)
    mine, a = np.unique(one, return_inverse=True)
    others, b = np.unique(other, return_inverse=True)
    size = len(mine) + len(others)
    graph = coo_array((np.ones(len(a), dtype=bool), (a, len(mine) + b)), shape=(size, size))
    group = connected_components(graph, directed=False)[1][a]
    alone = _only_one(group, a) | _only_one(group, b)
    chosen = [_cheapest(np.flatnonzero(alone), group, cost, a, b)]
    rest = np.flatnonzero(~alone)
    rest = rest[np.lexsort((b[rest], a[rest], group[rest]))]
    if len(rest):
        first = np.flatnonzero(np.r_[True, np.diff(group[rest]) != 0])
        batch = np.flatnonzero(np.r_[True, np.diff(first // _AT_ONCE) > 0])
        for pairs in np.split(rest, first[batch][1:]):
            chosen.append(pairs[_solved(a[pairs], b[pairs], cost[pairs])])
    return np.sort(np.concatenate(chosen))


def _only_one(group: Ints, row: Ints) -> NDArray[np.bool_]:
    """Whether each pair's group has a single row on one side."""
    low, high = np.full(int(group.max()) + 1, np.iinfo(np.int64).max), np.full(int(group.max()) + 1, -1)
    np.minimum.at(low, group, row)
    np.maximum.at(high, group, row)
    return (low == high)[group]


def _cheapest(pairs: Ints, group: Ints, cost: Floats, a: Ints, b: Ints) -> Ints:
    """Return the cheapest pair of each group."""
    best = pairs[np.lexsort((b[pairs], a[pairs], cost[pairs], group[pairs]))]
    return best[np.unique(group[best], return_index=True)[1]]


def _solved(a: Ints, b: Ints, cost: Floats) -> Ints:
    """Positions of the chosen pairs of some groups."""
    mine, a = np.unique(a, return_inverse=True)
    others, b = np.unique(b, return_inverse=True)
    n, m = len(mine), len(others)
    none = (float(cost.max()) + 2.0) * (min(n, m) + 1)  # dearer than all pairs together: a pair more is always worth it
    stays = np.arange(n)  # each row may also stay alone, in a column of its own
    candidates = csr_array(
        # a cost of 0 would be no candidate: all cost one more
        (np.r_[cost + 1.0, np.full(n, none)], (np.r_[a, stays], np.r_[b, m + stays])),
        shape=(n, m + n),
    )
    rows, columns = min_weight_full_bipartite_matching(candidates)
    rows, columns = rows[columns < m], columns[columns < m]
    which = csr_array((np.arange(1, len(a) + 1), (a, b)), shape=(n, m))
    return np.asarray(which[rows, columns]).reshape(-1).astype(np.int64) - 1
