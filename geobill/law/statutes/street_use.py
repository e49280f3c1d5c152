"""Caieiras, Lei 3.057/2001: a monthly price for the use of streets, article by article.

``Vm = (a × b × T) × L × D × R`` by stretch (art. 7); cabinets by volume (art. 7 § 2); double for clandestine
equipment that can't be removed (art. 10 § 2) and for networks whose register wasn't handed over (art. 12 § 3). The
figures stand in the ``.toml`` beside this module.
"""

from dataclasses import dataclass
from datetime import date
from decimal import Decimal, Inexact, localcontext

from geobill.domain.dates import months_after
from geobill.domain.network import DOUBLED
from geobill.domain.ratio import Ratio
from geobill.errors import LawError
from geobill.law.charge import Asked, Silence
from geobill.law.figures import Bracket, StatuteFigures

ONE = Decimal(1)


def billed_width(width_m: Decimal, minimum_m: Decimal) -> Decimal:
    """Width that is charged for, in metres (art. 7 § 1).

    A strip narrower than 0.50 m is charged as 0.50 m wide; the 0.05 m of the caput describes networks and lowers nothing.

    Parameters
    ----------
    width_m : Decimal
        Width of the strip in metres; more than 0.
    minimum_m : Decimal
        The figure ``minimum_width_m``.

    Raises
    ------
    LawError
        If the width isn't positive: such a row should have been set aside at import.

    Examples
    --------
    >>> billed_width(Decimal("0.3"), Decimal("0.50")), billed_width(Decimal("0.80"), Decimal("0.50"))
    (Decimal('0.50'), Decimal('0.80'))
    """
    if width_m <= 0:
        raise LawError(
            f"A strip of {width_m} m has no price (art. 7): such a row should have been set aside at import."
        )
    return max(width_m, minimum_m)


def reducer(extension_m: Decimal, brackets: tuple[Bracket, ...]) -> Decimal | None:
    """Reducer R for a network's whole extension (art. 7), None above the last bracket, where the law is silent.

    Parameters
    ----------
    extension_m : Decimal
        Extension in metres; 0 or more. An upper edge belongs to the lower bracket: exactly 5 km is still 1.00.
    brackets : tuple of Bracket
        The figure ``reducer``, ascending.

    Examples
    --------
    >>> steps = (Bracket(Decimal(5000), Decimal("1.00")), Bracket(Decimal(15000), Decimal("0.90")))
    >>> reducer(Decimal("5000.00"), steps), reducer(Decimal("5000.01"), steps), reducer(Decimal(15001), steps)
    (Decimal('1.00'), Decimal('0.90'), None)
    """
    return next((b.value for b in brackets if extension_m <= b.up_to), None)


def average_reducer(extension_m: Decimal, brackets: tuple[Bracket, ...], above: Decimal | None = None) -> Ratio | None:
    """Average R of a network read bracket by bracket (policy ``reducer_method = graduated``), as equivalent ÷ extension.

    Each bracket's metres take that bracket's R; the equivalent is their sum in metres at R = 1. No extension costs less
    than a shorter one, as the reading on the whole extension does in 5–5.556, 15–16.875, 30–34.286 and 50–58.333 km.

    Parameters
    ----------
    extension_m : Decimal
        Extension in metres; 0 or more.
    brackets : tuple of Bracket
        The figure ``reducer``, ascending.
    above : Decimal, optional
        R of the metres above the last bracket, where a decision gives one (art. 15).

    Returns
    -------
    Ratio or None
        None above the last bracket without ``above``: there the law is silent. The first bracket's R over one metre for
        an extension of 0.

    Examples
    --------
    >>> steps = (Bracket(Decimal(5000), Decimal("1.00")), Bracket(Decimal(15000), Decimal("0.90")))
    >>> str(average_reducer(Decimal("6000.00"), steps)), average_reducer(Decimal(15001), steps)
    ('5900.00/6000.00', None)
    >>> str(average_reducer(Decimal("16000.00"), steps, Decimal("0.60")))
    '14600.00/16000.00'
    """
    if extension_m == 0:
        return Ratio(brackets[0].value, Decimal("1.00"))
    equivalent, reached = Decimal(0), Decimal(0)
    for b in brackets:
        equivalent += max(min(extension_m, b.up_to) - reached, Decimal(0)) * b.value
        reached = b.up_to
    if extension_m > reached:
        if above is None:
            return None
        equivalent += (extension_m - reached) * above
    return Ratio(_printed(equivalent), _printed(extension_m))


def _printed(metres: Decimal) -> Decimal:
    """Return metres with two decimals, or as many more as the exact figure has."""
    exact = metres.normalize()
    short = exact.as_tuple().exponent
    return metres.quantize(Decimal("0.01")) if isinstance(short, int) and short > -2 else exact


