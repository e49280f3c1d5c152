"""The finance clerk's pages: the months, one month with all that becomes of it, an invoice with its papers and its reasons."""

import re
from typing import Any
from urllib.parse import quote

from fastapi import APIRouter, Request
from starlette.responses import RedirectResponse, Response

from geobill.documents import comparison, month_links, note, suspended, words
from geobill.domain.dates import BillingMonth
from geobill.domain.invoice import Invoice
from geobill.errors import InputError, StoreError
from geobill.pipeline import overview
from geobill.web.pages import is_fragment, page, site_of, workspace_of
from geobill.web.refusals import PageError

router = APIRouter()
MOST_NUMBER = 999_999_999
TYPES: dict[str, str] = {
    "pdf": "application/pdf",
    "html": "text/html; charset=utf-8",
    "csv": "text/csv; charset=utf-8",
    "gpkg": "application/geopackage+sqlite3",
    "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
}


@router.get("/meses")
def list_months(request: Request, mes: str = "") -> Response:
    """List the months; a month that was typed is gone to."""
    if mes:
        return RedirectResponse(f"/meses/{_month(mes)}", 303)
    this = BillingMonth.of(site_of(request).today())
    return page(request, "meses.html.j2", months=overview.list_months(workspace_of(request), this), this=this)


@router.get("/meses/{month}")
def show_month(request: Request, month: str) -> Response:
    """Show a month: totals, what is held and why, invoices and notes, where it is charged, the books."""
    sheet = overview.look_at_month(workspace_of(request), _month(month))
    papers = [(p, address(p.booked.paper.number), _links(p)) for p in sheet.papers]
    return page(
        request,
        "mes.html.j2",
        sheet=sheet,
        found=sheet.values,
        papers=papers,
        previous=sheet.month.preceding(),
        following=sheet.month.following(),
        address=address,
        words=words,
        title_of=title_of,
    )


@router.get("/meses/{month}/diferencas")
def show_differences(request: Request, month: str) -> Response:
    """Show why the month differs from the one before: within its page, or on a page of its own."""
    found = overview.look_at_differences(workspace_of(request), _month(month))
    template = "_diferencas.html.j2" if is_fragment(request) else "diferencas.html.j2"
    return page(request, template, found=found, causes=comparison.CAUSES, words=words)


@router.get("/mapa/zonas/{month}.json")
def give_zones(request: Request, month: str) -> Response:
    """Give the zones of the month's map with what is charged in each, as GeoJSON (WGS 84)."""
    asked = _month(month)
    named = {"Content-Disposition": f'inline; filename="zonas-{asked}.json"', "Cache-Control": "private, no-cache"}
    return Response(overview.find_zones(workspace_of(request), asked), media_type="application/geo+json", headers=named)


@router.get("/faturas")
def list_invoices() -> Response:
    """Go to the months: invoices stand there."""
    return RedirectResponse("/meses", 303)


@router.get("/faturas/{year}/{sequence}")
def show_paper(request: Request, year: int, sequence: int) -> Response:
    """Show an invoice or a note with its lines and papers."""
    number = _number(year, sequence)
    sheet = overview.look_at_paper(workspace_of(request), number)
    if sheet is None:
        raise _unknown(number)
    paper = sheet.booked.paper
    is_invoice = isinstance(paper, Invoice)
    return page(
        request,
        "fatura.html.j2" if is_invoice else "nota.html.j2",
        sheet=sheet,
        paper=paper,
        title=title_of(paper),
        links=_links(sheet),
        here=address(number),
        address=address,
        words=words,
        effects=suspended.EFFECTS,
        titles=note.TITLES,
        cause_words=note.NOTE_CAUSES,
    )


