"""GeoJSON feature by feature, and the ``crs`` member of older GeoJSON in all its forms."""

import json

import pytest

from geobill.errors import InputError
from geobill.intake.inspect import inspect_file
from geobill.intake.reader import read_layer

DEGREES = [[-46.74, -23.37], [-46.75, -23.38]]


def feature(code="007", coordinates=DEGREES, **more):
    geometry = {"type": "LineString", "coordinates": coordinates}
    properties = {
        "COD": code,
        "n": 9007199254740993,
        "long": 12345678901234567890,
        "w": 0.5,
        "list": [1, "a"],
        "none": None,
    }
    return json.dumps({"type": "Feature", **more, "properties": properties, "geometry": geometry})


@pytest.fixture
def write(tmp_path):
    def to(name, text):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8", newline="")
        return path

    return to


def crs(name):
    return {"type": "name", "properties": {"name": name}}


@pytest.mark.parametrize("name", ["rede.geojsonl", "rede.geojsons", "rede.ndjson", "rede.geojson", "rede.json"])
@pytest.mark.parametrize("form", ["lines", "blank lines", "separators", "records over lines"])
def test_every_form_under_every_name(write, name, form):
    one, two = feature("007"), feature("008")
    text = {
        "lines": f"{one}\n{two}",
        "blank lines": f"\ufeff{one}\r\n\r\n{two}\r\n\0",
        "separators": f"\x1e{one}\n\x1e{two}\n",
        "records over lines": "".join(f"\x1e{json.dumps(json.loads(r), indent=1)}\n" for r in (one, two)),
    }[form]
    layer = read_layer(write(name, text))
    assert (layer.name, layer.crs.to_epsg(), layer.frame["COD"].tolist()) == ("rede", 4326, ["007", "008"])
    assert layer.frame["long"].tolist() == ["12345678901234567890"] * 2
    assert layer.frame["n"].astype(str).tolist() == ["9007199254740993"] * 2
    assert (layer.frame["w"].tolist(), layer.frame["list"].tolist()) == ([0.5, 0.5], ['[1, "a"]'] * 2)


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ('{"type":"Feature","prop', "line 2 isn't JSON"),
        ("[1,2]", "line 2 is no GeoJSON feature"),
        ('{"a":1}', "line 2 is no GeoJSON feature"),
        ("[" * 100_000, "line 2 isn't JSON"),
        (feature(crs=crs("EPSG:31983")), r"record 2 \(line 2\) names another coordinate system"),
    ],
)
def test_a_bad_line_is_named(write, line, why):
    with pytest.raises(InputError, match=why):
        read_layer(write("rede.geojsonl", f"{feature()}\n{line}\n{feature()}\n"))


def test_a_cut_record_is_named_by_its_line(write):
    with pytest.raises(InputError, match="line 3 isn't JSON"):
        read_layer(write("rede.geojsons", f"\x1e{feature()}\n\n\x1e{feature()[:-9]}\n\x1e{feature()}\n"))


def test_rows_without_columns_or_geometry_are_rows(write, network):
    bare = '{"type":"LineString","coordinates":[[-46.74,-23.37],[-46.75,-23.38]]}'
    reading = network(
        read_layer(write("rede.geojsonl", f"{bare}\n" + '{"type":"Feature","properties":null,"geometry":null}\n' * 2))
    )
    assert (len(reading.accepted), [s.reason_code for s in reading.set_aside]) == (1, ["no_geometry"] * 2)
    broken = read_layer(write("b.geojsonl", feature(coordinates=[[1, "x"]]) + "\n" + feature(id=7)))
    assert (list(broken.unbuilt), broken.frame["id"].dropna().tolist()) == ([1], [7])


def test_the_system_of_every_record(write):
    text = "\n".join(
        feature(coordinates=[[322000, 7416000], [322010, 7416000]], crs=crs("EPSG:31983")) for _ in range(2)
    )
    assert read_layer(write("rede.geojsonl", text)).crs.to_epsg() == 31983


@pytest.mark.parametrize(
    ("member", "code", "finding"),
    [
        (crs("EPSG:31983"), 31983, None),
        (crs("urn:ogc:def:crs:EPSG::31983"), 31983, None),
        (crs("urn:ogc:def:crs:EPSG:6.18:31983"), 31983, None),
        (crs("http://www.opengis.net/def/crs/EPSG/0/31983"), 31983, None),
        (crs("urn:ogc:def:crs:OGC:1.3:CRS84"), 4326, None),
        (crs("SIRGAS 2000"), 4674, None),
        ("EPSG:31983", 31983, None),
        ({"type": "EPSG", "properties": {"code": 31983}}, 31983, None),
        (None, None, "crs_unreadable"),
        (crs(""), None, "crs_unreadable"),
        (crs("Córrego da Prefeitura"), None, "crs_unreadable"),
        (crs("/etc/hostname"), None, "crs_unreadable"),
        (
            {"type": "link", "properties": {"href": "http://127.0.0.1:9/ref/epsg/31983/", "type": "proj4"}},
            31983,
            "crs_from_link",
        ),
        ({"type": "link", "properties": {"href": "http://127.0.0.1:9/crs"}}, None, "crs_unreadable"),
        ({"type": "URL", "properties": {"url": "http://127.0.0.1:9/crs"}}, None, "crs_unreadable"),
    ],
)
@pytest.mark.parametrize("at_the_end", [False, True])
def test_crs_members(write, member, code, finding, at_the_end):
    features = {"features": [json.loads(feature())]}
    document = {**features, "crs": member} if at_the_end else {"crs": member, **features}
    layer = read_layer(write("rede.geojson", json.dumps({"type": "FeatureCollection", **document})))
    assert (layer.crs and layer.crs.to_epsg()) == code
    assert [f.code for f in layer.findings] == ([finding] if finding else [])


@pytest.mark.parametrize(
    "text",
    [
        '{"type":"gdal_streamed_alg","command_line":"gdal vector info x","x":{"type":"FeatureCollection"}}',
        '{"type":"FeatureCollection","c\\u0072s":{"type":"link","properties":{"href":"http://127.0.0.1:9"}},"features":[]}',
        '{"type":"FeatureCollection","crs":{"type":"l\\u0069nk","properties":{"href":"http://127.0.0.1:9"}},"features":[]}',
        '{"type":"FeatureCollection","crs":{"type":"link","properties":{"a":{"b":{}},"href":"http://127.0.0.1:9"}},"features":[]}',
    ],
)
def test_what_would_open_something_else(write, text):
    with pytest.raises(InputError, match="open other files"):
        read_layer(write("rede.geojson", text))


def test_a_collection_under_the_name_of_a_sequence(write):
    whole = json.dumps({"type": "FeatureCollection", "features": [json.loads(feature())]})
    report = inspect_file(write("rede.ndjson", whole))
    assert [f["code"] for f in report["findings"]] == ["suffix_contradicts"]
