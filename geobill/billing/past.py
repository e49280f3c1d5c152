"""Past months of a case: what each costs, what was paid for it, and how far back it may be demanded (arts. 10 § 3, 12 §§ 2, 3)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal

from geobill.domain.dates import BillingMonth, months_after
from geobill.domain.invoice import AmountIf, Decision, Held, Line
from geobill.domain.money import round_money
from geobill.domain.note import NoteLine
from geobill.law.policy import KEYS, Policy, decision_behind

LIMITATION = "limitation"
QUESTION = "limitation_years"
UNDECIDED_YEARS = int(next(k.default for k in KEYS if k.key == QUESTION))
ZERO = Decimal("0.00")


@dataclass(frozen=True)
class PastMonth:
    """What a case's metres cost in one month, in reais, and what was demanded for them before.

    ``lines`` are those of the case alone, whose amounts add up to ``now``; ``held`` metres by the code of their reason.
    ``due_on`` is the day on which the month was due (art. 8), from which its age is counted.
    """

    month: BillingMonth
    due_on: date
    lines: tuple[Line, ...]
    now: Decimal
    before: Decimal
    edition: str | None
    reducer: str | None
    held: tuple[tuple[str, Decimal], ...] = ()
    invoice: str | None = None

    @property
    def amount(self) -> Decimal:
        """Return what is still to be demanded, in reais; never less than nothing."""
        return max(self.now - self.before, ZERO)


@dataclass(frozen=True)
class Limitation:
    """How many years of past months are demanded, None for all of them, and the decision that says so (art. 15).

    Without a decision the default counts, and what is older waits; with one, what is older is not demanded.
    """

    years: int | None
    decision: str | None

    def reaches(self, due_on: date, on: date) -> bool:
        """Whether a month that was due on a day is still demanded on another."""
        return self.years is None or months_after(due_on, 12 * self.years) >= on


@dataclass(frozen=True)
class Demand:
    """The past months of a case: demanded, waiting for a decision (``held``), or given up by one (``lapsed``)."""

    demanded: tuple[PastMonth, ...]
    held: tuple[PastMonth, ...]
    lapsed: tuple[PastMonth, ...]
    limitation: Limitation

    @property
    def total(self) -> Decimal:
        """Return what is demanded, in reais."""
        return sum((m.amount for m in self.demanded), ZERO)


def part_of(line: Line, rounding: str, quantity: Decimal | int) -> Line:
    """Return a line over a part of its quantity: metres of network, cubic metres or pieces of equipment.

    The amount is the exact product of the factors, rounded once: what the part would cost on a line of its own.
    """
    name = "length_m" if line.kind == "network" else "pieces" if line.pieces is not None else "volume_m3"
    part = replace(line, **{name: quantity})  # type: ignore[arg-type]
    return replace(part, amount=round_money(part.exact, rounding))


def whole_days(lines: Iterable[Line], month: BillingMonth) -> tuple[Line, ...]:
    """Return lines of whole months as those of another whole month: the same amounts, its own days."""
    return tuple(replace(line, days=month.days, month_days=month.days) for line in lines)


def limitation_of(policy: Policy, decisions: Mapping[str, Decision], on: date) -> Limitation:
    """How far back past months are demanded: the policy ``limitation_years`` where a decision says it, else the default.

    The law has no term. Five and ten years are argued, and none: what is older than five waits until somebody decides.
    ``policy`` and decision are those in force on the day of the demand.
    """
    decision = decision_behind(QUESTION, policy, decisions, on)
    if decision is not None:
        return Limitation(policy.limitation_years, decision.id)
    return Limitation(min(policy.limitation_years or UNDECIDED_YEARS, UNDECIDED_YEARS), None)


def divide(months: Sequence[PastMonth], limitation: Limitation, on: date) -> Demand:
    """Divide months, each with something to demand, by their age on a day."""
    owed = [m for m in months if m.amount > 0]
    young = tuple(m for m in owed if limitation.reaches(m.due_on, on))
    old = tuple(m for m in owed if not limitation.reaches(m.due_on, on))
    return Demand(young, () if limitation.decision else old, old if limitation.decision else (), limitation)


def note_lines(demand: Demand, what: str, articles: tuple[str, ...]) -> tuple[NoteLine, ...]:
    """One line a month, in time's order, with the lines that make up its figure."""
    return tuple(
        NoteLine(
            month=m.month,
            what=what,
            now=m.now,
            before=m.before,
            amount=m.amount,
            articles=articles,
            invoice=m.invoice,
            edition=m.edition,
            reducer=m.reducer,
            lines=m.lines,
        )
        for m in demand.demanded
    )


def held_by_year(operator: str, demand: Demand) -> tuple[Held, ...]:
    """Months that wait for a decision on limitation, a year at a time, each with what it would cost."""
    years: dict[int, list[PastMonth]] = {}
    for m in demand.held:
        years.setdefault(m.month.year, []).append(m)
    return tuple(
        Held(
            operator=operator,
            segment=None,
            code=LIMITATION,
            reason=f"{_span(months)}: older than {demand.limitation.years} years; the law has no term of limitation, held until a "
            "decision says how many years count (art. 15)",
            article="15",
            length_m=max(sum((line.length_m or ZERO for line in m.lines), ZERO) for m in months),
            amount_if=AmountIf(f"{len(months)} months without limitation", sum((m.amount for m in months), ZERO)),
        )
        for _, months in sorted(years.items())
    )


def _span(months: Sequence[PastMonth]) -> str:
    first, last = months[0].month, months[-1].month
    return str(first) if first == last else f"{first} to {last}"
