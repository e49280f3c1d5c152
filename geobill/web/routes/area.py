"""One decision on all the findings of a drawn area: first what it holds, then the decision, on the versions that were shown."""

import re
from typing import Annotated
from urllib.parse import parse_qsl

from fastapi import APIRouter, Form, Request
from starlette.responses import Response

from geobill.domain.detection import DISMISSED, UPHELD
from geobill.pipeline import review
from geobill.pipeline.area import count_area
from geobill.web.drawing import read_area
from geobill.web.filters import Filters
from geobill.web.pages import page, reviewer_of, site_of, workspace_of
from geobill.web.refusals import PageError

router = APIRouter(prefix="/achados/area")
MOST_AT_ONCE = 5000  # one reason for more than these accuses or acquits by the truckload
DECISIONS: dict[str, str] = {"procede": UPHELD, "nao-procede": DISMISSED}
SEEN = re.compile(r"V\d{5,9}-\d{5,9}:\d{1,6}", re.ASCII)


@router.post("/contar")
def count(request: Request, desenho: Annotated[str, Form()], fila: Annotated[str, Form()] = "") -> Response:
    """Show what the area holds of the queue, and ask for the decision."""
    workspace, filters = workspace_of(request), Filters.read(dict(parse_qsl(fila)))
    area = read_area(desenho, workspace)
    query = filters.query(site_of(request).today())
    held = count_area(workspace, query, area)
    return page(
        request,
        "_area.html.j2",
        held=held,
        too_many=held.whole.count > MOST_AT_ONCE,
        most=MOST_AT_ONCE,
        seen=" ".join(f"{id_}:{version}" for id_, version in held.seen.items()),
        filters=filters,
    )


@router.post("/decidir")
def decide(
    request: Request,
    decisao: Annotated[str, Form()],
    vistos: Annotated[str, Form()],
    motivo: Annotated[str, Form()] = "",
) -> Response:
    """Decide what was shown; those that somebody changed meanwhile are named and left as they are."""
    kind = DECISIONS.get(decisao)
    if kind is None:
        raise PageError("Essa decisão não existe.", "Nada foi mudado.", "Escolha “procede” ou “não procede”.")
    if not motivo.strip():
        raise PageError(
            "Falta o motivo: um só vale para todos os achados da área.",
            "O operador e a Justiça vão perguntar. Nada foi mudado.",
            "Escreva o motivo e confirme de novo.",
        )
    words = vistos.split()
    if not words or len(words) > MOST_AT_ONCE or not all(SEEN.fullmatch(w) for w in words):
        raise PageError("Não se sabe quais achados foram mostrados.", "Nada foi mudado.", "Conte a área de novo.")
    seen = {id_: int(version) for id_, version in (w.split(":") for w in words)}
    done = review.decide(
        workspace_of(request), seen, kind, by=reviewer_of(request), note=motivo, now=site_of(request).now(), partly=True
    )
    return page(request, "_area_decidida.html.j2", kind=kind, done=done, left=len(seen) - len(done.done))
