"""Which stored rows a month or a day concerns."""

from datetime import date, timedelta
from typing import Any

import numpy as np
import pandas as pd

from geobill.domain.dates import BillingMonth
from geobill.domain.network import DOUBLED, NOT_YET, PLANNED
from geobill.law.policy import Policy


def stands(row: Any, on: date) -> bool:
    """Whether a stored row stands in the street on a day."""
    installed, removed = day_of(row.installed_on), day_of(row.removed_on)
    return (installed is None or installed <= on) and (removed is None or on <= removed)


def day_of(value: Any) -> date | None:
    """Date of a stored ISO text; None where there is none."""
    return date.fromisoformat(str(value)) if text(value) else None


def text(value: Any) -> str | None:
    """Return a stored text; None where it is missing or blank."""
    return None if value is None or pd.isna(value) or value == "" else str(value)


def since_the_law(frame: Any, month: BillingMonth, published_on: date) -> Any:
    """Rows of the month in which the law was published: none of them is due before that day (arts. 12 § 2, 18)."""
    if not month.first_day < published_on <= month.last_day:
        return frame
    since = [max(day_of(v) or published_on, published_on).isoformat() for v in frame["installed_on"]]
    return frame.assign(installed_on=pd.Series(since, index=frame.index, dtype=object))


def due_rows(frame: Any, month: BillingMonth, policy: Policy) -> Any:
    """Rows in force on at least one day of the month, with the ``days`` that are charged (policy ``proration``).

    ``first_day`` and ``last_day`` are the days of the month between which they are, both included. What is planned
    isn't in force before its decree (arts. 2, 3), what is suspected not before its case is decided (art. 10 § 1). With
    ``full_month``, a row whose status a case changes within the month pays one month in all, split at the day of the change.
    """
    spans = [month.days_of_month(day_of(r.installed_on), day_of(r.removed_on)) for r in frame.itertuples()]
    due = [a <= b and status not in NOT_YET for (a, b), status in zip(spans, frame["status"], strict=True)]
    if policy.proration == "full_month":
        before = continued(frame.loc[np.array(due, dtype=bool)])
        after = set(before.values())
        spans = [
            (a if label in before else 1, b if label in after else month.days)
            for label, (a, b) in zip(frame.index, spans, strict=True)
        ]
    with_days = frame.assign(
        first_day=[a for a, _ in spans], last_day=[b for _, b in spans], days=[b - a + 1 for a, b in spans]
    )
    return with_days.loc[np.array(due, dtype=bool)]


def continued(frame: Any) -> dict[Any, Any]:
    """Rows that carry on another one, by their labels: the same thing in the same place from the day after its last.

    So a stored row comes that changes its status on a day (:func:`geobill.pricing.cased.follow_cases`).
    """
    name = "segment" if "segment" in frame.columns else "equipment"
    keys = frame[["operator", name]].itertuples(index=False, name=None)
    rows = list(zip(frame.index, keys, frame["installed_on"], frame["removed_on"], frame.geometry, strict=True))
    ended: dict[Any, list[tuple[Any, Any]]] = {}
    for label, key, _, last, drawn in rows:
        if text(last):
            ended.setdefault((key, day_of(last)), []).append((label, drawn))
    found = {}
    for label, key, first, _, drawn in rows:
        earlier = ended.get((key, date.fromisoformat(text(first) or "") - timedelta(days=1)), []) if text(first) else []
        for other, shape in earlier:
            if shape.equals_exact(drawn, 0.0):
                found[label] = other
    return found


def standing_rows(frame: Any, on: date, planned_under: str | None = None) -> Any:
    """Rows that stand on a day and aren't doubled, for its whole month: what a decree may grant (arts. 3, 10).

    ``planned_under`` adds what is planned under a permit. Days of the month as in :func:`due_rows`.
    """
    month = BillingMonth.of(on)
    kept = [_grantable(row, on, planned_under) for row in frame.itertuples()]
    whole = frame.assign(first_day=1, last_day=month.days, days=month.days)
    return whole.loc[np.array(kept, dtype=bool)]


def _grantable(row: Any, on: date, planned_under: str | None) -> bool:
    if row.status == PLANNED:
        removed = day_of(row.removed_on)
        return planned_under is not None and text(row.permit) == planned_under and (removed is None or on <= removed)
    return row.status not in DOUBLED | NOT_YET and stands(row, on)
