"""Rows that are set aside still, written for those who can put them right; nothing here decides about a row."""

from pathlib import Path

from sqlalchemy import Connection

from geobill.documents.quarantine import Quarantine, quarantine_gpkg, quarantine_xlsx
from geobill.errors import InputError, StoreError
from geobill.intake.columns import nearest
from geobill.pipeline.kept_options import kept_options
from geobill.store.batches import Batches
from geobill.store.settings import replace_file
from geobill.store.workspace import Workspace

FOLDER = "quarantine"


def load_quarantine(workspace: Workspace, connection: Connection, batch: str, now: str) -> Quarantine | None:
    """Return what is set aside of a batch still, over an open transaction; None where nothing is."""
    batches = Batches(connection, workspace.database.tables)
    rows = batches.load_open(batch)
    if not len(rows):
        return None
    one = batches.load()[batch]
    keys: dict[str, str] = {}
    for options in kept_options(one.options).values():
        keys = {**options.mapping, **keys}
    crs = workspace.settings.municipality.crs
    return Quarantine(batch, one.file, one.operator or "", rows, batches.load_columns(batch), crs, now, keys, one.kind)


def write_quarantine(
    workspace: Workspace, found: Quarantine | None, stem: str, folder: Path | None = None
) -> tuple[str, ...]:
    """Write a batch's rows as ``STEM.gpkg`` and ``STEM.xlsx``, each whole or not at all; return the paths.

    Called after what was imported is kept. ``stem`` is the id of a batch, and nothing else goes into a name.

    Raises
    ------
    StoreError
        If a file can't be written; the import stands all the same.
    """
    if found is None:
        return ()
    place = folder or workspace.root / FOLDER
    try:
        place.mkdir(parents=True, exist_ok=True)
        paths = []
        for suffix, render in ((".gpkg", quarantine_gpkg), (".xlsx", quarantine_xlsx)):
            paths.append(place / f"{stem}{suffix}")
            replace_file(paths[-1], render(found))
    except Exception as fault:  # whatever a library says: the import is kept, and "nothing was changed" would be untrue
        raise StoreError(
            f"The batch {stem} is imported and kept; only its quarantine can't be written ({type(fault).__name__}: {fault}). "
            f"Make room or give another folder: geobill batch quarantine {found.batch} --out DIR."
        ) from None
    return tuple(str(path) for path in paths)


def write_quarantine_again(workspace: Workspace, batch: str, out: Path | None, now: str) -> tuple[str, ...]:
    """Write what is set aside of a batch still, as it stands now.

    Raises
    ------
    InputError
        If there is no such batch, it is an amendment or isn't in force, or nothing is set aside of it.
    """
    with workspace.database.read() as connection:
        batches = Batches(connection, workspace.database.tables)
        known = batches.load()
        if batch not in known:
            raise InputError(f"There is no batch {batch!r}.{nearest(batch, known)} geobill batch list names them.")
        one = known[batch]
        if one.amends is not None:
            raise InputError(
                f"{batch} amends {one.amends}, and what is open stays with that batch: geobill batch quarantine {one.amends}."
            )
        if one.ended is not None:
            raise InputError(f"{batch} isn't in force ({one.state}): nothing of it is to be answered any more.")
        found = load_quarantine(workspace, connection, batch, now)
    if found is None:
        raise InputError(f"Nothing of {batch} is set aside any more: there is nothing to write.")
    return write_quarantine(workspace, found, batch, out)
