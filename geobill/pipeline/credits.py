"""Credits from waived revenue (art. 14): recorded, and listed with what is left of them."""

from datetime import date

from geobill.domain.credit import Credit, OpenCredit
from geobill.errors import InputError
from geobill.store.credits import CreditBook
from geobill.store.registers import Registers
from geobill.store.workspace import Workspace


def add_credit(workspace: Workspace, credit: Credit, *, today: date, now: str) -> OpenCredit:
    """Record a credit of an operator.

    Raises
    ------
    InputError
        If id or law is blank, the amount isn't more than nothing or has fractions of a cent, its day is still to come,
        the operator is unknown, or the id is taken.
    """
    if not credit.id or not credit.law:
        raise InputError(
            "A credit needs an id and the municipal law that waives the revenue (--law): art. 14 allows set-off against no other "
            "credit. Nothing was recorded."
        )
    if credit.amount <= 0 or credit.amount != credit.amount.quantize(credit.amount.__class__("0.01")):
        raise InputError(
            f"A credit of R$ {credit.amount} can't be set off: give more than nothing, in whole cents. Nothing was recorded."
        )
    if credit.on > today:
        raise InputError(
            f"The credit is of {credit.on.isoformat()}, which is still to come: record it once it is granted. Nothing was recorded."
        )
    with workspace.database.write() as connection:
        known = Registers(connection, workspace.database.tables).load_operators()
        if credit.operator not in known:
            raise InputError(
                f"There is no operator {credit.operator!r} (known: {', '.join(known) or 'none'}). Nothing was recorded."
            )
        CreditBook(connection, workspace.database.tables).save(credit, now)
    return OpenCredit(credit, credit.amount)


def list_credits(
    workspace: Workspace, *, operator: str | None, on: date | None, used_by: str | None
) -> list[OpenCredit]:
    """List credits, oldest first, with what is left of each; as they were on a day where one is named.

    ``used_by`` is the end of that day in UTC: later uses don't count.
    """
    with workspace.database.read() as connection:
        found = CreditBook(connection, workspace.database.tables).load(used_by=used_by)
    return [c for c in found if operator in (None, c.credit.operator) and (on is None or c.credit.on <= on)]
