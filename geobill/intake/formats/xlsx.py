"""Workbooks: each sheet of an .xlsx or .ods is a layer, with the names of the columns in its first row."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from python_calamine import CalamineSheet, CalamineWorkbook, PasswordError, SheetTypeEnum

from geobill.domain.finding import Finding
from geobill.errors import InputError
from geobill.intake.formats.base import Format, broken
from geobill.intake.formats.workbook_parts import Extent, check_parts, extents, is_workbook, locked
from geobill.intake.tables import (
    Drawing,
    check_header,
    draw,
    drawing_finding,
    find_drawing,
    find_header,
    name_columns,
    titles_finding,
)
from geobill.intake.values import COMMA, POINT, as_typed, is_blank, number_form, read_text

_HEAD = 200  # rows by which names and geometry are found
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"  # what a workbook with a password is packed into, and Excel's old form
_LOCK = "EncryptedPackage".encode("utf-16-le")
_DIGITS = 10**15  # a spreadsheet keeps fifteen


@dataclass(frozen=True)
class Sheet:
    """A sheet's cells below the names, row by row, and where the geometry stands; ``header`` is the row of the names."""

    names: tuple[str, ...]
    rows: list[list[Any]]
    drawing: Drawing | None
    header: int
    findings: tuple[Finding, ...]


class XLSX(Format):
    """Workbooks of Excel (.xlsx, .xlsm) and of LibreOffice (.ods): values as they were last worked out."""

    name = "XLSX/ODS"
    suffixes = (".xlsx", ".xlsm", ".ods")
    driver = "XLSX"
    reads_itself = True
    reads = "each sheet as a layer, by the names in its first row; lines as WKT, points also as x and y; formulas as they came out"
    leaves_out = "charts, pictures, macros; a workbook with a password"

    def recognises(self, path: Path, head: bytes) -> bool:
        """Whether it is a workbook by its parts, or what a workbook with a password is packed into."""
        if head.startswith(_OLE):
            return path.suffix.lower() in self.suffixes
        return head.startswith(b"PK") and is_workbook(path)

    def check(self, path: Path) -> None:
        """See that it is a whole workbook without a password, and that it fits into the memory."""
        with path.open("rb") as file:
            head = file.read(1 << 16)
            if head.startswith(_OLE):
                file.seek(0)
                if _LOCK in file.read(1 << 24):
                    raise locked(path)
                raise InputError(
                    f"{path.name} is a workbook of Excel's old form (.xls), whatever its name says: open it and save it as .xlsx."
                )
        if not head.startswith(b"PK"):
            raise broken(path, "it doesn't begin as a workbook does")
        check_parts(path)
        extents(path)

    def layers(self, path: Path) -> list[tuple[str, bool]]:
        """Name each sheet that has something in it."""
        book, found = _opened(path), []
        for about in book.sheets_metadata:
            if about.typ != SheetTypeEnum.WorkSheet:
                continue
            rows = book.get_sheet_by_name(about.name).to_python(skip_empty_area=False, nrows=_HEAD)
            if any(not is_blank(c) for row in rows for c in row):
                found.append((about.name, _has_geometry(rows, about.name)))
        return found

    def iter_tables(
        self, path: Path, layer: str, rows: int
    ) -> Iterator[tuple[pa.Table, np.ndarray | None, str | None]]:
        """Read a sheet: text as it is, whole numbers without decimals, dates as dates."""
        where = f"sheet {layer!r} of {path.name}"
        sheet = _sheet(path, layer, where)
        columns = [[row[at] for row in sheet.rows] for at in range(len(sheet.names))]
        kept = [at for at, name in enumerate(sheet.names) if name or any(not is_blank(v) for v in columns[at])]
        drawn, crs = None, None
        if sheet.drawing is not None:
            drawn, crs = draw(sheet.drawing, sheet.names, [columns[at] for at in sheet.drawing.columns], where)
            if sheet.drawing.kind != "xy":
                kept = [at for at in kept if at not in sheet.drawing.columns] or kept
        names = [sheet.names[at] or f"column_{at + 1}" for at in kept]
        yield pa.Table.from_arrays([_column(columns[at]) for at in kept], names), drawn, crs

    def findings(self, path: Path, layer: str) -> tuple[Finding, ...]:
        """Say where the names and the geometry stand, and which cells can't be taken at their word."""
        return _sheet(path, layer, f"sheet {layer!r} of {path.name}").findings


def _opened(path: Path) -> CalamineWorkbook:
    try:
        with path.open("rb") as file:  # by its content: the suffix may lie
            return CalamineWorkbook.from_filelike(file)
    except PasswordError:
        raise locked(path) from None


def _has_geometry(rows: Sequence[Sequence[Any]], where: str) -> bool:
    first = find_header(rows)
    try:
        return find_drawing([str(c) for c in rows[first]], rows[first + 1 :], where) is not None
    except InputError:  # several columns could be it: that is said when the sheet is read
        return True


