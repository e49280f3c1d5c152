"""Why an amount is what it is, and whether what was issued can be computed again."""

from typing import Annotated, Any

import typer

from geobill.cli import app as shared
from geobill.cli.app import JsonOption, WorkspaceOption


def verify(
    context: typer.Context,
    number: Annotated[
        str | None, typer.Argument(metavar="[NUMBER]", help="Number of an invoice, a note, a decree or an apostila.")
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Check everything that was issued.")] = False,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Compute what was issued again from its archive, to the byte, and print its papers again; says what differs.

    Exit code 1 where anything differs. Nothing is changed.
    """
    from geobill.pipeline.verify import verify as check

    if (number is None) != every:
        context.fail("Give a NUMBER, or --all.")
    found = check(shared.open_given(workspace), number, shared.say)
    data: dict[str, Any] = {
        "verified": len(found),
        "sound": all(v.sound for v in found),
        "records": [
            {"number": v.number, "kind": v.kind, "what": v.what, "checked": list(v.checked), "notes": list(v.notes)}
            for v in found
        ],
        "findings": [{"number": v.number, "code": d.code, "message": d.message} for v in found for d in v.differences],
    }
    shared.answer(data, json, lambda: _verified(data))
    if data["findings"]:
        raise typer.Exit(1)


def _verified(data: dict[str, Any]) -> str:
    lines = []
    for record in data["records"]:
        found = [f for f in data["findings"] if f["number"] == record["number"]]
        state = "DIFFERS" if found else "sound"
        lines.append(
            f"{state:8s} {record['kind']} {record['number']}, {record['what']}: {'; '.join(record['checked']) or '–'}"
        )
        lines += [f"           {f['code']}: {f['message']}" for f in found]
        lines += [f"           note: {note}" for note in record["notes"]]
    wrong = len({f["number"] for f in data["findings"]})
    lines.append(f"{data['verified']} checked, {wrong} with differences; nothing was changed.")
    return "\n".join(lines)
