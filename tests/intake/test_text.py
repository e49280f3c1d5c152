"""Encodings: what is declared against the letters that are there, and the same text in each encoding."""

import geopandas as gpd
import pyogrio
import pytest
import shapely

from geobill.errors import InputError
from geobill.intake.formats import FORMATS, Format
from geobill.intake.formats.shapefile import read_table
from geobill.intake.reader import read_layer
from geobill.intake.source import open_source
from geobill.intake.text import Texts, decide, decoded, is_utf8, named_encoding, preview

LINE = shapely.LineString([(322000, 7416000), (322060, 7416000)])
WORDS = ("Rua São João", "Praça da Constituição", "aéreo", "posição nº 7", "Jundiaí", "d’água", "SERVIÇO PÚBLICO")


def raw(encoding, words=WORDS):
    return tuple(w.encode(encoding, "replace").replace(b"?", b"'") for w in words)


@pytest.fixture
def shapefile(tmp_path):
    """Write a Shapefile with a text column T; returns its path. ``cpg`` None writes none, ``ldid`` is byte 29 of the .dbf."""

    def write(values=WORDS, encoding="cp1252", cpg=None, ldid=0, name="T", stem="rede"):
        path = tmp_path / f"{stem}.shp"
        frame = gpd.GeoDataFrame({name: list(values)}, geometry=[LINE] * len(values), crs="EPSG:31983")
        pyogrio.write_dataframe(frame, path, driver="ESRI Shapefile", encoding=encoding)
        path.with_suffix(".cpg").unlink(missing_ok=True)
        if cpg is not None:
            path.with_suffix(".cpg").write_text(cpg)
        table = path.with_suffix(".dbf")
        table.write_bytes(table.read_bytes()[:29] + bytes([ldid]) + table.read_bytes()[30:])
        return path

    return write


@pytest.mark.parametrize("declared", [None, "utf-8", "cp1252", "cp850", "cp437", "cp1250", "iso8859-15"])
@pytest.mark.parametrize("true", ["utf-8", "cp1252", "cp850"])
def test_clear_text_is_read_as_it_is_whatever_is_declared(true, declared):
    encoding, findings = decide(Texts(raw(true), (), declared, "rede.cpg"), "rede.dbf")
    assert raw(true)[0].decode(encoding) == WORDS[0]
    if declared not in (None, true, "iso8859-15", "cp1250", "cp437"):  # those share letters with the true ones
        assert [f.code for f in findings] == ["encoding_doubtful"]
        assert "rede.cpg says" in findings[0].message


@pytest.mark.parametrize(
    ("value", "declared", "encoding", "code"),
    [
        ("João".encode("cp850"), "cp1252", "cp1252", "encoding_doubtful"),  # one word is no clear evidence
        ("João".encode("cp850"), None, "cp850", "encoding_assumed"),
        ("PRAÇA".encode("cp1252"), "cp850", "cp850", None),  # a word in both: what is declared stands
        ("PRAÇA".encode("cp1252"), None, "cp1252", "encoding_assumed"),
        ("中国".encode("cp936"), "cp936", "cp936", None),
        ("中国的路".encode(), "cp936", "utf-8", "encoding_doubtful"),
        ("Hněvošický háj".encode("cp1250"), "cp1250", "cp1250", None),
        (b"Rua Sao Joao", "cp850", "cp850", None),
        (b"Rua Sao Joao", None, "utf-8", None),
    ],
)
def test_little_text(value, declared, encoding, code):
    letters = () if value.isascii() else (value,)
    found, findings = decide(Texts(letters, (), declared, "rede.cpg"), "rede.dbf")
    assert found == encoding
    assert [f.code for f in findings] == ([code] if code else [])


def test_a_letter_cut_at_the_end_of_a_field_doesnt_count():
    cut = "Rua da Consolação".encode()[:-2]
    assert cut[-1] == 0xC3
    assert is_utf8(cut)
    assert decoded(cut, "utf-8") == "Rua da Consolaç"
    assert decide(Texts((cut,), (), "utf-8", "rede.cpg"), "rede.dbf") == ("utf-8", ())
    assert not is_utf8(cut + b"x")


