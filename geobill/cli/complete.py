"""What the shell proposes at the Tab key: policy keys and values, statutes, the workspace's operators, decisions, profiles."""

from pathlib import Path

import typer

from geobill.cli.app import named_workspace

STORE_NAME = "cadastre.gpkg"  # as in store.workspace, which takes half a second to load
SETTINGS_NAME = "geobill.toml"


def policy_keys(incomplete: str) -> list[tuple[str, str]]:
    """Propose policy keys, each with the gap of the law that it fills."""
    from geobill.law.policy import KEYS

    return [(k.key, k.gap) for k in KEYS if k.key.startswith(incomplete)]


def policy_values(ctx: typer.Context, incomplete: str) -> list[str]:
    """Propose the values of the policy key that was typed; those that are described rather than listed aren't proposed.

    Above 100 km the recorded decisions are proposed besides.
    """
    from geobill.law.policy import KEYS

    key = ctx.params.get("key")
    values = next((k.values for k in KEYS if k.key == key), ())
    named = decisions(ctx, incomplete) if key == "above_100_km" else []
    return [value for value in values if " " not in value and value.startswith(incomplete)] + named


def questions(incomplete: str) -> list[str]:
    """Propose the policy keys that a decision may answer."""
    return [key for key, _ in policy_keys(incomplete)]


def profiles(ctx: typer.Context, incomplete: str) -> list[str]:
    """Propose the named policies of the workspace's geobill.toml."""
    import tomllib

    try:
        text = (_folder(ctx) / SETTINGS_NAME).read_text(encoding="utf-8-sig")
        named = tomllib.loads(text).get("policy", {}).get("profile", {})
    except (OSError, ValueError):  # nobody reads a message at the Tab key
        return []
    return [name for name in named if name.startswith(incomplete)]


def statutes(incomplete: str) -> list[str]:
    """Propose the statutes that geobill knows."""
    from geobill.law.statutes import STATUTES

    return [name for name in STATUTES if name.startswith(incomplete)]


def operators(ctx: typer.Context, incomplete: str) -> list[str]:
    """Propose the operators of the workspace that the line names, or that stands here."""
    from geobill.store.names import operator_ids

    return [id_ for id_ in operator_ids(_folder(ctx) / STORE_NAME) if id_.startswith(incomplete)]


def decisions(ctx: typer.Context, incomplete: str) -> list[str]:
    """Propose the recorded decisions of the workspace."""
    from geobill.store.names import decision_ids

    return [id_ for id_ in decision_ids(_folder(ctx) / STORE_NAME) if id_.startswith(incomplete)]


def batches(ctx: typer.Context, incomplete: str) -> list[str]:
    """Propose the imports of the workspace."""
    from geobill.store.names import batch_ids

    return [id_ for id_ in batch_ids(_folder(ctx) / STORE_NAME) if id_.startswith(incomplete)]


def _folder(ctx: typer.Context) -> Path:
    named, at = None, ctx
    while at is not None and named is None:
        named, at = at.params.get("workspace"), at.parent  # type: ignore[assignment]
    return Path(named) if named else named_workspace(None) or Path()
