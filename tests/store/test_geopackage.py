"""The store as GDAL and QGIS see it: nothing dropped, nothing rounded, and it can be indexed and written again."""

import re
import shutil
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path

import geopandas as gpd
import pandas as pd
import pyogrio
import pytest
import shapely
from sqlalchemy import create_engine, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.pool import NullPool
from sqlalchemy.schema import CreateTable
from workspaces import (
    add_operator,
    bill,
    done,
    geobill,
    import_cabinets,
    import_network,
    import_zones,
    write_cabinets,
    write_network,
    write_zones,
)

from geobill.store.geometry import from_gpkg, to_gpkg
from geobill.store.procedure_tables import PROCEDURE_LEDGER
from geobill.store.survey_tables import SURVEY_FEATURES
from geobill.store.tables import FEATURES, make_tables
from store.test_database import put_a_row

TABLES = make_tables(31983)
NAMES = [t.name for t in TABLES.metadata.sorted_tables]
VALIDATOR = Path("/usr/lib/python3/dist-packages/osgeo_utils/samples/validate_gpkg.py")
needs_gdal = pytest.mark.skipif(not shutil.which("ogrinfo"), reason="Debian's gdal-bin isn't installed")
needs_validator = pytest.mark.skipif(not VALIDATOR.is_file(), reason="Debian's python3-gdal isn't installed")


def store(workspace):
    return workspace / "cadastre.gpkg"


def query(workspace, sql):
    with closing(sqlite3.connect(store(workspace))) as connection:
        return connection.execute(sql).fetchall()


def stored_rows(workspace, table):
    """Rows as SQLAlchemy reads them, in the order of their keys."""
    engine = create_engine(f"sqlite:///{store(workspace)}", poolclass=NullPool)
    with engine.connect() as connection:
        return connection.execute(select(table).order_by(table.c.fid)).all()


def check_valid(workspace):
    """GDAL's own validator finds nothing to say."""
    command = ["/usr/bin/python3", VALIDATOR, "-k", "--extra", "--warning-as-error", store(workspace)]
    said = subprocess.run(command, capture_output=True, text=True)
    assert said.returncode == 0, said.stdout + said.stderr


# -- every column of every table


@pytest.mark.parametrize("name", NAMES)
def test_gdal_reads_every_column_and_value(billed, granted, surveyed, name, tmp_path):
    table = TABLES.metadata.tables[name]
    billed = granted if name.startswith(("permit", "decree", "month_")) else billed
    billed = surveyed if name.startswith(("survey", "finding")) else billed
    if name in (*PROCEDURE_LEDGER, "batch_acts", "survey_acts"):
        billed = shutil.copytree(billed, tmp_path / "with-a-row")
        put_a_row(store(billed), table)
    rows = stored_rows(billed, table)
    assert rows, f"{name} is empty: the test would show nothing"
    frame = pyogrio.read_dataframe(store(billed), layer=name, fid_as_index=True)
    columns = [c.name for c in table.columns if c.name not in ("fid", "geom")]
    assert [c for c in frame.columns if c != "geometry"] == columns
    assert list(frame.index) == [r.fid for r in rows]
    for column in columns:
        read = [None if pd.isna(v) else v for v in frame[column].astype(object)]
        wanted = [getattr(r, column) for r in rows]
        assert read == wanted, column
        assert {type(v) for v in read} == {type(v) for v in wanted}, column
    if name in FEATURES:
        assert all(a.equals_exact(b) for a, b in zip(frame.geometry, (r.geom for r in rows), strict=True))


@pytest.mark.parametrize("name", NAMES)
def test_gdal_sees_each_layer_as_it_is_declared(billed, name):
    info = pyogrio.read_info(store(billed), layer=name)
    kinds = {"MULTIPOLYGON": "MultiPolygon", "MULTILINESTRING": "MultiLineString", "GEOMETRY": "Unknown"}
    assert info["geometry_type"] == kinds.get(FEATURES.get(name))
    assert info["crs"] == ("EPSG:31983" if name in FEATURES else None)
    assert info["fid_column"] == "fid"
    assert set(map(str, info["dtypes"])) <= {"object", "int64", "float64"}


def test_money_is_whole_cents_and_other_figures_are_exact_text(billed):
    lines = pyogrio.read_dataframe(store(billed), layer="invoice_lines")
    invoices = pyogrio.read_dataframe(store(billed), layer="invoices")
    assert str(lines["amount_cents"].dtype) == str(invoices["total_cents"].dtype) == "int64"
    assert lines.groupby("invoice")["amount_cents"].sum().tolist() == invoices["total_cents"].tolist()
    assert {"10.50", "3"} <= set(lines["land_value"].dropna())
    assert {"0.60", "0.50"} <= set(lines["billed_width_m"].dropna())
    assert "2.345" in set(pyogrio.read_dataframe(store(billed), layer="equipment")["volume_m3"])


