"""FlatGeobuf and GeoParquet: whole or refused, exact, and the same reading as every other format gives."""

import json
import shutil
import struct
from datetime import date, datetime
from decimal import Decimal

import geopandas as gpd
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pyogrio
import pytest
import shapely
from pyproj import CRS
from workspaces import MONTH, add_operator, done, geobill, import_zones, write_zones

from geobill.errors import InputError
from geobill.intake.formats import FORMATS
from geobill.intake.formats.flatgeobuf import FlatGeobuf, Record
from geobill.intake.inspect import inspect_file
from geobill.intake.reader import read_layer

LINES = [shapely.LineString([(322000, 7416000 + 10 * n), (322060 + n, 7416000 + 10 * n)]) for n in range(5)]
DRIVERS = {"shp": "ESRI Shapefile", "gpkg": "GPKG", "geojson": "GeoJSON", "fgb": "FlatGeobuf"}
SUFFIXES = (*DRIVERS, "parquet")


@pytest.fixture
def write(tmp_path):
    def to(suffix, columns=None, geometry=LINES, crs="EPSG:31983", name="rede", **options):
        path = tmp_path / f"{name}.{suffix}"
        frame = gpd.GeoDataFrame(
            columns or {"ID": [f"00{n}" for n in range(len(geometry))]}, geometry=list(geometry), crs=crs
        )
        if suffix.endswith("parquet"):
            frame.to_parquet(path, **options)
        else:
            pyogrio.write_dataframe(frame, path, driver=DRIVERS[suffix], **options)
        return path

    return to


@pytest.fixture
def describe():
    """Rewrite what a GeoParquet says of its geometry."""

    def rewrite(path, change=None, drop=False):
        table = pq.read_table(path)
        meta = json.loads(table.schema.metadata[b"geo"])
        if change:
            change(meta)
        pq.write_table(table.replace_schema_metadata(None if drop else {b"geo": json.dumps(meta).encode()}), path)
        return path

    return rewrite


def column(change):
    return lambda meta: change(meta["columns"]["geometry"])


# -- the same in every format


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_the_same_rows_give_the_same_reading(write, network, suffix):
    columns = {
        "CODIGO": ["007", "1.10", "ação", "12345678901234567890", "x"],
        "LARGURA": [0.6, 0.5, None, 1.25, 0.1],
        "DESDE": [date(2020, 1, 31), None, date(2024, 2, 29), date(2001, 6, 27), None],
        "POSICAO": pd.array([1, None, 3, 2**31 - 1, -4], dtype="Int64"),
    }
    layer = read_layer(write(suffix, columns))
    assert (layer.name, layer.crs.to_epsg(), [c for c in layer.frame.columns if c not in ("geometry", "fid")]) == (
        "rede", 31983, list(columns),
    )  # fmt: skip
    mapping = {"segment": "CODIGO", "width": "LARGURA", "installed_on": "DESDE", "level": "POSICAO"}
    reading = network(layer, mapping, width=None)
    rows = reading.accepted.sort_values("segment")  # FlatGeobuf orders its rows by place
    assert rows[["segment", "width_m", "installed_on", "level"]].astype(object).where(
        lambda f: f.notna(), None
    ).values.tolist() == [
        ["007", "0.6", "2020-01-31", "1"],
        ["1.10", "0.5", None, None],
        ["12345678901234567890", "1.25", "2001-06-27", "2147483647"],
        ["x", "0.1", None, "-4"],
    ]
    assert [(s.id, s.reason_code) for s in reading.set_aside] == [("ação", "width_missing")]
    assert reading.length_m == Decimal("248.00")
    assert [g.wkt for g in shapely.line_merge(rows.geometry.to_numpy())] == [LINES[n].wkt for n in (0, 1, 3, 4)]


