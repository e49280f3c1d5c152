"""The acceptance cases again, each map and network turned about its centre: a street's direction changes no price.

Figures are those of the case to the cent and the centimetre. With coordinates rounded to a centimetre afterwards, as
a city's files have them, every end of a line may move by 7 mm: then metres may differ by 2 cm a segment, and money by what
those metres cost. Cases that stand on the very edge of a bracket of R are left out there: a millimetre decides them.
"""

import json
from decimal import Decimal
from pathlib import Path

import geopandas as gpd
import numpy as np
import pytest
import shapely
from shapely import affinity

from geobill.domain.dates import BillingMonth
from geobill.domain.invoice import Basis
from geobill.domain.network import Operator
from geobill.frames import EQUIPMENT, SEGMENTS, ZONES
from geobill.law.policy import parse_policy
from geobill.law.statutes import load_statute
from geobill.pricing.price import price_segments

CASES = Path(__file__).parents[3] / "shared" / "cases" / "pricing"
NAMES = sorted(p.parent.name for p in CASES.glob("*/case.json"))
ANGLES = (0.0, 17.3, 45.0, 90.0, 123.456, 211.7, 359.99)
ON_AN_EDGE = {"03a-bracket-edge", "03b-bracket-edge", "04-above-100-km", "11-two-entities"}
BASIS = Basis("caieiras-lei-3057-2001", "", "2026", None, (), ())
COLUMNS = {
    "id_trecho": "segment",
    "id_equip": "equipment",
    "largura_m": "width_m",
    "entidade": "operator",
    "implantado": "installed_on",
    "retirado": "removed_on",
    "situacao": "status",
    "servico": "service",
    "processo": "permit",
    "zona": "zone",
    "valor_m2": "land_value",
    "volume_m3": "volume_m3",
}
MULTI = {"LineString": shapely.MultiLineString, "Polygon": shapely.MultiPolygon}

pytestmark = pytest.mark.skipif(
    not NAMES, reason=f"{CASES} isn't here: the acceptance cases live outside of the project"
)


def read(case, name, columns, left_out=()):
    """Rows of a case's file by a frame's contract: figures as decimal text, every line and polygon as a multi of one part."""
    path = CASES / case / f"{name}.geojson"
    text = path.read_text(encoding="utf-8") if path.is_file() else '{"features": []}'
    exact, drawn = json.loads(text, parse_float=str)["features"], json.loads(text)["features"]
    rows, shapes = [], []
    for n, (feature, geometry) in enumerate(zip(exact, (f["geometry"] for f in drawn), strict=True), 1):
        given = {COLUMNS.get(k, k): None if v is None else str(v) for k, v in feature["properties"].items()}
        if given.get("segment") not in left_out:
            rows.append({c: given.get(c) for c in columns if c != "geometry"} | {"source_row": n})
            shape = shapely.geometry.shape(geometry)
            shapes.append(MULTI[shape.geom_type]([shape]) if shape.geom_type in MULTI else shape)
    data = {c: np.array([r[c] for r in rows], dtype=object) for c in columns if c != "geometry"}
    return gpd.GeoDataFrame(data, geometry=shapes, crs=31983)


def turn(frame, centre, angle, rounded):
    """Turn a frame about a point, and round its coordinates to a centimetre if asked."""
    turned = [affinity.rotate(g, angle, origin=centre) for g in frame.geometry]
    if rounded:
        turned = [shapely.transform(g, lambda xy: np.round(xy, 2)) for g in turned]
    return frame.set_geometry(gpd.GeoSeries(turned, index=frame.index, crs=31983))


