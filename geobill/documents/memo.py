"""What a memo of calculation shows of a record: sums, a worked example, the scale of R; and the check that it holds."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from fractions import Fraction
from typing import Any

from geobill.documents import held_words, words
from geobill.documents.lines import factors, glossary, grounds, line_table, printed_factors
from geobill.documents.policy_words import decision_in_words, policy_lines, policy_value
from geobill.documents.statute_words import StatuteWords
from geobill.domain.invoice import Basis, Held, Invoice, Line, WholeMonth
from geobill.domain.money import plain, round_money
from geobill.domain.ratio import fraction
from geobill.errors import BooksDontCloseError

DIGESTS: dict[str, str] = {
    "statute": "Lei (valores datados)",
    "policy": "Parâmetros de cálculo",
    "decisions": "Decisões",
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
    "permit": "Permissão (atos e pagamentos)",
    "templates": "Modelos próprios",
    "lines": "Linhas",
    "case": "Processo",
    "row_cases": "Processos que cobram trechos e equipamentos",
    "suspensions": "Ordens judiciais",
    "set_offs": "Compensações",
}
MOST_DECIMALS = 12
LONGEST_MOVE_DAYS = 7
SATURDAY, DAYS_IN_A_WEEK = 5, 7
ZERO = Decimal(0)
INTEREST = {  # how a law counts the months of interest
    "started_months": ", contado por inteiro o mês começado",
    "full_months": ", contados apenas os meses completos",
    "daily": ", proporcionais aos dias",
}
PRICES = ("price_per_m3", "price_per_piece")


@dataclass(frozen=True)
class HeldGroup:
    """Held metres of one reason and article, with what they would cost if ``basis`` applied; ``whose`` where no segment is named."""

    title: str
    reason: str
    article: str
    segments: int
    whose: str
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
                f"{exact_text(exact)}. A document must let its reader work out each amount: it wasn't rendered. "
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
    """Line of the largest amount worked out, of the network and not doubled if there is one; None without lines."""
    if not lines:
        return None
    line = max(lines, key=lambda line: (line.kind == "network", line.multiplier <= 1, line.amount))
    return WorkedExample(
        number=lines.index(line) + 1,
        symbols=" × ".join(symbol for symbol, _ in factors(line)) + " × dias ÷ dias do mês",
        factors=f"{printed_factors(line)} × {line.days} ÷ {line.month_days}",
        exact=exact_text(_product(line)),
        amount=line.amount,
    )


def held_groups(held: Iterable[Held], statute: StatuteWords) -> tuple[HeldGroup, ...]:
    """Held metres summed by reason, article and what the case is, in the order in which they first appear."""
    groups: dict[tuple[str, str, str, str], list[Held]] = {}
    end, table = statute.scale_end, statute.cite("reducer")
    for item in held:
        reason = held_words.held_reason(item.code, item.reason, end, f", no {table}," if table else "")
        basis = held_words.amount_if_basis(item.amount_if.what, end) if item.amount_if else ""
        groups.setdefault((item.code, reason, item.article, basis), []).append(item)
    return tuple(
        HeldGroup(
            title=held_words.held_title(code, end),
            reason=reason,
            article=article,
            segments=len({item.segment for item in items if item.segment}),
            whose=f"toda a rede{held_words.held_whose(items[0].reason)}",
            length_m=sum((item.length_m for item in items), Decimal(0)),
            basis=basis,
            amount=sum((i.amount_if.amount for i in items if i.amount_if), Decimal(0)) if basis else None,
        )
        for (code, reason, article, basis), items in groups.items()
    )


Extent = tuple[Decimal, Decimal, Decimal]  # metres, cubic metres, pieces
Extents = dict[str, Extent]
NOTHING: Extent = (ZERO, ZERO, ZERO)


def extents(price: WholeMonth, own_service: str = "") -> tuple[str, ...]:
    """Say what a permit covers, by service in the order of the lines: metres of network, volume or number of equipment.

    Lines without a service belong to the operator's own. Where the whole network is held there are no lines for it:
    its extension stands first.
    """
    if price.total is not None:
        return say_extents(extent_sums(price.lines, own_service))
    boxes = extent_sums((line for line in price.lines if line.kind == "equipment"), own_service)
    return (f"rede com {words.metres(price.held_m)} de extensão", *say_extents(boxes))


def extent_sums(lines: Iterable[Line], own_service: str = "") -> Extents:
    """Metres, cubic metres and pieces of lines by service, in the order of the lines."""
    sums: Extents = {}
    for line in lines:
        name = words.service(line.service or own_service) or "infraestrutura urbana"
        length_m, volume_m3, pieces = sums.get(name, NOTHING)
        sums[name] = (length_m + (line.length_m or 0), volume_m3 + (line.volume_m3 or 0), pieces + (line.pieces or 0))
    return sums


def say_extents(sums: Extents) -> tuple[str, ...]:
    """Say metres, cubic metres and pieces by service; a service of which there is nothing is left out."""
    said = []
    for name, (length_m, volume_m3, pieces) in sums.items():
        parts = [f"rede com {words.metres(length_m)} de extensão"] if length_m else []
        boxes = [f"{words.figure(volume_m3)}{words.NBSP}m³"] if volume_m3 else []
        if pieces:
            boxes.append(f"{words.number(pieces)} {'unidade' if pieces == 1 else 'unidades'}")
        if boxes:
            parts.append(f"armários, contêineres e outros equipamentos com {' e '.join(boxes)}")
        if parts:
            said.append(f"{name}: {' e '.join(parts)}")
    return tuple(said)


def context(basis: Basis, lines: tuple[Line, ...], statute: StatuteWords) -> dict[str, Any]:
    """Values that the memo of calculation needs in every document that has one."""
    charged = {line.multiplier for line in lines if line.multiplier > 1}
    return {
        "basis": basis,
        "statute": statute,
        "network": line_table(lines, "network", statute),
        "equipment": line_table(lines, "equipment", statute),
        "grounds": grounds(lines, statute),
        "glossary": glossary(lines, statute),
        "no_decree": any("no_decree" in line.flags for line in lines),
        "scale": statute.scale,
        "example": worked_example(lines),
        "adjusted": statute.adjusted(*PRICES),
        "policy": policy_lines(basis, statute),
        "decisions": [decision_in_words(decision, statute) for decision in basis.decisions],
        "digests": digests(basis, statute),
        "rounding": policy_value(basis, "rounding", "half_up"),
        "reducer_scope": policy_value(basis, "reducer_scope", "operator"),
        "reducer_method": statute.scale_method or policy_value(basis, "reducer_method", "whole"),
        "multipliers": sorted(charged) or list(statute.multipliers),
        "cumulated": max(charged, default=ZERO) > max(statute.multipliers, default=ZERO),
        "strip_once": policy_value(basis, "same_strip", "each") == "once",
        "due_month": policy_value(basis, "due_month", "following"),
        "due_day_rule": policy_value(basis, "due_day_rule", "next_business_day"),
    }


def due_sentence(invoice: Invoice, statute: StatuteWords) -> str:
    """Why the invoice is due on its day, in a sentence that holds whoever chose the day.

    The record doesn't say whether a day of the law that isn't the due day was a holiday: only for a weekend is it
    certain, so for other days the rule is stated beside the two dates, and nothing is claimed of the law's day.
    """
    month = invoice.month
    if policy_value(invoice.basis, "due_month", "following") == "following":
        month = month.following()
    nominal = date(month.year, month.month, int(statute.value("due_day")))
    day, cited = words.ordinal_in_words(nominal.day), statute.aside("due_day")
    if invoice.due_on == nominal:
        return f"Vencimento no {day} dia do mês{cited}."
    moved = (invoice.due_on - nominal).days
    could_move = policy_value(invoice.basis, "due_day_rule", "next_business_day") == "next_business_day"
    if could_move and 0 < moved <= LONGEST_MOVE_DAYS and invoice.issued_on <= nominal:
        if nominal.weekday() >= SATURDAY and moved == DAYS_IN_A_WEEK - nominal.weekday():
            return (
                f"O {day} dia{cited}, {words.long_date(nominal)}, não tem expediente bancário: o vencimento "
                "passa ao primeiro dia útil bancário seguinte."
            )
        return (
            f"O {day} dia{cited} é {words.long_date(nominal)}, e o vencimento desta fatura, "
            f"{words.long_date(invoice.due_on)}; sem expediente bancário, o vencimento passa ao primeiro dia útil "
            "bancário seguinte."
        )
    return (
        f"O {day} dia{cited} é {words.long_date(nominal)}; o vencimento desta fatura, "
        f"{words.long_date(invoice.due_on)}, foi fixado na sua emissão."
    )


def late_charges(statute: StatuteWords) -> str:
    """Say what a payment in arrears costs by the statute; empty where it has neither late fine nor interest."""
    parts = []
    if statute.has("late_fine_share"):
        parts.append(f"multa de {words.percent(statute.value('late_fine_share'))}{statute.aside('late_fine_share')}")
    if statute.has("late_interest_per_month"):
        rate = words.percent(statute.value("late_interest_per_month"))
        counted = INTEREST.get(statute.method("late_interest_per_month") or "", "")
        parts.append(f"juros de {rate} ao mês{counted}{statute.aside('late_interest_per_month')}")
    return f"O pagamento em atraso fica sujeito a {' e a '.join(parts)}." if parts else ""


def digests(basis: Basis, statute: StatuteWords) -> tuple[tuple[str, str], ...]:
    """Digests with their names in Portuguese; a name without words stands as it is."""
    cited = {"decisions": statute.aside("open_questions")}
    return tuple((DIGESTS.get(name, name) + cited.get(name, ""), digest) for name, digest in basis.digests)


def _product(line: Line) -> Fraction:
    """Multiply the factors that are printed, not the record's: one that isn't on the paper isn't in it."""
    exact = Fraction(line.days, line.month_days)
    for _, factor in factors(line):
        exact *= fraction(factor)
    return exact


def exact_text(exact: Fraction) -> str:
    """Write an exact value with all its decimals, or the first six and an ellipsis where they don't end."""
    for decimals in range(2, MOST_DECIMALS + 1):
        scaled = exact * 10**decimals
        if scaled.denominator == 1:
            return words.number(Decimal(int(scaled)).scaleb(-decimals))
    return words.number(Decimal(int(exact * 10**6)).scaleb(-6)) + "…"
