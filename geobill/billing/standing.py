"""What was demanded of an operator for a month: the standing invoice and the lines of every note on that month."""

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal

from geobill.domain.dates import BillingMonth
from geobill.domain.invoice import Invoice, Line
from geobill.domain.note import CREDIT, DIFFERENCE, FINE, SINGLE_PAYMENT, Note, NoteLine

ZERO = Decimal("0.00")


@dataclass(frozen=True)
class Demanded:
    """An operator's month as it was demanded; fines don't count, they are no price of a month (art. 9 § 2)."""

    operator: str
    month: BillingMonth
    invoice: Invoice | None
    notes: tuple[tuple[Note, NoteLine], ...] = ()

    @property
    def total(self) -> Decimal:
        """Return what the invoice and all notes demand together, in reais."""
        return sum(self.by_kind.values(), ZERO)

    @property
    def by_kind(self) -> dict[str, Decimal]:
        """Return what was demanded by ``invoice`` and by kind of note, in reais."""
        found = {"invoice": self.invoice.total} if self.invoice else {}
        for note, line in self.notes:
            found[note.kind] = found.get(note.kind, ZERO) + line.amount
        return found

    @property
    def correction(self) -> tuple[Note, NoteLine] | None:
        """Return the last credit or difference note on the month: it tells how the month was known then."""
        return next((pair for pair in reversed(self.notes) if pair[0].kind in (CREDIT, DIFFERENCE)), None)

    @property
    def paid_at_once(self) -> Note | None:
        """Return the single payment that the month is part of (art. 8, sole paragraph)."""
        return next((note for note, _ in self.notes if note.kind == SINGLE_PAYMENT), None)

    @property
    def lines(self) -> tuple[Line, ...] | None:
        """Return the lines of the month as it was last billed; None where it was paid at once and not corrected since."""
        if self.correction is not None:
            return self.correction[1].lines
        return None if self.invoice is None else self.invoice.lines

    @property
    def is_billed(self) -> bool:
        """Whether the month has an invoice, or was paid at once."""
        return self.invoice is not None or self.paid_at_once is not None

    @property
    def is_partly_demanded(self) -> bool:
        """Whether only past months of a case were demanded for it: an invoice of its own would demand those metres twice."""
        return bool(self.notes) and not self.is_billed


def demanded(month: BillingMonth, invoices: Iterable[Invoice], notes: Iterable[Note]) -> dict[str, Demanded]:
    """Gather what was demanded for a month, by operator.

    Parameters
    ----------
    month : BillingMonth
    invoices : iterable of Invoice
        Standing invoices, of the month or of others.
    notes : iterable of Note
        Issued notes in the order of their numbers.
    """
    issued = {i.operator.id: i for i in invoices if i.month == month}
    lines: dict[str, list[tuple[Note, NoteLine]]] = {}
    for note in notes:
        if note.kind != FINE:
            lines.setdefault(note.operator.id, []).extend((note, line) for line in note.lines if line.month == month)
    owners = {*issued, *(owner for owner, found in lines.items() if found)}
    return {o: Demanded(o, month, issued.get(o), tuple(lines.get(o, ()))) for o in sorted(owners)}
