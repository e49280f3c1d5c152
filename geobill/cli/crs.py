"""Commands on where files lie: grids for datum shifts, the municipality's boundary."""

from pathlib import Path
from typing import Annotated, Any

import typer

from geobill.cli import app as shared
from geobill.cli.app import JsonOption, WorkspaceOption

crs_app = typer.Typer(no_args_is_help=True, help="Where files lie: IBGE's grids, the municipality's boundary.")


@crs_app.command("grids")
def crs_grids(
    folder: Annotated[
        Path | None,
        typer.Argument(metavar="FOLDER", help="Folder with grids to put into the workspace; none lists them."),
    ] = None,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """List the grids that files in older datums would use here, or put those of a folder into the workspace."""
    from geobill.domain.record import to_plain
    from geobill.pipeline.place import add_grids, list_grids

    opened = shared.open_given(workspace)
    taken, left = ([], []) if folder is None else add_grids(opened, folder)
    data = {
        "grids": [to_plain(grid) for grid in list_grids(opened)],
        "taken": [to_plain(one) for one in taken],
        "left": left,
    }
    shared.answer(data, json, lambda: _grids(data))


def _grids(data: dict[str, Any]) -> str:
    lines = [f"put in: {t['file']} for {t['datum']}, from {t['source']}, sha256 {t['sha256']}" for t in data["taken"]]
    if data["left"]:
        lines.append(f"left, PROJ doesn't ask for them here: {', '.join(data['left'])}")
    for grid in data["grids"]:
        also = f" (IBGE: {grid['also']})" if grid["also"] else ""
        without = grid["accuracy_without_m"]
        plain = "such files are refused" if without is None else f"true to {without:g} m"
        there = f"there: {grid['path']}" if grid["path"] else "missing"
        lines.append(
            f"{grid['datum']} ({grid['crs']}): {grid['file']}{also}, {there}; true to {grid['accuracy_m']:g} m, without it {plain}"
        )
    return "\n".join(lines)


@crs_app.command("boundary")
def crs_boundary(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="The municipality's polygons, in any format that is read.")
    ],
    layer: Annotated[str | None, typer.Option(help="Layer, where the file has several.")] = None,
    crs: Annotated[
        str | None, typer.Option(metavar="EPSG:n", help="Coordinate system, where the file has none.")
    ] = None,
    where: Annotated[
        str | None, typer.Option(metavar="COLUMN=VALUE", help="Only the rows that say so, of a file of several places.")
    ] = None,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Take a file as the municipality's boundary: what lies wholly outside it and its margin is set aside."""
    from geobill.cli.answers import finding_answer
    from geobill.pipeline.place import set_boundary_from

    opened = shared.open_given(workspace)
    made = set_boundary_from(opened, file, layer, crs, where)
    data = {
        "boundary": made.file,
        "source": made.source,
        "sha256": made.sha256,
        "area_km2": f"{made.area_km2:.3f}",
        "margin_m": f"{opened.settings.municipality.margin_m:g}",
        "findings": [finding_answer(f) for f in made.findings],
    }
    shared.answer(data, json, lambda: _boundary(data))


def _boundary(data: dict[str, Any]) -> str:
    head = (
        f"Boundary {data['boundary']} from {data['source']} ({data['area_km2']} km²), named in geobill.toml; what lies wholly "
        f"outside it and {data['margin_m']} m around it is set aside from now on."
    )
    return "\n".join([head, *shared.finding_lines(data)])
