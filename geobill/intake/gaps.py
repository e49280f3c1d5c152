"""Gaps of a value map drawn: the border lines between nearest zones, by samples moved onto the true equidistant line.

A drawing, true to 0.1 m; the metres of a network in a gap are cut exactly by ``geobill.pricing.nearest``.
"""

from collections import defaultdict
from typing import NamedTuple

import numpy as np
import shapely
from scipy.spatial import Delaunay

from geobill.intake.zones import foreign_distance, merge, nearest_owner

REACH_ERROR_M = 0.01  # of the arcs of the gap's outline
SAMPLING_ERROR_M = 0.3  # of the first draft of a border, which is then moved to where it should be
SHORTEST_SPACING_M = 0.3
SMOOTHING_M = 0.02
CRACK_M, CRACK_SPACING_M = 0.1, 2.0  # narrower places between two zones are shared out roughly


class _Outline(NamedTuple):
    """Edges of the covered ground: rows (x1, y1, x2, y2), the zone of each, and itself with its two neighbours."""

    ends: np.ndarray
    owner: np.ndarray
    near: np.ndarray


def draw_gaps(
    covered: shapely.Geometry, faces: np.ndarray, owners: np.ndarray, ranks: np.ndarray, reach_m: float
) -> dict[int, shapely.MultiPolygon]:
    """Ground within reach of the faces that none covers, by the zone that is nearest.

    The borders in the gap are drawn from samples (`_bisectors`), noded with the outlines, and turned into faces; which
    zone a face belongs to is then asked exactly, so that a line too many does no harm.
    """
    segments = max(8, int(np.ceil(np.pi / 4 / np.arccos(max(1 - REACH_ERROR_M / reach_m, 0.9)))))
    gap = shapely.difference(shapely.buffer(covered, reach_m, quad_segs=segments), covered)
    outline = _outer_edges(covered, faces, owners)
    samples, on = _sample(outline, faces, owners, covered, reach_m)
    lines = _bisectors(outline, samples, on, reach_m)
    linework = shapely.union_all(np.concatenate([lines, shapely.get_parts(shapely.boundary(gap))]))
    drawn = shapely.get_parts(shapely.polygonize(shapely.get_parts(linework)))
    points = shapely.point_on_surface(drawn)
    shapely.prepare([gap, covered])
    inside = shapely.intersects(gap, points) & ~shapely.intersects(covered, points)
    drawn, points = drawn[inside], points[inside]
    label = nearest_owner(points, faces, owners, ranks, samples, outline.owner[on])
    groups: dict[int, list[shapely.Geometry]] = defaultdict(list)
    for zone, face in zip(label.tolist(), drawn, strict=True):
        groups[zone].append(face)
    return {zone: merge(parts) for zone, parts in groups.items()}


def _outer_edges(covered: shapely.Geometry, faces: np.ndarray, owners: np.ndarray) -> _Outline:
    """Straight edges of the outline of all faces, and the zone that each belongs to."""
    xy, ring = shapely.get_coordinates(shapely.get_rings(shapely.get_parts(covered)), return_index=True)
    follows = (ring[1:] == ring[:-1]) & (np.hypot(*(xy[1:] - xy[:-1]).T) > 1e-6)
    ends, ring = np.hstack([xy[:-1], xy[1:]])[follows], ring[1:][follows]
    middle = shapely.points((ends[:, :2] + ends[:, 2:]) / 2)
    edge_at, face_at = shapely.STRtree(faces).query_nearest(middle, all_matches=True)
    owner = np.full(len(ends), -1)
    owner[edge_at[::-1]] = owners[face_at[::-1]]
    at = np.arange(len(ends))
    first = np.searchsorted(ring, ring, side="left")
    last = np.searchsorted(ring, ring, side="right") - 1
    before, after = np.where(at == first, last, at - 1), np.where(at == last, first, at + 1)
    near = [np.where(owner[n] == owner, n, at) for n in (before, after)]
    inward = ends[:, 2:] - ends[:, :2]  # a corner where zones meet is neither's: each starts a centimetre beside it
    inward *= np.minimum(0.01 / np.hypot(*inward.T), 0.25)[:, None]
    ends[:, :2] += np.where((near[0] == at)[:, None], inward, 0)
    ends[:, 2:] -= np.where((near[1] == at)[:, None], inward, 0)
    return _Outline(ends, owner, np.column_stack([at, *near]))


