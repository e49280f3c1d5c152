"""Profiles at work: found by name, joined with what the user says of a file, saved from a mapping that worked."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from geobill.domain.batch import Batch
from geobill.domain.finding import Finding
from geobill.domain.invoice import Decision
from geobill.domain.money import plain
from geobill.errors import InputError, StoreError
from geobill.intake.columns import check_key, nearest
from geobill.intake.profile import ANY, KEYS, Profile, Width
from geobill.intake.profile_file import (
    BUILT_IN,
    built_in_profiles,
    built_in_text,
    check_name,
    parse_profile,
    write_profile,
)
from geobill.intake.profile_fit import check_named, fit, layer_findings, pick_layers, said_of, takes_any
from geobill.intake.reader import read_layers
from geobill.intake.reading import Options, Part
from geobill.intake.source import SourceLayer
from geobill.pipeline.kept_options import kept_options
from geobill.store.batches import Batches
from geobill.store.profiles import FOLDER, own_profiles, read_profile_text, save_profile_text
from geobill.store.registers import Registers
from geobill.store.workspace import Workspace

# formats of one layer a file: those where it always bears the file's name, those that may say another
NEVER_NAMED, SOMETIMES_NAMED = (
    frozenset({"CSV", "MapInfo", "Shapefile"}),
    frozenset({"FlatGeobuf", "GeoJSON", "GeoJSONSeq", "GeoParquet"}),
)
SAVED_KINDS: tuple[str, ...] = ("network", "cabinets")


@dataclass(frozen=True)
class ProfileListed:
    """A profile that may be named; ``fault`` says why it can't be read, blank where it can."""

    name: str
    title: str
    source: str
    shipped: bool
    layers: tuple[tuple[str, str], ...]  # pattern, kind
    fault: str = ""


@dataclass(frozen=True)
class Delivery:
    """A file made ready: its layers with how each is read, what is said about that, what is kept of the profile.

    ``profile`` is None without one; ``widths`` are the default widths that it gives, by layer: their decisions must be on
    record.
    """

    parts: tuple[Part, ...]
    findings: tuple[Finding, ...] = ()
    profile: dict[str, Any] | None = None
    widths: tuple[tuple[str, Width], ...] = ()


# -- found


def load_profile(root: Path, name: str) -> Profile:
    """Return a profile by its name.

    Raises
    ------
    InputError
        If there is none of that name (the nearest is named), or its file says what can't be obeyed.
    StoreError
        If its file can't be read.
    """
    if name in BUILT_IN:
        return next(p for p in built_in_profiles() if p.name == name)
    where = f"{FOLDER}/{name}.toml"
    profile = parse_profile(profile_text(root, name), where)
    if profile.name != name:
        raise InputError(
            f"{where} calls itself {profile.name!r}: a profile bears the name of its file. Correct its name."
        )
    return profile


def profile_text(root: Path | None, name: str) -> str:
    """Return a profile's TOML by its name; see `load_profile`."""
    if name in BUILT_IN:
        return built_in_text(name)
    own = own_profiles(root) if root is not None else ()
    if root is None or name not in own:
        known = (*BUILT_IN, *own)
        raise InputError(
            f"There is no profile {name!r}.{nearest(name, known)} Known: {', '.join(known)}. geobill profile save makes one from a "
            "mapping that worked."
        )
    return read_profile_text(root, name)


def list_profiles(root: Path | None) -> tuple[ProfileListed, ...]:
    """Return all profiles: those that geobill ships, then those of the workspace, also where they can't be read."""
    shipped = {p.name: p for p in built_in_profiles()}
    found = [_listed(shipped[name], True) for name in BUILT_IN]
    for name in own_profiles(root) if root is not None else ():
        try:
            found.append(_listed(load_profile(root, name), False))  # type: ignore[arg-type]
        except (InputError, StoreError) as fault:
            found.append(ProfileListed(name, "", "", False, (), str(fault)))
    return tuple(found)


def known_profiles(root: Path | None) -> tuple[Profile, ...]:
    """Return all profiles that can be read, those of the workspace first: for proposals, which nothing rests on."""
    own = [one.name for one in list_profiles(root) if not one.shipped and not one.fault]
    return (*(load_profile(root, name) for name in own), *built_in_profiles())  # type: ignore[arg-type]


