"""Runs that are cut off, anywhere: the next ``bill`` finishes the month, without duplicate, gap or half document."""

import random
import shutil
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from workspaces import ISSUED_ON, MONTH, bill, process

from pipeline.checks import assert_whole, query
from pipeline.killed_bill import POINTS

BILL = ("bill", "--month", MONTH, "--issued-on", ISSUED_ON)
TWO = ("2026/000001", "2026/000002")
BEFORE_COMMIT = {
    "first number taken",
    "second number taken",
    "invoice booked, its documents not made",
    "between two documents in the store",
    "before the commit",
}
_random = random.Random(2)
SHARES = [_random.random() for _ in range(8)]  # of the run's duration


@pytest.fixture(scope="module")
def cut_off(prepared, tmp_path_factory):
    """Run a bill for every point where it is cut off, two at a time; workspace, exit code and messages of each."""

    def run(point):
        root = shutil.copytree(prepared, tmp_path_factory.mktemp("cut") / "ws")
        command = [sys.executable, Path(__file__).with_name("killed_bill.py"), point, "-w", root, *BILL]
        ended = subprocess.run(command, capture_output=True, text=True)
        return root, ended.returncode, ended.stderr

    with ThreadPoolExecutor(2) as two:
        return dict(zip(POINTS, two.map(run, POINTS), strict=True))


@pytest.mark.parametrize("point", [p for p in POINTS if p != "nowhere"])
def test_the_next_bill_finishes_what_was_cut_off(cut_off, point):
    workspace, code, said = cut_off[point]
    assert code == -signal.SIGKILL, said
    kept = query(workspace, "SELECT number FROM invoices ORDER BY number")
    assert kept == ([] if point in BEFORE_COMMIT else [(n,) for n in TWO])
    if point == "within a file":
        assert list((workspace / "documents" / MONTH).glob(".*.part"))
    answer = bill(workspace)
    assert [i["issued_now"] for i in answer["invoices"]] == [not kept] * 2
    assert_whole(workspace, TWO)


def test_the_driver_itself_changes_nothing(cut_off):
    workspace, code, said = cut_off["nowhere"]
    assert code == 0, said
    assert_whole(workspace, TWO)


def killed(workspace, after_s):
    """Run a bill and kill it so many seconds after its work proper begins, when its libraries are loaded."""
    run = process("-w", workspace, *BILL)
    assert "pricing" in run.stderr.readline()
    start = time.monotonic()
    try:
        run.communicate(timeout=after_s)
    except subprocess.TimeoutExpired:
        run.kill()
        run.communicate()
    return time.monotonic() - start


@pytest.fixture(scope="module")
def duration(prepared, tmp_path_factory):
    """Seconds that the work proper takes on this machine."""
    return killed(shutil.copytree(prepared, tmp_path_factory.mktemp("timed") / "ws"), 60)


@pytest.fixture(scope="module")
def killed_anywhere(prepared, duration, tmp_path_factory):
    """Workspaces whose bill was killed at random moments, two at a time."""

    def run(share):
        root = shutil.copytree(prepared, tmp_path_factory.mktemp("killed") / "ws")
        killed(root, duration * share)
        return root

    with ThreadPoolExecutor(2) as two:
        return list(two.map(run, SHARES))


@pytest.mark.parametrize("number", range(len(SHARES)), ids=[f"{s:.0%}" for s in SHARES])
def test_a_kill_at_any_moment_is_made_good(killed_anywhere, number):
    bill(killed_anywhere[number])
    assert_whole(killed_anywhere[number], TWO)


def test_kills_one_after_the_other_are_made_good(workspace, duration):
    for share in (0.5, 0.95):
        killed(workspace, duration * share)
    bill(workspace)
    assert_whole(workspace, TWO)


def test_runs_at_once_give_one_set_of_invoices(workspace):
    runs = [process("-w", workspace, *BILL) for _ in range(3)]
    said = [run.communicate()[1] for run in runs]
    codes = [run.returncode for run in runs]
    assert 0 in codes, said
    for code, text in zip(codes, said, strict=True):  # one that had to wait too long says so
        assert code == 0 or (code == 1 and "another program is writing" in text), text
    bill(workspace)
    assert_whole(workspace, TWO)
