"""The year paid at once (art. 8, sole paragraph): one note over the months that have no invoice yet."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from pathlib import Path

from sqlalchemy import Connection

from geobill.billing.single_payment import single_payment
from geobill.domain.dates import BillingMonth
from geobill.domain.network import Operator
from geobill.domain.note import Note
from geobill.errors import InputError, LawError
from geobill.pipeline.billing import Say
from geobill.pipeline.month import Month, Stored, price_stored
from geobill.pipeline.notes import issue_note, note_due, notes_folder, write_note_files
from geobill.pipeline.papers import inputs_of
from geobill.pipeline.standing import load_demanded
from geobill.pricing.suspended import concerning
from geobill.store.registers import Registers
from geobill.store.workspace import Workspace

ZERO = Decimal("0.00")


@dataclass(frozen=True)
class PaidAtOnce:
    """The note that was issued, and its files."""

    note: Note
    files: tuple[Path, ...]


def bill_at_once(
    workspace: Workspace,
    year: int,
    operator: str,
    *,
    issued_on: date,
    due_on: date | None,
    by: str,
    out: Path | None,
    now: str,
    say: Say = lambda _: None,
) -> PaidAtOnce:
    """Issue the single payment of a year: each month without an invoice at the whole-month price of the month of issue.

    Months that are past must have cost just that: each is owed at its own price, and only months ahead are supposed.
    The yearly amount is twelve monthly ones, without a discount ("desde que obedecido o valor anual correspondente").

    Raises
    ------
    InputError
        If the operator is unknown or exempt, the year is over, each of its months is invoiced or paid already, or one that
        is past cost something else.
    LawError
        If the price is held: a year can't be paid whose price nobody has decided (art. 15). If a court suspends part of it.
    """
    folder = notes_folder(workspace, out)
    if issued_on.year > year:
        raise InputError(
            f"{year} is over on {issued_on.isoformat()}: a single payment pays months ahead (art. 8, sole paragraph). Its months are "
            "for geobill bill --month, one by one. Nothing was issued."
        )
    if year > issued_on.year + 1:
        raise InputError(
            f"{year} is more than a year after {issued_on.isoformat()}: a single payment pays this year or the next at today's price "
            "(art. 8, sole paragraph). Nothing was issued."
        )
    with workspace.database.write() as connection:
        known = Registers(connection, workspace.database.tables).load_operators()
        if operator not in known:
            raise InputError(
                f"There is no operator {operator!r} (known: {', '.join(known) or 'none'}). Nothing was issued."
            )
        months = _open_months(workspace, connection, year, operator)
        month = BillingMonth.of(issued_on)
        say(f"pricing {month}")
        found = price_stored(workspace, connection, month)
        mine = next((o for o in found.bill.operators if o.operator.id == operator), None)
        price = None if mine is None else mine.whole_month
        if mine is None or price is None or not (price.lines or price.held_m):
            raise InputError(
                f"{operator} has nothing in the street at the end of {month} that would be charged: there is no monthly price to take "
                "twelve times (art. 8, sole paragraph). Nothing was issued."
            )
        if price.total is None:
            raise LawError(
                f"The monthly price of {operator} is held: the law gives no R for {price.network_length_m} m (art. 7). A year "
                "can't be paid at a price that nobody has decided: record the decision (art. 15), then issue. Nothing was issued."
            )
        _refuse_suspended(found, mine.operator, months)
        _refuse_other_past(workspace, connection, mine.operator.id, price.total, [m for m in months if m < month])
        note = single_payment(
            mine.operator,
            workspace.settings.authority,
            found.bill.basis,
            price,
            months,
            issued_on=issued_on,
            due_on=due_on or note_due(workspace.settings, found.law, issued_on),
            by=by,
            articles=found.law.figures.articles("yearly_months", month.first_day),
        )
        say(f"single payment of {operator}: R$ {note.total}")
        note = issue_note(workspace, connection, note, inputs_of(found, mine), now=now)
    return PaidAtOnce(note, write_note_files(workspace, [note.number], folder))


def _refuse_suspended(found: Month, operator: Operator, months: Sequence[BillingMonth]) -> None:
    """Refuse to demand at once what a court keeps from being demanded month by month."""
    frames = [f[f["operator"] == operator.id] for f in (found.segments, found.equipment)]
    orders = {f.suspension.id: f for m in months for f in concerning(found.suspensions.values(), m, operator, frames)}
    if orders:
        named = "; ".join(f"{i} (case {f.suspension.court_case}, {f.suspension.court})" for i, f in orders.items())
        raise LawError(
            f"A court suspends what {operator.id} owes in some of these months: {named}. A payment of the whole year would demand "
            "it all the same. Nothing was issued. Bill month by month (geobill bill --month), which sets it apart, until the order is "
            "lifted (geobill suspension lift)."
        )


def _refuse_other_past(
    workspace: Workspace, connection: Connection, operator: str, monthly: Decimal, past: Sequence[BillingMonth]
) -> None:
    """Refuse past months that cost something else, doubled lines aside, than the month whose price is taken for the year."""
    stored = Stored(workspace, connection) if past else None
    other = []
    for month in past:
        assert stored is not None
        mine = next(
            (o for o in stored.price(month, operator=operator).bill.operators if o.operator.id == operator), None
        )
        cost = sum((line.amount for line in mine.lines if line.multiplier == 1), ZERO) if mine else ZERO
        if cost != monthly:
            other.append(f"{month} (R$ {cost})")
    if other:
        raise InputError(
            f"Months that are past didn't cost {operator} the R$ {monthly} that a month costs now: {', '.join(other)}. Each is owed "
            f"at its own price. Nothing was issued. Bill them first (geobill bill --month {other[0].split(' ')[0]}), then pay the "
            "rest of the year at once."
        )


def _open_months(workspace: Workspace, connection: Connection, year: int, operator: str) -> list[BillingMonth]:
    """Months of a year that an operator has neither an invoice of nor paid at once."""
    every = [BillingMonth(year, n) for n in range(1, 13)]
    stands = {m: load_demanded(workspace, connection, m).get(operator) for m in every}
    paid = {d.paid_at_once.number for d in stands.values() if d is not None and d.paid_at_once is not None}
    if paid:
        raise InputError(
            f"{operator} has paid {year} at once already (note {', '.join(sorted(paid))}): what changed since is settled by geobill "
            f"correct --month {year}-01 --until {year}-12 --operator {operator} --reason TEXT. Nothing was issued."
        )
    months = [m for m, d in stands.items() if d is None or not d.is_billed]
    if not months:
        raise InputError(f"Each month of {year} has an invoice of {operator} already: nothing is left to pay at once.")
    return months
