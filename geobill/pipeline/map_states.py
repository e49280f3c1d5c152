"""How each finding is drawn just now: its state, and whether it is one of those that the queue shows."""

from dataclasses import dataclass, replace

from geobill.store.drawn import Drawn
from geobill.store.finding_queue import FindingQueue, Query
from geobill.store.workspace import Workspace


@dataclass(frozen=True)
class States:
    """Findings by the key that the tiles have.

    ``by_state`` leaves out the suspected ones, ``gone`` are those of a survey that was compared anew. Of the rest the query takes
    those that are ``listed``, or all but those that are ``hidden``: the shorter list of the two, the other is None.
    """

    by_state: dict[str, list[int]]
    gone: list[int]
    listed: list[int] | None
    hidden: list[int] | None


def load_stamp(workspace: Workspace) -> str:
    """Return a text that changes whenever :func:`load_states` may answer otherwise to the same query."""
    with workspace.database.read() as connection:
        return Drawn(connection, workspace.database.tables).stamp()


def load_states(workspace: Workspace, query: Query) -> States:
    """Return how the findings are drawn, with those of a query brought out."""
    with workspace.database.read() as connection:
        drawn = Drawn(connection, workspace.database.tables)
        keys, gone = drawn.keys(), drawn.gone()
        queue = FindingQueue(connection, workspace.database.tables, workspace.database.srid)
        listed = {keys[id_] for id_, _ in queue.find_ids(replace(query, order="id"))}
        hidden = set(keys.values()) - listed - set(gone)
        few = len(listed) < len(hidden)
        return States(drawn.states(), gone, sorted(listed) if few else None, None if few else sorted(hidden))
