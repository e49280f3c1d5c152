"""What an order of a court needs to be recorded and lifted, and what it and the legal risks say before a month is issued."""

from collections.abc import Collection, Iterable, Mapping
from decimal import Decimal

from geobill.billing.standing import Demanded
from geobill.domain.dates import BillingMonth
from geobill.domain.finding import Finding
from geobill.domain.invoice import Bill, OperatorBill, Suspended
from geobill.domain.money import plain
from geobill.domain.network import Operator
from geobill.domain.suspension import (
    ACCRUES,
    EFFECTS,
    JUDICIAL_DEPOSIT,
    KINDS,
    NOT_CHARGED,
    Lifting,
    Suspension,
    SuspensionFile,
)
from geobill.errors import InputError
from geobill.law.legal_risk import LegalRisks

EFFECT_WORDS: dict[str, str] = {
    ACCRUES: "accrues, not demandable while the order stands",
    NOT_CHARGED: "not charged",
    JUDICIAL_DEPOSIT: "paid into court (depósito em juízo)",
}
ZERO = Decimal("0.00")


def check_order(
    order: Suspension,
    articles: Mapping[str, Collection[str]],
    law: str,
    operators: Mapping[str, Operator],
    permits: Mapping[str, str | None],
) -> None:
    """Refuse an order that says nothing about whom, or speaks of what isn't there.

    Parameters
    ----------
    order : Suspension
    articles : mapping
        Articles of the statute that carry an amount, by what they ground.
    law : str
        The statute's title.
    operators : mapping of id to Operator
    permits : mapping of number to operator
        Registered permits and those that stored rows name; None where rows of several operators name it.

    Raises
    ------
    InputError
        Saying what is wrong, why it matters, and what to do.
    """
    for option, said in (("--id", order.id), ("--case", order.court_case), ("--court", order.court)):
        if not said:
            raise InputError(
                f"{option} is blank: a demand that is withheld must say by which order of which court. Give it as it stands on "
                "the order."
            )
    for option, said in (
        ("--id", order.id),
        ("--case", order.court_case),
        ("--court", order.court),
        ("--note", order.note),
    ):
        if not said.isprintable():
            raise InputError(f"{option} {said!r} holds a character that can't be seen. Type it anew.")
    for option, word, allowed in (("--kind", order.kind, KINDS), ("--effect", order.effect, EFFECTS)):
        if word not in allowed:
            raise InputError(f"{option} can't be {word!r}. Allowed: {', '.join(allowed)}.")
    if order.until_on is not None and order.until_on < order.from_on:
        raise InputError(
            f"--until {order.until_on.isoformat()} is before --from {order.from_on.isoformat()}: the order would have effect on no "
            "day. --until is its last day, itself suspended; leave it out while the order has no end."
        )
    if order.operator is None and order.service is None:
        raise InputError(
            "The order says of nobody whose equipment it suspends: give --operator ID, --service S, or both. An order for all "
            "services is recorded once for each."
        )
    if order.operator is not None and order.operator not in operators:
        known = ", ".join(sorted(operators)) or "none yet; add one with geobill operator add"
        raise InputError(f"There is no operator {order.operator!r} in this workspace. Known operators: {known}.")
    if order.permit is not None and order.permit not in permits:
        known = ", ".join(sorted(permits)[:10]) or "none yet"
        raise InputError(
            f"No permit {order.permit!r} is registered, and no stored row names it (known: {known}): the order would suspend nothing."
        )
    owner = None if order.permit is None else permits[order.permit]
    if order.operator is not None and owner is not None and owner != order.operator:
        raise InputError(
            f"The permit {order.permit} is {owner}'s, not {order.operator}'s: the order would suspend nothing. Name the operator of "
            "the permit, or leave --permit out."
        )
    _check_articles(order, articles, law)


def _check_articles(order: Suspension, articles: Mapping[str, Collection[str]], law: str) -> None:
    allowed = {a for found in articles.values() for a in found}
    whole = {a.split(" ")[0] for kind in ("network", "equipment") for a in articles.get(kind, ())}
    wrong = [a for a in order.articles if a not in allowed | whole]
    if wrong or not order.articles:
        which = f"art. {wrong[0]} carries no amount in {law}" if wrong else "no article is given"
        grounds = "; ".join(
            f"{', '.join(sorted(found))} ({what})"
            for what, found in (
                ("the price; its whole article takes its paragraphs with it", articles.get("network", ())),
                ("cabinets", articles.get("equipment", ())),
                ("only the doubling of clandestine equipment", articles.get("clandestine", ())),
                ("only the doubling for the missing register", articles.get("unregistered", ())),
            )
            if found
        )
        raise InputError(
            f"{which}: an order takes a price, or what doubles it, and geobill must know which. Articles that carry an amount: "
            f"{grounds}. Where the order names others too, write them in --note."
        )


