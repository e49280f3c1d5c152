"""What is judged once: findings of two comparisons that show the same thing, so that no cable is charged by two cases."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import geopandas as gpd
import numpy as np
import shapely
from numpy.typing import NDArray

from geobill.billing.openings import is_equipment
from geobill.billing.permits import Missing
from geobill.domain import case as acts
from geobill.domain.case import CaseFile
from geobill.domain.detection import CLANDESTINE_KINDS, DISMISSED, IN_CASE, UPHELD, FieldFinding, FindingFile, Survey
from geobill.store.finding_queue import FindingQueue, Query
from geobill.store.surveys import SurveyRegister

_MOST_OF_IT = 0.5  # share of the shorter of two stretches that lies within reach of the other
_ALIKE = 0.9  # share of both stretches of one surveyed line


def find_seen_twice(
    register: SurveyRegister,
    queue: FindingQueue,
    files: Mapping[str, FindingFile],
    surveys: Mapping[str, Survey],
    cases: Mapping[str, CaseFile],
) -> Iterator[Missing]:
    """Find what would be accused twice: findings that lie where one of another comparison lies, among these or in a case.

    A comparison that was made after a case was opened, of the same network, knew the case's rows: what it found beside them
    is something else. So do two findings of one comparison stand for two things.
    """
    mine = [f for f in files.values() if f.finding.kind in CLANDESTINE_KINDS]
    if not mine:
        return
    taken = register.load_files(i for i, _ in queue.find_ids(Query(states=(IN_CASE,)))).values()
    open_ones = [f for f in taken if f.finding.kind in CLANDESTINE_KINDS and not _dismissed(cases, f)]
    shapes = queue.load_shapes([f.finding.id for f in (*mine, *open_ones)]).set_index("id").geometry
    compared_at = {s: register.compared_at(s) for s in {f.finding.survey for f in mine}}
    for at, file in enumerate(mine):
        rivals = [
            other
            for other in (*mine[:at], *open_ones)
            if other.finding.survey != file.finding.survey
            and _may_be_one(file.finding, other.finding)
            and not _knew(surveys[file.finding.survey], compared_at[file.finding.survey], other)
        ]
        reach = surveys[file.finding.survey].terms.reach_m
        over = _over(shapes[file.finding.id], [shapes[r.finding.id] for r in rivals], reach)
        for rival in (r for r, same in zip(rivals, over, strict=True) if same):
            where = f", which is in the case {rival.case}" if rival.state == IN_CASE else ""
            message = (
                f"{file.finding.id} lies where {rival.finding.id} of another comparison lies{where}: what stands there is judged "
                "once, and charged by one case; leave it out, or, if a second one stands beside it, compare the survey again "
                "(geobill detect … --again): what is in a case is known then"
            )
            yield Missing("seen_twice", "10 § 1", message)
            break


def _dismissed(cases: Mapping[str, CaseFile], file: FindingFile) -> bool:
    case = cases.get(file.case or "")
    return case is not None and any(a.kind == acts.DISMISSED for a in case.acts)


def _may_be_one(one: FieldFinding, other: FieldFinding) -> bool:
    pairs = ((one.service, other.service), (one.level, other.level))
    return is_equipment(one) == is_equipment(other) and all(a is None or b is None or a == b for a, b in pairs)


def _knew(survey: Survey, compared_at: str, other: FindingFile) -> bool:
    """Whether a comparison held its survey against the rows of the case that another finding is in."""
    opened = next((a.at for a in reversed(other.acts) if a.kind == IN_CASE), None)
    return opened is not None and compared_at > opened and survey.operator in (None, other.operator)


def _over(shape: shapely.Geometry, others: Sequence[shapely.Geometry], reach_m: float) -> NDArray[np.bool_]:
    """Whether each of some shapes and this one are one thing: most of the shorter within reach of the other."""
    if not others:
        return np.zeros(0, dtype=bool)
    many = np.asarray(others, dtype=object)
    near = shapely.dwithin(many, shape, reach_m)
    around = shapely.buffer(shape, reach_m)
    length = np.minimum(shapely.length(many), shape.length)
    lies_on = shapely.length(shapely.intersection(many, around)) > _MOST_OF_IT * length
    within = shapely.length(shapely.intersection(shape, shapely.buffer(many, reach_m))) > _MOST_OF_IT * length
    return near & ((length == 0) | (lies_on & within))


# -- the same file, compared anew


def find_decided(register: SurveyRegister, queue: FindingQueue, surveys: Iterable[str]) -> list[FindingFile]:
    """Return what reviewers decided in earlier comparisons of a file: it stands when the file is compared anew."""
    ids = [i for s in surveys for i, _ in queue.find_ids(Query(survey=s, states=(UPHELD, DISMISSED), order="id"))]
    return list(register.load_files(ids).values())


def part_decided(found: gpd.GeoDataFrame, decided: Iterable[FindingFile]) -> tuple[gpd.GeoDataFrame, tuple[str, ...]]:
    """Take out of findings (``frames.FOUND``) those that were decided already; also return the ids that stand for them."""
    by_row: dict[tuple[str, int], list[FieldFinding]] = {}
    for file in decided:
        by_row.setdefault((file.finding.kind, file.finding.source_row), []).append(file.finding)
    stands: list[str] = []
    keep = np.ones(len(found), dtype=bool)
    for at, (kind, row, start, end, name) in enumerate(
        zip(found["kind"], found["source_row"], found["start_m"], found["end_m"], found["segment"], strict=True)
    ):
        same = next((f for f in by_row.get((kind, int(row)), ()) if f.segment == name and _alike(f, start, end)), None)
        if same is not None:
            keep[at] = False
            stands.append(same.id)
    return found[keep].reset_index(drop=True), tuple(stands)


def _alike(finding: FieldFinding, start_m: float, end_m: float) -> bool:
    both = min(finding.end_m, end_m) - max(finding.start_m, start_m)
    return both >= _ALIKE * max(finding.end_m - finding.start_m, end_m - start_m)
