"""Whole procedures through the command line: each step in its order, its paper, what the months and the notes make of it."""

import pypdfium2
import pytest
from documents.reading import text_of
from permit_town import (
    MONTHLY,
    act_options,
    add_permit,
    approve,
    grant,
    import_line,
    make_town,
    pay_deposit,
    pay_fee,
    refused,
    refused_issue,
    request,
)
from workspaces import done, geobill

INSPECTOR, SECRETARY, MAYOR, LAWYER = "Rui Prado", "Paulo Secretário", "Ana Prefeita", "Lia Alves"


def step(root, name, case, on, *more, by=INSPECTOR):
    return done("case", name, case, "--on", on, "--by", by, *more, workspace=root)


def open_case(root, kind, *more, case="C1", on="2026-03-02", operator="alfa"):
    named = ("--kind", kind, "--operator", operator, "--subject", "Cabo na Rua A", "--id", case, "--on", on)
    return done("case", "open", *named, *more, workspace=root)


def decide_term(root, days="20"):
    """Record how many days the ample defence has."""
    act = ("--number", "12/2026", "--date", "2026-01-15", "--signatory", MAYOR)
    done("decision", "add", "--id", "DEF", "--question", "ample_defence_days", "--answer", days, *act, workspace=root)
    done("policy", "set", "ample_defence_days", days, workspace=root)


def price(root, month):
    (operator,) = [
        o for o in done("price", "--month", month, workspace=root)["operators"] if o["operator"] == "alfa"
    ] or [{"total": "0.00", "lines": []}]
    return operator["total"], [
        (line["length_m"], line["multiplier"], line["days"], line["permit"]) for line in operator["lines"]
    ]


def papers(taken):
    (pdf,) = [f for f in taken["files"] if f.endswith(".pdf")]
    (html,) = [f for f in taken["files"] if f.endswith(".html")]
    with open(pdf, "rb") as file, open(html, encoding="utf-8") as page:
        assert "<html" in page.read()
        return text_of(file.read())


@pytest.fixture(scope="module")
def clandestine(tmp_path_factory):
    """A suspected line of 1,000 m (R$ 30.00 a month) taken through the whole of art. 10, to the permit P1."""
    root = make_town(tmp_path_factory.mktemp("clandestine"))
    import_line(root, "S1", 1000, 500, "--status", "suspected")
    said, months = {}, {"suspected": price(root, "2026-02")}
    said["open"] = open_case(root, "clandestine", "--segment", "S1")
    said["held"] = refused(root, "case", "notify", "C1", "--on", "2026-03-02", "--by", INSPECTOR)
    decide_term(root)
    said["notify"] = step(root, "notify", "C1", "2026-03-02", "--reference", "Auto 12/2026")
    said["early"] = refused(
        root, "case", "confirm", "C1", "--outcome", "doubled", "--on", "2026-03-23", "--by", SECRETARY
    )
    step(root, "defence", "C1", "2026-03-10", by="Alfa")
    said["undecided"] = refused(
        root, "case", "confirm", "C1", "--outcome", "doubled", "--on", "2026-04-01", "--by", SECRETARY
    )
    said["defence"] = step(root, "decide-defence", "C1", "2026-03-20", "--outcome", "rejected", by=LAWYER)
    step(root, "opinion", "C1", "2026-03-22", "--kind", "technical", "--reference", "Parecer 41")
    step(root, "opinion", "C1", "2026-03-23", "--kind", "legal", "--reference", "Parecer 12")
    said["possible"] = refused(
        root, "case", "confirm", "C1", "--outcome", "doubled", "--on", "2026-04-01", "--by", SECRETARY
    )
    step(root, "impossibility", "C1", "2026-03-24", "--reference", "Laudo 5")
    step(root, "installed", "C1", "2019-03-12", "--reference", "Nota fiscal 3312")
    months["undecided"] = price(root, "2026-02")
    said["confirm"] = step(root, "confirm", "C1", "2026-04-01", "--outcome", "doubled", by=SECRETARY)
    months |= {m: price(root, m) for m in ("2019-02", "2019-03", "2026-02")}
    request(root)
    said["no_decree"] = refused(
        root, "case", "regularise", "C1", "--permit", "P1", "--on", "2026-11-16", "--by", SECRETARY
    )
    grant(root)
    said["regularise"] = step(root, "regularise", "C1", "2026-11-16", "--permit", "P1", by=SECRETARY)
    months |= {m: price(root, m) for m in ("2026-11", "2026-12")}
    return root, said, months


