"""The page that goes back to whoever sent a file: it says what was found, in plain Portuguese, and is only data."""

import ast
import re
from datetime import date
from pathlib import Path

import geopandas as gpd
import lxml.html
import numpy as np
import pytest
import shapely
from chromium import measure, needs_chromium

import geobill.intake as intake
from documents.reading import squeeze
from geobill.documents.inspection import _rows
from geobill.documents.inspection_map import LayerShapes, draw_layer
from geobill.documents.inspection_words import finding_words, turned_words
from geobill.intake.crs_guess import _turns
from geobill.pipeline.inspect import inspect
from geobill.pipeline.inspection_page import inspection_page

HOSTILE = "\"><script>alert('x')</script>{{ 7*7 }}"
X, Y = 322_000.0, 7_416_000.0
DAY = date(2026, 11, 30)


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """Path of the page of a file with hostile names, rows that are set aside and a layer without a system."""
    folder = tmp_path_factory.mktemp("conferencia")
    lines = [shapely.LineString([(X, Y + n), (X + 60, Y + n)]) for n in range(30)]
    lines[3] = lines[4] = lines[5] = None
    columns = {
        "COD_ID": ["1"] * 2 + [str(n) for n in range(28)],
        "largura": ["0,30"] * 29 + [None],
        HOSTILE: [HOSTILE] * 30,
    }
    path = folder / "rede & cia.gpkg"
    gpd.GeoDataFrame(columns, geometry=lines, crs=31983).to_file(path, layer="rede <b>MT</b>")
    gpd.GeoDataFrame({"n": [1]}, geometry=[lines[0]]).to_file(path, layer="sem sistema")
    out = folder / "pagina.html"
    out.write_bytes(inspection_page(inspect(path, None), DAY))
    return out


@pytest.fixture(scope="module")
def root(page):
    return lxml.html.document_fromstring(page.read_bytes().decode())


def said(element):
    return squeeze(" ".join(element.xpath(".//text()[not(ancestor::style)]")))


def test_the_page_says_what_came_and_what_to_do(root):
    text = said(root)
    assert "rede & cia.gpkg" in text
    assert "30 de novembro de 2026" in text
    assert re.search(r"[0-9a-f]{64}", text)
    assert "Registros sem desenho – 3 registros" in text
    assert "Registros 4 a 6" in text
    assert "O que fazer:" in text
    assert "nada foi importado" in text
    assert "largura da faixa" in text
    assert "1 (3%)" in text
    assert "Desenhado como se estivesse em EPSG:31983" in text
    assert "−23," in text  # where a candidate would land


def test_the_page_asks_the_sender(root):
    asked = [said(li) for li in root.xpath("//ol[@class='questions']/li")]
    assert any(q.startswith("Pode enviar o desenho desses registros?") and "3 registros" in q for q in asked)
    assert any("pode ser EPSG:31983 (SIRGAS 2000 / UTM zone 23S)" in q for q in asked)
    assert any(q.startswith("Qual é a largura da faixa, em metros, dos registros que não a trazem?") for q in asked)


def test_the_page_asks_for_nothing_and_runs_nothing(page, root):
    raw = page.read_text(encoding="utf-8")
    assert root.xpath("//script | //img | //iframe | //form | //@onclick | //link[not(@href='data:,')]") == []
    assert "default-src 'none'" in root.xpath("//meta[@http-equiv='Content-Security-Policy']/@content")[0]
    assert re.findall(r"https?://|url\(|@import", raw) == []
    assert HOSTILE not in raw
    assert "<b>MT" not in raw
    assert "{{ 7*7 }}" in said(root)
    assert root.xpath("/html/@lang") == ["pt-BR"]
    ids = root.xpath("//@id")
    assert len(ids) == len(set(ids))
    assert set(root.xpath("//section/@aria-labelledby")) <= set(ids)
    assert all(svg.get("aria-label") for svg in root.xpath("//svg"))
    assert all(table.xpath("./thead//th[@scope='col']") for table in root.xpath("//table"))


def test_layers_share_a_finding_and_what_is_lacking_is_asked(tmp_path):
    line = shapely.LineString([(X, Y), (X + 60, Y)])
    for layer in ("a", "b"):
        frame = gpd.GeoDataFrame({"xyz": ["1", "2"]}, geometry=[line, None], crs=31983)
        frame.to_file(tmp_path / "duas.gpkg", layer=layer)
    root = lxml.html.document_fromstring(inspection_page(inspect(tmp_path / "duas.gpkg", None), DAY).decode())
    assert len([h for h in root.xpath("//h4") if "Registros sem desenho" in said(h)]) == 1
    asked = [said(li) for li in root.xpath("//ol[@class='questions']/li")]
    assert any(q.startswith("Qual é a largura da faixa") and q.endswith("camadas a, b") for q in asked)
    assert "Nada a corrigir" not in said(root)
    assert "Trechos repetidos só a importação procura" in said(root)


