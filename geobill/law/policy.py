"""Policy: how the workspace fills what the law leaves open. Every key names its gap and is printed on every memo."""

import difflib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from datetime import date
from decimal import Decimal, InvalidOperation

from geobill.domain.invoice import Decision
from geobill.domain.money import plain
from geobill.errors import PolicyError


@dataclass(frozen=True)
class PolicyKey:
    """A key, the values that geobill can obey, the default and the gap of the law that it fills."""

    key: str
    values: tuple[str, ...]
    default: str
    gap: str

    @property
    def is_number(self) -> bool:
        """Whether the value is a number of metres."""
        return self.key.endswith("_m")


KEYS: tuple[PolicyKey, ...] = (
    PolicyKey("reducer_scope", ("operator", "permit"), "operator", "whose extension sets R (art. 7)"),
    PolicyKey(
        "reducer_method", ("whole", "graduated"), "whole", "R on the whole extension or bracket by bracket (art. 7)"
    ),
    PolicyKey("above_100_km", ("hold", "the id of a decision"), "hold", "art. 7 ends at 100 km"),
    PolicyKey(
        "clandestine_counts_in_reducer",
        ("true", "false"),
        "false",
        "may clandestine metres earn a lower R (arts. 7, 10)",
    ),
    PolicyKey(
        "doublings_cumulate", ("true", "false"), "false", "are arts. 10 § 2 and 12 § 3 applied one upon the other"
    ),
    PolicyKey("proration", ("daily", "full_month"), "daily", "first and last month (art. 8)"),
    PolicyKey("on_border", ("lower", "higher", "mean"), "lower", "a stretch along the border of zones (art. 7, T)"),
    PolicyKey("on_overlap", ("hold", "lower", "higher"), "hold", "the map gives two values for one place (art. 7, T)"),
    PolicyKey("max_gap_m", ("metres, 0 to 500",), "20", "streets that the map leaves uncovered (art. 7, T)"),
    PolicyKey("same_strip", ("each", "once"), "each", "two lines of one operator in one strip (art. 7, b)"),
    PolicyKey("due_month", ("same", "following"), "following", "the 15th of which month (art. 8)"),
    PolicyKey("length_source", ("geometry", "declared"), "geometry", "drawn or declared length (art. 7, a)"),
    PolicyKey(
        "length_precision_m", ("metres, 0.001 to 1",), "0.01", "measured lengths are rounded once, here (art. 7, a)"
    ),
    PolicyKey("rounding", ("half_up", "half_even"), "half_up", "each line, once, to the cent (art. 7)"),
    PolicyKey(
        "due_day_rule", ("next_business_day", "same_day"), "next_business_day", "a 15th without banking (art. 8)"
    ),
    PolicyKey(
        "duplicate_stretch", ("set_aside", "bill"), "set_aside", "the same stretch twice in one delivery (art. 7, a)"
    ),
    PolicyKey(
        "limitation_years",
        ("years, 1 to 100", "none"),
        "5",
        "how far back past months are charged; older ones are held until a decision says (arts. 10 § 3, 12 § 2)",
    ),
    PolicyKey(
        "ample_defence_days",
        ("hold", "days, 1 to 365"),
        "hold",
        "the term of the ample defence, which art. 10 § 1 promises and doesn't count",
    ),
    PolicyKey(
        "set_off_share",
        ("hold", "a share, more than 0 and at most 1"),
        "hold",
        "which part of a debt may be set off against credits (art. 14: 'utilização parcial')",
    ),
    PolicyKey(
        "deposit_follows_price",
        ("no", "yes"),
        "no",
        "whether the deposit is topped up or returned when the price changes (art. 3 § 2)",
    ),
)
_BY_KEY = {k.key: k for k in KEYS}
_NOTHING = {"limitation_years": "none", "ample_defence_days": "hold", "set_off_share": "hold"}
_COUNTS = {"limitation_years": 100, "ample_defence_days": 365}
_SWITCHES = {
    "clandestine_counts_in_reducer": ("false", "true"),
    "doublings_cumulate": ("false", "true"),
    "deposit_follows_price": ("no", "yes"),
}
_LIMITS = {"max_gap_m": (Decimal(0), Decimal(500)), "length_precision_m": (Decimal("0.001"), Decimal(1))}


