"""Look into a file without taking anything from it: layers, columns, system, encoding, and what to beware of."""

import shlex
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from geobill.domain.finding import Finding
from geobill.domain.network import Municipality
from geobill.errors import InputError
from geobill.intake.bulk import iter_batches
from geobill.intake.crs import CAIEIRAS, carry, parse_crs, short
from geobill.intake.crs_guess import Landing, landings, misplaced, missing_system
from geobill.intake.formats import Format
from geobill.intake.layer_tally import LayerTally
from geobill.intake.profile import Profile, Proposal, recognise
from geobill.intake.reader import declared_system, named_layer
from geobill.intake.reading import UNITS_M
from geobill.intake.source import Source, SourceLayer, open_source, unreadable
from geobill.intake.text import chosen_encoding, preview, settle

_ASK_SYSTEM = "Ask the sender which system it is in, then import with --crs EPSG:n."
FEW_ROWS = 200_000  # up to here the digits of numbers that a float can't hold are looked up in the file


@dataclass(frozen=True)
class Drawing:
    """What can be drawn of a layer: a sample of its geometries, one in ``one_in``.

    They are in the workspace's system where ``system`` says from which they were carried (``assumed``: the file doesn't
    say it, it is the likeliest), else (None) in units of their own.
    """

    layer: str
    geometry: np.ndarray
    one_in: int
    system: str | None
    assumed: bool


@dataclass(frozen=True)
class Inspection:
    """What was found in a file: the report by the contract, and what can be drawn of each layer."""

    report: dict[str, Any]
    drawings: tuple[Drawing, ...]


def inspect_file(
    path: Path,
    municipality: Municipality = CAIEIRAS,
    profiles: Sequence[Profile] = (),
    names: Sequence[str] = (),
) -> dict[str, Any]:
    """Report on a file as ``geobill inspect --json`` prints it; see `examine`."""
    return examine(path, municipality, profiles, names).report


def examine(
    path: Path,
    municipality: Municipality,
    profiles: Sequence[Profile] = (),
    names: Sequence[str] = (),
    encoding: str | None = None,
) -> Inspection:
    """Look at every row of a file, batch by batch, in memory that doesn't grow with it (some bytes for each row do).

    Parameters
    ----------
    path : Path
        Any file that `reader.read_layer` reads.
    municipality : Municipality
        Where the data should lie, for the guesses and the lengths.
    profiles : sequence of Profile
        For the mapping that is proposed. A file that one recognises by its layers has only those opened that it names.
    names : sequence of str
        Layers to look at; none for all.
    encoding : str or None
        Encoding of the text, where the user knows better than the file.

    Returns
    -------
    Inspection
        ``report`` has ``file``, ``sha256``, ``layers`` and ``findings`` by the contract, and ``unopened_layers``; lengths
        are decimal text in metres.

    Raises
    ------
    InputError
        If nothing can be read at all, or there is no such layer. A layer that can't be read is a finding.
    """
    layers, findings, drawings = [], [], []
    with open_source(path) as source:
        if encoding is not None:
            for one in source.layers:
                chosen_encoding(encoding, one.dataset.format, path.name)
        wanted = [named_layer(source, n) for n in dict.fromkeys(names)] or list(source.layers)
        by_name = {one.name: one for one in source.layers}
        guard = recognise(list(by_name), profiles, lambda name: _columns(by_name[name], encoding))
        closed = [one for one in wanted if guard is not None and not guard.opens(one.name)]
        for one in wanted:
            if one in closed:
                continue
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    report, found, drawing = _layer(source, one, municipality, profiles, encoding, guard)
            except Exception as e:  # any library's error about somebody's file is a message about the file
                fix = "Repair it in QGIS or ask for it again."
                message = str(unreadable(f"layer {one.name} of {source.path.name}", e))
                findings.append(Finding("layer_unreadable", "error", message, fix, one.name))
                continue
            if names and report["import_command"] and "--layer" not in report["import_command"] and len(by_name) > 1:
                report["import_command"] += " " + shlex.join(["--layer", one.name])
            layers.append(report)
            findings += found
            drawings.append(drawing)
        unopened = [{"name": one.name, "reason": _why_closed(guard, one.name)} for one in closed]
        said = [*source.findings, *findings]
    _one_command(layers)
    report = {
        "file": str(path),
        "sha256": source.sha256,
        "layers": layers,
        "unopened_layers": unopened,
        "findings": [_as_json(f) for f in dict.fromkeys(said)],
    }
    return Inspection(report, tuple(drawings))


