"""KML: folders of placemarks, in degrees of WGS 84.

The rows are read here and not by GDAL's LIBKML: that one turns "007" into 7 where a Schema says that it is a number,
drops the columns of a SchemaData whose Schema it doesn't find, and parses the file again for every folder.
Reference: OGC 07-147r2 (KML 2.2).
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from lxml import etree
from pyproj import CRS

from geobill.domain.finding import Finding
from geobill.errors import InputError
from geobill.intake.formats.base import Format, broken
from geobill.intake.formats.kml_shapes import NAMES, UNREADABLE, build, local
from geobill.intake.formats.xml_safety import Watch, XmlText, check_xml, too_deep

_HOLDERS = ("kml", "Document", "Folder")
_ROWS = ("Placemark", "GroundOverlay")
_PICTURES = ("ScreenOverlay", "PhotoOverlay")
_READ = frozenset((*_HOLDERS, *_ROWS, *_PICTURES, "NetworkLink"))
_ON = re.compile(r"\bon \w+")  # in the parser's message about a prefix: the element that has it
# columns that every row may have, under the names that QGIS shows
_PLAIN = {
    "name": "Name", "description": "description", "visibility": "visibility", "address": "address",
    "phoneNumber": "phoneNumber", "Snippet": "Snippet", "snippet": "Snippet", "styleUrl": "styleUrl",
}  # fmt: skip
_TIMES = {"when": "timestamp", "begin": "begin", "end": "end"}


@dataclass
class _Folder:
    """A folder, a document or the root: its own rows, each with its columns by (is data, name) and its geometry."""

    above: "_Folder | None" = None
    name: str = ""
    number: int = 0
    folders: int = 0
    rows: list[tuple[dict[tuple[bool, str], str | None], bytes | None]] = field(default_factory=list)

    @property
    def path(self) -> str:
        """Names from the outermost folder down to this one."""
        return f"{self.above.path}/{self.name}" if self.above is not None and self.above.path else self.name


@dataclass(frozen=True)
class Sheet:
    """One folder as a layer: columns of text and well-known binary, row by row."""

    table: pa.Table
    drawn: np.ndarray


@dataclass(frozen=True)
class Drawing:
    """All layers of a file by name, and what should be said about the file."""

    sheets: dict[str, Sheet]
    findings: tuple[Finding, ...]


class KML(Format):
    """KML; every folder is a layer, and what stands in the root another. A KMZ is unpacked before."""

    name = "KML"
    suffixes = (".kml",)
    driver = "LIBKML"
    mark = re.compile(rb"(?s)(\xef\xbb\xbf)?\s*(<\?xml[^>]*>\s*)?(<!--.{0,500}?-->\s*)?<(\w+:)?kml\b")
    reads = "placemarks of every folder, each folder as a layer; extended data as exact text; tracks as lines"
    leaves_out = "linked files (nothing is fetched), pictures over the screen, styles; heights"
    reads_itself = True

    def check(self, path: Path) -> None:
        """See that it is whole and safe; the rows are read on the way."""
        _read(path)

    def layers(self, path: Path) -> list[tuple[str, bool]]:
        """Name each folder that has rows or nothing at all in it, and say whether any of its rows has geometry."""
        return [(name, any(d is not None for d in s.drawn)) for name, s in _read(path).sheets.items()]

    def read_table(self, path: Path, layer: str) -> tuple[pa.Table, np.ndarray, str | None]:
        """Return a folder's rows; every value is the exact text of the file."""
        sheet = _read(path).sheets[layer]
        return sheet.table, sheet.drawn, "EPSG:4326"

    def iter_tables(self, path: Path, layer: str, rows: int) -> Iterator[tuple[pa.Table, np.ndarray, str | None]]:
        """Return a folder's rows in slices."""
        sheet = _read(path).sheets[layer]
        for first in range(0, max(1, len(sheet.drawn)), rows):
            yield sheet.table.slice(first, rows), sheet.drawn[first : first + rows], "EPSG:4326"

    def crs(self, path: Path, declared: CRS | None) -> tuple[CRS | None, tuple[Finding, ...]]:
        """Return WGS 84, which every KML is in (KML 2.2, 6.1)."""
        return CRS.from_epsg(4326), ()

    def remarks(self, path: Path) -> tuple[Finding, ...]:
        """Say what was put right in the text, and what of the file isn't read."""
        return _read(path).findings

    def findings(self, path: Path, layer: str) -> tuple[Finding, ...]:
        """Name the rows of a folder whose coordinates can't be read."""
        drawn = _read(path).sheets[layer].drawn
        rows = tuple(n for n, d in enumerate(drawn, 1) if d == UNREADABLE)
        if not rows:
            return ()
        message = f"The coordinates of {len(rows)} placemark(s) aren't longitude,latitude[,height] one after the other."
        fix = "They are set aside at import: ask the sender for them, with points for decimals and commas between axes."
        return (Finding("kml_coordinates_unreadable", "warning", message, fix, rows=rows),)


