"""Profiles: read strictly, applied layer by layer, saved from what worked; consumers' tables are never opened."""

import shutil
import sqlite3
from decimal import Decimal
from pathlib import Path

import fiona
import geopandas as gpd
import pyogrio
import pytest
from workspaces import add_operator, done, geobill

import geobill.intake.profiles as profiles_folder
from geobill.errors import InputError
from geobill.intake.profile import propose, recognise
from geobill.intake.profile_file import BUILT_IN, built_in_profiles, check_name, parse_profile, write_profile

FOLDER = Path(next(iter(profiles_folder.__path__)))
HEAD = 'name = "p"\ntitle = "t"\nsource = "s"\n'
LAYER = '[[layers]]\nmatch = ["rede"]\nkind = "network"\n'
SHIPPED = built_in_profiles()


@pytest.fixture(scope="module")
def town(tmp_path_factory):
    """A workspace with operators; tests that write into it copy it."""
    root = tmp_path_factory.mktemp("town") / "ws"
    done("init", root)
    add_operator(root, "alfa", "Alfa S.A.")
    return root


@pytest.fixture
def workspace(town, tmp_path):
    return shutil.copytree(town, tmp_path / "ws")


def lines(count, at, **columns):
    """Parallel lines of 100 m, 5 m apart."""
    from shapely import LineString

    shapes = [LineString(at((0, 5 * n), (100, 5 * n))) for n in range(count)]
    return gpd.GeoDataFrame(columns, geometry=shapes, crs="EPSG:31983")


def own(workspace, text, name="p"):
    folder = workspace / "profiles"
    folder.mkdir(exist_ok=True)
    (folder / f"{name}.toml").write_text(text, encoding="utf-8")
    return name


def network(workspace, file, profile, *more, width="0.50"):
    default = ("--default-width", width) if width else ()
    return ("import", "network", file, "--operator", "alfa", "--profile", profile, *default, *more)


def imported(workspace, file, profile, *more, width="0.50"):
    return done(*network(workspace, file, profile, *more, width=width), workspace=workspace)


def refused(workspace, *args):
    answer = geobill(*args, workspace=workspace)
    assert answer.code == 1, answer.out
    return answer.err


def findings(answer, code):
    return [f for f in answer["findings"] if f["code"] == code]


def stored(workspace, *columns):
    with sqlite3.connect(workspace / "cadastre.gpkg") as connection:
        return connection.execute(f"SELECT {', '.join(columns)} FROM segments ORDER BY fid").fetchall()


# -- the file


