"""A survey held against what permits allow: read, checked for a shift of the whole, matched, priced, kept for the review."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal

import geopandas as gpd
import numpy as np
import pandas as pd
import shapely
from pyproj import CRS
from pyproj.exceptions import CRSError

from geobill.detection.equipment import EquipmentDetection, detect_equipment
from geobill.detection.equipment_shift import find_equipment_shift
from geobill.detection.lines import LineDetection, detect_lines
from geobill.detection.shift import ConstantShift, find_constant_shift
from geobill.domain.dates import BillingMonth
from geobill.domain.detection import MISSING, DetectionTerms, FieldFinding, Survey
from geobill.domain.finding import Finding
from geobill.domain.network import PLANNED, SUSPECTED, Municipality
from geobill.domain.record import to_plain
from geobill.errors import InputError
from geobill.frames import FOUND
from geobill.intake.crs import label
from geobill.intake.shift import find_datum_shift
from geobill.pipeline.finding_prices import price_findings
from geobill.pipeline.judged_once import find_decided, part_decided
from geobill.pipeline.month import Stored
from geobill.pipeline.place import place_of
from geobill.pipeline.review import check_name
from geobill.pipeline.survey_files import FieldFile, Seen, as_permitted, read_field_file
from geobill.pricing.in_force import stands
from geobill.store.finding_queue import FindingQueue
from geobill.store.surveys import SurveyRegister
from geobill.store.workspace import Workspace

DECIMALS = (
    "length_m", "offset_mean_m", "offset_p95_m", "offset_max_m", "confidence", "width_m", "permitted_width_m", "volume_m3",
    "permitted_volume_m3",
)  # fmt: skip
# on record, and judged by a case of their own: a survey that shows them again says nothing new
IN_A_CASE = frozenset({SUSPECTED, "clandestine", "unregistered", "clandestine_unregistered"})


@dataclass(frozen=True)
class Wanted:
    """What is compared: on which terms, whose rows and services (none named: all), as permitted on which day.

    ``default_width_m`` prices what the survey gives no width for; ``against`` compares with a file instead of what is on
    record; ``again`` puts the comparison in the place of earlier ones of the same file (`takes_place_of`).
    """

    terms: DetectionTerms
    on: date
    operator: str | None = None
    services: tuple[str, ...] = ()
    default_width_m: Decimal | None = None
    against: FieldFile | None = None
    again: bool = False


@dataclass(frozen=True)
class Detection:
    """What a comparison came to; ``kept`` is False where nothing was recorded (dry run, or the survey misses as a whole).

    ``shapes`` are the findings' geometries, in their order; ``replaces`` the earlier comparisons of the same file; ``against``
    the segments and equipment of the file that it was compared with, None where that was what is on record.
    """

    survey: Survey
    kept: bool
    findings: tuple[FieldFinding, ...]
    shapes: np.ndarray
    seen: Seen
    warnings: tuple[Finding, ...]
    replaces: tuple[str, ...] = ()
    decided: tuple[str, ...] = ()
    against: tuple[gpd.GeoDataFrame, gpd.GeoDataFrame] | None = None


def detect(
    workspace: Workspace, source: FieldFile, wanted: Wanted, *, by: str, now: str, dry_run: bool = False
) -> Detection:
    """Compare a survey with what is permitted, and keep what was found for the review.

    Parameters
    ----------
    workspace : Workspace
    source : FieldFile
        The survey.
    wanted : Wanted
    by : str
        Who compares.
    now : str
        The moment in UTC, ISO text with Z.
    dry_run : bool
        Keep nothing.

    Returns
    -------
    Detection
        Without a finding, and not kept, where the whole survey misses by one shift (``crs_suspect``): that is a fault of
        coordinates, not an undeclared network.

    Raises
    ------
    InputError
        If the file, the operator or a service can't be used, or this very file was compared already.
    """
    place, by = place_of(workspace), check_name(by) if by else by
    with (workspace.database.read if dry_run else workspace.database.write)() as connection:
        stored = Stored(workspace, connection)
        tables, srid = workspace.database.tables, workspace.database.srid
        register, queue = SurveyRegister(connection, tables, srid), FindingQueue(connection, tables, srid)
        _check_operator(wanted.operator, stored)
        seen = _only(read_field_file(source, place, list(stored.operators)), wanted)
        segments, equipment = _permitted(stored, seen, wanted, place)
        seen = _comparable(seen, segments, equipment, source, wanted)
        before = register.find_same(seen.sha256, seen.layer)
        same = [i for i, whose in before.items() if whose == wanted.operator]
        if same and not (wanted.again or dry_run):
            raise InputError(
                f"{source.path.name} was compared already as {', '.join(same)}: a second comparison would put each finding into the "
                "queue twice. Nothing was changed. Give --again to compare it anew: what nobody decided leaves the queue, what was "
                "decided stays."
            )
        suspect = _find_suspect(seen, segments, equipment, place)
        lines = detect_lines(seen.lines, _numbered(segments), wanted.terms)
        boxes = detect_equipment(seen.equipment, _numbered(equipment), wanted.terms)
        both = ((lines.findings, segments), (boxes.findings, equipment))
        found = _joined([] if suspect else [_named(f, rows) for f, rows in both], place)
        compared = {s.id: s.operator for s in register.load_surveys().values() if _is_of(s, seen)}
        before_this = takes_place_of(compared, wanted.operator) if wanted.again else ()
        found, decided = part_decided(found, find_decided(register, queue, before_this))
        new_id = register.new_id()
        amounts, unpriced = price_findings(stored, found, BillingMonth.of(wanted.on), wanted.default_width_m)
        replaces = takes_place_of(before, wanted.operator) if wanted.again else ()
        twice = _find_twice({i: o for i, o in before.items() if i not in (*same, *replaces)}, wanted.operator)
        warnings = (*seen.findings, *((suspect,) if suspect else (*twice, *unpriced)))
        findings = _records(new_id, found, amounts)
        survey = Survey(
            id=new_id,
            file=source.path.name,
            layer=seen.layer,
            sha256=seen.sha256,
            operator=wanted.operator,
            services=wanted.services,
            terms=wanted.terms,
            figures=_figures(lines, boxes, segments),
            warnings=tuple(to_plain(w) for w in warnings),
            suspect=suspect.message if suspect else None,
            compared_on=wanted.on.isoformat(),
            by=by,
            default_width_m=wanted.default_width_m,
            against=None if wanted.against is None else wanted.against.path.name,
        )
        kept, shapes = not dry_run and suspect is None, found.geometry.to_numpy()
        if kept:
            register.save(survey, seen.lines, seen.equipment, findings, shapes, now)
            for old in replaces:
                register.replace(old, new_id, by, now)
    against = None if wanted.against is None else (segments, equipment)
    return Detection(survey, kept, findings, shapes, seen, warnings, replaces if kept else (), decided, against)


def _is_of(survey: Survey, seen: Seen) -> bool:
    """Whether a comparison was one of these very bytes and layers, whatever became of it."""
    return (survey.sha256, survey.layer) == (seen.sha256, seen.layer)


def takes_place_of(before: Mapping[str, str | None], operator: str | None) -> tuple[str, ...]:
    """Return which comparisons of a file a new one of it may replace, out of all of them with the operator of each.

    One for nobody counts every permit, so it takes the place of them all. One for an operator counts that one's permits only:
    it finds all that one for nobody found, and says nothing of what was compared for another operator.

    Examples
    --------
    >>> before = {"V00001": None, "V00002": "alfa", "V00003": "beta"}
    >>> takes_place_of(before, "alfa"), takes_place_of(before, None)
    (('V00001', 'V00002'), ('V00001', 'V00002', 'V00003'))
    """
    return tuple(i for i, whose in before.items() if operator is None or whose in (operator, None))


def _find_twice(before: Mapping[str, str | None], operator: str | None) -> tuple[Finding, ...]:
    """Warn of comparisons of the same file that stay in the queue beside this one."""
    if not before:
        return ()
    named = ", ".join(f"{i} (for {whose or 'nobody'})" for i, whose in before.items())
    message = (
        f"this very file was compared already as {named}, and now for {operator or 'nobody'}: what none of their permits allows is in "
        "the queue once for each"
    )
    if set(before) <= set(takes_place_of(before, operator)):
        fix = f"To have it there once, compare it again with --again: that takes the place of {', '.join(before)}."
    else:
        fix = (
            "If the network is of one of them only, compare it without --operator and with --again, which replaces all of these, then "
            "with --again for that operator."
        )
    return (Finding("compared_before", "warning", message, fix),)


# -- what is compared


def _check_operator(operator: str | None, stored: Stored) -> None:
    if operator is not None and operator not in stored.operators:
        known = ", ".join(stored.operators) or "none yet"
        raise InputError(f"There is no operator {operator!r} in this workspace (known: {known}). Nothing was changed.")


def _only(seen: Seen, wanted: Wanted) -> Seen:
    """Keep the services that are wanted; a row that names none is kept, since nobody knows."""
    if not wanted.services:
        return seen
    kept = [
        frame[frame["service"].isna() | frame["service"].isin(wanted.services)].reset_index(drop=True)
        for frame in (seen.lines, seen.equipment)
    ]
    return Seen(kept[0], kept[1], seen.readings, seen.layers, seen.findings)


def _permitted(
    stored: Stored, seen: Seen, wanted: Wanted, place: Municipality
) -> tuple[gpd.GeoDataFrame, gpd.GeoDataFrame]:
    """Return the rows that may stand in the street on the day, or whose case is under way: those of the operator and services.

    A survey without lines says nothing of lines, one without equipment nothing of equipment: none of them is missing.
    """
    if wanted.against is not None:
        frames = as_permitted(read_field_file(wanted.against, place, list(stored.operators)))
    else:
        frames = (stored.segments, stored.equipment)
    segments, equipment = (_standing(frame, wanted) for frame in frames)
    return segments if len(seen.lines) else segments[:0], equipment if len(seen.equipment) else equipment[:0]


def _standing(frame: gpd.GeoDataFrame, wanted: Wanted) -> gpd.GeoDataFrame:
    keep = np.array(frame["status"] != PLANNED)
    if wanted.operator is not None and wanted.against is None:
        keep &= (frame["operator"] == wanted.operator).to_numpy()
    if wanted.services:
        keep &= (frame["service"].isna() | frame["service"].isin(wanted.services)).to_numpy()
    frame = frame[keep]
    there = np.array([stands(row, wanted.on) for row in frame.itertuples()], dtype=bool)
    return frame[there].reset_index(drop=True)


def _comparable(
    seen: Seen, segments: gpd.GeoDataFrame, equipment: gpd.GeoDataFrame, source: FieldFile, wanted: Wanted
) -> Seen:
    """Keep the kinds that have something on the other side: compared with nothing, all of it would be undeclared.

    Raises
    ------
    InputError
        If nothing is left.
    """
    if not len(seen.lines) and not len(seen.equipment):
        why = f": {seen.set_aside[0].reason} (row {seen.set_aside[0].row})" if seen.set_aside else ""
        raise InputError(
            f"No row of {source.path.name} can be compared{why}. Nothing was changed. geobill inspect shows what is in the file."
        )
    whose = f" of {wanted.operator}" if wanted.operator else ""
    alone = [
        (len(mine), what)
        for mine, theirs, what in (
            (seen.lines, segments, "stretch of network"),
            (seen.equipment, equipment, "cabinet"),
        )
        if len(mine) and not len(theirs)
    ]
    if not alone:
        return seen
    said = f"No {alone[0][1]}{whose} is on record for {wanted.on.isoformat()}"
    fix = "Import what is permitted first (geobill import), name another operator or day, or give --against FILE."
    if len(alone) == (len(seen.lines) > 0) + (len(seen.equipment) > 0):
        raise InputError(
            f"{said}: compared with nothing, all of the survey would be undeclared. Nothing was changed. {fix}"
        )
    message = f"{said}: {alone[0][0]} row(s) of the survey weren't compared, since all of them would be undeclared."
    kept = [f if len(other) else f[:0] for f, other in ((seen.lines, segments), (seen.equipment, equipment))]
    finding = Finding("not_compared", "warning", message, fix)
    return replace(seen, lines=kept[0], equipment=kept[1], findings=(*seen.findings, finding))


# -- a survey that misses as a whole


def _find_suspect(
    seen: Seen, segments: gpd.GeoDataFrame, equipment: gpd.GeoDataFrame, place: Municipality
) -> Finding | None:
    """Find that all of a survey lies beside what is on record by one shift, and name the datum that explains it."""
    mine, allowed = seen.lines, segments
    shift: ConstantShift | None = find_constant_shift(mine, allowed)
    if shift is None:
        mine, allowed = seen.equipment, equipment
        shift = find_equipment_shift(mine, allowed)
    if shift is None:
        return None
    east = f"{abs(shift.dx_m):.2f} m {'east' if shift.dx_m > 0 else 'west'}"
    north = f"{abs(shift.dy_m):.2f} m {'north' if shift.dy_m > 0 else 'south'}"
    message = (
        f"only {shift.share_as_is:.0%} of the survey lies on what is on record; moved {east} and {north}, "
        f"{shift.share_shifted:.0%} does: a fault of its coordinates, and not an undeclared network. No finding was issued."
    )
    fix = "Ask the crew for the coordinate system and its datum, then compare again with --crs EPSG:n."
    message += f" {_datum(seen, mine, allowed, place)}"
    return Finding("crs_suspect", "error", message, fix, seen.layers[0].name)


def _datum(seen: Seen, mine: gpd.GeoDataFrame, allowed: gpd.GeoDataFrame, place: Municipality) -> str:
    """Say which datum explains the shift, if any of the usual ones does."""
    none = "It is none of the shifts between the usual datums."
    reading = seen.readings[0]
    try:
        source = CRS.from_user_input(reading.crs.source)
    except CRSError:  # a system without a code: its datum is none of those that could be mixed up
        return none
    found = find_datum_shift(mine.geometry.to_numpy(), allowed.geometry.to_numpy(), place, source)
    if found is None:
        return none
    codes = " or ".join(label(code) for code in found.codes)
    if found.twice:
        return f"That is the shift from {codes}, as if it had been applied to coordinates that needed none."
    return f"That is where it lies if its coordinates are really in {codes} ({found.name}): --crs {found.codes[0]}."


# -- what was found


def _numbered(frame: gpd.GeoDataFrame) -> gpd.GeoDataFrame:
    """Put a number on each row on record, through all its batches: one of a batch of its own isn't told from one of another."""
    return frame.assign(source_row=np.arange(len(frame)))