def price(case, spec, angle, rounded):
    zones = read(case, "land_values", ZONES)
    centre = shapely.Point(*shapely.box(*zones.total_bounds).centroid.coords[0])
    left_out = spec["expected"].get("set_aside", {})  # what an import sets aside, it isn't priced
    frames = (read(case, "network", SEGMENTS, left_out), read(case, "cabinets", EQUIPMENT), zones)
    segments, equipment, zones = (turn(f, centre, angle, rounded) for f in frames)
    operators = {o["id"]: Operator(o["id"], o["name"], o["kind"], o["cnpj"]) for o in spec["entities"]}
    policy = parse_policy({k: str(v) for k, v in spec["policy"].items()})
    month, law = BillingMonth.parse(spec["month"]), load_statute("caieiras-lei-3057-2001")
    return price_segments(month, segments, equipment, zones, operators, law, policy, {}, BASIS), len(segments)


@pytest.mark.parametrize("rounded", [False, True], ids=["exact", "to a centimetre"])
@pytest.mark.parametrize("name", NAMES)
def test_a_turned_case_costs_the_same(name, rounded):
    if rounded and name in ON_AN_EDGE:
        pytest.skip("stands on the edge of a bracket: a millimetre decides it")
    spec = json.loads((CASES / name / "case.json").read_text(encoding="utf-8"))
    for angle in ANGLES:
        check(spec, *price(name, spec, angle, rounded), rounded, f"turned by {angle}°")


def check(spec, priced, segments, rounded, how):
    bill, want = priced.bill, spec["expected"]
    lines = [line for o in bill.operators for line in o.lines]
    metres = Decimal(str(want.get("within", 0))) + (segments * Decimal("0.02") if rounded else 0)
    dearest = max(((x.land_value or 0) * (x.billed_width_m or 0) * x.multiplier for x in lines), default=0) * Decimal(
        "0.015"
    )
    money = Decimal(str(want.get("within", 0))) + ((metres * dearest + Decimal("0.01") * len(lines)) if rounded else 0)
    owed = {o.operator.id: o.total for o in bill.operators}

    def near(expected, got, within, what):
        assert abs(Decimal(expected) - got) <= within, f"{how}: {what} is {got}, expected {expected}"

    totals = want.get("totals", {}) | ({"alfa": want["total"]} if "total" in want else {})
    for operator, total in totals.items():
        near(total, owed.get(operator, Decimal(0)), money, f"total of {operator}")
    alfa = next((o for o in bill.operators if o.operator.id == "alfa"), None)
    if "reducer" in want:
        assert alfa.reducer == Decimal(want["reducer"]), how
    if "length_m" in want:
        near(want["length_m"], alfa.network_length_m, metres, "the network's length")
    near(want.get("unpriced_m", "0"), bill.metres.held, metres, "metres held")
    near(want.get("exempt_m", "0"), bill.metres.exempt, metres, "metres exempt")
    near(want.get("not_due_m", "0"), bill.metres.not_due, metres, "metres not due")
    for zone, length in want.get("zone_m", {}).items():
        near(length, sum(x.length_m for x in lines if x.zone == zone), metres, f"metres in {zone}")
    for held in want.get("held", []):
        found = next(h for h in bill.held if h.operator == held["entity"] and h.article == held["article"])
        near(held["amount_if"], found.amount_if.amount, money, "what 0.60 would give")
    assert set(want.get("held_segments", [])) <= {h.segment for h in bill.held}, how
    assert set(want.get("flags", [])) <= {f for x in lines for f in x.flags}, how
    assert bill.metres.close()
    assert bill.features.close()
    if not rounded:
        for line in want.get("lines", []):
            amount, width = line["amount"], line.get("billed_width_m")
            same = [
                x
                for x in lines
                if x.amount == Decimal(amount) and (width is None or x.billed_width_m == Decimal(width))
            ]
            assert same, f"{how}: no line like {line}"
        for piece in want.get("pieces", []):
            assert any(
                p.segment == piece["segment"]
                and p.zone == piece["zone"]
                and p.length_m == Decimal(piece["length_m"])
                and p.amount_exact == Decimal(piece["amount_exact"])
                for p in priced.pieces.itertuples()
            ), f"{how}: no piece like {piece}"