def test_every_shipped_profile_is_listed_and_reads_under_its_own_name():
    assert sorted(p.stem for p in FOLDER.glob("*.toml")) == sorted(BUILT_IN)
    assert tuple(p.name for p in SHIPPED) == BUILT_IN
    assert all(p.title and p.source and p.of_kind("network") for p in SHIPPED)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("name = ", "isn't TOML"),
        ("name = " + "[" * 20_000, "isn't TOML"),
        (HEAD, "has no [[layers]]"),
        (HEAD + "layer = 1\n" + LAYER, "'layer', which would be passed over. Did you mean 'layers'?"),
        (HEAD + LAYER + "colums = { width = ['L'] }", "Did you mean 'columns'?"),
        (HEAD + LAYER.replace("network", "netwrok"), "Did you mean 'network'?"),
        (HEAD + LAYER.replace('["rede"]', "[]"), "at least one"),
        (HEAD + LAYER + "columns = { widht = ['L'] }", "Did you mean 'width'?"),
        (HEAD + LAYER + "columns = { width = ['L'], level = ['l'] }", "stands for width and for level"),
        (HEAD + LAYER + "columns = { width = 3 }", "list of texts"),
        (HEAD + LAYER + "constants = { width = '1' }", "'width', which would be passed over"),
        (HEAD + LAYER + "columns = { level = ['L'] }\nconstants = { level = 'MT' }", "a column and a constant"),
        (HEAD + LAYER + "columns = { width = ['L'] }\nunits = { width = 'polegada' }", "Allowed: m, cm, mm, km, ft"),
        (HEAD + LAYER + "units = { width = 'cm' }", "no column of figures"),
        (HEAD + LAYER + "unit = 'pol'", "unit can't be 'pol'"),
        (HEAD + LAYER + "absent = { widht = ['0'] }", "Did you mean 'width'?"),
        (HEAD + LAYER + "statuses = { 'em uso' = 'existente' }", "Known: permitted"),
        (HEAD + LAYER + "status_if_known = true", "needs columns.status"),
        (HEAD + '[[layers]]\nmatch = ["x"]\nkind = "none"', "lacks reason"),
        (HEAD + '[[layers]]\nmatch = ["x"]\nkind = "closed"\nreason = "r"\nunit = "m"', "never be obeyed"),
        (HEAD + LAYER + LAYER.replace('"rede"', '"*"'), "must be the only one"),
        (HEAD + LAYER.replace('"rede"', '"*", "rede"'), "stands alone"),
        (HEAD + LAYER + '[[widths]]\nwidth = "0.50"', "names no decision"),
        (HEAD + LAYER + '[[widths]]\nwidth = "0,50"\ndecision = "D"', "is no width"),
        (HEAD + LAYER + '[[widths]]\nwidth = 0.5\ndecision = "D"', "takes a text in quotes"),
        (HEAD + LAYER + '[[widths]]\nwidth = "0.50"\ndecision = "D"\nlevel = "MT"', "is for no layer"),
        (HEAD + LAYER + '[[widths]]\nwidth = "1"\ndecision = "D"\n' * 2, "two widths say as much"),
        (HEAD.replace('"p"', '"../p"') + LAYER, "can't be the name of a profile"),
    ],
)  # fmt: skip
def test_what_a_profile_says_and_nobody_would_obey_is_refused(text, said):
    with pytest.raises(InputError) as refusal:
        parse_profile(text, "p.toml")
    assert said in str(refusal.value)


def test_the_width_that_says_most_about_a_layer_is_its_default():
    constants = "constants = { service = 'energia', level = '{}' }\n"
    layers = "".join(LAYER.replace("rede", n) + constants.replace("{}", n) for n in ("AT", "MT", "BT"))
    widths = '[[widths]]\nwidth = "1"\ndecision = "D1"\n[[widths]]\nwidth = "2"\ndecision = "D2"\nlevel = "MT"\n'
    widths += '[[widths]]\nwidth = "3"\ndecision = "D3"\nlevel = "BT"\nservice = "energia"\n'
    read = parse_profile(HEAD + layers + widths, "p.toml")
    assert [(str(one.width.width_m), one.width.decision) for one in read.layers] == [
        ("1", "D1"),
        ("2", "D2"),
        ("3", "D3"),
    ]


@pytest.mark.parametrize("name", ["../x", "a/b", "a\\b", "", ".", "..", "Ação", "con", "nul", "x.toml", "-x", "a" * 41])
def test_a_name_that_could_be_a_path_is_refused(name, workspace):
    with pytest.raises(InputError):
        check_name(name)
    args = ("profile", "save", "--layer", "x", "--map", "width=L", "--", name)
    assert geobill(*args, workspace=workspace).code in (1, 2)
    assert not (workspace / "profiles").exists()


# -- layers: a whitelist


def fields(count=2):
    return {"COD_ID": [f"00{n}" for n in range(count)], "COMP": [100.0] * count, "POS": ["PD"] * count}


def consumers():
    import pandas as pd

    return pd.DataFrame({"COD_ID": ["1"], "LGRD": ["Rua das Flores, 12"]})


