"""Rows follow their decided cases: double from a day to a day, lawful after it; the rows that come in stay as they are."""

from datetime import date
from decimal import Decimal

import geopandas as gpd
import pytest

from geobill.domain.case import (
    DEFENCE_LODGED,
    DISMISSED,
    DOUBLED,
    FORFEITED,
    INSTALLED,
    REGISTER_DELIVERED,
    REGULARISED,
    REMOVED,
    Case,
    CaseAct,
    CaseFile,
    doubled_from,
    doubled_until,
)
from geobill.domain.dates import BillingMonth
from geobill.domain.record import to_plain
from geobill.law.policy import parse_policy
from geobill.law.statutes import load_statute
from geobill.law.statutes.street_use import StreetUseLaw
from geobill.pricing.cased import follow_cases
from geobill.pricing.in_force import continued, due_rows
from geobill.pricing.lines import Prices, Stretch
from pricing.shapes import line

LAW = date(2001, 6, 27)
DECIDED = (DOUBLED, "2026-09-01")


def file(kind, *given, id_="C1", operator="alfa", segments=("S1",), permit=None):
    acts = tuple(CaseAct(id_, what, date.fromisoformat(on), note=note) for what, on, note in map(_three, given))
    return CaseFile(Case(id_, kind, operator, date(2026, 1, 1), "…", permit, segments), acts)


def _three(act):
    return (*act, "")[:3]


def frame(*rows):
    columns = ("segment", "operator", "status", "installed_on", "removed_on", "permit")
    data = {c: [row[n] for row in rows] for n, c in enumerate(columns)}
    made = gpd.GeoDataFrame(data, geometry=[line((0, n), (10, n)) for n, _ in enumerate(rows)], crs=31983)
    return made.astype(dict.fromkeys(columns, object))


def one(status="suspected", since=None, until=None, permit=None, id_="S1", operator="alfa"):
    return frame((id_, operator, status, since, until, permit))


def followed(rows, *files):
    before = rows.copy()
    out = follow_cases(rows, {f.case.id: f for f in files}, LAW)
    assert rows.equals(before)
    assert out.index.is_unique
    return [tuple(row) for row in out[["status", "installed_on", "removed_on", "permit"]].itertuples(index=False)]


@pytest.mark.parametrize(
    ("acts", "first", "last"),
    [
        ((), None, None),
        (((INSTALLED, "2019-03-12"),), None, None),  # proven, not decided
        ((DECIDED,), LAW, None),  # no day is proven: from the publication (art. 10 § 3)
        (((INSTALLED, "2019-03-12"), DECIDED), date(2019, 3, 12), None),
        (((INSTALLED, "2019-03-12"), (INSTALLED, "2019-04-01"), DECIDED), date(2019, 4, 1), None),  # proof put right
        (((INSTALLED, "1998-03-12"), DECIDED), LAW, None),  # never before the law
        ((DECIDED, (DISMISSED, "2026-10-01")), None, None),
        ((DECIDED, (REGULARISED, "2026-10-15", "P9")), LAW, date(2026, 10, 14)),
        ((DECIDED, (REMOVED, "2026-10-15")), LAW, date(2026, 10, 15)),
        ((DECIDED, (FORFEITED, "2026-10-15")), LAW, date(2026, 10, 14)),
        ((DECIDED, (REMOVED, "2026-11-15"), (REGULARISED, "2026-10-15", "P9")), LAW, date(2026, 10, 14)),
    ],
)
def test_from_when_and_until_when_a_case_doubles(acts, first, last):
    found = file("clandestine", *acts)
    assert doubled_from(found, LAW) == first
    if first is not None:
        assert doubled_until(found) == last


def test_only_articles_10_and_12_double():
    assert doubled_from(file("infraction", DECIDED), LAW) is None
    assert doubled_from(file("nonconformity", DECIDED), LAW) is None
    assert doubled_from(file("unregistered", DECIDED), LAW) == LAW


