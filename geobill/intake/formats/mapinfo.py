"""MapInfo: the native table (.tab with .dat, .map, .id) and the interchange files (.mif with .mid).

References: MapInfo Interchange Format (appendix of the MapInfo Professional User Guide); the .dat and .map heads as
D. Morissette's MITAB library reads them. The text is in the character set that the head names.
"""

import csv
import re
import shutil
import struct
from collections.abc import Callable
from pathlib import Path

import pyogrio

from geobill.domain.finding import Finding
from geobill.errors import InputError
from geobill.intake.formats.base import Format, broken, link
from geobill.intake.formats.shapefile import read_table
from geobill.intake.text import Texts, decide

TABLE_PARTS = (".tab", ".dat", ".dbf", ".map", ".id", ".ind")
MIF_PARTS = (".mif", ".mid")
# MapInfo's names of character sets that people here have; what says nothing ("Neutral") is found out from the bytes
CHARSETS = {
    "windowslatin1": "cp1252", "windowslatin2": "cp1250", "windowsgreek": "cp1253", "windowscyrillic": "cp1251",
    "windowsturkish": "cp1254", "iso8859_1": "cp1252", "iso8859_15": "iso8859-15", "codepage437": "cp437",
    "codepage850": "cp850", "codepage852": "cp852", "codepage860": "cp860", "utf-8": "utf-8",
}  # fmt: skip
_CHARSET_OF = {"utf-8": b"UTF-8", "cp1252": b"WindowsLatin1", "cp850": b"CodePage850"}  # what can be found out
_PLAIN = 200
_CHARSET = re.compile(rb'charset\s+"?([\w-]+)', re.IGNORECASE)
_HEAD = 1 << 14


