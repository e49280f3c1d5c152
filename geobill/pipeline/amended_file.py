"""Corrected rows as they come back: each found in its batch's quarantine, and made ready to be read as it was meant there."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import geopandas as gpd
import numpy as np
import pandas as pd
import shapely
from pyproj import CRS

from geobill.documents.quarantine import (
    BATCH,
    ID,
    LAYER,
    LAYER_NAMES,
    OURS,
    RESERVED,
    ROW,
    SHEET,
    WKT,
    wkt_text,
    written_names,
)
from geobill.documents.quarantine_words import LONG_GEOMETRY, LONG_TEXT
from geobill.domain.finding import Finding
from geobill.domain.network import Municipality
from geobill.errors import InputError
from geobill.intake.columns import fold, matching_columns
from geobill.intake.formats.csv import CSV
from geobill.intake.formats.xlsx import XLSX
from geobill.intake.ground import inside
from geobill.intake.reader import Layer
from geobill.intake.reading import Options, Part
from geobill.intake.source import SourceLayer
from geobill.intake.tables import PAIRS
from geobill.intake.values import read_column, read_text

NAMED = 5  # of many faults, in one message
TABLES = (CSV.name, XLSX.name)


@dataclass(frozen=True)
class Asked:
    """What is asked of the rows that come back: the batch, its rows by layer and row, which are open, which were answered.

    ``open`` is by `geobill.frames.ASIDE`; ``places`` tells layer and row in it to row in the batch and id, ``answers`` row in
    the batch to the amendment that answered it. ``columns`` are the file's own. ``format`` is that of the batch's file.
    """

    batch: str
    open: gpd.GeoDataFrame
    places: Mapping[tuple[str, int], tuple[int, str]]
    answers: Mapping[int, str]
    columns: Sequence[str]
    format: str

    @property
    def layers(self) -> list[str]:
        """Layers in the order in which they were read."""
        return list(dict.fromkeys(layer for layer, _ in self.places))


def pick_layers(path_name: str) -> Callable[[Sequence[SourceLayer]], Sequence[SourceLayer]]:
    """Make the choice among a file's layers: those that a quarantine has, else the only one."""

    def choose(layers: Sequence[SourceLayer]) -> Sequence[SourceLayer]:
        ours = [one for one in layers if one.name in LAYER_NAMES or one.name.split(" ")[0] == SHEET]
        chosen = ours or [one for one in layers if len(layers) == 1 or one.has_geometry]
        if not ours and len(chosen) != 1:
            raise InputError(
                f"{path_name} has {len(layers)} layers and none was named: {', '.join(one.name for one in layers)}. Nothing was "
                "changed. Choose with --layer NAME."
            )
        return chosen

    return choose


def amended_parts(
    sent: Sequence[Layer],
    asked: Asked,
    options: Mapping[str, Options],
    given: Options,
    id_key: str,
    place: Municipality,
) -> tuple[tuple[Part, ...], np.ndarray]:
    """Match the rows of a file with those that are set aside, and join both: the file's values, else those kept.

    Parameters
    ----------
    sent : sequence of Layer
        As the file has them.
    asked : Asked
    options : mapping of str to Options
        How each layer of the batch is read now: as it was, save for what the user says.
    given : Options
        What the user says.
    id_key : str
        ``segment`` or ``equipment``.
    place : Municipality
        Whose system geometry is kept in, and a quarantine's files are in. A row that lies outside of it and isn't drawn anew
        counts as not sent: it stays as it is.

    Returns
    -------
    tuple of Part, array of int
        Parts by layer of the batch; for each row of them, in their order, its row in the batch.

    Raises
    ------
    InputError
        If a row isn't of this quarantine, was answered already, or comes twice: the whole file is refused, the rows are named.
    """
    faults: list[str] = []
    matches = [_match(layer, asked, options, id_key, faults) for layer in sent]
    seen: dict[int, tuple[str, int]] = {}
    for layer, found in zip(sent, matches, strict=True):
        for at, row in found:
            if row in seen:
                other, number = seen[row]
                faults.append(
                    f"row {at + 1} of {layer.name} and row {number} of {other} are the same row of {asked.batch}"
                )
            seen[row] = layer.name, at + 1
    if faults:
        raise InputError(
            f"{sent[0].path.name} can't amend {asked.batch}: {_some(faults)}. A row that is taken for another "
            "would be charged as that. Nothing was changed. Send only rows of its quarantine, each once (geobill batch quarantine "
            f"{asked.batch})."
        )
    if not seen:
        raise InputError(f"{sent[0].path.name} has no row: nothing was answered, and nothing was changed.")
    parts, rows, layers = [], [], asked.open["layer"].to_numpy()
    for name in asked.layers:
        for layer, found in zip(sent, matches, strict=True):
            mine = [(at, row) for at, row in found if layers[row] == name]
            for part, where in _parts(layer, mine, name, asked, options.get(name, given), given, place):
                parts.append(part)
                rows.append(where)
    if not parts:
        raise InputError(
            f"{sent[0].path.name} draws no row of {asked.batch} anew, and all it has lie outside {place.name}: nothing was changed."
        )
    return tuple(parts), np.concatenate(rows)


