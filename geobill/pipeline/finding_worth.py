"""What findings cost in a month, beside what is on record: cut, and priced as a bill of that month would."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from typing import Any

import geopandas as gpd
import pandas as pd

from geobill.domain.dates import BillingMonth
from geobill.domain.detection import LARGER, MISSING, MOVED, UNDECLARED_EQUIPMENT, WIDER
from geobill.domain.invoice import Line
from geobill.frames import EQUIPMENT, FOUND, SEGMENTS
from geobill.pipeline.beside import CANT_PRICE, Beside, Ground, MonthTerms, RowPrice, price_stretches
from geobill.pipeline.month import Stored
from geobill.pricing.in_force import text
from geobill.pricing.lines import ZERO_M, Cabinet, Prices
from geobill.pricing.network import Measured

CLANDESTINE, PERMITTED = "clandestine", "permitted"
ONE_M3 = Decimal(1)  # stands for the volume of a piece where the law charges by the piece
# why a finding has no price, besides the codes of held metres
UNPRICED: tuple[str, ...] = (
    "no_map",  # no edition of the Mapa de Valores is in force
    "no_law",  # the law gives no figures for the month
    "no_operator",  # nobody knows whose it is: whose network sets R?
    "exempt",  # art. 13
    "no_width",
    "no_volume",
    "nothing_new",  # missing, or moved: the permit's own price goes on
)


@dataclass(frozen=True)
class MonthWorth:
    """What a finding costs in a whole month, line by line: once, and as clandestine equipment (art. 10 § 2).

    ``less`` are the lines of what the permit allows already, which a wider strip or a larger cabinet pays less. ``why`` is one
    of `UNPRICED` or a code of held metres where there is no price; then ``held`` has those metres. Amounts are in reais.
    """

    month: BillingMonth
    edition: str | None = None
    lines: tuple[Line, ...] = ()
    less: tuple[Line, ...] = ()
    doubled: tuple[Line, ...] = ()
    why: str | None = None
    held: tuple[tuple[str, Decimal], ...] = ()
    extension_m: Decimal = ZERO_M

    @property
    def amount(self) -> Decimal | None:
        """Return the price once; None where there is none."""
        return None if self.why else _sum(self.lines) - _sum(self.less)

    @property
    def doubled_amount(self) -> Decimal | None:
        """Return the price as clandestine equipment; None where there is none, or nothing is doubled (art. 4)."""
        return _sum(self.doubled) if self.doubled and not self.why else None

    @property
    def articles(self) -> tuple[str, ...]:
        """Articles that the dearest reading rests on, in their order."""
        return tuple(dict.fromkeys(a for line in (*self.lines, *self.doubled) for a in line.articles))


def month_worths(
    ground: Ground,
    found: gpd.GeoDataFrame,
    month: BillingMonth,
    default_width_m: Decimal | None,
    *,
    doubled: bool = True,
) -> list[MonthWorth]:
    """Work out what each finding costs in a month, on request with the double price too."""
    if not ground.has_map(month):
        return [MonthWorth(month, why="no_map")] * len(found)
    try:
        terms = ground.terms(month)
    except CANT_PRICE:
        return [MonthWorth(month, why="no_law")] * len(found)
    rows = list(found[[c for c in FOUND if c != "geometry"]].itertuples(index=False))
    worths = [MonthWorth(month, terms.edition, why=_why(row, terms, ground.stored, default_width_m)) for row in rows]
    by_operator: dict[str, list[int]] = {}
    for place, (row, worth) in enumerate(zip(rows, worths, strict=True)):
        if worth.why is not None:
            continue
        if _is_box(row):
            worths[place] = _box_worth(worth, row, terms.prices, doubled)
        else:
            by_operator.setdefault(row.operator, []).append(place)
    for operator, places in by_operator.items():
        mine = supposed_lines(found.iloc[places], ground, default_width_m)
        beside = Beside(ground, operator, mine, supposed_boxes(found.iloc[:0], ground))
        _, measured = beside.measure(terms)
        for label, place in enumerate(places):
            worths[place] = _line_worth(worths[place], rows[place], label, beside, measured, ground, terms, doubled)
    return worths


def _is_box(row: Any) -> bool:
    return row.kind in (UNDECLARED_EQUIPMENT, LARGER)


def _why(row: Any, terms: MonthTerms, stored: Stored, default_width_m: Decimal | None) -> str | None:
    """Say why a finding can't have a price, before anything is cut."""
    if row.kind in (MISSING, MOVED):
        return "nothing_new"
    operator = stored.operators.get(text(row.operator) or "")
    if operator is None:
        return "no_operator"
    if stored.law.exemption(operator.kind):
        return "exempt"
    if _is_box(row):
        by_piece = terms.prices.law.per_piece(terms.prices.on)
        needed = (row.volume_m3, row.permitted_volume_m3) if row.kind == LARGER else (row.volume_m3,)
        return None if by_piece or all(text(v) for v in needed) else "no_volume"
    if row.kind == WIDER:
        return None if text(row.width_m) and text(row.permitted_width_m) else "no_width"
    return None if text(row.width_m) or default_width_m is not None else "no_width"


