"""CSV: text between separators, in whatever form a spreadsheet or a program writes it."""

import csv
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import IO

import numpy as np
import pyarrow as pa

from geobill.domain.finding import Finding
from geobill.errors import InputError
from geobill.intake.formats.base import Format, broken
from geobill.intake.tables import (
    Drawing,
    check_header,
    draw,
    drawing_finding,
    find_drawing,
    find_header,
    looks_like_data,
    name_columns,
    titles_finding,
)
from geobill.intake.text import Texts, decide

DELIMITERS = {";": "semicolons", ",": "commas", "\t": "tabs", "|": "bars"}
_HEAD = 200  # rows by which the form is found out
_CHUNK = 1 << 16
_NOTHING = "\x1f"  # the separator of a single column: one that isn't there
_SAMPLED = 2000  # different texts that tell the encoding
_SEP = re.compile(r'"?sep=(.)"?\s*', re.IGNORECASE)
_BOMS = (
    (b"\xef\xbb\xbf", "utf-8"),
    (b"\xff\xfe\0\0", "utf-32"),
    (b"\0\0\xfe\xff", "utf-32"),
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
)
csv.field_size_limit(1 << 30)  # a long line as WKT is one field


@dataclass(frozen=True)
class Form:
    """How a file's rows are written: separator, quote, lines above the header, names, and where the geometry stands."""

    delimiter: str
    quote: str
    above: int
    header: int  # line of the header, first is 1
    width: int  # fields of a row
    names: tuple[str, ...]
    drawing: Drawing | None
    findings: tuple[Finding, ...]


class CSV(Format):
    """Rows of text with names above them; lines as WKT or well-known binary, points also as x and y."""

    name = "CSV"
    suffixes = (".csv", ".tsv", ".txt")
    driver = "CSV"
    reads = "rows with names above them, in any encoding and with any separator; lines as WKT or WKB, points also as x and y"
    leaves_out = "rows with another number of fields (told)"
    reads_itself = True  # the file library takes an id for a number and shifts what is ragged
    encodes = True

    def check(self, path: Path) -> None:
        """See that it is text."""
        with path.open("rb") as file:
            head = file.read(1 << 16)
        if _marked(head) is None and _zeros(head) is None and b"\0" in head:
            raise broken(path, "it has zero bytes in it, which no text has")

    def layers(self, path: Path) -> list[tuple[str, bool]]:
        """Return the file's name as the one layer."""
        form = _form(path, self.encoding(path)[0])
        return [(path.stem, form.drawing is not None)]

    def texts(self, path: Path) -> Texts:
        """Fields with a letter beyond ASCII; what is declared is the mark at the beginning."""
        with path.open("rb") as file:
            head = file.read(1 << 12)
            marked, zeros = _marked(head), _zeros(head)
            if marked and marked != "utf-8":
                return Texts((), (), marked, "the mark at its beginning")
            if zeros and not marked:
                return Texts((), (), zeros, "each second byte, which is zero,")
            file.seek(0)
            letters: dict[bytes, None] = {}
            plain: dict[bytes, None] = {}
            for line in file:
                if line.isascii() and len(plain) >= _HEAD:
                    continue
                for part in re.split(rb"[;,\t|]", line.removeprefix(b"\xef\xbb\xbf")):
                    field = part.strip(b" \"'\r\n")
                    if not field.isascii():
                        letters[field] = None
                    elif len(plain) < _HEAD and any(65 <= b <= 122 for b in field):
                        plain[field] = None
                if len(letters) >= _SAMPLED * 10:
                    break
        return Texts(tuple(letters), tuple(plain), marked, "the mark at its beginning" if marked else "")

    def encoding(self, path: Path) -> tuple[str, tuple[Finding, ...]]:
        """Take the mark at the beginning, else UTF-16 by its zeros, else strict UTF-8, else a page of 256 signs."""
        return decide(self.texts(path), path.name)

    def iter_encoded(
        self, path: Path, layer: str, encoding: str, rows: int
    ) -> Iterator[tuple[pa.Table, np.ndarray | None, str | None]]:
        """Read all rows as exact text; a row with another number of fields is all blank, so that nothing shifts."""
        form = _form(path, encoding)
        chunks: list[list[list[str | None]]] = []
        with _opened(path, encoding) as file:
            data = _rows(file, path, form)
            while some := [row for _, row in islice(data, _CHUNK)]:
                whole = [_values(row, form) for row in some]
                chunks.append([list(column) for column in zip(*whole, strict=True)])
        text = [
            pa.chunked_array([pa.array(c[at], pa.string()) for c in chunks], pa.string()) for at in range(form.width)
        ]
        kept = [at for at in range(form.width) if form.names[at] or text[at].null_count < len(text[at])]
        drawn, crs = None, None
        if form.drawing is not None:
            where = [text[at].to_pylist() for at in form.drawing.columns]
            drawn, crs = draw(form.drawing, form.names, where, path.name)
            if form.drawing.kind != "xy":
                kept = [at for at in kept if at not in form.drawing.columns] or kept  # no columns would be no rows
        names = [form.names[at] or f"column_{at + 1}" for at in kept]
        yield pa.Table.from_arrays([text[at] for at in kept], names), drawn, crs

    def encoded_findings(self, path: Path, layer: str, encoding: str) -> tuple[Finding, ...]:
        """Say how the rows were made out, and which have another number of fields."""
        form, odd, counts, first = _form(path, encoding), [], Counter[int](), 0
        with _opened(path, encoding) as file:
            for number, (line, row) in enumerate(_rows(file, path, form), 1):
                if len(row) != form.width:
                    first = first or line
                    odd.append(number)
                    counts[len(row)] += 1
        if not odd:
            return form.findings
        shown = ", ".join(f"{n} with {k}" for k, n in counts.most_common(3))
        message = (
            f"{len(odd)} row(s) haven't the {form.width} fields that the header of {path.name} has ({shown}), the first in "
            f"line {first}: nothing of them was read, so that no value is taken for its neighbour's."
        )
        fix = (
            f"A text with a {form.delimiter!r} in it needs quotes around it: ask for the file with quotes, or as XLSX."
        )
        return (*form.findings, Finding("row_ragged", "warning", message, fix, rows=tuple(odd)))


