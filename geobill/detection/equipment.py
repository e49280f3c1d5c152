"""What a survey's poles, cabinets and other equipment show that no permit allows, and the other way round."""

from dataclasses import dataclass
from decimal import Decimal

import geopandas as gpd
import numpy as np
import pandas as pd
import shapely
from numpy.typing import NDArray

from geobill.detection.compared import MATCHED, MISSING, MOVED, UNDECLARED
from geobill.detection.equipment_pairs import pair
from geobill.detection.equipment_rule import EquipmentRule
from geobill.detection.rules import RULES
from geobill.domain.detection import LARGER, DetectionTerms
from geobill.frames import EQUIPMENT, FOUND, SURVEY_EQUIPMENT, check_columns


@dataclass(frozen=True)
class EquipmentDetection:
    """A comparison of equipment, in pieces: surveyed = matched + undeclared.

    What moved and what is larger than permitted are among the matched; ``missing`` are permitted ones. ``findings`` is a
    frame by `frames.FOUND`. ``runs`` are all surveyed rows in their order: ``source_row``, ``state``, ``permitted`` (source
    row of the partner, or None) and ``distance_m`` to it (float; without one to the nearest permitted row that it could be,
    nan for none).
    """

    surveyed: int
    matched: int
    undeclared: int
    missing: int
    moved: int
    larger: int
    findings: gpd.GeoDataFrame
    runs: pd.DataFrame


def detect_equipment(
    survey: gpd.GeoDataFrame, permitted: gpd.GeoDataFrame, terms: DetectionTerms
) -> EquipmentDetection:
    """Hold surveyed equipment against what is permitted, one to one; see `equipment_pairs.pair`.

    Parameters
    ----------
    survey : GeoDataFrame
        By `frames.SURVEY_EQUIPMENT`, in the workspace's system. One without any row doesn't speak of equipment: nothing is
        missing in it.
    permitted : GeoDataFrame
        By `frames.EQUIPMENT`, in the same system: only what is permitted and in force.
    terms : DetectionTerms

    Raises
    ------
    InputError
        Where a frame lacks a column, or so much lies within reach that nothing could be told apart.
    """
    check_columns(survey, SURVEY_EQUIPMENT, "The survey")
    check_columns(permitted, EQUIPMENT, "The permitted equipment")
    survey, permitted = survey.reset_index(drop=True), permitted.reset_index(drop=True)
    if not len(survey):
        permitted = permitted.iloc[:0]
    pairs = pair(survey, permitted, terms)
    surveyed = _with_volumes(pairs.surveyed, survey, permitted)
    allowed = _with_volumes(pairs.permitted, permitted, survey)
    found = [
        _found(rule, allowed if rule.on_permitted else surveyed, survey, permitted, terms)
        for rule in RULES
        if isinstance(rule, EquipmentRule)
    ]
    findings = pd.concat([f for f in found if len(f)] or found[:1], ignore_index=True)
    states = surveyed["state"]
    return EquipmentDetection(
        surveyed=len(survey),
        matched=int(states.isin((MATCHED, MOVED)).sum()),
        undeclared=int((states == UNDECLARED).sum()),
        missing=int((allowed["state"] == MISSING).sum()),
        moved=int((states == MOVED).sum()),
        larger=int((findings["kind"] == LARGER).sum()),
        findings=gpd.GeoDataFrame(findings, geometry="geometry", crs=survey.crs),
        runs=pd.DataFrame(
            {
                "source_row": survey["source_row"],
                "state": states,
                "permitted": _taken(permitted, "source_row", surveyed["other"].to_numpy()),
                "distance_m": surveyed["distance_m"],
            }
        ),
    )


def _with_volumes(rows: pd.DataFrame, own: gpd.GeoDataFrame, other: gpd.GeoDataFrame) -> pd.DataFrame:
    mine = _taken(own, "volume_m3", rows["row"].to_numpy())
    theirs = _taken(other, "volume_m3", rows["other"].to_numpy())
    return rows.assign(volume_m3=_exact(mine), other_volume_m3=_exact(theirs))


def _exact(texts: NDArray[np.object_]) -> pd.Series:
    return pd.Series([None if t is None else Decimal(str(t)) for t in texts], dtype=object)


def _found(
    rule: EquipmentRule,
    rows: pd.DataFrame,
    survey: gpd.GeoDataFrame,
    permitted: gpd.GeoDataFrame,
    terms: DetectionTerms,
) -> pd.DataFrame:
    """Make the findings of one kind, by `frames.FOUND`."""
    own = permitted if rule.on_permitted else survey
    picked = rows[rule.pick(rows)]
    row, second = picked["row"].to_numpy(), picked["other"].to_numpy()
    nobody = np.full(len(picked), None, dtype=object)
    offset = _text(picked["distance_m"].to_numpy(dtype=float))
    mine = _taken(own, "volume_m3", row)
    columns = {
        "kind": np.full(len(picked), rule.kind, dtype=object),
        "source_row": own["source_row"].to_numpy()[row],
        "segment": _taken(own, "equipment", row),
        "operator": _taken(own, "operator", row),
        "service": _taken(own, "service", row),
        "level": nobody,
        "start_m": np.zeros(len(picked)),
        "end_m": np.zeros(len(picked)),
        "length_m": np.full(len(picked), "0.00", dtype=object),
        "permitted": _taken(own, "equipment", row) if rule.on_permitted else _taken(permitted, "equipment", second),
        "offset_mean_m": offset,
        "offset_p95_m": offset,
        "offset_max_m": offset,
        "confidence": _text(rule.confidence(picked, terms)),
        "width_m": nobody,
        "permitted_width_m": nobody,
        "volume_m3": nobody if rule.on_permitted else mine,
        "permitted_volume_m3": mine if rule.on_permitted else _taken(permitted, "volume_m3", second),
        "geometry": shapely.point_on_surface(np.asarray(own.geometry.values)[row]),
    }
    return pd.DataFrame({name: columns[name] for name in FOUND})


def _taken(frame: gpd.GeoDataFrame, name: str, at: NDArray[np.int64]) -> NDArray[np.object_]:
    """Values of a column at some positions; None where the position is -1 or the value is absent."""
    values = frame[name].astype(object).where(frame[name].notna(), None).to_numpy(dtype=object)
    out = np.full(len(at), None, dtype=object)
    out[at >= 0] = values[at[at >= 0]]
    return out


def _text(values: NDArray[np.float64]) -> NDArray[np.object_]:
    return np.array([None if np.isnan(v) else f"{v:.2f}" for v in values], dtype=object)
