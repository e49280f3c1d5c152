"""Opening the store and its transactions: one transaction for one command, refused clearly where it can't be had."""

import os
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event, select, text
from sqlalchemy.exc import DatabaseError, IntegrityError, OperationalError
from sqlalchemy.pool import NullPool

from geobill.errors import BusyError, StoreError
from geobill.store import gpkg
from geobill.store.geometry import register_functions
from geobill.store.tables import SCHEMA_VERSION, Tables, make_tables

LOCK_WAIT_S = 10
Say = Callable[[str], None]
_MAKE_ROOM = (
    "Open it once where you may write and there is room for a second copy of it: check the permissions and the disk, or copy "
    "the whole workspace folder to such a place."
)


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
    def open(cls, path: Path, srid: int, now: str | None = None, say: Say = lambda _: None) -> "Database":
        """Open an existing store of this coordinate system; one of an older version is copied and migrated first.

        Parameters
        ----------
        path : Path
            ``cadastre.gpkg``.
        srid : int
            EPSG code that the settings name.
        now : str, optional
            The moment in UTC, ISO text with Z, for the copy's name; without it an older store is refused.
        say : callable
            Takes the message that a store was migrated.

        Raises
        ------
        StoreError
            If the file isn't there, isn't a geobill store, is of another system or of a newer version, or is of an
            older one and can't be migrated here.
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
        if stored != [srid]:
            database._take_system(stored, say)
        if version != SCHEMA_VERSION:
            database._check_version(version)
            database._migrate(now, say)
        database._leave_wal()
        return database

    def _take_system(self, stored: Sequence[int], say: Say) -> None:
        """Let a store that nothing was ever imported into measure in the system that the settings name by now."""
        with self.write() as connection:
            if gpkg.holds_places(connection):
                raise StoreError(
                    f"{self.path} measures in EPSG:{', '.join(map(str, stored))}, geobill.toml says EPSG:{self.srid}: figures of two "
                    "systems would be mixed. Put the old crs back, or make a new workspace, write its crs before the first import, "
                    "and import the files into it."
                )
            gpkg.change_system(connection, self.srid)
        say(f"{self.path.name} measures in EPSG:{self.srid} from now on, as geobill.toml says; nothing was in it yet")

    def _check_version(self, version: int | None) -> None:
        """Refuse a version that no revision leads away from."""
        if version is None or not 1 <= version <= SCHEMA_VERSION:
            raise StoreError(
                f"{self.path} has schema version {version}, this geobill writes version {SCHEMA_VERSION}: it would misread what it "
                "doesn't know. Nothing was changed. Use the geobill that made it, or a newer one."
            )

    def _migrate(self, now: str | None, say: Say) -> None:
        """Copy an older store beside itself and bring it to today's version, in one transaction.

        The lock comes first: of two commands one copies and migrates, the other waits and finds the work done.
        """
        if now is None:
            raise StoreError(
                f"{self.path} is of an older schema version and nothing says what time it is, which the copy is named by. Run any "
                "geobill command on the workspace first, for example geobill policy show: it copies and migrates the store."
            )
        self._check_folder()
        from geobill.store.migrations import upgrade  # alembic: only where there is something to migrate
        from geobill.store.migrations.copying import copy_beside

        try:
            with self._transaction(geobill_write=True, geobill_rebuild=True) as connection:
                since = connection.execute(select(self.tables.schema.c.version)).scalar_one()
                if since == SCHEMA_VERSION:
                    return
                self._check_version(since)
                copy = copy_beside(self.path, since, now)
                try:
                    upgrade(connection, since=since, srid=self.srid, now=now)
                except BaseException:
                    copy.unlink()  # nothing was migrated: the store itself is what the copy holds
                    raise
        except OSError as fault:
            raise StoreError(
                f"{self.path} must be copied before it is migrated to version {SCHEMA_VERSION}, and the copy can't be written: "
                f"{fault.strerror}. Nothing was changed. {_MAKE_ROOM}"
            ) from None
        say(
            f"{self.path.name} was of schema version {since} and is now of version {SCHEMA_VERSION}; as it was before it is kept "
            f"in {copy.name}"
        )

    def _check_folder(self) -> None:
        """Refuse before anything is begun where the system already says that nothing can be written."""
        if not (os.access(self.path, os.W_OK) and os.access(self.path.parent, os.W_OK)):
            raise StoreError(
                f"{self.path} is of an older schema version and must be copied and migrated before this geobill reads it, but it or "
                f"its folder is read-only here. Nothing was changed. {_MAKE_ROOM}"
            )

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
        with self._transaction() as connection:
            yield connection

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """Open the command's one transaction: all of it is kept or none, and nobody else writes meanwhile."""
        with self._transaction(geobill_write=True) as connection:
            yield connection

    @contextmanager
    def _transaction(self, **options: bool) -> Iterator[Connection]:
        with (
            _explained(self.path),
            self._engine.connect().execution_options(**options) as connection,
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
        options = connection.get_execution_options()
        if options.get("geobill_rebuild", False):  # a table that others point to can't be rebuilt under their eyes
            connection.exec_driver_sql("PRAGMA foreign_keys = OFF")
        # sqlite3's own late BEGIN would let two commands read the same last number before either writes
        connection.exec_driver_sql("BEGIN IMMEDIATE" if options.get("geobill_write", False) else "BEGIN")

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
                refusal = BusyError if sign == _BUSY else StoreError
                raise refusal(f"{path}: {advice} Nothing was changed. (SQLite: {said})") from None
        raise


_BUSY = "locked"
_ADVICE = (
    (
        _BUSY,
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
