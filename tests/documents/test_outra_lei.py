"""A sister law's papers are right in every sentence; and no figure of Caieiras is written into a template or a sentence."""

import csv
import io
import re
from dataclasses import replace
from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest

import geobill
from documents import records, sister
from documents.reading import packed, squeeze, text_of
from geobill.documents import memo, policy_words
from geobill.documents.apostila import render_apostila
from geobill.documents.citing import cite
from geobill.documents.html import text_lines
from geobill.documents.render import render_annex, render_decree_forms, render_invoice_forms
from geobill.documents.statute_words import StatuteWords
from geobill.domain.apostila import Cause, PriceChange
from geobill.domain.permit import Decree, Permit, PermitFile
from geobill.errors import BooksDontCloseError
from geobill.law.reading import parse_statute

DOCUMENTS = Path(geobill.__file__).parent / "documents"
STATUTE = StatuteWords(sister.FIGURES, sister.ON)
# What only Caieiras's law says: as words in a template or a sentence, it would be wrong in every other town.
CAIEIRAS_ONLY = (
    r"0,50 m", r"décimo quinto", r"3\.057", r"R\$[\s~\u00a0]*150", r"vinte por cento", r"10 de março", r"100[\s~\u00a0]km",
    r"arts?\.~(?!14 da Lei Complementar)\d+",
)  # fmt: skip
ELSEWHERE = {
    "case_papers.py",
    "case_sample.py",
    "note.py",
    "ical.py",
    "law_text.py",
}  # papers of other steps; the text of a law
EXAMPLES = {"sample.py"}  # made up under Caieiras's law


@pytest.fixture(scope="module")
def drawing():
    return records.small_map(height_mm=200)


@pytest.fixture(scope="module")
def invoice(drawing):
    return render_invoice_forms(sister.invoice(), drawing, sister.FIGURES)


@pytest.fixture(scope="module")
def draft(drawing):
    return render_decree_forms(sister.draft(), drawing, sister.FIGURES)


