"""Registers of the cadastre that carry no geometry: operators and decisions."""

from dataclasses import asdict, fields
from datetime import date
from typing import Any

from sqlalchemy import Connection, Row, select
from sqlalchemy.exc import IntegrityError

from geobill.domain.invoice import Decision
from geobill.domain.network import Operator
from geobill.errors import InputError
from geobill.store.known import known_before
from geobill.store.tables import Tables


class Registers:
    """Who owns and pays, and what was decided, over one open transaction.

    ``known_until`` (UTC, ISO text with Z) gives what was recorded before that moment.
    """

    def __init__(self, connection: Connection, tables: Tables, known_until: str | None = None):
        self._c, self._t, self._known = connection, tables, known_until

    # -- operators and decisions

    def save_operator(self, operator: Operator, now: str) -> None:
        """Add an operator; one that is there already is refused."""
        try:
            self._c.execute(self._t.operators.insert().values(**asdict(operator), added_at=now))
        except IntegrityError:
            raise InputError(f"The operator {operator.id!r} is there already. Choose another id.") from None

    def load_operators(self) -> dict[str, Operator]:
        """All operators by id."""
        columns = [self._t.operators.c[f.name] for f in fields(Operator)]
        rows = self._c.execute(select(*columns).order_by(self._t.operators.c.id))
        return {row.id: Operator(**row._mapping) for row in rows}

    def save_decision(self, decision: Decision, now: str, file_name: str = "") -> None:
        """Record a decision; one that is there already is refused, since others may rest on it.

        ``file_name`` is that of its scan, whose bytes the archive keeps.
        """
        since = None if decision.in_force_from is None else decision.in_force_from.isoformat()
        dates = {"date": decision.date.isoformat(), "in_force_from": since}
        row = {**asdict(decision), **dates, "file_name": file_name, "recorded_at": now}
        try:
            self._c.execute(self._t.decisions.insert().values(**row))
        except IntegrityError:
            raise InputError(
                f"The decision {decision.id!r} is recorded already and stays as it is. Choose another id."
            ) from None

    def load_decisions(self) -> dict[str, Decision]:
        """All recorded decisions by id."""
        d = self._t.decisions.c
        query = select(*(d[f.name] for f in fields(Decision))).order_by(d.id)
        query = known_before(query, d.recorded_at, self._known)

        def dated(row: Row[Any]) -> dict[str, date | None]:
            since = row.in_force_from
            return {
                "date": date.fromisoformat(row.date),
                "in_force_from": None if since is None else date.fromisoformat(since),
            }

        return {r.id: Decision(**{**r._mapping, **dated(r)}) for r in self._c.execute(query)}

    def load_scan_names(self) -> dict[str, str]:
        """Name of the file that each decision's scan came in, by the decision's id; blank where there is none."""
        d = self._t.decisions.c
        return {row.id: row.file_name for row in self._c.execute(select(d.id, d.file_name))}
