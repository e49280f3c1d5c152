"""Commands of permits and decrees (arts. 2, 3, 6 of Lei 3.057)."""

from pathlib import Path
from typing import Annotated, Any

import typer

from geobill.cli import app as shared
from geobill.cli.app import JsonOption, WorkspaceOption
from geobill.errors import InputError

permit_app = typer.Typer(
    no_args_is_help=True, help="Permits to use the streets: requested, approved, granted, removed (arts. 2, 3)."
)
decree_app = typer.Typer(
    no_args_is_help=True, help="Decrees: drafted at any time, issued once, amended by apostilas (arts. 3, 6)."
)

NumberOption = Annotated[str, typer.Option("--number", help="Number of the permit, as rows of networks name it.")]
PermitOption = Annotated[str, typer.Option("--permit", help="Number of the permit.")]
OnOption = Annotated[str | None, typer.Option("--on", metavar="D", help="Day, YYYY-MM-DD (else today).")]
SignatoryOption = Annotated[str, typer.Option(metavar="S", help="Who signed the act.")]
ActDateOption = Annotated[str, typer.Option("--date", metavar="D", help="Date of the act, YYYY-MM-DD.")]
PublishedOption = Annotated[str, typer.Option(metavar="D", help="Day of its publication, YYYY-MM-DD.")]


