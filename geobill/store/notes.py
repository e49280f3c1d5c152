"""The book of notes: credit and difference notes, past months, fines, single payments. Rows are added, never changed."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from sqlalchemy import Connection, select

from geobill.domain.money import to_cents
from geobill.domain.note import Note
from geobill.domain.record import canonical_json, from_plain, sha256
from geobill.store.known import known_before
from geobill.store.tables import Tables


@dataclass(frozen=True)
class NoteDocument:
    """A document of a note as it was issued: the very bytes."""

    note: str
    kind: str
    file_name: str
    sha256: str
    content: bytes


class NoteBook:
    """Issued notes, over one open transaction; ``known_until`` gives what was issued before that moment.

    A note takes its number from :meth:`geobill.store.ledger.Ledger.next_number`: one series for invoices and notes.
    """

    def __init__(self, connection: Connection, tables: Tables, known_until: str | None = None):
        self._c, self._t, self._known = connection, tables, known_until

    def save(self, note: Note, inputs: Mapping[str, str], now: str) -> None:
        """Book a note and the digests of its inputs (role to SHA-256, archived before)."""
        year, sequence = note.number.split("/")
        self._c.execute(
            self._t.notes.insert().values(
                number=note.number,
                series_year=int(year),
                sequence=int(sequence),
                kind=note.kind,
                operator=note.operator.id,
                case_id=note.case,
                issued_on=note.issued_on.isoformat(),
                due_on=None if note.due_on is None else note.due_on.isoformat(),
                total_cents=to_cents(note.total),
                digest=note.digest,
                record=canonical_json(note),
                issued_at=now,
            )
        )
        rows = [{"note": note.number, "role": role, "sha256": s} for role, s in sorted(inputs.items())]
        if rows:
            self._c.execute(self._t.note_inputs.insert(), rows)

    def save_document(self, note: str, kind: str, file_name: str, content: bytes) -> None:
        """Keep a document's bytes as issued."""
        row = {"note": note, "kind": kind, "file_name": file_name, "sha256": sha256(content), "content": content}
        self._c.execute(self._t.note_documents.insert().values(**row))

    def load(self, *, operator: str | None = None, case: str | None = None) -> list[Note]:
        """Issued notes in the order of their numbers: all, an operator's, or a case's."""
        n = self._t.notes.c
        query = select(n.record).order_by(n.series_year, n.sequence)
        if operator is not None:
            query = query.where(n.operator == operator)
        if case is not None:
            query = query.where(n.case_id == case)
        records = self._c.execute(known_before(query, n.issued_at, self._known)).scalars()
        return [from_plain(Note, json.loads(record)) for record in records]

    def load_inputs(self, note: str) -> dict[str, str]:
        """Digests of what a note was computed from, by role."""
        i = self._t.note_inputs.c
        return {r.role: r.sha256 for r in self._c.execute(select(i.role, i.sha256).where(i.note == note))}

    def find_documents(self, note: str) -> list[str]:
        """File names of the documents that were kept with a note."""
        d = self._t.note_documents.c
        return list(self._c.execute(select(d.file_name).where(d.note == note).order_by(d.kind)).scalars())

    def load_documents(self, notes: Iterable[str]) -> list[NoteDocument]:
        """Documents of some notes, as issued."""
        d = self._t.note_documents.c
        query = select(d.note, d.kind, d.file_name, d.sha256, d.content)
        return [
            NoteDocument(**row._mapping)
            for number in notes
            for row in self._c.execute(query.where(d.note == number).order_by(d.kind))
        ]
