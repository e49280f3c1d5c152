"""What each step of a case needs by the law, and what a case keeps its operator from: pure, nothing is recorded here."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import date, timedelta

from geobill.billing.permits import Missing
from geobill.domain import case as acts
from geobill.domain.case import (
    ACCEPTED,
    CLANDESTINE,
    INFRACTION,
    KINDS,
    NONCONFORMITY,
    UNREGISTERED,
    CaseAct,
    CaseFile,
    defence_outcome,
    fine_from,
    undecided,
)
from geobill.domain.dates import months_after
from geobill.domain.invoice import Decision
from geobill.errors import LawError
from geobill.law.figures import StatuteFigures
from geobill.law.policy import Policy

ALL = frozenset(KINDS)
DOUBLING, EXECUTION = frozenset({CLANDESTINE, UNREGISTERED}), frozenset({INFRACTION, NONCONFORMITY})


@dataclass(frozen=True)
class Step:
    """A step: its name, the kinds of cases that have it, its article, the acts that it answers, whether it is taken once."""

    name: str
    kinds: frozenset[str]
    article: str
    answers: tuple[str, ...] = ()
    once: bool = True


STEPS: dict[str, Step] = {
    acts.NOTIFIED: Step("the notice", ALL, "9 § 4, 10 § 1"),
    acts.WARNED: Step("the warning", EXECUTION, "9, I, § 1"),
    acts.DEFENCE_LODGED: Step("the defence", ALL, "9 § 4, 10 § 1", (acts.NOTIFIED,)),
    acts.DEFENCE_DECIDED: Step("the decision on the defence", ALL, "9 § 5, 10 § 1", (acts.DEFENCE_LODGED,)),
    acts.APPEAL_LODGED: Step("the appeal to the mayor", ALL, "9 § 5", (acts.DEFENCE_DECIDED,)),
    acts.APPEAL_DECIDED: Step("the decision on the appeal", ALL, "9 §§ 5, 6", (acts.APPEAL_LODGED,)),
    acts.TECHNICAL_OPINION: Step("the technical opinion", ALL, "10 § 1", once=False),
    acts.LEGAL_OPINION: Step("the legal office's opinion", ALL, "9 § 6, 10 § 1", once=False),
    acts.IMPOSSIBILITY: Step("the report that removal is impossible", frozenset({CLANDESTINE}), "10 § 2", once=False),
    acts.INSTALLED: Step("the proven day of installation", DOUBLING, "10 § 3", once=False),
    acts.DOUBLED: Step("the decision to charge double", DOUBLING, "10 §§ 1, 2"),
    acts.FORFEITED: Step("the forfeiture", frozenset({CLANDESTINE}), "10 § 1"),
    acts.DISMISSED: Step("the dismissal", ALL, "9, 10"),
    acts.REGULARISED: Step("the regularisation", DOUBLING, "2, 3"),
    acts.REMOVED: Step("the removal", DOUBLING, "10 § 2"),
    acts.CURED: Step("the cure", EXECUTION, "4, 9 § 2", (acts.NOTIFIED,)),
    acts.FINED: Step("the daily fine", EXECUTION, "9 §§ 2, 6"),
    acts.PROJECTS_SUSPENDED: Step("the suspension of new projects", EXECUTION, "9 § 3", (acts.FINED,), once=False),
    acts.PROJECTS_RELEASED: Step("the release", EXECUTION, "9 § 3", (acts.PROJECTS_SUSPENDED,), once=False),
    acts.REGISTER_DELIVERED: Step("the delivery of the register", frozenset({UNREGISTERED}), "12 §§ 1, 3"),
    acts.FOUND: Step("the record of what was found", frozenset({CLANDESTINE, NONCONFORMITY}), "4, 10 § 1"),
}
COMMANDS: dict[str, str] = {
    acts.NOTIFIED: "notify",
    acts.WARNED: "warn",
    acts.DEFENCE_LODGED: "defence",
    acts.DEFENCE_DECIDED: "decide-defence",
    acts.APPEAL_LODGED: "appeal",
    acts.APPEAL_DECIDED: "decide-appeal",
    acts.TECHNICAL_OPINION: "opinion --kind technical",
    acts.LEGAL_OPINION: "opinion --kind legal",
    acts.IMPOSSIBILITY: "impossibility",
    acts.DISMISSED: "dismiss",
    acts.FINED: "fine",
    acts.PROJECTS_SUSPENDED: "suspend",
}
# a step that is taken once, and once more after a later one of these: each penalty has its defence (art. 9 §§ 4, 5)
ANEW: dict[str, tuple[str, ...]] = {
    acts.DEFENCE_LODGED: (acts.FINED, acts.PROJECTS_SUSPENDED),
    acts.DEFENCE_DECIDED: (acts.DEFENCE_LODGED,),
    acts.APPEAL_LODGED: (acts.DEFENCE_DECIDED,),
    acts.APPEAL_DECIDED: (acts.APPEAL_LODGED,),
}
AFTER_DISMISSAL = frozenset({acts.PROJECTS_RELEASED})


def find_obstacles(file: CaseFile, act: CaseAct, figures: StatuteFigures) -> list[Missing]:
    """All that keeps a step from being taken on its day, each with its article; empty where nothing does.

    Parameters
    ----------
    file : CaseFile
        As it is, without the step.
    act : CaseAct
        The step: kind and day.
    figures : StatuteFigures
        Where days and months are counted from and how many.
    """
    step = STEPS[act.kind]
    found = _against_the_day(file, act, step, figures.published_on)
    if file.case.kind not in step.kinds:
        article = KINDS[file.case.kind]
        message = f"a case under art. {article} ({file.case.kind}) has no such step"
        return [Missing("no_such_step", step.article, message)]
    dismissed = file.last_of(acts.DISMISSED)
    if dismissed is not None and act.kind not in AFTER_DISMISSAL:
        found.append(
            Missing("dismissed", "10 § 1", f"the case was dismissed on {dismissed.on.isoformat()}: open another")
        )
    done = file.last_of(act.kind, *ANEW.get(act.kind, ()))
    if step.once and done is not None and done.kind == act.kind:
        message = f"{step.name} is recorded already, of {done.on.isoformat()}: a recorded step stays as it is"
        found.append(Missing("recorded_already", step.article, message))
    for kind in step.answers:
        found += _answered(file, act, kind)
    return found + _of_its_own(file, act, figures)


def _against_the_day(file: CaseFile, act: CaseAct, step: Step, published_on: date) -> list[Missing]:
    if act.on < published_on and act.kind != acts.INSTALLED:
        message = f"{act.on.isoformat()} is before the law, in force from {published_on.isoformat()}"
        return [Missing("before_the_law", "18", message)]
    if act.on < file.case.opened_on and act.kind != acts.INSTALLED:
        message = f"{act.on.isoformat()} is before the case was opened on {file.case.opened_on.isoformat()}"
        return [Missing("before_the_case", step.article, message)]
    return []


def _answered(file: CaseFile, act: CaseAct, kind: str) -> list[Missing]:
    """Find that what a step answers isn't there, or is of a later day."""
    step, earlier = STEPS[kind], file.last_of(kind)
    if earlier is None:
        message = f"{step.name} is missing (geobill case {COMMANDS[kind]} {file.case.id} …)"
        return [Missing(f"no_{kind}", step.article, message)]
    if act.on < earlier.on:
        message = f"{STEPS[act.kind].name} of {act.on.isoformat()} is before {step.name} of {earlier.on.isoformat()}"
        return [Missing("before_what_it_answers", step.article, message)]
    return []


