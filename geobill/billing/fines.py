"""The daily fine of art. 9 § 2: which days it still asks for, and what they cost."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal

from geobill.domain.case import CaseFile, fine_from, fine_until
from geobill.domain.dates import BillingMonth
from geobill.domain.money import round_money
from geobill.domain.note import FINE, Note, NoteLine
from geobill.domain.ratio import fraction
from geobill.law.figures import Figure

DAY = timedelta(days=1)
ZERO = Decimal("0.00")


@dataclass(frozen=True)
class FinedDays:
    """Days of one month for which a fine is still to be charged, both ends included."""

    month: BillingMonth
    first: date
    last: date

    @property
    def days(self) -> int:
        """Return how many days these are."""
        return (self.last - self.first).days + 1


def days_to_charge(file: CaseFile, notes: Iterable[Note], until: date) -> list[FinedDays]:
    """Days of a case's fine up to a day that no note charges yet, month by month: no day is ever charged twice.

    Parameters
    ----------
    file : CaseFile
    notes : iterable of Note
        Issued notes of the case.
    until : date
        Last day that is asked for; the fine may have ended before it.
    """
    first, ended = fine_from(file), fine_until(file)
    if first is None:
        return []
    last = until if ended is None else min(until, ended)
    charged = {
        line.first_day + n * DAY
        for note in notes
        if note.kind == FINE
        for line in note.lines
        if line.first_day is not None and line.last_day is not None
        for n in range((line.last_day - line.first_day).days + 1)
    }
    found: list[FinedDays] = []
    for n in range((last - first).days + 1):
        day = first + n * DAY
        if day in charged:
            continue
        month = BillingMonth.of(day)
        if found and found[-1].month == month and found[-1].last == day - DAY:
            found[-1] = FinedDays(month, found[-1].first, day)
        else:
            found.append(FinedDays(month, day, day))
    return found


def by_share(span: FinedDays, share_on: Callable[[date], Figure]) -> list[tuple[FinedDays, Figure]]:
    """Part days of a month by the ``fine_share`` in force on each: an act counts from its own day, not from the month's first."""
    found: list[tuple[FinedDays, Figure]] = []
    for n in range(span.days):
        day = span.first + n * DAY
        share = share_on(day)
        if found and found[-1][1] == share:
            found[-1] = FinedDays(span.month, found[-1][0].first, day), share
        else:
            found.append((FinedDays(span.month, day, day), share))
    return found


def fine_line(
    span: FinedDays, base: Decimal, share: Decimal, article: str, rounding: str, edition: str | None
) -> NoteLine:
    """Charge some days of a month: share × the operator's monthly price × days, rounded once (art. 9 § 2).

    Parameters
    ----------
    span : FinedDays
    base : Decimal
        The operator's price of that whole month in reais, without what is doubled: the doubling of arts. 10 and 12 is a
        consequence of its own, and nothing in art. 9 lays one upon the other.
    share : Decimal
        The figure ``fine_share``.
    article, rounding, edition
        Of the figure, the policy, and the name of the map edition that the base was priced with.
    """
    amount = round_money(fraction(share) * fraction(base) * span.days, rounding)
    return NoteLine(
        month=span.month,
        what="multa diária",
        now=amount,
        before=ZERO,
        amount=amount,
        articles=(article,),
        edition=edition,
        rate=share,
        base=base,
        days=span.days,
        first_day=span.first,
        last_day=span.last,
    )
