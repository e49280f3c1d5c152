"""Small layers made by hand, and the real files where they are at hand."""

import json
from decimal import Decimal
from pathlib import Path

import geopandas as gpd
import pytest
from pyproj import CRS

from geobill.intake.crs import CAIEIRAS
from geobill.intake.network import read_network
from geobill.intake.reader import Layer
from geobill.intake.reading import Options, Part

SHARED = Path(__file__).parents[2].parent / "shared"
X, Y = 322000.0, 7416000.0


@pytest.fixture(scope="session")
def shared():
    """The folder of real files; the test skips, saying so, where it is missing."""
    if not (SHARED / "data" / "caieiras").is_dir():
        pytest.skip(f"no real data at {SHARED}")
    return SHARED


@pytest.fixture
def make_layer():
    """Build a layer in memory from columns and geometries, in EPSG:31983 unless told otherwise."""

    def build(geometry, crs="EPSG:31983", **columns):
        frame = gpd.GeoDataFrame(columns, geometry=gpd.GeoSeries(geometry), index=range(len(geometry)))
        return Layer(Path("rede.gpkg"), "rede", "GeoPackage", (), "0" * 64, "UTF-8", CRS(crs) if crs else None, frame)

    return build


@pytest.fixture
def network():
    """Read a layer as a network of operator alfa, 0.50 m wide, unless told otherwise."""

    def read(layer, mapping=None, operator="alfa", width="0.50", operators=("alfa", "beta"), **options):
        default = None if width is None else Decimal(width)
        given = {k: options.pop(k) for k in ("permit", "status") if k in options}
        chosen = Options(operator=operator, default_width_m=default, mapping=mapping or {}, constants=given, **options)
        return read_network([Part(layer, chosen)], CAIEIRAS, operators)

    return read


@pytest.fixture
def write_geojson(tmp_path):
    """Write a GeoJSON file from (properties, coordinates of a line) pairs; returns its path."""

    def write(rows, name="rede.geojson", **members):
        features = [
            {"type": "Feature", "properties": p, "geometry": c and {"type": "LineString", "coordinates": c}}
            for p, c in rows
        ]
        path = tmp_path / name
        path.write_text(json.dumps({"type": "FeatureCollection", **members, "features": features}), encoding="utf-8")
        return path

    return write


@pytest.fixture
def at():
    """Coordinates in metres from a corner inside Caieiras."""
    return lambda *xy: [(X + x, Y + y) for x, y in xy]