def _marked(head: bytes) -> str | None:
    return next((name for bom, name in _BOMS if head.startswith(bom)), None)


def _zeros(head: bytes) -> str | None:
    """UTF-16 without a mark: each second byte of plain text is zero."""
    half = len(head) // 2
    if half < 4:
        return None
    even, odd = head[0 : 2 * half : 2].count(0) / half, head[1 : 2 * half : 2].count(0) / half
    return "utf-16-le" if odd > 0.5 > 0.1 > even else "utf-16-be" if even > 0.5 > 0.1 > odd else None


def _opened(path: Path, encoding: str) -> IO[str]:
    return path.open(encoding="utf-8-sig" if encoding == "utf-8" else encoding, errors="replace", newline="")


def _form(path: Path, encoding: str) -> Form:
    """Find out how a file is written by its first rows."""
    with _opened(path, encoding) as file:
        lines = list(islice(file, _HEAD))
    above = 0
    said = _SEP.fullmatch(lines[0]) if lines else None
    if said:
        above = 1
    while above < len(lines) and not lines[above].strip():
        above += 1
    body = lines[above:]
    if not body:
        raise InputError(
            f"{path.name} has no line with anything in it: there is nothing to read. Was the export finished?"
        )
    delimiter, quote, share = _separator(path, body, said[1] if said else None)
    rows = _sample(body, delimiter, quote)
    first = find_header([row for _, row in rows])
    above += rows[first][0] - 1
    header, data = rows[first][1], [row for _, row in rows[first + 1 :]]
    check_header(header, f"line {above + 1} of {path.name}")
    if data and all(
        len(r) == len(header) + 1 and not r[-1].strip() for r in data
    ):  # a separator at the end of each row
        header = [*header, ""]
    width = len(header)
    names, findings = name_columns(header, [r for r in data if len(r) == width])
    if first:
        findings.append(titles_finding([row for _, row in rows[:first]]))
    drawing = find_drawing(names, [r for r in data if len(r) == width], path.name)
    how = f"{width} columns between {DELIMITERS.get(delimiter, repr(delimiter))}" if width > 1 else "one column"
    why = "as its first line says" if said else f"in {share:.0%} of the first {len(rows)} rows alike"
    message = f"{path.name}: {how}, {why}; names in line {above + 1}; every value is read as text."
    findings = [Finding("table_form", "note", message), *findings]
    if drawing is not None:
        findings.append(drawing_finding(drawing, names))
    return Form(delimiter, quote, above, above + 1, width, tuple(names), drawing, tuple(findings))


