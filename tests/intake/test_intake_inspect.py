"""The report of inspect, on files made here."""

import geopandas as gpd
import pytest
import shapely

from geobill.errors import InputError
from geobill.intake.inspect import inspect_file


def test_a_report_is_of_the_contract(write_geojson, at):
    crs = {"type": "name", "properties": {"name": "urn:ogc:def:crs:EPSG::31983"}}
    rows = [
        ({"id": 7, "nome": " "}, at((0, 0), (60, 0))),
        ({"id": None, "nome": "é"}, None),
        ({"id": 8, "nome": "é"}, at((1, 1), (1, 1))),
    ]
    path = write_geojson(rows, crs=crs)
    report = inspect_file(path)
    assert set(report) == {"file", "sha256", "layers", "findings"}
    [layer] = report["layers"]
    assert layer == {
        "name": "rede", "features": 3, "geometry_types": {"LineString": 2}, "crs": "EPSG:31983",
        "crs_guesses": ["EPSG:31983", "EPSG:29193", "EPSG:22523"], "encoding": "UTF-8", "length_m": "60.00",
        "fields": [
            {"name": "id", "type": "integer", "nulls": 1, "example": "7"},
            {"name": "nome", "type": "text", "nulls": 0, "example": "é"},
        ],
    }  # fmt: skip
    assert {(f["code"], *f["rows"]) for f in report["findings"]} == {("no_geometry", 2), ("zero_length", 3)}
    assert all(set(f) == {"code", "severity", "layer", "rows", "message", "fix"} for f in report["findings"])


def test_an_unknown_system_has_no_length(write_geojson, at):
    report = inspect_file(write_geojson([({}, at((0, 0), (60, 0)))], crs=None))
    [layer] = report["layers"]
    assert (layer["crs"], layer["length_m"], layer["crs_guesses"][0]) == (None, None, "EPSG:31983")
    assert {f["code"] for f in report["findings"]} == {"crs_unreadable", "crs_missing"}


def test_degrees_are_measured_in_metres(tmp_path, at):
    path = tmp_path / "graus.gpkg"
    gpd.GeoDataFrame(geometry=[shapely.LineString(at((0, 0), (60, 0)))], crs=31983).to_crs(4674).to_file(
        path, driver="GPKG"
    )
    [layer] = inspect_file(path)["layers"]
    assert (layer["crs"], layer["crs_guesses"], layer["length_m"]) == ("EPSG:4674", ["EPSG:4674", "EPSG:4326"], "60.00")


def test_a_wrong_system_is_suspect(write_geojson, at):
    report = inspect_file(write_geojson([({}, at((0, 0), (60, 0)))]))
    assert [f["code"] for f in report["findings"]] == ["crs_suspect"]
    assert "EPSG:31983" in report["findings"][0]["message"]


def test_what_cant_be_read_is_refused(tmp_path):
    with pytest.raises(InputError, match="There is no file"):
        inspect_file(tmp_path / "nada.shp")
