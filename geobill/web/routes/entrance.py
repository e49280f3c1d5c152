"""The way in: the first page, and the reviewer's name, asked once and kept in a cookie of this run."""

import re
from typing import Annotated

from fastapi import APIRouter, Form, Request
from starlette.responses import RedirectResponse, Response

from geobill.pipeline.review import spaced
from geobill.web.pages import page
from geobill.web.refusals import PageError

router = APIRouter()
LONGEST_NAME = 120


@router.get("/")
def first_page() -> Response:
    """Go to the queue."""
    return RedirectResponse("/achados", 303)


@router.get("/entrar")
def ask_name(request: Request, para: str = "/achados") -> Response:
    """Ask who reviews."""
    return page(request, "entrar.html.j2", to=_inside(para))


@router.post("/entrar")
def take_name(
    request: Request, nome: Annotated[str, Form()] = "", para: Annotated[str, Form()] = "/achados"
) -> Response:
    """Remember who reviews, for this browser and this run of the server."""
    name = spaced(nome)
    if not name or not name.isprintable() or len(name) > LONGEST_NAME:
        raise PageError(
            "Isto não é um nome.",
            "Cada decisão fica registrada com o nome de quem a tomou; o operador e a Justiça vão perguntar.",
            f"Escreva seu nome, com até {LONGEST_NAME} letras.",
        )
    answer = RedirectResponse(_inside(para), 303)
    sessions = request.app.state.sessions
    answer.set_cookie(sessions.cookie, sessions.open(name), httponly=True, samesite="strict", path="/")
    return answer


def _inside(path: str) -> str:
    r"""Return a path of this very site, or the queue where it leads elsewhere.

    Examples
    --------
    >>> _inside("/achados?ordem=idade"), _inside("//outro.example"), _inside("/\\outro.example"), _inside("https://x")
    ('/achados?ordem=idade', '/achados', '/achados', '/achados')
    """
    return path if re.fullmatch(r"/(?![/\\])[\w/?=&.,%+~:-]*", path, re.ASCII) else "/achados"
