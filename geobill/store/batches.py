"""The register of imports: which file came when, what was set aside of it, what became of it. Acts are added, never changed."""

import json
from collections import defaultdict
from collections.abc import Iterable, Sequence

import geopandas as gpd
import numpy as np
import pandas as pd
import shapely
from sqlalchemy import Connection, Select, func, or_, select

from geobill.domain.batch import IN_FORCE, REPLACED, RESTORED, UNDONE, Batch, BatchAct
from geobill.domain.finding import ImportReport
from geobill.domain.record import canonical_json, from_plain
from geobill.frames import ASIDE
from geobill.store.known import known_before
from geobill.store.tables import Tables


class Batches:
    """Imports with what became of them, over one open transaction."""

    def __init__(self, connection: Connection, tables: Tables):
        self._c, self._t = connection, tables

    def load(self) -> dict[str, Batch]:
        """Every import with its acts, by id, in the order in which they came."""
        acts: dict[str, list[BatchAct]] = defaultdict(list)
        a, b = self._t.batch_acts.c, self._t.batches.c
        for row in self._c.execute(select(self._t.batch_acts).order_by(a.fid)):
            acts[row.batch].append(BatchAct(row.batch, row.kind, row.recorded_at, row.other, row.done_by, row.note))
        names = [n for n in Batch.__dataclass_fields__ if n != "acts"]
        rows = self._c.execute(select(*(b[n] for n in names)).order_by(b.fid))
        return {row.id: Batch(**row._mapping, acts=tuple(acts[row.id])) for row in rows}

    def load_report(self, batch: str) -> ImportReport:
        """Return what an import said when it was made."""
        b = self._t.batches.c
        return from_plain(ImportReport, json.loads(self._c.execute(select(b.report).where(b.id == batch)).scalar_one()))

    def find(
        self, kind: str, layer: str, operator: str | None, *, sha256: str | None = None, file: str | None = None
    ) -> list[Batch]:
        """Batches in force from a layer for an operator: of a file with these bytes, or of this name."""
        return [
            one
            for one in self.load().values()
            if (one.state, one.kind, one.layer, one.operator) == (IN_FORCE, kind, layer, operator)
            and (one.sha256 == sha256 if sha256 is not None else one.file == file)
        ]

    def new_id(self) -> str:
        """Return the next batch's id."""
        return f"B{(self._c.execute(select(func.count()).select_from(self._t.batches)).scalar() or 0) + 1:05d}"

    def save(
        self,
        report: ImportReport,
        *,
        kind: str,
        file: str,
        layer: str,
        operator: str | None,
        replaces: Iterable[str],
        aside: gpd.GeoDataFrame,
        now: str,
        format_: str = "",
        encoding: str = "",
        options: str | None = None,
        amends: str | None = None,
    ) -> None:
        """Record an import and the rows it set aside; batches that it replaces stay, but are in force no more.

        ``aside`` has the rows of ``report.set_aside`` by `geobill.frames.ASIDE`, as far as their columns are at hand; amendments
        of a batch that is replaced go with it.
        """
        assert report.batch is not None
        before = self.load()
        row = {
            "id": report.batch,
            "kind": kind,
            "file": file,
            "layer": layer,
            "sha256": report.sha256,
            "operator": operator,
            "read": report.read,
            "accepted": report.accepted,
            "length_m": report.length_m,
            "report": canonical_json(report),
            "imported_at": now,
            "format": format_,
            "encoding": encoding,
            "options": options,
            "amends": amends,
        }
        self._c.execute(self._t.batches.insert().values(**row))
        replaced = [one for old in replaces for one in family(before, old) if one.state == IN_FORCE]
        self._record(BatchAct(one.id, REPLACED, now, report.batch) for one in replaced)
        rows = _aside_rows(report, aside)
        if rows:
            self._c.execute(self._t.set_aside.insert(), rows)

    def undo(self, batch: Batch, by: str, reason: str, now: str) -> tuple[list[str], list[str]]:
        """Record that an import is taken back, with its amendments, and that what it had replaced is in force again.

        Returns
        -------
        tuple of two lists of str
            Batches that were undone, batches that were restored.
        """
        known = self.load()
        undone = [one.id for one in family(known, batch.id) if one.state == IN_FORCE]
        back = restored_by(known, batch.id)
        self._record(BatchAct(one, UNDONE, now, None if one == batch.id else batch.id, by, reason) for one in undone)
        self._record(BatchAct(one, RESTORED, now, batch.id, by, reason) for one in back)
        return undone, back

    def load_open(self, batch: str) -> gpd.GeoDataFrame:
        """Rows of a batch that are set aside still, by `geobill.frames.ASIDE`, in the order of the file.

        A row that an amendment in force answered is left out; one that failed again has its new reason and values.
        """
        known = self.load()
        amendments = [one.id for one in family(known, batch)[1:] if one.state == IN_FORCE]
        answered = self.load_answers(batch)
        s = self._t.set_aside.c
        names = (s.source_row, s.layer, s.layer_row, s.row_id, s.reason_code, s.reason, s.original, s.wkb)
        query = select(*names).where(s.batch.in_([batch, *amendments])).order_by(s.fid)
        latest = {row.source_row: tuple(row) for row in self._c.execute(query) if row.source_row not in answered}
        rows = [latest[n] for n in sorted(latest)]
        data = {name: pd.Series([row[i] for row in rows], dtype=object) for i, name in enumerate(ASIDE[:-1])}
        data["columns"] = pd.Series([None if r[6] is None else json.loads(r[6]) for r in rows], dtype=object)
        with np.errstate(invalid="ignore"):  # a coordinate that is no number may be why a row is here
            shapes = shapely.from_wkb([row[7] for row in rows])
        return gpd.GeoDataFrame(data, geometry=list(shapes), crs=self._t.segments.c.geom.type.srid)

    def load_columns(self, batch: str) -> list[str]:
        """Names of the columns that a batch's rows had, in the order of the file; those of its amendments after them."""
        s = self._t.set_aside.c
        mine = [one.id for one in family(self.load(), batch)]
        firsts = select(func.min(s.fid)).where(s.batch.in_(mine), s.original.is_not(None)).group_by(s.batch, s.layer)
        texts = self._c.execute(select(s.original).where(s.fid.in_(firsts)).order_by(s.fid)).scalars()
        return list(dict.fromkeys(name for text in texts for name in json.loads(text)))

    def load_places(self, batch: str) -> dict[tuple[str, int], tuple[int, str]]:
        """Rows that a batch set aside when it came: layer and row in it to row in the batch and id."""
        s = self._t.set_aside.c
        rows = self._c.execute(select(s.layer, s.layer_row, s.source_row, s.row_id).where(s.batch == batch))
        return {(row.layer, row.layer_row): (row.source_row, row.row_id) for row in rows}

    def load_answers(self, batch: str) -> dict[int, str]:
        """Rows of a batch that an amendment in force answered: row in the batch to amendment."""
        amendments = [one.id for one in family(self.load(), batch)[1:] if one.state == IN_FORCE]
        found: dict[int, str] = {}
        for table in (self._t.segments, self._t.equipment):
            rows = self._c.execute(select(table.c.source_row, table.c.batch).where(table.c.batch.in_(amendments)))
            found |= {row.source_row: row.batch for row in rows}
        return found

    def _record(self, acts: Iterable[BatchAct]) -> None:
        rows = [
            {
                "batch": a.batch,
                "kind": a.kind,
                "other": a.other,
                "done_by": a.by,
                "note": a.note,
                "recorded_at": a.at,
            }
            for a in acts
        ]
        if rows:
            self._c.execute(self._t.batch_acts.insert(), rows)


