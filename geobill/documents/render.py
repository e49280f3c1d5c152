"""Records in, documents out: each function takes an issued record and returns the bytes that are filed and sent."""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from geobill.documents import memo, words
from geobill.documents.annex import annex_csv
from geobill.documents.apostila import APOSTILA_FORMS, render_apostila
from geobill.documents.case_papers import CASE_FORMS, render_case_paper
from geobill.documents.case_papers import TITLES as CASE_PAPERS
from geobill.documents.constatacao import CONSTATACAO_FORMS, FINDINGS_PAPER, render_constatacao
from geobill.documents.forms import Job, make
from geobill.documents.granting import Granting, decree_title, granting_context
from geobill.documents.lines import metres_charged
from geobill.documents.maps import DECREE_MAP_MM, NetworkMap
from geobill.documents.note import NOTE_FORMS, render_note
from geobill.documents.overrides.folder import PACKAGE, Templates
from geobill.documents.policy_words import policy_value
from geobill.documents.statute_words import StatuteWords
from geobill.documents.suspended import suspended_parts
from geobill.documents.typesetting import printable
from geobill.domain.check import DRAFT_NUMBER
from geobill.domain.invoice import DecreeDraft, Invoice
from geobill.errors import BooksDontCloseError, TemplateError
from geobill.law.figures import StatuteFigures

CLANDESTINE_KINDS = ("dashed", "square_open")  # in a map's legend
PAGE_WIDTH_MM, PAGE_HEIGHT_MM = DECREE_MAP_MM
INVOICE_FORMS: tuple[str, ...] = ("pdf", "html")
DECREE_FORMS: tuple[str, ...] = ("pdf", "html", "docx")


@dataclass(frozen=True)
class Document:
    """A document that geobill makes: its name, its template (None for a table), its forms and what renders the first."""

    name: str
    template: str | None
    extension: str
    render: Callable[..., bytes]
    forms: tuple[str, ...] = ()


def render_invoice(
    invoice: Invoice, network_map: NetworkMap, figures: StatuteFigures, templates: Templates = PACKAGE
) -> bytes:
    """Render the *fatura mensal* as PDF; see :func:`render_invoice_forms`."""
    return make(invoice_job(invoice, network_map, figures), ("pdf",), templates)["pdf"]


def render_invoice_forms(
    invoice: Invoice, network_map: NetworkMap, figures: StatuteFigures, templates: Templates = PACKAGE
) -> dict[str, bytes]:
    """Render the *fatura mensal* as PDF and HTML, the same words in both.

    Raises
    ------
    BooksDontCloseError, TemplateError
        See :func:`invoice_job`; and if a template can't be filled or typeset.
    """
    return make(invoice_job(invoice, network_map, figures), INVOICE_FORMS, templates)


