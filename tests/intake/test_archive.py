"""Archives as they come, and as somebody with bad intent packs them."""

import stat
import struct
import subprocess
import sys
import tempfile
import zipfile
from contextlib import suppress

import geopandas as gpd
import pyogrio
import pytest
import shapely

import geobill.intake.archive as archive
from geobill.errors import InputError
from geobill.intake.inspect import inspect_file
from geobill.intake.reader import read_layer, read_layers
from geobill.intake.source import digest, open_source

LINE = shapely.LineString([(322000, 7416000), (322060, 7416000)])
PARTS = (".shp", ".shx", ".dbf", ".prj", ".cpg")


@pytest.fixture(scope="module")
def rede(tmp_path_factory):
    """The bytes of one Shapefile with a row, by suffix."""
    path = tmp_path_factory.mktemp("shp") / "rede.shp"
    frame = gpd.GeoDataFrame({"ID": ["007"], "TXT": ["João"]}, geometry=[LINE], crs=31983)
    pyogrio.write_dataframe(frame, path, encoding="UTF-8")
    return {suffix: path.with_suffix(suffix).read_bytes() for suffix in PARTS}


@pytest.fixture(scope="module")
def gpkg(tmp_path_factory):
    """The bytes of a GeoPackage with two layers."""
    path = tmp_path_factory.mktemp("gpkg") / "x.gpkg"
    frame = gpd.GeoDataFrame({"ID": ["1"]}, geometry=[LINE], crs=31983)
    for layer in ("MT", "BT"):
        pyogrio.write_dataframe(frame, path, layer=layer, append=path.exists())
    return path.read_bytes()


@pytest.fixture(autouse=True)
def scratch(tmp_path, monkeypatch):
    """Where archives are unpacked in these tests; nothing may be left there."""
    folder = tmp_path / "scratch"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    yield folder
    assert list(folder.iterdir()) == []


@pytest.fixture
def pack(tmp_path):
    """Write an archive of (name or ZipInfo, bytes); a name ends at its NUL and is else taken as it is."""

    def write(*members, name="envio.zip", how=zipfile.ZIP_DEFLATED):
        path = tmp_path / name
        with zipfile.ZipFile(path, "w", how) as out:
            for member, content in members:
                out.writestr(member, content)
        return path

    return write


def shapefile(rede, stem):
    return [(stem + suffix, content) for suffix, content in rede.items()]


def names(path):
    with open_source(path) as source:
        return [one.name for one in source.layers]


def test_a_zipped_shapefile_is_read_as_itself(pack, rede):
    path = pack(*shapefile(rede, "rede"))
    layer = read_layer(path)
    assert (layer.name, layer.frame["ID"].tolist(), layer.frame["TXT"].tolist()) == ("rede", ["007"], ["João"])
    assert layer.crs.to_epsg() == 31983
    assert layer.sha256 == digest([path])
    assert layer.path == path


def test_several_datasets_get_names_of_their_own(pack, rede, gpkg):
    path = pack(
        *shapefile(rede, "norte/rede"), *shapefile(rede, "sul/rede"), ("tudo/dados.gpkg", gpkg),
        ("__MACOSX/norte/._rede.shp", b"x"), ("norte/.DS_Store", b"x"), ("Thumbs.db", b"x"), ("norte/rede.shp.xml", b"<metadata/>"),
    )  # fmt: skip
    assert names(path) == ["norte/rede", "sul/rede", "tudo/dados/MT", "tudo/dados/BT"]
    assert [layer.name for layer in read_layers(path, ["sul/rede", "tudo/dados/BT"])] == ["sul/rede", "tudo/dados/BT"]
    with pytest.raises(InputError, match="4 layers and none was named"):
        read_layer(path)
    assert names(pack(*shapefile(rede, "a/mt"), *shapefile(rede, "b/bt"), name="stems.zip")) == ["mt", "bt"]
    assert names(pack(*shapefile(rede, "x"), ("x.gpkg", gpkg), name="kinds.zip")) == ["x.shp", "x.gpkg/MT", "x.gpkg/BT"]


def test_parts_are_found_whatever_the_case(pack, rede):
    cased = {
        ".shp": "SENADO.SHP",
        ".shx": "Senado.shx",
        ".dbf": "senado.DBF",
        ".prj": "senado.Prj",
        ".cpg": "SENADO.cpg",
    }
    layer = read_layer(pack(*[(cased[s], content) for s, content in rede.items()]))
    assert (layer.frame["ID"].tolist(), layer.crs.to_epsg()) == (["007"], 31983)


