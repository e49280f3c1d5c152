"""The embedded store's outer form: a GeoPackage 1.3 that GDAL and QGIS open, written without any SQLite extension.

Reference: OGC 12-128r17, GeoPackage Encoding Standard 1.3.1, clauses 1.1 and 2.1 and annex C (table definitions).
"""

import pyproj
from sqlalchemy import Connection, text
from sqlalchemy.schema import CreateTable

from geobill.store.guards import ONE_STANDING_INVOICE, guards
from geobill.store.tables import FEATURES, LEDGER, Tables

APPLICATION_ID = 0x47504B47  # "GPKG"
USER_VERSION = 10301

_SYSTEM_TABLES = (
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


def create(connection: Connection, tables: Tables, srid: int, now: str) -> None:
    """Create the GeoPackage's own tables, geobill's tables registered in them, and the ledger's guards.

    ``now`` is ISO text with Z: nothing here asks the clock.
    """
    connection.execute(text(f"PRAGMA application_id = {APPLICATION_ID}"))
    connection.execute(text(f"PRAGMA user_version = {USER_VERSION}"))
    for statement in _SYSTEM_TABLES:
        connection.execute(text(statement))
    for name, id_ in (("Undefined cartesian SRS", -1), ("Undefined geographic SRS", 0)):
        _add_system(connection, name, id_, "NONE", "undefined")
    for code in sorted({4326, srid}):
        _add_epsg(connection, code)
    for table in tables.metadata.sorted_tables:
        connection.execute(CreateTable(table))
        for index in table.indexes:
            index.create(connection)
        spatial = table.name in FEATURES
        connection.execute(
            text("INSERT INTO gpkg_contents VALUES (:t, :kind, :t, '', :now, NULL, NULL, NULL, NULL, :srid)"),
            {
                "t": table.name,
                "kind": "features" if spatial else "attributes",
                "now": _moment(now),
                "srid": srid if spatial else None,
            },
        )
        if spatial:
            connection.execute(
                text("INSERT INTO gpkg_geometry_columns VALUES (:t, 'geom', :kind, :srid, 0, 0)"),
                {"t": table.name, "kind": FEATURES[table.name], "srid": srid},
            )
    for name in LEDGER:
        for statement in guards(tables.metadata.tables[name]):
            connection.execute(text(statement))
    connection.execute(text(ONE_STANDING_INVOICE))


def touch(connection: Connection, table: str, bounds: tuple[float, float, float, float] | None, now: str) -> None:
    """Widen a layer's extent in ``gpkg_contents`` after rows were added, so that QGIS zooms to it."""
    if bounds is None:
        return
    connection.execute(
        text(
            "UPDATE gpkg_contents SET last_change = :now, min_x = min(coalesce(min_x, :a), :a), min_y = "
            "min(coalesce(min_y, :b), :b), max_x = max(coalesce(max_x, :c), :c), max_y = max(coalesce(max_y, :d), :d) "
            "WHERE table_name = :t"
        ),
        {"t": table, "now": _moment(now), "a": bounds[0], "b": bounds[1], "c": bounds[2], "d": bounds[3]},
    )


HOLD_PLACES = (*FEATURES, "batches", "suspensions")  # tables with anything in them that depends on the system


def holds_places(connection: Connection) -> bool:
    """Whether anything in the store depends on its coordinate system: an import of any kind, or an order over an area."""
    return any(connection.execute(text(f"SELECT 1 FROM {table} LIMIT 1")).first() is not None for table in HOLD_PLACES)


def change_system(connection: Connection, srid: int) -> None:
    """List the layers, which must be empty, in another coordinate system."""
    if connection.execute(text("SELECT 1 FROM gpkg_spatial_ref_sys WHERE srs_id = :id"), {"id": srid}).first() is None:
        _add_epsg(connection, srid)
    connection.execute(text("UPDATE gpkg_geometry_columns SET srs_id = :id"), {"id": srid})
    connection.execute(text("UPDATE gpkg_contents SET srs_id = :id WHERE srs_id IS NOT NULL"), {"id": srid})


def _add_epsg(connection: Connection, code: int) -> None:
    crs = _crs(code)
    _add_system(connection, crs.name, code, "EPSG", crs.to_wkt("WKT1_GDAL"))


def _add_system(connection: Connection, name: str, code: int, organization: str, definition: str) -> None:
    insert = text("INSERT INTO gpkg_spatial_ref_sys VALUES (:name, :code, :organization, :code, :definition, NULL)")
    row = {"name": name, "code": code, "organization": organization, "definition": definition}
    connection.execute(insert, row)


def _moment(now: str) -> str:
    """Return ISO text with Z as GeoPackage wants it: with a fraction of a second (requirement 15)."""
    return now if "." in now else now.replace("Z", ".000Z")


def _crs(code: int) -> pyproj.CRS:
    return pyproj.CRS.from_epsg(code)
