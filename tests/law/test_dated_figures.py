"""Figures by their dates: before the law, past the checked day, amended, adjusted by an index, charged late."""

from datetime import date
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pytest

from geobill.domain.amendment import Amendment, Confirmation
from geobill.domain.dates import BillingMonth
from geobill.errors import LawError
from geobill.law.amending import Change, amended_text, amendment_block, check_amended
from geobill.law.reading import parse_statute
from geobill.law.statutes import load_statute, packaged_text
from geobill.law.statutes.street_use import StreetUseLaw

D = Decimal
NAME = "caieiras-lei-3057-2001"
LAW = load_statute(NAME)
VILA = StreetUseLaw(parse_statute(Path(__file__).with_name("vila_ficticia.toml").read_text(encoding="utf-8")))
NEW_YEAR = date(2026, 7, 1)


def change(**given):
    plain = {
        "name": "price_per_m3",
        "article": "1",
        "act": "Decreto 9/2026",
        "paper": "0" * 64,
        "by": "Ana",
        "in_force_from": NEW_YEAR,
        "value": D("162.45"),
    }
    return Change(**(plain | given))


def entered(changes, law=LAW, confirmations=()):
    """The statute's figures with these acts entered one after the other, as the store would compose them."""
    base, kept = law.figures.source, []
    for n, one in enumerate(changes, 1):
        before = parse_statute(amended_text(base, kept, ()))
        block = amendment_block(f"A{n}", one, before)
        kept.append(Amendment(f"A{n}", NAME, one.name, block, one.act, one.in_force_from or NEW_YEAR, "", ""))
        check_amended(before, amended_text(base, kept, ()), one)
    return parse_statute(amended_text(base, kept, confirmations))


@pytest.mark.parametrize(
    ("name", "value", "article"),
    [
        ("fine_share", "0.20", "9 § 2"),
        ("suspension_after_days", "30", "9 § 3"),
        ("defence_days", "15", "9 § 4"),
        ("expansion_plan_month", "3", "11"),
        ("expansion_plan_day", "10", "11"),
        ("register_term_months", "6", "12 § 1"),
        ("no_projects_after_months", "12", "12 § 4"),
        ("regulation_days", "60", "17"),
    ],
)
def test_figures_of_penalties_and_deadlines(name, value, article):
    on = date(2026, 11, 30)
    assert (LAW.figures.value(name, on), LAW.articles(name, on)) == (D(value), (article,))


@pytest.mark.parametrize("name", sorted({f.name for f in LAW.figures.figures}))
def test_no_figure_before_the_law_nor_past_the_checked_day(name):
    for on in (date(2001, 6, 27), date(2026, 12, 31)):
        assert LAW.figures.figure(name, on)
    with pytest.raises(LawError, match="2001-06-27"):
        LAW.figures.figure(name, date(2001, 6, 26))
    with pytest.raises(LawError, match=r"2026-12-31.*law confirm --until DATE --by NAME"):
        LAW.figures.figure(name, date(2027, 1, 1))


def test_a_confirmation_opens_the_months_up_to_its_day_and_the_last_one_counts():
    seen = [
        Confirmation(NAME, date(2027, 12, 31), "Ana Lima", "2027-01-02T10:00:00Z"),
        Confirmation(NAME, date(2027, 6, 30), 'Rui "Dr." Sá', "2027-01-03T10:00:00Z", "Diário\nOficial"),
    ]
    figures = entered((), confirmations=seen)
    assert figures.value("price_per_m3", date(2027, 6, 30)) == 150
    with pytest.raises(LawError, match=r'Rui "Dr\." Sá'):
        figures.value("price_per_m3", date(2027, 7, 1))
    assert entered((), confirmations=seen[:1]).value("price_per_m3", date(2027, 12, 31)) == 150


def test_the_text_is_the_file_s_own_where_nothing_was_entered_and_reads_back_where_something_was():
    assert LAW.figures.source == packaged_text(NAME) == amended_text(packaged_text(NAME), (), ())
    figures = entered([change()])
    assert figures.source.startswith(packaged_text(NAME).rstrip("\n"))
    again = parse_statute(figures.source)
    assert (again.figures, again.checked, again.source) == (figures.figures, figures.checked, figures.source)


