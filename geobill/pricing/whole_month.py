"""The price of a whole month on one day: what a decree grants, what a deposit and the yearly payment are taken of."""

from collections.abc import Callable, Collection
from datetime import date
from decimal import Decimal
from typing import Any

import geopandas as gpd
import pandas as pd

from geobill.domain.dates import BillingMonth
from geobill.domain.invoice import Line, WholeMonth
from geobill.domain.network import PLANNED, Operator
from geobill.domain.ratio import Ratio
from geobill.law.policy import Policy
from geobill.law.statutes.street_use import StreetUseLaw
from geobill.pricing.cased import CASES
from geobill.pricing.in_force import standing_rows, text
from geobill.pricing.lines import ZERO_M, Cabinet, Prices, printing_order
from geobill.pricing.network import CutNetwork, cut_network
from geobill.pricing.scopes import hold_with_payers, scopes


def price_permit(
    on: date,
    permit: str | None,
    operator: Operator,
    segments: gpd.GeoDataFrame,
    equipment: pd.DataFrame,
    zones: gpd.GeoDataFrame,
    law: StreetUseLaw,
    policy: Policy,
    above_100_km: Decimal | None,
    registered: Collection[str] = (),
    cut: CutNetwork | None = None,
) -> WholeMonth:
    """Price a whole month of a permit's rows on a day, planned ones included (arts. 3 § 2, 6 § 1, 8).

    Doubled rows are left out: a decree doesn't grant them, and doubling lasts only until the irregularity ends (art. 10
    § 2). What is planned under this permit counts in R, what is planned under others doesn't.

    Parameters
    ----------
    on : date
        Day whose figures of law apply and on which rows stand.
    permit : str or None
        None for the rows that name none of the ``registered`` permits.
    operator : Operator
    segments, equipment : frames by ``frames.SEGMENTS`` and ``frames.EQUIPMENT``
        Statuses already follow the permits; rows of other operators are left aside.
    zones : GeoDataFrame
        Zones of the edition in force on that day.
    law, policy, above_100_km
        ``above_100_km`` is the decided R (art. 15), None where it is held.
    registered : collection of str
        Numbers of the permits that the workspace knows.
    cut : CutNetwork, optional
        The segments already cut over these zones.

    Returns
    -------
    WholeMonth
        ``network_length_m`` is the extension that sets R; ``lines`` are the permit's own.
    """
    prices = Prices(law, BillingMonth.of(on), policy, on=on)
    rows = standing_rows(segments[segments["operator"] == operator.id], on, permit)
    boxes = standing_rows(equipment[equipment["operator"] == operator.id], on, permit)
    cut = cut or cut_network(rows, zones, policy)

    def granted(named: str | None) -> bool:
        return named == permit if permit is not None else named not in registered

    return _price(on, permit, rows, boxes, cut, prices, above_100_km, granted)


def whole_month(
    prices: Prices, rows: gpd.GeoDataFrame, cabinets: pd.DataFrame, cut: CutNetwork, above_100_km: Decimal | None
) -> WholeMonth:
    """Price a whole month of all that stands on the month's last day, whatever its permit, doubled rows left out."""
    on = prices.month.last_day
    standing, boxes = standing_rows(rows, on), standing_rows(cabinets, on)
    return _price(on, None, standing, boxes, cut, prices, above_100_km, lambda _: True)


def _price(
    on: date,
    permit: str | None,
    rows: gpd.GeoDataFrame,
    boxes: pd.DataFrame,
    cut: CutNetwork,
    prices: Prices,
    above_100_km: Decimal | None,
    is_asked_for: Callable[[str | None], bool],
) -> WholeMonth:
    """Price the rows that are asked for; all rows decide about R and about shared strips."""
    measured = cut.measure(rows, prices)
    permits, status = rows["permit"].to_dict(), rows["status"].to_dict()
    lines: dict[tuple[Any, ...], Line] = {}
    reducers: list[Decimal | Ratio | None] = []
    held = planned = extension = ZERO_M
    silent = False
    found = scopes(rows, measured, prices, above_100_km)
    measured = hold_with_payers(found, measured)
    for scope in found:
        mine = [label for label in scope.labels if is_asked_for(text(permits[label]))]
        if not mine and prices.policy.reducer_scope == "permit":
            continue
        stretches = [s for label in mine for s in measured.stretches[label]]
        extension += scope.extension_m
        reducers.append(scope.reducer)
        planned += sum((measured.lengths_m[label] for label in mine if status[label] == PLANNED), ZERO_M)
        held += sum((s.length_m for s in stretches if s.held or scope.reducer is None), ZERO_M)
        if scope.reducer is None:
            silent = silent or bool(mine)
        else:
            lines |= prices.network_lines(stretches, scope.reducer)
    lines = {group: lines[group] for group in sorted(lines, key=printing_order)}
    asked = boxes[[is_asked_for(text(named)) for named in boxes["permit"]]] if len(boxes) else boxes
    lines |= prices.equipment_lines(cabinets_of(asked, prices))
    return WholeMonth(
        on=on,
        network_length_m=extension,
        reducer=reducers[0] if len(reducers) == 1 else None,
        lines=tuple(lines.values()),
        held_m=held,
        total=None if silent else sum((line.amount for line in lines.values()), ZERO_M),
        permit=permit,
        planned_m=planned,
    )


def cabinets_of(frame: pd.DataFrame, prices: Prices) -> list[Cabinet]:
    """Cabinets of a frame of rows with their days, as lines take them."""
    return [
        Cabinet(
            equipment=str(row.equipment),
            service=text(row.service),
            permit=text(row.permit),
            status=row.status,
            volume_m3=Decimal(row.volume_m3),
            days=row.days,
            flags=prices.decree_flags(text(row.permit)),
            cases=getattr(row, CASES, ()),
        )
        for row in frame.itertuples()
    ]
