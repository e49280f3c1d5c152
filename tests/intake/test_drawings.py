"""DXF: only what is a line is network; blocks, texts and measures never; units proposed and never applied."""

import math
from decimal import Decimal
from itertools import count

import pytest

from geobill.errors import InputError
from geobill.intake.crs import CAIEIRAS
from geobill.intake.formats import dxf_tags
from geobill.intake.inspect import inspect_file
from geobill.intake.network import read_network
from geobill.intake.reader import read_layer, read_layers
from geobill.intake.reading import Options, Part

X, Y = 322000, 7416000
_numbers = count(0x100)


def entity(kind, layer, *tags, handle=True, paper=False):
    """Tags of one entity; a handle of its own, and where it stands."""
    head = [(0, kind), *([(5, f"{next(_numbers):X}")] if handle else []), (100, "AcDbEntity"), (8, layer)]
    return [*head, *([(67, 1)] if paper else []), *tags]


def line(layer, length=10, y=0, **more):
    return entity("LINE", layer, (10, X), (20, Y + y), (11, X + length), (21, Y + y), **more)


def poly(layer, *tags, closed=0, **more):
    return entity("LWPOLYLINE", layer, (90, sum(c == 10 for c, _ in tags)), (70, closed), *tags, **more)


def insert(layer, block, *tags, **more):
    return entity("INSERT", layer, (2, block), (10, X), (20, Y), *tags, **more)


def dimension(layer="REDE", **more):
    return entity("DIMENSION", layer, (2, "*D1"), (10, X), (20, Y), (11, X + 5), (21, Y), (70, 32), (1, ""), **more)


POSTE = ("POSTE", [line("0", 5), line("0", 7)])
D1 = ("*D1", [line("0"), line("0", 3)])


@pytest.fixture
def dxf(tmp_path):
    """Write a drawing; returns its path."""

    def write(
        *entities,
        blocks=(POSTE, D1),
        version="AC1024",
        variables=(),
        layers=(),
        encoding="utf-8",
        ends="\n",
        name="rede.dxf",
    ):
        tags = [(0, "SECTION"), (2, "HEADER"), (9, "$ACADVER"), (1, version)]
        for key, code, value in variables:
            tags += [(9, key), (code, value)]
        tags += [(0, "ENDSEC"), (0, "SECTION"), (2, "TABLES"), (0, "TABLE"), (2, "LAYER"), (70, len(layers))]
        for layer, flags, colour in layers:
            tags += [(0, "LAYER"), (2, layer), (70, flags), (62, colour), (6, "CONTINUOUS")]
        tags += [(0, "ENDTAB"), (0, "ENDSEC"), (0, "SECTION"), (2, "BLOCKS")]
        for block, held in blocks:
            tags += [(0, "BLOCK"), (8, "0"), (2, block), (70, 0), (10, 0), (20, 0), (3, block)]
            tags += [tag for one in held for tag in one] + [(0, "ENDBLK"), (8, "0")]
        tags += [(0, "ENDSEC"), (0, "SECTION"), (2, "ENTITIES")]
        tags += [tag for one in entities for tag in one] + [(0, "ENDSEC"), (0, "EOF")]
        path = tmp_path / name
        path.write_bytes("".join(f"{code:3d}{ends}{value}{ends}" for code, value in tags).encode(encoding))
        return path

    return write


def said(path):
    return {f["code"]: f for f in inspect_file(path)["findings"]}


def read(path, crs="EPSG:31983", unit="m", names=(), width="0.50"):
    parts = [Part(x, Options("alfa", crs, Decimal(width), {}, unit)) for x in read_layers(path, names)]
    return read_network(parts, CAIEIRAS, ["alfa"])


def test_each_layer_of_the_drawing_is_a_layer(dxf):
    path = dxf(line("REDE_MT"), line("REDE_BT", y=5), line("REDE_MT", y=9), entity("POINT", "POSTES", (10, X), (20, Y)))
    assert [(x["name"], x["features"]) for x in inspect_file(path)["layers"]] == [
        ("REDE_MT", 2),
        ("REDE_BT", 1),
        ("POSTES", 1),
    ]
    with pytest.raises(InputError, match="REDE_MT, REDE_BT, POSTES"):
        read_layer(path)
    assert (read(path, names=["REDE_MT"]).length_m, read(path, names=["REDE_MT", "REDE_BT"]).length_m) == (20, 30)


