"""KML and GML: every row, exact text, nothing fetched, nothing opened, nothing half read."""

import os
from decimal import Decimal

import pyogrio
import pytest
import shapely

from geobill.errors import InputError
from geobill.intake.crs import CAIEIRAS
from geobill.intake.formats.kml import KML
from geobill.intake.formats.xml_safety import DeepWatch, check_xml
from geobill.intake.inspect import inspect_file
from geobill.intake.network import read_network
from geobill.intake.reader import read_layer, read_layers
from geobill.intake.reading import Options, Part

LINE = "<LineString><coordinates>-46.7411,-23.3748,0 -46.7421,-23.3748,0</coordinates></LineString>"
GML_LINE = "322000 7416000 322010 7416000"


@pytest.fixture
def kml(tmp_path):
    """Write a KML with some text within its Document; returns its path."""

    def write(
        inside,
        encoding="utf-8",
        declared="UTF-8",
        name="rede.kml",
        after="",
        root='xmlns="http://www.opengis.net/kml/2.2"',
    ):
        text = f'<?xml version="1.0" encoding="{declared}"?>\n<kml {root}><Document>{inside}</Document></kml>{after}'
        path = tmp_path / name
        path.write_bytes(text.encode(encoding))
        return path

    return write


@pytest.fixture
def gml(tmp_path):
    """Write a GML with one feature for each (feature type, coordinates, name of the system)."""

    def write(*rows, code="007", encoding="utf-8", declared="UTF-8", inside="", name="rede.gml"):
        members = "".join(
            f'<wfs:member><a:{kind} gml:id="r.{n}"><a:COD>{code}</a:COD><a:geom><gml:LineString{system and f" srsName={system!r}"}>'
            f"<gml:posList>{places}</gml:posList></gml:LineString></a:geom></a:{kind}></wfs:member>"
            for n, (kind, places, system) in enumerate(rows, 1)
        )
        text = (
            f'<?xml version="1.0" encoding="{declared}"?>\n<wfs:FeatureCollection xmlns:wfs="http://www.opengis.net/wfs/2.0" '
            'xmlns:gml="http://www.opengis.net/gml/3.2" xmlns:a="http://a.b" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" '
            f'xsi:schemaLocation="http://a.b http://127.0.0.1:9/schema.xsd">{inside}{members}</wfs:FeatureCollection>'
        )
        path = tmp_path / name
        path.write_bytes(text.encode(encoding))
        return path

    return write


def codes(path):
    return [f["code"] for f in inspect_file(path)["findings"]]


# -- what no file may do


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('<!DOCTYPE kml [<!ENTITY a "x"><!ENTITY b "&a;&a;&a;">]><kml>&b;</kml>', "DOCTYPE"),
        ('<!DOCTYPE kml SYSTEM "file:///etc/passwd"><kml/>', "DOCTYPE"),
        ('<kml xmlns:xi="http://www.w3.org/2001/XInclude"><xi:include href="/etc/passwd"/></kml>', "XInclude"),
        ("<kml>" + "<Folder>" * 5000 + "</Folder>" * 5000 + "</kml>", "within each other"),
        ("<kml>&a;</kml>", "not defined"),
        ("<kml><Document></kml>", "well-formed"),
        ("<kml><Document>", "well-formed"),
        ("<kml><name>Rua A & B</name></kml>", "well-formed"),
        ("<mapa><rua/></mapa>", "not KML"),
        ('<kml xmlns="x"><gpx:Placemark/><Placemark/></kml>', "prefix"),
    ],
)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_what_is_refused_before_it_is_read(tmp_path, text, why, encoding):
    path = tmp_path / "rede.kml"
    path.write_bytes(text.encode(encoding))
    with pytest.raises(InputError, match=why):
        read_layer(path)


def test_depth_is_measured_where_the_reader_has_no_limit_and_memory_is_not_needed(tmp_path):
    path = tmp_path / "a.xml"
    path.write_bytes(b"<a>" * 150 + b"</a>" * 150)
    assert check_xml(path, DeepWatch(path)).end == 150 * 7
    path.write_bytes(b"<a>" * 100_000)
    with pytest.raises(InputError, match="within each other"):
        check_xml(path, DeepWatch(path))


