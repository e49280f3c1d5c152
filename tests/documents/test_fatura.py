import hashlib
import subprocess
import sys
from dataclasses import replace
from datetime import date
from decimal import Decimal
from pathlib import Path

import pypdfium2
import pytest

from documents import records
from documents.reading import packed, page_count, text_of
from geobill.documents import words
from geobill.documents.render import render_invoice
from geobill.domain.dates import BillingMonth
from geobill.domain.invoice import AmountIf, Held
from geobill.errors import BooksDontCloseError, TemplateError

ROOT = Path(__file__).parents[2]
FACTORS = (
    "land_value",
    "length_m",
    "billed_width_m",
    "volume_m3",
    "price_per_m3",
    "location_index",
    "depreciation_index",
    "reducer",
    "multiplier",
    "amount",
)
NASTY = (
    'Água #panic("x") & Cia.',
    "$ x^2 $ *negrito* _itálico_ `raw` ~ @citado <rótulo>",
    ']) #read("/etc/passwd") [(',
    'barra \\ barra\\" aspas " fim\\',
    "{{ 7*7 }} {% raw %} // não é comentário /* nem isto */",
    "D'Água & <script>alert(1)</script>",
)


@pytest.fixture(scope="module")
def drawing():
    return records.small_map()


def render(drawing, **changes) -> str:
    return text_of(render_invoice(records.invoice(**changes), drawing, records.FIGURES))


def test_every_figure_of_every_line_is_printed(drawing):
    invoice = records.invoice()
    text = text_of(render_invoice(invoice, drawing, records.FIGURES))
    for line in invoice.lines:
        for name in FACTORS:
            value = getattr(line, name)
            assert value is None or words.number(value) in text, (name, value)
        assert f"{line.days}/{line.month_days}" in text
        assert line.zone is None or line.zone in text
        for article in line.articles:
            assert packed(words.article(article)) in packed(text)


def test_a_network_line_prints_its_factors_in_one_row(drawing):
    assert "1.234,56 0,50 458,41 0,03 0,50 0,90 1 30/30 3.820,06" in render(drawing)


def test_who_what_when(drawing):
    text = render(drawing)
    for part in (
        "Prefeitura Municipal de Caieiras",
        "46.523.064/0001-78",
        "Secretaria Municipal de Obras",
        "Companhia Paulista de Distribuição de Energia S.A.",
        "33.050.196/0001-88",
        "João Antônio de Sá",
        "2026/0042",
        "outubro de 2026",
        "3 de novembro de 2026",
        "16/11/2026",
        "R$ 23.947,83",
        "vinte e três mil, novecentos e quarenta e sete reais e oitenta e três centavos",
        "7.056,09 m",
        "R = 0,90",
        "Página 1 de",
        records.sha("invoice"),
        records.sha("geometry"),
        "Escala 1:8.000",
        "Rede clandestina",
    ):
        assert packed(part) in packed(text), part


def test_worked_example_gives_the_exact_product(drawing):
    text = render(drawing)
    assert "Linha 2 (a × b × T × L × D × R × multiplicador × dias ÷ dias do mês)" in text
    assert "4.801,07 × 0,75 × 331,94 × 0,03 × 0,50 × 0,90 × 1 × 30 ÷ 30 = 16.135,880154975" in text
    only_equipment = render(drawing, lines=[records.equipment_line("1.125", "2", articles=("7 § 2", "10 § 2"))])
    assert "1,125 × 150,00 × 2 × 30 ÷ 30 = 337,50" in only_equipment
    assert "meio centavo ou mais sobe" in text
    half_even = render(drawing, basis=records.basis(rounding="half_even"))
    assert "vai ao centavo par" in half_even


