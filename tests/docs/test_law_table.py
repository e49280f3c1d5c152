"""docs/law/lei-3057-2001.md: every provision of the law stands in the table once, and what it names exists."""

import re
from pathlib import Path

from geobill.law.policy import KEYS

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "law" / "lei-3057-2001.md").read_text(encoding="utf-8")
PARAGRAPHS = {3: 2, 6: 3, 7: 2, 9: 6, 10: 3, 12: 4}
SOLE = {1, 4, 8}
LAST = 18


def rows():
    table = PAGE.split("## Onde a lei cala")[0]
    return [
        [cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines() if re.match(r"\| \d", line)
    ]


def provisions():
    for article in range(1, LAST + 1):
        name = f"{article}º" if article < 10 else str(article)
        yield name
        if article in SOLE:
            yield f"{name}, par. único"
        yield from (f"{name}, § {n}º" for n in range(1, PARAGRAPHS.get(article, 0) + 1))


def test_every_provision_stands_once_and_in_order():
    assert [row[0] for row in rows()] == list(provisions())


def test_modules_and_tests_exist_or_the_provision_has_no_effect():
    for name, _, does, module, test in rows():
        if module == "–":
            assert does == "sem efeito sobre valores, direitos ou prazos", name
            assert test == "–", name
            continue
        assert (ROOT / module.strip("`")).is_file(), (name, module)
        assert (ROOT / test.strip("`")).is_file(), (name, test)


def test_every_silence_names_a_policy_key():
    named = set(re.findall(r"\| `(\w+)` \|$", PAGE, re.MULTILINE))
    assert named <= {k.key for k in KEYS}
    assert {"above_100_km", "limitation_years", "ample_defence_days", "set_off_share"} <= named
