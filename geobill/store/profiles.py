"""Profiles of a workspace: mappings that were saved, in its folder ``profiles``."""

from pathlib import Path

from geobill.store.own_texts import own_names, read_own, save_own

FOLDER = "profiles"


def own_profiles(root: Path) -> tuple[str, ...]:
    """Names of the profiles that a workspace has, in order."""
    return own_names(root, FOLDER)


def read_profile_text(root: Path, name: str) -> str:
    """Return the text of a workspace's profile, without what Notepad adds; ``name`` is one of `own_profiles`.

    Raises
    ------
    StoreError
        If the file can't be read.
    """
    text = read_own(root, FOLDER, name, "Restore it from a copy, or save the profile again.")
    return text.removeprefix("\ufeff").replace("\r\n", "\n")


def save_profile_text(root: Path, name: str, text: str) -> Path:
    """Write a profile into a workspace; return where. ``name`` is a checked one."""
    return save_own(root, FOLDER, name, text)
