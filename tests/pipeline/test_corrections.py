"""Months that were billed, put right: credit and difference notes, and the month as it stood on a day."""

import random
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

import pytest
from billed_town import (
    ALFA_TOTAL,
    MONTH,
    ZONES,
    copy_town,
    correct,
    demanded,
    edit,
    make_billed_town,
    new_values,
    price,
)
from permit_town import refused
from workspaces import bill, done, geobill

from geobill.cli import app as command_line
from pipeline.checks import query


@pytest.fixture(scope="module")
def billed(tmp_path_factory):
    return make_billed_town(tmp_path_factory.mktemp("billed"))


@pytest.fixture
def town(billed, tmp_path):
    return copy_town(billed, tmp_path)


def one_note(answer):
    (note,) = answer["notes"]
    return note


def test_a_wider_strip_is_a_difference_and_a_narrower_one_a_credit(town):
    before = query(town, "SELECT * FROM invoices")
    edit(town, "alfa", "A1", largura=0.75)  # 1,000 m × 0.25 m more × R$ 40 × 0.015 = R$ 150.00
    note = one_note(correct(town, "--by", "Ana Lima"))
    assert (note["kind"], note["number"], note["total"], note["due_on"]) == (
        "difference",
        "2026/000003",
        "150.00",
        "2027-01-15",
    )
    assert (note["reason"], note["by"]) == ("Medição em campo", "Ana Lima")
    (line,) = note["lines"]
    assert (line["month"], line["invoice"]) == (MONTH, "2026/000001")
    assert (line["before"], line["now"], line["amount"]) == ("415.20", "565.20", "150.00")
    assert [(c["cause"], c["amount"], c["examples"]) for c in line["causes"]] == [("width", "150.00", ["A1"])]
    assert correct(town)["notes"] == []
    edit(town, "alfa", "A1", largura=0.60)
    note = one_note(correct(town))
    assert (note["kind"], note["number"], note["total"], note["due_on"]) == ("credit", "2026/000004", "-90.00", None)
    (line,) = note["lines"]
    assert (line["before"], line["now"]) == ("565.20", "475.20")
    assert [(c["cause"], c["amount"]) for c in line["causes"]] == [("width", "-90.00")]
    assert correct(town)["notes"] == []
    assert query(town, "SELECT * FROM invoices") == before
    assert bill(town, month=MONTH, issued_on="2026-12-02")["findings"] == []


def test_one_note_for_each_operator_and_one_line_for_each_month(tmp_path):
    town = make_billed_town(tmp_path, "2026-09", MONTH)
    edit(town, "alfa", "A2", largura=0.70)
    edit(town, "beta", "B1", retirado="2026-09-30")
    found = correct(town, "--until", MONTH, month="2026-09")
    assert [(n["operator"], n["kind"], n["total"]) for n in found["notes"]] == [
        ("alfa", "difference", "38.40"),
        ("beta", "credit", "-150.00"),
    ]
    alfa, beta = found["notes"]
    assert [(line["month"], line["invoice"]) for line in alfa["lines"]] == [
        ("2026-09", "2026/000001"),
        (MONTH, "2026/000003"),
    ]
    assert [(line["month"], line["now"]) for line in beta["lines"]] == [(MONTH, "0.00")]
    assert [c["cause"] for c in beta["lines"][0]["causes"]] == ["removed_segments"]
    assert len(found["files"]) == 4


@pytest.mark.parametrize("seed", [1, 2])
def test_original_and_corrections_are_the_month_afresh_whatever_changes(billed, tmp_path, seed):
    town, chance = copy_town(billed, tmp_path), random.Random(seed)
    number = 2
    for _ in range(6):
        change = chance.choice(("width", "status", "place", "map", "days"))
        id_ = chance.choice(("A1", "A2"))
        if change == "width":
            edit(town, "alfa", id_, largura=chance.randrange(30, 200) / 100)
        elif change == "status":
            edit(town, "alfa", id_, situacao=chance.choice(("permitted", "existing", "clandestine")))
        elif change == "place":
            start = chance.randrange(-1900, 900)
            edit(town, "alfa", id_, [(start, 100), (start + chance.randrange(50, 900), chance.randrange(1, 1900))])
        elif change == "days":
            edit(town, "alfa", id_, implantado=f"2026-10-{chance.randrange(1, 28):02d}")
        else:
            new_values(town, *((name, str(chance.randrange(1, 9000) / 100), *box) for name, _, *box in ZONES))
        notes = correct(town)["notes"]
        for owner in ("alfa", "beta"):
            assert demanded(town, owner) == price(town, owner), (change, id_, owner)
        for note in notes:
            number += 1
            assert note["number"] == f"2026/{number:06d}"
            assert all(sum(Decimal(c["amount"]) for c in x["causes"]) == Decimal(x["amount"]) for x in note["lines"])
        assert correct(town)["notes"] == []
    assert number > 4


