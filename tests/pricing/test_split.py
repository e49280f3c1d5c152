"""Cutting: each metre in one zone or none, borders once, gaps to the nearest zone, at any angle and rounding."""

from decimal import Decimal

import numpy as np
import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st

from geobill.errors import InputError
from geobill.pricing.cut import Rules, cut
from geobill.pricing.split import cut_segments, share_pieces, split_segments, zone_set
from pricing.geos_oracle import geos_split
from pricing.shapes import box, line, line_frame, turn, zone_frame

ANGLES = (0.0, 17.3, 45.0, 90.0, 123.4, 289.99)


def metres(segments, zones, **rules):
    """(zone, held, flags) → metres of a split."""
    pieces = split_segments(segments, zones, rules=Rules(**rules))
    found = {}
    for p in pieces.itertuples():
        key = (p.zone, p.held, p.flags)
        found[key] = round(found.get(key, 0) + p.length_m, 2)
    return found


def two(x=100, rounded=None, angle=0.0, overlap=0.0):
    """Two zones beside each other, Z1 worth 100 and Z2 worth 80, that meet at x."""
    shapes = box(0, 0, x + overlap, 100), box(x, 0, 200, 100)
    return zone_frame(
        *((f"Z{n + 1}", v, turn(s, angle, rounded)) for n, (s, v) in enumerate(zip(shapes, (100, 80), strict=True)))
    )


@pytest.mark.parametrize("angle", ANGLES)
@pytest.mark.parametrize("rounded", [None, 0.01])
def test_a_crossing_line_is_split_where_it_crosses(angle, rounded):
    segments = line_frame(turn(line((30, 50), (180, 50)), angle))
    found = metres(segments, two(angle=angle, rounded=rounded))
    assert set(found) == {("Z1", None, ()), ("Z2", None, ())}
    assert found["Z1", None, ()] == pytest.approx(70, abs=0.011 if rounded else 0)
    assert sum(found.values()) == 150


@pytest.mark.parametrize("angle", ANGLES)
@pytest.mark.parametrize("rounded", [None, 0.01])
@pytest.mark.parametrize(
    ("policy", "zone", "value"), [("lower", "Z2", "80"), ("higher", "Z1", "100"), ("mean", "Z1 / Z2", "90")]
)
def test_a_line_along_a_border_counts_once_by_policy(angle, rounded, policy, zone, value):
    segments = line_frame(turn(line((100, 10), (100, 80)), angle, rounded))
    pieces = split_segments(segments, two(angle=angle, rounded=rounded), rules=Rules(on_border=policy))
    assert [(p.zone, p.land_value, p.length_m, p.flags) for p in pieces.itertuples()] == [
        (zone, Decimal(value), pytest.approx(70, abs=0.011), ("on_border",))
    ]


@pytest.mark.parametrize("beside", [0.0149, -0.0149])
def test_a_line_just_beside_a_border_is_on_it(beside):
    found = metres(line_frame(line((100 + beside, 10), (100 + beside, 80))), two())
    assert found == {("Z2", None, ("on_border",)): 70}


def test_a_line_clearly_beside_a_border_is_not_on_it():
    found = metres(line_frame(line((99.98, 10), (99.98, 80))), two())
    assert found == {("Z1", None, ()): 70}


def test_a_stretch_shorter_than_half_a_metre_on_a_border_only_crosses_it():
    along = line((90, 50), (100, 50), (100, 50.4), (110, 50.4))
    assert set(metres(line_frame(along), two())) == {("Z1", None, ()), ("Z2", None, ())}


def test_a_whole_segment_shorter_than_half_a_metre_may_lie_on_a_border():
    assert metres(line_frame(line((100, 50), (100, 50.4))), two()) == {("Z2", None, ("on_border",)): 0.4}


@pytest.mark.parametrize("angle", ANGLES)
def test_a_border_ends_where_the_line_turns_off_it(angle):
    bent = turn(line((60, 10), (100, 10), (100, 80), (130, 81)), angle)
    assert metres(line_frame(bent), two(angle=angle)) == {
        ("Z1", None, ()): 40,
        ("Z2", None, ("on_border",)): 70,
        ("Z2", None, ()): 30.02,
    }


@pytest.mark.parametrize("back", [(100, 45), (0, 45), (100, 40.7)])
@pytest.mark.parametrize("angle", [0, 20])
def test_a_corner_exactly_on_a_border_leaves_no_piece_of_nothing_and_can_be_drawn(back, angle):
    segments = line_frame(turn(line((30, 40), (100, 40), back, (0, 60)), angle))
    zones = two(angle=angle)
    made = cut_segments(segments, zones, rules=Rules())
    assert (made.stretches["end_m"] - made.stretches["start_m"]).min() > 1e-9
    units = np.floor(shapely.length(segments.geometry.values) * 100 + 0.5).astype(np.int64)
    pieces = share_pieces(made, segments, zones, units, located=True)
    assert pieces["units"].sum() == units[0]
    assert set(shapely.get_type_id(pieces["geometry"].to_numpy())) == {5}


