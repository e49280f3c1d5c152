"""Surveyed equipment against permitted equipment: which is which, and what is found."""

from decimal import Decimal
from itertools import permutations
from time import perf_counter

import geopandas as gpd
import numpy as np
import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st

from geobill.detection.assignment import assign
from geobill.detection.equipment import detect_equipment
from geobill.detection.equipment_pairs import pair
from geobill.detection.equipment_rule import EquipmentRule
from geobill.detection.rules import RULES
from geobill.detection.rules.larger_than_permitted import rounding_m3
from geobill.domain.detection import FINDING_KINDS, DetectionTerms
from geobill.errors import InputError
from geobill.frames import EQUIPMENT, FOUND, SURVEY_EQUIPMENT

X, Y = 322_000.0, 7_416_000.0


def terms(tolerance=3, moved=0, survey=0, permitted=0):
    return DetectionTerms(Decimal(tolerance), Decimal(5), Decimal(survey), Decimal(permitted), Decimal(moved))


def framed(places, contract, prefix, at=(X, Y), **columns):
    """Rows by a contract, at places in metres from a corner (or shapes), first row is 1."""
    shapes = [p if isinstance(p, shapely.Geometry) else shapely.Point(p) for p in places]
    shapes = shapely.transform(np.array(shapes, dtype=object), lambda xy: xy + at)
    count = len(shapes)
    base = {c: [None] * count for c in contract if c != "geometry"}
    base |= {"source_row": range(1, count + 1), "equipment": [f"{prefix}{i}" for i in range(1, count + 1)], **columns}
    return gpd.GeoDataFrame(base, geometry=shapes, crs=31983)


def seen(places, **columns):
    return framed(places, SURVEY_EQUIPMENT, "S", **columns)


def allowed(places, **columns):
    return framed(places, EQUIPMENT, "P", **columns)


def told(found):
    """Findings as a person would list them: kind, which row, partner."""
    return sorted(
        zip(found.findings["kind"], found.findings["segment"], found.findings["permitted"], strict=True), key=str
    )


def partners(found):
    return dict(zip(found.runs["source_row"], found.runs["permitted"], strict=True))


# -- what is found


def test_each_kind_is_found_and_all_adds_up():
    survey = seen(
        [(0, 0), (50, 0), (100, 0), (150, 0)], volume_m3=["1", "2.5", None, None], operator=["alfa", None, None, "beta"]
    )
    permitted = allowed([(0.5, 0), (51, 0), (112, 0), (300, 0)], volume_m3=["1", "2", "3", "4"])
    found = detect_equipment(survey, permitted, terms(moved=15))
    assert told(found) == [
        ("larger_than_permitted", "S2", "P2"),
        ("missing_in_survey", "P4", "P4"),
        ("moved", "S3", "P3"),
        ("undeclared_equipment", "S4", None),
    ]
    assert (found.surveyed, found.matched, found.moved, found.undeclared) == (4, 3, 1, 1)
    assert (found.missing, found.larger) == (1, 1)
    assert found.runs["state"].tolist() == ["matched", "matched", "moved", "undeclared"]
    rows = {r["kind"]: r for r in found.findings.to_dict("records")}
    assert tuple(found.findings.columns) == FOUND
    assert rows["larger_than_permitted"]["volume_m3"] == "2.5"
    assert rows["larger_than_permitted"]["permitted_volume_m3"] == "2"
    assert rows["missing_in_survey"]["permitted_volume_m3"] == "4"
    assert rows["missing_in_survey"]["source_row"] == 4
    assert rows["undeclared_equipment"]["operator"] == "beta"
    assert rows["undeclared_equipment"]["offset_mean_m"] == "38.00"
    assert rows["moved"]["offset_max_m"] == "12.00"
    assert all(g.geom_type == "Point" for g in found.findings.geometry)
    assert set(found.findings["length_m"]) == {"0.00"}
    assert rows["moved"]["geometry"].equals(survey.geometry[2])