GOLDEN_INVOICE = (
    "domínio municipal – Lei nº 12, de 3 de março de 2010, arts. 5º e 9º.",
    "Vencimento no vigésimo dia do mês (art. 9º).",
    "COEFICIENTE REDUTOR (ART. 6º) R = 11.400,00 ÷ 12.000,00",
    "O pagamento em atraso fica sujeito a multa de 2% (art. 11) e a juros de 1% ao mês, contado por inteiro o mês começado "
    "(art. 11, § 1º).",
    "Cota única (art. 9º, § 1º). O pagamento pode ser feito em cota única, obedecido o valor anual de onze meses inteiros, na "
    "situação de 31/10/2026: 11 × R$ 3.798,45 = R$ 41.782,95",
    "As linhas com multiplicador desta fatura não entram na cota única.",
    "EM TRIPLO, art. 14",
    "MULTIPLICADA POR 1,5, art. 15, § 2º",
    "art. 5º: fórmula do preço; art. 5º, § 1º: índice de depreciação D; art. 5º, § 2º: largura mínima para cobrança; art. 8º: "
    "cobrança por unidade; art. 14: cobrança em triplo do equipamento clandestino",
    "art. 10: atualização do preço por índice.",
    "Rede (art. 5º)",
    "Armários, contêineres e outros, por unidade (arts. 8º e 10)",
    "Nº Equipamentos Fund. Unidades Preço (R$/un.) Mult. Dias Valor (R$) 5 Armários, contêineres e outros D 3 47,30 1 31/31 141,90",
    "Soma dos equipamentos, linhas 5 a 6 4 283,80",
    "Cobrados COM MULTIPLICADOR nas linhas desta fatura 65,00",
    "metros clandestinos ou sem o cadastro do art. 15 não contam nela",
    "no mínimo 0,30 m para efeito de cálculo e de cobrança (art. 5º, § 2º)",
    "L, o índice de locação, de 2,5%; D, o índice de depreciação, de 40%",
    "cobrados por unidade, a R$ 47,30 por unidade e mês (arts. 8º e 10). Multiplica-se por 1,5 ou 3 o que a Lei manda cobrar com "
    "multiplicador, e pelos dias",
    "Atualização do preço da unidade. O preço de R$ 42,50 é atualizado pelo índice “unidade fiscal” (art. 10): multiplica-se pelo "
    "valor do índice em janeiro de 2026, 133,56, divide-se pelo valor no mês-base, janeiro de 2024, 120,00, e arredonda-se uma "
    "única vez ao centavo: 42,50 × 133,56 ÷ 120,00 = R$ 47,30.",
    "Tabela do art. 6º, que manda aplicá-la faixa a faixa, pela extensão total da rede: até 8 km, 1,00; acima de 8 até 40 km, 0,85; "
    "acima de 40 km, 0,75. Cada faixa recebe o seu coeficiente: os 12.000,00 m desta entidade valem por 11.400,00 m",
    "8.000,00 × 0,30 × 100,00 × 0,025 × 0,40 × 11.400,00 ÷ 12.000,00 × 1 × 31 ÷ 31 = 2.280,00",
    "Sem efeito: o art. 6º manda aplicar o coeficiente faixa a faixa.",
    "Sem efeito: a última faixa da tabela de R, no art. 6º, não tem fim.",
    "A Lei não diz se os multiplicadores dos arts. 14 e 15 se acumulam.",
    "O art. 9º fixa o vigésimo dia e não diz de qual mês.",
    "fica retida até decisão (art. 20).",
    "O art. 4º não diz se a caução acompanha a mudança do valor mensal.",
    "Rede clandestina (art. 14)",
)
GOLDEN_DRAFT = (
    "A PREFEITA MUNICIPAL DE VILA FICTÍCIA, Rita Prado, no uso de suas atribuições legais, com fundamento nos arts. 3º e 5º da Lei "
    "nº 12, de 3 de março de 2010,",
    "não se lhe aplica o art. 18 da Lei nº 12, de 3 de março de 2010",
    "já vêm sendo utilizados (art. 19);",
    "a Prefeita Municipal autorizou a expedição",
    "emolumentos correspondentes (arts. 3º, § 2º, e 4º), comprovados",
    "equipamentos com 3 unidades.",
    "de no mínimo 0,30 m para efeito de cálculo e de cobrança (art. 5º, § 2º)",
    "o coeficiente redutor, aplicado faixa a faixa (art. 6º).",
    "§ 3º Os armários óticos, contêineres e outros serão cobrados por unidade instalada na área pública, à razão de R$ 47,30 "
    "(quarenta e sete reais e trinta centavos) mensais por unidade (arts. 8º e 10 da Lei).",
    "§ 4º O valor mensal acompanha o art. 5º da Lei: será recalculado sempre que se alterarem a extensão da rede, o número dos",
    "§ 5º O preço mensal por unidade é atualizado pelo índice “unidade fiscal” (art. 10 da Lei), com base em janeiro de 2024.",
    "com vencimento no vigésimo dia (art. 9º da Lei) do mês seguinte",
    "§ 1º O pagamento poderá ser feito em cota única, desde que obedecido o valor anual correspondente (art. 9º, § 1º, da Lei).",
    "§ 2º O pagamento em atraso fica sujeito a multa de 2%",
    "caução de R$ 22.790,70 (vinte e dois mil, setecentos e noventa reais e setenta centavos), correspondente a seis contribuições "
    "pecuniárias mensais calculadas com a fórmula do art. 5º da Lei, mediante o recolhimento dos emolumentos correspondentes "
    "(arts. 3º, § 2º, e 4º da Lei)",
    "ao cálculo multiplicado por 1,5 e à perda do direito à aprovação de outros projetos, na forma e nos prazos do art. 15, caput e "
    "§§ 1º, 2º e 3º, da Lei.",
    "Até 31 de maio de cada exercício",
    "multa diária, aplicada pela Secretaria de Vias Públicas, de dez por cento do valor",
    "por período superior a quarenta e cinco dias (art. 12, § 2º, da Lei).",
    "caberá defesa à Procuradoria-Geral, no prazo de dez dias (art. 12, § 3º, da Lei).",
    "será cobrada em triplo até a cessação da irregularidade (art. 14 da Lei).",
    "decisão do Prefeito Municipal (art. 20 da Lei).",
    "Rita Prado Prefeita Municipal",
    "Valor mensal (art. 5º, § 4º) três mil, setecentos e noventa e oito reais",
    "Caução (art. 4º): 6 × R$ 3.798,45 = R$ 22.790,70",
    "sem as cobranças com multiplicador.",
)


