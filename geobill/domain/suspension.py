"""What a court keeps from being charged: which articles, of whom, where, for how long and to what effect."""

from dataclasses import dataclass
from datetime import date

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

    def _before_lifting(self) -> date | None:
        return None if self.lifting is None else date.fromordinal(self.lifting.on.toordinal() - 1)
