"""Notches of a scale of R: where, on the whole-extension reading, a longer network costs less than a shorter one (art. 7).

A network of ``x`` metres costs ``x × R(x)`` times the price of its metre. R falls at each edge of the scale, so the price
drops there and needs some metres to come back to what it was. The drops are worked out as fractions from the brackets in
force, whatever they are: nothing here knows 5 or 15 km.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction

from geobill.law.figures import Bracket


@dataclass(frozen=True)
class Notch:
    """Extensions past an edge that cost less than the edge itself: more than ``edge_m``, less than ``until_m``.

    At ``until_m`` the price is again what it was at the edge. ``until_included`` is set where the scale ends before that,
    so that ``until_m`` itself still costs less; None means that the price never comes back (R = 0 without an end).
    """

    edge_m: Fraction
    until_m: Fraction | None
    until_included: bool

    def holds(self, extension_m: Fraction) -> bool:
        """Whether an extension lies in the notch."""
        if self.until_m is None:
            return extension_m > self.edge_m
        return self.edge_m < extension_m < self.until_m or (self.until_included and extension_m == self.until_m)


@dataclass(frozen=True)
class Approach:
    """Extensions up to an edge that cost more than what lies just past it: more than ``since_m``, up to ``until_m``.

    Declaring metres up to just past ``edge_m`` would lower the price. ``until_m`` is the edge itself, unless R rises in
    between.
    """

    since_m: Fraction
    until_m: Fraction
    edge_m: Fraction

    def holds(self, extension_m: Fraction) -> bool:
        """Whether an extension lies in the approach."""
        return self.since_m < extension_m <= self.until_m


@dataclass(frozen=True)
class Step:
    """One bracket as an interval: more than ``above_m``, up to and including ``up_to_m`` (None without an end)."""

    above_m: Fraction
    up_to_m: Fraction | None
    reducer: Fraction


def steps_of(brackets: tuple[Bracket, ...], above: Decimal | None = None) -> tuple[Step, ...]:
    """Return the brackets as intervals, ascending.

    Parameters
    ----------
    brackets : tuple of Bracket
        The figure ``reducer`` of art. 7, ascending; metres. A last bracket may have no end.
    above : Decimal, optional
        R above the last bracket, where a decision gives one (art. 15).

    Examples
    --------
    >>> steps_of((Bracket(Decimal(5000), Decimal("1.00")), Bracket(Decimal(15000), Decimal("0.90"))))[1]
    Step(above_m=Fraction(5000, 1), up_to_m=Fraction(15000, 1), reducer=Fraction(9, 10))
    """
    steps: list[Step] = []
    reached = Fraction(0)
    for bracket in brackets:
        if bracket.up_to is None:
            return (*steps, Step(reached, None, Fraction(bracket.value)))
        steps.append(Step(reached, Fraction(bracket.up_to), Fraction(bracket.value)))
        reached = Fraction(bracket.up_to)
    return (*steps, Step(reached, None, Fraction(above))) if above is not None else tuple(steps)


def step_at(extension_m: Fraction, steps: tuple[Step, ...]) -> Step | None:
    """Return the interval that an extension falls in; None above the last, where the law is silent. 0 is in the first."""
    return next((s for s in steps if s.up_to_m is None or extension_m <= s.up_to_m), None)


def equivalent_m(extension_m: Fraction, steps: tuple[Step, ...]) -> Fraction | None:
    """Return an extension times its R: the price in metres at R = 1; None above the scale.

    Examples
    --------
    >>> steps = steps_of((Bracket(Decimal(5000), Decimal("1.00")), Bracket(Decimal(15000), Decimal("0.90"))))
    >>> equivalent_m(Fraction(5000), steps), equivalent_m(Fraction(5200), steps)
    (Fraction(5000, 1), Fraction(4680, 1))
    """
    step = step_at(extension_m, steps)
    return None if step is None else extension_m * step.reducer


def find_notches(steps: tuple[Step, ...]) -> tuple[Notch, ...]:
    """Find where a longer network costs less than a shorter one, on the whole-extension reading.

    Parameters
    ----------
    steps : tuple of Step
        From :func:`steps_of`.

    Returns
    -------
    tuple of Notch
        Ascending, none touching another. Each begins at the edge that costs most of all that lies before.

    Examples
    --------
    >>> scale = ("5000", "1.00"), ("15000", "0.90"), ("30000", "0.80"), ("50000", "0.70"), ("100000", "0.60")
    >>> found = find_notches(steps_of(tuple(Bracket(Decimal(m), Decimal(r)) for m, r in scale)))
    >>> [(int(n.edge_m), str(n.until_m)) for n in found]
    [(5000, '50000/9'), (15000, '16875'), (30000, '240000/7'), (50000, '175000/3')]
    """
    found: list[Notch] = []
    peak, edge = Fraction(0), Fraction(0)  # the highest price so far, in equivalent metres, and where it is paid
    for step in steps:
        reach = peak / step.reducer if step.reducer else None  # where this bracket's price comes back to the peak
        if peak and (reach is None or reach > step.above_m):
            cut = step.up_to_m is not None and (reach is None or reach > step.up_to_m)
            mine = Notch(edge, step.up_to_m if cut else reach, cut)
            last = found[-1] if found else None
            if last is not None and last.edge_m == edge and last.until_included and last.until_m == step.above_m:
                found[-1] = replace(mine, edge_m=edge)
            else:
                found.append(mine)
        if step.up_to_m is not None and step.up_to_m * step.reducer >= peak:
            peak, edge = step.up_to_m * step.reducer, step.up_to_m
    return tuple(found)


def find_approaches(steps: tuple[Step, ...]) -> tuple[Approach, ...]:
    """Find the extensions to which a longer one is cheaper: who has so many metres would pay less by declaring more.

    Returns
    -------
    tuple of Approach
        Ascending, none touching another; ``edge_m`` is the edge past which the price is lowest.

    Examples
    --------
    >>> steps = steps_of((Bracket(Decimal(5000), Decimal("1.00")), Bracket(Decimal(15000), Decimal("0.90"))))
    >>> find_approaches(steps)
    (Approach(since_m=Fraction(4500, 1), until_m=Fraction(5000, 1), edge_m=Fraction(5000, 1)),)
    """
    return tuple(_approaches(steps))[::-1]


def _approaches(steps: tuple[Step, ...]) -> Iterator[Approach]:
    floor, edge = (
        None,
        Fraction(0),
    )  # the lowest price still to come, which just past an edge comes near to, and that edge
    open_one: Approach | None = None
    for step in reversed(steps):
        if floor is not None and step.up_to_m is not None and step.reducer * step.up_to_m > floor:
            mine = Approach(max(step.above_m, floor / step.reducer), step.up_to_m, edge)
            if open_one is not None and open_one.edge_m == edge and open_one.since_m == step.up_to_m:
                open_one = Approach(mine.since_m, open_one.until_m, edge)
            else:
                if open_one is not None:
                    yield open_one
                open_one = mine
        start = step.above_m * step.reducer
        if step.above_m and (floor is None or start < floor):
            floor, edge = start, step.above_m
    if open_one is not None:
        yield open_one


def would_pay(
    at_m: Fraction, extension_m: Fraction, whole: Fraction, metre: Fraction, steps: tuple[Step, ...]
) -> Fraction | None:
    """Price of a network if it had another extension, each metre more or less at a given price.

    Parameters
    ----------
    at_m : Fraction
        The supposed extension that sets R, in metres.
    extension_m : Fraction
        The extension that sets R today.
    whole : Fraction
        Price of what the network charges today, in reais, at R = 1.
    metre : Fraction
        Price of a metre more or less, in reais, at R = 1.
    steps : tuple of Step

    Returns
    -------
    Fraction or None
        Reais, exact; None above the scale, where the law gives no R (art. 7).

    Examples
    --------
    >>> steps = steps_of((Bracket(Decimal(5000), Decimal("1.00")), Bracket(Decimal(15000), Decimal("0.90"))))
    >>> would_pay(Fraction(5001), Fraction(5000), Fraction(37500), Fraction("7.50"), steps)
    Fraction(135027, 4)
    """
    step = step_at(at_m, steps)
    return None if step is None else (whole + (at_m - extension_m) * metre) * step.reducer
