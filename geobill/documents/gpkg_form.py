"""What makes a plain GeoPackage one that QGIS shows at once: styles, titles of columns, and no trace of the clock.

Reference: OGC 12-128r17, GeoPackage 1.3, annex F.9 (schema extension); QGIS keeps styles in ``layer_styles``.
"""

import sqlite3
from collections.abc import Mapping, Sequence

_TABLES = (
    """CREATE TABLE layer_styles (
        id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, f_table_catalog TEXT(256), f_table_schema TEXT(256),
        f_table_name TEXT(256), f_geometry_column TEXT(256), styleName TEXT(30), styleQML TEXT, styleSLD TEXT,
        useAsDefault BOOLEAN, description TEXT, owner TEXT(30), ui TEXT(30), update_time DATETIME NOT NULL)""",
    """CREATE TABLE gpkg_data_columns (
        table_name TEXT NOT NULL, column_name TEXT NOT NULL, name TEXT, title TEXT, description TEXT, mime_type TEXT,
        constraint_name TEXT, CONSTRAINT pk_gdc PRIMARY KEY (table_name, column_name),
        CONSTRAINT gdc_tn UNIQUE (table_name, name))""",
    """CREATE TABLE gpkg_data_column_constraints (
        constraint_name TEXT NOT NULL, constraint_type TEXT NOT NULL, value TEXT, min NUMERIC, min_is_inclusive BOOLEAN,
        max NUMERIC, max_is_inclusive BOOLEAN, description TEXT,
        CONSTRAINT gdcc_ntv UNIQUE (constraint_name, constraint_type, value))""",
    """CREATE TABLE IF NOT EXISTS gpkg_extensions (
        table_name TEXT, column_name TEXT, extension_name TEXT NOT NULL, definition TEXT NOT NULL, scope TEXT NOT NULL,
        CONSTRAINT ge_tce UNIQUE (table_name, column_name, extension_name))""",  # a spatial index has made it already
)
_SCHEMA_EXTENSION = "http://www.geopackage.org/spec121/#extension_schema"


def finish(
    database: sqlite3.Connection, layers: Sequence[tuple[str, str, str, Mapping[str, str]]], moment: str
) -> None:
    """Add styles and titles of columns to a GeoPackage, and set every time in it to ``moment``.

    Parameters
    ----------
    database : sqlite3.Connection
        Open, in autocommit; its layers are there, with ``geom``.
    layers : sequence of (table, name of the style, QML, words by column)
        A table without geometry has no QML: blank.
    moment : str
        ISO text with a fraction of a second and Z, as GeoPackage asks (requirement 15).
    """
    database.execute("PRAGMA synchronous = OFF")  # a temporary file: what isn't finished is thrown away
    database.execute("BEGIN")
    for statement in _TABLES:
        database.execute(statement)
    for n, (table, title, style, aliases) in enumerate(layers, 1):
        if style:
            database.execute(
                "INSERT INTO layer_styles VALUES (?, '', '', ?, 'geom', ?, ?, '', 1, ?, 'geobill', NULL, ?)",
                (n, table, table, style, title, moment),
            )
        database.executemany(
            "INSERT INTO gpkg_data_columns VALUES (?, ?, ?, ?, NULL, NULL, NULL)",
            [(table, column, words, words) for column, words in aliases.items()],
        )
    database.executemany(
        "INSERT INTO gpkg_extensions VALUES (?, NULL, 'gpkg_schema', ?, 'read-write')",
        [(name, _SCHEMA_EXTENSION) for name in ("gpkg_data_columns", "gpkg_data_column_constraints")],
    )
    database.execute(
        "INSERT INTO gpkg_contents (table_name, data_type, identifier, description, last_change) "
        "VALUES ('layer_styles', 'attributes', 'layer_styles', 'Estilos do QGIS', ?)",
        (moment,),
    )
    database.execute("UPDATE gpkg_contents SET last_change = ?", (moment,))
    database.execute("COMMIT")
    database.execute("VACUUM")
