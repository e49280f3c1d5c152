"""Cases: listed, looked at, opened on findings, taken step by step, with the papers that were made and what they charge."""

import re
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import quote

from fastapi import APIRouter, Form, Query, Request, UploadFile
from starlette.responses import RedirectResponse, Response

from geobill.documents import words
from geobill.documents.case_papers import ACTS, OUTCOMES, TITLES
from geobill.documents.case_words import STEP_WORDS, TERM_WORDS, obstacle_in_words
from geobill.documents.constatacao import FINDINGS_PAPER, TITLE
from geobill.documents.finding_words import CASE_KIND_WORDS, CASE_STATE_WORDS
from geobill.documents.lines import printed_factors
from geobill.domain import case as steps
from geobill.domain.case import CaseAct
from geobill.errors import GeobillError, InputError, LawError, ReviewError
from geobill.pipeline.case_page import (
    CaseSheet,
    find_step_obstacles,
    list_companions,
    list_sheets,
    load_paper,
    load_scan,
    look_at_case,
    look_back,
    price_next_month,
)
from geobill.pipeline.cases import next_case_id, take_step
from geobill.pipeline.finding_cases import Opening, find_narrow, objections_to, open_case_on
from geobill.pipeline.finding_profile import look_closely
from geobill.pipeline.review import label_of, spaced
from geobill.store.workspace import Workspace
from geobill.web.pages import page, reviewer_of, site_of, workspace_of
from geobill.web.refusals import PAPER_BYTES, PageError, refusal_of

router = APIRouter(prefix="/processos")
MOST_PAPER_BYTES = 25_000_000
MOST_FINDINGS = 500
SCANS: dict[bytes, tuple[str, str]] = {
    b"%PDF-": ("application/pdf", "pdf"),
    b"\x89PNG\r\n\x1a\n": ("image/png", "png"),
    b"\xff\xd8\xff": ("image/jpeg", "jpg"),
}
FORMS: dict[str, tuple[str, str]] = {"pdf": ("application/pdf", "attachment"), "html": ("text/html", "inline")}
# an HTML paper shows its own style and drawings, and nothing of it runs
PAPER_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox"
WORDS: dict[str, Any] = {
    "CASE_STATE_WORDS": CASE_STATE_WORDS,
    "CASE_KIND_WORDS": CASE_KIND_WORDS,
    "STEP_WORDS": STEP_WORDS,
    "TERM_WORDS": TERM_WORDS,
    "STEP_NAMES": ACTS,
    "OUTCOMES": OUTCOMES,
    "PAPER_NAMES": {**TITLES, FINDINGS_PAPER: TITLE},
    "told": obstacle_in_words,
}
Text = Annotated[str, Form()]


@dataclass(frozen=True)
class Refused:
    """A form that was refused: why, what was typed into it, and which versions of the findings it was about."""

    error: GeobillError
    typed: Mapping[str, str]
    seen: Mapping[str, int]


@router.get("")
def show_cases(request: Request) -> Response:
    """List the cases, those whose terms press first, and the findings that wait."""
    cases, waiting = list_sheets(workspace_of(request), site_of(request).today())
    in_order = sorted(cases, key=lambda c: (c.state.file.is_over, min((t.days_left for t in c.terms), default=10**6)))
    return page(request, "processos.html.j2", cases=in_order, waiting=waiting, **WORDS)


@router.get("/abrir")
def ask_opening(request: Request, achado: Annotated[list[str] | None, Query()] = None) -> Response:
    """Ask what a case on some findings needs, and say what is against it."""
    return _asked(request, workspace_of(request), achado or [])


