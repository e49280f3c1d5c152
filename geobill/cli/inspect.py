"""The command that looks into a file and takes nothing from it."""

from pathlib import Path
from typing import Annotated, Any

import typer

from geobill.cli import app as shared
from geobill.cli.app import JsonOption, WorkspaceOption
from geobill.cli.files import EncodingOption, FileArgument, LayersOption
from geobill.errors import InputError

ROWS_SHOWN = 10
HtmlOption = Annotated[
    Path | None,
    typer.Option(
        "--html", metavar="OUT.html", help="Also write one page, in Portuguese, to send back to the operator."
    ),
]


def inspect(
    file: FileArgument,
    layer: LayersOption = None,
    html: HtmlOption = None,
    encoding: EncodingOption = None,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Read a file and report what is in it; changes nothing and needs no workspace (one that is named says where to look)."""
    from geobill.pipeline.inspect import inspect as run

    if html is not None and html.absolute() == file.absolute():
        raise InputError(f"--html {html} is the file itself, which would be overwritten: name another.")
    found = run(file, shared.named_workspace(workspace), layer or (), encoding)
    data = found.report
    if html is not None:
        from geobill.pipeline.inspection_page import inspection_page
        from geobill.store.settings import replace_file

        replace_file(html, inspection_page(found, shared.today()))
        data = {**data, "html": str(html)}
    shared.answer(data, json, lambda: describe(data))


def describe(data: dict[str, Any]) -> str:
    """Say a report in lines for a person; of many rows the first."""
    lines = [f"{data['file']}  sha256 {data['sha256']}"]
    for layer in data["layers"]:
        lines += _layer(layer)
    for one in data["unopened_layers"]:
        lines.append(f"layer {one['name']}: not opened ({one['reason']})")
    for f in data["findings"]:
        shown = ", ".join(map(str, f["rows"][:ROWS_SHOWN])) + (" …" if len(f["rows"]) > ROWS_SHOWN else "")
        rows = f" Rows {shown}." if f["rows"] else ""
        lines.append(f"{f['severity']} {f['code']}: {f['message']}{rows} {f['fix']}".rstrip())
    if "html" in data:
        lines.append(f"page {data['html']}")
    return "\n".join("".join(c if c.isprintable() else "\ufffd" for c in line) for line in lines)


def _layer(layer: dict[str, Any]) -> list[str]:
    kinds = ", ".join(f"{n} {kind}" for kind, n in layer["geometry_types"].items()) or "no geometry"
    system = layer["crs"] or "no coordinate system"
    lines = [f"layer {layer['name']}: {layer['features']} rows ({kinds}), {system}, {layer['encoding']}"]
    for one in layer["crs_candidates"] if layer["crs"] != next(iter(layer["crs_guesses"]), None) else ():
        turned = f", {one['turned']}" if one["turned"] else ""
        where = f"around {one['lon']}, {one['lat']}; {one['differs_m']} m from the first"
        lines.append(f"  inside the municipality as {one['crs']} ({one['name']}{turned}), {where}")
    if layer["length_m"] is not None and any("Line" in kind for kind in layer["geometry_types"]):
        lines.append(f"  {layer['length_m']} m")
    keys = {column: key for key, column in layer["proposed_mapping"].items()}
    for f in layer["fields"]:
        meant = f" → {keys[f['name']]}" if f["name"] in keys else ""
        distinct = f"{f['distinct']}{'+' if f['distinct_more'] else ''} distinct"
        blanks = f", {f['blanks']} blank" if f["blanks"] else ""
        lines.append(f"  {f['name']} ({f['type']}, {f['nulls']} nulls{blanks}, {distinct}) e.g. {f['example']}{meant}")
    if any(not s.isascii() for s in layer["encoding_samples"]):
        for one in layer["encoding_candidates"]:
            lines.append(f"  text as {one['encoding']}: {' | '.join(one['samples'])} ({one['why']})")
    if layer["import_command"]:
        lines.append(f"  {layer['import_command']}")
    return lines
