"""SpatiaLite: an SQLite file with tables of geometry, as QGIS and GDAL write it too."""

import sqlite3
from pathlib import Path

from geobill.errors import InputError
from geobill.intake.formats.base import broken
from geobill.intake.formats.sqlite import SQLiteFormat, check_pages, check_whole, log_of, opened, refuse_links


class SpatiaLite(SQLiteFormat):
    """SQLite whose table ``geometry_columns`` says where the geometry is: SpatiaLite's, or the plain one of OGR."""

    name = "SpatiaLite"
    suffixes = (".sqlite", ".sqlite3", ".db")
    driver = "SQLite"
    reads = "every table and view with geometry, each in its own system"
    leaves_out = "tables that open other files; rasters, topologies, networks; SQLite without tables of geometry"

    def recognises(self, path: Path, head: bytes) -> bool:
        """See that it is SQLite with tables of geometry."""
        try:
            return super().recognises(path, head) and _is_spatial(path)
        except sqlite3.Error:
            return False

    def check(self, path: Path) -> None:
        """Compare the pages that the head promises with the size of the file, and see that there is geometry."""
        check_pages(path, "which every SpatiaLite database is")
        try:
            spatial = _is_spatial(path)
            refuse_links(path)
            check_whole(path)
        except sqlite3.Error as e:
            raise broken(path, str(e)) from None
        if not spatial and log_of(path) is None:
            raise InputError(
                f"{path.name} is an SQLite database without tables of geometry (no geometry_columns): nothing in it can be measured. "
                "Export the network as GeoPackage."
            )


def _is_spatial(path: Path) -> bool:
    with opened(path) as database:
        names = {str(n).lower() for (n,) in database.execute("SELECT name FROM sqlite_master")}
    return "geometry_columns" in names and "gpkg_contents" not in names
