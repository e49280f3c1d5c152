"""Past months of a case: each by its own edition and R, what was paid taken off, what is old held (arts. 10 § 3, 12)."""

import json
from datetime import date
from decimal import Decimal

import pytest
from workspaces import (
    add_operator,
    bill,
    done,
    geobill,
    import_network,
    import_zones,
    write_network,
    write_zones,
)

from geobill.domain.case import DOUBLED, INSTALLED, Case, CaseAct
from geobill.pipeline.invoices import list_booked
from geobill.store.cases import CaseRegister
from geobill.store.workspace import open_workspace

ISSUED = "2026-11-30"
NOW = "2026-11-20T12:00:00Z"
LAWFUL, CLANDESTINE = [(100, 50), (6100, 50)], [(100, 250), (500, 250)]


def decide(workspace, kind="clandestine", installed="2019-03-12", id_="C1", segments=("X1",)):
    """Put a decided case on record, as the steps of `geobill case` leave it."""
    opened = open_workspace(workspace)
    with opened.database.write() as connection:
        register = CaseRegister(connection, opened.database.tables)
        register.save_case(Case(id_, kind, "alfa", date(2026, 8, 1), "cabo em poste", segments=segments), NOW)
        if installed:
            register.save_act(CaseAct(id_, INSTALLED, date.fromisoformat(installed), reference="nota fiscal 1"), NOW)
        register.save_act(CaseAct(id_, DOUBLED, date(2026, 11, 20), by="Secretário"), NOW)


@pytest.fixture
def town(tmp_path):
    """6,000 m of lawful network (R = 0.90) and 400 m that nobody declared; the map changes on 1 January 2023."""
    root = tmp_path / "town"
    done("init", root)
    add_operator(root, "alfa", "Alfa S.A.")
    for edition, since, value in (("2015", "2015-01-01", 180), ("2023", "2023-01-01", 240)):
        import_zones(root, write_zones(tmp_path / f"{edition}.geojson", ("Z1", value, 0, 0, 8000, 400)), edition, since)
    import_network(root, write_network(tmp_path / "rede.geojson", ("L1", 0.5, LAWFUL)), "alfa")
    return root


def import_line(root, folder, status="suspected", **more):
    file = write_network(folder / "achado.geojson", ("X1", 0.3, CLANDESTINE, {"situacao": status, **more}))
    return import_network(root, file, "alfa")


def retroactive(root, *more, case="C1"):
    return done("bill", "--retroactive", case, "--issued-on", ISSUED, *more, workspace=root)


def by_month(answer):
    return {m["month"]: m for m in answer["months"]}


def total(answer, state):
    return sum((Decimal(m["amount"]) for m in answer["months"] if m["state"] == state), Decimal(0))


# 400 m × 0.50 m × T × 3 % × 50 % × 0.90 × 2: 972.00 a month with T = 180, 1,296.00 with T = 240
def test_each_month_takes_its_own_edition_and_its_days(town, tmp_path):
    import_line(town, tmp_path)
    decide(town)
    answer = retroactive(town, "--dry-run")
    months = by_month(answer)
    assert len(months) == 92  # March 2019 to October 2026
    assert months["2019-03"]["now"] == "627.10"  # 972.00 × 20 ÷ 31: from the 12th on
    assert {months[m]["now"] for m in ("2019-04", "2020-02", "2022-12")} == {"972.00"}
    assert {months[m]["now"] for m in ("2023-01", "2024-02", "2026-10")} == {"1296.00"}
    assert months["2024-02"]["lines"][0]["days"] == months["2024-02"]["lines"][0]["month_days"] == 29
    assert (months["2022-12"]["edition"], months["2023-01"]["edition"]) == ("2015", "2023")
    assert {m["reducer"] for m in months.values()} == {"0.90"}
    assert not answer["issued"]


def test_what_is_older_than_five_years_is_worked_out_and_held(town, tmp_path):
    import_line(town, tmp_path)
    decide(town)
    answer = retroactive(town)
    # the month that was due on 16 November 2021 is five years and fourteen days old on 30 November 2026
    assert by_month(answer)["2021-10"]["state"] == "held"
    assert by_month(answer)["2021-11"]["state"] == "demanded"
    assert total(answer, "held") == Decimal("627.10") + 31 * Decimal("972.00")
    assert Decimal(answer["total"]) == total(answer, "demanded") == 14 * Decimal("972.00") + 46 * Decimal("1296.00")
    assert [f["code"] for f in answer["findings"]] == ["limitation", "issuer_incomplete"]
    assert answer["issued"]
    assert answer["number"] == "2026/000001"


