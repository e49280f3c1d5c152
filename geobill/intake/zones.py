"""Zones of a value map as they come from a file: repaired, set aside with a reason, their overlaps counted and settled.

A repair never drops ground silently: each one is a finding with the area before and after. Where a function speaks of
zones by position and rank, ranks stand for their land values (`value_ranks`).
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal

import geopandas as gpd
import numpy as np
import shapely

from geobill.domain.finding import Finding, SetAside
from geobill.frames import ZONES, check_columns

OVERLAP_REPORTED_FROM_M2 = 1.0  # the contract, "Overlap": reported from 1 m², settled at any size
BORDER_HALF_WIDTH_M = 0.015  # the contract, "Border": an overlap narrower than 0.03 m is a border
TOUCH_M2 = 1e-6  # neighbours that share less are touching: the noise of coordinates


@dataclass(frozen=True)
class Overlaps:
    """Pairs of zones that cover the same ground by at least 1 m², whatever their values.

    Attributes
    ----------
    pairs : int
        How many pairs.
    area_m2 : float
        Sum of the pairs' common areas in square metres; ground that three zones share counts in three pairs.
    rows : tuple of (int, int, float)
        ``source_row`` of the one, of the other (the smaller first), and their common area in square metres; sorted.
    """

    pairs: int
    area_m2: float
    rows: tuple[tuple[int, int, float], ...] = ()


def repair_zones(zones: gpd.GeoDataFrame) -> tuple[gpd.GeoDataFrame, tuple[SetAside, ...], tuple[Finding, ...]]:
    """Make every zone a valid two-dimensional MultiPolygon, or set its row aside.

    Valid polygons keep every coordinate. An invalid one is repaired part by part with ``make_valid`` (linework method:
    both halves of a bow-tie stay), then its parts are united, so that parts that overlap each other lose nothing;
    points and lines that a repair leaves behind are dropped. Never ``buffer(0)``, which can lose half of a bow-tie.

    Parameters
    ----------
    zones : GeoDataFrame
        By ``frames.ZONES``, except that geometries may be missing, invalid, three-dimensional or of any type; metres.

    Returns
    -------
    zones : GeoDataFrame
        The rows that could be used, by ``frames.ZONES``, index and order kept; the input is not changed.
    set_aside : tuple of SetAside
        ``no_geometry`` (missing or empty), ``invalid_geometry`` (coordinates that aren't finite numbers, or nothing
        with an area left after the repair), ``wrong_geometry_type`` (a sound point or line).
    findings : tuple of Finding
        One ``zone_repaired`` for each repaired zone, with its area before and after in square metres.
    """
    check_columns(zones, ZONES, "The value map")
    drawn = shapely.force_2d(np.asarray(zones.geometry.values, dtype=object))
    absent = shapely.is_missing(drawn) | shapely.is_empty(drawn)
    finite = _finite(drawn)
    usable = ~absent & finite
    sound = np.zeros(len(drawn), dtype=bool)
    sound[usable] = shapely.is_valid(drawn[usable])
    types = shapely.get_type_id(drawn)
    polygonal = np.isin(types, (3, 6))
    repaired = np.full(len(drawn), None, dtype=object)
    repaired[sound & polygonal] = [_multi(g) for g in drawn[sound & polygonal]]

    set_aside: list[SetAside] = []
    findings: list[Finding] = []
    for at in np.flatnonzero(~(sound & polygonal)):
        row, name = int(zones["source_row"].iloc[at]), str(zones["zone"].iloc[at])
        if absent[at]:
            set_aside.append(SetAside(row, name, "no_geometry", "The zone has no geometry: it covers no ground."))
            continue
        if not finite[at]:
            reason = "The zone has a coordinate that is not a finite number: draw it again in the source."
            set_aside.append(SetAside(row, name, "invalid_geometry", reason))
            continue
        if types[at] in (0, 1, 2, 4, 5):
            kind = drawn[at].geom_type
            reason = f"The zone is a {kind}, which covers no area: a zone has to be a polygon."
            set_aside.append(SetAside(row, name, "wrong_geometry_type", reason))
            continue
        whole = _polygons_of(drawn[at])
        if whole is None:
            reason = "Nothing with an area is left of the zone after its repair: its outline folds onto itself."
            set_aside.append(SetAside(row, name, "invalid_geometry", reason))
            continue
        repaired[at] = whole
        findings.append(_repair_finding(row, name, drawn[at], whole))

    kept = np.array([g is not None for g in repaired], dtype=bool)
    out = zones[kept].copy()
    out = out.set_geometry(gpd.GeoSeries(list(repaired[kept]), index=out.index, crs=zones.crs))
    if out.geometry.name != "geometry":
        out = out.rename_geometry("geometry")
    return out, tuple(set_aside), tuple(findings)


def overlap_report(zones: gpd.GeoDataFrame) -> Overlaps:
    """Count the pairs of zones whose common area is at least 1 m² (contract, "Overlap").

    Pairs of equal value count as well: the report is about the map, not about the price.

    Parameters
    ----------
    zones : GeoDataFrame
        By ``frames.ZONES``, valid.

    Returns
    -------
    Overlaps
    """
    shapes = np.asarray(zones.geometry.values, dtype=object)
    first, second, area = overlapping_pairs(shapes)
    told = area >= OVERLAP_REPORTED_FROM_M2
    rows = zones["source_row"].to_numpy(dtype=np.int64)
    a, b = rows[first[told]], rows[second[told]]
    listed = sorted((int(min(i, j)), int(max(i, j)), float(m2)) for i, j, m2 in zip(a, b, area[told], strict=True))
    return Overlaps(pairs=len(listed), area_m2=float(sum(m2 for _, _, m2 in listed)), rows=tuple(listed))


def overlapping_pairs(shapes: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Positions of each two shapes that share an area, the smaller position first, and that area.

    Parameters
    ----------
    shapes : array of Polygon or MultiPolygon
        Valid, in one projected system.

    Returns
    -------
    first, second : array of int
        Positions, sorted by the first, then the second.
    area_m2 : array of float
        Common area in square metres, more than 0.
    """
    first, second = shapely.STRtree(shapes).query(shapes, predicate="intersects")
    once = first < second
    first, second = first[once], second[once]
    order = np.lexsort((second, first))
    first, second = first[order], second[order]
    area = shapely.area(shapely.intersection(shapes[first], shapes[second]))
    shared = area > 0
    return first[shared], second[shared], area[shared]


