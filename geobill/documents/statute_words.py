"""What a paper says of the statute in force on a day: its figures and its articles, in words; nothing of one town is written here."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from num2words import num2words

from geobill.documents import words
from geobill.documents.citing import cite
from geobill.domain.dates import BillingMonth
from geobill.law.figures import Bracket, Figure, StatuteFigures
from geobill.law.statutes.street_use import StreetUseLaw

METRES_PER_KM = 1000
TIMES: Mapping[Decimal, str] = {Decimal(2): "em dobro", Decimal(3): "em triplo", Decimal(4): "em quádruplo"}
MULTIPLIERS = ("clandestine_multiplier", "unregistered_multiplier")


@dataclass(frozen=True)
class ScaleStep:
    """One bracket of R: above ``from_km``, up to and including ``to_km``, which is None where the scale has no end."""

    from_km: Decimal
    to_km: Decimal | None
    value: Decimal


@dataclass(frozen=True)
class Adjusted:
    """A price that an index adjusts: the figure as its act set it, the index, its two values and their months."""

    name: str
    original: Decimal
    index: str
    cited: str
    base_month: str
    month: str
    base_value: Decimal
    value: Decimal
    amount: Decimal


@dataclass(frozen=True)
class StatuteWords:
    """A statute as it is on a day. Rules and figures are asked for by name; one that the statute lacks says nothing."""

    figures: StatuteFigures
    on: date

    @classmethod
    def of_month(cls, figures: StatuteFigures, month: BillingMonth) -> "StatuteWords":
        """Return the statute on the day whose figures a month takes."""
        return cls(figures, StreetUseLaw(figures).day_for(month))

    @property
    def title(self) -> str:
        """Return the statute's full name."""
        return self.figures.title

    def has(self, *names: str) -> bool:
        """Whether the statute has one of these rules or figures on the day."""
        return any(name in self.figures.rules or self.figures.has(name, self.on) for name in names)

    def value(self, name: str) -> Decimal:
        """Return a figure in force, adjusted by its index; the statute must have it."""
        return self.figures.value(name, self.on)

    def method(self, name: str) -> str | None:
        """Return how the law says that a figure is applied; None where it doesn't, or has no such figure."""
        return self.figures.figure(name, self.on).method if self.figures.has(name, self.on) else None

    def articles(self, *names: str) -> tuple[str, ...]:
        """Short forms of the articles of rules and figures that the statute has."""
        return tuple(a for name in names if self.has(name) for a in self.figures.articles(name, self.on))

    def cite(self, *names: str) -> str:
        """Cite the articles of rules and figures; empty where the statute has none of them."""
        return cite(self.articles(*names))

    def of_law(self, *names: str) -> str:
        """Cite as :meth:`cite`, ending with "da Lei"; "da Lei" must follow something, so the statute must have one."""
        cited = self.cite(*names)
        return f"{cited}{_comma_after(cited)} da Lei"

    def aside(self, *names: str) -> str:
        """Cite in parentheses after a space; empty where the statute has none of them."""
        cited = self.cite(*names)
        return f" ({cited})" if cited else ""

    def aside_of_law(self, *names: str) -> str:
        """Cite in parentheses after a space, ending with "da Lei"; empty where the statute has none of them."""
        return f" ({self.of_law(*names)})" if self.cite(*names) else ""

    def subject(self, *names: str) -> str:
        """Begin a sentence with the articles as its subject: "O art. 7º", or "A Lei" where the statute has none."""
        cited = self.cite(*names)
        if not cited:
            return "A Lei"
        return f"{'Os' if cited.startswith('arts') else 'O'} {cited}{_comma_after(cited)}"

    def following(self, *names: str) -> str:
        """Cite after a verb, with the article: "o art. 7º", "os arts. 6º e 7º"."""
        cited = self.cite(*names)
        return f"{'os' if cited.startswith('arts') else 'o'} {cited}"

    def form(self, *names: str) -> str:
        """Cite after "na forma": "do art. 16", "dos arts. 12, § 2º, e 16"."""
        return f"d{self.following(*names)}"

    # -- the scale of R

    @property
    def scale(self) -> tuple[ScaleStep, ...]:
        """Brackets of R in kilometres; empty where the statute has no such scale."""
        found = self._scale
        brackets = found.brackets if found else ()
        lows = (Decimal(0), *(b.up_to or Decimal(0) for b in brackets))
        return tuple(_step(low, bracket) for low, bracket in zip(lows, brackets, strict=False))

    @property
    def scale_end(self) -> str:
        """End of the scale, "100 km"; empty where the law's last bracket has none."""
        steps = self.scale
        return f"{words.number(steps[-1].to_km)} km" if steps and steps[-1].to_km is not None else ""

    @property
    def scale_end_m(self) -> Decimal | None:
        """End of the scale in metres; None where the last bracket has none."""
        steps = self.scale
        return steps[-1].to_km * METRES_PER_KM if steps and steps[-1].to_km is not None else None

    @property
    def scale_method(self) -> str | None:
        """How the law itself applies the scale, ``whole`` or ``graduated``; None where it leaves that open."""
        return self.method("reducer")

    @property
    def _scale(self) -> Figure | None:
        return self.figures.figure("reducer", self.on) if self.figures.has("reducer", self.on) else None

    # -- what is charged more than once

    @property
    def multipliers(self) -> tuple[Decimal, ...]:
        """How many times the law charges what it penalises, ascending, each once."""
        return tuple(sorted({self.value(name) for name in MULTIPLIERS if self.has(name)}))

    @property
    def charged_more(self) -> str:
        """How papers speak of all that is charged more than once: "em dobro", or "com multiplicador" where it isn't that."""
        return "em dobro" if self.doubles else "com multiplicador"

    @property
    def doubles(self) -> bool:
        """Whether the law doubles and does nothing else, so that papers may speak of doubling."""
        return self.multipliers in ((), (Decimal(2),))

    def times(self, name: str, masculine: bool = False) -> str:
        """Say how many times a figure charges: "em dobro", "em triplo", "multiplicada por 1,5"; agreeing with its noun."""
        said = times(self.value(name))
        return said.replace("multiplicada", "multiplicado") if masculine else said

    # -- prices that follow an index

    def adjusted(self, *names: str) -> tuple[Adjusted, ...]:
        """Say of each of these prices that an index adjusts how it came about."""
        return tuple(self._adjusted(name) for name in names if self.has(name) and self._index(name))

    def _index(self, name: str) -> bool:
        return self.figures.index_of(name, self.on) is not None

    def _adjusted(self, name: str) -> Adjusted:
        index, figure = self.figures.index_of(name, self.on), self.figures.figure(name, self.on)
        assert index is not None
        assert figure.value is not None
        base = figure.index_base or index.base_month
        month = index.month_on(self.on, base)
        assert month is not None
        known = dict(index.values)
        return Adjusted(
            name=name,
            original=figure.value,
            index=index.name.replace("_", " "),
            cited=cite([index.article if index.act == self.figures.act else f"{index.article} ({index.act})"]),
            base_month=words.month_name(base),
            month=words.month_name(month),
            base_value=known[base],
            value=known[month],
            amount=self.value(name),
        )


