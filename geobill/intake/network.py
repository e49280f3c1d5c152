"""A network file: one row, one stretch of one owner, with its width and its days."""

from collections.abc import Collection, Mapping, Sequence
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
from geobill.intake.declared import check_declared
from geobill.intake.duplicates import TOLERANCE_M, Cover, find_duplicates
from geobill.intake.lines import drop_repeated_parts, drop_repeated_vertices, note_rings, open_collections
from geobill.intake.reading import Options, Part, Reading
from geobill.intake.rows import Rows, finish, prepare
from geobill.intake.trench import check_same_trench

KEYS = (
    "segment", "width", "operator", "installed_on", "removed_on", "status", "service", "level", "permit",
    "declared_length",
)  # fmt: skip


_NAMED = 5  # other rows that a message names


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
    check_declared(rows)
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
    """Set aside ``duplicate``, or only find it where the policy bills each; find what lies partly on other rows."""
    v, standing = rows.values, np.flatnonzero(rows.standing)
    owners = [(v["operator"][r], v["service"][r], v["level"][r]) for r in standing]
    found = find_duplicates(rows.geometry[standing], owners, v["installed_on"][standing], v["removed_on"][standing])
    wholly = {int(standing[r]): cover for r, cover in found.wholly.items()}
    where = np.zeros(len(rows), dtype=bool)
    where[list(wholly)] = True
    if rows.options.duplicate_stretch == "bill":
        message = "{n} row(s) lie wholly on other rows of one operator, service and level, and are billed again."
        fix = "The policy duplicate_stretch says so; set_aside would bill each stretch once."
        rows.note("duplicate_billed", "warning", message, fix, where)
    else:
        rows.set_aside(where, "duplicate", lambda r: _repeats(rows, r, wholly[r], standing))
    _note_overlaps(rows, {int(standing[r]): cover for r, cover in found.partly.items()}, standing)
    _note_within(rows, {int(standing[r]): metres for r, metres in found.within.items()})


def _repeats(rows: Rows, row: int, cover: Cover, standing: np.ndarray) -> str:
    """Say on which rows all of a row lies."""
    on = standing[list(cover.rows)]
    named = [f"{rows.ids[o]} in {rows.shown(o)}" for o in on[:_NAMED]]
    more = f" and {len(on) - _NAMED} more row(s)" if len(on) > _NAMED else ""
    length = shapely.length(rows.geometry[[row, *on]])
    if len(on) == 1 and abs(length[1] - length[0]) <= 2 * TOLERANCE_M:
        said = f"it is the same stretch as {named[0]}"
    else:
        said = f"all of it ({length[0]:.2f} m, {100 * cover.share:.1f} %) lies on {', '.join(named)}{more}"
    widths = sorted({rows.values["width"][o] for o in on} - {rows.values["width"][row]})
    if widths:
        said += f"; its width is {rows.values['width'][row]} m, there {', '.join(map(str, widths))} m"
    return said


def _note_overlaps(rows: Rows, partly: Mapping[int, Cover], standing: np.ndarray) -> None:
    """Find rows that lie partly on earlier ones: they stay, and their common metres count twice."""
    if not partly:
        return
    where = np.zeros(len(rows), dtype=bool)
    where[list(partly)] = True
    largest = sorted(partly.items(), key=lambda item: (-item[1].share, item[0]))[:_NAMED]
    shares = "; ".join(
        f"{rows.shown(r)}: {c.metres:.2f} m, {100 * c.share:.1f} %, on {rows.shown(int(standing[c.rows[0]]))}"
        for r, c in largest
    )
    rows.note(
        "overlaps_other_rows",
        "warning",
        f"{{n}} row(s) lie partly on earlier rows of one operator, service and level; these metres are billed twice. Of the "
        f"whole import: {sum(c.metres for c in partly.values()):.2f} m; the largest shares: {shares}.",
        "Ask the operator which drawing of these stretches holds.",
        where,
    )


def _note_within(rows: Rows, metres: Mapping[int, float]) -> None:
    """Find rows that draw a stretch again over themselves: they stay, and these metres count twice."""
    where = np.zeros(len(rows), dtype=bool)
    where[list(metres)] = True
    largest = sorted(metres.items(), key=lambda item: (-item[1], item[0]))[:_NAMED]
    rows.note(
        "overlaps_itself",
        "warning",
        f"{{n}} row(s) draw a stretch again over themselves (a part that is there twice, a way forth and back); these metres "
        f"are billed twice. Of the whole import: {sum(metres.values()):.2f} m; the most: "
        f"{'; '.join(f'{rows.shown(r)}: {m:.2f} m' for r, m in largest)}.",
        "Ask the operator whether two lines run there; if not, for the row drawn once.",
        where,
    )


CHECKS: tuple[Check, ...] = (
    check_has_geometry,
    open_collections,
    check_type("LineString", "MultiLineString"),
    check_finite,
    drop_repeated_vertices,
    check_length,
    check_place,
    check_operator,
    check_numbers("width", "declared_length"),
    fill_width,
    check_positive("width", "width", "width_missing", "width_not_positive", "m"),
    check_dates,
    drop_repeated_parts,
    check_duplicates,
    note_rings,
    check_same_trench,
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
