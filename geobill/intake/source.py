"""What was named on the command line, opened: the datasets in it, their layers, and the digest of its bytes."""

import hashlib
import re
import tempfile
import warnings
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from geobill.domain.finding import Finding
from geobill.errors import InputError
from geobill.intake.archive import Unpacked, unpack
from geobill.intake.formats import FORMATS, Format
from geobill.intake.formats.base import link
from geobill.intake.formats.filegdb import is_filegdb
from geobill.intake.formats.refused import by_mark, by_suffix
from geobill.intake.recognise import HEAD, PARTS, Known, recognise, some

_SCRATCH = "geobill-open-"
_OUR_FOLDERS = re.compile(rf"[^\s'\"]*{_SCRATCH}[^\s'\"/\\]+[/\\]0[/\\]?(\d+[/\\])?")
# what programs put beside a dataset, each to find or draw it sooner
_SIDE = (".xml", ".qml", ".sld", ".tfw", ".fbn", ".fbx", ".atx", ".ixs", ".mxs", ".ain", ".aih", ".cst", ".idm", ".dbt")
_ATTACHED = (".txt", ".csv", ".tsv", ".json", ".xml", ".xlsx")  # may be the network, or a page about it
_QUIET = ("picture", "PDF", "text document", "web page")  # lie beside data without being meant as such


Layers = list[tuple[str, bool]]  # of one dataset: the name of each, and whether it has geometry


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


class _Unreadable(Format):
    """In the place of the format of a dataset that can't be read, in an archive with others that can."""

    name = "unreadable"
    reads_itself = True

    def __init__(self, why: InputError):
        self.why = why

    def encoding(self, path: Path) -> tuple[str, tuple[Finding, ...]]:
        """Refuse: whoever asks for this layer is told why it can't be read."""
        raise self.why


class _Scratch:
    """Folders of our own, made when they are needed and gone when the source is closed."""

    def __init__(self, held: ExitStack):
        self._held = held

    def folder(self) -> Path:
        """Make a new and empty folder."""
        made = tempfile.TemporaryDirectory(prefix=_SCRATCH, ignore_cleanup_errors=True)
        folder = Path(self._held.enter_context(made)) / "0"
        folder.mkdir()
        return folder


@contextmanager
def open_source(path: Path) -> Iterator[Source]:
    """Open what a user named, for as long as it is read.

    An archive is unpacked into a temporary folder, which is gone afterwards. At the end the files must be as they were
    at the beginning: what was read while somebody wrote is no file that anybody sent.

    Raises
    ------
    InputError
        If there is no such file, the format isn't read, the file is empty, broken or locked away, or it changed while it
        was read.
    """
    path = Path(path)
    known = recognise(path)
    with ExitStack() as held:
        scratch = _Scratch(held)
        seen = _Seen(path, known)
        try:
            if known.format is None:
                opened, findings = _unpacked(path, scratch)
            else:
                dataset = _opened(path, path.name, known.format, scratch)
                opened, findings = {dataset: list_layers(dataset)}, list(known.format.remarks(path))
            yield Source(path, tuple(opened), seen.sha256, _layers(path, opened), (*known.findings, *findings))
        except (
            Exception
        ):  # whatever stopped the reader, a file that was written meanwhile is the reason; else it goes on
            seen.refuse_changed()
            raise
        seen.refuse_changed()


class _Seen:
    """The files of a source as they were when it was opened."""

    def __init__(self, path: Path, known: Known):
        self._path, self._known = path, known
        self._stamps = self._look()
        self.sha256 = digest(self._stamps)

    def _look(self) -> dict[Path, tuple[int, int]]:
        try:
            parts = (self._path,) if self._known.format is None else self._known.format.parts(self._path)
            return {p: (p.stat().st_size, p.stat().st_mtime_ns) for p in parts}
        except OSError as e:
            what = e.filename or self._path
            raise InputError(f"{what} can't be read ({e.strerror}): ask for the right to read it.") from e

    def refuse_changed(self) -> None:
        """Refuse where a file is another one by now; one that was only touched is the same."""
        try:
            now = self._look()
            same = now == self._stamps or (list(now) == list(self._stamps) and digest(now) == self.sha256)
        except (InputError, OSError):
            same = False
        if not same:
            raise InputError(
                f"{self._path.name} changed while it was read: part of what was read may be the old file, part the new one. Nothing "
                "was taken from it. Close the program that writes it, or wait for the copy to end, and try again."
            )


