"""Where a file would lie in each of the usual systems, and what that says of a system that is missing or wrong."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from math import hypot

import geopandas as gpd
import numpy as np
from pyproj import CRS, Proj, Transformer

from geobill.domain.finding import Finding
from geobill.domain.network import Municipality
from geobill.errors import InputError
from geobill.intake.crs import best_operation, label, located_bounds
from geobill.intake.crs_known import DATUMS, WEB_MERCATOR, Datum, utm_zone
from geobill.intake.ground import bounds_inside, box_of_ground, inside, kilometres_away
from geobill.intake.reading import UNITS_M

NEARLY_ALL, MOST = 0.9, 0.5
ANOTHER_TOWN_KM = 50.0  # from here on data that fit in no system are more likely another municipality's
SAMPLE = 2000  # rows looked at for a guess, evenly over the file
_COARSE_M = 2000.0  # datums of one zone lie within some hundred metres of each other
_SAME_M = 0.5  # SIRGAS 2000 and WGS 84 come out the same
_FALSE_NORTHING_M = 10_000_000.0
AXES_SWAPPED = "with x and y swapped"


@dataclass(frozen=True)
class Landing:
    """Where a file's coordinates would lie in one system.

    ``share_inside`` is the share of rows that would reach into the municipality; ``lon`` and ``lat`` are the middle in
    degrees of EPSG:4674; ``away_km`` is its distance from the municipality (0 inside); ``differs_m`` how far it lies from the
    first landing of the list. ``turned`` says what must be done to the coordinates first, None where nothing; ``unit`` is
    what ``--unit`` must say, where that is it.
    """

    crs: str
    name: str
    share_inside: float
    lon: float
    lat: float
    away_km: float
    differs_m: float
    turned: str | None = None
    unit: str | None = None


def landings(located: gpd.GeoDataFrame | np.ndarray, municipality: Municipality) -> list[Landing]:
    """Find the usual systems in which (nearly all) the data would lie inside the municipality, most plausible first.

    Parameters
    ----------
    located : GeoDataFrame or array
        Geometry as it stands in the file, or the bounds of its rows, (minx, miny, maxx, maxy) each.
    municipality : Municipality
        Where they should lie.

    Returns
    -------
    list of Landing
        As the coordinates stand; where they lie inside in no system, with axes swapped, signs, a unit or the false
        northing put right. Datums of one zone lie within dozens of metres of each other, so several may be named.
    """
    bounds = located if isinstance(located, np.ndarray) else located_bounds(located)
    bounds = bounds[np.isfinite(bounds).all(axis=1)]
    if not len(bounds):
        return []
    bounds = bounds[:: max(1, len(bounds) // SAMPLE)]
    for turned, unit, turn in _turns():
        found = _landings(turn(bounds), municipality, turned, unit)
        if found:
            return found
    return []


def guess_systems(located: gpd.GeoDataFrame | np.ndarray, municipality: Municipality) -> list[str]:
    """Name the systems of `landings` in which the coordinates lie inside as they stand, most plausible first."""
    return [found.crs for found in landings(located, municipality) if found.turned is None]


def misplaced(
    carried: gpd.GeoDataFrame,
    raw: gpd.GeoDataFrame,
    source: CRS,
    municipality: Municipality,
    name: str,
    counted: tuple[int, int] | None = None,
    asked: bool = False,
) -> Finding | None:
    """Find out that most of a file lies outside the municipality in the system that it is said to be in.

    ``counted`` is how many rows lie outside and how many are located, where the frames are only a sample of them;
    ``asked`` is whether the system is the user's word and not the file's.

    Returns
    -------
    Finding or None
        ``crs_suspect``, or ``axes_swapped``: with where it lies, and the systems in which it would lie inside. Where it
        lies inside in none and more than 50 km away, ``another_town``.
    """
    outside, located = counted or _count_outside(carried, raw, municipality)
    if outside * 2 <= located:
        return None
    found = landings(raw, municipality)
    whose = f"{name} was read as {label(source)}, as --crs says" if asked else f"{name} says {label(source)}"
    message = (
        f"{whose}, but {outside} of its {located} located rows lie outside {municipality.name}"
        f"{_lies_at(carried, municipality)}. In a wrong system the lengths and the zones would be wrong. "
        f"{_describe(found, municipality)}"
    )
    away_km = _away_km(carried, municipality)
    if not found and away_km is not None and away_km > ANOTHER_TOWN_KM:
        fix = "If this workspace is for another town, set name, state, bbox and crs in geobill.toml before the first import."
        return Finding("another_town", "error", message, f"Is it the right file? {fix}")
    code = "axes_swapped" if found and (found[0].turned or "").startswith(AXES_SWAPPED) else "crs_suspect"
    return Finding(code, "error", message, _advice(found))


def _count_outside(carried: gpd.GeoDataFrame, raw: gpd.GeoDataFrame, municipality: Municipality) -> tuple[int, int]:
    located = np.isfinite(raw.geometry.bounds.to_numpy()).all(axis=1)
    outside = located & ~inside(carried.geometry.to_numpy(), municipality)
    return int(outside.sum()), int(located.sum())


def check_inside(
    carried: gpd.GeoDataFrame, raw: gpd.GeoDataFrame, source: CRS, municipality: Municipality, name: str, asked: bool
) -> None:
    """Refuse a file most of which lies outside the municipality; see `misplaced`."""
    found = misplaced(carried, raw, source, municipality, name, asked=asked)
    if found is not None:
        raise InputError(f"{found.message} {found.fix}")


def no_system(raw: gpd.GeoDataFrame, municipality: Municipality, name: str, why: str = "") -> InputError:
    """Build the refusal of a file without a coordinate system, naming the likely ones."""
    found = landings(raw, municipality)
    return InputError(
        f"{name} has no coordinate system{why}: where its rows lie, and in which zone, would be a guess. "
        f"{_describe(found, municipality)} {_advice(found)}"
    )


def missing_system(found: list[Landing], name: str) -> Finding:
    """Say in short that a file has no coordinate system; the systems that would fit are shown beside it."""
    message = f"{name} has no coordinate system: where its rows lie, and in which zone, would be a guess."
    if found:
        first = found[0]
        how = f", {first.turned}" if first.turned else ""
        message += f" The likeliest is {first.crs} ({first.name}{how})."
    return Finding("crs_missing", "error", message, _advice(found))


def _describe(found: list[Landing], municipality: Municipality) -> str:
    """Say in which systems the data would lie inside, and how far these lie from each other."""
    if not found:
        usual = ", ".join(code for code, _ in list(_usual(municipality))[:7])
        return f"The coordinates fall inside {municipality.name} in none of the usual ones ({usual} …)."
    first, *rest = found
    how = f" {first.turned}" if first.turned else ""
    text = f"The coordinates fall inside {municipality.name}{how} as {first.crs} ({first.name})"
    text += f", around {first.lon:.4f}, {first.lat:.4f}"
    same = [f"{one.crs} ({one.name})" for one in rest if one.differs_m < _SAME_M]
    others = [f"{one.crs} ({one.name}; {one.differs_m:.0f} m from there)" for one in rest if one.differs_m >= _SAME_M]
    if same:
        text += f"; {', '.join(same)} {'comes' if len(same) == 1 else 'come'} out the same (0 m)"
    if others:
        text += f"; or as {', '.join(others)}: they lie close together, so the sender must say which"
    return text + "."


def _advice(found: list[Landing]) -> str:
    if not found:
        return "Is it the right file, and the right municipality? Ask the sender for its system."
    first = found[0]
    if first.unit:
        return f"If the sender confirms the unit and the system, import with --unit {first.unit} --crs {first.crs}."
    if first.turned is None:
        return f"If the operator confirms it, import with --crs {first.crs}."
    if first.turned.startswith(AXES_SWAPPED):
        return "Ask for the file with longitude (or east) first, or swap the axes in QGIS (Swap X and Y coordinates)."
    return f"Ask for the file again in {first.crs}: the coordinates themselves must be put right first."


def _lies_at(carried: gpd.GeoDataFrame, municipality: Municipality) -> str:
    """Say where on Earth a file lies, as its label has it."""
    bounds = located_bounds(carried)
    if not len(bounds):
        return " (in that system its coordinates are no place at all)"
    x, y = map(float, np.median((bounds[:, :2] + bounds[:, 2:]) / 2, axis=0))
    lon, lat = _degrees(municipality).transform(x, y)
    if not (np.isfinite(lon) and np.isfinite(lat)):
        return " (in that system its coordinates are no place at all)"
    return f" (around {lon:.4f}, {lat:.4f}, {kilometres_away(x, y, municipality):,.0f} km away)"


def _away_km(carried: gpd.GeoDataFrame, municipality: Municipality) -> float | None:
    """Distance of a file's middle from the municipality; None where its coordinates are no place."""
    bounds = located_bounds(carried)
    if not len(bounds):
        return None
    x, y = map(float, np.median((bounds[:, :2] + bounds[:, 2:]) / 2, axis=0))
    return kilometres_away(x, y, municipality) if np.isfinite(_degrees(municipality).transform(x, y)).all() else None


