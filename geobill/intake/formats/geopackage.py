"""GeoPackage: one SQLite file, many layers, each in a system of its own."""

import sqlite3
from pathlib import Path

from pyproj import CRS

from geobill.domain.finding import Finding
from geobill.intake.formats.base import broken
from geobill.intake.formats.sqlite import SQLiteFormat, check_pages, check_whole, log_of, opened, refuse_links
from geobill.intake.prj import read_prj


class GeoPackage(SQLiteFormat):
    """OGC GeoPackage."""

    name = "GeoPackage"
    suffixes = (".gpkg",)
    driver = "GPKG"
    reads = "every layer, each in its own system; views; tables without geometry; curves are made straight"
    leaves_out = "rasters and tiles, styles"

    def recognises(self, path: Path, head: bytes) -> bool:
        """See that it is SQLite with the table of contents that every GeoPackage has, or that it may be in the log."""
        return super().recognises(path, head) and (log_of(path) is not None or _has_contents(path))

    def check(self, path: Path) -> None:
        """Compare the pages that the head promises with the size of the file."""
        check_pages(path, "which every GeoPackage is")
        try:
            known = _contents(path) is not None
            refuse_links(path)
            check_whole(path)
        except sqlite3.Error as e:
            raise broken(path, str(e)) from None
        if not known and log_of(path) is None:
            raise broken(path, "it is an SQLite file, but no GeoPackage: it has no gpkg_contents")

    def crs(self, path: Path, declared: CRS | None) -> tuple[CRS | None, tuple[Finding, ...]]:
        """Read a definition that the library passes over (a PROJ string), where all layers have that one system."""
        try:
            return (_definition(path) if declared is None else declared), ()
        except sqlite3.Error:
            return declared, ()

    def remarks(self, path: Path) -> tuple[Finding, ...]:
        """Name layers that the contents list and that aren't there: the library passes them over."""
        try:
            listed, there = _contents(path) or (set(), set())
        except sqlite3.Error:
            return ()
        gone = sorted(listed - there)
        if not gone:
            return ()
        message = f"The contents of {path.name} list layers that aren't in it: {', '.join(gone)}."
        fix = "If the network was in one of them, ask for the file again."
        return (Finding("layer_gone", "warning", message, fix),)


def _definition(path: Path) -> CRS | None:
    with opened(path) as database:
        rows = database.execute(
            "SELECT DISTINCT s.srs_id, s.definition FROM gpkg_geometry_columns g LEFT JOIN gpkg_spatial_ref_sys s USING (srs_id)"
        ).fetchall()
    if len(rows) != 1 or rows[0][0] in (None, -1, 0):  # -1 and 0 say that it is undefined (GeoPackage 1.3, req. 11)
        return None
    return read_prj(str(rows[0][1]).encode())


def _has_contents(path: Path) -> bool:
    try:
        return _contents(path) is not None
    except sqlite3.Error:
        return False


def _contents(path: Path) -> tuple[set[str], set[str]] | None:
    """Names (lower case) of the vector layers in the contents, and of all tables and views; None without contents."""
    with opened(path) as database:
        there = {str(n).lower() for (n,) in database.execute("SELECT name FROM sqlite_master")}
        if "gpkg_contents" not in there:
            return None
        rows = database.execute("SELECT table_name FROM gpkg_contents WHERE data_type IN ('features', 'attributes')")
        return {str(n).lower() for (n,) in rows}, there
