"""The statutes that geobill knows: one ``.toml`` of dated figures and one module each, listed by hand in STATUTES."""

from importlib.resources import files

from geobill.errors import LawError
from geobill.law.figures import parse_statute
from geobill.law.statutes.street_use import StreetUseLaw

STATUTES: dict[str, type[StreetUseLaw]] = {"caieiras-lei-3057-2001": StreetUseLaw}


def load_statute(name: str) -> StreetUseLaw:
    """Return a statute by name, with its figures.

    Raises
    ------
    LawError
        If there is no statute of that name; the known ones are listed.
    """
    if name not in STATUTES:
        raise LawError(f"There is no statute {name!r}. Known: {', '.join(STATUTES)}.")
    text = files(__name__).joinpath(name.replace("-", "_") + ".toml").read_text(encoding="utf-8")
    return STATUTES[name](parse_statute(text))
