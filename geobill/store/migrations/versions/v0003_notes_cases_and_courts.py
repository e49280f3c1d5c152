"""Version 3: notes, cases, suspensions, credits, amendments of the law, policy; an invoice can be cancelled and issued anew.

An operator may have several invoices of a month, one of which stands: ``invoices`` loses UNIQUE (month, operator) and
gets a trigger instead. The ledger's rows can't be replaced any more either (``INSERT OR REPLACE``).
"""

from alembic import op

from geobill.store.migrations.steps import guard, register

revision = "3"
down_revision = "2"

NEW = (
    """CREATE TABLE law_amendments ( fid INTEGER NOT NULL, id TEXT NOT NULL, statute TEXT NOT NULL, name TEXT NOT NULL,
        figure TEXT NOT NULL, act TEXT NOT NULL, in_force_from TEXT NOT NULL, paper TEXT NOT NULL, file_name TEXT NOT
        NULL, done_by TEXT NOT NULL, recorded_at TEXT NOT NULL, PRIMARY KEY (fid), UNIQUE (id) )""",
    """CREATE TABLE law_confirmations ( fid INTEGER NOT NULL, statute TEXT NOT NULL, until_on TEXT NOT NULL, done_by
        TEXT NOT NULL, note TEXT NOT NULL, recorded_at TEXT NOT NULL, PRIMARY KEY (fid) )""",
    """CREATE TABLE policy_changes ( fid INTEGER NOT NULL, policy_key TEXT NOT NULL, value TEXT NOT NULL, previous TEXT NOT
        NULL, since TEXT NOT NULL, done_by TEXT NOT NULL, recorded_at TEXT NOT NULL, PRIMARY KEY (fid) )""",
    """CREATE TABLE suspensions ( fid INTEGER NOT NULL, id TEXT NOT NULL, court_case TEXT NOT NULL, court TEXT NOT
        NULL, kind TEXT NOT NULL, effect TEXT NOT NULL, articles TEXT NOT NULL, from_on TEXT NOT NULL, until_on TEXT,
        operator TEXT, service TEXT, permit TEXT, area_wkt TEXT, note TEXT NOT NULL, recorded_at TEXT NOT NULL, PRIMARY
        KEY (fid), UNIQUE (id) )""",
    """CREATE TABLE cases ( fid INTEGER NOT NULL, id TEXT NOT NULL, kind TEXT NOT NULL, operator TEXT NOT NULL,
        opened_on TEXT NOT NULL, subject TEXT NOT NULL, permit TEXT, segments TEXT NOT NULL, equipment TEXT NOT NULL,
        recorded_at TEXT NOT NULL, PRIMARY KEY (fid), UNIQUE (id), FOREIGN KEY(operator) REFERENCES operators (id) )""",
    """CREATE TABLE credits ( fid INTEGER NOT NULL, id TEXT NOT NULL, operator TEXT NOT NULL, law TEXT NOT NULL,
        amount_cents INTEGER NOT NULL, granted_on TEXT NOT NULL, reference TEXT NOT NULL, note TEXT NOT NULL,
        recorded_at TEXT NOT NULL, PRIMARY KEY (fid), UNIQUE (id), FOREIGN KEY(operator) REFERENCES operators (id) )""",
    """CREATE TABLE suspension_liftings ( fid INTEGER NOT NULL, suspension TEXT NOT NULL, lifted_on TEXT NOT NULL,
        done_by TEXT NOT NULL, reference TEXT NOT NULL, months_from TEXT, months_until TEXT, late_charges INTEGER NOT
        NULL, note TEXT NOT NULL, recorded_at TEXT NOT NULL, PRIMARY KEY (fid), UNIQUE (suspension), FOREIGN
        KEY(suspension) REFERENCES suspensions (id) )""",
    """CREATE TABLE case_acts ( fid INTEGER NOT NULL, case_id TEXT NOT NULL, kind TEXT NOT NULL, act_on TEXT NOT NULL,
        done_by TEXT NOT NULL, reference TEXT NOT NULL, until_on TEXT, amount_cents TEXT, note TEXT NOT NULL, paper TEXT
        NOT NULL, file_name TEXT NOT NULL, recorded_at TEXT NOT NULL, PRIMARY KEY (fid), FOREIGN KEY(case_id) REFERENCES
        cases (id) )""",
    """CREATE TABLE case_documents ( fid INTEGER NOT NULL, case_id TEXT NOT NULL, kind TEXT NOT NULL, file_name TEXT
        NOT NULL, sha256 TEXT NOT NULL, content BLOB NOT NULL, recorded_at TEXT NOT NULL, PRIMARY KEY (fid), FOREIGN
        KEY(case_id) REFERENCES cases (id) )""",
    """CREATE TABLE credit_uses ( fid INTEGER NOT NULL, credit TEXT NOT NULL, invoice TEXT NOT NULL, amount_cents
        INTEGER NOT NULL, recorded_at TEXT NOT NULL, PRIMARY KEY (fid), FOREIGN KEY(credit) REFERENCES credits (id),
        FOREIGN KEY(invoice) REFERENCES invoices (number) )""",
    """CREATE TABLE invoice_acts ( fid INTEGER NOT NULL, invoice TEXT NOT NULL, kind TEXT NOT NULL, act_on TEXT NOT
        NULL, done_by TEXT NOT NULL, reason TEXT NOT NULL, recorded_at TEXT NOT NULL, PRIMARY KEY (fid), FOREIGN
        KEY(invoice) REFERENCES invoices (number) )""",
    """CREATE TABLE notes ( fid INTEGER NOT NULL, number TEXT NOT NULL, series_year INTEGER NOT NULL, sequence INTEGER
        NOT NULL, kind TEXT NOT NULL, operator TEXT NOT NULL, case_id TEXT, issued_on TEXT NOT NULL, due_on TEXT,
        total_cents INTEGER NOT NULL, digest TEXT NOT NULL, record TEXT NOT NULL, issued_at TEXT NOT NULL, PRIMARY KEY
        (fid), UNIQUE (series_year, sequence), UNIQUE (number), FOREIGN KEY(operator) REFERENCES operators (id), FOREIGN
        KEY(case_id) REFERENCES cases (id) )""",
    """CREATE TABLE note_documents ( fid INTEGER NOT NULL, note TEXT NOT NULL, kind TEXT NOT NULL, file_name TEXT NOT
        NULL, sha256 TEXT NOT NULL, content BLOB NOT NULL, PRIMARY KEY (fid), UNIQUE (note, kind), FOREIGN KEY(note)
        REFERENCES notes (number) )""",
    """CREATE TABLE note_inputs ( fid INTEGER NOT NULL, note TEXT NOT NULL, role TEXT NOT NULL, sha256 TEXT NOT NULL,
        PRIMARY KEY (fid), UNIQUE (note, role), FOREIGN KEY(note) REFERENCES notes (number), FOREIGN KEY(sha256)
        REFERENCES archive (sha256) )""",
)
REBUILT = {
    "decisions": (
        """CREATE TABLE decisions ( fid INTEGER NOT NULL, id TEXT NOT NULL, number TEXT NOT NULL, date TEXT NOT NULL,
        signatory TEXT NOT NULL, question TEXT NOT NULL, answer TEXT NOT NULL, recorded_at TEXT NOT NULL, in_force_from
        TEXT, scan TEXT NOT NULL, file_name TEXT NOT NULL, PRIMARY KEY (fid), UNIQUE (id) )""",
        "fid, id, number, date, signatory, question, answer, recorded_at, scan, file_name",
        "fid, id, number, date, signatory, question, answer, recorded_at, '', ''",
    ),
    "invoices": (
        """CREATE TABLE invoices ( fid INTEGER NOT NULL, number TEXT NOT NULL, series_year INTEGER NOT NULL, sequence
        INTEGER NOT NULL, month TEXT NOT NULL, operator TEXT NOT NULL, issued_on TEXT NOT NULL, due_on TEXT NOT NULL,
        total_cents INTEGER NOT NULL, digest TEXT NOT NULL, record TEXT NOT NULL, issued_at TEXT NOT NULL, PRIMARY KEY
        (fid), UNIQUE (series_year, sequence), UNIQUE (number), FOREIGN KEY(operator) REFERENCES operators (id) )""",
        (
            "fid, number, series_year, sequence, month, operator, issued_on, due_on, total_cents, digest, record, "
            "issued_at"
        ),
        (
            "fid, number, series_year, sequence, month, operator, issued_on, due_on, total_cents, digest, record, "
            "issued_at"
        ),
    ),
    "invoice_lines": (
        """CREATE TABLE invoice_lines ( fid INTEGER NOT NULL, invoice TEXT NOT NULL, line INTEGER NOT NULL, kind TEXT NOT
        NULL, service TEXT, permit TEXT, zone TEXT, land_value TEXT, length_m TEXT, billed_width_m TEXT, volume_m3 TEXT,
        price_per_m3 TEXT, location_index TEXT, depreciation_index TEXT, reducer TEXT, multiplier TEXT NOT NULL, days
        INTEGER NOT NULL, month_days INTEGER NOT NULL, amount_cents INTEGER NOT NULL, articles TEXT NOT NULL, flags TEXT
        NOT NULL, pieces TEXT, price_per_piece TEXT, PRIMARY KEY (fid), UNIQUE (invoice, line), FOREIGN KEY(invoice)
        REFERENCES invoices (number) )""",
        (
            "fid, invoice, line, kind, service, permit, zone, land_value, length_m, billed_width_m, volume_m3, "
            "price_per_m3, location_index, depreciation_index, reducer, multiplier, days, month_days, amount_cents, "
            "articles, flags"
        ),
        (
            "fid, invoice, line, kind, service, permit, zone, land_value, length_m, billed_width_m, volume_m3, "
            "price_per_m3, location_index, depreciation_index, reducer, multiplier, days, month_days, amount_cents, "
            "articles, flags"
        ),
    ),
}
# what is unique in each ledger table: a row that has it already can't be written over
UNIQUE: dict[str, tuple[tuple[str, ...], ...]] = {
    "invoices": (
        ("number",),
        ("series_year", "sequence"),
    ),
    "invoice_lines": (("invoice", "line"),),
    "invoice_inputs": (("invoice", "role"),),
    "archive": (("sha256",),),
    "documents": (("invoice", "kind"),),
    "permit_acts": (),
    "decrees": (("number",),),
    "decree_documents": (("decree", "kind"),),
    "month_checks": (),
    "invoice_acts": (),
    "notes": (
        ("number",),
        ("series_year", "sequence"),
    ),
    "note_inputs": (("note", "role"),),
    "note_documents": (("note", "kind"),),
    "cases": (("id",),),
    "case_acts": (),
    "case_documents": (),
    "suspensions": (("id",),),
    "suspension_liftings": (("suspension",),),
    "credits": (("id",),),
    "credit_uses": (),
    "law_amendments": (("id",),),
    "law_confirmations": (),
    "policy_changes": (),
}
GUARDED_BEFORE = ("invoices", "invoice_lines")


