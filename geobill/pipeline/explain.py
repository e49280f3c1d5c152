"""Why an amount is what it is, answered from the archive: from the amount down to the rows of the files that were delivered."""

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import shapely
from sqlalchemy import Row

from geobill.documents.explanation import render_explanation
from geobill.documents.law_text import TEXTS
from geobill.documents.overrides.folder import read_templates
from geobill.domain.explanation import Article, Edition, ExplainedLine, Explanation, Factor, Origin, Piece, exact_text
from geobill.domain.invoice import Basis, Invoice, Line, PolicyUse
from geobill.domain.money import plain
from geobill.domain.note import Note
from geobill.domain.ratio import Ratio
from geobill.domain.record import canonical_json, from_plain
from geobill.errors import InputError, StoreError
from geobill.law.figures import StatuteFigures
from geobill.law.statutes.street_use import StreetUseLaw
from geobill.pipeline.month import Month
from geobill.pipeline.replay import KeptMonth, statute_of_note
from geobill.pipeline.tracing import ArchivedRow, archived_rows, differing
from geobill.pipeline.verify_inputs import Inputs, Look, read_inputs
from geobill.store.audit import StoredRow
from geobill.store.notes import NoteBook
from geobill.store.settings import replace_file
from geobill.store.workspace import Workspace

NEAR_M = 0.01  # how far a piece may lie from the row that it is cut from
# Factors of a line in the order in which they are multiplied: name, and the figure or rule whose articles ask for it.
FACTORS: tuple[tuple[str, str], ...] = (
    ("length_m", "price"),
    ("billed_width_m", "minimum_width_m"),
    ("land_value", "land_value"),
    ("volume_m3", "price_per_m3"),
    ("price_per_m3", "price_per_m3"),
    ("pieces", "price_per_piece"),
    ("price_per_piece", "price_per_piece"),
    ("location_index", "location_index"),
    ("depreciation_index", "depreciation_index"),
    ("reducer", "reducer"),
    ("multiplier", ""),
    ("days", ""),
    ("month_days", ""),
)
DOUBLINGS: tuple[str, ...] = ("clandestine_multiplier", "unregistered_multiplier")
ALWAYS: frozenset[str] = frozenset({"rounding"})
OF_NETWORK: frozenset[str] = frozenset(
    {"reducer_scope", "reducer_method", "same_strip", "length_source", "length_precision_m"}
)
BY_FLAG: Mapping[str, str] = {"on_border": "on_border", "on_overlap": "on_overlap", "in_gap": "max_gap_m"}


@dataclass(frozen=True)
class Explained:
    """An explanation, and the statute's figures as they were archived with what it explains."""

    record: Explanation
    figures: StatuteFigures


def explain(workspace: Workspace, number: str, line: int | None = None) -> Explained:
    """Explain an issued invoice or note, or one of its lines (of a note: of its months), from its archive.

    Raises
    ------
    InputError
        If nothing was issued under that number, or it has no such line.
    StoreError
        If the archive isn't what it was computed from: nothing is explained from altered inputs.
    """
    with workspace.database.read() as connection:
        look = Look(workspace, connection)
        for row in look.audit.in_series("invoices"):
            if row.number == number:
                return _invoice(look, row, line)
        for row in look.audit.in_series("notes"):
            if row.number == number:
                return _note(look, row, line)
        issued = [r.number for table in ("invoices", "notes") for r in look.audit.in_series(table)]
    known = ", ".join(issued[:10]) or "nothing yet"
    raise InputError(
        f"No invoice and no note has the number {number!r} (issued: {known}). A decree's price is explained by the memo in it."
    )


def write_explanation(workspace: Workspace, explained: Explained, path: Path) -> Path:
    """Write an explanation as a page for the file (PDF)."""
    if path.suffix.lower() != ".pdf":
        raise InputError(f"--pdf {path.name}: name a file that ends in .pdf.")
    path.parent.mkdir(parents=True, exist_ok=True)
    replace_file(path, render_explanation(explained.record, explained.figures, read_templates(workspace.root)))
    return path


# -- an invoice