@pytest.mark.parametrize("sentence", GOLDEN_INVOICE)
def test_golden_words_of_the_invoice(invoice, sentence):
    assert packed(sentence) in packed(text_of(invoice["pdf"]))


@pytest.mark.parametrize("sentence", GOLDEN_DRAFT)
def test_golden_words_of_the_draft(draft, sentence):
    assert packed(sentence) in packed(text_of(draft["pdf"]))


def test_nothing_of_caieiras_stands_on_another_towns_papers(invoice, draft):
    for text in (text_of(invoice["pdf"]), text_of(draft["pdf"])):
        for foreign in ("Caieiras", "3.057", "décimo quinto", "em dobro", "EM DOBRO", "100 km", "art. 7º", "art. 13", "art. 16 ",
                        "por metro cúbico", "Orgânica", "advertência"):  # fmt: skip
            expected = "art. 16 da Lei" if foreign == "art. 16 " else None  # its own article on plans of expansion
            assert foreign not in text.replace(expected, "") if expected else foreign not in text, foreign


def test_articles_of_the_draft_count_without_a_gap(draft):
    found = [int(n) for n in re.findall(r"\bArt\. (\d+)[º.]", text_of(draft["pdf"]))]
    assert found == list(range(1, 13))


def test_the_page_says_the_same(invoice, draft):
    page = packed(" ".join(text_lines(invoice["html"])))
    assert packed("Vencimento no vigésimo dia do mês (art. 9º).") in page
    assert packed("por unidade (arts. 8º e 10 da Lei)") in packed(" ".join(text_lines(draft["html"])))


def test_lines_by_the_piece_are_worked_out_again_before_anything_is_printed(drawing):
    line = sister.piece_line()
    example = memo.worked_example([line])
    assert (example.symbols, example.factors) == (
        "unidades × preço da unidade × multiplicador × dias ÷ dias do mês", "3 × 47,30 × 1 × 31 ÷ 31",
    )  # fmt: skip
    wrong = replace(line, amount=line.amount + Decimal("0.01"))
    with pytest.raises(BooksDontCloseError, match="141,90"):
        render_invoice_forms(sister.invoice([wrong]), drawing, sister.FIGURES)


def test_volume_and_pieces_on_one_invoice_say_their_units(drawing):
    lines = (sister.piece_line(), records.equipment_line())
    text = text_of(render_invoice_forms(sister.invoice(lines), drawing, sister.FIGURES)["pdf"])
    assert "por volume ou por unidade" in text
    assert "3 un. 47,30/un." in text
    assert "2,40 m³ 150,00/m³" in text
    assert "2,40 m³, 3 un. 501,90" in text


def test_the_annex_has_a_column_of_pieces_only_where_the_law_counts_them():
    row = {"line": 5, "equipment": "AR-1", "pieces": 1, "amount_exact": Decimal("47.30"), "flags": ("no_decree",)}
    (table,) = _table(sister.invoice(), row, sister.FIGURES)
    assert (table["Unidades"], table["Observações"]) == ("1", "sem decreto (art. 19)")
    (plain,) = _table(records.invoice(), row, records.FIGURES)
    assert "Unidades" not in plain
    assert plain["Observações"] == "sem decreto (art. 16)"


def _table(invoice, row, figures):
    text = render_annex(invoice, [row], figures).decode("utf-8-sig")
    return list(csv.DictReader(io.StringIO(text), delimiter=";"))


