"""The arrows between the rooms, the purity of law and domain, one clock, one catcher, short files (design.md)."""

import ast
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

import geobill

PACKAGE = Path(geobill.__file__).parent
STAGES = {"intake", "store", "pricing", "detection", "billing", "documents", "payments"}
BELOW_STAGES = {"law", "frames", "domain", "errors"}
EDGES = {"cli", "web"}
MAY_IMPORT = {
    **dict.fromkeys(STAGES, BELOW_STAGES),
    "law": {"domain", "errors"},
    "frames": {"domain", "errors"},
    "domain": {"errors"},
    "errors": set(),
    "pipeline": STAGES | BELOW_STAGES,
}
TOUCHES_THE_WORLD = {
    "asyncio", "ctypes", "glob", "http", "io", "multiprocessing", "os", "pathlib", "random", "secrets", "shelve", "shutil",
    "socket", "sqlite3", "subprocess", "tempfile", "threading", "time", "urllib", "uuid",
}  # fmt: skip
CLOCKS = {"today", "now", "utcnow", "time", "time_ns", "localtime", "gmtime"}
CLOCK_OWNERS = {"date", "datetime", "time", "Timestamp", "pd", "pandas", "dt"}
# package data through importlib.resources, nothing else
READ_FIGURES = {"law/figures.py", "law/legal_risk.py", "law/statutes/__init__.py"}
MAX_LINES = 400
SHAPELESS = {"utils", "util", "helpers", "helper", "common", "misc", "base_utils"}


@dataclass(frozen=True)
class Module:
    path: Path
    room: str
    tree: ast.Module

    @property
    def name(self) -> str:
        return str(self.path.relative_to(PACKAGE.parent))

    @classmethod
    def read(cls, path: Path, source: str | None = None) -> "Module":
        first = path.relative_to(PACKAGE).parts[0]
        room = "geobill" if first == "__init__.py" else first.removesuffix(".py")
        return cls(path, room, ast.parse(source if source is not None else path.read_text(encoding="utf-8")))

    def imports(self) -> Iterator[tuple[str, str]]:
        """Each import as its top-level package and the dotted rest: ("geobill", "law.policy"), ("os", "path")."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    yield alias.name.partition(".")[::2]
            elif isinstance(node, ast.ImportFrom):
                assert not node.level, f"{self.name}:{node.lineno} imports relatively: write the whole name"
                for alias in node.names:
                    top, _, rest = node.module.partition(".")
                    yield top, rest or alias.name

    def rooms_imported(self) -> set[str]:
        return {rest.partition(".")[0] for top, rest in self.imports() if top == "geobill"} - {self.room}

    def third_party(self) -> set[str]:
        return {top for top, _ in self.imports()} - set(sys.stdlib_module_names) - {"geobill"}

    def calls(self) -> Iterator[tuple[str, str, int]]:
        """Each call as (owner, name, line); the owner of a plain call is empty."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Call):
                called = node.func
                if isinstance(called, ast.Name):
                    yield "", called.id, node.lineno
                elif isinstance(called, ast.Attribute):
                    owner = called.value
                    yield getattr(owner, "id", getattr(owner, "attr", "?")), called.attr, node.lineno


MODULES = [Module.read(path) for path in sorted(PACKAGE.rglob("*.py"))]


def arrows_broken(module: Module) -> list[str]:
    allowed = MAY_IMPORT.get(module.room)
    imported = module.rooms_imported()
    wrong = set() if allowed is None else imported - allowed
    if module.room not in EDGES | {"geobill", "demo", "__main__"}:
        wrong |= imported & (EDGES | {"pipeline", "demo"})
    if module.room not in EDGES | {"__main__"}:
        wrong |= imported & EDGES
    return [f"{module.name} imports {room}" for room in sorted(wrong)]


def clocks_asked(module: Module) -> list[str]:
    if module.room in EDGES:
        return []
    return [
        f"{module.name}:{line} calls {owner}.{name}"
        for owner, name, line in module.calls()
        if name in CLOCKS and owner in CLOCK_OWNERS
    ]


