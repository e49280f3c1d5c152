"""One finding as the templates of the panel and of its own page want it."""

from datetime import date
from functools import cache
from typing import Any, TypeVar

from fastapi import Request
from pyproj import CRS

from geobill.documents.constatacao_facts import ends_of
from geobill.documents.finding_words import KIND_SENTENCES
from geobill.documents.held_words import held_title
from geobill.domain.detection import DISMISSED, IN_CASE, MISSING, PHOTOGRAPHED, UPHELD, FieldFinding
from geobill.domain.network import Operator
from geobill.pipeline.finding_money import look_at_money
from geobill.pipeline.finding_profile import Glance, Sheet, look_closely, look_over
from geobill.pipeline.review import list_findings
from geobill.store.finding_queue import Listed
from geobill.store.workspace import Workspace
from geobill.web.filters import Filters
from geobill.web.pages import Site, site_of
from geobill.web.profile_drawing import draw_profile
from geobill.web.refusals import PageError

T = TypeVar("T")
UNPRICED_WORDS: dict[str, str] = {
    "no_map": "Não há Mapa de Valores em vigor: importe a edição para saber quanto está em jogo (art. 7º).",
    "no_law": "A lei não dá os valores deste mês.",
    "no_operator": "Não se sabe de quem é: o coeficiente R depende da rede de cada operadora.",
    "exempt": "A entidade é isenta (art. 13).",
    "no_width": "O levantamento não mediu a largura da faixa, e o preço é por metro quadrado (art. 7º).",
    "no_volume": "O levantamento não mediu o volume, e o preço é por metro cúbico (art. 7º, § 2º).",
    "nothing_new": "Nada muda no preço: vale o da permissão.",
}


def glance_of(workspace: Workspace, finding: str) -> Glance:
    """Return a finding with its acts, or say that there is none of that id."""
    return _known(look_over(workspace, finding), finding)


def sheet_of(workspace: Workspace, finding: str) -> Sheet:
    """Return a finding with its profile, or say that there is none of that id."""
    return _known(look_closely(workspace, finding), finding)


def _known(found: T | None, finding: str) -> T:
    if found is None:
        raise PageError(
            f"Não há achado {finding[:40]} neste cadastro.",
            "Nada foi mudado.",
            "Escolha um achado na fila.",
            404,
        )
    return found


def finding_values(request: Request, workspace: Workspace, finding: str, filters: Filters) -> dict[str, Any]:
    """Return what the panel shows of a finding."""
    sheet = sheet_of(workspace, finding)
    site: Site = site_of(request)
    file = sheet.look.file
    photos = [a for a in file.acts if a.kind == PHOTOGRAPHED]
    return {
        "sheet": sheet,
        "finding": file.finding,
        "file": file,
        "survey": sheet.look.survey,
        "compared_at": sheet.look.compared_at,
        "sentence": KIND_SENTENCES[file.finding.kind],
        "whose": sheet.operators.get(file.operator or ""),
        "profile": draw_profile(sheet.profile, file.finding) if sheet.profile else None,
        "photos": photos,
        "photo_number": {a.at + a.paper: n for n, a in enumerate(photos, 1)},
        "limits": ",".join(f"{v:.7f}" for v in sheet.limits),
        "can_decide": file.state != IN_CASE,
        "can_open_case": file.state == UPHELD and file.finding.kind != MISSING,
        "widths": _pair(file.finding, "width_m"),
        "volumes": _pair(file.finding, "volume_m3"),
        "ends": " a ".join(dict.fromkeys(ends_of(sheet.look.shape))),
        "system": _system(workspace.database.srid),
        "filters": filters,
        "today": site.today(),
    }


def row_values(listed: Listed, operators: dict[str, Operator], today: date) -> dict[str, Any]:
    """Return what one row of the list shows."""
    finding = listed.finding
    whose = operators.get(listed.operator or "")
    return {
        "id": finding.id,
        "kind": finding.kind,
        "state": listed.state,
        "by": listed.by,
        "case": listed.case,
        "operator": whose.name if whose else "",
        "length_m": finding.length_m,
        "amount": finding.month_amount,
        "confidence": finding.confidence,
        "age": max((today - date.fromisoformat(listed.compared_at[:10])).days, 0),
    }


def done_values(request: Request, workspace: Workspace, changed: str, filters: Filters) -> dict[str, Any]:
    """Return what is told of an act: the finding's last one, the row of the list as it is now, the sums of the queue."""
    query = filters.query(site_of(request).today())
    glance = glance_of(workspace, changed)
    file = glance.file
    last = file.acts[-1] if file.acts else None
    listed = Listed(
        file.finding,
        file.state,
        file.version,
        file.operator,
        file.case,
        last.by if last else "",
        "",
        glance.compared_at,
    )
    return {
        "done": file,
        "act": last,
        "undoable": file.undoable is not None and last is not None and last.kind in (UPHELD, DISMISSED),
        "row": row_values(listed, glance.operators, site_of(request).today()),
        "shown": list_findings(workspace, query, 0, 1),
    }


def money_values(request: Request, workspace: Workspace, finding: str, installed_on: date | None) -> dict[str, Any]:
    """Return what a finding costs: this month once and doubled, and the past as it would be demanded.

    ``installed_on`` is since when it could be proven to stand there; None where the law presumes it (art. 10 § 3).
    """
    today = site_of(request).today()
    money = look_at_money(workspace, finding, today, installed_on=installed_on)
    why = money.month.why
    return {
        "money": money,
        "why_unpriced": None if why is None else UNPRICED_WORDS.get(why, held_title(why)),
        "finding": finding,
        "installed_on": installed_on,
        "today": today,
    }


@cache
def _system(srid: int) -> str:
    """Name the workspace's system as the papers do."""
    return f"{CRS.from_epsg(srid).name.replace('UTM zone', 'UTM, fuso')} (EPSG:{srid})"


def _pair(finding: FieldFinding, name: str) -> tuple[Any, Any] | None:
    """Return what was seen and what is permitted of one measure; None where neither is known."""
    seen, permitted = getattr(finding, name), getattr(finding, f"permitted_{name}")
    return None if seen is None and permitted is None else (seen, permitted)
