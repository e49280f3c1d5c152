"""Why an amount is what it is, and whether what was issued can be computed again."""

from pathlib import Path
from typing import Annotated, Any

import typer

from geobill.cli import app as shared
from geobill.cli.app import JsonOption, WorkspaceOption


def explain(
    number: Annotated[str, typer.Argument(metavar="NUMBER", help="Number of an invoice or a note.")],
    line: Annotated[
        int | None, typer.Option("--line", metavar="N", help="A line of the invoice, or a month of the note, from 1.")
    ] = None,
    pdf: Annotated[
        Path | None, typer.Option("--pdf", metavar="FILE", help="Write it as a page for the file (.pdf) as well.")
    ] = None,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Explain an amount: its factors, articles, policy and decisions, its pieces and the rows of the files they came from.

    Answered from the archive of what was issued, not from today's cadastre.
    """
    from geobill.domain.record import to_plain
    from geobill.pipeline.explain import explain as explain_number
    from geobill.pipeline.explain import write_explanation

    opened = shared.open_given(workspace)
    explained = explain_number(opened, number, line)
    if pdf is not None:
        write_explanation(opened, explained, pdf)
    data: dict[str, Any] = {**to_plain(explained.record), "file": None if pdf is None else str(pdf)}
    shared.answer(data, json, lambda: _explained(data))


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


def _explained(data: dict[str, Any]) -> str:
    head = f"{data['kind']} {data['number']} of {data['operator']['name']}, {data['statute_title']}: R$ {data['total']}"
    lines = [head]
    lines += _detail(data["detail"]) if data["detail"] else _whole(data)
    edition = data["edition"]
    if edition is not None:
        rows = f", row(s) {', '.join(map(str, edition['rows']))}" if edition["rows"] else ""
        where = f": {_origin(edition['origin'], rows)}" if edition["origin"] else ": its file isn't in the store"
        lines.append(f"  map edition {edition['name']} from {edition['in_force_from']}{where}")
    for d in data["decisions"]:
        lines.append(
            f"  decision {d['id']}: {d['number']} of {d['date']}, {d['signatory']}: {d['question']} = {d['answer']}"
        )
    lines.append(f"  record SHA-256 {data['digest']}")
    if data["file"]:
        lines.append(f"written: {data['file']}")
    return "\n".join(lines)


def _detail(detail: dict[str, Any]) -> list[str]:
    line = detail["line"]
    lines = [f"line {detail['number']}: R$ {line['amount']}"]
    for f in detail["factors"]:
        asked = f"  art. {', '.join(f['articles'])}" if f["articles"] else ""
        lines.append(f"  {'÷' if f['name'] == 'month_days' else '×'} {f['name']:20s} {f['value']:>18s}{asked}")
    lines.append(f"  = {detail['exact']}, rounded once: R$ {line['amount']}")
    for a in detail["articles"]:
        lines.append(f"  art. {a['article']}: {' '.join(a['text'].split()) or '(text not at hand)'}")
    for use in detail["policy"]:
        rests = f" (decision {use['decision']})" if use["decision"] else ""
        lines.append(f"  policy {use['key']} = {use['value']}{rests}")
    lines.append(f"  {len(detail['pieces'])} piece(s):")
    for p in detail["pieces"]:
        quantity = (
            f"{p['length_m']} m" if p["length_m"] is not None else f"{p['volume_m3']} m³" if p["volume_m3"] else "1"
        )
        where = _origin(p["origin"], f", row {p['origin']['row']}") if p["origin"] else f"not traced: {p['untraced']}"
        lines.append(f"    {p['name']}  {p['zone'] or '–'}  {quantity}  R$ {p['share']}  {where}")
    return lines


def _origin(origin: dict[str, Any], rows: str) -> str:
    more = "; replaced since" if origin["replaced"] else ""
    more += f"; the cadastre's {', '.join(origin['differs'])} isn't what was computed from" if origin["differs"] else ""
    row = f"{rows} of {origin['amended_file']} ({origin['amends']}) as it was corrected" if origin["amends"] else rows
    imported = f"batch {origin['batch']} of {origin['imported_at'][:10]}"
    return f"{origin['file']}{row} ({imported}, SHA-256 {origin['sha256'][:12]}…{more})"


def _whole(data: dict[str, Any]) -> list[str]:
    lines = []
    for m in data["months"]:
        how = f"{m['rate']} × {m['base']} × {m['days']} days" if m["rate"] else f"{m['now']} less {m['before']}"
        lines.append(f"  {m['month']}: {how} = R$ {m['amount']}  art. {', '.join(m['articles'])}")
    for number, line in enumerate(data["lines"], 1):
        quantity = f"{line['length_m']} m" if line["length_m"] else f"{line['volume_m3']} m³"
        what = f"{line['kind']} {line['zone'] or '–'} {quantity}"
        lines.append(f"  line {number}: {what} = R$ {line['amount']}  art. {', '.join(line['articles'])}")
    for s in data["suspended"]:
        lines.append(f"  suspended by {s['court_case']} ({s['court']}), not in the total: R$ {s['total']}")
    for s in data["set_offs"]:
        lines.append(f"  set off with credit {s['credit']} ({s['law']}): R$ {s['amount']}")
    return lines


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
