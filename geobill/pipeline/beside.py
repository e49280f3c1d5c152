"""What rows would cost that aren't on record, beside an operator's network that is: the billing code over them alone."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from threading import Lock
from typing import Any

import geopandas as gpd
import numpy as np
import pandas as pd
import shapely
from sqlalchemy import Connection

from geobill.domain.dates import BillingMonth
from geobill.domain.invoice import Line
from geobill.domain.ratio import Ratio
from geobill.errors import InputError, LawError, PolicyError
from geobill.frames import SEGMENTS
from geobill.law.charge import Silence
from geobill.law.policy import Policy, decided_reducer
from geobill.pipeline.kept import Kept
from geobill.pipeline.month import Month, Stored
from geobill.pipeline.past import figures_on, standing_days
from geobill.pricing.in_force import due_rows, since_the_law
from geobill.pricing.lines import ZERO_M, Prices, Stretch
from geobill.pricing.network import CutNetwork, Measured, cut_network, exact_lengths
from geobill.pricing.scopes import scopes
from geobill.pricing.suspended import Courts, Taken
from geobill.pricing.whole_month import cabinets_of
from geobill.store.networks import Cadastre
from geobill.store.workspace import Workspace

CANT_PRICE = (InputError, LawError, PolicyError)  # no map yet, no law, a policy whose decision isn't recorded
MOST_MONTHS = 3  # whose pieces are kept
BEYOND_REACH_M = 1.0  # more than the cut itself looks farther than max_gap_m
Reducer = Decimal | Ratio | Silence


@dataclass(frozen=True)
class MonthTerms:
    """What a month is priced by: figures of law and policy, R above 100 km where it is decided, the map's edition."""

    month: BillingMonth
    prices: Prices
    above_100_km: Decimal | None
    edition: str
    batch: str

    @property
    def policy(self) -> Policy:
        """Return the month's policy."""
        return self.prices.policy


