"""Notes on what courts have said about the charge, by kind of utility: they warn a person, and change no amount."""

import re
import tomllib
from dataclasses import dataclass
from datetime import date
from functools import cache
from importlib.resources import files
from typing import Any

from geobill.domain.suspension import service_key


@dataclass(frozen=True)
class LegalRisk:
    """One note.

    ``services`` are beginnings of words by which a kind of service is known; ``favours`` is ``operator`` or ``city``.
    ``date`` is the decision's day or year, "" where the sources at hand give none. ``says`` is for the screen, ``diz``
    the same in Portuguese.
    """

    id: str
    utility: str
    services: tuple[str, ...]
    court: str
    reference: str
    date: str
    favours: str
    says: str
    diz: str

    def concerns(self, service: str | None) -> bool:
        """Whether it speaks of a kind of service."""
        key = service_key(service)
        return any(re.search(rf"\b{re.escape(word)}", key) for word in self.services)


@dataclass(frozen=True)
class LegalRisks:
    """All notes, with the day up to which somebody looked, and who."""

    checked_on: date
    checked_by: str
    notes: tuple[LegalRisk, ...]


@cache
def load_risks() -> LegalRisks:
    """Return the notes that come with geobill."""
    raw = tomllib.loads(files("geobill.law").joinpath("legal_risk.toml").read_text(encoding="utf-8"))
    return LegalRisks(raw["checked_on"], raw["checked_by"], tuple(_note(r) for r in raw["risk"]))


def _note(raw: dict[str, Any]) -> LegalRisk:
    return LegalRisk(**{**raw, "services": tuple(raw["services"])})
