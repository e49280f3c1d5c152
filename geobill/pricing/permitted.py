"""What decrees and removals make of stored rows: statuses and dates follow the permits; the rows themselves stay."""

from collections.abc import Mapping
from datetime import date
from typing import Any

import pandas as pd

from geobill.domain.network import PLANNED
from geobill.domain.permit import PermitFile
from geobill.pricing.in_force import day_of, text

PERMITTED = "permitted"


def follow_permits(frame: Any, files: Mapping[str, PermitFile], on: date | None = None) -> Any:
    """Rows as their permits leave them (arts. 2, 3): planned → permitted → removed, with dates.

    A row that is planned under a permit whose decree is issued becomes ``permitted``, from its own ``installed_on`` or
    from the decree's publication, whichever is later: nothing lawful stands before its decree. Rows of a removed permit
    end with it, or earlier by their own ``removed_on``.

    Parameters
    ----------
    frame : DataFrame
        Rows by ``frames.SEGMENTS`` or ``frames.EQUIPMENT``, as stored.
    files : mapping of permit's number to PermitFile
        Registered permits; rows that name none of them stay as they are.
    on : date, optional
        A day that is looked at: what was granted but isn't in the street on it yet stays ``planned``.

    Returns
    -------
    DataFrame
        A new frame with the same index; the one that came in isn't changed.
    """
    if not files or not len(frame):
        return frame
    rows = [_followed(row, files.get(text(row.permit) or ""), on) for row in frame.itertuples()]
    columns = {
        name: pd.Series([row[place] for row in rows], index=frame.index, dtype=object)
        for place, name in enumerate(("status", "installed_on", "removed_on"))
    }
    return frame.assign(**columns)


def _followed(row: Any, file: PermitFile | None, on: date | None) -> tuple[str, str | None, str | None]:
    """Status, first and last day of a row under its permit."""
    status, since, until = row.status, text(row.installed_on), text(row.removed_on)
    if file is None:
        return status, since, until
    published, removed = file.published_on, file.removed_on
    if status == PLANNED and published is not None:
        begins = max(published, day_of(since) or published)
        if on is None or begins <= on:
            status, since = PERMITTED, begins.isoformat()
    if removed is not None:
        until = min(removed, day_of(until) or removed).isoformat()
    return status, since, until
