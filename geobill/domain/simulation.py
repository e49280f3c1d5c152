"""Two ways of pricing the same months, side by side: what each operator and each zone would pay under either."""

from dataclasses import dataclass
from decimal import Decimal

from geobill.domain.dates import BillingMonth

SUPPOSED = "supposed "  # begins the id of a decision that a simulation supposes and nobody took; its R follows


@dataclass(frozen=True)
class Pair:
    """One figure of the base and of the scenario: reais, or metres."""

    base: Decimal
    scenario: Decimal

    @property
    def difference(self) -> Decimal:
        """The scenario's without the base's."""
        return self.scenario - self.base

    @property
    def share(self) -> Decimal | None:
        """The difference as a share of the base, to a thousandth; None where the base is 0."""
        return (self.difference / abs(self.base)).quantize(Decimal("0.001")) if self.base else None


@dataclass(frozen=True)
class OperatorPair:
    """One operator under both: reais charged over the months, what is held, what a court suspends, R, and its metres.

    ``held_m`` are metres, added up over the months; ``held_if`` what they would cost as the bill's own ``amount_if`` says,
    in reais. ``reducers`` are the R of the base's and of the scenario's months, each once, as text: a number, a fraction,
    or ``held``. ``network_m`` are the metres that set R in the last month.
    """

    operator: str
    name: str
    amount: Pair
    held_m: Pair
    held_if: Pair
    suspended: Pair
    reducers: tuple[tuple[str, ...], tuple[str, ...]]
    network_m: Pair


@dataclass(frozen=True)
class ZonePair:
    """One zone under both, from the bills' lines: reais and metres charged; ``zone`` is None for what lies in no named zone.

    ``kind`` is ``network``, or ``equipment`` for all cabinets together, which the law prices by volume alone (art. 7 § 2).
    """

    zone: str | None
    kind: str
    amount: Pair
    length_m: Pair


@dataclass(frozen=True)
class HeldPair:
    """What is held for one reason under both: metres, added up over the months, and what they would cost."""

    code: str
    article: str
    length_m: Pair
    amount_if: Pair


@dataclass(frozen=True)
class MonthPair:
    """One month under both, with the edition of the Mapa de Valores that each took."""

    month: BillingMonth
    amount: Pair
    editions: tuple[str | None, str | None]


@dataclass(frozen=True)
class Simulation:
    """The whole comparison; operators, zones and months each add up to ``amount``."""

    months: tuple[MonthPair, ...]
    operators: tuple[OperatorPair, ...]
    zones: tuple[ZonePair, ...]
    held: tuple[HeldPair, ...]
    amount: Pair
    held_m: Pair
    held_if: Pair
    suspended: Pair


@dataclass(frozen=True)
class Change:
    """One thing in which the two sides differ: ``what`` is policy, figure, brackets, edition or law_of.

    ``name`` is the policy key or the figure of law; empty for the others. Values are text, as a user writes them.
    """

    what: str
    name: str
    base: str
    scenario: str


@dataclass(frozen=True)
class MapRead:
    """A proposed Mapa de Valores that was read and not imported: the file, its SHA-256, rows read and rows used."""

    file: str
    sha256: str
    read: int
    accepted: int


@dataclass(frozen=True)
class Side:
    """What one side was priced by, in the last month: the whole policy, the map edition, the statute.

    ``edition`` is the name of an imported edition or, of a ``proposed_map``, its file. ``figures`` are proposed values by
    name, ``brackets`` a proposed scale of R (up to so many metres, R), ``law_of`` another month whose law, policy and
    edition apply, ``supposed_reducer`` an R above the scale that no decision gives.
    """

    statute: str
    statute_title: str
    edition: str | None
    policy: tuple[tuple[str, str], ...]
    profile: str | None
    proposed_map: MapRead | None
    figures: tuple[tuple[str, str], ...]
    brackets: tuple[tuple[str | None, str], ...]
    law_of: BillingMonth | None
    supposed_reducer: Decimal | None
