"""XML before any other program sees it: well-formed, without entities or inclusions, not absurdly deep.

Reference: XML 1.0 (entities, encoding declaration), XInclude 1.0, OWASP "XML External Entity Prevention". A map needs
no document type and no inclusion; a file that has them makes the reader open other files, or grow without end.
"""

import codecs
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from lxml import etree

from geobill.domain.finding import Finding
from geobill.errors import InputError
from geobill.intake.formats.base import broken

DEEPEST = 200  # elements within elements; maps have a dozen
_BLOCK = 1 << 20
_DECLARED = re.compile(rb"""^\s*<\?xml[^>]*?\sencoding\s*=\s*["']([A-Za-z0-9._-]+)["']""")
_INCLUDES = re.compile(r"""xmlns(?::[^\s=]+)?\s*=\s*["']http://www\.w3\.org/2001/XInclude["']""")
_MARKS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))


@dataclass(frozen=True)
class XmlText:
    """XML that may be read: ``encoding`` is how its text is written, ``end`` where the document ends, in bytes.

    ``corrected`` says that the encoding isn't the one that the file declares.
    """

    path: Path
    encoding: str
    corrected: bool
    end: int
    findings: tuple[Finding, ...]

    def open(self) -> "Clipped":
        """Open the document's bytes, without what stands after it."""
        return Clipped(self.path.open("rb"), self.end)


class Clipped:
    """A file that ends earlier than its last byte."""

    def __init__(self, file: BinaryIO, end: int):
        self._file, self._left = file, end

    def read(self, size: int = -1) -> bytes:
        """Return the next bytes, none at the end."""
        block = self._file.read(self._left if size < 0 else min(size, self._left))
        self._left -= len(block)
        return block

    def __enter__(self) -> "Clipped":
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()


class Watch:
    """What the parser calls: it refuses a document type as soon as it begins, and keeps nothing."""

    def __init__(self, path: Path):
        self.path = path

    def doctype(self, name: str, public: str | None, system: str | None) -> None:
        """Refuse whatever document type there is."""
        raise _unsafe(self.path, "a document type (DOCTYPE), which can declare entities")

    def close(self) -> None:
        """Keep nothing."""


class DeepWatch(Watch):
    """The same, and it refuses elements that stand too deep within each other; ``inside`` names those that are open."""

    def __init__(self, path: Path):
        super().__init__(path)
        self.inside: list[str] = []

    def start(self, tag: str, attributes: Any) -> None:
        """Count an element."""
        self.inside.append(tag)
        if len(self.inside) > DEEPEST:
            raise too_deep(self.path)

    def end(self, tag: str) -> None:
        """Leave an element."""
        self.inside.pop()


def check_xml(path: Path, watch: Watch) -> XmlText:
    """See that a file is XML that can be read without danger; memory doesn't grow with the file.

    Parameters
    ----------
    path : Path
        The file.
    watch : Watch
        What else is looked at on the way; a plain `Watch` where the reader itself limits the depth.

    Raises
    ------
    InputError
        If it isn't well-formed, has a DOCTYPE or an XInclude, is too deep, or is in an encoding that doesn't exist.
    """
    end, junk = _end(path)
    declared = _declared(path)
    encoding, corrected = _encoding(path, declared, end)
    findings = []
    if junk:
        message = f"{junk} byte(s) stand after the end of the document in {path.name}: they were left aside."
        findings.append(Finding("xml_junk_after_document", "warning", message, "Ask whether the file is complete."))
    if corrected:
        message = f"{path.name} says that its text is {declared.upper()}, and it isn't: it was read as Windows-1252."
        fix = "Compare accented names with the sender's."
        findings.append(Finding("encoding_doubtful", "warning", message, fix))
    text = XmlText(path, encoding, corrected, end, tuple(findings))
    # an error within a namespace prefix is none here: Google Earth reads such files, and so may we
    parser = etree.XMLParser(
        target=watch, encoding=encoding if corrected else None, resolve_entities=False, no_network=True, load_dtd=False
    )
    try:
        with text.open() as file:
            while block := file.read(_BLOCK):
                parser.feed(block)
        parser.close()
    except etree.XMLSyntaxError as e:
        raise broken(path, f"it isn't well-formed XML ({' '.join((e.msg or '').split())})") from None
    return text


def _unsafe(path: Path, what: str) -> InputError:
    return InputError(
        f"{path.name} has {what}. A map needs none, and such a file can make the reader open other files or fill the "
        "memory: nothing was read. Ask for the file as QGIS or Google Earth exports it."
    )


def too_deep(path: Path) -> InputError:
    """Build the refusal of a file whose elements stand too deep within each other."""
    return _unsafe(path, f"more than {DEEPEST} elements within each other")


def _declared(path: Path) -> str:
    """Name the encoding by the byte order mark, else by the declaration, else UTF-8."""
    with path.open("rb") as file:
        head = file.read(1024)
    marked = next((name for mark, name in _MARKS if head.startswith(mark)), None)
    if marked:
        return marked
    if head[:4] in (b"<\0?\0", b"\0<\0?"):
        return "utf-16-le" if head[0] else "utf-16-be"
    said = _DECLARED.match(head)
    name = said[1].decode("ascii") if said else "utf-8"
    try:
        found = codecs.lookup(name)
    except LookupError:
        raise broken(path, f"it says that its text is encoded as {name!r}, which doesn't exist") from None
    if not found._is_text_encoding or found.name.startswith(("utf-16", "utf-32")):  # without a mark, or no text at all
        raise broken(path, f"it says that its text is encoded as {name!r}, and it isn't")
    return found.name


def _encoding(path: Path, declared: str, end: int) -> tuple[str, bool]:
    """Decode everything once: whether it is what it says, and whether it asks for other files."""
    try:
        _look_through(path, declared, end)
    except UnicodeDecodeError:
        if not declared.startswith("utf-8"):
            raise broken(path, f"its text isn't {declared.upper()}, as it says") from None
        _look_through(path, "latin-1", end)
        return "cp1252", True
    return declared, False


def _look_through(path: Path, encoding: str, end: int) -> None:
    decoder, before = codecs.getincrementaldecoder(encoding)(), ""
    with Clipped(path.open("rb"), end) as file:
        while block := file.read(_BLOCK):
            text = before + decoder.decode(block)
            if "XInclude" in text and _INCLUDES.search(text):
                raise _unsafe(path, "an inclusion (XInclude), which opens other files")
            before = text[-200:]
        decoder.decode(b"", True)


def _end(path: Path) -> tuple[int, int]:
    """Where the last tag ends, and how many bytes stand after it that aren't blank."""
    size = path.stat().st_size
    with path.open("rb") as file:
        file.seek(max(0, size - _BLOCK))
        tail = file.read()
    last = tail.rfind(b">")
    after = tail[last + 1 :]
    junk = len(after.strip(b" \t\r\n\0")) if last >= 0 else 0
    wide = tail[last + 1 : last + 2] == b"\0"  # the second half of a UTF-16 character
    return (size - len(after) + wide, junk) if last >= 0 else (size, 0)
