"""What a finance clerk looks at: the months, one month with all that becomes of it, an invoice with its papers and reasons."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

import shapely
from sqlalchemy import Connection

from geobill.billing.check import latest, standing_check
from geobill.billing.standing import Demanded
from geobill.documents.explanation import explanation_job
from geobill.documents.month_index import month_values
from geobill.documents.zone_maps import zone_sums
from geobill.domain.check import DRAFTED, MonthCheck, OperatorComparison
from geobill.domain.dates import BillingMonth
from geobill.domain.explanation import Explanation
from geobill.domain.invoice import Bill, Invoice, OperatorBill
from geobill.domain.money import plain
from geobill.domain.network import Operator
from geobill.domain.note import Note
from geobill.domain.record import sha256
from geobill.pipeline.beside import CANT_PRICE, borrowed_ground
from geobill.pipeline.billing import demand_of
from geobill.pipeline.comparing import compare_month
from geobill.pipeline.explain import explain
from geobill.pipeline.invoices import Booked, list_booked, months_of
from geobill.pipeline.kept import Kept
from geobill.pipeline.map_place import to_degrees
from geobill.pipeline.standing import load_demanded
from geobill.pricing.in_force import due_rows, text
from geobill.store.checks import Checks
from geobill.store.ledger import Ledger
from geobill.store.notes import NoteBook
from geobill.store.registers import Registers
from geobill.store.workspace import Workspace

MOST_PIECES = 500  # of a line, on its page; the others are summed up and stand in the annex


@dataclass(frozen=True)
class MonthRow:
    """A month in the list: how many invoices stand, and what they demand together, in reais."""

    month: BillingMonth
    invoices: int
    total: Decimal


@dataclass(frozen=True)
class PaperSheet:
    """An invoice or a note with the file names of its documents as they were kept, and what was demanded of its months by now."""

    booked: Booked
    files: tuple[str, ...]
    demanded: tuple[Demanded, ...] = ()


@dataclass(frozen=True)
class DoubledRow:
    """What a month charges an operator more than once, by the cases that it was decided in; ``number`` is the invoice's."""

    operator: Operator
    cases: tuple[str, ...]
    multiplier: Decimal
    length_m: Decimal
    amount: Decimal
    number: str | None


@dataclass(frozen=True)
class MonthSheet:
    """A month as the clerk sees it.

    ``values`` are those of the month's page (:func:`geobill.documents.month_index.month_values`): of each operator's invoice
    where one stands, else of the month as it is priced now; None where it can't be priced, and ``refusal`` says why.
    ``papers`` are the invoices and notes on it, ``digest`` is that of what the month demands. ``drafted`` is the last draft,
    ``checked`` the check that stands for these figures.
    """

    month: BillingMonth
    values: Mapping[str, Any] | None
    refusal: str
    papers: tuple[PaperSheet, ...]
    operators: Mapping[str, Operator]
    doubled: tuple[DoubledRow, ...] = ()
    digest: str = ""
    drafted: MonthCheck | None = None
    checked: MonthCheck | None = None


@dataclass(frozen=True)
class Differences:
    """A month beside the one before, by operator; ``unpriced`` says why last month has no figures, where it has none."""

    month: BillingMonth
    previous: BillingMonth
    operators: tuple[OperatorComparison, ...]
    names: Mapping[str, Operator]
    unpriced: str | None = None


@dataclass(frozen=True)
class LineSheet:
    """A line explained: the record, and the words and figures of its page by name (:mod:`geobill.documents.explanation`)."""

    explanation: Explanation
    values: Mapping[str, Any]


_SHEETS, _DIFFERENCES, _LINES, _ZONES = Kept[MonthSheet](6), Kept[Differences](6), Kept[LineSheet](30), Kept[str](2)


def list_months(workspace: Workspace, this: BillingMonth) -> list[MonthRow]:
    """List the months with invoices, and the two up to ``this`` whether they have any or not; the latest first."""
    with workspace.database.read() as connection:
        found = {m: MonthRow(m, n, total) for m, n, total in _ledger(workspace, connection).sum_by_month()}
    for month in (this, this.preceding()):
        found.setdefault(month, MonthRow(month, 0, Decimal("0.00")))
    return [found[m] for m in sorted(found, reverse=True)]


def look_at_month(workspace: Workspace, month: BillingMonth) -> MonthSheet:
    """Return a month with its totals, what is held, exempt and suspended, its papers, maps and books.

    It is priced by the code that bills, and kept until something is recorded that a price depends on.
    """
    with workspace.database.read() as connection:
        sheet = _SHEETS.get(workspace, connection, month, lambda: _month_sheet(workspace, connection, month))
        taken = Checks(connection, workspace.database.tables).load(month)
    second = workspace.settings.billing.second_person
    checked = standing_check(taken, sheet.digest, second_person=second) if sheet.digest else None
    return replace(sheet, drafted=latest(taken, DRAFTED), checked=checked)


def find_zones(workspace: Workspace, month: BillingMonth) -> str:
    """Return the zones of a month's map with what is charged in each, as GeoJSON in longitude and latitude (WGS 84).

    Zones that share name and value are one, as on the lines; metres and reais are exact text. A month that can't be priced
    is refused as :func:`geobill.pipeline.month.price_month` does.
    """
    with workspace.database.read() as connection:
        return _ZONES.get(workspace, connection, month, lambda: _zones(workspace, connection, month))


def look_at_differences(workspace: Workspace, month: BillingMonth) -> Differences:
    """Return why each operator's month differs from the one before."""
    with workspace.database.read() as connection:
        return _DIFFERENCES.get(workspace, connection, month, lambda: _differences(workspace, connection, month))


