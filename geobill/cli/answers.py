"""What the commands answer under ``--json``: one object of the contract's form; every figure is decimal text."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from geobill.domain.finding import Finding, ImportReport
from geobill.domain.invoice import Bill, Books, Held, Line
from geobill.domain.money import plain
from geobill.domain.record import to_plain

if TYPE_CHECKING:
    from geobill.pipeline.billing import BilledMonth


def import_answer(report: ImportReport) -> dict[str, Any]:
    """Answer of the three imports."""
    return {
        "batch": report.batch,
        "sha256": report.sha256,
        "read": report.read,
        "accepted": report.accepted,
        "set_aside": [asdict(s) for s in report.set_aside],
        "length_m": report.length_m,
        "bounds": None if report.bounds is None else list(report.bounds),
        "crs": {
            "from": report.crs.source,
            "to": report.crs.target,
            "operation": report.crs.operation,
            "accuracy_m": report.crs.accuracy_m,
        },
        "findings": [finding_answer(f) for f in report.findings],
        **to_plain(report.extra),
    }


def finding_answer(finding: Finding) -> dict[str, Any]:
    """One finding as the contract writes it."""
    return {**asdict(finding), "rows": list(finding.rows)}


def price_answer(bill: Bill) -> dict[str, Any]:
    """Answer of ``price``."""
    return {
        "month": str(bill.month),
        "statute": bill.basis.statute,
        "edition": bill.basis.edition,
        "policy": {use.key: use.value for use in bill.basis.policy},
        "operators": [
            {
                "operator": o.operator.id,
                "total": plain(o.total),
                "reducer": None if o.reducer is None else plain(o.reducer),
                "network_length_m": plain(o.network_length_m),
                "lines": [line_answer(line) for line in o.lines],
            }
            for o in bill.operators
        ],
        "held": [held_answer(h) for h in bill.held],
        "exempt": [to_plain(e) for e in bill.exempt],
        "conservation": {
            "features": {k: int(v) for k, v in asdict(bill.features).items()},
            "metres": _books(bill.metres),
        },
    }


def line_answer(line: Line) -> dict[str, Any]:
    """One line with every factor."""
    return to_plain(line)


def held_answer(held: Held) -> dict[str, Any]:
    """One held stretch or operator."""
    return to_plain(held)


def bill_answer(billed: "BilledMonth") -> dict[str, Any]:
    """Answer of ``bill``: the priced month with its invoices and files."""
    return {
        **price_answer(billed.month.bill),
        "invoices": [
            {
                "number": i.number,
                "operator": i.operator.id,
                "total": plain(i.total),
                "issued_on": i.issued_on.isoformat(),
                "due_on": i.due_on.isoformat(),
                "digest": i.digest,
                "issued_now": i.number in billed.issued_now,
            }
            for i in billed.invoices
        ],
        "files": [str(f) for f in billed.files],
        "findings": [finding_answer(f) for f in billed.findings],
    }


def _books(books: Books) -> dict[str, str]:
    return {k: plain(v) for k, v in asdict(books).items()}
