"""The formula of the family's price, figure by figure: billed width, R on the two readings, the exact product (art. 7)."""

from decimal import Decimal, Inexact, localcontext

from geobill.domain.ratio import Ratio
from geobill.errors import LawError
from geobill.law.figures import Bracket

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
    """Reducer R for a network's whole extension (art. 7), None above the last bracket's end, where the law is silent.

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
    return next((b.value for b in brackets if b.reaches(extension_m)), None)


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
        edge = extension_m if b.up_to is None else min(extension_m, b.up_to)
        equivalent += max(edge - reached, Decimal(0)) * b.value
        reached = max(edge, reached)
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


def reducer_by(
    extension_m: Decimal, brackets: tuple[Bracket, ...], method: str, above: Decimal | None
) -> Decimal | Ratio | None:
    """R by one of the two readings; ``above`` where the scale is silent and a decision isn't."""
    if method == "graduated":
        return average_reducer(extension_m, brackets, above)
    found = reducer(extension_m, brackets)
    return above if found is None else found


def product(*factors: Decimal) -> Decimal:
    """Return the exact product: an inexact one would be a fault of the program, so it raises."""
    with localcontext() as exact:
        exact.prec = 120
        exact.traps[Inexact] = True
        result = ONE
        for factor in factors:
            result *= factor
        return result
