"""The tags of a DXF text file that GDAL doesn't hand on: header, hidden layers, and which entity each handle is.

Reference: Autodesk's DXF reference (group codes; HEADER, TABLES, BLOCKS, ENTITIES). A tag is two lines, a group code
and a value; code 0 begins an entity, and no group code holds a letter, so that "0" before a word is always one.
"""

import mmap
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from geobill.errors import InputError
from geobill.intake.formats.base import broken

BINARY = b"AutoCAD Binary DXF"
MARK = re.compile(rb"(?:\xef\xbb\xbf)?(?:[ \t]*999[ \t]*\r?\n[^\n]*\n)*[ \t]*0[ \t]*\r?\n[ \t]*SECTION[ \t]*\r?\n")
# entities that are lines by themselves; all else is symbol, text, measure, surface or picture
LINES = frozenset(("LINE", "LWPOLYLINE", "POLYLINE", "ARC", "CIRCLE", "ELLIPSE", "SPLINE", "HELIX", "MLINE"))
_PARTS = frozenset(("VERTEX", "SEQEND", "ATTRIB"))  # belong to the entity before them
_BEGINS = re.compile(rb"^[ \t]*0[ \t]*\r?\n[ \t]*([0-9]?[A-Za-z_][A-Za-z0-9_]*)[ \t]*\r?$", re.MULTILINE)
_SECTION = re.compile(rb"\s*2[ \t]*\r?\n[ \t]*(\w+)")
_HANDLE = re.compile(rb"\s*5[ \t]*\r?\n[ \t]*([0-9A-Fa-f]+)[ \t]*\r?\n")
_PERHAPS_BULGED = re.compile(rb"^[ \t]*42[ \t]*\r?$", re.MULTILINE)
_VARIABLE = re.compile(
    rb"^[ \t]*9[ \t]*\r?\n[ \t]*(\$\w+)[ \t]*\r?\n[ \t]*\d+[ \t]*\r?\n[ \t]*([^\r\n]*)", re.MULTILINE
)
# codes 10 to 59 are numbers; a value that looks like such a code is followed by a code, which is a number too
_NO_NUMBER = re.compile(
    rb"^[ \t]*[1-5]\d[ \t]*\r?\n(?![ \t]*[+-]?(?:(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|\d*\.?#?(?i:nan|inf|qnan|ind)\S*)[ \t]*\r?$)"
    rb"([^\r\n]*)",
    re.MULTILINE,
)
_ACCENTED = re.compile(rb"^[^\r\n\x80-\xff]*[\x80-\xff][^\r\n]*", re.MULTILINE)


@dataclass(frozen=True)
class Entity:
    """One entity of the drawing: its kind, its handle as it is written ("" without), and where its tags stand."""

    kind: str
    handle: str
    start: int
    end: int
    bulged: bool


@dataclass(frozen=True)
class Tags:
    """What the tags of a file say; ``hidden`` are layers by the bytes of their names, ``blocks`` lines in each block."""

    variables: dict[str, str]
    entities: tuple[Entity, ...]
    hidden: dict[bytes, str] = field(default_factory=dict)
    blocks: dict[bytes, int] = field(default_factory=dict)
    accented: tuple[bytes, ...] = ()


def check_text(path: Path) -> None:
    """Raise InputError where it isn't a DXF in text form, or ends before its end."""
    with path.open("rb") as file:
        head = file.read(4096)
        file.seek(max(0, path.stat().st_size - 512))
        tail = file.read()
    if head.startswith((BINARY, b"AutoCAD DXB")):
        raise InputError(
            f"{path.name} is a binary DXF, which geobill doesn't read. Save it as a text (ASCII) DXF: AutoCAD asks for it under "
            "Options in Save As; LibreCAD, QCAD and the ODA File Converter write text."
        )
    if not MARK.match(head):
        raise broken(path, "it doesn't begin as a DXF in text form does (0, SECTION)")
    if not re.search(rb"^[ \t]*0[ \t]*\r?\n[ \t]*EOF\s*\0*\s*\Z", tail, re.MULTILINE):
        raise broken(path, "it doesn't end as a DXF does (0, EOF)")


def read_tags(path: Path) -> Tags:
    """Read header, layer table, blocks and the list of entities; the file is mapped, not copied into memory."""
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as text:
        odd = _NO_NUMBER.search(text)
        if odd:
            raise broken(path, f"one of its coordinates or measures is no number ({odd[1][:40].decode('latin-1')!r})")
        return _tags(text)


