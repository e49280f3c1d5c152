"""The statute that a workspace bills under, with what the city hall recorded about it: acts, and who looked."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path

from sqlalchemy import Connection

from geobill.domain.amendment import Amendment, Confirmation
from geobill.domain.finding import Finding
from geobill.domain.invoice import Invoice
from geobill.errors import InputError, LawError
from geobill.law.amending import Change, amended_text, amendment_block, check_amended
from geobill.law.figures import Figure
from geobill.law.reading import parse_statute
from geobill.law.statutes import STATUTES
from geobill.law.statutes.street_use import StreetUseLaw
from geobill.pipeline.scans import read_scan
from geobill.store.amendments import LawBook
from geobill.store.ledger import Ledger
from geobill.store.statutes import read_statute
from geobill.store.workspace import Workspace


def load_law(workspace: Workspace, connection: Connection, known_until: str | None = None) -> StreetUseLaw:
    """Return the workspace's statute over an open transaction, as it was known before a moment."""
    return load_named(workspace, connection, workspace.settings.statute, known_until)


def load_named(
    workspace: Workspace, connection: Connection, statute: str, known_until: str | None = None
) -> StreetUseLaw:
    """Return a statute by name with the acts and confirmations that the workspace recorded about it."""
    book = LawBook(connection, workspace.database.tables, known_until)
    text = read_statute(workspace.root, statute)
    if statute not in STATUTES and statute == workspace.settings.statute:
        _check_unchanged(text, book.text_issued_under(), statute)
    text = amended_text(text, book.load_amendments(statute), book.load_confirmations(statute))
    return StreetUseLaw(parse_statute(text))


def _check_unchanged(text: str, issued: str | None, statute: str) -> None:
    """Refuse a workspace's own statute whose file was edited after invoices were issued under it."""
    if issued is not None and not issued.startswith(text.rstrip("\n") + "\n"):
        raise LawError(
            f"statutes/{statute}.toml isn't the text under which invoices were issued: their figures would no longer be the "
            "law's. Restore the file from a copy; an act that changed a figure is entered with geobill law amend."
        )


@dataclass(frozen=True)
class LawShown:
    """A statute on a day: the figures in force, and what was entered about it."""

    law: StreetUseLaw
    on: date
    figures: tuple[Figure, ...]
    amendments: tuple[Amendment, ...]
    confirmations: tuple[Confirmation, ...]


def show_law(workspace: Workspace, on: date) -> LawShown:
    """Return the figures in force on a day; refused past the day up to which the law was checked."""
    with workspace.database.read() as connection:
        law = load_law(workspace, connection)
        book = LawBook(connection, workspace.database.tables)
        names = dict.fromkeys(f.name for f in law.figures.figures)
        law.figures.figure("location_index", on)  # says before the law, and past the checked day, what is to be done
        return LawShown(
            law,
            on,
            tuple(law.figures.figure(name, on) for name in names if law.figures.has(name, on)),
            book.load_amendments(law.figures.id),
            book.load_confirmations(law.figures.id),
        )


def confirm_law(
    workspace: Workspace, until: date, by: str, now: str, note: str = "", *, shorten: bool = False
) -> tuple[Confirmation, date | None]:
    """Record that somebody looked whether the statute still stands; return it and the day that stood before.

    Raises
    ------
    InputError
        Without a name.
    LawError
        If the day is before the one that stands (unless ``shorten``), that day itself, or before the law.
    """
    if not by.strip():
        raise InputError("--by is blank: a confirmation says who looked. Nothing was recorded.")
    with workspace.database.write() as connection:
        figures = load_law(workspace, connection).figures
        before = figures.checked.until if figures.checked else None
        if until < figures.published_on:
            raise LawError(
                f"{figures.title} is of {figures.published_on.isoformat()}: it can't be checked up to a day before."
            )
        if before is not None and until == before:
            raise LawError(f"{figures.title} is checked up to {before.isoformat()} already. Nothing was recorded.")
        if before is not None and until < before and not shorten:
            raise LawError(
                f"{figures.title} is checked up to {before.isoformat()}; {until.isoformat()} would shorten that, and months after it "
                "would be refused. If that is meant (somebody looked wrongly), say so with --shorten. Nothing was recorded."
            )
        confirmation = Confirmation(figures.id, until, by.strip(), now, note.strip())
        LawBook(connection, workspace.database.tables).save_confirmation(confirmation)
    return confirmation, before


