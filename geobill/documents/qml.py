"""QGIS layer styles (QML) as text: symbols, renderers, labels and aliases, just as much as the annex needs.

QML is QGIS' own XML without a schema; what is written here is what QGIS 3.4 to 3.40 read (properties as ``prop``
elements). The order of everything is fixed, so equal styles are equal text.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from xml.etree.ElementTree import Element, SubElement, tostring

from geobill.documents.qml_forms import Form, add_form

HEAD = "<!DOCTYPE qgis PUBLIC 'http://mrcc.com/qgis.dtd' 'SYSTEM'>\n"
GEOMETRY_TYPES = {"marker": "0", "line": "1", "fill": "2"}
NO_PEN = "no"
SHRINK = "scale_linear(@map_scale, 4000, 20000, 1, 0.4)"  # full size from 1:4.000 on, two fifths at 1:20.000


@dataclass(frozen=True)
class SymbolLayer:
    """One layer of a symbol: QGIS' name of its kind, its properties, and properties that an expression gives."""

    kind: str
    properties: Mapping[str, str]
    expressions: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Symbol:
    """What a feature is drawn with, from the lowest layer up; ``kind`` is marker, line or fill."""

    kind: str
    layers: tuple[SymbolLayer, ...]


@dataclass(frozen=True)
class Entry:
    """A line of the legend: its words, its symbol, and which features it is for.

    ``match`` is the value of a category, or the expression of a rule.
    """

    label: str
    symbol: Symbol
    match: str = ""


@dataclass(frozen=True)
class Labels:
    """Labels from a field or an expression, drawn from ``from_scale`` (1:n) on."""

    expression: str
    from_scale: int
    size_pt: float
    colour: str
    along_lines: bool = False


def line(*layers: SymbolLayer) -> Symbol:
    """Return a symbol for lines."""
    return Symbol("line", layers)


def stroke(
    colour: str, width_mm: float, dashes_mm: Sequence[float] = (), *, scaled: bool = False, tint: str = ""
) -> SymbolLayer:
    """Return a line, solid or dashed: lengths of dash and space by turns; ``scaled`` ones shrink on small-scale maps.

    ``tint`` is an expression for the colour, here and below.
    """
    pattern = {"use_custom_dash": "1", "customdash": ";".join(f"{d:g}" for d in dashes_mm)} if dashes_mm else {}
    properties = {"line_color": rgba(colour), "line_width": f"{width_mm:g}", "line_width_unit": "MM"}
    expressions = {"outlineWidth": f"{width_mm:g} * {SHRINK}"} if scaled else {}
    expressions |= {"outlineColor": tint} if tint else {}
    return SymbolLayer("SimpleLine", {**properties, "capstyle": "flat", "joinstyle": "round", **pattern}, expressions)


def fill(
    colour: str, edge: str | None = None, edge_mm: float = 0.15, edge_style: str = "", tint: str = ""
) -> SymbolLayer:
    """Return a filled area; ``edge_style`` is an expression for the style of its edge (``'no'`` or ``'solid'``)."""
    edges = {"outline_color": rgba(edge), "outline_width": f"{edge_mm:g}"} if edge else {}
    style = "solid" if edge else NO_PEN
    return SymbolLayer(
        "SimpleFill",
        {"color": rgba(colour), "style": "solid", "outline_style": style, "outline_width_unit": "MM", **edges},
        {**({"outlineStyle": edge_style} if edge_style else {}), **({"fillColor": tint} if tint else {})},
    )


def hatch(colour: str, edge: str) -> SymbolLayer:
    """Return an area of diagonal strokes."""
    properties = {"color": rgba(colour), "style": "b_diagonal", "outline_color": rgba(edge), "outline_width": "0.3"}
    return SymbolLayer("SimpleFill", {**properties, "outline_style": "solid", "outline_width_unit": "MM"})


def mark(shape: str, colour: str, edge: str, size_expression: str, tint: str = "") -> Symbol:
    """Return a mark (square, diamond …) whose size in millimetres an expression gives."""
    properties = {"name": shape, "color": rgba(colour), "outline_color": rgba(edge), "outline_width": "0.5"}
    sized = {**properties, "outline_style": "solid", "size": "3", "size_unit": "MM"}
    expressions = {"size": size_expression, **({"fillColor": tint} if tint else {})}
    return Symbol("marker", (SymbolLayer("SimpleMarker", sized, expressions),))


def rgba(colour: str) -> str:
    """Write ``#rrggbb`` or ``#rrggbbaa`` as QGIS does.

    Examples
    --------
    >>> rgba("#0072b2"), rgba("#ffffff80")
    ('0,114,178,255', '255,255,255,128')
    """
    digits = colour.removeprefix("#").ljust(8, "f")
    return ",".join(str(int(digits[at : at + 2], 16)) for at in (0, 2, 4, 6))


def single(symbol: Symbol) -> Element:
    """Return a renderer that draws every feature alike."""
    renderer = Element("renderer-v2", type="singleSymbol", symbollevels="0", enableorderby="0")
    _symbols(renderer, [symbol])
    return renderer


def no_renderer() -> Element:
    """Return what draws nothing: of a table without geometry."""
    return Element("renderer-v2", type="nullSymbol")


def categories(attribute: str, entries: Sequence[Entry]) -> Element:
    """Return a renderer by the values of a column."""
    renderer = Element("renderer-v2", type="categorizedSymbol", attr=attribute, symbollevels="1", enableorderby="0")
    listed = SubElement(renderer, "categories")
    for n, entry in enumerate(entries):
        SubElement(
            listed, "category", render="true", symbol=str(n), value=entry.match, label=entry.label, type="string"
        )
    _symbols(renderer, [entry.symbol for entry in entries])
    return renderer


