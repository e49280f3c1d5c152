"""What the city hall adds to a statute's text: acts that change a figure, and who looked whether it still stands."""

from dataclasses import dataclass
from datetime import date


@dataclass(frozen=True)
class Amendment:
    """A figure as a later act set it. ``figure`` is the TOML text of one ``[[amendment]]`` table; ``paper`` the act's SHA-256."""

    id: str
    statute: str
    name: str
    figure: str
    act: str
    in_force_from: date
    paper: str
    file_name: str
    by: str = ""


@dataclass(frozen=True)
class Confirmation:
    """Somebody looked: no act has changed the statute's figures up to and including ``until``."""

    statute: str
    until: date
    by: str
    at: str
    note: str = ""
