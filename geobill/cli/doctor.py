"""The command doctor: is this machine fit, and is the workspace sound."""

from pathlib import Path
from typing import Any

import typer

from geobill.cli import app as shared
from geobill.cli.app import JsonOption, WorkspaceOption

SIGNS = {"ok": "ok     ", "warning": "WARNING", "fault": "FAULT  "}


def doctor(workspace: WorkspaceOption = None, json: JsonOption = False) -> None:
    """Check the installation and a workspace; changes nothing.

    The workspace is the one that is named, or that stands here. A fault ends the command with exit code 1.
    """
    from geobill import __version__
    from geobill.pipeline.doctor import examine
    from geobill.store.settings import FILE_NAME

    root = shared.named_workspace(workspace)
    if root is None and Path(FILE_NAME).is_file():
        root = Path()
    found = examine(root, __version__)
    data = {
        "workspace": None if root is None else str(root),
        "versions": found.versions,
        "checks": [{"name": c.name, "state": c.state, "message": c.message, "fix": c.fix} for c in found.checks],
        "faults": found.count("fault"),
        "warnings": found.count("warning"),
    }
    shared.answer(data, json, lambda: _report(data))
    if data["faults"]:
        raise typer.Exit(1)


def _report(data: dict[str, Any]) -> str:
    lines = ["  ".join(f"{name} {version}" for name, version in data["versions"].items())]
    for check in data["checks"]:
        lines.append(f"{SIGNS[check['state']]}  {check['name']}: {check['message']}")
        if check["fix"]:
            lines.append(f"         → {check['fix']}")
    looked = f"workspace {data['workspace']}" if data["workspace"] else "no workspace named (-w DIR)"
    lines.append(
        f"{len(data['checks'])} checks, {data['faults']} faults, {data['warnings']} warnings; {looked}; nothing was changed."
    )
    return "\n".join(lines)
