"""Dated figures of law: value, unit, article, act and in-force dates, asked for by name and day."""

from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from functools import cached_property

from geobill.domain.dates import BillingMonth
from geobill.errors import LawError
from geobill.law.index import Index


@dataclass(frozen=True)
class Bracket:
    """One step of a scale: up to and including ``up_to`` (metres) the figure is ``value``; None has no end."""

    up_to: Decimal | None
    value: Decimal

    def reaches(self, extension_m: Decimal) -> bool:
        """Whether an extension ends in this step or in one before it."""
        return self.up_to is None or extension_m <= self.up_to


@dataclass(frozen=True)
class Figure:
    """A figure as one act set it. ``value`` is None where the figure is a scale of ``brackets``.

    ``method`` is how the law itself says that the figure is applied: the scale on the ``whole`` or ``graduated``, the
    months of interest. ``index_base`` is the month since which an index adjusts a figure that a later act set, where it
    isn't the index's own base month. ``amendment`` is the id under which an act was entered that set it.
    """

    name: str
    value: Decimal | None
    unit: str
    article: str
    act: str
    in_force_from: date
    in_force_until: date | None = None
    brackets: tuple[Bracket, ...] = ()
    method: str | None = None
    index_base: BillingMonth | None = None
    amendment: str = ""

    def in_force(self, on: date) -> bool:
        """Whether the figure applies on a day; ``in_force_from`` is included, ``in_force_until`` excluded."""
        return self.in_force_from <= on and (self.in_force_until is None or on < self.in_force_until)

    @property
    def last_day(self) -> str:
        """The first day on which it no longer applies, or 'no end', as a message says it."""
        return "no end" if self.in_force_until is None else self.in_force_until.isoformat()


@dataclass(frozen=True)
class Checked:
    """Up to which day somebody looked that no act changed the figures, who, and when."""

    until: date
    by: str
    at: str = ""
    note: str = ""


@dataclass(frozen=True)
class StatuteFigures:
    """All dated figures of one statute, and the text they were read from (for the archive).

    ``checked`` is None in texts that were archived before geobill kept that day. ``rules`` gives the articles of what a
    statute rules without a figure, by name. ``act`` is the statute's short name, as its own figures give it.
    """

    id: str
    title: str
    municipality: str
    state: str
    published_on: date
    figures: tuple[Figure, ...]
    source: str
    act: str = ""
    checked: Checked | None = None
    indexes: tuple[Index, ...] = ()
    rules: dict[str, str] = field(default_factory=dict, hash=False)

    def figure(self, name: str, on: date) -> Figure:
        """Return the figure in force on a day, as its act set it.

        Raises
        ------
        LawError
            Before the law existed, after the day up to which it was checked, or where no act set the figure for that
            day: never carried over or made up.
        """
        known = self._memory.get((name, on))
        if known is None:
            known = self._memory[name, on] = self._find(name, on)
        return known

    def value(self, name: str, on: date) -> Decimal:
        """Return the single value of a figure in force on a day, adjusted by its index; a scale has none."""
        known = self._values.get((name, on))
        if known is None:
            known = self._values[name, on] = self._value(name, on)
        return known

    def has(self, name: str, on: date) -> bool:
        """Whether some act gives a figure of this name on a day."""
        return any(f.in_force(on) for f in self.figures if f.name == name)

    def index_of(self, name: str, on: date) -> Index | None:
        """Return the index that adjusts a figure on a day; None where none does, or not yet."""
        for index in self.indexes:
            if name in index.adjusts and index.month_on(on, self._base(index, name, on)) is not None:
                return index
        return None

    def articles(self, name: str, on: date) -> tuple[str, ...]:
        """Return the articles that ground a figure on a day: the statute's own, an amending act's, an index's.

        An article of another act than the statute is followed by that act: ``1 (Decreto 9/2027)``. ``name`` may also be
        a rule without a figure; one that the statute doesn't name has no articles.
        """
        if name in self.rules:
            return (self.rules[name],)
        if not any(f.name == name for f in self.figures):
            return ()
        figure, index = self.figure(name, on), self.index_of(name, on)
        own = [f for f in self.figures if f.name == name and f.act == self.act]
        cited = [self._cited(f.article, f.act) for f in (*own[:1], figure)]
        if index is not None:
            cited.append(self._cited(index.article, index.act))
        return tuple(dict.fromkeys(cited))

    @cached_property
    def _memory(self) -> dict[tuple[str, date], Figure]:
        return {}

    @cached_property
    def _values(self) -> dict[tuple[str, date], Decimal]:
        return {}

    def _cited(self, article: str, act: str) -> str:
        return article if not self.act or act == self.act else f"{article} ({act})"

    def _base(self, index: Index, name: str, on: date) -> BillingMonth:
        return self.figure(name, on).index_base or index.base_month

    def _value(self, name: str, on: date) -> Decimal:
        figure = self.figure(name, on)
        if figure.value is None:
            raise LawError(f"{name} of {self.title} is a scale of brackets, not one value (art. {figure.article}).")
        index = self.index_of(name, on)
        return figure.value if index is None else index.adjusted(figure.value, on, self._base(index, name, on))

    def _find(self, name: str, on: date) -> Figure:
        dated = [f for f in self.figures if f.name == name]
        if not dated:
            raise LawError(
                f"{self.title} has no figure {name!r}; it has {', '.join(sorted({f.name for f in self.figures}))}."
            )
        if self.checked is not None and on > self.checked.until:
            raise LawError(
                f"{self.title} was last checked up to {self.checked.until.isoformat()} (by {self.checked.by}): nobody has looked "
                f"whether {name} (art. {dated[-1].article}) still stands on {on.isoformat()}, and a figure of law isn't carried over "
                "silently. Look at the acts published since; enter one that changed a figure with geobill law amend, then: "
                "geobill law confirm --until DATE --by NAME."
            )
        for figure in dated:
            if figure.in_force(on):
                return figure
        if on < min(f.in_force_from for f in dated):
            raise LawError(
                f"{self.title} (published {self.published_on.isoformat()}) gives no {name} for {on.isoformat()}: the earliest is "
                f"in force from {min(f.in_force_from for f in dated).isoformat()}. Choose a month in which the law is in force."
            )
        spans = ", ".join(f"{f.in_force_from.isoformat()} to {f.last_day}" for f in dated)
        raise LawError(
            f"No act gives {name} of {self.title} for {on.isoformat()}: it is set for {spans} (the last day excluded). An "
            "older figure doesn't come back by itself. Enter the act that sets it: geobill law amend."
        )
