"""Shapefile: several files beside each other, text in whatever encoding somebody's desk had."""

import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
from pyproj import CRS

from geobill.domain.finding import Finding
from geobill.errors import InputError
from geobill.intake.formats.base import Format, broken
from geobill.intake.prj import read_prj
from geobill.intake.text import Texts, decide, decoded, named_encoding

BLOCK = 8192  # records of a .dbf that are looked at together
ENOUGH = 5000  # different texts with accents: more say nothing new about their encoding
PARTS = (".shp", ".shx", ".dbf", ".prj", ".cpg")
# language driver id in byte 29 of the .dbf; 0x57 ("ANSI", what the machine had) says nothing
CODE_PAGES = {
    0x01: "cp437", 0x02: "cp850", 0x03: "cp1252", 0x08: "cp865", 0x13: "cp932", 0x1D: "cp850", 0x24: "cp860",
    0x25: "cp850", 0x37: "cp850", 0x4D: "cp936", 0x4E: "cp949", 0x4F: "cp950", 0x58: "cp1252", 0x59: "cp1252",
    0x64: "cp852", 0x65: "cp866", 0x66: "cp865", 0xC8: "cp1250", 0xC9: "cp1251", 0xCA: "cp1254", 0xCB: "cp1253",
}  # fmt: skip


@dataclass(frozen=True)
class Column:
    """One column of a .dbf: where its bytes stand in each record."""

    name: bytes
    type: str
    start: int
    width: int
    decimals: int


@dataclass(frozen=True)
class Table:
    """The head of a .dbf and its records as bytes, one row each."""

    path: Path
    head: int  # bytes before the first record
    language: int
    columns: tuple[Column, ...]
    records: np.ndarray

    def blocks(self) -> Iterator[np.ndarray]:
        """Read records some at a time from the file: a map of all of it would count as memory."""
        rows, width = self.records.shape
        with self.path.open("rb") as file:
            file.seek(self.head)
            for first in range(0, rows, BLOCK):
                some = file.read(min(BLOCK, rows - first) * width)
                yield np.frombuffer(some, dtype=np.uint8).reshape(-1, width)

    def texts(self) -> tuple[tuple[bytes, ...], tuple[bytes, ...]]:
        """Different texts with a byte beyond ASCII (enough of them), and a few without: names of columns, values of text."""
        letters = dict.fromkeys(c.name for c in self.columns if not c.name.isascii())
        plain: dict[bytes, None] = {}
        columns = [c for c in self.columns if c.type == "C" and c.width]
        for at, block in enumerate(self.blocks()):
            if at and block.max() <= 127:
                continue
            live = block[:, 0] != ord("*")
            for c in columns:
                field = block[:, c.start : c.start + c.width]
                beyond = live & (field > 127).any(axis=1)
                letters |= dict.fromkeys(v.strip(b" \0") for v in _values(field[beyond]))
                some = _values(field[live & ~beyond][:200]) if not at else []
                plain |= dict.fromkeys(v.strip(b" \0") for v in some if len(v.strip(b" \0")) > 2)
            if len(letters) > ENOUGH:
                break
        return tuple(letters), tuple(plain)

    def deleted(self) -> int:
        """How many records are marked as deleted."""
        return sum(int((block[:, 0] == ord("*")).sum()) for block in self.blocks())


@lru_cache(maxsize=4)
def _texts_of(table: Path, _changed: int, _size: int) -> tuple[int, tuple[bytes, ...], tuple[bytes, ...]]:
    """Code page and texts of a .dbf, kept until the file changes: the encoding and its preview ask for them."""
    read = read_table(table)
    return read.language, *read.texts()


def _values(block: np.ndarray) -> list[bytes]:
    return np.ascontiguousarray(block).view(f"S{block.shape[1]}").ravel().tolist() if len(block) else []


