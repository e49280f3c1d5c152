"""docs/levantamento.md runs, from the survey's file to the double line, and its sums are those of a pocket calculator.

``python tests/docs/test_levantamento.py`` writes the answers into the page again, where a wording changed.
"""

import re
from decimal import ROUND_HALF_UP, Decimal
from math import hypot

import pytest
from pages import ROOT, blocks_of, write_again

from geobill.documents.field_styles import CASE_TYPED
from geobill.documents.finding_words import KIND_WORDS
from geobill.domain.detection import FINDING_KINDS

PAGE = ROOT / "docs" / "levantamento.md"
PER_METRE = Decimal("0.50") * 240 * Decimal("0.03") * Decimal("0.50") * Decimal("0.90")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("levantamento")


@pytest.fixture(scope="module")
def blocks(folder):
    return blocks_of(PAGE, folder)


def test_every_answer_is_the_one_that_the_page_shows(blocks):
    assert len(blocks) >= 9
    for shown, now in blocks:
        assert shown == now


def test_the_metres_of_the_page_are_those_that_were_drawn(blocks):
    text = "".join(shown for shown, _ in blocks)
    surveyed = 2500 + 3500 + 400 + 280 + 120 + 200 + 300 + 100
    undeclared = 400 + 80 + 120
    assert f"within {3 + hypot(0.5, 0.5):.3f} m (tolerance 3, accuracies 0.5 and 0.5)" in text
    assert f"surveyed {surveyed}.00 m = matched {surveyed - undeclared}.00 + undeclared {undeclared}.00" in text
    assert (
        "moved 100.00, more than permitted 200.00, known as clandestine or in a case 0.00, leftovers below the least length 0.00"
        in text
    )
    assert "permitted 6750.00 m, of which the survey doesn't have 150.00" in text
    after = undeclared - 480
    assert f"surveyed {surveyed}.00 m = matched {surveyed - after}.00 + undeclared {after}.00" in text
    assert "known as clandestine or in a case 480.00" in text


def test_the_sums_of_the_page_are_those_of_the_law(blocks):
    text = "".join(shown for shown, _ in blocks)
    prices = {
        400: "648.00", 80: "129.60", 120: "194.40", 200: "324.00",
    }  # fmt: skip
    for metres, reais in prices.items():
        assert metres * PER_METRE == Decimal(reais)
        assert f"{metres}.00 m  R$ {reais} a month  suspected" in text
    wider = 300 * PER_METRE / Decimal("0.50") * (Decimal("0.80") - Decimal("0.50"))
    assert f"wider_than_permitted  300.00 m  R$ {wider:.2f} a month" in text
    month, regular = 480 * PER_METRE * 2, 6750 * PER_METRE
    july = (month * 19 / 31).quantize(Decimal("0.01"), ROUND_HALF_UP)
    assert f"invoice 2026/000001 alfa: R$ {month + regular:.2f}, due 2026-12-15" in text
    assert f"1  480.00 m in Centro, case 2026-010 × 2: R$ {month:.2f}" in text
    assert f"demanded: 4 months, 2026-07 to 2026-10: R$ {july + 3 * month:.2f}" in text


def test_the_double_line_names_its_case_and_the_papers_are_there(folder, blocks):
    papers = folder / "caieiras" / "documents"
    case = sorted(p.name for p in (papers / "casos" / "2026-010").glob("*.pdf"))
    assert case == ["01-constatacao.pdf", "02-notificacao.pdf", "07-decisao.pdf"]
    invoice = (papers / "2026-11" / "fatura-2026-000001-alfa.html").read_text(encoding="utf-8")
    assert "2026-010" in invoice
    assert "1.555,20" in invoice


# -- the reviewer's guide


REVIEWER = ROOT / "docs" / "revisor.md"


@pytest.mark.parametrize("kind", FINDING_KINDS)
def test_the_reviewer_finds_each_kind_of_finding_with_its_words_and_article(kind):
    row = re.search(
        rf"^\| (.+) \(`{kind}`\) \| .+ \| (\S+) \| .+ \|$", REVIEWER.read_text(encoding="utf-8"), re.MULTILINE
    )
    assert row
    assert row[1] == KIND_WORDS[kind]
    assert row[2].rstrip("º") == FINDING_KINDS[kind]


def test_the_reviewer_finds_each_key_of_the_page_and_each_column_that_is_typed_in_qgis():
    help_ = (ROOT / "geobill" / "web" / "templates" / "_ajuda.html.j2").read_text(encoding="utf-8")
    text = REVIEWER.read_text(encoding="utf-8")
    keys = set(re.findall(r"<kbd>(.+?)</kbd>", help_))
    assert {"P", "N", "Z"} <= keys
    assert sorted(k for k in keys if f"`{k}`" not in text) == []
    assert [c for c in CASE_TYPED if f"| `{c}` |" not in text] == []


if __name__ == "__main__":
    write_again(PAGE)
