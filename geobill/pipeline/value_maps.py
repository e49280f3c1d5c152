"""An edition of the Mapa de Valores in: zones and the priced coverage drawn from them, all or nothing."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from dataclasses import replace as replaced
from datetime import date
from pathlib import Path
from typing import Any

from geobill.domain.finding import ImportReport
from geobill.errors import InputError
from geobill.intake.coverage import coverage_summary, draw_coverage
from geobill.intake.land_values import read_land_values, settle_zones
from geobill.intake.reader import read_layer
from geobill.intake.reading import Options, Part
from geobill.intake.value_tables import ValueTable, read_value_table
from geobill.intake.zones import overlap_report
from geobill.pipeline.imports import open_stores, report_of
from geobill.pipeline.kept_options import options_text
from geobill.pipeline.place import place_of
from geobill.pipeline.quarantine import load_quarantine, write_quarantine
from geobill.store.networks import Cadastre
from geobill.store.workspace import Workspace


@dataclass(frozen=True)
class ValuesFile:
    """A table of values beside a map: its file, its layer or sheet, its columns, and the year that is taken.

    Without a year, that of the edition's first day.
    """

    path: Path
    layer: str | None = None
    mapping: Mapping[str, str] = field(default_factory=dict)
    year: int | None = None


def import_land_values(
    workspace: Workspace,
    path: Path,
    layer: str | None,
    options: Options,
    edition: str,
    in_force_from: date,
    *,
    values: ValuesFile | None = None,
    replace: bool,
    dry_run: bool,
    now: str,
) -> ImportReport:
    """Read an edition of the Mapa de Valores and keep its zones and the priced coverage drawn from them."""
    policy = workspace.settings.policy
    found = read_layer(path, layer, options.encoding)
    table = None if values is None else _read_table(values, options, in_force_from)
    with (workspace.database.read if dry_run else workspace.database.write)() as connection:
        _, batches, cadastre = open_stores(workspace, connection)
        earlier = _earlier_editions(cadastre, edition, in_force_from, replace)
        reading = read_land_values(found, options, place_of(workspace), table)
        reading, zones = settle_zones(reading, float(policy.max_gap_m), path.name)
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
        batch = None if dry_run else batches.new_id()
        extra: dict[str, Any] = {"coverage": coverage_summary(coverage, overlaps)}
        if values is not None and table is not None:
            extra["values"] = {"file": values.path.name, "sha256": table.sha256, "zones": len(table.values)}
        report = report_of(reading, found.sha256, batch, extra)
        if batch is not None:
            batches.save(
                report, kind="land_values", file=path.name, layer=found.name, operator=None, replaces=earlier,
                aside=reading.aside, now=now, format_=found.format, encoding=found.encoding,
                options=options_text([Part(found, options)]),
            )  # fmt: skip
            cadastre.save_zones(zones, batch, edition, in_force_from, now)
            cadastre.save_coverage(coverage, batch, policy.on_overlap, policy.as_text()["max_gap_m"], now)
        quarantine = load_quarantine(workspace, connection, batch, now) if batch is not None else None
    return replaced(report, quarantine=write_quarantine(workspace, quarantine, batch or ""))


def _earlier_editions(cadastre: Cadastre, edition: str, in_force_from: date, replace: bool) -> list[str]:
    same = [(n, d, b) for n, d, b in cadastre.find_editions() if n == edition or d == in_force_from]
    if same and not replace:
        name, day, batch = same[0]
        raise InputError(
            f"The edition {name!r}, in force from {day.isoformat()} (batch {batch}), is there already: two maps can't be in force "
            "from one day or bear one name. Give another --edition and --in-force-from, or --replace to put this file in its place."
        )
    return [batch for _, _, batch in same]


def _read_table(values: ValuesFile, options: Options, in_force_from: date) -> ValueTable:
    if "zone" not in options.mapping:
        raise InputError(
            "--values gives a value by zone, and nothing says which column of the map holds the zone: add --map zone=COLUMN."
        )
    year = values.year or in_force_from.year
    return read_value_table(read_layer(values.path, values.layer), values.mapping, options.mapping["zone"], year)
