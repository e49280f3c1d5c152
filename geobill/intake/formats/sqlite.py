"""What GeoPackage and SpatiaLite have in common: one SQLite file, a head that tells its size, a log beside it.

Reference: SQLite file format, section 1.3 (the database header).
"""

import re
import sqlite3
import struct
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import quote

from geobill.errors import InputError
from geobill.intake.formats.base import Format, broken

MARK = re.compile(rb"SQLite format 3\0")
# modules of virtual tables that look into the file itself: indexes in space and in text; others open other files
_OWN_MODULES = (
    "rtree",
    "fts",
    "virtualspatialindex",
    "virtualelementary",
    "virtualknn",
    "virtualrouting",
    "virtualnetwork",
)
_MODULE = re.compile(r"\busing\s+[\"'`\[]?(\w+)", re.IGNORECASE)


def log_of(path: Path) -> Path | None:
    """Return the write-ahead log beside a database that somebody still has open, or left so; None without one."""
    log = path.with_name(path.name + "-wal")
    return log if log.is_file() and log.stat().st_size else None


class SQLiteFormat(Format):
    """A format that is one SQLite file."""

    fid_is_column = True
    mark = MARK

    def parts(self, path: Path) -> tuple[Path, ...]:
        """Return the file, and the write-ahead log beside it where somebody still has it open in QGIS."""
        log = log_of(path)
        return (path,) if log is None else (path, log)


@contextmanager
def opened(path: Path) -> Iterator[sqlite3.Connection]:
    """Open a database to look into it; nothing is written, not even beside it."""
    where = f"file:{quote(str(path.resolve()))}?mode=ro&immutable=1"
    with closing(sqlite3.connect(where, uri=True)) as database:
        database.text_factory = lambda raw: raw.decode("utf-8", "replace")
        yield database


def check_pages(path: Path, which: str) -> None:
    """Compare the pages that the head promises with the size of the file, or refuse the file as broken."""
    with path.open("rb") as file:
        head = file.read(100)
    if not MARK.match(head) or len(head) < 100:
        raise broken(path, f"it isn't an SQLite file, {which}")
    page = struct.unpack_from(">H", head, 16)[0]
    changes, pages, counted_at = (struct.unpack_from(">I", head, at)[0] for at in (24, 28, 92))
    promised, size = pages * (65536 if page == 1 else page), path.stat().st_size
    if changes == counted_at and promised > size and log_of(path) is None:
        raise broken(path, f"it promises {promised} bytes and has {size}")


def check_whole(path: Path) -> None:
    """Walk all pages of a database, or refuse it as broken: the file library ends at a bad page without a word.

    Where a log stands beside the file, its own pages may be old; the library puts both together.
    """
    if log_of(path) is not None:
        return
    with opened(path) as database:
        found = database.execute("PRAGMA quick_check(1)").fetchone()
    if found is not None and found[0] != "ok":
        raise broken(path, " ".join(str(found[0]).replace("***", "").split()))


def refuse_links(path: Path) -> None:
    """Refuse a database whose virtual tables open other files of the machine that reads it."""
    with opened(path) as database:
        rows = database.execute("SELECT name, sql FROM sqlite_master WHERE sql LIKE 'create virtual%'").fetchall()
    for name, sql in rows:
        module = _MODULE.search(str(sql))
        if module is None or not module[1].lower().startswith(_OWN_MODULES):
            raise InputError(
                f"{path.name}: the table {name} is a window on another file ({module[1] if module else 'of no known kind'}), which "
                "would be read from this machine. Save that layer as a table of its own and send the file again."
            )
