"""The queue of findings: which of them are wanted, in which order, and what they add up to."""

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import geopandas as gpd
import pandas as pd
from sqlalchemy import ColumnElement, Connection, Select, and_, cast, func, or_, select
from sqlalchemy.types import REAL

from geobill.domain.detection import SUSPECTED, FieldFinding
from geobill.domain.money import to_cents
from geobill.store.finding_rows import as_finding, finding_columns, joined, replaced, some
from geobill.store.tables import Tables

ORDERS: tuple[str, ...] = ("amount", "length", "age", "id", "confidence")


@dataclass(frozen=True)
class Query:
    """Which findings are wanted: each criterion that is None or blank takes them all.

    ``operator`` of "" are those whose owner nobody knows. ``min_length_m`` and ``min_amount`` (reais a month) are least values;
    ``since`` and ``until`` days of the comparison (ISO dates); ``order`` is one of `ORDERS`, the largest or oldest first.
    """

    survey: str | None = None
    operator: str | None = None
    kinds: tuple[str, ...] = ()
    states: tuple[str, ...] = ()
    min_length_m: Decimal | None = None
    min_amount: Decimal | None = None
    since: str | None = None
    until: str | None = None
    case: str | None = None
    order: str = "amount"


@dataclass(frozen=True)
class Listed:
    """A finding as the queue shows it."""

    finding: FieldFinding
    state: str
    version: int
    operator: str | None
    case: str | None
    by: str
    changed_at: str
    compared_at: str


@dataclass(frozen=True)
class Totals:
    """How many findings a query takes, their metres, and reais a month as far as they have a price."""

    count: int
    length_m: Decimal
    month_amount: Decimal
    without_amount: int


class FindingQueue:
    """Findings as a query takes them, over one open transaction."""

    def __init__(self, connection: Connection, tables: Tables, srid: int):
        self._c, self._t, self._srid = connection, tables, srid

    def list_findings(self, query: Query, offset: int = 0, limit: int = 100) -> list[Listed]:
        """Return a page of findings."""
        t, s = self._t, self._t.finding_states.c
        states = (s.state, s.version, s.operator.label("now_operator"), s.case_id, s.done_by, s.changed_at)
        wanted = self._wanted(query).add_columns(*finding_columns(t), *states, t.surveys.c.recorded_at)
        rows = self._c.execute(wanted.order_by(*self._order(query.order)).offset(offset).limit(limit))
        return [
            Listed(as_finding(r), r.state, r.version, r.now_operator, r.case_id, r.done_by, r.changed_at, r.recorded_at)
            for r in rows
        ]

    def totals(self, query: Query) -> Totals:
        """Add up the findings of a query."""
        f, s = self._t.findings.c, self._t.finding_states.c
        rows = self._wanted(query).with_only_columns(
            func.count(),
            func.coalesce(func.sum(func.round(cast(f.length_m, REAL) * 100)), 0),
            func.coalesce(func.sum(cast(s.month_cents, REAL)), 0),
            func.count().filter(s.month_cents.is_(None)),
        )
        count, centimetres, cents, without = self._c.execute(rows).one()
        return Totals(count, Decimal(int(centimetres)).scaleb(-2), Decimal(int(cents)).scaleb(-2), without)

    def find_ids(self, query: Query) -> list[tuple[str, int]]:
        """Ids and versions of the findings of a query, in its order."""
        t = self._t
        wanted = self._wanted(query).with_only_columns(t.findings.c.id, t.finding_states.c.version)
        return [(r.id, r.version) for r in self._c.execute(wanted.order_by(*self._order(query.order)))]

    def find_beside(self, query: Query, finding: str | None, *, backwards: bool = False) -> str | None:
        """Return what follows a finding in a query's order (or precedes it).

        The order begins anew where it ends, and begins where no finding is given. A finding that left the query meanwhile still
        has its place in it. None where the query takes no other.
        """
        f, wanted, order = self._t.findings.c, self._wanted(query), self._order(query.order, backwards=backwards)
        pairs = (
            self._wanted(query, finding)
            .with_only_columns(f.id, func.lead(f.id).over(order_by=order).label("following"))
            .subquery()
        )
        following = self._c.execute(select(pairs.c.following).where(pairs.c.id == finding)).scalar()
        if following is not None:
            return str(following)
        first = wanted.with_only_columns(f.id).where(f.id.is_distinct_from(finding)).order_by(*order).limit(1)
        return self._c.execute(first).scalar()

    def load_shapes(self, ids: Iterable[str] | None = None, query: Query | None = None) -> gpd.GeoDataFrame:
        """Return findings' geometry with id, fid, kind, state, operator and length_m: some, or those of a query."""
        t = self._t
        names = ("id", "fid", "kind", "length_m", "state", "operator")
        columns = (*(t.findings.c[n] for n in names[:4]), t.finding_states.c.state, t.finding_states.c.operator)
        base = self._wanted(query or Query()) if ids is None else self._all()
        parts = [None] if ids is None else list(some(list(ids)))
        rows = []
        for named in parts:
            part = base if named is None else base.where(t.findings.c.id.in_(named))
            rows += self._c.execute(
                part.with_only_columns(*columns, t.findings.c.geom).order_by(t.findings.c.fid)
            ).all()
        data = {n: pd.Series([r[i] for r in rows], dtype=object) for i, n in enumerate(names)}
        return gpd.GeoDataFrame(data, geometry=[r.geom for r in rows], crs=self._srid)

    # -- statements

    def _all(self) -> Select[Any]:
        t = self._t
        return select().select_from(joined(t).join(t.surveys, t.surveys.c.id == t.findings.c.survey))

    def _wanted(self, query: Query, beside: str | None = None) -> Select[Any]:
        f, s, v = self._t.findings.c, self._t.finding_states.c, self._t.surveys.c
        # what nobody decided in a survey that was compared anew is of no use any more
        wanted = [or_(f.survey.not_in(replaced(self._t)), s.state != SUSPECTED)]
        if query.survey is not None:
            wanted.append(f.survey == query.survey)
        if query.operator is not None:
            wanted.append(s.operator == query.operator if query.operator else s.operator.is_(None))
        if query.kinds:
            wanted.append(f.kind.in_(query.kinds))
        if query.states:
            wanted.append(s.state.in_(query.states))
        if query.min_length_m is not None:
            wanted.append(cast(f.length_m, REAL) >= float(query.min_length_m))
        if query.min_amount is not None:
            wanted.append(cast(s.month_cents, REAL) >= to_cents(query.min_amount))
        if query.since is not None:
            wanted.append(v.recorded_at >= query.since)
        if query.until is not None:
            wanted.append(func.substr(v.recorded_at, 1, 10) <= query.until)
        if query.case is not None:
            wanted.append(s.case_id == query.case)
        return self._all().where(or_(and_(*wanted), f.id == beside))

    def _order(self, order: str, *, backwards: bool = False) -> tuple[ColumnElement[Any], ...]:
        f, s = self._t.findings.c, self._t.finding_states.c
        amount, length, sure = (cast(c, REAL) for c in (func.coalesce(s.month_cents, "-1"), f.length_m, f.confidence))
        largest = {"amount": (amount, length), "length": (length,), "age": (), "id": (), "confidence": (sure, length)}
        if backwards:
            return (*(c.asc() for c in largest[order]), f.fid.desc())
        return (*(c.desc() for c in largest[order]), f.fid.asc())