def test_what_moved_farther_than_asked_is_undeclared_and_missing():
    pairs = seen([(0, 0)]), allowed([(12, 0)])
    assert told(detect_equipment(*pairs, terms(moved=11))) == [
        ("missing_in_survey", "P1", "P1"),
        ("undeclared_equipment", "S1", None),
    ]
    assert told(detect_equipment(*pairs, terms(moved=12))) == [("moved", "S1", "P1")]


def test_accuracies_widen_the_reach():
    pairs = seen([(0, 0)]), allowed([(3.4, 0)])
    assert detect_equipment(*pairs, terms(3)).matched == 0
    assert detect_equipment(*pairs, terms(3, survey=0.3, permitted=0.4)).matched == 1


def test_two_surveyed_on_one_permitted_is_one_too_many_and_not_very_sure():
    found = detect_equipment(seen([(0.4, 0), (0.1, 0)]), allowed([(0, 0)]), terms())
    assert told(found) == [("undeclared_equipment", "S1", None)]
    alone = detect_equipment(seen([(0.4, 0), (60, 0)]), allowed([(0, 0)]), terms())
    assert float(found.findings["confidence"][0]) < 0.05  # they may be one cabinet, noted twice
    assert alone.findings["confidence"][0] == "1.00"


def test_as_many_pairs_as_possible_come_before_short_ones():
    # the nearest of all, S1 and P2, would leave S2 without its only candidate
    found = detect_equipment(seen([(0, 0), (3.5, 0)]), allowed([(-2, 0), (1, 0)]), terms())
    assert partners(found) == {1: 1, 2: 2}


def test_among_equally_near_ones_the_volume_decides():
    survey = seen([(0, 0), (0, 0)], volume_m3=["8", "1"])
    for volumes, expected in ((["1", "8"], {1: 2, 2: 1}), (["8", "1"], {1: 1, 2: 2})):
        found = detect_equipment(survey, allowed([(1, 0), (-1, 0)], volume_m3=volumes), terms())
        assert partners(found) == expected
        assert not len(found.findings)


def test_distance_comes_before_volume_as_far_as_it_can_tell():
    survey = seen([(0, 0), (1, 0)], volume_m3=["8", "1"])
    permitted = allowed([(0.1, 0), (1.1, 0)], volume_m3=["1", "8"])
    assert partners(detect_equipment(survey, permitted, terms())) == {1: 1, 2: 2}
    # who says that places may be off by 2 m can't tell these apart by their place
    assert partners(detect_equipment(survey, permitted, terms(survey=2))) == {1: 2, 2: 1}


def test_other_owners_and_services_are_never_one_another():
    survey = seen([(0, 0), (30, 0), (60, 0)], operator=["alfa", "alfa", None], service=["Poste ", None, "caixa"])
    permitted = allowed([(0, 0), (30, 0), (60, 0)], operator=["alfa", "beta", "beta"], service=["poste", None, "poste"])
    assert partners(detect_equipment(survey, permitted, terms())) == {1: 1, 2: None, 3: None}


def test_areas_are_as_near_as_their_edges():
    found = detect_equipment(seen([shapely.box(0, 0, 2, 1)]), allowed([shapely.box(4.5, 0, 6, 1)]), terms(2.5))
    assert found.matched == 1
    (only,) = detect_equipment(seen([shapely.box(0, 0, 2, 1)]), allowed([(90, 0)]), terms()).findings.geometry[:1]
    assert shapely.box(X, Y, X + 2, Y + 1).contains(only)


def test_a_volume_is_larger_from_what_taping_explains_on():
    def larger(surveyed, permitted):
        found = detect_equipment(
            seen([(0, 0)], volume_m3=[surveyed]), allowed([(0, 0)], volume_m3=[permitted]), terms()
        )
        return found.larger

    assert (rounding_m3(Decimal("0.3")), rounding_m3(Decimal(2))) == (Decimal("0.01"), Decimal("0.04"))
    assert [larger(v, "2") for v in ("2.04", "2.0401", "1", None)] == [0, 1, 0, 0]
    assert [larger(v, "0.3") for v in ("0.31", "0.3101")] == [0, 1]
    assert larger("9", None) == 0


