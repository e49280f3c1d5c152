"""The finance clerk's pages: what a month came to, why, where; an invoice down to the rows of the files."""

import re
from decimal import Decimal

import pytest
from billed_town import ALFA_TOTAL, BETA_TOTAL, copy_town, correct, edit, make_billed_town
from review_page import app_of, browser
from workspaces import add_operator, bill, done, import_cabinets, import_network, write_cabinets, write_network

from geobill.domain.dates import BillingMonth
from geobill.pipeline.overview import list_months, look_at_month
from geobill.store.workspace import open_workspace

D = Decimal
NBSP = "\u00a0"


@pytest.fixture(scope="module")
def town(tmp_path_factory):
    """October billed; in November an exempt company, a stretch that no zone covers, a cabinet, one cable doubled."""
    root = make_billed_town(tmp_path_factory.mktemp("finance"))
    files = root.parent / "files"
    add_operator(root, "daec", "DAEC <b>água</b>", kind="municipal")
    import_network(root, write_network(files / "daec.geojson", ("D1", 0.5, [(-900, 700), (-400, 700)])), "daec")
    rows = (
        ("C1", 0.5, [(100, 900), (200, 900)], {"situacao": "clandestine", "implantado": "2026-11-01"}),
        ("F1", 0.5, [(100, 3000), (350, 3000)], {"implantado": "2026-11-01"}),
    )
    import_network(root, write_network(files / "novos.geojson", *rows), "beta")
    import_cabinets(root, write_cabinets(files / "armarios.geojson", ("K1", 2, (10, 10))), "beta")
    return root


@pytest.fixture(scope="module")
def client(town):
    return browser(app_of(town))


def seen(client, address, status=200):
    answer = client.get(address)
    assert answer.status_code == status, answer.text
    return answer.text.replace(NBSP, " ")


def table(text, name):
    """Rows of a table as texts of their cells."""
    body = re.search(rf'id="{name}".*?</table>', text, re.S)[0]
    return [[_plain(c) for c in re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.S)] for row in body.split("<tr")[1:]]


def _plain(cell):
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", cell)).strip()


def test_the_months_are_listed(client, town):
    text = seen(client, "/meses")
    assert "R$ 565,20" in text
    assert text.index("novembro de 2026") < text.index("outubro de 2026")
    assert client.get("/meses?mes=2026-10").headers["location"] == "/meses/2026-10"
    assert "não é um mês" in seen(client, "/meses/outubro", 404)
    rows = list_months(open_workspace(town), BillingMonth(2026, 11))
    assert [(str(r.month), r.invoices, r.total) for r in rows] == [
        ("2026-11", 0, D(0)),
        ("2026-10", 2, ALFA_TOTAL + BETA_TOTAL),
    ]


def test_an_issued_month_shows_its_invoices_as_they_stand(client):
    text = seen(client, "/meses/2026-10")
    assert 'id="total-reais">R$ 565,20' in text
    owners = {row[0].split(" CNPJ")[0]: row for row in table(text, "tabela-entidades")[1:]}
    assert owners["Alfa Telecomunicações S.A."][3].startswith("nº 2026/000001 vence 15/12/2026")
    assert owners["Alfa Telecomunicações S.A."][-1] == "R$ 415,20"
    assert owners["DAEC &lt;b&gt;água&lt;/b&gt;"][3] == "isenta, art. 13"
    papers = table(text, "tabela-papeis")
    assert [row[0] for row in papers[1:]] == ["Fatura nº 2026/000001", "Fatura nº 2026/000002"]
    assert papers[1][-1] == "Anexo: CSV , GeoPackage Fatura: PDF , página"


def test_an_open_month_shows_what_is_held_and_exempt_and_closes(client):
    text = seen(client, "/meses/2026-11")
    assert "Nenhuma fatura emitida" in text
    held = table(text, "tabela-retidos")[1]
    assert held[0] == "Beta Gás S.A."
    assert "Fora das zonas do mapa (1 trecho)" in held[1]
    assert held[2:4] == ["art. 7º", "250,00 m"]
    assert table(text, "tabela-dobro")[1] == [
        "Beta Gás S.A.",
        "importado já como clandestino ou sem cadastro",
        "em dobro",
        "100,00 m",
        "R$ 24,00",
    ]
    total = table(text, "tabela-contas")[-2]
    # 1,800 m of alfa, 500 + 100 + 250 m of beta, 500 m of daec
    assert total == ["Total, em metros", "3.150,00", "2.400,00", "250,00", "500,00", "0,00", "0,00"]
    zones = table(text, "tabela-zonas")
    assert zones[1][0] == "Centro"
    assert zones[-1] == ["Total das zonas", "", "2.400,00", "589,20"]  # 565.20, and 100 m × 0.50 × 16 × 0.015 × 2
    assert "art. 13" in text
    assert "<b>água" not in text


