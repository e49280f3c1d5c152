"""The command that writes a QGIS project of the workspace."""

from pathlib import Path
from typing import Annotated

import typer

from geobill.cli import app as shared
from geobill.cli.app import JsonOption, WorkspaceOption


def qgis(
    out: Annotated[
        Path | None, typer.Argument(metavar="OUT.qgz", help="Project to write (else geobill.qgz in the workspace).")
    ] = None,
    month: Annotated[
        str | None, typer.Option(metavar="YYYY-MM", help="Also show this month's pieces, as they are priced.")
    ] = None,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Write a QGIS project: all layers styled, filters, map themes, a print layout; decisions are typed into a copy."""
    from geobill.domain.dates import BillingMonth
    from geobill.pipeline.qgis_project import write_project

    opened = shared.open_given(workspace)
    priced = None if month is None else BillingMonth.parse(month)
    path = opened.root / "geobill.qgz" if out is None else out
    written = write_project(opened, path, on=shared.today(), now=shared.now(), month=priced)
    data = {
        "project": str(written.project),
        "files": [str(p) for p in written.data],
        "layers": written.layers,
        "findings": written.findings,
    }
    review = written.data[0].name
    shared.answer(
        data,
        json,
        lambda: (
            f"{written.project}: {written.layers} layers, {written.findings} findings; open it in QGIS (3.22 or newer).\n"
            f"Decisions typed there into {review} come back with: geobill case sync {written.data[0]} --by NAME"
        ),
    )
