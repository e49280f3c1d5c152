"""An older store brought to today's tables: one revision per schema version, in ``versions``, applied by alembic.

``geobill_schema.version`` is the only record of where a store stands, and a revision's name is that number. Alembic's
own ``alembic_version`` isn't made: it would be a second truth, and GDAL drops its VARCHAR column (decision 0007).
Revisions are frozen: they say what changed on that day in words of their own, whatever ``store/tables.py`` says later.
"""

from pathlib import Path

from alembic.migration import MigrationContext
from alembic.operations import Operations
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, text

from geobill.errors import StoreError

BASE = "base"


def upgrade(connection: Connection, *, since: int | None, srid: int, now: str, until: str = "head") -> tuple[int, ...]:
    """Bring a store from one version to a later one, inside the caller's transaction.

    Parameters
    ----------
    connection : Connection
        In a transaction that nobody else writes beside; foreign keys are not enforced in it, since a table that
        others point to may be rebuilt. They are checked at the end.
    since : int or None
        Version that the store has; None for an empty file (tests make stores of older versions so).
    srid : int
        EPSG code of the workspace's system.
    now : str
        The moment in UTC, ISO text with Z.
    until : str
        Version to stop at; today's by default.

    Returns
    -------
    tuple of int
        Versions reached, in order.

    Raises
    ------
    StoreError
        If rows would point to rows that aren't there: then nothing may be kept.
    """
    context = MigrationContext.configure(connection, opts={"srid": srid, "now": now})
    reached = []
    with Operations.context(context):
        for revision in _revisions(since, until):
            revision.module.upgrade()
            version = int(revision.revision)
            connection.execute(text("UPDATE geobill_schema SET version = :version"), {"version": version})
            reached.append(version)
    loose = connection.execute(text("PRAGMA foreign_key_check")).fetchall()
    if loose:
        raise StoreError(
            f"After the migration {len(loose)} rows would point to rows that aren't there, the first in {loose[0][0]}: a book "
            "with loose pages is no book. Nothing was changed. Look at the store with geobill doctor, and restore it from a copy."
        )
    return tuple(reached)


def _revisions(since: int | None, until: str) -> list[object]:
    scripts = ScriptDirectory(str(Path(__file__).parent))
    return list(reversed(list(scripts.iterate_revisions(until, BASE if since is None else str(since)))))
