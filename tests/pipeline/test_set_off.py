"""Credits from waived revenue (art. 14) taken off a month's invoices, and given back."""

import pytest
from billed_town import ALFA_TOTAL, copy_town, make_billed_town
from permit_town import refused
from workspaces import bill, done

from pipeline.checks import load_archived, load_invoices, query

NEXT, ISSUED_ON = "2026-11", "2026-12-01"
LAW = "Lei Municipal 5.000/2025"


@pytest.fixture(scope="module")
def billed(tmp_path_factory):
    return make_billed_town(tmp_path_factory.mktemp("billed"))


@pytest.fixture
def town(billed, tmp_path):
    return copy_town(billed, tmp_path)


def credit(root, id_, amount, on="2026-11-02", operator="alfa"):
    given = ("--operator", operator, "--law", LAW, "--amount", amount, "--on", on, "--reference", "Processo 7/2026")
    return done("credit", "add", "--id", id_, *given, workspace=root)


def left(root):
    return {c["id"]: c["left"] for c in done("credit", "list", workspace=root)["credits"]}


def of_alfa(root, month=NEXT):
    return next(i for i in load_invoices(root) if i.operator.id == "alfa" and str(i.month) == month)


def test_credits_are_taken_oldest_first_and_the_rest_is_kept(town):
    done("policy", "set", "set_off_share", "0.30", workspace=town)
    credit(town, "C2", "500.00", on="2026-11-03")
    credit(town, "C1", "20.00", on="2026-10-01")
    assert "set_off_held" not in {f["code"] for f in bill(town, month=NEXT, issued_on=ISSUED_ON)["findings"]}
    invoice = of_alfa(town)
    # 30 % of R$ 415.20 is R$ 124.56
    assert [(s.credit, s.law, str(s.amount)) for s in invoice.set_offs] == [("C1", LAW, "20.00"), ("C2", LAW, "104.56")]
    assert (invoice.total, str(invoice.payable)) == (ALFA_TOTAL, "290.64")
    assert left(town) == {"C1": "0.00", "C2": "395.44"}
    assert load_archived(town, invoice.number)["set_offs"].count("104.56") == 1
    listed = done("invoice", "list", "--operator", "alfa", "--month", NEXT, workspace=town)["invoices"]
    assert [(i["total"], i["payable"]) for i in listed] == [("415.20", "290.64")]
    bill(town, month=NEXT, issued_on=ISSUED_ON)
    assert left(town) == {"C1": "0.00", "C2": "395.44"}
    others = [i for i in load_invoices(town) if i.operator.id == "beta"]
    assert [i.set_offs for i in others] == [(), ()]


def test_a_cancelled_invoice_gives_its_credits_back(town):
    done("policy", "set", "set_off_share", "1", workspace=town)
    credit(town, "C1", "500.00")
    bill(town, month=NEXT, issued_on=ISSUED_ON)
    assert left(town) == {"C1": "84.80"}
    number = of_alfa(town).number
    back = done("invoice", "cancel", number, "--reason", "x", "--by", "Ana", "--on", ISSUED_ON, workspace=town)
    assert back["given_back"] == [{"credit": "C1", "law": LAW, "amount": "415.20"}]
    assert left(town) == {"C1": "500.00"}
    bill(town, month=NEXT, issued_on=ISSUED_ON)
    assert left(town) == {"C1": "84.80"}
    assert query(town, "SELECT amount_cents FROM credit_uses ORDER BY fid") == [(41520,), (-41520,), (41520,)]


def test_nothing_is_set_off_until_a_share_is_decided(town):
    credit(town, "C1", "20.00")
    found = bill(town, month=NEXT, issued_on=ISSUED_ON)["findings"]
    (said,) = [f for f in found if f["code"] == "set_off_held"]
    assert "C1 of alfa (R$ 20.00)" in said["message"]
    assert of_alfa(town).set_offs == ()
    assert left(town) == {"C1": "20.00"}


def test_a_check_stands_for_what_is_set_off_too(town):
    settings = town / "geobill.toml"
    text = settings.read_text(encoding="utf-8").replace("second_person = false", "second_person = true")
    settings.write_text(text, encoding="utf-8")
    done("policy", "set", "set_off_share", "0.30", workspace=town)
    done("bill", "--month", NEXT, "--draft", "--by", "Ana Lima", workspace=town)
    done("bill", "check", "--month", NEXT, "--by", "Bia Reis", workspace=town)
    credit(town, "C1", "20.00")
    said = refused(town, "bill", "--month", NEXT, "--issued-on", ISSUED_ON)
    assert "what is set off" in said
    done("bill", "--month", NEXT, "--draft", "--by", "Ana Lima", workspace=town)
    checked = done("bill", "check", "--month", NEXT, "--by", "Bia Reis", workspace=town)
    bill(town, month=NEXT, issued_on=ISSUED_ON)
    assert done("bill", "check", "--month", NEXT, workspace=town)["digest"] == checked["digest"]


def test_what_is_no_credit(town):
    given = {"--id": "C1", "--operator": "alfa", "--law": LAW, "--amount": "20.00", "--on": "2026-11-02"}

    def said(**changes):
        options = given | {f"--{k}": v for k, v in changes.items()}
        return refused(town, "credit", "add", *(part for pair in options.items() for part in pair))

    assert "art. 14" in said(law=" ")
    assert "more than nothing" in said(amount="0")
    assert "whole cents" in said(amount="1.005")
    assert "no amount" in said(amount="1,50")
    assert "still to come" in said(on="2999-01-01")
    assert "known: alfa, beta" in said(operator="zeta")
    assert query(town, "SELECT count(*) FROM credits") == [(0,)]
    credit(town, "C1", "20.00")
    assert "recorded already" in said()


def test_credits_as_they_stood_on_a_day(town):
    credit(town, "C1", "20.00", on="2026-11-02")
    assert done("credit", "list", "--on", "2026-11-01", workspace=town)["credits"] == []
    assert done("credit", "list", "--operator", "beta", workspace=town)["credits"] == []
