"""The one way to issue a note: number, inputs, digest and papers in the ledger, then its files."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import date
from pathlib import Path

from sqlalchemy import Connection

from geobill.documents.note import render_note
from geobill.documents.overrides.folder import read_templates
from geobill.domain.check import DRAFT_NUMBER
from geobill.domain.dates import BillingMonth
from geobill.domain.note import CREDIT, DIFFERENCE, FINE, RETROACTIVE, SINGLE_PAYMENT, Note
from geobill.domain.record import canonical_json, sha256
from geobill.errors import InputError, StoreError
from geobill.law.statutes.street_use import StreetUseLaw
from geobill.pipeline.billing import check_folder, due_day, write_files
from geobill.pipeline.law import load_law
from geobill.pipeline.papers import slug
from geobill.pipeline.press import keep_press
from geobill.store.ledger import Ledger
from geobill.store.notes import NoteBook
from geobill.store.settings import Settings
from geobill.store.workspace import Workspace

FOLDER = "notas"
PAPERS: dict[str, str] = {
    CREDIT: "nota-de-credito",
    DIFFERENCE: "nota-de-diferenca",
    RETROACTIVE: "cobranca-retroativa",
    FINE: "multa",
    SINGLE_PAYMENT: "cota-unica",
}


def issue_note(
    workspace: Workspace, connection: Connection, note: Note, inputs: Mapping[str, str], *, now: str
) -> Note:
    """Issue a note over an open transaction; whatever fails leaves nothing behind.

    Parameters
    ----------
    workspace : Workspace
    connection : Connection
        An open transaction that writes.
    note : Note
        All of it but ``number`` and ``digest``, which are given here; digests of inputs are added to its basis.
    inputs : mapping of role to text
        What it was computed from, as canonical text; what belongs to one month has the role ``YYYY-MM/role``.
    now : str
        The moment in UTC, ISO text with Z.

    Returns
    -------
    Note
        As booked.

    Raises
    ------
    InputError
        If it would be due before it is issued.
    BooksDontCloseError
        If its printed figures don't give its amounts.
    """
    if note.due_on is not None and note.due_on < note.issued_on:
        raise InputError(
            f"The note would be due on {note.due_on.isoformat()}, before it is issued ({note.issued_on.isoformat()}): "
            "nobody can pay in time. Give the due date with --due YYYY-MM-DD, on or after the day of issue."
        )
    tables = workspace.database.tables
    ledger, book = Ledger(connection, tables), NoteBook(connection, tables)
    templates = read_templates(workspace.root)
    kept = dict(inputs) | ({"templates": canonical_json(templates.as_text)} if templates.files else {})
    archived = {role: ledger.archive(role.rpartition("/")[2], text) for role, text in kept.items()}
    year = note.issued_on.year
    issued = replace(
        note,
        number=f"{year}/{ledger.next_number(year):06d}",
        basis=replace(note.basis, digests=tuple(sorted(archived.items()))),
        digest="",
    )
    issued = replace(issued, digest=sha256(canonical_json(issued)))
    book.save(issued, archived, now)
    keep_press(ledger, issued.number)
    kind = PAPERS[issued.kind]
    for form, content in render_note(issued, load_law(workspace, connection).figures, templates).items():
        name = f"{kind}-{issued.number.replace('/', '-')}-{slug(issued.operator.id)}.{form}"
        book.save_document(issued.number, kind if form == "pdf" else f"{kind}_{form}", name, content)
    return issued


def note_due(settings: Settings, law: StreetUseLaw, issued_on: date) -> date:
    """Due day of a note: that of the invoices of the month in which it is issued (art. 8), or the next that hasn't passed."""
    month = BillingMonth.of(issued_on)
    while (day := due_day(settings, law, month)) < issued_on:
        month = month.following()
    return day


def notes_folder(workspace: Workspace, out: Path | None) -> Path:
    """Folder for the files of notes, ``documents/notas`` where none is named; one that can't be a folder is refused."""
    folder = out or workspace.root / "documents" / FOLDER
    check_folder(folder)
    return folder


def write_note_files(workspace: Workspace, numbers: Iterable[str], out: Path) -> tuple[Path, ...]:
    """Write the papers of issued notes as they stand in the ledger, each whole or not at all."""
    numbers = tuple(numbers)
    with workspace.database.read() as connection:
        documents = NoteBook(connection, workspace.database.tables).load_documents(numbers)
    try:
        return write_files(out, [(d.file_name, d.content) for d in documents]) if documents else ()
    except StoreError as fault:
        raise StoreError(
            f"{fault} The notes {', '.join(numbers)} are issued and kept; only their files are missing: "
            "geobill invoice show NUMBER --out DIR writes them."
        ) from None


def blank_note(note: Note) -> Note:
    """Return a note as it would be, without number and digest, for a look that issues nothing."""
    return replace(note, number=DRAFT_NUMBER, digest="")
