"""What a file is: by its content where that shows it, else by its suffix; refused with the way out where it isn't read."""

import zipfile
from dataclasses import dataclass
from pathlib import Path

from geobill.domain.finding import Finding
from geobill.errors import InputError
from geobill.intake import archive
from geobill.intake.columns import nearest
from geobill.intake.formats import FORMATS, Format
from geobill.intake.formats.filegdb import FileGDB, is_filegdb
from geobill.intake.formats.refused import RefusedFormat, by_mark, by_suffix

HEAD = 4096  # bytes that are looked at
# parts of a dataset by suffix, and the suffix of the file that stands for all of them
PARTS = {
    **dict.fromkeys((".shx", ".dbf", ".prj", ".cpg", ".sbn", ".sbx", ".qix", ".qpj"), ("Shapefile", ".shp")),
    **dict.fromkeys((".dat", ".map", ".id", ".ind"), ("MapInfo table", ".tab")),
    ".mid": ("MapInfo interchange file", ".mif"),
}  # fmt: skip


@dataclass(frozen=True)
class Known:
    """What a file or folder is: of a format, or (None) an archive; what should be said about its name."""

    format: Format | None
    findings: tuple[Finding, ...] = ()


def names() -> str:
    """Every format that is read, for a sentence."""
    return " or ".join([", ".join(f.name for f in FORMATS[:-1]), FORMATS[-1].name])


def recognise(path: Path) -> Known:
    """Say what somebody named, or refuse it with what to do; the data themselves aren't looked at yet.

    Raises
    ------
    InputError
        If it isn't there, can't be read, is empty, or is of a format that isn't read.
    """
    _see(path)
    if path.is_dir():
        return _folder(path)
    head = _head(path)
    suffix = path.suffix.lower()
    _refuse_part(path, suffix)
    named = next((f for f in FORMATS if suffix in f.suffixes), None)
    refused = by_mark(head, suffix)
    if refused is not None and not (named and named.recognises(path, head)):
        raise _refusal(path, refused)
    if not head:
        raise InputError(f"{path.name} is empty (0 bytes): the copy or the export failed. Ask for it again.")
    if named is None or not named.recognises(path, head):
        shown = next((f for f in FORMATS if f.recognises(path, head)), None)
        if shown is not None:
            return Known(shown, (_contradiction(path, shown.name),))
        by_name = by_suffix(suffix)  # a project of QGIS or ArcGIS is packed too, and is no archive of data
        packed = head.startswith(b"PK") and (by_name is None or by_name.mark is not None)
        if (packed or suffix in archive.SUFFIXES) and archive.is_archive(path):
            return Known(None, () if suffix in archive.SUFFIXES else (_contradiction(path, "ZIP archive"),))
    if named is not None:
        return Known(named)
    if suffix in archive.SUFFIXES:
        raise _no_archive(path, head)
    by_name = by_suffix(suffix)
    if by_name is not None:
        raise _refusal(path, by_name)
    raise InputError(
        f"{path.name} is in a format that geobill doesn't read. Export it as {names()} and try again; "
        "`geobill formats` lists them all."
    )


def _see(path: Path) -> None:
    try:
        there = path.exists()
    except OSError as e:
        raise InputError(f"{path} can't be reached ({e.strerror}): ask for the right to read its folder.") from e
    if not there:
        try:
            beside = [p.name for p in path.parent.iterdir()]
        except OSError:
            beside = []
        hint = nearest(path.name, beside, alike=0.7) or " Check the folder and the spelling."
        raise InputError(f"There is no file {path}.{hint}")
    if not (path.is_file() or path.is_dir()):
        raise InputError(f"{path} is neither a file nor a folder (a device, a pipe): name the file itself.")
    if "!" in path.name:
        raise InputError(
            f"The name {path.name} has an exclamation mark, which the file library reads otherwise: rename it."
        )


def _head(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(HEAD)
    except OSError as e:
        raise InputError(
            f"{path} can't be read ({e.strerror}): ask for the right to read it, or copy it elsewhere."
        ) from e


def _folder(path: Path) -> Known:
    """Recognise a File Geodatabase; any other folder is refused with what could be named in it."""
    geodatabase = FileGDB()
    if is_filegdb(path):
        return Known(geodatabase)
    if path.suffix.lower() in geodatabase.suffixes:
        raise InputError(
            f"{path.name} is named as a File Geodatabase, but its catalogue (a00000001.gdbtable) isn't in it: the copy was cut "
            "short. Copy the whole folder again, or ask for it as .gdb.zip."
        )
    try:
        inside = sorted(path.iterdir())
    except OSError as e:
        raise InputError(f"{path} can't be read ({e.strerror}): ask for the right to read it.") from e
    suffixes = {s for f in FORMATS for s in f.suffixes} | set(archive.SUFFIXES)
    found = [p.name for p in inside if is_filegdb(p) or (p.is_file() and p.suffix.lower() in suffixes)]
    if len(found) == 1:
        raise InputError(
            f"{path} is a folder. The one file in it that geobill reads is {found[0]}: name {path / found[0]}."
        )
    if found:
        raise InputError(f"{path} is a folder. Name one of the files in it: {some(found)}.")
    raise InputError(f"{path} is a folder with no file that geobill reads ({names()}). {_listing(inside)}")


def _listing(inside: list[Path]) -> str:
    return f"It holds {some([p.name for p in inside])}." if inside else "It is empty."


def _refuse_part(path: Path, suffix: str) -> None:
    if path.parent.suffix.lower() == ".gdb" and is_filegdb(path.parent):
        raise InputError(f"{path.name} is only a part of a File Geodatabase: name the folder {path.parent}.")
    if suffix in PARTS:
        whole, main = PARTS[suffix]
        raise InputError(f"{path.name} is only a part of a {whole}: name {path.stem}{main}, with the others beside it.")


def _refusal(path: Path, refused: RefusedFormat) -> InputError:
    hidden = path.suffix.lower() not in refused.suffixes
    by = " by its content, whatever its name says" if hidden else ""
    return InputError(f"{path.name} is of the format {refused.name}{by}: geobill doesn't read it. {refused.way_out}.")


def _no_archive(path: Path, head: bytes) -> InputError:
    if zipfile.is_zipfile(path):
        return InputError(
            f"{path.name} is a document of an office program, not an archive of map files: unpack it, or ask for the files."
        )
    if head.startswith(b"PK"):
        return InputError(
            f"{path.name} is broken: it begins as a ZIP archive and has no end, so the copy, the mail or the download was cut "
            "short. Ask for it again."
        )
    return InputError(
        f"{path.name} is broken: by its content it is no ZIP archive ({head[:8].hex(' ')} …). Part of it may be missing: ask for "
        "it again, or for the files without packing."
    )


def _contradiction(path: Path, what: str) -> Finding:
    message = f"{path.name} is by its content of the format {what}, whatever its name says: it was read as that."
    return Finding("suffix_contradicts", "warning", message, "Look whether the sender meant this file.")


def some(many: list[str], most: int = 10) -> str:
    """Name things in a sentence, the first ones where there are many."""
    return ", ".join(many[:most]) + (f" and {len(many) - most} more" if len(many) > most else "")
