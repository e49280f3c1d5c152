"""What the commands answer under ``--json``: one object of the contract's form; every figure is decimal text."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from geobill.domain.finding import Finding, ImportReport
from geobill.domain.invoice import Bill, Books, Held, Line
from geobill.domain.money import plain
from geobill.domain.record import to_plain

if TYPE_CHECKING:
    from geobill.domain.apostila import Cause, PriceChange
    from geobill.domain.note import Note
    from geobill.domain.permit import Act, Decree
    from geobill.pipeline.billing import BilledMonth
    from geobill.pipeline.decrees import DecreeDraftMade
    from geobill.pipeline.permits import PermitState


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
        "layers": [
            {"name": one.name, "read": one.read, "accepted": one.accepted, "length_m": one.length_m}
            for one in report.layers
        ],
        "findings": [finding_answer(f) for f in report.findings],
        "quarantine": list(report.quarantine),
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
                "reducer": to_plain(o.reducer),
                "network_length_m": plain(o.network_length_m),
                "lines": [line_answer(line) for line in o.lines],
            }
            for o in bill.operators
        ],
        "held": [held_answer(h) for h in bill.held],
        "exempt": [to_plain(e) for e in bill.exempt],
        "suspended": [to_plain(s) for s in bill.suspended],
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


def note_answer(note: "Note") -> dict[str, Any]:
    """One note, month by month."""
    return {
        "number": note.number,
        "kind": note.kind,
        "operator": note.operator.id,
        "issued_on": note.issued_on.isoformat(),
        "due_on": None if note.due_on is None else note.due_on.isoformat(),
        "total": plain(note.total),
        "reason": note.cause,
        "by": note.by,
        "case": note.case,
        "digest": note.digest,
        "lines": [{"causes": [], **to_plain(line)} for line in note.lines],
        "held": [held_answer(h) for h in note.held],
    }


def bill_answer(billed: "BilledMonth") -> dict[str, Any]:
    """Answer of ``bill``: the priced month with its invoices and files."""
    return {
        **price_answer(billed.month.bill),
        "invoices": [
            {
                "number": i.number,
                "operator": i.operator.id,
                "total": plain(i.total),
                "payable": plain(i.payable),
                "issued_on": i.issued_on.isoformat(),
                "due_on": i.due_on.isoformat(),
                "digest": i.digest,
                "issued_now": i.number in billed.issued_now,
            }
            for i in billed.invoices
        ],
        "files": [str(f) for f in billed.files],
        "decrees": [change_answer(c) for c in billed.decrees],
        "findings": [finding_answer(f) for f in billed.findings],
    }


def permit_answer(state: "PermitState", *, whole: bool = False) -> dict[str, Any]:
    """One permit as ``permit list`` shows it; ``whole`` adds every act and decree."""
    file = state.file
    data = {
        **to_plain(file.permit),
        "state": file.state,
        "decree": None if file.decree is None else decree_answer(file.decree),
        "recorded_by": file.decrees[-1].number if file.decrees else None,
        "monthly": decree_answer(file.decrees[-1])["monthly"] if file.decrees else None,
        "removed_on": None if file.removed_on is None else file.removed_on.isoformat(),
        "planned_m": plain(state.planned_m),
        "standing_m": plain(state.standing_m),
        "planned_m3": plain(state.planned_m3),
        "standing_m3": plain(state.standing_m3),
        "missing": [asdict(m) for m in state.missing],
    }
    if whole:
        data |= {"acts": [act_answer(a) for a in file.acts], "decrees": [decree_answer(d) for d in file.decrees]}
    return data


def act_answer(act: "Act") -> dict[str, Any]:
    """One act of a permit's file."""
    return {k: v for k, v in to_plain(act).items() if k != "permit"}


def decree_answer(decree: "Decree") -> dict[str, Any]:
    """One decree or apostila with the price that it records."""
    price = decree.draft.price
    return {
        "number": decree.number,
        "permit": decree.permit,
        "amends": decree.amends,
        "date": decree.date.isoformat(),
        "signatory": decree.signatory,
        "published_on": decree.published_on.isoformat(),
        "monthly": None if price.total is None else plain(price.total),
        "reducer": to_plain(price.reducer),
        "network_length_m": plain(price.network_length_m),
        "planned_m": plain(price.planned_m),
        "edition": decree.draft.basis.edition,
        "digest": decree.draft.digest,
    }


def decree_draft_answer(made: "DecreeDraftMade") -> dict[str, Any]:
    """Answer of ``decree draft``."""
    draft, price = made.drafted.draft, made.drafted.draft.price
    return {
        "permit": price.permit,
        "operator": draft.operator.id,
        "on": price.on.isoformat(),
        "monthly": None if price.total is None else plain(price.total),
        "deposit": None if draft.deposit is None else plain(draft.deposit),
        "reducer": to_plain(price.reducer),
        "network_length_m": plain(price.network_length_m),
        "planned_m": plain(price.planned_m),
        "held_m": plain(price.held_m),
        "edition": draft.basis.edition,
        "missing": [asdict(m) for m in made.missing],
        "file": str(made.file),
        "files": [str(f) for f in made.files],
    }


def change_answer(change: "PriceChange") -> dict[str, Any]:
    """One issued decree whose price changed; ``now`` is null where it is held, with the article."""
    total = change.draft.price.total
    return {
        "decree": change.decree.number,
        "permit": change.file.permit.number,
        "operator": change.file.permit.operator,
        "recorded": plain(change.recorded),
        "now": None if total is None else plain(total),
        "article": "7" if total is None else "6 § 1",
        "causes": [cause_answer(c) for c in change.causes],
    }


def cause_answer(cause: "Cause") -> dict[str, Any]:
    """One cause of a changed price."""
    return {"cause": cause.cause, "what": cause.what, "from": cause.before, "to": cause.now}


def _books(books: Books) -> dict[str, str]:
    return {k: plain(v) for k, v in asdict(books).items()}
