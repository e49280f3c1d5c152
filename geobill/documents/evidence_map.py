"""The map of what was found: permitted, surveyed and undeclared lines apart by style as well as by colour, findings numbered."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from math import ceil
from typing import Any

import geopandas as gpd
import numpy as np
import shapely
from pyproj import CRS
from shapely.geometry.base import BaseGeometry

from geobill.documents.drawing import Frame, line_path, mm, polygon_path, squares_path
from geobill.documents.maps import bar_of, frame_around, scale_bar_m
from geobill.documents.words import number
from geobill.domain.detection import CLANDESTINE_KINDS, MISSING
from geobill.errors import TemplateError

ALONE_MM: tuple[float, float] = (174.0, 90.0)  # of a single finding: the paper fits two pages
WIDE_MM: tuple[float, float] = (174.0, 120.0)  # of many
SMALL_MM: tuple[float, float] = (84.0, 68.0)  # of each one among many
LEAST_MM, ROOM_MM = 84.0, 14.0  # a map is made lower down to here, with so much room above and below the findings
BAND_MM = 10.0  # below the map: scale bar and north arrow
LEGEND_ROW_MM, LEGEND_COLUMNS = 5.0, 2
KEY_MM, KEY_EDGE_MM = 27.0, 1.5
KEY_BELOW = 0.35  # of the town's width: above it a key map says nothing
CLOSED_MM = 0.5  # blocks of a key map grow together over streets this wide
LABEL_MM, LABEL_STEPS_MM = 2.1, (4.6, 7.0, 10.0)
ZONE_NAMES, ZONE_NAME_MM2, OFF_MARKS_MM = 12, 200.0, 8.0
MOST_LABELS = 60
DIRECTIONS = tuple((float(np.cos(a)), float(np.sin(a))) for a in np.arange(8) * np.pi / 4)
HIDDEN, OTHERWISE, ABSENT = "hidden", "otherwise", "absent"
# what the legend says of each style, in the order in which it is printed; the words for ears are those of the description
LEGEND: dict[str, tuple[str, str]] = {
    "permitted": ("Rede permitida", "em azul contínuo"),
    "surveyed": ("Rede levantada em campo", "em cinza pontilhado"),
    HIDDEN: ("Achado: não declarado ou a mais", "em vermelho grosso tracejado"),
    OTHERWISE: ("Achado: difere do permitido", "em marrom grosso de traço e ponto"),
    ABSENT: ("Achado: não encontrado", "em azul de linha dupla"),
    "permitted_box": ("Equipamento permitido", "em quadrado azul"),
    "surveyed_box": ("Equipamento levantado", "em círculo cinza"),
    f"{HIDDEN}_box": ("Achado: equipamento não declarado", "em losango vermelho"),
    f"{OTHERWISE}_box": ("Achado: equipamento que difere", "em losango marrom"),
    f"{ABSENT}_box": ("Achado: equipamento não encontrado", "em losango azul"),
    "zone": ("Zona do Mapa de Valores", "em areia claro"),
}


@dataclass(frozen=True)
class Mark:
    """A finding on the map: its number on the paper, its kind, its place in metres."""

    number: int
    kind: str
    shape: BaseGeometry

    @property
    def style(self) -> str:
        """How it is drawn, by what it means: hidden, otherwise than permitted, absent."""
        return HIDDEN if self.kind in CLANDESTINE_KINDS else ABSENT if self.kind == MISSING else OTHERWISE


@dataclass(frozen=True)
class Ground:
    """What lies below the findings, in the workspace's system: of each frame the geometry, of ``zones`` their names too."""

    permitted: gpd.GeoDataFrame
    surveyed: gpd.GeoDataFrame
    zones: gpd.GeoDataFrame
    permitted_equipment: gpd.GeoDataFrame | None = None
    surveyed_equipment: gpd.GeoDataFrame | None = None
    town: BaseGeometry | None = None


