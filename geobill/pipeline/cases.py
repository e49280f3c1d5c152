"""Cases, step by step: each is checked against the law, recorded once and for good, and put on paper where the law asks for one."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import date, timedelta
from decimal import Decimal
from pathlib import Path

from sqlalchemy import Connection

from geobill.billing.cases import STEPS, find_blocks, find_obstacles, is_suspended, last_day, notice_term
from geobill.billing.permits import Missing
from geobill.billing.terms import Term, open_terms
from geobill.documents.case_papers import Figures, paper_of, render_case_paper
from geobill.documents.overrides.folder import read_templates
from geobill.domain import case as acts
from geobill.domain.case import KINDS, Case, CaseAct, CaseFile, doubled_from, doubled_until
from geobill.domain.dates import BillingMonth
from geobill.domain.finding import Finding
from geobill.domain.invoice import Decision
from geobill.errors import InputError, LawError
from geobill.law.policy import decision_behind
from geobill.law.statutes.street_use import StreetUseLaw
from geobill.pipeline.backdating import find_billed_months
from geobill.pipeline.billing import business_days, check_folder, write_files
from geobill.pipeline.blocks import refusal
from geobill.pipeline.case_checks import (
    MOST_NAMED,
    MOVES_ROWS,
    check_operator,
    check_permit,
    check_rows,
    stored_as_doubled,
    stored_ids,
)
from geobill.pipeline.case_grounds import load_grounds
from geobill.pipeline.law import load_law
from geobill.pipeline.month import Stored
from geobill.pipeline.papers import slug
from geobill.pipeline.scans import read_scan
from geobill.store.cases import CaseRegister
from geobill.store.ledger import Ledger
from geobill.store.workspace import Workspace

FOLDER = ("documents", "casos")
ZERO = Decimal("0.00")
WITH_TERM = frozenset({acts.NOTIFIED, acts.FINED, acts.PROJECTS_SUSPENDED})
# steps after which a month that is issued already would have other amounts
MOVES_MONTHS = (acts.DOUBLED, acts.FORFEITED, acts.DISMISSED, acts.REGULARISED, acts.REMOVED, acts.REGISTER_DELIVERED)


@dataclass(frozen=True)
class CaseState:
    """A case as it is, with what its decision still lacks on a day, and the days on which it charges double."""

    file: CaseFile
    missing: tuple[Missing, ...] = ()
    doubled_from: date | None = None
    doubled_until: date | None = None


@dataclass(frozen=True)
class StepTaken:
    """A step that was recorded, the case after it, the paper's files and what a person should know."""

    state: CaseState
    act: CaseAct
    files: tuple[Path, ...] = ()
    findings: tuple[Finding, ...] = ()


def open_case(workspace: Workspace, case: Case, now: str) -> CaseState:
    """Open a case over stored rows of an operator.

    Raises
    ------
    InputError
        If the operator, the permit or a row is unknown, or a case of arts. 10 or 12 names no row.
    LawError
        If the operator is a public-law entity of the municipality (art. 13), or the day is before the law.
    """
    with workspace.database.write() as connection:
        law = load_law(workspace, connection)
        record_case(workspace, connection, case, law, now)
        return state_of(_file(workspace, connection, case.id), law)


def record_case(workspace: Workspace, connection: Connection, case: Case, law: StreetUseLaw, now: str) -> None:
    """Check and keep a case over an open transaction; see :func:`open_case`."""
    if case.kind not in KINDS:
        raise InputError(f"--kind can't be {case.kind!r}. Allowed: {', '.join(KINDS)}.")
    for option, said in (("--id", case.id), ("--subject", case.subject)):
        if not said.strip() or not said.isprintable():
            raise InputError(f"{option} {said!r} is blank or holds a character that can't be seen: type it anew.")
    check_operator(workspace, connection, case.operator, law)
    if case.opened_on < law.figures.published_on:
        since = law.figures.published_on.isoformat()
        raise LawError(f"{case.opened_on.isoformat()} is before the law, in force from {since} (art. 18).")
    if case.permit is not None:
        check_permit(workspace, connection, case.operator, case.permit, None)
    check_rows(workspace, connection, case)
    CaseRegister(connection, workspace.database.tables).save_case(case, now)


