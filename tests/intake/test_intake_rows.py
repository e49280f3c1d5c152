"""Rows of networks, cabinets and value maps: what is accepted, what is set aside and why."""

from decimal import Decimal

import numpy as np
import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st

from geobill.domain.finding import REASON_CODES
from geobill.errors import InputError
from geobill.frames import EQUIPMENT, SEGMENTS, ZONES, whole_units
from geobill.intake.cabinets import read_cabinets
from geobill.intake.crs import CAIEIRAS
from geobill.intake.land_values import read_land_values
from geobill.intake.network import read_network
from geobill.intake.reading import Options, Part

X, Y = 322000.0, 7416000.0
ALL = {
    "segment": "id", "width": "w", "operator": "op", "installed_on": "de", "removed_on": "ate", "status": "st",
    "service": "sv", "level": "nv", "permit": "pr", "declared_length": "ext",
}  # fmt: skip


def line(y=0.0, length=60.0):
    return shapely.LineString([(X, Y + y), (X + length, Y + y)])


def rows(n=1, **changes):
    base = {
        "id": [f"S{i}" for i in range(1, n + 1)], "w": ["0,60"] * n, "op": ["alfa"] * n, "de": [None] * n,
        "ate": [None] * n, "st": [None] * n, "sv": ["cabo"] * n, "nv": [None] * n, "pr": [None] * n, "ext": [None] * n,
    }  # fmt: skip
    return {**base, **{k: v if isinstance(v, list) else [v] * n for k, v in changes.items()}}


def codes(reading):
    assert reading.read == len(reading.accepted) + len(reading.set_aside)
    return {s.row: s.reason_code for s in reading.set_aside}


def test_an_accepted_row_is_of_the_contract(make_layer, network):
    columns = rows(de="16/11/2026", ate="2026-12-01", st="Clandestina", nv="BT", pr=7, ext="61,5", op=" alfa ")
    reading = network(make_layer([line()], **columns), ALL, operator=None, width=None)
    assert tuple(reading.accepted.columns) == SEGMENTS
    row = reading.accepted.iloc[0].to_dict()
    geometry = row.pop("geometry")
    assert geometry.geom_type == "MultiLineString"
    assert row == {
        "source_row": 1, "segment": "S1", "operator": "alfa", "service": "cabo", "level": "BT", "permit": "7",
        "status": "clandestine", "width_m": "0.60", "declared_length_m": "61.5", "installed_on": "2026-11-16",
        "removed_on": "2026-12-01",
    }  # fmt: skip
    assert reading.length_m == Decimal("60.00")
    assert reading.bounds == (X, Y, X + 60, Y)
    assert reading.accepted.crs.to_epsg() == 31983


@pytest.mark.parametrize(
    ("geometry", "changes", "code"),
    [
        (None, {}, "no_geometry"),
        (shapely.LineString(), {}, "no_geometry"),
        (shapely.Point(X, Y), {}, "wrong_geometry_type"),
        (shapely.GeometryCollection([line(), shapely.Point(X, Y)]), {}, "wrong_geometry_type"),
        (shapely.LineString([(X, Y), (np.nan, Y)]), {}, "invalid_geometry"),
        (shapely.LineString([(X, Y), (np.inf, Y)]), {}, "invalid_geometry"),
        (line(length=0.0), {}, "zero_length"),
        (line(length=0.0049), {}, "zero_length"),
        (line(y=50_000), {}, "outside_municipality"),
        (line(), {"op": "gama"}, "unknown_operator"),
        (line(), {"op": None}, "unknown_operator"),
        (line(), {"w": "1.234"}, "number_unreadable"),
        (line(), {"ext": "R$ 3"}, "number_unreadable"),
        (line(), {"w": None}, "width_missing"),
        (line(), {"w": "0"}, "width_not_positive"),
        (line(), {"w": "-0,6"}, "width_not_positive"),
        (line(), {"de": "11/16/2026"}, "date_unreadable"),
        (line(), {"de": "2026-11-16", "ate": "2026-11-15"}, "date_unreadable"),
        (line(y=9), {}, "duplicate"),
        (None, {"w": None, "op": "gama", "de": "?"}, "no_geometry"),
        (line(), {"w": "x", "op": "gama", "de": "?"}, "unknown_operator"),
        (line(), {"w": "x", "de": "?"}, "number_unreadable"),
        (line(y=9), {"w": "0"}, "width_not_positive"),
    ],
)
def test_every_reason(make_layer, network, geometry, changes, code):
    good = [line(y=9), line(y=20), line(y=30)]
    columns = {k: [*v, *one] for (k, v), one in zip(rows(3).items(), rows(1, **changes).values(), strict=True)}
    columns["id"][3] = "S4"
    reading = network(make_layer([*good, geometry], **columns), ALL, operator=None, width=None)
    assert codes(reading) == {4: code}
    assert reading.set_aside[0].id == "S4"
    assert len(reading.set_aside[0].reason) > 10
    assert code in REASON_CODES


