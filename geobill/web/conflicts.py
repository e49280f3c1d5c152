"""Two reviewers at once: who decided what in between, and the finding as it is now."""

from fastapi import Request
from starlette.responses import Response

from geobill.documents.finding_words import ACT_WORDS
from geobill.errors import ConflictError
from geobill.web.filters import Filters
from geobill.web.pages import hour, is_fragment, problem, workspace_of
from geobill.web.sheets import done_values, finding_values


def show(request: Request, error: Exception) -> Response:
    """Say who was first, and what: where one finding was open, it is shown again as it is now, with its new version."""
    assert isinstance(error, ConflictError)
    told = {
        "what": f"{error.by} decidiu isto às {hour(error.at)}: {ACT_WORDS[error.what].lower()}. Nada foi sobrescrito.",
        "why": f"O achado {error.subject} mudou depois que você o abriu.",
        "todo": "Veja como ele está agora e decida de novo, se ainda for o caso.",
    }
    filters = getattr(request.state, "filters", None)
    if not is_fragment(request) or not isinstance(filters, Filters):
        return problem(request, 409, **told, subject=error.subject)
    workspace = workspace_of(request)
    values = finding_values(request, workspace, error.subject, filters)
    values |= done_values(request, workspace, error.subject, filters)
    return problem(request, 409, **told, fragment="_conflito.html.j2", **values)
