"""Decrees: every refusal with its article, the price of their date, and apostilas where something changes it."""

import hashlib
import json
import shutil
from pathlib import Path

import pytest
from documents.reading import text_of
from permit_town import (
    ACT,
    DEPOSIT,
    MONTHLY,
    add_permit,
    approve,
    grant,
    import_cabinet,
    import_line,
    issue,
    make_town,
    pay_deposit,
    pay_fee,
    refused,
    refused_issue,
    request,
    second_permit,
)
from workspaces import bill, done, geobill, import_zones, write_zones

from geobill.domain.permit import Decree
from geobill.domain.record import canonical_json, from_plain, sha256
from pipeline.checks import query

STAGES = ("empty", "requested", "ready", "granted", "amended")


@pytest.fixture(scope="module")
def towns(tmp_path_factory):
    """The town at each stage; not to be changed. ``amended``: a second permit has lowered R."""
    folder = tmp_path_factory.mktemp("decrees")
    made = {"empty": make_town(folder / "empty")}

    def after(stage, name):
        made[name] = shutil.copytree(made[stage], folder / name / "ws")
        return made[name]

    request(after("empty", "requested"))
    ready = after("requested", "ready")
    approve(ready)
    pay_deposit(ready)
    pay_fee(ready)
    issue(after("ready", "granted"))
    second_permit(after("granted", "amended"))
    return made


@pytest.fixture
def town(towns, tmp_path, request):
    """Copy of the town at a stage, to be changed."""
    return shutil.copytree(towns[getattr(request, "param", "ready")], tmp_path / "ws")


def at(stage):
    assert stage in STAGES
    return pytest.mark.parametrize("town", [stage], indirect=True)


def price(root, month="2026-12"):
    return done("price", "--month", month, workspace=root)


def amend(root, number="8.001/2026", **changes):
    options = {"apostila": "1/2027", "date": "2027-01-05", "signatory": "Ana Prefeita", "published-on": "2027-01-06"}
    given = [part for key, value in (options | changes).items() for part in (f"--{key}", value)]
    return ("decree", "amend", "--number", number, *given)


def articles(said):
    """Articles of a refusal, in its order."""
    return [line.split(":")[0].removeprefix("  - art. ") for line in said.splitlines() if line.startswith("  - art. ")]


def nothing_recorded(root):
    return query(root, "SELECT count(*) FROM decrees") == query(root, "SELECT count(*) FROM decree_documents") == [(0,)]


# -- refusals


@at("requested")
def test_all_that_is_missing_is_listed_in_one_refusal(town):
    said = refused_issue(town)
    assert articles(said) == ["2", "2, 3", "3", "3 §§ 1, 2", "3 § 1"]
    assert f"the deposit of R$ {DEPOSIT} isn't paid up to 2026-11-03" in said
    assert nothing_recorded(town)


@at("requested")
@pytest.mark.parametrize(
    ("left_out", "article", "said"),
    [
        ("works", "2", "the works secretariat's opinion on the project is missing"),
        ("legal", "2, 3", "the legal office's opinion is missing"),
        ("mayor", "3", "the mayor's authorisation is missing"),
        ("deposit", "3 §§ 1, 2", "isn't paid"),
        ("fee", "3 § 1", "the emolumentos aren't paid"),
    ],
)
def test_each_paper_that_is_missing_is_refused_by_its_article(town, left_out, article, said):
    approve(town, papers=[p for p in ("works", "legal", "mayor") if p != left_out])
    if left_out != "deposit":
        pay_deposit(town)
    if left_out != "fee":
        pay_fee(town)
    message = refused_issue(town)
    assert articles(message) == [article]
    assert said in message
    assert nothing_recorded(town)


@at("requested")
def test_a_deposit_a_cent_short_is_refused(town):
    approve(town)
    pay_deposit(town, amount="1034.99")
    pay_fee(town)
    said = refused_issue(town)
    assert articles(said) == ["3 §§ 1, 2"]
    assert "R$ 1034.99" in said
    assert "R$ 0.01 short" in said
    pay_deposit(town, amount="0.01", receipt="884")
    assert issue(town)["number"] == ACT["number"]


