"""The calendar of what the law sets."""

from pathlib import Path
from typing import Annotated, Any

import typer

from geobill.cli import app as shared
from geobill.cli.app import JsonOption, WorkspaceOption
from geobill.cli.case_steps import term_line
from geobill.errors import InputError


def deadlines(
    since: Annotated[str | None, typer.Option("--from", metavar="DATE", help="First day (else today).")] = None,
    until: Annotated[
        str | None, typer.Option("--until", metavar="DATE", help="Last day (else twelve months after the first).")
    ] = None,
    ics: Annotated[
        Path | None, typer.Option("--ics", metavar="FILE", help="Write them as an iCalendar file (.ics) as well.")
    ] = None,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Show the days that the law sets: plans, due days, terms of cases, courts' orders, the law's own check.

    Terms of cases that end within five days, or have run out unanswered, are warned of whatever the span.
    """
    from geobill.domain.dates import months_after, parse_date
    from geobill.domain.record import to_plain
    from geobill.pipeline.cases import list_terms
    from geobill.pipeline.deadlines import find_deadlines, write_ical

    opened = shared.open_given(workspace)
    first = parse_date(since, "--from") if since is not None else shared.today()
    if not 1900 <= first.year <= 9000:
        raise InputError(f"--from {first.isoformat()} is no day that a calendar of deadlines is made for.")
    last = parse_date(until, "--until") if until is not None else months_after(first, 12)
    calendar = find_deadlines(opened, first, last)
    if ics is not None:
        write_ical(calendar, ics, opened.settings.municipality.name, shared.now())
    data = {
        "from": first.isoformat(),
        "until": last.isoformat(),
        "law_checked_until": to_plain(calendar.checked_until),
        "deadlines": [to_plain(d) for d in calendar.deadlines],
        "terms": [{**to_plain(t), "warning": t.warning} for t in list_terms(opened, shared.today()) if t.warning],
        "file": None if ics is None else str(ics),
    }
    shared.answer(data, json, lambda: _lines(data))


def _lines(data: dict[str, Any]) -> str:
    checked = data["law_checked_until"]
    head = f"{len(data['deadlines'])} deadline(s) from {data['from']} until {data['until']}"
    if checked and checked < data["until"]:
        head += f"; the law was checked up to {checked}, later days are by its figures as they stand"
    lines = [head]
    for d in data["deadlines"]:
        article = f"art. {d['article']}" if d["article"] else "–"
        lines.append(f"  {d['on']}  {article:22s} {d['summary']}")
    lines += [f"  {t['case']}: {term_line(t).strip()}" for t in data["terms"]]
    if data["file"]:
        lines.append(f"written: {data['file']}")
    return "\n".join(lines)
