"""One finding: looked at in the panel or on its own page, decided, taken back, noted, photographed, told whose it is."""

import re
import tempfile
from datetime import date
from pathlib import Path
from typing import Annotated
from urllib.parse import parse_qsl

from fastapi import APIRouter, Depends, Form, Request, UploadFile
from starlette.responses import RedirectResponse, Response

from geobill.domain.detection import DISMISSED, UPHELD
from geobill.pipeline import review
from geobill.pipeline.finding_profile import load_photo
from geobill.store.workspace import Workspace
from geobill.web.filters import Filters
from geobill.web.pages import is_fragment, page, reviewer_of, site_of, workspace_of
from geobill.web.refusals import PAPER_BYTES, PageError
from geobill.web.sheets import done_values, finding_values, glance_of, money_values

router = APIRouter(prefix="/achados/{finding}")
MOST_PHOTO_BYTES = 25_000_000
CURRENT_PAGE = re.compile(r"[a-z]+://[^/]*/achados/")  # a finding's own page, as htmx names what it is on
IMAGES: dict[bytes, str] = {
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"%PDF-": "application/pdf",
}


def queue_named(request: Request, fila: Annotated[str, Form()] = "") -> Filters:
    """Return the filters of the queue that a form was sent from; kept for whoever has to show the finding again."""
    request.state.filters = Filters.read(dict(parse_qsl(fila)))
    filters: Filters = request.state.filters
    return filters


QueueForm = Annotated[Filters, Depends(queue_named)]
VersionForm = Annotated[int, Form()]
NoteForm = Annotated[str, Form()]


@router.get("")
def show_finding(request: Request, finding: str) -> Response:
    """Show a finding: to htmx in the panel, else as a page of its own."""
    return _shown(request, workspace_of(request), finding, Filters.read(request.query_params))


@router.get("/proximo")
def show_next(request: Request, finding: str) -> Response:
    """Show the one that follows in the queue."""
    return _beside(request, finding, forward=True)


@router.get("/anterior")
def show_previous(request: Request, finding: str) -> Response:
    """Show the one before it in the queue."""
    return _beside(request, finding, forward=False)


@router.get("/valor")
def show_worth(request: Request, finding: str, instalado: str = "") -> Response:
    """Show what it costs in a month, doubled, and for the past: since a day that could be proven, or as the law presumes."""
    workspace = workspace_of(request)
    glance_of(workspace, finding)
    try:
        since = date.fromisoformat(instalado) if instalado.strip() else None
    except ValueError:
        raise PageError(
            "Não se entende desde quando.", "Nada foi mudado.", "Escreva o dia no campo de data, ou deixe-o vazio."
        ) from None
    return page(request, "_valor.html.j2", **money_values(request, workspace, finding, since))


@router.get("/fotos/{number}")
def show_photo(request: Request, finding: str, number: int) -> Response:
    """Give the bytes of a photo: an image shows, a scanned paper is handed over to be saved."""
    content = load_photo(workspace_of(request), finding, number)
    if content is None:
        raise PageError("Não há essa foto.", "", "Volte ao achado.", 404)
    kind = next((kind for first, kind in IMAGES.items() if content.startswith(first)), "application/octet-stream")
    shown = "inline" if kind.startswith("image/") else "attachment"
    ending = {"image/png": "png", "image/jpeg": "jpg", "application/pdf": "pdf"}.get(kind, "bin")
    name = f"{re.sub(r'[^A-Za-z0-9-]', '', finding)}-{number}.{ending}"
    return Response(
        content,
        media_type=kind,
        headers={
            "Content-Disposition": f'{shown}; filename="{name}"',
            "Content-Security-Policy": "default-src 'none'; sandbox",
        },
    )


@router.post("/decidir")
def decide(
    request: Request,
    finding: str,
    filters: QueueForm,
    decisao: Annotated[str, Form()],
    versao: VersionForm,
    motivo: NoteForm = "",
) -> Response:
    """Uphold or dismiss; then the next one is shown."""
    kind = {"procede": UPHELD, "nao-procede": DISMISSED}.get(decisao)
    if kind is None:
        raise PageError("Essa decisão não existe.", "Nada foi mudado.", "Escolha “procede” ou “não procede”.")
    workspace = workspace_of(request)
    following = review.find_next(workspace, filters.query(site_of(request).today()), finding)
    review.decide(workspace, {finding: versao}, kind, by=reviewer_of(request), note=motivo, now=site_of(request).now())
    return _after(request, workspace, finding, following or finding, filters)


