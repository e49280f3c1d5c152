"""docs/intake.md: each fault's test exists, and no code or format of the intake goes without a word."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

from geobill.domain.finding import REASON_CODES
from geobill.intake.formats import FORMATS

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "intake.md").read_text(encoding="utf-8")
ANALYST = (ROOT / "docs" / "analista.md").read_text(encoding="utf-8")
CODE = re.compile(r"[a-z]+(_[a-z]+)+")
MAKERS = re.compile(r"_?(finding|note|said|remark)|.*Finding|Remark", re.IGNORECASE)
ROOMS = ("intake", "pipeline")
HEAD = "| O que chega | O que se faz | Código | Teste |"


def faults():
    """Rows of the tables of faults, cell by cell."""
    tables = [part.split("\n\n")[0] for part in PAGE.split(HEAD)[1:]]
    return [[c.strip() for c in line.strip("|").split("|")] for t in tables for line in t.splitlines()[2:]]


def references():
    return sorted(set(re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", PAGE)))


@cache
def functions(path):
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


def test_every_row_has_its_fault_its_answer_and_its_tests():
    assert len(faults()) > 100
    for row in faults():
        assert len(row) == 4, row
        assert all(row), row
        assert re.fullmatch(r"–|`\w+`(, `\w+`)*", row[2]), row
        assert re.fullmatch(r"`tests/[\w/]+\.py::test_\w+`(<br>`tests/[\w/]+\.py::test_\w+`)*", row[3]), row


def test_no_fault_stands_twice():
    named = [row[0] for row in faults()]
    assert sorted(n for n in named if named.count(n) > 1) == []


@pytest.mark.parametrize("path", sorted({path for path, _ in references()}))
def test_every_test_that_is_named_exists(path):
    assert (ROOT / path).is_file()
    assert [name for p, name in references() if p == path and name not in functions(path)] == []


def emitted():
    """Codes in calls that make findings, whether written there or chosen between there or in a variable ``code``."""
    found = set()
    for path in (p for room in ROOMS for p in (ROOT / "geobill" / room).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and MAKERS.fullmatch(
                getattr(node.func, "id", getattr(node.func, "attr", ""))
            ):
                given = [*node.args[:1], *(k.value for k in node.keywords if k.arg == "code")]
            elif isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "code":
                given = [node.value]
            else:
                continue
            texts = (c.value for g in given for c in ast.walk(g) if isinstance(c, ast.Constant))
            found |= {t for t in texts if isinstance(t, str) and CODE.fullmatch(t)}
    return found


def test_every_code_of_the_page_is_one_that_the_program_gives():
    there = {c for row in faults() for c in re.findall(r"`(\w+)`", row[2])}
    text = "".join(p.read_text(encoding="utf-8") for room in ROOMS for p in (ROOT / "geobill" / room).rglob("*.py"))
    assert sorted(c for c in there if f'"{c}"' not in text) == []


def test_every_code_of_the_intake_is_explained():
    codes = emitted() | set(REASON_CODES)
    assert {"axes_swapped", "id_inexact", "already_stored", "crs_suspect", "outside_municipality"} <= codes
    told = PAGE + ANALYST + (ROOT / "docs" / "financeiro.md").read_text(encoding="utf-8")
    told += (ROOT / "docs" / "juridico.md").read_text(encoding="utf-8")
    assert sorted(c for c in codes if f"`{c}`" not in told) == []


@pytest.mark.parametrize("one", FORMATS, ids=lambda f: f.name)
def test_every_format_has_its_row_with_its_suffixes(one):
    (row,) = re.findall(rf"^\| {re.escape(one.name)} \|.*$", PAGE, re.MULTILINE)
    assert [s for s in one.suffixes if f"`{s}`" not in row] == []
