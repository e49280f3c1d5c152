"""A month billed: numbers without gaps, sums that close, what an invoice rests on, and nothing issued twice."""

import json
import shutil
from dataclasses import replace
from datetime import date
from decimal import Decimal

import geopandas as gpd
import pytest
import shapely
from workspaces import add_operator, bill, done, geobill, import_network, import_zones, write_network, write_zones

from geobill.domain.dates import BillingMonth
from geobill.domain.invoice import Decision
from geobill.frames import EQUIPMENT, SEGMENTS, ZONES
from geobill.law.policy import parse_policy
from geobill.law.reading import parse_statute
from geobill.law.statutes import load_statute
from geobill.law.statutes.street_use import StreetUseLaw
from geobill.pipeline.billing import due_day
from geobill.pricing.price import price_segments
from geobill.store.settings import read_settings
from pipeline.checks import assert_whole, load_archived, load_invoices, query

TWO = ("2026/000001", "2026/000002")


def files(workspace):
    return {
        p: (p.read_bytes(), p.stat().st_mtime_ns) for p in sorted((workspace / "documents").rglob("*")) if p.is_file()
    }


def new_operator(workspace, tmp_path, id_, lines=(("X1", 0.5, [(10, 50), (90, 50)]),)):
    add_operator(workspace, id_, f"{id_.title()} S.A.")
    return import_network(workspace, write_network(tmp_path / f"{id_}.geojson", *lines), id_)


def numbers(answer, now=True):
    return {i["operator"]: i["number"] for i in answer["invoices"] if i["issued_now"] or not now}


# -- numbers


def test_operators_with_something_due_take_the_first_numbers(workspace):
    assert numbers(bill(workspace)) == dict(zip(("alfa", "beta"), TWO, strict=True))
    assert_whole(workspace, TWO)


def test_a_second_bill_issues_nothing_and_leaves_every_file(workspace):
    first = bill(workspace)
    ledger, documents = query(workspace, "SELECT * FROM invoices"), files(workspace)
    second = bill(workspace, issued_on="2026-12-10")
    assert numbers(second) == {}
    assert numbers(second, now=False) == numbers(first)
    assert second["operators"] == first["operators"]
    assert second["findings"] == []
    assert query(workspace, "SELECT * FROM invoices") == ledger
    assert files(workspace) == documents


@pytest.mark.parametrize(
    "spoil", [lambda p: p.unlink(), lambda p: p.write_bytes(p.read_bytes()[:99])], ids=["gone", "cut"]
)
@pytest.mark.parametrize("kind", ["fatura", "anexo", "minuta"])
def test_a_document_that_is_missing_or_spoilt_is_written_again_as_issued(workspace, spoil, kind):
    bill(workspace)
    before = {p: content for p, (content, _) in files(workspace).items()}
    spoil(next((workspace / "documents" / "2026-11").glob(f"{kind}-*")))
    assert numbers(bill(workspace)) == {}
    assert {p: content for p, (content, _) in files(workspace).items()} == before


def test_an_operator_that_comes_later_takes_the_next_number(workspace, tmp_path):
    bill(workspace)
    new_operator(workspace, tmp_path, "aaa")
    answer = bill(workspace)
    assert numbers(answer) == {"aaa": "2026/000003"}
    assert_whole(workspace, (*TWO, "2026/000003"))


def test_each_year_of_issue_has_its_own_series(workspace):
    bill(workspace)
    for month, issued_on, expected in (
        ("2026-12", "2027-01-04", ["2027/000001", "2027/000002"]),
        ("2026-10", "2026-11-03", ["2026/000003", "2026/000004"]),
        ("2027-01", "2027-02-02", ["2027/000003", "2027/000004"]),
        ("2027-03", "2027-04-01", ["2027/000005", "2027/000006", "2027/000007"]),  # gama's line is there from March on
    ):
        assert list(numbers(bill(workspace, month=month, issued_on=issued_on)).values()) == expected
    assert query(workspace, "SELECT series_year, count(*), max(sequence) FROM invoices GROUP BY 1") == [
        (2026, 4, 4),
        (2027, 7, 7),
    ]
    assert_whole(workspace, [n for (n,) in query(workspace, "SELECT number FROM invoices ORDER BY number")])


def test_nobody_owes_anything_and_no_number_is_taken(tmp_path):
    done("init", tmp_path / "ws")
    answer = bill(tmp_path / "ws")
    assert (answer["invoices"], answer["files"]) == ([], [])
    assert query(tmp_path / "ws", "SELECT count(*) FROM invoices") == [(0,)]


# -- held until a decision, differing after issue


