"""The municipality's own boundary instead of its box."""

import json
import re

import numpy as np
import pytest
import shapely
from workspaces import SYSTEM, add_operator, done, geobill, place, write_geojson, write_network

from geobill.domain.network import Municipality
from geobill.intake.crs import CAIEIRAS
from geobill.intake.crs_guess import guess_systems
from geobill.intake.ground import inside, metres_beyond, reach_beyond

RING = [(-3000, -3000), (3000, -3000), (3000, 3000), (0, 0), (-3000, 3000), (-3000, -3000)]  # a bay from the north


def write_ring(points, dx=0):
    return [place(*((x + dx, y) for x, y in points))]


def write(path, points=RING, dx=0, crs=SYSTEM, name="Caieiras"):
    return write_geojson(path, [({"NM_MUN": name}, "Polygon", write_ring(points, dx))], crs)


@pytest.fixture(scope="module")
def bounded():
    wkb = shapely.to_wkb(shapely.MultiPolygon([shapely.Polygon(place(*RING))]))
    return Municipality(CAIEIRAS.name, CAIEIRAS.bbox, CAIEIRAS.crs, 100.0, wkb)


def line(*points):
    return shapely.LineString(place(*points))


def test_inside_beyond_and_how_many_metres(bounded):
    drawn = [((0, -100), (10, -100)), ((0, 1500), (10, 1500)), ((0, 100), (0, 1100)), ((2900, -10), (3300, -10))]
    lines = np.array([line(*points) for points in drawn])
    assert inside(lines, bounded).tolist() == [True, False, True, True]
    np.testing.assert_allclose(reach_beyond(lines, bounded)[[0, 3]], [0, 200], atol=0.01)
    np.testing.assert_allclose(metres_beyond(lines, bounded), [0, 10, 1100 - 100 * 2**0.5, 200], atol=0.3)
    nowhere = np.array([None, shapely.LineString([(np.inf, 0), (1, 1)]), shapely.Point()], dtype=object)
    assert inside(nowhere, bounded).tolist() == [False] * 3
    assert metres_beyond(nowhere, bounded).tolist() == [0] * 3


def test_guesses_follow_the_boundary(bounded, make_layer):
    assert guess_systems(make_layer([line((0, -100), (10, -100))]).frame, bounded)[0] == "EPSG:31983"
    assert guess_systems(make_layer([line((0, 1500), (10, 1500))]).frame, bounded) == []


@pytest.fixture(scope="module")
def town(tmp_path_factory):
    root = tmp_path_factory.mktemp("boundary")
    done("init", root / "ws")
    add_operator(root / "ws", "alfa", "Alfa")
    return root / "ws"


def test_a_boundary_is_set_and_rows_outside_are_set_aside(town, tmp_path):
    settings = (town / "geobill.toml").read_text(encoding="utf-8")
    made = done("crs", "boundary", write(tmp_path / "caieiras.geojson"), workspace=town)
    assert (made["boundary"], made["area_km2"]) == ("limite.geojson", "27.000")
    written = (town / "geobill.toml").read_text(encoding="utf-8")
    assert written == settings.replace("margin_m = 500\n", 'margin_m = 500\nboundary = "limite.geojson"\n')
    assert json.loads((town / "limite.geojson").read_text(encoding="utf-8"))["crs"]["properties"]["name"].endswith(
        "31983"
    )
    rows = (
        ("A1", 0.5, [(0, -100), (10, -100)]),
        ("A2", 0.5, [(0, 1500), (10, 1500)]),
        ("A3", 0.5, [(2900, 0), (3700, 0)]),
    )
    options = ("--operator", "alfa", "--map", "segment=id", "--map", "width=largura")
    got = done(
        "import", "network", write_network(tmp_path / "alfa.geojson", *rows), *options, "--dry-run", workspace=town
    )
    assert [(s["id"], s["reason_code"]) for s in got["set_aside"]] == [("A2", "outside_municipality")]
    (reach,) = [f for f in got["findings"] if f["code"] == "reaches_outside"]
    assert "by up to 200 m" in reach["message"]
    assert "200.0" in reach["message"]
    done("crs", "boundary", town / "limite.geojson", workspace=town)  # its own file, taken again
    assert (town / "geobill.toml").read_text(encoding="utf-8") == written


