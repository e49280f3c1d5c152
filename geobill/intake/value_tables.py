"""A table of land values by zone and year, beside a map that has only the zones."""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

import numpy as np

from geobill.domain.finding import Finding
from geobill.errors import InputError
from geobill.intake.columns import resolve_columns
from geobill.intake.reader import Layer
from geobill.intake.value_columns import read_numbers
from geobill.intake.values import read_column, read_text

KEYS = ("values_zone", "land_value", "year")
_YEAR = re.compile(r"(?:^|\D)((?:19|20)\d{2})(?:\D|$)")


@dataclass(frozen=True)
class ValueTable:
    """Land value of each zone in one year, as the table writes it, and what should be said about the table.

    ``faults`` are zones whose value can't be read, with the reason.
    """

    name: str
    sha256: str
    values: Mapping[str, Decimal | None]
    faults: Mapping[str, str]
    findings: tuple[Finding, ...]


def read_value_table(layer: Layer, mapping: Mapping[str, str], zone_column: str, year: int) -> ValueTable:
    """Read a table of values: a row for each zone (and year), or a column for each year.

    Parameters
    ----------
    layer : Layer
        The table, from `reader.read_layer`; it needs no geometry.
    mapping : mapping
        Some of `KEYS`: ``values_zone`` (default: a column of the same name as the map's), ``land_value``, ``year``.
    zone_column : str
        Name of the column that holds the zone in the map.
    year : int
        Year whose values are taken, where the table tells years apart.

    Returns
    -------
    ValueTable

    Raises
    ------
    InputError
        If a column can't be found, the year isn't there, or a zone has two values.
    """
    name = layer.path.name
    names = [str(c) for c in layer.frame.columns if c != "geometry"]
    asked = {"values_zone": zone_column, **mapping}
    columns = resolve_columns(asked, KEYS, names, f"{name} ({layer.name})")
    value_column = columns.get("land_value") or _year_column(name, names, columns, year)
    zones, _ = read_column(layer.frame[columns["values_zone"]], read_text)
    read = read_numbers(layer.frame[value_column], value_column)
    values, unreadable = read.values, read.faults
    keep = _of_year(layer, columns.get("year"), year)
    found: dict[str, set[Decimal | None]] = defaultdict(set)
    rows: dict[str, list[int]] = defaultdict(list)
    faults: dict[str, str] = {}
    blank = []
    for at in np.flatnonzero(keep).tolist():
        zone = None if zones[at] is None else zones[at].strip()
        if not zone:
            blank += [at + 1] if values[at] is not None else []
            continue
        rows[zone].append(at + 1)
        found[zone].add(values[at])
        if at in unreadable:
            faults[zone] = f"{value_column} in row {at + 1} of {name}: {unreadable[at]}"
    _refuse_contradictions(name, found, rows, columns)
    said = [
        Finding(r.code, r.severity, r.message, r.fix, layer.name, tuple(n + 1 for n in r.rows)) for r in read.remarks
    ]  # type: ignore[arg-type]
    findings = [*layer.findings, *said]
    if blank:
        message = f"{len(blank)} row(s) of {name} have a value and no zone: they say nothing about any place."
        fix = "Ask for the zone of each."
        findings.append(Finding("values_without_zone", "warning", message, fix, layer.name, tuple(blank)))
    return ValueTable(name, layer.sha256, {z: next(iter(v)) for z, v in found.items()}, faults, tuple(findings))


def match_zones(table: ValueTable, zones: Sequence[str], layer: str) -> tuple[Finding, ...]:
    """Say which zones of the map have no value in the table, and which values have no zone in the map.

    Zones are matched by their exact text; names that would be alike but for leading zeros or capitals are told.
    """
    in_map = dict.fromkeys(z.strip() for z in zones)
    missing = [z for z in in_map if z not in table.values]
    stray = [z for z in table.values if z not in in_map]
    findings = []
    if missing:
        rows = tuple(at for at, z in enumerate(zones, 1) if z.strip() not in table.values)
        message = f"{len(missing)} zone(s) of the map have no value in {table.name}: {_listed(missing)}.{_alike(missing, stray)}"
        fix = "Their rows are set aside and their streets would be held: ask for the missing values."
        findings.append(Finding("zones_without_value", "warning", message, fix, layer, rows))
    if stray:
        message = f"{len(stray)} zone(s) of {table.name} aren't in the map: {_listed(stray)}."
        findings.append(Finding("values_without_zone", "warning", message, "Ask whether zones are missing in the map."))
    return tuple(findings)


def _year_column(name: str, names: Sequence[str], columns: Mapping[str, str], year: int) -> str:
    """Find the one column that bears the year, such as 2026 or VALOR_2026."""
    if "year" in columns:
        raise InputError(
            f"{name} is told to have its years in {columns['year']}, but not where its values are: add --map land_value=COLUMN. "
            f"Its columns are: {', '.join(names)}."
        )
    years = {n: int(m[1]) for n in names if n != columns["values_zone"] and (m := _YEAR.search(n))}
    mine = [n for n, y in years.items() if y == year]
    if len(mine) == 1:
        return mine[0]
    if mine:
        raise InputError(
            f"{name} has several columns for {year} ({', '.join(mine)}): choose with --map land_value=COLUMN."
        )
    has = f"It has columns for {', '.join(str(y) for y in sorted(set(years.values())))}. " if years else ""
    raise InputError(
        f"Nothing says which column of {name} holds the land value of {year}: name it with --map land_value=COLUMN, or another "
        f"year with --values-year. {has}Its columns are: {', '.join(names)}."
    )


def _of_year(layer: Layer, column: str | None, year: int) -> np.ndarray:
    """Tell the rows of a year, all of them where the table tells no years apart."""
    if column is None:
        return np.ones(len(layer.frame), dtype=bool)
    texts, _ = read_column(layer.frame[column], read_text)
    years = [None if t is None else _YEAR.search(t) for t in texts]
    found = np.array([0 if m is None else int(m[1]) for m in years])
    if not (found == year).any():
        there = sorted({int(y) for y in found if y})
        raise InputError(
            f"{layer.path.name} has no values of {year} in {column}; it has {', '.join(map(str, there)) or 'no year at all'}. Values "
            "of another year would price the network wrongly: ask for the table of that year, or name one with --values-year."
        )
    return found == year


def _refuse_contradictions(
    name: str, found: Mapping[str, set[Decimal | None]], rows: Mapping[str, list[int]], columns: Mapping[str, str]
) -> None:
    twice = [z for z, values in found.items() if len(values) > 1]
    if twice:
        first = twice[0]
        where = ", ".join(map(str, rows[first][:5]))
        hint = (
            "" if "year" in columns else " If its rows are of several years, say where the year is: --map year=COLUMN."
        )
        raise InputError(
            f"{name} gives {len(twice)} zone(s) more than one value, zone {first} in rows {where}: nobody can tell which holds.{hint} "
            "Nothing was changed."
        )


def _listed(zones: Sequence[str]) -> str:
    return ", ".join(zones[:10]) + (" …" if len(zones) > 10 else "")


def _alike(missing: Sequence[str], stray: Sequence[str]) -> str:
    """Say how many would match if leading zeros and capitals didn't count."""
    plain = {z.lstrip("0").casefold() for z in stray}
    near = [z for z in missing if z.lstrip("0").casefold() in plain]
    if not near:
        return ""
    return f" {len(near)} of them would match but for leading zeros or capitals ({_listed(near[:3])}): make both alike."
