"""Profiles: how the files of one sender are read, listed, shown and saved from a mapping that worked."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from geobill.cli import app as shared
from geobill.cli import files
from geobill.cli.app import JsonOption, WorkspaceOption
from geobill.errors import InputError

profile_app = typer.Typer(
    no_args_is_help=True, help="How the files of one sender are read: layers, columns, constants."
)

NameArgument = Annotated[str, typer.Argument(metavar="NAME", help="The profile's name.")]


@profile_app.command("list")
def list_(workspace: WorkspaceOption = None, json: JsonOption = False) -> None:
    """List the profiles that geobill ships and those of the workspace."""
    from geobill.pipeline.profiles import list_profiles

    found = list_profiles(_root(workspace))
    data = {"profiles": [{**asdict(p), "layers": [{"match": m, "kind": k} for m, k in p.layers]} for p in found]}
    shared.answer(data, json, lambda: "\n".join(_line(p) for p in data["profiles"]))


@profile_app.command("show")
def show(name: NameArgument, workspace: WorkspaceOption = None, json: JsonOption = False) -> None:
    """Print a profile as its TOML file has it."""
    from geobill.pipeline.profiles import profile_text

    text = profile_text(_root(workspace), name)
    shared.answer({"name": name, "text": text}, json, text.rstrip)


@profile_app.command("save")
def save(
    name: NameArgument,
    from_: Annotated[
        str | None, typer.Option("--from", metavar="BATCH", help="The import whose mapping worked, for example B00002.")
    ] = None,
    kind: Annotated[
        str, typer.Option(metavar="network|cabinets", help="What --map is for, where no import is named.")
    ] = "network",
    layer: Annotated[
        list[str] | None,
        typer.Option(
            "--layer", metavar="PATTERN", help="Names of layers that it reads; * and ? stand for any letters."
        ),
    ] = None,
    map_: files.MapOption = None,
    default_width: Annotated[
        str | None, typer.Option(metavar="M", help="Strip width in metres where a file gives none; needs --decision.")
    ] = None,
    decision: Annotated[
        str | None, typer.Option(metavar="ID", help="Recorded decision on which the default width rests (art. 15).")
    ] = None,
    replace: Annotated[bool, typer.Option("--replace", help="Put it in the place of one of this name.")] = False,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Save how an import was read, or the mapping given here, as a profile of the workspace."""
    from geobill.intake.reading import Options
    from geobill.pipeline.profiles import save_from_batch, save_from_options

    opened = shared.open_given(workspace)
    if from_ is not None:
        if map_ or default_width is not None:
            raise InputError(
                "--from takes the mapping of an import; --map and --default-width give another: choose one way."
            )
        path = save_from_batch(opened, name, from_, layer or (), decision, replace=replace)
    else:
        width = None if default_width is None else files.read_width(default_width)
        options = Options(mapping=shared.read_mapping(map_), default_width_m=width)
        path = save_from_options(opened, name, kind, layer or (), options, decision, replace=replace)
    data = {"name": name, "file": str(path)}
    shared.answer(data, json, lambda: f"{path}: look at it, then import with --profile {name}")


def _root(given: Path | None) -> Path | None:
    """Return the workspace whose profiles count too: the one that is named, else the current folder if it is one."""
    from geobill.store.settings import FILE_NAME, read_settings

    root = shared.named_workspace(given)
    if root is not None:
        read_settings(root / FILE_NAME)
        return root
    return Path() if Path(FILE_NAME).is_file() else None


def _line(profile: dict[str, Any]) -> str:
    if profile["fault"]:
        return f"{profile['name']}: can't be used: {profile['fault']}"
    where = "ships with geobill" if profile["shipped"] else "of this workspace"
    names: dict[str, list[str]] = {}
    for one in profile["layers"]:
        names.setdefault(one["kind"], []).append(one["match"])
    shown = "; ".join(f"{kind}: {', '.join(matches)}" for kind, matches in names.items())
    return f"{profile['name']} ({where}): {profile['title']}\n  {shown}"