@pytest.mark.parametrize("encoding", ["utf-8", "cp850", "cp1252"])
def test_names_in_the_code_page_of_a_desk(pack, rede, encoding):
    """Old packers write the bytes of their desk and don't say which."""

    class Member(zipfile.ZipInfo):
        def _encodeFilenameFlags(self):  # noqa: N802
            return self.filename.encode(encoding), 0

    path = pack(
        *[(Member(name), content) for name, content in shapefile(rede, "São João/Ligação 2ª")],
        *shapefile(rede, "outra"),
    )
    assert names(path) == ["Ligação 2ª", "outra"]
    with open_source(path) as source:
        assert source.datasets[0].shown == "São João/Ligação 2ª.shp"


def test_archives_in_archives_up_to_a_depth(pack, rede, scratch):
    inner = pack(*shapefile(rede, "rede"), name="nível 1.zip").read_bytes()
    assert names(pack(("pasta/lote.zip", inner), *shapefile(rede, "outra"))) == ["outra", "rede"]
    assert names(pack(("pasta/lote.zip", inner), *shapefile(rede, "rede"))) == ["rede", "pasta/lote.zip/rede"]
    for _ in range(archive.LIMITS.depth):
        inner = pack(("mais.zip", inner)).read_bytes()
    with pytest.raises(InputError, match="deep in archives"):
        names(pack(("mais.zip", inner)))


@pytest.mark.parametrize(
    ("name", "said"),
    [("../fora.shp", "outside the folder"), ("a/../../fora.shp", "outside the folder"), ("/etc/fora.shp", "place of its own"),
     ("C:/fora.shp", "place of its own"), ("c:fora.shp", "place of its own"), ("..\\fora.shp", "backslash"),
     ("a\\b.shp", "backslash"), ("ã" * 130 + ".shp", "more than 255 bytes")],
)  # fmt: skip
def test_nothing_is_written_outside(pack, rede, tmp_path, name, said):
    before = {p for p in tmp_path.parent.rglob("*") if "scratch" not in p.parts}
    path = pack(*shapefile(rede, "rede"), (name, b"x"))
    with pytest.raises(InputError, match=said) as refused:
        names(path)
    assert name in str(refused.value)
    assert {p for p in tmp_path.parent.rglob("*") if "scratch" not in p.parts} - before == {path}


@pytest.mark.parametrize(
    ("kind", "said"), [(stat.S_IFLNK, "a link"), (stat.S_IFCHR, "a device"), (stat.S_IFIFO, "a device")]
)
def test_links_and_devices_are_refused(pack, rede, kind, said):
    info = zipfile.ZipInfo("rede.kml")
    info.external_attr = (kind | 0o777) << 16
    info.create_system = 3
    with pytest.raises(InputError, match=rf"rede\.kml is {said}"):
        names(pack((info, "/etc/passwd"), *shapefile(rede, "outra")))


def test_a_locked_member_is_named(pack, rede):
    path = pack(*shapefile(rede, "rede"))
    raw = bytearray(path.read_bytes())
    raw[raw.find(b"PK\x01\x02") + 8] |= 1
    path.write_bytes(raw)
    with pytest.raises(InputError, match=r"rede\.shp is locked with a password"):
        names(path)


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize("other", ["rede.shp", "REDE.SHP", "./rede.shp", "rede.shp."])
def test_names_that_are_one_name_are_refused(pack, rede, other):
    with pytest.raises(InputError, match="one name on many systems"):
        names(pack(*shapefile(rede, "rede"), (other, b"another")))


def test_bombs_are_refused_before_a_byte_is_written(pack, rede, monkeypatch, scratch):
    blanks = ("vazio.bin", bytes(4 << 20))
    path = pack(*shapefile(rede, "rede"), blanks)
    assert names(path) == ["rede"]  # small enough for any ratio
    for limits, said in (
        (archive.Limits(size=1 << 20), r"would unpack to 4\.\d MiB.*vazio\.bin"),
        (archive.Limits(ratio=100, ratio_from=1 << 20), "100 times its size"),
        (archive.Limits(members=3), "more than 3 files"),
        (archive.Limits(spare=1 << 60), "TMPDIR"),
    ):
        monkeypatch.setattr(archive.unpack, "__defaults__", (limits,))
        monkeypatch.setattr(archive, "_write", lambda *a: pytest.fail("something was written"))
        with pytest.raises(InputError, match=said):
            names(path)