def invoice_job(invoice: Invoice, network_map: NetworkMap, figures: StatuteFigures) -> Job:
    """Check an invoice and gather what its template prints.

    Parameters
    ----------
    invoice : Invoice
        The issued record; its date is the document's date, so the same record gives the same bytes.
    network_map : NetworkMap
        The operator's network, drawn at most 174 mm wide and 200 mm high.
    figures : StatuteFigures
        The statute by which the month was priced; papers say its figures and articles of the month's first day.

    Raises
    ------
    BooksDontCloseError
        If a line's printed factors don't give its amount, or the lines don't add up to the total; or likewise of what a
        court suspends.
    TemplateError
        If the map doesn't fit the page.
    """
    rounding = policy_value(invoice.basis, "rounding", "half_up")
    memo.check_lines(invoice.lines, invoice.total, rounding, f"invoice {invoice.number}")
    for apart in invoice.suspended:
        memo.check_lines(apart.lines, apart.total, rounding, f"what {apart.court_case} suspends on {invoice.number}")
    statute = StatuteWords.of_month(figures, invoice.month)
    once_m, double_m = (metres_charged(invoice.lines, doubled=doubled) for doubled in (False, True))
    held_m = _sum(item.length_m for item in invoice.held)
    values = dict(
        invoice=invoice,
        draft=invoice.number == DRAFT_NUMBER,
        authority=invoice.authority,
        operator=invoice.operator,
        due_sentence=memo.due_sentence(invoice, statute),
        late_charges=memo.late_charges(statute),
        suspended=suspended_parts(invoice.suspended, statute),
        held=memo.held_groups(invoice.held, statute),
        held_segments=[item for item in invoice.held if item.segment],
        doubled=any(line.multiplier > 1 for line in invoice.lines),
        map=network_map,
        digest=invoice.digest,
        charged_once_m=once_m,
        charged_double_m=double_m,
        clandestine_counts=policy_value(invoice.basis, "clandestine_counts_in_reducer", "false") == "true",
        held_m=held_m,
        suspended_m=_sum(item.length_m for item in invoice.suspended),
        suspended_total=_sum(item.total for item in invoice.suspended),
        set_off_sum=_sum(item.amount for item in invoice.set_offs),
        suspended_again_m=_sum(item.again_m for item in invoice.suspended),
        network_m=_sum((once_m, double_m, held_m, *(item.length_m - item.again_m for item in invoice.suspended))),
        yearly_months=statute.value("yearly_months") if statute.has("yearly_months") else None,
        extension_m=invoice.network_length_m,
        reducer=invoice.reducer,
        **memo.context(invoice.basis, invoice.lines, statute),
    )
    draft = invoice.number == DRAFT_NUMBER
    title = f"{'Rascunho da fatura' if draft else f'Fatura nº {invoice.number}'} – {invoice.operator.name}"
    inputs = _inputs(network_map, title, invoice.authority.name, statute)
    return Job("fatura.typ.j2", values, inputs, invoice.issued_on, invoice.digest)


def render_decree_draft(
    draft: DecreeDraft,
    network_map: NetworkMap,
    figures: StatuteFigures,
    templates: Templates = PACKAGE,
    granting: Granting | None = None,
) -> bytes:
    """Render the *minuta do Decreto de Permissão de Uso* as PDF; see :func:`render_decree_forms`."""
    return make(decree_job(draft, network_map, figures, granting), ("pdf",), templates)["pdf"]


def render_decree_forms(
    draft: DecreeDraft,
    network_map: NetworkMap,
    figures: StatuteFigures,
    templates: Templates = PACKAGE,
    granting: Granting | None = None,
) -> dict[str, bytes]:
    """Render the *minuta do Decreto de Permissão de Uso* as PDF, HTML and DOCX, the same words in all.

    Raises
    ------
    BooksDontCloseError, TemplateError
        See :func:`decree_job`; and if a template can't be filled or typeset.
    """
    return make(decree_job(draft, network_map, figures, granting), DECREE_FORMS, templates)