@pytest.mark.parametrize(
    ("row", "acts", "expected"),
    [
        # what is suspected is due on no day until its case is decided, or where it is dismissed
        (one(), (), [("suspected", None, None, None)]),
        (one(), ((DEFENCE_LODGED, "2026-08-01"),), [("suspected", None, None, None)]),
        (one(), ((DISMISSED, "2026-09-01"),), [("suspected", None, None, None)]),
        (one(), (DECIDED, (DISMISSED, "2026-10-01")), [("suspected", None, None, None)]),
        (one(), ((FORFEITED, "2026-09-01"),), [("suspected", None, "2026-08-31", None)]),
        (one(), (DECIDED,), [("clandestine", "2001-06-27", None, None)]),
        # the day in the file is no proof (art. 10 § 3)
        (one(since="2015-05-01"), (DECIDED,), [("clandestine", "2001-06-27", None, None)]),
        (one(), ((INSTALLED, "2019-03-12"), DECIDED), [("clandestine", "2019-03-12", None, None)]),
        # it ended in the file, or by the case
        (one(until="2020-01-31"), (DECIDED,), [("clandestine", "2001-06-27", "2020-01-31", None)]),
        (one(), (DECIDED, (REMOVED, "2026-10-15")), [("clandestine", "2001-06-27", "2026-10-15", None)]),
        (one(), ((REMOVED, "2026-08-15"),), [("suspected", None, "2026-08-15", None)]),
        # regularised: two rows in time
        (
            one(),
            (DECIDED, (REGULARISED, "2026-10-15", "P9")),
            [("clandestine", "2001-06-27", "2026-10-14", None), ("permitted", "2026-10-15", None, "P9")],
        ),
        (one(), ((REGULARISED, "2026-10-15", "P9"),), [("permitted", "2026-10-15", None, "P9")]),
        (
            one(),
            (DECIDED, (REGULARISED, "2026-10-15", "P9"), (REMOVED, "2026-12-01")),
            [("clandestine", "2001-06-27", "2026-10-14", None), ("permitted", "2026-10-15", "2026-12-01", "P9")],
        ),
        # a row that was charged before keeps its status until the proven day
        (
            one("permitted", "2010-01-01", permit="P1"),
            ((INSTALLED, "2019-03-12"), DECIDED),
            [("permitted", "2010-01-01", "2019-03-11", "P1"), ("clandestine", "2019-03-12", None, "P1")],
        ),
        (one("permitted", "2010-01-01"), (DECIDED,), [("clandestine", "2001-06-27", None, None)]),
        (one("permitted"), (), [("permitted", None, None, None)]),
        (
            one("planned", permit="P1"),
            ((INSTALLED, "2026-03-12"), DECIDED),
            [("clandestine", "2026-03-12", None, "P1")],
        ),
    ],
)
def test_rows_of_clandestine_cases(row, acts, expected):
    assert followed(row, file("clandestine", *acts)) == expected


@pytest.mark.parametrize(
    ("row", "acts", "expected"),
    [
        (one(), (), [("suspected", None, None, None)]),
        (one(), (DECIDED,), [("unregistered", "2001-06-27", None, None)]),
        (
            one("existing"),
            (DECIDED, (REGISTER_DELIVERED, "2026-10-15")),
            [("unregistered", "2001-06-27", "2026-10-14", None), ("existing", "2026-10-15", None, None)],
        ),
        (one("existing"), (), [("existing", None, None, None)]),
        (
            one(),
            (DECIDED, (REGISTER_DELIVERED, "2026-10-15"), (REGULARISED, "2026-12-01", "P9")),
            [
                ("unregistered", "2001-06-27", "2026-10-14", None),
                ("existing", "2026-10-15", "2026-11-30", None),
                ("permitted", "2026-12-01", None, "P9"),
            ],
        ),
    ],
)
def test_rows_of_unregistered_cases(row, acts, expected):
    assert followed(row, file("unregistered", *acts)) == expected


def test_both_doublings_at_once_and_one_after_the_other():
    clandestine = file("clandestine", (INSTALLED, "2019-03-12"), DECIDED)
    unregistered = file("unregistered", DECIDED, (REGISTER_DELIVERED, "2026-10-15"), id_="C2")
    assert followed(one(), clandestine, unregistered) == [
        ("unregistered", "2001-06-27", "2019-03-11", None),
        ("clandestine_unregistered", "2019-03-12", "2026-10-14", None),
        ("clandestine", "2026-10-15", None, None),
    ]


