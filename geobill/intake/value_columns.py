"""Columns of values: what one value leaves open, the others of its column decide, or nobody does."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd

from geobill.intake.values import (
    COMMA,
    EITHER,
    POINT,
    UnreadableValueError,
    as_typed,
    month_first,
    number_form,
    read_column,
    read_date,
    read_number,
    read_text,
    sure_number,
)

_FLOAT_TEXT = re.compile(r"(0|[1-9][0-9]*)[.,]0+")
_SCIENTIFIC = re.compile(r"[0-9]([.,][0-9]+)?[eE]\+[0-9]{1,3}|[0-9][.,][0-9]+[eE][0-9]{1,3}")


@dataclass(frozen=True)
class Remark:
    """What should be said about some rows of a column, by their position (first is 0)."""

    code: str
    severity: str
    message: str
    fix: str
    rows: tuple[int, ...]


@dataclass(frozen=True)
class ColumnReading:
    """A column as it was read: None where blank or unreadable, and the reason for each that was unreadable."""

    values: np.ndarray
    faults: dict[int, str]
    remarks: tuple[Remark, ...] = field(default=())


ReadColumn = Callable[[pd.Series, str], ColumnReading]


def each(read: Callable[[Any], Any]) -> ReadColumn:
    """Make the reader of a column whose values say by themselves what they are."""
    return lambda values, name: ColumnReading(*read_column(values, read))


def read_numbers(values: pd.Series, name: str) -> ColumnReading:
    """Read exact decimals; the form of the column's other numbers decides what ``1.234`` is.

    Parameters
    ----------
    values : Series
    name : str
        Of the column, for what is said about it.

    Returns
    -------
    ColumnReading
        Where a column writes decimals with commas and with points, ``number_form_mixed`` names the rows, those that
        could be either are unreadable; ``number_form_decided`` names the rows that the others decided.
    """
    texts = _texts(values)
    forms = {text: number_form(text) for text in set(texts.values())}
    shown = {form: next((t for t in texts.values() if forms[t] == form), None) for form in (COMMA, POINT)}
    either = [row for row, text in texts.items() if forms[text] == EITHER]
    if shown[COMMA] is not None and shown[POINT] is not None:
        return _mixed(values, name, texts, forms, shown, either)
    form = COMMA if shown[COMMA] is not None else POINT if shown[POINT] is not None else None
    if form == COMMA:
        either = [row for row in either if "." in texts[row]]  # with a comma it is read so anyway
    if form is None or not either:
        return ColumnReading(*read_column(values, read_number))
    fits, sure = _fits(values, forms, form), shown[form]

    def read(value: Any) -> Decimal | None:
        text = as_typed(value) if isinstance(value, str) else None
        if not text or forms.get(text) != EITHER:
            return read_number(value)
        if text in fits:
            return sure_number(text, form)
        raise UnreadableValueError(
            f"{text!r} can be read as {sure_number(text, COMMA)} (decimal comma) or as {sure_number(text, POINT)} (decimal point), "
            f"and beside the other numbers of {name} ({sure!r}) neither is sure: write it without a sign between thousands"
        )

    found, faults = read_column(values, read)
    decided = tuple(row for row in either if texts[row] in fits)
    if not decided:
        return ColumnReading(found, faults)
    example = texts[decided[0]]
    how = "comma" if form == COMMA else "point"
    message = (
        f"{len(decided)} number(s) of {name} could be read in two ways, such as {example!r}: it was read as "
        f"{sure_number(example, form)}, because others of the column have a decimal {how} ({sure!r})."
    )
    fix = "If that is wrong, ask for the column with a decimal comma and no sign between thousands."
    return ColumnReading(found, faults, (Remark("number_form_decided", "note", message, fix, decided),))


def _fits(values: pd.Series, forms: dict[str, Any], form: str) -> set[str]:
    """Numbers that may be decided by their column's form.

    All but those that this puts a hundred times beyond every other number, where the other form puts them among them: a
    single 1.234 among widths of 0,40 is a metre and a bit in somebody else's hand, and 1234 m would be billed.
    """
    either = {text for text, its in forms.items() if its == EITHER}
    others = values[[not (isinstance(v, str) and as_typed(v) in either) for v in values]]
    sizes = [abs(n) for n in read_column(others, read_number)[0] if n]
    if not sizes:
        return either
    low, high = min(sizes), max(sizes)

    def within(number: Decimal, times: int) -> bool:
        return low / times <= abs(number) <= high * times

    other = POINT if form == COMMA else COMMA
    return {t for t in either if within(sure_number(t, form), 100) or not within(sure_number(t, other), 10)}


def _mixed(
    values: pd.Series, name: str, texts: dict[int, str], forms: dict[str, Any], shown: dict[Any, Any], either: list[int]
) -> ColumnReading:
    """Read each number that is sure by itself; the others stay open."""

    def read(value: Any) -> Decimal | None:
        text = as_typed(value) if isinstance(value, str) else None
        if text and forms.get(text) == EITHER:
            raise UnreadableValueError(
                f"{text!r} can be read in two ways, and {name} has decimal commas ({shown[COMMA]!r}) as well as decimal points "
                f"({shown[POINT]!r}): write {sure_number(text, POINT)} or {sure_number(text, COMMA)} with a decimal comma"
            )
        return read_number(value)

    by_form = {form: [row for row, text in texts.items() if forms[text] == form] for form in (COMMA, POINT)}
    fewer = min(by_form, key=lambda form: len(by_form[form]))
    message = (
        f"{name} has decimal commas ({len(by_form[COMMA])} row(s), such as {shown[COMMA]!r}) and decimal points "
        f"({len(by_form[POINT])}, such as {shown[POINT]!r}): each was read by its own form, and {len(either)} that could be "
        "either weren't read."
    )
    fix = "Two programs or two hands wrote this column: ask which rows are right, and for one form."
    rows = tuple(sorted([*by_form[fewer], *either]))
    return ColumnReading(*read_column(values, read), (Remark("number_form_mixed", "warning", message, fix, rows),))


def read_dates(values: pd.Series, name: str) -> ColumnReading:
    """Read days; where one has its month first, none of the column that is written so is read."""
    texts = _texts(values)
    rows = [row for row, text in texts.items() if month_first(text) is not None]
    american = [row for row in rows if month_first(texts[row])]
    if not american:
        return ColumnReading(*read_column(values, read_date))
    witness = texts[american[0]]

    def read(value: Any) -> Any:
        if isinstance(value, str) and month_first(value.strip()) is not None:
            raise UnreadableValueError(
                f"{value.strip()!r} could have its month first, as {witness!r} of the same column has: write it as 2026-11-30"
            )
        return read_date(value)

    message = (
        f"{name} has dates with the month first, such as {witness!r} in row {american[0] + 1}: whether the others are "
        f"day and month or month and day, nobody can tell, so none of the {len(rows)} was read."
    )
    fix = "Ask for the column as 2026-11-30 or as 30/11/2026."
    return ColumnReading(
        *read_column(values, read), (Remark("date_month_first", "warning", message, fix, tuple(rows)),)
    )


def read_ids(values: pd.Series, name: str) -> ColumnReading:
    """Read exact text; ids that a program turned into decimal numbers ("232146268.0") get their form back.

    Only where the whole column is of that form, and no two ids become one. What lost its digits ("2.32E+08") can't be
    restored and is named in ``id_inexact``.
    """
    ids, faults = read_column(values, read_text)
    remarks = []
    texts = {row: str(i).strip() for row, i in enumerate(ids) if i is not None}
    if pd.api.types.is_float_dtype(values.dtype):
        whole = values.dropna()
        if len(whole) and (whole % 1 == 0).all():
            remarks.append(_restored(name, "a column of decimal numbers", tuple(texts)))
        if (values.abs() >= 2**53).any():
            message = f"{name} holds numbers too long for the file's own number type: their last digits are lost."
            rows = tuple(int(r) for r in np.flatnonzero(values.abs() >= 2**53))
            remarks.append(Remark("id_inexact", "warning", message, "Ask for the ids as text.", rows))
    elif texts and all(_FLOAT_TEXT.fullmatch(t) for t in texts.values()):
        restored = {row: re.split("[.,]", text)[0] for row, text in texts.items()}
        if len(set(restored.values())) == len(set(texts.values())):
            example = next(iter(texts.values()))
            for row, text in restored.items():
                ids[row] = text
            remarks.append(_restored(name, f"decimal numbers as text ({example!r})", tuple(restored)))
    lost = tuple(row for row, text in texts.items() if _SCIENTIFIC.fullmatch(text))
    if lost:
        message = f"{len(lost)} id(s) of {name} are written as {texts[lost[0]]!r}: a spreadsheet rounded them, their digits are lost."
        fix = "Ask for the file as it came from the operator's own system, not opened and saved in a spreadsheet."
        remarks.append(Remark("id_inexact", "warning", message, fix, lost))
    return ColumnReading(ids, faults, tuple(remarks))


def without_absent(values: pd.Series, absent: frozenset[str], as_numbers: bool = False) -> pd.Series:
    """Blank the values that say "not informed".

    Parameters
    ----------
    values : Series
    absent : frozenset of str
        What says so, such as ``0`` or ``-9999``; spaces around it don't count.
    as_numbers : bool
        Whether ``-9999`` is also ``-9999.0`` and ``-9.999,00``; ids and labels are compared as text.
    """
    if not absent:
        return values
    wanted = {a.strip() for a in absent}
    texts, _ = read_column(values, read_text)
    says = np.array([t is not None and t.strip() in wanted for t in texts], dtype=bool)
    if as_numbers:
        figures = set(read_column(pd.Series(sorted(wanted), dtype=object), read_number)[0]) - {None}
        says |= np.array([n is not None and n in figures for n in read_column(values, read_number)[0]], dtype=bool)
    if not says.any():
        return values
    return values.mask(says) if pd.api.types.is_numeric_dtype(values.dtype) else values.astype(object).mask(says, None)


def _restored(name: str, what: str, rows: tuple[int, ...]) -> Remark:
    message = (
        f"{len(rows)} id(s) of {name} came as {what}: they were taken without the decimals, as they must have been."
    )
    return Remark(
        "id_restored", "note", message, "Compare one with the operator's list; leading zeros may be gone.", rows
    )


def _texts(values: pd.Series) -> dict[int, str]:
    """Values that are text and say something, by their position."""
    if not (values.dtype == object or pd.api.types.is_string_dtype(values.dtype)):
        return {}
    return {row: as_typed(v) for row, v in enumerate(values.tolist()) if isinstance(v, str) and v.strip()}
