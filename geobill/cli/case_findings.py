"""Commands of cases where they meet findings: a case opened on them, and steps that name a finding instead of its case."""

from decimal import Decimal
from pathlib import Path
from typing import Any

from geobill.cli import app as shared
from geobill.errors import InputError

FIRST_SHOWN = 5


def open_on(
    workspace: Path | None,
    findings: list[str],
    *,
    id_: str | None,
    day: Any,
    subject: str,
    by: str | None,
    kind: str | None,
    operator: str | None,
    permit: str | None,
    reference: str,
    default_width: str | None,
    json: bool,
) -> None:
    """Open a case on findings, as they are now: on the command line nobody looked at an earlier version."""
    from geobill.cli.case_steps import act_answer, case_answer, describe
    from geobill.cli.detect import read_metres
    from geobill.domain.money import plain
    from geobill.pipeline.cases import next_case_id
    from geobill.pipeline.finding_cases import Opening, find_narrow, open_case_on
    from geobill.pipeline.review import look_at

    if by is None or not by.strip():
        raise InputError(
            "--by is missing: the auto de constatação of a case on findings says who draws it up. Nothing was changed."
        )
    if not reference.isprintable():
        raise InputError(f"--reference {reference!r} holds a character that can't be seen. Type it anew.")
    opened = shared.open_given(workspace)
    seen = {i: look_at(opened, i).file.version for i in dict.fromkeys(f.strip() for f in findings)}
    named = id_.strip() if id_ is not None else next_case_id(opened, day.year)
    narrow = find_narrow(opened, seen)
    width: Decimal | None = narrow.width_m if default_width is None else read_metres(default_width, "--default-width")
    opening = Opening(named, subject.strip(), day, by.strip(), kind, operator, permit, reference.strip(), width)
    made = open_case_on(opened, seen, opening, now=shared.now(), today=shared.today())
    data = {
        **case_answer(made.state),
        "act": act_answer(made.act),
        "stands_on": stands_on(opened, made.state.file.case.id),
        "default_width_m": plain(width) if narrow.findings and width is not None else None,
        "without_width": list(narrow.findings),
        "batches": list(made.batches),
        "files": [str(f) for f in made.files],
    }

    def said() -> str:
        rows = f", rows in {', '.join(made.batches)}" if made.batches else ""
        lines = [f"opened on {len(made.findings)} finding(s){rows}: {describe(data)}"]
        if narrow.findings:
            whence = "as the survey was compared with" if default_width is None else "as given"
            lines.append(f"  width {data['default_width_m']} m, {whence}, for {', '.join(narrow.findings)}")
        return "\n".join([*lines, *(f"  {f}" for f in data["files"])])

    shared.answer(data, json, said)


def waiting(opened: Any) -> dict[str, Any]:
    """Say which findings wait: how many by state, and the first of those that nobody decided or that were upheld."""
    from geobill.domain.detection import FINDING_STATES, SUSPECTED, UPHELD
    from geobill.domain.money import plain
    from geobill.pipeline.review import list_findings
    from geobill.store.finding_queue import Query

    counts = {state: list_findings(opened, Query(states=(state,)), limit=1).totals.count for state in FINDING_STATES}
    first = [
        row
        for state in (UPHELD, SUSPECTED)
        for row in list_findings(opened, Query(states=(state,)), limit=FIRST_SHOWN).rows
    ][:FIRST_SHOWN]
    return {
        **counts,
        "first": [
            {
                "id": row.finding.id,
                "kind": row.finding.kind,
                "operator": row.operator,
                "length_m": plain(row.finding.length_m),
                "state": row.state,
            }
            for row in first
        ],
    }


def describe_waiting(said: dict[str, Any]) -> list[str]:
    """Say for a person which findings wait; nothing where there are none."""
    if not said["first"]:
        return []
    lines = [f"{said['upheld']} finding(s) upheld and in no case, {said['suspected']} that nobody decided:"]
    lines += [
        f"    {f['id']}  {f['operator'] or 'owner unknown'}  {f['kind']}  {f['length_m']} m  {f['state']}"
        for f in said["first"]
    ]
    return [*lines, "    geobill case open --finding ID --subject TEXT --by WHO opens a case on upheld ones"]


def case_named(opened: Any, name: str) -> str:
    """Return the case that a name means: a case's own id, or a finding's that is in one; another finding is refused."""
    from geobill.pipeline.finding_cases import find_finding

    file = find_finding(opened, name)
    if file is None:
        return name
    if file.case is None:
        raise InputError(
            f"{name} is a finding in no case ({file.state}): the steps of arts. 9 and 10 are taken in a case. Nothing was changed. "
            f"Open one: geobill case open --finding {name} --subject TEXT --by WHO."
        )
    return str(file.case)


def dismiss_finding(
    workspace: Path | None, name: str, by: str, reason: str, extras: dict[str, Any], json: bool
) -> bool:
    """Dismiss a finding that is in no case, as a reviewer does; False where the name is no such finding."""
    from geobill.cli.findings import finding_dismiss
    from geobill.pipeline.finding_cases import find_finding

    file = find_finding(shared.open_given(workspace), name)
    if file is None or file.case is not None:
        return False
    given = [option for option, said in extras.items() if said]
    if given:
        raise InputError(
            f"{', '.join(given)} belong to the dismissal of a case; {name} is a finding in none, which a reviewer dismisses with --by "
            "and --reason. Nothing was changed."
        )
    finding_dismiss([name], by, reason, workspace, json)
    return True


def stands_on(opened: Any, case: str) -> list[dict[str, Any]]:
    """Say on which findings a case stands."""
    from geobill.domain.money import plain
    from geobill.pipeline.finding_cases import findings_of

    return [
        {"id": f.finding.id, "kind": f.finding.kind, "length_m": plain(f.finding.length_m), "survey": f.finding.survey}
        for f in findings_of(opened, case)
    ]
