"""The file formats that geobill reads: one module each, and this hand-written list."""

from geobill.intake.formats.base import Format
from geobill.intake.formats.csv import CSV
from geobill.intake.formats.dxf import DXF
from geobill.intake.formats.filegdb import FileGDB
from geobill.intake.formats.flatgeobuf import FlatGeobuf
from geobill.intake.formats.geojson import GeoJSON
from geobill.intake.formats.geojsonseq import GeoJSONSeq
from geobill.intake.formats.geopackage import GeoPackage
from geobill.intake.formats.geoparquet import GeoParquet
from geobill.intake.formats.gml import GML
from geobill.intake.formats.kml import KML
from geobill.intake.formats.mapinfo import MapInfo
from geobill.intake.formats.shapefile import Shapefile
from geobill.intake.formats.spatialite import SpatiaLite
from geobill.intake.formats.xlsx import XLSX

FORMATS: tuple[Format, ...] = (
    Shapefile(),
    GeoPackage(),
    GeoJSON(),
    GeoJSONSeq(),
    FlatGeobuf(),
    GeoParquet(),
    FileGDB(),
    DXF(),
    KML(),
    GML(),
    MapInfo(),
    SpatiaLite(),
    CSV(),
    XLSX(),
)

__all__ = ["FORMATS", "Format"]
