"""Several lines of one operator in one strip: a report; whether the strip pays once is the policy ``same_strip``."""

import numpy as np
import pandas as pd

from geobill.intake.duplicates import Days
from geobill.intake.overlaps import edges_of, find_runs
from geobill.intake.rows import Rows

WIDEST_M = 5.0  # a wider strip is taken for this wide: a width in centimetres would put whole blocks into one trench
ALONG_WIDTHS = 2  # a shared run is at least so many widths long; less is a joint or a crossing
_NAMED = 6


def check_same_trench(rows: Rows) -> None:
    """Find lines of one operator that run, on a common day, within half the wider strip's width of one another."""
    standing = np.flatnonzero(rows.standing)
    if len(standing) < 2:
        return
    v = rows.values
    owners, names = pd.factorize(pd.Series(v["operator"][standing], dtype=object))
    kinds, labels = pd.factorize(
        pd.Series([" ".join(t for t in (v["service"][r], v["level"][r]) if t) for r in standing], dtype=object)
    )
    width = np.minimum(np.array([float(v["width"][r]) for r in standing]), WIDEST_M)
    days = Days.of(v["installed_on"][standing], v["removed_on"][standing])

    def wanted(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return (a != b) & (owners[a] == owners[b]) & days.common(a, b)

    def reach(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return np.maximum(width[a], width[b]) / 2

    edges = edges_of(rows.geometry[standing])
    runs = find_runs(edges, edges, reach, wanted, float(width.max()) / 2)
    line, other, metres = runs.metres_by_pair()
    long = metres >= ALONG_WIDTHS * np.maximum(width[line], width[other])
    shared = set(zip(line[long].tolist(), other[long].tolist(), strict=True))
    if not shared:
        return
    runs = runs.only(np.array([pair in shared for pair in zip(runs.line.tolist(), runs.other.tolist(), strict=True)]))
    where = np.zeros(len(rows), dtype=bool)
    where[standing[runs.line]] = True
    pairs = pd.DataFrame({"owner": owners[runs.line], "kind": kinds[runs.line], "beside": kinds[runs.other]})
    said = []
    for (owner, kind, beside), group in pairs.groupby(["owner", "kind", "beside"]):
        some = runs.only(group.index.to_numpy())
        whose = f"{names[owner]}: " if len(names) > 1 else ""
        said.append(
            (
                float(some.metres(len(standing)).sum()),
                f"{whose}{_called(labels[kind])} beside {_called(labels[beside])}",
            )
        )
    said.sort(key=lambda one: (-one[0], one[1]))
    listed = "; ".join(f"{total:.2f} m of {what}" for total, what in said[:_NAMED])
    rows.note(
        "same_trench",
        "note",
        "{n} row(s) run in one strip with another of their operator (within half the wider strip's width, over at least two "
        f"widths). Of the whole import {runs.metres(len(standing)).sum():.2f} m: {listed}.",
        "Whether a shared strip is charged once is the policy same_strip (art. 7 § 1).",
        where,
    )


def _called(label: str) -> str:
    return label or "lines without a service"
