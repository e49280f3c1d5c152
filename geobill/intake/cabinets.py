"""A file of cabinets and other equipment that is charged by its volume."""

from collections.abc import Collection, Sequence
from decimal import Decimal, localcontext

import numpy as np

from geobill.domain.network import Municipality
from geobill.errors import InputError
from geobill.intake.checks import (
    Check,
    check_dates,
    check_finite,
    check_has_geometry,
    check_numbers,
    check_operator,
    check_place,
    check_positive,
    check_repeated_ids,
    fill_operator,
    read_status,
    run_checks,
)
from geobill.intake.network import decimal_text, iso_dates
from geobill.intake.reading import Options, Part, Reading
from geobill.intake.rows import Rows, finish, prepare

SIDES = ("length", "breadth", "height")
KEYS = ("equipment", "volume", *SIDES, "operator", "installed_on", "removed_on", "status", "permit", "service")


def read_cabinets(parts: Sequence[Part], municipality: Municipality, operators: Collection[str]) -> Reading:
    """Read equipment: volume in cubic metres as the file gives it, or length x breadth x height in metres.

    Parameters
    ----------
    parts : sequence of Part
        Layers from `reader.read_layers`, with geometry of any type, each with its mapping by `KEYS`: ``volume`` or all three
        sides.
    municipality : Municipality
        Where the equipment must stand.
    operators : collection of str
        Ids that the workspace knows.

    Returns
    -------
    Reading
        ``accepted`` by `geobill.frames.EQUIPMENT`; ``length_m`` is 0.

    Raises
    ------
    InputError
        If the whole file can't be used: mapping, operator, volume, coordinate system or a status that is none.
    """
    for part in parts:
        _check_volume_given(part.options)
    rows = prepare(parts, municipality, KEYS, "equipment", operators)
    rows.read_all(
        texts=("operator", "service", "permit", "status"),
        numbers=("volume", *SIDES),
        dates=("installed_on", "removed_on"),
    )
    status = read_status(rows)
    fill_operator(rows)
    run_checks(rows, CHECKS)
    check_repeated_ids(rows, "equipment")
    v = rows.values
    columns = {
        "equipment": rows.ids,
        "operator": v["operator"],
        "service": v["service"],
        "permit": v["permit"],
        "status": status,
        "volume_m3": decimal_text(v["volume"]),
        "installed_on": iso_dates(v["installed_on"]),
        "removed_on": iso_dates(v["removed_on"]),
    }
    return finish(rows, columns, rows.geometry, measured=False)


def _check_volume_given(options: Options) -> None:
    sides = [s for s in SIDES if s in options.mapping]
    if "volume" in options.mapping and sides:
        raise InputError(
            f"--map volume and --map {sides[0]} both say how big a cabinet is: map the volume, or the three sides, not both."
        )
    if "volume" not in options.mapping and len(sides) < 3:
        raise InputError(
            "No volume is given, and equipment is charged by the cubic metre (Lei 3.057/2001, art. 7 § 2): name its column "
            "with --map volume=COLUMN, or map all of length, breadth and height (metres)."
        )


def check_sides(rows: Rows) -> None:
    """Set aside ``volume_missing`` or ``volume_not_positive`` by the sides, and multiply them exactly."""
    if rows.has("volume"):
        return
    for row, sides in enumerate(zip(*(rows.values[s] for s in SIDES), strict=True)):
        if None not in sides and min(sides) > 0:
            rows.values["volume"][row] = _product(sides)
    low = np.array(
        [any(s is not None and s <= 0 for s in sides) for sides in zip(*(rows.values[s] for s in SIDES), strict=True)],
        dtype=bool,
    )
    absent = np.array([v is None for v in rows.values["volume"]], dtype=bool) & ~low

    def shown(row: int) -> str:
        return " x ".join("?" if rows.values[s][row] is None else str(rows.values[s][row]) for s in SIDES)

    rows.set_aside(absent, "volume_missing", lambda r: f"a side is missing: {shown(r)} m")
    rows.set_aside(low, "volume_not_positive", lambda r: f"each side must be more than 0: {shown(r)} m")


def _product(sides: tuple[Decimal, ...]) -> Decimal:
    with localcontext() as exact:
        exact.prec = 200
        return sides[0] * sides[1] * sides[2]


CHECKS: tuple[Check, ...] = (
    check_has_geometry,
    check_finite,
    check_place,
    check_operator,
    check_numbers("volume", *SIDES),
    check_sides,
    check_positive("volume", "volume", "volume_missing", "volume_not_positive", "m³"),
    check_dates,
)
