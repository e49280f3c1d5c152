"""An issued invoice priced again from its archive alone: the very figures, maps and rows that it was computed from."""

import json
from collections.abc import Iterable
from datetime import date

import geopandas as gpd
import shapely

from geobill.domain.invoice import Decision, Invoice
from geobill.domain.record import from_plain
from geobill.frames import EQUIPMENT, SEGMENTS, ZONES
from geobill.law.figures import parse_statute
from geobill.law.policy import parse_policy
from geobill.law.statutes.street_use import StreetUseLaw
from geobill.pricing.price import PricedMonth, price_segments
from geobill.store.ledger import Ledger


def priced_again(ledger: Ledger, invoice: Invoice, srid: int) -> PricedMonth:
    """Price an issued invoice again from its archive alone."""
    kept = {role: ledger.load_archived(digest) for role, digest in invoice.basis.digests}
    decisions = [from_plain(Decision, d) for d in json.loads(kept["decisions"])]
    published = json.loads(kept["permits"]) if "permits" in kept else None
    return price_segments(
        invoice.month,
        stored_frame(kept["network"], SEGMENTS, srid),
        stored_frame(kept["equipment"], EQUIPMENT, srid),
        stored_frame(kept["edition"], ZONES, srid),
        {invoice.operator.id: invoice.operator},
        StreetUseLaw(parse_statute(kept["statute"])),
        parse_policy(json.loads(kept["policy"])),
        {d.id: d for d in decisions},
        invoice.basis,
        decrees=None if published is None else {n: date.fromisoformat(day) for n, day in published.items()},
    )


def stored_frame(text: str, columns: Iterable[str], srid: int) -> gpd.GeoDataFrame:
    """Frame of archived rows; see :func:`geobill.pipeline.papers.inputs_of`."""
    rows, names = json.loads(text), [c for c in columns if c != "geometry"]
    data = {name: [row[n] for row in rows] for n, name in enumerate(names)}
    shapes = shapely.from_wkb([bytes.fromhex(row[-1]) for row in rows])
    frame = gpd.GeoDataFrame(data, geometry=list(shapes), crs=srid)
    return frame.astype({n: object for n in names if n != "source_row"})
