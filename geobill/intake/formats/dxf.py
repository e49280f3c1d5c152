"""DXF: the text form of CAD drawings, read by GDAL; each layer of the drawing that has entities is a layer.

Only what is a line by itself stays one. Blocks stay points (a pole drawn of lines is a pole), and what is drawn to
explain (dimensions, leaders) becomes a point, so that none of it is ever measured. A row is an entity.
"""

import re
import tempfile
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyogrio
import shapely

from geobill.domain.finding import Finding
from geobill.intake.formats.base import Format, broken
from geobill.intake.formats.dxf_tags import LINES, MARK, Entity, Tags, check_text, pairs, read_tags, with_handles
from geobill.intake.formats.dxf_units import unit_findings, unit_option
from geobill.intake.text import Texts, decide, named_encoding

UNICODE_FROM = "AC1021"  # AutoCAD 2007: from here on text is UTF-8, whatever $DWGCODEPAGE says
STEP = np.radians(4)  # GDAL's OGR_ARC_STEPSIZE: what an arc's chord spans at most
_ESCAPED = re.compile(r"\\U\+([0-9A-Fa-f]{4})")
_ROUND = ("ARC", "CIRCLE", "ELLIPSE", "SPLINE")
_KEPT = ("Layer", "Linetype", "EntityHandle", "Text", "BlockName")


@dataclass(frozen=True)
class Sheet:
    """One layer of the drawing: its columns and well-known binary, row by row, and what should be said about it."""

    table: pa.Table
    drawn: np.ndarray
    findings: tuple[Finding, ...]


@dataclass(frozen=True)
class Drawing:
    """All layers by name, in the order of the drawing, and what should be said about the file."""

    sheets: dict[str, Sheet]
    findings: tuple[Finding, ...]


class DXF(Format):
    """DXF in text form, of any version."""

    name = "DXF"
    suffixes = (".dxf",)
    driver = "DXF"
    reads_itself = True
    encodes = True
    drawn_as = "Entity"
    mark = MARK
    reads = (
        "model space; each layer of the drawing; lines, polylines, arcs, circles, ellipses, splines; blocks as points"
    )
    leaves_out = "paper space; the lines in blocks, dimensions and leaders; solids, images, proxies; binary DXF"

    def check(self, path: Path) -> None:
        """See that it is text and has its end."""
        check_text(path)

    def texts(self, path: Path) -> Texts | None:
        """Return lines of the file with a letter beyond ASCII, and the encoding that its version and header declare."""
        tags = _tags(path)
        version, page = tags.variables.get("$ACADVER", ""), tags.variables.get("$DWGCODEPAGE", "")
        if version >= UNICODE_FROM:
            return Texts(tags.accented, (), "utf-8", f"$ACADVER {version}")
        known = named_encoding(page.lower().replace("ansi_", "cp").replace("dos", "cp")) if page else None
        return Texts(tags.accented, (), known, f"$DWGCODEPAGE {page}")

    def encoding(self, path: Path) -> tuple[str, tuple[Finding, ...]]:
        """Follow the version, then $DWGCODEPAGE, unless the letters say otherwise."""
        texts = self.texts(path)
        return ("utf-8", ()) if texts is None else decide(texts, path.name)

    def unit(self, path: Path) -> str | None:
        """Return the unit of ``$INSUNITS``."""
        return unit_option(_tags(path).variables)

    def remarks(self, path: Path) -> tuple[Finding, ...]:
        """Say the drawing's unit, and what of the file isn't read."""
        return self._read(path).findings

    def layers(self, path: Path) -> list[tuple[str, bool]]:
        """Name each layer of the drawing that has entities in model space."""
        return [(name, True) for name in self._read(path).sheets]

    def iter_encoded(
        self, path: Path, layer: str, encoding: str, rows: int
    ) -> Iterator[tuple[pa.Table, np.ndarray | None, str | None]]:
        """Return a layer's entities in slices; a drawing has no coordinate system."""
        at = list(self._read(path).sheets).index(layer)  # another encoding gives the same layers other names
        sheet = list(self._read(path, encoding).sheets.values())[at]
        for first in range(0, max(1, len(sheet.drawn)), rows):
            yield sheet.table.slice(first, rows), sheet.drawn[first : first + rows], None

    def findings(self, path: Path, layer: str) -> tuple[Finding, ...]:
        """Say whether the layer is hidden, what in it is no line, what became chords and what can't be read."""
        return self._read(path).sheets[layer].findings

    def _read(self, path: Path, encoding: str | None = None) -> Drawing:
        return _drawing(path, encoding or self.encoding(path)[0], *_stamp(path))