class Ground:
    """What is stored, to price other rows beside it: many months, many rows.

    An operator's extension is that of its due rows in a month, by the code that bills; months in which the same rows stand
    have the same one.
    """

    def __init__(self, stored: Stored):
        self.stored = stored
        self._editions = stored.cadastre.find_editions()
        self._terms: dict[BillingMonth, MonthTerms] = {}
        self._networks: dict[str, tuple[gpd.GeoDataFrame, tuple[np.ndarray, np.ndarray, np.ndarray]]] = {}
        self._extensions: dict[tuple[Any, ...], dict[str | None, Decimal]] = {}
        self._months: dict[BillingMonth, Month] = {}
        self._cuts: dict[tuple[str | None, Policy], CutNetwork] = {}
        self._trees: dict[str, shapely.STRtree] = {}
        self._by_month: dict[tuple[str, BillingMonth], dict[str | None, Decimal]] = {}

    def has_map(self, month: BillingMonth) -> bool:
        """Whether an edition of the Mapa de Valores is in force in a month."""
        return any(since <= self.stored.law.day_for(month) for _, since, _ in self._editions)

    def terms(self, month: BillingMonth) -> MonthTerms:
        """Return what a month is priced by.

        Raises
        ------
        InputError
            Where no edition of the Mapa de Valores is in force (art. 7).
        LawError, PolicyError
            Where the law gives no figures for the month, or the policy rests on a decision that isn't recorded.
        """
        if month not in self._terms:
            law, policy = self.stored.law, self.stored.policy(month)
            on = law.day_for(month)
            law.figures.value("location_index", on)
            in_force = [e for e in self._editions if e[1] <= on]
            if not in_force:
                raise InputError(f"No edition of the Mapa de Valores is in force on {on.isoformat()} (art. 7).")
            above = decided_reducer(policy, self.stored.decisions)
            name, _, batch = in_force[-1]
            self._terms[month] = MonthTerms(month, Prices(law, month, policy, self.stored.decrees), above, name, batch)
        return self._terms[month]

    def network(self, operator: str) -> gpd.GeoDataFrame:
        """Return an operator's stored segments."""
        return self._network(operator)[0]

    def zones_near(self, rows: gpd.GeoDataFrame, terms: MonthTerms) -> gpd.GeoDataFrame:
        """Return the zones of the month's edition that some rows may take their T from: no other decides about them."""
        zones = self.stored.zones(terms.batch)
        if terms.batch not in self._trees:
            self._trees[terms.batch] = shapely.STRtree(zones.geometry.to_numpy())
        reach = float(terms.policy.max_gap_m) + BEYOND_REACH_M
        near = self._trees[terms.batch].query(rows.geometry.to_numpy(), "dwithin", distance=reach)[1]
        return zones.iloc[np.unique(near)]

    def reducer(
        self, operator: str, terms: MonthTerms, permit: str | None = None, more_m: Decimal = ZERO_M
    ) -> tuple[Decimal, Reducer]:
        """Extension that sets R, and R, for rows of a permit (None: of none) that add ``more_m`` metres to it."""
        prices, policy = terms.prices, terms.policy
        whose = permit if policy.reducer_scope == "permit" else None
        extension = self._by_permit(operator, terms).get(whose, ZERO_M) + more_m
        method = policy.reducer_method
        return extension, prices.law.reducer(extension, prices.on, method=method, above=terms.above_100_km)

    def price(self, month: BillingMonth) -> Month:
        """Price a month of everybody, as `price_month` does: months of one edition and policy share the network as it is cut."""
        if month not in self._months:
            policy, (_, _, batch) = self.stored.policy(month), self.stored.edition(month)
            if (batch, policy) not in self._cuts:
                self._cuts[batch, policy] = cut_network(self.stored.segments, self.stored.zones(batch), policy)
            while len(self._months) >= MOST_MONTHS:
                del self._months[next(iter(self._months))]
            self._months[month] = self.stored.price(month, cut=self._cuts[batch, policy])
        return self._months[month]

    def standing(self, operator: str, month: BillingMonth) -> np.ndarray:
        """Say which of an operator's segments are due on some day of a month."""
        since, until, due = self._network(operator)[1]
        found: np.ndarray = due & (since <= month.last_day.toordinal()) & (until >= month.first_day.toordinal())
        return found

    def _network(self, operator: str) -> tuple[gpd.GeoDataFrame, tuple[np.ndarray, np.ndarray, np.ndarray]]:
        if operator not in self._networks:
            frame = self.stored.segments[self.stored.segments["operator"] == operator]
            self._networks[operator] = (frame, standing_days(frame))
        return self._networks[operator]

    def _by_permit(self, operator: str, terms: MonthTerms) -> dict[str | None, Decimal]:
        if (operator, terms.month) not in self._by_month:
            self._by_month[operator, terms.month] = self._extensions_of(operator, terms)
        return self._by_month[operator, terms.month]

    def _extensions_of(self, operator: str, terms: MonthTerms) -> dict[str | None, Decimal]:
        there, policy = self.standing(operator, terms.month), terms.policy
        once = policy.same_strip == "once"  # then what lies where decides about metres, and so do the days
        key = (operator, there.tobytes(), policy, (terms.batch, terms.month) if once else None)
        if key not in self._extensions:
            rows = self.network(operator)[there]
            if once:
                rows = due_rows(since_the_law(rows, terms.month, self._published), terms.month, policy)
                measured = cut_network(rows, self.stored.zones(terms.batch), policy).measure(rows, terms.prices)
            else:
                lengths = exact_lengths(rows, policy)
                measured = Measured({}, lengths, dict.fromkeys(lengths, ZERO_M))
            found = scopes(rows, measured, terms.prices, terms.above_100_km)
            self._extensions[key] = {scope.permit: scope.extension_m for scope in found}
        return self._extensions[key]

    @property
    def _published(self) -> date:
        return self.stored.law.figures.published_on


