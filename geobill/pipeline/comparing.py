"""A month beside the one before: gathers what the comparison needs from the store and from the ledger."""

from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pandas as pd
from sqlalchemy import Connection

from geobill.billing.compare import HELD, PRICED, SHARED, Part, Side, compare_operator
from geobill.domain.check import OperatorComparison
from geobill.domain.dates import BillingMonth
from geobill.domain.ratio import fraction
from geobill.errors import InputError, LawError
from geobill.pipeline.month import Month, price_stored
from geobill.pipeline.replay import priced_again
from geobill.pricing.piece_frames import DOUBLING
from geobill.pricing.price import PricedMonth
from geobill.store.ledger import Ledger
from geobill.store.workspace import Workspace

NOTHING = Side(Decimal("0.00"), 0, ())


def compare_month(
    workspace: Workspace, connection: Connection, found: Month, price: Callable[[BillingMonth], Month] | None = None
) -> tuple[tuple[OperatorComparison, ...], str | None]:
    """Compare each operator's priced month with the one before.

    Last month's figures are those of its invoice, with the pieces that its own inputs give; where nothing was issued,
    last month is priced now, by ``price`` where whoever asks has the network cut already.

    Returns
    -------
    tuple
        The comparisons by operator, and why last month can't be priced, None where it can: then an operator without
        an invoice of last month has no ``previous_total``.
    """
    ledger = Ledger(connection, workspace.database.tables)
    previous = found.bill.month.preceding()
    before, unpriced = None, None
    try:
        before = (price(previous) if price else price_stored(workspace, connection, previous)).priced
    except (InputError, LawError) as fault:  # no edition yet, or no law yet: nothing to compare with
        unpriced = str(fault)
    invoices = {i.operator.id: i for i in ledger.load_invoices(previous, standing=True)}
    exempt = {e.operator for e in found.bill.exempt}
    now, then = sides(found.priced), sides(before) if before else {}
    compared = []
    for owner in sorted({*now, *invoices, *(o for o, side in then.items() if side.total)}):
        current, invoice, was = now.get(owner, NOTHING), invoices.get(owner), then.get(owner)
        if invoice is not None and (before is None or invoice.lines != _lines(before, owner)):
            was = sides(priced_again(ledger, invoice, workspace.settings.municipality.srid)).get(owner)
        if invoice is None and before is None:
            compared.append(OperatorComparison(owner, None, current.total, None, False, ()))
            continue
        total = None if invoice is None else invoice.total
        compared.append(compare_operator(owner, was or NOTHING, current, issued_total=total, exempt=owner in exempt))
    return tuple(compared), unpriced


def _lines(priced: PricedMonth, owner: str) -> tuple[Any, ...]:
    return next((o.lines for o in priced.bill.operators if o.operator.id == owner), ())


def sides(priced: PricedMonth) -> dict[str, Side]:
    """Each operator's month as the comparison takes it."""
    parts: dict[str, list[Part]] = {o.operator.id: [] for o in priced.bill.operators}
    for rows in _by_stretch(priced.pieces):
        parts[rows[0]["operator"]].append(_piece(rows))
    for rows in _by_stretch(priced.cabinets):
        row = rows[0]
        volume = fraction(row["volume_m3"])
        price = fraction(row["amount_exact"]) / (volume * fraction(row["multiplier"]))
        part = Part(str(row["equipment"]), volume, network=False, law=price, **_times(rows))
        parts[row["operator"]].append(part)
    return {o.operator.id: Side(o.total, len(o.lines), parts[o.operator.id]) for o in priced.bill.operators}


def _by_stretch(frame: pd.DataFrame) -> list[list[dict[str, Any]]]:
    """Rows of each piece, or cabinet: several where a court suspends it on some days only, or only in its doubling."""
    found: dict[tuple[str, int], list[dict[str, Any]]] = {}
    for row in frame.to_dict("records"):
        found.setdefault((row["operator"], row["stretch"]), []).append(row)
    return list(found.values())


def _times(rows: list[dict[str, Any]]) -> dict[str, Fraction]:
    """How often a piece pays, for what share of the month, and which share of that is demanded."""
    month_days = int(rows[0]["month_days"])
    days = sum(int(r["days"]) for r in rows if r["takes"] != DOUBLING)
    times = [(int(r["days"]) * fraction(r["multiplier"]), _given(r["suspended"])) for r in rows]
    whole = sum((t for t, _ in times), Fraction(0))
    return {
        "multiplier": whole / days,
        "days": Fraction(days, month_days),
        "demanded": sum((t for t, suspended in times if not suspended), Fraction(0)) / whole,
    }


def _piece(rows: list[dict[str, Any]]) -> Part:
    row = rows[0]
    id_, metres = str(row["segment"]), fraction(row["length_m"])
    if _given(row["held"]):
        return Part(id_, metres, state=HELD)
    if _given(row.get("priced_with")):
        return Part(id_, metres, state=SHARED)
    return Part(
        id_,
        metres,
        zone=row["zone"],
        state=PRICED,
        width=fraction(row["billed_width_m"]),
        land_value=fraction(row["land_value"]),
        law=fraction(row["location_index"]) * fraction(row["depreciation_index"]),
        **_times(rows),
        reducer=fraction(row["reducer"]),
    )


def _given(value: Any) -> bool:
    return value is not None and not pd.isna(value)
