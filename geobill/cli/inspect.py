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
    commands = [layer["import_command"] for layer in data["layers"]]
    for at, layer in enumerate(data["layers"]):
        lines += _layer(layer)
        if commands[at] and commands[at] not in commands[at + 1 :]:  # one for several layers comes after the last
            lines.append(f"  {commands[at]}")
    for one in data["unopened_layers"]:
        lines.append(f"layer {one['name']}: not opened ({one['reason']})")
    lines += _findings(data["findings"], len(data["layers"]) + len(data["unopened_layers"]) > 1)
    if "html" in data:
        lines.append(f"page {data['html']}")
    return "\n".join("".join(c if c.isprintable() else "\ufffd" for c in line) for line in lines)


def _findings(findings: list[dict[str, Any]], several: bool) -> list[str]:
    """Say findings; one that several layers share once, with each of them below."""
    lines = []
    shared_by: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for f in findings:
        shared_by.setdefault((f["severity"], f["code"]), []).append(f)
    for (severity, code), group in shared_by.items():
        first = group[0]
        if len({f["layer"] for f in group}) == 1:
            layer = f" (layer {first['layer']})" if several and first["layer"] else ""
            lines += [f"{severity} {code}{layer}: {f['message']}{_rows(f)} {f['fix']}".rstrip() for f in group]
            continue
        named = ", ".join(dict.fromkeys(f["layer"] or "the whole file" for f in group))
        if len({(f["message"], *f["rows"]) for f in group}) == 1:
            lines.append(
                f"{severity} {code} (layers {named}): {first['message']}{_rows(first)} {first['fix']}".rstrip()
            )
            continue
        fixes = " ".join(dict.fromkeys(f["fix"] for f in group))
        lines.append(f"{severity} {code} (layers {named}): {fixes}".rstrip())
        lines += [f"  {f['layer'] or 'the whole file'}: {f['message']}{_rows(f)}" for f in group]
    return lines


def _rows(finding: dict[str, Any]) -> str:
    rows = finding["rows"]
    shown = ", ".join(map(str, rows[:ROWS_SHOWN])) + (" …" if len(rows) > ROWS_SHOWN else "")
    return f" Rows {shown}." if rows else ""


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
        example = "empty" if f["example"] is None else f"e.g. {f['example']}"
        lines.append(f"  {f['name']} ({f['type']}, {f['nulls']} nulls{blanks}, {distinct}) {example}{meant}")
    if any(not s.isascii() for s in layer["encoding_samples"]):
        for one in layer["encoding_candidates"]:
            lines.append(f"  text as {one['encoding']}: {' | '.join(one['samples'])} ({one['why']})")
    if layer["import_reason"]:
        lines.append(f"  nothing to import, by the profile {layer['profile']}: {layer['import_reason']}")
    elif not layer["import_command"]:
        lines.append("  no import proposed: no profile knows its columns")
    return lines
