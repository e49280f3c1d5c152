"""Repairs of zones and the count of their overlaps."""

import math
from pathlib import Path

import geopandas as gpd
import pyogrio
import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st

from geobill.intake.zones import overlap_report, repair_zones

DATA = Path(__file__).parents[2].parent / "shared" / "data" / "caieiras"
needs_data = pytest.mark.skipif(not DATA.is_dir(), reason=f"{DATA} is missing: the real value map isn't tested")


def _map(*geometries):
    count = len(geometries)
    return gpd.GeoDataFrame(
        {"source_row": range(1, count + 1), "zone": [f"Z{i}" for i in range(count)], "land_value": ["10.00"] * count},
        geometry=gpd.GeoSeries([shapely.from_wkt(g) if isinstance(g, str) else g for g in geometries], crs=31983),
    )


def test_a_bow_tie_keeps_both_halves_and_is_reported():
    zones, set_aside, findings = repair_zones(_map("POLYGON((0 0,10 10,10 0,0 10,0 0))"))
    assert zones.geometry.iloc[0].area == pytest.approx(50)
    assert zones.geometry.iloc[0].geom_type == "MultiPolygon"
    assert not set_aside
    assert [(f.code, f.severity, f.rows) for f in findings] == [("zone_repaired", "warning", (1,))]
    assert "0.00 m² as drawn, 50.00 m² after" in findings[0].message
    assert findings[0].fix


def test_parts_that_overlap_lose_nothing():
    zones, _, findings = repair_zones(_map("MULTIPOLYGON(((0 0,2 0,2 2,0 2,0 0)),((1 1,3 1,3 3,1 3,1 1)))"))
    assert zones.geometry.iloc[0].area == pytest.approx(7)
    assert "8.00 m² as drawn, 7.00 m² after the repair (-1.00 m²)" in findings[0].message


def test_every_row_is_used_or_set_aside_with_a_reason():
    nan = shapely.Polygon([(0, 0), (1, math.nan), (1, 1)])
    inf = shapely.Polygon([(0, 0), (1, math.inf), (1, 1)])
    drawn = _map(
        "POLYGON Z((0 0 7,1 0 7,1 1 7,0 0 7))",
        None,
        "POLYGON EMPTY",
        "POLYGON((0 0,1 1,2 2,0 0))",
        "LINESTRING(0 0,1 1)",
        nan,
        inf,
        "GEOMETRYCOLLECTION(POINT(9 9),POLYGON((0 0,2 0,2 2,0 0)))",
        "POLYGON((0 0,10 0,10 10,5 10,5 15,5 10,0 10,0 0))",
    )
    before = drawn.geometry.to_wkb().tolist()
    zones, set_aside, findings = repair_zones(drawn)
    assert [(s.row, s.id, s.reason_code) for s in set_aside] == [
        (2, "Z1", "no_geometry"),
        (3, "Z2", "no_geometry"),
        (4, "Z3", "invalid_geometry"),
        (5, "Z4", "wrong_geometry_type"),
        (6, "Z5", "invalid_geometry"),
        (7, "Z6", "invalid_geometry"),
    ]
    assert zones["source_row"].tolist() == [1, 8, 9]
    assert not shapely.has_z(zones.geometry.values).any()
    assert [f.rows for f in findings] == [(8,), (9,)]
    assert zones.geometry.area.round(6).tolist() == [0.5, 2.0, 100.0]
    assert drawn.geometry.to_wkb().tolist() == before  # the input stays as it was
    assert zones.crs == drawn.crs


def test_an_empty_map_stays_empty():
    zones, set_aside, findings = repair_zones(_map())
    assert len(zones) == 0
    assert set_aside == findings == ()
    assert overlap_report(zones).pairs == 0


corner = st.tuples(st.integers(0, 5000), st.integers(0, 5000)).map(lambda p: (p[0] / 100, p[1] / 100))


@given(st.lists(st.lists(corner, min_size=3, max_size=9), min_size=1, max_size=4))
@settings(max_examples=60, deadline=None)
def test_repaired_zones_are_valid_and_sound_ones_unchanged(rings):
    drawn = _map(*[shapely.Polygon(r) for r in rings])
    zones, set_aside, findings = repair_zones(drawn)
    assert len(zones) + len(set_aside) == len(drawn)
    assert zones.geometry.is_valid.all()
    assert (zones.geom_type == "MultiPolygon").all()
    repaired = {f.rows[0] for f in findings}
    for row, before, after in zip(zones["source_row"], drawn.geometry[zones.index], zones.geometry, strict=True):
        assert after.area > 0
        if row not in repaired:
            assert before.is_valid
            assert shapely.get_coordinates(before).tobytes() == shapely.get_coordinates(after).tobytes()


def test_overlaps_are_told_from_one_square_metre():
    zones, _, _ = repair_zones(
        _map(
            "POLYGON((0 0,10 0,10 10,0 10,0 0))",
            "POLYGON((9.75 0,20 0,20 10,9.75 10,9.75 0))",  # 2.5 m² with the first
            "POLYGON((19.95 0,30 0,30 10,19.95 10,19.95 0))",  # 0.5 m² with the second
            "POLYGON((30 0,40 0,40 10,30 10,30 0))",  # touches the third
            "POLYGON((32 2,34 2,34 4,32 4,32 2))",  # within the fourth
        )
    )
    report = overlap_report(zones[::-1])
    assert [(a, b, round(m2, 6)) for a, b, m2 in report.rows] == [(1, 2, 2.5), (4, 5, 4.0)]
    assert report.area_m2 == pytest.approx(sum(m2 for *_, m2 in report.rows))


@needs_data
def test_the_real_block_map_has_742_overlaps_729_of_them_between_rows_with_a_value():
    blocks = pyogrio.read_dataframe(DATA / "mapa_de_valores.gpkg", layer="zonas_quadra")
    zones = gpd.GeoDataFrame(
        {"source_row": range(1, len(blocks) + 1), "zone": blocks["QUADRA"], "land_value": blocks["VALOR_M2"]},
        geometry=blocks.geometry,
    )
    repaired, set_aside, findings = repair_zones(zones)
    assert (len(repaired), set_aside, findings) == (4304, (), ())
    everything = overlap_report(repaired)
    assert everything.pairs == 742
    assert everything.area_m2 == pytest.approx(351_335.2, abs=0.1)
    priced = overlap_report(repaired[repaired["land_value"].notna()])
    assert priced.pairs == 729
    assert priced.area_m2 == pytest.approx(342_649.7, abs=0.1)
