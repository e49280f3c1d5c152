"""The calendar of a workspace: what the law sets, and what was issued and recorded under it."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date, timedelta
from pathlib import Path

from geobill.billing import deadlines as days
from geobill.billing.past import limitation_of
from geobill.documents import words
from geobill.documents.ical import render_ical
from geobill.documents.note import TITLES
from geobill.domain.dates import BillingMonth
from geobill.domain.deadline import Deadline
from geobill.errors import InputError
from geobill.law.statutes.street_use import StreetUseLaw
from geobill.pipeline.billing import due_day
from geobill.pipeline.law import load_law
from geobill.store.audit import Audit
from geobill.store.cases import CaseRegister
from geobill.store.ledger import Ledger
from geobill.store.notes import NoteBook
from geobill.store.registers import Registers
from geobill.store.settings import replace_file
from geobill.store.suspensions import SuspensionRegister
from geobill.store.workspace import Workspace

LONGEST_SPAN_YEARS = 30
DAYS_OF_A_YEAR = 366


@dataclass(frozen=True)
class Calendar:
    """Deadlines from one day to another, both included; ``checked_until`` is the day up to which the law was checked."""

    first: date
    last: date
    deadlines: tuple[Deadline, ...]
    checked_until: date | None


def find_deadlines(workspace: Workspace, first: date, last: date) -> Calendar:
    """Find the days that the law sets in a span; changes nothing.

    Days after the one up to which the law was checked are told by its figures as they stand: a calendar demands nothing.

    Raises
    ------
    InputError
        If the span ends before it begins, or is longer than 30 years.
    """
    if last < first or (last - first).days > LONGEST_SPAN_YEARS * DAYS_OF_A_YEAR:
        raise InputError(
            f"From {first.isoformat()} until {last.isoformat()} is no span of days that can be shown: give --from before --until, at "
            f"most {LONGEST_SPAN_YEARS} years apart."
        )
    tables = workspace.database.tables
    with workspace.database.read() as connection:
        law = load_law(workspace, connection)
        registers = Registers(connection, tables)
        operators, decisions = registers.load_operators(), registers.load_decisions()
        cancelled = Audit(connection, tables).cancelled()
        invoices = [i for i in Ledger(connection, tables).load_invoices() if i.number not in cancelled]
        notes = NoteBook(connection, tables).load()
        cases = CaseRegister(connection, tables).load_files().values()
        suspensions = SuspensionRegister(connection, tables).load_files().values()
    standing = replace(law.figures, checked=None)
    reached = [o for o in operators.values() if law.exemption(o.kind) is None]
    due_on = _due_day_of(workspace, StreetUseLaw(standing))
    article = standing.figure("due_day", max(first, standing.published_on)).article
    reach = limitation_of(workspace.settings.policy_in(BillingMonth.of(first)), decisions, first)
    found = [
        *days.terms_since_publication(standing),
        *days.expansion_plans(standing, reached, first, last),
        *days.month_dues(_month_dues(due_on, standing.published_on, first, last), article, words.month_name),
        *days.invoice_dues(invoices, article, words.month_name, words.reais),
        *days.note_dues(notes, {kind: title.lower() for kind, title in TITLES.items()}, words.reais),
        *days.case_terms(cases, operators, standing),
        *days.suspension_ends(suspensions, operators),
    ]
    if first > standing.published_on:
        found += days.limitation(reach, due_on, first, standing.published_on, words.month_name)
    checked = law.figures.checked
    if checked is not None:
        found.append(days.law_checked(checked.until, law.figures.title))
    return Calendar(first, last, days.between(found, first, last), checked.until if checked else None)


def write_ical(calendar: Calendar, path: Path, municipality: str, now: str) -> Path:
    """Write a calendar as an iCalendar file; ``now`` is the moment in UTC, ISO text with Z."""
    if path.suffix.lower() != ".ics":
        raise InputError(f"--ics {path.name}: name a file that ends in .ics, by which calendar programs know it.")
    path.parent.mkdir(parents=True, exist_ok=True)
    replace_file(path, render_ical(calendar.deadlines, f"Prazos da lei – {municipality}", now))
    return path


def _due_day_of(workspace: Workspace, law: StreetUseLaw) -> Callable[[BillingMonth], date]:
    """Return the due day of each month, that of the law's first month for what is older."""
    earliest = BillingMonth.of(law.figures.published_on)
    return lambda month: due_day(workspace.settings, law, max(month, earliest))


def _month_dues(
    due_on: Callable[[BillingMonth], date], published_on: date, first: date, last: date
) -> dict[BillingMonth, date]:
    """Due day of each month since the law's first, of those that may fall due in the span."""
    begins = BillingMonth.of(max(first - timedelta(days=62), published_on))
    return {month: due_on(month) for month in begins.until(BillingMonth.of(last))}
