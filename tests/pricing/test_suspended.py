"""What courts suspend: which metres, which days, which part of a price; and that nothing is lost or made by it."""

from dataclasses import replace
from datetime import date
from decimal import Decimal

import geopandas as gpd
import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st

from geobill.domain.dates import BillingMonth
from geobill.domain.invoice import Basis
from geobill.domain.network import Operator
from geobill.domain.record import from_plain, to_plain
from geobill.domain.suspension import Lifting, Suspension, SuspensionFile
from geobill.frames import EQUIPMENT, SEGMENTS
from geobill.law.policy import parse_policy
from geobill.law.statutes import load_statute
from geobill.pricing.price import price_segments
from geobill.pricing.suspended import amount_articles, concerning
from pricing.shapes import box, line, zone_frame

D = Decimal
TOWN = zone_frame(("Z1", "100", box(0, 0, 500, 300)), ("Z2", "80", box(500, 0, 8000, 300)))
OPERATORS = {
    "alfa": Operator("alfa", "Alfa", service="Telecomunicações"),
    "beta": Operator("beta", "Beta"),
    "daec": Operator("daec", "DAEC", kind="municipal"),
}
LAW = load_statute("caieiras-lei-3057-2001")
NOVEMBER, LEAP = "2026-11", "2024-02"
YEARS_AGO = date(2020, 1, 1)


def segment(metres=100, y=50, x=10, **row):
    """A straight segment of so many metres, 0.50 m wide, in Z1: R$ 75.00 a month for 100 m."""
    base = {"operator": "alfa", "status": "permitted", "width_m": "0.5", "permit": "P1"}
    return {**base, "geometry": shapely.MultiLineString([line((x, y), (x + metres, y))]), **row}


def frame(columns, name, rows):
    """Rows with all the columns of a contract."""
    data = [{**dict.fromkeys(columns), name: f"{name[0]}{n}", "source_row": n, **row} for n, row in enumerate(rows, 1)]
    made = gpd.GeoDataFrame(data, columns=list(columns), geometry="geometry", crs=31983)
    return made.astype({c: object for c in columns if c not in ("geometry", "source_row")})


def cabinet(volume="2", at=(20, 20), **row):
    """A cabinet of R$ 300.00 a month."""
    base = {"operator": "alfa", "status": "permitted", "volume_m3": volume, "permit": "P1"}
    return {**base, "geometry": shapely.Point(line(at, (at[0], at[1] + 1)).coords[0]), **row}


def order(name="S1", articles=("7",), from_on=YEARS_AGO, **more):
    """An order against all that alfa pays, unless said otherwise."""
    given = {"operator": "alfa", **more}
    area = given.pop("area", None)
    wkt = None if area is None else shapely.to_wkt(area, rounding_precision=-1)
    kind = ("injunction", "accrues")
    return SuspensionFile(Suspension(name, f"case {name}", "TJSP", *kind, articles, from_on, area_wkt=wkt, **given))


def price(rows, *orders, boxes=(), month=NOVEMBER, **policy):
    return price_segments(
        BillingMonth.parse(month),
        frame(SEGMENTS, "segment", rows),
        frame(EQUIPMENT, "equipment", boxes),
        TOWN,
        OPERATORS,
        LAW,
        parse_policy(policy),
        {},
        Basis("x", "x", None, None, (), ()),
        suspensions=orders,
    )


def of(priced, operator="alfa"):
    return next(o for o in priced.bill.operators if o.operator.id == operator)


def amounts(priced, operator="alfa"):
    """What is demanded, and what each order takes."""
    mine = of(priced, operator)
    return mine.total, {s.suspension: s.total for s in mine.suspended}


def every_line(mine):
    """Lines that are demanded, then those that orders take."""
    return [*mine.lines, *(one for s in mine.suspended for one in s.lines)]


