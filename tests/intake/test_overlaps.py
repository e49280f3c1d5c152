"""Stretches drawn twice, wholly or in part; declared lengths; several lines in one strip."""

import itertools
from datetime import date
from decimal import Decimal

import geopandas as gpd
import numpy as np
import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st
from shapely.ops import substring

from geobill.domain.network import Municipality
from geobill.intake.duplicates import find_duplicates, find_stored
from geobill.intake.network import read_network
from geobill.intake.reader import read_layers
from geobill.intake.reading import Options, Part

X, Y = 322000.0, 7416000.0
BENT = shapely.LineString([(X, Y), (X + 30, Y + 40), (X + 90, Y + 40), (X + 90, Y + 100)])  # 50, 60 and 60 m


def piece(start, end):
    return substring(BENT, start, end)


def repeats(*lines, owner=None, installed=None, removed=None):
    none = [None] * len(lines)
    return find_duplicates(
        np.array(lines, dtype=object),
        owner or [("alfa", None, None)] * len(lines),
        np.array(installed or none, dtype=object),
        np.array(removed or none, dtype=object),
    )


def on(found):
    return {row: cover.rows for row, cover in found.items()}


@pytest.mark.parametrize(
    ("spans", "wholly"),
    [
        ([(0, 80), (80, 170), (0, 170)], {2: (1, 0)}),  # two short ones first, then the long one
        ([(0, 170), (0, 80), (80, 170)], {1: (0,), 2: (0,)}),
        ([(0, 80), (0, 170), (80, 170)], {0: (1,), 2: (1,)}),
        ([(0, 80), (0, 170)], {0: (1,)}),  # the long one can't yield
        ([(0, 60), (60, 110), (110, 170), (0, 30), (30, 80), (80, 170)], {3: (0,), 4: (0, 1), 5: (2, 1)}),
        ([(0, 100), (50, 170), (50, 100)], {2: (0, 1)}),
        ([(0, 170), (0, 170), (170, 0)], {1: (0,), 2: (0,)}),
        ([(0, 100), (50, 170)], {}),
        ([(0, 85), (85, 170)], {}),
    ],
)
def test_who_yields(spans, wholly):
    found = repeats(*(piece(*span) for span in spans))
    assert on(found.wholly) == wholly
    assert all(cover.share > 0.999 for cover in found.wholly.values())


@pytest.mark.parametrize("turn", [lambda g: g, shapely.reverse])
@pytest.mark.parametrize("digits", [None, 3, 2])
def test_cuts_are_found_whatever_the_rounding_and_the_direction(turn, digits):
    cut = [piece(0, 21.7391), piece(21.7391, 97.1234), piece(97.1234, 170)]
    if digits is not None:
        cut = [shapely.transform(g, lambda xy: np.round(xy, digits)) for g in cut]
    assert on(repeats(BENT, *(turn(g) for g in cut)).wholly) == {1: (0,), 2: (0,), 3: (0,)}
    assert on(repeats(*cut, turn(BENT)).wholly) == {3: (1, 2, 0)}
    assert set(on(repeats(BENT, turn(shapely.MultiLineString(cut))).wholly)) == {1}


def test_a_partial_overlap_stays_and_tells_its_metres(make_layer, network):
    reading = network(make_layer([piece(0, 100), shapely.reverse(piece(60, 170)), piece(169.8, 170)], id=list("abc")),
                      {"segment": "id"})  # fmt: skip
    assert [s.id for s in reading.set_aside] == ["c"]
    assert "all of it (0.20 m, 100.0 %) lies on b in row 2" in reading.set_aside[0].reason
    assert reading.length_m == Decimal("210.00")
    [said] = [f for f in reading.findings if f.code == "overlaps_other_rows"]
    assert said.rows == (2,)
    assert "row 2: 40.00 m, 36.4 %, on row 1" in said.message


