"""The review page's application: what is put together, and how a refusal or a fault becomes a page."""

import mimetypes
from collections.abc import Callable
from datetime import date
from pathlib import Path

from fastapi import Depends, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.staticfiles import StaticFiles
from starlette.exceptions import HTTPException
from starlette.responses import Response

from geobill.errors import BusyError, ConflictError, GeobillError, InputError, ReviewError
from geobill.web import conflicts
from geobill.web.pages import STATIC, Site, problem
from geobill.web.refusals import PageError, check_token, in_portuguese, refusal_of
from geobill.web.routes import ROUTERS
from geobill.web.security import Guard, Sessions

VENDOR = STATIC / "vendor"
NEEDED = ("htmx.min.js", "maplibre-gl.mjs", "maplibre-gl-worker.mjs", "maplibre-gl.css", "pmtiles.js")
MOST_BYTES = 1_000_000  # of a form; a route that takes a paper says so itself: refusals.PAPER_BYTES
HTTP_WORDS: dict[int, tuple[str, str]] = {
    404: ("Esta página não existe.", "O endereço pode ter sido digitado com engano, ou é de outra versão do programa."),
    405: ("Este endereço não aceita esse pedido.", "A página foi aberta de um jeito que ela não prevê."),
}


def create_app(
    root: Path,
    *,
    port: int,
    today: Callable[[], date],
    now: Callable[[], str],
    background: Path | None = None,
) -> FastAPI:
    """Make the application of one workspace.

    Parameters
    ----------
    root : Path
        The workspace's folder.
    port : int
        Port that it is served at: a request that names another host is refused.
    today, now : callable
        The edge's clock: the day, and the moment in UTC as ISO text with Z.
    background : Path, optional
        A folder of tiles or a PMTiles file to lie under the map.

    Raises
    ------
    InputError
        If the third-party scripts weren't built into this installation.
    """
    missing = [name for name in NEEDED if not (VENDOR / name).is_file()]
    if missing:
        raise InputError(
            f"The review page lacks its scripts ({', '.join(missing)}): they are fetched when the package is built. "
            "Run make web in the source folder, or install geobill from its wheel."
        )
    for ending in (".js", ".mjs"):  # Windows' registry may say otherwise, and browsers then refuse modules
        mimetypes.add_type("text/javascript", ending)
    app = FastAPI(title="geobill", docs_url=None, redoc_url=None, openapi_url=None)
    app.state.site = Site(root, port, today, now, background)
    app.state.sessions = Sessions(port)
    for router in ROUTERS:
        app.include_router(router, dependencies=[Depends(check_token)], max_body_size=MOST_BYTES)
    app.mount("/static", StaticFiles(directory=STATIC), name="static")
    app.add_exception_handler(ConflictError, conflicts.show)
    app.add_exception_handler(BusyError, _busy)
    app.add_exception_handler(GeobillError, _refused)
    app.add_exception_handler(RequestValidationError, _misshapen)
    app.add_exception_handler(HTTPException, _not_served)
    app.add_middleware(Guard, port=port, sessions=app.state.sessions)
    return app


def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, GeobillError)
    if isinstance(error, ReviewError):
        error = in_portuguese(error)
    return problem(request, error.status if isinstance(error, PageError) else 400, **refusal_of(error))


def _busy(request: Request, error: Exception) -> Response:
    return problem(
        request,
        503,
        "Outro programa está gravando neste cadastro, e nada foi mudado.",
        "Pode ser outro comando do geobill, ou o QGIS com edições por salvar.",
        "Espere que ele termine, ou salve e feche lá, e tente de novo.",
    )


def _misshapen(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    fields = sorted({str(e["loc"][-1]) for e in error.errors()})
    return problem(
        request,
        422,
        "O pedido não tem a forma esperada, e nada foi mudado.",
        f"Falta ou não serve: {', '.join(fields)}.",
        "Volte, recarregue a página e tente de novo.",
    )


def _not_served(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    what, why = HTTP_WORDS.get(error.status_code, ("O pedido não pôde ser atendido, e nada foi mudado.", ""))
    return problem(request, error.status_code, what, why, "Volte à fila de achados.")
