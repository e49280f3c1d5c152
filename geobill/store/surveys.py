"""The register of surveys: what was seen, what was found, what reviewers did. Findings and acts are added, never changed."""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from decimal import Decimal
from typing import Any

import geopandas as gpd
import pandas as pd
from sqlalchemy import Connection, Select, cast, func, or_, select
from sqlalchemy.types import REAL

from geobill.domain.detection import (
    DECIDING,
    REPLACED,
    SUSPECTED,
    FieldFinding,
    FindingAct,
    FindingFile,
    Survey,
)
from geobill.domain.money import from_cents, to_cents
from geobill.domain.record import canonical_json, from_plain
from geobill.errors import ConflictError
from geobill.frames import SURVEY_EQUIPMENT, SURVEY_LINES, plan_lengths
from geobill.store import gpkg
from geobill.store.geometry import encoded
from geobill.store.tables import Tables

MOST_BOUND = 500  # ids in one statement
DECIMALS = (
    "length_m", "offset_mean_m", "offset_p95_m", "offset_max_m", "confidence", "width_m", "permitted_width_m", "volume_m3",
    "permitted_volume_m3",
)  # fmt: skip
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


class SurveyRegister:
    """Surveys, findings and their acts, over one open transaction."""

    def __init__(self, connection: Connection, tables: Tables, srid: int):
        self._c, self._t, self._srid = connection, tables, srid

    # -- surveys

    def new_id(self) -> str:
        """Return the next survey's id."""
        return f"V{(self._c.execute(select(func.count()).select_from(self._t.surveys)).scalar() or 0) + 1:05d}"

    def save(
        self,
        survey: Survey,
        lines: gpd.GeoDataFrame,
        equipment: gpd.GeoDataFrame,
        findings: Sequence[FieldFinding],
        shapes: Sequence[Any],
        now: str,
    ) -> None:
        """Keep a survey with its rows (`frames.SURVEY_LINES`, `frames.SURVEY_EQUIPMENT`) and what was found in it."""
        self._c.execute(
            self._t.surveys.insert().values(
                id=survey.id,
                file=survey.file,
                layer=survey.layer,
                sha256=survey.sha256,
                operator=survey.operator,
                record=canonical_json(survey),
                done_by=survey.by,
                recorded_at=now,
            )
        )
        measured = lines.assign(length_m=plan_lengths(lines.geometry.values))
        self._add_rows("survey_lines", measured, (*SURVEY_LINES, "length_m"), survey.id, now)
        self._add_rows("survey_equipment", equipment, SURVEY_EQUIPMENT, survey.id, now)
        if not findings:
            return
        geometry = gpd.GeoSeries(list(shapes)).to_numpy()
        drawn = encoded(geometry, self._srid, self._c.dialect)
        rows = [{**_row(f), "geom": g} for f, g in zip(findings, drawn, strict=True)]
        self._c.execute(self._t.findings.insert(), rows)
        states = [
            {"finding": f.id, "state": SUSPECTED, "version": 0, "operator": f.operator, "case_id": None, "done_by": "",
             "changed_at": now}
            for f in findings
        ]  # fmt: skip
        self._c.execute(self._t.finding_states.insert(), states)
        gpkg.touch(self._c, "findings", tuple(map(float, gpd.GeoSeries(geometry).total_bounds)), now)

    def replace(self, old: str, new: str, by: str, now: str) -> None:
        """Record that a survey was compared anew: what nobody had decided in it leaves the queue."""
        row = {"survey": old, "kind": REPLACED, "other": new, "done_by": by, "note": "", "recorded_at": now}
        self._c.execute(self._t.survey_acts.insert().values(**row))

    def load_surveys(self) -> dict[str, Survey]:
        """Every survey by id, in the order in which they came."""
        s = self._t.surveys.c
        rows = self._c.execute(select(s.id, s.record).order_by(s.fid))
        return {row.id: from_plain(Survey, json.loads(row.record)) for row in rows}

    def compared_at(self, survey: str) -> str:
        """Return the moment at which a survey was compared (UTC, ISO text with Z)."""
        s = self._t.surveys.c
        return str(self._c.execute(select(s.recorded_at).where(s.id == survey)).scalar_one())

    def find_same(self, sha256: str, layer: str, operator: str | None) -> list[str]:
        """Surveys of these very bytes for an operator that weren't compared anew since."""
        s = self._t.surveys.c
        same = select(s.id).where(s.sha256 == sha256, s.layer == layer, s.operator.is_not_distinct_from(operator))
        return list(self._c.execute(same.where(s.id.not_in(self._replaced())).order_by(s.fid)).scalars())

    def replaced(self) -> frozenset[str]:
        """Surveys that were compared anew."""
        return frozenset(self._c.execute(self._replaced()).scalars())

    def load_lines(self, survey: str) -> gpd.GeoDataFrame:
        """Surveyed lines, by ``frames.SURVEY_LINES``."""
        return self._frame("survey_lines", SURVEY_LINES, survey)

    def load_equipment(self, survey: str) -> gpd.GeoDataFrame:
        """Surveyed cabinets and poles, by ``frames.SURVEY_EQUIPMENT``."""
        return self._frame("survey_equipment", SURVEY_EQUIPMENT, survey)

    # -- findings

    def list_findings(self, query: Query, offset: int = 0, limit: int = 100) -> list[Listed]:
        """Return a page of findings."""
        t, order = self._t, self._order(query.order)
        wanted = self._wanted(query).add_columns(*_finding_columns(t), *_state_columns(t), t.surveys.c.recorded_at)
        rows = self._c.execute(wanted.order_by(*order).offset(offset).limit(limit))
        return [
            Listed(_finding(r), r.state, r.version, r.now_operator, r.case_id, r.done_by, r.changed_at, r.recorded_at)
            for r in rows
        ]

    def totals(self, query: Query) -> Totals:
        """Add up the findings of a query."""
        f = self._t.findings.c
        rows = self._wanted(query).with_only_columns(
            func.count(),
            func.coalesce(func.sum(func.round(cast(f.length_m, REAL) * 100)), 0),
            func.coalesce(func.sum(cast(f.month_cents, REAL)), 0),
            func.count().filter(f.month_cents.is_(None)),
        )
        count, centimetres, cents, without = self._c.execute(rows).one()
        return Totals(count, Decimal(int(centimetres)).scaleb(-2), Decimal(int(cents)).scaleb(-2), without)

    def find_ids(self, query: Query) -> list[tuple[str, int]]:
        """Ids and versions of the findings of a query, in its order."""
        t = self._t
        wanted = self._wanted(query).with_only_columns(t.findings.c.id, t.finding_states.c.version)
        return [(r.id, r.version) for r in self._c.execute(wanted.order_by(*self._order(query.order)))]

    def load_files(self, ids: Iterable[str]) -> dict[str, FindingFile]:
        """Return findings with their acts in the order of recording, by id; unknown ids are left out."""
        wanted, t = list(dict.fromkeys(ids)), self._t
        acts: dict[str, list[FindingAct]] = defaultdict(list)
        found: dict[str, FieldFinding] = {}
        for some in _some(wanted):
            for row in self._c.execute(select(*_finding_columns(t)).where(t.findings.c.id.in_(some))):
                found[row.id] = _finding(row)
            a = t.finding_acts.c
            for row in self._c.execute(select(t.finding_acts).where(a.finding.in_(some)).order_by(a.fid)):
                acts[row.finding].append(
                    FindingAct(
                        row.finding,
                        row.kind,
                        row.done_by,
                        row.note,
                        row.other,
                        row.paper,
                        row.file_name,
                        row.recorded_at,
                    )
                )
        return {i: FindingFile(found[i], tuple(acts[i])) for i in wanted if i in found}

    def load_shapes(self, ids: Iterable[str] | None = None, query: Query | None = None) -> gpd.GeoDataFrame:
        """Return findings' geometry with id, fid, kind, state, operator and length_m: some, or those of a query."""
        t = self._t
        names = ("id", "fid", "kind", "length_m", "state", "operator")
        columns = (*(t.findings.c[n] for n in names[:4]), t.finding_states.c.state, t.finding_states.c.operator)
        base = self._wanted(query or Query()) if ids is None else self._joined()
        parts = [None] if ids is None else list(_some(list(ids)))
        rows = []
        for some in parts:
            part = base if some is None else base.where(t.findings.c.id.in_(some))
            rows += self._c.execute(
                part.with_only_columns(*columns, t.findings.c.geom).order_by(t.findings.c.fid)
            ).all()
        data = {n: pd.Series([r[i] for r in rows], dtype=object) for i, n in enumerate(names)}
        return gpd.GeoDataFrame(data, geometry=[r.geom for r in rows], crs=self._srid)

    def find_conflicts(self, acts: Sequence[FindingAct], seen: Mapping[str, int]) -> list[ConflictError]:
        """Find the findings that somebody decided on since the author of some deciding acts saw them."""
        deciding = list(dict.fromkeys(a.finding for a in acts if a.kind in DECIDING))
        found = []
        for id_, file in self.load_files(deciding).items():
            if file.version != seen[id_]:
                last = next(a for a in reversed(file.acts) if a.kind in DECIDING)
                message = (
                    f"The finding {id_} was changed meanwhile: {last.kind} by {last.by} at {last.at}. Nothing of it was written over. "
                    "Look at it again, then decide."
                )
                found.append(ConflictError(message, id_, last.kind, last.by, last.at))
        return found

    def save_acts(self, acts: Sequence[FindingAct], seen: Mapping[str, int], now: str) -> None:
        """Add acts, each deciding one on the version of the finding that its author saw.

        Raises
        ------
        ConflictError
            If somebody decided in between: naming who, what and when; then nothing may be kept.
        """
        conflicts = self.find_conflicts(acts, seen)
        if conflicts:
            raise conflicts[0]
        if not acts:
            return
        self._c.execute(
            self._t.finding_acts.insert(),
            [
                {"finding": a.finding, "kind": a.kind, "other": a.other, "done_by": a.by, "note": a.note, "paper": a.paper,
                 "file_name": a.file_name, "recorded_at": now}
                for a in acts
            ],
        )  # fmt: skip
        after = self.load_files(a.finding for a in acts if a.kind in DECIDING)
        s = self._t.finding_states
        for file in after.values():
            self._c.execute(
                s.update()
                .where(s.c.finding == file.finding.id)
                .values(
                    state=file.state,
                    version=file.version,
                    operator=file.operator,
                    case_id=file.case,
                    done_by=next(a.by for a in reversed(file.acts) if a.kind in DECIDING),
                    changed_at=now,
                )
            )

    def cases_of(self, case: str) -> list[str]:
        """Return the findings on which a case was opened."""
        s = self._t.finding_states.c
        return list(self._c.execute(select(s.finding).where(s.case_id == case).order_by(s.fid)).scalars())

    def load_audit(self, offset: int = 0, limit: int = 200) -> list[FindingAct]:
        """Acts on all findings, the latest first."""
        a = self._t.finding_acts.c
        rows = self._c.execute(select(self._t.finding_acts).order_by(a.fid.desc()).offset(offset).limit(limit))
        return [
            FindingAct(r.finding, r.kind, r.done_by, r.note, r.other, r.paper, r.file_name, r.recorded_at) for r in rows
        ]

    # -- rows and statements

    def _replaced(self) -> Select[tuple[str]]:
        a = self._t.survey_acts.c
        return select(a.survey).where(a.kind == REPLACED)

    def _joined(self) -> Select[Any]:
        t = self._t
        states = t.findings.join(t.finding_states, t.finding_states.c.finding == t.findings.c.id)
        return select().select_from(states.join(t.surveys, t.surveys.c.id == t.findings.c.survey))

    def _wanted(self, query: Query) -> Select[Any]:
        f, s, v = self._t.findings.c, self._t.finding_states.c, self._t.surveys.c
        # what nobody decided in a survey that was compared anew is of no use any more
        wanted = self._joined().where(or_(f.survey.not_in(self._replaced()), s.state != SUSPECTED))
        if query.survey is not None:
            wanted = wanted.where(f.survey == query.survey)
        if query.operator is not None:
            wanted = wanted.where(s.operator == query.operator if query.operator else s.operator.is_(None))
        if query.kinds:
            wanted = wanted.where(f.kind.in_(query.kinds))
        if query.states:
            wanted = wanted.where(s.state.in_(query.states))
        if query.min_length_m is not None:
            wanted = wanted.where(cast(f.length_m, REAL) >= float(query.min_length_m))
        if query.min_amount is not None:
            wanted = wanted.where(cast(f.month_cents, REAL) >= to_cents(query.min_amount))
        if query.since is not None:
            wanted = wanted.where(v.recorded_at >= query.since)
        if query.until is not None:
            wanted = wanted.where(func.substr(v.recorded_at, 1, 10) <= query.until)
        if query.case is not None:
            wanted = wanted.where(s.case_id == query.case)
        return wanted

    def _order(self, order: str) -> tuple[Any, ...]:
        f = self._t.findings.c
        by = {
            "amount": (cast(func.coalesce(f.month_cents, "-1"), REAL).desc(), cast(f.length_m, REAL).desc()),
            "length": (cast(f.length_m, REAL).desc(),),
            "age": (),
            "id": (),
            "confidence": (cast(f.confidence, REAL).desc(), cast(f.length_m, REAL).desc()),
        }
        return (*by[order], f.fid)

    def _add_rows(self, name: str, frame: gpd.GeoDataFrame, columns: Sequence[str], survey: str, now: str) -> None:
        if not len(frame):
            return
        names = [c for c in columns if c != "geometry"]
        values = frame[names].astype(object).where(frame[names].notna(), None)
        drawn = encoded(frame.geometry.to_numpy(), self._srid, self._c.dialect)
        rows = [
            {**dict(zip(names, row, strict=True)), "geom": geometry, "survey": survey}
            for row, geometry in zip(values.itertuples(index=False, name=None), drawn, strict=True)
        ]
        self._c.execute(self._t.metadata.tables[name].insert(), rows)
        gpkg.touch(self._c, name, tuple(map(float, frame.total_bounds)), now)

    def _frame(self, name: str, columns: Sequence[str], survey: str) -> gpd.GeoDataFrame:
        table, names = self._t.metadata.tables[name], [c for c in columns if c != "geometry"]
        query = select(*(table.c[n] for n in names), table.c.geom).where(table.c.survey == survey).order_by(table.c.fid)
        rows = self._c.execute(query).all()
        data = {n: pd.Series([r[i] for r in rows], dtype=object) for i, n in enumerate(names)}
        return gpd.GeoDataFrame(data, geometry=[r.geom for r in rows], crs=self._srid)


FIELDS = tuple(f.name for f in fields(FieldFinding) if f.name != "month_amount")


def _finding_columns(t: Tables) -> list[Any]:
    return [*(t.findings.c[n] for n in FIELDS), t.findings.c.month_cents]


def _state_columns(t: Tables) -> list[Any]:
    s = t.finding_states.c
    return [s.state, s.version, s.operator.label("now_operator"), s.case_id, s.done_by, s.changed_at]


def _row(finding: FieldFinding) -> dict[str, Any]:
    row = {n: getattr(finding, n) for n in FIELDS}
    row |= {n: None if row[n] is None else f"{row[n]:f}" for n in DECIMALS}
    amount = finding.month_amount
    return {**row, "month_cents": None if amount is None else str(to_cents(amount))}


def _finding(row: Any) -> FieldFinding:
    values = {n: getattr(row, n) for n in FIELDS}
    values |= {n: None if values[n] is None else Decimal(values[n]) for n in DECIMALS}
    return FieldFinding(**values, month_amount=None if row.month_cents is None else from_cents(int(row.month_cents)))


def _some(ids: Sequence[str]) -> Iterable[list[str]]:
    for first in range(0, len(ids), MOST_BOUND):
        yield list(ids[first : first + MOST_BOUND])
