"""Commands that bring files in: the three imports."""

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
    Path,
    typer.Argument(metavar="FILE", help="Any file that `geobill formats` lists, a .zip of them, or a .gdb folder."),
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
EncodingOption = Annotated[
    str | None,
    typer.Option(
        metavar="NAME", help="Encoding of the text (utf-8, cp1252, cp850 …), where inspect shows that it is another."
    ),
]
DryRunOption = Annotated[bool, typer.Option("--dry-run", help="Print the report and write nothing.")]
ReplaceOption = Annotated[bool, typer.Option("--replace", help="Put this import in the place of an earlier one.")]
OperatorOption = Annotated[
    str | None, typer.Option(help="Operator that all rows belong to.", autocompletion=complete.operators)
]
ProfileOption = Annotated[
    str | None, typer.Option(help="How such files are read: layers, columns, constants (geobill profile list).")
]
AmendOption = Annotated[
    str | None,
    typer.Option(metavar="BATCH", help="The rows are corrected ones that this batch had set aside; they join it."),
]
PermitOption = Annotated[
    str | None, typer.Option(metavar="N", help="Permit of all rows, where the file has no column for it.")
]
StatusOption = Annotated[
    str | None, typer.Option(metavar="S", help="Status of all rows, where the file has no column: planned, permitted …")
]


