"""A whole survey that misses by one vector, and surveys that only look as if they did."""

import drawn_surveys as made
import numpy as np
import pytest
import shapely.affinity
from drawn_surveys import line, permitted, survey

from geobill.detection.shift import find_constant_shift

DATUM = (-45.09, -45.70)  # what a survey labelled SAD69 misses by in Caieiras


@pytest.fixture(scope="module")
def network():
    allowed = made.network("rede_permitida_2021.gpkg", "SSDMT")
    levied = made.network("rede_levantada_2024.gpkg", "SSDMT")
    return permitted(allowed.geometry), levied.geometry.to_numpy()


def moved(lines, by):
    return np.array([shapely.affinity.translate(g, *by) for g in lines])


@pytest.mark.parametrize("by", [DATUM, (6.0, -3.0), (180.0, 200.0)])
def test_a_shifted_survey_is_found_with_its_vector(network, by):
    allowed, levied = network
    found = find_constant_shift(survey(moved(levied, by)), allowed)
    assert (found.dx_m, found.dy_m) == pytest.approx((-by[0], -by[1]), abs=0.1)
    assert found.share_as_is < 0.3
    assert found.share_shifted > 0.9


def test_a_shaken_and_shifted_survey_is_found(network):
    allowed, levied = network
    chance = np.random.default_rng(3)
    shaken = np.concatenate([moved([g], DATUM + chance.normal(0, 0.6, 2)) for g in levied])
    found = find_constant_shift(survey(shaken), allowed)
    assert (found.dx_m, found.dy_m) == pytest.approx((-DATUM[0], -DATUM[1]), abs=0.3)


def test_an_honest_survey_isnt_suspect(network):
    allowed, levied = network
    assert find_constant_shift(survey(levied), allowed) is None


@pytest.mark.parametrize("share", [0.3, 0.5, 0.7])
def test_a_survey_of_which_much_is_undeclared_isnt_suspect(network, share):
    allowed, levied = network
    chance = np.random.default_rng(int(100 * share))
    away = chance.uniform(20, 120, (len(levied), 2)) * chance.choice([-1, 1], (len(levied), 2))
    away[chance.random(len(levied)) > share] = 0
    drawn = np.concatenate([moved([g], by) for g, by in zip(levied, away, strict=True)])
    assert find_constant_shift(survey(drawn), allowed) is None


def grid(first, blocks=12, side=100.0):
    """Streets of a grid city, one line a block."""
    lines = []
    for i in range(blocks):
        at = first + side * i
        for j in range(blocks):
            lines += [line((at, side * j), (at, side * (j + 1))), line((side * j, at), (side * (j + 1), at))]
    return lines


@pytest.mark.parametrize("off", [35.0, 50.0, 80.0])
def test_a_grid_city_where_many_shifts_fit_isnt_suspect(off):
    assert find_constant_shift(survey(grid(off)), permitted(grid(0.0))) is None


def test_too_few_stretches_say_nothing():
    few = [line((40 * k, 0), (40 * k + 30, 20)) for k in range(12)]
    assert find_constant_shift(survey(moved(few, (50, 50))), permitted(few)) is None
    assert find_constant_shift(survey([]), permitted(few)) is None
