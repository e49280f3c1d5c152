"""Case files: what is held against an operator, and each step that the law asks for, in the order it was taken."""

from dataclasses import dataclass
from datetime import date
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
    FINED,  # daily fine decided by the mayor (art. 9 §§ 2, 6): on is its first day
    PROJECTS_SUSPENDED,  # no new projects (arts. 9 § 3, 12 § 4)
    PROJECTS_RELEASED,
    REGISTER_DELIVERED,  # the register handed over (art. 12)
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
