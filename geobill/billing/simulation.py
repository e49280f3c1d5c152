"""Bills of the same months under two ways of pricing, added up side by side. Pure: it prices nothing itself."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from typing import TypeVar

from geobill.domain.invoice import Bill, Held, Line, OperatorBill
from geobill.domain.money import plain
from geobill.domain.simulation import HeldPair, MonthPair, OperatorPair, Pair, Simulation, ZonePair
from geobill.errors import BooksDontCloseError

ZERO = Decimal("0.00")
T = TypeVar("T")


def compare_bills(base: Sequence[Bill], scenario: Sequence[Bill]) -> Simulation:
    """Put bills of the same months side by side: by operator, by zone, by month, and what is held.

    Parameters
    ----------
    base, scenario : sequence of Bill
        One for each month, in the same order.

    Returns
    -------
    Simulation
        Reais are sums of the bills' own lines. Operators by the size of their difference, zones likewise.

    Raises
    ------
    BooksDontCloseError
        If operators, zones or months don't add up to the total of a side.
    """
    if [b.month for b in base] != [b.month for b in scenario]:
        raise ValueError("the two sides are of different months")
    amount = _pair(base, scenario, _total)
    held_m = _pair(base, scenario, lambda b: _metres(b.held))
    found = Simulation(
        months=tuple(
            MonthPair(b.month, Pair(_total(b), _total(s)), (b.basis.edition, s.basis.edition))
            for b, s in zip(base, scenario, strict=True)
        ),
        operators=_operators(base, scenario),
        zones=_zones(base, scenario),
        held=_held(base, scenario),
        amount=amount,
        held_m=held_m,
        held_if=_pair(base, scenario, lambda b: _would_be(b.held)),
        suspended=_pair(base, scenario, lambda b: sum((s.total for s in b.suspended), ZERO)),
    )
    _check_sums(found)
    return found


def _operators(base: Sequence[Bill], scenario: Sequence[Bill]) -> tuple[OperatorPair, ...]:
    sides = _by_operator(base), _by_operator(scenario)
    rows = []
    for owner in sorted({*sides[0], *sides[1]}):
        mine = sides[0].get(owner, []), sides[1].get(owner, [])
        rows.append(
            OperatorPair(
                operator=owner,
                name=(mine[1] or mine[0])[-1].operator.name,
                amount=_pair(*mine, lambda o: o.total),
                held_m=_pair(*mine, lambda o: _metres(o.held)),
                held_if=_pair(*mine, lambda o: _would_be(o.held)),
                suspended=_pair(*mine, lambda o: sum((s.total for s in o.suspended), ZERO)),
                reducers=(_reducers(mine[0]), _reducers(mine[1])),
                network_m=Pair(*(m[-1].network_length_m if m else ZERO for m in mine)),
            )
        )
    return tuple(sorted(rows, key=lambda r: (-abs(r.amount.difference), r.operator)))


def _by_operator(bills: Sequence[Bill]) -> dict[str, list[OperatorBill]]:
    found: dict[str, list[OperatorBill]] = defaultdict(list)
    for bill in bills:
        for o in bill.operators:
            found[o.operator.id].append(o)
    return found


def _reducers(months: Sequence[OperatorBill]) -> tuple[str, ...]:
    """Each R that an operator's network took, once, in the order of its months and lines."""
    found: dict[str, None] = {}
    for o in months:
        lines = [line for part in (o.lines, *(s.lines for s in o.suspended)) for line in part]
        of_lines = [line.reducer for line in lines if line.reducer is not None]
        for reducer in [o.reducer] if o.reducer is not None else of_lines:
            found[plain(reducer) if isinstance(reducer, Decimal) else str(reducer)] = None
        if any(h.segment is None for h in o.held):
            found["held"] = None
    return tuple(found)


def _zones(base: Sequence[Bill], scenario: Sequence[Bill]) -> tuple[ZonePair, ...]:
    sides = _by_zone(base), _by_zone(scenario)
    rows = [
        ZonePair(
            zone=key[1],
            kind=key[0],
            amount=_pair(*(s.get(key, []) for s in sides), lambda line: line.amount),
            length_m=_pair(*(s.get(key, []) for s in sides), lambda line: line.length_m or ZERO),
        )
        for key in {*sides[0], *sides[1]}
    ]
    return tuple(sorted(rows, key=lambda r: (-abs(r.amount.difference), r.kind, r.zone or "")))


def _by_zone(bills: Sequence[Bill]) -> dict[tuple[str, str | None], list[Line]]:
    """Lines by kind and name of the zone: values change between editions, names are what a person compares."""
    found: dict[tuple[str, str | None], list[Line]] = defaultdict(list)
    for bill in bills:
        for o in bill.operators:
            for line in o.lines:
                found[line.kind, line.zone].append(line)
    return found


def _held(base: Sequence[Bill], scenario: Sequence[Bill]) -> tuple[HeldPair, ...]:
    sides: tuple[list[Held], list[Held]] = ([h for b in base for h in b.held], [h for b in scenario for h in b.held])
    codes = {(h.code, h.article): None for side in sides for h in side}
    return tuple(
        HeldPair(
            code,
            article,
            _pair(*mine, lambda h: h.length_m),
            _pair(*mine, lambda h: h.amount_if.amount if h.amount_if else ZERO),
        )
        for code, article in codes
        for mine in [[[h for h in side if (h.code, h.article) == (code, article)] for side in sides]]
    )


def _total(bill: Bill) -> Decimal:
    return sum((o.total for o in bill.operators), ZERO)


def _metres(held: Iterable[Held]) -> Decimal:
    return sum((h.length_m for h in held), ZERO)


def _would_be(held: Iterable[Held]) -> Decimal:
    return sum((h.amount_if.amount for h in held if h.amount_if), ZERO)


def _pair(base: Iterable[T], scenario: Iterable[T], figure: Callable[[T], Decimal]) -> Pair:
    return Pair(*(sum(map(figure, side), ZERO) for side in (base, scenario)))


def _check_sums(found: Simulation) -> None:
    for name, parts in (("operators", found.operators), ("zones", found.zones), ("months", found.months)):
        amounts = [p.amount for p in parts]
        sums = sum((a.base for a in amounts), ZERO), sum((a.scenario for a in amounts), ZERO)
        if sums != (found.amount.base, found.amount.scenario):
            raise BooksDontCloseError(
                f"The {name} add up to R$ {sums[0]} and R$ {sums[1]}, the totals are R$ {found.amount.base} and R$ "
                f"{found.amount.scenario}. Nothing was written; please report this with the workspace."
            )
