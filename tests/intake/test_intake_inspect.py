"""The report of inspect, on files made here."""

import json
import shlex

import geopandas as gpd
import numpy as np
import pandas as pd
import pytest
import shapely
from pyproj import CRS
from workspaces import geobill

import geobill.intake.bulk as bulk
from geobill.errors import InputError
from geobill.intake.bulk import iter_batches, read_rows
from geobill.intake.column_tally import ColumnTally, Repeats
from geobill.intake.formats import FORMATS
from geobill.intake.inspect import inspect_file
from geobill.intake.profile_file import built_in_profiles
from geobill.intake.shape_tally import Sample
from geobill.pipeline.inspect import inspect

METRES = {"type": "name", "properties": {"name": "urn:ogc:def:crs:EPSG::31983"}}
CONTRACT = {"name", "features", "geometry_types", "crs", "crs_guesses", "encoding", "length_m", "fields"}


@pytest.fixture
def gpkg(tmp_path):
    """Write layers into one GeoPackage in EPSG:31983; returns its path."""

    def write(**layers):
        path = tmp_path / "varias.gpkg"
        for name, (geometry, columns) in layers.items():
            gpd.GeoDataFrame(columns, geometry=geometry, crs=31983).to_file(path, layer=name, driver="GPKG")
        return path

    return write


def codes(report):
    return {(f["code"], *f["rows"]) for f in report["findings"]}


def test_a_report_is_of_the_contract(write_geojson, at):
    rows = [
        ({"id": 7, "nome": " "}, at((0, 0), (60, 0))),
        ({"id": None, "nome": "é"}, None),
        ({"id": 8, "nome": "é"}, at((1, 1), (1, 1))),
    ]
    report = inspect_file(write_geojson(rows, crs=METRES))
    assert set(report) == {"file", "sha256", "layers", "unopened_layers", "findings"}
    [layer] = report["layers"]
    wanted = {
        "name": "rede", "features": 3, "geometry_types": {"LineString": 2}, "crs": "EPSG:31983", "encoding": "UTF-8",
        "length_m": "60.00",
    }  # fmt: skip
    assert set(layer) >= CONTRACT
    assert {key: layer[key] for key in wanted} == wanted
    assert layer["crs_guesses"][:3] == ["EPSG:31983", "EPSG:29193", "EPSG:22523"]
    assert [{k: f[k] for k in ("name", "type", "nulls", "example")} for f in layer["fields"]] == [
        {"name": "id", "type": "integer", "nulls": 1, "example": "7"},
        {"name": "nome", "type": "text", "nulls": 0, "example": "é"},
    ]
    assert [(f["blanks"], f["distinct"], f["examples"]) for f in layer["fields"]] == [(0, 2, ["7", "8"]), (1, 1, ["é"])]
    x, y = at((0, 0))[0]
    assert layer["bounds"] == [x, y, x + 60, y + 1]
    assert codes(report) == {("no_geometry", 2), ("zero_length", 3)}
    assert all(set(f) == {"code", "severity", "layer", "rows", "message", "fix"} for f in report["findings"])


def test_an_unknown_system_has_no_length_but_candidates(write_geojson, at):
    report = inspect_file(write_geojson([({}, at((0, 0), (60, 0)))], crs=None))
    [layer] = report["layers"]
    assert (layer["crs"], layer["length_m"], layer["crs_guesses"][0]) == (None, None, "EPSG:31983")
    first, second = layer["crs_candidates"][:2]
    assert (first["crs"], first["share_inside"], first["differs_m"]) == ("EPSG:31983", "1.000", "0")
    assert (second["crs"], round(float(second["differs_m"]), -1)) == ("EPSG:29193", 60)
    assert -46.8 < first["lon"] < -46.6
    assert -23.5 < first["lat"] < -23.3
    assert {f["code"] for f in report["findings"]} == {"crs_unreadable", "crs_missing"}


def test_degrees_are_measured_in_metres(tmp_path, at):
    path = tmp_path / "graus.gpkg"
    gpd.GeoDataFrame(geometry=[shapely.LineString(at((0, 0), (60, 0)))], crs=31983).to_crs(4674).to_file(path)
    [layer] = inspect_file(path)["layers"]
    assert (layer["crs"], layer["crs_guesses"][:2], layer["length_m"]) == (
        "EPSG:4674", ["EPSG:4674", "EPSG:4326"], "60.00",
    )  # fmt: skip


