"""Tables of text as maps: names of columns, and the geometry in them, as WKT, well-known binary or x and y."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import shapely

from geobill.domain.finding import Finding
from geobill.errors import InputError
from geobill.intake.columns import fold
from geobill.intake.value_columns import read_numbers
from geobill.intake.values import is_blank

UNBUILT = b"?"  # stands for a geometry that is there and can't be read: no well-known binary begins so
_WKT = re.compile(
    r"\s*(SRID=(\d+)\s*;)?\s*(?:(?:MULTI)?(?:POINT|LINESTRING|POLYGON|CURVE|SURFACE)|GEOMETRYCOLLECTION|CIRCULARSTRING|"
    r"COMPOUNDCURVE|CURVEPOLYGON|POLYHEDRALSURFACE|TIN|TRIANGLE)\s*(?:Z|M|ZM)?\s*(?:\(|EMPTY)",
    re.IGNORECASE,
)
_HEX = re.compile(r"\s*(?:\\x)?0[01](?:[0-9A-Fa-f]{2}){8,}\s*")
_NUMBER = re.compile(r"[+-]?\d*[.,]\d+")
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}.*|\d{1,2}/\d{1,2}/\d{2,4}.*")
_USUAL = (
    "geom",
    "geometry",
    "thegeom",
    "wkt",
    "wkb",
    "ewkt",
    "wkbgeometry",
    "wktgeom",
    "geomwkt",
    "geometria",
    "shape",
)
# usual names of the two columns of a point, folded; the first pair that is there counts
PAIRS = (
    ("x", "y"), ("coordx", "coordy"), ("xcoord", "ycoord"), ("coordenadax", "coordenaday"), ("pointx", "pointy"),
    ("utmx", "utmy"), ("xutm", "yutm"), ("utme", "utmn"), ("eutm", "nutm"), ("utmeste", "utmnorte"), ("utmleste", "utmnorte"),
    ("este", "norte"), ("leste", "norte"), ("coorde", "coordn"), ("coordeste", "coordnorte"), ("easting", "northing"),
    ("e", "n"), ("longitude", "latitude"), ("lon", "lat"), ("long", "lat"), ("lng", "lat"), ("xlong", "ylat"),
)  # fmt: skip


@dataclass(frozen=True)
class Drawing:
    """Where a table's geometry stands: one column of text (``kind`` "wkt" or "wkb"), or two of coordinates ("xy")."""

    kind: str
    columns: tuple[int, ...]


def check_header(cells: Sequence[str], where: str) -> None:
    """Refuse a first row that is no row of names."""
    data = looks_like_data(cells)
    if data is not None:
        raise InputError(
            f"{where} should have the names of the columns, but it has data in it ({data[:40]!r}). Without names nobody knows "
            "which column is the width: write a row of names above the data."
        )


def looks_like_data(cells: Sequence[str]) -> str | None:
    """Return the cell that shows that a row isn't one of names: a geometry, a date, decimals, or no letter in any."""
    said = [c.strip() for c in cells if c.strip()]
    for cell in said:
        if _NUMBER.fullmatch(cell) or _DAY.fullmatch(cell) or _WKT.match(cell) or _HEX.fullmatch(cell):
            return cell
    return said[0] if said and not any(sign.isalpha() for cell in said for sign in cell) else None


def find_header(rows: Sequence[Sequence[object]]) -> int:
    """Index of the row of names: the first with two cells filled, since what stands alone above a table is its title."""
    return next((at for at, row in enumerate(rows) if sum(not is_blank(c) for c in row) > 1), 0)


def titles_finding(rows: Sequence[Sequence[object]]) -> Finding:
    """Say which rows above the names were taken for a title."""
    said = "; ".join(str(c).strip() for row in rows for c in row if not is_blank(c))
    message = f"{len(rows)} row(s) above the names of the columns were left out as a title: {said[:100]!r}."
    return Finding("title_rows_skipped", "note", message)


