"""A PDF made smaller without loss: the tags of its tables go into compressed object streams (ISO 32000-1, 7.5.7).

An accessible table has a tag for each cell: in an invoice of 300 lines they are most of the file, and Typst writes
them out plainly. Everything that a reader sees or hears stays the same object; streams, pages and the catalogue stay
where they are.
"""

import re
import zlib

OBJECTS_IN_A_STREAM = 200
PACKED = re.compile(rb"<</Type/StructElem\b|\[")
OBJECT = re.compile(rb"(\d+) 0 obj\n(.*?)\nendobj\n", re.DOTALL)
ENTRY = re.compile(rb"(\d{10}) (\d{5}) ([nf])")
END = re.compile(rb"xref\n0 (\d+)\n(.*)trailer\n?<<(.*)>>\s*startxref\s+\d+\s+%%EOF\s*\Z", re.DOTALL)
BEST = 9


def packed(pdf: bytes) -> bytes:
    """Move tags and plain arrays into object streams and replace the cross-reference table by a compressed one.

    The result depends on the given bytes (and zlib) only. A file that isn't laid out as Typst lays it out is returned
    as it is: it is good, only larger.
    """
    start = pdf.rfind(b"\nxref\n") + 1
    end = END.match(pdf, start) if start else None
    if end is None:
        return pdf
    places = [(int(at), use) for at, _, use in ENTRY.findall(end[2])]
    if len(places) != int(end[1]):
        return pdf
    bodies: dict[int, bytes] = {}
    used = sorted((at, number) for number, (at, use) in enumerate(places) if use == b"n")
    for (at, number), (until, _) in zip(used, [*used[1:], (start, 0)], strict=True):
        found = OBJECT.match(pdf[at:until].rstrip(b"\n") + b"\n")
        if found is None or int(found[1]) != number:
            return pdf
        bodies[number] = pdf[at:until]
    inside = {n: OBJECT.match(b.rstrip(b"\n") + b"\n")[2] for n, b in bodies.items()}  # type: ignore[index]
    chosen = [n for n, b in sorted(inside.items()) if PACKED.match(b) and not b.endswith(b"endstream")]
    if not chosen:
        return pdf
    return _written(pdf[: used[0][0]], [(n, bodies[n]) for _, n in used], inside, chosen, len(places), end[3])


def _written(
    head: bytes, kept: list[tuple[int, bytes]], inside: dict[int, bytes], chosen: list[int], size: int, trailer: bytes
) -> bytes:
    """Header, objects that stay, object streams, cross-reference stream."""
    out = bytearray(head)
    rows: dict[int, tuple[int, int, int]] = {0: (0, 0, 65535)}
    packed_away = set(chosen)
    for number, body in kept:
        if number not in packed_away:
            rows[number] = (1, len(out), 0)
            out += body
    for first in range(0, len(chosen), OBJECTS_IN_A_STREAM):
        members = chosen[first : first + OBJECTS_IN_A_STREAM]
        offsets, content = [], bytearray()
        for place, number in enumerate(members):
            offsets.append(b"%d %d" % (number, len(content)))
            content += inside[number] + b"\n"
            rows[number] = (2, size, place)
        index = b" ".join(offsets) + b"\n"
        entries = b"/Type/ObjStm/N %d/First %d" % (len(members), len(index))
        rows[size] = (1, len(out), 0)
        out += _stream(size, entries, index + bytes(content))
        size += 1
    at = len(out)
    rows[size] = (1, at, 0)
    wide = max(2, (at.bit_length() + 7) // 8)
    table = b"".join(
        bytes([kind]) + a.to_bytes(wide, "big") + b.to_bytes(2, "big")
        for kind, a, b in (rows.get(number, (0, 0, 65535)) for number in range(size + 1))
    )
    entries = re.sub(rb"/Size\s+\d+", b"", trailer).strip()
    out += _stream(size, b"/Type/XRef/Size %d/W[1 %d 2]" % (size + 1, wide) + entries, table)
    out += b"startxref\n%d\n%%%%EOF\n" % at
    return bytes(out)


def _stream(number: int, entries: bytes, content: bytes) -> bytes:
    data = zlib.compress(content, BEST)
    return b"%d 0 obj\n<<%s/Filter/FlateDecode/Length %d>>\nstream\n%s\nendstream\nendobj\n" % (
        number, entries, len(data), data,
    )  # fmt: skip
