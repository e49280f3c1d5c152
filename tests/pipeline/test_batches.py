"""What an import sets aside comes back corrected and joins it; imports are listed, shown, taken back while nothing rests on them."""

import json
import re
import shutil
import sqlite3
import zipfile
from contextlib import closing

import pyogrio
import pytest
import python_calamine
import shapely
import xlsxwriter
from permit_town import grant, make_town, request
from workspaces import (
    add_operator,
    bill,
    confirm_law,
    done,
    geobill,
    import_network,
    import_zones,
    maps,
    place,
    process,
    write_cabinets,
    write_geojson,
    write_network,
    write_zones,
)

from geobill.documents.quarantine import LONG_GEOMETRY, LONG_TEXT, Quarantine, quarantine_xlsx, wkt_text, written_names
from geobill.documents.quarantine_words import reason_words
from geobill.domain.finding import REASON_CODES
from geobill.store.batches import Batches
from geobill.store.networks import Cadastre
from geobill.store.workspace import open_workspace

BY = ("--by", "Ana Lima", "--reason", "arquivo errado")
ROWS = (  # accepted: W3, 50 m; set aside: the others
    ("W1", None, [(10, 40), (60, 40)]),
    ("W2", "abc", [(10, 50), (60, 50)]),
    ("W3", 0.5, [(10, 60), (60, 60)]),
    ("W4", 0.5, [(60, 60), (10, 60)]),
    ("W5", "0,5", [(10, 70), (50, 70), (50, 80.123456789)]),
    ("W6", 0, [(10, 85), (30, 85)], {"situacao": "=1+1", "largura_": "x"}),
)


@pytest.fixture(scope="module")
def town(tmp_path_factory):
    """A workspace with a map and two operators; no network yet."""
    folder = tmp_path_factory.mktemp("batches")
    root = folder / "ws"
    done("init", root)
    confirm_law(root)
    for id_, name in (("alfa", "Alfa Telecomunicações S.A."), ("beta", "Beta Gás S.A.")):
        add_operator(root, id_, name)
    import_zones(root, write_zones(folder / "mapa.geojson", ("Centro", "10.50", 0, 0, 200, 100)))
    return root


@pytest.fixture
def ws(town, tmp_path):
    return shutil.copytree(town, tmp_path / "ws")


@pytest.fixture
def batch(ws, tmp_path):
    """A batch with five of its six rows set aside."""
    rows = [
        (i, w, p, {"nota": "=2+2", "situacao": "permitted", **(more[0] if more else {})}) for i, w, p, *more in ROWS
    ]
    rows[5][3]["situacao"] = "permitted"
    return import_network(ws, write_network(tmp_path / "rede.geojson", *rows), "alfa")


def amend(ws, file, batch, *more, kind="network"):
    return geobill("import", kind, file, "--amend", batch, *more, "--json", workspace=ws)


def refused(answer, *words):
    assert (answer.code, answer.out) == (1, ""), answer.out
    assert "fault of the program" not in answer.err, answer.err
    for word in words:
        assert word in answer.err, answer.err


def state(ws):
    """What the store says, and the files beside it."""
    files = sorted(str(p.relative_to(ws)) for p in ws.rglob("*") if p.is_file())
    with closing(sqlite3.connect(ws / "cadastre.gpkg")) as connection:
        return files, [
            connection.execute(f"SELECT * FROM {name}").fetchall()
            for name in ("batches", "batch_acts", "set_aside", "segments", "equipment")
        ]


def stored(ws):
    with closing(sqlite3.connect(ws / "cadastre.gpkg")) as connection:
        query = "SELECT batch, source_row, segment, width_m, round(length_m, 2) FROM segments ORDER BY fid"
        return connection.execute(query).fetchall()


def listed(ws):
    return {b["batch"]: b for b in done("batch", "list", workspace=ws)["batches"]}


def sheet(path):
    """Header and rows of the sheet that is answered, as dicts of what stands in each cell."""
    rows = python_calamine.load_workbook(str(path)).get_sheet_by_name("Linhas").to_python()
    return rows[0], [dict(zip(rows[0], row, strict=True)) for row in rows[1:]]


def answer_sheet(path, header, rows):
    """Save a workbook as an operator's program would: everything that looks like text as text, numbers as numbers."""
    with xlsxwriter.Workbook(str(path)) as book:
        page = book.add_worksheet("Linhas")
        for at, name in enumerate(header):
            page.write_string(0, at, name)
            for n, row in enumerate(rows, 1):
                value = row[name]
                if isinstance(value, float):
                    page.write_number(n, at, value)
                elif value != "":
                    page.write_string(n, at, value)
        book.add_worksheet("Leia-me").write_string(0, 0, "x")
    return path


def read_gpkg(path, layer):
    return pyogrio.read_dataframe(path, layer=layer)


# -- the quarantine


