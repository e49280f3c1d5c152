"""A month drafted, checked and issued: who may do what, what a draft leaves behind, and what differs from last month."""

import csv
import io
import json
import zlib
from decimal import Decimal

import pypdfium2
import pytest
from workspaces import (
    bill,
    done,
    geobill,
    import_cabinets,
    import_network,
    import_zones,
    write_cabinets,
    write_network,
    write_zones,
)

from geobill.domain.record import sha256
from pipeline.checks import assert_whole, query

MONTH = ("--month", "2026-11")
TWO = ("2026/000001", "2026/000002")


def second_person(workspace):
    path = workspace / "geobill.toml"
    text = path.read_text(encoding="utf-8")
    assert "second_person = false" in text
    path.write_text(text.replace("second_person = false", "second_person = true"), encoding="utf-8")


def draft(workspace, *more, month="2026-11"):
    return done("bill", "--draft", "--month", month, *more, workspace=workspace)


def check(workspace, *more, month="2026-11"):
    return done("bill", "check", "--month", month, *more, workspace=workspace)


def refused(workspace, *command):
    """Run a command that must be refused and leave the store as it is; return what it says."""
    before = (workspace / "cadastre.gpkg").read_bytes()
    answer = geobill(*command, workspace=workspace)
    assert (answer.code, answer.out) == (1, ""), answer.err
    assert (workspace / "cadastre.gpkg").read_bytes() == before
    return answer.err.splitlines()[-1]


def more_cable(workspace, folder, *rows, name="mais"):
    import_network(workspace, write_network(folder / f"{name}.geojson", *rows), "beta")


ISSUE = ("bill", *MONTH, "--issued-on", "2026-12-01")


# -- the draft


def test_a_draft_takes_no_number_and_leaves_the_ledger_alone(workspace):
    made = draft(workspace)
    assert made["invoices"] == []
    assert [d["operator"] for d in made["drafts"]] == ["alfa", "beta"]
    tables = ("invoices", "invoice_lines", "invoice_inputs", "documents")
    assert [query(workspace, f"SELECT count(*) FROM {t}") for t in tables] == [[(0,)]] * 4
    assert query(workspace, "SELECT month, role, done_by, digest, note, done_at FROM month_checks") == [
        ("2026-11", "drafted", "", made["drafted"]["digest"], "", made["drafted"]["at"])
    ]
    billed = bill(workspace)
    assert [i["number"] for i in billed["invoices"]] == list(TWO)
    assert {i["operator"]: i["total"] for i in billed["invoices"]} == {
        d["operator"]: d["total"] for d in made["drafts"]
    }


def test_a_drafts_digest_is_that_of_what_is_kept_of_it(workspace):
    digest = draft(workspace)["drafted"]["digest"]
    (kept,) = query(workspace, "SELECT sha256 FROM archive WHERE kind = 'demand'")
    assert kept == (digest,)
    assert draft(workspace)["drafted"]["digest"] == digest  # the same figures, drafted again
    bill(workspace)
    assert check(workspace)["digest"] == digest  # numbers and dates of issue don't touch it


def test_every_paper_of_a_draft_says_so_in_its_name(workspace):
    made = draft(workspace)
    folder = workspace / "documents" / "2026-11" / "rascunho"
    names = sorted(p.name for p in folder.iterdir())
    assert sorted(made["files"]) == [str(folder / n) for n in names]
    assert "conferencia-2026-11.csv" in names
    assert [n for n in names if not n.startswith("rascunho-2026-11-")] == ["conferencia-2026-11.csv"]
    assert {"rascunho-2026-11-fatura-alfa.pdf", "rascunho-2026-11-anexo-beta.csv"} <= set(names)


def test_a_drafted_invoice_says_so_on_every_page_and_demands_no_payment(workspace):
    draft(workspace)
    pdf = pypdfium2.PdfDocument(workspace / "documents/2026-11/rascunho/rascunho-2026-11-fatura-alfa.pdf")
    pages = [page.get_textpage().get_text_range() for page in pdf]
    assert len(pages) > 1
    assert all("RASCUNHO – sem número" in " ".join(p.split()) for p in pages)
    text = " ".join(" ".join(pages).split())
    assert "não é cobrança e não pode ser pago" in text
    assert "sem vencimento" in text
    for demand in ("Total a pagar", "Pagamento guia", "15/12/2026", "Fatura nº", "SHA-256 do registro"):
        assert demand.lower() not in text.lower()