def decree_job(
    draft: DecreeDraft, network_map: NetworkMap, figures: StatuteFigures, granting: Granting | None = None
) -> Job:
    """Check a draft and gather what its template prints; its date is the price's day of reference.

    Where the price is None (the reducer is held), the articles on price and deposit say that the value waits for a
    decision. ``granting`` are the papers of a registered permit, and the act itself once it is issued: they stand in
    place of the blanks.

    Raises
    ------
    BooksDontCloseError
        If the lines don't give the price, or the deposit isn't so many times the price.
    TemplateError
        If the map doesn't fit the page.
    """
    price = draft.price
    statute = StatuteWords(figures, price.on)
    if price.total is not None:
        rounding = policy_value(draft.basis, "rounding", "half_up")
        memo.check_lines(price.lines, price.total, rounding, f"the draft decree of {draft.operator.id}")
        if draft.deposit is not None and draft.deposit != draft.deposit_months * price.total:
            raise BooksDontCloseError(
                f"The deposit of {draft.operator.id} says R$ {draft.deposit}, but {draft.deposit_months} months of R$ "
                f"{price.total} are R$ {draft.deposit_months * price.total}. The draft wasn't rendered; price it again."
            )
    values = dict(
        draft=draft,
        price=price,
        authority=draft.authority,
        operator=draft.operator,
        **granting_context(draft, granting),
        roman=words.roman,
        map=network_map,
        digest=draft.digest,
        drawn_clandestine=any(kind == CLANDESTINE_KINDS[0] for _, _, kind in network_map.legend),
        extension_m=price.network_length_m,
        reducer=price.reducer,
        late_charges=memo.late_charges(statute),
        **memo.context(draft.basis, price.lines, statute),
    )
    title = decree_title(draft, granting)
    inputs = _inputs(network_map, title, draft.authority.name, statute)
    authority = draft.authority
    skeleton = {
        "titulo": inputs["title"],
        "orgao": inputs["author"],
        "secretaria": printable(authority.secretariat),
        "endereco": printable(
            " · ".join(filter(None, (authority.cnpj and f"CNPJ {words.cnpj(authority.cnpj)}", authority.address)))
        ),
        "entidade": printable(draft.operator.name),
        "resumo": draft.digest,
    }
    return Job("minuta_decreto.typ.j2", values, inputs, price.on, draft.digest, skeleton)


def render_annex(invoice: Invoice, rows: Iterable[Mapping[str, Any]], figures: StatuteFigures) -> bytes:
    """Render the invoice's annex as CSV; see :func:`geobill.documents.annex.annex_csv`."""
    return annex_csv(invoice, rows, StatuteWords.of_month(figures, invoice.month))


DOCUMENTS: tuple[Document, ...] = (
    Document("fatura", "fatura.typ.j2", "pdf", render_invoice, INVOICE_FORMS),
    Document("minuta_decreto", "minuta_decreto.typ.j2", "pdf", render_decree_draft, DECREE_FORMS),
    Document("apostila", "apostila.typ.j2", "pdf", render_apostila, APOSTILA_FORMS),
    Document("nota", "nota.typ.j2", "pdf", lambda note, figures: render_note(note, figures)["pdf"], NOTE_FORMS),
    *(
        Document(name, f"{name}.typ.j2", "pdf", lambda *told: render_case_paper(*told)["pdf"], CASE_FORMS)
        for name in CASE_PAPERS
    ),
    Document(
        FINDINGS_PAPER,
        f"{FINDINGS_PAPER}.typ.j2",
        "pdf",
        lambda *told: render_constatacao(*told)["pdf"],
        CONSTATACAO_FORMS,
    ),
    Document("anexo", None, "csv", render_annex),
)


def _sum(values: Iterable[Decimal]) -> Decimal:
    return sum(values, Decimal("0.00"))


def _inputs(network_map: NetworkMap, title: str, author: str, statute: StatuteWords) -> dict[str, str]:
    """Strings that a template reads as ``sys.inputs``: used in code, not printed through a literal."""
    if network_map.width_mm > PAGE_WIDTH_MM or network_map.height_mm > PAGE_HEIGHT_MM:
        raise TemplateError(
            f"The map is {network_map.width_mm:g} × {network_map.height_mm:g} mm, the page holds {PAGE_WIDTH_MM:g} × "
            f"{PAGE_HEIGHT_MM:g} mm: shrunk, its scale would be wrong. Draw it again with network_map(…, width_mm, "
            "height_mm) within these."
        )
    cited = {kind: statute.aside("clandestine") for kind in CLANDESTINE_KINDS}
    legend = [
        {"colour": colour, "label": printable(label + cited.get(kind, "")), "kind": kind}
        for colour, label, kind in network_map.legend
    ]
    return {
        "title": printable(title),
        "author": printable(author),
        "map": network_map.svg,
        "map_width": str(network_map.width_mm),
        "map_alt": printable(network_map.alt),
        "legend": json.dumps(legend),
    }
