"""Value maps as towns have them: a table by zone and year, faces of blocks, stretches of street, points of a valuation."""

from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st

import geobill
from geobill.errors import InputError
from geobill.intake.coverage import draw_coverage
from geobill.intake.crs import CAIEIRAS
from geobill.intake.faces import HALF_WIDTH_M, thin_sides, thin_zones
from geobill.intake.land_values import read_land_values, settle_zones
from geobill.intake.reading import Options
from geobill.intake.value_tables import read_value_table

X, Y = 322000.0, 7416000.0
ZONE = Options(mapping={"zone": "z"})


def line(*xy):
    return shapely.LineString([(X + x, Y + y) for x, y in xy])


def value_map(make_layer, geometry, mapping=None, table=None, max_gap_m=20.0, **columns):
    layer = make_layer(geometry, **columns)
    reading = read_land_values(layer, Options(mapping=mapping or {"zone": "z", "land_value": "v"}), CAIEIRAS, table)
    return settle_zones(reading, max_gap_m, "mapa.gpkg")


def metres(zones, *lines, **rules):
    import geopandas as gpd

    segments = gpd.GeoDataFrame({"id": [str(i) for i in range(len(lines))]}, geometry=list(lines), crs="EPSG:31983")
    pieces = geobill.split(segments, zones, segment="id", zone="zone", land_value="land_value", max_gap_m=20.0, **rules)
    return pieces.groupby(["segment", "zone"], dropna=False)["length_m"].sum().round(2).to_dict()


def table(make_layer, mapping=None, year=2026, **columns):
    layer = make_layer([None] * len(next(iter(columns.values()))), crs=None, **columns)
    return read_value_table(layer, mapping or {}, "z", year)


# -- lines and points


def test_a_street_takes_the_nearest_face_within_reach(make_layer):
    faces = [line((0, 0), (100, 0)), line((0, 10), (100, 10))]
    reading, zones = value_map(make_layer, faces, z=["sul", "norte"], v=["10", "30"])
    assert (reading.read, len(reading.accepted), reading.set_aside) == (2, 2, ())
    (said,) = [f for f in reading.findings if f.code == "values_by_line"]
    assert "within 20 m" in said.message
    assert metres(zones, line((0, 2), (100, 2)), line((0, 7), (100, 7)), line((50, 0.5), (50, 9.5))) == {
        ("0", "sul"): 100.0, ("1", "norte"): 100.0, ("2", "norte"): 4.5, ("2", "sul"): 4.5,
    }  # fmt: skip
    far = metres(zones, line((0, 40), (100, 40)))
    assert [(s, pd.isna(z), m) for (s, z), m in far.items()] == [("0", True, 100.0)]


def test_midway_between_two_faces_is_a_border(make_layer):
    faces = [line((0, 0), (100, 0)), line((0, 10), (100, 10))]
    _, zones = value_map(make_layer, faces, z=["sul", "norte"], v=["10", "30"])
    middle = line((0, 5), (100, 5))
    assert metres(zones, middle, on_border="lower") == {("0", "sul"): 100.0}
    assert metres(zones, middle, on_border="higher") == {("0", "norte"): 100.0}


def test_a_street_with_a_value_for_either_side(make_layer):
    street = line((0, 0), (100, 0))
    mapping = {"zone": "z", "land_value_left": "e", "land_value_right": "d"}
    reading, zones = value_map(make_layer, [street], mapping, z=["Rua 1"], e=["40"], d=["25"])
    assert (reading.read, len(reading.accepted)) == (1, 1)
    left, right = "Rua 1 (lado esquerdo)", "Rua 1 (lado direito)"
    assert dict(zip(zones["zone"], zones["land_value"], strict=True)) == {left: "40", right: "25"}
    sides = metres(zones, line((10, 3), (90, 3)), line((10, -3), (90, -3)))
    assert sides == {("0", left): 80.0, ("1", right): 80.0}
    for rule, zone in (("lower", right), ("higher", left)):
        assert metres(zones, line((10, 0), (90, 0)), on_border=rule) == {("0", zone): 80.0}
    with pytest.raises(InputError, match="both --map land_value_left"):
        value_map(make_layer, [street], {"zone": "z", "land_value_left": "e"}, z=["Rua 1"], e=["40"])


def test_a_street_whose_one_side_has_no_value_is_set_aside_whole(make_layer):
    mapping = {"zone": "z", "land_value_left": "e", "land_value_right": "d"}
    streets = [line((0, 0), (100, 0)), line((0, 50), (100, 50))]
    reading, zones = value_map(make_layer, streets, mapping, z=["A", "B"], e=["40", "1"], d=["25", None])
    assert [(s.row, s.reason_code) for s in reading.set_aside] == [(2, "value_missing")]
    assert "right" in reading.set_aside[0].reason
    assert len(zones) == 2


def test_points_of_a_valuation(make_layer):
    points = [shapely.Point(X, Y), shapely.Point(X + 20, Y)]
    reading, zones = value_map(make_layer, points, z=["a", "b"], v=["1", "2"])
    assert [f.code for f in reading.findings] == ["values_by_point"]
    assert metres(zones, line((0, 3), (20, 3))) == {("0", "a"): 10.0, ("0", "b"): 10.0}


def test_lines_need_a_reach_and_a_map_is_of_one_kind(make_layer):
    with pytest.raises(InputError, match="max_gap_m is 0"):
        value_map(make_layer, [line((0, 0), (9, 0))], max_gap_m=0.0, z=["a"], v=["1"])
    mixed = [shapely.box(X, Y, X + 9, Y + 9), line((0, 0), (9, 0)), shapely.Point(X, Y)]
    reading, zones = value_map(make_layer, mixed, z=["a", "b", "c"], v=["1", "2", "3"])
    assert [s.reason_code for s in reading.set_aside] == ["wrong_geometry_type"] * 2
    assert len(zones) == 1
    reading, _ = value_map(make_layer, mixed[1:], z=["b", "c"], v=["2", "3"])
    assert [(s.row, s.reason_code) for s in reading.set_aside] == [(2, "wrong_geometry_type")]


