"""The print layout of a QGIS project: the map with title, legend, scale bar, north and who issues it; a page for each finding.

Written as the XML that QGIS 3.22 and newer read. The layout's atlas goes over the layer of decisions: without it the
page shows all findings, with it one page each, at a round scale.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from xml.etree.ElementTree import Element, SubElement

from geobill.documents.finding_words import KIND_WORDS, STATE_WORDS

MAP, PICTURE, LABEL, LEGEND, SCALE_BAR, PAGE = "65639", "65640", "65641", "65642", "65646", "65638"  # QGIS' item types
NORTH_ARROW = ":/images/north_arrows/layout_default_north_arrow.svg"  # comes with QGIS
FONT = "Open Sans"
SCALES: tuple[int, ...] = (500, 1000, 2000, 2500, 5000, 10000, 20000)
MARGIN_MM, LEGEND_MM, HEAD_MM, FOOT_MM, FIGURES_MM = 10.0, 72.0, 26.0, 24.0, 34.0
LEFT, RIGHT, CENTRE, TOP, MIDDLE = "1", "2", "4", "32", "128"  # Qt's alignments


@dataclass(frozen=True)
class Sheet:
    """A layout: its name, paper in millimetres, texts, the theme that its map follows and its extent (x0, y0, x1, y1)."""

    name: str
    width_mm: float
    height_mm: float
    authority: str
    secretariat: str
    foot: str
    theme: str
    extent: tuple[float, float, float, float]
    coverage: str  # id of the layer of decisions
    legend: Sequence[tuple[str, str]]  # id and title of its layers


def add_layout(parent: Element, sheet: Sheet) -> None:
    """Add a layout to the ``Layouts`` of a project."""
    layout = SubElement(parent, "Layout", name=sheet.name, units="mm", printResolution="300", worldFileMap="")
    pages = SubElement(layout, "PageCollection")
    _add_page_symbol(pages)
    page = _item(pages, PAGE, (0, 0, sheet.width_mm, sheet.height_mm), "page")
    _add_page_symbol(page)
    map_id = f"{{{sheet.name}-map}}"
    inner = sheet.width_mm - 2 * MARGIN_MM
    map_mm = inner - LEGEND_MM - 4
    high = sheet.height_mm - HEAD_MM - FOOT_MM - MARGIN_MM
    side = MARGIN_MM + map_mm + 4
    _add_label(layout, (MARGIN_MM, MARGIN_MM, inner, 9), _TITLE, 16, bold=True)
    _add_label(
        layout, (MARGIN_MM, MARGIN_MM + 9, inner, 6), _plain(f"{sheet.authority} · {sheet.secretariat}".strip(" ·")), 9
    )
    _add_map(layout, sheet, map_id, (MARGIN_MM, HEAD_MM, map_mm, high), map_mm)
    _add_label(layout, (side, HEAD_MM, LEGEND_MM, FIGURES_MM), _FIGURES, 8.5)
    _add_legend(layout, sheet, map_id, (side, HEAD_MM + FIGURES_MM, LEGEND_MM, high - FIGURES_MM))
    below = HEAD_MM + high + 3
    _add_scale_bar(layout, map_id, (MARGIN_MM, below, 90, 12))
    north = _item(layout, PICTURE, (MARGIN_MM + map_mm - 14, below, 14, 14), "norte")
    north.attrib.update(
        {"file": NORTH_ARROW, "mapUuid": map_id, "northMode": "0", "northOffset": "0", "mode": "2", "resizeMode": "0",
         "anchorPoint": "4", "pictureRotation": "0", "svgFillColor": "0,0,0,255", "svgBorderColor": "0,0,0,255",
         "svgBorderWidth": "0.2"}
    )  # fmt: skip
    _add_label(layout, (side, below, LEGEND_MM, 14), _plain(sheet.foot), 7, align=LEFT)
    SubElement(
        layout, "Atlas", enabled="1", coverageLayer=sheet.coverage, hideCoverage="0", sortFeatures="1", sortKey="achado",
        sortAscending="1", filterFeatures="0", featureFilter="", pageNameExpression='"achado"',
        filenamePattern="'evidencia-' || \"achado\"",
    )  # fmt: skip


def _plain(text: str) -> str:
    """Return a text of which QGIS works nothing out."""
    return text.replace("[%", "[ %")


def _column(name: str) -> str:
    """Expression for a column of the atlas' finding; nothing where the sheet isn't an atlas'."""
    return f"attribute(@atlas_feature, '{name}')"


def _words(column: str, said: Mapping[str, str]) -> str:
    """Expression for the words of a code."""
    pairs = ", ".join(f"'{code}', '{words}'" for code, words in said.items())
    return f"map_get(map({pairs}), {_column(column)})"


