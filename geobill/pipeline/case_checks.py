"""What a case may name: operators whom the law reaches, permits of theirs that are granted, rows that are stored."""

from datetime import date

from sqlalchemy import Connection

from geobill.billing.permits import Missing
from geobill.domain.case import CLANDESTINE, KINDS, UNREGISTERED, Case, CaseFile
from geobill.domain.network import DOUBLED, SUSPECTED, Operator
from geobill.errors import InputError, LawError
from geobill.law.statutes.street_use import StreetUseLaw
from geobill.store.networks import Cadastre
from geobill.store.permits import PermitRegister
from geobill.store.registers import Registers
from geobill.store.workspace import Workspace

MOST_NAMED = 10
MOVES_ROWS = frozenset({CLANDESTINE, UNREGISTERED})


def check_operator(workspace: Workspace, connection: Connection, operator: str, law: StreetUseLaw) -> Operator:
    """Return an operator; one that isn't known, or that the law doesn't reach (art. 13), is refused."""
    operators = Registers(connection, workspace.database.tables).load_operators()
    if operator not in operators:
        known = ", ".join(operators) or "none yet"
        raise InputError(f"There is no operator {operator!r} in this workspace (known: {known}). Nothing was changed.")
    article = law.exemption(operators[operator].kind)
    if article:
        raise LawError(
            f"{operators[operator].name} is a public-law entity of this municipality: the law doesn't apply to it (art. {article}), "
            "and nothing can be held against it under it. Nothing was changed."
        )
    return operators[operator]


def check_permit(
    workspace: Workspace, connection: Connection, operator: str, number: str, granted_on: date | None
) -> None:
    """Refuse a permit that isn't the operator's, or isn't granted by a day: rows become part of a decree, not of a request."""
    files = PermitRegister(connection, workspace.database.tables).load_files()
    file = files.get(number)
    if file is None or file.permit.operator != operator:
        known = ", ".join(n for n, f in files.items() if f.permit.operator == operator) or "none"
        raise InputError(
            f"{operator} has no permit {number!r} in this workspace (its permits: {known}). Nothing was changed."
        )
    if granted_on is None:
        return
    published, removed = file.published_on, file.removed_on
    if published is None or published > granted_on:
        when = "isn't issued" if published is None else f"is published on {published.isoformat()} only"
        raise LawError(
            f"The decree of the permit {number} {when}: equipment is lawful from its decree on (arts. 2, 3). Nothing was changed. "
            "Issue the decree first (geobill decree issue), or give a later --on."
        )
    if removed is not None and removed < granted_on:
        raise LawError(f"The permit {number} ended with its removal on {removed.isoformat()}. Nothing was changed.")


def stored_ids(workspace: Workspace, connection: Connection, operator: str) -> dict[str, dict[str, set[str]]]:
    """Ids of an operator's stored rows with their statuses, by the kind of row."""
    cadastre = Cadastre(connection, workspace.database.tables, workspace.database.srid)
    found: dict[str, dict[str, set[str]]] = {"segment": {}, "equipment": {}}
    for name, frame in (("segment", cadastre.load_segments()), ("equipment", cadastre.load_equipment())):
        mine = frame[frame["operator"] == operator]
        for id_, status in zip(mine[name], mine["status"], strict=True):
            found[name].setdefault(str(id_), set()).add(str(status))
    return found


def check_rows(workspace: Workspace, connection: Connection, case: Case) -> None:
    """Refuse a case that names a row which isn't stored, or that is about rows and names none."""
    stored = stored_ids(workspace, connection, case.operator)
    unknown = [i for i in case.segments if i not in stored["segment"]]
    unknown += [i for i in case.equipment if i not in stored["equipment"]]
    if unknown:
        raise InputError(
            f"{case.operator} has no stored row {', '.join(map(repr, unknown[:MOST_NAMED]))}: a case names rows by their ids, as they "
            "were imported. Nothing was changed. Import what was found with --status suspected, or correct the ids."
        )
    if case.kind in MOVES_ROWS and not case.segments and not case.equipment:
        raise InputError(
            f"A case under art. {KINDS[case.kind]} is about rows, and none is named: nothing would ever be charged by it. Nothing was "
            "changed. Name them with --segment, --equipment or --rows."
        )


def stored_as_doubled(workspace: Workspace, connection: Connection, file: CaseFile) -> list[Missing]:
    """Find rows that are stored as doubled already: a dismissal would leave their double price standing."""
    stored = stored_ids(workspace, connection, file.case.operator)
    named = [(i, stored["segment"].get(i, set())) for i in file.case.segments]
    named += [(i, stored["equipment"].get(i, set())) for i in file.case.equipment]
    doubled = [i for i, statuses in named if statuses & DOUBLED]
    if not doubled:
        return []
    message = (
        f"{', '.join(doubled[:MOST_NAMED])} came in with a doubled status of its own, which would go on after the dismissal: import "
        f"the file again with --status {SUSPECTED} and --replace first"
    )
    return [Missing("stored_as_doubled", "10", message)]