def _tags(text: mmap.mmap) -> Tags:
    variables: dict[str, str] = {}
    entities: list[Entity] = []
    hidden: dict[bytes, str] = {}
    blocks: dict[bytes, int] = {}
    section, block = b"", None
    for name, start, body, end in _begun(text):
        if name == "SECTION":
            said = _SECTION.match(text[body : min(end, body + 100)])
            section = said[1] if said else b""
            if section == b"HEADER":
                found = _VARIABLE.findall(text[body:end])
                variables = {key.decode("ascii"): value.strip().decode("latin-1") for key, value in found}
        elif name == "ENDSEC":
            section = b""
        elif section == b"TABLES" and name == "LAYER":
            tags = dict(pairs(text[body:end]))
            flags, colour = _whole(tags.get(70)), _whole(tags.get(62))
            if flags & 1 or colour < 0:
                hidden[tags.get(2, b"")] = "frozen" if flags & 1 else "off"
        elif section == b"BLOCKS":
            if name == "BLOCK":
                block = dict(pairs(text[body:end])).get(2, b"")
                blocks[block] = 0
            elif block is not None and name in LINES:
                blocks[block] += 1
        elif section == b"ENTITIES" and name not in _PARTS:
            entities.append(_entity(text, name, start, body, end))
        elif section == b"ENTITIES" and name == "VERTEX" and entities and _bulges(text, body, end):
            entities[-1] = replace(entities[-1], bulged=True)
    accented = tuple({m[0].strip() for m in _ACCENTED.finditer(text)})
    return Tags(variables, tuple(entities), hidden, blocks, accented)


def _begun(text: mmap.mmap) -> Iterator[tuple[str, int, int, int]]:
    """Everything that code 0 begins: its name, where that begins, where its tags begin and where they end."""
    before = None
    for found in _BEGINS.finditer(text):
        if before is not None:
            yield before[1].decode("ascii"), before.start(), before.end(), found.start()
        before = found
    if before is not None:
        yield before[1].decode("ascii"), before.start(), before.end(), len(text)


def _entity(text: mmap.mmap, kind: str, start: int, body: int, end: int) -> Entity:
    found = _HANDLE.match(text, body, end)
    handle = found[1] if found else next((value for code, value in pairs(text[body:end]) if code == 5), b"")
    bulged = kind == "LWPOLYLINE" and _bulges(text, body, end)
    return Entity(kind, handle.decode("ascii", "replace").upper(), start, end, bulged)


def _bulges(text: mmap.mmap, body: int, end: int) -> bool:
    """Whether some tags give a vertex a bulge (code 42 and not 0): from there on the line is an arc."""
    if not _PERHAPS_BULGED.search(text, body, end):  # one of them may be a value
        return False
    return any(code == 42 and value.strip(b"-+0.") not in (b"", b"e") for code, value in pairs(text[body:end]))


def pairs(tags: bytes) -> Iterator[tuple[int, bytes]]:
    """Group codes and values of some tags."""
    lines = tags.strip(b"\r\n").split(b"\n")
    for code, value in zip(lines[::2], lines[1::2], strict=False):
        yield _whole(code, -1), value.strip()


def _whole(value: bytes | None, default: int = 0) -> int:
    try:
        return default if value is None else int(value)
    except ValueError:
        return default


def with_handles(path: Path, entities: tuple[Entity, ...], to: Path) -> tuple[Entity, ...]:
    """Copy a file with a handle of its own for each entity, so that they can be told apart in what GDAL makes of them."""
    told = []
    with path.open("rb") as file, to.open("wb") as out:
        done = 0
        for number, one in enumerate(entities, 1):
            file.seek(done)
            out.write(file.read(one.start - done))
            file.seek(one.start)
            lines = file.read(one.end - one.start).split(b"\n")
            handle = f"{number:X}"
            rest = lines[2:]  # after code 0 and the kind
            kept = [rest[n : n + 2] for n in range(0, len(rest), 2)]
            kept = [tag for tag in kept if tag[0].strip() != b"5"]
            out.write(b"\n".join([*lines[:2], b"  5", handle.encode(), *(line for tag in kept for line in tag)]))
            told.append(Entity(one.kind, handle, one.start, one.end, one.bulged))
            done = one.end
        file.seek(done)
        while block := file.read(1 << 20):
            out.write(block)
    return tuple(told)
