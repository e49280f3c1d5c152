"""The command that brings decisions back that were typed into the layer ``cases`` in QGIS."""

from pathlib import Path
from typing import Annotated, Any

import typer

from geobill.cli import app as shared
from geobill.cli.app import JsonOption, WorkspaceOption


def case_sync(
    file: Annotated[
        Path, typer.Argument(metavar="FILE.gpkg", help="GeoPackage of `geobill qgis` or `geobill detect --out`.")
    ],
    by: Annotated[str, typer.Option(metavar="WHO", help="Who brings it, and decides where a row names nobody.")],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be done; keep nothing.")] = False,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Take decisions, operators and notes that were typed into the layer `cases` in QGIS, as the page would."""
    from geobill.pipeline.case_sync import sync_cases

    synced = sync_cases(shared.open_given(workspace), file, by=by, now=shared.now(), dry_run=dry_run)
    data = {
        "file": synced.file,
        "sha256": synced.sha256,
        "dry_run": dry_run,
        "read": synced.read,
        "typed": synced.typed,
        "done": [
            {
                "finding": t.finding,
                "row": t.row,
                "by": t.by,
                "acts": list(t.acts),
                "state": t.state,
                "version": t.version,
                "operator": t.operator,
            }
            for t in synced.done
        ],
        "already": list(synced.already),
        "conflicts": [
            {"finding": c.subject, "row": row, "what": c.what, "by": c.by, "at": c.at, "message": str(c)}
            for row, c in synced.conflicts
        ],
    }
    shared.answer(data, json, lambda: _said(data))


def _said(data: dict[str, Any]) -> str:
    would = "would be done, nothing kept" if data["dry_run"] else "done"
    lines = [
        f"{data['file']}: {data['read']} rows, {data['typed']} typed: {len(data['done'])} {would}, {len(data['already'])} on record "
        f"already, {len(data['conflicts'])} changed by somebody else meanwhile"
    ]
    lines += [f"  {t['finding']}: {', '.join(t['acts'])} by {t['by']} → {t['state']}" for t in data["done"]]
    lines += [f"  left: row {c['row']}: {c['message']}" for c in data["conflicts"]]
    return "\n".join(lines)
