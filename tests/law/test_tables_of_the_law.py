"""Tables from the law's text, and what must hold for every network: a price that never falls where it shouldn't."""

from datetime import date
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from geobill.domain.dates import BillingMonth
from geobill.domain.ratio import fraction
from geobill.law.charge import Silence
from geobill.law.policy import parse_policy
from geobill.law.reading import parse_statute
from geobill.law.statutes import load_statute
from geobill.law.statutes.street_use import StreetUseLaw
from geobill.pricing.lines import Prices, Stretch

D = Decimal
NOV, NOVEMBER, ONE = date(2026, 11, 1), BillingMonth(2026, 11), D(1)
LAW = load_statute("caieiras-lei-3057-2001")
VILA = StreetUseLaw(parse_statute(Path(__file__).with_name("vila_ficticia.toml").read_text(encoding="utf-8")))
LAWS = {"caieiras": LAW, "vila": VILA}

cents = st.integers(1, 10**6).map(lambda n: D(n) / 100)
metres = st.integers(1, 12 * 10**6).map(lambda n: D(n) / 100)
statuses = st.sampled_from(["permitted", "existing", "clandestine", "unregistered", "clandestine_unregistered"])


@pytest.mark.parametrize(
    ("extension", "whole", "equivalent"),
    [
        # art. 7: 0-5 km 1.00, 5-15 0.90, 15-30 0.80, 30-50 0.70, 50-100 0.60; an edge belongs to the lower bracket
        ("0.01", "1.00", "0.01"),
        ("4999.99", "1.00", "4999.99"),
        ("5000.00", "1.00", "5000.00"),
        ("5000.01", "0.90", "5000.009"),
        ("14999.99", "0.90", "13999.991"),
        ("15000.00", "0.90", "14000.00"),
        ("15000.01", "0.80", "14000.008"),
        ("29999.99", "0.80", "25999.992"),
        ("30000.00", "0.80", "26000.00"),
        ("30000.01", "0.70", "26000.007"),
        ("49999.99", "0.70", "39999.993"),
        ("50000.00", "0.70", "40000.00"),
        ("50000.01", "0.60", "40000.006"),
        ("99999.99", "0.60", "69999.994"),
        ("100000.00", "0.60", "70000.00"),
        ("100000.01", None, None),
    ],
)
def test_art_7_every_edge_to_the_centimetre_on_both_readings(extension, whole, equivalent):
    found = LAW.reducer(D(extension), NOV)
    graduated = LAW.reducer(D(extension), NOV, method="graduated")
    if whole is None:
        assert isinstance(found, Silence)
        assert isinstance(graduated, Silence)
        assert (found.code, found.article, found.suggestion) == ("above_100_km", "7", D("0.60"))
        assert fraction(graduated.suggestion) == Fraction("70000.006") / Fraction(extension)
        return
    assert found == D(whole)
    assert fraction(graduated) == Fraction(equivalent) / Fraction(extension)


@pytest.mark.parametrize(
    ("extension", "equivalent"),
    [
        ("7999.99", "7999.99"), ("8000.00", "8000.00"), ("8000.01", "8000.0085"),
        ("39999.99", "35199.9915"), ("40000.00", "35200.00"), ("40000.01", "35200.0075"), ("250000.00", "192700.00"),
    ],
)  # fmt: skip
def test_a_sister_s_open_ended_scale_answers_for_every_extension(extension, equivalent):
    found = VILA.reducer(D(extension), NOV, method="graduated")
    assert fraction(found) == Fraction(equivalent) / Fraction(extension)


@pytest.mark.parametrize(
    ("status", "cumulate", "caieiras", "vila"),
    [
        ("permitted", False, "1", "1"),
        ("existing", True, "1", "1"),
        ("clandestine", False, "2", "3"),
        ("unregistered", False, "2", "1.5"),
        ("clandestine_unregistered", False, "2", "3"),
        ("clandestine_unregistered", True, "4", "4.5"),
    ],
)
def test_doublings_and_their_cumulation(status, cumulate, caieiras, vila):
    asked = [law.multiplier(status, NOV, cumulate=cumulate) for law in LAWS.values()]
    assert asked == [D(caieiras), D(vila)]


