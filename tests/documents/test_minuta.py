import re
from decimal import Decimal

import pytest

from documents import records
from documents.reading import packed, text_of
from documents.test_fatura import NASTY
from geobill.documents.render import render_decree_draft
from geobill.errors import BooksDontCloseError


@pytest.fixture(scope="module")
def drawing():
    return records.small_map(height_mm=200)


def render(drawing, **changes) -> str:
    return text_of(render_decree_draft(records.draft(**changes), drawing, records.FIGURES))


def test_clauses_that_the_law_demands(drawing):
    text = packed(render(drawing))
    for part in (
        "MINUTA",
        "O PREFEITO MUNICIPAL DE CAIEIRAS",
        "art. 109, I, da Lei Orgânica do Município",
        "arts. 3º, 6º e 7º da Lei nº 3.057, de 27 de junho de 2001",
        "CONSIDERANDO",
        "D E C R E T A",
        "a título precário e oneroso",
        "revogada a qualquer tempo",
        "Processo Administrativo nº",
        "energia elétrica: rede com 6.348,03 m de extensão",
        "2,40 m³",
        "é de R$ 20.689,56 (vinte mil, seiscentos e oitenta e nove reais e cinquenta e seis centavos)",
        "R = 0,90",
        "décimo quinto dia",
        "cota única",
        "depósito de caução de R$ 62.068,68",
        "três contribuições pecuniárias mensais",
        "emolumentos",
        "refazimento",
        "danos ou prejuízos",
        "10 de março",
        "elementos cadastrais",
        "vinte por cento",
        "trinta dias",
        "quinze dias",
        "ampla defesa",
        "em dobro",
        "casos omissos",
        "entra em vigor na data de sua publicação",
        "Anexo I – Memória de cálculo",
        "Anexo II – Mapa da rede",
        records.sha("draft"),
        "31 de outubro de 2026",
    ):
        assert packed(part) in text, part


def test_articles_count_without_a_gap(drawing):
    text = render(drawing)
    found = [int(n) for n in re.findall(r"\bArt\. (\d+)[º.]", text)]
    assert found == list(range(1, 16))


def test_every_article_of_the_law_that_binds_the_permit_is_cited(drawing):
    text = render(drawing)
    for cited in (
        "art. 1º",
        "art. 2º",
        "art. 3º",
        "art. 4º",
        "art. 5º",
        "art. 6º",
        "art. 7º",
        "art. 8º",
        "art. 9º",
        "art. 10",
        "art. 11",
        "art. 12",
        "art. 15",
    ):
        assert cited in text, cited


def test_exemption_edition_setoff_and_regulation_are_dealt_with(drawing):
    text = render(drawing)
    assert "não é entidade de direito público do Município de Caieiras" in text
    assert "não se lhe aplica o art. 13 da Lei nº 3.057" in text
    assert "o da edição 2026, em vigor desde 1º de janeiro de 2026" in text
    assert "art. 14 da Lei Complementar nº 101" in text
    assert "o decreto que a regulamenta (arts. 2º e 17 da Lei)" in text
    assert "art. 12, caput e §§ 1º, 3º e 4º, da Lei" in text
    assert "advertência, aplicada pela Secretaria Municipal de Obras" in text
    assert "não se lhe aplica" not in render(drawing, operator=records.operator(kind="municipal"))


def test_figures_of_the_law_come_from_the_lines(drawing):
    text = render(drawing)
    assert "o índice de locação, de 3%; D, o índice de depreciação, de 50%" in text
    assert "à razão de R$ 150,00 (cento e cinquenta reais) mensais por metro cúbico" in text
    held = render(drawing, lines=[], held_m="159000.10", reducer=None)
    assert "de 3%; D, o índice de depreciação, de 50%" in held


def test_a_line_without_service_takes_the_operators(drawing):
    text = render(drawing, lines=[records.network_line(service=None)], operator=records.operator(service="telecom"))
    assert "I – telecomunicações: rede com 1.234,56 m de extensão." in text


def test_clandestine_network_on_the_map_is_said_to_be_outside_the_permit(drawing):
    assert "não integram a permissão (art. 1º deste Decreto)" in render(drawing)


def test_number_date_and_signatures_stay_blank(drawing):
    text = render(drawing)
    assert re.search(r"DECRETO Nº ?, DE DE DE", text)
    assert "Prefeito Municipal" in text


def test_held_price_withholds_price_and_deposit(drawing):
    text = packed(render(drawing, lines=[records.equipment_line()], held_m="159000.10", reducer=None))
    assert packed("I – rede com 159.000,10 m de extensão; II – telecomunicações: armários") in text
    assert packed("o valor mensal fica retido até decisão do Prefeito Municipal, na forma do art. 15 da Lei") in text
    assert packed("O valor da caução fica retido") in text
    assert packed("é de R$") not in text
    assert packed("Valor mensal e caução retidos") in text


def test_held_metres_are_said(drawing):
    assert "983,95 m de rede da PERMISSIONÁRIA estão com a cobrança retida" in render(drawing, held_m="983.95")
    assert "cobrança retida" not in render(drawing)


def test_deposit_must_be_its_months(drawing):
    with pytest.raises(BooksDontCloseError, match=r"62068\.68"):
        render(drawing, deposit=Decimal("1.00"))


def test_same_bytes_again(drawing):
    assert render_decree_draft(records.draft(), drawing, records.FIGURES) == render_decree_draft(
        records.draft(), drawing, records.FIGURES
    )


@pytest.mark.parametrize("name", NASTY)
def test_names_come_out_literally(drawing, name):
    text = render(
        drawing,
        operator=records.operator(name=name, address=name, representative=name),
        authority=records.authority(name=name, mayor=name, secretariat=name, legal_office=name),
    )
    assert packed(text).count(packed(name)) >= 12