def _listed(profile: Profile, shipped: bool) -> ProfileListed:
    layers = tuple((pattern, one.kind) for one in profile.layers for pattern in one.match)
    return ProfileListed(profile.name, profile.title, profile.source, shipped, layers)


# -- at work


def open_delivery(
    root: Path, kind: str, path: Path, layers: Sequence[str], options: Options, name: str | None
) -> Delivery:
    """Read the layers of a file that are meant, each with its own options.

    Parameters
    ----------
    root : Path
        The workspace's folder, for its own profiles.
    kind : str
        ``network`` or ``cabinets``.
    path : Path
    layers : sequence of str
        Names of layers; none for those that the profile names, or without a profile the only one.
    options : Options
        What the user said; it goes before what the profile says.
    name : str or None
        Of the profile.

    Raises
    ------
    InputError
        If there is no such profile or layer, or what the profile says doesn't fit the file.
    """
    if name is None:
        parts = tuple(Part(layer, options) for layer in read_layers(path, layers, encoding=options.encoding))
        return Delivery(parts)
    profile = load_profile(root, name)
    takes_any_layer = takes_any(profile, kind)
    findings: list[Finding] = []
    called: dict[str, str] = {}  # what the dataset itself calls a layer, by its name in the file

    def choose(found: Sequence[SourceLayer]) -> Sequence[SourceLayer]:
        chosen = pick_layers(profile, kind, found, path.name)
        findings.extend(layer_findings(profile, kind, found, chosen))
        called.update({one.name: one.inner for one in chosen})
        return chosen

    check_named(profile, kind, layers)
    read = read_layers(path, layers, None if takes_any_layer else choose, options.encoding)
    made, widths = [], []
    for layer in read:
        entry = profile.entry(called.get(layer.name, layer.name), kind)
        assert entry is not None  # it was chosen by that name
        fitted, said = fit(profile, entry, layer, options)
        made.append(Part(layer, fitted))
        findings += said
        if entry.width is not None and options.default_width_m is None:
            widths.append((layer.name, entry.width))
    return Delivery(tuple(made), tuple(findings), _used(profile, made, dict(widths)), tuple(widths))


def width_findings(delivery: Delivery, decisions: Mapping[str, Decision]) -> list[Finding]:
    """Say which decision each default width of a profile rests on.

    Raises
    ------
    InputError
        If one of them isn't recorded.
    """
    findings = []
    for layer, width in delivery.widths:
        decision = decisions.get(width.decision)
        if decision is None:
            raise InputError(
                f"The profile gives {layer} a width of {plain(width.width_m)} m by the decision {width.decision!r}, which "
                f"isn't recorded (recorded: {', '.join(decisions) or 'none'}). The width decides the price (art. 7), and what the "
                "law leaves open is for the mayor to decide (art. 15). Nothing was changed. Record it with geobill decision add "
                f"--id {width.decision}, or give --default-width METRES."
            )
        message = (
            f"Rows without a width take {plain(width.width_m)} m: decision {decision.id} (n. {decision.number} of "
            f"{decision.date.isoformat()}), which answers {decision.question!r} with {decision.answer!r}."
        )
        findings.append(Finding("width_by_decision", "note", message, "--default-width says another.", layer))
    return findings


def _used(profile: Profile, parts: Sequence[Part], widths: Mapping[str, Width]) -> dict[str, Any]:
    """Tell which profile was used and what it came to, layer by layer."""
    layers = {
        part.layer.name: {
            "columns": dict(part.options.mapping),
            "constants": dict(part.options.constants),
            "decision": widths[part.layer.name].decision if part.layer.name in widths else None,
        }
        for part in parts
    }
    return {"name": profile.name, "digest": profile.digest, "layers": layers}


# -- saved


