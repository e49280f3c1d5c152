"""What was demanded of a month, and the property that a correction must have: original + correction = the month afresh."""

from dataclasses import replace
from datetime import date
from decimal import Decimal

from documents import records
from hypothesis import given
from hypothesis import strategies as st

from geobill.billing.corrections import correction_line, correction_note, nothing_due, with_what_was_charged_since
from geobill.billing.standing import demanded
from geobill.domain.check import Cause
from geobill.domain.dates import BillingMonth
from geobill.domain.note import CREDIT, DIFFERENCE, FINE, RETROACTIVE, SINGLE_PAYMENT, Note, NoteLine

MONTH = BillingMonth(2026, 10)
cents = st.integers(0, 10**9).map(lambda n: Decimal(n).scaleb(-2))
ZERO = Decimal("0.00")


def month_at(total):
    return replace(nothing_due(records.operator(), MONTH.last_day), total=total)


def invoice(total):
    return records.invoice(lines=(), total=total, number="2026/000001")


def note(kind, amount, before=ZERO, number="2026/000002", **changes):
    line = NoteLine(MONTH, "", before + amount, before, amount, ("7",))
    made = Note(
        number,
        kind,
        date(2026, 12, 1),
        None,
        records.authority(),
        records.operator(),
        records.basis(),
        "",
        (line,),
        amount,
    )
    return replace(made, **changes)


def correct(stands, total):
    line = correction_line(stands, month_at(total), records.basis(), ())
    days = {"issued_on": date(2026, 12, 1), "due_on": date(2026, 12, 15)}
    return correction_note(
        records.operator(), records.authority(), [(line, records.basis())], (), **days, reason="x", by=""
    )


@given(st.lists(cents, min_size=2, max_size=6))
def test_original_and_corrections_are_the_month_computed_afresh(totals):
    first, *later = totals
    notes = []
    for total in later:
        stands = demanded(MONTH, [invoice(first)], notes)["elektro"]
        made = correct(stands, total)
        assert made.kind == (CREDIT if total < stands.total else DIFFERENCE)
        assert (made.due_on is None) == (made.total <= 0)
        notes.append(made)
        assert demanded(MONTH, [invoice(first)], notes)["elektro"].total == total
    assert first + sum((n.total for n in notes), ZERO) == later[-1]


@given(cents, cents, cents, cents)
def test_what_other_notes_demanded_counts_as_demanded_and_as_a_cause(first, past, then, later):
    notes = [note(RETROACTIVE, past)]
    stands = demanded(MONTH, [invoice(first)], notes)["elektro"]
    assert stands.total == first + past
    since_invoice = [Cause("width", 1, ZERO, then - first)]
    assert sum(c.amount for c in with_what_was_charged_since(since_invoice, stands)) == then - stands.total
    notes.append(correct(stands, then))
    notes.append(note(RETROACTIVE, past, number="2026/000004"))
    stands = demanded(MONTH, [invoice(first)], notes)["elektro"]
    assert stands.correction[0] is notes[1]
    causes = with_what_was_charged_since([Cause("width", 1, ZERO, later - then)], stands)
    assert sum(c.amount for c in causes) == later - stands.total


def test_fines_are_no_price_of_a_month_and_other_months_dont_count():
    notes = [note(FINE, Decimal("50.00")), note(DIFFERENCE, Decimal("7.00"))]
    stands = demanded(MONTH, [invoice(Decimal("100.00"))], notes)["elektro"]
    assert stands.by_kind == {"invoice": Decimal("100.00"), DIFFERENCE: Decimal("7.00")}
    assert demanded(BillingMonth(2026, 9), [invoice(Decimal("100.00"))], notes) == {}


def test_a_month_is_billed_by_an_invoice_or_a_single_payment_and_by_nothing_else():
    past = demanded(MONTH, [], [note(RETROACTIVE, Decimal("5.00"))])["elektro"]
    assert (past.is_billed, past.lines) == (False, None)
    paid = demanded(MONTH, [], [note(SINGLE_PAYMENT, Decimal("5.00"))])["elektro"]
    assert (paid.is_billed, paid.paid_at_once.number) == (True, "2026/000002")
