"""The log: every act on a finding, the latest first. It is the ledger itself: nobody can change it here."""

from fastapi import APIRouter, Request
from starlette.responses import Response

from geobill.pipeline.registers import list_operators
from geobill.pipeline.review import load_audit
from geobill.web.pages import page, workspace_of

router = APIRouter()
PER_PAGE = 200
MOST_PAGES = 100_000


@router.get("/registro")
def show_log(request: Request, pagina: int = 1) -> Response:
    """Show who did what, and when."""
    workspace = workspace_of(request)
    number = min(max(pagina, 1), MOST_PAGES)
    acts = load_audit(workspace, (number - 1) * PER_PAGE, PER_PAGE + 1)
    names = {o.id: o.name for o in list_operators(workspace)}
    return page(
        request, "registro.html.j2", acts=acts[:PER_PAGE], names=names, number=number, has_more=len(acts) > PER_PAGE
    )
