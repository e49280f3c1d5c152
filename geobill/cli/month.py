"""Commands of the month: price and bill."""

from pathlib import Path
from typing import Annotated, Any

import typer

from geobill.cli import app as shared
from geobill.cli.app import JsonOption, WorkspaceOption

MonthOption = Annotated[str, typer.Option(metavar="YYYY-MM", help="The month that is charged.")]


def price(
    month: MonthOption,
    pieces: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the pieces: .csv, .parquet or .gpkg.")
    ] = None,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Price a month; changes nothing. It runs the very code that bill runs."""
    from geobill.cli.answers import price_answer
    from geobill.documents.pieces import write_pieces
    from geobill.domain.dates import BillingMonth
    from geobill.errors import InputError
    from geobill.pipeline.month import price_month

    opened = shared.open_given(workspace)
    if pieces is not None:
        if pieces.resolve() == opened.database.path.resolve():
            raise InputError(f"--pieces {pieces} is the workspace's own store, with its invoices: name another file.")
        if not pieces.absolute().parent.is_dir():
            raise InputError(
                f"--pieces {pieces} can't be written: there is no folder {pieces.parent}. Make it, or name another."
            )
    located = pieces is not None and pieces.suffix.lower() == ".gpkg"
    found = price_month(opened, BillingMonth.parse(month), located=located)
    if pieces is not None:
        write_pieces(pieces, found.priced.pieces, opened.settings.municipality.srid)
    shared.answer(price_answer(found.bill), json, lambda: _summary(price_answer(found.bill)))


def bill(
    month: MonthOption,
    issued_on: Annotated[
        str | None, typer.Option(metavar="DATE", help="Day of issue (else today); it sets the series' year.")
    ] = None,
    due: Annotated[str | None, typer.Option(metavar="DATE", help="Due date, where the law's 15th has passed.")] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Where the documents go (else WORKSPACE/documents/YYYY-MM).")
    ] = None,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Issue the month's invoices with their annexes, and render the drafts of decrees."""
    from geobill.cli.answers import bill_answer
    from geobill.domain.dates import BillingMonth, parse_date
    from geobill.pipeline.billing import bill_month

    opened = shared.open_given(workspace)
    charged = BillingMonth.parse(month)
    billed = bill_month(
        opened,
        charged,
        issued_on=parse_date(issued_on, "--issued-on") if issued_on is not None else shared.today(),
        due_on=parse_date(due, "--due") if due is not None else None,
        out=out or opened.root / "documents" / str(charged),
        now=shared.now(),
        say=shared.say,
    )
    data = bill_answer(billed)
    shared.answer(data, json, lambda: _bill_summary(data))


def _summary(data: dict[str, Any]) -> str:
    lines = [f"{data['month']}, {data['statute']}, edition {data['edition']}"]
    for o in data["operators"]:
        lines.append(
            f"  {o['operator']}: R$ {o['total']} ({len(o['lines'])} lines, {o['network_length_m']} m, R {o['reducer'] or 'held'})"
        )
    for code in sorted({h["code"] for h in data["held"]}):
        mine = [h for h in data["held"] if h["code"] == code]
        lines.append(f"  held {len(mine)} × {code} (art. {mine[0]['article']}): {mine[0]['reason']}")
        lines += [f"    if {h['amount_if']['what']}: R$ {h['amount_if']['amount']}" for h in mine if h["amount_if"]]
    lines += [f"  exempt {e['operator']} (art. {e['article']}): {e['length_m']} m" for e in data["exempt"]]
    for what, books in data["conservation"].items():
        kept = " + ".join(f"{k} {books[k]}" for k in ("priced", "held", "exempt", "suspended"))
        lines.append(f"  {what}: stored {books['stored']} = {kept}; not due {books['not_due']}")
    return "\n".join(lines)


def _bill_summary(data: dict[str, Any]) -> str:
    lines = [_summary(data)]
    for i in data["invoices"]:
        state = "issued" if i["issued_now"] else "issued before"
        lines.append(f"  invoice {i['number']} {i['operator']}: R$ {i['total']}, due {i['due_on']} ({state})")
    lines += [f"  {f['severity']}: {f['message']}; {f['fix']}" for f in data["findings"]]
    if data["files"]:
        lines.append(f"  {len(data['files'])} documents in {Path(data['files'][0]).parent}")
    return "\n".join(lines)
