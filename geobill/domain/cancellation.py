"""The act that cancels an issued invoice: its number stays used, and the invoice stays in the ledger."""

from dataclasses import dataclass
from datetime import date


@dataclass(frozen=True)
class Cancellation:
    """Who cancelled an invoice, on which day and why; added, never changed."""

    invoice: str
    on: date
    by: str
    reason: str