NO_LINES = {
    "INSERT": insert("REDE", "POSTE"),
    "DIMENSION": dimension(),
    "TEXT": entity("TEXT", "REDE", (10, X), (20, Y), (40, 2), (1, "Rua")),
    "MTEXT": entity("MTEXT", "REDE", (10, X), (20, Y), (40, 2), (1, "Rua")),
    "POINT": entity("POINT", "REDE", (10, X), (20, Y)),
    "SOLID": entity("SOLID", "REDE", (10, X), (20, Y), (11, X + 9), (21, Y), (12, X), (22, Y + 9), (13, X + 9), (23, Y + 9)),
    "3DFACE": entity("3DFACE", "REDE", (10, X), (20, Y), (11, X + 9), (21, Y), (12, X + 9), (22, Y + 9), (13, X), (23, Y + 9)),
    "LEADER": entity(
        "LEADER", "REDE", (100, "AcDbLeader"), (3, "S"), (71, 1), (72, 0), (73, 3), (74, 0), (75, 0), (40, 1.0), (41, 1.0), (76, 2),
        (10, X), (20, Y), (30, 0), (10, X + 5), (20, Y + 5), (30, 0)),
    "HATCH": entity(
        "HATCH", "REDE", (10, 0), (20, 0), (30, 0), (210, 0), (220, 0), (230, 1), (2, "SOLID"), (70, 1), (71, 0), (91, 1), (92, 7),
        (72, 0), (73, 1), (93, 4), (10, X), (20, Y), (10, X + 1), (20, Y), (10, X + 1), (20, Y + 1), (10, X), (20, Y + 1), (97, 0),
        (75, 0), (76, 1), (98, 0)),
}  # fmt: skip


@pytest.mark.parametrize("kind", NO_LINES)
@pytest.mark.parametrize("version", ["AC1024", "AC1009"])
def test_what_is_no_line_is_never_network(dxf, kind, version):
    reading = read(dxf(line("REDE"), NO_LINES[kind], version=version))
    assert (reading.read, len(reading.accepted), reading.length_m) == (2, 1, 10)
    [aside] = reading.set_aside
    assert (aside.row, aside.reason_code) == (2, "wrong_geometry_type")
    assert f"drawn as {kind}" in aside.reason
    assert [f.rows for f in reading.findings if f.code == "dxf_not_lines"] == [(2,)]


@pytest.mark.parametrize("handles", ["none", "the same"])
def test_entities_are_told_apart_without_handles(dxf, handles):
    vertices = [(42, 1), (10, X), (20, Y + 5)], [(10, X + 10), (20, Y + 5)]
    polyline = [
        entity("POLYLINE", "REDE", (66, 1), handle=False), *(entity("VERTEX", "REDE", *v, handle=False) for v in vertices),
        entity("SEQEND", "REDE", handle=False),
    ]  # fmt: skip
    parts = [line("REDE", handle=False), dimension(handle=False), *polyline, insert("REDE", "POSTE", handle=False)]
    if handles == "the same":
        parts = [[one[0], (5, "2F"), *one[1:]] for one in parts]
    path = dxf(*parts, version="AC1009")
    reading = read(path)
    assert [(s.row, s.reason_code) for s in reading.set_aside] == [
        (2, "wrong_geometry_type"),
        (4, "wrong_geometry_type"),
    ]
    assert abs(float(reading.length_m) / (10 + 5 * math.pi) - 1) < 0.001
    assert "EntityHandle" not in read_layer(path).frame.columns


def test_blocks_are_points_with_their_attributes_and_their_lines_are_said(dxf):
    attribute = entity(
        "ATTRIB", "P", (10, X), (20, Y), (40, 1), (1, "P-007"), (100, "AcDbAttribute"), (2, "COD"), (70, 0)
    )
    path = dxf(
        insert("P", "POSTE", (66, 1)),
        attribute,
        entity("SEQEND", "P"),
        insert("P", "POSTE", (70, 2), (71, 2), (44, 10), (45, 10)),
    )
    layer = read_layer(path)
    assert layer.frame.geometry.geom_type.tolist() == ["Point", "MultiPoint"]
    assert layer.frame["COD"].fillna("").tolist() == ["P-007", ""]
    assert "POSTE (5 ×, 2 lines)" in said(path)["dxf_blocks"]["message"]


CURVES = {
    "bulge": (poly("R", (10, X), (20, Y), (42, 1), (10, X + 10), (20, Y)), 5 * math.pi),
    "arc": (entity("ARC", "R", (10, X), (20, Y), (40, 10), (50, 0), (51, 90)), 5 * math.pi),
    "circle": (entity("CIRCLE", "R", (10, X), (20, Y), (40, 10)), 20 * math.pi),
    "ellipse": (entity(
        "ELLIPSE", "R", (10, X), (20, Y), (30, 0), (11, 10), (21, 0), (31, 0), (40, 0.5), (41, 0), (42, 2 * math.pi)), 48.4422),
    "spline": (entity(
        "SPLINE", "R", (70, 8), (71, 3), (72, 8), (73, 4), (74, 0), *[(40, 0)] * 4, *[(40, 1)] * 4, (10, X), (20, Y), (30, 0), (10, X),
        (20, Y + 10), (30, 0), (10, X + 10), (20, Y + 10), (30, 0), (10, X + 10), (20, Y), (30, 0)), 20.0),
}  # fmt: skip


