"""Checks of single rows, in the order in which their reasons count; each is a small function on all rows at once."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pandas as pd
import shapely

from geobill.domain.network import STATUSES
from geobill.errors import InputError
from geobill.frames import whole_units
from geobill.intake.columns import nearest
from geobill.intake.ground import inside, metres_beyond, reach_beyond
from geobill.intake.reading import UNITS_M
from geobill.intake.rows import Rows
from geobill.intake.values import read_column, read_text

Check = Callable[[Rows], None]

_PORTUGUESE = {
    "permitido": "permitted", "permitida": "permitted", "existente": "existing",
    "clandestino": "clandestine", "clandestina": "clandestine",
    "planejado": "planned", "planejada": "planned", "suspeito": "suspected", "suspeita": "suspected",
    "não cadastrado": "unregistered", "não cadastrada": "unregistered",
    "nao cadastrado": "unregistered", "nao cadastrada": "unregistered",
    "clandestino não cadastrado": "clandestine_unregistered", "clandestina não cadastrada": "clandestine_unregistered",
    "clandestino nao cadastrado": "clandestine_unregistered", "clandestina nao cadastrada": "clandestine_unregistered",
}  # fmt: skip


def run_checks(rows: Rows, checks: Sequence[Check]) -> None:
    """Run checks in their order; a row keeps the first reason that it is given."""
    for check in checks:
        check(rows)


def check_has_geometry(rows: Rows) -> None:
    """Set aside ``no_geometry``: null, empty, or unreadable in the file; and surfaces, as ``wrong_geometry_type``."""
    for at, part in enumerate(rows.parts):
        unbuilt = part.layer.unbuilt
        mine = np.flatnonzero((rows.part == at) & np.isin(rows.number, list(unbuilt))) if unbuilt else ()
        for code in sorted({code for code, _ in unbuilt.values()}):
            reasons = {int(r): unbuilt[int(rows.number[r])][1] for r in mine if unbuilt[int(rows.number[r])][0] == code}
            where = np.zeros(len(rows), dtype=bool)
            where[list(reasons)] = True
            rows.set_aside(where, code, reasons.__getitem__)
    missing = shapely.is_missing(rows.geometry) | shapely.is_empty(rows.geometry)
    rows.set_aside(missing, "no_geometry", "it has no geometry, so no length and no place")


def check_type(*allowed: str) -> Check:
    """Make the check for ``wrong_geometry_type``: anything but the types that are allowed."""
    wanted = [shapely.GeometryType[a.upper()].value for a in allowed]

    def check(rows: Rows) -> None:
        kinds = shapely.get_type_id(rows.geometry)
        rows.set_aside(
            ~np.isin(kinds, wanted),
            "wrong_geometry_type",
            lambda r: (
                f"it is {_kind(rows.geometry[r])}{rows.drawn_as(r)}, where {' or '.join(allowed)} is wanted"
                f"{_instead(rows.geometry[r])}"
            ),
        )

    return check


def _kind(geometry: shapely.Geometry) -> str:
    """Name a geometry's type, and what a collection holds."""
    if geometry.geom_type != "GeometryCollection":
        return f"a {geometry.geom_type}"
    held = Counter(g.geom_type for g in geometry.geoms)
    return f"a GeometryCollection of {', '.join(f'{n} {kind}' for kind, n in sorted(held.items()))}"


def _instead(geometry: shapely.Geometry) -> str:
    """Say what to do about a geometry of the wrong type."""
    kind = geometry.geom_type
    if "Polygon" in kind:
        return (
            ": an area is no stretch of line; ask for the axis as a line (a map of values goes to import land-values)"
        )
    if "Point" in kind:
        return ": a place has neither length nor area; cabinets go to import cabinets"
    return ": a network goes to import network" if "Line" in kind else ": send each kind as rows of its own"


def check_finite(rows: Rows) -> None:
    """Set aside ``invalid_geometry``: a coordinate in the file that is not a number, or infinite."""
    xy, row = shapely.get_coordinates(rows.raw, return_index=True)
    bad = np.zeros(len(rows), dtype=bool)
    bad[row[~np.isfinite(xy).all(axis=1)]] = True
    rows.set_aside(bad, "invalid_geometry", "a coordinate is not a finite number")