@pytest.mark.parametrize("suffix", ["fgb", "parquet"])
def test_inspected_imported_and_priced_from_the_command_line(tmp_path, write, suffix):
    path = write(suffix, {"ID": [f"T{n}" for n in range(5)], "L": [0.5] * 5})
    (layer,) = done("inspect", path)["layers"]
    assert (layer["features"], layer["crs"], layer["length_m"]) == (5, "EPSG:31983", "310.00")
    assert [(f["name"], f["type"]) for f in layer["fields"]] == [("ID", "text"), ("L", "real")]
    root = tmp_path / "ws"
    done("init", root)
    add_operator(root, "alfa", "Alfa S.A.")
    import_zones(root, write_zones(tmp_path / "z.geojson", ("A", "10", -900, -900, 900, 900)))
    mapped = ("--map", "segment=ID", "--map", "width=L", "--operator", "alfa")
    assert done("import", "network", path, *mapped, workspace=root)["accepted"] == 5
    assert done("price", "--month", MONTH, workspace=root)["operators"][0]["network_length_m"] == "310.00"
    again = geobill("import", "network", path, *mapped, workspace=root)
    assert again.code == 1
    assert "--replace" in again.err


def test_a_refusal_names_every_format_and_the_help_says_what_lists_them(tmp_path):
    assert "geobill formats" in " ".join(geobill("inspect", "--help", env={"COLUMNS": "200"}).out.split())
    (tmp_path / "rede.xyz").write_text("1 2 3")
    refused = geobill("inspect", tmp_path / "rede.xyz")
    assert refused.code == 1
    assert "geobill formats" in refused.err
    for f in FORMATS:
        assert f.name in refused.err


# -- FlatGeobuf


@pytest.mark.parametrize("index", ["YES", "NO"])
@pytest.mark.parametrize("count", [1, 5, 16, 17, 300])
def test_flatgeobuf_is_whole_with_and_without_index(write, count, index):
    lines = [shapely.LineString([(322000, 7416000 + n), (322060, 7416000 + n)]) for n in range(count)]
    assert len(read_layer(write("fgb", geometry=lines, SPATIAL_INDEX=index)).frame) == count


@pytest.mark.parametrize("index", ["YES", "NO"])
def test_a_flatgeobuf_cut_anywhere_is_refused(write, index):
    path = write("fgb", SPATIAL_INDEX=index)
    whole = path.read_bytes()
    for end in (*range(1, 1800, 97), *range(len(whole) - 300, len(whole), 7)):
        path.write_bytes(whole[:end])
        with pytest.raises(InputError, match=r"rede\.fgb is broken.*ask for the file again"):
            read_layer(path)
    path.write_bytes(whole + b"\0\0\0")
    with pytest.raises(InputError, match="is broken"):
        read_layer(path)


def test_another_file_named_fgb_is_refused(write):
    path = write("fgb")
    path.write_bytes(b"fgb\x02fgb\x00" + path.read_bytes()[8:])
    with pytest.raises(InputError, match="doesn't begin as a FlatGeobuf"):
        read_layer(path)
    path.write_bytes(path.read_bytes()[:8] + b"\xff\xff\xff\x7f" + bytes(400))
    with pytest.raises(InputError, match="is broken"):
        read_layer(path)
    path.write_bytes(b"fgb\x03fgb\x00" + struct.pack("<I", 40) + b"\xff" * 40)
    with pytest.raises(InputError, match="head is damaged"):
        read_layer(path)


def test_wide_numbers_of_a_flatgeobuf_keep_their_digits(write):
    columns = {"N": pd.array([2**62 + 1, None, 7], dtype="Int64"), "T": ["a", None, "á"], "B": [True, None, False]}
    path = write("fgb", columns, LINES[:3], SPATIAL_INDEX="NO")
    assert read_layer(path).frame["N"].dropna().astype(str).tolist() == [str(2**62 + 1), "7"]
    raw = bytearray(path.read_bytes())
    head = Record.root(bytes(raw[12:]))
    at = 12 + head.records(7)[0]._place(1)
    assert raw[at] == 7
    raw[at] = 8  # the same eight bytes as an unsigned number
    path.write_bytes(raw)
    assert pyogrio.read_info(path)["ogr_types"][0] == "OFTReal"
    assert read_layer(path).frame["N"].tolist() == [str(2**62 + 1), None, "7"]


def test_a_flatgeobuf_without_a_system_is_asked_about(write, network):
    path = write("fgb", crs=None)
    assert read_layer(path).crs is None
    assert [f["code"] for f in inspect_file(path)["findings"]] == ["crs_missing"]
    with pytest.raises(InputError, match="--crs EPSG:31983"):
        network(read_layer(path))
    assert network(read_layer(path), crs="EPSG:31983").length_m == Decimal("310.00")


