"""What was issued, granted or decided on a batch's rows: found in the archives, row by row, not guessed from dates."""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from sqlalchemy import Connection

from geobill.domain.batch import Batch
from geobill.domain.check import CHECKED, DRAFTED
from geobill.domain.dates import BillingMonth
from geobill.domain.network import NOT_YET
from geobill.domain.record import sha256
from geobill.errors import StoreError
from geobill.frames import ZONES
from geobill.pipeline.papers import rows_text
from geobill.pipeline.tracing import TABLES, archived_rows, differing
from geobill.pricing.in_force import day_of
from geobill.store.audit import Audit, StoredRow
from geobill.store.networks import Cadastre
from geobill.store.notes import NoteBook
from geobill.store.workspace import Workspace

Key = tuple[Any, ...]


@dataclass(frozen=True)
class Rests:
    """What rests on some batches: numbers of invoices, notes and decrees, ids of cases, numbers of permits.

    ``months`` were drafted or checked with them and aren't issued: those steps don't stand once the figures change.
    """

    invoices: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    decrees: tuple[str, ...] = ()
    cases: tuple[str, ...] = ()
    permits: tuple[str, ...] = ()
    months: tuple[str, ...] = ()

    @property
    def holds(self) -> dict[str, tuple[str, ...]]:
        """Return what can't be taken back, by what it is; empty where nothing is."""
        said = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "months"}
        return {name: found for name, found in said.items() if found}


def find_resting(workspace: Workspace, connection: Connection, batches: Sequence[Batch]) -> Rests:
    """Find what rests on batches.

    An invoice rests on a row where its archive has that very row, the row was due in its month and the batch was in force when
    it was issued; a cancelled one demands nothing. A note and a decree rest on each archived row, since R comes from all of
    them. All three rest on the edition whose zones are archived with them. A case rests on the rows that it names, a permit on
    those that name it once something was done about it.

    Raises
    ------
    StoreError
        If an archive can't be read: then nobody can tell, and nothing may be taken back.
    """
    return _Look(workspace, connection, batches).find()


