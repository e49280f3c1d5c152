"""What must be refused or set aside: the message says what, why and what to do; nothing is changed; no trace is shown."""

import json
import warnings

import geopandas as gpd
import pytest
import shapely
from pricing.shapes import ORIGIN
from workspaces import (
    CABINET_MAP,
    NETWORK_MAP,
    add_operator,
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

GOOD = ("X1", 0.5, [(10, 50), (90, 50)])
EDITION = ("--edition", "2030", "--in-force-from", "2030-01-01")
DECISION = (
    "--id",
    "D9",
    "--number",
    "1",
    "--date",
    "2026-01-01",
    "--signatory",
    "Prefeita",
    "--question",
    "above_100_km",
)


def snapshot(workspace):
    """Every file of a workspace with its bytes."""
    return {p: p.read_bytes() for p in workspace.rglob("*") if p.is_file()} if workspace.is_dir() else None


def refused(*args, workspace, says):
    """Run a command that must be refused, saying all of these, and change nothing."""
    before = snapshot(workspace)
    answer = geobill(*args, workspace=workspace)
    assert (answer.code, answer.out) == (1, ""), answer.err or answer.out
    assert answer.err.splitlines()[-1].startswith("geobill: ")
    for words in ("Traceback", "fault of the program"):
        assert words not in answer.err
    for words in says:
        assert words in answer.err
    assert snapshot(workspace) == before


def network(file, *more, operator="alfa"):
    return ("import", "network", file, *(("--operator", operator) if operator else ()), *maps(*NETWORK_MAP), *more)


def lines_file(path, dx=0.0, dy=0.0, crs=31983):
    """Write a Shapefile with one line near the tests' origin, in metres, with or without a coordinate system."""
    line = shapely.LineString([(ORIGIN[0] + dx, ORIGIN[1] + dy), (ORIGIN[0] + dx + 80, ORIGIN[1] + dy)])
    columns = {
        c: [v]
        for c, v in (("id", "X1"), ("largura", 0.5), ("implantado", None), ("retirado", None), ("situacao", None))
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # pyogrio's, about the missing system
        gpd.GeoDataFrame(columns, geometry=[line], crs=crs).to_file(path)
    return path


# -- where the file lies


def test_a_file_without_a_coordinate_system(workspace, tmp_path):
    file = lines_file(tmp_path / "rede.shp", crs=None)
    refused(*network(file), workspace=workspace, says=["coordinate system", "EPSG:31983", "--crs"])
    assert done(*network(file, "--crs", "EPSG:31983"), workspace=workspace)["length_m"] == "80.00"


def test_degrees_where_metres_are_declared(workspace, tmp_path):
    degrees = [[-46.73, -23.36], [-46.729, -23.36]]
    row = ({"id": "X1", "largura": 0.5, "implantado": None, "retirado": None, "situacao": None}, "LineString", degrees)
    file = write_geojson(tmp_path / "graus.geojson", [row])
    refused(*network(file), workspace=workspace, says=["Caieiras", "EPSG:4674", "--crs"])


def test_a_network_600_km_away(workspace, tmp_path):
    file = lines_file(tmp_path / "longe.shp", dx=-300_000, dy=-520_000)
    refused(*network(file), workspace=workspace, says=["lie outside Caieiras", "another town"])


@pytest.mark.parametrize("crs", ["EPSG:999999", "31983x", "EPSG:", "EPSG:4978"])
def test_a_coordinate_system_that_does_not_exist(workspace, tmp_path, crs):
    file = write_network(tmp_path / "rede.geojson", GOOD)
    refused(*network(file, "--crs", crs), workspace=workspace, says=["EPSG:31983"])


def test_a_value_map_elsewhere(workspace, tmp_path):
    file = write_zones(tmp_path / "mapa.geojson", ("Z", 1, -300_000, -500_000, -299_000, -499_000))
    args = ("import", "land-values", file, *EDITION, *maps("zone=zona", "land_value=valor"))
    refused(*args, workspace=workspace, says=["Caieiras"])


# -- rows that can't be used


def test_case_12_sets_every_bad_row_aside_with_its_reason(tmp_path, shared):
    case = shared / "cases" / "pricing" / "12-bad-rows"
    expected = json.loads((case / "case.json").read_text(encoding="utf-8"))["expected"]
    root = tmp_path / "ws"
    done("init", root)
    add_operator(root, "alfa", "Alfa Telecomunicações S.A.")
    named = maps("zone=zona", "land_value=valor_m2")
    done(
        "import",
        "land-values",
        case / "land_values.geojson",
        "--edition",
        "2026",
        "--in-force-from",
        "2001-01-01",
        *named,
        workspace=root,
    )
    columns = (
        "segment=id_trecho",
        "width=largura_m",
        "operator=entidade",
        "installed_on=implantado",
        "removed_on=retirado",
    )
    report = done("import", "network", case / "network.geojson", *maps(*columns, "status=situacao"), workspace=root)
    codes = {
        "width missing": "width_missing",
        "width not positive": "width_not_positive",
        "no geometry": "no_geometry",
        "zero length": "zero_length",
        "duplicate of S1": "duplicate",
        "not a line": "wrong_geometry_type",
    }
    assert {s["id"]: s["reason_code"] for s in report["set_aside"]} == {
        k: codes[v] for k, v in expected["set_aside"].items()
    }
    assert all(s["reason"] and s["row"] for s in report["set_aside"])
    assert (report["read"], report["accepted"]) == (expected["read"], expected["accepted"]) == (7, 1)
    priced = done("price", "--month", "2026-11", workspace=root)
    assert priced["operators"][0]["total"] == expected["total"]


def test_a_value_map_with_nulls_bow_ties_and_overlaps(workspace, tmp_path):
    def ring(*xy):
        return [place(*xy, xy[0])]

    rows = [
        ({"zona": "boa", "valor": "10"}, "Polygon", ring((0, 0), (50, 0), (50, 50), (0, 50))),
        ({"zona": "sem valor", "valor": None}, "Polygon", ring((60, 0), (90, 0), (90, 50), (60, 50))),
        ({"zona": "zero", "valor": 0}, "Polygon", ring((60, 60), (90, 60), (90, 90), (60, 90))),
        ({"zona": "negativa", "valor": "-3"}, "Polygon", ring((0, 60), (50, 60), (50, 90), (0, 90))),
        ({"zona": "texto", "valor": "a combinar"}, "Polygon", ring((0, 60), (50, 60), (50, 90), (0, 90))),
        ({"zona": "gravata", "valor": "8"}, "Polygon", ring((100, 0), (150, 50), (150, 0), (100, 50))),
        ({"zona": "sobreposta", "valor": "12"}, "Polygon", ring((40, 0), (55, 0), (55, 50), (40, 50))),
        ({"zona": "sem desenho", "valor": "5"}, None, None),
        ({"zona": "linha", "valor": "5"}, "LineString", place((0, 0), (9, 9))),
    ]
    file = write_geojson(tmp_path / "mapa.geojson", rows)
    args = ("import", "land-values", file, *EDITION, *maps("zone=zona", "land_value=valor"))
    report = done(*args, workspace=workspace)
    assert {s["id"]: s["reason_code"] for s in report["set_aside"]} == {
        "sem valor": "value_missing",
        "zero": "value_not_positive",
        "negativa": "value_not_positive",
        "texto": "number_unreadable",
        "sem desenho": "no_geometry",
        "linha": "wrong_geometry_type",
    }
    assert (report["read"], report["accepted"]) == (9, 3)
    repaired = next(f for f in report["findings"] if 6 in f["rows"])
    assert "m²" in repaired["message"]
    overlaps = {k: v for k, v in report["coverage"].items() if "overlap" in k}
    assert 500 in {float(v) for v in overlaps.values() if not isinstance(v, (list, dict))}, report["coverage"]


# -- options of the imports


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (("--map", "width=larguras"), ["no column 'larguras'", "Did you mean 'largura'?"]),
        (("--map", "widht=largura", "--default-width", "1"), ["no key 'widht'", "Did you mean 'width'?"]),
        (("--map", "width"), ["--map 'width' is not of the form KEY=COLUMN"]),
        (("--map", "=largura"), ["is not of the form KEY=COLUMN"]),
        (("--map", "width="), ["is not of the form KEY=COLUMN"]),
        (("--map", "width=largura", "--map", "width=id"), ["--map names width twice"]),
        ((), ["No strip width is given", "--default-width"]),
        (("--default-width", "meio"), ["--default-width 'meio' is no width"]),
        (("--default-width", "0"), ["is no width"]),
        (("--default-width", "-1"), ["is no width"]),
        (("--default-width", "nan"), ["is no width"]),
        (("--default-width", "1", "--crs", " "), ["--crs is blank"]),
        (("--default-width", "1", "--operator", ""), ["--operator is blank"]),
        (("--map", "width=largura", "--layer", "outra"), ["no layer 'outra'", "It has: "]),
        (("--map", "width=largura", "--map", "operator=id"), ["operator", "--map"]),
    ],
)
def test_options_of_an_import_that_cannot_be_obeyed(workspace, tmp_path, args, says):
    file = write_network(tmp_path / "rede.geojson", GOOD)
    refused("import", "network", file, "--operator", "alfa", *args, workspace=workspace, says=says)