@pytest.mark.parametrize("driver", ["GPKG", "OpenFileGDB"])
def test_a_consumers_table_is_never_opened(town, tmp_path, at, driver, monkeypatch):
    file = tmp_path / ("base.gpkg" if driver == "GPKG" else "base.gdb")
    pyogrio.write_dataframe(lines(2, at, **fields()), file, layer="SSDMT", driver=driver)
    pyogrio.write_dataframe(lines(2, at, **fields()), file, layer="ssdbt", driver=driver, append=True)
    pyogrio.write_dataframe(consumers(), file, layer="UCBT_tab", driver=driver, append=True)
    pyogrio.write_dataframe(consumers(), file, layer="PIP", driver=driver, append=True)
    opened = []

    def spied(call):
        def spy(path, *args, **options):
            opened.append(options.get("layer"))
            return call(path, *args, **options)

        return spy

    for module, names in ((pyogrio, ("open_arrow", "read_arrow", "read_info", "read_dataframe")), (fiona, ("open",))):
        for name in names:
            monkeypatch.setattr(module, name, spied(getattr(module, name)))
    answer = imported(town, file, "bdgd", "--dry-run")
    assert {"SSDMT", "ssdbt"} <= set(opened)
    assert not {"UCBT_tab", "PIP"} & set(opened)
    assert [(one["name"], one["read"], one["accepted"], one["length_m"]) for one in answer["layers"]] == [
        ("SSDMT", 2, 2, "200.00"),
        ("ssdbt", 2, 2, "200.00"),
    ]
    (note,) = findings(answer, "layers_unopened")
    assert "UCBT_tab (unidades consumidoras" in note["message"]
    assert "Rua das Flores" not in str(answer)
    (lacking,) = findings(answer, "profile_layer_missing")
    assert "SSDAT" in lacking["message"]


def test_a_consumers_table_that_fails_when_it_is_read_stops_nothing(town, tmp_path, at):
    file = tmp_path / "base.gpkg"
    pyogrio.write_dataframe(lines(2, at, **fields()), file, layer="SSDMT")
    pyogrio.write_dataframe(consumers(), file, layer="UCBT_tab", append=True)
    with sqlite3.connect(file) as connection:
        connection.execute("ALTER TABLE UCBT_tab RENAME TO hidden")
        connection.execute("CREATE VIEW UCBT_tab AS SELECT fid, abs(-9223372036854775808) AS COD_ID FROM hidden")
    with pytest.raises(Exception, match="overflow"):
        pyogrio.read_dataframe(file, layer="UCBT_tab")
    assert imported(town, file, "bdgd", "--dry-run")["accepted"] == 2


def test_layers_that_a_profile_does_not_read_are_refused_before_they_are_opened(town, tmp_path, at):
    file = tmp_path / "base.gpkg"
    pyogrio.write_dataframe(lines(1, at, **fields(1)), file, layer="PONNOT")
    pyogrio.write_dataframe(consumers(), file, layer="UCBT_tab", append=True)
    said = refused(town, *network(town, file, "bdgd"))
    assert "No layer of base.gpkg" in said
    assert "PONNOT, UCBT_tab" in said
    assert "endereços" in refused(town, *network(town, file, "bdgd", "--layer", "UCBT_tab"))
    assert "postes" in refused(town, *network(town, file, "bdgd", "--layer", "PONNOT"))
    assert "doesn't name the layer 'outra'" in refused(town, *network(town, file, "bdgd", "--layer", "outra"))
    cabinets = ("import", "cabinets", file, "--operator", "alfa", "--profile", "bdgd")
    assert "has no layer of cabinets" in refused(town, *cabinets)
    assert "Did you mean 'edgv3'?" in refused(town, *network(town, file, "edgv"))


def test_layer_narrows_what_a_profile_reads(town, tmp_path, at):
    file = tmp_path / "base.gpkg"
    for layer in ("SSDMT", "SSDBT"):
        pyogrio.write_dataframe(lines(2, at, **fields()), file, layer=layer, append=file.exists())
    assert imported(town, file, "bdgd", "--layer", "SSDBT", "--dry-run")["read"] == 2


def test_a_general_profile_takes_the_layer_that_the_user_means_and_asks_where_there_are_several(town, tmp_path, at):
    file = tmp_path / "rede.gpkg"
    for layer in ("a", "b"):
        pyogrio.write_dataframe(lines(2, at, codigo=["1", "2"]), file, layer=layer, append=file.exists())
    assert "choose with --layer" in refused(town, *network(town, file, "generico"))
    assert imported(town, file, "generico", "--layer", "b", "--dry-run")["accepted"] == 2


# -- what a layer's profile says


