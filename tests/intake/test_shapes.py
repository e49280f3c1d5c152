"""Geometries as operators send them: arcs, surfaces, stubs, collections, rings, risers; what becomes of each row."""

import math
import struct
from decimal import Decimal

import numpy as np
import pyogrio
import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st

from geobill.intake.crs import CAIEIRAS
from geobill.intake.land_values import read_land_values
from geobill.intake.network import read_network
from geobill.intake.reader import read_layer
from geobill.intake.reading import Options, Part
from geobill.intake.shapes import geometries

X, Y = 322000.0, 7416000.0
KINDS = {"point": 1, "line": 2, "polygon": 3, "lines": 5, "collection": 7, "string": 8, "compound": 9, "area": 10,
         "curves": 11, "surfaces": 12, "polyhedron": 15, "tin": 16, "triangle": 17}  # fmt: skip


class Wkb:
    """Writes well-known binary in one of its dialects; vertices are (x, y) from a corner inside Caieiras."""

    def __init__(self, order="<", extra="", dialect="iso"):
        self.order, self.extra, self.dialect = order, extra, dialect

    def head(self, kind):
        code = KINDS[kind]
        if self.dialect == "iso":
            code += {"": 0, "z": 1000, "m": 2000, "zm": 3000}[self.extra]
        else:
            code |= (0x80000000 if "z" in self.extra else 0) | (0x40000000 if "m" in self.extra else 0) | 0x20000000
        srid = struct.pack(self.order + "I", 31983) if self.dialect == "ewkb" else b""
        return bytes([self.order == "<"]) + struct.pack(self.order + "I", code) + srid

    def points(self, *xy):
        flat = [c for x, y in xy for c in (X + x, Y + y, *[7.0] * len(self.extra))]
        return struct.pack(f"{self.order}I{len(flat)}d", len(xy), *flat)

    def curve(self, kind, *xy):
        return self.head(kind) + self.points(*xy)

    def many(self, kind, *parts):
        return self.head(kind) + struct.pack(self.order + "I", len(parts)) + b"".join(parts)


def wkb(*rows):
    return np.array(rows, dtype=object)


HALF = ((0, 0), (10, 10), (20, 0))
CIRCLE = ((0, 0), (20, 0), (0, 0))
W = Wkb()
TIN = W.many("tin", W.head("triangle") + struct.pack("<I", 1) + W.points((0, 0), (1, 0), (1, 1), (0, 0)))


@pytest.mark.parametrize("order", "<>")
@pytest.mark.parametrize("extra", ["", "z", "m", "zm"])
@pytest.mark.parametrize("dialect", ["iso", "ewkb"])
def test_arcs_of_every_kind_and_dialect(order, extra, dialect):
    w = Wkb(order, extra, dialect)
    half, straight = w.curve("string", *HALF), w.curve("line", (20, 0), (30, 0))
    ring = w.many("compound", half, w.curve("line", (20, 0), (0, 0)))
    shapes = geometries(wkb(
        half, w.curve("string", *CIRCLE), w.many("compound", half, straight), w.many("curves", straight, half, ring),
        w.many("area", ring), w.many("surfaces", w.many("area", ring), w.head("polygon") + struct.pack(order + "I", 0)),
        w.many("collection", straight, w.many("collection", half)), w.curve("string", (0, 0), (5, 0), (10, 0)), straight,
    ))  # fmt: skip
    arc = 10 * math.pi
    exact = [arc, 2 * arc, arc + 10, 10 + arc + arc + 20, arc + 20, arc + 20, arc + 10, 10, 10]
    lengths = shapely.length(shapes.geometry)
    assert shapes.unbuilt == {}
    assert shapes.curved == (1, 2, 3, 4, 5, 6, 7)
    assert (lengths <= np.array(exact) + 1e-6).all()
    assert lengths == pytest.approx(exact, rel=shapes.error * 1.001, abs=1e-6)
    assert 0 < shapes.error < 0.001
    kinds = ["LineString"] * 3 + ["MultiLineString", "Polygon", "MultiPolygon", "GeometryCollection"]
    assert [g.geom_type for g in shapes.geometry[:7]] == kinds
    assert shapely.has_z(shapes.geometry[:4]).all() == ("z" in extra)
    assert shapely.area(shapes.geometry[4]) == pytest.approx(50 * math.pi, rel=1e-3)


