"""Terms of cases: warned of in their last five days and once they have run out, until something answers them."""

from datetime import date, timedelta

import pytest

from geobill.billing.terms import open_terms
from geobill.domain import case as acts
from geobill.domain.case import Case, CaseAct, CaseFile

UNTIL = date(2026, 3, 17)
NOTICE = CaseAct("C1", acts.NOTIFIED, date(2026, 3, 2), until=UNTIL)


def file(*later, kind=acts.CLANDESTINE):
    after = (CaseAct("C1", what, date(2026, 3, 10)) for what in later)
    return CaseFile(Case("C1", kind, "alfa", date(2026, 3, 1), "…"), (NOTICE, *after))


@pytest.mark.parametrize(
    ("left", "warning"), [(15, None), (6, None), (5, "ends_soon"), (0, "ends_soon"), (-1, "run_out"), (-90, "run_out")]
)
def test_a_term_is_warned_of_from_its_fifth_last_day_on(left, warning):
    (term,) = open_terms(file(), UNTIL - timedelta(days=left))
    assert (term.of, term.until, term.days_left, term.warning) == (acts.NOTIFIED, UNTIL, left, warning)


@pytest.mark.parametrize("answer", [acts.DEFENCE_LODGED, acts.DOUBLED, acts.DISMISSED, acts.REMOVED])
def test_nobody_waits_for_a_term_that_was_answered_or_whose_case_is_over(answer):
    assert open_terms(file(answer), UNTIL + timedelta(days=9)) == ()


def test_an_opinion_answers_no_term_and_a_later_penalty_has_one_of_its_own():
    assert len(open_terms(file(acts.TECHNICAL_OPINION), UNTIL)) == 1
    fine = CaseAct("C1", acts.FINED, date(2026, 3, 20), until=date(2026, 4, 6))
    fined = CaseFile(file(kind=acts.INFRACTION).case, (NOTICE, fine))
    assert [(t.of, t.article) for t in open_terms(fined, UNTIL)] == [(acts.FINED, "9 §§ 2, 6")]
