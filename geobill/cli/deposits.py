"""Commands of deposits and emolumentos (art. 3 §§ 1, 2 of Lei 3.057)."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from geobill.cli import app as shared
from geobill.cli.app import JsonOption, WorkspaceOption
from geobill.errors import InputError

if TYPE_CHECKING:
    from geobill.domain.permit import Act

deposit_app = typer.Typer(no_args_is_help=True, help="The deposit (caução) of three monthly prices (art. 3 §§ 1, 2).")
fee_app = typer.Typer(no_args_is_help=True, help="Emolumentos (art. 3 § 1).")

PermitOption = Annotated[str, typer.Option("--permit", help="Number of the permit.")]
OnOption = Annotated[str | None, typer.Option("--on", metavar="D", help="Day, YYYY-MM-DD (else today).")]
AmountOption = Annotated[str, typer.Option(metavar="A", help="Reais, for example 1234.56.")]
PaidOnOption = Annotated[str, typer.Option(metavar="D", help="Day of the payment, YYYY-MM-DD.")]
ReceiptOption = Annotated[str, typer.Option(metavar="R", help="Number of the receipt; each counts once.")]


@deposit_app.command("demand")
def deposit_demand(
    permit: PermitOption, on: OnOption = None, workspace: WorkspaceOption = None, json: JsonOption = False
) -> None:
    """Demand the deposit: three monthly prices of the day (art. 3 § 2)."""
    from geobill.pipeline.deposits import demand_deposit

    act = demand_deposit(shared.open_given(workspace), permit.strip(), _day(on), shared.now())
    _answer_act(act, json, f"deposit demanded ({act.note})")


@deposit_app.command("record")
def deposit_record(
    permit: PermitOption,
    amount: AmountOption,
    paid_on: PaidOnOption,
    receipt: ReceiptOption,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Record a payment of the deposit."""
    from geobill.domain.permit import DEPOSIT_PAID

    _record_payment(DEPOSIT_PAID, permit, amount, paid_on, receipt, workspace, json)


@deposit_app.command("release")
def deposit_release(
    permit: PermitOption,
    on: Annotated[str, typer.Option("--on", metavar="D", help="Day of the release, YYYY-MM-DD.")],
    reason: Annotated[str, typer.Option(help="Why it is given back.")],
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Give the whole deposit back: after the removal, or where the request came to nothing."""
    from geobill.domain.dates import parse_date
    from geobill.pipeline.deposits import release_deposit

    act = release_deposit(
        shared.open_given(workspace), permit.strip(), parse_date(on, "--on"), reason.strip(), shared.now()
    )
    _answer_act(act, json, "deposit released")


@deposit_app.command("list")
def deposit_list(on: OnOption = None, workspace: WorkspaceOption = None, json: JsonOption = False) -> None:
    """List each permit's deposit on a day: demanded, paid, given back, held, and what the day's price asks for."""
    from geobill.domain.money import plain
    from geobill.pipeline.deposits import list_deposits

    found = []
    for one in list_deposits(shared.open_given(workspace), _day(on)):
        short = None if one.required is None else one.required - one.deposit.held
        found.append(
            {
                "permit": one.file.permit.number,
                "operator": one.file.permit.operator,
                "state": one.file.state,
                "demanded": plain(one.deposit.demanded),
                "paid": plain(one.deposit.paid),
                "released": plain(one.deposit.released),
                "held": plain(one.deposit.held),
                "required": None if one.required is None else plain(one.required),
                "short": None if short is None else plain(short),
                "reason": one.why or None,
            }
        )

    def described(d: dict[str, Any]) -> str:
        required = d["reason"] if d["required"] is None else f"R$ {d['required']} (short R$ {d['short']})"
        sums = f"demanded R$ {d['demanded']}, paid R$ {d['paid']}, given back R$ {d['released']}, held R$ {d['held']}"
        return f"{d['permit']}  {d['operator']}  {d['state']}: {sums}; required {required}"

    shared.answer({"deposits": found}, json, lambda: "\n".join(map(described, found)) or "No permits yet.")


@deposit_app.command("adjust")
def deposit_adjust(
    permit: PermitOption, on: OnOption = None, workspace: WorkspaceOption = None, json: JsonOption = False
) -> None:
    """Follow a changed price, where the policy deposit_follows_price says so: demand the rest, or give back the excess."""
    from geobill.domain.permit import DEPOSIT_DEMANDED
    from geobill.pipeline.deposits import adjust_deposit

    act = adjust_deposit(shared.open_given(workspace), permit.strip(), _day(on), shared.now())
    what = "the rest demanded" if act.kind == DEPOSIT_DEMANDED else "the excess given back"
    _answer_act(act, json, f"{what} ({act.note})")


@fee_app.command("record")
def fee_record(
    permit: PermitOption,
    amount: AmountOption,
    paid_on: PaidOnOption,
    receipt: ReceiptOption,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Record a payment of emolumentos."""
    from geobill.domain.permit import FEE_PAID

    _record_payment(FEE_PAID, permit, amount, paid_on, receipt, workspace, json)


def _record_payment(
    kind: str, permit: str, amount: str, paid_on: str, receipt: str, workspace: Path | None, json: bool
) -> None:
    from geobill.domain.dates import parse_date
    from geobill.domain.permit import Act
    from geobill.pipeline.permits import record_payment

    if not receipt.strip() or not receipt.strip().isprintable():
        raise InputError(
            f"--receipt {receipt!r} is blank or holds a character that can't be seen: a payment is known by its receipt, and "
            "two that look alike would count twice."
        )
    reais = shared.read_amount(amount, "--amount")
    act = Act(permit.strip(), kind, parse_date(paid_on, "--paid-on"), reference=receipt.strip(), amount=reais)
    record_payment(shared.open_given(workspace), act, shared.now())
    _answer_act(act, json, f"{kind.replace('_', ' ')}, receipt {act.reference}")


def _day(text: str | None) -> Any:
    from geobill.domain.dates import parse_date

    return shared.today() if text is None else parse_date(text, "--on")


def _answer_act(act: "Act", as_json: bool, said: str) -> None:
    from geobill.cli.answers import act_answer

    data = {"permit": act.permit, **act_answer(act)}
    shared.answer(data, as_json, lambda: f"Permit {act.permit}: {said}: R$ {data['amount']} on {data['on']}.")
