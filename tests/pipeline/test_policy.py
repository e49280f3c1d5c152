"""The policy of a month: what it rests on, from when it holds, who changed it, and what of that is printed.

alfa has 6,000 m × 0.50 m × R$ 4.00 × 3 % × 50 %: R$ 162.00 with R = 0.90 on the whole, R$ 177.00 bracket by bracket
(5,900 m out of 6,000 m). beta has 110 km, which art. 7 doesn't price: a decision gives 0.60 above 100 km.
"""

import hashlib
import os
import shutil
import signal
import subprocess
import sys
from datetime import date
from decimal import Decimal

import pytest
from documents.reading import packed, text_of
from law.test_policy import OTHER, decision, recorded, values
from permit_town import import_line, make_town, refused
from sqlalchemy import Engine, event
from workspaces import bill, done, geobill, import_network, write_network

from geobill.documents.policy_words import decision_in_words, policy_lines
from geobill.documents.statute_words import StatuteWords
from geobill.domain.dates import BillingMonth
from geobill.law.policy import KEYS, parse_policy
from geobill.law.statutes import load_statute
from geobill.pipeline.billing import due_day
from geobill.pipeline.month import Terms, basis_of, price_month
from geobill.pipeline.policy import policy_findings, settings_as_known
from geobill.store.policy import HAND, PolicyChange
from geobill.store.settings import FILE_NAME, read_settings
from geobill.store.workspace import open_workspace
from pipeline.checks import load_archived, load_invoices, query

