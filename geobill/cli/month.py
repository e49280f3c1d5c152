"""The month's price, looked at."""

from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any

import typer

from geobill.cli import app as shared
from geobill.cli.app import JsonOption, WorkspaceOption

MONTH_HELP = "The month that is charged."
MonthOption = Annotated[str, typer.Option(metavar="YYYY-MM", help=MONTH_HELP)]


def price(
    month: MonthOption,
    pieces: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the pieces: .csv, .parquet or .gpkg.")
    ] = None,
    as_known_on: Annotated[
        str | None,
        typer.Option(
            "--as-known-on", metavar="DATE", help="As it stood at the end of that day; what came later doesn't count."
        ),
    ] = None,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Price a month; changes nothing. It runs the very code that bill runs."""
    from geobill.cli.answers import change_answer, finding_answer, price_answer
    from geobill.documents.pieces import write_pieces
    from geobill.domain.dates import BillingMonth, parse_date
    from geobill.errors import InputError
    from geobill.pipeline.decrees import price_changes
    from geobill.pipeline.month import OWN, Terms, price_month
    from geobill.pipeline.policy import month_policy_findings
    from geobill.pipeline.suspensions import court_findings

    opened = shared.open_given(workspace)
    if pieces is not None:
        if pieces.resolve() == opened.database.path.resolve():
            raise InputError(f"--pieces {pieces} is the workspace's own store, with its invoices: name another file.")
        if not pieces.absolute().parent.is_dir():
            raise InputError(
                f"--pieces {pieces} can't be written: there is no folder {pieces.parent}. Make it, or name another."
            )
    located = pieces is not None and pieces.suffix.lower() in (".gpkg", ".parquet")
    day = None if as_known_on is None else parse_date(as_known_on, "--as-known-on")
    terms = OWN if day is None else Terms(known_until=shared.end_of_day(day))
    found = price_month(opened, BillingMonth.parse(month), located=located, terms=terms)
    if pieces is not None:
        write_pieces(pieces, found.priced.pieces, opened.settings.municipality.srid)
        shared.say(f"{len(found.priced.pieces)} pieces in {pieces}")
    said = (
        *month_policy_findings(opened.settings, found),
        *court_findings(found.bill),
    )
    data = price_answer(found.bill) | {
        "decrees": [] if day else [change_answer(c) for c in price_changes(opened, found)],
        "findings": [finding_answer(f) for f in said],
    }
    if day is not None:  # decrees are compared with today's figures only
        data["as_known_on"] = day.isoformat()
    shared.answer(
        data, json, lambda: "\n".join([price_summary(data), *decree_summary(data), *shared.finding_lines(data)])
    )


def decree_summary(data: dict[str, Any]) -> list[str]:
    """Say which issued decrees cost something else by now, for a person."""
    return [
        f"  decree {d['decree']} (permit {d['permit']}): recorded R$ {d['recorded']}, now "
        + (f"R$ {d['now']}" if d["now"] else f"held (art. {d['article']})")
        + "".join(f"; {c['what']} {c['from']} to {c['to']}" for c in d["causes"])
        for d in data["decrees"]
    ]


def by_case(line: dict[str, Any]) -> str:
    """Say by which cases a line is charged, and how many times over (arts. 10, 12); blank where by none."""
    cases = line.get("cases") or ()
    times = f" × {line['multiplier']}" if Decimal(line["multiplier"]) != 1 else ""
    return f", case {' and '.join(cases)}{times}" if cases else ""


def price_summary(data: dict[str, Any]) -> str:
    """Say what a priced month came to, for a person."""
    known = f", as known on {data['as_known_on']}" if "as_known_on" in data else ""
    lines = [f"{data['month']}, {data['statute']}, edition {data['edition']}{known}"]
    for o in data["operators"]:
        by_permit = data["policy"]["reducer_scope"] == "permit"
        reducer = o["reducer"] or ("by permit" if by_permit else "held")
        lines.append(
            f"  {o['operator']}: R$ {o['total']} ({len(o['lines'])} lines, {o['network_length_m']} m, R {reducer})"
        )
        charged: dict[str, Decimal] = {}
        for line in o["lines"]:
            charged[by_case(line)] = charged.get(by_case(line), Decimal(0)) + Decimal(line["amount"])
        lines += [f"    of it{said}: R$ {amount}" for said, amount in charged.items() if said]
    for code in sorted({h["code"] for h in data["held"]}):
        mine = [h for h in data["held"] if h["code"] == code]
        lines.append(f"  held {len(mine)} × {code} (art. {mine[0]['article']}): {mine[0]['reason']}")
        lines += [f"    if {h['amount_if']['what']}: R$ {h['amount_if']['amount']}" for h in mine if h["amount_if"]]
    lines += [f"  exempt {e['operator']} (art. {e['article']}): {e['length_m']} m" for e in data["exempt"]]
    lines += [
        f"  suspended {s['operator']} by {s['suspension']} (case {s['court_case']}, {s['court']}): R$ {s['total']}, "
        f"{s['length_m']} m, {s['effect']}"
        for s in data["suspended"]
    ]
    for what, books in data["conservation"].items():
        kept = " + ".join(f"{k} {books[k]}" for k in ("priced", "held", "exempt", "suspended"))
        lines.append(f"  {what}: stored {books['stored']} = {kept}; not due {books['not_due']}")
    return "\n".join(lines)
