"""What a memo of calculation shows of a record: numbered lines, sums, a worked example; and the check that they hold."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from fractions import Fraction

from geobill.documents import words
from geobill.documents.policy_words import policy_value
from geobill.domain.invoice import Basis, Held, Invoice, Line, WholeMonth
from geobill.domain.money import plain, round_money
from geobill.errors import BooksDontCloseError

DIGESTS: dict[str, str] = {
    "statute": "Lei (valores datados)",
    "policy": "Parâmetros de cálculo",
    "decisions": "Decisões (art. 15)",
    "edition": "Edição do Mapa de Valores",
    "map_edition": "Edição do Mapa de Valores",
    "zones": "Zonas do Mapa de Valores",
    "land_values": "Mapa de Valores",
    "coverage": "Cobertura de zonas usada no cálculo",
    "geometry": "Geometria da rede",
    "segments": "Trechos da rede",
    "network": "Rede",
    "equipment": "Equipamentos",
    "operator": "Cadastro da entidade",
    "authority": "Dados do Município",
    "permits": "Permissões",
    "lines": "Linhas",
}
MOST_DECIMALS = 12
LONGEST_MOVE_DAYS = 7


@dataclass(frozen=True)
class NumberedLine:
    """A line with its number on the document; the annex refers to it."""

    number: int
    line: Line
    doubled: str


@dataclass(frozen=True)
class HeldGroup:
    """Held metres of one reason and article, with what they would cost if ``basis`` applied."""

    title: str
    reason: str
    article: str
    segments: int
    length_m: Decimal
    basis: str
    amount: Decimal | None


@dataclass(frozen=True)
class WorkedExample:
    """A line worked out as on a pocket calculator."""

    number: int
    symbols: str
    factors: str
    exact: str
    amount: Decimal


def numbered(lines: Sequence[Line], kind: str) -> tuple[NumberedLine, ...]:
    """Lines of one kind (``network`` or ``equipment``), numbered through the whole document."""
    return tuple(
        NumberedLine(number, line, _doubled(line)) for number, line in enumerate(lines, start=1) if line.kind == kind
    )


def check_lines(lines: Sequence[Line], total: Decimal, rounding: str, what: str) -> None:
    """Work every line out again from its printed factors, and the total from the lines, before anything is printed.

    Raises
    ------
    BooksDontCloseError
        At the first line whose printed factors don't give its amount, or if the lines don't add up to the total.
    """
    for number, line in enumerate(lines, start=1):
        exact = _product(line)
        if round_money(exact, rounding) != line.amount:
            raise BooksDontCloseError(
                f"Line {number} of {what} says R$ {plain(line.amount)}, but its printed factors give R$ "
                f"{_exact_text(exact)}. A document must let its reader work out each amount: it wasn't rendered. "
                "Price the month again; if it stays so, report it."
            )
    added = sum((line.amount for line in lines), Decimal("0.00"))
    if added != total:
        raise BooksDontCloseError(
            f"The lines of {what} add up to R$ {plain(added)}, its total says R$ {plain(total)} "
            f"(R$ {plain(abs(added - total))} apart). It wasn't rendered. Price the month again; if it stays so, "
            "report it."
        )


def worked_example(lines: Sequence[Line]) -> WorkedExample | None:
    """First line worked out, or None where there are no lines."""
    if not lines:
        return None
    line = lines[0]
    symbols, factors = zip(*_factors(line), strict=True)
    return WorkedExample(
        number=1,
        symbols=" × ".join(symbols) + " × dias ÷ dias do mês",
        factors=" × ".join(words.number(factor) for factor in factors) + f" × {line.days} ÷ {line.month_days}",
        exact=_exact_text(_product(line)),
        amount=line.amount,
    )


def held_groups(held: Iterable[Held]) -> tuple[HeldGroup, ...]:
    """Held metres summed by reason, article and what the case is, in the order in which they first appear."""
    groups: dict[tuple[str, str, str, str], list[Held]] = {}
    for item in held:
        reason = words.held_reason(item.code, item.reason)
        basis = words.amount_if_basis(item.amount_if.what) if item.amount_if else ""
        groups.setdefault((item.code, reason, item.article, basis), []).append(item)
    return tuple(
        HeldGroup(
            title=words.held_title(code),
            reason=reason,
            article=article,
            segments=len({item.segment for item in items if item.segment}),
            length_m=sum((item.length_m for item in items), Decimal(0)),
            basis=basis,
            amount=sum((i.amount_if.amount for i in items if i.amount_if), Decimal(0)) if basis else None,
        )
        for (code, reason, article, basis), items in groups.items()
    )


def extents(price: WholeMonth) -> tuple[str, ...]:
    """Say what a permit covers, by service in the order of the lines: metres of network and volume of equipment.

    Where the whole network is held there are no lines for it: its extension stands first.
    """
    sums: dict[str, list[Decimal]] = {}
    for line in price.lines:
        extent = sums.setdefault(words.service(line.service) or "infraestrutura urbana", [Decimal(0), Decimal(0)])
        extent[0] += line.length_m or 0
        extent[1] += line.volume_m3 or 0
    said = [f"rede com {words.metres(price.network_length_m)} de extensão"] if price.total is None else []
    for name, (length_m, volume_m3) in sums.items():
        parts = [f"rede com {words.metres(length_m)} de extensão"] if length_m and price.total is not None else []
        if volume_m3:
            parts.append(f"armários, contêineres e outros equipamentos com {words.number(volume_m3)}{words.NBSP}m³")
        if parts:
            said.append(f"{name}: {' e '.join(parts)}")
    return tuple(said)


def due_sentence(invoice: Invoice) -> str:
    """Why the invoice is due on its day (art. 8), in a sentence."""
    month = invoice.month
    if policy_value(invoice.basis, "due_month", "following") == "following":
        month = month.following()
    nominal = date(month.year, month.month, 15)
    if invoice.due_on == nominal:
        return "Vencimento no décimo quinto dia do mês (art. 8º)."
    moved = (invoice.due_on - nominal).days
    if 0 < moved <= LONGEST_MOVE_DAYS and invoice.issued_on <= invoice.due_on and invoice.issued_on <= nominal:
        return (
            f"O décimo quinto dia (art. 8º), {words.long_date(nominal)}, não tem expediente bancário: o vencimento "
            "passa ao primeiro dia útil bancário seguinte."
        )
    return (
        f"O décimo quinto dia (art. 8º) seria {words.long_date(nominal)}; o vencimento desta fatura foi fixado na sua "
        "emissão."
    )


def digests(basis: Basis) -> tuple[tuple[str, str], ...]:
    """Digests with their names in Portuguese; a name without words stands as it is."""
    return tuple((DIGESTS.get(name, name), digest) for name, digest in basis.digests)


def _doubled(line: Line) -> str:
    """How a doubled line is marked, citing what doubles it; empty for a line that isn't."""
    if line.multiplier <= 1:
        return ""
    cited = [text for text in line.articles if text.split()[0] in ("10", "12")] or ["10 § 2"]
    return f"EM DOBRO, {words.articles(cited[:1])}"


def _factors(line: Line) -> list[tuple[str, Decimal]]:
    pairs = [
        ("a", line.length_m),
        ("b", line.billed_width_m),
        ("T", line.land_value),
        ("volume", line.volume_m3),
        ("preço do m³", line.price_per_m3),
        ("L", line.location_index),
        ("D", line.depreciation_index),
        ("R", line.reducer),
        ("multiplicador", line.multiplier),
    ]
    return [(symbol, factor) for symbol, factor in pairs if factor is not None]


def _product(line: Line) -> Fraction:
    exact = Fraction(line.days, line.month_days)
    for _, factor in _factors(line):
        exact *= Fraction(factor)
    return exact


def _exact_text(exact: Fraction) -> str:
    """Exact value with all its decimals, or the first six and an ellipsis where they don't end."""
    for decimals in range(2, MOST_DECIMALS + 1):
        scaled = exact * 10**decimals
        if scaled.denominator == 1:
            return words.number(Decimal(int(scaled)).scaleb(-decimals))
    return words.number(Decimal(int(exact * 10**6)).scaleb(-6)) + "…"
