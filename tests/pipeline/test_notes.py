"""Notes and invoices in one series; an invoice cancelled; the year paid at once; what doctor says of them."""

import json
import shutil
import sqlite3
from contextlib import closing

import pytest
from billed_town import MONTH, copy_town, correct, demanded, edit, make_billed_town, price
from permit_town import refused
from workspaces import bill, done, geobill

from geobill.domain.record import canonical_json, sha256
from pipeline.checks import query

CANCEL = ("--reason", "Emitida para a entidade errada", "--by", "Ana Lima")


@pytest.fixture(scope="module")
def billed(tmp_path_factory):
    return make_billed_town(tmp_path_factory.mktemp("billed"))


@pytest.fixture(scope="module")
def corrected(billed, tmp_path_factory):
    """Town with an invoice of each operator and a note of alfa; not to be changed."""
    town = copy_town(billed, tmp_path_factory.mktemp("corrected"))
    edit(town, "alfa", "A1", largura=0.75)
    correct(town)
    return town


@pytest.fixture
def town(billed, tmp_path):
    return copy_town(billed, tmp_path)


def cancel(root, number, *more):
    return done("invoice", "cancel", number, *CANCEL, *more, workspace=root)


def listed(root, *more):
    return done("invoice", "list", *more, workspace=root)["invoices"]


def checks(root, *names):
    return [
        (c["name"], c["state"])
        for c in geobill("doctor", "--json", workspace=root).json["checks"]
        if c["name"] in names
    ]


def test_a_note_is_kept_with_what_it_was_computed_from(corrected):
    ((record, digest),) = query(corrected, "SELECT record, digest FROM notes")
    note = json.loads(record)
    assert sha256(canonical_json(note | {"digest": ""})) == digest == note["digest"]
    inputs = dict(query(corrected, "SELECT role, sha256 FROM note_inputs WHERE note = ?", "2026/000003"))
    assert dict(note["basis"]["digests"]) == inputs
    assert {f"{MONTH}/{role}" for role in ("statute", "policy", "edition", "network", "equipment", "decisions")} <= set(
        inputs
    )
    for name, digest in query(corrected, "SELECT file_name, sha256 FROM note_documents"):
        assert sha256((corrected / "documents" / "notas" / name).read_bytes()) == digest
    names = [n for (n,) in query(corrected, "SELECT file_name FROM note_documents ORDER BY file_name")]
    assert names == ["nota-de-diferenca-2026-000003-alfa.html", "nota-de-diferenca-2026-000003-alfa.pdf"]
    assert checks(corrected, "invoice numbers", "records", "documents", "archive", "papers", "invoice dates") == [
        (name, "ok") for name in ("invoice numbers", "records", "documents", "archive", "papers")
    ]


@pytest.mark.parametrize(
    ("spoil", "name"),
    [
        ("UPDATE notes SET total_cents = total_cents + 1", "records"),
        ("UPDATE notes SET record = replace(record, '565.20', '465.20')", "records"),
        ("UPDATE note_documents SET content = substr(content, 1, 99) WHERE fid = 1", "documents"),
        ("UPDATE notes SET number = '2026/000005', sequence = 5", "invoice numbers"),
    ],
)
def test_doctor_finds_a_note_that_was_tampered_with(corrected, tmp_path, spoil, name):
    root = shutil.copytree(corrected, tmp_path / "ws")
    with closing(sqlite3.connect(root / "cadastre.gpkg")) as store:
        for (trigger,) in store.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            store.execute(f"DROP TRIGGER {trigger}")
        store.execute(spoil)
        store.commit()
    assert checks(root, name) == [(name, "fault")]


def test_a_note_that_cant_be_printed_takes_no_number(town):
    edit(town, "alfa", "A1", largura=0.75)
    own = town / "templates"
    own.mkdir()
    (own / "nota.typ.j2").write_text("{{ nothing_of_this_name }}", encoding="utf-8")
    refused(town, "correct", "--month", MONTH, "--reason", "x", "--issued-on", "2026-12-01")
    assert query(town, "SELECT count(*) FROM notes") == [(0,)]
    shutil.rmtree(own)
    assert correct(town)["notes"][0]["number"] == "2026/000003"


