"""Commands of cases: opened, taken step by step, charged, listed (arts. 4, 9, 10 and 12 of Lei 3.057)."""

from pathlib import Path
from typing import Annotated

import typer

from geobill.cli import app as shared
from geobill.cli.app import JsonOption, WorkspaceOption
from geobill.cli.case_findings import case_named, describe_waiting, dismiss_finding, open_on, stands_on, waiting
from geobill.cli.case_steps import (
    case_answer,
    charge_days,
    describe,
    read_day,
    read_ids,
    read_outcome,
    said_words,
    take,
)
from geobill.errors import InputError

case_app = typer.Typer(
    no_args_is_help=True,
    help="Cases: what is held against an operator, each step of the law and its paper (arts. 4, 9, 10, 12).",
)

CaseArgument = Annotated[str, typer.Argument(metavar="ID", help="Id of the case, or of a finding that is in it.")]
StepOn = Annotated[str, typer.Option("--on", metavar="D", help="Day of the act, YYYY-MM-DD.")]
StepBy = Annotated[str, typer.Option("--by", metavar="WHO", help="Who did or signed it.")]
ReferenceOption = Annotated[str, typer.Option(metavar="REF", help="Number of the paper.")]
PaperOption = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Scan of the signed paper, kept in the archive (PDF, PNG, JPEG).")
]
UntilOption = Annotated[
    str | None, typer.Option(metavar="D", help="Last day of the term, where more is allowed than the law's.")
]
OutcomeOption = Annotated[str, typer.Option(metavar="accepted|rejected", help="How it was decided.")]


@case_app.command("open")
def case_open(
    subject: Annotated[str, typer.Option(metavar="TEXT", help="What it is about, as the papers say it.")],
    kind: Annotated[
        str | None,
        typer.Option(
            metavar="clandestine|unregistered|infraction|nonconformity",
            help="What is held against it: arts. 10, 12, 9, 4; findings say it themselves.",
        ),
    ] = None,
    operator: Annotated[
        str | None, typer.Option(metavar="ID", help="Against whom; findings say it themselves.")
    ] = None,
    finding: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ID", help="A finding to open it on; may be repeated. Its rows come in, its auto is drawn up."
        ),
    ] = None,
    default_width: Annotated[
        str | None, typer.Option(metavar="M", help="With --finding: width of stretches without one in the survey.")
    ] = None,
    by: Annotated[
        str | None, typer.Option("--by", metavar="WHO", help="With --finding: who draws up the auto de constatação.")
    ] = None,
    reference: Annotated[str, typer.Option(metavar="REF", help="With --finding: number of the auto.")] = "",
    id_: Annotated[
        str | None, typer.Option("--id", metavar="ID", help="Id of the case (else the next YEAR-NNN).")
    ] = None,
    on: Annotated[
        str | None, typer.Option("--on", metavar="D", help="Day of opening, YYYY-MM-DD (else today).")
    ] = None,
    permit: Annotated[str | None, typer.Option(metavar="N", help="Permit that it is about.")] = None,
    segment: Annotated[
        list[str] | None, typer.Option(metavar="ID", help="A segment concerned; may be repeated.")
    ] = None,
    equipment: Annotated[
        list[str] | None, typer.Option(metavar="ID", help="A cabinet concerned; may be repeated.")
    ] = None,
    rows: Annotated[Path | None, typer.Option(metavar="FILE", help="Text file with one id a line.")] = None,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Open a case over stored rows of an operator, or on findings of a survey."""
    from geobill.domain.case import Case
    from geobill.pipeline.cases import match_rows, next_case_id, open_case

    day = read_day(on)
    if finding:
        if segment or equipment or rows:
            raise InputError(
                "--segment, --equipment and --rows name stored rows; a case on findings is about theirs. Nothing was changed. "
                "Open one case on the findings and another over the rows."
            )
        typed = {"by": by, "kind": kind, "operator": operator, "permit": permit, "reference": reference}
        open_on(workspace, finding, id_=id_, day=day, subject=subject, default_width=default_width, json=json, **typed)
        return
    if by or reference or default_width:
        raise InputError("--by, --reference and --default-width belong to --finding. Nothing was changed.")
    if kind is None or operator is None:
        raise InputError(
            "--kind and --operator say what is held against whom; give both, or --finding ID. Nothing was changed."
        )
    opened = shared.open_given(workspace)
    segments, boxes = (tuple(dict.fromkeys(i.strip() for i in ids or ())) for ids in (segment, equipment))
    if rows is not None:
        more = match_rows(opened, operator.strip(), read_ids(rows))
        segments, boxes = (tuple(dict.fromkeys((*a, *b))) for a, b in zip((segments, boxes), more, strict=True))
    named = id_.strip() if id_ is not None else next_case_id(opened, day.year)
    case = Case(named, kind.strip(), operator.strip(), day, subject.strip(), permit and permit.strip(), segments, boxes)
    data = case_answer(open_case(opened, case, shared.now()))
    shared.answer(data, json, lambda: f"opened: {describe(data)}")


@case_app.command("notify")
def case_notify(
    case: CaseArgument,
    on: StepOn,
    by: StepBy,
    reference: ReferenceOption = "",
    until: UntilOption = None,
    paper: PaperOption = None,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Notify the operator; the term is 15 days (art. 9 § 4), or what a decision says (arts. 10, 12)."""
    take("NOTIFIED", case, on, by, reference, paper, workspace, json, until=until)