def _sample(
    outline: _Outline, faces: np.ndarray, owners: np.ndarray, covered: shapely.Geometry, reach_m: float
) -> tuple[np.ndarray, np.ndarray]:
    """Points along the outline, dense enough for ``SAMPLING_ERROR_M``, and the edge that each lies on.

    A point of the gap at distance d from an outline with samples every s metres, corners among them, is at most
    sqrt(d² + s²/4) from one. On the border to another zone at distance D of that outline, d is at least D/2; so that
    the error stays within e, s may be 2 sqrt(e² + e D). Outline farther than twice the reach from any other zone
    borders on none.
    """
    tree, parts = shapely.STRtree(faces), shapely.STRtree(shapely.get_parts(covered))
    found, found_on = [np.empty((0, 2))], [np.empty(0, dtype=int)]
    todo, on = outline.ends, np.arange(len(outline.ends))
    while len(todo):
        half = np.hypot(todo[:, 2] - todo[:, 0], todo[:, 3] - todo[:, 1]) / 2
        middle = (todo[:, :2] + todo[:, 2:]) / 2
        other = np.where(half > max(reach_m / 4, 1), 0.0, np.inf)  # long ones are halved first, unasked
        for radius in (0.8 * reach_m, 3 * reach_m + 1):
            ask = np.flatnonzero(np.isinf(other))
            other[ask] = foreign_distance(middle[ask], outline.owner[on[ask]], tree, owners, radius)
        crack = (other <= CRACK_M) & (half <= CRACK_SPACING_M / 2)
        crack[crack] = _in_crack(todo[crack], parts)
        split = ~crack & (half > np.maximum(other / 4, SHORTEST_SPACING_M))
        done = ~split & (other - half <= 2 * reach_m)
        spacing = 2 * np.sqrt(SAMPLING_ERROR_M**2 + SAMPLING_ERROR_M * np.clip(other - half, 0, None))
        spacing = np.where(crack, CRACK_SPACING_M, spacing)[done]
        steps = np.maximum(np.ceil(2 * half[done] / np.maximum(spacing, SHORTEST_SPACING_M)), 1).astype(int)
        number = np.arange((steps + 1).sum()) - np.repeat(np.cumsum(steps + 1) - steps - 1, steps + 1)
        along = (number / np.repeat(steps, steps + 1))[:, None]
        piece = np.repeat(todo[done], steps + 1, axis=0)
        found.append(piece[:, :2] * (1 - along) + piece[:, 2:] * along)
        found_on.append(np.repeat(on[done], steps + 1))
        todo, on, middle = todo[split], np.tile(on[split], 2), middle[split]
        todo = np.vstack([np.hstack([todo[:, :2], middle]), np.hstack([middle, todo[:, 2:]])])
    samples, keep = np.unique(np.vstack(found), axis=0, return_index=True)
    return samples, np.concatenate(found_on)[keep]


def _in_crack(edges: np.ndarray, parts: shapely.STRtree) -> np.ndarray:
    """Which short pieces of outline, another zone being close, have covered ground on both sides all along."""
    along = edges[:, 2:] - edges[:, :2]
    aside = 1.2 * CRACK_M * np.column_stack([-along[:, 1], along[:, 0]]) / np.hypot(*along.T)[:, None]
    crack = np.ones(len(edges), dtype=bool)
    for share in (0, 0.5, 1):
        for side in (1, -1):
            hit, _ = parts.query(shapely.points(edges[:, :2] + share * along + side * aside), predicate="intersects")
            crack &= np.isin(np.arange(len(edges)), hit)
    return crack


