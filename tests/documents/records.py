"""Factories of the records that documents render; every amount follows from its factors."""

import hashlib
from datetime import date
from decimal import Decimal
from fractions import Fraction

import geopandas as gpd
from shapely import LineString, box

from geobill.documents.maps import NetworkMap, network_map
from geobill.documents.statute_words import StatuteWords
from geobill.domain.dates import BillingMonth
from geobill.domain.invoice import (
    AmountIf,
    Basis,
    Decision,
    DecreeDraft,
    Held,
    Invoice,
    Line,
    PolicyUse,
    WholeMonth,
)
from geobill.domain.money import round_money
from geobill.domain.network import Authority, Operator
from geobill.law.statutes import load_statute

ZONES = ("Centro", "Laranjeiras", "Vila Rosina", "Jardim São Francisco", "Serpa", "Nova Era", "Morro Grande")
POLICY = {
    "reducer_scope": "operator",
    "reducer_method": "whole",
    "above_100_km": "hold",
    "clandestine_counts_in_reducer": "false",
    "proration": "daily",
    "on_border": "lower",
    "on_overlap": "hold",
    "max_gap_m": "20",
    "length_precision_m": "0.01",
    "rounding": "half_up",
    "due_day_rule": "next_business_day",
    "due_month": "following",
    "duplicate_stretch": "set_aside",
}
FIGURES = load_statute("caieiras-lei-3057-2001").figures
STATUTE = StatuteWords(FIGURES, date(2026, 10, 1))
DECISION = Decision(
    "D1", "12/2026", date(2026, 3, 1), "Maria das Dores Conceição, Prefeita Municipal", "above_100_km", "0.60"
)


