"""Why an operator's month differs from the one before, in causes that add up to the difference to the cent.

Pieces are matched by the id of their segment, cabinets by theirs; rows of one id count together, so that ids that
repeat do no harm. What an id costs is a product of factors, each exact:

    metres × share not held × share that pays × mean width × mean land value × law (L × D) × multiplier × days
    × share that no court suspends × R

Each mean is weighted by what stands before it, so that the product is the exact sum over the pieces. The factors of
last month are replaced by this month's one after another, in the order of :data:`FACTORS`; what the product changes
by at a step is that cause's amount. The steps telescope: all causes together are the exact difference. R comes last:
new segments enter at last month's R, and what a changed R does to the whole network stands in one place. For a new
segment, or one that wasn't priced last month, last month's R is the one that all of the operator's priced metres had;
where there was none, or several (``reducer_scope = permit``), it enters at this month's.

A changed mean land value is split in two: first the zones that a segment lies in in both months take this month's
value (``edition``), the rest comes of lying in other zones or in other shares of them (``zones``: the drawing, the
limits of another edition, or a policy). Where metres of the segment are newly held, released or paid by another line,
that rest belongs to this: those metres had a value of their own. Cabinets have a volume in place of metres, a price per
m³ in place of the law's indices, and no R.

Every cause is rounded once, to the cent; what that and the rounding of the two months' lines leave is ``rounding``.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from fractions import Fraction
from math import prod

from geobill.domain.check import Cause, OperatorComparison
from geobill.domain.money import round_money
from geobill.errors import BooksDontCloseError

PRICED, HELD, SHARED = "priced", "held", "shared"
NEW_SEGMENTS, NEW_CABINETS = "new_segments", "new_cabinets"
REMOVED_SEGMENTS, REMOVED_CABINETS = "removed_segments", "removed_cabinets"
LENGTH, VOLUME, NEWLY_HELD, RELEASED, STRIP = "length", "volume", "held", "released", "shared_strip"
WIDTH, EDITION, ZONES, LAW, MULTIPLIER, DAYS, REDUCER = (
    "width", "edition", "zones", "law", "multiplier", "days", "reducer",
)  # fmt: skip
SUSPENDED, RESUMED = "suspended", "resumed"
EXEMPT, RECOMPUTED, ROUNDING = "exempt", "recomputed", "rounding"
FACTORS: tuple[str, ...] = (LENGTH, NEWLY_HELD, STRIP, WIDTH, EDITION, LAW, MULTIPLIER, DAYS, SUSPENDED, REDUCER)
CAUSES: tuple[str, ...] = (
    NEW_SEGMENTS,
    NEW_CABINETS,
    REMOVED_SEGMENTS,
    REMOVED_CABINETS,
    LENGTH,
    VOLUME,
    NEWLY_HELD,
    RELEASED,
    STRIP,
    WIDTH,
    EDITION,
    ZONES,
    LAW,
    MULTIPLIER,
    DAYS,
    SUSPENDED,  # a court's order keeps it from being demanded
    RESUMED,
    REDUCER,
    EXEMPT,  # the law doesn't reach the operator any more (art. 13)
    RECOMPUTED,  # this geobill computes another total than was issued, from the invoice's own archive
    ROUNDING,
)
EXAMPLES = 3
ZERO, ONE, CENT_AND_HALF = Fraction(0), Fraction(1), Fraction(1, 200)
_VALUE, _REDUCER = FACTORS.index(EDITION), FACTORS.index(REDUCER)


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of a segment, or a cabinet, in one month; ``quantity`` is metres, or cubic metres of a cabinet.

    ``state`` is priced, held, or shared (another line of the same strip pays for it); factors of what isn't priced
    don't matter. ``law`` is L × D, or the price per m³; ``days`` the share of the month, ``demanded`` the share of its
    price that no court suspends.
    """

    id: str
    quantity: Fraction
    network: bool = True
    zone: str | None = None
    state: str = PRICED
    width: Fraction = ONE
    land_value: Fraction = ONE
    law: Fraction = ONE
    multiplier: Fraction = ONE
    days: Fraction = ONE
    demanded: Fraction = ONE
    reducer: Fraction = ONE

    def signature(self) -> tuple[object, ...]:
        """Return all that its price depends on but R."""
        if self.state != PRICED:
            return (self.state, "", self.quantity)
        factors = (self.width, self.land_value, self.law, self.multiplier, self.days, self.demanded)
        return (self.state, self.zone or "", self.quantity, *factors)


@dataclass(frozen=True)
class Side:
    """One operator's month: its total, of how many rounded lines it is the sum, and what lies under them."""

    total: Decimal
    lines: int
    parts: Sequence[Part]


@dataclass
class _Found:
    """What was found of one cause so far."""

    amount: Fraction = ZERO
    metres: Fraction = ZERO
    ids: list[str] = field(default_factory=list)