def save_from_batch(
    workspace: Workspace, name: str, batch: str, match: Sequence[str], decision: str | None, *, replace: bool
) -> Path:
    """Save how a batch was read as a profile of the workspace; return where.

    Parameters
    ----------
    workspace : Workspace
    name : str
        Of the profile.
    batch : str
        Id of an import of a network or of cabinets.
    match : sequence of str
        The pattern that the names of the next files' layers match; none for the very names, or for any name where the only layer
        is called as its file is.
    decision : str or None
        On which the import's default width rests; without one it is left out, and said in the file.
    replace : bool
        Whether an earlier profile of this name may go.

    Raises
    ------
    InputError
        If there is no such batch, it keeps no mapping, or the name is taken or unsafe.
    """
    with workspace.database.read() as connection:
        batches = Batches(connection, workspace.database.tables)
        found = batches.load()
        if batch not in found:
            raise InputError(f"There is no batch {batch!r}.{nearest(batch, found)} Nothing was saved.")
        one, used = found[batch], batches.load_report(batch).extra.get("profile")
    if one.kind not in SAVED_KINDS:
        raise InputError(f"{batch} is a value map: a profile is for networks and cabinets. Nothing was saved.")
    kept = kept_options(one.options)
    if not kept:
        raise InputError(
            f"{batch} was imported before geobill kept how a file is read: give the mapping with --map. Nothing was saved."
        )
    rests_on = {layer: said["decision"] for layer, said in used["layers"].items()} if used else {}
    said = {layer: said_of(options, rests_on.get(layer)) for layer, options in kept.items()}
    if not match and len(said) == 1 and _named_by_file(one, next(iter(said))):
        match = (ANY,)
    return _save(workspace, name, f"lote {batch}, {one.file}", one.kind, said, match, decision, replace)


def save_from_options(
    workspace: Workspace,
    name: str,
    kind: str,
    match: Sequence[str],
    options: Options,
    decision: str | None,
    *,
    replace: bool,
) -> Path:
    """Save a mapping that the user gives as a profile of the workspace; see `save_from_batch`."""
    if kind not in SAVED_KINDS:
        raise InputError(f"--kind can't be {kind!r}. Allowed: {', '.join(SAVED_KINDS)}. Nothing was saved.")
    for key in options.mapping:
        check_key(key, KEYS[kind])
    said = said_of(options)
    if not match:
        raise InputError(
            "--layer names no layer, and a profile reads only layers that it names. Give --layer NAME, or '*'."
        )
    if options.default_width_m is not None and decision is None:
        raise InputError(
            "--default-width decides the price (art. 7), and a profile keeps it only with the decision that it rests on (art. 15): "
            "give --decision ID. Nothing was saved."
        )
    if not said:
        raise InputError("There is nothing to save: give --map KEY=COLUMN, or --from BATCH.")
    return _save(workspace, name, "linha de comando", kind, {"": said}, match, decision, replace)


def _save(
    workspace: Workspace,
    name: str,
    source: str,
    kind: str,
    said: Mapping[str, Any],
    match: Sequence[str],
    decision: str | None,
    replaces: bool,
) -> Path:
    check_name(name)
    if name in BUILT_IN:
        raise InputError(f"{name} is a profile that geobill ships: choose another name. Nothing was saved.")
    if name in own_profiles(workspace.root) and not replaces:
        raise InputError(
            f"There is a profile {name} already. Give --replace to put this one in its place. Nothing was saved."
        )
    _check_decision(workspace, decision)
    if match and len(said) > 1:
        raise InputError(
            f"--layer stands for one layer, and this import read {len(said)}: {', '.join(said)}. Leave it out, and edit the match "
            "lines of the saved file. Nothing was saved."
        )
    layers = {tuple(match): one for one in said.values()} if match else {(_literal(n),): one for n, one in said.items()}
    text = write_profile(name, name, source, kind, layers, decision)
    parse_profile(text, name)  # what is saved can be read again
    return save_profile_text(workspace.root, name, text)


def _check_decision(workspace: Workspace, decision: str | None) -> None:
    if decision is None:
        return
    with workspace.database.read() as connection:
        recorded = Registers(connection, workspace.database.tables).load_decisions()
    if decision not in recorded:
        raise InputError(
            f"The decision {decision!r} isn't recorded (recorded: {', '.join(recorded) or 'none'}): record it with geobill "
            "decision add (art. 15). Nothing was saved."
        )


def _named_by_file(batch: Batch, layer: str) -> bool:
    """Whether a layer has no name of its own: it bears that of its file, and the next delivery's will bear another."""
    if batch.format in SOMETIMES_NAMED:
        return layer == Path(batch.file).stem
    return batch.format in NEVER_NAMED


def _literal(layer: str) -> str:
    """Write a layer's name as a pattern that only it matches."""
    return re.sub(r"([*?\[])", r"[\1]", layer)
