"""What stands in the parts of a workbook and the reader of its cells doesn't tell: how far each sheet reaches, cells in error.

References: ECMA-376 part 1, 18.3.1 (worksheets); OpenDocument 1.3 part 3, 9.1 (tables). Looked through block by block, so
that a workbook that would fill the memory is refused before anybody unpacks it.
"""

import posixpath
import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from xml.parsers import expat

from geobill.errors import InputError
from geobill.intake.archive import ZIP_FAULTS
from geobill.intake.formats.base import broken

MOST_BYTES = 2 << 30  # of all parts together
MOST_CELLS = 20_000_000  # of one sheet, the empty ones between others too
_RATIO, _RATIO_FROM = 300, 256 << 20
_BLOCK = 1 << 20
_OVERLAP = 1 << 10
_COLUMN = re.compile(rb'\br="([A-Z]{1,3})\d')
_WIDE_COLUMN = re.compile(rb'\br="([A-Z]{2,3})\d')
_ROW = re.compile(rb"<(?:\w+:)?row\b[^>]*?\br=\"(\d+)\"")
_ERROR = re.compile(
    rb'<(?:\w+:)?c\b([^>]*\bt="e"[^>]*)>(?:(?!</(?:\w+:)?c>).){0,900}?<(?:\w+:)?v>(#[^<]{1,20})</', re.DOTALL
)
_PLACE = re.compile(rb'\br="([A-Z]{1,3})(\d{1,7})"')


@dataclass
class Extent:
    """How far a sheet reaches (rows and columns from its corner), and the errors in it by (row, column), first is 0."""

    rows: int = 0
    columns: int = 0
    errors: dict[tuple[int, int], str] = field(default_factory=dict)


def is_workbook(path: Path) -> bool:
    """Whether a ZIP archive is a workbook by the names in it."""
    try:
        with zipfile.ZipFile(path) as archive:
            names = set(archive.namelist())
            kind = archive.read("mimetype") if "mimetype" in names else b""
    except ZIP_FAULTS:
        return False
    return "xl/workbook.xml" in names or kind.startswith(b"application/vnd.oasis.opendocument.spreadsheet")


def check_parts(path: Path) -> None:
    """Refuse a workbook whose parts are broken or would fill the memory."""
    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
            total = sum(m.file_size for m in members)
            packed = max(1, sum(m.compress_size for m in members))
            if total > MOST_BYTES or (total > _RATIO_FROM and total / packed > _RATIO):
                raise _too_large(path, f"{total / (1 << 20):,.0f} MiB of text in {packed / (1 << 20):,.1f} MiB")
            if any(m.flag_bits & 1 for m in members):
                raise locked(path)
            for member in members:  # the sizes that they say are the ones they have, and the sums are right
                for _ in _blocks(archive, member):
                    pass
    except ZIP_FAULTS as e:
        raise broken(path, f"it isn't whole ({e})") from None


def extents(path: Path) -> dict[str, Extent]:
    """Measure each sheet by its name.

    Raises
    ------
    InputError
        If a sheet has more than `MOST_CELLS` cells, or the workbook declares entities.
    """
    with zipfile.ZipFile(path) as archive:
        found = _open_document(path, archive) if "content.xml" in archive.namelist() else _office_open(path, archive)
    for name, extent in found.items():
        if extent.rows * extent.columns > MOST_CELLS:
            raise _too_large(
                path, f"sheet {name!r} reaches {extent.rows} rows down and {extent.columns} columns across"
            )
    return found


def locked(path: Path) -> InputError:
    """Build the refusal of a workbook with a password."""
    return InputError(
        f"{path.name} is locked with a password. Open it, take the password off (Excel: File, Info, Protect Workbook, Encrypt "
        "with Password, leave it blank; LibreOffice: Save As without 'Save with password') and send it again."
    )


def _too_large(path: Path, what: str) -> InputError:
    return InputError(
        f"{path.name} would fill the memory ({what}), so it wasn't opened. A stray cell far from the table does that too: copy the "
        "table alone into a new workbook, or export it as CSV."
    )


def _blocks(archive: zipfile.ZipFile, member: zipfile.ZipInfo | str) -> Iterator[bytes]:
    with archive.open(member) as file:
        while block := file.read(_BLOCK):
            yield block


