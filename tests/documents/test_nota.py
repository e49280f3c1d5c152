"""Notes in Portuguese: one template that reads well for each kind, and refuses what doesn't add up."""

from dataclasses import replace
from datetime import date
from decimal import Decimal

import pytest

from documents import records
from documents.reading import packed, squeeze, text_of
from geobill.documents.html import read_page, text_lines
from geobill.documents.note import TITLES, months_alike, note_job, render_note
from geobill.domain.check import Cause
from geobill.domain.dates import BillingMonth
from geobill.domain.invoice import AmountIf, Held, Suspended
from geobill.domain.note import CHARGED_SINCE, NOTES, Note, NoteLine
from geobill.errors import BooksDontCloseError
from geobill.law.statutes import load_statute

LINES = records.usual_lines()
TOTAL = sum((line.amount for line in LINES), Decimal("0.00"))
WHOLE = tuple(line for line in LINES if line.multiplier == 1 and line.days == line.month_days)
MONTHLY = sum((line.amount for line in WHOLE), Decimal("0.00"))
ZERO = Decimal("0.00")


def figures():
    return load_statute("caieiras-lei-3057-2001").figures


def corrected(month, invoice, by="-120.50", causes=None):
    amount = Decimal(by)
    causes = causes or (
        Cause("width", 2, Decimal("312.40"), amount - Decimal("0.01"), ("A3", "A4")),
        Cause("rounding", 0, ZERO, Decimal("0.01")),
    )
    return NoteLine(
        BillingMonth(2026, month), "", TOTAL, TOTAL - amount, amount, ("7", "10 § 2"), invoice, "2026", "0.90", LINES,
        causes=causes,
    )  # fmt: skip


def note(kind="credit", lines=None, **changes):
    lines = lines if lines is not None else (corrected(9, "2026/000001"), corrected(10, "2026/000002"))
    values = {
        "number": "2026/000003",
        "kind": kind,
        "issued_on": date(2026, 12, 1),
        "due_on": None if kind == "credit" else date(2026, 12, 15),
        "authority": records.authority(),
        "operator": records.operator(),
        "basis": replace(
            records.basis(),
            digests=tuple((f"2026-{m:02d}/{r}", records.sha(r)) for m in (9, 10) for r in ("network", "edition")),
        ),
        "cause": "Largura medida em campo (processo 12/2026)",
        "lines": tuple(lines),
        "total": sum((line.amount for line in lines), ZERO),
        "digest": records.sha("note"),
        "by": "Ana Lima",
    }
    return Note(**{**values, **changes})


def single_payment():
    year = [
        NoteLine(BillingMonth(2027, m), "", MONTHLY, ZERO, MONTHLY, ("8 par. único", "7"), None, "2026", "0.90", WHOLE)
        for m in range(1, 13)
    ]
    return note("single_payment", year, cause="")


def fine():
    days = {"rate": Decimal("0.20"), "base": Decimal("10000.05"), "days": 10}
    dates = {"first_day": date(2026, 11, 1), "last_day": date(2026, 11, 10)}
    amount = Decimal("20000.10")
    return note(
        "fine", [NoteLine(BillingMonth(2026, 11), "", amount, ZERO, amount, ("9 § 2",), **days, **dates)], case="C7"
    )


def retroactive():
    one = WHOLE[:1]
    months = [
        NoteLine(
            BillingMonth(2019, m), "", one[0].amount, ZERO, one[0].amount, ("10 § 3", "7"), None, "2019", "0.90", one
        )
        for m in range(4, 13)
    ]
    held = Held(
        "elektro", None, "limitation", "2001", "15", ZERO, AmountIf("3 months without limitation", Decimal("33.30"))
    )
    return note("retroactive", months, case="C1", held=(held,), cause="Linha clandestina instalada em 12/03/2019")


SAMPLES = {
    "credit": note,
    "difference": lambda: note("difference", [corrected(10, "2026/000002", "75.10")]),
    "retroactive": retroactive,
    "fine": fine,
    "single_payment": single_payment,
}
SAID = {
    "credit": ("Crédito da entidade R$ 241,00", "duzentos e quarenta e um reais", "nada a pagar", "2026/000001",
               "largura cobrada 2 (A3, A4) 312,40 -120,51", "decide o Município (art. 15)", "-241,00",
               "2 meses com as mesmas linhas", "Rede (09/2026 a 10/2026)"),
    "difference": ("Total a pagar R$ 75,10", "15/12/2026", "Demandado antes", "não cobra multa nem juros"),
    "retroactive": ("abril de 2019 a dezembro de 2019", "9 meses com as mesmas linhas", "Meses retidos, não cobrados",
        "se contados também estes meses", "33,30",
                    "arts. 7º e 10, § 3º"),
    "fine": ("01/11/2026 a 10/11/2026 10.000,05 20% 10 20.000,10", "não entra no coeficiente R", "em quinze dias (art. 9º, § 4º)",
             "recurso ao Prefeito Municipal (art. 9º, § 5º)"),
    "single_payment": ("Valor anual, sem desconto (art. 8º, parágrafo único)", "12 meses", "janeiro de 2027", "dezembro de 2027"),
}  # fmt: skip


def test_there_is_a_sample_of_each_kind():
    assert set(SAMPLES) == set(SAID) == set(NOTES) == set(TITLES)