@import_app.command("land-values")
def import_land_values(
    file: FileArgument,
    edition: Annotated[str, typer.Option(help="Name of the edition of the Mapa de Valores.")],
    in_force_from: Annotated[str, typer.Option(help="First day in force, YYYY-MM-DD.")],
    layer: LayerOption = None,
    map_: MapOption = None,
    values: Annotated[
        Path | None,
        typer.Option(metavar="TABLE", help="A table of values by zone (and year), where the map has only zones."),
    ] = None,
    values_layer: Annotated[str | None, typer.Option(help="Sheet or layer of the table, where it has several.")] = None,
    values_year: Annotated[
        int | None, typer.Option(metavar="YYYY", help="Year of the table that is taken; else that of --in-force-from.")
    ] = None,
    crs: CrsOption = None,
    encoding: EncodingOption = None,
    dry_run: DryRunOption = False,
    replace: ReplaceOption = False,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Import an edition of the Mapa de Valores (keys: zone, land_value or its _left and _right; of a table: values_zone, year)."""
    from geobill.domain.dates import parse_date
    from geobill.intake.value_tables import KEYS as TABLE_KEYS
    from geobill.pipeline.value_maps import ValuesFile
    from geobill.pipeline.value_maps import import_land_values as run

    opened = shared.open_given(workspace)
    since: date = parse_date(in_force_from, "--in-force-from")
    if not edition.strip():
        raise InputError("--edition is blank: give the edition a name, for example 2026.")
    pairs = shared.read_mapping(map_)
    table = None
    if values is not None:
        table = ValuesFile(values, values_layer, {k: pairs.pop(k) for k in TABLE_KEYS if k in pairs}, values_year)
    elif values_layer is not None or values_year is not None:
        raise InputError("--values-layer and --values-year are about a table of values: name it with --values TABLE.")
    options = _options(opened, None, crs, None, [f"{k}={v}" for k, v in pairs.items()], encoding=encoding)
    report = run(
        opened,
        file,
        layer,
        options,
        edition.strip(),
        since,
        values=table,
        replace=replace,
        dry_run=dry_run,
        now=shared.now(),
    )
    _answer(report, json)


@import_app.command("network")
def import_network(
    file: FileArgument,
    operator: OperatorOption = None,
    layer: LayersOption = None,
    map_: MapOption = None,
    crs: CrsOption = None,
    encoding: EncodingOption = None,
    unit: Annotated[
        str, typer.Option(metavar="m|mm|cm|km|ft|in", help="What one unit of the drawing's coordinates is.")
    ] = "m",
    profile: ProfileOption = None,
    permit: PermitOption = None,
    status: StatusOption = None,
    default_width: Annotated[
        str | None, typer.Option(metavar="M", help="Strip width in metres where the file gives none.")
    ] = None,
    amend: AmendOption = None,
    dry_run: DryRunOption = False,
    replace: ReplaceOption = False,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Import a network (keys: segment, width, operator, installed_on, removed_on, status, service, level, permit, declared_length)."""
    opened = shared.open_given(workspace)
    options = _options(opened, operator, crs, default_width, map_, unit, permit, status, encoding)
    _answer(_read_in(opened, "network", file, layer, amend, options, profile, replace, dry_run), json)


@import_app.command("cabinets")
def import_cabinets(
    file: FileArgument,
    operator: OperatorOption = None,
    layer: LayersOption = None,
    map_: MapOption = None,
    crs: CrsOption = None,
    encoding: EncodingOption = None,
    profile: ProfileOption = None,
    permit: PermitOption = None,
    status: StatusOption = None,
    amend: AmendOption = None,
    dry_run: DryRunOption = False,
    replace: ReplaceOption = False,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Import cabinets (keys: equipment, volume or length, breadth and height, operator, dates, status, permit, service)."""
    opened = shared.open_given(workspace)
    options = _options(opened, operator, crs, None, map_, permit=permit, status=status, encoding=encoding)
    _answer(_read_in(opened, "cabinets", file, layer, amend, options, profile, replace, dry_run), json)


def _read_in(
    opened: Any,
    kind: str,
    file: Path,
    layers: list[str] | None,
    amended: str | None,
    options: Any,
    profile: str | None,
    replace: bool,
    dry_run: bool,
) -> Any:
    """Import a file as a batch of its own, or as the corrected rows of one."""
    if amended is None:
        from geobill.pipeline.imports import import_rows

        return import_rows(
            opened,
            kind,
            file,
            layers or (),
            options,
            profile=profile,
            replace=replace,
            dry_run=dry_run,
            now=shared.now(),
        )
    from geobill.pipeline.amend import amend_batch

    if replace or profile is not None:
        other = "--replace" if replace else "--profile"
        raise InputError(
            f"--amend and {other} exclude each other: an amendment joins its batch and is read as that was."
        )
    return amend_batch(opened, kind, file, layers or (), amended, options, dry_run=dry_run, now=shared.now())


def _options(
    opened: Any,
    operator: str | None,
    crs: str | None,
    default_width: str | None,
    pairs: list[str] | None,
    unit: str = "m",
    permit: str | None = None,
    status: str | None = None,
    encoding: str | None = None,
) -> Any:
    from geobill.intake.reading import Options

    policy = opened.settings.policy
    for option, text in (("--crs", crs), ("--operator", operator), ("--permit", permit), ("--status", status)):
        if text is not None and not text.strip():
            raise InputError(f"{option} is blank: give it a value, or leave it out.")
    return Options(
        operator=operator,
        crs=crs,
        default_width_m=None if default_width is None else read_width(default_width),
        mapping=shared.read_mapping(pairs),
        unit=unit,
        constants={k: v.strip() for k, v in (("permit", permit), ("status", status)) if v is not None},
        duplicate_stretch=policy.duplicate_stretch,
        length_precision_m=policy.length_precision_m,
        encoding=encoding,
    )


def read_width(text: str) -> Decimal:
    """Read a default strip width in metres that a user typed."""
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
    if data["crs"]["operation"]:
        true = data["crs"]["accuracy_m"]
        lines.append(
            f"  carried over by {data['crs']['operation']}" + (f", true to {true:g} m" if true is not None else "")
        )
    lines += [
        f"  layer {one['name']}: {one['read']} rows read, {one['accepted']} accepted"
        + (f", {one['length_m']} m" if Decimal(one["length_m"]) else "")
        for one in data["layers"]
    ]
    lines += _profile_lines(data.get("profile"))
    for code, count in Counter(s["reason_code"] for s in data["set_aside"]).items():
        first = next(s for s in data["set_aside"] if s["reason_code"] == code)
        lines.append(f"  set aside {count} × {code}, e.g. row {first['row']}: {first['reason']}")
    lines += _waiting_lines(data)
    lines += finding_lines(data)
    for key, value in data.get("coverage", {}).items():
        shown = ", ".join(f"{k} {v}" for k, v in value.items()) if isinstance(value, dict) else value
        lines.append(f"  coverage {key.replace('_', ' ')}: {shown}")
    return "\n".join(lines)


def finding_lines(data: dict[str, Any]) -> list[str]:
    """Say the findings of an import as ``inspect`` does, each by its code."""
    return [
        f"  {f['severity']} {f['code']}: {f['message']}" + (f" ({f['fix']})" if f["fix"] else "")
        for f in data["findings"]
    ]


def _waiting_lines(data: dict[str, Any]) -> list[str]:
    """Say what waits for a correction, in which files, and what it is answered with: always the first batch."""
    paths = data["quarantine"]
    amended = data.get("amends")
    if not amended:
        if "coverage" in data:  # a value map is put right itself
            return [f"  to be put right in the map: {path}" for path in paths]
        return [f"  to be corrected: {path}" for path in paths] + (
            [f"  answered with: --amend {data['batch']}"] if paths else []
        )
    lines = [f"  amends {amended}, of which {data['still_open']} row(s) wait still"]
    if paths:
        lines[0] += f": answer in these files, not in the earlier ones, with --amend {amended}"
    return lines + [f"  to be corrected: {path}" for path in paths]


def _profile_lines(used: dict[str, Any] | None) -> list[str]:
    """Say what a profile came to: for each layer the columns and constants."""
    lines = []
    for name, said in used["layers"].items() if used else ():
        pairs = [f"{key}={column}" for key, column in said["columns"].items()]
        pairs += [f"{key} {value!r}" for key, value in said["constants"].items()]
        lines.append(f"  by its profile, {name}: {', '.join(pairs) or 'no column'}")
    return lines
