"""What a law asks of whoever pays late: a fine, once, and interest by the month."""

from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from fractions import Fraction

from geobill.domain.dates import months_after
from geobill.domain.money import round_money

COUNTED: tuple[str, ...] = ("started_months", "full_months", "daily")
ZERO = Decimal("0.00")


@dataclass(frozen=True)
class LateCharge:
    """Fine and interest in reais, each rounded once, half up; ``months`` is what the interest counts."""

    fine: Decimal
    interest: Decimal
    months: Fraction
    articles: tuple[str, ...]


def late_charge(
    amount: Decimal,
    due_on: date,
    paid_on: date,
    fine_share: Decimal,
    interest_per_month: Decimal,
    counted: str,
    articles: tuple[str, ...],
) -> LateCharge:
    """Fine and simple interest of an amount paid late; both are 0 for one paid in time.

    Parameters
    ----------
    amount : Decimal
        What was due, in reais.
    due_on, paid_on : date
        Last day for paying it, and the day on which it was paid.
    fine_share, interest_per_month : Decimal
        Shares of the amount; 0 where the law has none.
    counted : {"started_months", "full_months", "daily"}
        Which months bear interest: each that has begun, each that is over, or days as thirtieths of a month.
    articles : tuple of str
        The ones that ground the charge.

    Examples
    --------
    >>> late = late_charge(
    ...     Decimal("1000.00"), date(2026, 1, 20), date(2026, 3, 2), Decimal("0.02"), Decimal("0.01"), "started_months", ("11",)
    ... )
    >>> late.fine, late.interest, late.months
    (Decimal('20.00'), Decimal('20.00'), Fraction(2, 1))
    """
    if paid_on <= due_on:
        return LateCharge(ZERO, ZERO, Fraction(0), articles)
    months = _months(due_on, paid_on, counted)
    return LateCharge(
        round_money(Fraction(amount) * Fraction(fine_share)),
        round_money(Fraction(amount) * Fraction(interest_per_month) * months),
        months,
        articles,
    )


def _months(due_on: date, paid_on: date, counted: str) -> Fraction:
    if counted == "daily":
        return Fraction((paid_on - due_on).days, 30)
    full = (paid_on.year - due_on.year) * 12 + paid_on.month - due_on.month
    if months_after(due_on, full) > paid_on:
        full -= 1
    started = counted == "started_months" and months_after(due_on, full) < paid_on
    return Fraction(full + started)