@at("requested")
def test_the_decree_comes_after_every_act(town):
    approve(town)
    pay_deposit(town, on="2026-11-04")
    pay_fee(town)
    said = refused_issue(town)
    assert articles(said) == ["3 §§ 1, 2", "3 § 1"]
    assert "the deposit (881) is of 2026-11-04, after the decree of 2026-11-03" in said
    assert "after the decree of 2026-10-06" in refused_issue(town, date="2026-10-06")
    assert issue(town, date="2026-11-04")["date"] == "2026-11-04"


@pytest.mark.parametrize(
    ("changes", "wanted", "said"),
    [
        ({"published-on": "2026-11-02"}, ["3"], "before its date 2026-11-03"),
        ({"date": "2001-06-26", "published-on": "2026-11-05"}, ["18", "2"], "in force from 2001-06-27"),
        ({"date": "2026-08-31"}, ["2"], "before the request of 2026-09-01"),
    ],
)
def test_dates_that_cant_be(town, changes, wanted, said):
    message = refused_issue(town, **changes)
    assert articles(message)[: len(wanted)] == wanted
    assert said in message
    assert nothing_recorded(town)


@pytest.mark.parametrize("blank", ["number", "signatory"])
def test_number_and_signatory_are_typed_never_made_up(town, blank):
    assert "blank" in refused_issue(town, **{blank: "  "})


def test_a_price_without_reducer_is_held(town):
    for n in range(10):
        import_line(town, f"velha{n}", 9900, 100 + 10 * n)
    said = refused_issue(town)
    assert articles(said) == ["6 § 1, 15"]
    assert "103000.00 m" in said
    assert "art. 15" in refused(town, "deposit", "demand", "--permit", "P1", "--on", "2026-11-03")
    draft = done("decree", "draft", "--permit", "P1", "--on", "2026-11-03", workspace=town)
    assert (draft["monthly"], draft["deposit"], draft["held_m"]) == (None, None, "4000.00")
    assert "o valor mensal fica retido até decisão" in text_of((town / draft["file"]).read_bytes())


@at("empty")
def test_an_exempt_operator_has_no_decree(town):
    add_permit(town, "D1", "daec")
    import_line(town, "d1", 100, 100, "--permit", "D1", "--status", "planned", operator="daec")
    assert articles(refused_issue(town, "D1"))[0] == "13"
    assert "art. 13" in refused(town, "decree", "draft", "--permit", "D1", "--on", "2026-11-03")


@at("empty")
def test_nothing_planned_and_nothing_standing(town):
    add_permit(town)
    approve(town)
    pay_deposit(town)
    pay_fee(town)
    said = refused_issue(town)
    assert articles(said) == ["2"]
    assert "nothing is planned and nothing stands" in said
    assert "nothing to draft" in refused(town, "decree", "draft", "--permit", "P1", "--on", "2026-11-03")


@pytest.mark.parametrize("status", ["clandestine", "clandestine_unregistered"])
def test_clandestine_rows_of_the_permit(town, status):
    import_line(town, "c1", 100, 100, "--permit", "P1", "--status", status)
    said = refused_issue(town)
    assert articles(said) == ["10"]
    assert "1 row(s)" in said


def test_a_clandestine_row_that_is_gone_by_then_is_no_obstacle(town):
    import_line(town, "c1", 100, 100, "--permit", "P1", "--status", "clandestine", retirado="2026-11-02")
    assert issue(town)["monthly"] == MONTHLY


def test_no_edition_of_the_map_no_price(town):
    said = refused_issue(town, number="1", date="2001-06-27")
    assert "no edition" not in said
    import_zones(
        town,
        write_zones(town.parent / "m.geojson", ("Todo", "5", -7000, 0, 5000, 2000)),
        "2026",
        "2026-11-04",
        "--replace",
    )
    assert articles(refused_issue(town)) == ["6 § 1, 7"]