def test_a_nested_bomb_counts_as_a_whole(pack, monkeypatch):
    inner = pack(("vazio.bin", bytes(3 << 20)), name="i.zip").read_bytes()
    path = pack(*[(f"{n}.zip", inner) for n in range(4)])
    monkeypatch.setattr(archive.unpack, "__defaults__", (archive.Limits(size=8 << 20),))
    with pytest.raises(InputError, match="would unpack to"):
        names(path)


def test_a_member_that_lies_about_its_size_is_no_way_around(pack, rede):
    path = pack(*shapefile(rede, "rede"), ("grande.shp", bytes(1 << 20)))
    raw = bytearray(path.read_bytes())
    for mark, at in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):
        start = raw.rfind(mark)
        struct.pack_into("<I", raw, start + at, 1000)
    path.write_bytes(raw)
    assert [f.code for f in _findings(path)] == ["member_unreadable"]


def _findings(path):
    with open_source(path) as source:
        return source.findings


def test_a_damaged_member_costs_only_its_dataset(pack, rede):
    path = pack(*shapefile(rede, "boa"), *shapefile(rede, "ruim"), how=zipfile.ZIP_STORED)
    raw = bytearray(path.read_bytes())
    raw[raw.find(rede[".dbf"], raw.find(b"ruim.dbf")) + 40] ^= 0xFF
    path.write_bytes(raw)
    assert names(path) == ["boa", "ruim"]
    assert read_layer(path, "boa").frame["ID"].tolist() == ["007"]
    with pytest.raises(InputError, match=r"ruim\.dbf can't be unpacked: its check sum"):
        read_layer(path, "ruim")
    with pytest.raises(InputError, match="none was named"):
        read_layer(path)
    report = inspect_file(path)
    assert [layer["name"] for layer in report["layers"]] == ["boa"]
    assert {"member_unreadable", "layer_unreadable"} <= {f["code"] for f in report["findings"]}


def test_an_incomplete_dataset_and_strangers_beside_a_good_one(pack, rede):
    path = pack(
        *shapefile(rede, "boa"), ("ruim.shp", rede[".shp"]), ("planta.dwg", b"AC1027" + bytes(50)), ("LEIA-ME.txt", b"bom dia\n"),
        ("foto.jpg", b"\xff\xd8\xff"), ("pedido.pdf", b"%PDF-1.4"), ("tabela.csv", b"\0\0"),
    )  # fmt: skip
    assert names(path) == ["boa", "ruim"]
    said = {f.code: f.message for f in _findings(path)}
    assert "ruim.shp" in said["member_unreadable"]
    assert "without its ruim.shx" in said["member_unreadable"]
    assert "foto.jpg" in said["members_passed_over"]
    assert "LEIA-ME.txt" in said["members_passed_over"]
    assert [f.message for f in _findings(path) if "planta.dwg" in f.message and "DXF" in f.message]


def test_what_is_inside_is_told_where_nothing_can_be_read(pack, rede):
    with pytest.raises(InputError, match=r"no dataset that geobill reads: mapa\.jpg, rede\.dbf.*needs its \.shp"):
        names(pack(("mapa.jpg", b"\xff\xd8\xff"), ("rede.dbf", rede[".dbf"])))
    with pytest.raises(InputError, match=r"planta\.dwg: its format is AutoCAD DWG\. Make a DXF"):
        names(pack(("planta.dwg", b"AC1032" + bytes(40))))
    with pytest.raises(InputError, match="it is empty"):
        names(pack())
    with pytest.raises(InputError, match=r"rede\.shp: rede\.shp comes without its rede\.shx"):
        names(pack(("rede.shp", rede[".shp"])))


def test_broken_archives_are_refused(pack, rede, tmp_path):
    whole = pack(*shapefile(rede, "rede")).read_bytes()
    cases = {
        "cortado.zip": (whole[:-40], "begins as a ZIP archive and has no end"), "zero.zip": (b"", "0 bytes"),
        "pagina.zip": (b"<!DOCTYPE html><html><body>Entrar</body>", "web page.*download"),
        "outro.zip": (b"\x03q\t\n" + bytes(60), "no ZIP archive"),
        "disfarce.zip": (b"Rar!\x1a\x07\x01\x00" + bytes(50), "RAR archive"),
    }  # fmt: skip
    for name, (content, said) in cases.items():
        (tmp_path / name).write_bytes(content)
        with pytest.raises(InputError, match=said):
            names(tmp_path / name)