def test_the_term_of_the_ample_defence_rests_on_a_decision(clandestine):
    _, said, _ = clandestine
    assert "art. 10 § 1" in said["held"]
    assert "geobill decision add --question ample_defence_days" in said["held"]
    assert said["notify"]["act"]["until"] == "2026-03-23"  # twenty days end on Sunday 22
    assert said["notify"]["state"] == "notified"


def test_what_the_secretarys_act_lacks_is_listed_in_one_refusal(clandestine):
    _, said, _ = clandestine
    for part in (
        "art. 10 § 1: the term of the notice runs until 2026-03-23",
        "technical opinion",
        "legal office",
        "art. 10 § 2",
    ):
        assert part in said["early"]
    assert "the defence of 2026-03-10 isn't decided" in said["undecided"]
    assert said["possible"].count("\n  - art.") == 1
    assert "art. 10 § 2: the report that the equipment can't be removed is missing" in said["possible"]


def test_nothing_is_charged_before_the_decision_and_double_after_it_from_the_proven_day(clandestine):
    _, said, months = clandestine
    assert months["suspected"] == months["undecided"] == months["2019-02"] == ("0.00", [])
    assert months["2026-02"] == ("60.00", [("1000.00", "2", 28, None)])
    assert months["2019-03"] == ("38.71", [("1000.00", "2", 20, None)])  # 30 × 2 × 20/31
    assert (said["confirm"]["doubled_from"], said["confirm"]["state"]) == ("2019-03-12", "doubled")
    (past,) = said["confirm"]["findings"]
    assert past["code"] == "past_months"


def test_regularised_rows_are_single_under_their_permit_from_that_day(clandestine):
    _, said, months = clandestine
    assert "isn't issued" in said["no_decree"]
    assert said["regularise"]["doubled_until"] == "2026-11-15"
    total, lines = months["2026-11"]
    # P1 from 5 November: 120 × 26/30 + 225 × 26/30; S1: 60 × 15/30, then 30 × 15/30
    assert total == "344.00"
    assert ("1000.00", "2", 15, None) in lines
    assert ("1000.00", "1", 15, "P1") in lines
    assert months["2026-12"][0] == "375.00"


def test_the_papers_of_the_procedure_say_what_the_law_says(clandestine):
    _, said, _ = clandestine
    notice = papers(said["notify"])
    for part in (
        "Auto e notificação",
        "Auto 12/2026",
        "20 dias, contados do recebimento, em 2 de março de 2026, até 23 de março de 2026, primeiro dia útil",
        "Decisão nº 12/2026",
        "art. 10, § 1º",
    ):
        assert part in notice
    assert "rejeitada" in papers(said["defence"])
    decision = papers(said["confirm"])
    for part in (
        "cobrada em dobro",
        "desde 12 de março de 2019",
        "Nota fiscal 3312",
        "impossibilidade de retirada",
        "Laudo 5",
    ):
        assert part in decision
    assert "A cobrança em dobro terminou em 15 de novembro de 2026" in papers(said["regularise"])


def test_a_case_is_listed_and_shown_with_every_step(clandestine):
    root, _, _ = clandestine
    (listed,) = done("case", "list", workspace=root)["cases"]
    shown = done("case", "show", "C1", workspace=root)
    assert (listed["state"], listed["missing"]) == ("regularised", [])
    assert [a["kind"] for a in shown["acts"]][:3] == ["notified", "defence_lodged", "defence_decided"]
    assert "regularised" in geobill("case", "show", "C1", workspace=root).out