def _bisectors(outline: _Outline, samples: np.ndarray, on: np.ndarray, reach_m: float) -> np.ndarray:
    """Lines between zones: edges of the samples' Voronoi diagram, moved onto the true border, merged and smoothed."""
    if len(np.unique(outline.owner[on])) < 2:
        return np.array([], dtype=object)
    low, high = samples.min(axis=0), samples.max(axis=0)
    origin, span = (low + high) / 2, float((high - low).max()) + 10 * reach_m
    far = span * np.array([[-3, -3], [3, -3], [3, 3], [-3, 3]])  # so that all that matters is inside the hull
    xy = np.vstack([samples - origin, far])
    outline = _Outline(outline.ends - np.tile(origin, 2), outline.owner, outline.near)
    owner = np.concatenate([outline.owner[on], [-1] * 4])
    mesh = Delaunay(xy)
    corners, neighbours = mesh.simplices, mesh.neighbors
    centre = _circumcentres(xy[corners])
    pairs = []  # of simplices, and of the samples that their common side joins
    for corner in range(3):
        beside = neighbours[:, corner]
        a, b = corners[:, (corner + 1) % 3], corners[:, (corner + 2) % 3]
        border = (beside > np.arange(len(beside))) & (owner[a] != owner[b]) & (owner[a] >= 0) & (owner[b] >= 0)
        here = np.flatnonzero(border)
        pairs.append(np.column_stack([here, beside[here], a[here], b[here]]))
    start, end, a, b = np.concatenate(pairs).T
    middle, across = (xy[a] + xy[b]) / 2, xy[b] - xy[a]
    width = np.hypot(*across.T)
    along = np.column_stack([-across[:, 1], across[:, 0]]) / width[:, None]
    t = np.column_stack([((centre[p] - middle) * along).sum(axis=1) for p in (start, end)])
    closest = np.clip(0, t.min(axis=1), t.max(axis=1))
    used = np.hypot(closest, width / 2) <= reach_m + 1
    start, end, a, b, t, middle, along = (v[used] for v in (start, end, a, b, t, middle, along))
    limit = 2 * reach_m + 10  # ends far outside the reach, even at infinity, are cut off there
    halfway = middle + along * np.clip(t, -limit, limit).mean(axis=1)[:, None]
    halfway = _onto_border(halfway, on[a], on[b], on[a], outline)
    moved = centre.copy()
    corner = np.unique(np.concatenate([start, end]))
    corner = corner[(np.abs(xy[corners[corner, 0]] - centre[corner]).max(axis=1) <= limit)]
    moved[corner] = _onto_border(centre[corner], *_different(corners[corner], owner, on), outline)
    node = np.column_stack([start, end])
    cut = np.abs(t) > limit
    node[cut] = len(centre) + np.arange(cut.sum())  # an end of its own
    cut_t = np.clip(t, -limit, limit)[:, :, None]
    spots = np.vstack([moved, (middle[:, None] + along[:, None] * cut_t)[cut], halfway])
    chains = _chains(node, len(spots) - len(halfway))
    at = np.concatenate(chains)
    lines = shapely.linestrings(spots[at] + origin, indices=np.repeat(np.arange(len(chains)), [len(c) for c in chains]))
    return shapely.simplify(lines, SMOOTHING_M, preserve_topology=False)


def _chains(node: np.ndarray, first_halfway: int) -> list[list[int]]:
    """Join edges (rows of two nodes) end to end into chains, as far as no third edge meets.

    Each chain lists its nodes with the point halfway each edge, numbered from ``first_halfway``, in between.
    """
    edges_at: dict[int, list[int]] = defaultdict(list)
    ends = node.tolist()
    for edge, (a, b) in enumerate(ends):
        edges_at[a].append(edge)
        edges_at[b].append(edge)
    free = [True] * len(ends)
    chains = []
    starts = [n for n, edges in edges_at.items() if len(edges) != 2] + list(edges_at)  # closed rings come last
    for begin in starts:
        for edge in edges_at[begin]:
            if not free[edge]:
                continue
            chain, here, onward = [begin], begin, edge
            while free[onward]:
                free[onward] = False
                a, b = ends[onward]
                here = b if here == a else a
                chain += [first_halfway + onward, here]
                if len(edges_at[here]) == 2:
                    onward = sum(edges_at[here]) - onward
            chains.append(chain)
    return chains


