"""What was issued, checked: computed again from its archive to the byte, its papers printed again; nothing is changed."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from sqlalchemy import Row

from geobill.billing.month import digest
from geobill.domain.invoice import Invoice, OperatorBill
from geobill.domain.money import to_cents
from geobill.domain.note import Note
from geobill.domain.permit import Decree, PermitFile
from geobill.domain.record import canonical_json, from_plain, sha256
from geobill.errors import InputError
from geobill.pipeline.differing import limited, record_differences
from geobill.pipeline.month import Month
from geobill.pipeline.replay import KeptDrafting, KeptMonth
from geobill.pipeline.reprint import compare_papers, decree_again, invoice_again, note_again
from geobill.pipeline.verify_inputs import Difference, Inputs, Look, read_inputs
from geobill.pipeline.verify_notes import note_differences
from geobill.store.ledger import Ledger, line_row
from geobill.store.notes import NoteBook
from geobill.store.permits import PermitRegister
from geobill.store.workspace import Workspace

INVOICE, DECREE, APOSTILA, NOTE = "invoice", "decree", "apostila", "note"
Say = Callable[[str], None]
T = TypeVar("T")


@dataclass(frozen=True)
class Verified:
    """One invoice, decree, apostila or note: what was checked and holds, what couldn't be checked and why, what differs."""

    number: str
    kind: str
    what: str
    checked: tuple[str, ...]
    notes: tuple[str, ...]
    differences: tuple[Difference, ...]

    @property
    def sound(self) -> bool:
        """Whether nothing differs."""
        return not self.differences


def verify(workspace: Workspace, number: str | None = None, say: Say = lambda _: None) -> tuple[Verified, ...]:
    """Check one issued number, or all of them.

    Each record is computed again from its archived inputs by the very functions that made it and compared byte for byte;
    each input, table row and document is checked against its digest; papers are printed again where the program that
    printed them is at hand.

    Parameters
    ----------
    workspace : Workspace
    number : str, optional
        Of an invoice, a note, a decree or an apostila; None for all.
    say : callable
        Takes what is under way.

    Raises
    ------
    InputError
        If nothing was issued under that number.
    """
    with workspace.database.read() as connection:
        look = Look(workspace, connection)
        found: list[tuple[Row[Any], Callable[[Look, Row[Any]], Verified]]] = [
            *((row, _invoice) for row in look.audit.in_series("invoices")),
            *((row, _decree) for row in look.audit.rows("decrees")),
            *((row, _note) for row in look.audit.in_series("notes")),
        ]
        asked = [(row, check) for row, check in found if number in (None, row.number)]
        if number is not None and not asked:
            known = ", ".join(row.number for row, _ in found[:10]) or "nothing yet"
            raise InputError(f"Nothing was issued under the number {number!r} (issued: {known}).")
        checked = []
        for row, check in asked:
            say(f"checking {row.number}")
            checked.append(check(look, row))
        return (*checked, *(_series(look) if number is None else ()))


# -- an invoice


def _invoice(look: Look, row: Row[Any]) -> Verified:
    cancelled = " (cancelled)" if row.number in look.cancelled else ""
    what = f"{row.operator} {row.month}{cancelled}"
    try:
        invoice = from_plain(Invoice, json.loads(row.record))
    except Exception as fault:  # an altered record may fail anywhere
        return _unreadable(row.number, INVOICE, what, fault)
    found = [*_record_differences(row, invoice), *_invoice_columns(row, invoice), *_line_rows(look, invoice)]
    listed = {r.role: r.sha256 for r in look.audit.rows("invoice_inputs", invoice=row.number)}
    inputs = read_inputs(look, invoice.basis, listed, row.issued_at, invoice.operator.id)
    again, wrong = _compute(lambda: _invoice_again(look, invoice, inputs))
    found += [*inputs.differences, *wrong]
    tries, why_not = iter(()), "what it is printed from differs"
    if again is not None:
        made, mine, month = again
        same = canonical_json(made) == row.record
        found += [Difference("record_differs", d) for d in _between(row.record, canonical_json(made), same)]
        if same and not inputs.differences:
            tries, why_not = invoice_again(look, invoice, mine, month, inputs.texts), ""
    documents = Ledger(look.connection, look.workspace.database.tables).load_documents([row.number])
    return _verified(look, row.number, INVOICE, what, found, again is not None, documents, tries, why_not)


def _invoice_again(look: Look, invoice: Invoice, inputs: Inputs) -> tuple[Invoice, OperatorBill, Month]:
    kept = KeptMonth(invoice, inputs.texts, look.frames)
    month = kept.price(invoice.month, True)
    made, mine = kept.invoice(month, inputs.named)
    return made, mine, month


