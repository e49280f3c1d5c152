"""Lei 3.057/2001, article by article, against figures worked out from its text."""

from datetime import date
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geobill.errors import LawError
from geobill.law.charge import Silence
from geobill.law.reading import parse_statute
from geobill.law.statutes import STATUTES, load_statute

NOV = date(2026, 11, 1)
LAW = load_statute("caieiras-lei-3057-2001")
D = Decimal


@pytest.mark.parametrize(
    ("extension", "expected"),
    [
        ("0", "1.00"),
        ("5000.00", "1.00"),
        ("5000.01", "0.90"),
        ("15000.00", "0.90"),
        ("15000.01", "0.80"),
        ("30000.00", "0.80"),
        ("30000.01", "0.70"),
        ("50000.00", "0.70"),
        ("50000.01", "0.60"),
        ("100000.00", "0.60"),
    ],
)
def test_art_7_reducer_upper_edges_belong_to_the_lower_bracket(extension, expected):
    assert LAW.reducer(D(extension), NOV) == D(expected)


def test_art_7_is_silent_above_100_km():
    found = LAW.reducer(D("100000.01"), NOV)
    assert isinstance(found, Silence)
    assert (found.article, found.suggestion) == ("7", D("0.60"))
    assert "100 km" in found.reason
    assert "15" in found.reason


@pytest.mark.parametrize(
    ("length", "width", "value", "reducer", "status", "amount", "articles"),
    [
        # a × b × T × 3 % × 50 % × R
        ("1000", "0.60", "100", "1.00", "permitted", "900", ("7", "7 § 1")),
        # § 1: narrower than 0.50 m is 0.50 m, whatever the caput says of 0.05 m
        ("1000", "0.05", "100", "1.00", "permitted", "750", ("7", "7 § 1")),
        ("1000", "0.50", "100", "0.60", "permitted", "450", ("7", "7 § 1")),
        # art. 10 § 2: double
        ("900", "0.40", "240.5", "1.00", "clandestine", "3246.75", ("7", "7 § 1", "10 § 2")),
        # art. 12: what was there before pays alike
        ("1000", "0.70", "80", "1.00", "existing", "840", ("7", "7 § 1", "12")),
    ],
)
def test_art_7_formula(length, width, value, reducer, status, amount, articles):
    asked = LAW.network(D(length), D(width), D(value), D(reducer), status, NOV)
    assert asked.exact == D(amount)
    assert asked.articles == articles


def test_art_7_par_2_cabinets_by_volume_without_t_l_d_r():
    asked = LAW.equipment(D("4.595"), "permitted", NOV)
    assert asked.exact == D("689.25")
    assert (asked.location_index, asked.depreciation_index, asked.reducer) == (None, None, None)
    assert LAW.equipment(D("1.5"), "clandestine", NOV).exact == D("450")


def test_art_13_frees_only_the_municipality_s_own():
    assert [LAW.exemption(k) for k in ("municipal", "public", "private")] == ["13", None, None]


def test_arts_3_and_8_figures():
    assert LAW.figures.value("deposit_months", NOV) == 3
    assert LAW.figures.value("due_day", NOV) == 15
    assert LAW.figures.value("yearly_months", NOV) == 12


def test_the_law_gives_nothing_before_it_existed():
    with pytest.raises(LawError, match="2001-06-27"):
        LAW.figures.value("location_index", date(2001, 6, 26))
    assert LAW.figures.value("location_index", date(2001, 6, 27)) == D("0.03")


def test_a_width_that_is_not_positive_has_no_price():
    with pytest.raises(LawError, match="set aside"):
        LAW.network(D(10), D(0), D(100), D(1), "permitted", NOV)


@pytest.mark.parametrize("name", STATUTES)
def test_every_figure_has_value_unit_article_act_and_date(name):
    for figure in load_statute(name).figures.figures:
        assert figure.article
        assert figure.unit
        assert figure.act
        assert figure.in_force_from >= date(2001, 6, 27)
        assert (figure.value is None) != (not figure.brackets)


def test_an_unknown_statute_lists_the_known():
    with pytest.raises(LawError, match="caieiras-lei-3057-2001"):
        load_statute("nenhuma")


def test_a_figure_changes_on_its_day():
    unit = 'unit = "BRL/m3/month"'
    dated = f'value = "150.00"\n{unit}\narticle = "7 § 2"\nact = "Lei 3.057/2001"\nin_force_from = 2001-06-27'
    later = f'[[figure]]\nname = "price_per_m3"\nvalue = "180.00"\n{unit}\narticle = "1"\nact = "Decreto fictício"\n'
    assert dated in LAW.figures.source
    changed_by = f"{dated}\nin_force_until = 2027-01-01\n\n{later}in_force_from = 2027-01-01"
    text = LAW.figures.source.replace(dated, changed_by).replace("checked_until = 2026", "checked_until = 2027")
    changed = parse_statute(text)
    assert changed.value("price_per_m3", date(2026, 12, 31)) == 150
    assert changed.value("price_per_m3", date(2027, 1, 1)) == 180


@pytest.mark.parametrize(
    ("broken", "says"),
    [
        ('value = "0.03"\n', "one value or a scale"),
        ('article = "7 § 1"\n', "incomplete"),
        ('value = "0.50"\nunit = "m"', "not a decimal"),
        ('{ up_to_m = "15000", value = "0.90" },', "ascend"),
    ],
)
def test_a_broken_file_of_figures_is_refused(broken, says):
    source = LAW.figures.source
    assert broken in source
    swapped = {"not a decimal": 'value = "x"\nunit = "m"', "ascend": '{ up_to_m = "1", value = "0.90" },'}.get(says, "")
    with pytest.raises(LawError, match=says):
        parse_statute(source.replace(broken, swapped, 1))


amounts = st.decimals("0.01", "10000", places=2)


@given(
    amounts, amounts, amounts, st.sampled_from(["1.00", "0.90", "0.60"]), st.sampled_from(["permitted", "clandestine"])
)
def test_the_product_is_exact_and_grows_with_each_factor(length, width, value, reducer, status):
    asked = LAW.network(length, width, value, D(reducer), status, NOV).exact
    assert (
        asked * 10000
        == length * max(width, D("0.50")) * value * D(reducer) * (2 if status == "clandestine" else 1) * 150
    )
    assert LAW.network(length + 1, width, value, D(reducer), status, NOV).exact > asked
    assert LAW.network(length, width + 1, value, D(reducer), status, NOV).exact > asked
    assert LAW.network(length, width, value + 1, D(reducer), status, NOV).exact > asked


@given(amounts, st.integers(1, 31))
def test_days_are_multiplied_first_and_divided_last(length, days):
    asked = LAW.network(length, D(1), D(100), D(1), "permitted", NOV)
    assert asked.for_days(days, 31) * 31 == asked.exact * days


def test_two_figures_for_one_day_are_refused():
    another = '[[figure]]\nname = "price_per_m3"\nvalue = "180.00"\nunit = "BRL/m3/month"\narticle = "1"\nact = "x"\n'
    with pytest.raises(LawError, match="in_force_until = 2026-06-01"):
        parse_statute(f"{LAW.figures.source}\n{another}in_force_from = 2026-06-01\n")
