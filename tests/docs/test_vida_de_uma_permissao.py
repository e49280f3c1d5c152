"""docs/vida-de-uma-permissao.md runs: every command in an empty folder, every answer as the page shows it.

``python tests/docs/test_vida_de_uma_permissao.py`` writes the answers into the page again, where a wording changed.
"""

import re

import pytest
from pages import ROOT, blocks_of, write_again

PAGE = ROOT / "docs" / "vida-de-uma-permissao.md"


@pytest.fixture(scope="module")
def blocks(tmp_path_factory):
    return blocks_of(PAGE, tmp_path_factory.mktemp("vida"))


def test_every_answer_is_the_one_that_the_page_shows(blocks):
    assert len(blocks) >= 12
    for shown, now in blocks:
        assert shown == now


def test_the_page_shows_each_step_of_a_permits_life(blocks):
    text = "".join(shown for shown, _ in blocks)
    for step in (
        "permit add", "--status planned", "decree draft", "can't be issued", "permit approve", "deposit demand", "deposit record",
        "fee record", "decree issue", "bill --month", "reducer 1.00 to 0.90", "decree amend", "permit remove", "deposit release",
        "not due 4058.32",
    ):  # fmt: skip
        assert step in text, step
    prose = PAGE.read_text(encoding="utf-8")
    for figure in ("3 × R$ 18.595,10 = R$ 55.785,30", "5.616,21 m", "4.058,32 m"):
        assert figure in prose
        plain = re.findall(r"[\d.,]+\d", figure)[-1].replace(".", "").replace(",", ".")
        assert plain in text, figure


if __name__ == "__main__":
    write_again(PAGE)
