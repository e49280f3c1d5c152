"""Commands of findings: listed, looked at, decided, taken back, as on the review page."""

from pathlib import Path
from typing import Annotated, Any

import typer

from geobill.cli import app as shared
from geobill.cli.app import JsonOption, WorkspaceOption
from geobill.cli.detect import finding_record, read_metres
from geobill.errors import InputError

finding_app = typer.Typer(
    no_args_is_help=True, help="Findings of surveys: what waits for a reviewer's decision, and what was decided."
)

FindingsArgument = Annotated[list[str], typer.Argument(metavar="ID…", help="Ids of findings.")]
FindingArgument = Annotated[str, typer.Argument(metavar="ID", help="Id of the finding.")]
ByOption = Annotated[str, typer.Option(metavar="WHO", help="Who decides.")]
NoteOption = Annotated[str, typer.Option(metavar="TEXT", help="Why, or what else is to be known.")]


@finding_app.command("list")
def finding_list(
    survey: Annotated[str | None, typer.Option(metavar="ID", help="Of this survey.")] = None,
    operator: Annotated[
        str | None, typer.Option(metavar="ID", help="Of this operator; '' for those whose owner nobody knows.")
    ] = None,
    kind: Annotated[list[str] | None, typer.Option(metavar="KIND", help="Of this kind; may be repeated.")] = None,
    state: Annotated[
        list[str] | None,
        typer.Option(metavar="suspected|upheld|dismissed|in_case", help="In this state; may be repeated."),
    ] = None,
    min_length: Annotated[str | None, typer.Option(metavar="M", help="Of at least this length.")] = None,
    order: Annotated[
        str, typer.Option(metavar="amount|length|age|confidence|id", help="The largest (or oldest) first.")
    ] = "amount",
    offset: Annotated[int, typer.Option(min=0, help="Leave out the first ones.")] = 0,
    limit: Annotated[int, typer.Option(min=1, max=100_000, help="How many at most.")] = 100,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """List findings with their state and price a month."""
    from geobill.domain.detection import FINDING_KINDS, FINDING_STATES
    from geobill.domain.money import plain
    from geobill.pipeline.review import list_findings
    from geobill.store.finding_queue import ORDERS, Query

    for option, given, allowed in (
        ("--kind", kind or [], FINDING_KINDS),
        ("--state", state or [], FINDING_STATES),
        ("--order", [order], ORDERS),
    ):
        for one in given:
            if one not in allowed:
                raise InputError(f"{option} can't be {one!r}. Allowed: {', '.join(allowed)}.")
    least = None if min_length is None else read_metres(min_length, "--min-length")
    query = Query(survey, operator, tuple(kind or ()), tuple(state or ()), least, order=order)
    page = list_findings(shared.open_given(workspace), query, offset, limit)
    rows = [
        {
            **finding_record(row.finding),
            "state": row.state,
            "version": row.version,
            "operator": row.operator,
            "case": row.case,
        }
        for row in page.rows
    ]
    data = {
        "count": page.totals.count,
        "length_m": plain(page.totals.length_m),
        "month_amount": plain(page.totals.month_amount),
        "without_amount": page.totals.without_amount,
        "offset": offset,
        "findings": rows,
    }
    shared.answer(data, json, lambda: _listed(data))


@finding_app.command("show")
def finding_show(finding: FindingArgument, workspace: WorkspaceOption = None, json: JsonOption = False) -> None:
    """Show one finding with all that was done about it."""
    from geobill.pipeline.detect import wkt
    from geobill.pipeline.review import look_at

    look = look_at(shared.open_given(workspace), finding.strip())
    data = {**_file_answer(look.file), "geometry_wkt": wkt(look.shape), "compared_at": look.compared_at}
    shared.answer(data, json, lambda: "\n".join([_line(data), *(f"    {a['at']}  {_act(a)}" for a in data["acts"])]))


@finding_app.command("uphold")
def finding_uphold(
    findings: FindingsArgument,
    by: ByOption,
    note: NoteOption = "",
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Decide that findings are so; a case can be opened on them then."""
    _decide("upheld", findings, by, note, workspace, json)


@finding_app.command("dismiss")
def finding_dismiss(
    findings: FindingsArgument,
    by: ByOption,
    note: NoteOption = "",
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Decide that findings aren't so; --note says why."""
    _decide("dismissed", findings, by, note, workspace, json)


@finding_app.command("undo")
def finding_undo(
    findings: FindingsArgument,
    by: ByOption,
    note: NoteOption = "",
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Take back the last decision on findings; it stays on record."""
    from geobill.pipeline.review import undo

    opened = shared.open_given(workspace)
    _answer(undo(opened, _versions(opened, findings), by=by, note=note, now=shared.now()).files, json)


@finding_app.command("attribute")
def finding_attribute(
    findings: FindingsArgument,
    operator: Annotated[str, typer.Option(metavar="ID", help="Whose they are.")],
    by: ByOption,
    note: NoteOption = "",
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Say whose findings are, where the survey didn't know."""
    from geobill.pipeline.review import attribute

    opened = shared.open_given(workspace)
    done = attribute(opened, _versions(opened, findings), operator.strip(), by=by, note=note, now=shared.now())
    _answer(done.files, json)


@finding_app.command("note")
def finding_note(
    finding: FindingArgument,
    by: ByOption,
    note: NoteOption,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Add a note to a finding."""
    from geobill.pipeline.review import add_note

    file = add_note(shared.open_given(workspace), finding.strip(), by=by, note=note, now=shared.now())
    _answer({file.finding.id: file}, json)


@finding_app.command("photo")
def finding_photo(
    finding: FindingArgument,
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="A photo or a scan: PNG, JPEG, PDF; kept in the archive.")
    ],
    by: ByOption,
    note: NoteOption = "",
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Keep a photo with a finding."""
    from geobill.pipeline.review import add_photo

    kept = add_photo(shared.open_given(workspace), finding.strip(), file, by=by, note=note, now=shared.now())
    _answer({kept.finding.id: kept}, json)


def _decide(kind: str, findings: list[str], by: str, note: str, workspace: Path | None, json: bool) -> None:
    from geobill.pipeline.review import decide

    opened = shared.open_given(workspace)
    _answer(decide(opened, _versions(opened, findings), kind, by=by, note=note, now=shared.now()).files, json)


def _versions(opened: Any, findings: list[str]) -> dict[str, int]:
    """Return findings with the versions that they have now: on the command line nobody looked at an earlier one."""
    from geobill.pipeline.review import look_at

    return {i: look_at(opened, i).file.version for i in dict.fromkeys(f.strip() for f in findings)}


def _answer(files: Any, json: bool) -> None:
    data = {"findings": [_file_answer(file) for file in files.values()]}
    shared.answer(data, json, lambda: "\n".join(_line(f) for f in data["findings"]) or "Nothing changed.")


def _file_answer(file: Any) -> dict[str, Any]:
    from geobill.domain.record import to_plain

    said = {"state": file.state, "version": file.version, "operator": file.operator, "case": file.case}
    return {**finding_record(file.finding), **said, "acts": [to_plain(a) for a in file.acts]}


def _line(f: dict[str, Any]) -> str:
    amount = f"R$ {f['month_amount']} a month" if f["month_amount"] else "no price"
    return f"{f['id']}  {f['operator'] or 'owner unknown'}  {f['kind']}  {f['length_m']} m  {amount}  {f['state']}" + (
        f" ({f['case']})" if f["case"] else ""
    )


def _act(act: dict[str, Any]) -> str:
    return " ".join(filter(None, (act["kind"], act["by"], act["other"], act["note"], act["file_name"])))


def _listed(data: dict[str, Any]) -> str:
    unpriced = f", {data['without_amount']} without a price" if data["without_amount"] else ""
    head = f"{data['count']} finding(s), {data['length_m']} m, R$ {data['month_amount']} a month{unpriced}"
    return "\n".join([head, *map(_line, data["findings"])])