def test_a_recorded_step_stays_and_a_dismissed_case_takes_no_more(tmp_path):
    root = make_town(tmp_path)
    import_line(root, "S1", 1000, 500, "--status", "suspected")
    opened = open_case(root, "unregistered", "--segment", "S1")
    assert opened["state"] == "open"
    decide_term(root)
    step(root, "notify", "C1", "2026-03-02")
    assert "recorded already" in refused(root, "case", "notify", "C1", "--on", "2026-03-03", "--by", INSPECTOR)
    assert "before the case was opened" in refused(root, "case", "defence", "C1", "--on", "2026-03-01", "--by", "Alfa")
    assert "has no such step" in refused(root, "case", "fine", "C1", "--on", "2026-05-01", "--by", MAYOR)
    # art. 12 § 4: no other project while the register is owed
    said = refused(root, "permit", "add", "--number", "P9", "--operator", "alfa", "--requested-on", "2026-09-01")
    assert "art. 12 § 4" in said
    step(root, "confirm", "C1", "2026-04-01", "--outcome", "doubled", by=SECRETARY)
    assert price(root, "2001-12") == (
        "30.00",
        [("1000.00", "1", 31, None)],
    )  # due from publication, the six months not over
    assert price(root, "2002-01") == ("60.00", [("1000.00", "2", 31, None)])
    step(root, "register-delivered", "C1", "2026-06-16")
    assert price(root, "2026-06")[0] == "45.00"  # 60 × 15/30 + 30 × 15/30
    add_permit(root, "P9")
    step(root, "dismiss", "C1", "2026-07-01", "--reason", "duplicado", by=SECRETARY)
    assert "was dismissed" in refused(root, "case", "remove", "C1", "--on", "2026-07-02", "--by", INSPECTOR)


@pytest.fixture(scope="module")
def fined(tmp_path_factory):
    """An infraction of an operator that pays R$ 120.00 a month, from notice to release."""
    root = make_town(tmp_path_factory.mktemp("fined"))
    import_line(root, "A1", 4000, 500)
    said = {"open": open_case(root, "infraction")}
    said["notify"] = step(root, "notify", "C1", "2026-03-02")
    said["orders"] = refused(root, "case", "fine", "C1", "--on", "2026-03-16", "--by", MAYOR)
    said["warn"] = step(root, "warn", "C1", "2026-03-02", "--reference", "Adv. 3/2026")
    step(root, "opinion", "C1", "2026-03-18", "--kind", "legal", by=LAWYER)
    said["no_fine"] = refused(root, "case", "fine", "C1", "--charge", "--until", "2026-03-31", "--by", MAYOR)
    said["fine"] = step(root, "fine", "C1", "2026-03-20", "--reference", "Despacho GP 20", by=MAYOR)
    charge = ("case", "fine", "C1", "--charge", "--by", "Ana Lima")
    look = ("--until", "2026-04-02", "--issued-on", "2026-04-03")
    said["dry"] = done(*charge, *look, "--dry-run", workspace=root)
    said["charged"] = done(*charge, *look, workspace=root)
    said["again"] = refused(root, *charge, *look)
    said["soon"] = refused(root, "case", "suspend", "C1", "--on", "2026-04-17", "--by", SECRETARY)
    said["suspend"] = step(root, "suspend", "C1", "2026-04-18", by=SECRETARY)
    asked = ("permit", "add", "--number", "P1", "--operator", "alfa", "--requested-on")
    said["blocked"] = refused(root, *asked, "2026-04-20")
    said["cure"] = step(root, "cure", "C1", "2026-04-11")
    said["rest"] = done(*charge, "--until", "2026-05-01", "--issued-on", "2026-05-02", workspace=root)
    said["release"] = step(root, "release", "C1", "2026-05-04", by=SECRETARY)
    done(*asked, "2026-05-05", workspace=root)
    return root, said


def test_the_penalties_come_in_their_order(fined):
    _, said = fined
    assert said["notify"]["act"]["until"] == "2026-03-17"
    for part in ("art. 9, I, § 1", "art. 9 § 6", "art. 9 § 4: the term of the notice runs until 2026-03-17"):
        assert part in said["orders"]
    assert "the mayor decides it" in said["no_fine"]
    assert said["fine"]["act"]["until"] == "2026-04-06"  # fifteen days of the defence against it end on Saturday 4
    assert "has lasted 30 days" in said["soon"]
    assert said["suspend"]["state"] == "projects_suspended"


