from datetime import date
from decimal import Decimal

import pytest

from documents import records
from geobill.documents import held_words, policy_words, words
from geobill.errors import TemplateError


@pytest.mark.parametrize(
    ("amount", "text"),
    [
        ("0.00", "zero real"),
        ("0.01", "um centavo"),
        ("0.02", "dois centavos"),
        ("0.60", "sessenta centavos"),
        ("1.00", "um real"),
        ("1.01", "um real e um centavo"),
        ("2.10", "dois reais e dez centavos"),
        ("21.00", "vinte e um reais"),
        ("100.00", "cem reais"),
        ("101.00", "cento e um reais"),
        ("1000.00", "mil reais"),
        ("1001.00", "mil e um reais"),
        ("1234.50", "mil, duzentos e trinta e quatro reais e cinquenta centavos"),
        ("16000.00", "dezesseis mil reais"),
        ("1000000.00", "um milhão de reais"),
        ("1000000.01", "um milhão de reais e um centavo"),
        ("1000001.00", "um milhão e um reais"),
        ("2000000.00", "dois milhões de reais"),
        ("3001000000.00", "três bilhões e um milhão de reais"),
        ("1100000.00", "um milhão e cem mil reais"),
    ],
)
def test_amounts_in_full(amount, text):
    assert words.in_words(Decimal(amount)) == text


@pytest.mark.parametrize("amount", ["-1.00", "0.005"])
def test_amounts_that_cannot_be_written_in_full(amount):
    with pytest.raises(TemplateError, match="whole cents"):
        words.in_words(Decimal(amount))


def test_numbers_keep_their_decimals():
    assert words.number(Decimal("1E+3")) == "1.000"
    assert words.number(Decimal("0.000")) == "0,000"
    assert words.number(Decimal("12345678901234567890.123456789")) == "12.345.678.901.234.567.890,123456789"
    assert words.reais(Decimal("5")) == "R$\u00a05,00"
    assert words.reais(Decimal("5.125")) == "R$\u00a05,125"


def test_dates():
    assert words.long_date(date(2026, 12, 15)) == "15 de dezembro de 2026"
    assert words.long_date(date(2026, 3, 1)) == "1º de março de 2026"


@pytest.mark.parametrize(
    ("short", "cited"),
    [
        ("7", "art. 7º"),
        ("7 § 2", "art. 7º, § 2º"),
        ("10 § 2", "art. 10, § 2º"),
        ("12", "art. 12"),
        ("16", "art. 16"),
        ("13", "art. 13"),
        ("8 § único", "art. 8º, parágrafo único"),
        ("9, II", "art. 9º, II"),
        ("art. 15", "art. 15"),
    ],
)
def test_articles(short, cited):
    assert words.article(short) == cited


def test_every_policy_key_and_value_of_the_contract_has_words():
    values = {
        "reducer_scope": ("operator", "permit"),
        "reducer_method": ("whole", "graduated"),
        "above_100_km": ("hold", "D1"),
        "clandestine_counts_in_reducer": ("true", "false"),
        "doublings_cumulate": ("true", "false"),
        "proration": ("daily", "full_month"),
        "on_border": ("lower", "higher", "mean"),
        "on_overlap": ("hold", "lower", "higher"),
        "max_gap_m": ("0", "20", "12.5"),
        "same_strip": ("each", "once"),
        "due_month": ("same", "following"),
        "length_source": ("geometry", "declared"),
        "length_precision_m": ("0.01",),
        "rounding": ("half_up", "half_even"),
        "due_day_rule": ("next_business_day", "same_day"),
        "duplicate_stretch": ("set_aside", "bill"),
        "limitation_years": ("5", "none"),
        "ample_defence_days": ("hold", "30"),
        "set_off_share": ("hold", "0.3"),
        "deposit_follows_price": ("no", "yes"),
    }
    assert set(values) == set(policy_words.POLICY)
    for key, allowed in values.items():
        meanings = set()
        for value in allowed:
            line = policy_words.policy_line(records.PolicyUse(key, value, allowed[0]), records.STATUTE)
            assert line.title
            assert line.gap
            assert "{" not in line.meaning
            meanings.add(line.meaning)
        assert len(meanings) == len(allowed)
        assert "" not in meanings


def test_unknown_policy_key_is_still_shown():
    line = policy_words.policy_line(records.PolicyUse("new_key", "x", "y", "D9"), records.STATUTE)
    assert (line.title, line.value, line.decision) == ("new_key", "x", "Decisão D9.")


def test_what_an_average_reducer_would_give_is_said_as_the_fraction_that_it_is():
    said = held_words.amount_if_basis("R = 70480.00/100800.00, the last bracket of art. 7")
    assert said.endswith("com R médio de 70.480,00 ÷ 100.800,00")


@pytest.mark.parametrize(
    ("reason", "whose"),
    [
        ("permit P: 3: the network of 1 m is", "A extensão da rede da permissão P: 3 passa de 100 km"),
        ("rows without a permit: the network of 1 m is", "A extensão da rede sem permissão passa de 100 km"),
        ("the network of 1 m is", "A extensão total da rede passa de 100 km"),
    ],
)
def test_above_100_km_says_whose_network_it_is(reason, whose):
    assert held_words.held_reason("above_100_km", reason, "100 km").startswith(whose)
