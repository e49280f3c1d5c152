"""One import as it is remembered: which file came when, and what became of it since."""

from dataclasses import dataclass

REPLACED, UNDONE, RESTORED = "replaced", "undone", "restored"
ACTS: tuple[str, ...] = (
    REPLACED,  # another import took its place (other)
    UNDONE,  # it was taken back: by whom and why
    RESTORED,  # it is in force again, since what had replaced it (other) was undone
)
IN_FORCE = "in_force"
STATES: tuple[str, ...] = (IN_FORCE, REPLACED, UNDONE)


@dataclass(frozen=True)
class BatchAct:
    """What became of an import: added, never changed.

    ``other`` is the batch that replaced it, or whose end restored it; ``at`` the moment in UTC, ISO text with Z.
    """

    batch: str
    kind: str
    at: str
    other: str | None = None
    by: str = ""
    note: str = ""


@dataclass(frozen=True)
class Batch:
    """One import: the file as it was delivered, when it came, what it amends, and what became of it.

    ``format`` and ``encoding`` are blank and ``options`` (canonical JSON: how each layer was read) is None for imports of
    before schema version 4, which didn't keep them. ``amends`` is the batch whose rows it corrects.
    """

    id: str
    kind: str
    file: str
    layer: str
    sha256: str
    operator: str | None
    read: int
    accepted: int
    length_m: str
    imported_at: str
    format: str = ""
    encoding: str = ""
    options: str | None = None
    amends: str | None = None
    acts: tuple[BatchAct, ...] = ()

    @property
    def ended(self) -> BatchAct | None:
        """Return what ended it; None while it is in force."""
        return self.acts[-1] if self.acts and self.acts[-1].kind != RESTORED else None

    @property
    def state(self) -> str:
        """Return where it stands: one of ``STATES``."""
        return IN_FORCE if self.ended is None else self.ended.kind

    def in_force(self, at: str) -> bool:
        """Whether it was in force at a moment (UTC, ISO text with Z); what happened in that very moment counts."""
        told = [a for a in self.acts if a.at <= at]
        return self.imported_at <= at and (not told or told[-1].kind == RESTORED)