def name_columns(cells: Sequence[str], sample: Sequence[Sequence[object]]) -> tuple[list[str], list[Finding]]:
    """Give each column a name of its own, and say where it had none or shared it; no column takes another's name.

    Returns
    -------
    list of str, list of Finding
        ``largura`` twice becomes ``largura_1`` and ``largura_2``. A blank name becomes ``column_3`` where the sample has
        values below it, else it stays blank: most likely there is no column.
    """
    given, findings = [c.strip() for c in cells], []
    empty = [not cell and all(is_blank(row[at]) for row in sample) for at, cell in enumerate(given)]
    names, taken = [], set(given)
    repeated = {c: 0 for c in given if c and given.count(c) > 1}
    for at, cell in enumerate(given, 1):
        if empty[at - 1]:
            names.append("")
            continue
        name = cell or f"column_{at}"
        if cell in repeated:
            repeated[cell] += 1
            name = f"{cell}_{repeated[cell]}"
        while (name in taken and name != cell) or name in names:
            name = f"{name}_"
        names.append(name)
    unnamed = [n for n, cell in zip(names, given, strict=True) if n and not cell]
    if unnamed:
        message = f"{len(unnamed)} column(s) have no name: they are called {', '.join(unnamed[:5])} by their place."
        findings.append(Finding("column_unnamed", "warning", message, "Ask what they hold before you map one."))
    for cell in repeated:
        own = [n for n, c in zip(names, given, strict=True) if c == cell]
        message = f"{len(own)} columns are called {cell!r}: they are told apart as {', '.join(own)}."
        findings.append(Finding("column_repeated", "warning", message, "Say which is meant with --map KEY=COLUMN."))
    return names, findings


def find_drawing(names: Sequence[str], sample: Sequence[Sequence[object]], where: str) -> Drawing | None:
    """Find the geometry by what the first rows hold, and by usual names; None for a table without one.

    Raises
    ------
    InputError
        If several columns hold geometry and none, or more than one, has a usual name.
    """
    kinds = {}
    for at in range(len(names)):
        texts = [str(row[at]) for row in sample if at < len(row) and not is_blank(row[at])]
        for kind, form in (("wkt", _WKT.match), ("wkb", _HEX.fullmatch)):
            fitting = sum(bool(form(t)) for t in texts)
            if fitting > len(texts) / 2 or (fitting and fold(names[at]) in _USUAL):
                kinds[at] = kind
    chosen = [at for at in kinds if fold(names[at]) in _USUAL] if len(kinds) > 1 else list(kinds)
    if len(chosen) == 1:
        return Drawing(kinds[chosen[0]], (chosen[0],))
    if kinds:
        shown = ", ".join(names[at] for at in kinds)
        raise InputError(
            f"{where} has geometry in {len(kinds)} columns ({shown}): nobody can tell which of them is to be charged. Keep only "
            "one of them."
        )
    folded = [fold(n) for n in names]
    for x, y in PAIRS:
        if folded.count(x) == 1 and folded.count(y) == 1:
            return Drawing("xy", (folded.index(x), folded.index(y)))
    return None


def draw(
    drawing: Drawing, names: Sequence[str], columns: Sequence[Sequence[object]], where: str
) -> tuple[np.ndarray, str | None]:
    """Build a table's geometry.

    Parameters
    ----------
    drawing : Drawing
    names : sequence of str
        Of all columns.
    columns : sequence of sequence
        Values of the columns of ``drawing``.

    Returns
    -------
    numpy.ndarray of object, str or None
        Well-known binary, None where there is nothing, `UNBUILT` where there is something that can't be read; the system
        by the SRID in the text.

    Raises
    ------
    InputError
        If rows are in different systems.
    """
    if drawing.kind == "xy":
        return _points(drawing, names, columns), None
    plain = _all_plain(columns[0]) if drawing.kind == "wkt" else None
    if plain is not None:
        return plain, None
    out, srids = np.full(len(columns[0]), None, dtype=object), set()
    for row, value in enumerate(columns[0]):
        if is_blank(value):
            continue
        out[row], srid = _bytes(str(value), drawing.kind)
        if out[row] is not UNBUILT:
            srids.add(srid)
    if len(srids) > 1:
        shown = ", ".join(f"SRID {s}" if s else "no SRID" for s in sorted(srids))
        raise InputError(
            f"{where} has rows in different coordinate systems ({shown}): it would be read in one of them, and the others "
            "would lie elsewhere. Ask for one file for each."
        )
    srid = next(iter(srids), 0)
    return out, f"EPSG:{srid}" if srid else None