@router.get("/faturas/{year}/{sequence}/linhas/{line}")
def show_line(request: Request, year: int, sequence: int, line: int) -> Response:
    """Explain a line of an invoice: the multiplication, the law, and the rows of the files that it comes from."""
    number, workspace = _number(year, sequence), workspace_of(request)
    sheet = overview.look_at_paper(workspace, number)
    if sheet is None:
        raise _unknown(number)
    paper = sheet.booked.paper
    if not isinstance(paper, Invoice) or not 1 <= line <= len(paper.lines):
        raise PageError(f"{title_of(paper)} não tem a linha {line}.", "", "Volte a ela e escolha outra.", 404)
    try:
        explained = overview.look_at_line(workspace, number, line)
    except (InputError, StoreError) as refused:
        raise PageError(
            "Esta linha não pode ser explicada: o que está no arquivo não é o que foi calculado.",
            f"O programa diz (em inglês): {refused}",
            f"Confira com geobill verify {number}.",
            409,
        ) from None
    return page(
        request,
        "linha.html.j2",
        paper=paper,
        number=line,
        here=address(number),
        explained=explained.explanation,
        found=explained.values,
        words=words,
    )


@router.get("/faturas/{year}/{sequence}/papeis/{file_name}")
def give_paper(request: Request, year: int, sequence: int, file_name: str) -> Response:
    """Give a document as it was issued, to be saved: its name is looked up among those that were kept, never on a disk."""
    number = _number(year, sequence)
    content = overview.load_document(workspace_of(request), number, file_name)
    if content is None:
        raise PageError(f"O nº {number} não tem esse papel.", "", "Escolha um da lista.", 404)
    kind = TYPES.get(file_name.rpartition(".")[2], "application/octet-stream")
    shown = re.sub(r"[^A-Za-z0-9._-]", "_", file_name)
    headers = {
        "Content-Disposition": f'attachment; filename="{shown}"',
        "Content-Security-Policy": "default-src 'none'; sandbox",
    }
    return Response(content, media_type=kind, headers=headers)


def address(number: str) -> str:
    """Return where an invoice or a note is shown.

    Examples
    --------
    >>> address("2026/000012")
    '/faturas/2026/000012'
    """
    return f"/faturas/{quote(number)}"


def title_of(paper: Any) -> str:
    """Name an invoice or a note with its number."""
    return f"{'Fatura' if isinstance(paper, Invoice) else note.TITLES[paper.kind]} nº {paper.number}"


def _links(sheet: overview.PaperSheet) -> list[tuple[str, list[tuple[str, str]]]]:
    """Return the documents of a paper by title, each with its forms and their addresses."""
    paper, forms = sheet.booked.paper, list(month_links.FORMS)
    own = "Fatura" if isinstance(paper, Invoice) else note.TITLES[paper.kind]
    found: dict[str, list[tuple[int, str, str]]] = {}
    for name in sheet.files:
        form = name.rpartition(".")[2]
        place = forms.index(form) if form in forms else len(forms)
        title = month_links.DOCUMENT_KINDS.get(name.partition("-")[0], own)
        at = f"{address(paper.number)}/papeis/{quote(name, safe='')}"
        found.setdefault(title, []).append((place, month_links.FORMS.get(form, form.upper()), at))
    return [(title, [(form, at) for _, form, at in sorted(links)]) for title, links in found.items()]


def _month(said: str) -> BillingMonth:
    try:
        return BillingMonth.parse(said)
    except InputError:
        raise PageError(
            f"“{said[:20]}” não é um mês.", "", "Escreva ano e mês, de 01 a 12, por exemplo 2026-11.", 404
        ) from None


def _number(year: int, sequence: int) -> str:
    if not (1 <= year <= 9999 and 1 <= sequence <= MOST_NUMBER):
        raise _unknown(f"{year}/{sequence}"[:24])
    return f"{year:04d}/{sequence:06d}"


def _unknown(number: str) -> PageError:
    return PageError(f"Nada foi emitido com o nº {number}.", "", "Escolha uma fatura na lista do mês.", 404)