def test_dates_are_iso_text_and_times_end_with_z(billed):
    for table in TABLES.metadata.sorted_tables:
        for row in stored_rows(billed, table):
            for column, value in row._mapping.items():
                if column.endswith("_at"):
                    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", value), (table.name, column)
                if column.endswith(("_on", "_from")) and value is not None:
                    assert re.fullmatch(r"\d{4}-\d\d-\d\d", value) or column == "removed_on", (table.name, column)


def test_only_types_that_gdal_keeps_are_declared():
    for table in TABLES.metadata.sorted_tables:
        for column in table.columns:
            declared = column.type.compile(sqlite.dialect())
            assert declared in {"TEXT", "INTEGER", "REAL", "BLOB", *FEATURES.values()}, (table.name, column.name)


# -- the file's own form


def test_file_is_marked_as_a_geopackage(billed):
    assert query(billed, "PRAGMA application_id") == [(0x47504B47,)]
    assert query(billed, "PRAGMA user_version") == [(10301,)]
    assert query(billed, "PRAGMA integrity_check") == [("ok",)]
    assert query(billed, "PRAGMA foreign_key_check") == []
    assert query(billed, "PRAGMA journal_mode") == [("delete",)]
    assert [p.name for p in billed.glob("cadastre*")] == ["cadastre.gpkg"]


def test_registration_tables_list_every_layer(billed):
    contents = {
        r[0]: r[1:] for r in query(billed, "SELECT table_name, data_type, srs_id, identifier FROM gpkg_contents")
    }
    assert contents.pop("layer_styles") == (
        "attributes",
        None,
        "layer_styles",
    )  # QGIS' own, with the styles of the rest
    assert contents == {n: ("features", 31983, n) if n in FEATURES else ("attributes", None, n) for n in NAMES}
    columns = query(
        billed, "SELECT table_name, column_name, geometry_type_name, srs_id, z, m FROM gpkg_geometry_columns"
    )
    assert sorted(columns) == sorted((n, "geom", kind, 31983, 0, 0) for n, kind in FEATURES.items())
    systems = query(billed, "SELECT srs_id, organization, organization_coordsys_id FROM gpkg_spatial_ref_sys")
    assert sorted(systems) == [(-1, "NONE", -1), (0, "NONE", 0), (4326, "EPSG", 4326), (31983, "EPSG", 31983)]


@pytest.mark.parametrize("name", FEATURES)
def test_extent_is_that_of_the_rows(billed, surveyed, name):
    billed = surveyed if name in SURVEY_FEATURES else billed
    bounds = query(billed, f"SELECT min_x, min_y, max_x, max_y FROM gpkg_contents WHERE table_name = '{name}'")[0]
    assert bounds == tuple(gpd.read_file(store(billed), layer=name).total_bounds)


@needs_validator
def test_gdals_validator_has_nothing_to_say(billed):
    check_valid(billed)


@needs_gdal
def test_ogrinfo_reads_all_layers_without_a_warning(billed):
    said = subprocess.run(["ogrinfo", "-al", "-so", store(billed)], capture_output=True, text=True)
    assert (said.returncode, said.stderr) == (0, "")
    assert all(f"Layer name: {n}\n" in said.stdout for n in NAMES)


# -- geometry


@pytest.mark.parametrize(
    "wkt",
    [
        "MULTILINESTRING ((322000.1 7416000.7, 322060.123456789 7416010))",
        "MULTILINESTRING ((0 0, 1 1), (2 2, 3 3))",
        "MULTIPOLYGON (((0 0, 4 0, 4 4, 0 0), (1 0.5, 2 0.5, 2 1, 1 0.5)))",
        "POINT (322005 7416005)",
        "MULTILINESTRING EMPTY",
        "POLYGON EMPTY",
        "POINT EMPTY",
    ],
)
def test_geometry_comes_back_as_it_went_in(wkt):
    geometry = shapely.from_wkt(wkt)
    blob = to_gpkg(geometry, 31983)
    back = from_gpkg(blob)
    assert back.geom_type == geometry.geom_type
    assert back.is_empty if geometry.is_empty else back.equals_exact(geometry)
    assert blob[:2] == b"GP"
    assert int.from_bytes(blob[4:8], "little") == 31983
    assert bool(blob[3] & 0x10) == geometry.is_empty


@pytest.mark.parametrize("envelope_code", range(5))
def test_blobs_with_any_envelope_are_read(envelope_code):
    point = shapely.Point(1, 2)
    size = (0, 32, 48, 48, 64)[envelope_code]
    blob = (
        b"GP"
        + bytes([0, envelope_code << 1 | 1])
        + (31983).to_bytes(4, "little")
        + b"\0" * size
        + shapely.to_wkb(point)
    )
    assert from_gpkg(blob) == point


