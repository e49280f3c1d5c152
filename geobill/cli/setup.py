"""Commands that set a workspace up: init, operators."""

from pathlib import Path
from typing import Annotated

import typer

from geobill.cli import app as shared
from geobill.cli import complete
from geobill.cli.app import JsonOption, WorkspaceOption

operator_app = typer.Typer(no_args_is_help=True, help="Who owns equipment in the street, and pays for it.")


def init(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Folder to make; new or empty.")],
    statute: Annotated[
        str, typer.Option(help="The statute to bill under.", autocompletion=complete.statutes)
    ] = "caieiras-lei-3057-2001",
    db: Annotated[
        str | None, typer.Option(help="A PostGIS address instead of the embedded store (not built yet).")
    ] = None,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Make a workspace: geobill.toml and the embedded store cadastre.gpkg."""
    from geobill.pipeline.store_styles import style_store
    from geobill.store.workspace import init_workspace

    made = init_workspace(folder, statute, shared.now(), db)
    style_store(made, shared.now())
    data = {
        "workspace": str(made.root),
        "settings": str(made.root / "geobill.toml"),
        "store": str(made.database.path),
        "statute": made.settings.statute,
    }
    shared.answer(
        data,
        json,
        lambda: f"Workspace {made.root}: fill in geobill.toml (who issues), then add operators and import files.",
    )


@operator_app.command("add")
def operator_add(
    id_: Annotated[str, typer.Option("--id", help="Short id, as files and options name the operator.")],
    name: Annotated[str, typer.Option(help="Name as it stands on the invoice.")],
    cnpj: Annotated[str, typer.Option(help="CNPJ.")] = "",
    kind: Annotated[
        str, typer.Option(help="private, public, or municipal (public law, of this municipality: art. 13).")
    ] = "private",
    service: Annotated[str, typer.Option(help="Kind of service.")] = "",
    address: Annotated[str, typer.Option(help="Address.")] = "",
    email: Annotated[str, typer.Option(help="E-mail.")] = "",
    representative: Annotated[str, typer.Option(help="Who signs for the operator.")] = "",
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Add an operator."""
    from geobill.cli.answers import finding_answer
    from geobill.domain.network import Operator
    from geobill.pipeline.registers import add_operator

    operator = Operator(id_.strip(), name.strip(), kind, cnpj, service, address, email, representative)
    findings = add_operator(shared.open_given(workspace), operator, shared.now())
    said = "".join(f"\n  {f.severity}: {f.message}; {f.fix}" for f in findings)
    shared.answer(
        {
            "operator": operator.id,
            "name": operator.name,
            "kind": operator.kind,
            "findings": [finding_answer(f) for f in findings],
        },
        json,
        lambda: f"Operator {operator.id} added.{said}",
    )


@operator_app.command("list")
def operator_list(workspace: WorkspaceOption = None, json: JsonOption = False) -> None:
    """List the operators."""
    from geobill.domain.record import to_plain
    from geobill.pipeline.registers import list_operators

    found = list_operators(shared.open_given(workspace))
    data = {"operators": [to_plain(o) for o in found]}
    shared.answer(
        data,
        json,
        lambda: (
            "\n".join(f"{o.id}  {o.name}  ({o.kind}){f'  CNPJ {o.cnpj}' if o.cnpj else ''}" for o in found)
            or "No operators yet."
        ),
    )