def test_an_operator_above_100_km_is_billed_after_a_decision(workspace, tmp_path):
    long = [(f"L{n}", 0.5, [(-6000, 1000 + 10 * n), (4000, 1000 + 10 * n)]) for n in range(11)]
    import_zones(
        workspace, write_zones(tmp_path / "todo.geojson", ("Todo", "4", -7000, 0, 5000, 2000)), "2002", "2002-01-01"
    )
    new_operator(workspace, tmp_path, "longa", long)
    held = bill(workspace)
    assert set(numbers(held)) == {"alfa", "beta"}
    assert [h["operator"] for h in held["held"] if h["code"] == "above_100_km"] == ["longa"]
    done("policy", "set", "above_100_km", "D1", workspace=workspace)
    decided = bill(workspace)
    assert numbers(decided) == {"longa": "2026/000003"}
    longa = load_invoices(workspace)[-1]
    assert longa.reducer == Decimal("0.60")
    # 110,000 m × 0.50 m × R$ 4 × 0.03 × 0.50 × 0.60
    assert longa.total == Decimal("1980.00")
    assert [d.number for d in longa.basis.decisions] == ["12"]
    assert_whole(workspace, (*TWO, "2026/000003"))


def test_what_no_longer_agrees_with_an_issued_invoice_is_said_and_left(workspace, tmp_path):
    issued = {i["operator"]: i["total"] for i in bill(workspace)["invoices"]}
    ledger = query(workspace, "SELECT * FROM invoices")
    import_network(workspace, write_network(tmp_path / "mais.geojson", ("B9", 0.5, [(110, 70), (190, 70)])), "beta")
    after = bill(workspace)
    assert [f["code"] for f in after["findings"]] == ["differs_from_issued"]
    message = after["findings"][0]["message"]
    owed_now = next(o["total"] for o in after["operators"] if o["operator"] == "beta")
    assert f"2026/000002 of beta stands at R$ {issued['beta']}; the month would now be R$ {owed_now}" in message
    assert owed_now != issued["beta"]
    assert query(workspace, "SELECT * FROM invoices") == ledger
    assert_whole(workspace, TWO)


def test_an_invoice_whose_rows_were_all_taken_back_is_said_too(workspace, tmp_path):
    new_operator(workspace, tmp_path, "eta")
    bill(workspace)
    file = tmp_path / "eta.geojson"
    answer = geobill(
        "import", "network", file, "--operator", "eta", "--replace", "--map", "segment=id", "--map", "width=retirado",
        workspace=workspace,
    )  # fmt: skip
    assert answer.code == 0
    findings = bill(workspace)["findings"]
    assert [f["code"] for f in findings] == ["differs_from_issued"]
    assert "of eta" in findings[0]["message"]
    assert "would now be R$ 0.00" in findings[0]["message"]


# -- due dates


def due(workspace, month, policy=(), calendar=()):
    path = workspace / "geobill.toml"
    text = path.read_text(encoding="utf-8")
    for old, new in calendar:
        assert old in text
        text = text.replace(old, new)
    path.write_text(text + "".join(f'{k} = "{v}"\n' for k, v in policy), encoding="utf-8")
    settings = read_settings(path)
    return due_day(settings, load_statute(settings.statute), BillingMonth.parse(month)).isoformat()


@pytest.mark.parametrize(
    ("month", "policy", "calendar", "expected"),
    [
        ("2026-11", {}, (), "2026-12-15"),  # a Tuesday
        ("2026-07", {}, (), "2026-08-17"),  # 15 August is a Saturday
        ("2026-10", {}, (), "2026-11-16"),  # 15 November is a Sunday
        ("2021-10", {}, (), "2021-11-16"),  # the Republic, on a Monday
        ("2022-03", {}, (), "2022-04-18"),  # Good Friday
        ("2021-01", {}, (), "2021-02-17"),  # Carnival on 15 and 16 February
        ("2021-01", {}, (("carnival_without_banking = true", "carnival_without_banking = false"),), "2021-02-15"),
        ("2017-05", {}, (), "2017-06-16"),  # Corpus Christi
        (
            "2017-05",
            {},
            (("corpus_christi_without_banking = true", "corpus_christi_without_banking = false"),),
            "2017-06-15",
        ),
        ("2026-11", {}, (("local_holidays = []", 'local_holidays = ["12-15"]'),), "2026-12-16"),
        ("2026-11", {}, (("local_holidays = []", 'local_holidays = ["2026-12-15", "12-16"]'),), "2026-12-17"),
        ("2026-11", {}, (("local_holidays = []", 'local_holidays = ["2025-12-15"]'),), "2026-12-15"),
        ("2026-11", {"due_month": "same"}, (), "2026-11-16"),
        ("2026-12", {"due_month": "following"}, (), "2027-01-15"),
        ("2026-10", {"due_day_rule": "same_day"}, (), "2026-11-15"),
        ("2026-11", {"due_day_rule": "same_day", "due_month": "same"}, (), "2026-11-15"),
    ],
)
def test_due_on_the_15th_or_the_next_banking_day(workspace, month, policy, calendar, expected):
    assert due(workspace, month, policy.items(), calendar) == expected


def test_a_due_date_that_has_passed_is_refused_until_one_is_given(workspace):
    before = (workspace / "cadastre.gpkg").read_bytes()
    late = ("bill", "--month", "2026-11", "--issued-on", "2026-12-16")
    answer = geobill(*late, workspace=workspace)
    assert (answer.code, answer.out) == (1, "")
    assert "would be due on 2026-12-15, before they are issued (2026-12-16)" in answer.err
    assert "--due" in answer.err
    assert (workspace / "cadastre.gpkg").read_bytes() == before
    assert not (workspace / "documents").exists()
    assert geobill(*late, "--due", "2026-12-15", workspace=workspace).code == 1
    given = done(*late, "--due", "2027-01-15", workspace=workspace)
    assert {i["due_on"] for i in given["invoices"]} == {"2027-01-15"}
    assert (
        numbers(geobill(*late, "--json", workspace=workspace).json) == {}
    )  # nothing left to issue: no due date needed
    assert_whole(workspace, TWO)


