"""The apostila in Portuguese, and the minuta with a permit's papers in place of its blanks."""

import re
from dataclasses import replace
from datetime import date
from decimal import Decimal

import pytest

from documents import records
from documents.reading import packed, page_count, text_of
from geobill.documents.apostila import APOSTILA_FORMS, apostila_job, render_apostila
from geobill.documents.forms import make
from geobill.documents.granting import Granting
from geobill.documents.render import render_decree_draft
from geobill.domain.apostila import Cause, PriceChange
from geobill.domain.permit import (
    AUTHORISATION,
    DEPOSIT_PAID,
    FEE_PAID,
    LEGAL_OPINION,
    WORKS_OPINION,
    Act,
    Decree,
    Permit,
    PermitFile,
)
from geobill.errors import BooksDontCloseError, TemplateError

DAY = date(2026, 10, 10)


def file(*acts, decrees=()):
    permit = Permit("17/2026", "elektro", "4.512/2026", "energy", "Rede do Centro", date(2026, 9, 1))
    return PermitFile(permit, tuple(Act("17/2026", *a) for a in acts), decrees)


def decree(draft, number="8.001/2026", amends=None):
    return Decree(number, "17/2026", date(2026, 11, 3), "Ana Prefeita", date(2026, 11, 5), draft, amends)


def change(causes=None, before="1.00", **now):
    old = records.draft(lines=[records.network_line(reducer=Decimal(before))] if before else None)
    causes = causes if causes is not None else [Cause("reducer", "reducer", before, "0.90")]
    issued = decree(old)
    return PriceChange(file(decrees=(issued,)), issued, records.draft(**now), tuple(causes))


def test_old_and_new_price_with_their_causes():
    made = change(
        [
            Cause("reducer", "reducer", "1.00", "5900.00/6000.00"),
            Cause("edition", "edition", "2026", "2027"),
            Cause("network", "length_m", "1234.56", "6348.03"),
            Cause("network", "volume_m3", "0", "2.40"),
            Cause("policy", "same_strip", "each", "once"),
            Cause("figures", "price_per_m3", "150.00", "162.50"),
        ]
    )
    text = packed(text_of(render_apostila(made, records.FIGURES)))
    for part in (
        "ao Decreto nº 8.001/2026, de 3 de novembro de 2026", "com fundamento no art. 6º, § 1º, e no art. 7º da Lei nº 3.057",
        "permissão nº 17/2026, Processo Administrativo nº 4.512/2026", "passa a ser de R$ 20.689,56 (vinte mil",
        "Coeficiente redutor R (art. 7º) 1,00 5.900,00 ÷ 6.000,00", "Edição do Mapa de Valores (art. 7º, T) 2026 2027",
        "Extensão da rede da permissão (art. 7º, a) 1.234,56 m 6.348,03 m", "Volume dos equipamentos (art. 7º, § 2º) 0 m³ 2,40 m³",
        "Redes na mesma faixa Cada rede paga a sua contribuição.",
        "A faixa paga uma só vez, pela maior largura.", "Preço do metro cúbico (art. 7º, § 2º) 150,00 162,50",
        "Anexo – Memória de cálculo",
        "Aumento", "MINUTA", "Registrada e publicada em",
    ):  # fmt: skip
        assert packed(part) in text, part


def test_number_date_and_signature_stay_blank_until_it_is_an_act():
    made = change()
    draft = text_of(render_apostila(made, records.FIGURES))
    assert re.search(r"APOSTILA Nº ?, DE DE DE", draft)
    act = Decree("1/2027", "17/2026", date(2027, 1, 5), "Ana Prefeita", date(2027, 1, 6), made.draft, "8.001/2026")
    text = text_of(render_apostila(made, records.FIGURES, act))
    assert "APOSTILA Nº 1/2027, DE 5 DE JANEIRO DE 2027" in text
    assert "Ana Prefeita" in text
    assert "06/01/2027" in text
    assert "MINUTA" not in text


def test_a_second_apostila_names_the_first():
    made = change()
    first = decree(records.draft(), "1/2027", amends="8.001/2026")
    made = replace(made, last=first, file=replace(made.file, decrees=(*made.file.decrees, first)))
    assert "fixado pela Apostila nº 1/2027, de 3 de novembro de 2026" in text_of(render_apostila(made, records.FIGURES))