def _of_its_own(file: CaseFile, act: CaseAct, figures: StatuteFigures) -> list[Missing]:
    if act.kind == acts.DOUBLED:
        return _doubling(file, act.on, figures)
    if act.kind == acts.FORFEITED:
        return [*_unheard(file, act.on), *_opinions(file, act.on)]
    if act.kind == acts.FINED:
        return _fine(file, act.on)
    if act.kind == acts.PROJECTS_SUSPENDED:
        return _suspension(file, act.on, figures)
    if act.kind == acts.INSTALLED and act.on > file.case.opened_on:
        message = (
            f"{act.on.isoformat()} is after the case was opened on {file.case.opened_on.isoformat()}: what it is about was there by "
            "then"
        )
        return [Missing("installed_later", "10 § 3", message)]
    if act.kind == acts.PROJECTS_RELEASED and not is_suspended(file):
        return [Missing("not_suspended", "9 § 3", "new projects aren't suspended under this case")]
    return []


def _unheard(file: CaseFile, on: date) -> list[Missing]:
    """Find that the operator wasn't heard by a day: no notice, a term that still runs, a defence or an appeal undecided."""
    article = "10 § 1" if file.case.kind in DOUBLING else "9 § 4"
    command = f"geobill case {{}} {file.case.id} …"
    notice = file.last_of(acts.NOTIFIED)
    if notice is None:
        fix = command.format("notify")
        return [Missing("not_notified", article, f"the operator wasn't notified, and so not heard ({fix})")]
    found, waiting = [], undecided(file)
    lodged, decided = file.last_of(acts.DEFENCE_LODGED), file.last_of(acts.DEFENCE_DECIDED)
    appeal, ruled = file.last_of(acts.APPEAL_LODGED), file.last_of(acts.APPEAL_DECIDED)
    if lodged is not None and (decided is None or decided.on > on or waiting == lodged):
        fix = command.format("decide-defence")
        message = f"the defence of {lodged.on.isoformat()} isn't decided by {on.isoformat()} ({fix})"
        found.append(Missing("defence_undecided", article, message))
    if appeal is not None and (ruled is None or ruled.on > on or waiting == appeal):
        message = f"the appeal of {appeal.on.isoformat()} isn't decided by {on.isoformat()} ({command.format('decide-appeal')})"
        found.append(Missing("appeal_undecided", "9 §§ 5, 6", message))
    if lodged is None and notice.until is not None and on <= notice.until:
        message = (
            f"the term of the notice runs until {notice.until.isoformat()}: this can be done from the day after it"
        )
        found.append(Missing("term_runs", article, message))
    if defence_outcome(file) == ACCEPTED:
        fix = command.format("dismiss")
        found.append(Missing("defence_accepted", article, f"the defence was accepted: the case ends ({fix})"))
    return found


