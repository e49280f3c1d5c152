"""An edition of the Mapa de Valores in: zones and the priced coverage drawn from them, all or nothing."""

from dataclasses import replace as changed
from datetime import date
from pathlib import Path
from typing import Any

import geopandas as gpd

from geobill.domain.finding import ImportReport
from geobill.errors import InputError
from geobill.intake.coverage import coverage_summary, draw_coverage
from geobill.intake.land_values import read_land_values
from geobill.intake.reader import read_layer
from geobill.intake.reading import Options, Reading
from geobill.intake.zones import overlap_report, repair_zones
from geobill.pipeline.imports import open_stores, report_of
from geobill.store.networks import Cadastre
from geobill.store.workspace import Workspace


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
        registers, cadastre = open_stores(workspace, connection)
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
        report = report_of(reading, found.sha256, batch, {"coverage": coverage_summary(coverage, overlaps)})
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


def _with_repairs(reading: Reading, zones: gpd.GeoDataFrame, refused: Any, repairs: Any) -> Reading:
    aside = tuple(sorted((*reading.set_aside, *refused), key=lambda s: s.row))
    bounds = tuple(map(float, zones.total_bounds)) if len(zones) else None
    return changed(reading, accepted=zones, set_aside=aside, findings=(*reading.findings, *repairs), bounds=bounds)  # type: ignore[arg-type]
