"""Pricing: lines, held, exempt and the sums that close, by tables and properties."""

from decimal import Decimal

import geopandas as gpd
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import geobill
from geobill.errors import GeobillError, InputError, PolicyError
from pricing.shapes import box, line, zone_frame

D = Decimal
TOWN = (("Z1", "100", box(0, 0, 8000, 3000)),)


def network(*rows):
    """Segments from dicts; operator alfa, 0.60 m wide, permitted, unless said otherwise."""
    base = {"operator": "alfa", "width_m": "0.60", "status": "permitted", "service": None, "permit": None}
    data = [
        {"segment": f"S{n}", "installed_on": None, "removed_on": None, **base, **row} for n, row in enumerate(rows, 1)
    ]
    return gpd.GeoDataFrame(data, geometry="geometry", crs=31983)


def straight(metres, y=50, **row):
    """A straight segment of so many metres."""
    return {"geometry": line((10, y), (10 + metres, y)), **row}


def cabinets(*rows):
    base = {"operator": "alfa", "status": "permitted", "geometry": line((0, 0), (1, 1)).centroid}
    return gpd.GeoDataFrame(
        [{"equipment": f"E{n}", **base, **row} for n, row in enumerate(rows, 1)], geometry="geometry", crs=31983
    )


def run(segments, equipment=None, zones=TOWN, month="2026-11", operators=None, **policy):
    return geobill.price(segments, equipment, zone_frame(*zones), month=month, policy=policy, operators=operators)


def total(bill, operator="alfa"):
    return next((o.total for o in bill.bill.operators if o.operator.id == operator), D(0))


@pytest.mark.parametrize(
    ("month", "installed", "removed", "days", "amount"),
    [
        ("2026-11", None, None, 30, "900.00"),
        ("2026-11", "2026-11-16", None, 15, "450.00"),
        ("2026-11", None, "2026-11-16", 16, "480.00"),
        ("2026-11", "2026-11-30", None, 1, "30.00"),
        ("2026-11", None, "2026-11-01", 1, "30.00"),
        ("2026-11", "2026-11-10", "2026-11-12", 3, "90.00"),
        ("2026-02", "2026-02-28", None, 1, "32.14"),
        ("2024-02", "2024-02-29", None, 1, "31.03"),
        ("2026-12", "2026-12-31", None, 1, "29.03"),
    ],
)
def test_days_of_the_first_and_last_month(month, installed, removed, days, amount):
    segments = network(straight(1000, installed_on=installed, removed_on=removed))
    (found,) = run(segments, month=month).bill.operators[0].lines
    assert (found.days, found.amount) == (days, D(amount))
    whole = run(segments, month=month, proration="full_month").bill.operators[0].lines[0]
    assert (whole.days, whole.amount) == (whole.month_days, D("900.00"))


@pytest.mark.parametrize("dates", [{"removed_on": "2026-10-31"}, {"installed_on": "2026-12-01"}])
def test_what_is_not_in_force_is_not_due_and_sets_no_reducer(dates):
    found = run(network(straight(4900), straight(4900, 60, **dates)))
    assert found.bill.metres.not_due == 4900
    assert found.bill.metres.stored == 4900
    assert found.bill.operators[0].reducer == 1


def test_lines_are_grouped_so_that_a_person_can_check_them():
    rows = [
        straight(100),
        straight(100, 60, width_m="0.6"),  # the same width, written otherwise
        straight(100, 70, service="MT"),
        straight(100, 80, permit="P-1"),
        straight(100, 90, status="existing"),
        straight(100, 100, status="clandestine"),
        straight(100, 110, width_m="0.8"),
    ]
    lines = run(network(*rows)).bill.operators[0].lines
    assert sorted((x.length_m, x.multiplier, x.flags, x.articles[-1]) for x in lines) == sorted(
        [
            (200, 1, ("no_decree",), "16"),
            (100, 1, ("no_decree",), "16"),
            (100, 1, (), "7 § 1"),
            (100, 1, ("no_decree",), "16"),
            (100, 2, ("no_decree",), "16"),
            (100, 1, ("no_decree",), "16"),
        ]
    )