def read_table(path: Path) -> Table:
    """Read a .dbf's head and records, or raise InputError where it holds less than it says."""
    size = path.stat().st_size
    if size < 33:
        raise broken(path, f"{size} bytes are too few for the table of a Shapefile")
    raw = np.memmap(path, dtype=np.uint8, mode="r")
    rows, head, width = struct.unpack_from("<IHH", raw, 4)
    if head < 33 or width < 1 or head + rows * width > size:
        raise broken(path, f"its head promises {rows} rows of {width} bytes, but the file has {size} bytes")
    columns, start, fields = [], 1, raw[:head].tobytes()
    for at in range(32, head - 1, 32):
        if fields[at] == 0x0D or at + 32 > head:
            break
        name, kind = fields[at : at + 11].split(b"\0")[0], chr(fields[at + 11])
        column = Column(name, kind, start, fields[at + 16], fields[at + 17])
        if start + column.width > width:
            break
        columns.append(column)
        start += column.width
    records = raw[head : head + rows * width].reshape(rows, width)
    return Table(path, head, fields[29], tuple(columns), records)


# encodings that the file library turns into UTF-8 by itself (it asks iconv, which has other names for the rest)
_LIBRARY = re.compile(r"utf-8|cp(437|850|852|86\d|125\d|932|936|949|950)|iso8859-\d+|koi8-r")


def _said(cpg: Path) -> str:
    return cpg.read_bytes()[:64].decode("latin-1")


def _reads(name: bytes, encoding: str) -> bool:
    try:
        name.decode(encoding)
    except UnicodeDecodeError:
        return False
    return True


