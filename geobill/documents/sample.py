"""One record of each kind, made up, always the same: what templates are tried out on. Every amount follows from its factors."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import date
from decimal import Decimal
from fractions import Fraction

import geopandas as gpd
from shapely import LineString, Point, box

from geobill.documents.maps import DECREE_MAP_MM, NetworkMap, network_map
from geobill.documents.overrides.folder import PACKAGE, Templates
from geobill.domain.apostila import Cause, PriceChange
from geobill.domain.check import Cause as MonthCause
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
    SetOff,
    Suspended,
    WholeMonth,
)
from geobill.domain.money import round_money
from geobill.domain.network import Authority, Operator
from geobill.domain.note import DIFFERENCE, Note, NoteLine
from geobill.domain.permit import Decree, Permit, PermitFile
from geobill.domain.record import sha256
from geobill.domain.suspension import ACCRUES
from geobill.law.figures import StatuteFigures
from geobill.law.statutes import load_statute

AUTHORITY = Authority(
    municipality="Caieiras",
    state="SP",
    name="Prefeitura Municipal de Caieiras (exemplo)",
    cnpj="46523064000178",
    address="Avenida Professor Carvalho Pinto, 207, Centro, Caieiras – SP",
    secretariat="Secretaria Municipal de Obras, Projetos e Planejamento",
    legal_office="Secretaria Municipal de Assuntos Jurídicos",
)
OPERATOR = Operator(
    id="alfa",
    name="Alfa Telecomunicações S.A.",
    cnpj="11222333000181",
    service="telecomunicações",
    address="Rua das Amoreiras, 100, Caieiras – SP",
    representative="Beatriz Antunes, diretora de redes",
)
DECISION = Decision(
    "D1",
    "12/2026",
    date(2026, 3, 2),
    "Maria das Dores Conceição, Prefeita",
    "above_100_km",
    "0.60",
    in_force_from=date(2026, 4, 1),
)
# Length, width, land value, zone, multiplier, days, articles, flags.
Row = tuple[str, str, str, str, str, int, tuple[str, ...], tuple[str, ...]]
NETWORK: tuple[Row, ...] = (
    ("1234.56", "0.50", "458.41", "Centro", "1", 30, ("7",), ()),
    ("4801.07", "0.75", "331.94", "Laranjeiras", "1", 30, ("7",), ()),
    ("312.40", "0.50", "177.18", "Vila Rosina", "1", 30, ("7",), ("on_border",)),
    ("96.15", "0.50", "585.99", "Jardim São Francisco", "1", 15, ("7",), ("in_gap", "no_decree")),
    ("207.88", "0.50", "973.00", "Serpa", "2", 30, ("7", "10 § 2"), ()),
)
SUSPENDED = (("640.25", "0.50", "331.94", "Laranjeiras", "1", 30, ("7",), ()),)
POLICY = {
    "reducer_scope": "operator",
    "reducer_method": "whole",
    "above_100_km": "D1",
    "clandestine_counts_in_reducer": "false",
    "doublings_cumulate": "false",
    "proration": "daily",
    "on_border": "lower",
    "on_overlap": "hold",
    "max_gap_m": "20",
    "same_strip": "each",
    "length_source": "geometry",
    "length_precision_m": "0.01",
    "rounding": "half_up",
    "due_month": "following",
    "due_day_rule": "next_business_day",
    "duplicate_stretch": "set_aside",
}
STATUTE = "caieiras-lei-3057-2001"
MONTH_DAYS = 30
ZERO = Decimal("0.00")


def sample_figures() -> StatuteFigures:
    """Return the statute that the sample records are made up under."""
    return load_statute(STATUTE).figures


def sample_invoice() -> Invoice:
    """Return an invoice with network and cabinets, a doubled line, an incomplete month, held and suspended metres, a set-off."""
    lines = (*_network_lines(), _cabinet_line())
    (suspended,) = _network_lines(SUSPENDED)
    held = (
        Held("alfa", "ALFA-0107", "no_zone", "", "7", Decimal("13.37")),
        Held("alfa", "ALFA-0201", "overlap", "", "15", Decimal("88.01"), AmountIf("lower", Decimal("41.17"))),
    )
    monthly = sum((line.amount for line in lines if line.multiplier == 1), ZERO)
    return Invoice(
        number="2026/000042",
        month=BillingMonth(2026, 11),
        issued_on=date(2026, 12, 1),
        due_on=date(2026, 12, 15),
        authority=AUTHORITY,
        operator=OPERATOR,
        basis=_basis(),
        lines=lines,
        total=sum((line.amount for line in lines), ZERO),
        reducer=Decimal("0.90"),
        network_length_m=_metres((*lines, suspended), "1") + sum((item.length_m for item in held), ZERO),
        held=held,
        yearly=12 * monthly,
        yearly_monthly=monthly,
        digest=sha256("sample invoice"),
        suspended=(
            Suspended(
                operator="alfa",
                suspension="S1",
                court_case="1001234-56.2026.8.26.0106",
                court="1ª Vara Cível (exemplo)",
                effect=ACCRUES,
                lines=(suspended,),
                total=suspended.amount,
                length_m=suspended.length_m or ZERO,
            ),
        ),
        set_offs=(SetOff("C1", "Lei Municipal nº 4.321, de 10 de maio de 2019 (exemplo)", Decimal("1500.00")),),
    )


def sample_draft() -> DecreeDraft:
    """Return a draft decree for the same network, without what is doubled."""
    lines = tuple(
        line for line in (*_network_lines(), _cabinet_line()) if line.multiplier == 1 and line.days == line.month_days
    )
    total = sum((line.amount for line in lines), ZERO)
    held_m = Decimal("88.01")
    price = WholeMonth(date(2026, 11, 30), _metres(lines, "1") + held_m, Decimal("0.90"), lines, held_m, total)
    return DecreeDraft(
        authority=AUTHORITY,
        operator=OPERATOR,
        basis=_basis(),
        price=price,
        deposit_months=3,
        deposit=3 * total,
        due_day=15,
        due_month="following",
        digest=sha256("sample draft"),
    )


def sample_change() -> PriceChange:
    """Return the change of an issued decree's price after the network grew."""
    draft = sample_draft()
    recorded = Decimal("19870.45")
    before = replace(draft, price=replace(draft.price, on=date(2026, 6, 30), total=recorded), deposit=3 * recorded)
    permit = Permit(
        "118/2019", OPERATOR.id, "2.345/2019", "telecomunicações", "Rede de fibra do Centro", date(2019, 3, 11)
    )
    decree = Decree("9.876", permit.number, date(2026, 6, 30), DECISION.signatory, date(2026, 7, 3), before)
    causes = (Cause("network", "length_m", "6100.00", "6436.04"), Cause("reducer", "reducer", "1.00", "0.90"))
    return PriceChange(PermitFile(permit, (), (decree,)), decree, draft, causes)


