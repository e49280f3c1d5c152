"""What a statute asks for, factor by factor, and what it leaves open."""

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from geobill.domain.ratio import Ratio, fraction


@dataclass(frozen=True)
class Asked:
    """An exact amount as a product of printed factors.

    ``exact`` is in reais a whole month, unrounded; where ``reducer`` is a Ratio, before that factor. ``articles`` are
    the ones that ground it, in the order they apply.
    """

    location_index: Decimal | None
    depreciation_index: Decimal | None
    reducer: Decimal | Ratio | None
    price_per_m3: Decimal | None
    multiplier: Decimal
    exact: Decimal
    articles: tuple[str, ...]
    price_per_piece: Decimal | None = None

    def for_days(self, days: int, month_days: int) -> Fraction:
        """Exact amount for some days of a month: multiplied first, divided last."""
        average = fraction(self.reducer) if isinstance(self.reducer, Ratio) else 1
        return Fraction(self.exact) * average * days / month_days


@dataclass(frozen=True)
class Silence:
    """A question that the statute doesn't answer: the article that is silent and why; the amount is held."""

    code: str
    article: str
    reason: str
    suggestion: Decimal | Ratio | None = None