def test_a_centimetre_is_a_length(make_layer, network):
    assert codes(network(make_layer([line(length=0.005)]))) == {}
    assert codes(network(make_layer([line(length=0.4)]), length_precision_m=Decimal(1))) == {1: "zero_length"}


def test_defaults_stand_in_where_a_width_is_absent(make_layer, network):
    layer = make_layer([line(y) for y in range(3)], **rows(3, w=["0,30", None, "x"]))
    reading = network(layer, {"width": "w"})
    assert reading.accepted["width_m"].tolist() == ["0.30", "0.50"]
    assert codes(reading) == {3: "number_unreadable"}
    assert [(f.code, f.rows) for f in reading.findings] == [("width_defaulted", (2,))]
    assert reading.accepted["segment"].tolist() == ["1", "2"]


def test_ids_repeat_and_are_missing(make_layer, network):
    layer = make_layer([line(y) for y in range(4)], **rows(4, id=["A", "A", None, "B"]))
    reading = network(layer, {"segment": "ID"})
    assert reading.accepted["segment"].tolist() == ["A", "A", "3", "B"]
    assert {f.code: f.rows for f in reading.findings} == {"id_missing": (3,), "duplicate_id": (1, 2)}


def test_ids_are_compared_within_a_layer(make_layer):
    parts = [
        Part(make_layer([line(y), line(y + 1)], **rows(2, id=["A", last])), Options("alfa", None, Decimal("0.5"), {"segment": "id"}))
        for y, last in ((0, "B"), (5, "A"))
    ]  # fmt: skip
    reading = read_network(parts, CAIEIRAS, ["alfa"])
    assert [f.rows for f in reading.findings if f.code == "duplicate_id"] == [(1, 2)]  # of the second layer only


def test_a_declared_length_of_zero_is_none(make_layer, network):
    reading = network(make_layer([line()], **rows(ext="0")), {"declared_length": "ext"})
    assert reading.accepted["declared_length_m"].tolist() == [None]
    assert [f.code for f in reading.findings] == ["declared_length_not_positive"]


BENT = shapely.LineString([(X, Y), (X + 10, Y + 5), (X + 10, Y + 30)])
PARTS = shapely.MultiLineString([BENT, line(y=50), line(y=60)])


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        (BENT, BENT, True),
        (BENT, shapely.reverse(BENT), True),
        (BENT, shapely.MultiLineString([BENT]), True),
        (PARTS, shapely.MultiLineString([line(y=60), shapely.reverse(BENT), line(y=50)]), True),
        (BENT, shapely.affinity.translate(BENT, 0.0004, -0.0004), True),
        (shapely.reverse(BENT), shapely.affinity.translate(BENT, 0.0009, 0), True),
        (BENT, shapely.affinity.translate(BENT, 0.02, 0), False),
        (BENT, shapely.LineString([(X, Y), (X + 10, Y + 30)]), False),
        (PARTS, shapely.MultiLineString([BENT, line(y=50)]), True),
        (shapely.MultiLineString([BENT, line(y=50)]), shapely.MultiLineString([BENT, line(y=70)]), False),
    ],
)
def test_what_is_the_same_stretch(make_layer, network, first, second, same):
    reading = network(make_layer([first, second], **rows(2)), {"segment": "id"})
    assert codes(reading) == ({2: "duplicate"} if same else {})
    if same:
        assert "S1 in row 1" in reading.set_aside[0].reason


@pytest.mark.parametrize(
    ("changes", "found"),
    [
        ({"op": ["alfa", "beta"]}, {}),
        ({"sv": ["cabo", "fibra"]}, {}),
        ({"nv": ["MT", "BT"]}, {}),
        ({"nv": ["MT", None]}, {}),
        ({"ate": ["2026-05-31", None], "de": [None, "2026-06-01"]}, {}),
        ({"ate": ["2026-06-01", None], "de": [None, "2026-06-01"]}, {}),  # exchanged on that day
        ({"ate": ["2026-06-02", None], "de": [None, "2026-06-01"]}, {2: "duplicate"}),
        ({"ate": ["2026-06-01", "2026-06-01"], "de": ["2026-06-01", "2026-06-01"]}, {2: "duplicate"}),
        ({"w": [None, "0,60"]}, {1: "width_missing"}),
        ({"pr": ["A", "B"], "st": ["permitted", "existing"]}, {2: "duplicate"}),
    ],
)
def test_who_and_when_of_duplicates(make_layer, network, changes, found):
    reading = network(make_layer([line(), line()], **rows(2, **changes)), ALL, operator=None, width=None)
    assert codes(reading) == found