def test_an_unknown_operator_names_the_nearest(workspace, tmp_path):
    file = write_network(tmp_path / "rede.geojson", GOOD)
    refused(
        *network(file, operator="alfaa"), workspace=workspace, says=["'alfaa'", "Did you mean 'alfa'?", "beta, daec"]
    )
    refused(*network(file, operator=None), workspace=workspace, says=["--operator"])


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("falta.geojson", None, ["There is no file", "Check the folder"]),
        ("vazio.geojson", b"", ["is empty (0 bytes)"]),
        ("lixo.geojson", b"isto n\xe3o \xe9 um mapa", ["is broken", "ask for the file again"]),
        (
            "metade.geojson",
            b'{"type": "FeatureCollection", "features": [{"type": ',
            ["is broken", "ask for the file again"],
        ),
        ("lixo.gpkg", b"SQLite format 3\0" + b"\xff" * 4000, ["is broken", "ask for the file again"]),
        ("planta.dwg", b"AC1032", ["Make a DXF of it", "GeoPackage"]),
        ("rede.shp", b"\x00\x00\x27\x0a" + b"\0" * 96, ["rede"]),
    ],
)
@pytest.mark.parametrize("command", ["network", "inspect"])
def test_a_file_that_cannot_be_read(workspace, tmp_path, command, name, content, says):
    if content is not None:
        (tmp_path / name).write_bytes(content)
    args = network(tmp_path / name) if command == "network" else ("inspect", tmp_path / name)
    refused(*args, workspace=workspace, says=says)


