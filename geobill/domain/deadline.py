"""A day that the law, or an act under it, sets: which article, whom it concerns, what falls on it."""

from dataclasses import dataclass
from datetime import date

CODES: tuple[str, ...] = (
    "regulation",  # 60 days for the decree that regulates the law (art. 17)
    "register",  # six months for the register of what stood already (art. 12 § 1)
    "no_projects",  # a year after which projects aren't approved any more (art. 12 § 4)
    "expansion_plans",  # 10 March of each year (art. 11)
    "month_due",  # the month's price (art. 8), on the banking calendar
    "invoice_due",  # an issued invoice
    "note_due",  # an issued note
    "case_term",  # the term that a step of an open case sets (arts. 4, 9, 10)
    "fine_defence",  # 15 days against a fine (art. 9 § 4)
    "projects_may_be_suspended",  # the infraction has lasted more than 30 days (art. 9 § 3)
    "suspension_ends",  # last day of a court's order
    "law_checked",  # last day up to which somebody looked whether the figures of law still stand
    "limitation",  # last day before the oldest chargeable month is older than the policy's years
)


@dataclass(frozen=True)
class Deadline:
    """One day of the calendar.

    ``code`` is a member of ``CODES``; ``article`` the short form of the articles (``9 § 3``); ``operator`` the id of whom it
    concerns, blank for the city hall or everybody; ``whom`` says it in words and ``summary`` what falls on the day, both in
    Portuguese. ``reference`` is the number of the invoice, note, case or suspension. ``key`` names the term whatever its
    day is, so that a calendar that is imported again moves an entry instead of doubling it.
    """

    on: date
    code: str
    article: str
    operator: str
    whom: str
    summary: str
    reference: str
    key: str
