"""Commands about imports: which there are, what became of their rows, the quarantine, and taking one back."""

from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any

import typer

from geobill.cli import app as shared
from geobill.cli import complete, files
from geobill.cli.app import JsonOption, WorkspaceOption

batch_app = typer.Typer(no_args_is_help=True, help="Imports: list, show, take back; rows that wait for a correction.")

BatchArgument = Annotated[
    str,
    typer.Argument(metavar="BATCH", help="Id of the batch, as the import said it.", autocompletion=complete.batches),
]


@batch_app.command("list")
def batch_list(workspace: WorkspaceOption = None, json: JsonOption = False) -> None:
    """List every import in the order in which they came, with where it stands."""
    from geobill.pipeline.batches import list_batches

    found = list_batches(shared.open_given(workspace))
    data = {"batches": [_listed(one.batch, one.still_open) for one in found]}
    shared.answer(data, json, lambda: "\n".join(map(_line, data["batches"])) or "No imports.")


@batch_app.command("show")
def batch_show(batch: BatchArgument, workspace: WorkspaceOption = None, json: JsonOption = False) -> None:
    """Show one import: how it was read, what it said, what waits for a correction, what rests on its rows."""
    from geobill.cli.answers import import_answer
    from geobill.pipeline.batches import show_batch

    shown = show_batch(shared.open_given(workspace), batch)
    report = import_answer(shown.report)
    kept = ("bounds", "crs", "findings", "layers", "set_aside")
    data = {
        **_listed(shown.batch, shown.still_open),
        "sha256": shown.batch.sha256,
        "format": shown.batch.format,
        "encoding": shown.batch.encoding,
        "options": _options(shown.batch.options),
        **{name: report[name] for name in kept},
        "open_by_reason": shown.open_by_reason,
        "amendments": [_listed(one, None) for one in shown.amendments],
        "acts": [{"kind": a.kind, "at": a.at, "other": a.other, "by": a.by, "note": a.note} for a in shown.batch.acts],
        "billed": {name: list(numbers) for name, numbers in vars(shown.rests).items()},
    }
    shared.answer(data, json, lambda: _described(data))


@batch_app.command("undo")
def batch_undo(
    batch: BatchArgument,
    by: Annotated[str, typer.Option(metavar="NAME", help="Who takes it back.")],
    reason: Annotated[str, typer.Option(metavar="TEXT", help="Why; it is kept.")],
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Take an import back, with its amendments, while nothing issued or decided rests on it; what it replaced comes back."""
    from geobill.billing.check import read_name
    from geobill.pipeline.batches import undo_batch

    opened = shared.open_given(workspace)
    done = undo_batch(opened, batch, by=read_name(by), reason=reason, now=shared.now())
    data: dict[str, Any] = {
        "undone": list(done.undone),
        "restored": list(done.restored),
        "rows": done.rows,
        "length_m": done.length_m,
        "amends": done.amends,
        "waits_again": done.waits_again,
        "still_open": done.still_open,
        "findings": [
            {"code": f.code, "severity": f.severity, "message": f.message, "fix": f.fix} for f in done.findings
        ],
    }
    shared.answer(data, json, lambda: "\n".join(_undone(data)))


@batch_app.command("quarantine")
def batch_quarantine(
    batch: BatchArgument,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Folder (else the workspace's quarantine folder).")
    ] = None,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Write the rows that wait for a correction anew, as they stand now: a GeoPackage and a workbook to be answered."""
    from geobill.pipeline.quarantine import write_quarantine_again

    paths = write_quarantine_again(shared.open_given(workspace), batch, out, shared.now())
    shared.answer({"batch": batch, "quarantine": list(paths)}, json, lambda: "\n".join(paths))


def _listed(one: Any, still_open: int | None) -> dict[str, Any]:
    ended = one.ended
    return {
        "batch": one.id,
        "imported_at": one.imported_at,
        "kind": one.kind,
        "file": one.file,
        "layer": one.layer,
        "operator": one.operator,
        "read": one.read,
        "accepted": one.accepted,
        "still_open": still_open,
        "length_m": one.length_m,
        "state": one.state,
        "replaced_by": ended.other if ended is not None and ended.kind == "replaced" else None,
        "amends": one.amends,
    }


def _options(text: str | None) -> list[dict[str, Any]] | None:
    from json import loads

    return None if text is None else loads(text)


def _line(data: dict[str, Any]) -> str:
    state = data["state"].replace("_", " ") + (f" by {data['replaced_by']}" if data["replaced_by"] else "")
    whose = data["operator"] or ("the Mapa de Valores" if data["kind"] == "land_values" else "operators by column")
    amends = f", amends {data['amends']}" if data["amends"] else ""
    waits = f", {data['still_open']} waiting" if data["still_open"] else ""
    return (
        f"{data['batch']}  {data['imported_at'][:10]}  {data['kind']}  {data['file']} ({data['layer']}), {whose}: "
        f"{data['read']} read, {data['accepted']} accepted{waits}, {data['length_m']} m; {state}{amends}"
    )


def _described(data: dict[str, Any]) -> str:
    crs = data["crs"]
    lines = [
        _line(data),
        f"  {data['format'] or 'format not kept'}, {data['encoding'] or '–'}, SHA-256 {data['sha256']}",
    ]
    true = f", true to {crs['accuracy_m']:g} m" if crs["accuracy_m"] is not None else ""
    how = f" by {crs['operation']}{true}" if crs["operation"] else ""
    lines.append(f"  from {crs['from']} to {crs['to']}{how}")
    for one in data["options"] or ():
        said = one["options"]
        pairs = [f"{key}={column}" for key, column in said.get("mapping", {}).items()]
        pairs += [f"{name}: {value}" for name, value in said.items() if name != "mapping"]
        lines.append(f"  layer {one['layer']}: {', '.join(pairs) or 'nothing mapped'}")
    lines += [f"  waiting {count} × {code}" for code, count in data["open_by_reason"].items()]
    lines += files.finding_lines(data)
    lines += [f"  amended: {_line(one)}" for one in data["amendments"]]
    for act in data["acts"]:
        other = f" by {act['other']}" if act["other"] else ""
        who = f", {act['by']}: {act['note']}" if act["by"] else ""
        lines.append(f"  {act['at'][:10]} {act['kind']}{other}{who}")
    lines += [f"  {name} on its rows: {', '.join(numbers)}" for name, numbers in data["billed"].items() if numbers]
    return "\n".join(lines)


def _undone(data: dict[str, Any]) -> list[str]:
    metres = f", {data['length_m']} m" if Decimal(data["length_m"]) else ""
    lines = [f"undone: {', '.join(data['undone'])}; no longer in force: {data['rows']} row(s){metres}"]
    if data["waits_again"]:
        lines.append(f"{data['waits_again']} row(s) of {data['amends']} wait again, {data['still_open']} in all")
        lines.append(f"to write them anew: geobill batch quarantine {data['amends']}")
    if data["restored"]:
        lines.append(f"in force again: {', '.join(data['restored'])}")
    return [*lines, *files.finding_lines(data)]
