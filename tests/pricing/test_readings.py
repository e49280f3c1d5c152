"""What the policy decides where the law has two readings: R by bracket or by permit, shared strips, declared lengths, doublings."""

from datetime import date
from decimal import Decimal

import geopandas as gpd
import numpy as np
import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st

from geobill.domain.ratio import Ratio, fraction
from geobill.errors import InputError
from geobill.law.charge import Silence
from geobill.law.statutes import load_statute
from geobill.pricing.strips import Strips, shared_strips
from pricing.shapes import box, line
from pricing.test_price import D, cabinets, network, run, straight, total

NOVEMBER = date(2026, 11, 1)
LAW = load_statute("caieiras-lei-3057-2001")
LONG = (("Z1", "100", box(0, 0, 120000, 3000)),)


@pytest.mark.parametrize(
    ("extension", "printed"),
    [
        ("0.00", "1.00/1.00"),
        ("0.01", "0.01/0.01"),
        ("5000.00", "5000.00/5000.00"),
        ("5000.01", "5000.009/5000.01"),
        ("6000.00", "5900.00/6000.00"),
        ("15000.00", "14000.00/15000.00"),
        ("30000.00", "26000.00/30000.00"),
        ("50000.00", "40000.00/50000.00"),
        ("100000.00", "70000.00/100000.00"),
    ],
)
def test_art_7_bracket_by_bracket_is_a_fraction_of_metres(extension, printed):
    assert str(LAW.reducer(D(extension), NOVEMBER, method="graduated")) == printed


def test_art_7_is_silent_above_100_km_in_either_reading_and_a_decision_fills_it():
    for method, would, decided in (
        ("whole", D("0.60"), D("0.55")),
        ("graduated", Ratio(D("76000.00"), D("110000.00")), Ratio(D("75500.00"), D("110000.00"))),
    ):
        found = LAW.reducer(D("110000.00"), NOVEMBER, method=method)
        assert isinstance(found, Silence)
        assert (found.article, found.suggestion) == ("7", would)
        assert LAW.reducer(D("110000.00"), NOVEMBER, method=method, above=D("0.55")) == decided


@given(st.lists(st.decimals("0.01", "100000", places=2), min_size=2, max_size=6))
def test_bracket_by_bracket_more_metres_never_cost_less(extensions):
    costs = [fraction(LAW.reducer(e, NOVEMBER, method="graduated")) * int(e * 100) for e in sorted(extensions)]
    assert costs == sorted(costs)


def test_a_graduated_line_is_multiplied_first_and_divided_last():
    found = run(network(straight(6000)), reducer_method="graduated")
    (only,) = found.bill.operators[0].lines
    assert (str(only.reducer), only.amount) == ("5900.00/6000.00", D("5310.00"))
    # the piece's exact amount stands before the fraction: 6000 × 0.60 × 100 × 0.03 × 0.50
    assert list(found.pieces["amount_exact"]) == [D("5400")]


def test_each_permit_by_its_own_extension_and_rows_without_one_together():
    rows = network(
        straight(5000, y=50, permit="P-1"),
        straight(5000.01, y=90, permit="P-2"),
        straight(3000, y=130),
        straight(2000.01, y=170),
    )
    found = run(rows, reducer_scope="permit").bill.operators[0]
    assert found.reducer is None
    by_permit = {(x.permit, x.reducer) for x in found.lines}
    assert by_permit == {("P-1", D("1.00")), ("P-2", D("0.90")), (None, D("0.90"))}
    assert found.total == D("4500.00") + D("4050.01") + D("4050.01")
    assert found.network_length_m == D("15000.02")


def test_a_permit_above_100_km_is_held_alone():
    rows = network(straight(100000.01, y=50, permit="P-1"), straight(1000, y=90, permit="P-2"))
    found = run(rows, zones=LONG, reducer_scope="permit").bill
    assert total_of(found) == D("900.00")
    (held,) = found.held
    assert (held.length_m, held.article, held.code) == (D("100000.01"), "7", "above_100_km")
    assert "P-1" in held.reason
    assert found.operators[0].features.held == 1


def total_of(bill):
    return sum((o.total for o in bill.operators), D(0))


# --- same strip -------------------------------------------------------------------------------------------------------


def pair(*rows, **policy):
    return run(network(*rows), **policy)


