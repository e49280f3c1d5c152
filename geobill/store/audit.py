"""The ledger and the cadastre as they lie in the store, row by row, for whoever checks them: nothing is rebuilt or believed."""

import zlib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import shapely
from sqlalchemy import Connection, Row, Table, select

from geobill.domain.batch import Batch
from geobill.frames import EQUIPMENT, SEGMENTS, ZONES
from geobill.store.batches import Batches
from geobill.store.tables import Tables

KEPT_COLUMNS: dict[str, tuple[str, ...]] = {"segments": SEGMENTS, "equipment": EQUIPMENT, "value_zones": ZONES}


@dataclass(frozen=True)
class Archived:
    """An archived text or file as it lies there; ``content`` is None where it can't be unpacked."""

    kind: str
    content: bytes | None


@dataclass(frozen=True)
class StoredRow:
    """A row of the cadastre: its batch, and its values by name, ``geometry`` as WKB in hex."""

    batch: Batch
    values: dict[str, Any]

    @property
    def source_row(self) -> int:
        """Return its row in the file, the first being 1."""
        return int(self.values["source_row"])


class Audit:
    """What was stored, over one open transaction."""

    def __init__(self, connection: Connection, tables: Tables):
        self._c, self._t = connection, tables

    def rows(self, table: str, **where: str) -> list[Row[Any]]:
        """Rows of a table in the order in which they came, those with some values."""
        found: Table = getattr(self._t, table)
        query = select(found).where(*(found.c[name] == value for name, value in where.items()))
        return list(self._c.execute(query.order_by(found.c.fid)))

    def in_series(self, table: str) -> list[Row[Any]]:
        """Invoices or notes in the order of their numbers."""
        found: Table = getattr(self._t, table)
        return list(self._c.execute(select(found).order_by(found.c.series_year, found.c.sequence)))

    def cancelled(self) -> set[str]:
        """Numbers of the invoices that were cancelled."""
        acts = self._t.invoice_acts.c
        return set(self._c.execute(select(acts.invoice).where(acts.kind == "cancelled")).scalars())

    def archived(self, digest: str) -> Archived | None:
        """Return an archived text or file by the digest under which it is kept; None where there is none."""
        a = self._t.archive.c
        row = self._c.execute(select(a.kind, a.content).where(a.sha256 == digest)).first()
        if row is None:
            return None
        try:
            return Archived(row.kind, zlib.decompress(row.content))
        except zlib.error:
            return Archived(row.kind, None)

    def archive_rows(self, kind: str) -> Iterator[tuple[str, bytes]]:
        """Return what the archive keeps of a kind: digest and content, of those that can be unpacked."""
        a = self._t.archive.c
        for row in self._c.execute(select(a.sha256, a.content).where(a.kind == kind).order_by(a.fid)):
            try:
                yield row.sha256, zlib.decompress(row.content)
            except zlib.error:
                continue

    def batches(self) -> dict[str, Batch]:
        """Every import by its id."""
        return Batches(self._c, self._t).load()

    def stored(
        self, table: str, batches: Mapping[str, Batch], operator: str | None = None, only: Collection[str] | None = None
    ) -> list[StoredRow]:
        """Rows of ``segments``, ``equipment`` or ``value_zones`` of every batch, replaced ones too; or an operator's, or of some."""
        found, columns = getattr(self._t, table), KEPT_COLUMNS[table]
        names = [c for c in columns if c != "geometry"]
        query = select(found.c.batch, *(found.c[n] for n in names), found.c.geom).order_by(found.c.fid)
        if operator is not None:
            query = query.where(found.c.operator == operator)
        if only is not None:
            query = query.where(found.c.batch.in_(list(only)))
        rows = self._c.execute(query).all()
        shapes = shapely.to_wkb([row.geom for row in rows], hex=True)
        return [
            StoredRow(batches[row.batch], {**{n: row[i] for i, n in enumerate(names, 1)}, "geometry": str(shape)})
            for row, shape in zip(rows, shapes, strict=True)
        ]
