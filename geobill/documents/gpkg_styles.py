"""How QGIS shows the annex at once: a style for each of its layers, told apart by shade and pattern, not by hue alone.

Colours are of Okabe and Ito's palette, whose hues stay apart for colour-blind eyes; every state of a line has a dash
pattern of its own besides, so that the map reads on a grey print too.
"""

from collections.abc import Iterable, Mapping
from decimal import Decimal

from geobill.documents import qml
from geobill.documents.maps import OVERLAP, OVERLAP_GROUND, ZONE_EDGE, class_label, spread_colours, value_classes
from geobill.documents.qml_forms import Form
from geobill.domain.money import plain

ONCE, DOUBLED = "Cobrada uma vez", "Cobrada em dobro"
GAP, GAP_DOUBLED = "Em vão do mapa", "Em vão do mapa, em dobro"
SHARED, HELD, SUSPENDED = "Na faixa de outro trecho", "Retida", "Suspensa"
CABINET_ONCE, CABINET_DOUBLED, CABINET_SUSPENDED = "Cobrado uma vez", "Cobrado em dobro", "Suspenso"
ZONE, STREET, OVERLAPPED = "Zona", "Vão (via)", "Sobreposição"
PRICED_GROUND, HELD_GROUND = "Com valor", "Retida"

BLUE, VERMILION, GREEN, PURPLE, BLACK = "#0b3c7d", "#d55e00", "#007a5a", "#8e4f86", "#000000"
BROWN = "#6b4a1e"
HALO = "#ffffffd0"
PALE = "99"  # the map's colours at three fifths, so that lines stand out
SEGMENT_GREY = "#7a7a7a"
# states in the order of the legend: what it says, colour, width in mm, dash and space in mm
STATES: tuple[tuple[str, str, str, float, tuple[float, ...]], ...] = (
    (ONCE, "Cobrada uma vez", BLUE, 0.7, ()),
    (DOUBLED, "Cobrada em dobro (arts. 10 e 12)", VERMILION, 1.2, (3, 1)),
    (GAP, "Em vão do mapa: valor da zona mais próxima", GREEN, 0.9, (1.8, 0.6)),
    (GAP_DOUBLED, "Em vão do mapa, cobrada em dobro", VERMILION, 1.2, (3, 0.8, 0.8, 0.8)),
    (SHARED, "Na faixa de outro trecho: paga com ele", PURPLE, 0.6, (1, 1)),
    (HELD, "Retida: ainda não cobrada", BLACK, 1.2, (0.6, 0.8)),
    (SUSPENDED, "Suspensa por ordem judicial: não exigida", BROWN, 1.0, (2, 0.6, 0.4, 0.6, 0.4, 0.6)),
)
PIECE_LABELS_FROM = 5000  # 1:5.000 and larger
CABINET_LABELS_FROM = 2500
ZONE_LABELS_FROM = 5000


def piece_style(aliases: Mapping[str, str], states: Iterable[str], form: Form | None = None) -> str:
    """Style of the pieces, by state; the legend has the states that there are."""
    present = set(states)
    entries = [
        qml.Entry(
            label,
            qml.line(qml.stroke(HALO, width + 0.7, scaled=True), qml.stroke(colour, width, dashes, scaled=True)),
            state,
        )
        for state, label, colour, width, dashes in STATES
        if state in present
    ]
    labels = qml.Labels('"rotulo"', PIECE_LABELS_FROM, 7.5, "#1a1a1a", along_lines=True)
    return qml.style(qml.categories("situacao", entries), "line", aliases, labels, '"trecho"', form)


def segment_style(aliases: Mapping[str, str]) -> str:
    """Style of the segments as they were handed in: thin and grey, below the pieces."""
    return qml.style(qml.single(qml.line(qml.stroke(SEGMENT_GREY, 0.26))), "line", aliases, None, '"trecho"')


def cabinet_style(aliases: Mapping[str, str], states: Iterable[str]) -> str:
    """Style of the cabinets: squares and, where doubled, open diamonds, whose area grows with the volume."""
    size = 'min(9, 2.4 + 1.2 * sqrt(coalesce("volume_m3", 0)))'
    present = set(states)
    looks = (
        (CABINET_ONCE, "Armário ou contêiner, cobrado uma vez", "square", BLUE, "#ffffff"),
        (CABINET_DOUBLED, "Armário ou contêiner, cobrado em dobro", "diamond", "#ffffff", VERMILION),
        (CABINET_SUSPENDED, "Armário ou contêiner, suspenso por ordem judicial", "triangle", "#ffffff", BROWN),
    )
    entries = [
        qml.Entry(label, qml.mark(shape, colour, edge, size), state)
        for state, label, shape, colour, edge in looks
        if state in present
    ]
    labels = qml.Labels('"equipamento"', CABINET_LABELS_FROM, 7.5, BLUE)
    return qml.style(qml.categories("situacao", entries), "marker", aliases, labels, '"equipamento"')


def coverage_style(
    aliases: Mapping[str, str],
    values: Iterable[Decimal],
    kinds: Iterable[tuple[str, str]],
    form: Form | None = None,
) -> str:
    """Style of the priced coverage: pale classes of value as on the invoice's map, streets paler, overlaps hatched.

    ``kinds`` are the pairs of kind and status that there are.
    """
    classes, present = value_classes(list(values)), set(kinds)
    edge_style = f"if(\"tipo\" = '{STREET}', 'no', 'solid')"
    entries = [
        qml.Entry(
            class_label(low, high),
            qml.Symbol("fill", (qml.fill(colour + PALE, ZONE_EDGE + PALE, 0.15, edge_style),)),
            f'"valor_m2" >= {plain(low)} AND "valor_m2" <= {plain(high)}',
        )
        for (low, high), colour in zip(classes, spread_colours(len(classes)), strict=True)
    ]
    over = (
        ((STREET, PRICED_GROUND), "Tom mais claro: via, pela zona mais próxima", qml.fill("#ffffff99")),
        ((OVERLAPPED, PRICED_GROUND), "Sobreposição de zonas", qml.hatch(OVERLAP, OVERLAP)),
    )
    for (kind, status), label, layer in over:
        if (kind, status) in present:
            match = f"\"tipo\" = '{kind}' AND \"situacao\" = '{status}'"
            entries.append(qml.Entry(label, qml.Symbol("fill", (layer,)), match))
    if (OVERLAPPED, HELD_GROUND) in present:
        symbol = qml.Symbol("fill", (qml.fill(OVERLAP_GROUND), qml.hatch(OVERLAP, OVERLAP)))
        entries.append(qml.Entry("Sobreposição de zonas, retida", symbol, f"\"situacao\" = '{HELD_GROUND}'"))
    labels = qml.Labels(f'if("tipo" = \'{STREET}\', NULL, "zona")', ZONE_LABELS_FROM, 7, "#7a6535")
    return qml.style(qml.rules(entries), "fill", aliases, labels, '"zona"', form)