def _read(path: Path) -> Drawing:
    state = path.stat()
    return _drawing(path, state.st_mtime_ns, state.st_size)


@lru_cache(maxsize=1)
def _drawing(path: Path, changed: int, size: int) -> Drawing:
    """Read the whole file once, for as many layers as it has."""
    text = check_xml(path, Watch(path))  # the parser that builds elements has a limit of its own
    folders, links, pictures = _folders(text)
    shown = [f for f in folders if f.rows or not f.folders]
    if len(shown) > 1:  # an empty root says nothing
        shown = [f for f in shown if f.rows or f.above is not None]
    names = _names(shown, path.stem)
    sheets = {name: _sheet(f) for name, f in zip(names, shown, strict=True) if f.rows or f.name}
    return Drawing(sheets, (*text.findings, *_said(path, links, pictures)))


def _said(path: Path, links: list[str], pictures: int) -> Iterator[Finding]:
    if links:
        shown = ", ".join(repr(link[:100]) for link in links[:3]) + (" …" if len(links) > 3 else "")
        message = (
            f"{path.name} points to {len(links)} other file(s) (NetworkLink: {shown}): geobill opens no links, so what is "
            "there isn't read."
        )
        fix = "If the network is there, ask for a KML or KMZ that holds it."
        yield Finding("kml_link_not_followed", "warning", message, fix)
    if pictures:
        message = f"{pictures} picture(s) laid over the screen or a photograph have no place on the ground: left out."
        yield Finding("kml_pictures_left_out", "note", message)


def _folders(text: XmlText) -> tuple[list[_Folder], list[str], int]:
    """Read all folders with their rows, the addresses of links, and how many pictures there are."""
    root, links, pictures, counted = _Folder(), [], 0, 0
    folders, open_ = [root], [root]
    with text.open() as file:
        # `recover` is for prefixes that nobody declared: the document is known to be well-formed
        steps = etree.iterparse(
            file, events=("start", "end"), tag=["{*}" + name for name in _READ], encoding=text.encoding if text.corrected else None,
            resolve_entities=False, no_network=True, load_dtd=False, remove_comments=True, remove_pis=True, recover=True,
        )  # fmt: skip
        for event, element in steps:
            kind = local(element.tag)
            if kind in _HOLDERS:
                if event == "start":
                    below = _Folder(open_[-1]) if kind != "kml" else open_[-1]  # the outermost element is no folder
                    if kind != "kml":
                        open_[-1].folders += 1
                        folders.append(below)
                    open_.append(below)
                    continue
                done = open_.pop()
                if kind != "kml":
                    done.name = _text(element.find("{*}name")) or ""
                    _forget(element)
            elif event == "end":
                if kind in _ROWS:
                    counted += 1
                    open_[-1].rows.append(_row(element))
                elif kind == "NetworkLink":
                    links += [_text(e) or "" for e in element.iter("{*}href", "href")][:1] or ["no address"]
                else:
                    pictures += 1
                _forget(element)
    strange = [e.message for e in steps.error_log if e.type_name == "NS_ERR_UNDEFINED_NAMESPACE"]
    limits = [e.message for e in steps.error_log if e.type_name != "NS_ERR_UNDEFINED_NAMESPACE"]
    lost = next((m for m in strange if (_ON.search(m) or [""])[0].removeprefix("on ") in _READ), None)
    if lost:
        raise broken(text.path, f"its elements have a prefix that nothing declares ({lost})")
    if any("depth" in m.lower() for m in limits):
        raise too_deep(text.path)
    if limits or len(open_) > 1 or steps.root is None:
        raise broken(text.path, f"it isn't KML that can be read to its end ({'; '.join(limits)[:160] or 'it stops'})")
    if local(steps.root.tag) != "kml" and not counted and len(folders) == 1:
        raise InputError(
            f"{text.path.name} is XML, but not KML: its first element is {local(steps.root.tag)[:40]!r}. Export it as KML "
            "and try again."
        )
    return folders, links, pictures


