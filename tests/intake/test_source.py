"""What is named on the command line: known by its content, whole, the same at the end as at the beginning."""

import os
import shutil
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path

import geopandas as gpd
import pyogrio
import pytest
import shapely
from workspaces import done, geobill

from geobill.errors import InputError
from geobill.intake.formats import FORMATS
from geobill.intake.formats.refused import REFUSED
from geobill.intake.reader import load_layer, read_layer, read_layers
from geobill.intake.source import open_source

LINE = shapely.LineString([(322000, 7416000), (322060, 7416000)])
KML = '<?xml version="1.0"?><kml xmlns="http://www.opengis.net/kml/2.2"><Document><Placemark><name>a</name><LineString><coordinates>-46.7,-23.4 -46.71,-23.4</coordinates></LineString></Placemark></Document></kml>'  # noqa: E501


@pytest.fixture(autouse=True)
def scratch(tmp_path, monkeypatch):
    """Where links and copies go in these tests; nothing may be left there."""
    folder = tmp_path / "scratch"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    yield folder
    assert list(folder.iterdir()) == []


def frame(rows=1, **columns):
    columns = columns or {"ID": [f"{n:03}" for n in range(1, rows + 1)]}
    lines = [shapely.affinity.translate(LINE, 0, n) for n in range(rows)]
    return gpd.GeoDataFrame(columns, geometry=lines, crs=31983)


def codes(path):
    with open_source(path) as source:
        return [f.code for f in source.findings]


# -- what a file is


@pytest.mark.parametrize("suffix", [".sqlite", ".db", ".shp", ".csv", ".kml", ".zip", ".fgb", ".dat1", ""])
def test_a_geopackage_is_one_whatever_its_name(tmp_path, suffix):
    pyogrio.write_dataframe(frame(), tmp_path / "x.gpkg", layer="MT")
    path = shutil.move(tmp_path / "x.gpkg", tmp_path / f"rede{suffix}")
    layer = read_layer(path)
    assert (layer.format, layer.name, layer.frame["ID"].tolist()) == ("GeoPackage", "MT", ["001"])
    assert [f.code for f in layer.findings] == ["suffix_contradicts"]


def test_content_decides_for_other_formats_too(tmp_path):
    pyogrio.write_dataframe(frame(), tmp_path / "rede.fgb")
    pyogrio.write_dataframe(frame().to_crs(4326), tmp_path / "rede.geojson")
    frame().to_parquet(tmp_path / "rede.parquet")
    (tmp_path / "rede.kml").write_text(KML)
    for name, wrong, format_ in (
        ("rede.fgb", "rede.gpkg", "FlatGeobuf"), ("rede.parquet", "rede.zip", "GeoParquet"),
        ("rede.geojson", "a.txt", "GeoJSON"), ("rede.kml", "b.shp", "KML"),
    ):  # fmt: skip
        shutil.copy(tmp_path / name, tmp_path / wrong)
        layer = read_layer(tmp_path / wrong)
        assert (layer.format, len(layer.frame)) == (format_, 1)
        assert "suffix_contradicts" in [f.code for f in layer.findings]
        assert "suffix_contradicts" not in [f.code for f in read_layer(tmp_path / name).findings]


def test_a_zip_named_shp_is_unpacked(tmp_path):
    pyogrio.write_dataframe(frame(), tmp_path / "rede.shp")
    packed = shutil.make_archive(str(tmp_path / "x"), "zip", tmp_path, ".")
    shutil.move(packed, tmp_path / "outra.shp")
    assert read_layer(tmp_path / "outra.shp").name == "rede"
    assert "suffix_contradicts" in codes(tmp_path / "outra.shp")


OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"


