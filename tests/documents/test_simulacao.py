"""The pages of a simulation and of the notch report: their figures are the answer's, they stand alone and read anywhere."""

import csv
import io
import re
from decimal import Decimal

import lxml.html
import pypdfium2
import pytest
from chromium import measure, needs_chromium, printed
from lxml import etree
from notch_town import COLUMNS, MONTH, make_notch_town, proposed_map
from workspaces import done

from documents.reading import squeeze, text_of
from geobill.documents.simulation import change_value, chart_of
from geobill.documents.statute_words import StatuteWords
from geobill.domain.dates import BillingMonth
from geobill.domain.simulation import Change, MonthPair, OperatorPair, Pair, Simulation
from geobill.law.statutes import load_statute

HOSTILE = " \"<script>alert(1)</script>' & Cia"
D = Decimal
STATUTE = StatuteWords.of_month(load_statute("caieiras-lei-3057-2001").figures, BillingMonth(2026, 11))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Folder with the results of one simulation and one report, of a town with a hostile name in it."""
    made = tmp_path_factory.mktemp("simulacao")
    root = make_notch_town(made, hostile=HOSTILE)
    changed = ("--figure", "price_per_m3=165.00", "--policy", "above_100_km=0.6")
    proposed = ("--land-values", proposed_map(made), *COLUMNS)
    options = ("--until", "2026-12", *changed, *proposed, "--csv", made / "s.csv", "--html", made / "s.html")
    answer = done("simulate", "--month", MONTH, *options, "--chart", made / "s.svg", workspace=root)
    done("simulate", "--month", MONTH, *changed, "--chart", made / "s.png", workspace=root)
    report = ("report", "notches", "--month", MONTH, "--html", made / "n.html", "--csv", made / "n.csv")
    return made, answer, done(*report, workspace=root)


def page_of(folder, name):
    return lxml.html.document_fromstring((folder / name).read_bytes().decode())


def text(element):
    return squeeze(" ".join(element.xpath(".//text()[not(ancestor::style)]")))


def rows_of(folder, name):
    content = (folder / name).read_bytes()
    assert content.startswith(b"\xef\xbb\xbf")
    return list(csv.DictReader(io.StringIO(content.decode("utf-8-sig")), delimiter=";"))


def values(page, path):
    return [D(data.get("value")) for data in page.xpath(path)]


def test_the_page_prints_the_sums_of_the_answer(folder):
    made, answer, _ = folder
    page = page_of(made, "s.html")
    for name, key in (("base", "base"), ("cenario", "scenario"), ("diferenca", "difference")):
        assert values(page, f"//*[@id='total-{name}']") == [D(answer["total"][key])]
    for side in ("base", "scenario"):
        for table in ("tabela-entidades", "tabela-zonas"):
            printed_values = values(page, f"//*[@id='{table}']//data[@class='{side}']")
            assert sum(printed_values) == D(answer["total"][side])
    for o in answer["operators"]:
        (row,) = page.xpath(f"//tr[@data-operator='{o['operator']}']")
        assert values(row, ".//data") == [D(o["base"]), D(o["scenario"])]


def test_the_page_says_what_was_compared_and_what_is_only_supposed(folder):
    made, _, _ = folder
    said = text(page_of(made, "s.html"))
    assert "SIMULAÇÃO – nada foi emitido nem gravado" in said
    assert "Preço do m³ de armários (R$) 150,00 165,00" in said
    assert "R = 0,60, por decisão suposta: ninguém a tomou" in said
    assert "O mapa proposta.geojson é uma proposta, lida e não importada: 2 de 3 linhas servem de zona." in said
    assert "novembro de 2026 a dezembro de 2026 (2 meses)" in said
    assert "nan" not in said.lower().split()


def test_winners_and_losers_are_told_without_colour(folder):
    made, answer, _ = folder
    page = page_of(made, "s.html")
    for o in answer["operators"]:
        (row,) = page.xpath(f"//tr[@data-operator='{o['operator']}']")
        mark = "▲" if D(o["difference"]) > 0 else "▼" if D(o["difference"]) < 0 else "="
        assert mark in text(row)
    said = text(page.xpath("//section[@aria-labelledby='zonas']/p")[0])
    assert said.startswith("2 zonas pagam mais no cenário, 1 paga menos, 0 pagam o mesmo.")
    assert "art. 7º, § 2º" in said


@pytest.mark.parametrize("name", ["s.html", "n.html"])
def test_a_page_asks_for_nothing_and_runs_nothing(folder, name):
    made, _, _ = folder
    raw, page = (made / name).read_text(encoding="utf-8"), page_of(made, name)
    assert page.xpath("//script | //img | //iframe | //form | //@onclick | //link[not(@href='data:,')]") == []
    assert "default-src 'none'" in page.xpath("//meta[@http-equiv='Content-Security-Policy']/@content")[0]
    assert re.findall(r"https?://|url\(|@import", raw) == []
    assert page.xpath("/html/@lang") == ["pt-BR"]
    assert page.xpath("//a/@href") == ["#conteudo"]
    assert HOSTILE not in raw


@pytest.mark.parametrize("name", ["s.html", "n.html"])
def test_a_table_has_headings_that_a_screen_reader_reads_out(folder, name):
    made, _, _ = folder
    page = page_of(made, name)
    for table in page.xpath("//table"):
        assert table.xpath("./thead//th[@scope='col']")
        assert all(row.xpath("./th[@scope='row']") for row in table.xpath("./tbody/tr"))
    ids = page.xpath("//@id")
    assert len(ids) == len(set(ids))
    assert set(page.xpath("//section/@aria-labelledby")) <= set(ids)
    assert all(svg.get("aria-label") for svg in page.xpath("//svg"))


@needs_chromium
@pytest.mark.parametrize("name", ["s.html", "n.html"])
@pytest.mark.parametrize("width", [390, 1440])
def test_a_page_fits_a_telephone_and_a_screen(folder, name, width):
    made, _, _ = folder
    said = measure(made / name, width)
    assert said["beyond"] == []
    assert said["scroll"] <= said["width"]


@needs_chromium
def test_a_simulation_prints_with_what_is_folded_on_the_screen(folder, tmp_path):
    made, _, _ = folder
    pdf = printed(made / "s.html", tmp_path / "s.pdf")
    said = text_of(pdf)
    assert "Valor por entidade" not in said  # the chart is a drawing, named for those who can't see it
    assert "Oeste" in said
    assert len(pypdfium2.PdfDocument(pdf)) <= 5


def test_the_chart_stands_alone_and_says_what_it_shows(folder):
    made, answer, _ = folder
    svg = etree.fromstring((made / "s.svg").read_bytes())
    assert svg.tag == "{http://www.w3.org/2000/svg}svg"
    assert svg.get("role") == "img"
    assert all(o["name"][:10] in svg.get("aria-label") for o in answer["operators"])
    texts = [squeeze("".join(t.itertext())) for t in svg.iter("{*}text")]
    assert f"R$ {D(answer['operators'][0]['base']):.2f}".replace(".", ",") in [t.replace(".", "") for t in texts]
    assert (made / "s.png").read_bytes().startswith(b"\x89PNG")


def simulation_of(*amounts):
    """Simulation of operators that pay so much on either side."""
    zero = Pair(D(0), D(0))
    rows = tuple(
        OperatorPair(f"o{n}", f"Operadora {n}", Pair(D(base), D(other)), zero, zero, zero, ((), ()), zero)
        for n, (base, other) in enumerate(amounts)
    )
    total = Pair(sum((r.amount.base for r in rows), D(0)), sum((r.amount.scenario for r in rows), D(0)))
    months = (MonthPair(BillingMonth(2026, 11), total, (None, None)),)
    return Simulation(months, rows, (), (), total, zero, zero, zero)


def test_bars_are_as_long_as_their_amounts_and_small_operators_share_one():
    found = simulation_of(*((100 - n, 2 * (100 - n)) for n in range(30)))
    chart = chart_of(found, 900)
    assert [b.name for b in chart.bars[:2]] == ["Operadora 0", "Operadora 1"]
    assert chart.bars[-1].name == "outras 19 entidades"
    assert len(chart.bars) == 12
    shared = chart.bars[-1]
    assert D(shared.scenario_width) == 900 - 116
    assert abs(D(shared.base_width) * 2 - D(shared.scenario_width)) < D("0.2")
    for bar, amount in zip(chart.bars[:-1], range(100, 89, -1), strict=True):
        assert abs(D(bar.base_width) / D(shared.base_width) - D(amount) / sum(range(71, 90))) < D("0.01")


def test_nothing_to_charge_makes_an_empty_chart():
    assert chart_of(simulation_of(("0", "0")), 340).bars == ()


def test_a_scale_and_a_figure_are_written_as_people_read_them():
    scale = Change("brackets", "reducer", "", "5000: 1.00; 7500.50: 0.90; : 0.80")
    assert change_value(scale, scale.scenario, STATUTE) == "até 5 km, 1,00; até 7,5005 km, 0,90; acima, 0,80"
    assert change_value(Change("figure", "price_per_piece", "", "35"), "35", STATUTE) == "35,00"
    assert change_value(Change("figure", "price_per_piece", "", "35"), "", STATUTE) == "nenhum"


def test_the_table_adds_up_in_each_of_its_kinds(folder):
    made, answer, _ = folder
    rows = rows_of(made, "s.csv")
    for kind in ("Entidade", "Zona", "Mês", "Total"):
        mine = [r for r in rows if r["Recorte"] == kind]
        assert mine
        for column, key in (("Base (R$)", "base"), ("Cenário (R$)", "scenario"), ("Diferença (R$)", "difference")):
            assert sum(D(r[column].replace(",", ".")) for r in mine) == D(answer["total"][key])


# -- the notch report


def test_the_report_s_page_and_table_print_its_figures(folder):
    made, _, report = folder
    said, rows = text(page_of(made, "n.html")), rows_of(made, "n.csv")
    assert "5.000,00 m 4.500,00 m 5.555,56 m" in said
    assert "No degrau de 5.000,00 m 200,00 m acima da borda; com mais 355,56 m paga o mesmo que na borda" in said
    assert "Antes da borda de 5.000,00 m 100,01 m a mais passariam a borda e baixariam a conta" in said
    assert "preço médio do metro da própria rede" in said
    alfa = next(r for r in rows if r["Entidade"].startswith("Alfa"))
    assert (alfa["Paga no mês (R$)"], alfa["Pagaria faixa a faixa (R$)"]) == ("140,40", "155,40")
    assert (alfa["Metros acima da borda"], alfa["Metros até pagar o mesmo que na borda"]) == ("200,00", "355,56")
    longa = next(r for r in rows if r["Entidade"].startswith("Longa"))
    assert (longa["Situação"], longa["Paga no mês (R$)"]) == ("acima da tabela: retido", "")
    assert len(rows) == len(report["networks"]) == 3
