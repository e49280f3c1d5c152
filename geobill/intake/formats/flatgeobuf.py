"""FlatGeobuf: one binary file, a head, a spatial index and features one after the other, each with its size.

Reference: the FlatGeobuf specification 3 (header.fbs, feature.fbs) and FlatBuffers' internals. Only sizes, counts and
the types of columns are read here, to tell a whole file from one that was cut; the library reads the rest.
"""

import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from geobill.intake.formats.base import Format, broken

MAGIC = b"fgb\x03fgb"  # the eighth byte is the patch of the specification
_NODE_BYTES = 40  # of the index: four coordinates and an offset
_ULONG = 8
# bytes of a value by the type of its column: byte, ubyte, bool, short, ushort, int, uint, long, ulong, float, double
_SIZES = (1, 1, 1, 2, 2, 4, 4, 8, 8, 4, 8)


class Record:
    """One table of a FlatBuffers message: its fields by their place in the schema; absent ones take a default."""

    def __init__(self, raw: bytes, at: int):
        self._raw, self._at = raw, at
        self._fields = at - struct.unpack_from("<i", raw, at)[0]
        self._count = (struct.unpack_from("<H", raw, self._fields)[0] - 4) // 2

    @classmethod
    def root(cls, raw: bytes) -> "Record":
        """Return the outermost table of a message."""
        return cls(raw, struct.unpack_from("<I", raw)[0])

    def _place(self, field: int) -> int:
        shift = struct.unpack_from("<H", self._raw, self._fields + 4 + 2 * field)[0] if field < self._count else 0
        return self._at + shift if shift else 0

    def number(self, field: int, form: str, default: int = 0) -> int:
        """Return a whole number; ``form`` is its letter for ``struct``."""
        at = self._place(field)
        return struct.unpack_from(f"<{form}", self._raw, at)[0] if at else default

    def _vector(self, field: int) -> tuple[int, int]:
        """Where a vector's first element stands, and how many there are."""
        at = self._place(field)
        if not at:
            return 0, 0
        at += struct.unpack_from("<I", self._raw, at)[0]
        return at + 4, struct.unpack_from("<I", self._raw, at)[0]

    def bytes(self, field: int) -> bytes:
        """Return a vector of bytes, or a text as it is encoded."""
        at, length = self._vector(field)
        return self._raw[at : at + length]

    def records(self, field: int) -> list["Record"]:
        """Return a vector of tables."""
        first, length = self._vector(field)
        places = range(first, first + 4 * length, 4)
        return [Record(self._raw, at + struct.unpack_from("<I", self._raw, at)[0]) for at in places]


@dataclass(frozen=True)
class Head:
    """What the head of a file promises: columns as (name, type), number of features (0: not said), where they begin."""

    columns: tuple[tuple[str, int], ...]
    features: int
    begin: int


def read_head(path: Path, raw: bytes) -> Head:
    """Read the head, or raise InputError where the bytes are no FlatGeobuf or end within it."""
    if len(raw) < 12 or not raw.startswith(MAGIC):
        raise broken(path, "it doesn't begin as a FlatGeobuf file (version 3) does")
    size = struct.unpack_from("<I", raw, 8)[0]
    if 12 + size > len(raw):
        raise broken(path, f"its head promises {12 + size} bytes and the file has {len(raw)}")
    try:
        record = Record.root(raw[12 : 12 + size])
        features, node = record.number(8, "Q"), record.number(9, "H", 16)
        columns = tuple((c.bytes(0).decode("utf-8", "replace"), c.number(1, "B")) for c in record.records(7))
    except struct.error:
        raise broken(path, "its head is damaged") from None
    return Head(columns, features, 12 + size + _index_bytes(features, node))


def _index_bytes(features: int, node: int) -> int:
    """Size of the packed R-tree: all its levels, from the leaves up to the one root; none where the node size is 0."""
    if node < 2 or not features:
        return 0
    level = nodes = features
    while True:  # one feature has a root above it too
        level = -(-level // node)
        nodes += level
        if level == 1:
            break
    return nodes * _NODE_BYTES


class FlatGeobuf(Format):
    """FlatGeobuf 3, with or without its spatial index (which orders the rows by place)."""

    name = "FlatGeobuf"
    suffixes = (".fgb",)
    driver = "FlatGeobuf"
    mark = re.compile(re.escape(MAGIC))
    reads = "all features and columns, with or without an index"
    leaves_out = "version 2 and older"

    def check(self, path: Path) -> None:
        """Go from feature to feature: the last must end where the file ends, and be the last that the head promises."""
        raw = path.read_bytes()
        head = read_head(path, raw)
        at, count, end = head.begin, 0, len(raw)
        while at + 4 <= end:
            at += 4 + int.from_bytes(raw[at : at + 4], "little")
            count += 1
        if at != end or (head.features and head.features != count):
            promised = f"its head promises {head.features} features" if head.features else "a feature is cut short"
            raise broken(path, f"{promised} and {count - (at > end)} of them are whole")

    def exact_numbers(self, path: Path, names: list[str], rows: int) -> dict[str, list[str | None]]:
        """Take the digits of unsigned whole numbers of 64 bits, which the library turns into floats."""
        raw = path.read_bytes()
        head = read_head(path, raw)
        wanted = {n for n, (name, kind) in enumerate(head.columns) if name in names and kind == _ULONG}
        found = [dict(_values(feature, head.columns)) for feature in _features(raw, head.begin)]
        if len(found) != rows:
            return {}
        return {head.columns[n][0]: [None if n not in f else str(f[n]) for f in found] for n in sorted(wanted)}


def _features(raw: bytes, at: int) -> Iterator[Record]:
    while at + 4 <= len(raw):
        size = struct.unpack_from("<I", raw, at)[0]
        yield Record.root(raw[at + 4 : at + 4 + size])
        at += 4 + size


def _values(feature: Record, columns: tuple[tuple[str, int], ...]) -> Iterator[tuple[int, Any]]:
    """Each value that a feature has, as (number of the column, value); only unsigned numbers of 64 bits are unpacked."""
    packed, at = feature.bytes(1), 0
    own = feature.records(2)
    kinds = [c.number(1, "B") for c in own] if own else [kind for _, kind in columns]
    while at + 2 <= len(packed):
        column = struct.unpack_from("<H", packed, at)[0]
        kind, at = kinds[column], at + 2
        size = _SIZES[kind] if kind < len(_SIZES) else 4 + struct.unpack_from("<I", packed, at)[0]
        if kind == _ULONG:
            yield column, struct.unpack_from("<Q", packed, at)[0]
        at += size
