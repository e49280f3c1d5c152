"""Surveys of the field: what is taken, what counts as unknown, what is set aside; and which rows are lines."""

from decimal import Decimal

import numpy as np
import pytest
import shapely

from geobill.errors import InputError
from geobill.frames import SURVEY_EQUIPMENT, SURVEY_LINES
from geobill.intake.crs import CAIEIRAS
from geobill.intake.network import read_network
from geobill.intake.reader import read_layer
from geobill.intake.reading import Options, Part
from geobill.intake.survey import (
    EQUIPMENT_KEYS,
    LINE_KEYS,
    is_lines,
    read_survey_equipment,
    read_survey_lines,
    survey_kinds,
)

X, Y = 322000.0, 7416000.0
OPERATORS = ("alfa", "beta")
NAMED = {k: k for k in LINE_KEYS}
EQUIPPED = {k: k for k in ("equipment", "volume", "operator", "service")}


def line(y=0.0, length=60.0):
    return shapely.LineString([(X, Y + y), (X + length, Y + y)])


def box(x=0.0, side=1.0):
    return shapely.box(X + x, Y, X + x + side, Y + side)


@pytest.fixture
def lines(make_layer):
    """Read lines with columns by `LINE_KEYS`; what isn't given is blank."""

    def read(geometry, mapping=None, **columns):
        given = {**{k: [None] * len(geometry) for k in LINE_KEYS}, **columns}
        part = Part(make_layer(geometry, **given), Options(mapping=NAMED if mapping is None else mapping))
        return read_survey_lines([part], CAIEIRAS, OPERATORS)

    return read


@pytest.fixture
def equipment(make_layer):
    """Read equipment with columns by `EQUIPMENT_KEYS`; what isn't given is blank."""

    def read(geometry, mapping=EQUIPPED, **columns):
        given = {**{k: [None] * len(geometry) for k in EQUIPMENT_KEYS}, **columns}
        return read_survey_equipment(
            [Part(make_layer(geometry, **given), Options(mapping=mapping))], CAIEIRAS, OPERATORS
        )

    return read


def said(reading):
    assert reading.read == len(reading.accepted) + len(reading.set_aside)
    return {f.code: f for f in reading.findings}


def test_a_line_is_of_the_contract(lines):
    reading = lines([line()], segment=["C1"], width=["0,60"], operator=["alfa"], service=["cabo"], level=["BT"])
    assert tuple(reading.accepted.columns) == SURVEY_LINES
    row = reading.accepted.iloc[0].to_dict()
    assert row.pop("geometry").geom_type == "MultiLineString"
    assert row == {
        "source_row": 1, "segment": "C1", "operator": "alfa", "service": "cabo", "level": "BT", "width_m": "0.60",
    }  # fmt: skip
    assert reading.length_m == Decimal("60.00")
    assert said(reading) == {}


def test_nothing_but_a_drawing_is_needed(make_layer):
    reading = read_survey_lines([Part(make_layer([line(), line(9)]), Options())], CAIEIRAS, OPERATORS)
    assert reading.accepted[["segment", "operator", "width_m"]].to_numpy().tolist() == [
        ["1", None, None],
        ["2", None, None],
    ]
    owned = read_survey_lines([Part(make_layer([line()]), Options(operator="beta"))], CAIEIRAS, OPERATORS)
    assert owned.accepted["operator"].tolist() == ["beta"]


@pytest.mark.parametrize(
    ("geometry", "code"),
    [
        (None, "no_geometry"),
        (shapely.LineString(), "no_geometry"),
        (shapely.Point(X, Y), "wrong_geometry_type"),
        (box(), "wrong_geometry_type"),
        (shapely.GeometryCollection([line(), shapely.Point(X, Y)]), "wrong_geometry_type"),
        (shapely.LineString([(X, Y), (np.nan, Y)]), "invalid_geometry"),
        (shapely.LineString([(X, Y), (np.inf, Y)]), "invalid_geometry"),
        (line(length=0.0), "zero_length"),
        (line(length=0.0049), "zero_length"),
        (line(y=50_000), "outside_municipality"),
        (shapely.LineString([(X, Y), (X + 90_000, Y)]), "outside_municipality"),
    ],
)
def test_a_line_is_set_aside_as_an_import_would(lines, network, make_layer, geometry, code):
    reading = lines([line(), geometry, line(9)])
    (aside,) = reading.set_aside
    assert (aside.row, aside.reason_code) == (2, code)
    imported = network(make_layer([line(), geometry, line(9)]))
    assert aside.reason == imported.set_aside[0].reason
    assert reading.accepted["source_row"].tolist() == [1, 3]


