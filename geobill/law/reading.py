"""A statute's figures from TOML text, with the acts and confirmations that were entered after it."""

import tomllib
from collections.abc import Iterable
from dataclasses import replace
from datetime import date
from decimal import Decimal, InvalidOperation
from itertools import combinations, pairwise
from typing import Any

from geobill.domain.dates import BillingMonth
from geobill.errors import InputError, LawError
from geobill.law.figures import Bracket, Checked, Figure, StatuteFigures
from geobill.law.index import STEPS, Index


def parse_statute(text: str) -> StatuteFigures:
    """Read a statute's figures from TOML text.

    ``[[amendment]]`` tables after the figures are acts that changed one, in the order in which they were entered: each
    ends the figure that it succeeds, or with ``corrects`` replaces an earlier entry. The last ``[[checked]]`` says up to
    which day somebody looked.

    Raises
    ------
    LawError
        If the text isn't TOML, a figure lacks its article, its date or its value, or a scale doesn't ascend.
    """
    try:
        raw = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as fault:
        raise LawError(f"The statute isn't TOML: {fault}. Correct that line.") from None
    head = raw.get("statute")
    missing = [k for k in ("id", "title", "municipality", "state", "published_on") if k not in (head or {})]
    if not isinstance(head, dict) or missing:
        raise LawError(f"The statute's head, [statute], lacks {', '.join(missing)}.")
    figures = tuple(_figure(f) for f in _tables(raw, "figure"))
    _check_one_at_a_time(figures)
    entered = _tables(raw, "amendment")
    checks = _tables(raw, "checked")
    checked = _head_check(head)
    return StatuteFigures(
        id=head["id"],
        title=head["title"],
        municipality=head["municipality"],
        state=head["state"],
        published_on=head["published_on"],
        figures=amended(figures, [a for a in entered if "index" not in a], head["published_on"]),
        source=text,
        act=head.get("act", ""),
        checked=_checked(checks[-1]) if checks else checked,
        indexes=tuple(
            _with_values(_index(i), _standing([a for a in entered if "index" in a])) for i in _tables(raw, "index")
        ),
        rules=_rules(raw),
    )


def amended(figures: tuple[Figure, ...], entered: Iterable[dict[str, Any]], published_on: date) -> tuple[Figure, ...]:
    """Apply acts to figures, in the order in which they were entered.

    Raises
    ------
    LawError
        If an act takes force before the statute, or on days for which another entered act already sets the figure.
    """
    for raw in _standing(entered):
        new = replace(_figure(raw), amendment=raw["id"])
        if new.in_force_from < published_on:
            raise LawError(
                f"{new.act} can't change {new.name} from {new.in_force_from.isoformat()}: the law is of {published_on.isoformat()}. "
                "Correct the day from which the act is in force."
            )
        figures = _succeeded(figures, new)
    return figures


def _succeeded(figures: tuple[Figure, ...], new: Figure) -> tuple[Figure, ...]:
    closed = tuple(
        replace(f, in_force_until=new.in_force_from)
        if f.name == new.name and f.in_force(new.in_force_from) and f.in_force_from < new.in_force_from
        else f
        for f in figures
    )
    for old in closed:
        if old.name == new.name and _overlap(old, new):
            raise LawError(
                f"{new.act} (art. {new.article}) sets {new.name} from {new.in_force_from.isoformat()} to {new.last_day}, but "
                f"{old.act} (art. {old.article}){f', entered as {old.amendment},' if old.amendment else ''} sets it from "
                f"{old.in_force_from.isoformat()} to {old.last_day}: one day can't have two figures. Give the end of the "
                "earlier one with --until, or replace a wrong entry with --corrects ID."
            )
    return (*closed, new)


def _overlap(one: Figure, other: Figure) -> bool:
    later, earlier = (one, other) if one.in_force_from >= other.in_force_from else (other, one)
    return earlier.in_force_until is None or later.in_force_from < earlier.in_force_until