@pytest.mark.parametrize(
    ("first", "second", "each", "once"),
    [
        # coincident; the wider strip pays
        (straight(600), straight(600), "1080.00", "540.00"),
        (straight(600, width_m="0.80"), straight(600), "1260.00", "720.00"),
        (straight(600), straight(600, width_m="0.80"), "1260.00", "720.00"),
        # drawn backwards
        (straight(600), {"geometry": line((610, 50), (10, 50))}, "1080.00", "540.00"),
        # one goes on alone for 400 m, beyond the end of the other's strip
        (straight(600), straight(1000), "1440.00", "900.00"),
        # beside each other: 0.30 m is the half of 0.60 m; 0.31 m is another strip
        (straight(600), straight(600, y=50.30), "1080.00", "540.00"),
        (straight(600), straight(600, y=50.31), "1080.00", "1080.00"),
        (straight(600, width_m="0.80"), straight(600, y=50.40), "1260.00", "720.00"),
        # a strip narrower than 0.50 m is charged, and shared, as 0.50 m (art. 7 § 1)
        (straight(600, width_m="0.20"), straight(600, y=50.25, width_m="0.30"), "900.00", "450.00"),
        # crossing, end to end, and at a corner: nothing is shared
        (straight(600), {"geometry": line((300, 0), (300, 100))}, "630.00", "630.00"),
        (straight(600), {"geometry": line((610, 50), (1210, 50))}, "1080.00", "1080.00"),
        (straight(600), {"geometry": line((610, 50), (610, 650))}, "1080.00", "1080.00"),
        # a short spur, whole within the strip
        (straight(600), {"geometry": line((300, 50), (300, 50.20))}, "540.18", "540.00"),
        # other operators' lines share nothing with mine
        (straight(600), straight(600, operator="beta"), "540.00", "540.00"),
        # what pays double isn't paid for by what pays once (art. 10 § 2), nor the other way round
        (straight(600), straight(600, status="clandestine"), "1620.00", "1620.00"),
        (straight(600, status="clandestine"), straight(600, status="clandestine"), "2160.00", "1080.00"),
        # the payer stands on every day of the other, or both pay for their own days
        (straight(600), straight(600, installed_on="2026-11-16"), "810.00", "540.00"),
        (straight(600, installed_on="2026-11-16", width_m="0.80"), straight(600), "900.00", "900.00"),
        (
            straight(600, removed_on="2026-11-10"),
            straight(600, installed_on="2026-11-11"),
            "540.00",
            "540.00",
        ),
    ],
)
def test_two_lines_of_one_operator_in_one_strip(first, second, each, once):
    assert total(pair(first, second, same_strip="each")) == D(each)
    found = pair(first, second, same_strip="once")
    assert total(found) == D(once)
    mine = next(o for o in found.bill.operators if o.operator.id == "alfa")
    assert mine.metres.stored == mine.metres.priced
    paid = found.pieces[found.pieces["priced_with"].notna()]
    assert sum(paid["amount_exact"], D(0)) == 0
    assert mine.metres.priced == sum((x.length_m for x in mine.lines), D(0)) + sum(paid["length_m"], D(0))


@pytest.mark.parametrize("setting", ["each", "once"])
def test_shared_metres_are_flagged_in_either_setting_on_lines_of_their_own(setting):
    found = pair(straight(600, service="MT"), straight(1000, service="BT"), same_strip=setting)
    flagged = {(x.service, x.length_m) for x in found.bill.operators[0].lines if "same_strip" in x.flags}
    alone = {(x.service, x.length_m) for x in found.bill.operators[0].lines if "same_strip" not in x.flags}
    assert alone == {("BT", D("400.00"))}
    # of equal widths the service that comes first in the alphabet pays
    assert flagged == ({("MT", D("600.00")), ("BT", D("600.00"))} if setting == "each" else {("BT", D("600.00"))})


@pytest.mark.parametrize("vertex", [None, 609.9, 609.0, 300.0])
def test_a_vertex_near_the_end_of_a_strip_makes_it_no_longer(vertex):
    points = [(10, 50), *([(vertex, 50)] if vertex else []), (610, 50)]
    found = pair({"geometry": line(*points), "width_m": "2.50"}, straight(1000, y=50.5), same_strip="once")
    paid = found.pieces[found.pieces["priced_with"].notna()]
    assert sum(paid["length_m"], D(0)) == D("600.00")


