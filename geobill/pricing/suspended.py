"""What courts keep from being demanded in a month: priced as ever, and set apart from what is charged.

The equipment stays in the street while a lawsuit goes on. So its metres still count in the network's extension and set R
(art. 7), and its price is worked out like any other: only the demand is suspended.

On each day of the month, each metre and each cabinet is settled by the orders that concern it:

* an order against the article of the price takes the whole price; of several, the one recorded first;
* where none takes the whole, orders against a doubling (arts. 10 § 2, 12 § 3) take what the price is above the one that
  the remaining articles ask, one after the other as they were recorded: no real is suspended twice;
* an order counts by its own days, whatever the policy ``proration``: that key speaks of when equipment comes and goes.

What is held, exempt or paid for with another line of its strip (``same_strip = once``) has no price of its own that a
court could suspend: nothing happens to it.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import lru_cache
from itertools import pairwise
from typing import Any

import geopandas as gpd
import numpy as np
import pandas as pd
import shapely

from geobill.domain.dates import BillingMonth
from geobill.domain.invoice import Line, Suspended
from geobill.domain.network import Operator
from geobill.domain.suspension import Suspension, SuspensionFile, service_key
from geobill.law.figures import StatuteFigures
from geobill.pricing.areas import Area
from geobill.pricing.in_force import text
from geobill.pricing.lines import ZERO_M, Cabinet, Prices
from geobill.pricing.network import Measured
from geobill.pricing.scopes import Scope

NETWORK, EQUIPMENT, CLANDESTINE, UNREGISTERED = "network", "equipment", "clandestine", "unregistered"
AMOUNTS: dict[str, tuple[str, ...]] = {  # what a court may take, and the figures whose article grounds it
    NETWORK: ("location_index",),
    EQUIPMENT: ("price_per_m3", "price_per_piece"),
    CLANDESTINE: ("clandestine_multiplier",),
    UNREGISTERED: ("unregistered_multiplier",),
}
WITHOUT: dict[tuple[str, str], str] = {  # status that remains where a doubling is disapplied
    ("clandestine", CLANDESTINE): "permitted",
    ("unregistered", UNREGISTERED): "existing",
    ("clandestine_unregistered", CLANDESTINE): "unregistered",
    ("clandestine_unregistered", UNREGISTERED): "clandestine",
}
Portion = tuple[
    str | None, str, str | None, int
]  # order that takes it (None: demanded), status, status less which, days


@dataclass(frozen=True)
class Order:
    """A suspension with its days of the month, both included, and its number among the month's orders."""

    number: int
    suspension: Suspension
    first_day: int
    last_day: int

    @property
    def polygons(self) -> Any:
        """Return its area; None for everywhere."""
        return None if self.suspension.area_wkt is None else _read_area(self.suspension.area_wkt)


@dataclass
class Taken:
    """What orders took of one operator.

    ``metres`` counts each metre once, ``again_m`` how many more metres stand on demanded lines than are priced: those of
    stretches suspended on some days only. ``labels`` are the rows concerned, ``by_order`` and ``again_by_order`` the
    metres of each order and those of them that stand on other lines besides.
    """

    metres: Decimal = ZERO_M
    again_m: Decimal = ZERO_M
    labels: set[Any] = field(default_factory=set)
    cabinets: int = 0
    by_order: dict[str, Decimal] = field(default_factory=lambda: defaultdict(lambda: ZERO_M))
    again_by_order: dict[str, Decimal] = field(default_factory=lambda: defaultdict(lambda: ZERO_M))


def amount_articles(figures: StatuteFigures) -> dict[str, frozenset[str]]:
    """Articles of a statute that ground an amount, by what they ground (keys of :data:`AMOUNTS`).

    Those of the statute itself: the article that set a figure first, whatever act changed it later.
    """
    found = {}
    for amount, names in AMOUNTS.items():
        first = {f.name: f.article for f in reversed(figures.figures) if f.name in names}
        found[amount] = frozenset(first.values())
    return found


