"""Rows that were set aside, for those who can put them right: a GeoPackage for QGIS and a workbook that an operator answers.

Both have the file's own columns under their own names, to be corrected in place; whatever geobill adds has a name that begins
with ``geobill_``. An amended file is told by these names, and read back by them (`geobill.pipeline.amend`).
"""

import sqlite3
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import Any

import geopandas as gpd
import numpy as np
import pyarrow as pa
import pyogrio
import shapely
import xlsxwriter

from geobill.documents import qml
from geobill.documents.gpkg_form import finish
from geobill.documents.quarantine_words import LONG_GEOMETRY, LONG_TEXT, README, README_OF_A_MAP, TITLES, reason_words

BATCH, LAYER, ROW, ID = "geobill_batch", "geobill_layer", "geobill_row", "geobill_id"
CODE, REASON, WORDS, ADVICE = "geobill_reason_code", "geobill_reason", "geobill_motivo", "geobill_o_que_fazer"
WKT, OURS = "geobill_wkt", "geobill_"
HIDDEN = (CODE, REASON)  # in the workbook: they are in English
RESERVED = ("fid", "geom")  # the GeoPackage's own columns
SHEET, README_SHEET = "Linhas", "Leia-me"
NO_GEOMETRY = "sem_geometria"
# layers by the very type of geometry: what was drawn as one part stays so
LAYERS: Mapping[int, tuple[str, str, str]] = {
    0: ("pontos", "Point", "marker"),
    1: ("linhas", "LineString", "line"),
    3: ("poligonos", "Polygon", "fill"),
    4: ("multipontos", "MultiPoint", "marker"),
    5: ("multilinhas", "MultiLineString", "line"),
    6: ("multipoligonos", "MultiPolygon", "fill"),
    7: ("colecoes", "GeometryCollection", ""),
}
LAYER_NAMES: frozenset[str] = frozenset({NO_GEOMETRY, *(name for name, _, _ in LAYERS.values())})
MOST_TEXT, MOST_ROWS = 32_767, 1_048_575  # what a cell and a sheet of a workbook hold (ECMA-376; Excel's limits)
MOST_COLUMNS = 16_384
RED, GREY, PAPER = "#c03a2b", "#6b6b6b", "#fff7df"
SAMPLE, WIDEST = 200, 45  # rows that set the width of a column; characters
WIDTHS = {WORDS: 34, ADVICE: 45, WKT: 30}  # of columns that don't depend on the rows
GUIDE_WIDTH, LINE_HEIGHT = 110, 15  # characters; points
PAPER_A4 = 9


@dataclass(frozen=True)
class Quarantine:
    """What is set aside of a batch: its rows by `geobill.frames.ASIDE`, and what is said of them.

    ``columns`` are the file's own columns in their order, of all layers; ``keys`` tells which of them holds what (key to
    column), where it was mapped. ``crs`` is the workspace's system, ``EPSG:n``; ``moment`` UTC, ISO text with Z. ``kind`` is
    that of the batch: a value map (``land_values``) isn't answered but put right and imported anew.
    """

    batch: str
    file: str
    operator: str
    rows: gpd.GeoDataFrame
    columns: Sequence[str]
    crs: str
    moment: str
    keys: Mapping[str, str] = field(default_factory=dict)
    kind: str = "network"

    @property
    def of_a_map(self) -> bool:
        """Whether the rows are those of a value map."""
        return self.kind == "land_values"

    @property
    def names(self) -> dict[str, str]:
        """Return the name under which each of the file's columns is written."""
        return written_names(self.columns)


def written_names(columns: Iterable[str]) -> dict[str, str]:
    """Names for a file's columns that a GeoPackage and a sheet both bear: told apart whatever the case, none blank, none ours.

    None looks like data either.

    Columns that begin with ``geobill_`` came from an earlier quarantine and are left out.

    Examples
    --------
    >>> written_names(["id", "ID", "", "fid", "geobill_row"])
    {'id': 'id', 'ID': 'ID_2', '': 'coluna', 'fid': 'fid_2'}
    """
    taken, names = set(RESERVED), {}
    for column in columns:
        if column.casefold().startswith(OURS):
            continue
        stem = " ".join(column.split()) or "coluna"
        if not any(sign.isalpha() for sign in stem):  # a name of digits alone would be taken for data
            stem = f"coluna {stem}"
        n, name = 1, stem
        while name.casefold() in taken:
            n += 1
            name = f"{stem}_{n}"
        taken.add(name.casefold())
        names[column] = name
    return names


def wkt_text(geometry: Any) -> str | None:
    """Return a geometry as a cell shows it, to the micrometre; None where there is none or no number in it."""
    if geometry is None or shapely.is_empty(geometry) or not np.isfinite(shapely.get_coordinates(geometry)).all():
        return None
    text = shapely.to_wkt(geometry, rounding_precision=6, trim=True)
    return text if len(text) <= MOST_TEXT else LONG_GEOMETRY