@pytest.mark.parametrize("angle", ANGLES)
def test_an_overlap_is_held_exactly_and_settled_by_policy(angle):
    segments = line_frame(turn(line((10, 50), (190, 50)), angle))
    zones = two(angle=angle, overlap=20)
    hold = metres(segments, zones, on_overlap="hold")
    assert hold == {("Z1", None, ()): 90, (None, "overlap", ("on_overlap",)): 20, ("Z2", None, ()): 70}
    assert metres(segments, zones, on_overlap="lower")["Z2", None, ("on_overlap",)] == 20
    assert metres(segments, zones, on_overlap="higher")["Z1", None, ("on_overlap",)] == 20


def test_zones_of_equal_value_do_not_contradict_each_other():
    zones = zone_frame(("A", "80", box(0, 0, 120, 100)), ("B", "80.00", box(100, 0, 200, 100)))
    found = metres(line_frame(line((10, 50), (190, 50))), zones)
    assert all(held is None for _, held, _ in found)
    assert sum(found.values()) == 180


@pytest.mark.parametrize("width", [0.029, 0.01, -0.01, -0.029])
def test_an_overlap_or_gap_narrower_than_three_centimetres_is_a_border(width):
    crossing = metres(line_frame(line((30, 50), (180, 50))), two(overlap=width))
    assert set(crossing) == {("Z1", None, ()), ("Z2", None, ())}, "crossed: neither held nor flagged"
    assert sum(crossing.values()) == 150
    middle = 100 + width / 2
    along = metres(line_frame(line((middle, 10), (middle, 80))), two(overlap=width))
    assert along == {("Z2", None, ("on_border",)): 70}


@pytest.mark.parametrize("width", [0.05, 1.0])
def test_an_overlap_wider_than_three_centimetres_is_held(width):
    middle = 100 + width / 2
    found = metres(line_frame(line((middle, 10), (middle, 80))), two(overlap=width))
    assert found == {(None, "overlap", ("on_overlap",)): 70}


def test_a_gap_wider_than_three_centimetres_without_reach_is_in_no_zone():
    found = metres(line_frame(line((30, 50), (180, 50))), two(overlap=-0.04))
    assert found == {("Z1", None, ()): 69.96, (None, "no_zone", ()): 0.04, ("Z2", None, ()): 80}


# -- gaps


def street(width=12.0, angle=0.0):
    """Two blocks across a street, Z1 (100) below and Z2 (80) above."""
    return zone_frame(
        ("Z1", 100, turn(box(0, 0, 100, 100), angle)), ("Z2", 80, turn(box(0, 100 + width, 100, 200 + width), angle))
    )


@pytest.mark.parametrize("angle", ANGLES)
@pytest.mark.parametrize(("y", "zone"), [(105, "Z1"), (108, "Z2")])
def test_street_metres_go_to_the_nearest_block(angle, y, zone):
    found = metres(line_frame(turn(line((10, y), (70, y)), angle)), street(angle=angle), max_gap_m=20.0)
    assert found == {(zone, None, ("in_gap",)): 60}


@pytest.mark.parametrize("angle", ANGLES)
@pytest.mark.parametrize("rounded", [None, 0.01])
def test_the_middle_of_a_street_goes_by_on_border(angle, rounded):
    zones = street(angle=angle)
    zones.geometry = [turn(g, 0, rounded) for g in zones.geometry]
    segments = line_frame(turn(line((10, 106), (70, 106)), angle, rounded))
    for policy, zone in (("lower", "Z2"), ("higher", "Z1"), ("mean", "Z1 / Z2")):
        found = metres(segments, zones, max_gap_m=20.0, on_border=policy)
        assert list(found) == [(zone, None, ("in_gap", "on_border"))]
        assert sum(found.values()) == pytest.approx(60, abs=0.011)


@pytest.mark.parametrize("angle", ANGLES)
@pytest.mark.parametrize("away", [1, 6, 19.9])
def test_passing_the_corner_between_two_blocks_changes_the_zone_there(angle, away):
    segments = line_frame(turn(line((20, 100 + away), (160, 100 + away)), angle))
    found = metres(segments, two(angle=angle), max_gap_m=20.0)
    assert found == {("Z1", None, ("in_gap",)): 80, ("Z2", None, ("in_gap",)): 60}


@pytest.mark.parametrize("angle", ANGLES)
def test_straight_out_from_where_two_blocks_meet_is_between_them(angle):
    found = metres(line_frame(turn(line((100, 100), (100, 130)), angle)), two(angle=angle), max_gap_m=20.0)
    assert found[None, "no_zone", ()] == 10
    assert sum(m for (zone, _, flags), m in found.items() if "on_border" in flags and zone == "Z2") == 20