def test_degrees_far_away_are_measured_where_they_lie(tmp_path):
    line = shapely.LineString([(370_000, 6_890_000), (370_100, 6_890_000)])
    gpd.GeoDataFrame(geometry=[line], crs=31982).to_crs(4674).to_file(tmp_path / "longe.gpkg")
    report = inspect_file(tmp_path / "longe.gpkg")
    assert report["layers"][0]["length_m"] == "100.00"  # in zone 23 it would be 100.62
    [found] = report["findings"]
    assert found["code"] == "another_town"
    assert "set name, state, bbox and crs in geobill.toml" in found["fix"]
    assert "--crs" not in found["fix"]


def test_a_collection_of_lines_is_measured_as_an_import_does(tmp_path, at):
    lines = shapely.GeometryCollection(
        [shapely.LineString(at((0, 0), (60, 0))), shapely.LineString(at((0, 9), (40, 9)))]
    )
    gpd.GeoDataFrame(geometry=[lines], crs=31983).to_file(tmp_path / "colecao.gpkg")
    [layer] = inspect_file(tmp_path / "colecao.gpkg")["layers"]
    assert (layer["geometry_types"], layer["length_m"]) == ({"GeometryCollection": 1}, "100.00")


def test_coordinates_that_are_no_place_have_no_length(tmp_path):
    line = shapely.LineString([(320_000, 7_414_000), (320_100, 7_414_000)])  # metres under the name of degrees
    gpd.GeoDataFrame(geometry=[line], crs=4674).to_file(tmp_path / "graus.gpkg")
    report = inspect_file(tmp_path / "graus.gpkg")
    assert report["layers"][0]["length_m"] is None
    assert [f["code"] for f in report["findings"]] == ["crs_suspect"]


def test_a_wrong_system_is_suspect(write_geojson, at):
    report = inspect_file(write_geojson([({}, at((0, 0), (60, 0)))]))
    assert [f["code"] for f in report["findings"]] == ["crs_suspect"]
    assert "EPSG:31983" in report["findings"][0]["message"]


def test_what_cant_be_read_is_refused(tmp_path, gpkg, at):
    with pytest.raises(InputError, match="There is no file"):
        inspect_file(tmp_path / "nada.shp")
    with pytest.raises(InputError, match=r"no layer .rde.*rede"):
        inspect_file(gpkg(rede=([shapely.LineString(at((0, 0), (9, 0)))], {})), names=["rde"])


def test_rows_that_an_import_would_set_aside_are_told(gpkg, at):
    line = shapely.LineString(at((0, 0), (60, 0)))
    nowhere = shapely.LineString([(np.nan, 1), (2, 3)])
    far = shapely.LineString(at((90_000, 0), (90_060, 0)))
    (west, south), length = at((0, 0))[0], 30_000
    astray = shapely.LineString([(west, south), (west - length, south)])
    geometry = [line, shapely.Point(at((0, 0))[0]), nowhere, far, astray, line]
    columns = {"COD_ID": ["a", "b", "c", "d", "e", "a"], "COMP": [60.0, np.nan, 1, 60, 30_000, 90]}
    report = inspect_file(gpkg(rede=(geometry, columns)), profiles=built_in_profiles())
    assert codes(report) == {
        ("wrong_geometry_type", 2), ("invalid_geometry", 3), ("outside_municipality", 4, 5), ("duplicate_id", 1, 6),
        ("declared_length_differs", 6),
    }  # fmt: skip
    assert all(f["message"] and f["fix"] and f["layer"] == "rede" for f in report["findings"])


def test_a_mapping_is_proposed_with_its_command(gpkg, at):
    lines = [shapely.LineString(at((0, n), (60, n))) for n in range(2)]
    columns = {"COD_ID": ["a", "b"], "COMP": [60.0, 60], "largura": ["0,30", None], "outra": ["x", "y"]}
    path = gpkg(**{"rede velha": (lines, columns), "outra": (lines, columns)})
    report = inspect(path, None, ["rede velha"]).report
    [layer] = report["layers"]
    assert layer["proposed_mapping"] == {"segment": "COD_ID", "declared_length": "COMP", "width": "largura"}
    words = shlex.split(layer["import_command"])
    assert words[:6] == ["geobill", "import", "network", str(path), "--layer", "rede velha"]
    assert {"segment=COD_ID", "width=largura"} <= set(words)
    assert words[-2:] == ["--default-width", "METRES"]


