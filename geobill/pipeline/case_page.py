"""A case as whoever takes its next step sees it: its file, terms, what the law allows now, its papers, what it charges."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from sqlalchemy import Connection

from geobill.billing.cases import STEPS, find_blocks, find_obstacles
from geobill.billing.openings import kind_of_case
from geobill.billing.permits import Missing
from geobill.billing.terms import Term, open_terms
from geobill.domain import case as acts
from geobill.domain.case import INFRACTION, NONCONFORMITY, CaseAct, CaseFile
from geobill.domain.dates import BillingMonth
from geobill.domain.detection import FINDING_STATES, UPHELD, FindingFile
from geobill.domain.invoice import Line
from geobill.domain.network import Operator
from geobill.domain.permit import PermitFile
from geobill.errors import InputError, LawError, PolicyError
from geobill.law.policy import decision_behind
from geobill.pipeline.cases import CaseState, list_cases, state_of
from geobill.pipeline.month import Stored
from geobill.pipeline.retroactive import Retroactive, bill_retroactive
from geobill.store.cases import CaseDocument, CaseRegister
from geobill.store.finding_queue import FindingQueue, Listed, Query, Totals
from geobill.store.ledger import Ledger
from geobill.store.registers import Registers
from geobill.store.surveys import SurveyRegister
from geobill.store.workspace import Workspace

ZERO = Decimal("0.00")
MOST_COMPANIONS = 500  # findings that one case may take along


@dataclass(frozen=True)
class ListedCase:
    """A case in the list: its state, against whom, the terms that nothing has answered."""

    state: CaseState
    operator: Operator
    terms: tuple[Term, ...]


@dataclass(frozen=True)
class StepNow:
    """A step of a kind of case on a day, with all that keeps it from being taken; nothing where it can be."""

    kind: str
    article: str
    obstacles: tuple[Missing, ...]


@dataclass(frozen=True)
class CaseSheet:
    """All that is known of one case on a day; ``permits`` are those of its operator that rows could become part of."""

    listed: ListedCase
    findings: tuple[FindingFile, ...]
    documents: tuple[CaseDocument, ...]
    steps: tuple[StepNow, ...]
    permits: tuple[str, ...]


@dataclass(frozen=True)
class NextMonth:
    """What the operator's next invoice carries by a case; ``refused`` says why that month can't be priced, in English."""

    month: BillingMonth
    lines: tuple[tuple[int, Line], ...] = ()
    total: Decimal = ZERO
    refused: str = ""


def list_sheets(workspace: Workspace, today: date) -> tuple[list[ListedCase], Mapping[str, Totals]]:
    """Return every case with its terms, and the sums of findings by state."""
    with workspace.database.read() as connection:
        operators = Registers(connection, workspace.database.tables).load_operators()
        queue = FindingQueue(connection, workspace.database.tables, workspace.database.srid)
        waiting = {state: queue.totals(Query(states=(state,))) for state in FINDING_STATES}
    return [_listed(state, operators, today) for state in list_cases(workspace)], waiting


def look_at_case(workspace: Workspace, case: str, today: date) -> CaseSheet | None:
    """Return one case with all that can be done in it on a day; None where there is none of that id."""
    with workspace.database.read() as connection:
        stored = Stored(workspace, connection)
        file = stored.cases.get(case)
        if file is None:
            return None
        register = SurveyRegister(connection, workspace.database.tables, workspace.database.srid)
        found = tuple(register.load_files(register.cases_of(case)).values())
        documents = tuple(CaseRegister(connection, workspace.database.tables).load_documents(case))
        steps = tuple(
            StepNow(kind, step.article, tuple(_obstacles(stored, file, CaseAct(case, kind, today))))
            for kind, step in STEPS.items()
            if file.case.kind in step.kinds and kind != acts.FOUND
        )
        listed = _listed(state_of(file, stored.law), stored.operators, today)
        return CaseSheet(listed, found, documents, steps, _granted(stored.files, file.case.operator, today))


def list_companions(workspace: Workspace, found: Sequence[FindingFile]) -> tuple[Listed, ...]:
    """List the upheld findings that a case on some findings could take along: of their operator, judged by the same article."""
    operators, kinds = {f.operator for f in found}, {kind_of_case(f.finding) for f in found}
    if None in operators or len(operators) != 1 or len(kinds) != 1:
        return ()
    with workspace.database.read() as connection:
        queue = FindingQueue(connection, workspace.database.tables, workspace.database.srid)
        query = Query(operator=operators.pop(), states=(UPHELD,), order="id")
        listed = queue.list_findings(query, 0, MOST_COMPANIONS)
    chosen = {f.finding.id for f in found}
    return tuple(one for one in listed if one.finding.id not in chosen and kind_of_case(one.finding) in kinds)


def find_step_obstacles(workspace: Workspace, act: CaseAct) -> list[Missing] | None:
    """Return all that keeps a step from being taken on its day; None where there is no such case."""
    with workspace.database.read() as connection:
        stored = Stored(workspace, connection)
        file = stored.cases.get(act.case)
        return None if file is None else _obstacles(stored, file, act)


def load_paper(workspace: Workspace, case: str, number: int) -> CaseDocument | None:
    """Return a paper that was made for a case by its number in the store; None where there is none."""
    with workspace.database.read() as connection:
        documents = CaseRegister(connection, workspace.database.tables).load_documents(case)
    return next((d for d in documents if d.fid == number), None)


def load_scan(workspace: Workspace, case: str, number: int) -> tuple[str, bytes] | None:
    """Return name and bytes of the scan that was kept with a case's step, counted from 1; None where there is none."""
    with workspace.database.read() as connection:
        file = CaseRegister(connection, workspace.database.tables).load_files().get(case)
        if file is None or not 1 <= number <= len(file.acts) or not file.acts[number - 1].paper:
            return None
        act = file.acts[number - 1]
        return act.file_name, Ledger(connection, workspace.database.tables).load_archived_file(act.paper)


