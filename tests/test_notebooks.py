"""The notebooks run from start to end in a copy, say today what they say in the repository, and say what is true."""

import importlib.util
import json
import re
import shutil
from pathlib import Path

import nbformat
import pytest

ROOT = Path(__file__).parents[1]
NOTEBOOKS = ("01-um-mes-em-caieiras", "02-comparar-leituras")
REFRESH = (
    "{} says something else today than in the repository. If that is meant: .venv/bin/python tools/run_notebooks.py, look at "
    "the notebook, commit it."
)


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """Each notebook executed in a copy of its folder, with the data beside it."""
    folder = tmp_path_factory.mktemp("copy")
    shutil.copytree(ROOT / "data", folder / "data")
    shutil.copytree(ROOT / "notebooks", folder / "notebooks")
    spec = importlib.util.spec_from_file_location("run_notebooks", ROOT / "tools/run_notebooks.py")
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    return {name: tool.execute(folder / "notebooks" / f"{name}.ipynb") for name in NOTEBOOKS}


def kept(name):
    return nbformat.read(ROOT / "notebooks" / f"{name}.ipynb", as_version=4)


def said(notebook):
    """All text that a notebook's code put out, without its pictures."""
    outputs = [o for cell in notebook.cells if cell.cell_type == "code" for o in cell.outputs]
    return "\n".join(o.text if o.output_type == "stream" else o.data.get("text/plain", "") for o in outputs)


def outputs(notebook):
    """What came of each cell, pictures only counted: their bytes depend on a machine's fonts."""
    found = []
    for cell in notebook.cells:
        for o in cell.get("outputs", ()):
            if o.output_type == "stream":
                found.append((o.name, o.text))
            elif "image/png" in o.data:
                found.append(("picture", ""))
            else:
                found.append(("result", o.data["text/plain"]))
    return found


def test_the_folder_holds_these_notebooks():
    assert sorted(p.stem for p in (ROOT / "notebooks").glob("*.ipynb")) == list(NOTEBOOKS)


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_it_says_what_it_said_when_it_was_committed(ran, name):
    assert outputs(ran[name]) == outputs(kept(name)), REFRESH.format(name)


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_nothing_of_a_machine_or_a_moment_is_kept(name):
    path = ROOT / "notebooks" / f"{name}.ipynb"
    raw, notebook = path.read_text(encoding="utf-8"), kept(name)
    assert len(raw) < 300_000
    nbformat.validate(notebook)
    assert [cell.metadata for cell in notebook.cells if cell.metadata] == []
    assert set(notebook.metadata) == {"kernelspec", "language_info"}
    texts = json.dumps(
        [o for c in notebook.cells for o in c.get("outputs", ()) if "image/png" not in o.get("data", {})]
    )
    assert not re.search(r"/home/|/tmp/|/root/|/work/|site-packages|0x[0-9a-f]{6}|\d{2}:\d{2}:\d{2}", texts)
    counts = [c.execution_count for c in notebook.cells if c.cell_type == "code"]
    assert counts == list(range(1, len(counts) + 1))


@pytest.mark.parametrize(("name", "pictures"), [(NOTEBOOKS[0], 2), (NOTEBOOKS[1], 1)])
def test_it_has_its_pictures_and_no_murmur(ran, name, pictures):
    kinds = [kind for kind, _ in outputs(ran[name])]
    assert kinds.count("picture") == pictures
    assert "stderr" not in kinds


def test_the_month_is_that_of_the_demo(ran):
    """The same totals as the invoices of ``geobill demo``: the notebook reads the files in its own way."""
    text = said(ran[NOTEBOOKS[0]])
    for figure in ("58301.95", "73291.71", "22783.20", "R$ 154.376,86"):
        assert figure in text
    assert "32.891,52 cobrados + 248,48 retidos + 2.484,41 isentos + 0,00 suspensos = 35.624,41 m" in text
    assert "282 linhas lidas = 272 aceitas + 10 postas de lado" in text


def test_the_notches_are_those_of_the_law(ran):
    text = said(ran[NOTEBOOKS[1]])
    for notch in ("5,556 = 50/9", "16,875 = 135/8", "34,286 = 240/7", "58,333 = 175/3"):
        assert notch in text
    assert "60,0 unidades = R$ 225.000,00" in text
    assert "70,0 unidades = R$ 262.500,00" in text
    assert "above_100_km, art. 7" in text


def test_links_between_the_papers_lead_somewhere():
    for name in NOTEBOOKS:
        markdown = "\n".join(c.source for c in kept(name).cells if c.cell_type == "markdown")
        targets = re.findall(r"\]\(([^)]+)\)", markdown)
        assert [t for t in targets if not (ROOT / "notebooks" / t).exists()] == []
