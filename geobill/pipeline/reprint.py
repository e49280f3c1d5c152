"""Papers printed again from what was archived, and compared with the bytes that are kept."""

import io
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from geobill.billing.permits import find_causes
from geobill.documents.apostila import render_apostila
from geobill.documents.gpkg_layers import without_traces
from geobill.documents.note import render_note
from geobill.domain.apostila import PriceChange
from geobill.domain.invoice import Invoice, OperatorBill
from geobill.domain.note import Note
from geobill.domain.permit import Decree, PermitFile
from geobill.domain.record import sha256
from geobill.law.policy import Policy
from geobill.pipeline.differing import byte_differences
from geobill.pipeline.month import Month
from geobill.pipeline.notes import PAPERS
from geobill.pipeline.papers import Desk, invoice_papers
from geobill.pipeline.press import press_differences, this_press
from geobill.pipeline.replay import KeptDrafting, kept_templates, statute_of_note
from geobill.pipeline.verify_inputs import Difference, Look

Printed = Mapping[str, bytes]


class Kept(Protocol):
    """A stored document of an invoice, a decree or a note."""

    kind: str
    file_name: str
    sha256: str
    content: bytes


@dataclass(frozen=True)
class Reprint:
    """Documents looked at: how many are whole, which were printed again to the same bytes, what couldn't be, what differs."""

    whole: int
    same: tuple[str, ...]
    notes: tuple[str, ...]
    differences: tuple[Difference, ...]


def compare_papers(look: Look, number: str, kept: Sequence[Kept], tries: Iterator[Printed], why_not: str) -> Reprint:
    """Check each stored document's SHA-256 and, where it can be printed again, its bytes.

    Parameters
    ----------
    look : Look
    number : str
        Number of the invoice, decree or note.
    kept : sequence of documents
    tries : iterator of printed documents by kind
        The first try is what is printed now; the others are other states of the store of the same second, or a coverage
        drawn afresh. A document is the same if any try gives its bytes.
    why_not : str
        Why nothing is printed again; blank where it is.
    """
    wanted, printed, fault = {d.kind: d for d in kept}, {}, why_not
    same: set[str] = set()
    if not why_not:
        try:
            for one in tries:
                printed = printed or dict(one)
                same |= {
                    kind for kind, content in one.items() if kind in wanted and _same(wanted[kind].content, content)
                }
                if same >= set(wanted) & set(one) or not _same_press(look, number):
                    break
        except Exception as broken:  # a font, a library or a template of another day may fail anywhere
            fault = f"it can't be printed here ({type(broken).__name__}: {broken})"
    press = look.presses.get(number)
    whole, notes, found = 0, defaultdict(list), []
    for document in kept:
        again = printed.get(document.kind)
        if sha256(document.content) != document.sha256:
            found.append(Difference("document_altered", _altered(document, again)))
            continue
        whole += 1
        if again is None:
            notes[f"not printed again: {fault or 'none of the papers that are made today'}"].append(document.file_name)
        elif document.kind not in same and _same_press(look, number):
            where = byte_differences(document.content, again)
            said = f"{document.file_name}: printed again by the very same program it comes out otherwise: {where}"
            found.append(Difference("document_differs", said))
        elif document.kind not in same:
            notes[f"printed otherwise here, as may be: {_other_press(press, document, again)}"].append(
                document.file_name
            )
    said_of = tuple(f"{', '.join(names)}: {reason}" for reason, names in notes.items())
    return Reprint(whole, tuple(wanted[k].file_name for k in wanted if k in same), said_of, tuple(found))


def _same(kept: bytes, again: bytes) -> bool:
    """Whether two papers are the same: to the byte, save for what SQLite counts of its own writing in an annex for QGIS."""
    return kept == again or without_traces(kept) == without_traces(again)


def _altered(document: Kept, again: bytes | None) -> str:
    said = f"{document.file_name}: its SHA-256 is {sha256(document.content)[:12]}…, not {document.sha256[:12]}…"
    if again is None:
        return said
    meant = "" if sha256(again) == document.sha256 else "beside what is printed now, "
    return f"{said}; {meant}{byte_differences(document.content, again)}"


def _same_press(look: Look, number: str) -> bool:
    return look.presses.get(number) == this_press()


def _other_press(press: dict[str, str] | None, document: Kept, again: bytes) -> str:
    if press is not None:
        return f"another program printed it ({press_differences(press, this_press())})"
    makers = [_maker(content) for content in (document.content, again)]
    if all(makers) and makers[0] != makers[1]:
        return f"it was printed by {makers[0]}, here is {makers[1]}"
    return "the program that printed it wasn't kept with it (geobill keeps it since schema version 3)"


def _maker(content: bytes) -> str:
    """Return which program a PDF names as its maker; blank for another file."""
    if not content.startswith(b"%PDF"):
        return ""
    import pikepdf

    try:
        with pikepdf.open(io.BytesIO(content)) as pdf:
            return str(pdf.docinfo.get("/Creator", ""))
    except pikepdf.PdfError:
        return ""


# -- what is printed


def invoice_again(
    look: Look, invoice: Invoice, mine: OperatorBill, found: Month, texts: Mapping[str, str]
) -> Iterator[Printed]:
    """Print an invoice's papers from its priced month, over the coverage that the store drew, then over one drawn afresh."""
    kept = _stored_coverage(look, invoice, texts["edition"], found.policy)
    frames = look.frames
    for drawn in (kept, None) if kept is not None else (None,):
        coverage = frames.coverage(texts["edition"], found.policy) if drawn is None else drawn
        desk = Desk(look.workspace, look.connection, found, coverage, "", False, kept_templates(texts))
        yield {p.kind: p.content for p in invoice_papers(desk, mine, invoice)}


def decree_again(
    look: Look,
    decree: Decree,
    files: Sequence[PermitFile],
    texts: Mapping[str, str],
) -> Iterator[Printed]:
    """Print a decree, or an apostila, with its permit's papers as they were recorded; several states of one second."""
    for file in files:
        drafting = KeptDrafting(decree, file, texts, look.frames, look.settings)
        drafted = replace(drafting.draft(file, decree.draft.price.on), draft=decree.draft)
        if decree.amends is None:
            yield {"decreto": drafting.render(drafted, act=decree)["pdf"]}
        else:
            last = file.decrees[-1]
            change = PriceChange(file, last, decree.draft, find_causes(last.draft, decree.draft, drafting.law))
            yield {"apostila": render_apostila(change, drafting.law.figures, decree, kept_templates(texts))}


def note_again(note: Note, texts: Mapping[str, str]) -> Iterator[Printed]:
    """Print a note."""
    kind = PAPERS[note.kind]
    made = render_note(note, statute_of_note(texts).figures, kept_templates(texts))
    yield {kind if form == "pdf" else f"{kind}_{form}": content for form, content in made.items()}


def _stored_coverage(look: Look, invoice: Invoice, edition: str, policy: Policy) -> Any:
    """Return the coverage that the store drew of the very same zones, None where it has none."""
    since, max_gap_m = invoice.basis.edition_in_force_from, policy.as_text()["max_gap_m"]
    known = look.tracing.edition_batches(invoice.basis.edition, since.isoformat() if since else None)
    for batch in sorted(known, reverse=True):
        if look.cadastre.has_coverage(batch, policy.on_overlap, max_gap_m) and look.edition_text(batch) == edition:
            return look.coverage(batch, policy.on_overlap, max_gap_m)
    return None
