"""Runs that are cut off, anywhere: the next ``bill`` finishes the month, without duplicate, gap or half document."""

import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from pipeline.checks import assert_whole, query
from pipeline.killed_bill import POINTS
from workspaces import ISSUED_ON, MONTH, bill, process

BILL = ("bill", "--month", MONTH, "--issued-on", ISSUED_ON)
TWO = ("2026/000001", "2026/000002")
BEFORE_COMMIT = {
    "first number taken",
    "second number taken",
    "invoice booked, its documents not made",
    "between two documents in the store",
    "before the commit",
}
KILLS = 8


@pytest.mark.parametrize("point", [p for p in POINTS if p != "nowhere"])
def test_the_next_bill_finishes_what_was_cut_off(workspace, point):
    command = [sys.executable, Path(__file__).with_name("killed_bill.py"), point, "-w", workspace, *BILL]
    run = subprocess.run(command, capture_output=True, text=True)
    assert run.returncode == -signal.SIGKILL, run.stderr
    kept = query(workspace, "SELECT number FROM invoices ORDER BY number")
    assert kept == ([] if point in BEFORE_COMMIT else [(n,) for n in TWO])
    if point == "within a file":
        assert list((workspace / "documents" / MONTH).glob(".*.part"))
    answer = bill(workspace)
    assert [i["issued_now"] for i in answer["invoices"]] == [not kept] * 2
    assert_whole(workspace, TWO)


def test_the_driver_itself_changes_nothing(workspace):
    command = [sys.executable, Path(__file__).with_name("killed_bill.py"), "nowhere", "-w", workspace, *BILL]
    assert subprocess.run(command, capture_output=True).returncode == 0
    assert_whole(workspace, TWO)


def working(workspace):
    """Start a bill and return it when the work proper begins, after its libraries are loaded."""
    run = process("-w", workspace, *BILL)
    assert "pricing" in run.stderr.readline()
    return run


@pytest.fixture(scope="module")
def duration(prepared, tmp_path_factory):
    """Seconds that the work proper takes on this machine."""
    run = working(shutil.copytree(prepared, tmp_path_factory.mktemp("timed") / "ws"))
    start = time.monotonic()
    run.communicate()
    assert run.returncode == 0
    return time.monotonic() - start


@pytest.mark.parametrize("share", [random.Random(2).random() for _ in range(KILLS)], ids=lambda s: f"{s:.0%}")
def test_a_kill_at_any_moment_is_made_good(workspace, duration, share):
    run = working(workspace)
    time.sleep(duration * share)
    run.kill()
    run.communicate()
    bill(workspace)
    assert_whole(workspace, TWO)


def test_kills_one_after_the_other_are_made_good(workspace, duration):
    for share in (0.3, 0.8, 0.95):
        run = working(workspace)
        time.sleep(duration * share)
        run.kill()
        run.communicate()
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
