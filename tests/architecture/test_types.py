"""The pure rooms, ``domain`` and ``law``, hold their types under mypy's strictest rules."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ROOMS = ("geobill/errors.py", "geobill/domain", "geobill/law")


def mypy(*args, cache):
    pytest.importorskip("mypy", reason="mypy is a developer's dependency and isn't installed")
    command = [sys.executable, "-m", "mypy", "--no-error-summary", "--cache-dir", str(cache), *args]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True)


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    return tmp_path_factory.mktemp("mypy")


def test_the_settings_name_the_pure_rooms_and_are_strict():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["mypy"]
    assert set(ROOMS) <= set(settings["files"])
    assert settings["strict"] is True


def test_domain_and_law_are_typed_strictly(cache):
    said = mypy(cache=cache)
    assert said.returncode == 0, said.stdout + said.stderr


def test_a_wrong_type_would_be_found(cache, tmp_path):
    wrong = tmp_path / "wrong.py"
    wrong.write_text("from geobill.domain.money import plain\n\ndef cents(value) -> int:\n    return plain(value)\n")
    said = mypy("--strict", str(wrong), cache=cache)
    assert said.returncode == 1
    assert "Function is missing a type annotation" in said.stdout
    assert 'expected "int"' in said.stdout
