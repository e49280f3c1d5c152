"""Shapes in metres to SVG paths in millimetres of paper: clipped, simplified to what a printer can show, merged."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import shapely
from shapely.geometry.base import BaseGeometry

SIMPLIFY_MM = 0.05
STREET_SNAP_MM = 0.02
SMALLEST_HOLE_MM2 = 0.05
SQUARE_MM = 1.7


@dataclass(frozen=True)
class Frame:
    """How metres become millimetres of paper: origin at the upper left corner, y downwards."""

    left_m: float
    top_m: float
    metres_per_mm: float
    width_mm: float
    height_mm: float

    @property
    def box(self) -> tuple[float, float, float, float]:
        """Extent in metres: minx, miny, maxx, maxy."""
        right = self.left_m + self.width_mm * self.metres_per_mm
        return self.left_m, self.top_m - self.height_mm * self.metres_per_mm, right, self.top_m

    def on_paper(self, geometries: Sequence[BaseGeometry]) -> np.ndarray:
        """Clip to the extent, turn into millimetres and simplify to what a printer can show."""
        clipped = shapely.clip_by_rect(np.asarray(geometries, dtype=object), *self.box)
        moved = shapely.transform(
            clipped,
            lambda xy: np.column_stack(
                [(xy[:, 0] - self.left_m) / self.metres_per_mm, (self.top_m - xy[:, 1]) / self.metres_per_mm]
            ),
        )
        return shapely.simplify(moved, SIMPLIFY_MM)


def polygon_path(polygons: np.ndarray) -> str:
    """One path of all rings, each polygon wound the same way, so that overlapping ones don't cancel (nonzero)."""
    parts = shapely.get_parts(polygons)
    parts = parts[(shapely.get_type_id(parts) == shapely.GeometryType.POLYGON) & (shapely.area(parts) > 0.01)]
    rings = shapely.get_rings(shapely.orient_polygons(parts))
    return "".join(_path(shapely.get_coordinates(ring)[:-1], closed=True) for ring in rings)


def street_path(streets: np.ndarray, blocks: np.ndarray) -> str:
    """One path of all streets of a class, without the seams between them and without the blocks that will cover them."""
    if not len(streets):
        return ""
    snapped = shapely.set_precision(np.concatenate([streets, blocks]), STREET_SNAP_MM)
    merged = shapely.get_parts(shapely.simplify(shapely.union_all(snapped), SIMPLIFY_MM))
    rings, part = shapely.get_rings(shapely.orient_polygons(merged), return_index=True)
    seen = np.abs(shapely.area(shapely.polygons(rings))) >= SMALLEST_HOLE_MM2
    outer = np.diff(part, prepend=-1) != 0
    return "".join(_path(shapely.get_coordinates(ring)[:-1], closed=True) for ring in rings[seen | outer])


def squares_path(places: np.ndarray, frame: Frame) -> str:
    """One path of a small square around each place."""
    middles = shapely.get_coordinates(shapely.point_on_surface(places)) if len(places) else np.empty((0, 2))
    middles = np.unique(middles, axis=0)
    corner = (
        np.column_stack([middles[:, 0] - frame.left_m, frame.top_m - middles[:, 1]]) / frame.metres_per_mm
        - SQUARE_MM / 2
    )
    side = mm(SQUARE_MM)
    return "".join(f"M{mm(x)} {mm(y)}h{side}v{side}h-{side}z" for x, y in corner)


def line_path(lines: np.ndarray, frame: Frame) -> str:
    """One path of all lines; stretches that meet end to end are joined, so that dashes run through."""
    parts = shapely.get_parts(lines)
    if not len(parts):
        return ""
    joined = shapely.line_merge(shapely.multilinestrings(shapely.force_2d(parts)))
    paper = shapely.get_parts(frame.on_paper(shapely.get_parts([joined])))
    return "".join(_path(shapely.get_coordinates(line)) for line in paper)


def _path(coordinates: np.ndarray, closed: bool = False) -> str:
    """Relative moves in hundredths of a millimetre, so that rounding never adds up along a line."""
    if len(coordinates) < 2:
        return ""
    hundredths = np.floor(coordinates * 100 + 0.5).astype(np.int64)
    steps = np.diff(hundredths, axis=0)
    steps = steps[(steps != 0).any(axis=1)]
    if not len(steps) and closed:
        return ""
    if not len(steps):
        steps = np.array([[1, 0]])
    start = f"M{_hundredths(hundredths[0, 0])} {_hundredths(hundredths[0, 1])}l"
    moves = " ".join(f"{_hundredths(dx)} {_hundredths(dy)}" for dx, dy in steps)
    return start + moves + ("z" if closed else "")


def _hundredths(count: int) -> str:
    """Write hundredths of a millimetre as millimetres, with no needless digit.

    Examples
    --------
    >>> _hundredths(150), _hundredths(-5), _hundredths(0)
    ('1.5', '-0.05', '0')
    """
    sign, count = ("-" if count < 0 else ""), abs(int(count))
    return f"{sign}{count // 100}.{count % 100:02d}".rstrip("0").rstrip(".")


def mm(length: float) -> str:
    """Write millimetres of paper with two decimals at most."""
    return _hundredths(round(length * 100))
