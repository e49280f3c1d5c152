"""Operators, and the mayor's decisions on what the law leaves open, with their papers."""

from dataclasses import dataclass, replace
from pathlib import Path

from stdnum.br import cnpj

from geobill.domain.finding import Finding
from geobill.domain.invoice import Decision
from geobill.domain.network import KINDS, Operator
from geobill.errors import InputError
from geobill.law.policy import check_answer
from geobill.pipeline.scans import read_scan
from geobill.store.ledger import Ledger
from geobill.store.registers import Registers
from geobill.store.settings import replace_file
from geobill.store.workspace import Workspace


@dataclass(frozen=True)
class RecordedDecision:
    """A decision with the name of the file that its scan came in; blank where there is none."""

    decision: Decision
    file_name: str


def add_operator(workspace: Workspace, operator: Operator, now: str) -> tuple[Finding, ...]:
    """Add who owns equipment and pays for it; say where the CNPJ's check digits are wrong."""
    if not operator.id.strip() or not operator.name.strip():
        raise InputError("An operator needs an id and a name: give both --id and --name.")
    if operator.kind not in KINDS:
        raise InputError(f"--kind can't be {operator.kind!r}. Allowed: {', '.join(KINDS)}.")
    with workspace.database.write() as connection:
        Registers(connection, workspace.database.tables).save_operator(operator, now)
    if operator.cnpj.strip() and not cnpj.is_valid(operator.cnpj):
        message = (
            f"the CNPJ {operator.cnpj!r} has wrong check digits, and would be printed so on invoices that never change"
        )
        return (
            Finding("cnpj_invalid", "warning", message, "Compare it with the company's registration before billing."),
        )
    return ()


def list_operators(workspace: Workspace) -> list[Operator]:
    """Return every operator of the workspace."""
    with workspace.database.read() as connection:
        return list(Registers(connection, workspace.database.tables).load_operators().values())


def add_decision(workspace: Workspace, decision: Decision, now: str, scan: Path | None = None) -> RecordedDecision:
    """Record a decision on what the law leaves open (art. 15), with its signed paper where there is a scan of it.

    Raises
    ------
    InputError
        If the id, the number or the signatory is blank, the id is taken, or the scan is no paper that can be kept.
    PolicyError
        If the question is a misspelt policy key, or the answer no value that the key takes.
    """
    given = {"--id": decision.id, "--number": decision.number, "--signatory": decision.signatory}
    for option, text in given.items():
        if not text:
            raise InputError(f"{option} is blank: a decision that amounts rest on has an id, a number and a signatory.")
    if decision.id == "hold":
        raise InputError("A decision can't be called 'hold': that is the policy's word for none. Choose another id.")
    decision = replace(decision, answer=check_answer(decision.question, decision.answer))
    content, name = (None, "") if scan is None else (read_scan(scan), scan.name)
    with workspace.database.write() as connection:
        if content is not None:
            digest = Ledger(connection, workspace.database.tables).archive_file("decision", content)
            decision = replace(decision, scan=digest)
        Registers(connection, workspace.database.tables).save_decision(decision, now, name)
    return RecordedDecision(decision, name)


def list_decisions(workspace: Workspace) -> list[RecordedDecision]:
    """Return every recorded decision, by id."""
    with workspace.database.read() as connection:
        registers = Registers(connection, workspace.database.tables)
        names = registers.load_scan_names()
        return [RecordedDecision(d, names[d.id]) for d in registers.load_decisions().values()]


def find_decision(workspace: Workspace, id_: str) -> RecordedDecision:
    """Return a recorded decision; an unknown id is refused."""
    recorded = list_decisions(workspace)
    found = next((r for r in recorded if r.decision.id == id_), None)
    if found is None:
        known = ", ".join(r.decision.id for r in recorded) or "none"
        raise InputError(f"The decision {id_!r} isn't recorded (recorded: {known}). Name one of them with --id.")
    return found


def write_scan(workspace: Workspace, id_: str, out: Path) -> RecordedDecision:
    """Write the kept paper of a decision to a new file, byte for byte."""
    found = find_decision(workspace, id_)
    if not found.decision.scan:
        raise InputError(
            f"The decision {id_!r} was recorded without a scan, and a recorded decision never changes: ask {found.decision.signatory} "
            f"for nº {found.decision.number} of {found.decision.date}."
        )
    if out.exists():
        raise InputError(f"{out} is there already and might be a paper of its own: name another file with --out.")
    with workspace.database.read() as connection:
        content = Ledger(connection, workspace.database.tables).load_archived_file(found.decision.scan)
    replace_file(out, content)
    return found
