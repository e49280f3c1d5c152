"""What is made of a network's lines before they are measured; only a part that is there twice changes a length."""

import numpy as np
import pandas as pd
import shapely

from geobill.intake.rows import Rows

_LINE, _LINES, _COLLECTION = 1, 5, 7


def open_collections(rows: Rows) -> None:
    """Take collections that hold nothing but lines as the multi-part lines they are."""
    opened = open_lines(rows.geometry, rows.standing)
    rows.note(
        "collection_of_lines",
        "note",
        "{n} row(s) are geometry collections that hold only lines: each was read as one line of several parts.",
        "",
        opened,
    )


def open_lines(geometry: np.ndarray, where: np.ndarray) -> np.ndarray:
    """Put multi-part lines, in place, for the collections that hold nothing but lines; say which were opened."""
    opened = np.zeros(len(geometry), dtype=bool)
    for row in np.flatnonzero((shapely.get_type_id(geometry) == _COLLECTION) & where):
        parts = _parts(geometry[row])
        if parts and all(p.geom_type in ("LineString", "LinearRing") for p in parts):
            geometry[row] = shapely.MultiLineString(parts)
            opened[row] = True
    return opened


def _parts(geometry: shapely.Geometry) -> list[shapely.Geometry]:
    """Single geometries in a collection, those in collections in it too, without the empty ones."""
    if hasattr(geometry, "geoms"):
        return [part for inner in geometry.geoms for part in _parts(inner)]
    return [] if geometry.is_empty else [geometry]


def drop_repeated_vertices(rows: Rows) -> None:
    """Drop each vertex that lies exactly on the one before it, and parts of a line that lie in one point."""
    before = shapely.get_num_coordinates(rows.geometry)
    lines = rows.standing & np.isin(shapely.get_type_id(rows.geometry), (_LINE, _LINES))
    xy, row = shapely.get_coordinates(rows.geometry[lines], return_index=True)
    same = (xy[1:] == xy[:-1]).all(axis=1) & (row[1:] == row[:-1])
    mine = np.flatnonzero(lines)[np.unique(row[1:][same])]
    if not len(mine):
        return
    rows.geometry[mine] = [_without_stubs(g) for g in shapely.remove_repeated_points(rows.geometry[mine])]
    gone = before - shapely.get_num_coordinates(rows.geometry)
    rows.note(
        "repeated_vertices",
        "note",
        f"{{n}} row(s) had vertices that repeat the one before: {int(gone.sum())} were dropped in all; no length changes.",
        "",
        gone > 0,
    )


def _without_stubs(line: shapely.Geometry) -> shapely.Geometry:
    """Multi-part line without the parts that have no length; one that has no other stays."""
    if line.geom_type != "MultiLineString":
        return line
    long = [p for p in line.geoms if p.length > 0]
    return shapely.MultiLineString(long) if 0 < len(long) < len(line.geoms) else line


def drop_repeated_parts(rows: Rows) -> None:
    """Drop each part of a line that another part of it draws again, forwards or backwards, to the millimetre.

    A network that was gathered into one multi-part row keeps its repeated stretches as repeated parts. The policy
    duplicate_stretch = bill keeps them; `duplicates` says then how many metres lie on the row itself.
    """
    mine = np.flatnonzero((shapely.get_type_id(rows.geometry) == _LINES) & rows.standing)
    if rows.options.duplicate_stretch != "set_aside" or not len(mine):
        return
    parts, owner = shapely.get_parts(rows.geometry[mine], return_index=True)
    rounded = shapely.transform(parts, lambda xy: np.round(xy, 3) + 0.0)
    shapes = shapely.to_wkb(shapely.normalize(rounded))
    again = pd.DataFrame({"row": owner, "shape": shapes}).duplicated().to_numpy()
    changed, metres = np.unique(owner[again]), float(shapely.length(parts[again]).sum())
    kept = np.isin(owner, changed) & ~again
    rows.geometry[mine[changed]] = shapely.multilinestrings(parts[kept], indices=np.searchsorted(changed, owner[kept]))
    where = np.zeros(len(rows), dtype=bool)
    where[mine[changed]] = True
    rows.note(
        "repeated_parts",
        "warning",
        f"{{n}} row(s) hold parts that draw another part of the same row again: each part counts once ({metres:.2f} m left out of "
        "the whole import).",
        "Ask the operator whether two lines run there; if so, for each as a row of its own.",
        where,
    )


def note_rings(rows: Rows) -> None:
    """Find lines that end where they begin: lines all the same, but perhaps outlines of areas."""
    closed = shapely.is_closed(rows.geometry) & (shapely.get_num_coordinates(rows.geometry) > 3)
    rows.note(
        "closed_ring",
        "note",
        "{n} row(s) are lines that end where they begin: the way around is measured.",
        "If they are outlines of areas, ask for the axes instead.",
        closed & rows.standing,
    )
