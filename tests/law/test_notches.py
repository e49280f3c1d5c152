"""Notches of the scale of R: where a longer network costs less than a shorter one, from the brackets alone (art. 7)."""

from datetime import date
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geobill.errors import InputError, LawError
from geobill.law.figures import Bracket
from geobill.law.notches import (
    Approach,
    Notch,
    equivalent_m,
    find_approaches,
    find_notches,
    step_at,
    steps_of,
    would_pay,
)
from geobill.law.statutes import load_statute
from geobill.law.statutes.formula import average_reducer, reducer
from geobill.law.supposed import parse_brackets, suppose

NOV = date(2026, 11, 1)
LAW = load_statute("caieiras-lei-3057-2001")
SCALE = LAW.figures.figure("reducer", NOV).brackets
STEPS = steps_of(SCALE)
NOTCHES, APPROACHES = find_notches(STEPS), find_approaches(STEPS)
CM, HAIR = Fraction(1, 100), Fraction(1, 10**9)


def scale(*steps):
    return tuple(Bracket(None if m is None else Decimal(m), Decimal(r)) for m, r in steps)


def price(extension, steps=STEPS):
    return equivalent_m(Fraction(extension), steps)


def notch_of(extension, notches=NOTCHES):
    return next((n for n in notches if n.holds(Fraction(extension))), None)


def approach_of(extension, approaches=APPROACHES):
    return next((a for a in approaches if a.holds(Fraction(extension))), None)


# -- Caieiras


@pytest.mark.parametrize(
    ("extension", "edge"),
    [
        ("4999.99", None),
        ("5000.00", None),
        ("5000.01", 5000),
        ("5555.55", 5000),
        ("5555.56", None),
        ("14999.99", None),
        ("15000.00", None),
        ("15000.01", 15000),
        ("16874.99", 15000),
        ("16875.00", None),
        ("16875.01", None),
        ("29999.99", None),
        ("30000.00", None),
        ("30000.01", 30000),
        ("34285.71", 30000),
        ("34285.72", None),
        ("49999.99", None),
        ("50000.00", None),
        ("50000.01", 50000),
        ("58333.33", 50000),
        ("58333.34", None),
        ("99999.99", None),
        ("100000.00", None),
        ("100000.01", None),
    ],
)
def test_art_7_the_four_notches_to_the_centimetre(extension, edge):
    found = notch_of(extension)
    assert (None if found is None else found.edge_m) == edge
    if edge:
        assert price(extension) < price(edge)


@pytest.mark.parametrize(
    ("extension", "edge"),
    [
        ("4500.00", None),
        ("4500.01", 5000),
        ("5000.00", 5000),
        ("5000.01", None),
        ("13333.33", None),
        ("13333.34", 15000),
        ("15000.00", 15000),
        ("15000.01", None),
        ("26250.00", None),
        ("26250.01", 30000),
        ("30000.00", 30000),
        ("42857.14", None),
        ("42857.15", 50000),
        ("50000.00", 50000),
        ("50000.01", None),
        ("100000.00", None),
    ],
)
def test_art_7_before_an_edge_what_lies_just_past_it_costs_less(extension, edge):
    found = approach_of(extension)
    assert (None if found is None else found.edge_m) == edge
    if edge:
        assert price(Fraction(edge) + HAIR) < price(extension)


def test_the_limits_are_exact():
    assert [(n.edge_m, n.until_m, n.until_included) for n in NOTCHES] == [
        (5000, Fraction(50000, 9), False),
        (15000, 16875, False),
        (30000, Fraction(240000, 7), False),
        (50000, Fraction(175000, 3), False),
    ]
    assert [a.since_m for a in APPROACHES] == [4500, Fraction(40000, 3), 26250, Fraction(300000, 7)]


@pytest.mark.parametrize("notch", NOTCHES, ids=lambda n: str(n.edge_m))
def test_at_the_end_of_a_notch_the_price_is_the_edges_again(notch):
    assert price(notch.until_m) == price(notch.edge_m)


