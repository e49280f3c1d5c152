"""Terms that a case's steps set: which still run, and which nobody may forget; nothing is decided here."""

from dataclasses import dataclass
from datetime import date

from geobill.billing.cases import STEPS
from geobill.domain import case as acts
from geobill.domain.case import CaseAct, CaseFile

SOON_DAYS = 5
ENDS_SOON, RUN_OUT = "ends_soon", "run_out"
# what answers a term, or comes of its having run out: from then on nobody waits for its last day
ANSWERS: dict[str, frozenset[str]] = {
    acts.NOTIFIED: frozenset({acts.DEFENCE_LODGED, acts.DOUBLED, acts.FORFEITED, acts.FINED, acts.CURED}),
    acts.WARNED: frozenset({acts.DEFENCE_LODGED, acts.FINED, acts.CURED}),
    acts.DEFENCE_DECIDED: frozenset({acts.APPEAL_LODGED, acts.DOUBLED, acts.FORFEITED, acts.FINED, acts.CURED}),
    acts.FINED: frozenset({acts.DEFENCE_LODGED, acts.PROJECTS_SUSPENDED, acts.CURED}),
    acts.PROJECTS_SUSPENDED: frozenset({acts.DEFENCE_LODGED, acts.PROJECTS_RELEASED}),
}


@dataclass(frozen=True)
class Term:
    """A term of a case on a day: the step that set it, its last day, how many days are left (negative where it ran out)."""

    case: str
    of: str
    since: date
    until: date
    article: str
    days_left: int

    @property
    def warning(self) -> str | None:
        """Say that it ends within five days, or has run out and nobody has acted on it; None while there is time."""
        if self.days_left < 0:
            return RUN_OUT
        return ENDS_SOON if self.days_left <= SOON_DAYS else None


def open_terms(file: CaseFile, today: date) -> tuple[Term, ...]:
    """Return the terms of a case that nothing has answered, in the order in which they were set; none where it is over."""
    if file.is_over:
        return ()
    return tuple(
        Term(file.case.id, act.kind, act.on, act.until, STEPS[act.kind].article, (act.until - today).days)
        for place, act in enumerate(file.acts)
        if act.until is not None and not _answered(act, file.acts[place + 1 :])
    )


def _answered(act: CaseAct, later: tuple[CaseAct, ...]) -> bool:
    return any(one.kind in ANSWERS.get(act.kind, frozenset()) for one in later)