def test_the_annex_of_a_draft_names_no_number(workspace):
    draft(workspace)
    text = (workspace / "documents/2026-11/rascunho/rascunho-2026-11-anexo-beta.csv").read_text("utf-8-sig")
    rows = list(csv.reader(io.StringIO(text), delimiter=";"))[1:]
    assert {r[0] for r in rows} == {"RASCUNHO"}


def test_a_new_draft_takes_the_place_of_the_last_one_and_touches_nothing_else(workspace, tmp_path):
    folder = workspace / "documents" / "2026-11" / "rascunho"
    draft(workspace)
    for name in ("notas.txt", "rascunho-2026-10-fatura-beta.pdf"):
        (folder / name).write_text("x")
    file = write_network(tmp_path / "beta.geojson", ("B1", 0.5, [(110, 50), (190, 50)]))
    fields = ("--map", "segment=id", "--map", "width=retirado")  # no width: every row is set aside
    done("import", "network", file, "--operator", "beta", "--replace", *fields, workspace=workspace)
    made = draft(workspace)
    assert {p.name for p in folder.iterdir()} == {p.rsplit("/", 1)[-1] for p in made["files"]} | {
        "notas.txt", "rascunho-2026-10-fatura-beta.pdf",
    }  # fmt: skip


def test_a_draft_goes_where_it_is_told(workspace, tmp_path):
    made = draft(workspace, "--out", tmp_path / "mesa")
    assert {str(tmp_path / "mesa")} == {f.rsplit("/", 1)[0] for f in made["files"]}
    assert not (workspace / "documents").exists()
    (workspace / "arquivo").write_text("x")
    assert "is a file" in refused(workspace, "bill", "--draft", *MONTH, "--out", workspace / "arquivo")


def test_what_is_issued_already_isnt_drafted(workspace):
    bill(workspace)
    made = draft(workspace)
    assert made["drafts"] == []
    assert [f["code"] for f in made["findings"]] == ["issued_before"]
    assert_whole_but_rascunho(workspace)


def assert_whole_but_rascunho(workspace):
    folder = workspace / "documents" / "2026-11" / "rascunho"
    for path in folder.iterdir():
        path.unlink()
    folder.rmdir()
    assert_whole(workspace, TWO)


# -- one person may do everything, unless the settings say otherwise


def test_one_person_may_draft_check_and_issue(workspace):
    draft(workspace, "--by", "Ana Lima")
    checked = check(workspace, "--by", "Ana Lima", "--note", "conferi com a planilha")
    assert checked["checked"]["by"] == "Ana Lima"
    done(*ISSUE, "--by", "Ana Lima", workspace=workspace)
    steps = query(workspace, "SELECT role, done_by, note FROM month_checks ORDER BY 1 DESC")
    assert set(steps) == {
        ("drafted", "Ana Lima", ""),
        ("checked", "Ana Lima", "conferi com a planilha"),
        ("issued", "Ana Lima", ""),
    }
    digests = query(workspace, "SELECT DISTINCT digest FROM month_checks")
    assert digests == [(checked["digest"],)]


def test_bill_without_a_name_or_with_nothing_to_issue_records_nobody(workspace):
    bill(workspace)
    bill(workspace, "--by", "Ana")
    assert query(workspace, "SELECT count(*) FROM month_checks") == [(0,)]


def test_a_check_needs_a_draft(workspace):
    said = refused(workspace, "bill", "check", *MONTH, "--by", "Bia")
    assert "There is no draft of 2026-11 to check" in said
    assert "geobill bill --month 2026-11 --draft" in said


def test_a_check_needs_a_draft_of_exactly_todays_figures(workspace, tmp_path):
    draft(workspace, "--by", "Ana")
    before = {o["operator"]: o["total"] for o in draft(workspace, "--by", "Ana")["operators"]}
    more_cable(workspace, tmp_path, ("B9", 0.5, [(110, 70), (190, 70)]))
    said = refused(workspace, "bill", "check", *MONTH, "--by", "Bia")
    now = next(o["total"] for o in done("price", *MONTH, workspace=workspace)["operators"] if o["operator"] == "beta")
    assert "2026-11 has changed since the draft of" in said
    assert "by Ana" in said
    assert f"beta was R$ {before['beta']}, is R$ {now}" in said
    assert "alfa was" not in said
    draft(workspace, "--by", "Ana")
    assert check(workspace, "--by", "Bia")["checked"]["by"] == "Bia"


