"""Permits and what is done about them, each recorded once and for good (arts. 2, 3)."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

from sqlalchemy import Connection

from geobill.billing.permits import CLANDESTINE, OPTIONS, PAPERS, Missing, find_missing_papers
from geobill.domain import permit as acts
from geobill.domain.dates import BillingMonth
from geobill.domain.finding import Finding
from geobill.domain.money import CENT, plain
from geobill.domain.network import PLANNED
from geobill.domain.permit import Act, Permit, PermitFile
from geobill.errors import InputError, LawError
from geobill.pipeline.backdating import find_billed_months
from geobill.pipeline.blocks import check_not_blocked
from geobill.pipeline.drafting import Drafting, find_file
from geobill.pipeline.law import load_law
from geobill.pricing.cased import follow_cases
from geobill.pricing.in_force import day_of, stands, text
from geobill.pricing.network import exact_lengths
from geobill.pricing.permitted import follow_permits
from geobill.store.cases import CaseRegister
from geobill.store.networks import Cadastre
from geobill.store.permits import PermitRegister
from geobill.store.registers import Registers
from geobill.store.workspace import Workspace

MOST = Decimal(10**12)  # reais; no deposit comes near
ZERO_M, ZERO_M3 = Decimal("0.00"), Decimal(0)


@dataclass(frozen=True)
class PermitState:
    """A permit as it is on a day: its papers, what stands and is planned under it, what its decree still lacks."""

    file: PermitFile
    planned_m: Decimal
    standing_m: Decimal
    planned_m3: Decimal
    standing_m3: Decimal
    missing: tuple[Missing, ...]
    findings: tuple[Finding, ...] = ()


def add_permit(workspace: Workspace, permit: Permit, now: str) -> PermitState:
    """Register a request for the use of streets (art. 2); rows name it by its number."""
    if not permit.number or not permit.operator:
        raise InputError("A permit needs a number and an operator: give both --number and --operator.")
    check_law(workspace, permit.requested_on, "the request")
    with workspace.database.write() as connection:
        operators = Registers(connection, workspace.database.tables).load_operators()
        if permit.operator not in operators:
            known = ", ".join(operators) or "none yet"
            raise InputError(
                f"There is no operator {permit.operator!r} in this workspace (known: {known}). Nothing was "
                f"changed. Add it with "
                "geobill operator add first."
            )
        asked = permit.requested_on or date.fromisoformat(now[:10])
        check_not_blocked(workspace, connection, permit.operator, asked, f"{permit.number} can't be registered")
        register = PermitRegister(connection, workspace.database.tables)
        register.save_permit(permit, now)
        others = _owners(connection, workspace, permit.number) - {permit.operator}
        if others:
            raise InputError(
                f"Stored rows of {', '.join(sorted(others))} name the permit {permit.number!r}, which would be "
                f"{permit.operator}'s: a permit "
                "belongs to one operator (art. 3). Nothing was changed. Correct those rows' file and import it "
                "with --replace, or "
                "choose another number."
            )
        return _state(connection, workspace, permit.number, None)


def approve_permit(workspace: Workspace, number: str, given: Iterable[Act], now: str) -> PermitState:
    """Record the two opinions and the mayor's authorisation, each once (arts. 2, 3)."""
    papers = tuple(given)
    if not papers:
        raise InputError(
            f"Nothing is approved: give at least one of {', '.join(OPTIONS.values())}, each with the reference of "
            f"its paper."
        )

    def check(file: PermitFile) -> None:
        for act in papers:
            if file.acts_of(act.kind):
                there = file.acts_of(act.kind)[0]
                article, name = PAPERS[act.kind]
                raise InputError(
                    f"{name.capitalize()} (art. {article}) is recorded already: {there.reference} of "
                    f"{there.on.isoformat()}. A recorded act "
                    "stays as it is. Nothing was changed; leave the option out."
                )

    return _record(workspace, number, papers, check, now, new_project=True)


def record_payment(workspace: Workspace, act: Act, now: str) -> PermitState:
    """Record a payment of the deposit or of the emolumentos (art. 3 § 1), by its receipt."""
    _check_amount(act.amount)

    def check(file: PermitFile) -> None:
        if any(act.reference == one.reference for one in file.acts_of(act.kind)):
            raise InputError(
                f"The receipt {act.reference!r} is recorded already for this permit: it would count twice."
            )

    return _record(workspace, act.permit, (act,), check, now)


