"""Profiles of a workspace: mappings that were saved, in its folder ``profiles``."""

from pathlib import Path

from geobill.errors import StoreError
from geobill.store.settings import replace_file

FOLDER = "profiles"


def own_profiles(root: Path) -> tuple[str, ...]:
    """Names of the profiles that a workspace has, in order."""
    return tuple(sorted(p.stem for p in (root / FOLDER).glob("*.toml")))


def read_profile_text(root: Path, name: str) -> str:
    """Return the text of a workspace's profile; ``name`` is one of `own_profiles`.

    Raises
    ------
    StoreError
        If the file can't be read.
    """
    path = root / FOLDER / f"{name}.toml"
    try:
        return path.read_bytes().decode("utf-8-sig").replace("\r\n", "\n")
    except (OSError, UnicodeDecodeError) as fault:
        raise StoreError(f"{path} can't be read: {fault}. Restore it from a copy, or save the profile again.") from None


def save_profile_text(root: Path, name: str, text: str) -> Path:
    """Write a profile into a workspace, the old one or the new one whole; return where. ``name`` is a checked one."""
    path = root / FOLDER / f"{name}.toml"
    try:
        path.parent.mkdir(exist_ok=True)
    except OSError as fault:
        raise StoreError(f"{path.parent} can't be made: {fault.strerror}.") from None
    replace_file(path, text.encode("utf-8"))
    return path