def check_carried(rows: Rows) -> None:
    """Set aside ``invalid_geometry``: coordinates that have no place in the workspace's system."""
    bounds = shapely.bounds(rows.geometry)
    rows.set_aside(
        ~np.isfinite(bounds).all(axis=1), "invalid_geometry", f"its coordinates have no place in {rows.uses[0].target}"
    )


def check_length(rows: Rows) -> None:
    """Set aside ``zero_length``: a length that rounds to nothing."""
    precision = rows.options.length_precision_m
    with np.errstate(invalid="ignore"):
        lengths = shapely.length(rows.geometry)
    finite = np.isfinite(lengths)
    nothing = finite & (whole_units(np.where(finite, np.minimum(lengths, 1e9), 1.0), precision) == 0)
    rise = _rises(rows)
    risers = nothing & (rise >= float(precision)) & rows.standing

    def reason(r: int) -> str:
        high = f"; it rises {rise[r]:.2f} m, and lengths are those of the plan" if risers[r] else ""
        return f"its length, {lengths[r]:.6f} m, rounds to 0 at {precision} m{high}"

    rows.set_aside(nothing, "zero_length", reason)
    rows.note(
        "vertical_risers",
        "warning",
        f"{{n}} row(s) only rise (all risers of this import: {rise[risers].sum():.2f} m): on a plan they have no length, so "
        "they are set aside and nothing is charged for them.",
        "Make sure that they are risers and not lines that lost their vertices.",
        risers,
    )


def _rises(rows: Rows) -> np.ndarray:
    """Height from each row's lowest vertex to its highest, in metres."""
    return np.concatenate(
        [
            np.zeros(len(p.layer.frame)) if p.layer.rises is None else p.layer.rises * UNITS_M[p.options.unit]
            for p in rows.parts
        ]
    )


STRAY_M = 10_000.0
TOO_LARGE = 10**9  # no width, volume or value of a square metre comes near; totals stay within the ledger's integers


def check_place(rows: Rows) -> None:
    """Set aside ``outside_municipality``: wholly outside the box and its margin, or with a vertex far astray.

    A line that begins in the municipality and reaches STRAY_M beyond its box has a vertex that an export put there; its
    metres would lower the operator's R. One that reaches over the box by less is taken, and said.
    """
    m = rows.municipality
    rows.set_aside(
        ~inside(rows.geometry, m),
        "outside_municipality",
        f"it lies wholly outside {m.name} and {m.margin_m:g} m around it",
    )
    beyond = reach_beyond(rows.geometry, m)
    rows.set_aside(
        beyond > STRAY_M,
        "outside_municipality",
        lambda r: (
            f"it reaches {beyond[r]:,.0f} m beyond {m.name}: a vertex has gone astray; correct it or cut the line off"
        ),
    )
    over = rows.standing & (beyond > 0)
    metres = float(metres_beyond(rows.geometry[over], m).sum())
    outside = f", {metres:,.2f} of them outside" if metres else ""
    rows.note(
        "reaches_outside",
        "warning",
        f"{{n}} row(s) reach beyond {m.name}, by up to {beyond[over].max(initial=0):,.0f} m; all their metres count in R"
        f"{outside}.",
        "Cut them at the municipality's border if what lies beyond isn't in its streets.",
        over,
    )


def fill_operator(rows: Rows) -> None:
    """Let the operator who was named for a whole layer own its rows."""
    for at, part in enumerate(rows.parts):
        if part.options.operator:
            rows.values["operator"][rows.part == at] = part.options.operator


def check_operator(rows: Rows) -> None:
    """Set aside ``unknown_operator``: nobody named, or nobody whom the workspace knows."""
    if not rows.has("operator"):
        return
    known, named = set(rows.operators), rows.values["operator"]
    rows.set_aside(
        np.array([n not in known for n in named], dtype=bool),
        "unknown_operator",
        lambda r: (
            f"{rows.column('operator', r)} names no operator"
            if named[r] is None
            else f"the workspace has no operator {named[r]!r}.{nearest(named[r], known)}"
        ),
    )


