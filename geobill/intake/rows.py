"""The rows of a file while they are checked: what each says, and the first reason why it can't be used."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal, localcontext
from typing import Any

import geopandas as gpd
import numpy as np
import pandas as pd
import shapely
from pyproj import CRS

from geobill.domain.finding import CrsUse, Finding, LayerRead, SetAside
from geobill.domain.network import Municipality
from geobill.errors import InputError
from geobill.frames import whole_units
from geobill.intake.columns import cut_columns, nearest, resolve_columns
from geobill.intake.crs import (
    carry,
    located_bounds,
    operation_findings,
    parse_crs,
    same_system,
    short,
)
from geobill.intake.crs_guess import check_inside, no_system
from geobill.intake.formats.dxf_units import unit_given
from geobill.intake.reader import Layer
from geobill.intake.reading import UNIT_FACTORS, UNITS_M, Options, Part, Reading
from geobill.intake.value_columns import (
    ColumnReading,
    ReadColumn,
    each,
    read_dates,
    read_ids,
    read_numbers,
    without_absent,
)
from geobill.intake.values import read_column, read_text


@dataclass
class Rows:
    """All rows of one or more layers in the workspace's system, column by column; checks mark those to be set aside.

    ``raw`` is each row's geometry as it was drawn, ``geometry`` the same in the workspace's system. ``part`` says which of
    ``parts`` a row comes from, ``number`` which row of its layer it is (first is 1).
    """

    parts: tuple[Part, ...]
    uses: tuple[CrsUse, ...]  # one for each part
    columns: tuple[Mapping[str, str], ...]  # key → column, one for each part
    municipality: Municipality
    operators: Collection[str]
    part: np.ndarray
    number: np.ndarray
    raw: np.ndarray
    geometry: np.ndarray
    ids: np.ndarray
    findings: list[Finding]
    values: dict[str, np.ndarray] = field(default_factory=dict)
    faults: dict[str, dict[int, str]] = field(default_factory=dict)
    code: np.ndarray = field(init=False)
    reason: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        self.code = np.full(len(self), None, dtype=object)
        self.reason = np.full(len(self), "", dtype=object)

    def __len__(self) -> int:
        return len(self.geometry)

    @property
    def options(self) -> Options:
        """Options that all parts share: policies of the workspace."""
        return self.parts[0].options

    @property
    def standing(self) -> np.ndarray:
        """Whether each row is still to be accepted."""
        return self.code == None  # noqa: E711

    def has(self, key: str) -> bool:
        """Whether any layer has a column for a key."""
        return any(key in columns for columns in self.columns)

    def column(self, key: str, row: int | None = None) -> str:
        """Name of the column that holds a key: that of a row's layer, else of the first layer that has one."""
        if row is not None:
            return self.columns[self.part[row]].get(key, key)
        return next((columns[key] for columns in self.columns if key in columns), key)

    def shown(self, row: int) -> str:
        """Name a row for people: its number, and its layer where there are several."""
        where = f" of {self.parts[self.part[row]].layer.name}" if len(self.parts) > 1 else ""
        return f"row {self.number[row]}{where}"

    def drawn_as(self, row: int) -> str:
        """Say what a row was drawn as, where its layer is of a drawing; nothing elsewhere."""
        layer = self.parts[self.part[row]].layer
        kind = layer.drawn_as and layer.frame[layer.drawn_as].iloc[self.number[row] - 1]
        return f" (drawn as {kind})" if kind else ""

    def set_aside(self, where: np.ndarray, code: str, reason: str | Callable[[int], str]) -> None:
        """Set rows aside for a reason, unless they already have one: the first reason stands."""
        for row in np.flatnonzero(where & self.standing):
            self.code[row] = code
            self.reason[row] = reason if isinstance(reason, str) else reason(int(row))

    def note(self, code: str, severity: Any, message: str, fix: str, where: np.ndarray) -> None:
        """Add a finding about some rows of each layer that has any; ``{n}`` in the message is how many."""
        for at, part in enumerate(self.parts):
            rows = tuple(int(n) for n in self.number[where & (self.part == at)])
            if rows:
                text = message.replace("{n}", str(len(rows)))
                self.findings.append(Finding(code, severity, text, fix, part.layer.name, rows))

    def read(self, key: str, read: ReadColumn) -> None:
        """Read a key by one of the readers in `value_columns`: its column, else its constant; its faults are kept.

        Texts that mean "not informed" in a layer are absent; numbers are where they are as much.
        """
        found, faults = [], {}
        for at, (part, columns) in enumerate(zip(self.parts, self.columns, strict=True)):
            rows = np.flatnonzero(self.part == at)
            if key in columns:
                absent = part.options.absent.get(key, frozenset())
                raw = without_absent(part.layer.frame[columns[key]], absent, as_numbers=read is read_numbers)
                reading = read(raw, columns[key])
                values = _in_units(reading.values, key, part.options.units.get(key))
                faults |= {int(rows[r]): why for r, why in reading.faults.items()}
                self.findings += _findings(reading, part.layer)
            else:
                values = np.full(len(rows), part.options.constants.get(key), dtype=object)
            found.append(values)
        self.values[key], self.faults[key] = np.concatenate(found), faults

    def read_all(self, texts: Sequence[str] = (), numbers: Sequence[str] = (), dates: Sequence[str] = ()) -> None:
        """Read several keys; labels lose the spaces around them, ids don't."""
        for key in texts:
            self.read(key, each(_label))
        for key in numbers:
            self.read(key, read_numbers)
        for key in dates:
            self.read(key, read_dates)

    def fault_mask(self, *keys: str) -> tuple[np.ndarray, Callable[[int], str]]:
        """Rows with an unreadable value under one of the keys, and the reason of each."""
        where = np.zeros(len(self), dtype=bool)
        for key in keys:
            where[list(self.faults.get(key, {}))] = True

        def reason(row: int) -> str:
            bad = [k for k in keys if row in self.faults.get(k, {})]
            return "; ".join(f"{self.column(k, row)} ({k}): {self.faults[k][row]}" for k in bad)

        return where, reason


