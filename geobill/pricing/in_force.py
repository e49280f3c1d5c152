"""Which stored rows a month or a day concerns."""

from datetime import date
from typing import Any

import numpy as np
import pandas as pd

from geobill.domain.dates import BillingMonth
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


def due_rows(frame: Any, month: BillingMonth, policy: Policy) -> Any:
    """Rows in force on at least one day of the month, with the ``days`` that are charged (policy ``proration``)."""
    days = [month.days_in_force(day_of(r.installed_on), day_of(r.removed_on)) for r in frame.itertuples()]
    charged = [month.days if d and policy.proration == "full_month" else d for d in days]
    return frame.assign(days=charged).loc[np.array([d > 0 for d in days], dtype=bool)]


def standing_rows(frame: Any, on: date) -> Any:
    """Rows that stand on a day and aren't clandestine: what a decree may grant (arts. 3, 10)."""
    kept = [stands(row, on) and row.status != "clandestine" for row in frame.itertuples()]
    return frame.loc[np.array(kept, dtype=bool)]
