"""GeoPackage: one SQLite file, many layers."""

import sqlite3
import struct
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

from geobill.intake.formats.base import Format, broken


class GeoPackage(Format):
    """OGC GeoPackage."""

    name = "GeoPackage"
    suffixes = (".gpkg",)
    driver = "GPKG"
    fid_is_column = True

    def parts(self, path: Path) -> tuple[Path, ...]:
        """Return the file, and the write-ahead log beside it where somebody still has it open in QGIS."""
        log = path.with_name(path.name + "-wal")
        return (path, log) if log.is_file() and log.stat().st_size else (path,)

    def check(self, path: Path) -> None:
        """Compare the pages that the head promises with the size of the file."""
        with path.open("rb") as file:
            head = file.read(100)
        if not head.startswith(b"SQLite format 3\0") or len(head) < 100:
            raise broken(path, "it isn't an SQLite file, which every GeoPackage is")
        page = struct.unpack_from(">H", head, 16)[0]
        changes, pages, counted_at = (struct.unpack_from(">I", head, at)[0] for at in (24, 28, 92))
        promised, size = pages * (65536 if page == 1 else page), path.stat().st_size
        if changes == counted_at and promised > size and len(self.parts(path)) == 1:
            raise broken(path, f"it promises {promised} bytes and has {size}")
        where = f"file:{quote(str(path.resolve()))}?mode=ro&immutable=1"
        try:
            with closing(sqlite3.connect(where, uri=True)) as database:
                known = database.execute("SELECT count(*) FROM sqlite_master WHERE name = 'gpkg_contents'").fetchone()
        except sqlite3.Error as e:
            raise broken(path, str(e)) from None
        if not known[0] and len(self.parts(path)) == 1:
            raise broken(path, "it is an SQLite file, but no GeoPackage: it has no gpkg_contents")
