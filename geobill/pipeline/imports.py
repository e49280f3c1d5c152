"""Networks and cabinets in: read, check, report, keep; each import is all or nothing."""

import dataclasses
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import geopandas as gpd
from sqlalchemy import Connection

from geobill.domain.finding import Finding, ImportReport
from geobill.domain.network import SUSPECTED, Municipality
from geobill.errors import InputError
from geobill.intake.cabinets import read_cabinets
from geobill.intake.duplicates import find_stored
from geobill.intake.network import read_network
from geobill.intake.reading import Options, Part, Reading
from geobill.pipeline.datum_check import check_datum
from geobill.pipeline.kept_options import options_text
from geobill.pipeline.permits import check_rows
from geobill.pipeline.place import place_of
from geobill.pipeline.profiles import open_delivery, width_findings
from geobill.pipeline.quarantine import load_quarantine, write_quarantine
from geobill.store.batches import Batches, family
from geobill.store.networks import Cadastre
from geobill.store.permits import PermitRegister
from geobill.store.registers import Registers
from geobill.store.workspace import Workspace

Read = Callable[[Sequence[Part], Municipality, Collection[str]], Reading]
# kind of batch → its reader, what a row is named by, how its rows are kept
KINDS: Mapping[str, tuple[Read, str, Callable[[Cadastre, gpd.GeoDataFrame, str, str], None]]] = {
    "network": (read_network, "segment", Cadastre.save_segments),
    "cabinets": (read_cabinets, "equipment", Cadastre.save_equipment),
}


def import_rows(
    workspace: Workspace,
    kind: str,
    path: Path,
    layers: Sequence[str],
    options: Options,
    *,
    profile: str | None = None,
    replace: bool,
    dry_run: bool,
    now: str,
) -> ImportReport:
    """Read a file of a network or of cabinets (``kind`` in `KINDS`) and keep its good rows, all or nothing."""
    read, _, save = KINDS[kind]
    delivery = open_delivery(workspace.root, kind, path, layers, options, profile)
    parts, place = delivery.parts, place_of(workspace)
    found = [part.layer for part in parts]
    name, sha256 = ", ".join(one.name for one in found), found[0].sha256
    with (workspace.database.read if dry_run else workspace.database.write)() as connection:
        registers, batches, cadastre = open_stores(workspace, connection)
        earlier = _earlier_imports(batches, kind, path.name, name, sha256, options.operator, replace)
        rests_on = width_findings(delivery, registers.load_decisions())
        reading = read(parts, place, list(registers.load_operators()))
        if not earlier:
            reading = _with_namesakes(reading, _namesakes(batches, kind, path.name, name, options.operator))
        if kind == "network":
            known = batches.load()
            stored = cadastre.load_segments(without=[one.id for old in earlier for one in family(known, old)])
            reading = with_stored(reading, stored)
            shifted = check_datum(parts, reading, cadastre.load_segments() if earlier else stored, place)
            reading = dataclasses.replace(reading, findings=(*reading.findings, *shifted))
        said = check_rows(PermitRegister(connection, workspace.database.tables).load_files(), reading.accepted)
        reading = dataclasses.replace(reading, findings=(*delivery.findings, *rests_on, *reading.findings, *said))
        batch = None if dry_run else batches.new_id()
        report = report_of(with_emptiness(with_suspects(reading)), sha256, batch, {"profile": delivery.profile})
        if batch is not None:
            batches.save(
                report,
                kind=kind,
                file=path.name,
                layer=name,
                operator=options.operator,
                replaces=earlier,
                aside=reading.aside,
                now=now,
                format_=found[0].format,
                encoding=", ".join(dict.fromkeys(one.encoding for one in found)),
                options=options_text(parts),
            )
            save(cadastre, reading.accepted, batch, now)
        quarantine = load_quarantine(workspace, connection, batch, now) if batch is not None else None
    return dataclasses.replace(report, quarantine=write_quarantine(workspace, quarantine, batch or ""))