def _all_plain(values: Sequence[object]) -> np.ndarray | None:
    """Well-known binary of all rows in one go; None where one has an SRID or can't be read, so each must be looked at."""
    texts = np.array([None if is_blank(v) else str(v) for v in values], dtype=object)
    if any(t is not None and (said := _WKT.match(t)) and said[1] for t in texts):
        return None
    try:
        return shapely.to_wkb(shapely.from_wkt(texts))
    except (
        shapely.errors.GEOSException,
        NotImplementedError,
    ):  # no text of a geometry; an arc, which shapely can't hold
        return None


def _bytes(text: str, kind: str) -> tuple[bytes, int]:
    """Well-known binary of one geometry and its SRID (0: none)."""
    srid = 0
    try:
        if kind == "wkb":
            raw = bytes.fromhex(text.strip().removeprefix("\\x"))
            little = raw[0] == 1
            head = int.from_bytes(raw[1:5], "little" if little else "big")
            if head & 0x20000000:  # extended well-known binary: the SRID follows the type
                srid = int.from_bytes(raw[5:9], "little" if little else "big")
                raw = raw[:1] + (head & ~0x20000000).to_bytes(4, "little" if little else "big") + raw[9:]
            return raw, srid
        said = _WKT.match(text)
        if said and said[1]:
            srid, text = int(said[2]), text[said.end(1) :]
        return shapely.to_wkb(shapely.from_wkt(text)), srid
    except (shapely.errors.GEOSException, ValueError, IndexError, NotImplementedError):  # the same, or hex cut short
        return UNBUILT, srid


def _points(drawing: Drawing, names: Sequence[str], columns: Sequence[Sequence[object]]) -> np.ndarray:
    one = pd.Series([*columns[0], *columns[1]], dtype=object)  # together: "7.416.123" tells what "322.123" is
    x, y = np.split(read_numbers(one, " and ".join(names[at] for at in drawing.columns)).values, 2)
    out = np.full(len(columns[0]), None, dtype=object)
    both = np.array([a is not None and b is not None for a, b in zip(x, y, strict=True)], dtype=bool)
    said = np.array([not (is_blank(a) and is_blank(b)) for a, b in zip(*columns, strict=True)], dtype=bool)
    out[said] = UNBUILT
    if both.any():
        xy = np.array([[float(a), float(b)] for a, b in zip(x[both], y[both], strict=True)])
        out[both] = shapely.to_wkb(shapely.points(xy))
    return out


def drawing_finding(drawing: Drawing, names: Sequence[str]) -> Finding:
    """Say where the geometry was found."""
    used = [names[at] for at in drawing.columns]
    if drawing.kind != "xy":
        return Finding("geometry_from_text", "note", f"The geometry was read from the text of {used[0]}.")
    folded = {fold(n): n for n in names}
    others = [f"{folded[x]}/{folded[y]}" for x, y in PAIRS if x in folded and y in folded and folded[x] != used[0]]
    beside = f" {', '.join(others)} would be another place to look." if others else ""
    message = f"Points were drawn from the columns {used[0]} and {used[1]}.{beside}"
    return Finding(
        "geometry_from_xy", "note", message, "Lines can't come from x and y: ask for WKT where lengths count."
    )
