"""Where on Earth a file lies: its coordinate system found, guessed, doubted, and carried into the workspace's."""

import warnings
from dataclasses import dataclass
from functools import lru_cache

import geopandas as gpd
import numpy as np
import shapely
from pyproj import CRS, Transformer
from pyproj.aoi import AreaOfInterest
from pyproj.exceptions import CRSError
from pyproj.transformer import TransformerGroup

from geobill.domain.finding import CrsUse, Finding
from geobill.domain.network import Municipality
from geobill.errors import InputError

USUAL = ("EPSG:31983", "EPSG:31982", "EPSG:29193", "EPSG:22523", "EPSG:4674", "EPSG:4326")  # most plausible first
NEARLY_ALL = 0.9
SAMPLE = 2000  # rows looked at for a guess, evenly over the file


CAIEIRAS = Municipality("Caieiras", (-46.8232, -23.4268, -46.6545, -23.3262), "EPSG:31983")


@dataclass(frozen=True)
class Operation:
    """The best coordinate operation at hand; ``better`` names a more accurate one whose grid isn't installed."""

    transformer: Transformer
    name: str
    accuracy_m: float | None
    better: str | None


def parse_crs(text: str) -> CRS:
    """Read a system that a user typed, such as EPSG:31983, or refuse it."""
    try:
        crs = plane(CRS.from_user_input(int(text) if text.strip().isdigit() else text))
    except CRSError:
        crs = None
    if crs is None:
        raise InputError(
            f"{text!r} is not a coordinate system for maps: write it as EPSG:31983, with a code that exists."
        )
    return crs


def plane(crs: CRS) -> CRS | None:
    """Return the two-dimensional part of a system; None where it gives no place on Earth."""
    if crs.is_compound:
        crs = crs.sub_crs_list[0]
    undefined = crs.name.lower().startswith(("undefined", "unknown")) and not (crs.to_epsg() or crs.is_projected)
    if undefined or crs.is_geocentric or not (crs.is_geographic or crs.is_projected):
        return None
    return crs.to_2d()


def label(crs: CRS | str) -> str:
    """Name a system for people: ``EPSG:31983 (SIRGAS 2000 / UTM zone 23S)``."""
    crs = CRS.from_user_input(crs)
    return f"{short(crs)} ({crs.name})" if crs.to_epsg() else crs.name


def short(crs: CRS) -> str:
    """Return ``EPSG:n`` where there is a code, else the system's name."""
    code = crs.to_epsg()
    return f"EPSG:{code}" if code else crs.name


def carry(
    layer_frame: gpd.GeoDataFrame, source_crs: CRS, municipality: Municipality, path_name: str
) -> tuple[gpd.GeoDataFrame, CrsUse]:
    """Carry a frame into the workspace's system by the best available operation.

    Parameters
    ----------
    layer_frame : GeoDataFrame
        Two-dimensional geometry in the source system, x before y; copied.
    source_crs : CRS
        The system that the coordinates are in.
    municipality : Municipality
        Target system, and the area for which the operation is chosen.
    path_name : str
        Name of the file, for the message.

    Returns
    -------
    GeoDataFrame, CrsUse
        ``accuracy_m`` is in metres and None where there is no datum shift.

    Raises
    ------
    InputError
        If only an operation of unknown accuracy ("ballpark") is known.
    """
    target = CRS.from_user_input(municipality.crs)
    if same_system(source_crs, target):
        return layer_frame.copy().set_crs(target, allow_override=True), CrsUse(
            short(source_crs), short(target), None, None
        )
    operation = best_operation(source_crs, municipality)
    if operation is None:
        raise InputError(
            f"{path_name} is in {label(source_crs)}, and no operation of known accuracy leads from there to "
            f"{label(target)}. A guess could be a hundred metres off and bill one street for another: ask for the file in "
            f"{short(target)}, or, if you know the system, import it with --crs EPSG:n."
        )
    moved = gpd.GeoSeries(transform(layer_frame.geometry.to_numpy(), operation.transformer), index=layer_frame.index)
    frame = layer_frame.copy().set_geometry(moved).set_crs(target, allow_override=True)
    return frame, CrsUse(short(source_crs), short(target), operation.name, operation.accuracy_m)


