"""Layers of somebody's file, as they are: raw columns, plane geometry, coordinate system, encoding, digest."""

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import geopandas as gpd
import numpy as np
import shapely
from pyproj import CRS
from pyproj.exceptions import CRSError

from geobill.domain.finding import Finding
from geobill.errors import InputError
from geobill.intake.bulk import read_rows
from geobill.intake.columns import nearest
from geobill.intake.crs import plane
from geobill.intake.crs_known import identify
from geobill.intake.shapes import rises, shape_findings
from geobill.intake.source import Source, SourceLayer, open_source, unreadable
from geobill.intake.text import settle

Choose = Callable[[Sequence[SourceLayer]], Sequence[SourceLayer]]


@dataclass(frozen=True)
class Layer:
    """One layer as it stands in the file.

    ``path`` is what the user named. ``frame`` has the raw columns and ``geometry`` (two-dimensional, no coordinate system
    set) by a RangeIndex, so that the row in the layer is index + 1. ``sha256`` is that of the source. ``unbuilt`` has the
    reason code and the reason of rows whose geometry couldn't be built; ``rises`` what each row rises from its lowest
    vertex to its highest, in the unit of the heights (None where nothing has any). ``drawn_as`` names the column that says
    what a row was drawn as, in a drawing. ``numbers`` are the rows' own where the
    frame holds only some of a layer. ``unit`` is what a drawing's header says of its unit, as ``--unit`` has it.
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
    unbuilt: Mapping[int, tuple[str, str]] = field(default_factory=dict)
    rises: np.ndarray | None = None
    drawn_as: str | None = None
    numbers: np.ndarray | None = None
    unit: str | None = None

    def number(self, at: int) -> int:
        """Return the number of a row of the frame in its layer."""
        return at + 1 if self.numbers is None else int(self.numbers[at])


def read_layer(path: Path, layer: str | None = None, encoding: str | None = None) -> Layer:
    """Read one layer of a file in any of ``FORMATS``.

    Parameters
    ----------
    path : Path
        The file; of a Shapefile, the ``.shp``.
    layer : str or None
        Name of the layer; may be None where there is only one, or only one with geometry.
    encoding : str or None
        Name of the text's encoding, where the user knows better than the file.

    Raises
    ------
    InputError
        If there is no such file or layer, the format is another one, or the file is empty, broken or locked away.
    """
    return read_layers(path, [] if layer is None else [layer], encoding=encoding)[0]


def read_layers(
    path: Path, names: Sequence[str] = (), choose: Choose | None = None, encoding: str | None = None
) -> list[Layer]:
    """Read several layers of one source, in the order in which they are named.

    Parameters
    ----------
    path : Path
        What the user named.
    names : sequence of str
        Names of layers; none for the only one (with geometry).
    choose : callable or None
        Picks among all layers where none is named; without it, more than one is refused.
    encoding : str or None
        As in `read_layer`.

    Raises
    ------
    InputError
        As `read_layer`; also where ``choose`` picks nothing.
    """
    with open_source(path) as source:
        if names:
            chosen = [named_layer(source, name) for name in dict.fromkeys(names)]
        elif choose is not None:
            chosen = list(choose(source.layers))
        else:
            chosen = [_only(source)]
        return [load_layer(source, one, encoding) for one in chosen]


def load_layer(source: Source, layer: SourceLayer, encoding: str | None = None) -> Layer:
    """Read a layer of an open source, in an encoding that the user names or the one that is found; see `read_layer`."""
    format_, path = layer.dataset.format, layer.dataset.path
    encoding, text_findings = settle(format_, path, encoding)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            raw = read_rows(path, layer.inner, format_, encoding)
    except Exception as e:  # any library's error about somebody's file is a message about the file
        raise unreadable(f"layer {layer.name} of {source.path.name}", e) from e
    crs, crs_findings = declared_system(layer, raw.crs)
    table_findings = format_.encoded_findings(path, layer.inner, encoding)
    frame, findings = raw.frame, [*source.findings, *text_findings, *crs_findings, *table_findings]
    if frame.empty:
        message = f"Layer {layer.name} of {source.path.name} has no rows."
        findings.append(Finding("no_rows", "warning", message, "Was the export finished?"))
    findings += shape_findings(raw.shapes)
    drawn, heights = frame.geometry.to_numpy(), None
    if (shapely.has_z(drawn) | shapely.has_m(drawn)).any():
        message = "Heights or measures along the line are left out: lengths are those of the plan."
        findings.append(Finding("heights_dropped", "note", message))
        frame = frame.set_geometry(gpd.GeoSeries(shapely.force_2d(drawn), index=frame.index))
        heights = rises(drawn)
    return Layer(
        source.path, layer.name, format_.name, format_.parts(path), source.sha256, encoding, crs, frame,
        tuple(Finding(f.code, f.severity, f.message, f.fix, layer.name, f.rows) for f in findings),
        {**raw.shapes.unbuilt, **_ragged(table_findings)}, heights, format_.drawn_as, unit=format_.unit(path),
    )  # fmt: skip


def _ragged(findings: Sequence[Finding]) -> dict[int, tuple[str, str]]:
    """Reason code and reason of rows of a table that have other fields than the header."""
    why = "the row hasn't as many fields as the header, so nothing of it was read: a text in it has the separator in it"
    return {n: ("no_geometry", why) for f in findings if f.code == "row_ragged" for n in f.rows}


def named_layer(source: Source, wanted: str) -> SourceLayer:
    """Return a layer of a source by its name, or refuse the name with those that there are."""
    names = {one.name: one for one in source.layers}
    if wanted in names:
        return names[wanted]
    ending = [name for name in names if name.endswith(f"/{wanted}")]  # of a folder in folders, its own name does
    if len(ending) == 1:
        return names[ending[0]]
    hint = f" It could be {' or '.join(map(repr, ending))}." if ending else nearest(wanted, names)
    raise InputError(f"{source.path.name} has no layer {wanted!r}.{hint} It has: {', '.join(names)}.")


def _only(source: Source) -> SourceLayer:
    for some in (source.layers, [one for one in source.layers if one.has_geometry]):
        if len(some) == 1:
            return some[0]
    raise InputError(
        f"{source.path.name} has {len(source.layers)} layers and none was named: {', '.join(s.name for s in source.layers)}. "
        "Reading the wrong one would bill poles as cables: choose with --layer NAME."
    )


def declared_system(layer: SourceLayer, text: str | None) -> tuple[CRS | None, tuple[Finding, ...]]:
    """Find the system that a file declares for a layer, traced to its code; ``text`` is what the library made of it."""
    dataset = layer.dataset
    crs, findings = dataset.format.crs(dataset.path, known_crs(text))
    if crs is None:
        return None, findings
    known, said = identify(crs, dataset.path.name)
    return known, (*findings, *said)


def known_crs(text: str | None) -> CRS | None:
    """Read the system a file declares; None for none, and for the placeholders that say "undefined"."""
    if not text:
        return None
    try:
        return plane(CRS.from_user_input(text))
    except CRSError:
        return None