def _office_open(path: Path, archive: zipfile.ZipFile) -> dict[str, Extent]:
    names = set(archive.namelist())
    out = {}
    for name, part in _sheet_parts(path, archive):
        if part not in names:
            continue
        out[name] = extent = Extent()
        columns, before = {b"A"}, b""
        for block in _blocks(archive, part):
            text = before + block
            columns.update(_WIDE_COLUMN.findall(text))
            extent.rows = max(extent.rows, max(map(int, _ROW.findall(text)), default=0))
            if b't="e"' in text:
                for attributes, said in _ERROR.findall(text):
                    place = _PLACE.search(attributes)
                    if place:
                        extent.errors[int(place[2]) - 1, _number(place[1]) - 1] = said.decode("utf-8", "replace")
            before = text[-_OVERLAP:]
        extent.columns = max(26 if len(columns) == 1 else 0, *map(_number, columns))
        if extent.rows * extent.columns > MOST_CELLS:  # only then is it worth looking for each
            extent.columns = max(max(map(_number, set(_COLUMN.findall(b))), default=1) for b in _blocks(archive, part))
    return out


def _sheet_parts(path: Path, archive: zipfile.ZipFile) -> list[tuple[str, str]]:
    """Name of each sheet and the part that holds it."""
    try:
        book = _elements(path, archive.read("xl/workbook.xml"))
        links = _elements(path, archive.read("xl/_rels/workbook.xml.rels"))
    except KeyError as e:
        raise broken(path, f"it has no list of its sheets ({e})") from None
    targets = {a.get("Id"): a.get("Target", "") for tag, a in links if tag == "Relationship"}
    sheets = []
    for tag, a in book:
        if tag == "sheet":
            target = targets.get(next((v for k, v in a.items() if k.rpartition(":")[2] == "id"), ""), "") or ""
            part = target.lstrip("/") if target.startswith("/") else posixpath.normpath(f"xl/{target}")
            sheets.append((a.get("name", ""), part))
    return sheets


def _elements(path: Path, text: bytes) -> list[tuple[str, dict[str, str]]]:
    found: list[tuple[str, dict[str, str]]] = []
    parser = _parser(path)
    parser.StartElementHandler = lambda tag, a: found.append((tag.rpartition(":")[2], a))
    try:
        parser.Parse(text, True)
    except expat.ExpatError as e:
        raise broken(path, f"the list of its sheets isn't XML ({e})") from None
    return found


def _parser(path: Path) -> expat.XMLParserType:
    def refuse(*_: object) -> None:
        raise InputError(
            f"{path.name} declares a document type, which no workbook needs and which can do harm: not opened."
        )

    parser = expat.ParserCreate()
    parser.StartDoctypeDeclHandler = refuse
    return parser


def _number(letters: bytes) -> int:
    n = 0
    for letter in letters:
        n = n * 26 + letter - 64
    return n


def _open_document(path: Path, archive: zipfile.ZipFile) -> dict[str, Extent]:
    reading = _Sheets()
    parser = _parser(path)
    parser.StartElementHandler, parser.EndElementHandler = reading.begin, reading.end
    parser.CharacterDataHandler = reading.text
    try:
        for block in _blocks(archive, "content.xml"):
            parser.Parse(block, False)
        parser.Parse(b"", True)
    except expat.ExpatError as e:
        raise broken(path, f"its content isn't XML ({e})") from None
    return reading.found


class _Sheets:
    """The sheets of an OpenDocument table while its elements go by; a row or cell may stand for many."""

    def __init__(self) -> None:
        self.found: dict[str, Extent] = {}
        self.sheet, self.row, self.column, self.repeat = Extent(), 0, 0, 1
        self.error: list[str] | None = None

    def begin(self, tag: str, a: dict[str, str]) -> None:
        match tag.rpartition(":")[2]:
            case "table":
                self.sheet, self.row = self.found.setdefault(a.get("table:name", ""), Extent()), 0
            case "table-row":
                self.column, self.repeat = 0, int(a.get("table:number-rows-repeated", "1"))
            case "table-cell" | "covered-table-cell":
                wide = int(a.get("table:number-columns-repeated", "1"))
                if "office:value-type" in a:
                    self.sheet.rows = max(self.sheet.rows, self.row + self.repeat)
                    self.sheet.columns = max(self.sheet.columns, self.column + wide)
                self.error = [] if a.get("calcext:value-type") == "error" else None
                self.column += wide

    def end(self, tag: str) -> None:
        match tag.rpartition(":")[2]:
            case "table-cell":
                if self.error is not None:
                    self.sheet.errors[self.row, self.column - 1] = "".join(self.error).strip()
                self.error = None
            case "table-row":
                self.row += self.repeat

    def text(self, said: str) -> None:
        if self.error is not None:
            self.error.append(said)
