"""What each step of a case needs, step by step and in the wrong order; which days a fine asks for."""

from dataclasses import replace
from datetime import date, timedelta
from decimal import Decimal

import pytest

from geobill.billing.cases import STEPS, find_blocks, find_obstacles, last_day, notice_term
from geobill.billing.fines import FinedDays, by_share, days_to_charge, fine_line
from geobill.domain import case as acts
from geobill.domain.case import (
    ACTS,
    CASE_STATES,
    CLANDESTINE,
    INFRACTION,
    KINDS,
    NONCONFORMITY,
    UNREGISTERED,
    Case,
    CaseAct,
    CaseFile,
    fine_from,
)
from geobill.domain.dates import BillingMonth
from geobill.domain.invoice import Decision
from geobill.domain.note import CREDIT, FINE, Note, NoteLine
from geobill.errors import LawError
from geobill.law.policy import parse_policy
from geobill.law.statutes import load_statute

FIGURES = load_statute("caieiras-lei-3057-2001").figures
OPENED = "2026-03-02"
NOTICE = (acts.NOTIFIED, OPENED, {"until": date(2026, 3, 17)})
WARNED, DEFENCE = (acts.WARNED, OPENED), (acts.DEFENCE_LODGED, "2026-03-10")
REJECTED = (acts.DEFENCE_DECIDED, "2026-03-20", {"note": acts.REJECTED})
ACCEPTED = (acts.DEFENCE_DECIDED, "2026-03-20", {"note": acts.ACCEPTED})
APPEAL = (acts.APPEAL_LODGED, "2026-03-25")
OVERRULED = (acts.APPEAL_DECIDED, "2026-03-30", {"note": acts.ACCEPTED})
UPHELD = (acts.APPEAL_DECIDED, "2026-03-30", {"note": acts.REJECTED})
TECHNICAL, LEGAL = (acts.TECHNICAL_OPINION, "2026-03-18"), (acts.LEGAL_OPINION, "2026-03-18")
REPORT, DOUBLED = (acts.IMPOSSIBILITY, "2026-03-18"), (acts.DOUBLED, "2026-04-01")
FINED, CURED = (acts.FINED, "2026-03-20"), (acts.CURED, "2026-04-11")
SUSPENDED, RELEASED = (acts.PROJECTS_SUSPENDED, "2026-04-20"), (acts.PROJECTS_RELEASED, "2026-05-01")
DISMISSED, REMOVED = (acts.DISMISSED, "2026-04-05"), (acts.REMOVED, "2026-04-05")
DELIVERED = (acts.REGISTER_DELIVERED, "2026-04-05")


def act(kind, on, more=None):
    return CaseAct("C1", kind, date.fromisoformat(on), **(more or {}))


def file(kind, *given, opened=OPENED, operator="alfa"):
    return CaseFile(Case("C1", kind, operator, date.fromisoformat(opened), "…"), tuple(act(*g) for g in given))


def codes(kind, given, step):
    return [m.code for m in find_obstacles(file(kind, *given), act(*step), FIGURES)]


ALL_PAPERS = (NOTICE, TECHNICAL, LEGAL, REPORT)