def _invoice(look: Look, row: Row[Any], asked: int | None) -> Explained:
    invoice = from_plain(Invoice, json.loads(row.record))
    _check_line(invoice.number, asked, len(invoice.lines), "line")
    listed = {r.role: r.sha256 for r in look.audit.rows("invoice_inputs", invoice=row.number)}
    inputs = read_inputs(look, invoice.basis, listed, row.issued_at, invoice.operator.id)
    _check_sound(invoice.number, inputs)
    kept = KeptMonth(invoice, inputs.texts, look.frames)
    month = kept.price(invoice.month, asked is not None)
    made, _ = kept.invoice(month, inputs.named)
    if canonical_json(made) != row.record:
        raise StoreError(_altered(invoice.number, "its archive gives another record"))
    detail = None if asked is None else _line(look, row, invoice, asked, month, inputs)
    record = Explanation(
        number=invoice.number,
        kind="invoice",
        operator=invoice.operator,
        authority=invoice.authority,
        month=invoice.month,
        issued_on=invoice.issued_on,
        due_on=invoice.due_on,
        statute=invoice.basis.statute,
        statute_title=invoice.basis.statute_title,
        total=invoice.total,
        lines=invoice.lines,
        months=(),
        asked=asked,
        detail=detail,
        edition=_edition(look, invoice.basis, inputs.texts, row.issued_at, detail),
        decisions=invoice.basis.decisions,
        policy=invoice.basis.policy,
        suspended=invoice.suspended,
        set_offs=invoice.set_offs,
        cause="",
        digest=invoice.digest,
        inputs=invoice.basis.digests,
    )
    return Explained(record, kept.law.figures)


def _line(look: Look, row: Row[Any], invoice: Invoice, asked: int, month: Month, inputs: Inputs) -> ExplainedLine:
    line = invoice.lines[asked - 1]
    on = month.law.day_for(invoice.month)
    return ExplainedLine(
        number=asked,
        line=line,
        factors=factors_of(line, month.law, on),
        exact=exact_text(line.exact),
        articles=articles_of(line.articles, invoice.basis.statute),
        policy=tuple(use for use in invoice.basis.policy if matters(use, line)),
        pieces=tuple(_pieces(look, row, line, asked, month, inputs.texts)),
    )


def factors_of(line: Line, law: StreetUseLaw, on: date) -> tuple[Factor, ...]:
    """Return the factors of a line in the order of the multiplication, each with the articles that ask for it."""
    found = []
    for name, figure in FACTORS:
        value = getattr(line, name)
        if value is None:
            continue
        articles = law.articles(figure, on) if figure else ()
        if name == "multiplier":
            doubling = {a for doubled in DOUBLINGS for a in law.articles(doubled, on)}
            articles = tuple(a for a in line.articles if a in doubling)
        found.append(Factor(name, _value(value), articles))
    return tuple(found)


def _value(value: Decimal | Ratio | int) -> str:
    return plain(value) if isinstance(value, Decimal) else str(value)


def articles_of(cited: Sequence[str], statute: str) -> tuple[Article, ...]:
    """Return the articles that a line cites with their text, blank for a statute whose text the program hasn't."""
    texts = TEXTS.get(statute, {})
    return tuple(Article(a, texts.get(a, "")) for a in cited)


def matters(use: PolicyUse, line: Line) -> bool:
    """Whether a policy key bears on a line: always, by what the line is, or by what is flagged on it."""
    if use.key in ALWAYS or use.decision is not None or use.value != use.default:
        return True
    if line.kind == "network" and use.key in OF_NETWORK:
        return True
    if use.key == "proration":
        return line.days != line.month_days
    if use.key == "doublings_cumulate":
        return line.multiplier > 1
    return any(BY_FLAG.get(flag) == use.key for flag in line.flags)


def _pieces(look: Look, row: Row[Any], line: Line, asked: int, month: Month, texts: Mapping[str, str]) -> list[Piece]:
    """Pieces of a line with their exact shares and the rows that they come from, the largest first."""
    role, name = ("network", "segment") if line.kind == "network" else ("equipment", "equipment")
    frame = month.priced.pieces if line.kind == "network" else month.priced.cabinets
    archived: dict[str, list[ArchivedRow]] = defaultdict(list)
    for one in archived_rows(role, texts[role]):
        archived[str(one.values[name])].append(one)
    found = []
    for piece in frame[frame["line"] == asked].to_dict("records"):
        length, volume = piece.get("length_m"), piece.get("volume_m3")
        part = _part(line, length, volume)
        origin, untraced = _origin(look, row, archived[str(piece[name])], piece.get("geometry"))
        found.append(
            (part, Piece(str(piece[name]), piece.get("zone"), length, volume, exact_text(part), origin, untraced))
        )
    return [piece for _, piece in sorted(found, key=lambda pair: (-pair[0], pair[1].name))]


def _part(line: Line, length: Decimal | None, volume: Decimal | None) -> Fraction:
    """Exact share of a piece in its line: the line's factors over the piece's own quantity."""
    if line.length_m is not None and length is not None:
        return line.exact * Fraction(length) / Fraction(line.length_m) if line.length_m else Fraction(0)
    if line.volume_m3 is not None and volume is not None:
        return line.exact * Fraction(volume) / Fraction(line.volume_m3)
    return line.exact / line.pieces if line.pieces else line.exact


