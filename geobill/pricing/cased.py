"""What decided cases make of stored rows: statuses and dates follow the cases; the rows themselves stay."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import Any

import numpy as np
import pandas as pd

from geobill.domain import case as acts
from geobill.domain.case import Case, CaseFile, doubled_from, doubled_until
from geobill.domain.network import NOT_YET
from geobill.pricing.in_force import day_of, text

PERMITTED, EXISTING, BOTH = "permitted", "existing", "clandestine_unregistered"
CASES = "cases"  # the column that this adds to a frame
DAY = timedelta(days=1)


@dataclass(frozen=True)
class Stay:
    """Days of a row under one status, both included; None where they are open. ``cases`` are those that charge it on them."""

    status: str
    permit: str | None
    since: date | None
    until: date | None
    cases: tuple[str, ...] = ()


def follow_cases(frame: Any, files: Mapping[str, CaseFile], law_published_on: date) -> Any:
    """Rows as their decided cases leave them (arts. 10, 12): charged double from a day to a day, lawful after it.

    A row that a case names by its id and whose operator is the case's is ``clandestine`` or ``unregistered`` (both:
    ``clandestine_unregistered``) from :func:`doubled_from` to :func:`doubled_until`; ``permitted`` from the day on which it
    was regularised, under that permit; ``existing`` from the day on which its register was delivered; it ends on its last
    day in the street, and the day before it was forfeited. The row's own ``installed_on`` proves nothing against the law's
    presumption (art. 10 § 3). What is suspected and not decided, or dismissed, stays as it is: due on no day.

    Parameters
    ----------
    frame : DataFrame
        Rows by ``frames.SEGMENTS`` or ``frames.EQUIPMENT``, as stored; permits are followed afterwards
        (:func:`geobill.pricing.permitted.follow_permits`).
    files : mapping of case's id to CaseFile
    law_published_on : date
        The statute's publication: nothing is due before it.

    Returns
    -------
    DataFrame
        A new frame. A row whose status changes on a day becomes one row for each status, days apart, with the same id;
        the first keeps its label, the others follow after the last label. Where cases name rows, ``cases`` are the ids of
        those that charge a row, in the order in which they were opened; empty for every other row.
    """
    by_row = _by_row(frame, files)
    if not by_row:
        return frame
    stays = {place: _stays(row, named, law_published_on) for place, (row, named) in by_row.items()}
    counts = np.ones(len(frame), dtype=np.int64)
    for place, found in stays.items():
        counts[place] = len(found)
    starts = np.cumsum(counts) - counts
    made = frame.iloc[np.repeat(np.arange(len(frame)), counts)]
    columns = {name: made[name].astype(object).tolist() for name in ("status", "permit", "installed_on", "removed_on")}
    columns[CASES] = [()] * len(made)
    for place, found in stays.items():
        for row, stay in enumerate(found, starts[place]):
            said = (stay.status, stay.permit, _iso(stay.since), _iso(stay.until), stay.cases)
            for name, value in zip(columns, said, strict=True):
                columns[name][row] = value
    made.index = _unique(made.index)
    return made.assign(**{n: pd.Series(v, index=made.index, dtype=object) for n, v in columns.items()})


def _by_row(frame: Any, files: Mapping[str, CaseFile]) -> dict[int, tuple[Any, list[CaseFile]]]:
    """Return each row that cases name with those cases, by its place."""
    name = "segment" if "segment" in frame.columns else "equipment"
    by_id: dict[tuple[str, str], list[CaseFile]] = {}
    for file in files.values():
        if file.case.kind in (acts.CLANDESTINE, acts.UNREGISTERED):
            for id_ in file.case.segments if name == "segment" else file.case.equipment:
                by_id.setdefault((file.case.operator, id_), []).append(file)
    if not by_id or not len(frame):
        return {}
    places = np.flatnonzero(frame[name].isin([id_ for _, id_ in by_id]).to_numpy())
    rows = zip(places, frame.iloc[places].itertuples(), strict=True)
    return {p: (row, by_id[key]) for p, row in rows if (key := (row.operator, getattr(row, name))) in by_id}


def _stays(row: Any, files: Sequence[CaseFile], published: date) -> list[Stay]:
    """Split a row's life at the days on which a case changes what it is."""
    own, since, until = text(row.permit), day_of(row.installed_on), day_of(row.removed_on)
    doubled = [(f.case, first, doubled_until(f)) for f in files if (first := doubled_from(f, published))]
    lawful = sorted((event for f in files for event in _lawful_from(f)), key=lambda event: event[0])
    ends = [a.on for f in files for a in f.acts_of(acts.REMOVED)]
    ends += [a.on - DAY for f in files for a in f.acts_of(acts.FORFEITED)]
    end = min(ends + ([until] if until else []), default=None)
    days = {first for _, first, _ in doubled} | {last + DAY for _, _, last in doubled if last} | {d for d, *_ in lawful}
    if row.status in NOT_YET:
        starts = sorted(days)  # the days before are due to nobody and make no row of their own
    else:
        begins = min([since or date.min, *(first for _, first, _ in doubled)])
        starts = sorted({begins} | {d for d in days if d > begins})
    found: list[Stay] = []
    for place, first in enumerate(starts):
        last = starts[place + 1] - DAY if place + 1 < len(starts) else None
        last = min((d for d in (last, end) if d), default=None)
        if last is not None and (last < first or last < published):
            continue
        status, permit, cases = _status(first, doubled, lawful) or (row.status, own, ())
        stay = Stay(status, permit or own, None if first == date.min else first, last, cases)
        if found and replace(found[-1], since=stay.since, until=last) == stay:
            stay = replace(stay, since=found.pop().since)
        found.append(stay)
    return found or [Stay(row.status, own, since, end)]


def _lawful_from(file: CaseFile) -> list[tuple[date, str, str | None]]:
    """Return the days from which a case's rows are lawful, with their status and permit."""
    events: list[tuple[date, str, str | None]] = [
        (a.on, PERMITTED, a.note or file.case.permit) for a in file.acts_of(acts.REGULARISED)
    ]
    return events + [(a.on, EXISTING, None) for a in file.acts_of(acts.REGISTER_DELIVERED)]


def _status(
    on: date, doubled: Sequence[tuple[Case, date, date | None]], lawful: Sequence[tuple[date, str, str | None]]
) -> tuple[str, str | None, tuple[str, ...]] | None:
    """Status and permit that the cases give on a day, and which charge it; None where they say nothing of it."""
    charging = [case for case, first, last in doubled if first <= on and (last is None or on <= last)]
    kinds = {case.kind for case in charging}
    if kinds:
        return (BOTH if len(kinds) > 1 else kinds.pop()), None, tuple(case.id for case in charging)
    since = [(status, permit, ()) for day, status, permit in lawful if day <= on]
    granted = [event for event in since if event[0] == PERMITTED]  # a decree says more than a register
    return next(reversed(granted or since), None)


def _unique(labels: pd.Index) -> pd.Index:
    """Labels in which the first of each stays and the repeated ones are new."""
    repeated = labels.duplicated()
    new = iter(range(int(labels.max()) + 1, int(labels.max()) + 1 + int(repeated.sum())))
    return pd.Index([next(new) if again else label for label, again in zip(labels, repeated, strict=True)])


def _iso(day: date | None) -> str | None:
    return None if day is None else day.isoformat()