NOW = "2026-11-30T10:00:00Z"
PAPER = b"%PDF-1.7\n" + bytes(range(256)) * 40
ACT = ("--number", "31/2026", "--date", "2026-09-20", "--signatory", "Ana Prefeita")
ON_BORDER = ("--question", "on_border", "--answer", "mean")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Town with two decisions in force from October 2026 on, and a policy that names both; not to be changed."""
    folder = tmp_path_factory.mktemp("town")
    root = make_town(folder)
    edit(root, 'cnpj = ""\naddress = ""', 'cnpj = "46.523.064/0001-78"\naddress = "Av. do Prefeito, 1"')
    import_line(root, "A1", 6000, 500)
    long = [(f"L{n}", 0.5, [(-6000, 1000 + 10 * n), (4000, 1000 + 10 * n)]) for n in range(11)]
    import_network(root, write_network(folder / "beta.geojson", *long), "beta")
    (folder / "decisao.pdf").write_bytes(PAPER)
    add(root, "D1", "--question", "above_100_km", "--answer", "0.60", "--from", "2026-10-01")
    graduated = ("--question", "reducer_method", "--answer", "graduated", "--from", "2026-10-01")
    add(root, "D2", *graduated, "--scan", folder / "decisao.pdf")
    done("policy", "set", "above_100_km", "D1", workspace=root)
    dated = ("--since", "2026-10", "--decision", "D2", "--by", "Ana Lima")
    done("policy", "set", "reducer_method", "graduated", *dated, workspace=root)
    return root


@pytest.fixture
def town(made, tmp_path):
    return shutil.copytree(made, tmp_path / "ws")


@pytest.fixture(scope="module")
def billed(made, tmp_path_factory):
    """Two months issued: September before the decisions, October under them."""
    root = shutil.copytree(made, tmp_path_factory.mktemp("billed") / "ws")
    answers = [
        bill(root, month=month, issued_on=day) for month, day in (("2026-09", "2026-10-01"), ("2026-10", "2026-11-02"))
    ]
    return root, answers


def add(root, id_, *more):
    return done("decision", "add", "--id", id_, *ACT, *more, workspace=root)


def set_(root, *args):
    return done("policy", "set", *args, workspace=root)


def codes(answer):
    return [f["code"] for f in answer["findings"]]


def history(root):
    return done("policy", "history", workspace=root)


def edit(root, old, new):
    file = root / FILE_NAME
    text = file.read_text(encoding="utf-8")
    assert old in text
    file.write_text(text.replace(old, new), encoding="utf-8")


# -- what is printed


@pytest.mark.parametrize(("key", "value"), list(values()))
def test_every_policy_value_reaches_the_basis_and_is_explained_with_its_decision(key, value):
    law, day = load_statute("caieiras-lei-3057-2001"), date(2026, 10, 1)
    given = decision(key, "0.60" if key == "above_100_km" else value)
    basis = basis_of(law, parse_policy({key: value}), recorded(given), "2026", day, day)
    use = next(u for u in basis.policy if u.key == key)
    rests = value != "hold" or key != "above_100_km"
    assert (use.value, use.decision) == (value, "D1" if rests else None)
    assert basis.decisions == ((given,) if rests else ())
    assert [u.key for u in basis.policy] == [k.key for k in KEYS]
    statute = StatuteWords(law.figures, day)
    line = next(x for x in policy_lines(basis, statute) if x.key == key)
    assert line.meaning
    assert ("nº 1/2026" in line.decision) == rests
    assert [x.key for x in policy_lines(basis, statute) if x.decision] == ([key] if rests else [])


def test_a_decision_answers_in_the_words_of_the_memo():
    law = load_statute("caieiras-lei-3057-2001")
    statute = StatuteWords(law.figures, date(2026, 10, 1))
    assert ": Conta-se uma só vez, pela média dos valores." in decision_in_words(decision("on_border", "mean"), statute)
    assert decision_in_words(decision("Conta o muro?", "Não. Nunca."), statute).endswith(
        " – Conta o muro? “Não. Nunca.”."
    )
    assert "0,60" in decision_in_words(decision(), statute)


def test_the_invoice_names_the_decisions_that_it_rests_on(billed):
    september, october = (
        next(i for i in load_invoices(billed[0]) if str(i.month) == month and i.operator.id == "alfa")
        for month in ("2026-09", "2026-10")
    )
    assert september.basis.decisions == ()
    assert all(u.value == u.default and u.decision is None for u in september.basis.policy)
    assert [d.id for d in october.basis.decisions] == ["D1", "D2"]
    assert {u.key: u.decision for u in october.basis.policy if u.decision} == {
        "above_100_km": "D1",
        "reducer_method": "D2",
    }
    printed = packed(text_of(next((billed[0] / "documents" / "2026-10").glob("fatura-*alfa*.pdf")).read_bytes()))
    assert packed("Decisão nº 31/2026, de 20 de setembro de 2026, de Ana Prefeita") in printed
    assert packed("Cada faixa de extensão recebe o seu coeficiente") in printed


def test_a_question_in_words_is_printed_from_its_day_on_and_moves_nothing(town):
    before = price_month(open_workspace(town), BillingMonth(2026, 11)).bill
    add(town, "Q1", "--question", "Conta o muro?", "--answer", "Não.", "--from", "2026-11-01")
    ws = open_workspace(town)
    now = price_month(ws, BillingMonth(2026, 11)).bill
    assert now.operators == before.operators
    assert [d.id for d in now.basis.decisions] == ["D1", "D2", "Q1"]
    assert "Q1" not in [d.id for d in price_month(ws, BillingMonth(2026, 10)).bill.basis.decisions]


# -- each month takes its own


def test_a_dated_change_bills_two_months_differently(billed):
    totals = {(str(i.month), i.operator.id): i.total for i in load_invoices(billed[0])}
    assert totals == {
        ("2026-09", "alfa"): Decimal("162.00"),
        ("2026-10", "alfa"): Decimal("177.00"),
        ("2026-10", "beta"): Decimal("2280.00"),  # bracket by bracket: 70 km up to 100 km, and 10 km × 0.60
    }
    policies = {i.number: load_archived(billed[0], i.number)["policy"] for i in load_invoices(billed[0])}
    assert ['"reducer_method":"graduated"' in text for text in policies.values()] == [False, True, True]


def test_before_its_decision_is_in_force_what_is_above_100_km_is_held_and_said(billed):
    september, october = billed[1]
    assert [h["code"] for h in september["held"]] == ["above_100_km"]
    assert codes(september) == ["decision_not_in_force"]
    assert "D1, which answers from 2026-10-01" in september["findings"][0]["message"]
    assert (october["held"], codes(october)) == ([], [])
    assert september["policy"]["above_100_km"] == "hold"


def test_the_due_day_follows_the_month_s_policy(town):
    set_(town, "due_month", "same", "--since", "2026-10")
    law, settings = load_statute("caieiras-lei-3057-2001"), open_workspace(town).settings
    due = [due_day(settings, law, BillingMonth(2026, month)).isoformat() for month in (9, 10)]
    assert due == ["2026-10-15", "2026-10-15"]


def test_a_month_as_it_was_known_takes_the_policy_as_it_was_set_then(town):
    ((first,),) = query(town, "SELECT min(recorded_at) FROM policy_changes")
    month, ws = BillingMonth(2026, 10), open_workspace(town)
    assert price_month(ws, month, terms=Terms(known_until="9999-01-01T00:00:00Z")).policy.reducer_method == "graduated"
    assert price_month(ws, month, terms=Terms(known_until=first)).policy == parse_policy({})


def test_changes_are_taken_back_from_the_last_and_those_by_hand_stay(town):
    settings, month = read_settings(town / FILE_NAME), BillingMonth(2026, 10)
    changes = (
        PolicyChange("reducer_method", "whole", "", "2026-10", "Ana", "2026-11-01T00:00:00Z"),
        PolicyChange("reducer_method", "graduated", "whole", "2026-10", "Ana", "2026-11-02T00:00:00Z"),
        PolicyChange("on_border", "lower", "mean", "", "Ana", "2026-11-02T00:00:00Z"),
        PolicyChange("rounding", "half_up", "half_even", "", HAND, "2026-11-02T00:00:00Z"),
    )
    since = {until: settings_as_known(settings, changes, f"2026-11-{until}T00:00:00Z") for until in ("01", "02", "03")}
    taken = {u: (s.policy_in(month).reducer_method, s.policy.on_border, s.policy.rounding) for u, s in since.items()}
    assert taken == {
        "01": ("whole", "mean", "half_up"),
        "02": ("whole", "mean", "half_up"),
        "03": ("graduated", "lower", "half_up"),
    }
    assert ["reducer_method" in s.policy_since[month] for s in since.values()] == [False, True, True]


# -- what a value rests on


def test_a_value_without_a_decision_is_taken_and_said(town):
    said = set_(town, "on_border", "mean")
    assert (codes(said), said["decision"]) == (["policy_without_decision"], None)
    assert "border of zones (art. 7, T)" in said["findings"][0]["message"]
    assert "--question on_border --answer mean" in said["findings"][0]["fix"]
    priced = done("price", "--month", "2026-10", workspace=town)
    assert codes(priced) == ["policy_without_decision"]
    assert codes(done("policy", "show", "--month", "2026-10", workspace=town)) == codes(priced)
    assert "policy_without_decision" in codes(
        done("bill", "--month", "2026-10", "--draft", "--by", "A", workspace=town)
    )
    add(town, "D3", *ON_BORDER)
    assert codes(done("price", "--month", "2026-10", workspace=town)) == []
    assert codes(set_(town, "on_border", "lower")) == ["policy_against_decision"]


@pytest.mark.parametrize("key", [k for k in KEYS if k.key != "above_100_km"], ids=lambda k: k.key)
def test_the_default_of_each_key_rests_on_the_law_and_any_other_value_on_a_decision(key):
    other = OTHER.get(key.key) or next(v for v in key.values if v != key.default)
    day = date(2026, 10, 1)
    assert policy_findings(parse_policy({}), {}, day) == ()
    (found,) = policy_findings(parse_policy({key.key: other}), {}, day)
    assert found.code == "policy_without_decision"
    assert key.gap in found.message
    assert policy_findings(parse_policy({key.key: other}), recorded(decision(key.key, other)), day) == ()
    later = recorded(decision(key.key, other, since=date(2026, 10, 2)))
    assert [f.code for f in policy_findings(parse_policy({key.key: other}), later, day)] == ["policy_without_decision"]


def test_what_the_statute_itself_answers_needs_no_decision():
    policy, day = parse_policy({"reducer_method": "graduated", "on_border": "mean"}), date(2026, 10, 1)
    found = policy_findings(policy, {}, day, settled=("reducer_method",))
    assert [f.message.split()[0] for f in found] == ["on_border"]


def test_the_decision_that_is_named_must_say_exactly_that(town):
    add(town, "D3", *ON_BORDER, "--from", "2026-11-02")
    for args, says in (
        (("on_border", "mean", "--decision", "D9"), "'D9' isn't recorded (recorded: D1, D2, D3)"),
        (("on_border", "higher", "--decision", "D3"), "answers on_border: mean. It doesn't give on_border = higher"),
        (("on_overlap", "lower", "--decision", "D3"), "It doesn't give on_overlap = lower"),
        (("on_border", "mean", "--since", "2026-11", "--decision", "D3"), "2026-11 begins before"),
        (("above_100_km", "D3"), "answers 'on_border', not above_100_km"),
        (("above_100_km", "D1", "--decision", "D3"), "takes the decision's id"),
    ):
        before = (town / FILE_NAME).read_bytes()
        assert says in refused(town, "policy", "set", *args)
        assert (town / FILE_NAME).read_bytes() == before
    assert len(history(town)["changes"]) == 2
    assert codes(set_(town, "on_border", "mean", "--decision", "D3")) == ["decision_not_in_force"]
    dated = set_(town, "on_border", "mean", "--since", "2026-12", "--decision", "D3")
    assert (dated["decision"], dated["since"], codes(dated)) == ("D3", "2026-12", [])


def test_a_later_month_s_value_stays_and_is_said(town):
    said = set_(town, "reducer_method", "whole")
    assert codes(said) == ["policy_against_decision", "policy_dated_otherwise"]
    assert "graduated from 2026-10 on" in said["findings"][1]["message"]


def test_profiles_are_shown_and_change_no_month(town):
    edit(town, "[policy]\n", "[policy.profile.estudo]\non_border = 'mean'\nreducer_method = 'whole'\n\n[policy]\n")
    (named,) = done("policy", "profiles", workspace=town)["profiles"]
    assert named == {"name": "estudo", "differs": [{"key": "on_border", "value": "mean", "base": "lower"}]}

    def shown(*more):
        answer = done("policy", "show", *more, workspace=town)
        return {p["key"]: p["value"] for p in answer["policy"]}

    october = ("--month", "2026-10")
    assert shown(*october)["reducer_method"] == "graduated"
    assert shown(*october, "--profile", "estudo")["reducer_method"] == "whole"
    assert shown(*october)["on_border"] == "lower"
    assert "no profile 'outro' (named: estudo)" in refused(town, "policy", "show", "--profile", "outro")


# -- who changed it


def test_the_history_tells_each_command_and_each_change_by_hand(town):
    set_(town, "max_gap_m", "30", "--by", " Rui ")
    set_(town, "max_gap_m", "30.0")  # the same number, written otherwise
    edit(town, 'max_gap_m = "30.0"', 'max_gap_m = "10" # parecer 4')
    edit(town, 'reducer_method = "graduated"\n', "")
    by_hand = {("max_gap_m", None): ("30", "10"), ("reducer_method", "2026-10"): ("graduated", "")}
    found = history(town)
    assert {(c["key"], c["since"]): (c["previous"], c["value"]) for c in found["not_recorded"]} == by_hand
    assert [(c["key"], c["previous"], c["value"], c["by"]) for c in found["changes"]] == [
        ("above_100_km", "hold", "D1", ""),
        ("reducer_method", "", "graduated", "Ana Lima"),
        ("max_gap_m", "20", "30", "Rui"),
    ]
    set_(town, "max_gap_m", "12", "--by", "Rui")
    found = history(town)
    assert found["not_recorded"] == []
    assert [(c["key"], c["value"], c["by"]) for c in found["changes"][3:]] == [
        ("max_gap_m", "10", "hand-edited"),
        ("reducer_method", "", "hand-edited"),
        ("max_gap_m", "12", "Rui"),
    ]
    assert 'max_gap_m = "12" # parecer 4' in (town / FILE_NAME).read_text(encoding="utf-8")
    said = geobill("policy", "history", workspace=town).out
    assert "max_gap_m: 10 to 12  Rui" in said
    assert "reducer_method from 2026-10 on: graduated to -  hand-edited" in said


def test_a_bill_records_what_was_changed_by_hand_and_says_it_once(billed, tmp_path):
    root = shutil.copytree(billed[0], tmp_path / "ws")
    edit(root, "[policy]\n", '[policy]\nrounding = "half_even"\n')
    first, second = (bill(root, month="2026-10", issued_on="2026-11-02") for _ in range(2))
    assert codes(first) == ["policy_hand_edited", "policy_without_decision"]
    assert "rounding: half_up to half_even" in first["findings"][0]["message"]
    assert codes(second) == ["policy_without_decision"]
    assert [c["by"] for c in history(root)["changes"]][-1] == "hand-edited"
    otherwise = history(root)["billed_otherwise"]
    assert [(b["month"], b["key"], b["billed"], b["now"], len(b["invoices"])) for b in otherwise] == [
        ("2026-09", "rounding", "half_up", "half_even", 1),
        ("2026-10", "rounding", "half_up", "half_even", 2),
    ]


def test_months_billed_under_their_own_policy_arent_told_as_billed_otherwise(billed):
    assert history(billed[0])["billed_otherwise"] == []


# -- the file first, then its diary

KILLED = """
import os, signal, sys
from geobill.cli import main
from geobill.pipeline import policy
real = policy.set_policy
def and_die(*args):
    real(*args)
    os.kill(os.getpid(), signal.SIGKILL)