def _named(found: gpd.GeoDataFrame, rows: gpd.GeoDataFrame) -> gpd.GeoDataFrame:
    """Give what the survey doesn't have the row in the batch that it came in."""
    missing = (found["kind"] == MISSING).to_numpy()
    if not missing.any():
        return found
    own = found["source_row"].to_numpy(dtype=object)
    own[missing] = rows["source_row"].to_numpy()[own[missing].astype(int)]
    return found.assign(source_row=own)


def _joined(frames: Sequence[gpd.GeoDataFrame], place: Municipality) -> gpd.GeoDataFrame:
    some = [frame[[*FOUND]] for frame in frames if len(frame)]
    if not some:
        return gpd.GeoDataFrame({c: [] for c in FOUND if c != "geometry"}, geometry=[], crs=place.srid)
    return gpd.GeoDataFrame(pd.concat(some, ignore_index=True), crs=place.srid)


def _records(survey: str, found: gpd.GeoDataFrame, amounts: Sequence[Decimal | None]) -> tuple[FieldFinding, ...]:
    """Make records of findings, with ids in their order."""
    rows = found.drop(columns="geometry").to_dict("records")
    made = []
    for number, (row, amount) in enumerate(zip(rows, amounts, strict=True), 1):
        said = {k: None if v is None or v != v else v for k, v in row.items()}
        said |= {k: None if said[k] is None else Decimal(str(said[k])) for k in DECIMALS}
        said |= {
            "source_row": int(said["source_row"]),
            "start_m": float(said["start_m"]),
            "end_m": float(said["end_m"]),
        }
        made.append(FieldFinding(id=f"{survey}-{number:05d}", survey=survey, **said, month_amount=amount))
    return tuple(made)


