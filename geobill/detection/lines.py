"""What a survey's lines show that no permit allows, and the other way round: sums and findings."""

from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property

import geopandas as gpd
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from geobill.detection.compared import BELOW_MINIMUM, MISSING, MORE, MOVED, UNDECLARED, compare
from geobill.detection.cut import stretches
from geobill.detection.drawn import Drawn, drawn
from geobill.detection.intervals import Floats, Ints, counted
from geobill.detection.line_rule import TO_RIVAL, LineRule
from geobill.detection.offsets import Offsets, offsets, offsets_to
from geobill.detection.rules import RULES
from geobill.domain.detection import DetectionTerms
from geobill.domain.network import DOUBLED, SUSPECTED
from geobill.frames import FOUND, SEGMENTS, SURVEY_LINES, check_columns, whole_units

_CENTIMETRE = Decimal("0.01")
_NUMBERS = {"source_row": np.int64, "start_m": np.float64, "end_m": np.float64}  # columns of FOUND that aren't text


@dataclass(frozen=True)
class LineDetection:
    """A comparison of lines; metres are exact, to the centimetre.

    Matched and undeclared metres add up to the survey's. What moved, what is more than permitted and leftovers below the
    minimum length are among the matched. ``findings`` is a frame by `frames.FOUND`. ``runs`` are all stretches of the
    survey in the order of its rows: ``source_row``, ``start_m``, ``end_m``, ``length_m`` (decimal text), ``state`` and
    ``permitted``, the source row of the permitted line or None.
    """

    survey_length_m: Decimal
    matched_m: Decimal
    undeclared_m: Decimal
    moved_m: Decimal
    more_m: Decimal
    below_minimum_m: Decimal
    permitted_length_m: Decimal
    missing_m: Decimal
    findings: gpd.GeoDataFrame
    runs: pd.DataFrame


def detect_lines(survey: gpd.GeoDataFrame, permitted: gpd.GeoDataFrame, terms: DetectionTerms) -> LineDetection:
    """Hold a survey's lines against those that are permitted, by metre.

    Parameters
    ----------
    survey : GeoDataFrame
        By `frames.SURVEY_LINES`, in the workspace's system.
    permitted : GeoDataFrame
        By `frames.SEGMENTS`, in the same system: only what is permitted and in force, and rows whose case is under way,
        which are matched and to which no distance is taken.
    terms : DetectionTerms

    Raises
    ------
    InputError
        Where a frame lacks a column.
    """
    check_columns(survey, SURVEY_LINES, "The survey")
    check_columns(permitted, SEGMENTS, "The permitted network")
    survey, permitted = survey.reset_index(drop=True), permitted.reset_index(drop=True)
    survey_lines, permitted_lines = (drawn(np.asarray(f.geometry.values)) for f in (survey, permitted))
    compared = compare(survey, survey_lines, permitted, permitted_lines, terms)
    surveyed = _Side(survey, survey_lines, _shared_out(compared.surveyed, survey_lines))
    allowed = _Side(permitted, permitted_lines, _shared_out(compared.permitted, permitted_lines))
    found = [_found(rule, surveyed, allowed, terms) for rule in RULES if isinstance(rule, LineRule)]
    findings = pd.concat([f for f in found if len(f)] or found[:1], ignore_index=True)
    by_state = surveyed.runs.groupby("state")["cm"].sum().to_dict()
    whole = int(surveyed.runs["cm"].sum())
    undeclared = int(by_state.get(UNDECLARED, 0))
    return LineDetection(
        survey_length_m=_metres(whole),
        matched_m=_metres(whole - undeclared),
        undeclared_m=_metres(undeclared),
        moved_m=_metres(by_state.get(MOVED, 0)),
        more_m=_metres(by_state.get(MORE, 0)),
        below_minimum_m=_metres(by_state.get(BELOW_MINIMUM, 0)),
        permitted_length_m=_metres(allowed.runs["cm"].sum()),
        missing_m=_metres(allowed.runs.loc[allowed.runs["state"] == MISSING, "cm"].sum()),
        findings=gpd.GeoDataFrame(findings, geometry="geometry", crs=survey.crs),
        runs=_told(surveyed.runs, survey, permitted),
    )


@dataclass(frozen=True)
class _Side:
    frame: gpd.GeoDataFrame
    lines: Drawn
    runs: pd.DataFrame

    @cached_property
    def near(self) -> Drawn:
        """What distances are taken to: of what is on record only the lawful rows, not those that a case is about."""
        if "status" not in self.frame.columns:  # a survey
            return self.lines
        accused = self.frame["status"].isin(DOUBLED | {SUSPECTED}).to_numpy()
        return drawn(np.asarray(self.frame.geometry.values)[~accused]) if accused.any() else self.lines

    @cached_property
    def widths(self) -> Floats:
        return pd.to_numeric(self.frame["width_m"]).to_numpy(dtype=float)


def _metres(centimetres: int) -> Decimal:
    return (Decimal(int(centimetres)) * _CENTIMETRE).quantize(_CENTIMETRE)


def _metres_text(centimetres: Ints) -> NDArray[np.object_]:
    return np.array([f"{cm // 100}.{cm % 100:02d}" for cm in centimetres.tolist()], dtype=object)