def _opinions(file: CaseFile, on: date) -> list[Missing]:
    """Find that the technical bodies or the legal office weren't heard before a day (art. 10 § 1: "ouvidos, previamente")."""
    found = []
    for kind in (acts.TECHNICAL_OPINION, acts.LEGAL_OPINION):
        if not any(a.on <= on for a in file.acts_of(kind)):
            message = (
                f"{STEPS[kind].name} up to {on.isoformat()} is missing (geobill case {COMMANDS[kind]} {file.case.id} …)"
            )
            found.append(Missing(f"no_{kind}", "10 § 1", message))
    return found


def _doubling(file: CaseFile, on: date, figures: StatuteFigures) -> list[Missing]:
    found = _unheard(file, on)
    if file.case.kind == UNREGISTERED:
        ends = months_after(figures.published_on, int(figures.value("register_term_months", figures.published_on)))
        if on <= ends:
            message = f"the six months for handing over the register run until {ends.isoformat()}"
            found.append(Missing("register_term_runs", "12 §§ 1, 3", message))
        return found
    found += _opinions(file, on)
    if not any(a.on <= on for a in file.acts_of(acts.IMPOSSIBILITY)):
        message = (
            f"the report that the equipment can't be removed is missing (geobill case impossibility {file.case.id} …): "
            "the price is doubled only where removal is impossible"
        )
        found.append(Missing("no_impossibility_report", "10 § 2", message))
    for kind, said in ((acts.REMOVED, "removed"), (acts.FORFEITED, "forfeited")):
        ended = file.last_of(kind)
        if ended is not None:
            message = f"the equipment was {said} on {ended.on.isoformat()}: it could be removed, and nothing is doubled"
            found.append(Missing(kind, "10 § 2", message))
    return found


def _fine(file: CaseFile, on: date) -> list[Missing]:
    """Find what the mayor's deliberation on a fine lacks (art. 9 §§ 1, 2, 4 and 6): the penalties in their order."""
    found = _unheard(file, on)
    warned, notice, cured = file.last_of(acts.WARNED), file.last_of(acts.NOTIFIED), file.last_of(acts.CURED)
    if warned is None or warned.on > on:
        fix = f"geobill case warn {file.case.id} …"
        found.append(
            Missing("not_warned", "9, I, § 1", f"the warning, which comes before the fine, is missing ({fix})")
        )
    if not any(a.on <= on for a in file.acts_of(acts.DEFENCE_DECIDED, acts.LEGAL_OPINION)):
        message = (
            "the legal office's ruling is missing, after which the mayor decides: its decision on the defence, or its "
            f"opinion (geobill case opinion --kind legal {file.case.id} …)"
        )
        found.append(Missing("no_ruling", "9 § 6", message))
    if notice is None or notice.until is None:
        return found
    if on <= notice.until and not any(m.code == "term_runs" for m in found):
        message = f"the term of the notice runs until {notice.until.isoformat()}: until then it can still be obeyed"
        found.append(Missing("term_runs", "9 § 2", message))
    if cured is not None and cured.on <= notice.until + timedelta(days=1):
        message = f"the notice was obeyed on {cured.on.isoformat()}, and no day of the fine is left"
        found.append(Missing("cured", "9 § 2", message))
    return found


def _suspension(file: CaseFile, on: date, figures: StatuteFigures) -> list[Missing]:
    found = _unheard(file, on)
    first, cured = fine_from(file), file.last_of(acts.CURED)
    if is_suspended(file):
        found.append(Missing("suspended_already", "9 § 3", "new projects are suspended under this case already"))
    if cured is not None:
        message = f"the infraction ended on {cured.on.isoformat()}: only one that persists leads to the suspension"
        found.append(Missing("cured", "9 § 3", message))
    if first is not None:
        days, lasted = int(figures.value("suspension_after_days", max(on, figures.published_on))), (on - first).days
        if lasted <= days:
            message = (
                f"the infraction has lasted {max(lasted, 0)} days on {on.isoformat()} (since {first.isoformat()}): the law asks "
                f"for more than {days}"
            )
            found.append(Missing("not_long_enough", "9 § 3", message))
    return found