def takes(order: Suspension, articles: Iterable[str]) -> bool:
    """Whether an order disapplies one of these articles, itself or by the article that it is a paragraph of.

    Examples
    --------
    >>> from datetime import date
    >>> order = Suspension("S1", "1", "TJSP", "injunction", "accrues", ("7",), date(2026, 1, 1))
    >>> takes(order, ["7 § 2"]), takes(order, ["10 § 2"])
    (True, False)
    """
    return any(a == d or a.startswith(f"{d} ") for a in articles for d in order.articles)


def concerns(order: Suspension, operator: Operator, service: str | None, permit: str | None) -> bool:
    """Whether an order speaks of equipment of an operator, service and permit, wherever it stands.

    Equipment that names no service is of its operator's.
    """
    if order.operator is not None and order.operator != operator.id:
        return False
    if order.service is not None and service_key(order.service) != service_key(service or operator.service):
        return False
    return order.permit is None or order.permit == permit


def concerning(
    files: Iterable[SuspensionFile], month: BillingMonth, operator: Operator, frames: Iterable[pd.DataFrame]
) -> list[SuspensionFile]:
    """Orders in force on a day of a month that speak of any of an operator's rows."""
    kinds = {
        (text(service), text(permit))
        for frame in frames
        for service, permit in zip(frame["service"], frame["permit"], strict=True)
    }
    return [
        f
        for f in files
        if f.in_month(month) is not None and any(concerns(f.suspension, operator, *kind) for kind in kinds)
    ]


