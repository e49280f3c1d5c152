"""ZIP archives (.zip, .kmz) unpacked into a folder of our own, without trusting a word of what they say.

References: PKWARE APPNOTE 6.3 (general purpose flags, external attributes); CWE-22, CWE-59 and CWE-409 for what a
hostile archive does. Whatever could leave the folder, or can't be told apart there, is refused with the member's name.
"""

import os
import re
import shutil
import stat
import unicodedata
import zipfile
import zlib
from dataclasses import dataclass, field
from pathlib import Path

from geobill.errors import InputError

SUFFIXES = (".zip", ".kmz")
# what the library raises about somebody's archive: damaged bytes, a head that contradicts itself, a name in no code page,
# a password (RuntimeError) and, under it, a method of packing that it hasn't got (NotImplementedError)
ZIP_FAULTS = (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, LookupError, RuntimeError)
_BLOCK = 1 << 20
_NOT_IN_NAMES = re.compile(r'[<>:"|?*!\x00-\x1f\x7f]')  # Windows forbids them; the file library reads "!" otherwise
_LONGEST_NAME = 255  # bytes
_DEVICES = re.compile(r"(?i)(con|prn|aux|nul|com\d|lpt\d)(\..*)?$")  # names that Windows keeps for itself
_LETTERS = frozenset("áàâãäéêëíîïóôõöúûüçñÁÀÂÃÄÉÊËÍÎÏÓÔÕÖÚÛÜÇÑºª°–")


@dataclass(frozen=True)
class Limits:
    """How far an archive may go; sizes in bytes. A table of blanks packs very well, so the ratio counts from a size on."""

    size: int = 32 << 30
    members: int = 50_000
    ratio: int = 300
    ratio_from: int = 512 << 20
    depth: int = 3  # an archive in an archive in an archive
    spare: int = 256 << 20  # left free on the disk


LIMITS = Limits()


@dataclass
class Unpacked:
    """What came out: files with the names that people know, and the members that couldn't be read, with why.

    ``root`` is where the first archive's folder tree stands, ``shown`` has the name of each file and folder on disk.
    """

    root: Path
    files: dict[Path, str] = field(default_factory=dict)
    broken: dict[Path, str] = field(default_factory=dict)
    shown: dict[Path, str] = field(default_factory=dict)
    size: int = 0
    members: int = 0


def is_archive(path: Path) -> bool:
    """Whether a file is a ZIP archive by its content and, being one, no document of an office program."""
    try:
        with zipfile.ZipFile(path) as archive:
            names = {i.filename for i in archive.infolist()[:100]}
    except ZIP_FAULTS:
        return False
    return not names & {"[Content_Types].xml", "mimetype"}


def unpack(path: Path, folder: Path, limits: Limits = LIMITS) -> Unpacked:
    """Unpack an archive, and those in it, below a new and empty folder.

    Parameters
    ----------
    path : Path
        The archive.
    folder : Path
        Where the files go; nothing is written outside it.
    limits : Limits
        Where unpacking ends in a refusal.

    Raises
    ------
    InputError
        If the archive is broken, encrypted, too big, or names files that can't be or mustn't be written. A member whose
        bytes are damaged is in ``broken`` instead.
    """
    done = Unpacked(folder / "0")
    waiting = [(path, "", done.root, 1)]
    number = 0
    while waiting:
        archive, prefix, target, depth = waiting.pop(0)
        target.mkdir()
        done.shown[target] = prefix.rstrip("/") or path.name
        _unpack_one(archive, prefix, target, done, path, limits)
        for inner in [p for p in done.files if p.is_relative_to(target)]:
            if inner.suffix.lower() in SUFFIXES and is_archive(inner):
                if depth == limits.depth:
                    raise InputError(
                        f"{path.name}: {done.files[inner]} is an archive {depth} deep in archives, and no deeper one is opened. "
                        "Unpack it and send the files."
                    )
                number += 1
                waiting.append((inner, f"{done.files.pop(inner)}/", folder / str(number), depth + 1))
        if archive != path:
            archive.unlink()
    return done


def _unpack_one(archive: Path, prefix: str, target: Path, done: Unpacked, outer: Path, limits: Limits) -> None:
    what = outer.name if not prefix else f"{outer.name}: {prefix.rstrip('/')}"
    try:
        with zipfile.ZipFile(archive) as opened:
            members = [i for i in opened.infolist() if not i.is_dir()]
            places = _places(members, what)
            _stay_within(members, what, archive.stat().st_size, target, done, limits)
            for member, parts in places:
                file = target.joinpath(*map(_on_disk, parts))
                for n in range(1, len(parts)):
                    done.shown[target.joinpath(*map(_on_disk, parts[:n]))] = prefix + "/".join(parts[:n])
                done.files[file] = done.shown[file] = prefix + "/".join(parts)
                try:
                    _write(opened, member, file)
                except ZIP_FAULTS as e:
                    if isinstance(e, OSError) and e.errno == 28:  # no space left
                        raise InputError(f"{what}: the disk is full: free some space, or unpack it elsewhere.") from e
                    file.unlink(missing_ok=True)
                    done.broken[file] = _why(e, member)
    except (zipfile.BadZipFile, NotImplementedError, ValueError) as e:  # its list of members; an OSError is the disk's
        raise InputError(
            f"{what} is broken: it is no whole ZIP archive ({e}). The copy, the mail or the download was cut short: ask for it again."
        ) from e


