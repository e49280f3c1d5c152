"""Figures and terms as they are printed, in Brazilian Portuguese: one spelling for every document."""

import re
from collections.abc import Iterable
from datetime import date
from decimal import Decimal

from num2words import num2words
from stdnum.br import cnpj as stdnum_cnpj

from geobill.domain.dates import BillingMonth
from geobill.domain.money import plain
from geobill.domain.ratio import Ratio
from geobill.errors import TemplateError

NBSP = "\u00a0"
MONTHS: tuple[str, ...] = (
    "janeiro", "fevereiro", "março", "abril", "maio", "junho",
    "julho", "agosto", "setembro", "outubro", "novembro", "dezembro",
)  # fmt: skip
ROMAN: tuple[tuple[int, str], ...] = (
    (100, "C"),
    (90, "XC"),
    (50, "L"),
    (40, "XL"),
    (10, "X"),
    (9, "IX"),
    (5, "V"),
    (4, "IV"),
    (1, "I"),
)
FLAGS: dict[str, str] = {
    "on_border": "na divisa de zonas",
    "on_overlap": "em sobreposição de zonas",
    "in_gap": "em vão do mapa, pela zona mais próxima",
    "same_strip": "mesma faixa de outra rede",
    "declared_length": "extensão declarada",
    "no_decree": "sem decreto",
}
SERVICES: dict[str, str] = {
    "energy": "energia elétrica",
    "electricity": "energia elétrica",
    "power": "energia elétrica",
    "water": "abastecimento de água",
    "sewage": "esgotamento sanitário",
    "gas": "gás canalizado",
    "cable": "televisão por cabo",
    "telecom": "telecomunicações",
    "telephone": "rede telefônica",
    "oil": "oleoduto",
}


def number(value: Decimal | Ratio | int) -> str:
    """Write a number with a decimal comma and thousands points, keeping exactly the decimals that it has.

    A ratio is written as the division that a pocket calculator makes of it.

    Examples
    --------
    >>> number(Decimal("1234.50")), number(Decimal("0.05")), number(7), number(Decimal("-1234567"))
    ('1.234,50', '0,05', '7', '-1.234.567')
    >>> number(Ratio(Decimal("5900.00"), Decimal("6000.00")))
    '5.900,00 ÷ 6.000,00'
    """
    if isinstance(value, Ratio):
        return f"{number(value.numerator)} ÷ {number(value.denominator)}"
    digits = plain(Decimal(value))
    sign, digits = ("-", digits[1:]) if digits.startswith("-") else ("", digits)
    whole, _, decimals = digits.partition(".")
    grouped = f"{int(whole):,}".replace(",", ".")
    return sign + grouped + ("," + decimals if decimals else "")


def figure(value: Decimal | Ratio | int) -> str:
    """Write a factor of a line: at least two decimals, further zeros dropped, every other decimal kept.

    Examples
    --------
    >>> figure(Decimal("253.9")), figure(Decimal("200")), figure(Decimal("57.192380")), figure(Decimal("0.025"))
    ('253,90', '200,00', '57,19238', '0,025')
    """
    if isinstance(value, Ratio):
        return number(value)
    exact = Decimal(value)
    return number(_at_least_two_decimals(Decimal(plain(exact.normalize()))))


def factor(value: Decimal | Ratio | None) -> str:
    """Write a factor of a line, or a dash where it doesn't apply."""
    return "–" if value is None else figure(value)


def reais(amount: Decimal) -> str:
    """Write an amount in reais, with a no-break space and at least two decimals.

    Examples
    --------
    >>> reais(Decimal("1234.5")).replace(NBSP, " ")
    'R$ 1.234,50'
    """
    return f"R${NBSP}{number(_at_least_two_decimals(amount))}"


def metres(length_m: Decimal) -> str:
    """Write a length in metres with the decimals that it has.

    Examples
    --------
    >>> metres(Decimal("56054.16")).replace(NBSP, " ")
    '56.054,16 m'
    """
    return f"{number(length_m)}{NBSP}m"


def percent(share: Decimal) -> str:
    """Write a share of one in per cent.

    Examples
    --------
    >>> percent(Decimal("0.03")), percent(Decimal("0.50")), percent(Decimal("0.025"))
    ('3%', '50%', '2,5%')
    """
    return f"{number(Decimal(plain((share * 100).normalize())))}%"


def in_words(amount: Decimal) -> str:
    """Write an amount in reais in full.

    ``num2words`` writes the whole numbers; the currency is put together here, since it would write "zero reais e um
    centavo".

    Parameters
    ----------
    amount : Decimal
        Reais with at most two decimals; 0 or more.

    Raises
    ------
    TemplateError
        If the amount is negative or has fractions of a cent.

    Examples
    --------
    >>> in_words(Decimal("0.01")), in_words(Decimal("1.00")), in_words(Decimal("2000000.50"))
    ('um centavo', 'um real', 'dois milhões de reais e cinquenta centavos')
    """
    cents = amount * 100
    if cents < 0 or cents != cents.to_integral_value():
        raise TemplateError(
            f"R$ {plain(amount)} can't be written in full: an amount in a document is 0 or more and has whole cents. "
            "Round it when it is computed, not when it is printed."
        )
    whole, cents = divmod(int(cents), 100)
    parts = []
    if whole:
        of = "de " if whole % 1_000_000 == 0 else ""
        parts.append(f"{num2words(whole, lang='pt_BR')} {of}{'real' if whole == 1 else 'reais'}")
    if cents:
        parts.append(f"{num2words(cents, lang='pt_BR')} {'centavo' if cents == 1 else 'centavos'}")
    return " e ".join(parts) or "zero real"