class MapInfo(Format):
    """MapInfo TAB and MIF/MID."""

    name = "MapInfo"
    suffixes = (".tab", ".mif")
    driver = "MapInfo File"
    mark = re.compile(rb"(?i)(\xef\xbb\xbf)?\s*!table")
    reads = ".tab with its .dat, .map and .id, or .mif with its .mid; lines, points, regions; arcs are made straight"
    leaves_out = "styles; tables that point to a picture, to Access or to other tables"

    def parts(self, path: Path) -> tuple[Path, ...]:
        """Return the named file and its companions, whatever the case of their names."""
        kinds = MIF_PARTS if path.suffix.lower() == ".mif" else TABLE_PARTS
        own = [p for p in path.parent.iterdir() if p.stem.casefold() == path.stem.casefold() and p.is_file()]
        beside = {p.suffix.lower(): p for p in sorted(own, key=lambda p: (p.stem == path.stem, p))}  # its own case last
        beside[path.suffix.lower()] = path
        return tuple(beside[s] for s in kinds if s in beside)

    def _part(self, path: Path, suffix: str) -> Path | None:
        return next((p for p in self.parts(path) if p.suffix.lower() == suffix), None)

    def check(self, path: Path) -> None:
        """Compare the counts and sizes that the heads promise with what is there."""
        if path.suffix.lower() == ".mif":
            self._check_mif(path)
        else:
            self._check_table(path)

    def _check_table(self, path: Path) -> None:
        head = path.read_bytes()[:_HEAD]
        if not head.lstrip(b"\xef\xbb\xbf \t\r\n").lower().startswith(b"!table"):
            raise broken(path, "it doesn't begin as a MapInfo table does")
        if re.search(rb'type\s+"raster"', head, re.IGNORECASE):
            raise InputError(
                f"{path.name} only places a picture: it has no lines that can be measured. Ask for the drawing's own table."
            )
        data, drawing, index = (self._part(path, s) for s in (".dat", ".map", ".id"))
        if data is None and self._part(path, ".dbf") is None:
            raise _alone(path, ".dat", "all of its columns")
        if data is not None:
            rows = _check_data(path, data)
            if (drawing is None) != (index is None):
                raise _alone(path, ".map" if drawing is None else ".id", "its drawings")
            if index is not None and index.stat().st_size < 4 * rows:
                raise broken(index, f"it has {index.stat().st_size // 4} entries for {rows} rows")
        if drawing is not None and (drawing.stat().st_size < 512 or drawing.stat().st_size % 512):
            raise broken(drawing, f"its {drawing.stat().st_size} bytes are no whole number of blocks")

    def _check_mif(self, path: Path) -> None:
        columns = self._part(path, ".mid")
        if columns is None:
            raise _alone(path, ".mid", "all of its columns")
        drawn = _drawings(path)
        delimiter = _delimiter(path)
        with columns.open(encoding="latin-1", newline="") as file:
            rows = sum(1 for row in csv.reader(file, delimiter=delimiter) if row)
        if rows != drawn:
            raise broken(path, f"it has {drawn} drawings for the {rows} rows of {columns.name}")

    def promised(self, path: Path, layer: str) -> int | None:
        """Count the rows of the .dat that aren't deleted, or the drawings of the .mif."""
        data = self._part(path, ".dat")
        if path.suffix.lower() == ".mif":
            return _drawings(path)
        return None if data is None else int((read_table(data).records[:, 0] != ord("*")).sum())

    def texts(self, path: Path) -> Texts:
        """Names and values, and the character set that the head names."""
        with path.open("rb") as file:
            head = file.read(_HEAD)
        letters = dict.fromkeys(line.strip() for line in head.splitlines() if not line.isascii())
        plain: dict[bytes, None] = {}
        columns, data = self._part(path, ".mid"), self._part(path, ".dat")
        if path.suffix.lower() == ".mif" and columns is not None:
            with columns.open("rb") as file:
                for line in file:
                    if not line.isascii() or len(plain) < _PLAIN:
                        for field in re.split(rb"[;,\t|]", line):
                            (plain if field.isascii() else letters)[field.strip(b' "\r\n')] = None
        elif data is not None:
            found, some = read_table(data).texts()
            letters |= dict.fromkeys(found)
            plain |= dict.fromkeys(some)
        declared = self._declared(path)
        return Texts(tuple(letters), tuple(plain), declared, f"the head of {path.name}" if declared else "")

    def encoding(self, path: Path) -> tuple[str, tuple[Finding, ...]]:
        """Take the character set of the head, unless the letters show that it is wrong; what is said of it is in `remarks`."""
        return decide(self.texts(path), path.name)[0], ()

    def remarks(self, path: Path) -> tuple[Finding, ...]:
        """Say where the encoding was guessed, or the head is wrong about it."""
        return decide(self.texts(path), path.name)[1]

    def fitted(self, path: Path, folder: Callable[[], Path]) -> Path:
        """Write the character set that was found into a copy of the head, where it names none or another."""
        found = decide(self.texts(path), path.name)[0]
        if found == (self._declared(path) or "utf-8"):
            return path
        charset = _CHARSET_OF[found]
        to = folder()
        for part in self.parts(path):
            if part.suffix.lower() not in self.suffixes:
                link(part, to / part.name)
                continue
            with part.open("rb") as old, (to / part.name).open("wb") as new:
                head = old.read(_HEAD)
                said = _CHARSET.search(head)
                if said:
                    head = re.sub(rb'(charset\s+"?)[\w-]+', rb"\1" + charset, head, flags=re.IGNORECASE)
                else:  # the first line is the mark of the file, in a .mif with the version
                    first, rest = head.split(b"\n", 1)
                    head = (
                        first
                        + (
                            b'\nCharset "' + charset + b'"\n'
                            if part.suffix.lower() == ".mif"
                            else b"\n!charset " + charset + b"\n"
                        )
                        + rest
                    )
                new.write(head)
                shutil.copyfileobj(old, new)
        return to / path.name

    def _declared(self, path: Path) -> str | None:
        with path.open("rb") as file:
            said = _CHARSET.search(file.read(_HEAD))
        return CHARSETS.get(said[1].decode("ascii").lower()) if said else None


def _drawings(path: Path) -> int:
    return int(pyogrio.read_info(path, force_feature_count=True, encoding="latin-1")["features"])


def _alone(path: Path, suffix: str, lost: str) -> InputError:
    return InputError(
        f"{path.name} comes without its {path.stem}{suffix}, which has {lost}. MapInfo data are several files with one name: "
        "copy them all beside it."
    )


def _check_data(path: Path, data: Path) -> int:
    """Rows of a .dat, whose head is that of a .dbf; refused where the file has fewer bytes than they take."""
    with data.open("rb") as file:
        head = file.read(32)
    size = data.stat().st_size
    if len(head) < 32:
        raise broken(path, f"{data.name} has {size} bytes, fewer than a head")
    rows, begin, width = struct.unpack_from("<IHH", head, 4)
    if begin + rows * width > size:
        raise broken(path, f"{data.name} promises {rows} rows of {width} bytes and has {size} bytes")
    return int(rows)


def _delimiter(path: Path) -> str:
    with path.open("rb") as file:
        said = re.search(rb'^\s*delimiter\s+"(.)"', file.read(_HEAD), re.IGNORECASE | re.MULTILINE)
    return said[1].decode("latin-1") if said else "\t"
