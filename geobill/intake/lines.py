"""What is made of a network's lines before they are measured; nothing here changes a length."""

import numpy as np
import shapely

from geobill.intake.rows import Rows

_LINE, _LINES, _COLLECTION = 1, 5, 7


def open_collections(rows: Rows) -> None:
    """Take collections that hold nothing but lines as the multi-part lines they are."""
    mine = np.flatnonzero((shapely.get_type_id(rows.geometry) == _COLLECTION) & rows.standing)
    opened = np.zeros(len(rows), dtype=bool)
    for row in mine:
        parts = _parts(rows.geometry[row])
        if parts and all(p.geom_type in ("LineString", "LinearRing") for p in parts):
            rows.geometry[row] = shapely.MultiLineString(parts)
            opened[row] = True
    rows.note(
        "collection_of_lines",
        "note",
        "{n} row(s) are geometry collections that hold only lines: each was read as one line of several parts.",
        "",
        opened,
    )


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
