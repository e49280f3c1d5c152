"""The QGIS project: every path relative, every layer found, styled and filtered, its sheets printed; and it opens in QGIS."""

import json
import re
import shutil
import zipfile
from xml.etree import ElementTree

import pyogrio
import pytest
from field_town import field_town
from workspaces import confirm_law, done, geobill, write_cabinets

from documents.qgis_run import run_qgis
from geobill.documents.finding_words import KIND_WORDS
from geobill.documents.qgis_layout import SCALES
from geobill.documents.qml import HEAD

MONTH = "2026-11"
STORE_GROUPS = ["Cadastro (só leitura)", "Livros (só leitura)"]
MOVED = "outra pasta, com acentuação"
DECIDABLE = ["decisao", "motivo", "responsavel", "operadora", "nota"]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A workspace with a survey, a cabinet and an import that is out of force, and its project with a month in it."""
    folder = tmp_path_factory.mktemp("project")
    root = field_town(folder, more=4)
    confirm_law(root)
    mapped = ("--operator", "alfa", "--map", "equipment=id", "--map", "volume=volume")
    done("import", "cabinets", write_cabinets(folder / "a.geojson", ("E1", "1", (40, 40))), *mapped, workspace=root)
    more = write_cabinets(folder / "b.geojson", ("E2", "1", (60, 40)))
    undone = done("import", "cabinets", more, *mapped, workspace=root)["batch"]
    done("batch", "undo", undone, "--by", "Ana", "--reason", "engano", workspace=root)
    answer = done("qgis", "--month", MONTH, workspace=root)
    return root, answer


@pytest.fixture(scope="module")
def opened(made, tmp_path_factory):
    """What QGIS says of the project after the whole folder was moved; skips where QGIS isn't installed."""
    home = tmp_path_factory.mktemp("qgis")
    moved = shutil.copytree(made[0], home / MOVED)
    return run_qgis("qgis_project_look.py", moved / "geobill.qgz", home, home=home), home


def project_of(path):
    with zipfile.ZipFile(path) as packed:
        assert packed.namelist() == ["geobill.qgs"]
        return packed.read("geobill.qgs").decode()


def layers_of(text):
    """Source of each layer by its id."""
    root = ElementTree.fromstring(text.removeprefix(HEAD))
    return {m.findtext("id"): m.findtext("datasource") for m in root.iter("maplayer")}


def test_the_command_says_what_it_wrote(made):
    root, answer = made
    assert answer["project"] == str(root / "geobill.qgz")
    assert answer["files"] == [str(root / "revisao.gpkg"), str(root / f"cobranca-{MONTH}.gpkg")]
    assert answer["findings"] == 7
    assert answer["layers"] == len(layers_of(project_of(root / "geobill.qgz")))


def test_every_source_is_relative_and_there(made):
    root, _ = made
    text = project_of(root / "geobill.qgz")
    assert str(root) not in text
    assert str(root.parent) not in text
    for id_, source in layers_of(text).items():
        assert len(id_) > 10, id_  # QGIS makes a new id for a shorter one, and themes and sheets would lose it
        file, layer = re.match(r"\./([^|]+)\|layername=([^|]+)", source).groups()
        assert layer in [name for name, _ in pyogrio.list_layers(root / file)], source


def test_equal_workspaces_give_equal_projects(made, tmp_path):
    root = shutil.copytree(made[0], tmp_path / "copy")
    before = [(root / name).read_bytes() for name in ("geobill.qgz", "revisao.gpkg", f"cobranca-{MONTH}.gpkg")]
    done("qgis", "--month", MONTH, workspace=root)
    assert [(root / name).read_bytes() for name in ("geobill.qgz", "revisao.gpkg", f"cobranca-{MONTH}.gpkg")] == before


def test_a_project_elsewhere_points_back(made, tmp_path):
    root = shutil.copytree(made[0], tmp_path / "ws")
    (tmp_path / "mesa").mkdir()
    done("qgis", tmp_path / "mesa" / "revisão.qgz", workspace=root)
    sources = layers_of(project_of(tmp_path / "mesa" / "revisão.qgz"))
    assert sources["cadastro_segments"].startswith("../ws/cadastre.gpkg|layername=segments")
    assert sources["revisao_cases"] == "./revisao.gpkg|layername=cases"
    assert (tmp_path / "mesa" / "revisao.gpkg").is_file()


