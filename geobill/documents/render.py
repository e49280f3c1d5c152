"""Records in, documents out: each function takes an issued record and returns the bytes that are filed and sent."""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any

from geobill.documents import memo, words
from geobill.documents.annex import annex_csv
from geobill.documents.lines import glossary, grounds, line_table, metres_charged
from geobill.documents.maps import DECREE_MAP_MM, NetworkMap
from geobill.documents.policy_words import decision_in_words, policy_lines, policy_value
from geobill.documents.templating import fill
from geobill.documents.typesetting import printable, typeset
from geobill.domain.invoice import Basis, DecreeDraft, Invoice, Line
from geobill.errors import BooksDontCloseError, TemplateError

PAGE_WIDTH_MM, PAGE_HEIGHT_MM = DECREE_MAP_MM


@dataclass(frozen=True)
class Document:
    """A document that geobill makes: its name, its template (None for a table) and the function that renders it."""

    name: str
    template: str | None
    extension: str
    render: Callable[..., bytes]


def render_invoice(invoice: Invoice, network_map: NetworkMap) -> bytes:
    """Render the *fatura mensal* as PDF.

    Parameters
    ----------
    invoice : Invoice
        The issued record; its date is the document's date, so the same record gives the same bytes.
    network_map : NetworkMap
        The operator's network, drawn at most 174 mm wide and 200 mm high.

    Raises
    ------
    BooksDontCloseError
        If a line's printed factors don't give its amount, or the lines don't add up to the total.
    TemplateError
        If the template can't be filled or typeset, or the map doesn't fit the page.
    """
    rounding = policy_value(invoice.basis, "rounding", "half_up")
    memo.check_lines(invoice.lines, invoice.total, rounding, f"invoice {invoice.number}")
    source = fill(
        "fatura.typ.j2",
        invoice=invoice,
        authority=invoice.authority,
        operator=invoice.operator,
        due_sentence=memo.due_sentence(invoice),
        held=memo.held_groups(invoice.held),
        held_segments=[item for item in invoice.held if item.segment],
        doubled=any(line.multiplier > 1 for line in invoice.lines),
        map=network_map,
        digest=invoice.digest,
        charged_once_m=metres_charged(invoice.lines, doubled=False),
        charged_double_m=metres_charged(invoice.lines, doubled=True),
        clandestine_counts=policy_value(invoice.basis, "clandestine_counts_in_reducer", "false") == "true",
        held_m=sum((item.length_m for item in invoice.held), Decimal("0.00")),
        extension_m=invoice.network_length_m,
        reducer=invoice.reducer,
        **_memo_context(invoice.basis, invoice.lines, invoice.month.first_day),
    )
    title = f"Fatura nº {invoice.number} – {invoice.operator.name}"
    inputs = _inputs(network_map, title, invoice.authority.name)
    return typeset(source, inputs, invoice.issued_on, "fatura.typ.j2")


def render_decree_draft(draft: DecreeDraft, network_map: NetworkMap) -> bytes:
    """Render the *minuta do Decreto de Permissão de Uso* as PDF; its date is the price's day of reference.

    Where the price is None (the reducer is held), the articles on price and deposit say that the value waits for a
    decision.

    Raises
    ------
    BooksDontCloseError
        If the lines don't give the price, or the deposit isn't so many times the price.
    TemplateError
        If the template can't be filled or typeset, or the map doesn't fit the page.
    """
    price = draft.price
    if price.total is not None:
        rounding = policy_value(draft.basis, "rounding", "half_up")
        memo.check_lines(price.lines, price.total, rounding, f"the draft decree of {draft.operator.id}")
        if draft.deposit is not None and draft.deposit != draft.deposit_months * price.total:
            raise BooksDontCloseError(
                f"The deposit of {draft.operator.id} says R$ {draft.deposit}, but {draft.deposit_months} months of R$ "
                f"{price.total} are R$ {draft.deposit_months * price.total}. The draft wasn't rendered; price it again."
            )
    source = fill(
        "minuta_decreto.typ.j2",
        draft=draft,
        price=price,
        authority=draft.authority,
        operator=draft.operator,
        extents=memo.extents(price, draft.operator.service),
        roman=words.roman,
        map=network_map,
        digest=draft.digest,
        drawn_clandestine=any(kind == "dashed" for _, _, kind in network_map.legend),
        extension_m=price.network_length_m,
        reducer=price.reducer,
        **_memo_context(draft.basis, price.lines, price.on),
    )
    title = f"Minuta de Decreto de Permissão de Uso – {draft.operator.name}"
    inputs = _inputs(network_map, title, draft.authority.name)
    return typeset(source, inputs, price.on, "minuta_decreto.typ.j2")


def render_annex(invoice: Invoice, rows: Iterable[Mapping[str, Any]]) -> bytes:
    """Render the invoice's annex as CSV; see :func:`geobill.documents.annex.annex_csv`."""
    return annex_csv(invoice, rows)


DOCUMENTS: tuple[Document, ...] = (
    Document("fatura", "fatura.typ.j2", "pdf", render_invoice),
    Document("minuta_decreto", "minuta_decreto.typ.j2", "pdf", render_decree_draft),
    Document("anexo", None, "csv", render_annex),
)


def _memo_context(basis: Basis, lines: tuple[Line, ...], on: date) -> dict[str, Any]:
    """Values that the memo of calculation needs in every document that has one."""
    return {
        "basis": basis,
        "network": line_table(lines, "network"),
        "equipment": line_table(lines, "equipment"),
        "grounds": grounds(lines),
        "glossary": glossary(lines),
        "no_decree": any("no_decree" in line.flags for line in lines),
        "scale": memo.reducer_scale(basis, on),
        "example": memo.worked_example(lines),
        "policy": policy_lines(basis),
        "decisions": [decision_in_words(decision) for decision in basis.decisions],
        "digests": memo.digests(basis),
        "rounding": policy_value(basis, "rounding", "half_up"),
        "due_month": policy_value(basis, "due_month", "following"),
        "due_day_rule": policy_value(basis, "due_day_rule", "next_business_day"),
    }


def _inputs(network_map: NetworkMap, title: str, author: str) -> dict[str, str]:
    """Strings that a template reads as ``sys.inputs``: used in code, not printed through a literal."""
    if network_map.width_mm > PAGE_WIDTH_MM or network_map.height_mm > PAGE_HEIGHT_MM:
        raise TemplateError(
            f"The map is {network_map.width_mm:g} × {network_map.height_mm:g} mm, the page holds {PAGE_WIDTH_MM:g} × "
            f"{PAGE_HEIGHT_MM:g} mm: shrunk, its scale would be wrong. Draw it again with network_map(…, width_mm, "
            "height_mm) within these."
        )
    legend = [{"colour": colour, "label": printable(label), "kind": kind} for colour, label, kind in network_map.legend]
    return {
        "title": printable(title),
        "author": printable(author),
        "map": network_map.svg,
        "map_width": str(network_map.width_mm),
        "map_alt": printable(network_map.alt),
        "legend": json.dumps(legend),
    }
