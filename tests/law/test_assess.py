"""assess: a statute's charges from plain figures, by the command line; worked by hand."""

import json
import subprocess
import sys

import pytest
from workspaces import done, geobill

STATUTE = "caieiras-lei-3057-2001"
NET = {"length_m": "7200.00", "width_m": "0.35", "land_value": "120.00"}
CABINET = {"volume_m3": "1.20"}


def assess(tmp_path, given, *more):
    file = tmp_path / "in.json"
    file.write_text(given if isinstance(given, str) else json.dumps(given), encoding="utf-8")
    return geobill("assess", "--statute", STATUTE, file, "--json", *more)


def made(tmp_path, **given):
    answer = assess(tmp_path, {"date": "2026-11-30"} | given)
    assert answer.code == 0, answer.err
    return answer.json


def test_the_calculator_s_case_factor_by_factor(tmp_path):
    found = made(tmp_path, segments=[NET], equipment=[CABINET])
    network, box = found["charges"]
    # 7,200 m × 0.50 m × 120 × 0.03 × 0.50 × 0.90 = 5,832.00; 1.20 m³ × 150.00 = 180.00
    assert (network["amount"], box["amount"], found["total"]) == ("5832.00", "180.00", "6012.00")
    assert (found["deposit"], found["yearly"], found["exempt"], found["held"]) == ("18036.00", "72144.00", None, [])
    assert (network["quantity"], network["unit"], network["rate"]) == ("7200.00", "m", "120.00")
    assert network["factors"] == [
        {"name": "billed_width_m", "value": "0.50", "article": "7 § 1"},
        {"name": "location_index", "value": "0.03", "article": "7"},
        {"name": "depreciation_index", "value": "0.50", "article": "7"},
        {"name": "reducer", "value": "0.90", "article": "7"},
    ]
    assert (box["quantity"], box["unit"], box["rate"], box["articles"]) == ("1.20", "m3", "150.00", ["7 § 2"])
    assert found["deadlines"] == [{"name": "payment", "date": "2026-12-15", "article": "8"}]


def test_exact_numbers_as_text_or_digit_by_digit(tmp_path):
    written = '{"date": "2026-11-30", "segments": [{"length_m": 7200.00, "width_m": 0.35, "land_value": 120}]}'
    assert assess(tmp_path, written).json["total"] == "5832.00"
    # 0.1 m × 0.50 × 1000.5 × 0.03 × 0.50 = 0.750375
    tenth = {"length_m": "0.1", "width_m": "0.5", "land_value": "1000.5"}
    assert made(tmp_path, segments=[tenth])["total"] == "0.75"


def test_what_is_doubled_is_in_neither_deposit_nor_year(tmp_path):
    double = {"length_m": "100", "width_m": "1", "land_value": "100", "status": "clandestine"}
    found = made(tmp_path, segments=[NET, double], equipment=[CABINET | {"status": "clandestine"}])
    # R by the 7,200 m alone; 100 × 1 × 100 × 0.03 × 0.50 × 0.90 × 2 = 270.00; 180.00 × 2
    assert [c["amount"] for c in found["charges"]] == ["270.00", "5832.00", "360.00"]  # as an invoice orders them
    assert (found["total"], found["deposit"], found["yearly"]) == ("6462.00", "17496.00", "69984.00")
    assert found["charges"][0]["factors"][-1] == {"name": "multiplier", "value": "2", "article": "10 § 2"}


@pytest.mark.parametrize(
    ("policy", "status", "amount"),
    [
        ({}, "existing", "75.00"),
        ({}, "unregistered", "150.00"),
        ({}, "clandestine_unregistered", "150.00"),
        ({"doublings_cumulate": True}, "clandestine_unregistered", "300.00"),
    ],
)
def test_statuses(tmp_path, policy, status, amount):
    row = {"length_m": "100", "width_m": "0.5", "land_value": "100", "status": status}
    assert made(tmp_path, segments=[row], policy=policy)["total"] == amount


@pytest.mark.parametrize(
    ("policy", "reducers", "amounts"),
    [
        # 100 × 0.50 × 0.03 × 0.50 = 0.75 a metre at R = 1; 15 km: 0.90, or 5,000 + 10,000 × 0.90 = 14,000 of them
        ({}, ["0.90", "0.90"], ["8100.00", "2025.00"]),
        ({"reducer_method": "graduated"}, ["14000.00/15000.00"] * 2, ["8400.00", "2100.00"]),
        ({"reducer_scope": "permit"}, ["0.90", "1.00"], ["8100.00", "2250.00"]),
    ],
)
def test_r_by_operator_by_permit_and_bracket_by_bracket(tmp_path, policy, reducers, amounts):
    rows = [
        {"length_m": "12000", "width_m": "0.5", "land_value": "100", "permit": "1"},
        {"length_m": "3000", "width_m": "0.5", "land_value": "100", "permit": "2"},
    ]
    found = made(tmp_path, segments=rows, policy=policy)["charges"]
    assert [next(f["value"] for f in c["factors"] if f["name"] == "reducer") for c in found] == reducers
    assert [c["amount"] for c in found] == amounts


def test_above_100_km_is_held_with_its_article_and_adds_nothing(tmp_path):
    long = {"length_m": "100000.01", "width_m": "0.5", "land_value": "100"}
    found = made(tmp_path, segments=[long], equipment=[CABINET])
    assert [(h["item"], h["article"]) for h in found["held"]] == [("network", "7")]
    assert (found["total"], found["deposit"], found["yearly"]) == ("180.00", None, None)
    assert made(tmp_path, segments=[long | {"length_m": "100000.00"}])["held"] == []


