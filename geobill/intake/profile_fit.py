"""A file read by a profile: which of its layers, which of their columns, and what is said about that."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from geobill.domain.finding import Finding
from geobill.domain.money import plain
from geobill.errors import InputError
from geobill.intake.cabinets import SIDES
from geobill.intake.checks import unknown_words
from geobill.intake.columns import matching_columns
from geobill.intake.profile import LayerProfile, Profile, find_columns
from geobill.intake.reader import Layer
from geobill.intake.reading import Options
from geobill.intake.source import SourceLayer
from geobill.intake.values import read_column, read_text

# -- which layers


def check_named(profile: Profile, kind: str, layers: Sequence[str]) -> None:
    """Refuse, before any is opened, layers that the profile doesn't name for an import of this kind.

    Raises
    ------
    InputError
        Naming the layer, the profile and what to do.
    """
    for layer in layers:
        entry = profile.entry(layer, kind)
        if entry is None:
            raise InputError(
                f"The profile {profile.name} doesn't name the layer {layer!r}, and opens no layer that it doesn't name. For "
                f"{_what(kind)} it names {_shown(profile, kind)}. Leave --profile out to read it by --map alone."
            )
        if entry.kind != kind:
            raise InputError(f"The layer {layer!r} isn't read by the profile {profile.name}: {entry.reason}.")


def takes_any(profile: Profile, kind: str) -> bool:
    """Whether a profile takes a layer of any name for a kind of import.

    Raises
    ------
    InputError
        If it has no layer of that kind at all.
    """
    entries = profile.of_kind(kind)
    if not entries:
        raise InputError(
            f"The profile {profile.name} has no layer of {_what(kind)} in it. It names: "
            f"{', '.join(n for one in profile.layers for n in one.match)}."
        )
    return any(one.is_general for one in entries)


def pick_layers(profile: Profile, kind: str, layers: Sequence[SourceLayer], file: str) -> list[SourceLayer]:
    """Pick the layers of a kind by what their datasets call them: none is opened.

    Raises
    ------
    InputError
        If the file has no layer that the profile names.
    """
    chosen = [one for one in layers if (entry := profile.entry(one.inner, kind)) is not None and entry.kind == kind]
    if not chosen:
        raise InputError(
            f"No layer of {file} is one that the profile {profile.name} reads as {_what(kind)} ({_shown(profile, kind)}). "
            f"The file has: {', '.join(one.name for one in layers)}. Nothing was opened. If a profile of your own is meant for this "
            f"layer, edit match in profiles/NAME.toml, or save it again for any name (geobill profile save NAME … --layer '*' "
            "--replace). Else take another profile (geobill profile list), or name the layer with --layer and its columns with --map."
        )
    return chosen


def _shown(profile: Profile, kind: str) -> str:
    return ", ".join(n for one in profile.of_kind(kind) for n in one.match) or "none"


def _what(kind: str) -> str:
    return {"network": "a network", "cabinets": "cabinets", "land_values": "a value map"}[kind]


def layer_findings(
    profile: Profile, kind: str, layers: Sequence[SourceLayer], chosen: Collection[SourceLayer]
) -> list[Finding]:
    """Say which layers of a file were left unopened, and which that the profile names it lacks."""
    findings, unread = [], [one for one in layers if one not in chosen]
    if unread:
        reasons: dict[str, list[str]] = {}
        for one in unread:
            entry = profile.entry(one.inner)
            reasons.setdefault(entry.reason if entry else "", []).append(one.name)
        shown = "; ".join(", ".join(names) + (f" ({reason})" if reason else "") for reason, names in reasons.items())
        message = f"{len(unread)} layer(s) were left unopened, as the profile {profile.name} says: {shown}."
        findings.append(Finding("layers_unopened", "note", message))
    patterns = [m for entry in profile.of_kind(kind) for m in entry.match]
    lacking = [m for m in patterns if not any(LayerProfile((m,), kind).names(one.inner) for one in layers)]
    if lacking:
        message = f"The profile {profile.name} also reads {', '.join(lacking)}; the file has no such layer."
        fix = "Ask the sender whether something is missing."
        findings.append(Finding("profile_layer_missing", "note", message, fix))
    return findings


# -- which columns


def fit(profile: Profile, entry: LayerProfile, layer: Layer, given: Options) -> tuple[Options, list[Finding]]:
    """Join what a profile says of a layer with what the user said; the user's word goes before.

    Parameters
    ----------
    profile, entry
        The profile, and what it says of this layer.
    layer : Layer
    given : Options
        From the command line.

    Raises
    ------
    InputError
        If several columns could hold a key that an amount hangs on.
    """
    names = [str(c) for c in layer.frame.columns if c != "geometry"]
    taken = [c for name in given.mapping.values() for c in matching_columns(name, names)]
    wanted = {k: v for k, v in entry.columns.items() if k not in given.mapping and k not in given.constants}
    columns, unclear = find_columns(wanted, [n for n in names if n not in taken])
    where, findings = f"{layer.path.name} ({layer.name})", []
    columns, unclear = _one_volume(columns, given), _one_volume(unclear, given)
    if given.operator:
        unclear.pop("operator", None)
        if (column := columns.pop("operator", None)) is not None:
            findings.append(_operator_finding(layer, column, given.operator))
    if entry.status_if_known and "status" in {**columns, **unclear}:
        findings += _settle_status(layer, entry, columns, unclear)
    if unclear:
        key, several = next(iter(unclear.items()))
        raise InputError(
            f"{where} has {' and '.join(several)}, and each could hold the {key} by the profile {profile.name}: an amount hangs "
            f"on it, so it isn't guessed. Say which with --map {key}={several[0]}."
        )
    lacking = [k for k in wanted if k not in columns and not (k == "operator" and given.operator)]
    if lacking:
        findings.append(_lacking_finding(profile, entry, layer, lacking))
    constants = {k: v for k, v in entry.constants.items() if k not in given.mapping}
    fitted = replace(
        given,
        mapping={**columns, **given.mapping},
        constants={**constants, **given.constants},
        absent=entry.absent,
        statuses=entry.statuses,
        units={k: u for k, u in entry.units.items() if k in columns},
        unit=entry.unit if given.unit == "m" else given.unit,
        default_width_m=given.default_width_m or (entry.width and entry.width.width_m),
    )
    return fitted, findings


def _one_volume(columns: Mapping[str, Any], given: Options) -> dict[str, Any]:
    """Leave out the sides where there is a volume, and the volume where the user maps sides."""
    if "volume" in columns or "volume" in given.mapping:
        columns = {k: v for k, v in columns.items() if k not in SIDES}
    if any(side in given.mapping for side in SIDES):
        columns = {k: v for k, v in columns.items() if k != "volume"}
    return dict(columns)


def _settle_status(
    layer: Layer, entry: LayerProfile, columns: dict[str, str], unclear: dict[str, tuple[str, ...]]
) -> list[Finding]:
    """Take as the status only a column whose words are all known; change ``columns`` and ``unclear`` accordingly."""
    could = unclear.pop("status", None) or (columns.pop("status"),)
    strange = {column: unknown_words(layer.frame[column], entry.statuses) for column in could}
    known = [column for column in could if not strange[column]]
    if len(known) == 1:
        columns["status"] = known[0]
    elif known:
        unclear["status"] = tuple(known)
    return [_status_finding(layer, column, words) for column, words in strange.items() if words]


def _operator_finding(layer: Layer, column: str, operator: str) -> Finding:
    names = sorted({n for n in read_column(layer.frame[column], read_text)[0] if n is not None})
    several = len(names) > 1
    shown = ", ".join(names[:5]) + (" …" if len(names) > 5 else "")
    message = f"{column} names {shown or 'nobody'}; all rows are put to {operator}, because --operator says so."
    fix = "If the rows belong to several, leave --operator out and map the column." if several else ""
    return Finding("operator_by_option", "warning" if several else "note", message, fix, layer.name)


def _status_finding(layer: Layer, column: str, strange: Sequence[str]) -> Finding:
    shown = ", ".join(repr(s) for s in strange[:5]) + (" …" if len(strange) > 5 else "")
    message = (
        f"{column} isn't taken as the status: it says {shown}, which is no status of the law (what is out of operation still "
        "stands in the street). Where no other column says it, rows count as existing."
    )
    fix = "Map another column with --map status=COLUMN, or save a profile whose statuses say what each word means."
    return Finding("status_not_taken", "warning", message, fix, layer.name)


def _lacking_finding(profile: Profile, entry: LayerProfile, layer: Layer, lacking: Sequence[str]) -> Finding:
    shown = "; ".join(f"{k} ({', '.join(entry.columns[k][:3])})" for k in lacking)
    message = f"The profile {profile.name} finds no column for: {shown}."
    return Finding("profile_column_missing", "note", message, "If it has another name: --map KEY=COLUMN.", layer.name)


def said_of(options: Options, decision: str | None = None) -> dict[str, Any]:
    """Return what is kept of how a layer was read, so that it can be done again: only what says something."""
    width = options.default_width_m
    said = {
        "columns": dict(options.mapping),
        "constants": dict(options.constants),
        "absent": {key: sorted(texts) for key, texts in options.absent.items()},
        "statuses": dict(options.statuses),
        "unit": "" if options.unit == "m" else options.unit,
        "units": dict(options.units),
        "default_width": {} if width is None else {"width": plain(width), "decision": decision or ""},
    }
    return {name: value for name, value in said.items() if value}