def test_a_second_import_of_the_same_file(workspace, files):
    again = network(files / "beta.geojson", operator="beta")
    refused(*again, workspace=workspace, says=["was imported already", "B0000", "--replace"])
    refused(*again, "--dry-run", workspace=workspace, says=["was imported already"])
    report = done(*again, "--replace", workspace=workspace)
    assert report["accepted"] == 1
    priced = done("price", "--month", "2026-11", workspace=workspace)
    beta = next(o for o in priced["operators"] if o["operator"] == "beta")
    assert beta["network_length_m"] == "80.00"  # not twice
    refused(*again, workspace=workspace, says=["was imported already"])


def test_a_corrected_file_replaces_the_one_of_its_name(workspace, files, tmp_path):
    corrected = write_network(tmp_path / "beta.geojson", ("B1", 0.5, [(110, 50), (150, 50)]))
    warned = done(*network(corrected, operator="beta"), "--dry-run", workspace=workspace)
    assert "same_file_name" in {f["code"] for f in warned["findings"]}
    done(*network(corrected, operator="beta"), "--replace", workspace=workspace)
    priced = done("price", "--month", "2026-11", workspace=workspace)
    assert next(o for o in priced["operators"] if o["operator"] == "beta")["network_length_m"] == "40.00"
    other = write_network(tmp_path / "outra.geojson", GOOD)
    refused(
        *network(other, "--replace", operator="beta"), workspace=workspace, says=["no earlier import of outra.geojson"]
    )


