"""What a court keeps from being charged: which articles, of whom, where, for how long and to what effect."""

import unicodedata
from dataclasses import dataclass
from datetime import date

from geobill.domain.dates import BillingMonth

ACCRUES, NOT_CHARGED, JUDICIAL_DEPOSIT = "accrues", "not_charged", "judicial_deposit"
EFFECTS: tuple[str, ...] = (
    ACCRUES,  # priced month by month, not demandable while it lasts
    NOT_CHARGED,  # priced to be shown, not owed
    JUDICIAL_DEPOSIT,  # paid into court, not to the city hall
)
INJUNCTION, FINAL, MODULATED = "injunction", "final", "modulated"
KINDS: tuple[str, ...] = (INJUNCTION, FINAL, MODULATED)


@dataclass(frozen=True)
class Suspension:
    """An order of a court, as recorded; it never changes.

    ``articles`` are those disapplied (``7``, ``7 § 2``, ``10 § 2``, ``12 § 3``; ``7`` takes the whole price). ``operator``
    or ``service`` says whose equipment it is (either or both), ``permit`` and ``area_wkt`` (polygons in the workspace's
    system) narrow it. ``from_on`` is its first day and ``until_on`` its last, None while it has no end.
    """

    id: str
    court_case: str
    court: str
    kind: str
    effect: str
    articles: tuple[str, ...]
    from_on: date
    until_on: date | None = None
    operator: str | None = None
    service: str | None = None
    permit: str | None = None
    area_wkt: str | None = None
    note: str = ""


@dataclass(frozen=True)
class Lifting:
    """The end of a suspension: from which day, which months come back (first and last, or none), and whether late charges run."""

    suspension: str
    on: date
    by: str
    reference: str
    months_from: str | None
    months_until: str | None
    late_charges: bool
    note: str = ""

    def brings_back(self, month: BillingMonth) -> bool:
        """Whether a month comes back."""
        if self.months_from is None or self.months_until is None:
            return False
        return self.months_from <= str(month) <= self.months_until


@dataclass(frozen=True)
class SuspensionFile:
    """A suspension with its lifting, if it was lifted."""

    suspension: Suspension
    lifting: Lifting | None = None

    @property
    def last_day(self) -> date | None:
        """Last day on which it has effect: its own end, or the day before it was lifted."""
        ends = [d for d in (self.suspension.until_on, self._before_lifting()) if d is not None]
        return min(ends) if ends else None

    def in_month(self, month: BillingMonth) -> tuple[int, int] | None:
        """First and last day of a month on which it has effect; None for no day, and for a month that came back.

        A lifting says which months come back: those are priced as if there had been no order, when a person bills them.
        """
        if self.lifting is not None and self.lifting.brings_back(month):
            return None
        first, last = month.days_of_month(self.suspension.from_on, self.last_day)
        return (first, last) if first <= last else None

    def _before_lifting(self) -> date | None:
        return None if self.lifting is None else date.fromordinal(self.lifting.on.toordinal() - 1)


def service_key(service: str | None) -> str:
    """Kind of service as it is compared: without capitals, accents and outer blanks; "" where none is named.

    Examples
    --------
    >>> service_key(" Telecomunicações "), service_key(None)
    ('telecomunicacoes', '')
    """
    plain = unicodedata.normalize("NFKD", (service or "").casefold())
    return " ".join("".join(c for c in plain if not unicodedata.combining(c)).split())