class _Look:
    def __init__(self, workspace: Workspace, connection: Connection, batches: Sequence[Batch]):
        tables = workspace.database.tables
        self._c, self._tables = connection, tables
        self._audit = Audit(connection, tables)
        self._batches = {b.id: b for b in batches}
        self._rows: dict[str, dict[Key, list[StoredRow]]] = {
            "network": defaultdict(list),
            "equipment": defaultdict(list),
        }
        for role, found in self._rows.items():
            table, _, name = TABLES[role]
            for row in self._audit.stored(table, self._batches, only=self._batches):
                found[row.values["operator"], row.source_row, row.values[name]].append(row)
        self._editions: dict[str, list[Batch]] = defaultdict(list)
        self._named: dict[tuple[str, str], list[Batch]] = defaultdict(list)
        cadastre = Cadastre(connection, tables, workspace.database.srid)
        for row in self._audit.rows("editions"):
            if row.batch in self._batches:
                one = self._batches[row.batch]
                self._editions[sha256(rows_text(cadastre.load_zones(row.batch), ZONES))].append(one)
                self._named[row.name, row.in_force_from].append(one)
        self._texts: dict[str, str] = {}

    def find(self) -> Rests:
        cancelled = self._audit.cancelled()
        invoices = [r for r in self._audit.in_series("invoices") if r.number not in cancelled]
        billed = []
        for row in invoices:
            inputs = {r.role: r.sha256 for r in self._audit.rows("invoice_inputs", invoice=row.number)}
            if self._rests(inputs, row.issued_at, BillingMonth.parse(row.month)):
                billed.append(row.number)
        book = NoteBook(self._c, self._tables)
        notes = [
            r.number for r in self._audit.in_series("notes") if self._rests(book.load_inputs(r.number), r.issued_at)
        ]
        decrees = [r.number for r in self._audit.rows("decrees") if self._rests(_digests(r.record), r.recorded_at)]
        return Rests(
            tuple(billed),
            tuple(notes),
            tuple(decrees),
            tuple(self._cases()),
            tuple(self._permits()),
            self._months(invoices),
        )

    def _rests(self, inputs: Mapping[str, str], at: str, month: BillingMonth | None = None) -> bool:
        for role, digest in inputs.items():
            kind = role.rpartition("/")[2]
            if kind == "edition" and any(b.in_force(at) for b in self._editions.get(digest, ())):
                return True
            if self._rows.get(kind) and any(
                self._is(row, at) and (month is None or _due(row.values, month))
                for row in archived_rows(kind, self._text(digest))
            ):
                return True
        return False

    def _is(self, archived: Any, at: str) -> bool:
        """Whether an archived row is one of these batches', as it was in force at a moment."""
        return any(
            s.batch.in_force(at) and not differing(archived, s) for s in self._rows[archived.role].get(archived.key, ())
        )

    def _text(self, digest: str) -> str:
        if digest not in self._texts:
            found = self._audit.archived(digest)
            if found is None or found.content is None:
                raise StoreError(
                    f"What was issued can't be read from the archive ({digest[:12]}…), so nobody can tell what rests on these rows. "
                    "Nothing was changed. See geobill doctor and geobill verify --all."
                )
            self._texts[digest] = found.content.decode()
        return self._texts[digest]

    def _stored(self) -> Iterable[tuple[str, StoredRow]]:
        for role, found in self._rows.items():
            for rows in found.values():
                for row in rows:
                    yield role, row

    def _cases(self) -> list[str]:
        ids: dict[tuple[str, str, str], list[Batch]] = defaultdict(list)
        for role, row in self._stored():
            ids[role, row.values["operator"], str(row.values[TABLES[role][2]])].append(row.batch)
        found = []
        for case in self._audit.rows("cases"):
            named = [("network", i) for i in json.loads(case.segments)] + [
                ("equipment", i) for i in json.loads(case.equipment)
            ]
            mine = (b for role, id_ in named for b in ids.get((role, case.operator, str(id_)), ()))
            if any(b.in_force(case.recorded_at) for b in mine):
                found.append(case.id)
        return found

    def _permits(self) -> list[str]:
        named: dict[str, set[str]] = defaultdict(set)
        for _, row in self._stored():
            if row.values["permit"]:
                named[row.values["permit"]].add(row.batch.id)
        acts = self._audit.rows("permit_acts")
        return sorted(
            {a.permit for a in acts if any(self._batches[b].in_force(a.recorded_at) for b in named.get(a.permit, ()))}
        )

    def _months(self, invoices: Iterable[Any]) -> tuple[str, ...]:
        issued, found = {row.month for row in invoices}, dict[str, None]()
        for step in self._audit.rows("month_checks"):
            if step.role not in (DRAFTED, CHECKED) or step.month in issued:
                continue
            month, at = BillingMonth.parse(step.month), step.done_at
            rows = any(row.batch.in_force(at) and _due(row.values, month) for _, row in self._stored())
            if rows or any(b.in_force(at) for b in self._drafted_on(step.digest)):
                found[step.month] = None
        return tuple(found)

    def _drafted_on(self, digest: str) -> list[Batch]:
        """Batches of the edition that a drafted month names; a check has the digest of its draft."""
        kept = self._audit.archived(digest)
        if kept is None or kept.content is None:
            return []
        basis = json.loads(kept.content)["basis"]
        return self._named.get((basis["edition"] or "", basis["edition_in_force_from"] or ""), [])


def _due(values: Mapping[str, Any], month: BillingMonth) -> bool:
    """Whether a row is due on a day of a month."""
    first, last = month.days_of_month(day_of(values["installed_on"]), day_of(values["removed_on"]))
    return first <= last and values["status"] not in NOT_YET


def _digests(record: str) -> dict[str, str]:
    return {role: digest for role, digest in json.loads(record)["draft"]["basis"]["digests"] if role != "permit"}
