"""Credits of an operator from waived revenue, to be set off in part against what it owes (art. 14)."""

from dataclasses import dataclass
from datetime import date
from decimal import Decimal


@dataclass(frozen=True)
class Credit:
    """A credit with the municipal law that grants it; ``amount`` in reais, as recorded."""

    id: str
    operator: str
    law: str
    amount: Decimal
    on: date
    reference: str = ""
    note: str = ""


@dataclass(frozen=True)
class OpenCredit:
    """A credit with what is left of it, in reais."""

    credit: Credit
    left: Decimal
