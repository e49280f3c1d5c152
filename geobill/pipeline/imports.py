"""Files in: read, check, report, keep; each import is all or nothing."""

import dataclasses
from collections.abc import Callable
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import geopandas as gpd
from sqlalchemy import Connection

from geobill.domain.finding import Finding, ImportReport
from geobill.domain.network import SUSPECTED, Municipality
from geobill.errors import InputError
from geobill.intake.cabinets import read_cabinets
from geobill.intake.coverage import coverage_summary, draw_coverage
from geobill.intake.duplicates import find_stored
from geobill.intake.land_values import read_land_values
from geobill.intake.network import read_network
from geobill.intake.reader import Layer, read_layer
from geobill.intake.reading import Options, Reading
from geobill.intake.zones import overlap_report, repair_zones
from geobill.pipeline.permits import check_rows
from geobill.store.networks import Cadastre
from geobill.store.permits import PermitRegister
from geobill.store.registers import Registers
from geobill.store.workspace import Workspace


def import_network(
    workspace: Workspace, path: Path, layer: str | None, options: Options, *, replace: bool, dry_run: bool, now: str
) -> ImportReport:
    """Read a network file and keep its good rows, all or nothing."""

    def read(found: Layer, place: Municipality, operators: list[str]) -> Reading:
        return read_network(found, options, place, operators)

    def save(cadastre: Cadastre, rows: gpd.GeoDataFrame, batch: str) -> None:
        cadastre.save_segments(rows, batch, now)

    return _import(workspace, "network", path, layer, options, read, save, replace=replace, dry_run=dry_run, now=now)


def import_cabinets(
    workspace: Workspace, path: Path, layer: str | None, options: Options, *, replace: bool, dry_run: bool, now: str
) -> ImportReport:
    """Read a file of cabinets and keep its good rows, all or nothing."""

    def read(found: Layer, place: Municipality, operators: list[str]) -> Reading:
        return read_cabinets(found, options, place, operators)

    def save(cadastre: Cadastre, rows: gpd.GeoDataFrame, batch: str) -> None:
        cadastre.save_equipment(rows, batch, now)

    return _import(workspace, "cabinets", path, layer, options, read, save, replace=replace, dry_run=dry_run, now=now)


def _import(
    workspace: Workspace,
    kind: str,
    path: Path,
    layer: str | None,
    options: Options,
    read: Callable[[Layer, Municipality, list[str]], Reading],
    save: Callable[[Cadastre, gpd.GeoDataFrame, str], None],
    *,
    replace: bool,
    dry_run: bool,
    now: str,
) -> ImportReport:
    found = read_layer(path, layer)
    with (workspace.database.read if dry_run else workspace.database.write)() as connection:
        registers, cadastre = _open(workspace, connection)
        earlier = _earlier_imports(registers, kind, found, options.operator, replace)
        reading = read(found, workspace.settings.municipality, list(registers.load_operators()))
        if not earlier:
            reading = _with_namesakes(
                reading, registers.find_batches(kind, found.name, options.operator, file=path.name)
            )
        if kind == "network":
            reading = _with_stored(reading, cadastre.load_segments(without=earlier))
        said = check_rows(PermitRegister(connection, workspace.database.tables).load_files(), reading.accepted)
        reading = dataclasses.replace(reading, findings=(*reading.findings, *said))
        batch = None if dry_run else registers.new_batch_id()
        report = _report(_with_emptiness(_with_suspects(reading)), found, batch, {})
        if batch is not None:
            registers.save_batch(
                report,
                kind=kind,
                file=path.name,
                layer=found.name,
                operator=options.operator,
                replaces=earlier,
                now=now,
            )
            save(cadastre, reading.accepted, batch)
    return report


