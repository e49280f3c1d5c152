"""An index by which a law lets its prices follow the value of money: a table of values, each from its month on."""

from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from fractions import Fraction

from geobill.domain.dates import BillingMonth
from geobill.domain.money import round_money
from geobill.errors import LawError

STEPS: tuple[str, ...] = ("monthly", "yearly")


@dataclass(frozen=True)
class Index:
    """A table of values that adjusts figures of price.

    ``values`` holds, by month, the value that applies from that month's first day on; the town's own rule about which
    month's index applies when is in how the table is keyed. ``step`` is ``monthly``, or ``yearly``: then a figure changes
    once a year, in the month of the year of its base month.
    """

    name: str
    article: str
    act: str
    base_month: BillingMonth
    step: str
    adjusts: tuple[str, ...]
    values: tuple[tuple[BillingMonth, Decimal], ...]

    def month_on(self, on: date, base: BillingMonth) -> BillingMonth | None:
        """Month whose value applies on a day to a figure that stands since a base month; None before it."""
        month = BillingMonth.of(on)
        if month < base:
            return None
        if self.step == "monthly":
            return month
        return BillingMonth(on.year - (month.month < base.month), base.month)

    def adjusted(self, figure: Decimal, on: date, base: BillingMonth) -> Decimal:
        """Return a price times the index's value over that of the base month, rounded half up to the cent, once.

        Parameters
        ----------
        figure : Decimal
            The price in reais as its act set it.
        on : date
            Day whose price is asked for.
        base : BillingMonth
            Month since which the figure stands, where it isn't the index's own.

        Raises
        ------
        LawError
            Where the table lacks the month that is needed: an older value is never carried over.
        """
        month = self.month_on(on, base)
        if month is None:
            return figure
        return round_money(Fraction(figure) * Fraction(self._value(month)) / Fraction(self._value(base)))

    def _value(self, month: BillingMonth) -> Decimal:
        known = dict(self.values)
        if month not in known:
            last = max(known)
            raise LawError(
                f"The index {self.name} (art. {self.article}) has no value for {month}; its table ends with {last}. "
                "A value isn't carried over into a month that nobody looked up. Enter the published one: "
                f"geobill law amend --index {self.name} --month {month} --value V --act TEXT --article A --file ACT.pdf --by NAME."
            )
        return known[month]