@settings(max_examples=200, deadline=None)
@given(st.tuples(*[st.floats(-500, 500)] * 2), st.floats(0.5, 800), *[st.floats(0.01, 0.99)] * 2, st.booleans())
def test_an_arc_keeps_its_place_and_its_length(centre, radius, sweep, middle, backwards):
    turns = np.array([0, middle, 1]) * sweep * math.tau * (-1 if backwards else 1) + 1
    points = [(centre[0] + radius * math.cos(t), centre[1] + radius * math.sin(t)) for t in turns]
    [line] = geometries(wkb(W.curve("string", *points))).geometry
    expected = radius * sweep * math.tau
    # the file holds coordinates of seven figures: a short flat arc's radius is not better known than they are
    assert line.length == pytest.approx(expected, rel=1e-4, abs=1e-5)
    xy = shapely.get_coordinates(line)
    apart = np.hypot(*(xy - [X + centre[0], Y + centre[1]]).T) - radius
    sagitta = expected**2 / radius
    assert np.abs(apart).max() < 1e-6 + 1e-8 * radius**2 / min(sagitta, radius)
    assert xy[[0, -1]] == pytest.approx(np.array([points[0], points[2]]) + [X, Y], abs=1e-9)


def test_a_row_that_cant_be_built_costs_only_itself():
    cut = W.curve("string", *HALF)[:-3]
    deep = W.curve("line", (0, 0), (1, 0))
    for _ in range(50):
        deep = W.many("collection", deep)
    inside = W.many("collection", W.curve("line", (0, 0), (1, 0)), TIN)
    huge = W.head("string") + struct.pack("<I", 2**31)
    rows = wkb(W.curve("line", (0, 0), (3, 4)), TIN, None, cut, b"", b"\x07abcdefgh", W.many("polyhedron"), inside, huge,
               W.curve("string", (0, 0), (1, 1)), W.many("curves", W.many("area")), W.curve("line", (5, 5)),
               W.many("collection", W.curve("string", *HALF), deep))  # fmt: skip
    shapes = geometries(rows)
    codes = {n: code for n, (code, _) in shapes.unbuilt.items()}
    assert codes == {
        2: "wrong_geometry_type", 4: "no_geometry", 5: "no_geometry", 6: "no_geometry", 7: "wrong_geometry_type",
        8: "wrong_geometry_type", 9: "no_geometry", 10: "no_geometry", 11: "no_geometry", 13: "no_geometry",
    }  # fmt: skip
    assert "TIN" in shapes.unbuilt[2][1]
    assert shapes.geometry[0].length == 5
    assert shapes.geometry[2] is None
    assert shapes.geometry[11].length == 0


def read(path, **options):
    layer = read_layer(path)
    chosen = Options("alfa", options.pop("crs", None), Decimal("0.50"), options.pop("mapping", {}), **options)
    return layer, read_network([Part(layer, chosen)], CAIEIRAS, ["alfa"])


def write(path, rows, kind="Unknown", **options):
    names = np.array([f"n{i}" for i in range(len(rows))], dtype=object)
    pyogrio.raw.write(path, wkb(*rows), [names], ["id"], geometry_type=kind, crs="EPSG:31983", **options)
    return path


def test_a_layer_with_arcs_and_surfaces_is_read_whole(tmp_path):
    rows = [W.curve("line", (0, 0), (30, 0)), W.curve("string", *HALF), None, TIN, W.curve("line", (0, 5), (30, 5))]
    path = write(tmp_path / "a.gpkg", rows)
    layer, reading = read(path, mapping={"segment": "id"})
    assert layer.frame["id"].tolist() == ["n0", "n1", "n2", "n3", "n4"]
    assert reading.accepted["segment"].tolist() == ["n0", "n1", "n4"]
    assert {s.row: s.reason_code for s in reading.set_aside} == {3: "no_geometry", 4: "wrong_geometry_type"}
    found = {f.code: f for f in reading.findings}
    assert found["curves_linearised"].rows == (2,)
    assert "0.0013 %" in found["curves_linearised"].message
    assert found["surfaces"].rows == (4,)
    assert float(reading.length_m) == pytest.approx(60 + 10 * math.pi, abs=0.01)
    # the other library's arcs (chords of 4 degrees) are the oracle
    _, _, theirs, _ = pyogrio.raw.read(path, max_features=2)
    assert layer.frame.geometry[1].length == pytest.approx(shapely.from_wkb(theirs[1]).length, rel=3e-4)


def test_a_multipatch_is_set_aside_row_by_row(tmp_path):
    path = write(tmp_path / "a.shp", [TIN, TIN], layer_options={"SHPT": "MULTIPATCH"})
    _, reading = read(path)
    assert [s.reason_code for s in reading.set_aside] == ["wrong_geometry_type"] * 2
    assert "surface in space" in reading.set_aside[0].reason


def test_a_line_of_one_point_has_no_length(tmp_path):
    _, reading = read(write(tmp_path / "a.gpkg", [W.curve("line", (0, 0), (30, 0)), W.curve("line", (9, 9))]))
    assert {s.row: s.reason_code for s in reading.set_aside} == {2: "zero_length"}


