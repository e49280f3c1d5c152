"""What stands of a month in the books before it is billed: what was demanded, what is set off, which credits wait."""

from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy import Connection

from geobill.billing.set_off import set_off
from geobill.billing.standing import Demanded, demanded
from geobill.domain.credit import OpenCredit
from geobill.domain.dates import BillingMonth
from geobill.domain.invoice import OperatorBill, SetOff
from geobill.pipeline.month import Month
from geobill.store.credits import CreditBook
from geobill.store.ledger import Ledger
from geobill.store.notes import NoteBook
from geobill.store.workspace import Workspace


@dataclass(frozen=True)
class Standing:
    """A priced month beside the books, by operator.

    ``waiting`` are operators with something due and neither an invoice nor a note on the month, in the order of their
    numbers. ``set_offs`` are those of standing invoices, and for who waits those that an invoice would have now.
    ``undecided`` are credits of who waits, where nobody has decided which share may be set off (art. 14).
    """

    demanded: Mapping[str, Demanded]
    waiting: tuple[OperatorBill, ...]
    set_offs: Mapping[str, tuple[SetOff, ...]]
    undecided: tuple[OpenCredit, ...]


def load_demanded(workspace: Workspace, connection: Connection, month: BillingMonth) -> dict[str, Demanded]:
    """Return what was demanded for a month, by operator; cancelled invoices don't count."""
    tables = workspace.database.tables
    invoices = Ledger(connection, tables).load_invoices(month, standing=True)
    return demanded(month, invoices, NoteBook(connection, tables).load())


def load_standing(workspace: Workspace, connection: Connection, found: Month) -> Standing:
    """Return what stands of a priced month, over an open transaction."""
    known = load_demanded(workspace, connection, found.bill.month)
    waiting = tuple(o for o in found.bill.operators if o.total > 0 and o.operator.id not in known)
    open_credits = [c for c in CreditBook(connection, workspace.database.tables).load() if c.left > 0]
    share = found.policy.set_off_share
    set_offs = {o: d.invoice.set_offs for o, d in known.items() if d.invoice is not None}
    undecided = []
    for mine in waiting:
        credits = [c for c in open_credits if c.credit.operator == mine.operator.id]
        set_offs[mine.operator.id] = set_off(mine.total, share, credits)
        undecided += credits if share is None else []
    return Standing(known, waiting, {o: s for o, s in set_offs.items() if s}, tuple(undecided))
