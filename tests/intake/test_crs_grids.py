"""Grids for datum shifts: a small one is written here, under the names that PROJ and IBGE give it."""

import hashlib
import json
import struct
import warnings

import pytest
from pyproj import CRS
from workspaces import add_operator, done, geobill, write_network

from geobill.intake.crs import CAIEIRAS, best_operation, missing_operation
from geobill.intake.grids import grids_for, take_grids, use_grids

SAD69 = "br_ibge_SAD69_003.tif"
HERE = (-24, -22, 46, 48)  # south, north, east, west: degrees, longitude counted to the west as NTv2 does


def write_grid(path, d_lat=-1.70, d_lon=1.50, area=HERE):
    """Write an NTv2 grid that moves everything in its area by so many seconds (longitude to the west)."""
    south, north, east, west = area

    def whole(name, value):
        return name.ljust(8).encode() + struct.pack("<i4x", value)

    def text(name, value):
        return name.ljust(8).encode() + value.ljust(8).encode()

    def real(name, value):
        return name.ljust(8).encode() + struct.pack("<d", value)

    nodes = (north - south + 1) * (west - east + 1)
    head = [whole("NUM_OREC", 11), whole("NUM_SREC", 11), whole("NUM_FILE", 1), text("GS_TYPE", "SECONDS"),
            text("VERSION", "NTv2.0"), text("SYSTEM_F", "SAD69"), text("SYSTEM_T", "SIRGAS"), real("MAJOR_F", 6378160.0),
            real("MINOR_F", 6356774.719), real("MAJOR_T", 6378137.0), real("MINOR_T", 6356752.314),
            text("SUB_NAME", "BRASIL"), text("PARENT", "NONE"), text("CREATED", ""), text("UPDATED", ""),
            real("S_LAT", south * 3600.0), real("N_LAT", north * 3600.0), real("E_LONG", east * 3600.0),
            real("W_LONG", west * 3600.0), real("LAT_INC", 3600.0), real("LONG_INC", 3600.0), whole("GS_COUNT", nodes)]  # fmt: skip
    path.write_bytes(b"".join(head) + struct.pack("<ffff", d_lat, d_lon, 0.1, 0.1) * nodes + b"END     " + bytes(8))
    return path


@pytest.fixture(autouse=True)
def own_grids():
    """Start and end with PROJ's own places; skip where IBGE's grids are installed in them."""
    use_grids(None)
    if missing_operation(CRS(29193), CAIEIRAS) is None:
        pytest.skip("IBGE's grids are installed here")
    yield
    use_grids(None)


@pytest.fixture
def workspace(tmp_path):
    done("init", tmp_path / "ws")
    add_operator(tmp_path / "ws", "alfa", "Alfa")
    return tmp_path / "ws"


def placed(x=322000.0, y=7416000.0):
    return best_operation(CRS(29193), CAIEIRAS).transformer.transform(x, y)


def test_the_grids_that_proj_asks_for_with_both_accuracies():
    found = {g.datum: (g.file, g.also, g.path, g.accuracy_m, g.accuracy_without_m) for g in grids_for(CAIEIRAS)}
    assert found == {
        "SAD69": (SAD69, "SAD69_003.gsb", None, 1.0, 5.0),
        "SAD69(96)": ("br_ibge_SAD96_003.tif", "SAD96_003.gsb", None, 0.5, 5.0),
        "Corrego Alegre 1970-72": ("br_ibge_CA7072_003.tif", "CA7072_003.gsb", None, 2.0, 5.0),
        "Corrego Alegre 1961": ("br_ibge_CA61_003.tif", "CA61_003.gsb", None, 2.0, None),
    }


@pytest.mark.parametrize("name", [SAD69, "SAD69_003.GSB", "sad69_003.gsb"])
def test_a_grid_changes_operation_accuracy_and_place(tmp_path, name):
    before, plain = placed(), best_operation(CRS(29193), CAIEIRAS)
    assert plain.accuracy_m == 5
    (tmp_path / "from").mkdir()
    file = write_grid(tmp_path / "from" / name)
    taken, left = take_grids(tmp_path / "from", tmp_path / "grids", CAIEIRAS)
    assert [(t.file, t.source, t.datum) for t in taken] == [(SAD69, name, "SAD69")]
    assert taken[0].sha256 == hashlib.sha256(file.read_bytes()).hexdigest()
    assert left == []
    assert placed() == before  # not used before it is asked for
    use_grids(tmp_path / "grids")
    operation = best_operation(CRS(29193), CAIEIRAS)
    assert (operation.grids, operation.accuracy_m) == ((SAD69,), 1.0)
    assert "SAD69 to SIRGAS 2000 (2)" in operation.name
    assert operation.name != plain.name
    apart = [a - b for a, b in zip(placed(), before, strict=True)]
    assert 0.5 < max(map(abs, apart)) < 10
    assert missing_operation(CRS(29193), CAIEIRAS) is None
    use_grids(None)
    assert placed() == before