def match_rows(workspace: Workspace, operator: str, ids: Iterable[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Part ids of a list into an operator's segments and equipment; one that is both, or neither, is refused."""
    with workspace.database.read() as connection:
        stored = stored_ids(workspace, connection, operator)
    wanted = list(dict.fromkeys(i.strip() for i in ids if i.strip()))
    both = [i for i in wanted if i in stored["segment"] and i in stored["equipment"]]
    neither = [i for i in wanted if i not in stored["segment"] and i not in stored["equipment"]]
    for some, what in ((both, "is both a segment and a cabinet"), (neither, "is neither a segment nor a cabinet")):
        if some:
            raise InputError(
                f"{', '.join(some[:MOST_NAMED])} {what} of {operator} in this workspace. Nothing was changed. Name segments with "
                "--segment and cabinets with --equipment."
            )
    return tuple(i for i in wanted if i in stored["segment"]), tuple(i for i in wanted if i in stored["equipment"])


def take_step(
    workspace: Workspace,
    act: CaseAct,
    now: str,
    paper: Path | None = None,
    *,
    file_name: str = "",
    first: CaseAct | None = None,
) -> StepTaken:
    """Record a step of a case, with its paper.

    Parameters
    ----------
    workspace : Workspace
    act : CaseAct
        ``until`` of a notice may be given where the city hall allows more than the law's term; else it is worked out.
    now : str
        The moment in UTC, ISO text with Z.
    paper : Path, optional
        A scan of the signed paper, kept in the archive under its own name, or ``file_name``.
    first : CaseAct, optional
        A step of the same case that is recorded before it: both or neither.

    Raises
    ------
    LawError
        Naming all that the law asks for before this step, each with its article, in one refusal.
    InputError
        If the case, or the permit that it becomes part of, is unknown, or the scan can't be kept.
    """
    scan = None if paper is None else read_scan(paper)
    folder = case_folder(workspace, act.case)
    check_folder(folder)
    papers: list[tuple[str, bytes]] = []
    with workspace.database.write() as connection:
        stored = Stored(workspace, connection)
        if scan is not None and paper is not None:
            digest = Ledger(connection, workspace.database.tables).archive_file("paper", scan)
            act = replace(act, paper=digest, file_name=file_name or paper.name)
        for one in (act,) if first is None else (first, act):
            after, act = _record(workspace, connection, stored, one, now, papers)
            stored.cases[act.case] = after
        findings = _findings(workspace, connection, stored, after, act)
    files = write_files(folder, papers) if papers else ()
    return StepTaken(state_of(after, stored.law), act, files, findings)


def _record(
    workspace: Workspace,
    connection: Connection,
    stored: Stored,
    act: CaseAct,
    now: str,
    papers: list[tuple[str, bytes]],
) -> tuple[CaseFile, CaseAct]:
    """Check a step and keep it with its papers, which are added to those to be written; return the case after it."""
    file = find_case(stored.cases, act.case)
    obstacles = find_obstacles(file, act, stored.law.figures)
    if act.kind == acts.REGULARISED:
        others = (f for f in stored.cases.values() if f.case.id != act.case)
        obstacles += find_blocks(others, file.case.operator, act.on, stored.law.figures)
    if act.kind == acts.DISMISSED:
        obstacles += stored_as_doubled(workspace, connection, file)
    if obstacles:
        raise LawError(
            refusal(f"{STEPS[act.kind].name.capitalize()} of the case {act.case} can't be recorded", obstacles)
        )
    if act.kind == acts.REGULARISED:
        check_permit(workspace, connection, file.case.operator, act.note, act.on)
    act = _with_term(workspace, stored, file, act)
    register = CaseRegister(connection, workspace.database.tables)
    register.save_act(act, now)
    after = CaseFile(file.case, (*file.acts, act))
    for form, (name, content) in _render(workspace, connection, stored, after, act).items():
        kind = paper_of(after, act) or ""
        register.save_document(act.case, kind if form == "pdf" else f"{kind}_{form}", name, content, now)
        papers.append((name, content))
    return after, act


def list_cases(workspace: Workspace, only: str | None = None) -> list[CaseState]:
    """Every case as it is, or one."""
    with workspace.database.read() as connection:
        law = load_law(workspace, connection)
        files = CaseRegister(connection, workspace.database.tables).load_files()
    if only is not None:
        return [state_of(find_case(files, only), law)]
    return [state_of(file, law) for file in files.values()]


def list_terms(workspace: Workspace, today: date) -> list[Term]:
    """Return the terms of all cases that nothing has answered, those that end first before the others."""
    with workspace.database.read() as connection:
        files = CaseRegister(connection, workspace.database.tables).load_files()
    return sorted((t for file in files.values() for t in open_terms(file, today)), key=lambda t: (t.until, t.case))


def next_case_id(workspace: Workspace, year: int) -> str:
    """Return the id of the next case of a year, after the highest one of that form: ``2026-007``."""
    with workspace.database.read() as connection:
        there = CaseRegister(connection, workspace.database.tables).load_files()
    head = f"{year}-"
    tails = [i.removeprefix(head) for i in there if i.startswith(head)]
    return f"{head}{max([int(t) for t in tails if t.isascii() and t.isdigit()], default=0) + 1:03d}"


def find_case(files: dict[str, CaseFile], case: str) -> CaseFile:
    """Return a case; an unknown id is refused."""
    if case not in files:
        known = ", ".join(list(files)[:MOST_NAMED]) or "none yet"
        raise InputError(
            f"There is no case {case!r} in this workspace (known: {known}). Nothing was changed. Open it with geobill case open."
        )
    return files[case]


def base_of(stored: Stored, month: BillingMonth, operator: str) -> Decimal | None:
    """Return an operator's price of a whole month in reais, doubled rows left out (art. 9 § 2): 0 for no rows, None where held."""
    bill = stored.price(month, operator=operator).bill
    mine = next((o for o in bill.operators if o.operator.id == operator), None)
    return ZERO if mine is None else mine.whole_month.total


# -- what a step rests on


def _with_term(workspace: Workspace, stored: Stored, file: CaseFile, act: CaseAct) -> CaseAct:
    """Add the last day of the term that a step sets: for the defence (arts. 9 § 4, 10 § 1), or a later one that was typed."""
    if act.kind not in WITH_TERM:
        return act
    days, article, _ = _term_of(stored, file, act)
    least = last_day(act.on, days, business_days(workspace.settings))
    if act.until is not None and act.until < least:
        raise LawError(
            f"--until {act.until.isoformat()} is before {least.isoformat()}, when the {days} days of art. {article} end. Nothing was "
            "changed. Give that day or a later one, or leave --until out."
        )
    return replace(act, until=act.until or least)


def _term_of(stored: Stored, file: CaseFile, act: CaseAct) -> tuple[int, str, Decision | None]:
    """Days of a step's term, the article, and the decision behind them where the law counts none."""
    if act.kind != acts.NOTIFIED:
        figure = stored.law.figures.figure("defence_days", act.on)
        return int(figure.value or 0), figure.article, None
    policy = stored.policy(BillingMonth.of(act.on))
    decision = decision_behind("ample_defence_days", policy, stored.decisions, act.on)
    return (*notice_term(file.case.kind, act.on, stored.law.figures, policy, decision), decision)


# -- paper


def _render(
    workspace: Workspace, connection: Connection, stored: Stored, file: CaseFile, act: CaseAct
) -> dict[str, tuple[str, bytes]]:
    """Render a step's paper in its forms; nothing where the law asks for none."""
    kind = paper_of(file, act)
    if kind is None:
        return {}
    law, on = stored.law.figures, act.on
    days, _, decision = _term_of(stored, file, act) if act.kind in WITH_TERM else (None, "", None)
    base = base_of(stored, BillingMonth.of(on), file.case.operator) if act.kind == acts.FINED else None
    figures = Figures(
        law_published_on=law.published_on,
        statute_title=law.title,
        fine_share=law.value("fine_share", on),
        suspension_days=int(law.value("suspension_after_days", on)),
        defence_days=int(law.value("defence_days", on)),
        term_days=days,
        decision=decision,
        base=base,
    )
    operator, authority = stored.operators[file.case.operator], workspace.settings.authority
    grounds = load_grounds(workspace, connection, stored, file, act)
    made = render_case_paper(file, act, operator, authority, figures, read_templates(workspace.root), grounds)
    name = f"{len(file.acts):02d}-{kind.removeprefix('caso_')}"
    return {form: (f"{name}.{form}", content) for form, content in made.items()}


def case_folder(workspace: Workspace, case: str) -> Path:
    """Return the folder of a case's papers."""
    return workspace.root.joinpath(*FOLDER, slug(case))


# -- what follows from it


def state_of(file: CaseFile, law: StreetUseLaw) -> CaseState:
    """Say where a case is, and what the decision of arts. 10 and 12 still lacks."""
    since = doubled_from(file, law.figures.published_on)
    missing: list[Missing] = []
    if file.case.kind in MOVES_ROWS and not file.acts_of(acts.DOUBLED) and not file.is_over:
        last = max([a.until or a.on for a in file.acts if a.kind != acts.INSTALLED] + [file.case.opened_on])
        missing = find_obstacles(file, CaseAct(file.case.id, acts.DOUBLED, last + timedelta(days=1)), law.figures)
    return CaseState(file, tuple(missing), since, doubled_until(file) if since else None)


def _file(workspace: Workspace, connection: Connection, case: str) -> CaseFile:
    return find_case(CaseRegister(connection, workspace.database.tables).load_files(), case)


def _findings(
    workspace: Workspace, connection: Connection, stored: Stored, file: CaseFile, act: CaseAct
) -> tuple[Finding, ...]:
    """Say which months the step changes that are issued already, and what comes next."""
    found: list[Finding] = []
    if act.kind == acts.DOUBLED:
        since = doubled_from(file, stored.law.figures.published_on)
        message = (
            f"the months from {since} to the next invoice aren't charged by themselves (art. {KINDS[file.case.kind]})"
        )
        fix = f"geobill bill --retroactive {file.case.id} --dry-run shows them; without --dry-run they are demanded"
        found.append(Finding("past_months", "note", message, fix))
    elif act.kind in MOVES_MONTHS and file.case.kind in MOVES_ROWS:
        found += find_billed_months(workspace, connection, file.case.operator, act.on)
    if act.kind == acts.CURED and is_suspended(file):
        message = "the suspension of new projects goes on until it is lifted by an act of its own (art. 9 § 3)"
        found.append(Finding("still_suspended", "warning", message, f"geobill case release {file.case.id} …"))
    decided = act.kind in (acts.DEFENCE_DECIDED, acts.APPEAL_DECIDED) and act.note == acts.ACCEPTED
    if (decided or act.kind == acts.DISMISSED) and file.acts_of(acts.DOUBLED):
        message = "the decision to charge double is undone from its first day; what was demanded by it stands"
        fix = f"geobill correct shows each month concerned; notes of the case: geobill case show {file.case.id}"
        found.append(Finding("undone", "warning", message, fix))
    return tuple(found)
