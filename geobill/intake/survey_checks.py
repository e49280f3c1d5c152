"""Checks of a survey's rows: what can't be read is unknown and said, what can't be placed or measured is set aside."""

from collections import Counter
from collections.abc import Mapping
from decimal import Decimal, localcontext

import numpy as np
import pandas as pd
import shapely

from geobill.intake.cabinets import SIDES
from geobill.intake.checks import (
    TOO_LARGE,
    Check,
    check_finite,
    check_has_geometry,
    check_length,
    check_place,
    check_type,
)
from geobill.intake.columns import nearest
from geobill.intake.ground import reach_beyond
from geobill.intake.lines import drop_repeated_parts, drop_repeated_vertices, note_rings, open_collections
from geobill.intake.network import WIDE_M
from geobill.intake.rows import Rows

LARGEST_M2 = 1_000.0  # no cabinet, container or base of a pole covers more; blocks and boundaries do

_POINTS, _AREAS = 4, (3, 6)


def note_place(rows: Rows) -> None:
    """Set aside what lies outside the municipality; say what reaches beyond it."""
    before = len(rows.findings)
    check_place(rows)
    del rows.findings[before:]  # what they count in is a matter of charges
    beyond = reach_beyond(rows.geometry, rows.municipality)
    over = rows.standing & (beyond > 0)
    rows.note(
        "reaches_outside",
        "note",
        f"{{n}} row(s) reach beyond {rows.municipality.name}, by up to {beyond[over].max(initial=0):,.0f} m; all of them is compared.",
        "Cut them at the municipality's border if what lies beyond isn't in its streets.",
        over,
    )


def note_owners(rows: Rows) -> None:
    """Take an owner whom the workspace doesn't know as one whom nobody knows."""
    known, named = set(rows.operators), rows.values["operator"]
    strange = np.array([n is not None and n not in known for n in named], dtype=bool)
    said = Counter(named[strange].tolist())
    names = ", ".join(f"{name!r} ({count})" for name, count in said.most_common(5))
    more = f" and {len(said) - 5} more" if len(said) > 5 else ""
    near = nearest(said.most_common(1)[0][0], known) if said else ""
    named[strange] = None
    rows.note(
        "operator_unknown",
        "warning",
        f"{{n}} row(s) name an operator in {rows.column('operator')} that the workspace doesn't have, in all {names}{more}: "
        f"their owner counts as unknown.{near}",
        "Add the operator (geobill operator add), write the column with the ids of geobill operator list, or say whose a finding "
        "is when it is judged.",
        strange & rows.standing,
    )


def note_figures(key: str, noun: str, unit: str) -> Check:
    """Make the check that takes a figure which can't be read, isn't above 0 or can't be meant as not measured."""

    def check(rows: Rows) -> None:
        values, faults = rows.values[key], rows.faults.get(key, {})
        why = dict(faults)
        for row, value in enumerate(values):
            if value is not None and not 0 < value < TOO_LARGE:
                why[row] = f"{value} {unit} is no {noun}"
        where = np.zeros(len(rows), dtype=bool)
        where[list(why)] = True
        values[where] = None
        _note_unknown(rows, key, noun, why, where)

    return check


def _note_unknown(rows: Rows, key: str, noun: str, why: Mapping[int, str], where: np.ndarray) -> None:
    where = where & rows.standing
    first = next(iter(np.flatnonzero(where)), None)
    if first is None:
        return
    rows.note(
        f"{key}_unknown",
        "warning",
        f"{{n}} row(s) have a {noun} that can't be used, such as {rows.shown(int(first))}: {why[int(first)]}. It counts as not "
        "measured.",
        "Correct the column and compare again if it matters.",
        where,
    )


def multiply_sides(rows: Rows) -> None:
    """Take the exact product of three sides as the volume; where one can't be used there is none."""
    if not any(rows.has(side) for side in SIDES):
        return
    why: dict[int, str] = {}
    for row, sides in enumerate(zip(*(rows.values[s] for s in SIDES), strict=True)):
        faults = [rows.faults[s][row] for s in SIDES if row in rows.faults[s]]
        if faults:
            why[row] = "; ".join(faults)
        elif None not in sides:
            if min(sides) <= 0 or max(sides) >= TOO_LARGE:
                why[row] = f"{' x '.join(map(str, sides))} m are no sides"
            else:
                rows.values["volume"][row] = _product(sides)
    where = np.zeros(len(rows), dtype=bool)
    where[list(why)] = True
    _note_unknown(rows, "volume", "side", why, where)


