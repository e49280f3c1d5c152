"""Lines joined end to end, as straight edges on one scale: where a file cuts its lines then changes nothing.

A chain is what a person would call one line: parts that meet end to end and carry on, each part once, whichever way it
was drawn. All edges of all chains stand on one scale of metres ``t``; no two places of any line share a ``t``.
"""

from dataclasses import dataclass, replace

import numpy as np
import shapely
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree

from geobill.detection.drawn import Drawn
from geobill.detection.intervals import Floats, Ints
from geobill.errors import InputError

JOINED_M = 0.02  # ends nearer than this are one node
_MOST_MEETING = 50_000_000  # pairs of ends: memory would run out
_MOST_AT_A_NODE = 12  # where more ends meet, no line carries on through
_TURNS_BACK = -0.5  # cosine: two ends alone at a node are one line unless it would turn by more than 120 degrees
_CARRIES_ON = 0.5  # … among more ends, unless it would turn by more than 60
_BY_EDGE = ("begin", "way", "length", "at", "part", "heading", "chord")
_APART = 10.0  # metres of scale between two chains
_KINDS_APART = 1_000.0  # metres of height between kinds that aren't to be joined


@dataclass(frozen=True)
class Chains:
    """Straight edges in the order of their chains, and the parts of lines that they came from.

    ``way`` leads from an edge's ``begin`` to its end, in the chain's direction. ``heading`` is the unit vector of the
    simplified line at the edge, ``chord`` the length of that straight piece: a tiny crooked edge has the direction of what
    it is part of. All in metres.
    """

    begin: Floats
    way: Floats
    length: Floats
    at: Floats  # t of each edge's begin
    part: Ints
    heading: Floats
    chord: Floats
    part_row: Ints  # by part: position of the line in the input
    part_chain: Ints
    part_at: Floats  # the lower t
    part_length: Floats
    part_offset: Floats  # where the part begins along its row's line
    part_forward: NDArray[np.bool_]  # drawn in the chain's direction
    chain_from: Floats
    chain_to: Floats

    def __len__(self) -> int:
        return len(self.length)

    @property
    def boxes(self) -> tuple[Floats, Floats]:
        """Lower and upper corners of the edges."""
        end = self.begin + self.way
        return np.minimum(self.begin, end), np.maximum(self.begin, end)

    def only(self, edges: NDArray[np.bool_]) -> "Chains":
        """Keep some edges; the scale stays."""
        kept = {name: getattr(self, name)[edges] for name in _BY_EDGE}
        return replace(self, **kept)

    def chain_of(self, t: Floats) -> Ints:
        """Chain on which each place lies."""
        return np.searchsorted(self.chain_from, t, side="right") - 1


def chains_of(lines: Drawn, kinds: Ints, crooked_m: float) -> Chains:
    """Join lines of one kind end to end and take them apart into edges.

    Parameters
    ----------
    lines : Drawn
    kinds : array of int
        By row: only parts of one kind are joined.
    crooked_m : float
        What lies within this distance of a straight line is straight (Douglas and Peucker 1973, as GEOS has it).
    """
    parts, row = lines.parts, lines.row
    chain, order, forward = _chain_up(parts, np.asarray(kinds, dtype=np.int64)[row], 2 * crooked_m)
    xy, of_part, chain_of_vertex = _vertices(parts, chain, order, forward)
    way = np.diff(xy, axis=0)
    length = np.hypot(way[:, 0], way[:, 1])
    is_edge = (of_part[1:] == of_part[:-1]) & (length > 0)
    vertex = np.flatnonzero(is_edge)
    length, way, part = length[vertex], way[vertex], of_part[vertex]
    chain_of_edge = chain_of_vertex[vertex]
    at = np.cumsum(length) - length + _APART * chain_of_edge
    heading, chord = _headings(xy, chain_of_vertex, vertex, way, length, crooked_m)
    count = len(parts)
    part_at = np.full(count, np.inf)
    np.minimum.at(part_at, part, at)
    chains = int(chain.max()) + 1 if count else 0
    chain_from, chain_to = np.full(chains, np.inf), np.full(chains, -np.inf)
    np.minimum.at(chain_from, chain_of_edge, at)
    np.maximum.at(chain_to, chain_of_edge, at + length)
    part_length = np.bincount(part, length, minlength=count)
    return Chains(
        xy[:-1][vertex], way, length, at, part, heading, chord,
        row, chain, part_at, part_length, lines.offset, forward, chain_from, chain_to,
    )  # fmt: skip


