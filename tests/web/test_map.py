"""The map's routes: tiles that a GIS reads, states, metres, one decision on an area; and what must not get through."""

import json
import shutil
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from decimal import Decimal

import numpy as np
import pyogrio
import pytest
import shapely
from field_town import NOW, SRID, field_town
from pricing.shapes import ORIGIN
from pyproj import Transformer
from review_page import app_of, browser
from workspaces import geobill

from geobill.pipeline import map_tiles, review
from geobill.pipeline.area import count_area
from geobill.pipeline.map_place import from_degrees, to_degrees, to_tiles
from geobill.pipeline.map_tiles import find_tiles, make_tiles, plan_tiles
from geobill.store.drawn import Drawn, read_rows
from geobill.store.finding_queue import FindingQueue, Query
from geobill.store.workspace import open_workspace

DAY = date(2026, 11, 30)
MORE = 5  # short findings beside the three of the town


@pytest.fixture(scope="module")
def town(tmp_path_factory):
    """A surveyed town with its tiles made, which no test changes."""
    root = field_town(tmp_path_factory.mktemp("map"), MORE)
    make_tiles(open_workspace(root), DAY)
    return root


@pytest.fixture(scope="module")
def reader(town):
    return browser(app_of(town))


def ring(*corners):
    """Corners in metres from the origin of the tests, as the map sends them."""
    metres = shapely.LineString([(ORIGIN[0] + x, ORIGIN[1] + y) for x, y in corners])
    return json.dumps(shapely.get_coordinates(to_degrees(metres, SRID)).tolist())


def detail(town, layer):
    (file,) = (f for f in plan_tiles(open_workspace(town), DAY) if (f.layer, f.level) == (layer, "detail"))
    return pyogrio.read_dataframe(file.path)


# -- tiles


def test_each_layer_is_a_file_that_gdal_reads(town):
    plan = plan_tiles(open_workspace(town), DAY)
    assert [(f.layer, f.survey, f.level) for f in plan] == [
        (layer, survey, level)
        for layer, survey in (("findings", None), ("zones", None), ("permitted", None), ("surveyed", "V00001"))
        for level in ("overview", "detail")
    ]
    assert all(f.ready for f in plan)
    found = detail(town, "findings")
    assert sorted(found["key"].unique()) == list(range(1, 4 + MORE))
    assert set(found["id"]) == {f"V00001-{n:05d}" for n in range(1, 4 + MORE)}
    assert set(detail(town, "permitted")["id"]) == {"S1"}
    assert set(detail(town, "zones")["land_value"]) == {"200"}
    assert "K1" in set(detail(town, "surveyed")["id"])


@pytest.mark.parametrize("level", ["overview", "detail"])
def test_tiles_lie_where_the_findings_lie(town, level):
    workspace = open_workspace(town)
    with workspace.database.read() as connection:
        shapes = FindingQueue(connection, workspace.database.tables, SRID).load_shapes()
    (file,) = (f for f in plan_tiles(workspace, DAY) if (f.layer, f.level) == ("findings", level))
    drawn = pyogrio.read_dataframe(file.path).dissolve("key")
    moved = dict(zip(shapes["fid"], to_tiles(shapes.geometry.to_numpy(), SRID), strict=True))
    step = 3.0 if level == "overview" else 0.3  # of a tile's grid, in metres of EPSG:3857
    for key, shape in moved.items():
        assert shapely.hausdorff_distance(shapely.centroid(drawn.geometry[key]), shapely.centroid(shape)) < step, key


def test_no_finding_is_lost_from_afar_and_short_ones_are_points(town):
    (file,) = (f for f in plan_tiles(open_workspace(town), DAY) if (f.layer, f.level) == ("findings", "overview"))
    drawn = pyogrio.read_dataframe(file.path)
    assert set(drawn["key"]) == set(range(1, 4 + MORE))
    assert set(drawn[drawn["length"] == 5].geom_type) <= {"Point", "MultiPoint"}
    assert set(drawn[drawn["length"] >= 200].geom_type) <= {"LineString", "MultiLineString"}