@pytest.mark.parametrize("width", ["larga", "0", "-0,6", "1.234", "9" * 12])
def test_a_width_that_cannot_be_used_is_unknown_and_said(lines, width):
    reading = lines([line(), line(9)], width=[width, "0,50"])
    assert reading.accepted["width_m"].tolist() == [None, "0.50"]
    finding = said(reading)["width_unknown"]
    assert finding.rows == (1,)
    assert width.replace(",", ".") in finding.message


def test_a_width_in_centimetres_is_asked_about(lines):
    reading = lines([line(), line(9)], width=["60", "0,6"])
    assert said(reading)["width_unusual"].rows == (1,)
    assert reading.accepted["width_m"].tolist() == ["60", "0.6"]


def test_an_owner_whom_nobody_knows_is_unknown_and_said(lines):
    reading = lines([line(y) for y in range(4)], operator=["alfa", "Alfa", "gama", None])
    assert reading.accepted["operator"].tolist() == ["alfa", None, None, None]
    finding = said(reading)["operator_unknown"]
    assert finding.rows == (2, 3)
    assert "'Alfa' (1), 'gama' (1)" in finding.message
    assert "Did you mean 'alfa'?" in finding.message


def test_an_operator_of_the_whole_file_must_be_known_and_said_once(make_layer):
    part = Part(make_layer([line()], dono=["alfa"]), Options(operator="alfaa"))
    with pytest.raises(InputError, match=r"no operator 'alfaa'.*Did you mean 'alfa'"):
        read_survey_lines([part], CAIEIRAS, OPERATORS)
    twice = Part(part.layer, Options(operator="alfa", mapping={"operator": "dono"}))
    with pytest.raises(InputError, match="both say whose it is"):
        read_survey_lines([twice], CAIEIRAS, OPERATORS)


def test_two_cables_in_one_place_stand_and_a_row_that_is_there_twice_does_not(lines, make_layer):
    again = [line(), line().reverse(), line(), line(), line(5)]
    reading = lines(again, segment=["C1", "C1", "C2", "C1", "C1"], width=["0,5", "0,5", "0,5", "0,6", "0,5"])
    assert [(s.row, s.reason_code) for s in reading.set_aside] == [(2, "duplicate")]
    assert reading.set_aside[0].reason == "it repeats C1 of row 1, with the same drawing"
    assert said(reading)["duplicate_id"].rows == (1, 4, 5)
    nameless = read_survey_lines([Part(make_layer(again[:4]), Options())], CAIEIRAS, OPERATORS)
    assert (len(nameless.accepted), nameless.length_m) == (4, Decimal("240.00"))
    blank = lines([line(), line()])  # mapped, and blank: two rows without a name aren't one
    assert len(blank.accepted) == 2


def test_layers_name_their_rows_each_for_itself(make_layer):
    parts = [Part(make_layer([line()], id=["1"]), Options(mapping={"segment": "id"})) for _ in range(2)]
    reading = read_survey_lines(parts, CAIEIRAS, OPERATORS)
    assert reading.accepted["source_row"].tolist() == [1, 2]
    assert "duplicate_id" not in said(reading)


def test_equipment_is_of_the_contract(equipment):
    shapes = [shapely.Point(X, Y), box(5), shapely.MultiPoint([(X, Y + 9)])]
    reading = equipment(
        shapes, equipment=["P1", "A2", "P3"], volume=["0,384", None, "2"], operator=["alfa", "zeta", None]
    )
    assert tuple(reading.accepted.columns) == SURVEY_EQUIPMENT
    assert reading.accepted["volume_m3"].tolist() == ["0.384", None, "2"]
    assert reading.accepted["operator"].tolist() == ["alfa", None, None]
    assert reading.accepted.geometry.geom_type.tolist() == ["Point", "Polygon", "Point"]
    assert (reading.length_m, reading.set_aside) == (0, ())
    assert set(said(reading)) == {"operator_unknown"}


@pytest.mark.parametrize(
    ("geometry", "code", "why"),
    [
        (None, "no_geometry", "no geometry"),
        (line(), "wrong_geometry_type", "a network goes to import network"),
        (shapely.GeometryCollection([shapely.Point(X, Y), box()]), "wrong_geometry_type", "of 1 Point, 1 Polygon"),
        (shapely.MultiPoint([(X, Y), (X + 9, Y)]), "wrong_geometry_type", "2 places in one row"),
        (box(side=80.0), "wrong_geometry_type", "covers 6,400 m²"),
        (shapely.Point(X, np.inf), "invalid_geometry", "not a finite number"),
        (shapely.Point(X + 90_000, Y), "outside_municipality", "outside Caieiras"),
    ],
)
def test_equipment_that_cannot_be_placed_is_set_aside(equipment, geometry, code, why):
    reading = equipment([box(), geometry, box(3)])
    (aside,) = reading.set_aside
    assert (aside.row, aside.reason_code) == (2, code)
    assert why in aside.reason