def count_in_words(count: int, feminine: bool = False) -> str:
    """Write a small count in full: "três", or "duas" where the noun is feminine.

    Examples
    --------
    >>> count_in_words(3), count_in_words(2, feminine=True), count_in_words(21, feminine=True)
    ('três', 'duas', 'vinte e uma')
    """
    words = num2words(count, lang="pt_BR")
    if feminine:
        words = re.sub(r"\bum$", "uma", re.sub(r"\bdois$", "duas", words))
    return words


def ordinal_in_words(position: int) -> str:
    """Write an ordinal in full, masculine: the day of the month on which a payment falls due.

    Examples
    --------
    >>> ordinal_in_words(15), ordinal_in_words(1)
    ('décimo quinto', 'primeiro')
    """
    return num2words(position, lang="pt_BR", to="ordinal")


def article_number(position: int) -> str:
    """Write the number of an article of a decree, ordinal up to nine (LC 95/1998, art. 10, I).

    Examples
    --------
    >>> article_number(1), article_number(10)
    ('1º', '10.')
    """
    return f"{position}º" if position < 10 else f"{position}."


def with_article(title: str) -> str:
    """Put the definite article before a title of office.

    Examples
    --------
    >>> with_article("Prefeito Municipal"), with_article("Prefeita Municipal")
    ('o Prefeito Municipal', 'a Prefeita Municipal')
    """
    return f"{'a' if title.split(' ')[0].endswith('a') else 'o'} {title}"


def roman(position: int) -> str:
    """Write the number of an item of an article (*inciso*), 1 to 399, in Roman digits.

    Examples
    --------
    >>> roman(1), roman(4), roman(19), roman(40)
    ('I', 'IV', 'XIX', 'XL')
    """
    text = ""
    for value, letters in ROMAN:
        text += letters * (position // value)
        position %= value
    return text


def short_date(day: date) -> str:
    """Write a date as dd/mm/aaaa.

    Examples
    --------
    >>> short_date(date(2026, 12, 5))
    '05/12/2026'
    """
    return f"{day.day:02d}/{day.month:02d}/{day.year:04d}"


def long_date(day: date) -> str:
    """Write a date in words; the first of a month is an ordinal.

    Examples
    --------
    >>> long_date(date(2026, 12, 15)), long_date(date(2026, 5, 1))
    ('15 de dezembro de 2026', '1º de maio de 2026')
    """
    return f"{'1º' if day.day == 1 else day.day} de {MONTHS[day.month - 1]} de {day.year}"


def month_name(month: BillingMonth) -> str:
    """Write a billing month.

    Examples
    --------
    >>> month_name(BillingMonth(2026, 11))
    'novembro de 2026'
    """
    return f"{MONTHS[month.month - 1]} de {month.year}"


def cnpj(text: str) -> str:
    """Write a CNPJ with its points, bar and hyphen; one whose check digits are wrong stays as it was typed.

    Examples
    --------
    >>> cnpj("46523064000178"), cnpj("46.523.064/0001-79"), cnpj("")
    ('46.523.064/0001-78', '46.523.064/0001-79', '')
    """
    return stdnum_cnpj.format(text) if text and stdnum_cnpj.is_valid(text) else text


def article(text: str) -> str:
    """Cite an article from its short form; what has another form is cited as it stands after "art.".

    Examples
    --------
    >>> article("7"), article("7 § 2"), article("10 § 2"), article("8 § único"), article("9, II")
    ('art. 7º', 'art. 7º, § 2º', 'art. 10, § 2º', 'art. 8º, parágrafo único', 'art. 9º, II')
    """
    bare, _, act = text.strip().partition(" (")
    found = re.fullmatch(r"(?:art\.?\s*)?(\d+)º?(?:[\s,]*(?:§|par\.)\s*(\d+|único)º?)?(?:[\s,]+([IVX]+))?", bare)
    if not found:
        return text.strip() if text.strip().startswith("art") else f"art. {text.strip()}"
    cited = f"art. {ordinal(found[1])}"
    if found[2] == "único":
        cited += ", parágrafo único"
    elif found[2]:
        cited += f", § {ordinal(found[2])}"
    return cited + (f", {found[3]}" if found[3] else "") + (f" ({act}" if act else "")


def articles(texts: Iterable[str]) -> str:
    """Cite several articles, in the given order.

    Examples
    --------
    >>> articles(("7", "10 § 2"))
    'art. 7º; art. 10, § 2º'
    """
    return "; ".join(article(text) for text in texts)


def flags(codes: Iterable[str], no_decree: str = "") -> str:
    """Say in words what is special about a line; a code without words stands as it is.

    ``no_decree`` is the citation, in parentheses, of the article by which what has no decree is charged all the same.

    Examples
    --------
    >>> flags(("on_border", "no_decree")), flags(("no_decree",), " (art. 16)")
    ('na divisa de zonas; sem decreto', 'sem decreto (art. 16)')
    """
    return "; ".join(FLAGS.get(code, code) + (no_decree if code == "no_decree" else "") for code in codes)


def service(name: str | None) -> str:
    """Name a service in Portuguese; a name that isn't one of the usual English ones stands as it was typed.

    Examples
    --------
    >>> service("water"), service("Fibra óptica"), service(None)
    ('abastecimento de água', 'Fibra óptica', '')
    """
    return SERVICES.get((name or "").strip().lower(), name or "")


def ordinal(digits: str) -> str:
    """Digits with the ordinal mark up to nine, as laws are cited (LC 95/1998, art. 10, I)."""
    return f"{digits}º" if int(digits) < 10 else digits


def _at_least_two_decimals(amount: Decimal) -> Decimal:
    """Whole cents with two decimals, whatever zeros follow; fractions of a cent are kept."""
    cents = amount.quantize(Decimal("0.01"))
    return cents if cents == amount else amount
