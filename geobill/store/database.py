"""Opening the store and its transactions: one transaction for one command, refused clearly where it can't be had."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event, select, text
from sqlalchemy.exc import DatabaseError, IntegrityError, OperationalError
from sqlalchemy.pool import NullPool

from geobill.errors import StoreError
from geobill.store import gpkg
from geobill.store.geometry import register_functions
from geobill.store.tables import SCHEMA_VERSION, Tables, make_tables

LOCK_WAIT_S = 10


class Database:
    """An embedded store: ``cadastre.gpkg`` of a workspace."""

    def __init__(self, path: Path, srid: int):
        self.path, self.srid = path, srid
        self.tables: Tables = make_tables(srid)
        self._engine = _engine(path)

    @classmethod
    def create(cls, path: Path, srid: int, now: str) -> "Database":
        """Make a new store; nothing is left behind if that fails."""
        database = cls(path, srid)
        try:
            with database.write() as connection:
                gpkg.create(connection, database.tables, srid, now)
                connection.execute(database.tables.schema.insert().values(version=SCHEMA_VERSION, created_at=now))
        except BaseException:
            path.unlink(missing_ok=True)
            raise
        return database

    @classmethod
    def open(cls, path: Path, srid: int) -> "Database":
        """Open an existing store of this schema version and coordinate system.

        Raises
        ------
        StoreError
            If the file isn't there, isn't a geobill store, or is of another version or system.
        """
        if not path.is_file():
            raise StoreError(f"{path} is not there. Make a workspace with geobill init DIR, or name yours with -w DIR.")
        database = cls(path, srid)
        with database.read() as connection:
            try:
                version = connection.execute(select(database.tables.schema.c.version)).scalar()
                stored = connection.execute(text("SELECT DISTINCT srs_id FROM gpkg_geometry_columns")).scalars().all()
            except OperationalError as fault:
                if "no such table" not in str(fault):
                    raise
                raise StoreError(
                    f"{path} is no geobill store (it lacks geobill_schema): name another workspace."
                ) from None
        if version != SCHEMA_VERSION:
            raise StoreError(
                f"{path} has schema version {version}, this geobill writes version {SCHEMA_VERSION}. "
                "Use the geobill that made it, or a newer one."
            )
        if stored != [srid]:
            raise StoreError(
                f"{path} measures in EPSG:{', '.join(map(str, stored))}, geobill.toml says EPSG:{srid}: figures of two systems would "
                "be mixed. Put the old crs back, or make a new workspace and import the files into it."
            )
        database._leave_wal()
        return database

    def _leave_wal(self) -> None:
        """Bring the rollback journal back where QGIS left its write-ahead log, which network drives can't share.

        Tried without waiting: while another program has the file open the log stays, and geobill works with it.
        """
        with closing(sqlite3.connect(self.path, timeout=0)) as connection, suppress(sqlite3.OperationalError):
            if connection.execute("PRAGMA journal_mode").fetchone() == ("wal",):
                connection.execute("PRAGMA journal_mode = DELETE")

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """Open a transaction that sees one state of the store and writes nothing."""
        with _explained(self.path), self._engine.connect() as connection, connection.begin():
            yield connection

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """Open the command's one transaction: all of it is kept or none, and nobody else writes meanwhile."""
        with (
            _explained(self.path),
            self._engine.connect().execution_options(geobill_write=True) as connection,
            connection.begin(),
        ):
            yield connection


def _engine(path: Path) -> Engine:
    engine = create_engine(
        f"sqlite:///{path}", poolclass=NullPool, connect_args={"timeout": LOCK_WAIT_S, "isolation_level": None}
    )

    @event.listens_for(engine, "connect")
    def _connected(connection: Any, _: Any) -> None:
        connection.execute("PRAGMA foreign_keys = ON")
        register_functions(connection)

    @event.listens_for(engine, "begin")
    def _begun(connection: Connection) -> None:
        # sqlite3's own late BEGIN would let two commands read the same last number before either writes
        write = connection.get_execution_options().get("geobill_write", False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if write else "BEGIN")

    return engine


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    """Turn what SQLite says of the file into what a person can do about it."""
    try:
        yield
    except IntegrityError:
        raise
    except (DatabaseError, sqlite3.DatabaseError) as fault:
        said = str(getattr(fault, "orig", fault))
        for sign, advice in _ADVICE:
            if sign in said:
                raise StoreError(f"{path}: {advice} Nothing was changed. (SQLite: {said})") from None
        raise


_ADVICE = (
    (
        "locked",
        "another program is writing to it (another geobill, or QGIS with unsaved edits): close or save there, then try again.",
    ),
    (
        "readonly",
        "it is read-only here: check the file's and folder's permissions, or copy the workspace to a place you may write.",
    ),
    (
        "unable to open",
        "it can't be opened: check that the folder exists and that you may write in it (a journal is kept beside it).",
    ),
    ("disk I/O", "the disk refused to read or write: check space and connection."),
    ("full", "the disk is full: make room."),
    ("not a database", "it is not a GeoPackage or it is damaged: restore it from a copy."),
    ("malformed", "it is damaged: restore it from a copy."),
)