class Courts:
    """The orders in force on some day of a month, in the order in which they were recorded."""

    def __init__(self, prices: Prices, files: Iterable[SuspensionFile], operators: Mapping[str, Operator]):
        self._prices, self._operators = prices, operators
        found = [(f.suspension, days) for f in files if (days := f.in_month(prices.month)) is not None]
        self.orders = tuple(Order(n, suspension, *days) for n, (suspension, days) in enumerate(found))
        self._articles = amount_articles(prices.law.figures) if found else {}
        self._known: dict[tuple[Any, ...], tuple[Order, ...]] = {}
        self._settled: dict[tuple[Any, ...], list[Portion]] = {}

    def areas(self, rows: gpd.GeoDataFrame) -> list[Area]:
        """Return the areas that orders name, each with the rows that it concerns by their position."""
        named = [o for o in self.orders if o.polygons is not None]
        if not named or not len(rows):
            return []
        mine = [self._concerning(row) for row in rows.itertuples()]
        return [Area(o.number, o.polygons, np.array([o in found for found in mine], dtype=bool)) for o in named]

    def suspend(self, rows: gpd.GeoDataFrame, found: Iterable[Scope], measured: Measured, taken: Taken) -> Measured:
        """Part each stretch of an operator's rows into what is demanded and what orders take, and count what they took."""
        if not self.orders:
            return measured
        silent = {label for scope in found if scope.silence is not None for label in scope.labels}
        stretches = dict(measured.stretches)
        for row in rows.itertuples():
            orders = self._concerning(row)
            if not orders or row.Index in silent:
                continue
            parted = []
            for s in stretches[row.Index]:
                mine = tuple(o for o in orders if o.polygons is None or o.number in s.inside)
                portions = [] if s.held or s.payer is not None else self._settle(mine, NETWORK, row)
                if not portions:
                    parted.append(s)
                    continue
                parted += [
                    replace(s, suspension=order, status=status, less=less, days=days, again=n > 0)
                    for n, (order, status, less, days) in enumerate(portions)
                ]
                taken.labels.add(row.Index)
                taken.metres += s.length_m
                taken.again_m += s.length_m * sum(1 for order, *_ in portions if order is None)
                named = [order for order, *_ in portions if order is not None]
                for order in set(named):
                    taken.by_order[order] += s.length_m
                taken.again_by_order[named[0]] += s.length_m * (len(portions) - len(named) + len(set(named)) - 1)
            stretches[row.Index] = parted
        return replace(measured, stretches=stretches)

    def suspend_cabinets(self, rows: pd.DataFrame, boxes: Sequence[Cabinet], taken: Taken) -> list[Cabinet]:
        """Part each cabinet likewise; one stands inside of an area or outside of it by a point on its drawing."""
        if not self.orders:
            return list(boxes)
        parted: list[Cabinet] = []
        for row, box in zip(rows.itertuples(), boxes, strict=True):
            mine = tuple(o for o in self._concerning(row) if o.polygons is None or _holds(o.polygons, row.geometry))
            portions = self._settle(mine, EQUIPMENT, row)
            if not portions:
                parted.append(box)
                continue
            taken.cabinets += 1
            parted += [
                replace(box, suspension=order, status=status, less=less, days=days, again=n > 0)
                for n, (order, status, less, days) in enumerate(portions)
            ]
        return parted

    def records(self, operator: str, lines: Mapping[str, Sequence[Line]], taken: Taken) -> tuple[Suspended, ...]:
        """Return what each order took of an operator, in the order of recording."""
        return tuple(
            Suspended(
                operator=operator,
                suspension=o.suspension.id,
                court_case=o.suspension.court_case,
                court=o.suspension.court,
                effect=o.suspension.effect,
                lines=tuple(lines[o.suspension.id]),
                total=sum((line.amount for line in lines[o.suspension.id]), ZERO_M),
                length_m=taken.by_order.get(o.suspension.id, ZERO_M),
                again_m=taken.again_by_order.get(o.suspension.id, ZERO_M),
            )
            for o in self.orders
            if lines.get(o.suspension.id)
        )

    def _concerning(self, row: Any) -> tuple[Order, ...]:
        """Orders that speak of a row, wherever it stands."""
        key = (row.operator, text(row.service), text(row.permit))
        if key not in self._known:
            operator = self._operators.get(row.operator) or Operator(row.operator, row.operator)
            mine = (o for o in self.orders if concerns(o.suspension, operator, *key[1:]))
            self._known[key] = tuple(mine)
        return self._known[key]

    def _settle(self, orders: tuple[Order, ...], amount: str, row: Any) -> list[Portion]:
        """Portions of what a row costs, demanded ones first; none where no order takes anything."""
        key = (orders, amount, row.first_day, row.last_day, row.status)
        if key not in self._settled:
            self._settled[key] = self._portions(*key) if orders else []
        return self._settled[key]

    def _portions(self, orders: Sequence[Order], amount: str, first: int, last: int, status: str) -> list[Portion]:
        begins = {d for o in orders for d in (o.first_day, o.last_day + 1) if first < d <= last}
        days: dict[tuple[str | None, str, str | None], int] = defaultdict(int)
        for a, b in pairwise(sorted({first, last + 1, *begins})):
            for portion in self._on_a_day([o for o in orders if o.first_day <= a <= o.last_day], amount, status):
                days[portion] += b - a
        if all(order is None for order, *_ in days):
            return []
        return sorted(((*portion, n) for portion, n in days.items()), key=lambda p: p[0] is not None)

    def _on_a_day(self, orders: Sequence[Order], amount: str, status: str) -> list[tuple[str | None, str, str | None]]:
        """Who takes what on one day."""
        for o in orders:
            if takes(o.suspension, self._articles[amount]):
                return [(o.suspension.id, status, None)]
        taken: list[tuple[str | None, str, str | None]] = []
        remains = status
        for o in orders:
            before = remains
            for doubling in (CLANDESTINE, UNREGISTERED):
                if takes(o.suspension, self._articles[doubling]):
                    remains = WITHOUT.get((remains, doubling), remains)
            if self._times(remains) < self._times(before):
                taken.append((o.suspension.id, before, remains))
        return [(None, remains if taken else status, None), *taken]

    def _times(self, status: str) -> Decimal:
        policy = self._prices.policy
        return self._prices.law.multiplier(status, self._prices.on, cumulate=policy.doublings_cumulate)


@lru_cache(maxsize=64)
def _read_area(wkt: str) -> Any:
    area = shapely.from_wkt(wkt)
    shapely.prepare(area)
    return area


def _holds(polygons: Any, drawn: Any) -> bool:
    return drawn is not None and bool(shapely.covers(polygons, shapely.point_on_surface(drawn)))
