"""The hooks that git runs: local ones only, and the two checks of our own find what they are there for."""

import importlib.util
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
HOOKS = (ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def tool():
    spec = importlib.util.spec_from_file_location("check_files", ROOT / "tools" / "check_files.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_hook_is_local_and_what_it_runs_is_there():
    assert re.findall(r"repo: (\S+)", HOOKS) == ["local"]
    assert set(re.findall(r"language: (\S+)", HOOKS)) == {"system"}
    assert "://" not in HOOKS
    entries = re.findall(r"entry: (.+)", HOOKS)
    assert len(entries) == 5
    for entry in entries:
        for word in entry.split():
            if word.startswith("tools/"):
                assert (ROOT / word).is_file()


def test_pre_commit_takes_the_file():
    program = shutil.which("pre-commit") or ROOT / ".venv" / "bin" / "pre-commit"
    if not Path(program).exists():
        pytest.skip("pre-commit is a developer's dependency and isn't installed")
    run = subprocess.run([program, "validate-config", ROOT / ".pre-commit-config.yaml"], capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr


def test_a_big_file(tool, tmp_path, capsys):
    small, big = tmp_path / "small", tmp_path / "big"
    small.write_bytes(b"x" * tool.BIGGEST)
    big.write_bytes(b"x" * (tool.BIGGEST + 1))
    assert tool.main(["size", str(small)]) == 0
    assert tool.main(["size", str(small), str(big)]) == 1
    assert "big: 1.0 MB" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("requirements.lock", "--find-links /x\nnumpy==2 \\\n    --hash=sha256:ab\n", "no address"),
        ("requirements.lock", "numpy @ file:///x/numpy.whl\n", "no address"),
        ("requirements.lock", "numpy==2 \\\n    --hash=sha256:ab\n    # via pandas\n", None),
        ("a.py", "INDEX = 'https://" + "pypi" + ".org/simple'\n", "names the package registry"),
        ("a.md", "See https://www.python.org and PyPI.\n", None),
        ("a.py", "HERE = '/ho" + "me/maria/geobill/data'\n", "a folder of one machine"),
        ("a.py", "HERE = Path.home() / 'home/maria/x'\n", None),
    ],
)
def test_an_address(tool, tmp_path, capsys, name, text, said):
    (tmp_path / name).write_text(text, encoding="utf-8")
    assert tool.main(["addresses", str(tmp_path / name)]) == (0 if said is None else 1)
    assert (said or "") in capsys.readouterr().out


def test_the_repository_passes(tool):
    if not (shutil.which("git") and (ROOT / ".git").exists()):
        pytest.skip("there is no git here")
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split("\0")
    files = [ROOT / name for name in listed if name and (ROOT / name).is_file()]
    assert len(files) > 100
    assert [m for f in files for m in (tool.check_size(f),) if m] == []
    texts = [f for f in files if b"\0" not in f.read_bytes()[:8000]]
    assert [m for f in texts for m in (tool.check_addresses(f),) if m] == []
