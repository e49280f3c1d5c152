"""The policy set, dated and remembered: what a value rests on, who changed it, under which value months were billed."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import date
from typing import TYPE_CHECKING

from sqlalchemy import Connection

from geobill.domain.dates import BillingMonth
from geobill.domain.finding import Finding
from geobill.domain.invoice import Decision
from geobill.errors import PolicyError
from geobill.law.policy import (
    KEYS,
    Policy,
    answers,
    as_decided,
    check_policy_value,
    decided_reducer,
    decision_behind,
    in_force,
    newest_decision,
    parse_policy,
)
from geobill.law.statutes.street_use import StreetUseLaw
from geobill.pipeline.law import load_law
from geobill.store.ledger import Ledger
from geobill.store.policy import HAND, PolicyBook, PolicyChange
from geobill.store.registers import Registers
from geobill.store.settings import FILE_NAME, Settings, read_settings, replace_file, set_policy
from geobill.store.workspace import Workspace

if TYPE_CHECKING:
    from geobill.pipeline.month import Month

DEFAULTS = {k.key: k.default for k in KEYS}


@dataclass(frozen=True)
class PolicySet:
    """A policy value as it was written, the decision that it rests on, and what to know."""

    key: str
    value: str
    since: BillingMonth | None
    decision: str | None
    findings: tuple[Finding, ...]


@dataclass(frozen=True)
class PolicyShown:
    """A policy with the decision that each key's value rests on."""

    policy: Policy
    decisions: Mapping[str, str | None]
    findings: tuple[Finding, ...]


@dataclass(frozen=True)
class BilledOtherwise:
    """Invoices of a month that were issued under another value than the month would take today."""

    month: BillingMonth
    key: str
    billed: str
    now: str
    invoices: tuple[str, ...]


@dataclass(frozen=True)
class PolicyHistory:
    """Recorded changes, changes by hand that no run has recorded yet, and months billed under other values."""

    changes: tuple[PolicyChange, ...]
    not_recorded: tuple[PolicyChange, ...]
    billed_otherwise: tuple[BilledOtherwise, ...]


def change_policy(
    workspace: Workspace, key: str, value: str, *, since: BillingMonth | None, decision: str | None, by: str, now: str
) -> PolicySet:
    """Write a policy value into ``geobill.toml``, for every month or from one on, and into its diary.

    The file is written before the diary is kept: months are priced by the file. A run that is killed between the two
    leaves a change that the next one finds and records as made by hand; the other way round the diary, which only
    grows, would tell for ever of a change that never was.

    Raises
    ------
    PolicyError
        For a key or value that doesn't exist, or a decision that isn't recorded or doesn't give this value.
    """
    stored, path = check_policy_value(key, value), workspace.root / FILE_NAME
    policy = parse_policy({key: stored})
    with ExitStack() as undo:
        with workspace.database.write() as connection:
            decisions = Registers(connection, workspace.database.tables).load_decisions()
            law = load_law(workspace, connection)
            decided_reducer(policy, decisions)
            if decision is not None:
                _check_decision(decision, key, policy, decisions, since)
            book, settings = PolicyBook(connection, workspace.database.tables), read_settings(path)
            book.save(hand_edits(settings, book.load()), now)
            month = "" if since is None else str(since)
            previous = _state(settings).get((month, key), "")
            if not _same(key, previous, stored):
                book.save([PolicyChange(key, stored, previous, month, by)], now)
            undo.callback(
                replace_file, path, path.read_bytes()
            )  # where the diary can't be kept, the old file comes back
            set_policy(path, key, stored, since)
        undo.pop_all()
    on = date.max if since is None else since.first_day
    behind = decision_behind(key, policy, decisions, on)
    found = [
        None if key in _settled(law, on) else _resting(key, policy, decisions, on),
        _too_wide(key, stored, behind, since),
        _overridden(key, stored, settings, since),
    ]
    return PolicySet(key, stored, since, None if behind is None else behind.id, tuple(f for f in found if f))


def show_policy(workspace: Workspace, month: BillingMonth, profile: str | None = None) -> PolicyShown:
    """Return the policy of a month, or of a named profile in it, with the decisions that it rests on."""
    profiles = workspace.settings.profiles
    if profile is not None and profile not in profiles:
        raise PolicyError(
            f"There is no profile {profile!r} (named: {', '.join(profiles) or 'none'}). Write it into {FILE_NAME} under a heading "
            "[policy.profile.NAME], with the keys that differ."
        )
    with workspace.database.read() as connection:
        decisions = Registers(connection, workspace.database.tables).load_decisions()
        law = load_law(workspace, connection)
    policy, on = workspace.settings.policy_in(month, profile), month.first_day
    behind = {k.key: decision_behind(k.key, policy, decisions, on) for k in KEYS}
    named = {key: None if found is None else found.id for key, found in behind.items()}
    return PolicyShown(policy, named, policy_findings(policy, decisions, on, _settled(law, on)))


