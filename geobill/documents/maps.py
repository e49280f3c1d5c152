"""The map on a document: the network over the zones of the Mapa de Valores, as a vector drawing at a round scale."""

from decimal import Decimal
from math import ceil

import geopandas as gpd
import numpy as np
import shapely

from geobill.documents.drawing import Frame, line_path, mm, polygon_path, squares_path, street_path
from geobill.documents.forms import draw
from geobill.documents.network_map import NetworkMap
from geobill.documents.overrides.folder import PACKAGE, Templates
from geobill.documents.words import number, reais
from geobill.domain.network import PLANNED
from geobill.errors import TemplateError

# Light to dark sand: ordered by lightness alone, so that it reads without colour and on a grey print.
CLASS_COLOURS: tuple[str, ...] = ("#faf6ea", "#f1e4c6", "#e4cf9f", "#d2b880", "#bd9f68")
STREET_SHARE_OF_WHITE = 0.5  # streets take their class's colour, this much nearer to white
NO_VALUE_COLOUR = "#ffffff"
ZONE_EDGE = "#a3916c"
PERMITTED = "#12357a"
CLANDESTINE = "#c4161c"
CLANDESTINE_STATUSES = ["clandestine", "clandestine_unregistered"]
OVERLAP = "#5c5c5c"
OVERLAP_GROUND = "#dcdcdc"
INVOICE_MAP_MM: tuple[float, float] = (174.0, 124.0)
DECREE_MAP_MM: tuple[float, float] = (174.0, 200.0)
MARGIN_MM = 5.0
BAND_MM = 12.0  # below the map: scale bar and north arrow, where they can't cover the network
MANY_ZONES = 500
SMALLEST_EXTENT_M = 50.0
ROUND_STEPS: tuple[float, ...] = (1, 1.25, 1.5, 2, 2.5, 3, 4, 5, 6, 7.5, 8, 10)


def network_map(
    segments: gpd.GeoDataFrame,
    zones: gpd.GeoDataFrame,
    width_mm: float = INVOICE_MAP_MM[0],
    height_mm: float = INVOICE_MAP_MM[1],
    equipment: gpd.GeoDataFrame | None = None,
    templates: Templates = PACKAGE,
) -> NetworkMap:
    """Draw a network and its cabinets over the zones that surround them.

    Zones are filled in up to five classes of land value with about as many zones in each; permitted and existing
    lines are dark blue, clandestine ones red and dashed, so that they differ without colour too; cabinets are filled
    squares, clandestine ones open and red. The same frames always give the same text.

    Parameters
    ----------
    segments : geopandas.GeoDataFrame
        ``status`` and line geometry, in metres. May be empty: then the extent is that of the zones.
    zones : geopandas.GeoDataFrame
        ``land_value`` (decimal text or None) and polygon geometry in the same system; optional ``kind``: ``zone``,
        ``gap`` (street area that took the nearest zone's value, drawn paler and without an edge) or ``overlap``
        (hatched on grey; one that has a land value under the policy is filled as a zone and hatched).
    width_mm, height_mm : float
        Size on paper; ``INVOICE_MAP_MM`` and ``DECREE_MAP_MM`` fit their documents.
    equipment : geopandas.GeoDataFrame, optional
        ``status`` and geometry of cabinets and containers in the same system.
    templates : Templates
        Whose ``mapa.svg.j2`` draws.

    Returns
    -------
    NetworkMap

    Raises
    ------
    TemplateError
        If the frames are in different systems or degrees, or there is nothing to draw.
    """
    if equipment is None:
        equipment = gpd.GeoDataFrame({"status": []}, geometry=[], crs=segments.crs)
    _check_frames({"network": segments, "zones": zones, "equipment": equipment})
    segments, zones, equipment = (_drawable(frame) for frame in (segments, zones, equipment))
    own = [one.total_bounds for one in (segments, equipment) if len(one)] or [zones.total_bounds]
    frame = frame_around(np.array(own), width_mm, height_mm - BAND_MM)
    zones = zones[zones.geometry.intersects(shapely.box(*frame.box))]

    fills, legend = _zone_layers(zones, frame)
    clandestine = np.isin(segments["status"].to_numpy(dtype=object), CLANDESTINE_STATUSES)
    shapes = segments.geometry.to_numpy()
    lines = {"regular": line_path(shapes[~clandestine], frame), "clandestine": line_path(shapes[clandestine], frame)}
    if lines["regular"]:
        planned = (segments["status"].to_numpy() == PLANNED).any()
        said = "Rede permitida, existente ou a implantar" if planned else "Rede permitida ou existente"
        legend.append((PERMITTED, said, "line"))
    if lines["clandestine"]:
        legend.append((CLANDESTINE, "Rede clandestina", "dashed"))
    hidden = np.isin(equipment["status"].to_numpy(dtype=object), CLANDESTINE_STATUSES)
    places = equipment.geometry.to_numpy()
    squares = {"regular": squares_path(places[~hidden], frame), "clandestine": squares_path(places[hidden], frame)}
    if squares["regular"]:
        legend.append((PERMITTED, "Armário ou contêiner", "square"))
    if squares["clandestine"]:
        legend.append((CLANDESTINE, "Armário clandestino", "square_open"))

    bar_m = scale_bar_m(frame)
    denominator = round(frame.metres_per_mm * 1000)
    drawn = {
        "width": mm(width_mm),
        "height": mm(height_mm),
        "inner": {"width": mm(width_mm - 0.2), "height": mm(height_mm - 0.2), "map": mm(frame.height_mm)},
        "north_x": mm(width_mm - 14),
        "edge_width": "0.06" if len(zones) > MANY_ZONES else "0.14",
        "fills": fills,
        "lines": lines,
        "squares": squares,
        "colours": {
            "edge": ZONE_EDGE,
            "permitted": PERMITTED,
            "clandestine": CLANDESTINE,
            "overlap": OVERLAP,
            "overlap_ground": OVERLAP_GROUND,
        },
        "bar": bar_of(bar_m, frame),
    }
    svg = draw("mapa.svg.j2", drawn, templates)
    crs = segments.crs or zones.crs
    system = (
        f" – {crs.name.replace('UTM zone', 'UTM, fuso')} (EPSG:{crs.to_epsg()})"
        if crs is not None and crs.to_epsg()
        else ""
    )
    return NetworkMap(
        svg=svg,
        legend=tuple(legend),
        scale_text=f"Escala 1:{number(denominator)} em folha A4{system}",
        alt=_alt(segments, int(clandestine.sum()), len(equipment), int(hidden.sum()), zones, denominator, frame),
        width_mm=float(width_mm),
        height_mm=float(height_mm),
    )