_TITLE = f"Evidência de campo[% coalesce(' · achado ' || {_column('achado')}, ' · visão geral') %]"
_FIGURES = (
    f"[% coalesce({_words('tipo', KIND_WORDS)}, 'Todos os achados. O atlas faz uma folha de cada um.') %]\n"
    f"[% coalesce('Situação: ' || {_words('situacao', STATE_WORDS)}, '') %]\n"
    f"[% coalesce('Operadora: ' || {_column('operadora_nome')}, if({_column('achado')} IS NULL, '', 'Operadora: não se sabe')) %]\n"
    f"[% coalesce('Extensão: ' || format_number(nullif({_column('extensao_m')}, 0), 2, 'pt_BR') || ' m', '') %]\n"
    f"[% coalesce('Preço de um mês, uma vez: R$ ' || {_column('preco_mes')}, '') %]\n"
    f"[% coalesce('Processo: ' || {_column('processo')}, '') %]"
)


def _add_map(parent: Element, sheet: Sheet, uuid: str, box: tuple[float, float, float, float], width_mm: float) -> None:
    item = _item(parent, MAP, box, uuid)
    item.attrib.update(
        {"frame": "true", "background": "true", "followPreset": "true", "followPresetName": sheet.theme, "keepLayerSet": "false",
         "mapRotation": "0", "mapFlags": "0", "labelMargin": "0,mm", "drawCanvasItems": "true"}
    )  # fmt: skip
    whens = " ".join(f"WHEN @needed <= {scale} THEN {scale}" for scale in SCALES)
    needed = f'coalesce("extensao_m", 0) * 1250 / {min(box[2], box[3]):g}'
    scale = f"with_variable('needed', {needed}, CASE {whens} ELSE round(@needed, -4) + 10000 END)"
    _add_data_defined(item, "dataDefinedMapScale", f'if("achado" IS NULL, NULL, {scale})')
    x0, y0, x1, y1 = _fitted(sheet.extent, box[2] / box[3])
    SubElement(item, "Extent", xmin=f"{x0:.3f}", ymin=f"{y0:.3f}", xmax=f"{x1:.3f}", ymax=f"{y1:.3f}")
    SubElement(item, "LayerSet")
    SubElement(item, "AtlasMap", atlasDriven="1", scalingMode="0", margin="0.1")


def _fitted(extent: tuple[float, float, float, float], wide: float) -> tuple[float, float, float, float]:
    """Return an extent widened to the shape of the map, with a margin around it."""
    x0, y0, x1, y1 = extent
    width, height = max(x1 - x0, 50.0) * 1.1, max(y1 - y0, 50.0) * 1.1
    width, height = max(width, height * wide), max(height, width / wide)
    x, y = (x0 + x1) / 2, (y0 + y1) / 2
    return x - width / 2, y - height / 2, x + width / 2, y + height / 2


def _add_legend(parent: Element, sheet: Sheet, map_id: str, box: tuple[float, float, float, float]) -> None:
    item = _item(parent, LEGEND, box, "legenda")
    item.attrib.update(
        {"title": "Legenda", "titleAlignment": "1", "map_uuid": map_id, "legendFilterByMap": "1", "legendFilterByAtlas": "0",
         "resizeToContents": "1", "columnCount": "1", "splitLayer": "0", "equalColumnWidth": "0", "symbolWidth": "7",
         "symbolHeight": "4", "boxSpace": "0", "columnSpace": "2", "lineSpacing": "1", "wrapChar": "", "fontColor": "#000000",
         "background": "true", "symbolAlignment": "1"}
    )  # fmt: skip
    styles = SubElement(item, "styles")
    for name, size, above in (
        ("title", 11, 0),
        ("group", 9, 2),
        ("subgroup", 8.5, 1.5),
        ("symbol", 8, 1),
        ("symbolLabel", 8, 1),
    ):
        style = SubElement(
            styles, "style", name=name, alignment="1", indent="0", marginTop=f"{above:g}", marginBottom="1"
        )
        if name == "symbolLabel":
            style.set("marginLeft", "2")
        SubElement(style, "styleFont", description=_font(size, name in ("title", "subgroup")), style="")
    tree = SubElement(item, "layer-tree-group")
    for id_, title in sheet.legend:
        layer = SubElement(tree, "layer-tree-layer", id=id_, name=title, checked="Qt::Checked", expanded="1")
        named = SubElement(SubElement(layer, "customproperties"), "Option", type="Map")
        SubElement(named, "Option", {"name": "cached_name", "type": "QString", "value": title})
        SubElement(named, "Option", {"name": "legend/title-label", "type": "QString", "value": title})


