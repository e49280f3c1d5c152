"""Version 1: the month of the first issue. Run on an empty file by tests only; stores of this version exist since 0.1.0."""

import pyproj
from alembic import op
from sqlalchemy import text

from geobill.store.migrations.steps import given, guard, moment

revision = "1"
down_revision = None

LAYERS = {
    "value_zones": "MULTIPOLYGON",
    "priced_coverage": "MULTIPOLYGON",
    "segments": "MULTILINESTRING",
    "equipment": "GEOMETRY",
}
LEDGER = ("invoices", "invoice_lines", "invoice_inputs", "archive", "documents")
GEOPACKAGE = (
    "PRAGMA application_id = 1196444487",
    "PRAGMA user_version = 10301",
    """CREATE TABLE gpkg_spatial_ref_sys (
        srs_name TEXT NOT NULL, srs_id INTEGER NOT NULL PRIMARY KEY, organization TEXT NOT NULL,
        organization_coordsys_id INTEGER NOT NULL, definition TEXT NOT NULL, description TEXT)""",
    """CREATE TABLE gpkg_contents (
        table_name TEXT NOT NULL PRIMARY KEY, data_type TEXT NOT NULL, identifier TEXT UNIQUE, description TEXT DEFAULT '',
        last_change DATETIME NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ','now')),
        min_x DOUBLE, min_y DOUBLE, max_x DOUBLE, max_y DOUBLE, srs_id INTEGER,
        CONSTRAINT fk_gc_r_srs_id FOREIGN KEY (srs_id) REFERENCES gpkg_spatial_ref_sys(srs_id))""",
    """CREATE TABLE gpkg_geometry_columns (
        table_name TEXT NOT NULL, column_name TEXT NOT NULL, geometry_type_name TEXT NOT NULL, srs_id INTEGER NOT NULL,
        z TINYINT NOT NULL, m TINYINT NOT NULL,
        CONSTRAINT pk_geom_cols PRIMARY KEY (table_name, column_name),
        CONSTRAINT uk_gc_table_name UNIQUE (table_name),
        CONSTRAINT fk_gc_tn FOREIGN KEY (table_name) REFERENCES gpkg_contents(table_name),
        CONSTRAINT fk_gc_srs FOREIGN KEY (srs_id) REFERENCES gpkg_spatial_ref_sys(srs_id))""",
)
TABLES = (
    """CREATE TABLE archive (fid INTEGER NOT NULL, sha256 TEXT NOT NULL, kind TEXT NOT NULL, content BLOB NOT NULL,
        PRIMARY KEY (fid), UNIQUE (sha256))""",
    """CREATE TABLE decisions (fid INTEGER NOT NULL, id TEXT NOT NULL, number TEXT NOT NULL, date TEXT NOT NULL,
        signatory TEXT NOT NULL, question TEXT NOT NULL, answer TEXT NOT NULL, recorded_at TEXT NOT NULL, PRIMARY
        KEY (fid), UNIQUE (id))""",
    """CREATE TABLE geobill_schema (fid INTEGER NOT NULL, version INTEGER NOT NULL, created_at TEXT NOT NULL, PRIMARY
        KEY (fid))""",
    """CREATE TABLE operators (fid INTEGER NOT NULL, id TEXT NOT NULL, name TEXT NOT NULL, kind TEXT NOT NULL, cnpj
        TEXT NOT NULL, service TEXT NOT NULL, address TEXT NOT NULL, email TEXT NOT NULL, representative TEXT NOT
        NULL, added_at TEXT NOT NULL, PRIMARY KEY (fid), UNIQUE (id))""",
    """CREATE TABLE batches (fid INTEGER NOT NULL, id TEXT NOT NULL, kind TEXT NOT NULL, file TEXT NOT NULL, layer TEXT
        NOT NULL, sha256 TEXT NOT NULL, operator TEXT, read INTEGER NOT NULL, accepted INTEGER NOT NULL, length_m
        TEXT NOT NULL, report TEXT NOT NULL, imported_at TEXT NOT NULL, replaced_by TEXT, PRIMARY KEY (fid), UNIQUE
        (id), FOREIGN KEY(operator) REFERENCES operators (id), FOREIGN KEY(replaced_by) REFERENCES batches (id))""",
    """CREATE TABLE invoices (fid INTEGER NOT NULL, number TEXT NOT NULL, series_year INTEGER NOT NULL, sequence
        INTEGER NOT NULL, month TEXT NOT NULL, operator TEXT NOT NULL, issued_on TEXT NOT NULL, due_on TEXT NOT
        NULL, total_cents INTEGER NOT NULL, digest TEXT NOT NULL, record TEXT NOT NULL, issued_at TEXT NOT NULL,
        PRIMARY KEY (fid), UNIQUE (series_year, sequence), UNIQUE (month, operator), UNIQUE (number), FOREIGN
        KEY(operator) REFERENCES operators (id))""",
    """CREATE TABLE documents (fid INTEGER NOT NULL, invoice TEXT NOT NULL, kind TEXT NOT NULL, file_name TEXT NOT
        NULL, sha256 TEXT NOT NULL, content BLOB NOT NULL, PRIMARY KEY (fid), UNIQUE (invoice, kind), FOREIGN
        KEY(invoice) REFERENCES invoices (number))""",
    """CREATE TABLE editions (fid INTEGER NOT NULL, batch TEXT NOT NULL, name TEXT NOT NULL, in_force_from TEXT NOT
        NULL, PRIMARY KEY (fid), FOREIGN KEY(batch) REFERENCES batches (id))""",
    """CREATE TABLE equipment (fid INTEGER NOT NULL, batch TEXT NOT NULL, source_row INTEGER NOT NULL, equipment TEXT
        NOT NULL, operator TEXT NOT NULL, service TEXT, permit TEXT, status TEXT NOT NULL, volume_m3 TEXT NOT NULL,
        installed_on TEXT, removed_on TEXT, geom GEOMETRY NOT NULL, PRIMARY KEY (fid), FOREIGN KEY(batch) REFERENCES
        batches (id), FOREIGN KEY(operator) REFERENCES operators (id))""",
    """CREATE TABLE invoice_inputs (fid INTEGER NOT NULL, invoice TEXT NOT NULL, role TEXT NOT NULL, sha256 TEXT NOT
        NULL, PRIMARY KEY (fid), UNIQUE (invoice, role), FOREIGN KEY(invoice) REFERENCES invoices (number), FOREIGN
        KEY(sha256) REFERENCES archive (sha256))""",
    """CREATE TABLE invoice_lines (fid INTEGER NOT NULL, invoice TEXT NOT NULL, line INTEGER NOT NULL, kind TEXT NOT
        NULL, service TEXT, permit TEXT, zone TEXT, land_value TEXT, length_m TEXT, billed_width_m TEXT, volume_m3
        TEXT, price_per_m3 TEXT, location_index TEXT, depreciation_index TEXT, reducer TEXT, multiplier TEXT NOT
        NULL, days INTEGER NOT NULL, month_days INTEGER NOT NULL, amount_cents INTEGER NOT NULL, articles TEXT NOT
        NULL, flags TEXT NOT NULL, PRIMARY KEY (fid), UNIQUE (invoice, line), FOREIGN KEY(invoice) REFERENCES
        invoices (number))""",
    """CREATE TABLE priced_coverage (fid INTEGER NOT NULL, batch TEXT NOT NULL, on_overlap TEXT NOT NULL, max_gap_m
        TEXT NOT NULL, source_row INTEGER NOT NULL, zone TEXT, land_value TEXT, kind TEXT NOT NULL, status TEXT NOT
        NULL, area_m2 REAL NOT NULL, geom MULTIPOLYGON NOT NULL, PRIMARY KEY (fid), FOREIGN KEY(batch) REFERENCES
        batches (id))""",
    """CREATE TABLE segments (fid INTEGER NOT NULL, batch TEXT NOT NULL, source_row INTEGER NOT NULL, segment TEXT NOT
        NULL, operator TEXT NOT NULL, service TEXT, level TEXT, permit TEXT, status TEXT NOT NULL, width_m TEXT NOT
        NULL, declared_length_m TEXT, installed_on TEXT, removed_on TEXT, length_m REAL NOT NULL, geom
        MULTILINESTRING NOT NULL, PRIMARY KEY (fid), FOREIGN KEY(batch) REFERENCES batches (id), FOREIGN
        KEY(operator) REFERENCES operators (id))""",
    """CREATE TABLE set_aside (fid INTEGER NOT NULL, batch TEXT NOT NULL, source_row INTEGER NOT NULL, row_id TEXT NOT
        NULL, reason_code TEXT NOT NULL, reason TEXT NOT NULL, PRIMARY KEY (fid), FOREIGN KEY(batch) REFERENCES
        batches (id))""",
    """CREATE TABLE value_zones (fid INTEGER NOT NULL, batch TEXT NOT NULL, source_row INTEGER NOT NULL, zone TEXT NOT
        NULL, land_value TEXT NOT NULL, area_m2 REAL NOT NULL, geom MULTIPOLYGON NOT NULL, PRIMARY KEY (fid),
        FOREIGN KEY(batch) REFERENCES batches (id))""",
)
INDEXED = ("editions", "equipment", "priced_coverage", "segments", "set_aside", "value_zones")