policy.set_policy = and_die
main.run()
"""


def test_a_run_that_is_killed_between_the_file_and_the_diary_is_found_by_the_next(town):
    run = subprocess.run(
        [sys.executable, "-c", KILLED, "-w", str(town), "policy", "set", "on_border", "mean"], check=False
    )
    assert run.returncode == -signal.SIGKILL
    assert read_settings(town / FILE_NAME).policy.on_border == "mean"
    found = history(town)
    assert [c["key"] for c in found["changes"]] == ["above_100_km", "reducer_method"]
    assert [(c["key"], c["value"]) for c in found["not_recorded"]] == [("on_border", "mean")]
    set_(town, "on_border", "higher")
    assert [(c["value"], c["by"]) for c in history(town)["changes"][2:]] == [("mean", "hand-edited"), ("higher", "")]


def test_where_the_diary_cannot_be_kept_the_old_file_comes_back(town):
    before = (town / FILE_NAME).read_bytes()
    seen = []

    def full(connection):
        if connection.get_execution_options().get("geobill_write"):
            seen.append((town / FILE_NAME).read_bytes())
            raise OSError(28, "No space left on device")

    event.listen(Engine, "commit", full)
    try:
        assert geobill("policy", "set", "on_border", "mean", workspace=town).code == 1
    finally:
        event.remove(Engine, "commit", full)
    assert [content != before for content in seen] == [True]
    assert (town / FILE_NAME).read_bytes() == before
    assert len(history(town)["changes"]) == 2
    assert history(town)["not_recorded"] == []


# -- the signed paper


def test_the_paper_comes_back_byte_for_byte(town, tmp_path):
    kept = done("decision", "show", "--id", "D2", workspace=town)
    assert (kept["file_name"], kept["scan"]) == ("decisao.pdf", hashlib.sha256(PAPER).hexdigest())
    out = tmp_path / "papel.pdf"
    assert done("decision", "scan", "--id", "D2", "--out", out, workspace=town)["sha256"] == kept["scan"]
    assert out.read_bytes() == PAPER
    assert "is there already" in refused(town, "decision", "scan", "--id", "D2", "--out", out)
    assert "without a scan" in refused(town, "decision", "scan", "--id", "D1", "--out", tmp_path / "x.pdf")
    assert "'D9' isn't recorded (recorded: D1, D2)" in refused(town, "decision", "show", "--id", "D9")
    assert [d["id"] for d in done("decision", "list", workspace=town)["decisions"]] == ["D1", "D2"]


@pytest.mark.parametrize("first", [b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff\xe0"], ids=["PNG", "JPEG"])
def test_a_picture_of_the_paper_will_do_whatever_its_name(town, tmp_path, first):
    (tmp_path / "papel").write_bytes(first + PAPER)
    assert add(town, "D3", *ON_BORDER, "--scan", tmp_path / "papel")["file_name"] == "papel"


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "none of PDF, PNG, JPEG"),
        (b"PK\x03\x04" + PAPER, "none of PDF, PNG, JPEG"),
        (b"%PDF-1.7\n" + bytes(25 * 10**6), "has 25.0 MB, more than the 25 MB"),
    ],
    ids=["empty", "docx", "large"],
)
def test_what_is_no_paper_is_refused_and_nothing_is_recorded(town, tmp_path, content, says):
    (tmp_path / "papel.pdf").write_bytes(content)
    said = refused(town, "decision", "add", "--id", "D3", *ACT, *ON_BORDER, "--scan", tmp_path / "papel.pdf")
    assert says in said
    assert "Nothing was recorded" in said
    assert query(town, "SELECT count(*) FROM decisions") == [(2,)]


def test_a_recorded_decision_and_its_paper_stay(town, tmp_path):
    (tmp_path / "outro.pdf").write_bytes(PAPER + b"x")
    said = refused(town, "decision", "add", "--id", "D2", *ACT, *ON_BORDER, "--scan", tmp_path / "outro.pdf")
    assert "'D2' is recorded already" in said
    assert query(town, "SELECT count(*) FROM archive WHERE kind = 'decision'") == [(1,)]
    assert os.path.getsize(tmp_path / "outro.pdf")