@pytest.mark.parametrize(
    ("name", "head", "said"),
    [("planta.dwg", b"AC1018", "format AutoCAD DWG: .*Make a DXF.*ODA File Converter.*LibreCAD"),
     ("planta.dxf", b"AC1032", "format AutoCAD DWG by its content"), ("rede.gpkg", b"\n<!DOCTYPE html><html>", "web page.*download"),
     ("rede.kml", b"<html><head>", "web page"), ("rede.dgn", OLE, "MicroStation"), ("t.xls", OLE, "save it as .xlsx"),
     ("t.shp", OLE, "Excel 97-2003 by its content"),
     ("mapa.pdf", b"%PDF-1.7", "A PDF is paper"), ("mapa.shp", b"%PDF-1.7", "PDF by its content"),
     ("x.rar", b"Rar!\x1a\x07\x01\x00", "pack the files as .zip"), ("x.7z", b"7z\xbc\xaf\x27\x1c", "pack the files as .zip"),
     ("x.tar.gz", b"\x1f\x8b\x08", "pack the files as .zip"), ("foto.jpg", b"\xff\xd8\xff\xe0", "picture"),
     ("orto.ecw", b"e\x02", "picture"),
     ("sp.osm.pbf", b"\0\0\0\x0d\x0a\x09OSMHeader", "QGIS"), ("p.qgz", b"PK\x05\x06" + bytes(18), "project only points"),
     ("x.mdb", b"\0\1\0\0Standard Jet DB", "File Geodatabase or GeoPackage"), ("rede.xyz", b"1 2 3", "geobill formats")],
)  # fmt: skip
def test_what_isnt_read_is_refused_with_the_way_out(tmp_path, name, head, said):
    (tmp_path / name).write_bytes(head + bytes(100))
    with pytest.raises(InputError, match=said):
        read_layer(tmp_path / name)


def test_a_part_names_its_whole(tmp_path):
    for name, said in (
        ("rede.dbf", r"name rede\.shp"),
        ("rede.MAP", r"name rede\.tab"),
        ("rede.mid", r"name rede\.mif"),
    ):
        (tmp_path / name).write_bytes(b"x")
        with pytest.raises(InputError, match=said):
            read_layer(tmp_path / name)
    pyogrio.write_dataframe(frame(), tmp_path / "r.gdb", driver="OpenFileGDB")
    with pytest.raises(InputError, match=r"name the folder .*r\.gdb"):
        read_layer(tmp_path / "r.gdb" / "gdb")


def test_a_folder_names_what_is_in_it(tmp_path):
    folder = tmp_path / "entrega"
    folder.mkdir()
    with pytest.raises(InputError, match="It is empty"):
        read_layer(folder)
    (folder / "leia.pdf").write_bytes(b"%PDF")
    with pytest.raises(InputError, match=r"It holds leia\.pdf"):
        read_layer(folder)
    pyogrio.write_dataframe(frame(), folder / "rede.shp")
    with pytest.raises(InputError, match=r"The one file in it that geobill reads is rede\.shp"):
        read_layer(folder)
    pyogrio.write_dataframe(frame(), folder / "rede.gpkg")
    with pytest.raises(InputError, match=r"Name one of the files in it: rede\.gpkg, rede\.shp"):
        read_layer(folder)
    (tmp_path / "x.gdb").mkdir()
    with pytest.raises(InputError, match="its catalogue"):
        read_layer(tmp_path / "x.gdb")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes on this system")
def test_a_pipe_is_no_file(tmp_path):
    os.mkfifo(tmp_path / "rede.gpkg")
    with pytest.raises(InputError, match="neither a file nor a folder"):
        read_layer(tmp_path / "rede.gpkg")


def test_parts_in_another_case_beside_each_other(tmp_path):
    pyogrio.write_dataframe(frame(), tmp_path / "rede.shp")
    for old, new in ((".shp", "REDE.SHP"), (".dbf", "Rede.Dbf"), (".prj", "rede.PRJ")):
        shutil.move(tmp_path / f"rede{old}", tmp_path / new)
    layer = read_layer(tmp_path / "REDE.SHP")
    assert (layer.frame["ID"].tolist(), layer.crs.to_epsg()) == (["001"], 31983)