def test_a_change_of_policy_without_effect_on_amounts_is_a_change_too(workspace):
    draft(workspace)
    done("policy", "set", "max_gap_m", "19", workspace=workspace)
    said = refused(workspace, "bill", "check", *MONTH, "--by", "Bia")
    assert "policy, edition or decisions" in said
    assert "was R$" not in said


def test_looking_records_nothing(workspace):
    draft(workspace)
    before = (workspace / "cadastre.gpkg").read_bytes()
    looked = check(workspace)
    assert looked["drafted"]["digest"] == looked["digest"]
    assert looked["checked"] is None
    assert (workspace / "cadastre.gpkg").read_bytes() == before


# -- the second person


def test_two_people_one_after_the_other(workspace):
    second_person(workspace)
    made = draft(workspace, "--by", "Ana Lima")
    checked = check(workspace, "--by", "Bia Reis")
    assert (checked["drafted"]["by"], checked["checked"]["by"]) == ("Ana Lima", "Bia Reis")
    answer = geobill(*ISSUE, workspace=workspace)
    assert answer.code == 0
    assert f"conferido por Bia Reis em {checked['checked']['at']}" in answer.err
    assert f"conferido por Bia Reis em {checked['checked']['at']}" in answer.out
    assert query(workspace, "SELECT number FROM invoices ORDER BY 1") == [(n,) for n in TWO]
    again = geobill(*ISSUE, workspace=workspace)  # nothing left to issue: files are written, nobody is asked
    assert again.code == 0
    assert made["drafted"]["digest"] == checked["digest"]


def test_nothing_is_issued_that_nobody_drafted(workspace):
    second_person(workspace)
    said = refused(workspace, *ISSUE)
    assert "nobody has drafted 2026-11: nothing was issued" in said
    assert "--draft --by NAME, another geobill bill check" in said
    assert not (workspace / "documents").exists()


def test_nothing_is_issued_that_nobody_else_checked(workspace):
    second_person(workspace)
    draft(workspace, "--by", "Ana")
    said = refused(workspace, *ISSUE)
    assert "nobody else has checked the draft of 2026-11 by Ana" in said
    assert "A person other than Ana runs geobill bill check --month 2026-11 --by NAME" in said


@pytest.mark.parametrize("name", ["Ana Lima", "ana  lima", " ANA LIMA ", "Ana Líma", "Ana Lima.", "Ａna-Lima"])
def test_the_drafter_cant_check(workspace, name):
    second_person(workspace)
    draft(workspace, "--by", "Ana Lima")
    said = refused(workspace, "bill", "check", *MONTH, "--by", name)
    assert "made the draft of 2026-11" in said
    assert "Another person runs" in said
    refused(workspace, *ISSUE)


def test_the_draft_must_say_whose_it_is(workspace):
    second_person(workspace)
    said = refused(workspace, "bill", "--draft", *MONTH)
    assert "the draft must say who made it" in said
    assert not (workspace / "documents").exists()


def test_a_draft_without_a_name_from_before_the_setting_cant_be_checked(workspace):
    draft(workspace)
    check(workspace, "--by", "Bia")
    second_person(workspace)
    assert "doesn't say who made it" in refused(workspace, "bill", "check", *MONTH, "--by", "Bia")
    said = refused(workspace, *ISSUE)
    assert "whose maker isn't named" in said
    assert "Draft again with --by NAME" in said


def test_a_check_by_the_drafter_from_before_the_setting_counts_for_nothing(workspace):
    draft(workspace, "--by", "Ana")
    check(workspace, "--by", "Ana")
    second_person(workspace)
    assert check(workspace)["checked"] is None
    assert "nobody else has checked" in refused(workspace, *ISSUE)


def test_what_changes_after_the_check_is_drafted_and_checked_again(workspace, tmp_path):
    second_person(workspace)
    draft(workspace, "--by", "Ana")
    check(workspace, "--by", "Bia")
    more_cable(workspace, tmp_path, ("B9", 0.5, [(110, 70), (190, 70)]))
    said = refused(workspace, *ISSUE)
    assert "has changed since the draft of" in said
    assert "beta was R$" in said
    assert "Nothing was issued" in said
    draft(workspace, "--by", "Bia")
    refused(workspace, *ISSUE)  # the check was of other figures
    refused(workspace, "bill", "check", *MONTH, "--by", "Bia")  # who drafted last can't check
    check(workspace, "--by", "Ana")
    assert len(bill(workspace)["invoices"]) == 2


