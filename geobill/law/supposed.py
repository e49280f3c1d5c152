"""A law as it isn't: proposed rates, another scale of R, or the figures of another day. For simulations; nothing records it."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from datetime import date
from decimal import Decimal, InvalidOperation
from itertools import pairwise

from geobill.errors import InputError, LawError
from geobill.law.figures import Bracket, Figure, StatuteFigures

# Figures that the price of a month is made of (arts. 7, 10 § 2, 12): to suppose another would change no amount here.
IN_THE_PRICE: tuple[str, ...] = (
    "location_index",
    "depreciation_index",
    "minimum_width_m",
    "price_per_m3",
    "price_per_piece",
    "clandestine_multiplier",
    "unregistered_multiplier",
)
SUPPOSED_ACT = "supposed, in no act"


@dataclass(frozen=True)
class SupposedFigures(StatuteFigures):
    """A statute's figures, read on another day (``as_of``) and with proposed values in the place of its own.

    ``values`` are by name, in the figure's own unit; ``brackets`` is the proposed scale of R, empty for the law's own.
    """

    as_of: date | None = None
    values: Mapping[str, Decimal] = field(default_factory=dict)
    brackets: tuple[Bracket, ...] = ()

    def figure(self, name: str, on: date) -> Figure:
        """Return the figure, proposed or of the supposed day; see :meth:`StatuteFigures.figure`."""
        own = super().figure(name, self.as_of or on)
        if name == "reducer" and self.brackets:
            return replace(own, brackets=self.brackets, act=SUPPOSED_ACT)
        if name in self.values:
            return replace(own, value=self.values[name], act=SUPPOSED_ACT)
        return own

    def value(self, name: str, on: date) -> Decimal:
        """Return the single value of a figure, proposed (no index moves it then) or of the supposed day."""
        if name in self.values:
            return self.values[name]
        return super().value(name, self.as_of or on)

    def has(self, name: str, on: date) -> bool:
        """Whether some act gives a figure of this name on the supposed day."""
        return super().has(name, self.as_of or on)

    def articles(self, name: str, on: date) -> tuple[str, ...]:
        """Return the articles that ground a figure on the supposed day."""
        return super().articles(name, self.as_of or on)


def suppose(
    figures: StatuteFigures,
    values: Mapping[str, Decimal],
    brackets: tuple[Bracket, ...] = (),
    as_of: date | None = None,
) -> SupposedFigures:
    """Return a statute's figures with proposed ones in their place, on every day of the law.

    Parameters
    ----------
    figures : StatuteFigures
    values : mapping of name to Decimal
        Proposed values, in the figures' own units.
    brackets : tuple of Bracket
        Proposed scale of R (art. 7); empty for the law's own.
    as_of : date, optional
        Day whose figures apply on every day.

    Raises
    ------
    InputError
        If a name is no single figure of the statute that a month's price is made of, or a value can't be one.
    """
    known = {f.name for f in figures.figures if f.value is not None} & set(IN_THE_PRICE)
    for name, value in values.items():
        if name == "reducer":
            raise InputError("reducer is a scale of brackets (art. 7): give it as a file, with --brackets FILE.")
        if name not in known:
            raise InputError(
                f"A month's price is not made of a figure {name!r}: nothing would differ. Figures of {figures.title} that it "
                f"is made of: {', '.join(n for n in IN_THE_PRICE if n in known)}; the scale of R goes into --brackets FILE."
            )
        if not value.is_finite() or value < 0:
            raise InputError(f"{name} can't be {value}: give a number of 0 or more, with a decimal point.")
    own = {f.name: getattr(figures, f.name) for f in fields(StatuteFigures)}
    return SupposedFigures(**own, as_of=as_of, values=dict(values), brackets=brackets)


def parse_brackets(text: str, name: str) -> tuple[Bracket, ...]:
    """Read a proposed scale of R from TOML: ``brackets = [{ up_to_m = "5000", value = "1.00" }, { value = "0.90" }]``.

    Parameters
    ----------
    text : str
        TOML, as in a statute's own file; ``up_to_m`` in metres, left out of a last bracket without an end.
    name : str
        Name of the file, for messages.

    Raises
    ------
    LawError
        If it isn't TOML of that form, the edges don't ascend, or an R is negative.
    """
    form = 'write it as brackets = [{ up_to_m = "5000", value = "1.00" }, { up_to_m = "15000", value = "0.90" }]'
    try:
        raw = tomllib.loads(text)
        brackets = tuple(_bracket(b) for b in raw["brackets"])
    except (tomllib.TOMLDecodeError, RecursionError, KeyError, TypeError, AttributeError, InvalidOperation) as fault:
        raise LawError(f"{name} holds no scale of R ({fault or type(fault).__name__}): {form}.") from None
    if not brackets or set(raw) != {"brackets"}:
        raise LawError(f"{name} must hold one scale of R and nothing else: {form}.")
    edges = [b.up_to for b in brackets]
    ends = [e for e in edges if e is not None]
    if None in edges[:-1] or any(low >= high for low, high in pairwise((Decimal(0), *ends))):
        raise LawError(f"The edges of the scale in {name} must ascend, in metres from above 0: {form}.")
    if any(b.value < 0 for b in brackets):
        raise LawError(f"An R in {name} is below 0: {form}.")
    return brackets


def _bracket(raw: dict[str, str]) -> Bracket:
    edge = raw.get("up_to_m")
    return Bracket(None if edge is None else _decimal(edge), _decimal(raw["value"]))


def _decimal(raw: object) -> Decimal:
    """Exact decimal of quoted text; a number without quotes would be a binary fraction."""
    number = Decimal(raw) if isinstance(raw, str) else Decimal("NaN")
    if not number.is_finite():
        raise TypeError(f"{raw!r} is no number in quotes")
    return number