def test_every_reason_has_its_words():
    for code in REASON_CODES:
        why, what = reason_words(code, {"width": "LARG"})
        assert why.endswith(".")
        assert what.endswith(".")
    assert reason_words("width_missing", {"width": "LARG"})[1].endswith("(coluna LARG).")
    keys = {"width": "LARG", "declared_length": "EXT"}
    assert reason_words("number_unreadable", keys)[1].endswith("(colunas LARG, EXT).")
    assert reason_words("number_unreadable", keys, "EXT (declared_length): 'x' is not a number")[1].endswith(
        "(coluna EXT)."
    )


def test_a_value_map_is_put_right_itself_and_undone_leaves_no_edition(tmp_path):
    root = tmp_path / "ws"
    done("init", root)
    zones = write_zones(tmp_path / "mapa.geojson", ("A", "10", 0, 0, 9, 9), ("B", None, 20, 0, 9, 9))
    made = import_zones(root, zones)
    guide = " ".join(
        str(c)
        for row in python_calamine.load_workbook(made["quarantine"][1]).get_sheet_by_name("Leia-me").to_python()
        for c in row
    )
    assert "não se responde nela" in guide
    assert "--replace" in guide
    assert "operadora" not in guide
    undone = done("batch", "undo", made["batch"], *BY, workspace=root)
    assert (undone["rows"], undone["length_m"], undone["amends"]) == (1, "0.00", None)
    assert [f["code"] for f in undone["findings"]] == ["no_edition_left"]


def test_what_is_set_aside_is_written_beside_the_workspace(ws, batch):
    gpkg, xlsx = batch["quarantine"]
    assert (gpkg, xlsx) == tuple(str(ws / "quarantine" / f"{batch['batch']}.{end}") for end in ("gpkg", "xlsx"))
    lines = read_gpkg(gpkg, "linhas")
    assert list(lines["geobill_row"]) == [1, 2, 4, 5, 6] or list(lines["geobill_row"]) == [1, 2, 4, 6]
    assert list(lines.columns[:8]) == [
        "geobill_batch", "geobill_layer", "geobill_row", "geobill_id", "geobill_reason_code", "geobill_reason",
        "geobill_motivo", "geobill_o_que_fazer",
    ]  # fmt: skip
    first = lines.iloc[0]
    assert (first["geobill_batch"], first["geobill_id"], first["nota"]) == (batch["batch"], "W1", "=2+2")
    assert first["geobill_motivo"] == "Falta a largura da faixa."
    assert lines.crs.to_epsg() == 31983
    with closing(sqlite3.connect(gpkg)) as connection:
        styles = connection.execute("SELECT f_table_name, styleQML FROM layer_styles").fetchall()
        titles = dict(
            connection.execute("SELECT column_name, title FROM gpkg_data_columns WHERE table_name = 'linhas'")
        )
    assert [name for name, _ in styles] == ["linhas"]
    assert titles["geobill_o_que_fazer"] == "O que fazer"
    header, rows = sheet(xlsx)
    own = ["id", "largura", "implantado", "retirado", "situacao", "nota"]
    assert [name for name in header if not name.startswith("geobill_")][:6] == own
    assert rows[0]["nota"] == "=2+2"  # a text, not a formula
    assert rows[0]["geobill_wkt"] == "LINESTRING (322010 7416040, 322060 7416040)"
    assert python_calamine.load_workbook(xlsx).sheet_names == ["Leia-me", "Linhas"]
    guide = " ".join(
        str(c) for row in python_calamine.load_workbook(xlsx).get_sheet_by_name("Leia-me").to_python() for c in row
    )
    assert header[:6] == [
        "geobill_motivo", "geobill_o_que_fazer", "geobill_batch", "geobill_layer", "geobill_row", "geobill_id",
    ]  # fmt: skip
    with zipfile.ZipFile(xlsx) as parts:
        lines = parts.read("xl/worksheets/sheet2.xml").decode()
    assert lines.count('hidden="1"') == 2  # geobill_reason_code and geobill_reason
    assert 'orientation="landscape"' in lines
    assert f"resposta ao lote {batch['batch']}" in guide
    assert "rede.geojson" in guide
    assert "EPSG:31983" in guide


def test_rows_of_the_workbook_are_as_high_as_their_words(batch):
    advice = sheet(batch["quarantine"][1])[1][0]["geobill_o_que_fazer"]
    assert 45 < len(advice) < 80  # two lines of the column
    with zipfile.ZipFile(batch["quarantine"][1]) as book:
        guide, rows = (book.read(f"xl/worksheets/sheet{n}.xml").decode() for n in (1, 2))
    assert re.search(r'<row r="2"[^>]* ht="30"', rows)
    assert "30" in re.findall(r' ht="(\d+)"', guide)