def operation_findings(source_crs: CRS, municipality: Municipality) -> tuple[Finding, ...]:
    """Say where a more accurate datum shift exists whose grid isn't installed."""
    if same_system(source_crs, CRS.from_user_input(municipality.crs)):
        return ()
    operation = best_operation(source_crs, municipality)
    if operation is None or operation.better is None or operation.accuracy_m is None:
        return ()
    message = (
        f"{short(source_crs)} was carried over by {operation.name}, true to {operation.accuracy_m:g} m; "
        f"{operation.better} would be better, but its grid isn't installed."
    )
    fix = f"Where a metre matters, ask for the file in {municipality.crs}, or install IBGE's grids for PROJ."
    return (Finding("datum_grid_missing", "note", message, fix),)


def same_system(source: CRS, target: CRS) -> bool:
    """Whether coordinates mean the same in both, axis order aside."""
    code = source.to_epsg()
    return (code is not None and code == target.to_epsg()) or source.equals(target, ignore_axis_order=True)


@lru_cache(maxsize=64)
def best_operation(source: CRS, municipality: Municipality) -> Operation | None:
    """Find the best available operation for the municipality's area; None where its accuracy would be unknown."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            group = TransformerGroup(
                source, municipality.crs, always_xy=True, allow_ballpark=False,
                area_of_interest=AreaOfInterest(*municipality.bbox),
            )  # fmt: skip
        except CRSError:  # PROJ knows no way at all, from the Moon for instance
            return None
    for transformer in group.transformers:
        steps = transformer.operations or ()
        name = " + ".join(s.name for s in steps if not s.name.startswith("axis order")) or transformer.description
        shifts = [s for s in steps if s.type_name == "Transformation" and not s.name.startswith("Null geographic")]
        if "ballpark" in name.lower() or (transformer.accuracy < 0 and (shifts or not steps)):
            continue
        worse = [o for o in group.unavailable_operations if 0 <= o.accuracy < transformer.accuracy]
        better = min(worse, key=lambda o: o.accuracy).name if worse else None
        return Operation(transformer, name, transformer.accuracy if shifts else None, better)
    return None


def transform(geometries: np.ndarray, transformer: Transformer) -> np.ndarray:
    """Move all coordinates at once; those that have no image become infinite."""
    return shapely.transform(geometries, lambda x, y: transformer.transform(x, y), interleaved=False)


def guess_systems(frame: gpd.GeoDataFrame, municipality: Municipality) -> list[str]:
    """Usual systems in which (nearly all) the data would fall inside the municipality, most plausible first.

    Datums of one zone lie within a few dozen metres of each other, so several may be named.
    """
    bounds = located_bounds(frame)
    if not len(bounds):
        return []
    bounds = bounds[:: max(1, len(bounds) // SAMPLE)]
    shares = {
        system: _share_inside(bounds, system, municipality) for system in dict.fromkeys((*USUAL, municipality.crs))
    }
    nearly = [system for system, share in shares.items() if share >= NEARLY_ALL]
    return nearly or [system for system, share in shares.items() if share > 0.5]


def check_inside(
    carried: gpd.GeoDataFrame, raw: gpd.GeoDataFrame, source: CRS, municipality: Municipality, name: str
) -> None:
    """Refuse a file most of which lies outside the municipality in the system that it is said to be in.

    Raises
    ------
    InputError
        Naming the usual systems in which it would fall inside, or that there is none.
    """
    located = np.isfinite(raw.geometry.bounds.to_numpy()).all(axis=1)
    outside = int((located & ~inside(carried.geometry.to_numpy(), municipality)).sum())
    if outside * 2 <= located.sum():
        return
    x, y = np.median(located_bounds(raw)[:, :2], axis=0)
    raise InputError(
        f"{name} says {label(source)}, but {outside} of its {int(located.sum())} located rows lie outside {municipality.name} "
        f"(around {x:.6g}, {y:.6g}). In a wrong system the lengths and the zones would be wrong. "
        f"{describe_guesses(guess_systems(raw, municipality), municipality)}"
    )


def no_system(raw: gpd.GeoDataFrame, municipality: Municipality, name: str, why: str = "") -> InputError:
    """Build the refusal of a file without a coordinate system, naming the likely ones."""
    return InputError(
        f"{name} has no coordinate system{why}. Lengths in an unknown system would price the network wrongly. "
        f"{describe_guesses(guess_systems(raw, municipality), municipality)}"
    )


def describe_guesses(guesses: list[str], municipality: Municipality) -> str:
    """Say in which systems the data would fall inside, in which not, and what to do about it."""
    if not guesses:
        return (
            f"The coordinates fall inside {municipality.name} in none of the usual ones ({', '.join(USUAL)}): "
            "is it the right file, and the right municipality? Ask the sender for its system."
        )
    others = [s for s in USUAL if s not in guesses]
    nowhere = f" and nowhere near it as {' or '.join(others)}" if others else ""
    several = " (datums of one zone are only metres apart, so the sender must say which)" if len(guesses) > 1 else ""
    return (
        f"The coordinates fall inside {municipality.name} as {' or '.join(label(g) for g in guesses)}{several}{nowhere}: "
        f"if the operator confirms it, import again with --crs {guesses[0]}."
    )


def located_bounds(frame: gpd.GeoDataFrame) -> np.ndarray:
    """Bounds of the rows that have finite coordinates, one row each."""
    bounds = frame.geometry.bounds.to_numpy()
    return bounds[np.isfinite(bounds).all(axis=1)]


def inside(geometry: np.ndarray, municipality: Municipality) -> np.ndarray:
    """Whether each geometry reaches into the municipality's box and margin; False for what has no place."""
    return _reaches(shapely.bounds(geometry), municipality)