def test_a_survey_without_equipment_says_nothing_of_it():
    none = detect_equipment(seen([]), allowed([(0, 0)]), terms(moved=9))
    assert (none.surveyed, none.missing, len(none.findings)) == (0, 0, 0)
    assert tuple(none.findings.columns) == FOUND
    new = detect_equipment(seen([(0, 0)]), allowed([]), terms(moved=9))
    assert (new.undeclared, new.findings["offset_mean_m"][0], new.findings["confidence"][0]) == (1, None, "1.00")


def test_farther_is_surer():
    places = [(x, 100.0 * i) for i, x in enumerate((3.1, 4, 20))]
    found = detect_equipment(seen(places), allowed([(0, y) for _, y in places]), terms())
    sure = found.findings.loc[found.findings["kind"] == "undeclared_equipment", "confidence"].astype(float).tolist()
    assert sure == sorted(sure)
    assert 0.5 < sure[0] < sure[1] < 1
    near = detect_equipment(
        seen([(0.1, 0), (2.9, 50)], volume_m3=["2", "2"]), allowed([(0, 0), (0, 50)], volume_m3=["1", "1"]), terms()
    )
    close, far = near.findings["confidence"].astype(float)
    assert close > 0.9 > 0.3 > far  # a cabinet 2.9 m off may be another one


def test_a_distance_at_which_nothing_can_be_told_apart_is_refused():
    grid = [(x, y) for x in range(80) for y in range(80)]
    with pytest.raises(InputError, match="Give a smaller tolerance"):
        detect_equipment(seen(grid), allowed(grid), terms(200))


def test_every_kind_of_finding_on_equipment_has_its_article():
    kinds = [rule.kind for rule in RULES if isinstance(rule, EquipmentRule)]
    assert len(kinds) == len(set(kinds)) == 4
    assert set(kinds) <= set(FINDING_KINDS)


# -- laws of the assignment

# eighths of a metre on a small square: ties and crowds are common, differences exact
PLACES = st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)), max_size=5)
VOLUMES = st.lists(st.sampled_from([None, "1", "2", "4"]), min_size=5, max_size=5)


def metres(places):
    return [(x / 8, y / 8) for x, y in places]


def costs(a, b, v, w, extra):
    """Distance of each pair in metres, and what it costs."""
    apart = np.array([[float(np.hypot(p[0] - q[0], p[1] - q[1])) for q in b] for p in a]).reshape(len(a), len(b))
    volumes = np.array([[float(abs(Decimal(x) - Decimal(y)) / max(Decimal(x), Decimal(y))) if x and y else 0.0
                         for y in w[: len(b)]] for x in v[: len(a)]]).reshape(apart.shape)  # fmt: skip
    return apart, apart + extra * volumes


def best(apart, cost, reach):
    """Most pairs, then the least cost, tried out one by one."""
    if apart.shape[0] > apart.shape[1]:
        apart, cost = apart.T, cost.T
    rows, options = np.arange(apart.shape[0]), [(0, 0.0)]
    for chosen in permutations(range(apart.shape[1]), len(rows)):
        near = apart[rows, chosen] <= reach
        options.append((-int(near.sum()), float(cost[rows, chosen][near].sum())))
    return min(options)


@given(PLACES, PLACES, VOLUMES, VOLUMES)
@settings(max_examples=50, deadline=None)
def test_the_assignment_is_the_best_that_there_is(a, b, v, w):
    a, b, limits = metres(a), metres(b), terms(2, survey=0.5)
    survey, permitted = seen(a, volume_m3=v[: len(a)]), allowed(b, volume_m3=w[: len(b)])
    runs = pair(survey, permitted, limits).surveyed
    matched = runs[runs["state"] == "matched"]
    apart, cost = costs(a, b, v, w, 0.5)
    most, least = best(apart, cost, limits.reach_m)
    assert -len(matched) == most
    assert cost[matched["row"], matched["other"]].sum() == pytest.approx(least, abs=1e-4)
    assert matched["other"].is_unique


