"""Pieces to charges to lines: here, and only here, frames become exact decimals."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any

import geopandas as gpd
import pandas as pd

from geobill.domain.dates import BillingMonth
from geobill.domain.invoice import AmountIf, Basis, Bill, Books, Decision, Exempt, Held, Line, OperatorBill
from geobill.domain.network import PLANNED, Operator
from geobill.domain.suspension import SuspensionFile
from geobill.errors import BooksDontCloseError, InputError
from geobill.frames import EQUIPMENT, SEGMENTS, check_columns
from geobill.law.policy import Policy, decided_reducer
from geobill.law.statutes.street_use import StreetUseLaw
from geobill.pricing.in_force import due_rows, since_the_law
from geobill.pricing.lines import ZERO_M, Prices, Stretch, printing_order
from geobill.pricing.network import CutNetwork, Measured, cut_network, exact_lengths
from geobill.pricing.piece_frames import CABINETS, PIECES, cabinet_frame, piece_frame, stacked
from geobill.pricing.scopes import PAYER_HELD, Scope, hold_with_payers, scopes
from geobill.pricing.split import HELD_OVERLAP
from geobill.pricing.suspended import Courts, Taken
from geobill.pricing.whole_month import cabinets_of, whole_month

HELD_REASONS = {
    HELD_OVERLAP: "the value map gives two values for this place; set on_overlap, or correct the map",
    "no_zone": "no zone of the value map covers this place or lies within max_gap_m of it (art. {article} prices it by the map); "
    "complete the map, or raise max_gap_m",
    PAYER_HELD: "the line that pays for this strip (same_strip = once) is held: its permit is above 100 km",
}


@dataclass(frozen=True)
class PricedMonth:
    """The bill of a month and the pieces under it.

    ``pieces`` has one row for each priced or held piece: ``segment``, ``operator``, ``zone`` (None where held),
    ``length_m``, ``land_value``, ``billed_width_m``, ``amount_exact`` (whole month, unrounded), ``held``, ``flags`` and
    ``line`` (number of the operator's line, from 1). Figures are Decimal. ``priced_with`` names the segment that pays
    for it where a shared strip pays once: such a piece stands on no line. ``geometry`` is where it lies, if that was
    asked for. ``cabinets`` has one row for each charged cabinet, likewise. ``suspended`` names the court's order that keeps
    a row from being demanded: it stands on no line of the invoice either. What is suspended on some days only, or only
    in its doubling (``takes``), has several rows of the same ``stretch``. ``cut`` is the network as it was cut.
    """

    bill: Bill
    pieces: pd.DataFrame
    cabinets: pd.DataFrame
    cut: CutNetwork


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
    decrees: Mapping[str, date] | None = None,
    cut: CutNetwork | None = None,
    suspensions: Iterable[SuspensionFile] = (),
) -> PricedMonth:
    """Price a month: every operator's lines, what is held, exempt and suspended by a court, and sums that close.

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
    decrees : mapping of permit to date, optional
        Day on which each permit's decree was published; rows without one by the month's last day are flagged
        ``no_decree`` (art. 16). Without the mapping those are the rows that name no permit.
    cut : CutNetwork, optional
        The segments already cut over these zones under this policy: many months of one network are cut once.
    suspensions : iterable of SuspensionFile
        Orders of courts in the order in which they were recorded; see :mod:`geobill.pricing.suspended`.

    Returns
    -------
    PricedMonth

    Raises
    ------
    BooksDontCloseError
        If features or metres stored aren't those priced, held, exempt and suspended.
    LawError, PolicyError
        If the law wasn't in force, or the policy rests on a decision that isn't recorded.
    """
    check_columns(segments, SEGMENTS, "The frame of segments")
    check_columns(equipment, EQUIPMENT, "The frame of equipment")
    prices = Prices(law, month, policy, decrees)
    above_100_km = decided_reducer(policy, decisions)
    segments, equipment = (since_the_law(f, month, law.figures.published_on) for f in (segments, equipment))
    due = due_rows(segments, month, policy)
    due_equipment = due_rows(equipment, month, policy)
    planned = segments[segments["status"] == PLANNED]
    cut = cut or cut_network(segments.loc[due.index.union(planned.index)], zones, policy)
    courts = Courts(prices, suspensions, operators)
    measured = cut.measure(due, prices, located=located, areas=courts.areas(due))
    lengths = measured.lengths_m
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
        bill, pieces, charged = _price_operator(operator, mine, cabinets, cut, measured, prices, above_100_km, courts)
        bills.append(bill)
        held += bill.held
        frames.append(pieces)
        boxes.append(charged)
    not_due = segments.drop(due.index)
    aside = (len(not_due) + len(equipment) - len(due_equipment), sum(exact_lengths(not_due, policy).values(), ZERO_M))
    bill = Bill(
        month=month,
        basis=basis,
        operators=tuple(b for b in bills if isinstance(b, OperatorBill)),
        held=tuple(held),
        exempt=tuple(exempt),
        features=_total([b.features for b in bills], len(due) + len(due_equipment), aside[0]),
        metres=_total([b.metres for b in bills], sum(lengths.values(), ZERO_M), aside[1]),
        suspended=tuple(s for b in bills if isinstance(b, OperatorBill) for s in b.suspended),
    )
    return PricedMonth(bill, stacked(frames, PIECES), stacked(boxes, CABINETS), cut)


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
    cut: CutNetwork,
    measured: Measured,
    prices: Prices,
    above_100_km: Decimal | None,
    courts: Courts,
) -> tuple[OperatorBill, pd.DataFrame, pd.DataFrame]:
    found = scopes(mine, measured, prices, above_100_km)
    measured, taken = hold_with_payers(found, measured), Taken()
    held = tuple(h for scope in found for h in _held(operator, scope, measured, prices))
    measured = courts.suspend(mine, found, measured, taken)
    boxes = courts.suspend_cabinets(cabinets, cabinets_of(cabinets, prices), taken)
    orders = (None, *(o.suspension.id for o in courts.orders))
    network = {order: _network_lines(order, found, measured, prices) for order in orders}
    equipment = {order: prices.equipment_lines(b for b in boxes if b.suspension == order) for order in orders}
    by_order = {order: (*network[order].values(), *equipment[order].values()) for order in orders}
    lines = by_order.pop(None)
    features, held_rows = len(mine) + len(cabinets), _held_rows(found, measured)
    suspended_features = len(taken.labels - held_rows) + taken.cabinets
    elsewhere = sum((s.length_m for scope in found for s in scope.stretches(measured) if _is_paid(scope, s)), ZERO_M)
    zero = Decimal(0)
    bill = OperatorBill(
        operator=operator,
        lines=lines,
        total=sum((line.amount for line in lines), ZERO_M),
        reducer=found[0].reducer if prices.policy.reducer_scope == "operator" else None,
        network_length_m=sum((scope.extension_m for scope in found), ZERO_M),
        held=held,
        metres=_closed(
            Books(
                stored=sum((measured.lengths_m[i] for i in mine.index), ZERO_M),
                priced=sum((line.length_m or ZERO_M for line in lines), ZERO_M) - taken.again_m + elsewhere,
                held=sum((h.length_m for h in held), ZERO_M),
                exempt=ZERO_M,
                suspended=taken.metres,
                not_due=ZERO_M,
            ),
            f"metres of {operator.id}",
        ),
        features=Books(
            stored=Decimal(features),
            priced=Decimal(features - len(held_rows) - suspended_features),
            held=Decimal(len(held_rows)),
            exempt=zero,
            suspended=Decimal(suspended_features),
            not_due=zero,
        ),
        whole_month=whole_month(prices, mine, cabinets, cut, above_100_km),
        suspended=courts.records(operator.id, by_order, taken),
    )
    charged = cabinet_frame(operator.id, boxes, equipment, len(network[None]), prices)
    return bill, piece_frame(operator.id, found, measured, network, prices), charged


def _network_lines(
    order: str | None, found: list[Scope], measured: Measured, prices: Prices
) -> dict[tuple[Any, ...], Line]:
    """Lines of what is demanded, or of what an order takes, over all scopes in printing order."""
    lines: dict[tuple[Any, ...], Line] = {}
    for scope in found:
        if scope.reducer is not None:
            mine = (s for s in scope.stretches(measured) if s.suspension == order)
            lines |= prices.network_lines(mine, scope.reducer)
    return {group: lines[group] for group in sorted(lines, key=printing_order)}


def _is_paid(scope: Scope, stretch: Stretch) -> bool:
    """Whether another line pays for a stretch (``same_strip = once``); what is held for R waits with its scope."""
    return stretch.payer is not None and not stretch.held and scope.silence is None


def _held_rows(found: list[Scope], measured: Measured) -> set[Any]:
    return {
        label
        for scope in found
        for label in scope.labels
        if scope.silence is not None or any(s.held for s in measured.stretches[label])
    }


def _held(operator: Operator, scope: Scope, measured: Measured, prices: Prices) -> tuple[Held, ...]:
    """Each held metre once, for the first reason of: R, an overlap, no zone."""
    pieces, silence = scope.stretches(measured), scope.silence
    if silence is not None:
        valued = prices.network_lines(pieces, silence.suggestion) if silence.suggestion else {}
        would_be = sum((line.amount for line in valued.values()), ZERO_M)
        total_m = sum((s.length_m for s in pieces), ZERO_M)
        amount_if = AmountIf(f"R = {silence.suggestion}, the last bracket of art. {silence.article}", would_be)
        whose = f"permit {scope.permit}: " if scope.permit is not None else "rows without a permit: "
        reason = f"{whose if prices.policy.reducer_scope == 'permit' else ''}{silence.reason}"
        return (Held(operator.id, None, silence.code, reason, silence.article, total_m, amount_if),)
    metres: dict[tuple[str, str], Decimal] = defaultdict(lambda: ZERO_M)
    for s in pieces:
        if s.held:
            metres[s.segment, s.held] += s.length_m
    article = prices.law.article("land_value", prices.on)
    return tuple(
        Held(operator.id, segment, code, HELD_REASONS[code].format(article=article), article, m)
        for (segment, code), m in metres.items()
    )


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