def test_art_7_above_100_km_holds_the_operator_and_the_rest_goes_on():
    long = line(*[(10 + 6000 * ((n + 1) // 2 % 2), 60 + 10 * (n // 2)) for n in range(36)])
    found = run(network({"geometry": long}, straight(400, 20, operator="beta")), cabinets({"volume_m3": "2"}))
    alfa = next(o for o in found.bill.operators if o.operator.id == "alfa")
    assert long.length > 100000
    assert alfa.reducer is None
    assert [x.kind for x in alfa.lines] == ["equipment"], "a cabinet's price needs no R: art. 7 § 2 isn't silent"
    (held,) = alfa.held
    assert held.segment is None
    assert held.length_m == alfa.metres.stored
    assert held.amount_if.amount == (held.length_m * D("0.60") * 100 * D("0.015") * D("0.60")).quantize(D("0.01"))
    assert total(found, "beta") == D("360.00")
    assert alfa.whole_month.total is None


def test_clandestine_metres_take_the_permitted_reducer_and_lower_nobody_s():
    rows = network(straight(4800, width_m="0.6"), straight(900, 20, status="clandestine"))
    assert run(rows).bill.operators[0].reducer == 1
    assert run(rows, clandestine_counts_in_reducer="true").bill.operators[0].reducer == D("0.90")
    only = run(network(straight(900, status="clandestine"))).bill.operators[0]
    assert (only.network_length_m, only.reducer, only.total) == (0, 1, D("1620.00"))


def test_whole_month_leaves_out_what_is_doubled_removed_or_prorated():
    rows = network(
        straight(1000, installed_on="2026-11-16"),
        straight(1000, 60, status="clandestine"),
        straight(1000, 70, removed_on="2026-11-20"),
    )
    month = (
        run(rows, cabinets({"volume_m3": "1"}, {"volume_m3": "9", "status": "clandestine"}))
        .bill.operators[0]
        .whole_month
    )
    assert month.network_length_m == 1000
    assert month.total == D("900.00") + D("150.00")


def test_held_metres_have_one_reason_each():
    zones = (("Z1", "100", box(0, 0, 120, 100)), ("Z2", "80", box(100, 0, 200, 100)))
    found = run(network({"geometry": line((10, 50), (300, 50))}), zones=zones)
    assert {(h.code, h.length_m) for h in found.bill.held} == {("overlap", D("20.00")), ("no_zone", D("80.00"))}
    assert found.bill.metres.held == 100
    assert found.bill.features.held == 1
    assert found.bill.features.priced == 0
    assert all(h.amount_if is None for h in found.bill.held)


def test_art_13_municipal_entities_are_exempt_with_their_metres():
    found = run(network(straight(600)), cabinets({"volume_m3": "1"}), operators={"alfa": "municipal"})
    assert found.bill.operators == ()
    assert found.bill.exempt[0].length_m == 600
    assert found.bill.features.exempt == 2


def test_rounding_is_once_a_line_and_half_up_or_half_even():
    zones = (("Z1", "6", box(0, 0, 100, 100)), ("Z2", "14", box(100, 0, 200, 100)))
    rows = network(
        {"geometry": line((10, 5), (11, 5)), "width_m": "0.5"}, {"geometry": line((110, 5), (111, 5)), "width_m": "0.5"}
    )
    assert [x.amount for x in run(rows, zones=zones).bill.operators[0].lines] == [D("0.05"), D("0.11")]
    assert [x.amount for x in run(rows, zones=zones, rounding="half_even").bill.operators[0].lines] == [
        D("0.04"),
        D("0.10"),
    ]


def test_python_door_refuses_what_it_cannot_price():
    with pytest.raises(InputError, match="width_m"):
        run(network(straight(10)).drop(columns="width_m"))
    with pytest.raises(InputError, match="row 1"):
        run(network(straight(10, width_m="0")))
    with pytest.raises(InputError, match="above 0"):
        run(network(straight(10)), zones=(("Z1", "0", box(0, 0, 10, 10)),))
    with pytest.raises(PolicyError, match="1 to 100"):
        run(network(straight(10)), limitation_years="ages")
    with pytest.raises(GeobillError, match="2001-06-27"):
        run(network(straight(10)), month="2001-05")


def test_frames_of_a_priced_month():
    found = run(network(straight(100)), cabinets({"volume_m3": "1.5"}))
    assert list(found.lines["amount"]) == [D("90.00"), D("225.00")]
    assert list(found.pieces["amount_exact"]) == [D("90.00000")]
    assert found.conservation.loc["metres", "priced"] == 100
    assert found.held.empty
    assert found.exempt.empty


@st.composite
def towns(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    zones = tuple(
        (
            f"Z{i}{j}",
            str(rng.integers(1, 90000) / 100),
            box(100 * i, 100 * j, 100 * i + 100 - rng.integers(0, 15), 100 * j + 100),
        )
        for i in range(3)
        for j in range(3)
    )
    rows = []
    for n in range(draw(st.integers(1, 12))):
        xy = rng.uniform(-40, 340, (rng.integers(2, 5), 2))
        rows.append(
            {
                "geometry": line(*xy),
                "operator": ("alfa", "beta")[n % 2],
                "width_m": str(rng.integers(1, 200) / 100),
                "status": ("permitted", "existing", "clandestine")[rng.integers(3)],
                "permit": (None, "P-1")[rng.integers(2)],
                "installed_on": (None, "2026-11-11")[rng.integers(2)],
            }
        )
    return network(*rows), zones


@settings(max_examples=60, deadline=None)
@given(towns())
def test_sums_close_and_pieces_add_up_to_their_lines(town):
    segments, zones = town
    found = run(segments, zones=zones)
    for o in found.bill.operators:
        assert o.total == sum((x.amount for x in o.lines), D(0))
        assert o.metres.close()
        mine = found.pieces[(found.pieces["operator"] == o.operator.id) & found.pieces["line"].notna()]
        for n, x in enumerate(o.lines, 1):
            pieces = mine[mine["line"] == n]
            assert sum(pieces["length_m"], D(0)) == x.length_m
            exact = sum(pieces["amount_exact"], D(0))
            assert exact == x.length_m * x.billed_width_m * x.land_value * D("0.015") * x.reducer * x.multiplier
    whole = np.floor(segments.length.to_numpy() * 100 + 0.5 + 1e-6).sum()
    assert found.bill.metres.stored * 100 == int(whole)
    assert found.bill.metres.close()
    assert found.bill.features.close()


@settings(max_examples=30, deadline=None)
@given(towns(), st.randoms())
def test_order_of_rows_changes_nothing(town, random):
    segments, zones = town
    order = list(range(len(segments)))
    random.shuffle(order)
    zones_too = list(zones)
    random.shuffle(zones_too)
    first = run(segments, zones=zones)
    second = run(segments.iloc[order].reset_index(drop=True), zones=tuple(zones_too))
    assert [(o.operator.id, o.lines, o.total) for o in first.bill.operators] == [
        (o.operator.id, o.lines, o.total) for o in second.bill.operators
    ]
    assert set(first.bill.held) == set(second.bill.held)