def family(batches: dict[str, Batch], batch: str) -> list[Batch]:
    """Return a batch and its amendments, whatever their state."""
    return [batches[batch], *(one for one in batches.values() if one.amends == batch)]


def restored_by(batches: dict[str, Batch], batch: str) -> list[str]:
    """Batches that come back when one is undone: those that it had replaced, and that are out for no other reason."""
    return [
        one.id
        for one in batches.values()
        if one.ended is not None and (one.ended.kind, one.ended.other) == (REPLACED, batch)
    ]


def still_open(batches: dict[str, Batch], batch: Batch) -> int | None:
    """How many rows of a batch are set aside still; None where they aren't to be answered there.

    Each row that an amendment accepted is one of these, answered once.
    """
    if batch.state != IN_FORCE or batch.amends is not None:
        return None
    answered = sum(one.accepted for one in family(batches, batch.id)[1:] if one.state == IN_FORCE)
    return batch.read - batch.accepted - answered


def not_in_force(tables: Tables, known_until: str | None) -> Select[tuple[str]]:
    """Batches that aren't in force, or weren't before a moment (UTC, ISO text with Z): out, or not there yet."""
    b, a = tables.batches.c, tables.batch_acts.c
    last = known_before(select(func.max(a.fid)).group_by(a.batch), a.recorded_at, known_until)
    out = select(a.batch).where(a.fid.in_(last), a.kind != RESTORED)
    if known_until is None:
        return out
    return select(b.id).where(or_(b.imported_at >= known_until, b.id.in_(out)))


def _aside_rows(report: ImportReport, aside: gpd.GeoDataFrame) -> Sequence[dict[str, object]]:
    """Rows of the table of what was set aside; one whose columns aren't at hand has none."""
    kept = {(row.layer, int(row.row)): row for row in aside.itertuples(index=False)}
    only = aside["layer"].iloc[0] if len(aside) else None
    rows = []
    for said in report.set_aside:
        row = kept.get((said.layer or only, said.row))
        shape = None if row is None else row.geometry
        rows.append(
            {
                "batch": report.batch,
                "source_row": said.row if row is None else int(row.source_row),
                "layer": said.layer if row is None else row.layer,
                "layer_row": said.row,
                "row_id": said.id,
                "reason_code": said.reason_code,
                "reason": said.reason,
                "original": None if row is None or row.columns is None else json.dumps(row.columns, ensure_ascii=False),
                "wkb": None if shape is None else shapely.to_wkb(shape, include_srid=False),
            }
        )
    return rows
