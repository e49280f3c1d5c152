"""Lines held against lines: what is found, what isn't, and that no metre is lost."""

from decimal import Decimal
from itertools import pairwise

import drawn_surveys as made
import numpy as np
import pytest
import shapely
from drawn_surveys import ORIGIN, line, permitted, survey, terms
from hypothesis import given, settings
from hypothesis import strategies as st

from geobill.detection.lines import detect_lines
from geobill.domain.detection import MISSING, MORE, MOVED, UNDECLARED_SEGMENT
from geobill.errors import InputError

STREET = line((0, 0), (100, 0))


def found(drawn, allowed, on=None, **columns):
    result = detect_lines(survey(drawn, **columns), permitted(allowed), on or terms())
    conserved(result)
    return result


def conserved(result):
    assert result.matched_m + result.undeclared_m == result.survey_length_m
    told = result.findings.groupby("kind")["length_m"].agg(lambda x: sum(map(Decimal, x))).to_dict()
    assert told.get(UNDECLARED_SEGMENT, Decimal(0)) == result.undeclared_m
    assert told.get(MORE, Decimal(0)) == result.more_m
    assert told.get(MOVED, Decimal(0)) == result.moved_m
    assert told.get(MISSING, Decimal(0)) == result.missing_m
    runs = result.runs
    assert sum(map(Decimal, runs["length_m"])) == result.survey_length_m
    follows = runs["source_row"].diff() == 0
    assert np.allclose(runs["start_m"][follows], runs["end_m"].shift()[follows], rtol=0, atol=0)
    length = result.findings.geometry.length
    assert np.allclose(length, result.findings["length_m"].astype(float), atol=0.0101)
    assert np.allclose(length, result.findings["end_m"] - result.findings["start_m"], atol=1e-6)


def stretches(result, kind=UNDECLARED_SEGMENT):
    """Findings of a kind as (row, from, to), rounded to a tenth of a metre."""
    rows = result.findings[result.findings["kind"] == kind]
    return [(r.source_row, round(r.start_m, 1), round(r.end_m, 1)) for r in rows.itertuples()]


@pytest.mark.parametrize("degrees", [90, 60, 40, 25, 18, 12, 10])
def test_a_crossing_is_undeclared_over_its_whole_length(degrees):
    way = 60 * np.array([np.cos(np.radians(degrees)), np.sin(np.radians(degrees))])
    result = found(
        [line(50 - way, 50 + way * 0 + (0, 0), way + (50, 0)) if False else line((50, 0) - way, (50, 0) + way)],
        [STREET],
    )
    assert stretches(result) == [(1, 0.0, 120.0)]


def test_a_crossing_at_a_joint_of_permitted_lines_is_one_too():
    result = found([line((20, -40), (80, 40))], [line((0, 0), (50, 0)), line((50, 0), (100, 0))])
    assert stretches(result) == [(1, 0.0, 100.0)]


def test_what_carries_on_past_a_dead_end_is_undeclared_from_the_foot_of_the_perpendicular_on():
    result = found([line((0, 1), (160, 1))], [STREET])
    assert stretches(result) == [(1, 100.0, 160.0)]
    assert result.findings["permitted"].isna().all()


def test_what_carries_on_where_the_permitted_line_turns_off_is_undeclared_from_the_corner_on():
    result = found([line((0, 1), (160, 1))], [line((0, 0), (100, 0), (100, -80))])
    assert stretches(result) == [(1, 100.0, 160.0)]


@pytest.mark.parametrize("degrees", [90, 45, 30, 20])
def test_a_branch_is_undeclared_from_its_root(degrees):
    end = 50 + 60 * np.cos(np.radians(degrees)), 60 * np.sin(np.radians(degrees))
    result = found([STREET, line((50, 0), end)], [STREET])
    assert stretches(result) == [(2, 0.0, 60.0)]


def test_a_branch_drawn_in_one_go_with_the_line_that_it_leaves_is_undeclared_from_its_root():
    result = found([line((0, 0.5), (50, 0.5), (50, 60))], [STREET])
    assert stretches(result) == [(1, 50.0, 109.5)]


def test_a_parallel_line_beyond_the_reach_is_undeclared_and_one_within_isnt():
    for offset, expected in ((2.9, []), (3.2, [(1, 0.0, 100.0)])):
        result = found([line((0, offset), (100, offset))], [STREET], terms(moved_within=0))
        assert stretches(result) == expected


