"""What a map draws, and what has changed about it: stamps to tell a stale drawing by, findings' states by their key."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

import geopandas as gpd
import numpy as np
import pandas as pd
import shapely
from sqlalchemy import Connection, LargeBinary, and_, func, select, text, type_coerce

from geobill.domain.detection import REPLACED, SUSPECTED
from geobill.store.batches import not_in_force
from geobill.store.database import Database
from geobill.store.geometry import header_length
from geobill.store.tables import Tables

MOST_BOUND = 500  # keys in one statement
# of a GeoPackage geometry: eight bytes, then the envelope as geobill writes it (store.geometry), which these flags tell
HEAD_BYTES, PLAIN_FLAGS = 40, 0b011
MOST_NEAR = 2000  # rows of one layer around a finding
# table → its column that names the batch or the survey
SOURCE_COLUMN = {
    "value_zones": "batch",
    "segments": "batch",
    "equipment": "batch",
    "survey_lines": "survey",
    "survey_equipment": "survey",
    "findings": "survey",
}


@dataclass(frozen=True)
class Source:
    """Rows that came together and never change: a batch or a survey, with the digest of its file and when it came."""

    id: str
    sha256: str
    came_at: str


class Drawn:
    """What there is to draw, over one open transaction."""

    def __init__(self, connection: Connection, tables: Tables):
        self._c, self._t = connection, tables

    def batches(self) -> list[Source]:
        """Batches of networks and cabinets in force that have rows."""
        b = self._t.batches.c
        kept = select(b.id, b.sha256, b.imported_at).where(b.kind.in_(("network", "cabinets")), b.accepted > 0)
        kept = kept.where(b.id.not_in(not_in_force(self._t, None)))
        return [Source(*row) for row in self._c.execute(kept.order_by(b.fid))]

    def batch(self, id_: str) -> Source:
        """Return one batch."""
        b = self._t.batches.c
        return Source(*self._c.execute(select(b.id, b.sha256, b.imported_at).where(b.id == id_)).one())

    def surveys(self) -> list[Source]:
        """Surveys that weren't compared anew, or in which somebody decided something: those that the queue shows."""
        s, f, a, states = self._t.surveys.c, self._t.findings.c, self._t.survey_acts.c, self._t.finding_states.c
        decided = select(f.survey).join(self._t.finding_states, states.finding == f.id).where(states.state != SUSPECTED)
        replaced = select(a.survey).where(a.kind == REPLACED)
        kept = select(s.id, s.sha256, s.recorded_at).where(s.id.not_in(replaced) | s.id.in_(decided))
        return [Source(*row) for row in self._c.execute(kept.order_by(s.fid))]

    def with_findings(self) -> frozenset[str]:
        """Return the surveys in which something was found."""
        return frozenset(self._c.execute(select(self._t.findings.c.survey).distinct()).scalars())

    def bounds(self) -> tuple[float, float, float, float] | None:
        """Return west, south, east and north (metres) of the findings, else of the network; None where there is neither."""
        of = text("SELECT min_x, min_y, max_x, max_y FROM gpkg_contents WHERE table_name = :name")
        for name in ("findings", "segments"):
            row = self._c.execute(of, {"name": name}).first()
            if row is not None and row[0] is not None:
                return row[0], row[1], row[2], row[3]
        return None

    def stamp(self) -> str:
        """Return a text that changes with every act on a finding or a survey, and with every new finding."""
        tables = (self._t.finding_acts, self._t.survey_acts, self._t.findings)
        return "-".join(str(self._c.execute(select(func.max(t.c.fid))).scalar() or 0) for t in tables)

    def turned(self, on: date) -> str:
        """Return the last day up to a day on which rows of the network came into the street or had left it, as they say."""
        days = []
        for rows in (self._t.segments.c, self._t.equipment.c):
            days.append(select(func.max(rows.installed_on)).where(rows.installed_on <= on.isoformat()))
            days.append(select(func.max(rows.removed_on)).where(rows.removed_on < on.isoformat()))
        return max(self._c.execute(day).scalar() or "" for day in days)

    def states(self) -> dict[str, list[int]]:
        """Keys of findings by state, but for the suspected ones: what isn't named is suspected."""
        f, s = self._t.findings.c, self._t.finding_states.c
        joined = select(s.state, f.fid).join(self._t.findings, f.id == s.finding).where(s.state != SUSPECTED)
        found: dict[str, list[int]] = {}
        for state, key in self._c.execute(joined.order_by(f.fid)):
            found.setdefault(state, []).append(key)
        return found

    def keys(self) -> dict[str, int]:
        """Return the key of each finding by its id."""
        f = self._t.findings.c
        return {row.id: row.fid for row in self._c.execute(select(f.id, f.fid))}

    def gone(self) -> list[int]:
        """Keys of findings that left the queue: nobody decided on them, and their survey was compared anew."""
        f, s, a = self._t.findings.c, self._t.finding_states.c, self._t.survey_acts.c
        replaced = select(a.survey).where(a.kind == REPLACED)
        wanted = and_(s.state == SUSPECTED, f.survey.in_(replaced))
        return list(
            self._c.execute(select(f.fid).join(self._t.finding_states, s.finding == f.id).where(wanted)).scalars()
        )