def _why_closed(guard: Profile | None, layer: str) -> str:
    assert guard is not None
    entry = guard.entry(layer)
    return entry.reason if entry is not None else f"the profile {guard.name} doesn't name it"


def _layer(
    source: Source,
    one: SourceLayer,
    municipality: Municipality,
    profiles: Sequence[Profile],
    asked: str | None,
    known: Profile | None,
) -> tuple[dict[str, Any], list[Finding], Drawing]:
    format_, path, name = one.dataset.format, one.dataset.path, one.name
    encoding, text_findings = settle(format_, path, asked)
    findings = [*text_findings]
    tally: LayerTally | None = None
    for raw in iter_batches(path, one.inner, format_, encoding):
        if tally is None:
            crs, said = declared_system(one, raw.crs)
            findings += said
            tally = LayerTally(name, crs, municipality, profiles, known)
        tally.add(raw.frame, raw.shapes)
    assert tally is not None  # at least one batch comes
    if 0 < tally.shapes.rows <= FEW_ROWS and tally.wide:
        for column, digits in format_.exact_numbers(path, tally.wide, tally.shapes.rows).items():
            tally.columns[column].show(digits)
    place, landed, drawing = _place(tally, municipality, source.path.name)
    report = {
        "name": name,
        "features": tally.shapes.rows,
        "geometry_types": tally.shapes.types(),
        "crs": None if tally.crs is None else short(tally.crs),
        "crs_guesses": [found.crs for found in landed if found.turned is None],
        "encoding": _spelling(encoding),
        "length_m": tally.shapes.length(),
        "fields": [c.report() for c in tally.columns.values()],
        "bounds": tally.shapes.bounds(),
        "crs_candidates": [_candidate(found) for found in landed],
        **_texts(format_, path),
        **_proposed(tally, source, profiles, next((found.unit for found in landed[:1]), None)),
    }
    said = (*findings, *format_.encoded_findings(path, one.inner, encoding), *tally.findings(), *place)
    return report, [replace(f, layer=name) for f in said], drawing


def _spelling(encoding: str) -> str:
    return "UTF-8" if encoding.casefold() in ("utf-8", "utf8") else encoding


def _columns(one: SourceLayer, asked: str | None) -> list[str]:
    """Names of a layer's columns, from its first row, of which nothing is kept; none where it can't be read."""
    format_, path = one.dataset.format, one.dataset.path
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            batches = iter_batches(path, one.inner, format_, settle(format_, path, asked)[0], rows=1)
            return [str(c) for c in next(batches).frame.columns]
    except Exception:  # what is wrong with it is said where it is looked at
        return []


def _texts(format_: Format, path: Path) -> dict[str, Any]:
    """Show three values in the encoding that was found, and in the others that could be meant; none where there are none."""
    shown = preview(format_, path)
    candidates = [{"encoding": _spelling(e.encoding), "samples": list(e.samples), "why": e.why} for e in shown]
    return {"encoding_samples": candidates[0]["samples"] if candidates else [], "encoding_candidates": candidates}


def _place(tally: LayerTally, municipality: Municipality, file: str) -> tuple[list[Finding], list[Landing], Drawing]:
    """Find what is wrong with where a layer lies, the systems that would put it inside, and what can be drawn."""
    shapes, crs = tally.shapes, tally.crs
    frame = shapes.sample.frame()
    landed = landings(frame, municipality)
    if crs is not None:  # the system that the file declares is the likeliest, where it fits
        landed.sort(key=lambda one: one.crs != short(crs))
    finding: Finding | None = None
    if len(frame) and crs is None:
        finding = missing_system(landed, file)
    elif len(frame):
        try:
            carried, _ = carry(frame, crs, municipality, file)
            finding = misplaced(carried, frame, crs, municipality, file, (shapes.outside, shapes.located))
        except InputError as e:
            finding = Finding("crs_suspect", "error", str(e), _ASK_SYSTEM)
    drawing = _drawing(tally, landed, municipality, file, finding is not None)
    return ([] if finding is None else [finding]), landed, drawing


def _drawing(
    tally: LayerTally, landed: Sequence[Landing], municipality: Municipality, file: str, doubtful: bool
) -> Drawing:
    """Carry a sample of a layer over, from its own system or, where that is doubtful, from the likeliest one."""
    frame, one_in = tally.shapes.sample.frame(), tally.shapes.sample.one_in
    likeliest = next((one for one in landed if one.turned is None or one.unit), None) if doubtful else None
    crs = tally.crs if not doubtful else None if likeliest is None else parse_crs(likeliest.crs)
    if crs is None or not len(frame):
        return Drawing(tally.name, frame.geometry.to_numpy(), one_in, None, False)
    unit = likeliest.unit if likeliest else None
    if unit:
        frame = frame.set_geometry(frame.geometry.scale(UNITS_M[unit], UNITS_M[unit], origin=(0, 0)))
    there = carry(frame, crs, municipality, file)[0].geometry.to_numpy()
    return Drawing(tally.name, there, one_in, f"{short(crs)} ({unit})" if unit else short(crs), doubtful)


