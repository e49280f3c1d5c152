"""What keeps a case from being opened on findings: pure, nothing is recorded here."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from decimal import Decimal

from geobill.billing.permits import Missing
from geobill.domain.case import CLANDESTINE, NONCONFORMITY
from geobill.domain.detection import (
    CLANDESTINE_KINDS,
    DISMISSED,
    IN_CASE,
    LARGER,
    MISSING,
    SUSPECTED,
    UNDECLARED_EQUIPMENT,
    FieldFinding,
    FindingFile,
    Survey,
)

MOST_NAMED = 10


def kind_of_case(finding: FieldFinding) -> str | None:
    """Return which kind of case a finding leads to; None where it leads to none (``missing_in_survey``)."""
    if finding.kind == MISSING:
        return None
    return CLANDESTINE if finding.kind in CLANDESTINE_KINDS else NONCONFORMITY


def is_equipment(finding: FieldFinding) -> bool:
    """Whether a finding is about a cabinet or a pole, which is charged by volume (art. 7 § 2)."""
    return finding.kind in (UNDECLARED_EQUIPMENT, LARGER) or not finding.length_m


def find_objections(
    files: Mapping[str, FindingFile],
    surveys: Mapping[str, Survey],
    opened_on: date,
    default_width_m: Decimal | None,
    today: date,
) -> list[Missing]:
    """Find why no case can be opened on findings; each with its article and what to do, empty where nothing is against it.

    Parameters
    ----------
    files : mapping of id to FindingFile
    surveys : mapping of id to Survey
        Those in which they were found.
    opened_on : date
        Day of the case.
    default_width_m : Decimal, optional
        Width of stretches that the survey gives none for.
    today : date
        The day on which it is opened can't be after it.
    """
    if not files:
        return [Missing("no_finding", "10 § 1", "a case on findings names at least one: give --finding ID")]
    found = [*_decided(files), *_whose(files), *_of_several_kinds(files)]
    if opened_on > today:
        message = (
            f"{opened_on.isoformat()} is after today, {today.isoformat()}: a step can't be taken back; give today or an "
            "earlier --on"
        )
        found.append(Missing("in_the_future", "10 § 1", message))
    for survey in sorted({f.finding.survey for f in files.values()}):
        compared_on, against = surveys[survey].compared_on, surveys[survey].against
        if compared_on > opened_on.isoformat():
            message = (
                f"a case of {opened_on.isoformat()} can't rest on the survey {survey}, compared as of {compared_on}: what it is "
                "about was found by then; give a later --on"
            )
            found.append(Missing("before_the_survey", "10 § 1", message))
        if against is not None:
            message = (
                f"the survey {survey} was compared with the file {against}, and not with what is on record: what permits or the "
                "register allow may lie there all the same, and nobody is accused without having looked; compare it with what is on "
                "record (geobill detect without --against)"
            )
            found.append(Missing("not_against_the_record", "10 § 1", message))
    return [*found, *_measures(files, default_width_m)]


def _decided(files: Mapping[str, FindingFile]) -> Iterator[Missing]:
    taken = [i for i, f in files.items() if f.state == IN_CASE]
    if taken:
        case = files[taken[0]].case
        message = f"{named(taken)} is in the case {case} already: a finding is judged once (geobill case show {case})"
        yield Missing("in_case", "10 § 1", message)
    dismissed = [i for i, f in files.items() if f.state == DISMISSED]
    if dismissed:
        message = (
            f"{named(dismissed)} was dismissed by a reviewer: nobody is accused of it; if that was wrong, take it back first (geobill "
            "finding undo ID --by WHO), so that the file shows who did and why"
        )
        yield Missing("dismissed_finding", "10 § 1", message)
    unjudged = [i for i, f in files.items() if f.state == SUSPECTED and f.finding.kind != MISSING]
    if unjudged:
        message = f"nobody upheld {named(unjudged)}: a person decides before a case is opened; geobill finding uphold ID --by WHO"
        yield Missing("not_upheld", "10 § 1", message)
    absent = [i for i, f in files.items() if f.finding.kind == MISSING]
    if absent:
        message = (
            f"{named(absent)} is permitted and wasn't found in the field: nothing stands there to be charged or removed, and no case "
            "comes of it; if it is out of the street, record the removal of its permit (geobill permit remove) or import the register "
            "without it; if the crew missed it, dismiss the finding"
        )
        yield Missing("missing_in_survey", "4", message)


def _whose(files: Mapping[str, FindingFile]) -> Iterator[Missing]:
    owners = _by(files, {i: f.operator for i, f in files.items()})
    unknown = owners.pop(None, [])
    if unknown:
        message = (
            f"nobody knows whose {named(unknown)} is, and a case is against somebody, who is heard; say whose it is: geobill finding "
            "attribute ID --operator ID --by WHO"
        )
        yield Missing("no_operator", "10 § 1", message)
    if len(owners) > 1:
        said = "; ".join(f"{owner}: {named(ids)}" for owner, ids in owners.items())
        message = (
            f"the findings are of several operators ({said}): each is heard in a case of its own; open one for each"
        )
        yield Missing("several_operators", "10 § 1", message)


def _of_several_kinds(files: Mapping[str, FindingFile]) -> Iterator[Missing]:
    kinds = _by(files, {i: kind_of_case(f.finding) for i, f in files.items()})
    kinds.pop(None, None)
    if len(kinds) > 1:
        articles = {CLANDESTINE: "10", NONCONFORMITY: "4"}
        said = "; ".join(f"art. {articles[kind or '']} ({kind}): {named(ids)}" for kind, ids in kinds.items())
        message = (
            f"what nobody declared and what differs from its permit are judged apart ({said}); open one case for each"
        )
        yield Missing("several_kinds", "4, 10", message)


def _measures(files: Mapping[str, FindingFile], default_width_m: Decimal | None) -> Iterator[Missing]:
    """Find what could never be priced: a stretch without a width, equipment without a volume (art. 7)."""
    charged = [f.finding for f in files.values() if f.finding.kind in CLANDESTINE_KINDS]
    if default_width_m is not None and default_width_m <= 0:
        yield Missing("no_width", "7", f"--default-width {default_width_m} is no width: give metres, more than 0")
    narrow = without_width(charged)
    if narrow and default_width_m is None:
        message = (
            f"the survey gives no width for {named(narrow)}, and length is priced by width: without one none can be charged; "
            "give --default-width METRES, and have the decision at hand that it rests on"
        )
        yield Missing("no_width", "7", message)
    hollow = [f.id for f in charged if is_equipment(f) and f.volume_m3 is None]
    if hollow:
        message = (
            f"the survey gives no volume for {named(hollow)}, and equipment is priced by the cubic metre: without one nothing could "
            "ever be charged (poles have none); have it measured and compare the survey again (geobill detect … --again), or leave it "
            "out of the case"
        )
        yield Missing("no_volume", "7 § 2", message)


def without_width(findings: Sequence[FieldFinding]) -> list[str]:
    """Ids of the stretches that the survey gives no width for."""
    return [f.id for f in findings if not is_equipment(f) and f.width_m is None]


def named(ids: Sequence[str]) -> str:
    """Name some ids; beyond ten the rest is counted."""
    more = f" and {len(ids) - MOST_NAMED} more" if len(ids) > MOST_NAMED else ""
    return ", ".join(ids[:MOST_NAMED]) + more


def _by(files: Mapping[str, FindingFile], of: Mapping[str, str | None]) -> dict[str | None, list[str]]:
    found: dict[str | None, list[str]] = {}
    for id_ in files:
        found.setdefault(of[id_], []).append(id_)
    return found