@pytest.mark.parametrize("kind", CURVES)
def test_curves_are_chords_of_a_stated_tolerance(dxf, kind):
    drawn, true = CURVES[kind]
    path = dxf(drawn, line("R", y=90))
    assert abs(read_layer(path).frame.geometry[0].length / true - 1) < 0.001
    found = said(path)["curves_linearised"]
    assert (found["severity"], found["rows"]) == ("note", [1])
    assert "0.1 % is tolerated" in found["message"]


def test_a_bulge_of_zero_and_a_handle_42_are_no_arc(dxf):
    straight = [(0, "LWPOLYLINE"), (5, "42"), *poly("R", (10, X), (20, Y), (42, "0.0"), (10, X + 10), (20, Y))[2:]]
    assert "curves_linearised" not in said(dxf(straight))


def test_a_spline_of_few_chords_is_said(dxf):
    knots = [(40, 0)] * 4 + [(40, 1)] * 4
    points = [(0, 0), (90, 0), (-80, 0.5), (10, 0)]
    sharp = entity("SPLINE", "R", (70, 8), (71, 3), (72, 8), (73, 4), (74, 0), *knots,
                   *[t for x, y in points for t in ((10, X + x), (20, Y + y), (30, 0))])  # fmt: skip
    assert said(dxf(sharp))["curves_linearised"]["severity"] == "warning"


def test_plan_length_of_a_polyline_in_space(dxf):
    vertices = [entity("VERTEX", "R", (10, X + x), (20, Y), (30, z), (70, 32)) for x, z in ((0, 0), (3, 4))]
    assert read(dxf(entity("POLYLINE", "R", (66, 1), (70, 8)), *vertices, entity("SEQEND", "R"))).length_m == 3


def test_paper_space_is_left_out_and_hidden_layers_are_said(dxf):
    path = dxf(
        line("REDE"),
        line("REDE", 99, paper=True),
        line("OFF", y=9),
        line("GELO", y=19),
        layers=[("REDE", 0, 7), ("OFF", 0, -7), ("GELO", 1, 7)],
    )
    found = inspect_file(path)["findings"]
    assert [f["layer"] for f in found if f["code"] == "dxf_layer_off"] == ["OFF", "GELO"]
    assert "1 entities" in next(f["message"] for f in found if f["code"] == "dxf_paper_space")
    assert read(path, names=["REDE"]).length_m == 10


def test_what_cannot_be_drawn_is_a_row_all_the_same(dxf):
    path = dxf(
        line("REDE"),
        entity("XLINE", "REDE", (10, X), (20, Y), (11, 1), (21, 0)),
        entity("ACAD_PROXY_ENTITY", "REDE", (90, 498)),
    )
    reading = read(path)
    assert [(s.row, s.reason_code) for s in reading.set_aside] == [(2, "no_geometry"), (3, "no_geometry")]
    assert "1 XLINE, 1 ACAD_PROXY_ENTITY" in said(path)["dxf_entities_unread"]["message"]


@pytest.mark.parametrize(
    ("variables", "factor", "severity", "option", "doubtful"),
    [
        ([("$INSUNITS", 70, 6)], 1, "note", "", False),
        ([("$INSUNITS", 70, 4)], 1000, "warning", "--unit mm", False),
        ([("$INSUNITS", 70, 5)], 100, "warning", "--unit cm", False),
        ([("$INSUNITS", 70, 4)], 1, "warning", "--unit mm", True),
        ([("$INSUNITS", 70, 6)], 1000, "note", "", True),
        ([("$INSUNITS", 70, 0), ("$MEASUREMENT", 70, 1)], 1, "warning", "--unit", False),
        ([], 1, "warning", "--unit", False),
        ([("$INSUNITS", 70, 3)], 1, "warning", "in metres", True),
    ],
)
def test_units_are_proposed(dxf, variables, factor, severity, option, doubtful):
    one = entity("LINE", "R", (10, X * factor), (20, Y * factor), (11, (X + 10) * factor), (21, Y * factor))
    found = said(dxf(one, variables=variables))
    assert found["drawing_units"]["severity"] == severity
    assert option in found["drawing_units"]["fix"]
    assert ("drawing_units_doubtful" in found) is doubtful