def test_each_day_is_fined_once_a_fifth_of_the_month_it_lies_in(fined):
    root, said = fined
    assert said["dry"]["number"] is None
    assert said["charged"]["number"] == "2026/000001"
    lines = [
        (li["first_day"], li["last_day"], li["days"], li["base"], li["share"], li["amount"])
        for li in said["charged"]["lines"]
    ]
    assert lines == [
        ("2026-03-18", "2026-03-31", 14, "120.00", "0.20", "336.00"),
        ("2026-04-01", "2026-04-02", 2, "120.00", "0.20", "48.00"),
    ]
    assert "no day is fined twice" in said["again"]
    (rest,) = said["rest"]["lines"]  # obeyed on the 11th: the 10th is the last day
    assert (rest["first_day"], rest["last_day"], rest["amount"]) == ("2026-04-03", "2026-04-10", "192.00")
    assert price(root, "2026-04")[0] == "120.00"  # the fine is in no month's price
    assert "Multa diária" in papers(said["charged"])


def test_a_suspended_operator_gets_no_new_project_until_it_is_released(fined):
    _, said = fined
    assert "art. 9 § 3" in said["blocked"]
    assert [f["code"] for f in said["cure"]["findings"]] == ["still_suspended"]
    assert said["release"]["state"] == "cured"


def test_the_papers_of_the_penalties(fined):
    _, said = fined
    assert "15 dias, contados do recebimento, em 2 de março de 2026, até 17 de março de 2026" in papers(said["notify"])
    assert "advertência" in papers(said["warn"])
    fine = papers(said["fine"])
    for part in ("20% do valor", "por dia, de 18 de março de 2026", "R$ 120,00", "R$ 24,00", "6 de abril de 2026"):
        assert part in fine
    assert "por mais de 30 dias" in papers(said["suspend"])
    assert "A multa diária terminou em 10 de abril de 2026" in papers(said["cure"])
    assert "encerrada" in papers(said["release"])


def test_a_suspension_stands_against_approval_and_decree_too(tmp_path):
    root = make_town(tmp_path)
    request(root)
    import_line(root, "A1", 2000, 500)
    open_case(root, "nonconformity", on="2026-09-10")
    notice = step(root, "notify", "C1", "2026-09-10")
    assert "compelida ao refazimento" in papers(notice)
    assert "parágrafo único" in papers(notice)
    step(root, "warn", "C1", "2026-09-10")
    step(root, "opinion", "C1", "2026-09-28", "--kind", "legal")
    approve(root, papers=("works",))
    step(root, "fine", "C1", "2026-09-28", by=MAYOR)
    step(root, "suspend", "C1", "2026-10-28", by=SECRETARY)
    on = ("--legal-opinion", "Parecer 12", "--legal-on", "2026-10-29")
    assert "art. 9 § 3" in refused(root, "permit", "approve", "--number", "P1", *on)
    assert "art. 9 § 3" in refused_issue(root)


@pytest.mark.parametrize(
    ("options", "part"),
    [
        (("--kind", "clandestine"), "is about rows"),
        (("--kind", "clandestine", "--segment", "nope"), "no stored row 'nope'"),
        (("--kind", "odd"), "Allowed: clandestine"),
        (("--kind", "infraction", "--permit", "P7"), "no permit 'P7'"),
        (("--kind", "infraction", "--on", "2001-06-26"), "before the law"),
    ],
)
def test_what_no_case_is_opened_for(fined, options, part):
    root, _ = fined
    assert part in refused(root, "case", "open", "--operator", "alfa", "--subject", "x", *options)


def test_no_case_against_the_municipality_itself_nor_an_unknown_one(fined):
    root, _ = fined
    asked = ("case", "open", "--kind", "infraction", "--subject", "x", "--operator")
    assert "art. 13" in refused(root, *asked, "daec")
    assert "no operator" in refused(root, *asked, "omega")
    assert "no case 'C9'" in refused(root, "case", "show", "C9")


def test_rows_from_a_list_and_a_scan_that_is_kept(tmp_path):
    root = make_town(tmp_path)
    import_line(root, "S1", 1000, 500, "--status", "suspected")
    ids = tmp_path / "ids.txt"
    ids.write_text("S1\n\nS1\n", encoding="utf-8")
    asked = ("case", "open", "--kind", "clandestine", "--operator", "alfa", "--subject", "x", "--rows", ids)
    opened = done(*asked, "--on", "2026-03-02", workspace=root)
    assert (opened["id"], opened["segments"]) == ("2026-001", ["S1"])
    scan = tmp_path / "laudo.pdf"
    document = pypdfium2.PdfDocument.new()
    document.new_page(100, 100)
    document.save(scan)
    taken = step(root, "impossibility", "2026-001", "2026-03-03", "--paper", scan)
    assert (taken["act"]["file_name"], len(taken["act"]["paper"])) == ("laudo.pdf", 64)
    assert taken["files"] == []  # the report is the technical bodies' own paper
    assert "none of" in refused(
        root, "case", "impossibility", "2026-001", "--on", "2026-03-03", "--by", "x", "--paper", ids
    )
    ids.write_text("S2\n", encoding="utf-8")
    assert "neither a segment nor a cabinet" in refused(root, *asked)