def _sheet(path: Path, layer: str, where: str) -> Sheet:
    found = _opened(path).get_sheet_by_name(layer)
    extent = extents(path).get(layer, Extent())
    cells = [[_cell(c) for c in row] for row in found.to_python(skip_empty_area=False)]
    errors = {
        place: said for place, said in extent.errors.items() if place[0] < len(cells) and place[1] < len(cells[0])
    }
    for (row, column), said in errors.items():
        cells[row][column] = said
    while cells and all(is_blank(c) for c in cells[-1]):
        cells.pop()
    begins = next((at for at, row in enumerate(cells) if any(not is_blank(c) for c in row)), 0)
    first = begins + find_header(cells[begins : begins + _HEAD])
    header = [read_text(c) or "" for c in cells[first]]
    _check_merged(found, first, where)
    check_header(header, f"row {first + 1} of {where}")
    rows = cells[first + 1 :]
    names, findings = name_columns(header, rows[:_HEAD])
    drawing = find_drawing(names, rows[:_HEAD], where)
    message = f"{where[0].upper()}{where[1:]}: {sum(map(bool, names))} columns, with their names in row {first + 1} of the sheet."
    findings = [Finding("table_form", "note", message), *findings]
    if first > begins:
        findings.append(titles_finding([row for row in cells[begins:first] if any(not is_blank(c) for c in row)]))
    if drawing is not None:
        findings.append(drawing_finding(drawing, names))
    return Sheet(tuple(names), rows, drawing, first, (*findings, *_doubts(found, rows, first, errors)))


def _check_merged(sheet: CalamineSheet, header: int, where: str) -> None:
    """Refuse names that stand over several columns: which of them is meant, nobody can tell."""
    for (top, left), (bottom, right) in sheet.merged_cell_ranges or []:
        if top <= header <= bottom and right > left:
            raise InputError(
                f"Row {header + 1} of {where} should have a name for each column, but one of its cells is merged over "
                f"{right - left + 1} of them. Keep one row of names above the data, a cell for each, and send it again."
            )


def _doubts(
    sheet: CalamineSheet, rows: list[list[Any]], header: int, errors: dict[tuple[int, int], str]
) -> list[Finding]:
    """Find cells in error, merged below the names, or with more digits than a spreadsheet keeps."""
    found = []
    bad = tuple(sorted({row - header for row, _ in errors if row > header}))
    if bad:
        message = f"{len(bad)} row(s) have a formula that came to nothing, such as {next(iter(errors.values()))!r}."
        fix = "What needs that cell sets the row aside: ask for the value itself."
        found.append(Finding("cell_error", "warning", message, fix, rows=bad))
    merged = {
        row - header
        for (top, _), (bottom, _) in sheet.merged_cell_ranges or []
        for row in range(max(top, header + 1), min(bottom, header + len(rows)) + 1)
    }
    if merged:
        message = f"{len(merged)} row(s) have merged cells: only the first of them has the value, the others are blank."
        fix = "Ask for the table without merged cells, the value in each row."
        found.append(Finding("cells_merged", "warning", message, fix, rows=tuple(sorted(merged))))
    long = tuple(
        n for n, row in enumerate(rows, 1) if any(isinstance(c, (int, float)) and abs(c) >= _DIGITS for c in row)
    )
    if long:
        message = f"{len(long)} row(s) hold numbers of more than 15 digits: a spreadsheet makes the others zero."
        found.append(Finding("digits_lost", "warning", message, "Ask for such ids as text.", rows=long))
    return found


def _cell(value: Any) -> Any:
    """Return a cell's value: None where it is empty, a whole number without decimals, a day where it has no time."""
    if isinstance(value, str):
        return value or None
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, datetime) and value.time() == time():
        return value.date()
    return value


def _column(values: list[Any]) -> pa.Array:
    """One column of one type; where cells are of several, text.

    Numbers among text are written in the form of the numbers in that text, with a decimal comma where it has none, so
    that what is read again by `value_columns.read_numbers` is what the cell held.
    """
    kinds = {type(v) for v in values if v is not None}
    if kinds <= {bool}:
        return pa.array(values, pa.bool_() if kinds else pa.string())
    if kinds == {int} and all(v is None or abs(v) < 2**63 for v in values):
        return pa.array(values, pa.int64())
    if kinds <= {int, float}:
        return pa.array([None if v is None else float(v) for v in values], pa.float64())
    if kinds == {date}:
        return pa.array(values, pa.date32())
    forms = {number_form(as_typed(v)) for v in values if isinstance(v, str)}
    comma = COMMA in forms or POINT not in forms
    return pa.array([_text(v, comma) for v in values], pa.string())


def _text(value: Any, comma: bool) -> str | None:
    text = read_text(value)
    return text.replace(".", ",") if text and comma and isinstance(value, float) else text