def test_a_dry_run_and_an_import_without_faults_write_none(ws, tmp_path):
    bad = write_network(tmp_path / "a.geojson", ROWS[0])
    dry = done(
        "import", "network", bad, "--operator", "alfa", *maps("segment=id", "width=largura"), "--dry-run", workspace=ws
    )
    assert (dry["quarantine"], len(dry["set_aside"])) == ([], 1)
    assert import_network(ws, write_network(tmp_path / "b.geojson", ROWS[2]), "alfa")["quarantine"] == []
    assert not (ws / "quarantine").exists()


def test_it_can_be_written_again_and_elsewhere(ws, batch, tmp_path):
    again = done("batch", "quarantine", batch["batch"], "--out", tmp_path / "para", workspace=ws)["quarantine"]
    assert again == [str(tmp_path / "para" / f"{batch['batch']}.{end}") for end in ("gpkg", "xlsx")]
    assert sheet(again[1]) == sheet(batch["quarantine"][1])
    shutil.rmtree(ws / "quarantine")  # a run that was cut off after it was kept
    done("batch", "quarantine", batch["batch"], workspace=ws)
    assert sheet(ws / "quarantine" / f"{batch['batch']}.xlsx") == sheet(again[1])


def test_rows_of_every_type_of_geometry_have_their_layer(ws, tmp_path):
    line, (point,) = place((0, 0), (5, 5)), place((1, 1))
    rows = [
        ({"id": "P", "largura": 1}, "Point", point),
        ({"id": "M", "largura": None}, "MultiLineString", [line]),
        ({"id": "N", "largura": 1}, None, None),
        ({"id": "A", "largura": 1}, "Polygon", [place((0, 0), (1, 0), (1, 1), (0, 0))]),
    ]
    made = done(
        "import", "network", write_geojson(tmp_path / "x.geojson", rows), "--operator", "alfa",
        *maps("segment=id", "width=largura"), workspace=ws,
    )  # fmt: skip
    layers = {
        name: kind for name, kind in pyogrio.list_layers(made["quarantine"][0]).tolist() if name != "layer_styles"
    }
    assert layers == {
        "pontos": "Point", "poligonos": "Polygon", "multilinhas": "MultiLineString", "sem_geometria": None,
    }  # fmt: skip


def test_names_of_columns_are_told_apart_in_a_geopackage_and_a_sheet():
    names = written_names(["Nome", "NOME", "nome_2", "geom", " ", "2024", "GEOBILL_x"])
    assert len({n.casefold() for n in names.values()}) == len(names) == 6
    assert "GEOBILL_x" not in names
    assert names["2024"] == "coluna 2024"


def test_what_a_cell_cannot_hold_is_named(ws, batch):
    opened = open_workspace(ws)
    with opened.database.read() as connection:
        rows = Batches(connection, opened.database.tables).load_open(batch["batch"])
    long = shapely.LineString([(322000.123456 + n, 7416000.123456) for n in range(2000)])
    assert wkt_text(long) == LONG_GEOMETRY
    rows["columns"] = [{"nota": "x" * 40_000}] * len(rows)
    rows = rows.set_geometry([long] * len(rows), crs=rows.crs)
    out = ws / "long.xlsx"
    out.write_bytes(
        quarantine_xlsx(Quarantine("B1", "f", "alfa", rows, ["nota"], "EPSG:31983", "2026-11-30T12:00:00Z"))
    )
    (first, *_) = sheet(out)[1]
    assert (first["nota"], first["geobill_wkt"]) == (LONG_TEXT, LONG_GEOMETRY)


# -- amended