@pytest.mark.parametrize(
    ("kind", "given", "step", "expected"),
    [
        # the notice
        (CLANDESTINE, (), NOTICE, []),
        (CLANDESTINE, (NOTICE,), NOTICE, ["recorded_already"]),
        (CLANDESTINE, (), (acts.NOTIFIED, "2026-03-01"), ["before_the_case"]),
        (CLANDESTINE, (), (acts.NOTIFIED, "2001-06-26"), ["before_the_law"]),
        # defence and appeal, each to what it answers
        (INFRACTION, (), DEFENCE, ["no_notified"]),
        (INFRACTION, (NOTICE,), DEFENCE, []),
        (INFRACTION, ((acts.NOTIFIED, "2026-03-12"),), DEFENCE, ["before_what_it_answers"]),
        (INFRACTION, (NOTICE,), REJECTED, ["no_defence_lodged"]),
        (INFRACTION, (NOTICE, DEFENCE), APPEAL, ["no_defence_decided"]),
        (INFRACTION, (NOTICE, DEFENCE, REJECTED), APPEAL, []),
        (INFRACTION, (NOTICE, DEFENCE, REJECTED), UPHELD, ["no_appeal_lodged"]),
        (
            INFRACTION,
            (NOTICE, DEFENCE, REJECTED, APPEAL),
            (acts.APPEAL_DECIDED, "2026-03-24"),
            ["before_what_it_answers"],
        ),
        # doubled (art. 10): all that is missing at once
        (
            CLANDESTINE,
            (),
            DOUBLED,
            ["not_notified", "no_technical_opinion", "no_legal_opinion", "no_impossibility_report"],
        ),
        (CLANDESTINE, ALL_PAPERS, DOUBLED, []),
        (
            CLANDESTINE,
            ALL_PAPERS,
            (acts.DOUBLED, "2026-03-17"),
            ["term_runs", "no_technical_opinion", "no_legal_opinion", "no_impossibility_report"],
        ),
        (CLANDESTINE, ALL_PAPERS, (acts.DOUBLED, "2026-03-18"), []),
        (CLANDESTINE, (*ALL_PAPERS, DEFENCE), DOUBLED, ["defence_undecided"]),
        (CLANDESTINE, (*ALL_PAPERS, DEFENCE, REJECTED), (acts.DOUBLED, "2026-03-19"), ["defence_undecided"]),
        (CLANDESTINE, (*ALL_PAPERS, DEFENCE, REJECTED), DOUBLED, []),
        (CLANDESTINE, (*ALL_PAPERS, DEFENCE, ACCEPTED), DOUBLED, ["defence_accepted"]),
        (CLANDESTINE, (*ALL_PAPERS, DEFENCE, REJECTED, APPEAL), DOUBLED, ["appeal_undecided"]),
        (CLANDESTINE, (*ALL_PAPERS, DEFENCE, REJECTED, APPEAL, UPHELD), DOUBLED, []),
        (CLANDESTINE, (*ALL_PAPERS, DEFENCE, REJECTED, APPEAL, OVERRULED), DOUBLED, ["defence_accepted"]),
        (CLANDESTINE, (*ALL_PAPERS, REMOVED), (acts.DOUBLED, "2026-05-01"), ["removed"]),
        (CLANDESTINE, (NOTICE, TECHNICAL, LEGAL), (acts.FORFEITED, "2026-04-01"), []),
        (CLANDESTINE, (NOTICE,), (acts.FORFEITED, "2026-04-01"), ["no_technical_opinion", "no_legal_opinion"]),
        # art. 12 asks for notice and term alone
        (UNREGISTERED, (NOTICE,), DOUBLED, []),
        (UNREGISTERED, (), DOUBLED, ["not_notified"]),
        (UNREGISTERED, (NOTICE,), (acts.FORFEITED, "2026-04-01"), ["no_such_step"]),
        (CLANDESTINE, (NOTICE,), DELIVERED, ["no_such_step"]),
        # the fine (art. 9): warning, term, ruling, mayor
        (INFRACTION, (), FINED, ["not_notified", "not_warned", "no_ruling"]),
        (INFRACTION, (NOTICE, WARNED, LEGAL), FINED, []),
        (INFRACTION, (NOTICE, WARNED), FINED, ["no_ruling"]),
        (INFRACTION, (NOTICE, LEGAL), FINED, ["not_warned"]),
        (INFRACTION, (NOTICE, WARNED, LEGAL), (acts.FINED, "2026-03-17"), ["term_runs", "no_ruling"]),
        (INFRACTION, (NOTICE, WARNED, DEFENCE), FINED, ["defence_undecided", "no_ruling"]),
        (INFRACTION, (NOTICE, WARNED, DEFENCE, REJECTED), FINED, []),
        (INFRACTION, (NOTICE, WARNED, LEGAL, (acts.CURED, "2026-03-18")), FINED, ["cured"]),
        (INFRACTION, (NOTICE, WARNED, LEGAL, (acts.CURED, "2026-03-19")), FINED, []),
        (CLANDESTINE, (NOTICE, LEGAL), FINED, ["no_such_step"]),
        # the suspension: over thirty days, since 18 March
        (NONCONFORMITY, (NOTICE, WARNED, LEGAL, FINED), (acts.PROJECTS_SUSPENDED, "2026-04-17"), ["not_long_enough"]),
        (NONCONFORMITY, (NOTICE, WARNED, LEGAL, FINED), (acts.PROJECTS_SUSPENDED, "2026-04-18"), []),
        (NONCONFORMITY, (NOTICE, WARNED, LEGAL), SUSPENDED, ["no_fined"]),
        (NONCONFORMITY, (NOTICE, WARNED, LEGAL, FINED, CURED), SUSPENDED, ["cured"]),
        (
            NONCONFORMITY,
            (NOTICE, WARNED, LEGAL, FINED, SUSPENDED),
            (acts.PROJECTS_SUSPENDED, "2026-04-21"),
            ["suspended_already"],
        ),
        (NONCONFORMITY, (NOTICE, WARNED, LEGAL, FINED, SUSPENDED), RELEASED, []),
        (
            NONCONFORMITY,
            (NOTICE, WARNED, LEGAL, FINED, SUSPENDED, RELEASED),
            (acts.PROJECTS_RELEASED, "2026-05-02"),
            ["not_suspended"],
        ),
        # after a dismissal only a suspension can still be lifted
        (INFRACTION, (NOTICE, DISMISSED), WARNED, ["dismissed"]),
        (INFRACTION, (NOTICE, WARNED, LEGAL, FINED, SUSPENDED, DISMISSED), RELEASED, []),
        # a proven day may be put right, and lie before everything
        (CLANDESTINE, ((acts.INSTALLED, "2019-03-12"),), (acts.INSTALLED, "1998-04-01"), []),
    ],
)
def test_what_a_step_needs(kind, given, step, expected):
    assert codes(kind, given, step) == expected