_Turn = Callable[[np.ndarray], np.ndarray]


def _turns() -> Iterator[tuple[str | None, str | None, _Turn]]:
    """List what may have been done to coordinates, likeliest first: its words, the ``--unit`` that undoes it, the undoing."""
    yield None, None, lambda b: b
    yield AXES_SWAPPED, None, lambda b: b[:, [1, 0, 3, 2]]
    for unit, factor in UNITS_M.items():
        if factor != 1:
            yield f"if one unit of the drawing is {unit}", unit, lambda b, factor=factor: b * factor  # type: ignore[misc]
    signs = (
        ("west of Greenwich and south of the equator", -1, -1),
        ("west of Greenwich", -1, 1),
        ("south of the equator", 1, -1),
    )
    for where, sx, sy in signs:
        yield f"with the minus signs put back ({where})", None, lambda b, sx=sx, sy=sy: _signed(b, sx, sy)  # type: ignore[misc]
    yield (
        "with the false northing of 10,000 km put back",
        None,
        lambda b: b + [0, _FALSE_NORTHING_M, 0, _FALSE_NORTHING_M],
    )
    yield (
        f"{AXES_SWAPPED} and the minus signs put back", None,
        lambda b: _signed(b[:, [1, 0, 3, 2]], -1, -1),
    )  # fmt: skip


