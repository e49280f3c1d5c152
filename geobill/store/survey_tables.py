"""Tables of surveys: what was seen in the field, what was found, and what reviewers did about it."""

from collections.abc import Callable

from sqlalchemy import Index, MetaData, Table, UniqueConstraint
from sqlalchemy.schema import Column

from geobill.store.columns import REAL_NUMBER, id_, integer, key, points_to, text

SURVEY_FEATURES = {"survey_lines": "MULTILINESTRING", "survey_equipment": "GEOMETRY", "findings": "GEOMETRY"}
SURVEY_LEDGER = ("surveys", "survey_acts", "findings", "finding_acts")


def survey_tables(meta: MetaData, geom: Callable[[str], Column[object]]) -> dict[str, Table]:
    """Make the tables on a store's metadata, by name; ``geom`` makes the geometry column of a layer."""

    def table(name: str, *columns: object) -> Table:
        return Table(name, meta, key(), *columns)  # type: ignore[arg-type]

    def texts(*names: str, null: bool = False) -> tuple[Column[str], ...]:
        return tuple(text(n, null=null) for n in names)

    made = (
        table(
            "surveys",
            id_(),
            *texts("file", "layer", "sha256"),
            points_to("operator", "operators.id", null=True),
            *texts("record", "done_by", "recorded_at"),  # domain.detection.Survey as canonical JSON
        ),
        table(
            "survey_acts",
            points_to("survey", "surveys.id"),
            text("kind"),  # domain.detection.REPLACED
            points_to("other", "surveys.id", null=True),
            *texts("done_by", "note", "recorded_at"),
        ),
        table(
            "survey_lines",
            points_to("survey", "surveys.id"),
            integer("source_row"),
            text("segment"),
            *texts("operator", "service", "level", "width_m", null=True),
            Column("length_m", REAL_NUMBER, nullable=False),
            geom("survey_lines"),
            Index("ix_survey_lines_survey", "survey"),
        ),
        table(
            "survey_equipment",
            points_to("survey", "surveys.id"),
            integer("source_row"),
            text("equipment"),
            *texts("operator", "service", "volume_m3", null=True),
            geom("survey_equipment"),
            Index("ix_survey_equipment_survey", "survey"),
        ),
        table(
            "findings",
            id_(),
            points_to("survey", "surveys.id"),
            text("kind"),  # domain.detection.FINDING_KINDS
            points_to("operator", "operators.id", null=True),
            integer("source_row"),
            text("segment"),
            *texts("service", "level", "permitted", null=True),
            Column("start_m", REAL_NUMBER, nullable=False),
            Column("end_m", REAL_NUMBER, nullable=False),
            text("length_m"),
            *texts("offset_mean_m", "offset_p95_m", "offset_max_m", null=True),
            text("confidence"),
            *texts("width_m", "permitted_width_m", "volume_m3", "permitted_volume_m3", null=True),
            geom("findings"),
            Index("ix_findings_survey", "survey"),
        ),
        table(
            "finding_acts",
            points_to("finding", "findings.id"),
            text("kind"),  # domain.detection.FINDING_ACTS
            text("other", null=True),  # a case, an operator
            *texts("done_by", "note", "paper", "file_name", "recorded_at"),
            Index("ix_finding_acts_finding", "finding"),
        ),
        table(  # what the acts come to, for the queue: the one table of a survey whose rows change
            "finding_states",
            points_to("finding", "findings.id"),
            text("state"),
            integer("version"),
            *texts("operator", "case_id", "month_cents", null=True),  # the price is that of whose it is now
            *texts("done_by", "changed_at"),
            UniqueConstraint("finding"),
        ),
    )
    return {t.name: t for t in made}