def test_arcs_bound_zones_too(tmp_path):
    ring = W.many("compound", W.curve("string", *HALF), W.curve("line", (20, 0), (0, 0)))
    layer = read_layer(write(tmp_path / "a.gpkg", [W.many("area", ring), TIN]))
    layer.frame["v"] = 10
    reading = read_land_values(layer, Options(mapping={"zone": "id", "land_value": "v"}), CAIEIRAS)
    assert reading.accepted.geometry.area.tolist() == pytest.approx([50 * math.pi], rel=1e-3)
    assert [(s.row, s.reason_code) for s in reading.set_aside] == [(2, "wrong_geometry_type")]


def line(*xy):
    return shapely.LineString([(X + p[0], Y + p[1], *p[2:]) for p in xy])


def test_collections_of_lines_are_lines_and_mixed_ones_say_what_they_hold(make_layer, network):
    one, two = line((0, 0), (10, 0)), line((0, 5), (10, 5))
    nested = shapely.GeometryCollection([one, shapely.GeometryCollection([two, shapely.Point()])])
    mixed = shapely.GeometryCollection([line((0, 9), (10, 9)), shapely.Point(X, Y), shapely.Point(X, Y + 1)])
    reading = network(make_layer([nested, mixed, shapely.GeometryCollection()]))
    assert reading.accepted.geometry.iloc[0].equals(shapely.MultiLineString([one, two]))
    assert [(s.row, s.reason_code) for s in reading.set_aside] == [(2, "wrong_geometry_type"), (3, "no_geometry")]
    assert "1 LineString, 2 Point" in reading.set_aside[0].reason
    assert [(f.code, f.rows) for f in reading.findings] == [("collection_of_lines", (1,))]


def test_areas_and_places_sent_for_lines_say_what_to_do(make_layer, network):
    reading = network(make_layer([shapely.box(X, Y, X + 9, Y + 9), shapely.Point(X, Y)]))
    assert [s.reason_code for s in reading.set_aside] == ["wrong_geometry_type"] * 2
    assert "axis as a line" in reading.set_aside[0].reason
    assert "import cabinets" in reading.set_aside[1].reason


def test_rings_and_loops_stay_and_are_measured(make_layer, network):
    ring = line((0, 0), (10, 0), (10, 10), (0, 10), (0, 0))
    loop = line((20, 0), (40, 0), (40, 10), (30, 10), (30, -10))
    reading = network(make_layer([ring, loop]))
    assert reading.length_m == Decimal("100.00")
    assert reading.accepted.geometry.iloc[1].geoms[0].equals_exact(loop, 0)
    assert [(f.code, f.rows) for f in reading.findings] == [("closed_ring", (1,))]


def test_repeated_vertices_go_and_no_length_changes(make_layer, network):
    stuttering = line((0, 0), (0, 0), (10, 0), (10, 0), (10, 0), (10, 7))
    with_stub = shapely.MultiLineString([line((0, 20), (0, 20)), line((0, 20), (5, 20))])
    fine = line((0, 30), (5, 30))
    reading = network(make_layer([stuttering, with_stub, fine]))
    assert reading.length_m == Decimal("27.00")
    assert shapely.get_num_coordinates(reading.accepted.geometry.to_numpy()).tolist() == [3, 2, 2]
    [said] = reading.findings
    assert (said.code, said.rows) == ("repeated_vertices", (1, 2))
    assert "5 were dropped" in said.message


def test_risers_are_listed_apart_with_their_metres(tmp_path):
    lines = [line((0, 0, 800), (30, 0, 801)), line((50, 0, 800), (50, 0, 812.5)), line((60, 0, 800), (60, 0, 800))]
    path = tmp_path / "a.gpkg"
    write(path, [shapely.to_wkb(g, output_dimension=3) for g in lines], "LineString Z")
    _, reading = read(path)
    reasons = {s.row: (s.reason_code, s.reason) for s in reading.set_aside}
    assert {row: code for row, (code, _) in reasons.items()} == {2: "zero_length", 3: "zero_length"}
    assert "rises 12.50 m" in reasons[2][1]
    assert "rises" not in reasons[3][1]
    [said] = [f for f in reading.findings if f.code == "vertical_risers"]
    assert said.rows == (2,)
    assert "12.50 m" in said.message


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_damaged_bytes_are_read_or_refused_and_nothing_else(data):
    w = Wkb(data.draw(st.sampled_from("<>")), data.draw(st.sampled_from(["", "zm"])))
    half = w.curve("string", *HALF)
    whole = w.many(
        "collection", w.many("curves", w.many("compound", half, w.curve("line", (20, 0), (9, 9))), half), half
    )
    raw = bytearray(data.draw(st.sampled_from([whole, half, w.many("area", half), TIN])))
    for _ in range(data.draw(st.integers(1, 4))):
        raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    raw = raw[: data.draw(st.integers(0, len(raw)))] if data.draw(st.booleans()) else raw
    with np.errstate(all="ignore"):
        shapes = geometries(wkb(bytes(raw), W.curve("line", (0, 0), (3, 4))))
    assert shapes.geometry[1].length == 5
    assert (shapes.geometry[0] is None) == (1 in shapes.unbuilt)
