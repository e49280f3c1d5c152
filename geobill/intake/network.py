"""A network file: one row, one stretch of one owner, with its width and its days."""

from collections.abc import Collection, Sequence
from datetime import date
from decimal import Decimal

import numpy as np
import shapely

from geobill.domain.money import plain
from geobill.domain.network import Municipality
from geobill.errors import InputError
from geobill.intake.checks import (
    Check,
    check_dates,
    check_finite,
    check_has_geometry,
    check_length,
    check_numbers,
    check_operator,
    check_place,
    check_positive,
    check_repeated_ids,
    check_type,
    fill_operator,
    read_status,
    run_checks,
)
from geobill.intake.duplicates import find_duplicates
from geobill.intake.reading import Options, Part, Reading
from geobill.intake.rows import Rows, finish, prepare

KEYS = (
    "segment", "width", "operator", "installed_on", "removed_on", "status", "service", "level", "permit",
    "declared_length",
)  # fmt: skip


def read_network(parts: Sequence[Part], municipality: Municipality, operators: Collection[str]) -> Reading:
    """Read a network: which stretches can be billed, which can't and why.

    Parameters
    ----------
    parts : sequence of Part
        Layers from `reader.read_layers`, each with its mapping by `KEYS`; a width must be mapped or given by default.
    municipality : Municipality
        Where the network must lie, and the system it is measured in.
    operators : collection of str
        Ids that the workspace knows.

    Returns
    -------
    Reading
        ``accepted`` by `geobill.frames.SEGMENTS`.

    Raises
    ------
    InputError
        If the whole file can't be used: mapping, operator, width, coordinate system or a status that is none.
    """
    for part in parts:
        _check_width_given(part.options)
    rows = prepare(parts, municipality, KEYS, "segment", operators)
    rows.read_all(
        texts=("operator", "service", "level", "permit", "status"),
        numbers=("width", "declared_length"),
        dates=("installed_on", "removed_on"),
    )
    status = read_status(rows)
    fill_operator(rows)
    run_checks(rows, CHECKS)
    _note_declared(rows)
    _note_wide(rows)
    check_repeated_ids(rows, "segment")
    v = rows.values
    columns = {
        "segment": rows.ids,
        "operator": v["operator"],
        "service": v["service"],
        "level": v["level"],
        "permit": v["permit"],
        "status": status,
        "width_m": decimal_text(v["width"]),
        "declared_length_m": decimal_text(v["declared_length"]),
        "installed_on": iso_dates(v["installed_on"]),
        "removed_on": iso_dates(v["removed_on"]),
    }
    return finish(rows, columns, as_multi(rows.geometry, "LineString"), measured=True)


def _check_width_given(options: Options) -> None:
    default = options.default_width_m
    if default is not None and default <= 0:
        raise InputError(f"--default-width {default} is not a width: it must be more than 0 metres, for example 0.50.")
    if default is None and "width" not in options.mapping:
        raise InputError(
            "No strip width is given, and the price depends on it (Lei 3.057/2001, art. 7): name its column with "
            "--map width=COLUMN, or give one for the whole file with --default-width METRES, or both."
        )


def fill_width(rows: Rows) -> None:
    """Let the default width stand in where a row has none."""
    unreadable = rows.faults.get("width", {})
    absent = np.array([w is None and r not in unreadable for r, w in enumerate(rows.values["width"])], dtype=bool)
    for at, (part, columns) in enumerate(zip(rows.parts, rows.columns, strict=True)):
        default, mine = part.options.default_width_m, absent & (rows.part == at)
        if default is None:
            continue
        rows.values["width"][mine] = default
        if "width" in columns:
            message = f"{{n}} row(s) have no width in {columns['width']}: they take the default of {plain(default)} m."
            rows.note("width_defaulted", "note", message, "Ask the operator for the widths.", mine & rows.standing)


def check_duplicates(rows: Rows) -> None:
    """Set aside ``duplicate``, or only find it where the policy bills each."""
    v, standing = rows.values, np.flatnonzero(rows.standing)
    owners = [(v["operator"][r], v["service"][r], v["level"][r]) for r in standing]
    found = find_duplicates(rows.geometry[standing], owners, v["installed_on"][standing], v["removed_on"][standing])
    first = {int(standing[d]): int(standing[f]) for d, f in found.items()}
    where = np.zeros(len(rows), dtype=bool)
    where[list(first)] = True
    if rows.options.duplicate_stretch == "bill":
        message = "{n} row(s) are the same stretch of one operator and service as an earlier row, and are billed again."
        fix = "The policy duplicate_stretch says so; set_aside would bill each stretch once."
        rows.note("duplicate_billed", "warning", message, fix, where)
        return
    rows.set_aside(
        where, "duplicate", lambda r: f"it is the same stretch as {rows.ids[first[r]]} in {rows.shown(first[r])}"
    )


CHECKS: tuple[Check, ...] = (
    check_has_geometry,
    check_type("LineString", "MultiLineString"),
    check_finite,
    check_length,
    check_place,
    check_operator,
    check_numbers("width", "declared_length"),
    fill_width,
    check_positive("width", "width", "width_missing", "width_not_positive", "m"),
    check_dates,
    check_duplicates,
)


WIDE_M = 5


def _note_wide(rows: Rows) -> None:
    widths = rows.values["width"]
    wide = rows.standing & np.array([w is not None and w > WIDE_M for w in widths], dtype=bool)
    widest = max((widths[r] for r in np.flatnonzero(wide)), default=0)
    rows.note(
        "width_unusual",
        "warning",
        f"{{n}} row(s) are wider than {WIDE_M} m, up to {widest} m.",
        "A width in centimetres would be charged a hundredfold: make sure that it is in metres.",
        wide,
    )


def _note_declared(rows: Rows) -> None:
    """Take a declared length of 0 or less as none: in these files it means "not informed"."""
    declared = rows.values["declared_length"]
    low = np.array([d is not None and d <= 0 for d in declared], dtype=bool)
    declared[low] = None
    message = (
        f"{{n}} row(s) declare a length of 0 or less in {rows.column('declared_length')}: it counts as not declared."
    )
    rows.note(
        "declared_length_not_positive", "warning", message, "Ask the operator for the lengths.", low & rows.standing
    )


def decimal_text(values: np.ndarray) -> list[str | None]:
    """Exact decimals as plain text."""
    return [plain(v) if isinstance(v, Decimal) else None for v in values]


def iso_dates(values: np.ndarray) -> list[str | None]:
    """Dates as ISO text."""
    return [v.isoformat() if isinstance(v, date) else None for v in values]


def as_multi(geometry: np.ndarray, single: str) -> np.ndarray:
    """Every LineString (or Polygon) as a Multi of one part; all else untouched."""
    build = {"LineString": shapely.multilinestrings, "Polygon": shapely.multipolygons}[single]
    alone = shapely.get_type_id(geometry) == shapely.GeometryType[single.upper()].value
    out = geometry.copy()
    if alone.any():
        out[alone] = build(geometry[alone], indices=np.arange(int(alone.sum())))
    return out