def test_tiles_are_made_once_and_anew_when_something_was_compared_or_imported(town, monkeypatch):
    said = []
    make_tiles(open_workspace(town), DAY, said.append)
    assert said == []
    before = {f.path.name for f in plan_tiles(open_workspace(town), DAY)}
    monkeypatch.setattr(map_tiles, "FORM", map_tiles.FORM + 1)
    after = {f.path.name for f in plan_tiles(open_workspace(town), DAY)}
    assert not before & after


def test_stale_files_go_and_other_peoples_stay(surveyed):
    root, folder = surveyed, surveyed / "cache"
    folder.mkdir(exist_ok=True)
    stale, own = folder / "findings-detail-0123456789abcdef.pmtiles", folder / "fundo.pmtiles"
    stale.write_bytes(b"old")
    own.write_bytes(b"mine")
    makers = [threading.Thread(target=make_tiles, args=(open_workspace(root), DAY)) for _ in range(2)]
    for maker in makers:
        maker.start()
    for maker in makers:
        maker.join()
    assert not stale.exists()
    assert own.read_bytes() == b"mine"
    left = {p.name for p in folder.iterdir()} - {own.name}
    assert left == {f.path.name for f in plan_tiles(open_workspace(root), DAY)}


# -- routes


def test_map_says_what_there_is_to_draw(reader):
    said = reader.get("/mapa/camadas.json").json()
    assert {c["camada"] for c in said["camadas"]} == {"findings", "zones", "permitted", "surveyed"}
    assert all(c["arquivo"].startswith("/mapa/") for c in said["camadas"])
    assert said["fundo"] is None
    west, south, east, north = said["limites"]
    assert -46.75 < west < east < -46.72
    assert -23.37 < south < north < -23.35


def test_first_look_has_the_tiles_made(surveyed):
    shutil.rmtree(surveyed / "cache", ignore_errors=True)
    app = app_of(surveyed)
    client = browser(app)
    assert [c["arquivo"] for c in client.get("/mapa/camadas.json").json()["camadas"]] == [None] * 8
    app.state.tile_maker.wait()
    files = [c["arquivo"] for c in client.get("/mapa/camadas.json").json()["camadas"]]
    assert None not in files
    assert client.get(files[0]).content.startswith(b"PMTiles\x03")


def test_reading_for_the_map_leaves_the_locks_of_a_decision_alone(surveyed):
    # GDAL has a SQLite of its own: when it closes the file, POSIX drops every lock that this process holds on it
    database = open_workspace(surveyed).database
    other = (
        "import sqlite3, sys; sqlite3.connect(sys.argv[1], timeout=0, isolation_level=None).execute('BEGIN IMMEDIATE')"
    )
    with database.write(), ThreadPoolExecutor(1) as beside:
        with database.read() as connection:
            batches = Drawn(connection, database.tables).batches()
        rows = beside.submit(read_rows, database, "segments", batches, ("segment",), (0.0, 0.0, 1e7, 1e7)).result()
        assert list(rows["segment"]) == ["S1"]
        tried = subprocess.run([sys.executable, "-c", other, str(database.path)], capture_output=True, text=True)
        assert "database is locked" in tried.stderr


def test_tiles_that_failed_are_tried_again_when_the_page_asks_again(surveyed):
    (surveyed / "cache").write_text("in the way")
    app = app_of(surveyed)
    client = browser(app)
    client.get("/mapa/camadas.json")
    app.state.tile_maker.wait()
    assert "can't be written" in client.get("/mapa/camadas.json").json()["falha"]
    (surveyed / "cache").unlink()
    client.get("/mapa/camadas.json")
    app.state.tile_maker.wait()
    answer = client.get("/mapa/camadas.json").json()
    assert answer["falha"] == ""
    assert all(layer["arquivo"] for layer in answer["camadas"])