def _figures(lines: LineDetection, boxes: EquipmentDetection, segments: gpd.GeoDataFrame) -> dict[str, str]:
    """Add up a comparison as exact text; metres matched by rows whose case is under way stand apart as well."""
    names = (
        "survey_length_m", "matched_m", "undeclared_m", "moved_m", "more_m", "below_minimum_m", "permitted_length_m", "missing_m",
    )  # fmt: skip
    known = segments["status"].isin(IN_A_CASE).to_numpy()
    matched = lines.runs[lines.runs["permitted"].notna()]
    on_known = known[matched["permitted"].astype(int).to_numpy()] if len(matched) else np.zeros(0, dtype=bool)
    spans = (matched["end_m"] - matched["start_m"]).to_numpy()
    return {
        **{name: f"{getattr(lines, name):.2f}" for name in names},
        "in_case_m": f"{float(spans[on_known].sum()) if len(spans) else 0.0:.2f}",
        **{f"equipment_{name}": str(getattr(boxes, name)) for name in ("surveyed", "matched", "undeclared", "missing")},
    }


def wkt(shape: shapely.Geometry) -> str:
    """Write a finding's geometry to a tenth of a millimetre, in the workspace's system."""
    return str(shapely.to_wkt(shape, rounding_precision=4, trim=True))