@pytest.mark.parametrize(
    ("other", "share"),
    [
        (shapely.affinity.translate(BENT, 0.003, -0.003), 1),
        (shapely.affinity.translate(BENT, 0.05, 0.05), 0),
        (shapely.LineString([(X, Y), (X + 90, Y + 100)]), 0),
        (shapely.LineString([(X + 40, Y), (X + 40, Y + 90)]), 0),  # crosses
        (shapely.LineString([(X + 90, Y + 100), (X + 90, Y + 130)]), 0),  # goes on
        (shapely.LineString([(X + 30, Y + 40), (X + 60, Y + 80)]), 0),  # goes straight on at a bend
        (shapely.LineString([(X + 40, Y + 40), (X + 70, Y + 40), (X + 70, Y)]), 30 / 70),
    ],
)
def test_what_lies_on_a_line(other, share):
    found = repeats(BENT, other)
    assert len(found.wholly) == (share == 1)
    assert [c.share for c in found.partly.values()] == ([pytest.approx(share, abs=1e-4)] if 0 < share < 1 else [])


def test_another_service_another_owner_or_other_days_are_no_repetition():
    halves = [piece(0, 80), piece(80, 170), BENT]
    assert on(repeats(*halves, owner=[("alfa", "energia", level) for level in ("BT", "BT", "MT")]).wholly) == {}
    assert on(repeats(*halves, owner=[(o, None, None) for o in ("alfa", "beta", "alfa")]).wholly) == {0: (2,)}
    june = date(2026, 6, 1)
    assert on(repeats(*halves, removed=[june, None, None]).wholly) == {2: (1, 0)}
    # never do both halves lie there at once
    days = {"installed": [None, date(2026, 7, 1), None], "removed": [june, None, None]}
    assert 2 not in on(repeats(*halves, **days).wholly)
    # a part yields to a later, longer row only if that stands for as long
    assert on(repeats(piece(0, 80), BENT, removed=[None, june]).wholly) == {}


def test_what_yielded_to_a_row_that_yields_stands_where_it_must():
    shifted = [shapely.affinity.translate(BENT, 0, 0.008 * n) for n in range(3)]  # 1 is near 0 and 2, those aren't near
    found = repeats(*shifted)
    assert on(found.wholly) == {1: (0,)} or set(found.wholly) == {1}


def test_short_rows_arent_lost_in_the_tolerance():
    stub = shapely.LineString([(X + 89.99, Y + 100), (X + 90.03, Y + 100)])  # 4 cm across the end
    assert repeats(BENT, stub).wholly == {}


# streets whose directions are those of right triangles with whole sides: cuts at whole metres are exact
STREETS = [((0, 0), (1, 0)), ((0, 10), (0.6, 0.8)), ((200, 0), (0, 1)), ((300, 300), (-0.8, 0.6))]
SPAN = st.tuples(st.integers(0, 3), st.integers(0, 20), st.integers(1, 12), st.booleans())


def street_piece(street, start, length, backwards):
    (x, y), (dx, dy) = STREETS[street]
    ends = [(X + x + dx * 5 * t, Y + y + dy * 5 * t) for t in (start, start + length)]
    return shapely.LineString(ends[::-1] if backwards else ends)


def union_m(rows):
    """Length of what is covered, by GEOS, street by street: each is laid along an axis, where cuts are exact."""
    total = 0.0
    for street in range(len(STREETS)):
        flat = [shapely.LineString([(5 * a, 0), (5 * (a + n), 0)]) for s, a, n, _ in rows if s == street]
        total += shapely.union_all(flat).length
    return total


@settings(max_examples=150, deadline=None)
@given(st.lists(SPAN, min_size=2, max_size=14), st.randoms())
def test_metres_are_conserved_whatever_the_order(rows, random):
    shuffled = random.sample(rows, len(rows))
    counts = []
    for some in (rows, shuffled):
        found = repeats(*(street_piece(*row) for row in some))
        stand = [row for n, row in enumerate(some) if n not in found.wholly]
        assert union_m(stand) == pytest.approx(union_m(some), abs=1e-6)
        for row in range(len(stand)):  # and none that stands lies on the others
            others = stand[:row] + stand[row + 1 :]
            assert union_m(others) < union_m(stand) - 1
        twice = sum(5 * n for _, _, n, _ in stand) - union_m(stand)
        assert sum(c.metres for c in found.partly.values()) == pytest.approx(twice, abs=1e-3)
        counts.append(union_m(stand))
    assert counts[0] == pytest.approx(counts[1])


def stored(*lines, **columns):
    data = {"source_row": range(1, len(lines) + 1), "operator": "alfa", "service": None, "level": None,
            "installed_on": None, "removed_on": None, **columns}  # fmt: skip
    return gpd.GeoDataFrame(data, geometry=[shapely.MultiLineString([g]) for g in lines], crs="EPSG:31983")


