"""The pieces and cabinets under a bill, as frames: one row each, with the factors of its line."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from geobill.domain.invoice import Line
from geobill.pricing.lines import Cabinet, Prices, Stretch
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
    "suspended",
    "takes",
    "stretch",
    "cases",
    "geometry",
)
CABINETS = (
    "equipment",
    "operator",
    "line",
    "volume_m3",
    "multiplier",
    "days",
    "month_days",
    "amount_exact",
    "flags",
    "suspended",
    "takes",
    "stretch",
    "cases",
)
WHOLE_PRICE, DOUBLING = "price", "doubling"  # what an order takes of a row


def stacked(frames: list[pd.DataFrame], columns: tuple[str, ...]) -> pd.DataFrame:
    """Frames one upon the other; an empty one with these columns where there is none."""
    filled = [f for f in frames if len(f)]
    return pd.concat(filled, ignore_index=True) if filled else pd.DataFrame(columns=list(columns))


def piece_frame(
    operator: str,
    found: Sequence[Scope],
    measured: Measured,
    by_order: Mapping[str | None, Mapping[tuple[Any, ...], Line]],
    prices: Prices,
) -> pd.DataFrame:
    """Pieces of one operator, priced, held and suspended (columns ``PIECES``); what another segment pays for is priced with it at 0.

    ``by_order`` has the lines by their group: those of the invoice under None, those that a court suspends under its
    order's id. ``stretch`` numbers the operator's pieces from 1: rows of one number are the same metres.
    """
    number = {group: n for n, group in enumerate(by_order[None], 1)}
    rows, stretch = [], 0
    for scope in found:
        for s in scope.stretches(measured):
            held = scope.silence.code if scope.silence else s.held
            priced = not held
            line = by_order[s.suspension][s.group()] if priced and s.payer is None else None
            exact = prices.exact(s, scope.reducer) if priced and scope.reducer is not None else None
            names = ("location_index", "depreciation_index", "reducer", "multiplier", "days", "month_days")
            stretch += not s.again
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
                    number[s.group()] if line and s.suspension is None else None,
                    s.service,
                    *(getattr(line, name) if line else None for name in names),
                    s.suspension,
                    _takes(s),
                    stretch,
                    s.cases,
                    s.geometry,
                )
            )
    return pd.DataFrame(rows, columns=list(PIECES), dtype=object)


def cabinet_frame(
    operator: str,
    boxes: Sequence[Cabinet],
    by_order: Mapping[str | None, Mapping[tuple[Any, ...], Line]],
    before: int,
    prices: Prices,
) -> pd.DataFrame:
    """Cabinets of one operator, charged and suspended (columns ``CABINETS``); ``before`` is how many lines stand before theirs.

    ``stretch`` is the place of the cabinet among the operator's, from 1.
    """
    number = {group: n for n, group in enumerate(by_order[None], before + 1)}
    rows, place = [], 0
    for box in boxes:
        line = by_order[box.suspension][box.group()]
        exact = prices.equipment(box.volume_m3, box.status, box.less).exact
        figures = (line.multiplier, line.days, line.month_days, exact, box.flags)
        place += not box.again
        charged = number[box.group()] if box.suspension is None else None
        taken = (box.suspension, _takes(box), place, box.cases)
        rows.append((box.equipment, operator, charged, box.volume_m3, *figures, *taken))
    return pd.DataFrame(rows, columns=list(CABINETS), dtype=object)


def _takes(row: Stretch | Cabinet) -> str | None:
    if row.suspension is None:
        return None
    return WHOLE_PRICE if row.less is None else DOUBLING