@pytest.mark.parametrize(
    ("code", "severity", "words"),
    [(4, "note", "in mm, as --unit and its header say"), (6, "warning", "contradicts that: it says m"),
     (0, "note", "names no unit")],
)  # fmt: skip
def test_the_unit_that_is_given_is_held_against_the_header(dxf, code, severity, words):
    one = entity("LINE", "R", (10, X * 1000), (20, Y * 1000), (11, (X + 10) * 1000), (21, Y * 1000))
    reading = read(dxf(one, variables=[("$INSUNITS", 70, code)]), unit="mm")
    (found,) = [f for f in reading.findings if f.code.startswith("drawing_units")]
    assert (found.severity, words in found.message) == (severity, True)


@pytest.mark.parametrize(
    ("unit", "metres"), [("mm", 0.001), ("cm", 0.01), ("km", 1000), ("ft", 0.3048), ("in", 0.0254)]
)
def test_every_unit_is_tried_by_the_refusal_and_taken_when_given(dxf, unit, metres):
    one = entity("LINE", "R", (10, X / metres), (20, Y / metres), (11, (X + 10) / metres), (21, Y / metres))
    path = dxf(one)
    for crs in (None, "EPSG:31983"):
        with pytest.raises(InputError, match=f"--unit {unit} --crs EPSG:31983"):
            read(path, crs=crs)
    assert read(path, unit=unit).length_m == 10
    with pytest.raises(InputError, match="31983"):  # the units are those of the file, not of what was made of it
        read(dxf(line("R")), unit=unit)


@pytest.mark.parametrize(
    ("version", "page", "encoding", "code"),
    [
        ("AC1015", "ANSI_1252", "cp1252", None),
        ("AC1009", "dos850", "cp850", None),
        ("AC1024", "ANSI_1252", "utf-8", None),
        ("AC1015", "ANSI_1252", "utf-8", "encoding_doubtful"),
        ("AC1024", "ANSI_1252", "cp1252", "encoding_doubtful"),
        ("AC1009", None, "cp1252", "encoding_assumed"),
    ],
)
def test_text_follows_version_and_code_page(dxf, version, page, encoding, code):
    variables = [("$DWGCODEPAGE", 3, page)] if page else []
    note = entity("TEXT", "REDE AÉREA", (10, X), (20, Y), (40, 2), (1, "Rua São João \\U+00E7"))
    path = dxf(line("REDE AÉREA"), note, version=version, variables=variables, encoding=encoding)
    layer = read_layer(path, "REDE AÉREA")
    assert layer.frame["Text"].fillna("").tolist() == ["", "Rua São João ç"]
    assert [f.code for f in layer.findings if "encod" in f.code] == ([code] if code else [])


def test_line_ends_and_comments(dxf):
    path = dxf(line("REDE"), ends="\r\n")
    path.write_bytes(b"999\r\nmade by hand\r\n" + path.read_bytes())
    assert read(path).length_m == 10


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"AutoCAD Binary DXF\r\n\x1a\0" + b"\0" * 99, "ASCII"),
        (b"AC1024" + b"\0" * 99, "DWG"),
        (b"  0\nSECTION\n  2\nENTITIES\n  0\nLINE\n  8\nREDE\n", "doesn't end"),
        (b"hello\n" * 20, "doesn't begin"),
        (
            b"  0\nSECTION\n  2\nENTITIES\n  0\nLINE\n  8\n10\n 10\n32x2000\n 20\n0\n  0\nENDSEC\n  0\nEOF\n",
            "'32x2000'",
        ),
        (b"  0\nSECTION\n  2\nENTITIES\n  0\nENDSEC\n  0\nEOF\n", "no layer"),
    ],
)
def test_what_is_refused(tmp_path, content, why):
    path = tmp_path / "rede.dxf"
    path.write_bytes(content)
    with pytest.raises(InputError, match=why):
        read_layer(path)


def test_an_entity_begins_only_after_code_0(dxf):
    """A value "0" or a text like an entity's name begins nothing."""
    path = dxf(line("0"), entity("TEXT", "0", (10, X), (20, Y), (40, 2), (1, "0"), (7, "LINE")), line("LINE"))
    assert [e.kind for e in dxf_tags.read_tags(path).entities] == ["LINE", "TEXT", "LINE"]


@pytest.mark.parametrize(("name", "unit", "guesses"), [("k_dxf_metros.dxf", "m", 1), ("l_dxf_milimetros.dxf", "mm", 0)])
def test_deliveries(shared, name, unit, guesses):
    path = shared / "data/caieiras/entregas" / name
    with pytest.raises(InputError, match="EPSG:31983"):
        read(path, crs=None)
    reading = read(path, unit=unit)
    assert (reading.read, len(reading.accepted), reading.set_aside) == (600, 600, ())
    assert abs(float(reading.length_m) - 19932.901) < 0.5
    assert inspect_file(path)["layers"][0]["crs_guesses"][:1] == ["EPSG:31983"][:guesses]