def test_what_is_stored_already_is_found_cut_elsewhere_and_in_part():
    accepted = stored(shapely.reverse(BENT), piece(60, 100), piece(150, 170), shapely.affinity.translate(BENT, 9, 5))
    before = stored(piece(0, 70), piece(70, 110))
    found = {f.code: f for f in find_stored(accepted, before)}
    assert found["already_stored"].rows == (2,)
    assert found["overlaps_stored"].rows == (1,)
    assert "110.00 m" in found["overlaps_stored"].message
    assert "row 1 64.7 %" in found["overlaps_stored"].message
    assert find_stored(accepted, stored(piece(0, 70), level="MT")) == ()


@pytest.fixture(scope="module")
def bdgd(shared):
    path = shared / "data/bdgd/MUX_401_2024.gdb.zip"
    if not path.is_file():
        pytest.skip(f"no real data at {path}")
    layers = read_layers(path, ["SSDMT", "SSDBT"])
    place = Municipality("Muxfeldt", tuple(layers[0].frame.total_bounds), "EPSG:31982", 20_000)
    parts = [
        Part(one, Options("alfa", None, Decimal("0.50"), {"segment": "COD_ID", "declared_length": "COMP"},
                          constants={"level": one.name[-2:]}))
        for one in layers
    ]  # fmt: skip
    return read_network(parts, place, ["alfa"])


def test_the_real_geodatabase_has_one_pair_in_each_layer(bdgd):
    assert [(s.layer, s.id, s.reason_code) for s in bdgd.set_aside] == [
        ("SSDMT", "1785", "duplicate"), ("SSDBT", "5528", "duplicate"),
    ]  # fmt: skip
    assert "same stretch as 1773" in bdgd.set_aside[0].reason
    assert "same stretch as 5856" in bdgd.set_aside[1].reason
    assert not [f for f in bdgd.findings if f.code == "overlaps_other_rows"]


def test_the_real_declared_lengths(bdgd):
    differs = {f.layer: f for f in bdgd.findings if f.code == "declared_length_differs"}
    assert {layer: len(f.rows) for layer, f in differs.items()} == {"SSDMT": 11, "SSDBT": 260}
    assert "91.00 m for 45.00 m drawn" in differs["SSDBT"].message
    assert not [f for f in bdgd.findings if f.code == "declared_length_unit"]


def test_medium_and_low_voltage_on_the_same_poles_are_one_trench(bdgd):
    [message] = {f.message.split(" of the whole import ")[-1].split("Of the whole import ")[-1]
                 for f in bdgd.findings if f.code == "same_trench"}  # fmt: skip
    assert message.startswith("82347.39 m: 41173.22 m of BT beside MT; 41172.10 m of MT beside BT")


def test_lines_in_one_strip_are_reported_with_their_metres(make_layer, network):
    lines = [BENT, shapely.affinity.translate(piece(0, 50), 0.2, 0), shapely.affinity.translate(BENT, 3, 3),
             shapely.LineString([(X + 50, Y + 10), (X + 60, Y + 70)])]  # fmt: skip
    columns = {"sv": ["fibra", "energia", "energia", "energia"], "w": ["0,50"] * 4}
    reading = network(make_layer(lines, **columns), {"service": "sv", "width": "w"})
    [said] = [f for f in reading.findings if f.code == "same_trench"]
    assert said.rows == (1, 2)
    assert "49.88 m of fibra beside energia; 49.88 m of energia beside fibra" in said.message
    wide = network(make_layer(lines, **{**columns, "w": ["6,00"] * 4}), {"service": "sv", "width": "w"})
    assert [f.rows for f in wide.findings if f.code == "same_trench"] == [(1, 2, 3)]


@pytest.mark.parametrize(
    ("per_metre", "unit"),
    [(3.2808, "feet"), (0.001, "kilometres"), (100, "centimetres"), (1000, "millimetres"), (9.6e-6, "degrees")],
)
def test_the_unit_of_declared_lengths_shows(make_layer, network, per_metre, unit):
    lengths = np.arange(20, 50)
    lines = [shapely.LineString([(X, Y + 5 * n), (X + length, Y + 5 * n)]) for n, length in enumerate(lengths)]
    declared = [f"{length * per_metre * (1.5 if length == 49 else 1):.9f}" for length in lengths]
    findings = network(make_layer(lines, ext=declared), {"declared_length": "ext"}).findings
    found = {f.code: f for f in findings}
    assert unit in found["declared_length_unit"].message
    assert len(found["declared_length_unit"].rows) == 30
    assert found["declared_length_differs"].rows == (30,)