# -- the same tables on a server


@pytest.mark.parametrize("name", NAMES)
def test_the_same_tables_compile_for_postgis(name):
    table = TABLES.metadata.tables[name]
    ddl = str(CreateTable(table).compile(dialect=postgresql.dialect()))
    if name in FEATURES:
        assert f"geom geometry({FEATURES[name]},31983) NOT NULL" in ddl
    # whole cents and metres keep their 64 bits there
    assert not re.search(r" (INTEGER|REAL|FLOAT|SERIAL)\b", ddl)
    plain = {"TEXT": "TEXT", "INTEGER": "BIGINT", "REAL": "DOUBLE PRECISION", "BLOB": "BYTEA"}
    for column in table.columns:
        if column.name != "geom":
            here, there = (column.type.compile(d) for d in (sqlite.dialect(), postgresql.dialect()))
            assert plain[here] == there, column.name


# -- after QGIS or GDAL was at it


def add_spatial_index(workspace, layer):
    sql = f"SELECT CreateSpatialIndex('{layer}', 'geom')"
    said = subprocess.run(["ogrinfo", store(workspace), "-sql", sql], capture_output=True, text=True)
    assert "CreateSpatialIndex (Integer) = 1" in said.stdout, said.stdout + said.stderr


@needs_gdal
@pytest.mark.parametrize("layers", [("segments",), tuple(FEATURES)], ids=["segments", "all layers"])
def test_geobill_writes_on_after_gdal_added_its_index(workspace, tmp_path, layers):
    before = {n: query(workspace, f"SELECT count(*) FROM {n}")[0][0] for n in FEATURES}
    for layer in layers:
        add_spatial_index(workspace, layer)
    add_operator(workspace, "eta", "Eta Redes S.A.")
    import_network(workspace, write_network(tmp_path / "eta.geojson", ("H1", 0.5, [(10, 40), (190, 40)])), "eta")
    import_cabinets(workspace, write_cabinets(tmp_path / "caixas.geojson", ("E9", 1, (7, 7))), "eta")
    import_zones(workspace, write_zones(tmp_path / "novo.geojson", ("Toda", "5", 0, 0, 200, 100)), "2027", "2027-01-01")
    assert [i["operator"] for i in bill(workspace)["invoices"] if i["issued_now"]] == ["eta"]
    assert len(bill(workspace, month="2027-01", issued_on="2027-02-01")["invoices"]) == 3
    seen = (
        write_network(
            tmp_path / "visto.geojson", ("V1", 0.5, [(10, 40), (190, 40)]), ("V2", 0.5, [(10, 80), (190, 80)])
        ),
        write_cabinets(tmp_path / "vistos.geojson", ("V3", 1, (7, 7)), ("V4", 1, (70, 7))),
    )
    for file in seen:
        terms = ("--operator", "eta", "--tolerance", "3", "--by", "Ana")
        assert len(done("detect", "--survey", file, *terms, workspace=workspace)["findings"]) == 1
    for name in FEATURES:
        rows = query(workspace, f"SELECT count(*) FROM {name}")[0][0]
        assert rows > before[name]
        if name in layers:
            assert query(workspace, f"SELECT count(*) FROM rtree_{name}_geom") == [(rows,)]
            assert query(workspace, f"SELECT rtreecheck('rtree_{name}_geom')") == [("ok",)]
    found = gpd.read_file(store(workspace), layer="segments", bbox=(322009, 7416039.5, 322011, 7416040.5))
    assert list(found["segment"]) == ["H1"]
    assert query(workspace, "PRAGMA integrity_check") == [("ok",)]
    if VALIDATOR.is_file():
        check_valid(workspace)


def test_a_store_left_in_wal_mode_goes_back_to_the_rollback_journal(workspace):
    assert query(workspace, "PRAGMA journal_mode = WAL") == [("wal",)]
    add_operator(workspace, "eta", "Eta Redes S.A.")
    assert query(workspace, "PRAGMA journal_mode") == [("delete",)]
    assert [p.name for p in workspace.glob("cadastre*")] == ["cadastre.gpkg"]
    assert query(workspace, "SELECT count(*) FROM operators WHERE id = 'eta'") == [(1,)]


def test_geobill_works_while_another_program_holds_it_in_wal_mode(workspace):
    with closing(sqlite3.connect(store(workspace))) as other:
        other.execute("PRAGMA journal_mode = WAL")
        other.execute("SELECT count(*) FROM segments").fetchone()
        add_operator(workspace, "eta", "Eta Redes S.A.")
        assert other.execute("SELECT count(*) FROM operators WHERE id = 'eta'").fetchone() == (1,)
        assert other.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    assert geobill("operator", "list", workspace=workspace).code == 0
    assert query(workspace, "PRAGMA journal_mode") == [("delete",)]
