"""Tables of what happens beside the month's invoices: notes, cases, suspensions, credits, amendments of the law, policy."""

from sqlalchemy import LargeBinary, MetaData, Table, UniqueConstraint
from sqlalchemy.schema import Column

from geobill.store.columns import id_, integer, key, points_to, text

PROCEDURE_LEDGER = (
    "invoice_acts",
    "notes",
    "note_inputs",
    "note_documents",
    "cases",
    "case_acts",
    "case_documents",
    "suspensions",
    "suspension_liftings",
    "credits",
    "credit_uses",
    "law_amendments",
    "law_confirmations",
    "policy_changes",
)


def procedure_tables(meta: MetaData) -> dict[str, Table]:
    """Make the tables on a store's metadata, by name."""

    def table(name: str, *columns: object) -> Table:
        return Table(name, meta, key(), *columns)  # type: ignore[arg-type]

    def texts(*names: str, null: bool = False) -> tuple[Column[str], ...]:
        return tuple(text(n, null=null) for n in names)

    def content() -> Column[bytes]:
        return Column("content", LargeBinary, nullable=False)

    made = (
        table(
            "invoice_acts",
            points_to("invoice", "invoices.number"),
            *texts("kind", "act_on", "done_by", "reason", "recorded_at"),
        ),
        table(
            "notes",
            id_("number"),
            integer("series_year"),
            integer("sequence"),
            text("kind"),  # domain.note.NOTES
            points_to("operator", "operators.id"),
            points_to("case_id", "cases.id", null=True),
            text("issued_on"),
            text("due_on", null=True),
            integer("total_cents"),
            *texts("digest", "record", "issued_at"),
            UniqueConstraint("series_year", "sequence"),
        ),
        table(
            "note_inputs",
            points_to("note", "notes.number"),
            text("role"),
            points_to("sha256", "archive.sha256"),
            UniqueConstraint("note", "role"),
        ),
        table(
            "note_documents",
            points_to("note", "notes.number"),
            *texts("kind", "file_name", "sha256"),
            content(),
            UniqueConstraint("note", "kind"),
        ),
        table(
            "cases",
            id_(),
            text("kind"),  # domain.case.KINDS
            points_to("operator", "operators.id"),
            *texts("opened_on", "subject"),
            text("permit", null=True),
            *texts("segments", "equipment", "recorded_at"),  # ids as a JSON list
        ),
        table(
            "case_acts",
            points_to("case_id", "cases.id"),
            *texts("kind", "act_on", "done_by", "reference"),  # domain.case.ACTS
            *texts("until_on", "amount_cents", null=True),
            *texts("note", "paper", "file_name", "recorded_at"),
        ),
        table(
            "case_documents",
            points_to("case_id", "cases.id"),
            *texts("kind", "file_name", "sha256"),
            content(),
            text("recorded_at"),
        ),
        table(
            "suspensions",
            id_(),
            *texts("court_case", "court", "kind", "effect", "articles", "from_on"),
            *texts("until_on", "operator", "service", "permit", "area_wkt", null=True),
            *texts("note", "recorded_at"),
        ),
        table(
            "suspension_liftings",
            points_to("suspension", "suspensions.id"),
            *texts("lifted_on", "done_by", "reference"),
            *texts("months_from", "months_until", null=True),
            integer("late_charges"),  # 0 or 1
            *texts("note", "recorded_at"),
            UniqueConstraint("suspension"),
        ),
        table(
            "credits",
            id_(),
            points_to("operator", "operators.id"),
            text("law"),
            integer("amount_cents"),
            *texts("granted_on", "reference", "note", "recorded_at"),
        ),
        table(
            "credit_uses",
            points_to("credit", "credits.id"),
            points_to("invoice", "invoices.number"),
            integer("amount_cents"),
            text("recorded_at"),
        ),
        table(
            "law_amendments",
            id_(),
            *texts("statute", "name", "figure", "act", "in_force_from", "paper", "file_name", "done_by", "recorded_at"),
        ),
        table("law_confirmations", *texts("statute", "until_on", "done_by", "note", "recorded_at")),
        table(
            "policy_changes",
            *texts(
                "policy_key", "value", "previous", "since", "done_by", "recorded_at"
            ),  # since: YYYY-MM, or blank for every month
        ),
    )
    return {t.name: t for t in made}