@pytest.mark.parametrize(
    "root",
    [
        'OGRVRTDataSource xmlns:gml="http://www.opengis.net/gml"',
        'OGRWFSDataSource xmlns:gml="http://www.opengis.net/gml"',
    ],
)
def test_a_recipe_for_gdal_is_no_gml(tmp_path, write_geojson, root):
    secret = write_geojson([({"a": 1}, [[-46.74, -23.37], [-46.75, -23.38]])])
    path = tmp_path / "rede.gml"
    path.write_text(
        f'<{root}><OGRVRTLayer name="rede"><SrcDataSource>{secret}</SrcDataSource></OGRVRTLayer></{root.split()[0]}>'
    )
    with pytest.raises(InputError, match="recipe"):
        read_layer(path)


# -- KML


def test_every_folder_is_a_layer_and_nothing_vanishes(kml):
    row = f"<Placemark>{LINE}</Placemark>"
    path = kml(
        f"<name>doc</name>{row}<Folder><name>rede</name>{row}{row}<Folder><name>sub</name>{row}</Folder></Folder>"
        f"<Folder><name>outra</name><Folder><name>sub</name>{row}</Folder></Folder><Folder><name>vazia</name></Folder>"
    )
    layers = {layer["name"]: layer["features"] for layer in inspect_file(path)["layers"]}
    assert layers == {"doc": 1, "rede": 2, "doc/rede/sub": 1, "doc/outra/sub": 1, "vazia": 0}
    with pytest.raises(InputError, match="choose with --layer"):
        read_layer(path)
    assert [len(x.frame) for x in read_layers(path, ["rede", "doc/outra/sub"])] == [2, 1]


def test_an_empty_folder_beside_the_network_asks_nothing(kml):
    path = kml(f"<Folder><name>rede</name><Placemark>{LINE}</Placemark></Folder><Folder><name>notas</name></Folder>")
    assert read_layer(path).name == "rede"


def test_columns_are_the_exact_text(kml):
    path = kml(
        '<Schema id="s"><SimpleField name="COD" type="int"/></Schema><Placemark id="p1"><name> Rua Ção </name>'
        '<ExtendedData><SchemaData schemaUrl="#s"><SimpleData name="COD">007</SimpleData></SchemaData>'
        '<SchemaData schemaUrl="#unknown"><SimpleData name="larg">0,50</SimpleData></SchemaData>'
        '<Data name="Name"><value>1.10</value></Data><x:own xmlns:x="http://x">9007199254740993</x:own></ExtendedData>'
        f"<TimeSpan><begin>2020-01-31</begin></TimeSpan>{LINE}</Placemark>"
    )
    row = read_layer(path).frame.iloc[0].drop("geometry").to_dict()
    assert row == {
        "Name": "Rua Ção", "xml_id": "p1", "begin": "2020-01-31", "COD": "007", "larg": "0,50", "Name_2": "1.10",
        "own": "9007199254740993",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("geometry", "wkt"),
    [
        ("<LineString><coordinates>1,2,3\t4,5,6\n</coordinates></LineString>", "LINESTRING Z (1 2 3, 4 5 6)"),
        ("<LineString><coordinates>1, 2, 0 4, 5, 0</coordinates></LineString>", "LINESTRING (1 2, 4 5)"),
        ("<LineString><coordinates>1,2 4,5,0</coordinates></LineString>", "LINESTRING (1 2, 4 5)"),
        ("<Point><coordinates>1,2,</coordinates></Point>", "POINT (1 2)"),
        ("<LinearRing><coordinates>0,0 1,0 1,1 0,0</coordinates></LinearRing>", "LINESTRING (0 0, 1 0, 1 1, 0 0)"),
        ("<MultiGeometry><LineString><coordinates>0,0 1,1</coordinates></LineString><MultiGeometry><LineString>"
         "<coordinates>2,2 3,3</coordinates></LineString></MultiGeometry></MultiGeometry>",
         "MULTILINESTRING ((0 0, 1 1), (2 2, 3 3))"),
        ("<Polygon><outerBoundaryIs><LinearRing><coordinates>0,0 0,9 9,9</coordinates></LinearRing></outerBoundaryIs></Polygon>",
         "POLYGON ((0 0, 0 9, 9 9, 0 0))"),
        ("<gx:Track><when>2020</when><gx:coord>1 2 0</gx:coord><gx:coord>3 4 0</gx:coord></gx:Track>", "LINESTRING (1 2, 3 4)"),
        ("<gx:MultiTrack><gx:Track><gx:coord>1 2 0</gx:coord><gx:coord>3 4 0</gx:coord></gx:Track><gx:Track>"
         "<gx:coord>5 6 0</gx:coord><gx:coord>7 8 0</gx:coord></gx:Track></gx:MultiTrack>",
         "MULTILINESTRING ((1 2, 3 4), (5 6, 7 8))"),
        ("<LineString><coordinates> </coordinates></LineString>", None),
    ],
)  # fmt: skip
def test_shapes(kml, geometry, wkt):
    path = kml(f"<Placemark>{geometry}</Placemark>")  # gx isn't declared: Google Earth reads that too
    [name] = [n for n, _ in KML().layers(path)]
    [wkb] = KML().read_table(path, name)[1]
    assert wkb is None if wkt is None else shapely.from_wkb(wkb) == shapely.from_wkt(wkt)