def catchers(module: Module) -> list[str]:
    if module.room == "cli":
        return []
    caught = [node for node in ast.walk(module.tree) if isinstance(node, ast.ExceptHandler) and node.type is not None]
    return [
        f"{module.name}:{node.lineno} catches GeobillError"
        for node in caught
        if any(getattr(n, "id", getattr(n, "attr", "")) == "GeobillError" for n in ast.walk(node.type))
    ]


def prints(module: Module) -> list[str]:
    if module.room == "cli":
        return []
    return [f"{module.name}:{line} prints" for owner, name, line in module.calls() if (owner, name) == ("", "print")]


def impurities(module: Module) -> list[str]:
    """What in law or domain reaches beyond plain values: other packages, files, the system, chance."""
    if module.room not in {"law", "domain"}:
        return []
    reached = module.third_party() | ({top for top, _ in module.imports()} & TOUCHES_THE_WORLD)
    if module.path.relative_to(PACKAGE).as_posix() not in READ_FIGURES:
        reached |= {top for top, _ in module.imports()} & {"importlib"}
    opened = [
        f"{module.name}:{line} opens a file" for owner, name, line in module.calls() if (owner, name) == ("", "open")
    ]
    return [f"{module.name} imports {name}" for name in sorted(reached)] + opened


@pytest.mark.parametrize("check", [arrows_broken, clocks_asked, catchers, prints, impurities], ids=lambda c: c.__name__)
def test_package_keeps(check):
    assert [fault for module in MODULES for fault in check(module)] == []


@pytest.mark.parametrize(
    ("check", "place", "source"),
    [
        (arrows_broken, "pricing/x.py", "from geobill.intake import reader"),
        (arrows_broken, "billing/x.py", "import geobill.pricing.price"),
        (arrows_broken, "law/x.py", "from geobill.frames import ZONES"),
        (arrows_broken, "domain/x.py", "from geobill import law"),
        (arrows_broken, "store/x.py", "from geobill import pipeline"),
        (arrows_broken, "pipeline.py", "from geobill.cli.main import run"),
        (clocks_asked, "billing/x.py", "from datetime import date\nd = date.today()"),
        (clocks_asked, "store/x.py", "import datetime\nd = datetime.datetime.now(datetime.UTC)"),
        (catchers, "pipeline.py", "try:\n    pass\nexcept (ValueError, errors.GeobillError):\n    pass"),
        (prints, "pricing/x.py", "print('held')"),
        (impurities, "law/x.py", "import pandas as pd"),
        (impurities, "law/x.py", "from pathlib import Path"),
        (impurities, "law/statutes/x.py", "from importlib import resources"),
        (impurities, "law/figures.py", "import importlib.resources, os"),
        (impurities, "domain/x.py", "text = open('x').read()"),
    ],
)
def test_check_sees_what_it_is_for(check, place, source):
    assert check(Module.read(PACKAGE / place, source))


def test_no_module_is_over_400_lines():
    long = {m.name: n for m in MODULES if (n := len(m.path.read_text(encoding="utf-8").splitlines())) > MAX_LINES}
    assert long == {}


def test_file_names_say_what_is_in_them():
    assert [m.name for m in MODULES if m.path.stem in SHAPELESS] == []


def test_package_reads_nothing_beside_the_project():
    texts = [p for p in PACKAGE.rglob("*") if p.is_file() and p.suffix in {".py", ".toml", ".j2", ".typ", ".html"}]
    assert [str(p) for p in texts if "../shared" in p.read_text(encoding="utf-8")] == []


def test_folders_are_the_rooms_of_the_design():
    rooms = {p.name for p in PACKAGE.iterdir() if p.is_dir() and p.name != "__pycache__"}
    assert rooms <= STAGES | EDGES | {"pipeline", "law", "domain", "demo"}