def settle_overlaps(
    shapes: np.ndarray, ranks: np.ndarray
) -> tuple[list[shapely.MultiPolygon | None], dict[tuple[int, ...], shapely.MultiPolygon]]:
    """Each zone's own ground (None where nothing is left), and disputed ground by its claimants.

    The outlines of all overlapping zones are noded together once; each face of that drawing belongs to the set of
    zones that cover its inner point. What zones of equal value share goes to the first; what zones of different value
    share is disputed where it is wider than 0.03 m, and narrower it is a border and goes to the lowest value.

    Parameters
    ----------
    shapes : array of MultiPolygon
        Valid, in metres; those that overlap no other come back as they are.
    ranks : array of int
        Equal for equal land values, higher for higher ones.
    """
    own: list[shapely.MultiPolygon | None] = list(shapes)
    first, second, area = overlapping_pairs(shapes)
    told = area > TOUCH_M2
    entangled = np.unique(np.concatenate([first[told], second[told]]))
    if not len(entangled):
        return own, {}
    linework = shapely.union_all(shapely.boundary(shapes[entangled]))
    faces = shapely.get_parts(shapely.polygonize(shapely.get_parts(linework)))
    points = shapely.point_on_surface(faces)
    at_face, at_zone = shapely.STRtree(shapes[entangled]).query(points, predicate="intersects")
    claims: list[list[int]] = [[] for _ in faces]
    for face, zone in zip(at_face.tolist(), entangled[at_zone].tolist(), strict=True):
        claims[face].append(zone)
    claimants = [tuple(sorted(c)) for c in claims]
    contradict = np.array([len({int(ranks[z]) for z in c}) > 1 for c in claimants], dtype=bool)

    mine: dict[int, list[shapely.Geometry]] = defaultdict(list)
    disputed: dict[tuple[int, ...], list[shapely.Geometry]] = defaultdict(list)
    for face, c in zip(
        faces[~contradict], (c for c, x in zip(claimants, contradict, strict=True) if not x), strict=True
    ):
        if c:
            mine[c[0]].append(face)
    wide, narrow = _open(faces[contradict])
    for c, broad, thin in zip((c for c, x in zip(claimants, contradict, strict=True) if x), wide, narrow, strict=True):
        if not shapely.is_empty(broad):
            disputed[c].append(broad)
        if not shapely.is_empty(thin):
            mine[lowest(c, ranks)].append(thin)
    for zone in entangled.tolist():
        own[zone] = merge(mine[zone]) if zone in mine else None
    return own, {c: merge(parts) for c, parts in disputed.items()}


