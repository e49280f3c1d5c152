"""Shapefile: several files beside each other, text in whatever encoding somebody's desk had."""

import codecs
import re
import struct
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from geobill.domain.finding import Finding
from geobill.errors import InputError
from geobill.intake.formats.base import Format, broken

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

    language: int
    columns: tuple[Column, ...]
    records: np.ndarray

    def text_bytes(self) -> bytes:
        """Every byte that is text: names of columns and values of character columns, a newline after each."""
        blocks = [c.name for c in self.columns]
        for c in self.columns:
            if c.type == "C":
                block = self.records[:, c.start : c.start + c.width]
                blocks.append(np.pad(block, ((0, 0), (0, 1)), constant_values=10).tobytes())
        return b"\n".join(blocks)


def read_table(path: Path) -> Table:
    """Read a .dbf's head and records, or raise InputError where it holds less than it says."""
    raw = path.read_bytes()
    if len(raw) < 33:
        raise broken(path, f"{len(raw)} bytes are too few for the table of a Shapefile")
    rows, head, width = struct.unpack_from("<IHH", raw, 4)
    if head < 33 or width < 1 or head + rows * width > len(raw):
        raise broken(path, f"its head promises {rows} rows of {width} bytes, but the file has {len(raw)} bytes")
    columns, start = [], 1
    for at in range(32, head - 1, 32):
        if raw[at] == 0x0D or at + 32 > head:
            break
        name, kind, size, decimals = raw[at : at + 11].split(b"\0")[0], chr(raw[at + 11]), raw[at + 16], raw[at + 17]
        if start + size > width:
            break
        columns.append(Column(name, kind, start, size, decimals))
        start += size
    records = np.frombuffer(raw, dtype=np.uint8, count=rows * width, offset=head).reshape(rows, width)
    return Table(raw[29], tuple(columns), records)


def named_encoding(text: str) -> str | None:
    """Python's name of an encoding as .cpg files write it ("1252", "ANSI 1252", "88591", "UTF-8"); None if none.

    Latin-1 is read as cp1252, which agrees with it wherever a letter stands and has the dashes and quotes besides.
    """
    text = text.strip().strip("\0\ufeff")
    digits = re.fullmatch(r"(?:ANSI|CP|OEM|WINDOWS)?[ _-]*(\d{3,5})", text, re.IGNORECASE)
    if digits:
        n = digits[1]
        text = "utf-8" if n == "65001" else f"iso8859-{n[4:]}" if n.startswith("8859") and len(n) > 4 else f"cp{n}"
    try:
        name = codecs.lookup(text).name
    except (LookupError, ValueError):
        return None
    return "cp1252" if name in ("iso8859-1", "ascii") else name


def _is_utf8(text: bytes) -> bool:
    try:
        text.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _mostly_utf8(text: bytes) -> bool:
    """Whether more letters beyond ASCII read well than not: a few are cut in half at the end of a field."""
    decoded = text.decode("utf-8", "replace")
    bad = decoded.count("\ufffd")
    return len(text) - len(text.decode("ascii", "ignore")) > 3 * bad


class Shapefile(Format):
    """ESRI Shapefile: .shp and .shx, with .dbf, .prj and .cpg beside them."""

    name = "Shapefile"
    suffixes = (".shp",)
    driver = "ESRI Shapefile"

    def parts(self, path: Path) -> tuple[Path, ...]:
        """Return the .shp and its companions, whatever the case of their suffixes."""
        beside = {p.suffix.lower(): p for p in sorted(path.parent.iterdir()) if p.stem == path.stem and p.is_file()}
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

    def encoding(self, path: Path) -> tuple[str, tuple[Finding, ...]]:
        """Take the .cpg, else the .dbf's code page, else strict UTF-8, else cp1252."""
        found: list[Finding] = []
        table_file, declared = self._part(path, ".dbf"), self._part(path, ".cpg")
        if table_file is None:
            missing = f"{path.name} comes without its {path.stem}.dbf: it has drawings, but no columns."
            return "UTF-8", (Finding("dbf_missing", "warning", missing, f"Copy {path.stem}.dbf beside it."),)
        table = read_table(table_file)
        if declared is not None:
            name = named_encoding(declared.read_bytes()[:64].decode("latin-1"))
            if name == "utf-8" and not _is_utf8(table.text_bytes()):
                fix = "Compare accented names with the sender's; correct or remove the .cpg."
                message = f"{declared.name} says UTF-8, but the text of {table_file.name} isn't all UTF-8."
                found.append(Finding("encoding_doubtful", "warning", message, fix))
                if not _mostly_utf8(table.text_bytes()):
                    return "cp1252", tuple(found)
            if name:
                return name, tuple(found)
            message = f"{declared.name} names no encoding that exists, so it was left aside."
            found.append(Finding("cpg_unreadable", "warning", message, "Write UTF-8 or 1252 into it, or remove it."))
        if table.language in CODE_PAGES:
            return CODE_PAGES[table.language], tuple(found)
        if _is_utf8(table.text_bytes()):
            return "utf-8", tuple(found)
        message = f"{table_file.name} doesn't say how its text is encoded and it isn't UTF-8: read as Windows-1252."
        fix = f"Compare accented names with the sender's; else put the right encoding into {path.stem}.cpg."
        return "cp1252", (*found, Finding("encoding_assumed", "note", message, fix))

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
            name = c.name.decode(encoding, "replace")
            if name in names and c.type in "NF" and c.decimals == 0:
                block = np.ascontiguousarray(live[:, c.start : c.start + c.width]).view(f"S{c.width}").ravel()
                out[name] = [v.decode("ascii", "replace").strip("\0 ") or None for v in block.tolist()]
        return out