def upgrade() -> None:
    """Make a store of version 1 in an empty file."""
    bind, srid = op.get_bind(), given("srid")
    for statement in GEOPACKAGE:
        op.execute(statement)
    systems = [
        ("Undefined cartesian SRS", -1, "NONE", "undefined"),
        ("Undefined geographic SRS", 0, "NONE", "undefined"),
    ]
    for code in (4326, srid):
        crs = pyproj.CRS.from_epsg(code)
        systems.append((crs.name, code, "EPSG", crs.to_wkt("WKT1_GDAL")))
    for name, code, body, definition in systems:
        row = {"name": name, "code": code, "body": body, "definition": definition}
        bind.execute(
            text("INSERT INTO gpkg_spatial_ref_sys VALUES (:name, :code, :body, :code, :definition, NULL)"), row
        )
    for statement in TABLES:
        op.execute(statement)
        name = statement.split()[2]
        kind = LAYERS.get(name)
        row = {
            "name": name,
            "data": "features" if kind else "attributes",
            "now": moment(),
            "srid": srid if kind else None,
        }
        bind.execute(
            text("INSERT INTO gpkg_contents VALUES (:name, :data, :name, '', :now, NULL, NULL, NULL, NULL, :srid)"), row
        )
        if kind:
            row = {"name": name, "kind": kind, "srid": srid}
            bind.execute(text("INSERT INTO gpkg_geometry_columns VALUES (:name, 'geom', :kind, :srid, 0, 0)"), row)
    for name in INDEXED:
        op.execute(f"CREATE INDEX ix_{name}_batch ON {name} (batch)")
    for name in LEDGER:
        guard(name)
    bind.execute(text("INSERT INTO geobill_schema (version, created_at) VALUES (1, :now)"), {"now": given("now")})
