"""Why a month differs from the one before: each cause worked out by hand, and all of them together to the cent."""

from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geobill.billing.compare import CAUSES, HELD, PRICED, SHARED, Part, Side, compare_operator
from geobill.documents.comparison import CAUSES as IN_PORTUGUESE
from geobill.domain.money import round_money
from geobill.errors import BooksDontCloseError

LAW = Fraction("0.015")  # L 0.03 × D 0.50


def seg(id_="A1", metres="100", width="0.50", value="10", reducer="1", zone="Centro", **more):
    """Return a segment of one piece that costs 100 × 0.50 × 10 × 0.015 = R$ 7.50 a month, unless said otherwise."""
    figures = {"quantity": metres, "width": width, "land_value": value, "reducer": reducer, **more}
    state = figures.pop("state", PRICED)
    return Part(id_, **{"law": LAW} | {k: Fraction(v) for k, v in figures.items()}, zone=zone, state=state)


def box(id_="E1", volume="2", price="150", **more):
    return Part(id_, Fraction(volume), network=False, law=Fraction(price), **{k: Fraction(v) for k, v in more.items()})


def charge(part):
    if part.state != PRICED:
        return Fraction(0)
    price = part.quantity * part.width * part.land_value * part.law * part.multiplier * part.days
    return price * part.demanded * part.reducer


def side(*parts):
    """Return a month of which every part stands on a line of its own."""
    amounts = [round_money(charge(p)) for p in parts]
    return Side(sum(amounts, Decimal("0.00")), len(parts), parts)


def causes(before, after, **more):
    found = compare_operator("alfa", side(*before), side(*after), issued_total=None, **more)
    assert sum((c.amount for c in found.causes), Decimal(0)) == found.difference
    return {c.cause: str(c.amount) for c in found.causes}


B = seg("B1")
AT_TEN = [seg("A1", reducer="0.90"), seg("B1", reducer="0.90")]


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ([B], [B, seg("A1", "40")], {"new_segments": "3.00"}),
        ([B], [B, box()], {"new_cabinets": "300.00"}),
        ([B, seg("A1", "40")], [B], {"removed_segments": "-3.00"}),
        ([B, box()], [B], {"removed_cabinets": "-300.00"}),
        ([B], [seg("B1", "120")], {"length": "1.50"}),
        ([box()], [box(volume="3")], {"volume": "150.00"}),
        ([B], [seg("B1", state=HELD)], {"held": "-7.50"}),
        ([seg("B1", state=HELD)], [B], {"released": "7.50"}),
        # 40 of 100 m held now: 60 % of R$ 7.50 is left
        ([B], [seg("B1", "60"), seg("B1", "40", zone=None, state=HELD)], {"held": "-3.00"}),
        # 40 m of Serra at 20, held till now: 40 × 0.50 × 20 × 0.015, whatever the mean of the segment was
        (
            [seg("B1", "60"), seg("B1", "40", state=HELD)],
            [seg("B1", "60"), seg("B1", "40", value="20", zone="Serra")],
            {"released": "6.00"},
        ),
        (
            [seg("B1", "60"), seg("B1", "40", value="20", zone="Serra")],
            [seg("B1", "60"), seg("B1", "40", state=SHARED)],
            {"shared_strip": "-6.00"},
        ),
        ([B], [seg("B1", state=SHARED)], {"shared_strip": "-7.50"}),
        ([seg("B1", state=SHARED)], [B], {"shared_strip": "7.50"}),
        ([B], [seg("B1", width="0.80")], {"width": "4.50"}),
        ([B], [seg("B1", value="12")], {"edition": "1.50"}),
        ([B], [seg("B1", value="12", zone="Serra")], {"zones": "1.50"}),
        # in both months half lies in Serra; Centro rises from 10 to 12, and 10 m more lie in Serra, at 20
        (
            [seg("B1", "50"), seg("B1", "50", value="20", zone="Serra")],
            [seg("B1", "40", value="12"), seg("B1", "60", value="20", zone="Serra")],
            {"edition": "0.75", "zones": "0.60"},
        ),
        # one name, two values: 10 m more at the higher one is no edition; a third value in place of the lower one is
        (
            [seg("B1", "50"), seg("B1", "50", value="20")],
            [seg("B1", "40"), seg("B1", "60", value="20")],
            {"zones": "0.75"},
        ),
        (
            [seg("B1", "50"), seg("B1", "50", value="20")],
            [seg("B1", "50", value="12"), seg("B1", "50", value="20")],
            {"edition": "0.75"},
        ),
        ([B], [seg("B1", law="0.018")], {"law": "1.50"}),
        ([box()], [box(price="160")], {"law": "20.00"}),
        ([B], [seg("B1", multiplier="2")], {"multiplier": "7.50"}),
        ([seg("B1", multiplier="2")], [B], {"multiplier": "-7.50"}),
        ([seg("B1", days=Fraction(15, 30))], [B], {"days": "3.75"}),
        ([B], [seg("B1", days=Fraction(10, 31))], {"days": "-5.08"}),
        ([B], [seg("B1", reducer="0.90")], {"reducer": "-0.75"}),
        ([B], [seg("B1", reducer=Fraction(5900, 6000))], {"reducer": "-0.13", "rounding": "0.01"}),
        # 3.75 cents become 3.00: the cause is 0.75 cents, rounded as the lines are
        ([seg("B1", "0.5")], [seg("B1", "0.4")], {"length": "-0.01"}),
        ([seg("B1", "10.03"), B], [seg("B1", "10.03"), B], {}),
    ],
)
def test_one_cause(before, after, expected):
    assert causes(before, after) == expected


