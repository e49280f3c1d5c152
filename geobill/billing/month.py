"""A month's charges as invoices and drafts of decrees; numbers are given by the ledger, not here."""

from collections.abc import Callable
from dataclasses import replace
from datetime import date, timedelta
from decimal import Decimal

import holidays

from geobill.domain.dates import BillingMonth
from geobill.domain.finding import Finding
from geobill.domain.invoice import Basis, Bill, DecreeDraft, Invoice, OperatorBill, SetOff
from geobill.domain.network import Authority
from geobill.domain.record import canonical_json, sha256
from geobill.errors import InputError
from geobill.law.policy import Policy
from geobill.law.statutes.street_use import StreetUseLaw


def is_banking_day(
    day: date, *, state: str, local_holiday: Callable[[date], bool], carnival: bool = True, corpus_christi: bool = True
) -> bool:
    """Whether banks take payments on a day: no weekend, national, state or local holiday.

    ``carnival`` and ``corpus_christi`` say whether those optional days are without banking (a setting).
    """
    if day.weekday() >= 5 or local_holiday(day):
        return False
    national = holidays.country_holidays("BR", subdiv=state, years=day.year)
    optional = holidays.country_holidays("BR", years=day.year, categories=("optional",), language="pt_BR")
    name = optional.get(day, "") if day in optional else ""
    if carnival and name in ("Carnaval",):
        return False
    if corpus_christi and name in ("Corpus Christi",):
        return False
    return day not in national


def due_date(month: BillingMonth, due_day: int, policy: Policy, is_banking: Callable[[date], bool]) -> date:
    """Due date of a month's invoices (art. 8): the 15th, of the month that the policy says, on a banking day.

    Parameters
    ----------
    month : BillingMonth
        The month that is charged.
    due_day : int
        The figure ``due_day``.
    policy : Policy
        ``due_month`` (same or following) and ``due_day_rule`` (next banking day, or that very day).
    is_banking : callable
        Tells whether banks take payments on a day.
    """
    in_month = month.following() if policy.due_month == "following" else month
    day = date(in_month.year, in_month.month, due_day)
    while policy.due_day_rule == "next_business_day" and not is_banking(day):
        day += timedelta(days=1)
    return day


def check_dates(issued_on: date, due_on: date, month: BillingMonth) -> None:
    """Refuse a due date that has passed on the day of issue."""
    if due_on < issued_on:
        raise InputError(
            f"The invoices of {month} would be due on {due_on.isoformat()}, before they are issued ({issued_on.isoformat()}): nobody "
            "can pay in time. Give the due date with --due YYYY-MM-DD, on or after the day of issue."
        )


def issue_findings(
    month: BillingMonth, issued_on: date, due_given: bool, issuing: int, authority: Authority
) -> tuple[Finding, ...]:
    """Say what a clerk should know of a run that issues so many invoices; none of it stops the run."""
    if not issuing:
        if not due_given:
            return ()
        message = "--due changed nothing: no invoice was issued in this run, and an issued one keeps its due date."
        return (Finding("due_ignored", "warning", message, "Leave --due out."),)
    found = []
    if issued_on < month.last_day:
        message = f"the invoices of {month} are issued on {issued_on.isoformat()}, before the month is over, for all of its days."
        found.append(Finding("month_not_over", "warning", message, "What changes until its end needs a correction."))
    found += issuer_incomplete(authority)
    return tuple(found)


def issuer_incomplete(authority: Authority) -> list[Finding]:
    """Say which particulars of the issuing authority a demand would lack."""
    blank = [name for name in ("cnpj", "address") if not getattr(authority, name).strip()]
    if not blank:
        return []
    message = f"the invoices name no {' and no '.join(blank)} of the issuing authority."
    return [
        Finding("issuer_incomplete", "warning", message, "Fill in [authority] in geobill.toml before the next month.")
    ]


def draft_invoice(
    bill: Bill,
    mine: OperatorBill,
    law: StreetUseLaw,
    authority: Authority,
    number: str,
    issued_on: date,
    due_on: date,
    set_offs: tuple[SetOff, ...] = (),
) -> Invoice:
    """One operator's invoice with its digest; ``set_offs`` are parts of it paid with credits (art. 14).

    The yearly single payment (art. 8, sole paragraph) is twelve whole months of what stands on the month's last day;
    doubled lines aren't part of it, since they last only until the irregularity ends (art. 10 § 2).
    """
    months = law.figures.value("yearly_months", law.day_for(bill.month))
    monthly = mine.whole_month.total
    invoice = Invoice(
        number=number,
        month=bill.month,
        issued_on=issued_on,
        due_on=due_on,
        authority=authority,
        operator=mine.operator,
        basis=bill.basis,
        lines=mine.lines,
        total=mine.total,
        reducer=mine.reducer,
        network_length_m=mine.network_length_m,
        held=mine.held,
        yearly=None if monthly is None else monthly * months,
        yearly_monthly=monthly,
        suspended=mine.suspended,
        set_offs=set_offs,
    )
    return replace(invoice, digest=digest(invoice))


def draft_decree(
    mine: OperatorBill, basis: Basis, law: StreetUseLaw, authority: Authority, policy: Policy, month: BillingMonth
) -> DecreeDraft:
    """Draft of an operator's permit decree; number, date and signatures are the city hall's (arts. 3, 6, 7)."""
    months = int(law.figures.value("deposit_months", law.day_for(month)))
    total = mine.whole_month.total
    draft = DecreeDraft(
        authority=authority,
        operator=mine.operator,
        basis=basis,
        price=mine.whole_month,
        deposit_months=months,
        deposit=None if total is None else total * Decimal(months),
        due_day=int(law.figures.value("due_day", law.day_for(month))),
        due_month=policy.due_month,
    )
    return replace(draft, digest=digest(draft))


def digest(record: Invoice | DecreeDraft) -> str:
    """SHA-256 of a record's canonical JSON with its own digest left empty."""
    return sha256(canonical_json(replace(record, digest="")))
