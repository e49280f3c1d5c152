"""A workspace as geobill 0.1.0's first issue left it, made by code from the frozen first revision and today's rows."""

import shutil
import sqlite3
from contextlib import closing

from geobill.store.database import Database
from geobill.store.migrations import upgrade

NOW = "2026-11-30T12:00:00Z"
SRID = 31983
REPLACED_BY = "(SELECT other FROM today.batch_acts a WHERE a.batch = today.batches.id AND a.kind = 'replaced')"


def empty_store(path, until="1"):
    """Make a store of an older version without rows."""
    with Database(path, SRID)._transaction(geobill_write=True) as connection:
        upgrade(connection, since=None, srid=SRID, now=NOW, until=until)
    return path


def as_first_version(workspace, target):
    """Copy a workspace with its store's rows put into one of version 1."""
    target.mkdir()
    shutil.copy(workspace / "geobill.toml", target)
    store = empty_store(target / "cadastre.gpkg")
    with closing(sqlite3.connect(store, isolation_level=None)) as connection:
        connection.execute("ATTACH ? AS today", (str(workspace / "cadastre.gpkg"),))
        connection.execute("BEGIN")
        for name in tables(connection):
            if not name.startswith("gpkg_") and name != "geobill_schema":
                columns = [row[1] for row in connection.execute(f"PRAGMA main.table_info({name})")]
                values = ", ".join(REPLACED_BY if c == "replaced_by" else c for c in columns)
                connection.execute(f"INSERT INTO main.{name} ({', '.join(columns)}) SELECT {values} FROM today.{name}")
        connection.execute(
            "UPDATE main.gpkg_contents SET (min_x, min_y, max_x, max_y) = "
            "(SELECT min_x, min_y, max_x, max_y FROM today.gpkg_contents t WHERE t.table_name = main.gpkg_contents.table_name)"
        )
        connection.execute("COMMIT")
    return target


def tables(connection):
    return [
        row[0] for row in connection.execute("SELECT name FROM main.sqlite_master WHERE type = 'table' ORDER BY name")
    ]


def rows(path):
    """Every row of every table, as stored."""
    with closing(sqlite3.connect(path)) as connection:
        return {name: connection.execute(f"SELECT * FROM {name} ORDER BY 1").fetchall() for name in tables(connection)}


def schema(path):
    """Tables, indexes and triggers as written, white space aside; columns; the GeoPackage's own rows."""
    with closing(sqlite3.connect(path)) as connection:
        objects = {
            (kind, name): " ".join((sql or "").replace("(", " ( ").replace(")", " ) ").replace(",", " , ").split())
            for kind, name, sql in connection.execute("SELECT type, name, sql FROM sqlite_master")
        }
        columns = {n: connection.execute(f"PRAGMA table_info({n})").fetchall() for n in tables(connection)}
        pragmas = [connection.execute(f"PRAGMA {p}").fetchone()[0] for p in ("application_id", "user_version")]
        metadata = {
            n: sorted(connection.execute(f"SELECT * FROM {n}").fetchall(), key=str)
            for n in ("gpkg_contents", "gpkg_geometry_columns", "gpkg_spatial_ref_sys", "geobill_schema")
        }
    return {"objects": objects, "columns": columns, "pragmas": pragmas, "metadata": metadata}