# -- for QGIS


def quarantine_gpkg(quarantine: Quarantine) -> bytes:
    """Write the rows as a GeoPackage: a layer for each type of geometry, a table for what has none, with styles and titles."""
    rows = quarantine.rows
    kinds = shapely.get_type_id(rows.geometry.to_numpy())
    missing = shapely.is_missing(rows.geometry.to_numpy()) | shapely.is_empty(rows.geometry.to_numpy())
    titles = {name: TITLES.get(name, name) for name in _ours()}
    with tempfile.TemporaryDirectory(prefix="geobill-") as folder:
        path, styles = Path(folder) / "quarentena.gpkg", []
        parts = [(~missing & (np.isin(kinds, same)), *LAYERS[same[0]]) for same in ([k] for k in LAYERS)]
        for where, name, kind, drawn in (*parts, (missing, NO_GEOMETRY, "", "")):
            if not where.any() and not (name == NO_GEOMETRY and not styles):
                continue
            _add_layer(path, name, kind, _table(quarantine, np.flatnonzero(where), bool(kind)), quarantine)
            styles.append((name, f"Quarentena do lote {quarantine.batch}: {name}", _style(drawn, titles), titles))
        with closing(sqlite3.connect(path, isolation_level=None)) as database:
            finish(database, styles, quarantine.moment.replace("Z", ".000Z"))
        return path.read_bytes()


def _ours() -> tuple[str, ...]:
    return (BATCH, LAYER, ROW, ID, CODE, REASON, WORDS, ADVICE)


def _add_layer(path: Path, name: str, kind: str, table: pa.Table, quarantine: Quarantine) -> None:
    drawn = {"geometry_name": "geom", "crs": quarantine.crs, "geometry_type": kind} if kind else {}
    options = {"FID": "fid", "IDENTIFIER": name, "DESCRIPTION": f"Lote {quarantine.batch}: {quarantine.file}"}
    pyogrio.write_arrow(
        table, path, layer=name, driver="GPKG", append=path.exists(),
        dataset_options={} if path.exists() else {"VERSION": "1.3"},
        layer_options={**options, **({"GEOMETRY_NAME": "geom", "SPATIAL_INDEX": "YES"} if kind else {})}, **drawn,
    )  # fmt: skip


def _table(quarantine: Quarantine, at: np.ndarray, drawn: bool) -> pa.Table:
    rows, columns = quarantine.rows.iloc[at], {}
    said = [_said(quarantine, row) for row in rows.itertuples(index=False)]
    for name in _ours():
        columns[name] = pa.array([one[name] for one in said], pa.int64() if name == ROW else pa.string())
    for column, name in quarantine.names.items():
        columns[name] = pa.array([(own or {}).get(column) for own in rows["columns"]], pa.string())
    if drawn:
        columns["geom"] = pa.array(list(shapely.to_wkb(rows.geometry.to_numpy())), pa.binary())
    return pa.table(columns)


def _style(drawn: str, titles: Mapping[str, str]) -> str:
    symbols = {
        "marker": qml.mark("diamond", RED, "#ffffff", "3.2"),
        "line": qml.line(qml.stroke("#ffffffd0", 1.5), qml.stroke(RED, 0.8, (2, 0.8))),
        "fill": qml.Symbol("fill", (qml.fill(RED + "40", RED, 0.5),)),
    }
    if not drawn:
        return ""
    labels = qml.Labels(f'"{ROW}" || \': \' || "{CODE}"', 5000, 7.5, RED, along_lines=drawn == "line")
    return qml.style(qml.single(symbols[drawn]), drawn, titles, labels, f'"{ID}"')


def _said(quarantine: Quarantine, row: Any) -> dict[str, Any]:
    words, advice = reason_words(row.reason_code, quarantine.keys, row.reason or "", of_a_map=quarantine.of_a_map)
    return {
        BATCH: quarantine.batch,
        LAYER: row.layer,
        ROW: int(row.row),
        ID: row.id,
        CODE: row.reason_code,
        REASON: row.reason,
        WORDS: words,
        ADVICE: advice,
    }


# -- for the operator


