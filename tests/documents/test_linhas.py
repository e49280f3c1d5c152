from dataclasses import replace
from decimal import Decimal

import pypdfium2
import pytest

from documents import records
from documents.reading import squeeze, text_of
from geobill.documents import words
from geobill.documents.lines import glossary, grounds, letter, line_table, metres_charged
from geobill.documents.render import render_decree_draft, render_invoice

CITED = ("7", "7 § 1", "16")
MIXED = (
    records.network_line(articles=CITED, flags=("in_gap", "no_decree")),
    records.network_line("10.00", articles=CITED, flags=("no_decree",)),
    records.network_line("20.00", multiplier="2", articles=(*CITED[:2], "10 § 2", "16"), flags=("in_gap", "no_decree")),
    records.network_line("30.00", articles=CITED, flags=("in_gap", "no_decree")),
    records.equipment_line(),
)


@pytest.fixture(scope="module")
def drawing():
    return records.small_map()


def render(drawing, lines, **changes) -> str:
    return text_of(render_invoice(records.invoice(lines=lines, **changes), drawing, records.FIGURES))


@pytest.mark.parametrize(
    ("times", "cited", "said"),
    [
        ("2", ("7", "12", "12 § 3"), "EM DOBRO, art. 12, § 3º"),
        ("2", ("7", "10 § 2", "12 § 3"), "EM DOBRO, art. 10, § 2º"),
        ("4", ("7", "10 § 2", "12 § 3"), "EM DOBRO DUAS VEZES (4×), art. 10, § 2º; art. 12, § 3º"),
    ],
)
def test_what_doubles_is_cited_with_its_paragraph_and_both_where_they_cumulate(drawing, times, cited, said):
    line = records.network_line("20.00", multiplier=times, articles=cited)
    assert grounds([line], records.STATUTE)[0].doubled == said
    text = render(drawing, [line])
    assert said in text
    assert ("por 4 onde os dois dobros se acumulam" in text) == (times == "4")


def test_a_line_by_a_case_names_it_on_the_line_and_in_the_legend(drawing):
    doubled = records.network_line("500.00", "200.00", "Centro", multiplier="2", articles=("7", "10 § 2"))
    lines = (replace(doubled, cases=("2026-014",)), replace(doubled, cases=("2026-015", "2026-016")), doubled)
    named = [row.case for row in line_table(lines, "network", records.STATUTE).rows]
    assert named == ["processo\u00a02026-014", "processos\u00a02026-015 e 2026-016", ""]
    assert [
        g.case for g in grounds(lines, records.STATUTE)
    ] == named  # a letter each: what each case asks for is summed
    text = render(drawing, lines)
    for case in named[:2]:
        assert text.count(case.replace("\u00a0", " ")) == 2


def test_a_letter_for_each_combination_with_sums_that_close():
    found = grounds(MIXED, records.STATUTE)
    assert [(g.letter, g.count) for g in found] == [("A", 2), ("B", 1), ("C", 1), ("D", 1)]
    assert [bool(g.doubled) for g in found] == [False, False, True, False]
    assert found[0].length_m == Decimal("1264.56")
    assert found[3].length_m is None
    assert sum(g.amount for g in found) == sum(line.amount for line in MIXED)
    assert [row.letter for row in line_table(MIXED, "network", records.STATUTE).rows] == ["A", "B", "C", "A"]
    assert [row.number for row in line_table(MIXED, "equipment", records.STATUTE).rows] == [5]
    assert metres_charged(MIXED, doubled=True) == Decimal("20.00")
    assert metres_charged(MIXED, doubled=False) == Decimal("1274.56")


def test_more_grounds_than_letters():
    lines = [records.network_line(articles=("7", f"99 § {i}")) for i in range(30)]
    assert [g.letter for g in grounds(lines, records.STATUTE)] == [letter(i) for i in range(30)]
    assert grounds(lines, records.STATUTE)[26].letter == "AA"


def test_the_legend_says_everything_once(drawing):
    text = render(drawing, MIXED)
    assert text.count("a Lei alcança os espaços que já vêm sendo utilizados") == 1
    assert text.count("via que o Mapa de Valores não cobre") == 1
    assert "art. 7º; art. 7º, § 1º; art. 10, § 2º; art. 16 EM DOBRO, art. 10, § 2º; em vão do mapa" in text
    assert text.count("EM DOBRO, art. 10, § 2º") == 1
    assert "3 Centro EM DOBRO C 20,00" in text
    assert text.index("A letra na coluna Fund.") < text.index("1 Centro A 1.234,56")
    assert "O pagamento não substitui a permissão de uso" in text
    assert "O pagamento não substitui" not in render(drawing, [records.network_line()])


