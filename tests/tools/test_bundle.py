"""The offline bundle: what goes into it, for which platform; the guide's own commands, run one after another."""

import hashlib
import html
import importlib.util
import re
import shlex
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from workspaces import geobill

ROOT = Path(__file__).parents[2]
PARTS = ROOT / "tools" / "bundle"


@pytest.fixture(scope="module")
def tool():
    spec = importlib.util.spec_from_file_location("bundle_tool", ROOT / "tools" / "bundle.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


WORLD = {
    "a": ["b>=1", "c; sys_platform == 'win32'", "d[more]", "tests; extra == 'dev'"],
    "b": ["e; python_version < '3.12'"],
    "c": [],
    "d": ["f; extra == 'more'", "g; extra == 'less'"],
    "e": ["a"],  # round in a circle
    "f": [],
}


def needed(tool, environment, *roots):
    asked = []

    def fetch(names):
        asked.extend(names)
        return {name: [Requirement(r) for r in WORLD[name]] for name in names}

    found = tool.closure([Requirement(r) for r in roots], fetch, environment)
    assert sorted(asked) == sorted(found), "each is fetched once"
    return "".join(sorted(found))


@pytest.mark.parametrize(
    ("target", "python", "names"),
    [
        ("linux_x86_64", "3.11", "abdef"),
        ("linux_x86_64", "3.13", "abdf"),
        ("win_amd64", "3.11", "abcdef"),
        ("macosx_11_0_arm64", "3.12", "abdf"),
    ],
)
def test_what_is_needed_follows_the_targets_markers(tool, target, python, names):
    assert needed(tool, tool.environment_of(target, python), "a") == names


def test_an_extra_asked_for_later_is_followed(tool):
    assert needed(tool, tool.environment_of("linux_x86_64", "3.12"), "d", "a; sys_platform == 'win32'") == "d"
    assert needed(tool, tool.environment_of("linux_x86_64", "3.12"), "d", "b", "a") == "abdf"


def test_the_lock_holds_what_geobill_needs_here(tool):
    from importlib.metadata import PackageNotFoundError, requires

    lock = tool.read_lock((ROOT / "requirements.lock").read_text(encoding="utf-8"))
    assert all(re.search(r"==\S+ \\\n +--hash=sha256:[0-9a-f]{64}", lines) for lines in lock.values())

    def fetch(names):
        found = {}
        for name in names:
            try:
                found[name] = [Requirement(r) for r in requires(name) or ()]
            except PackageNotFoundError:
                found[name] = []
        return found

    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    roots = [Requirement(r) for r in project["dependencies"]]
    for python in ("3.11", "3.12", "3.13"):
        names = tool.closure(roots, fetch, tool.environment_of("linux_x86_64", python))
        assert {canonicalize_name(n) for n in names} - set(lock) == set()
        assert not names & {"pytest", "ruff", "mypy", "pre-commit", "hypothesis", "notebook", "ipykernel"}, (
            "developers' tools"
        )


def test_what_the_lock_lacks_is_refused_by_name(tool, tmp_path):
    with pytest.raises(SystemExit, match=r"requirements\.lock lacks colorama, which this platform needs"):
        tool.get(["colorama"], {"typer": "typer==1"}, tmp_path, [])


def test_the_options_of_other_platforms(tool):
    assert tool.target_options("win_amd64", "3.12") == [
        "--platform", "win_amd64", "--python-version", "3.12", "--implementation", "cp",
    ]  # fmt: skip
    assert "manylinux_2_17_x86_64" in tool.target_options("linux_x86_64", "3.13")
    assert tool.environment_of("win_amd64", "3.12")["os_name"] == "nt"
    assert tool.environment_of("linux_aarch64", "3.12")["platform_machine"] == "aarch64"
    assert tool.spoken("win_amd64") == "Windows de 64 bits"


def wheel(folder, name, requires=()):
    path = folder / f"{name}-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        lines = ["Metadata-Version: 2.1", f"Name: {name}", "Version: 1.0", *(f"Requires-Dist: {r}" for r in requires)]
        archive.writestr(f"{name}-1.0.dist-info/METADATA", "\n".join(lines) + "\n\nRequires-Dist: not this one\n")
    return path


def test_each_wheel_is_pinned_by_its_own_digest(tool, tmp_path):
    made = wheel(tmp_path, "some_thing", ["numpy>=2", 'colorama; sys_platform == "win32"'])
    assert [str(r) for r in tool.requirements_of(made)] == ["numpy>=2", 'colorama; sys_platform == "win32"']
    assert tool.pinned([made]) == f"some-thing==1.0 --hash=sha256:{hashlib.sha256(made.read_bytes()).hexdigest()}\n"


def test_the_zip_is_the_same_twice_and_its_installer_can_be_run(tool, tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    wheel(folder, "x")
    tool.write_part(
        PARTS / "instalar.sh", folder / "instalar.sh", {"version": "1", "python": "3.12", "system": "Linux"}
    )
    first = tool.pack(folder, tmp_path / "a.zip", "geobill").read_bytes()
    assert tool.pack(folder, tmp_path / "b.zip", "geobill").read_bytes() == first
    with zipfile.ZipFile(tmp_path / "a.zip") as archive:
        assert archive.namelist() == ["geobill/instalar.sh", "geobill/x-1.0-py3-none-any.whl"]
        assert archive.getinfo("geobill/instalar.sh").external_attr >> 16 == 0o100755


# -- the installers and the guide


@pytest.mark.parametrize("name", ["instalar.sh", "instalar.bat", "LEIA-ME.html"])
def test_every_word_is_filled_in(tool, tmp_path, name):
    tool.write_part(PARTS / name, tmp_path / name, {"version": "9.9", "python": "3.12", "system": "Windows de 64 bits"})
    written = (tmp_path / name).read_bytes()
    assert not re.search(rb"@(version|python|system|platform)@", written)
    assert b"3.12" in written
    assert (b"\r\n" in written) == (name == "instalar.bat")


@pytest.mark.parametrize("name", ["instalar.sh", "instalar.bat"])
def test_an_installer_takes_only_what_is_listed_and_asks_no_network(name):
    text = (PARTS / name).read_text(encoding="utf-8")
    for option in ("--no-index", "--require-hashes", "--no-deps", "--find-links pacotes"):
        assert option in text
    assert "doctor" in text


def test_the_installer_refuses_another_python(tool, tmp_path):
    if not shutil.which("sh"):
        pytest.skip("there is no sh here")
    tool.write_part(
        PARTS / "instalar.sh", tmp_path / "instalar.sh", {"version": "1", "python": "3.99", "system": "Linux"}
    )
    run = subprocess.run(
        ["sh", "instalar.sh"], cwd=tmp_path, capture_output=True, text=True, env={"PATH": "/usr/bin:/bin"}
    )
    assert run.returncode == 1
    assert "Este pacote precisa do Python 3.99" in run.stderr
    assert [p.name for p in tmp_path.iterdir()] == ["instalar.sh"]


def guide():
    return (PARTS / "LEIA-ME.html").read_text(encoding="utf-8")


def commands():
    blocks = re.findall(r"<pre>(.*?)</pre>", guide(), re.DOTALL)
    return [html.unescape(re.sub("<[^>]+>", "", line)) for block in blocks for line in block.strip().splitlines()]


def test_the_guides_commands_run_one_after_another(tmp_path, monkeypatch):
    """The commands as printed, on the files that the bundle carries."""
    monkeypatch.chdir(tmp_path)
    shutil.copytree(ROOT / "data", tmp_path / "exemplo")
    said = commands()
    assert len(said) >= 8
    for line in said:
        program, *words = shlex.split(line)
        assert program == "geobill"
        answer = geobill(*words)
        assert answer.code == 0, f"{line}\n{answer.err}"
    for folder in ("amostra/documents", "caieiras/documents/2026-11"):
        assert folder in guide()
        assert list((tmp_path / folder).glob("fatura-*.pdf"))


def test_the_guide_is_portuguese_and_loads_nothing():
    text = guide()
    assert '<html lang="pt-BR">' in text
    for word in ("instalação", "Cópia de segurança", "doctor"):
        assert word in text
    assert not re.search(r"src=|href=|@import|url\(", text)


def test_the_tool_says_what_it_takes():
    run = subprocess.run(
        [sys.executable, ROOT / "tools" / "bundle.py", "--python-version", "3.9"], capture_output=True, text=True
    )
    assert run.returncode == 1
    assert "geobill runs under 3.11, 3.12 and 3.13" in run.stderr