def _signed(bounds: np.ndarray, sx: int, sy: int) -> np.ndarray:
    x, y = np.sort(bounds[:, [0, 2]] * sx, axis=1), np.sort(bounds[:, [1, 3]] * sy, axis=1)
    return np.column_stack([x[:, 0], y[:, 0], x[:, 1], y[:, 1]])


def _landings(bounds: np.ndarray, municipality: Municipality, turned: str | None, unit: str | None) -> list[Landing]:
    """Landings of bounds as they are; none where no system takes most of them inside."""
    found: list[tuple[str, str, float, float, float]] = []
    for code, coarse in _usual(municipality):
        x0, y0, x1, y1 = bounds.T
        west, south, east, north = coarse
        near = (x1 >= west) & (x0 <= east) & (y1 >= south) & (y0 <= north)
        if near.mean() <= MOST:
            continue
        crs = CRS.from_user_input(code)
        placed = _placed(bounds, crs, municipality)
        if placed is None:
            continue
        share = float(bounds_inside(placed, municipality).mean())
        finite = placed[np.isfinite(placed).all(axis=1)]
        if share > MOST:
            x, y = map(float, np.median((finite[:, :2] + finite[:, 2:]) / 2, axis=0))
            found.append((code, crs.name, share, x, y))
    nearly = [one for one in found if one[2] >= NEARLY_ALL] or found
    out: list[Landing] = []
    for code, name, share, x, y in nearly:
        lon, lat = _degrees(municipality).transform(x, y)
        apart = hypot(x - nearly[0][3], y - nearly[0][4])
        out.append(Landing(code, name, share, lon, lat, kilometres_away(x, y, municipality), apart, turned, unit))
    return out


