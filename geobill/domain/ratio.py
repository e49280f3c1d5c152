"""A factor printed as a fraction of two measured figures, because its decimal form has no end."""

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from geobill.domain.money import plain


@dataclass(frozen=True)
class Ratio:
    """A fraction of two decimals, printed and applied as it stands: first multiplied, then divided, never rounded.

    Examples
    --------
    >>> str(Ratio(Decimal("5900.00"), Decimal("6000.00")))
    '5900.00/6000.00'
    """

    numerator: Decimal
    denominator: Decimal

    @classmethod
    def parse(cls, text: str) -> "Ratio":
        """Read what ``str`` wrote."""
        above, below = text.split("/")
        return cls(Decimal(above), Decimal(below))

    def __str__(self) -> str:
        return f"{plain(self.numerator)}/{plain(self.denominator)}"


def fraction(factor: Decimal | Ratio) -> Fraction:
    """Exact value of a factor in either form.

    Examples
    --------
    >>> fraction(Ratio(Decimal("5900.00"), Decimal("6000.00"))), fraction(Decimal("0.90"))
    (Fraction(59, 60), Fraction(9, 10))
    """
    if isinstance(factor, Ratio):
        return Fraction(factor.numerator) / Fraction(factor.denominator)
    return Fraction(factor)
