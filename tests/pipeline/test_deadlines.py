"""The days that the law sets, worked out by hand from its text and the calendar; iCalendar as RFC 5545 wants it."""

from datetime import date

import pytest
from workspaces import add_operator, bill, done, geobill, make_workspace

from geobill.documents.ical import render_ical
from geobill.domain.case import CURED, FINED, NOTIFIED, Case, CaseAct
from geobill.domain.deadline import CODES, Deadline
from geobill.store.cases import CaseRegister
from geobill.store.workspace import open_workspace

NOW = "2026-11-30T12:00:00Z"


@pytest.fixture(scope="module")
def town(tmp_path_factory):
    """A billed month, an infraction whose notice has a term, a fine, a cured case, a court's order with an end."""
    root = make_workspace(tmp_path_factory.mktemp("town"))
    bill(root)
    opened = open_workspace(root)
    with opened.database.write() as connection:
        register = CaseRegister(connection, opened.database.tables)
        for id_, more in (("I1", ()), ("I2", (CaseAct("I2", CURED, date(2026, 12, 1)),))):
            register.save_case(Case(id_, "infraction", "alfa", date(2026, 11, 2), "calçada por refazer"), NOW)
            register.save_act(CaseAct(id_, NOTIFIED, date(2026, 11, 2), until=date(2026, 12, 10)), NOW)
            for act in more:
                register.save_act(act, NOW)
        register.save_act(CaseAct("I1", FINED, date(2026, 12, 11), by="Prefeita"), NOW)
    done(
        *("suspension", "add", "--id", "S1", "--case", "1000123-45.2026", "--court", "TJSP", "--kind", "injunction"),
        *(
            "--effect",
            "accrues",
            "--articles",
            "7",
            "--operator",
            "beta",
            "--from",
            "2026-12-01",
            "--until",
            "2027-01-31",
        ),
        workspace=root,
    )
    return root


def deadlines(root, first, last, *more):
    return done("deadlines", "--from", first, "--until", last, *more, workspace=root)["deadlines"]


def by_code(found, code):
    return [d for d in found if d["code"] == code]


def test_the_terms_that_ran_from_the_publication(town):
    found = deadlines(town, "2001-06-27", "2002-07-31")
    told = {d["code"]: (d["on"], d["article"]) for d in found if d["code"] != "month_due"}
    assert told["regulation"] == ("2001-08-26", "17")  # 27 June + 60 days
    assert told["register"] == ("2001-12-27", "12 § 1")  # six months
    assert told["no_projects"] == ("2002-06-27", "12 § 4")  # a year
    assert by_code(found, "expansion_plans")[0]["on"] == "2002-03-10"  # 10 March 2001 was before the law
    assert by_code(deadlines(town, "2026-11-30", "2027-11-30"), "register") == []


def test_expansion_plans_of_each_operator_that_the_law_reaches(town):
    found = by_code(deadlines(town, "2027-03-01", "2028-03-31"), "expansion_plans")
    assert {(d["on"], d["operator"]) for d in found} == {
        (f"{year}-03-10", o) for year in (2027, 2028) for o in ("alfa", "beta", "gama")
    }  # daec is the municipality's own (art. 13)
    assert {d["article"] for d in found} == {"11"}


def test_due_days_follow_the_banking_calendar_and_end_where_they_are_asked_for(town):
    found = by_code(deadlines(town, "2026-12-15", "2027-05-17"), "month_due")
    # 15 May 2027 is a Saturday
    assert [d["on"] for d in found] == [
        "2026-12-15",
        "2027-01-15",
        "2027-02-15",
        "2027-03-15",
        "2027-04-15",
        "2027-05-17",
    ]
    assert by_code(deadlines(town, "2026-12-16", "2027-05-16"), "month_due")[-1]["on"] == "2027-04-15"


def test_invoices_are_due_with_what_is_to_be_paid(town):
    found = by_code(deadlines(town, "2026-12-01", "2026-12-31"), "invoice_due")
    assert [(d["on"], d["reference"], d["operator"]) for d in found] == [
        ("2026-12-15", "2026/000001", "alfa"),
        ("2026-12-15", "2026/000002", "beta"),
    ]
    assert "novembro de 2026" in found[0]["summary"]


def test_terms_of_open_cases_alone(town):
    found = [d for d in deadlines(town, "2026-11-30", "2027-02-28") if d["reference"].startswith("I")]
    assert {(d["code"], d["on"], d["article"]) for d in found} == {
        ("case_term", "2026-12-10", "9"),
        ("fine_defence", "2026-12-26", "9 § 4"),  # fifteen days after 11 December
        ("projects_may_be_suspended", "2027-01-10", "9 § 3"),  # the 31st day after the term's last
    }
    assert {d["reference"] for d in found} == {"I1"}  # I2 was cured