def test_issued_on_its_own_due_day(workspace):
    assert {i["due_on"] for i in bill(workspace, issued_on="2026-12-15")["invoices"]} == {"2026-12-15"}


# -- what an invoice rests on


def frame(text, columns):
    rows = json.loads(text)
    names = [c for c in columns if c != "geometry"]
    data = {n: [r[i] for r in rows] for i, n in enumerate(names)}
    shapes = [shapely.from_wkb(bytes.fromhex(r[-1])) for r in rows]
    return gpd.GeoDataFrame(data, geometry=shapes, crs=31983).astype({n: object for n in names if n != "source_row"})


def test_an_invoice_is_computed_again_from_its_archive_alone(workspace):
    bill(workspace)
    for invoice in load_invoices(workspace):
        archived = load_archived(workspace, invoice.number)
        law = StreetUseLaw(parse_statute(archived["statute"]))  # the law's own text, and who looked
        assert archived["statute"].startswith(load_statute(invoice.basis.statute).figures.source.rstrip("\n"))
        decisions = [Decision(**d | {"date": date.fromisoformat(d["date"])}) for d in json.loads(archived["decisions"])]
        again = price_segments(
            invoice.month,
            frame(archived["network"], SEGMENTS),
            frame(archived["equipment"], EQUIPMENT),
            frame(archived["edition"], ZONES),
            {invoice.operator.id: invoice.operator},
            law,
            parse_policy(json.loads(archived["policy"])),
            {d.id: d for d in decisions},
            invoice.basis,
        )
        assert [o.lines for o in again.bill.operators] == [invoice.lines]


def test_the_archive_holds_the_stored_rows_themselves(workspace):
    bill(workspace)
    names = ", ".join(c for c in SEGMENTS if c != "geometry")
    rows = query(workspace, f"SELECT {names}, geom FROM segments WHERE operator = 'alfa' ORDER BY fid")
    archived = json.loads(load_archived(workspace, TWO[0])["network"])
    assert [tuple(r[:-1]) for r in archived] == [r[:-1] for r in rows]
    assert [bytes.fromhex(r[-1]) for r in archived] == [r[-1][40:] for r in rows]


def test_what_two_invoices_share_is_archived_once(workspace):
    bill(workspace)
    bill(workspace, month="2026-12", issued_on="2027-01-04")
    assert query(workspace, "SELECT count(*) FROM invoice_inputs") == [(24,)]
    kinds = dict(query(workspace, "SELECT kind, count(*) FROM archive GROUP BY kind"))
    # network and equipment are each operator's own: alfa has no cabinets, which is an empty list; each number says its press
    assert kinds == {"press": 4, "statute": 1, "policy": 1, "decisions": 1, "edition": 1, "network": 2, "equipment": 2}


def test_bill_and_price_say_the_same(workspace):
    priced = done("price", "--month", "2026-11", workspace=workspace)
    billed = bill(workspace)
    assert {k: billed[k] for k in priced if k != "findings"} == {k: v for k, v in priced.items() if k != "findings"}
    for invoice in load_invoices(workspace):
        mine = next(o for o in priced["operators"] if o["operator"] == invoice.operator.id)
        cents = query(workspace, "SELECT total_cents FROM invoices WHERE number = ?", invoice.number)[0][0]
        assert Decimal(mine["total"]) * 100 == cents == sum(Decimal(x["amount"]) for x in mine["lines"]) * 100


def test_the_same_workspace_gives_the_same_bytes(workspace, prepared, tmp_path):
    other = shutil.copytree(prepared, tmp_path / "other")
    for root in (workspace, other):
        bill(root)
    assert {p.name: c for p, (c, _) in files(workspace).items()} == {p.name: c for p, (c, _) in files(other).items()}


@pytest.mark.parametrize("out", ["arquivo", "arquivo/dentro"])
def test_a_folder_for_documents_that_is_a_file_is_refused_before_anything_is_issued(workspace, out):
    (workspace / "arquivo").write_text("x")
    answer = geobill(
        "bill", "--month", "2026-11", "--issued-on", "2026-12-01", "--out", workspace / out, workspace=workspace
    )
    assert answer.code == 1
    assert "is a file: the documents need a folder" in answer.err
    assert query(workspace, "SELECT count(*) FROM invoices") == [(0,)]


def test_a_record_reads_back_whole(workspace):
    bill(workspace)
    for invoice in load_invoices(workspace):
        assert replace(invoice, digest="") != invoice
        assert {type(v) for line in invoice.lines for v in (line.amount, line.multiplier)} == {Decimal}
        assert all(isinstance(line.articles, tuple) and isinstance(line.flags, tuple) for line in invoice.lines)