@pytest.mark.parametrize("angle", ANGLES)
@pytest.mark.parametrize("reverse", [False, True])
def test_the_front_of_an_overlap_is_between_its_zones(angle, reverse):
    # over [100, 103] both zones are equally near, exactly: no distance decides, so on_border does, the way the line runs or not
    outside = line((20, 106), (160, 106))
    zones = two(angle=angle, overlap=3)
    found = metres(line_frame(turn(outside.reverse() if reverse else outside, angle)), zones, max_gap_m=20.0)
    # 0.60 m to either side of the overlap the distances differ by less than 3 cm (contract, "Gap")
    assert found["Z2", None, ("in_gap", "on_border")] == pytest.approx(4.2, abs=0.02)
    assert found["Z1", None, ("in_gap",)] == pytest.approx(79.4, abs=0.02)
    assert sum(found.values()) == 140


@pytest.mark.parametrize("angle", ANGLES)
@pytest.mark.parametrize("reach", [4.0, 20.0, 33.33])
def test_beyond_the_reach_metres_lie_in_no_zone(angle, reach):
    found = metres(line_frame(turn(line((50, 40), (50, 180)), angle)), street(200, angle), max_gap_m=reach)
    assert found == {
        ("Z1", None, ()): 60,
        ("Z1", None, ("in_gap",)): round(reach, 2),
        (None, "no_zone", ()): round(80 - reach, 2),
    }


def test_the_reach_round_a_corner_is_a_circle():
    # passing the corner (100, 100) of one block 12 m off, the reach of 20 m ends 16 m beyond it
    found = metres(line_frame(line((50, 112), (150, 112))), zone_frame(("Z1", 1, box(0, 0, 100, 100))), max_gap_m=20.0)
    assert found == {("Z1", None, ("in_gap",)): 66, (None, "no_zone", ()): 34}


def test_a_hole_in_a_zone_is_a_gap():
    holed = shapely.difference(box(0, 0, 100, 100), box(40, 40, 60, 60))
    segments = line_frame(line((10, 50), (90, 50)))
    assert metres(segments, zone_frame(("Z1", 1, holed))) == {("Z1", None, ()): 60, (None, "no_zone", ()): 20}
    assert metres(segments, zone_frame(("Z1", 1, holed)), max_gap_m=5.0)[None, "no_zone", ()] == 10


# -- rows, parts, rounding


def test_multi_part_rows_are_one_segment_and_closed_ones_are_whole():
    parts = shapely.MultiLineString([line((10, 10), (60, 10)), line((150, 10), (180, 10))])
    ring = line((90, 40), (110, 40), (110, 60), (90, 60), (90, 40))
    pieces = split_segments(line_frame(parts, ring), two(), rules=Rules())
    assert [(p.segment, p.zone, p.length_m) for p in pieces.itertuples()] == [
        ("S1", "Z1", 50),
        ("S1", "Z2", 30),
        ("S2", "Z1", 40),
        ("S2", "Z2", 40),
    ]


def test_heights_are_ignored():
    high = shapely.LineString([(x, y, z) for (x, y), z in zip(line((10, 10), (60, 10)).coords, (0, 500), strict=True)])
    assert metres(line_frame(high), two()) == {("Z1", None, ()): 50}


def test_pieces_that_round_to_nothing_have_no_row_and_the_rest_adds_up():
    found = metres(line_frame(line((99.996, 50), (100.996, 50))), two())
    assert found == {("Z2", None, ()): 1}


def test_without_zones_everything_lies_in_none():
    found = metres(line_frame(line((0, 0), (10, 0))), zone_frame(("Z", 1, box(0, 0, 1, 1))).iloc[:0], max_gap_m=20.0)
    assert found == {(None, "no_zone", ()): 10}


def test_the_order_of_rows_changes_nothing():
    zones = zone_frame(("B", 80, box(100, 0, 200, 100)), ("A", 80, box(0, 0, 120, 100)), ("C", 90, box(90, 0, 130, 50)))
    segments = line_frame(line((10, 60), (190, 60)), line((10, 20), (190, 20)), line((100, 5), (100, 95)))
    first = split_segments(segments, zones, rules=Rules(on_overlap="lower"))
    turned = split_segments(segments, zones.iloc[::-1].reset_index(drop=True), rules=Rules(on_overlap="lower"))
    names = ["segment", "zone", "length_m", "flags"]
    assert sorted(map(tuple, first[names].values)) == sorted(map(tuple, turned[names].values))


def test_degrees_and_two_systems_are_refused():
    segments, zones = line_frame(line((0, 0), (10, 0))), two()
    with pytest.raises(InputError, match="degrees"):
        split_segments(segments.to_crs(4674), zones, rules=Rules())
    with pytest.raises(InputError, match="only in one system"):
        split_segments(segments.to_crs(31982), zones, rules=Rules())


