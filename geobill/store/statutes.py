"""Statutes by name: those that geobill ships, and a workspace's own in its folder ``statutes``."""

from pathlib import Path

from geobill.errors import LawError
from geobill.law.statutes import STATUTES, packaged_text
from geobill.store.own_texts import own_names, read_own, save_own

FOLDER = "statutes"


def own_statutes(root: Path) -> tuple[str, ...]:
    """Names of the statutes that were installed in a workspace, in order."""
    return own_names(root, FOLDER)


def read_statute(root: Path | None, name: str) -> str:
    """Return the text of a statute by its name: one that geobill ships, or one of the workspace.

    Raises
    ------
    LawError
        If there is none of that name; the known ones are listed.
    StoreError
        If the file can't be read.
    """
    if name in STATUTES:
        return packaged_text(name)
    own = own_statutes(root) if root is not None else ()
    if name not in own or root is None:
        raise LawError(
            f"There is no statute {name!r}. Known: {', '.join((*STATUTES, *own))}. A law that differs from one of these in figures "
            "only is added with geobill statute new --like NAME FILE.toml."
        )
    return read_own(root, FOLDER, name, "Restore it from a copy.")


def save_statute(root: Path, name: str, text: str) -> Path:
    """Write a statute into a workspace, the very bytes; return where."""
    return save_own(root, FOLDER, name, text)
