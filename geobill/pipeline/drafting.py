"""A permit priced on a day and put into words: what a draft, a decree, a deposit and an apostila are made from."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import cached_property
from typing import Any

import geopandas as gpd
import pandas as pd
from sqlalchemy import Connection

from geobill.billing.permits import CLANDESTINE, draft_permit
from geobill.documents.forms import make
from geobill.documents.granting import Granting
from geobill.documents.maps import DECREE_MAP_MM, network_map
from geobill.documents.network_map import NetworkMap
from geobill.documents.overrides.folder import read_templates
from geobill.documents.render import decree_job
from geobill.domain.dates import BillingMonth
from geobill.domain.invoice import DecreeDraft, WholeMonth
from geobill.domain.network import PLANNED, Operator
from geobill.domain.permit import Decree, PermitFile
from geobill.domain.record import canonical_json, sha256
from geobill.errors import InputError
from geobill.frames import EQUIPMENT, SEGMENTS, ZONES
from geobill.intake.coverage import draw_coverage
from geobill.law.policy import Policy, as_decided, decided_reducer
from geobill.pipeline.law import load_law
from geobill.pipeline.month import Month, basis_of, edition_on
from geobill.pipeline.papers import rows_text
from geobill.pricing.cased import follow_cases
from geobill.pricing.in_force import standing_rows, stands, text
from geobill.pricing.network import CutNetwork, cut_network
from geobill.pricing.permitted import follow_permits
from geobill.pricing.whole_month import price_permit
from geobill.store.cases import CaseRegister
from geobill.store.networks import Cadastre
from geobill.store.permits import PermitRegister
from geobill.store.registers import Registers
from geobill.store.workspace import Workspace


@dataclass(frozen=True)
class Drafted:
    """A draft with what it was made from.

    ``standing`` is the price of the same day without what is planned: its lines tell what stands from what is to come.
    ``inputs`` is canonical text by role, ``segments`` and ``equipment`` are the rows that are granted. ``file`` is None
    for the rows that name no registered permit.
    """

    file: PermitFile | None
    draft: DecreeDraft
    standing: WholeMonth
    inputs: dict[str, str]
    segments: gpd.GeoDataFrame
    equipment: gpd.GeoDataFrame
    edition: tuple[str, date, str] | tuple[None, None, None]

    @property
    def is_empty(self) -> bool:
        """Whether nothing stands and nothing is planned."""
        return not len(self.segments) and not len(self.equipment)


class Drafting:
    """Drafts over one open transaction; what a priced month holds already isn't made again."""

    def __init__(self, workspace: Workspace, connection: Connection, month: Month | None = None):
        tables = workspace.database.tables
        self.settings, self._month = workspace.settings, month
        self.register = PermitRegister(connection, tables)
        self._cadastre = Cadastre(connection, tables, workspace.database.srid)
        registers = Registers(connection, tables)
        self.operators, self._decisions = registers.load_operators(), registers.load_decisions()
        self.templates = read_templates(workspace.root)
        self.law = load_law(workspace, connection)
        self.files = self.register.load_files()
        self.cases = CaseRegister(connection, tables).load_files()
        self._zones: dict[str | None, gpd.GeoDataFrame] = {}
        self._cuts: dict[tuple[str, str | None, Policy], CutNetwork] = {}
        self._editions: dict[str | None, str] = {}

    @cached_property
    def _stored(self) -> tuple[gpd.GeoDataFrame, gpd.GeoDataFrame]:
        return self._cadastre.load_segments(), self._cadastre.load_equipment()

    def policy_on(self, on: date) -> Policy:
        """Return the policy of the month in which a day lies; R above 100 km is held until its decision is in force."""
        return as_decided(self.settings.policy_in(BillingMonth.of(on)), self._decisions, on)

    def file(self, number: str) -> PermitFile:
        """Return a registered permit; an unknown number is refused."""
        return find_file(self.files, number)

    def operator(self, file: PermitFile) -> Operator:
        """Return who asked for a permit."""
        return self.operators[file.permit.operator]

    def has_edition(self, on: date) -> bool:
        """Whether an edition of the Mapa de Valores is in force on a day."""
        return any(since <= on for _, since, _ in self._cadastre.find_editions())

    def rows_on(self, on: date) -> tuple[Any, Any]:
        """Return stored segments and equipment as the permits leave them on a day."""
        if self._month is not None and not self.files:
            return self._month.segments, self._month.equipment
        segments, equipment = self._stored
        since = self.law.figures.published_on
        segments, equipment = (follow_cases(frame, self.cases, since) for frame in (segments, equipment))
        return follow_permits(segments, self.files, on), follow_permits(equipment, self.files, on)

    def clandestine_rows(self, number: str, on: date) -> int:
        """How many rows of a permit are clandestine and stand on a day (art. 10)."""
        return sum(
            1
            for frame in self.rows_on(on)
            for row in frame.itertuples()
            if text(row.permit) == number and row.status in CLANDESTINE and stands(row, on)
        )

    def draft(self, file: PermitFile, on: date) -> Drafted:
        """Price a permit's rows for a whole month on a day, by the figures and the edition of that day (art. 6 § 1)."""
        return self._draft(self.operator(file), file, on)

    def draft_rest(self, operator: Operator, on: date) -> Drafted:
        """Price the rows of an operator that name no registered permit."""
        return self._draft(operator, None, on)

    def _draft(self, operator: Operator, file: PermitFile | None, on: date) -> Drafted:
        number = file.permit.number if file else None
        segments, equipment = (f[f["operator"] == operator.id] for f in self.rows_on(on))
        edition = edition_on(self._cadastre, on, needed=bool(len(segments)))
        zones = self._zones_of(edition[2])
        policy = self.policy_on(on)
        cut = self._cut(operator.id, segments, standing_rows(segments, on, number).index, edition[2], policy)
        above = decided_reducer(policy, self._decisions)

        def price(rows: Any, boxes: Any) -> WholeMonth:
            return price_permit(
                on, number, operator, rows, boxes, zones, self.law, policy, above, registered=self.files, cut=cut
            )

        def mine(frame: Any) -> Any:
            there = standing_rows(frame, on, number)
            named = [text(p) for p in there["permit"]]
            own = [n == number if number is not None else n not in self.files for n in named]
            return there.loc[pd.Series(own, index=there.index, dtype=bool)]

        granted, boxes = mine(segments), mine(equipment)
        planned = (granted["status"] == PLANNED).any() or (boxes["status"] == PLANNED).any()
        whole = self._known(operator, on, edition[2]) or price(segments, equipment)
        standing = price(*(f[f["status"] != PLANNED] for f in (segments, equipment))) if planned else whole
        inputs = self._inputs(segments, equipment, edition[2], policy)
        if file is not None:
            inputs["permit"] = _what_is_granted(granted, boxes)
        basis = replace(
            basis_of(self.law, policy, self._decisions, edition[0], edition[1], on),
            digests=tuple(sorted((role, sha256(content)) for role, content in inputs.items())),
        )
        draft = draft_permit(whole, operator, basis, self.law, self.settings.authority, policy)
        return Drafted(file, draft, standing, inputs, granted, boxes, edition)

    def _known(self, operator: Operator, on: date, batch: str | None) -> WholeMonth | None:
        """Return an operator's whole month as the priced month has it; None where permits part it, or it is another day's."""
        month = self._month
        if self.files or month is None or month.batch != batch or month.bill.month.last_day != on:
            return None
        return next((o.whole_month for o in month.bill.operators if o.operator.id == operator.id), None)

    def _zones_of(self, batch: str | None) -> gpd.GeoDataFrame:
        if batch not in self._zones:
            known = self._month is not None and self._month.batch == batch
            self._zones[batch] = self._month.zones if known and self._month else self._cadastre.load_zones(batch or "")
        return self._zones[batch]

    def _cut(self, operator: str, segments: Any, wanted: pd.Index, batch: str | None, policy: Policy) -> CutNetwork:
        """Take the month's own cut where it holds all rows that are wanted, else cut the whole network once."""
        month = self._month
        same = month is not None and month.batch == batch and month.policy == policy
        if month is not None and same and wanted.isin(month.priced.cut.labels).all():
            return month.priced.cut
        key = (operator, batch, policy)
        if key not in self._cuts:
            self._cuts[key] = cut_network(segments, self._zones_of(batch), policy)
        return self._cuts[key]

    def _inputs(self, segments: Any, equipment: Any, batch: str | None, policy: Policy) -> dict[str, str]:
        """Everything that a draft is computed from, as canonical text by role."""
        if batch not in self._editions:
            self._editions[batch] = rows_text(self._zones_of(batch), ZONES)
        return {
            "statute": self.law.figures.source,
            "policy": canonical_json(policy.as_text()),
            "decisions": canonical_json(list(self._decisions.values())),
            "edition": self._editions[batch],
            "network": rows_text(segments, SEGMENTS),
            "equipment": rows_text(equipment, EQUIPMENT),
            **({"templates": canonical_json(self.templates.as_text)} if self.templates.files else {}),
        }

    def render(self, drafted: Drafted, forms: Sequence[str] = ("pdf",), act: Decree | None = None) -> dict[str, bytes]:
        """Render the draft, or the decree as it was issued, in the forms asked for, with the map of what is granted."""
        file = drafted.file
        granting = None if file is None else Granting(file, drafted.standing, act)
        return make(decree_job(drafted.draft, self._map(drafted), self.law.figures, granting), forms, self.templates)

    def _map(self, drafted: Drafted) -> NetworkMap:
        coverage = self._coverage(drafted.edition[2], self.policy_on(drafted.draft.price.on))
        return network_map(
            drafted.segments, coverage, *DECREE_MAP_MM, equipment=drafted.equipment, templates=self.templates
        )

    def _coverage(self, batch: str | None, policy: Policy) -> gpd.GeoDataFrame:
        """Return the drawn coverage of an edition, drawing it where the policy changed since it was kept."""
        zones = self._zones_of(batch)
        if batch is None:
            return zones
        max_gap_m = policy.as_text()["max_gap_m"]
        if self._cadastre.has_coverage(batch, policy.on_overlap, max_gap_m):
            return self._cadastre.load_coverage(batch, policy.on_overlap, max_gap_m)
        return draw_coverage(zones, policy.on_overlap, float(policy.max_gap_m))  # type: ignore[arg-type]


def find_file(files: dict[str, PermitFile], number: str) -> PermitFile:
    """Return a registered permit; an unknown number is refused."""
    if number not in files:
        known = ", ".join(sorted(files)[:10]) or "none yet"
        raise InputError(
            f"There is no permit {number!r} in this workspace (registered: {known}). Nothing was changed. "
            f"Register it with "
            f"geobill permit add --number {number!r} --operator ID."
        )
    return files[number]


def _what_is_granted(segments: Any, equipment: Any) -> str:
    """Rows of a permit as canonical text without state and dates: the same before and after they are built."""
    found = []
    for frame, columns in (
        (segments, ("segment", "service", "width_m", "declared_length_m")),
        (equipment, ("equipment", "service", "volume_m3")),
    ):
        values = frame[list(columns)].astype(object)
        found += [
            [columns[0], *(text(v) or "" for v in row), g.wkb_hex]
            for row, g in zip(values.itertuples(index=False, name=None), frame.geometry, strict=True)
        ]
    return canonical_json(sorted(found))