def _record_differences(row: Row[Any], record: Invoice | Note) -> list[Difference]:
    """Whether the record is in canonical form and has its digest, as printed and as the table has it."""
    found = []
    if canonical_json(record) != row.record:
        found.append(Difference("record_altered", "its record isn't in the canonical form in which it was issued"))
    own = digest(record)  # type: ignore[arg-type]
    if own != record.digest:
        said = f"its record has the SHA-256 {own[:12]}…, and says {record.digest[:12]}…: something in it was altered"
        found.append(Difference("record_altered", said))
    if row.digest != record.digest:
        said = f"the table has the digest {row.digest[:12]}…, the record {record.digest[:12]}…"
        found.append(Difference("column_differs", said))
    return found


def _columns(row: Row[Any], wanted: Mapping[str, Any]) -> list[Difference]:
    return [
        Difference("column_differs", f"{name} is {getattr(row, name)!r} in the table, {value!r} by the record")
        for name, value in wanted.items()
        if getattr(row, name) != value
    ]


def _invoice_columns(row: Row[Any], invoice: Invoice) -> list[Difference]:
    year, _, sequence = invoice.number.partition("/")
    return _columns(
        row,
        {
            "number": invoice.number,
            "series_year": int(year),
            "sequence": int(sequence),
            "month": str(invoice.month),
            "operator": invoice.operator.id,
            "issued_on": invoice.issued_on.isoformat(),
            "due_on": invoice.due_on.isoformat(),
            "total_cents": to_cents(invoice.total),
        },
    )


def _line_rows(look: Look, invoice: Invoice) -> list[Difference]:
    """Whether the table of lines says what the record says."""
    stored = {row.line: row._mapping for row in look.audit.rows("invoice_lines", invoice=invoice.number)}
    found = []
    for number, line in enumerate(invoice.lines, 1):
        wanted, has = line_row(invoice.number, number, line), stored.pop(number, None)
        if has is None:
            found.append(f"line {number} isn't in the table of lines")
            continue
        found += [
            f"line {number}, {name}: {has[name]!r} in the table of lines, {value!r} by the record"
            for name, value in wanted.items()
            if has[name] != value
        ]
    found += [f"line {number} is in the table of lines and not in the record" for number in stored]
    return [Difference("line_row_differs", said) for said in limited(found)]


# -- a decree or an apostila


def _decree(look: Look, row: Row[Any]) -> Verified:
    kind = DECREE if row.amends is None else APOSTILA
    what = f"permit {row.permit}" if row.amends is None else f"to {row.amends}"
    try:
        decree = from_plain(Decree, json.loads(row.record))
    except Exception as fault:  # an altered record may fail anywhere
        return _unreadable(row.number, kind, what, fault)
    draft, found = decree.draft, []
    if sha256(row.record) != row.digest or canonical_json(decree) != row.record:
        said = f"its record has the SHA-256 {sha256(row.record)[:12]}…, the table says {row.digest[:12]}…"
        found.append(Difference("record_altered", said))
    if digest(draft) != draft.digest:
        said = f"its draft has the SHA-256 {digest(draft)[:12]}…, and says {draft.digest[:12]}…: something in it was altered"
        found.append(Difference("record_altered", said))
    found += _columns(
        row,
        {
            "number": decree.number,
            "permit": decree.permit,
            "amends": decree.amends,
            "date": decree.date.isoformat(),
            "signatory": decree.signatory,
            "published_on": decree.published_on.isoformat(),
            "total_cents": None if draft.price.total is None else to_cents(draft.price.total),
        },
    )
    inputs = read_inputs(look, draft.basis, None, row.recorded_at, draft.operator.id)
    files = _files_then(look, row)
    again, wrong = _compute(lambda: _decree_again(look, decree, files[0], inputs))
    found += [*inputs.differences, *wrong]
    tries, why_not = iter(()), "what it is printed from differs"
    if again is not None:
        same = canonical_json(again) == row.record
        found += [Difference("record_differs", d) for d in _between(row.record, canonical_json(again), same)]
        if same and not inputs.differences:
            tries, why_not = decree_again(look, decree, files, inputs.texts), ""
    register = PermitRegister(look.connection, look.workspace.database.tables)
    documents = register.load_documents(row.number)
    return _verified(look, row.number, kind, what, found, again is not None, documents, tries, why_not)


def _decree_again(look: Look, decree: Decree, file: PermitFile, inputs: Inputs) -> Decree:
    drafting = KeptDrafting(decree, file, inputs.texts, look.frames, look.settings)
    drafted = drafting.draft(file, decree.draft.price.on)
    return replace(decree, draft=drafting.decree_draft(drafted, inputs.named))