def _comma_after(cited: str) -> str:
    """Comma that closes a citation which ends within an article: "art. 7º, § 2º, da Lei", but "arts. 6º e 7º da Lei"."""
    return "," if re.search(r"§|parágrafo|, [IVXLC]+$", cited.rpartition(", e ")[2]) else ""


def times(multiplier: Decimal) -> str:
    """Say how many times something is charged, agreeing with a feminine noun.

    Examples
    --------
    >>> times(Decimal("2")), times(Decimal("3.0")), times(Decimal("1.5"))
    ('em dobro', 'em triplo', 'multiplicada por 1,5')
    """
    return TIMES.get(multiplier, f"multiplicada por {words.number(multiplier)}")


def share_in_words(share: Decimal) -> str:
    """Write a share of one in full where it is a whole number of per cent, else in digits.

    Examples
    --------
    >>> share_in_words(Decimal("0.20")), share_in_words(Decimal("0.125"))
    ('vinte por cento', '12,5%')
    """
    hundredths = share * 100
    if hundredths != hundredths.to_integral_value():
        return words.percent(share)
    return f"{num2words(int(hundredths), lang='pt_BR')} por cento"


def days_in_words(days: Decimal) -> str:
    """Write a term in days in full.

    Examples
    --------
    >>> days_in_words(Decimal(30)), days_in_words(Decimal(1))
    ('trinta dias', 'um dia')
    """
    return f"{words.count_in_words(int(days))} {'dia' if days == 1 else 'dias'}"


def day_of_year(day: Decimal, month: Decimal) -> str:
    """Write a day of every year.

    Examples
    --------
    >>> day_of_year(Decimal(10), Decimal(3)), day_of_year(Decimal(1), Decimal(5))
    ('10 de março', '1º de maio')
    """
    return f"{'1º' if day == 1 else int(day)} de {words.MONTHS[int(month) - 1]}"


def _step(low: Decimal, bracket: Bracket) -> ScaleStep:
    high = bracket.up_to
    return ScaleStep(low / METRES_PER_KM, None if high is None else high / METRES_PER_KM, bracket.value)