def test_a_volume_that_cannot_be_used_is_unknown_and_said(equipment):
    reading = equipment([box(3 * i) for i in range(4)], volume=["grande", "0", "-1", "1,5"])
    assert reading.accepted["volume_m3"].tolist() == [None, None, None, "1.5"]
    assert said(reading)["volume_unknown"].rows == (1, 2, 3)


def test_sides_make_a_volume_where_all_three_were_measured(equipment):
    sides = {"length": "length", "breadth": "breadth", "height": "height"}
    taped = {"length": ["0,8", "0,8", "0,8", "x"], "breadth": ["0,4", None, "0", "1"], "height": ["1,2"] * 4}
    reading = equipment([box(3 * i) for i in range(4)], sides, **taped)
    assert reading.accepted["volume_m3"].tolist() == ["0.384", None, None, None]
    assert said(reading)["volume_unknown"].rows == (3, 4)
    with pytest.raises(InputError, match="--map length alone gives no volume"):
        equipment([box()], {"length": "length", "height": "height"})
    with pytest.raises(InputError, match="not both"):
        equipment([box()], {**sides, "volume": "volume"})


# -- lines and equipment in one file


PHONE = """<?xml version="1.0" encoding="UTF-8"?>
<kml xmlns="http://www.opengis.net/kml/2.2"><Document><name>vistoria</name>
<Placemark><name>Poste 1</name><Point><coordinates>-46.745,-23.360,0</coordinates></Point></Placemark>
<Placemark><name>Cabo A</name><LineString><coordinates>-46.745,-23.360 -46.744,-23.360</coordinates></LineString></Placemark>
<Placemark><name>sem lugar</name></Placemark>
<Placemark><name>Armário</name><Polygon><outerBoundaryIs><LinearRing><coordinates>
-46.7440,-23.36 -46.74399,-23.36 -46.74399,-23.35999 -46.7440,-23.36</coordinates></LinearRing></outerBoundaryIs></Polygon></Placemark>
<Placemark><LineString><coordinates>-46.745,-23.361 -46.744,-23.361</coordinates></LineString></Placemark>
</Document></kml>
"""


def test_a_phones_kml_of_lines_and_points_is_read_row_by_row(tmp_path):
    path = tmp_path / "vistoria.kml"
    path.write_text(PHONE, encoding="utf-8")
    layer = read_layer(path)
    assert is_lines(layer)
    whole = Part(layer, Options(mapping={"segment": "Name", "equipment": "Name"}))
    drawn, placed = survey_kinds([whole])
    cables = read_survey_lines(drawn, CAIEIRAS, OPERATORS)
    boxes = read_survey_equipment(placed, CAIEIRAS, OPERATORS)
    assert cables.accepted[["source_row", "segment"]].to_numpy().tolist() == [[2, "Cabo A"], [5, "5"]]
    assert boxes.accepted[["source_row", "equipment"]].to_numpy().tolist() == [[1, "Poste 1"], [4, "Armário"]]
    assert [(s.row, s.id, s.reason_code) for s in cables.set_aside] == [(3, "sem lugar", "no_geometry")]
    assert cables.aside["source_row"].tolist() == [3]
    assert cables.read + boxes.read == 5
    assert float(cables.length_m) == pytest.approx(204.4, abs=0.5)


def test_layers_are_parted_by_what_they_hold_and_each_keeps_its_keys(make_layer):
    cables, poles = make_layer([line()], id=["C"], larg=["1"]), make_layer([shapely.Point(X, Y)], id=["P"], vol=["2"])
    mapping = {"segment": "id", "equipment": "id", "width": "larg", "volume": "vol"}
    drawn, placed = survey_kinds([Part(cables, Options(mapping=mapping)), Part(poles, Options(mapping=mapping))])
    assert [(p.layer is cables, dict(p.options.mapping)) for p in drawn] == [(True, {"segment": "id", "width": "larg"})]
    assert [(p.layer is poles, dict(p.options.mapping)) for p in placed] == [
        (True, {"equipment": "id", "volume": "vol"})
    ]
    assert not is_lines(poles)
    assert is_lines(make_layer([None]))


