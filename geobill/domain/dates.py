"""Billing months and days in force. Nothing here asks what day it is: days and months are arguments."""

import calendar
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta

from geobill.errors import InputError


@dataclass(frozen=True, order=True)
class BillingMonth:
    """One calendar month that is priced or billed.

    Examples
    --------
    >>> BillingMonth.parse("2026-11").days
    30
    """

    year: int
    month: int

    @classmethod
    def parse(cls, text: str) -> "BillingMonth":
        """Read ``YYYY-MM``; anything else is refused with the form that is meant."""
        found = re.fullmatch(r"(\d{4})-(\d{2})", text.strip(), re.ASCII)
        if not found or not 1 <= int(found[2]) <= 12 or not 2 <= int(found[1]) <= 9998:
            raise InputError(
                f"{text!r} is not a month. A month decides the days, the rates and the map edition that are charged: "
                "write it as YYYY-MM, from 01 to 12, for example 2026-11."
            )
        return cls(int(found[1]), int(found[2]))

    @classmethod
    def of(cls, day: date) -> "BillingMonth":
        """Return the month in which a day lies."""
        return cls(day.year, day.month)

    def __str__(self) -> str:
        return f"{self.year:04d}-{self.month:02d}"

    @property
    def first_day(self) -> date:
        """First day of the month."""
        return date(self.year, self.month, 1)

    @property
    def last_day(self) -> date:
        """Last day of the month."""
        return date(self.year, self.month, self.days)

    @property
    def days(self) -> int:
        """Number of days of the month: 28 to 31."""
        return calendar.monthrange(self.year, self.month)[1]

    def following(self) -> "BillingMonth":
        """Return the next month."""
        return BillingMonth.of(self.last_day + timedelta(days=1))

    def preceding(self) -> "BillingMonth":
        """Return the month before."""
        return BillingMonth.of(self.first_day - timedelta(days=1))

    def until(self, last: "BillingMonth") -> Iterator["BillingMonth"]:
        """Return the months from this one to another, both included; none where that comes before.

        Examples
        --------
        >>> [str(m) for m in BillingMonth(2026, 11).until(BillingMonth(2027, 1))]
        ['2026-11', '2026-12', '2027-01']
        """
        month = self
        while month <= last:
            yield month
            month = month.following()

    def days_in_force(self, installed_on: date | None, removed_on: date | None) -> int:
        """Days of the month on which something stood in the street, both ends included.

        Parameters
        ----------
        installed_on : date or None
            First day in the street; None means before anybody wrote it down.
        removed_on : date or None
            Last day in the street, itself due; None means still there.

        Returns
        -------
        int
            0 to the month's length; 0 where it was removed before or installed after the month.

        Examples
        --------
        >>> BillingMonth(2026, 11).days_in_force(date(2026, 11, 16), None)
        15
        >>> BillingMonth(2026, 11).days_in_force(None, date(2026, 11, 16))
        16
        """
        first, last = self.days_of_month(installed_on, removed_on)
        return max(0, last - first + 1)

    def days_of_month(self, installed_on: date | None, removed_on: date | None) -> tuple[int, int]:
        """First and last day of the month on which something stood in the street; the first is after the last for none.

        Examples
        --------
        >>> BillingMonth(2026, 11).days_of_month(date(2026, 11, 16), None)
        (16, 30)
        """
        start = max(self.first_day, installed_on) if installed_on else self.first_day
        end = min(self.last_day, removed_on) if removed_on else self.last_day
        return (start - self.first_day).days + 1, (end - self.first_day).days + 1


def parse_date(text: str, what: str) -> date:
    """Read an ISO date (``YYYY-MM-DD``) that a user typed, or refuse it by the name of what it is for."""
    try:
        if not re.fullmatch(r"\d{4}-\d{2}-\d{2}", text.strip(), re.ASCII):
            raise ValueError(text)
        return date.fromisoformat(text.strip())
    except ValueError:
        raise InputError(
            f"{text!r} is not a date for {what}: write it as YYYY-MM-DD, for example 2026-11-30."
        ) from None


def months_after(day: date, months: int) -> date:
    """Return the same day of the month so many months later, or that month's last day where it has no such day.

    A term in months ends on the day of the number on which it began (Lei 810/1949, art. 2; Código Civil, art. 132 § 3).

    Examples
    --------
    >>> months_after(date(2001, 6, 27), 6), months_after(date(2026, 8, 31), 6)
    (datetime.date(2001, 12, 27), datetime.date(2027, 2, 28))
    """
    year, month = divmod(day.year * 12 + day.month - 1 + months, 12)
    return date(year, month + 1, min(day.day, calendar.monthrange(year, month + 1)[1]))