def month_policy_findings(settings: Settings, found: "Month") -> tuple[Finding, ...]:
    """Say which values a month was priced under rest on no decision in force on its first day; see :func:`policy_findings`."""
    month = found.bill.month
    named = replace(
        found.policy, above_100_km=settings.policy_in(month).above_100_km
    )  # not yet held for want of a decision
    return policy_findings(named, found.decisions, month.first_day, _settled(found.law, month.first_day))


def policy_findings(
    policy: Policy, decisions: Mapping[str, Decision], on: date, settled: Collection[str] = ()
) -> tuple[Finding, ...]:
    """Say which values in force on a day no recorded decision gives (art. 15), and which a decision contradicts.

    ``settled`` are keys that the statute itself answers: their values move nothing.
    """
    found = (_resting(k.key, policy, decisions, on) for k in KEYS if k.key not in settled)
    return tuple(f for f in found if f)


def _settled(law: StreetUseLaw, on: date) -> tuple[str, ...]:
    """Return the keys that the statute answers on a day, whatever the policy says."""
    scales = (f for f in law.figures.figures if f.name == "reducer" and f.in_force(on))
    return ("reducer_method",) if any(f.method for f in scales) else ()


def record_hand_edits(workspace: Workspace, connection: Connection, now: str) -> tuple[Finding, ...]:
    """Record in the diary what was changed in ``geobill.toml`` with no command, and say it."""
    book = PolicyBook(connection, workspace.database.tables)
    edits = hand_edits(workspace.settings, book.load())
    book.save(edits, now)
    if not edits:
        return ()
    said = "; ".join(
        f"{e.key}{f' since {e.since}' if e.since else ''}: {e.previous or '-'} to {e.value or '-'}" for e in edits
    )
    message = f"the policy in {FILE_NAME} was changed by hand, and the month is priced by it: {said}"
    return (Finding("policy_hand_edited", "note", message, "it is recorded now: geobill policy history"),)


def read_history(workspace: Workspace) -> PolicyHistory:
    """Return every change of the policy, and the issued months that would take another value today."""
    with workspace.database.read() as connection:
        tables = workspace.database.tables
        changes = PolicyBook(connection, tables).load()
        decisions = Registers(connection, tables).load_decisions()
        invoices = Ledger(connection, tables).load_invoices(standing=True)
    found: dict[tuple[BillingMonth, str, str, str], list[str]] = {}
    for invoice in invoices:
        month = invoice.month
        today = as_decided(workspace.settings.policy_in(month), decisions, month.first_day).as_text()
        for use in invoice.basis.policy:
            if use.key in today and not _same(use.key, use.value, today[use.key]):
                found.setdefault((month, use.key, use.value, today[use.key]), []).append(invoice.number)
    otherwise = tuple(BilledOtherwise(*place, tuple(numbers)) for place, numbers in sorted(found.items()))
    return PolicyHistory(tuple(changes), tuple(hand_edits(workspace.settings, changes)), otherwise)


def hand_edits(settings: Settings, changes: Iterable[PolicyChange]) -> list[PolicyChange]:
    """Return what the file says and the diary doesn't: a value that was never recorded is taken to have been the default."""
    recorded = {(c.since, c.key): c.value for c in changes if c.key in DEFAULTS}
    there = _state(settings)
    return [
        PolicyChange(key, there.get((since, key), ""), before, since, HAND)
        for since, key in sorted({*recorded, *there}, key=lambda place: (place[0], list(DEFAULTS).index(place[1])))
        if not _same(
            key, before := recorded.get((since, key), "" if since else DEFAULTS[key]), there.get((since, key), "")
        )
    ]


def _same(key: str, one: str, other: str) -> bool:
    """Whether two texts are the same value: 30 is 30.0; a blank one is none."""
    if not (one and other):
        return one == other
    first, second = (getattr(parse_policy({key: text}), key) for text in (one, other))
    return bool(first == second)


def settings_as_known(settings: Settings, changes: Sequence[PolicyChange], known_until: str) -> Settings:
    """Return the settings with the changes taken back that were recorded at a moment (UTC, ISO text with Z) or after it.

    A change by hand has no day of its own, only that on which a run found it: it counts as known all along.
    """
    given = dict(settings.policy_given)
    dated = {month: dict(values) for month, values in settings.policy_since.items()}
    for change in reversed(changes):
        if change.recorded_at < known_until or change.by == HAND:
            continue
        table = dated.setdefault(BillingMonth.parse(change.since), {}) if change.since else given
        table[change.key] = change.previous
        if not change.previous:
            del table[change.key]
    in_order = {month: dated[month] for month in sorted(dated)}
    return replace(settings, policy=parse_policy(given), policy_given=given, policy_since=in_order)