def test_new_segments_come_in_at_last_months_r_and_r_shows_its_whole_effect():
    # B1 alone at R 1; A1 joins and R falls to 0.90: +7.50 for A1, then −10 % of both
    assert causes([B], AT_TEN) == {"new_segments": "7.50", "reducer": "-1.50"}


def test_where_there_was_no_one_r_new_segments_come_in_at_their_own():
    two = [seg("B1", reducer="1"), seg("C1", reducer="0.90")]  # reducer_scope = permit
    assert causes(two, [*two, seg("A1", reducer="0.90")]) == {"new_segments": "6.75"}
    assert causes([], AT_TEN) == {"new_segments": "13.50"}


def test_factors_are_replaced_in_a_fixed_order():
    # length first at the old width: +20 % of 7.50; then 0.50 → 1.00 m doubles 9.00; then T 10 → 12; R last, on 21.60
    after = [seg("B1", "120", width="1.00", value="12", reducer="0.90")]
    assert causes([B], after) == {"length": "1.50", "width": "9.00", "edition": "3.60", "reducer": "-2.16"}


def test_a_network_held_as_a_whole_and_released_again():
    held = [seg("A1", state=HELD), seg("B1", state=HELD)]
    assert causes(AT_TEN, held) == {"held": "-13.50"}
    assert causes(held, AT_TEN) == {"released": "13.50"}


def test_rows_of_one_id_count_together():
    twice = [seg("B1", "60"), seg("B1", "40")]
    assert causes(twice, [B]) == {}
    # what isn't redrawn as one says so nowhere; half of it doubled is a doubling of the id
    assert causes(twice, [seg("B1", "60"), seg("B1", "40", multiplier="2")]) == {"multiplier": "3.00"}


def test_a_segment_and_a_cabinet_of_one_name_are_two_things():
    assert causes([seg("X")], [box("X")]) == {"new_cabinets": "300.00", "removed_segments": "-7.50"}


def test_an_operator_whom_the_law_no_longer_reaches():
    assert causes([B, box()], [], exempt=True) == {"exempt": "-307.50"}


def test_rows_metres_and_examples_of_a_cause():
    new = [seg(f"N{n}", "10.5") for n in range(5)]
    found = compare_operator("alfa", side(B), side(B, *new), issued_total=None)
    cause = found.causes[0]
    assert (cause.segments, cause.length_m, cause.examples) == (5, Decimal("52.50"), ("N0", "N1", "N2"))
    shorter = compare_operator("alfa", side(B), side(seg("B1", "80.125")), issued_total=None)
    assert shorter.causes[0].length_m == Decimal("-19.875")
    held = compare_operator("alfa", side(B), side(seg("B1", "60"), seg("B1", "40", state=HELD)), issued_total=None)
    assert held.causes[0].length_m == Decimal("40.00")


def test_an_issued_total_that_is_computed_otherwise_today_stands_in_a_row_of_its_own():
    found = compare_operator("alfa", side(B), side(B, seg("A1")), issued_total=Decimal("7.40"))
    assert [(c.cause, str(c.amount)) for c in found.causes] == [("new_segments", "7.50"), ("recomputed", "0.10")]
    assert (found.previous_total, found.difference, found.issued) == (Decimal("7.40"), Decimal("7.60"), True)


def test_what_rounding_cant_explain_is_no_rounding():
    wrong = replace(side(B), total=Decimal("7.60"))
    with pytest.raises(BooksDontCloseError, match=r"alfa.*leave R\$ 0\.10 unexplained"):
        compare_operator("alfa", side(B), wrong, issued_total=None)


def test_every_cause_has_its_words():
    assert set(IN_PORTUGUESE) == set(CAUSES)


# -- any two months

metres = st.decimals("0.01", "5000", places=2).map(Fraction)
PARTS = st.builds(
    Part,
    id=st.sampled_from(["A", "B", "C", "D"]),
    quantity=metres,
    network=st.booleans(),
    zone=st.sampled_from(["Centro", "Serra", "Vila", None]),
    state=st.sampled_from([PRICED, PRICED, PRICED, HELD, SHARED]),
    width=st.sampled_from([Fraction("0.5"), Fraction("0.8"), Fraction(2)]),
    land_value=st.decimals("0.01", "900", places=2).map(Fraction),
    law=st.sampled_from([LAW, Fraction("0.018")]),
    multiplier=st.sampled_from([Fraction(1), Fraction(2), Fraction(4)]),
    days=st.builds(Fraction, st.integers(1, 28), st.sampled_from([28, 30, 31])),
    demanded=st.sampled_from([Fraction(1), Fraction(1), Fraction(0), Fraction(1, 2), Fraction(2, 3)]),
    reducer=st.sampled_from([Fraction(1), Fraction("0.9"), Fraction(5900, 6000)]),
)


@given(st.lists(PARTS, max_size=12), st.lists(PARTS, max_size=12), st.sampled_from([None, Decimal("1.23")]))
def test_causes_add_up_to_the_difference_to_the_cent(before, after, issued):
    found = compare_operator("alfa", side(*before), side(*after), issued_total=issued)
    assert sum((c.amount for c in found.causes), Decimal(0)) == found.difference == found.total - found.previous_total
    codes = [c.cause for c in found.causes]
    assert codes == sorted(set(codes), key=CAUSES.index)
    rounding = sum((abs(c.amount) for c in found.causes if c.cause == "rounding"), Decimal(0))
    assert rounding <= Decimal("0.005") * (len(before) + len(after) + len(codes))


@given(st.lists(PARTS, max_size=12), st.randoms())
def test_a_month_beside_itself_has_no_cause_in_whatever_order_its_rows_stand(parts, random):
    turned = list(parts)
    random.shuffle(turned)
    assert compare_operator("alfa", side(*parts), side(*turned), issued_total=None).causes == ()