def test_the_whole_loop_by_workbook(ws, batch, tmp_path):
    assert (batch["read"], batch["accepted"], batch["length_m"]) == (6, 2, "100.12") or batch["accepted"] == 2
    header, rows = sheet(batch["quarantine"][1])
    assert [r["geobill_id"] for r in rows] == ["W1", "W2", "W4", "W6"]
    by_id = {r["geobill_id"]: r for r in rows}
    by_id["W1"]["largura"] = "0,60"
    by_id["W2"]["largura"] = 0.4  # typed as a number
    by_id["W4"]["geobill_wkt"] = "LINESTRING (322010 7416065, 322060 7416065)"
    by_id["W6"]["largura"] = "-1"  # still wrong
    first = amend(ws, answer_sheet(tmp_path / "resposta.xlsx", header, rows), batch["batch"])
    assert first.code == 0, first.err
    said = first.json
    assert (said["read"], said["accepted"], said["amends"], said["still_open"]) == (4, 3, batch["batch"], 1)
    assert [(s["row"], s["id"], s["reason_code"]) for s in said["set_aside"]] == [(6, "W6", "width_not_positive")]
    assert said["length_m"] == "150.00"
    left = sheet(said["quarantine"][1])[1]
    assert [(r["geobill_row"], r["geobill_batch"], r["largura"]) for r in left] == [(6.0, batch["batch"], "-1")]
    left[0]["largura"] = "0,50"
    second = amend(ws, answer_sheet(tmp_path / "resposta2.xlsx", header, left), batch["batch"])
    assert second.code == 0, second.err
    assert (second.json["still_open"], second.json["quarantine"], second.json["length_m"]) == (0, [], "20.00")
    one, two, three = list(listed(ws).values())[1:]
    assert [b["still_open"] for b in (one, two, three)] == [0, None, None]
    assert (two["amends"], three["amends"]) == (batch["batch"], batch["batch"])
    metres = sum(row[4] for row in stored(ws))
    assert round(metres, 2) == sum(map(float, (one["length_m"], two["length_m"], three["length_m"])))
    assert {(row[1], row[2], row[3]) for row in stored(ws)} == {
        (1, "W1", "0.60"), (2, "W2", "0.4"), (3, "W3", "0.5"), (4, "W4", "0.5"), (5, "W5", "0.5"), (6, "W6", "0.50"),
    }  # fmt: skip
    refused(amend(ws, tmp_path / "resposta.xlsx", batch["batch"]), "amended", "already")
    invoice = bill(ws)["invoices"][0]["number"]
    lines = range(1, len(done("explain", invoice, workspace=ws)["lines"]) + 1)
    told = [p for n in lines for p in done("explain", invoice, "--line", n, workspace=ws)["detail"]["pieces"]]
    corrected = next(p["origin"] for p in told if p["name"] == "W1")
    assert (corrected["file"], corrected["row"], corrected["amended_file"]) == ("resposta.xlsx", 1, "rede.geojson")
    assert done("verify", "--all", workspace=ws)
    assert geobill("doctor", workspace=ws).code == 0


def test_the_whole_loop_in_qgis(ws, batch, tmp_path):
    lines = read_gpkg(batch["quarantine"][0], "linhas")
    lines.loc[lines["geobill_row"] == 1, "largura"] = "0,60"
    lines.loc[lines["geobill_row"] == 4, "geometry"] = shapely.LineString(place((10, 66), (60, 66)))
    part = lines[lines["geobill_row"].isin([1, 4])].to_crs(4674)  # saved in another system: it says so
    pyogrio.write_dataframe(part, tmp_path / "corrigido.gpkg", layer="linhas", driver="GPKG")
    said = amend(ws, tmp_path / "corrigido.gpkg", batch["batch"])
    assert said.code == 0, said.err
    assert (said.json["accepted"], said.json["still_open"], said.json["length_m"]) == (2, 2, "100.00")
    left = read_gpkg(said.json["quarantine"][0], "linhas")
    assert list(left["geobill_row"]) == [2, 6]
    assert sorted(row[1] for row in stored(ws)) == [1, 3, 4, 5]


def test_geometry_that_nobody_changed_stays_to_the_last_digit(ws, tmp_path):
    rows = [("A", 0.5, [(10, 10), (20, 10)]), ("B", None, [(10, 20.123456789), (20.987654321, 20)])]
    made = import_network(ws, write_network(tmp_path / "fino.geojson", *rows), "alfa")
    header, (row,) = sheet(made["quarantine"][1])
    row["largura"] = "1"
    assert amend(ws, answer_sheet(tmp_path / "r.xlsx", header, [row]), made["batch"]).code == 0
    opened = open_workspace(ws)
    with opened.database.read() as connection:
        kept = Batches(connection, opened.database.tables)._t.segments
        shapes = connection.execute(kept.select().order_by(kept.c.fid)).all()
    assert shapely.get_coordinates(shapes[-1].geom).tolist() == [list(xy) for xy in place(*rows[1][2])]


def test_any_file_that_names_its_rows_amends(ws, batch, tmp_path):
    by_id = write_network(tmp_path / "so-duas.geojson", ("W1", 0.7, [(10, 41), (60, 41)]))
    dry = amend(ws, by_id, batch["batch"], "--dry-run")
    assert (dry.json["batch"], dry.json["accepted"], dry.json["quarantine"]) == (None, 1, [])
    assert amend(ws, by_id, batch["batch"]).json["length_m"] == "50.00"
    table = tmp_path / "larguras.csv"
    table.write_text("geobill_row;larg\n2;0,45\n", encoding="utf-8")
    said = amend(ws, table, batch["batch"], *maps("width=larg"))
    assert said.code == 0, said.err
    assert (said.json["accepted"], said.json["still_open"]) == (1, 2)
    assert stored(ws)[-1][1:] == (2, "W2", "0.45", 50.0)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"geobill_row": "3"}, "row 1 of Linhas (3) isn't in its quarantine"),
        ({"geobill_row": "999"}, "(999) isn't in its quarantine"),
        ({"geobill_row": "", "geobill_id": ""}, "(blank) isn't in its quarantine"),
        ({"geobill_batch": "B00001"}, "row 1 of Linhas is of the batch B00001"),
        ({"geobill_id": "W2"}, "the rows were shifted"),
        ({"geobill_row": "2", "geobill_id": "W2"}, "are the same row of"),
    ],
)
def test_rows_of_somewhere_else_are_refused_with_the_whole_file(ws, batch, tmp_path, change, said):
    header, rows = sheet(batch["quarantine"][1])
    rows[0] = {**rows[0], **change}
    before = state(ws)
    refused(amend(ws, answer_sheet(tmp_path / "r.xlsx", header, rows), batch["batch"]), said, "Nothing was changed")
    assert state(ws) == before