@router.post("/desfazer")
def undo(request: Request, finding: str, filters: QueueForm, versao: VersionForm) -> Response:
    """Take back the last decision; the finding is shown again."""
    workspace = workspace_of(request)
    review.undo(workspace, {finding: versao}, by=reviewer_of(request), now=site_of(request).now())
    return _after(request, workspace, finding, finding, filters)


@router.post("/nota")
def add_note(request: Request, finding: str, filters: QueueForm, texto: NoteForm = "") -> Response:
    """Add a note."""
    workspace = workspace_of(request)
    review.add_note(workspace, finding, by=reviewer_of(request), note=texto, now=site_of(request).now())
    return _after(request, workspace, finding, finding, filters)


@router.post("/foto", max_body_size=PAPER_BYTES)
def add_photo(request: Request, finding: str, filters: QueueForm, foto: UploadFile, legenda: NoteForm = "") -> Response:
    """Keep a photo: its name is a label and never a path, its bytes say what it is."""
    workspace = workspace_of(request)
    glance_of(workspace, finding)
    content = foto.file.read(MOST_PHOTO_BYTES + 1)
    if not content.startswith(tuple(IMAGES)) or len(content) > MOST_PHOTO_BYTES:
        raise PageError(
            "O arquivo não serve como foto, e nada foi guardado.",
            "Vale PNG ou JPEG (ou um papel digitalizado em PDF), pelos bytes do começo e não pelo nome, com até 25 MB.",
            "Escolha a foto como a câmera a gravou, ou reduza-a.",
        )
    with tempfile.TemporaryDirectory(prefix="geobill-") as folder:
        path = Path(folder, "foto")
        path.write_bytes(content)
        review.add_photo(
            workspace,
            finding,
            path,
            by=reviewer_of(request),
            note=legenda,
            now=site_of(request).now(),
            file_name=foto.filename or "",
        )
    return _after(request, workspace, finding, finding, filters)


@router.post("/operadora")
def attribute(
    request: Request,
    finding: str,
    filters: QueueForm,
    versao: VersionForm,
    operadora: Annotated[str, Form()] = "",
) -> Response:
    """Say whose it is."""
    workspace = workspace_of(request)
    review.attribute(workspace, {finding: versao}, operadora, by=reviewer_of(request), now=site_of(request).now())
    return _after(request, workspace, finding, finding, filters)


# -- what is shown then


def _shown(request: Request, workspace: Workspace, finding: str, filters: Filters) -> Response:
    values = finding_values(request, workspace, finding, filters)
    if is_fragment(request):
        answer = page(request, "_achado.html.j2", **values)
        answer.headers["HX-Push-Url"] = _address(request, finding, filters)
        return answer
    return page(request, "achado.html.j2", **values)


def _address(request: Request, finding: str, filters: Filters) -> str:
    """Return the address at which a reload shows what is shown now: the finding beside the queue, or on its own page."""
    if CURRENT_PAGE.match(request.headers.get("hx-current-url", "")):
        return filters.at(f"/achados/{finding}")
    return filters.at("/achados", achado=finding)


def _beside(request: Request, finding: str, *, forward: bool) -> Response:
    workspace, filters = workspace_of(request), Filters.read(request.query_params)
    query = filters.query(site_of(request).today())
    find = review.find_next if forward else review.find_previous
    other = find(workspace, query, finding)
    if other is None:
        raise PageError("Não há outro achado nesta fila.", "", "Mude os filtros para ver mais.", 404)
    if not is_fragment(request):
        return RedirectResponse(filters.at(f"/achados/{other}"), 303)
    return _shown(request, workspace, other, filters)


def _after(request: Request, workspace: Workspace, changed: str, shown: str, filters: Filters) -> Response:
    """Show a finding after an act on another (or on it), with what was done and the way back."""
    if not is_fragment(request):
        return RedirectResponse(filters.at("/achados", achado=shown, feito=changed), 303)
    values = finding_values(request, workspace, shown, filters)
    answer = page(request, "_depois.html.j2", **values, **done_values(request, workspace, changed, filters))
    answer.headers["HX-Push-Url"] = _address(request, shown, filters)
    return answer
