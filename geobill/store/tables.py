"""Tables of the store, laid out so that GDAL and QGIS read every column of the embedded one.

GDAL drops VARCHAR and NUMERIC columns silently and reads FLOAT with seven digits, so there are TEXT, INTEGER, REAL and
BLOB only: money as whole cents, other exact figures as text, dates as ISO text, times as ISO text with Z. Each table has
an integer key ``fid``, as GeoPackage wants it; the ids that people and other tables use are unique beside it.
"""

from dataclasses import dataclass
from functools import cache

from sqlalchemy import Column, LargeBinary, MetaData, Table, UniqueConstraint

from geobill.store.columns import REAL_NUMBER, id_, integer, key, points_to, text
from geobill.store.geometry import Geometry
from geobill.store.procedure_tables import PROCEDURE_LEDGER, procedure_tables
from geobill.store.survey_tables import SURVEY_FEATURES, SURVEY_LEDGER, survey_tables

SCHEMA_VERSION = 5
FEATURES = {
    "value_zones": "MULTIPOLYGON",
    "priced_coverage": "MULTIPOLYGON",
    "segments": "MULTILINESTRING",
    "equipment": "GEOMETRY",
    **SURVEY_FEATURES,
}
LEDGER = (
    "invoices",
    "invoice_lines",
    "invoice_inputs",
    "archive",
    "documents",
    "permit_acts",
    "decrees",
    "decree_documents",
    "month_checks",
    *PROCEDURE_LEDGER,
    "batch_acts",
    *SURVEY_LEDGER,
)


@dataclass(frozen=True)
class Tables:
    """Every table of a store in one coordinate system."""

    metadata: MetaData
    schema: Table
    operators: Table
    decisions: Table
    batches: Table
    batch_acts: Table
    set_aside: Table
    editions: Table
    value_zones: Table
    priced_coverage: Table
    segments: Table
    equipment: Table
    invoices: Table
    invoice_lines: Table
    invoice_inputs: Table
    archive: Table
    documents: Table
    permits: Table
    permit_acts: Table
    decrees: Table
    decree_documents: Table
    month_checks: Table
    invoice_acts: Table
    notes: Table
    note_inputs: Table
    note_documents: Table
    cases: Table
    case_acts: Table
    case_documents: Table
    suspensions: Table
    suspension_liftings: Table
    credits: Table
    credit_uses: Table
    law_amendments: Table
    law_confirmations: Table
    policy_changes: Table
    surveys: Table
    survey_acts: Table
    survey_lines: Table
    survey_equipment: Table
    findings: Table
    finding_acts: Table
    finding_states: Table


