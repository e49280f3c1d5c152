"""A finding as it stands in the tables: what a survey found, and beside it what the acts come to."""

from collections.abc import Iterable, Sequence
from dataclasses import fields
from decimal import Decimal
from typing import Any

from sqlalchemy import FromClause, Select, select

from geobill.domain.detection import REPLACED, FieldFinding
from geobill.domain.money import from_cents, to_cents
from geobill.store.tables import Tables

MOST_BOUND = 500  # ids in one statement
DECIMALS = (
    "length_m", "offset_mean_m", "offset_p95_m", "offset_max_m", "confidence", "width_m", "permitted_width_m", "volume_m3",
    "permitted_volume_m3",
)  # fmt: skip
FIELDS = tuple(f.name for f in fields(FieldFinding) if f.name != "month_amount")


def joined(t: Tables) -> FromClause:
    """Join findings with their states."""
    return t.findings.join(t.finding_states, t.finding_states.c.finding == t.findings.c.id)


def finding_columns(t: Tables) -> list[Any]:
    """Return what `as_finding` needs of `joined`."""
    return [*(t.findings.c[n] for n in FIELDS), t.finding_states.c.month_cents]


def as_finding(row: Any) -> FieldFinding:
    """Make the record of a row that has `finding_columns`."""
    values = {n: getattr(row, n) for n in FIELDS}
    values |= {n: None if values[n] is None else Decimal(values[n]) for n in DECIMALS}
    return FieldFinding(**values, month_amount=None if row.month_cents is None else from_cents(int(row.month_cents)))


def as_row(finding: FieldFinding) -> dict[str, Any]:
    """Return a record as a row of the findings, without geometry and price."""
    row = {n: getattr(finding, n) for n in FIELDS}
    return row | {n: None if row[n] is None else f"{row[n]:f}" for n in DECIMALS}


def as_cents(amount: Decimal | None) -> str | None:
    """Return reais as they are kept beside a finding's state."""
    return None if amount is None else str(to_cents(amount))


def replaced(t: Tables) -> Select[tuple[str]]:
    """Surveys that were compared anew."""
    a = t.survey_acts.c
    return select(a.survey).where(a.kind == REPLACED)


def some(ids: Sequence[str]) -> Iterable[list[str]]:
    """Divide ids into as many as one statement may name."""
    for first in range(0, len(ids), MOST_BOUND):
        yield list(ids[first : first + MOST_BOUND])
