"""Many months of one operator, by the billing code itself: months that are alike are priced once."""

from collections.abc import Iterable
from datetime import date
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd

from geobill.billing.past import part_of, whole_days
from geobill.domain.dates import BillingMonth
from geobill.domain.invoice import Line
from geobill.domain.network import NOT_YET
from geobill.domain.ratio import Ratio
from geobill.domain.record import to_plain
from geobill.law.policy import Policy
from geobill.pipeline.month import Month, Stored
from geobill.pricing.in_force import day_of, text
from geobill.pricing.network import CutNetwork, cut_network
from geobill.pricing.price import PricedMonth

Ids = frozenset[str]
Found = tuple[tuple[Line, ...], tuple[tuple[str, Decimal], ...], str | None]


class Past:
    """Months of an operator priced one after another.

    Two months are alike where the same rows stand all of their days under the same figures of law, edition, policy, decrees
    and suspensions: they cost the same, and are priced once. Months in which something begins or ends are priced each for
    itself. The network is cut once for each edition and policy.
    """

    def __init__(self, stored: Stored, operator: str):
        self._stored, self._operator = stored, operator
        self._frames = [f[f["operator"] == operator] for f in (stored.segments, stored.equipment)]
        self._days = [standing_days(f) for f in self._frames]
        self._cuts: dict[tuple[str | None, Policy], CutNetwork] = {}
        self._found: dict[tuple[Any, ...], Found] = {}
        self.priced = 0

    def lines(self, month: BillingMonth, segments: Ids, equipment: Ids) -> Found:
        """Lines, held metres and R of some rows, named by their ids, in one month.

        Returns
        -------
        tuple
            Lines of these rows alone; held metres by code; R as printed, None where it is held or each permit has its own.
        """
        key, alike = self._key(month)
        known = self._found.get((*key, segments, equipment))
        if known is None:
            self.priced += 1
            known = parts(
                self._price(month).priced, self._operator, segments, equipment, self._stored.policy(month).rounding
            )
            self._found[*key, segments, equipment] = known
        return (whole_days(known[0], month), *known[1:]) if alike else known

    def _price(self, month: BillingMonth) -> Month:
        policy, (_, _, batch) = self._stored.policy(month), self._stored.edition(month)
        if (batch, policy) not in self._cuts:
            self._cuts[batch, policy] = cut_network(self._frames[0], self._stored.zones(batch), policy)
        return self._stored.price(month, operator=self._operator, cut=self._cuts[batch, policy])

    def _key(self, month: BillingMonth) -> tuple[tuple[Any, ...], bool]:
        """Say what a month's price depends on, and whether it is a whole month like others."""
        first, last = month.first_day.toordinal(), month.last_day.toordinal()
        standing, whole = [], True
        for since, until, due in self._days:
            there = due & (since <= last) & (until >= first)
            standing.append(np.flatnonzero(there).tobytes())
            whole = whole and bool(np.all((since[there] <= first) & (until[there] >= last)))
        policy, (_, _, batch) = self._stored.policy(month), self._stored.edition(month)
        courts = [
            (name, max(order.suspension.from_on, month.first_day), min(order.last_day or date.max, month.last_day))
            for name, order in self._stored.suspensions.items()
            if order.suspension.from_on <= month.last_day and (order.last_day or date.max) >= month.first_day
        ]
        whole = whole and all((since, until) == (month.first_day, month.last_day) for _, since, until in courts)
        decreed = {n for n, d in (self._stored.decrees or {}).items() if d <= month.last_day}
        decided = tuple(sorted(d.id for d in self._stored.decisions.values() if _decided(d.in_force_from, month)))
        law = tuple(figures_on(self._stored.law, self._stored.law.day_for(month)))
        key = (*standing, policy, batch, law, tuple(n for n, *_ in courts), frozenset(decreed), decided)
        return (key, True) if whole else ((*key, month), False)


def parts(priced: PricedMonth, operator: str, segments: Ids, equipment: Ids, rounding: str) -> Found:
    """Lines of some rows of a priced month alone, their held metres by code, and the operator's R as printed."""
    mine = next((o for o in priced.bill.operators if o.operator.id == operator), None)
    if mine is None:
        return (), (), None
    pieces, cabinets = (f[f["operator"] == operator] for f in (priced.pieces, priced.cabinets))
    pieces = pieces[pieces["segment"].isin(segments)]
    cabinets = cabinets[cabinets["equipment"].isin(equipment)]
    lines = [
        part_of(mine.lines[int(number) - 1], rounding, sum(rows["length_m"], Decimal(0)))
        for number, rows in pieces[pieces["line"].notna()].groupby("line", sort=True)
    ]
    for number, rows in cabinets[cabinets["line"].notna()].groupby("line", sort=True):
        line = mine.lines[int(number) - 1]
        lines.append(
            part_of(line, rounding, len(rows) if line.pieces is not None else sum(rows["volume_m3"], Decimal(0)))
        )
    held = pieces[pieces["held"].notna()].groupby("held", sort=True)["length_m"]
    reducer = (
        None
        if mine.reducer is None
        else to_plain(mine.reducer)
        if isinstance(mine.reducer, Ratio)
        else str(mine.reducer)
    )
    return tuple(lines), tuple((str(code), sum(metres, Decimal(0))) for code, metres in held), reducer


def standing_days(frame: pd.DataFrame) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """First and last day of each row as ordinals, and whether it is due at all."""
    since = [(day_of(v) or date.min).toordinal() for v in frame["installed_on"]]
    until = [(day_of(v) or date.max).toordinal() for v in frame["removed_on"]]
    due = [text(s) not in NOT_YET for s in frame["status"]]
    return np.array(since, dtype=np.int64), np.array(until, dtype=np.int64), np.array(due, dtype=bool)


def _decided(since: date | None, month: BillingMonth) -> bool:
    return since is None or since <= month.first_day


def figures_on(law: Any, on: date) -> Iterable[Any]:
    """Figures of law as they are on a day, and whether unregistered networks pay double on it."""
    for name in sorted({f.name for f in law.figures.figures}):
        if any(f.name == name and f.in_force(on) for f in law.figures.figures):
            yield law.figures.figure(name, on)
    yield law.multiplier("unregistered", on)