def test_the_same_record_gives_the_same_bytes_in_both_forms():
    first, second = (make(apostila_job(change(), records.FIGURES), APOSTILA_FORMS) for _ in range(2))
    assert first == second
    assert set(first) == {"pdf", "html"}
    assert page_count(first["pdf"]) >= 2
    assert "R$ 20.689,56" in first["html"].decode().replace("\u00a0", " ")


def test_no_apostila_without_a_price_and_none_that_cant_be_worked_out():
    with pytest.raises(TemplateError, match=r"arts\. 7, 15"):
        apostila_job(change(lines=[], held_m="159000.10", reducer=None), records.FIGURES)
    broken = records.draft()
    with pytest.raises(BooksDontCloseError, match=r"apostila to 8\.001/2026"):
        apostila_job(
            replace(change(), draft=replace(broken, price=replace(broken.price, total=Decimal("1.00")))),
            records.FIGURES,
        )


# -- the minuta of a permit


@pytest.fixture(scope="module")
def drawing():
    return records.small_map(height_mm=200)


PAPERS = (
    (WORKS_OPINION, DAY, "Eng. Rui Prado", "Parecer SMO 41/2026"),
    (LEGAL_OPINION, DAY, "", "Parecer SMAJ 12/2026"),
    (AUTHORISATION, DAY, "", "Despacho GP 9/2026"),
    (DEPOSIT_PAID, DAY, "", "881", Decimal("60000.00")),
    (DEPOSIT_PAID, date(2026, 10, 12), "", "884", Decimal("2068.68")),
    (FEE_PAID, DAY, "", "882", Decimal("312.40")),
)


def test_papers_stand_in_place_of_the_blanks(drawing):
    draft = records.draft()
    text = text_of(render_decree_draft(draft, drawing, records.FIGURES, granting=Granting(file(*PAPERS), draft.price)))
    for part in (
        "Processo Administrativo nº 4.512/2026, conforme Parecer SMO 41/2026, de 10 de outubro de 2026, de autoria de Eng. Rui Prado;",
        "conforme Parecer SMAJ 12/2026, de 10 de outubro de 2026, no mesmo processo, e que o Prefeito Municipal autorizou",
        "(Despacho GP 9/2026, de 10 de outubro de 2026);",
        "a caução, pela guia nº 881, de 10 de outubro de 2026, no valor de R$ 60.000,00 e pela guia nº 884, de 12 de outubro de 2026,",
        "os emolumentos, pela guia nº 882, de 10 de outubro de 2026, no valor de R$ 312,40,",
        "A permissão, registrada sob o nº 17/2026, compreende",
        "do projeto “Rede do Centro”",
    ):
        assert packed(part) in packed(text), part
    assert "a implantar" not in text


def test_blanks_remain_for_what_isnt_there(drawing):
    draft = records.draft()
    text = text_of(
        render_decree_draft(draft, drawing, records.FIGURES, granting=Granting(file(PAPERS[0], PAPERS[5]), draft.price))
    )
    assert "conforme Parecer SMO 41/2026" in text
    assert re.search(r"conforme manifestação de ?/ ?/", text)
    assert re.search(r"a caução, pela guia nº ?; os emolumentos, pela guia nº 882", text)


def test_planned_equipment_stands_apart(drawing):
    draft = records.draft()
    planned = replace(draft, price=replace(draft.price, planned_m=Decimal("1000.00")))
    lines = tuple(line for line in draft.price.lines if line.kind == "network")[:1]
    standing = replace(draft.price, lines=lines)
    text = text_of(render_decree_draft(planned, drawing, records.FIGURES, granting=Granting(file(), standing)))
    first = lines[0].length_m
    shown = f"{first:,.2f}".replace(",", "_").replace(".", ",").replace("_", ".")
    assert re.search(rf"I – já implantados, [^;]*rede com {shown} m de extensão;", text)
    assert re.search(r"II – a implantar, ", text)
    assert "incluídos 1.000,00 m a implantar nesta permissão" in text