@pytest.mark.parametrize(
    ("mapping", "words"),
    [
        ({"volume": "id"}, "--map volume=id is about points or areas, and the survey has none"),
        ({"widht": "id"}, "no key 'widht'. Did you mean 'width'"),
        ({"installed_on": "id"}, "no key 'installed_on'"),
        ({"segment": "cod"}, "no column 'cod'"),
    ],
)
def test_a_key_that_nothing_is_read_by_is_refused(make_layer, mapping, words):
    with pytest.raises(InputError, match=words.replace(".", r"\.")):
        read_survey_lines(
            survey_kinds([Part(make_layer([line()], id=["C"]), Options(mapping=mapping))])[0], CAIEIRAS, ()
        )
    with pytest.raises(InputError, match="--map width=id is about lines"):
        survey_kinds([Part(make_layer([box()], id=["A"]), Options(mapping={"width": "id"}))])


# -- as field apps and operators send them


def test_a_spreadsheet_with_degrees_is_a_survey_of_poles(tmp_path):
    path = tmp_path / "postes.csv"
    path.write_text("poste;longitude;latitude;foto\nP1;-46,745;-23,360;a.jpg\nP2;-46,744;;b.jpg\n", encoding="utf-8")
    part = Part(read_layer(path), Options(crs="EPSG:4674", mapping={"equipment": "poste"}))
    drawn, placed = survey_kinds([part])
    reading = read_survey_equipment(placed, CAIEIRAS, OPERATORS)
    assert drawn == ()
    assert reading.accepted["equipment"].tolist() == ["P1"]
    assert [(s.id, s.reason_code) for s in reading.set_aside] == [("P2", "no_geometry")]
    with pytest.raises(InputError, match="has no coordinate system"):
        read_survey_equipment([Part(part.layer, Options())], CAIEIRAS, OPERATORS)


def test_a_track_of_a_gps_is_refused_with_the_way_out(tmp_path):
    path = tmp_path / "caminho.gpx"
    path.write_text('<?xml version="1.0"?><gpx version="1.1" creator="app"><trk/></gpx>', encoding="utf-8")
    with pytest.raises(InputError, match="save its tracks as GeoPackage"):
        read_layer(path)


def test_a_survey_of_another_town_is_refused_as_an_import_would(make_layer, network):
    far = make_layer([shapely.LineString([(700_000.0, 9_000_000.0), (700_050.0, 9_000_000.0)])])
    with pytest.raises(InputError) as of_survey:
        read_survey_lines([Part(far, Options())], CAIEIRAS, OPERATORS)
    with pytest.raises(InputError) as of_import:
        network(far)
    assert str(of_survey.value) == str(of_import.value)


@pytest.mark.parametrize(
    ("name", "crs"),
    [
        ("a_utm_cp1252_sem_cpg.shp", None),
        ("b_utm_sem_prj.shp", "EPSG:31983"),
        ("c_latlong_4674.geojson", None),
        ("f_fuso22_31982.shp", None),
        ("g_com_z.gpkg", None),
        ("i_multiparte.gpkg", None),
        ("j_rede.kml", None),
        ("k_dxf_metros.dxf", "EPSG:31983"),
    ],
)
def test_a_real_delivery_is_a_survey_too(shared, name, crs):
    layer = read_layer(shared / "data/caieiras/entregas" / name)
    (part,), placed = survey_kinds([Part(layer, Options(crs=crs))])
    assert placed == ()
    surveyed = read_survey_lines([part], CAIEIRAS, OPERATORS)
    options = Options(crs=crs, operator="alfa", default_width_m=Decimal(1), duplicate_stretch="bill")
    imported = read_network([Part(layer, options)], CAIEIRAS, OPERATORS)
    assert (surveyed.read, surveyed.set_aside) == (imported.read, imported.set_aside)
    assert surveyed.length_m == imported.length_m
    assert shapely.equals_exact(surveyed.accepted.geometry.values, imported.accepted.geometry.values, 0.0).all()


def test_rows_that_a_delivery_holds_twice_are_set_aside_by_their_ids(shared):
    layer = read_layer(shared / "data/caieiras/entregas/h_duplicados_10pct.gpkg")
    reading = read_survey_lines([Part(layer, Options(mapping={"segment": "COD_ID"}))], CAIEIRAS, OPERATORS)
    assert (len(reading.accepted), reading.length_m) == (1652, Decimal("60494.19"))
    assert [s.reason_code for s in reading.set_aside] == ["duplicate"] * 166
    bare = read_survey_lines([Part(layer, Options())], CAIEIRAS, OPERATORS)
    assert len(bare.accepted) == 1818  # without their ids they are cables, one beside another