class _Effects(defaultdict[str, _Found]):
    """Effects by cause."""

    def __init__(self) -> None:
        super().__init__(_Found)

    def add(self, cause: str, ids: Iterable[str], metres: Fraction, amount: Fraction) -> None:
        found = self[cause]
        found.amount += amount
        found.metres += metres
        found.ids.extend(ids)


def compare_operator(
    operator: str, previous: Side, current: Side, *, issued_total: Decimal | None, exempt: bool = False
) -> OperatorComparison:
    """Compare an operator's two months.

    Parameters
    ----------
    operator : str
        Its id.
    previous, current : Side
        The two months as they are computed.
    issued_total : Decimal or None
        Last month's total as issued; None where nothing was issued and ``previous`` is that month priced now.
    exempt : bool
        Whether the law doesn't reach the operator this month.

    Raises
    ------
    BooksDontCloseError
        If the causes leave more than rounding can: a fault of the program, which must not pass as rounding.
    """
    effects = _Effects()
    if exempt:
        ids = sorted({p.id for p in previous.parts})
        effects.add(EXEMPT, ids, _metres(previous.parts), -Fraction(previous.total))
    else:
        _match(previous.parts, current.parts, effects)
    causes = [_cause(code, effects[code]) for code in CAUSES if code in effects]
    difference = current.total - previous.total
    rest = difference - sum((c.amount for c in causes), Decimal("0.00"))
    if abs(rest) > CENT_AND_HALF * (previous.lines + current.lines + len(causes)):
        raise BooksDontCloseError(
            f"The difference of {operator} from last month is R$ {difference}, its causes leave R$ {rest} unexplained: more "
            "than rounding can. Nothing was recorded; please report this with the workspace."
        )
    was = previous.total if issued_total is None else issued_total
    for code, amount in ((RECOMPUTED, previous.total - was), (ROUNDING, rest)):
        if amount:
            causes.append(Cause(code, 0, Decimal("0.00"), amount))
    return OperatorComparison(
        operator, was, current.total, current.total - was, issued_total is not None, tuple(causes)
    )


def _match(before: Sequence[Part], after: Sequence[Part], effects: _Effects) -> None:
    old, new = _by_id(before), _by_id(after)
    usual = {p.reducer for p in before if p.network and p.state == PRICED}
    reducer = usual.pop() if len(usual) == 1 else None
    for key in sorted(set(old) | set(new)):
        was, now = old.get(key), new.get(key)
        if was is None and now is not None:
            _appeared(key, now, reducer, effects)
        elif now is None and was is not None:
            cause = REMOVED_SEGMENTS if key[0] else REMOVED_CABINETS
            effects.add(cause, [key[1]], _metres(was), -_charge(was))
        elif was is not None and now is not None and not _same(key, was, now, effects):
            _changed(key, was, now, reducer, effects)


def _appeared(key: tuple[bool, str], now: Sequence[Part], reducer: Fraction | None, effects: _Effects) -> None:
    entering = now if reducer is None or not key[0] else [replace(p, reducer=reducer) for p in now]
    at_old, metres = _charge(entering), _metres(now)
    effects.add(NEW_SEGMENTS if key[0] else NEW_CABINETS, [key[1]], metres, at_old)
    rest = _charge(now) - at_old
    if rest:
        effects.add(REDUCER, [key[1]], metres, rest)


def _same(key: tuple[bool, str], was: list[Part], now: list[Part], effects: _Effects) -> bool:
    """Whether nothing but R differs; then its effect is added here, the short way."""
    if len(was) != len(now):
        return False
    was, now = (sorted(parts, key=_in_order) if len(parts) > 1 else parts for parts in (was, now))
    if any(a.signature() != b.signature() for a, b in zip(was, now, strict=True)):
        return False
    if any(a.reducer != b.reducer for a, b in zip(was, now, strict=True) if a.state == PRICED):
        effects.add(REDUCER, [key[1]], _metres(now), _charge(now) - _charge(was))
    return True


def _in_order(part: Part) -> tuple[object, ...]:
    """Key that puts equal parts side by side, whatever the order of rows: parts that differ in R alone by their R."""
    return (part.signature(), part.reducer)