def _origin(look: Look, row: Row[Any], named: Sequence[ArchivedRow], geometry: Any) -> tuple[Origin | None, str]:
    """Trace a piece to the row of a file; say why where that can't be done."""
    rows = {one.key: one for one in named}
    if len(rows) > 1 and geometry is not None:
        rows = {key: one for key, one in rows.items() if _lies_on(geometry, one)}
    if len(rows) != 1:
        several = ", ".join(str(one.values["source_row"]) for one in rows.values())
        why = f"rows {several} have this id and lie in one place" if rows else "no archived row has this id"
        return None, why
    (archived,) = rows.values()
    stored = look.tracing.origin(archived, row.issued_at)
    if stored is None:
        return (
            None,
            f"row {archived.values['source_row']} is in the archive and in no imported file that the store keeps",
        )
    return _told(look, stored, tuple(differing(archived, stored))), ""


def _told(look: Look, stored: StoredRow, differs: tuple[str, ...] = ()) -> Origin:
    b, corrected = stored.batch, look.tracing.amended(stored.batch)
    return Origin(
        b.id, b.file, b.layer, stored.source_row, b.sha256, b.imported_at, b.ended is not None, differs,
        None if corrected is None else corrected.id, None if corrected is None else corrected.file,
    )  # fmt: skip


def _lies_on(geometry: Any, row: ArchivedRow) -> bool:
    there = shapely.from_wkb(bytes.fromhex(row.values["geometry"]))
    return bool(geometry.interpolate(0.5, normalized=True).distance(there) <= NEAR_M) if geometry.length else False


def _edition(
    look: Look, basis: Basis, texts: Mapping[str, str], at: str, detail: ExplainedLine | None
) -> Edition | None:
    """Name the edition of the Mapa de Valores with its file, and the rows of it that gave a line its T."""
    if basis.edition is None or "edition" not in texts:
        return None
    since = basis.edition_in_force_from
    among = look.tracing.edition_batches(basis.edition, since.isoformat() if since else None)
    zones = archived_rows("edition", texts["edition"])
    line = detail.line if detail is not None else None
    mine = [
        z
        for z in zones
        if line is not None
        and line.land_value is not None
        and z.values["zone"] == line.zone
        and Decimal(z.values["land_value"]) == line.land_value
    ]
    stored = next((s for z in (*mine, *zones[:1]) if (s := look.tracing.origin(z, at, among)) is not None), None)
    rows = tuple(int(z.values["source_row"]) for z in mine)
    return Edition(basis.edition, since, None if stored is None else _told(look, stored), rows)


# -- a note


def _note(look: Look, row: Row[Any], asked: int | None) -> Explained:
    note = from_plain(Note, json.loads(row.record))
    _check_line(note.number, asked, len(note.lines), "month")
    listed = NoteBook(look.connection, look.workspace.database.tables).load_inputs(row.number)
    inputs = read_inputs(look, note.basis, listed, row.issued_at, note.operator.id, one_edition=False)
    _check_sound(note.number, inputs)
    record = Explanation(
        number=note.number,
        kind=note.kind,
        operator=note.operator,
        authority=note.authority,
        month=None if asked is None else note.lines[asked - 1].month,
        issued_on=note.issued_on,
        due_on=note.due_on,
        statute=note.basis.statute,
        statute_title=note.basis.statute_title,
        total=note.total,
        lines=() if asked is None else note.lines[asked - 1].lines,
        months=note.lines if asked is None else (note.lines[asked - 1],),
        asked=asked,
        detail=None,
        edition=None,
        decisions=note.basis.decisions,
        policy=note.basis.policy,
        suspended=(),
        set_offs=(),
        cause=note.cause,
        digest=note.digest,
        inputs=note.basis.digests,
    )
    return Explained(record, statute_of_note(inputs.texts).figures)


# -- refusals


def _check_line(number: str, asked: int | None, lines: int, what: str) -> None:
    if asked is not None and not 1 <= asked <= lines:
        raise InputError(f"{number} has {lines} {what}(s), and no {what} {asked}. Give --line from 1 to {lines}.")


def _check_sound(number: str, inputs: Inputs) -> None:
    wrong = [d.message for d in inputs.differences if d.code.startswith("input_")]
    if wrong:
        raise StoreError(_altered(number, wrong[0]))


def _altered(number: str, what: str) -> str:
    return (
        f"{number} can't be explained: {what}. An explanation from altered inputs would be worth nothing; geobill verify "
        f"{number} lists all that differs."
    )