@pytest.mark.parametrize(
    ("encoding", "cpg", "ldid", "found"),
    [
        ("utf-8", "1252", 0, "utf-8"), ("utf-8", "ISO-8859-1", 0, "utf-8"), ("utf-8", None, 0x03, "utf-8"),
        ("cp1252", "UTF-8", 0, "cp1252"), ("cp850", "1252", 0, "cp850"), ("cp850", "UTF-8", 0, "cp850"),
        ("cp1252", None, 0x02, "cp1252"), ("cp850", None, 0x03, "cp850"), ("cp850", None, 0, "cp850"),
    ],
)  # fmt: skip
def test_a_declaration_that_lies_is_found(shapefile, encoding, cpg, ldid, found):
    layer = read_layer(shapefile(encoding=encoding, cpg=cpg, ldid=ldid, values=WORDS[:5]))
    assert layer.encoding == found
    assert layer.frame["T"].tolist() == list(WORDS[:5])
    (said,) = [f for f in layer.findings if f.code.startswith("encoding")]
    assert said.code == ("encoding_doubtful" if cpg or ldid else "encoding_assumed")


def test_a_name_cut_inside_a_letter(shapefile):
    path = shapefile(encoding="utf-8", name="N")
    table = path.with_suffix(".dbf")
    cut = "instalação".encode()[:10]
    table.write_bytes(table.read_bytes().replace(b"N" + b"\0" * 10, cut + b"\0", 1))
    layer = read_layer(path)
    assert list(layer.frame.columns) == ["instalaç", "geometry"]
    assert layer.frame["instalaç"].tolist() == list(WORDS)


def test_an_encoding_that_the_library_doesnt_know(shapefile):
    values = ["Rua São João", "Praça"]
    path = shapefile(values, encoding="utf-8")
    table = path.with_suffix(".dbf")
    text = table.read_bytes()
    for value in values:
        text = text.replace(value.encode().ljust(20), value.encode("mac-roman").ljust(20))
    table.write_bytes(text)
    assert read_layer(path, encoding="mac-roman").frame["T"].tolist() == values


def test_the_users_word_goes_before_all(shapefile):
    layer = read_layer(shapefile(cpg="1252"), encoding="CP 850")
    assert layer.encoding == "cp850"
    assert layer.frame["T"].iloc[2] == "aÚreo"
    assert [f.code for f in layer.findings] == ["encoding_overridden"]
    assert read_layer(shapefile(cpg="1252"), encoding="1252").findings == ()


@pytest.mark.parametrize("name", ["latim", "hex", "rot13", "", "../x"])
def test_encodings_that_are_none(shapefile, name):
    with pytest.raises(InputError, match="no encoding that geobill knows"):
        read_layer(shapefile(), encoding=name)
    assert named_encoding(name) is None


def test_a_format_that_leaves_no_choice(tmp_path):
    path = tmp_path / "rede.gpkg"
    pyogrio.write_dataframe(gpd.GeoDataFrame({"t": ["é"]}, geometry=[LINE], crs=31983), path)
    with pytest.raises(InputError, match="GeoPackage says itself how its text is encoded"):
        read_layer(path, encoding="cp850")


def test_the_preview_shows_the_same_values_in_each(shapefile):
    with open_source(shapefile([*WORDS, "sem acento"])) as source:
        dataset = source.layers[0].dataset
        shown = {p.encoding: p for p in preview(dataset.format, dataset.path)}
    assert list(shown) == ["cp1252", "utf-8", "cp850"]
    assert shown["cp1252"].samples == WORDS[:3]
    assert shown["cp850"].samples[0] == "Rua SÒo JoÒo"
    assert "\ufffd" in shown["utf-8"].samples[0]
    assert "aren't UTF-8" in shown["utf-8"].why
    with open_source(shapefile(["sem acento", "outra"], stem="b")) as source:
        dataset = source.layers[0].dataset
        assert preview(dataset.format, dataset.path)[0].samples == ("sem acento", "outra")