@pytest.mark.parametrize(
    ("law", "last_single"),
    [(LAW, date(2001, 12, 27)), (VILA, date(2010, 7, 3))],  # six months from 27/06/2001, four from 03/03/2010
)
def test_the_register_s_term_ends_on_its_day(law, last_single):
    after = date.fromordinal(last_single.toordinal() + 1)
    assert law.multiplier("unregistered", last_single) == 1
    assert law.multiplier("unregistered", after) == law.figures.value("unregistered_multiplier", after)


@pytest.mark.parametrize(
    ("month", "days", "amount"),
    [
        ("2024-02", 29, "7.50"),
        ("2024-02", 1, "0.26"),
        ("2023-02", 28, "7.50"),
        ("2023-02", 1, "0.27"),
        ("2100-02", 28, None),
    ],
)  # 10 m × 0.50 × 100 × 0.03 × 0.50 × 1.00 = 7.50 a month; 7.50 / 29 = 0.2586…, / 28 = 0.2678…; 2100 is no leap year
def test_leap_februaries_share_the_month_by_its_own_days(month, days, amount):
    then = BillingMonth.parse(month)
    assert then.days == (29 if month == "2024-02" else 28)
    if amount is None:
        return
    line = lines(LAW, [stretch("10", days=days)], month=then)[0]
    assert (line.days, line.month_days, line.amount) == (days, then.days, D(amount))


def stretch(length, width="0.50", value="100", status="permitted", days=30, name="S"):
    return Stretch(name, None, None, status, "Z", D(value), D(length), D(width), days, None, ())


def lines(law, stretches, reducer=ONE, month=NOVEMBER):
    found = Prices(law, month, parse_policy({})).network_lines(stretches, reducer)
    return list(found.values())


@given(law=st.sampled_from(list(LAWS.values())), m=metres, w=cents, t=cents, more=cents, one=statuses, other=statuses)
def test_the_price_never_falls_when_t_width_or_multiplier_grows(law, m, w, t, more, one, other):
    def exact(width, value, status):
        return law.network(m, width, value, D("0.9"), status, NOV).exact

    assert exact(w + more, t, one) >= exact(w, t, one)
    assert exact(w, t + more, one) > exact(w, t, one)
    lower, higher = sorted((one, other), key=lambda s: law.multiplier(s, NOV))
    assert exact(w, t, higher) >= exact(w, t, lower)


@given(law=st.sampled_from(list(LAWS.values())), m=st.integers(1, 9_999_999), more=st.integers(1, 10**6))
def test_a_graduated_r_never_has_a_notch(law, m, more):
    def cost(centimetres):
        found = law.reducer(D(centimetres) / 100, NOV, method="graduated", above=D("0.60"))
        return fraction(found) * centimetres

    assert cost(m + more) > cost(m)


def test_the_whole_reading_has_the_notches_that_the_report_shows():
    def cost(extension):
        return D(extension) * LAW.reducer(D(extension), NOV)

    for edge, even in (("5000", "5555.55"), ("15000", "16875"), ("30000", "34285.71"), ("50000", "58333.33")):
        assert cost(D(edge) + D("0.01")) < cost(edge)
        assert cost(even) <= cost(edge) < cost(D(even) + D("0.02"))


@settings(deadline=None)
@given(data=st.data(), total=st.integers(2, 10**6), t=cents, w=cents, status=statuses)
def test_a_network_costs_the_sum_of_its_segments_however_it_is_cut_and_ordered(data, total, t, w, status):
    cuts = sorted(data.draw(st.sets(st.integers(1, total - 1), max_size=6)))
    parts = [b - a for a, b in zip([0, *cuts], [*cuts, total], strict=True)]
    reducer = LAW.reducer(D(total) / 100, NOV, method=data.draw(st.sampled_from(["whole", "graduated"])))
    rows = [stretch(D(p) / 100, w, t, status, name=str(n)) for n, p in enumerate(parts)]
    whole = LAW.network(D(total) / 100, w, t, reducer, status, NOV).exact
    assert sum(LAW.network(r.length_m, w, t, reducer, status, NOV).exact for r in rows) == whole
    assert lines(LAW, data.draw(st.permutations(rows)), reducer) == lines(LAW, rows, reducer)
    (line,) = lines(LAW, rows, reducer)
    assert line.length_m == D(total) / 100
