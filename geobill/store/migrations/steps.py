"""What revisions share: a table made known to GeoPackage, and guarded where the ledger only grows."""

from typing import Any

from alembic import op
from sqlalchemy import text


def register(table: str) -> None:
    """Enter a table without geometry in ``gpkg_contents``, so that GDAL and QGIS list it."""
    op.get_bind().execute(
        text("INSERT INTO gpkg_contents VALUES (:table, 'attributes', :table, '', :now, NULL, NULL, NULL, NULL, NULL)"),
        {"table": table, "now": moment()},
    )


def guard(table: str) -> None:
    """Refuse every change and removal of a ledger table's rows."""
    for verb in ("UPDATE", "DELETE"):
        op.execute(
            f"CREATE TRIGGER {table}_no_{verb.lower()} BEFORE {verb} ON {table} BEGIN SELECT RAISE(ABORT, "
            f"'the ledger only grows: a row of {table} is never changed or removed'); END"
        )


def given(name: str) -> Any:
    """Return what the caller handed to all revisions: ``srid`` or ``now``."""
    return op.get_context().opts[name]


def moment() -> str:
    """Return ``now`` with a fraction of a second, as GeoPackage wants it (requirement 15)."""
    now = str(given("now"))
    return now if "." in now else now.replace("Z", ".000Z")
