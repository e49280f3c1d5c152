"""What a court keeps from being demanded, as an invoice or a note shows it: apart from the total, with the lawsuit and its effect."""

from dataclasses import dataclass
from decimal import Decimal

from geobill.documents.lines import case_of, mark_of, printed_factors
from geobill.documents.statute_words import StatuteWords
from geobill.documents.words import NBSP
from geobill.domain.invoice import Line, Suspended
from geobill.domain.suspension import ACCRUES, JUDICIAL_DEPOSIT, NOT_CHARGED

# Effect of a court's order in a few words, and in a sentence.
EFFECTS: dict[str, tuple[str, str]] = {
    ACCRUES: (
        "apurado, sem exigibilidade",
        "O valor é apurado mês a mês e não é exigível enquanto a ordem judicial produzir efeito.",
    ),
    NOT_CHARGED: (
        "não cobrado",
        "O valor é indicado apenas para registro e não é cobrado enquanto a ordem judicial produzir efeito.",
    ),
    JUDICIAL_DEPOSIT: (
        "depósito judicial",
        "O valor é depositado em juízo, à disposição do processo, e não se paga por este documento.",
    ),
}


@dataclass(frozen=True)
class SuspendedLine:
    """A suspended line: what it is of, its factors in the order in which they are multiplied, its amount."""

    what: str
    factors: str
    mark: str
    amount: Decimal


@dataclass(frozen=True)
class SuspendedPart:
    """What one court order suspends: the lawsuit, the court, the effect in words, and the lines."""

    court_case: str
    court: str
    effect: str
    explained: str
    length_m: Decimal
    total: Decimal
    lines: tuple[SuspendedLine, ...]


def suspended_parts(suspended: tuple[Suspended, ...], statute: StatuteWords) -> tuple[SuspendedPart, ...]:
    """Say each suspension in words; an effect without words stands as it is."""
    return tuple(
        SuspendedPart(
            s.court_case,
            s.court,
            *EFFECTS.get(s.effect, (s.effect, "")),
            s.length_m,
            s.total,
            tuple(_line(line, statute) for line in s.lines),
        )
        for s in suspended
    )


def _line(line: Line, statute: StatuteWords) -> SuspendedLine:
    what = (line.zone or "sem nome") if line.kind == "network" else "Armários, contêineres e outros"
    named = (what, f"permissão {line.permit}" if line.permit else "", case_of(line))
    return SuspendedLine(
        " · ".join(filter(None, named)),
        f"{printed_factors(line)} × {line.days} ÷ {line.month_days}".replace(" ", NBSP),
        mark_of(line, statute),
        line.amount,
    )
