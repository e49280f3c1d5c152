"""A month billed: numbers, lines, inputs and documents kept in one transaction, then written as files."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import Any

import geopandas as gpd

from geobill.billing.month import check_dates, draft_decree, draft_invoice, due_date, is_banking_day, issue_findings
from geobill.documents.maps import DECREE_MAP_MM, INVOICE_MAP_MM, NetworkMap, network_map
from geobill.documents.render import render_annex, render_decree_draft, render_invoice
from geobill.domain.dates import BillingMonth
from geobill.domain.finding import Finding
from geobill.domain.invoice import Bill, Invoice, OperatorBill
from geobill.domain.record import canonical_json, sha256
from geobill.errors import InputError, StoreError
from geobill.frames import EQUIPMENT, SEGMENTS
from geobill.intake.coverage import draw_coverage
from geobill.law.statutes.caieiras_lei_3057_2001 import StreetUseLaw
from geobill.pipeline.month import Month, price_stored
from geobill.pricing.in_force import due_rows, standing_rows
from geobill.store.ledger import Ledger
from geobill.store.networks import Cadastre
from geobill.store.settings import Settings, holiday_on, replace_file
from geobill.store.workspace import Workspace

Say = Callable[[str], None]


@dataclass(frozen=True)
class BilledMonth:
    """What a run of ``bill`` did: invoices of the month, those issued now, files written, what to know."""

    month: Month
    invoices: tuple[Invoice, ...]
    issued_now: tuple[str, ...]
    files: tuple[Path, ...]
    findings: tuple[Finding, ...]


def bill_month(
    workspace: Workspace,
    month: BillingMonth,
    *,
    issued_on: date,
    due_on: date | None,
    out: Path,
    now: str,
    say: Say = lambda _: None,
) -> BilledMonth:
    """Issue a month's invoices in one transaction, then write their documents and the drafts of decrees.

    Numbers, lines, inputs and the documents' bytes are kept together or not at all. Files are written after that,
    each whole or not at all, so a run that was cut off is finished by the next: it issues nothing twice.
    """
    settings = workspace.settings
    _check_folder(out)
    with workspace.database.write() as connection:
        cadastre = Cadastre(connection, workspace.database.tables, workspace.database.srid)
        ledger = Ledger(connection, workspace.database.tables)
        say(f"pricing {month}")
        found = price_stored(workspace, connection, month)
        issued = {i.operator.id: i for i in ledger.load_invoices(month)}
        waiting = [o for o in found.bill.operators if o.total > 0 and o.operator.id not in issued]
        due = due_on or _due(settings, found.law, month)
        if waiting:
            check_dates(issued_on, due, month)
        findings = (
            *issue_findings(month, issued_on, due_on is not None, len(waiting), settings.authority),
            *_differences(found.bill, issued),
        )
        coverage = _coverage(cadastre, found, settings, now)
        new = []
        for mine in waiting:
            number = f"{issued_on.year}/{ledger.next_number(issued_on.year):06d}"
            say(f"invoice {number}: {mine.operator.name}")
            new.append(_issue(ledger, found, mine, settings, coverage, number, issued_on, due, now))
        numbers = [i.number for i in ledger.load_invoices(month)]
        files = [(d.file_name, d.content) for d in ledger.load_documents(numbers)]
        invoices = tuple(ledger.load_invoices(month))
        for mine in found.bill.operators:
            say(f"draft of decree: {mine.operator.name}")
            files.append((f"minuta-{_slug(mine.operator.id)}.pdf", _render_draft(found, mine, settings, coverage)))
    try:
        written = _write_files(out, files)
    except StoreError as fault:
        raise StoreError(
            f"{fault} The invoices of {month} are issued and kept ({', '.join(numbers) or 'none'}); only their files are missing: "
            "then bill the month again, which issues nothing twice and writes them."
        ) from None
    return BilledMonth(found, invoices, tuple(i.number for i in new), written, findings)


def _issue(
    ledger: Ledger,
    found: Month,
    mine: OperatorBill,
    settings: Settings,
    coverage: gpd.GeoDataFrame,
    number: str,
    issued_on: date,
    due_on: date,
    now: str,
) -> Invoice:
    inputs = {role: ledger.archive(role, content) for role, content in _inputs(found, mine, settings).items()}
    bill = replace(found.bill, basis=replace(found.bill.basis, digests=tuple(sorted(inputs.items()))))
    invoice = draft_invoice(bill, mine, found.law, settings.authority, number, issued_on, due_on)
    ledger.save_invoice(invoice, inputs, now)
    stem = f"{number.replace('/', '-')}-{_slug(mine.operator.id)}"
    ledger.save_document(
        number, "fatura", f"fatura-{stem}.pdf", render_invoice(invoice, _invoice_map(found, mine, coverage))
    )
    ledger.save_document(number, "anexo", f"anexo-{stem}.csv", render_annex(invoice, _annex_rows(found, mine)))
    return invoice


def _inputs(found: Month, mine: OperatorBill, settings: Settings) -> dict[str, str]:
    """Everything an operator's invoice was computed from, as canonical text by role."""
    owner = mine.operator.id

    def rows(frame: gpd.GeoDataFrame, columns: tuple[str, ...]) -> str:
        own = frame[frame["operator"] == owner] if "operator" in frame else frame
        names = [c for c in columns if c != "geometry"]
        values = own[names].astype(object).where(own[names].notna(), None)
        return canonical_json(
            [[*row, g.wkb_hex] for row, g in zip(values.itertuples(index=False, name=None), own.geometry, strict=True)]
        )

    return {
        "statute": found.law.figures.source,
        "policy": canonical_json(settings.policy.as_text()),
        "decisions": canonical_json(list(found.decisions.values())),
        "edition": rows(found.zones, ("source_row", "zone", "land_value", "geometry")),
        "network": rows(found.segments, SEGMENTS),
        "equipment": rows(found.equipment, EQUIPMENT),
    }


