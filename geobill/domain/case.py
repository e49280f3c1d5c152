"""Case files: what is held against an operator, and each step that the law asks for, in the order it was taken."""

from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal

CLANDESTINE, UNREGISTERED, INFRACTION, NONCONFORMITY = "clandestine", "unregistered", "infraction", "nonconformity"
KINDS: dict[str, str] = {
    CLANDESTINE: "10",  # placed against the law
    UNREGISTERED: "12",  # there before the law, register not handed over
    INFRACTION: "9",  # a notice on the execution of works not obeyed
    NONCONFORMITY: "4",  # executed otherwise than approved
}
NOTIFIED, WARNED, DEFENCE_LODGED, DEFENCE_DECIDED = "notified", "warned", "defence_lodged", "defence_decided"
APPEAL_LODGED, APPEAL_DECIDED = "appeal_lodged", "appeal_decided"
TECHNICAL_OPINION, LEGAL_OPINION, IMPOSSIBILITY = "technical_opinion", "legal_opinion", "impossibility_report"
INSTALLED = "installation_proven"
DOUBLED, FORFEITED, DISMISSED = "doubled", "forfeited", "dismissed"
REGULARISED, REMOVED, CURED = "regularised", "removed", "cured"
FINED, PROJECTS_SUSPENDED, PROJECTS_RELEASED = "fined", "projects_suspended", "projects_released"
REGISTER_DELIVERED = "register_delivered"
ACCEPTED, REJECTED = "accepted", "rejected"  # the note of a decision on a defence or an appeal
FOUND = "found"
OPEN, SUSPECTED = "open", "suspected"
# states besides the act of the same name: the steps that say where a case is, what ends it first
ENDS: tuple[str, ...] = (DISMISSED, REMOVED, FORFEITED, REGULARISED, REGISTER_DELIVERED, CURED)
STAGES: tuple[str, ...] = (
    PROJECTS_SUSPENDED,
    FINED,
    DOUBLED,
    APPEAL_DECIDED,
    APPEAL_LODGED,
    DEFENCE_DECIDED,
    DEFENCE_LODGED,
    WARNED,
    NOTIFIED,
)
CASE_STATES: tuple[str, ...] = (SUSPECTED, OPEN, *reversed(STAGES), *ENDS)
ACTS: tuple[str, ...] = (
    NOTIFIED,  # the notice with its term (until)
    WARNED,  # advertência (art. 9 § 1)
    DEFENCE_LODGED,
    DEFENCE_DECIDED,  # accepted or rejected (note); arts. 9 § 4, 10 § 1
    APPEAL_LODGED,  # to the mayor (art. 9 § 5)
    APPEAL_DECIDED,
    TECHNICAL_OPINION,  # of the works secretariat's technical bodies (art. 10 § 1)
    LEGAL_OPINION,  # of the legal office (art. 10 § 1)
    IMPOSSIBILITY,  # report that the equipment can't be removed (art. 10 § 2)
    INSTALLED,  # the proven day of installation (art. 10 § 3): on
    DOUBLED,  # the Secretary's act: charged double (art. 10 §§ 1, 2)
    FORFEITED,  # the Secretary's act: perda (art. 10 § 1)
    DISMISSED,
    REGULARISED,  # part of a permit from that day
    REMOVED,  # out of the street: on is its last day
    CURED,  # the notice obeyed: the fine ends the day before
    FINED,  # daily fine decided by the mayor (art. 9 §§ 2, 6); it runs from the day after the notice's term
    PROJECTS_SUSPENDED,  # no new projects (arts. 9 § 3, 12 § 4)
    PROJECTS_RELEASED,
    REGISTER_DELIVERED,  # the register handed over (art. 12)
    FOUND,  # auto de constatação: the findings of a survey on which the case was opened
)


@dataclass(frozen=True)
class Case:
    """The file of one matter: operator, kind, what it is about, and the stored rows concerned by their ids."""

    id: str
    kind: str
    operator: str
    opened_on: date
    subject: str
    permit: str | None = None
    segments: tuple[str, ...] = ()
    equipment: tuple[str, ...] = ()


@dataclass(frozen=True)
class CaseAct:
    """One step of a case: added, never changed.

    ``until`` is the last day of a term that the step sets, ``reference`` the paper's number, ``amount`` reais, ``note``
    free text or an outcome, ``paper`` the SHA-256 of a file kept in the archive and ``file_name`` its name.
    """

    case: str
    kind: str
    on: date
    by: str = ""
    reference: str = ""
    until: date | None = None
    amount: Decimal | None = None
    note: str = ""
    paper: str = ""
    file_name: str = ""


