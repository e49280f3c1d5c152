import csv
import io
from decimal import Decimal

import pytest

from documents import records
from geobill.documents.render import render_annex
from geobill.errors import TemplateError

ROW = {
    "line": 1,
    "segment": "MT-1",
    "zone": "Centro",
    "land_value": "458.41",
    "length_m": Decimal("1234.56"),
    "billed_width_m": "0.50",
    "location_index": "0.03",
    "depreciation_index": "0.50",
    "reducer": "0.90",
    "multiplier": 1,
    "days": 30,
    "month_days": 30,
    "amount_exact": Decimal("3820.0588848"),
    "flags": ("on_border", "no_decree"),
    "equipment": None,
    "volume_m3": None,
}


def table(*rows) -> list[dict[str, str]]:
    text = render_annex(records.invoice(), [{**ROW, **row} for row in rows], records.FIGURES).decode("utf-8-sig")
    return list(csv.DictReader(io.StringIO(text, newline=""), delimiter=";"))


def test_form_is_what_excel_in_portuguese_opens():
    data = render_annex(records.invoice(), [ROW, ROW], records.FIGURES)
    assert data.startswith(b"\xef\xbb\xbfFatura;Linha da fatura;Trecho;")
    lines = data.split(b"\r\n")
    assert len(lines) == 4
    assert lines[-1] == b""
    assert b"\n" not in data.replace(b"\r\n", b"")
    assert data.decode("utf-8-sig").split("\r\n")[1] == (
        "2026/0042;1;MT-1;;;Centro;1234,56;0,50;458,41;;0,03;0,50;0,90;1;30;30;3820,0588848;"
        '"na divisa de zonas; sem decreto (art. 16)";'
    )


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r"])
def test_text_that_begins_like_a_formula_is_neutralised(start):
    text = f"{start}cmd|' /C calc'!A0; \"x\""
    (row,) = table({"segment": text, "zone": text, "flags": text, "equipment": text})
    for column in ("Trecho", "Zona", "Observações", "Equipamento"):
        assert row[column] == "'" + text


def test_numbers_stay_numbers():
    (row,) = table({"amount_exact": Decimal("-1.50"), "volume_m3": "-2.25", "reducer": "5900.00/6000.00", "days": 15})
    assert row["Valor exato do mês inteiro, sem arredondar (R$)"] == "-1,50"
    assert row["Volume (m³)"] == "-2,25"
    assert row["Coeficiente redutor R"] == "5900,00/6000,00"
    assert row["Dias"] == "15"
    (row,) = table({"volume_m3": "=1+1", "amount_exact": Decimal("1E-9")})
    assert row["Volume (m³)"] == "'=1+1"
    assert row["Valor exato do mês inteiro, sem arredondar (R$)"] == "0,000000001"


def test_absent_cells_are_empty_and_other_keys_passed_over():
    (row,) = table({"zone": None, "length_m": float("nan"), "operator": "x", "geometry": object()})
    assert row["Zona"] == row["Extensão a (m)"] == row["Serviço"] == ""
    assert "x" not in row.values()
    assert table({"service": "water"})[0]["Serviço"] == "abastecimento de água"


def test_a_line_of_another_invoice_is_refused():
    with pytest.raises(TemplateError, match=r"line 8, but invoice 2026/0042 has 7"):
        table({"line": 8})