def test_a_second_edition_of_one_name_or_day(workspace, tmp_path):
    file = write_zones(tmp_path / "novo.geojson", ("Z", 9, 0, 0, 200, 100))
    args = ("import", "land-values", file, *maps("zone=zona", "land_value=valor"))
    for edition, since in (("2026", "2030-01-01"), ("2030", "2001-01-01")):
        dated = ("--edition", edition, "--in-force-from", since)
        refused(*args, *dated, workspace=workspace, says=["is there already", "--replace"])
    import_zones(workspace, file, "2026", "2001-01-01", "--replace")
    priced = done("price", "--month", "2026-11", workspace=workspace)
    assert {x["land_value"] for o in priced["operators"] for x in o["lines"] if x["kind"] == "network"} == {"9"}
    for dated, says in (
        (("--edition", " ", "--in-force-from", "2030-01-01"), "--edition is blank"),
        (("--edition", "x", "--in-force-from", "1/2/2030"), "is not a date"),
    ):
        refused(*args, *dated, workspace=workspace, says=[says])


def test_a_dry_run_writes_nothing(workspace, tmp_path):
    before = snapshot(workspace)
    file = write_network(tmp_path / "rede.geojson", GOOD)
    report = done(*network(file, "--dry-run"), workspace=workspace)
    assert (report["batch"], report["accepted"]) == (None, 1)
    cabinets = write_cabinets(tmp_path / "c.geojson", ("E7", 1, (7, 7)))
    done("import", "cabinets", cabinets, "--operator", "alfa", *maps(*CABINET_MAP), "--dry-run", workspace=workspace)
    zones = write_zones(tmp_path / "z.geojson", ("Z", 9, 0, 0, 200, 100))
    import_zones(workspace, zones, "2030", "2030-01-01", "--dry-run")
    assert snapshot(workspace) == before


# -- months


@pytest.mark.parametrize("command", ["price", "bill"])
@pytest.mark.parametrize(
    "month", ["2026-13", "2026-1", "abcd", "0000-01", "2026-00", "2026-11-01", "11/2026", "", "２０２６-11", "9999-12"]
)
def test_a_month_that_is_none(workspace, command, month):
    refused(command, "--month", month, workspace=workspace, says=["is not a month", "YYYY-MM"])


@pytest.mark.parametrize("command", ["price", "bill"])
@pytest.mark.parametrize(
    ("month", "says"),
    [("1999-01", ["1999-01-01", "3.057"]), ("2001-01", []), ("0001-01", [])],
    ids=["before the law", "its own month", "year 1"],
)
def test_a_month_before_the_law(workspace, command, month, says):
    refused(command, "--month", month, workspace=workspace, says=says)


def test_a_month_before_the_first_edition(tmp_path):
    root = tmp_path / "ws"
    done("init", root)
    add_operator(root, "alfa", "Alfa S.A.")
    import_network(root, write_network(tmp_path / "rede.geojson", GOOD), "alfa")
    says = ["No edition of the Mapa de Valores is in force on 2026-11-01", "import land-values"]
    refused("price", "--month", "2026-11", workspace=root, says=[*says, "imported: none"])
    import_zones(root, write_zones(tmp_path / "z.geojson", ("Z", 9, 0, 0, 200, 100)), "2027", "2026-11-02")
    refused("bill", "--month", "2026-11", workspace=root, says=[*says, "2027 from 2026-11-02"])
    assert done("price", "--month", "2026-12", workspace=root)["edition"] == "2027"


@pytest.mark.parametrize("option", ["--issued-on", "--due"])
@pytest.mark.parametrize("day", ["2026-02-30", "ontem", "30/11/2026", ""])
def test_a_day_that_is_none(workspace, option, day):
    refused("bill", "--month", "2026-11", option, day, workspace=workspace, says=["is not a date", option])


# -- workspaces