def _state(settings: Settings) -> dict[tuple[str, str], str]:
    """Return each value of the file by its month (blank for every month) and key."""
    base = {("", key): value for key, value in settings.policy.as_text().items()}
    return base | {(str(m), key): value for m, values in settings.policy_since.items() for key, value in values.items()}


def _check_decision(
    id_: str, key: str, policy: Policy, decisions: Mapping[str, Decision], since: BillingMonth | None
) -> None:
    decision, value = decisions.get(id_), policy.as_text()[key]
    if decision is None:
        raise PolicyError(
            f"The decision {id_!r} isn't recorded (recorded: {', '.join(decisions) or 'none'}): nothing can rest on it. Record it "
            "with geobill decision add. Nothing was changed."
        )
    if not answers(decision, key, policy):
        form = (
            f" (above_100_km takes the decision's id: geobill policy set above_100_km {id_})"
            if key == "above_100_km"
            else ""
        )
        raise PolicyError(
            f"The decision {id_!r} answers {decision.question}: {decision.answer}. It doesn't give {key} = {value}{form}. "
            "Nothing was changed."
        )
    if since is not None and not in_force(decision, since.first_day):
        raise PolicyError(
            f"The decision {id_!r} answers from {decision.in_force_from} on, and {since} begins before: that month wouldn't rest on "
            "it. Give --since a later month. Nothing was changed."
        )


def _resting(key: str, policy: Policy, decisions: Mapping[str, Decision], on: date) -> Finding | None:
    """Say what is wrong with what a value rests on, on a day; None where it is the law's default or a decision gives it."""
    value, newest = policy.as_text()[key], newest_decision(key, decisions, on)
    if key == "above_100_km":  # it names its decision: one that isn't recorded is refused, what is held is told as held
        named = decisions.get(value)
        if named is None or in_force(named, on):
            return None
        return Finding(
            "decision_not_in_force",
            "warning",
            f"above_100_km names the decision {named.id}, which answers from {named.in_force_from} on: until then what is above "
            "100 km stays held (art. 7)",
            "it is charged from that day on; for earlier months another decision is needed (art. 15)",
        )
    if newest is not None and not answers(newest, key, policy):
        since = "" if newest.in_force_from is None else f" --since {first_whole_month(newest.in_force_from)}"
        return Finding(
            "policy_against_decision",
            "warning",
            f"{key} = {value}, and the decision {newest.id} (nº {newest.number}) answers {newest.answer} (art. 15)",
            f"geobill policy set {key} {newest.answer} --decision {newest.id}{since}, or record the decision that came after it",
        )
    if newest is not None or value == DEFAULTS[key]:
        return None
    gap = next(k.gap for k in KEYS if k.key == key)
    return Finding(
        "policy_without_decision",
        "warning",
        f"{key} = {value} isn't the default ({DEFAULTS[key]}) and no recorded decision gives it: {gap}",
        "record who decided it (art. 15): geobill decision add --id ID --number N --date D --signatory S "
        f"--question {key} --answer {value}",
    )


def _too_wide(key: str, value: str, behind: Decision | None, since: BillingMonth | None) -> Finding | None:
    """Say that a value for every month rests on a decision that answers only from a day on."""
    if since is not None or behind is None or behind.in_force_from is None:
        return None
    return Finding(
        "decision_not_in_force",
        "warning",
        f"{key} = {value} is written for every month, and the decision {behind.id} answers from {behind.in_force_from} on",
        f"for the months from then on alone: geobill policy set {key} {value} --since {first_whole_month(behind.in_force_from)}",
    )


def _overridden(key: str, value: str, settings: Settings, since: BillingMonth | None) -> Finding | None:
    """Say from which later months another value holds all the same."""
    dated = {m: v[key] for m, v in settings.policy_since.items() if key in v and (since is None or m > since)}
    other = [f"{v} from {m} on" for m, v in dated.items() if v != value]
    if not other:
        return None
    message = f"{key} has another value in later months, which stays: {', '.join(other)}"
    return Finding("policy_dated_otherwise", "note", message, f"see [policy.since.YYYY-MM] in {FILE_NAME}")


def first_whole_month(day: date) -> BillingMonth:
    """Return the first month that a decision in force from a day answers for: one that begins on it or after it."""
    month = BillingMonth.of(day)
    return month if day.day == 1 else month.following()
