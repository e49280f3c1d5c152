"""One layer of somebody's file, as it is: raw columns, plane geometry, coordinate system, encoding, digest."""

import hashlib
import warnings
from collections.abc import Iterable
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
from geobill.intake.formats import FORMATS, Format


@dataclass(frozen=True)
class Layer:
    """One layer as it stands in the file.

    ``frame`` has the raw columns and ``geometry`` (two-dimensional, no coordinate system set) by a RangeIndex, so
    that the row in the file is index + 1. ``sha256`` is that of ``files`` one after the other (of one file: its own).
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
    path = Path(path)
    format_ = find_format(path)
    chosen = _choose(path, layer, list_layers(path, format_))
    return load_layer(path, chosen, format_)


def load_layer(path: Path, layer: str, format_: Format) -> Layer:
    """Read a layer that is known to be there; see `read_layer`."""
    encoding, text_findings = format_.encoding(path)
    files = format_.parts(path)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            raw = read_rows(path, layer, format_, encoding)
    except Exception as e:  # any library's error about somebody's file is a message about the file
        raise _unreadable(path, e, layer) from e
    crs, crs_findings = format_.crs(path, _known_crs(raw.crs))
    frame, unreadable, findings = raw.frame, raw.unreadable, [*text_findings, *crs_findings]
    if frame.empty:
        findings.append(
            Finding("no_rows", "warning", f"Layer {layer} of {path.name} has no rows.", "Was the export finished?")
        )
    if unreadable:
        message = f"The geometry of {len(unreadable)} row(s) can't be read (curves, surfaces, or broken bytes)."
        fix = "Export those rows as plain lines, points or polygons."
        findings.append(Finding("geometry_unreadable", "warning", message, fix, rows=tuple(unreadable)))
    drawn = frame.geometry.to_numpy()
    if (shapely.has_z(drawn) | shapely.has_m(drawn)).any():
        message = "Heights or measures along the line are left out: lengths are those of the plan."
        findings.append(Finding("heights_dropped", "note", message))
        frame = frame.set_geometry(gpd.GeoSeries(shapely.force_2d(drawn), index=frame.index))
    return Layer(
        path, layer, format_.name, files, digest(files), encoding, crs, frame,
        tuple(Finding(f.code, f.severity, f.message, f.fix, layer, f.rows) for f in findings),
    )  # fmt: skip


def find_format(path: Path) -> Format:
    """Return the format of a file that exists, can be read and isn't broken; anything else is an InputError."""
    names = " or ".join([", ".join(f.name for f in FORMATS[:-1]), FORMATS[-1].name])
    suffix = path.suffix.lower()
    if not _exists(path):
        hint = nearest(path.name, _beside(path)) or " Check the folder and the spelling."
        raise InputError(f"There is no file {path}.{hint}")
    if path.is_dir():
        raise InputError(f"{path} is a folder. Name the file in it: geobill reads {names}.")
    if "!" in path.name:
        raise InputError(
            f"The name {path.name} has an exclamation mark, which the file library reads otherwise: rename it."
        )
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            file.read(1)
    except OSError as e:
        raise InputError(
            f"{path} can't be read ({e.strerror}): ask for the right to read it, or copy it elsewhere."
        ) from e
    if suffix in (".shx", ".dbf", ".prj", ".cpg"):
        raise InputError(f"{path.name} is only a part of a Shapefile: name {path.stem}.shp, with the others beside it.")
    format_ = next((f for f in FORMATS if suffix in f.suffixes), None)
    if format_ is None:
        raise InputError(
            f"{path.name} is in a format that geobill doesn't read yet. Export it as {names} and try again."
        )
    if not size:
        raise InputError(f"{path.name} is empty (0 bytes): the copy or the export failed. Ask for it again.")
    try:
        format_.check(path)
    except OSError as e:
        raise InputError(f"{e.filename or path} can't be read ({e.strerror}): ask for the right to read it.") from e
    return format_


def list_layers(path: Path, format_: Format) -> list[tuple[str, bool]]:
    """Name of each layer in the file, and whether it has geometry."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            layers = format_.layers(path)
    except Exception as e:
        raise _unreadable(path, e) from e
    if not layers:
        raise InputError(f"{path.name} has no layer in it: there is nothing to read. Was the export finished?")
    return layers


def digest(files: Iterable[Path]) -> str:
    """SHA-256 of the files' bytes one after the other, as ``cat FILES | sha256sum`` prints it."""
    whole = hashlib.sha256()
    for part in files:
        with part.open("rb") as file:
            while block := file.read(1 << 20):
                whole.update(block)
    return whole.hexdigest()


def _choose(path: Path, wanted: str | None, layers: list[tuple[str, bool]]) -> str:
    names = [name for name, _ in layers]
    if wanted is not None:
        if wanted in names:
            return wanted
        hint = nearest(wanted, names)
        raise InputError(f"{path.name} has no layer {wanted!r}.{hint} It has: {', '.join(names)}.")
    spatial = [name for name, has_geometry in layers if has_geometry]
    for only in (names, spatial):
        if len(only) == 1:
            return only[0]
    raise InputError(
        f"{path.name} has {len(names)} layers and none was named: {', '.join(names)}. "
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


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except OSError as e:
        raise InputError(f"{path} can't be reached ({e.strerror}): ask for the right to read its folder.") from e


def _beside(path: Path) -> list[str]:
    try:
        return [p.name for p in path.parent.iterdir()]
    except OSError:
        return []


def _unreadable(path: Path, error: Exception, layer: str | None = None) -> InputError:
    if isinstance(error, InputError):
        return error
    what = f"layer {layer} of {path.name}" if layer else path.name
    said = " ".join(str(error).split("; It might help")[0].split())[:200]
    return InputError(
        f"{what} can't be read: {said}. Nothing was taken from it: repair it in QGIS or ask for it again."
    )