def test_a_workspace_that_is_a_file_or_is_not_there(tmp_path):
    file = tmp_path / "arquivo"
    file.write_text("x")
    refused("init", file, workspace=tmp_path, says=["is a file: a workspace is a folder"])
    refused("init", file / "dentro", workspace=tmp_path, says=["can't be made"])
    refused("price", "--month", "2026-11", workspace=file, says=["is a file, not a workspace folder", "-w DIR"])
    refused(
        "price", "--month", "2026-11", workspace=tmp_path / "falta", says=["is no geobill workspace", "geobill init"]
    )
    refused("operator", "list", workspace=tmp_path, says=["is no geobill workspace"])


def test_a_workspace_is_never_made_over_another(workspace):
    refused("init", workspace, workspace=workspace, says=["is there already", "Nothing was changed"])


def test_an_unknown_statute_or_store(tmp_path):
    says = ["no statute 'sao-paulo'", "caieiras-lei-3057-2001"]
    refused("init", tmp_path / "ws", "--statute", "sao-paulo", workspace=tmp_path, says=says)
    address = "postgresql+psycopg://localhost/geobill"
    refused(
        "init", tmp_path / "ws", "--db", address, workspace=tmp_path, says=["PostGIS isn't built yet", "Leave --db out"]
    )
    assert not (tmp_path / "ws").exists()


# -- operators, policy, decisions


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (("--id", "alfa", "--name", "Outra"), ["'alfa' is there already"]),
        (("--id", " ", "--name", "Outra"), ["needs an id and a name"]),
        (("--id", "eta", "--name", ""), ["needs an id and a name"]),
        (("--id", "eta", "--name", "Eta", "--kind", "estatal"), ["'estatal'", "private, public, municipal"]),
    ],
)
def test_an_operator_that_cannot_be_added(workspace, args, says):
    refused("operator", "add", *args, workspace=workspace, says=says)


@pytest.mark.parametrize(
    ("key", "value", "says"),
    [
        ("on_bordre", "lower", ["no policy key 'on_bordre'", "Did you mean 'on_border'?", "due_day_rule"]),
        ("on_border", "lowest", ["on_border can't be 'lowest'", "Allowed: lower, higher, mean"]),
        ("on_overlap", "mean", ["Allowed: hold, lower, higher"]),
        ("reducer_method", "average", ["reducer_method can't be 'average'", "Allowed: whole, graduated"]),
        ("reducer_scope", "service", ["Allowed: operator, permit"]),
        ("same_strip", "twice", ["Allowed: each, once"]),
        ("limitation_years", "0", ["Allowed: years, 1 to 100, none"]),
        ("max_gap_m", "-1", ["from 0 to 500"]),
        ("max_gap_m", "20,5", ["with a decimal point"]),
        ("max_gap_m", "inf", ["from 0 to 500"]),
        ("length_precision_m", "0", ["from 0.001 to 1"]),
        ("clandestine_counts_in_reducer", "yes", ["Allowed: true, false"]),
        ("above_100_km", "D9", ["'D9', which isn't recorded (recorded: D1)", "geobill decision add"]),
        ("above_100_km", "", ["takes 'hold' or the id"]),
    ],
)
def test_a_policy_that_does_not_exist_or_is_not_built(workspace, key, value, says):
    refused("policy", "set", "--", key, value, workspace=workspace, says=says)


@pytest.mark.parametrize("answer", ["x", "0", "2", "-0.5", "1.0001", "nan", "", "60%"])
def test_a_decision_whose_answer_is_no_reducer(workspace, answer):
    refused("decision", "add", *DECISION, "--answer", answer, workspace=workspace, says=["is no reducer", "at most 1"])


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"--id": "D1"}, ["'D1' is recorded already"]),
        ({"--id": "hold"}, ["can't be called 'hold'"]),
        ({"--id": " "}, ["--id is blank"]),
        ({"--signatory": " "}, ["--signatory is blank"]),
        ({"--number": ""}, ["--number is blank"]),
        ({"--date": "2026-13-01"}, ["is not a date for --date"]),
        ({"--question": "on_border"}, ["on_border can't be '0.6'", "lower, higher, mean"]),
        ({"--question": "on_boarder"}, ["no policy key 'on_boarder'", "Did you mean 'on_border'?"]),
        ({"--question": " "}, ["give both --question and --answer"]),
        ({"--question": "Quem decide?", "--answer": " "}, ["give both --question and --answer"]),
        ({"--from": "junho"}, ["is not a date for --from"]),
        ({"--scan": "nenhum.pdf"}, ["nenhum.pdf can't be read", "Nothing was recorded"]),
    ],
)
def test_a_decision_that_cannot_be_recorded(workspace, changed, says):
    given = dict(zip(DECISION[::2], DECISION[1::2], strict=True)) | {"--answer": "0.6"} | changed
    refused("decision", "add", *(x for pair in given.items() for x in pair), workspace=workspace, says=says)


