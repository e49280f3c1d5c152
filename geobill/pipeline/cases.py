"""Cases, step by step: each is checked against the law, recorded once and for good, and put on paper where the law asks for one."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import date, timedelta
from decimal import Decimal
from pathlib import Path

from sqlalchemy import Connection

from geobill.billing.cases import STEPS, find_blocks, find_obstacles, is_suspended, last_day, notice_term
from geobill.billing.permits import Missing
from geobill.documents.case_papers import Figures, paper_of, render_case_paper
from geobill.documents.overrides.folder import read_templates
from geobill.domain import case as acts
from geobill.domain.case import CLANDESTINE, KINDS, UNREGISTERED, Case, CaseAct, CaseFile, doubled_from, doubled_until
from geobill.domain.dates import BillingMonth
from geobill.domain.finding import Finding
from geobill.domain.invoice import Decision
from geobill.domain.network import DOUBLED, SUSPECTED, Operator
from geobill.errors import InputError, LawError
from geobill.law.policy import decision_behind
from geobill.law.statutes.street_use import StreetUseLaw
from geobill.pipeline.backdating import find_billed_months
from geobill.pipeline.billing import business_days, check_folder, write_files
from geobill.pipeline.blocks import refusal
from geobill.pipeline.law import load_law
from geobill.pipeline.month import Stored
from geobill.pipeline.papers import slug
from geobill.pipeline.scans import read_scan
from geobill.store.cases import CaseRegister
from geobill.store.ledger import Ledger
from geobill.store.networks import Cadastre
from geobill.store.permits import PermitRegister
from geobill.store.registers import Registers
from geobill.store.workspace import Workspace

FOLDER = ("documents", "casos")
MOST_NAMED = 10
ZERO = Decimal("0.00")
MOVES_ROWS = frozenset({CLANDESTINE, UNREGISTERED})
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
    if case.kind not in KINDS:
        raise InputError(f"--kind can't be {case.kind!r}. Allowed: {', '.join(KINDS)}.")
    for option, said in (("--id", case.id), ("--subject", case.subject)):
        if not said.strip() or not said.isprintable():
            raise InputError(f"{option} {said!r} is blank or holds a character that can't be seen: type it anew.")
    with workspace.database.write() as connection:
        law = load_law(workspace, connection)
        _check_operator(_operators(workspace, connection), case.operator, law)
        if case.opened_on < law.figures.published_on:
            since = law.figures.published_on.isoformat()
            raise LawError(f"{case.opened_on.isoformat()} is before the law, in force from {since} (art. 18).")
        if case.permit is not None:
            _check_permit(workspace, connection, case.operator, case.permit, None)
        _check_rows(workspace, connection, case)
        CaseRegister(connection, workspace.database.tables).save_case(case, now)
        return _state(_file(workspace, connection, case.id), law)


def match_rows(workspace: Workspace, operator: str, ids: Iterable[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Part ids of a list into an operator's segments and equipment; one that is both, or neither, is refused."""
    with workspace.database.read() as connection:
        stored = _stored_ids(workspace, connection, operator)
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


def take_step(workspace: Workspace, act: CaseAct, now: str, paper: Path | None = None) -> StepTaken:
    """Record a step of a case, with its paper.

    Parameters
    ----------
    workspace : Workspace
    act : CaseAct
        ``until`` of a notice may be given where the city hall allows more than the law's term; else it is worked out.
    now : str
        The moment in UTC, ISO text with Z.
    paper : Path, optional
        A scan of the signed paper, kept in the archive.

    Raises
    ------
    LawError
        Naming all that the law asks for before this step, each with its article, in one refusal.
    InputError
        If the case, or the permit that it becomes part of, is unknown, or the scan can't be kept.
    """
    scan = None if paper is None else read_scan(paper)
    folder = _folder(workspace, act.case)
    check_folder(folder)
    with workspace.database.write() as connection:
        stored = Stored(workspace, connection)
        file = find_case(stored.cases, act.case)
        obstacles = find_obstacles(file, act, stored.law.figures)
        if act.kind == acts.REGULARISED:
            others = (f for f in stored.cases.values() if f.case.id != act.case)
            obstacles += find_blocks(others, file.case.operator, act.on, stored.law.figures)
        if act.kind == acts.DISMISSED:
            obstacles += _stored_as_doubled(workspace, connection, file)
        if obstacles:
            raise LawError(
                refusal(f"{STEPS[act.kind].name.capitalize()} of the case {act.case} can't be recorded", obstacles)
            )
        if act.kind == acts.REGULARISED:
            _check_permit(workspace, connection, file.case.operator, act.note, act.on)
        act = _with_term(workspace, stored, file, act)
        if scan is not None and paper is not None:
            digest = Ledger(connection, workspace.database.tables).archive_file("paper", scan)
            act = replace(act, paper=digest, file_name=paper.name)
        register = CaseRegister(connection, workspace.database.tables)
        register.save_act(act, now)
        after = CaseFile(file.case, (*file.acts, act))
        papers = _render(workspace, stored, after, act)
        for form, (name, content) in papers.items():
            kind = paper_of(after, act) or ""
            register.save_document(act.case, kind if form == "pdf" else f"{kind}_{form}", name, content, now)
        findings = _findings(workspace, connection, stored, after, act)
    files = write_files(folder, list(papers.values())) if papers else ()
    return StepTaken(_state(after, stored.law), act, files, findings)


