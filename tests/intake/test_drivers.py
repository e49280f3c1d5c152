"""Drivers of the file library that open other files or addresses aren't there when the program runs."""

import json
import subprocess
import sys

import pytest

from geobill.errors import InputError
from geobill.intake.inspect import inspect_file

REACHING = {"OGR_VRT", "GDALG", "WFS", "OAPIF", "CSW", "Carto", "HTTP"}
NEEDED = {"GPKG", "ESRI Shapefile", "FlatGeobuf", "GeoJSON", "OpenFileGDB", "MapInfo File", "DXF", "GML", "SQLite"}


def test_only_drivers_that_open_what_was_named_are_there():
    # in a process of its own: here another test may have brought the library in before
    ask = "import geobill.intake.bulk, pyogrio, json; print(json.dumps(list(pyogrio.list_drivers())))"
    there = set(
        json.loads(subprocess.run([sys.executable, "-c", ask], capture_output=True, check=True, text=True).stdout)
    )
    assert not there & REACHING
    assert there >= NEEDED


@pytest.mark.parametrize(
    "name", ["rede.tab", "rede.mif", "rede.dxf", "rede.kml", "rede.gml", "rede.geojson", "rede.csv", "rede.zip"]
)
def test_a_recipe_under_a_map_s_name_opens_nothing(tmp_path, name):
    secret = tmp_path / "segredo.csv"
    secret.write_text("id;largura\n4711;0,50\n", encoding="utf-8")
    layer = f'<OGRVRTLayer name="segredo"><SrcDataSource>{secret}</SrcDataSource></OGRVRTLayer>'
    recipe = tmp_path / name
    recipe.write_text(f"<OGRVRTDataSource>{layer}</OGRVRTDataSource>", encoding="utf-8")
    try:
        said = json.dumps(inspect_file(recipe))
    except InputError as refusal:
        said = str(refusal)
    assert "4711" not in said
    assert "largura" not in said