@dataclass(frozen=True)
class Policy:
    """The policy in force, typed. ``above_100_km`` is ``hold`` or the id of a recorded decision."""

    reducer_scope: str
    reducer_method: str
    above_100_km: str
    clandestine_counts_in_reducer: bool
    doublings_cumulate: bool
    proration: str
    on_border: str
    on_overlap: str
    max_gap_m: Decimal
    same_strip: str
    due_month: str
    length_source: str
    length_precision_m: Decimal
    rounding: str
    due_day_rule: str
    duplicate_stretch: str
    limitation_years: int | None
    ample_defence_days: int | None
    set_off_share: Decimal | None
    deposit_follows_price: bool

    def as_text(self) -> dict[str, str]:
        """Every key with its value as a user writes it, in the order of ``KEYS``."""
        return {f.name: _as_text(f.name, getattr(self, f.name)) for f in fields(self)}


def _as_text(key: str, value: str | bool | int | Decimal | None) -> str:
    if value is None:
        return _NOTHING[key]
    if isinstance(value, bool):
        return _SWITCHES[key][value]
    return plain(value) if isinstance(value, Decimal) else str(value)


def is_key(question: str) -> bool:
    """Whether what a decision answers is a policy key; else it is a question in free text."""
    return question in _BY_KEY