def test_each_layer_has_its_own_constants_and_codes_stay_text(workspace, tmp_path, at):
    file = tmp_path / "base.gpkg"
    rows = fields() | {"COD_ID": ["007", "0"], "COMP": [100.0, 110.0]}
    for layer in ("SSDMT", "SSDBT"):
        pyogrio.write_dataframe(lines(2, at, **rows), file, layer=layer, append=file.exists())
    answer = imported(workspace, file, "bdgd")
    assert answer["profile"]["name"] == "bdgd"
    assert answer["profile"]["layers"]["SSDMT"]["columns"] == {"segment": "COD_ID", "declared_length": "COMP"}
    assert stored(workspace, "segment", "service", "level", "declared_length_m") == [
        ("007", "energia elétrica", "MT", "100"),
        ("2", "energia elétrica", "MT", "110"),  # '0' is not informed: it goes by its row number
        ("007", "energia elétrica", "BT", "100"),
        ("4", "energia elétrica", "BT", "110"),
    ]
    assert [f["layer"] for f in findings(answer, "id_missing")] == ["SSDMT", "SSDBT"]


def test_the_user_s_word_goes_before_the_profile_s(workspace, tmp_path, at):
    file = tmp_path / "base.gpkg"
    rows = lines(2, at, COD_ID=["a", "b"], outro=["x", "y"], tensao=["13,8", "34,5"])
    pyogrio.write_dataframe(rows, file, layer="SSDMT")
    answer = imported(workspace, file, "bdgd", "--map", "segment=outro", "--map", "level=tensao")
    assert stored(workspace, "segment", "level") == [("x", "13,8"), ("y", "34,5")]
    (note,) = findings(answer, "profile_column_missing")
    assert "declared_length (COMP)" in note["message"]


def test_edgv_takes_9999_as_absent_and_guesses_no_code(workspace, tmp_path, at):
    file = tmp_path / "edgv.gpkg"
    rows = lines(
        2, at, id=["9999", "u-1"], posicaorelativa=[9999, 3], especie=[2, 3], largurafaixaservidao=[9999.0, 40.0]
    )
    pyogrio.write_dataframe(rows, file, layer="edgv.enc_trecho_comunic_l")
    imported(workspace, file, "edgv3")
    assert stored(workspace, "segment", "service", "level", "width_m") == [
        ("1", "telecomunicações", None, "0.50"),
        ("u-1", "telecomunicações", None, "0.50"),
    ]


def test_the_general_profile_knows_usual_names_also_cut_by_a_shapefile(workspace, tmp_path, at):
    file = tmp_path / "rede.shp"
    columns = {
        "COD_TRECHO": ["01", "02"], "LARGURA": ["0,30", "0,75"], "DT_INSTALA": ["01/02/2020", None],
        "EXTENSÃO": ["100,5", None], "TIPO": ["fibra", "fibra"], "SITUACAO": ["permitido", None],
    }  # fmt: skip
    pyogrio.write_dataframe(lines(2, at, **columns), file, encoding="utf-8")
    answer = imported(workspace, file, "generico", width=None)
    assert answer["profile"]["layers"]["rede"]["columns"] == {
        "segment": "COD_TRECHO", "width": "LARGURA", "declared_length": "EXTENSÃO", "installed_on": "DT_INSTALA",
        "service": "TIPO", "status": "SITUACAO",
    }  # fmt: skip
    assert stored(workspace, "segment", "width_m", "installed_on", "declared_length_m", "status") == [
        ("01", "0.30", "2020-02-01", "100.5", "permitted"),
        ("02", "0.75", None, None, "existing"),
    ]


def test_two_columns_that_could_decide_an_amount_are_asked_about(town, tmp_path, at):
    file = tmp_path / "rede.gpkg"
    pyogrio.write_dataframe(lines(1, at, id=["1"], cod=["2"], largura=[0.3], larg_m=[0.6]), file)
    said = refused(town, *network(town, file, "generico"))
    assert "largura and larg_m, and each could hold the width" in said
    answer = imported(town, file, "generico", "--map", "width=larg_m", "--dry-run")
    assert answer["profile"]["layers"]["rede"]["columns"] == {"segment": "cod", "width": "larg_m"}