def remove_permit(workspace: Workspace, number: str, on: date, reason: str, now: str) -> PermitState:
    """Record that a permit's equipment is out of the street: ``on`` is its last day, itself due."""

    def check(file: PermitFile) -> None:
        published = file.published_on
        if published is not None and on < published:
            raise InputError(
                f"The removal on {on.isoformat()} comes before the decree's publication on "
                f"{published.isoformat()}. Nothing was changed."
            )

    state = _record(workspace, number, (Act(number, acts.REMOVED, on, note=reason),), check, now)
    with workspace.database.read() as connection:
        late = find_billed_months(workspace, connection, state.file.permit.operator, on + timedelta(days=1))
    return replace(state, findings=late)


def list_permits(workspace: Workspace, on: date, number: str | None = None) -> list[PermitState]:
    """Every permit as it is on a day, or one."""
    with workspace.database.read() as connection:
        files = PermitRegister(connection, workspace.database.tables).load_files()
        if number is not None:
            find_file(files, number)
        return [s for s in _states(connection, workspace, files, on) if number in (None, s.file.permit.number)]


def check_rows(files: dict[str, PermitFile], rows: Any) -> tuple[Finding, ...]:
    """Check what rows that come in say about permits: one of another operator is refused, an unknown one is found.

    Raises
    ------
    InputError
        If a row names another operator's permit, or is planned under one that was granted or removed: what a decree
        grants was approved before it (art. 2).
    """
    unknown: dict[str, list[int]] = {}
    ended: dict[str, list[int]] = {}
    pending: list[int] = []
    for row in rows.itertuples():
        number = text(row.permit)
        file = files.get(number or "")
        if file is None:
            if number is not None and files:
                unknown.setdefault(number, []).append(int(row.source_row))
            if row.status == PLANNED and (number is None or not files):
                pending.append(int(row.source_row))
            continue
        _check_owner(file, row)
        if file.removed_on is not None and (day_of(row.removed_on) or date.max) > file.removed_on:
            ended.setdefault(file.permit.number, []).append(int(row.source_row))
    found = [
        Finding(
            "unknown_permit",
            "warning",
            f"{len(places)} row(s) name the permit {number!r}, which isn't registered: they are flagged no_decree (art. 16).",
            f"Register it with geobill permit add --number {number!r} --operator ID, or correct the number.",
            rows=tuple(places),
        )
        for number, places in unknown.items()
    ]
    for number, places in ended.items():
        message = (
            f"{len(places)} row(s) name the permit {number!r}, which ended with its removal on {files[number].removed_on}: nothing "
            "of them is charged after that day."
        )
        fix = "Where they stand in the street, take the permit's number off them: they are charged without a decree (art. 16)."
        found.append(Finding("removed_permit", "warning", message, fix, rows=tuple(places)))
    if pending:
        message = f"{len(pending)} row(s) are planned under no registered permit: nothing makes them due (arts. 2, 3)."
        fix = "Name their permit with --permit or --map permit=COLUMN, and register it with geobill permit add."
        found.append(Finding("planned_without_permit", "warning", message, fix, rows=tuple(pending)))
    return tuple(found)


def _check_owner(file: PermitFile, row: Any) -> None:
    number = file.permit.number
    if row.operator != file.permit.operator:
        raise InputError(
            f"Row {row.source_row} belongs to {row.operator} and names the permit {number!r} of "
            f"{file.permit.operator}: a permit belongs to "
            "one operator (art. 3). Nothing was changed. Correct the operator or the permit in the file."
        )
    if row.status == PLANNED and (file.decree is not None or file.removed_on is not None):
        ended = f"granted by {file.decree.number}" if file.decree and not file.removed_on else "removed"
        raise InputError(
            f"Row {row.source_row} is planned under the permit {number!r}, which is {ended}: its decree doesn't "
            f"grant what came later, and a "
            "new project needs its own approval (art. 2). Nothing was changed. Register it as a permit of its "
            "own; what was built "
            "under this one has the status permitted."
        )


def check_subject(drafting: Drafting, file: PermitFile) -> None:
    """Refuse what the law doesn't reach (art. 13)."""
    operator = drafting.operator(file)
    if drafting.law.exemption(operator.kind):
        raise LawError(
            f"{operator.name} is a public-law entity of this municipality: the law doesn't apply to it (art. 13), "
            f"so it has neither price "
            "nor deposit nor decree under it. Nothing was changed."
        )


def held_message(file: PermitFile, length_m: Decimal) -> str:
    """Say that a permit's price is held (arts. 7, 15)."""
    return (
        f"The price of the permit {file.permit.number} is held: art. 7 gives no R for {plain(length_m)} m, so "
        f"there is neither a price nor a "
        "deposit until the mayor decides (art. 15). Nothing was changed. Record the decision with geobill "
        "decision add, then "
        "geobill policy set above_100_km ID."
    )