def test_metres_paid_for_by_another_line_count_in_no_reducer():
    rows = (straight(4000, service="MT"), straight(4000, service="BT"))
    assert pair(*rows, same_strip="each").bill.operators[0].network_length_m == 8000
    once = pair(*rows, same_strip="once").bill.operators[0]
    assert (once.network_length_m, once.reducer, once.total) == (4000, D("1.00"), D("3600.00"))
    by_permit = network({**rows[0], "permit": "P-1"}, {**rows[1], "permit": "P-2"})
    found = run(by_permit, same_strip="once", reducer_scope="permit").bill.operators[0]
    assert found.network_length_m == 4000


def test_a_third_line_shares_only_what_the_second_really_pays_for():
    """0.00, 0.25 and 0.50 m: the middle one lies in the strip of either, the outer ones not in each other's."""
    rows = [straight(600, y=50 + y, width_m="0.50", segment=s) for s, y in (("A", 0.0), ("B", 0.25), ("C", 0.50))]
    found = pair(*rows, same_strip="once")
    assert dict(zip(found.pieces["segment"], found.pieces["priced_with"], strict=True)) == {
        "A": None,
        "B": "A",
        "C": None,
    }
    assert total(found) == D("900.00")


def test_a_line_along_several_others_names_who_pays_for_which_metres():
    rows = [straight(1000, segment="long", service="Z")]
    rows += [
        {"geometry": line((10 + 100 * n, 50.1), (60 + 100 * n, 50.1)), "segment": f"s{n}", "service": "A"}
        for n in range(3)
    ]
    found = pair(*rows, same_strip="once")
    mine = found.pieces[found.pieces["segment"] == "long"].set_index("priced_with")["length_m"]
    assert mine.to_dict() == {None: D("850.00"), "s0": D("50.00"), "s1": D("50.00"), "s2": D("50.00")} or sorted(
        mine.tolist()
    ) == [D("50.00"), D("50.00"), D("50.00"), D("850.00")]


def test_held_metres_stay_held_and_are_paid_for_by_nobody():
    found = run(
        network(straight(600, service="MT"), straight(600, service="BT")),
        zones=(("Z1", "100", box(0, 0, 310, 100)),),
        same_strip="once",
        max_gap_m="0",
    )
    assert total(found) == D("270.00")
    assert found.bill.metres.held == 600
    assert found.bill.metres.close()


def test_what_is_held_pays_for_no_other_line():
    """The wider line lies just outside the map and is held there: the other one isn't free for that."""
    rows = (straight(600, y=100.2, width_m="0.80"), straight(600, y=99.9, width_m="0.60"))
    zones = (("Z1", "100", box(0, 0, 700, 100)),)
    found = pair(*rows, zones=zones, same_strip="once", max_gap_m="0")
    assert (total(found), found.bill.metres.held) == (D("540.00"), D("600.00"))
    assert set(found.pieces["priced_with"]) == {None}
    half = (("Z1", "100", box(0, 0, 700, 100)), ("Z2", "100", box(0, 100, 310, 200)))
    found = pair(*rows, zones=half, same_strip="once", max_gap_m="0")
    assert (total(found), found.bill.metres.held) == (D("630.00"), D("300.00"))


def test_metres_whose_payer_is_held_for_its_reducer_wait_with_it():
    rows = network(
        straight(100000.01, permit="P-1", width_m="0.80"),
        straight(600, permit="P-2"),
        straight(400, y=90, permit="P-2"),
    )
    policy = {"reducer_scope": "permit", "same_strip": "once"}
    found = run(rows, zones=LONG, **policy)
    assert total(found) == D("360.00")
    by_code = {h.code: (h.segment, h.length_m) for h in found.bill.held}
    assert by_code == {"above_100_km": (None, D("100000.01")), "payer_held": ("S2", D("600.00"))}
    assert found.bill.metres.close()
    assert found.bill.operators[0].whole_month.held_m == D("100600.01")


def test_rows_alike_but_for_their_permit_settle_who_pays_whatever_their_order():
    rows = [straight(600, segment="S", permit=p) for p in ("P-1", "P-2")]
    for given_rows in (rows, rows[::-1]):
        found = pair(*given_rows, same_strip="once", reducer_scope="permit").bill.operators[0]
        assert [(x.permit, x.length_m) for x in found.lines] == [("P-1", D("600.00"))]


