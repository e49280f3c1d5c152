"""The month's invoices: drafted, compared and checked, issued."""

from pathlib import Path
from typing import Annotated, Any

import typer

from geobill.cli import app as shared
from geobill.cli.app import COMMON, JsonOption, WorkspaceOption
from geobill.cli.invoices import bill_at_once
from geobill.cli.month import MONTH_HELP, price_summary
from geobill.cli.retroactive import bill_case

CAUSES: dict[str, str] = {
    "new_segments": "new segments",
    "new_cabinets": "new cabinets",
    "removed_segments": "removed segments",
    "removed_cabinets": "removed cabinets",
    "length": "length (redrawn, or measured otherwise)",
    "volume": "volume",
    "held": "now held",
    "released": "no longer held",
    "shared_strip": "shared strip",
    "width": "width",
    "edition": "edition (T)",
    "zones": "other zones (drawing, edition or policy)",
    "law": "figures of the law",
    "multiplier": "doubling",
    "days": "days",
    "suspended": "suspended by a court",
    "resumed": "no longer suspended",
    "reducer": "R",
    "exempt": "now exempt (art. 13)",
    "recomputed": "issued total, computed otherwise today",
    "rounding": "rounding of lines",
}
MonthOption = Annotated[str | None, typer.Option(metavar="YYYY-MM", help=MONTH_HELP)]

bill_app = typer.Typer(
    invoke_without_command=True, rich_markup_mode=None, add_completion=False, subcommand_metavar="[check]"
)


@bill_app.callback()
def bill(
    context: typer.Context,
    month: MonthOption = None,
    draft: Annotated[
        bool,
        typer.Option("--draft", help="Render the month without numbers; issue nothing."),
    ] = False,
    by: Annotated[str | None, typer.Option(metavar="NAME", help="Who drafts or issues; it is recorded.")] = None,
    issued_on: Annotated[
        str | None, typer.Option(metavar="DATE", help="Day of issue (else today); it sets the series' year.")
    ] = None,
    due: Annotated[str | None, typer.Option(metavar="DATE", help="Due date, where the law's 15th has passed.")] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Where the documents go (else WORKSPACE/documents/YYYY-MM, a draft's in its rascunho)."
        ),
    ] = None,
    retroactive: Annotated[
        str | None,
        typer.Option(
            "--retroactive", metavar="CASE", help="Bill the past months of a decided case instead of a month."
        ),
    ] = None,
    until: Annotated[
        str | None,
        typer.Option(metavar="YYYY-MM", help="Last past month (with --retroactive; else the last one invoiced)."),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Work the past months out and issue nothing (with --retroactive).")
    ] = False,
    single_payment: Annotated[
        int | None, typer.Option(metavar="YEAR", help="Issue a year paid at once (art. 8) instead of a month.")
    ] = None,
    operator: Annotated[
        str | None, typer.Option(metavar="ID", help="Who pays the year at once (with --single-payment).")
    ] = None,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Issue the month's invoices with their annexes, and render the drafts of decrees.

    With --draft nothing is issued: another person can look (bill check) before it is.
    """
    past = {"--until": until, "--dry-run": dry_run}
    own = {"--month": month, "--retroactive": retroactive, **past, "--draft": draft, "--by": by}
    own |= {"--single-payment": single_payment, "--operator": operator}
    own |= {"--issued-on": issued_on, "--due": due, "--out": out}
    if context.invoked_subcommand is not None:
        given = [name for name, value in own.items() if value]
        if given:
            context.fail(f"{', '.join(given)} before {context.invoked_subcommand}: write options after its name.")
        COMMON.workspace, COMMON.json = workspace or COMMON.workspace, json or COMMON.json
        return
    if single_payment is not None:
        if month is not None or draft or retroactive is not None or operator is None:
            context.fail("--single-payment goes with --operator, and without --month, --draft and --retroactive.")
        bill_at_once(single_payment, operator, issued_on, due, by, out, workspace, json)
        return
    if operator is not None:
        context.fail("--operator goes with --single-payment YEAR.")
    if retroactive is not None:
        if month is not None or draft:
            context.fail(
                "--retroactive goes without --month and --draft: the case says which months, --dry-run looks first."
            )
        bill_case(retroactive, until, issued_on, due, by, out, dry_run, workspace, json)
        return
    given = [name for name, value in past.items() if value]
    if given:
        context.fail(f"{', '.join(given)} goes with --retroactive CASE.")
    if month is None:
        context.fail("Missing option '--month'.")
    if draft:
        if issued_on is not None or due is not None:
            context.fail("--issued-on and --due don't go with --draft: a draft is neither issued nor due.")
        _draft(month, by, out, workspace, json)
    else:
        _issue(month, by, issued_on, due, out, workspace, json)


@bill_app.command()
def check(
    context: typer.Context,
    month: Annotated[str, typer.Option(metavar="YYYY-MM", help=MONTH_HELP)],
    by: Annotated[
        str | None, typer.Option(metavar="NAME", help="Who has checked the draft; without it nothing is recorded.")
    ] = None,
    note: Annotated[str | None, typer.Option(metavar="TEXT", help="What the person who checked wants kept.")] = None,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Show what differs from last month, by operator and why; with --by, record that its draft was checked."""
    from geobill.billing.check import read_name
    from geobill.domain.dates import BillingMonth
    from geobill.pipeline.check import check_month

    if note is not None and by is None:
        context.fail("--note is kept with a check: name who checked with --by NAME.")
    opened = shared.open_given(workspace)
    compared = check_month(
        opened, BillingMonth.parse(month), by=read_name(by), note=note or "", now=shared.now(), say=shared.say
    )
    data = check_answer(compared)
    shared.answer(data, json, lambda: _check_summary(data))