def test_parts_of_a_file_are_given(reader):
    path = reader.get("/mapa/camadas.json").json()["camadas"][0]["arquivo"]
    whole = reader.get(path)
    part = reader.get(path, headers={"Range": "bytes=0-126"})
    assert (part.status_code, part.content) == (206, whole.content[:127])
    assert part.headers["content-range"] == f"bytes 0-126/{len(whole.content)}"
    assert "immutable" in whole.headers["cache-control"]


@pytest.mark.parametrize(
    "name",
    [
        "cadastre.gpkg",
        "../geobill.toml",
        "..%2Fgeobill.toml",
        "%2e%2e%2fcadastre.gpkg.pmtiles",
        "findings-detail-0123456789abcdef.pmtiles",
        "other.pmtiles",
        "zones-overview-0123456789abcdef.pmtiles%00.png",
    ],
)
def test_nothing_else_is_given(town, reader, name):
    (town / "cache" / "other.pmtiles").write_bytes(b"PMTiles")
    assert reader.get(f"/mapa/{name}").status_code == 404
    assert find_tiles(open_workspace(town), name) is None


def test_states_say_what_was_decided_and_what_the_queue_shows(surveyed):
    client = browser(app_of(surveyed))
    everything = {"estados": {}, "fora": [], "mostrados": None, "ocultos": []}
    first = client.get("/mapa/estados.json")
    assert first.json() == everything
    same = client.get("/mapa/estados.json", headers={"If-None-Match": first.headers["etag"]})
    assert same.status_code == 304
    review.decide(open_workspace(surveyed), {"V00001-00002": 0}, "upheld", by="Bia", note="", now=NOW)
    now = client.get("/mapa/estados.json", headers={"If-None-Match": first.headers["etag"]}).json()
    assert now == {**everything, "estados": {"upheld": [2]}, "ocultos": [2]}
    few = client.get("/mapa/estados.json?tipo=undeclared_equipment").json()
    assert (few["mostrados"], few["ocultos"]) == ([3], None)
    assert client.get("/mapa/estados.json?tipo=x").status_code == 400


def test_close_up_has_the_line_and_what_is_near(reader):
    said = reader.get("/mapa/achado/V00001-00002.json").json()
    (line,) = said["achado"]["features"]
    ends = from_degrees(np.array(line["geometry"]["coordinates"]), SRID) - ORIGIN
    assert ends == pytest.approx(np.array([[100, 20], [300, 20]]), abs=1e-3)
    assert said["estado"] == "suspected"
    assert len(said["permitido"]["features"]) == 1
    offsets = shapely.linestrings([f["geometry"]["coordinates"] for f in said["afastamento"]["features"]])
    metres = shapely.transform(offsets, lambda xy: from_degrees(xy, SRID))
    assert len(metres) == 21
    assert shapely.length(metres) == pytest.approx(np.full(21, 15.0), abs=1e-3)
    assert reader.get("/mapa/achado/V00009-00001.json").status_code == 404
    assert reader.get("/mapa/achado/..%2f..%2fetc.json").status_code == 404


def test_metres_are_those_of_the_cadastre_and_not_of_the_map(reader):
    drawn = ring((0, 0), (100, 0), (100, 50))
    said = reader.get("/mapa/medir", params={"vertices": drawn}).json()
    assert (said["metros"], said["trechos"]) == ("150.00", ["100,00\u00a0m", "50,00\u00a0m"])
    assert said["area"] == "2.500,00 m²"
    degrees = np.array(json.loads(drawn))
    web = np.column_stack(Transformer.from_crs(4326, 3857, always_xy=True).transform(degrees[:, 0], degrees[:, 1]))
    assert shapely.LineString(web).length > 163  # what the map's own metres would say: 9 % more
    assert reader.get("/mapa/medir", params={"vertices": "[]"}).json()["metros"] == "0.00"