@permit_app.command("add")
def permit_add(
    number: NumberOption,
    operator: Annotated[str, typer.Option(metavar="ID", help="Who asks for it and will pay.")],
    process: Annotated[str, typer.Option(metavar="P", help="Number of the administrative process.")] = "",
    service: Annotated[str, typer.Option(metavar="S", help="Kind of service.")] = "",
    project: Annotated[str, typer.Option(metavar="TEXT", help="What is to be built, as the decree names it.")] = "",
    requested_on: Annotated[str | None, typer.Option(metavar="D", help="Day of the request, YYYY-MM-DD.")] = None,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Register a request for the use of streets (art. 2); rows come in by import … --permit N --status planned."""
    from geobill.domain.dates import parse_date
    from geobill.domain.permit import Permit
    from geobill.pipeline.permits import add_permit

    permit = Permit(
        number=number.strip(),
        operator=operator.strip(),
        process=process.strip(),
        service=service.strip(),
        project=project.strip(),
        requested_on=None if requested_on is None else parse_date(requested_on, "--requested-on"),
    )
    _answer_state(add_permit(shared.open_given(workspace), permit, shared.now()), json, "registered")


@permit_app.command("approve")
def permit_approve(
    number: NumberOption,
    works_opinion: Annotated[
        str | None, typer.Option(metavar="REF", help="Opinion of the works secretariat on the project (art. 2).")
    ] = None,
    works_on: Annotated[str | None, typer.Option(metavar="D", help="Its date (else --date).")] = None,
    works_by: Annotated[str, typer.Option(metavar="WHO", help="Who signed it.")] = "",
    legal_opinion: Annotated[
        str | None, typer.Option(metavar="REF", help="Opinion of the legal office (arts. 2, 3).")
    ] = None,
    legal_on: Annotated[str | None, typer.Option(metavar="D", help="Its date (else --date).")] = None,
    legal_by: Annotated[str, typer.Option(metavar="WHO", help="Who signed it.")] = "",
    mayor_authorisation: Annotated[
        str | None, typer.Option(metavar="REF", help="The mayor's authorisation to issue the decree (art. 3).")
    ] = None,
    mayor_on: Annotated[str | None, typer.Option(metavar="D", help="Its date (else --date).")] = None,
    mayor_by: Annotated[str, typer.Option(metavar="WHO", help="Who signed it.")] = "",
    date: Annotated[str | None, typer.Option(metavar="D", help="Date of those that have none of their own.")] = None,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Record the opinions and the mayor's authorisation, together or one by one, each once (arts. 2, 3)."""
    from geobill.domain import permit as acts
    from geobill.domain.dates import parse_date
    from geobill.pipeline.permits import approve_permit

    given = []
    for kind, option, reference, on, by in (
        (acts.WORKS_OPINION, "works", works_opinion, works_on, works_by),
        (acts.LEGAL_OPINION, "legal", legal_opinion, legal_on, legal_by),
        (acts.AUTHORISATION, "mayor", mayor_authorisation, mayor_on, mayor_by),
    ):
        if reference is None:
            if on is not None or by:
                raise InputError(
                    f"--{option}-on and --{option}-by belong to a paper whose reference isn't given: give both or neither."
                )
            continue
        if not reference.strip():
            raise InputError(f"The reference for --{option}-… is blank: name the paper, for example 'Parecer 41/2026'.")
        day = on or date
        if day is None:
            raise InputError(f"{reference!r} has no date: give --{option}-on, or --date for all of them.")
        given.append(acts.Act(number.strip(), kind, parse_date(day, f"--{option}-on"), by.strip(), reference.strip()))
    _answer_state(approve_permit(shared.open_given(workspace), number.strip(), given, shared.now()), json, "recorded")


@permit_app.command("list")
def permit_list(on: OnOption = None, workspace: WorkspaceOption = None, json: JsonOption = False) -> None:
    """List the permits: state, dates, metres, and what is missing for the decree."""
    from geobill.pipeline.permits import list_permits

    found = [_state_answer(s) for s in list_permits(shared.open_given(workspace), _day(on))]
    shared.answer({"permits": found}, json, lambda: "\n".join(map(_describe, found)) or "No permits yet.")


@permit_app.command("show")
def permit_show(
    number: NumberOption, on: OnOption = None, workspace: WorkspaceOption = None, json: JsonOption = False
) -> None:
    """Show a permit's whole file: every act, the decree and its apostilas."""
    from geobill.pipeline.permits import list_permits

    (state,) = list_permits(shared.open_given(workspace), _day(on), number.strip())
    data = _state_answer(state, whole=True)
    shared.answer(data, json, lambda: _describe(data))


@permit_app.command("remove")
def permit_remove(
    number: NumberOption,
    on: Annotated[str, typer.Option("--on", metavar="D", help="Last day in the street, itself due, YYYY-MM-DD.")],
    reason: Annotated[str, typer.Option(help="Why.")] = "",
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Record that a permit's equipment is out of the street."""
    from geobill.cli.answers import finding_answer
    from geobill.domain.dates import parse_date
    from geobill.pipeline.permits import remove_permit

    state = remove_permit(
        shared.open_given(workspace), number.strip(), parse_date(on, "--on"), reason.strip(), shared.now()
    )
    data = _state_answer(state) | {"findings": [finding_answer(f) for f in state.findings]}
    shared.answer(data, json, lambda: f"removed: {_describe(data)}{_warnings(data)}")


@decree_app.command("draft")
def decree_draft(
    permit: PermitOption,
    on: OnOption = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Where the PDF goes, the others beside it (else WORKSPACE/documents/decretos)."
        ),
    ] = None,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Render the draft of a permit's decree (minuta), at any time; records nothing."""
    from geobill.cli.answers import decree_draft_answer
    from geobill.pipeline.decrees import draft_decree

    data = decree_draft_answer(draft_decree(shared.open_given(workspace), permit.strip(), _day(on), out))
    shared.answer(data, json, lambda: _describe_draft(data))


@decree_app.command("issue")
def decree_issue(
    permit: PermitOption,
    number: Annotated[str, typer.Option(metavar="X", help="The city hall's own number, as typed; never made up.")],
    date: ActDateOption,
    signatory: SignatoryOption,
    published_on: PublishedOption,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Record the city hall's decree, at the price of its date; all that it lacks is listed in one refusal."""
    from geobill.cli.answers import decree_answer, finding_answer
    from geobill.domain.dates import parse_date
    from geobill.pipeline.decrees import issue_decree

    made = issue_decree(
        shared.open_given(workspace),
        permit.strip(),
        number.strip(),
        parse_date(date, "--date"),
        signatory.strip(),
        parse_date(published_on, "--published-on"),
        shared.now(),
    )
    findings = [finding_answer(f) for f in made.findings]
    data = decree_answer(made.decree) | {"file": str(made.file), "findings": findings}
    said = f"Decree {data['number']} recorded: R$ {data['monthly']} a month. {made.file}"
    shared.answer(data, json, lambda: said + _warnings(data))


@decree_app.command("amend")
def decree_amend(
    number: Annotated[str, typer.Option(metavar="X", help="Number of the decree that is amended.")],
    apostila: Annotated[str, typer.Option(metavar="N", help="The city hall's own number of the apostila.")],
    date: ActDateOption,
    signatory: SignatoryOption,
    published_on: PublishedOption,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Record an apostila: the decree's new price, that of the apostila's date (art. 6 § 1)."""
    from geobill.cli.answers import cause_answer, decree_answer
    from geobill.domain.dates import parse_date
    from geobill.pipeline.decrees import amend_decree

    made = amend_decree(
        shared.open_given(workspace),
        number.strip(),
        apostila.strip(),
        parse_date(date, "--date"),
        signatory.strip(),
        parse_date(published_on, "--published-on"),
        shared.now(),
    )
    causes = [cause_answer(c) for c in made.change.causes] if made.change else []
    data = decree_answer(made.decree) | {"causes": causes, "file": str(made.file)}
    shared.answer(
        data,
        json,
        lambda: f"Apostila {data['number']} to {data['amends']} recorded: R$ {data['monthly']} a month. {made.file}",
    )


@decree_app.command("list")
def decree_list(workspace: WorkspaceOption = None, json: JsonOption = False) -> None:
    """List the decrees and apostilas, by date."""
    from geobill.cli.answers import decree_answer
    from geobill.pipeline.decrees import list_decrees

    found = [
        decree_answer(decree) | {"operator": file.permit.operator}
        for file, decree in list_decrees(shared.open_given(workspace))
    ]

    def described(d: dict[str, Any]) -> str:
        what = f"apostila {d['number']} to {d['amends']}" if d["amends"] else f"decree {d['number']}"
        return f"{d['date']}  {what}, permit {d['permit']} ({d['operator']}): R$ {d['monthly']} a month"

    shared.answer({"decrees": found}, json, lambda: "\n".join(map(described, found)) or "No decrees yet.")


def _day(text: str | None) -> Any:
    from geobill.domain.dates import parse_date

    return shared.today() if text is None else parse_date(text, "--on")


def _state_answer(state: Any, whole: bool = False) -> dict[str, Any]:
    from geobill.cli.answers import permit_answer

    return permit_answer(state, whole=whole)


def _answer_state(state: Any, as_json: bool, said: str) -> None:
    data = _state_answer(state)
    shared.answer(data, as_json, lambda: f"{said}: {_describe(data)}")


def _warnings(data: dict[str, Any]) -> str:
    return "".join(f"\n  {f['severity']}: {f['message']}; {f['fix']}" for f in data["findings"])


def _describe(p: dict[str, Any]) -> str:
    lines = [
        f"{p['number']}  {p['operator']}  {p['state']}: planned {p['planned_m']} m, {p['planned_m3']} m³; "
        f"standing {p['standing_m']} m, {p['standing_m3']} m³"
    ]
    if p["decree"]:
        since = "" if p["recorded_by"] == p["decree"]["number"] else f", by the apostila {p['recorded_by']}"
        lines.append(f"    decree {p['decree']['number']} of {p['decree']['date']}, R$ {p['monthly']} a month{since}")
    if p["removed_on"]:
        lines.append(f"    removed on {p['removed_on']}")
    lines += [f"    missing (art. {m['article']}): {m['message']}" for m in p["missing"]]
    for act in p.get("acts", ()):
        amount = f" R$ {act['amount']}" if act["amount"] else ""
        said = " ".join(filter(None, (act["reference"], act["by"], act["note"])))
        lines.append(f"    {act['on']}  {act['kind']}{amount}  {said}".rstrip())
    lines += [
        f"    {d['date']}  {'apostila' if d['amends'] else 'decree'} {d['number']}  R$ {d['monthly']} a month"
        for d in p.get("decrees", ())
    ]
    return "\n".join(lines)


def _describe_draft(d: dict[str, Any]) -> str:
    price = "held (arts. 7, 15)" if d["monthly"] is None else f"R$ {d['monthly']} a month, deposit R$ {d['deposit']}"
    lines = [f"Permit {d['permit']} on {d['on']}: {price}; R {d['reducer'] or 'held'} of {d['network_length_m']} m"]
    lines += [f"  missing (art. {m['article']}): {m['message']}" for m in d["missing"]]
    return "\n".join([*lines, f"  {d['file']}"])
