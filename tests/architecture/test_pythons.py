"""The code is valid, without a warning, under every Python that the project names; those that aren't installed are skipped."""

import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.specifiers import SpecifierSet

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
PYTHONS = ("3.11", "3.12", "3.13")
COMPILE = """
import pathlib, sys, warnings
warnings.simplefilter("error")
files = [f for room in sys.argv[1:] for f in sorted(pathlib.Path(room).rglob("*.py"))]
for file in files:
    compile(file.read_text(encoding="utf-8"), str(file), "exec")
print("%d.%d" % sys.version_info[:2], len(files))
"""


def interpreter(version):
    """Return a Python that really runs: pyenv's shims stand there for versions that aren't chosen."""
    pyenv = sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin/python"))
    for path in (sys.executable, shutil.which(f"python{version}"), *map(str, pyenv)):
        if path is None:
            continue
        asked = subprocess.run(
            [path, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"], capture_output=True, text=True
        )
        if asked.stdout.strip() == version:
            return path
    pytest.skip(f"Python {version} isn't installed here")


def test_the_project_names_these_pythons():
    named = [
        c.rpartition(" ")[2] for c in PROJECT["classifiers"] if c.startswith("Programming Language :: Python :: 3.")
    ]
    assert tuple(named) == PYTHONS
    takes = SpecifierSet(PROJECT["requires-python"])
    assert [v for v in ("3.10", *PYTHONS, "3.14") if takes.contains(f"{v}.0")] == list(PYTHONS)


@pytest.mark.parametrize("version", PYTHONS)
def test_every_module_compiles_without_a_warning(version):
    run = subprocess.run(
        [
            interpreter(version),
            "-c",
            COMPILE,
            *(str(ROOT / room) for room in ("geobill", "tests", "tools", "benchmarks")),
        ],
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr
    said, files = run.stdout.split()
    assert said == version
    assert int(files) > 100
