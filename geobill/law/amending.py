"""Acts that change a figure, and confirmations, as TOML after a statute's own text: its figures stay readable beside them."""

import json
import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from decimal import Decimal, InvalidOperation

from geobill.domain.amendment import Amendment, Confirmation
from geobill.domain.dates import BillingMonth
from geobill.errors import LawError
from geobill.law.figures import Bracket, StatuteFigures
from geobill.law.reading import parse_statute
from geobill.law.statutes.family import BY_NAME, check_figure, price_basis_faults


@dataclass(frozen=True)
class Change:
    """What an act changes, as a person gives it: a figure's value or scale from a day on, or an index's value of a month.

    ``paper`` is the SHA-256 of the act's file. ``index_base`` is the month since which the index of a price runs again.
    """

    name: str
    article: str
    act: str
    paper: str
    by: str
    in_force_from: date | None = None
    in_force_until: date | None = None
    value: Decimal | None = None
    brackets: tuple[Bracket, ...] = ()
    method: str | None = None
    index_base: BillingMonth | None = None
    month: BillingMonth | None = None
    corrects: str = ""


def read_value(text: str) -> Decimal:
    """Read an exact value as it was typed, with a decimal point."""
    try:
        number = Decimal(text.strip())
    except InvalidOperation:
        number = Decimal("NaN")
    if not number.is_finite() or not re.fullmatch(r"\d+(\.\d+)?", text.strip(), re.ASCII):
        raise LawError(
            f"{text!r} is no value of a figure: write a plain number with a decimal point, for example 162.45."
        )
    return number


def amendment_block(id_: str, change: Change, figures: StatuteFigures) -> str:
    """Return the TOML of one act, to stand after the statute's text.

    Raises
    ------
    LawError
        If the statute's family has no such figure, or the statute no such index.
    """
    lines: list[tuple[str, str]] = [("id", _quoted(id_))]
    if change.month is not None:
        index = next((i for i in figures.indexes if i.name == change.name), None)
        if index is None:
            known = ", ".join(i.name for i in figures.indexes) or "none"
            raise LawError(f"{figures.title} has no index {change.name!r} (it has {known}): no value was entered.")
        lines += [("index", _quoted(index.name)), ("month", _quoted(str(change.month)))]
    else:
        lines += _figure_lines(change, figures)
    if change.value is not None:
        lines.append(("value", _quoted(f"{change.value:f}")))
    lines += [("article", _quoted(change.article)), ("act", _quoted(change.act))]
    lines += [("corrects", _quoted(change.corrects))] if change.corrects else []
    lines += [("paper", _quoted(change.paper)), ("by", _quoted(change.by))]
    return "[[amendment]]\n" + "".join(f"{key} = {value}\n" for key, value in lines)


def amended_text(text: str, amendments: Iterable[Amendment], confirmations: Iterable[Confirmation]) -> str:
    """Return a statute's text with what was entered after it; the very text where nothing was."""
    blocks = [a.figure for a in amendments] + [_confirmed(c) for c in confirmations]
    if not blocks:
        return text
    head = "# Entered by the city hall (geobill law amend, geobill law confirm), in the order of entry."
    return "\n".join([text.rstrip("\n") + "\n", head, *blocks])


def check_amended(before: StatuteFigures, text: str, change: Change) -> StatuteFigures:
    """Read a statute's text with a new act in it, and refuse what can't be.

    Raises
    ------
    LawError
        If days would have two figures, the family can't take the value, the act is older than the law, an entry that is
        corrected doesn't exist, or equipment would be charged in two ways.
    """
    entered = {f.amendment for f in before.figures if f.amendment} | set(_index_entries(before.source))
    if change.corrects and change.corrects not in entered:
        known = ", ".join(sorted(entered)) or "none"
        raise LawError(f"--corrects {change.corrects}: there is no such entry that stands (standing: {known}).")
    after = parse_statute(text)
    for figure in after.figures:
        if figure.amendment:
            check_figure(figure)
    faults = price_basis_faults(after)
    if faults:
        raise LawError(" ".join(faults))
    return after


def _figure_lines(change: Change, figures: StatuteFigures) -> list[tuple[str, str]]:
    known = BY_NAME.get(change.name)
    if known is None:
        raise LawError(
            f"There is no figure {change.name!r} that a price or a deadline of {figures.title} obeys. Figures: {', '.join(BY_NAME)}. "
            "What isn't a figure of the law (a new formula, a new exemption) needs a change of the program."
        )
    if change.in_force_from is None:
        raise LawError(f"The act says from when {change.name} is in force: give that day.")
    index = next((i for i in figures.indexes if change.name in i.adjusts), None)
    if index is not None and change.index_base is None:
        raise LawError(
            f"{change.name} follows the index {index.name} (art. {index.article}): a new value needs the month since which the "
            "index runs from it, and the act says which. Give it with --index-base YYYY-MM."
        )
    if change.index_base is not None and (index is None or change.index_base not in dict(index.values)):
        raise LawError(
            f"--index-base {change.index_base}: "
            + (
                f"no index adjusts {change.name}."
                if index is None
                else f"the index {index.name} has no value for that month."
            )
        )
    lines = [
        ("name", _quoted(change.name)),
        ("unit", _quoted(known.unit)),
        ("in_force_from", change.in_force_from.isoformat()),
    ]
    if change.in_force_until is not None:
        lines.append(("in_force_until", change.in_force_until.isoformat()))
    if change.brackets:
        steps = ", ".join(_step(b) for b in change.brackets)
        lines.append(("brackets", f"[{steps}]"))
    if change.method is not None:
        lines.append(("method", _quoted(change.method)))
    if change.index_base is not None:
        lines.append(("index_base", _quoted(str(change.index_base))))
    return lines


def _index_entries(source: str) -> list[str]:
    raw = tomllib.loads(source).get("amendment", [])
    return [str(a["id"]) for a in raw if "index" in a]


def _step(bracket: Bracket) -> str:
    edge = "" if bracket.up_to is None else f"up_to_m = {_quoted(f'{bracket.up_to:f}')}, "
    return f"{{ {edge}value = {_quoted(f'{bracket.value:f}')} }}"


def _confirmed(confirmation: Confirmation) -> str:
    lines = {
        "until": confirmation.until.isoformat(),
        "by": _quoted(confirmation.by),
        "at": _quoted(confirmation.at),
        "note": _quoted(confirmation.note),
    }
    return "[[checked]]\n" + "".join(f"{key} = {value}\n" for key, value in lines.items())


def _quoted(text: str) -> str:
    """TOML's basic string; JSON's escapes are the same but for DEL."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
