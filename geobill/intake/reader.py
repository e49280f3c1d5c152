"""Layers of somebody's file, as they are: raw columns, plane geometry, coordinate system, encoding, digest."""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import geopandas as gpd
import shapely
from pyproj import CRS
from pyproj.exceptions import CRSError

from geobill.domain.finding import Finding
from geobill.errors import InputError
from geobill.intake.bulk import read_rows
from geobill.intake.columns import nearest
from geobill.intake.crs import plane
from geobill.intake.source import Source, SourceLayer, open_source, unreadable

Choose = Callable[[Sequence[SourceLayer]], Sequence[SourceLayer]]


@dataclass(frozen=True)
class Layer:
    """One layer as it stands in the file.

    ``path`` is what the user named. ``frame`` has the raw columns and ``geometry`` (two-dimensional, no coordinate system
    set) by a RangeIndex, so that the row in the layer is index + 1. ``sha256`` is that of the source.
    """

    path: Path
    name: str
    format: str
    files: tuple[Path, ...]
    sha256: str
    encoding: str
    crs: CRS | None
    frame: gpd.GeoDataFrame
    findings: tuple[Finding, ...] = ()


def read_layer(path: Path, layer: str | None = None) -> Layer:
    """Read one layer of a file in any of ``FORMATS``.

    Parameters
    ----------
    path : Path
        The file; of a Shapefile, the ``.shp``.
    layer : str or None
        Name of the layer; may be None where there is only one, or only one with geometry.

    Raises
    ------
    InputError
        If there is no such file or layer, the format is another one, or the file is empty, broken or locked away.
    """
    return read_layers(path, [] if layer is None else [layer])[0]


def read_layers(path: Path, names: Sequence[str] = (), choose: Choose | None = None) -> list[Layer]:
    """Read several layers of one source, in the order in which they are named.

    Parameters
    ----------
    path : Path
        What the user named.
    names : sequence of str
        Names of layers; none for the only one (with geometry).
    choose : callable or None
        Picks among all layers where none is named; without it, more than one is refused.

    Raises
    ------
    InputError
        As `read_layer`; also where ``choose`` picks nothing.
    """
    with open_source(path) as source:
        if names:
            chosen = [_named(source, name) for name in dict.fromkeys(names)]
        elif choose is not None:
            chosen = list(choose(source.layers))
        else:
            chosen = [_only(source)]
        return [load_layer(source, one) for one in chosen]


def load_layer(source: Source, layer: SourceLayer) -> Layer:
    """Read a layer of an open source; see `read_layer`."""
    format_, path = layer.dataset.format, layer.dataset.path
    encoding, text_findings = format_.encoding(path)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            raw = read_rows(path, layer.inner, format_, encoding)
    except Exception as e:  # any library's error about somebody's file is a message about the file
        raise unreadable(f"layer {layer.name} of {source.path.name}", e) from e
    crs, crs_findings = format_.crs(path, _known_crs(raw.crs))
    frame, findings = raw.frame, [*source.findings, *text_findings, *crs_findings]
    if frame.empty:
        message = f"Layer {layer.name} of {source.path.name} has no rows."
        findings.append(Finding("no_rows", "warning", message, "Was the export finished?"))
    if raw.unreadable:
        message = f"The geometry of {len(raw.unreadable)} row(s) can't be read (curves, surfaces, or broken bytes)."
        fix = "Export those rows as plain lines, points or polygons."
        findings.append(Finding("geometry_unreadable", "warning", message, fix, rows=tuple(raw.unreadable)))
    drawn = frame.geometry.to_numpy()
    if (shapely.has_z(drawn) | shapely.has_m(drawn)).any():
        message = "Heights or measures along the line are left out: lengths are those of the plan."
        findings.append(Finding("heights_dropped", "note", message))
        frame = frame.set_geometry(gpd.GeoSeries(shapely.force_2d(drawn), index=frame.index))
    return Layer(
        source.path, layer.name, format_.name, format_.parts(path), source.sha256, encoding, crs, frame,
        tuple(Finding(f.code, f.severity, f.message, f.fix, layer.name, f.rows) for f in findings),
    )  # fmt: skip


def _named(source: Source, wanted: str) -> SourceLayer:
    names = {one.name: one for one in source.layers}
    if wanted in names:
        return names[wanted]
    hint = nearest(wanted, names)
    raise InputError(f"{source.path.name} has no layer {wanted!r}.{hint} It has: {', '.join(names)}.")


def _only(source: Source) -> SourceLayer:
    for some in (source.layers, [one for one in source.layers if one.has_geometry]):
        if len(some) == 1:
            return some[0]
    raise InputError(
        f"{source.path.name} has {len(source.layers)} layers and none was named: {', '.join(s.name for s in source.layers)}. "
        "Reading the wrong one would bill poles as cables: choose with --layer NAME."
    )


def _known_crs(text: str | None) -> CRS | None:
    """Read the system a file declares; None for none, and for the placeholders that say "undefined"."""
    if not text:
        return None
    try:
        return plane(CRS.from_user_input(text))
    except CRSError:
        return None
