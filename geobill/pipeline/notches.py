"""The notch report: each network of a month beside the edges of the scale of R, and what some metres would change."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction

from geobill.domain.dates import BillingMonth
from geobill.domain.invoice import Bill, Line
from geobill.domain.money import round_money
from geobill.domain.network import Operator
from geobill.domain.notch_report import (
    ABOVE_SCALE,
    BEFORE_EDGE,
    IN_NOTCH,
    OUTSIDE,
    EdgeRange,
    NotchReport,
    NotchRow,
    Supposed,
)
from geobill.law.figures import Bracket, StatuteFigures
from geobill.law.notches import (
    Approach,
    Notch,
    Step,
    find_approaches,
    find_notches,
    step_at,
    steps_of,
    would_pay,
)
from geobill.law.policy import decided_reducer
from geobill.pipeline.month import Month, Stored, Terms, decrees_of
from geobill.pricing.in_force import due_rows
from geobill.pricing.lines import Prices
from geobill.pricing.scopes import Scope, scopes
from geobill.store.workspace import Workspace

WHOLE, GRADUATED = "whole", "graduated"
CENTIMETRE, METRE = Fraction(1, 100), Fraction(1)
FOUR_PLACES = Decimal("0.0001")


@dataclass(frozen=True)
class _Scale:
    """The scale in force with its notches, as each row is held against it."""

    steps: tuple[Step, ...]
    notches: tuple[Notch, ...]
    approaches: tuple[Approach, ...]
    rounding: str
    clandestine_counts: bool


@dataclass(frozen=True)
class Reported:
    """The report with the statute that it cites."""

    report: NotchReport
    figures: StatuteFigures


def report_notches(workspace: Workspace, month: BillingMonth) -> Reported:
    """Report where each operator's (or permit's) network of a month stands beside the notches of R; changes nothing.

    Raises
    ------
    InputError, LawError, PolicyError
        As pricing refuses.
    """
    with workspace.database.read() as connection:
        found = Stored(workspace, connection).price(month)
        law, on = found.law, found.law.day_for(month)
        figure = law.figures.figure("reducer", on)
        method = figure.method or found.policy.reducer_method
        head = NotchReport(
            month=month,
            statute=law.figures.id,
            statute_title=law.figures.title,
            article=figure.article,
            reducer_method=method,
            reducer_scope=found.policy.reducer_scope,
            scale=tuple((b.up_to, b.value) for b in figure.brackets),
            ranges=(),
            rows=(),
        )
        if method == GRADUATED:
            return Reported(head, law.figures)
        graduated = None
        if figure.method is None:  # a law that says "whole" itself has no graduated reading
            terms = Terms(changes={"reducer_method": GRADUATED})
            graduated = Stored(workspace, connection, terms).price(month, cut=found.priced.cut).bill
    scale = _scale_of(found, figure.brackets)
    rows = [
        _row(owner, scope, scale, found.bill, graduated)
        for owner, scope in _scopes(found)
        if scope.extension_m or scope.silence
    ]
    return Reported(replace(head, ranges=_ranges(scale), rows=tuple(rows)), law.figures)


def _scale_of(found: Month, brackets: tuple[Bracket, ...]) -> _Scale:
    policy = found.policy
    steps = steps_of(brackets, decided_reducer(policy, found.decisions))
    return _Scale(
        steps,
        find_notches(steps),
        find_approaches(steps),
        policy.rounding,
        policy.clandestine_counts_in_reducer,
    )


def _ranges(scale: _Scale) -> tuple[EdgeRange, ...]:
    """Each edge at which the price falls, with the metres before and past it that this touches."""
    edges = sorted({n.edge_m for n in scale.notches} | {a.edge_m for a in scale.approaches})
    return tuple(_range(edge, scale) for edge in edges)


def _range(edge: Fraction, scale: _Scale) -> EdgeRange:
    since = next((a.since_m for a in scale.approaches if a.edge_m == edge), None)
    until = next((n.until_m for n in scale.notches if n.edge_m == edge), None)
    return EdgeRange(edge, since, until)


def _scopes(found: Month) -> list[tuple[Operator, Scope]]:
    """Whose extensions set R in the month, by the code that prices it."""
    month, policy = found.bill.month, found.policy
    prices = Prices(found.law, month, policy, decrees_of(found.files))
    due = due_rows(found.segments, month, policy)
    measured = found.priced.cut.measure(due, prices)
    above = decided_reducer(policy, found.decisions)
    return [
        (o.operator, scope)
        for o in found.bill.operators
        for scope in scopes(due[due["operator"] == o.operator.id], measured, prices, above)
    ]


def _row(operator: Operator, scope: Scope, scale: _Scale, bill: Bill, graduated: Bill | None) -> NotchRow:
    extension = Fraction(scope.extension_m)
    step = step_at(extension, scale.steps)
    notch = next((n for n in scale.notches if n.holds(extension)), None)
    approach = next((a for a in scale.approaches if a.holds(extension)), None)
    lines = _lines(bill, operator.id, scope)
    amount = None if step is None else sum((line.amount for line in lines), Decimal("0.00"))
    counted = [line for line in lines if scale.clandestine_counts or line.multiplier == 1]
    metres = sum((Fraction(line.length_m or 0) for line in counted), Fraction(0))
    metre = sum(map(_at_one, counted), Fraction(0)) / metres if metres else None
    supposed: tuple[Supposed, ...] = ()
    if metre is not None and amount is not None:
        whole = sum(map(_at_one, lines), Fraction(0))
        supposed = tuple(
            _supposed(what, at, extension, whole, metre, amount, scale)
            for what, at in _places(extension, step)
            if at > 0
        )
    mine = None if graduated is None or step is None else _lines(graduated, operator.id, scope)
    return NotchRow(
        operator=operator.id,
        name=operator.name,
        permit=scope.permit,
        extension_m=scope.extension_m,
        reducer=None if step is None else _decimal(step.reducer),
        position=ABOVE_SCALE if step is None else IN_NOTCH if notch else BEFORE_EDGE if approach else OUTSIDE,
        notch=None if notch is None else _range(notch.edge_m, scale),
        approach=None if approach is None else _range(approach.edge_m, scale),
        lower_edge_m=_lower_edge(step, scale),
        upper_edge_m=None if step is None or step.up_to_m is None else _decimal(step.up_to_m),
        amount=amount,
        metre=None if metre is None else _decimal(metre, FOUR_PLACES),
        graduated=None if mine is None else sum((line.amount for line in mine), Decimal("0.00")),
        supposed=supposed,
    )


def _lower_edge(step: Step | None, scale: _Scale) -> Decimal | None:
    if step is None:
        last = scale.steps[-1].up_to_m
        return None if last is None else _decimal(last)
    return _decimal(step.above_m) if step.above_m else None


def _lines(bill: Bill, operator: str, scope: Scope) -> list[Line]:
    """Lines of a scope's network: of the whole operator, or of one permit."""
    mine: Iterable[Line] = next((o.lines for o in bill.operators if o.operator.id == operator), ())
    by_permit = any(use.key == "reducer_scope" and use.value == "permit" for use in bill.basis.policy)
    return [
        line for line in mine if line.kind == "network" and (not by_permit or (line.permit or None) == scope.permit)
    ]