# -- which row is meant


def _match(
    layer: Layer, asked: Asked, options: Mapping[str, Options], id_key: str, faults: list[str]
) -> list[tuple[int, int]]:
    """Positions in a layer's frame, each with the position in ``asked.open``; what can't be matched is told in ``faults``."""
    frame = layer.frame
    texts = {name: _texts(frame, name) for name in (BATCH, LAYER, ROW, ID) if name in frame.columns}
    at_of = {int(n): at for at, n in enumerate(asked.open["source_row"])}
    if ROW in texts:
        key_of, by_id = None, {}
        own, ids = _own_ids(layer, options, id_key), {id_ for _, id_ in asked.places.values()}
    else:
        own, ids = None, set()
        key_of, by_id = _by_id(layer, asked, options, id_key)
    found, drawn = [], frame.geometry.to_numpy()
    empty = frame.drop(columns="geometry").isna().all(axis=1).to_numpy() & (
        shapely.is_missing(drawn) | shapely.is_empty(drawn)
    )
    for at in np.flatnonzero(~empty).tolist():
        here = f"row {at + 1} of {layer.name}"
        said = {name: values[at] for name, values in texts.items()}
        if said.get(BATCH) not in (None, asked.batch):
            faults.append(f"{here} is of the batch {said[BATCH]}")
            continue
        place = _place(said, asked) if key_of is None else by_id.get(key_of[at] or "")
        if place is None or place not in asked.places:
            name = said.get(ROW) if key_of is None else key_of[at]
            faults.append(f"{here} ({name or 'blank'}) isn't in its quarantine")
            continue
        number, id_ = asked.places[place]
        if number in asked.answers:
            faults.append(f"{here} ({id_}) was answered already, in {asked.answers[number]}")
        elif said.get(ID) not in (None, id_):
            faults.append(
                f"{here} says {said[ID]!r} and row {place[1]} is {id_!r}: the rows were shifted against each other"
            )
        else:
            found.append((at, at_of[number]))
            if own is not None and own[at] != id_ and own[at] in ids:
                faults.append(
                    f"{here} has the {id_key} {own[at]!r}, which is another row's, and row {place[1]} is {id_!r}: the columns "
                    "were sorted apart"
                )
    return found


def _place(said: Mapping[str, str | None], asked: Asked) -> tuple[str, int] | None:
    """Layer and row that a row names; the layer may be left out where there is only one."""
    row, layer = said.get(ROW) or "", said.get(LAYER)
    digits = row.removesuffix(".0")
    if not digits.isdecimal():
        return None
    if layer is None and len(asked.layers) == 1:
        layer = asked.layers[0]
    return None if layer is None else (layer, int(digits))


def _id_columns(layer: Layer, options: Mapping[str, Options], id_key: str) -> set[str]:
    """Columns of a layer that are mapped to the id."""
    names = [str(c) for c in layer.frame.columns if c != "geometry"]
    return {
        c for one in options.values() if id_key in one.mapping for c in matching_columns(one.mapping[id_key], names)
    }


