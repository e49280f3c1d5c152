"""The acceptance cases, through the installed command as a user runs it: each command a process of its own."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest


@pytest.mark.parametrize("kind", ["pricing", "pricing-finished"])
def test_every_pricing_case_holds(shared, tmp_path, kind):
    runner = shared / "cases" / "run_cases.py"
    command = Path(sys.executable).with_name("geobill")
    cases = sorted(p.parent for p in (shared / "cases" / kind).glob("*/case.json"))

    def run(half):
        folder = tmp_path / str(half)
        folder.mkdir()
        for case in cases[half::2]:
            (folder / case.name).symlink_to(case)
        return subprocess.run([sys.executable, runner, folder, "--geobill", command], capture_output=True, text=True)

    with ThreadPoolExecutor(2) as two:
        runs = list(two.map(run, (0, 1)))
    said = "".join(r.stdout + r.stderr for r in runs)
    assert [r.returncode for r in runs] == [0, 0], said
    assert said.count("ok  ") == len(cases), said
