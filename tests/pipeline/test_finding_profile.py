"""The profile of a finding: distances worked out by hand in the surveyed town, and what it is held against."""

from dataclasses import replace
from decimal import Decimal

import geopandas as gpd
import pytest
from field_town import SRID, TERMS, at, field_town, finding
from shapely import LineString, MultiLineString, Point, box

from geobill.domain.detection import Survey
from geobill.pipeline.finding_profile import _zones, load_photo, look_closely
from geobill.store.surveys import SurveyRegister
from geobill.store.workspace import open_workspace


@pytest.fixture(scope="module")
def workspace(tmp_path_factory):
    return open_workspace(field_town(tmp_path_factory.mktemp("profile")))


def test_a_parallel_stretch_has_one_offset_all_along(workspace):
    profile = look_closely(workspace, "V00001-00002").profile
    assert [offset for _, offset in profile.places] == [Decimal("15.00")] * 201
    assert [at for at, _ in profile.places] == [Decimal(n).quantize(Decimal("0.01")) for n in range(201)]
    assert profile.reach_m == Decimal("3.00")
    assert not profile.is_alone


def test_one_that_carries_on_moves_away_until_nothing_is_near(workspace):
    sheet = look_closely(workspace, "V00001-00001")
    places = dict(sheet.profile.places)
    assert places[Decimal("0.00")] == Decimal("0.40")  # beside the permitted end: y 5.4 against 5
    assert places[Decimal("25.00")] == Decimal("25.00")  # √(25² + 0.4²)
    assert places[Decimal("50.00")] is None  # ten times the reach is 30 m
    assert len(places) == 241
    assert sheet.permitted.segment == "S1"
    assert sheet.permitted.width_m == "0.5"


def test_equipment_has_none(workspace):
    sheet = look_closely(workspace, "V00001-00003")
    assert sheet.profile is None
    west, south, east, north = sheet.limits
    assert (west, south) == (east, north)
    assert (sheet.zones, sheet.beside) == (("Z1",), None)


def test_zones_are_named_in_order_or_the_nearest_with_its_distance():
    squares = [box(100, 0, 200, 50), box(0, 0, 100, 50), box(0, 60, 50, 80)]
    zones = gpd.GeoDataFrame({"zone": ["B", "A", "C"]}, geometry=squares)
    assert _zones(LineString([(10, 50), (150, 10)]), zones) == (("A", "B"), None)
    assert _zones(LineString([(300, 10), (150, 10), (100, 20)]), zones) == (("B",), None)  # it only touches A
    assert _zones(Point(203.5, 10), zones) == ((), ("B", Decimal("3.50")))
    assert _zones(Point(203.5, 10), zones.iloc[:0]) == ((), None)


def test_limits_are_degrees_of_the_town(workspace):
    west, south, east, north = look_closely(workspace, "V00001-00002").limits
    assert -46.8 < west < east < -46.7
    assert -23.4 < south <= north < -23.3


def test_nothing_of_an_unknown_finding(workspace):
    assert look_closely(workspace, "V00009-00001") is None
    assert load_photo(workspace, "V00009-00001", 1) is None
    assert load_photo(workspace, "V00001-00001", 1) is None
    assert load_photo(workspace, "V00001-00001", 0) is None


def test_it_is_held_against_what_the_survey_was_compared_with(tmp_path):
    """A survey of beta has nothing permitted beside it: alfa's line isn't beta's."""
    opened = open_workspace(field_town(tmp_path))
    line = at((0, 6), (100, 6))
    survey = Survey("V00002", "b.gpkg", "b", "1" * 64, "beta", (), TERMS, {}, compared_on="2026-11-30")
    found = [
        replace(finding(1, "undeclared_segment", "beta", "1", 100), id="V00002-00001", survey="V00002"),
        replace(finding(2, "missing_in_survey", "alfa", "S1", 100, permitted="S1"), id="V00002-00002", survey="V00002"),
    ]
    with opened.database.write() as connection:
        register = SurveyRegister(connection, opened.database.tables, SRID)
        lines, boxes = register.load_lines("V00001").iloc[:1], register.load_equipment("V00001").iloc[:0]
        lines = lines.set_geometry([MultiLineString([line])], crs=SRID)
        register.save(survey, lines, boxes, found, [line, at((0, 5), (100, 5))], "2026-11-30T13:00:00Z")
    assert look_closely(opened, "V00002-00001").profile.is_alone
    # what is missing is held against what was surveyed
    assert {o for _, o in look_closely(opened, "V00002-00002").profile.places} == {Decimal("1.00")}