def test_deposits_are_listed_and_follow_the_price_by_decision_only(tmp_path):
    root = make_town(tmp_path)
    request(root)
    done("deposit", "demand", "--permit", "P1", "--on", "2026-10-12", workspace=root)
    (asked,) = done("deposit", "list", "--on", "2026-10-15", workspace=root)["deposits"]
    assert (asked["demanded"], asked["held"], asked["required"], asked["short"]) == (
        "1035.00",
        "0.00",
        "1035.00",
        "1035.00",
    )
    approve(root)
    pay_deposit(root)
    pay_fee(root)
    done("decree", "issue", "--permit", "P1", *act_options(), workspace=root)
    adjust = ("deposit", "adjust", "--permit", "P1", "--on")
    said = refused(root, *adjust, "2026-12-01")
    assert "deposit_follows_price" in said
    assert "art. 3 § 2" in said
    decision = ("--number", "30/2026", "--date", "2026-11-20", "--signatory", MAYOR, "--answer", "yes")
    done("decision", "add", "--id", "CAU", "--question", "deposit_follows_price", *decision, workspace=root)
    done("policy", "set", "deposit_follows_price", "yes", workspace=root)
    assert "adjusted already" in refused(root, *adjust, "2026-12-01")
    import_line(root, "M1", 1000, 700, "--permit", "P1")  # 30.00 a month more: 5,000 m keep R at 1.00
    more = done(*adjust, "2026-12-01", workspace=root)
    assert (more["kind"], more["amount"]) == ("deposit_demanded", "90.00")
    assert "adjusted already" in refused(root, *adjust, "2026-12-01")
    pay_deposit(root, amount="90.00", on="2026-12-10", receipt="950")
    (held,) = done("deposit", "list", "--on", "2026-12-11", workspace=root)["deposits"]
    assert (held["demanded"], held["paid"], held["held"], held["short"]) == ("1125.00", "1125.00", "1125.00", "0.00")
    import_line(root, "M2", 200, 900)  # 5,200 m: R falls to 0.90, 345 + 30 become 225 + 150 × 0.9 = 360
    back = done(*adjust, "2026-12-12", workspace=root)
    assert (back["kind"], back["amount"]) == ("deposit_released", "45.00")
    (left,) = done("deposit", "list", "--on", "2026-12-12", workspace=root)["deposits"]
    assert (left["held"], left["required"]) == ("1080.00", "1080.00")
    assert MONTHLY == "345.00"


def test_a_defence_against_the_fine_stops_its_notes_until_it_is_decided_and_for_good_where_accepted(tmp_path):
    root = make_town(tmp_path)
    import_line(root, "A1", 4000, 500)
    open_case(root, "infraction")
    step(root, "notify", "C1", "2026-03-02")
    step(root, "warn", "C1", "2026-03-02")
    step(root, "defence", "C1", "2026-03-05", by="Alfa")
    step(root, "decide-defence", "C1", "2026-03-18", "--outcome", "rejected", by=LAWYER)
    step(root, "fine", "C1", "2026-03-20", by=MAYOR)
    charge = ("case", "fine", "C1", "--charge", "--by", "Ana", "--until", "2026-03-25", "--issued-on", "2026-04-08")
    assert done(*charge, "--dry-run", workspace=root)["total"] == "192.00"
    # the fine has a defence of its own (art. 9 § 4), after the one against the notice
    step(root, "defence", "C1", "2026-03-30", by="Alfa")
    assert "recorded already" in refused(root, "case", "defence", "C1", "--on", "2026-03-31", "--by", "Alfa")
    assert "the defence of 2026-03-30 isn't decided" in refused(root, *charge)
    assert "isn't decided" in refused(root, "case", "suspend", "C1", "--on", "2026-05-20", "--by", SECRETARY)
    step(root, "decide-defence", "C1", "2026-04-05", "--outcome", "accepted", by=LAWYER)
    assert "the defence against it was accepted" in refused(root, *charge)
    assert done("invoice", "list", workspace=root)["invoices"] == []