def _check_frames(frames: dict[str, gpd.GeoDataFrame]) -> None:
    known = {what: frame.crs for what, frame in frames.items() if frame.crs is not None}
    for what, crs in known.items():
        if crs.is_geographic:
            raise TemplateError(
                f"The {what} of the map are in degrees ({crs.to_string()}): a scale can't be drawn in degrees. "
                "Reproject to the workspace's system first."
            )
        first, its = next(iter(known.items()))
        if crs != its:
            raise TemplateError(
                f"The {first} of the map is in {its.to_string()} and the {what} in {crs.to_string()}: the map would "
                "show one beside the other. Reproject all to the workspace's system first."
            )
    if not any(len(_drawable(frame)) for frame in frames.values()):
        raise TemplateError("The map has neither network nor zones to draw: give at least one of them a geometry.")


def _drawable(frame: gpd.GeoDataFrame) -> gpd.GeoDataFrame:
    return frame[~(frame.geometry.isna() | frame.geometry.is_empty)]


def frame_around(bounds: np.ndarray, width_mm: float, height_mm: float) -> Frame:
    """Centre what is shown, with a margin, at the largest round scale at which it fits."""
    (minx, miny), (maxx, maxy) = bounds[:, :2].min(axis=0), bounds[:, 2:].max(axis=0)
    across, up = max(maxx - minx, SMALLEST_EXTENT_M), max(maxy - miny, SMALLEST_EXTENT_M)
    needed = max(across / (width_mm - 2 * MARGIN_MM), up / (height_mm - 2 * MARGIN_MM))
    power = 10.0 ** np.floor(np.log10(needed))
    per_mm = float(next(step * power for step in ROUND_STEPS if step * power >= needed))
    left, top = (minx + maxx - width_mm * per_mm) / 2, (miny + maxy + height_mm * per_mm) / 2
    return Frame(float(left), float(top), per_mm, width_mm, height_mm)