@dataclass(frozen=True)
class CaseFile:
    """A case with its acts in the order in which they were recorded."""

    case: Case
    acts: tuple[CaseAct, ...] = ()

    def acts_of(self, *kinds: str) -> tuple[CaseAct, ...]:
        """Return the acts of some kinds."""
        return tuple(a for a in self.acts if a.kind in kinds)

    def last_of(self, *kinds: str) -> CaseAct | None:
        """Return the act of some kinds that was recorded last, None where there is none."""
        return next(reversed(self.acts_of(*kinds)), None)

    @property
    def is_over(self) -> bool:
        """Whether something ended the matter: nothing more runs."""
        return bool(self.acts_of(*ENDS))

    @property
    def state(self) -> str:
        """Where the case is: the step that ended it, else the farthest one that was taken, else suspected or open."""
        found = next((kind for kind in (*ENDS, *STAGES) if self.acts_of(kind) and not self._released(kind)), None)
        return found or (SUSPECTED if self.case.kind == CLANDESTINE else OPEN)

    def _released(self, kind: str) -> bool:
        last = self.last_of(PROJECTS_SUSPENDED, PROJECTS_RELEASED)
        return kind == PROJECTS_SUSPENDED and last is not None and last.kind == PROJECTS_RELEASED


def defence_outcome(file: CaseFile) -> str | None:
    """How the last defence that was decided ended: accepted or rejected, by the mayor where there was an appeal; None before."""
    last = file.last_of(DEFENCE_DECIDED, APPEAL_DECIDED)
    return None if last is None else last.note


def undecided(file: CaseFile) -> CaseAct | None:
    """Return the defence or the appeal that was lodged and waits for its decision; None where nothing waits."""
    pairs = ((APPEAL_LODGED, APPEAL_DECIDED), (DEFENCE_LODGED, DEFENCE_DECIDED))
    waiting = (last for pair in pairs if (last := file.last_of(*pair)) is not None and last.kind == pair[0])
    return next(waiting, None)


def fine_from(file: CaseFile) -> date | None:
    """First day of the daily fine, once it was decided: the day after the notice's term (art. 9 § 2).

    None before the mayor's decision, and where the case was dismissed or the defence was accepted.
    """
    notice = file.last_of(NOTIFIED)
    if notice is None or notice.until is None or not file.acts_of(FINED) or _undone(file):
        return None
    return notice.until + timedelta(days=1)


def fine_until(file: CaseFile) -> date | None:
    """Last day of the daily fine: the day before the notice was obeyed; None while it runs."""
    return min((a.on - timedelta(days=1) for a in file.acts_of(CURED)), default=None)


def doubled_from(file: CaseFile, law_published_on: date) -> date | None:
    """First day on which the rows of a case are charged by it: double for art. 10, from the publication for art. 12.

    The day of installation where an act proves it, else the law's publication (arts. 10 § 3, 12 § 2), and never before the
    law. The date in a row of a file is no proof. None while the case isn't decided for doubling, and where it was
    dismissed or the defence accepted afterwards. An unregistered network is due from the publication; that it pays
    double only after the six months
    of art. 12 § 1 is the statute's own matter.
    """
    if file.case.kind not in (CLANDESTINE, UNREGISTERED) or not file.acts_of(DOUBLED) or _undone(file):
        return None
    proven = file.last_of(INSTALLED)
    return law_published_on if proven is None else max(proven.on, law_published_on)


def doubled_until(file: CaseFile) -> date | None:
    """Last day on which the rows of a case are charged by it, None while nothing ended it (art. 10 § 2).

    The day before they became part of a permit, the register was delivered (art. 12) or they were forfeited; the last day in
    the street where they were removed.
    """
    ends = [a.on - timedelta(days=1) for a in file.acts_of(REGULARISED, REGISTER_DELIVERED, FORFEITED)]
    return min([*ends, *(a.on for a in file.acts_of(REMOVED))], default=None)


def _undone(file: CaseFile) -> bool:
    """Whether what was decided doesn't hold: the case was dismissed, or the defence or the appeal against it accepted."""
    return bool(file.acts_of(DISMISSED)) or defence_outcome(file) == ACCEPTED
