"""Where each operator's network stands beside the notches of the scale of R (art. 7), and what some metres would change."""

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from geobill.domain.dates import BillingMonth

# Where an extension lies. A longer network than a cheaper one's; one that would pay less if it declared more; neither;
# or above the scale, where the law gives no R and the price is held.
IN_NOTCH, BEFORE_EDGE, OUTSIDE, ABOVE_SCALE = "in_notch", "before_edge", "outside", "above_scale"
POSITIONS: tuple[str, ...] = (IN_NOTCH, BEFORE_EDGE, OUTSIDE, ABOVE_SCALE)


@dataclass(frozen=True)
class EdgeRange:
    """An edge of the scale at which the price falls, in metres.

    From more than ``since_m`` on, declaring metres past the edge would cost less; up to less than ``until_m`` past it, the
    price is below what is paid at the edge. Either is None where the scale has no such metres.
    """

    edge_m: Fraction
    since_m: Fraction | None
    until_m: Fraction | None


@dataclass(frozen=True)
class Supposed:
    """What a network would pay if it had another extension: ``what`` is which, ``difference`` to what it pays now.

    ``what`` is one_metre_less, one_metre_more, lower_edge, upper_edge or past_upper_edge (one centimetre past it). Amounts
    are in reais, and None above the scale.
    """

    what: str
    extension_m: Decimal
    reducer: Decimal | None
    amount: Decimal | None
    difference: Decimal | None


@dataclass(frozen=True)
class NotchRow:
    """One operator's network, or one permit's, beside the edges of the scale.

    Attributes
    ----------
    position : str
        One of ``POSITIONS``.
    notch : EdgeRange or None
        The notch that it lies in.
    approach : EdgeRange or None
        The edge past which it would pay less.
    lower_edge_m, upper_edge_m : Decimal or None
        Edges of its own bracket; None below the first and above the last.
    amount : Decimal or None
        What its network is charged in the month, in reais; None where it is held.
    metre : Decimal or None
        Average price of its metre at R = 1 in reais, rounded to four decimals for print; None where no metre is charged.
    graduated : Decimal or None
        What its network would be charged bracket by bracket.
    """

    operator: str
    name: str
    permit: str | None
    extension_m: Decimal
    reducer: Decimal | None
    position: str
    notch: EdgeRange | None
    approach: EdgeRange | None
    lower_edge_m: Decimal | None
    upper_edge_m: Decimal | None
    amount: Decimal | None
    metre: Decimal | None
    graduated: Decimal | None
    supposed: tuple[Supposed, ...]


@dataclass(frozen=True)
class NotchReport:
    """The report of a month. Under ``reducer_method = graduated`` there are no notches: ``ranges`` and ``rows`` are empty."""

    month: BillingMonth
    statute: str
    statute_title: str
    article: str
    reducer_method: str
    reducer_scope: str
    scale: tuple[tuple[Decimal | None, Decimal], ...]
    ranges: tuple[EdgeRange, ...]
    rows: tuple[NotchRow, ...]
