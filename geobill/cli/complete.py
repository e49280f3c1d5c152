"""What the shell proposes at the Tab key: policy keys and their values, statutes, the workspace's operators."""

from pathlib import Path

import typer

from geobill.cli.app import named_workspace

STORE_NAME = "cadastre.gpkg"  # as in store.workspace, which takes half a second to load


def policy_keys(incomplete: str) -> list[tuple[str, str]]:
    """Propose policy keys, each with the gap of the law that it fills."""
    from geobill.law.policy import KEYS

    return [(k.key, k.gap) for k in KEYS if k.key.startswith(incomplete)]


def policy_values(ctx: typer.Context, incomplete: str) -> list[str]:
    """Propose the values of the policy key that was typed; those that are described rather than listed aren't proposed."""
    from geobill.law.policy import KEYS

    values = next((k.values for k in KEYS if k.key == ctx.params.get("key")), ())
    return [value for value in values if " " not in value and value.startswith(incomplete)]


def statutes(incomplete: str) -> list[str]:
    """Propose the statutes that geobill knows."""
    from geobill.law.statutes import STATUTES

    return [name for name in STATUTES if name.startswith(incomplete)]


def operators(ctx: typer.Context, incomplete: str) -> list[str]:
    """Propose the operators of the workspace that the line names, or that stands here."""
    from geobill.store.names import operator_ids

    named, at = None, ctx
    while at is not None and named is None:
        named, at = at.params.get("workspace"), at.parent  # type: ignore[assignment]
    root = Path(named) if named else named_workspace(None) or Path()
    return [id_ for id_ in operator_ids(root / STORE_NAME) if id_.startswith(incomplete)]