def _add_scale_bar(parent: Element, map_id: str, box: tuple[float, float, float, float]) -> None:
    item = _item(parent, SCALE_BAR, box, "escala")
    item.attrib.update(
        {"mapUuid": map_id, "style": "Single Box", "unitType": "meters", "unitLabel": "m", "numMapUnitsPerScaleBarUnit": "1",
         "numSegments": "2", "numSegmentsLeft": "0", "numUnitsPerSegment": "50", "segmentSizeMode": "1", "minBarWidth": "40",
         "maxBarWidth": "80", "segmentMillimeters": "20", "height": "2", "labelBarSpace": "2", "boxContentSpace": "0",
         "alignment": "0", "outlineWidth": "0.2", "lineJoinStyle": "miter", "lineCapStyle": "square", "numSubdivisions": "1",
         "subdivisionsHeight": "1.5", "labelHorizontalPlacement": "0", "labelVerticalPlacement": "0"}
    )  # fmt: skip
    text = SubElement(
        item, "text-style", fontFamily=FONT, fontSize="8", fontSizeUnit="Point", textColor="0,0,0,255", textOpacity="1",
        fontWeight="50", namedStyle="",
    )  # fmt: skip
    SubElement(text, "families")
    numbers = SubElement(SubElement(item, "numericFormat", id="basic"), "Option", type="Map")
    for name, kind, value in (
        ("decimals", "int", "1"),
        ("decimal_separator", "QChar", ","),
        ("thousand_separator", "QChar", "."),
        ("show_thousand_separator", "bool", "true"),
        ("show_trailing_zeros", "bool", "false"),
        ("rounding_type", "int", "0"),
    ):
        SubElement(numbers, "Option", name=name, type=kind, value=value)
    for name, colour in (("fillSymbol1", "0,0,0,255"), ("fillSymbol2", "255,255,255,255")):
        _add_fill(SubElement(item, name), colour, "no")
    _add_line(SubElement(item, "lineSymbol"))
    _add_line(SubElement(item, "divisionLineSymbol"))


def _add_label(
    parent: Element,
    box: tuple[float, float, float, float],
    text: str,
    size_pt: float,
    *,
    bold: bool = False,
    align: str = LEFT,
) -> None:
    item = _item(parent, LABEL, box, f"texto-{len(parent)}")
    item.attrib.update(
        {"labelText": text, "htmlState": "0", "halign": align, "valign": TOP, "marginX": "0", "marginY": "0"}
    )
    SubElement(item, "LabelFont", description=_font(size_pt, bold), style="")
    SubElement(item, "FontColor", red="0", green="0", blue="0", alpha="255")


def _item(parent: Element, kind: str, box: tuple[float, float, float, float], uuid: str) -> Element:
    x, y, width, height = box
    place = {"position": f"{x:g},{y:g},mm", "positionOnPage": f"{x:g},{y:g},mm", "size": f"{width:g},{height:g},mm"}
    return SubElement(
        parent, "LayoutItem",
        {"type": kind, "uuid": uuid, "templateUuid": uuid, "id": uuid.strip("{}"), **place, "referencePoint": "0",
         "itemRotation": "0", "visibility": "1", "zValue": str(len(parent)), "frame": "false", "background": "false",
         "opacity": "1", "blendMode": "0", "outlineWidthM": "0.2,mm", "frameJoinStyle": "miter", "positionLock": "false",
         "groupUuid": "", "excludeFromExports": "0"},
    )  # fmt: skip


def _add_data_defined(item: Element, name: str, expression: str) -> None:
    holder = SubElement(SubElement(item, "LayoutObject"), "dataDefinedProperties")
    whole = SubElement(holder, "Option", type="Map")
    SubElement(whole, "Option", name="name", type="QString", value="")
    one = SubElement(SubElement(whole, "Option", name="properties", type="Map"), "Option", name=name, type="Map")
    SubElement(one, "Option", name="active", type="bool", value="true")
    SubElement(one, "Option", name="expression", type="QString", value=expression)
    SubElement(one, "Option", name="type", type="int", value="3")
    SubElement(whole, "Option", name="type", type="QString", value="collection")


def _font(size_pt: float, bold: bool = False) -> str:
    """Return a font as Qt writes it."""
    return f"{FONT},{size_pt:g},-1,5,{75 if bold else 50},0,0,0,0,0"


def _add_page_symbol(parent: Element) -> None:
    _add_fill(parent, "255,255,255,255", "no")


def _add_fill(parent: Element, colour: str, edge: str) -> None:
    symbol = SubElement(parent, "symbol", type="fill", name="", alpha="1", clip_to_extent="1", force_rhr="0")
    layer = SubElement(symbol, "layer", {"class": "SimpleFill", "enabled": "1", "locked": "0", "pass": "0"})
    for key, value in (("color", colour), ("style", "solid"), ("outline_style", edge)):
        SubElement(layer, "prop", k=key, v=value)


def _add_line(parent: Element) -> None:
    symbol = SubElement(parent, "symbol", type="line", name="", alpha="1", clip_to_extent="1", force_rhr="0")
    layer = SubElement(symbol, "layer", {"class": "SimpleLine", "enabled": "1", "locked": "0", "pass": "0"})
    for key, value in (
        ("line_color", "0,0,0,255"),
        ("line_width", "0.2"),
        ("line_width_unit", "MM"),
        ("line_style", "solid"),
    ):
        SubElement(layer, "prop", k=key, v=value)
