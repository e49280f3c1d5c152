"""How far a stretch lies off, place by place and in figures."""

import numpy as np
import pytest
import shapely
from drawn_surveys import line

from geobill.detection.cut import stretches
from geobill.detection.drawn import drawn
from geobill.detection.offsets import offset_profile, offsets, offsets_to

STREET = np.array([line((0, 0), (100, 0))])


def test_profile_says_where_and_how_far():
    profile = offset_profile(line((0, 2), (50, 2), (50, 12)), STREET, 3.0, step_m=10.0)
    assert [round(p, 6) for p, _ in profile] == [0, 10, 20, 30, 40, 50, 60]
    assert [round(d, 6) for _, d in profile] == [2, 2, 2, 2, 2, 2, 12]


def test_profile_has_nothing_where_nothing_is_near():
    profile = offset_profile(line((100, 0), (200, 0)), STREET, 3.0)
    assert len(profile) == 101
    assert [d for p, d in profile if p <= 29] == pytest.approx(list(range(30)))
    assert all(d is None for p, d in profile if p > 31)
    assert offset_profile(line((0, 0), (4, 0)), np.array([], dtype=object), 3.0) == [(x, None) for x in range(5)]


def test_profile_takes_both_ends_and_even_steps():
    places = [p for p, _ in offset_profile(line((0, 1), (10.5, 1)), STREET, 3.0, step_m=2.0)]
    assert places == pytest.approx(np.linspace(0, 10.5, 7))


def test_statistics_of_a_line_that_leaves():
    found = offsets(np.array([line((0, 0), (100, 0), (100, 100)), line((0, 3), (90, 3))]), drawn(STREET))
    assert found.mean == pytest.approx([25, 3], rel=0.01)
    assert found.p95 == pytest.approx([90, 3], rel=0.02)
    assert found.max == pytest.approx([100, 3])


def test_statistics_agree_with_geos_at_many_places():
    chance = np.random.default_rng(5)
    lines = shapely.linestrings(np.cumsum(chance.normal(0, 8, (30, 5, 2)), axis=1))
    others = shapely.linestrings(np.cumsum(chance.normal(0, 8, (9, 5, 2)), axis=1))
    found = offsets(lines, drawn(others))
    for k, one in enumerate(lines):
        places = shapely.line_interpolate_point(one, np.linspace(0.0005, 0.9995, 1000), normalized=True)
        exact = shapely.distance(places, shapely.union_all(others))
        assert found.mean[k] == pytest.approx(exact.mean(), abs=0.3)
        assert found.max[k] <= exact.max() + 0.1


def test_nothing_to_measure_to_is_nan():
    assert np.isnan(offsets(STREET, drawn(np.array([], dtype=object))).mean).all()
    assert np.isnan(offsets_to(STREET, np.array([None])).mean).all()
    assert offsets_to(STREET, np.array([line((0, 7), (100, 7))])).mean == pytest.approx([7])
    none = np.zeros(0, dtype=object)
    assert len(offsets(none, drawn(STREET)).p95) == len(offsets_to(none, none).max) == 0


def test_cuts_keep_every_vertex_between():
    chance = np.random.default_rng(6)
    lines = shapely.linestrings(np.cumsum(chance.normal(0, 8, (40, 9, 2)), axis=1))
    which = chance.integers(0, 40, 200)
    ends = np.sort(chance.random((200, 2)), axis=1) * shapely.length(lines)[which][:, None]
    cut = stretches(lines, which, ends[:, 0], ends[:, 1])
    for one, w, (start, end) in zip(cut, which, ends, strict=True):
        exact = shapely.ops.substring(lines[w], start, end)
        assert np.allclose(shapely.get_coordinates(one), shapely.get_coordinates(exact), atol=1e-6)


def test_a_whole_line_cut_is_the_line():
    lines = np.array([line((0, 0), (10, 0), (10, 5)), line((0, 3), (4, 3))])
    # a rounding's width before the beginning isn't counted from the other end
    cut = stretches(lines, np.array([0, 1]), np.array([-1e-13, 0.0]), shapely.length(lines))
    assert shapely.equals_exact(cut, lines, 1e-9).all()
