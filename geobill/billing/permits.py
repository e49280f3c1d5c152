"""Permits: what the law wants before a decree, the deposit, and what changed an issued decree's price."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal

from geobill.billing.month import digest
from geobill.domain import permit as acts
from geobill.domain.apostila import EDITION, FIGURES, NETWORK, POLICY, REDUCER, Cause
from geobill.domain.invoice import Basis, DecreeDraft, WholeMonth
from geobill.domain.money import plain
from geobill.domain.network import Authority, Operator
from geobill.domain.permit import Act, PermitFile
from geobill.law.policy import Policy
from geobill.law.statutes.street_use import StreetUseLaw

ZERO = Decimal("0.00")
# the price of a whole month doesn't depend on these
NO_MATTER = frozenset(
    {"due_month", "due_day_rule", "proration", "duplicate_stretch", "limitation_years", "doublings_cumulate"}
    | {"clandestine_counts_in_reducer"}  # a decree grants nothing clandestine, and prices none
)
LINE_FIGURES = ("location_index", "depreciation_index", "price_per_m3")
CLANDESTINE = frozenset({"clandestine", "clandestine_unregistered"})
PAPERS: dict[str, tuple[str, str]] = {
    acts.WORKS_OPINION: ("2", "the works secretariat's opinion on the project"),
    acts.LEGAL_OPINION: ("2, 3", "the legal office's opinion"),
    acts.AUTHORISATION: ("3", "the mayor's authorisation"),
}
OPTIONS: dict[str, str] = {
    acts.WORKS_OPINION: "--works-opinion",
    acts.LEGAL_OPINION: "--legal-opinion",
    acts.AUTHORISATION: "--mayor-authorisation",
}


@dataclass(frozen=True)
class Missing:
    """Something that stands between a permit and its decree: a code, the article that wants it, and what to do."""

    code: str
    article: str
    message: str


@dataclass(frozen=True)
class Granting:
    """What is asked for when a decree is issued; ``draft`` is None where no price can be had, ``no_price`` says why."""

    number: str
    dated: date
    published_on: date
    operator: Operator
    draft: DecreeDraft | None
    no_price: Missing | None
    clandestine: int
    used_numbers: frozenset[str]


def draft_permit(
    price: WholeMonth, operator: Operator, basis: Basis, law: StreetUseLaw, authority: Authority, policy: Policy
) -> DecreeDraft:
    """Draft of a decree at the price of its day, with the deposit of that price (arts. 3 § 2, 6 § 1)."""
    months = int(law.figures.value("deposit_months", price.on))
    draft = DecreeDraft(
        authority=authority,
        operator=operator,
        basis=basis,
        price=price,
        deposit_months=months,
        deposit=None if price.total is None else price.total * months,
        due_day=int(law.figures.value("due_day", price.on)),
        due_month=policy.due_month,
    )
    return replace(draft, digest=digest(draft))


def deposit_held(file: PermitFile, by: date | None = None) -> Decimal:
    """Deposit in the city hall's hands: paid less released, up to a day or in all; reais."""

    def total(kind: str) -> Decimal:
        return sum((a.amount or ZERO for a in file.acts_of(kind) if by is None or a.on <= by), ZERO)

    return total(acts.DEPOSIT_PAID) - total(acts.DEPOSIT_RELEASED)


TOP_UP = "top_up"  # reference of a demand that follows a changed price


@dataclass(frozen=True)
class Deposit:
    """A deposit on a day, in reais: demanded in all, paid, given back."""

    demanded: Decimal
    paid: Decimal
    released: Decimal

    @property
    def held(self) -> Decimal:
        """Return what is in the city hall's hands."""
        return self.paid - self.released

    @property
    def outstanding(self) -> Decimal:
        """Return what was demanded and isn't paid."""
        return max(self.demanded - self.paid, ZERO)


def deposit_on(file: PermitFile, on: date) -> Deposit:
    """Return a permit's deposit on a day: the last demand before the decree, and each top-up after it (art. 3 § 2)."""

    def total(kind: str) -> Decimal:
        return sum((a.amount or ZERO for a in file.acts_of(kind) if a.on <= on), ZERO)

    demands = [a for a in file.acts_of(acts.DEPOSIT_DEMANDED) if a.on <= on]
    first = [a.amount or ZERO for a in demands if a.reference != TOP_UP][-1:]
    more = [a.amount or ZERO for a in demands if a.reference == TOP_UP]
    return Deposit(sum([*first, *more], ZERO), total(acts.DEPOSIT_PAID), total(acts.DEPOSIT_RELEASED))


