"""What is dear to make and stays right while the store does: kept between two looks of the page."""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Any, Generic, TypeVar

from sqlalchemy import Connection

from geobill.pipeline.law import load_law
from geobill.store.state import state_of
from geobill.store.workspace import Workspace

T = TypeVar("T")


def state(workspace: Workspace, connection: Connection) -> tuple[Any, ...]:
    """Return what changes whenever something changes that a price depends on: settings, statute, records."""
    return (workspace.settings, load_law(workspace, connection), state_of(connection, workspace.database.tables))


class Kept(Generic[T]):
    """The last things made, each for a state of its workspace; made by one at a time, so that nobody waits twice."""

    def __init__(self, most: int):
        self._most, self._lock = most, Lock()
        self._found: OrderedDict[Hashable, tuple[tuple[Any, ...], T]] = OrderedDict()

    def get(self, workspace: Workspace, connection: Connection, name: Hashable, make: Callable[[], T]) -> T:
        """Return what was made under a name, or make it where it wasn't or the store isn't what it was then."""
        with self._lock:
            now, key = state(workspace, connection), (workspace.root, name)
            if key not in self._found or self._found[key][0] != now:
                self._found[key] = (now, make())
            self._found.move_to_end(key)
            while len(self._found) > self._most:
                self._found.popitem(last=False)
            return self._found[key][1]