def test_doubled_lines_are_marked_and_not_in_the_yearly_payment(drawing):
    text = render(drawing)
    assert text.count("EM DOBRO, art. 10, § 2º") == 2
    assert "12 × R$ 20.879,72 = R$ 250.556,64" in text
    assert "As linhas em dobro desta fatura não entram na cota única" in text
    plain = render(drawing, lines=[records.network_line()])
    assert "EM DOBRO" not in plain
    assert "não entram na cota única" not in plain
    both = render(drawing, held=records.usual_held())
    assert "As linhas em dobro desta fatura e os metros retidos não entram na cota única" in both
    only_held = render(drawing, lines=[records.network_line()], held=records.usual_held())
    assert "Os metros retidos não entram na cota única" in only_held
    assert "Cota única" not in render(drawing, yearly=None, yearly_monthly=None)


def test_held_metres_say_why_and_what_they_would_cost(drawing):
    text = render(drawing, held=records.usual_held())
    assert "Fora das zonas do mapa" in text
    assert "31 879,47" in text
    assert "Não cobrado; se aplicado o menor valor, seriam R$ 82,34." in text
    assert "983,95" in text
    for item in records.usual_held():
        assert item.segment in text
    whole = Held("elektro", None, "above_100_km", "", "7", Decimal("159000.10"), AmountIf("0.60", Decimal("71000.00")))
    text = render(drawing, lines=[records.equipment_line()], held=(whole,), reducer=None)
    assert "toda a rede 159.000,10" in text
    assert "se aplicado o coeficiente 0,60, seriam R$ 71.000,00" in text
    assert "retido: a Lei não o fixa" in text


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({}, "15 de novembro de 2026, não tem expediente bancário"),
        ({"month": BillingMonth(2026, 11), "due_on": date(2026, 12, 15)}, "Vencimento no décimo quinto dia do mês"),
        ({"issued_on": date(2026, 12, 1), "due_on": date(2026, 12, 18)}, "foi fixado na sua emissão"),
        # typed: Tuesday the 15th is a banking day for all that the record says, so nothing is claimed of it
        (
            {"month": BillingMonth(2026, 11), "issued_on": date(2026, 12, 1), "due_on": date(2026, 12, 18)},
            "O décimo quinto dia (art. 8º) é 15 de dezembro de 2026, e o vencimento desta fatura, 18 de dezembro de 2026;",
        ),
        (
            {"due_on": date(2026, 11, 10)},
            "é 15 de novembro de 2026; o vencimento desta fatura, 10 de novembro de 2026, foi",
        ),
        (
            {"due_on": date(2026, 12, 30)},
            "é 15 de novembro de 2026; o vencimento desta fatura, 30 de dezembro de 2026, foi",
        ),
        (
            {"due_on": date(2026, 11, 17)},
            "é 15 de novembro de 2026, e o vencimento desta fatura, 17 de novembro de 2026;",
        ),
        ({"basis": records.basis(due_day_rule="same_day")}, "foi fixado na sua emissão"),
        (
            {"basis": records.basis(due_month="same"), "issued_on": date(2026, 10, 1), "due_on": date(2026, 10, 15)},
            "Vencimento no décimo quinto dia do mês",
        ),
    ],
)
def test_due_day_is_explained(drawing, changes, sentence):
    assert sentence in render(drawing, **changes)


def test_payment_instructions(drawing):
    assert "em separado" in render(drawing)
    text = render(drawing, authority=records.authority(payment_instructions="Pague na agência 0001, conta 5-2."))
    assert "Pague na agência 0001, conta 5-2." in text
    assert "em separado" not in text


def test_memo_prints_policy_with_its_decision(drawing):
    text = render(drawing, basis=records.basis((records.DECISION,), above_100_km="D1"))
    assert "above_100_km = D1" in text
    assert "Decisão nº 12/2026, de 1º de março de 2026, de Maria das Dores Conceição" in text
    assert "até 20 m de distância" in text
    assert "O art. 7º não diz de quem é a extensão" in text