def _chain_up(parts: NDArray[np.object_], kind: Ints, look_m: float) -> tuple[Ints, Ints, NDArray[np.bool_]]:
    """Chain of each part, all parts in the order of their chains, and whether each is drawn in its chain's direction."""
    count = len(parts)
    ends = np.empty((2 * count, 2))  # 2 p is the first end of part p, 2 p + 1 its last
    ends[0::2] = shapely.get_coordinates(shapely.get_point(parts, 0))
    ends[1::2] = shapely.get_coordinates(shapely.get_point(parts, -1))
    inward = np.empty((2 * count, 2))
    inward[0::2] = shapely.get_coordinates(shapely.line_interpolate_point(parts, look_m)) - ends[0::2]
    inward[1::2] = shapely.get_coordinates(shapely.line_interpolate_point(parts, -look_m)) - ends[1::2]
    size = np.hypot(inward[:, 0], inward[:, 1])
    inward /= np.where(size > 0, size, 1.0)[:, None]
    partner = _partners(_nodes(ends, np.repeat(kind, 2)), inward).tolist()
    chain, order, forward = [-1] * count, [], [True] * count
    number = 0
    # a ring has no end to begin at: what is left after all open chains
    starts = [e for e in range(2 * count) if partner[e] < 0] + list(range(0, 2 * count, 2))
    for start in starts:
        if chain[start // 2] >= 0:
            continue
        end = start
        while end >= 0 and chain[end // 2] < 0:
            chain[end // 2] = number
            order.append(end // 2)
            forward[end // 2] = end % 2 == 0
            end = partner[end ^ 1]
        number += 1
    return np.array(chain, dtype=np.int64), np.array(order, dtype=np.int64), np.array(forward, dtype=bool)


def _nodes(ends: Floats, kind: Ints) -> Ints:
    """Node of each end."""
    if not len(ends):
        return np.zeros(0, dtype=np.int64)
    places, place = np.unique(np.c_[ends, kind * _KINDS_APART], axis=0, return_inverse=True)
    tree = cKDTree(places)
    if tree.count_neighbors(tree, JOINED_M) > _MOST_MEETING:
        raise InputError(
            f"So many lines end within {JOINED_M * 100:g} cm of one another that none can be told from the next: that is a fault of "
            "the file. Nothing was changed. Look at it with geobill inspect."
        )
    pairs = tree.query_pairs(JOINED_M, output_type="ndarray")
    graph = coo_array((np.ones(len(pairs), dtype=bool), (pairs[:, 0], pairs[:, 1])), shape=(len(places), len(places)))
    return connected_components(graph, directed=False)[1].astype(np.int64)[place.reshape(-1)]


def _partners(node: Ints, inward: Floats) -> Ints:
    """End in which each end carries on, -1 for none: at each node the straightest two first."""
    partner = np.full(len(node), -1, dtype=np.int64)
    meeting = np.bincount(node)[node] if len(node) else node
    by_node = np.argsort(node, kind="stable")
    by_node = by_node[(meeting[by_node] > 1) & (meeting[by_node] <= _MOST_AT_A_NODE)]
    one, two = [], []
    for apart in range(1, _MOST_AT_A_NODE):
        here = np.flatnonzero(node[by_node[apart:]] == node[by_node[:-apart]]) if apart < len(by_node) else []
        if not len(here):
            break
        one.append(by_node[:-apart][here])
        two.append(by_node[apart:][here])
    if not one:
        return partner
    a, b = np.concatenate(one), np.concatenate(two)
    straight = -np.sum(inward[a] * inward[b], axis=1)
    fits = (straight > np.where(meeting[a] == 2, _TURNS_BACK, _CARRIES_ON)) & (a // 2 != b // 2)
    a, b, straight = a[fits], b[fits], straight[fits]
    while len(a):
        best = np.full(len(node), -np.inf)
        np.maximum.at(best, a, straight)
        np.maximum.at(best, b, straight)
        both = np.flatnonzero((straight == best[a]) & (straight == best[b]))
        # of equal ones each end takes one
        both = both[np.unique(a[both], return_index=True)[1]]
        both = both[np.unique(b[both], return_index=True)[1]]
        both = both[~np.isin(a[both], b[both])]
        partner[a[both]], partner[b[both]] = b[both], a[both]
        free = (partner[a] < 0) & (partner[b] < 0)
        if not len(both):
            break
        a, b, straight = a[free], b[free], straight[free]
    return partner


def _vertices(
    parts: NDArray[np.object_], chain: Ints, order: Ints, forward: NDArray[np.bool_]
) -> tuple[Floats, Ints, Ints]:
    """Vertices in the order of chains, with the part and the chain of each."""
    xy = shapely.get_coordinates(parts)
    count = shapely.get_num_coordinates(parts).astype(np.int64)
    first = np.cumsum(count) - count
    size = count[order]
    of_part = np.repeat(order, size)
    rank = np.arange(len(of_part)) - np.repeat(np.cumsum(size) - size, size)
    take = np.where(forward[of_part], first[of_part] + rank, first[of_part] + count[of_part] - 1 - rank)
    return xy[take], of_part, chain[of_part]


def _headings(
    xy: Floats, chain: Ints, vertex: Ints, way: Floats, length: Floats, crooked_m: float
) -> tuple[Floats, Floats]:
    """Direction and length of the straight piece of the simplified chain over each edge (which begins at ``vertex``)."""
    if not len(vertex):
        return np.zeros((0, 2)), np.zeros(0)
    numbered = shapely.linestrings(np.c_[xy, np.arange(len(xy))], indices=chain)  # a height tells which vertex stayed
    plain = shapely.simplify(numbered, crooked_m, preserve_topology=False)
    kept = shapely.get_coordinates(plain, include_z=True)[:, 2].astype(np.int64)
    over = np.searchsorted(kept, vertex, side="right") - 1
    piece = xy[kept[over + 1]] - xy[kept[over]]
    chord = np.hypot(piece[:, 0], piece[:, 1])
    closed = chord < crooked_m  # a small ring folds up to nothing: its edges speak for themselves
    chord = np.where(closed, length, chord)
    return np.where(closed[:, None], way, piece) / chord[:, None], chord