def _findings(reading: ColumnReading, layer: Layer) -> list[Finding]:
    return [
        Finding(r.code, r.severity, r.message, r.fix, layer.name, tuple(layer.number(row) for row in r.rows))
        for r in reading.remarks
    ]


def _in_units(values: np.ndarray, key: str, unit: str | None) -> np.ndarray:
    """Exact decimals in metres or cubic metres, from the unit that their column is in."""
    if unit is None:
        return values
    factor = UNIT_FACTORS[key][unit]
    with localcontext() as exact:
        exact.prec = 200
        return np.array([v * factor if isinstance(v, Decimal) else v for v in values], dtype=object)


def _label(value: Any) -> str | None:
    text = read_text(value)
    return None if text is None else text.strip()


def prepare(
    parts: Sequence[Part],
    municipality: Municipality,
    keys: Sequence[str],
    id_key: str,
    operators: Collection[str] | None,
) -> Rows:
    """Find columns, owner and place of each layer, refusing the whole file where one of them can't be had."""
    columns, uses, drawn, ids, findings, before = [], [], [], [], [], 0
    for part in parts:
        layer, options = part.layer, part.options
        names = [str(c) for c in layer.frame.columns if c != "geometry"]
        mapped = resolve_columns(options.mapping, keys, names, f"{layer.path.name} ({layer.name})")
        findings += _cut_names(options.mapping, mapped, layer)
        if operators is not None:
            _check_operator(options, mapped, operators)
        _check_said_once(options, mapped)
        frame, use, said = _place(layer, options, municipality)
        named, more = _ids(layer, mapped, id_key, options.absent.get(id_key, frozenset()), before)
        columns.append(mapped)
        uses.append(use)
        drawn.append(frame.geometry.to_numpy())
        ids.append(named)
        own = layer.findings
        if options.unit != "m":
            own = unit_given(own, layer.unit, options.unit, layer.path.name, layer.name)
        findings += [*own, *said, *more]
        before += len(layer.frame)
    counts = [len(d) for d in drawn]
    return Rows(
        tuple(parts), tuple(uses), tuple(columns), municipality, operators or (),
        part=np.repeat(np.arange(len(parts)), counts),
        number=np.concatenate([_numbers(p.layer) for p in parts]),
        raw=np.concatenate([p.layer.frame.geometry.to_numpy() for p in parts]),
        geometry=np.concatenate(drawn), ids=np.concatenate(ids), findings=findings,
    )  # fmt: skip


