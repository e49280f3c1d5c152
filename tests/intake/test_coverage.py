"""The priced coverage: planar, nothing lost, gaps given to the nearest zone."""

from pathlib import Path

import geopandas as gpd
import numpy as np
import pyogrio
import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st
from shapely import affinity

from geobill.errors import InputError, PolicyError
from geobill.intake.coverage import COVERAGE, coverage_summary, draw_coverage
from geobill.intake.zones import overlap_report, repair_zones

DATA = Path(__file__).parents[2].parent / "shared" / "data" / "caieiras"
needs_data = pytest.mark.skipif(not DATA.is_dir(), reason=f"{DATA} is missing: the real value map isn't tested")


def _map(*zones):
    """Rows of (geometry or box, value)."""
    shapes = [shapely.box(*g) if isinstance(g, tuple) else g for g, _ in zones]
    frame = gpd.GeoDataFrame(
        {
            "source_row": range(1, len(zones) + 1),
            "zone": [f"Z{i}" for i in range(1, len(zones) + 1)],
            "land_value": [v for _, v in zones],
        },
        geometry=gpd.GeoSeries(shapes, crs=31983),
    )
    return repair_zones(frame)[0]


def _faces(coverage):
    return [(r.kind, r.zone, r.land_value, r.source_row, r.status, round(r.area_m2, 2)) for r in coverage.itertuples()]


def _turned(zones, degrees):
    turned = zones.copy()
    shapes = [affinity.translate(affinity.rotate(g, degrees, origin=(0, 0)), 320000, 7410000) for g in zones.geometry]
    return turned.set_geometry(gpd.GeoSeries(shapes, index=zones.index, crs=zones.crs))


def _check(zones, coverage, max_gap_m, rng, points=400):
    """What holds for every coverage; returns how many points were clearly nearer to one zone than to any other."""
    assert list(coverage.columns) == list(COVERAGE)
    assert coverage.geometry.is_valid.all()
    assert (coverage.geom_type == "MultiPolygon").all()
    shapes, faces = np.array(zones.geometry.values), np.array(coverage.geometry.values)
    first, second = shapely.STRtree(faces).query(faces, predicate="intersects")
    common = shapely.area(shapely.intersection(faces[first], faces[second]))[first < second]
    assert common.max(initial=0) < 1e-3
    union = shapely.union_all(shapes)
    covered = coverage.loc[coverage["kind"] != "gap", "area_m2"].sum()
    assert covered == pytest.approx(union.area, rel=1e-6)
    gaps = coverage[coverage["kind"] == "gap"]
    if not max_gap_m:
        assert gaps.empty
        return 0
    reached = shapely.buffer(union, max_gap_m, quad_segs=64)
    assert gaps["area_m2"].sum() == pytest.approx(reached.area - union.area, rel=1e-3, abs=1e-2)
    return _check_nearest(zones, gaps, shapely.difference(reached, union), max_gap_m, rng, points)


def _check_nearest(zones, gaps, ground, max_gap_m, rng, count):
    left, low, right, high = ground.bounds
    shapely.prepare(ground)
    points = shapely.points(rng.uniform(left, right, 20 * count), rng.uniform(low, high, 20 * count))
    points = points[shapely.contains(ground, points)][:count]
    shapes, rows = np.array(zones.geometry.values), zones["source_row"].to_numpy()
    reach = 2 * max_gap_m + 1
    at, zone = shapely.STRtree(shapes).query(points, predicate="dwithin", distance=reach)
    nearest = np.full((len(points), 2), np.inf)
    owner = np.full(len(points), -1)
    for point, row, distance in zip(at, rows[zone], shapely.distance(points[at], shapes[zone]), strict=True):
        if distance < nearest[point, 0]:
            nearest[point] = distance, nearest[point, 0]
            owner[point] = row
        else:
            nearest[point, 1] = min(nearest[point, 1], distance)
    clear = (nearest[:, 1] - nearest[:, 0] > 0.2) & (nearest[:, 0] < max_gap_m - 0.05)
    at, face = shapely.STRtree(np.array(gaps.geometry.values)).query(points, predicate="intersects")
    drawn = np.full(len(points), -1)
    drawn[at] = gaps["source_row"].to_numpy(dtype=int)[face]
    wrong = clear & (drawn != owner)
    assert not wrong.any(), [(str(points[i]), drawn[i], owner[i], *nearest[i]) for i in np.flatnonzero(wrong)[:5]]
    return int(clear.sum())