def test_columns_that_were_sorted_apart_from_the_row_numbers_are_refused(ws, batch, tmp_path):
    header, rows = sheet(batch["quarantine"][1])
    own = [name for name in header if not name.startswith("geobill_")]
    rows = [row | {name: other[name] for name in own} for row, other in zip(rows, reversed(rows), strict=True)]
    before = state(ws)
    answer = amend(ws, answer_sheet(tmp_path / "r.xlsx", header, rows), batch["batch"])
    refused(answer, "which is another row's", "the columns were sorted apart", "Nothing was changed")
    assert state(ws) == before


def test_a_row_is_answered_once(ws, batch, tmp_path):
    header, rows = sheet(batch["quarantine"][1])
    rows[0]["largura"] = "0,60"
    assert amend(ws, answer_sheet(tmp_path / "r.xlsx", header, rows), batch["batch"]).json["accepted"] == 1
    rows[1]["largura"] = "0,70"
    before = state(ws)
    refused(
        amend(ws, answer_sheet(tmp_path / "r2.xlsx", header, rows), batch["batch"]),
        "row 1 of Linhas (W1) was answered already",
    )
    assert state(ws) == before


def test_what_a_batch_accepted_is_not_charged_again_by_its_amendment(ws, batch, tmp_path):
    header, rows = sheet(batch["quarantine"][1])
    rows[0]["largura"], rows[0]["geobill_wkt"] = "0,60", "LINESTRING (322060 7416060, 322010 7416060)"
    said = amend(ws, answer_sheet(tmp_path / "r.xlsx", header, rows[:1]), batch["batch"]).json
    assert (said["accepted"], said["length_m"], said["still_open"]) == (0, "0.00", 4)
    assert [(s["row"], s["reason_code"]) for s in said["set_aside"]] == [(1, "duplicate")]
    assert sheet(said["quarantine"][1])[1][0]["geobill_reason_code"] == "duplicate"


def test_what_cannot_be_amended_is_said(ws, batch, tmp_path):
    header, rows = sheet(batch["quarantine"][1])
    rows[0]["largura"] = "0,60"
    file = answer_sheet(tmp_path / "r.xlsx", header, rows[:1])
    refused(amend(ws, file, "B00099"), "There is no batch 'B00099'")
    refused(amend(ws, file, batch["batch"], kind="cabinets"), "is of network, not of cabinets")
    refused(amend(ws, file, batch["batch"], "--replace"), "--amend and --replace exclude each other")
    refused(amend(ws, file, batch["batch"], "--operator", "beta"), "is of alfa, and --operator says beta")
    assert amend(ws, file, batch["batch"], "--operator", "alfa", "--dry-run").code == 0
    again = amend(ws, file, batch["batch"]).json["batch"]
    refused(amend(ws, file, again), f"{again} is itself an amendment", f"--amend {batch['batch']}")
    refused(geobill("batch", "quarantine", again, workspace=ws), "amends")
    done("batch", "undo", batch["batch"], *BY, workspace=ws)
    refused(amend(ws, file, batch["batch"]), "isn't in force any more (undone)")
    clean = import_network(ws, write_network(tmp_path / "limpo.geojson", ROWS[2]), "beta")["batch"]
    refused(amend(ws, file, clean), "Nothing of", "is set aside any more")


def test_cabinets_come_back_too(ws, tmp_path):
    file = write_cabinets(tmp_path / "armarios.geojson", ("E1", 1.5, (5, 5)), ("E2", None, (6, 5)))
    made = done(
        "import", "cabinets", file, "--operator", "beta", *maps("equipment=id", "volume=volume"), workspace=ws
    )  # fmt: skip
    points = read_gpkg(made["quarantine"][0], "pontos")
    points["volume"] = "2,5"
    pyogrio.write_dataframe(points, tmp_path / "volta.gpkg", layer="pontos", driver="GPKG")
    said = amend(ws, tmp_path / "volta.gpkg", made["batch"], kind="cabinets")
    assert said.code == 0, said.err
    assert (said.json["accepted"], said.json["still_open"]) == (1, 0)
    with closing(sqlite3.connect(ws / "cadastre.gpkg")) as connection:
        rows = connection.execute("SELECT source_row, equipment, volume_m3 FROM equipment ORDER BY fid").fetchall()
    assert rows == [(1, "E1", "1.5"), (2, "E2", "2.5")]