def _stamp(path: Path) -> tuple[int, int]:
    state = path.stat()
    return state.st_mtime_ns, state.st_size


def _tags(path: Path) -> Tags:
    return _tags_once(path, *_stamp(path))


@lru_cache(maxsize=1)
def _tags_once(path: Path, changed: int, size: int) -> Tags:
    return read_tags(path)


@lru_cache(maxsize=2)
def _drawing(path: Path, encoding: str, changed: int, size: int) -> Drawing:
    """Read the whole drawing once, for as many layers as it has."""
    tags = _tags(path)
    handles = [e.handle for e in tags.entities]
    given = len(set(handles)) == len(handles) and "" not in handles
    with tempfile.TemporaryDirectory(prefix="geobill-dxf-") as folder:
        entities, source = tags.entities, path
        if not given and entities:
            source = Path(folder) / "drawing.dxf"
            entities = with_handles(path, entities, source)
        table = _table(source, encoding)
    rows = _rows_by_entity(path, entities, table)
    columns = {name: table.column(name).to_pylist() for name in (*_KEPT, "PaperSpace", "BlockAttributes")}
    wkb = table.column(table.num_columns - 1).to_pylist()
    layers: dict[str, list[tuple[int, Entity, list[int]]]] = {}
    paper, left_out = 0, Counter[str]()
    for number, (one, mine) in enumerate(zip(entities, rows, strict=True)):
        layer, on_paper = (
            (columns["Layer"][mine[0]], columns["PaperSpace"][mine[0]]) if mine else _said(path, one, encoding)
        )
        if on_paper:
            paper += one.kind != "VIEWPORT"
            continue
        if not mine:
            left_out[one.kind] += 1
        layers.setdefault(_clean(layer or "0"), []).append((number, one, mine))
    hidden = {_clean(name.decode(encoding, "replace")): state for name, state in tags.hidden.items()}
    sheets = {name: _sheet(name, held, columns, wkb, hidden.get(name), given) for name, held in layers.items()}
    said = (*_file_findings(tags, encoding, columns, paper), *unit_findings(path.name, tags.variables, _middle(sheets)))
    return Drawing(sheets, said)


def _table(source: Path, encoding: str) -> pa.Table:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        _, table = pyogrio.read_arrow(
            source, layer="entities", INLINE_BLOCKS="NO", CLOSED_LINE_AS_POLYGON="NO", ENCODING=encoding.upper()
        )
    return table


def _rows_by_entity(path: Path, entities: tuple[Entity, ...], table: pa.Table) -> list[list[int]]:
    """Which rows of GDAL's table each entity came to; it makes several of some, and none of what it can't draw."""
    place = {e.handle: n for n, e in enumerate(entities)}
    rows: list[list[int]] = [[] for _ in entities]
    for row, handle in enumerate(table.column("EntityHandle").to_pylist()):
        number = place.get((handle or "").upper())
        if number is None:
            raise broken(path, f"one of its entities (handle {handle!r}) isn't in its list of entities")
        rows[number].append(row)
    return rows


def _said(path: Path, one: Entity, encoding: str) -> tuple[str, bool]:
    """Layer of an entity that GDAL can't draw, and whether it is in paper space."""
    with path.open("rb") as file:
        file.seek(one.start)
        tags = dict(reversed(list(pairs(file.read(one.end - one.start)))))  # the first of each code stands
    return tags.get(8, b"0").decode(encoding, "replace"), tags.get(67) == b"1"