def fees_paid(file: PermitFile, by: date | None = None) -> Decimal:
    """Emolumentos that were paid, up to a day or in all; reais."""
    return sum((a.amount or ZERO for a in file.acts_of(acts.FEE_PAID) if by is None or a.on <= by), ZERO)


def find_missing_papers(file: PermitFile, by: date | None = None, deposit: Decimal | None = None) -> list[Missing]:
    """Papers and money that the law wants before a decree (arts. 2, 3) and that the file lacks.

    Parameters
    ----------
    file : PermitFile
    by : date, optional
        Only what was done up to this day counts: the decree comes after it (art. 3 § 1, "subsequentemente"). A
        deposit that was given back counts on no day.
    deposit : Decimal, optional
        The deposit that is due; else the last one that was demanded, else any.
    """
    number, found = file.permit.number, []
    for kind, (article, name) in PAPERS.items():
        if not file.acts_of(kind):
            fix = f"geobill permit approve --number {number} {OPTIONS[kind]} REFERENCE --date DATE"
            found.append(Missing(kind, article, f"{name} is missing ({fix})"))
    held = min(deposit_held(file, by), deposit_held(file))  # a later release leaves nothing for an act recorded now
    demanded = file.acts_of(acts.DEPOSIT_DEMANDED)
    due = deposit if deposit is not None else demanded[-1].amount if demanded else None
    until = f" up to {by.isoformat()}" if by else ""
    if held <= 0:
        amount = f"R$ {plain(due)}" if due else "three monthly prices"
        fix = f"geobill deposit record --permit {number} --amount … --paid-on DATE --receipt R"
        found.append(Missing("deposit", "3 §§ 1, 2", f"the deposit of {amount} isn't paid{until} ({fix})"))
    elif due is not None and held < due:
        short = f"R$ {plain(due - held)} short"
        message = f"the deposit held{until} is R$ {plain(held)}, three monthly prices are R$ {plain(due)}: {short}"
        found.append(Missing("deposit", "3 §§ 1, 2", message))
    if fees_paid(file, by) <= 0:
        fix = f"geobill fee record --permit {number} --amount … --paid-on DATE --receipt R"
        found.append(Missing("fee", "3 § 1", f"the emolumentos aren't paid{until} ({fix})"))
    return found


def find_obstacles(file: PermitFile, asked: Granting, law_from: date) -> list[Missing]:
    """All that keeps a decree from being issued, each with its article; empty where nothing does."""
    found = _against_the_act(file, asked, law_from)
    if asked.draft is not None and asked.draft.price.total is None:
        message = (
            f"the price is held: the law gives no R for {plain(asked.draft.price.network_length_m)} m, and a "
            f"decree names its price; "
            "it waits for a decision (art. 15)"
        )
        found.append(Missing("price_held", "6 § 1, 15", message))
    elif asked.draft is not None and not asked.draft.price.lines and not asked.draft.price.held_m:
        fix = f"import them with --permit {file.permit.number} --status planned"
        found.append(Missing("nothing_granted", "2", f"nothing is planned and nothing stands under the permit ({fix})"))
    if asked.no_price is not None:
        found.append(asked.no_price)
    if asked.clandestine:
        message = f"{asked.clandestine} row(s) of the permit are clandestine, and a decree doesn't grant those: settle them first"
        found.append(Missing("clandestine", "10", message))
    found += find_missing_papers(file, asked.dated, asked.draft.deposit if asked.draft else None)
    wanted = (*PAPERS, acts.DEPOSIT_PAID, acts.FEE_PAID)
    for act in (a for a in file.acts if a.kind in wanted and a.on > asked.dated):
        message = f"{_act_name(act)} is of {act.on.isoformat()}, after the decree of {asked.dated.isoformat()}, which comes after it"
        found.append(Missing("act_after_decree", "3 § 1", message))
    return found