@pytest.mark.parametrize(
    "places", ["-46.7 -23.3 -46.8 -23.4", "-46,7,-23,3 -46,8,-23,4", "x,y z,w", "1_0,2 3,4", "1 2,3"]
)
def test_coordinates_that_are_none_set_the_row_aside(kml, network, places):
    path = kml(
        f"<Placemark>{LINE}</Placemark><Placemark><LineString><coordinates>{places}</coordinates></LineString></Placemark>"
    )
    reading = network(read_layer(path))
    assert (len(reading.accepted), [(s.row, s.reason_code) for s in reading.set_aside]) == (1, [(2, "no_geometry")])
    [found] = [f for f in reading.findings if f.code == "kml_coordinates_unreadable"]
    assert found.rows == (2,)


def test_links_are_not_followed_and_said(kml):
    link = "<NetworkLink><Link><href>http://127.0.0.1:9/rede.kml</href></Link></NetworkLink>"
    found = inspect_file(kml(f"<Placemark>{LINE}</Placemark>{link}<ScreenOverlay/>"))["findings"]
    said = {f["code"]: f["message"] for f in found}
    assert "http://127.0.0.1:9/rede.kml" in said["kml_link_not_followed"]
    assert "1 picture" in said["kml_pictures_left_out"]


@pytest.mark.parametrize(
    ("encoding", "declared", "code"),
    [
        ("utf-16", "UTF-16", None),
        ("latin-1", "ISO-8859-1", None),
        ("cp1252", "windows-1252", None),
        ("cp1252", "UTF-8", "encoding_doubtful"),
    ],
)
def test_encodings(kml, encoding, declared, code):
    path = kml(f"<Placemark><name>São João</name>{LINE}</Placemark>", encoding, declared)
    assert read_layer(path).frame["Name"].tolist() == ["São João"]
    assert [c for c in codes(path) if "encod" in c] == ([code] if code else [])


def test_junk_after_the_end(kml):
    row = f"<Placemark>{LINE}</Placemark>"
    path = kml(row, after="\n\0\0-- end of transfer --")
    assert (len(read_layer(path).frame), codes(path)) == (1, ["xml_junk_after_document"])
    with pytest.raises(InputError, match="Extra content"):  # what follows may be network
        read_layer(kml(row, after=f"<kml>{row}</kml>"))


def test_every_awkward_kml_has_the_rows_and_shapes_that_gdal_finds(shared):
    known = {
        "samples.kml": 21,
        "several_schema_in_layer.kml": 2,
        "placemark_in_root_and_subfolder.kml": 2,
        "test_schema.kml": 4,
    }
    refused, compared = set(), 0
    for path in sorted((shared / "data/messy/gdal_kml").glob("*.kml")):
        try:
            report = inspect_file(path)
        except InputError:
            refused.add(path.name)
            continue
        rows = sum(layer["features"] for layer in report["layers"])
        assert rows == known.get(path.name, rows), path.name
        mine = [
            g
            for name, _ in KML().layers(path)
            for g in shapely.from_wkb(KML().read_table(path, name)[1], on_invalid="ignore")
        ]
        if (
            path.name == "geometries.kml"
        ):  # GDAL passes over a placemark within a geometry, and builds polygons of no ring
            assert len(mine) == pyogrio.read_info(path)["features"] + 1
            continue
        theirs = [g for name, _ in pyogrio.list_layers(path) for g in pyogrio.read_dataframe(path, layer=name).geometry]
        for one, other in zip(mine, theirs, strict=True):
            if one is not None and one.geom_type in ("Point", "LineString"):
                other = other.geoms[0] if hasattr(other, "geoms") else other
                assert shapely.equals_exact(shapely.force_2d(one), shapely.force_2d(other), 1e-12), path.name
                compared += 1
    assert refused == {"junk_content_after_valid_doc.kml", "truncated.kml"}
    assert compared > 15


