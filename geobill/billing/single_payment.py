"""The year in one payment (art. 8, sole paragraph): whole months at one price, without a discount."""

from collections.abc import Sequence
from datetime import date
from decimal import Decimal

from geobill.domain.dates import BillingMonth
from geobill.domain.invoice import Basis, WholeMonth
from geobill.domain.network import Authority, Operator
from geobill.domain.note import SINGLE_PAYMENT, Note, NoteLine
from geobill.domain.record import to_plain

ZERO = Decimal("0.00")


def single_payment(
    operator: Operator,
    authority: Authority,
    basis: Basis,
    price: WholeMonth,
    months: Sequence[BillingMonth],
    *,
    issued_on: date,
    due_on: date,
    by: str,
    articles: Sequence[str],
) -> Note:
    """Return the note of a year paid at once, without its number: one line a month, each the price of a whole month.

    Doubled lines aren't part of it, as in the yearly amount that an invoice prints: they last only until the irregularity
    ends (art. 10 § 2). ``articles`` are those that allow it. ``price.total`` must not be held.
    """
    assert price.total is not None
    monthly = price.total
    cited = tuple(dict.fromkeys((*articles, *(a for line in price.lines for a in line.articles))))
    lines = tuple(
        NoteLine(
            month=month,
            what="",
            now=monthly,
            before=ZERO,
            amount=monthly,
            articles=cited,
            edition=basis.edition,
            reducer=None if price.reducer is None else str(to_plain(price.reducer)),
            lines=price.lines,
        )
        for month in months
    )
    return Note(
        number="",
        kind=SINGLE_PAYMENT,
        issued_on=issued_on,
        due_on=due_on,
        authority=authority,
        operator=operator,
        basis=basis,
        cause="",
        lines=lines,
        total=monthly * len(months),
        by=by,
    )
