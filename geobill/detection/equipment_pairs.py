"""Surveyed against permitted equipment, one to one: which is which, what moved, what is left on either side."""

from dataclasses import dataclass

import geopandas as gpd
import numpy as np
import pandas as pd
import shapely
from numpy.typing import NDArray

from geobill.detection.assignment import Floats, Ints, assign
from geobill.detection.compared import MATCHED, MISSING, MOVED, SERVED, UNDECLARED
from geobill.domain.detection import DetectionTerms
from geobill.errors import InputError

_SAME_M = 1e-6  # distances are compared to the micrometre: a drawing that is moved as a whole pairs alike
_LEAST_M = 0.01  # what volumes that don't agree cost at least, where the sources' accuracy isn't known
_MOST_CANDIDATES = 30_000_000
_SAMPLE = 1_000


@dataclass(frozen=True)
class Pairs:
    """Both sides, row by row.

    ``surveyed`` and ``permitted`` are frames in the order of the frames that were given: ``row``, ``state``, ``other``
    (position of the partner on the other side, -1 for none), ``distance_m`` (to the partner, else to the nearest row that it
    could be; nan for none) and ``apart_m``: the same, but where that nearest row has another partner the distance to this
    one, where it is larger: two rows of one side near each other may be one thing, noted twice.
    """

    surveyed: pd.DataFrame
    permitted: pd.DataFrame


def pair(survey: gpd.GeoDataFrame, permitted: gpd.GeoDataFrame, terms: DetectionTerms) -> Pairs:
    """Pair equipment within reach; what is left on both sides, within ``terms.moved_within_m``, as moved.

    As many pairs as possible, at the least total distance. Where volumes don't agree a pair costs as many metres more as
    the two places may be off (both accuracies, a centimetre at least) times the share by which they differ: it decides between
    choices that distance can't tell apart. Rows that name different operators or services are never one another.

    Raises
    ------
    InputError
        If so much lies within reach that nothing could be told apart.
    """
    both = _Both(survey, permitted)
    partner, distance = np.full(len(survey), -1, dtype=np.int64), np.full(len(survey), np.nan)
    everywhere = np.ones(len(survey), dtype=bool), np.ones(len(permitted), dtype=bool)
    extra = max(_LEAST_M, float(np.hypot(float(terms.survey_accuracy_m), float(terms.permitted_accuracy_m))))
    one, other, apart = both.assigned(*everywhere, terms.reach_m, extra)
    partner[one], distance[one] = other, apart
    state = np.where(partner >= 0, MATCHED, UNDECLARED).astype(object)
    within_m = float(terms.moved_within_m)
    if within_m > terms.reach_m:
        one, other, apart = both.assigned(partner < 0, ~_have(partner, len(permitted)), within_m, extra)
        partner[one], distance[one], state[one] = other, apart, MOVED
    back = np.full(len(permitted), -1, dtype=np.int64)
    back[partner[partner >= 0]] = np.flatnonzero(partner >= 0)
    back_distance = np.full(len(permitted), np.nan)
    back_distance[back >= 0] = distance[back[back >= 0]]
    served = np.where(back >= 0, SERVED, MISSING).astype(object)
    mine, mine_apart = _of_those_alone(both, partner, back, distance)
    theirs, theirs_apart = _of_those_alone(both.turned(), back, partner, back_distance)
    return Pairs(_frame(state, partner, mine, mine_apart), _frame(served, back, theirs, theirs_apart))


def _have(partner: Ints, count: int) -> NDArray[np.bool_]:
    taken = np.zeros(count, dtype=bool)
    taken[partner[partner >= 0]] = True
    return taken


def _frame(state: NDArray[np.object_], other: Ints, distance: Floats, apart: Floats) -> pd.DataFrame:
    said = {"row": np.arange(len(state)), "state": state, "other": other, "distance_m": distance, "apart_m": apart}
    return pd.DataFrame(said)


def _of_those_alone(both: "_Both", partner: Ints, back: Ints, distance: Floats) -> tuple[Floats, Floats]:
    """Fill in, for rows without a partner, the distance to the nearest, and to the own side's row that has it."""
    distance = distance.copy()
    alone = np.flatnonzero(partner < 0)
    nearest, far = both.nearest(alone)
    distance[alone] = far
    apart = distance.copy()
    rival = np.where(nearest >= 0, back[nearest], -1) if len(back) else nearest
    taken = rival >= 0
    mine = both.one
    apart[alone[taken]] = np.maximum(far[taken], shapely.distance(mine[alone[taken]], mine[rival[taken]]))
    return distance, apart