def sample_note() -> Note:
    """Return a difference note on the sample invoice, of which one strip turned out to be wider."""
    invoice = sample_invoice()
    rise = Decimal("310.25")
    causes = (MonthCause("width", 1, Decimal("1234.56"), rise, ("ALFA-0001",)),)
    line = NoteLine(
        month=invoice.month,
        what="",
        now=invoice.total,
        before=invoice.total - rise,
        amount=rise,
        articles=("7", "10 § 2"),
        invoice=invoice.number,
        edition=invoice.basis.edition,
        reducer="0.90",
        lines=invoice.lines,
        causes=causes,
    )
    return Note(
        number="2026/000124",
        kind=DIFFERENCE,
        issued_on=date(2026, 12, 1),
        due_on=date(2027, 1, 15),
        authority=AUTHORITY,
        operator=OPERATOR,
        basis=invoice.basis,
        cause="Largura medida em campo (processo 4.512/2026)",
        lines=(line,),
        total=rise,
        digest=sha256("nota"),
        by="Ana Lima",
    )


def sample_map(templates: Templates = PACKAGE, size_mm: tuple[float, float] = DECREE_MAP_MM) -> NetworkMap:
    """Draw three zones with a gap and an overlap, lines of each status and a cabinet."""
    shapes = [box(320000 + 400 * i, 7412000, 320400 + 400 * i, 7413000) for i in range(3)]
    zones = gpd.GeoDataFrame(
        {"land_value": ["177.18", "458.41", "973.00", None], "kind": ["zone", "zone", "gap", "overlap"]},
        geometry=[*shapes, box(320350, 7412400, 320450, 7412700)],
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
    cabinets = gpd.GeoDataFrame({"status": ["permitted"]}, geometry=[Point(320200, 7412500)], crs="EPSG:31983")
    return network_map(segments, zones, *size_mm, equipment=cabinets, templates=templates)


def _network_lines(rows: Iterable[Row] = NETWORK) -> tuple[Line, ...]:
    made = []
    for length, width, value, zone, multiplier, days, articles, flags in rows:
        a, b, t, times = (Decimal(text) for text in (length, width, value, multiplier))
        location, depreciation, reducer = Decimal("0.03"), Decimal("0.50"), Decimal("0.90")
        exact = Fraction(days, MONTH_DAYS)
        for factor in (a, b, t, location, depreciation, reducer, times):
            exact *= Fraction(factor)
        permit = None if flags == ("in_gap", "no_decree") or multiplier == "2" else "118/2019"
        made.append(
            Line(
                kind="network",
                service="telecomunicações",
                permit=permit,
                zone=zone,
                land_value=t,
                length_m=a,
                billed_width_m=b,
                volume_m3=None,
                price_per_m3=None,
                location_index=location,
                depreciation_index=depreciation,
                reducer=reducer,
                multiplier=times,
                days=days,
                month_days=MONTH_DAYS,
                amount=round_money(exact),
                articles=articles,
                flags=flags,
            )
        )
    return tuple(made)


def _cabinet_line() -> Line:
    volume, price = Decimal("2.40"), Decimal("150.00")
    return Line(
        kind="equipment",
        service="telecomunicações",
        permit="118/2019",
        zone=None,
        land_value=None,
        length_m=None,
        billed_width_m=None,
        volume_m3=volume,
        price_per_m3=price,
        location_index=None,
        depreciation_index=None,
        reducer=None,
        multiplier=Decimal(1),
        days=MONTH_DAYS,
        month_days=MONTH_DAYS,
        amount=round_money(Fraction(volume) * Fraction(price)),
        articles=("7 § 2",),
        flags=(),
    )


def _metres(lines: tuple[Line, ...], multiplier: str) -> Decimal:
    return sum((line.length_m for line in lines if line.length_m and line.multiplier == Decimal(multiplier)), ZERO)


def _basis() -> Basis:
    uses = tuple(
        PolicyUse(key, value, "hold" if value == DECISION.id else value, value if value == DECISION.id else None)
        for key, value in POLICY.items()
    )
    digests = tuple((name, sha256(name)) for name in ("edition", "equipment", "network", "policy", "statute"))
    return Basis(
        STATUTE,
        "Lei nº 3.057, de 27 de junho de 2001",
        "2026",
        date(2026, 1, 1),
        uses,
        (DECISION,),
        digests,
    )
