"""The right to use the street: what was asked for, what the city hall did about it, and the decree that grants it."""

from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from geobill.domain.invoice import DecreeDraft

Day = date  # for a record with a field of the name date, which would hide the type
WORKS_OPINION, LEGAL_OPINION, AUTHORISATION = "works_opinion", "legal_opinion", "authorisation"
DEPOSIT_DEMANDED, DEPOSIT_PAID, DEPOSIT_RELEASED = "deposit_demanded", "deposit_paid", "deposit_released"
FEE_PAID, REMOVED = "fee_paid", "removed"
ACTS: tuple[str, ...] = (
    WORKS_OPINION,  # the works secretariat on the project (art. 2)
    LEGAL_OPINION,  # the legal office on it (arts. 2, 3)
    AUTHORISATION,  # the mayor's (art. 3)
    DEPOSIT_DEMANDED,  # three monthly prices (art. 3 § 2)
    DEPOSIT_PAID,
    DEPOSIT_RELEASED,
    FEE_PAID,  # emolumentos (art. 3 § 1)
    REMOVED,  # the equipment is out of the street
)
REQUESTED, APPROVED, GRANTED = "requested", "approved", "granted"
STATES: tuple[str, ...] = (REQUESTED, APPROVED, GRANTED, REMOVED)


@dataclass(frozen=True)
class Permit:
    """A request for the use of streets (art. 2), by the number that rows of networks and cabinets name.

    ``process`` is the number of the administrative process, ``project`` what is to be built, ``requested_on`` the day
    of the request where it is known.
    """

    number: str
    operator: str
    process: str = ""
    service: str = ""
    project: str = ""
    requested_on: date | None = None


@dataclass(frozen=True)
class Act:
    """One thing that was done about a permit: added, never changed.

    ``by`` is who did or signed it, ``reference`` the paper (opinion, sheet, receipt), ``amount`` reais where money moves.
    """

    permit: str
    kind: str
    on: date
    by: str = ""
    reference: str = ""
    amount: Decimal | None = None
    note: str = ""


@dataclass(frozen=True)
class Decree:
    """A decree as the city hall issued it, or an *apostila* to it (``amends`` names the decree); it never changes.

    ``draft`` is what was granted and at what price: that of its date (art. 6 § 1). ``number`` is the city hall's own.
    """

    number: str
    permit: str
    date: Day
    signatory: str
    published_on: Day
    draft: DecreeDraft
    amends: str | None = None


@dataclass(frozen=True)
class PermitFile:
    """A permit with all its papers, in the order in which they were recorded; ``decrees`` is the decree, then its apostilas."""

    permit: Permit
    acts: tuple[Act, ...] = ()
    decrees: tuple[Decree, ...] = ()

    def acts_of(self, kind: str) -> tuple[Act, ...]:
        """Return the acts of one kind."""
        return tuple(a for a in self.acts if a.kind == kind)

    @property
    def decree(self) -> Decree | None:
        """Return the decree that grants it, None before it is issued."""
        return next((d for d in self.decrees if d.amends is None), None)

    @property
    def published_on(self) -> date | None:
        """Day from which the decree is in force (its publication); None before."""
        return self.decree.published_on if self.decree else None

    @property
    def removed_on(self) -> date | None:
        """Last day on which the equipment stood; None while it stands."""
        return min((a.on for a in self.acts_of(REMOVED)), default=None)

    @property
    def state(self) -> str:
        """Where the permit is: requested, approved (arts. 2, 3), granted by decree, or removed."""
        if self.removed_on is not None:
            return REMOVED
        if self.decree is not None:
            return GRANTED
        approved = all(self.acts_of(kind) for kind in (WORKS_OPINION, LEGAL_OPINION, AUTHORISATION))
        return APPROVED if approved else REQUESTED
