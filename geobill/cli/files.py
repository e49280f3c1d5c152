"""Commands that read files: inspect and the three imports."""

from collections import Counter
from datetime import date
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Annotated, Any

import typer

from geobill.cli import app as shared
from geobill.cli import complete
from geobill.cli.app import JsonOption, WorkspaceOption
from geobill.errors import InputError

import_app = typer.Typer(no_args_is_help=True, help="Read a file into the workspace, all or nothing.")

FileArgument = Annotated[
    Path, typer.Argument(metavar="FILE", help="Shapefile, GeoPackage, GeoJSON, FlatGeobuf or GeoParquet.")
]
LayerOption = Annotated[str | None, typer.Option(help="Layer, where the file has several.")]
LayersOption = Annotated[
    list[str] | None, typer.Option("--layer", help="Layer, where the file has several; may be repeated.")
]
MapOption = Annotated[
    list[str] | None, typer.Option("--map", metavar="KEY=COLUMN", help="Which column holds what; may be repeated.")
]
CrsOption = Annotated[
    str | None, typer.Option(metavar="EPSG:n", help="Coordinate system of the file, where it has none.")
]
DryRunOption = Annotated[bool, typer.Option("--dry-run", help="Print the report and write nothing.")]
ReplaceOption = Annotated[bool, typer.Option("--replace", help="Put this import in the place of an earlier one.")]
OperatorOption = Annotated[
    str | None, typer.Option(help="Operator that all rows belong to.", autocompletion=complete.operators)
]

PermitOption = Annotated[
    str | None, typer.Option(metavar="N", help="Permit of all rows, where the file has no column for it.")
]
StatusOption = Annotated[
    str | None, typer.Option(metavar="S", help="Status of all rows, where the file has no column: planned, permitted …")
]


def inspect(file: FileArgument, workspace: WorkspaceOption = None, json: JsonOption = False) -> None:
    """Read a file and report what is in it; changes nothing and needs no workspace (one that is named says where to look)."""
    from geobill.intake.inspect import inspect_file
    from geobill.store.settings import FILE_NAME, read_settings

    root = shared.named_workspace(workspace)
    data = inspect_file(file, read_settings(root / FILE_NAME).municipality) if root else inspect_file(file)
    shared.answer(data, json, lambda: _describe(data))


