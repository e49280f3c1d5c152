"""What was named on the command line, opened: the datasets in it, their layers, and the digest of its bytes."""

import hashlib
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from geobill.domain.finding import Finding
from geobill.errors import InputError
from geobill.intake.columns import nearest
from geobill.intake.formats import FORMATS, Format


@dataclass(frozen=True)
class Dataset:
    """One dataset that a format opens, a file or a folder; ``shown`` is the name that people know it by."""

    path: Path
    shown: str
    format: Format


@dataclass(frozen=True)
class SourceLayer:
    """One layer of a source: ``name`` is unique in the source, ``inner`` is what the dataset itself calls it."""

    name: str
    dataset: Dataset
    inner: str
    has_geometry: bool


@dataclass(frozen=True)
class Source:
    """A file, folder or archive that somebody sent, while it is open.

    ``sha256`` is the digest of the bytes that were named: of a file its own, of files that belong together one after
    the other, of an archive that of the archive.
    """

    path: Path
    datasets: tuple[Dataset, ...]
    sha256: str
    layers: tuple[SourceLayer, ...]
    findings: tuple[Finding, ...] = field(default=())


@contextmanager
def open_source(path: Path) -> Iterator[Source]:
    """Open what a user named, for as long as it is read.

    Raises
    ------
    InputError
        If there is no such file, the format is another one, or the file is empty, broken or locked away.
    """
    path = Path(path)
    format_ = find_format(path)
    dataset = Dataset(path, path.name, format_)
    layers = [SourceLayer(name, dataset, name, has) for name, has in _list_layers(dataset)]
    if not layers:
        raise InputError(f"{path.name} has no layer in it: there is nothing to read. Was the export finished?")
    yield Source(path, (dataset,), digest(format_.parts(path)), tuple(layers))


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


def unreadable(what: str, error: Exception) -> InputError:
    """Build the refusal for whatever a library says about somebody's file; a refusal stays as it is."""
    if isinstance(error, InputError):
        return error
    said = " ".join(str(error).split("; It might help")[0].split())[:200]
    return InputError(
        f"{what} can't be read: {said}. Nothing was taken from it: repair it in QGIS or ask for it again."
    )


def digest(files: Iterable[Path]) -> str:
    """SHA-256 of the files' bytes one after the other, as ``cat FILES | sha256sum`` prints it."""
    whole = hashlib.sha256()
    for part in files:
        with part.open("rb") as file:
            while block := file.read(1 << 20):
                whole.update(block)
    return whole.hexdigest()


def _list_layers(dataset: Dataset) -> list[tuple[str, bool]]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return dataset.format.layers(dataset.path)
    except Exception as e:  # any library's error about somebody's file is a message about the file
        raise unreadable(dataset.shown, e) from e


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