def test_the_whole_network_is_priced_set_apart_and_still_sets_r():
    rows = [segment(5200, status="existing", x=510), segment(100, 60, operator="beta")]
    plain, found = price(rows), price(rows, order())
    mine = of(found)
    assert mine.lines == ()
    assert mine.total == 0
    assert mine.reducer == of(plain).reducer == D("0.90")
    assert mine.network_length_m == D("5200.00")
    (taken,) = mine.suspended
    assert taken.lines == of(plain).lines
    assert taken.total == of(plain).total > 0
    assert (taken.court_case, taken.court, taken.effect, taken.length_m) == ("case S1", "TJSP", "accrues", D("5200.00"))
    assert found.bill.suspended == mine.suspended
    assert of(found, "beta") == of(plain, "beta")
    books = found.bill.metres
    assert (books.stored, books.priced, books.suspended) == (5300, 100, 5200)
    assert mine.whole_month == of(plain).whole_month  # what a decree grants and a deposit is taken of stays as it is


@pytest.mark.parametrize(
    ("limits", "taken_from"),
    [
        ({"permit": "P2"}, {"s2"}),
        ({"service": "TELECOMUNICACOES", "operator": None}, {"s1", "s2", "s4"}),  # s1 and s2 name none: the operator's
        ({"service": "energia", "operator": None}, {"s3"}),
        ({"service": "energia", "permit": "P1"}, {"s3"}),
        ({"permit": "P9"}, set()),
        ({"operator": "beta"}, set()),
    ],
)
def test_an_order_reaches_what_it_names(limits, taken_from):
    services = ({"y": 70, "service": "energia"}, {"y": 80, "service": "telecomunicações"})
    rows = [segment(), segment(y=60, permit="P2"), *(segment(**more) for more in services)]
    pieces = price(rows, order(**limits)).pieces
    assert set(pieces[pieces["suspended"] == "S1"]["segment"]) == taken_from
    assert (pieces["line"].isna() == pieces["suspended"].notna()).all()


def test_half_a_line_lies_in_the_area():
    rows = [segment(100.01), segment(y=200)]
    found = price(rows, order(area=box(0, 0, 60, 100)))
    mine, (taken,) = of(found), of(found).suspended
    assert taken.length_m == D("50.00")
    assert found.bill.metres.priced == D("150.01")
    (kept,) = mine.lines
    assert (kept.length_m, kept.amount, taken.total) == (D("150.01"), D("112.51"), D("37.50"))
    assert mine.features.suspended == mine.features.priced == 1
    assert found.pieces["length_m"].sum() == D("200.01")


def test_an_area_of_several_polygons_with_a_hole_and_a_cabinet_in_the_hole():
    area = shapely.union_all([box(0, 0, 40, 100) - box(15, 15, 25, 25), box(90, 0, 130, 100)])
    boxes = [cabinet(at=(20, 20)), cabinet(at=(30, 30))]
    found = price([segment()], order(area=area), boxes=boxes)
    (taken,) = of(found).suspended
    assert taken.length_m == D("50.00")  # 10 to 40 and 90 to 110
    assert [(line.kind, line.amount) for line in taken.lines] == [("network", D("37.50")), ("equipment", D("300.00"))]
    assert of(found).total == D("337.50")
    assert found.cabinets["suspended"].tolist() == [None, "S1"]


def test_parts_in_the_area_add_up_to_the_pieces_of_the_plain_month():
    rows = [segment(333.337, x=400.003), segment(200.005, y=90, x=450.0025)]  # each over the border of two zones
    plain = price(rows).pieces.groupby(["segment", "zone"])["length_m"].sum()
    for edge in (420.001, 470.0049, 499.9951, 555.5555, 640):
        parted = price(rows, order(area=box(0, 0, edge, 300))).pieces.groupby(["segment", "zone"])["length_m"].sum()
        assert parted.equals(plain), edge


