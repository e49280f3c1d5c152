"""Cases made up, always the same: what the templates of their papers are tried out on."""

from datetime import date
from decimal import Decimal

from geobill.documents import case_papers as papers
from geobill.documents.case_papers import Figures, case_job
from geobill.documents.forms import Job
from geobill.documents.sample import AUTHORITY, OPERATOR
from geobill.domain import case as acts
from geobill.domain.case import Case, CaseAct, CaseFile
from geobill.domain.invoice import Decision

ID = "2026-014"
SIGNED = "Maria das Dores Conceição"
FIGURES = Figures(
    law_published_on=date(2001, 6, 27),
    statute_title="Lei nº 3.057, de 27 de junho de 2001",
    fine_share=Decimal("0.20"),
    suspension_days=30,
    defence_days=15,
    term_days=15,
    decision=Decision("DEF", "12/2026", date(2026, 1, 15), SIGNED, "ample_defence_days", "15"),
    base=Decimal("13496.91"),
)
# What is done, on which day, by what paper, until when, with what outcome.
STEPS: dict[str, tuple[tuple[str, str, str, str | None, str], ...]] = {
    acts.CLANDESTINE: (
        (acts.NOTIFIED, "2026-03-02", "Auto 12/2026", "2026-03-17", ""),
        (acts.DEFENCE_LODGED, "2026-03-10", "Protocolo 881", None, ""),
        (acts.DEFENCE_DECIDED, "2026-03-20", "Despacho 7", None, acts.REJECTED),
        (acts.TECHNICAL_OPINION, "2026-03-22", "Parecer 41", None, ""),
        (acts.LEGAL_OPINION, "2026-03-23", "Parecer 12", None, ""),
        (acts.IMPOSSIBILITY, "2026-03-24", "Laudo 5", None, ""),
        (acts.INSTALLED, "2019-03-12", "Nota fiscal 3312", None, ""),
        (acts.DOUBLED, "2026-04-01", "Decisão 9/2026", None, ""),
        (acts.REGULARISED, "2026-10-15", "Termo 1", None, "118/2019"),
    ),
    acts.INFRACTION: (
        (acts.NOTIFIED, "2026-03-02", "Auto 13/2026", "2026-03-17", ""),
        (acts.WARNED, "2026-03-02", "Advertência 3/2026", None, ""),
        (acts.LEGAL_OPINION, "2026-03-18", "Parecer 13", None, ""),
        (acts.FINED, "2026-03-20", "Despacho GP 20", "2026-04-06", ""),
        (acts.PROJECTS_SUSPENDED, "2026-04-20", "Ato 4", "2026-05-05", ""),
    ),
    acts.NONCONFORMITY: ((acts.NOTIFIED, "2026-03-02", "Auto 14/2026", "2026-03-17", ""),),
}
SHOWN: dict[str, tuple[str, str]] = {
    papers.NOTICE: (acts.CLANDESTINE, acts.NOTIFIED),
    papers.NONCONFORMITY_NOTICE: (acts.NONCONFORMITY, acts.NOTIFIED),
    papers.WARNING: (acts.INFRACTION, acts.WARNED),
    papers.DECISION: (acts.CLANDESTINE, acts.DOUBLED),
    papers.FINE: (acts.INFRACTION, acts.FINED),
    papers.SUSPENSION: (acts.INFRACTION, acts.PROJECTS_SUSPENDED),
    papers.ENDING: (acts.CLANDESTINE, acts.REGULARISED),
}


def sample_case_job(paper: str) -> Job:
    """Return the sample of one of the papers of cases, by the name of its template without ending."""
    kind, step = SHOWN[paper]
    file = sample_case(kind, step)
    return case_job(file, file.acts[-1], OPERATOR, AUTHORITY, FIGURES)


def sample_case(kind: str, until: str) -> CaseFile:
    """Return a made-up case up to one of its steps."""
    case = Case(
        ID,
        kind,
        OPERATOR.id,
        date(2026, 3, 2),
        "Cabo aéreo na Rua das Amoreiras, entre os números 10 e 480",
        None,
        ("S1",),
    )
    done = [
        CaseAct(ID, what, date.fromisoformat(on), SIGNED, paper, date.fromisoformat(term) if term else None, note=note)
        for what, on, paper, term, note in STEPS[kind]
    ]
    last = next(n for n, act in enumerate(done, 1) if act.kind == until)
    return CaseFile(case, tuple(done[:last]))