@cache
def make_tables(srid: int) -> Tables:
    """Tables whose geometry is in the system with this EPSG code."""
    meta = MetaData()

    def geom(table: str) -> Column[object]:
        return Column("geom", Geometry(FEATURES[table], srid), nullable=False)

    return Tables(
        metadata=meta,
        schema=Table("geobill_schema", meta, key(), integer("version"), text("created_at")),
        operators=Table(
            "operators",
            meta,
            key(),
            id_(),
            *(text(n) for n in ("name", "kind", "cnpj", "service", "address", "email", "representative", "added_at")),
        ),
        decisions=Table(
            "decisions",
            meta,
            key(),
            id_(),
            *(text(n) for n in ("number", "date", "signatory", "question", "answer", "recorded_at")),
            text("in_force_from", null=True),
            *(text(n) for n in ("scan", "file_name")),
        ),
        batches=Table(
            "batches",
            meta,
            key(),
            id_(),
            *(text(n) for n in ("kind", "file", "layer", "sha256")),
            points_to("operator", "operators.id", null=True),
            integer("read"),
            integer("accepted"),
            *(text(n) for n in ("length_m", "report", "imported_at", "format", "encoding")),
            text("options", null=True),  # how each layer was read, as JSON
            points_to("amends", "batches.id", null=True),
        ),
        batch_acts=Table(
            "batch_acts",
            meta,
            key(),
            points_to("batch", "batches.id"),
            text("kind"),  # domain.batch.ACTS
            points_to("other", "batches.id", null=True),
            *(text(n) for n in ("done_by", "note", "recorded_at")),
        ),
        set_aside=Table(
            "set_aside",
            meta,
            key(),
            points_to("batch", "batches.id"),
            integer("source_row"),
            *(text(n) for n in ("row_id", "reason_code", "reason", "layer")),
            integer("layer_row"),
            text("original", null=True),  # its own columns, as JSON
            Column("wkb", LargeBinary),
        ),
        editions=Table(
            "editions",
            meta,
            key(),
            points_to("batch", "batches.id"),
            *(text(n) for n in ("name", "in_force_from")),
        ),
        value_zones=Table(
            "value_zones",
            meta,
            key(),
            points_to("batch", "batches.id"),
            integer("source_row"),
            *(text(n) for n in ("zone", "land_value")),
            Column("area_m2", REAL_NUMBER, nullable=False),
            geom("value_zones"),
        ),
        priced_coverage=Table(
            "priced_coverage",
            meta,
            key(),
            points_to("batch", "batches.id"),
            *(text(n) for n in ("on_overlap", "max_gap_m")),
            integer("source_row"),
            text("zone", null=True),
            text("land_value", null=True),
            *(text(n) for n in ("kind", "status")),
            Column("area_m2", REAL_NUMBER, nullable=False),
            geom("priced_coverage"),
        ),
        segments=Table(
            "segments",
            meta,
            key(),
            points_to("batch", "batches.id"),
            integer("source_row"),
            text("segment"),
            points_to("operator", "operators.id"),
            *(text(n, null=True) for n in ("service", "level", "permit")),
            *(text(n) for n in ("status", "width_m")),
            *(text(n, null=True) for n in ("declared_length_m", "installed_on", "removed_on")),
            Column("length_m", REAL_NUMBER, nullable=False),
            geom("segments"),
        ),
        equipment=Table(
            "equipment",
            meta,
            key(),
            points_to("batch", "batches.id"),
            integer("source_row"),
            text("equipment"),
            points_to("operator", "operators.id"),
            *(text(n, null=True) for n in ("service", "permit")),
            *(text(n) for n in ("status", "volume_m3")),
            *(text(n, null=True) for n in ("installed_on", "removed_on")),
            geom("equipment"),
        ),
        invoices=Table(
            "invoices",
            meta,
            key(),
            id_("number"),
            integer("series_year"),
            integer("sequence"),
            text("month"),
            points_to("operator", "operators.id"),
            *(text(n) for n in ("issued_on", "due_on")),
            integer("total_cents"),
            *(text(n) for n in ("digest", "record", "issued_at")),
            UniqueConstraint("series_year", "sequence"),
        ),
        invoice_lines=Table(
            "invoice_lines",
            meta,
            key(),
            points_to("invoice", "invoices.number"),
            integer("line"),
            text("kind"),
            *(text(n, null=True) for n in ("service", "permit", "zone", "land_value", "length_m", "billed_width_m")),
            *(
                text(n, null=True)
                for n in ("volume_m3", "price_per_m3", "location_index", "depreciation_index", "reducer")
            ),
            text("multiplier"),
            integer("days"),
            integer("month_days"),
            integer("amount_cents"),
            *(text(n) for n in ("articles", "flags")),
            *(text(n, null=True) for n in ("pieces", "price_per_piece")),
            UniqueConstraint("invoice", "line"),
        ),
        invoice_inputs=Table(
            "invoice_inputs",
            meta,
            key(),
            points_to("invoice", "invoices.number"),
            text("role"),
            points_to("sha256", "archive.sha256"),
            UniqueConstraint("invoice", "role"),
        ),
        archive=Table(
            "archive",
            meta,
            key(),
            id_("sha256"),
            text("kind"),
            Column("content", LargeBinary, nullable=False),  # zlib
        ),
        documents=Table(
            "documents",
            meta,
            key(),
            points_to("invoice", "invoices.number"),
            *(text(n) for n in ("kind", "file_name", "sha256")),
            Column("content", LargeBinary, nullable=False),
            UniqueConstraint("invoice", "kind"),
        ),
        permits=Table(
            "permits",
            meta,
            key(),
            id_("number"),
            points_to("operator", "operators.id"),
            *(text(n) for n in ("process", "service", "project")),
            text("requested_on", null=True),
            text("recorded_at"),
        ),
        permit_acts=Table(
            "permit_acts",
            meta,
            key(),
            points_to("permit", "permits.number"),
            text("kind"),  # domain.permit.ACTS
            text("act_on"),
            *(text(n) for n in ("done_by", "reference")),
            text("amount_cents", null=True),  # an integer with nulls would be read as a float
            *(text(n) for n in ("note", "recorded_at")),
        ),
        decrees=Table(
            "decrees",
            meta,
            key(),
            id_("number"),
            points_to("permit", "permits.number"),
            points_to("amends", "decrees.number", null=True),  # an apostila names its decree
            *(text(n) for n in ("date", "signatory", "published_on")),
            integer("total_cents"),
            *(text(n) for n in ("digest", "record", "recorded_at")),
        ),
        decree_documents=Table(
            "decree_documents",
            meta,
            key(),
            points_to("decree", "decrees.number"),
            *(text(n) for n in ("kind", "file_name", "sha256")),
            Column("content", LargeBinary, nullable=False),
            UniqueConstraint("decree", "kind"),
        ),
        month_checks=Table(
            "month_checks",
            meta,
            key(),
            text("month"),
            text("role"),  # drafted or checked
            text("done_by"),
            text("digest"),  # of the bill that was drafted or checked
            *(text(n) for n in ("note", "done_at")),
        ),
        **procedure_tables(meta),
        **survey_tables(meta, geom),
    )