def quarantine_xlsx(quarantine: Quarantine) -> bytes:
    """Write the rows as a workbook that an operator answers: one sheet on how, one of rows (more only beyond a sheet's end).

    Why and what to do stand first, then what tells a row, then the file's own columns; what is in English is hidden.

    Every cell is text exactly as the file had it, never a formula; only the row's number is a number. What is too long for a cell
    is named, and stays as it was.
    """
    names = quarantine.names
    before, after = (WORDS, ADVICE, BATCH, LAYER, ROW, ID), (WKT, *HIDDEN)
    header = (*before, *names.values(), *after)
    if len(header) > MOST_COLUMNS:
        kept = MOST_COLUMNS - len(before) - len(after)
        names = dict(list(names.items())[:kept])
        header = (*before, *names.values(), *after)
    out = BytesIO()
    with xlsxwriter.Workbook(out, {"constant_memory": True, "strings_to_formulas": False}) as book:
        looks = _looks(book)
        guide = book.add_worksheet(README_SHEET)  # what is opened first
        _write_readme(guide, looks, quarantine)
        guide.activate()
        for first in range(0, max(1, len(quarantine.rows)), MOST_ROWS):
            rows = quarantine.rows.iloc[first : first + MOST_ROWS]
            sheet = book.add_worksheet(SHEET if not first else f"{SHEET} {first // MOST_ROWS + 1}")
            _write_sheet(sheet, looks, quarantine, rows, names, header)
        book.set_properties({"title": f"Linhas a corrigir do lote {quarantine.batch}"})
    return out.getvalue()


def _looks(book: Any) -> dict[str, Any]:
    plain = {"valign": "top", "num_format": "@"}
    return {
        "head": book.add_format({"bold": True, "font_color": "#ffffff", "bg_color": GREY, "valign": "top"}),
        "head_own": book.add_format({"bold": True, "bg_color": "#f2c94c", "valign": "top"}),
        "said": book.add_format({**plain, "font_color": GREY}),
        "number": book.add_format({"valign": "top", "align": "left", "font_color": GREY}),
        "wrapped": book.add_format({**plain, "text_wrap": True}),
        "own": book.add_format({**plain, "bg_color": PAPER}),
        "title": book.add_format({"bold": True, "font_size": 14}),
        "text": book.add_format({"text_wrap": True, "valign": "top"}),
    }


def _write_sheet(
    sheet: Any,
    looks: Mapping[str, Any],
    quarantine: Quarantine,
    rows: gpd.GeoDataFrame,
    names: Mapping[str, str],
    header: Sequence[str],
) -> None:
    own = {*names.values(), WKT}
    widths = [WIDTHS.get(name, min(WIDEST, len(name) + 3)) for name in header]
    for at, name in enumerate(header):
        sheet.write_string(0, at, name, looks["head_own" if name in own else "head"])
    for number, row in enumerate(rows.itertuples(index=False), 1):
        said, kept = _said(quarantine, row), row.columns or {}
        shape = wkt_text(row.geometry)
        if (lines := max(_lines(said[name], WIDTHS[name]) for name in (WORDS, ADVICE))) > 1:
            sheet.set_row(number, lines * LINE_HEIGHT)
        cells = {**said, **{name: kept.get(column) for column, name in names.items()}, WKT: shape}
        for at, name in enumerate(header):
            value = cells[name]
            look = looks["own" if name in own else "wrapped" if name in (WORDS, ADVICE) else "said"]
            if name == ROW:
                sheet.write_number(number, at, value, looks["number"])
            elif value is None or value == "":
                sheet.write_blank(number, at, None, look)
            else:
                sheet.write_string(number, at, value if len(value) <= MOST_TEXT else LONG_TEXT, look)
            if number <= SAMPLE and value is not None and name not in WIDTHS:
                widths[at] = min(WIDEST, max(widths[at], len(str(value)) + 2))
    for at, (name, width) in enumerate(zip(header, widths, strict=True)):
        sheet.set_column(at, at, width, None, {"hidden": True} if name in HIDDEN else None)
    sheet.freeze_panes(1, 2)
    sheet.set_landscape()
    sheet.set_paper(PAPER_A4)
    sheet.fit_to_pages(1, 0)  # as wide as a page, as long as it takes
    sheet.repeat_rows(0)
    sheet.autofilter(0, 0, max(1, len(rows)), len(header) - 1)


def _write_readme(sheet: Any, looks: Mapping[str, Any], quarantine: Quarantine) -> None:
    sheet.set_column(0, 0, GUIDE_WIDTH)
    sheet.write_string(0, 0, f"Linhas a corrigir: {quarantine.file}", looks["title"])
    sheet.set_landscape()
    sheet.set_paper(PAPER_A4)
    sheet.fit_to_pages(1, 0)
    facts = {
        "batch": quarantine.batch,
        "file": quarantine.file,
        "operator": quarantine.operator or "(a da coluna de operadora)",
        "rows": len(quarantine.rows),
        "crs": quarantine.crs,
    }
    for number, line in enumerate(README_OF_A_MAP if quarantine.of_a_map else README, 2):
        text = line.format(**facts)
        sheet.set_row(number, _lines(text, GUIDE_WIDTH) * LINE_HEIGHT)
        sheet.write_string(number, 0, text, looks["text"])


def _lines(text: str, width: int) -> int:
    """Count the lines that a wrapped text takes in a column, a little too many rather than one too few.

    A workbook holds the height of its rows: no program works it out when it opens one that was written row by row.
    """
    return max(1, -(-len(text) // max(1, int(width * 0.9))))