def straights():
    """Two-point lines within a small square: many that nearly touch."""
    place = st.integers(0, 300).map(lambda n: n / 10)
    return st.tuples(place, place, place, place).filter(lambda p: abs(p[0] - p[2]) + abs(p[1] - p[3]) > 0.5)


@settings(max_examples=300, deadline=None)
@given(straights(), straights(), st.integers(0, 359))
def test_shared_runs_are_those_of_geos(one, other, angle):
    """The stretches within a strip with flat ends, as GEOS cuts them, except those too short to share it."""
    first, second = (shapely.affinity.rotate(line(p[:2], p[2:]), angle, origin=(0, 0)) for p in (one, other))
    width = 0.8
    flags = np.ones(2, dtype=np.int64)
    strips = Strips(
        np.array(["a", "a"], dtype=object), np.full(2, width), flags, flags * 30, np.ones(2, dtype=object), np.arange(2)
    )
    found = shared_strips(np.array([first, second]), strips, once=False)
    for n, mine, theirs in ((0, first, second), (1, second, first)):
        run_m = shapely.length(mine.intersection(theirs.buffer(width / 2, cap_style="flat")))
        enough = min(2 * width, mine.length)
        if abs(run_m - enough) < 1e-4:
            continue  # a hair decides
        got = found[found["line"] == n]
        got_m = float((got["end_m"] - got["start_m"]).sum())
        assert got_m == pytest.approx(run_m if run_m > enough else 0.0, abs=1e-3)


# --- declared lengths, doublings, planned rows ------------------------------------------------------------------------


def test_declared_metres_are_shared_out_over_the_pieces_and_set_the_reducer():
    zones = (("Z1", "100", box(0, 0, 210, 100)), ("Z2", "50", box(210, 0, 700, 100)))
    rows = network(straight(600, declared_length_m="300.00"), straight(100, y=60))
    found = run(rows, zones=zones, length_source="declared")
    got = {(x.zone, x.length_m, "declared_length" in x.flags) for x in found.bill.operators[0].lines}
    assert got == {("Z1", D("100.00"), True), ("Z2", D("200.00"), True), ("Z1", D("100.00"), False)}
    assert found.bill.operators[0].network_length_m == 400
    assert found.bill.metres.stored == 400
    drawn = run(rows, zones=zones)
    assert drawn.bill.metres.stored == 700
    assert not any("declared_length" in x.flags for x in drawn.bill.operators[0].lines)


@pytest.mark.parametrize(
    ("declared", "charged", "flagged"),
    [
        (D("600"), "600.00", False),
        (D("600.004"), "600.00", False),
        (D("600.005"), "600.01", True),
        (None, "600.00", False),
    ],
)
def test_a_declared_length_is_rounded_once_and_flagged_where_it_differs(declared, charged, flagged):
    (only,) = run(network(straight(600, declared_length_m=declared)), length_source="declared").bill.operators[0].lines
    assert (only.length_m, "declared_length" in only.flags) == (D(charged), flagged)


@pytest.mark.parametrize(
    ("status", "cumulate", "multiplier", "articles"),
    [
        ("permitted", "false", 1, ("7", "7 § 1", "16")),
        ("existing", "true", 1, ("7", "7 § 1", "12", "16")),
        ("clandestine", "false", 2, ("7", "7 § 1", "10 § 2", "16")),
        ("clandestine", "true", 2, ("7", "7 § 1", "10 § 2", "16")),
        ("unregistered", "false", 2, ("7", "7 § 1", "12", "12 § 3", "16")),
        ("clandestine_unregistered", "false", 2, ("7", "7 § 1", "10 § 2", "12 § 3", "16")),
        ("clandestine_unregistered", "true", 4, ("7", "7 § 1", "10 § 2", "12 § 3", "16")),
    ],
)
def test_doublings_of_arts_10_and_12_count_once_unless_the_policy_says_so(status, cumulate, multiplier, articles):
    found = run(network(straight(100, status=status)), doublings_cumulate=cumulate).bill.operators[0]
    (only,) = found.lines
    assert (only.multiplier, only.amount, only.articles) == (multiplier, 90 * multiplier, articles)
    box_ = run(
        network(straight(1, operator="beta")),
        cabinets({"volume_m3": "1", "status": status}),
        doublings_cumulate=cumulate,
    )
    assert total(box_) == 150 * multiplier