@router.post("/abrir")
def open_case(
    request: Request,
    achado: Annotated[list[str], Form()],
    versao: Annotated[list[int], Form()],
    numero: Text,
    objeto: Text,
    dia: Text,
    por: Text,
    referencia: Text = "",
    largura: Text = "",
) -> Response:
    """Open a case on findings, each as it was seen."""
    workspace = workspace_of(request)
    if len(achado) != len(versao) or len(achado) > MOST_FINDINGS:
        raise PageError(
            "O pedido não tem a forma esperada.", "Nada foi mudado.", "Recarregue a página e tente de novo."
        )
    seen = dict(zip(achado, versao, strict=True))
    for id_ in seen:
        if look_closely(workspace, id_) is None:
            raise PageError(
                f"Não há achado {id_[:40]} neste cadastro.", "Nada foi mudado.", "Escolha achados na fila.", 404
            )
    today, now = site_of(request).today(), site_of(request).now()
    try:
        opening = Opening(
            id=_said(numero, "o número do processo"),
            subject=_said(objeto, "o objeto"),
            opened_on=_day(dia, "o dia da abertura"),
            by=_said(por, "quem lavra o auto"),
            reference=_plain(referencia, "o número do auto"),
            default_width_m=_width(largura),
        )
        against = objections_to(workspace, seen, opening, today)
        if against and {m.code for m in against} != {"in_case"}:
            raise PageError(
                "Não se pode abrir o processo.", _listed(against), "Nada foi mudado. Corrija e tente de novo."
            )
        open_case_on(workspace, seen, opening, now=now, today=today)
    except ReviewError:
        raise  # the findings aren't what they were: the form would be about something else
    except (PageError, InputError, LawError) as refused:
        typed = {
            "numero": numero,
            "objeto": objeto,
            "dia": dia,
            "por": por,
            "referencia": referencia,
            "largura": largura,
        }
        return _asked(request, workspace, achado, Refused(refused, typed, seen))
    return RedirectResponse(_address(opening.id), 303)


@router.get("/{case:path}/papeis/{number}")
def show_paper(request: Request, case: str, number: int) -> Response:
    """Give a paper that was made for a case."""
    paper = load_paper(workspace_of(request), case, number)
    if paper is None:
        raise PageError("Não há esse papel neste processo.", "", "Volte ao processo.", 404)
    ending = paper.file_name.rpartition(".")[2]
    kind, shown = FORMS.get(ending, ("application/octet-stream", "attachment"))
    return _file(
        paper.content, kind, shown, f"{_safe(case)}-{_safe(paper.file_name.removesuffix(f'.{ending}'))}.{ending}"
    )


@router.get("/{case:path}/digitalizados/{number}")
def show_scan(request: Request, case: str, number: int) -> Response:
    """Give the scan that was kept with a step."""
    scan = load_scan(workspace_of(request), case, number)
    if scan is None:
        raise PageError("Não há esse papel neste processo.", "", "Volte ao processo.", 404)
    kind, ending = next(
        (k for first, k in SCANS.items() if scan[1].startswith(first)), ("application/octet-stream", "bin")
    )
    return _file(scan[1], kind, "attachment", f"{_safe(case)}-passo-{number}.{ending}")


@router.get("/{case:path}/cobranca")
def show_charge(request: Request, case: str) -> Response:
    """Show what the case charges: its lines of the next invoice, and the months that have passed."""
    workspace, site = workspace_of(request), site_of(request)
    following = price_next_month(workspace, case, site.today())
    if following is None:
        raise _no_case(case)
    rows = [(n, li, f"{printed_factors(li)} × {li.days} ÷ {li.month_days}") for n, li in following.lines]
    back = look_back(workspace, case, site.today(), reviewer_of(request), site.now()) if following.lines else None
    return page(request, "_cobranca.html.j2", following=following, rows=rows, back=back, case=case)


@router.get("/{case:path}")
def show_case(request: Request, case: str) -> Response:
    """Show one case: its history, findings, papers, terms, and the steps that can be taken now."""
    workspace = workspace_of(request)
    return page(request, "processo.html.j2", **_values(request, _sheet(request, workspace, case)))