@pytest.mark.parametrize(
    ("month", "days", "row", "demanded", "suspended"),
    [
        (NOVEMBER, ("2026-11-11", None), {}, 10, 20),
        (NOVEMBER, ("2020-01-01", "2026-11-10"), {}, 20, 10),
        (NOVEMBER, ("2026-11-30", "2026-11-30"), {}, 29, 1),
        (NOVEMBER, ("2026-11-11", "2026-11-20"), {"installed_on": "2026-11-16"}, 10, 5),
        (NOVEMBER, ("2026-11-11", None), {"removed_on": "2026-11-10"}, 10, 0),
        (NOVEMBER, ("2026-12-01", None), {}, 30, 0),
        (NOVEMBER, ("2020-01-01", "2026-10-31"), {}, 30, 0),
        (LEAP, ("2024-02-29", None), {}, 28, 1),
        (LEAP, ("2024-01-01", "2024-02-01"), {}, 28, 1),
        (LEAP, ("2024-02-01", "2024-02-29"), {}, 0, 29),
    ],
)
def test_an_order_takes_its_days_only(month, days, row, demanded, suspended):
    since, until = (d and date.fromisoformat(d) for d in days)
    found = price([segment(**row)], order(from_on=since, until_on=until), month=month)
    mine = of(found)
    assert [line.days for line in mine.lines] == ([demanded] if demanded else [])
    assert [line.days for s in mine.suspended for line in s.lines] == ([suspended] if suspended else [])
    assert mine.metres.suspended == (D("100.00") if suspended else 0)
    assert mine.metres.close()
    for lines in (mine.lines, *(s.lines for s in mine.suspended)):
        for printed in lines:
            assert printed.amount == round(D(75) * printed.days / printed.month_days, 2)


def test_an_order_counts_its_days_where_the_month_is_charged_whole():
    found = price([segment(installed_on="2026-11-16")], order(from_on=date(2026, 11, 11)), proration="full_month")
    assert amounts(found) == (D("25.00"), {"S1": D("50.00")})


@pytest.mark.parametrize(
    ("status", "articles", "demanded", "suspended"),
    [
        ("clandestine", ("10 § 2",), "75.00", "75.00"),
        ("clandestine", ("12 § 3",), "150.00", None),
        ("unregistered", ("12 § 3",), "75.00", "75.00"),
        ("permitted", ("10 § 2", "12 § 3"), "75.00", None),
        ("clandestine_unregistered", ("10 § 2",), "150.00", None),  # the other article still doubles
        ("clandestine_unregistered", ("10 § 2", "12 § 3"), "75.00", "75.00"),
        ("clandestine", ("7",), "0.00", "150.00"),
        ("clandestine", ("7 § 2",), "150.00", None),
    ],
)
def test_what_an_article_takes(status, articles, demanded, suspended):
    found = price([segment(status=status)], order(articles=articles))
    assert amounts(found) == (D(demanded), {} if suspended is None else {"S1": D(suspended)})
    for printed in every_line(of(found)):
        assert printed.amount == printed.exact  # each printed line is the product of its factors
    assert of(found).metres.close()


def test_only_the_doubling_from_the_middle_of_the_month():
    found = price([segment(status="clandestine")], order(articles=("10 § 2",), from_on=date(2026, 11, 16)))
    mine, (taken,) = of(found), of(found).suspended
    factors = [(printed.multiplier, printed.days, printed.amount) for printed in every_line(mine)]
    assert factors == [(2, 15, D("75.00")), (1, 15, D("37.50")), (1, 15, D("37.50"))]
    assert "10 § 2" in taken.lines[0].articles
    assert (mine.metres.priced, mine.metres.suspended) == (0, 100)
    assert (taken.length_m, taken.again_m) == (D("100.00"), D("200.00"))
    assert found.pieces["stretch"].tolist() == [1, 1, 1]
    assert sorted(found.pieces["takes"].dropna()) == ["doubling"]


def test_cumulated_doublings_fall_one_after_the_other():
    rows = [segment(status="clandestine_unregistered")]
    both = (order("S1", ("10 § 2",)), order("S2", ("12 § 3",)))
    assert amounts(price(rows, *both[:1], doublings_cumulate="true")) == (D("150.00"), {"S1": D("150.00")})
    assert amounts(price(rows, *both, doublings_cumulate="true")) == (D("75.00"), {"S1": D("150.00"), "S2": D("75.00")})
    assert amounts(price(rows, *both)) == (D("75.00"), {"S2": D("75.00")})  # not cumulated: only the last one lowers it


