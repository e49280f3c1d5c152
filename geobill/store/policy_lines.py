"""A policy value written into the text of ``geobill.toml``: what a person wrote beside it stays as it is.

Line by line, since a parser that writes back refuses what TOML allows (tables of one family apart from each other). The
result is read again before it is taken: it must say exactly what was there, and the one value.
"""

import copy
import json
import re
import tomllib
from typing import Any

from geobill.domain.dates import BillingMonth
from geobill.errors import StoreError

POLICY, SINCE, PROFILE = "policy", "since", "profile"  # [policy], [policy.since.YYYY-MM], [policy.profile.NAME]
_HEADING = re.compile(r"^\s*\[(.*)\]")
_VALUE = r"""("(?:[^"\\]|\\.)*"|'[^']*'|[^#"'\s][^#]*?)(?=\s*(?:#.*)?$)"""


def with_policy_value(text: str, key: str, value: str, since: BillingMonth | None) -> str:
    """Return the file's text (its lines end with LF alone) with one policy value, for every month or from one on.

    Raises
    ------
    StoreError
        Where the file is written in a form in which the value can't be put without changing something else.
    """
    return with_value(text, [POLICY] if since is None else [POLICY, SINCE, str(since)], key, value)


def with_value(text: str, names: list[str], key: str, value: str) -> str:
    """Return the file's text with one value in the table of those names; see :func:`with_policy_value`."""
    lines = text.split("\n")
    headings = [(n, _names(found[1])) for n, line in enumerate(lines) if (found := _HEADING.match(line))]
    mine = [place for place, (_, there) in enumerate(headings) if there == names]
    if mine:
        first = headings[mine[0]][0] + 1
        end = headings[mine[0] + 1][0] if mine[0] + 1 < len(headings) else len(lines)
        _put_value(lines, first, end, key, value)
    else:
        _put_table(lines, headings, names, key, value)
    after = "\n".join(lines)
    if not _reads_as(after, tomllib.loads(text), names, key, value):
        raise StoreError(
            f"{key} can't be written into geobill.toml without disturbing what stands there. Nothing was changed. Write it by hand, "
            f"under the heading [{'.'.join(names)}]: {key} = {_quoted(value)}"
        )
    return after


def _put_value(lines: list[str], first: int, end: int, key: str, value: str) -> None:
    """Put a value in the place of the old one, or on a line of its own after the table's last."""
    for n in range(first, end):
        if re.match(rf"""\s*(["']?){key}\1\s*=""", lines[n]):
            name, sign, rest = lines[n].partition("=")
            lines[n] = name + sign + re.sub(rf"^(\s*){_VALUE}", lambda m: m[1] + _quoted(value), rest)
            return
    entries = [n for n in range(first, end) if lines[n].strip() and not lines[n].lstrip().startswith("#")]
    lines.insert(entries[-1] + 1 if entries else first, f"{key} = {_quoted(value)}")


def _put_table(lines: list[str], headings: list[tuple[int, list[str]]], names: list[str], key: str, value: str) -> None:
    """Put a new table before that of the first later month, else after all that belongs to ``[policy]``."""
    later = [n for n, there in headings if there[:2] == names[:2] and there[2:] > names[2:]]
    own = [place for place, (_, there) in enumerate(headings) if there[:1] == [POLICY]]
    if later:
        at = _above_comments(lines, later[0])
    elif own and own[-1] + 1 < len(headings):
        at = _above_comments(lines, headings[own[-1] + 1][0])
    else:
        at = len(lines)
    blank = at
    while blank and not lines[blank - 1].strip():
        blank -= 1
    lines[blank:at] = [*([""] if blank else []), f"[{'.'.join(names)}]", f"{key} = {_quoted(value)}", ""]


def _quoted(value: str) -> str:
    return json.dumps(value, ensure_ascii=False)  # a JSON text is a TOML text


def _names(heading: str) -> list[str]:
    return [part.strip().strip("\"'") for part in heading.split(".")]


def _above_comments(lines: list[str], at: int) -> int:
    """Return the place above the comments that stand directly over a heading: they are its own."""
    while at and lines[at - 1].lstrip().startswith("#"):
        at -= 1
    return at


def _reads_as(after: str, before: dict[str, Any], names: list[str], key: str, value: str) -> bool:
    wanted = copy.deepcopy(before)
    table = wanted
    for name in names:
        table = table.setdefault(name, {})
    table[key] = value
    try:
        return tomllib.loads(after) == wanted
    except tomllib.TOMLDecodeError:
        return False