def test_words_of_operation_are_no_status_of_the_law(town, tmp_path, at):
    file = tmp_path / "rede.gpkg"
    pyogrio.write_dataframe(lines(2, at, situacao=["Em operação", "Desativado"]), file)
    answer = imported(town, file, "generico", "--dry-run")
    assert answer["accepted"] == 2
    assert "status" not in answer["profile"]["layers"]["rede"]["columns"]
    (warning,) = findings(answer, "status_not_taken")
    assert "'Desativado', 'Em operação'" in warning["message"]


def test_of_two_columns_the_one_with_words_of_the_law_is_the_status(town, tmp_path, at):
    file = tmp_path / "rede.gpkg"
    pyogrio.write_dataframe(lines(1, at, status=["ativo"], situacao=["clandestino"]), file)
    answer = imported(town, file, "generico", "--dry-run")
    assert answer["profile"]["layers"]["rede"]["columns"] == {"status": "situacao"}


def test_a_profile_gives_words_of_status_and_an_unknown_word_is_refused_still(workspace, tmp_path, at):
    text = HEAD + LAYER + "columns = { status = ['sit'] }\nstatuses = { 'Em operação' = 'permitted' }\n"
    own(workspace, text)
    file = tmp_path / "rede.gpkg"
    pyogrio.write_dataframe(lines(2, at, sit=["EM OPERAÇÃO", None]), file)
    imported(workspace, file, "p")
    assert stored(workspace, "status") == [("permitted",), ("existing",)]
    pyogrio.write_dataframe(lines(2, at, sit=["em operação", "desativado"]), file)
    assert "desativado" in refused(workspace, *network(workspace, file, "p"))


def test_a_width_in_centimetres_is_carried_over_exactly(workspace, tmp_path, at):
    own(
        workspace,
        HEAD + LAYER + "columns = { width = ['larg'] }\nunits = { width = 'cm' }\nabsent = { width = ['-9999'] }\n",
    )
    file = tmp_path / "rede.gpkg"
    pyogrio.write_dataframe(lines(3, at, larg=["30", "37,5", "-9999"]), file)
    imported(workspace, file, "p")
    assert [(Decimal(w),) for (w,) in stored(workspace, "width_m")] == [
        (Decimal("0.30"),),
        (Decimal("0.375"),),
        (Decimal("0.50"),),
    ]


def test_a_column_of_owners_beside_operator_is_said(town, tmp_path, at):
    file = tmp_path / "rede.gpkg"
    pyogrio.write_dataframe(lines(2, at, empresa=["Alfa", "Beta"]), file)
    (warning,) = findings(imported(town, file, "generico", "--dry-run"), "operator_by_option")
    assert warning["severity"] == "warning"
    assert "Alfa, Beta" in warning["message"]


def test_a_profile_s_width_rests_on_a_recorded_decision(workspace, tmp_path, at):
    own(workspace, HEAD + LAYER + '[[widths]]\nwidth = "0.80"\ndecision = "D-3"\n')
    file = tmp_path / "rede.gpkg"
    pyogrio.write_dataframe(lines(1, at, id=["1"]), file)
    said = refused(workspace, *network(workspace, file, "p", width=None))
    assert "'D-3', which isn't recorded" in said
    assert "geobill decision add" in said
    done(
        *("decision", "add", "--id", "D-3", "--number", "3/2026", "--date", "2026-03-01", "--signatory", "Prefeita"),
        *("--question", "qual a largura da faixa sem medida?", "--answer", "0,80 m"),
        workspace=workspace,
    )
    answer = imported(workspace, file, "p", width=None)
    (note,) = findings(answer, "width_by_decision")
    assert "0.80 m: decision D-3 (n. 3/2026 of 2026-03-01)" in note["message"]
    assert stored(workspace, "width_m") == [("0.80",)]
    assert answer["profile"]["layers"]["rede"]["decision"] == "D-3"
    done("profile", "save", "outro", "--from", answer["batch"], workspace=workspace)
    saved = done("profile", "show", "outro", workspace=workspace)["text"]
    assert '[[widths]]\nwidth = "0.80"\ndecision = "D-3"' in saved