@pytest.mark.parametrize(("years", "held", "lapsed"), [("10", 0, 0), ("none", 0, 0), ("5", 0, 32)])
def test_a_decision_says_how_many_years_count(town, tmp_path, years, held, lapsed):
    import_line(town, tmp_path)
    decide(town)
    done(
        *("decision", "add", "--id", "D9", "--number", "9", "--date", "2026-11-25", "--signatory", "Prefeita"),
        *("--question", "limitation_years", "--answer", years),
        workspace=town,
    )
    done("policy", "set", "limitation_years", years, workspace=town)
    answer = retroactive(town)
    states = [m["state"] for m in answer["months"]]
    assert (states.count("held"), states.count("lapsed")) == (held, lapsed)
    assert answer["limitation"] == {"years": None if years == "none" else int(years), "decision": "D9"}


def test_more_years_without_a_decision_change_nothing(town, tmp_path):
    import_line(town, tmp_path)
    decide(town)
    done("policy", "set", "limitation_years", "10", workspace=town)
    assert retroactive(town)["limitation"] == {"years": 5, "decision": None}


def test_what_those_metres_paid_is_taken_off(town, tmp_path):
    import_line(town, tmp_path, status="existing", implantado="2026-08-01")
    for month, day in (("2026-09", "2026-10-01"), ("2026-10", "2026-11-01")):
        bill(town, month=month, issued_on=day)
    decide(town)
    months = by_month(retroactive(town))
    assert months["2026-08"]["before"] == "0.00"
    for month in ("2026-09", "2026-10"):
        assert months[month]["before"] == "648.00"  # charged once
        assert months[month]["amount"] == "648.00"
        assert months[month]["invoice"] is not None
    assert max(months) == "2026-10"


def test_a_month_that_is_not_invoiced_yet_comes_with_its_invoice(town, tmp_path):
    import_line(town, tmp_path, status="existing")
    bill(town, month="2026-09", issued_on="2026-10-01")
    decide(town)
    assert max(by_month(retroactive(town))) == "2026-09"
    october = done("price", "--month", "2026-10", workspace=town)
    assert [line["amount"] for o in october["operators"] for line in o["lines"] if line["multiplier"] == "2"] == [
        "1296.00"
    ]


def test_a_month_that_a_case_demanded_gets_no_invoice_over_it(town, tmp_path):
    import_line(town, tmp_path)
    decide(town)
    retroactive(town)
    billed = bill(town, "--due", "2026-12-15", month="2026-10", issued_on=ISSUED)
    assert billed["invoices"] == []
    (said,) = [f for f in billed["findings"] if f["code"] == "partly_demanded"]
    assert "R$ 1296.00" in said["message"]
    assert "R$ 11016.00" in said["message"]
    with_all = ("correct", "--month", "2026-10", "--reason", "rede regular nunca faturada", "--issued-on", ISSUED)
    assert geobill(*with_all, workspace=town).code == 1  # nobody asks for the rest by the way
    rest = done(*with_all, "--operator", "alfa", workspace=town)
    assert [n["total"] for n in rest["notes"]] == ["9720.00"]


def test_a_second_run_demands_nothing_twice(town, tmp_path):
    import_line(town, tmp_path)
    decide(town)
    assert retroactive(town)["issued"]
    again = retroactive(town)
    assert not again["issued"]
    assert again["total"] == "0.00"


def test_without_a_proven_day_it_runs_from_the_law(town, tmp_path):
    for edition, since in (("2001", "2001-01-01"),):
        import_zones(town, write_zones(tmp_path / "2001.geojson", ("Z1", 100, 0, 0, 8000, 400)), edition, since)
    import_line(town, tmp_path)
    decide(town, installed=None)
    months = by_month(retroactive(town, "--dry-run"))
    assert min(months) == "2001-06"
    assert months["2001-06"]["now"] == "72.00"  # 540.00 × 4 ÷ 30: published on the 27th
    assert len(months) == 305


def test_an_unregistered_network_pays_once_and_double_after_six_months(town, tmp_path):
    import_zones(town, write_zones(tmp_path / "2001.geojson", ("Z1", 100, 0, 0, 8000, 400)), "2001", "2001-01-01")
    import_line(town, tmp_path)
    decide(town, kind="unregistered", installed=None)
    months = by_month(retroactive(town, "--dry-run"))
    assert (months["2001-12"]["now"], months["2002-01"]["now"]) == ("270.00", "540.00")