@dataclass(frozen=True)
class RowPrice:
    """What one row costs in one month: lines demanded of it, or held metres by the code of their reason; R as applied."""

    lines: tuple[Line, ...]
    held: tuple[tuple[str, Decimal], ...] = ()
    reducer: Decimal | Ratio | None = None
    extension_m: Decimal = ZERO_M

    @property
    def amount(self) -> Decimal:
        """Return the sum of the lines, in reais."""
        return sum((line.amount for line in self.lines), ZERO_M)


class Beside:
    """Lines and cabinets of one operator that aren't on record, put beside its stored network: what they would cost.

    Each pays for itself, with the operator's R of the month; it counts in R by the policy ``clandestine_counts_in_reducer``
    alone, as one more row. Metres in one strip with stored lines are flagged and paid as in a bill. Rows that are given
    together are taken as standing together (policy ``same_strip = once``).

    Parameters
    ----------
    ground : Ground
    operator : str
        Id of a stored operator.
    lines : GeoDataFrame
        By ``frames.SEGMENTS``, labels 0 to n - 1.
    boxes : GeoDataFrame
        By ``frames.EQUIPMENT``.
    """

    def __init__(self, ground: Ground, operator: str, lines: gpd.GeoDataFrame, boxes: gpd.GeoDataFrame):
        self._ground, self._operator, self.lines, self._boxes = ground, operator, lines, boxes
        self._near, self._status = _neighbours(ground, operator, lines), lines["status"].to_dict()
        self._cuts: dict[tuple[str, Policy], CutNetwork] = {}
        self._priced: dict[tuple[Any, ...], RowPrice] = {}
        self.priced = 0

    def measure(self, terms: MonthTerms, courts: Courts | None = None) -> tuple[gpd.GeoDataFrame, Measured]:
        """Cut the lines that are due in a month, with the neighbours whose strips they may share; return those lines too."""
        month, policy, stored = terms.month, terms.policy, self._ground.stored
        rows = pd.concat([self.lines, self._near]) if len(self._near) else self.lines
        if (terms.batch, policy) not in self._cuts:
            zones = self._ground.zones_near(rows, terms)
            self._cuts[terms.batch, policy] = cut_network(rows, zones, policy)
        due = due_rows(since_the_law(rows, month, stored.law.figures.published_on), month, policy)
        areas = [] if courts is None else courts.areas(due)
        measured = self._cuts[terms.batch, policy].measure(due, terms.prices, areas=areas)
        return due[due.index < len(self.lines)], measured

    def counted(self, label: Any, measured: Measured, terms: MonthTerms) -> Decimal:
        """Metres that a line adds to the extension that sets R: none where undeclared ones earn no lower R."""
        counts = terms.policy.clandestine_counts_in_reducer
        if not terms.prices.law.counts_in_reducer(self._status[label], counts):
            return ZERO_M
        return measured.lengths_m[label] - measured.paid_elsewhere_m[label]

    def price_month(self, month: BillingMonth) -> tuple[RowPrice, bool]:
        """Price all these rows in a month as a bill would demand them, court orders followed.

        Returns
        -------
        tuple
            The price, and whether it is that of a whole month, which others like it have too.
        """
        terms, stored = self._ground.terms(month), self._ground.stored
        courts = Courts(terms.prices, stored.suspensions.values(), stored.operators)
        key, whole = self._key(terms, courts)
        if key not in self._priced:
            self.priced += 1
            self._priced[key] = self._price_month(terms, courts)
        return self._priced[key], whole

    def _price_month(self, terms: MonthTerms, courts: Courts) -> RowPrice:
        rows, measured = self.measure(terms, courts)
        more = sum((self.counted(label, measured, terms) for label in rows.index), ZERO_M)
        extension, reducer = self._ground.reducer(self._operator, terms, None, more)
        if not isinstance(reducer, Silence):
            measured = courts.suspend(rows, (), measured, Taken())
        stretches = [s for label in rows.index for s in measured.stretches[label] if s.suspension is None]
        found = price_stretches(stretches, terms.prices, extension, reducer)
        published = self._ground.stored.law.figures.published_on
        boxes = due_rows(since_the_law(self._boxes, terms.month, published), terms.month, terms.policy)
        cabinets = courts.suspend_cabinets(boxes, cabinets_of(boxes, terms.prices), Taken())
        lines = terms.prices.equipment_lines(c for c in cabinets if c.suspension is None)
        return replace(found, lines=(*found.lines, *lines.values()))

    def _key(self, terms: MonthTerms, courts: Courts) -> tuple[tuple[Any, ...], bool]:
        """Say what the month's price depends on, and whether all of these rows and orders stand its whole length."""
        month, first, last = terms.month, terms.month.first_day.toordinal(), terms.month.last_day.toordinal()
        standing, whole = [], True
        for frame in (self.lines, self._near, self._boxes):
            since, until, due = standing_days(frame)
            there = due & (since <= last) & (until >= first)
            standing.append(there.tobytes())
            whole = whole and bool(np.all((since[there] <= first) & (until[there] >= last)))
        whole = whole and all((o.first_day, o.last_day) == (1, month.days) for o in courts.orders)
        published = self._ground.stored.law.figures.published_on
        whole = whole and not (month.first_day < published <= month.last_day)
        orders = tuple(o.suspension.id for o in courts.orders)
        law = tuple(figures_on(terms.prices.law, terms.prices.on))
        extension, reducer = self._ground.reducer(self._operator, terms)
        key = (*standing, terms.policy, terms.batch, orders, law, terms.above_100_km, extension, reducer)
        return (key, True) if whole else ((*key, month), False)