@at("granted")
def test_a_permit_is_granted_once_and_a_number_used_once(town):
    assert articles(refused_issue(town, number="8.002/2026")) == ["2, 3"]
    assert articles(refused_issue(town)) == ["3", "2, 3"]
    done("permit", "remove", "--number", "P1", "--on", "2027-02-10", workspace=town)
    assert articles(refused_issue(town, number="8.002/2026"))[:2] == ["2, 3", "3"]


def test_a_removed_permit_gets_no_decree(town):
    done("permit", "remove", "--number", "P1", "--on", "2026-11-20", workspace=town)
    assert articles(refused_issue(town)) == ["3"]


# -- issued


def test_a_decree_has_the_price_of_its_date(town):
    made = issue(town)
    expected = {"number": "8.001/2026", "permit": "P1", "amends": None, "monthly": MONTHLY, "reducer": "1.00"}
    assert {k: made[k] for k in expected} == expected
    assert (made["network_length_m"], made["planned_m"], made["edition"]) == ("4000.00", "4000.00", "2026")


def test_the_record_and_the_document_are_kept_as_they_are(town):
    made = issue(town)
    ((record, digest, cents),) = query(town, "SELECT record, digest, total_cents FROM decrees")
    decree = from_plain(Decree, json.loads(record))
    assert (canonical_json(decree), sha256(record), cents) == (record, digest, 34500)
    ((kind, name, stored, content),) = query(town, "SELECT kind, file_name, sha256, content FROM decree_documents")
    file = town / "documents" / "decretos" / name
    assert (kind, str(file)) == ("decreto", made["file"])
    assert hashlib.sha256(content).hexdigest() == stored
    assert file.read_bytes() == content
    roles = dict(decree.draft.basis.digests)
    archived = {digest for (digest,) in query(town, "SELECT sha256 FROM archive")}
    assert set(roles) == {"statute", "policy", "decisions", "edition", "network", "equipment", "permit"}
    assert set(roles.values()) <= archived


def test_the_document_names_the_act_and_its_papers(town):
    made = issue(town)
    said = text_of(Path(made["file"]).read_bytes())
    for part in (
        "DECRETO Nº 8.001/2026, DE 3 DE NOVEMBRO DE 2026",
        "Processo Administrativo nº 4.512/2026",
        "conforme Parecer SMO 41/2026, de 5 de outubro de 2026, de autoria de Eng. Rui Prado",
        "conforme Parecer SMAJ 12/2026, de 8 de outubro de 2026",
        "(Despacho GP 9/2026, de 10 de outubro de 2026)",
        "a caução, pela guia nº 881, de 20 de outubro de 2026, no valor de R$ 1.035,00",
        "os emolumentos, pela guia nº 882",
        "“Rede do Centro”",
        "a implantar,",
        "Ana Prefeita",
        "05/11/2026",
    ):
        assert part in said, part
    assert "MINUTA" not in said


@at("granted")
def test_a_decree_never_changes(town):
    for sql in ("UPDATE decrees SET total_cents = 1", "DELETE FROM decrees", "DELETE FROM permit_acts"):
        with pytest.raises(Exception, match=r"never change|can't be|ledger"):
            query(town, sql)


@at("granted")
def test_planned_rows_are_due_from_the_publication(town):
    november = price(town, "2026-11")
    assert [line["days"] for o in november["operators"] for line in o["lines"]] == [26, 26]
    assert [line["flags"] for o in november["operators"] for line in o["lines"]] == [[], []]
    assert november["operators"][0]["total"] == "299.00"  # 345.00 × 26 ÷ 30
    before = price(town, "2026-10")
    assert before["operators"] == []
    assert before["conservation"]["metres"] == {
        **dict.fromkeys(("stored", "priced", "held", "exempt", "suspended"), "0.00"),
        "not_due": "4000.00",
    }


