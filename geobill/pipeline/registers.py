"""Operators, decisions and the policy that rests on them."""

from dataclasses import replace

from stdnum.br import cnpj

from geobill.domain.finding import Finding
from geobill.domain.invoice import Decision
from geobill.domain.network import KINDS, Operator
from geobill.errors import InputError
from geobill.law.policy import decided_reducer
from geobill.store.registers import Registers
from geobill.store.workspace import Workspace


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


def add_decision(workspace: Workspace, decision: Decision, now: str) -> None:
    """Record a decision on what the law leaves open (art. 15)."""
    with workspace.database.write() as connection:
        Registers(connection, workspace.database.tables).save_decision(decision, now)


def check_policy_rests(workspace: Workspace, key: str, value: str) -> None:
    """Refuse a policy value that rests on a decision which isn't recorded."""
    if key != "above_100_km" or value == "hold":
        return
    with workspace.database.read() as connection:
        decisions = Registers(connection, workspace.database.tables).load_decisions()
    decided_reducer(replace(workspace.settings.policy, above_100_km=value), decisions)
