"""Registers of the cadastre that carry no geometry: operators, decisions, batches of files."""

from collections.abc import Iterable
from dataclasses import asdict, fields
from datetime import date
from typing import Any

from sqlalchemy import Connection, Row, func, select, update
from sqlalchemy.exc import IntegrityError

from geobill.domain.finding import ImportReport
from geobill.domain.invoice import Decision
from geobill.domain.network import Operator
from geobill.domain.record import canonical_json
from geobill.errors import InputError
from geobill.store.known import known_before
from geobill.store.tables import Tables


class Registers:
    """Who owns and pays, what was decided, which files came, over one open transaction.

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

    # -- batches

    def find_batches(
        self, kind: str, layer: str, operator: str | None, *, sha256: str | None = None, file: str | None = None
    ) -> list[str]:
        """Batches in force from a layer for an operator: of a file with these bytes, or of this name."""
        b = self._t.batches.c
        same = select(b.id).where(b.kind == kind, b.layer == layer, b.replaced_by.is_(None))
        same = same.where(b.operator.is_(None) if operator is None else b.operator == operator)
        same = same.where(b.sha256 == sha256 if sha256 is not None else b.file == file)
        return list(self._c.execute(same.order_by(b.id)).scalars())

    def new_batch_id(self) -> str:
        """Return the next batch's id."""
        return f"B{(self._c.execute(select(func.count()).select_from(self._t.batches)).scalar() or 0) + 1:05d}"

    def save_batch(
        self,
        report: ImportReport,
        *,
        kind: str,
        file: str,
        layer: str,
        operator: str | None,
        replaces: Iterable[str],
        now: str,
    ) -> None:
        """Record an import and the rows it set aside; batches that it replaces stay, but are in force no more."""
        assert report.batch is not None
        self._c.execute(
            self._t.batches.insert().values(
                id=report.batch,
                kind=kind,
                file=file,
                layer=layer,
                sha256=report.sha256,
                operator=operator,
                read=report.read,
                accepted=report.accepted,
                length_m=report.length_m,
                report=canonical_json(report),
                imported_at=now,
                replaced_by=None,
            )
        )
        for old in replaces:
            self._c.execute(update(self._t.batches).where(self._t.batches.c.id == old).values(replaced_by=report.batch))
        aside = [
            {
                "batch": report.batch,
                "source_row": s.row,
                "row_id": s.id,
                "reason_code": s.reason_code,
                "reason": s.reason,
            }
            for s in report.set_aside
        ]
        if aside:
            self._c.execute(self._t.set_aside.insert(), aside)