@pytest.mark.parametrize("kind", NOTES)
def test_pdf_and_html_say_the_same(kind):
    made = render_note(SAMPLES[kind](), figures())
    assert set(made) == {"pdf", "html"}
    pdf, page = text_of(made["pdf"]), squeeze(" ".join(text_lines(made["html"])).replace("|", " "))
    for part in (TITLES[kind], "2026/000003", "Companhia Paulista de Distribuição", *SAID[kind]):
        for text in (pdf, page):
            assert packed(part).casefold() in packed(text).casefold(), part
    read_page(made["html"])
    assert "None" not in pdf
    assert render_note(SAMPLES[kind](), figures()) == made


def by_court(order, *cases):
    """A month of which courts suspend a line each; the rest of the reduction is a narrower strip."""
    one = WHOLE[0]
    apart = tuple(Suspended("elektro", f"S{n}", c, f"Vara {n}", "accrues", (one,), one.amount, one.length_m or ZERO)
                  for n, c in enumerate(cases, 1))  # fmt: skip
    causes = (Cause("suspended", 1, ZERO, Decimal(order)), Cause("width", 1, ZERO, Decimal("-20.50")))
    return replace(corrected(10, "2026/000002", str(sum(c.amount for c in causes)), causes), suspended=apart)


def test_what_a_court_suspends_is_no_credit_of_the_entity():
    made = render_note(note("credit", [by_court("-100.00", "1001-56", "1002-57")]), figures())
    for text in (text_of(made["pdf"]), " ".join(text_lines(made["html"])).replace("|", " ")):
        for part in ("Redução do demandado R$ 120,50", "Desta redução, R$ 100,00 não são crédito da entidade: a exigibilidade está "
                     "suspensa nos processos nº 1001-56 (Vara 1) e nº 1002-57 (Vara 2).", "o restante, R$ 20,50, é crédito",
                     "Valores com exigibilidade suspensa", "Outubro de 2026: processo nº 1002-57 – Vara 2"):  # fmt: skip
            assert packed(part).casefold() in packed(text).casefold(), part
        assert packed("Crédito da entidade R$").casefold() not in packed(text).casefold()


def test_only_what_lowers_the_demand_counts_as_the_courts():
    assert note("credit", [by_court("-100.00", "1")]).reduced_by_court == 100
    more = corrected(9, "2026/000001", "70.00")  # takes from the reduction of the other month
    assert note("credit", [more, by_court("-100.00", "1")]).reduced_by_court == Decimal("50.50")
    costs_more = by_court("120.50", "1")  # though a part is suspended
    assert note("difference", [costs_more]).reduced_by_court == 0
    borne = replace(corrected(10, "2026/000002"), suspended=costs_more.suspended)  # the invoice bore the order already
    assert note("credit", [borne]).reduced_by_court == 0
    text = text_of(render_note(note("credit", [borne]), figures())["pdf"])
    assert packed("Crédito da entidade R$ 120,50").casefold() in packed(text).casefold()
    assert packed("Valores com exigibilidade suspensa") in packed(text)


def test_suspended_lines_are_worked_out_again():
    line = by_court("-100.00", "1")
    (apart,) = line.suspended
    with pytest.raises(BooksDontCloseError, match="what 1 suspends"):
        note_job(note("credit", [replace(line, suspended=(replace(apart, total=Decimal("1.00")),))]), figures())


def test_what_another_note_demanded_is_said():
    causes = (Cause("width", 1, ZERO, Decimal("30.00")), Cause(CHARGED_SINCE, 0, ZERO, Decimal("-20.00")))
    text = text_of(render_note(note("difference", [corrected(10, "2026/000002", "10.00", causes)]), figures())["pdf"])
    assert packed("já demandado por outra nota") in packed(text)


def test_a_month_paid_at_once_says_so_in_place_of_causes():
    line = replace(corrected(10, None), causes=())
    text = text_of(render_note(note(lines=[line]), figures())["pdf"])
    assert packed("O mês foi pago em cota única") in packed(text)


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda n: replace(n, total=n.total + 1), "note 2026/000003"),
        (
            lambda n: replace(n, lines=(replace(n.lines[0], amount=Decimal("1.00")), *n.lines[1:])),
            "difference of 2026-09",
        ),
        (lambda n: replace(n, lines=(replace(n.lines[0], now=Decimal("1.00")), *n.lines[1:])), "2026-09 in note"),
        (
            lambda n: replace(n, lines=(replace(n.lines[0], causes=n.lines[0].causes[:1]), n.lines[1])),
            "causes of 2026-09",
        ),
    ],
)
def test_what_doesnt_add_up_is_not_printed(spoil, said):
    with pytest.raises(BooksDontCloseError, match=said):
        note_job(spoil(note()), figures())


def test_a_fine_is_worked_out_again():
    wrong = fine()
    with pytest.raises(BooksDontCloseError, match="2026-11"):
        note_job(replace(wrong, lines=(replace(wrong.lines[0], days=11),)), figures())


def test_months_alike_stand_together_and_parts_of_months_dont():
    part = replace(WHOLE[0], days=15, amount=WHOLE[0].amount)
    lines = [
        NoteLine(BillingMonth(2026, m), "", MONTHLY, ZERO, MONTHLY, ("7",), lines=found)
        for m, found in (
            (1, (replace(WHOLE[0], days=31, month_days=31),)),
            (2, (replace(WHOLE[0], days=28, month_days=28),)),
            (3, (part,)),
        )
    ]
    assert [(a.label, a.count, a.whole) for a in months_alike(lines)] == [
        ("janeiro de 2026 a fevereiro de 2026", 2, True),
        ("março de 2026", 1, False),
    ]