@pytest.mark.parametrize(
    "drawn",
    [
        "", "{}", "[[1]]", '[["a", "b"]]', "[[1, 2, 3]]", "[[NaN, 0]]", "[[1e999, 0]]", "[[true, 0]]", "[[0, 0], [1, 1]]", "null",
        "[" * 100_000, json.dumps([[-46.74, -23.35]] * 501), "[[-46.74, 23.35]]",
    ],
)  # fmt: skip
def test_what_isnt_a_drawing_is_refused(reader, drawn):
    answer = reader.post("/achados/area/contar", data={"desenho": drawn, "fila": ""})
    assert answer.status_code in (400, 422)
    if len(drawn) < 5000:
        assert reader.get("/mapa/medir", params={"vertices": drawn}).status_code == 400


# -- one decision on an area


def test_area_is_counted_then_decided_and_what_changed_meanwhile_stays(tmp_path):
    root = field_town(tmp_path, MORE)
    client, workspace = browser(app_of(root)), open_workspace(root)
    # the line across the street and the short ones; not the one that carries on, of which only a part lies within
    drawn = ring((90, 10), (1100, 10), (1100, -5), (1390, -5), (1390, 9.5), (1500, 9.5), (1500, 30), (90, 30))
    shown = client.post("/achados/area/contar", data={"desenho": drawn, "fila": ""}).text
    assert f"<strong>{1 + MORE}</strong> achados a decidir" in shown
    assert "225,00\u00a0m" in shown
    assert "R$\u00a0337,50" in shown
    seen = shown.split('name="vistos" value="')[1].split('"')[0]
    assert "V00001-00002:0" in seen
    assert "V00001-00001" not in seen
    review.decide(workspace, {"V00001-00004": 0}, "upheld", by="Bia <i>Reis</i>", note="", now=NOW)
    no_reason = client.post("/achados/area/decidir", data={"decisao": "nao-procede", "vistos": seen, "motivo": " "})
    assert no_reason.status_code == 400
    hidden = client.post("/achados/area/decidir", data={"decisao": "procede", "vistos": seen, "motivo": "visto\x07"})
    assert hidden.status_code == 400
    assert "tem caracteres que não se veem" in hidden.text
    done = client.post(
        "/achados/area/decidir", data={"decisao": "nao-procede", "vistos": seen, "motivo": "ruído do GPS"}
    )
    assert f"{MORE} achados decididos: não procede." in done.text
    assert "V00001-00004</a>: procede, por Bia &lt;i&gt;Reis&lt;/i&gt;" in done.text
    states = {row.finding.id: row.state for row in review.list_findings(workspace, Query(), limit=20).rows}
    assert states["V00001-00002"] == "dismissed"
    assert states["V00001-00004"] == "upheld"
    assert states["V00001-00001"] == states["V00001-00003"] == "suspected"
    last = review.look_at(workspace, "V00001-00002").file.acts[-1]
    assert (last.by, last.note) == ("Ana Lima", "ruído do GPS")


def test_area_follows_the_filters_of_the_queue(reader):
    everywhere = ring((-50, -50), (3000, -50), (3000, 90), (-50, 90))
    few = reader.post("/achados/area/contar", data={"desenho": everywhere, "fila": "tipo=undeclared_equipment"}).text
    assert "<strong>1</strong> achado a decidir" in few
    none = reader.post("/achados/area/contar", data={"desenho": everywhere, "fila": "estado=dismissed"}).text
    assert "Nenhum achado a decidir" in none
    crossed = ring((0, 0), (100, 100), (100, 0), (0, 100))
    assert "cruza a si mesmo" in reader.post("/achados/area/contar", data={"desenho": crossed}).text


