"""Orders of courts: recorded, looked at, lifted. None of it bills anything."""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import shapely
from sqlalchemy import Connection

from geobill.billing.standing import Demanded, demanded
from geobill.billing.suspensions import (
    already_demanded,
    check_lifting,
    check_order,
    come_back,
    months_of,
    risk_findings,
    suspension_findings,
)
from geobill.domain.dates import BillingMonth
from geobill.domain.finding import Finding
from geobill.domain.invoice import Bill
from geobill.domain.network import Operator
from geobill.domain.suspension import Lifting, Suspension, SuspensionFile
from geobill.errors import InputError
from geobill.intake.areas import read_area
from geobill.intake.reader import read_layer
from geobill.law.legal_risk import load_risks
from geobill.pipeline.law import load_law
from geobill.pipeline.month import Stored
from geobill.pipeline.place import place_of
from geobill.pricing.in_force import text
from geobill.pricing.suspended import amount_articles, concerns
from geobill.store.ledger import Ledger
from geobill.store.networks import Cadastre
from geobill.store.notes import NoteBook
from geobill.store.permits import PermitRegister
from geobill.store.registers import Registers
from geobill.store.suspensions import SuspensionRegister
from geobill.store.workspace import Workspace

ZERO = Decimal("0.00")


@dataclass(frozen=True)
class AreaFile:
    """A file with the area of an order: path, layer, and coordinate system where the file doesn't say it."""

    path: Path
    layer: str | None = None
    crs: str | None = None


@dataclass(frozen=True)
class Recorded:
    """An order as it was recorded; ``rows`` are the stored rows that it concerns, ``operators`` whose, ``area_m2`` its area."""

    file: SuspensionFile
    rows: int
    operators: tuple[str, ...]
    area_m2: str | None
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True)
class Billable:
    """A month that comes back, of an operator of whom it was demanded or, with None, of those of whom nothing stands.

    ``command`` is what a person may run, None where nothing is to do; ``said`` tells why.
    """

    month: BillingMonth
    operator: str | None
    invoices: tuple[str, ...]
    command: str | None
    said: str


@dataclass(frozen=True)
class Lifted:
    """An order's end: the months that may be billed now, by a person."""

    file: SuspensionFile
    months: tuple[Billable, ...]


def add_suspension(workspace: Workspace, order: Suspension, area: AreaFile | None, now: str) -> Recorded:
    """Record an order of a court; from then on the months that it touches are priced with it.

    Raises
    ------
    InputError
        For an order that names nobody, somebody or something unknown, an article without an amount, days that end
        before they begin, or an area without polygons or outside the municipality; nothing is changed.
    """
    found, said = order, tuple[Finding, ...]()
    with workspace.database.write() as connection:
        operators = Registers(connection, workspace.database.tables).load_operators()
        law = load_law(workspace, connection)
        check_order(order, amount_articles(law.figures), law.figures.title, operators, _permits(workspace, connection))
        if area is not None:
            wkt, said = read_area(read_layer(area.path, area.layer), area.crs, place_of(workspace))
            found = replace(order, area_wkt=wkt)
        SuspensionRegister(connection, workspace.database.tables).save(found, now)
        recorded = _recorded(workspace, connection, SuspensionFile(found))
        months = _demanded(workspace, connection, recorded.operators)
        demanded_before = already_demanded(found, ((m, stands.values()) for m, stands in months.items()))
    return replace(recorded, findings=(*said, *_what_to_know(recorded, operators), *demanded_before))


def list_suspensions(workspace: Workspace) -> list[SuspensionFile]:
    """Return every suspension with its lifting, in the order of recording."""
    with workspace.database.read() as connection:
        return list(SuspensionRegister(connection, workspace.database.tables).load_files().values())


def show_suspension(workspace: Workspace, name: str) -> Recorded:
    """Return one suspension with how many stored rows it concerns."""
    with workspace.database.read() as connection:
        return _recorded(workspace, connection, _file(workspace, connection, name))


def lift_suspension(workspace: Workspace, lifting: Lifting, now: str) -> Lifted:
    """Record the end of an order, with the explicit choice of which months come back; bills nothing.

    Raises
    ------
    InputError
        If there is no such suspension, it is lifted already, or the months aren't those that it held back.
    """
    with workspace.database.write() as connection:
        file = _file(workspace, connection, lifting.suspension)
        check_lifting(file, lifting)
        SuspensionRegister(connection, workspace.database.tables).save_lifting(lifting, now)
        lifted = SuspensionFile(file.suspension, lifting)
        owners = _recorded(workspace, connection, lifted).operators
        back = [m for m in months_of(file, lifting) if lifting.brings_back(m)]
        months = tuple(_billable(workspace, connection, back, owners))
    return Lifted(lifted, months)