def test_duplicates_are_billed_where_the_policy_says_so(make_layer, network):
    reading = network(make_layer([line()] * 3), duplicate_stretch="bill")
    assert codes(reading) == {}
    assert reading.length_m == Decimal("180.00")
    assert {f.code: f.rows for f in reading.findings} == {"duplicate_billed": (2, 3), "same_trench": (1, 2, 3)}


@pytest.mark.parametrize(
    ("mapping", "options", "message"),
    [
        ({"larg": "w"}, {}, r"no key 'larg'.*segment, width"),
        ({"segmnt": "id"}, {}, r"Did you mean 'segment'"),
        ({"width": "largura"}, {}, r"no column 'largura'.*It has: id, LARGURA_M"),
        ({"width": "LARGURA"}, {}, r"Did you mean 'LARGURA_M'"),
        ({"operator": "op"}, {}, r"give only one"),
        ({}, {"operator": None}, r"--operator ID .*Known operators: alfa, beta"),
        ({}, {"operator": "alpha"}, r"no operator 'alpha'.*Did you mean 'alfa'.*alfa, beta"),
        ({}, {"width": None}, r"No strip width"),
        ({}, {"width": "0"}, r"more than 0"),
        ({}, {"crs": "EPSG:0"}, r"not a coordinate system"),
        ({"status": "st"}, {}, r"'novo', 'velho' in st as a status.*permitted, existing, planned, clandestine"),
    ],
)
def test_whole_files_refused(make_layer, network, mapping, options, message):
    columns = {"id": ["1", "2"], "LARGURA_M": [1, 1], "op": ["alfa"] * 2, "st": ["velho", "novo"]}
    with pytest.raises(InputError, match=message):
        network(make_layer([line(), line(5)], **columns), mapping, **options)


def test_two_columns_that_differ_in_case_only(make_layer, network):
    layer = make_layer([line()], ID=["a"], id=["b"])
    assert network(layer, {"segment": "id"}).accepted["segment"].tolist() == ["b"]
    with pytest.raises(InputError, match="write segment=ID as it stands"):
        network(layer, {"segment": "Id"})


GEOMETRIES = st.one_of(
    st.none(),
    st.just(shapely.Point(X, Y)),
    st.just(shapely.LineString([(X, Y), (np.nan, Y)])),
    st.builds(line, st.integers(0, 3), st.sampled_from([0.0, 0.004, 10.0, 25.125])),
    st.just(line(y=90_000)),
)
ROW = st.tuples(
    GEOMETRIES,
    st.sampled_from(["0,5", "x", None, "-1", "1.234"]),
    st.sampled_from(["alfa", "beta", "gama", None]),
    st.sampled_from([None, "2026-01-01", "31/12/2026", "ontem"]),
)


@settings(max_examples=150, deadline=None)
@given(st.lists(ROW, min_size=1, max_size=8), st.sampled_from(["set_aside", "bill"]))
def test_nothing_is_lost(drawn, policy):
    from pathlib import Path

    import geopandas as gpd
    from pyproj import CRS

    from geobill.intake.reader import Layer

    geometry, w, op, de = (list(c) for c in zip(*drawn, strict=True))
    inside = [line(y=100 + i) for i in range(len(geometry))]  # keeps most of the file in the municipality
    n = len(geometry)
    columns = {"w": w + ["1"] * n, "op": op + ["alfa"] * n, "de": de + [None] * n}
    frame = gpd.GeoDataFrame(columns, geometry=gpd.GeoSeries(geometry + inside), index=range(2 * n))
    layer = Layer(Path("r.gpkg"), "r", "GeoPackage", (), "", "UTF-8", CRS(31983), frame)
    options = Options(mapping={"width": "w", "operator": "op", "installed_on": "de"}, duplicate_stretch=policy)
    reading = read_network([Part(layer, options)], CAIEIRAS, ["alfa", "beta"])
    assert reading.read == 2 * n == len(reading.accepted) + len(reading.set_aside)
    numbers = [*reading.accepted["source_row"], *(s.row for s in reading.set_aside)]
    assert sorted(numbers) == list(range(1, 2 * n + 1))
    assert {s.reason_code for s in reading.set_aside} <= set(REASON_CODES)
    lengths = shapely.length(reading.accepted.geometry.to_numpy())
    assert reading.length_m == int(whole_units(lengths, Decimal("0.01")).sum()) * Decimal("0.01")


def cabinets(layer, mapping, **options):
    return read_cabinets([Part(layer, Options(operator="alfa", mapping=mapping, **options))], CAIEIRAS, ["alfa"])