@pytest.mark.parametrize("degrees", [0, 17.3, 61.9])
def test_overlap_is_held_or_settled_by_policy(degrees):
    zones = _turned(_map(((0, 0, 10, 10), "5"), ((8, 0, 18, 10), "7.00")), degrees)
    assert _faces(draw_coverage(zones, "hold", 0)) == [
        ("zone", "Z1", "5", 1, "priced", 80.0),
        ("zone", "Z2", "7.00", 2, "priced", 80.0),
        ("overlap", "Z1 | Z2", None, None, "held", 20.0),
    ]
    assert _faces(draw_coverage(zones, "lower", 0))[2] == ("overlap", "Z1", "5", 1, "priced", 20.0)
    assert _faces(draw_coverage(zones, "higher", 0))[2] == ("overlap", "Z2", "7.00", 2, "priced", 20.0)


@pytest.mark.parametrize("degrees", [0, 17.3, 61.9])
@pytest.mark.parametrize(
    ("width", "held"), [(0.005, False), (0.029, False), (0.03, False), (0.031, True), (0.05, True)]
)
def test_an_overlap_up_to_three_centimetres_wide_is_a_border_of_the_lower_value(degrees, width, held):
    zones = _turned(_map(((0, 0, 100, 100), "7"), ((100 - width, 0, 200, 100), "5")), degrees)
    faces = _faces(draw_coverage(zones, "hold", 0))
    assert [f[0] for f in faces] == ["zone", "zone"] + ["overlap"] * held
    assert faces[0][5] == pytest.approx(100 * (100 - width), abs=0.02)
    if not held:
        assert faces[1][5] == pytest.approx(100 * (100 + width), abs=0.02)


def test_a_wedge_is_held_only_where_it_is_wide():
    wedge = shapely.Polygon([(10, 0), (20, 0), (20, 10), (9, 10)])  # over the first zone: from 0 to 1 m wide
    coverage = draw_coverage(_map(((0, 0, 10, 10), "5"), (wedge, "7")), "hold", 0)
    held = coverage[coverage["status"] == "held"].geometry.iloc[0]
    assert held.area == pytest.approx(5 - 0.03 * 0.3 / 2, abs=0.005)
    assert held.bounds[1] == pytest.approx(0.3, abs=0.03)


def test_equal_values_do_not_contradict_and_go_to_the_first_row():
    zones = _map(((0, 0, 10, 10), "5"), ((8, 0, 18, 10), "5.00"), ((9, 0, 12, 10), "7"))
    assert _faces(draw_coverage(zones, "hold", 0)) == [
        ("zone", "Z1", "5", 1, "priced", 90.0),
        ("zone", "Z2", "5.00", 2, "priced", 60.0),
        ("overlap", "Z1 | Z2 | Z3", None, None, "held", 10.0),
        ("overlap", "Z2 | Z3", None, None, "held", 20.0),
    ]
    lower = _faces(draw_coverage(zones, "lower", 0))
    assert lower[2:] == [("overlap", "Z1", "5", 1, "priced", 10.0), ("overlap", "Z2", "5.00", 2, "priced", 20.0)]


def test_zones_that_only_touch_keep_every_coordinate():
    zones = _turned(_map(((0, 0, 10, 10), "5"), ((10, 0, 20, 10), "7"), ((0, 10, 20, 20), "9")), 31.7)
    coverage = draw_coverage(zones, "hold", 0)
    assert (coverage["kind"] == "zone").all()
    assert coverage.geometry.to_wkb().tolist() == zones.geometry.to_wkb().tolist()


def test_a_street_is_shared_along_its_middle():
    zones = _map(((0, 0, 100, 100), "5"), ((110, 0, 200, 100), "7"))
    coverage = draw_coverage(zones, "hold", 20)
    left, right = coverage[coverage["kind"] == "gap"].geometry
    street = shapely.box(100, 5, 110, 95)
    assert shapely.area(left.intersection(street)) == pytest.approx(450, abs=0.5)
    assert shapely.area(right.intersection(street)) == pytest.approx(450, abs=0.5)
    closed = round(float(left.area + right.area), 2)
    assert coverage_summary(coverage, overlap_report(zones)) == {
        "zones": 2,
        "area_m2": {"zone": 19000.0, "overlap": 0.0, "gap": closed},
        "overlap_pairs": 0,
        "overlap_area_m2": 0.0,
        "held_m2": 0.0,
        "gap_closed_m2": closed,
    }


def test_one_zone_alone_takes_all_within_reach():
    coverage = draw_coverage(_map(((0, 0, 100, 100), "5")), "hold", 20)
    assert _faces(coverage)[1][:5] == ("gap", "Z1", "5", 1, "priced")
    assert coverage["area_m2"].iloc[1] == pytest.approx(8000 + np.pi * 400, rel=1e-3)


def test_what_does_not_exist_is_refused():
    zones = _map(((0, 0, 10, 10), "5"))
    with pytest.raises(PolicyError, match="hold, lower, higher"):
        draw_coverage(zones, "mean", 0)
    with pytest.raises(PolicyError, match="0 or more"):
        draw_coverage(zones, "hold", -1)
    with pytest.raises(PolicyError, match="0 or more"):
        draw_coverage(zones, "hold", float("nan"))
    with pytest.raises(InputError, match="land_value"):
        draw_coverage(zones.drop(columns="land_value"), "hold", 0)