def _at_one(line: Line) -> Fraction:
    """Price of a network's line at R = 1, exact, in reais."""
    factors = (
        line.length_m,
        line.billed_width_m,
        line.land_value,
        line.location_index,
        line.depreciation_index,
        line.multiplier,
    )
    exact = Fraction(line.days, line.month_days)
    for factor in factors:
        exact *= Fraction(factor or 0)
    return exact


def _places(extension: Fraction, step: Step | None) -> Sequence[tuple[str, Fraction]]:
    """Extensions at which the price is asked for: a metre to either side, the edges of the bracket, just past the upper one."""
    if step is None:
        return ()
    places = [("one_metre_less", extension - METRE), ("one_metre_more", extension + METRE)]
    if step.above_m:
        places.append(("lower_edge", step.above_m))
    if step.up_to_m is not None:
        places += [("upper_edge", step.up_to_m), ("past_upper_edge", step.up_to_m + CENTIMETRE)]
    return places


def _supposed(
    what: str, at: Fraction, extension: Fraction, whole: Fraction, metre: Fraction, now: Decimal, scale: _Scale
) -> Supposed:
    step, exact = step_at(at, scale.steps), would_pay(at, extension, whole, metre, scale.steps)
    amount = None if exact is None else round_money(max(exact, Fraction(0)), scale.rounding)
    return Supposed(
        what=what,
        extension_m=_decimal(at),
        reducer=None if step is None else _decimal(step.reducer),
        amount=amount,
        difference=None if amount is None else amount - now,
    )


def _decimal(exact: Fraction, places: Decimal | None = None) -> Decimal:
    """Decimal of a fraction that has an end, or rounded for print."""
    number = Decimal(exact.numerator) / Decimal(exact.denominator)
    return number.quantize(places) if places else number.quantize(Decimal("0.01")) if _is_short(number) else number


def _is_short(number: Decimal) -> bool:
    exponent = number.normalize().as_tuple().exponent
    return isinstance(exponent, int) and exponent >= -2
