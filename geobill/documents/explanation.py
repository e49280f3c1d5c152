"""One page for the file: why an invoice's or a note's amount is what it is, down to the rows of the delivered files."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from geobill.documents import words
from geobill.documents.citing import cite
from geobill.documents.forms import Job, make
from geobill.documents.lines import ZERO_M, case_of, grounds
from geobill.documents.memo import exact_text
from geobill.documents.note import TITLES
from geobill.documents.overrides.folder import PACKAGE, Templates
from geobill.documents.policy_words import PolicyLine, decision_in_words, policy_line
from geobill.documents.statute_words import StatuteWords
from geobill.documents.typesetting import printable
from geobill.domain.explanation import Article, ExplainedLine, Explanation, Factor, Origin, Piece
from geobill.domain.invoice import Line
from geobill.domain.ratio import Ratio
from geobill.law.figures import StatuteFigures

TEMPLATE = "explicacao.typ.j2"
MOST_PIECES, MOST_LINES, MOST_MONTHS = 10, 22, 45  # so many rows fit on the page; the others are summed up
FACTORS: dict[str, tuple[str, str, str]] = {  # symbol, what it is, where it comes from
    "length_m": ("a", "extensão na zona, em metros", "cadastro da entidade, cortado pelas zonas do Mapa de Valores"),
    "billed_width_m": ("b", "largura da faixa, em metros, com o mínimo da Lei", "cadastro da entidade"),
    "land_value": ("T", "valor do terreno, em reais por metro quadrado", "Mapa de Valores"),
    "volume_m3": ("V", "volume, em metros cúbicos", "cadastro da entidade"),
    "price_per_m3": ("P", "preço do metro cúbico, em reais", "Lei"),
    "pieces": ("n", "equipamentos", "cadastro da entidade"),
    "price_per_piece": ("P", "preço por equipamento, em reais", "Lei"),
    "location_index": ("L", "índice de locação", "Lei"),
    "depreciation_index": ("D", "índice de depreciação", "Lei"),
    "reducer": ("R", "coeficiente redutor, pela extensão da rede", "Lei"),
    "multiplier": ("×", "multiplicador (1: sem cobrança em dobro)", "situação do trecho"),
    "days": ("dias", "dias de uso no mês", "datas de instalação e retirada"),
    "month_days": ("÷", "dias do mês", "calendário"),
}
ROUNDINGS = {"half_up": "meio centavo arredonda para cima", "half_even": "meio centavo arredonda para o par"}
COUNTS = frozenset({"multiplier", "days", "month_days", "pieces"})


@dataclass(frozen=True)
class FactorRow:
    """A factor as it is printed."""

    symbol: str
    what: str
    value: str
    articles: str
    source: str


@dataclass(frozen=True)
class Quoted:
    """The text of an article; ``of`` says which one a paragraph is of."""

    of: str
    text: str


@dataclass(frozen=True)
class PieceRow:
    """A piece as it is printed; ``file`` is the number of its file in the list below, blank where it can't be traced."""

    name: str
    zone: str
    quantity: str
    share: str
    file: str
    row: str
    remark: str


@dataclass(frozen=True)
class FileRow:
    """A delivered file: the number by which pieces name it."""

    number: int
    origin: Origin
    imported_on: str


@dataclass(frozen=True)
class Rest:
    """What isn't listed: how many, and what they add up to."""

    count: int
    amount: Decimal
    quantity: str = ""
    share: str = ""


def render_explanation(explained: Explanation, figures: StatuteFigures, templates: Templates = PACKAGE) -> bytes:
    """Render an explanation as PDF; its date is the day of issue of what it explains.

    ``figures`` are the statute's, as they were archived.
    """
    return make(explanation_job(explained, figures), ("pdf",), templates)["pdf"]


def explanation_job(explained: Explanation, figures: StatuteFigures, most_pieces: int = MOST_PIECES) -> Job:
    """Gather what the template prints; see :func:`render_explanation`. Of the pieces the largest ``most_pieces`` are listed."""
    on = max(explained.month.first_day if explained.month else explained.issued_on, figures.published_on)
    statute = StatuteWords(figures, on)
    detail, title = explained.detail, _title(explained)
    values = {
        "explained": explained,
        "authority": explained.authority,
        "digest": explained.digest,
        "statute": statute,
        "title": title,
        "amount": detail.line.amount if detail else _amount(explained),
        "negative": _amount(explained) < 0,
        "example": None if detail is None else _worked(detail),
        "charging": "" if detail is None else case_of(detail.line),
        "factors": [] if detail is None else [_factor(f) for f in detail.factors],
        "quoted": []
        if detail is None
        else [Quoted(_context(a), _quotation(a.text)) for a in detail.articles if a.text],
        "cited": [] if detail is None else [words.article(a.article) for a in detail.articles if not a.text],
        "policy": [_policy(use, statute, explained) for use in (detail.policy if detail else ())],
        "decisions": [decision_in_words(d, statute) for d in explained.decisions],
        **_pieces(detail, most_pieces),
        **_whole(explained, statute),
        "rounding": ROUNDINGS[next((u.value for u in explained.policy if u.key == "rounding"), "half_up")],
    }
    inputs = {"title": printable(title), "author": printable(explained.authority.name)}
    return Job(TEMPLATE, values, inputs, explained.issued_on, explained.digest)


def _context(article: Article) -> str:
    """Say which article a paragraph belongs to; an article's own text says it itself."""
    return "" if article.text.startswith("Art.") else words.article(article.article)


