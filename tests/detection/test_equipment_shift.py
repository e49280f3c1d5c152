"""A survey of poles that misses as a whole is a fault of its coordinates."""

import geopandas as gpd
import numpy as np
import pytest

from geobill.detection.equipment_shift import find_equipment_shift

SHIFT = (-45.09, -45.70)


def placed(xy):
    return gpd.GeoDataFrame(geometry=gpd.points_from_xy(*np.asarray(xy, dtype=float).T), crs=31983)


def scattered(count=400, seed=1):
    return np.random.default_rng(seed).uniform(0, 30 * count**0.5, (count, 2))


@pytest.mark.parametrize("sigma", [0.0, 0.5, 1.0])
def test_the_shift_is_found_and_leads_back(sigma):
    xy = scattered()
    noise = np.random.default_rng(2).normal(0, sigma, xy.shape)
    found = find_equipment_shift(placed(xy[40:] + SHIFT + noise[40:]), placed(xy))
    assert (found.dx_m, found.dy_m) == pytest.approx((45.09, 45.70), abs=0.05 + sigma / 4)
    assert found.share_as_is < 0.1
    assert found.share_shifted > 0.95


def test_nothing_is_found_where_no_one_vector_explains_it():
    xy = scattered()
    assert find_equipment_shift(placed(xy), placed(xy)) is None
    assert find_equipment_shift(placed(scattered(seed=7)), placed(xy)) is None
    assert find_equipment_shift(placed(xy[:19] + SHIFT), placed(xy)) is None  # too few to say
    assert find_equipment_shift(placed(xy + (0, 5_000)), placed(xy)) is None  # another street, not another datum
    half = np.r_[xy[:200] + SHIFT, xy[200:]]
    assert find_equipment_shift(placed(half), placed(xy)) is None
    even = [(30.0 * x, 30.0 * y) for x in range(20) for y in range(20)]
    assert find_equipment_shift(placed(np.array(even) + 10), placed(even)) is None  # by (-10, -10), or by (20, 20)?


def test_a_real_survey_of_poles_with_the_shift_of_a_datum(shared):
    files = [shared / "data" / "caieiras" / n for n in ("rede_levantada_2024.gpkg", "rede_permitida_2021.gpkg")]
    survey, permitted = (gpd.read_file(f, layer="PONNOT") for f in files)
    assert find_equipment_shift(survey, permitted) is None
    found = find_equipment_shift(survey.set_geometry(survey.geometry.translate(*SHIFT)), permitted)
    assert (found.dx_m, found.dy_m) == pytest.approx((45.09, 45.70), abs=0.01)
