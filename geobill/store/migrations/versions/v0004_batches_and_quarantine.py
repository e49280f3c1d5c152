"""Version 4: what becomes of a batch is a list of acts; rows set aside keep their columns and their geometry.

``batches`` loses ``replaced_by``, which was written over, and says how its file was read and what it amends.
"""

from alembic import op

from geobill.store.migrations.steps import guard, register

revision = "4"
down_revision = "3"

ACTS = """CREATE TABLE batch_acts ( fid INTEGER NOT NULL, batch TEXT NOT NULL, kind TEXT NOT NULL, other TEXT, done_by TEXT
        NOT NULL, note TEXT NOT NULL, recorded_at TEXT NOT NULL, PRIMARY KEY (fid), FOREIGN KEY(batch) REFERENCES batches
        (id), FOREIGN KEY(other) REFERENCES batches (id) )"""
BATCHES = """CREATE TABLE batches ( fid INTEGER NOT NULL, id TEXT NOT NULL, kind TEXT NOT NULL, file TEXT NOT NULL, layer
        TEXT NOT NULL, sha256 TEXT NOT NULL, operator TEXT, read INTEGER NOT NULL, accepted INTEGER NOT NULL, length_m
        TEXT NOT NULL, report TEXT NOT NULL, imported_at TEXT NOT NULL, format TEXT NOT NULL, encoding TEXT NOT NULL,
        options TEXT, amends TEXT, PRIMARY KEY (fid), UNIQUE (id), FOREIGN KEY(operator) REFERENCES operators (id),
        FOREIGN KEY(amends) REFERENCES batches (id) )"""
SET_ASIDE = """CREATE TABLE set_aside ( fid INTEGER NOT NULL, batch TEXT NOT NULL, source_row INTEGER NOT NULL, row_id TEXT
        NOT NULL, reason_code TEXT NOT NULL, reason TEXT NOT NULL, layer TEXT NOT NULL, layer_row INTEGER NOT NULL,
        original TEXT, wkb BLOB, PRIMARY KEY (fid), FOREIGN KEY(batch) REFERENCES batches (id) )"""


def upgrade() -> None:
    """Add the acts, beginning with what was replaced so far, and rebuild two tables."""
    op.execute(ACTS)
    register("batch_acts")
    op.execute("CREATE INDEX ix_batch_acts_batch ON batch_acts (batch)")
    op.execute(
        "INSERT INTO batch_acts (batch, kind, other, done_by, note, recorded_at) SELECT b.id, 'replaced', n.id, '', '', "
        "n.imported_at FROM batches b JOIN batches n ON n.id = b.replaced_by ORDER BY n.fid, b.fid"
    )
    _rebuild(
        "batches",
        BATCHES,
        "fid, id, kind, file, layer, sha256, operator, read, accepted, length_m, report, imported_at, format, encoding",
        "fid, id, kind, file, layer, sha256, operator, read, accepted, length_m, report, imported_at, '', ''",
    )
    _rebuild(
        "set_aside",
        SET_ASIDE,
        "fid, batch, source_row, row_id, reason_code, reason, layer, layer_row",
        "fid, batch, source_row, row_id, reason_code, reason, (SELECT layer FROM batches WHERE id = batch), source_row",
    )
    op.execute("CREATE INDEX ix_set_aside_batch ON set_aside (batch)")
    guard("batch_acts")
    op.execute(
        "CREATE TRIGGER batch_acts_no_replace BEFORE INSERT ON batch_acts WHEN EXISTS (SELECT 1 FROM batch_acts WHERE fid = "
        "NEW.fid) BEGIN SELECT RAISE(ABORT, 'UNIQUE: the ledger only grows: a row of batch_acts is never changed or removed'); END"
    )


def _rebuild(name: str, statement: str, columns: str, values: str) -> None:
    op.execute(f"CREATE TEMP TABLE kept AS SELECT * FROM main.{name}")
    op.execute(f"DROP TABLE main.{name}")
    op.execute(statement)
    op.execute(f"INSERT INTO main.{name} ({columns}) SELECT {values} FROM temp.kept")
    op.execute("DROP TABLE temp.kept")
