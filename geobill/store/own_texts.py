"""TOML files that a workspace has of its own, in a folder for each kind: statutes, profiles."""

from pathlib import Path

from geobill.errors import StoreError
from geobill.store.settings import replace_file


def own_names(root: Path, folder: str) -> tuple[str, ...]:
    """Names of a workspace's files of one kind, in order."""
    return tuple(sorted(p.stem for p in (root / folder).glob("*.toml")))


def read_own(root: Path, folder: str, name: str, remedy: str) -> str:
    """Return the very text of a file; ``name`` is one of `own_names`, ``remedy`` what to do where it can't be read.

    Raises
    ------
    StoreError
        If the file can't be read.
    """
    path = root / folder / f"{name}.toml"
    try:
        return path.read_bytes().decode("utf-8")
    except (OSError, UnicodeDecodeError) as fault:
        raise StoreError(f"{path} can't be read: {fault}. {remedy}") from None


def save_own(root: Path, folder: str, name: str, text: str) -> Path:
    """Write the very text, the old file or the new one whole; return where. ``name`` is a checked one.

    Raises
    ------
    StoreError
        If the folder can't be made or the file can't be written.
    """
    path = root / folder / f"{name}.toml"
    try:
        path.parent.mkdir(exist_ok=True)
    except OSError as fault:
        raise StoreError(f"{path.parent} can't be made: {fault.strerror}.") from None
    replace_file(path, text.encode("utf-8"))
    return path