def list_cases(workspace: Workspace, only: str | None = None) -> list[CaseState]:
    """Every case as it is, or one."""
    with workspace.database.read() as connection:
        law = load_law(workspace, connection)
        files = CaseRegister(connection, workspace.database.tables).load_files()
    if only is not None:
        return [_state(find_case(files, only), law)]
    return [_state(file, law) for file in files.values()]


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


def _operators(workspace: Workspace, connection: Connection) -> dict[str, Operator]:
    return Registers(connection, workspace.database.tables).load_operators()


def _check_operator(operators: dict[str, Operator], operator: str, law: StreetUseLaw) -> None:
    if operator not in operators:
        known = ", ".join(operators) or "none yet"
        raise InputError(f"There is no operator {operator!r} in this workspace (known: {known}). Nothing was changed.")
    article = law.exemption(operators[operator].kind)
    if article:
        raise LawError(
            f"{operators[operator].name} is a public-law entity of this municipality: the law doesn't apply to it (art. {article}), "
            "and nothing can be held against it under it. Nothing was changed."
        )


def _check_permit(
    workspace: Workspace, connection: Connection, operator: str, number: str, granted_on: date | None
) -> None:
    """Refuse a permit that isn't the operator's, or isn't granted by a day: rows become part of a decree, not of a request."""
    files = PermitRegister(connection, workspace.database.tables).load_files()
    file = files.get(number)
    if file is None or file.permit.operator != operator:
        known = ", ".join(n for n, f in files.items() if f.permit.operator == operator) or "none"
        raise InputError(
            f"{operator} has no permit {number!r} in this workspace (its permits: {known}). Nothing was changed."
        )
    if granted_on is None:
        return
    published, removed = file.published_on, file.removed_on
    if published is None or published > granted_on:
        when = "isn't issued" if published is None else f"is published on {published.isoformat()} only"
        raise LawError(
            f"The decree of the permit {number} {when}: equipment is lawful from its decree on (arts. 2, 3). Nothing was changed. "
            "Issue the decree first (geobill decree issue), or give a later --on."
        )
    if removed is not None and removed < granted_on:
        raise LawError(f"The permit {number} ended with its removal on {removed.isoformat()}. Nothing was changed.")


def _stored_ids(workspace: Workspace, connection: Connection, operator: str) -> dict[str, dict[str, set[str]]]:
    """Ids of an operator's stored rows with their statuses, by the kind of row."""
    cadastre = Cadastre(connection, workspace.database.tables, workspace.database.srid)
    found: dict[str, dict[str, set[str]]] = {"segment": {}, "equipment": {}}
    for name, frame in (("segment", cadastre.load_segments()), ("equipment", cadastre.load_equipment())):
        mine = frame[frame["operator"] == operator]
        for id_, status in zip(mine[name], mine["status"], strict=True):
            found[name].setdefault(str(id_), set()).add(str(status))
    return found


def _check_rows(workspace: Workspace, connection: Connection, case: Case) -> None:
    stored = _stored_ids(workspace, connection, case.operator)
    unknown = [i for i in case.segments if i not in stored["segment"]]
    unknown += [i for i in case.equipment if i not in stored["equipment"]]
    if unknown:
        raise InputError(
            f"{case.operator} has no stored row {', '.join(map(repr, unknown[:MOST_NAMED]))}: a case names rows by their ids, as they "
            "were imported. Nothing was changed. Import what was found with --status suspected, or correct the ids."
        )
    if case.kind in MOVES_ROWS and not case.segments and not case.equipment:
        raise InputError(
            f"A case under art. {KINDS[case.kind]} is about rows, and none is named: nothing would ever be charged by it. Nothing was "
            "changed. Name them with --segment, --equipment or --rows."
        )


def _stored_as_doubled(workspace: Workspace, connection: Connection, file: CaseFile) -> list[Missing]:
    """Find rows that are stored as doubled already: a dismissal would leave their double price standing."""
    stored = _stored_ids(workspace, connection, file.case.operator)
    named = [(i, stored["segment"].get(i, set())) for i in file.case.segments]
    named += [(i, stored["equipment"].get(i, set())) for i in file.case.equipment]
    doubled = [i for i, statuses in named if statuses & DOUBLED]
    if not doubled:
        return []
    message = (
        f"{', '.join(doubled[:MOST_NAMED])} came in with a doubled status of its own, which would go on after the dismissal: import "
        f"the file again with --status {SUSPECTED} and --replace first"
    )
    return [Missing("stored_as_doubled", "10", message)]


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


def _render(workspace: Workspace, stored: Stored, file: CaseFile, act: CaseAct) -> dict[str, tuple[str, bytes]]:
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
    made = render_case_paper(file, act, operator, authority, figures, read_templates(workspace.root))
    name = f"{len(file.acts):02d}-{kind.removeprefix('caso_')}"
    return {form: (f"{name}.{form}", content) for form, content in made.items()}


def _folder(workspace: Workspace, case: str) -> Path:
    return workspace.root.joinpath(*FOLDER, slug(case))


# -- what follows from it


def _state(file: CaseFile, law: StreetUseLaw) -> CaseState:
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
