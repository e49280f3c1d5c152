"""Run ``geobill`` and kill it, as a power cut would, at a named point: python killed_bill.py POINT [geobill arguments]."""

import os
import signal
import sys

from sqlalchemy import Engine, event

from geobill.cli import main
from geobill.pipeline import billing
from geobill.store import settings
from geobill.store.ledger import Ledger


def die():
    os.kill(os.getpid(), signal.SIGKILL)


def on_call(holder, name, number, *, after):
    """Die before or after the given call of a function."""
    real, calls = getattr(holder, name), []

    def counted(*args, **more):
        calls.append(name)
        if len(calls) == number and not after:
            die()
        result = real(*args, **more)
        if len(calls) == number:
            die()
        return result

    setattr(holder, name, counted)


def half_a_file(descriptor):
    """Leave half of what was written, then die."""
    os.ftruncate(descriptor, os.fstat(descriptor).st_size // 2)
    os.lseek(descriptor, 0, os.SEEK_END)
    die()


def at_commit(connection):
    if connection.get_execution_options().get("geobill_write"):
        die()


POINTS = {
    "first number taken": lambda: on_call(Ledger, "next_number", 1, after=True),
    "second number taken": lambda: on_call(Ledger, "next_number", 2, after=True),
    "invoice booked, its documents not made": lambda: on_call(Ledger, "save_invoice", 1, after=True),
    "between two documents in the store": lambda: on_call(Ledger, "save_document", 1, after=True),
    "before the commit": lambda: event.listen(Engine, "commit", at_commit),
    "after the commit, before any file": lambda: on_call(billing, "write_files", 1, after=False),
    "first file written": lambda: on_call(billing, "replace_file", 1, after=True),
    "between two files": lambda: on_call(billing, "replace_file", 3, after=False),
    "within a file": lambda: setattr(settings.os, "fsync", half_a_file),
    "file written but not in its place": lambda: on_call(type(settings.Path()), "replace", 2, after=False),
    "last file written": lambda: on_call(billing, "replace_file", 6, after=True),
    "nowhere": lambda: None,
}

if __name__ == "__main__":
    POINTS[sys.argv[1]]()
    sys.argv = ["geobill", *sys.argv[2:]]
    main.run()
