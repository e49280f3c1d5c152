"""The pieces and cabinets under a bill, as frames: one row each, with the factors of its line."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from geobill.domain.invoice import Line
from geobill.pricing.lines import Cabinet, Prices
from geobill.pricing.network import Measured
from geobill.pricing.scopes import Scope

PIECES = (
    "segment",
    "operator",
    "zone",
    "length_m",
    "land_value",
    "billed_width_m",
    "amount_exact",
    "held",
    "flags",
    "priced_with",
    "line",
    "service",
    "location_index",
    "depreciation_index",
    "reducer",
    "multiplier",
    "days",
    "month_days",
    "geometry",
)
CABINETS = ("equipment", "operator", "line", "volume_m3", "multiplier", "days", "month_days", "amount_exact", "flags")


def stacked(frames: list[pd.DataFrame], columns: tuple[str, ...]) -> pd.DataFrame:
    """Frames one upon the other; an empty one with these columns where there is none."""
    filled = [f for f in frames if len(f)]
    return pd.concat(filled, ignore_index=True) if filled else pd.DataFrame(columns=list(columns))


def piece_frame(
    operator: str,
    found: Sequence[Scope],
    measured: Measured,
    by_group: Mapping[tuple[Any, ...], Line],
    prices: Prices,
) -> pd.DataFrame:
    """Pieces of one operator, priced and held (columns ``PIECES``); what another segment pays for is priced with it at 0."""
    number = {group: n for n, group in enumerate(by_group, 1)}
    rows = []
    for scope in found:
        for s in scope.stretches(measured):
            held = scope.silence.code if scope.silence else s.held
            priced = not held
            line = by_group[s.group()] if priced and s.payer is None else None
            exact = prices.exact(s, scope.reducer) if priced and scope.reducer is not None else None
            names = ("location_index", "depreciation_index", "reducer", "multiplier", "days", "month_days")
            rows.append(
                (
                    s.segment,
                    operator,
                    s.zone if priced else None,
                    s.length_m,
                    s.land_value if priced else None,
                    s.billed_width_m,
                    exact,
                    held,
                    s.flags,
                    s.payer if priced else None,
                    number[s.group()] if line else None,
                    s.service,
                    *(getattr(line, name) if line else None for name in names),
                    s.geometry,
                )
            )
    return pd.DataFrame(rows, columns=list(PIECES), dtype=object)


def cabinet_frame(
    operator: str, boxes: list[Cabinet], by_group: Mapping[tuple[Any, ...], Line], before: int, prices: Prices
) -> pd.DataFrame:
    """Charged cabinets of one operator (columns ``CABINETS``); ``before`` is how many lines stand before theirs."""
    number = {group: n for n, group in enumerate(by_group, before + 1)}
    cumulate = prices.policy.doublings_cumulate
    rows = []
    for box in boxes:
        line = by_group[box.group()]
        exact = prices.law.equipment(box.volume_m3, box.status, prices.on, cumulate=cumulate).exact
        figures = (line.multiplier, line.days, line.month_days, exact, box.flags)
        rows.append((box.equipment, operator, number[box.group()], box.volume_m3, *figures))
    return pd.DataFrame(rows, columns=list(CABINETS), dtype=object)
