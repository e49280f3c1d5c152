"""The papers of a case: notice, warning, decision, daily fine, suspension of new projects, end of the matter (arts. 4, 9, 10, 12)."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal

from geobill.documents import words
from geobill.documents.forms import Job, make
from geobill.documents.grounds import Grounds, grounds_values
from geobill.documents.overrides.folder import PACKAGE, Templates
from geobill.documents.typesetting import printable
from geobill.domain import case as acts
from geobill.domain.case import CaseAct, CaseFile, doubled_from, fine_from
from geobill.domain.invoice import Decision
from geobill.domain.network import Authority, Operator
from geobill.domain.record import canonical_json, sha256

CASE_FORMS: tuple[str, ...] = ("pdf", "html")
NOTICE, NONCONFORMITY_NOTICE, WARNING = "caso_notificacao", "caso_desconformidade", "caso_advertencia"
DECISION, FINE, SUSPENSION, ENDING = "caso_decisao", "caso_multa", "caso_suspensao", "caso_cessacao"
PAPERS: dict[str, str] = {
    acts.NOTIFIED: NOTICE,
    acts.WARNED: WARNING,
    acts.DEFENCE_DECIDED: DECISION,
    acts.APPEAL_DECIDED: DECISION,
    acts.DOUBLED: DECISION,
    acts.FORFEITED: DECISION,
    acts.DISMISSED: DECISION,
    acts.FINED: FINE,
    acts.PROJECTS_SUSPENDED: SUSPENSION,
    acts.PROJECTS_RELEASED: SUSPENSION,
    acts.REGULARISED: ENDING,
    acts.REMOVED: ENDING,
    acts.CURED: ENDING,
    acts.REGISTER_DELIVERED: ENDING,
}
TITLES: dict[str, str] = {
    NOTICE: "Auto e notificação",
    NONCONFORMITY_NOTICE: "Notificação de desconformidade",
    WARNING: "Advertência",
    DECISION: "Decisão",
    FINE: "Multa diária",
    SUSPENSION: "Suspensão da aprovação de novos projetos",
    ENDING: "Termo de cessação",
}
OWN_TITLES: dict[str, str] = {
    acts.DEFENCE_DECIDED: "Decisão da defesa",
    acts.APPEAL_DECIDED: "Decisão do recurso",
    acts.PROJECTS_RELEASED: "Fim da suspensão da aprovação de novos projetos",
}
SECRETARY, MAYOR = "Secretário Municipal de Obras, Projetos e Planejamento", "Prefeito Municipal"
LEGAL_OFFICE, INSPECTION = (
    "Secretaria Municipal de Assuntos Jurídicos",
    "Secretaria Municipal de Obras, Projetos e Planejamento",
)
# who signs, by what the law says; where it names a body, the body
SIGNERS: dict[str, str] = {
    acts.DEFENCE_DECIDED: LEGAL_OFFICE,  # arts. 9 §§ 4, 5
    acts.APPEAL_DECIDED: MAYOR,  # art. 9 § 5
    acts.DOUBLED: SECRETARY,  # art. 10 § 1
    acts.FORFEITED: SECRETARY,
    acts.DISMISSED: SECRETARY,
    acts.FINED: MAYOR,  # art. 9 § 6
}
KINDS: dict[str, str] = {
    acts.CLANDESTINE: "Equipamento implantado clandestinamente (art. 10)",
    acts.UNREGISTERED: "Rede sem cadastro entregue (art. 12)",
    acts.INFRACTION: "Inobservância do projeto na execução (art. 9º)",
    acts.NONCONFORMITY: "Desconformidade com o posicionamento aprovado (art. 4º)",
}
ACTS: dict[str, str] = {
    acts.NOTIFIED: "Notificação",
    acts.WARNED: "Advertência (art. 9º, I)",
    acts.DEFENCE_LODGED: "Defesa apresentada",
    acts.DEFENCE_DECIDED: "Decisão da defesa",
    acts.APPEAL_LODGED: "Recurso ao Prefeito Municipal (art. 9º, § 5º)",
    acts.APPEAL_DECIDED: "Decisão do recurso",
    acts.TECHNICAL_OPINION: "Parecer dos órgãos técnicos",
    acts.LEGAL_OPINION: "Parecer da Secretaria de Assuntos Jurídicos",
    acts.IMPOSSIBILITY: "Laudo de impossibilidade de retirada (art. 10, § 2º)",
    acts.INSTALLED: "Instalação nesta data, comprovada (art. 10, § 3º)",
    acts.DOUBLED: "Decisão: cobrança em dobro",
    acts.FORFEITED: "Decisão: perda do equipamento (art. 10, § 1º)",
    acts.DISMISSED: "Arquivamento",
    acts.REGULARISED: "Regularização",
    acts.REMOVED: "Retirada do equipamento",
    acts.CURED: "Cumprimento da notificação",
    acts.FINED: "Multa diária (art. 9º, § 2º)",
    acts.PROJECTS_SUSPENDED: "Suspensão da aprovação de novos projetos (art. 9º, § 3º)",
    acts.PROJECTS_RELEASED: "Fim da suspensão de novos projetos",
    acts.REGISTER_DELIVERED: "Entrega do cadastro (art. 12)",
    acts.FOUND: "Auto de constatação lavrado",
}
# papers with a table of the findings; the others name them beside the matter
TELLS_FINDINGS = frozenset({
    acts.NOTIFIED, acts.DOUBLED, acts.FORFEITED, acts.REGULARISED, acts.REMOVED, acts.CURED, acts.REGISTER_DELIVERED,
})  # fmt: skip
ON_AN_AUTO = "Notificação"  # of a case whose auto is a paper of its own
OUTCOMES = {acts.ACCEPTED: "acolhida", acts.REJECTED: "rejeitada"}
MOST_IDS = 40


@dataclass(frozen=True)
class Figures:
    """Figures that a paper prints, as the law gives them on the day of the act; None where it doesn't need them.

    ``term_days`` are those of the notice and ``decision`` what they rest on where the law counts none; ``fine_share`` is a
    share of one, ``suspension_days`` of art. 9 § 3, ``defence_days`` of art. 9 § 4; ``base`` is the operator's price of a whole
    month in reais, by the month of the act, None where it is held.
    """

    law_published_on: date
    statute_title: str
    fine_share: Decimal
    suspension_days: int
    defence_days: int
    term_days: int | None = None
    decision: Decision | None = None
    base: Decimal | None = None


@dataclass(frozen=True)
class Entry:
    """A step in the table of what was done."""

    on: date
    what: str
    reference: str
    by: str


def paper_of(file: CaseFile, act: CaseAct) -> str | None:
    """Return the template's name of a step's paper, without ending; None where the law asks for none."""
    if act.kind == acts.NOTIFIED and file.case.kind == acts.NONCONFORMITY:
        return NONCONFORMITY_NOTICE
    return PAPERS.get(act.kind)


def paper_title(file: CaseFile, act: CaseAct) -> str:
    """Title of a step's paper."""
    return OWN_TITLES.get(act.kind) or TITLES[paper_of(file, act) or DECISION]


