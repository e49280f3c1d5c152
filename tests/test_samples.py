"""The files of reports/sample are what the program makes today, to the byte; the page among them is looked at too."""

import importlib.util
from pathlib import Path

import pytest
from chromium import measure, needs_chromium

ROOT = Path(__file__).parents[1]
SAMPLE = ROOT / "reports/sample"
REFRESH = (
    "reports/sample isn't what geobill makes today. If that is meant: .venv/bin/python tools/make_sample.py, look at the "
    "three files, commit them. If not, something changed what people read."
)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    spec = importlib.util.spec_from_file_location("make_sample", ROOT / "tools/make_sample.py")
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    return {p.name: p.read_bytes() for p in tool.make_sample(tmp_path_factory.mktemp("sample"))}


def test_the_sample_holds_what_is_made_and_a_word_about_it(made):
    assert {p.name for p in SAMPLE.iterdir()} == {*made, "README.md"}
    readme = (SAMPLE / "README.md").read_text(encoding="utf-8")
    assert [name for name in made if f"]({name})" not in readme] == []
    assert sorted(Path(name).suffix for name in made) == [".html", ".pdf", ".pdf"]


@pytest.mark.parametrize("name", ["fatura-2026-000001-alfa.pdf", "minuta-alfa.pdf", "index.html"])
def test_the_sample_is_current_to_the_byte(made, name):
    assert (SAMPLE / name).read_bytes() == made[name], REFRESH


def test_nothing_of_a_machine_is_in_it(made):
    page = made["index.html"].decode()
    assert "/home/" not in page
    assert "/tmp/" not in page
    assert "http" not in page.replace("http-equiv", "")


@needs_chromium
@pytest.mark.parametrize("width", [390, 1440])
def test_the_page_fits(width):
    said = measure(SAMPLE / "index.html", width)
    assert (said["width"], said["beyond"]) == (width, [])
    assert said["scroll"] <= width
