"""Corrected rows in: what a batch set aside comes back, is checked again and joins the batch as an amendment of it."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import geopandas as gpd
import numpy as np

from geobill.domain.batch import IN_FORCE, Batch
from geobill.domain.finding import Finding, ImportReport
from geobill.errors import InputError
from geobill.intake.columns import nearest
from geobill.intake.duplicates import find_stored
from geobill.intake.put_aside import put_aside
from geobill.intake.reader import read_layers
from geobill.intake.reading import Options, Part, Reading
from geobill.pipeline.amended_file import Asked, amended_parts, pick_layers
from geobill.pipeline.datum_check import check_datum
from geobill.pipeline.imports import KINDS, open_stores, report_of, with_emptiness, with_stored, with_suspects
from geobill.pipeline.kept_options import kept_options, options_text
from geobill.pipeline.permits import check_rows
from geobill.pipeline.place import place_of
from geobill.pipeline.quarantine import load_quarantine, write_quarantine
from geobill.store.batches import family, still_open
from geobill.store.permits import PermitRegister
from geobill.store.workspace import Workspace


def amend_batch(
    workspace: Workspace,
    kind: str,
    path: Path,
    layers: Sequence[str],
    batch: str,
    given: Options,
    *,
    dry_run: bool,
    now: str,
) -> ImportReport:
    """Read corrected rows of a batch's quarantine and keep the good ones as an amendment, all or nothing.

    Parameters
    ----------
    workspace : Workspace
    kind : str
        ``network`` or ``cabinets``.
    path : Path
        The quarantine's GeoPackage or workbook, corrected, or any file whose rows name theirs.
    layers : sequence of str
        Layers of it; none for those of a quarantine, or the only one.
    batch : str
        The batch that is amended.
    given : Options
        What the user says; all else is taken as the batch was read.
    dry_run : bool
        Report and write nothing.
    now : str
        The moment in UTC, ISO text with Z.

    Returns
    -------
    ImportReport
        Of the rows that came; they keep their numbers in the batch.

    Raises
    ------
    InputError
        If the batch can't be amended, or a row isn't of its quarantine, was answered already or comes twice.
    """
    read, id_key, save = KINDS[kind]
    sent, place = read_layers(path, layers, pick_layers(path.name), given.encoding), place_of(workspace)
    with (workspace.database.read if dry_run else workspace.database.write)() as connection:
        registers, batches, cadastre = open_stores(workspace, connection)
        known = batches.load()
        one = _amendable(known, batch, kind, path.name, sent[0].sha256)
        asked = Asked(
            batch, batches.load_open(batch), batches.load_places(batch), batches.load_answers(batch),
            batches.load_columns(batch), one.format,
        )  # fmt: skip
        kept = kept_options(one.options)
        _check_owner(batch, one.operator, given.operator)
        options = {name: as_amended(kept.get(name, Options()), given) for name in asked.layers}
        parts, rows = amended_parts(sent, asked, options, given, id_key, place)
        reading = read(parts, place, list(registers.load_operators()))
        if kind == "network":
            shifted = check_datum(parts, reading, cadastre.load_segments(), place)
            mine = [b.id for b in family(known, batch) if b.state == IN_FORCE]
            accepted = cadastre.load_segments(without=[b for b in known if b not in mine])
            reading, partly = _without_repeated(_with_findings(reading, shifted), parts, rows, accepted, batch)
            reading = _with_findings(_numbered(reading, rows, asked), partly)
            reading = with_stored(_with_namesakes(reading, accepted), cadastre.load_segments(without=mine))
        else:
            reading = _numbered(reading, rows, asked)
        said = check_rows(PermitRegister(connection, workspace.database.tables).load_files(), reading.accepted)
        reading = with_emptiness(with_suspects(_with_findings(reading, said)))
        new = None if dry_run else batches.new_id()
        report = report_of(reading, sent[0].sha256, new, {"amends": batch})
        if new is not None:
            batches.save(
                report,
                kind=kind,
                file=path.name,
                layer=", ".join(layer.name for layer in sent),
                operator=parts[0].options.operator,
                replaces=(),
                aside=reading.aside,
                now=now,
                format_=sent[0].format,
                encoding=", ".join(dict.fromkeys(layer.encoding for layer in sent)),
                options=options_text(parts),
                amends=batch,
            )
            save(cadastre, reading.accepted, new, now)
        left = (still_open(known, one) or 0) - report.accepted
        quarantine = load_quarantine(workspace, connection, batch, now) if new is not None else None
    report = replace(report, extra={**report.extra, "still_open": left})
    return replace(report, quarantine=write_quarantine(workspace, quarantine, new or ""))


def _check_owner(batch: str, owner: str | None, given: str | None) -> None:
    if given is not None and owner is not None and given != owner:
        raise InputError(
            f"Batch {batch} is of {owner}, and --operator says {given}: its rows would be charged to somebody who didn't send them. "
            f"Nothing was changed: leave --operator out, or import the file of {given} by itself."
        )


def as_amended(kept: Options, given: Options) -> Options:
    """Return how a layer is read again: as it was, save for what the user says now; policies are today's.

    A mapping and a constant of one key exclude each other, as do an operator and a column of operators: what is said now counts.
    """
    default = Options()
    said: dict[str, Any] = {
        f.name: getattr(given, f.name) for f in fields(Options) if getattr(given, f.name) != getattr(default, f.name)
    }
    mapping = {k: c for k, c in kept.mapping.items() if k not in given.constants} | dict(given.mapping)
    constants = {k: v for k, v in kept.constants.items() if k not in given.mapping} | dict(given.constants)
    operator = said.pop("operator", None if "operator" in given.mapping else kept.operator)
    if given.operator is not None:
        mapping.pop("operator", None)
    policies = {n: getattr(given, n) for n in ("duplicate_stretch", "length_precision_m")}
    return replace(kept, **{**said, "mapping": mapping, "constants": constants, "operator": operator, **policies})


def _amendable(known: Mapping[str, Batch], batch: str, kind: str, file: str, sha256: str) -> Batch:
    """Return the batch, if it can be amended by this file."""
    if batch not in known:
        raise InputError(f"There is no batch {batch!r}.{nearest(batch, known)} geobill batch list names them.")
    one = known[batch]
    if one.amends is not None:
        raise InputError(
            f"{batch} is itself an amendment; what it left open stays with {one.amends}. Nothing was changed. "
            f"Give --amend {one.amends}."
        )
    if one.kind != kind:
        raise InputError(f"{batch} is of {one.kind.replace('_', ' ')}, not of {kind}: nothing was changed.")
    if one.ended is not None:
        by = f" by {one.ended.other}" if one.ended.other else ""
        raise InputError(
            f"{batch} isn't in force any more ({one.state}{by}): what it set aside is of no account. Nothing was changed. Send the "
            "rows with the delivery that took its place."
        )
    same = [b.id for b in family(dict(known), batch)[1:] if b.state == IN_FORCE and b.sha256 == sha256]
    if same:
        raise InputError(
            f"{file} amended {batch} already ({same[0]}): a second time would change nothing. Nothing was changed. Send what is open "
            f"still: geobill batch quarantine {batch}."
        )
    if not still_open(dict(known), one):
        raise InputError(f"Nothing of {batch} is set aside any more: there is nothing to amend. Nothing was changed.")
    return one


def _without_repeated(
    reading: Reading, parts: Sequence[Part], rows: np.ndarray, accepted: gpd.GeoDataFrame, batch: str
) -> tuple[Reading, tuple[Finding, ...]]:
    """Set aside what lies wholly on what its batch accepted before, unless the policy bills it; find what lies partly on it."""
    if not len(accepted) or not len(reading.accepted):
        return reading, ()
    places = reading.accepted["source_row"].to_numpy(dtype=int)
    found = find_stored(reading.accepted.assign(source_row=rows[places - 1]), accepted)
    if parts[0].options.duplicate_stretch == "bill":
        return reading, found
    whole = {r for f in found if f.code == "already_stored" for r in f.rows}
    reason = f"all of it lies on what {batch} or an amendment of it accepted already, of this operator and service"
    repeated = [int(p) for p in places if int(rows[p - 1]) in whole]
    return put_aside(reading, parts, repeated, "segment", "duplicate", reason), tuple(
        f for f in found if f.code != "already_stored"
    )


def _with_namesakes(reading: Reading, accepted: gpd.GeoDataFrame) -> Reading:
    """Add a finding about ids that the batch accepted on other rows."""
    again = reading.accepted["segment"].isin(set(accepted["segment"]))
    rows = tuple(int(r) for r in reading.accepted.loc[again, "source_row"])
    if not rows:
        return reading
    message = f"{len(rows)} row(s) share their segment with a row that was accepted before: they can't be told apart."
    return _with_findings(
        reading, [Finding("duplicate_id", "warning", message, "Ask for ids that are unique.", rows=rows)]
    )


def _with_findings(reading: Reading, findings: Collection[Finding]) -> Reading:
    return replace(reading, findings=(*reading.findings, *findings))


def _numbered(reading: Reading, rows: np.ndarray, asked: Asked) -> Reading:
    """Give each row its number in the batch; a layer is named where the batch has several."""
    several = len(asked.layers) > 1
    return replace(
        reading,
        accepted=reading.accepted.assign(source_row=rows[reading.accepted["source_row"].to_numpy(dtype=int) - 1]),
        aside=reading.aside.assign(source_row=rows[reading.aside["source_row"].to_numpy(dtype=int) - 1]),
        set_aside=tuple(replace(s, layer=s.layer if several else None) for s in reading.set_aside),
        layers=(),
    )