def test_an_apostila_cites_the_towns_own_articles():
    permit = Permit("7/2015", "elektro", "1/2015", "telecomunicações", "Rede", date(2015, 1, 5))
    before = sister.draft()
    before = replace(before, price=replace(before.price, total=Decimal("3000.00")), deposit=Decimal("18000.00"))
    decree = Decree("55", "7/2015", date(2026, 6, 30), "Rita Prado", date(2026, 7, 2), before)
    causes = (
        Cause("figures", "price_per_piece", "42.50", "47.30"),
        Cause("figures", "minimum_width_m", "0.20", "0.30"),
    )
    change = PriceChange(PermitFile(permit, (), (decree,)), decree, sister.draft(), causes)
    text = packed(text_of(render_apostila(change, sister.FIGURES)))
    for part in (
        "A PREFEITA MUNICIPAL DE VILA FICTÍCIA", "com fundamento no art. 5º, § 4º, e no art. 5º da Lei nº 12",
        "Preço da unidade (arts. 8º e 10) 42,50 47,30", "Largura mínima de cobrança (art. 5º, § 2º) 0,20 m 0,30 m",
        "da caução depositada (art. 4º)", "é caso omisso (art. 20 da Lei)",
    ):  # fmt: skip
        assert packed(part) in text, part


def test_an_amending_act_is_cited_beside_the_laws_article():
    text = (Path(__file__).parents[2] / "geobill/law/statutes/caieiras_lei_3057_2001.toml").read_text(encoding="utf-8")
    act = (
        '\n[[amendment]]\nid = "A1"\nname = "price_per_m3"\nvalue = "162.50"\nunit = "BRL/m3/month"\narticle = "1"\n'
        'act = "Decreto 9/2026"\nin_force_from = 2026-07-01\n'
    )
    statute = StatuteWords(parse_statute(text + act), date(2026, 10, 1))
    assert squeeze(statute.cite("price_per_m3")) == "art. 7º, § 2º, e art. 1º (Decreto 9/2026)"
    assert statute.value("price_per_m3") == Decimal("162.50")


@pytest.mark.parametrize(
    ("articles", "cited"),
    [
        (("1", "2", "3", "12"), "arts. 1º a 3º e 12"),
        (("3", "6", "7"), "arts. 3º, 6º e 7º"),
        (("109, I",), "art. 109, I"),
        (("10", "10 § 1"), "art. 10, caput e § 1º"),
        (("10 § 2", "10 § 3"), "art. 10, §§ 2º e 3º"),
        (("9", "10", "10 § 2", "11"), "arts. 9º, 10, caput e § 2º, e 11"),
        (("4 § único", "4"), "art. 4º, caput e parágrafo único"),
        (("5-A",), "art. 5º-A"),
        ((), ""),
    ],
)
def test_articles_are_cited_as_lawyers_do(articles, cited):
    assert squeeze(cite(articles)) == cited


def test_a_rule_that_the_statute_lacks_is_not_cited():
    assert STATUTE.cite("damages") == STATUTE.aside("set_off") == STATUTE.aside_of_law("approval") == ""
    assert STATUTE.subject("forfeiture") == "A Lei"
    assert squeeze(STATUTE.subject("defence_days")) == "O art. 12, § 3º,"
    assert squeeze(STATUTE.of_law("price", "due_day")) == "arts. 5º e 9º da Lei"


# -- courts, set-offs, decisions


def test_what_a_court_suspends_stands_apart_from_the_total(drawing):
    parts = (
        sister.suspended(),
        sister.suspended("judicial_deposit", [records.equipment_line()], "2-X/2026", "TJSP"),
        sister.suspended("not_charged", [records.network_line("10.00")], "3-Y/2026", "STF"),
    )
    forms = render_invoice_forms(records.invoice(suspended=parts), drawing, records.FIGURES)
    text = packed(text_of(forms["pdf"]))
    for part in (
        "Valores com exigibilidade suspensa", "não integram o total desta fatura e não são exigidos por ela",
        "Processo nº 1001234-56.2026.8.26.0106 – 1ª Vara Cível de Caieiras",
        "500,00 × 0,50 × 458,41 × 0,03 × 0,50 × 0,90 × 1 × 30 ÷ 30", "Efeito: apurado, sem exigibilidade.",
        "não é exigível enquanto a ordem judicial produzir efeito", "Rede alcançada: 500,00 m", "Efeito: depósito judicial.",
        "Efeito: não cobrado.", "Com exigibilidade suspensa por ordem judicial 510,00",
        "TOTAL A PAGAR R$ 23.947,83",
    ):  # fmt: skip
        assert packed(part) in text, part
    assert packed("Efeito: depósito judicial.") in packed(" ".join(text_lines(forms["html"])))
    wrong = replace(parts[0], total=parts[0].total + 1)
    with pytest.raises(BooksDontCloseError, match="1001234-56"):
        render_invoice_forms(records.invoice(suspended=(wrong,)), drawing, records.FIGURES)


