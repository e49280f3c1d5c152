"""What many findings cost a month: when they are found, and anew when it is said whose they are; for the queue."""

from collections.abc import Collection, Sequence
from datetime import date
from decimal import Decimal
from typing import Any

import geopandas as gpd
import pandas as pd
from sqlalchemy import Connection

from geobill.domain.dates import BillingMonth
from geobill.domain.detection import FindingFile
from geobill.domain.finding import Finding
from geobill.frames import FOUND
from geobill.pipeline.beside import CANT_PRICE, Ground, borrowed_ground
from geobill.pipeline.finding_worth import MonthWorth, month_worths
from geobill.pipeline.month import Stored
from geobill.store.finding_queue import FindingQueue
from geobill.store.surveys import SurveyRegister
from geobill.store.workspace import Workspace


def price_findings(
    stored: Stored, found: gpd.GeoDataFrame, month: BillingMonth, default_width_m: Decimal | None
) -> tuple[list[Decimal | None], tuple[Finding, ...]]:
    """Price each finding for a whole month, once: what a bill of that month would ask for such a row, not doubled.

    Cut by the zones in force, with the operator's own R. Findings of one operator are taken as standing together, which
    matters only where two of them share a strip and the policy ``same_strip`` is ``once``.

    Parameters
    ----------
    stored : Stored
    found : GeoDataFrame
        By ``frames.FOUND``.
    month : BillingMonth
        The month whose figures, policy, R and edition count.
    default_width_m : Decimal, optional
        Width in metres of what the survey gives none for.

    Returns
    -------
    tuple
        Reais by finding, in their order, None where anything is held or unknown; and a warning where nothing could be
        priced. It refuses nothing: a detection without a map is one all the same.
    """
    ground = Ground(stored)
    worths = month_worths(ground, found, month, default_width_m, doubled=False)
    return [w.amount for w in worths], _warned(ground, month, found, worths)


def _warned(
    ground: Ground, month: BillingMonth, found: gpd.GeoDataFrame, worths: Sequence[MonthWorth]
) -> tuple[Finding, ...]:
    if not len(found):
        return ()
    if not ground.has_map(month):
        message = (
            f"no finding is priced: no edition of the Mapa de Valores is in force on {month.first_day.isoformat()} (art. 7), so what "
            "is at stake isn't known"
        )
        fix = "Import the edition (geobill import land-values … --in-force-from DATE), then compare again with --again."
        return (Finding("not_priced", "warning", message, fix),)
    why = next((w.why for w in worths if w.why == "no_law"), None)
    if why is not None:
        message = f"no finding is priced: {_refusal(ground, month)}"
        return (Finding("not_priced", "warning", message, "Mend that, then compare again with --again."),)
    return ()


def _refusal(ground: Ground, month: BillingMonth) -> str:
    try:
        ground.terms(month)
    except CANT_PRICE as refused:
        return str(refused)
    return ""


def price_anew(workspace: Workspace, connection: Connection, ids: Collection[str]) -> None:
    """Work out again what findings cost a month, for the operators whose they are now, and keep that for the queue.

    In the month of their survey and with its default width, as when they were found, beside the network as it is on record now.
    """
    if not ids:
        return
    register = SurveyRegister(connection, workspace.database.tables, workspace.database.srid)
    queue = FindingQueue(connection, workspace.database.tables, workspace.database.srid)
    files, surveys, shapes = register.load_files(ids), register.load_surveys(), queue.load_shapes(ids).set_index("id")
    amounts: dict[str, Decimal | None] = {}
    with borrowed_ground(workspace, connection) as ground:
        for id_ in dict.fromkeys(file.finding.survey for file in files.values()):
            survey, mine = surveys[id_], [file for file in files.values() if file.finding.survey == id_]
            found = as_found(mine, shapes.loc[[file.finding.id for file in mine]])
            month = BillingMonth.of(date.fromisoformat(survey.compared_on))
            worths = month_worths(ground, found, month, survey.default_width_m, doubled=False)
            amounts |= {file.finding.id: worth.amount for file, worth in zip(mine, worths, strict=True)}
    register.save_amounts(amounts)


def as_found(files: Sequence[FindingFile], shapes: gpd.GeoDataFrame) -> gpd.GeoDataFrame:
    """Return stored findings, their geometry in the same order, by ``frames.FOUND``: each of the operator whose it is now."""

    def exact(value: Any) -> Any:
        return f"{value:f}" if isinstance(value, Decimal) else value

    names = [c for c in FOUND if c not in ("geometry", "operator")]
    data = {c: pd.Series([exact(getattr(file.finding, c)) for file in files], dtype=object) for c in names}
    data["operator"] = pd.Series([file.operator for file in files], dtype=object)
    return gpd.GeoDataFrame(data, geometry=shapes.geometry.to_numpy(), crs=shapes.crs)
