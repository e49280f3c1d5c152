"""Rows follow their permits: planned → permitted → removed, with dates; the rows that come in stay as they are."""

from datetime import date

import pandas as pd
import pytest

from geobill.domain.permit import REMOVED, Act, Decree, Permit, PermitFile
from geobill.pricing.permitted import follow_permits

PUBLISHED = date(2026, 11, 5)


def file(published=PUBLISHED, removed=None):
    decrees = () if published is None else (Decree("1", "P1", published, "A", published, None),)
    acts = () if removed is None else (Act("P1", REMOVED, removed),)
    return {"P1": PermitFile(Permit("P1", "alfa"), acts, decrees)}


def row(status="planned", since=None, until=None, permit="P1"):
    columns = {"status": status, "installed_on": since, "removed_on": until, "permit": permit}
    return pd.DataFrame([columns], index=[7], dtype=object)


def followed(frame, files, on=None):
    out = follow_permits(frame, files, on)
    assert list(out.index) == list(frame.index)
    return tuple(out[["status", "installed_on", "removed_on"]].iloc[0])


@pytest.mark.parametrize(
    ("frame", "files", "expected"),
    [
        (row(), {}, ("planned", None, None)),
        (row(), file(published=None), ("planned", None, None)),
        (row(permit=None), file(), ("planned", None, None)),
        (row(permit="P2"), file(), ("planned", None, None)),
        (row(), file(), ("permitted", "2026-11-05", None)),
        (row(since="2026-12-01"), file(), ("permitted", "2026-12-01", None)),
        (row(since="2026-10-01"), file(), ("permitted", "2026-11-05", None)),  # nothing lawful before its decree
        (row(until="2027-01-31"), file(removed=date(2027, 2, 10)), ("permitted", "2026-11-05", "2027-01-31")),
        (row(until="2027-03-31"), file(removed=date(2027, 2, 10)), ("permitted", "2026-11-05", "2027-02-10")),
        (row(), file(published=None, removed=date(2027, 2, 10)), ("planned", None, "2027-02-10")),
        (row("existing", "2014-01-01"), file(removed=date(2027, 2, 10)), ("existing", "2014-01-01", "2027-02-10")),
        (row("clandestine"), file(), ("clandestine", None, None)),
    ],
)
def test_status_and_dates_follow(frame, files, expected):
    before = frame.copy()
    assert followed(frame, files) == expected
    pd.testing.assert_frame_equal(frame, before)


def test_what_is_granted_stays_planned_on_a_day_before_it_stands():
    assert followed(row(), file(), date(2026, 11, 4))[0] == "planned"
    assert followed(row(), file(), PUBLISHED)[0] == "permitted"
    assert followed(row(since="2026-12-01"), file(), date(2026, 11, 30)) == ("planned", "2026-12-01", None)
