"""Policy: every key and value that works, and every one that is refused by name."""

from datetime import date
from decimal import Decimal

import pytest

from geobill.domain.invoice import Decision
from geobill.errors import PolicyError
from geobill.law.policy import (
    KEYS,
    answers,
    as_decided,
    check_answer,
    check_policy_value,
    decided_reducer,
    decision_behind,
    newest_decision,
    parse_policy,
)


def decision(question="above_100_km", answer="0.60", id_="D1", since=None, on=date(2026, 11, 3)):
    return Decision(id_, "1/2026", on, "Prefeito", question, answer, since)


def recorded(*decisions):
    return {d.id: d for d in decisions}


def test_defaults_are_the_contract_s():
    assert parse_policy({}).as_text() == {
        "reducer_scope": "operator",
        "reducer_method": "whole",
        "above_100_km": "hold",
        "clandestine_counts_in_reducer": "false",
        "doublings_cumulate": "false",
        "proration": "daily",
        "on_border": "lower",
        "on_overlap": "hold",
        "max_gap_m": "20",
        "same_strip": "each",
        "due_month": "following",
        "length_source": "geometry",
        "length_precision_m": "0.01",
        "rounding": "half_up",
        "due_day_rule": "next_business_day",
        "duplicate_stretch": "set_aside",
        "limitation_years": "5",
        "ample_defence_days": "hold",
        "set_off_share": "hold",
        "deposit_follows_price": "no",
    }


@pytest.mark.parametrize("key", [k for k in KEYS if not any(" " in v for v in k.values)], ids=lambda k: k.key)
def test_every_listed_value_is_taken_and_kept(key):
    for value in key.values:
        assert parse_policy({key.key: value}).as_text()[key.key] == value


@pytest.mark.parametrize(
    ("key", "value", "says"),
    [
        ("reducer_method", "average", "whole, graduated"),
        ("same_strip", "twice", "each, once"),
        ("limitation_years", "0", "1 to 100"),
        ("ample_defence_days", "soon", "1 to 365"),
        ("set_off_share", "1.5", "at most 1"),
        ("on_boarder", "lower", "on_border"),
        ("on_border", "least", "lower, higher, mean"),
        ("proration", "", "daily, full_month"),
        ("max_gap_m", "-1", "from 0 to 500"),
        ("max_gap_m", "twenty", "from 0 to 500"),
        ("max_gap_m", "NaN", "from 0 to 500"),
        ("max_gap_m", "20,5", "decimal point"),
        ("length_precision_m", "0", "from 0.001 to 1"),
        ("above_100_km", " ", "decision"),
    ],
)
def test_what_does_not_exist_or_is_not_built_is_refused_by_name(key, value, says):
    with pytest.raises(PolicyError, match=says) as refusal:
        check_policy_value(key, value)
    assert key in str(refusal.value)


def test_numbers_are_kept_as_plain_digits():
    assert check_policy_value("max_gap_m", "1E+1") == "10"
    assert check_policy_value("max_gap_m", "12.50") == "12.50"


def test_above_100_km_rests_on_a_recorded_decision():
    held, decided = parse_policy({}), parse_policy({"above_100_km": "D1"})
    assert decided_reducer(held, {"D1": decision()}) is None
    assert decided_reducer(decided, {"D1": decision()}) == Decimal("0.60")
    assert decided_reducer(decided, {"D1": decision(answer="0,55")}) == Decimal("0.55")
    with pytest.raises(PolicyError, match="isn't recorded"):
        decided_reducer(decided, {})
    with pytest.raises(PolicyError, match="answers"):
        decided_reducer(decided, {"D1": decision(question="on_border")})


@pytest.mark.parametrize("answer", ["x", "0", "-0.5", "1.01", "NaN", ""])
def test_an_answer_that_is_no_reducer_is_refused(answer):
    with pytest.raises(PolicyError, match="above 0 and at most 1"):
        check_answer("above_100_km", answer)