def _cut_names(mapping: Mapping[str, str], found: Mapping[str, str], layer: Layer) -> list[Finding]:
    """Say which columns were found by the beginning of their names."""
    cut = cut_columns(mapping, found)
    if not cut:
        return []
    shown = ", ".join(f"{mapping[key]} is {column}" for key, column in cut.items())
    message = f"Names of columns are cut at ten bytes in this file: {shown}."
    return [Finding("column_name_cut", "note", message, "Make sure that it is the one that is meant.", layer.name)]


def _check_operator(options: Options, columns: Mapping[str, str], operators: Collection[str]) -> None:
    known = ", ".join(sorted(operators)) or "none yet; add one with geobill operator add"
    if options.operator and "operator" in columns:
        raise InputError(
            f"--operator {options.operator} and --map operator={columns['operator']} both say who pays: give only one of them."
        )
    if not options.operator and "operator" not in columns:
        raise InputError(
            "Nobody is named who owns this and pays for it: give --operator ID for the whole file, or "
            f"--map operator=COLUMN where each row says it. Known operators: {known}."
        )
    if options.operator and options.operator not in operators:
        near = nearest(options.operator, operators)
        raise InputError(
            f"There is no operator {options.operator!r} in this workspace.{near} Known operators: {known}."
        )


def _check_said_once(options: Options, columns: Mapping[str, str]) -> None:
    for key, given in options.constants.items():
        if key in columns:
            raise InputError(
                f"--{key} {given} and --map {key}={columns[key]} both say the {key} of a row: give only one of them."
            )


def _place(
    layer: Layer, options: Options, municipality: Municipality
) -> tuple[gpd.GeoDataFrame, CrsUse, list[Finding]]:
    """Settle the coordinate system (the user's word goes before the file's) and carry the frame over."""
    name, findings = layer.path.name, []
    source = parse_crs(options.crs) if options.crs else layer.crs
    raw = _in_metres(layer, options.unit, source)
    if source is None and not len(located_bounds(raw)):
        raise InputError(
            f"{name} ({layer.name}) has neither a coordinate system nor a single geometry: it is a table, not a map."
        )
    if source is None:
        missing = " (no .prj beside it)" if layer.format == "Shapefile" else ""
        unclear = next((f for f in layer.findings if f.code in ("crs_unreadable", "crs_ambiguous")), None)
        why = missing if unclear is None else f" that can be understood ({unclear.message.rstrip('.')})"
        raise no_system(layer.frame, municipality, name, why)
    if options.crs and layer.crs is not None and not same_system(layer.crs, source):
        message = f"{name} says {short(layer.crs)}; it was read as {short(source)} because --crs says so."
        fix = "Make sure that the sender confirms it: datums differ by dozens of metres."
        findings.append(Finding("crs_overridden", "warning", message, fix, layer.name))
    carried, use = carry(raw, source, municipality, name)
    check_inside(carried, layer.frame, source, municipality, name, asked=bool(options.crs))
    findings += operation_findings(source, municipality)
    return carried, use, findings


def _in_metres(layer: Layer, unit: str, source: CRS | None) -> gpd.GeoDataFrame:
    """Return a drawing's frame with its coordinates in metres (``--unit``)."""
    if unit not in UNITS_M:
        raise InputError(f"--unit can't be {unit!r}. Allowed: {', '.join(UNITS_M)}.")
    if unit == "m":
        return layer.frame
    if source is not None and not source.is_projected:
        raise InputError(
            f"--unit {unit} is for drawings in plane coordinates; {layer.path.name} is in {short(source)}, in degrees. "
            "Leave --unit out, or give the drawing's system with --crs EPSG:n."
        )
    scaled = shapely.transform(layer.frame.geometry.to_numpy(), lambda xy: xy * UNITS_M[unit])
    return layer.frame.set_geometry(gpd.GeoSeries(scaled, index=layer.frame.index))


