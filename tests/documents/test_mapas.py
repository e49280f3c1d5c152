import re

import geopandas as gpd
import pytest
from shapely import LineString, Point, box

from documents import records
from documents.reading import text_of
from geobill.documents.maps import CLANDESTINE, PERMITTED, network_map
from geobill.documents.render import render_invoice
from geobill.errors import TemplateError


def frame(shapes, crs="EPSG:31983", **columns):
    return gpd.GeoDataFrame(columns, geometry=shapes, crs=crs)


def squares(values):
    shapes = [box(320000 + 100 * i, 7412000, 320100 + 100 * i, 7412100) for i in range(len(values))]
    return frame(shapes, land_value=values)


LINE = frame([LineString([(320010, 7412050), (320090, 7412050)])], status=["permitted"])


def test_legend_scale_and_alternative_text():
    drawing = records.small_map()
    kinds = [kind for _, _, kind in drawing.legend]
    assert kinds == ["fill", "fill", "fill", "fill", "hatch", "line", "dashed"]
    assert drawing.scale_text == "Escala 1:8.000 em folha A4 – SIRGAS 2000 / UTM, fuso 23S (EPSG:31983)"
    assert "2 trechos de rede permitida ou existente" in drawing.alt
    assert "1 trecho de rede clandestina" in drawing.alt
    assert "stroke-dasharray" in drawing.svg
    assert ">N<" in drawing.svg
    assert re.search(r">200 m<", drawing.svg)


def test_same_frames_same_text():
    assert records.small_map() == records.small_map()


def test_five_classes_at_most_with_equal_values_together():
    drawing = network_map(LINE.assign(), squares([f"{v}.00" for v in range(100, 140)]))
    assert sum(kind == "fill" for _, _, kind in drawing.legend) <= 5
    drawing = network_map(LINE, squares(["100.00", "100.00", None]))
    labels = [label for _, label, kind in drawing.legend if kind == "fill"]
    assert labels == ["R$\u00a0100,00 por m²"]


def test_only_what_meets_the_extent_is_drawn():
    far = frame([box(400000, 7412000, 400100, 7412100)], land_value=["999.00"])
    drawing = network_map(LINE, far)
    assert not any(kind == "fill" for _, _, kind in drawing.legend)


def test_coordinates_have_two_decimals_at_most():
    assert not re.search(r"\d\.\d{3}", records.small_map().svg)


def test_lines_off_the_zones_points_and_absent_geometry():
    lines = frame(
        [LineString([(320010, 7412050), (330000, 7419000)]), None, LineString(), LineString([(0, 0), (0, 0)])],
        status=["clandestine", "permitted", "existing", "existing"],
    ).iloc[:3]
    assert network_map(lines, squares(["1.00"])).svg.count("<path") >= 2
    empty = LINE.iloc[:0]
    assert "nenhum trecho" in network_map(empty, squares(["1.00"])).alt
    assert network_map(LINE, squares([])).svg
    assert network_map(frame([Point(320000, 7412000).buffer(0.001).boundary], status=["permitted"]), squares([])).svg


def test_cabinets_are_squares_clandestine_ones_open_and_red():
    boxes = frame(
        [Point(320020, 7412050), Point(320040, 7412050), Point(320040, 7412050), Point(320060, 7412055), None],
        status=["permitted", "existing", "existing", "clandestine", "permitted"],
    )
    drawing = network_map(LINE, squares(["1.00"]), equipment=boxes)
    assert drawing.legend[-2:] == (
        (PERMITTED, "Armário ou contêiner", "square"), (CLANDESTINE, "Armário clandestino", "square_open"),
    )  # fmt: skip
    assert "3 armários ou contêineres em quadrado azul e 1 armário clandestino em quadrado vermelho" in drawing.alt
    assert len(re.findall(r"h1\.7v1\.7h-1\.7z", drawing.svg)) == 3  # two stand in one place
    assert f'fill="#fff" stroke="{CLANDESTINE}"' in drawing.svg
    assert network_map(LINE, squares(["1.00"])) == network_map(LINE, squares(["1.00"]), equipment=boxes.iloc[4:])
    text = text_of(render_invoice(records.invoice(), drawing, records.FIGURES))
    assert "Armário ou contêiner" in text


def test_cabinets_away_from_the_network_are_within_the_map():
    far = frame([Point(321500, 7412900)], status=["permitted"])
    drawing = network_map(LINE, squares(["1.00"]), equipment=far)
    x, y = map(float, re.search(r'd="M([\d.]+) ([\d.]+)h1\.7', drawing.svg).groups())
    assert 0 < x < drawing.width_mm
    assert 0 < y < drawing.height_mm
    assert network_map(LINE.iloc[:0], squares([]), equipment=far).svg
    with pytest.raises(TemplateError, match="one beside the other"):
        network_map(LINE, squares(["1.00"]), equipment=far.to_crs(31982))


def test_streets_lie_below_blocks_and_held_overlaps_on_grey():
    zones = frame(
        [box(320000, 7412000, 320080, 7412100), box(320080, 7412000, 320110, 7412100), box(320060, 7412040, 320080, 7412060)],
        land_value=["100.00", "100.00", None], kind=["zone", "gap", "overlap"],
    )  # fmt: skip
    drawing = network_map(LINE, zones)
    fills = re.findall(r'<path d="[^"]*" fill="([^"]+)"', drawing.svg)
    assert fills[:4] == ["#fcfaf4", "#faf6ea", "#dcdcdc", "url(#hatch)"]
    assert "opacity" not in drawing.svg
    assert [label for _, label, _ in drawing.legend][1:3] == [
        "Tom mais claro: via, pela zona mais próxima", "Sobreposição de zonas, retida",
    ]  # fmt: skip
    priced = network_map(LINE, zones.assign(land_value=["100.00", "100.00", "90.00"]))
    assert "Sobreposição de zonas" in [label for _, label, _ in priced.legend]
    assert "#dcdcdc" not in priced.svg


def test_streets_of_a_class_are_one_area_without_their_seams():
    gaps = [box(320000 + 10 * i, 7412000, 320010 + 10 * i, 7412100) for i in range(10)]
    drawing = network_map(LINE, frame(gaps, land_value=["5.00"] * 10, kind=["gap"] * 10))
    path = re.search(r'<path d="([^"]*)" fill="#fcfaf4"', drawing.svg)[1]
    assert path.count("z") == 1


def test_degrees_mixed_systems_and_nothing_are_refused():
    with pytest.raises(TemplateError, match="degrees"):
        network_map(LINE.to_crs(4674), squares(["1.00"]))
    with pytest.raises(TemplateError, match="one beside the other"):
        network_map(LINE.to_crs(31982), squares(["1.00"]))
    with pytest.raises(TemplateError, match="neither"):
        network_map(LINE.iloc[:0], squares([]))


@pytest.mark.parametrize(("layer", "most"), [("zonas_bairro", 100_000), ("zonas_quadra", 400_000)])
def test_the_real_network_gives_a_small_document(shared, layer, most):
    data = shared / "data" / "caieiras"
    zones = gpd.read_file(data / "mapa_de_valores.gpkg", layer=layer)
    zones["land_value"] = [None if value != value else f"{value:.2f}" for value in zones["VALOR_M2"]]
    segments = gpd.read_file(data / "rede_levantada_2024.gpkg", layer="SSDMT").assign(status="permitted")
    drawing = network_map(segments, zones)
    assert len(drawing.svg) < most
    pdf = render_invoice(records.invoice(), drawing, records.FIGURES)
    assert "Rede permitida ou existente" in text_of(pdf)
    assert len(pdf) < 400_000