def test_cabinets_by_the_general_profile(workspace, tmp_path, at):
    from shapely import Point

    file = tmp_path / "armarios.gpkg"
    columns = {"Código": ["A1"], "Volume (m3)": [1.5], "comprimento": [1], "largura": [1], "altura": [1]}
    pyogrio.write_dataframe(gpd.GeoDataFrame(columns, geometry=[Point(at((0, 0))[0])], crs="EPSG:31983"), file)
    answer = done("import", "cabinets", file, "--operator", "alfa", "--profile", "generico", workspace=workspace)
    assert answer["profile"]["layers"]["armarios"]["columns"] == {"equipment": "Código", "volume": "Volume (m3)"}


# -- saved, listed, shown


def test_a_mapping_that_worked_is_saved_and_reads_the_next_file_alike(workspace, tmp_path, at):
    first, second = tmp_path / "rede[1].gpkg", tmp_path / "rede_dez.gpkg"
    columns = {"cod": ["1", "2"], "larg": ["0,40", None], "alv": ["9/2026", None]}
    pyogrio.write_dataframe(lines(2, at, **columns), first, layer="rede[1]")
    pyogrio.write_dataframe(lines(2, at, **columns).translate(0, 50).to_frame("geometry").assign(**columns), second)
    pairs = [part for pair in ("segment=COD", "width=larg", "permit=alv") for part in ("--map", pair)]
    batch = done(
        "import", "network", first, "--operator", "alfa", "--default-width", "0.50", *pairs, workspace=workspace
    )
    saved = done("profile", "save", "operadora-alfa", "--from", batch["batch"], workspace=workspace)
    text = Path(saved["file"]).read_text(encoding="utf-8")
    assert Path(saved["file"]) == workspace / "profiles" / "operadora-alfa.toml"
    profile = parse_profile(text, "operadora-alfa")
    assert profile.entry("rede[1]") is not None
    assert profile.entry("rede1") is None
    assert '# width = "0.50"' in text  # no decision: proposed, not kept
    assert profile.layers[0].width is None
    assert "doesn't name" in refused(workspace, *network(workspace, second, "operadora-alfa", "--layer", "rede_dez"))
    again = ("profile", "save", "operadora-alfa", "--from", batch["batch"], "--layer", "rede*")
    assert "--replace" in refused(workspace, *again)
    assert Path(saved["file"]).read_text(encoding="utf-8") == text
    done(*again, "--replace", workspace=workspace)
    imported(workspace, second, "operadora-alfa")
    rows = stored(workspace, "segment", "width_m", "permit")
    assert rows[:2] == rows[2:]


def test_a_layer_that_bears_only_its_file_s_name_is_saved_for_any_name(workspace, tmp_path, at):
    first, second = tmp_path / "rede_2026_01.geojson", tmp_path / "rede_2026_02.geojson"
    for day, file in enumerate((first, second)):
        frame = lines(1, at, cod=["1"], larg=["0,40"])
        frame.geometry = frame.translate(0, 50 * day)
        pyogrio.write_dataframe(frame, file)
    pairs = ("--map", "segment=cod", "--map", "width=larg")
    batch = done("import", "network", first, "--operator", "alfa", *pairs, workspace=workspace)["batch"]
    done("profile", "save", "mensal", "--from", batch, workspace=workspace)
    assert 'match = ["*"] #' in done("profile", "show", "mensal", workspace=workspace)["text"]
    assert imported(workspace, second, "mensal")["accepted"] == 1