def _separator(path: Path, body: list[str], said: str | None) -> tuple[str, str, float]:
    """Separator, quote, and the share of rows that have as many fields as the header.

    One that parts the very first row goes before one that finds its header below a title.
    """
    best: dict[bool, tuple[float, int, bool, str, str]] = {}
    for delimiter in [said] if said else DELIMITERS:
        for quote in _quotes(body, delimiter):
            rows = [row for _, row in _sample(body, delimiter, quote)]
            first = find_header(rows)
            width = len(rows[first])
            share = sum(len(r) in (width, width + (not r[-1].strip())) for r in rows[first:]) / len(rows[first:])
            data = (
                looks_like_data(rows[first]) is not None
            )  # where all else is alike it shows that the names are missing
            if width > 1 and not (first and (data or width == 2)):
                candidate = (share, width, data, delimiter, quote)
                best[first > 0] = max(best.get(first > 0, candidate), candidate, key=lambda c: c[:3])
    for below_title, least in ((False, 0.5), (True, 0.9)):
        if below_title in best and best[below_title][0] >= least:
            share, _, _, delimiter, quote = best[below_title]
            return delimiter, quote, share
    if False in best:
        raise InputError(
            f"{path.name}: in {1 - best[False][0]:.0%} of its first {len(body)} rows the number of fields isn't that of the header, "
            "whatever separates them. Texts with the separator in them need quotes: ask for the file with quotes, or as XLSX."
        )
    return said or _NOTHING, '"', 1.0


def _quotes(body: list[str], delimiter: str) -> tuple[str, ...]:
    """Quotation marks; single ones only where there are no others, and as many fields end with one as begin with one."""
    text, mark = "".join(body), re.escape(delimiter)
    begin = len(re.findall(rf"(?:^|{mark})'", text, re.MULTILINE))
    end = len(re.findall(rf"'(?={mark}|\r?$)", text, re.MULTILINE))
    return ("'", '"') if '"' not in text and begin == end >= len(body) else ('"',)


def _sample(body: list[str], delimiter: str, quote: str) -> list[tuple[int, list[str]]]:
    """Line (first is 1) and fields of each row that isn't empty."""
    reader, found, begun = csv.reader(body, delimiter=delimiter, quotechar=quote), [], 1
    for row in reader:
        if row:
            found.append((begun, row))
        begun = reader.line_num + 1
    return found


def _rows(file: IO[str], path: Path, form: Form) -> Iterator[tuple[int, list[str]]]:
    """Line and fields of each row below the header; empty rows at the end are left out."""
    reader = csv.reader(file, delimiter=form.delimiter, quotechar=form.quote, strict=True)
    waiting: list[tuple[int, list[str]]] = []
    begun = 0
    try:
        for _ in range(form.above):
            next(file)
        begun = form.above
        next(reader)
        while True:
            begun = form.above + reader.line_num + 1
            row = next(reader)
            if not row:
                continue
            waiting.append((begun, row))
            if any(field.strip() for field in row):
                yield from waiting
                waiting.clear()
    except StopIteration:
        return
    except csv.Error as e:
        raise broken(
            path,
            f"the row that begins in line {begun} can't be parted ({e}): a quotation mark in it has no partner, or stands where none "
            "should be",
        ) from None


def _values(row: list[str], form: Form) -> list[str | None]:
    if len(row) != form.width:
        return [None] * form.width
    return [v or None for v in row]