def test_a_grid_that_is_put_in_later_isnt_hidden_by_what_was_found_before(tmp_path):
    folder = tmp_path / "grids"
    folder.mkdir()
    use_grids(folder)
    before = placed()
    write_grid(tmp_path / SAD69)
    take_grids(tmp_path, folder, CAIEIRAS)
    use_grids(folder)
    assert placed() != before


def test_a_datum_that_was_refused_is_read_with_its_grid(tmp_path):
    assert best_operation(CRS(5538), CAIEIRAS) is None
    write_grid(tmp_path / "CA61_003.gsb", d_lat=-0.3, d_lon=0.9)
    take_grids(tmp_path, tmp_path / "grids", CAIEIRAS)
    use_grids(tmp_path / "grids")
    assert best_operation(CRS(5538), CAIEIRAS).accuracy_m == 2


@pytest.mark.parametrize(
    ("make", "says"),
    [(lambda p: p.write_bytes(b"no grid at all" * 100), "can't use"),
     (lambda p: write_grid(p).write_bytes(p.read_bytes()[:400]), "can't use"),
     (lambda p: write_grid(p, area=(10, 12, 46, 48)), "can't use"),
     (lambda p: write_grid(p, d_lat=-60), "isn't the grid of SAD69")],
)  # fmt: skip
def test_what_is_no_grid_is_refused_whole(workspace, tmp_path, make, says):
    (tmp_path / "from").mkdir()
    write_grid(tmp_path / "from" / "SAD96_003.gsb")
    make(tmp_path / "from" / "SAD69_003.gsb")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        answer = geobill("crs", "grids", tmp_path / "from", workspace=workspace)
    assert answer.code == 1
    assert says in answer.err
    assert not (workspace / "grids").exists()


def test_a_folder_without_any_is_refused_naming_both_names(workspace, tmp_path):
    (tmp_path / "from").mkdir()
    write_grid(tmp_path / "from" / "SAD69_002.gsb")
    answer = geobill("crs", "grids", tmp_path / "from", workspace=workspace)
    assert answer.code == 1
    assert "br_ibge_SAD69_003.tif (or SAD69_003.gsb)" in answer.err
    assert "It has SAD69_002.gsb" in answer.err
    assert geobill("crs", "grids", tmp_path / "nowhere", workspace=workspace).code == 1


def test_every_later_command_of_the_workspace_uses_them(workspace, tmp_path):
    (tmp_path / "from").mkdir()
    write_grid(tmp_path / "from" / "SAD69_003.gsb")
    (tmp_path / "from" / "LEIAME.txt").write_text("x")
    system = {"type": "name", "properties": {"name": "urn:ogc:def:crs:EPSG::29193"}}
    file = write_network(tmp_path / "a.geojson", ("A1", 0.5, [(0, 0), (10, 0)]), crs=system)
    options = ("--operator", "alfa", "--default-width", "0.5", "--dry-run")
    plain = done("import", "network", file, *options, workspace=workspace)
    assert (plain["crs"]["accuracy_m"], [f["code"] for f in plain["findings"]]) == (5.0, ["datum_grid_missing"])
    said = done("crs", "grids", tmp_path / "from", workspace=workspace)
    assert said["left"] == ["LEIAME.txt"]
    assert [g["path"] for g in said["grids"] if g["datum"] == "SAD69"] == [str(workspace.resolve() / "grids" / SAD69)]
    fine = done("import", "network", file, *options, workspace=workspace)
    assert (fine["crs"]["accuracy_m"], fine["findings"]) == (1.0, [])
    assert fine["crs"]["operation"] != plain["crs"]["operation"]
    assert fine["bounds"] != plain["bounds"]
    shown = geobill("import", "network", file, *options, workspace=workspace).out
    assert f"carried over by {fine['crs']['operation']}, true to 1 m" in shown
    checks = {c["name"]: c for c in json.loads(geobill("doctor", "--json", workspace=workspace).out)["checks"]}
    assert checks["datum SAD69"]["state"] == "ok"
    assert SAD69 in checks["datum SAD69"]["message"]


@pytest.mark.parametrize(
    "harm", [lambda p: write_grid(p, d_lat=-1.8), lambda p: p.unlink(), lambda p: write_grid(p.with_name("x.gsb"))]
)
def test_a_grid_that_was_changed_since_is_refused(workspace, tmp_path, harm):
    write_grid(tmp_path / "SAD69_003.gsb")
    done("crs", "grids", tmp_path, workspace=workspace)
    harm(workspace / "grids" / SAD69)
    file = write_network(tmp_path / "a.geojson", ("A1", 0.5, [(0, 0), (10, 0)]))
    answer = geobill("import", "network", file, "--operator", "alfa", "--default-width", "0.5", workspace=workspace)
    assert answer.code == 1
    assert "have changed" in answer.err
