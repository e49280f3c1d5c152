"""The month's result and what is issued from it: lines, held and exempt metres, invoices, drafts of decrees."""

from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from fractions import Fraction
from math import prod

from geobill.domain.dates import BillingMonth
from geobill.domain.network import Authority, Operator
from geobill.domain.ratio import Ratio, fraction
from geobill.domain.record import added

Day = date  # for a record with a field of the name date, which would hide the type


@dataclass(frozen=True)
class Line:
    """One line of a bill: the exact product of its printed factors, rounded once to the cent.

    Network (Lei 3.057/2001, art. 7): ``length_m × billed_width_m × land_value × location_index ×
    depreciation_index × reducer × multiplier × days / month_days``. Equipment (art. 7 § 2): ``volume_m3 ×
    price_per_m3 × multiplier × days / month_days``. Factors that don't apply are None. An average ``reducer`` (policy
    ``reducer_method = graduated``) is a Ratio of metres, applied as the fraction it is. ``land_value`` is in reais a
    square metre, ``amount`` in reais. Where a sister law charges equipment by the piece: ``pieces × price_per_piece ×
    multiplier × days / month_days``. ``cases`` are the ids of the decided cases by which it is charged (arts. 10, 12).
    """

    kind: str
    service: str | None
    permit: str | None
    zone: str | None
    land_value: Decimal | None
    length_m: Decimal | None
    billed_width_m: Decimal | None
    volume_m3: Decimal | None
    price_per_m3: Decimal | None
    location_index: Decimal | None
    depreciation_index: Decimal | None
    reducer: Decimal | Ratio | None
    multiplier: Decimal
    days: int
    month_days: int
    amount: Decimal
    articles: tuple[str, ...]
    flags: tuple[str, ...]
    pieces: int | None = added(None)
    price_per_piece: Decimal | None = added(None)
    cases: tuple[str, ...] = added(())

    @property
    def exact(self) -> Fraction:
        """Return the exact product of the printed factors, in reais, before the one rounding."""
        factors = (
            self.length_m,
            self.billed_width_m,
            self.land_value,
            self.volume_m3,
            self.price_per_m3,
            self.pieces,
            self.price_per_piece,
            self.location_index,
            self.depreciation_index,
            self.reducer,
            self.multiplier,
        )
        given = (f if isinstance(f, int) else fraction(f) for f in factors if f is not None)
        return Fraction(prod(given, start=Fraction(self.days, self.month_days)))


@dataclass(frozen=True)
class AmountIf:
    """What held metres would cost if the silence were filled in one named way (``what``); charged to nobody."""

    what: str
    amount: Decimal


@dataclass(frozen=True)
class Held:
    """Metres that the law, or the map, gives no price for; they wait for a decision (art. 15).

    ``code`` is ``above_100_km``, ``overlap``, ``no_zone``, ``payer_held`` or, of a past month, ``limitation``; ``segment``
    is None where a whole operator is held.
    """

    operator: str
    segment: str | None
    code: str
    reason: str
    article: str
    length_m: Decimal
    amount_if: AmountIf | None = None


@dataclass(frozen=True)
class Exempt:
    """An operator whom the law doesn't reach (art. 13), with its metres."""

    operator: str
    reason: str
    article: str
    length_m: Decimal


@dataclass(frozen=True)
class Suspended:
    """What a court keeps from being demanded in a month: priced line by line, and on no line of the invoice.

    ``suspension`` is the id under which it is recorded, ``court_case`` the number of the lawsuit, ``effect`` one of
    ``domain.suspension.EFFECTS``. ``length_m`` are the metres concerned on at least one day of the month; ``again_m`` how
    much of that stands on other lines of the month besides (other days, the single price of what is doubled, a further
    order): metres on lines + ``length_m`` - ``again_m`` are the metres in the street.
    """

    operator: str
    suspension: str
    court_case: str
    court: str
    effect: str
    lines: tuple[Line, ...]
    total: Decimal
    length_m: Decimal
    again_m: Decimal = added(Decimal("0.00"))


@dataclass(frozen=True)
class SetOff:
    """A part of a debt paid with a credit from waived revenue (art. 14): the credit, its local law, the part in reais."""

    credit: str
    law: str
    amount: Decimal