def _against_the_act(file: PermitFile, asked: Granting, law_from: date) -> list[Missing]:
    found = []
    if asked.operator.kind == "municipal":
        message = f"{asked.operator.id} is a public-law entity of this municipality: the law doesn't apply to it"
        found.append(Missing("exempt", "13", message))
    if asked.dated < law_from:
        message = f"the decree is of {asked.dated.isoformat()}, the law is in force from {law_from.isoformat()}"
        found.append(Missing("before_the_law", "18", message))
    if asked.published_on < asked.dated:
        message = (
            f"it would be published on {asked.published_on.isoformat()}, before its date {asked.dated.isoformat()}"
        )
        found.append(Missing("published_before_dated", "3", message))
    if asked.number in asked.used_numbers:
        found.append(Missing("number_used", "3", f"the number {asked.number!r} is another act's already"))
    if file.decree is not None:
        by = f"{file.decree.number} of {file.decree.date.isoformat()}"
        message = f"the permit is granted already, by {by}; a new project needs its own"
        found.append(Missing("granted_already", "2, 3", message))
    if file.removed_on is not None:
        found.append(Missing("removed", "3", f"the permit ended with the removal on {file.removed_on.isoformat()}"))
    if file.permit.requested_on is not None and asked.dated < file.permit.requested_on:
        message = (
            f"the decree is of {asked.dated.isoformat()}, before the request of {file.permit.requested_on.isoformat()}"
        )
        found.append(Missing("before_the_request", "2", message))
    return found


def _act_name(act: Act) -> str:
    names = {kind: name for kind, (_, name) in PAPERS.items()}
    names |= {acts.DEPOSIT_PAID: "the deposit", acts.FEE_PAID: "the payment of the emolumentos"}
    return f"{names[act.kind]} ({act.reference})"


def find_causes(recorded: DecreeDraft, now: DecreeDraft, law: StreetUseLaw) -> tuple[Cause, ...]:
    """Find what changed between two prices of one permit: R, edition, its own network, policy, figures."""
    before, after = recorded.price, now.price
    found = []
    if before.reducer != after.reducer:
        found.append(Cause(REDUCER, "reducer", _text(before.reducer), _text(after.reducer)))
    found += _edition(recorded.basis, now.basis)
    found += _network(recorded, now)
    old = {use.key: use.value for use in recorded.basis.policy}
    for use in now.basis.policy:
        if use.key not in NO_MATTER and old.get(use.key, use.default) != use.value:
            found.append(Cause(POLICY, use.key, old.get(use.key, use.default), use.value))
    for name in LINE_FIGURES:
        one, other = _line_figures(before, name), _line_figures(after, name)
        if one and other and one != other:
            found.append(Cause(FIGURES, name, _all(one), _all(other)))
    widths = [law.figures.value("minimum_width_m", day) for day in (before.on, after.on)]
    if widths[0] != widths[1]:
        found.append(Cause(FIGURES, "minimum_width_m", plain(widths[0]), plain(widths[1])))
    return tuple(found) or (Cause(NETWORK, "drawing", plain(before.network_length_m), plain(after.network_length_m)),)


def _edition(before: Basis, now: Basis) -> list[Cause]:
    one, other = dict(before.digests).get("edition", ""), dict(now.digests).get("edition", "")
    if one == other:
        return []
    if before.edition != now.edition:
        return [Cause(EDITION, "edition", before.edition or "", now.edition or "")]
    return [Cause(EDITION, "edition", f"{before.edition} ({one[:8]})", f"{now.edition} ({other[:8]})")]


def _network(recorded: DecreeDraft, now: DecreeDraft) -> list[Cause]:
    if dict(recorded.basis.digests).get("permit") == dict(now.basis.digests).get("permit"):
        return []
    found = []
    for what, measure in (("length_m", own_length), ("volume_m3", own_volume)):
        before, after = measure(recorded.price), measure(now.price)
        if before != after:
            found.append(Cause(NETWORK, what, plain(before), plain(after)))
    same = plain(own_length(now.price))
    return found or [Cause(NETWORK, "drawing", same, same)]


def own_length(price: WholeMonth) -> Decimal:
    """Metres that are a permit's own, priced and held."""
    return sum((line.length_m or ZERO for line in price.lines), ZERO) + price.held_m


def own_volume(price: WholeMonth) -> Decimal:
    """Cubic metres of a permit's cabinets and containers."""
    return sum((line.volume_m3 for line in price.lines if line.volume_m3 is not None), Decimal(0))


def _line_figures(price: WholeMonth, name: str) -> frozenset[Decimal]:
    values = (getattr(line, name) for line in price.lines)
    return frozenset(v for v in values if v is not None)


def _all(values: Iterable[Decimal]) -> str:
    return ", ".join(plain(v) for v in sorted(values))


def _text(reducer: object) -> str:
    return "" if reducer is None else plain(reducer) if isinstance(reducer, Decimal) else str(reducer)