def test_a_geodatabase_is_found_with_and_without_its_folder(pack, tmp_path):
    frame = gpd.GeoDataFrame({"ID": ["1"]}, geometry=[shapely.MultiLineString([LINE])], crs=31983)
    pyogrio.write_dataframe(frame, tmp_path / "rede.gdb", driver="OpenFileGDB", layer="SSDMT")
    files = {p.name: p.read_bytes() for p in (tmp_path / "rede.gdb").iterdir()}
    for folder in ("MUX.gdb/", "um/MUX.gdb/", "sem sufixo/", ""):
        path = pack(*[(folder + name, content) for name, content in files.items()], name="MUX.gdb.zip")
        layer = read_layer(path)
        assert (layer.name, layer.format, len(layer.frame)) == ("SSDMT", "File Geodatabase", 1)
    table = max((n for n in files if n.endswith(".gdbtable")), key=lambda n: int(n[1:9], 16))
    cut = {**files, table: files[table][:-20]}
    with pytest.raises(InputError, match=f"{table} promises"):
        read_layer(pack(*[("x.gdb/" + name, content) for name, content in cut.items()]))
    cut.pop(table)
    with pytest.raises(InputError, match="the catalogue names the table SSDMT"):
        read_layer(pack(*[("x.gdb/" + name, content) for name, content in cut.items()]))


def test_a_kmz_is_the_kml_in_it(pack):
    line = "<LineString><coordinates>-46.7,-23.4 -46.71,-23.4</coordinates></LineString>"
    folders = "".join(f"<Folder><name>{n}</name><Placemark>{line}</Placemark></Folder>" for n in ("MT", "BT"))
    kml = f'<kml xmlns="http://www.opengis.net/kml/2.2"><Document>{folders}</Document></kml>'
    path = pack(("doc.kml", kml), ("files/foto.jpg", b"\xff\xd8\xff"), name="rede.kmz")
    assert names(path) == ["MT", "BT"]
    assert read_layer(path, "BT").format == "KML"


def test_unpacking_streams(pack, rede, monkeypatch):
    """No member is ever whole in memory."""
    path = pack(*shapefile(rede, "rede"), ("grande.bin", bytes(64 << 20)))
    asked = []
    original = zipfile.ZipExtFile.read
    monkeypatch.setattr(zipfile.ZipExtFile, "read", lambda self, n=-1: asked.append(n) or original(self, n))
    assert names(path) == ["rede"]
    assert max(asked) <= 1 << 20
    assert min(asked) > 0


def test_nothing_is_left_after_an_error_or_a_killed_command(pack, rede, tmp_path, scratch):
    path = pack(*shapefile(rede, "rede"))
    with suppress(RuntimeError), open_source(path) as source:
        assert source.datasets[0].path.is_relative_to(scratch)
        raise RuntimeError
    assert list(scratch.iterdir()) == []
    work = tmp_path / "pasta"
    work.mkdir()
    wait = (
        "import sys, time, pathlib\nfrom geobill.intake.source import open_source\n"
        "with open_source(pathlib.Path(sys.argv[1])):\n    print('open', flush=True)\n    time.sleep(60)\n"
    )
    elsewhere = tmp_path / "tmp"
    elsewhere.mkdir()
    running = subprocess.Popen(
        [sys.executable, "-c", wait, str(path)],
        cwd=work,
        stdout=subprocess.PIPE,
        env={"TMPDIR": str(elsewhere), "PYTHONPATH": "."},
    )
    try:
        assert running.stdout.readline() == b"open\n"
    finally:
        running.kill()
        running.wait()
    assert list(work.iterdir()) == []
    assert set(tmp_path.iterdir()) == {path, work, scratch, elsewhere}


def test_the_archives_of_the_office(shared):
    expected = {
        "gdal_shp/poly.zip": 10,
        "shapefilejs/mixedcase.zip": 40,
        "shapefilejs/zero-len-line.zip": 3,
        "shapefilejs/T8Th4_6n.zip": 1,
    }
    for name, rows in expected.items():
        assert len(read_layer(shared / "data" / "messy" / name).frame) == rows
    for name, said in (("badzip.zip", "no ZIP archive"), ("noshp.zip", r"counties\.dbf")):
        with pytest.raises(InputError, match=said):
            read_layer(shared / "data" / "messy" / "shapefilejs" / name)
    layers = {
        layer.name: len(layer.frame)
        for layer in read_layers(shared / "data" / "bdgd" / "MUX_401_2024.gdb.zip", ["SSDMT", "SSDBT"])
    }
    assert layers == {"SSDMT": 2173, "SSDBT": 4283}