def test_declared_lengths_in_metres_or_in_no_unit_at_all(make_layer, network):
    lines = [shapely.LineString([(X, Y + 5 * n), (X + 20, Y + 5 * n)]) for n in range(30)]
    good = network(make_layer(lines, ext=["21,99"] * 30), {"declared_length": "ext"})
    assert not [f for f in good.findings if f.code.startswith("declared")]
    odd = network(make_layer(lines, ext=[str(n + 30) for n in range(30)]), {"declared_length": "ext"})
    assert [(f.code, len(f.rows)) for f in odd.findings if f.code.startswith("declared")] == [
        ("declared_length_differs", 30)
    ]
    few = network(make_layer(lines[:5], ext=["0,020"] * 5), {"declared_length": "ext"})
    assert [f.code for f in few.findings if f.code.startswith("declared")] == ["declared_length_differs"]


def test_thirty_thousand_rows_and_their_repeats():
    n = 122
    t = np.linspace(0, 40, 4)
    grid = [shapely.LineString(np.stack([X + 40 * i + t * a, Y + 40 * j + t * b], 1))
            for i, j, (a, b) in itertools.product(range(n), range(n), [(1, 0.1), (0.1, 1)])]  # fmt: skip
    twice = [shapely.reverse(grid[k]) for k in range(0, len(grid), 10)]
    halves = [substring(g, 0, 20) for g in grid[5::20]]
    found = repeats(*grid, *twice, *halves)
    assert len(found.wholly) == len(twice) + len(halves)


@pytest.mark.parametrize("turn", [lambda g: g, shapely.reverse])
def test_a_row_that_draws_a_stretch_again_over_itself_is_said_with_its_metres(make_layer, network, turn):
    twice = shapely.MultiLineString([BENT, turn(piece(20, 60))])
    reading = network(make_layer([twice, shapely.affinity.translate(BENT, 0, 500)], id=list("ab")), {"segment": "id"})
    assert reading.set_aside == ()
    [said] = [f for f in reading.findings if f.code == "overlaps_itself"]
    assert said.rows == (1,)
    assert "40.00 m" in said.message


def test_a_way_forth_and_back_lies_on_itself_and_a_bend_or_a_ring_does_not():
    there_and_back = shapely.LineString([(X, Y), (X + 100, Y), (X, Y)])
    ring = shapely.LineString([(X, Y + 50), (X + 10, Y + 50), (X + 10, Y + 60), (X, Y + 50)])
    slight = shapely.LineString(
        [(X, Y + 90 + n * n * 0.001) for n in range(2)] + [(X + n, Y + 90 + n * n * 0.001) for n in range(50)]
    )
    found = repeats(there_and_back, ring, slight, shapely.affinity.translate(BENT, 0, 300))
    assert found.within == pytest.approx({0: 100.0})


@pytest.mark.parametrize("turn", [lambda g: g, shapely.reverse])
def test_a_part_that_is_there_twice_counts_once(make_layer, network, turn):
    other = shapely.affinity.translate(BENT, 0, 40)
    gathered = shapely.MultiLineString([BENT, other, turn(BENT)])
    away = shapely.affinity.translate(gathered, 0, 500)
    once = network(make_layer([gathered, shapely.affinity.translate(BENT, 0, 900)]))
    assert float(once.length_m) == pytest.approx(3 * BENT.length, abs=0.03)
    [said] = [f for f in once.findings if f.code == "repeated_parts"]
    assert said.rows == (1,)
    assert f"{BENT.length:.2f} m" in said.message
    assert shapely.get_num_geometries(once.accepted.geometry.iloc[0]) == 2
    billed = network(make_layer([away]), duplicate_stretch="bill")
    assert float(billed.length_m) == pytest.approx(3 * BENT.length, abs=0.03)
    assert "overlaps_itself" in [f.code for f in billed.findings]
