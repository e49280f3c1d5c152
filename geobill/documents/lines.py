"""The lines of a bill as a compact table: one row a line, a letter for its grounds, and the letters' legend."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal

from geobill.documents import words
from geobill.domain.invoice import Line

ZERO_M = Decimal("0.00")
DOUBLE = 2
ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
ARTICLES: dict[str, str] = {
    "7": "fórmula do preço",
    "7 § 1": "largura mínima para cobrança",
    "7 § 2": "cobrança por volume",
    "10 § 2": "cobrança em dobro do equipamento clandestino que não pode ser retirado, até a cessação da irregularidade",
    "12": "equipamento já implantado em caráter permanente",
    "12 § 3": "cobrança em dobro por falta do cadastro no prazo",
    "16": "a Lei alcança os espaços que já vêm sendo utilizados",
}
NOTES: dict[str, str] = {
    "on_border": "a linha corre sobre a divisa e conta uma só vez",
    "on_overlap": "o Mapa de Valores dá mais de um valor ao lugar",
    "in_gap": "via que o Mapa de Valores não cobre; vale o valor T da zona mais próxima",
    "same_strip": "a entidade tem mais de uma rede na mesma faixa de largura b",
    "declared_length": "vale a extensão que a entidade declarou",
    "no_decree": "não há decreto de permissão registrado para o trecho ou equipamento",
}


@dataclass(frozen=True)
class NumberedLine:
    """A line with its number on the document, to which the annex refers, and the letter of its grounds."""

    number: int
    line: Line
    letter: str
    doubled: bool


@dataclass(frozen=True)
class Ground:
    """What a letter stands for, in short, and what the lines that bear it add up to; ``length_m`` is None for equipment."""

    letter: str
    articles: str
    notes: str
    doubled: str
    count: int
    length_m: Decimal | None
    amount: Decimal


@dataclass(frozen=True)
class LineTable:
    """The lines of one kind. A service or permit that all of them share stands above the table, not in a column."""

    rows: tuple[NumberedLine, ...]
    service_column: bool
    permit_column: bool
    service: str
    permit: str
    length_m: Decimal
    volume_m3: Decimal
    amount: Decimal

    @property
    def numbers(self) -> str:
        """First and last number of the rows.

        Examples
        --------
        >>> LineTable((), False, False, "", "", ZERO_M, ZERO_M, ZERO_M).numbers
        ''
        """
        if not self.rows:
            return ""
        first, last = self.rows[0].number, self.rows[-1].number
        return f"linha {first}" if first == last else f"linhas {first} a {last}"


def letter(position: int) -> str:
    """Letters as spreadsheets count columns, from 0.

    Examples
    --------
    >>> letter(0), letter(25), letter(26), letter(701), letter(702)
    ('A', 'Z', 'AA', 'ZZ', 'AAA')
    """
    text = ""
    position += 1
    while position:
        position, rest = divmod(position - 1, len(ALPHABET))
        text = ALPHABET[rest] + text
    return text


def grounds(lines: Iterable[Line]) -> tuple[Ground, ...]:
    """Each combination of articles, notes and multiplier that occurs, lettered in the order of the lines."""
    groups: dict[tuple[object, ...], list[Line]] = {}
    for line in lines:
        groups.setdefault(_key(line), []).append(line)
    return tuple(
        Ground(
            letter=letter(position),
            articles=words.articles(members[0].articles),
            notes=words.flags(members[0].flags),
            doubled=_doubled(members[0]),
            count=len(members),
            length_m=_sum(line.length_m for line in members) if members[0].kind == "network" else None,
            amount=_sum(line.amount for line in members),
        )
        for position, members in enumerate(groups.values())
    )


def glossary(lines: Iterable[Line]) -> tuple[tuple[str, str], ...]:
    """Articles and notes that occur in the lines, each with its meaning, once; in the order of their tables above."""
    cited, noted = set(), set()
    for line in lines:
        cited.update(line.articles)
        noted.update(line.flags)
    return (
        *((words.article(text), meaning) for text, meaning in ARTICLES.items() if text in cited),
        *((words.flags((code,)), meaning) for code, meaning in NOTES.items() if code in noted),
    )


def line_table(lines: Sequence[Line], kind: str) -> LineTable:
    """Lines of one kind (``network`` or ``equipment``), numbered and lettered through the whole document."""
    letters: dict[tuple[object, ...], str] = {}
    for line in lines:
        letters.setdefault(_key(line), letter(len(letters)))
    rows = tuple(
        NumberedLine(number, line, letters[_key(line)], line.multiplier > 1)
        for number, line in enumerate(lines, start=1)
        if line.kind == kind
    )
    services = {words.service(row.line.service) for row in rows}
    permits = {row.line.permit or "" for row in rows}
    return LineTable(
        rows=rows,
        service_column=len(services) > 1,
        permit_column=len(permits) > 1,
        service=services.pop() if len(services) == 1 else "",
        permit=permits.pop() if len(permits) == 1 else "",
        length_m=_sum(row.line.length_m for row in rows),
        volume_m3=_sum(row.line.volume_m3 for row in rows),
        amount=_sum(row.line.amount for row in rows),
    )


def metres_charged(lines: Iterable[Line], doubled: bool) -> Decimal:
    """Metres of network on the lines that are charged once, or on those that are charged double."""
    return _sum(line.length_m for line in lines if (line.multiplier > 1) == doubled)


def _key(line: Line) -> tuple[object, ...]:
    return line.kind, line.articles, line.flags, line.multiplier


def _doubled(line: Line) -> str:
    """How a doubled line is marked in the legend, citing what doubles it; empty for a line that isn't."""
    if line.multiplier <= 1:
        return ""
    cited = [text for text in line.articles if text in ("10 § 2", "12 § 3")] or ["10 § 2"]
    if line.multiplier > DOUBLE:
        return f"EM DOBRO DUAS VEZES ({words.number(line.multiplier)}×), {words.articles(cited)}"
    return f"EM DOBRO, {words.articles(cited[:1])}"


def _sum(values: Iterable[Decimal | None]) -> Decimal:
    return sum((value for value in values if value is not None), ZERO_M)