def _differences(bill: Bill, issued: dict[str, Invoice]) -> tuple[Finding, ...]:
    """Operators whose issued invoice is no longer what the month would cost: said, never changed."""
    found = []
    now = {mine.operator.id: mine for mine in bill.operators}
    for owner, invoice in issued.items():
        mine = now.get(owner)  # None where its rows were taken back, or it is exempt by now
        if mine is None or invoice.lines != mine.lines:
            found.append(
                Finding(
                    "differs_from_issued",
                    "warning",
                    f"invoice {invoice.number} of {owner} stands at R$ {invoice.total}; "
                    f"the month would now be R$ {mine.total if mine else '0.00'}",
                    "an issued invoice never changes; a correction is a credit or difference note",
                )
            )
    return tuple(found)


def _coverage(cadastre: Cadastre, found: Month, settings: Settings, now: str) -> gpd.GeoDataFrame:
    """Return the drawn coverage under the policy in force, drawing and keeping it where the policy changed since import."""
    policy, max_gap_m = settings.policy, settings.policy.as_text()["max_gap_m"]
    if found.batch is None:
        return found.zones
    if not cadastre.has_coverage(found.batch, policy.on_overlap, max_gap_m):
        drawn = draw_coverage(found.zones, policy.on_overlap, float(policy.max_gap_m))  # type: ignore[arg-type]
        cadastre.save_coverage(drawn, found.batch, policy.on_overlap, max_gap_m, now)
    return cadastre.load_coverage(found.batch, policy.on_overlap, max_gap_m)


def _invoice_map(found: Month, mine: OperatorBill, coverage: gpd.GeoDataFrame) -> NetworkMap:
    """Map of what the month charges."""
    return _map(found, mine, coverage, INVOICE_MAP_MM, lambda rows: due_rows(rows, found.bill.month, found.policy))


def _decree_map(found: Month, mine: OperatorBill, coverage: gpd.GeoDataFrame) -> NetworkMap:
    """Map of what a decree would grant: what stands on its day of reference and isn't clandestine."""
    return _map(found, mine, coverage, DECREE_MAP_MM, lambda rows: standing_rows(rows, mine.whole_month.on))


def _map(
    found: Month,
    mine: OperatorBill,
    coverage: gpd.GeoDataFrame,
    size_mm: tuple[float, float],
    shown: Callable[[gpd.GeoDataFrame], gpd.GeoDataFrame],
) -> NetworkMap:
    owner = mine.operator.id
    segments, equipment = (shown(f[f["operator"] == owner]) for f in (found.segments, found.equipment))
    return network_map(segments, coverage, *size_mm, equipment=equipment)


def _render_draft(found: Month, mine: OperatorBill, settings: Settings, coverage: gpd.GeoDataFrame) -> bytes:
    digests = tuple(sorted((role, sha256(content)) for role, content in _inputs(found, mine, settings).items()))
    basis = replace(found.bill.basis, digests=digests)
    draft = draft_decree(mine, basis, found.law, settings.authority, settings.policy, found.bill.month)
    return render_decree_draft(draft, _decree_map(found, mine, coverage))


def _annex_rows(found: Month, mine: OperatorBill) -> list[dict[str, Any]]:
    owner = mine.operator.id
    pieces, cabinets = found.priced.pieces, found.priced.cabinets
    rows = pieces[(pieces["operator"] == owner) & pieces["line"].notna()].to_dict("records")
    rows += cabinets[cabinets["operator"] == owner].to_dict("records")
    return sorted(rows, key=lambda r: (r["line"], str(r.get("segment") or r.get("equipment"))))


def _due(settings: Settings, law: StreetUseLaw, month: BillingMonth) -> date:
    calendar = settings.calendar

    def banking(day: date) -> bool:
        return is_banking_day(
            day,
            state=calendar.state,
            local_holiday=lambda d: any(holiday_on(h, d) for h in calendar.local_holidays),
            carnival=calendar.carnival_without_banking,
            corpus_christi=calendar.corpus_christi_without_banking,
        )

    return due_date(month, int(law.figures.value("due_day", month.first_day)), settings.policy, banking)


def _check_folder(out: Path) -> None:
    """Refuse a folder for documents that can't be one, before anything is issued."""
    there = next(p for p in (out, *out.absolute().parents) if p.exists())
    if not there.is_dir():
        raise InputError(f"{there} is a file: the documents need a folder. Name another with --out DIR.")


def _write_files(out: Path, files: list[tuple[str, bytes]]) -> tuple[Path, ...]:
    """Write documents, each whole or not at all; one that stands there unchanged is left alone."""
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as fault:
        raise StoreError(f"The folder {out} can't be made: {fault.strerror}. Name another with --out DIR.") from None
    for partial in out.glob(".*.part"):
        with suppress(OSError):  # in use by another run
            partial.unlink()  # left by a run that was cut off
    for name, content in files:
        target = out / name
        if not target.is_file() or target.read_bytes() != content:
            replace_file(target, content)
    return tuple(out / name for name, _ in files)


def _slug(text: str) -> str:
    """Return an operator's id as part of a file name: what a file system might take amiss becomes a hyphen."""
    plain = "".join(c if c.isalnum() and c.isascii() else "-" for c in text)[:60].lower()
    return plain if plain == text else f"{plain}-{sha256(text)[:6]}"
