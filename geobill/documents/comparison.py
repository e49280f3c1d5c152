"""The month beside the one before as a table for the person who checks: a CSV that Excel in Portuguese opens."""

import csv
import io
from collections.abc import Iterable
from decimal import Decimal

from geobill.documents.annex import BYTE_ORDER_MARK, number_cell, text_cell
from geobill.domain.check import Cause, OperatorComparison
from geobill.domain.dates import BillingMonth

CAUSES: dict[str, str] = {
    "new_segments": "trechos novos",
    "new_cabinets": "armários ou contêineres novos",
    "removed_segments": "trechos que saíram",
    "removed_cabinets": "armários ou contêineres que saíram",
    "length": "extensão alterada (traçado ou medida)",
    "volume": "volume alterado",
    "held": "metros agora retidos, não cobrados",
    "released": "metros que deixaram de estar retidos",
    "shared_strip": "faixa comum: outro trecho paga, ou deixou de pagar",
    "width": "largura cobrada",
    "edition": "valor do terreno T (edição do Mapa de Valores)",
    "zones": "outras zonas, ou outras partes delas (traçado, edição ou política)",
    "law": "valores da Lei (L, D, preço por m³)",
    "multiplier": "cobrança em dobro (começou ou cessou)",
    "days": "dias cobrados no mês",
    "suspended": "valores suspensos por ordem judicial",
    "resumed": "valores que deixaram de estar suspensos por ordem judicial",
    "reducer": "coeficiente redutor R",
    "exempt": "a Lei não alcança mais a entidade (art. 13)",
    "recomputed": "total emitido que este programa calcula de outro modo",
    "rounding": "arredondamento das linhas",
}
COLUMNS: tuple[str, ...] = (
    "Entidade", "Mês anterior", "Origem do mês anterior", "Total anterior (R$)", "Mês", "Total do mês (R$)",
    "Diferença (R$)", "Causa", "Trechos e equipamentos", "Metros", "Parte da diferença (R$)", "Exemplos",
)  # fmt: skip


def comparison_csv(month: BillingMonth, previous: BillingMonth, operators: Iterable[OperatorComparison]) -> bytes:
    """Write the comparison, one row for each cause; an operator without a difference has one row without a cause.

    Totals stand in an operator's first row only, so that a column adds up. UTF-8 with byte order mark, semicolons,
    decimal commas, CRLF, as in the annex.
    """
    text = io.StringIO()
    writer = csv.writer(text, delimiter=";", lineterminator="\r\n")
    writer.writerow(COLUMNS)
    for o in operators:
        origin = "fatura emitida" if o.issued else "calculado agora" if o.previous_total is not None else "sem cálculo"
        totals = (_money(o.previous_total), str(month), _money(o.total), _money(o.difference))
        for n, cause in enumerate(o.causes or (None,)):
            first = (str(previous), origin, *totals) if n == 0 else (str(previous), "", "", str(month), "", "")
            writer.writerow([text_cell(o.operator), *first, *_cause(cause)])
    return (BYTE_ORDER_MARK + text.getvalue()).encode("utf-8")


def _cause(cause: Cause | None) -> tuple[str, ...]:
    if cause is None:
        return ("", "", "", "", "")
    counted = (str(cause.segments), number_cell(cause.length_m)) if cause.segments else ("", "")
    examples = ", ".join(cause.examples) + (" …" if cause.segments > len(cause.examples) > 0 else "")
    return (CAUSES[cause.cause], *counted, number_cell(cause.amount), text_cell(examples))


def _money(amount: Decimal | None) -> str:
    return "" if amount is None else number_cell(amount)