def _title(explained: Explanation) -> str:
    what = "Fatura" if explained.kind == "invoice" else TITLES.get(explained.kind, "Nota")
    part = "" if explained.asked is None else f", {'linha' if explained.kind == 'invoice' else 'mês'} {explained.asked}"
    return f"{what} nº {explained.number}{part} – explicação do valor"


def _amount(explained: Explanation) -> Decimal:
    return explained.months[0].amount if explained.months and explained.asked is not None else explained.total


def _factor(factor: Factor) -> FactorRow:
    symbol, what, source = FACTORS[factor.name]
    return FactorRow(symbol, what, _printed(factor), words.articles(factor.articles), source)


def _worked(detail: ExplainedLine) -> str:
    """Write the multiplication as it is keyed in: factors in their order, the days of the month last, as a division."""
    shown = [f for f in detail.factors if f.name != "month_days"]
    said = " × ".join(_printed(f) for f in shown)
    return f"{said} ÷ {detail.line.month_days} = {exact_text(_fraction(detail.exact))}"


def _printed(factor: Factor) -> str:
    """Write a factor as on the invoice: counts and the multiplier without decimals that they don't have."""
    if factor.name in COUNTS:
        return words.number(Decimal(factor.value))
    return words.number(Ratio.parse(factor.value)) if "/" in factor.value else words.figure(Decimal(factor.value))


def _quotation(text: str) -> str:
    """Write an article's text in one paragraph: its lines parted by a stroke, the leaders of its table short."""
    return re.sub(r"\.{4,}", ": ", text).replace("\n", " / ")


def _fraction(text: str) -> Fraction:
    above, _, below = text.partition("/")
    return Fraction(above) / Fraction(below or 1)


def _policy(use: object, statute: StatuteWords, explained: Explanation) -> PolicyLine:
    return policy_line(use, statute, explained.decisions)  # type: ignore[arg-type]


def _pieces(detail: ExplainedLine | None, most: int) -> dict[str, object]:
    """Rows of the largest pieces, the sum of the others, and the files that they come from."""
    if detail is None:
        return {"pieces": [], "rest": None, "files": []}
    shown, others = detail.pieces[:most], detail.pieces[most:]
    numbers: dict[str, int] = {}
    for piece in detail.pieces:
        if piece.origin is not None:
            numbers.setdefault(piece.origin.batch, len(numbers) + 1)
    origins = {p.origin.batch: p.origin for p in detail.pieces if p.origin is not None}
    files = [FileRow(n, origins[batch], _day(origins[batch].imported_at)) for batch, n in numbers.items()]
    rest = None
    if others:
        quantity = sum((p.length_m or p.volume_m3 or ZERO_M for p in others), ZERO_M)
        share = sum((_fraction(p.share) for p in others), Fraction(0))
        rest = Rest(len(others), ZERO_M, words.number(quantity), exact_text(share))
    return {"pieces": [_piece(p, numbers) for p in shown], "rest": rest, "files": files}


def _piece(piece: Piece, numbers: dict[str, int]) -> PieceRow:
    quantity = piece.length_m if piece.length_m is not None else piece.volume_m3
    origin = piece.origin
    remark = "" if origin is not None else "linha de origem não encontrada"
    if origin is not None and origin.differs:
        remark = "o cadastro difere do que foi calculado"
    elif origin is not None and origin.replaced:
        remark = "arquivo substituído depois"
    return PieceRow(
        name=piece.name,
        zone=piece.zone or "",
        quantity="" if quantity is None else words.number(quantity),
        share=exact_text(_fraction(piece.share)),
        file="" if origin is None else str(numbers[origin.batch]),
        row="" if origin is None else str(origin.row),
        remark=remark,
    )


def _day(moment: str) -> str:
    year, month, day = moment[:10].split("-")
    return f"{day}/{month}/{year}"


def _whole(explained: Explanation, statute: StatuteWords) -> dict[str, object]:
    """Gather what a whole invoice's or note's page lists: the largest lines, grounds, months; the others summed up."""
    if explained.detail is not None:
        return {"lines": [], "other_lines": None, "grounds": (), "months": [], "other_months": None}
    numbered = sorted(enumerate(explained.lines, 1), key=lambda pair: (-pair[1].amount, pair[0]))
    shown = sorted(numbered[:MOST_LINES], key=lambda pair: pair[0])
    months, later = explained.months[:MOST_MONTHS], explained.months[MOST_MONTHS:]
    return {
        "lines": [(number, line, _line_words(line)) for number, line in shown],
        "other_lines": _rest(line.amount for _, line in numbered[MOST_LINES:]),
        "grounds": grounds(explained.lines, statute),
        "months": [(line, cite(line.articles)) for line in months],
        "other_months": _rest(m.amount for m in later),
    }


def _rest(amounts: Iterable[Decimal]) -> Rest | None:
    left: Sequence[Decimal] = tuple(amounts)
    return Rest(len(left), sum(left, ZERO_M)) if left else None


def _line_words(line: Line) -> str:
    """Write a line's product in short: what is multiplied, without names."""
    factors = (
        line.length_m,
        line.billed_width_m,
        line.land_value,
        line.volume_m3,
        line.price_per_m3,
        line.pieces,
        line.price_per_piece,
        line.location_index,
        line.depreciation_index,
        line.reducer,
        line.multiplier,
    )
    said = " × ".join(words.number(f) if isinstance(f, int) else words.figure(f) for f in factors if f is not None)
    return said if line.days == line.month_days else f"{said} × {line.days} ÷ {line.month_days}"
