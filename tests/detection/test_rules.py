"""Each kind of finding on lines: that it is found where it is, with its figures, and not where it isn't."""

from decimal import Decimal

import drawn_surveys as made
import pytest
from drawn_surveys import line, permitted, survey, terms

from geobill.detection.confidence import by_length, not_by_error, sigma_m
from geobill.detection.line_rule import LineRule
from geobill.detection.lines import detect_lines
from geobill.detection.rules import RULES
from geobill.domain.detection import FINDING_KINDS, MISSING, MORE, MOVED, UNDECLARED_SEGMENT, WIDER
from geobill.frames import FOUND

STREET = line((0, 0), (100, 0))
FAR = line((0, 500), (100, 500))
# kind → a survey of it, and its figures: row, from, to, permitted, mean offset
SHOWN = {
    UNDECLARED_SEGMENT: ([line((0, 0), (100, 0), (160, 0))], {}, (1, 100.0, 160.0, None, "30.00")),
    MORE: ([STREET, line((0, 2), (100, 2))], {}, (2, 0.0, 100.0, "P1", "2.00")),
    MOVED: ([line((0, 5), (100, 5))], {}, (1, 0.0, 100.0, "P1", "5.00")),
    WIDER: ([line((0, 1), (100, 1))], {"width_m": "0.80"}, (1, 0.0, 100.0, "P1", "1.00")),
    MISSING: ([line((0, 0), (60, 0))], {}, (1, 60.0, 100.0, "P1", "20.00")),
}
LINE_RULES = [rule for rule in RULES if isinstance(rule, LineRule)]


def findings(lines, on=None, allowed=(STREET,), **columns):
    return detect_lines(survey(lines, **columns), permitted(allowed), on or terms()).findings


def test_rules_are_one_for_each_kind_and_one_example_for_each():
    assert len({r.kind for r in LINE_RULES}) == len(LINE_RULES)
    assert {r.kind for r in RULES} <= FINDING_KINDS.keys()
    assert {r.kind for r in LINE_RULES} == SHOWN.keys()


@pytest.mark.parametrize("rule", LINE_RULES, ids=lambda r: r.kind)
def test_rule_finds_its_kind_and_nothing_else(rule):
    lines, columns, expected = SHOWN[rule.kind]
    (found,) = findings(lines, **columns).itertuples()
    told = (found.source_row, round(found.start_m, 6), round(found.end_m, 6), found.permitted, found.offset_mean_m)
    assert (found.kind, told) == (rule.kind, expected)
    assert Decimal(found.length_m) == Decimal(str(found.end_m - found.start_m)).quantize(Decimal("0.01"))
    assert 0 < float(found.confidence) <= 1


@pytest.mark.parametrize("rule", LINE_RULES, ids=lambda r: r.kind)
def test_rule_finds_nothing_in_a_survey_that_is_what_is_permitted(rule):
    assert not len(findings([line((100, 0.5), (0, 0.5))], width_m="0.50"))


def test_findings_are_by_the_contract_also_where_there_are_none():
    for lines in ([STREET], [FAR]):
        assert list(findings(lines).columns) == list(FOUND)
        assert findings(lines).crs == "EPSG:31983"


def test_widths_stand_with_the_finding():
    (found,) = findings([STREET], width_m="0.80").itertuples()
    assert (found.width_m, found.permitted_width_m) == ("0.80", "0.50")
    assert not len(findings([STREET], width_m="0.50"))
    assert not len(findings([STREET], width_m=None))


def test_wider_is_told_for_each_permitted_row_and_not_for_a_short_end_on_a_neighbour():
    rows = [line((0, 0), (48, 0)), line((48, 0), (100, 0))]
    found = findings([line((0, 1), (50, 1))], allowed=rows, width_m="0.80")
    assert found[found["kind"] == WIDER][["permitted", "length_m"]].to_numpy().tolist() == [["P1", "48.00"]]
    found = findings([STREET], allowed=rows, width_m="0.80")
    assert found["permitted"].tolist() == ["P1", "P2"]


def test_confidence_grows_with_distance_and_length():
    def sure(offset, length, on):
        (found,) = findings([line((0, offset), (length, offset)), STREET], on).itertuples()
        return float(found.confidence)

    plain = terms(moved_within=0)
    assert sure(3.2, 100, plain) < sure(20, 100, plain)
    assert sure(20, 6, plain) < sure(20, 30, plain) < sure(20, 100, plain)
    # measured badly, the same distance says less
    assert sure(20, 100, terms(survey_accuracy=8, permitted_accuracy=2, moved_within=0)) < sure(20, 100, plain)


def test_confidence_is_the_formula_that_is_told():
    on = terms(3, 5)
    assert sigma_m(on) == 1.5  # half the tolerance
    assert sigma_m(terms(survey_accuracy=3, permitted_accuracy=4)) == 5
    assert not_by_error([1.5, 3.0], on) == pytest.approx([0.6827, 0.9545], abs=1e-4)
    assert by_length(5.0, on) == 0.5
    (found,) = findings([line((0, 4), (45, 4)), STREET], terms(moved_within=0)).itertuples()
    assert found.confidence == f"{0.9923 * 45 / 50:.2f}"


def test_two_drawings_of_one_cable_are_hardly_more_than_permitted():
    (twice,) = findings([STREET, STREET]).itertuples()
    assert (twice.kind, twice.confidence) == (MORE, "0.00")
    (two,) = findings([STREET, line((0, 2.5), (100, 2.5))]).itertuples()
    assert float(two.confidence) > 0.8


def test_what_a_survey_doesnt_know_stays_unknown():
    (found, _) = findings([FAR], operator=None, service=None).itertuples()
    unknown = (found.operator, found.service, found.level, found.width_m, found.permitted_width_m, found.volume_m3)
    assert unknown == (None,) * 6


def test_attributes_are_those_of_the_surveyed_row():
    (found, _) = findings([FAR], operator="alfa", service="MT", level="aéreo").itertuples()
    assert (found.operator, found.service, found.level, found.segment) == ("alfa", "MT", "aéreo", "S1")


def test_missing_carries_the_permitted_rows_attributes():
    allowed = permitted([STREET, FAR], operator="alfa", service="MT")
    found = detect_lines(survey([STREET]), allowed, made.terms()).findings
    (row,) = found.itertuples()
    assert (row.kind, row.source_row, row.operator, row.permitted_width_m) == (MISSING, 2, "alfa", "0.50")
    assert row.width_m is None