@router.post("/{case:path}/passo", max_body_size=PAPER_BYTES)
def take(
    request: Request,
    case: str,
    passo: Text,
    dia: Text,
    por: Text,
    referencia: Text = "",
    prazo: Text = "",
    resultado: Text = "",
    motivo: Text = "",
    permissao: Text = "",
    instalado: Text = "",
    prova: Text = "",
    papel: UploadFile | None = None,
) -> Response:
    """Take a step: what the law still asks for before it is said in one refusal."""
    workspace = workspace_of(request)
    if passo not in STEP_WORDS:
        raise PageError("Esse passo não existe.", "Nada foi mudado.", "Escolha um dos passos da página.")
    name = STEP_WORDS[passo][0].lower()
    note = {
        steps.DEFENCE_DECIDED: resultado,
        steps.APPEAL_DECIDED: resultado,
        steps.DISMISSED: motivo,
        steps.REGULARISED: permissao,
    }.get(passo, "")
    if passo in (steps.DEFENCE_DECIDED, steps.APPEAL_DECIDED) and resultado not in OUTCOMES:
        raise PageError(f"Falta o resultado, para {name}.", "Nada foi mudado.", "Diga se foi acolhida ou rejeitada.")
    if passo == steps.DISMISSED:
        note = _said(motivo, "o motivo do arquivamento")
    if passo == steps.INSTALLED:
        _said(referencia, "o que prova o dia da instalação (art. 10, § 3º)")
    act = CaseAct(
        case,
        passo,
        _day(dia, "o dia"),
        _said(por, "quem praticou ou assinou o ato"),
        _plain(referencia, "a referência"),
        _day(prazo, "o último dia do prazo") if prazo.strip() else None,
        note=note.strip(),
    )
    first = None
    if passo == steps.DOUBLED and (instalado.strip() or prova.strip()):
        proof = _said(prova, "o que prova o dia da instalação (art. 10, § 3º)")
        first = CaseAct(case, steps.INSTALLED, _day(instalado, "o dia da instalação"), act.by, proof)
    for one in (act,) if first is None else (first, act):
        against = find_step_obstacles(workspace, one)
        if against is None:
            raise _no_case(case)
        if against:
            raise PageError(f"A lei não permite este passo agora: {name}.", _listed(against), "Nada foi mudado.")
    with tempfile.TemporaryDirectory(prefix="geobill-") as folder:
        scan = None if papel is None or not papel.filename else _kept(papel, Path(folder, "papel"))
        label = label_of(papel.filename or "") if papel is not None else ""
        take_step(workspace, act, site_of(request).now(), scan, file_name=label, first=first)
    return RedirectResponse(f"{_address(case)}#historico", 303)


# -- what is shown


def _values(request: Request, sheet: CaseSheet) -> dict[str, Any]:
    file = sheet.listed.state.file
    papers: dict[str, list[Any]] = {}
    for document in sheet.documents:
        papers.setdefault(document.file_name.rpartition(".")[0], []).append(document)
    can = [s for s in sheet.steps if not s.obstacles]
    notice = next((s.obstacles for s in sheet.steps if s.kind == steps.NOTIFIED), ())
    return {
        "sheet": sheet,
        "file": file,
        "case": file.case,
        "listed": sheet.listed,
        "papers": papers,
        "can": can,
        "cannot": [s for s in sheet.steps if s.obstacles and "recorded_already" not in {m.code for m in s.obstacles}],
        # the step that all others wait for, where nothing but the mayor's decision is missing (art. 15)
        "no_term": notice[0] if [m.code for m in notice] == ["no_term"] else None,
        "today": site_of(request).today(),
        "steps": steps,
        **WORDS,
    }