def check_lifting(file: SuspensionFile, lifting: Lifting) -> None:
    """Refuse the end of an order that is ended already, comes before its beginning, or brings back months that it never held."""
    order = file.suspension
    if file.lifting is not None:
        raise InputError(
            f"The suspension {order.id!r} was lifted on {file.lifting.on.isoformat()} by {file.lifting.by}, and stays so. A new order "
            "is a new suspension."
        )
    if not lifting.reference or not lifting.reference.isprintable():
        raise InputError(
            "--reference is blank or can't be read: name the decision that ends the order, for example 'Acórdão de 12/03/2027'."
        )
    if lifting.on < order.from_on:
        raise InputError(
            f"--on {lifting.on.isoformat()} is before the order itself ({order.from_on.isoformat()}). --on is the first day that may "
            "be demanded again."
        )
    if lifting.months_from is None or lifting.months_until is None:
        return
    if lifting.months_until < lifting.months_from:
        raise InputError(
            f"--months {lifting.months_from}:{lifting.months_until} ends before it begins: write the earlier month "
            "first."
        )
    held = months_of(file, lifting)
    if not held or lifting.months_from < str(held[0]) or lifting.months_until > str(held[-1]):
        span = f"{held[0]}:{held[-1]}" if held else "no month"
        raise InputError(
            f"--months {lifting.months_from}:{lifting.months_until}: the order held back {span}, and only what it held back can come "
            "back. Write months within it, or none."
        )


def months_of(file: SuspensionFile, lifting: Lifting) -> list[BillingMonth]:
    """Months on at least one day of which an order has effect until it is lifted."""
    last = SuspensionFile(file.suspension, lifting).last_day
    return [] if last is None else list(BillingMonth.of(file.suspension.from_on).until(BillingMonth.of(last)))


def already_demanded(
    order: Suspension, months: Iterable[tuple[BillingMonth, Iterable[Demanded]]]
) -> tuple[Finding, ...]:
    """Months that an order reaches and that are demanded already: what was issued never changes, only a note lowers it."""
    found = []
    for month, owners in months:
        standing = [one for one in owners if one.is_billed]
        if not standing or SuspensionFile(order).in_month(month) is None:
            continue
        papers = ", ".join(f"{named_paper(one)} ({one.operator})" for one in standing)
        commands = "; ".join(f"{correct_command(month, one.operator)} --dry-run" for one in standing)
        found.append(
            Finding(
                "already_demanded",
                "warning",
                f"{month} was demanded before the order was recorded: {papers}. What was issued doesn't change by itself",
                f"see the note that lowers what is demanded, then issue it without --dry-run: {commands}",
            )
        )
    return tuple(found)


def correct_command(month: BillingMonth, operator: str) -> str:
    """Return the command by which a person settles an operator's month that was demanded."""
    return f"geobill correct --month {month} --operator {operator} --reason TEXT"


def named_paper(stands: Demanded) -> str:
    """Name what demands a month: its invoice, its single payment, else the notes on it."""
    if stands.invoice is not None:
        return f"invoice {stands.invoice.number}"
    numbers = dict.fromkeys(note.number for note, _ in stands.notes)
    return f"note {', '.join(numbers)}"


def come_back(stands: Demanded, cost: Decimal) -> tuple[str | None, str]:
    """Return the command for a month that comes back and that something demands already, None where nothing is to do; and why.

    Parameters
    ----------
    stands : Demanded
    cost : Decimal
        What the month costs with the order lifted, in reais.
    """
    paper = named_paper(stands)
    if stands.total != cost:
        said = f"{paper}: R$ {plain(stands.total)} is demanded, the month costs R$ {plain(cost)} with the order lifted"
        return correct_command(stands.month, stands.operator), said
    if not stands.notes:
        return None, f"nothing to do: {paper} was issued in full"
    return None, f"nothing to do: R$ {plain(cost)} is demanded, all that the month costs"


def suspension_findings(bill: Bill) -> tuple[Finding, ...]:
    """Operators of whom nothing can be demanded because courts suspend all that they would owe: they take no number."""
    return tuple(
        Finding(
            "suspended",
            "note",
            f"{mine.operator.id}: all that is due, R$ {_total(mine.suspended)}, is suspended ({_by_order(mine.suspended)}): "
            "no invoice, no number",
            "geobill suspension show tells the order; when it ends, a person lifts it and says which months come back",
        )
        for mine in bill.operators
        if mine.suspended and not mine.total
    )


def _by_order(suspended: Iterable[Suspended]) -> str:
    return "; ".join(f"case {s.court_case}, {s.court}: {EFFECT_WORDS[s.effect]}" for s in suspended)


def _total(suspended: Iterable[Suspended]) -> Decimal:
    return sum((s.total for s in suspended), ZERO)


def risk_findings(bill: Bill, risks: LegalRisks) -> tuple[Finding, ...]:
    """Legal risks of what a month demands, by kind of utility, with the revenue concerned; they change no amount."""
    found = []
    for risk in risks.notes:
        concerned = {
            mine.operator.id: revenue
            for mine in bill.operators
            if (
                revenue := _revenue(
                    mine, [line.service for line in mine.lines if risk.concerns(line.service or mine.operator.service)]
                )
            )
        }
        if not concerned:
            continue
        whose = ", ".join(f"{owner} R$ {revenue}" for owner, revenue in concerned.items())
        found.append(
            Finding(
                "legal_risk",
                "warning" if risk.favours == "operator" else "note",
                f"{risk.utility} ({whose}): {risk.court}, {risk.reference}: {risk.says}",
                "no amount changes; the legal office decides whether to demand it, and an order of a court is recorded with geobill "
                "suspension add",
            )
        )
    return tuple(found)


def _revenue(mine: OperatorBill, services: Collection[str | None]) -> Decimal:
    return sum((line.amount for line in mine.lines if line.service in services), ZERO)
