"""A network over its zones: cut once, then rounded and shared out for the rows and days that a price is asked of."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import geopandas as gpd
import numpy as np
import pandas as pd
import shapely

from geobill.frames import plan_lengths, whole_units
from geobill.law.policy import Policy
from geobill.pricing.areas import Area, lay_areas
from geobill.pricing.cased import CASES
from geobill.pricing.cut import Rules
from geobill.pricing.edges import Ints
from geobill.pricing.in_force import text
from geobill.pricing.lines import ZERO_M, Prices, Stretch
from geobill.pricing.split import CutLines, cut_segments, share_pieces
from geobill.pricing.strips import Strips, lay_over, shared_strips

DECLARED = "declared_length"


@dataclass(frozen=True)
class Measured:
    """Stretches and lengths of some rows, by the labels of their frame; lengths are exact, in metres.

    ``paid_elsewhere_m`` are the metres of a row for which another line in the same strip pays.
    """

    stretches: Mapping[Any, list[Stretch]]
    lengths_m: Mapping[Any, Decimal]
    paid_elsewhere_m: Mapping[Any, Decimal]


@dataclass(frozen=True)
class CutNetwork:
    """Segments cut over an edition's zones; ``labels`` are those of the frame they came from."""

    labels: pd.Index
    lines: CutLines
    zones: gpd.GeoDataFrame

    def measure(
        self, rows: gpd.GeoDataFrame, prices: Prices, *, located: bool = False, areas: Sequence[Area] = ()
    ) -> Measured:
        """Round and share out the lengths of some rows, as they stand on their days (see :func:`due_rows`).

        Which metres share a strip depends on the rows that stand together, so it is asked for these rows alone. Where
        ``areas`` are given, pieces are parted by them besides.
        """
        policy = prices.policy
        made = self.lines.of(self.labels.get_indexer(rows.index))
        units, declared = _units(rows, policy)
        widths = {w: prices.law.billed_width(Decimal(w), prices.on) for w in set(rows["width_m"])}
        once = policy.same_strip == "once"
        strips = _strips(rows, widths, prices)
        shared = shared_strips(rows.geometry.values, strips, once=once, stretches=made.stretches)
        laid = lay_over(made.stretches, shared)
        if areas:
            laid = lay_areas(laid, rows.geometry.to_numpy(), areas)
        made = CutLines(laid, made.turn)
        pieces = share_pieces(made, rows, self.zones, units, precision_m=policy.length_precision_m, located=located)
        ordered = list(rows.itertuples())
        stretches: dict[Any, list[Stretch]] = {row.Index: [] for row in ordered}
        elsewhere = dict.fromkeys(stretches, ZERO_M)
        for p in pieces.itertuples():
            row = ordered[p.row]
            permit = text(row.permit)
            flags = (*p.flags, *((DECLARED,) if declared[p.row] else ()), *prices.decree_flags(permit))
            found = Stretch(
                segment=str(row.segment),
                service=text(row.service),
                permit=permit,
                status=row.status,
                zone=text(p.zone),
                land_value=p.land_value,
                length_m=int(p.units) * policy.length_precision_m,
                billed_width_m=widths[row.width_m],
                days=row.days,
                held=p.held,
                flags=flags,
                payer=str(ordered[p.payer].segment) if p.payer >= 0 else None,
                payer_row=ordered[p.payer].Index if p.payer >= 0 else None,
                geometry=getattr(p, "geometry", None),
                inside=tuple(map(int, filter(None, getattr(p, "inside", "").split(",")))),
                cases=getattr(row, CASES, ()),
            )
            stretches[row.Index].append(found)
            if found.payer is not None:
                elsewhere[row.Index] += found.length_m
        return Measured(stretches, exact_lengths(rows, policy), elsewhere)


def cut_network(rows: gpd.GeoDataFrame, zones: gpd.GeoDataFrame, policy: Policy) -> CutNetwork:
    """Cut rows over zones by the policy ``on_border``, ``on_overlap`` and ``max_gap_m``."""
    rules = Rules(policy.on_border, policy.on_overlap, float(policy.max_gap_m))
    return CutNetwork(rows.index, cut_segments(rows, zones, rules=rules), zones)


def exact_lengths(rows: gpd.GeoDataFrame, policy: Policy) -> dict[Any, Decimal]:
    """Length of each row in metres, rounded once: as drawn, or as declared where the policy says so and a figure is given."""
    units, _ = _units(rows, policy)
    return {i: int(u) * policy.length_precision_m for i, u in zip(rows.index, units, strict=True)}


def _units(rows: gpd.GeoDataFrame, policy: Policy) -> tuple[Ints, np.ndarray]:
    """Lengths in whole multiples of the precision, and where a declared one differs from the drawn one."""
    drawn = whole_units(plan_lengths(rows.geometry.values), policy.length_precision_m)
    if policy.length_source != "declared":
        return drawn, np.zeros(len(rows), dtype=bool)
    # what is declared for a line of no length has nowhere to be charged
    given = [text(d) if u else None for d, u in zip(rows["declared_length_m"], drawn, strict=True)]
    declared = [u if d is None else _round_half_up(Decimal(d), policy) for d, u in zip(given, drawn, strict=True)]
    units = np.array(declared, dtype=np.int64)
    return units, units != drawn


def _round_half_up(metres: Decimal, policy: Policy) -> int:
    if metres <= 0:
        return 0
    return int(metres / policy.length_precision_m + Decimal("0.5"))


def _strips(rows: gpd.GeoDataFrame, widths: Mapping[str, Decimal], prices: Prices) -> Strips:
    """Gather what decides about shared strips; among equal widths the service, id and permit say who pays, then the drawing."""
    cumulate = prices.policy.doublings_cumulate
    times = {s: prices.law.multiplier(s, prices.on, cumulate=cumulate) for s in set(rows["status"])}
    drawn = shapely.to_wkb(rows.geometry.to_numpy())
    keys = [
        (text(s) or "", str(n), text(p) or "", str(status), wkb)
        for s, n, p, status, wkb in zip(
            rows["service"], rows["segment"], rows["permit"], rows["status"], drawn, strict=True
        )
    ]
    turn = np.empty(len(rows), dtype=np.int64)
    turn[sorted(range(len(rows)), key=lambda n: (keys[n], n))] = np.arange(len(rows))
    return Strips(
        owner=rows["operator"].to_numpy(dtype=object),
        width_m=np.array([float(widths[w]) for w in rows["width_m"]]),
        first_day=rows["first_day"].to_numpy(dtype=np.int64),
        last_day=rows["last_day"].to_numpy(dtype=np.int64),
        multiplier=np.array([times[s] for s in rows["status"]], dtype=object),
        turn=turn,
    )