def test_rows_without_geometry_stay_rows(write):
    for suffix, options in (("fgb", {"SPATIAL_INDEX": "NO"}), ("parquet", {})):
        layer = read_layer(write(suffix, geometry=[LINES[0], None, shapely.LineString()], **options))
        assert [g is None or g.is_empty for g in layer.frame.geometry] == [False, True, True]
        codes = [f["code"] for f in inspect_file(layer.path)["findings"]]
        assert codes == ["no_geometry"]


# -- GeoParquet


@pytest.mark.parametrize(
    ("change", "epsg", "code"),
    [(lambda c: None, 31983, None), (lambda c: c.pop("crs"), 4326, None), (lambda c: c.update(crs=None), None, "crs_missing"),
     (lambda c: c.update(crs="EPSG:31982"), 31982, None), (lambda c: c.update(crs={"type": "nonsense"}), None, "crs_unreadable"),
     (lambda c: c.update(edges="spherical"), 31983, "edges_spherical")],
    ids=["written", "absent", "null", "older text", "nonsense", "spherical"],
)  # fmt: skip
def test_system_of_a_geoparquet(write, describe, change, epsg, code):
    path = describe(write("parquet"), column(change))
    layer = read_layer(path)
    assert (layer.crs and layer.crs.to_epsg()) == epsg
    assert code is None or code in [f["code"] for f in inspect_file(path)["findings"]]


def test_degrees_of_a_geoparquet_without_a_system_are_carried_over(write, describe, network):
    degrees = gpd.GeoSeries(LINES, crs=31983).to_crs(4326)
    path = describe(write("parquet", geometry=degrees, crs=4326), column(lambda c: c.pop("crs")))
    reading = network(read_layer(path))
    assert abs(reading.length_m - 310) <= Decimal("0.05")
    assert reading.crs.source == "EPSG:4326"


@pytest.mark.parametrize("geometry", [LINES, [shapely.MultiLineString([g]) for g in LINES], [g.centroid for g in LINES],
                                      [g.buffer(5) for g in LINES]], ids=lambda g: g[0].geom_type)  # fmt: skip
def test_native_layouts_are_read_as_binary_is(write, geometry):
    binary, native = (read_layer(write("parquet", geometry=geometry, geometry_encoding=e)) for e in ("WKB", "geoarrow"))
    assert native.frame.geometry.to_wkb().tolist() == binary.frame.geometry.to_wkb().tolist()
    assert native.frame["ID"].tolist() == binary.frame["ID"].tolist()


def test_a_layout_that_isnt_known_is_refused(write, describe):
    path = describe(write("parquet"), column(lambda c: c.update(encoding="WKT")))
    with pytest.raises(InputError, match=r"'WKT'.*export it with WKB"):
        read_layer(path)


def test_several_geometry_columns_are_asked_for_by_name(tmp_path):
    path = tmp_path / "rede.parquet"
    frame = gpd.GeoDataFrame({"ID": ["1"]}, geometry=LINES[:1], crs=31983)
    frame["meio"] = gpd.GeoSeries([LINES[0].centroid], crs=31983)
    frame.to_parquet(path)
    with pytest.raises(InputError, match=r"geometry, meio.*--layer NAME"):
        read_layer(path)
    assert read_layer(path, "meio").frame.geometry[0] == LINES[0].centroid
    assert list(read_layer(path, "geometry").frame.columns) == ["ID", "geometry"]
    assert [layer["geometry_types"] for layer in inspect_file(path)["layers"]] == [{"LineString": 1}, {"Point": 1}]


