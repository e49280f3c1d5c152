"""How each layer of an import was read, kept as JSON with its batch and read again when its rows are amended."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

from geobill.domain.record import canonical_json, from_plain
from geobill.intake.reading import Options, Part


def options_text(parts: Sequence[Part]) -> str:
    """Return the options of every layer as canonical JSON: only what differs from the default is said."""
    return canonical_json([{"layer": part.layer.name, "options": options_data(part.options)} for part in parts])


def options_data(options: Options) -> dict[str, Any]:
    """Return what options say beyond the default, as plain data."""
    default = Options()
    said = {f.name: getattr(options, f.name) for f in fields(Options)}
    return {name: _plain(value) for name, value in said.items() if value != getattr(default, name)}


def kept_options(text: str | None) -> dict[str, Options]:
    """Read the options of every layer by its name; none where they weren't kept (before schema version 4)."""
    return {one["layer"]: _options(one["options"]) for one in json.loads(text or "[]")}


def _options(data: Mapping[str, Any]) -> Options:
    known = {f.name for f in fields(Options)}
    options = from_plain(Options, {name: value for name, value in data.items() if name in known})
    absent = {key: frozenset(texts) for key, texts in options.absent.items()}
    return Options(**{**{f.name: getattr(options, f.name) for f in fields(Options)}, "absent": absent})


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(one) for key, one in value.items()}
    return sorted(value) if isinstance(value, (set, frozenset)) else value
