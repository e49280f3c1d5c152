"""Issued invoices and notes: listed, shown, cancelled; and the year paid at once."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from geobill.cli import app as shared
from geobill.cli.app import JsonOption, WorkspaceOption
from geobill.cli.correct import describe_note
from geobill.cli.month import by_case

if TYPE_CHECKING:
    from geobill.pipeline.invoices import Booked

invoice_app = typer.Typer(
    no_args_is_help=True, help="Issued invoices and notes: one gapless series of numbers for each year."
)
NumberArgument = Annotated[str, typer.Argument(metavar="NUMBER", help="Number, for example 2026/000012.")]


@invoice_app.command("list")
def invoice_list(
    month: Annotated[str | None, typer.Option(metavar="YYYY-MM", help="Those on one month.")] = None,
    operator: Annotated[str | None, typer.Option(metavar="ID", help="One operator only.")] = None,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """List invoices and notes in the order of their numbers; a cancelled invoice with its reason."""
    from geobill.domain.dates import BillingMonth
    from geobill.pipeline.invoices import list_booked

    opened = shared.open_given(workspace)
    found = list_booked(opened, month=None if month is None else BillingMonth.parse(month), operator=operator)
    data = {"invoices": [_booked_answer(b) for b in found]}
    shared.answer(data, json, lambda: "\n".join(map(_describe, data["invoices"])) or "Nothing is issued.")


@invoice_app.command("show")
def invoice_show(
    number: NumberArgument,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write its documents there, as they were issued.")
    ] = None,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Show an invoice or a note: its lines, the notes on its months, and what was demanded in all."""
    from geobill.cli.answers import line_answer, note_answer
    from geobill.domain.invoice import Invoice
    from geobill.domain.money import plain
    from geobill.pipeline.invoices import show_booked

    shown = show_booked(shared.open_given(workspace), number.strip(), out)
    paper = shown.booked.paper
    lines = [line_answer(line) for line in paper.lines] if isinstance(paper, Invoice) else note_answer(paper)["lines"]
    data = {
        **_booked_answer(shown.booked),
        "lines": lines,
        "standing": [
            {
                "month": str(d.month),
                "invoice": None if d.invoice is None else d.invoice.number,
                "notes": [n.number for n, _ in d.notes],
                "demanded": {kind: plain(amount) for kind, amount in d.by_kind.items()},
                "total": plain(d.total),
            }
            for d in shown.demanded
        ],
        "files": [str(f) for f in shown.files],
    }
    shared.answer(data, json, lambda: _show_summary(data))


