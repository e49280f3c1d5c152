"""A store copied beside itself before it is migrated: whole, on the disk, and found sound."""

import os
import sqlite3
from contextlib import closing, suppress
from pathlib import Path

from geobill.errors import StoreError

PAGES_AT_ONCE = 4096


def copy_beside(path: Path, version: int, now: str) -> Path:
    """Copy a store to ``cadastre.vN-YYYYMMDDThhmmssZ.gpkg`` in its folder.

    The caller holds the store's write lock, so that the copy is what is migrated and nobody else copies meanwhile. It
    gets its name when it is complete, forced to the disk and checked; until then it is a hidden ``.part``.

    Parameters
    ----------
    path : Path
        The store.
    version : int
        Its schema version, for the name.
    now : str
        The moment in UTC, ISO text with Z, for the name.

    Returns
    -------
    Path
        The copy; one that is there already is never written over.

    Raises
    ------
    StoreError
        If the store is damaged: then it must be restored, not migrated.
    OSError, sqlite3.Error
        If the copy can't be written; nothing of it is left.
    """
    stem = f"{path.stem}.v{version}-{now.replace('-', '').replace(':', '')}"
    for left in path.parent.glob(
        f".{path.stem}.v*.part*"
    ):  # by a run that was cut off, and its journal: we hold the lock
        left.unlink()
    target = next(p for p in _names(path, stem) if not p.exists())
    partial = target.with_name(f".{target.name}.part")
    try:
        _copy(path, partial)
        partial.replace(target)
        _flush_folder(path.parent)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise
    return target


def _copy(path: Path, partial: Path) -> None:
    with closing(sqlite3.connect(path)) as source, closing(sqlite3.connect(partial)) as copy:
        source.backup(copy, pages=PAGES_AT_ONCE, progress=_progress)
        copy.execute("PRAGMA journal_mode = DELETE")  # a log that QGIS left in the store's header stays out of the copy
        said = [row[0] for row in copy.execute("PRAGMA integrity_check")]
    if said != ["ok"]:
        raise StoreError(
            f"{path} is damaged (SQLite: {said[0]}): invoices in it could be lost on the way to a new version. Nothing was "
            "changed. Restore it from a copy; geobill doctor says what is wrong."
        )
    with partial.open("rb+") as file:
        os.fsync(file.fileno())


def _progress(status: int, remaining: int, total: int) -> None:
    """Take SQLite's reports on the copy; tests cut the power here."""


def _names(path: Path, stem: str) -> list[Path]:
    return [path.with_name(f"{stem}{more}{path.suffix}") for more in ("", *(f"-{n}" for n in range(2, 1000)))]


def _flush_folder(folder: Path) -> None:
    """Force a new name to the disk, where the system can (Windows can't open a folder)."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
