"""The lines of a bill as a compact table: one row a line, a letter for its grounds, and the letters' legend."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal

from geobill.documents import words
from geobill.documents.statute_words import MULTIPLIERS, TIMES, StatuteWords, times
from geobill.domain.invoice import Line
from geobill.domain.ratio import Ratio

ZERO_M = Decimal("0.00")
NO_DECREE = "no_decree"
MULTIPLIER, PIECES = "multiplicador", "unidades"
ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
# What the articles of a line are about, by the name of the rule or figure; where one article has several, its first.
MEANINGS: dict[str, str] = {
    "price": "fórmula do preço",
    "location_index": "índice de locação L",
    "depreciation_index": "índice de depreciação D",
    "minimum_width_m": "largura mínima para cobrança",
    "reducer": "coeficiente redutor R",
    "land_value": "valor T do terreno",
    "price_per_m3": "cobrança por volume",
    "price_per_piece": "cobrança por unidade",
    "clandestine_multiplier": (
        "cobrança {times} do equipamento clandestino que não pode ser retirado, até a cessação da irregularidade"
    ),
    "existing": "equipamento já implantado em caráter permanente",
    "unregistered_multiplier": "cobrança {times} por falta do cadastro no prazo",
    NO_DECREE: "a Lei alcança os espaços que já vêm sendo utilizados",
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
    """A line with its number on the document, to which the annex refers, and the letter of its grounds.

    ``mark`` says of a line that is charged more than once how many times ("EM DOBRO"); else it is empty. ``case`` names the
    cases by which it is charged.
    """

    number: int
    line: Line
    letter: str
    doubled: bool
    mark: str
    case: str = ""


@dataclass(frozen=True)
class Ground:
    """What a letter stands for, in short, and what the lines that bear it add up to; ``length_m`` is None for equipment.

    ``case`` names the cases by which the lines are charged, empty where none is.
    """

    letter: str
    articles: str
    notes: str
    doubled: str
    count: int
    length_m: Decimal | None
    amount: Decimal
    case: str = ""


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
    pieces: int
    amount: Decimal

    @property
    def quantity(self) -> str:
        """How equipment is counted on these lines: by ``volume``, by ``pieces`` or by ``both``."""
        counted = {row.line.pieces is not None for row in self.rows}
        return "both" if len(counted) > 1 else "pieces" if counted == {True} else "volume"

    @property
    def numbers(self) -> str:
        """First and last number of the rows.

        Examples
        --------
        >>> LineTable((), False, False, "", "", ZERO_M, ZERO_M, 0, ZERO_M).numbers
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


def grounds(lines: Iterable[Line], statute: StatuteWords) -> tuple[Ground, ...]:
    """Each combination of articles, notes and multiplier that occurs, lettered in the order of the lines."""
    groups: dict[tuple[object, ...], list[Line]] = {}
    for line in lines:
        groups.setdefault(_key(line), []).append(line)
    return tuple(
        Ground(
            letter=letter(position),
            articles=words.articles(members[0].articles),
            notes=words.flags(members[0].flags, statute.aside(NO_DECREE)),
            doubled=_doubled(members[0], statute),
            count=len(members),
            length_m=_sum(line.length_m for line in members) if members[0].kind == "network" else None,
            amount=_sum(line.amount for line in members),
            case=case_of(members[0]),
        )
        for position, members in enumerate(groups.values())
    )


def glossary(lines: Iterable[Line], statute: StatuteWords) -> tuple[tuple[str, str], ...]:
    """Articles and notes that occur in the lines, each with its meaning, once; in the order of their tables above."""
    cited, noted = set(), set()
    for line in lines:
        cited.update(line.articles)
        noted.update(line.flags)
    no_decree = statute.aside(NO_DECREE)
    return (
        *((words.article(text), meaning) for text, meaning in _meanings(statute).items() if text in cited),
        *((words.flags((code,), no_decree), meaning) for code, meaning in NOTES.items() if code in noted),
    )


