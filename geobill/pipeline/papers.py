"""The papers of an invoice: ``INVOICE_PAPERS`` are kept in the ledger with it and never rendered again.

Another paper is another function and its line in the list. What every run of ``bill`` renders anew from the month as it
is (drafts of decrees, apostilas, the index) is in :mod:`geobill.pipeline.decrees` and :mod:`geobill.pipeline.month_page`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import geopandas as gpd
from sqlalchemy import Connection

from geobill.documents.gpkg_annex import annex_gpkg
from geobill.documents.maps import INVOICE_MAP_MM, NetworkMap, network_map
from geobill.documents.overrides.folder import PACKAGE, Templates
from geobill.documents.render import render_annex, render_invoice_forms
from geobill.domain.check import DRAFT_NUMBER
from geobill.domain.invoice import Invoice, OperatorBill, SetOff
from geobill.domain.record import canonical_json, sha256
from geobill.frames import EQUIPMENT, SEGMENTS, ZONES
from geobill.pipeline.month import Month, decrees_of
from geobill.pricing.cased import CASES
from geobill.pricing.in_force import due_rows
from geobill.pricing.suspended import concerning
from geobill.store.settings import Settings
from geobill.store.workspace import Workspace


@dataclass(frozen=True)
class Paper:
    """A document made in a run; an invoice has at most one of each kind."""

    kind: str
    file_name: str
    content: bytes


@dataclass(frozen=True)
class Desk:
    """What papers are made from: the priced month over an open transaction, and the drawn coverage.

    ``draft`` is whether nothing is issued: papers say so, and every file name begins with :attr:`prefix`.
    """

    workspace: Workspace
    connection: Connection
    month: Month
    coverage: gpd.GeoDataFrame
    now: str
    draft: bool = False
    templates: Templates = PACKAGE

    @property
    def settings(self) -> Settings:
        """Return the workspace's settings."""
        return self.workspace.settings

    @property
    def prefix(self) -> str:
        """Beginning of every file name: nothing, or ``rascunho-YYYY-MM-`` for a draft's."""
        return draft_prefix(self.month) if self.draft else ""

    def file_name(self, kind: str, of: str, extension: str) -> str:
        """Name of a file: ``fatura-2026-000001-alfa.pdf``, or ``rascunho-2026-11-fatura-alfa.pdf``."""
        return f"{self.prefix}{kind}-{of}.{extension}"


def draft_prefix(month: Month) -> str:
    """Beginning of the names of a month's draft papers."""
    return f"rascunho-{month.bill.month}-"


def invoice_papers(desk: Desk, mine: OperatorBill, invoice: Invoice) -> list[Paper]:
    """Render what belongs to an invoice, or to the draft of one."""
    return [paper for papers in INVOICE_PAPERS for paper in papers(desk, mine, invoice)]


def _invoice_texts(desk: Desk, mine: OperatorBill, invoice: Invoice) -> list[Paper]:
    forms = render_invoice_forms(invoice, _invoice_map(desk, mine), desk.month.law.figures, desk.templates)
    return [
        Paper("fatura" if form == "pdf" else f"fatura_{form}", desk.file_name("fatura", stem(invoice), form), content)
        for form, content in forms.items()
    ]


def _annex_csv(desk: Desk, mine: OperatorBill, invoice: Invoice) -> list[Paper]:
    content = render_annex(invoice, annex_rows(desk.month, mine), desk.month.law.figures)
    return [Paper("anexo", desk.file_name("anexo", stem(invoice), "csv"), content)]


def _annex_gpkg(desk: Desk, mine: OperatorBill, invoice: Invoice) -> list[Paper]:
    found, owner = desk.month, mine.operator.id
    segments, equipment = (
        due_rows(f[f["operator"] == owner], found.bill.month, found.policy) for f in (found.segments, found.equipment)
    )
    pieces, cabinets = (f[f["operator"] == owner] for f in (found.priced.pieces, found.priced.cabinets))
    content = annex_gpkg(invoice, pieces, segments, equipment, cabinets, desk.coverage, found.law.figures)
    return [Paper("anexo_gpkg", desk.file_name("anexo", stem(invoice), "gpkg"), content)]


INVOICE_PAPERS: tuple[Callable[[Desk, OperatorBill, Invoice], list[Paper]], ...] = (
    _invoice_texts,
    _annex_csv,
    _annex_gpkg,
)


