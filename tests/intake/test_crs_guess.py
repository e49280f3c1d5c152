"""Where coordinates would lie in each usual system, and what was done to those that lie nowhere."""

import numpy as np
import pytest
import shapely
from pyproj import CRS, Transformer

from geobill.errors import InputError
from geobill.intake.crs import CAIEIRAS, carry
from geobill.intake.crs_guess import AXES_SWAPPED, guess_systems, landings, misplaced, missing_system, no_system

LINES = [shapely.LineString([(322000 + i, 7416000), (322060 + i, 7416000 + i)]) for i in range(10)]
FAR = shapely.affinity.translate(LINES[0], 600_000, 0)


def in_system(lines, code):
    to = Transformer.from_crs(31983, code, always_xy=True)
    return [shapely.transform(line, lambda x, y: to.transform(x, y), interleaved=False) for line in lines]


def turned(lines, turn):
    return [shapely.transform(line, turn) for line in lines]


@pytest.fixture
def frame(make_layer):
    return lambda lines: make_layer(lines, crs=None).frame


def test_each_landing_says_where_and_how_far_from_the_first(frame):
    found = {one.crs: one for one in landings(frame(LINES), CAIEIRAS)}
    first, sad, alegre = (found[f"EPSG:{code}"] for code in (31983, 29193, 22523))
    assert (first.name, first.differs_m, first.away_km, first.share_inside) == ("SIRGAS 2000 / UTM zone 23S", 0, 0, 1)
    assert (first.lon, first.lat) == pytest.approx((-46.7410, -23.3560), abs=1e-3)
    assert sad.differs_m == pytest.approx(64.2, abs=0.1)  # hypot(45.09, 45.70): the known shift from SAD69
    assert alegre.differs_m == pytest.approx(28.0, abs=0.1)
    assert found["EPSG:32723"].differs_m < 0.01


def test_bounds_serve_as_well_as_a_frame(frame):
    bounds = frame(LINES).geometry.bounds.to_numpy()
    assert landings(bounds, CAIEIRAS) == landings(frame(LINES), CAIEIRAS)
    assert landings(np.vstack([bounds, [np.nan] * 4]), CAIEIRAS) == landings(bounds, CAIEIRAS)
    assert landings(np.empty((0, 4)), CAIEIRAS) == []


def test_a_share_is_said_and_most_must_lie_inside(frame):
    assert landings(frame([*LINES[:7], FAR, FAR, FAR]), CAIEIRAS)[0].share_inside == 0.7
    assert landings(frame([*LINES[:3], FAR, FAR, FAR]), CAIEIRAS) == []


@pytest.mark.parametrize("code", [31982, 31984, 29192, 22524, 3857, 4674, 6210])
def test_zones_beside_and_the_northern_one(frame, code):
    assert f"EPSG:{code}" in guess_systems(frame(in_system(LINES, code)), CAIEIRAS)


@pytest.mark.parametrize(
    ("code", "turn", "words", "unit"),
    [(4674, lambda xy: xy[:, ::-1], AXES_SWAPPED, None), (31983, lambda xy: xy[:, ::-1], AXES_SWAPPED, None),
     (4674, lambda xy: -xy, "minus signs", None), (4674, lambda xy: xy * [-1, 1], "minus signs", None),
     (4674, lambda xy: -xy[:, ::-1], "swapped and the minus signs", None),
     (31983, lambda xy: xy * 1000, "mm", "mm"), (31983, lambda xy: xy / 0.3048, "ft", "ft"),
     (31983, lambda xy: xy / 1000, "km", "km")],
)  # fmt: skip
def test_what_was_done_to_coordinates_that_lie_nowhere(frame, code, turn, words, unit):
    first = landings(frame(turned(in_system(LINES, code), turn)), CAIEIRAS)[0]
    assert first.crs == f"EPSG:{code}"
    assert words in first.turned
    assert first.unit == unit
    assert guess_systems(frame(turned(in_system(LINES, code), turn)), CAIEIRAS) == []


def test_a_false_northing_that_is_missing(frame):
    lines = turned(LINES, lambda xy: xy - [0, 10_000_000])
    assert guess_systems(frame(lines), CAIEIRAS)[0] == "EPSG:6210"  # SIRGAS 2000 / UTM zone 23N says just that


def test_swapped_axes_have_a_code_of_their_own(make_layer):
    raw = make_layer(turned(in_system(LINES, 4674), lambda xy: xy[:, ::-1])).frame
    carried, _ = carry(raw, CRS(4674), CAIEIRAS, "rede.gpkg")
    found = misplaced(carried, raw, CRS(4674), CAIEIRAS, "rede.gpkg")
    assert found.code == "axes_swapped"
    assert "with x and y swapped as EPSG:4674" in found.message
    assert "Swap X and Y" in found.fix


def test_a_wrong_label_says_where_it_lies_and_names_the_right_one(make_layer, network):
    with pytest.raises(
        InputError, match=r"says EPSG:31982 .*km away\).*as EPSG:31983 \(SIRGAS 2000 / UTM zone 23S\), around -46\.74"
    ):
        network(make_layer(LINES, crs="EPSG:31982"))


def test_a_place_that_is_none_is_said_without_figures(make_layer):
    raw = make_layer(turned(LINES, lambda xy: xy * 1000)).frame
    carried, _ = carry(raw, CRS(31983), CAIEIRAS, "rede.gpkg")
    said = misplaced(carried, raw, CRS(31983), CAIEIRAS, "rede.gpkg").message
    assert "no place at all" in said
    assert "inf" not in said


def test_a_system_that_was_asked_for_is_not_the_files_word(make_layer, network):
    with pytest.raises(InputError, match=r"was read as EPSG:31982 .*, as --crs says, but"):
        network(make_layer(LINES, crs=None), crs="EPSG:31982")


def test_without_a_system_the_action_is_said_once(frame):
    said = str(no_system(frame(LINES), CAIEIRAS, "a.shp"))
    assert "EPSG:32723 (WGS 84 / UTM zone 23S) comes out the same (0 m)" in said
    assert said.count("--crs") == 1
    short = missing_system(landings(frame(LINES), CAIEIRAS), "a.shp")
    assert "The likeliest is EPSG:31983" in short.message
    assert "--crs" not in short.message
    assert "--crs EPSG:31983" in short.fix


def test_millimetres_are_named_with_the_option(frame):
    assert "--unit mm --crs EPSG:31983" in str(no_system(frame(turned(LINES, lambda xy: xy * 1000)), CAIEIRAS, "a.dxf"))