def notice_term(
    kind: str, on: date, figures: StatuteFigures, policy: Policy, decision: Decision | None
) -> tuple[int, str]:
    """Days of a notice's term and the article that gives them, or the article that counts none.

    Fifteen days where a fine follows (art. 9 § 4). Arts. 10 and 12 count no days: those of the policy
    ``ample_defence_days``, with the decision that it rests on (art. 15).

    Raises
    ------
    LawError
        Where the policy holds the term back, or rests on no decision.
    """
    if kind in EXECUTION:
        figure = figures.figure("defence_days", on)
        return int(figure.value or 0), figure.article
    if policy.ample_defence_days is None or decision is None:
        promised = "art. 10 § 1 promises ample defence" if kind == CLANDESTINE else "art. 12 doubles the price"
        raise LawError(
            f"{promised} and counts no days: the term rests on a decision of the mayor (art. 15), and none is in force on "
            f"{on.isoformat()}. Nothing was changed. Record it with geobill decision add --question ample_defence_days --answer DAYS "
            "…, then geobill policy set ample_defence_days DAYS."
        )
    return policy.ample_defence_days, "10 § 1" if kind == CLANDESTINE else "12, 15"


def check_heard(file: CaseFile, what: str) -> None:
    """Refuse to demand by a decision against which a defence or an appeal waits for its answer (arts. 9 §§ 4 to 6, 10 § 1)."""
    waiting = undecided(file)
    if waiting is not None:
        step, article = STEPS[waiting.kind], "9 §§ 4 to 6" if file.case.kind in EXECUTION else "10 § 1"
        answer = acts.DEFENCE_DECIDED if waiting.kind == acts.DEFENCE_LODGED else acts.APPEAL_DECIDED
        raise LawError(
            f"{what} of the case {file.case.id} can't be demanded: {step.name} of {waiting.on.isoformat()} isn't decided (art. "
            f"{article}). Nothing was issued. Record the decision first: geobill case {COMMANDS[answer]} {file.case.id} …"
        )


def last_day(on: date, days: int, is_business_day: Callable[[date], bool]) -> date:
    """Last day of a term: the day that begins it doesn't count, one without business moves on (Código Civil, art. 132, § 1).

    Examples
    --------
    >>> last_day(date(2026, 3, 2), 15, lambda day: day.weekday() < 5), last_day(date(2026, 3, 6), 15, lambda day: day.weekday() < 5)
    (datetime.date(2026, 3, 17), datetime.date(2026, 3, 23))
    """
    until = on + timedelta(days=days)
    while not is_business_day(until):
        until += timedelta(days=1)
    return until


def is_suspended(file: CaseFile, on: date | None = None) -> bool:
    """Whether new projects are suspended under a case, on a day or as it stands (art. 9 § 3)."""
    said = [a for a in file.acts_of(acts.PROJECTS_SUSPENDED, acts.PROJECTS_RELEASED) if on is None or a.on <= on]
    return bool(said) and said[-1].kind == acts.PROJECTS_SUSPENDED


def find_blocks(files: Iterable[CaseFile], operator: str, on: date, figures: StatuteFigures) -> list[Missing]:
    """Find the cases that keep an operator from new projects on a day: a suspension (art. 9 § 3), no register (art. 12 § 4)."""
    found = []
    for file in files:
        if file.case.operator != operator:
            continue
        if is_suspended(file, on):
            since = next(a for a in reversed(file.acts) if a.kind == acts.PROJECTS_SUSPENDED)
            message = (
                f"new projects of {operator} are suspended since {since.on.isoformat()} by the case {file.case.id}; when the "
                f"infraction is over: geobill case release {file.case.id} …"
            )
            found.append(Missing("projects_suspended", "9 § 3", message))
        if file.case.kind == UNREGISTERED and _register_owed(file, on):
            months = int(figures.value("no_projects_after_months", figures.published_on))
            if on > months_after(figures.published_on, months):
                message = (
                    f"{operator} hasn't handed over the register (case {file.case.id}), and has lost the right to other projects "
                    f"a year after the law; when it is delivered: geobill case register-delivered {file.case.id} …"
                )
                found.append(Missing("no_register", "12 § 4", message))
    return found


def _register_owed(file: CaseFile, on: date) -> bool:
    ends = file.acts_of(acts.REGISTER_DELIVERED, acts.REGULARISED, acts.REMOVED, acts.DISMISSED)
    return on >= file.case.opened_on and not any(a.on <= on for a in ends)