def _clean(text: str | None) -> str | None:
    """Text with the letters that AutoCAD writes by their number in Unicode, as a backslash and U+00E7."""
    return None if text is None else _ESCAPED.sub(lambda m: chr(int(m[1], 16)), text)


def _sheet(
    name: str,
    held: list[tuple[int, Entity, list[int]]],
    columns: dict[str, list],
    wkb: list[bytes | None],
    hidden: str | None,
    given: bool,
) -> Sheet:
    drawn, kinds, source, unread = [], [], [], []
    for number, one, mine in held:
        parts = [[row] for row in mine] if one.kind in LINES and mine else [mine]
        for part in parts:
            drawn.append(_shape(one.kind, [wkb[row] for row in part]))
            kinds.append(one.kind)
            source.append(part[0] if part else None)
            if not part:
                unread.append((len(kinds), number))
    data = {"Entity": pa.array(kinds, pa.string())}
    for column in _KEPT:
        values = [None if row is None else _clean(columns[column][row]) for row in source]
        if column == "Layer":
            values = [name] * len(values)
        if column == "EntityHandle" and not given:
            continue
        if column in ("Layer", "EntityHandle") or any(v is not None for v in values):
            data[column] = pa.array(values, pa.string())
    data |= _attributes([None if row is None else columns["BlockAttributes"][row] for row in source], set(data))
    shapes = np.empty(len(drawn), dtype=object)
    shapes[:] = drawn
    bulged = [held_one.bulged for _, held_one, mine in held for _ in (mine if held_one.kind in LINES and mine else [0])]
    found = _layer_findings(name, kinds, shapes, hidden, tuple(n for n, _ in unread), bulged)
    return Sheet(pa.table(data), shapes, tuple(found))


def _shape(kind: str, parts: list[bytes | None]) -> bytes | None:
    """Geometry of a row; what is drawn of lines and is no line itself becomes the place where it begins."""
    there = [p for p in parts if p is not None]
    if not there:
        return None
    if kind in LINES:
        return there[0]
    if len(there) == 1 and _code(there[0]) not in (2, 5, 8, 9, 10, 11):
        return there[0]
    try:
        places = shapely.get_coordinates(shapely.from_wkb(there, on_invalid="ignore"))
    except shapely.errors.GEOSException:  # an arc among them
        return None
    if not len(places):
        return None
    return shapely.to_wkb(shapely.MultiPoint(places) if kind == "INSERT" else shapely.Point(places[0]))


def _code(wkb: bytes) -> int:
    """Code of a geometry's kind without its dimensions."""
    return int.from_bytes(wkb[1:5], "little" if wkb[0] else "big") % 1000 & 0xFF


def _attributes(texts: list[list[str] | None], taken: set[str]) -> dict[str, pa.Array]:
    """Attributes of blocks ("TAG value") as columns."""
    rows = [dict((one.split(" ", 1) + [""])[:2] for one in row or ()) for row in texts]
    names = dict.fromkeys(name for row in rows for name in row if name)
    return {
        (name if name not in taken else f"{name}_2"): pa.array([row.get(name) or None for row in rows], pa.string())
        for name in names
    }


