"""How QGIS shows the store itself: titles in Portuguese, colours, value maps, and nothing that may be typed.

The store is a record: whatever is opened from it is read-only in QGIS. Layers that hold lines, points and areas side by side
have rules for each, since QGIS splits them by kind and gives all of them the one style.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from xml.etree.ElementTree import Element

from geobill.documents import field_styles as looks
from geobill.documents import qml
from geobill.documents.annex import STATUSES
from geobill.documents.finding_words import KIND_WORDS
from geobill.documents.gpkg_styles import BLUE, BROWN, HALO, OVERLAPPED, PURPLE, SEGMENT_GREY, STREET, VERMILION, ZONE
from geobill.documents.maps import OVERLAP, ZONE_EDGE
from geobill.documents.qml_forms import Form

LABELS_FROM = 2500
KINDS: dict[str, str] = {"zone": ZONE, "gap": STREET, "overlap": OVERLAPPED}
GROUND: dict[str, str] = {"priced": "Com valor", "held": "Retida"}
POINT, LINE, AREA = "Point", "Line", "Polygon"
ALIASES: dict[str, str] = {
    "batch": "Lote",
    "source_row": "Linha no arquivo",
    "segment": "Trecho",
    "equipment": "Equipamento",
    "operator": "Operadora",
    "service": "Serviço",
    "level": "Posição",
    "permit": "Permissão",
    "status": "Situação cadastral",
    "width_m": "Largura (m)",
    "declared_length_m": "Extensão declarada (m)",
    "installed_on": "Instalado em",
    "removed_on": "Retirado em",
    "length_m": "Extensão (m)",
    "volume_m3": "Volume (m³)",
    "zone": "Zona",
    "land_value": "Valor do terreno T (R$/m²)",
    "area_m2": "Área (m²)",
    "on_overlap": "Sobreposições pela política",
    "max_gap_m": "Maior vão coberto (m)",
    "kind": "Tipo",
    "survey": "Levantamento",
    "id": "Achado",
    "permitted": "Permitido",
    "start_m": "Do metro",
    "end_m": "Ao metro",
    "offset_mean_m": "Distância média à rede permitida (m)",
    "offset_p95_m": "Distância que 95% não passam (m)",
    "offset_max_m": "Maior distância (m)",
    "confidence": "Confiança (0 a 1)",
    "permitted_width_m": "Largura permitida (m)",
    "permitted_volume_m3": "Volume permitido (m³)",
    "month_cents": "Preço de um mês, em centavos",
}
STATUS_COLOURS: dict[str, tuple[str, tuple[float, ...]]] = {
    "permitted": (BLUE, ()),
    "existing": (BLUE, (3, 1)),
    "planned": (SEGMENT_GREY, (1, 1)),
    "suspected": (PURPLE, (2, 0.8)),
    "clandestine": (VERMILION, ()),
    "unregistered": (BROWN, (2, 0.6)),
    "clandestine_unregistered": (VERMILION, (2, 0.6)),
}


@dataclass(frozen=True)
class StoreStyle:
    """The style of a table of the store: its name for people and its QML."""

    table: str
    title: str
    qml: str


def store_styles(columns: Mapping[str, Sequence[str]], operators: Mapping[str, str]) -> tuple[StoreStyle, ...]:
    """Return a style for each table of the store.

    Parameters
    ----------
    columns : mapping of table to its columns
        In their order, without ``fid`` and ``geom``.
    operators : mapping of id to name
    """
    return tuple(
        StoreStyle(table, *SHOWN[table](names, operators))
        if table in SHOWN
        else StoreStyle(table, table, _table(names))
        for table, names in columns.items()
    )


def _table(names: Sequence[str]) -> str:
    """Style of a table without geometry: as it is, read-only."""
    return qml.style(qml.no_renderer(), None, {name: name for name in names}, None, "", Form())


def _aliases(names: Sequence[str]) -> dict[str, str]:
    return {name: ALIASES.get(name, name) for name in names}


def _styled(
    title: str,
    renderer: Element,
    names: Sequence[str],
    operators: Mapping[str, str],
    geometry: str | None,
    shown_as: str,
    label: str = "",
    **choices: Mapping[str, str],
) -> tuple[str, str]:
    labels = qml.Labels(label, LABELS_FROM, 7.5, "#1a1a1a", along_lines=geometry == "line") if label else None
    form = Form(choices={"operator": operators, **choices} if "operator" in names else choices)
    return title, qml.style(renderer, geometry, _aliases(names), labels, f'"{shown_as}"', form)


def _by_kind(kind: str, match: str) -> str:
    """Rule of the features of one kind of geometry that meet an expression."""
    return f"geometry_type($geometry) = '{kind}' AND ({match})"


def _segments(names: Sequence[str], operators: Mapping[str, str]) -> tuple[str, str]:
    entries = [
        qml.Entry(_status(code), qml.line(qml.stroke(colour, 0.8, dashes, scaled=True)), code)
        for code, (colour, dashes) in STATUS_COLOURS.items()
    ]
    return _styled(
        "Rede: trechos como entregues", qml.categories("status", entries), names, operators, "line", "segment", '"segment"',
        status=_statuses(),
    )  # fmt: skip


def _equipment(names: Sequence[str], operators: Mapping[str, str]) -> tuple[str, str]:
    entries = [
        qml.Entry(f"{_status(code)}{said}", symbol, _by_kind(kind, f"\"status\" = '{code}'"))
        for code, (colour, _) in STATUS_COLOURS.items()
        for kind, said, symbol in (
            (POINT, "", qml.mark("square", colour, "#ffffff", "2.8")),
            (LINE, " (linha)", qml.line(qml.stroke(colour, 0.8))),
            (AREA, " (área)", qml.Symbol("fill", (qml.fill(colour + "60", colour, 0.4),))),
        )
    ]
    return _styled(
        "Armários e contêineres",
        qml.rules(entries),
        names,
        operators,
        None,
        "equipment",
        '"equipment"',
        status=_statuses(),
    )


def _zones(names: Sequence[str], operators: Mapping[str, str]) -> tuple[str, str]:
    symbol = qml.Symbol("fill", (qml.fill("#f1e4c699", ZONE_EDGE, 0.2, tint=_VALUE_COLOUR),))
    label = "\"zone\" || ' · R$ ' || replace(\"land_value\", '.', ',') || '/m²'"
    return _styled("Mapa de Valores: zonas", qml.single(symbol), names, operators, "fill", "zone", label)


def _coverage(names: Sequence[str], operators: Mapping[str, str]) -> tuple[str, str]:
    plain = qml.Symbol("fill", (qml.fill("#f1e4c699", ZONE_EDGE, 0.15, tint=_VALUE_COLOUR),))
    street = qml.Symbol("fill", (qml.fill("#f1e4c699", tint=_VALUE_COLOUR), qml.fill("#ffffff99")))
    overlap = qml.Symbol("fill", (qml.hatch(OVERLAP, OVERLAP),))
    looks_of = (
        ("zone", "Zona", plain),
        ("gap", "Vão (via): zona mais próxima", street),
        ("overlap", "Sobreposição", overlap),
    )
    entries = [qml.Entry(said, symbol, kind) for kind, said, symbol in looks_of]
    return _styled(
        "Cobertura com preço",
        qml.categories("kind", entries),
        names,
        operators,
        "fill",
        "zone",
        kind=KINDS,
        status=GROUND,
    )


def _survey_lines(names: Sequence[str], operators: Mapping[str, str]) -> tuple[str, str]:
    symbol = qml.line(qml.stroke(HALO, 0.9), qml.stroke(SEGMENT_GREY, 0.45))
    return _styled("Levantamento de campo", qml.single(symbol), names, operators, "line", "segment")


def _survey_equipment(names: Sequence[str], operators: Mapping[str, str]) -> tuple[str, str]:
    symbols = (
        (POINT, "Equipamento levantado", qml.mark("circle", "#ffffff00", SEGMENT_GREY, "4.2")),
        (LINE, "Equipamento levantado (linha)", qml.line(qml.stroke(SEGMENT_GREY, 0.5))),
        (AREA, "Equipamento levantado (área)", qml.Symbol("fill", (qml.fill("#7a7a7a30", SEGMENT_GREY, 0.4),))),
    )
    entries = [qml.Entry(said, symbol, _by_kind(kind, "true")) for kind, said, symbol in symbols]
    return _styled("Equipamentos levantados", qml.rules(entries), names, operators, None, "equipment")


def _findings(names: Sequence[str], operators: Mapping[str, str]) -> tuple[str, str]:
    entries = [
        qml.Entry(f"{words}{said}", symbol(kind), _by_kind(drawn, f"\"kind\" = '{kind}'"))
        for kind, words in KIND_WORDS.items()
        for drawn, said, symbol in ((LINE, "", looks.finding_line), (POINT, " (ponto)", looks.finding_mark))
    ]
    label = "right(\"id\", 5) || ' · ' || replace(\"length_m\", '.', ',') || ' m'"
    return _styled("Achados", qml.rules(entries), names, operators, None, "id", label, kind=KIND_WORDS)


SHOWN: dict[str, Callable[[Sequence[str], Mapping[str, str]], tuple[str, str]]] = {
    "segments": _segments,
    "equipment": _equipment,
    "value_zones": _zones,
    "priced_coverage": _coverage,
    "survey_lines": _survey_lines,
    "survey_equipment": _survey_equipment,
    "findings": _findings,
}
# from pale to deep as the land's value grows, on the values that the layer has
_VALUE_COLOUR = (
    "with_variable('top', maximum(to_real(\"land_value\")), with_variable('least', minimum(to_real(\"land_value\")), "
    "color_mix_rgb('250,246,234', '189,159,104', if(@top > @least, (to_real(\"land_value\") - @least) / (@top - @least), 0.3))))"
)


def _statuses() -> dict[str, str]:
    return {code: _status(code) for code in STATUS_COLOURS}


def _status(code: str) -> str:
    return STATUSES[code][0]