def test_layers_of_consumers_are_never_opened(gpkg, at):
    line, point = shapely.LineString(at((0, 0), (60, 0))), shapely.Point(at((0, 0))[0])
    path = gpkg(
        SSDMT=([line], {"COD_ID": ["1"], "COMP": [60.0]}), UCBT_tab=([point], {"LGRD": ["Rua Secreta, 7"]}),
        Desconhecida=([point], {"X": ["Rua Secreta, 8"]}),
    )  # fmt: skip
    report = inspect(path, None).report
    assert [layer["name"] for layer in report["layers"]] == ["SSDMT"]
    assert [one["name"] for one in report["unopened_layers"]] == ["UCBT_tab", "Desconhecida"]
    assert all(one["reason"] for one in report["unopened_layers"])
    assert report["layers"][0]["profile"] == "bdgd"
    assert "--profile bdgd" in report["layers"][0]["import_command"]
    named = inspect(path, None, ["UCBT_tab"]).report
    assert named["layers"] == []
    assert len(named["unopened_layers"]) == 1
    assert "Secreta" not in json.dumps([report, named], ensure_ascii=False)


def test_a_file_s_name_alone_makes_no_bdgd(tmp_path, at):
    lines = [shapely.LineString(at((0, n), (60, n))) for n in range(2)]
    for name in ("base", "ucbt_rede"):
        gpd.GeoDataFrame({"id": ["a", "b"]}, geometry=lines, crs=31983).to_file(tmp_path / f"{name}.shp")
        report = inspect(tmp_path / f"{name}.shp", None).report
        assert report["unopened_layers"] == []
        assert report["layers"][0]["proposed_import"] == "network"
    columns = {"COD_ID": ["1"], "LGRD": ["Rua Secreta, 7"], "BRR": ["Centro"]}
    gpd.GeoDataFrame(columns, geometry=lines[:1], crs=31983).to_file(tmp_path / "consumo.gpkg", layer="UCBT_tab")
    report = inspect(tmp_path / "consumo.gpkg", None).report
    assert [one["name"] for one in report["unopened_layers"]] == ["UCBT_tab"]
    assert "Secreta" not in json.dumps(report)


def test_rows_without_a_width_that_can_be_read_are_told(gpkg, at):
    lines = [shapely.LineString(at((0, n), (60, n))) for n in range(5)]
    report = inspect(gpkg(rede=(lines, {"largura": ["0,30", None, " ", "abc", "0,30"]})), None).report
    assert codes(report) == {("width_missing", 2, 3), ("number_unreadable", 4)}
    report = inspect(gpkg(rede=(lines, {"largura": [0.3, None, 1, 1, 1]})), None).report
    assert codes(report) == {("width_missing", 2)}


def test_lines_whose_columns_nobody_knows_still_get_a_command(gpkg, at):
    line = [shapely.LineString(at((0, 0), (60, 0)))]
    report = inspect(gpkg(rede=(line, {"xyz": ["1"]}), outra=(line, {"xyz": ["1"]})), None).report
    words = shlex.split(report["layers"][0]["import_command"])
    assert words[:3] == ["geobill", "import", "network"]
    assert words[4:] == ["--layer", "rede", "--operator", "ID", "--default-width", "METRES"]


def test_layers_of_one_profile_have_one_command_and_shared_findings_are_said_once(gpkg, at):
    line, empty = shapely.LineString(at((0, 0), (60, 0))), None
    columns = {"COD_ID": ["1", "2"], "COMP": [60.0, 60]}
    told = geobill("inspect", gpkg(SSDMT=([line, empty], columns), SSDBT=([line, empty], columns))).out
    assert told.count("geobill import") == 1
    assert "--layer" not in told
    assert told.count("no_geometry") == 1
    assert "warning no_geometry (layers SSDMT, SSDBT): " in told


# -- batch by batch