@settings(max_examples=25, deadline=None)
@given(
    offset=st.floats(0.5, 9.5).filter(lambda y: abs(y - 5) > 0.1),
    slope=st.floats(-0.03, 0.03),
    width=st.floats(30, 120),
)
def test_faces_share_a_street_as_the_blocks_do(offset, slope, width):
    import geopandas as gpd

    blocks = [shapely.box(X, Y - 50, X + width, Y), shapely.box(X, Y + 10, X + width, Y + 60)]
    faces = [line((0, 0), (width, 0)), line((0, 10), (width, 10))]
    cable = line((0, offset), (width, offset + slope * width))
    if not 0.2 < offset + slope * width < 9.8:
        return
    frames = [
        gpd.GeoDataFrame({"zone": ["a", "b"], "land_value": ["1", "2"]}, geometry=list(g), crs="EPSG:31983")
        for g in (blocks, thin_zones(np.array(faces, dtype=object)))
    ]
    by_block, by_face = (metres(frame, cable) for frame in frames)
    assert sum(by_face.values()) == pytest.approx(sum(by_block.values()), abs=0.02)
    for zone in set(by_block) | set(by_face):
        near = (
            HALF_WIDTH_M / max(abs(slope), 1e-3) + 0.05
        )  # where the border between the two is crossed at a flat angle
        assert by_face.get(zone, 0) == pytest.approx(by_block.get(zone, 0), abs=near)


def test_sides_lie_on_their_side():
    bent = np.array([line((0, 0), (50, 0), (50, 40))], dtype=object)
    left, right = thin_sides(bent)
    assert left[0].covers(shapely.Point(X + 20, Y + HALF_WIDTH_M / 2))
    assert right[0].covers(shapely.Point(X + 20, Y - HALF_WIDTH_M / 2))
    assert left[0].intersection(right[0]).area == pytest.approx(0, abs=1e-9)


def test_the_coverage_of_lines_is_drawn(make_layer):
    faces = [line((0, 0), (100, 0)), line((0, 10), (100, 10)), line((100, 0), (100, 10))]
    _, zones = value_map(make_layer, faces, z=["a", "b", "c"], v=["1", "2", "3"])
    drawn = draw_coverage(zones, "hold", 20.0)
    gap = drawn[drawn["kind"] == "gap"]
    assert gap["area_m2"].sum() > 3000
    assert set(gap["zone"]) == {"a", "b", "c"}


# -- a table of values


def test_a_table_by_zone_and_year(make_layer):
    boxes = [shapely.box(X + 20 * i, Y, X + 20 * i + 10, Y + 10) for i in range(4)]
    long = table(
        make_layer, {"year": "ano", "land_value": "v"}, z=["01", "02", "01", "02", "9"], ano=[2025, 2025, 2026, 2026, 2026],
        v=["1", "2", "1.234,50", "30,00", "7"],
    )  # fmt: skip
    reading, zones = value_map(make_layer, boxes, {"zone": "z"}, long, z=["01", "02", "02", "3"])
    assert zones["land_value"].tolist() == ["1234.50", "30.00", "30.00"]
    assert [(s.row, s.reason_code) for s in reading.set_aside] == [(4, "value_missing")]
    said = {f.code: f for f in reading.findings}
    assert "3" in said["zones_without_value"].message
    assert said["zones_without_value"].rows == (4,)
    assert "9" in said["values_without_zone"].message


def test_a_column_for_each_year(make_layer):
    wide = {"z": ["a", "b"], "VALOR_2025": ["1", "2"], "VALOR_2026": ["3", "4"]}
    assert table(make_layer, **wide).values == {"a": Decimal(3), "b": Decimal(4)}
    assert table(make_layer, year=2025, **wide).values == {"a": Decimal(1), "b": Decimal(2)}
    with pytest.raises(InputError, match="columns for 2025, 2026"):
        table(make_layer, year=2024, **wide)


@pytest.mark.parametrize(
    ("columns", "mapping", "said"),
    [
        ({"z": ["a", "a"], "v": ["1", "2"]}, {"land_value": "v"}, "--map year=COLUMN"),
        ({"z": ["a"], "v": ["1"], "ano": ["2024"]}, {"land_value": "v", "year": "ano"}, "no values of 2026"),
        ({"z": ["a"], "v": ["1"], "ano": ["2026"]}, {"year": "ano"}, "--map land_value"),
        ({"zona": ["a"], "v": ["1"]}, {"land_value": "v"}, "no column 'z'"),
        ({"z": ["a"], "v": ["1"]}, {}, "--map land_value"),
    ],
)
def test_a_table_that_cant_be_understood_is_refused(make_layer, columns, mapping, said):
    with pytest.raises(InputError, match=said):
        table(make_layer, mapping, **columns)


def test_zones_that_differ_by_zeros_are_told_and_not_guessed(make_layer):
    values = table(make_layer, {"land_value": "v"}, z=["1", "B"], v=["10", "x"])
    boxes = [shapely.box(X + 20 * i, Y, X + 20 * i + 10, Y + 10) for i in range(2)]
    reading, _ = value_map(make_layer, boxes, {"zone": "z"}, values, z=["001", "B"])
    assert [s.reason_code for s in reading.set_aside] == ["value_missing", "number_unreadable"]
    assert "leading zeros" in next(f.message for f in reading.findings if f.code == "zones_without_value")
