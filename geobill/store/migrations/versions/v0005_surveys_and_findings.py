"""Version 5: surveys, what was found in them, and what reviewers did about it."""

from alembic import op
from sqlalchemy import text

from geobill.store.migrations.steps import given, guard, moment, register

revision = "5"
down_revision = "4"

FEATURES = {"survey_lines": "MULTILINESTRING", "survey_equipment": "GEOMETRY", "findings": "GEOMETRY"}
LEDGER = ("surveys", "survey_acts", "findings", "finding_acts")
TABLES = {
    "surveys": """CREATE TABLE surveys ( fid INTEGER NOT NULL, id TEXT NOT NULL, file TEXT NOT NULL, layer TEXT NOT NULL,
        sha256 TEXT NOT NULL, operator TEXT, record TEXT NOT NULL, done_by TEXT NOT NULL, recorded_at TEXT NOT NULL,
        PRIMARY KEY (fid), UNIQUE (id), FOREIGN KEY(operator) REFERENCES operators (id) )""",
    "survey_acts": """CREATE TABLE survey_acts ( fid INTEGER NOT NULL, survey TEXT NOT NULL, kind TEXT NOT NULL, other TEXT,
        done_by TEXT NOT NULL, note TEXT NOT NULL, recorded_at TEXT NOT NULL, PRIMARY KEY (fid), FOREIGN KEY(survey)
        REFERENCES surveys (id), FOREIGN KEY(other) REFERENCES surveys (id) )""",
    "survey_lines": """CREATE TABLE survey_lines ( fid INTEGER NOT NULL, survey TEXT NOT NULL, source_row INTEGER NOT NULL, segment
        TEXT NOT NULL, operator TEXT, service TEXT, level TEXT, width_m TEXT, length_m REAL NOT NULL, geom
        MULTILINESTRING NOT NULL, PRIMARY KEY (fid), FOREIGN KEY(survey) REFERENCES surveys (id) )""",
    "survey_equipment": """CREATE TABLE survey_equipment ( fid INTEGER NOT NULL, survey TEXT NOT NULL, source_row INTEGER NOT NULL,
        equipment TEXT NOT NULL, operator TEXT, service TEXT, volume_m3 TEXT, geom GEOMETRY NOT NULL, PRIMARY KEY
        (fid), FOREIGN KEY(survey) REFERENCES surveys (id) )""",
    "findings": """CREATE TABLE findings ( fid INTEGER NOT NULL, id TEXT NOT NULL, survey TEXT NOT NULL, kind TEXT NOT NULL,
        operator TEXT, source_row INTEGER NOT NULL, segment TEXT NOT NULL, service TEXT, level TEXT, permitted TEXT,
        start_m REAL NOT NULL, end_m REAL NOT NULL, length_m TEXT NOT NULL, offset_mean_m TEXT, offset_p95_m TEXT,
        offset_max_m TEXT, confidence TEXT NOT NULL, width_m TEXT, permitted_width_m TEXT, volume_m3 TEXT,
        permitted_volume_m3 TEXT, geom GEOMETRY NOT NULL, PRIMARY KEY (fid), UNIQUE (id), FOREIGN
        KEY(survey) REFERENCES surveys (id), FOREIGN KEY(operator) REFERENCES operators (id) )""",
    "finding_acts": """CREATE TABLE finding_acts ( fid INTEGER NOT NULL, finding TEXT NOT NULL, kind TEXT NOT NULL, other TEXT,
        done_by TEXT NOT NULL, note TEXT NOT NULL, paper TEXT NOT NULL, file_name TEXT NOT NULL, recorded_at TEXT
        NOT NULL, PRIMARY KEY (fid), FOREIGN KEY(finding) REFERENCES findings (id) )""",
    "finding_states": """CREATE TABLE finding_states ( fid INTEGER NOT NULL, finding TEXT NOT NULL, state TEXT NOT NULL, version
        INTEGER NOT NULL, operator TEXT, case_id TEXT, month_cents TEXT, done_by TEXT NOT NULL, changed_at TEXT NOT NULL, PRIMARY KEY
        (fid), UNIQUE (finding), FOREIGN KEY(finding) REFERENCES findings (id) )""",
}
INDEXES = (
    "CREATE INDEX ix_survey_lines_survey ON survey_lines (survey)",
    "CREATE INDEX ix_survey_equipment_survey ON survey_equipment (survey)",
    "CREATE INDEX ix_findings_survey ON findings (survey)",
    "CREATE INDEX ix_finding_acts_finding ON finding_acts (finding)",
)


def upgrade() -> None:
    """Add the tables; nothing that is there changes."""
    for name, statement in TABLES.items():
        op.execute(statement)
        if name in FEATURES:
            _register_layer(name, FEATURES[name])
        else:
            register(name)
    for statement in INDEXES:
        op.execute(statement)
    for name in LEDGER:
        guard(name)
        same = "fid = NEW.fid OR id = NEW.id" if name in ("surveys", "findings") else "fid = NEW.fid"
        op.execute(
            f"CREATE TRIGGER {name}_no_replace BEFORE INSERT ON {name} WHEN EXISTS (SELECT 1 FROM {name} WHERE {same}) BEGIN SELECT "
            f"RAISE(ABORT, 'UNIQUE: the ledger only grows: a row of {name} is never changed or removed'); END"
        )


def _register_layer(table: str, kind: str) -> None:
    """Enter a table with geometry, so that GDAL and QGIS show it."""
    connection, srid = op.get_bind(), given("srid")
    connection.execute(
        text("INSERT INTO gpkg_contents VALUES (:table, 'features', :table, '', :now, NULL, NULL, NULL, NULL, :srid)"),
        {"table": table, "now": moment(), "srid": srid},
    )
    connection.execute(
        text("INSERT INTO gpkg_geometry_columns VALUES (:table, 'geom', :kind, :srid, 0, 0)"),
        {"table": table, "kind": kind, "srid": srid},
    )
