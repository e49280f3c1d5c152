"""The diary of the policy: every change of ``geobill.toml``, by command or by hand. Rows are added, never changed."""

from collections.abc import Iterable
from dataclasses import dataclass

from sqlalchemy import Connection, select

from geobill.store.tables import Tables

HAND = "hand-edited"  # written in ``by`` where the file was changed with no command


@dataclass(frozen=True)
class PolicyChange:
    """One value that became another.

    ``since`` is the month (YYYY-MM) from which it holds, blank for every month. ``value`` and ``previous`` of a dated
    change are blank where there was none, or is none any more. ``recorded_at`` is UTC, ISO text with Z; blank while it
    isn't recorded.
    """

    key: str
    value: str
    previous: str
    since: str
    by: str
    recorded_at: str = ""


class PolicyBook:
    """What was recorded of the policy's changes, over one open transaction."""

    def __init__(self, connection: Connection, tables: Tables):
        self._c, self._t = connection, tables.policy_changes

    def save(self, changes: Iterable[PolicyChange], now: str) -> None:
        """Record changes, in their order."""
        rows = [
            {
                "policy_key": c.key,
                "value": c.value,
                "previous": c.previous,
                "since": c.since,
                "done_by": c.by,
                "recorded_at": now,
            }
            for c in changes
        ]
        if rows:
            self._c.execute(self._t.insert(), rows)

    def load(self) -> list[PolicyChange]:
        """Every recorded change, in the order in which they were recorded."""
        t = self._t.c
        query = select(t.policy_key, t.value, t.previous, t.since, t.done_by, t.recorded_at).order_by(t.fid)
        return [PolicyChange(*row) for row in self._c.execute(query)]