def test_what_changed_adds_up(client):
    text = seen(client, "/meses/2026-11/diferencas")
    assert "faturado" in text
    rows = table(text, "tabela-mudancas")
    beta = next(n for n, row in enumerate(rows) if row[0] == "Beta Gás S.A.")
    assert rows[beta][5] == "+R$ 324,00"  # 24.00 for the doubled cable, 300.00 for the cabinet
    causes = {
        row[0].split(" C1")[0].split(" K1")[0].split(" F1")[0]: row[5] for row in rows[beta + 1 :] if len(row) == 6
    }
    assert causes["armários ou contêineres novos"] == "+R$ 300,00"
    answer = client.get("/meses/2026-11/diferencas", headers={"hx-request": "true"})
    assert "<html" not in answer.text


def test_zones_are_geojson_whose_sums_are_the_bill(client, town):
    answer = client.get("/mapa/zonas/2026-11.json")
    assert answer.headers["content-type"].startswith("application/geo+json")
    features = answer.json()["features"]
    assert {f["properties"]["zona"] for f in features} == {"Centro", "Serra"}
    values = look_at_month(open_workspace(town), BillingMonth(2026, 11)).values
    assert sum(D(f["properties"]["reais"]) for f in features) == values["totals"].zones
    lon, lat = features[0]["geometry"]["coordinates"][0][0][0]
    assert -47 < lon < -46
    assert -24 < lat < -23


def test_a_month_that_cannot_be_priced_shows_what_was_issued(client):
    text = seen(client, "/meses/1999-01")
    assert "não pode ser calculado" in text
    assert "Nada foi emitido" in text


def test_an_invoice_is_explained_down_to_the_rows(client):
    text = seen(client, "/faturas/2026/000001")
    assert 'id="total">R$ 415,20' in text
    assert "1.000,00 m" in text
    assert "40,00" in text
    line = seen(client, "/faturas/2026/000001/linhas/1")
    assert "1.000,00 × 0,50 × 40,00 × 0,03 × 0,50 × 1,00 × 1 × 31 ÷ 31 = 300,00" in line
    assert "alfa.geojson" in line
    assert table(line, "tabela-trechos")[1][:4] == ["A1", "Centro", "1.000,00", "300,00"]
    assert "não tem a linha 9" in seen(client, "/faturas/2026/000001/linhas/9", 404)
    assert "Nada foi emitido" in seen(client, "/faturas/2026/000009", 404)
    assert client.get("/faturas/2026/x").status_code in (404, 422)


def test_papers_are_those_that_were_issued_and_nothing_else(client, town):
    names = re.findall(r'href="(/faturas/2026/000001/papeis/[^"]+)"', client.get("/faturas/2026/000001").text)
    assert len(names) == 4
    pdf = client.get(next(n for n in names if n.endswith(".pdf")))
    assert pdf.content.startswith(b"%PDF-")
    assert "attachment" in pdf.headers["content-disposition"]
    page = client.get(next(n for n in names if n.endswith(".html")))
    assert "sandbox" in page.headers["content-security-policy"]
    for wrong in ("geobill.toml", "..%2f..%2fgeobill.toml", "..%5c..%5cgeobill.toml", "%2fetc%2fpasswd"):
        assert client.get(f"/faturas/2026/000001/papeis/{wrong}").status_code == 404


def test_a_correction_stands_beside_its_invoice(town, tmp_path):
    root = copy_town(town, tmp_path)
    edit(root, "alfa", "A1", largura=1.0)
    done("invoice", "cancel", "2026/000002", "--reason", "Emitida em duplicidade", "--by", "Ana Lima", workspace=root)
    correct(root, month="2026-10")
    client = browser(app_of(root))
    text = seen(client, "/meses/2026-10")
    assert "cancelada em" in text
    assert "Emitida em duplicidade" in text
    assert "Nota de diferença nº 2026/000003" in text
    assert "O que se exigiu deste mês até hoje" in seen(client, "/faturas/2026/000001")
    assert "Cancelada em" in seen(client, "/faturas/2026/000002")
    note = seen(client, "/faturas/2026/000003")
    assert "300,00" in note
    assert "largura cobrada" in note
    assert 'href="/faturas/2026/000001"' in note


def test_a_look_sees_what_was_issued_meanwhile(town, tmp_path):
    root = copy_town(town, tmp_path)
    client = browser(app_of(root))
    assert "Nenhuma fatura emitida" in seen(client, "/meses/2026-11")
    bill(root)
    text = seen(client, "/meses/2026-11")
    assert "Nenhuma fatura emitida" not in text
    assert "2 faturas" in text
    doubled = next(a for a in re.findall(r'href="(/faturas/2026/\d+)"', text) if "em dobro" in client.get(a).text)
    assert "sem nome" not in seen(client, doubled)
