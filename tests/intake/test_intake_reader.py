"""Files as they come: formats, layers, encodings, broken bytes, exact ids."""

import shutil
from pathlib import Path

import geopandas as gpd
import pandas as pd
import pyogrio
import pytest
import shapely
from pyproj import CRS

import geobill.intake.bulk as bulk
from geobill.errors import InputError
from geobill.intake.formats import FORMATS
from geobill.intake.reader import read_layer
from geobill.intake.text import named_encoding

LINE = shapely.LineString([(322000, 7416000), (322060, 7416000)])
DRIVERS = {"shp": "ESRI Shapefile", "gpkg": "GPKG", "geojson": "GeoJSON"}


@pytest.fixture
def write(tmp_path):
    def to(suffix, name="rede", crs="EPSG:31983", geometry=(LINE,), columns=None, **options):
        path = tmp_path / f"{name}.{suffix}"
        frame = gpd.GeoDataFrame(columns or {"ID": ["1"] * len(geometry)}, geometry=list(geometry), crs=crs)
        pyogrio.write_dataframe(frame, path, driver=DRIVERS[suffix], **options)
        return path

    return to


def test_every_format_is_listed_once_and_complete():
    suffixes = [s for f in FORMATS for s in f.suffixes]
    assert len(set(suffixes)) == len(suffixes)
    assert all(f.name and f.driver and f.suffixes for f in FORMATS)


@pytest.mark.parametrize("suffix", DRIVERS)
def test_ids_stay_exact_text(write, suffix):
    columns = {"N": pd.array([123, None, 2**53 + 1], dtype="Int64"), "T": ["007", None, "1.10"]}
    layer = read_layer(write(suffix, geometry=[LINE] * 3, columns=columns))
    assert layer.frame["N"].dropna().astype(str).tolist() == ["123", str(2**53 + 1)]
    assert layer.frame["N"].isna().tolist() == [False, True, False]
    assert layer.frame["T"].dropna().tolist() == ["007", "1.10"]
    assert list(layer.frame.index) == [0, 1, 2]
    assert layer.crs.to_epsg() == 31983


def test_numbers_too_wide_for_the_library_keep_their_digits(write_geojson):
    long = 12345678901234567890
    layer = read_layer(write_geojson([({"id": long}, [[-46.7, -23.4], [-46.71, -23.4]]), ({"id": 1}, None)]))
    assert layer.frame["id"].tolist() == [str(long), "1"]


def test_numbers_too_wide_in_a_dbf_keep_their_digits(write):
    path = write("shp", columns={"ID": ["12345678901234567890"]})
    raw = bytearray(path.with_suffix(".dbf").read_bytes())
    raw[32 + 11] = ord("N")  # the same digits as a number
    path.with_suffix(".dbf").write_bytes(raw)
    assert read_layer(path).frame["ID"].tolist() == ["12345678901234567890"]


def test_text_that_looks_like_a_date_stays_text(write_geojson):
    layer = read_layer(write_geojson([({"id": "2024-01-02"}, [[-46.7, -23.4], [-46.71, -23.4]])]))
    assert layer.frame["id"].tolist() == ["2024-01-02"]


@pytest.mark.parametrize(
    ("text", "name"),
    [("UTF-8", "utf-8"), ("65001", "utf-8"), ("1252", "cp1252"), ("ANSI 1252", "cp1252"), ("88591", "cp1252"),
     ("ISO-8859-1", "cp1252"), ("windows-1250", "cp1250"), ("CP850", "cp850"), ("<html>", None), ("", None)],
)  # fmt: skip
def test_names_of_encodings(text, name):
    assert named_encoding(text) == name


@pytest.mark.parametrize(
    ("cpg", "language", "encoding", "found", "code"),
    [("1252", 0, "cp1252", "aéreo – João", None), (None, 0x03, "cp1252", "aéreo – João", None),
     (None, 0, "cp1252", "aéreo – João", "encoding_assumed"), (None, 0x57, "cp1252", "aéreo – João", "encoding_assumed"),
     ("<html>", 0, "cp1252", "aéreo – João", "cpg_unreadable"), ("UTF-8", 0, "cp1252", "aéreo – João", "encoding_doubtful"),
     (None, 0x02, "cp1252", "aéreo – João", "encoding_doubtful")],
)  # fmt: skip
def test_shapefile_text(write, cpg, language, encoding, found, code):
    path = write("shp", columns={"descrição": ["aéreo – João"]}, encoding=encoding)
    path.with_suffix(".cpg").unlink(missing_ok=True)
    if cpg:
        path.with_suffix(".cpg").write_text(cpg)
    raw = bytearray(path.with_suffix(".dbf").read_bytes())
    raw[29] = language
    path.with_suffix(".dbf").write_bytes(raw)
    layer = read_layer(path)
    assert found in layer.frame.iloc[0, 0]
    assert code is None or code in [f.code for f in layer.findings]