def test_a_look_changes_nothing(town):
    edit(town, "alfa", "A1", largura=0.75)
    note = one_note(correct(town, "--dry-run"))
    assert (note["number"], note["total"], note["digest"]) == ("RASCUNHO", "150.00", "")
    assert query(town, "SELECT count(*) FROM notes") == [(0,)]
    assert not (town / "documents" / "notas").exists()
    assert one_note(correct(town))["number"] == "2026/000003"


def test_what_cant_be_corrected_is_refused(town):
    reason = ("--reason", "x")
    assert "geobill bill --month 2026-09" in refused(town, "correct", "--month", "2026-09", *reason)
    assert "turn them round" in refused(town, "correct", "--month", MONTH, "--until", "2026-09", *reason)
    assert "--reason" in refused(town, "correct", "--month", MONTH, "--reason", " ")
    assert "known: alfa, beta" in refused(town, "correct", "--month", MONTH, "--operator", "zeta", *reason)
    edit(town, "alfa", "A1", largura=0.75)
    dates = ("--issued-on", "2026-12-01", "--due", "2026-11-30")
    assert "before it is issued" in refused(town, "correct", "--month", MONTH, *reason, *dates)
    assert query(town, "SELECT count(*) FROM notes") == [(0,)]


def test_months_without_an_invoice_are_named_and_left(town):
    found = correct(town, "--until", "2026-11")
    assert [(f["code"], "2026-11" in f["message"]) for f in found["findings"]] == [("never_billed", True)]


def test_what_differs_is_said_by_bill_and_by_an_act_that_is_dated_back(town):
    edit(town, "alfa", "A1", largura=0.75)
    (finding,) = bill(town, month=MONTH, issued_on="2026-12-02")["findings"]
    assert finding["code"] == "differs_from_issued"
    assert f"geobill correct --month {MONTH} --operator alfa" in finding["fix"]


def test_old_months_wait_for_a_decision_both_ways(tmp_path):
    town = make_billed_town(tmp_path, "2019-05")
    edit(town, "alfa", "A1", largura=0.75)
    edit(town, "beta", "B1", retirado="2019-04-30")
    found = correct(town, month="2019-05")
    assert found["notes"] == []
    assert [(h["operator"], h["code"], h["article"], h["amount_if"]["amount"]) for h in found["held"]] == [
        ("alfa", "limitation", "15", "150.00"),
        ("beta", "limitation", "15", "-150.00"),
    ]
    act = ("--number", "9", "--date", "2026-11-20", "--signatory", "Prefeita", "--answer", "10")
    done("decision", "add", "--id", "D9", "--question", "limitation_years", *act, workspace=town)
    done("policy", "set", "limitation_years", "10", workspace=town)
    assert [n["total"] for n in correct(town, month="2019-05")["notes"]] == ["150.00", "-150.00"]


# -- the month as it stood


def test_a_month_as_it_stood_on_a_day(billed, tmp_path, monkeypatch):
    town = copy_town(billed, tmp_path)
    today = datetime.now(UTC)
    later = (today + timedelta(days=3)).strftime("%Y-%m-%dT12:00:00Z")
    monkeypatch.setattr(command_line, "now", lambda: later)
    edit(town, "alfa", "A1", largura=0.75)
    new_values(town, *((name, "1", *box) for name, _, *box in ZONES))
    on = today.astimezone().date()
    then = done("price", "--month", MONTH, "--as-known-on", on.isoformat(), workspace=town)
    now = done("price", "--month", MONTH, workspace=town)
    assert then["as_known_on"] == on.isoformat()
    totals = [next(o["total"] for o in p["operators"] if o["operator"] == "alfa") for p in (then, now)]
    # 1,000 m × 0.75 m × R$ 1 × 0.015 = 11.25; 800 m × 0.60 m × 0.015 = 7.20
    assert totals == [str(ALFA_TOTAL), "18.45"]
    early = geobill(
        "price", "--month", MONTH, "--as-known-on", (on - timedelta(days=9)).isoformat(), "--json", workspace=town
    )
    assert early.json["operators"] == []


def test_the_end_of_a_day_is_turned_to_utc(monkeypatch):
    import time

    monkeypatch.setenv("TZ", "America/Sao_Paulo")
    time.tzset()
    try:
        assert command_line.end_of_day(date(2026, 11, 30)) == "2026-12-01T03:00:00Z"
    finally:
        monkeypatch.undo()
        time.tzset()


def test_months_that_round_otherwise_stand_on_one_note(tmp_path):
    root = make_billed_town(tmp_path, "2026-09", "2026-10")
    done("policy", "set", "rounding", "half_even", "--since", "2026-10", workspace=root)
    # 1,000 m × 0.50 m × R$ 40 × 0.015 as before, and 67 m × 0.50 m × R$ 10 × 0.015 = R$ 5.025 where there were 115.20
    new_values(root, ("Centro", "40", -2000, 0, 0, 2000), ("Serra", "10", 0, 0, 2000, 2000))
    edit(root, "alfa", "A2", [(200, 300), (267, 300)], largura=0.5)
    (note,) = correct(root, "--until", "2026-10", month="2026-09")["notes"]
    assert [line["now"] for line in note["lines"]] == ["305.03", "305.02"]
    done("verify", "--all", workspace=root)
