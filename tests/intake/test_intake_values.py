"""Numbers, dates and texts as people write them."""

from datetime import date, datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from geobill.intake.values import UnreadableValueError, read_column, read_date, read_number, read_text


@pytest.mark.parametrize(
    ("value", "number"),
    [
        ("0,75", "0.75"), ("1.234,50", "1234.50"), ("1.234.567", "1234567"), ("1.234.567,8", "1234567.8"),
        ("0.75", "0.75"), ("12.5", "12.5"), ("0.750", "0.750"), ("1234.567", "1234.567"), ("1.2345", "1.2345"),
        ("1,234.50", "1234.50"), ("1,234,567", "1234567"), ("1\u00a0234,50", "1234.50"), ("1\u202f234.5", "1234.5"),
        ("1 234", "1234"), ("\u22120,6", "-0.6"), ("10", "10"), (" 0,30 ", "0.30"), ("-0,6", "-0.6"),
        ("0,750", "0.750"), (",5", "0.5"), ("007", "7"),
        (3, "3"), (np.int64(2**53 + 1), "9007199254740993"), (0.1, "0.1"), (0.6, "0.6"), (1.0, "1"),
        (np.float32(0.3), "0.3"), (1e-7, "0.0000001"), (1e22, "10000000000000000000000"), (Decimal("0.30"), "0.30"),
    ],
)  # fmt: skip
def test_numbers(value, number):
    assert read_number(value) == Decimal(number)


@pytest.mark.parametrize("value", [None, "", "  ", "\u00a0", float("nan"), np.nan, pd.NA, pd.NaT])
def test_blank_is_nothing(value):
    assert read_number(value) is None
    assert read_date(value) is None
    assert read_text(value) is None


@pytest.mark.parametrize(
    "value",
    ["1.234", "-12.345", "R$ 10,00", "0,5 m", "12.34.567", "0.123.456", "1e3", "5,", "-", "NaN",
     "n/d", "٣", float("inf"), -np.inf, True, Decimal("Infinity"), [1], date(2026, 1, 1)],
)  # fmt: skip
def test_unreadable_numbers(value):
    with pytest.raises(UnreadableValueError):
        read_number(value)


def test_an_ambiguous_number_gives_both_readings():
    with pytest.raises(UnreadableValueError, match=r"1,234 .*or as 1234 "):
        read_number("1.234")


@given(
    st.decimals(allow_nan=False, allow_infinity=False, places=2, min_value=Decimal("-1e9"), max_value=Decimal("1e9"))
)
def test_brazilian_form_round_trips(number):
    brazilian = f"{number:,.2f}".replace(",", "_").replace(".", ",").replace("_", ".")
    assert read_number(brazilian) == number


@given(st.floats(allow_nan=False, allow_infinity=False, width=32))
def test_a_float_keeps_its_own_precision(number):
    assert np.float32(float(read_number(np.float32(number)))) == np.float32(number)


@pytest.mark.parametrize(
    "value",
    ["2026-11-16", "16/11/2026", " 2026-11-16 ", "2026-11-16T10:00:00Z", "2026-11-16 00:00", date(2026, 11, 16),
     "16/11/2026 23:59", "16.11.2026", "16-11-2026", "2026/11/16", "2026-11-16 9:05",
     datetime(2026, 11, 16, 23, 59), pd.Timestamp("2026-11-16"), np.datetime64("2026-11-16")],
)  # fmt: skip
def test_dates(value):
    assert read_date(value) == date(2026, 11, 16)


@pytest.mark.parametrize(
    "value", ["2026-02-30", "31/04/2026", "11/16/2026", "16/11/26", "2026-11", "ontem", 20261116, 46000.0]
)
def test_unreadable_dates(value):
    with pytest.raises(UnreadableValueError):
        read_date(value)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("007", "007"),
        (" A 1", " A 1"),
        (123, "123"),
        (123.0, "123"),
        (1.5, "1.5"),
        (np.int64(2**63 - 1), str(2**63 - 1)),
    ],
)
def test_texts(value, text):
    assert read_text(value) == text


def test_columns_keep_whole_numbers_beside_nulls():
    values, faults = read_column(pd.Series([123, None, 7], dtype="Int64"), read_text)
    assert values.tolist() == ["123", None, "7"]
    assert faults == {}


def test_columns_name_every_unreadable_row():
    values, faults = read_column(pd.Series(["x", "0,5", "x", None]), read_number)
    assert values.tolist() == [None, Decimal("0.5"), None, None]
    assert sorted(faults) == [0, 2]
    mixed, _ = read_column(pd.Series([1, 1.0, "1"], dtype=object), read_text)
    assert mixed.tolist() == ["1", "1", "1"]