@pytest.mark.parametrize(
    ("above", "found"),
    [("0.60", None), ("0.50", Notch(Fraction(100000), Fraction(120000), False)), ("0.70", None)],
)
def test_a_decided_r_above_100_km_may_make_another_notch(above, found):
    notches = find_notches(steps_of(SCALE, Decimal(above)))
    assert notches[:4] == NOTCHES
    assert notches[4:] == (() if found is None else (found,))


# -- a sister law's brackets


def test_a_notch_may_run_over_several_edges():
    found = scale(("5000", "1.00"), ("5100", "0.90"), ("20000", "0.50"))
    assert find_notches(steps_of(found)) == (Notch(Fraction(5000), Fraction(10000), False),)
    assert find_approaches(steps_of(found)) == (Approach(Fraction(2550), Fraction(5100), Fraction(5100)),)


def test_a_scale_that_ends_inside_a_notch_holds_its_last_metre():
    (notch,) = find_notches(steps_of(scale(("5000", "1.00"), ("5200", "0.90"))))
    assert (notch.until_m, notch.until_included) == (5200, True)
    assert notch.holds(Fraction(5200))
    assert not notch.holds(Fraction(5200) + CM)


def test_a_last_bracket_without_an_end_and_one_without_a_price():
    assert find_notches(steps_of(scale(("5000", "1.00"), (None, "0.80")))) == (
        Notch(Fraction(5000), Fraction(6250), False),
    )
    (free,) = find_notches(steps_of(scale(("5000", "1.00"), (None, "0"))))
    assert free.until_m is None
    assert free.holds(Fraction(10**9))


@pytest.mark.parametrize("steps", [(("5000", "1.00"),), (("5000", "0.90"), ("9000", "1.00")), ((None, "0.80"),)])
def test_a_scale_that_never_falls_has_no_notch(steps):
    assert find_notches(steps_of(scale(*steps))) == ()
    assert find_approaches(steps_of(scale(*steps))) == ()


centimetres = st.integers(1, 200_000)
rates = st.integers(0, 12).map(lambda tenths: Decimal(tenths) / 10)
scales = st.lists(st.tuples(centimetres, rates), min_size=1, max_size=6, unique_by=lambda s: s[0]).map(
    lambda steps: tuple(Bracket(Decimal(c) / 100, r) for c, r in sorted(steps))
)
scales_with_ends = st.tuples(scales, st.none() | rates)


def places(steps):
    """Extensions at which something can change: edges, limits, and what lies a centimetre and a hair to either side."""
    marks = {s.up_to_m for s in steps} | {n.until_m for n in find_notches(steps)}
    marks |= {a.since_m for a in find_approaches(steps)}
    near = {m + d for m in marks if m is not None for d in (-CM, -HAIR, Fraction(0), HAIR, CM)}
    return sorted(m for m in near if m > 0 and step_at(m, steps) is not None)


@given(scales_with_ends, centimetres)
def test_within_a_notch_a_shorter_network_costs_more_and_outside_none_does(found, at):
    steps = steps_of(*found)
    notches = find_notches(steps)
    for x in [m for m in (*places(steps), Fraction(at, 100)) if step_at(m, steps) is not None]:
        mine = [n for n in notches if n.holds(x)]
        # the dearest of all that lies before is the end of some bracket before, or in its own bracket x itself
        dearest = max((s.up_to_m * s.reducer for s in steps if s.up_to_m is not None and s.up_to_m < x), default=0)
        assert len(mine) == (1 if dearest > price(x, steps) else 0), x
        if mine:
            assert price(mine[0].edge_m, steps) == dearest > price(x, steps)


@given(scales_with_ends, centimetres)
def test_before_an_edge_a_longer_network_costs_less_and_elsewhere_none_does(found, at):
    steps = steps_of(*found)
    approaches = find_approaches(steps)
    for x in [m for m in (*places(steps), Fraction(at, 100)) if step_at(m, steps) is not None]:
        mine = [a for a in approaches if a.holds(x)]
        # just past an edge the price comes near to its edge at the next R, from above
        cheapest = min((s.above_m * s.reducer for s in steps if s.above_m >= x), default=None)
        assert len(mine) == (1 if cheapest is not None and cheapest < price(x, steps) else 0), x
        if mine:
            assert mine[0].edge_m * step_at(mine[0].edge_m + HAIR**2, steps).reducer == cheapest


