"""Months that were billed, priced again as known today; what differs is settled by one note an operator."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path

from sqlalchemy import Connection

from geobill.billing.compare import compare_operator
from geobill.billing.corrections import (
    ZERO,
    correction_line,
    correction_note,
    held_by_limitation,
    nothing_due,
    with_what_was_charged_since,
)
from geobill.billing.past import limitation_of
from geobill.billing.standing import Demanded, demanded
from geobill.domain.check import Cause
from geobill.domain.dates import BillingMonth
from geobill.domain.finding import Finding
from geobill.domain.invoice import Basis, Held, Invoice, OperatorBill
from geobill.domain.network import Operator
from geobill.domain.note import Note, NoteLine
from geobill.errors import InputError
from geobill.pipeline.billing import Say, due_day
from geobill.pipeline.comparing import NOTHING, sides
from geobill.pipeline.month import Month, Stored
from geobill.pipeline.notes import blank_note, issue_note, note_due, notes_folder, write_note_files
from geobill.pipeline.papers import inputs_of
from geobill.pipeline.policy import record_hand_edits
from geobill.pipeline.replay import priced_again
from geobill.store.ledger import Ledger
from geobill.store.notes import NoteBook
from geobill.store.workspace import Workspace


@dataclass(frozen=True)
class Corrected:
    """What a run of ``correct`` did, or with ``dry_run`` would do: notes, what waits for a decision, what to know."""

    months: tuple[BillingMonth, ...]
    notes: tuple[Note, ...]
    held: tuple[Held, ...]
    findings: tuple[Finding, ...]
    files: tuple[Path, ...] = ()


@dataclass(frozen=True)
class _Difference:
    """A month of an operator that differs: its line, what it was priced from, and when it was due."""

    operator: Operator
    line: NoteLine
    basis: Basis
    inputs: dict[str, str]
    due_on: date


def correct_months(
    workspace: Workspace,
    first: BillingMonth,
    last: BillingMonth,
    *,
    operator: str | None,
    reason: str,
    by: str,
    issued_on: date,
    due_on: date | None,
    out: Path | None,
    dry_run: bool,
    now: str,
    say: Say = lambda _: None,
) -> Corrected:
    """Price billed months again as known today and issue a credit or difference note for each operator that differs.

    What was demanded before is the standing invoice and every note on the month, so that together with the new note it is
    the month computed afresh. Months older than ``limitation_years`` wait for a decision, both ways.

    Raises
    ------
    InputError
        If the reason is blank, the months are turned round, or none of them was ever billed.
    """
    if not reason.strip() or not reason.strip().isprintable():
        raise InputError(
            "The reason is blank or holds a character that can't be seen: "
            "a note names its cause, and whoever pays it must be able to check it. Give --reason TEXT."
        )
    if last < first:
        raise InputError(f"--until {last} comes before --month {first}: turn them round.")
    folder = notes_folder(workspace, out)
    database = workspace.database
    with database.read() if dry_run else database.write() as connection:
        stored = Stored(workspace, connection)
        months, differences, findings = _differences(workspace, connection, stored, first, last, operator, say)
        findings += () if dry_run else record_hand_edits(workspace, connection, now)
        due = due_on or note_due(workspace.settings, stored.law, issued_on)
        notes, held = [], []
        for owner in sorted({d.operator.id for d in differences}):
            mine = [d for d in differences if d.operator.id == owner]
            limitation = limitation_of(
                workspace.settings.policy_in(BillingMonth.of(issued_on)), stored.decisions, issued_on
            )
            young = [d for d in mine if limitation.reaches(d.due_on, issued_on)]
            old = [d for d in mine if not limitation.reaches(d.due_on, issued_on)]
            if limitation.decision and old:
                findings.append(_lapsed(owner, old, limitation.decision))
                old = []
            waiting = [held_by_limitation(d.line, owner, limitation.years) for d in old]
            held += waiting
            if not young:
                continue
            note = correction_note(
                young[-1].operator,
                workspace.settings.authority,
                [(d.line, d.basis) for d in young],
                waiting,
                issued_on=issued_on,
                due_on=due,
                reason=reason.strip(),
                by=by,
            )
            if dry_run:
                notes.append(blank_note(note))
                continue
            say(f"note of {owner}: R$ {note.total}")
            inputs = {role: text for d in young for role, text in d.inputs.items()}
            notes.append(issue_note(workspace, connection, note, inputs, now=now))
    files = () if dry_run else write_note_files(workspace, [n.number for n in notes], folder)
    return Corrected(months, tuple(notes), tuple(held), tuple(findings), files)


def _differences(
    workspace: Workspace,
    connection: Connection,
    stored: Stored,
    first: BillingMonth,
    last: BillingMonth,
    operator: str | None,
    say: Say,
) -> tuple[tuple[BillingMonth, ...], list[_Difference], list[Finding]]:
    """Price the billed months of a span again; what differs, in time's order."""
    if operator is not None and operator not in stored.operators:
        raise InputError(f"There is no operator {operator!r} (known: {', '.join(stored.operators) or 'none'}).")
    tables = workspace.database.tables
    ledger = Ledger(connection, tables)
    invoices, notes = ledger.load_invoices(standing=True), NoteBook(connection, tables).load(operator=operator)
    months, found, never = [], [], []
    for month in first.until(last):
        billed = {
            owner: stands
            for owner, stands in demanded(month, invoices, notes).items()
            if operator in (None, owner) and (stands.is_billed or operator is not None)
        }
        if not billed:
            never.append(month)
            continue
        say(f"pricing {month}")
        months.append(month)
        priced = stored.price(month, operator=operator)
        for owner, stands in billed.items():
            if (one := _difference(workspace, ledger, stored, priced, stands, owner)) is not None:
                found.append(one)
    if not months:
        whose = "" if operator is None else f" of {operator}"
        raise InputError(
            f"No month{whose} from {first} to {last} has a standing invoice, so there is nothing to correct. A month that was "
            f"never billed, or whose invoice was cancelled, is for geobill bill --month {first}."
        )
    findings = [
        Finding(
            "never_billed",
            "note",
            f"not corrected, since they have no standing invoice: {', '.join(map(str, never))}",
            "geobill bill --month YYYY-MM issues their invoices",
        )
    ]
    return tuple(months), found, findings if never else []


