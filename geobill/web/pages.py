"""Pages and fragments: how a template is filled, what every page knows, how a refusal is shown."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any

from fastapi import Request
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.responses import HTMLResponse

from geobill import __version__
from geobill.documents import finding_words, words
from geobill.store.workspace import Workspace, open_workspace

HERE = Path(__file__).parent
STATIC, TEMPLATES = HERE / "static", HERE / "templates"


@dataclass(frozen=True)
class Site:
    """What a run of the server was started with."""

    root: Path
    port: int
    today: Callable[[], date]
    now: Callable[[], str]
    background: Path | None = None


def site_of(request: Request) -> Site:
    """Return what this server was started with."""
    site: Site = request.app.state.site
    return site


def workspace_of(request: Request) -> Workspace:
    """Open the workspace as it is now: settings may have changed since the last request."""
    return open_workspace(site_of(request).root)


def reviewer_of(request: Request) -> str:
    """Return who is at the browser; the guard lets nobody in without a name."""
    return str(request.state.reviewer)


def is_fragment(request: Request) -> bool:
    """Say whether htmx asks for a part of the page that is shown already."""
    return request.headers.get("hx-request") == "true"


def page(request: Request, template: str, *, status: int = 200, **values: Any) -> HTMLResponse:
    """Fill a template: every value is escaped, and ``request``, ``reviewer`` and ``token`` are there."""
    return HTMLResponse(fill(request, template, **values), status)


def fill(request: Request, template: str, **values: Any) -> str:
    """Return a template's text for a request, without a response around it."""
    return (
        _environment()
        .get_template(template)
        .render(request=request, reviewer=request.state.reviewer, token=request.state.token, **values)
    )


def problem(
    request: Request,
    status: int,
    what: str,
    why: str = "",
    todo: str = "",
    fragment: str = "_problema.html.j2",
    **values: Any,
) -> HTMLResponse:
    """Say no, as a page or as a message in the one that is shown: what is wrong, why it matters, what to do."""
    told = {"code": status, "what": what, "why": why, "todo": todo, "original": "", **values}
    if is_fragment(request):
        shown = page(request, fragment, status=status, **told)
        shown.headers["HX-Retarget"], shown.headers["HX-Reswap"] = "#aviso", "innerHTML"
        shown.headers["HX-Push-Url"] = "false"
        return shown
    return page(request, "problema.html.j2", status=status, **told)


def moment(at: str) -> str:
    """Write a moment (UTC, ISO text with Z) by the clock of this machine."""
    return _local(at).strftime("%d/%m/%Y %H:%M") if at else "–"


def hour(at: str) -> str:
    """Write the hour of a moment."""
    return _local(at).strftime("%H:%M")


def _local(at: str) -> datetime:
    return datetime.strptime(at, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC).astimezone()


def short_day(day: date | str) -> str:
    """Write a day as 30/11/2026."""
    return (date.fromisoformat(day[:10]) if isinstance(day, str) else day).strftime("%d/%m/%Y")


@cache
def _environment() -> Environment:
    made = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters.update(
        reais=words.reais,
        metres=words.metres,
        number=words.number,
        figure=words.figure,
        percent=words.percent,
        moment=moment,
        hour=hour,
        day=short_day,
        month=words.month_name,
        service=words.service,
        exact=Decimal,
    )
    made.globals.update(
        version=__version__,
        KIND_WORDS=finding_words.KIND_WORDS,
        STATE_WORDS=finding_words.STATE_WORDS,
        ACT_WORDS=finding_words.ACT_WORDS,
    )
    return made