@given(scales, centimetres)
def test_the_price_is_the_laws_own_r_times_the_extension(brackets, at):
    extension = Decimal(at) / 100
    found, own = price(Fraction(extension), steps_of(brackets)), reducer(extension, brackets)
    assert found == (None if own is None else Fraction(extension) * Fraction(own))


@given(st.integers(1, 10_000_000), st.integers(1, 100_000))
def test_bracket_by_bracket_a_longer_network_never_costs_less(at, more):
    def paid(cm):
        return Fraction(average_reducer(Decimal(cm) / 100, SCALE, Decimal("0.60")).numerator)

    assert paid(at) < paid(at + more)


# -- what some metres would change


def test_a_metre_more_is_charged_at_the_price_of_the_networks_metre():
    # 5,000 m at R$ 3.00 the metre; 5,001 m all take R = 0.90
    assert would_pay(Fraction(5001), Fraction(5000), Fraction(15000), Fraction(3), STEPS) == Fraction(135027, 10)
    assert would_pay(Fraction(4999), Fraction(5000), Fraction(15000), Fraction(3), STEPS) == 14997
    assert would_pay(Fraction(5000), Fraction(5000), Fraction(15000), Fraction(3), STEPS) == 15000
    assert would_pay(Fraction(100001), Fraction(5000), Fraction(15000), Fraction(3), STEPS) is None


# -- proposed figures


def test_a_supposed_figure_stands_in_for_the_laws_on_every_day():
    found = suppose(LAW.figures, {"price_per_m3": Decimal("165")}, scale(("9000", "1.00"), (None, "0.75")))
    assert found.value("price_per_m3", NOV) == 165
    assert found.figure("price_per_m3", date(2003, 5, 1)).value == 165
    assert found.value("location_index", NOV) == Decimal("0.03")
    assert [b.value for b in found.figure("reducer", NOV).brackets] == [Decimal("1.00"), Decimal("0.75")]
    assert LAW.figures.value("price_per_m3", NOV) == 150


def test_a_supposed_day_is_the_one_that_figures_are_asked_for():
    before = suppose(LAW.figures, {}, as_of=date(2001, 6, 26))
    with pytest.raises(LawError, match="2001-06-26"):
        before.value("location_index", NOV)


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("reducer", "0.9", "--brackets"),
        ("due_day", "20", "location_index"),
        ("rate", "20", "location_index"),
        ("price_per_m3", "-1", "0 or more"),
        ("price_per_m3", "NaN", "0 or more"),
    ],
)
def test_what_no_month_is_priced_by_cannot_be_supposed(name, value, said):
    with pytest.raises(InputError, match=said):
        suppose(LAW.figures, {name: Decimal(value)})


@pytest.mark.parametrize(
    "text",
    [
        "",
        "brackets = []",
        "brackets = [{ up_to_m = 5000, value = '1.00' }]",
        "brackets = [{ up_to_m = '5000' }]",
        "brackets = [{ up_to_m = '5000', value = 'um' }]",
        "brackets = [{ up_to_m = '5000', value = '1' }, { up_to_m = '5000', value = '0.9' }]",
        "brackets = [{ value = '1' }, { up_to_m = '5000', value = '0.9' }]",
        "brackets = [{ up_to_m = '0', value = '1' }]",
        "brackets = [{ up_to_m = '5000', value = '-1' }]",
        "brackets = [{ up_to_m = '5000', value = '1' }]\nother = 1",
        "brackets = 5",
        "brackets = ['a']",
        "brackets = [",
    ],
)
def test_a_scale_that_is_none_is_refused_with_the_form(text):
    with pytest.raises(LawError, match=r"proposta\.toml.*up_to_m"):
        parse_brackets(text, "proposta.toml")


def test_a_proposed_scale_is_read_exactly():
    text = "brackets = [{ up_to_m = '7500.50', value = '1.00' }, { value = '0.85' }]"
    assert parse_brackets(text, "p.toml") == scale(("7500.50", "1.00"), (None, "0.85"))