@dataclass(frozen=True)
class StreetUseLaw:
    """The law with its dated figures; each question takes the day whose figures apply."""

    figures: StatuteFigures

    def exemption(self, operator_kind: str) -> str | None:
        """Return the article that frees an operator: art. 13, public-law entities of this municipality only."""
        return "13" if operator_kind == "municipal" else None

    def reducer(
        self, extension_m: Decimal, on: date, *, method: str = "whole", above: Decimal | None = None
    ) -> Decimal | Ratio | Silence:
        """R for an extension, or the silence of art. 7 above its last bracket.

        Parameters
        ----------
        extension_m : Decimal
            Metres of the operator's, or the permit's, network (policy ``reducer_scope``).
        on : date
            Day whose figures apply.
        method : {"whole", "graduated"}
            The policy ``reducer_method``: one R for the whole extension, or the average of the brackets it passes.
        above : Decimal, optional
            R above the last bracket by a decision (art. 15): of the whole extension, or of the metres above.
        """
        scale = self.figures.figure("reducer", on)
        last = scale.brackets[-1]
        found = _by_method(extension_m, scale.brackets, method, above)
        if found is not None:
            return found
        return Silence(
            "above_100_km",
            scale.article,
            f"the network of {extension_m} m is above {last.up_to / 1000:f} km, where art. {scale.article} gives no reducer; "
            "held until a decision under art. 15 says which applies",
            _by_method(extension_m, scale.brackets, method, last.value),
        )

    def counts_in_reducer(self, status: str, clandestine_counts: bool) -> bool:
        """Whether a segment's metres set R: undeclared ones only if the policy says so (arts. 7, 10, 12)."""
        return status not in DOUBLED or clandestine_counts

    def network(
        self,
        length_m: Decimal,
        width_m: Decimal,
        land_value: Decimal,
        reducer: Decimal | Ratio,
        status: str,
        on: date,
        *,
        cumulate: bool = False,
    ) -> Asked:
        """Price of metres of network for a whole month (art. 7 caput and § 1; doubled by arts. 10 § 2 and 12 § 3).

        Parameters
        ----------
        length_m : Decimal
            Metres, already rounded to the workspace's ``length_precision_m``.
        width_m : Decimal
            Width of the strip in metres, as declared; charged at 0.50 m at least.
        land_value : Decimal
            T in reais a square metre, by the Mapa de Valores.
        reducer : Decimal or Ratio
            R.
        status : str
            One of ``domain.network.STATUSES``.
        on : date
            Day whose figures apply: the first of the month.
        cumulate : bool
            The policy ``doublings_cumulate``.
        """
        location, depreciation = self.figures.value("location_index", on), self.figures.value("depreciation_index", on)
        width = billed_width(width_m, self.figures.value("minimum_width_m", on))
        multiplier, articles = self._status(status, on, cumulate)
        factors = (length_m, width, land_value, location, depreciation, multiplier)
        exact = _product(*factors) if isinstance(reducer, Ratio) else _product(*factors, reducer)
        return Asked(location, depreciation, reducer, None, multiplier, exact, ("7", "7 § 1", *articles))

    def billed_width(self, width_m: Decimal, on: date) -> Decimal:
        """Width that is charged for on a day, with two decimals at least; see :func:`billed_width`."""
        width = billed_width(width_m, self.figures.value("minimum_width_m", on))
        short = width.as_tuple().exponent
        return width.quantize(Decimal("0.01")) if isinstance(short, int) and short > -2 else width

    def equipment(self, volume_m3: Decimal, status: str, on: date, *, cumulate: bool = False) -> Asked:
        """Price of cabinets and containers for a whole month, by volume (art. 7 § 2): no T, L, D or R."""
        price = self.figures.value("price_per_m3", on)
        multiplier, articles = self._status(status, on, cumulate)
        return Asked(None, None, None, price, multiplier, _product(volume_m3, price, multiplier), ("7 § 2", *articles))

    def multiplier(self, status: str, on: date, *, cumulate: bool = False) -> Decimal:
        """How many times the price a status pays: once, double, or double upon double where both may be applied."""
        return self._status(status, on, cumulate)[0]

    def _status(self, status: str, on: date, cumulate: bool) -> tuple[Decimal, tuple[str, ...]]:
        """Multiplier and articles of a status; the law doesn't say that two doublings make four (arts. 10, 12)."""
        doublings = []
        if status in ("clandestine", "clandestine_unregistered"):
            doublings.append((self.figures.value("clandestine_multiplier", on), "10 § 2"))
        if status in ("unregistered", "clandestine_unregistered") and self._register_overdue(on):
            doublings.append((self.figures.value("unregistered_multiplier", on), "12 § 3"))
        multiplier = ONE
        for factor, _ in doublings:
            multiplier = multiplier * factor if cumulate else max(multiplier, factor)
        before_the_law = ("12",) if status in ("existing", "unregistered") else ()
        return multiplier, (*before_the_law, *(article for _, article in doublings))

    def _register_overdue(self, on: date) -> bool:
        """Whether the six months for handing over the register are over on a day (art. 12 §§ 1, 3)."""
        term = int(self.figures.value("register_term_months", on))
        return on > months_after(self.figures.published_on, term)


def _by_method(
    extension_m: Decimal, brackets: tuple[Bracket, ...], method: str, above: Decimal | None
) -> Decimal | Ratio | None:
    if method == "graduated":
        return average_reducer(extension_m, brackets, above)
    found = reducer(extension_m, brackets)
    return above if found is None else found


def _product(*factors: Decimal) -> Decimal:
    """Exact product: an inexact one would be a fault of the program, so it raises."""
    with localcontext() as exact:
        exact.prec = 120
        exact.traps[Inexact] = True
        result = ONE
        for factor in factors:
            result *= factor
        return result
