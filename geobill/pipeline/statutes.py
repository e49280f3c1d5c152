"""A sister law by its figures alone: its file checked, installed in the workspace, and billed under."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Connection

from geobill.domain.finding import Finding
from geobill.domain.record import sha256
from geobill.errors import InputError, LawError
from geobill.law.reading import parse_statute
from geobill.law.statutes import STATUTES
from geobill.law.statutes.family_checks import FamilyReport, check_family
from geobill.pipeline.policy import change_policy
from geobill.store.ledger import Ledger
from geobill.store.permits import PermitRegister
from geobill.store.settings import FILE_NAME, set_statute
from geobill.store.statutes import own_statutes, read_statute, save_statute
from geobill.store.workspace import Workspace, open_workspace


@dataclass(frozen=True)
class StatuteInstalled:
    """A sister law as it was checked and installed; ``policy`` are the keys that the law itself decides."""

    report: FamilyReport
    path: Path
    sha256: str
    policy: tuple[tuple[str, str], ...]
    findings: tuple[Finding, ...]


@dataclass(frozen=True)
class StatuteListed:
    """A statute that a workspace may bill under; ``shipped`` where it comes with geobill."""

    id: str
    title: str
    municipality: str
    shipped: bool
    in_use: bool


def install_statute(workspace: Workspace, like: str, file: Path, by: str, now: str) -> StatuteInstalled:
    """Check a file of figures and articles, install it in the workspace and bill under it from now on.

    Parameters
    ----------
    workspace : Workspace
    like : str
        The statute of the same family that geobill ships.
    file : Path
        TOML, as the family's own.
    by : str
        Who does it, for the policy's diary.
    now : str
        UTC, ISO text with Z.

    Raises
    ------
    InputError
        If the file can't be read, or invoices or decrees were issued under a statute already.
    LawError
        If there is no such family, or the law can't be said in the family's figures.
    """
    if like not in STATUTES:
        raise LawError(
            f"There is no statute {like!r} for another to be like. Those that geobill ships: {', '.join(STATUTES)}."
        )
    text = _read(file)
    report = check_family(text, tuple(STATUTES))
    figures = report.law.figures
    with workspace.database.write() as connection:
        _refuse_where_issued(workspace, connection, figures.id)
        path = save_statute(workspace.root, figures.id, text)
        set_statute(workspace.root / FILE_NAME, figures.id)
    opened = open_workspace(workspace.root, now)
    fixed = _fixed_by_law(opened, report, by, now)
    return StatuteInstalled(report, path, sha256(text), fixed, tuple(_other_places(opened, report)))


def list_statutes(workspace: Workspace) -> tuple[StatuteListed, ...]:
    """Return the statutes that a workspace may bill under: those that geobill ships, and its own."""
    found = []
    for name in (*STATUTES, *own_statutes(workspace.root)):
        figures = parse_statute(read_statute(workspace.root, name))
        in_use = name == workspace.settings.statute
        found.append(StatuteListed(name, figures.title, figures.municipality, name in STATUTES, in_use))
    return tuple(found)


def _read(file: Path) -> str:
    try:
        return file.read_bytes().decode("utf-8-sig").replace("\r\n", "\n")
    except OSError as fault:
        raise InputError(f"{file} can't be read: {fault.strerror}. Nothing was installed.") from None
    except UnicodeDecodeError:
        raise InputError(f"{file} isn't text in UTF-8: save it so. Nothing was installed.") from None


def _refuse_where_issued(workspace: Workspace, connection: Connection, statute: str) -> None:
    tables = workspace.database.tables
    issued = [(f"invoice {i.number}", i.basis.statute) for i in Ledger(connection, tables).load_invoices()]
    files = PermitRegister(connection, tables).load_files().values()
    issued += [(f"decree {d.number}", d.draft.basis.statute) for file in files for d in file.decrees]
    if not issued:
        return
    what, under = issued[0]
    if under == statute:
        raise InputError(
            f"{what} rests on {statute} as it is installed: its figures don't change under what is issued. An act that changed a "
            "figure is entered with geobill law amend. Nothing was installed."
        )
    raise InputError(
        f"{what} (and {len(issued) - 1} more) was issued under {under}: a workspace's books are kept under one statute. Make another "
        f"workspace for {statute} (geobill init). Nothing was installed."
    )


def _fixed_by_law(workspace: Workspace, report: FamilyReport, by: str, now: str) -> tuple[tuple[str, str], ...]:
    """Write the policy that the law itself decides, so that every memo prints it as it is applied."""
    checked = report.law.figures.checked
    method = report.law.method(checked.until) if checked else None
    if method is None:
        return ()
    if workspace.settings.policy.reducer_method != method:
        change_policy(workspace, "reducer_method", method, since=None, decision=None, by=by, now=now)
    return (("reducer_method", method),)


def _other_places(workspace: Workspace, report: FamilyReport) -> Iterable[Finding]:
    """Say where the settings still speak of another town than the law."""
    figures, settings = report.law.figures, workspace.settings
    place = settings.municipality.name, settings.calendar.state
    if place != (figures.municipality, figures.state):
        message = (
            f"geobill.toml is that of {place[0]} ({place[1]}), the law that of {figures.municipality} ({figures.state}): holidays, "
            "limits and the issuer on paper are the settings'"
        )
        yield Finding(
            "other_municipality", "warning", message, "Correct [municipality] and [authority] in geobill.toml first."
        )
    for note in report.notes:
        yield Finding("statute_note", "note", note)