def rules(entries: Sequence[Entry]) -> Element:
    """Return a renderer by expressions; a feature is drawn by every rule that it meets, in their order."""
    renderer = Element("renderer-v2", type="RuleRenderer", symbollevels="0", enableorderby="0")
    root = SubElement(renderer, "rules", key="{00000000-0000-0000-0000-000000000000}")
    for n, entry in enumerate(entries):
        key = f"{{00000000-0000-0000-0000-{n + 1:012d}}}"
        SubElement(root, "rule", key=key, filter=entry.match, label=entry.label, symbol=str(n))
    _symbols(renderer, [entry.symbol for entry in entries])
    return renderer


def style(
    renderer: Element,
    geometry: str | None,
    aliases: Mapping[str, str],
    labels: Labels | None,
    shown_as: str,
    form: Form | None = None,
) -> str:
    """Write a layer's style.

    Parameters
    ----------
    renderer : Element
        From `single`, `categories` or `rules`.
    geometry : {'marker', 'line', 'fill'} or None
        What the layer draws; None for a style that fits any, by rules.
    aliases : mapping of column to words
        How people see the columns, in their order.
    labels : Labels or None
        What is written beside the features.
    shown_as : str
        Expression that names a feature in lists.
    form : Form or None
        How values are shown and typed; without one each column is a plain line of text.
    """
    root = Element("qgis", version="3.22.0", styleCategories="AllStyleCategories", labelsEnabled=str(int(bool(labels))))
    root.append(renderer)
    if labels:
        root.append(_labeling(labels))
    if geometry is not None:
        SubElement(root, "layerGeometryType").text = GEOMETRY_TYPES[geometry]
    if form is None:
        fields = SubElement(root, "fieldConfiguration")
        for name in aliases:
            SubElement(SubElement(fields, "field", name=name), "editWidget", type="TextEdit")
    else:
        root.set("readOnly", str(int(form.read_only)))
        add_form(root, tuple(aliases), form)
    listed = SubElement(root, "aliases")
    for n, (name, words) in enumerate(aliases.items()):
        SubElement(listed, "alias", index=str(n), field=name, name=words)
    SubElement(root, "previewExpression").text = shown_as
    return HEAD + tostring(root, encoding="unicode")


def _symbols(renderer: Element, symbols: Sequence[Symbol]) -> None:
    listed = SubElement(renderer, "symbols")
    for n, symbol in enumerate(symbols):
        made = SubElement(listed, "symbol", name=str(n), type=symbol.kind, alpha="1", clip_to_extent="1", force_rhr="0")
        for level, layer in enumerate(symbol.layers):  # no halo may cover its neighbour's line: all halos come first
            drawn = SubElement(made, "layer", {"class": layer.kind, "enabled": "1", "locked": "0", "pass": str(level)})
            for key, value in layer.properties.items():
                SubElement(drawn, "prop", k=key, v=value)
            if layer.expressions:
                _expressions(drawn, layer.expressions)


def _expressions(parent: Element, expressions: Mapping[str, str]) -> None:
    whole = SubElement(SubElement(parent, "data_defined_properties"), "Option", type="Map")
    SubElement(whole, "Option", name="name", type="QString", value="")
    properties = SubElement(whole, "Option", name="properties", type="Map")
    for name, expression in expressions.items():
        one = SubElement(properties, "Option", name=name, type="Map")
        SubElement(one, "Option", name="active", type="bool", value="true")
        SubElement(one, "Option", name="expression", type="QString", value=expression)
        SubElement(one, "Option", name="type", type="int", value="3")
    SubElement(whole, "Option", name="type", type="QString", value="collection")


def _labeling(labels: Labels) -> Element:
    labeling = Element("labeling", type="simple")
    settings = SubElement(labeling, "settings", calloutType="simple")
    text = SubElement(
        settings, "text-style", fieldName=labels.expression, isExpression="1", fontSize=f"{labels.size_pt:g}",
        fontSizeUnit="Point", textColor=rgba(labels.colour), textOpacity="1", fontWeight="50", namedStyle="",
    )  # fmt: skip
    SubElement(
        text, "text-buffer", bufferDraw="1", bufferSize="0.9", bufferSizeUnits="MM", bufferColor=rgba("#ffffff"),
        bufferOpacity="0.85", bufferNoFill="1", bufferJoinStyle="128",
    )  # fmt: skip
    SubElement(settings, "text-format", wrapChar="", multilineAlign="1", autoWrapLength="0")
    if labels.along_lines:  # parallel to the line, above it, once for lines that go on into each other
        place = {"placement": "2", "placementFlags": "10", "dist": "0.9", "distUnits": "MM"}
        merged = {"mergeLines": "1", "fitInPolygonOnly": "0", "minFeatureSize": "0"}
    else:
        place = {
            "placement": "6",
            "dist": "1.2",
            "distUnits": "MM",
            "predefinedPositionOrder": "TR,TL,BR,BL,R,L,TSR,BSR",
        }
        merged = {"mergeLines": "0"}
    SubElement(settings, "placement", {**place, "priority": "5", "repeatDistance": "0", "offsetType": "1"})
    shown = {"scaleVisibility": "1", "scaleMin": "1", "scaleMax": str(labels.from_scale)}
    SubElement(settings, "rendering", {**shown, **merged, "drawLabels": "1", "obstacle": "0", "displayAll": "0"})
    return labeling
