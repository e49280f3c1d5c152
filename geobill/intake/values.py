"""Single values as people write them: numbers in Brazilian form, dates, exact text. Nothing is guessed."""

import re
from collections.abc import Callable
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd

COMMA, POINT, EITHER = "comma", "point", "either"  # what a number's decimals begin with

_WHOLE = re.compile(r"[+-]?[0-9]+")
_COMMA = re.compile(r"[+-]?[0-9]*,[0-9]+")
_POINT = re.compile(r"[+-]?[0-9]*\.[0-9]+")
_EITHER = re.compile(r"[+-]?[1-9][0-9]{0,2}\.[0-9]{3}")  # a decimal number or thousands: nobody can tell
_EITHER_COMMA = re.compile(r"[+-]?[1-9][0-9]{0,2},[0-9]{3}")  # thousands only where the column has decimal points
_THOUSANDS = re.compile(r"[+-]?[1-9][0-9]{0,2}(\.[0-9]{3})+,[0-9]+|[+-]?[1-9][0-9]{0,2}(\.[0-9]{3}){2,}")
_THOUSANDS_ABROAD = re.compile(r"[+-]?[1-9][0-9]{0,2}(,[0-9]{3})+\.[0-9]+|[+-]?[1-9][0-9]{0,2}(,[0-9]{3}){2,}")
_SPACED = re.compile(r"[+-]?[1-9][0-9]{0,2}([ \u00a0\u2009\u202f][0-9]{3})+([.,][0-9]+)?")  # spaces between thousands
_UNIT = re.compile(
    r"(?:R\$|US\$|€)\s*[0-9.,]+|[+-]?[0-9][0-9.,\s]*(mm|cm|dm|km|m[23²³]?|metros?|cent[íi]metros?|ft|feet|p[ée]s|pol|in|\"|'|%|R\$|reais)\.?",
    re.IGNORECASE,
)
_ISO = re.compile(r"([0-9]{4})[-/.]([0-9]{1,2})[-/.]([0-9]{1,2})(?:[T ]+[0-9]{1,2}:[0-9]{2}.*)?")
_BRAZILIAN = re.compile(r"([0-9]{1,2})[/.-]([0-9]{1,2})[/.-]([0-9]{4})(?:[T ]+[0-9]{1,2}:[0-9]{2}.*)?")
_SHORT_YEAR = re.compile(r"[0-9]{1,2}[/.-][0-9]{1,2}[/.-][0-9]{2}(?:\s.*)?")


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
    may be Brazilian (``1.234,50``), plain (``0.75``) or international (``1,234.50``), with spaces between thousands
    (``1 234,50``); ``1.234`` is two of them and so none: `value_columns.read_numbers` asks the rest of its column.

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
    return _number_from_text(as_typed(value))


def as_typed(text: str) -> str:
    """Return a number's text with a hyphen for the minus of print (U+2212), and without the spaces around it."""
    return text.strip().replace("\u2212", "-")


def number_form(text: str) -> str | None:
    """Return what a number's decimals begin with (`COMMA`, `POINT`), `EITHER` where that is open; None if there are none.

    ``1.234.567`` has no decimals, but it shows that points stand between thousands, so commas before decimals.
    """
    if _EITHER.fullmatch(text) or _EITHER_COMMA.fullmatch(text):
        return EITHER
    if _SPACED.fullmatch(text):
        return COMMA if "," in text else POINT if "." in text else None
    if _COMMA.fullmatch(text) or _THOUSANDS.fullmatch(text):
        return COMMA
    return POINT if _POINT.fullmatch(text) or _THOUSANDS_ABROAD.fullmatch(text) else None


def sure_number(text: str, form: str) -> Decimal:
    """Read a number whose form is known."""
    thousands, decimal = (".", ",") if form == COMMA else (",", ".")
    return Decimal(text.replace(thousands, "").replace(decimal, "."))


def _number_from_text(text: str) -> Decimal:
    if _EITHER.fullmatch(text):
        raise UnreadableValueError(
            f"{text!r} can be read as {text.replace('.', ',')} (decimal point) or as {text.replace('.', '')} "
            f"(point between thousands): write {text.replace('.', ',')} or {text.replace('.', '')}"
        )
    if _SPACED.fullmatch(text):
        text = re.sub(r"\s", "", text)
    if _WHOLE.fullmatch(text):
        return Decimal(text)
    form = COMMA if _EITHER_COMMA.fullmatch(text) else number_form(text)
    if form is not None:
        return sure_number(text, form)
    if _UNIT.fullmatch(text):
        raise UnreadableValueError(
            f"{text[:40]!r} has a unit, which isn't read: write the number alone, in the unit that is asked for, such as 0,50"
        )
    if not text.isascii() and any(c.isdigit() for c in text if not c.isascii()):
        raise UnreadableValueError(f"{text[:40]!r} has digits of another script: write it with the digits 0 to 9")
    raise UnreadableValueError(f"{text[:40]!r} is not a number: write digits only, such as 1234,50 or 0.75")


def month_first(text: str) -> bool | None:
    """Whether a date in figures must have its month first (11/16/2026); None if it is no date of day, month and year."""
    found = _BRAZILIAN.fullmatch(text)
    return None if found is None else int(found[1]) <= 12 < int(found[2]) <= 31


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
        if _SHORT_YEAR.fullmatch(text):
            raise UnreadableValueError(
                f"{text[:40]!r} has a year of two figures, so the century is open (and the order): write it as 2026-11-30"
            )
        if month_first(text):
            raise UnreadableValueError(f"{text[:40]!r} has its month first: write it as 2026-11-30 or 30/11/2026")
    elif isinstance(value, (int, float, np.integer, np.floating)):
        raise UnreadableValueError(
            f"{str(value)[:40]!r} is a number and no date, perhaps a spreadsheet's count of days: write it as 2026-11-30"
        )
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