@pytest.mark.parametrize("suffix", ["gpkg", "shp", "parquet", "fgb", "geojson"])
@pytest.mark.parametrize("broken", [False, True], ids=["bulk", "bulk breaks off"])
def test_batches_are_the_whole(tmp_path, at, monkeypatch, suffix, broken):
    geometry = [shapely.LineString(at((0, n), (60, n))) if n != 3 else None for n in range(5)]
    frame = gpd.GeoDataFrame({"n": range(5), "t": ["á", None, "c", "d", "e"]}, geometry=geometry, crs=31983)
    path = tmp_path / f"rede.{suffix}"
    options = {"row_group_size": 3} if suffix == "parquet" else {"SPATIAL_INDEX": "NO"} if suffix == "fgb" else {}
    (frame.to_parquet if suffix == "parquet" else frame.to_file)(path, **options)
    format_ = next(f for f in FORMATS if path.suffix in f.suffixes)
    given = (path, "rede", format_, "UTF-8")
    whole, original = read_rows(*given), bulk._tables
    if broken and format_.reads_itself:
        pytest.skip("no second reader")
    if broken:

        def one_and_no_more(*args):
            yield next(original(*args))
            raise RuntimeError("it breaks off")

        monkeypatch.setattr(bulk, "_tables", one_and_no_more)
    batches = list(iter_batches(*given, rows=2))
    assert [len(b.frame) for b in batches][:2] == [2, 2]
    assert [n for b in batches for n in b.frame.index] == list(range(5))
    joined = pd.concat([b.frame for b in batches])
    assert [str(v) for v in joined["n"]] == [str(v) for v in whole.frame["n"]]
    assert joined["t"].fillna("-").tolist() == whole.frame["t"].fillna("-").tolist()
    assert joined.geometry.to_wkt().tolist() == whole.frame.geometry.to_wkt().tolist()
    assert {CRS(b.crs).to_epsg() for b in batches} == {31983}


def test_a_layer_of_no_rows_is_a_batch(gpkg):
    path = gpkg(vazia=([], {"COD_ID": []}))
    report = inspect_file(path)
    assert report["layers"][0]["features"] == 0
    assert codes(report) == {("no_rows",)}


def test_columns_are_counted_over_batches():
    column = ColumnTally("c")
    for values in (["a", " ", None], ["b", "a", "c"], ["d"]):
        column.add(pd.Series(values, dtype="str"))
    told = column.report()
    assert (told["nulls"], told["blanks"], told["distinct"], told["examples"]) == (1, 1, 4, ["a", "b", "c"])
    repeats = Repeats()
    for start, ids in ((1, ["x", "y", None]), (4, [" ", "x", None])):
        repeats.add(pd.Series(ids, dtype="str"), np.arange(start, start + 3))
    assert repeats.rows().tolist() == [1, 5]


def test_more_distinct_values_than_are_told_apart(monkeypatch):
    monkeypatch.setattr("geobill.intake.column_tally.MOST_DISTINCT", 3)
    column = ColumnTally("c")
    column.add(pd.Series([1, 2, 3], dtype="Int64"))
    assert (column.report()["distinct"], column.report()["distinct_more"]) == (3, False)
    column.add(pd.Series([4, 5], dtype="Int64"))
    assert (column.report()["distinct"], column.report()["distinct_more"]) == (3, True)


def test_a_sample_is_even_and_bounded():
    sample = Sample(most=10)
    for start in range(0, 1000, 7):
        sample.add(np.arange(start, min(start + 7, 1000)))
    assert len(sample.geometry) <= 20
    assert sample.geometry.tolist() == list(range(0, 1000, sample.one_in))


# -- what a person reads


def test_a_person_reads_it_with_few_rows_and_no_control_characters(gpkg, at):
    lines = [shapely.LineString(at((0, n), (0, n))) for n in range(20)]
    path = gpkg(rede=(lines, {"COD_ID": ["\x1b[31mvermelho"] * 20}))
    told = geobill("inspect", path).out
    assert "Rows 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 …." in told
    assert "COD_ID (text" in told
    assert "\x1b" not in told


def test_the_page_is_not_written_over_the_file(gpkg, at):
    path = gpkg(rede=([shapely.LineString(at((0, 0), (60, 0)))], {}))
    before = path.read_bytes()
    answer = geobill("inspect", path, "--html", path)
    assert answer.code == 1
    assert "would be overwritten" in answer.err
    assert path.read_bytes() == before
