"""The register of surveys: what was seen, what was found, what reviewers did. Findings and acts are added, never changed."""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any

import geopandas as gpd
import pandas as pd
from sqlalchemy import Connection, bindparam, func, select

from geobill.domain.detection import (
    DECIDING,
    REPLACED,
    SUSPECTED,
    FieldFinding,
    FindingAct,
    FindingFile,
    Survey,
)
from geobill.domain.record import canonical_json, from_plain
from geobill.errors import ConflictError, InputError
from geobill.frames import SURVEY_EQUIPMENT, SURVEY_LINES, plan_lengths
from geobill.store import gpkg
from geobill.store.finding_rows import as_cents, as_finding, as_row, finding_columns, joined, replaced, some
from geobill.store.geometry import encoded
from geobill.store.tables import Tables


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
        rows = [{**as_row(f), "geom": g} for f, g in zip(findings, drawn, strict=True)]
        self._c.execute(self._t.findings.insert(), rows)
        states = [
            {"finding": f.id, "state": SUSPECTED, "version": 0, "operator": f.operator, "case_id": None,
             "month_cents": as_cents(f.month_amount), "done_by": "", "changed_at": now}
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

    def find_same(self, sha256: str, layer: str) -> dict[str, str | None]:
        """Surveys of these very bytes that weren't compared anew since, each with the operator for whom it was compared."""
        s = self._t.surveys.c
        same = select(s.id, s.operator).where(s.sha256 == sha256, s.layer == layer)
        rows = self._c.execute(same.where(s.id.not_in(replaced(self._t))).order_by(s.fid))
        return {row.id: row.operator for row in rows}

    def replaced(self) -> frozenset[str]:
        """Surveys that were compared anew."""
        return frozenset(self._c.execute(replaced(self._t)).scalars())

    def load_lines(self, survey: str) -> gpd.GeoDataFrame:
        """Surveyed lines, by ``frames.SURVEY_LINES``."""
        return self._frame("survey_lines", SURVEY_LINES, survey)

    def load_equipment(self, survey: str) -> gpd.GeoDataFrame:
        """Surveyed cabinets and poles, by ``frames.SURVEY_EQUIPMENT``."""
        return self._frame("survey_equipment", SURVEY_EQUIPMENT, survey)

    # -- findings

    def load_files(self, ids: Iterable[str]) -> dict[str, FindingFile]:
        """Return findings with their acts in the order of recording, by id; unknown ids are left out."""
        wanted, t = list(dict.fromkeys(ids)), self._t
        acts: dict[str, list[FindingAct]] = defaultdict(list)
        found: dict[str, FieldFinding] = {}
        all_of_them = select(*finding_columns(t)).select_from(joined(t))
        for named in some(wanted):
            for row in self._c.execute(all_of_them.where(t.findings.c.id.in_(named))):
                found[row.id] = as_finding(row)
            a = t.finding_acts.c
            for row in self._c.execute(select(t.finding_acts).where(a.finding.in_(named)).order_by(a.fid)):
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

    def find_conflicts(self, acts: Sequence[FindingAct], seen: Mapping[str, int]) -> list[ConflictError]:
        """Find the findings that somebody decided on since the author of some deciding acts saw them."""
        deciding = list(dict.fromkeys(a.finding for a in acts if a.kind in DECIDING))
        found = []
        for id_, file in self.load_files(deciding).items():
            if not 0 <= seen[id_] <= file.version:
                raise InputError(f"{id_} never had version {seen[id_]}. Nothing was changed. Look at it again.")
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

    def save_amounts(self, amounts: Mapping[str, Decimal | None]) -> None:
        """Keep what findings cost in a month (reais; None: no price), in the place of what was said of it."""
        if not amounts:
            return
        s = self._t.finding_states
        priced = s.update().where(s.c.finding == bindparam("of")).values(month_cents=bindparam("cents"))
        self._c.execute(priced, [{"of": id_, "cents": as_cents(amount)} for id_, amount in amounts.items()])

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