@invoice_app.command("cancel")
def invoice_cancel(
    number: NumberArgument,
    reason: Annotated[str, typer.Option(metavar="TEXT", help="Why; it is kept.")],
    by: Annotated[str, typer.Option(metavar="NAME", help="Who cancels it; it is kept.")],
    on: Annotated[str | None, typer.Option("--on", metavar="D", help="Day, YYYY-MM-DD (else today).")] = None,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Cancel an invoice: its number stays used, it stays in the ledger, and the month may be billed anew."""
    from geobill.billing.check import read_name
    from geobill.domain.cancellation import Cancellation
    from geobill.domain.dates import parse_date
    from geobill.domain.record import to_plain
    from geobill.pipeline.invoices import cancel_invoice

    day = shared.today() if on is None else parse_date(on, "--on")
    act = Cancellation(number.strip(), day, read_name(by), " ".join(reason.split()))
    done = cancel_invoice(shared.open_given(workspace), act, shared.now())
    data = {
        "number": done.invoice.number,
        "month": str(done.invoice.month),
        "operator": done.invoice.operator.id,
        "cancelled": _cancelled_answer(done.act),
        "given_back": [to_plain(s) for s in done.given_back],
    }
    shared.answer(data, json, lambda: _cancel_summary(data))


def bill_at_once(
    year: int,
    operator: str,
    issued_on: str | None,
    due: str | None,
    by: str | None,
    out: Path | None,
    workspace: Path | None,
    json: bool,
) -> None:
    """Issue the single payment of a year; see :func:`geobill.pipeline.single_payment.bill_at_once`."""
    from geobill.billing.check import read_name
    from geobill.cli.answers import note_answer
    from geobill.domain.dates import parse_date
    from geobill.pipeline import single_payment

    made = single_payment.bill_at_once(
        shared.open_given(workspace),
        year,
        operator.strip(),
        issued_on=parse_date(issued_on, "--issued-on") if issued_on is not None else shared.today(),
        due_on=parse_date(due, "--due") if due is not None else None,
        by=read_name(by),
        out=out,
        now=shared.now(),
        say=shared.say,
    )
    data = {"note": note_answer(made.note), "files": [str(f) for f in made.files]}
    shared.answer(data, json, lambda: _at_once_summary(data))


def _booked_answer(booked: "Booked") -> dict[str, Any]:
    from geobill.domain.invoice import Invoice
    from geobill.domain.money import plain
    from geobill.pipeline.invoices import months_of

    paper = booked.paper
    is_invoice = isinstance(paper, Invoice)
    return {
        "number": paper.number,
        "kind": "invoice" if is_invoice else paper.kind,
        "operator": paper.operator.id,
        "months": [str(m) for m in months_of(paper)],
        "issued_on": paper.issued_on.isoformat(),
        "due_on": None if paper.due_on is None else paper.due_on.isoformat(),
        "total": plain(paper.total),
        "payable": plain(paper.payable if is_invoice else paper.total),
        "digest": paper.digest,
        "cancelled": None if booked.cancelled is None else _cancelled_answer(booked.cancelled),
    }


def _cancelled_answer(act: Any) -> dict[str, str]:
    return {"on": act.on.isoformat(), "by": act.by, "reason": act.reason}


def _describe(paper: dict[str, Any]) -> str:
    months = paper["months"]
    of = "" if not months else months[0] if len(months) == 1 else f"{months[0]} to {months[-1]}"
    due = f", due {paper['due_on']}" if paper["due_on"] else ""
    less = f", to pay R$ {paper['payable']}" if paper["payable"] != paper["total"] else ""
    act = paper["cancelled"]
    cancelled = f"; CANCELLED on {act['on']} by {act['by']}: {act['reason']}" if act else ""
    return f"{paper['number']}  {paper['kind']} {paper['operator']} {of}: R$ {paper['total']}{less}{due}{cancelled}"


def _show_summary(data: dict[str, Any]) -> str:
    lines = [_describe(data)]
    if data["kind"] == "invoice":
        for n, line in enumerate(data["lines"], 1):
            what = f"{line['length_m']} m in {line['zone']}" if line["kind"] == "network" else line["kind"]
            lines.append(f"  {n:>3}  {what}{by_case(line)}: R$ {line['amount']}")
    else:
        lines += describe_note(data).splitlines()[1:]
    for stands in data["standing"]:
        parts = ", ".join(f"{kind} R$ {amount}" for kind, amount in stands["demanded"].items())
        notes = f" (notes {', '.join(stands['notes'])})" if stands["notes"] else ""
        lines.append(f"  demanded for {stands['month']}: R$ {stands['total']} = {parts}{notes}")
    if data["files"]:
        lines.append(f"  {len(data['files'])} documents in {Path(data['files'][0]).parent}")
    return "\n".join(lines)


def _cancel_summary(data: dict[str, Any]) -> str:
    act = data["cancelled"]
    lines = [f"invoice {data['number']} cancelled on {act['on']} by {act['by']}: {act['reason']}"]
    lines += [f"  credit {s['credit']} has R$ {s['amount']} back" for s in data["given_back"]]
    lines.append(f"  its number stays used; geobill bill --month {data['month']} issues the month anew under another")
    return "\n".join(lines)


def _at_once_summary(data: dict[str, Any]) -> str:
    note = data["note"]
    months = [line["month"] for line in note["lines"]]
    year = [f"{months[0][:5]}{n:02d}" for n in range(1, 13)]
    apart = f" (invoiced before: {', '.join(m for m in year if m not in months)})" if len(months) < 12 else ""
    lines = [
        f"single payment {note['number']} of {note['operator']}: {len(months)} months of {months[0][:4]}{apart}, "
        f"R$ {note['total']}, due {note['due_on']}",
        f"  {len(data['files'])} documents in {Path(data['files'][0]).parent}",
    ]
    return "\n".join(lines)
