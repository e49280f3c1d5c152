"""The queue: findings filtered and paged beside the map, with the one that is open."""

from datetime import date
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from geobill.domain.detection import Survey
from geobill.pipeline.registers import list_operators
from geobill.pipeline.review import list_findings, list_surveys
from geobill.store.workspace import Workspace
from geobill.web.filters import NOBODY, ORDER_WORDS, Filters
from geobill.web.pages import is_fragment, page, site_of, workspace_of
from geobill.web.sheets import done_values, finding_values, row_values

router = APIRouter()
PER_PAGE = 100
MOST_PAGES = 10_000


@router.get("/achados")
def show_queue(request: Request, pagina: int = 1, achado: str = "", feito: str = "") -> Response:
    """Show the queue; to htmx only the list."""
    workspace, filters = workspace_of(request), Filters.read(request.query_params)
    values = queue_values(workspace, filters, site_of(request).today(), pagina)
    if is_fragment(request):
        answer = page(request, "_fila.html.j2", **values)
        answer.headers["HX-Push-Url"] = filters.at("/achados", pagina=pagina if pagina > 1 else None)
        return answer
    opened = finding_values(request, workspace, achado, filters) if achado else None
    told = done_values(request, workspace, feito, filters) if feito else {}
    return page(request, "achados.html.j2", opened=opened, told=told, **values)


def queue_values(workspace: Workspace, filters: Filters, today: date, number: int) -> dict[str, Any]:
    """Return what the list needs: a page of findings, the sums of all, the words of who and how old."""
    operators = {o.id: o for o in list_operators(workspace)}
    surveys, replaced = list_surveys(workspace)
    number = min(max(number, 1), MOST_PAGES)
    shown = list_findings(workspace, filters.query(today), (number - 1) * PER_PAGE, PER_PAGE)
    pages = max(-(-shown.totals.count // PER_PAGE), 1)
    return {
        "filters": filters,
        "shown": shown,
        "rows": [row_values(listed, operators, today) for listed in shown.rows],
        "number": number,
        "pages": pages,
        "operators": operators.values(),
        "surveys": [_survey_words(s, s.id in replaced) for s in surveys.values()],
        "orders": {name: words for name, (_, words) in ORDER_WORDS.items()},
        "nobody": NOBODY,
    }


def _survey_words(survey: Survey, replaced: bool) -> tuple[str, str]:
    note = " (comparado de novo)" if replaced else ""
    return survey.id, f"{survey.id} · {survey.file}{note}"