def import_land_values(
    workspace: Workspace,
    path: Path,
    layer: str | None,
    options: Options,
    edition: str,
    in_force_from: date,
    *,
    replace: bool,
    dry_run: bool,
    now: str,
) -> ImportReport:
    """Read an edition of the Mapa de Valores and keep its zones and the priced coverage drawn from them."""
    policy = workspace.settings.policy
    found = read_layer(path, layer)
    with (workspace.database.read if dry_run else workspace.database.write)() as connection:
        registers, cadastre = _open(workspace, connection)
        earlier = _earlier_editions(cadastre, edition, in_force_from, replace)
        reading = read_land_values(found, options, workspace.settings.municipality)
        zones, refused, repairs = repair_zones(reading.accepted)
        reading = _with_repairs(reading, zones, refused, repairs)
        if not len(zones):
            why = (
                "; ".join(dict.fromkeys(f"{s.reason_code}: {s.reason}" for s in reading.set_aside[:3]))
                or "it has no rows"
            )
            raise InputError(
                f"None of the {reading.read} row(s) of {path.name} can be used as a zone ({why}). An edition without zones would hold "
                "every metre of the months it is in force in. Nothing was changed; check the layer and the --map columns."
            )
        overlaps = overlap_report(zones)
        coverage = draw_coverage(zones, policy.on_overlap, float(policy.max_gap_m))  # type: ignore[arg-type]
        batch = None if dry_run else registers.new_batch_id()
        report = _report(reading, found, batch, {"coverage": coverage_summary(coverage, overlaps)})
        if batch is not None:
            registers.save_batch(
                report, kind="land_values", file=path.name, layer=found.name, operator=None, replaces=earlier, now=now
            )
            cadastre.save_zones(zones, batch, edition, in_force_from, now)
            cadastre.save_coverage(coverage, batch, policy.on_overlap, policy.as_text()["max_gap_m"], now)
    return report


def _earlier_editions(cadastre: Cadastre, edition: str, in_force_from: date, replace: bool) -> list[str]:
    same = [(n, d, b) for n, d, b in cadastre.find_editions() if n == edition or d == in_force_from]
    if same and not replace:
        name, day, batch = same[0]
        raise InputError(
            f"The edition {name!r}, in force from {day.isoformat()} (batch {batch}), is there already: two maps can't be in force "
            "from one day or bear one name. Give another --edition and --in-force-from, or --replace to put this file in its place."
        )
    return [batch for _, _, batch in same]


def _earlier_imports(registers: Registers, kind: str, found: Layer, operator: str | None, replace: bool) -> list[str]:
    """Return the batches that this import takes the place of; a second import of one file is refused."""
    same, name = registers.find_batches(kind, found.name, operator, sha256=found.sha256), found.path.name
    if same and not replace:
        raise InputError(
            f"{name} was imported already for this operator (batch {', '.join(same)}): a second import would charge its "
            "metres twice. Nothing was changed. Give --replace to put this import in its place."
        )
    if not replace:
        return []
    earlier = same or registers.find_batches(kind, found.name, operator, file=name)
    if not earlier:
        raise InputError(
            f"--replace: no earlier import of {name} (layer {found.name}) for this operator is in force: nothing would be replaced, "
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


def _with_repairs(reading: Reading, zones: gpd.GeoDataFrame, refused: Any, repairs: Any) -> Reading:
    aside = tuple(sorted((*reading.set_aside, *refused), key=lambda s: s.row))
    bounds = tuple(map(float, zones.total_bounds)) if len(zones) else None
    return replace(reading, accepted=zones, set_aside=aside, findings=(*reading.findings, *repairs), bounds=bounds)  # type: ignore[arg-type]


def _report(reading: Reading, found: Layer, batch: str | None, extra: dict[str, Any]) -> ImportReport:
    return ImportReport(
        batch=batch,
        sha256=found.sha256,
        read=reading.read,
        accepted=len(reading.accepted),
        set_aside=reading.set_aside,
        length_m=f"{reading.length_m:f}",
        bounds=reading.bounds,
        crs=reading.crs,
        findings=tuple(dict.fromkeys((*found.findings, *reading.findings))),
        extra=extra,
    )


def _open(workspace: Workspace, connection: Connection) -> tuple[Registers, Cadastre]:
    database = workspace.database
    return Registers(connection, database.tables), Cadastre(connection, database.tables, database.srid)