def render_case_paper(
    file: CaseFile,
    act: CaseAct,
    operator: Operator,
    authority: Authority,
    figures: Figures,
    templates: Templates = PACKAGE,
    grounds: Grounds | None = None,
) -> dict[str, bytes]:
    """Render the paper of a step as PDF and HTML, the same words in both; ``grounds`` where the case stands on findings.

    Raises
    ------
    TemplateError
        If the template can't be filled or typeset.
    """
    return make(case_job(file, act, operator, authority, figures, grounds), CASE_FORMS, templates)


def case_job(
    file: CaseFile,
    act: CaseAct,
    operator: Operator,
    authority: Authority,
    figures: Figures,
    grounds: Grounds | None = None,
) -> Job:
    """Gather what the paper of a step prints; ``file`` holds the step, its date is the step's."""
    digest = sha256(canonical_json(file if grounds is None else {"case": file, "grounds": grounds}))
    bodies = {LEGAL_OFFICE: authority.legal_office, INSPECTION: authority.secretariat}
    signer = SIGNERS.get(act.kind, INSPECTION)
    notice, proven = file.last_of(acts.NOTIFIED), file.last_of(acts.INSTALLED)
    title = paper_title(file, act)
    if grounds is not None and title == TITLES[NOTICE]:
        title = ON_AN_AUTO
    since = doubled_from(file, figures.law_published_on)
    named = () if grounds is None else tuple(g.finding.id for g in grounds.findings)
    # what is undeclared comes in as rows with the findings' ids: each is named once on a paper
    in_table = frozenset(named) if act.kind in TELLS_FINDINGS else frozenset[str]()
    rows = frozenset((*file.case.segments, *file.case.equipment))
    values = {
        "case": file.case,
        "kind": KINDS[file.case.kind],
        "act": act,
        "title": title,
        "operator": operator,
        "authority": authority,
        "secretariat": authority.secretariat or INSPECTION,
        "legal_office": authority.legal_office or LEGAL_OFFICE,
        "law": figures.statute_title,
        "figures": figures,
        "notice": notice,
        "defended": bool(file.acts_of(acts.DEFENCE_LODGED)),
        "proven": proven,
        "doubled_since": since,
        "until_presumed": proven is None or proven.on < figures.law_published_on,
        "fine_from": fine_from(file),
        "daily": _daily(figures),
        "day_before": act.on - timedelta(days=1),
        "outcome": OUTCOMES.get(act.note, act.note),
        "segments": listed_ids([i for i in file.case.segments if i not in in_table]),
        "equipment": listed_ids([i for i in file.case.equipment if i not in in_table]),
        "history": [entry(a) for a in file.acts if a is not act],
        "signer": bodies.get(signer) or signer,
        "moved": _is_moved(act, figures),
        "doubled": file.last_of(acts.DOUBLED),
        "grounds": grounds_values(grounds),
        "finding_ids": listed_ids([i for i in named if i not in in_table | rows]),
        "digest": digest,
    }
    inputs = {
        "title": printable(f"{title} – processo {file.case.id} – {operator.name}"),
        "author": printable(authority.name),
    }
    return Job(f"{paper_of(file, act)}.typ.j2", values, inputs, act.on, digest)


def entry(act: CaseAct) -> Entry:
    """Say a step as the table of a case shows it."""
    what = ACTS[act.kind]
    if act.kind in (acts.DEFENCE_DECIDED, acts.APPEAL_DECIDED):
        what += f": {OUTCOMES.get(act.note, act.note)}"
    if act.kind == acts.REGULARISED:
        what += f", permissão nº {act.note}"
    if act.kind == acts.NOTIFIED and act.until is not None:
        what += f", prazo até {words.short_date(act.until)}"
    return Entry(act.on, what, act.reference, act.by)


def _daily(figures: Figures) -> Decimal | None:
    """One day's fine in reais, exact: share × the month's price."""
    return None if figures.base is None else figures.base * figures.fine_share


def _is_moved(act: CaseAct, figures: Figures) -> bool:
    """Whether a term ends later than its days, on the next day of business."""
    return figures.term_days is not None and act.until is not None and (act.until - act.on).days > figures.term_days


def listed_ids(ids: Sequence[str]) -> str:
    """Name some ids; beyond 40 the rest is counted."""
    return ", ".join(ids[:MOST_IDS]) + (f" e mais {len(ids) - MOST_IDS}" if len(ids) > MOST_IDS else "")
