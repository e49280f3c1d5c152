"""The same stretch twice: drawn in either direction, cut at other places, or only in part."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date

import geopandas as gpd
import numpy as np
import pandas as pd
import shapely

from geobill.domain.finding import Finding
from geobill.intake.overlaps import Edges, Runs, edges_of, find_runs

TOLERANCE_M = 0.01  # beside: a cut that was rounded to the centimetre lies no farther from the line
PARTLY_M, PARTLY_SHARE = 0.5, 0.01  # an overlap of less is a joint


@dataclass(frozen=True)
class Cover:
    """What of a row lies on other rows (positions, the longest overlap first): metres, and their share of its length."""

    rows: tuple[int, ...]
    metres: float
    share: float


@dataclass(frozen=True)
class Repeats:
    """Rows that lie ``wholly`` on rows that stand, and rows that stand and lie ``partly`` on earlier ones, by position.

    ``within`` are the metres that a row which stands draws again over itself.
    """

    wholly: dict[int, Cover]
    partly: dict[int, Cover]
    within: dict[int, float]


@dataclass(frozen=True)
class Days:
    """First and last day in force of each row, as numbers."""

    start: np.ndarray
    end: np.ndarray

    @classmethod
    def of(cls, installed_on: np.ndarray, removed_on: np.ndarray) -> "Days":
        """Take dates, None where a row is in force without a beginning or an end."""
        return cls(_numbers(installed_on, date.min), _numbers(removed_on, date.max))

    def common(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """Whether there is a day on which both are in force; that of an exchange doesn't count."""
        begins, ends = np.maximum(self.start[a], self.start[b]), np.minimum(self.end[a], self.end[b])
        return (begins < ends) | ((begins == ends) & (self.start[a] == self.start[b]))