def inputs_of(
    found: Month, mine: OperatorBill, templates: Templates = PACKAGE, set_offs: Sequence[SetOff] = ()
) -> dict[str, str]:
    """Everything an operator's invoice was computed from, and the workspace's templates that it is printed with, by role."""
    owner = mine.operator.id
    segments, equipment = (f[f["operator"] == owner] for f in (found.segments, found.equipment))
    permits = {"permits": canonical_json(decrees_of(found.files))} if found.files else {}
    orders = concerning(found.suspensions.values(), found.bill.month, mine.operator, (segments, equipment))
    suspensions = {"suspensions": canonical_json(orders)} if orders else {}
    return {
        "statute": found.law.figures.source,
        "policy": canonical_json(found.policy.as_text()),
        "decisions": canonical_json(list(found.decisions.values())),
        "edition": rows_text(found.zones, ZONES),
        "network": rows_text(segments, SEGMENTS),
        "equipment": rows_text(equipment, EQUIPMENT),
        **charging_cases(segments, equipment),
        **permits,
        **suspensions,
        **({"set_offs": canonical_json(list(set_offs))} if set_offs else {}),
        **({"templates": canonical_json(templates.as_text)} if templates.files else {}),
    }


def charging_cases(segments: gpd.GeoDataFrame, equipment: gpd.GeoDataFrame) -> dict[str, str]:
    """Which cases charge which of the archived rows, by their place from 0, under the role ``row_cases``; nothing where none does.

    The rows' contract has no such column; :meth:`geobill.pipeline.replay.Frames.rows` puts it back.
    """
    frames = {"network": segments, "equipment": equipment}
    found = {
        role: {place: cases for place, cases in enumerate(frame[CASES]) if cases} if CASES in frame.columns else {}
        for role, frame in frames.items()
    }
    return {"row_cases": canonical_json(found)} if any(found.values()) else {}


def rows_text(frame: gpd.GeoDataFrame, columns: tuple[str, ...]) -> str:
    """Rows of a frame as canonical text: the values of a contract's columns, then the geometry as WKB."""
    names = [c for c in columns if c != "geometry"]
    values = frame[names].astype(object).where(frame[names].notna(), None)
    return canonical_json(
        [[*row, g.wkb_hex] for row, g in zip(values.itertuples(index=False, name=None), frame.geometry, strict=True)]
    )


def annex_rows(found: Month, mine: OperatorBill) -> list[dict[str, Any]]:
    """Pieces and cabinets behind an operator's lines, in the order of the lines; then those that a court suspends."""
    owner = mine.operator.id
    pieces, cabinets = found.priced.pieces, found.priced.cabinets
    shown = pieces["line"].notna() | pieces["priced_with"].notna() | pieces["suspended"].notna()
    rows = pieces[(pieces["operator"] == owner) & shown].to_dict("records")
    by_piece = found.law.per_piece(found.law.day_for(found.bill.month))
    boxes = cabinets[cabinets["operator"] == owner].to_dict("records")
    rows += [{**box, "pieces": 1} for box in boxes] if by_piece else boxes
    place = {s.suspension: n for n, s in enumerate(mine.suspended, 1)}
    return sorted(
        rows,
        key=lambda r: (
            place.get(r["suspended"], 0),
            r["line"] is None,
            r["line"] or 0,
            str(r.get("segment") or r.get("equipment")),
        ),
    )


def slug(text: str) -> str:
    """Return an operator's id as part of a file name: what a file system might take amiss becomes a hyphen."""
    plain = "".join(c if c.isalnum() and c.isascii() else "-" for c in text)[:60].lower()
    return plain if plain == text else f"{plain}-{sha256(text)[:6]}"


def stem(invoice: Invoice) -> str:
    """Part of a file's name between kind and form: number and operator, or the operator alone where there is no number."""
    owner = slug(invoice.operator.id)
    return owner if invoice.number == DRAFT_NUMBER else f"{invoice.number.replace('/', '-')}-{owner}"


def _invoice_map(desk: Desk, mine: OperatorBill) -> NetworkMap:
    """Map of what the month charges."""
    found, owner = desk.month, mine.operator.id
    segments, equipment = (
        due_rows(f[f["operator"] == owner], found.bill.month, found.policy) for f in (found.segments, found.equipment)
    )
    return network_map(segments, desk.coverage, *INVOICE_MAP_MM, equipment=equipment, templates=desk.templates)