def _shared_out(runs: pd.DataFrame, lines: Drawn) -> pd.DataFrame:
    """Add ``cm``: each row's length, rounded once, shared out over its stretches by largest remainder."""
    units = whole_units(lines.row_length, _CENTIMETRE)
    row = runs["row"].to_numpy()
    exact = (runs["end_m"] - runs["start_m"]).to_numpy() * 100
    floor = np.floor(exact)
    short = units - np.bincount(row, floor, minlength=len(units)).astype(np.int64)
    order = np.lexsort((-(exact - floor), row))
    size = np.bincount(row, minlength=len(units))
    rank = np.empty(len(row), dtype=np.int64)
    rank[order] = counted(size)
    return runs.assign(cm=floor.astype(np.int64) + (rank < short[row]))


def _found(rule: LineRule, surveyed: _Side, allowed: _Side, terms: DetectionTerms) -> pd.DataFrame:
    """Make the findings of one kind, by `frames.FOUND`."""
    here, there = (allowed, surveyed) if rule.on_permitted else (surveyed, allowed)
    own, other = here.frame, there.frame
    runs = here.runs.assign(
        width_m=_taken(here.widths, here.runs["row"].to_numpy(), np.nan),
        other_width_m=_taken(there.widths, here.runs["other"].to_numpy(), np.nan),
    )
    picked = runs[rule.pick(runs)]
    if not len(picked):
        return pd.DataFrame({name: np.zeros(0, dtype=_NUMBERS.get(name, object)) for name in FOUND})
    picked = _whole(picked, rule.by_other)
    if rule.least_length:
        whole_row = here.lines.row_length[picked["row"].to_numpy()]
        length = (picked["end_m"] - picked["start_m"]).to_numpy()
        picked = picked[(length >= float(terms.min_length_m)) | (length >= whole_row - 1e-6)]
    picked = picked[picked["cm"] > 0]
    row, second = picked["row"].to_numpy(), picked["other"].to_numpy()
    part = picked["part"].to_numpy()
    before = here.lines.offset[part]
    geometry = stretches(
        here.lines.parts, part, picked["start_m"].to_numpy() - before, picked["end_m"].to_numpy() - before
    )
    nearest = offsets(geometry, there.near)
    apart = nearest.mean
    if rule.apart == TO_RIVAL:
        apart = offsets_to(geometry, _taken(np.asarray(own.geometry.values), picked["rival"].to_numpy(), None)).mean
    sure = rule.confidence(apart, (picked["end_m"] - picked["start_m"]).to_numpy(), terms)
    nobody = np.full(len(picked), None, dtype=object)
    mine, theirs = (_column(own, "width_m", row), _column(other, "width_m", second))
    columns = {
        "kind": np.full(len(picked), rule.kind, dtype=object),
        "source_row": own["source_row"].to_numpy()[row],
        "segment": _column(own, "segment", row),
        "operator": _column(own, "operator", row),
        "service": _column(own, "service", row),
        "level": _column(own, "level", row),
        "start_m": picked["start_m"].to_numpy(),
        "end_m": picked["end_m"].to_numpy(),
        "length_m": _metres_text(picked["cm"].to_numpy()),
        "permitted": _column(own, "segment", row) if rule.on_permitted else _column(other, "segment", second),
        **_statistics(nearest),
        "confidence": _text(sure),
        "width_m": nobody if rule.on_permitted else mine,
        "permitted_width_m": mine if rule.on_permitted else theirs,
        "volume_m3": nobody,
        "permitted_volume_m3": nobody,
        "geometry": geometry,
    }
    return pd.DataFrame({name: columns[name] for name in FOUND})


def _whole(picked: pd.DataFrame, by_other: bool) -> pd.DataFrame:
    """Join neighbouring stretches of one part; the other row is that of the longest of them."""
    length = picked["end_m"] - picked["start_m"]
    apart = (picked["part"] != picked["part"].shift()) | (picked["start_m"] - picked["end_m"].shift() > 1e-6)
    if by_other:
        apart |= picked["other"] != picked["other"].shift()
    picked = picked.assign(stretch=apart.cumsum(), length=length)
    longest = picked.sort_values("length", kind="stable").groupby("stretch").last()
    sums = picked.groupby("stretch").agg(start_m=("start_m", "min"), end_m=("end_m", "max"), cm=("cm", "sum"))
    longest[["start_m", "end_m", "cm"]] = sums
    return longest.reset_index(drop=True)


def _taken(values: NDArray, at: Ints, else_: object) -> NDArray:
    out = np.full(len(at), else_, dtype=values.dtype)
    out[at >= 0] = values[at[at >= 0]]
    return out


def _column(frame: gpd.GeoDataFrame, name: str, row: Ints) -> NDArray[np.object_]:
    values = frame[name].astype(object).where(frame[name].notna(), None).to_numpy(dtype=object)
    return _taken(values, row, None)


def _statistics(found: Offsets) -> dict[str, NDArray[np.object_]]:
    return {
        "offset_mean_m": _text(found.mean),
        "offset_p95_m": _text(found.p95),
        "offset_max_m": _text(found.max),
    }


def _text(values: NDArray[np.float64]) -> NDArray[np.object_]:
    return np.array([None if np.isnan(v) else f"{v:.2f}" for v in values], dtype=object)


def _told(runs: pd.DataFrame, survey: gpd.GeoDataFrame, permitted: gpd.GeoDataFrame) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "source_row": survey["source_row"].to_numpy()[runs["row"]],
            "start_m": runs["start_m"],
            "end_m": runs["end_m"],
            "length_m": _metres_text(runs["cm"].to_numpy()),
            "state": runs["state"],
            "permitted": _column(permitted, "source_row", runs["other"].to_numpy()),
        }
    )
