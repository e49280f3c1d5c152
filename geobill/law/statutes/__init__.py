"""The statutes that geobill ships: one ``.toml`` of dated figures and one module each, listed by hand in STATUTES."""

from importlib.resources import files

from geobill.errors import LawError
from geobill.law.reading import parse_statute
from geobill.law.statutes.street_use import StreetUseLaw

STATUTES: dict[str, type[StreetUseLaw]] = {"caieiras-lei-3057-2001": StreetUseLaw}


def packaged_text(name: str) -> str:
    """Return the text of a statute that geobill ships, by name.

    Raises
    ------
    LawError
        If there is no statute of that name; the known ones are listed.
    """
    if name not in STATUTES:
        raise LawError(f"There is no statute {name!r}. Known: {', '.join(STATUTES)}.")
    return files(__name__).joinpath(name.replace("-", "_") + ".toml").read_text(encoding="utf-8")


def load_statute(name: str) -> StreetUseLaw:
    """Return a statute that geobill ships, by name, with its figures; see :func:`packaged_text` for what is refused."""
    figures = parse_statute(packaged_text(name))
    return STATUTES[name](figures)
