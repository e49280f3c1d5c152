"""Set-off (art. 14): a part of the debt, oldest credit first, to the cent, and never more than the share."""

from datetime import date
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geobill.billing.set_off import set_off
from geobill.domain.credit import Credit, OpenCredit

cents = st.integers(1, 10**8).map(lambda n: Decimal(n).scaleb(-2))
shares = st.integers(1, 10**4).map(lambda n: Decimal(n).scaleb(-4))


def credits(*left):
    return [
        OpenCredit(Credit(f"C{n}", "alfa", f"Lei {n}", Decimal(amount), date(2026, 1, n)), Decimal(amount))
        for n, amount in enumerate(left, 1)
    ]


@pytest.mark.parametrize(
    ("total", "share", "left", "taken"),
    [
        ("100.00", None, ("50.00",), []),
        ("100.00", "0.30", (), []),
        ("100.00", "0.30", ("50.00",), [("C1", "30.00")]),
        ("100.00", "0.30", ("10.00", "15.00", "90.00"), [("C1", "10.00"), ("C2", "15.00"), ("C3", "5.00")]),
        ("100.00", "1", ("500.00",), [("C1", "100.00")]),
        ("0.01", "0.99", ("5.00",), []),  # a share of a cent isn't rounded up
        ("33.33", "0.5", ("99.00",), [("C1", "16.66")]),
        ("100.00", "0.30", ("0.00", "7.00"), [("C2", "7.00")]),
    ],
)
def test_table(total, share, left, taken):
    found = set_off(Decimal(total), share and Decimal(share), credits(*left))
    assert [(s.credit, str(s.amount)) for s in found] == taken


@given(cents, shares, st.lists(cents, max_size=5))
def test_never_more_than_the_share_and_never_more_than_there_is(total, share, left):
    found = set_off(total, share, credits(*left))
    taken = sum((s.amount for s in found), Decimal(0))
    assert taken <= total * share
    assert taken == min((total * share).quantize(Decimal("0.01"), rounding="ROUND_DOWN"), sum(left, Decimal(0)))
    assert all(s.amount <= c.left for s, c in zip(found, credits(*left), strict=False))