@pytest.mark.parametrize(("month", "multiplier"), [("2001-12", 1), ("2002-01", 2)])
def test_art_12_doubles_only_after_the_six_months_for_the_register(month, multiplier):
    found = run(network(straight(100, status="unregistered")), month=month).bill.operators[0]
    assert {x.multiplier for x in found.lines} == {multiplier}


def test_what_is_doubled_counts_in_no_reducer_unless_the_policy_says_so():
    rows = network(straight(5000), straight(1, y=60, status="unregistered"))
    assert run(rows).bill.operators[0].reducer == D("1.00")
    assert run(rows, clandestine_counts_in_reducer="true").bill.operators[0].reducer == D("0.90")


def test_planned_rows_are_not_due():
    found = run(network(straight(600), straight(5000, y=90, status="planned")))
    assert total(found) == D("540.00")
    assert (found.bill.metres.stored, found.bill.metres.not_due) == (600, 5000)
    assert found.bill.operators[0].whole_month.network_length_m == 600


def test_python_door_refuses_a_status_that_does_not_exist():
    with pytest.raises(InputError, match="permitted, existing"):
        run(network(straight(10, status="permited")))


@st.composite
def shared_towns(draw):
    """Two zones and lines that run along each other, end in the middle, cross, and declare what they like."""
    rows = []
    for _ in range(draw(st.integers(1, 8))):
        y = 50 + draw(st.sampled_from([0, 0.1, 0.25, 0.3, 3]))
        a, b = draw(st.tuples(st.integers(1, 60), st.integers(61, 190)))
        rows.append(
            {
                "geometry": line((a, y), (b, y)) if draw(st.booleans()) else line((b, y), (a + 5, y), (a, y + 20)),
                "width_m": draw(st.sampled_from(["0.30", "0.60", "0.80"])),
                "service": draw(st.sampled_from(["MT", "BT"])),
                "status": draw(st.sampled_from(["permitted", "existing", "clandestine", "planned"])),
                "permit": draw(st.sampled_from([None, "P-1", "P-2"])),
                "installed_on": draw(st.sampled_from([None, "2026-11-11"])),
                "declared_length_m": draw(st.sampled_from([None, "1.00", D("123.456"), "5000"])),
            }
        )
    return network(*rows)


POLICIES = st.fixed_dictionaries(
    {
        "same_strip": st.sampled_from(["each", "once"]),
        "reducer_scope": st.sampled_from(["operator", "permit"]),
        "reducer_method": st.sampled_from(["whole", "graduated"]),
        "length_source": st.sampled_from(["geometry", "declared"]),
        "proration": st.sampled_from(["daily", "full_month"]),
        "doublings_cumulate": st.sampled_from(["true", "false"]),
    }
)


@settings(max_examples=120, deadline=None)
@given(shared_towns(), POLICIES, st.randoms())
def test_under_any_policy_books_close_lines_are_their_factors_and_row_order_decides_nothing(rows, policy, random):
    zones = (("Z1", "100", box(0, 0, 100, 100)), ("Z2", "33.33", box(100, 0, 150, 100)))
    found = run(rows, zones=zones, **policy)
    assert found.bill.metres.close()
    assert found.bill.features.close()
    assert found.bill.features.stored + found.bill.features.not_due == len(rows)
    for o in found.bill.operators:
        mine = found.pieces[found.pieces["operator"] == o.operator.id]
        paid = sum(mine[mine["priced_with"].notna()]["length_m"], D(0))
        assert o.metres.priced == sum((x.length_m for x in o.lines), D(0)) + paid
        for n, x in enumerate(o.lines, 1):
            pieces = mine[mine["line"] == n]
            assert sum(pieces["length_m"], D(0)) == x.length_m
            exact = (
                x.length_m * x.billed_width_m * x.land_value * x.location_index * x.depreciation_index * x.multiplier
            )
            exact = exact if isinstance(x.reducer, Ratio) else exact * x.reducer
            assert sum(pieces["amount_exact"], D(0)) == exact
    order = list(range(len(rows)))
    random.shuffle(order)
    again = run(gpd.GeoDataFrame(rows.iloc[order].reset_index(drop=True), crs=31983), zones=zones, **policy)
    assert [o.total for o in again.bill.operators] == [o.total for o in found.bill.operators]


def test_half_even_is_a_reading_too():
    assert (
        Decimal("0.04")
        == run(network(straight(1, width_m="0.50")), zones=(("Z1", "6", box(0, 0, 100, 100)),), rounding="half_even")
        .bill.operators[0]
        .total
    )