def _standing(entered: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Leave out the entries that a later one corrects."""
    found = list(entered)
    wrong = {a["corrects"] for a in found if "corrects" in a}
    return [a for a in found if a["id"] not in wrong]


def _check_one_at_a_time(figures: tuple[Figure, ...]) -> None:
    for one, other in combinations(figures, 2):
        if one.name == other.name and _overlap(one, other):
            later, earlier = (one, other) if one.in_force_from >= other.in_force_from else (other, one)
            raise LawError(
                f"Two figures {one.name!r} are in force on {later.in_force_from.isoformat()} (arts. {earlier.article}, "
                f"{later.article}): end the earlier one with in_force_until = {later.in_force_from.isoformat()}."
            )


def _tables(raw: dict[str, Any], name: str) -> list[dict[str, Any]]:
    found = raw.get(name, [])
    if not isinstance(found, list) or not all(isinstance(t, dict) for t in found):
        raise LawError(f"{name} must be written as tables, each under [[{name}]].")
    return found


def _rules(raw: dict[str, Any]) -> dict[str, str]:
    rules = raw.get("articles", {})
    if not isinstance(rules, dict) or not all(isinstance(a, str) and a.strip() for a in rules.values()):
        raise LawError('[articles] takes one article in quotes for each rule, for example exemption = "13".')
    return dict(rules)


def _head_check(head: dict[str, Any]) -> Checked | None:
    if "checked_until" not in head:
        return None
    return _checked(
        {
            "until": head["checked_until"],
            "by": head.get("checked_by", "nobody named"),
            "at": str(head.get("checked_on", "")),
        }
    )


def _checked(raw: dict[str, Any]) -> Checked:
    until = raw.get("until")
    if type(until) is not date:
        raise LawError(f"The day up to which the law was checked must be a date without quotes, not {until!r}.")
    return Checked(until, str(raw.get("by", "")), str(raw.get("at", "")), str(raw.get("note", "")))


def _figure(raw: dict[str, Any]) -> Figure:
    name = raw.get("name", "?")
    try:
        brackets = tuple(_bracket(b) for b in raw.get("brackets", ()))
        value = _decimal(raw["value"]) if "value" in raw else None
        figure = Figure(
            name=raw["name"],
            value=value,
            unit=raw["unit"],
            article=raw["article"],
            act=raw["act"],
            in_force_from=raw["in_force_from"],
            in_force_until=raw.get("in_force_until"),
            brackets=brackets,
            method=raw.get("method"),
            index_base=BillingMonth.parse(raw["index_base"]) if "index_base" in raw else None,
        )
    except (KeyError, InvalidOperation, TypeError, AttributeError, InputError) as fault:
        raise LawError(f"The figure {name!r} is incomplete or not a decimal: {fault}.") from None
    for what in ("name", "unit", "article", "act"):
        if not isinstance(getattr(figure, what), str) or not getattr(figure, what).strip():
            raise LawError(f"The figure {name!r} has no {what} in quotes: every figure of law says where it stands.")
    for day in (figure.in_force_from, *([figure.in_force_until] if "in_force_until" in raw else [])):
        if type(day) is not date:
            raise LawError(f"The figure {name!r} has {day!r} where a date without quotes belongs (YYYY-MM-DD).")
    if figure.in_force_until is not None and figure.in_force_until <= figure.in_force_from:
        raise LawError(f"The figure {name!r} ends before it begins: in_force_until must be after in_force_from.")
    if (value is None) == (not brackets):
        raise LawError(f"The figure {name!r} needs either one value or a scale of brackets (art. {figure.article}).")
    edges = [b.up_to for b in brackets]
    if None in edges[:-1] or any(low is not None and high is not None and low >= high for low, high in pairwise(edges)):
        raise LawError(f"The brackets of {name!r} don't ascend (art. {figure.article}).")
    return figure


def _bracket(raw: dict[str, Any]) -> Bracket:
    return Bracket(_decimal(raw["up_to_m"]) if "up_to_m" in raw else None, _decimal(raw["value"]))


def _decimal(raw: object) -> Decimal:
    """Exact decimal of quoted text; a number without quotes would be a binary fraction, or hide its decimals."""
    if not isinstance(raw, str):
        raise TypeError(f'{raw!r} is not in quotes, write it as text: "{raw}"')
    number = Decimal(raw)
    if not number.is_finite():
        raise TypeError(f"{raw!r} is no number")
    return number


def _index(raw: dict[str, Any]) -> Index:
    name = raw.get("name", "?")
    try:
        index = Index(
            name=raw["name"],
            article=raw["article"],
            act=raw["act"],
            base_month=BillingMonth.parse(raw["base_month"]),
            step=raw["step"],
            adjusts=tuple(raw["adjusts"]),
            values=tuple(sorted((BillingMonth.parse(m), _decimal(v)) for m, v in raw["values"].items())),
        )
    except (KeyError, InvalidOperation, TypeError, AttributeError, InputError) as fault:
        raise LawError(f"The index {name!r} is incomplete or not a decimal: {fault}.") from None
    if index.step not in STEPS:
        raise LawError(f"The index {name!r} has the step {index.step!r}: it can be {' or '.join(STEPS)}.")
    if index.base_month not in dict(index.values):
        raise LawError(f"The index {name!r} has no value for its base month, {index.base_month}.")
    if any(v <= 0 for _, v in index.values):
        raise LawError(f"The index {name!r} has a value that isn't above 0: no price could be worked out from it.")
    return index


def _with_values(index: Index, entered: list[dict[str, Any]]) -> Index:
    """Add the values that were entered since; a month that has one keeps it (a wrong entry is corrected by id)."""
    values = dict(index.values)
    for raw in entered:
        if raw["index"] == index.name:
            month = BillingMonth.parse(raw["month"])
            if month in values:
                raise LawError(f"The index {index.name} has a value for {month} already: {values[month]}.")
            values[month] = _decimal(raw["value"])
    return replace(index, values=tuple(sorted(values.items())))