# -- pieces


def test_pieces_in_another_ending_or_in_the_wrong_place(workspace, tmp_path):
    def pieces(path):
        return ("price", "--month", "2026-11", "--pieces", path)

    refused(*pieces(tmp_path / "p.xlsx"), workspace=workspace, says=[".csv, .parquet, .gpkg"])
    refused(*pieces(tmp_path / "pieces"), workspace=workspace, says=[".csv, .parquet, .gpkg"])
    refused(*pieces(workspace / "cadastre.gpkg"), workspace=workspace, says=["the workspace's own store"])
    for ending in ("csv", "parquet", "gpkg"):
        refused(*pieces(tmp_path / "falta" / f"p.{ending}"), workspace=workspace, says=["can't be written"])


@pytest.mark.parametrize("ending", ["csv", "parquet", "gpkg"])
def test_pieces_are_written_in_each_ending_and_leave_nothing_beside_them(workspace, tmp_path, ending):
    folder = tmp_path / "out"
    folder.mkdir()
    done("price", "--month", "2026-11", "--pieces", folder / f"p.{ending}", workspace=workspace)
    assert [p.name for p in folder.iterdir()] == [f"p.{ending}"]


# -- the command line itself


@pytest.mark.parametrize(
    "args",
    [
        (),
        ("prices",),
        ("price",),
        ("price", "--month"),
        ("price", "--month", "2026-11", "--jsom"),
        ("import", "network"),
        ("import", "rede"),
        ("import", "network", "x.shp", "--units", "mm"),
        ("import", "land-values", "x.shp", "--edition", "2026"),
        ("policy", "set", "on_border"),
        ("operator", "add", "--id", "x"),
        ("init",),
    ],
)
def test_a_wrong_command_line_is_exit_2(args):
    answer = geobill(*args)
    assert answer.code == 2
    assert "Traceback" not in answer.err + answer.out


def test_a_fault_of_the_program_shows_no_trace_unless_asked(workspace, monkeypatch):
    def fail(*_, **__):
        raise ZeroDivisionError("by hand")

    monkeypatch.setattr("geobill.pipeline.month.price_month", fail)
    answer = geobill("price", "--month", "2026-11", workspace=workspace)
    assert (answer.code, answer.out) == (1, "")
    assert "a fault of the program, not of your files: ZeroDivisionError: by hand" in answer.err
    assert "Traceback" not in answer.err
    with pytest.raises(ZeroDivisionError):
        geobill("--debug", "-w", workspace, "price", "--month", "2026-11")


def test_exit_codes_and_streams_of_the_process_itself(workspace):
    for args, code in (
        (("price", "--month", "2026-11", "--json"), 0),
        (("price", "--month", "2026-13"), 1),
        (("price",), 2),
    ):
        run = process("-w", workspace, *args)
        out, err = run.communicate()
        assert run.returncode == code
        assert bool(out) == (code == 0)
        assert "Traceback" not in err


