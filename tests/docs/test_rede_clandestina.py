"""docs/rede-clandestina.md runs, and its sums are those of a pocket calculator.

``python tests/docs/test_rede_clandestina.py`` writes the answers into the page again, where a wording changed.
"""

from decimal import ROUND_HALF_UP, Decimal

import pytest
from pages import ROOT, blocks_of, write_again

PAGE = ROOT / "docs" / "rede-clandestina.md"


@pytest.fixture(scope="module")
def blocks(tmp_path_factory):
    return blocks_of(PAGE, tmp_path_factory.mktemp("clandestina"))


def cents(amount):
    return Decimal(amount).quantize(Decimal("0.01"), ROUND_HALF_UP)


def test_every_answer_is_the_one_that_the_page_shows(blocks):
    for shown, now in blocks:
        assert shown == now


def test_the_sums_of_the_page_are_those_of_the_law(blocks):
    text = "".join(shown for shown, _ in blocks)
    month = Decimal("400") * Decimal("0.50") * Decimal("0.03") * Decimal("0.50") * Decimal("0.90") * 2
    before, after = month * 180, month * 240
    first = cents(before * 20 / 31)
    assert (first, before, after) == (Decimal("627.10"), Decimal("972"), Decimal("1296"))
    held, demanded = first + 31 * before, 14 * before + 46 * after
    assert f"held: 32 months, 2019-03 to 2021-10: R$ {cents(held)}" in text
    assert f"demanded: 60 months, 2021-11 to 2026-10: R$ {cents(demanded)}" in text
    assert f"demanded: 92 months, 2019-03 to 2026-10: R$ {cents(held + demanded)}" in text
    assert f"R$ {cents(after / 2 * 15) + cents(after * 10 / 28)} (2 lines" in text  # 6,000 m are 15 times 400 m


if __name__ == "__main__":
    write_again(PAGE)