def test_values_of_a_table_stay_exact(tmp_path):
    table = pa.table(
        {
            "largura": pa.array([Decimal("0.60"), None], pa.decimal128(9, 2)),
            "curto": pa.array([0.6, None], pa.float32()),
            "grande": pa.array([2**64 - 1, None], pa.uint64()),
            "tipo": pa.array(["MT", None]).dictionary_encode(),
            "dia": pa.array([date(2024, 2, 29), None]),
            "hora": pa.array([datetime(2024, 2, 29, 23, 59), None], pa.timestamp("ns")),
            "longe": pa.array([datetime(9999, 12, 31), None], pa.timestamp("us")),
            "lista": pa.array([["é", "b"], None]),
            "bytes": pa.array([b"\x00\xff", None]),
            "caixa": pa.array([{"xmin": 1.0}, None]),
            "geometry": pa.array([LINES[0].wkb, None]),
        }
    )
    about = {"encoding": "WKB", "geometry_types": [], "covering": {"bbox": {"xmin": ["caixa", "xmin"]}}}
    meta = {"version": "1.1.0", "primary_column": "geometry", "columns": {"geometry": about}}
    path = tmp_path / "rede.geoparquet"
    pq.write_table(table.replace_schema_metadata({b"geo": json.dumps(meta)}), path)
    frame = read_layer(path).frame
    first = frame.iloc[0]
    assert list(frame.columns) == [
        "largura",
        "curto",
        "grande",
        "tipo",
        "dia",
        "hora",
        "longe",
        "lista",
        "bytes",
        "geometry",
    ]
    assert frame.iloc[1].isna().all()
    assert [str(first[c]) for c in frame.columns[:9]] == [
        "0.60", "0.6", str(2**64 - 1), "MT", "2024-02-29", "2024-02-29 23:59:00", "9999-12-31 00:00:00", '["é", "b"]', "00ff",
    ]  # fmt: skip
    types = {f["name"]: f["type"] for f in inspect_file(path)["layers"][0]["fields"]}
    assert (types["largura"], types["dia"], types["tipo"]) == ("decimal", "date", "text")


def test_parquet_that_is_no_geoparquet_is_refused(tmp_path, write, describe):
    with pytest.raises(InputError, match=r"not GeoParquet.*no `geo` metadata.*Export it as GeoParquet"):
        read_layer(describe(write("parquet"), drop=True))
    for change in (
        lambda m: m.pop("columns"),
        lambda m: m.update(columns={"outra": {}}),
        lambda m: m.update(columns=[1]),
    ):
        with pytest.raises(InputError, match="is broken"):
            read_layer(describe(write("parquet"), change))
    with pytest.raises(InputError, match=r"is broken.*well-known binary"):
        read_layer(
            describe(
                write("parquet", {"ID": ["1"]}, LINES[:1]), lambda m: m.update(columns={"ID": {"encoding": "WKB"}})
            )
        )


def test_a_geoparquet_cut_or_damaged_anywhere_is_refused(write):
    path = write("parquet")
    whole = path.read_bytes()
    for end in (1, 7, 100, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:end])
        with pytest.raises(InputError, match=r"rede\.parquet is broken"):
            read_layer(path)
    for spoilt in (b"PARE" + whole[4:], b"PAR1" + b"\xff" * 60 + whole[64:]):
        path.write_bytes(spoilt)
        with pytest.raises(InputError, match=r"encrypted|broken|can't be read"):
            read_layer(path)


def test_a_page_that_doesnt_match_its_checksum_is_refused(write):
    path = write(
        "parquet", {"N": [7777, 8888, 9999, 1, 2]}, write_page_checksum=True, compression="none", use_dictionary=False
    )
    whole = path.read_bytes()
    assert len(read_layer(path).frame) == 5
    path.write_bytes(whole.replace(struct.pack("<q", 7777), struct.pack("<q", 7778), 1))
    with pytest.raises(InputError, match=r"can't be read"):
        read_layer(path)


def test_no_traceback_for_garbage(tmp_path, write):
    for suffix in ("fgb", "parquet"):
        good = write(suffix).read_bytes()
        path = tmp_path / f"lixo.{suffix}"
        for at in range(8, min(len(good), 1600), 61):
            path.write_bytes(good[:at] + bytes(b ^ 0xA5 for b in good[at : at + 9]) + good[at + 9 :])
            answer = geobill("inspect", path)
            assert answer.code in (0, 1)
            assert "Traceback" not in answer.err


def test_ogr_reads_the_flatgeobuf_that_is_read_here(write):
    if not shutil.which("ogrinfo"):
        pytest.skip("ogrinfo (gdal-bin) isn't installed")
    path = write("fgb")
    FlatGeobuf().check(path)
    assert read_layer(path).crs == CRS(31983)
