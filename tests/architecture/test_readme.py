"""The README's table "Where does my change go?" names only what exists, and every room that exists."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def table_rows() -> list[str]:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    section = re.search(r"^## Where does my change go\?$(.*?)(?=^## |\Z)", readme, re.MULTILINE | re.DOTALL)
    assert section, "the README has no section of that name"
    return [line for line in section[1].splitlines() if line.startswith("|")][2:]


def paths() -> list[str]:
    return [path for row in table_rows() for path in re.findall(r"`([\w./-]+)`", row.strip("|").split("|")[-1])]


def test_every_path_exists():
    assert len(paths()) >= 10
    assert [p for p in paths() if not (ROOT / p).exists()] == []


def test_every_room_has_a_row():
    rooms = {
        p.name for p in (ROOT / "geobill").iterdir() if p.is_dir() and any(p.glob("*.py")) and p.name != "__pycache__"
    }
    told = {Path(p).parts[1] for p in paths() if p.startswith("geobill/") and len(Path(p).parts) > 1}
    assert rooms - told == set()