def test_an_act_succeeds_a_figure_on_its_day_and_both_articles_are_cited():
    figures = entered([change()])
    before, after = date(2026, 6, 30), NEW_YEAR
    assert (figures.value("price_per_m3", before), figures.value("price_per_m3", after)) == (150, D("162.45"))
    assert figures.figure("price_per_m3", before).in_force_until == NEW_YEAR
    assert figures.articles("price_per_m3", before) == ("7 § 2",)
    assert figures.articles("price_per_m3", after) == ("7 § 2", "1 (Decreto 9/2026)")
    asked = StreetUseLaw(figures).equipment(D("1.2"), "permitted", after)
    assert (asked.exact, asked.articles) == (D("194.940"), ("7 § 2", "1 (Decreto 9/2026)"))


def test_an_act_for_a_time_leaves_nothing_behind_it():
    figures = entered([change(in_force_until=date(2026, 9, 1))])
    assert figures.value("price_per_m3", date(2026, 8, 31)) == D("162.45")
    with pytest.raises(LawError, match="doesn't come back by itself"):
        figures.value("price_per_m3", date(2026, 9, 1))
    later = change(act="Decreto 10/2026", value=D("170"), in_force_from=date(2026, 9, 1))
    both = entered([change(in_force_until=date(2026, 9, 1)), later])
    assert both.value("price_per_m3", date(2026, 9, 1)) == 170


def test_an_act_that_was_entered_wrongly_is_replaced_by_its_id():
    wrong = change(value=D("1624.50"))
    figures = entered([wrong, change(corrects="A1")])
    assert figures.value("price_per_m3", NEW_YEAR) == D("162.45")
    assert [f.amendment for f in figures.figures if f.amendment] == ["A2"]
    with pytest.raises(LawError, match="no such entry that stands"):
        entered([wrong, change(corrects="A7")])


@pytest.mark.parametrize(
    ("second", "says"),
    [
        ({"in_force_from": NEW_YEAR}, "one day can't have two figures"),
        ({"in_force_from": date(2026, 3, 1)}, "one day can't have two figures"),
        ({"in_force_from": date(2001, 6, 26)}, "the law is of 2001-06-27"),
        ({"name": "price_per_km"}, "no figure 'price_per_km'"),
        ({"name": "due_day", "value": D("31")}, "from 1 up to 28"),
        ({"name": "due_day", "value": D("15.5")}, "whole number"),
        ({"name": "fine_share", "value": None}, "one value or a scale"),
        ({"name": "reducer"}, "must be a scale"),
        ({"name": "clandestine_multiplier", "value": D("0.5")}, "from 1 up to 100"),
        ({"name": "price_per_piece", "value": D(10)}, "both by volume"),
        ({"in_force_from": date(2026, 9, 1), "in_force_until": date(2026, 9, 1)}, "ends before it begins"),
        ({"in_force_from": None}, "from when"),
        ({"name": "ufm", "month": BillingMonth(2026, 7)}, "no index 'ufm'"),
        ({"index_base": BillingMonth(2026, 7)}, "no index adjusts"),
    ],
)
def test_an_act_that_can_t_be_is_refused(second, says):
    with pytest.raises(LawError, match=says):
        entered([change(), change(**second)])


def test_an_earlier_act_fits_where_its_end_is_given():
    earlier = change(act="Decreto 2/2026", value=D("155"), in_force_from=date(2026, 3, 1), in_force_until=NEW_YEAR)
    figures = entered([change(), earlier])
    days = (date(2026, 2, 28), date(2026, 3, 1), NEW_YEAR)
    assert [figures.value("price_per_m3", d) for d in days] == [150, 155, D("162.45")]