def sha(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def network_line(
    length="1234.56",
    value="458.41",
    zone="Centro",
    reducer="0.90",
    multiplier="1",
    days=30,
    month_days=30,
    width="0.50",
    articles=("7",),
    flags=(),
    service="energia elétrica",
    permit="118/2019",
) -> Line:
    factors = [Decimal(f) for f in (length, width, value, "0.03", "0.50", reducer, multiplier)]
    exact = Fraction(days, month_days)
    for factor in factors:
        exact *= Fraction(factor)
    a, b, t, location, depreciation, r, times = factors
    return Line(
        "network",
        service,
        permit,
        zone,
        t,
        a,
        b,
        None,
        None,
        location,
        depreciation,
        r,
        times,
        days,
        month_days,
        round_money(exact),
        tuple(articles),
        tuple(flags),
    )


def equipment_line(volume="2.40", multiplier="1", days=30, month_days=30, articles=("7 § 2",), flags=()) -> Line:
    exact = Fraction(Decimal(volume)) * 150 * Fraction(Decimal(multiplier)) * Fraction(days, month_days)
    return Line(
        "equipment",
        "telecom",
        None,
        None,
        None,
        None,
        None,
        Decimal(volume),
        Decimal("150.00"),
        None,
        None,
        None,
        Decimal(multiplier),
        days,
        month_days,
        round_money(exact),
        tuple(articles),
        tuple(flags),
    )


def usual_lines() -> tuple[Line, ...]:
    return (
        network_line(),
        network_line("4801.07", "331.94", "Laranjeiras", width="0.75"),
        network_line("312.40", "177.18", "Vila Rosina", flags=("on_border",)),
        network_line("96.15", "585.99", "Jardim São Francisco", days=15, flags=("in_gap", "no_decree"), permit=None),
        network_line("207.88", "973.00", "Serpa", multiplier="2", articles=("7", "10 § 2"), permit=None),
        equipment_line(),
        equipment_line("1.125", "2", articles=("7 § 2", "10 § 2")),
    )


def many_lines(count=300) -> tuple[Line, ...]:
    return tuple(
        network_line(f"{100 + 7 * i}.{i % 100:02d}", f"{90 + 3 * i}.{(37 * i) % 100:02d}", f"{ZONES[i % 7]} {i}")
        for i in range(count)
    )


def usual_held() -> tuple[Held, ...]:
    overlap = AmountIf("lower", Decimal("41.17"))
    return (
        *(Held("elektro", f"MT-{i:05d}", "no_zone", "", "7", Decimal(f"{13 + i}.37")) for i in range(31)),
        Held("elektro", "MT-90001", "overlap", "", "15", Decimal("88.01"), overlap),
        Held("elektro", "MT-90002", "overlap", "", "15", Decimal("16.47"), overlap),
    )


def authority(**changes) -> Authority:
    values = {
        "municipality": "Caieiras",
        "state": "SP",
        "name": "Prefeitura Municipal de Caieiras",
        "cnpj": "46523064000178",
        "address": "Avenida Professor Carvalho Pinto, 207, Centro, Caieiras – SP",
        "secretariat": "Secretaria Municipal de Obras, Projetos e Planejamento",
        "legal_office": "Secretaria Municipal de Assuntos Jurídicos",
    }
    return Authority(**{**values, **changes})


def operator(**changes) -> Operator:
    values = {
        "id": "elektro",
        "name": "Companhia Paulista de Distribuição de Energia S.A.",
        "cnpj": "33050196000188",
        "service": "energia elétrica",
        "address": "Rua Jorge de Figueiredo Corrêa, 1632, Campinas – SP",
        "representative": "João Antônio de Sá, diretor de concessões",
    }
    return Operator(**{**values, **changes})


def basis(decisions=(), **policy) -> Basis:
    named = {d.id for d in decisions}
    uses = tuple(
        PolicyUse(key, value, POLICY[key], value if value in named else None)
        for key, value in {**POLICY, **policy}.items()
    )
    return Basis(
        "caieiras-lei-3057-2001",
        "Lei nº 3.057, de 27 de junho de 2001",
        "2026",
        date(2026, 1, 1),
        uses,
        tuple(decisions),
        tuple((name, sha(name)) for name in ("statute", "policy", "edition", "geometry", "operator")),
    )


def invoice(lines=None, **changes) -> Invoice:
    lines = usual_lines() if lines is None else tuple(lines)
    monthly = sum((line.amount for line in lines if line.multiplier == 1), Decimal("0.00"))
    values = {
        "number": "2026/0042",
        "month": BillingMonth(2026, 10),
        "issued_on": date(2026, 11, 3),
        "due_on": date(2026, 11, 16),
        "authority": authority(),
        "operator": operator(),
        "basis": basis(),
        "lines": lines,
        "total": sum((line.amount for line in lines), Decimal("0.00")),
        "reducer": Decimal("0.90"),
        "network_length_m": Decimal("7056.09"),
        "held": (),
        "yearly": 12 * monthly,
        "yearly_monthly": monthly,
        "digest": sha("invoice"),
    }
    return Invoice(**{**values, **changes})


def draft(lines=None, held_m="0.00", reducer="0.90", **changes) -> DecreeDraft:
    chosen = [line for line in usual_lines() if line.multiplier == 1] if lines is None else lines
    lines = tuple(line for line in chosen if line.days == line.month_days)
    total = sum((line.amount for line in lines), Decimal("0.00")) if reducer else None
    length = sum((line.length_m or Decimal(0) for line in lines), Decimal(held_m))
    price = WholeMonth(date(2026, 10, 31), length, Decimal(reducer) if reducer else None, lines, Decimal(held_m), total)
    values = {
        "authority": authority(),
        "operator": operator(),
        "basis": basis(),
        "price": price,
        "deposit_months": 3,
        "deposit": None if total is None else 3 * total,
        "due_day": 15,
        "due_month": "following",
        "digest": sha("draft"),
    }
    return DecreeDraft(**{**values, **changes})


def small_map(**size) -> NetworkMap:
    squares = [box(320000 + 400 * i, 7412000, 320400 + 400 * i, 7413000) for i in range(3)]
    zones = gpd.GeoDataFrame(
        {
            "land_value": ["100.00", "458.41", "973.00", None],
            "kind": ["zone", "zone", "gap", "overlap"],
        },
        geometry=[*squares, box(320350, 7412400, 320450, 7412700)],
        crs="EPSG:31983",
    )
    segments = gpd.GeoDataFrame(
        {"status": ["permitted", "existing", "clandestine"]},
        geometry=[
            LineString([(320010, 7412100), (321100, 7412300)]),
            LineString([(320200, 7412100), (320200, 7412900)]),
            LineString([(320600, 7412200), (320900, 7412800)]),
        ],
        crs="EPSG:31983",
    )
    return network_map(segments, zones, **size)