def _different(corners: np.ndarray, owner: np.ndarray, on: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Edges under the corners of triangles: two of different zones, and one of the third zone or the first again."""
    on = np.concatenate([on, np.zeros(4, dtype=int)])  # the four far points have no edge; they are never reached
    who = owner[corners]
    i = np.zeros(len(corners), dtype=int)
    j = np.where(who[:, 1] != who[:, 0], 1, 2)
    third = (who[:, 0] != who[:, 1]) & (who[:, 1] != who[:, 2]) & (who[:, 0] != who[:, 2])
    k = np.where(third, 2, 0)
    row = np.arange(len(corners))
    return on[corners[row, i]], on[corners[row, j]], on[corners[row, k]]


def _onto_border(xy: np.ndarray, i: np.ndarray, j: np.ndarray, k: np.ndarray, outline: _Outline) -> np.ndarray:
    """Move points to where they are equally far from edge i (or its neighbours), j and, where it differs from i, k.

    Newton's steps on the differences of distances; a point whose difference doesn't shrink stays where it was.
    """
    best, left, here = xy.copy(), np.full(len(xy), np.inf), xy.copy()
    busy = np.arange(len(xy))
    for _ in range(4):
        (di, ui), (dj, uj) = (_towards(here[busy], n[busy], outline) for n in (i, j))
        f, a = di - dj, ui - uj
        step = -a * (f / np.maximum((a**2).sum(axis=1), 0.05))[:, None]
        off = np.abs(f)
        three = np.flatnonzero(k[busy] != i[busy])
        dk, uk = _towards(here[busy[three]], k[busy[three]], outline)
        f, g, a, b = f[three], di[three] - dk, a[three], ui[three] - uk
        off[three] = np.maximum(off[three], np.abs(g))
        det = a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]
        both = np.column_stack([g * a[:, 1] - f * b[:, 1], f * b[:, 0] - g * a[:, 0]])
        clear = np.abs(det) > 0.05
        step[three[clear]] = both[clear] / det[clear, None]
        better = (off < left[busy]) & (np.hypot(*(here[busy] - xy[busy]).T) <= 4 * SAMPLING_ERROR_M)
        best[busy[better]], left[busy[better]] = here[busy[better]], off[better]
        here[busy] += step
        busy = busy[off > 0.005]
    return best


def _towards(xy: np.ndarray, edge: np.ndarray, outline: _Outline) -> tuple[np.ndarray, np.ndarray]:
    """Distance of each point from an edge or its two neighbours, and the unit vector that leads away from there."""
    distance, away = np.full(len(xy), np.inf), np.zeros_like(xy)
    for n in outline.near[edge].T:
        start, along = outline.ends[n, :2], outline.ends[n, 2:] - outline.ends[n, :2]
        t = np.clip(((xy - start) * along).sum(axis=1) / (along**2).sum(axis=1), 0, 1)
        vector = xy - start - t[:, None] * along
        d = np.hypot(*vector.T)
        nearer = d < distance
        distance[nearer], away[nearer] = d[nearer], vector[nearer] / np.maximum(d[nearer], 1e-9)[:, None]
    return distance, away


def _circumcentres(triangles: np.ndarray) -> np.ndarray:
    """Centre of the circle through each triangle's corners; flat triangles give far points, never NaN."""
    a = triangles[:, 0]
    b, c = triangles[:, 1] - a, triangles[:, 2] - a
    twice = 2 * (b[:, 0] * c[:, 1] - b[:, 1] * c[:, 0])
    twice = np.where(np.abs(twice) < 1e-12, 1e-12, twice)
    bb, cc = (b**2).sum(axis=1), (c**2).sum(axis=1)
    x = (c[:, 1] * bb - b[:, 1] * cc) / twice
    y = (b[:, 0] * cc - c[:, 0] * bb) / twice
    return a + np.column_stack([x, y])