def _candidate(one: Landing) -> dict[str, Any]:
    return {
        "crs": one.crs,
        "name": one.name,
        "share_inside": f"{one.share_inside:.3f}",
        "lon": round(one.lon, 6),
        "lat": round(one.lat, 6),
        "away_km": f"{one.away_km:.1f}",
        "differs_m": f"{one.differs_m:.0f}",
        "turned": one.turned,
        "unit": one.unit,
    }


def _proposed(tally: LayerTally, source: Source, profiles: Sequence[Profile], unit: str | None) -> dict[str, Any]:
    """Say what a profile makes of the layer's columns, and the command line that would import it so."""
    proposal = tally.proposal
    if proposal is None:
        nothing = {
            "profile": None,
            "proposed_import": None,
            "import_reason": "",
            "proposed_mapping": {},
            "unclear_columns": {},
        }
        lines = tally.shapes.shape() == "lines"
        return {**nothing, "import_command": _bare_command(tally, source, unit) if lines else None}
    return {
        "profile": proposal.profile,
        "proposed_import": proposal.kind,
        "proposed_mapping": dict(proposal.mapping),
        "import_reason": proposal.reason,
        "unclear_columns": {key: list(columns) for key, columns in proposal.unclear.items()},
        "import_command": _command(tally, proposal, source, profiles, unit),
    }


_COMMANDS = {"network": "network", "cabinets": "cabinets", "land_values": "land-values"}


def _bare_command(tally: LayerTally, source: Source, unit: str | None) -> str:
    """Command line for lines none of whose columns is known: they can be charged by their shape and a width."""
    layer = ["--layer", tally.name] if len(source.layers) > 1 else []
    where = _where(tally, unit)
    words = ["geobill", "import", "network", str(source.path), *layer, *where, "--operator", "ID"]
    return shlex.join([*words, "--default-width", "METRES"])


def _where(tally: LayerTally, unit: str | None) -> list[str]:
    """Options for a unit that the coordinates ask for, and for a system that the file doesn't say."""
    return [*(["--unit", unit] if unit else []), *(["--crs", "EPSG:N"] if tally.crs is None else [])]


def _one_command(layers: Sequence[dict[str, Any]]) -> None:
    """Give the layers that one command imports together the same one: that of the layer that needs most options."""
    together: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for layer in layers:
        command = layer["import_command"]
        if command and "--profile" in shlex.split(command) and "--layer" not in shlex.split(command):
            together.setdefault((layer["profile"], layer["proposed_import"]), []).append(layer)
    for group in together.values():
        most = max((layer["import_command"] for layer in group), key=lambda command: len(shlex.split(command)))
        for layer in group:
            layer["import_command"] = most


def _command(
    tally: LayerTally, proposal: Proposal, source: Source, profiles: Sequence[Profile], unit: str | None
) -> str | None:
    """Command line for the import; capitals stand for what only a person can say. None where nothing is charged."""
    if proposal.kind not in _COMMANDS:
        return None
    words = ["geobill", "import", _COMMANDS[proposal.kind], str(source.path)]
    named = next((p for p in profiles if p.name == proposal.profile), None)
    entry = None if named is None else named.entry(tally.name)
    if named is not None and entry is not None and not entry.is_general:
        words += ["--profile", named.name]  # reads every layer that it names
    else:
        if len(source.layers) > 1:
            words += ["--layer", tally.name]
        for key, column in proposal.mapping.items():
            words += ["--map", f"{key}={column}"]
    words += _where(tally, unit if proposal.kind == "network" else None)
    if proposal.kind == "land_values":
        words += ["--edition", "NAME", "--in-force-from", "YYYY-MM-DD"]
    elif "operator" not in proposal.mapping:
        words += ["--operator", "ID"]
    if proposal.kind == "network" and not tally.has_widths and (entry is None or entry.width is None):
        words += ["--default-width", "METRES"]
    return shlex.join(words)


def _as_json(finding: Finding) -> dict[str, Any]:
    return {
        "code": finding.code,
        "severity": finding.severity,
        "layer": finding.layer,
        "rows": list(finding.rows),
        "message": finding.message,
        "fix": finding.fix,
    }