def test_every_step_is_known_and_cites_its_articles():
    assert set(STEPS) == set(ACTS)
    for kind, step in STEPS.items():
        assert step.article
        assert step.kinds <= set(KINDS), kind
    found = find_obstacles(file(CLANDESTINE), act(*DOUBLED), FIGURES)
    assert [m.article for m in found] == ["10 § 1", "10 § 1", "10 § 1", "10 § 2"]


@pytest.mark.parametrize(
    ("kind", "given", "state"),
    [
        (CLANDESTINE, (), "suspected"),
        (UNREGISTERED, (), "open"),
        (CLANDESTINE, (NOTICE, TECHNICAL, (acts.INSTALLED, "2019-03-12")), "notified"),
        (CLANDESTINE, (NOTICE, DEFENCE, REJECTED), "defence_decided"),
        (CLANDESTINE, (*ALL_PAPERS, DOUBLED), "doubled"),
        (CLANDESTINE, (*ALL_PAPERS, DOUBLED, REMOVED), "removed"),
        (INFRACTION, (NOTICE, WARNED, LEGAL, FINED, SUSPENDED), "projects_suspended"),
        (INFRACTION, (NOTICE, WARNED, LEGAL, FINED, SUSPENDED, RELEASED), "fined"),
        (INFRACTION, (NOTICE, WARNED, LEGAL, FINED, CURED), "cured"),
        (INFRACTION, (NOTICE, WARNED, LEGAL, FINED, CURED, DISMISSED), "dismissed"),
    ],
)
def test_states_follow_the_steps(kind, given, state):
    assert file(kind, *given).state == state
    assert state in CASE_STATES


DECIDED = Decision("D", "1", date(2026, 1, 1), "A", "ample_defence_days", "20")


@pytest.mark.parametrize(
    ("kind", "days", "decision", "expected"),
    [
        (INFRACTION, "hold", None, (15, "9 § 4")),
        (NONCONFORMITY, "hold", None, (15, "9 § 4")),
        (CLANDESTINE, "20", DECIDED, (20, "10 § 1")),
        (UNREGISTERED, "20", DECIDED, (20, "12, 15")),
        (CLANDESTINE, "hold", None, "art. 10 § 1"),
        (CLANDESTINE, "20", None, "art. 10 § 1"),  # typed into the file, decided by nobody
        (UNREGISTERED, "hold", None, "art. 12"),
    ],
)
def test_the_term_of_a_notice(kind, days, decision, expected):
    policy, on = parse_policy({"ample_defence_days": days}), date(2026, 3, 2)
    if isinstance(expected, str):
        with pytest.raises(LawError, match=expected):
            notice_term(kind, on, FIGURES, policy, decision)
    else:
        assert notice_term(kind, on, FIGURES, policy, decision) == expected


def test_a_term_ends_on_a_day_of_business():
    def works(day):
        return day.weekday() < 5 and day != date(2026, 4, 21)

    assert last_day(date(2026, 3, 2), 15, works) == date(2026, 3, 17)
    assert last_day(date(2026, 4, 3), 15, works) == date(2026, 4, 20)  # a Saturday
    assert last_day(date(2026, 4, 6), 15, works) == date(2026, 4, 22)  # a holiday


SUSPENDING = (NOTICE, WARNED, LEGAL, FINED, SUSPENDED)


@pytest.mark.parametrize(
    ("found", "on", "expected"),
    [
        (file(INFRACTION, *SUSPENDING), "2026-04-19", []),
        (file(INFRACTION, *SUSPENDING), "2026-04-20", ["9 § 3"]),
        (file(INFRACTION, *SUSPENDING, RELEASED), "2026-04-30", ["9 § 3"]),
        (file(INFRACTION, *SUSPENDING, RELEASED), "2026-05-01", []),
        (file(INFRACTION, *SUSPENDING, operator="beta"), "2026-04-20", []),
        (file(UNREGISTERED), "2026-04-20", ["12 § 4"]),
        (file(UNREGISTERED), "2026-03-01", []),  # not opened yet
        (file(UNREGISTERED, NOTICE, DELIVERED), "2026-04-04", ["12 § 4"]),
        (file(UNREGISTERED, NOTICE, DELIVERED), "2026-04-05", []),
        (file(UNREGISTERED, NOTICE, DISMISSED), "2026-04-05", []),
        (file(UNREGISTERED, opened="2001-07-02"), "2002-06-27", []),  # the year isn't over
        (file(UNREGISTERED, opened="2001-07-02"), "2002-06-28", ["12 § 4"]),
        (file(CLANDESTINE, *ALL_PAPERS, DOUBLED), "2026-04-20", []),
    ],
)
def test_what_keeps_an_operator_from_new_projects(found, on, expected):
    assert [m.article for m in find_blocks([found], "alfa", date.fromisoformat(on), FIGURES)] == expected


