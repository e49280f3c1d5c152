"""Single values as people write them: numbers in Brazilian form, dates, exact text. Nothing is guessed."""

import re
from collections.abc import Callable
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd

_WHOLE = re.compile(r"[+-]?[0-9]+")
_COMMA = re.compile(r"[+-]?[0-9]*,[0-9]+")
_POINT = re.compile(r"[+-]?[0-9]*\.[0-9]+")
_EITHER = re.compile(r"[+-]?[1-9][0-9]{0,2}\.[0-9]{3}")  # a decimal number or thousands: nobody can tell
_THOUSANDS = re.compile(r"[+-]?[1-9][0-9]{0,2}(\.[0-9]{3})+,[0-9]+|[+-]?[1-9][0-9]{0,2}(\.[0-9]{3}){2,}")
_ISO = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})(?:[T ][0-9]{2}:[0-9]{2}.*)?")
_BRAZILIAN = re.compile(r"([0-9]{1,2})/([0-9]{1,2})/([0-9]{4})")


class UnreadableValueError(ValueError):
    """A value that has no reading, or more than one; its message is the reason that a person gets to see."""


def is_blank(value: Any) -> bool:
    """Whether a value says nothing: None, NaN, NaT, NA, or text of nothing but spaces."""
    if isinstance(value, str):
        return not value.strip()
    return value is None or (pd.api.types.is_scalar(value) and bool(pd.isna(value)))


def read_number(value: Any) -> Decimal | None:
    """Read an exact decimal number.

    A float is read as the shortest digits that mean it in its own precision (``numpy.float32(0.3)`` is 0.3). Text
    may be Brazilian (``1.234,50``) or plain (``0.75``); ``1.234`` is both and so neither.

    Returns
    -------
    Decimal or None
        None where the value is blank.

    Raises
    ------
    UnreadableValueError
        If it is no number, has a unit or a currency, is infinite or can be read in two ways.

    Examples
    --------
    >>> read_number("1.234,50"), read_number("0.750"), read_number(0.1)
    (Decimal('1234.50'), Decimal('0.750'), Decimal('0.1'))
    """
    if is_blank(value):
        return None
    if isinstance(value, (bool, np.bool_)):
        raise UnreadableValueError(f"{value} is a yes or no, not a number")
    if isinstance(value, (int, np.integer)):
        return Decimal(int(value))
    if isinstance(value, (float, np.floating)):
        if not np.isfinite(value):
            raise UnreadableValueError("it is infinite: some program divided by zero")
        return Decimal(np.format_float_positional(value, unique=True, trim="-"))
    if isinstance(value, Decimal):
        if not value.is_finite():
            raise UnreadableValueError(f"{value} is not a finite number")
        return value
    if not isinstance(value, str):
        raise UnreadableValueError(f"{value!r} is not a number")
    return _number_from_text(value.strip())


def _number_from_text(text: str) -> Decimal:
    if _EITHER.fullmatch(text):
        raise UnreadableValueError(
            f"{text!r} can be read as {text.replace('.', ',')} (decimal point) or as {text.replace('.', '')} "
            f"(point between thousands): write {text.replace('.', ',')} or {text.replace('.', '')}"
        )
    if _WHOLE.fullmatch(text) or _POINT.fullmatch(text):
        return Decimal(text)
    if _COMMA.fullmatch(text) or _THOUSANDS.fullmatch(text):
        return Decimal(text.replace(".", "").replace(",", "."))
    raise UnreadableValueError(f"{text[:40]!r} is not a number: write digits only, such as 1234,50 or 0.75")


def read_date(value: Any) -> date | None:
    """Read a day: a date or time stamp, ISO text (2026-11-30) or Brazilian text (30/11/2026); None where blank.

    Raises
    ------
    UnreadableValueError
        If it is anything else, or a day that no calendar has.

    Examples
    --------
    >>> read_date("16/11/2026")
    datetime.date(2026, 11, 16)
    """
    if is_blank(value):
        return None
    if isinstance(value, np.datetime64):
        value = pd.Timestamp(value)
    if isinstance(value, datetime):  # a pandas Timestamp is one
        return value.date()
    if isinstance(value, date):
        return value
    if isinstance(value, str):
        text = value.strip()
        iso, brazilian = _ISO.fullmatch(text), _BRAZILIAN.fullmatch(text)
        year, month, day = iso.groups() if iso else brazilian.groups()[::-1] if brazilian else ("0", "0", "0")
        try:
            return date(int(year), int(month), int(day))
        except ValueError:
            pass
    raise UnreadableValueError(f"{str(value)[:40]!r} is not a date: write it as 2026-11-30 or 30/11/2026")


def read_text(value: Any) -> str | None:
    """Read exact text, leading zeros and all; None where blank.

    A whole number has no decimals, even where its column holds floats.

    Examples
    --------
    >>> read_text("007"), read_text(123.0), read_text("  ")
    ('007', '123', None)
    """
    if is_blank(value):
        return None
    if isinstance(value, str):
        return value
    if isinstance(value, (float, np.floating)):
        return np.format_float_positional(value, unique=True, trim="-")
    if isinstance(value, datetime):
        return value.isoformat(sep=" ")
    return str(value)


def read_column(values: pd.Series, read: Callable[[Any], Any]) -> tuple[np.ndarray, dict[int, str]]:
    """Read a whole column, each distinct value once.

    Returns
    -------
    numpy.ndarray of object, dict of int to str
        What was read (None where blank or unreadable), and the reason for each position that was unreadable.
    """
    if values.dtype == object:  # 1, 1.0 and True would be one value
        codes, distinct = np.arange(len(values)), values.to_numpy()
    else:
        codes, distinct = pd.factorize(values)
    results, reasons = np.full(len(distinct) + 1, None, dtype=object), {}
    for at, value in enumerate(distinct):
        try:
            results[at] = read(value)
        except UnreadableValueError as e:
            reasons[at] = str(e)
    faults = {}
    if reasons:
        faults = {int(row): reasons[codes[row]] for row in np.flatnonzero(np.isin(codes, list(reasons)))}
    return results[codes], faults  # code -1, a null, takes the last, which is None