def court_findings(bill: Bill) -> tuple[Finding, ...]:
    """Say what courts keep from being demanded of a month, and the legal risks of what is demanded."""
    return (*suspension_findings(bill), *risk_findings(bill, load_risks()))


def _demanded(
    workspace: Workspace, connection: Connection, owners: Collection[str]
) -> dict[BillingMonth, dict[str, Demanded]]:
    """Return what was demanded of some operators, by month and operator."""
    tables = workspace.database.tables
    invoices = [i for i in Ledger(connection, tables).load_invoices(standing=True) if i.operator.id in owners]
    notes = [n for n in NoteBook(connection, tables).load() if n.operator.id in owners]
    months = {i.month for i in invoices} | {line.month for note in notes for line in note.lines}
    return {month: demanded(month, invoices, notes) for month in sorted(months)}


def _billable(
    workspace: Workspace, connection: Connection, back: Iterable[BillingMonth], owners: Collection[str]
) -> Iterator[Billable]:
    """Say of each month that comes back what a person may do; priced again only where something demands it already."""
    known, stored = _demanded(workspace, connection, owners), Stored(workspace, connection)
    for month in back:
        stands = known.get(month, {})
        cost = {o.operator.id: o.total for o in stored.price(month).bill.operators} if stands else {}
        for owner, one in stands.items():
            command, said = come_back(one, cost.get(owner, ZERO))
            numbers = () if one.invoice is None else (one.invoice.number,)
            yield Billable(month, owner, numbers, command, said)
        if not stands or any(owner not in stands for owner in owners):
            yield Billable(month, None, (), f"geobill bill --month {month}", "nothing was demanded")


def _file(workspace: Workspace, connection: Connection, name: str) -> SuspensionFile:
    files = SuspensionRegister(connection, workspace.database.tables).load_files()
    if name not in files:
        known = ", ".join(sorted(files)) or "none yet"
        raise InputError(f"There is no suspension {name!r} in this workspace (recorded: {known}). Nothing was changed.")
    return files[name]


def _rows(workspace: Workspace, connection: Connection) -> list[Any]:
    cadastre = Cadastre(connection, workspace.database.tables, workspace.database.srid)
    return [row for frame in (cadastre.load_segments(), cadastre.load_equipment()) for row in frame.itertuples()]


def _permits(workspace: Workspace, connection: Connection) -> dict[str, str | None]:
    """Return the operator of each permit, registered or named by stored rows; None where rows of several name it."""
    found: dict[str, str | None] = {}
    for row in _rows(workspace, connection):
        permit = text(row.permit)
        if permit is not None:
            found[permit] = row.operator if found.get(permit, row.operator) == row.operator else None
    files = PermitRegister(connection, workspace.database.tables).load_files()
    return found | {number: file.permit.operator for number, file in files.items()}


def _recorded(workspace: Workspace, connection: Connection, file: SuspensionFile) -> Recorded:
    operators = Registers(connection, workspace.database.tables).load_operators()
    order = file.suspension
    area = None if order.area_wkt is None else shapely.from_wkt(order.area_wkt)
    if area is not None:
        shapely.prepare(area)
    concerned = [
        row.operator
        for row in _rows(workspace, connection)
        if concerns(order, operators[row.operator], text(row.service), text(row.permit))
        and (area is None or shapely.intersects(area, row.geometry))
    ]
    owners = tuple(sorted(set(concerned)))
    return Recorded(file, len(concerned), owners, None if area is None else f"{area.area:.2f}")


def _what_to_know(recorded: Recorded, operators: dict[str, Operator]) -> tuple[Finding, ...]:
    order, found = recorded.file.suspension, []
    owner = operators.get(order.operator or "")
    if owner is not None and owner.kind == "municipal":
        found.append(
            Finding(
                "suspends_exempt",
                "warning",
                f"{owner.id} is of the municipality itself: the law asks nothing of it (art. 13), so the order suspends nothing",
                "See that the operator is the one that the order names.",
            )
        )
    elif not recorded.rows:
        found.append(
            Finding(
                "suspends_nothing",
                "warning",
                "no stored row is concerned by this order: it suspends nothing yet",
                "See operator, service, permit and area; rows that come later count as soon as they are imported.",
            )
        )
    return tuple(found)
