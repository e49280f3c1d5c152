"""Pieces to charges to lines: here, and only here, frames become exact decimals."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

import geopandas as gpd
import pandas as pd

from geobill.domain.dates import BillingMonth
from geobill.domain.invoice import AmountIf, Basis, Bill, Books, Decision, Exempt, Held, Line, OperatorBill, WholeMonth
from geobill.domain.network import Operator
from geobill.errors import BooksDontCloseError, InputError
from geobill.frames import EQUIPMENT, SEGMENTS, check_columns, plan_lengths, whole_units
from geobill.law.charge import Silence
from geobill.law.policy import Policy, decided_reducer
from geobill.law.statutes.caieiras_lei_3057_2001 import StreetUseLaw
from geobill.pricing.cut import Rules
from geobill.pricing.in_force import due_rows, standing_rows, text
from geobill.pricing.lines import NO_DECREE, ZERO_M, Cabinet, Prices, Stretch
from geobill.pricing.split import HELD_OVERLAP, split_segments

HELD_REASONS = {
    HELD_OVERLAP: "the value map gives two values for this place; set on_overlap, or correct the map",
    "no_zone": "no zone of the value map covers this place or lies within max_gap_m of it; art. 7 prices it by the map",
}


@dataclass(frozen=True)
class PricedMonth:
    """The bill of a month and the pieces under it.

    ``pieces`` has one row for each priced or held piece: ``segment``, ``operator``, ``zone`` (None where held),
    ``length_m``, ``land_value``, ``billed_width_m``, ``amount_exact`` (whole month, unrounded), ``held``, ``flags`` and
    ``line`` (number of the operator's line, from 1). Figures are Decimal. ``geometry`` is where it
    lies, if that was asked for. ``cabinets`` has one row for each charged cabinet, likewise.
    """

    bill: Bill
    pieces: pd.DataFrame
    cabinets: pd.DataFrame


def price_segments(
    month: BillingMonth,
    segments: gpd.GeoDataFrame,
    equipment: pd.DataFrame,
    zones: gpd.GeoDataFrame,
    operators: Mapping[str, Operator],
    law: StreetUseLaw,
    policy: Policy,
    decisions: Mapping[str, Decision],
    basis: Basis,
    located: bool = False,
) -> PricedMonth:
    """Price a month: every operator's lines, what is held and exempt, and sums that close.

    Parameters
    ----------
    month : BillingMonth
    segments : GeoDataFrame
        Stored segments by ``frames.SEGMENTS``, in the workspace's system, in force in the month or not.
    equipment : DataFrame
        Stored equipment by ``frames.EQUIPMENT``.
    zones : GeoDataFrame
        Zones of the edition in force on the first day of the month, by ``frames.ZONES``, valid.
    operators : mapping of id to Operator
    law, policy, decisions, basis
        The statute, the policy, the recorded decisions by id, and what the bill was computed from.
    located : bool
        Whether the pieces carry their geometry.

    Returns
    -------
    PricedMonth

    Raises
    ------
    BooksDontCloseError
        If features or metres stored aren't those priced, held and exempt.
    LawError, PolicyError
        If the law wasn't in force, or the policy rests on a decision that isn't recorded.
    """
    check_columns(segments, SEGMENTS, "The frame of segments")
    check_columns(equipment, EQUIPMENT, "The frame of equipment")
    prices = Prices(law, month, policy)
    above_100_km = decided_reducer(policy, decisions)
    due = due_rows(segments, month, policy)
    due_equipment = due_rows(equipment, month, policy)
    stretches = _stretches(due, zones, prices, located)
    lengths = _metres(due, policy)
    bills, held, exempt, frames, boxes = [], [], [], [], []
    for owner in sorted(set(due["operator"]) | set(due_equipment["operator"])):
        operator = operators.get(owner)
        if operator is None:
            raise InputError(
                f"Stored rows belong to the operator {owner!r}, whom the workspace doesn't know: add the operator first."
            )
        mine, cabinets = due[due["operator"] == owner], due_equipment[due_equipment["operator"] == owner]
        total_m = sum((lengths[i] for i in mine.index), ZERO_M)
        article = law.exemption(operator.kind)
        if article:
            exempt.append(
                Exempt(owner, "public-law entity of this municipality: the law doesn't apply", article, total_m)
            )
            bills.append(_exempt_books(len(mine) + len(cabinets), total_m))
            continue
        bill, pieces, charged = _price_operator(operator, mine, cabinets, stretches, lengths, prices, above_100_km)
        bills.append(bill)
        held += bill.held
        frames.append(pieces)
        boxes.append(charged)
    not_due = segments.drop(due.index)
    aside = (len(not_due) + len(equipment) - len(due_equipment), sum(_metres(not_due, policy).values(), ZERO_M))
    bill = Bill(
        month=month,
        basis=basis,
        operators=tuple(b for b in bills if isinstance(b, OperatorBill)),
        held=tuple(held),
        exempt=tuple(exempt),
        features=_total([b.features for b in bills], len(due) + len(due_equipment), aside[0]),
        metres=_total([b.metres for b in bills], sum(lengths.values(), ZERO_M), aside[1]),
    )
    return PricedMonth(bill, _stacked(frames, PIECES), _stacked(boxes, CABINETS))


def _stacked(frames: list[pd.DataFrame], columns: tuple[str, ...]) -> pd.DataFrame:
    filled = [f for f in frames if len(f)]
    return pd.concat(filled, ignore_index=True) if filled else pd.DataFrame(columns=list(columns))


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


@dataclass(frozen=True)
class _ExemptBooks:
    features: Books
    metres: Books


def _exempt_books(features: int, metres: Decimal) -> _ExemptBooks:
    zero = Decimal(0)
    return _ExemptBooks(
        Books(Decimal(features), zero, zero, Decimal(features), zero, zero),
        Books(metres, ZERO_M, ZERO_M, metres, ZERO_M, ZERO_M),
    )


def _price_operator(
    operator: Operator,
    mine: gpd.GeoDataFrame,
    cabinets: pd.DataFrame,
    stretches: Mapping[Any, list[Stretch]],
    lengths: Mapping[Any, Decimal],
    prices: Prices,
    above_100_km: Decimal | None,
) -> tuple[OperatorBill, pd.DataFrame, pd.DataFrame]:
    pieces = [s for i in mine.index for s in stretches[i]]
    extension = _extension(mine, lengths, prices)
    found = prices.law.reducer(extension, prices.month.first_day)
    silence = found if isinstance(found, Silence) and above_100_km is None else None
    reducer = above_100_km if isinstance(found, Silence) else found
    held = _held(operator, pieces, silence, prices)
    by_group = {} if reducer is None else prices.network_lines((s for s in pieces if not s.held), reducer)
    boxes = _cabinets(cabinets, prices)
    box_lines = prices.equipment_lines(boxes)
    lines = (*by_group.values(), *box_lines.values())
    held_features = len({i for i in mine.index if any(s.held for s in stretches[i])}) if silence is None else len(mine)
    features, stored = len(mine) + len(cabinets), sum((lengths[i] for i in mine.index), ZERO_M)
    zero = Decimal(0)
    bill = OperatorBill(
        operator=operator,
        lines=lines,
        total=sum((line.amount for line in lines), ZERO_M),
        reducer=reducer,
        network_length_m=extension,
        held=held,
        metres=_closed(
            Books(
                stored=stored,
                priced=sum((line.length_m or ZERO_M for line in lines), ZERO_M),
                held=sum((h.length_m for h in held), ZERO_M),
                exempt=ZERO_M,
                suspended=ZERO_M,
                not_due=ZERO_M,
            ),
            f"metres of {operator.id}",
        ),
        features=Books(Decimal(features), Decimal(features - held_features), Decimal(held_features), zero, zero, zero),
        whole_month=_whole_month(mine, cabinets, stretches, lengths, prices, above_100_km),
    )
    charged = _cabinet_frame(operator.id, boxes, box_lines, len(by_group), prices)
    return bill, _piece_frame(operator.id, pieces, by_group, silence, prices), charged


def _extension(mine: gpd.GeoDataFrame, lengths: Mapping[Any, Decimal], prices: Prices) -> Decimal:
    counts = prices.policy.clandestine_counts_in_reducer
    return sum((lengths[i] for i, s in mine["status"].items() if prices.law.counts_in_reducer(s, counts)), ZERO_M)


def _held(operator: Operator, pieces: list[Stretch], silence: Silence | None, prices: Prices) -> tuple[Held, ...]:
    """Each held metre once, for the first reason of: the operator's R, an overlap, no zone."""
    if silence is not None:
        valued = (
            prices.network_lines((s for s in pieces if not s.held), silence.suggestion) if silence.suggestion else {}
        )
        would_be = sum((line.amount for line in valued.values()), ZERO_M)
        total_m = sum((s.length_m for s in pieces), ZERO_M)
        amount_if = AmountIf(f"R = {silence.suggestion}, the last bracket of art. {silence.article}", would_be)
        return (Held(operator.id, None, silence.code, silence.reason, silence.article, total_m, amount_if),)
    metres: dict[tuple[str, str], Decimal] = defaultdict(lambda: ZERO_M)
    for s in pieces:
        if s.held:
            metres[s.segment, s.held] += s.length_m
    return tuple(Held(operator.id, segment, code, HELD_REASONS[code], "7", m) for (segment, code), m in metres.items())


def _whole_month(
    mine: gpd.GeoDataFrame,
    cabinets: pd.DataFrame,
    stretches: Mapping[Any, list[Stretch]],
    lengths: Mapping[Any, Decimal],
    prices: Prices,
    above_100_km: Decimal | None,
) -> WholeMonth:
    """Price of a whole month for what stands on the last day, clandestine rows left out (arts. 3 § 2, 6 § 1, 8)."""
    on = prices.month.last_day
    standing, boxes = standing_rows(mine, on), standing_rows(cabinets, on)
    extension = sum((lengths[i] for i in standing.index), ZERO_M)
    found = prices.law.reducer(extension, prices.month.first_day)
    reducer = above_100_km if isinstance(found, Silence) else found
    pieces = [replace(s, days=prices.month.days) for i in standing.index for s in stretches[i]]
    lines: list[Line] = []
    if reducer is not None:
        lines += prices.network_lines((s for s in pieces if not s.held), reducer).values()
    lines += prices.equipment_lines(replace(c, days=prices.month.days) for c in _cabinets(boxes, prices)).values()
    return WholeMonth(
        on=on,
        network_length_m=extension,
        reducer=reducer,
        lines=tuple(lines),
        held_m=sum((s.length_m for s in pieces if s.held or reducer is None), ZERO_M),
        total=None if reducer is None else sum((line.amount for line in lines), ZERO_M),
    )


def _metres(frame: gpd.GeoDataFrame, policy: Policy) -> dict[Any, Decimal]:
    units = whole_units(plan_lengths(frame.geometry.values), policy.length_precision_m)
    return {i: int(u) * policy.length_precision_m for i, u in zip(frame.index, units, strict=True)}


def _stretches(
    due: gpd.GeoDataFrame, zones: gpd.GeoDataFrame, prices: Prices, located: bool
) -> dict[Any, list[Stretch]]:
    policy, on = prices.policy, prices.month.first_day
    rules = Rules(policy.on_border, policy.on_overlap, float(policy.max_gap_m))
    pieces = split_segments(due, zones, rules=rules, precision_m=policy.length_precision_m, located=located)
    widths = {text: prices.law.billed_width(Decimal(text), on) for text in set(due["width_m"])}
    rows = list(due.itertuples())
    found: dict[Any, list[Stretch]] = {row.Index: [] for row in rows}
    for p in pieces.itertuples():
        row, zone = rows[p.row], text(p.zone)
        flags = p.flags if text(row.permit) else (*p.flags, NO_DECREE)
        found[row.Index].append(
            Stretch(
                segment=str(row.segment),
                service=text(row.service),
                permit=text(row.permit),
                status=row.status,
                zone=zone,
                land_value=p.land_value,
                length_m=int(p.units) * policy.length_precision_m,
                billed_width_m=widths[row.width_m],
                days=row.days,
                held=p.held,
                flags=flags,
                geometry=getattr(p, "geometry", None),
            )
        )
    return found


def _cabinets(frame: pd.DataFrame, prices: Prices) -> list[Cabinet]:
    return [
        Cabinet(
            equipment=str(row.equipment),
            service=text(row.service),
            permit=text(row.permit),
            status=row.status,
            volume_m3=Decimal(row.volume_m3),
            days=row.days,
            flags=() if text(row.permit) else (NO_DECREE,),
        )
        for row in frame.itertuples()
    ]


def _piece_frame(
    operator: str,
    pieces: list[Stretch],
    by_group: Mapping[tuple[Any, ...], Line],
    silence: Silence | None,
    prices: Prices,
) -> pd.DataFrame:
    number = {group: n for n, group in enumerate(by_group, 1)}
    rows = []
    for s in pieces:
        line = None if s.held else by_group.get(s.group())
        held = silence.code if silence else s.held
        rows.append(
            (
                s.segment,
                operator,
                s.zone if line else None,
                s.length_m,
                s.land_value if line else None,
                s.billed_width_m,
                prices.exact(s, line.reducer) if line and line.reducer is not None else None,
                held,
                s.flags,
                number[s.group()] if line else None,
                s.service,
                *(
                    (
                        line.location_index,
                        line.depreciation_index,
                        line.reducer,
                        line.multiplier,
                        line.days,
                        line.month_days,
                    )
                    if line
                    else (None,) * 6
                ),
                s.geometry,
            )
        )
    return pd.DataFrame(rows, columns=list(PIECES), dtype=object)


def _cabinet_frame(
    operator: str, boxes: list[Cabinet], by_group: Mapping[tuple[Any, ...], Line], before: int, prices: Prices
) -> pd.DataFrame:
    number = {group: n for n, group in enumerate(by_group, before + 1)}
    rows = []
    for box in boxes:
        line = by_group[box.group()]
        exact = prices.law.equipment(box.volume_m3, box.status, prices.month.first_day).exact
        figures = (line.multiplier, line.days, line.month_days, exact, box.flags)
        rows.append((box.equipment, operator, number[box.group()], box.volume_m3, *figures))
    return pd.DataFrame(rows, columns=list(CABINETS), dtype=object)


def _total(books: list[Books], stored: Any, not_due: Any) -> Books:
    """Sum of the operators' books against what is stored, counted on its own."""

    def add(name: str) -> Decimal:
        return sum((getattr(b, name) for b in books), Decimal(stored) * 0)

    what = "features of the month" if isinstance(stored, int) else "metres of the month"
    return _closed(
        Books(Decimal(stored), add("priced"), add("held"), add("exempt"), add("suspended"), Decimal(not_due)), what
    )


def _closed(books: Books, what: str) -> Books:
    if not books.close():
        rest = books.stored - books.priced - books.held - books.exempt - books.suspended
        raise BooksDontCloseError(
            f"The {what} don't add up: stored {books.stored} = priced {books.priced} + held {books.held} + exempt "
            f"{books.exempt} + suspended {books.suspended} leaves {rest}. Nothing was issued; please report this with the workspace."
        )
    return books
