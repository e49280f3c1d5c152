"""Archived rows traced to the rows of the files that they came from: which batch, which row, and what differs."""

import json
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import shapely

from geobill.domain.batch import Batch
from geobill.frames import EQUIPMENT, SEGMENTS, ZONES
from geobill.store.audit import Audit, StoredRow

TABLES: dict[str, tuple[str, tuple[str, ...], str]] = {  # role of an input → table, contract, what a row is named by
    "network": ("segments", SEGMENTS, "segment"),
    "equipment": ("equipment", EQUIPMENT, "equipment"),
    "edition": ("value_zones", ZONES, "zone"),
}
# Permits and decided cases set these, so an archived row may differ from its file's row in them.
FOLLOWED = frozenset({"status", "permit", "installed_on", "removed_on"})
MOST_VERTICES = 3
Key = tuple[Any, ...]


@dataclass(frozen=True)
class ArchivedRow:
    """A row as it was computed from: its values by name, ``geometry`` as WKB in hex."""

    role: str
    values: dict[str, Any]

    @property
    def name(self) -> str:
        """Return what it is called: ``segment 'A1'``."""
        column = TABLES[self.role][2]
        return f"{column} {self.values[column]!r}"

    @property
    def key(self) -> Key:
        """Return what it is known by in its file."""
        return _key(self.role, self.values)


def archived_rows(role: str, text: str) -> list[ArchivedRow]:
    """Read archived rows of a role; see :func:`geobill.pipeline.papers.rows_text`."""
    names = [c for c in TABLES[role][1] if c != "geometry"]
    return [ArchivedRow(role, {**dict(zip(names, row, strict=False)), "geometry": row[-1]}) for row in json.loads(text)]


class Tracing:
    """The cadastre's rows of every batch, looked up by archived rows."""

    def __init__(self, audit: Audit):
        self._audit = audit
        self._batches = audit.batches()
        self._editions: dict[tuple[str, str], set[str]] = defaultdict(set)
        for row in audit.rows("editions"):
            self._editions[row.name, row.in_force_from].add(row.batch)
        self._rows: dict[tuple[str, str | None], dict[Key, list[StoredRow]]] = {}
        self._traced: dict[tuple[str, str], tuple[str, ...]] = {}

    def amended(self, batch: Batch) -> Batch | None:
        """Return the batch whose rows another corrects."""
        return None if batch.amends is None else self._batches[batch.amends]

    def edition_batches(self, name: str | None, since: str | None) -> frozenset[str]:
        """Return the batches that brought an edition of the Mapa de Valores."""
        return frozenset(self._editions.get((name or "", since or ""), ()))

    def origin(self, row: ArchivedRow, at: str, among: frozenset[str] | None = None) -> StoredRow | None:
        """Return the stored row that an archived one came from, None where the store has no such row.

        Of several, one that says the same comes first, then one that was in force at the moment ``at`` (UTC, ISO text with
        Z). ``among`` are the batches that may be meant.
        """
        operator = row.values.get("operator")
        found = self._of(row.role, operator).get(row.key, [])
        found = [s for s in found if among is None or s.batch.id in among]
        if not found:
            return None
        return min(found, key=lambda s: (bool(differing(row, s)), not s.batch.in_force(at), -_number(s.batch)))

    def differences(self, role: str, text: str, at: str, among: frozenset[str] | None = None) -> tuple[str, ...]:
        """Say in words which archived rows aren't those of the cadastre: width, land value, vertex; one text is compared once."""
        key = (role, text)
        if key not in self._traced:
            self._traced[key] = tuple(
                said for row in archived_rows(role, text) for said in self._row_differences(row, at, among)
            )
        return self._traced[key]

    def missing(self, role: str, text: str, at: str, operator: str | None) -> tuple[str, ...]:
        """Say which rows of an operator, in force at a moment, an archived text lacks."""
        kept = {row.key for row in archived_rows(role, text)}
        found = self._of(role, operator)
        lost = [s for key, rows in found.items() if key not in kept for s in rows if s.batch.in_force(at)]
        return tuple(f"{_named(role, s)} isn't in the archive" for s in lost)

    def _row_differences(self, row: ArchivedRow, at: str, among: frozenset[str] | None) -> list[str]:
        stored = self.origin(row, at, among)
        if stored is None:
            return [f"{row.name} (row {row.values['source_row']}) is in the archive and in no imported file"]
        return [
            f"{_named(row.role, stored)}: {_in_words(name, row.values[name], stored.values[name])}"
            for name in differing(row, stored)
        ]

    def _of(self, role: str, operator: str | None) -> dict[Key, list[StoredRow]]:
        table = TABLES[role][0]
        if (table, operator) not in self._rows:
            found: dict[Key, list[StoredRow]] = defaultdict(list)
            for row in self._audit.stored(table, self._batches, operator):
                found[_key(role, row.values)].append(row)
            self._rows[table, operator] = found
        return self._rows[table, operator]


def differing(row: ArchivedRow, stored: StoredRow) -> list[str]:
    """Names of the columns in which an archived row differs from a stored one, without what permits and cases set."""
    own = {TABLES[row.role][2], "source_row", "operator"} | FOLLOWED
    return [n for n, v in row.values.items() if n not in own and n in stored.values and v != stored.values[n]]


def _key(role: str, values: dict[str, Any]) -> Key:
    return (values.get("operator"), int(values["source_row"]), values[TABLES[role][2]])


def _number(batch: Batch) -> int:
    digits = batch.id.lstrip("B")
    return int(digits) if digits.isdigit() else 0


def _named(role: str, stored: StoredRow) -> str:
    column = TABLES[role][2]
    return (
        f"{column} {stored.values[column]!r} (row {stored.source_row} of {stored.batch.file}, batch {stored.batch.id})"
    )


def _in_words(name: str, archived: Any, stored: Any) -> str:
    if name != "geometry":
        return f"{name} is {archived!r} in the archive, {stored!r} in the cadastre"
    try:
        one, other = (vertices(shapely.from_wkb(bytes.fromhex(text))) for text in (archived, stored))
    except (ValueError, shapely.errors.GEOSException):
        return "its geometry in the archive can't be read"
    if len(one) != len(other):
        return f"it has {len(one)} vertices in the archive, {len(other)} in the cadastre"
    moved = [n for n, (a, b) in enumerate(zip(one, other, strict=True), 1) if tuple(a) != tuple(b)]
    if not moved:
        return "its geometry is made of other parts in the archive"
    said = [
        f"vertex {n} is at {_place(one[n - 1])} in the archive, {_place(other[n - 1])} in the cadastre" for n in moved
    ]
    rest = f" and {len(moved) - MOST_VERTICES} more" if len(moved) > MOST_VERTICES else ""
    return "; ".join(said[:MOST_VERTICES]) + rest


def vertices(geometry: Any) -> Any:
    """Every vertex of a geometry, in its order."""
    return shapely.get_coordinates(geometry)


def _place(vertex: Sequence[float]) -> str:
    return " ".join(repr(float(v)) for v in vertex)