def _difference(
    workspace: Workspace, ledger: Ledger, stored: Stored, priced: Month, stands: Demanded, owner: str
) -> _Difference | None:
    operator, month = stored.operators[owner], stands.month
    mine = next((o for o in priced.bill.operators if o.operator.id == owner), None)
    mine = mine or nothing_due(operator, month.last_day)
    if mine.total == stands.total:
        return None
    causes = _causes(workspace, ledger, priced, mine, stands)
    return _Difference(
        operator,
        correction_line(stands, mine, priced.bill.basis, causes),
        priced.bill.basis,
        {f"{month}/{role}": text for role, text in inputs_of(priced, mine).items()},
        due_day(workspace.settings, priced.law, month),
    )


def _causes(
    workspace: Workspace, ledger: Ledger, priced: Month, mine: OperatorBill, stands: Demanded
) -> tuple[Cause, ...]:
    """Why the month differs from what it was when it was last computed; nothing of a month that was paid at once."""
    billed = _as_billed(stands)
    if billed is None:
        return ()
    srid, owner = workspace.settings.municipality.srid, stands.operator
    was = sides(priced_again(ledger, billed, srid)).get(owner, NOTHING)
    is_now = sides(priced.priced).get(owner, NOTHING)
    exempt = owner in {e.operator for e in priced.bill.exempt}
    compared = compare_operator(owner, was, is_now, issued_total=billed.total, exempt=exempt)
    return with_what_was_charged_since(compared.causes, stands)


def _as_billed(stands: Demanded) -> Invoice | None:
    """Return the month as it was last computed, in the form of an invoice with its archived inputs."""
    if stands.correction is None:
        return stands.invoice
    note, line = stands.correction
    own = f"{stands.month}/"
    digests = tuple((r.removeprefix(own), d) for r, d in note.basis.digests if r.startswith(own))
    return Invoice(
        number=note.number,
        month=stands.month,
        issued_on=note.issued_on,
        due_on=note.due_on or note.issued_on,
        authority=note.authority,
        operator=note.operator,
        basis=replace(note.basis, digests=digests),
        lines=line.lines,
        total=line.now,
        reducer=None,
        network_length_m=ZERO,
        held=(),
        yearly=None,
        yearly_monthly=None,
    )


def _lapsed(owner: str, old: Sequence[_Difference], decision: str) -> Finding:
    months = ", ".join(str(d.line.month) for d in old)
    message = (
        f"{owner}: {months} differ and are older than the decision {decision} lets past months count: not corrected"
    )
    return Finding(
        "limitation_lapsed", "note", message, "nothing to do, unless another decision says how many years count"
    )