def commands(workspace, files, tmp_path):
    """Every command with options that it accepts."""
    new = write_network(tmp_path / "novo.geojson", GOOD)
    zones = write_zones(tmp_path / "z.geojson", ("Z", 9, 0, 0, 200, 100))
    boxes = write_cabinets(tmp_path / "c.geojson", ("E7", 1, (7, 7)))
    return (
        ("init", tmp_path / "outro"),
        ("operator", "add", "--id", "eta", "--name", "Eta"),
        ("operator", "list"),
        ("policy", "set", "on_border", "mean"),
        ("policy", "show"),
        ("decision", "add", *DECISION, "--answer", "0.6"),
        ("inspect", new),
        network(new),
        ("import", "land-values", zones, *EDITION, *maps("zone=zona", "land_value=valor")),
        ("import", "cabinets", boxes, "--operator", "alfa", *maps(*CABINET_MAP)),
        ("price", "--month", "2026-11"),
        ("bill", "--month", "2026-11", "--issued-on", "2026-12-01"),
        ("demo", tmp_path / "demo"),
        ("version",),
    )


@pytest.mark.parametrize("number", range(14))
@pytest.mark.parametrize("before", [True, False], ids=["before", "after"])
def test_json_is_one_object_and_options_stand_before_or_after(workspace, files, tmp_path, monkeypatch, number, before):
    monkeypatch.chdir(tmp_path)  # not a workspace
    monkeypatch.delenv("GEOBILL_WORKSPACE", raising=False)
    args = commands(workspace, files, tmp_path)[number]
    if args[0] == "demo" and before:
        pytest.skip("takes seconds, and is run with its options after it")
    options = ("-w", workspace, "--json")
    answer = geobill(*options, *args) if before else geobill(*args, *options)
    assert answer.code == 0, answer.err
    assert isinstance(json.loads(answer.out), dict)
    assert answer.err == "" or all(x.startswith("· ") for x in answer.err.splitlines())


def test_the_workspace_is_named_by_the_option_the_environment_or_the_current_folder(workspace, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    add_operator(workspace, "eta", "Eta")
    monkeypatch.setenv("GEOBILL_WORKSPACE", str(workspace))
    assert "eta" in geobill("operator", "list").out
    done("init", tmp_path / "outro")
    assert "eta" not in geobill("operator", "list", "-w", tmp_path / "outro").out
    assert "eta" not in geobill("--workspace", tmp_path / "outro", "operator", "list").out
    assert "eta" in geobill("-w", tmp_path / "outro", "operator", "list", "-w", workspace).out
    monkeypatch.delenv("GEOBILL_WORKSPACE")
    monkeypatch.chdir(workspace)
    assert "eta" in geobill("operator", "list").out


def test_inspect_needs_no_workspace(files, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    report = done("inspect", files / "alfa.geojson")
    assert report["layers"][0]["features"] == 5


def numbers_in(value, path=""):
    """Paths of every JSON number that is no whole count."""
    if isinstance(value, dict):
        return [n for k, v in value.items() for n in numbers_in(v, f"{path}.{k}")]
    if isinstance(value, list):
        return [n for v in value for n in numbers_in(v, path)]
    return [path] if isinstance(value, (int, float)) and not isinstance(value, bool) else []


@pytest.mark.parametrize("command", ["price", "bill"])
def test_every_figure_is_a_string_of_plain_digits(workspace, command):
    dated = ("--issued-on", "2026-12-01") if command == "bill" else ()
    answer = done(command, "--month", "2026-11", *dated, workspace=workspace)
    counts = {".operators.lines.days", ".operators.lines.month_days"}
    counts |= {f".conservation.features.{k}" for k in answer["conservation"]["features"]}
    assert set(numbers_in(answer)) <= counts
    figures = [
        x[k] for o in answer["operators"] for x in o["lines"] for k in ("amount", "multiplier", "length_m", "volume_m3")
    ]
    assert all(f is None or f.replace(".", "", 1).isdigit() for f in figures)


def test_a_name_with_everything_in_it_goes_through(workspace, tmp_path):
    name = 'Ação & "Filhos" #let $x$ *b* <c> \\ — São João'
    add_operator(workspace, "x/y z", name)
    import_network(workspace, write_network(tmp_path / "rede.geojson", ("=1+1", 0.5, [(10, 50), (90, 50)])), "x/y z")
    answer = done("bill", "--month", "2026-11", "--issued-on", "2026-12-01", workspace=workspace)
    assert {i["operator"] for i in answer["invoices"]} == {"alfa", "beta", "x/y z"}
