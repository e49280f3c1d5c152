"""The ledger: issued invoices, what they were computed from, and their documents. Rows are added, never changed."""

import json
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any

from sqlalchemy import Connection, func, select

from geobill.domain.cancellation import Cancellation
from geobill.domain.dates import BillingMonth
from geobill.domain.invoice import Invoice, Line
from geobill.domain.money import from_cents, to_cents
from geobill.domain.record import canonical_json, from_plain, sha256, to_plain
from geobill.store.tables import Tables

CANCELLED = "cancelled"


@dataclass(frozen=True)
class StoredDocument:
    """A document as it was issued: the very bytes."""

    invoice: str
    kind: str
    file_name: str
    sha256: str
    content: bytes


class Ledger:
    """Issued invoices, over one open transaction."""

    def __init__(self, connection: Connection, tables: Tables):
        self._c, self._t = connection, tables

    def next_number(self, year: int) -> int:
        """Return the next number of a year's gapless series; it is taken when the transaction is kept."""
        series = (self._t.invoices.c, self._t.notes.c)  # invoices and notes share it
        last = (self._c.execute(select(func.max(s.sequence)).where(s.series_year == year)).scalar() for s in series)
        return max(n or 0 for n in last) + 1

    def save_invoice(self, invoice: Invoice, inputs: Mapping[str, str], now: str) -> None:
        """Book an invoice, its lines and the digests of its inputs (role to SHA-256, archived before)."""
        year, sequence = invoice.number.split("/")
        self._c.execute(
            self._t.invoices.insert().values(
                number=invoice.number,
                series_year=int(year),
                sequence=int(sequence),
                month=str(invoice.month),
                operator=invoice.operator.id,
                issued_on=invoice.issued_on.isoformat(),
                due_on=invoice.due_on.isoformat(),
                total_cents=to_cents(invoice.total),
                digest=invoice.digest,
                record=canonical_json(invoice),
                issued_at=now,
            )
        )
        rows = [line_row(invoice.number, n, line) for n, line in enumerate(invoice.lines, 1)]
        self._c.execute(self._t.invoice_lines.insert(), rows)
        if inputs:
            inputs_rows = [{"invoice": invoice.number, "role": role, "sha256": s} for role, s in sorted(inputs.items())]
            self._c.execute(self._t.invoice_inputs.insert(), inputs_rows)

    def load_invoices(self, month: BillingMonth | None = None, *, standing: bool = False) -> list[Invoice]:
        """Issued invoices, all or of a month, in the order of their numbers; ``standing`` leaves out cancelled ones."""
        i = self._t.invoices.c
        query = select(i.record).order_by(i.series_year, i.sequence)
        if month is not None:
            query = query.where(i.month == str(month))
        if standing:
            acts = self._t.invoice_acts.c
            query = query.where(i.number.not_in(select(acts.invoice).where(acts.kind == CANCELLED)))
        return [from_plain(Invoice, json.loads(record)) for record in self._c.execute(query).scalars()]

    def find_invoiced(self, operator: str) -> list[BillingMonth]:
        """Months of an operator for which an invoice stands, in the order of their numbers."""
        i, acts = self._t.invoices.c, self._t.invoice_acts.c
        cancelled = select(acts.invoice).where(acts.kind == CANCELLED)
        query = select(i.month).where(i.operator == operator, i.number.not_in(cancelled))
        return [BillingMonth.parse(m) for m in self._c.execute(query.order_by(i.series_year, i.sequence)).scalars()]

    def sum_by_month(self) -> list[tuple[BillingMonth, int, Decimal]]:
        """Months with invoices that stand, the latest first: how many, and what they demand together, in reais."""
        i, acts = self._t.invoices.c, self._t.invoice_acts.c
        cancelled = select(acts.invoice).where(acts.kind == CANCELLED)
        sums = select(i.month, func.count(), func.sum(i.total_cents)).where(i.number.not_in(cancelled))
        rows = self._c.execute(sums.group_by(i.month).order_by(i.month.desc()))
        return [(BillingMonth.parse(month), count, from_cents(int(cents))) for month, count, cents in rows]

    def find_documents(self, invoice: str) -> list[str]:
        """File names of the documents that were kept with an invoice."""
        d = self._t.documents.c
        return list(self._c.execute(select(d.file_name).where(d.invoice == invoice).order_by(d.kind)).scalars())

    def save_cancellation(self, act: Cancellation, now: str) -> None:
        """Book that an invoice is cancelled; the invoice itself stays as it is."""
        row = {"invoice": act.invoice, "kind": CANCELLED, "act_on": act.on.isoformat(), "done_by": act.by}
        self._c.execute(self._t.invoice_acts.insert().values(**row, reason=act.reason, recorded_at=now))

    def load_cancellations(self) -> dict[str, Cancellation]:
        """Return cancelled invoices by number."""
        a = self._t.invoice_acts.c
        rows = self._c.execute(select(a.invoice, a.act_on, a.done_by, a.reason).where(a.kind == CANCELLED))
        return {r.invoice: Cancellation(r.invoice, date.fromisoformat(r.act_on), r.done_by, r.reason) for r in rows}

    def archive(self, kind: str, content: str) -> str:
        """Keep a text under its SHA-256, once; return the digest."""
        return self.archive_file(kind, content.encode())

    def archive_file(self, kind: str, content: bytes) -> str:
        """Keep a file (a scanned paper, an act) under its SHA-256, once; return the digest."""
        digest = sha256(content)
        known = select(self._t.archive.c.sha256).where(self._t.archive.c.sha256 == digest)
        if self._c.execute(known).first() is None:
            row = {"sha256": digest, "kind": kind, "content": zlib.compress(content, 6)}
            self._c.execute(self._t.archive.insert().values(**row))
        return digest

    def load_archived(self, digest: str) -> str:
        """Return an archived text by its SHA-256."""
        return self.load_archived_file(digest).decode()

    def load_archived_file(self, digest: str) -> bytes:
        """Return an archived file's bytes by their SHA-256."""
        packed = self._c.execute(
            select(self._t.archive.c.content).where(self._t.archive.c.sha256 == digest)
        ).scalar_one()
        return zlib.decompress(packed)

    def save_document(self, invoice: str, kind: str, file_name: str, content: bytes) -> None:
        """Keep a document's bytes as issued."""
        self._c.execute(
            self._t.documents.insert().values(
                invoice=invoice, kind=kind, file_name=file_name, sha256=sha256(content), content=content
            )
        )

    def load_documents(self, invoices: Iterable[str]) -> list[StoredDocument]:
        """Documents of some invoices, as issued."""
        d = self._t.documents.c
        query = select(d.invoice, d.kind, d.file_name, d.sha256, d.content)
        return [
            StoredDocument(**row._mapping)
            for number in invoices
            for row in self._c.execute(query.where(d.invoice == number).order_by(d.kind))
        ]


def line_row(invoice: str, number: int, line: Line) -> dict[str, Any]:
    """Return a line as its row in the table of lines."""

    def decimal(name: str) -> str | None:
        value = getattr(line, name)
        return None if value is None else to_plain(value)

    figures = ("land_value", "length_m", "billed_width_m", "volume_m3", "price_per_m3", "location_index")
    return {
        "invoice": invoice,
        "line": number,
        "kind": line.kind,
        "service": line.service,
        "permit": line.permit,
        "zone": line.zone,
        **{n: decimal(n) for n in (*figures, "depreciation_index", "reducer", "multiplier", "price_per_piece")},
        "pieces": None if line.pieces is None else str(line.pieces),
        "days": line.days,
        "month_days": line.month_days,
        "amount_cents": to_cents(line.amount),
        "articles": "; ".join(line.articles),
        "flags": "; ".join(line.flags),
    }
