"""Commands for what the law leaves open: the policy, and the decisions that it rests on (art. 15)."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from geobill.cli import app as shared
from geobill.cli import complete
from geobill.cli.app import JsonOption, WorkspaceOption

if TYPE_CHECKING:
    from geobill.pipeline.registers import RecordedDecision
    from geobill.store.policy import PolicyChange

policy_app = typer.Typer(no_args_is_help=True, help="How the workspace fills what the law leaves open.")
decision_app = typer.Typer(no_args_is_help=True, help="Decisions on what the law leaves open (art. 15).")
DecisionOption = Annotated[str, typer.Option("--id", help="Id of the decision.", autocompletion=complete.decisions)]


@policy_app.command("set", context_settings={"ignore_unknown_options": True})  # so that -1 is a value
def policy_set(
    key: Annotated[str, typer.Argument(help="Policy key.", autocompletion=complete.policy_keys)],
    value: Annotated[str, typer.Argument(help="Its value.", autocompletion=complete.policy_values)],
    since: Annotated[
        str | None, typer.Option(metavar="YYYY-MM", help="From this month on; else for every month.")
    ] = None,
    decision: Annotated[
        str | None,
        typer.Option(
            metavar="ID", help="The decision that gives exactly this value.", autocompletion=complete.decisions
        ),
    ] = None,
    by: Annotated[str, typer.Option(metavar="NAME", help="Who changes it; it is recorded.")] = "",
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Write one policy key into geobill.toml, for every month or from one on."""
    from geobill.cli.answers import finding_answer
    from geobill.domain.dates import BillingMonth
    from geobill.pipeline.policy import change_policy

    made = change_policy(
        shared.open_given(workspace),
        key,
        value,
        since=None if since is None else BillingMonth.parse(since),
        decision=decision,
        by=by.strip(),
        now=shared.now(),
    )
    data = {
        "key": made.key,
        "value": made.value,
        "since": None if made.since is None else str(made.since),
        "decision": made.decision,
        "findings": [finding_answer(f) for f in made.findings],
    }
    rests = f" (decision {made.decision})" if made.decision else ""
    from_then = f" from {made.since} on" if made.since else ""
    shared.answer(
        data, json, lambda: "\n".join([f"{made.key} = {made.value}{from_then}{rests}", *shared.finding_lines(data)])
    )


@policy_app.command("show")
def policy_show(
    month: Annotated[
        str | None, typer.Option(metavar="YYYY-MM", help="The month that it is asked for (else this one).")
    ] = None,
    profile: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="A profile of geobill.toml instead.", autocompletion=complete.profiles),
    ] = None,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Show a month's policy: values, what each rests on, the values allowed, the gap of the law that each key fills."""
    from geobill.cli.answers import finding_answer
    from geobill.domain.dates import BillingMonth
    from geobill.law.policy import KEYS
    from geobill.pipeline.policy import show_policy

    today = shared.today()
    asked = BillingMonth.of(today) if month is None else BillingMonth.parse(month)
    opened = shared.open_given(workspace)
    shown = show_policy(opened, asked, profile)
    values = shown.policy.as_text()
    data = {
        "month": str(asked),
        "profile": profile,
        "policy": [
            {
                "key": k.key,
                "value": values[k.key],
                "default": k.default,
                "values": list(k.values),
                "gap": k.gap,
                "decision": shown.decisions[k.key],
            }
            for k in KEYS
        ],
        "dated": [
            {"since": str(since), "key": key, "value": value}
            for since, changes in opened.settings.policy_since.items()
            for key, value in changes.items()
        ],
        "findings": [finding_answer(f) for f in shown.findings],
    }
    shared.answer(data, json, lambda: "\n".join(_policy_lines(data)))


@policy_app.command("profiles")
def policy_profiles(workspace: WorkspaceOption = None, json: JsonOption = False) -> None:
    """List the named policies of geobill.toml ([policy.profile.NAME]) with the keys in which they differ."""
    settings = shared.open_given(workspace).settings
    base = settings.policy.as_text()
    data = {
        "profiles": [
            {
                "name": name,
                "differs": [
                    {"key": key, "value": value, "base": base[key]}
                    for key, value in policy.as_text().items()
                    if value != base[key]
                ],
            }
            for name, policy in settings.profiles.items()
        ]
    }

    def lines() -> str:
        if not data["profiles"]:
            return "No profiles. Write one into geobill.toml under [policy.profile.NAME], with the keys that differ."
        return "\n".join(
            f"{p['name']}: "
            + (", ".join(f"{d['key']} = {d['value']} (else {d['base']})" for d in p["differs"]) or "differs in nothing")
            for p in data["profiles"]
        )

    shared.answer(data, json, lines)


@policy_app.command("history")
def policy_history(workspace: WorkspaceOption = None, json: JsonOption = False) -> None:
    """Show who changed the policy and when, and the issued months that would take another value today."""
    from geobill.pipeline.policy import read_history

    history = read_history(shared.open_given(workspace))
    data = {
        "changes": [_change_answer(c) for c in history.changes],
        "not_recorded": [_change_answer(c) for c in history.not_recorded],
        "billed_otherwise": [
            {"month": str(b.month), "key": b.key, "billed": b.billed, "now": b.now, "invoices": list(b.invoices)}
            for b in history.billed_otherwise
        ],
    }

    def lines() -> str:
        said = [f"{c['recorded_at']}  {_change_line(c)}  {c['by'] or '(nobody named)'}" for c in data["changes"]]
        said += [f"not recorded yet (changed by hand)  {_change_line(c)}" for c in data["not_recorded"]]
        said += [
            f"{b['month']} was billed under {b['key']} = {b['billed']}, and would take {b['now']} today: "
            f"{', '.join(b['invoices'])}"
            for b in data["billed_otherwise"]
        ]
        return "\n".join(said) or "The policy is the law's default, and no change of it is recorded."

    shared.answer(data, json, lines)


