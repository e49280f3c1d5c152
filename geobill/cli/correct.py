"""Months that were billed, put right by credit and difference notes."""

from pathlib import Path
from typing import Annotated, Any

import typer

from geobill.cli import app as shared
from geobill.cli.app import JsonOption, WorkspaceOption


def correct(
    month: Annotated[str, typer.Option(metavar="YYYY-MM", help="The month, or the first, that was billed.")],
    reason: Annotated[str, typer.Option(metavar="TEXT", help="Why it is corrected; it is printed on the note.")],
    until: Annotated[str | None, typer.Option(metavar="YYYY-MM", help="The last month (else --month alone).")] = None,
    operator: Annotated[str | None, typer.Option(metavar="ID", help="One operator only.")] = None,
    by: Annotated[
        str | None, typer.Option(metavar="NAME", help="Who has it issued; it is printed on the note.")
    ] = None,
    issued_on: Annotated[
        str | None, typer.Option(metavar="DATE", help="Day of issue (else today); it sets the series' year.")
    ] = None,
    due: Annotated[
        str | None, typer.Option(metavar="DATE", help="Due date of differences (else that of the next invoices).")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show the notes and issue nothing.")] = False,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Where the notes go (else WORKSPACE/documents/notas).")
    ] = None,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Price billed months again as known today; issue a credit or difference note for each operator that differs.

    An issued invoice never changes: the note names it, both figures and the causes. Issues nothing where nothing differs.
    """
    from geobill.billing.check import read_name
    from geobill.cli.answers import finding_answer, held_answer, note_answer
    from geobill.domain.dates import BillingMonth, parse_date
    from geobill.pipeline.corrections import correct_months

    first = BillingMonth.parse(month)
    made = correct_months(
        shared.open_given(workspace),
        first,
        first if until is None else BillingMonth.parse(until),
        operator=None if operator is None else operator.strip(),
        reason=reason,
        by=read_name(by),
        issued_on=parse_date(issued_on, "--issued-on") if issued_on is not None else shared.today(),
        due_on=parse_date(due, "--due") if due is not None else None,
        out=out,
        dry_run=dry_run,
        now=shared.now(),
        say=shared.say,
    )
    data = {
        "months": [str(m) for m in made.months],
        "dry_run": dry_run,
        "notes": [note_answer(n) for n in made.notes],
        "held": [held_answer(h) for h in made.held],
        "findings": [finding_answer(f) for f in made.findings],
        "files": [str(f) for f in made.files],
    }
    shared.answer(data, json, lambda: _summary(data))


def _summary(data: dict[str, Any]) -> str:
    lines = [describe_note(note) for note in data["notes"]]
    if not lines:
        lines = [
            f"nothing to correct in {', '.join(data['months'])}: what was demanded is what the months cost as known today"
        ]
        if data["held"]:
            lines = ["no note"]
    lines += [
        f"  held ({h['code']}): {h['operator']}, {h['reason']}: R$ {h['amount_if']['amount']}" for h in data["held"]
    ]
    lines += [f"  {f['severity']}: {f['message'].rstrip('.')}; {f['fix']}" for f in data["findings"]]
    if data["files"]:
        lines.append(f"  {len(data['files'])} documents in {Path(data['files'][0]).parent}")
    return "\n".join([*lines, *(["nothing was issued (--dry-run)"] if data["dry_run"] else [])])


def describe_note(note: dict[str, Any]) -> str:
    """Say a note for a person: its months with both figures and the causes."""
    due = f", due {note['due_on']}" if note["due_on"] else ""
    lines = [f"{note['kind']} note {note['number']} of {note['operator']}: R$ {note['total']}{due}"]
    for line in note["lines"]:
        invoice = f" (invoice {line['invoice']})" if line["invoice"] else ""
        lines.append(
            f"  {line['month']}{invoice}: demanded R$ {line['before']}, is R$ {line['now']}, difference R$ {line['amount']}"
        )
        lines += [f"    {c['amount']:>12}  {c['cause']}  {', '.join(c['examples'])}".rstrip() for c in line["causes"]]
    return "\n".join(lines)