def _open(faces: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Cut faces into what lies in a place wider than 0.03 m and the rest (an opening by 0.015 m of all together).

    Of 0.03 m exactly counts as narrow. The way back is half a millimetre longer, so that no hairline stays behind.
    """
    if not len(faces):
        return faces, faces
    places = shapely.get_parts(shapely.union_all(faces))
    eroded = shapely.buffer(places, -(BORDER_HALF_WIDTH_M + 1e-6), join_style="mitre")
    grown = shapely.buffer(eroded, BORDER_HALF_WIDTH_M + 5e-4, join_style="mitre", mitre_limit=1.5)
    face_at, place_at = shapely.STRtree(places).query(shapely.point_on_surface(faces), predicate="intersects")
    opened = np.full(len(faces), shapely.Polygon(), dtype=object)
    opened[face_at] = grown[place_at]
    wide, narrow = shapely.intersection(faces, opened), shapely.difference(faces, opened)
    whole = shapely.area(narrow) <= TOUCH_M2
    wide[whole], narrow[whole] = faces[whole], shapely.Polygon()
    none = ~whole & (shapely.area(wide) <= TOUCH_M2)
    wide[none], narrow[none] = shapely.Polygon(), faces[none]
    return wide, narrow


def value_ranks(values: Iterable[str]) -> np.ndarray:
    """Place of each land value among the distinct ones, compared as decimals: equal values have equal ranks."""
    exact = [Decimal(v) for v in values]
    place = {v: i for i, v in enumerate(sorted(set(exact)))}
    return np.array([place[v] for v in exact], dtype=int)


def lowest(zones: Iterable[int], ranks: np.ndarray) -> int:
    """Position of the zone of lowest value, of several the first."""
    return min(zones, key=lambda z: (ranks[z], z))


def highest(zones: Iterable[int], ranks: np.ndarray) -> int:
    """Position of the zone of highest value, of several the first."""
    return min(zones, key=lambda z: (-ranks[z], z))


def foreign_distance(
    xy: np.ndarray, owner: np.ndarray, tree: shapely.STRtree, owners: np.ndarray, radius: float
) -> np.ndarray:
    """Distance from each point to the nearest face of another zone, in metres; infinite beyond the radius."""
    distance = np.full(len(xy), np.inf)
    points, boxes = shapely.points(xy), shapely.box(*(xy - radius).T, *(xy + radius).T)
    at, face = tree.query(boxes)
    foreign = owners[face] != owner[at]
    at, face = at[foreign], face[foreign]
    np.minimum.at(distance, at, shapely.distance(points[at], tree.geometries[face]))
    return np.where(distance <= radius, distance, np.inf)


def nearest_owner(
    points: np.ndarray,
    faces: np.ndarray,
    owners: np.ndarray,
    ranks: np.ndarray,
    samples: np.ndarray,
    sample_owner: np.ndarray,
) -> np.ndarray:
    """Zone nearest to each point; where several are equally near, that of the nearest sample, else the lowest value."""
    point_at, face_at = shapely.STRtree(faces).query_nearest(points, all_matches=True)
    near: list[set[int]] = [set() for _ in points]
    for point, zone in zip(point_at.tolist(), owners[face_at].tolist(), strict=True):
        near[point].add(zone)
    label = np.array([lowest(z, ranks) for z in near], dtype=int)
    tied = np.flatnonzero([len(z) > 1 for z in near])
    if len(tied) and len(samples):
        from scipy.spatial import cKDTree  # a fifth of a second, which few maps need

        _, at = cKDTree(samples).query(shapely.get_coordinates(points[tied]))
        for point, zone in zip(tied.tolist(), sample_owner[at].tolist(), strict=True):
            label[point] = zone if zone in near[point] else label[point]
    return label


def merge(parts: list[shapely.Geometry]) -> shapely.MultiPolygon:
    """Unite what has an area in the parts; one part alone keeps every coordinate."""
    united = shapely.union_all(np.array(parts, dtype=object)) if len(parts) > 1 else parts[0]
    polygons = [p for p in shapely.get_parts(united) if p.geom_type == "Polygon"]
    return shapely.MultiPolygon(polygons)


def _finite(shapes: np.ndarray) -> np.ndarray:
    xy, owner = shapely.get_coordinates(shapes, return_index=True)
    finite = np.ones(len(shapes), dtype=bool)
    finite[owner[~np.isfinite(xy).all(axis=1)]] = False
    return finite


def _multi(shape: shapely.Geometry) -> shapely.MultiPolygon:
    return shape if shape.geom_type == "MultiPolygon" else shapely.MultiPolygon([shape])


def _polygons_of(shape: shapely.Geometry) -> shapely.MultiPolygon | None:
    """Everything with an area in a shape of any type, valid and in one MultiPolygon; None if there is nothing."""
    parts = shapely.get_parts(shapely.get_parts(shape))  # twice: a collection may hold MultiPolygons
    mended = shapely.get_parts(shapely.make_valid(parts, method="linework"))
    mended = shapely.get_parts(mended)
    areal = mended[(shapely.get_type_id(mended) == 3) & (shapely.area(mended) > 0)]
    if not len(areal):
        return None
    united = shapely.union_all(areal) if len(areal) > 1 else areal[0]
    return _multi(united)


def _repair_finding(row: int, name: str, drawn: shapely.Geometry, whole: shapely.Geometry) -> Finding:
    valid = bool(shapely.is_valid(drawn))  # sound, but a mixture of types
    why = "a mixture of types" if valid else shapely.is_valid_reason(drawn).split("[")[0].strip()
    before, after = shapely.area(drawn), shapely.area(whole)
    return Finding(
        code="zone_repaired",
        severity="warning",
        message=(
            f"Zone {name} (row {row}) was drawn wrongly ({why}) and has been repaired: {before:.2f} m² as drawn, "
            f"{after:.2f} m² after the repair ({after - before:+.2f} m²). In the first figure the loops of an outline "
            "that crosses itself cancel each other, down to 0, and parts that overlap count twice."
        ),
        fix="Look at this zone in the source and draw its outline without crossings, then import the map again.",
        rows=(row,),
    )