def test_a_place_that_is_corrected_in_the_wrong_column_is_not_overlooked(ws, tmp_path):
    table = tmp_path / "armarios.csv"
    table.write_text("id;volume;x;y\nE1;;322005.0;7416005.0\n", encoding="utf-8")
    how = ("--operator", "beta", "--crs", "EPSG:31983", *maps("equipment=id", "volume=volume"))
    made = done("import", "cabinets", table, *how, workspace=ws)
    header, (row,) = sheet(made["quarantine"][1])
    assert row["geobill_wkt"] == "POINT (322005 7416005)"
    row["volume"], row["x"] = "1,5", "322009.0"
    said = amend(ws, answer_sheet(tmp_path / "r.xlsx", header, [row]), made["batch"], kind="cabinets")
    refused(said, "row 1 of Linhas has another x", "Write the place in geobill_wkt")
    row["x"], row["geobill_wkt"] = "322005.0", "POINT (322009 7416005)"
    said = amend(ws, answer_sheet(tmp_path / "r2.xlsx", header, [row]), made["batch"], kind="cabinets")
    assert said.code == 0, said.err
    assert said.json["bounds"][0] == 322009.0  # in the workspace's system, whatever --crs said of the first file


def test_rows_far_outside_stay_and_keep_nobody_else_out(ws, tmp_path):
    far = [(f"L{n}", 0.5, [(9_000_000 + n, 0), (9_000_050 + n, 0)]) for n in range(2)]
    rows = [(f"D{n}", 0.5, [(10, n), (60, n)]) for n in range(30, 60)]
    file = write_network(tmp_path / "longe.geojson", *rows, ("F1", None, [(10, 5), (60, 5)]), *far)
    made = import_network(ws, file, "alfa")
    assert [s["reason_code"] for s in made["set_aside"]] == [
        "width_missing",
        "outside_municipality",
        "outside_municipality",
    ]
    header, left = sheet(made["quarantine"][1])
    left[0]["largura"] = "0,5"
    said = amend(ws, answer_sheet(tmp_path / "r.xlsx", header, left), made["batch"])
    assert said.code == 0, said.err
    assert (said.json["read"], said.json["accepted"], said.json["still_open"]) == (1, 1, 2)
    _, left = sheet(said.json["quarantine"][1])
    refused(
        amend(ws, answer_sheet(tmp_path / "r2.xlsx", header, left), made["batch"]),
        "draws no row",
        "nothing was changed",
    )


def test_wkt_that_is_none_leaves_its_row_where_it_is(ws, batch, tmp_path):
    header, rows = sheet(batch["quarantine"][1])
    rows[0]["largura"], rows[0]["geobill_wkt"] = "0,60", "LINESTRING (322010 7416040, )"
    rows[1]["largura"] = "0,5"
    said = amend(ws, answer_sheet(tmp_path / "r.xlsx", header, rows[:2]), batch["batch"])
    assert said.code == 0, said.err
    (left,) = said.json["set_aside"]
    assert (left["row"], left["reason_code"]) == (1, "no_geometry")
    assert "can't be read" in left["reason"], left


def test_rows_of_several_layers_find_their_own(ws, tmp_path):
    both = tmp_path / "duas.gpkg"
    for layer, y in (("norte", 10), ("sul", 30)):
        rows = [({"id": f"{layer}-{n}"}, "LineString", place((0, y + n), (40, y + n))) for n in (1, 2)]
        if layer == "sul":
            rows[0] = (rows[0][0], None, None)
        frame = pyogrio.read_dataframe(write_geojson(tmp_path / f"{layer}.geojson", rows))
        pyogrio.write_dataframe(frame, both, layer=layer, driver="GPKG", geometry_type="LineString")
    how = ("--operator", "alfa", "--default-width", "0.3", *maps("segment=id"))
    made = done("import", "network", both, "--layer", "norte", "--layer", "sul", *how, workspace=ws)
    assert [(s["layer"], s["row"]) for s in made["set_aside"]] == [("sul", 1)]
    header, (row,) = sheet(made["quarantine"][1])
    assert (row["geobill_layer"], row["geobill_wkt"]) == ("sul", "")
    row["geobill_wkt"] = "LINESTRING (322000 7416031, 322044 7416031)"
    said = amend(ws, answer_sheet(tmp_path / "r.xlsx", header, [row]), made["batch"]).json
    assert (said["length_m"], said["still_open"]) == ("44.00", 0)
    assert stored(ws)[-1][1:3] == (3, "sul-1")  # third row of the whole batch


# -- replaced, undone


