"""Which column of a file means what: keys of the command line against the names that the file has."""

import difflib
import re
import unicodedata
from collections.abc import Collection, Mapping, Sequence

from geobill.errors import InputError

DBF_NAME = 10  # bytes of a column's name in a .dbf
_LEAST = 8  # a name of fewer signs is no rest of a longer one


def resolve_columns(
    mapping: Mapping[str, str], allowed: Sequence[str], columns: Collection[str], layer: str
) -> dict[str, str]:
    """Find the column that each key is mapped to; see `matching_columns`.

    Raises
    ------
    InputError
        For a key that doesn't exist, for a column that the layer lacks (both name the nearest), for a name that several
        columns could be, and for two long names that were cut to one.
    """
    found = {key: _column(key, name, allowed, columns, layer) for key, name in mapping.items()}
    for column in set(cut_columns(mapping, found).values()):
        asked = {k: mapping[k] for k, c in found.items() if c == column}
        if len({fold(name) for name in asked.values()}) > 1:
            pairs = " and ".join(f"{k}={name}" for k, name in asked.items())
            raise InputError(
                f"{layer} cuts its names at ten bytes, and {pairs} are both asked for: only {column} is there, which can "
                f"be either. See which it is with geobill inspect, and map one of them to {column}."
            )
    return found


def check_key(key: str, allowed: Sequence[str]) -> None:
    """Refuse a key that nothing is ever read by; the nearest is named."""
    if key not in allowed:
        raise InputError(f"--map knows no key {key!r}.{nearest(key, allowed)} The keys here are: {', '.join(allowed)}.")


def _column(key: str, name: str, allowed: Sequence[str], columns: Collection[str], layer: str) -> str:
    check_key(key, allowed)
    same = matching_columns(name, columns)
    if len(same) == 1:
        return same[0]
    if same:
        raise InputError(
            f"{layer} has the columns {' and '.join(same)}, and each could be {name!r}: write {key}={same[0]} as it stands "
            "in the file, or another of them."
        )
    raise InputError(
        f"{layer} has no column {name!r}, which --map {key}={name} asks for.{nearest(name, columns)} "
        f"It has: {', '.join(columns) or 'no columns at all'}."
    )


def matching_columns(name: str, columns: Collection[str]) -> tuple[str, ...]:
    """Columns that a name can mean, by the strictest of four ways that finds any.

    As it is written; whatever the case; without accents, spaces and underscores; cut at ten bytes as a .dbf does.

    Examples
    --------
    >>> matching_columns("código do trecho", ["COD", "codigo_do_"])
    ('codigo_do_',)
    """
    if name in columns:
        return (name,)
    for same in (
        [c for c in columns if c.casefold() == name.casefold()],
        [c for c in columns if fold(c) == fold(name) and fold(name)],
        [c for c in columns if is_cut(c, name)],
    ):
        if same:
            return tuple(same)
    return ()


def fold(name: str) -> str:
    """Return a name without accents, case, and all that is neither letter nor digit."""
    apart = unicodedata.normalize("NFKD", name.casefold())
    return "".join(c for c in apart if c.isalnum())


def is_cut(column: str, name: str) -> bool:
    """Whether a column's name is a longer one, cut at ten bytes, with ``_1`` and so on where two would be one.

    A letter of two bytes may be cut in half: what is left of it is gone (UTF-8) or a sign for something unreadable.
    """
    column = column.rstrip("\ufffd")
    number = re.fullmatch(r"(.+)_\d{1,2}", column)
    for stem, least in ((column, _LEAST), *([(number[1], _LEAST - 1)] if number else [])):
        width = len(stem.encode("utf-8")) + len(column) - len(stem)
        full = width in (DBF_NAME - 1, DBF_NAME) or len(column) == DBF_NAME
        if full and len(stem) >= least and len(stem) < len(name) and _plain(name).startswith(_plain(stem)):
            return True
    return False


def cut_columns(mapping: Mapping[str, str], found: Mapping[str, str]) -> dict[str, str]:
    """Those of the columns found whose names are the asked ones cut short, by their keys."""
    return {k: c for k, c in found.items() if fold(c) != fold(mapping[k]) and is_cut(c, mapping[k])}


def _plain(name: str) -> str:
    """Return a name sign by sign without accents and case, spaces as underscores, as a .dbf takes them."""
    apart = unicodedata.normalize("NFKD", name.casefold())
    return re.sub(r"[\s.-]", "_", "".join(c for c in apart if not unicodedata.combining(c)))


def nearest(name: str, names: Collection[str], alike: float = 0.5) -> str:
    """Return " Did you mean …?" with the name that looks most alike, or nothing; ``alike`` is the least, from 0 to 1."""
    folded = {n.casefold(): n for n in names}
    near = difflib.get_close_matches(name.casefold(), folded, n=1, cutoff=alike)
    return f" Did you mean {folded[near[0]]!r}?" if near else ""