@lru_cache(maxsize=16)
def box_in_metres(municipality: Municipality) -> tuple[float, float, float, float]:
    """Return the municipality's box with its margin, in the workspace's system."""
    to_workspace = Transformer.from_crs("EPSG:4674", municipality.crs, always_xy=True)
    west, south, east, north = to_workspace.transform_bounds(*municipality.bbox, densify_pts=21)
    m = municipality.margin_m
    return west - m, south - m, east + m, north + m


def reach_beyond(geometry: np.ndarray, municipality: Municipality) -> np.ndarray:
    """How far each row reaches beyond the municipality's box and margin, in metres; 0 within it or without a place."""
    west, south, east, north = box_in_metres(municipality)
    x0, y0, x1, y1 = shapely.bounds(geometry).T
    return np.nan_to_num(
        np.max([west - x0, south - y0, x1 - east, y1 - north, np.zeros(len(x0))], axis=0), posinf=1e308
    )


def _reaches(bounds: np.ndarray, municipality: Municipality) -> np.ndarray:
    west, south, east, north = box_in_metres(municipality)
    x0, y0, x1, y1 = bounds.T
    return np.isfinite(bounds).all(axis=1) & (x1 >= west) & (x0 <= east) & (y1 >= south) & (y0 <= north)


def _share_inside(bounds: np.ndarray, system: str, municipality: Municipality) -> float:
    """Share of rows whose bounds reach inside when read in a system."""
    if system != municipality.crs:
        operation = best_operation(CRS.from_user_input(system), municipality)
        if operation is None:
            return 0.0
        x, y = operation.transformer.transform(bounds[:, [0, 0, 2, 2]], bounds[:, [1, 3, 1, 3]])
        bounds = np.column_stack([x.min(axis=1), y.min(axis=1), x.max(axis=1), y.max(axis=1)])
    return float(_reaches(bounds, municipality).mean())