def test_list_and_show(corrected, tmp_path):
    found = listed(corrected)
    assert [(i["number"], i["kind"], i["total"]) for i in found] == [
        ("2026/000001", "invoice", "415.20"),
        ("2026/000002", "invoice", "150.00"),
        ("2026/000003", "difference", "150.00"),
    ]
    assert [i["number"] for i in listed(corrected, "--operator", "alfa", "--month", MONTH)] == [
        "2026/000001",
        "2026/000003",
    ]
    assert listed(corrected, "--month", "2026-09") == []
    shown = done("invoice", "show", "2026/000001", "--out", tmp_path / "a", workspace=corrected)
    assert [line["amount"] for line in shown["lines"]] == ["300.00", "115.20"]
    (stands,) = shown["standing"]
    assert (stands["total"], stands["notes"]) == ("565.20", ["2026/000003"])
    assert stands["demanded"] == {"invoice": "415.20", "difference": "150.00"}
    assert len(list((tmp_path / "a").iterdir())) == len(shown["files"]) > 2
    shown = done("invoice", "show", "2026/000003", "--out", tmp_path / "b", workspace=corrected)
    assert shown["lines"][0]["invoice"] == "2026/000001"
    assert sorted(p.suffix for p in (tmp_path / "b").iterdir()) == [".html", ".pdf"]
    assert "geobill invoice list" in refused(corrected, "invoice", "show", "2026/000009")


# -- cancelling


def test_a_cancelled_invoice_keeps_its_number_and_the_month_is_issued_anew(town):
    before = query(town, "SELECT * FROM invoices")
    done_ = cancel(town, "2026/000001", "--on", "2026-12-01")
    assert done_["cancelled"] == {"on": "2026-12-01", "by": "Ana Lima", "reason": "Emitida para a entidade errada"}
    assert query(town, "SELECT * FROM invoices") == before
    assert [i["cancelled"] is not None for i in listed(town)] == [True, False]
    assert "nothing to correct" in refused(town, "correct", "--month", MONTH, "--operator", "alfa", "--reason", "x")
    edit(town, "alfa", "A1", largura=0.75)
    anew = bill(town, "--due", "2026-12-15", month=MONTH, issued_on="2026-12-02")
    assert [(i["number"], i["operator"], i["issued_now"]) for i in anew["invoices"]] == [
        ("2026/000002", "beta", False),
        ("2026/000003", "alfa", True),
    ]
    assert demanded(town, "alfa") == price(town, "alfa")
    assert bill(town, month=MONTH, issued_on="2026-12-02")["findings"] == []
    assert checks(town, "invoice numbers", "records") == [("invoice numbers", "ok"), ("records", "ok")]


def test_what_cant_be_cancelled(corrected, tmp_path):
    root = shutil.copytree(corrected, tmp_path / "ws")
    before = query(root, "SELECT * FROM invoice_acts")
    for number, more, said in (
        ("2026/000099", CANCEL, "geobill invoice list"),
        ("2026/000001", CANCEL, "is corrected by 2026/000003"),
        ("2026/000003", CANCEL, "a note isn't cancelled"),
        ("2026/000002", ("--reason", " ", "--by", "Ana Lima"), "--reason"),
        ("2026/000002", (*CANCEL, "--on", "2026-11-02"), "before"),
    ):
        assert said in refused(root, "invoice", "cancel", number, *more)
    assert query(root, "SELECT * FROM invoice_acts") == before
    cancel(root, "2026/000002")
    assert "is cancelled once" in refused(root, "invoice", "cancel", "2026/000002", *CANCEL)


# -- the year paid at once (art. 8, sole paragraph)


def pay_at_once(root, *more, operator="beta", year="2026", issued_on="2026-12-01"):
    return done(
        "bill", "--single-payment", year, "--operator", operator, "--issued-on", issued_on, *more, workspace=root
    )


