"""The annex of an invoice: every piece behind its lines, as a CSV that Excel in Portuguese opens with a double click."""

import csv
import io
import re
from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any

from geobill.documents import words
from geobill.documents.lines import NO_DECREE
from geobill.documents.statute_words import StatuteWords
from geobill.domain.invoice import Invoice
from geobill.domain.money import plain
from geobill.errors import TemplateError

BYTE_ORDER_MARK = "\ufeff"
# A spreadsheet runs a cell that begins so as a formula; the wide forms are the same signs to it.
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
PIECES, SUSPENDED, CASES = "pieces", "suspended", "cases"  # columns that an invoice has only where they say something
COLUMNS: tuple[tuple[str, str, bool], ...] = (
    ("line", "Linha da fatura", True),
    ("segment", "Trecho", False),
    ("equipment", "Equipamento", False),
    ("service", "Serviço", False),
    ("zone", "Zona", False),
    ("length_m", "Extensão a (m)", True),
    ("billed_width_m", "Largura cobrada b (m)", True),
    ("land_value", "Valor do terreno T (R$/m²)", True),
    ("volume_m3", "Volume (m³)", True),
    (PIECES, "Unidades", True),
    ("location_index", "Índice de locação L", True),
    ("depreciation_index", "Índice de depreciação D", True),
    ("reducer", "Coeficiente redutor R", True),
    ("multiplier", "Multiplicador", True),
    ("days", "Dias", True),
    ("month_days", "Dias do mês", True),
    ("amount_exact", "Valor exato do mês inteiro, sem arredondar (R$)", True),
    ("flags", "Observações", False),
    ("priced_with", "Pago com o trecho (mesma faixa)", False),
    (SUSPENDED, "Suspenso por ordem judicial", False),
    (CASES, "Processo (arts. 10 e 12)", False),
)

# What a row is, and the rule or figure of the statute that is cited beside it.
STATUSES: dict[str, tuple[str, str]] = {
    "permitted": ("Permitido", ""),
    "existing": ("Existente", "existing"),
    "planned": ("Planejado", ""),
    "suspected": ("Achado, em processo", ""),
    "clandestine": ("Clandestino", "clandestine"),
    "unregistered": ("Sem cadastro", "unregistered_multiplier"),
    "clandestine_unregistered": ("Clandestino e sem cadastro", ""),
}


def annex_csv(invoice: Invoice, rows: Iterable[Mapping[str, Any]], statute: StatuteWords) -> bytes:
    r"""Write the annex: UTF-8 with byte order mark, semicolons, decimal commas, CRLF.

    Numbers stay numbers, whether they come as Decimal, int or decimal text; text that a spreadsheet would run as a
    formula gets a leading apostrophe.

    Parameters
    ----------
    invoice : Invoice
        Whose lines the rows belong to.
    rows : iterable of mappings
        Keys of ``COLUMNS``; one that is missing, None or NaN leaves its cell empty, others are passed over. ``flags``
        is text or a sequence of codes.
    statute : StatuteWords
        What the notes cite.

    Raises
    ------
    TemplateError
        If a row belongs to a line that the invoice doesn't have: the two papers would contradict each other.
    """
    text = io.StringIO()
    writer = csv.writer(text, delimiter=";", lineterminator="\r\n")
    charged = (*invoice.lines, *(line for apart in invoice.suspended for line in apart.lines))
    used = {
        PIECES: any(line.pieces is not None for line in charged),
        SUSPENDED: bool(invoice.suspended),
        CASES: any(line.cases for line in charged),
    }
    columns = [c for c in COLUMNS if used.get(c[0], True)]
    writer.writerow(["Fatura", *(header for _, header, _ in columns)])
    for place, row in enumerate(rows, start=1):
        line = row.get("line")
        if not _absent(line) and not 1 <= int(line) <= len(invoice.lines):
            raise TemplateError(
                f"Row {place} of the annex belongs to line {line}, but invoice {invoice.number} has "
                f"{len(invoice.lines)} line(s). Annex and invoice must come from the same priced month."
            )
        cells = (_cell(key, row.get(key), numeric, statute) for key, _, numeric in columns)
        writer.writerow([text_cell(invoice.number), *cells])
    return (BYTE_ORDER_MARK + text.getvalue()).encode("utf-8")


def status_in_words(code: str, statute: StatuteWords) -> str:
    """Say what a row is, with the article that its status comes from; a code without words stands as it is."""
    said, rule = STATUSES.get(code, (code, ""))
    return said + statute.aside(rule).replace(words.NBSP, " ") if rule else said


def notes_in_words(flags: Iterable[str], statute: StatuteWords) -> str:
    """Say what is special about a row, for a table that programs read too: with plain spaces."""
    return words.flags(flags, statute.aside(NO_DECREE).replace(words.NBSP, " "))


def number_cell(value: Decimal | int | str) -> str:
    """Write a number with a decimal comma and no thousands points; a fraction and other text are kept as text.

    Examples
    --------
    >>> number_cell(Decimal("-1234.50")), number_cell("0.60"), number_cell("5900.00/6000.00"), number_cell("=1")
    ('-1234,50', '0,60', '5900,00/6000,00', "'=1")
    """
    text = plain(value) if isinstance(value, Decimal) else str(value)
    if re.fullmatch(r"-?\d+(\.\d+)?(/\d+(\.\d+)?)?", text, re.ASCII):
        return text.replace(".", ",")
    return text_cell(text)


def text_cell(text: str) -> str:
    """Keep a text from being run as a formula.

    Examples
    --------
    >>> text_cell("=HYPERLINK(1)"), text_cell("-A1"), text_cell("Rua 1")
    ("'=HYPERLINK(1)", "'-A1", 'Rua 1')
    """
    return f"'{text}" if text.startswith(FORMULA_STARTS) else text


def _cell(key: str, value: Any, numeric: bool, statute: StatuteWords) -> str:
    if _absent(value):
        return ""
    if key == "service":
        return text_cell(words.service(str(value)))
    if key == "flags" and not isinstance(value, str):
        return text_cell(notes_in_words(value, statute))
    if key == CASES:
        return text_cell(", ".join(value))
    return number_cell(value) if numeric or isinstance(value, Decimal | int) else text_cell(str(value))


def _absent(value: Any) -> bool:
    """Whether a cell is empty: None, or the NaN that a frame makes of it."""
    return value is None or value != value
