"""Commands that set a workspace up: init, operators, policy, decisions."""

from pathlib import Path
from typing import Annotated

import typer

from geobill.cli import app as shared
from geobill.cli import complete
from geobill.cli.app import JsonOption, WorkspaceOption

operator_app = typer.Typer(no_args_is_help=True, help="Who owns equipment in the street, and pays for it.")
policy_app = typer.Typer(no_args_is_help=True, help="How the workspace fills what the law leaves open.")
decision_app = typer.Typer(no_args_is_help=True, help="Decisions on what the law leaves open (art. 15).")


def init(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Folder to make; new or empty.")],
    statute: Annotated[
        str, typer.Option(help="The statute to bill under.", autocompletion=complete.statutes)
    ] = "caieiras-lei-3057-2001",
    db: Annotated[
        str | None, typer.Option(help="A PostGIS address instead of the embedded store (not built yet).")
    ] = None,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Make a workspace: geobill.toml and the embedded store cadastre.gpkg."""
    from geobill.store.workspace import init_workspace

    made = init_workspace(folder, statute, shared.now(), db)
    data = {
        "workspace": str(made.root),
        "settings": str(made.root / "geobill.toml"),
        "store": str(made.database.path),
        "statute": made.settings.statute,
    }
    shared.answer(
        data,
        json,
        lambda: f"Workspace {made.root}: fill in geobill.toml (who issues), then add operators and import files.",
    )


@operator_app.command("add")
def operator_add(
    id_: Annotated[str, typer.Option("--id", help="Short id, as files and options name the operator.")],
    name: Annotated[str, typer.Option(help="Name as it stands on the invoice.")],
    cnpj: Annotated[str, typer.Option(help="CNPJ.")] = "",
    kind: Annotated[
        str, typer.Option(help="private, public, or municipal (public law, of this municipality: art. 13).")
    ] = "private",
    service: Annotated[str, typer.Option(help="Kind of service.")] = "",
    address: Annotated[str, typer.Option(help="Address.")] = "",
    email: Annotated[str, typer.Option(help="E-mail.")] = "",
    representative: Annotated[str, typer.Option(help="Who signs for the operator.")] = "",
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Add an operator."""
    from geobill.cli.answers import finding_answer
    from geobill.domain.network import Operator
    from geobill.pipeline.registers import add_operator

    operator = Operator(id_.strip(), name.strip(), kind, cnpj, service, address, email, representative)
    findings = add_operator(shared.open_given(workspace), operator, shared.now())
    said = "".join(f"\n  {f.severity}: {f.message}; {f.fix}" for f in findings)
    shared.answer(
        {
            "operator": operator.id,
            "name": operator.name,
            "kind": operator.kind,
            "findings": [finding_answer(f) for f in findings],
        },
        json,
        lambda: f"Operator {operator.id} added.{said}",
    )


@operator_app.command("list")
def operator_list(workspace: WorkspaceOption = None, json: JsonOption = False) -> None:
    """List the operators."""
    from geobill.domain.record import to_plain
    from geobill.pipeline.registers import list_operators

    found = list_operators(shared.open_given(workspace))
    data = {"operators": [to_plain(o) for o in found]}
    shared.answer(
        data,
        json,
        lambda: (
            "\n".join(f"{o.id}  {o.name}  ({o.kind}){f'  CNPJ {o.cnpj}' if o.cnpj else ''}" for o in found)
            or "No operators yet."
        ),
    )


@policy_app.command("set", context_settings={"ignore_unknown_options": True})  # so that -1 is a value
def policy_set(
    key: Annotated[str, typer.Argument(help="Policy key.", autocompletion=complete.policy_keys)],
    value: Annotated[str, typer.Argument(help="Its value.", autocompletion=complete.policy_values)],
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Write one policy key into geobill.toml."""
    from geobill.law.policy import check_policy_value
    from geobill.pipeline.registers import check_policy_rests
    from geobill.store.settings import FILE_NAME, set_policy

    opened = shared.open_given(workspace)
    check_policy_rests(opened, key, check_policy_value(key, value))
    stored = set_policy(opened.root / FILE_NAME, key, value)
    shared.answer({"key": key, "value": stored}, json, lambda: f"{key} = {stored}")


@policy_app.command("show")
def policy_show(workspace: WorkspaceOption = None, json: JsonOption = False) -> None:
    """Show the policy in force, the values allowed and the gap of the law that each key fills."""
    from geobill.law.policy import KEYS

    policy = shared.open_given(workspace).settings.policy.as_text()
    data = {
        "policy": [
            {"key": k.key, "value": policy[k.key], "default": k.default, "values": list(k.values), "gap": k.gap}
            for k in KEYS
        ]
    }
    shared.answer(
        data,
        json,
        lambda: "\n".join(
            f"{k.key} = {policy[k.key]}\n    {k.gap}; allowed: {', '.join(k.values)}; default {k.default}" for k in KEYS
        ),
    )


@decision_app.command("add")
def decision_add(
    id_: Annotated[str, typer.Option("--id", help="Id by which the policy names the decision.")],
    number: Annotated[str, typer.Option(help="Number of the act.")],
    date: Annotated[str, typer.Option(help="Date of the act, YYYY-MM-DD.")],
    signatory: Annotated[str, typer.Option(help="Who signed it.")],
    question: Annotated[str, typer.Option(help="What it answers: above_100_km.")],
    answer: Annotated[str, typer.Option(help="The answer: the R to use.")],
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Record a decision on what the law leaves open (art. 15)."""
    from geobill.domain.dates import parse_date
    from geobill.domain.invoice import Decision
    from geobill.domain.record import to_plain
    from geobill.errors import InputError
    from geobill.law.policy import check_answer
    from geobill.pipeline.registers import add_decision

    given = {"--id": id_, "--number": number, "--signatory": signatory}
    for option, text in given.items():
        if not text.strip():
            raise InputError(f"{option} is blank: a decision that amounts rest on has an id, a number and a signatory.")
    if id_.strip() == "hold":
        raise InputError("A decision can't be called 'hold': that is the policy's word for none. Choose another id.")
    check_answer(question, answer)
    decision = Decision(
        id_.strip(), number.strip(), parse_date(date, "--date"), signatory.strip(), question, answer.strip()
    )
    add_decision(shared.open_given(workspace), decision, shared.now())
    shared.answer(
        to_plain(decision),
        json,
        lambda: f"Decision {decision.id} recorded. To rest on it: geobill policy set {question} {decision.id}",
    )