def test_glossary_has_what_occurs_and_no_more():
    terms = [squeeze(term) for term, _ in glossary(MIXED, records.STATUTE)]
    assert terms == [
        "art. 7º", "art. 7º, § 1º", "art. 7º, § 2º", "art. 10, § 2º", "art. 16",
        words.flags(("in_gap",)), "sem decreto (art. 16)",
    ]  # fmt: skip
    unknown = records.network_line(articles=("99",), flags=("new_flag",))
    assert glossary([unknown], records.STATUTE) == ()
    assert (grounds([unknown], records.STATUTE)[0].articles, grounds([unknown], records.STATUTE)[0].notes) == (
        "art. 99",
        "new_flag",
    )


def test_service_and_permit_stand_in_a_column_only_where_they_differ(drawing):
    same = render(drawing, [records.network_line(), records.network_line("5.00")])
    assert "Todas as linhas da rede: energia elétrica · permissão 118/2019." in same
    assert "Serviço Permissão" not in same
    none = render(drawing, [records.network_line(service=None, permit=None)])
    assert "Todas as linhas da rede" not in none
    mixed = render(drawing, [records.network_line(), records.network_line("5.00", permit=None, service="água")])
    assert "Nº Zona Serviço Permissão Fund." in mixed
    assert "2 Centro água – A 5,00" in mixed
    one = render(drawing, [records.network_line(), records.network_line("5.00", permit=None)])
    assert "Nº Zona Permissão Fund." in one


def test_figures_have_two_decimals_at_least_and_no_needless_zeros(drawing):
    line = records.network_line("7.10", "253.9", width="0.5")
    text = render(drawing, [line, records.network_line("1.00", "200"), records.equipment_line("57.192380")])
    assert "7,10 0,50 253,90 0,03" in text
    assert "1,00 0,50 200,00 0,03" in text
    assert "57,19238 150,00" in text


def test_sums_of_each_table_and_metres_of_the_month(drawing):
    held = records.usual_held()
    text = render(drawing, MIXED, held=held, network_length_m=Decimal("2258.51"))
    assert "Soma da rede, linhas 1 a 4 1.294,56" in text
    assert "Soma dos equipamentos, linha 5 2,40 360,00" in text
    assert "Cobrados nas linhas desta fatura 1.274,56 Cobrados EM DOBRO nas linhas desta fatura 20,00" in text
    assert "Retidos, não cobrados: Fora das zonas do mapa 879,47" in text
    assert "Soma da rede da entidade no mês 2.278,51" in text
    assert "é de 2.258,51 m: metros clandestinos ou sem o cadastro do art. 12 não contam nela" in text


@pytest.mark.parametrize("equipment", [False, True])
@pytest.mark.parametrize("count", [1, 2, 3, 8, 10, 15, 16, 17, 74, 78, 81])
def test_the_total_never_stands_alone_on_a_page(drawing, count, equipment):
    lines = [records.network_line(f"{100 + i}.10", zone=f"Z{i}") for i in range(count)]
    lines += [records.equipment_line()] if equipment else []
    pages = pypdfium2.PdfDocument(render_invoice(records.invoice(lines=lines), drawing, records.FIGURES))
    texts = [squeeze(page.get_textpage().get_text_range()) for page in pages]
    (total,) = [text for text in texts if "Total da fatura" in text]
    assert "30/30" in total.split("Total da fatura")[0]


def test_a_row_of_a_long_zone_stays_on_one_page(drawing):
    zone = "Zona de uso predominantemente residencial de média densidade e baixo gabarito"
    lines = [records.network_line(f"{i + 1}.00", zone=f"{zone} {i}") for i in range(60)]
    pages = pypdfium2.PdfDocument(render_invoice(records.invoice(lines=lines), drawing, records.FIGURES))
    texts = [squeeze(page.get_textpage().get_text_range()).replace(" ", "") for page in pages]
    for i in range(60):
        assert any(f"gabarito{i}" in text and f"A{i + 1},00" in text for text in texts), i


def test_the_scale_of_r_is_printed_with_where_the_operator_falls(drawing):
    text = render(drawing, [records.network_line()])
    assert "até 5 km, 1,00; acima de 5 até 15 km, 0,90;" in text
    assert "acima de 50 até 100 km, 0,60. A extensão desta entidade, de 7.056,09 m, leva a R = 0,90." in text
    decided = render(
        drawing, [records.network_line(reducer="0.60")], reducer=Decimal("0.60"), network_length_m=Decimal("159000.10")
    )
    assert "passa do fim da tabela; R = 0,60 vem de decisão (art. 15)" in decided


def test_the_minuta_has_the_same_table():
    pdf = render_decree_draft(records.draft(), records.small_map(height_mm=200), records.FIGURES)
    text = text_of(pdf)
    assert "Todas as linhas da rede: energia elétrica · permissão 118/2019." in text
    assert "1 Centro A 1.234,56 0,50 458,41" in text
    assert "Valor mensal (art. 6º, § 1º) vinte mil, seiscentos e oitenta e nove reais" in text
    assert "Caução (art. 3º, § 2º): 3 × R$ 20.689,56 = R$ 62.068,68" in text