def upgrade() -> None:
    """Add the tables, rebuild three, and guard the ledger against replacing."""
    for statement in NEW:
        op.execute(statement)
        register(statement.split()[2])
    for name, (statement, columns, values) in REBUILT.items():
        op.execute(f"CREATE TEMP TABLE kept AS SELECT * FROM main.{name}")
        op.execute(f"DROP TABLE main.{name}")
        op.execute(statement)
        op.execute(f"INSERT INTO main.{name} ({columns}) SELECT {values} FROM temp.kept")
        op.execute("DROP TABLE temp.kept")
    for name in (*GUARDED_BEFORE, *(statement.split()[2] for statement in NEW)):
        guard(name)
    for name, unique in UNIQUE.items():
        same = " OR ".join(" AND ".join(f"{c} = NEW.{c}" for c in columns) for columns in (("fid",), *unique))
        op.execute(
            f"CREATE TRIGGER {name}_no_replace BEFORE INSERT ON {name} WHEN EXISTS (SELECT 1 FROM {name} WHERE {same}) "
            f"BEGIN SELECT RAISE(ABORT, 'UNIQUE: the ledger only grows: a row of {name} is never changed or removed'); END"
        )
    op.execute(ONE_STANDING_INVOICE)


ONE_STANDING_INVOICE = (
    "CREATE TRIGGER invoices_one_standing BEFORE INSERT ON invoices WHEN EXISTS (SELECT 1 FROM invoices i WHERE i.month = NEW.month "
    "AND i.operator = NEW.operator AND i.number <> NEW.number AND NOT EXISTS (SELECT 1 FROM invoice_acts a WHERE a.invoice = i.number "
    "AND a.kind = 'cancelled')) BEGIN SELECT RAISE(ABORT, 'UNIQUE: an operator has one standing invoice a month'); END"
)