def test_delivery_j(shared):
    layer = read_layer(shared / "data/caieiras/entregas/j_rede.kml")
    reading = read_network([Part(layer, Options("alfa", None, Decimal("0.50")))], CAIEIRAS, ["alfa"])
    assert (reading.read, len(reading.accepted), [s.reason_code for s in reading.set_aside]) == (
        1652,
        1651,
        ["duplicate"],
    )
    assert abs(float(reading.length_m) - 60473.855) < 0.5


# -- GML


@pytest.mark.parametrize(
    ("system", "places"),
    [
        ("urn:ogc:def:crs:EPSG::4674", "-23.37 -46.74 -23.38 -46.75"),
        ("http://www.opengis.net/def/crs/EPSG/0/4674", "-23.37 -46.74 -23.38 -46.75"),
        ("EPSG:4674", "-46.74 -23.37 -46.75 -23.38"),
        ("http://www.opengis.net/gml/srs/epsg.xml#4674", "-46.74 -23.37 -46.75 -23.38"),
    ],
)
def test_axes_go_by_the_name_of_the_system(gml, system, places):
    layer = read_layer(gml(("rede", places, system)))
    assert (layer.crs.to_epsg(), list(layer.frame.geometry[0].coords)) == (4674, [(-46.74, -23.37), (-46.75, -23.38)])


def test_gml_is_read_as_text_and_nothing_is_written_beside_it(gml):
    path = gml(("rede", GML_LINE, "EPSG:31983"), ("rede", GML_LINE, "EPSG:31983"), ("poste", GML_LINE, "EPSG:31983"))
    before = os.listdir(path.parent)
    layers = {layer["name"]: layer["features"] for layer in inspect_file(path)["layers"]}
    assert layers == {"rede": 2, "poste": 1}
    assert read_layer(path, "rede").frame["COD"].tolist() == ["007", "007"]
    assert os.listdir(path.parent) == before


@pytest.mark.parametrize(
    ("encoding", "declared"), [("utf-16", "UTF-16"), ("latin-1", "ISO-8859-1"), ("cp1252", "UTF-8")]
)
def test_gml_encodings(gml, encoding, declared):
    path = gml(("rede", GML_LINE, "EPSG:31983"), code="ção", encoding=encoding, declared=declared)
    assert read_layer(path).frame["COD"].tolist() == ["ção"]


def test_gml_arcs_become_chords(gml):
    arc = (
        '<wfs:member><a:rede gml:id="c"><a:geom><gml:Curve srsName="EPSG:31983"><gml:segments><gml:Arc><gml:posList>'
        "322000 7416000 322010 7416010 322020 7416000</gml:posList></gml:Arc></gml:segments></gml:Curve></a:geom></a:rede>"
        "</wfs:member>"
    )
    assert abs(read_layer(gml(inside=arc)).frame.geometry[0].length / 31.41592 - 1) < 0.001


@pytest.mark.parametrize(
    ("rows", "why"),
    [
        ([("rede", "322000 x 322010 7416000", "EPSG:31983")], "no number"),
        ([("rede", GML_LINE, "EPSG:31983"), ("rede", GML_LINE, "EPSG:31982")], "several coordinate systems"),
        ([("rede", GML_LINE, "EPSG:31983"), ("rede", "322000 7416000 322010", "EPSG:31983")], "2 features of rede"),
    ],
)
def test_gml_is_never_half_read(gml, rows, why):
    with pytest.raises(InputError, match=why):
        read_layer(gml(*rows))


def test_a_system_that_nobody_knows(gml):
    layer = read_layer(gml(("rede", GML_LINE, "urn:x:municipal")))
    assert (layer.crs, [f.code for f in layer.findings]) == (None, ["crs_unreadable"])


def test_no_system_at_all(gml):
    assert read_layer(gml(("rede", GML_LINE, ""))).crs is None