def test_an_empty_map_gives_an_empty_coverage():
    coverage = draw_coverage(_map(), "hold", 20)
    assert list(coverage.columns) == list(COVERAGE)
    assert coverage.empty
    assert coverage.crs == 31983


@st.composite
def block_maps(draw):
    """Blocks between streets, pushed about and turned, some overlapping or crossing themselves, to the centimetre."""
    street = draw(st.sampled_from([0.0, 0.02, 0.4, 3.0, 12.0, 30.0]))
    push = draw(st.sampled_from([0.0, 0.02, 1.0, 8.0]))
    degrees = draw(st.floats(0, 90))
    seed = draw(st.integers(0, 2**32 - 1))
    columns, lines = draw(st.integers(1, 5)), draw(st.integers(1, 4))
    rng = np.random.default_rng(seed)
    zones = []
    for column in range(columns):
        for line in range(lines):
            if rng.random() < 0.1:
                continue
            x, y = column * (60 + street), line * (40 + street)
            ring = np.array([(x, y), (x + 60, y), (x + 60, y + 40), (x + 25, y + 40), (x, y + 40)], dtype=float)
            ring += rng.uniform(-push, push, ring.shape)
            if rng.random() < 0.08:
                ring[[1, 2]] = ring[[2, 1]]
            shape = affinity.rotate(shapely.Polygon(ring), degrees, origin=(0, 0))
            shape = affinity.translate(shape, 320000, 7410000)
            ring = np.round(shapely.get_coordinates(shape), 2)
            zones.append((shapely.Polygon(ring), str(rng.integers(1, 5) * 100)))
    return _map(*zones)


@given(
    block_maps(),
    st.sampled_from(["hold", "lower", "higher"]),
    st.sampled_from([0.0, 2.0, 20.0, 50.0]),
    st.integers(0, 2**32 - 1),
)
@settings(max_examples=60, deadline=None)
def test_any_map_of_blocks_becomes_planar_and_loses_nothing(zones, on_overlap, max_gap_m, seed):
    coverage = draw_coverage(zones, on_overlap, max_gap_m)
    if zones.empty:
        assert coverage.empty
        return
    rng = np.random.default_rng(seed)
    _check(zones, coverage, max_gap_m, rng)
    assert (coverage["status"] == "held").sum() == ((coverage["kind"] == "overlap") & (on_overlap == "hold")).sum()
    mixed = draw_coverage(zones.sample(frac=1, random_state=seed % 1000), on_overlap, max_gap_m)
    assert mixed.geometry.to_wkb().tolist() == coverage.geometry.to_wkb().tolist()
    assert mixed.drop(columns="geometry").equals(coverage.drop(columns="geometry"))


def _real(layer):
    drawn = pyogrio.read_dataframe(DATA / "mapa_de_valores.gpkg", layer=layer)
    drawn["source_row"] = range(1, len(drawn) + 1)
    drawn = drawn[drawn["VALOR_M2"].notna()]
    return gpd.GeoDataFrame(
        {
            "source_row": drawn["source_row"],
            "zone": drawn.iloc[:, 0].astype(str),
            "land_value": [f"{v:.2f}" for v in drawn["VALOR_M2"]],
        },
        geometry=drawn.geometry,
    )


@needs_data
@pytest.mark.parametrize("max_gap_m", [0, 20])
def test_the_real_neighbourhood_zones(max_gap_m):
    zones, _, _ = repair_zones(_real("zonas_bairro"))
    coverage = draw_coverage(zones, "hold", max_gap_m)
    _check(zones, coverage, max_gap_m, np.random.default_rng(1), points=2000)
    assert (coverage["kind"] == "zone").sum() == 60
    assert (coverage["status"] == "priced").all()


@needs_data
def test_real_blocks_and_their_streets():
    """A fifth of the real blocks: 20,000 points, none of them in the face of another than its nearest block."""
    zones = _real("zonas_quadra")
    left, low, right, high = zones.total_bounds
    window = shapely.box(left + 0.3 * (right - left), low + 0.4 * (high - low), left + 0.7 * (right - left), high)
    zones, _, _ = repair_zones(zones[zones.geometry.centroid.within(window) & (zones.geometry.area < 200_000)][:900])
    coverage = draw_coverage(zones, "hold", 20)
    clear = _check(zones, coverage, 20, np.random.default_rng(1), points=20_000)
    assert clear > 15_000
    summary = coverage_summary(coverage, overlap_report(zones))
    assert summary["zones"] == len(zones)
    assert summary["held_m2"] == summary["area_m2"]["overlap"] > 0
