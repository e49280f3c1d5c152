"""Version 2: permits, their acts, decrees with their documents, and who drafted and checked a month."""

import sqlalchemy as sa
from alembic import op

from geobill.store.migrations.steps import guard, register

revision = "2"
down_revision = "1"

TABLES = ("permits", "permit_acts", "decrees", "decree_documents", "month_checks")
LEDGER = ("permit_acts", "decrees", "decree_documents", "month_checks")


def upgrade() -> None:
    """Add the five tables; nothing that is there changes."""
    op.create_table(
        "permits",
        _key(),
        _text("number", unique=True),
        _text("operator", "operators.id"),
        *map(_text, ("process", "service", "project")),
        sa.Column("requested_on", sa.TEXT, nullable=True),
        _text("recorded_at"),
    )
    op.create_table(
        "permit_acts",
        _key(),
        _text("permit", "permits.number"),
        *map(_text, ("kind", "act_on", "done_by", "reference")),
        sa.Column("amount_cents", sa.TEXT, nullable=True),
        *map(_text, ("note", "recorded_at")),
    )
    op.create_table(
        "decrees",
        _key(),
        _text("number", unique=True),
        _text("permit", "permits.number"),
        sa.Column("amends", sa.TEXT, sa.ForeignKey("decrees.number"), nullable=True),
        *map(_text, ("date", "signatory", "published_on")),
        sa.Column("total_cents", _INTEGER, nullable=False),
        *map(_text, ("digest", "record", "recorded_at")),
    )
    op.create_table(
        "decree_documents",
        _key(),
        _text("decree", "decrees.number"),
        *map(_text, ("kind", "file_name", "sha256")),
        sa.Column("content", sa.LargeBinary, nullable=False),
        sa.UniqueConstraint("decree", "kind"),
    )
    op.create_table("month_checks", _key(), *map(_text, ("month", "role", "done_by", "digest", "note", "done_at")))
    for table in TABLES:
        register(table)
    for table in LEDGER:
        guard(table)


_INTEGER = sa.Integer().with_variant(sa.BigInteger(), "postgresql")


def _key() -> sa.Column[int]:
    return sa.Column("fid", _INTEGER, primary_key=True, autoincrement=True)


def _text(name: str, points_to: str | None = None, *, unique: bool = False) -> sa.Column[str]:
    target = () if points_to is None else (sa.ForeignKey(points_to),)
    return sa.Column(name, sa.TEXT, *target, nullable=False, unique=unique or None)