def _own_ids(layer: Layer, options: Mapping[str, Options], id_key: str) -> list[str | None] | None:
    """Ids as the file's own column has them; None where no one column does."""
    columns = _id_columns(layer, options, id_key)
    return _texts(layer.frame, columns.pop()) if len(columns) == 1 else None


def _by_id(
    layer: Layer, asked: Asked, options: Mapping[str, Options], id_key: str
) -> tuple[list[str | None], dict[str, tuple[str, int]]]:
    """Ids of a layer's rows, and the one place that each id of the quarantine has."""
    columns = _id_columns(layer, options, id_key)
    if len(columns) != 1:
        raise InputError(
            f"{layer.path.name} ({layer.name}) has no column {ROW}, and no column that is mapped to {id_key}: nobody can tell which "
            f"row of {asked.batch} each of its rows corrects. Nothing was changed. Send the quarantine's own file back, or give "
            f"--map {id_key}=COLUMN."
        )
    by_id: dict[str, tuple[str, int]] = {}
    twice = set()
    for place, (_, id_) in asked.places.items():
        twice |= {id_} & by_id.keys()
        by_id[id_] = place
    texts = _texts(layer.frame, columns.pop())
    several = sorted(twice & {t for t in texts if t is not None})
    if several:
        raise InputError(
            f"{', '.join(map(repr, several[:NAMED]))} stands on several rows of the quarantine of {asked.batch}: an id doesn't tell "
            f"which. Nothing was changed. Send the quarantine's own file back, whose {ROW} does."
        )
    return list(texts), by_id


def _texts(frame: pd.DataFrame, name: str) -> list[str | None]:
    values = read_column(frame[name], read_text)[0]
    return [None if v is None or not v.strip() else v.strip() for v in values]


# -- what it says


def _parts(
    layer: Layer,
    mine: Sequence[tuple[int, int]],
    name: str,
    asked: Asked,
    options: Options,
    given: Options,
    place: Municipality,
) -> list[tuple[Part, np.ndarray]]:
    """Rows of one layer of the batch in one layer of the file: those drawn in the file, and those drawn as they are kept."""
    if not mine:
        return []
    mine = sorted(mine, key=lambda pair: pair[1])  # in the order of the batch
    at, row = (np.array(n, dtype=int) for n in zip(*mine, strict=True))
    kept = asked.open.iloc[row]
    shapes, drawn, unbuilt = _shapes(layer, at, kept)
    if asked.format in TABLES:
        _check_places(layer, at, kept, drawn, asked)
    frame = _columns(layer, at, kept, asked)
    ours = BATCH in layer.frame.columns
    own = CRS.from_user_input(place.crs)
    system = layer.crs or (own if ours else None)
    away = np.isfinite(shapely.bounds(shapes)).all(axis=1) & ~inside(shapes, place) & ~drawn
    as_drawn = replace(options, unit=given.unit, crs=given.crs) if ours else options
    numbers, source_rows = kept["row"].to_numpy(dtype=int), kept["source_row"].to_numpy(dtype=int)
    made = []
    for where, one, how in (
        (drawn, system, as_drawn),
        (~drawn & ~away, own, replace(options, unit="m", crs=None)),
    ):
        if not where.any():
            continue
        some = np.flatnonzero(where)
        part = replace(
            layer,
            name=name,
            crs=one,
            frame=gpd.GeoDataFrame(frame.iloc[some].reset_index(drop=True), geometry=list(shapes[some])),
            findings=_findings(layer, {int(a) + 1: int(n) for a, n in zip(at, numbers, strict=True)}, name)
            if not made
            else (),
            unbuilt={n: unbuilt[int(a)] for n, a in enumerate(at[some], 1) if int(a) in unbuilt},
            rises=None,
            numbers=numbers[some],
        )
        made.append((Part(part, how), source_rows[some]))
    return made


def _findings(layer: Layer, numbers: Mapping[int, int], name: str) -> tuple[Finding, ...]:
    """Return what was said of the file's layer, its rows as the batch numbers them."""
    return tuple(
        replace(f, layer=name, rows=tuple(numbers[r] for r in f.rows if r in numbers))
        for f in layer.findings
        if not f.rows or any(r in numbers for r in f.rows)
    )


