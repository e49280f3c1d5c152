"""The rows of one layer while they are checked: what each says, and the first reason why it can't be used."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

import geopandas as gpd
import numpy as np
import pandas as pd
import shapely
from pyproj import CRS

from geobill.domain.finding import CrsUse, Finding, SetAside
from geobill.domain.network import Municipality
from geobill.errors import InputError
from geobill.frames import whole_units
from geobill.intake.columns import nearest, resolve_columns
from geobill.intake.crs import (
    carry,
    check_inside,
    located_bounds,
    no_system,
    operation_findings,
    parse_crs,
    same_system,
    short,
)
from geobill.intake.reader import Layer
from geobill.intake.reading import UNITS_M, Options, Reading
from geobill.intake.values import read_column, read_date, read_number, read_text


@dataclass
class Rows:
    """All rows of a layer in the workspace's system, column by column; checks mark those to be set aside."""

    layer: Layer
    frame: gpd.GeoDataFrame  # geometry in the workspace's system
    use: CrsUse
    columns: Mapping[str, str]  # key → column
    options: Options
    municipality: Municipality
    operators: Collection[str]
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
        return len(self.frame)

    @property
    def geometry(self) -> np.ndarray:
        """Geometry of every row in the workspace's system."""
        return self.frame.geometry.to_numpy()

    @property
    def standing(self) -> np.ndarray:
        """Whether each row is still to be accepted."""
        return self.code == None  # noqa: E711

    def set_aside(self, where: np.ndarray, code: str, reason: str | Callable[[int], str]) -> None:
        """Set rows aside for a reason, unless they already have one: the first reason stands."""
        for row in np.flatnonzero(where & self.standing):
            self.code[row] = code
            self.reason[row] = reason if isinstance(reason, str) else reason(int(row))

    def note(self, code: str, severity: Any, message: str, fix: str, where: np.ndarray) -> None:
        """Add a finding about some rows, if there are any."""
        rows = tuple(int(r) + 1 for r in np.flatnonzero(where))
        if rows:
            text = message.replace("{n}", str(len(rows)))
            self.findings.append(Finding(code, severity, text, fix, self.layer.name, rows))

    def read(self, key: str, read: Callable[[Any], Any]) -> np.ndarray:
        """Values of a key by one of the readers in `values`, None where not mapped; its faults are kept."""
        column = self.columns.get(key)
        if column is None:
            self.values[key] = np.full(len(self), None, dtype=object)
        else:
            self.values[key], self.faults[key] = read_column(self.layer.frame[column], read)
        return self.values[key]

    def read_given(self, key: str, given: str | None) -> None:
        """Take an option's value for all rows where there is one."""
        if given is not None:
            self.values[key] = np.full(len(self), given, dtype=object)

    def read_all(self, texts: Sequence[str] = (), numbers: Sequence[str] = (), dates: Sequence[str] = ()) -> None:
        """Read several keys; labels lose the spaces around them, ids don't."""
        for key in texts:
            self.read(key, _label)
        for key in numbers:
            self.read(key, read_number)
        for key in dates:
            self.read(key, read_date)

    def fault_mask(self, *keys: str) -> tuple[np.ndarray, Callable[[int], str]]:
        """Rows with an unreadable value under one of the keys, and the reason of each."""
        where = np.zeros(len(self), dtype=bool)
        for key in keys:
            where[list(self.faults.get(key, {}))] = True

        def reason(row: int) -> str:
            said = [f"{self.columns[k]} ({k}): {self.faults[k][row]}" for k in keys if row in self.faults.get(k, {})]
            return "; ".join(said)

        return where, reason


def _label(value: Any) -> str | None:
    text = read_text(value)
    return None if text is None else text.strip()


def prepare(
    layer: Layer,
    options: Options,
    municipality: Municipality,
    keys: Sequence[str],
    id_key: str,
    operators: Collection[str] | None,
) -> Rows:
    """Find columns, owner and place of a layer, refusing the whole file where one of them can't be had."""
    names = [str(c) for c in layer.frame.columns if c != "geometry"]
    columns = resolve_columns(options.mapping, keys, names, f"{layer.path.name} ({layer.name})")
    if operators is not None:
        _check_operator(options, columns, operators)
    _check_said_once(options, columns)
    frame, use, findings = _place(layer, options, municipality)
    ids, more = _ids(layer, columns, id_key)
    return Rows(
        layer, frame, use, columns, options, municipality, operators or (), ids, [*layer.findings, *findings, *more]
    )


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
    for key, given in (("permit", options.permit), ("status", options.status)):
        if given is not None and key in columns:
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
        why = " that can be understood" if any(f.code == "crs_unreadable" for f in layer.findings) else missing
        raise no_system(raw, municipality, name, why)
    if options.crs and layer.crs is not None and not same_system(layer.crs, source):
        message = f"{name} says {short(layer.crs)}; it was read as {short(source)} because --crs says so."
        fix = "Make sure that the sender confirms it: datums differ by dozens of metres."
        findings.append(Finding("crs_overridden", "warning", message, fix, layer.name))
    carried, use = carry(raw, source, municipality, name)
    check_inside(carried, raw, source, municipality, name)
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


def _ids(layer: Layer, columns: Mapping[str, str], id_key: str) -> tuple[np.ndarray, list[Finding]]:
    """Exact text ids, the row number where there is none."""
    numbers = np.array([str(n) for n in range(1, len(layer.frame) + 1)], dtype=object)
    column = columns.get(id_key)
    if column is None:
        return numbers, []
    values = layer.frame[column]
    ids, _ = read_column(values, read_text)
    blank = np.array([i is None for i in ids], dtype=bool)
    findings = []
    if blank.any():
        message = f"{int(blank.sum())} row(s) have no {id_key} in {column}: they go by their row number."
        rows = tuple(int(r) + 1 for r in np.flatnonzero(blank))
        findings.append(Finding("id_missing", "warning", message, "Ask for ids.", layer.name, rows))
    if pd.api.types.is_float_dtype(values.dtype) and (values.abs() >= 2**53).any():
        message = f"{column} holds numbers too long for the file's own number type: their last digits are lost."
        findings.append(Finding("id_inexact", "warning", message, "Ask for the ids as text.", layer.name))
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
    data = {"source_row": np.arange(1, len(rows) + 1)[keep]}
    data |= {name: pd.Series(np.asarray(values, dtype=object)[keep], dtype=object) for name, values in columns.items()}
    accepted = gpd.GeoDataFrame(data, geometry=geometry[keep], crs=rows.municipality.crs)
    aside = tuple(SetAside(int(r) + 1, str(rows.ids[r]), rows.code[r], rows.reason[r]) for r in np.flatnonzero(~keep))
    precision, units = rows.options.length_precision_m, 0
    if measured and len(accepted):
        units = int(whole_units(shapely.length(accepted.geometry.to_numpy()), precision).sum())
    bounds = tuple(float(b) for b in accepted.total_bounds) if len(accepted) else None
    length = Decimal(units) * precision
    return Reading(accepted, aside, len(rows), rows.use, tuple(rows.findings), length, bounds)
