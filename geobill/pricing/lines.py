"""Priced lines: pieces and cabinets with the same factors stand on one line, the exact product of them, rounded once."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from geobill.domain.dates import BillingMonth
from geobill.domain.invoice import Line
from geobill.domain.money import round_money
from geobill.law.charge import Asked
from geobill.law.policy import Policy
from geobill.law.statutes.caieiras_lei_3057_2001 import StreetUseLaw

ZERO_M = Decimal("0.00")
NO_DECREE = "no_decree"


@dataclass(frozen=True)
class Stretch:
    """A piece with what its price depends on; ``length_m`` is exact."""

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
    geometry: Any = None

    def group(self) -> tuple[Any, ...]:
        """Return what the pieces of one line have in common (contract, "Lines are grouped by")."""
        return (
            self.service,
            self.permit,
            self.zone,
            self.land_value,
            self.billed_width_m,
            self.status,
            self.days,
            self.flags,
        )


@dataclass(frozen=True)
class Cabinet:
    """A cabinet or container with what its price depends on."""

    equipment: str
    service: str | None
    permit: str | None
    status: str
    volume_m3: Decimal
    days: int
    flags: tuple[str, ...]

    def group(self) -> tuple[Any, ...]:
        """Return what the cabinets of one line have in common."""
        return (self.service, self.permit, self.status, self.days, self.flags)


class Prices:
    """The law, the month and the policy: what every line needs besides its own figures."""

    def __init__(self, law: StreetUseLaw, month: BillingMonth, policy: Policy):
        self.law, self.month, self.policy = law, month, policy

    def network_lines(self, stretches: Iterable[Stretch], reducer: Decimal) -> dict[tuple[Any, ...], Line]:
        """Lines of priced stretches by their group, in printing order."""
        metres: dict[tuple[Any, ...], Decimal] = defaultdict(lambda: ZERO_M)
        for s in stretches:
            metres[s.group()] += s.length_m
        lines = {}
        for group in sorted(metres, key=_printing_order):
            service, permit, zone, land_value, width, status, days, flags = group
            asked = self.law.network(metres[group], width, land_value, reducer, status, self.month.first_day)
            lines[group] = Line(
                kind="network",
                service=service,
                permit=permit,
                zone=zone,
                land_value=land_value,
                length_m=metres[group],
                billed_width_m=width,
                volume_m3=None,
                **self._amount(asked, days, flags),
            )
        return lines

    def equipment_lines(self, cabinets: Iterable[Cabinet]) -> dict[tuple[Any, ...], Line]:
        """Lines of cabinets by their group, by volume, in printing order."""
        volumes: dict[tuple[Any, ...], Decimal] = defaultdict(Decimal)
        for c in cabinets:
            volumes[c.group()] += c.volume_m3
        lines = {}
        for group in sorted(volumes, key=_printing_order):
            service, permit, status, days, flags = group
            asked = self.law.equipment(volumes[group], status, self.month.first_day)
            lines[group] = Line(
                kind="equipment",
                service=service,
                permit=permit,
                zone=None,
                land_value=None,
                length_m=None,
                billed_width_m=None,
                volume_m3=volumes[group],
                **self._amount(asked, days, flags),
            )
        return lines

    def exact(self, piece: Stretch, reducer: Decimal) -> Decimal:
        """Exact amount of a priced piece for a whole month: the line's factors over the piece's own metres."""
        assert piece.land_value is not None
        on = self.month.first_day
        return self.law.network(piece.length_m, piece.billed_width_m, piece.land_value, reducer, piece.status, on).exact

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
            "articles": (*asked.articles, "16") if NO_DECREE in flags else asked.articles,
            "flags": flags,
        }


def _printing_order(group: tuple[Any, ...]) -> tuple[str, ...]:
    return tuple(
        f"{v:020.8f}" if isinstance(v, Decimal) else f"{v:04d}" if isinstance(v, int) else str(v or "") for v in group
    )