def read_rows(
    database: Database,
    layer: str,
    sources: Sequence[Source],
    columns: Sequence[str],
    bounds: tuple[float, float, float, float] | None = None,
) -> gpd.GeoDataFrame:
    """Read what is drawn of some batches or surveys, in the workspace's system, by ``fid``.

    Not by GDAL, though it is quicker: it brings a SQLite of its own, and when that closes the file the system drops every lock
    that this process holds on it (POSIX). Another thread's decision would then be written beside another program's, and be lost.
    See "How To Corrupt An SQLite Database File", 2.2.1.

    Parameters
    ----------
    database : Database
    layer : str
        A table of :data:`SOURCE_COLUMN`.
    sources : sequence of Source
        Whose rows.
    columns : sequence of str
        What is read beside ``fid`` and geometry.
    bounds : tuple of float, optional
        West, south, east, north in metres: only what touches them, at most `MOST_NEAR` rows.

    Raises
    ------
    BusyError
        If the store is being written all the while.
    """
    table = database.tables.metadata.tables[layer]
    mine = table.c[SOURCE_COLUMN[layer]].in_([source.id for source in sources])
    blob = type_coerce(table.c.geom, LargeBinary)
    wanted = select(table.c.fid, *(table.c[name] for name in columns), blob).order_by(table.c.fid)
    rows: list[Any] = []
    with database.read() as connection:
        if bounds is None:
            rows += connection.execute(wanted.where(mine)).all()
        else:
            heads = connection.execute(select(table.c.fid, func.substr(blob, 1, HEAD_BYTES)).where(mine)).all()
            near = _touching(heads, bounds)
            for first in range(0, len(near), MOST_BOUND):
                rows += connection.execute(wanted.where(table.c.fid.in_(near[first : first + MOST_BOUND]))).all()
    shapes = shapely.from_wkb(np.array([r[-1][header_length(r[-1]) :] for r in rows], dtype=object))
    data = {n: pd.Series([r[i] for r in rows], dtype=object) for i, n in enumerate(("fid", *columns))}
    found = gpd.GeoDataFrame(data, geometry=shapes, crs=database.srid)
    if bounds is None:
        return found
    return found[shapely.intersects(shapely.box(*bounds), shapes)].head(MOST_NEAR).reset_index(drop=True)


def _touching(heads: Sequence[Any], bounds: tuple[float, float, float, float]) -> list[int]:
    """Return the keys of the rows whose envelope touches bounds; one that another program wrote in another form is taken too."""
    west, south, east, north = bounds
    keys = np.array([key for key, _ in heads], dtype="int64")
    plain = np.array([len(head) == HEAD_BYTES and head[3] == PLAIN_FLAGS for _, head in heads], dtype=bool)
    envelopes = np.frombuffer(b"".join(h[8:] for (_, h), is_plain in zip(heads, plain, strict=True) if is_plain), "<f8")
    minx, maxx, miny, maxy = envelopes.reshape(-1, 4).T
    touches = np.ones(len(heads), dtype=bool)
    touches[plain] = (minx <= east) & (maxx >= west) & (miny <= north) & (maxy >= south)
    return sorted(keys[touches].tolist())