def test_whom_to_pay_and_the_words_are_checked_too(workspace):
    second_person(workspace)
    draft(workspace, "--by", "Ana")
    check(workspace, "--by", "Bia")
    path = workspace / "geobill.toml"
    settings = path.read_text(encoding="utf-8")
    path.write_text(
        settings.replace('payment_instructions = ""', 'payment_instructions = "Conta 666"'), encoding="utf-8"
    )
    assert "issuer or payment instructions" in refused(workspace, *ISSUE)
    path.write_text(settings, encoding="utf-8")
    done("templates", "copy", "fatura.typ.j2", workspace=workspace)
    assert "own templates" in refused(workspace, *ISSUE)


def test_an_operator_that_comes_after_issue_needs_a_check_of_its_own(workspace, tmp_path):
    second_person(workspace)
    draft(workspace, "--by", "Ana")
    check(workspace, "--by", "Bia")
    bill(workspace)
    import_network(workspace, write_network(tmp_path / "g.geojson", ("G2", 0.5, [(110, 40), (190, 40)])), "gama")
    assert "gama is new" in refused(workspace, *ISSUE)
    assert [d["operator"] for d in draft(workspace, "--by", "Ana")["drafts"]] == ["gama"]
    check(workspace, "--by", "Bia")
    assert [i["number"] for i in bill(workspace)["invoices"] if i["issued_now"]] == ["2026/000003"]


@pytest.mark.parametrize("name", ["", "   ", "x" * 121, "A\x07na", "\u0410na", "Ana\ufe0f", "Ana\u3164Lima", "..."])
@pytest.mark.parametrize("command", [("bill", "--draft"), ("bill", "check"), ("bill",)])
def test_a_name_that_is_none_is_refused(workspace, command, name):
    said = refused(workspace, *command, *MONTH, "--by", name)
    assert "is no name of a person" in said


def test_what_was_drafted_can_be_read_again(workspace):
    digest = draft(workspace)["drafted"]["digest"]
    (content,) = query(workspace, "SELECT content FROM archive WHERE sha256 = ?", digest)
    text = zlib.decompress(content[0]).decode()
    assert sha256(text) == digest
    assert [o["operator"]["id"] for o in json.loads(text)["operators"]] == ["alfa", "beta"]


# -- what differs from last month


def compared(workspace, month):
    """Return each operator's causes with their amounts; they add up to the difference."""
    answer = check(workspace, month=month)
    for o in answer["operators"]:
        if o["difference"] is not None:
            assert Decimal(o["difference"]) == sum((Decimal(c["amount"]) for c in o["causes"]), Decimal(0))
            assert Decimal(o["difference"]) == Decimal(o["total"]) - Decimal(o["previous_total"])
    return {o["operator"]: o for o in answer["operators"]}


def causes(compared_operator):
    return {c["cause"]: c["amount"] for c in compared_operator["causes"] if c["cause"] != "rounding"}


def test_beside_a_month_that_was_issued(workspace, tmp_path):
    issued = {i["operator"]: i["total"] for i in bill(workspace)["invoices"]}
    # B1 costs 80 × 0.50 × 3 × 0.015 = 1.80 a month, as does B9 beside it
    more_cable(workspace, tmp_path, ("B9", 0.5, [(110, 20), (190, 20)], {"implantado": "2026-12-17"}))
    found = compared(workspace, "2026-12")
    assert {o: found[o]["previous_total"] for o in issued} == issued
    assert all(found[o]["issued"] for o in issued)
    # 80 × 0.50 × 3 × 0.015 × 15 / 31
    assert causes(found["beta"]) == {"new_segments": "0.87"}
    assert found["beta"]["causes"][0] | {"amount": ""} == {
        "cause": "new_segments", "segments": 1, "length_m": "80.00", "amount": "", "examples": ["B9"],
    }  # fmt: skip
    # A2 of alfa stood for 15 of 30 days in November: 50 × 0.50 × 10.50 × 0.015 × 1/2
    assert causes(found["alfa"]) == {"days": "1.97"}
    assert "gama" not in found
    assert "daec" not in found