def _places(members: list[zipfile.ZipInfo], what: str) -> list[tuple[zipfile.ZipInfo, list[str]]]:
    """Members to unpack with the parts of their path, each checked; junk that systems add is passed over."""
    out, taken = [], {}
    for member in members:
        name = shown_name(member)
        parts = [p for p in name.split("/") if p not in ("", ".")]
        kind = stat.S_IFMT(member.external_attr >> 16)
        if "\\" in name:
            wrong = "has a backslash in its name, which some systems take for a folder"
        elif name.startswith("/") or re.match("[A-Za-z]:", name):
            wrong = "wants to be written at a place of its own on the disk"
        elif ".." in parts:
            wrong = "wants to be written outside the folder ('..')"
        elif kind not in (0, stat.S_IFREG, stat.S_IFDIR):
            wrong = "is a link" if kind == stat.S_IFLNK else "is a device"
        elif member.flag_bits & 0x1:
            raise InputError(f"{what}: {name} is locked with a password. Ask the sender for the archive without one.")
        elif not parts:
            wrong = "has no name"
        elif any(len(os.fsencode(_on_disk(p))) > _LONGEST_NAME for p in parts):
            wrong = f"has a name of more than {_LONGEST_NAME} bytes, which no disk holds"
        else:
            if _is_junk(parts):
                continue
            key = unicodedata.normalize("NFC", "/".join(map(_on_disk, parts))).casefold()
            if key in taken:
                raise InputError(
                    f"{what} holds {taken[key]} and {name}, which are one name on many systems: it can't be told which one counts. "
                    "Ask the sender for an archive with each file once."
                )
            taken[key] = name
            out.append((member, parts))
            continue
        raise InputError(
            f"{what}: {name} {wrong}. Nothing was unpacked: archives of data have no such member. Ask for the files packed anew."
        )
    return out


def _stay_within(
    members: list[zipfile.ZipInfo], what: str, packed: int, target: Path, done: Unpacked, limits: Limits
) -> None:
    """Refuse before a byte is written; the library unpacks no more of a member than it declares."""
    size = sum(m.file_size for m in members)
    done.size, done.members = done.size + size, done.members + len(members)
    biggest = max(members, key=lambda m: m.file_size, default=None)
    named = "" if biggest is None else f" (the biggest: {shown_name(biggest)}, {_gib(biggest.file_size)})"
    if done.members > limits.members:
        raise InputError(f"{what} holds more than {limits.members} files: send the network's files alone.")
    if done.size > limits.size or (size > limits.ratio_from and size > limits.ratio * max(packed, 1)):
        raise InputError(
            f"{what} would unpack to {_gib(done.size)}{named} from {_gib(packed)}: that is beyond what is unpacked here "
            f"({_gib(limits.size)}, or {limits.ratio} times its size). Send the files in smaller archives, or unpacked."
        )
    free = shutil.disk_usage(target).free
    if size + limits.spare > free:
        raise InputError(
            f"{what} unpacks to {_gib(size)}, and the disk of {target.parent.parent} has {_gib(free)} left: free some space, or "
            "set TMPDIR to a folder on another disk."
        )


def _write(opened: zipfile.ZipFile, member: zipfile.ZipInfo, file: Path) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    with opened.open(member) as packed, file.open("xb") as out:
        shutil.copyfileobj(packed, out, _BLOCK)
    if file.stat().st_size != member.file_size:
        raise EOFError(f"{file.stat().st_size} of {member.file_size} bytes are there")


def shown_name(member: zipfile.ZipInfo) -> str:
    """Name of a member as its sender wrote it: UTF-8 where it says so or reads as such, else a code page of Windows.

    Old packers write the code page of their desk and don't say which; the first one is taken in which all signs beyond
    ASCII are letters as Portuguese names have them.
    """
    if member.flag_bits & 0x800:
        return member.orig_filename.split("\0")[0]
    raw = member.orig_filename.split("\0")[0].encode("cp437")
    for encoding in ("utf-8", "cp850", "cp1252"):
        try:
            name = unicodedata.normalize("NFC", raw.decode(encoding))
        except UnicodeDecodeError:
            continue
        if encoding == "utf-8" or all(c.isascii() or c in _LETTERS for c in name):
            return name
    return raw.decode("cp850")


def _on_disk(part: str) -> str:
    name = _NOT_IN_NAMES.sub("_", part).rstrip(". ") or "_"
    return f"_{name}" if _DEVICES.match(name) else name


def _is_junk(parts: list[str]) -> bool:
    """Whether a member is what systems and office programs leave in archives by themselves."""
    last = parts[-1].lower()
    return (
        any(p.startswith(".") or p == "__MACOSX" for p in parts)
        or last.startswith("~$")
        or last in ("thumbs.db", "desktop.ini")
    )


def _why(error: Exception, member: zipfile.ZipInfo) -> str:
    if isinstance(error, NotImplementedError):
        return f"it is packed by a method ({member.compress_type}) that isn't read here: pack it as plain ZIP (Deflate)"
    if "CRC" in str(error):
        return "its check sum doesn't agree with its bytes: the archive was damaged on the way"
    return f"its bytes can't be unpacked ({' '.join(str(error).split())[:120]})"


def _gib(size: int) -> str:
    return f"{size / (1 << 30):.1f} GiB" if size >= 1 << 29 else f"{size / (1 << 20):.1f} MiB"