def test_what_to_do_is_said_to_the_sender_without_options():
    for code, words in finding_words().items():
        assert not re.search(r"--|\bpeça|geobill|quem enviou", words.fix, re.IGNORECASE), code


@needs_chromium
def test_the_page_fits_a_telephone(page):
    seen = measure(page, 390)
    assert seen["beyond"] == []
    assert seen["scroll"] <= 390


def test_the_same_file_gives_the_same_page(page):
    again = inspection_page(inspect(page.with_name("rede & cia.gpkg"), None), DAY)
    assert again == page.read_bytes()


def test_a_map_of_many_lines_stays_small():
    rng = np.random.default_rng(1)
    ways = (
        rng.normal(0, 40, (40_000, 6, 2)).cumsum(axis=1)
        + rng.uniform(0, 6_000, (40_000, 1, 2))
        + [X - 3_000, Y - 6_000]
    )
    box = shapely.box(X - 8_000, Y - 8_000, X + 8_000, Y + 8_000)
    drawn = draw_layer(LayerShapes("rede", shapely.linestrings(ways), 2, "EPSG:31983"), box, "Caieiras")
    assert len(drawn.lines) < 600_000
    assert drawn.one_in > 2
    assert drawn.one_in % 2 == 0


def test_what_lies_in_a_corner_is_shown_large_with_its_place():
    box = shapely.box(X - 8_000, Y - 8_000, X + 8_000, Y + 8_000)
    line, far = shapely.LineString([(X, Y), (X + 200, Y)]), shapely.LineString([(0, 0), (1, 1)])
    drawn = draw_layer(LayerShapes("rede", np.array([line, far, None]), 1, "EPSG:31983"), box, "Caieiras")
    assert drawn.inset is not None
    assert drawn.bar_label == "50 m"
    assert drawn.north
    unknown = draw_layer(LayerShapes("rede", np.array([line])), box, "Caieiras")
    assert (unknown.bar, unknown.inset, unknown.north) == (None, None, False)
    assert draw_layer(LayerShapes("rede", np.array([None])), box, "Caieiras") is None


def test_row_numbers_are_ranges_and_few():
    assert _rows([1, 2, 3, 7, 9, 10]) == "1 a 3, 7, 9, 10"
    assert _rows(range(2, 2_000, 2)).count(",") == 39
    assert _rows(range(2, 2_000, 2)).endswith(" …")


def codes_of(tree):
    """Codes that a module can give a finding: what its calls name, and what tables hand to them."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and node.args:
            name = getattr(node.func, "id", getattr(node.func, "attr", ""))
            if name in ("Finding", "Remark", "note", "_finding", "_note"):
                yield from (
                    n.value for n in ast.walk(node.args[0]) if isinstance(n, ast.Constant) and isinstance(n.value, str)
                )


def test_every_finding_of_the_intake_and_of_a_survey_has_its_words():
    rooms = Path(intake.__file__).parents[1]
    surveys = [rooms / "pipeline" / name for name in ("detect.py", "finding_prices.py")]
    sources = sorted([*(rooms / "intake").rglob("*.py"), *surveys])
    codes = {code for path in sources for code in codes_of(ast.parse(path.read_text(encoding="utf-8")))}
    codes |= {"geometry_unreadable", "surfaces", "axes_swapped"}  # chosen by a table, or by what was found
    codes = codes - {"_unknown"} | {"width_unknown", "volume_unknown"}  # put together with the name of the measure
    assert len(codes) > 60
    assert sorted(codes ^ set(finding_words())) == []
    for code, words in finding_words().items():
        assert all((words.title, words.why, words.fix)), code
        assert not re.search(r"\b(the|and|rows?|file)\b", f"{words.title} {words.why} {words.fix}"), code


def test_everything_that_may_be_done_to_coordinates_has_its_words():
    turned = [words for words, _, _ in _turns() if words]
    assert len(turned) > 5
    assert all(turned_words(words) != words for words in turned)


def test_the_edge_of_the_view_is_no_boundary():
    box = shapely.box(X - 8_000, Y - 8_000, X + 8_000, Y + 8_000)
    line = shapely.LineString([(X, Y), (X + 200, Y)])
    near = draw_layer(LayerShapes("rede", np.array([line]), 1, "EPSG:31983"), box, "Caieiras")
    assert near.ground
    assert not near.edge
    across = shapely.LineString([(X - 7_000, Y), (X + 7_000, Y)])
    assert draw_layer(LayerShapes("rede", np.array([across]), 1, "EPSG:31983"), box, "Caieiras").edge
