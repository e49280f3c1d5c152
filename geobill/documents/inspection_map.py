"""The map of a layer that somebody sent: its shapes in the municipality's frame, with a scale bar, as a drawing."""

from dataclasses import dataclass

import numpy as np
import shapely

from geobill.documents.drawing import SIMPLIFY_MM, Frame, line_path, mm, polygon_path
from geobill.documents.words import number

WIDTH_MM, HEIGHT_MM = 174.0, 104.0
INSET_MM = 30.0
MOST_CHARACTERS = 500_000  # of a layer's paths: a page stays small enough to be sent
SMALLEST_EXTENT_M = 60.0
_WHOLE_VIEW = 0.6  # from this share of the municipality's width on, the whole of it is shown
_KINDS = {"points": (0, 4), "lines": (1, 2, 5), "polygons": (3, 6)}


@dataclass(frozen=True)
class LayerShapes:
    """What is drawn of a layer: one geometry in ``one_in`` of it.

    They are in metres of the workspace's system where ``system`` says from which they came (``assumed``: the file itself
    doesn't say so); else None, in units that nobody knows.
    """

    layer: str
    geometry: np.ndarray
    one_in: int = 1
    system: str | None = None
    assumed: bool = False


@dataclass(frozen=True)
class Inset:
    """The municipality small in a corner, with the part that is shown: lengths in the drawing's units."""

    x: str
    y: str
    width: str
    height: str
    ground: str
    shown: tuple[str, str, str, str]


@dataclass(frozen=True)
class LayerMap:
    """A drawn layer: SVG paths in a box of ``width`` by ``height``, the scale bar, and how it is told in words."""

    width: str
    height: str
    lines: str
    polygons: str
    points: str
    ground: str
    edge: str
    bar: str | None
    bar_label: str
    inset: Inset | None
    alt: str
    one_in: int
    north: bool


def draw_layer(shapes: LayerShapes, ground: shapely.Geometry, municipality: str) -> LayerMap | None:
    """Draw a layer; None where nothing of it has a place, or its shapes can't be drawn.

    Parameters
    ----------
    shapes : LayerShapes
    ground : Polygon or MultiPolygon
        The municipality's boundary or box, in the workspace's system.
    municipality : str
        Its name, for the description.
    """
    geometry = shapes.geometry[np.isfinite(shapely.bounds(shapes.geometry)).all(axis=1)]
    if not len(geometry):
        return None
    located = shapes.system is not None
    view = _view(geometry, ground if located else None)
    frame = _frame(view)
    inset = _inset(frame, ground) if located and frame.box[0] > shapely.bounds(ground)[0] else None
    try:
        paths, taken = _paths(geometry, frame)
        inner = polygon_path(frame.on_paper([ground])) if located else ""
        edge = line_path(np.array([shapely.boundary(ground)]), frame) if located else ""
    except shapely.errors.GEOSException:
        return None
    bar_m = _bar_m(frame)
    across, up = (number(round(side)) for side in (frame.box[2] - frame.box[0], frame.box[3] - frame.box[1]))
    where = f"de uma área de {across} por {up} metros em {municipality}, norte para cima" if located else "sem escala"
    return LayerMap(
        width=mm(WIDTH_MM), height=mm(HEIGHT_MM), **paths, ground=inner, edge=edge,
        bar=mm(bar_m / frame.metres_per_mm) if located else None,
        bar_label=f"{number(bar_m // 1000)} km" if bar_m >= 1000 else f"{number(bar_m)} m", inset=inset,
        alt=f"Desenho da camada {shapes.layer}, {where}.", one_in=shapes.one_in * taken, north=located,
    )  # fmt: skip


def _view(geometry: np.ndarray, ground: shapely.Geometry | None) -> tuple[float, float, float, float]:
    """Extent to be shown: the municipality's where the layer fills enough of it, else the layer's."""
    bounds = shapely.bounds(geometry)
    low, high = bounds[:, :2].min(axis=0), bounds[:, 2:].max(axis=0)
    if ground is not None:
        box = shapely.bounds(ground)
        within = (
            (bounds[:, 0] <= box[2]) & (bounds[:, 2] >= box[0]) & (bounds[:, 1] <= box[3]) & (bounds[:, 3] >= box[1])
        )
        if within.any():  # what lies elsewhere is counted, not shown
            low, high = bounds[within, :2].min(axis=0), bounds[within, 2:].max(axis=0)
            low, high = np.maximum(low, box[:2]), np.minimum(high, box[2:])
            if ((high - low) >= _WHOLE_VIEW * (box[2:] - box[:2])).any():
                low, high = box[:2], box[2:]
    return float(low[0]), float(low[1]), float(high[0]), float(high[1])


