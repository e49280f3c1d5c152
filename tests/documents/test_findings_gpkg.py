"""Findings for QGIS, and the store itself: what is in the layers, what may be typed, how QGIS shows them."""

import sqlite3
from contextlib import closing
from dataclasses import replace
from datetime import date
from decimal import Decimal
from types import SimpleNamespace
from xml.etree import ElementTree

import geopandas as gpd
import pyogrio
import pytest
import shapely
from field_town import SRID, at, field_town, finding, town
from pricing.shapes import ORIGIN
from workspaces import done, geobill

from documents.qgis_run import run_qgis
from geobill.documents import findings_gpkg
from geobill.documents.field_styles import DECISIONS as CHOICES
from geobill.documents.field_styles import LOOKS, NOTHING
from geobill.documents.finding_words import KIND_WORDS, STATE_WORDS
from geobill.documents.findings_gpkg import Shown
from geobill.documents.gpkg_layers import without_traces
from geobill.domain.detection import FINDING_KINDS
from geobill.pipeline.findings_out import load_field_map, write_findings
from geobill.pipeline.store_styles import style_store
from geobill.store.finding_queue import Query
from geobill.store.tables import FEATURES
from geobill.store.workspace import open_workspace

ON = date(2026, 11, 30)
COLUMNS = {
    "zonas": findings_gpkg.ZONES,
    "permitido": findings_gpkg.PERMITTED,
    "levantamento": findings_gpkg.SURVEYED,
    "equipamentos": findings_gpkg.EQUIPMENT,
    "achados": findings_gpkg.FINDINGS,
    "achados_pontos": findings_gpkg.FINDINGS,
    "cases": findings_gpkg.DECISIONS,
}


@pytest.fixture(scope="module")
def workspace(tmp_path_factory):
    return open_workspace(field_town(tmp_path_factory.mktemp("field"), more=3))


@pytest.fixture(scope="module")
def shown(workspace):
    with workspace.database.read() as connection:
        return load_field_map(workspace, connection, Query(order="id"), ON)


@pytest.fixture(scope="module")
def path(shown, tmp_path_factory):
    path = tmp_path_factory.mktemp("out") / "achados.gpkg"
    path.write_bytes(findings_gpkg.findings_gpkg(shown))
    return path


def rows(path, layer):
    return gpd.read_file(path, layer=layer)


def query(path, sql):
    with closing(sqlite3.connect(path)) as database:
        return database.execute(sql).fetchall()


def style_of(path, table):
    ((text,),) = query(path, f"SELECT styleQML FROM layer_styles WHERE f_table_name = '{table}'")
    return ElementTree.fromstring(text.split("\n", 1)[1])


def choices(style, column):
    """The value map of a column, stored value to words."""
    options = style.findall(f".//field[@name='{column}']/editWidget[@type='ValueMap']//Option[@type='QString']")
    return {o.get("value"): o.get("name") for o in options}


def typable(style):
    return [f.get("name") for f in style.find("editable") if f.get("editable") == "1"]


# -- findings


def test_every_layer_has_its_rows_columns_and_index(path):
    assert [name for name, _ in pyogrio.list_layers(path)] == [*COLUMNS, "layer_styles"]
    counts = {name: pyogrio.read_info(path, layer=name)["features"] for name in COLUMNS}
    assert counts == {
        "zonas": 1, "permitido": 1, "levantamento": 5, "equipamentos": 1, "achados": 5, "achados_pontos": 1, "cases": 6,
    }  # fmt: skip
    for name, columns in COLUMNS.items():
        info = pyogrio.read_info(path, layer=name)
        assert (info["crs"], list(info["fields"])) == (f"EPSG:{SRID}", [c for c, _, _ in columns])
        assert query(path, f"SELECT count(*) FROM rtree_{name}_geom") == [(counts[name],)]
    assert query(path, "PRAGMA integrity_check") == [("ok",)]


def test_figures_are_those_of_the_register(path, shown):
    found = rows(path, "achados").set_index("achado")
    for one in shown.findings:
        if one.finding.kind == "undeclared_equipment":
            continue
        row = found.loc[one.finding.id]
        assert Decimal(str(row["extensao_m"])) == one.finding.length_m
        assert (row["preco_mes_centavos"], row["preco_mes"]) == (
            int(one.finding.month_amount * 100), f"{one.finding.month_amount}".replace(".", ","),
        )  # fmt: skip
        assert (row["tipo"], row["artigo"], row["situacao"], row["versao"]) == (
            one.finding.kind,
            "art. 10",
            "suspected",
            0,
        )
    assert found.loc["V00001-00001", "rotulo"].replace("\xa0", " ") == "00001 · 300,00 m"
    assert found["operadora"].fillna("").tolist() == ["alfa", "alfa", "", "beta", "beta"]
    assert rows(path, "achados_pontos")["volume_m3"].tolist() == [2.0]


