"""Deposits of permits: demanded, given back, followed when the price changes, listed on any day (art. 3 §§ 1, 2)."""

from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from geobill.billing.permits import TOP_UP, Deposit, deposit_held, deposit_on
from geobill.domain import permit as acts
from geobill.domain.money import plain
from geobill.domain.permit import Act, PermitFile
from geobill.errors import InputError, LawError
from geobill.pipeline.drafting import Drafting, find_file
from geobill.pipeline.permits import ZERO_M, check_law, check_open, check_subject, held_message
from geobill.store.permits import PermitRegister
from geobill.store.workspace import Workspace


@dataclass(frozen=True)
class PermitDeposit:
    """A permit with its deposit on a day; ``required`` is so many monthly prices of that day, in reais.

    None where the price is held or can't be had, or the equipment is out of the street; ``why`` says which.
    """

    file: PermitFile
    deposit: Deposit
    required: Decimal | None
    why: str = ""


def demand_deposit(workspace: Workspace, number: str, on: date, now: str) -> Act:
    """Demand the deposit: so many monthly prices of that day (art. 3 § 2); held where the price is (art. 15)."""
    check_law(workspace, on, "the demand")
    with workspace.database.write() as connection:
        drafting = Drafting(workspace, connection)
        file = drafting.file(number)
        check_open(file, on, "No deposit is demanded")
        if file.decree is not None:
            raise LawError(
                f"The permit {number} is granted by {file.decree.number}: its deposit was due before that (art. 3 "
                f"§ 1). Nothing was changed."
            )
        check_subject(drafting, file)
        drafted = drafting.draft(file, on)
        if drafted.is_empty:
            raise InputError(
                f"Nothing is planned and nothing stands under the permit {number}, so there is no price to take a "
                f"deposit of (art. 3 § 2). "
                f"Nothing was changed. Import its rows with --permit {number} --status planned."
            )
        if drafted.draft.deposit is None:
            raise LawError(held_message(file, drafted.draft.price.network_length_m))
        price = drafted.draft.price.total
        said = f"{drafted.draft.deposit_months} x R$ {plain(price or ZERO_M)}"
        act = Act(number, acts.DEPOSIT_DEMANDED, on, amount=drafted.draft.deposit, note=said)
        if act in file.acts_of(acts.DEPOSIT_DEMANDED):
            raise InputError(
                f"This deposit of R$ {plain(act.amount or ZERO_M)} was demanded on {on.isoformat()} already."
            )
        drafting.register.save_act(act, now)
        return act


def release_deposit(workspace: Workspace, number: str, on: date, reason: str, now: str) -> Act:
    """Give the whole deposit back: where the permit is removed, or its request came to nothing."""
    check_law(workspace, on, "the release")
    if not reason:
        raise InputError("--reason is blank: money that leaves the city hall's hands needs a reason on record.")
    with workspace.database.write() as connection:
        register = PermitRegister(connection, workspace.database.tables)
        file = find_file(register.load_files(), number)
        held = deposit_held(file)
        if held <= 0:
            raise InputError(f"No deposit of the permit {number} is held: there is nothing to release.")
        if file.decree is not None and file.removed_on is None:
            raise LawError(
                f"The permit {number} is granted by {file.decree.number}, and its decree rests on the deposit "
                f"(art. 3 § 1). Nothing was "
                f"changed. Record the removal first: geobill permit remove --number {number} --on DATE."
            )
        first = max([a.on for a in file.acts_of(acts.DEPOSIT_PAID)] + ([file.removed_on] if file.removed_on else []))
        if on < first:
            raise InputError(
                f"The release on {on.isoformat()} comes before {first.isoformat()}, when the deposit was paid or "
                f"the equipment removed."
            )
        act = Act(number, acts.DEPOSIT_RELEASED, on, amount=held, note=reason)
        register.save_act(act, now)
        return act


def list_deposits(workspace: Workspace, on: date) -> list[PermitDeposit]:
    """Every permit's deposit as it is on a day, beside what three monthly prices of that day are (art. 3 § 2)."""
    check_law(workspace, on, "the list")
    with workspace.database.read() as connection:
        drafting = Drafting(workspace, connection)
        return [
            PermitDeposit(file, deposit_on(file, on), *_required(drafting, file, on))
            for file in drafting.files.values()
        ]


def adjust_deposit(workspace: Workspace, number: str, on: date, now: str) -> Act:
    """Demand what a granted permit's deposit falls short of the day's price, or give back what is too much (art. 3 § 2).

    Raises
    ------
    LawError
        Where the policy ``deposit_follows_price`` is ``no``: the law doesn't say that the deposit follows the price; and where
        the price is held.
    InputError
        If the permit isn't granted, or the deposit is what it should be.
    """
    check_law(workspace, on, "the adjustment")
    with workspace.database.write() as connection:
        drafting = Drafting(workspace, connection)
        file = drafting.file(number)
        if not drafting.policy_on(on).deposit_follows_price:
            raise LawError(
                "The policy deposit_follows_price is no: art. 3 § 2 sets the deposit at three monthly prices and doesn't say that it "
                "follows them when they change. Nothing was changed. What the mayor decides (art. 15) is recorded with geobill "
                "decision add, then geobill policy set deposit_follows_price yes."
            )
        check_open(file, on, "No deposit is adjusted")
        if file.decree is None or on < file.decree.date:
            raise InputError(
                f"The permit {number} isn't granted on {on.isoformat()}: its deposit is demanded before the decree (art. 3 § 1), with "
                "geobill deposit demand. Nothing was changed."
            )
        drafted = drafting.draft(file, on)
        required = drafted.draft.deposit
        if required is None:
            raise LawError(held_message(file, drafted.draft.price.network_length_m))
        act = _adjustment(file, deposit_on(file, on), required, on)
        drafting.register.save_act(act, now)
        return act


def _adjustment(file: PermitFile, now: Deposit, required: Decimal, on: date) -> Act:
    """Return the act that brings a deposit to what is required: a demand of the difference, or its return."""
    number, said = file.permit.number, f"required R$ {plain(required)}"
    claimed = now.held + now.outstanding
    if claimed < required:
        note = f"{said}, held R$ {plain(now.held)}, demanded and unpaid R$ {plain(now.outstanding)}"
        return Act(number, acts.DEPOSIT_DEMANDED, on, reference=TOP_UP, amount=required - claimed, note=note)
    if now.held > required:
        return Act(
            number, acts.DEPOSIT_RELEASED, on, amount=now.held - required, note=f"{said}, held R$ {plain(now.held)}"
        )
    raise InputError(
        f"The deposit of the permit {number} is adjusted already: {said}, held R$ {plain(now.held)}, demanded and unpaid R$ "
        f"{plain(now.outstanding)}. Nothing was changed."
    )


def _required(drafting: Drafting, file: PermitFile, on: date) -> tuple[Decimal | None, str]:
    if file.removed_on is not None and file.removed_on < on:
        return None, "removed"
    if drafting.law.exemption(drafting.operator(file).kind):
        return None, "exempt"
    if not drafting.has_edition(on):
        return None, "no_edition"
    deposit = drafting.draft(file, on).draft.deposit
    return deposit, "price_held" if deposit is None else ""