def test_courts_and_limitation(town):
    found = deadlines(town, "2026-11-30", "2027-02-28")
    (order,) = by_code(found, "suspension_ends")
    assert (order["on"], order["reference"], order["article"]) == ("2027-01-31", "S1", "7")
    (limit,) = by_code(found, "limitation")
    # November 2021 was due on 15 December 2021: five years later it is as old as may be
    assert limit["on"] == "2026-12-15"
    assert "novembro de 2021" in limit["summary"]
    assert {d["code"] for d in found} <= set(CODES)
    assert [d["on"] for d in found] == sorted(d["on"] for d in found)


def test_the_day_up_to_which_the_law_was_checked(tmp_path):
    root = tmp_path / "ws"
    done("init", root)
    done("law", "confirm", "--until", "2027-06-30", "--by", "Ana", workspace=root)
    answer = done("deadlines", "--from", "2027-01-01", "--until", "2027-12-31", workspace=root)
    (checked,) = by_code(answer["deadlines"], "law_checked")
    assert (checked["on"], answer["law_checked_until"]) == ("2027-06-30", "2027-06-30")
    assert by_code(answer["deadlines"], "month_due")[-1]["on"] == "2027-12-15"  # by the figures as they stand


def test_a_span_that_is_none_is_refused(town):
    answer = geobill("deadlines", "--from", "2027-01-01", "--until", "2026-01-01", workspace=town)
    assert (answer.code, answer.out) == (1, "")
    assert "--from before --until" in answer.err


def unfolded(content):
    """Content lines of an iCalendar text, unfolded; every physical line is checked."""
    text = content.decode("utf-8")
    assert text.endswith("\r\n")
    assert "\n" not in text.replace("\r\n", "")
    assert all(len(line.encode()) <= 75 for line in text.split("\r\n"))
    return text.replace("\r\n ", "").split("\r\n")[:-1]


def test_the_file_that_a_calendar_takes(town, tmp_path):
    file = tmp_path / "prazos.ics"
    found = deadlines(town, "2026-11-30", "2027-11-30", "--ics", file)
    lines = unfolded(file.read_bytes())
    assert (lines[0], lines[-1], lines.count("BEGIN:VEVENT")) == ("BEGIN:VCALENDAR", "END:VCALENDAR", len(found))
    uids = [line for line in lines if line.startswith("UID:")]
    assert len(set(uids)) == len(found)
    assert "DTSTART;VALUE=DATE:20270310" in lines
    assert "DTEND;VALUE=DATE:20270311" in lines
    assert sum(line.startswith("DTSTAMP:2") for line in lines) == len(found)
    answer = geobill("deadlines", "--ics", tmp_path / "prazos.txt", workspace=town)
    assert (answer.code, answer.out) == (1, "")


def test_escapes_folds_and_a_uid_that_stays_when_the_day_moves():
    said = "Vence, já; a “fatura” de Ação \\ Cia.\nsegunda linha " + "é" * 80
    one = Deadline(
        date(2027, 2, 28), "invoice_due", "8", "alfa", "Alfa", said, "2027/000001", "invoice_due/2027/000001"
    )
    lines = unfolded(render_ical([one], "Prazos, todos", NOW))
    assert "X-WR-CALNAME:Prazos\\, todos" in lines
    summary = next(line for line in lines if line.startswith("SUMMARY:"))
    assert summary == "SUMMARY:Vence\\, já\\; a “fatura” de Ação \\\\ Cia.\\nsegunda linha " + "é" * 80
    assert "DTSTAMP:20261130T120000Z" in lines
    later = Deadline(
        date(2027, 3, 1),
        *(getattr(one, n) for n in ("code", "article", "operator", "whom", "summary", "reference", "key")),
    )
    uid = [line for line in lines if line.startswith("UID:")]
    assert uid == [line for line in unfolded(render_ical([later], "Prazos, todos", NOW)) if line.startswith("UID:")]
    assert uid != [line for line in unfolded(render_ical([one], "Outra cidade", NOW)) if line.startswith("UID:")]


def test_a_town_without_operators_has_a_calendar_too(tmp_path):
    root = tmp_path / "ws"
    done("init", root)
    assert by_code(deadlines(root, "2027-01-01", "2027-12-31"), "expansion_plans") == []
    add_operator(root, "daec", "Águas", "municipal")
    assert by_code(deadlines(root, "2027-01-01", "2027-12-31"), "expansion_plans") == []
