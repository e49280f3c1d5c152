"""Run ``geobill`` on an older store and kill it at a named point: python killed_migration.py POINT [geobill arguments]."""

import os
import signal
import sys

from alembic import op
from sqlalchemy import Engine, event

from geobill.cli import main
from geobill.store import migrations
from geobill.store.migrations import copying, steps


def die(*_):
    os.kill(os.getpid(), signal.SIGKILL)


def before(holder, name, number=1):
    """Die at the given call of a function, before it does anything."""
    real, calls = getattr(holder, name), []

    def counted(*args, **more):
        calls.append(name)
        if len(calls) == number:
            die()
        return real(*args, **more)

    setattr(holder, name, counted)


def in_the_middle_of_the_copy():
    copying.PAGES_AT_ONCE = 5
    copying._progress = lambda status, remaining, total: remaining < total / 2 and die()


def at_commit(connection):
    if connection.get_execution_options().get("geobill_write"):
        die()


POINTS = {
    "before the copy": lambda: before(copying, "_copy"),
    "in the middle of the copy": in_the_middle_of_the_copy,
    "copy not yet on the disk": lambda: before(copying.os, "fsync"),
    "copy whole, not yet in its place": lambda: before(type(copying.Path()), "replace"),
    "copy in its place, nothing migrated": lambda: before(migrations, "_revisions"),
    "between two tables": lambda: before(op, "create_table", 3),
    "tables made, not registered": lambda: before(steps, "moment"),
    "version written, before the commit": lambda: event.listen(Engine, "commit", at_commit),
    "after the commit": lambda: setattr(main.shared, "say", die),
    "nowhere": lambda: None,
}

if __name__ == "__main__":
    POINTS[sys.argv[1]]()
    sys.argv = ["geobill", *sys.argv[2:]]
    main.run()
