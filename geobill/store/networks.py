"""The cadastre: value map editions and their coverage, segments and equipment, as frames."""

from collections.abc import Iterable
from datetime import date
from typing import Any

import geopandas as gpd
import pandas as pd
from sqlalchemy import Connection, Table, select

from geobill.frames import EQUIPMENT, SEGMENTS, ZONES, plan_lengths
from geobill.store import gpkg
from geobill.store.batches import not_in_force
from geobill.store.geometry import encoded
from geobill.store.tables import Tables

INSERTED = 20_000  # rows that are handed to the database together


class Cadastre:
    """What is in the street and what land is worth, over one open transaction.

    ``known_until`` (UTC, ISO text with Z) gives what was recorded before that moment: batches that came, were replaced or
    were undone later count as they did then.
    """

    def __init__(self, connection: Connection, tables: Tables, srid: int, known_until: str | None = None):
        self._c, self._t, self._srid, self._known = connection, tables, srid, known_until

    # -- the value map

    def find_editions(self) -> list[tuple[str, date, str]]:
        """Editions in force: name, first day, batch; earliest first."""
        e, b = self._t.editions, self._t.batches
        rows = self._c.execute(
            select(e.c.name, e.c.in_force_from, e.c.batch)
            .join(b, b.c.id == e.c.batch)
            .where(b.c.id.not_in(not_in_force(self._t, self._known)))
            .order_by(e.c.in_force_from)
        )
        return [(r.name, date.fromisoformat(r.in_force_from), r.batch) for r in rows]

    def save_zones(self, zones: gpd.GeoDataFrame, batch: str, edition: str, in_force_from: date, now: str) -> None:
        """Add an edition of the value map."""
        self._c.execute(
            self._t.editions.insert().values(name=edition, in_force_from=in_force_from.isoformat(), batch=batch)
        )
        self._add(self._t.value_zones, zones.assign(area_m2=zones.geometry.area), [*ZONES, "area_m2"], batch, now)

    def load_zones(self, batch: str) -> gpd.GeoDataFrame:
        """Zones of an edition, by ``frames.ZONES``."""
        return self._frame(self._t.value_zones, ZONES, self._t.value_zones.c.batch == batch)

    def save_coverage(self, coverage: gpd.GeoDataFrame, batch: str, on_overlap: str, max_gap_m: str, now: str) -> None:
        """Keep the drawn coverage of an edition under the policy that shaped it."""
        kept = ("source_row", "zone", "land_value", "kind", "status", "area_m2", "geometry")
        frame = coverage.assign(source_row=[0 if pd.isna(r) else int(r) for r in coverage["source_row"]])
        extra = {"on_overlap": on_overlap, "max_gap_m": max_gap_m}
        self._add(self._t.priced_coverage, frame, kept, batch, now, **extra)

    def has_coverage(self, batch: str, on_overlap: str, max_gap_m: str) -> bool:
        """Whether the coverage of an edition was drawn under this policy."""
        return (
            self._c.execute(
                select(self._t.priced_coverage.c.fid).where(*self._cover(batch, on_overlap, max_gap_m))
            ).first()
            is not None
        )

    def load_coverage(self, batch: str, on_overlap: str, max_gap_m: str) -> gpd.GeoDataFrame:
        """Return the drawn coverage of an edition under a policy."""
        kept = ("source_row", "zone", "land_value", "kind", "status", "area_m2", "geometry")
        return self._frame(self._t.priced_coverage, kept, *self._cover(batch, on_overlap, max_gap_m))

    def _cover(self, batch: str, on_overlap: str, max_gap_m: str) -> list[Any]:
        c = self._t.priced_coverage.c
        return [c.batch == batch, c.on_overlap == on_overlap, c.max_gap_m == max_gap_m]

    # -- segments and equipment

    def save_segments(self, segments: gpd.GeoDataFrame, batch: str, now: str) -> None:
        """Add accepted segments."""
        measured = segments.assign(length_m=plan_lengths(segments.geometry.values))
        self._add(self._t.segments, measured, [*SEGMENTS, "length_m"], batch, now)

    def save_equipment(self, equipment: gpd.GeoDataFrame, batch: str, now: str) -> None:
        """Add accepted equipment."""
        self._add(self._t.equipment, equipment, EQUIPMENT, batch, now)

    def load_segments(self, without: Iterable[str] = ()) -> gpd.GeoDataFrame:
        """All segments of batches in force, by ``frames.SEGMENTS``, in the order they came; some batches left out."""
        return self._in_force(self._t.segments, SEGMENTS, without)

    def load_equipment(self) -> gpd.GeoDataFrame:
        """All equipment of batches in force, by ``frames.EQUIPMENT``."""
        return self._in_force(self._t.equipment, EQUIPMENT)

    # -- rows and frames

    def _in_force(self, table: Table, columns: Iterable[str], without: Iterable[str] = ()) -> gpd.GeoDataFrame:
        old = not_in_force(self._t, self._known)
        return self._frame(table, columns, table.c.batch.not_in(old), table.c.batch.not_in(list(without)))

    def _add(
        self, table: Table, frame: gpd.GeoDataFrame, columns: Iterable[str], batch: str, now: str, **same: str
    ) -> None:
        names = [c for c in columns if c != "geometry"]
        for first in range(0, len(frame), INSERTED):  # a part at a time: rows as Python objects are large
            part = frame.iloc[first : first + INSERTED]
            values = part[names].astype(object).where(part[names].notna(), None)
            drawn = encoded(part.geometry.to_numpy(), self._srid, self._c.dialect)
            rows = [
                {**dict(zip(names, row, strict=True)), "geom": geometry, "batch": batch, **same}
                for row, geometry in zip(values.itertuples(index=False, name=None), drawn, strict=True)
            ]
            self._c.execute(table.insert(), rows)
        if len(frame):
            gpkg.touch(self._c, table.name, tuple(map(float, frame.total_bounds)), now)

    def _frame(self, table: Table, columns: Iterable[str], *where: Any) -> gpd.GeoDataFrame:
        names = [c for c in columns if c != "geometry"]
        query = select(*(table.c[n] for n in names), table.c.geom).where(*where).order_by(table.c.fid)
        rows = self._c.execute(query).all()
        data = {n: pd.Series([r[i] for r in rows], dtype=object) for i, n in enumerate(names)}
        return gpd.GeoDataFrame(data, geometry=[r.geom for r in rows], crs=self._srid)
