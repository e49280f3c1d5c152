"""Priced lines: pieces and cabinets with the same factors stand on one line, the exact product of them, rounded once."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal, Inexact, localcontext
from typing import Any

from geobill.domain.dates import BillingMonth
from geobill.domain.invoice import Line
from geobill.domain.money import round_money
from geobill.domain.ratio import Ratio
from geobill.law.charge import Asked
from geobill.law.policy import Policy
from geobill.law.statutes.street_use import StreetUseLaw

ZERO_M = Decimal("0.00")
NO_DECREE = "no_decree"


@dataclass(frozen=True)
class Stretch:
    """A piece with what its price depends on; ``length_m`` is exact.

    ``payer`` is the segment that pays for it where a shared strip pays once (``same_strip = once``), ``payer_row`` that
    row's label: such a piece stands on no line. ``inside`` are the numbers of the courts' orders within whose area it
    lies. ``suspension`` is the order that keeps it from being demanded; with ``less`` it is only what ``status`` costs
    above that status. ``again`` marks the further rows that one piece became: the same metres once more. ``cases`` are
    the ids of the decided cases by which it is charged.
    """

    segment: str
    service: str | None
    permit: str | None
    status: str
    zone: str | None
    land_value: Decimal | None
    length_m: Decimal
    billed_width_m: Decimal
    days: int
    held: str | None
    flags: tuple[str, ...]
    payer: str | None = None
    payer_row: Any = None
    geometry: Any = None
    inside: tuple[int, ...] = ()
    suspension: str | None = None
    less: str | None = None
    again: bool = False
    cases: tuple[str, ...] = ()

    def group(self) -> tuple[Any, ...]:
        """Return what the pieces of one line have in common (contract, "Lines are grouped by"), and the cases that charge it."""
        return (
            self.service,
            self.permit,
            self.zone,
            self.land_value,
            self.billed_width_m,
            self.status,
            self.days,
            self.flags,
            self.less,
            self.cases,
        )


@dataclass(frozen=True)
class Cabinet:
    """A cabinet or container with what its price depends on; from ``suspension`` on as of a :class:`Stretch`."""

    equipment: str
    service: str | None
    permit: str | None
    status: str
    volume_m3: Decimal
    days: int
    flags: tuple[str, ...]
    suspension: str | None = None
    less: str | None = None
    again: bool = False
    cases: tuple[str, ...] = ()

    def group(self) -> tuple[Any, ...]:
        """Return what the cabinets of one line have in common."""
        return (self.service, self.permit, self.status, self.days, self.flags, self.less, self.cases)


class Prices:
    """The law, the month and the policy: what every line needs besides its own figures.

    Figures of law are those of ``on``, the month's first day where it isn't given. ``decrees`` gives the day of
    publication of each permit's decree; None takes every row that names a permit as decreed.
    """

    def __init__(
        self,
        law: StreetUseLaw,
        month: BillingMonth,
        policy: Policy,
        decrees: Mapping[str, date] | None = None,
        on: date | None = None,
    ):
        self.law, self.month, self.policy, self.decrees = law, month, policy, decrees
        self.on = on or law.day_for(month)

    def decree_flags(self, permit: str | None) -> tuple[str, ...]:
        """Return the flag of what stands without a decree published by the month's last day (art. 16)."""
        if self.decrees is None:
            return () if permit else (NO_DECREE,)
        published = self.decrees.get(permit) if permit else None
        return () if published is not None and published <= self.month.last_day else (NO_DECREE,)

    def network_lines(self, stretches: Iterable[Stretch], reducer: Decimal | Ratio) -> dict[tuple[Any, ...], Line]:
        """Lines of the stretches that are priced and pay for themselves, by their group, in printing order."""
        metres: dict[tuple[Any, ...], Decimal] = defaultdict(lambda: ZERO_M)
        for s in stretches:
            if not s.held and s.payer is None:
                metres[s.group()] += s.length_m
        lines = {}
        for group in sorted(metres, key=printing_order):
            service, permit, zone, land_value, width, status, days, flags, less, cases = group
            asked = self._network(metres[group], width, land_value, reducer, status, less)
            lines[group] = Line(
                kind="network",
                service=service,
                permit=permit,
                zone=zone,
                land_value=land_value,
                length_m=metres[group],
                billed_width_m=width,
                volume_m3=None,
                cases=cases,
                **self._amount(asked, days, flags),
            )
        return lines

    def equipment_lines(self, cabinets: Iterable[Cabinet]) -> dict[tuple[Any, ...], Line]:
        """Lines of cabinets by their group, by volume or by the piece as the law has it, in printing order."""
        volumes: dict[tuple[Any, ...], Decimal] = defaultdict(Decimal)
        pieces: dict[tuple[Any, ...], int] = defaultdict(int)
        for c in cabinets:
            volumes[c.group()] += c.volume_m3
            pieces[c.group()] += 1
        lines = {}
        for group in sorted(volumes, key=printing_order):
            service, permit, status, days, flags, less, cases = group
            asked = self.equipment(volumes[group], status, less, pieces[group])
            by_piece = asked.price_per_piece is not None
            lines[group] = Line(
                kind="equipment",
                service=service,
                permit=permit,
                zone=None,
                land_value=None,
                length_m=None,
                billed_width_m=None,
                volume_m3=None if by_piece else volumes[group],
                pieces=pieces[group] if by_piece else None,
                price_per_piece=asked.price_per_piece,
                cases=cases,
                **self._amount(asked, days, flags),
            )
        return lines

    def exact(self, piece: Stretch, reducer: Decimal | Ratio) -> Decimal:
        """Exact amount of a priced piece for a whole month: the line's factors over the piece's own metres.

        Where R is a Ratio, the amount before that factor; 0 where another segment pays for the piece.
        """
        if piece.payer is not None:
            return Decimal(0)
        assert piece.land_value is not None
        factors = (piece.length_m, piece.billed_width_m, piece.land_value, reducer, piece.status)
        return self._network(*factors, piece.less).exact

    def equipment(self, volume_m3: Decimal, status: str, less: str | None = None, pieces: int = 1) -> Asked:
        """Price of cabinets under a status for a whole month, or what it is above that of another status."""
        cumulate = self.policy.doublings_cumulate
        asked = self.law.equipment(volume_m3, status, self.on, cumulate=cumulate, pieces=pieces)
        if less is None:
            return asked
        return above(asked, self.law.equipment(volume_m3, less, self.on, cumulate=cumulate, pieces=pieces))

    def _network(
        self,
        length_m: Decimal,
        width_m: Decimal,
        land_value: Decimal,
        reducer: Decimal | Ratio,
        status: str,
        less: str | None,
    ) -> Asked:
        factors, cumulate = (length_m, width_m, land_value, reducer), self.policy.doublings_cumulate
        asked = self.law.network(*factors, status, self.on, cumulate=cumulate)
        return asked if less is None else above(asked, self.law.network(*factors, less, self.on, cumulate=cumulate))

    def _amount(self, asked: Asked, days: int, flags: tuple[str, ...]) -> dict[str, Any]:
        return {
            "price_per_m3": asked.price_per_m3,
            "location_index": asked.location_index,
            "depreciation_index": asked.depreciation_index,
            "reducer": asked.reducer,
            "multiplier": asked.multiplier,
            "days": days,
            "month_days": self.month.days,
            "amount": round_money(asked.for_days(days, self.month.days), self.policy.rounding),
            "articles": (*asked.articles, *(self.law.articles(NO_DECREE, self.on) if NO_DECREE in flags else ())),
            "flags": flags,
        }


def above(whole: Asked, part: Asked) -> Asked:
    """Return what a price asks above one that differs from it in the multiplier alone: itself a product of its factors."""
    with localcontext() as exact:
        exact.prec = 120
        exact.traps[Inexact] = True
        return replace(whole, multiplier=whole.multiplier - part.multiplier, exact=whole.exact - part.exact)


def printing_order(group: tuple[Any, ...]) -> tuple[str, ...]:
    """Key that sorts the groups of lines as they are printed."""
    return tuple(
        f"{v:020.8f}" if isinstance(v, Decimal) else f"{v:04d}" if isinstance(v, int) else str(v or "") for v in group
    )
