"""What an operator declares against what it drew; nothing here sets a length that is charged."""

from dataclasses import dataclass

import numpy as np
import shapely

from geobill.intake.rows import Rows

DIFFERS = 0.10  # of the drawn length, either way
_ROWS = 20  # fewer show no unit
_NAMED = 5


@dataclass(frozen=True)
class Unit:
    """A unit of length in which a column may be."""

    name: str
    per_metre: float
    within: float = 0.03  # of the ratio


# degrees: a metre is 0.0000090 of a degree to the north and up to 0.0000107 to the east in Brazil (latitudes to 34 S)
_UNITS = (
    Unit("feet", 1 / 0.3048),
    Unit("centimetres", 100),
    Unit("millimetres", 1000),
    Unit("kilometres", 0.001),
    Unit("miles", 1 / 1609.344),
    Unit("degrees", 1 / 105_000, 0.15),
)


def check_declared(rows: Rows) -> None:
    """Find declared lengths that differ from the drawn ones, and those that are plainly in another unit than metres."""
    if not rows.has("declared_length"):
        return
    declared = np.array([np.nan if d is None else float(d) for d in rows.values["declared_length"]])
    drawn = np.full(len(rows), np.nan)
    measured = rows.standing | (rows.code == "duplicate")
    drawn[measured] = shapely.length(rows.geometry[measured])
    for at in range(len(rows.parts)):
        both = (rows.part == at) & (declared > 0) & (drawn > 0)
        unit = declared_unit(declared[both] / drawn[both])
        if unit is not None:
            _note_unit(rows, both, unit, declared, drawn)
            declared[both] /= unit.per_metre
        _note_differences(rows, both, declared, drawn)


def declared_unit(ratios: np.ndarray) -> Unit | None:
    """Find the unit in which most of a layer's lengths are declared, where it is plainly another than metres."""
    if len(ratios) < _ROWS:
        return None
    median = float(np.median(ratios))
    like = np.abs(ratios / median - 1) <= DIFFERS
    if like.mean() < 0.5:
        return None
    return next((u for u in _UNITS if abs(median / u.per_metre - 1) <= u.within), None)


def differing(declared: np.ndarray, drawn: np.ndarray) -> np.ndarray:
    """Whether each declared length is more than ``DIFFERS`` off the drawn one, both in metres."""
    return np.abs(declared - drawn) > DIFFERS * drawn


def _note_unit(rows: Rows, both: np.ndarray, unit: Unit, declared: np.ndarray, drawn: np.ndarray) -> None:
    median = float(np.median(declared[both] / drawn[both]))
    rows.note(
        "declared_length_unit",
        "warning",
        f"{{n}} row(s) declare lengths in {unit.name}, as it seems: half of them are more than {median:.6g} times the drawn "
        "metres. Taken for metres they would be charged so where the policy length_source is declared.",
        "Ask the operator for metres, or name the unit of declared_length in a profile.",
        both,
    )


def _note_differences(rows: Rows, both: np.ndarray, declared: np.ndarray, drawn: np.ndarray) -> None:
    off = np.zeros(len(rows), dtype=bool)
    off[both] = differing(declared[both], drawn[both])
    by_metres = sorted(np.flatnonzero(off), key=lambda r: (-abs(declared[r] - drawn[r]), r))[:_NAMED]
    largest = "; ".join(
        f"{rows.ids[r]} in {rows.shown(r)}: {declared[r]:.2f} m for {drawn[r]:.2f} m drawn" for r in by_metres
    )
    rows.note(
        "declared_length_differs",
        "warning",
        f"{{n}} of {int(both.sum())} row(s) declare a length more than {DIFFERS:.0%} off the drawn one: "
        f"{declared[off].sum():.2f} m for {drawn[off].sum():.2f} m drawn (all rows: {declared[both].sum():.2f} m for "
        f"{drawn[both].sum():.2f} m). The largest: {largest}.",
        "The drawn length is charged, unless the policy length_source says otherwise: ask the operator which is right.",
        off,
    )
