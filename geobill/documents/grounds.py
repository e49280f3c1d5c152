"""What the papers of a case say of the findings that it stands on: which, how many metres, where, at what price."""

from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any

from geobill.documents import words
from geobill.documents.finding_words import KIND_WORDS
from geobill.domain.dates import BillingMonth
from geobill.domain.detection import FieldFinding

MOST_NAMED = 40  # beyond them a paper that has an auto refers to its list


@dataclass(frozen=True)
class Ground:
    """A finding and where it is: a street, a zone, blank where nobody knows."""

    finding: FieldFinding
    where: str = ""


@dataclass(frozen=True)
class Price:
    """What the rows of a case cost in one whole month, once and as decided, in reais, and the months that passed.

    ``past_from`` and ``past_until`` are the first and the last month that the charge of past months takes over;
    ``past_amount`` is its sum where it was worked out, ``past_reference`` the number of its note where there is one.
    """

    month: BillingMonth
    once: Decimal
    double: Decimal
    past_from: BillingMonth | None = None
    past_until: BillingMonth | None = None
    past_amount: Decimal | None = None
    past_reference: str = ""


@dataclass(frozen=True)
class Grounds:
    """The findings of a case, the *auto de constatação* that shows them, and the price; None where nobody knows it.

    ``auto_digest`` is the SHA-256 that the auto prints as its record.
    """

    findings: tuple[Ground, ...]
    auto_on: date | None = None
    auto_reference: str = ""
    auto_digest: str = ""
    price: Price | None = None


def grounds_values(grounds: Grounds | None) -> dict[str, Any] | None:
    """Gather what the templates print of a case's findings; None where it stands on none."""
    if grounds is None or not grounds.findings:
        return None
    named = grounds.findings[:MOST_NAMED] if grounds.auto_digest else grounds.findings
    rest = grounds.findings[len(named) :]
    return {
        "rows": [
            {"number": n, "id": g.finding.id, "kind": KIND_WORDS[g.finding.kind], "size": size_of(g.finding), "where": g.where}
            for n, g in enumerate(named, 1)
        ],
        "somewhere": any(g.where for g in named),
        "count": len(grounds.findings),
        "rest": len(rest),
        "total_m": sum((g.finding.length_m for g in grounds.findings), Decimal("0.00")),
        "auto_on": grounds.auto_on,
        "auto_reference": grounds.auto_reference,
        "auto_digest": grounds.auto_digest,
        "price": grounds.price,
    }  # fmt: skip


def size_of(finding: FieldFinding) -> str:
    """Write how large a finding is: metres of a line, cubic metres of equipment, else one piece."""
    if not is_point(finding):
        return words.metres(finding.length_m)
    return "1 un." if finding.volume_m3 is None else f"{words.number(finding.volume_m3)}{words.NBSP}m³"


def is_point(finding: FieldFinding) -> bool:
    """Whether a finding is equipment, which has a place and no length."""
    return not finding.length_m