def _frame(view: tuple[float, float, float, float]) -> Frame:
    minx, miny, maxx, maxy = view
    across, up = max(maxx - minx, 1e-9), max(maxy - miny, 1e-9)
    if max(across, up) < SMALLEST_EXTENT_M and abs(minx) > 360:  # degrees stay as small as they are
        across = up = SMALLEST_EXTENT_M
    per_mm = max(across / (WIDTH_MM - 8), up / (HEIGHT_MM - 14))
    left = (minx + maxx - WIDTH_MM * per_mm) / 2
    top = (miny + maxy + (HEIGHT_MM - 4) * per_mm) / 2  # more room below, for the scale bar
    return Frame(left, top, per_mm, WIDTH_MM, HEIGHT_MM)


def _paths(geometry: np.ndarray, frame: Frame) -> tuple[dict[str, str], int]:
    """Paths by kind, of as many geometries as keep them small: one in how many is the second."""
    taken = 1
    while len(geometry[::taken]) > 1 and _characters(geometry[::taken], frame) > MOST_CHARACTERS:
        taken *= 2
    parts = shapely.get_parts(shapely.get_parts(geometry[::taken]))
    kinds = shapely.get_type_id(parts)
    polygons = shapely.make_valid(parts[np.isin(kinds, _KINDS["polygons"])])
    return {
        "lines": line_path(parts[np.isin(kinds, _KINDS["lines"])], frame),
        "polygons": polygon_path(frame.on_paper(polygons)) if len(polygons) else "",
        "points": _dots(parts[np.isin(kinds, _KINDS["points"])], frame),
    }, taken


def _characters(geometry: np.ndarray, frame: Frame) -> int:
    """About how many characters a path of geometries takes: a move for each vertex that a printer can show."""
    shown = shapely.simplify(geometry, SIMPLIFY_MM * frame.metres_per_mm)
    return 9 * int(shapely.get_num_coordinates(shown).sum())


def _dots(points: np.ndarray, frame: Frame) -> str:
    """Places of points, each once, as moves of no length, which a round pen makes a dot."""
    if not len(points):
        return ""
    xy = (shapely.get_coordinates(points) - [frame.left_m, frame.top_m]) / frame.metres_per_mm * [1, -1]
    xy = np.unique(np.round(xy[((xy >= 0) & (xy <= [frame.width_mm, frame.height_mm])).all(axis=1)], 1), axis=0)
    return "".join(f"M{mm(x)} {mm(y)}h0" for x, y in xy)


def _inset(frame: Frame, ground: shapely.Geometry) -> Inset:
    minx, miny, maxx, maxy = shapely.bounds(ground)
    per_mm = max(maxx - minx, maxy - miny) / INSET_MM
    width, height = (maxx - minx) / per_mm, (maxy - miny) / per_mm
    small = Frame(float(minx), float(maxy), float(per_mm), float(width), float(height))
    left, bottom, right, top = frame.box
    shown = ((left - minx) / per_mm, (maxy - top) / per_mm, (right - left) / per_mm, (top - bottom) / per_mm)
    at = WIDTH_MM - width - 3, HEIGHT_MM - height - 3
    return Inset(
        mm(at[0]), mm(at[1]), mm(width), mm(height), polygon_path(small.on_paper([ground])),
        (mm(shown[0]), mm(shown[1]), mm(max(shown[2], 1)), mm(max(shown[3], 1))),
    )  # fmt: skip


def _bar_m(frame: Frame) -> int:
    """Longest bar of 1, 2 or 5 times a power of ten that takes at most a quarter of the width."""
    room = frame.width_mm * frame.metres_per_mm / 4
    steps = [step * 10**power for power in range(7) for step in (1, 2, 5)]
    return max([1, *(s for s in steps if s <= room)])
