"""What differs between two records, two statutes or two files, in words that name the figure or the byte."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

from geobill.law.figures import Figure
from geobill.law.reading import parse_statute

MOST_SAID = 12
LONGEST_VALUE = 80
NAMES = ("key", "id", "name", "number", "suspension")  # what an item of a list is called by
ABSENT = object()


def record_differences(recorded: str, computed: str) -> tuple[str, ...]:
    """Say which figures differ between a stored record and the one that was computed again, both canonical JSON.

    Examples
    --------
    >>> record_differences('{"lines":[{"amount":"1.00"}],"total":"1.00"}', '{"lines":[{"amount":"1.01"}],"total":"1.00"}')
    ('line 1, amount: recorded 1.00, computed 1.01',)
    """
    found = list(_walk("", json.loads(recorded), json.loads(computed)))
    said = [f"{path}: recorded {_value(one)}, computed {_value(other)}" for path, one, other in found]
    return limited(said)


def limited(said: Sequence[str]) -> tuple[str, ...]:
    """Return at most twelve sentences, and how many more there are."""
    rest = len(said) - MOST_SAID
    return (*said[:MOST_SAID], f"and {rest} more") if rest > 0 else tuple(said)


def _walk(path: str, one: Any, other: Any) -> Iterator[tuple[str, Any, Any]]:
    if isinstance(one, dict) and isinstance(other, dict):
        for name in dict.fromkeys([*one, *other]):
            if name == "digest" and not path:
                continue  # follows from all the rest
            yield from _walk(_step(path, name), one.get(name, ABSENT), other.get(name, ABSENT))
    elif isinstance(one, list) and isinstance(other, list) and _is_named(one) and _is_named(other):
        names = {_name(item): item for item in one}, {_name(item): item for item in other}
        for name in dict.fromkeys([*names[0], *names[1]]):
            yield from _walk(f"{path} {name}", names[0].get(name, ABSENT), names[1].get(name, ABSENT))
    elif isinstance(one, list) and isinstance(other, list) and any(isinstance(i, (dict, list)) for i in (*one, *other)):
        for place in range(max(len(one), len(other))):
            pair = [items[place] if place < len(items) else ABSENT for items in (one, other)]
            yield from _walk(f"{_one_of(path)} {place + 1}", *pair)
    elif one is ABSENT or other is ABSENT or one != other:
        yield path, one, other


def _step(path: str, name: str) -> str:
    return f"{path}, {name}" if path else str(name)


def _one_of(path: str) -> str:
    return path[:-1] if path.endswith("s") else path


def _is_named(items: list[Any]) -> bool:
    if not items:
        return True
    named = [_name(item) for item in items]
    return None not in named and len(set(named)) == len(named)


def _name(item: Any) -> str | None:
    """Return what an item of a list is called by: a policy key, a decision's id, the role of a digest."""
    if isinstance(item, dict):
        return next((str(item[n]) for n in NAMES if isinstance(item.get(n), str)), None)
    if isinstance(item, list) and len(item) == 2 and all(isinstance(part, str) for part in item):
        return str(item[0])
    return None


def _value(value: Any) -> str:
    if value is ABSENT:
        return "nothing"
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= LONGEST_VALUE else f"{text[:LONGEST_VALUE]}…"


def statute_differences(archived: str, known: str) -> tuple[str, ...]:
    """Say which figures of law an archived statute has otherwise than the one that is known."""
    one, other = ({(f.name, f.in_force_from): f for f in parse_statute(text).figures} for text in (archived, known))
    said = []
    for key in dict.fromkeys([*one, *other]):
        mine, theirs = one.get(key), other.get(key)
        if mine is not None and theirs is not None and _figure(mine) != _figure(theirs):
            said.append(
                f"figure {key[0]} (art. {mine.article}) is {_figure(mine)} in the archive, {_figure(theirs)} in the statute"
            )
        elif mine is not None and theirs is None:
            said.append(f"figure {key[0]} from {key[1].isoformat()} is in the archive and not in the statute")
    return limited(said)


def _figure(figure: Figure) -> str:
    value = (
        figure.value if figure.value is not None else ", ".join(f"{b.value} up to {b.up_to}" for b in figure.brackets)
    )
    until = f" until {figure.in_force_until.isoformat()}" if figure.in_force_until else ""
    return f"{value}{until} (art. {figure.article}, {figure.act})"


def byte_differences(stored: bytes, expected: bytes) -> str:
    """Say where two files differ: the first byte, counted from 1, with both values, and how many.

    Examples
    --------
    >>> byte_differences(b"abXd", b"abcd"), byte_differences(b"abc", b"ab")
    ('byte 3 is 0x58, not 0x63', 'it has 3 bytes, not 2; byte 3 is 0x63, where there should be none')
    """
    places = [n for n, (a, b) in enumerate(zip(stored, expected, strict=False)) if a != b]
    lengths = f"it has {len(stored)} bytes, not {len(expected)}; " if len(stored) != len(expected) else ""
    if not places:
        longer = stored if len(stored) > len(expected) else expected
        n = min(len(stored), len(expected))
        end = "where there should be none" if longer is stored else "which is missing"
        return f"{lengths}byte {n + 1} is 0x{longer[n]:02x}, {end}" if lengths else "nothing differs"
    n = places[0]
    more = f", and {len(places) - 1} more differ" if len(places) > 1 else ""
    return f"{lengths}byte {n + 1} is 0x{stored[n]:02x}, not 0x{expected[n]:02x}{more}"