def find_duplicates(
    geometry: np.ndarray, owner: Sequence[tuple], installed_on: np.ndarray, removed_on: np.ndarray
) -> Repeats:
    """Find rows that repeat others, wholly or in part.

    A row lies on another where owner (operator, service, level) agrees, there is a day on which both are in force (the
    day on which one is taken out and its like put in doesn't count), and it runs within `TOLERANCE_M` of it. A row is
    repeated wholly where, on some day, all of it but 0.01 m (0.1 % up to 0.1 m; of lines under 0.1 m a tenth) lies on
    rows that stand. The earlier row stands. One that is a part of a later, longer row which can't yield itself yields to
    it, if that is in force for as long: so the order of rows decides only which of two equals stands.

    Parameters
    ----------
    geometry : array of LineString or MultiLineString
        In metres.
    owner : sequence of tuple
        What must agree besides the geometry.
    installed_on, removed_on : arrays of date or None
        First and last day in force, both included.
    """
    if not len(geometry):
        return Repeats({}, {}, {})
    owners = pd.factorize(pd.Series(list(owner), dtype=object))[0]
    days = Days.of(installed_on, removed_on)
    same = _exact(geometry, owners, days)
    alone = np.ones(len(geometry), dtype=bool)
    alone[list(same)] = False
    kept = np.flatnonzero(alone)
    edges = edges_of(geometry[kept])

    def wanted(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        a, b = kept[a], kept[b]
        return (a != b) & (owners[a] == owners[b]) & days.common(a, b)

    runs = find_runs(edges, edges, TOLERANCE_M, wanted)
    runs = Runs(kept[runs.line], kept[runs.other], runs.start, runs.end)
    length = shapely.length(geometry)
    standing = _settle(runs, length, days, alone.copy())
    left = runs.only(standing[runs.other])
    covers = _covers(left, length, np.flatnonzero(alone & ~standing))
    for row, first in same.items():
        covers[row] = Cover((first,), float(length[row]), 1.0) if standing[first] else covers[first]
    earlier = left.only(standing[left.line] & (left.other < left.line))
    metres = earlier.metres(len(geometry))
    partly = np.flatnonzero(_partly(metres, length))
    within = _within(edges, len(geometry), kept)
    within[~standing] = 0.0
    again = {int(r): float(within[r]) for r in np.flatnonzero(within >= PARTLY_M)}
    return Repeats(dict(sorted(covers.items())), _covers(earlier, length, partly), again)


def _within(edges: Edges, rows: int, kept: np.ndarray) -> np.ndarray:
    """Metres of each row that run on earlier edges of the same row: a part sent twice, a way drawn forth and back."""
    each = replace(edges, line=np.arange(len(edges)))
    runs = find_runs(each, each, TOLERANCE_M, lambda a, b: (b < a) & (edges.line[a] == edges.line[b]))
    return np.bincount(kept[edges.line], runs.metres(len(edges)), minlength=rows)


def find_stored(accepted: gpd.GeoDataFrame, stored: gpd.GeoDataFrame) -> tuple[Finding, ...]:
    """Find stretches of a file that are stored already, from another import, wholly or in part; frames by ``SEGMENTS``."""
    both = pd.concat([stored, accepted], ignore_index=True)
    owners = pd.factorize(pd.MultiIndex.from_frame(both[["operator", "service", "level"]].astype(str)))[0]
    installed, removed = (
        np.array([date.fromisoformat(d) if isinstance(d, str) else None for d in both[c]], dtype=object)
        for c in ("installed_on", "removed_on")
    )
    days, first = Days.of(installed, removed), len(stored)

    def wanted(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return (owners[first + a] == owners[b]) & days.common(first + a, b)

    mine = np.asarray(accepted.geometry.values, dtype=object)
    runs = find_runs(edges_of(mine), edges_of(np.asarray(stored.geometry.values, dtype=object)), TOLERANCE_M, wanted)
    length, metres = shapely.length(mine), runs.metres(len(accepted))
    whole = _whole(metres, length)
    rows = accepted["source_row"].to_numpy()
    findings = []
    if whole.any():
        message = (
            f"{int(whole.sum())} stretch(es) ({metres[whole].sum():.2f} m) are stored already from another import of this "
            "operator and service: they are charged twice."
        )
        fix = "If this file corrects an earlier one, give it that file's name and import it with --replace."
        findings.append(Finding("already_stored", "warning", message, fix, rows=tuple(int(r) for r in rows[whole])))
    partly = _partly(metres, length) & ~whole
    if partly.any():
        shares = _largest({int(r): float(metres[r] / length[r]) for r in np.flatnonzero(partly)}, rows)
        message = (
            f"{int(partly.sum())} stretch(es) lie partly, over {metres[partly].sum():.2f} m, on stored ones of this operator "
            f"and service ({shares}): those metres are charged twice."
        )
        fix = "Ask the operator which of the two drawings holds; if this file corrects an earlier one, use --replace."
        findings.append(Finding("overlaps_stored", "warning", message, fix, rows=tuple(int(r) for r in rows[partly])))
    return tuple(findings)


def _largest(shares: dict[int, float], rows: np.ndarray) -> str:
    most = sorted(shares.items(), key=lambda item: (-item[1], item[0]))[:3]
    return ", ".join(f"row {rows[r]} {100 * share:.1f} %" for r, share in most)


def _numbers(days: np.ndarray, absent: date) -> np.ndarray:
    return np.array([(d or absent).toordinal() for d in days], dtype=np.int64)


def _exact(geometry: np.ndarray, owners: np.ndarray, days: Days) -> dict[int, int]:
    """Rows that repeat an earlier one vertex by vertex, in either direction, their parts in any order."""
    # GEOS's normal form settles direction and the order of parts
    shapes = pd.factorize(pd.Series(shapely.to_wkb(shapely.normalize(geometry)), dtype=object))[0]
    group = pd.Series(shapes * (int(owners.max()) + 1) + owners)
    found: dict[int, int] = {}
    standing: dict[int, list[int]] = {}
    repeated = np.flatnonzero(group.duplicated(keep=False))
    for row, key in zip(repeated.tolist(), group[repeated].tolist(), strict=True):
        firsts = standing.setdefault(key, [])
        like = next((s for s in firsts if days.common(s, row)), None)
        if like is None:
            firsts.append(row)
        else:
            found[row] = like
    return found


def _settle(runs: Runs, length: np.ndarray, days: Days, standing: np.ndarray) -> np.ndarray:
    """Decide which rows stand; ``standing`` are those that may."""
    candidates = np.flatnonzero(standing & _whole(runs.metres(len(length)), length))
    by_line = np.argsort(runs.line, kind="stable")
    bounds = np.searchsorted(runs.line[by_line], np.stack([candidates, candidates + 1]))
    mine = {int(r): runs.only(by_line[a:b]) for r, a, b in zip(candidates, *bounds, strict=True)}

    def lies_on(row: int, others: np.ndarray) -> bool:
        on = mine[row].only(others)
        looked_at = set(np.maximum(days.start[on.other], days.start[row]).tolist())
        in_force = ((days.start[on.other] <= d) & (days.end[on.other] >= d) for d in looked_at)
        return any(_whole(_once(on.start[some], on.end[some]), length[row]) for some in in_force)

    for row, on in mine.items():
        standing[row] = not lies_on(row, standing[on.other] & (on.other < row))
    for row, on in reversed(mine.items()):
        if standing[row]:
            as_long = (days.start[on.other] <= days.start[row]) & (days.end[on.other] >= days.end[row])
            standing[row] = not lies_on(row, standing[on.other] & as_long)
    for row, on in mine.items():  # what yielded to a row that yielded later, and lies on no other, stands again
        if not standing[row]:
            standing[row] = not lies_on(row, standing[on.other])
    return standing


def _once(start: np.ndarray, end: np.ndarray) -> float:
    """Metres in any of some stretches of one line."""
    total, until = 0.0, -np.inf
    for first, last in sorted(zip(start.tolist(), end.tolist(), strict=True)):
        total += max(0.0, last - max(first, until))
        until = max(until, last)
    return total


def _whole(metres: np.ndarray | float, length: np.ndarray | float) -> np.ndarray:
    """Whether so many metres are all of a length: 0.01 m may lack (or 0.1 % up to 0.1 m), and never more than a tenth."""
    lacks = np.maximum(0.01, np.minimum(0.001 * np.asarray(length), 0.1))
    return np.asarray(length) - metres <= np.minimum(lacks, 0.1 * np.asarray(length))


def _partly(metres: np.ndarray, length: np.ndarray) -> np.ndarray:
    return (metres >= PARTLY_M) & (metres >= PARTLY_SHARE * length)


def _covers(runs: Runs, length: np.ndarray, rows: np.ndarray) -> dict[int, Cover]:
    """On which others each of some rows lies, and how much of it."""
    chosen = np.zeros(len(length), dtype=bool)
    chosen[rows] = True
    runs = runs.only(chosen[runs.line])
    total = runs.metres(len(length))
    line, other, metres = runs.metres_by_pair()
    found: dict[int, list[int]] = {int(r): [] for r in rows}
    for at in np.lexsort((other, -np.round(metres, 3), line)):
        found[int(line[at])].append(int(other[at]))
    return {r: Cover(tuple(o), float(total[r]), float(min(1.0, total[r] / length[r]))) for r, o in found.items()}
