"""Records under the law of Vila Fictícia (``tests/law/vila_ficticia.toml``): no figure or article of it is that of Caieiras."""

from datetime import date
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

from documents import records
from geobill.domain.dates import BillingMonth
from geobill.domain.invoice import Basis, DecreeDraft, Invoice, Line, PolicyUse, SetOff, Suspended, WholeMonth
from geobill.domain.money import round_money
from geobill.domain.network import Authority
from geobill.domain.ratio import Ratio, fraction
from geobill.law.policy import KEYS
from geobill.law.reading import parse_statute
from geobill.law.statutes.street_use import StreetUseLaw

FIGURES = parse_statute((Path(__file__).parents[1] / "law" / "vila_ficticia.toml").read_text(encoding="utf-8"))
LAW = StreetUseLaw(FIGURES)
MONTH, ON = BillingMonth(2026, 10), date(2026, 10, 1)
R = Ratio(Decimal("11400.00"), Decimal("12000.00"))  # 8 km at 1.00 and 4 km at 0.85
AUTHORITY = Authority(
    "Vila Fictícia",
    "SP",
    "Prefeitura Municipal de Vila Fictícia",
    secretariat="Secretaria de Vias Públicas",
    legal_office="Procuradoria-Geral",
    mayor="Rita Prado",
    mayor_title="Prefeita Municipal",
)


def network_line(length="8000.00", value="100.00", zone="Centro", width="0.30", status="permitted", days=31) -> Line:
    """A line as the law prices it: nothing of its figures or articles is written here."""
    a, b, t = (Decimal(text) for text in (length, width, value))
    asked = LAW.network(a, b, t, R, status, ON)
    return Line(
        kind="network",
        service="telecomunicações",
        permit="7/2015",
        zone=zone,
        land_value=t,
        length_m=a,
        billed_width_m=b,
        volume_m3=None,
        price_per_m3=None,
        location_index=asked.location_index,
        depreciation_index=asked.depreciation_index,
        reducer=R,
        multiplier=asked.multiplier,
        days=days,
        month_days=31,
        amount=round_money(Fraction(asked.exact) * fraction(R) * days / 31),
        articles=asked.articles,
        flags=(),
    )


def piece_line(pieces=3, status="permitted") -> Line:
    """A line of equipment that the law charges by the piece."""
    asked = LAW.equipment(None, status, ON, pieces=pieces)
    return Line(
        kind="equipment",
        service="telecomunicações",
        permit="7/2015",
        zone=None,
        land_value=None,
        length_m=None,
        billed_width_m=None,
        volume_m3=None,
        price_per_m3=None,
        location_index=None,
        depreciation_index=None,
        reducer=None,
        multiplier=asked.multiplier,
        days=31,
        month_days=31,
        amount=round_money(Fraction(asked.exact)),
        articles=asked.articles,
        flags=(),
        pieces=pieces,
        price_per_piece=asked.price_per_piece,
    )


def basis() -> Basis:
    """Return what the records were computed from, all policy at its defaults."""
    uses = tuple(PolicyUse(k.key, k.default, k.default) for k in KEYS)
    return Basis(FIGURES.id, FIGURES.title, "2026", date(2026, 1, 1), uses, (), (("statute", records.sha("vila")),))


def usual_lines() -> tuple[Line, ...]:
    return (
        network_line(),
        network_line("4000.00", "80.50", "Jardim", "0.45"),
        network_line("25.00", "100.00", "Centro", status="clandestine"),
        network_line("40.00", "80.50", "Jardim", status="unregistered"),
        piece_line(),
        piece_line(1, "clandestine"),
    )


def invoice(lines=None, **changes) -> Invoice:
    lines = usual_lines() if lines is None else tuple(lines)
    monthly = sum((line.amount for line in lines if line.multiplier == 1), Decimal("0.00"))
    values = {
        "number": "2026/000007",
        "month": MONTH,
        "issued_on": date(2026, 11, 3),
        "due_on": date(2026, 11, 20),
        "authority": AUTHORITY,
        "operator": records.operator(service="telecomunicações"),
        "basis": basis(),
        "lines": lines,
        "total": sum((line.amount for line in lines), Decimal("0.00")),
        "reducer": R,
        "network_length_m": Decimal("12000.00"),
        "held": (),
        "yearly": 11 * monthly,
        "yearly_monthly": monthly,
        "digest": records.sha("vila invoice"),
    }
    return Invoice(**{**values, **changes})


def draft(**changes) -> DecreeDraft:
    lines = tuple(line for line in usual_lines() if line.multiplier == 1)
    total = sum((line.amount for line in lines), Decimal("0.00"))
    price = WholeMonth(date(2026, 10, 31), Decimal("12000.00"), R, lines, Decimal("0.00"), total)
    values = {
        "authority": AUTHORITY,
        "operator": records.operator(service="telecomunicações"),
        "basis": basis(),
        "price": price,
        "deposit_months": 6,
        "deposit": 6 * total,
        "due_day": 20,
        "due_month": "following",
        "digest": records.sha("vila draft"),
    }
    return DecreeDraft(**{**values, **changes})


def suspended(
    effect="accrues", lines=None, case="1001234-56.2026.8.26.0106", court="1ª Vara Cível de Caieiras"
) -> Suspended:
    lines = (records.network_line("500.00"),) if lines is None else tuple(lines)
    total = sum((line.amount for line in lines), Decimal("0.00"))
    length = sum((line.length_m or Decimal(0) for line in lines), Decimal("0.00"))
    return Suspended("elektro", "S1", case, court, effect, lines, total, length)


SET_OFFS = (
    SetOff("C1", "Lei Municipal nº 4.321, de 10 de maio de 2019", Decimal("1500.00")),
    SetOff("C2", "Lei Municipal nº 4.500, de 2 de junho de 2020", Decimal("0.50")),
)
