"""What guards the ledger inside the database itself: its rows are added, whichever program writes."""

from collections.abc import Iterable

from sqlalchemy import Table, UniqueConstraint

ONE_STANDING_INVOICE = (
    "CREATE TRIGGER invoices_one_standing BEFORE INSERT ON invoices WHEN EXISTS (SELECT 1 FROM invoices i WHERE i.month = NEW.month "
    "AND i.operator = NEW.operator AND i.number <> NEW.number AND NOT EXISTS (SELECT 1 FROM invoice_acts a WHERE a.invoice = i.number "
    "AND a.kind = 'cancelled')) BEGIN SELECT RAISE(ABORT, 'UNIQUE: an operator has one standing invoice a month'); END"
)


def guards(table: Table) -> Iterable[str]:
    """Triggers that refuse to change, remove or replace (``INSERT OR REPLACE``) rows of a ledger table."""
    said = f"'the ledger only grows: a row of {table.name} is never changed or removed'"
    for verb in ("UPDATE", "DELETE"):
        yield f"CREATE TRIGGER {table.name}_no_{verb.lower()} BEFORE {verb} ON {table.name} BEGIN SELECT RAISE(ABORT, {said}); END"
    same = " OR ".join(" AND ".join(f"{c} = NEW.{c}" for c in columns) for columns in (("fid",), *_unique(table)))
    yield (
        f"CREATE TRIGGER {table.name}_no_replace BEFORE INSERT ON {table.name} WHEN EXISTS (SELECT 1 FROM {table.name} WHERE {same}) "
        f"BEGIN SELECT RAISE(ABORT, 'UNIQUE: {said[1:]}); END"
    )


def _unique(table: Table) -> list[tuple[str, ...]]:
    """Columns that are unique together, in a fixed order."""
    found = [(c.name,) for c in table.columns if c.unique]
    found += [tuple(c.name for c in k.columns) for k in table.constraints if isinstance(k, UniqueConstraint)]
    return sorted(set(found))