def test_cabinets_only():
    boxes = [cabinet(), cabinet(status="clandestine", at=(30, 30))]
    found = price([segment()], order(articles=("7 § 2",)), boxes=boxes)
    assert amounts(found) == (D("75.00"), {"S1": D("900.00")})
    mine = of(found)
    assert {line.kind for s in mine.suspended for line in s.lines} == {"equipment"}
    assert (mine.features.priced, mine.features.suspended, mine.metres.suspended) == (1, 2, 0)
    single = price([], order(articles=("10 § 2",)), boxes=boxes)
    assert amounts(single) == (D("600.00"), {"S1": D("300.00")})


@pytest.mark.parametrize(
    ("first", "second", "taken"),
    [
        ({}, {}, {"S1": "75.00"}),
        ({"articles": ("10 § 2",)}, {}, {"S2": "150.00"}),  # the whole price goes before the doubling
        ({"until_on": date(2026, 11, 15)}, {"from_on": date(2026, 11, 11)}, {"S1": "37.50", "S2": "37.50"}),
        ({"permit": "P2"}, {}, {"S2": "75.00"}),
        ({"area": box(0, 0, 60, 300)}, {}, {"S1": "37.50", "S2": "37.50"}),
        ({"area": box(0, 0, 60, 300)}, {"area": box(50, 0, 90, 300)}, {"S1": "37.50", "S2": "22.50"}),
    ],
)
def test_two_orders_on_one_stretch_take_it_once(first, second, taken):
    status = "clandestine" if "articles" in first else "permitted"
    found = price([segment(status=status)], order("S1", **first), order("S2", **second))
    total, suspended = amounts(found)
    assert suspended == {name: D(amount) for name, amount in taken.items()}
    assert total + sum(suspended.values()) == of(price([segment(status=status)])).total
    assert of(found).metres.suspended <= 100


def test_what_is_held_exempt_or_paid_elsewhere_stays_as_it_is():
    rows = [segment(100, 350), segment(operator="daec"), segment(100, 80, width_m="0.8"), segment(100, 80.1)]
    everybody = [order(), order("S2", operator="daec")]
    plain, found = price(rows, same_strip="once"), price(rows, *everybody, same_strip="once")
    assert found.bill.held == plain.bill.held != ()
    assert found.bill.exempt == plain.bill.exempt != ()
    mine = of(found)
    assert (mine.metres.held, mine.metres.priced, mine.metres.suspended) == (100, 100, 100)
    assert [s.suspension for s in found.bill.suspended] == ["S1"]
    assert (mine.features.held, mine.features.priced, mine.features.suspended) == (1, 1, 1)
    silent = price([segment(), segment(200, 60, x=550)], order(), reducer_scope="permit")
    assert of(silent).metres.suspended == 300


def test_a_lifted_order_ends_the_day_before_and_gives_back_only_the_months_that_are_said():
    whole = order(from_on=date(2026, 1, 1))

    def lifted(first, last):
        return replace(whole, lifting=Lifting("S1", date(2026, 11, 11), "Ana", "Acórdão", first, last, False))

    rows = [segment()]
    nothing = (D("75.00"), {})
    all_of_it = (D("0.00"), {"S1": D("75.00")})
    assert amounts(price(rows, lifted(None, None))) == (D("50.00"), {"S1": D("25.00")})
    assert amounts(price(rows, lifted(None, None), month="2026-10")) == all_of_it
    assert amounts(price(rows, lifted(None, None), month="2026-12")) == nothing
    back = lifted("2026-09", "2026-10")
    assert [amounts(price(rows, back, month=f"2026-{m:02}")) for m in (8, 9, 10)] == [all_of_it, nothing, nothing]
    assert amounts(price(rows, back)) == (D("50.00"), {"S1": D("25.00")})
    assert amounts(price(rows, lifted("2026-11", "2026-11"))) == nothing
    assert from_plain(SuspensionFile, to_plain(back)) == back


def test_articles_that_carry_an_amount_are_those_of_the_statute():
    found = amount_articles(LAW.figures)
    assert {k: set(v) for k, v in found.items()} == {
        "network": {"7"},
        "equipment": {"7 § 2"},
        "clandestine": {"10 § 2"},
        "unregistered": {"12 § 3"},
    }


