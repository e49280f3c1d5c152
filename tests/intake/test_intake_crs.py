"""Where files lie: systems missing, wrong, overridden, carried over."""

import numpy as np
import pytest
import shapely
from pyproj import CRS, Transformer

import geobill.intake.crs as crs_module
from geobill.errors import InputError
from geobill.intake.crs import CAIEIRAS, best_operation, carry, missing_operation, parse_crs
from geobill.intake.crs_guess import guess_systems

LINES = [shapely.LineString([(322000 + i, 7416000), (322060 + i, 7416000 + i)]) for i in range(10)]


def in_system(lines, code):
    to = Transformer.from_crs(31983, code, always_xy=True)
    return [shapely.transform(line, lambda x, y: to.transform(x, y), interleaved=False) for line in lines]


UTM_23S = ["EPSG:31983", "EPSG:29193", "EPSG:22523", "EPSG:32723", "EPSG:5533"]
DEGREES = ["EPSG:4674", "EPSG:4326", "EPSG:4618", "EPSG:4225", "EPSG:5527"]


@pytest.mark.parametrize(
    ("code", "guesses"),
    [(31983, UTM_23S), (29193, UTM_23S), (32723, UTM_23S), (4674, DEGREES), (4326, DEGREES), (3857, ["EPSG:3857"]),
     (31982, ["EPSG:31982", "EPSG:29192", "EPSG:22522", "EPSG:32722", "EPSG:5858"]), (5880, [])],
)  # fmt: skip
def test_guesses(make_layer, code, guesses):
    assert guess_systems(make_layer(in_system(LINES, code)).frame, CAIEIRAS) == guesses


def test_no_system_is_refused_with_the_guesses(make_layer, network):
    with pytest.raises(
        InputError, match=r"no coordinate system.*as EPSG:31983 \(SIRGAS 2000 / UTM zone 23S\).*--crs EPSG:31983"
    ):
        network(make_layer(LINES, crs=None))
    assert network(make_layer(LINES, crs=None), crs="EPSG:31983").crs.source == "EPSG:31983"


def test_degrees_labelled_as_metres(make_layer, network):
    with pytest.raises(InputError, match=r"says EPSG:31983 .*lie outside Caieiras.*as EPSG:4674"):
        network(make_layer(in_system(LINES, 4674)))


def test_metres_labelled_as_degrees(make_layer, network):
    with pytest.raises(InputError, match=r"lie outside Caieiras.*as EPSG:31983"):
        network(make_layer(LINES, crs="EPSG:4326"))


def test_the_wrong_zone(make_layer, network):
    with pytest.raises(InputError, match="as EPSG:31982"):
        network(make_layer(in_system(LINES, 31982)))


def test_600_km_away(make_layer, network):
    away = [shapely.affinity.translate(line, 0, 600_000) for line in LINES]
    with pytest.raises(InputError, match="in none of the usual ones"):
        network(make_layer(away))


def test_single_rows_outside_are_set_aside(make_layer, network):
    far = shapely.affinity.translate(LINES[0], 0, 600_000)
    reading = network(make_layer([*LINES[:3], far]))
    assert [(s.row, s.reason_code) for s in reading.set_aside] == [(4, "outside_municipality")]


def test_a_row_without_image_in_the_workspace_is_outside(make_layer, network):
    lines = [*in_system(LINES[:3], 4674), shapely.LineString([(-46.7, -23.4), (5000, 900)])]
    reading = network(make_layer(lines, crs="EPSG:4674"))
    assert [(s.row, s.reason_code) for s in reading.set_aside] == [(4, "outside_municipality")]


def test_the_users_system_wins_and_is_said(make_layer, network):
    reading = network(make_layer(LINES, crs="EPSG:29193"), crs="EPSG:31983")
    assert "crs_overridden" in [f.code for f in reading.findings]
    assert reading.crs.operation is None
    np.testing.assert_array_equal(shapely.get_coordinates(reading.accepted.geometry)[0], [322000, 7416000])