def test_deleted_rows_and_memos_are_said(shapefile):
    path = shapefile(["um", "dois", "três"], encoding="utf-8")
    table = path.with_suffix(".dbf")
    text = bytearray(table.read_bytes())
    read = read_table(table)
    head, width = int.from_bytes(text[8:10], "little"), read.records.shape[1]
    text[head + width] = ord("*")
    table.write_bytes(text)
    layer = read_layer(path)
    assert layer.frame["T"].tolist() == ["um", "três"]
    assert "1 row(s) of rede.dbf are marked as deleted" in layer.findings[0].message
    text[32 + 11] = ord("M")
    table.write_bytes(text)
    assert "memo_left_out" in [f.code for f in read_layer(path).findings]


@pytest.mark.parametrize("suffix", ["tab", "mif"])
@pytest.mark.parametrize(
    ("charset", "encoding", "code"),
    [
        ("Neutral", "cp850", "encoding_assumed"),
        ("WindowsLatin1", "utf-8", "encoding_doubtful"),
        ("CodePage850", "cp850", None),
    ],
)
def test_mapinfo_by_its_letters(tmp_path, suffix, charset, encoding, code):
    values = ["Rua São João", "Praça da Constituição", "x"]
    frame = gpd.GeoDataFrame({"T": values}, geometry=[LINE] * 3, crs="EPSG:31983")
    pyogrio.write_dataframe(frame, tmp_path / f"rede.{suffix}", driver="MapInfo File", ENCODING="CP1252")
    head, data = tmp_path / f"rede.{suffix}", tmp_path / f"rede.{'dat' if suffix == 'tab' else 'mid'}"
    head.write_bytes(head.read_bytes().replace(b"WindowsLatin1", charset.encode()))
    text = data.read_bytes()
    for value in values[:2]:
        one, other = value.encode("cp1252"), value.encode(encoding)
        text = text.replace(one + b"\0" * (len(other) - len(one)) if suffix == "tab" else one, other)
    data.write_bytes(text)
    layer = read_layer(head)
    assert (layer.encoding, layer.frame["T"].tolist()) == (encoding, values)
    assert [f.code for f in layer.findings if f.code.startswith("encoding")] == ([code] if code else [])


def test_every_table_of_the_messy_folder_is_read_or_refused(shared):
    tables = sorted((shared / "data" / "messy").rglob("*.dbf"))
    assert len(tables) > 30
    for path in tables:
        letters, plain = read_table(path).texts()
        encoding, _ = decide(Texts(letters, plain), path.name)
        assert all(decoded(v, encoding) for v in letters)


@pytest.mark.parametrize(
    ("name", "encoding", "value"),
    [("codepage.shp", "cp1250", "Hněvošický háj"), ("utf.shp", "utf-8", "Hněvošický háj"), ("utf.shp", "utf-8", "💩")],
)
def test_messy_text(shared, name, encoding, value):
    layer = read_layer(shared / "data" / "messy" / "shapefilejs" / name)
    assert layer.encoding == encoding
    assert value in layer.frame["field"].tolist()


def test_a_web_page_instead_of_a_cpg(shared, tmp_path):
    for suffix in ("cpg", "dbf", "shp"):
        (tmp_path / f"a.{suffix}").write_bytes(
            (shared / "data" / "messy" / "shapefilejs" / f"htmlcpg.{suffix}").read_bytes()
        )
    (tmp_path / "a.shx").write_bytes((shared / "data" / "messy" / "shapefilejs" / "utf.shx").read_bytes())
    layer = read_layer(tmp_path / "a.shp")
    assert layer.encoding == "utf-8"
    assert "cpg_unreadable" in [f.code for f in layer.findings]


def test_what_encodes_shows_its_text():
    assert {f.name for f in FORMATS if f.encodes} >= {"Shapefile", "CSV"}
    assert all(type(f).texts is not Format.texts for f in FORMATS if f.encodes)
