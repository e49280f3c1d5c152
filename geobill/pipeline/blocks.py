"""What keeps an operator from new projects, and a refusal that lists all that stands against something."""

from collections.abc import Iterable
from datetime import date

from sqlalchemy import Connection

from geobill.billing.cases import find_blocks
from geobill.billing.permits import Missing
from geobill.errors import LawError
from geobill.pipeline.law import load_law
from geobill.store.cases import CaseRegister
from geobill.store.workspace import Workspace


def check_not_blocked(workspace: Workspace, connection: Connection, operator: str, on: date, what: str) -> None:
    """Refuse a new project of an operator whose projects are suspended, or who owes the register (arts. 9 § 3, 12 § 4)."""
    files = CaseRegister(connection, workspace.database.tables).load_files()
    blocks = find_blocks(files.values(), operator, on, load_law(workspace, connection).figures)
    if blocks:
        raise LawError(refusal(what, blocks))


def refusal(head: str, obstacles: Iterable[Missing]) -> str:
    """Say all that stands against something, each with its article."""
    return f"{head}. Nothing was changed.\n" + "\n".join(f"  - art. {m.article}: {m.message}." for m in obstacles)