# -- files that change


def test_a_file_that_changes_while_it_is_read_is_refused(tmp_path):
    path = tmp_path / "rede.gpkg"
    pyogrio.write_dataframe(frame(), path, layer="MT")
    with (
        pytest.raises(InputError, match=r"rede\.gpkg changed while it was read.*Close the program"),
        open_source(path),
    ):
        pyogrio.write_dataframe(frame(2), path, layer="BT", append=True)
    with open_source(path) as source:  # touched, and the same
        os.utime(path, (1, 1))
    assert len(source.layers) == 2


def test_a_part_that_comes_or_goes_is_a_change(tmp_path):
    path = tmp_path / "rede.shp"
    pyogrio.write_dataframe(frame(), path)
    with pytest.raises(InputError, match="changed while it was read"), open_source(path):
        path.with_suffix(".prj").unlink()
    with pytest.raises(InputError, match="changed while it was read"), open_source(path):
        path.with_suffix(".prj").write_text("x")


def test_an_error_of_a_file_that_changed_says_that(tmp_path):
    path = tmp_path / "rede.geojson"
    pyogrio.write_dataframe(frame().to_crs(4326), path)
    changed = pytest.raises(InputError, match="changed while it was read")
    with changed, open_source(path) as source:
        path.write_bytes(path.read_bytes()[:-20])
        load_layer(source, source.layers[0])
        raise InputError("what the library said")


# -- GeoPackage


def test_layers_of_a_geopackage_have_each_their_own_system(tmp_path):
    path, name = tmp_path / "rede.gpkg", "a \"b\" 'c' ção"
    pyogrio.write_dataframe(frame(), path, layer=name)
    pyogrio.write_dataframe(frame().to_crs(4674), path, layer="geo")
    for layer in ("plana", "graus"):
        pyogrio.write_dataframe(frame(), path, layer=layer)
    pyogrio.write_dataframe(frame().drop(columns="geometry"), path, layer="tabela")
    with closing(sqlite3.connect(path)) as database:
        for layer, srs in (("plana", -1), ("graus", 0)):
            database.execute("UPDATE gpkg_geometry_columns SET srs_id = ? WHERE table_name = ?", (srs, layer))
            database.execute("UPDATE gpkg_contents SET srs_id = ? WHERE table_name = ?", (srs, layer))
        database.execute("CREATE VIEW vista AS SELECT fid AS OGC_FID, geom, ID FROM geo")
        for layer in ("vista", "sumida"):
            database.execute(
                "INSERT INTO gpkg_contents(table_name, identifier, data_type) VALUES (?, ?, 'features')", (layer, layer)
            )
            database.execute("INSERT INTO gpkg_geometry_columns VALUES (?, 'geom', 'LINESTRING', 4674, 0, 0)", (layer,))
        database.commit()
    with open_source(path) as source:
        assert {one.name: one.has_geometry for one in source.layers} == {
            name: True, "geo": True, "plana": True, "graus": True, "vista": True, "tabela": False
        }  # fmt: skip
    found = {layer.name: layer for layer in read_layers(path, [name, "geo", "plana", "graus", "vista"])}
    assert {n: layer.crs and layer.crs.to_epsg() for n, layer in found.items()} == {
        name: 31983, "geo": 4674, "plana": None, "graus": None, "vista": 4674
    }  # fmt: skip
    assert all(layer.frame["ID"].tolist() == ["001"] for layer in found.values())
    (gone,) = [f for f in found["geo"].findings if f.code == "layer_gone"]
    assert "sumida" in gone.message