@pytest.mark.parametrize("seen", ["", "V00001-00001", "V00001-00001:0 <script>", "V00001-00001:x", "1:1"])
def test_decision_needs_what_was_shown(reader, seen):
    data = {"decisao": "procede", "vistos": seen, "motivo": "visto no local"}
    assert reader.post("/achados/area/decidir", data=data).status_code in (400, 422)
    assert (
        reader.post("/achados/area/decidir", data={**data, "vistos": "V00001-00001:0", "decisao": "x"}).status_code
        == 400
    )


# -- what lies under it


@pytest.fixture(scope="module")
def tile_folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("fundo")
    (folder / "tiles" / "15" / "1").mkdir(parents=True)
    (folder / "tiles" / "15" / "1" / "2.png").write_bytes(b"\x89PNG tile")
    (folder / "tiles" / "15" / "1" / "3.jpg").write_bytes(b"\xff\xd8 tile")
    (folder / "secret.png").write_bytes(b"secret")
    (folder / "tiles" / "15" / "1" / "4.png").symlink_to(folder / "secret.png")
    return folder / "tiles"


def test_background_is_a_folder_of_tiles(town, tile_folder):
    client = browser(app_of(town, background=tile_folder))
    assert client.get("/mapa/camadas.json").json()["fundo"] == {"arquivo": None, "zoom": [15, 15]}
    tile = client.get("/mapa/fundo/15/1/2")
    assert (tile.content, tile.headers["content-type"]) == (b"\x89PNG tile", "image/png")
    assert client.get("/mapa/fundo/15/1/3").headers["content-type"] == "image/jpeg"
    blank = client.get("/mapa/fundo/15/1/9")
    assert blank.status_code == 200
    assert blank.content.startswith(b"\x89PNG\r\n")
    assert blank.content != tile.content
    assert b"secret" not in client.get("/mapa/fundo/15/1/4").content  # a link that leads out of the folder
    for path in ("15/1/..%2f..%2fsecret", "15/../secret", "a/b/c"):
        assert client.get(f"/mapa/fundo/{path}").status_code in (404, 422)
    assert client.get("/mapa/fundo.pmtiles").status_code == 404


def test_background_is_a_file_of_images(town, tmp_path):
    file = tmp_path / "orto.pmtiles"
    header = bytearray(127)
    header[:8], header[99:102] = b"PMTiles\x03", bytes([3, 12, 19])
    file.write_bytes(bytes(header))
    client = browser(app_of(town, background=file))
    assert client.get("/mapa/camadas.json").json()["fundo"] == {"arquivo": "/mapa/fundo.pmtiles", "zoom": [12, 19]}
    assert client.get("/mapa/fundo.pmtiles", headers={"Range": "bytes=0-6"}).content == b"PMTiles"


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (None, "is not there"),
        (b"\x89PNG", "neither a folder"),
        (b"", "neither a folder"),
        ("vector", "vector tiles"),
        ("folder", "holds no folder"),
    ],
)
def test_background_that_cant_be_shown_is_refused_at_the_start(town, tmp_path, made, said):
    path = tmp_path / "fundo"
    if made == "folder":
        path.mkdir()
    elif made == "vector":
        path.write_bytes(b"PMTiles\x03" + bytes(91) + bytes([1, 0, 14]) + bytes(25))
    elif made is not None:
        path.write_bytes(made)
    answer = geobill("serve", "--port", "0", "--background", path, workspace=town)
    assert answer.code == 1
    assert said in answer.err


def test_amounts_of_an_area_are_exact(town):
    workspace = open_workspace(town)
    held = count_area(
        workspace, Query(), shapely.box(ORIGIN[0] - 10, ORIGIN[1] - 10, ORIGIN[0] + 5000, ORIGIN[1] + 100)
    )
    assert held.whole.count == 3 + MORE
    assert held.whole.month_amount == Decimal("1050.00") + MORE * Decimal("7.50")
    assert {kind: stake.count for kind, stake in held.by_kind.items()} == {
        "undeclared_segment": 2 + MORE,
        "undeclared_equipment": 1,
    }