@case_app.command("decide-defence")
def case_decide_defence(
    case: CaseArgument,
    outcome: OutcomeOption,
    on: StepOn,
    by: StepBy,
    reference: ReferenceOption = "",
    paper: PaperOption = None,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Record the legal office's decision on the defence (art. 9 §§ 4, 5)."""
    take("DEFENCE_DECIDED", case, on, by, reference, paper, workspace, json, note=read_outcome(outcome))


@case_app.command("decide-appeal")
def case_decide_appeal(
    case: CaseArgument,
    outcome: OutcomeOption,
    on: StepOn,
    by: StepBy,
    reference: ReferenceOption = "",
    paper: PaperOption = None,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Record the mayor's decision on the appeal (art. 9 §§ 5, 6): whether the defence is accepted after all."""
    take("APPEAL_DECIDED", case, on, by, reference, paper, workspace, json, note=read_outcome(outcome))


@case_app.command("opinion")
def case_opinion(
    case: CaseArgument,
    kind: Annotated[
        str, typer.Option(metavar="technical|legal", help="Whose: the technical bodies', the legal office's.")
    ],
    on: StepOn,
    by: StepBy,
    reference: ReferenceOption = "",
    paper: PaperOption = None,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Record an opinion (arts. 9 § 6, 10 § 1)."""
    kinds = {"technical": "TECHNICAL_OPINION", "legal": "LEGAL_OPINION"}
    if kind not in kinds:
        raise InputError(f"--kind can't be {kind!r}. Allowed: {', '.join(kinds)}.")
    take(kinds[kind], case, on, by, reference, paper, workspace, json)


@case_app.command("installed")
def case_installed(
    case: CaseArgument,
    on: Annotated[str, typer.Option("--on", metavar="D", help="The proven day of installation, YYYY-MM-DD.")],
    reference: Annotated[str, typer.Option(metavar="REF", help="What proves it.")],
    by: StepBy,
    paper: PaperOption = None,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Record the proven day of installation (art. 10 § 3); the last one recorded counts."""
    if not reference.strip():
        raise InputError("--reference is blank: art. 10 § 3 asks for a day that is proven; name what proves it.")
    take("INSTALLED", case, on, by, reference, paper, workspace, json)


@case_app.command("confirm")
def case_confirm(
    case: CaseArgument,
    outcome: Annotated[
        str, typer.Option(metavar="doubled|forfeited", help="Charged double, or perda (art. 10 §§ 1, 2).")
    ],
    on: StepOn,
    by: StepBy,
    reference: ReferenceOption = "",
    installed_on: Annotated[
        str | None,
        typer.Option(metavar="D", help="With doubled: the proven day of installation, recorded first (art. 10 § 3)."),
    ] = None,
    proof: Annotated[str, typer.Option(metavar="REF", help="With --installed-on: what proves it.")] = "",
    paper: PaperOption = None,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Record the Secretary's act; all that the law asks for before it is listed in one refusal.

    Charged double it counts from the proven day of installation, else from the law's publication (art. 10 § 3).
    """
    kinds = {"doubled": "DOUBLED", "forfeited": "FORFEITED"}
    if outcome not in kinds:
        raise InputError(f"--outcome can't be {outcome!r}. Allowed: {', '.join(kinds)}.")
    if (installed_on is not None) != bool(proof.strip()) or (proof.strip() and outcome != "doubled"):
        raise InputError(
            "--installed-on and --proof go together, with --outcome doubled: art. 10 § 3 counts from a day that is proven. Nothing "
            "was changed. Without them the publication of the law counts, or the day that `case installed` recorded."
        )
    proven = None if installed_on is None else (installed_on, proof)
    take(kinds[outcome], case, on, by, reference, paper, workspace, json, proven=proven)


@case_app.command("dismiss")
def case_dismiss(
    case: CaseArgument,
    by: StepBy,
    reason: Annotated[str, typer.Option(metavar="TEXT", help="Why.")],
    on: Annotated[
        str | None, typer.Option("--on", metavar="D", help="Day of the act, YYYY-MM-DD; needed for a case.")
    ] = None,
    reference: ReferenceOption = "",
    paper: PaperOption = None,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Dismiss the case: nothing is charged by it, from its first day. A finding in no case is dismissed as a reviewer does."""
    extras = {"--on": on, "--reference": reference, "--paper": paper}
    if dismiss_finding(workspace, case.strip(), by, said_words("--reason", reason), extras, json):
        return
    if on is None:
        raise InputError("--on is missing: the dismissal of a case has a day. Nothing was changed.")
    take("DISMISSED", case, on, by, reference, paper, workspace, json, note=said_words("--reason", reason))


@case_app.command("regularise")
def case_regularise(
    case: CaseArgument,
    permit: Annotated[
        str, typer.Option(metavar="N", help="Permit that the rows become part of; its decree is issued.")
    ],
    on: Annotated[str, typer.Option("--on", metavar="D", help="First day under the permit, YYYY-MM-DD.")],
    by: StepBy,
    reference: ReferenceOption = "",
    paper: PaperOption = None,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Record that the rows are part of a permit from a day on: doubling ends the day before."""
    take("REGULARISED", case, on, by, reference, paper, workspace, json, note=said_words("--permit", permit))


@case_app.command("fine")
def case_fine(
    case: CaseArgument,
    by: StepBy,
    on: Annotated[
        str | None, typer.Option("--on", metavar="D", help="Day of the mayor's decision, YYYY-MM-DD.")
    ] = None,
    reference: ReferenceOption = "",
    charge: Annotated[
        bool, typer.Option("--charge", help="Issue the note of the days that no note charges yet.")
    ] = False,
    until: Annotated[
        str | None,
        typer.Option(metavar="D", help="With --charge: last day to charge; else last day of the defence's term."),
    ] = None,
    issued_on: Annotated[
        str | None, typer.Option(metavar="D", help="With --charge: day of issue (else today).")
    ] = None,
    due: Annotated[
        str | None, typer.Option(metavar="D", help="With --charge: due day (else that of the month of issue).")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="With --charge: folder of the note (else documents/notas).")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="With --charge: show the note, issue nothing.")] = False,
    paper: PaperOption = None,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Record the mayor's decision on the daily fine (art. 9 §§ 2, 6), or with --charge demand its days."""
    if not charge:
        if on is None:
            raise InputError(
                "--on is missing: the mayor's decision has a day. To demand the days of a fine, give --charge."
            )
        if issued_on or due or out or dry_run:
            raise InputError(
                "--issued-on, --due, --out and --dry-run belong to --charge, which demands the days of a fine."
            )
        take("FINED", case, on, by, reference, paper, workspace, json, until=until)
        return
    if until is None or on or reference or paper:
        raise InputError(
            "--charge takes --until, the last day to charge; --on, --reference and --paper are the decision's."
        )
    charge_days(case, by, until, issued_on, due, out, dry_run, workspace, json)


@case_app.command("suspend")
def case_suspend(
    case: CaseArgument,
    on: StepOn,
    by: StepBy,
    reference: ReferenceOption = "",
    until: UntilOption = None,
    paper: PaperOption = None,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Suspend the approval of new projects: the infraction has lasted over 30 days (art. 9 § 3)."""
    take("PROJECTS_SUSPENDED", case, on, by, reference, paper, workspace, json, until=until)


PLAIN_STEPS: tuple[tuple[str, str, str], ...] = (
    ("warn", "WARNED", "Warn the operator (advertência, art. 9 § 1)."),
    ("defence", "DEFENCE_LODGED", "Record that the operator lodged its defence (arts. 9 § 4, 10 § 1)."),
    ("appeal", "APPEAL_LODGED", "Record the operator's appeal to the mayor (art. 9 § 5)."),
    ("impossibility", "IMPOSSIBILITY", "Record the report that the equipment can't be removed (art. 10 § 2)."),
    ("remove", "REMOVED", "Record that the equipment is out of the street; --on is its last day there, itself due."),
    ("cure", "CURED", "Record that the notice was obeyed; --on is the first day that isn't fined (arts. 4, 9 § 2)."),
    (
        "register-delivered",
        "REGISTER_DELIVERED",
        "Record that the register was handed over (art. 12): from --on the price is single.",
    ),
    ("release", "PROJECTS_RELEASED", "End the suspension of new projects (art. 9 § 3)."),
)


def _add_plain_step(name: str, kind: str, said: str) -> None:
    """Add the command of a step that takes nothing but its day, its author and its paper."""

    @case_app.command(name, help=said)
    def plain_step(
        case: CaseArgument,
        on: StepOn,
        by: StepBy,
        reference: ReferenceOption = "",
        paper: PaperOption = None,
        workspace: WorkspaceOption = None,
        json: JsonOption = False,
    ) -> None:
        take(kind, case, on, by, reference, paper, workspace, json)


for _name, _kind, _said in PLAIN_STEPS:
    _add_plain_step(_name, _kind, _said)


@case_app.command("list")
def case_list(workspace: WorkspaceOption = None, json: JsonOption = False) -> None:
    """List the cases: state, rows, terms, what the decision still lacks; and the findings that wait."""
    from geobill.pipeline.cases import list_cases

    opened = shared.open_given(workspace)
    found = [case_answer(s, today=shared.today()) for s in list_cases(opened)]
    data = {"cases": found, "findings": waiting(opened)}
    shared.answer(
        data,
        json,
        lambda: "\n".join([*map(describe, found), *describe_waiting(data["findings"])]) or "No cases yet.",
    )


@case_app.command("show")
def case_show(case: CaseArgument, workspace: WorkspaceOption = None, json: JsonOption = False) -> None:
    """Show a case's whole file, step by step."""
    from geobill.pipeline.cases import list_cases

    opened = shared.open_given(workspace)
    (state,) = list_cases(opened, case_named(opened, case.strip()))
    data = {**case_answer(state, whole=True, today=shared.today()), "stands_on": stands_on(opened, state.file.case.id)}
    shared.answer(data, json, lambda: describe(data))