# -- the fine


def note(kind, *days):
    lines = tuple(
        NoteLine(
            month=BillingMonth(first.year, first.month),
            what="",
            now=Decimal(1),
            before=Decimal(0),
            amount=Decimal(1),
            articles=(),
            first_day=first,
            last_day=last,
        )
        for first, last in days
    )
    return Note("2026/000001", kind, date(2026, 4, 1), None, None, None, None, "", lines, Decimal(1))


def spans(*notes, until="2026-04-30", more=()):
    found = days_to_charge(file(INFRACTION, NOTICE, WARNED, LEGAL, FINED, *more), notes, date.fromisoformat(until))
    return [(s.first.isoformat(), s.last.isoformat(), s.days) for s in found]


def day(text):
    return date.fromisoformat(text)


def test_an_act_that_changes_the_share_counts_from_its_own_day():
    old = FIGURES.figure("fine_share", date(2026, 9, 1))
    new = replace(old, value=Decimal("0.30"), act="Lei 9/2026", in_force_from=date(2026, 9, 16))
    span = FinedDays(BillingMonth(2026, 9), date(2026, 9, 1), date(2026, 9, 30))
    first, second = by_share(span, lambda day: new if new.in_force(day) else old)
    assert first == (FinedDays(span.month, span.first, date(2026, 9, 15)), old)
    assert second == (FinedDays(span.month, date(2026, 9, 16), span.last), new)


def test_a_fine_runs_from_the_day_after_the_term_until_the_notice_is_obeyed():
    assert spans(until="2026-03-17") == []
    assert spans(until="2026-03-18") == [("2026-03-18", "2026-03-18", 1)]
    assert spans() == [("2026-03-18", "2026-03-31", 14), ("2026-04-01", "2026-04-30", 30)]
    assert spans(more=(CURED,)) == [("2026-03-18", "2026-03-31", 14), ("2026-04-01", "2026-04-10", 10)]
    assert spans(more=(DISMISSED,)) == []
    assert fine_from(file(INFRACTION, NOTICE, WARNED, LEGAL)) is None


def test_no_day_is_fined_twice_and_none_is_forgotten():
    first = note(FINE, (day("2026-03-18"), day("2026-03-31")))
    assert spans(first) == [("2026-04-01", "2026-04-30", 30)]
    gap = note(FINE, (day("2026-03-18"), day("2026-03-20")), (day("2026-03-25"), day("2026-04-02")))
    assert spans(gap) == [("2026-03-21", "2026-03-24", 4), ("2026-04-03", "2026-04-30", 28)]
    assert spans(note(FINE, (day("2026-03-18"), day("2026-04-30")))) == []
    assert spans(note(CREDIT, (day("2026-03-18"), day("2026-04-30")))) != []  # another kind fines no day


@pytest.mark.parametrize(("until", "expected"), [(n, n) for n in (1, 14, 15, 44)])
def test_the_days_add_up(until, expected):
    last = day("2026-03-18") + timedelta(days=until - 1)
    assert sum(s[2] for s in spans(until=last.isoformat())) == expected


def test_a_line_is_share_times_price_times_days_rounded_once():
    span = FinedDays(BillingMonth(2026, 3), day("2026-03-18"), day("2026-03-20"))
    line = fine_line(span, Decimal("345.67"), Decimal("0.20"), "9 § 2", "half_up", "2026")
    assert (line.amount, line.now, line.before) == (Decimal("207.40"), Decimal("207.40"), Decimal("0.00"))  # 207.402
    assert (line.days, line.rate, line.base, line.articles) == (3, Decimal("0.20"), Decimal("345.67"), ("9 § 2",))
    one = replace(span, last=span.first)
    assert fine_line(one, Decimal("0.125"), Decimal("0.20"), "9 § 2", "half_even", None).amount == Decimal(
        "0.02"
    )  # 0.025
    assert fine_line(one, Decimal("0.125"), Decimal("0.20"), "9 § 2", "half_up", None).amount == Decimal("0.03")
