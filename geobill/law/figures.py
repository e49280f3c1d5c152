"""Dated figures of law: value, unit, article, act and in-force dates, read from a statute's ``.toml``."""

import tomllib
from dataclasses import dataclass
from datetime import date
from decimal import Decimal, InvalidOperation
from itertools import combinations, pairwise
from typing import Any

from geobill.errors import LawError


@dataclass(frozen=True)
class Bracket:
    """One step of a scale: up to and including ``up_to`` (metres) the figure is ``value``."""

    up_to: Decimal
    value: Decimal


@dataclass(frozen=True)
class Figure:
    """A figure as one act set it. ``value`` is None where the figure is a scale of ``brackets``."""

    name: str
    value: Decimal | None
    unit: str
    article: str
    act: str
    in_force_from: date
    in_force_until: date | None = None
    brackets: tuple[Bracket, ...] = ()

    def in_force(self, on: date) -> bool:
        """Whether the figure applies on a day; ``in_force_from`` is included, ``in_force_until`` excluded."""
        return self.in_force_from <= on and (self.in_force_until is None or on < self.in_force_until)


@dataclass(frozen=True)
class StatuteFigures:
    """All dated figures of one statute, and the text they were read from (for the archive)."""

    id: str
    title: str
    municipality: str
    state: str
    published_on: date
    figures: tuple[Figure, ...]
    source: str

    def figure(self, name: str, on: date) -> Figure:
        """Return the figure in force on a day.

        Raises
        ------
        LawError
            Before the law existed, or where no act set the figure for that day: never carried over or made up.
        """
        dated = [f for f in self.figures if f.name == name]
        if not dated:
            raise LawError(
                f"{self.title} has no figure {name!r}; it has {', '.join(sorted({f.name for f in self.figures}))}."
            )
        for figure in dated:
            if figure.in_force(on):
                return figure
        raise LawError(
            f"{self.title} (published {self.published_on.isoformat()}) gives no {name} for {on.isoformat()}: the earliest "
            f"is in force from {min(f.in_force_from for f in dated).isoformat()}. Choose a month in which the law is in force."
        )

    def value(self, name: str, on: date) -> Decimal:
        """Return the single value of a figure in force on a day; a scale has none."""
        figure = self.figure(name, on)
        if figure.value is None:
            raise LawError(f"{name} of {self.title} is a scale of brackets, not one value (art. {figure.article}).")
        return figure.value


def parse_statute(text: str) -> StatuteFigures:
    """Read a statute's figures from TOML text.

    Raises
    ------
    LawError
        If a figure lacks its article, its date or its value, or a scale doesn't ascend.
    """
    raw = tomllib.loads(text)
    head = raw["statute"]
    figures = tuple(_parse_figure(f) for f in raw["figure"])
    _check_one_at_a_time(figures)
    return StatuteFigures(
        id=head["id"],
        title=head["title"],
        municipality=head["municipality"],
        state=head["state"],
        published_on=head["published_on"],
        figures=figures,
        source=text,
    )


def _check_one_at_a_time(figures: tuple[Figure, ...]) -> None:
    for one, other in combinations(figures, 2):
        later, earlier = max(one, other, key=_since), min(one, other, key=_since)
        if one.name == other.name and (earlier.in_force_until is None or later.in_force_from < earlier.in_force_until):
            raise LawError(
                f"Two figures {one.name!r} are in force on {later.in_force_from.isoformat()} (arts. {one.article}, {other.article}): "
                f"end the earlier one with in_force_until = {later.in_force_from.isoformat()}."
            )


def _since(figure: Figure) -> date:
    return figure.in_force_from


def _parse_figure(raw: dict[str, Any]) -> Figure:
    try:
        brackets = tuple(Bracket(Decimal(b["up_to_m"]), Decimal(b["value"])) for b in raw.get("brackets", ()))
        value = Decimal(raw["value"]) if "value" in raw else None
        figure = Figure(
            name=raw["name"],
            value=value,
            unit=raw["unit"],
            article=raw["article"],
            act=raw["act"],
            in_force_from=raw["in_force_from"],
            in_force_until=raw.get("in_force_until"),
            brackets=brackets,
        )
    except (KeyError, InvalidOperation, TypeError) as fault:
        raise LawError(f"The figure {raw.get('name', '?')!r} is incomplete or not a decimal: {fault}.") from None
    if (value is None) == (not brackets):
        raise LawError(
            f"The figure {figure.name!r} needs either one value or a scale of brackets (art. {figure.article})."
        )
    if any(lower.up_to >= upper.up_to for lower, upper in pairwise(brackets)):
        raise LawError(f"The brackets of {figure.name!r} don't ascend (art. {figure.article}).")
    return figure