def _changed(
    key: tuple[bool, str], was: Sequence[Part], now: Sequence[Part], reducer: Fraction | None, effects: _Effects
) -> None:
    old, new = _factors(was), _factors(now)
    if old[_REDUCER] is None and key[0]:
        old[_REDUCER] = reducer
    for n, (a, b) in enumerate(zip(old, new, strict=True)):  # what has no factor in one month takes the other's
        old[n], new[n] = a if a is not None else b, b if b is not None else a
    first, last = ([ONE if f is None else f for f in factors] for factors in (old, new))
    metres, counted = _metres(now), set[str]()
    for n, cause in enumerate(FACTORS):
        rest = prod(last[:n], start=ONE) * prod(first[n + 1 :], start=ONE)
        step = last[n] - first[n]
        if n == _VALUE:
            middle = _edition_value(was, now, first[n])
            steps = ((EDITION, middle - first[n]), (_mix(first, last), last[n] - middle))
        elif cause == LENGTH and not key[0]:
            steps = ((VOLUME, step),)
        elif cause == NEWLY_HELD:
            steps = ((_held_or_released(step), step),)
        elif cause == SUSPENDED:
            steps = ((SUSPENDED if step < 0 else RESUMED, step),)
        else:
            steps = ((cause, step),)
        for name, by in steps:
            if by and name in counted:
                effects.add(name, [], ZERO, rest * by)
            elif by:
                counted.add(name)
                concerned = {
                    LENGTH: metres - _metres(was),
                    NEWLY_HELD: _metres(now, HELD) - _metres(was, HELD),
                    RELEASED: _metres(was, HELD) - _metres(now, HELD),
                }
                effects.add(name, [key[1]], concerned.get(name, metres), rest * by)


def _held_or_released(step: Fraction) -> str:
    return NEWLY_HELD if step < 0 else RELEASED


def _mix(first: Sequence[Fraction], last: Sequence[Fraction]) -> str:
    """Cause of other shares of the zones in a segment: metres that came into the price or left it, else its zones."""
    held, strip = FACTORS.index(NEWLY_HELD), FACTORS.index(STRIP)
    if first[held] != last[held]:
        return _held_or_released(last[held] - first[held])
    return STRIP if first[strip] != last[strip] else ZONES


def _factors(parts: Sequence[Part]) -> list[Fraction | None]:
    """Return an id's factors in the order of ``FACTORS``, None where there is nothing to take a mean of."""
    masses = [sum((p.quantity for p in parts if p.state != HELD), ZERO)]
    priced = [p for p in parts if p.state == PRICED]
    products = [p.quantity for p in priced]
    masses.append(sum(products, ZERO))
    for name in ("width", "land_value", "law", "multiplier", "days", "demanded", "reducer"):
        products = [m * getattr(p, name) for m, p in zip(products, priced, strict=True)]
        masses.append(sum(products, ZERO))
    whole = sum((p.quantity for p in parts), ZERO)
    return [whole, *(mass / before if before else None for before, mass in zip([whole, *masses], masses, strict=False))]


def _edition_value(was: Sequence[Part], now: Sequence[Part], value: Fraction) -> Fraction:
    """Mean land value of last month's pieces once the zones that remain have taken this month's value.

    The name of a zone may stand for several values: one that it has in both months stays, the others take the mean of
    those that are new to it.
    """
    before, after = _masses(was), _masses(now)
    whole = sum(before.values(), ZERO)
    if not whole:
        return value
    new: dict[str | None, list[tuple[Fraction, Fraction]]] = defaultdict(list)
    for (zone, t), mass in after.items():
        if (zone, t) not in before:
            new[zone].append((mass, mass * t))
    taken = ZERO
    for (zone, t), mass in before.items():
        moved = (zone, t) not in after and zone in new
        taken += mass * (sum(v for _, v in new[zone]) / sum(m for m, _ in new[zone]) if moved else t)
    return taken / whole


def _masses(parts: Iterable[Part]) -> dict[tuple[str | None, Fraction], Fraction]:
    """Square metres that are priced, by zone and value."""
    found: dict[tuple[str | None, Fraction], Fraction] = defaultdict(Fraction)
    for p in parts:
        if p.state == PRICED and p.quantity:
            found[p.zone, p.land_value] += p.quantity * p.width
    return found


def _charge(parts: Iterable[Part]) -> Fraction:
    return sum(
        (
            p.quantity * p.width * p.land_value * p.law * p.multiplier * p.days * p.demanded * p.reducer
            for p in parts
            if p.state == PRICED
        ),
        ZERO,
    )


def _metres(parts: Iterable[Part], state: str | None = None) -> Fraction:
    return sum((p.quantity for p in parts if p.network and state in (None, p.state)), ZERO)


def _by_id(parts: Sequence[Part]) -> dict[tuple[bool, str], list[Part]]:
    found: dict[tuple[bool, str], list[Part]] = defaultdict(list)
    for part in parts:
        found[part.network, part.id].append(part)
    return found


def _cause(code: str, found: _Found) -> Cause:
    return Cause(code, len(found.ids), _plain_metres(found.metres), _signed(found.amount), tuple(found.ids[:EXAMPLES]))


def _plain_metres(exact: Fraction) -> Decimal:
    """Metres as they are measured: with two decimals at least, and never rounded."""
    metres = Decimal(exact.numerator) / Decimal(exact.denominator)
    return max(metres, metres.quantize(Decimal("0.01")), key=lambda m: -m.as_tuple().exponent)


def _signed(exact: Fraction) -> Decimal:
    return round_money(exact) if exact >= 0 else -round_money(-exact)
