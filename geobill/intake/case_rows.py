"""Decisions that somebody typed into the layer ``cases`` of a GeoPackage, as raw rows: only those in which anything was typed.

The file is somebody's: it is only read, its text stays text, and a layer that isn't a plain table is refused, since a view
may go on for ever.
"""

import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyogrio

from geobill.errors import InputError
from geobill.intake.formats.geopackage import GeoPackage
from geobill.intake.formats.sqlite import opened
from geobill.intake.source import SourceLayer, open_source, unreadable

LAYER = "cases"
FINDING, VERSION, DECISION, REASON, WHO, OPERATOR, OPERATOR_READ, NOTE = COLUMNS = (
    "achado", "versao", "decisao", "motivo", "responsavel", "operadora", "operadora_lida", "nota",
)  # fmt: skip
BATCH, MOST_ROWS = 1 << 16, 2_000_000


@dataclass(frozen=True)
class CaseRow:
    """A row as it was typed: its ``fid`` in the layer, its text by column (None where blank), ``version`` as it came."""

    fid: int
    text: dict[str, str | None]
    version: Any


@dataclass(frozen=True)
class CaseRows:
    """Rows of a file in which something was typed; ``read`` counts all of them."""

    sha256: str
    read: int
    rows: tuple[CaseRow, ...]


def read_case_rows(path: Path) -> CaseRows:
    """Read the rows of ``cases`` in which a decision, a reason, an operator or a note was typed.

    Raises
    ------
    InputError
        If the file is none, isn't a GeoPackage, is broken, or lacks the layer or one of its columns; if the layer is a view
        or has more than `MOST_ROWS` rows.
    """
    with open_source(path) as source:
        layer = _layer(path, source.layers)
        rows, read = [], 0
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                reader = pyogrio.open_arrow(
                    layer.dataset.path, layer=layer.inner, columns=list(COLUMNS), read_geometry=False, return_fids=True,
                    batch_size=BATCH, use_pyarrow=True,
                )  # fmt: skip
            with reader as (meta, batches):
                _check_columns(path, batches.schema)
                for batch in batches:
                    read += batch.num_rows
                    if read > MOST_ROWS:
                        raise InputError(
                            f"The layer {LAYER} of {path.name} has over {MOST_ROWS} rows: no review has so many. Nothing was changed."
                        )
                    rows += _typed(batch, meta.get("fid_column") or batch.schema.names[0])
        except Exception as e:  # any library's error about somebody's file is a message about the file
            raise unreadable(f"layer {LAYER} of {path.name}", e) from e
        return CaseRows(source.sha256, read, tuple(rows))


def layer_names(path: Path) -> frozenset[str]:
    """Names of the layers of a GeoPackage; none where a file isn't one, or can't be read."""
    try:
        with open_source(path) as source:
            return frozenset(one.inner for one in source.layers if isinstance(one.dataset.format, GeoPackage))
    except InputError:
        return frozenset()


def _layer(path: Path, layers: tuple[SourceLayer, ...]) -> SourceLayer:
    found = [one for one in layers if one.inner == LAYER and isinstance(one.dataset.format, GeoPackage)]
    if len(found) != 1:
        raise InputError(
            f"{path.name} has no layer {LAYER} that geobill wrote (it has {', '.join(one.name for one in layers[:10])}). Nothing was "
            "changed. Name the GeoPackage of geobill qgis or geobill detect --out."
        )
    with opened(found[0].dataset.path) as database:
        kinds = database.execute("SELECT type FROM sqlite_master WHERE lower(name) = ?", (LAYER,)).fetchall()
    if kinds != [("table",)]:
        raise InputError(
            f"The layer {LAYER} of {path.name} is a view, and not the table that geobill wrote: what it shows may come from "
            "anywhere. Nothing was changed. Type the decisions into the file of geobill qgis."
        )
    return found[0]


def _check_columns(path: Path, schema: pa.Schema) -> None:
    missing = [c for c in COLUMNS if c not in schema.names]
    if missing:
        raise InputError(
            f"The layer {LAYER} of {path.name} lacks the column(s) {', '.join(missing)}: decisions can't be told from what was "
            "there before. Nothing was changed. Write the file again with geobill qgis, and type the decisions into it."
        )
    odd = [c for c in COLUMNS if c != VERSION and not _is_text(schema.field(c).type)]
    if odd:
        raise InputError(
            f"The column(s) {', '.join(odd)} of the layer {LAYER} of {path.name} hold no text. Nothing was changed. Write the file "
            "again with geobill qgis, and type the decisions into it."
        )


def _is_text(kind: pa.DataType) -> bool:
    return pa.types.is_string(kind) or pa.types.is_large_string(kind)


def _typed(batch: pa.RecordBatch, fid: str) -> list[CaseRow]:
    columns = {name: batch.column(name).to_pylist() for name in (fid, *COLUMNS)}
    found = []
    for at in range(batch.num_rows):
        text = {name: _blank(columns[name][at]) for name in COLUMNS if name != VERSION}
        if text[DECISION] or text[REASON] or text[NOTE] or text[OPERATOR] != text[OPERATOR_READ]:
            found.append(CaseRow(int(columns[fid][at]), text, columns[VERSION][at]))
    return found


def _blank(value: str | None) -> str | None:
    """Return a text without the space around it; None for nothing but space."""
    return None if value is None or not value.strip() else value.strip()