def test_pins_stand_on_their_findings(path, shown):
    pins = rows(path, "cases").set_index("achado").geometry
    assert all(pins[s.finding.id].distance(s.shape) < 1e-6 for s in shown.findings)


def test_the_same_findings_give_the_same_bytes(path, shown):
    assert findings_gpkg.findings_gpkg(shown) == path.read_bytes()
    moments = query(path, "SELECT last_change FROM gpkg_contents UNION SELECT update_time FROM layer_styles")
    assert moments == [("2026-11-30T00:00:00.000Z",)]


def test_only_decisions_may_be_typed(path):
    for table in COLUMNS:
        style = style_of(path, table)
        typed = ["decisao", "motivo", "responsavel", "operadora", "nota"] if table == "cases" else []
        assert (typable(style), style.get("readOnly")) == (typed, "0" if typed else "1"), table
        aliases = {a.get("field"): a.get("name") for a in style.iter("alias")}
        assert aliases == {c: words for c, _, words in COLUMNS[table]}
    cases = style_of(path, "cases")
    assert choices(cases, "decisao") == CHOICES
    assert list(CHOICES)[1:] == ["procede", "não procede", "desfazer"]
    assert choices(cases, "operadora") == {
        NOTHING: "(não se sabe)", "alfa": "Alfa Telecomunicações S.A.", "beta": "Beta <b>Redes</b> & Cia.",
    }  # fmt: skip
    shown_in_form = {f.get("name") for f in cases.iter("attributeEditorField")}
    hidden = {"operadora_lida", "operadora_nome"}
    assert shown_in_form | hidden == {c for c, _, _ in findings_gpkg.DECISIONS}
    for table in ("achados", "achados_pontos", "cases"):
        style = style_of(path, table)
        assert (choices(style, "tipo"), choices(style, "situacao")) == (KIND_WORDS, STATE_WORDS)


def test_every_kind_has_a_look_that_differs_without_colour():
    assert set(LOOKS) == set(FINDING_KINDS)
    lines = [look[2] for kind, look in LOOKS.items() if kind not in ("undeclared_equipment", "larger_than_permitted")]
    assert len(set(lines)) == len(lines)


def test_what_is_not_kept_takes_no_decision(workspace, tmp_path, shown):
    seen = SimpleNamespace(
        lines=shown.lines.drop(columns="survey"), equipment=shown.surveyed_equipment.drop(columns="survey")
    )
    survey = SimpleNamespace(id="V00002", compared_on="2026-11-30")
    found = SimpleNamespace(
        survey=survey, kept=False, seen=seen, findings=[s.finding for s in shown.findings[:2]],
        shapes=[s.shape for s in shown.findings[:2]], against=None,
    )  # fmt: skip
    path = write_findings(workspace, found, tmp_path / "seco.gpkg")
    assert [name for name, _ in pyogrio.list_layers(path)] == [*list(COLUMNS)[:-1], "layer_styles"]
    assert len(rows(path, "achados")) == 2
    assert write_findings(workspace, found, path) == path  # nothing can wait in it
    suspect = SimpleNamespace(survey=survey, kept=False, seen=seen, findings=[], shapes=[], against=None)
    assert len(rows(write_findings(workspace, suspect, path), "levantamento")) == 5


def test_one_comparison_has_its_own_survey_only(workspace, tmp_path):
    survey = SimpleNamespace(id="V00001", compared_on="2026-11-30")
    found = SimpleNamespace(survey=survey, kept=True, against=None)
    path = write_findings(workspace, found, tmp_path / "v1.gpkg")
    assert set(rows(path, "levantamento")["levantamento"]) == {"V00001"}
    assert len(rows(path, "cases")) == 6