def test_a_mapping_is_saved_from_the_options(workspace):
    save = ("profile", "save", "x", "--layer", "rede_*", "--map", "width=LARGURA")
    assert "needs" not in done(*save, workspace=workspace)["file"]
    assert 'match = ["rede_*"]' in done("profile", "show", "x", workspace=workspace)["text"]
    assert "give --decision ID" in refused(workspace, *save, "--replace", "--default-width", "0.5")
    assert "isn't recorded" in refused(workspace, *save, "--replace", "--default-width", "0.5", "--decision", "D-9")
    assert "names no layer" in refused(workspace, "profile", "save", "y", "--map", "width=LARGURA")
    unknown = ("profile", "save", "y", "--layer", "*", "--map", "widht=COD_ID")
    assert "--map knows no key 'widht'. Did you mean 'width'?" in refused(workspace, *unknown)
    assert "There is no batch 'B99999'" in refused(workspace, "profile", "save", "y", "--from", "B99999")
    assert "geobill ships" in refused(workspace, *save[:2], "bdgd", *save[3:])
    assert sorted(p.name for p in (workspace / "profiles").iterdir()) == ["x.toml"]


def test_names_of_columns_and_layers_are_only_data_in_the_saved_file():
    nasty = 'a"]\n[[widths]]\nwidth = "9"\n# \\ \x7f\x01'
    said = {"columns": {"width": nasty}, "constants": {"service": nasty}}
    read = parse_profile(write_profile("x", "x", nasty, "network", {(nasty,): said}, None), "x")
    (layer,) = read.layers
    assert (read.source, layer.match, layer.columns, layer.constants) == (
        nasty, (nasty,), {"width": (nasty,)}, {"service": nasty},
    )  # fmt: skip
    assert layer.width is None


def test_list_shows_shipped_and_own_profiles_also_those_that_cannot_be_read(workspace):
    own(workspace, HEAD + LAYER)
    own(workspace, "name = ", "quebrado")
    own(workspace, HEAD + LAYER, "copia")
    listed = {p["name"]: p for p in done("profile", "list", workspace=workspace)["profiles"]}
    assert list(listed) == [*BUILT_IN, "copia", "p", "quebrado"]
    assert [n for n, p in listed.items() if p["shipped"]] == list(BUILT_IN)
    assert {n: bool(p["fault"]) for n, p in listed.items() if p["fault"]} == {"copia": True, "quebrado": True}
    assert "calls itself 'p'" in listed["copia"]["fault"]
    assert "can't be used" in geobill("profile", "list", workspace=workspace).out