@pytest.mark.parametrize(
    ("code", "accuracy_m"), [(31983, None), (31982, None), (4674, None), (4326, 1.0), (29193, 5.0), (22523, 5.0)]
)
def test_carried_over(make_layer, code, accuracy_m):
    frame, use = carry(make_layer(in_system(LINES, code)).frame, CRS(code), CAIEIRAS, "rede")
    assert use.accuracy_m == accuracy_m
    assert (use.operation is None) == (code == 31983)
    assert (use.source, use.target, frame.crs.to_epsg()) == (f"EPSG:{code}", "EPSG:31983", 31983)
    np.testing.assert_allclose(shapely.get_coordinates(frame.geometry), shapely.get_coordinates(LINES), atol=1e-3)


def test_a_better_grid_that_is_missing_is_noted(make_layer, network):
    reading = network(make_layer(in_system(LINES, 29193), crs="EPSG:29193"))
    if missing_operation(CRS(29193), CAIEIRAS) is None:
        pytest.skip("IBGE's grids are installed here")
    found = next(f for f in reading.findings if f.code == "datum_grid_missing")
    assert "true to 5 m; with the grid br_ibge_SAD69_003.tif it would be true to 1 m" in found.message


def test_a_datum_that_only_a_grid_leads_out_of_is_refused_naming_it(make_layer):
    if best_operation(CRS(5538), CAIEIRAS) is not None:
        pytest.skip("IBGE's grids are installed here")
    with pytest.raises(InputError, match=r"br_ibge_CA61_003\.tif .*true to 2 m.*geobill crs grids FOLDER"):
        carry(make_layer(LINES).frame, CRS(5538), CAIEIRAS, "rede.shp")


def test_an_operation_of_unknown_accuracy_is_refused(make_layer):
    moorea = CRS(4691)
    with pytest.raises(InputError, match="no operation of known accuracy"):
        carry(make_layer(LINES).frame, moorea, CAIEIRAS, "rede.shp")


def test_the_same_system_in_other_words_moves_nothing(make_layer):
    esri = CRS.from_wkt(CRS(31983).to_wkt("WKT1_ESRI"))
    frame, use = carry(make_layer(LINES).frame, esri, CAIEIRAS, "rede.shp")
    assert (shapely.get_coordinates(frame.geometry) == shapely.get_coordinates(LINES)).all()
    assert use.accuracy_m is None


@pytest.mark.parametrize("text", ["foo", "EPSG:999999", "EPSG:4978", "EPSG:5773", ""])
def test_what_is_no_system(text):
    with pytest.raises(InputError, match="not a coordinate system"):
        parse_crs(text)


def test_heights_in_a_system_are_left_out():
    assert crs_module.plane(CRS("EPSG:31983+5773")).to_epsg() == 31983


@pytest.mark.parametrize(("unit", "factor"), [("mm", 1000), ("ft", 1 / 0.3048), ("m", 1)])
def test_a_drawing_in_another_unit_is_read_in_metres(make_layer, network, at, unit, factor):
    line = shapely.transform(shapely.LineString(at((10, 10), (70, 10))), lambda xy: xy * factor)
    found = network(make_layer([line]), unit=unit)
    assert found.length_m == 60
    assert found.bounds == pytest.approx((*at((10, 10))[0], *at((70, 10))[0]), abs=1e-6)


def test_a_unit_for_degrees_or_an_unknown_one_is_refused(make_layer, network):
    line = shapely.LineString([(-46.7, -23.4), (-46.7, -23.39)])
    with pytest.raises(InputError, match="in degrees"):
        network(make_layer([line], crs="EPSG:4674"), unit="mm")
    with pytest.raises(InputError, match=r"Allowed: m, "):
        network(make_layer([line], crs="EPSG:4674"), unit="braça")


def test_without_a_system_the_guess_is_made_in_metres(make_layer, network, at):
    line = shapely.transform(shapely.LineString(at((10, 10), (70, 10))), lambda xy: xy * 1000)
    with pytest.raises(InputError, match="EPSG:31983"):
        network(make_layer([line], crs=None), unit="mm")
