"""File Geodatabase: a folder named .gdb, with a table and its index in a file each.

Reference: the layout as E. Rouault worked it out for GDAL's OpenFileGDB driver (dump_gdbtable, FGDB specification).
The driver reads the rows; only the sizes that the heads promise are compared here, because it gives what is left of a
table that was cut without a word.
"""

import re
import struct
from pathlib import Path

import pyarrow as pa
import pyogrio

from geobill.intake.formats.base import Format, broken

CATALOGUE = "a00000001.gdbtable"
_TABLE = re.compile(r"a[0-9a-f]{8}\.(gdbtable|gdbtablx)", re.IGNORECASE)
_SYSTEM = "GDB_"


def is_filegdb(path: Path) -> bool:
    """Whether a folder is a File Geodatabase, whatever it is called."""
    return path.is_dir() and (path / CATALOGUE).is_file()


class FileGDB(Format):
    """ESRI File Geodatabase, from ArcGIS 9.x on."""

    name = "File Geodatabase"
    suffixes = (".gdb",)
    driver = "OpenFileGDB"
    fid_is_column = True
    reads = "feature classes with their systems; curves are made straight"
    leaves_out = "topologies, networks, relations, rasters; compressed classes (CDF); a table without geometry unless it is named"

    def parts(self, path: Path) -> tuple[Path, ...]:
        """Return the files of the folder in the order of their names, without the locks of programs that have it open."""
        return tuple(sorted(p for p in path.iterdir() if p.is_file() and p.suffix.lower() != ".lock"))

    def check(self, path: Path) -> None:
        """Compare every table with the size in its head, and the catalogue with the tables that are there."""
        if not is_filegdb(path):
            raise broken(path, f"it is no folder with a {CATALOGUE}, so no File Geodatabase")
        files = {p.name.lower(): p for p in self.parts(path)}
        for name, file in files.items():
            if _TABLE.fullmatch(name):
                _check_size(path, file)
            if name.endswith(".gdbtable") and name.replace(".gdbtable", ".gdbtablx") not in files:
                raise broken(path, f"the index of {name} (.gdbtablx) is missing")
        for number, name in _catalogue(path):
            if f"a{number:08x}.gdbtable" in files or name.startswith(_SYSTEM):
                continue
            if f"a{number:08x}.cdf" in files:
                raise broken(
                    path, f"the table {name} is compressed (CDF), which only ArcGIS reads: uncompress it there"
                )
            raise broken(path, f"the catalogue names the table {name}, but its file a{number:08x}.gdbtable is missing")

    def promised(self, path: Path, layer: str) -> int | None:
        """Return the rows that the head of the table tells; the library counts by the index, which may be damaged."""
        for number, name in _catalogue(path):
            file = path / f"a{number:08x}.gdbtable"
            if name == layer and file.is_file():
                with file.open("rb") as opened:
                    head = opened.read(40)
                version = struct.unpack_from("<i", head)[0]
                return int(
                    struct.unpack_from("<q", head, 16)[0] if version == 4 else struct.unpack_from("<I", head, 4)[0]
                )
        return None


def _check_size(path: Path, file: Path) -> None:
    with file.open("rb") as opened:
        head = opened.read(40)
    size = file.stat().st_size
    if len(head) < 16:
        raise broken(path, f"{file.name} has {size} bytes, fewer than a head")
    version, blocks, _, width = struct.unpack_from("<4i", head)
    if file.suffix.lower() == ".gdbtable" and len(head) == 40 and version in (3, 4):
        promised = struct.unpack_from("<q", head, 24)[0]
    elif file.suffix.lower() == ".gdbtablx" and version in (3, 4) and width in (4, 5, 6) and blocks >= 0:
        promised = 16 + blocks * 1024 * width
    else:
        return
    if promised > size:
        raise broken(path, f"{file.name} promises {promised} bytes and has {size}")


def _catalogue(path: Path) -> list[tuple[int, str]]:
    """Return number and name of every table that the geodatabase says it has."""
    try:
        meta, table = pyogrio.read_arrow(
            path, layer="GDB_SystemCatalog", LIST_ALL_TABLES="YES", read_geometry=False, return_fids=True
        )
        numbers = table.column(meta["fid_column"] or 0).to_pylist()
        return list(zip(numbers, map(str, table.column("Name").to_pylist()), strict=True))
    except (pyogrio.errors.DataSourceError, pyogrio.errors.DataLayerError, pa.ArrowException, KeyError) as e:
        raise broken(
            path, f"its catalogue can't be read ({str(e).split('; ')[0].replace(str(path), path.name)[:120]})"
        ) from None
