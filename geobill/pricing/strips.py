"""Two lines of one operator in one strip: which metres they share, and which line pays for them (policy ``same_strip``).

A line's strip runs along its axis; of two lines the wider billed width b counts (art. 7 § 1). The other line shares the
strip where its axis keeps within b / 2 of the first one's, beside it and not beyond its ends, over at least 2 b (or over
its whole part, if that is shorter): a line that crosses at more than 30 degrees shares nothing. Intervals are exact, as
everywhere in the cutting: the places beside a straight edge are a rectangle, those around a bend the wedge of a disc that
lies beside neither of its edges, and a straight line meets either in one interval. So vertices along a straight line
change nothing.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import shapely
from numpy.typing import NDArray

from geobill.pricing.edges import Edges, Floats, Ints, line_edges, look

SAME_STRIP = "same_strip"
ALONG_WIDTHS = 2.0  # a shared run is at least so many widths long
_SLACK = 1e-6  # a micrometre: what rotating and re-reading coordinates may move
_COLUMNS = ["line", "nth", "start_m", "end_m", "payer"]

Span = tuple[float, float]


@dataclass(frozen=True)
class Strips:
    """What decides about sharing, one entry a line: whose it is, its billed width in metres, and when it stands.

    ``first_day`` and ``last_day`` are days of the month, both included; ``multiplier`` is how many times it pays (a line
    charged double is never paid for by one that isn't: art. 10 § 2); ``turn`` settles who pays among lines of equal
    width, the lower first, whatever the order of rows.
    """

    owner: NDArray[np.object_]
    width_m: Floats
    first_day: Ints
    last_day: Ints
    multiplier: NDArray[np.object_]
    turn: Ints


def shared_strips(
    lines: NDArray[np.object_], strips: Strips, *, once: bool, stretches: pd.DataFrame | None = None
) -> pd.DataFrame:
    """Find the stretches of lines that share a strip with another line of their owner.

    Parameters
    ----------
    lines : array of LineString or MultiLineString
        Metres, in one projected system.
    strips : Strips
    once : bool
        Whether a shared strip pays once (``same_strip = once``): then the line of the wider strip pays, if it stands on
        every day on which the other does and pays as many times.
    stretches : DataFrame, optional
        The lines cut (``line``, ``nth``, ``start_m``, ``end_m``, ``zone``, ``held``): where one is held or in no zone it
        pays for no other.

    Returns
    -------
    pandas.DataFrame
        ``line`` (position), ``nth`` (its part, from 0), ``start_m`` and ``end_m`` along that part, ``payer`` (position of
        the line that pays for it; -1 where it pays for itself). Rows of one part follow each other without overlap.
    """
    lines = shapely.force_2d(np.asarray(lines, dtype=object))
    edges = line_edges(lines)
    if len(edges) < 2:
        return pd.DataFrame({c: [] for c in _COLUMNS}).astype(dict.fromkeys(("line", "nth", "payer"), "int64"))
    owner_of_part, first_part = _parts(lines)
    runs = _runs(edges, edges, strips, _pairs(edges, strips))
    shared = {int(part): _union(list(zip(g["start"], g["end"], strict=True))) for part, g in runs.groupby("part")}
    paid = _paid(runs, edges, strips, _unpaid(stretches, first_part)) if once else {}
    rows = []
    for part, spans in shared.items():
        line = int(owner_of_part[part])
        taken = paid.get(part, [])
        mine = [(s, e, -1) for s, e in _less(spans, [(s, e) for s, e, _ in taken])]
        rows += [(line, part - int(first_part[line]), s, e, payer) for s, e, payer in sorted([*mine, *taken])]
    return pd.DataFrame(rows, columns=_COLUMNS)


def _parts(lines: NDArray[np.object_]) -> tuple[Ints, Ints]:
    _, owner = shapely.get_parts(lines, return_index=True)
    return owner, np.searchsorted(owner, np.arange(len(lines)), "left")


def _pairs(edges: Edges, strips: Strips) -> tuple[Ints, Ints]:
    """Straight edges that may lie in one strip: of different lines of one owner that stand on a common day."""
    tree = shapely.STRtree(edges.geometries())
    mine, other = tree.query(edges.geometries(), "dwithin", distance=float(strips.width_m.max()) / 2 + 2 * _SLACK)
    b, a = edges.owner[mine], edges.owner[other]
    together = (strips.first_day[b] <= strips.last_day[a]) & (strips.first_day[a] <= strips.last_day[b])
    keep = (a != b) & (strips.owner[a] == strips.owner[b]) & together
    return mine[keep], other[keep]


def _runs(mine: Edges, other: Edges, strips: Strips, pairs: tuple[Ints, Ints]) -> pd.DataFrame:
    """Find runs of parts (``part``, ``start``, ``end``) in another line's strip (``with``), long enough to share it."""
    e, k = pairs
    lengths, start_of = mine.lengths, _starts(mine)
    reach = np.maximum(strips.width_m[mine.owner[e]], strips.width_m[other.owner[k]]) / 2 + _SLACK
    direction = (mine.b - mine.a) / lengths[:, None]
    seen = look(mine.a[e], direction[e], other.a[k], other.b[k])
    before = _edge_before(other)[k]
    bends = before >= 0
    wedge = seen.near_first_end(reach)
    earlier = look(mine.a[e], direction[e], other.a[before], other.b[before])
    for low, high in (earlier.beyond(), seen.short_of()):
        wedge = (np.maximum(wedge[0], low), np.minimum(wedge[1], high))
    spans = [(*seen.beside(reach), np.ones(len(e), dtype=bool)), (*wedge, bends)]
    frames = []
    for low, high, applies in spans:
        low, high = np.maximum(low, 0.0), np.minimum(high, lengths[e])
        ok = applies & (low < high)
        at = start_of[e[ok]]
        frames.append(
            pd.DataFrame(
                {
                    "part": mine.part[e[ok]],
                    "with": other.owner[k[ok]],
                    "start": low[ok] + at,
                    "end": high[ok] + at,
                    "width": 2 * reach[ok],
                }
            )
        )
    found = pd.concat(frames, ignore_index=True).sort_values(["part", "with", "start"], ignore_index=True)
    if not len(found):
        return found
    furthest = found.groupby(["part", "with"])["end"].cummax()
    before = furthest.groupby([found["part"], found["with"]]).shift()
    new = before.isna() | (found["start"] > before + _SLACK)
    runs = found.groupby(new.cumsum()).agg(
        {"part": "first", "with": "first", "start": "first", "end": "max", "width": "max"}
    )
    whole = np.bincount(mine.part, weights=lengths)[runs["part"]]
    enough = np.minimum(ALONG_WIDTHS * runs["width"], whole) - 10 * _SLACK
    return runs[(runs["end"] - runs["start"]) >= enough].reset_index(drop=True)


def _starts(edges: Edges) -> Floats:
    """Metres along its part at which each edge begins."""
    if not len(edges):
        return np.zeros(0)
    before = np.cumsum(edges.lengths) - edges.lengths
    new = np.insert(edges.part[1:] != edges.part[:-1], 0, True)
    return before - before[new][np.cumsum(new) - 1]


def _edge_before(edges: Edges) -> Ints:
    """Return the edge that leads to each edge's first end: the one before, round a closed ring the last one; -1 for none."""
    first = np.insert(edges.part[1:] != edges.part[:-1], 0, True)
    last = np.append(first[1:], True)
    before = np.where(first, -1, np.arange(len(edges)) - 1)
    closed = np.all(edges.a[first] == edges.b[last], axis=1)
    before[np.flatnonzero(first)[closed]] = np.flatnonzero(last)[closed]
    return before


def _unpaid(stretches: pd.DataFrame | None, first_part: Ints) -> dict[int, list[Span]]:
    """Spans of parts that are held: what nobody pays for pays for no other."""
    spans: dict[int, list[Span]] = {}
    if stretches is not None:
        for row in stretches[stretches["held"] | (stretches["zone"] < 0)].itertuples():
            spans.setdefault(int(first_part[row.line]) + row.nth, []).append((row.start_m, row.end_m))
    return spans


def _paid(
    runs: pd.DataFrame, edges: Edges, strips: Strips, unpaid: dict[int, list[Span]]
) -> dict[int, list[tuple[float, float, int]]]:
    """For each part the spans that another line pays for, and that line.

    Lines pay in the order of their widths; a line shares only what another one really pays for, since a third one may
    lie in the strip of the second without lying in that of the first.
    """
    order = np.lexsort((strips.turn, -strips.width_m))
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    line_of_part = dict(zip(edges.part.tolist(), edges.owner.tolist(), strict=True))
    parts_of_line: dict[int, list[int]] = {}
    for part, line in line_of_part.items():
        parts_of_line.setdefault(line, []).append(part)
    by_part = dict(tuple(runs.groupby("part")))
    paid: dict[int, list[tuple[float, float, int]]] = {}
    for line in order.tolist():
        for part in parts_of_line.get(line, []):
            if part not in by_part:
                continue
            taken: list[tuple[float, float, int]] = []
            for first in sorted(set(by_part[part]["with"].tolist()), key=lambda n: rank[n]):
                if not _may_pay(first, line, rank, strips):
                    continue
                partly = any(paid.get(p) or p in unpaid for p in parts_of_line[first])
                mine = by_part[part][by_part[part]["with"] == first]
                spans = (
                    _against_paying(part, first, edges, parts_of_line, paid, unpaid, strips)
                    if partly
                    else list(zip(mine["start"], mine["end"], strict=True))
                )
                free = _less(_union(spans), [(s, e) for s, e, _ in taken])
                taken += [(s, e, first) for s, e in free]
            if taken:
                paid[part] = sorted(taken)
    return paid


def _may_pay(first: int, other: int, rank: Ints, strips: Strips) -> bool:
    return bool(
        rank[first] < rank[other]
        and strips.multiplier[first] == strips.multiplier[other]
        and strips.first_day[first] <= strips.first_day[other]
        and strips.last_day[first] >= strips.last_day[other]
    )


def _against_paying(
    part: int,
    first: int,
    edges: Edges,
    parts_of_line: dict[int, list[int]],
    paid: dict[int, list[tuple[float, float, int]]],
    unpaid: dict[int, list[Span]],
    strips: Strips,
) -> list[Span]:
    """Spans of a part in the strip of the stretches that a line still pays for itself."""
    starts, lengths = _starts(edges), edges.lengths
    a, b, number = [], [], []
    for p in parts_of_line[first]:
        of_part = np.flatnonzero(edges.part == p)
        whole = float(starts[of_part[-1]] + lengths[of_part[-1]])
        not_paying = [*((s, e) for s, e, _ in paid.get(p, [])), *unpaid.get(p, [])]
        for n, (s, e) in enumerate(_less([(0.0, whole)], not_paying)):
            for k in of_part:
                low, high = max(s, starts[k]) - starts[k], min(e, starts[k] + lengths[k]) - starts[k]
                if low < high:
                    along = (edges.b[k] - edges.a[k]) / lengths[k]
                    a.append(edges.a[k] + low * along)
                    b.append(edges.a[k] + high * along)
                    number.append((p, n))
    if not a:
        return []
    part_number = pd.factorize(pd.Series(number, dtype=object))[0]
    paying = Edges(np.array(a), np.array(b), np.full(len(a), first), part_number)
    own = np.flatnonzero(edges.part == part)
    mine = Edges(edges.a[own], edges.b[own], edges.owner[own], np.zeros(len(own), dtype=np.int64))
    every = np.meshgrid(np.arange(len(own)), np.arange(len(a)), indexing="ij")
    runs = _runs(mine, paying, strips, (every[0].ravel(), every[1].ravel()))
    return list(zip(runs["start"], runs["end"], strict=True))


def _union(spans: list[Span]) -> list[Span]:
    """Spans without overlap, in order; neighbours within a micrometre become one."""
    merged: list[Span] = []
    for s, e in sorted(spans):
        if merged and s <= merged[-1][1] + _SLACK:
            merged[-1] = (merged[-1][0], max(e, merged[-1][1]))
        else:
            merged.append((float(s), float(e)))
    return merged


def _less(spans: list[Span], taken: list[Span]) -> list[Span]:
    """Return what is left of spans when others are taken out of them; crumbs under a micrometre aren't kept."""
    left = []
    for s, e in spans:
        at = s
        for ts, te in _union(taken):
            if te <= at or ts >= e:
                continue
            left.append((at, ts))
            at = max(at, te)
        left.append((at, e))
    return [(s, e) for s, e in left if e - s > _SLACK]


def lay_over(stretches: pd.DataFrame, shared: pd.DataFrame) -> pd.DataFrame:
    """Cut stretches along lines at the ends of shared spans, flag what is shared and name who pays for it.

    Parameters
    ----------
    stretches : DataFrame
        ``line``, ``nth``, ``start_m``, ``end_m``, ``flags`` (comma-joined) and more, in order along each part.
    shared : DataFrame
        What :func:`shared_strips` found.

    Returns
    -------
    pandas.DataFrame
        The same metres, with ``payer`` (-1 where a stretch pays for itself, and wherever it is held).
    """
    spans: dict[tuple[int, int], list[tuple[float, float, int]]] = {}
    for row in shared.itertuples(index=False):
        spans.setdefault((row.line, row.nth), []).append((row.start_m, row.end_m, row.payer))
    touched = np.fromiter(
        ((ln, n) in spans for ln, n in zip(stretches["line"], stretches["nth"], strict=True)), bool, len(stretches)
    )
    rest = stretches[~touched].assign(payer=-1)
    rows: list[dict[str, Any]] = []
    for stretch in stretches[touched].to_dict("records"):
        rows += _cut_up(stretch, spans[stretch["line"], stretch["nth"]])
    if not rows:
        return rest
    return pd.concat([rest, pd.DataFrame(rows)], ignore_index=True).sort_values(
        ["line", "nth", "start_m"], ignore_index=True
    )


def _cut_up(stretch: dict[str, Any], spans: list[tuple[float, float, int]]) -> list[dict[str, Any]]:
    start, end = stretch["start_m"], stretch["end_m"]
    flags = ",".join(sorted({*filter(None, stretch["flags"].split(",")), SAME_STRIP}))
    rows, at = [], start
    for s, e, payer in spans:
        low, high = max(s, start), min(e, end)
        if high - low <= _SLACK:
            continue
        low, high = (at if low - at <= _SLACK else low), (end if end - high <= _SLACK else high)
        if low > at:
            rows.append({**stretch, "start_m": at, "end_m": low, "payer": -1})
        alone = stretch["held"] or stretch["zone"] < 0
        rows.append({**stretch, "start_m": low, "end_m": high, "flags": flags, "payer": -1 if alone else payer})
        at = high
    if at < end or not rows:
        rows.append({**stretch, "start_m": at, "end_m": end, "payer": -1})
    return rows
