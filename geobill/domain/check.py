"""A month drafted, checked and issued by people, and what differs from the month before."""

from dataclasses import dataclass
from decimal import Decimal

from geobill.domain.dates import BillingMonth

DRAFT_NUMBER = "RASCUNHO"  # stands on a draft where the invoice will have its number
DRAFTED, CHECKED, ISSUED = "drafted", "checked", "issued"


@dataclass(frozen=True)
class MonthCheck:
    """One step of a month that a person took: added, never changed.

    ``role`` is drafted, checked or issued, ``by`` the person's name as given (blank where nobody was named), ``digest``
    the SHA-256 of what the month demanded at that moment, ``at`` the moment in UTC as ISO text.
    """

    month: BillingMonth
    role: str
    by: str
    digest: str
    at: str
    note: str = ""


@dataclass(frozen=True)
class Cause:
    """Why an operator's month differs from the one before, in reais to the cent.

    ``segments`` counts the segments and cabinets concerned (by id), ``examples`` are the first few of their ids.
    ``length_m`` is their metres in this month, for what is removed in the month before; for a changed length it is the
    change, for what is held or released the metres that were.
    """

    cause: str
    segments: int
    length_m: Decimal
    amount: Decimal
    examples: tuple[str, ...] = ()


@dataclass(frozen=True)
class OperatorComparison:
    """One operator's month beside the month before: ``difference`` is the sum of the causes, to the cent.

    ``issued`` is whether ``previous_total`` stands on an issued invoice; else it is what the month before costs if it
    is priced now, None where it can't be.
    """

    operator: str
    previous_total: Decimal | None
    total: Decimal
    difference: Decimal | None
    issued: bool
    causes: tuple[Cause, ...]