def _files_then(look: Look, row: Row[Any]) -> list[PermitFile]:
    """Return the permit's file as it was when the act was recorded; acts of the very same second may have come after it."""
    file = PermitRegister(look.connection, look.workspace.database.tables).load_files()[row.permit]
    before = [d.number for d in file.decrees].index(row.number)
    recorded = [r.recorded_at for r in look.audit.rows("permit_acts", permit=row.permit)]
    sure = sum(1 for at in recorded if at < row.recorded_at)
    known = sum(1 for at in recorded if at <= row.recorded_at)
    return [replace(file, acts=file.acts[:n], decrees=file.decrees[:before]) for n in range(known, sure - 1, -1)]


# -- a note


def _note(look: Look, row: Row[Any]) -> Verified:
    what = f"{row.kind} of {row.operator}"
    try:
        note = from_plain(Note, json.loads(row.record))
    except Exception as fault:  # an altered record may fail anywhere
        return _unreadable(row.number, NOTE, what, fault)
    year, _, sequence = note.number.partition("/")
    found = [
        *_record_differences(row, note),
        *_columns(
            row,
            {
                "number": note.number,
                "series_year": int(year),
                "sequence": int(sequence),
                "kind": note.kind,
                "operator": note.operator.id,
                "case_id": note.case,
                "issued_on": note.issued_on.isoformat(),
                "due_on": None if note.due_on is None else note.due_on.isoformat(),
                "total_cents": to_cents(note.total),
            },
        ),
    ]
    book = NoteBook(look.connection, look.workspace.database.tables)
    inputs = read_inputs(
        look, note.basis, book.load_inputs(row.number), row.issued_at, note.operator.id, one_edition=False
    )
    found += inputs.differences
    computed, wrong = _compute(lambda: note_differences(note, inputs.texts, look.frames))
    found += wrong
    said, notes = computed if computed is not None else ((), ())
    found += said
    tries = note_again(note, inputs.texts) if not found else iter(())
    why_not = "" if not found else "what it is printed from differs"
    made = _verified(
        look,
        row.number,
        NOTE,
        what,
        found,
        computed is not None,
        book.load_documents([row.number]),
        tries,
        why_not,
    )
    return replace(made, notes=(*notes, *made.notes))


# -- what all have in common


def _compute(again: Callable[[], T]) -> tuple[T | None, list[Difference]]:
    """Compute something again; what an altered archive makes of it is said, whatever it is."""
    try:
        return again(), []
    except Exception as fault:
        said = f"it can't be computed again from its archive ({type(fault).__name__}: {fault})"
        return None, [Difference("not_computed", said)]


def _between(recorded: str, computed: str, same: bool) -> tuple[str, ...]:
    if same:
        return ()
    try:
        return record_differences(recorded, computed) or ("its text differs in nothing that is a figure",)
    except ValueError as fault:
        return (f"its record isn't JSON any more ({fault})",)


def _unreadable(number: str, kind: str, what: str, fault: Exception) -> Verified:
    said = f"its record can't be read ({type(fault).__name__}: {fault})"
    return Verified(number, kind, what, (), (), (Difference("record_altered", said),))


def _verified(
    look: Look,
    number: str,
    kind: str,
    what: str,
    found: Sequence[Difference],
    computed: bool,
    documents: Sequence[Any],
    tries: Iterable[Mapping[str, bytes]],
    why_not: str,
) -> Verified:
    papers = compare_papers(look, number, documents, iter(tries), why_not)
    checked = []
    if computed and not found:
        checked.append("its months and sums computed again" if kind == NOTE else "computed again to the byte")
    if papers.whole:
        checked.append(f"{papers.whole} document(s) with their SHA-256")
    if papers.same:
        checked.append(f"printed again to the same bytes: {', '.join(papers.same)}")
    return Verified(number, kind, what, tuple(checked), papers.notes, (*found, *papers.differences))


def _series(look: Look) -> tuple[Verified, ...]:
    """Say which numbers of the series were never issued or are gone: invoices and notes share one a year."""
    taken: dict[int, set[int]] = {}
    for table in ("invoices", "notes"):
        for row in look.audit.rows(table):
            taken.setdefault(row.series_year, set()).add(row.sequence)
    found = []
    for year, numbers in sorted(taken.items()):
        for lost in sorted(set(range(1, max(numbers) + 1)) - numbers):
            said = Difference(
                "number_missing", f"the series of {year} has no {year}/{lost:06d}: it was issued and is gone"
            )
            found.append(Verified(f"{year}/{lost:06d}", "number", "missing", (), (), (said,)))
    return tuple(found)