@import_app.command("land-values")
def import_land_values(
    file: FileArgument,
    edition: Annotated[str, typer.Option(help="Name of the edition of the Mapa de Valores.")],
    in_force_from: Annotated[str, typer.Option(help="First day in force, YYYY-MM-DD.")],
    layer: LayerOption = None,
    map_: MapOption = None,
    crs: CrsOption = None,
    dry_run: DryRunOption = False,
    replace: ReplaceOption = False,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Import an edition of the Mapa de Valores (keys: zone, land_value)."""
    from geobill.domain.dates import parse_date
    from geobill.pipeline.value_maps import import_land_values as run

    opened = shared.open_given(workspace)
    since: date = parse_date(in_force_from, "--in-force-from")
    if not edition.strip():
        raise InputError("--edition is blank: give the edition a name, for example 2026.")
    options = _options(opened, None, crs, None, map_)
    report = run(
        opened, file, layer, options, edition.strip(), since, replace=replace, dry_run=dry_run, now=shared.now()
    )
    _answer(report, json)


@import_app.command("network")
def import_network(
    file: FileArgument,
    operator: OperatorOption = None,
    layer: LayersOption = None,
    map_: MapOption = None,
    crs: CrsOption = None,
    unit: Annotated[str, typer.Option(metavar="m|mm|ft", help="What one unit of the drawing's coordinates is.")] = "m",
    profile: Annotated[str | None, typer.Option(help="A saved mapping of columns (not built yet).")] = None,
    permit: PermitOption = None,
    status: StatusOption = None,
    default_width: Annotated[
        str | None, typer.Option(metavar="M", help="Strip width in metres where the file gives none.")
    ] = None,
    dry_run: DryRunOption = False,
    replace: ReplaceOption = False,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Import a network (keys: segment, width, operator, installed_on, removed_on, status, service, level, permit, declared_length)."""
    from geobill.pipeline.imports import import_network as run

    opened = shared.open_given(workspace)
    if profile is not None:
        raise InputError(
            f"--profile {profile}: profiles aren't built yet. Say which column holds what with --map KEY=COLUMN."
        )
    options = _options(opened, operator, crs, default_width, map_, unit, permit, status)
    _answer(run(opened, file, layer or (), options, replace=replace, dry_run=dry_run, now=shared.now()), json)


@import_app.command("cabinets")
def import_cabinets(
    file: FileArgument,
    operator: OperatorOption = None,
    layer: LayersOption = None,
    map_: MapOption = None,
    crs: CrsOption = None,
    permit: PermitOption = None,
    status: StatusOption = None,
    dry_run: DryRunOption = False,
    replace: ReplaceOption = False,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Import cabinets (keys: equipment, volume or length, breadth and height, operator, dates, status, permit, service)."""
    from geobill.pipeline.imports import import_cabinets as run

    opened = shared.open_given(workspace)
    options = _options(opened, operator, crs, None, map_, permit=permit, status=status)
    _answer(run(opened, file, layer or (), options, replace=replace, dry_run=dry_run, now=shared.now()), json)


def _options(
    opened: Any,
    operator: str | None,
    crs: str | None,
    default_width: str | None,
    pairs: list[str] | None,
    unit: str = "m",
    permit: str | None = None,
    status: str | None = None,
) -> Any:
    from geobill.intake.reading import Options

    policy = opened.settings.policy
    for option, text in (("--crs", crs), ("--operator", operator), ("--permit", permit), ("--status", status)):
        if text is not None and not text.strip():
            raise InputError(f"{option} is blank: give it a value, or leave it out.")
    return Options(
        operator=operator,
        crs=crs,
        default_width_m=None if default_width is None else _width(default_width),
        mapping=shared.read_mapping(pairs),
        unit=unit,
        constants={k: v.strip() for k, v in (("permit", permit), ("status", status)) if v is not None},
        duplicate_stretch=policy.duplicate_stretch,
        length_precision_m=policy.length_precision_m,
    )


def _width(text: str) -> Decimal:

    try:
        width = Decimal(text.strip().replace(",", "."))
    except InvalidOperation:
        width = Decimal("NaN")
    if not width.is_finite() or width <= 0:
        raise InputError(f"--default-width {text!r} is no width: give metres as a number above 0, for example 0.50.")
    return width


def _answer(report: Any, as_json: bool) -> None:
    from geobill.cli.answers import import_answer

    data = import_answer(report)
    shared.answer(data, as_json, lambda: _summary(data))


def _summary(data: dict[str, Any]) -> str:
    head = f"batch {data['batch']}" if data["batch"] else "dry run, nothing written"
    lines = [f"{head}: {data['read']} rows read = {data['accepted']} accepted + {len(data['set_aside'])} set aside"]
    if Decimal(data["length_m"]):
        lines.append(f"  {data['length_m']} m accepted, from {data['crs']['from']} to {data['crs']['to']}")
    for code, count in Counter(s["reason_code"] for s in data["set_aside"]).items():
        first = next(s for s in data["set_aside"] if s["reason_code"] == code)
        lines.append(f"  set aside {count} × {code}, e.g. row {first['row']}: {first['reason']}")
    lines += [f"  {f['severity']}: {f['message']}" + (f" ({f['fix']})" if f["fix"] else "") for f in data["findings"]]
    for key, value in data.get("coverage", {}).items():
        shown = ", ".join(f"{k} {v}" for k, v in value.items()) if isinstance(value, dict) else value
        lines.append(f"  coverage {key.replace('_', ' ')}: {shown}")
    return "\n".join(lines)


def _describe(data: dict[str, Any]) -> str:
    lines = [f"{data['file']}  sha256 {data['sha256']}"]
    for layer in data["layers"]:
        kinds = ", ".join(f"{n} {kind}" for kind, n in layer["geometry_types"].items())
        lines.append(
            f"layer {layer['name']}: {layer['features']} rows ({kinds}), {layer['crs'] or 'no coordinate system'}, {layer['encoding']}"
        )
        if layer["crs_guesses"]:
            lines.append(f"  inside the municipality as {', '.join(layer['crs_guesses'])}")
        if layer["length_m"] is not None:
            lines.append(f"  {layer['length_m']} m")
        lines += [f"  {f['name']} ({f['type']}, {f['nulls']} nulls) e.g. {f['example']}" for f in layer["fields"]]
    lines += [f"{f['severity']} {f['code']}: {f['message']} {f['fix']}" for f in data["findings"]]
    return "\n".join(lines)