def test_a_year_paid_at_once(town):
    note = pay_at_once(town, "--by", "Ana Lima")["note"]
    assert (note["kind"], note["number"], note["total"]) == (
        "single_payment",
        "2026/000003",
        "1650.00",
    )  # October is invoiced
    assert [line["month"] for line in note["lines"]] == [f"2026-{m:02d}" for m in (*range(1, 10), 11, 12)]
    assert {line["amount"] for line in note["lines"]} == {"150.00"}
    found = bill(town, month="2026-11", issued_on="2026-12-02")
    assert [i["operator"] for i in found["invoices"]] == ["alfa"]
    assert [(f["code"], f["severity"]) for f in found["findings"] if f["code"] == "paid_at_once"] == [
        ("paid_at_once", "note")
    ]
    edit(town, "beta", "B1", retirado="2026-11-15")
    (finding,) = bill(town, month="2026-11", issued_on="2026-12-02")["findings"]
    assert (finding["code"], finding["severity"]) == ("paid_at_once", "warning")
    (credit,) = correct(town, "--until", "2026-12", month="2026-11")["notes"]
    assert [(line["month"], line["amount"]) for line in credit["lines"]] == [
        ("2026-11", "-75.00"),
        ("2026-12", "-150.00"),
    ]
    assert demanded(town, "beta", "2026-11") == price(town, "beta", "2026-11")
    edit(town, "beta", "B1", retirado="2026-11-30")
    (again,) = correct(town, month="2026-11")["notes"]
    assert [(c["cause"], c["amount"]) for c in again["lines"][0]["causes"]] == [("days", "75.00")]
    assert "has paid 2026 at once" in refused(town, "bill", "--single-payment", "2026", "--operator", "beta")


def test_twelve_months_where_none_is_invoiced(town):
    note = pay_at_once(town, year="2027")["note"]
    assert (len(note["lines"]), note["total"]) == (12, "1800.00")


def test_what_cant_be_paid_at_once(town):
    def said(*more, year="2026", operator="alfa"):
        return refused(town, "bill", "--single-payment", year, "--operator", operator, *more)

    assert "is over" in said("--issued-on", "2026-12-01", year="2025")
    assert "known: alfa, beta" in said("--issued-on", "2026-12-01", operator="zeta")
    edit(town, "alfa", None, retirado="2026-11-30")
    assert "nothing in the street" in said("--issued-on", "2026-12-01")
    assert query(town, "SELECT count(*) FROM notes") == [(0,)]
    assert geobill("bill", "--single-payment", "2026", workspace=town).code == 2
    assert geobill("bill", "--month", MONTH, "--operator", "alfa", workspace=town).code == 2


def test_a_held_price_cant_be_paid_at_once(town):
    long = [
        (-1900, 10),
        *((x, y) for n in range(40) for x, y in ((1900 * (-1) ** n, 10 + 40 * n), (1900 * (-1) ** n, 50 + 40 * n))),
    ]
    edit(town, "alfa", "A1", long)
    assert "nobody has decided" in refused(
        town, "bill", "--single-payment", "2026", "--operator", "alfa", "--issued-on", "2026-12-01"
    )


def test_a_year_that_a_court_suspends_cant_be_paid_at_once(town):
    done(
        *("suspension", "add", "--id", "S1", "--case", "1001", "--court", "TJSP", "--kind", "injunction"),
        *("--effect", "not_charged", "--articles", "7", "--operator", "beta", "--from", "2026-12-10"),
        workspace=town,
    )
    command = ("bill", "--single-payment", "2026", "--operator", "beta", "--issued-on", "2026-12-01")
    assert "S1 (case 1001, TJSP)" in refused(town, *command)
    assert pay_at_once(town, operator="alfa")["note"]["lines"]


def test_past_months_that_cost_something_else_arent_paid_at_once(town):
    edit(town, "beta", "B1", implantado="2026-08-16")
    command = ("bill", "--single-payment", "2026", "--operator", "beta", "--issued-on", "2026-12-01")
    said = refused(town, *command)
    assert "2026-07 (R$ 0.00), 2026-08 (R$ 77.42)" in said
    assert "2026-09" not in said