@given(PLACES, PLACES, VOLUMES, st.randoms(use_true_random=False))
@settings(max_examples=20, deadline=None)
def test_neither_the_order_of_rows_nor_the_place_changes_what_is_found(a, b, v, random):
    survey, permitted = seen(metres(a), volume_m3=v[: len(a)]), allowed(metres(b))
    limits = terms(1, moved=4)
    first = detect_equipment(survey, permitted, limits)
    shuffled = [f.iloc[random.sample(range(len(f)), len(f))].reset_index(drop=True) for f in (survey, permitted)]
    other = detect_equipment(*shuffled, limits)
    assert told(other) == told(first)
    assert partners(other) == partners(first)
    moved = [f.set_geometry(f.geometry.translate(-1024.5, 512.25)) for f in (survey, permitted)]
    assert told(detect_equipment(*moved, limits)) == told(first)
    assert first.surveyed == first.matched + first.undeclared
    assert len(permitted) == first.matched + first.missing or not len(survey)
    assert first.runs["permitted"].dropna().is_unique


@given(st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7), st.integers(0, 9)), max_size=20))
@settings(max_examples=60, deadline=None)
def test_each_row_is_in_one_pair_at_most_and_no_pair_could_be_added(candidates):
    some = {(a, b): float(c) for a, b, c in candidates}
    one, other = (np.array([k[i] for k in some], dtype=np.int64) for i in (0, 1))
    chosen = assign(one, other, np.array(list(some.values())))
    assert len(set(one[chosen])) == len(chosen) == len(set(other[chosen]))
    taken = set(one[chosen]), set(other[chosen])
    assert all(a in taken[0] or b in taken[1] for a, b in some)


# -- real files, and many


@pytest.mark.parametrize(
    ("tolerance", "counts"), [(1, (3444, 326, 129, 0)), (3, (3476, 294, 97, 0)), ((1, 10), (3528, 242, 45, 84))]
)
def test_real_poles_of_two_years(real_poles, tolerance, counts):
    survey, permitted = real_poles
    limits = terms(*tolerance) if isinstance(tolerance, tuple) else terms(tolerance)
    found = detect_equipment(survey, permitted, limits)
    assert (found.surveyed, found.matched + found.undeclared) == (3770, 3770)
    assert (found.matched, found.undeclared, found.missing, found.moved) == counts
    matched = found.runs[found.runs["state"] == "matched"]
    names = survey.set_index("source_row")["equipment"], permitted.set_index("source_row")["equipment"]
    same = (names[0][matched["source_row"]].to_numpy() == names[1][matched["permitted"]].to_numpy()).mean()
    assert same > 0.99  # by the poles' own ids, which the assignment doesn't look at


@pytest.fixture(scope="module")
def real_poles(shared):
    frames = []
    for name in ("rede_levantada_2024.gpkg", "rede_permitida_2021.gpkg"):
        frame = gpd.read_file(shared / "data" / "caieiras" / name, layer="PONNOT")
        frames.append((frame.geometry, list(frame["COD_ID"])))
    return (
        seen(frames[0][0], at=(0, 0), equipment=frames[0][1]),
        allowed(frames[1][0], at=(0, 0), equipment=frames[1][1]),
    )


def test_many_are_paired_in_seconds():
    rng, count = np.random.default_rng(1), 20_000
    places = rng.uniform(0, 30 * count**0.5, (count, 2))
    survey, permitted = seen(places + rng.normal(0, 0.5, (count, 2))), allowed(places)
    began = perf_counter()
    found = detect_equipment(survey, permitted, terms())
    assert perf_counter() - began < 10  # half a second; a solution over all rows at once would take minutes
    assert found.matched > 0.999 * count


def test_a_crowd_that_hangs_together_is_solved_whole():
    rng, count = np.random.default_rng(2), 1_500
    places = rng.uniform(0, 5 * count**0.5, (count, 2))
    found = detect_equipment(seen(places + rng.normal(0, 1, (count, 2))), allowed(places), terms(8))
    assert found.matched == count