def test_an_entity_of_the_municipality_itself_is_exempt(tmp_path):
    found = made(tmp_path, segments=[NET], operator_kind="municipal")
    assert (found["charges"], found["total"], found["exempt"], found["deposit"]) == ([], "0.00", "13", None)
    assert made(tmp_path, segments=[NET], operator_kind="public")["total"] == "5832.00"


def test_due_dates_follow_the_policy_and_the_state_s_holidays(tmp_path):
    def due(date, **policy):
        return made(tmp_path, date=date, segments=[NET], policy=policy)["deadlines"][0]["date"]

    assert due("2026-10-31") == "2026-11-16"  # the 15th is a Sunday and a holiday
    assert due("2026-10-31", due_day_rule="same_day") == "2026-11-15"
    assert due("2026-11-30", due_month="same") == "2026-11-16"


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"segments": [NET]}, "no date"),
        ({"date": "30/11/2026", "segments": [NET]}, "YYYY-MM-DD"),
        ({"date": "2001-06-26", "segments": [NET]}, "2001-06-27"),
        ({"date": "2027-01-01", "segments": [NET]}, "law confirm"),
        ({"date": "2026-11-30"}, "nothing to charge"),
        ({"date": "2026-11-30", "segments": [NET], "class": "works"}, "has class, which nothing would obey"),
        ({"date": "2026-11-30", "segments": [NET | {"lenght_m": "1"}]}, "segment 1 has lenght_m"),
        ({"date": "2026-11-30", "segments": [NET, {"length_m": "1"}]}, "segment 2 gives no"),
        ({"date": "2026-11-30", "segments": [NET | {"length_m": "7.200,00"}]}, "decimal point"),
        ({"date": "2026-11-30", "segments": [NET | {"length_m": "-1"}]}, "no number above 0"),
        ({"date": "2026-11-30", "segments": [NET | {"length_m": -1}]}, "must be above 0"),
        ({"date": "2026-11-30", "segments": [NET | {"length_m": 0}]}, "must be above 0"),
        ({"date": "2026-11-30", "segments": [NET | {"width_m": True}]}, "no number above 0"),
        ({"date": "2026-11-30", "segments": [NET | {"status": "planned"}]}, "status can't be 'planned'"),
        ({"date": "2026-11-30", "segments": {"length_m": "1"}}, "must be a list"),
        ({"date": "2026-11-30", "equipment": [{"pieces": 3}]}, "charges by volume"),
        ({"date": "2026-11-30", "segments": [NET], "operator_kind": "church"}, "operator_kind"),
        ({"date": "2026-11-30", "segments": [NET], "policy": {"rounding": "up"}}, "rounding can't be 'up'"),
        ({"date": "2026-11-30", "segments": [NET], "policy": {"round": "up"}}, "no policy key"),
        ({"date": "2026-11-30", "segments": [NET], "policy": {"on_border": "lower"}}, "nothing obeys it here"),
        ({"date": "2026-11-30", "segments": [NET], "policy": {"above_100_km": "D1"}}, "isn't recorded"),
        ("[]", "must be an object"),
        ("{", "isn't JSON"),
        ('{"date": "2026-11-30", "date": "2026-10-30", "segments": []}', "twice"),
        ('{"date": "2026-11-30", "segments": [{"length_m": NaN, "width_m": 1, "land_value": 1}]}', "NaN"),
        ('{"date": "2026-11-30", "segments": [{"length_m": 1e999999, "width_m": 1, "land_value": 1}]}', "can't be"),
        (
            '{"date": "2026-11-30", "segments": [{"length_m": ' + "9" * 5000 + ', "width_m": 1, "land_value": 1}]}',
            "can't be",
        ),
    ],
)
def test_what_can_t_be_is_refused_with_what_to_do(tmp_path, given, says):
    answer = assess(tmp_path, given)
    assert (answer.code, answer.out) == (1, "")
    assert says in answer.err


def test_another_statute_and_a_missing_file_are_refused_by_name(tmp_path):
    file = tmp_path / "in.json"
    assert "can't be read" in geobill("assess", "--statute", STATUTE, file).err
    file.write_text(json.dumps({"date": "2026-10-05"}))
    for name in ("sao-paulo-decreto-46942-2006", "../caieiras"):
        answer = geobill("assess", "--statute", name, file)
        assert answer.code == 1
        assert f"no statute {name!r}" in answer.err


def test_a_workspace_gives_its_acts_and_its_decisions(tmp_path):
    root, act = tmp_path / "ws", tmp_path / "decreto.pdf"
    act.write_bytes(b"%PDF-1.4\n")
    done("init", root)
    given = ("--figure", "price_per_m3", "--value", "160.00", "--date", "2026-11-01", "--file", act, "--by", "Ana")
    done("law", "amend", "--act", "Decreto 9/2026", "--article", "1", *given, workspace=root)
    signed = ("--number", "1", "--date", "2026-01-15", "--signatory", "Prefeita", "--answer", "0.50")
    done("decision", "add", "--id", "D1", "--question", "above_100_km", *signed, workspace=root)
    long = {"length_m": "200000", "width_m": "0.5", "land_value": "100"}
    rows = {"segments": [long], "equipment": [CABINET], "policy": {"above_100_km": "D1"}}
    answer = assess(tmp_path, {"date": "2026-11-30"} | rows, "-w", root)
    # 200,000 × 0.75 × 0.50 = 75,000.00; 1.20 × 160.00 = 192.00
    assert [c["amount"] for c in answer.json["charges"]] == ["75000.00", "192.00"]


def test_the_shared_case(shared):
    command = [sys.executable, "-m", "geobill.cli.main"]
    runner = [sys.executable, str(shared / "cases" / "run_statutes.py"), "--geobill", " ".join(command), "-k", "cai"]
    ran = subprocess.run(runner, capture_output=True, text=True, timeout=120)
    assert ran.returncode == 0, ran.stdout