def _issue(
    month: str,
    by: str | None,
    issued_on: str | None,
    due: str | None,
    out: Path | None,
    workspace: Path | None,
    json: bool,
) -> None:
    from geobill.billing.check import read_name
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
        by=read_name(by),
        say=shared.say,
    )
    data = {**bill_answer(billed), "checked": _step(billed.checked)}
    shared.answer(data, json, lambda: _bill_summary(data))


def _draft(month: str, by: str | None, out: Path | None, workspace: Path | None, json: bool) -> None:
    from geobill.billing.check import read_name
    from geobill.cli.answers import finding_answer, price_answer
    from geobill.domain.dates import BillingMonth
    from geobill.domain.money import plain
    from geobill.pipeline.check import DRAFT_FOLDER, draft_month

    opened = shared.open_given(workspace)
    charged = BillingMonth.parse(month)
    made = draft_month(
        opened,
        charged,
        by=read_name(by),
        drafted_on=shared.today(),
        out=out or opened.root / "documents" / str(charged) / DRAFT_FOLDER,
        now=shared.now(),
        say=shared.say,
    )
    data = {
        **price_answer(made.month.bill),
        "drafted": _step(made.drafted),
        "drafts": [{"operator": d.operator.id, "total": plain(d.total)} for d in made.drafts],
        "invoices": [],
        "files": [str(f) for f in made.files],
        "findings": [finding_answer(f) for f in made.findings],
    }
    compared = check_answer(made.comparison)
    shared.answer(data, json, lambda: _draft_summary(data, compared))


def check_answer(compared: Any) -> dict[str, Any]:
    """Answer of ``bill check``: the month beside the one before, by operator and cause."""
    from geobill.domain.record import to_plain

    return {
        "month": str(compared.month),
        "previous": str(compared.previous),
        "digest": compared.digest,
        "drafted": _step(compared.drafted),
        "checked": _step(compared.checked),
        "unpriced": compared.unpriced,
        "operators": [to_plain(o) for o in compared.operators],
    }


def _step(taken: Any) -> dict[str, str] | None:
    return None if taken is None else {"by": taken.by, "at": taken.at, "digest": taken.digest, "note": taken.note}


def _bill_summary(data: dict[str, Any]) -> str:
    lines = [price_summary(data)]
    if data["checked"]:
        lines.append(f"  conferido por {data['checked']['by']} em {data['checked']['at']}")
    for i in data["invoices"]:
        state = "issued" if i["issued_now"] else "issued before"
        paid = "" if i["payable"] == i["total"] else f", to pay after set-off R$ {i['payable']}"
        lines.append(f"  invoice {i['number']} {i['operator']}: R$ {i['total']}{paid}, due {i['due_on']} ({state})")
    return "\n".join([*lines, *_findings_and_files(data)])


def _draft_summary(data: dict[str, Any], compared: dict[str, Any]) -> str:
    lines = [price_summary(data)]
    lines += [f"  draft without number {d['operator']}: R$ {d['total']}" for d in data["drafts"]]
    whose = f" by {data['drafted']['by']}" if data["drafted"]["by"] else ""
    next_step = f"geobill bill check --month {data['month']} --by NAME"
    lines += [
        *_findings_and_files(data),
        f"drafted{whose}, nothing issued; next: {next_step}",
    ]
    return "\n".join([*lines, *_compared(compared)])


def _findings_and_files(data: dict[str, Any]) -> list[str]:
    lines = [f"  {f['severity']}: {f['message'].rstrip('.')}; {f['fix']}" for f in data["findings"]]
    if data["files"]:
        lines.append(f"  {len(data['files'])} documents in {Path(data['files'][0]).parent}")
    return lines


def _check_summary(data: dict[str, Any]) -> str:
    drafted, checked = data["drafted"], data["checked"]
    if drafted is None:
        lines = [f"{data['month']}: no draft"]
    else:
        stands = (
            "of these figures"
            if drafted["digest"] == data["digest"]
            else "of other figures: the month has changed since"
        )
        lines = [
            f"{data['month']}: drafted{' by ' + drafted['by'] if drafted['by'] else ''} at {drafted['at']}, {stands}"
        ]
    if checked is not None:
        note = f": {checked['note']}" if checked["note"] else ""
        lines.append(f"conferido por {checked['by']} em {checked['at']}{note}")
    else:
        lines.append("not checked: no check stands for these figures")
    return "\n".join([*lines, *_compared(data)])


def _compared(data: dict[str, Any]) -> list[str]:
    lines = [f"beside {data['previous']}:"]
    if data["unpriced"]:
        lines.append(f"  {data['previous']} can't be priced: {data['unpriced']}")
    for o in data["operators"]:
        if o["previous_total"] is None:
            lines.append(f"  {o['operator']}: R$ {o['total']}, nothing to compare with")
            continue
        origin = "issued" if o["issued"] else "not issued; priced now"
        lines.append(
            f"  {o['operator']}: R$ {o['previous_total']} ({origin}) -> R$ {o['total']}, difference {_with_sign(o['difference'])}"
        )
        width = max((len(_with_sign(c["amount"])) for c in o["causes"]), default=0)
        named = max((len(CAUSES[c["cause"]]) for c in o["causes"]), default=0)
        for c in o["causes"]:
            rows = f"{c['segments']} ({', '.join(c['examples'])}{', …' if c['segments'] > len(c['examples']) else ''})"
            what = f"  {rows}, {c['length_m']} m" if c["segments"] else ""
            lines.append(f"    {_with_sign(c['amount']):>{width}}  {CAUSES[c['cause']]:<{named}}{what}".rstrip())
    return lines


def _with_sign(amount: str) -> str:
    return amount if amount.startswith("-") else f"+{amount}"
