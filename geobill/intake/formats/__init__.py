"""The file formats that geobill reads: one module each, and this hand-written list."""

from geobill.intake.formats.base import Format
from geobill.intake.formats.flatgeobuf import FlatGeobuf
from geobill.intake.formats.geojson import GeoJSON
from geobill.intake.formats.geopackage import GeoPackage
from geobill.intake.formats.geoparquet import GeoParquet
from geobill.intake.formats.shapefile import Shapefile

FORMATS: tuple[Format, ...] = (Shapefile(), GeoPackage(), GeoJSON(), FlatGeobuf(), GeoParquet())

__all__ = ["FORMATS", "Format"]
