"""Issued invoices and notes: listed, shown, and an invoice cancelled."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Connection

from geobill.billing.standing import Demanded
from geobill.domain.cancellation import Cancellation
from geobill.domain.dates import BillingMonth
from geobill.domain.invoice import Invoice, SetOff
from geobill.domain.note import FINE, Note
from geobill.errors import InputError
from geobill.pipeline.billing import check_folder, write_files
from geobill.pipeline.notes import write_note_files
from geobill.pipeline.standing import load_demanded
from geobill.store.credits import CreditBook
from geobill.store.ledger import Ledger
from geobill.store.notes import NoteBook
from geobill.store.workspace import Workspace


@dataclass(frozen=True)
class Booked:
    """An invoice or a note of the one series of numbers; an invoice with its cancellation, if it was cancelled."""

    paper: Invoice | Note
    cancelled: Cancellation | None = None


@dataclass(frozen=True)
class Shown:
    """One invoice or note with what was demanded of its months by now, and files written where they were asked for."""

    booked: Booked
    demanded: tuple[Demanded, ...]
    files: tuple[Path, ...]


@dataclass(frozen=True)
class Cancelled:
    """An invoice that was cancelled, and what its credits have back."""

    invoice: Invoice
    act: Cancellation
    given_back: tuple[SetOff, ...]


def list_booked(
    workspace: Workspace, *, month: BillingMonth | None = None, operator: str | None = None
) -> list[Booked]:
    """List invoices and notes in the order of their numbers: all, those on a month, or an operator's."""
    with workspace.database.read() as connection:
        found = _booked(workspace, connection)
    return [
        b for b in found if operator in (None, b.paper.operator.id) and (month is None or month in months_of(b.paper))
    ]


def months_of(paper: Invoice | Note) -> tuple[BillingMonth, ...]:
    """Months that an invoice or a note charges or corrects."""
    return (paper.month,) if isinstance(paper, Invoice) else tuple(dict.fromkeys(line.month for line in paper.lines))


def show_booked(workspace: Workspace, number: str, out: Path | None = None) -> Shown:
    """Show an invoice or a note; with a folder, write its papers there as they were issued.

    Raises
    ------
    InputError
        If no invoice or note has that number.
    """
    if out is not None:
        check_folder(out)
    with workspace.database.read() as connection:
        booked = _find(_booked(workspace, connection), number)
        owner = booked.paper.operator.id
        stands = [load_demanded(workspace, connection, m).get(owner) for m in months_of(booked.paper)]
        documents = Ledger(connection, workspace.database.tables).load_documents([booked.paper.number])
    files: tuple[Path, ...] = ()
    if out is not None:
        is_note = isinstance(booked.paper, Note)
        files = (
            write_note_files(workspace, [number], out)
            if is_note
            else write_files(out, [(d.file_name, d.content) for d in documents])
        )
    return Shown(booked, tuple(d for d in stands if d is not None), files)


def cancel_invoice(workspace: Workspace, act: Cancellation, now: str) -> Cancelled:
    """Cancel an issued invoice: its number stays used, the invoice stays in the ledger, its credits are given back.

    Raises
    ------
    InputError
        If reason or name is blank, there is no such invoice, it is a note's number, it is cancelled already, it would be
        cancelled before it was issued, or notes correct it.
    """
    if not act.reason.isprintable():
        raise InputError(
            f"--reason {act.reason!r} holds a character that can't be seen. Type it anew. Nothing was changed."
        )
    if not act.reason or not act.by:
        raise InputError(
            "Cancelling takes a demand back that somebody may have paid: say why (--reason) and who (--by). Nothing was changed."
        )
    with workspace.database.write() as connection:
        tables = workspace.database.tables
        ledger, notes = Ledger(connection, tables), NoteBook(connection, tables).load()
        booked = _find(_booked(workspace, connection), act.invoice)
        _check_may_be_cancelled(booked, act, notes)
        assert isinstance(booked.paper, Invoice)
        ledger.save_cancellation(act, now)
        back = CreditBook(connection, tables).give_back(act.invoice, now)
    return Cancelled(booked.paper, act, back)


def _check_may_be_cancelled(booked: Booked, act: Cancellation, notes: Sequence[Note]) -> None:
    number, paper = act.invoice, booked.paper
    if isinstance(paper, Note):
        if paper.kind == FINE:
            raise InputError(
                f"{number} charges a daily fine (art. 9 § 2), and geobill takes no charged day of a fine back: record what was "
                f"decided with geobill case dismiss|cure {paper.case}, so that no further day is charged, and return the money by "
                "an act of its own. Nothing was changed."
            )
        months = months_of(paper)
        raise InputError(
            f"{number} is a note, and a note isn't cancelled: put the data right, then geobill correct --month {months[0]} "
            f"--until {months[-1]} --operator {paper.operator.id} --reason TEXT issues what it is off by. Nothing was changed."
        )
    if booked.cancelled is not None:
        raise InputError(
            f"The invoice {number} was cancelled on {booked.cancelled.on.isoformat()} by {booked.cancelled.by} "
            f"({booked.cancelled.reason}), and is cancelled once. Nothing was changed."
        )
    if act.on < paper.issued_on:
        raise InputError(
            f"The invoice {number} was issued on {paper.issued_on.isoformat()}, it can't be cancelled on {act.on.isoformat()}, before "
            "that. Nothing was changed."
        )
    on_it = [n.number for n in notes if any(line.invoice == number for line in n.lines)]
    if on_it:
        raise InputError(
            f"The invoice {number} is corrected by {', '.join(on_it)}: those notes would stand without it. Put the data right, then "
            f"geobill correct --month {paper.month} --operator {paper.operator.id} --reason TEXT settles what is off. Nothing was "
            "changed."
        )


def _booked(workspace: Workspace, connection: Connection) -> list[Booked]:
    tables = workspace.database.tables
    ledger = Ledger(connection, tables)
    cancelled = ledger.load_cancellations()
    papers: list[Invoice | Note] = [*ledger.load_invoices(), *NoteBook(connection, tables).load()]
    return [Booked(p, cancelled.get(p.number)) for p in sorted(papers, key=lambda p: _order(p.number))]


def _order(number: str) -> tuple[int, int]:
    year, _, sequence = number.partition("/")
    return int(year), int(sequence)


def _find(booked: Sequence[Booked], number: str) -> Booked:
    found = next((b for b in booked if b.paper.number == number), None)
    if found is None:
        raise InputError(
            f"No invoice or note has the number {number!r}. Numbers look like 2026/000012: geobill invoice list shows them all. "
            "Nothing was changed."
        )
    return found