def price_stretches(stretches: Sequence[Stretch], prices: Prices, extension_m: Decimal, reducer: Reducer) -> RowPrice:
    """Price stretches under one R; each metre that is held stands under the first reason for it: R, then the map."""
    if isinstance(reducer, Silence):
        return RowPrice((), ((reducer.code, sum((s.length_m for s in stretches), ZERO_M)),), None, extension_m)
    held: dict[str, Decimal] = {}
    for s in stretches:
        if s.held:
            held[s.held] = held.get(s.held, ZERO_M) + s.length_m
    lines = prices.network_lines(stretches, reducer)
    return RowPrice(tuple(lines.values()), tuple(sorted(held.items())), reducer, extension_m)


def _neighbours(ground: Ground, operator: str, lines: gpd.GeoDataFrame) -> gpd.GeoDataFrame:
    """Return stored lines of the operator that may lie in one strip with one of these, labelled after them."""
    network = ground.network(operator)
    if not len(network) or not len(lines):
        return network.iloc[:0]
    widest = max(max(map(float, set(f["width_m"]))) for f in (network, lines))
    reach = max(widest, 1.0)  # twice what two lines in one strip lie apart: whoever pays for a neighbour counts too
    tree = shapely.STRtree(network.geometry.to_numpy())
    places = np.unique(tree.query(lines.geometry.to_numpy(), "dwithin", distance=reach)[1])
    near = network.iloc[places][list(SEGMENTS)]
    return near.set_index(pd.RangeIndex(len(lines), len(lines) + len(near)))


# -- kept between two looks

_GROUND, _LOCK = Kept["Ground"](1), Lock()


@contextmanager
def borrowed_ground(workspace: Workspace, connection: Connection) -> Iterator[Ground]:
    """Lend the ground of a workspace, loaded anew only where something that prices depend on was recorded since.

    To one at a time: what is lent reads zones over the borrower's transaction.
    """
    with _LOCK:
        ground = _GROUND.get(workspace, connection, "ground", lambda: Ground(Stored(workspace, connection)))
        ground.stored.cadastre = Cadastre(connection, workspace.database.tables, workspace.database.srid)
        yield ground