def check_numbers(*keys: str) -> Check:
    """Make the check for ``number_unreadable`` under some keys."""

    def check(rows: Rows) -> None:
        where, reason = rows.fault_mask(*keys)
        rows.set_aside(where, "number_unreadable", reason)

    return check


def check_positive(key: str, noun: str, missing: str, not_positive: str, unit: str) -> Check:
    """Make the check for a figure that must be there and more than 0, such as ``width_missing``."""

    def check(rows: Rows) -> None:
        values = rows.values[key]
        rows.set_aside(np.array([v is None for v in values], dtype=bool), missing, f"it has no {noun}")
        high = np.array([v is not None and v >= TOO_LARGE for v in values], dtype=bool)
        rows.set_aside(high, "number_unreadable", lambda r: f"its {noun}, {values[r]} {unit}, is too large to be meant")
        low = np.array([v is not None and v <= 0 for v in values], dtype=bool)
        rows.set_aside(low, not_positive, lambda r: f"its {noun} is {values[r]} {unit}: it must be more than 0")

    return check


def check_dates(rows: Rows) -> None:
    """Set aside ``date_unreadable``: no date, or a removal before the installation."""
    where, reason = rows.fault_mask("installed_on", "removed_on")
    rows.set_aside(where, "date_unreadable", reason)
    start, end = rows.values["installed_on"], rows.values["removed_on"]
    turned = np.array([s is not None and e is not None and e < s for s, e in zip(start, end, strict=True)], dtype=bool)
    rows.set_aside(
        turned, "date_unreadable", lambda r: f"it was removed on {end[r]}, before it was installed on {start[r]}"
    )


def check_repeated_ids(rows: Rows, key: str) -> None:
    """Find ids that stand on more than one accepted row of a layer; layers number their rows each for itself."""
    if not rows.has(key):
        return
    named = list(zip(rows.part.tolist(), rows.ids, strict=True))
    counts = Counter(one for one, stands in zip(named, rows.standing, strict=True) if stands)
    repeated = np.array([counts[one] > 1 for one in named], dtype=bool) & rows.standing
    message = (
        f"{{n}} rows share their {key} ({rows.column(key)}) with another row: they are billed, but can't be told apart."
    )
    rows.note("duplicate_id", "warning", message, "Ask for ids that are unique.", repeated)


def _status_words(own: Mapping[str, str]) -> dict[str | None, str]:
    """Return what each word, its case folded, says of a status; ``own`` are those of the file."""
    return {None: "existing", **_PORTUGUESE, **{s: s for s in STATUSES}, **{w.casefold(): s for w, s in own.items()}}


def unknown_words(values: pd.Series, own: Mapping[str, str]) -> list[str]:
    """Return the words of a column that say no status, in order; ``own`` are the file's words for one."""
    known = _status_words(own)
    words = {t.strip() for t in read_column(values, read_text)[0] if t is not None}
    return sorted(w for w in words if w.casefold() not in known)


def read_status(rows: Rows) -> np.ndarray:
    """Status of every row, "existing" where nothing is said.

    Raises
    ------
    InputError
        If any row says something else: a status decides about doubling and is never guessed.
    """
    said = rows.values["status"]
    meaning = _status_words({w: s for part in rows.parts for w, s in part.options.statuses.items()})
    folded = [None if s is None else s.casefold() for s in said]
    strange = sorted({s for s, f in zip(said, folded, strict=True) if f not in meaning})
    if strange:
        shown = ", ".join(repr(s) for s in strange[:10]) + (" …" if len(strange) > 10 else "")
        name = rows.parts[0].layer.path.name
        place = (
            f"{name} has {shown} in {rows.column('status')}"
            if rows.has("status")
            else f"--status is {shown}, which is none"
        )
        raise InputError(
            f"{place} as a status. A status decides whether the price "
            f"is doubled, so it is never guessed: it must be one of {', '.join(STATUSES)} (permitido, existente, "
            "planejado, clandestino, não cadastrado, clandestino não cadastrado, suspeito), or blank for existing. Correct "
            "the column, or leave the status unmapped."
        )
    return np.array([meaning[f] for f in folded], dtype=object)
