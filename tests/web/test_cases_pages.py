"""Cases on the page: opened on a finding, taken step by step as the law allows, with papers and next month's double line."""

import html
import re

import pyogrio
import pytest
from documents.reading import text_of
from field_town import field_town, town
from pipeline.test_cases import decide_term
from review_page import app_of, browser
from workspaces import done, geobill, maps, place, write_geojson

from geobill.pipeline.cases import list_cases
from geobill.store.workspace import open_workspace

ONE, TWO = "V00001-00001", "V00001-00002"
OPENING = {
    "achado": [ONE, TWO],
    "versao": ["1", "1"],
    "numero": "7/2026",
    "objeto": "Cabo <b>aéreo</b>",
    "dia": "2026-11-30",
    "por": "Rui Prado",
    "referencia": "Auto 7",
}


def said(answer, status=200):
    assert answer.status_code == status, answer.text
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", " ", answer.text)))


def act(client, step, day="2026-11-30", status=303, **more):
    data = {"passo": step, "dia": day, "por": "Rui Prado", **more}
    files = {"papel": more.pop("papel")} if "papel" in data else {}
    answer = client.post("/processos/7/2026/passo", data={k: v for k, v in data.items() if k != "papel"}, files=files)
    return said(answer, status)


@pytest.fixture(scope="module")
def life(tmp_path_factory):
    """A case of two findings, from the opening to the double line, by the page alone; what each page said."""
    root = field_town(tmp_path_factory.mktemp("pages"))
    for id_ in (ONE, TWO):
        done("finding", "uphold", id_, "--by", "Ana Lima", workspace=root)
    client, told = browser(app_of(root)), {}
    told["none"] = said(client.get("/processos"))
    told["ask"] = client.get(f"/processos/abrir?achado={ONE}&achado={TWO}").text
    told["stale"] = said(client.post("/processos/abrir", data={**OPENING, "versao": ["0", "1"]}), 409)
    blank = client.post("/processos/abrir", data={**OPENING, "objeto": " "})
    told["blank"], told["blank_form"] = said(blank, 400), blank.text
    told["future"] = said(client.post("/processos/abrir", data={**OPENING, "dia": "2026-12-01"}), 400)
    told["unjudged"] = client.get("/processos/abrir?achado=V00001-00003").text
    early = client.post("/processos/abrir", data={**OPENING, "dia": "1999-01-01", "achado": ONE, "versao": "1"})
    told["early_form"] = early.text
    told["no"] = [s.file.case.id for s in list_cases(open_workspace(root))]
    answer = client.post("/processos/abrir", data=OPENING)
    assert (answer.status_code, answer.headers["location"]) == (303, "/processos/7/2026")
    told["opened"] = client.get("/processos/7/2026").text
    told["waits"] = said(client.get("/processos/7/2026"))
    told["again"] = said(client.get(f"/processos/abrir?achado={ONE}"))
    told["term"] = act(client, "notified", status=400)
    decide_term(root, "15")
    told["early"] = act(client, "doubled", status=400)
    act(client, "notified", referencia="N 1", papel=("../../nota.pdf", b"%PDF-1.4 assinado", "application/pdf"))
    told["bad_paper"] = act(client, "defence_lodged", "2026-12-01", 400, papel=("a.pdf", b"MZ", "application/pdf"))
    told["list"] = said(client.get("/processos"))
    act(client, "defence_lodged", "2026-12-01")
    told["no_outcome"] = act(client, "defence_decided", "2026-12-02", 400)
    act(client, "defence_decided", "2026-12-02", resultado="rejected")
    for step in ("technical_opinion", "legal_opinion", "impossibility_report"):
        act(client, step, "2026-12-02")
    told["undecided"] = said(client.get("/processos/7/2026/cobranca"))
    told["half"] = act(client, "doubled", "2026-12-03", 400, instalado="2026-10-16")
    act(client, "doubled", "2026-12-03", instalado="2026-10-16", prova="NF 33")
    told["doubled"] = client.get("/processos/7/2026").text
    told["charge"] = said(client.get("/processos/7/2026/cobranca"))
    return root, client, told


def test_the_list_says_what_waits_and_what_doubling_lacks(life):
    _, _, told = life
    assert "2 achados que procedem e não estão em processo" in told["none"]
    assert "Nenhum processo ainda" in told["none"]
    for part in (
        "7/2026",
        "Notificado",
        "Prazo da notificação até 15/12/2026 faltam 15 dias",
        "falta o laudo de impossibilidade",
    ):
        assert part in told["list"]


def test_opening_asks_and_refuses_in_portuguese_and_changes_nothing_then(life):
    _, _, told = life
    assert f'name="achado" value="{ONE}"' in told["ask"]
    assert 'value="2026-001"' in told["ask"]
    assert "Falta o objeto" in told["blank"]
    assert told["no"] == []
    assert "está em outro processo" in told["again"]
    assert "posterior a hoje" in told["future"]
    assert "ninguém decidiu ainda que um achado procede" in told["unjudged"]
    assert "Abrir o processo" not in told["unjudged"]