def test_beside_a_month_that_wasnt_issued_and_one_before_the_law(workspace):
    found = compared(workspace, "2026-12")
    assert {found[o]["issued"] for o in ("alfa", "beta")} == {False}
    assert causes(found["alfa"]) == {"days": "1.97"}
    answer = check(workspace, month="2001-06")  # the law came on its 27th
    assert "gives no location_index for 2001-05-01" in answer["unpriced"]
    assert {(o["previous_total"], o["difference"], len(o["causes"])) for o in answer["operators"]} == {(None, None, 0)}


def test_an_issued_month_is_compared_as_it_was_issued_whatever_was_imported_since(workspace, tmp_path):
    issued = {i["operator"]: i["total"] for i in bill(workspace)["invoices"]}
    more_cable(workspace, tmp_path, ("B9", 0.5, [(110, 20), (190, 20)]))  # stands in November too, if priced now
    import_cabinets(workspace, write_cabinets(tmp_path / "novo.geojson", ("E9", 1, (8, 5))), "beta")
    found = compared(workspace, "2026-12")
    assert found["beta"]["previous_total"] == issued["beta"]
    assert causes(found["beta"]) == {"new_segments": "1.80", "new_cabinets": "150.00"}


def test_the_next_edition(workspace, tmp_path):
    bill(workspace)
    zones = (("Centro", "12", 0, 0, 100, 100), ("Serra", "3", 100, 0, 200, 100), ("Vila", "7.25", 95, 60, 150, 100))
    import_zones(workspace, write_zones(tmp_path / "2027.geojson", *zones), "2027", "2026-12-01")
    found = compared(workspace, "2026-12")
    # in Centro: A1 90 m × 0.60, A2 50 m × 0.50 (half of its days: days come after T), A3 40 m × 0.50 twice, A4 45 m × 0.50
    by_hand = Decimal("1.50") * Decimal("0.015") * (54 + Decimal("12.5") + 40 + Decimal("22.5"))
    assert Decimal(causes(found["alfa"])["edition"]) == pytest.approx(by_hand, abs=Decimal("0.005"))
    assert set(causes(found["alfa"])) == {"edition", "days"}
    assert causes(found["beta"]) == {}


def test_a_policy_is_named_by_what_it_does(workspace):
    bill(workspace)
    done("policy", "set", "on_overlap", "lower", workspace=workspace)
    found = compared(workspace, "2026-12")
    # A4, held till now: 5 m in Vila at 7.25 and 40 m in Serra at 3
    assert causes(found["alfa"]) == {"released": "1.17", "days": "1.97"}
    released = next(c for c in found["alfa"]["causes"] if c["cause"] == "released")
    assert (released["segments"], released["examples"], released["length_m"]) == (1, ["A4"], "45.00")


def test_a_network_that_grows_over_a_bracket(workspace, tmp_path):
    bill(workspace)
    wide = [(f"L{n:02d}", 0.5, [(101, 1 + n), (199, 1 + n)]) for n in range(52)]  # 5,096 m: above 5 km, R 0.90
    more_cable(workspace, tmp_path, *wide)
    found = compared(workspace, "2026-12")
    beta = causes(found["beta"])
    # 5,096 m × 0.50 × 3 × 0.015 at R 1.00, then 10 % off them and off B1's 1.80
    assert beta == {"new_segments": "114.66", "reducer": "-11.65"}
    assert next(c for c in found["beta"]["causes"] if c["cause"] == "reducer")["segments"] == 53


def test_the_table_for_the_clerk(workspace, tmp_path):
    bill(workspace)
    more_cable(workspace, tmp_path, ("=B9", 0.5, [(110, 20), (190, 20)]))
    draft(workspace, month="2026-12")
    path = workspace / "documents/2026-12/rascunho/conferencia-2026-12.csv"
    assert path.read_bytes().startswith(b"\xef\xbb\xbf")
    rows = list(csv.DictReader(io.StringIO(path.read_text("utf-8-sig")), delimiter=";"))
    beta = [r for r in rows if r["Entidade"] == "beta"]
    assert [(r["Causa"], r["Parte da diferença (R$)"], r["Exemplos"]) for r in beta] == [
        ("trechos novos", "1,80", "'=B9")
    ]
    assert beta[0]["Origem do mês anterior"] == "fatura emitida"
    assert beta[0]["Diferença (R$)"] == "1,80"
