"""What an act dated back leaves behind: months that were billed before it was recorded."""

from datetime import date

from sqlalchemy import Connection

from geobill.domain.finding import Finding
from geobill.store.ledger import Ledger
from geobill.store.workspace import Workspace


def find_billed_months(workspace: Workspace, connection: Connection, operator: str, since: date) -> tuple[Finding, ...]:
    """Say which months of an operator, that day's or later, are issued already: their invoices don't know of the act."""
    issued = Ledger(connection, workspace.database.tables).load_invoices(standing=True)
    late = [i for i in issued if i.operator.id == operator and i.month.last_day >= since]
    if not late:
        return ()
    named = ", ".join(f"{i.month} ({i.number})" for i in late)
    message = f"issued before this was recorded, and so for other amounts: {named}; an issued invoice never changes"
    first, last = min(i.month for i in late), max(i.month for i in late)
    until = f" --until {last}" if last > first else ""
    command = f"geobill correct --month {first}{until} --operator {operator} --reason TEXT --dry-run"
    fix = f"{command} shows what changes; without --dry-run it is settled."
    return (Finding("billed_before", "warning", message, fix),)