@decision_app.command("add")
def decision_add(
    id_: Annotated[str, typer.Option("--id", help="Id by which the policy names the decision.")],
    number: Annotated[str, typer.Option(help="Number of the act.")],
    date: Annotated[str, typer.Option(help="Date of the act, YYYY-MM-DD.")],
    signatory: Annotated[str, typer.Option(help="Who signed it.")],
    question: Annotated[
        str,
        typer.Option(help="What it answers: a policy key, or a question in words.", autocompletion=complete.questions),
    ],
    answer: Annotated[
        str, typer.Option(help="The answer: a value that the key takes (above_100_km: the R to use), or words.")
    ],
    from_: Annotated[
        str | None, typer.Option("--from", metavar="DATE", help="First day for which it answers; else every day.")
    ] = None,
    scan: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The signed paper: PDF, PNG or JPEG, up to 25 MB.")
    ] = None,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Record a decision on what the law leaves open (art. 15)."""
    from geobill.domain.dates import parse_date
    from geobill.domain.invoice import Decision
    from geobill.law.policy import is_key
    from geobill.pipeline.policy import first_whole_month
    from geobill.pipeline.registers import add_decision

    given = Decision(
        id_.strip(),
        number.strip(),
        parse_date(date, "--date"),
        signatory.strip(),
        question.strip(),
        answer.strip(),
        None if from_ is None else parse_date(from_, "--from"),
    )
    recorded = add_decision(shared.open_given(workspace), given, shared.now(), scan)

    def lines() -> str:
        kept, decision = f"Decision {recorded.decision.id} recorded", recorded.decision
        if not is_key(decision.question):
            return f"{kept}. Its question is none of the policy's: it is printed on the memos, and moves no amount."
        above = decision.question == "above_100_km"
        setting = decision.id if above else f"{decision.answer} --decision {decision.id}"
        if decision.in_force_from is not None:
            setting += f" --since {first_whole_month(decision.in_force_from)}"
        return f"{kept}. To rest on it: geobill policy set {decision.question} {setting}"

    shared.answer(_decision_answer(recorded), json, lines)


@decision_app.command("list")
def decision_list(workspace: WorkspaceOption = None, json: JsonOption = False) -> None:
    """List the recorded decisions."""
    from geobill.pipeline.registers import list_decisions

    data = {"decisions": [_decision_answer(r) for r in list_decisions(shared.open_given(workspace))]}
    shared.answer(
        data,
        json,
        lambda: "\n".join(_decision_line(d) for d in data["decisions"]) or "No decisions yet: geobill decision add.",
    )


@decision_app.command("show")
def decision_show(id_: DecisionOption, workspace: WorkspaceOption = None, json: JsonOption = False) -> None:
    """Show one decision."""
    from geobill.pipeline.registers import find_decision

    data = _decision_answer(find_decision(shared.open_given(workspace), id_))
    paper = f"{data['file_name']}, sha256 {data['scan']}" if data["scan"] else "none was kept"
    shared.answer(data, json, lambda: f"{_decision_line(data)}\n    scan: {paper}")


@decision_app.command("scan")
def decision_scan(
    id_: DecisionOption,
    out: Annotated[Path, typer.Option(metavar="FILE", help="New file to write the kept paper to.")],
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Give back the kept paper of a decision, byte for byte."""
    from geobill.pipeline.registers import write_scan

    found = write_scan(shared.open_given(workspace), id_, out)
    data = {
        "decision": found.decision.id,
        "file": str(out),
        "sha256": found.decision.scan,
        "file_name": found.file_name,
    }
    shared.answer(data, json, lambda: f"{out}: the paper of decision {found.decision.id} ({found.file_name})")


def _policy_lines(data: dict[str, Any]) -> list[str]:
    lines = [f"{data['month']}" + (f", profile {data['profile']}" if data["profile"] else "")]
    for k in data["policy"]:
        rests = f"  (decision {k['decision']})" if k["decision"] else ""
        lines.append(f"{k['key']} = {k['value']}{rests}")
        lines.append(f"    {k['gap']}; allowed: {', '.join(k['values'])}; default {k['default']}")
    lines += [f"from {d['since']} on: {d['key']} = {d['value']}" for d in data["dated"]]
    return lines + shared.finding_lines(data)


def _change_answer(change: "PolicyChange") -> dict[str, Any]:
    return {
        "key": change.key,
        "value": change.value,
        "previous": change.previous,
        "since": change.since or None,
        "by": change.by,
        "recorded_at": change.recorded_at or None,
    }


def _change_line(change: dict[str, Any]) -> str:
    since = f" from {change['since']} on" if change["since"] else ""
    return f"{change['key']}{since}: {change['previous'] or '-'} to {change['value'] or '-'}"


def _decision_answer(recorded: "RecordedDecision") -> dict[str, Any]:
    decision = recorded.decision
    return {
        "id": decision.id,
        "number": decision.number,
        "date": decision.date.isoformat(),
        "signatory": decision.signatory,
        "question": decision.question,
        "answer": decision.answer,
        "in_force_from": None if decision.in_force_from is None else decision.in_force_from.isoformat(),
        "scan": decision.scan or None,
        "file_name": recorded.file_name or None,
    }


def _decision_line(data: dict[str, Any]) -> str:
    since = f", from {data['in_force_from']} on" if data["in_force_from"] else ""
    return f"{data['id']}  nº {data['number']} of {data['date']}, {data['signatory']}  {data['question']}: {data['answer']}{since}"