@dataclass(frozen=True)
class Sheet:
    """A map that is worked out and waits for its drawing (template ``evidencia.svg.j2``), told in words too.

    It must be printed ``width_mm`` wide, or its scale doesn't hold.
    """

    values: Mapping[str, Any]
    alt: str
    scale_text: str
    legend_text: str
    width_mm: float


def evidence_sheet(
    marks: Sequence[Mark],
    ground: Ground,
    size_mm: tuple[float, float],
    *,
    legend: bool = True,
    key: bool = True,
) -> Sheet:
    """Work out the map of some findings at the largest round scale at which all of them fit.

    Parameters
    ----------
    marks : sequence of Mark
    ground : Ground
    size_mm : (float, float)
        Width and greatest height on paper, the band with the scale bar included, the legend not.
    legend, key : bool
        Whether the legend is drawn below, and the town small in a corner where the map is a small part of it.

    Raises
    ------
    TemplateError
        If a finding has no place, or the system is in degrees.
    """
    _check(marks, ground)
    width, height = size_mm
    bounds = np.array([m.shape.bounds for m in marks])
    frame = frame_around(bounds, width, height - BAND_MM)
    if height > LEAST_MM:  # findings along one street need no high map
        flat = (bounds[:, 3].max() - bounds[:, 1].min()) / frame.metres_per_mm + 2 * ROOM_MM
        height = max(LEAST_MM, min(height, float(ceil(flat)) + BAND_MM))
        frame = frame_around(bounds, width, height - BAND_MM)
    frame = _on_whole_metres(frame)
    layers = _layers(marks, ground, frame)
    layers["zone"], names, zones = _zones(ground.zones, frame, [m.shape for m in marks])
    drawn = {name for name, path in layers.items() if path}
    entries = [(name, words) for name, (words, _) in LEGEND.items() if name in drawn]
    rows = -(-len(entries) // LEGEND_COLUMNS) if legend else 0
    whole = height + rows * LEGEND_ROW_MM + (1.0 if rows else 0.0)
    inset = _key_map(marks, ground, frame) if key else None
    labels = _labels(marks, frame, inset)
    scale = round(frame.metres_per_mm * 1000)
    values = {
        "width": mm(width),
        "height": mm(whole),
        "map": mm(frame.height_mm),
        "inner": {"width": mm(width - 0.2), "height": mm(whole - 0.2)},
        "north_x": mm(width - 14),
        "names": names,
        "layers": {**dict.fromkeys(LEGEND, ""), **layers},
        "labels": labels,
        "corners": _corner_marks(frame, inset),
        "bar": bar_of(scale_bar_m(frame), frame),
        "scale": {"text": f"1:{number(scale)}", "x": mm(width / 2 + 6)},
        "key": inset,
        "legend": [
            {"style": name, "words": words, "x": mm(3 + i % LEGEND_COLUMNS * width / LEGEND_COLUMNS),
             "y": mm(height + 3.2 + i // LEGEND_COLUMNS * LEGEND_ROW_MM)}
            for i, (name, words) in enumerate(entries)
        ] if rows else [],
    }  # fmt: skip
    said = "; ".join(f"{words[:1].lower()}{words[1:]} {how}" for name, (words, how) in LEGEND.items() if name in drawn)
    return Sheet(
        values,
        _alt(marks, frame, scale, said, zones, inset is not None),
        f"Escala 1:{number(scale)} em folha A4{_system(ground)}",
        f"{said[:1].upper()}{said[1:]}.",
        width,
    )


# -- what is drawn


def _check(marks: Sequence[Mark], ground: Ground) -> None:
    if not marks or any(m.shape is None or m.shape.is_empty for m in marks):
        raise TemplateError("The evidence map has a finding without a place, so it wasn't drawn.")
    for frame in (ground.permitted, ground.surveyed, ground.zones):
        if frame.crs is not None and frame.crs.is_geographic:
            raise TemplateError(
                f"What lies around the findings is in degrees ({frame.crs.to_string()}): a scale can't be drawn in degrees. "
                "Reproject it to the workspace's system first."
            )


def _on_whole_metres(frame: Frame) -> Frame:
    """Move the corner to a whole metre, so that the printed coordinates are those of the drawing."""
    return Frame(
        float(round(frame.left_m)), float(round(frame.top_m)), frame.metres_per_mm, frame.width_mm, frame.height_mm
    )


def _within(frame: gpd.GeoDataFrame | None, view: Frame) -> np.ndarray:
    """Geometries that the view touches."""
    if frame is None or not len(frame):
        return np.empty(0, dtype=object)
    hit = np.sort(frame.sindex.query(shapely.box(*view.box), predicate="intersects"))
    return np.asarray(frame.geometry.to_numpy()[hit], dtype=object)


def _layers(marks: Sequence[Mark], ground: Ground, frame: Frame) -> dict[str, str]:
    layers = {
        "permitted": line_path(_lines(_within(ground.permitted, frame)), frame),
        "surveyed": line_path(_lines(_within(ground.surveyed, frame)), frame),
        "permitted_box": squares_path(_within(ground.permitted_equipment, frame), frame),
        "surveyed_box": _dots_path(_within(ground.surveyed_equipment, frame), frame),
    }
    for style in (HIDDEN, OTHERWISE, ABSENT):
        shapes = np.array([m.shape for m in marks if m.style == style] or [None], dtype=object)
        shapes = shapes[~shapely.is_missing(shapes)]
        layers[style] = line_path(_lines(shapes), frame)
        layers[f"{style}_box"] = _diamonds_path(shapes[shapely.length(shapes) == 0], frame)
    return layers


def _lines(shapes: np.ndarray) -> np.ndarray:
    parts = shapely.get_parts(shapes)
    return parts[shapely.get_dimensions(parts) == 1]


def _places(shapes: np.ndarray, frame: Frame) -> np.ndarray:
    """Middles on paper, each once, those inside the view."""
    if not len(shapes):
        return np.empty((0, 2))
    xy = shapely.get_coordinates(shapely.point_on_surface(shapes))
    paper = np.unique(np.column_stack([xy[:, 0] - frame.left_m, frame.top_m - xy[:, 1]]) / frame.metres_per_mm, axis=0)
    return paper[((paper >= 0) & (paper <= (frame.width_mm, frame.height_mm))).all(axis=1)]


def _diamonds_path(shapes: np.ndarray, frame: Frame) -> str:
    return "".join(f"M{mm(x)} {mm(y - 1.6)}l1.6 1.6 -1.6 1.6 -1.6 -1.6z" for x, y in _places(shapes, frame))


def _dots_path(shapes: np.ndarray, frame: Frame) -> str:
    return "".join(f"M{mm(x - 0.8)} {mm(y)}a.8 .8 0 1 0 1.6 0a.8 .8 0 1 0 -1.6 0z" for x, y in _places(shapes, frame))


def _zones(
    zones: gpd.GeoDataFrame, frame: Frame, marks: Sequence[BaseGeometry]
) -> tuple[str, list[dict[str, str]], int]:
    """Path of the zones in sight, the names of those that have room for theirs, and how many there are."""
    if not len(zones):
        return "", [], 0
    hit = np.sort(zones.sindex.query(shapely.box(*frame.box), predicate="intersects"))
    paper = frame.on_paper(zones.geometry.to_numpy()[hit])
    names = zones["zone"].to_numpy()[hit] if "zone" in zones.columns else np.full(len(hit), None, dtype=object)
    taken = shapely.union_all(shapely.buffer(frame.on_paper(marks), OFF_MARKS_MM, quad_segs=2))
    largest = np.argsort(-shapely.area(paper), kind="stable")[:ZONE_NAMES]
    labels = []
    for i in largest:
        part = max(shapely.get_parts(shapely.difference(paper[i], taken)), key=lambda p: p.area, default=None)
        if not isinstance(names[i], str) or part is None or part.area < ZONE_NAME_MM2:
            continue
        low_x, _, high_x, _ = part.bounds
        place, half = part.representative_point(), 0.75 * len(names[i])
        if place.x - half < low_x or place.x + half > high_x:
            continue
        labels.append({"x": mm(place.x), "y": mm(place.y), "text": names[i]})
    return polygon_path(paper), labels, len(hit)


def _labels(marks: Sequence[Mark], frame: Frame, inset: Mapping[str, str] | None) -> list[dict[str, str]]:
    """Place the findings' numbers beside them: off their lines, off each other, inside the view."""
    if len(marks) > MOST_LABELS:
        return []
    paper = frame.on_paper([m.shape for m in marks])
    every = shapely.union_all(paper)
    corner = None if inset is None else (float(inset["x"]), float(inset["y"]))
    placed: list[tuple[float, float]] = []
    made = []
    for mark, shape in zip(marks, paper, strict=True):
        if shape.is_empty:
            continue
        at = (
            shape.interpolate(0.5, normalized=True) if shape.geom_type == "LineString" else shape.representative_point()
        )
        spots = [(at.x + step * x, at.y + step * y) for step in LABEL_STEPS_MM for x, y in DIRECTIONS]
        x, y = min(spots, key=lambda spot: _crowded(spot, every, placed, frame, corner))
        placed.append((x, y))
        made.append({
            "number": str(mark.number), "style": mark.style, "x": mm(x), "y": mm(y), "at_x": mm(at.x), "at_y": mm(at.y),
            "half": mm(LABEL_MM + 0.7 * (len(str(mark.number)) > 2)), "whole": mm(2 * LABEL_MM + 1.4 * (len(str(mark.number)) > 2)),
        })  # fmt: skip
    return made


def _crowded(
    spot: tuple[float, float],
    lines: BaseGeometry,
    placed: Sequence[tuple[float, float]],
    frame: Frame,
    corner: tuple[float, float] | None,
) -> float:
    """How bad a place for a number is: 0 where it covers nothing."""
    x, y = spot
    bad = 0.0
    if not (3 <= x <= frame.width_mm - 3 and 6 <= y <= frame.height_mm - 6):
        bad += 50
    if (
        corner is not None
        and corner[0] - 3 <= x <= corner[0] + KEY_MM + 3
        and corner[1] - 3 <= y <= corner[1] + KEY_MM + 3
    ):
        bad += 40
    bad += 10 * sum(np.hypot(x - px, y - py) < 2 * LABEL_MM + 0.6 for px, py in placed)
    return bad + max(0.0, LABEL_MM + 0.7 - lines.distance(shapely.Point(spot)))


def _key_map(marks: Sequence[Mark], ground: Ground, frame: Frame) -> dict[str, str] | None:
    """Draw the town small with the part that is shown, in the corner where it covers least; None where it would say nothing."""
    town = ground.town
    bounds = town.bounds if town is not None else ground.zones.total_bounds if len(ground.zones) else frame.box
    left, low, right, top = frame.box
    across = max(bounds[2] - bounds[0], bounds[3] - bounds[1])
    if max(right - left, top - low) > KEY_BELOW * across:
        return None
    whole = (min(bounds[0], left), min(bounds[1], low), max(bounds[2], right), max(bounds[3], top))
    per_mm = max(whole[2] - whole[0], whole[3] - whole[1]) / (KEY_MM - 2 * KEY_EDGE_MM)
    middle = ((whole[0] + whole[2]) / 2, (whole[1] + whole[3]) / 2)
    view = Frame(middle[0] - KEY_MM * per_mm / 2, middle[1] + KEY_MM * per_mm / 2, per_mm, KEY_MM, KEY_MM)
    ground_paper = view.on_paper([town] if town is not None else ground.zones.geometry.to_numpy())
    merged = shapely.union_all(shapely.buffer(ground_paper, CLOSED_MM, quad_segs=2)).buffer(-CLOSED_MM, quad_segs=2)
    shapes = frame.on_paper([m.shape for m in marks])
    taken = {}
    for x in (frame.width_mm - KEY_MM, 0.0):
        for y in (0.0, frame.height_mm - KEY_MM):
            taken[(x, y)] = float(shapely.length(shapely.intersection(
                shapely.buffer(shapes, 0.5), shapely.box(x, y, x + KEY_MM, y + KEY_MM))).sum())  # fmt: skip
    x, y = min(taken, key=lambda corner: taken[corner])
    side = max((right - left) / per_mm, 1.2), max((top - low) / per_mm, 1.2)
    centre = (((left + right) / 2 - view.left_m) / per_mm, (view.top_m - (low + top) / 2) / per_mm)
    return {
        "x": mm(x),
        "y": mm(y),
        "side": mm(KEY_MM),
        "ground": polygon_path(np.array([shapely.simplify(merged, 0.05)], dtype=object)),
        "shown_x": mm(centre[0] - side[0] / 2),
        "shown_y": mm(centre[1] - side[1] / 2),
        "shown_width": mm(side[0]),
        "shown_height": mm(side[1]),
    }


# -- how it is told


def _corners(frame: Frame) -> dict[str, str]:
    """Coordinates of the upper left and the lower right corner of the map."""
    left, low, right, top = (_coordinate(side) for side in frame.box)
    return {"first": f"E {left} · N {top}", "last": f"E {right} · N {low}"}


def _corner_marks(frame: Frame, inset: Mapping[str, str] | None) -> list[dict[str, str]]:
    """Say the corners' coordinates in the drawing: upper left and lower right, or the other two where the key map lies there."""
    left, low, right, top = (_coordinate(side) for side in frame.box)
    at_left, at_top = (inset["x"] == "0", inset["y"] == "0") if inset is not None else (False, True)
    rising = inset is not None and at_left == at_top  # the key map lies on the diagonal from upper left to lower right
    pairs = (
        ((left, low, True, False), (right, top, False, True))
        if rising
        else ((left, top, True, True), (right, low, False, False))
    )
    made = []
    for east, north, is_left, is_top in pairs:
        text = f"E {east} · N {north}"
        width = 1.0 * len(text) + 1.6
        made.append({
            "text": text, "x": mm(0 if is_left else frame.width_mm), "y": mm(0 if is_top else frame.height_mm - 3.6),
            "left": mm(0 if is_left else -width), "width": mm(width), "text_x": mm(0.8 if is_left else -0.8),
            "anchor": "start" if is_left else "end",
        })  # fmt: skip
    return made


def _coordinate(metres: float) -> str:
    """Write a coordinate with no more decimals than it needs, two at most."""
    text = f"{metres:.2f}".rstrip("0").rstrip(".")
    return number(Decimal(text))


def _system(ground: Ground) -> str:
    crs = next((CRS(f.crs) for f in (ground.zones, ground.permitted, ground.surveyed) if f.crs is not None), None)
    if crs is None or not crs.to_epsg():
        return ""
    return f" – {crs.name.replace('UTM zone', 'UTM, fuso')} (EPSG:{crs.to_epsg()})"


def _alt(marks: Sequence[Mark], frame: Frame, scale: int, said: str, zones: int, key: bool) -> str:
    """Describe the drawing to somebody who can't see it."""
    left, low, right, top = frame.box
    corners = _corners(frame)
    numbers = ", ".join(str(m.number) for m in marks[:MOST_LABELS]) + (" e outros" if len(marks) > MOST_LABELS else "")
    what = f"o achado {numbers}" if len(marks) == 1 else f"os achados {numbers}"
    return (
        f"Mapa com o norte para cima, na escala 1:{number(scale)}, de uma área de {number(round(right - left))} por "
        f"{number(round(top - low))} metros, do canto noroeste ({corners['first']}) ao sudeste ({corners['last']}), com {what}. "
        f"Mostra {said}."
        + (f" Ao fundo, {number(zones)} {'zona' if zones == 1 else 'zonas'} do Mapa de Valores." if zones else "")
        + (" Num canto, o Município em miniatura, com o lugar da área mostrada." if key else "")
    )
