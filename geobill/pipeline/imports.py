"""Networks and cabinets in: read, check, report, keep; each import is all or nothing."""

import dataclasses
from collections.abc import Callable, Sequence
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
from geobill.intake.reader import Layer, read_layers
from geobill.intake.reading import Options, Part, Reading
from geobill.pipeline.permits import check_rows
from geobill.store.networks import Cadastre
from geobill.store.permits import PermitRegister
from geobill.store.registers import Registers
from geobill.store.workspace import Workspace


def import_network(
    workspace: Workspace, path: Path, layers: Sequence[str], options: Options, *, replace: bool, dry_run: bool, now: str
) -> ImportReport:
    """Read a network file and keep its good rows, all or nothing."""

    def read(found: list[Layer], place: Municipality, operators: list[str]) -> Reading:
        return read_network([Part(one, options) for one in found], place, operators)

    def save(cadastre: Cadastre, rows: gpd.GeoDataFrame, batch: str) -> None:
        cadastre.save_segments(rows, batch, now)

    return _import(workspace, "network", path, layers, options, read, save, replace=replace, dry_run=dry_run, now=now)


def import_cabinets(
    workspace: Workspace, path: Path, layers: Sequence[str], options: Options, *, replace: bool, dry_run: bool, now: str
) -> ImportReport:
    """Read a file of cabinets and keep its good rows, all or nothing."""

    def read(found: list[Layer], place: Municipality, operators: list[str]) -> Reading:
        return read_cabinets([Part(one, options) for one in found], place, operators)

    def save(cadastre: Cadastre, rows: gpd.GeoDataFrame, batch: str) -> None:
        cadastre.save_equipment(rows, batch, now)

    return _import(workspace, "cabinets", path, layers, options, read, save, replace=replace, dry_run=dry_run, now=now)


def _import(
    workspace: Workspace,
    kind: str,
    path: Path,
    layers: Sequence[str],
    options: Options,
    read: Callable[[list[Layer], Municipality, list[str]], Reading],
    save: Callable[[Cadastre, gpd.GeoDataFrame, str], None],
    *,
    replace: bool,
    dry_run: bool,
    now: str,
) -> ImportReport:
    found = read_layers(path, layers)
    name, sha256 = ", ".join(one.name for one in found), found[0].sha256
    with (workspace.database.read if dry_run else workspace.database.write)() as connection:
        registers, cadastre = open_stores(workspace, connection)
        earlier = _earlier_imports(registers, kind, path.name, name, sha256, options.operator, replace)
        reading = read(found, workspace.settings.municipality, list(registers.load_operators()))
        if not earlier:
            reading = _with_namesakes(reading, registers.find_batches(kind, name, options.operator, file=path.name))
        if kind == "network":
            reading = _with_stored(reading, cadastre.load_segments(without=earlier))
        said = check_rows(PermitRegister(connection, workspace.database.tables).load_files(), reading.accepted)
        reading = dataclasses.replace(reading, findings=(*reading.findings, *said))
        batch = None if dry_run else registers.new_batch_id()
        report = report_of(_with_emptiness(_with_suspects(reading)), sha256, batch, {})
        if batch is not None:
            registers.save_batch(
                report,
                kind=kind,
                file=path.name,
                layer=name,
                operator=options.operator,
                replaces=earlier,
                now=now,
            )
            save(cadastre, reading.accepted, batch)
    return report


def _earlier_imports(
    registers: Registers, kind: str, name: str, layer: str, sha256: str, operator: str | None, replace: bool
) -> list[str]:
    """Return the batches that this import takes the place of; a second import of one file is refused."""
    same = registers.find_batches(kind, layer, operator, sha256=sha256)
    if same and not replace:
        raise InputError(
            f"{name} was imported already for this operator (batch {', '.join(same)}): a second import would charge its "
            "metres twice. Nothing was changed. Give --replace to put this import in its place."
        )
    if not replace:
        return []
    earlier = same or registers.find_batches(kind, layer, operator, file=name)
    if not earlier:
        raise InputError(
            f"--replace: no earlier import of {name} (layer {layer}) for this operator is in force: nothing would be replaced, "
            "and what was imported from other files would be charged beside it. Nothing was changed. Leave --replace out to add "
            "this file, or give it the earlier one's name."
        )
    return earlier


def _with_namesakes(reading: Reading, batches: list[str]) -> Reading:
    """Add a warning where a file of this name, with other content, is in force already."""
    if not batches:
        return reading
    message = f"a file of this name was imported before with other content (batch {', '.join(batches)}); both are in force now."
    fix = "If this is its correction, its metres are charged twice: import it with --replace."
    return replace(reading, findings=(*reading.findings, Finding("same_file_name", "warning", message, fix)))


def _with_stored(reading: Reading, stored: gpd.GeoDataFrame) -> Reading:
    """Add a warning where stretches of this file are stored already, from another import."""
    rows = find_stored(reading.accepted, stored) if len(stored) and len(reading.accepted) else []
    if not rows:
        return reading
    message = f"{len(rows)} stretch(es) are stored already from another import of this operator and service: they are charged twice."
    fix = "If this file corrects an earlier one, give it that file's name and import it with --replace."
    return replace(
        reading, findings=(*reading.findings, Finding("already_stored", "warning", message, fix, rows=tuple(rows)))
    )


def _with_suspects(reading: Reading) -> Reading:
    """Add a note where rows wait for a case: nothing else makes them due."""
    rows = tuple(int(r) for r in reading.accepted.loc[reading.accepted["status"] == SUSPECTED, "source_row"])
    if not rows:
        return reading
    message = f"{len(rows)} row(s) are suspected: they are charged on no day until their case is decided (art. 10 § 1)."
    fix = "Open a case that names them: geobill case open --kind clandestine --operator ID --segment ID …"
    return replace(reading, findings=(*reading.findings, Finding("suspected_waits", "note", message, fix, rows=rows)))


def _with_emptiness(reading: Reading) -> Reading:
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


def open_stores(workspace: Workspace, connection: Connection) -> tuple[Registers, Cadastre]:
    """Open the registers and the cadastre over one transaction."""
    database = workspace.database
    return Registers(connection, database.tables), Cadastre(connection, database.tables, database.srid)