def _zone_layers(zones: gpd.GeoDataFrame, frame: Frame) -> tuple[list[dict[str, str]], list[tuple[str, str, str]]]:
    """Paths by class and kind, and the legend's entries for the classes that are drawn."""
    kinds = zones["kind"].to_numpy() if "kind" in zones.columns else np.full(len(zones), "zone", dtype=object)
    values = [_value(text) for text in zones["land_value"].to_numpy()]
    paper = frame.on_paper(zones.geometry.to_numpy())
    classes = value_classes([v for v, kind in zip(values, kinds, strict=True) if v is not None and kind != "overlap"])

    fills: list[dict[str, str]] = []
    legend: list[tuple[str, str, str]] = []
    members = [np.array([v is not None and low <= v <= high for v in values], dtype=bool) for low, high in classes]
    colours = spread_colours(len(classes))
    for member, colour in zip(members, colours, strict=True):  # streets of all classes lie below the blocks of all
        if path := street_path(paper[member & (kinds == "gap")], paper[member & (kinds != "gap")]):
            fills.append({"path": path, "colour": _paler(colour), "kind": "gap"})
    streets = len(fills)
    for (low, high), member, colour in zip(classes, members, colours, strict=True):
        if path := polygon_path(paper[member & (kinds != "gap")]):
            fills.append({"path": path, "colour": colour, "kind": "zone"})
        legend.append((colour, class_label(low, high), "fill"))
    if streets:
        legend.append((_paler(colours[len(colours) // 2]), "Tom mais claro: via, pela zona mais próxima", "fill"))
    unvalued = np.array([v is None for v in values], dtype=bool) & (kinds != "overlap")
    if path := polygon_path(paper[unvalued]):
        fills.append({"path": path, "colour": NO_VALUE_COLOUR, "kind": "zone"})
        legend.append((NO_VALUE_COLOUR, "Sem valor no mapa", "fill"))
    disputed = kinds == "overlap"
    held = disputed & np.array([v is None for v in values], dtype=bool)
    for member, kind, label in (
        (disputed & ~held, "overlap", "Sobreposição de zonas"),
        (held, "held", "Sobreposição de zonas, retida"),
    ):
        if path := polygon_path(paper[member]):
            fills.append({"path": path, "colour": OVERLAP, "kind": kind})
            legend.append((OVERLAP, label, "hatch"))
    return fills, legend


def _value(text: object) -> Decimal | None:
    """Land value of a zone; None where the map gives none (null, or the NaN that a frame makes of it)."""
    value = Decimal(text) if isinstance(text, str | Decimal) and text else None
    return value if value is not None and value.is_finite() else None


def value_classes(values: list[Decimal]) -> list[tuple[Decimal, Decimal]]:
    """At most five ranges of value, with about as many zones in each; equal values never part.

    Examples
    --------
    >>> value_classes([Decimal(v) for v in (1, 2, 3, 4, 5, 6, 6, 6, 6, 6)])[-1]
    (Decimal('5'), Decimal('6'))
    >>> value_classes([])
    []
    """
    ordered = sorted(values)
    distinct = sorted(set(values))
    if len(distinct) <= len(CLASS_COLOURS):
        return [(v, v) for v in distinct]
    edges = sorted({ordered[ceil(len(ordered) * k / 5) - 1] for k in range(1, 6)})
    lows = [distinct[0], *(distinct[distinct.index(edge) + 1] for edge in edges[:-1])]
    return list(zip(lows, edges, strict=True))


def spread_colours(count: int) -> list[str]:
    """As many colours as there are classes, from the light end to the dark one."""
    last = len(CLASS_COLOURS) - 1
    return [CLASS_COLOURS[round(i * last / max(count - 1, 1))] for i in range(count)]


def _paler(colour: str) -> str:
    """Blend a colour with white, without transparency.

    Examples
    --------
    >>> _paler("#bd9f68")
    '#decfb4'
    """
    parts = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return "#" + "".join(f"{round(c + (255 - c) * STREET_SHARE_OF_WHITE):02x}" for c in parts)


def class_label(low: Decimal, high: Decimal) -> str:
    """Name a class of land values in a legend."""
    if low == high:
        return f"{reais(low)} por m²"
    return f"{reais(low)} a {reais(high)} por m²"


def scale_bar_m(frame: Frame) -> int:
    """Longest bar of 1, 2 or 5 times a power of ten that takes at most a quarter of the width."""
    room = frame.width_mm * frame.metres_per_mm / 4
    power = 10 ** int(np.floor(np.log10(room)))
    return max(1, *(step * power for step in (1, 2, 5) if step * power <= room))


def bar_of(bar_m: int, frame: Frame) -> dict[str, str]:
    """Lengths on paper and labels of a scale bar."""
    length = bar_m / frame.metres_per_mm
    whole_km = bar_m >= 1000 and bar_m % 1000 == 0
    return {
        "length": mm(length),
        "half": mm(length / 2),
        "label": f"{number(bar_m // 1000)} km" if whole_km else f"{number(bar_m)} m",
        "middle": f"{number(Decimal(bar_m) / 2)}" if not whole_km else f"{number(Decimal(bar_m) / 2000)}",
    }


def _alt(
    segments: gpd.GeoDataFrame,
    clandestine: int,
    cabinets: int,
    hidden: int,
    zones: gpd.GeoDataFrame,
    denominator: int,
    frame: Frame,
) -> str:
    """Describe the drawing to somebody who can't see it."""
    minx, miny, maxx, maxy = frame.box
    across, up = (number(round(side)) for side in (maxx - minx, maxy - miny))
    shown = [
        f"{number(count)} {one if count == 1 else many} {what}"
        for count, one, many, what in (
            (len(segments) - clandestine, "trecho", "trechos", "de rede permitida ou existente em azul"),
            (clandestine, "trecho", "trechos", "de rede clandestina em vermelho tracejado"),
            (cabinets - hidden, "armário ou contêiner", "armários ou contêineres", "em quadrado azul"),
            (hidden, "armário clandestino", "armários clandestinos", "em quadrado vermelho vazado"),
        )
        if count
    ]
    said = ", ".join(shown[:-1]) + (" e " if len(shown) > 1 else "") + shown[-1] if shown else "nenhum trecho de rede"
    return (
        f"Mapa com o norte para cima, na escala 1:{number(denominator)}, de uma área de {across} por {up} metros: "
        f"{said}, sobre {number(len(zones))} {'polígono' if len(zones) == 1 else 'polígonos'} do Mapa de Valores, mais "
        "escuros quanto maior o valor do terreno."
    )
