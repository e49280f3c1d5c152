"""Surveys held against what permits allow: what was compared, what was found, and what a person decided on it."""

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from math import hypot

from geobill.domain.record import added

UNDECLARED_SEGMENT, UNDECLARED_EQUIPMENT = "undeclared_segment", "undeclared_equipment"
WIDER, LARGER, MORE = "wider_than_permitted", "larger_than_permitted", "more_than_permitted"
MISSING, MOVED = "missing_in_survey", "moved"
# kind of finding → the article that it rests on
FINDING_KINDS: dict[str, str] = {
    UNDECLARED_SEGMENT: "10",
    UNDECLARED_EQUIPMENT: "10",
    MORE: "10",
    WIDER: "4",
    LARGER: "4",
    MOVED: "4",
    MISSING: "4",
}
CLANDESTINE_KINDS = frozenset(
    {UNDECLARED_SEGMENT, UNDECLARED_EQUIPMENT, MORE}
)  # a case of art. 10 can be opened on them

UPHELD, DISMISSED, UNDONE, IN_CASE = "upheld", "dismissed", "undone", "in_case"
NOTED, PHOTOGRAPHED, ATTRIBUTED = "noted", "photographed", "attributed"
SUSPECTED = "suspected"
REPLACED = (
    "replaced"  # an act on a survey: the same file was compared anew (other); what nobody had decided left the queue
)
FINDING_STATES: tuple[str, ...] = (SUSPECTED, UPHELD, DISMISSED, IN_CASE)
FINDING_ACTS: tuple[str, ...] = (
    UPHELD,  # a reviewer says that it is so
    DISMISSED,  # … that it isn't, and why
    UNDONE,  # the last decision is taken back; it stays on record
    IN_CASE,  # a case was opened on it: other
    NOTED,
    PHOTOGRAPHED,  # paper, file_name
    ATTRIBUTED,  # whose it is, where the survey didn't know: other
)
DECIDING = frozenset({UPHELD, DISMISSED, UNDONE, IN_CASE, ATTRIBUTED})


@dataclass(frozen=True)
class DetectionTerms:
    """How near is near enough, all in metres.

    The positional accuracies (one standard deviation) of both sources widen the tolerance. ``moved_within_m`` is how far a
    stretch may lie from a permitted one that the survey doesn't have and still be taken for it, moved (art. 4).
    """

    tolerance_m: Decimal
    min_length_m: Decimal
    survey_accuracy_m: Decimal = Decimal(0)
    permitted_accuracy_m: Decimal = Decimal(0)
    moved_within_m: Decimal = Decimal(0)

    @property
    def reach_m(self) -> float:
        """Metres within which two lines are taken for one: the tolerance plus both accuracies, as errors add up."""
        return float(self.tolerance_m) + hypot(float(self.survey_accuracy_m), float(self.permitted_accuracy_m))


@dataclass(frozen=True)
class Survey:
    """One comparison of a survey with what was permitted: from which files, on which terms, with what sums.

    ``against`` names the file that it was compared with instead of what is on record (None where it was the record).
    ``default_width_m`` prices what the survey measured no width of. ``figures`` are metres and counts as exact text by name,
    ``warnings`` findings on the files. Where ``suspect`` says why,
    the survey misses as a whole and nothing was found in it.
    """

    id: str
    file: str
    layer: str
    sha256: str
    operator: str | None
    services: tuple[str, ...]
    terms: DetectionTerms
    figures: dict[str, str]
    warnings: tuple[dict[str, object], ...] = ()
    suspect: str | None = None
    compared_on: str = ""
    by: str = ""
    default_width_m: Decimal | None = None
    against: str | None = added(None)


@dataclass(frozen=True)
class FieldFinding:
    """What a survey shows and no permit allows, or the other way round; figures are exact text, None where there is none.

    ``source_row`` counts in the survey, or in the batch of the permitted row where ``kind`` is missing_in_survey. From
    ``start_m`` to ``end_m`` along the line. ``month_amount`` is the price of a whole month in reais, once, as the survey's
    day has it, for the operator whose it is now; None where it is held or can't be said.
    """

    id: str
    survey: str
    kind: str
    operator: str | None
    source_row: int
    segment: str
    start_m: float
    end_m: float
    length_m: Decimal
    permitted: str | None
    offset_mean_m: Decimal | None
    offset_p95_m: Decimal | None
    offset_max_m: Decimal | None
    confidence: Decimal
    service: str | None
    level: str | None
    width_m: Decimal | None
    permitted_width_m: Decimal | None
    volume_m3: Decimal | None
    permitted_volume_m3: Decimal | None
    month_amount: Decimal | None = None


@dataclass(frozen=True)
class FindingAct:
    """What somebody did about a finding: added, never changed. ``other`` is a case or an operator, ``paper`` a digest."""

    finding: str
    kind: str
    by: str
    note: str = ""
    other: str | None = None
    paper: str = ""
    file_name: str = ""
    at: str = ""


@dataclass(frozen=True)
class FindingFile:
    """A finding with its acts in the order in which they were recorded."""

    finding: FieldFinding
    acts: tuple[FindingAct, ...] = ()

    @property
    def version(self) -> int:
        """How many deciding acts there are: a decision names the version that its reviewer saw."""
        return sum(a.kind in DECIDING for a in self.acts)

    @property
    def state(self) -> str:
        """Where the finding is: suspected, upheld, dismissed, or in a case."""
        return state_of(a.kind for a in self.acts)

    @property
    def case(self) -> str | None:
        """The case that was opened on it."""
        return next((a.other for a in reversed(self.acts) if a.kind == IN_CASE), None)

    @property
    def operator(self) -> str | None:
        """Whose it is: as attributed last, else as the survey said."""
        return next((a.other for a in reversed(self.acts) if a.kind == ATTRIBUTED), self.finding.operator)

    @property
    def undoable(self) -> FindingAct | None:
        """The decision that can be taken back; None where there is none, or a case rests on it."""
        if self.state not in (UPHELD, DISMISSED):
            return None
        depth = 0
        for act in reversed(self.acts):
            if act.kind == UNDONE:
                depth += 1
            elif act.kind in (UPHELD, DISMISSED):
                if depth == 0:
                    return act
                depth -= 1
        return None


def state_of(kinds: Iterable[str]) -> str:
    """State after some acts, in their order: an undone decision leaves what was before it.

    Examples
    --------
    >>> state_of(["upheld", "noted", "dismissed", "undone"]), state_of(["upheld", "undone"]), state_of(["upheld", "in_case"])
    ('upheld', 'suspected', 'in_case')
    """
    stack = [SUSPECTED]
    for kind in kinds:
        if kind in (UPHELD, DISMISSED, IN_CASE):
            stack.append(kind)
        elif kind == UNDONE and len(stack) > 1:
            stack.pop()
    return stack[-1]