@pytest.mark.parametrize(
    ("on", "price"),
    [
        # 42.50 × 126.00 / 120.00 = 44.625, half up 44.63; × 133.56 / 120.00 = 47.3025, 47.30: each from January on
        (date(2023, 12, 31), "42.50"),
        (date(2024, 1, 1), "42.50"),
        (date(2024, 12, 31), "42.50"),
        (date(2025, 1, 1), "44.63"),
        (date(2025, 12, 31), "44.63"),
        (date(2026, 1, 1), "47.30"),
        (date(2026, 12, 31), "47.30"),
    ],
)
def test_a_yearly_index_moves_a_price_once_a_year(on, price):
    assert VILA.figures.value("price_per_piece", on) == D(price)
    assert VILA.articles("price_per_piece", on) == (("8", "10") if on.year >= 2024 else ("8",))


def test_an_index_value_that_nobody_entered_is_never_carried_over():
    seen = [Confirmation("", date(2027, 12, 31), "Ana", "2027-01-02T10:00:00Z")]
    figures = entered((), VILA, seen)
    with pytest.raises(LawError, match=r"no value for 2027-01.*law amend --index unidade_fiscal --month 2027-01"):
        figures.value("price_per_piece", date(2027, 3, 1))
    assert figures.value("location_index", date(2027, 3, 1)) == D("0.025")
    value = change(name="unidade_fiscal", month=BillingMonth(2027, 1), value=D("140.24"), in_force_from=None)
    figures = entered([value], VILA, seen)
    assert figures.value("price_per_piece", date(2027, 3, 1)) == D("49.67")  # 42.50 × 140.24 / 120 = 49.668333…


def test_a_monthly_index_takes_each_month_s_own_value():
    text = VILA.figures.source.replace('step = "yearly"', 'step = "monthly"') + '"2026-02" = "120.12"\n'
    figures = parse_statute(text)
    assert figures.value("price_per_piece", date(2026, 2, 28)) == D("42.54")  # 42.50 × 1.001 = 42.5425
    with pytest.raises(LawError, match="no value for 2026-03"):
        figures.value("price_per_piece", date(2026, 3, 1))


def test_an_act_that_sets_an_indexed_price_says_since_when_the_index_runs():
    given = change(name="price_per_piece", value=D("50.00"))
    with pytest.raises(LawError, match="--index-base"):
        entered([given], VILA)
    figures = entered([change(name="price_per_piece", value=D("50.00"), index_base=BillingMonth(2025, 1))], VILA)
    assert figures.value("price_per_piece", NEW_YEAR) == D("53.00")  # 50.00 × 133.56 / 126.00
    assert figures.articles("price_per_piece", NEW_YEAR) == ("8", "1 (Decreto 9/2026)", "10")


def test_caieiras_has_no_late_charge_until_an_act_is_entered():
    due, paid = date(2026, 8, 15), date(2026, 10, 1)
    assert LAW.late_charge(D("1000.00"), due, paid) is None
    fined = StreetUseLaw(entered([change(name="late_fine_share", value=D("0.02"))])).late_charge(
        D("1000.00"), due, paid
    )
    assert (fined.fine, fined.interest, fined.articles) == (D("20.00"), 0, ("1 (Decreto 9/2026)",))


@pytest.mark.parametrize(
    ("method", "paid", "months", "interest"),
    [
        ("started_months", date(2026, 1, 20), "0", "0.00"),
        ("started_months", date(2026, 1, 21), "1", "10.00"),
        ("started_months", date(2026, 2, 20), "1", "10.00"),
        ("started_months", date(2026, 2, 21), "2", "20.00"),
        ("full_months", date(2026, 2, 19), "0", "0.00"),
        ("full_months", date(2026, 2, 20), "1", "10.00"),
        ("full_months", date(2027, 1, 19), "11", "110.00"),
        ("daily", date(2026, 1, 30), "1/3", "3.33"),
        ("daily", date(2026, 3, 21), "2", "20.00"),
    ],
)
def test_late_interest_counts_the_months_that_the_law_counts(method, paid, months, interest):
    law = StreetUseLaw(parse_statute(VILA.figures.source.replace('"started_months"', f'"{method}"')))
    late = law.late_charge(D("1000.00"), date(2026, 1, 20), paid)
    assert (late.months, late.interest) == (Fraction(months), D(interest))
    assert late.fine == (0 if paid == date(2026, 1, 20) else D("20.00"))
    assert late.articles == ("11", "11 § 1")