def _opened(path: Path, shown: str, format_: Format, scratch: _Scratch) -> Dataset:
    """Check a dataset; where its names would keep the file library from finding its parts, link them under fit ones."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            known = path.suffix.lower() in format_.suffixes
            if path.is_dir() and not known:  # the library knows it by its name alone
                link(path, to := scratch.folder() / f"{path.name}{format_.suffixes[0]}")
                path, known = to, True
            format_.check(path)
        parts = format_.parts(path)
        if not known or (path.is_file() and any(_odd(p, path) for p in parts)):
            path = _linked(path, parts, path.suffix.lower() if known else format_.suffixes[0], scratch.folder())
        return Dataset(format_.fitted(path, scratch.folder), shown, format_)
    except OSError as e:
        raise InputError(f"{e.filename or shown} can't be read ({e.strerror}): ask for the right to read it.") from e
    except Exception as e:  # any library's error about somebody's file is a message about the file
        raise unreadable(shown, e) from e


def _odd(part: Path, path: Path) -> bool:
    """Whether the file library wouldn't find a part: its stem is written otherwise, or its suffix in mixed case."""
    if part.name.startswith(path.name):  # the file itself, or the log of a database
        return False
    return part.stem != path.stem or part.suffix not in (part.suffix.lower(), part.suffix.upper())


def _linked(path: Path, parts: tuple[Path, ...], suffix: str, folder: Path) -> Path:
    """Gather the parts of a dataset in a folder, under the name of its main file, which gets the suffix."""
    for part in parts:
        own = suffix + part.name[len(path.name) :] if part.name.startswith(path.name) else part.suffix.lower()
        link(part, folder / f"{path.stem}{own}")
    return folder / f"{path.stem}{suffix}"


def _unpacked(path: Path, scratch: _Scratch) -> tuple[dict[Dataset, Layers], list[Finding]]:
    """Find every dataset in an archive; one that can't be read is among them and says so when it is asked for."""
    found = unpack(path, scratch.folder())
    groups, others = _group(found)
    opened: dict[Dataset, Layers] = {}
    findings: list[Finding] = []
    refused: dict[Path, InputError] = {}
    # a text file is a dataset where nothing else is
    for one in sorted(groups, key=lambda p: p.suffix.lower() == ".txt"):
        if opened and one.suffix.lower() == ".txt":
            others.append(one)
            continue
        try:
            dataset, said = _member(one, groups[one], found, scratch)
            opened[dataset] = list_layers(dataset)
            findings += said
        except InputError as e:
            refused[one] = e
    if not opened:
        raise _nothing_in(path, found, refused, others)
    for one, why in refused.items():
        shown = groups[one]
        if one.suffix.lower() in _ATTACHED:
            findings.append(_not_read(path, shown, why))
            continue
        opened[Dataset(Path(shown), shown, _Unreadable(InputError(f"{path.name}: {shown}: {why}")))] = [(shown, True)]
        message = f"{shown} in {path.name} can't be read: {why}"
        fix = "Ask the sender for it again; the other layers can be read."
        findings.append(Finding("member_unreadable", "error", message, fix))
    passed = []
    for one in others:
        refusal = _refusal_of(one, found)
        if refusal is not None:
            findings.append(_not_read(path, found.files[one], refusal))
        elif not one.name.lower().endswith(_SIDE):
            passed.append(found.files[one])
    if passed:
        message = f"{path.name} also holds files that were passed over: {some(passed)}."
        findings.append(Finding("members_passed_over", "note", message))
    return opened, findings


def _not_read(path: Path, shown: str, why: InputError) -> Finding:
    message = f"{shown} in {path.name} isn't read: {why}"
    return Finding("member_not_read", "warning", message, "If the network is in it, ask for it in a form that is read.")


def _group(found: Unpacked) -> tuple[dict[Path, str], list[Path]]:
    """Part what came out into datasets (a file or a folder each, with its name) and files that are of none."""
    folders = {p for file in found.files for p in file.parents if p in found.shown and is_filegdb(p)}
    groups = {p: found.shown[p] for p in sorted(folders)}
    loose = [p for p in found.files if not folders & set(p.parents)]
    groups |= {p: found.files[p] for p in loose if _may_be_data(p)}
    stems = {(p.parent, p.stem.casefold()) for p in groups}
    parts = {p for p in loose if p.suffix.lower() in PARTS and (p.parent, p.stem.casefold()) in stems}
    return groups, [p for p in loose if p not in groups and p not in parts]