def test_what_cannot_be_written_is_refused_and_nothing_is(made, tmp_path):
    root = shutil.copytree(made[0], tmp_path / "ws")
    for out, month, said in (
        (tmp_path / "a.qgs", MONTH, "must end in .qgz"),
        (tmp_path / "nowhere" / "a.qgz", MONTH, "isn't there"),
        (tmp_path / "a.qgz", "1999-01", "1999"),
        (tmp_path / "a.qgz", "11/2026", "11/2026"),
    ):
        refused = geobill("qgis", out, "--month", month, workspace=root)
        assert (refused.code, said in refused.err) == (1, True), refused.err
    assert sorted(p.name for p in tmp_path.iterdir()) == ["ws"]
    (tmp_path / "revisao.gpkg").write_text("meu")
    refused = geobill("qgis", tmp_path / "a.qgz", workspace=root)
    assert (refused.code, "no file of findings" in refused.err) == (1, True)
    assert (tmp_path / "revisao.gpkg").read_text() == "meu"


def test_an_empty_workspace_has_a_project_too(tmp_path):
    done("init", tmp_path / "ws")
    assert done("qgis", workspace=tmp_path / "ws")["findings"] == 0


# -- in QGIS


def test_every_layer_is_valid_styled_and_in_place(opened):
    said, _ = opened
    assert (said["title"], said["crs"]) == ("geobill: Caieiras", "EPSG:31983")
    assert said["groups"] == ["Revisão de achados", f"Cobrança de {MONTH}", *STORE_GROUPS]
    for id_, layer in said["layers"].items():
        assert layer["valid"], id_
        assert layer["aliases"], id_
        if not id_.startswith("livro_"):
            assert layer["crs"] == "EPSG:31983", id_
            assert layer["legend"], id_
    rows = {id_: layer["rows"] for id_, layer in said["layers"].items()}
    assert (rows["revisao_achados_suspected"], rows["revisao_achados_upheld"], rows["revisao_cases"]) == (6, 0, 7)
    assert rows["cobranca_pecas"] == 1
    assert rows["cadastro_equipment_Point"] == 1  # of two: one import was taken back
    by_owner = {v["title"]: v["rows"] for k, v in said["layers"].items() if k.startswith("revisao_achados_operadora")}
    assert by_owner == {"Alfa Telecomunicações S.A.": 2, "Beta <b>Redes</b> & Cia.": 3, "Operadora não sabida": 1}


def test_only_decisions_can_be_typed_in_qgis(opened):
    said, _ = opened
    assert [id_ for id_, layer in said["layers"].items() if layer["editable"]] == ["revisao_cases"]
    cases = said["layers"]["revisao_cases"]
    assert cases["typed"] == DECIDABLE
    assert (cases["widgets"]["decisao"], cases["widgets"]["operadora"], cases["widgets"]["operadora_lida"]) == (
        "ValueMap", "ValueMap", "Hidden",
    )  # fmt: skip


def test_themes_show_what_they_are_for(opened):
    said, _ = opened
    assert set(said["themes"]) == {"Revisão", "Cobrança", "Cadastro"}
    assert said["shown"] == said["themes"]["Revisão"]
    assert {"revisao_cases", "revisao_achados_suspected", "revisao_permitido"} <= set(said["themes"]["Revisão"])
    assert "revisao_achados_dismissed" not in said["themes"]["Revisão"]
    assert set(said["themes"]["Cobrança"]) == {"cobranca_pecas", "cobranca_cobertura", "cadastro_equipment_Point"}
    assert "cadastro_segments" in said["themes"]["Cadastro"]


def test_the_sheets_are_printed_one_for_each_finding(opened):
    said, home = opened
    assert set(said["layouts"]) == {"Evidência A4", "Evidência A3"}
    for name, sheet in said["layouts"].items():
        assert sheet["pages"] == 7
        assert set(sheet["scales"]) <= set(SCALES)
        assert {round(wide / high, 1) for wide, high in sheet["pixels"]} == {1.4}
        pdf = home / f"{name.replace(' ', '-')}.pdf"
        assert pdf.read_bytes()[:5] == b"%PDF-"
        first, *pages = sheet["texts"]
        assert first[0] == "Evidência de campo · visão geral"
        assert pages[0][0] == "Evidência de campo · achado V00001-00001"
        assert KIND_WORDS["undeclared_segment"] in pages[0][2]
        assert "Operadora: Alfa Telecomunicações S.A." in pages[0][2]
        assert "Extensão: 300,00 m" in pages[0][2]
        assert "R$ 450,00" in pages[0][2]
        assert "[%" not in json.dumps(sheet["texts"])


def test_what_was_typed_in_qgis_comes_back(opened):
    said, home = opened
    root = home / MOVED
    assert said["saved"] is True
    synced = done("case", "sync", root / "revisao.gpkg", "--by", "Ana Lima", workspace=root)
    assert (synced["read"], synced["typed"], synced["conflicts"]) == (7, 1, [])
    ((one),) = synced["done"]
    assert (one["finding"], one["state"], one["by"]) == ("V00001-00002", "dismissed", "Ana Lima")
    assert done("case", "sync", root / "revisao.gpkg", "--by", "Ana Lima", workspace=root)["already"] == [
        "V00001-00002"
    ]
