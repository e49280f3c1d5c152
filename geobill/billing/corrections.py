"""Corrections: what a month costs as known today beside what was demanded for it, as lines of a credit or difference note."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import date
from decimal import Decimal

from geobill.billing.past import LIMITATION
from geobill.billing.standing import Demanded
from geobill.domain.check import Cause
from geobill.domain.invoice import AmountIf, Basis, Books, Held, Line, OperatorBill, PolicyUse, WholeMonth
from geobill.domain.network import Authority, Operator
from geobill.domain.note import CHARGED_SINCE, CREDIT, DIFFERENCE, Note, NoteLine
from geobill.domain.record import to_plain

ZERO = Decimal("0.00")


def nothing_due(operator: Operator, on: date) -> OperatorBill:
    """Return the month of an operator of whom nothing stands, or whom the law doesn't reach any more."""
    books = Books(ZERO, ZERO, ZERO, ZERO, ZERO, ZERO)
    whole = WholeMonth(on, ZERO, None, (), ZERO, ZERO)
    return OperatorBill(operator, (), ZERO, None, ZERO, (), books, books, whole)


def since_correction(stands: Demanded) -> Decimal:
    """Return what other notes demanded of a month after its last correction, in reais; without one, after its invoice."""
    last = stands.correction
    place = 0 if last is None else stands.notes.index(last) + 1
    return sum((line.amount for _, line in stands.notes[place:]), ZERO)


def with_what_was_charged_since(causes: Sequence[Cause], stands: Demanded) -> tuple[Cause, ...]:
    """Causes since the month was last computed, and what other notes demanded of it meanwhile: together the difference."""
    charged = since_correction(stands)
    return (*causes, *([Cause(CHARGED_SINCE, 0, ZERO, -charged)] if charged else []))


def correction_line(stands: Demanded, mine: OperatorBill, basis: Basis, causes: Sequence[Cause]) -> NoteLine:
    """Return the line of one month: what it costs now, what was demanded, and why they differ."""
    articles = dict.fromkeys(a for line in _lines(stands, mine) for a in line.articles)
    return NoteLine(
        month=stands.month,
        what="",
        now=mine.total,
        before=stands.total,
        amount=mine.total - stands.total,
        articles=tuple(articles),
        invoice=None if stands.invoice is None else stands.invoice.number,
        edition=basis.edition,
        reducer=None if mine.reducer is None else str(to_plain(mine.reducer)),
        lines=mine.lines,
        causes=tuple(causes),
        suspended=mine.suspended,
    )


def _lines(stands: Demanded, mine: OperatorBill) -> Iterable[Line]:
    return mine.lines or stands.lines or ()


def correction_note(
    operator: Operator,
    authority: Authority,
    months: Sequence[tuple[NoteLine, Basis]],
    held: Iterable[Held],
    *,
    issued_on: date,
    due_on: date,
    reason: str,
    by: str,
) -> Note:
    """Return an operator's note without its number: a credit where less is due than was demanded, else a difference.

    Where months differ in policy, the note's basis is that of the last, and the lines of the others say what is other.
    """
    basis = replace(months[-1][1], digests=())
    lines = tuple(replace(line, what=_other_policy(own.policy, basis.policy)) for line, own in months)
    total = sum((line.amount for line in lines), ZERO)
    return Note(
        number="",
        kind=CREDIT if total < 0 else DIFFERENCE,
        issued_on=issued_on,
        due_on=due_on if total > 0 else None,
        authority=authority,
        operator=operator,
        basis=basis,
        cause=reason,
        lines=lines,
        total=total,
        held=tuple(held),
        by=by,
    )


def _other_policy(own: Sequence[PolicyUse], shown: Sequence[PolicyUse]) -> str:
    common = {use.key: use.value for use in shown}
    other = [f"{use.key} = {use.value}" for use in own if common.get(use.key) != use.value]
    return f"parâmetros deste mês: {', '.join(other)}" if other else ""


def held_by_limitation(line: NoteLine, operator: str, years: int | None) -> Held:
    """Return a month whose difference waits for a decision on limitation, charged and credited to nobody (art. 15)."""
    return Held(
        operator=operator,
        segment=None,
        code=LIMITATION,
        reason=f"{line.month}: older than {years} years; the law has no term of limitation, held until a decision says how many "
        "years count (art. 15)",
        article="15",
        length_m=ZERO,
        amount_if=AmountIf("1 months without limitation", line.amount),
    )