# -- properties, against GEOS


@st.composite
def coverages(draw):
    """A jittered grid of zones with shared vertices, turned by any angle; one in three has its coordinates rounded."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, size = draw(st.integers(2, 4)), draw(st.sampled_from([20.0, 60.0, 150.0]))
    xy = np.stack(np.meshgrid(np.arange(n + 1), np.arange(n + 1), indexing="ij"), -1) * size
    xy = xy + rng.uniform(-0.2, 0.2, xy.shape) * size + (322000.0, 7416000.0)
    corner = np.stack([xy[:-1, :-1], xy[1:, :-1], xy[1:, 1:], xy[:-1, 1:], xy[:-1, :-1]], 2).reshape(-1, 5, 2)
    angle, rounded = draw(st.floats(0, 360)), draw(st.sampled_from([None, None, 0.01]))
    shapes = [turn(p, angle, rounded) for p in shapely.polygons(corner)]
    holes = rng.uniform(size=len(shapes)) < 0.15
    kept = [s for s, hole in zip(shapes, holes, strict=True) if not hole and s.is_valid]
    values = rng.integers(50, 900, len(kept))
    return rng, kept or shapes[:1], [int(v) for v in values] or [50], size * n


@settings(max_examples=200, deadline=None)
@given(coverages())
def test_metres_are_conserved_and_agree_with_geos(city):
    """10,000 lines (200 maps of 50): each metre once; inside the union as GEOS measures it."""
    rng, shapes, values, extent = city
    zones = zone_frame(*((f"Z{n}", v, s) for n, (s, v) in enumerate(zip(shapes, values, strict=True))))
    vertices = shapely.get_coordinates(np.array(shapes))
    lines = []
    for n in range(50):
        k = rng.integers(2, 5)
        if n % 5 == 0 and len(vertices) > 1:  # from vertex to vertex of the map: along borders, through corners
            xy = vertices[rng.integers(0, len(vertices), 2)]
            if np.allclose(xy[0], xy[1]):
                xy = xy + [[0, 0], [1, 2]]
        else:
            xy = np.array([322000.0, 7416000.0]) + rng.uniform(-0.3, 1.3, (k, 2)) * extent
        lines.append(shapely.LineString(xy))
    segments = line_frame(*lines)
    pieces = split_segments(segments, zones, rules=Rules(on_overlap="lower"))
    total = np.floor(shapely.length(np.array(lines)) * 100 + 0.5 + 1e-6).astype(int)
    assert (np.bincount(pieces["row"], weights=pieces["units"], minlength=50) == total).all()
    union = shapely.union_all(np.array(shapes))
    borders = shapely.union_all(shapely.boundary(np.array(shapes)))
    for n, one in enumerate(lines):
        mine = pieces[pieces["row"] == n]
        covered = mine[mine["zone"].notna()]["length_m"].sum()
        crossings = 1 + shapely.get_num_geometries(shapely.intersection(one, shapely.boundary(union)))
        near = shapely.intersection(one, shapely.buffer(borders, 0.04)).length
        assert covered == pytest.approx(shapely.intersection(one, union).length, abs=0.04 * crossings + 0.01)
        oracle = geos_split(one, shapes, values)
        for z in range(len(shapes)):
            ours = mine[mine["zone"] == f"Z{z}"]["length_m"].sum()
            assert ours == pytest.approx(oracle[z], abs=near + 0.02)


@settings(max_examples=60, deadline=None)
@given(coverages(), st.sampled_from([3.0, 20.0, 70.0]))
def test_gap_metres_take_the_nearest_zone_as_geos_measures_it(city, reach):
    rng, shapes, values, extent = city
    zones = zone_frame(*((f"Z{n}", v, s) for n, (s, v) in enumerate(zip(shapes, values, strict=True))))
    ends = np.array([322000.0, 7416000.0]) + rng.uniform(-0.6, 1.6, (20, 2, 2)) * extent
    lines = shapely.linestrings(ends)
    stretches = cut(lines, zone_set(zones, zone="zone", land_value="land_value"), Rules(max_gap_m=reach))
    for s in stretches.itertuples():
        places = [s.start_m + 1e-4, (s.start_m + s.end_m) / 2, s.end_m - 1e-4]
        for place in places if s.end_m - s.start_m > 1e-3 else []:
            distance = shapely.distance(shapely.line_interpolate_point(lines[s.line], place), np.array(shapes))
            least = distance.min()
            if "in_gap" in s.flags:
                assert 0 < least <= reach + 1e-6
                assert distance[s.zone] <= least + (0.031 if "on_border" in s.flags else 1e-6)
            elif s.zone < 0 and not s.held:
                assert least > reach - 1e-6
