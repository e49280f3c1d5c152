"""A sister law's file: what the family takes, and everything that figures can't say, refused with the reason."""

from pathlib import Path

import pytest

from geobill.errors import LawError
from geobill.law.statutes import STATUTES, packaged_text
from geobill.law.statutes.family import KNOWN, RULES
from geobill.law.statutes.family_checks import check_family

VILA = Path(__file__).with_name("vila_ficticia.toml").read_text(encoding="utf-8")


def without(figure):
    """The file without one figure's table."""
    tables = VILA.split("\n[[")
    return "\n[[".join(t for t in tables if f'name = "{figure}"' not in t)


def test_the_family_s_own_law_passes_its_own_checks():
    report = check_family(packaged_text("caieiras-lei-3057-2001"))
    assert any("5 edges" in c and "whole and graduated" in c for c in report.checks)
    assert any("R falls above 5 km, 15 km, 30 km, 50 km" in n for n in report.notes)
    assert any("above 100 km the law is silent" in n for n in report.notes)


def test_the_fictitious_town_differs_in_everything_and_passes():
    report = check_family(VILA, tuple(STATUTES))
    ours = check_family(packaged_text("caieiras-lei-3057-2001")).law.figures
    for figure in report.law.figures.figures:
        same = [f for f in ours.figures if f.name == figure.name]
        assert all((f.value, f.brackets) != (figure.value, figure.brackets) for f in same), figure.name
    assert any("reducer_method is fixed by the law" in n for n in report.notes)
    assert any("nothing is held above" in n for n in report.notes)


@pytest.mark.parametrize("name", [k.name for k in KNOWN if k.required])
def test_a_figure_that_the_family_needs_is_missed_by_name(name):
    with pytest.raises(LawError, match=rf"{name} .*isn't given for 2010-03-03"):
        check_family(without(name))


def test_equipment_needs_one_price_and_only_one():
    without_price = without("price_per_piece").replace('adjusts = ["price_per_piece"]', "adjusts = []")
    with pytest.raises(LawError, match="Neither price_per_m3 nor price_per_piece"):
        check_family(without_price)
    second = VILA[VILA.index('[[figure]]\nname = "price_per_piece"') : VILA.index('[[figure]]\nname = "due_day"')]
    by_volume = second.replace("price_per_piece", "price_per_m3").replace("BRL/piece/month", "BRL/m3/month")
    with pytest.raises(LawError, match="both by volume"):
        check_family(VILA.replace(second, second + by_volume))


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('name = "location_index"', 'name = "social_index"', "no place for a figure of this name"),
        ('value = "0.025"', 'value = "0.025"\nformula = "a*b"', "formula, which the family has no place for"),
        ("[articles]", '[[article]]\nnumber = "5"\nformula = "a * b * T"\n\n[articles]', r"\[article\] isn't something"),
        ("[articles]", '[articles]\nrebate = "22"', "rebate, which the family has no place for"),
        ("[[index]]", '[[amendment]]\nid = "A1"\n\n[[index]]', r"\[amendment\] isn't something"),
        ('price = "5"\n', "", r"\[articles\] lacks price"),
        ('value = "0.025"', "value = 0.025", "not in quotes"),
        ('value = "0.025"', 'value = "2.5"', "above 0 up to 1"),
        ('value = "0.025"', 'value = "-0.025"', "above 0 up to 1"),
        ('value = "0.025"', 'value = "0,025"', "not a decimal"),
        ('article = "5"', 'article = ""', "no article"),
        ("in_force_from = 2010-03-03\n", "", "incomplete"),
        ("in_force_from = 2010-03-03", 'in_force_from = "2010-03-03"', "a date without quotes"),
        ("in_force_from = 2010-03-03", "in_force_from = 2009-03-03", "before the law was published"),
        ("in_force_from = 2010-03-03", "in_force_from = 2010-03-04", "isn't given for 2010-03-03"),
        ("in_force_from = 2010-03-03", "in_force_from = 2010-03-03\nin_force_until = 2020-01-01", "isn't given for 2020-01-01"),
        ('unit = "BRL/piece/month"', 'unit = "UFV/piece/month"', "convert it, and an"),
        ('up_to_m = "40000"', 'up_to_m = "7000"', "don't ascend"),
        ('{ up_to_m = "8000", value = "1.00" }', '{ value = "1.00" }', "don't ascend"),
        ('value = "0.75"', 'value = "1.75"', "above 0 up to 1"),
        ('method = "graduated"', 'method = "by zone"', "method 'by zone'"),
        ('method = "started_months"\n', "", "which months bear interest"),
        ('value = "20"', 'value = "31"', "from 1 up to 28"),
        ('value = "1.5"', 'value = "0.5"', "from 1 up to 100"),
        ('adjusts = ["price_per_piece"]', 'adjusts = ["location_index"]', "can adjust prices in reais"),
        ('step = "yearly"', 'step = "weekly"', "monthly or yearly"),
        ('base_month = "2024-01"', 'base_month = "2023-01"', "no value for its base month"),
        ('"2024-01" = "120.00"', '"2024-01" = "0"', "isn't above 0"),
        ('id = "vila-ficticia-lei-12-2010"', 'id = "Vila Fictícia"', "small letters"),
        ('id = "vila-ficticia-lei-12-2010"', 'id = "caieiras-lei-3057-2001"', "that geobill ships"),
        ('id = "vila-ficticia-lei-12-2010"', 'id = "../../x"', "small letters"),
        ('id = "vila-ficticia-lei-12-2010"', "id = 5", "id must be text in quotes"),
        ('value = "0.025"', 'value = "1e-99999999"', "99999999 decimals"),
        ('value = "0.025"', f'value = "0.{"1" * 200}"', "200 decimals"),
        ('up_to_m = "8000"', f'up_to_m = "8000.{"1" * 200}"', "200 decimals"),
        ("checked_until = 2026-12-31\n", "", "lacks checked_until"),
        ("checked_until = 2026-12-31", "checked_until = 2009-12-31", "before published_on"),
        ('checked_by = "the tests"', 'checked_by = ""', "lacks checked_by"),
        ('[statute]', "[statute", "isn't TOML"),
    ],
)  # fmt: skip
def test_what_figures_can_t_say_is_refused_with_the_reason(old, new, says):
    assert old in VILA
    with pytest.raises(LawError, match=says):
        check_family(VILA.replace(old, new, 1), tuple(STATUTES))


def test_every_fault_is_said_at_once():
    text = VILA.replace('value = "0.025"', 'value = "2.5"').replace('value = "20"', 'value = "31"')
    with pytest.raises(LawError, match=r"location_index.*due_day.*Nothing was installed"):
        check_family(text)


def test_a_hole_in_an_index_is_said_before_it_is_met():
    report = check_family(VILA.replace('"2025-01" = "126.00"\n', ""))
    assert any("no value for 2025-01: those months are refused" in n for n in report.notes)


def test_the_family_knows_every_rule_and_figure_of_the_statutes_that_ship():
    for name in STATUTES:
        figures = check_family(packaged_text(name)).law.figures
        assert set(figures.rules) <= set(RULES)
        assert {f.name for f in figures.figures} <= {k.name for k in KNOWN}