def _asked(request: Request, workspace: Workspace, ids: list[str], refused: Refused | None = None) -> Response:
    """Show the form that opens a case; one that was refused as it was typed, with the refusal above it."""
    chosen = list(dict.fromkeys(ids))[:MOST_FINDINGS]
    sheets = [look_closely(workspace, id_) for id_ in chosen]
    if not chosen or None in sheets:
        raise PageError("Não se sabe sobre quais achados abrir o processo.", "", "Escolha um achado na fila.", 404)
    found = [s for s in sheets if s is not None]
    today = site_of(request).today()
    opening = Opening("", "", today, "")
    against = objections_to(workspace, chosen, opening, today)
    operators = {s.look.file.operator for s in found}
    whose = found[0].operators.get(operators.pop() or "") if len(operators) == 1 else None
    width = find_narrow(workspace, chosen).width_m
    proposed = {
        "numero": next_case_id(workspace, today.year),
        "objeto": "",
        "dia": today.isoformat(),
        "por": reviewer_of(request),
        "referencia": "",
        "largura": words.number(width) if width else "",
    }
    return page(
        request,
        "processo_abrir.html.j2",
        status=200 if refused is None else 400,
        refusal=None if refused is None else refusal_of(refused.error),
        typed=proposed if refused is None else refused.typed,
        versions={s.look.file.finding.id: s.look.file.version for s in found} if refused is None else refused.seen,
        found=found,
        whose=whose,
        companions=list_companions(workspace, [s.look.file for s in found]),
        against=[m for m in against if m.code != "no_width"],
        no_width=any(m.code == "no_width" for m in against),
        width=width,
        total=sum((s.look.file.finding.length_m for s in found), Decimal("0.00")),
        **WORDS,
    )


def _sheet(request: Request, workspace: Workspace, case: str) -> CaseSheet:
    sheet = look_at_case(workspace, case, site_of(request).today())
    if sheet is None:
        raise _no_case(case)
    return sheet


def _no_case(case: str) -> PageError:
    return PageError(f"Não há processo {case[:40]} neste cadastro.", "Nada foi mudado.", "Escolha um na lista.", 404)


def _listed(against: list[Any]) -> str:
    return "; ".join(f"{obstacle_in_words(m.code, m.message)} (art. {m.article})" for m in against) + "."


def _address(case: str) -> str:
    return f"/processos/{quote(case)}"


def _file(content: bytes, kind: str, shown: str, name: str) -> Response:
    headers = {"Content-Disposition": f'{shown}; filename="{name}"', "Content-Security-Policy": PAPER_POLICY}
    return Response(content, media_type=kind, headers=headers)


def _safe(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9-]+", "-", text).strip("-") or "processo"


# -- what was typed


def _said(text: str, what: str) -> str:
    if not text.strip():
        raise PageError(f"Falta {what}.", "Nada foi mudado.", "Preencha e tente de novo.")
    return _plain(text, what)


def _plain(text: str, what: str) -> str:
    text = spaced(text)
    if not text.isprintable() or len(text) > 400:
        raise PageError(
            f"Não serve: {what}.",
            "Tem caracteres que não se veem, ou é longo demais. Nada foi mudado.",
            "Escreva de novo.",
        )
    return text


def _day(text: str, what: str) -> date:
    try:
        return date.fromisoformat(text.strip())
    except ValueError:
        raise PageError(f"Não se entende {what}.", "Nada foi mudado.", "Escreva o dia no campo de data.") from None


def _width(text: str) -> Decimal | None:
    if not text.strip():
        return None
    try:
        width = Decimal(text.strip().replace(",", "."))
    except InvalidOperation:
        width = Decimal(0)
    if not width.is_finite() or not 0 < width <= 100:
        raise PageError("Não se entende a largura.", "Nada foi mudado.", "Escreva metros, por exemplo 0,50.")
    return width


def _kept(upload: UploadFile, path: Path) -> Path:
    content = upload.file.read(MOST_PAPER_BYTES + 1)
    if not content.startswith(tuple(SCANS)) or len(content) > MOST_PAPER_BYTES:
        raise PageError(
            "O papel não pode ser guardado, e nada foi mudado.",
            "Vale PDF, PNG ou JPEG, pelos bytes do começo e não pelo nome, com até 25 MB.",
            "Digitalize de novo e tente outra vez.",
        )
    path.write_bytes(content)
    return path
