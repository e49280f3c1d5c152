"""A workspace: a folder with ``geobill.toml`` and the embedded store ``cadastre.gpkg``."""

from dataclasses import dataclass
from pathlib import Path

from geobill.errors import InputError, StoreError
from geobill.law.reading import parse_statute
from geobill.store.database import Database, Say
from geobill.store.settings import FILE_NAME, Settings, read_settings, write_settings
from geobill.store.statutes import read_statute

STORE_NAME = "cadastre.gpkg"


@dataclass(frozen=True)
class Workspace:
    """An open workspace."""

    root: Path
    settings: Settings
    database: Database


def init_workspace(root: Path, statute: str, now: str, db: str | None = None) -> Workspace:
    """Make a workspace in a new or empty place; an existing one is never touched.

    Raises
    ------
    InputError
        If the path is a file, holds a workspace already, or asks for a server store, which isn't built yet.
    LawError
        If geobill ships no such statute; a workspace's own is added to it afterwards (``geobill statute new``).
    """
    read_statute(None, statute)
    if db is not None:
        raise InputError(
            f"--db {db}: a store on PostGIS isn't built yet. Leave --db out: the data go into {STORE_NAME} in the workspace."
        )
    if root.exists() and not root.is_dir():
        raise InputError(f"{root} is a file: a workspace is a folder. Name another path.")
    for name in (FILE_NAME, STORE_NAME):
        if (root / name).exists():
            raise InputError(
                f"{root / name} is there already: this folder holds a workspace. Nothing was changed; name another folder."
            )
    try:
        root.mkdir(parents=True, exist_ok=True)
        write_settings(root / FILE_NAME, statute)
    except OSError as fault:
        raise StoreError(
            f"{root} can't be made or written: {fault.strerror}. Choose a folder that you may write."
        ) from None
    try:
        settings = read_settings(root / FILE_NAME)
        return Workspace(root, settings, Database.create(root / STORE_NAME, settings.municipality.srid, now))
    except BaseException:
        (root / FILE_NAME).unlink(missing_ok=True)
        raise


def open_workspace(root: Path, now: str | None = None, say: Say = lambda _: None) -> Workspace:
    """Open an existing workspace; a store of an older version is copied and migrated first.

    See :func:`geobill.store.settings.read_settings` and :meth:`geobill.store.database.Database.open` for what is
    refused, for ``now`` (ISO text with Z) and for ``say``.
    """
    settings = read_settings(root / FILE_NAME)
    parse_statute(read_statute(root, settings.statute))  # a statute that can't be read is said before anything else
    return Workspace(root, settings, Database.open(root / STORE_NAME, settings.municipality.srid, now, say))