class Shapefile(Format):
    """ESRI Shapefile: .shp and .shx, with .dbf, .prj and .cpg beside them."""

    name = "Shapefile"
    suffixes = (".shp",)
    driver = "ESRI Shapefile"
    reads = "lines, points, polygons; text in any encoding; numbers as they are written"
    leaves_out = "multipatches (set aside); heights and measures; a file without its .shx; what a .dbf cuts off"
    encodes = True

    def parts(self, path: Path) -> tuple[Path, ...]:
        """Return the .shp and its companions, whatever the case of their names."""
        own = [p for p in path.parent.iterdir() if p.stem.casefold() == path.stem.casefold() and p.is_file()]
        beside = {p.suffix.lower(): p for p in sorted(own, key=lambda p: (p.stem == path.stem, p))}  # its own case last
        beside[".shp"] = path
        return tuple(beside[s] for s in PARTS if s in beside)

    def _part(self, path: Path, suffix: str) -> Path | None:
        return next((p for p in self.parts(path) if p.suffix.lower() == suffix), None)

    def check(self, path: Path) -> None:
        """Compare the sizes that the heads of .shp, .shx and .dbf promise with what is there."""
        head, size = path.open("rb").read(100), path.stat().st_size
        if len(head) < 100 or struct.unpack_from(">i", head)[0] != 9994:
            raise broken(path, "it doesn't begin as a Shapefile does")
        if struct.unpack_from(">i", head, 24)[0] * 2 > size:
            raise broken(path, f"it promises {struct.unpack_from('>i', head, 24)[0] * 2} bytes and has {size}")
        index, table = self._part(path, ".shx"), self._part(path, ".dbf")
        if index is None:
            raise InputError(
                f"{path.name} comes without its {path.stem}.shx. A Shapefile is several files with one name, and "
                "without the index its rows can't be told apart: copy the .shx, .dbf, .prj and .cpg beside it."
            )
        if table is not None:
            rows, drawn = len(read_table(table).records), (index.stat().st_size - 100) // 8
            if rows < drawn:
                raise broken(table, f"it has {rows} rows for the {drawn} drawings of {path.name}")

    def texts(self, path: Path) -> Texts | None:
        """Texts of the .dbf; its encoding is declared by the .cpg, else by the code page in the .dbf's head."""
        table_file, cpg = self._part(path, ".dbf"), self._part(path, ".cpg")
        if table_file is None:
            return None
        found = table_file.stat()
        language, letters, plain = _texts_of(table_file, found.st_mtime_ns, found.st_size)
        named = None if cpg is None else named_encoding(_said(cpg))
        if cpg is not None and named:
            return Texts(letters, plain, named, cpg.name)
        page = CODE_PAGES.get(language)
        return Texts(letters, plain, page, f"the head of {table_file.name} (code 0x{language:02X})" if page else "")

    def crs(self, path: Path, declared: CRS | None) -> tuple[CRS | None, tuple[Finding, ...]]:
        """Read the .prj as it stands; what the library makes of it counts only where that can't be understood."""
        file = self._part(path, ".prj")
        if file is None:
            return declared, ()
        said = read_prj(file.read_bytes())
        if said is not None or declared is not None:
            return declared if said is None else said, ()
        message = f"{file.name} names no coordinate system that can be understood."
        return None, (Finding("crs_unreadable", "error", message, "Ask the sender; then give it with --crs EPSG:n."),)

    def encoding(self, path: Path) -> tuple[str, tuple[Finding, ...]]:
        """Take the .cpg, else the .dbf's code page, unless the letters show that it is wrong; else strict UTF-8, else a page."""
        table_file, cpg = self._part(path, ".dbf"), self._part(path, ".cpg")
        texts = self.texts(path)
        if table_file is None or texts is None:
            missing = f"{path.name} comes without its {path.stem}.dbf: it has drawings, but no columns."
            return "utf-8", (Finding("dbf_missing", "warning", missing, f"Copy {path.stem}.dbf beside it."),)
        found: list[Finding] = []
        if cpg is not None and not named_encoding(_said(cpg)):
            message = f"{cpg.name} names no encoding that exists, so it was left aside."
            found.append(Finding("cpg_unreadable", "warning", message, "Write UTF-8 or 1252 into it, or remove it."))
        encoding, said = decide(texts, table_file.name)
        return encoding, (*found, *said)

    def library_encoding(self, path: Path, encoding: str) -> str:
        """Name of the encoding as the file library is to read it: Latin-1, byte for byte, where it can't read this one."""
        file = self._part(path, ".dbf")
        names = [] if file is None else [c.name for c in read_table(file).columns]
        whole = all(_reads(name, encoding) for name in names)
        return encoding if whole and _LIBRARY.fullmatch(encoding) else "ISO-8859-1"

    def encoded_findings(self, path: Path, layer: str, encoding: str) -> tuple[Finding, ...]:
        """Say which rows of the .dbf are marked as deleted, and which columns have their text in another file."""
        file = self._part(path, ".dbf")
        if file is None:
            return ()
        table, found = read_table(file), []
        deleted = table.deleted()
        if deleted:
            message = f"{deleted} row(s) of {file.name} are marked as deleted, as its program does: they aren't read."
            fix = "If they were deleted by mistake, ask for the file again; packing the table removes them for good."
            found.append(Finding("rows_deleted", "note", message, fix))
        memos = [decoded(c.name, encoding) for c in table.columns if c.type in "MGBP"]
        if memos:
            message = f"The text of {', '.join(memos)} stands in a memo file ({path.stem}.dbt), which isn't read."
            found.append(Finding("memo_left_out", "warning", message, "Ask for it as a column of text if it matters."))
        return tuple(found)

    def exact_numbers(self, path: Path, names: list[str], rows: int) -> dict[str, list[str | None]]:
        """Take the digits from the .dbf's own bytes."""
        file = self._part(path, ".dbf")
        if file is None:
            return {}
        table, encoding = read_table(file), self.encoding(path)[0]
        live = table.records[table.records[:, 0] != ord("*")]
        if len(live) != rows:
            return {}
        out: dict[str, list[str | None]] = {}
        for c in table.columns:
            name = decoded(c.name, encoding)
            if name in names and c.type in "NF" and c.decimals == 0:
                block = np.ascontiguousarray(live[:, c.start : c.start + c.width]).view(f"S{c.width}").ravel()
                out[name] = [v.decode("ascii", "replace").strip("\0 ") or None for v in block.tolist()]
        return out
