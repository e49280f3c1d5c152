"""geobill in Python: the two functions that ``import geobill`` offers. They neither read nor write anything."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from decimal import Decimal
from typing import Any

import geopandas as gpd
import numpy as np
import pandas as pd
import shapely

from geobill.domain.dates import BillingMonth
from geobill.domain.invoice import Basis, Bill, PolicyUse
from geobill.domain.network import STATUSES, Operator
from geobill.domain.record import to_plain
from geobill.errors import InputError
from geobill.frames import EQUIPMENT, SEGMENTS, ZONES
from geobill.intake.values import UnreadableValueError, read_number
from geobill.intake.zones import repair_zones
from geobill.law.policy import KEYS, check_policy_value, parse_policy
from geobill.law.statutes import load_statute
from geobill.pricing.cut import Rules
from geobill.pricing.price import price_segments
from geobill.pricing.split import split_segments


def split(
    segments: gpd.GeoDataFrame,
    zones: gpd.GeoDataFrame,
    *,
    segment: str = "segment",
    zone: str = "zone",
    land_value: str = "land_value",
    on_border: str = "lower",
    on_overlap: str = "hold",
    max_gap_m: float = 0.0,
    precision_m: float | Decimal = 0.01,
) -> pd.DataFrame:
    """Cut lines over value zones: each metre of each line in exactly one zone, or in none.

    Parameters
    ----------
    segments : GeoDataFrame
        Lines, in one projected system, metres.
    zones : GeoDataFrame
        Polygons in the same system; invalid ones are repaired (``make_valid``).
    segment, zone, land_value : str
        Columns with the segment's id, the zone's name and its value in reais a square metre.
    on_border, on_overlap : str
        The policy keys of those names.
    max_gap_m : float
        Metres in no zone take the nearest one up to here.
    precision_m : float or Decimal
        Lengths are rounded once, to this.

    Returns
    -------
    pandas.DataFrame
        ``segment``, ``zone`` (None for what lies in none or is held), ``length_m`` (float64; adds up to each segment's
        rounded length), ``flags`` (tuple), ``land_value`` (Decimal) and ``held`` (``overlap``, ``no_zone`` or None).

    Raises
    ------
    InputError
        If the systems differ or are in degrees, or a line or a value is missing.

    Examples
    --------
    >>> import geopandas, shapely
    >>> lines = geopandas.GeoDataFrame({"id": ["S1"]}, geometry=[shapely.LineString([(50, 5), (120, 5)])], crs=31983)
    >>> blocks = geopandas.GeoDataFrame(
    ...     {"zone": ["Z1", "Z2"], "value": [100, 80]}, geometry=[shapely.box(0, 0, 100, 10), shapely.box(100, 0, 200, 10)], crs=31983
    ... )
    >>> split(lines, blocks, segment="id", land_value="value")[["segment", "zone", "length_m"]].values.tolist()
    [['S1', 'Z1', 50.0], ['S1', 'Z2', 20.0]]
    """
    on_border, on_overlap = check_policy_value("on_border", on_border), check_policy_value("on_overlap", on_overlap)
    check_policy_value("length_precision_m", str(precision_m))
    check_policy_value("max_gap_m", str(max_gap_m))
    _check_has(segments, (segment,), "The segments")
    _check_has(zones, (zone, land_value), "The zones")
    _check_lines(segments)
    pieces = split_segments(
        segments,
        _clean_zones(zones, zone, land_value),
        segment=segment,
        rules=Rules(on_border, on_overlap, float(max_gap_m)),
        precision_m=Decimal(str(precision_m)),
    )
    return pieces[["segment", "zone", "length_m", "flags", "land_value", "held"]]


@dataclass(frozen=True)
class PriceResult:
    """A priced month as frames; amounts are Decimal. ``conservation`` has a row for features and one for metres."""

    bill: Bill
    lines: pd.DataFrame
    pieces: pd.DataFrame
    held: pd.DataFrame
    exempt: pd.DataFrame
    conservation: pd.DataFrame


def price(
    segments: gpd.GeoDataFrame,
    equipment: gpd.GeoDataFrame | None,
    zones: gpd.GeoDataFrame,
    *,
    statute: str = "caieiras-lei-3057-2001",
    month: str,
    policy: Mapping[str, Any] | None = None,
    operators: Mapping[str, str] | None = None,
) -> PriceResult:
    """Price a month of networks over a value map, by the code that the commands run.

    Parameters
    ----------
    segments : GeoDataFrame
        Columns ``segment``, ``operator``, ``width_m``; optional ``service``, ``level``, ``permit``, ``status`` (one of
        ``domain.network.STATUSES``; existing where absent), ``declared_length_m``, ``installed_on``, ``removed_on`` (ISO
        dates), metres.
    equipment : GeoDataFrame or None
        Columns ``equipment``, ``operator``, ``volume_m3``; the same optional ones.
    zones : GeoDataFrame
        Columns ``zone``, ``land_value`` (reais a square metre).
    statute : str
        Name of the statute.
    month : str
        ``YYYY-MM``.
    policy : mapping
        Policy keys that differ from their defaults.
    operators : mapping of id to kind
        ``private``, ``public`` or ``municipal``; private where absent.

    Returns
    -------
    PriceResult
        ``lines``, ``pieces``, ``held``, ``exempt`` and ``conservation`` as frames, and the ``bill`` itself.

    Raises
    ------
    InputError, LawError, PolicyError
        As the commands refuse.
    """
    law = load_statute(statute)
    given = {k: ("true" if v is True else "false" if v is False else str(v)) for k, v in (policy or {}).items()}
    rules = parse_policy(given)
    text = rules.as_text()
    boxes = equipment if equipment is not None else gpd.GeoDataFrame({"operator": []}, geometry=[], crs=segments.crs)
    _check_has(segments, ("segment", "operator", "width_m"), "The segments")
    _check_lines(segments)
    kinds = operators or {}
    owners = {str(o) for o in (*segments["operator"], *boxes["operator"])}
    priced = price_segments(
        BillingMonth.parse(month),
        _contract(segments, SEGMENTS, "width_m", "The segments"),
        _contract(boxes, EQUIPMENT, "volume_m3", "The equipment"),
        _clean_zones(zones, "zone", "land_value"),
        {o: Operator(o, o, kinds.get(o, "private")) for o in owners},
        law,
        rules,
        {},
        Basis(
            law.figures.id,
            law.figures.title,
            None,
            None,
            tuple(PolicyUse(k.key, text[k.key], k.default) for k in KEYS),
            (),
        ),
    )
    bill = priced.bill
    return PriceResult(
        bill=bill,
        lines=pd.DataFrame([{"operator": o.operator.id, **_fields(line)} for o in bill.operators for line in o.lines]),
        pieces=priced.pieces.drop(columns="geometry"),
        held=pd.DataFrame([_fields(h) for h in bill.held]),
        exempt=pd.DataFrame([_fields(e) for e in bill.exempt]),
        conservation=pd.DataFrame([asdict(bill.features), asdict(bill.metres)], index=["features", "metres"]),
    )


def _fields(record: Any) -> dict[str, Any]:
    return {name: getattr(record, name) for name in to_plain(record)}


def _check_has(frame: gpd.GeoDataFrame, columns: tuple[str, ...], what: str) -> None:
    missing = [c for c in columns if c not in frame.columns]
    if missing:
        raise InputError(
            f"{what} lack the column(s) {', '.join(missing)}; they have {', '.join(map(str, frame.columns))}."
        )


def _check_lines(segments: gpd.GeoDataFrame) -> None:
    shapes = np.asarray(segments.geometry.values, dtype=object)
    bad = np.flatnonzero(~np.isin(shapely.get_type_id(shapes), (1, 5)) | shapely.is_empty(shapes))
    if len(bad):
        raise InputError(
            f"{len(bad)} segment(s) are no lines, the first in row {bad[0] + 1}: lengths can't be taken of them. Leave them out, "
            "or import the file with geobill import network, which sets such rows aside."
        )


def _clean_zones(zones: gpd.GeoDataFrame, name: str, value: str) -> gpd.GeoDataFrame:
    """Zones by ``frames.ZONES``; a value that is missing, unreadable or not positive is refused by row."""
    values = []
    for row, raw in enumerate(zones[value], 1):
        try:
            number = read_number(raw)
        except UnreadableValueError as fault:
            raise InputError(f"The land value in row {row} can't be read: {fault}") from None
        if number is None or number <= 0:
            raise InputError(
                f"The zone in row {row} has the land value {raw!r}: art. 7 needs one above 0. Leave the row out."
            )
        values.append(f"{number:f}")
    frame = gpd.GeoDataFrame(
        {"source_row": range(1, len(zones) + 1), "zone": list(zones[name]), "land_value": values},
        geometry=list(zones.geometry),
        crs=zones.crs,
    )
    repaired, refused, _ = repair_zones(frame[list(ZONES)])
    if refused:
        raise InputError(f"The zone in row {refused[0].row} can't be used: {refused[0].reason}. Leave it out.")
    return repaired.reset_index(drop=True)


def _contract(frame: gpd.GeoDataFrame, columns: tuple[str, ...], figure: str, what: str) -> gpd.GeoDataFrame:
    """Return a frame with all columns of a contract, figures as decimal text and absent values as None."""
    _check_has(frame, () if not len(frame) else (columns[1], "operator", figure), what)
    data: dict[str, Any] = {}
    for column in columns:
        if column == "geometry":
            continue
        values = list(frame[column]) if column in frame.columns else [None] * len(frame)
        data[column] = pd.Series([None if v is None or v is pd.NaT or pd.isna(v) else v for v in values], dtype=object)
    data["source_row"] = list(range(1, len(frame) + 1))
    data["operator"] = [str(o) for o in data["operator"]]
    data["status"] = [s or "existing" for s in data["status"]]
    data[figure] = [_figure(v, figure, n) for n, v in enumerate(data[figure], 1)]
    if "declared_length_m" in columns:
        given = enumerate(data["declared_length_m"], 1)
        data["declared_length_m"] = [None if v is None else _figure(v, "declared_length_m", n) for n, v in given]
    strange = sorted({str(s) for s in data["status"]} - set(STATUSES))
    if strange:
        raise InputError(
            f"{what} have the status {', '.join(map(repr, strange))}: it must be one of {', '.join(STATUSES)}, since it decides "
            "about doubling."
        )
    for column in ("installed_on", "removed_on"):
        data[column] = [None if v is None else str(v)[:10] for v in data[column]]
    return gpd.GeoDataFrame(data, geometry=list(frame.geometry), crs=frame.crs)


def _figure(raw: Any, name: str, row: int) -> str:
    try:
        number = read_number(raw)
    except UnreadableValueError as fault:
        raise InputError(f"{name} in row {row} can't be read: {fault}") from None
    if number is None or number <= 0:
        raise InputError(f"{name} in row {row} is {raw!r}: it must be above 0. Leave the row out.")
    return f"{number:f}"