def _may_be_data(path: Path) -> bool:
    """Whether a file is to be opened as a dataset: its suffix or its bytes say that it is of a format that is read."""
    suffixes = {s for f in FORMATS for s in f.suffixes}
    if path.suffix.lower() == ".xml" and Path(path.stem).suffix.lower() in suffixes:  # what ArcGIS writes beside data
        return False
    if path.suffix.lower() in suffixes:
        return True
    try:
        return path.exists() and recognise(path).format is not None
    except InputError:
        return False


def _member(one: Path, shown: str, found: Unpacked, scratch: _Scratch) -> tuple[Dataset, tuple[Finding, ...]]:
    def belongs(file: Path) -> bool:
        return one in (file, *file.parents) or (
            file.parent == one.parent and file.stem.casefold() == one.stem.casefold()
        )

    for file, why in found.broken.items():
        if belongs(file):
            raise InputError(f"{found.files[file]} can't be unpacked: {why}.")
    known = recognise(one)
    if known.format is None:
        raise InputError("it is an archive under another name: send it as .zip.")
    return _opened(one, shown, known.format, scratch), (*known.findings, *known.format.remarks(one))


def _refusal_of(path: Path, found: Unpacked) -> InputError | None:
    """Why a file of an archive isn't read, where there is more to say than that it is none of the formats."""
    if path in found.broken:
        return InputError(f"it can't be unpacked ({found.broken[path]}).")
    suffix = path.suffix.lower()
    with path.open("rb") as file:
        refused = by_mark(file.read(HEAD), suffix) or by_suffix(suffix)
    if refused is None or refused.name in _QUIET:
        return None
    return InputError(f"its format is {refused.name}. {refused.way_out}.")


def _nothing_in(path: Path, found: Unpacked, refused: dict[Path, InputError], others: list[Path]) -> InputError:
    told = {p: why for p in others if (why := _refusal_of(p, found)) is not None}
    names = {**found.shown, **found.files}
    if refused or told:
        said = " ".join(f"{names[p]}: {why}" for p, why in list({**refused, **told}.items())[:3])
        return InputError(f"Nothing in {path.name} can be read. {said}")
    hint = ""
    if any(p.suffix.lower() in PARTS for p in found.files):
        hint = " A Shapefile needs its .shp and .shx beside the .dbf: ask for all files of one name."
    inside = some(list(found.files.values())) or "it is empty"
    return InputError(
        f"{path.name} holds no dataset that geobill reads: {inside}.{hint} `geobill formats` lists what is read."
    )


def _layers(path: Path, opened: dict[Dataset, Layers]) -> tuple[SourceLayer, ...]:
    """Name the layers, each by a name of its own: its inner one, or its dataset's where there are several of those."""
    if not any(opened.values()):
        raise InputError(f"{path.name} has no layer in it: there is nothing to read. Was the export finished?")
    layers = []
    for (one, inner), name in zip(opened.items(), _dataset_names([d.shown for d in opened]), strict=True):
        for own, has in inner:
            shown = own if len(opened) == 1 else name if len(inner) == 1 else f"{name}/{own}"
            layers.append(SourceLayer(shown, one, own, has))
    return tuple(layers)


def _dataset_names(shown: list[str]) -> list[str]:
    """Give each dataset the shortest name that is its own: stem, file, then with its folder."""

    def stem(name: str) -> str:
        return name.removesuffix(Path(name).suffix)

    ways = (lambda s: stem(s.rsplit("/", 1)[-1]), stem, lambda s: s)
    for way in ways:
        names = [way(s) for s in shown]
        if len({n.casefold() for n in names}) == len(names):
            return names
    return shown


def list_layers(dataset: Dataset) -> Layers:
    """Name the layers of a dataset, and say which have geometry; what a library can't open is an InputError."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return dataset.format.layers(dataset.path)
    except Exception as e:  # any library's error about somebody's file is a message about the file
        raise unreadable(dataset.shown, e) from e


def unreadable(what: str, error: Exception) -> InputError:
    """Build the refusal for whatever a library says about somebody's file; a refusal stays as it is."""
    if isinstance(error, InputError):
        return error
    said = _OUR_FOLDERS.sub("", " ".join(str(error).split("; It might help")[0].split()))[:200]
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
