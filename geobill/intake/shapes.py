"""Geometries out of well-known binary: all at once, and one by one where GEOS refuses a row."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
import shapely

from geobill.domain.finding import Finding
from geobill.intake.curves import STEP, BrokenError, SurfaceError, linearise, read_kind

_PLAIN = range(1, 8)  # kinds of straight edges; one row of another kind makes shapely refuse all of them


@dataclass(frozen=True)
class Shapes:
    """Geometries of a layer's rows, None where there is none; rows by their number in the layer (first is 1).

    ``unbuilt`` has the reason code and the reason of each row whose geometry couldn't be built; ``curved`` are rows whose
    arcs became chords, ``error`` is how much of an arc's length was lost at most.
    """

    geometry: np.ndarray | None
    unbuilt: Mapping[int, tuple[str, str]] = field(default_factory=dict)
    curved: tuple[int, ...] = ()
    error: float = 0.0

    def after(self, rows: int) -> "Shapes":
        """Count the rows from behind so many others."""
        unbuilt = {rows + n: why for n, why in self.unbuilt.items()}
        return Shapes(self.geometry, unbuilt, tuple(rows + n for n in self.curved), self.error)


def join_shapes(batches: Sequence[Shapes]) -> Shapes:
    """Join batches of one layer, each counted ``after`` the rows before it."""
    drawn = [b.geometry for b in batches if b.geometry is not None]
    return Shapes(
        np.concatenate(drawn) if drawn else None,
        {n: why for b in batches for n, why in b.unbuilt.items()},
        tuple(n for b in batches for n in b.curved),
        max((b.error for b in batches), default=0.0),
    )


def geometries(wkb: np.ndarray | None) -> Shapes:
    """Build geometries of straight edges from well-known binary (ISO or EWKB); see `Shapes`."""
    if wkb is None:
        return Shapes(None)
    missing = pd.isna(wkb)
    try:
        built = shapely.from_wkb(wkb, on_invalid="ignore")
    except NotImplementedError:  # shapely's word for arcs and surfaces: one such row, and it builds none
        plain = np.array([b is not None and read_kind(b) in _PLAIN for b in wkb], dtype=bool)
        built = np.full(len(wkb), None, dtype=object)
        built[plain] = shapely.from_wkb(wkb[plain], on_invalid="ignore")
    built[_with_arcs(built)] = None
    unbuilt, curved, error = {}, [], 0.0
    for at in np.flatnonzero(shapely.is_missing(built) & ~missing):
        number = int(at) + 1
        try:
            linear = linearise(bytes(wkb[at]))
        except SurfaceError as e:
            unbuilt[number] = "wrong_geometry_type", _surface(str(e))
            continue
        except BrokenError as e:
            unbuilt[number] = "no_geometry", f"its geometry can't be read: {e}"
            continue
        built[at] = linear.geometry
        if linear.error:
            curved.append(number)
            error = max(error, linear.error)
    return Shapes(built, unbuilt, tuple(curved), error)


def _with_arcs(built: np.ndarray) -> np.ndarray:
    """Positions of collections in which an arc lies: GEOS builds them, and shapely can't take them apart."""
    collections = np.flatnonzero(shapely.get_type_id(built) == shapely.GeometryType.GEOMETRYCOLLECTION.value)
    if _comes_apart(built[collections]):
        return collections[:0]
    return np.array([at for at in collections if not _comes_apart(built[at : at + 1])], dtype=np.int64)


def _comes_apart(collections: np.ndarray) -> bool:
    try:
        while len(collections):
            parts = shapely.get_parts(collections)
            collections = parts[shapely.get_type_id(parts) == shapely.GeometryType.GEOMETRYCOLLECTION.value]
    except NotImplementedError:  # shapely has no class for an arc that GEOS built
        return False
    return True


def _surface(kind: str) -> str:
    return (
        f"it is, or holds, a surface in space ({kind}): it has no axis whose length could be measured. "
        "Export it as a line or as a plain polygon."
    )


def shape_findings(shapes: Shapes) -> list[Finding]:
    """Say which rows couldn't be built, and whose arcs became chords."""
    found = []
    for code, name, what, fix in (
        ("no_geometry", "geometry_unreadable", "bytes that are no geometry", "Export those rows again."),
        ("wrong_geometry_type", "surfaces", "a surface in space (TIN, polyhedral surface, multipatch)",
         "They are set aside: ask for the axis as a line, or for the outline as a polygon."),
    ):  # fmt: skip
        rows = tuple(n for n, (reason, _) in shapes.unbuilt.items() if reason == code)
        if rows:
            found.append(Finding(name, "warning", f"The geometry of {len(rows)} row(s) is {what}.", fix, rows=rows))
    if shapes.curved:
        message = (
            f"{len(shapes.curved)} row(s) hold arcs: they were turned into chords of at most {np.degrees(STEP):.0f} degree. "
            f"No arc's length is off by more than {shapes.error * 100:.4f} % (0.1 % is tolerated)."
        )
        found.append(Finding("curves_linearised", "note", message, rows=shapes.curved))
    return found


def rises(geometry: np.ndarray) -> np.ndarray:
    """Height from the lowest to the highest vertex of each geometry, in the unit of its heights; 0 where it has none."""
    found = np.zeros(len(geometry))
    with_z = np.flatnonzero(shapely.has_z(geometry))
    if not len(with_z):
        return found
    xyz, row = shapely.get_coordinates(geometry[with_z], include_z=True, return_index=True)
    known = np.isfinite(xyz[:, 2])
    heights, row = xyz[known, 2], row[known]
    if len(row):
        first = np.flatnonzero(np.r_[True, np.diff(row) > 0])
        found[with_z[row[first]]] = np.maximum.reduceat(heights, first) - np.minimum.reduceat(heights, first)
    return found
