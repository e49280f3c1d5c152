"""Policy: every key and value that works, and every one that is refused by name."""

from datetime import date
from decimal import Decimal

import pytest

from geobill.domain.invoice import Decision
from geobill.errors import PolicyError
from geobill.law.policy import KEYS, check_answer, check_policy_value, decided_reducer, parse_policy


def decision(question="above_100_km", answer="0.60"):
    return Decision("D1", "1/2026", date(2026, 11, 3), "Prefeito", question, answer)


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