@pytest.mark.parametrize(
    ("make", "says"),
    [(lambda p: write(p, dx=40_000), "can't be the boundary of Caieiras.*lie outside Caieiras"),
     (lambda p: write(p, [(x * 4, y) for x, y in RING]), r"beyond the box and margin.*write bbox = \[-46\.8"),
     (lambda p: write_network(p, ("A1", 0.5, [(0, 0), (10, 0)])), "can't be part of the boundary.*LineString"),
     (lambda p: write_geojson(p, []), "neither a coordinate system nor|has no polygon"),
     (lambda p: write(p, [(0, 0), (10, 10), (0, 0), (0, 0)]), "invalid_geometry"),
     (lambda p: p, "no such file|does not exist|is no file")],
)  # fmt: skip
def test_what_is_no_boundary_is_refused_and_nothing_changes(town, tmp_path, make, says):
    before = (town / "geobill.toml").read_bytes()
    answer = geobill("crs", "boundary", make(tmp_path / "x.geojson"), workspace=town)
    assert answer.code == 1
    assert re.search(says, answer.err), answer.err
    assert (town / "geobill.toml").read_bytes() == before


def test_of_a_file_of_several_places_one_is_taken(town, tmp_path):
    places = [("Caieiras", 0), ("Franco da Rocha", 9000), ("Mairiporã", 12000)]
    file = write_geojson(
        tmp_path / "x.geojson", [({"NM_MUN": name}, "Polygon", write_ring(RING, dx)) for name, dx in places]
    )

    def refused(*options):
        answer = geobill("crs", "boundary", file, *options, workspace=town)
        assert answer.code == 1
        return answer.err

    assert "has 3 polygons: if they are several municipalities, keep only that of Caieiras with --where" in refused()
    assert "Did you mean 'NM_MUN'" in refused("--where", "NM_MU=Caieiras")
    assert "COLUMN=VALUE" in refused("--where", "Caieiras")
    assert "Did you mean 'Caieiras'" in refused("--where", "NM_MUN=Caieira")
    assert done("crs", "boundary", file, "--where", "nm_mun=CAIEIRAS", workspace=town)["area_km2"] == "27.000"


@pytest.mark.parametrize("named", ["../fora.geojson", "/etc/passwd", "", "."])
def test_a_boundary_outside_the_workspace_is_refused(tmp_path, named):
    done("init", tmp_path / "ws")
    path = tmp_path / "ws" / "geobill.toml"
    path.write_text(path.read_text("utf-8").replace("margin_m = 500", f'margin_m = 500\nboundary = "{named}"'), "utf-8")
    answer = geobill("operator", "list", workspace=tmp_path / "ws")
    assert answer.code == 1
    assert "boundary" in answer.err


def test_a_boundary_that_is_gone_is_said_by_every_import_and_by_the_doctor(tmp_path):
    done("init", tmp_path / "ws")
    path = tmp_path / "ws" / "geobill.toml"
    path.write_text(
        path.read_text("utf-8").replace("margin_m = 500", 'margin_m = 500\nboundary = "limite.shp"'), "utf-8"
    )
    add_operator(tmp_path / "ws", "alfa", "Alfa")
    file = write_network(tmp_path / "a.geojson", ("A1", 0.5, [(0, 0), (10, 0)]))
    refused = geobill(
        "import", "network", file, "--operator", "alfa", "--default-width", "0.5", workspace=tmp_path / "ws"
    )
    assert (refused.code, "there is no such file" in refused.err) == (1, True)
    checks = json.loads(geobill("doctor", "--json", workspace=tmp_path / "ws").out)["checks"]
    assert [c["state"] for c in checks if c["name"] == "place"] == ["fault"]


def test_the_real_boundary_takes_every_delivery(shared, tmp_path):
    done("init", tmp_path / "ws")
    add_operator(tmp_path / "ws", "alfa", "Alfa")
    data = shared / "data/caieiras"
    done("crs", "boundary", data / "caieiras_3509007.geojson", workspace=tmp_path / "ws")
    options = ("--operator", "alfa", "--default-width", "0.5", "--dry-run")
    got = done("import", "network", data / "entregas/g_com_z.gpkg", *options, workspace=tmp_path / "ws")
    assert {s["reason_code"] for s in got["set_aside"]} == {"duplicate"}
    assert "reaches_outside" not in [f["code"] for f in got["findings"]]