def _placed(bounds: np.ndarray, crs: CRS, municipality: Municipality) -> np.ndarray | None:
    """Bounds carried into the workspace's system; None where there is no operation of known accuracy."""
    if crs == CRS.from_user_input(municipality.crs):
        return bounds
    operation = best_operation(crs, municipality)
    if operation is None:
        return None
    x, y = operation.transformer.transform(bounds[:, [0, 0, 2, 2]], bounds[:, [1, 3, 1, 3]])
    return np.column_stack([x.min(axis=1), y.min(axis=1), x.max(axis=1), y.max(axis=1)])


@lru_cache(maxsize=16)
def _degrees(municipality: Municipality) -> Transformer:
    return Transformer.from_crs(municipality.crs, "EPSG:4674", always_xy=True)


@lru_cache(maxsize=16)
def _usual(municipality: Municipality) -> tuple[tuple[str, tuple[float, float, float, float]], ...]:
    """Usual systems around a municipality, most plausible first, each with its ground in it, roughly (datum aside)."""
    west, south, east, north = municipality.bbox
    lon, lat = (west + east) / 2, (south + north) / 2
    zone = utm_zone(CRS.from_user_input(municipality.crs)) or (int((lon + 180) // 6) + 1, lat < 0)
    by_name = {d.name: d for d in DATUMS}
    sirgas, sad, alegre, wgs = (by_name[n] for n in ("SIRGAS 2000", "SAD69", "Corrego Alegre 1970-72", "WGS 84"))
    others = (by_name["SAD69(96)"], by_name["Corrego Alegre 1961"])
    here, beside, mirrored = (0, True), ((-1, True), (1, True)), (0, False)

    def grid(datum: Datum, at: tuple[int, bool]) -> int | None:
        southern = zone[1] == at[1]
        return (datum.south if southern else datum.north).get(zone[0] + at[0])

    codes: list[int | None] = [int(municipality.crs.partition(":")[2]), grid(sirgas, here)]
    codes += [grid(sirgas, b) for b in beside] + [
        grid(sad, here),
        grid(alegre, here),
        sirgas.geographic,
        wgs.geographic,
    ]
    codes += [grid(wgs, here), *(grid(d, here) for d in others), sad.geographic, alegre.geographic]
    codes += [d.geographic for d in others] + [grid(d, b) for d in (sad, alegre, wgs, *others) for b in beside]
    codes += [WEB_MERCATOR, *(grid(d, mirrored) for d in (sirgas, sad, wgs))]
    ground = box_of_ground(municipality)
    box = _degrees(municipality).transform_bounds(*ground, densify_pts=5)
    found = []
    for code in dict.fromkeys(c for c in codes if c is not None):
        crs = CRS.from_epsg(code)
        if crs.is_geographic:
            reach, coarse = _COARSE_M / 100_000, box
        else:
            x, y = Proj(crs)([box[0], box[0], box[2], box[2]], [box[1], box[3], box[1], box[3]])
            reach, coarse = _COARSE_M, (min(x), min(y), max(x), max(y))
        if np.isfinite(coarse).all():
            found.append((f"EPSG:{code}", (coarse[0] - reach, coarse[1] - reach, coarse[2] + reach, coarse[3] + reach)))
    return tuple(found)