def test_cabinets_by_volume(make_layer):
    points = [shapely.Point(X, Y + i) for i in range(6)] + [None, shapely.Point(X, Y + 90_000)]
    volumes = [1.5, 0.75, None, 0.0, -1.0, np.inf, 1.0, 1.0]
    reading = cabinets(make_layer(points, v=volumes, id=[1, 2, 3, 4, 5, 6, 7, 8]), {"volume": "v", "equipment": "id"})
    assert tuple(reading.accepted.columns) == EQUIPMENT
    assert reading.accepted["volume_m3"].tolist() == ["1.5", "0.75"]
    assert codes(reading) == {
        3: "volume_missing", 4: "volume_not_positive", 5: "volume_not_positive", 6: "number_unreadable",
        7: "no_geometry", 8: "outside_municipality",
    }  # fmt: skip
    assert reading.length_m == 0


def test_cabinets_by_their_sides(make_layer):
    sides = {"c": ["1,5", "1", None, "-1", "1"], "l": ["0,335", "-1", "1", "-1", "x"], "a": ["0,1", "1", "1", "1", "1"]}
    layer = make_layer([shapely.Point(X, Y + i) for i in range(5)], **sides)
    reading = cabinets(layer, {"length": "c", "breadth": "l", "height": "a"})
    assert reading.accepted["volume_m3"].tolist() == ["0.05025"]
    assert codes(reading) == {
        2: "volume_not_positive",
        3: "volume_missing",
        4: "volume_not_positive",
        5: "number_unreadable",
    }


@pytest.mark.parametrize("mapping", [{}, {"length": "v", "height": "v"}, {"volume": "v", "length": "v"}])
def test_cabinets_without_one_volume_are_refused(make_layer, mapping):
    with pytest.raises(InputError, match="volume"):
        cabinets(make_layer([shapely.Point(X, Y)], v=[1.0]), mapping)


def test_land_values(make_layer):
    box = shapely.box(X, Y, X + 10, Y + 10)
    bow_tie = shapely.Polygon([(X, Y), (X + 10, Y + 10), (X + 10, Y), (X, Y + 10)])
    far = shapely.affinity.translate(box, 0, 90_000)
    geometry = [box, shapely.MultiPolygon([box]), bow_tie, far, box, box, box, None, line()]
    values = ["1.234,50", "10", "10", "10", None, "0", "1.234", "10", "10"]
    layer = make_layer(geometry, z=["A"] * 9, v=values)
    reading = read_land_values(layer, Options(mapping={"zone": "Z", "land_value": "v"}), CAIEIRAS)
    assert tuple(reading.accepted.columns) == ZONES
    assert reading.accepted["land_value"].tolist() == ["1234.50", "10", "10", "10", "1234"]
    assert set(reading.accepted.geom_type) == {"MultiPolygon"}
    assert not reading.accepted.geometry.iloc[2].is_valid
    assert codes(reading) == {
        5: "value_missing", 6: "value_not_positive", 8: "no_geometry", 9: "wrong_geometry_type",
    }  # fmt: skip


def test_land_values_need_both_columns(make_layer):
    with pytest.raises(InputError, match="--map land_value=COLUMN"):
        read_land_values(make_layer([shapely.box(0, 0, 1, 1)], z=["A"]), Options(mapping={"zone": "z"}), CAIEIRAS)


def test_a_vertex_gone_astray_is_set_aside_and_a_reach_over_the_border_is_said(make_layer, network, at):
    good, (x, y) = at((10, 10), (70, 10)), at((10, 20))[0]
    astray = [[(x, y), (0.0, 0.0), (x + 90, y)], [(x, y), (x + 20_000, y)], [(1e17, y), (x, y)], [(1e308, y), (x, y)]]
    over = [(x, y + 50), (x + 9_500, y + 50)]
    reading = network(make_layer([shapely.LineString(c) for c in (good, over, *astray)]))
    assert [s.reason_code for s in reading.set_aside] == ["outside_municipality"] * 4
    assert "astray" in reading.set_aside[0].reason
    assert float(reading.length_m) == 60 + 9_500
    (said,) = [f for f in reading.findings if f.code == "reaches_outside"]
    assert said.rows == (2,)


def test_figures_that_nobody_means(make_layer, network, at):
    lines = [shapely.LineString(at((10, 10 * n), (70, 10 * n))) for n in range(1, 4)]
    reading = network(make_layer(lines, w=["30", "1e22", 1e308]), mapping={"width": "w"})
    assert {s.reason_code for s in reading.set_aside} == {"number_unreadable"}
    (wide,) = [f for f in reading.findings if f.code == "width_unusual"]
    assert "30 m" in wide.message


def test_a_vertex_on_a_straight_stretch_hides_no_duplicate(make_layer, network, at):
    lines = [shapely.LineString(at((10, 10), (110, 10))), shapely.LineString(at((110, 10), (60, 10), (10, 10)))]
    reading = network(make_layer(lines))
    assert [s.reason_code for s in reading.set_aside] == ["duplicate"]