class _Both:
    """Both sides' geometries, in an order of their own, with what tells whether two rows may be one."""

    def __init__(self, survey: gpd.GeoDataFrame, permitted: gpd.GeoDataFrame) -> None:
        self.one, self.other = np.asarray(survey.geometry.values), np.asarray(permitted.geometry.values)
        self.rank_one, self.rank_other = _ranks(survey), _ranks(permitted)
        self.volume_one, self.volume_other = (
            pd.to_numeric(f["volume_m3"]).to_numpy(dtype=float) for f in (survey, permitted)
        )
        self.kinds_one, self.kinds_other = _kinds(survey, permitted)

    def turned(self) -> "_Both":
        """Return the same with the sides changed."""
        new = object.__new__(_Both)
        for name in ("{}", "rank_{}", "volume_{}", "kinds_{}"):
            a, b = name.format("one"), name.format("other")
            setattr(new, a, getattr(self, b))
            setattr(new, b, getattr(self, a))
        return new

    def assigned(
        self, ones: NDArray[np.bool_], others: NDArray[np.bool_], within_m: float, extra_m: float
    ) -> tuple[Ints, Ints, Floats]:
        """Best assignment among some rows of both sides: positions on both, and distances in metres."""
        at, there = np.flatnonzero(ones), np.flatnonzero(others)
        tree = shapely.STRtree(self.other[there])
        _check_bearable(tree, self.one[at], within_m)
        a, b = tree.query(self.one[at], predicate="dwithin", distance=within_m)
        one, other = at[a], there[b]
        fits = self._fit(one, other)
        one, other = one[fits], other[fits]
        distance = np.round(shapely.distance(self.one[one], self.other[other]) / _SAME_M) * _SAME_M
        cost = distance + extra_m * self._differ(one, other)
        chosen = assign(self.rank_one[one], self.rank_other[other], cost)
        return one[chosen], other[chosen], distance[chosen]

    def nearest(self, rows: Ints) -> tuple[Ints, Floats]:
        """Nearest row of the other side that each could be, -1 for none, and its distance in metres."""
        found, distance = np.full(len(rows), -1, dtype=np.int64), np.full(len(rows), np.nan)
        if not len(rows) or not len(self.other):
            return found, distance
        kinds, which = np.unique(self.kinds_one[rows], axis=0, return_inverse=True)
        for number, kind in enumerate(kinds):
            there = np.flatnonzero(((kind < 0) | (self.kinds_other < 0) | (kind == self.kinds_other)).all(axis=1))
            mine = np.flatnonzero(which.reshape(-1) == number)
            if len(there):
                in_order = there[np.argsort(self.rank_other[there], kind="stable")]
                tree = shapely.STRtree(self.other[in_order])
                (at, near), apart = tree.query_nearest(self.one[rows[mine]], return_distance=True, all_matches=True)
                first = np.lexsort((near, at))
                at, near, apart = at[first], near[first], apart[first]
                at, once = np.unique(at, return_index=True)
                found[mine[at]], distance[mine[at]] = in_order[near[once]], apart[once]
        return found, distance

    def _fit(self, one: Ints, other: Ints) -> NDArray[np.bool_]:
        a, b = self.kinds_one[one], self.kinds_other[other]
        return ((a < 0) | (b < 0) | (a == b)).all(axis=1)

    def _differ(self, one: Ints, other: Ints) -> Floats:
        """Share of the larger volume by which two differ; 0 where one isn't known."""
        a, b = self.volume_one[one], self.volume_other[other]
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.nan_to_num(np.abs(a - b) / np.maximum(a, b))


def _ranks(frame: gpd.GeoDataFrame) -> Ints:
    """Place of each row in an order that rests on what the rows say, and not on how they stand in the file."""
    box = shapely.bounds(np.asarray(frame.geometry.values)).reshape(-1, 4)
    ids = np.unique(frame["equipment"].astype(str).to_numpy(dtype=object).astype(str), return_inverse=True)[1]
    order = np.lexsort((frame["source_row"].to_numpy(), ids, *box.T[::-1]))
    rank = np.empty(len(frame), dtype=np.int64)
    rank[order] = np.arange(len(frame))
    return rank


def _kinds(survey: gpd.GeoDataFrame, permitted: gpd.GeoDataFrame) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Operator and service of each row as numbers, -1 where it names none."""
    codes = []
    for column in ("operator", "service"):
        both = pd.concat([survey[column], permitted[column]], ignore_index=True)
        text = both.astype("string").str.strip().str.casefold().replace("", pd.NA)
        codes.append(pd.factorize(text)[0])
    return tuple(np.split(np.stack(codes, axis=1).astype(np.int64), [len(survey)]))  # type: ignore[return-value]


def _check_bearable(tree: shapely.STRtree, rows: NDArray[np.object_], within_m: float) -> None:
    """Refuse a distance within which each row has so many candidates that memory would run out."""
    some = rows[:: max(1, len(rows) // _SAMPLE)]
    if not len(some) or not len(tree):
        return
    each = len(tree.query(some, predicate="dwithin", distance=within_m)[0]) / len(some)
    if each * len(rows) > _MOST_CANDIDATES:
        raise InputError(
            f"Within {within_m:g} m of a surveyed piece of equipment stand about {each:,.0f} permitted ones: at that distance "
            "nothing can be told apart. Nothing was changed. Give a smaller tolerance (and a smaller distance for what moved)."
        )