@at("requested")
def test_what_is_planned_is_not_due_and_the_sums_close(town):
    import_line(town, "velha", 100, 100)
    found = price(town)
    assert found["conservation"]["metres"] == {
        "stored": "100.00", "priced": "100.00", "held": "0.00", "exempt": "0.00", "suspended": "0.00", "not_due": "4000.00",
    }  # fmt: skip
    assert found["conservation"]["features"]["not_due"] == 2
    (alfa,) = found["operators"]
    assert alfa["network_length_m"] == "100.00"


def test_a_planned_day_counts_where_it_is_later_than_the_publication(town):
    import_line(town, "tarde", 200, 500, "--permit", "P1", "--status", "planned", implantado="2026-11-21")
    import_line(town, "cedo", 200, 600, "--permit", "P1", "--status", "planned", implantado="2026-10-01")
    pay_deposit(town, amount="100.00", receipt="885")
    assert issue(town)["monthly"] == "357.00"
    days = {(line["length_m"], line["days"]) for o in price(town, "2026-11")["operators"] for line in o["lines"]}
    assert days == {("4200.00", 26), ("200.00", 10), (None, 26)}
    assert price(town, "2026-11")["decrees"] == []  # on the month's last day it costs what it grants


# -- price that changes


@at("amended")
def test_a_second_permit_changes_the_first_ones_price(town):
    assert price(town, "2026-11")["decrees"] == []
    assert price(town)["decrees"] == [
        {
            "decree": "8.001/2026", "permit": "P1", "operator": "alfa", "recorded": "345.00", "now": "333.00", "article": "6 § 1",
            "causes": [{"cause": "reducer", "what": "reducer", "from": "1.00", "to": "0.90"}],
        }
    ]  # fmt: skip


@at("amended")
def test_bill_lists_the_change_and_renders_its_apostila_the_same_twice(town):
    answer = bill(town, month="2026-12", issued_on="2027-01-04")
    assert [(d["decree"], d["now"]) for d in answer["decrees"]] == [("8.001/2026", "333.00")]
    assert [f["code"] for f in answer["findings"] if f["code"].startswith("decree")] == ["decree_price_changed"]
    names = [f.rsplit("/", 1)[-1] for f in answer["files"]]
    (pdf,) = [n for n in names if n.startswith("apostila-8-001-2026") and n.endswith(".pdf")]
    assert not [n for n in names if n.startswith("minuta")]  # everything has its decree
    folder = town / "documents" / "2026-12"
    said = text_of((folder / pdf).read_bytes())
    for part in ("R$ 345,00", "R$ 333,00", "Redução (de 3,48%) R$ 12,00", "1,00 0,90", "de 4.000,00 m para 6.000,00 m"):
        assert part in said, part
    first = {p.name: p.read_bytes() for p in folder.iterdir()}
    again = bill(town, month="2026-12", issued_on="2027-01-04")
    assert again["decrees"] == answer["decrees"]
    assert {p.name: p.read_bytes() for p in folder.iterdir() if p.suffix != ".html"} == {
        n: content for n, content in first.items() if not n.endswith(".html")
    }


@at("amended")
def test_an_apostila_settles_it(town):
    made = done(*amend(town), workspace=town)
    assert (made["amends"], made["monthly"], made["reducer"]) == ("8.001/2026", "333.00", "0.90")
    assert [c["cause"] for c in made["causes"]] == ["reducer"]
    assert "APOSTILA Nº 1/2027, DE 5 DE JANEIRO DE 2027" in text_of(Path(made["file"]).read_bytes())
    for month in ("2026-12", "2027-01"):  # amended by then, or after it
        assert price(town, month)["decrees"] == []
    shown = done("decree", "list", workspace=town)["decrees"]
    assert [(d["number"], d["amends"], d["monthly"]) for d in shown] == [
        ("8.001/2026", None, "345.00"), ("8.010/2026", None, "54.00"), ("1/2027", "8.001/2026", "333.00"),
    ]  # fmt: skip
    assert "there is nothing to amend" in refused(town, *amend(town, apostila="2/2027"))