def test_list_and_show_need_no_workspace(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert [p["name"] for p in done("profile", "list")["profiles"]] == list(BUILT_IN)
    assert geobill("profile", "show", "bdgd").out.startswith("# BDGD")


# -- proposals


@pytest.mark.parametrize(
    ("layer", "columns", "shape", "profile", "kind", "mapping"),
    [
        ("SSDMT", ["COD_ID", "COMP", "POS"], "lines", "bdgd", "network", {"segment": "COD_ID", "declared_length": "COMP"}),
        ("UCBT_tab", ["COD_ID", "LGRD"], None, "bdgd", "closed", {}),
        ("qualquer", ["COD_ID", "COMP"], "lines", "generico", "network", {"segment": "COD_ID", "declared_length": "COMP"}),
        ("armarios", ["codigo", "volume"], "points", "generico", "cabinets", {"equipment": "codigo", "volume": "volume"}),
        ("zonas", ["QUADRA", "VALOR_M2"], "polygons", "generico", "land_values", {"zone": "QUADRA", "land_value": "VALOR_M2"}),
        ("rede", ["largura", "larg"], "lines", None, None, None),
        ("rede", ["xyz"], "lines", None, None, None),
    ],
)  # fmt: skip
def test_a_mapping_is_proposed_by_the_layer_s_name_else_by_its_columns(layer, columns, shape, profile, kind, mapping):
    found = propose(layer, columns, SHIPPED, shape, known=SHIPPED[0])
    assert (found and (found.profile, found.kind, dict(found.mapping))) == (profile and (profile, kind, mapping))


def test_a_placemarks_name_is_its_code_where_it_has_no_other():
    assert propose("rede", ["Name", "xml_id"], SHIPPED, "lines").mapping == {"segment": "Name"}
    assert propose("rede", ["name", "id"], SHIPPED, "lines").mapping == {"segment": "id"}


def test_no_column_is_proposed_for_two_keys():
    aliases = [a for p in SHIPPED for one in p.layers for names in one.columns.values() for a in names]
    for shape in ("lines", "points", "polygons"):
        for start in range(0, len(aliases), 7):
            found = propose("rede", aliases[start : start + 15], SHIPPED, shape)
            taken = list(found.mapping.values()) if found else []
            assert len(set(taken)) == len(taken)
    two = propose("rede", ["largura", "larg_m", "trecho"], SHIPPED, "lines")
    assert (dict(two.mapping), dict(two.unclear)) == ({"segment": "trecho"}, {"width": ("largura", "larg_m")})


def test_a_bdgd_is_recognised_by_its_layers_and_its_whitelist_applies():
    bdgd = recognise(["SSDMT", "UCBT_tab", "outra"], SHIPPED)
    assert bdgd.name == "bdgd"
    assert [n for n in ("SSDMT", "PONNOT", "UCBT_tab", "ramlig", "outra") if bdgd.opens(n)] == ["SSDMT", "PONNOT"]
    assert recognise(["rede", "postes", "SUB"], SHIPPED) is None
    assert recognise([], SHIPPED) is None


@pytest.mark.parametrize(
    ("layer", "columns", "recognised"),
    [
        ("base", ["id", "largura", "DIST"], False),
        ("SSDMT", ["COD_ID", "COMP", "POS"], False),
        ("ssdmt", ["cod_id", "dist", "ctmt", "pac_1", "comp"], True),
        ("ucbt_rede", ["id", "largura"], False),
        ("UCBT_tab", ["COD_ID", "LGRD", "BRR"], True),
        ("rede", ["COD_ID", "DIST", "CTMT", "PAC_1"], False),
    ],
)
def test_one_name_makes_a_bdgd_only_with_its_columns(layer, columns, recognised):
    known = recognise([layer], SHIPPED, lambda name: columns)
    assert (known is not None) == recognised
    found = propose(layer, columns, SHIPPED, "lines", known)
    assert (found is not None and found.profile == "bdgd") == recognised


# -- the real thing


def test_the_real_bdgd_in_its_own_municipality_and_zone(shared, tmp_path):
    root = tmp_path / "tapejara"
    done("init", root)
    settings = root / "geobill.toml"
    text = settings.read_text(encoding="utf-8")
    for old, new in (
        ('name = "Caieiras"', 'name = "Tapejara"'),
        ('state = "SP"', 'state = "RS"'),
        ("EPSG:31983", "EPSG:31982"),
        ("[-46.8232, -23.4268, -46.6545, -23.3262]", "[-52.07, -28.10, -51.84, -28.03]"),
    ):
        assert old in text
        text = text.replace(old, new)
    settings.write_text(text, encoding="utf-8")
    add_operator(root, "mux", "Mux Energia")
    file = shared / "data" / "bdgd" / "MUX_401_2024.gdb.zip"
    answer = done(
        *("import", "network", file, "--operator", "mux", "--profile", "bdgd", "--default-width", "0.50"),
        workspace=root,
    )
    layers = {one["name"]: one for one in answer["layers"]}
    assert {n: (one["read"], one["accepted"]) for n, one in layers.items()} == {
        "SSDMT": (2173, 2172),
        "SSDBT": (4283, 4282),
    }
    # what is accepted is all but one stretch of 20.44 m and one of 17.52 m: 86,919.7 m and 123,239.8 m were read
    assert float(layers["SSDMT"]["length_m"]) == pytest.approx(86919.7 - 20.4, abs=0.2)
    assert float(layers["SSDBT"]["length_m"]) == pytest.approx(123239.8 - 17.5, abs=0.2)
    aside = {(s["layer"], s["id"]): s for s in answer["set_aside"]}
    assert {key: s["reason_code"] for key, s in aside.items()} == dict.fromkeys(aside, "duplicate")
    assert sorted(aside) == [("SSDBT", "5528"), ("SSDMT", "1785")]
    assert "5856" in aside["SSDBT", "5528"]["reason"]
    assert "1773" in aside["SSDMT", "1785"]["reason"]
    assert answer["crs"]["to"] == "EPSG:31982"
    (unopened,) = findings(answer, "layers_unopened")
    assert "PONNOT" in unopened["message"]