def test_a_bad_page_in_the_middle_is_found_before_rows_are_lost(tmp_path):
    """The library gives the rows before it and says nothing."""
    for name, driver in (("rede.gpkg", "GPKG"), ("rede.sqlite", "SQLite")):
        path = tmp_path / name
        pyogrio.write_dataframe(frame(3000), path, driver=driver)
        raw = bytearray(path.read_bytes())
        middle = len(raw) // 2
        raw[middle : middle + 9000] = bytes(range(1, 251)) * 36
        path.write_bytes(raw)
        assert len(pyogrio.read_arrow(path)[1]) < 3000
        with pytest.raises(InputError, match="is broken"):
            read_layer(path)


# -- SpatiaLite


def test_spatialite_is_read(tmp_path):
    path = tmp_path / "rede.db"
    pyogrio.write_dataframe(
        frame(2), tmp_path / "rede.sqlite", driver="SQLite", layer="mt", dataset_options={"SPATIALITE": "YES"}
    )
    shutil.move(tmp_path / "rede.sqlite", path)
    layer = read_layer(path)
    assert (layer.format, layer.name, layer.crs.to_epsg(), len(layer.frame)) == ("SpatiaLite", "mt", 31983, 2)
    assert codes(path) == []
    with closing(sqlite3.connect(path)) as database:
        database.execute("PRAGMA writable_schema = 1")
        database.execute(
            "INSERT INTO sqlite_master VALUES ('table', 'janela', 'janela', 0, 'CREATE VIRTUAL TABLE janela USING VirtualShape(a)')"
        )
        database.commit()
    with pytest.raises(InputError, match=r"janela is a window on another file \(VirtualShape\)"):
        read_layer(path)


def test_sqlite_without_geometry_is_refused(tmp_path):
    with closing(sqlite3.connect(tmp_path / "x.sqlite")) as database:
        database.execute("CREATE TABLE a (b)")
    with pytest.raises(InputError, match="without tables of geometry"):
        read_layer(tmp_path / "x.sqlite")


# -- File Geodatabase


def test_a_geodatabase_is_read_and_its_tables_listed(tmp_path):
    path = tmp_path / "rede.gdb"
    pyogrio.write_dataframe(frame(3), path, driver="OpenFileGDB", layer="SSDMT")
    pyogrio.write_dataframe(frame().drop(columns="geometry"), path, driver="OpenFileGDB", layer="UCBT", append=True)
    (path / "a.rd.lock").write_bytes(b"")
    with open_source(path) as source:
        assert [(one.name, one.has_geometry) for one in source.layers] == [("SSDMT", True), ("UCBT", False)]
        digest = source.sha256
    (path / "b.sr.lock").write_bytes(b"x")
    layer = read_layer(path)
    assert (layer.name, len(layer.frame), layer.crs.to_epsg(), layer.sha256) == ("SSDMT", 3, 31983, digest)
    (path / "rede.gdb").write_bytes(b"x")
    assert read_layer(path).sha256 != digest


def test_a_damaged_index_of_a_geodatabase_loses_no_row_unsaid(tmp_path):
    """The library counts and reads by the index; the table's own head tells how many there are."""
    path = tmp_path / "rede.gdb"
    pyogrio.write_dataframe(frame(50), path, driver="OpenFileGDB", layer="MT")
    index = max(path.glob("*.gdbtablx"))
    raw = index.read_bytes()
    index.write_bytes(raw[:100] + b"\x01\x02\x03" + raw[100:])  # all entries behind are shifted
    with pytest.raises(InputError, match=r"promises 50 rows and is broken after \d+"):
        read_layer(path)


# -- MapInfo

MIF = """Version 300
Charset "{}"
Delimiter ","
CoordSys Earth Projection 8, 104, "m", -45, 0, 0.9996, 500000, 10000000
Columns 2
  ID Char(20)
  descrição Char(80)
Data

Line 322000 7416000 322060 7416000
    Pen (1,2,0)
Pline 2
322000 7416000
322000 7416060
"""
MID = '"001","aéreo – João"\n"002","x"\n'


