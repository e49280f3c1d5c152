"""The *apostila*: the note to an issued decree that gives its new price and why it changed (art. 6 § 1)."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from geobill.documents import memo, words
from geobill.documents.forms import Job, make
from geobill.documents.overrides.folder import PACKAGE, Templates
from geobill.documents.policy_words import policy_line, policy_title, policy_value
from geobill.documents.statute_words import StatuteWords
from geobill.documents.typesetting import printable
from geobill.domain import apostila as causes
from geobill.domain.apostila import Cause, PriceChange
from geobill.domain.invoice import PolicyUse
from geobill.domain.permit import Decree
from geobill.errors import TemplateError
from geobill.law.figures import StatuteFigures

TEMPLATE = "apostila.typ.j2"
APOSTILA_FORMS: tuple[str, ...] = ("pdf", "html")
# What changed, and the rule or figure whose article is cited beside it.
WHAT: dict[str, tuple[str, str]] = {
    "reducer": ("Coeficiente redutor R", "reducer"),
    "edition": ("Edição do Mapa de Valores", "land_value"),
    "length_m": ("Extensão da rede da permissão", "price"),
    "volume_m3": ("Volume dos equipamentos", "price_per_m3"),
    "pieces": ("Número de equipamentos", "price_per_piece"),
    "drawing": ("Traçado, largura ou serviço da rede da permissão", "price"),
    "location_index": ("Índice de locação L", "location_index"),
    "depreciation_index": ("Índice de depreciação D", "depreciation_index"),
    "price_per_m3": ("Preço do metro cúbico", "price_per_m3"),
    "price_per_piece": ("Preço da unidade", "price_per_piece"),
    "minimum_width_m": ("Largura mínima de cobrança", "minimum_width_m"),
}
SYMBOLS = {"edition": "T", "length_m": "a"}  # of the formula, cited beside its article
UNITS = {"length_m": "m", "drawing": "m", "volume_m3": "m³", "minimum_width_m": "m"}
HELD = "retido"


@dataclass(frozen=True)
class CauseLine:
    """A cause as it is printed: what changed, and both values."""

    what: str
    before: str
    now: str


def render_apostila(
    change: PriceChange, figures: StatuteFigures, act: Decree | None = None, templates: Templates = PACKAGE
) -> bytes:
    """Render an apostila as PDF: a draft with blanks, or the act itself once it has a number and a date.

    Raises
    ------
    BooksDontCloseError, TemplateError
        See :func:`apostila_job`; and if the template can't be filled or typeset.
    """
    return make(apostila_job(change, figures, act), ("pdf",), templates)["pdf"]


def apostila_job(change: PriceChange, figures: StatuteFigures, act: Decree | None = None) -> Job:
    """Check the new price and gather what the template prints; its date is the price's day of reference.

    ``figures`` are the statute's, by which the new price was worked out.

    Raises
    ------
    BooksDontCloseError
        If the lines don't give the price.
    TemplateError
        If the new price is held: there is nothing to declare until the mayor decides (art. 15).
    """
    draft, price = change.draft, change.draft.price
    if price.total is None:
        raise TemplateError(
            f"The price of {change.decree.number} is held (arts. 7, 15): an apostila declares a price. Record the decision first."
        )
    rounding = policy_value(draft.basis, "rounding", "half_up")
    memo.check_lines(price.lines, price.total, rounding, f"the apostila to {change.decree.number}")
    difference = price.total - change.recorded
    statute = StatuteWords(figures, price.on)
    values = {
        "change": change,
        "act": act,
        "price": price,
        "recorded": change.recorded,
        "difference": abs(difference),
        "rises": difference > 0,
        "share": share(difference, change.recorded),
        "causes": [cause_line(c, statute) for c in change.causes],
        "before": change.last.draft.price,
        "authority": draft.authority,
        "operator": draft.operator,
        "permit": change.file.permit,
        "digest": draft.digest,
        "extension_m": price.network_length_m,
        "reducer": price.reducer,
        "deposit_follows": policy_value(draft.basis, "deposit_follows_price", "no") == "yes",
        **memo.context(draft.basis, price.lines, statute),
    }
    said = f"nº {act.number} " if act else ""
    inputs = {
        "title": printable(f"Apostila {said}ao Decreto nº {change.decree.number} – {draft.operator.name}"),
        "author": printable(draft.authority.name),
    }
    return Job(TEMPLATE, values, inputs, price.on, draft.digest)


def cause_line(cause: Cause, statute: StatuteWords) -> CauseLine:
    """Say a cause in Portuguese, with both values as they are printed."""
    if cause.cause == causes.POLICY:
        said = [
            policy_line(PolicyUse(cause.what, value, ""), statute).meaning or value
            for value in (cause.before, cause.now)
        ]
        return CauseLine(f"Parâmetro de cálculo: {policy_title(cause.what, statute)}", *said)
    what, rule = WHAT.get(cause.what, (cause.what, ""))
    symbol = f", {SYMBOLS[cause.what]}" if cause.what in SYMBOLS else ""
    cited = statute.cite(rule) if rule else ""
    what += f" ({cited}{symbol})" if cited else ""
    if cause.what == "edition":
        return CauseLine(what, cause.before, cause.now)
    return CauseLine(what, _figures(cause.before, UNITS.get(cause.what)), _figures(cause.now, UNITS.get(cause.what)))


def share(difference: Decimal, of: Decimal) -> Decimal | None:
    """Part of an amount, to a hundredth of a per cent, as a share of one; None of nothing.

    Examples
    --------
    >>> share(Decimal("-10.00"), Decimal("100.00"))
    Decimal('0.1000')
    """
    return None if not of else abs(difference / of).quantize(Decimal("0.0001"))


def _figures(text: str, unit: str | None) -> str:
    """Decimals of a cause as they are printed; an average R is the fraction that it is, in metres."""
    if not text:
        return HELD
    parts: Sequence[str] = text.split("/")
    said = " ÷ ".join(", ".join(words.number(Decimal(n)) for n in part.split(", ")) for part in parts)
    return f"{said}{words.NBSP}{unit}" if unit else said
