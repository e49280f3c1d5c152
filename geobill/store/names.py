"""Names in a store, read at once and through SQLite alone: a shell asks for them at each press of the Tab key."""

import sqlite3
from contextlib import closing
from pathlib import Path

WAIT_S = 0.2


def operator_ids(path: Path) -> list[str]:
    """Ids of a store's operators, in order; none where it can't be read at once (nobody reads a message there)."""
    return _read(path, "SELECT id FROM operators ORDER BY id")


def decision_ids(path: Path) -> list[str]:
    """Ids of a store's recorded decisions, in order; none where it can't be read at once."""
    return _read(path, "SELECT id FROM decisions ORDER BY id")


def batch_ids(path: Path) -> list[str]:
    """Ids of a store's imports, the last first; none where it can't be read at once."""
    return _read(path, "SELECT id FROM batches ORDER BY fid DESC")


def _read(path: Path, query: str) -> list[str]:
    try:
        address = f"{path.resolve().as_uri()}?mode=ro"
        with closing(sqlite3.connect(address, uri=True, timeout=WAIT_S)) as connection:
            return [row[0] for row in connection.execute(query)]
    except sqlite3.Error:
        return []