def look_at_paper(workspace: Workspace, number: str) -> PaperSheet | None:
    """Return an invoice or a note by its number; None where nothing was issued under it."""
    booked = next((b for b in list_booked(workspace) if b.paper.number == number), None)
    if booked is None:
        return None
    with workspace.database.read() as connection:
        names = _files(workspace, connection, booked.paper)
        owner = booked.paper.operator.id
        stands = [load_demanded(workspace, connection, m).get(owner) for m in months_of(booked.paper)]
    return PaperSheet(booked, names, tuple(d for d in stands if d is not None))


def load_document(workspace: Workspace, number: str, file_name: str) -> bytes | None:
    """Return the bytes of a document as it was issued; None where there is none of that name."""
    with workspace.database.read() as connection:
        tables = workspace.database.tables
        kept = (
            *Ledger(connection, tables).load_documents([number]),
            *NoteBook(connection, tables).load_documents([number]),
        )
    return next((d.content for d in kept if d.file_name == file_name), None)


def look_at_line(workspace: Workspace, number: str, line: int) -> LineSheet:
    """Explain one line of an invoice from its archive, down to the rows of the delivered files; refusals as in `explain`."""

    def made() -> LineSheet:
        explained = explain(workspace, number, line)
        return LineSheet(explained.record, explanation_job(explained.record, explained.figures, MOST_PIECES).values)

    with workspace.database.read() as connection:
        return _LINES.get(workspace, connection, (number, line), made)


# -- made


def _ledger(workspace: Workspace, connection: Connection) -> Ledger:
    return Ledger(connection, workspace.database.tables)


def _files(workspace: Workspace, connection: Connection, paper: Invoice | Note) -> tuple[str, ...]:
    tables = workspace.database.tables
    book = Ledger(connection, tables) if isinstance(paper, Invoice) else NoteBook(connection, tables)
    return tuple(book.find_documents(paper.number))


def _month_sheet(workspace: Workspace, connection: Connection, month: BillingMonth) -> MonthSheet:
    operators = Registers(connection, workspace.database.tables).load_operators()
    booked = list_booked(workspace, month=month)
    papers = tuple(PaperSheet(b, _files(workspace, connection, b.paper)) for b in booked)
    try:
        with borrowed_ground(workspace, connection) as ground:
            found = ground.price(month)
    except CANT_PRICE as refused:  # no map yet, no law yet: what was issued is shown all the same
        return MonthSheet(month, None, str(refused), papers, operators)
    standing = [b.paper for b in booked if isinstance(b.paper, Invoice) and b.cancelled is None]
    rows = due_rows(found.segments, month, found.policy)
    values = month_values(
        found.bill, standing, workspace.settings.authority, found.zones, rows, operators, found.law.figures
    )
    digest = sha256(demand_of(workspace, connection, found))
    return MonthSheet(month, values, "", papers, operators, _doubled(found.bill, standing), digest)


def _doubled(bill: Bill, standing: Sequence[Invoice]) -> tuple[DoubledRow, ...]:
    records: dict[str, OperatorBill | Invoice] = {o.operator.id: o for o in bill.operators}
    records |= {i.operator.id: i for i in standing}
    rows: dict[tuple[str, tuple[str, ...], Decimal], DoubledRow] = {}
    for owner, record in sorted(records.items()):
        number = record.number if isinstance(record, Invoice) else None
        for line in record.lines:
            if line.multiplier > 1:
                key = owner, line.cases, line.multiplier
                row = rows.get(key, DoubledRow(record.operator, *key[1:], Decimal("0.00"), Decimal("0.00"), number))
                rows[key] = replace(row, length_m=row.length_m + (line.length_m or 0), amount=row.amount + line.amount)
    return tuple(rows.values())


def _zones(workspace: Workspace, connection: Connection, month: BillingMonth) -> str:
    standing = _ledger(workspace, connection).load_invoices(month, standing=True)
    with borrowed_ground(workspace, connection) as ground:
        found = ground.price(month)
    issued = {i.operator.id: i.lines for i in standing}
    now = {o.operator.id: o.lines for o in found.bill.operators}
    sums = {s.key: s for s in zone_sums(line for lines in (now | issued).values() for line in lines)}
    places: dict[tuple[str | None, Decimal], list[int]] = {}
    for place, (zone, value) in enumerate(zip(found.zones["zone"], found.zones["land_value"], strict=True)):
        places.setdefault((text(zone), Decimal(value)), []).append(place)
    shapes = found.zones.geometry.to_numpy()
    joined = [shapely.multipolygons(shapely.get_parts(shapes[mine])) for mine in places.values()]
    features = [
        {
            "type": "Feature",
            "properties": {
                "zona": key[0],
                "valor_m2": plain(key[1]),
                "metros": plain(sums[key].length_m) if key in sums else "0.00",
                "reais": plain(sums[key].amount) if key in sums else "0.00",
            },
            "geometry": json.loads(drawn),
        }
        for key, drawn in zip(places, shapely.to_geojson(to_degrees(joined, workspace.database.srid)), strict=True)
    ]
    return json.dumps({"type": "FeatureCollection", "features": features}, ensure_ascii=False)


def _differences(workspace: Workspace, connection: Connection, month: BillingMonth) -> Differences:
    operators = Registers(connection, workspace.database.tables).load_operators()
    try:
        with borrowed_ground(workspace, connection) as ground:
            compared, unpriced = compare_month(workspace, connection, ground.price(month), ground.price)
    except CANT_PRICE as refused:
        compared, unpriced = (), str(refused)
    return Differences(month, month.preceding(), compared, operators, unpriced)