def amend_law(
    workspace: Workspace, change: Change, file: Path, now: str
) -> tuple[Amendment, StreetUseLaw, tuple[Finding, ...]]:
    """Record an act that changes a figure of the statute, with its paper; no invoice changes.

    Parameters
    ----------
    workspace : Workspace
    change : Change
        What the act sets; its ``paper`` is filled in here.
    file : Path
        The published act, as PDF, PNG or JPEG.
    now : str
        UTC, ISO text with Z.

    Returns
    -------
    Amendment, StreetUseLaw, tuple of Finding
        What was recorded, the statute with it, and which issued months it concerns.

    Raises
    ------
    InputError, LawError
        If the paper can't be read, a name or an article is blank, the figure is unknown, the day is before the law, or
        days would have two figures.
    """
    for option, text in (("--act", change.act), ("--article", change.article), ("--by", change.by)):
        if not text.strip():
            raise InputError(f"{option} is blank: a figure of law says which act set it, where, and who entered it.")
    content = read_scan(file)
    with workspace.database.write() as connection:
        tables = workspace.database.tables
        before, book, ledger = load_law(workspace, connection), LawBook(connection, tables), Ledger(connection, tables)
        kept = replace(change, paper=ledger.archive_file("act", content))
        since = kept.in_force_from or (kept.month.first_day if kept.month else before.figures.published_on)
        id_ = book.next_id()
        amendment = Amendment(
            id=id_,
            statute=before.figures.id,
            name=kept.name,
            figure=amendment_block(id_, kept, before.figures),
            act=kept.act,
            in_force_from=since,
            paper=kept.paper,
            file_name=file.name,
            by=kept.by,
        )
        entered = (*book.load_amendments(before.figures.id), amendment)
        text = amended_text(
            read_statute(workspace.root, before.figures.id), entered, book.load_confirmations(before.figures.id)
        )
        law = StreetUseLaw(check_amended(before.figures, text, kept))
        book.save_amendment(amendment, now)
        findings = _months_concerned(ledger.load_invoices(), law, amendment, change.in_force_until)
        return amendment, law, (*findings, *_still_to_confirm(law, since))


def _months_concerned(
    invoices: Iterable[Invoice], law: StreetUseLaw, amendment: Amendment, until: date | None
) -> tuple[Finding, ...]:
    """Say which issued months take their figures from days on which the act is in force (a month takes its first day's)."""
    late = [
        i
        for i in invoices
        if i.basis.statute == law.figures.id
        and i.month.first_day >= amendment.in_force_from
        and (until is None or i.month.first_day < until)
    ]
    if not late:
        return ()
    named = ", ".join(f"{i.month} ({i.number})" for i in late)
    message = f"issued before {amendment.act} was entered, and so without it: {named}; an issued invoice never changes"
    fix = "See what each month would cost now with geobill correct, which issues credit or difference notes."
    return (Finding("billed_before", "warning", message, fix),)


def _still_to_confirm(law: StreetUseLaw, since: date) -> tuple[Finding, ...]:
    checked = law.figures.checked
    if checked is None or since <= checked.until:
        return ()
    message = f"in force from {since.isoformat()}, after {checked.until.isoformat()}, up to which the law was checked"
    fix = (
        "Those months are refused until somebody has looked whether all other figures still stand: geobill law confirm."
    )
    return (Finding("law_unchecked", "note", message, fix),)