def test_only_the_rows_that_are_named_and_are_the_operator_s():
    rows = frame(
        ("S1", "alfa", "suspected", None, None, None),
        ("S2", "alfa", "suspected", None, None, None),
        ("S1", "beta", "suspected", None, None, None),
    )
    done = (DECIDED, (REGULARISED, "2026-10-15", "P9"))
    out = follow_cases(rows, {"C1": file("clandestine", *done), "C2": file("infraction", DECIDED, id_="C2")}, LAW)
    assert list(out["status"]) == ["clandestine", "permitted", "suspected", "suspected"]
    assert list(out.index) == [0, 3, 1, 2]  # the first keeps its label
    assert out.crs == rows.crs
    assert follow_cases(rows, {}, LAW) is rows


def test_a_month_in_which_a_row_changes_is_charged_once_whatever_the_proration():
    done = ((INSTALLED, "2019-03-12"), DECIDED, (REGULARISED, "2026-10-15", "P9"))
    rows = follow_cases(one(), {"C1": file("clandestine", *done)}, LAW)
    assert continued(rows) == {1: 0}
    october, november = BillingMonth(2026, 10), BillingMonth(2026, 11)
    for proration in ("daily", "full_month"):
        policy = parse_policy({"proration": proration})
        due = due_rows(rows, october, policy)
        assert list(due[["status", "first_day", "last_day", "days"]].itertuples(index=False, name=None)) == [
            ("clandestine", 1, 14, 14),
            ("permitted", 15, 31, 17),
        ]
        assert list(due_rows(rows, november, policy)["days"]) == [30]
    begun = due_rows(rows, BillingMonth(2019, 3), parse_policy({"proration": "full_month"}))
    assert list(begun["days"]) == [31]


def test_two_rows_of_one_name_that_lie_elsewhere_are_two():
    rows = frame(
        ("S1", "alfa", "permitted", None, "2026-10-14", None), ("S1", "alfa", "permitted", "2026-10-15", None, None)
    )
    assert continued(rows) == {}
    assert list(due_rows(rows, BillingMonth(2026, 10), parse_policy({"proration": "full_month"}))["days"]) == [31, 31]


def test_a_row_says_by_which_cases_it_is_charged_and_only_on_their_days():
    done = ((INSTALLED, "2019-03-12"), DECIDED, (REGULARISED, "2026-10-15", "P9"))
    mine = file("clandestine", *done)
    both = file("clandestine", (INSTALLED, "2020-01-01"), DECIDED, (REMOVED, "2026-10-20"), id_="C2")
    rows = frame(("S1", "alfa", "suspected", None, None, None), ("S2", "alfa", "clandestine", None, None, None))
    out = follow_cases(rows, {"C1": mine, "C2": both}, LAW)
    assert [(r.segment, r.status, r.installed_on, r.removed_on, r.cases) for r in out.itertuples()] == [
        ("S1", "clandestine", "2019-03-12", "2019-12-31", ("C1",)),
        ("S1", "clandestine", "2020-01-01", "2026-10-14", ("C1", "C2")),
        ("S1", "clandestine", "2026-10-15", "2026-10-20", ("C2",)),
        ("S2", "clandestine", None, None, ()),  # doubled by its file, not by a case
    ]
    undecided = {"C1": file("clandestine")}
    assert set(follow_cases(rows, undecided, LAW)["cases"]) == {()}


def test_what_different_cases_charge_stands_on_different_lines():
    prices = Prices(
        StreetUseLaw(load_statute("caieiras-lei-3057-2001").figures), BillingMonth(2026, 11), parse_policy({})
    )

    def stretch(name, *cases):
        figures = (Decimal(200), Decimal(100), Decimal("0.5"))
        return Stretch(name, None, None, "clandestine", "Z", *figures, 30, None, (), cases=cases)

    rows = [stretch("S1", "C1"), stretch("S2", "C2"), stretch("S3", "C1"), stretch("S4")]
    lines = prices.network_lines(rows, Decimal("1.00")).values()
    # 100 m × 0.50 × R$ 200 × 0.03 × 0.50 × 2 = R$ 300.00
    assert sorted((li.cases, li.length_m, li.amount) for li in lines) == [
        ((), Decimal(100), Decimal("300.00")),
        (("C1",), Decimal(200), Decimal("600.00")),
        (("C2",), Decimal(100), Decimal("300.00")),
    ]
    # a line without a case is written as it was before lines had one
    assert "cases" not in next(to_plain(li) for li in lines if not li.cases)