def _line_worth(
    worth: MonthWorth,
    row: Any,
    label: int,
    beside: Beside,
    measured: Measured,
    ground: Ground,
    terms: MonthTerms,
    doubled: bool,
) -> MonthWorth:
    stretches = measured.stretches[label]
    if row.kind == WIDER:
        permit = permit_of(ground.network(row.operator), text(row.permitted))
        extension, reducer = ground.reducer(row.operator, terms, permit)
        # it lies in its own permitted strip: that it shares one says nothing
        wide = [replace(s, status=PERMITTED, flags=(), permit=permit) for s in stretches]
        allowed = terms.prices.law.billed_width(Decimal(row.permitted_width_m), terms.prices.on)
        once = price_stretches(wide, terms.prices, extension, reducer)
        less = price_stretches([replace(s, billed_width_m=allowed) for s in wide], terms.prices, extension, reducer)
        return _worth(worth, once, less=less.lines)
    more = beside.counted(label, measured, terms)
    extension, reducer = ground.reducer(row.operator, terms, None, more)
    once = price_stretches([replace(s, status=PERMITTED) for s in stretches], terms.prices, extension, reducer)
    twice = price_stretches(stretches, terms.prices, extension, reducer).lines if doubled else ()
    return _worth(worth, once, doubled=twice)


def _worth(
    worth: MonthWorth, once: RowPrice, *, less: tuple[Line, ...] = (), doubled: tuple[Line, ...] = ()
) -> MonthWorth:
    why = once.held[0][0] if once.held else None
    return replace(
        worth, lines=once.lines, less=less, doubled=doubled, why=why, held=once.held, extension_m=once.extension_m
    )


def _box_worth(worth: MonthWorth, row: Any, prices: Prices, doubled: bool) -> MonthWorth:
    def lines(volume: Any, status: str, flags: tuple[str, ...]) -> tuple[Line, ...]:
        volume_m3 = ONE_M3 if prices.law.per_piece(prices.on) else Decimal(volume)
        box = Cabinet(row.segment, text(row.service), None, status, volume_m3, prices.month.days, flags)
        return tuple(prices.equipment_lines([box]).values())

    if row.kind == LARGER:
        return replace(
            worth, lines=lines(row.volume_m3, PERMITTED, ()), less=lines(row.permitted_volume_m3, PERMITTED, ())
        )
    flags = prices.decree_flags(None)
    twice = lines(row.volume_m3, CLANDESTINE, flags) if doubled else ()
    return replace(worth, lines=lines(row.volume_m3, PERMITTED, flags), doubled=twice)


def permit_of(network: gpd.GeoDataFrame, segment: str | None) -> str | None:
    """Return the permit of a stored segment; None where it has none."""
    named = network.loc[(network["segment"] == segment).to_numpy(), "permit"]
    return text(named.iloc[0]) if len(named) else None


def supposed_lines(
    found: gpd.GeoDataFrame, ground: Ground, default_width_m: Decimal | None, since: date | None = None
) -> gpd.GeoDataFrame:
    """Take findings as the clandestine segments that they would be in the street since a day, by ``frames.SEGMENTS``."""
    width = None if default_width_m is None else f"{default_width_m:f}"
    return _supposed(found, ground, SEGMENTS, since).assign(
        segment=found["segment"].to_numpy(),
        level=found["level"].to_numpy(),
        width_m=[text(w) or width for w in found["width_m"]],
        declared_length_m=None,
    )


def supposed_boxes(found: gpd.GeoDataFrame, ground: Ground, since: date | None = None) -> gpd.GeoDataFrame:
    """Take findings as the clandestine cabinets that they would be in the street since a day, by ``frames.EQUIPMENT``."""
    return _supposed(found, ground, EQUIPMENT, since).assign(
        equipment=found["segment"].to_numpy(), volume_m3=[text(v) or f"{ONE_M3}" for v in found["volume_m3"]]
    )


def _supposed(found: gpd.GeoDataFrame, ground: Ground, columns: Sequence[str], since: date | None) -> gpd.GeoDataFrame:
    count, crs = len(found), ground.stored.segments.crs
    same = {"permit": None, "status": CLANDESTINE, "installed_on": since and since.isoformat(), "removed_on": None}
    data = {c: pd.Series([None] * count, dtype=object) for c in columns if c != "geometry"}
    data |= {name: pd.Series([value] * count, dtype=object) for name, value in same.items()}
    data |= {name: pd.Series(found[name].to_numpy(), dtype=object) for name in ("source_row", "operator", "service")}
    return gpd.GeoDataFrame(data, geometry=found.geometry.to_numpy(), crs=crs)


def _sum(lines: Sequence[Line]) -> Decimal:
    return sum((line.amount for line in lines), ZERO_M)