@pytest.mark.parametrize(
    ("charset", "encoding", "found", "assumed"),
    [("WindowsLatin1", "cp1252", "cp1252", False), ("CodePage850", "cp850", "cp850", False), ("UTF-8", "utf-8", "utf-8", False),
     ("Neutral", "cp1252", "cp1252", True), ("Neutral", "utf-8", "utf-8", False)],
)  # fmt: skip
def test_mapinfo_text_in_its_charset(tmp_path, charset, encoding, found, assumed):
    (tmp_path / "rede.mif").write_bytes(MIF.format(charset).encode(encoding))
    (tmp_path / "REDE.MID").write_bytes(MID.replace("–", "-" if encoding == "cp850" else "–").encode(encoding))
    layer = read_layer(tmp_path / "rede.mif")
    assert layer.encoding == found
    assert layer.frame["descrição"].iloc[0].startswith("aéreo")
    assert layer.frame["descrição"].iloc[0].endswith("João")
    assert layer.frame["ID"].tolist() == ["001", "002"]
    assert ("encoding_assumed" in [f.code for f in layer.findings]) == assumed


@pytest.fixture(scope="module")
def mapinfo(tmp_path_factory):
    folder = tmp_path_factory.mktemp("mapinfo")
    for suffix in ("tab", "mif"):
        pyogrio.write_dataframe(frame(3000), folder / f"rede.{suffix}", driver="MapInfo File")
    return {p.name: p.read_bytes() for p in folder.iterdir()}


@pytest.mark.parametrize(
    ("main", "part", "share"),
    [("tab", part, share) for part in ("dat", "map", "id") for share in (None, 0.5, 0.9)]
    + [("mif", part, share) for part in ("mif", "mid") for share in (None, 0.5, 0.9) if part == "mid" or share],
)
def test_a_cut_part_of_mapinfo_loses_nothing_unsaid(tmp_path, mapinfo, main, part, share):
    for name, content in mapinfo.items():
        (tmp_path / name).write_bytes(content)
    assert len(read_layer(tmp_path / f"rede.{main}").frame) == 3000
    cut = tmp_path / f"rede.{part}"
    if share is None:
        cut.unlink()
    else:
        cut.write_bytes(cut.read_bytes()[: int(cut.stat().st_size * share) // 512 * 512])
    with pytest.raises(InputError, match=r"broken|comes without its"):
        read_layer(tmp_path / f"rede.{main}")


def test_a_mapinfo_table_that_places_a_picture_is_refused(tmp_path):
    (tmp_path / "foto.tab").write_text('!table\n!version 300\nDefinition Table\n  File "foto.jpg"\n  Type "RASTER"\n')
    with pytest.raises(InputError, match="only places a picture"):
        read_layer(tmp_path / "foto.tab")


# -- the command


def test_formats_lists_what_is_read_and_what_is_refused():
    told = done("formats")
    assert [f["name"] for f in told["formats"]] == [f.name for f in FORMATS]
    assert all(f["suffixes"] and f["reads"] for f in told["formats"])
    assert told["archives"]["suffixes"] == [".zip", ".kmz"]
    assert all(r["suffixes"] and r["way_out"] for r in told["refused"])
    read = {s for f in told["formats"] for s in f["suffixes"]}
    refused = [s for r in told["refused"] for s in r["suffixes"]]
    assert len(set(refused)) == len(refused)
    assert not read & set(refused)
    lines = geobill("formats").out
    for one in REFUSED:
        assert one.way_out in lines


def test_a_library_says_nothing_of_our_folders(tmp_path):
    shutil.make_archive(str(tmp_path / "x"), "zip", _bad(tmp_path / "dentro"), ".")
    with pytest.raises(InputError) as refused:
        read_layer(tmp_path / "x.zip")
    assert "geobill-open" not in str(refused.value)
    assert "rede.geojson" in str(refused.value)


def _bad(folder: Path) -> Path:
    folder.mkdir()
    (folder / "rede.geojson").write_text('{"type": "FeatureCollection", "features": [{]}')
    return folder