def check_policy_value(key: str, value: str, where: str = "") -> str:
    """Return the value as it is stored, or refuse the key or the value by name, listing what is allowed.

    ``where`` names the table that holds them, for the message.

    Raises
    ------
    PolicyError
        For a key or value that doesn't exist (never silently ignored).
    """
    known, at = _BY_KEY.get(key), f"{where}: " if where else ""
    if known is None:
        near = difflib.get_close_matches(key, _BY_KEY, 1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        raise PolicyError(f"{at}There is no policy key {key!r}.{hint} Keys: {', '.join(_BY_KEY)}.")
    text = value.strip()
    if known.is_number:
        return plain(_number(known, text, at))
    if key == "above_100_km":
        if not text:
            raise PolicyError(f"{at}above_100_km takes 'hold' or the id of a recorded decision (geobill decision add).")
        return text
    if text in known.values or text == _NOTHING.get(key):
        return text
    if key in _COUNTS and text.isascii() and text.isdigit() and 1 <= int(text) <= _COUNTS[key]:
        return str(int(text))
    if key == "set_off_share" and (share := _share(text)) is not None:
        return plain(share)
    raise PolicyError(f"{at}{key} can't be {text!r}. Allowed: {', '.join(known.values)}.")


def _share(text: str) -> Decimal | None:
    try:
        share = Decimal(text)
    except InvalidOperation:
        return None
    return share if share.is_finite() and 0 < share <= 1 else None


def _number(known: PolicyKey, text: str, at: str) -> Decimal:
    low, high = _LIMITS[known.key]
    try:
        number = Decimal(text)
    except InvalidOperation:
        number = Decimal("NaN")
    if not number.is_finite() or not low <= number <= high:
        raise PolicyError(
            f"{at}{known.key} can't be {text!r}: give metres as a number from {low} to {high}, with a decimal point."
        )
    return number


def parse_policy(raw: Mapping[str, str], where: str = "") -> Policy:
    """Read a table of policy keys (``where`` names it): given keys are checked, the others take their defaults."""
    text = {k.key: k.default for k in KEYS} | {key: check_policy_value(key, v, where) for key, v in raw.items()}
    return Policy(
        reducer_scope=text["reducer_scope"],
        reducer_method=text["reducer_method"],
        above_100_km=text["above_100_km"],
        clandestine_counts_in_reducer=text["clandestine_counts_in_reducer"] == "true",
        doublings_cumulate=text["doublings_cumulate"] == "true",
        proration=text["proration"],
        on_border=text["on_border"],
        on_overlap=text["on_overlap"],
        max_gap_m=Decimal(text["max_gap_m"]),
        same_strip=text["same_strip"],
        due_month=text["due_month"],
        length_source=text["length_source"],
        length_precision_m=Decimal(text["length_precision_m"]),
        rounding=text["rounding"],
        due_day_rule=text["due_day_rule"],
        duplicate_stretch=text["duplicate_stretch"],
        limitation_years=_count(text["limitation_years"]),
        ample_defence_days=_count(text["ample_defence_days"]),
        set_off_share=None if text["set_off_share"] == "hold" else Decimal(text["set_off_share"]),
        deposit_follows_price=text["deposit_follows_price"] == "yes",
    )


def _count(text: str) -> int | None:
    return int(text) if text.isdigit() else None


def decided_reducer(policy: Policy, decisions: Mapping[str, Decision]) -> Decimal | None:
    """R above 100 km as a recorded decision gives it (art. 15); None while it is held.

    Raises
    ------
    PolicyError
        If the policy names a decision that isn't recorded, answers another question, or gives no R from 0 to 1.
    """
    if policy.above_100_km == "hold":
        return None
    decision = decisions.get(policy.above_100_km)
    if decision is None:
        recorded = ", ".join(decisions) or "none"
        raise PolicyError(
            f"above_100_km names the decision {policy.above_100_km!r}, which isn't recorded (recorded: {recorded}). A value "
            "that the law doesn't give rests on a decision (art. 15): record it with geobill decision add, or set 'hold'."
        )
    if decision.question != "above_100_km":
        raise PolicyError(f"The decision {decision.id!r} answers {decision.question!r}, not above_100_km.")
    return _reducer(decision.answer)


def as_decided(policy: Policy, decisions: Mapping[str, Decision], on: date) -> Policy:
    """Return the policy that can be followed on a day: R above 100 km stays held until its decision is in force."""
    decision = decisions.get(policy.above_100_km)
    waits = decision is not None and not in_force(decision, on)
    return replace(policy, above_100_km="hold") if waits else policy


def in_force(decision: Decision, on: date) -> bool:
    """Whether a decision answers for a day; one without a first day answers for every day since the law."""
    return decision.in_force_from is None or decision.in_force_from <= on


def answers(decision: Decision, key: str, policy: Policy) -> bool:
    """Whether a decision gives a key exactly the value that the policy has; above 100 km the policy names it."""
    if decision.question != key:
        return False
    if key == "above_100_km":
        return decision.id == policy.above_100_km
    return bool(getattr(parse_policy({key: decision.answer}), key) == getattr(policy, key))


def newest_decision(key: str, decisions: Mapping[str, Decision], on: date) -> Decision | None:
    """Return the last decision on a key that is in force on a day, whatever it answers."""
    return _newest(d for d in decisions.values() if d.question == key and in_force(d, on))


def decision_behind(key: str, policy: Policy, decisions: Mapping[str, Decision], on: date) -> Decision | None:
    """Return the recorded decision that a key's value rests on (art. 15): the last in force on a day that gives it."""
    return _newest(d for d in decisions.values() if answers(d, key, policy) and in_force(d, on))


def _newest(decisions: Iterable[Decision]) -> Decision | None:
    return max(decisions, key=lambda d: (d.in_force_from or d.date, d.date, d.id), default=None)


def check_answer(question: str, answer: str) -> str:
    """Return a decision's answer as it is recorded; ``question`` is a policy key, or free text, which takes any answer.

    Raises
    ------
    PolicyError
        If either is blank, the question is a misspelt key, or the answer no value of the key: above 100 km, an R.
    """
    if question == "above_100_km":
        _reducer(answer)
        return answer.strip()
    if question in _BY_KEY:
        return check_policy_value(question, answer)
    if not question.strip() or not answer.strip():
        raise PolicyError("A decision answers a question (art. 15): give both --question and --answer.")
    near = difflib.get_close_matches(question.strip(), _BY_KEY, 1, cutoff=0.8)
    if near or re.fullmatch(r"\w+_\w+", question.strip()):
        hint = f"Did you mean {near[0]!r}? " if near else ""
        raise PolicyError(
            f"There is no policy key {question!r}, and no amount would ever rest on this decision. {hint}Keys: "
            f"{', '.join(_BY_KEY)}. A question of your own is written in words."
        )
    return answer.strip()


def _reducer(answer: str) -> Decimal:
    try:
        reducer = Decimal(answer.strip().replace(",", "."))
    except InvalidOperation:
        reducer = Decimal("NaN")
    if not reducer.is_finite() or not 0 < reducer <= 1:
        raise PolicyError(
            f"The answer {answer!r} is no reducer: give R as a number above 0 and at most 1, for example 0.60."
        )
    return reducer
