"""Who drafted, checked and issued a month: rows are added, never changed."""

from sqlalchemy import Connection, select

from geobill.domain.check import MonthCheck
from geobill.domain.dates import BillingMonth
from geobill.store.tables import Tables


class Checks:
    """The steps of a month that people took, over one open transaction."""

    def __init__(self, connection: Connection, tables: Tables):
        self._c, self._t = connection, tables

    def save(self, check: MonthCheck) -> None:
        """Add a step."""
        self._c.execute(
            self._t.month_checks.insert().values(
                month=str(check.month),
                role=check.role,
                done_by=check.by,
                digest=check.digest,
                note=check.note,
                done_at=check.at,
            )
        )

    def load(self, month: BillingMonth) -> list[MonthCheck]:
        """Return the steps of a month, in the order in which they were taken."""
        t = self._t.month_checks
        key = next(iter(t.primary_key))
        query = select(t.c.role, t.c.done_by, t.c.digest, t.c.done_at, t.c.note)
        rows = self._c.execute(query.where(t.c.month == str(month)).order_by(key))
        return [MonthCheck(month, r.role, r.done_by, r.digest, r.done_at, r.note) for r in rows]