def test_months_alike_are_priced_once(town, tmp_path):
    from geobill.domain.dates import BillingMonth
    from geobill.pipeline.month import Stored
    from geobill.pipeline.past import Past

    import_line(town, tmp_path)
    decide(town)
    opened = open_workspace(town)
    with opened.database.read() as connection:
        past, stored = None, Stored(opened, connection)
        past = Past(stored, "alfa")
        span = list(BillingMonth(2019, 1).until(BillingMonth(2026, 10)))
        alike = {month: past.lines(month, frozenset({"X1"}), frozenset())[0] for month in span}
        assert past.priced == 4  # before, the first month, each edition
        for month in span:  # the very lines that pricing the month by itself gives
            whole = stored.price(month, operator="alfa").bill.operators[0]
            assert alike[month] == tuple(line for line in whole.lines if line.multiplier == 2)


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (("--retroactive", "C7"), "no case 'C7'"),
        (("--retroactive", "C1", "--until", "2026-11"), "isn't past"),
        (("--retroactive", "C1", "--until", "2019-02"), "no past month"),
    ],
)
def test_refusals(town, tmp_path, args, says):
    import_line(town, tmp_path)
    decide(town)
    answer = geobill("bill", *args, "--issued-on", ISSUED, workspace=town)
    assert answer.code == 1
    assert says in answer.err


def test_the_note_keeps_what_it_was_computed_from(town, tmp_path):
    import_line(town, tmp_path)
    decide(town)
    retroactive(town)
    opened = open_workspace(town)
    with opened.database.read() as connection:
        from geobill.store.ledger import Ledger
        from geobill.store.notes import NoteBook

        (note,) = NoteBook(connection, opened.database.tables).load(case="C1")
        kept = NoteBook(connection, opened.database.tables).load_inputs(note.number)
        assert {"statute", "network", "case", "2021-11/edition", "2023-01/edition", "2021-11/policy"} <= set(kept)
        case = json.loads(Ledger(connection, opened.database.tables).load_archived(kept["case"]))
        assert case["case"]["id"] == "C1"
    assert note.total == sum((line.amount for line in note.lines), Decimal(0))
    for line in note.lines:
        assert line.now == sum((part.amount for part in line.lines), Decimal(0))


def test_two_cases_on_one_row_demand_its_metres_once(town, tmp_path):
    import_line(town, tmp_path)
    decide(town)
    first = retroactive(town)
    assert first["issued"]
    decide(town, "unregistered", id_="C2")
    again = retroactive(town, case="C2")
    assert (again["issued"], again["total"]) == (False, "0.00")  # doubled once (doublings_cumulate = false)
    assert {m["before"] for m in again["months"] if m["month"] > "2023"} == {"1296.00"}


def test_what_two_doublings_ask_more_is_demanded_by_the_second_case(town, tmp_path):
    import_line(town, tmp_path)
    decide(town)
    first = retroactive(town)
    done("policy", "set", "doublings_cumulate", "true", workspace=town)
    decide(town, "unregistered", id_="C2")
    assert (
        retroactive(town, case="C2")["total"] == first["total"]
    )  # four times the price less the two that are demanded


def test_months_in_which_cases_share_some_rows_are_left_to_a_correction(town, tmp_path):
    import_line(town, tmp_path)
    decide(town, segments=("X1", "L1"))
    retroactive(town)
    decide(town, "unregistered", id_="C2")
    (finding,) = [f for f in retroactive(town, case="C2")["findings"] if f["code"] == "settled_by_note"]
    assert "2026-10 (2026/000001)" in finding["message"]


def test_how_many_years_count_is_the_policy_of_the_day_of_issue(town, tmp_path):
    import_line(town, tmp_path)
    decide(town)
    done(
        *("decision", "add", "--id", "D9", "--number", "9", "--date", "2026-11-25", "--signatory", "Prefeita"),
        *("--question", "limitation_years", "--answer", "10"),
        workspace=town,
    )
    done("policy", "set", "limitation_years", "10", "--since", "2026-11", workspace=town)
    answer = retroactive(town)
    assert answer["limitation"] == {"years": 10, "decision": "D9"}
    assert Decimal(answer["total"]) == total(answer, "demanded") == Decimal("103983.10")
    (booked,) = list_booked(open_workspace(town), operator="alfa")
    basis = booked.paper.basis  # the note prints both
    assert ("limitation_years", "10") in {(use.key, use.value) for use in basis.policy}
    assert [d.id for d in basis.decisions] == ["D9"]
    done("verify", "--all", workspace=town)


def test_a_note_issued_after_the_due_day_of_its_month_takes_the_next(town, tmp_path):
    import_line(town, tmp_path)
    decide(town)
    done("policy", "set", "due_month", "same", workspace=town)  # the 15th of November has passed on the 30th
    assert retroactive(town)["due_on"] == "2026-12-15"