def test_300_lines_repeat_the_header_on_each_page(drawing):
    lines = records.many_lines()
    pdf = render_invoice(records.invoice(lines=lines), drawing, records.FIGURES)
    document = pypdfium2.PdfDocument(pdf)
    pages = [page.get_textpage().get_text_range().replace("\u00a0", " ") for page in document]
    with_lines = [page for page in pages if "30/30" in page]
    assert len(with_lines) <= 6
    assert all("Nº Zona Fund." in " ".join(page.split()) for page in with_lines)
    assert all(f"de {len(document)}" in page for page in pages)
    text = text_of(pdf)
    for number, line in enumerate(lines, start=1):
        assert f"{number} {line.zone}" in text
        assert words.number(line.amount) in text


@pytest.mark.parametrize("name", NASTY)
def test_names_come_out_literally(drawing, name):
    text = render(
        drawing,
        operator=records.operator(name=name, address=name, representative=name),
        authority=records.authority(name=name, payment_instructions=name, secretariat=name),
        lines=[records.network_line(zone=name, permit=name, service=name)],
        held=(Held("x", name, "no_zone", "", "7", Decimal("1.00")),),
    )
    assert packed(text).count(packed(name)) >= 8


def test_name_of_300_characters_and_long_words(drawing):
    name = "Companhia " + "Brasileira de Distribuição " * 11
    word = "Pneumoultramicroscopicossilicovulcanoconiótico" * 6
    text = render(drawing, operator=records.operator(name=name, address=word), lines=[records.network_line(zone=word)])
    assert packed(name) in packed(text)
    assert packed(text).count(word) == 2


def test_emoji_and_direction_marks_cannot_stop_a_document(drawing):
    name = "Cabo\u202e Rápido\u200f 🙂 日本 \x00\t S.A. \ue000 a\u0301gua"
    text = render(drawing, operator=records.operator(name=name))
    assert "Cabo Rápido □ □□ S.A. □ água" in text


def test_same_bytes_again_and_in_another_process(drawing):
    first = render_invoice(records.invoice(held=records.usual_held()), drawing, records.FIGURES)
    assert render_invoice(records.invoice(held=records.usual_held()), records.small_map(), records.FIGURES) == first
    program = (
        "import hashlib; from documents import records; from geobill.documents.render import render_invoice; "
        "pdf = render_invoice(records.invoice(held=records.usual_held()), records.small_map(), records.FIGURES); "
        "print(hashlib.sha256(pdf).hexdigest())"
    )
    other = subprocess.run(
        [sys.executable, "-c", program],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONHASHSEED": "7", "PYTHONPATH": str(ROOT / "tests"), "TZ": "Asia/Tokyo", "PATH": ""},
    )
    assert other.stdout.strip() == hashlib.sha256(first).hexdigest()


def test_pdf_is_archivable_accessible_and_named(drawing):
    pdf = render_invoice(records.invoice(), drawing, records.FIGURES)
    assert b"<pdfaid:part>2</pdfaid:part>" in pdf
    assert b"<pdfaid:conformance>A</pdfaid:conformance>" in pdf
    assert b"<pdfuaid:part>1</pdfuaid:part>" in pdf
    assert b"pt-BR" in pdf
    assert "Fatura nº 2026/0042" in pypdfium2.PdfDocument(pdf).get_metadata_value("Title")


def test_a_line_that_does_not_follow_from_its_factors_is_refused(drawing):
    wrong = replace(records.network_line(), amount=Decimal("3820.07"))
    with pytest.raises(BooksDontCloseError, match=r"Line 1 .*3820\.07.*3\.820,0588848"):
        render_invoice(records.invoice(lines=[wrong]), drawing, records.FIGURES)
    with pytest.raises(BooksDontCloseError, match=r"0\.01 apart"):
        render_invoice(records.invoice(total=Decimal("23947.84")), drawing, records.FIGURES)


def test_a_map_wider_than_the_page_is_refused():
    with pytest.raises(TemplateError, match="its scale would be wrong"):
        render_invoice(records.invoice(), records.small_map(width_mm=200), records.FIGURES)


def test_one_page_count_is_printed(drawing):
    pdf = render_invoice(records.invoice(), drawing, records.FIGURES)
    assert f"Página 1 de {page_count(pdf)}" in text_of(pdf)