def _forget(element: Any) -> None:
    """Empty an element that was read and drop the one before, so that memory doesn't grow with the document."""
    element.clear()
    before = element.getprevious()
    if before is not None and local(before.tag) in _READ:
        before.getparent().remove(before)


def _row(element: Any) -> tuple[dict[tuple[bool, str], str | None], bytes | None]:
    values: dict[tuple[bool, str], str | None] = {}
    drawn = []
    if element.get("id"):  # a program's number for the element, not the sender's for what it shows
        values[False, "xml_id"] = element.get("id")
    for child in element:
        kind = local(child.tag)
        if kind in NAMES:
            drawn.append(child)
        elif kind == "ExtendedData":
            _data(child, values)
        elif kind in _PLAIN:
            values[False, _PLAIN[kind]] = _text(child)
        elif kind in ("TimeStamp", "TimeSpan"):
            values |= {(False, _TIMES[local(e.tag)]): _text(e) for e in child if local(e.tag) in _TIMES}
    return values, build(drawn)


def _data(extended: Any, values: dict[tuple[bool, str], str | None]) -> None:
    """Read the three ways of giving a row columns: Data, SchemaData, and elements of somebody's own namespace."""
    for child in extended:
        kind = local(child.tag)
        if kind == "Data":
            values[True, child.get("name") or ""] = _text(child.find("{*}value"))
        elif kind == "SchemaData":
            for one in child:
                if local(one.tag) == "SimpleArrayData":
                    values[True, one.get("name") or ""] = "; ".join(_text(e) or "" for e in one)
                else:
                    values[True, one.get("name") or local(one.tag)] = _text(one)
        else:
            values[True, kind] = _text(child)


def _text(element: Any) -> str | None:
    """Return the text of an element and of what stands in it, without the spaces around it; None where there is none."""
    if element is None:
        return None
    text = "".join(element.itertext()) if len(element) else element.text
    return (text or "").strip() or None


def _names(folders: list[_Folder], stem: str) -> list[str]:
    """Give each folder a name of its own: its name, else its path, else its name with a number."""
    plain = [f.name or stem for f in folders]
    paths = [f.path or stem for f in folders]
    names, taken = [], set()
    for name, path in zip(plain, paths, strict=True):
        wanted = name if plain.count(name) == 1 else path if paths.count(path) == 1 and path not in plain else name
        unique, number = wanted, 1
        while unique in taken:
            number += 1
            unique = f"{wanted} (#{number})"
        taken.add(unique)
        names.append(unique)
    return names


def _sheet(folder: _Folder) -> Sheet:
    # a table without columns would forget its rows
    keys = sorted(
        dict.fromkeys([(False, "Name"), *(k for values, _ in folder.rows for k in values)]), key=lambda k: k[0]
    )
    columns = [pa.array([values.get(k) for values, _ in folder.rows], pa.string()) for k in keys]
    drawn = np.empty(len(folder.rows), dtype=object)
    drawn[:] = [d for _, d in folder.rows]
    folder.rows = []
    return Sheet(pa.Table.from_arrays(columns, names=[name for _, name in keys]), drawn)
