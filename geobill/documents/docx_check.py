"""An edited DOCX read back: whether every figure is still the one that geobill wrote."""

import io
import json
import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass

from lxml import etree

from geobill.documents.docx import FIGURES, MOST_BYTES, RECORD
from geobill.documents.figures import NamedFigure
from geobill.documents.html import figures_in, read_page, record_of
from geobill.documents.wordml import bookmark
from geobill.errors import InputError

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
CUSTOM_PART, BODY_PART = "docProps/custom.xml", "word/document.xml"
PARSER_OPTIONS = {"resolve_entities": False, "no_network": True, "load_dtd": False, "huge_tree": False}


@dataclass(frozen=True)
class ChangedFigure:
    """A figure that isn't what it was; ``now`` is None where it is gone."""

    key: str
    name: str
    was: str
    now: str | None


@dataclass(frozen=True)
class DocxCheck:
    """What the check of an edited document found."""

    record: str
    figures: int
    changed: tuple[ChangedFigure, ...]


def check_docx(content: bytes, what: str, against: bytes | None = None) -> DocxCheck:
    """Compare the figures of an edited document with those that it was made with.

    Parameters
    ----------
    content : bytes
        The DOCX as Word or LibreOffice saved it.
    what : str
        Its name, for messages.
    against : bytes or None
        The draft's HTML, made in the same run; without it the list of figures in the document's own properties counts.

    Raises
    ------
    InputError
        If the file is no DOCX, wasn't made by geobill, or belongs to another record than ``against``.
    """
    parts = _parts(content, what)
    kept = _properties(parts, what)
    record = kept.get(RECORD, "")
    told = _figures(kept, what)
    if against is not None:
        if record_of(against) != record:
            raise InputError(
                f"{what} was made from the record {record[:12]}…, the HTML beside it from {record_of(against)[:12]}…: they are "
                "two drafts. Compare it with the HTML that was written together with it (--against FILE.html)."
            )
        texts = {figure.key: figure.text for figure in figures_in(read_page(against))}
        told = tuple(NamedFigure(f.key, f.name, texts.get(f.key, f.text)) for f in told)
    found = _found(parts[BODY_PART], what)
    changed = []
    for number, figure in enumerate(told, start=1):
        now = found.get(figure.key, found.get(bookmark(number)))
        if now is None or _plain(now) != _plain(figure.text):
            changed.append(ChangedFigure(figure.key, figure.name, figure.text, now))
    return DocxCheck(record, len(told), tuple(changed))


def _parts(content: bytes, what: str) -> dict[str, bytes]:
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            names = set(archive.namelist())
            wanted = [name for name in (BODY_PART, CUSTOM_PART) if name in names]
            if sum(archive.getinfo(name).file_size for name in wanted) > MOST_BYTES:
                raise InputError(f"{what} unpacks to more than {MOST_BYTES:,} bytes: it isn't a draft of geobill's.")
            parts = {name: archive.read(name) for name in wanted}
    except zipfile.BadZipFile:
        raise InputError(f"{what} isn't a DOCX (not even a zip). Save it in Word or LibreOffice as .docx.") from None
    if BODY_PART not in parts:
        raise InputError(
            f"{what} is a zip without {BODY_PART}: it isn't a DOCX. Save it in Word or LibreOffice as .docx."
        )
    return parts


def _properties(parts: dict[str, bytes], what: str) -> dict[str, str]:
    root = _xml(parts.get(CUSTOM_PART, b"<none/>"), what)
    return {prop.get("name", ""): "".join(prop.itertext()) for prop in root if isinstance(prop.tag, str)}


def _figures(kept: dict[str, str], what: str) -> tuple[NamedFigure, ...]:
    listed = "".join(value for name, value in sorted(kept.items()) if name.startswith(FIGURES))
    try:
        return tuple(NamedFigure(*map(str, row)) for row in json.loads(listed))
    except (ValueError, TypeError):
        raise InputError(
            f"{what} doesn't carry the list of figures that geobill writes into a draft's properties, so they can't be "
            "compared: it isn't a draft of geobill's, or its properties were taken out on saving (in Word: “remove personal "
            "information”). Make the draft again and edit it without that."
        ) from None


def _found(body: bytes, what: str) -> dict[str, str]:
    """Text of each figure in the document, by its control's tag and by its bookmark."""
    root = _xml(body, what)
    found: dict[str, str] = {}
    for control in root.iter(f"{W}sdt"):
        tag = control.find(f"{W}sdtPr/{W}tag")
        if tag is not None:
            found[tag.get(f"{W}val", "")] = _text(control.iter(f"{W}t"))
    open_marks: dict[str, str] = {}
    for element in root.iter(f"{W}bookmarkStart", f"{W}bookmarkEnd", f"{W}t"):
        number = element.get(f"{W}id", "")
        if element.tag == f"{W}bookmarkStart" and element.get(f"{W}name", "").startswith("geobill_"):
            open_marks[number] = element.get(f"{W}name", "")
            found[open_marks[number]] = ""
        elif element.tag == f"{W}bookmarkEnd":
            open_marks.pop(number, None)
        else:
            for name in open_marks.values():
                found[name] += element.text or ""
    return found


def _text(texts: Iterator[etree._Element]) -> str:
    return "".join(element.text or "" for element in texts)


def _plain(text: str) -> str:
    return re.sub(r"\s+", " ", text.replace("\u00a0", " ")).strip()


def _xml(content: bytes, what: str) -> etree._Element:
    try:
        return etree.fromstring(content, etree.XMLParser(**PARSER_OPTIONS))
    except etree.XMLSyntaxError as fault:
        raise InputError(f"{what} can't be read as a DOCX: {fault}. Save it again in Word or LibreOffice.") from None
