"""What a column of a layer holds, counted batch by batch in bounded memory."""

from typing import Any

import numpy as np
import pandas as pd

from geobill.intake.bulk import TOO_WIDE
from geobill.intake.value_columns import read_numbers
from geobill.intake.values import is_blank, read_text

EXAMPLE_LENGTH = 120
EXAMPLES = 3
MOST_DISTINCT = 100_000  # values told apart; beyond, a column only has "at least so many"


class ColumnTally:
    """Type, nulls, blanks, distinct values and examples of one column."""

    def __init__(self, name: str):
        self.name = name
        self._rows = self._nulls = self._blanks = 0
        self._type: str | None = None
        self._examples: list[str] = []
        self._seen = np.array([], dtype=np.uint64)
        self._more = False
        self.holds_wide_numbers = False  # whole ones that a float may have cut

    def add(self, values: pd.Series) -> None:
        """Count the next rows."""
        present = values[values.notna()]
        self._rows += len(values)
        self._nulls += len(values) - len(present)
        self._type = self._type or _type(values, present)
        if pd.api.types.is_float_dtype(values.dtype):
            self.holds_wide_numbers |= bool((present.abs() >= TOO_WIDE).any())
        distinct = pd.Series(present.unique()) if values.dtype != object else present.drop_duplicates()
        if pd.api.types.is_string_dtype(values.dtype) or values.dtype == object:
            blank = distinct[(distinct.map(_stripped) if values.dtype == object else distinct.str.strip()) == ""]
            if len(blank):
                self._blanks += int(present.isin(blank).sum())
                distinct = distinct[~distinct.isin(blank)]
        if len(self._examples) < EXAMPLES:
            self._take_examples(distinct)
        if not self._more:
            self._seen = np.union1d(self._seen, _hashes(distinct))
            self._more = len(self._seen) > MOST_DISTINCT

    def _take_examples(self, distinct: pd.Series) -> None:
        for value in distinct:
            text = None if is_blank(value) else read_text(value)
            if text is not None and text[:EXAMPLE_LENGTH] not in self._examples:
                self._examples.append(text[:EXAMPLE_LENGTH])
                if len(self._examples) == EXAMPLES:
                    return

    @property
    def is_full(self) -> bool:
        """Whether every row says something."""
        return not self._nulls and not self._blanks

    def show(self, digits: list[str | None]) -> None:
        """Take the digits that the file writes as the examples, of a column whose numbers a float can't hold."""
        self._examples = list(dict.fromkeys(d for d in digits if d))[:EXAMPLES]

    def report(self) -> dict[str, Any]:
        """Return what is known, by the contract's keys and those beside them.

        ``distinct`` is how many different values there are, or at least are where ``distinct_more``; ``blanks`` are texts
        of nothing but spaces.
        """
        return {
            "name": self.name,
            "type": self._type or "text",
            "nulls": self._nulls,
            "example": self._examples[0] if self._examples else None,
            "blanks": self._blanks,
            "distinct": min(len(self._seen), MOST_DISTINCT),
            "distinct_more": self._more,
            "examples": self._examples,
        }


class Repeats:
    """Which rows share their id with another; eight bytes for each row are kept."""

    def __init__(self) -> None:
        self._hashes: list[np.ndarray] = []
        self._rows: list[np.ndarray] = []

    def add(self, ids: pd.Series, number: np.ndarray) -> None:
        """Take the next rows, with their numbers; rows without an id don't count."""
        texts = ids if pd.api.types.is_string_dtype(ids.dtype) and ids.dtype != object else ids.map(read_text)
        there = texts.notna().to_numpy() & ~texts.fillna("").astype(str).str.strip().eq("").to_numpy(dtype=bool)
        self._hashes.append(_hashes(texts[there]))
        self._rows.append(number[there])

    def rows(self) -> np.ndarray:
        """Return the numbers of the rows whose id stands on another row too."""
        if not self._hashes:
            return np.array([], dtype=np.int64)
        hashes, rows = np.concatenate(self._hashes), np.concatenate(self._rows)
        order = np.argsort(hashes, kind="stable")
        same = hashes[order][1:] == hashes[order][:-1]
        repeated = np.r_[False, same] | np.r_[same, False] if len(hashes) else np.array([], dtype=bool)
        return np.sort(rows[order[repeated]])


class Widths:
    """Which rows have no width that can be read; some bytes for each row are kept, and each different text once."""

    def __init__(self) -> None:
        self._blank: list[np.ndarray] = []
        self._codes: dict[str, int] = {}
        self._rows: list[np.ndarray] = []  # of rows with a text, and its code
        self._coded: list[np.ndarray] = []

    def add(self, values: pd.Series, number: np.ndarray) -> None:
        """Take the next rows, with their numbers."""
        if pd.api.types.is_numeric_dtype(values.dtype):
            self._blank.append(number[values.isna().to_numpy()])
            return
        codes, distinct = pd.factorize(values)
        told = [-1 if is_blank(v) else self._codes.setdefault(str(v), len(self._codes)) for v in distinct]
        coded = np.array([*told, -1], dtype=np.int64)[codes]  # a null's -1 takes the last
        self._blank.append(number[coded < 0])
        self._rows.append(number[coded >= 0])
        self._coded.append(coded[coded >= 0])

    def faults(self) -> tuple[tuple[int, ...], tuple[int, ...], str]:
        """Return the rows without a width, those whose width can't be read, and why one of them can't."""
        blank = tuple(np.concatenate(self._blank).tolist()) if self._blank else ()
        if not self._codes:
            return blank, (), ""
        faults = read_numbers(pd.Series(list(self._codes), dtype=object), "width").faults
        if not faults:
            return blank, (), ""
        bad = np.isin(np.concatenate(self._coded), list(faults))
        return blank, tuple(np.concatenate(self._rows)[bad].tolist()), f"For example: {next(iter(faults.values()))}."


def _stripped(value: Any) -> Any:
    return value.strip() if isinstance(value, str) else value


def _hashes(values: pd.Series) -> np.ndarray:
    """64 bits for each value; of ten million values two share them once in some 350,000 files."""
    if values.dtype == object:
        values = values.map(str)
    return pd.util.hash_pandas_object(values, index=False).to_numpy()


def _type(values: pd.Series, present: pd.Series) -> str | None:
    kinds = pd.api.types
    if kinds.is_bool_dtype(values.dtype):
        return "boolean"
    if kinds.is_integer_dtype(values.dtype):
        return "integer"
    if kinds.is_float_dtype(values.dtype):
        return "real"
    if kinds.is_datetime64_any_dtype(values.dtype):
        return "datetime"
    first = present.iloc[0] if len(present) else None
    if first is None:
        return None
    return "text" if isinstance(first, str) else type(first).__name__.lower()
