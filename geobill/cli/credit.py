"""Credits from waived revenue, which are set off against a part of what an operator owes (art. 14)."""

from typing import Annotated, Any

import typer

from geobill.cli import app as shared
from geobill.cli.app import JsonOption, WorkspaceOption

credit_app = typer.Typer(
    no_args_is_help=True, help="Credits from waived revenue, set off against a part of the debt (art. 14)."
)


@credit_app.command("add")
def credit_add(
    id_: Annotated[str, typer.Option("--id", metavar="ID", help="Short name of the credit.")],
    operator: Annotated[str, typer.Option(metavar="ID", help="Whose credit it is.")],
    law: Annotated[str, typer.Option(metavar="TEXT", help="The municipal law that waives the revenue.")],
    amount: Annotated[str, typer.Option(metavar="A", help="Reais, for example 1234.56.")],
    on: Annotated[str, typer.Option(metavar="D", help="Day on which it was granted, YYYY-MM-DD.")],
    reference: Annotated[str, typer.Option(metavar="REF", help="Number of the act or the process.")] = "",
    note: Annotated[str, typer.Option(metavar="TEXT", help="What is to be kept with it.")] = "",
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Record a credit; bill sets it off up to the policy set_off_share of each invoice, oldest first."""
    from geobill.domain.credit import Credit
    from geobill.domain.dates import parse_date
    from geobill.pipeline.credits import add_credit

    credit = Credit(
        id_.strip(),
        operator.strip(),
        law.strip(),
        shared.read_amount(amount, "--amount"),
        parse_date(on, "--on"),
        reference.strip(),
        note.strip(),
    )
    opened = shared.open_given(workspace)
    data = _answer(add_credit(opened, credit, today=shared.today(), now=shared.now()))
    shared.answer(data, json, lambda: f"recorded: {_describe(data)}")


@credit_app.command("list")
def credit_list(
    operator: Annotated[str | None, typer.Option(metavar="ID", help="One operator only.")] = None,
    on: Annotated[str | None, typer.Option(metavar="D", help="As they stood at the end of a day, YYYY-MM-DD.")] = None,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """List the credits, oldest first, with what is left of each."""
    from geobill.domain.dates import parse_date
    from geobill.pipeline.credits import list_credits

    day = None if on is None else parse_date(on, "--on")
    end = None if day is None else shared.end_of_day(day)
    found = list_credits(shared.open_given(workspace), operator=operator, on=day, used_by=end)
    data = {"credits": [_answer(c) for c in found]}
    shared.answer(data, json, lambda: "\n".join(map(_describe, data["credits"])) or "No credits.")


def _answer(one: Any) -> dict[str, Any]:
    from geobill.domain.money import plain
    from geobill.domain.record import to_plain

    return {**to_plain(one.credit), "left": plain(one.left)}


def _describe(credit: dict[str, Any]) -> str:
    said = f" ({credit['reference']})" if credit["reference"] else ""
    whose = f"{credit['id']} of {credit['operator']}, {credit['on']}"
    return f"{whose}: R$ {credit['amount']}, left R$ {credit['left']}; {credit['law']}{said}"
