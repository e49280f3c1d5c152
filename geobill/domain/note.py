"""Demands beside the month's invoices: credit and difference notes, past months, fines, a year paid at once."""

from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from fractions import Fraction

from geobill.domain.check import Cause
from geobill.domain.dates import BillingMonth
from geobill.domain.invoice import Basis, Held, Line, Suspended
from geobill.domain.money import ROUNDINGS, round_money
from geobill.domain.network import Authority, Operator
from geobill.domain.record import added

CREDIT, DIFFERENCE, RETROACTIVE, FINE, SINGLE_PAYMENT = "credit", "difference", "retroactive", "fine", "single_payment"
NOTES: tuple[str, ...] = (
    CREDIT,  # the month costs less than was demanded
    DIFFERENCE,  # it costs more
    RETROACTIVE,  # past months of a case (arts. 10 § 3, 12 §§ 2, 3)
    FINE,  # daily fine of a case (art. 9 § 2)
    SINGLE_PAYMENT,  # the year in one payment (art. 8, sole paragraph)
)
CHARGED_SINCE = (
    "charged_since"  # besides the causes of a comparison: what another note demanded since the last correction
)
COURT = "suspended"  # the cause of a comparison that is a court's order
ZERO = Decimal("0.00")


@dataclass(frozen=True)
class NoteLine:
    """One month of a note: what it costs as computed now, what was demanded for it before, and the difference.

    ``amount = now - before``, in reais. ``lines`` are the month's lines that make up ``now`` (a fine has none: ``now`` is
    ``rate × base × days``). ``invoice`` is the number of the invoice that is corrected, None where the month had none.
    ``causes`` say why ``now`` differs from ``before`` and add up to ``amount``. ``suspended`` is what a court keeps from being
    demanded of the month: it is no part of ``now``.
    """

    month: BillingMonth
    what: str
    now: Decimal
    before: Decimal
    amount: Decimal
    articles: tuple[str, ...]
    invoice: str | None = None
    edition: str | None = None
    reducer: str | None = None
    lines: tuple[Line, ...] = ()
    rate: Decimal | None = None
    base: Decimal | None = None
    days: int | None = None
    first_day: date | None = None
    last_day: date | None = None
    causes: tuple[Cause, ...] = added(())
    suspended: tuple[Suspended, ...] = added(())

    @property
    def reduced_by_court(self) -> Decimal:
        """Return how much of a reduction is a court's order and so no credit, in reais; a month without causes has no other part.

        Never more than the reduction itself: what costs more for another cause takes from it.
        """
        if self.causes:
            by_court = -sum((c.amount for c in self.causes if c.cause == COURT), ZERO)
        else:
            by_court = sum((s.total for s in self.suspended), ZERO)
        return max(min(by_court, -self.amount), ZERO)

    def rounding(self, usual: str) -> str:
        """Return how the month's lines were rounded: as the note says of all (``usual``), else as only that gives their amounts.

        A note prints one policy, and months of one note may stand under several (``policy set --since``).
        """
        modes = (usual, *(r for r in ROUNDINGS if r != usual))
        return next((r for r in modes if self._gives(r)), usual)

    def _gives(self, rounding: str) -> bool:
        if self.rate is not None and self.base is not None and self.days is not None:
            return round_money(Fraction(self.rate) * Fraction(self.base) * self.days, rounding) == self.now
        return all(round_money(line.exact, rounding) == line.amount for line in self.lines)


@dataclass(frozen=True)
class Note:
    """An issued note; it never changes and has a number of the same gapless series as the invoices.

    ``cause`` says why in Portuguese, ``by`` who had it issued, ``case`` names the case file of past months and fines.
    ``total`` is the sum of the lines: negative on a credit note. ``due_on`` is None where nothing is to be paid. ``held``
    are past months that wait for a decision (``limitation``), charged to nobody.
    """

    number: str
    kind: str
    issued_on: date
    due_on: date | None
    authority: Authority
    operator: Operator
    basis: Basis
    cause: str
    lines: tuple[NoteLine, ...]
    total: Decimal
    held: tuple[Held, ...] = ()
    case: str | None = None
    digest: str = ""
    remark: str = added("")
    by: str = added("")

    @property
    def suspended(self) -> tuple[Suspended, ...]:
        """Return what courts keep from being demanded of its months, in the order of the months."""
        return tuple(s for line in self.lines for s in line.suspended)

    @property
    def reduced_by_court(self) -> Decimal:
        """Return how much of a credit note is no credit of the entity, since a court only suspends the demand, in reais."""
        return max(min(sum((line.reduced_by_court for line in self.lines), ZERO), -self.total), ZERO)
