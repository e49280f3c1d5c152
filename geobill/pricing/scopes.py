"""Whose extension sets R: an operator's whole network, or each permit's own (policy ``reducer_scope``)."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

import geopandas as gpd

from geobill.domain.ratio import Ratio
from geobill.law.charge import Silence
from geobill.pricing.in_force import continued, text
from geobill.pricing.lines import ZERO_M, Prices, Stretch
from geobill.pricing.network import Measured

PAYER_HELD = "payer_held"


@dataclass(frozen=True)
class Scope:
    """Rows whose common extension sets their R; ``permit`` is None for a whole operator, or for rows without a permit.

    ``silence`` is what the law leaves open about it; then ``reducer`` is None.
    """

    permit: str | None
    labels: tuple[Any, ...]
    extension_m: Decimal
    reducer: Decimal | Ratio | None
    silence: Silence | None

    def stretches(self, measured: Measured) -> list[Stretch]:
        """Return the stretches of the scope's rows."""
        return [s for label in self.labels for s in measured.stretches[label]]


def scopes(rows: gpd.GeoDataFrame, measured: Measured, prices: Prices, above_100_km: Decimal | None) -> list[Scope]:
    """R of an operator's rows, or of each permit's; rows without a permit have a common one.

    Metres for which another line in the same strip pays count in no R, undeclared ones by the policy
    ``clandestine_counts_in_reducer``.
    """
    if prices.policy.reducer_scope == "operator":
        return [_scope(None, rows.index, rows, measured, prices, above_100_km)]
    by_permit: dict[str | None, list[Any]] = {}
    for label, permit in rows["permit"].items():
        by_permit.setdefault(text(permit), []).append(label)
    return [
        _scope(permit, by_permit[permit], rows, measured, prices, above_100_km)
        for permit in sorted(by_permit, key=lambda p: (p is not None, p or ""))
    ]


def hold_with_payers(found: Iterable[Scope], measured: Measured) -> Measured:
    """Hold the metres for which a line pays that is itself held for its R: else nobody would pay for them.

    Only where each permit has its own R (``reducer_scope = permit``) can the payer be held and the other not. The metres
    count in no R all the same.
    """
    silent = {label for scope in found if scope.silence is not None for label in scope.labels}
    if not silent:
        return measured
    stretches = {
        label: [
            replace(s, held=PAYER_HELD, payer=None, payer_row=None)
            if s.payer_row in silent and label not in silent
            else s
            for s in pieces
        ]
        for label, pieces in measured.stretches.items()
    }
    return replace(measured, stretches=stretches)


def _once(own: dict[Any, Decimal], before: Mapping[Any, Any]) -> dict[Any, Decimal]:
    """Metres by the first row of each chain: a row that changed its status within the month is one stretch of street."""
    found: dict[Any, Decimal] = {}
    for label, metres in own.items():
        first = label
        while first in before:
            first = before[first]
        found[first] = max(found.get(first, metres), metres)
    return found


def _scope(
    permit: str | None,
    labels: Iterable[Any],
    rows: gpd.GeoDataFrame,
    measured: Measured,
    prices: Prices,
    above_100_km: Decimal | None,
) -> Scope:
    mine = tuple(labels)
    counts, status = prices.policy.clandestine_counts_in_reducer, rows["status"].to_dict()
    setting = [label for label in mine if prices.law.counts_in_reducer(status[label], counts)]
    own = {label: measured.lengths_m[label] - measured.paid_elsewhere_m[label] for label in setting}
    extension = sum(_once(own, continued(rows.loc[list(mine)])).values(), ZERO_M)
    found = prices.law.reducer(extension, prices.on, method=prices.policy.reducer_method, above=above_100_km)
    if isinstance(found, Silence):
        return Scope(permit, mine, extension, None, found)
    return Scope(permit, mine, extension, found, None)