def _product(sides: tuple[Decimal, ...]) -> Decimal:
    with localcontext() as exact:
        exact.prec = 200
        return sides[0] * sides[1] * sides[2]


def note_wide(rows: Rows) -> None:
    """Say which widths are so large that they may be centimetres; they stand."""
    widths = rows.values["width"]
    wide = rows.standing & np.array([w is not None and w > WIDE_M for w in widths], dtype=bool)
    rows.note(
        "width_unusual",
        "warning",
        f"{{n}} row(s) are wider than {WIDE_M} m, up to {max((widths[r] for r in np.flatnonzero(wide)), default=0)} m.",
        "A width in centimetres would make each of them wider than permitted: make sure that it is in metres.",
        wide,
    )


def check_one_place(rows: Rows) -> None:
    """Set aside ``wrong_geometry_type``: several places in one row, or an area that no equipment covers."""
    several = (shapely.get_type_id(rows.geometry) == _POINTS) & (shapely.get_num_geometries(rows.geometry) > 1)
    rows.set_aside(
        several,
        "wrong_geometry_type",
        lambda r: (
            f"it is {shapely.get_num_geometries(rows.geometry[r])} places in one row: each pole or cabinet is a row of its own"
        ),
    )
    area = np.where(np.isin(shapely.get_type_id(rows.geometry), _AREAS), shapely.area(rows.geometry), 0.0)
    rows.set_aside(
        area > LARGEST_M2,
        "wrong_geometry_type",
        lambda r: f"it covers {area[r]:,.0f} m²: that is a block or a boundary, no equipment in a street",
    )
    alone = rows.standing & (shapely.get_type_id(rows.geometry) == _POINTS)
    rows.geometry[alone] = shapely.get_geometry(rows.geometry[alone], 0)


def check_repeats(id_key: str, *others: str) -> Check:
    """Make the check for ``duplicate``: a row of the same layer that repeats another in all, its geometry to the millimetre.

    Without ids nothing is a repetition: two rows that draw one line are two cables until a person says otherwise.
    """

    def check(rows: Rows) -> None:
        mine = np.flatnonzero(np.array([id_key in rows.columns[at] for at in rows.part], dtype=bool) & rows.standing)
        rounded = shapely.transform(rows.geometry[mine], lambda xy: np.round(xy, 3) + 0.0)
        said = {"part": rows.part[mine], "id": rows.ids[mine], "shape": shapely.to_wkb(shapely.normalize(rounded))}
        table = pd.DataFrame(said | {key: rows.values[key][mine] for key in others}, index=mine)
        alike = table[table.duplicated(keep=False)]
        first: dict[tuple[object, ...], int] = {}
        original = {int(r): first.setdefault(one, int(r)) for r, *one_ in alike.itertuples() for one in [tuple(one_)]}
        where = np.zeros(len(rows), dtype=bool)
        where[[r for r, o in original.items() if r != o]] = True
        rows.set_aside(
            where,
            "duplicate",
            lambda r: f"it repeats {rows.ids[r]} of {rows.shown(original[r])}, with the same drawing",
        )

    return check


def note_repeated_ids(rows: Rows, key: str) -> None:
    """Find ids that stand on more than one accepted row of a layer."""
    if not rows.has(key):
        return
    named = list(zip(rows.part.tolist(), rows.ids, strict=True))
    counts = Counter(one for one, stands in zip(named, rows.standing, strict=True) if stands)
    repeated = np.array([counts[one] > 1 for one in named], dtype=bool) & rows.standing
    message = f"{{n}} rows share their {key} ({rows.column(key)}) with another row: what is found on them can't be told apart by it."
    rows.note("duplicate_id", "warning", message, "Ask the crew for ids that are unique.", repeated)


LINE_CHECKS: tuple[Check, ...] = (
    check_has_geometry,
    open_collections,
    check_type("LineString", "MultiLineString"),
    check_finite,
    drop_repeated_vertices,
    check_length,
    note_place,
    check_repeats("segment", "operator", "service", "level", "width"),
    drop_repeated_parts,
    note_owners,
    note_figures("width", "width", "m"),
    note_wide,
    note_rings,
)
EQUIPMENT_CHECKS: tuple[Check, ...] = (
    check_has_geometry,
    check_type("Point", "MultiPoint", "Polygon", "MultiPolygon"),
    check_finite,
    check_one_place,
    note_place,
    multiply_sides,
    check_repeats("equipment", "operator", "service", "volume"),
    note_owners,
    note_figures("volume", "volume", "m³"),
)