@at("amended")
@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"number": "9"}, "There is no decree '9'"),
        ({"apostila": "8.010/2026"}, "another act's already"),
        ({"apostila": " "}, "blank"),
        ({"signatory": ""}, "blank"),
        ({"date": "2026-11-02"}, "before 8.001/2026 of 2026-11-03"),
        ({"published-on": "2027-01-04"}, "before its date"),
    ],
)
def test_an_apostila_that_is_none(town, changes, said):
    assert said in refused(town, *amend(town, **changes))
    assert query(town, "SELECT count(*) FROM decrees") == [(2,)]


@at("granted")
def test_each_cause_is_named(town):
    import_line(town, "mais", 400, 300, "--permit", "P1", "--status", "permitted", implantado="2026-12-01")
    import_cabinet(town, "outro", 0.5, "--permit", "P1")
    (change,) = price(town)["decrees"]
    assert change["now"] == "432.00"  # 4,400 m: 132.00; 2.0 m³: 300.00
    assert change["causes"] == [
        {"cause": "network", "what": "length_m", "from": "4000.00", "to": "4400.00"},
        {"cause": "network", "what": "volume_m3", "from": "1.5", "to": "2.0"},
    ]
    import_zones(
        town, write_zones(town.parent / "2027.geojson", ("Todo", "5", -7000, 0, 5000, 2000)), "2027", "2027-01-01"
    )
    (change,) = price(town, "2027-01")["decrees"]
    assert change["now"] == "465.00"
    assert {"cause": "edition", "what": "edition", "from": "2026", "to": "2027"} in change["causes"]


@at("amended")
def test_a_policy_that_changes_the_price_is_named(town):
    done("policy", "set", "reducer_scope", "permit", workspace=town)
    changed = price(town)["decrees"]
    assert [(c["permit"], c["recorded"], c["now"]) for c in changed] == [("P2", "54.00", "60.00")]
    assert changed[0]["causes"] == [
        {"cause": "reducer", "what": "reducer", "from": "0.90", "to": "1.00"},
        {"cause": "policy", "what": "reducer_scope", "from": "operator", "to": "permit"},
    ]


@at("granted")
def test_a_price_that_the_law_leaves_open_is_listed_as_held(town):
    for n in range(10):
        import_line(town, f"velha{n}", 9900, 100 + 10 * n)
    answer = bill(town, month="2026-12", issued_on="2027-01-04")
    (change,) = answer["decrees"]
    assert (change["recorded"], change["now"], change["article"]) == ("345.00", None, "7")
    assert [f["code"] for f in answer["findings"] if f["code"].startswith("decree")] == ["decree_price_held"]
    assert not [f for f in answer["files"] if "apostila" in f]
    assert "art. 15" in refused(town, *amend(town))


@at("amended")
def test_a_removed_permit_costs_nothing_after_its_last_day(town):
    done("permit", "remove", "--number", "P1", "--on", "2027-02-10", workspace=town)
    february = price(town, "2027-02")
    assert {line["days"] for o in february["operators"] for line in o["lines"] if line["permit"] == "P1"} == {10}
    assert [d["permit"] for d in february["decrees"]] == ["P2"]  # its R is 1.00 again
    assert price(town, "2027-03")["operators"][0]["total"] == "60.00"
    assert "ended with the removal" in refused(town, *amend(town, date="2027-03-05", **{"published-on": "2027-03-06"}))


@at("amended")
def test_a_removal_to_come_leaves_the_apostilas_before_it(town):
    done("permit", "remove", "--number", "P1", "--on", "2027-06-30", workspace=town)
    assert done(*amend(town), workspace=town)["monthly"] == "333.00"


def test_a_number_that_looks_like_another_is_refused(town):
    assert "can't be seen" in refused_issue(town, number="8.001/2026\u200b")


