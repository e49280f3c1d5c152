"""What must hold of a billed month, whatever happened on the way."""

import hashlib
import sqlite3
from contextlib import closing

from geobill.domain.invoice import Invoice
from geobill.domain.record import canonical_json, from_plain, sha256, to_plain
from geobill.store.database import Database
from geobill.store.ledger import Ledger


def query(workspace, sql, *values):
    with closing(sqlite3.connect(workspace / "cadastre.gpkg")) as connection:
        return connection.execute(sql, values).fetchall()


def load_invoices(workspace):
    database = Database.open(workspace / "cadastre.gpkg", 31983)
    with database.read() as connection:
        return Ledger(connection, database.tables).load_invoices()


def load_archived(workspace, number):
    """Archived inputs of an invoice by role."""
    database = Database.open(workspace / "cadastre.gpkg", 31983)
    with database.read() as connection:
        ledger = Ledger(connection, database.tables)
        inputs = query(workspace, "SELECT role, sha256 FROM invoice_inputs WHERE invoice = ?", number)
        return {role: ledger.load_archived(digest) for role, digest in inputs}


def assert_whole(workspace, numbers, month="2026-11"):
    """Assert that exactly these invoices are issued, their sums close, and every document stands whole in the folder."""
    assert query(workspace, "PRAGMA integrity_check") == [("ok",)]
    booked = query(workspace, "SELECT number, sequence, total_cents FROM invoices ORDER BY series_year, sequence")
    assert [n for n, _, _ in booked] == list(numbers)
    assert len({n.split("/")[0] for n in numbers}) > 1 or [s for _, s, _ in booked] == list(range(1, len(booked) + 1))
    for number, _, cents in booked:
        assert query(workspace, "SELECT sum(amount_cents) FROM invoice_lines WHERE invoice = ?", number) == [(cents,)]
    for invoice in load_invoices(workspace):
        assert_invoice_adds_up(workspace, invoice)
    folder = workspace / "documents" / month
    stored = query(
        workspace,
        "SELECT file_name, d.sha256, content, kind FROM documents d JOIN invoices i ON i.number = d.invoice WHERE month = ?",
        month,
    )
    assert len(stored) == 4 * len([n for n in load_invoices(workspace) if str(n.month) == month])
    for name, digest, content, _ in stored:
        assert hashlib.sha256(content).hexdigest() == digest
        assert (folder / name).read_bytes() == content
    for pdf in folder.glob("*.pdf"):
        assert pdf.read_bytes()[:5] == b"%PDF-"
        assert pdf.read_bytes().rstrip().endswith(b"%%EOF")
    drafts = {p.name for p in folder.glob("minuta-*.*")}
    assert {p.name for p in folder.iterdir()} == drafts | {"index.html"} | {name for name, *_ in stored}
    assert not list(workspace.rglob("*.part"))
    assert not list(workspace.rglob("*-journal"))


def assert_invoice_adds_up(workspace, invoice):
    """Lines add up to the invoice, the digest is that of the record, and every input is archived under its digest."""
    assert sum(line.amount for line in invoice.lines) == invoice.total
    record = to_plain(invoice) | {"digest": ""}
    assert sha256(canonical_json(record)) == invoice.digest
    assert from_plain(Invoice, to_plain(invoice)) == invoice
    archived = load_archived(workspace, invoice.number)
    assert {role: sha256(text) for role, text in archived.items()} == dict(invoice.basis.digests)
    assert set(archived) == {"statute", "policy", "decisions", "edition", "network", "equipment"}
