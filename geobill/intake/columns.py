"""Which column of a file means what: keys of the command line against the names that the file has."""

import difflib
from collections.abc import Collection, Mapping, Sequence

from geobill.errors import InputError


def resolve_columns(
    mapping: Mapping[str, str], allowed: Sequence[str], columns: Collection[str], layer: str
) -> dict[str, str]:
    """Find the column that each key is mapped to, exactly or, where that is unique, whatever the case.

    Raises
    ------
    InputError
        For a key that doesn't exist and for a column that the layer lacks; both name the nearest.
    """
    return {key: _column(key, name, allowed, columns, layer) for key, name in mapping.items()}


def _column(key: str, name: str, allowed: Sequence[str], columns: Collection[str], layer: str) -> str:
    if key not in allowed:
        raise InputError(f"--map knows no key {key!r}.{nearest(key, allowed)} The keys here are: {', '.join(allowed)}.")
    if name in columns:
        return name
    same = [c for c in columns if c.casefold() == name.casefold()]
    if len(same) == 1:
        return same[0]
    if same:
        raise InputError(
            f"{layer} has the columns {' and '.join(same)}: write {key}={same[0]} as it stands in the file."
        )
    raise InputError(
        f"{layer} has no column {name!r}, which --map {key}={name} asks for.{nearest(name, columns)} "
        f"It has: {', '.join(columns) or 'no columns at all'}."
    )


def nearest(name: str, names: Collection[str]) -> str:
    """Return " Did you mean …?" with the name that looks most alike, or nothing."""
    folded = {n.casefold(): n for n in names}
    near = difflib.get_close_matches(name.casefold(), folded, n=1, cutoff=0.5)
    return f" Did you mean {folded[near[0]]!r}?" if near else ""