def test_qgis_draws_every_kind_and_state(shown, tmp_path):
    kinds = list(FINDING_KINDS)
    line, point = at((0, 40), (60, 40)), shapely.Point(ORIGIN[0], ORIGIN[1])
    many = [
        Shown(
            finding(n, kind, "alfa", str(n), 60),
            shapely.affinity.translate(shape, 0, 10 * n),
            state,
            1,
            "alfa",
            by="Ana",
        )
        for n, (kind, shape, state) in enumerate(
            ((k, g, s) for k in kinds for g in (line, point) for s in STATE_WORDS), 1
        )
    ]
    path = tmp_path / "todos.gpkg"
    path.write_bytes(findings_gpkg.findings_gpkg(replace(shown, findings=many)))
    said = run_qgis("qgis_look.py", path, tmp_path / "todos.png", *COLUMNS, home=tmp_path)
    assert {name: v["unseen"] for name, v in said["layers"].items()} == dict.fromkeys(COLUMNS, 0)
    assert set(said["layers"]["achados"]["legend"]) == set(KIND_WORDS.values())
    assert said["layers"]["cases"]["legend"][:4] == list(STATE_WORDS.values())
    for drawn in ("#d55e00", "#b3b3b3", "#0b3c7d"):
        assert drawn in said["colours"], drawn


# -- the store itself


def test_the_store_carries_a_read_only_style_for_each_table(workspace):
    kept = query(workspace.database.path, "SELECT f_table_name, f_geometry_column, useAsDefault FROM layer_styles")
    names = [t.name for t in workspace.database.tables.metadata.sorted_tables]
    assert kept == [(name, "geom" if name in FEATURES else "", 1) for name in names]
    for name in names:
        style = style_of(workspace.database.path, name)
        assert (style.get("readOnly"), typable(style)) == ("1", [])


def test_the_store_is_sound_with_its_styles(workspace):
    assert done("doctor", workspace=workspace.root)["faults"] == 0


def test_a_persons_own_style_stays_and_stays_the_default(tmp_path):
    workspace = open_workspace(town(tmp_path))
    store = workspace.database.path
    with closing(sqlite3.connect(store)) as database:
        database.execute(
            "INSERT INTO layer_styles (f_table_name, f_geometry_column, styleName, styleQML, useAsDefault, owner, update_time) "
            "VALUES ('segments', 'geom', 'meu', '<qgis/>', 1, 'ana', '2026-11-30T00:00:00.000Z')"
        )
        database.commit()
    done("operator", "add", "--id", "gama", "--name", "Gama", workspace=workspace.root)
    style_store(workspace, "2026-12-01T00:00:00Z")
    kept = query(store, "SELECT styleName, useAsDefault FROM layer_styles WHERE f_table_name = 'segments' ORDER BY 1")
    assert kept == [("meu", 1), ("segments", 0)]
    assert "Gama" in query(store, "SELECT styleQML FROM layer_styles WHERE f_table_name = 'findings'")[0][0]
    before = store.read_bytes()
    style_store(workspace, "2026-12-02T00:00:00Z")
    assert store.read_bytes() == before


def test_qgis_opens_the_store_styled(workspace, tmp_path):
    layers = ["value_zones", "priced_coverage", "segments", "survey_lines", "findings|geometrytype=LineString",
              "findings|geometrytype=Point", "survey_equipment|geometrytype=Point"]  # fmt: skip
    said = run_qgis("qgis_look.py", workspace.database.path, tmp_path / "store.png", *layers, home=tmp_path)["layers"]
    assert {name: v["unseen"] for name, v in said.items()} == dict.fromkeys(layers, 0)
    assert {v["renderer"] for v in said.values()} == {"singleSymbol", "categorizedSymbol", "RuleRenderer"}
    assert said["segments"]["aliases"]["width_m"] == "Largura (m)"
    assert said["findings|geometrytype=Point"]["labels"] is True


def test_out_is_refused_before_anything_is_compared(workspace, tmp_path):
    there = tmp_path / "a.gpkg"
    there.write_text("x")
    refused = geobill(
        "detect",
        "--survey",
        tmp_path / "s.gpkg",
        "--tolerance",
        "3",
        "--by",
        "Ana",
        "--out",
        there,
        workspace=workspace.root,
    )
    assert (refused.code, "is no file of findings" in refused.err) == (1, True)


def test_what_sqlite_counts_of_its_own_writing_is_left_out(path):
    content = path.read_bytes()
    written_on = (
        content[:24] + (99).to_bytes(4) + content[28:92] + (99).to_bytes(4) + (3045000).to_bytes(4) + content[100:]
    )
    assert without_traces(written_on) == content
    assert without_traces(b"%PDF-1.7 other papers") == b"%PDF-1.7 other papers"