def test_a_parallel_line_that_touches_the_reach_at_a_wiggle_is_undeclared_as_a_whole():
    wiggles = [(x, 3.6 + 0.9 * np.sin(x / 8)) for x in range(0, 201, 2)]
    result = found([line(*wiggles)], [line((0, 0), (200, 0))], terms(moved_within=0))
    assert len(stretches(result)) == 1
    assert result.undeclared_m == result.survey_length_m


def test_a_line_within_reach_that_wiggles_out_of_it_is_matched():
    wiggles = [(x, 2.3 + 1.0 * np.sin(x / 8)) for x in range(0, 201, 2)]
    assert found([line(*wiggles)], [line((0, 0), (200, 0))]).undeclared_m == 0


@pytest.mark.parametrize("towards", range(0, 360, 45))
@pytest.mark.parametrize("turn", [30, 60, 90, 120])
def test_both_sides_of_a_corner_are_matched(towards, turn):
    way = np.array([np.cos(np.radians(turn)), np.sin(np.radians(turn))])
    street = line((0, 0), (80, 0), (80, 0) + 80 * way)
    aside = 2.8 * np.array([np.cos(np.radians(towards)), np.sin(np.radians(towards))])
    result = found([shapely.transform(street, lambda xy: xy + aside)], [street])
    assert (result.undeclared_m, result.missing_m) == (0, 0)


def test_tiny_crooked_edges_within_reach_are_matched():
    chance = np.random.default_rng(7)
    places = np.c_[np.arange(0, 100.1, 0.7), chance.normal(0, 0.35, 143)]
    result = found([line(*places)], [STREET])
    assert (result.undeclared_m, result.missing_m) == (0, 0)
    # and the other way round, features of a metre or less
    bits = [line(a, b) for a, b in pairwise(places)]
    result = found([STREET], bits)
    assert (result.undeclared_m, result.missing_m) == (0, 0)


def test_short_leftovers_are_matched_and_short_islands_are_not():
    gap = found([STREET], [line((0, 0), (48, 0)), line((52, 0), (100, 0))])
    assert gap.undeclared_m == 0
    island = found([STREET], [line((48, 1), (52, 1))])
    assert stretches(island) == [(1, 0.0, 100.0)]
    stub = found([line((0, 0), (104, 0))], [STREET])
    assert (stub.undeclared_m, stub.below_minimum_m) == (0, Decimal("4.00"))
    assert found([line((0, 0), (106, 0))], [STREET]).undeclared_m == Decimal("6.00")


def test_undeclared_metres_drawn_in_bits_are_found():
    bits = [line((x, 20), (x + 2, 20)) for x in range(0, 60, 2)]
    result = found(bits, [STREET])
    assert result.undeclared_m == 60
    assert len(result.findings) == 31  # thirty bits, and the street is missing


def test_two_cables_on_one_permitted_one_leave_the_farther_over():
    result = found([line((0, 0.4), (100, 0.4)), line((100, -1.2), (0, -1.2))], [STREET])
    assert stretches(result, MORE) == [(2, 0.0, 100.0)]
    assert (result.undeclared_m, result.more_m, result.missing_m) == (0, 100, 0)
    (more,) = result.findings.itertuples()
    assert more.permitted == "P1"


def test_as_many_permitted_lines_in_one_place_serve_as_many():
    cables = [line((0, y), (100, y)) for y in (0.4, -1.2)]
    result = found(cables, [STREET, line((100, 0), (0, 0))])
    assert (result.more_m, result.missing_m) == (0, 0)


def test_a_survey_shifted_over_two_parallel_permitted_lines_leaves_nobody_over():
    # the first surveyed line is nearer to the second permitted one, which is all that the second can have
    allowed = [line((0, 0), (100, 0)), line((0, 2), (100, 2))]
    result = found([line((0, 1.5), (100, 1.5)), line((0, 3.5), (100, 3.5))], allowed)
    assert (result.more_m, result.missing_m, result.undeclared_m) == (0, 0, 0)


def test_three_shifted_over_three_leaves_nobody_over():
    allowed = [line((0, y), (100, y)) for y in (0, 2, 4)]
    result = found([line((0, y), (100, y)) for y in (1.5, 3.5, 5.5)], allowed)
    assert (result.more_m, result.missing_m, result.undeclared_m) == (0, 0, 0)


def test_many_cables_in_one_place_are_served_by_as_many():
    assert found([STREET] * 30, [STREET] * 30).more_m == 0
    assert found([STREET] * 30, [STREET] * 29).more_m == 100