def _record(
    workspace: Workspace,
    number: str,
    given: tuple[Act, ...],
    check: Callable[[PermitFile], None],
    now: str,
    new_project: bool = False,
) -> PermitState:
    """Add acts to a permit's file, all or none."""
    for act in given:
        check_law(workspace, act.on, "an act")
    with workspace.database.write() as connection:
        register = PermitRegister(connection, workspace.database.tables)
        file = find_file(register.load_files(), number)
        for act in given:
            check_open(file, act.on, "Nothing was changed")
        check(file)
        if new_project:
            last, what = max(a.on for a in given), f"The permit {number} can't be approved"
            check_not_blocked(workspace, connection, file.permit.operator, last, what)
        for act in given:
            register.save_act(act, now)
        return _state(connection, workspace, number, max(a.on for a in given))


def check_open(file: PermitFile, on: date, what: str) -> None:
    """Refuse an act on a permit that was removed, or dated before its request."""
    if file.removed_on is not None:
        raise InputError(
            f"The permit {file.permit.number} ended with its removal on {file.removed_on.isoformat()}. {what}."
        )
    asked = file.permit.requested_on
    if asked is not None and on < asked:
        raise InputError(
            f"{on.isoformat()} is before the permit {file.permit.number} was requested ({asked.isoformat()}): "
            f"nothing can be decided about "
            f"what wasn't asked for yet (art. 2). {what}."
        )


def check_law(workspace: Workspace, on: date | None, what: str) -> None:
    """Refuse a date before the law."""
    with workspace.database.read() as connection:
        since = load_law(workspace, connection).figures.published_on
    if on is not None and on < since:
        raise LawError(
            f"The date of {what}, {on.isoformat()}, is before the law, in force from {since.isoformat()} (art. "
            f"18). Nothing was changed."
        )


def _check_amount(amount: Decimal | None) -> None:
    usual = amount is not None and amount.is_finite() and CENT <= amount < MOST
    if amount is None or not usual or amount != amount.quantize(CENT):
        raise InputError(
            f"--amount {amount} is no payment: give reais above 0 with at most two decimals, for example 1234.56."
        )


def _owners(connection: Connection, workspace: Workspace, number: str) -> set[str]:
    cadastre = Cadastre(connection, workspace.database.tables, workspace.database.srid)
    return {
        str(row.operator)
        for frame in (cadastre.load_segments(), cadastre.load_equipment())
        for row in frame.itertuples()
        if text(row.permit) == number
    }


def _state(connection: Connection, workspace: Workspace, number: str, on: date | None) -> PermitState:
    files = PermitRegister(connection, workspace.database.tables).load_files()
    return next(s for s in _states(connection, workspace, files, on) if s.file.permit.number == number)


def _states(
    connection: Connection, workspace: Workspace, files: dict[str, PermitFile], on: date | None
) -> list[PermitState]:
    cadastre = Cadastre(connection, workspace.database.tables, workspace.database.srid)
    cases = CaseRegister(connection, workspace.database.tables).load_files()
    since = load_law(workspace, connection).figures.published_on
    segments, equipment = (
        follow_permits(follow_cases(f, cases, since), files, on)
        for f in (cadastre.load_segments(), cadastre.load_equipment())
    )
    policy = workspace.settings.policy if on is None else workspace.settings.policy_in(BillingMonth.of(on))
    lengths = exact_lengths(segments, policy)
    sums = {n: {PLANNED: [ZERO_M, ZERO_M3], "standing": [ZERO_M, ZERO_M3]} for n in files}
    for place, frame in enumerate((segments, equipment)):
        for row in frame.itertuples():
            number = text(row.permit)
            if number not in sums or row.status in CLANDESTINE:
                continue
            there = "standing" if on is None or stands(row, on) else None
            ended = files[number].removed_on
            planned = PLANNED if ended is None or (on is not None and on <= ended) else None
            kind = planned if row.status == PLANNED else there
            if kind:
                sums[number][kind][place] += lengths[row.Index] if place == 0 else Decimal(row.volume_m3)
    return [
        PermitState(
            file=file,
            planned_m=sums[number][PLANNED][0],
            standing_m=sums[number]["standing"][0],
            planned_m3=sums[number][PLANNED][1],
            standing_m3=sums[number]["standing"][1],
            missing=() if file.decree or file.removed_on else tuple(find_missing_papers(file)),
        )
        for number, file in files.items()
    ]