def _ids(
    layer: Layer, columns: Mapping[str, str], id_key: str, absent: frozenset[str], before: int
) -> tuple[np.ndarray, list[Finding]]:
    """Exact text ids; where there is none the row's number in the batch, ``before`` rows being those of earlier layers."""
    numbers = np.array([str(before + n) for n in range(1, len(layer.frame) + 1)], dtype=object)
    column = columns.get(id_key)
    if column is None:
        return numbers, []
    reading = read_ids(without_absent(layer.frame[column], absent), column)
    ids = reading.values
    blank = np.array([i is None for i in ids], dtype=bool)
    findings = _findings(reading, layer)
    if blank.any():
        message = f"{int(blank.sum())} row(s) have no {id_key} in {column}: they go by their row number."
        rows = tuple(layer.number(int(r)) for r in np.flatnonzero(blank))
        findings.append(Finding("id_missing", "warning", message, "Ask for ids.", layer.name, rows))
    return np.where(blank, numbers, ids), findings


def finish(rows: Rows, columns: Mapping[str, np.ndarray], geometry: np.ndarray, measured: bool) -> Reading:
    """Part the rows into accepted and set aside, and add up what was accepted.

    Parameters
    ----------
    rows : Rows
        After its checks.
    columns : mapping of str to array
        Columns of the contract between ``source_row`` and ``geometry``, for all rows.
    geometry : array of geometries
        As the contract wants them.
    measured : bool
        Whether lengths are added up.
    """
    keep = rows.standing
    data: dict[str, Any] = {"source_row": np.arange(1, len(rows) + 1)[keep]}
    data |= {name: pd.Series(np.asarray(values, dtype=object)[keep], dtype=object) for name, values in columns.items()}
    accepted = gpd.GeoDataFrame(data, geometry=geometry[keep], crs=rows.municipality.crs)
    units = np.zeros(len(rows), dtype=np.int64)
    if measured and len(accepted):
        units[keep] = whole_units(shapely.length(accepted.geometry.to_numpy()), rows.options.length_precision_m)
    bounds = tuple(float(b) for b in accepted.total_bounds) if len(accepted) else None
    layers = _layers(rows, units)
    several = len(rows.parts) > 1
    aside = tuple(
        SetAside(
            int(rows.number[r]), str(rows.ids[r]), rows.code[r], rows.reason[r],
            layers[rows.part[r]].name if several else None,
        )
        for r in np.flatnonzero(~keep)
    )  # fmt: skip
    length = int(units.sum()) * rows.options.length_precision_m
    return Reading(accepted, aside, len(rows), rows.uses[0], tuple(rows.findings), length, bounds, layers, _aside(rows))


def _layers(rows: Rows, units: np.ndarray) -> tuple[LayerRead, ...]:
    """Add up what each layer came to; ``units`` are the accepted lengths in whole steps of the precision."""
    found, first = [], 1
    for at, (part, use) in enumerate(zip(rows.parts, rows.uses, strict=True)):
        mine = rows.part == at
        length = int(units[mine].sum()) * rows.options.length_precision_m
        accepted = int((mine & rows.standing).sum())
        found.append(LayerRead(part.layer.name, first, int(mine.sum()), accepted, f"{length:f}", use))
        first += int(mine.sum())
    return tuple(found)


def _aside(rows: Rows) -> gpd.GeoDataFrame:
    """Rows that were set aside, with their own columns as they came, by `geobill.frames.ASIDE`."""
    at = np.flatnonzero(~rows.standing)
    columns: list[dict[str, str | None]] = []
    for index, part in enumerate(rows.parts):
        first = int((rows.part < index).sum())
        columns += own_texts(part.layer, at[rows.part[at] == index] - first)
    data = {
        "source_row": at + 1,
        "layer": [rows.parts[p].layer.name for p in rows.part[at]],
        "row": rows.number[at],
        "id": [str(i) for i in rows.ids[at]],
        "reason_code": rows.code[at],
        "reason": rows.reason[at],
        "columns": pd.Series(columns, dtype=object),
    }
    return gpd.GeoDataFrame(data, geometry=rows.geometry[at], crs=rows.municipality.crs)


def _numbers(layer: Layer) -> np.ndarray:
    return np.arange(1, len(layer.frame) + 1) if layer.numbers is None else layer.numbers


def own_texts(layer: Layer, at: np.ndarray) -> list[dict[str, str | None]]:
    """Columns of some rows of a layer's frame as they came: text by name, in the order of the file."""
    own = layer.frame.drop(columns="geometry").iloc[at]
    texts = {str(name): read_column(own[name], read_text)[0] for name in own.columns}
    return [{name: values[r] for name, values in texts.items()} for r in range(len(own))]