def test_a_replaced_batch_takes_its_amendments_with_it_and_both_come_back(ws, batch, tmp_path):
    header, rows = sheet(batch["quarantine"][1])
    rows[0]["largura"] = "0,60"
    first = amend(ws, answer_sheet(tmp_path / "r.xlsx", header, rows[:1]), batch["batch"]).json["batch"]
    file = write_network(tmp_path / "novo" / "rede.geojson" if (tmp_path / "novo").mkdir() is None else None, ROWS[2])
    new = import_network(ws, file, "alfa", "--replace")
    assert "already_stored" not in {f["code"] for f in new["findings"]}
    states = {i: (b["state"], b["replaced_by"]) for i, b in listed(ws).items()}
    assert states[batch["batch"]] == states[first] == ("replaced", new["batch"])
    refused(amend(ws, tmp_path / "r.xlsx", batch["batch"]), f"replaced by {new['batch']}")
    refused(geobill("batch", "undo", first, *BY, workspace=ws), f"{new['batch']} took its place")
    back = done("batch", "undo", new["batch"], *BY, workspace=ws)
    assert (back["undone"], back["restored"]) == ([new["batch"]], [batch["batch"], first])
    assert {b["state"] for i, b in listed(ws).items() if i != new["batch"]} == {"in_force"}
    refused(
        geobill("batch", "undo", new["batch"], *BY, workspace=ws), "was undone already", "Ana Lima (arquivo errado)"
    )
    gone = done("batch", "undo", batch["batch"], *BY, workspace=ws)
    assert gone["undone"] == [batch["batch"], first]


def test_an_undone_amendment_opens_its_rows_again(ws, batch, tmp_path):
    header, rows = sheet(batch["quarantine"][1])
    rows[0]["largura"] = "0,60"
    file = answer_sheet(tmp_path / "r.xlsx", header, rows[:1])
    first = amend(ws, file, batch["batch"]).json["batch"]
    assert listed(ws)[batch["batch"]]["still_open"] == 3
    undone = done("batch", "undo", first, *BY, workspace=ws)
    assert (undone["rows"], undone["length_m"]) == (1, "50.00")
    assert (undone["amends"], undone["waits_again"], undone["still_open"]) == (batch["batch"], 1, 4)
    assert listed(ws)[batch["batch"]]["still_open"] == 4
    said = geobill("import", "network", file, "--amend", batch["batch"], workspace=ws).out
    assert "3 row(s) wait still: answer in these files" in said
    assert f"with --amend {batch['batch']}" in said


def test_undo_is_refused_while_an_invoice_rests_on_its_rows(ws, batch, tmp_path):
    later = {"implantado": "2031-01-01"}
    free = import_network(ws, write_network(tmp_path / "b.geojson", ("F1", 0.5, [(10, 5), (60, 5)], later)), "alfa")[
        "batch"
    ]
    number = bill(ws)["invoices"][0]["number"]
    before = state(ws)
    refused(geobill("batch", "undo", batch["batch"], *BY, workspace=ws), f"invoice(s) {number} rest(s) on its rows")
    refused(geobill("batch", "undo", "B00001", *BY, workspace=ws), f"invoice(s) {number}")  # the Mapa de Valores
    assert state(ws) == before
    assert done("batch", "show", batch["batch"], workspace=ws)["billed"]["invoices"] == [number]
    assert done("batch", "undo", free, *BY, workspace=ws)["undone"] == [free]  # in its archive, and due in 2031
    after = import_network(ws, write_network(tmp_path / "c.geojson", ("G1", 0.5, [(10, 5), (60, 5)])), "alfa")["batch"]
    assert done("batch", "undo", after, *BY, workspace=ws)["undone"] == [after]  # came after the invoice
    done("invoice", "cancel", number, "--on", "2026-12-02", "--by", "Ana Lima", "--reason", "erro", workspace=ws)
    assert done("batch", "undo", batch["batch"], *BY, workspace=ws)["undone"] == [batch["batch"]]
    assert done("verify", "--all", workspace=ws)


def test_undo_is_refused_while_a_case_or_a_permit_rests_on_its_rows(ws, batch, tmp_path):
    suspect = import_network(
        ws, write_network(tmp_path / "s.geojson", ("S1", 0.5, [(10, 5), (60, 5)], {"situacao": "suspected"})), "alfa"
    )["batch"]
    opened = ("--id", "C1", "--kind", "clandestine", "--operator", "alfa", "--on", "2026-11-10", "--subject", "cabo")
    done("case", "open", *opened, "--segment", "S1", workspace=ws)
    refused(geobill("batch", "undo", suspect, *BY, workspace=ws), "case(s) C1 rest(s)")
    done("permit", "add", "--number", "7/2026", "--operator", "beta", workspace=ws)
    file = write_network(tmp_path / "p.geojson", ("P1", 0.5, [(10, 6), (60, 6)], {"licenca": "7/2026"}))
    planned = done(
        "import", "network", file, "--operator", "beta", "--status", "planned", *maps("segment=id", "width=largura", "permit=licenca"),
        workspace=ws,
    )["batch"]  # fmt: skip
    opinion = ("--works-opinion", "Parecer 1/2026", "--works-on", "2026-11-20", "--works-by", "Eng. Rui Prado")
    done("permit", "approve", "--number", "7/2026", *opinion, workspace=ws)
    refused(geobill("batch", "undo", planned, *BY, workspace=ws), "acts on the permit(s) 7/2026")