@at("amended")
def test_under_a_reducer_by_permit_none_is_called_held(town):
    done("policy", "set", "reducer_scope", "permit", workspace=town)
    assert "R by permit)" in geobill("price", "--month", "2026-12", workspace=town).out


# -- drafts of a month


@at("requested")
def test_a_month_drafts_each_open_permit_and_the_rest(town):
    import_line(town, "velha", 100, 100)
    add_permit(town, "P3", "beta")
    import_line(town, "b1", 50, 200, "--permit", "P3", "--status", "planned", operator="beta")
    answer = bill(town, month="2026-11", issued_on="2026-12-01")
    names = sorted(f.rsplit("/", 1)[-1] for f in answer["files"] if "minuta" in f and f.endswith(".pdf"))
    digest = {n: sha256(n)[:6] for n in ("P1", "P3")}
    assert names == sorted(
        ["minuta-alfa.pdf", f"minuta-alfa-p1-{digest['P1']}.pdf", f"minuta-beta-p3-{digest['P3']}.pdf"]
    )
    folder = town / "documents" / "2026-11"
    rest = text_of((folder / "minuta-alfa.pdf").read_bytes())
    assert "rede com 100,00 m de extensão" in rest
    planned = text_of((folder / f"minuta-alfa-p1-{digest['P1']}.pdf").read_bytes())
    assert "rede com 4.000,00 m de extensão e armários, contêineres e outros equipamentos com 1,50 m³" in planned
    assert "é, na data de referência, de 4.100,00 m, incluídos 4.000,00 m a implantar nesta permissão" in planned


@at("requested")
def test_a_draft_can_be_made_at_any_time_and_records_nothing(town, tmp_path):
    before = query(town, "SELECT count(*) FROM permit_acts")
    target = tmp_path / "outro" / "minuta.pdf"
    draft = done("decree", "draft", "--permit", "P1", "--on", "2026-10-15", "--out", target, workspace=town)
    assert (draft["monthly"], draft["deposit"], draft["file"]) == (MONTHLY, DEPOSIT, str(target))
    assert [m["article"] for m in draft["missing"]] == ["2", "2, 3", "3", "3 §§ 1, 2", "3 § 1"]
    first = target.read_bytes()
    done("decree", "draft", "--permit", "P1", "--on", "2026-10-15", "--out", target, workspace=town)
    assert target.read_bytes() == first
    assert "MINUTA" in text_of(first)
    assert query(town, "SELECT count(*) FROM permit_acts") == before
    assert "art. 18" in refused(town, "decree", "draft", "--permit", "P1", "--on", "2001-06-26")


@at("requested")
def test_the_whole_life_reads_well_on_the_screen(town):
    grant(town)
    second_permit(town)
    shown = geobill("price", "--month", "2026-12", workspace=town).out
    assert "decree 8.001/2026 (permit P1): recorded R$ 345.00, now R$ 333.00; reducer 1.00 to 0.90" in shown
    assert "P1  alfa  granted: planned 0.00 m" in geobill("permit", "list", "--on", "2026-12-31", workspace=town).out
    assert "decree 8.001/2026, permit P1 (alfa): R$ 345.00 a month" in geobill("decree", "list", workspace=town).out


def test_a_decree_or_a_removal_dated_back_says_which_months_are_issued_already(tmp_path):
    root = make_town(tmp_path)
    import_line(root, "antiga", 600, 500)
    done("bill", "--month", "2026-11", "--issued-on", "2026-12-01", workspace=root)
    request(root)
    made = grant(root)  # published on 2026-11-05, planned metres due from then
    assert [f["code"] for f in made["findings"]] == ["billed_before"]
    assert "2026-11 (2026/000001)" in made["findings"][0]["message"]
    gone = done("permit", "remove", "--number", "P1", "--on", "2026-11-20", workspace=root)
    assert [f["code"] for f in gone["findings"]] == ["billed_before"]
