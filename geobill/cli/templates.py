"""Commands of the templates: list, copy, check; and the check of a draft decree that came back from Word."""

from pathlib import Path
from typing import Annotated, Any

import typer

from geobill.cli import app as shared
from geobill.cli.app import JsonOption, WorkspaceOption

templates_app = typer.Typer(
    no_args_is_help=True, help="The documents' templates: the package's and the workspace's own."
)


@templates_app.command("list")
def list_(workspace: WorkspaceOption = None, json: JsonOption = False) -> None:
    """Show the templates, what each makes, and which of them the workspace has of its own."""
    from geobill.pipeline.templates import list_templates

    rows, ignored = list_templates(shared.open_given(workspace).root)
    data = {
        "templates": [{"name": r.name, "makes": r.what, "own": r.own, "sha256": r.sha256} for r in rows],
        "ignored": list(ignored),
    }
    lines = [f"  {'own    ' if r.own else 'package'} {r.name}: {r.what}" for r in rows]
    lines += [f"  ignored {name}: no template has that name" for name in ignored]
    shared.answer(data, json, lambda: "\n".join(lines))


@templates_app.command("copy")
def copy(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A template of the package, as list names it.")],
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Put a template of the package into WORKSPACE/templates, to be edited there; never overwrites."""
    from geobill.pipeline.templates import copy_template

    target = copy_template(shared.open_given(workspace).root, name)
    shared.answer(
        {"file": str(target)}, json, lambda: f"{target}: edit it, then run geobill templates check before the next bill"
    )


@templates_app.command("check")
def check(
    name: Annotated[str | None, typer.Argument(metavar="[NAME]", help="Only this template of the workspace.")] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write the sample documents of both, to be looked at.")
    ] = None,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Render sample documents with the workspace's templates and show what they change; exit 1 where one is refused."""
    from geobill.pipeline.templates import check_templates

    found = check_templates(shared.open_given(workspace).root, name, out)
    data: dict[str, Any] = {
        "ok": not found.refused,
        "templates": [{"name": n, "ok": r is None, "refusal": r} for n, r in found.templates.items()],
        "documents": [
            {
                "name": d.name,
                "ok": d.refusal is None,
                "refusal": d.refusal,
                "diff": list(d.diff),
                "missing_figures": [{"name": f.name, "text": f.text} for f in d.missing],
                "files": [str(f) for f in d.files],
            }
            for d in found.documents
        ],
        "ignored": list(found.ignored),
    }
    shared.answer(data, json, lambda: _check_summary(data))
    if found.refused:
        raise typer.Exit(1)


@templates_app.command("check-docx")
def check_docx(
    file: Annotated[Path, typer.Argument(metavar="FILE.docx", help="A draft decree edited in Word or LibreOffice.")],
    against: Annotated[
        Path | None,
        typer.Option(metavar="FILE.html", help="The draft's HTML (else the one beside the file, else its own list)."),
    ] = None,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Say whether every figure of an edited draft is still the one that geobill computed; exit 1 where one isn't."""
    from geobill.pipeline.templates import check_edited

    found = check_edited(file, against)
    data = {
        "file": str(file),
        "record": found.record,
        "figures": found.figures,
        "ok": not found.changed,
        "changed": [{"key": c.key, "name": c.name, "was": c.was, "now": c.now} for c in found.changed],
    }
    shared.answer(data, json, lambda: _docx_summary(data))
    if found.changed:
        raise typer.Exit(1)


def _check_summary(data: dict[str, Any]) -> str:
    lines = [f"  {t['name']}: {'ok' if t['ok'] else 'refused: ' + t['refusal']}" for t in data["templates"]]
    if not lines:
        lines = ["  the workspace has no template of its own; the package's are in use"]
    lines += [f"  ignored {name}: no template has that name" for name in data["ignored"]]
    for d in data["documents"]:
        lines.append(f"{d['name']}: {'refused: ' + d['refusal'] if not d['ok'] else 'made'}")
        lines += [f"  warning: {f['name']}, {f['text']}, doesn't appear any more" for f in d["missing_figures"]]
        lines += d["diff"] or (["  same words as with the package's templates"] if d["ok"] else [])
        lines += [f"  {file}" for file in d["files"]]
    return "\n".join(lines)


def _docx_summary(data: dict[str, Any]) -> str:
    lines = [f"{data['file']}: {data['figures']} figures of the record {data['record'][:12]}…"]
    for c in data["changed"]:
        now = "is gone" if c["now"] is None else f"is now {c['now']!r}"
        lines.append(f"  {c['name']}: {c['was']!r} {now}")
    return "\n".join(lines if data["changed"] else [*lines, "  all are as geobill computed them"])