OTHER = {
    "above_100_km": "D1",
    "max_gap_m": "7.5",
    "length_precision_m": "0.1",
    "limitation_years": "10",
    "ample_defence_days": "15",
    "set_off_share": "0.3",
}


def values():
    """Each key with each value that it lists, and one of those that it describes."""
    for key in KEYS:
        for value in dict.fromkeys(
            [key.default, *(v for v in key.values if " " not in v), OTHER.get(key.key, key.default)]
        ):
            yield pytest.param(key.key, value, id=f"{key.key}={value}")


@pytest.mark.parametrize(("key", "value"), [v for v in values() if v.values != ("above_100_km", "hold")])
def test_every_value_can_rest_on_a_decision_that_gives_exactly_it(key, value):
    policy = parse_policy({key: value})
    given = decision(key, "0.60" if key == "above_100_km" else value)
    assert decision_behind(key, policy, recorded(given), date(2001, 7, 1)) == given
    assert not any(answers(decision(k.key, OTHER.get(k.key, k.default)), key, policy) for k in KEYS if k.key != key)
    other = next(v.values[1] for v in values() if v.values[0] == key and v.values[1] != value)
    assert not answers(given, key, parse_policy({key: other}))


def test_a_number_is_the_same_number_however_it_is_written():
    assert answers(decision("max_gap_m", "7.50"), "max_gap_m", parse_policy({"max_gap_m": "7.5"}))


def test_above_100_km_the_policy_names_the_decision_and_no_other_will_do():
    policy, twin = parse_policy({"above_100_km": "D1"}), decision(id_="D2")
    assert decision_behind("above_100_km", policy, recorded(twin), date(2026, 11, 1)) is None
    assert decision_behind("above_100_km", policy, recorded(decision(), twin), date(2026, 11, 1)).id == "D1"


def test_of_several_decisions_the_newest_in_force_on_the_day_counts():
    old, new = (
        decision("on_border", "mean", "A", date(2026, 1, 1)),
        decision("on_border", "mean", "B", date(2026, 7, 1)),
    )
    always = decision("on_border", "mean", "C", on=date(2025, 3, 1))
    policy, all_ = parse_policy({"on_border": "mean"}), recorded(old, new, always)
    on = [date(2025, 12, 31), date(2026, 1, 1), date(2026, 6, 30), date(2026, 7, 1)]
    assert [decision_behind("on_border", policy, all_, day).id for day in on] == ["C", "A", "A", "B"]
    assert newest_decision("on_border", all_, on[-1]) == new
    assert newest_decision("on_overlap", all_, on[-1]) is None
    assert decision_behind("on_border", parse_policy({}), all_, on[-1]) is None


def test_above_100_km_is_held_until_its_decision_is_in_force():
    policy, waiting = parse_policy({"above_100_km": "D1"}), recorded(decision(since=date(2026, 7, 2)))
    assert as_decided(policy, waiting, date(2026, 7, 1)).above_100_km == "hold"
    assert as_decided(policy, waiting, date(2026, 7, 2)) == policy
    assert as_decided(policy, recorded(decision()), date(2001, 7, 1)) == policy
    assert as_decided(policy, {}, date(2026, 7, 1)) == policy  # refused by decided_reducer, not held in silence


def test_an_answer_is_recorded_as_the_policy_writes_it():
    assert check_answer("max_gap_m", " 1E+1 ") == "10"
    assert check_answer("above_100_km", "0,60") == "0,60"
    assert check_answer("O muro conta?", " Não. ") == "Não."
    with pytest.raises(PolicyError, match="Allowed: lower, higher, mean"):
        check_answer("on_border", "0.6")
    for typo in ("on_bordr", "roundin", "max_gap"):
        with pytest.raises(PolicyError, match="no policy key"):
            check_answer(typo, "lower")


def test_the_table_that_holds_a_wrong_value_is_named():
    with pytest.raises(PolicyError, match=r"^here: on_border can't be 'x'"):
        parse_policy({"on_border": "x"}, "here")
