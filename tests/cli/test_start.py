"""The command line is there at once: nothing heavy is loaded before a command needs it; the Tab key knows the names."""

import json
import os
import re
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from workspaces import add_operator, done, geobill

from geobill.cli import complete
from geobill.law.policy import KEYS
from geobill.law.statutes import STATUTES
from geobill.store.settings import FILE_NAME
from geobill.store.workspace import STORE_NAME

ROOT = Path(__file__).parents[2]
HEAVY = (
    "geopandas", "pandas", "numpy", "shapely", "pyogrio", "fiona", "pyproj", "scipy", "pyarrow", "sqlalchemy", "geoalchemy2",
    "alembic", "typst", "jinja2", "docxtpl", "docx", "lxml", "pikepdf", "tomlkit", "holidays", "num2words", "stdnum",
)  # fmt: skip


def python(code, **env):
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, env={**os.environ, **env}
    )
    assert run.returncode == 0, run.stderr
    return run.stdout


def test_the_command_line_loads_nothing_heavy():
    loaded = set(json.loads(python("import json, sys, geobill.cli.main; print(json.dumps(list(sys.modules)))")))
    assert "typer" in loaded
    assert [name for name in HEAVY if name in loaded] == []


def test_the_names_of_heavy_packages_are_right():
    """A name misspelt above would never be found among the modules."""
    assert [name for name in HEAVY if find_spec(name) is None] == []


def test_help_says_what_there_is():
    answer = geobill("--help")
    assert answer.code == 0
    for command in ("init", "import", "price", "bill", "doctor"):
        assert re.search(rf"^  {command}\b", answer.out, re.MULTILINE), command
    assert all(len(line) <= 80 for line in answer.out.splitlines())


def test_what_goes_into_a_file_is_utf8_even_where_windows_would_choose_a_code_page(tmp_path):
    code = "import sys; sys.argv = ['geobill', 'doctor']; from geobill.cli.main import run; run()"
    env = {**os.environ, "PYTHONIOENCODING": "cp1252", "PYTHONPATH": str(ROOT), "GEOBILL_WORKSPACE": str(tmp_path)}
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, cwd=tmp_path, env=env)
    assert run.returncode == 1
    assert "→ Correct geobill.toml" in run.stdout.decode("utf-8")


# -- the Tab key


@pytest.fixture
def workspace(tmp_path):
    done("init", tmp_path / "ws")
    for id_ in ("alfa", "beta"):
        add_operator(tmp_path / "ws", id_, f"{id_} S.A.")
    return tmp_path / "ws"


def tab(*words, **env):
    """Return what bash is handed at the Tab key after these words; the last is being typed."""
    asked = {
        "_GEOBILL_COMPLETE": "complete_bash",
        "COMP_WORDS": " ".join(("geobill", *words)),
        "COMP_CWORD": str(len(words)),
    }
    code = "import sys; sys.argv = ['geobill']; from geobill.cli.main import run; run()"
    return python(code, **asked, **env).split()


def test_tab_knows_commands_and_options():
    assert "doctor" in tab("do")
    assert tab("policy", "") == ["set", "show", "profiles", "history"]
    assert "--edition" in tab("import", "land-values", "--")


def test_tab_knows_policy_keys_values_and_statutes():
    assert tab("policy", "set", "") == [k.key for k in KEYS]
    assert tab("policy", "set", "reducer_") == ["reducer_scope", "reducer_method"]
    assert tab("policy", "set", "reducer_method", "") == ["whole", "graduated"]
    assert tab("policy", "set", "max_gap_m", "") == []
    assert tab("decision", "add", "--question", "on_") == ["on_border", "on_overlap"]
    assert tab("init", "x", "--statute", "caieiras") == [s for s in STATUTES if s.startswith("caieiras")]


def test_tab_knows_the_operators_of_the_workspace(workspace, tmp_path):
    ask = ("import", "network", "f.shp", "--operator", "")
    assert tab("-w", str(workspace), *ask) == ["alfa", "beta"]
    assert tab("import", "network", "f.shp", "-w", str(workspace), "--operator", "b") == ["beta"]
    assert tab(*ask, GEOBILL_WORKSPACE=str(workspace)) == ["alfa", "beta"]
    before = {p.name: p.read_bytes() for p in workspace.iterdir()}
    assert tab(*ask, GEOBILL_WORKSPACE=str(tmp_path / "none")) == []
    assert {p.name: p.read_bytes() for p in workspace.iterdir()} == before


def test_tab_knows_the_decisions_and_the_profiles_of_the_workspace(workspace):
    act = ("--number", "1", "--date", "2026-01-15", "--signatory", "P", "--question", "above_100_km", "--answer", "0.6")
    done("decision", "add", "--id", "D1", *act, workspace=workspace)
    here = ("-w", str(workspace))
    assert tab(*here, "policy", "set", "above_100_km", "") == ["hold", "D1"]
    assert tab(*here, "decision", "show", "--id", "") == ["D1"]
    with (workspace / FILE_NAME).open("a", encoding="utf-8") as file:
        file.write("[policy.profile.estudo]\n")
    assert tab(*here, "policy", "show", "--profile", "") == ["estudo"]
    (workspace / FILE_NAME).write_text("[policy", encoding="utf-8")
    assert tab(*here, "policy", "show", "--profile", "") == []


def test_tab_looks_for_the_store_and_the_settings_under_their_names():
    assert (complete.STORE_NAME, complete.SETTINGS_NAME) == (STORE_NAME, FILE_NAME)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish", "powershell", "pwsh"])
def test_each_shell_gets_its_script(shell):
    code = "import sys; sys.argv = ['geobill']; from geobill.cli.main import run; run()"
    script = python(code, _GEOBILL_COMPLETE=f"source_{shell}")
    assert "complete_" in script
    assert "_GEOBILL_COMPLETE" in script


def test_bash_itself_completes(workspace):
    program = Path(sys.executable).with_name("geobill")
    if not shutil.which("bash") or not program.exists():
        pytest.skip("bash or the installed geobill isn't here")
    script = (
        'eval "$(geobill --show-completion bash)"; COMP_WORDS=(geobill policy set on_); COMP_CWORD=3; _geobill_completion geobill;'
        ' echo "${COMPREPLY[@]}"; complete -p geobill'
    )
    env = {**os.environ, "PATH": f"{program.parent}{os.pathsep}{os.environ['PATH']}"}
    run = subprocess.run(["bash", "--norc", "-c", script], capture_output=True, text=True, env=env)
    assert run.stdout.splitlines() == ["on_border on_overlap", "complete -o default -F _geobill_completion geobill"], (
        run.stderr
    )


def test_completion_is_installed_where_the_shell_looks(tmp_path):
    env = {"HOME": str(tmp_path), "USERPROFILE": str(tmp_path)}
    code = "import sys; sys.argv = ['geobill', '--install-completion', 'bash']; from geobill.cli.main import run; run()"
    assert "bash completion installed" in python(code, **env)
    assert "_geobill_completion" in (tmp_path / ".bash_completions" / "geobill.sh").read_text()