def test_utf8_without_a_word_about_it(write):
    path = write("shp", columns={"descrição": ["aéreo – João"]}, encoding="UTF-8")
    path.with_suffix(".cpg").unlink(missing_ok=True)
    layer = read_layer(path)
    assert (layer.encoding, layer.frame.iloc[0, 0]) == ("utf-8", "aéreo – João")


def test_one_letter_cut_in_half_doesnt_spoil_the_rest(write):
    path = write("shp", columns={"T": ["aéreo é ã", "ação ção"]}, geometry=[LINE] * 2, encoding="UTF-8")
    raw = path.with_suffix(".dbf").read_bytes().replace("ção".encode(), "ção".encode()[:1] + b"xxxx", 1)
    path.with_suffix(".dbf").write_bytes(raw)
    path.with_suffix(".cpg").write_text("UTF-8")
    layer = read_layer(path)
    assert layer.frame["T"].iloc[0] == "aéreo é ã"
    assert "\ufffd" in layer.frame["T"].iloc[1]
    assert "encoding_doubtful" in [f.code for f in layer.findings]


def test_heights_are_dropped_and_said(write):
    layer = read_layer(write("gpkg", geometry=[shapely.force_3d(LINE, 7.0)]))
    assert not shapely.has_z(layer.frame.geometry.to_numpy()).any()
    assert [f.code for f in layer.findings] == ["heights_dropped"]


def test_layers_are_chosen_only_where_there_is_no_choice(write):
    path = write("gpkg", layer="SSDMT")
    assert read_layer(path).name == "SSDMT"
    pyogrio.write_dataframe(pd.DataFrame({"a": [1]}), path, layer="notas")
    assert read_layer(path).name == "SSDMT"
    write("gpkg", layer="SSDBT", append=True)
    with pytest.raises(InputError, match=r"none was named: .*SSDBT.*--layer"):
        read_layer(path)
    with pytest.raises(InputError, match="Did you mean 'SSDBT'"):
        read_layer(path, "ssdbt")


def test_the_end_of_a_layers_path_names_it_where_only_one_ends_so(write):
    path = write("gpkg", layer="Alfa/MT")
    write("gpkg", layer="Alfa/BT", append=True)
    assert read_layer(path, "MT").name == "Alfa/MT"
    write("gpkg", layer="Beta/MT", append=True)
    with pytest.raises(InputError, match="It could be 'Alfa/MT' or 'Beta/MT'"):
        read_layer(path, "MT")


@pytest.mark.parametrize(
    ("member", "epsg"),
    [({}, 4326), ({"crs": {"type": "name", "properties": {"name": "urn:ogc:def:crs:EPSG::31983"}}}, 31983),
     ({"crs": {"type": "name", "properties": {"name": "urn:ogc:def:crs:OGC:1.3:CRS84"}}}, 4326),
     ({"crs": None}, None), ({"crs": {"type": "link", "properties": {"href": "x"}}}, None),
     ({"crs": {"type": "name", "properties": {"name": "EPSG:999999"}}}, None)],
)  # fmt: skip
def test_geojson_system(write_geojson, member, epsg):
    layer = read_layer(write_geojson([({"crs": "x"}, [[-46.7, -23.4], [-46.71, -23.4]])], **member))
    assert (layer.crs and layer.crs.to_epsg()) == epsg
    assert ("crs_unreadable" in [f.code for f in layer.findings]) == (epsg is None)


def test_a_geometry_that_cant_be_built_costs_only_its_row(write, monkeypatch):
    path = write("gpkg", geometry=[LINE, LINE, LINE])
    original = bulk.geometries

    def with_bad_rows(wkb):
        changed = wkb.copy()
        changed[1] = bytes.fromhex("010200000002000000")  # a line of two points, cut short
        return original(changed)

    monkeypatch.setattr(bulk, "geometries", with_bad_rows)
    layer = read_layer(path)
    assert layer.frame.geometry.isna().tolist() == [False, True, False]
    assert [(f.code, f.rows) for f in layer.findings] == [("geometry_unreadable", (2,))]