def _layer_findings(
    name: str, kinds: list[str], shapes: np.ndarray, hidden: str | None, unread: tuple[int, ...], bulged: list[bool]
) -> Iterator[Finding]:
    if hidden:
        message = f"Layer {name} is {hidden} in the drawing: whoever drew it doesn't see it on the screen."
        yield Finding("dxf_layer_off", "warning", message, "Ask whether it belongs to the network that is delivered.")
    other = [n for n, kind in enumerate(kinds, 1) if kind not in LINES]
    if other:
        counts = ", ".join(f"{n} {kind}" for kind, n in Counter(kinds[n - 1] for n in other).most_common())
        message = (
            f"{len(other)} of {len(kinds)} entities of layer {name} are no lines by themselves ({counts}): symbols, texts, "
            "measures and areas are never charged as network, whatever lines they are drawn of."
        )
        yield Finding(
            "dxf_not_lines", "note", message, "If a block holds the network, ask for it exploded.", rows=tuple(other)
        )
    if unread:
        counts = ", ".join(f"{n} {kind}" for kind, n in Counter(kinds[n - 1] for n in unread).most_common())
        message = f"{len(unread)} entities of layer {name} can't be drawn ({counts}): they have no geometry here."
        fix = "If they are network, ask for them as polylines (AutoCAD: EXPLODE)."
        yield Finding("dxf_entities_unread", "warning", message, fix, rows=unread)
    rows = tuple(n for n, (kind, curved) in enumerate(zip(kinds, bulged, strict=True), 1) if kind in _ROUND or curved)
    if rows:
        worst = max(STEP**2 / 24, *(_chord_error(shapes[n - 1]) for n in rows if kinds[n - 1] == "SPLINE"), 0.0)
        message = (
            f"{len(rows)} row(s) hold arcs or curves: they were turned into chords of at most {np.degrees(STEP):.0f} degrees. "
            f"No length is off by more than {worst * 100:.2f} % (0.1 % is tolerated)."
        )
        severity = "note" if worst <= 0.001 else "warning"
        fix = "" if worst <= 0.001 else "Ask for the splines as polylines with more vertices."
        yield Finding("curves_linearised", severity, message, fix, rows=rows)


def _chord_error(wkb: bytes | None) -> float:
    """Share of its length that a smooth curve loses by its chords: angle² / 24 at each turn, by the chords beside it."""
    xy = shapely.get_coordinates(shapely.from_wkb(wkb)) if wkb is not None else np.empty((0, 2))
    steps = np.diff(xy, axis=0)
    lengths = np.hypot(*steps.T) if len(steps) else np.zeros(0)
    steps, lengths = steps[lengths > 0], lengths[lengths > 0]
    if len(steps) < 2:
        return 0.0
    turn = np.abs(np.diff(np.unwrap(np.arctan2(steps[:, 1], steps[:, 0]))))
    return float((turn**2 / 24 * (lengths[1:] + lengths[:-1]) / 2).sum() / lengths.sum())


def _file_findings(tags: Tags, encoding: str, columns: dict[str, list], paper: int) -> Iterator[Finding]:
    if paper:
        message = f"{paper} entities stand in paper space (title block, frame, legend): they are left out."
        yield Finding("dxf_paper_space", "note", message, "If the network is drawn there, ask for it in model space.")
    used = Counter(b for b in columns["BlockName"] if b is not None)
    lines = {_clean(name.decode(encoding, "replace")): n for name, n in tags.blocks.items()}
    with_lines = [b for b in used if lines.get(_clean(b), 0)]
    if with_lines:
        shown = ", ".join(f"{_clean(b)} ({used[b]} ×, {lines[_clean(b)]} lines)" for b in with_lines[:5])
        more = " …" if len(with_lines) > 5 else ""
        message = (
            f"{len(with_lines)} block(s) are drawn of lines ({shown}{more}): each insert is one point, its lines aren't "
            "network."
        )
        fix = "If a block holds the network itself, ask for the drawing with that block exploded."
        yield Finding("dxf_blocks", "note", message, fix)


def _middle(sheets: dict[str, Sheet]) -> tuple[float, float] | None:
    """Median of the coordinates where lines begin, in the drawing's own unit."""
    lines = [w for s in sheets.values() for w in s.drawn if w is not None and _code(w) == 2][:2000]
    xy = shapely.get_coordinates(shapely.from_wkb(lines, on_invalid="ignore"))
    xy = xy[np.isfinite(xy).all(axis=1)]
    return (float(np.median(xy[:, 0])), float(np.median(xy[:, 1]))) if len(xy) else None
