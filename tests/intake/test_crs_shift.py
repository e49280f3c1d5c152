"""A label that contradicts the ground: the network on record shows which datum was meant."""

import geopandas as gpd
import numpy as np
import pytest
import shapely
from pyproj import CRS
from workspaces import add_operator, done, geobill, import_network, write_network

from geobill.intake.crs import CAIEIRAS, best_operation, transform
from geobill.intake.shift import find_datum_shift

SIRGAS, SAD = CRS(31983), CRS(29193)
CORNERS = [(322000 + 90 * i, 7414000 + 310 * j) for i in range(10) for j in range(4)]
ROADS = np.array([shapely.LineString([(x, y), (x + 70, y + 30)]) for x, y in CORNERS])


def moved(lines, dx, dy):
    return shapely.transform(lines, lambda xy: xy + (dx, dy))


def shift(lines, source=SIRGAS, reference=ROADS):
    return find_datum_shift(lines, reference, CAIEIRAS, source)


def test_sad69_read_as_sirgas():
    found = shift(moved(ROADS, 45.09, 45.70))
    assert (found.codes, found.name, found.twice) == (("EPSG:29193", "EPSG:5533"), "SAD69", False)
    assert (found.dx_m, found.dy_m) == pytest.approx((-45.09, -45.70), abs=0.05)
    assert (found.share_as_labelled, found.share_shifted) == (0, 1)


def test_two_rows_of_many_parts_are_enough():
    rows = np.array([shapely.MultiLineString(list(half)) for half in (ROADS[:20], ROADS[20:])])
    assert shift(moved(rows, 45.09, 45.70), reference=rows).codes[0] == "EPSG:29193"


def test_sirgas_read_as_sad69():
    found = shift(moved(ROADS, -45.09, -45.70), SAD)
    assert (found.codes[0], found.twice) == ("EPSG:31983", False)


def test_corrego_alegre_read_as_sirgas():
    assert shift(moved(ROADS, 26.83, 8.13)).codes == ("EPSG:22523",)


def test_a_shift_applied_where_none_was_due():
    found = shift(moved(ROADS, -45.09, -45.70))
    assert (found.codes[0], found.twice) == ("EPSG:29193", True)


def test_degrees_are_compared_as_degrees():
    old, new = (best_operation(CRS(code), CAIEIRAS).transformer for code in (4618, 4674))
    degrees = shapely.transform(ROADS, lambda x, y: old.transform(x, y, direction="INVERSE"), interleaved=False)
    assert shift(transform(degrees, new), CRS(4674)).codes == ("EPSG:4618", "EPSG:5527")


@pytest.mark.parametrize(
    ("lines", "reference"),
    [(ROADS, ROADS),  # right as it is
     (moved(ROADS, 0, 12), ROADS),  # another operator across the street
     (moved(ROADS, 31, -77), ROADS),  # moved by no datum's shift
     (moved(ROADS[:19], 45.09, 45.70), ROADS), (moved(ROADS, 45.09, 45.70), ROADS[:19]),  # too little to say
     (moved(ROADS, 5000, 0), ROADS)],
)  # fmt: skip
def test_nothing_is_said_without_cause(lines, reference):
    assert shift(lines, reference=reference) is None


def test_a_system_of_another_datum_is_left_alone():
    assert shift(moved(ROADS, 45.09, 45.70), CRS(20823)) is None


@pytest.fixture(scope="module")
def real(pytestconfig):
    folder = pytestconfig.rootpath.parent / "shared/data/caieiras"
    if not folder.is_dir():
        pytest.skip(f"no real data at {folder}")
    reference = [gpd.read_file(folder / "rede_permitida_2021.gpkg", layer=one) for one in ("SSDMT", "SSDBT")]
    return folder, np.concatenate([r.geometry.to_numpy() for r in reference])


def test_real_deliveries(real):
    folder, reference = real
    sad = gpd.read_file(folder / "entregas/d_sad69_29193.shp").geometry.to_numpy()
    found = shift(sad, reference=reference)
    assert (found.codes[0], found.twice) == ("EPSG:29193", False)
    assert found.share_as_labelled < 0.1
    assert found.share_shifted > 0.9
    survey = gpd.read_file(folder / "rede_levantada_2024.gpkg", layer="SSDMT").geometry.to_numpy()
    assert shift(survey, reference=reference) is None
    assert shift(moved(survey, -45.09, -45.70), SAD, reference).codes[0] == "EPSG:31983"
    assert shift(moved(survey, -45.09, -45.70), reference=reference).twice
    low = gpd.read_file(folder / "rede_levantada_2024.gpkg", layer="SSDBT").geometry.to_numpy()
    assert (
        shift(low, reference=reference[: len(gpd.read_file(folder / "rede_permitida_2021.gpkg", layer="SSDMT"))])
        is None
    )


@pytest.fixture(scope="module")
def town(tmp_path_factory):
    root = tmp_path_factory.mktemp("town")
    done("init", root / "ws")
    for one in ("alfa", "beta"):
        add_operator(root / "ws", one, one)
    rows = [(f"A{n}", 0.5, [(70 * n, 200 + 37 * n), (70 * n + 50, 230 + 37 * n)]) for n in range(25)]
    import_network(root / "ws", write_network(root / "alfa.geojson", *rows), "alfa")
    shifted = [(i, w, [(x + 45.09, y + 45.70) for x, y in points]) for i, w, points in rows]
    return root / "ws", write_network(root / "beta.geojson", *shifted)


def test_an_import_that_misses_by_a_datum_is_refused(town):
    workspace, file = town
    options = ("--operator", "beta", "--map", "segment=id", "--map", "width=largura")
    refused = geobill("import", "network", file, *options, workspace=workspace)
    assert refused.code == 1
    assert "import it with --crs EPSG:29193" in refused.err
    assert "100%" in refused.err
    assert "45.09 m west and 45.70 m south" in refused.err
    said = done("import", "network", file, *options, "--crs", "EPSG:31983", "--dry-run", workspace=workspace)
    assert [f["severity"] for f in said["findings"] if f["code"] == "crs_suspect"] == ["warning"]
    right = done("import", "network", file, *options, "--crs", "EPSG:29193", "--dry-run", workspace=workspace)
    assert "crs_suspect" not in [f["code"] for f in right["findings"]]