def test_a_refused_form_comes_back_as_it_was_typed(life):
    _, _, told = life
    form = told["blank_form"]
    assert form.index("Falta o objeto") < form.index('id="numero"')
    for field, value in (("numero", "7/2026"), ("dia", "2026-11-30"), ("por", "Rui Prado"), ("referencia", "Auto 7")):
        assert re.search(rf'name="{field}"[^>]* value="{value}"', form), field
    assert form.count('name="versao" value="1"') == 2
    assert 'value="1999-01-01"' in told["early_form"]
    assert "Cabo &lt;b&gt;aéreo" in told["early_form"]


def test_the_next_step_that_waits_for_the_mayor_says_so(life):
    _, _, told = life
    for part in (
        "Próximo passo",
        "geobill decision add … --question ample_defence_days",
        "geobill policy set ample_defence_days",
    ):
        assert part in told["waits"]
    assert "geobill policy set" not in told["doubled"]


def test_what_was_typed_reaches_the_page_as_text(life):
    _, _, told = life
    assert "Cabo &lt;b&gt;aéreo&lt;/b&gt;" in told["opened"]
    assert "<b>aéreo" not in told["opened"]


def test_a_step_that_the_law_doesnt_allow_is_refused_with_its_articles(life):
    _, _, told = life
    assert "o prazo depende de decisão do Prefeito" in told["term"]
    for part in ("a operadora não foi notificada", "art. 10 § 1", "falta o parecer dos órgãos técnicos", "art. 10 § 2"):
        assert part in told["early"]
    assert "Falta o resultado" in told["no_outcome"]
    assert "o que prova o dia da instalação" in told["half"]
    assert "pelos bytes do começo" in told["bad_paper"]


def test_only_steps_that_can_be_taken_have_a_form(life):
    _, _, told = life
    forms = set(re.findall(r'name="passo" value="(\w+)"', told["doubled"]))
    assert {"removed", "installation_proven", "dismissed"} <= forms
    assert not forms & {"notified", "doubled", "forfeited", "regularised", "fined", "found"}


def test_the_papers_can_be_fetched_and_do_nothing(life):
    _, client, told = life
    links = dict(re.findall(r'href="(/processos/7/2026/papeis/\d+)"[^>]*>(PDF|HTML)<', told["doubled"]))
    pdf = client.get(next(link for link, form in links.items() if form == "PDF"))
    assert "Auto de constatação" in text_of(pdf.content)
    assert pdf.headers["content-disposition"].startswith("attachment")
    page = client.get(next(link for link, form in links.items() if form == "HTML"))
    assert "sandbox" in page.headers["content-security-policy"]
    scan = client.get(re.search(r"/processos/7/2026/digitalizados/\d+", told["doubled"])[0])
    assert scan.content == b"%PDF-1.4 assinado"
    assert "nota.pdf" in told["doubled"]
    assert ".." not in scan.headers["content-disposition"]
    assert client.get("/processos/7/2026/papeis/999").status_code == 404
    assert client.get("/processos/nada").status_code == 404


def test_next_months_invoice_shows_the_double_line_with_the_case_number(life):
    _, _, told = life
    assert "só depois da decisão do Secretário" in told["undecided"]
    # 500 × 0.50 × 200 × 0.03 × 0.50 × 1 × 2 × 30/30: November isn't invoiced yet
    for part in ("Próxima fatura: novembro de 2026", "em dobro", "7/2026", "R$ 1.500,00", "Meses passados"):
        assert part in told["charge"]
    # October, from the 16th: 1,500 × 16/31
    assert "R$ 774,19" in told["charge"]


def test_the_width_that_priced_a_finding_is_proposed_for_its_row(tmp_path):
    root = town(tmp_path)
    rows = [({"id": i}, "LineString", place((100, y), (300, y))) for i, y in (("B", 25), ("C", 45))]
    file = write_geojson(tmp_path / "campo.geojson", rows)
    terms = ("--tolerance", "3", "--operator", "alfa", "--default-width", "0.40", *maps("segment=id"))
    found = done("detect", "--survey", file, *terms, "--by", "Caio", workspace=root)["findings"]
    b, c = (f["id"] for f in found if f["kind"] == "undeclared_segment")
    done("finding", "uphold", b, c, "--by", "Ana", workspace=root)
    asked = browser(app_of(root)).get(f"/processos/abrir?achado={b}").text
    assert 'name="largura" required inputmode="decimal" maxlength="8" value="0,40"' in asked
    typed = ("--subject", "Cabo", "--by", "Rui")
    taken = done("case", "open", "--finding", b, *typed, workspace=root)
    assert (taken["default_width_m"], taken["without_width"]) == ("0.40", [b])
    assert (
        f"width 0.5 m, as given, for {c}"
        in geobill("case", "open", "--finding", c, *typed, "--default-width", "0.5", workspace=root).out
    )
    stored = pyogrio.read_dataframe(root / "cadastre.gpkg", layer="segments").set_index("segment")["width_m"]
    assert (stored[b], stored[c]) == ("0.40", "0.5")
