"""Past months of a case, billed at once."""

from pathlib import Path
from typing import Any

from geobill.cli import app as shared


def bill_case(
    case: str,
    until: str | None,
    issued_on: str | None,
    due: str | None,
    by: str | None,
    out: Path | None,
    dry_run: bool,
    workspace: Path | None,
    json: bool,
) -> None:
    """Work out a case's past months and issue them as one note; see :func:`geobill.pipeline.retroactive.bill_retroactive`."""
    from geobill.billing.check import read_name
    from geobill.domain.dates import BillingMonth, parse_date
    from geobill.pipeline.retroactive import bill_retroactive

    made = bill_retroactive(
        shared.open_given(workspace),
        case.strip(),
        until=None if until is None else BillingMonth.parse(until),
        issued_on=parse_date(issued_on, "--issued-on") if issued_on is not None else shared.today(),
        due_on=parse_date(due, "--due") if due is not None else None,
        by=read_name(by),
        out=out,
        now=shared.now(),
        dry_run=dry_run,
        say=shared.say,
    )
    data = retroactive_answer(made)
    shared.answer(data, json, lambda: _summary(data))


def retroactive_answer(made: Any) -> dict[str, Any]:
    """Answer of ``bill --retroactive``: the note, and every month with what it costs, what was paid and what is demanded."""
    from geobill.cli.answers import finding_answer, line_answer
    from geobill.domain.money import plain

    states = {
        m.month: state
        for state, months in (
            ("demanded", made.demand.demanded),
            ("held", made.demand.held),
            ("lapsed", made.demand.lapsed),
        )
        for m in months
    }
    return {
        "case": made.file.case.id,
        "operator": made.file.case.operator,
        "issued": made.issued,
        "number": made.note.number if made.issued else None,
        "due_on": made.note.due_on.isoformat() if made.note is not None else None,
        "total": plain(made.demand.total),
        "priced": made.priced,
        "limitation": {"years": made.demand.limitation.years, "decision": made.demand.limitation.decision},
        "months": [
            {
                "month": str(m.month),
                "state": states.get(m.month, "nothing"),
                "edition": m.edition,
                "reducer": m.reducer,
                "now": plain(m.now),
                "before": plain(m.before),
                "amount": plain(m.amount),
                "invoice": m.invoice,
                "held_m": {code: plain(metres) for code, metres in m.held},
                "lines": [line_answer(line) for line in m.lines],
            }
            for m in made.months
        ],
        "files": [str(f) for f in made.files],
        "findings": [finding_answer(f) for f in made.findings],
    }


def _summary(data: dict[str, Any]) -> str:
    by_state = {s: [m for m in data["months"] if m["state"] == s] for s in ("demanded", "held", "lapsed")}
    head = f"case {data['case']}, {data['operator']}: {len(data['months'])} past months"
    lines = [head]
    for state, months in by_state.items():
        if months:
            total = sum((_decimal(m["amount"]) for m in months), _decimal("0.00"))
            lines.append(f"  {state}: {len(months)} months, {months[0]['month']} to {months[-1]['month']}: R$ {total}")
    lines += [f"  {f['severity']}: {f['message'].rstrip('.')}; {f['fix']}" for f in data["findings"]]
    if data["number"]:
        lines.append(f"note {data['number']} issued: R$ {data['total']}, due {data['due_on']}")
    else:
        lines.append("nothing issued" if data["total"] == "0.00" else f"nothing issued: R$ {data['total']} would be")
    return "\n".join([*lines, *(f"  {f}" for f in data["files"])])


def _decimal(text: str) -> Any:
    from decimal import Decimal

    return Decimal(text)
