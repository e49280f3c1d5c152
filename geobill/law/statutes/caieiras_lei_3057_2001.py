"""Caieiras, Lei 3.057/2001: a monthly price for the use of streets, article by article.

``Vm = (a × b × T) × L × D × R`` by stretch (art. 7); cabinets by volume (art. 7 § 2); double for clandestine
equipment that can't be removed (art. 10 § 2). The figures stand in the ``.toml`` beside this module.
"""

from dataclasses import dataclass
from datetime import date
from decimal import Decimal, Inexact, localcontext

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


@dataclass(frozen=True)
class StreetUseLaw:
    """The law with its dated figures; each question takes the day whose figures apply."""

    figures: StatuteFigures

    def exemption(self, operator_kind: str) -> str | None:
        """Return the article that frees an operator: art. 13, public-law entities of this municipality only."""
        return "13" if operator_kind == "municipal" else None

    def reducer(self, extension_m: Decimal, on: date) -> Decimal | Silence:
        """R by the operator's whole extension, or the silence of art. 7 above its last bracket."""
        scale = self.figures.figure("reducer", on)
        found = reducer(extension_m, scale.brackets)
        if found is not None:
            return found
        last = scale.brackets[-1]
        return Silence(
            "above_100_km",
            scale.article,
            f"the network of {extension_m} m is above {last.up_to / 1000:f} km, where art. {scale.article} gives no reducer; "
            "held until a decision under art. 15 says which applies",
            last.value,
        )

    def counts_in_reducer(self, status: str, clandestine_counts: bool) -> bool:
        """Whether a segment's metres set R: clandestine ones only if the policy says so (arts. 7, 10)."""
        return status != "clandestine" or clandestine_counts

    def network(
        self, length_m: Decimal, width_m: Decimal, land_value: Decimal, reducer: Decimal, status: str, on: date
    ) -> Asked:
        """Price of metres of network for a whole month (art. 7 caput and § 1; doubled by art. 10 § 2).

        Parameters
        ----------
        length_m : Decimal
            Metres, already rounded to the workspace's ``length_precision_m``.
        width_m : Decimal
            Width of the strip in metres, as declared; charged at 0.50 m at least.
        land_value : Decimal
            T in reais a square metre, by the Mapa de Valores.
        reducer : Decimal
            R.
        status : {"permitted", "existing", "clandestine"}
        on : date
            Day whose figures apply: the first of the month.
        """
        location, depreciation = self.figures.value("location_index", on), self.figures.value("depreciation_index", on)
        width = billed_width(width_m, self.figures.value("minimum_width_m", on))
        multiplier, articles = self._status(status, on)
        exact = _product(length_m, width, land_value, location, depreciation, reducer, multiplier)
        return Asked(location, depreciation, reducer, None, multiplier, exact, ("7", "7 § 1", *articles))

    def billed_width(self, width_m: Decimal, on: date) -> Decimal:
        """Width that is charged for on a day, with two decimals at least; see :func:`billed_width`."""
        width = billed_width(width_m, self.figures.value("minimum_width_m", on))
        short = width.as_tuple().exponent
        return width.quantize(Decimal("0.01")) if isinstance(short, int) and short > -2 else width

    def equipment(self, volume_m3: Decimal, status: str, on: date) -> Asked:
        """Price of cabinets and containers for a whole month, by volume (art. 7 § 2): no T, L, D or R."""
        price = self.figures.value("price_per_m3", on)
        multiplier, articles = self._status(status, on)
        return Asked(None, None, None, price, multiplier, _product(volume_m3, price, multiplier), ("7 § 2", *articles))

    def _status(self, status: str, on: date) -> tuple[Decimal, tuple[str, ...]]:
        if status == "clandestine":
            return self.figures.value("clandestine_multiplier", on), ("10 § 2",)
        return ONE, (("12",) if status == "existing" else ())


def _product(*factors: Decimal) -> Decimal:
    """Exact product: an inexact one would be a fault of the program, so it raises."""
    with localcontext() as exact:
        exact.prec = 120
        exact.traps[Inexact] = True
        result = ONE
        for factor in factors:
            result *= factor
        return result
