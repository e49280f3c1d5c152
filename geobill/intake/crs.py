"""Coordinate systems: read, named, and carried into the workspace's by the best operation whose accuracy is known."""

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
from geobill.intake.crs_known import identify

CAIEIRAS = Municipality("Caieiras", (-46.8232, -23.4268, -46.6545, -23.3262), "EPSG:31983")


@dataclass(frozen=True)
class Missing:
    """An operation whose grids aren't installed; ``accuracy_m`` in metres, ``grids`` by the names that PROJ asks for."""

    name: str
    accuracy_m: float
    grids: tuple[str, ...]


@dataclass(frozen=True)
class Operation:
    """The best coordinate operation at hand, with its accuracy in metres and the grids that it uses."""

    transformer: Transformer
    name: str
    accuracy_m: float | None
    grids: tuple[str, ...]


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
    known, said = identify(crs, "--crs")
    if known is None:
        raise InputError(f"{said[0].message} {said[0].fix}")
    return known


def plane(crs: CRS) -> CRS | None:
    """Return the two-dimensional part of a system; None where it gives no place on Earth."""
    if crs.is_compound:
        crs = crs.sub_crs_list[0]
    based = crs.datum is not None and "based on" in crs.datum.name  # a PROJ string that says its ellipsoid and no more
    nameless = crs.name.lower().startswith(("undefined", "unknown")) and not based
    undefined = nameless and not (crs.to_epsg() or crs.is_projected)
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
            f"{label(target)}. A guess could be a hundred metres off and bill one street for another: "
            f"{_way_out(source_crs, municipality)}"
        )
    moved = gpd.GeoSeries(transform(layer_frame.geometry.to_numpy(), operation.transformer), index=layer_frame.index)
    frame = layer_frame.copy().set_geometry(moved).set_crs(target, allow_override=True)
    return frame, CrsUse(short(source_crs), short(target), operation.name, operation.accuracy_m)


def _way_out(source_crs: CRS, municipality: Municipality) -> str:
    lacking = missing_operation(source_crs, municipality)
    if lacking is None:
        return f"ask for the file in {municipality.crs}, or, if you know the system, import it with --crs EPSG:n."
    return (
        f"get the grid {' and '.join(lacking.grids)} (IBGE, PROJ's data package; true to {lacking.accuracy_m:g} m) and put it in "
        f"with geobill crs grids FOLDER, or ask for the file in {municipality.crs}."
    )


def operation_findings(source_crs: CRS, municipality: Municipality) -> tuple[Finding, ...]:
    """Say where a more accurate datum shift exists whose grid isn't installed, and what either is true to."""
    if same_system(source_crs, CRS.from_user_input(municipality.crs)):
        return ()
    operation, lacking = best_operation(source_crs, municipality), missing_operation(source_crs, municipality)
    if operation is None or operation.accuracy_m is None or lacking is None:
        return ()
    if lacking.accuracy_m >= operation.accuracy_m:
        return ()
    message = (
        f"{short(source_crs)} was carried over by {operation.name}, true to {operation.accuracy_m:g} m; with the grid "
        f"{' and '.join(lacking.grids)} it would be true to {lacking.accuracy_m:g} m, but that isn't installed."
    )
    fix = f"Where a metre matters, ask for the file in {municipality.crs}, or put IBGE's grid in with geobill crs grids FOLDER."
    return (Finding("datum_grid_missing", "note", message, fix),)


def same_system(source: CRS, target: CRS) -> bool:
    """Whether coordinates mean the same in both, axis order aside."""
    code = source.to_epsg()
    return (code is not None and code == target.to_epsg()) or source.equals(target, ignore_axis_order=True)


@lru_cache(maxsize=64)
def _ways(source: CRS, municipality: Municipality) -> TransformerGroup | None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # pyproj warns of grids that are missing, which is what is asked here
        try:
            return TransformerGroup(
                source, municipality.crs, always_xy=True, allow_ballpark=False,
                area_of_interest=AreaOfInterest(*municipality.bbox),
            )  # fmt: skip
        except CRSError:  # PROJ knows no way at all, from the Moon for instance
            return None


def best_operation(source: CRS, municipality: Municipality, *, with_grids: bool = True) -> Operation | None:
    """Find the best available operation for the municipality's area; None where its accuracy would be unknown."""
    group = _ways(source, municipality)
    for transformer in () if group is None else group.transformers:
        steps = transformer.operations or ()
        name = " + ".join(s.name for s in steps if not s.name.startswith("axis order")) or transformer.description
        shifts = [s for s in steps if s.type_name == "Transformation" and not s.name.startswith("Null geographic")]
        if "ballpark" in name.lower() or (transformer.accuracy < 0 and (shifts or not steps)):
            continue
        grids = tuple(grid.short_name for s in steps for grid in s.grids)
        if grids and not with_grids:
            continue
        return Operation(transformer, name, transformer.accuracy if shifts else None, grids)
    return None


def missing_operation(source: CRS, municipality: Municipality) -> Missing | None:
    """Return the most accurate operation whose grids aren't installed; None where there is none."""
    group = _ways(source, municipality)
    known = [] if group is None else [o for o in group.unavailable_operations if o.accuracy >= 0]
    if not known:
        return None
    best = min(known, key=lambda o: o.accuracy)
    return Missing(best.name, best.accuracy, tuple(g.short_name for g in best.grids if not g.available))


def forget_operations() -> None:
    """Look for operations anew: the folder that grids are looked for in has changed."""
    _ways.cache_clear()


def transform(geometries: np.ndarray, transformer: Transformer) -> np.ndarray:
    """Move all coordinates at once; those that have no image become infinite."""
    return shapely.transform(geometries, lambda x, y: transformer.transform(x, y), interleaved=False)


def located_bounds(frame: gpd.GeoDataFrame) -> np.ndarray:
    """Bounds of the rows that have finite coordinates, one row each."""
    bounds = frame.geometry.bounds.to_numpy()
    return bounds[np.isfinite(bounds).all(axis=1)]