def _shapes(
    layer: Layer, at: np.ndarray, kept: gpd.GeoDataFrame
) -> tuple[np.ndarray, np.ndarray, dict[int, tuple[str, str]]]:
    """Geometry of each row, whether it is the file's own, and what can't be built, by position in the file's frame."""
    shapes, sent = np.array(kept.geometry.to_numpy(), dtype=object), layer.frame.geometry.to_numpy()[at]
    drawn, unbuilt = np.zeros(len(at), dtype=bool), {}
    cells = _texts(layer.frame, WKT) if WKT in layer.frame.columns else None
    for n in np.flatnonzero(~shapely.equals_exact(sent, shapes, 0)):
        a, said = int(at[n]), wkt_text(shapes[n])
        shape, fault = sent[n], layer.unbuilt.get(a + 1)
        if cells is not None and _nothing(shape) and cells[a] not in (None, LONG_GEOMETRY):
            shape = shapely.from_wkt(cells[a], on_invalid="ignore")
            fault = None if shape is not None else ("invalid_geometry", f"{WKT} isn't WKT: {cells[a][:40]!r}")
        if fault is not None and said != LONG_GEOMETRY:
            drawn[n], shapes[n], unbuilt[a] = True, None, fault
        elif not _nothing(shape) and not _shown(shape, said):
            drawn[n], shapes[n] = True, shape
    return shapes, drawn, unbuilt


def _nothing(shape: Any) -> bool:
    return shape is None or shapely.is_empty(shape)


def _shown(shape: Any, said: str | None) -> bool:
    """Whether a geometry is what a cell shows of the kept one: then the kept one counts, to the last digit."""
    return said is not None and said != LONG_GEOMETRY and bool(shapely.equals_exact(shape, shapely.from_wkt(said), 0))


def _columns(layer: Layer, at: np.ndarray, kept: gpd.GeoDataFrame, asked: Asked) -> pd.DataFrame:
    """Columns as the batch's file called them: what the file that came says, else what was kept; then what else it has."""
    own = [c for c in layer.frame.columns if c != "geometry" and not str(c).casefold().startswith(OURS)]
    if BATCH in layer.frame.columns:
        own = [c for c in own if c not in RESERVED]
    written, data = written_names(asked.columns), {}
    originals = next((list(c) for c in kept["columns"] if c), [])
    for column in originals:
        stored = [(c or {}).get(column) for c in kept["columns"]]
        there = written.get(column)
        if there is None or there not in own:
            data[column] = pd.Series(stored, dtype=object)
            continue
        values = layer.frame[there].iloc[at].reset_index(drop=True)
        left = (values == LONG_TEXT).to_numpy()
        data[column] = values.astype(object).where(~left, pd.Series(stored, dtype=object)) if left.any() else values
    taken = {written.get(c, c) for c in originals}
    for column in own:
        if column not in taken and column not in data:
            data[str(column)] = layer.frame[column].iloc[at].reset_index(drop=True)
    return pd.DataFrame(data, index=range(len(at)))


def _check_places(layer: Layer, at: np.ndarray, kept: gpd.GeoDataFrame, drawn: np.ndarray, asked: Asked) -> None:
    """Refuse coordinates that were corrected in columns which the geometry had been drawn from, where it isn't drawn anew."""
    names = {
        fold(c): (c, written) for c, written in written_names(asked.columns).items() if written in layer.frame.columns
    }
    pair = next((p for p in PAIRS if all(name in names for name in p)), ())
    faults = []
    for column, written in (names[name] for name in pair):
        texts, was = read_column(layer.frame[written], read_text)[0], [(c or {}).get(column) for c in kept["columns"]]
        faults += [
            f"row {a + 1} of {layer.name} has another {written}"
            for n, a in enumerate(at)
            if not drawn[n] and texts[a] != was[n]
        ]
    if faults:
        raise InputError(
            f"{layer.path.name} can't amend {asked.batch}: {_some(faults)}, and its drawing is where it was: the correction would be "
            f"lost. Nothing was changed. Write the place in {WKT}, or move the drawing in QGIS."
        )


def _some(faults: Sequence[str]) -> str:
    more = f"; and {len(faults) - NAMED} more" if len(faults) > NAMED else ""
    return "; ".join(faults[:NAMED]) + more