def price_next_month(workspace: Workspace, case: str, today: date) -> NextMonth | None:
    """Price the operator's next invoice and return the case's lines of it, numbered as there; None for a case that isn't known."""
    with workspace.database.read() as connection:
        stored = Stored(workspace, connection)
        file = stored.cases.get(case)
        if file is None:
            return None
        month = _next_month(workspace, connection, file, today)
        try:
            bill = stored.price(month, operator=file.case.operator).bill
        except (
            InputError,
            LawError,
            PolicyError,
        ) as refused:  # no map, no figures of law: the page says what the program says
            return NextMonth(month, refused=str(refused))
    mine = next((o for o in bill.operators if o.operator.id == file.case.operator), None)
    lines = tuple((n, li) for n, li in enumerate(mine.lines if mine else (), 1) if case in li.cases)
    return NextMonth(month, lines, sum((li.amount for _, li in lines), ZERO))


def look_back(workspace: Workspace, case: str, today: date, by: str, now: str) -> Retroactive | str:
    """Work out the past months of a decided case without issuing anything; the program's refusal where it can't be."""
    try:
        return bill_retroactive(
            workspace, case, until=None, issued_on=today, due_on=None, by=by, out=None, now=now, dry_run=True
        )
    except (InputError, LawError, PolicyError) as refused:
        return str(refused)


def _listed(state: CaseState, operators: Mapping[str, Operator], today: date) -> ListedCase:
    operator = operators.get(state.file.case.operator) or Operator(state.file.case.operator, state.file.case.operator)
    return ListedCase(state, operator, open_terms(state.file, today))


def _obstacles(stored: Stored, file: CaseFile, act: CaseAct) -> list[Missing]:
    """Find what the law asks for before a step, and what the step itself rests on: a term that was decided, a permit."""
    found = find_obstacles(file, act, stored.law.figures)
    if act.kind == acts.NOTIFIED and file.case.kind not in (INFRACTION, NONCONFORMITY):
        policy = stored.policy(BillingMonth.of(act.on))
        decided = decision_behind("ample_defence_days", policy, stored.decisions, act.on)
        if policy.ample_defence_days is None or decided is None:
            found.append(
                Missing("no_term", "10 § 1; 15", "the term of the ample defence rests on a decision of the mayor")
            )
    if act.kind == acts.REGULARISED:
        others = (f for f in stored.cases.values() if f.case.id != file.case.id)
        found += find_blocks(others, file.case.operator, act.on, stored.law.figures)
        granted = _granted(stored.files, file.case.operator, act.on)
        if not granted or (act.note and act.note not in granted):
            found.append(Missing("no_permit", "2; 3", "no permit of the operator has its decree published by that day"))
    return found


def _granted(files: Mapping[str, PermitFile], operator: str, on: date) -> tuple[str, ...]:
    """Permits of an operator whose decree is published by a day, and that weren't removed before it."""
    return tuple(
        number
        for number, f in files.items()
        if f.permit.operator == operator
        and f.published_on is not None
        and f.published_on <= on
        and (f.removed_on is None or f.removed_on >= on)
    )


def _next_month(workspace: Workspace, connection: Connection, file: CaseFile, today: date) -> BillingMonth:
    """Return the first month from today's on for which the operator has no invoice."""
    invoiced = set(Ledger(connection, workspace.database.tables).find_invoiced(file.case.operator))
    month = BillingMonth.of(today)
    while month in invoiced:
        month = month.following()
    return month