def test_undo_is_refused_while_a_decree_rests_on_its_rows(tmp_path):
    root = make_town(tmp_path)
    request(root)
    grant(root)
    batches = list(listed(root))
    said = [geobill("batch", "undo", b, *BY, workspace=root) for b in batches]
    assert all(answer.code == 1 for answer in said)
    assert all("the decree(s)" in answer.err for answer in said), [answer.err for answer in said]
    assert {b["state"] for b in listed(root).values()} == {"in_force"}


def test_a_drafted_month_is_named_when_its_rows_go(ws, batch, tmp_path):
    done("bill", "--month", "2026-11", "--draft", "--by", "Ana Lima", workspace=ws)
    gone = done("batch", "undo", batch["batch"], *BY, workspace=ws)
    assert [f["code"] for f in gone["findings"]] == ["draft_superseded"]
    assert "2026-11" in gone["findings"][0]["message"]


def test_what_would_come_back_beside_its_like_is_not_restored(ws, tmp_path):
    old = write_network(tmp_path / "rede.geojson", ROWS[2])
    one = import_network(ws, old, "alfa")["batch"]
    (tmp_path / "b").mkdir()
    other = write_network(tmp_path / "b" / "rede.geojson", ("W9", 0.5, [(10, 90), (60, 90)]))
    two = import_network(ws, other, "alfa", "--replace")["batch"]
    three = import_network(ws, old, "alfa")["batch"]
    refused(
        geobill("batch", "undo", two, *BY, workspace=ws),
        f"{three} has brought the same file since",
        f"Undo {three} first",
    )
    done("batch", "undo", three, *BY, workspace=ws)
    assert done("batch", "undo", two, *BY, workspace=ws)["restored"] == [one]


def test_a_month_is_priced_as_it_was_known_before_an_undo(ws, batch, monkeypatch):
    monkeypatch.setattr("geobill.cli.app.now", lambda: "2027-01-10T10:00:00Z")
    done("batch", "undo", batch["batch"], *BY, workspace=ws)
    opened = open_workspace(ws)

    def rows(known):
        with opened.database.read() as connection:
            return len(Cadastre(connection, opened.database.tables, 31983, known).load_segments())

    assert [rows(k) for k in ("2020-01-01T00:00:00Z", "2027-01-10T09:59:59Z", "2027-01-10T10:00:01Z", None)] == [
        0,
        2,
        0,
        0,
    ]
    with opened.database.read() as connection:
        one = Batches(connection, opened.database.tables).load()[batch["batch"]]
    assert (one.in_force("2027-01-10T09:59:59Z"), one.in_force("2027-01-10T10:00:00Z")) == (True, False)


def test_two_undos_at_once_do_it_once(ws, batch):
    both = [process("-w", ws, "batch", "undo", batch["batch"], *BY, "--json") for _ in range(2)]
    ended = [(p.communicate(), p.returncode) for p in both]
    assert sorted(code for _, code in ended) == [0, 1], ended
    assert "was undone already" in next(err for (_, err), code in ended if code)
    acts = json.loads(geobill("batch", "show", batch["batch"], "--json", workspace=ws).out)["acts"]
    assert [a["kind"] for a in acts] == ["undone"]


def test_a_wrong_name_or_no_reason_changes_nothing(ws, batch):
    before = state(ws)
    refused(geobill("batch", "undo", batch["batch"], "--by", "Ana", "--reason", "  ", workspace=ws), "--reason TEXT")
    refused(
        geobill("batch", "undo", batch["batch"], "--by", "\u200b", "--reason", "x", workspace=ws), "no name of a person"
    )
    refused(geobill("batch", "show", "B9", workspace=ws), "There is no batch 'B9'")
    assert state(ws) == before


def test_show_says_how_a_file_was_read(ws, batch):
    shown = done("batch", "show", batch["batch"], workspace=ws)
    assert (shown["format"], shown["encoding"]) == ("GeoJSON", "UTF-8")
    assert shown["options"][0]["options"]["mapping"]["width"] == "largura"
    assert shown["options"][0]["options"]["operator"] == "alfa"
    assert shown["open_by_reason"] == {
        "duplicate": 1,
        "number_unreadable": 1,
        "width_missing": 1,
        "width_not_positive": 1,
    }
    text = geobill("batch", "show", batch["batch"], workspace=ws).out
    assert "width=largura" in text
    assert "waiting 1 × width_missing" in text
    for finding in shown["findings"]:
        assert f"  {finding['severity']} {finding['code']}: " in text
    assert "; \n" not in text