def _earlier_imports(
    batches: Batches, kind: str, name: str, layer: str, sha256: str, operator: str | None, replace: bool
) -> list[str]:
    """Return the batches that this import takes the place of; a second import of one file is refused."""
    found = batches.find(kind, layer, operator, sha256=sha256)
    amending = [one for one in found if one.amends is not None]
    if amending:
        one = amending[0]
        raise InputError(
            f"{name} was imported already as {one.id}, which amends {one.amends}: a second import would charge its metres twice. "
            f"Nothing was changed. More corrected rows come with --amend {one.amends}; geobill batch undo {one.id} takes it back."
        )
    same = [one.id for one in found]
    if same and not replace:
        raise InputError(
            f"{name} was imported already for this operator (batch {', '.join(same)}): a second import would charge its "
            "metres twice. Nothing was changed. Give --replace to put this import in its place."
        )
    if not replace:
        return []
    earlier = same or _namesakes(batches, kind, name, layer, operator)
    if not earlier:
        raise InputError(
            f"--replace: no earlier import of {name} (layer {layer}) for this operator is in force: nothing would be replaced, "
            "and what was imported from other files would be charged beside it. Nothing was changed. Leave --replace out to add "
            "this file, or give it the earlier one's name."
        )
    return earlier


def _namesakes(batches: Batches, kind: str, name: str, layer: str, operator: str | None) -> list[str]:
    """Batches in force of a file of this name; their amendments go with them."""
    return [one.id for one in batches.find(kind, layer, operator, file=name) if one.amends is None]


def _with_namesakes(reading: Reading, batches: list[str]) -> Reading:
    """Add a warning where a file of this name, with other content, is in force already."""
    if not batches:
        return reading
    message = f"a file of this name was imported before with other content (batch {', '.join(batches)}); both are in force now."
    fix = "If this is its correction, its metres are charged twice: import it with --replace."
    return replace(reading, findings=(*reading.findings, Finding("same_file_name", "warning", message, fix)))


def with_stored(reading: Reading, stored: gpd.GeoDataFrame) -> Reading:
    """Add a warning where stretches of this file are stored already, from another import."""
    if not len(stored) or not len(reading.accepted):
        return reading
    return replace(reading, findings=(*reading.findings, *find_stored(reading.accepted, stored)))


def with_suspects(reading: Reading) -> Reading:
    """Add a note where rows wait for a case: nothing else makes them due."""
    rows = tuple(int(r) for r in reading.accepted.loc[reading.accepted["status"] == SUSPECTED, "source_row"])
    if not rows:
        return reading
    message = f"{len(rows)} row(s) are suspected: they are charged on no day until their case is decided (art. 10 § 1)."
    fix = "Open a case that names them: geobill case open --kind clandestine --operator ID --segment ID …"
    return replace(reading, findings=(*reading.findings, Finding("suspected_waits", "note", message, fix, rows=rows)))


def with_emptiness(reading: Reading) -> Reading:
    """Add a warning where nothing was accepted."""
    if len(reading.accepted):
        return reading
    message = "No row was accepted: nothing of this file will be charged."
    fix = "See why the rows were set aside; often a --map names the wrong column, or it is another layer."
    return replace(reading, findings=(*reading.findings, Finding("nothing_accepted", "warning", message, fix)))


def report_of(reading: Reading, sha256: str, batch: str | None, extra: dict[str, Any]) -> ImportReport:
    """Build the report of a reading; layers are told apart where there are several."""
    return ImportReport(
        batch=batch,
        sha256=sha256,
        read=reading.read,
        accepted=len(reading.accepted),
        set_aside=reading.set_aside,
        length_m=f"{reading.length_m:f}",
        bounds=reading.bounds,
        crs=reading.crs,
        findings=tuple(dict.fromkeys(reading.findings)),
        extra=extra,
        layers=reading.layers if len(reading.layers) > 1 else (),
    )


def open_stores(workspace: Workspace, connection: Connection) -> tuple[Registers, Batches, Cadastre]:
    """Open the registers, the batches and the cadastre over one transaction."""
    tables, srid = workspace.database.tables, workspace.database.srid
    return Registers(connection, tables), Batches(connection, tables), Cadastre(connection, tables, srid)