@pytest.mark.parametrize("suffix", DRIVERS)
def test_row_by_row_reads_the_same(write, monkeypatch, suffix):
    path = write(suffix, geometry=[LINE, None, LINE], columns={"N": ["a", "é", None], "W": [0.5, None, 1.0]})
    fast = read_layer(path)
    monkeypatch.setattr(bulk.pyogrio, "open_arrow", lambda *a, **k: 1 / 0)
    slow = read_layer(path)
    assert slow.frame["N"].isna().tolist() == fast.frame["N"].isna().tolist()
    assert slow.frame["N"].dropna().tolist() == ["a", "é"]
    assert slow.crs == fast.crs == CRS(31983)
    assert all(slow.frame.geometry.isna() == fast.frame.geometry.isna())


def test_digest_covers_every_file_of_a_shapefile(write):
    path = write("shp")
    before = read_layer(path).sha256
    assert {p.suffix for p in read_layer(path).files} >= {".shp", ".shx", ".dbf", ".prj"}
    path.with_suffix(".prj").unlink()
    assert read_layer(path).sha256 != before


def test_refused_before_anything_is_read(tmp_path, write):
    good = write("gpkg")
    (tmp_path / "zero.gpkg").touch()
    (tmp_path / "texto.gpkg").write_bytes(b"nothing of the kind" * 20)
    (tmp_path / "meio.gpkg").write_bytes(good.read_bytes()[:50_000])
    (tmp_path / "texto.shp").write_bytes(b"x" * 200)
    (tmp_path / "meio.geojson").write_text('{"type": "FeatureCollection", "features": [{"type": "Fea')
    (tmp_path / "outro.json").write_text('{"type": "Topology", "objects": {}}')
    (tmp_path / "quebrado.json").write_text('{"type": "FeatureCollection", "features": [{]}')
    (tmp_path / "rede.xyz").write_text("1 2 3")
    cases = {
        "rede.gpk": "Did you mean 'rede.gpkg'", "nada.xyz": "Check the folder", "": "is a folder", "zero.gpkg": "empty",
        "texto.gpkg": "broken", "meio.gpkg": "broken", "texto.shp": "broken", "meio.geojson": "broken",
        "outro.json": "not GeoJSON", "quebrado.json": "can't be read",
        "rede.xyz": "Shapefile, GeoPackage, GeoJSON",
    }  # fmt: skip
    for name, message in cases.items():
        with pytest.raises(InputError, match=message):
            read_layer(tmp_path / name)


def test_an_incomplete_shapefile_is_refused(write):
    path = write("shp", geometry=[LINE] * 5)
    whole = path.with_suffix(".dbf").read_bytes()
    path.with_suffix(".dbf").write_bytes(whole[:-100])
    with pytest.raises(InputError, match="broken"):
        read_layer(path)
    path.with_suffix(".dbf").write_bytes(whole)
    with pytest.raises(InputError, match=r"name rede\.shp"):
        read_layer(path.with_suffix(".dbf"))
    shp = path.read_bytes()
    path.write_bytes(shp[:-40])
    with pytest.raises(InputError, match="broken"):
        read_layer(path)
    path.write_bytes(shp)
    path.with_suffix(".dbf").unlink()
    assert "dbf_missing" in [f.code for f in read_layer(path).findings]
    path.with_suffix(".shx").unlink()
    with pytest.raises(InputError, match=r"without its rede\.shx"):
        read_layer(path)


def test_a_locked_file_is_refused(write, monkeypatch):
    path, original = write("gpkg"), Path.open

    def locked(self, *args, **kwargs):
        if self == path:
            raise PermissionError(13, "Permission denied", str(self))
        return original(self, *args, **kwargs)

    monkeypatch.setattr(Path, "open", locked)
    with pytest.raises(InputError, match=r"can't be read .*right to read it"):
        read_layer(path)


def test_upper_case_names_are_read(write, tmp_path):
    path = write("shp")
    for part in list(tmp_path.iterdir()):
        shutil.move(part, part.with_name(part.name.upper()))
    layer = read_layer(path.with_name("REDE.SHP"))
    assert (len(layer.frame), layer.crs.to_epsg()) == (1, 31983)
