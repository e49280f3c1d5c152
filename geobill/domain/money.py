"""Money: exact decimals in reais, rounded once, kept as whole cents in the store."""

from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal, localcontext
from fractions import Fraction

CENT = Decimal("0.01")
ROUNDINGS = {"half_up": ROUND_HALF_UP, "half_even": ROUND_HALF_EVEN}


def round_money(amount: Decimal | Fraction, rounding: str = "half_up") -> Decimal:
    """Round an exact amount to the cent: the one rounding that an amount ever undergoes.

    Parameters
    ----------
    amount : Decimal or Fraction
        Exact amount in reais; 0 or more.
    rounding : {"half_up", "half_even"}
        The workspace's policy ``rounding``.

    Returns
    -------
    Decimal
        Reais with two decimals.

    Examples
    --------
    >>> round_money(Decimal("0.045")), round_money(Decimal("0.045"), "half_even")
    (Decimal('0.05'), Decimal('0.04'))
    >>> round_money(Fraction(1, 3))
    Decimal('0.33')
    """
    cents, rest = divmod(Fraction(amount) * 100, 1)
    half = rest - Fraction(1, 2)
    up = half > 0 or (half == 0 and (rounding == "half_up" or cents % 2 == 1))
    if rounding not in ROUNDINGS:
        raise ValueError(f"rounding {rounding!r} is none of {sorted(ROUNDINGS)}")
    return from_cents(int(cents) + up)


def to_cents(amount: Decimal) -> int:
    """Whole cents of an amount in reais that has at most two decimals.

    Examples
    --------
    >>> to_cents(Decimal("14086.35"))
    1408635
    """
    cents = amount.scaleb(2)
    if cents != cents.to_integral_value():
        raise ValueError(f"{amount} has fractions of a cent: an amount is rounded before it is booked")
    return int(cents)


def from_cents(cents: int) -> Decimal:
    """Reais with two decimals from whole cents."""
    with localcontext() as exact:
        exact.prec = 60
        return Decimal(cents).scaleb(-2)


def plain(number: Decimal) -> str:
    """Write a decimal as plain digits, never in exponent form, as the JSON contract wants it.

    Examples
    --------
    >>> plain(Decimal("1E+3")), plain(Decimal("0.50"))
    ('1000', '0.50')
    """
    return format(number, "f")