def double(root, case, *rows, on="2026-04-10", opened_on="2026-03-02"):
    """Take a case of art. 10 to the Secretary's act, without a defence."""
    open_case(root, "clandestine", *rows, case=case, on=opened_on)
    step(root, "notify", case, "2026-03-02")
    step(root, "opinion", case, "2026-03-22", "--kind", "technical")
    step(root, "opinion", case, "2026-03-23", "--kind", "legal")
    step(root, "impossibility", case, "2026-03-24")
    step(root, "installed", case, "2026-01-01", "--reference", "Nota fiscal 1")
    step(root, "confirm", case, on, "--outcome", "doubled", by=SECRETARY)


def test_a_defence_accepted_after_the_act_undoes_the_doubling(tmp_path):
    root = make_town(tmp_path)
    import_line(root, "S1", 1000, 500, "--status", "suspected")
    decide_term(root)
    double(root, "C1", "--segment", "S1")
    later = ("case", "installed", "C1", "--on", "2026-03-03", "--by", INSPECTOR, "--reference", "NF 2")
    assert "after the case was opened" in refused(root, *later)
    past = ("bill", "--retroactive", "C1", "--until", "2026-03", "--issued-on", "2026-04-20", "--dry-run")
    assert done(*past, workspace=root)["total"] == "180.00"
    step(root, "defence", "C1", "2026-04-12", by="Alfa")
    assert "the defence of 2026-04-12 isn't decided" in refused(root, *past)
    decided = step(root, "decide-defence", "C1", "2026-04-18", "--outcome", "accepted", by=LAWYER)
    assert [f["code"] for f in decided["findings"]] == ["undone"]
    assert decided["doubled_from"] is None
    assert "isn't decided for doubling" in refused(root, *past)
    assert price(root, "2026-04") == ("0.00", [])


def test_two_cases_over_the_same_rows_never_demand_the_same_months_twice(tmp_path):
    root = make_town(tmp_path)
    import_line(root, "S1", 1000, 500, "--status", "suspected")
    import_line(root, "S2", 1000, 700, "--status", "suspected")
    decide_term(root)
    double(root, "C1", "--segment", "S1")
    past = ("--until", "2026-03", "--issued-on", "2026-04-20")
    assert done("bill", "--retroactive", "C1", *past, workspace=root)["total"] == "180.00"
    double(root, "C2", "--segment", "S1")
    assert done("bill", "--retroactive", "C2", *past, workspace=root)["issued"] is False
    double(root, "C3", "--segment", "S1", "--segment", "S2")  # what C1's note demanded was for rows of C3 alone
    both = done("bill", "--retroactive", "C3", *past, workspace=root)
    assert (both["issued"], both["total"]) == (True, "180.00")
    assert [f["code"] for f in both["findings"]] == ["issuer_incomplete"]
    span = ("--month", "2026-01", "--until", "2026-03", "--operator", "alfa", "--reason", "nada falta")
    assert done("correct", *span, "--issued-on", "2026-04-21", "--dry-run", workspace=root)["notes"] == []


def test_a_suspended_operator_regularises_nothing_and_each_step_has_an_author(tmp_path):
    root = make_town(tmp_path)
    request(root)
    grant(root)
    import_line(root, "S1", 1000, 500, "--status", "suspected")
    decide_term(root)
    double(root, "C1", "--segment", "S1")
    assert "--by is blank" in refused(root, "case", "remove", "C1", "--on", "2026-11-20", "--by", " ")
    open_case(root, "infraction", case="F1", on="2026-09-10")
    step(root, "notify", "F1", "2026-09-10")
    step(root, "warn", "F1", "2026-09-10")
    step(root, "opinion", "F1", "2026-09-28", "--kind", "legal")
    step(root, "fine", "F1", "2026-09-28", by=MAYOR)
    step(root, "suspend", "F1", "2026-10-28", by=SECRETARY)
    into = ("case", "regularise", "C1", "--permit", "P1", "--on", "2026-11-16", "--by", SECRETARY)
    assert "art. 9 § 3" in refused(root, *into)
    step(root, "release", "F1", "2026-11-15", by=SECRETARY)
    done(*into, workspace=root)