def test_a_set_off_shows_total_credit_and_what_is_to_be_paid(drawing):
    invoice = records.invoice(set_offs=sister.SET_OFFS)
    text = packed(text_of(render_invoice_forms(invoice, drawing, records.FIGURES)["pdf"]))
    for part in (
        "TOTAL A PAGAR R$ 22.447,33", "Total da fatura, R$ 23.947,83, menos R$ 1.500,50 de compensação (art. 14).",
        "vinte e dois mil, quatrocentos e quarenta e sete reais e trinta e três centavos",
        "Compensação com créditos da entidade (art. 14)", "C1 Lei Municipal nº 4.321, de 10 de maio de 2019 1.500,00",
        "A pagar em dinheiro 22.447,33", "(art. 14 da Lei), observado o art. 14 da Lei Complementar nº 101",
        "Total da fatura vinte e três mil, novecentos e quarenta e sete reais",
    ):  # fmt: skip
        assert packed(part) in text, part
    whole = replace(sister.SET_OFFS[0], amount=invoice.total)
    paid = text_of(render_invoice_forms(records.invoice(set_offs=(whole,)), drawing, records.FIGURES)["pdf"])
    assert "Nada há a pagar em dinheiro: o débito foi inteiramente compensado." in paid


def test_a_value_names_its_decision_or_says_that_there_is_none():
    decision = replace(records.DECISION, in_force_from=date(2026, 4, 1))
    use = records.PolicyUse("above_100_km", "D1", "hold", "D1")
    line = policy_words.policy_line(use, records.STATUTE, [decision])
    assert squeeze(line.decision) == (
        "Decisão nº 12/2026, de 1º de março de 2026, de Maria das Dores Conceição, Prefeita Municipal (art. 15) – Extensão acima de "
        "100 km: 0,60, a partir de 1º de abril de 2026."
    )
    changed = policy_words.policy_line(records.PolicyUse("on_border", "higher", "lower"), records.STATUTE)
    assert changed.decision == "Sem decisão registrada."
    default = policy_words.policy_line(records.PolicyUse("on_border", "lower", "lower"), records.STATUTE)
    assert default.decision == ""


# -- nothing written in


# articles of the decree itself, whose numbers are its own
OF_THE_DECREE = ("na forma do art.~3º.", "não integram o valor do art.~3º,", "(art.~1º deste Decreto)")


def _prose(path: Path) -> str:
    """A file's words: of Python what isn't a docstring or a comment, of a template what isn't a comment."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        text = re.sub(r'r?"""(?s:.*?)"""', "", text)
        return re.sub(r"(?m)#.*$", "", text)
    for own in OF_THE_DECREE:
        text = text.replace(own, "")
    return re.sub(r"(?s)\{#.*?#\}", "", text)


def _own_files():
    templates = [p for p in (DOCUMENTS / "templates").glob("*.j2") if p.name.split(".")[0] in TEMPLATES]
    modules = [p for p in DOCUMENTS.glob("*.py") if p.name not in ELSEWHERE | EXAMPLES]
    assert len(templates) == len(TEMPLATES)
    return [*templates, *modules]


TEMPLATES = ("fatura", "minuta_decreto", "apostila", "_base", "_calculo", "_linhas", "_memoria", "mapa", "index")


def test_no_figure_of_caieiras_is_written_into_a_template_or_a_sentence():
    found = [
        f"{path.name}: {hit[0]}"
        for path in _own_files()
        for what in CAIEIRAS_ONLY
        for hit in re.finditer(what, _prose(path))
    ]
    assert found == []


@pytest.mark.parametrize(
    "word", ["largura mínima de 0,50 m", "no décimo quinto dia", "Lei nº 3.057", "R$ 150,00", "(art.~7º)"]
)
def test_the_search_would_find_it(word):
    assert any(re.search(what, word) for what in CAIEIRAS_ONLY)