def test_only_orders_that_speak_of_an_operators_rows_are_kept_with_its_invoice():
    rows, month = frame(SEGMENTS, "segment", [segment()]), BillingMonth(2026, 11)
    files = [order("S1"), order("S2", permit="P2"), order("S3", operator=None, service="telecomunicações"),
             order("S4", from_on=date(2026, 12, 1)), order("S5", operator="beta")]  # fmt: skip
    assert [f.suspension.id for f in concerning(files, month, OPERATORS["alfa"], [rows])] == ["S1", "S3"]


# -- properties

STATUSES = ("permitted", "existing", "clandestine", "unregistered", "clandestine_unregistered")
DAYS = st.integers(1, 30).map(lambda d: date(2026, 11, d))
SEGMENT = st.builds(
    lambda cm, x, y, status, permit, since: segment(
        cm / 100, y, x / 1000, status=status, permit=permit, installed_on=f"2026-11-{since:02}"
    ),
    st.integers(1, 60000),
    st.integers(0, 500000),
    st.integers(10, 290),
    st.sampled_from(STATUSES),
    st.sampled_from(["P1", "P2", None]),
    st.integers(1, 30),
)
AREA = st.builds(lambda x, w, y, h: box(x, y, x + w, y + h), *(st.floats(1, 400) for _ in range(4)))
ORDER = st.fixed_dictionaries(
    {
        "articles": st.sampled_from([("7",), ("7 § 2",), ("10 § 2",), ("12 § 3",), ("10 § 2", "12 § 3"), ("7", "10 § 2")]),
        "from_on": DAYS,
        "permit": st.sampled_from([None, None, "P1", "P2"]),
        "area": st.none() | AREA,
    }
)  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(st.lists(SEGMENT, min_size=1, max_size=5), st.lists(ORDER, max_size=3), st.booleans(), st.booleans())
def test_nothing_is_lost_or_made_by_orders(rows, orders, cumulate, by_permit):
    policy = {"doublings_cumulate": str(cumulate).lower(), "reducer_scope": "permit" if by_permit else "operator"}
    files = [order(f"S{n}", **o) for n, o in enumerate(orders)]
    boxes = [cabinet("1.5", (20, 20), status="clandestine"), cabinet("0.333", (300, 100), permit="P2")]
    plain, found = price(rows, boxes=boxes, **policy), price(rows, *files, boxes=boxes, **policy)
    was, now = of(plain), of(found)
    # metres and rows: to the centimetre, by operator and in total
    assert now.metres.close()
    assert found.bill.metres.close()
    assert now.features.close()
    assert now.metres.stored == was.metres.stored == now.metres.priced + now.metres.suspended
    assert found.pieces.drop_duplicates("stretch")["length_m"].sum() == was.metres.stored
    on_lines = sum((line.length_m or 0 for line in now.lines), D(0))
    assert on_lines + sum((s.length_m - s.again_m for s in now.suspended), D(0)) == was.metres.stored
    # R and all that stands aside of the month
    assert (now.reducer, now.network_length_m, now.whole_month) == (was.reducer, was.network_length_m, was.whole_month)
    # money: exactly the plain month before rounding, each line once within half a cent after it
    every = every_line(now)
    assert sum(line.exact for line in every) == sum(line.exact for line in was.lines)
    printed = now.total + sum((s.total for s in now.suspended), D(0))
    assert abs(printed - was.total) <= D("0.005") * (len(every) + len(was.lines))
    # the pieces of a line add up to it, suspended ones to none
    network = [one for one in now.lines if one.kind == "network"]
    for number, one in enumerate(network, 1):
        mine = found.pieces[found.pieces["line"] == number]
        assert sum(mine["amount_exact"]) * one.days == one.exact * one.month_days
        assert mine["suspended"].isna().all()


@settings(max_examples=15, deadline=None)
@given(st.lists(SEGMENT, min_size=1, max_size=4))
def test_orders_of_other_days_and_people_leave_the_plain_month(rows):
    aside = [
        order("S1", from_on=date(2026, 12, 1)),
        order("S2", until_on=date(2026, 10, 31)),
        order("S3", operator="beta"),
    ]
    plain, found = price(rows), price(rows, *aside)
    assert found.bill == plain.bill
    assert found.pieces.equals(plain.pieces)