def test_a_line_of_unknown_service_leaves_the_place_to_one_that_can_have_no_other():
    allowed = permitted([line((0, 0), (100, 0)), line((0, 2), (100, 2))], service=["MT", "BT"])
    drawn = survey([line((0, 0.1), (100, 0.1)), line((0, 0.8), (100, 0.8))], service=[None, "MT"])
    result = detect_lines(drawn, allowed, terms())
    assert (result.more_m, result.missing_m, result.undeclared_m) == (0, 0, 0)


def test_services_and_levels_differ_only_where_both_sides_say_one():
    allowed = permitted([STREET], service="MT", level="aéreo")
    for columns, undeclared in (
        ({}, 0),
        ({"service": " mt "}, 0),
        ({"service": "BT"}, 100),
        ({"level": "subterrâneo"}, 100),
        ({"service": "MT", "level": None}, 0),
    ):
        assert detect_lines(survey([STREET], **columns), allowed, terms()).undeclared_m == undeclared


def test_what_lies_beside_a_permitted_line_that_the_survey_lacks_has_moved():
    result = found([line((0, 5), (100, 5))], [STREET])
    assert stretches(result, MOVED) == [(1, 0.0, 100.0)]
    assert (result.undeclared_m, result.missing_m, result.moved_m) == (0, 0, 100)
    # but not where the survey has it too
    result = found([line((0, 5), (100, 5)), STREET], [STREET])
    assert (result.undeclared_m, result.missing_m, result.moved_m) == (100, 0, 0)


def test_permitted_metres_that_nothing_serves_are_missing():
    result = found([line((0, 1), (40, 1))], [STREET])
    assert stretches(result, MISSING) == [(1, 40.0, 100.0)]
    assert result.permitted_length_m == 100
    (missing,) = result.findings.itertuples()
    assert (missing.permitted, missing.segment) == ("P1", "P1")


def test_a_finding_is_a_stretch_of_the_surveys_own_line_with_its_vertices():
    drawn = line((0, 1), (100, 1), (130, 20), (150, 20.5), (170, 60))
    (finding,) = found([drawn], [STREET]).findings.itertuples()
    assert shapely.get_coordinates(finding.geometry)[1:].tolist() == shapely.get_coordinates(drawn)[2:].tolist()
    assert shapely.distance(shapely.get_point(finding.geometry, 0), drawn) < 1e-6


def test_rows_of_several_parts_keep_their_own_distances():
    parts = shapely.multilinestrings([line((0, 1), (50, 1)), line((0, 40), (30, 40))])
    assert stretches(found([parts], [STREET])) == [(1, 50.0, 80.0)]


def test_nothing_on_either_side():
    result = found([], [STREET])
    assert (result.survey_length_m, len(result.runs)) == (0, 0)
    result = found([STREET], [])
    assert (result.undeclared_m, result.permitted_length_m) == (100, 0)
    assert result.findings.iloc[0]["offset_mean_m"] is None
    nothing = found([shapely.LineString(), None, STREET], [STREET, None])
    assert nothing.survey_length_m == 100


def test_a_frame_without_its_columns_is_refused():
    with pytest.raises(InputError, match="width_m"):
        detect_lines(survey([STREET]).drop(columns="width_m"), permitted([STREET]), terms())


# -- a survey made from a network, as a field crew would bring it back


@pytest.fixture(scope="module")
def crew():
    allowed = made.network("rede_permitida_2021.gpkg", "SSDMT")
    maker = made.acceptance()
    drawn, hidden = maker.survey(allowed, np.random.default_rng(3057), 0.5)
    return drawn.geometry.to_numpy(), hidden, allowed.geometry.to_numpy()


def test_recall_and_precision_on_the_acceptances_survey(crew):
    drawn, hidden, allowed = crew
    result = found(drawn, allowed)
    listed = result.findings[result.findings["kind"] == UNDECLARED_SEGMENT]
    told = shapely.union_all(listed.geometry.to_numpy())
    assert shapely.difference(told, shapely.buffer(shapely.union_all(drawn), 0.01)).length < 0.001 * told.length
    assert shapely.intersection(hidden, shapely.buffer(told, 0.05)).length >= 0.995 * hidden.length
    assert shapely.intersection(told, shapely.buffer(hidden, 0.05)).length >= 0.99 * told.length