@dataclass(frozen=True)
class Books:
    """Conservation: ``stored = priced + held + exempt + suspended``; ``not_due`` stands beside it."""

    stored: Decimal
    priced: Decimal
    held: Decimal
    exempt: Decimal
    suspended: Decimal
    not_due: Decimal

    def close(self) -> bool:
        """Whether the sum holds exactly."""
        return self.stored == self.priced + self.held + self.exempt + self.suspended


@dataclass(frozen=True)
class WholeMonth:
    """The price of a whole month on one day, without what is doubled: what a decree grants and a deposit is taken of.

    Rows in force on ``on``, doubled ones left out. ``total`` is None where the reducer is held. ``permit`` is None for
    an operator's whole network, or for its rows without a permit; ``planned_m`` are those of the metres that aren't in
    the street yet.
    """

    on: date
    network_length_m: Decimal
    reducer: Decimal | Ratio | None
    lines: tuple[Line, ...]
    held_m: Decimal
    total: Decimal | None
    permit: str | None = None
    planned_m: Decimal = Decimal("0.00")


@dataclass(frozen=True)
class OperatorBill:
    """One operator's month: lines and their sum, R and the metres that set it.

    ``reducer`` is None where it is held (above 100 km) and where each permit has its own (``reducer_scope = permit``).
    """

    operator: Operator
    lines: tuple[Line, ...]
    total: Decimal
    reducer: Decimal | Ratio | None
    network_length_m: Decimal
    held: tuple[Held, ...]
    metres: Books
    features: Books
    whole_month: WholeMonth
    suspended: tuple[Suspended, ...] = added(())


@dataclass(frozen=True)
class PolicyUse:
    """A policy key as it was in force, and the gap of the law that it fills; ``decision`` names its decision."""

    key: str
    value: str
    default: str
    decision: str | None = None


@dataclass(frozen=True)
class Decision:
    """A mayor's decision on what the law leaves open (art. 15).

    ``question`` is a policy key or a question in free text. ``in_force_from`` is the first day for which it answers, None
    for every month since the law; ``scan`` is the SHA-256 of the signed paper, kept in the archive.
    """

    id: str
    number: str
    date: Day
    signatory: str
    question: str
    answer: str
    in_force_from: Day | None = added(None)
    scan: str = added("")


@dataclass(frozen=True)
class Basis:
    """What a bill was computed from, by name and by SHA-256: statute, policy, decisions, map edition, geometry."""

    statute: str
    statute_title: str
    edition: str | None
    edition_in_force_from: date | None
    policy: tuple[PolicyUse, ...]
    decisions: tuple[Decision, ...]
    digests: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Bill:
    """A priced month: every operator, what is held and exempt, and the sums that close."""

    month: BillingMonth
    basis: Basis
    operators: tuple[OperatorBill, ...]
    held: tuple[Held, ...]
    exempt: tuple[Exempt, ...]
    features: Books
    metres: Books
    suspended: tuple[Suspended, ...] = added(())


@dataclass(frozen=True)
class Invoice:
    """An issued demand; it never changes. ``digest`` is the SHA-256 of its canonical record without the digest.

    ``suspended`` is what a court keeps from being demanded, ``set_offs`` what of the total is paid with credits (art. 14):
    neither changes ``total``.
    """

    number: str
    month: BillingMonth
    issued_on: date
    due_on: date
    authority: Authority
    operator: Operator
    basis: Basis
    lines: tuple[Line, ...]
    total: Decimal
    reducer: Decimal | Ratio | None
    network_length_m: Decimal
    held: tuple[Held, ...]
    yearly: Decimal | None
    yearly_monthly: Decimal | None
    digest: str = ""
    suspended: tuple[Suspended, ...] = added(())
    set_offs: tuple[SetOff, ...] = added(())

    @property
    def payable(self) -> Decimal:
        """Return what is to be paid in money, in reais: the total without what is set off."""
        return self.total - sum((s.amount for s in self.set_offs), Decimal("0.00"))


@dataclass(frozen=True)
class DecreeDraft:
    """A draft of a permit decree (minuta): number, date and signatures stay blank, they are the city hall's.

    ``price`` is the whole month's price on the day of reference, ``deposit`` three times it (art. 3 § 2);
    None where the reducer is held.
    """

    authority: Authority
    operator: Operator
    basis: Basis
    price: WholeMonth
    deposit_months: int
    deposit: Decimal | None
    due_day: int
    due_month: str
    digest: str = ""
