"""Statutes by name: those that geobill ships, and a workspace's own in its folder ``statutes``."""

from pathlib import Path

from geobill.errors import LawError, StoreError
from geobill.law.statutes import STATUTES, packaged_text
from geobill.store.settings import replace_file

FOLDER = "statutes"


def own_statutes(root: Path) -> tuple[str, ...]:
    """Names of the statutes that were installed in a workspace, in order."""
    return tuple(sorted(p.stem for p in (root / FOLDER).glob("*.toml")))


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
    path = root / FOLDER / f"{name}.toml"
    try:
        return path.read_bytes().decode("utf-8")
    except (OSError, UnicodeDecodeError) as fault:
        raise StoreError(f"{path} can't be read: {fault}. Restore it from a copy.") from None


def save_statute(root: Path, name: str, text: str) -> Path:
    """Write a statute into a workspace, the very bytes; return where."""
    path = root / FOLDER / f"{name}.toml"
    try:
        path.parent.mkdir(exist_ok=True)
    except OSError as fault:
        raise StoreError(f"{path.parent} can't be made: {fault.strerror}.") from None
    replace_file(path, text.encode("utf-8"))
    return path
