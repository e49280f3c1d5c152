"""Figures in a document: text that comes from a record, marked so that a later reader can find each by its name."""

import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from geobill.documents import statute_words, words
from geobill.domain.ratio import Ratio

# Filters whose result is a figure: a change of it by hand would be a change of what was computed.
FIGURE_FILTERS = (
    words.number,
    words.figure,
    words.factor,
    words.reais,
    words.metres,
    words.percent,
    words.in_words,
    words.count_in_words,
    words.ordinal_in_words,
    words.short_date,
    words.long_date,
    words.month_name,
    statute_words.day_of_year,
    statute_words.days_in_words,
    statute_words.share_in_words,
    words.cnpj,
)
DASH = "–"
IN_SENTENCE = re.compile(r"R\$\s?\d[\d.,]*\d|\d[\d.,]*\d\s(?:m³|m²|m|km)\b|\d+(?:[.,]\d+)+|\d+")
LONGEST_EXPRESSION = 40
NAMES: dict[str, str] = {
    "price.total": "valor mensal",
    "total_amount": "total",
    "draft.deposit": "caução",
    "draft.deposit_months": "meses de caução",
    "draft.due_day": "dia do vencimento",
    "price.on": "data de referência",
    "price.network_length_m": "extensão da rede",
    "extension_m": "extensão da rede",
    "price.reducer": "coeficiente R",
    "reducer": "coeficiente R",
    "price.held_m": "metros retidos",
    "extent": "extensão permitida",
    "operator.cnpj": "CNPJ da entidade",
    "authority.cnpj": "CNPJ do Município",
    "basis.edition_in_force_from": "vigência da edição",
    "invoice.number": "número da fatura",
    "line.length_m": "extensão a",
    "line.billed_width_m": "largura b",
    "line.land_value": "valor T",
    "line.location_index": "índice L",
    "line.depreciation_index": "índice D",
    "line.reducer": "coeficiente R da linha",
    "line.multiplier": "multiplicador",
    "line.days": "dias",
    "line.month_days": "dias do mês",
    "line.volume_m3": "volume",
    "line.price_per_m3": "preço do m³",
    "line.pieces": "unidades",
    "line.price_per_piece": "preço da unidade",
    "invoice.payable": "valor a pagar",
    "set_off_sum": "valor compensado",
    "part.amount": "crédito compensado",
    "part.total": "valor suspenso",
    "part.length_m": "metros suspensos",
    "suspended_m": "metros suspensos",
    "suspended_total": "soma dos valores suspensos",
    "line.amount": "valor da linha",
    "item.number": "número da linha",
    "ground.count": "linhas do fundamento",
    "ground.length_m": "metros do fundamento",
    "ground.amount": "soma do fundamento",
    "network.length_m": "soma de metros da rede",
    "network.amount": "soma da rede",
    "equipment.volume_m3": "soma dos volumes",
    "equipment.amount": "soma dos equipamentos",
    "example.factors": "fatores do exemplo",
    "example.exact": "valor exato do exemplo",
    "example.amount": "valor do exemplo",
    "step.to_km": "tabela de R, até",
    "step.from_km": "tabela de R, acima de",
    "step.value": "tabela de R, coeficiente",
    "value": "resumo SHA-256",
    "digest": "resumo do registro",
}


class Figure(str):
    """A printed figure, with the expression of the template that it came from once that is known."""

    __slots__ = ("expression",)
    expression: str

    def __new__(cls, text: str, expression: str = "") -> "Figure":
        """Make a figure of its printed text."""
        made = super().__new__(cls, text)
        made.expression = expression
        return made


class Sentence(str):
    """A sentence that geobill wrote of figures: each number in it, with its unit, is a figure of its own."""

    __slots__ = ("expression",)
    expression: str

    def __new__(cls, text: str, expression: str = "") -> "Sentence":
        """Make a sentence of its text."""
        made = super().__new__(cls, text)
        made.expression = expression
        return made


@dataclass(frozen=True)
class NamedFigure:
    """A figure as it stands in a document: its key there, its name for a person, its text."""

    key: str
    name: str
    text: str


def figure_filter(function: Any) -> Any:
    """Wrap a filter so that its result is marked; a dash where nothing applies is no figure."""

    def marked(*values: Any, **options: Any) -> str:
        text = function(*values, **options)
        return text if text == DASH else Figure(text)

    return marked


def figures(text: str) -> Sentence:
    """Filter for a sentence from Python: its numbers are figures."""
    return Sentence(text)


def named(value: Any, expression: str) -> Any:
    """Filter put around every printed expression: figures, plain numbers and digests get the expression as their name."""
    if isinstance(value, Sentence):
        return Sentence(value, expression)
    if isinstance(value, Figure):
        return Figure(value, expression)
    if isinstance(value, int | Decimal | Ratio) and not isinstance(value, bool):
        return Figure(str(value), expression)
    if isinstance(value, str) and re.fullmatch(r"[0-9a-f]{64}", value):
        return Figure(value, expression)
    return value


def split_sentence(text: str) -> list[tuple[str, bool]]:
    """Cut a sentence into parts, each with whether it is a figure.

    Examples
    --------
    >>> split_sentence("rede com 6.348,03 m de extensão")
    [('rede com ', False), ('6.348,03 m', True), (' de extensão', False)]
    """
    parts, at = [], 0
    for found in IN_SENTENCE.finditer(text):
        if found.start() > at:
            parts.append((text[at : found.start()], False))
        parts.append((found[0], True))
        at = found.end()
    if at < len(text):
        parts.append((text[at:], False))
    return parts


def name_of(expression: str, occurrence: int) -> str:
    """Name a figure for a person: what it is, how it is written, which one in the document.

    Examples
    --------
    >>> name_of("price.total|in_words", 1), name_of("line.amount|number", 12)
    ('valor mensal, por extenso, 1ª ocorrência', 'valor da linha, 12ª ocorrência')
    """
    path, _, filters = expression.partition("|")
    path = re.sub(r"^(?:network|equipment)\.rows\[0\]\.", "", path)
    said = NAMES.get(path, path)
    if "in_words" in filters:
        said += ", por extenso"
    return f"{said}, {occurrence}ª ocorrência"


def key_of(expression: str, occurrence: int) -> str:
    """Key of a figure in a document; short enough for the tag of a Word content control (64 characters).

    Examples
    --------
    >>> key_of("price.total|in_words", 2)
    'price.total|in_words#2'
    """
    return f"{expression[:LONGEST_EXPRESSION]}#{occurrence}"