def _meanings(statute: StatuteWords) -> dict[str, str]:
    """Say what each article that a line may cite is about: the statute's own, then acts and indexes that changed a figure."""
    found: dict[str, str] = {}
    later: dict[str, str] = {}
    for name, meaning in MEANINGS.items():
        own, *others = statute.articles(name) or ("",)
        if own:
            found.setdefault(own, meaning.format(times=statute.times(name)) if "{" in meaning else meaning)
        adjusted = bool(statute.adjusted(name))
        for place, article in enumerate(others, 1):
            by_index = adjusted and place == len(others)
            later.setdefault(
                article, "atualização do preço por índice" if by_index else "ato que fixou o valor em vigor"
            )
    return found | {article: meaning for article, meaning in later.items() if article not in found}


def line_table(lines: Sequence[Line], kind: str, statute: StatuteWords) -> LineTable:
    """Lines of one kind (``network`` or ``equipment``), numbered and lettered through the whole document."""
    letters: dict[tuple[object, ...], str] = {}
    for line in lines:
        letters.setdefault(_key(line), letter(len(letters)))
    rows = tuple(
        NumberedLine(number, line, letters[_key(line)], line.multiplier > 1, mark_of(line, statute), case_of(line))
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
        pieces=sum(row.line.pieces or 0 for row in rows),
        amount=_sum(row.line.amount for row in rows),
    )


def metres_charged(lines: Iterable[Line], doubled: bool) -> Decimal:
    """Metres of network on the lines that are charged once, or on those that are charged double."""
    return _sum(line.length_m for line in lines if (line.multiplier > 1) == doubled)


def factors(line: Line) -> list[tuple[str, Decimal | Ratio]]:
    """Factors of a line with their symbols, in the order in which they are multiplied; those that don't apply are left out."""
    pairs = [
        ("a", line.length_m),
        ("b", line.billed_width_m),
        ("T", line.land_value),
        ("volume", line.volume_m3),
        ("preço do m³", line.price_per_m3),
        (PIECES, None if line.pieces is None else Decimal(line.pieces)),
        ("preço da unidade", line.price_per_piece),
        ("L", line.location_index),
        ("D", line.depreciation_index),
        ("R", line.reducer),
        (MULTIPLIER, line.multiplier),
    ]
    return [(symbol, factor) for symbol, factor in pairs if factor is not None]


def printed_factors(line: Line) -> str:
    """Factors of a line as they are typed into a calculator, without the days."""
    return " × ".join(words.number(f) if s in (MULTIPLIER, PIECES) else words.figure(f) for s, f in factors(line))


def _key(line: Line) -> tuple[object, ...]:
    return line.kind, line.articles, line.flags, line.multiplier, line.cases


def case_of(line: Line) -> str:
    """Name the cases by which a line is charged (arts. 10, 12): "processo 2026-001"; empty where none is."""
    if not line.cases:
        return ""
    return f"processo{'s' if len(line.cases) > 1 else ''}{words.NBSP}{' e '.join(line.cases)}"


def mark_of(line: Line, statute: StatuteWords) -> str:
    """How a line that is charged more than once is marked beside its zone; empty for another."""
    if line.multiplier <= 1:
        return ""
    known = TIMES.get(line.multiplier, f"{words.number(line.multiplier)} vezes")
    return ("em dobro" if statute.doubles else known).upper().replace(" ", words.NBSP)


def _doubled(line: Line, statute: StatuteWords) -> str:
    """How a line that is charged more than once is marked in the legend, citing why; empty for another."""
    if line.multiplier <= 1:
        return ""
    named = [n for n in MULTIPLIERS if set(statute.articles(n)) & set(line.articles)]
    names = named or [n for n in MULTIPLIERS if statute.has(n)]
    one = next((n for n in names if statute.value(n) == line.multiplier), None)
    if one is not None:
        return f"{times(line.multiplier).upper()}, {words.articles(statute.articles(one))}"
    said = "EM DOBRO DUAS VEZES" if statute.doubles else "MULTIPLICADA"
    cited = words.articles(a for n in names for a in statute.articles(n))
    return f"{said} ({words.number(line.multiplier)}×), {cited}"


def _sum(values: Iterable[Decimal | None]) -> Decimal:
    return sum((value for value in values if value is not None), ZERO_M)