def test_direction_order_and_place_change_nothing(crew):
    drawn, _, allowed = crew
    plain = found(drawn, allowed)
    chance = np.random.default_rng(1)
    order = chance.permutation(len(drawn))
    turned = np.where(chance.random(len(drawn)) < 0.5, shapely.reverse(drawn), drawn)[order]
    other = found(turned, allowed[chance.permutation(len(allowed))])
    assert other.undeclared_m == pytest.approx(plain.undeclared_m, abs=Decimal("0.05"))
    assert other.missing_m == pytest.approx(plain.missing_m, abs=Decimal(1))
    angle = 0.7
    spin = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])

    def elsewhere(lines):
        return shapely.transform(lines, lambda xy: (xy - ORIGIN) @ spin.T + (500, -300))

    moved = found(elsewhere(drawn), elsewhere(allowed))
    ours, theirs = (r.findings[r.findings["kind"] == UNDECLARED_SEGMENT] for r in (plain, moved))
    assert ours["source_row"].tolist() == theirs["source_row"].tolist()
    assert np.allclose(ours["start_m"], theirs["start_m"], atol=0.001)
    assert np.allclose(ours["end_m"], theirs["end_m"], atol=0.001)


def test_where_lines_are_cut_changes_little(crew):
    drawn, _, allowed = crew
    chance = np.random.default_rng(2)
    bits = []
    for one in drawn:
        cuts = np.sort(chance.random(chance.integers(0, 4)))
        cuts = [0.0, *cuts, 1.0]
        bits += [shapely.ops.substring(one, a, b, normalized=True) for a, b in pairwise(cuts)]
    plain, cut = found(drawn, allowed), found(bits, allowed)
    assert float(cut.undeclared_m) == pytest.approx(float(plain.undeclared_m), rel=0.002)


def test_plain_buffering_agrees_where_it_is_right(crew):
    """GEOS as the oracle: parallel lines that neither cross nor touch what is permitted."""
    allowed = [line((0, 40 * k), (300, 40 * k)) for k in range(8)]
    chance = np.random.default_rng(4)
    drawn = [
        line((0, 40 * k + y), (300, 40 * k + y))
        for k in range(8)
        for y in chance.uniform(-18, 18, 3)
        if not 2.8 < abs(y) < 3.2
    ]
    buffered = shapely.buffer(shapely.union_all(allowed), 3.0)
    expected = sum(shapely.difference(g, buffered).length for g in drawn)
    assert float(found(drawn, allowed, terms(moved_within=0)).undeclared_m) == pytest.approx(expected)


places = st.tuples(st.integers(-60, 60), st.integers(-60, 60))
wild = st.lists(st.lists(places, min_size=2, max_size=6), min_size=1, max_size=7)


@given(wild, wild, st.sampled_from([0.5, 3, 20]), st.sampled_from([0, 5, 30]))
@settings(max_examples=40)
def test_whatever_is_drawn_no_metre_is_lost(drawn, allowed, tolerance, least):
    result = found([line(*p) for p in drawn], [line(*p) for p in allowed], terms(tolerance, least))
    assert 0 <= result.undeclared_m <= result.survey_length_m
    assert result.moved_m + result.more_m + result.below_minimum_m <= result.matched_m
    assert 0 <= result.missing_m <= result.permitted_length_m
    assert result.findings["confidence"].astype(float).between(0, 1).all()


@given(wild)
@settings(max_examples=15)
def test_a_survey_that_is_what_is_permitted_shows_nothing(drawn):
    lines = [line(*p) for p in drawn]
    result = found(lines, lines)
    assert result.undeclared_m == 0


def test_as_many_surveyed_as_permitted_cables_in_one_place_are_all_matched():
    many = [line((0, 0), (100, 0))] * 150
    result = found(many, many)
    assert (result.more_m, result.missing_m) == (0, 0)


def test_thousands_of_lines_that_begin_in_one_place_are_borne():
    ends = [(0.5 * np.cos(a), 0.5 * np.sin(a)) for a in np.linspace(0, 2 * np.pi, 40_000)]
    drawn = [line((0, 50), (x, 50 + y)) for x, y in ends]
    assert found(drawn, [STREET]).below_minimum_m == 20_000


@pytest.mark.parametrize("limit", ["geobill.detection.intervals._MOST_CELLS", "geobill.detection.beside._MOST_PIECES"])
def test_more_than_can_be_told_apart_is_refused(monkeypatch, limit):
    monkeypatch.setattr(limit, 2_000)
    star = [STREET] * 50
    with pytest.raises(InputError, match="nothing can be told apart"):
        detect_lines(survey(star), permitted(star), terms())
