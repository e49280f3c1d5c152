"""From an upheld finding to the double line of next month's invoice: the whole life of a case on findings, by the command line.

Alfa has 1,000 m of permitted cable, 0.50 m wide, in a zone of R$ 200/m²; by Lei 3.057 L = 0.03, D = 0.50, and R = 1.00 up to 1 km.
500 m that nobody declared: 500 × 0.50 × 200 × 0.03 × 0.50 × 1.00 = R$ 750.00 a month once, R$ 1,500.00 doubled.
"""

import json
import re
import shutil
import sqlite3
from contextlib import closing
from dataclasses import replace
from datetime import date
from decimal import Decimal

import pyogrio
import pytest
from documents.reading import text_of
from field_town import NOW, at, field_town, finding, keep, town
from workspaces import done, geobill

from geobill.domain.case import FOUND
from geobill.errors import ConflictError, InputError
from geobill.pipeline import finding_cases
from geobill.pipeline.finding_cases import Opening, open_case_on
from geobill.store.batches import Batches
from geobill.store.workspace import open_workspace
from pipeline.test_cases import INSPECTOR, LAWYER, SECRETARY, decide_term, step

DAY = date(2026, 11, 30)
ONE, TWO, BOX = "V00001-00001", "V00001-00002", "V00001-00003"
OPENED = "2026-11-30"


def refused(root, *command):
    answer = geobill(*command, workspace=root)
    assert (answer.code, answer.out) == (1, ""), answer
    return answer.err


def open_on(root, *findings, case="C1", more=()):
    named = [part for f in findings for part in ("--finding", f)]
    typed = (
        "--subject",
        "Cabo na Rua A",
        "--id",
        case,
        "--on",
        OPENED,
        "--by",
        INSPECTOR,
        "--reference",
        "Auto 7/2026",
    )
    return done("case", "open", *named, *typed, *more, workspace=root)


@pytest.fixture(scope="module")
def life(tmp_path_factory):
    """Two stretches and a cabinet that nobody declared, taken to the double charge and removed again; what each step said."""
    root = field_town(tmp_path_factory.mktemp("life"))
    said = {"before": done("price", "--month", "2026-12", workspace=root)}
    for id_ in (ONE, TWO, BOX):
        done("finding", "uphold", id_, "--by", "Ana Lima", workspace=root)
    said["waiting"] = done("case", "list", workspace=root)
    said["no_case"] = refused(root, "case", "notify", ONE, "--on", OPENED, "--by", INSPECTOR)
    said["open"] = open_on(root, ONE, TWO, BOX)
    said["suspected"] = done("price", "--month", "2026-12", workspace=root)
    said["again"] = refused(root, "case", "open", "--finding", ONE, "--subject", "X", "--by", INSPECTOR, "--on", OPENED)
    decide_term(root, "15")
    said["notify"] = done(
        "case", "notify", ONE, "--on", OPENED, "--by", INSPECTOR, "--reference", "N 1", workspace=root
    )
    said["listed"] = done("case", "list", workspace=root)
    step(root, "defence", "C1", "2026-12-03", by="Alfa")
    step(root, "decide-defence", "C1", "2026-12-04", "--outcome", "rejected", by=LAWYER)
    step(root, "opinion", "C1", "2026-12-05", "--kind", "technical")
    step(root, "opinion", "C1", "2026-12-05", "--kind", "legal")
    confirm = ("confirm", TWO, "2026-12-07", "--outcome", "doubled", "--installed-on", "2026-10-16", "--proof", "NF 33")
    said["possible"] = refused(root, "case", *confirm[:2], "--on", confirm[2], *confirm[3:], "--by", SECRETARY)
    said["nothing_left"] = done("case", "show", "C1", workspace=root)
    step(root, "impossibility", "C1", "2026-12-06", "--reference", "Laudo 5")
    said["confirm"] = step(root, *confirm, by=SECRETARY)
    said["month"] = done("price", "--month", "2026-12", workspace=root)
    said["half"] = done("price", "--month", "2026-10", workspace=root)
    said["show"] = done("case", "show", ONE, workspace=root)
    said["bill"] = done("bill", "--month", "2026-12", "--issued-on", "2026-12-31", workspace=root)
    said["verify"] = geobill("verify", "--all", workspace=root)
    return root, said


def test_findings_that_wait_are_listed_beside_the_cases(life):
    _, said = life
    waiting = said["waiting"]["findings"]
    assert (waiting["upheld"], waiting["suspected"], waiting["in_case"]) == (3, 0, 0)
    assert {f["id"] for f in waiting["first"]} == {ONE, TWO, BOX}
    assert f"geobill case open --finding {ONE}" in said["no_case"]
    assert said["listed"]["findings"]["in_case"] == 3


def test_opening_brings_the_rows_in_and_charges_nothing_for_them(life):
    root, said = life
    opened = said["open"]
    assert (opened["kind"], opened["operator"], opened["state"]) == ("clandestine", "alfa", "suspected")
    assert (opened["segments"], opened["equipment"]) == ([ONE, TWO], [BOX])
    assert (opened["act"]["kind"], opened["act"]["reference"]) == ("found", "Auto 7/2026")
    assert said["suspected"]["operators"] == said["before"]["operators"]
    batches = done("batch", "list", workspace=root)["batches"]
    mine = [
        (b["kind"], b["file"], b["layer"], b["accepted"], b["length_m"])
        for b in batches
        if b["batch"] in opened["batches"]
    ]
    layer = "rede [V00001, processo C1]"
    assert mine == [
        ("network", "levantamento.gpkg", layer, 2, "500.00"),
        ("cabinets", "levantamento.gpkg", layer, 1, "0.00"),
    ]
    assert "is in the case C1 already" in said["again"]


def test_the_auto_is_drawn_up_and_the_notice_names_the_findings(life):
    _, said = life
    for taken, parts in (
        ("open", ("Auto de constatação", "Auto 7/2026", ONE, "500,00", "C1")),
        ("notify", (ONE, TWO, BOX)),
    ):
        (pdf,) = [f for f in said[taken]["files"] if f.endswith(".pdf")]
        with open(pdf, "rb") as file:
            text = text_of(file.read())
        for part in parts:
            assert part in text, (taken, part)
    assert [a["kind"] for a in said["show"]["acts"]][:2] == [FOUND, "notified"]
    assert [f["id"] for f in said["show"]["stands_on"]] == [ONE, TWO, BOX]


def test_terms_are_shown_and_warned_of(life):
    root, said = life
    (term,) = said["listed"]["cases"][0]["terms"]
    assert (term["of"], term["since"], term["until"], term["article"]) == (
        "notified",
        OPENED,
        "2026-12-15",
        "9 § 4, 10 § 1",
    )
    assert (term["days_left"] > 5) == (term["warning"] is None)
    assert done("case", "show", "C1", workspace=root)["terms"] == []  # the defence answered it


def test_confirming_with_a_proven_day_records_both_or_neither(life):
    _, said = life
    assert "the report that the equipment can't be removed is missing" in said["possible"]
    assert "installation_proven" not in [a["kind"] for a in said["nothing_left"]["acts"]]
    acts = [(a["kind"], a["on"], a["reference"]) for a in said["show"]["acts"]]
    assert acts[-2:] == [("installation_proven", "2026-10-16", "NF 33"), ("doubled", "2026-12-07", "")]
    assert said["confirm"]["doubled_from"] == "2026-10-16"
    (past,) = [f for f in said["confirm"]["findings"] if f["code"] == "past_months"]
    assert "geobill bill --retroactive C1" in past["fix"]


def test_the_screen_names_the_case_of_a_double_line(life):
    root, said = life
    number = said["bill"]["invoices"][0]["number"]
    shown = geobill("invoice", "show", number, workspace=root).out
    assert "500.00 m in Z1, case C1 × 2: R$ 1500.00" in shown
    assert "equipment, case C1 × 2: R$ 600.00" in shown
    assert shown.count("C1") == 2
    assert "of it, case C1 × 2: R$ 2100.00" in geobill("price", "--month", "2026-12", workspace=root).out


def test_next_months_invoice_carries_the_double_line_with_the_case_number(life):
    _, said = life
    (operator,) = said["month"]["operators"]
    doubled = [line for line in operator["lines"] if line["multiplier"] == "2"]
    single = [line for line in operator["lines"] if line["multiplier"] == "1"]
    network, cabinet = doubled
    # undeclared metres earn no lower R: it is that of the 1,000 permitted metres
    assert (network["length_m"], network["billed_width_m"], network["land_value"], network["reducer"]) == (
        "500.00",
        "0.50",
        "200",
        "1.00",
    )
    assert network["amount"] == "1500.00"
    assert (cabinet["volume_m3"], cabinet["amount"]) == ("2", "600.00")  # 2 m³ × R$ 150.00 × 2
    assert all(line["cases"] == ["C1"] for line in doubled)
    assert all("cases" not in line for line in single)
    (half,) = [line for line in said["half"]["operators"][0]["lines"] if line["kind"] == "equipment"]
    assert (half["days"], half["amount"]) == (16, "309.68")  # 600 × 16/31
    (invoice,) = said["bill"]["invoices"]
    assert Decimal(invoice["total"]) == sum(Decimal(line["amount"]) for line in operator["lines"])
    (pdf,) = [f for f in said["bill"]["files"] if f.endswith(".pdf") and "/fatura-" in f]
    with open(pdf, "rb") as file:
        text = text_of(file.read())
    assert "processo C1" in text
    assert "EM DOBRO" in text
    (annex,) = [f for f in said["bill"]["files"] if f.endswith(".gpkg") and "/anexo-" in f]
    pieces = pyogrio.read_dataframe(annex, layer="pecas").set_index("trecho")["processo"]
    assert pieces.dropna().to_dict() == {ONE: "C1", TWO: "C1"}, "and none of S1"
    assert list(pyogrio.read_dataframe(annex, layer="armarios")["processo"]) == ["C1"]


def test_what_was_issued_by_a_case_can_be_made_again(life):
    root, said = life
    assert said["verify"].code == 0, said["verify"].out + said["verify"].err
    number = said["bill"]["invoices"][0]["number"]
    doubled = next(n for n, line in enumerate(said["month"]["operators"][0]["lines"], 1) if line.get("cases"))
    explained = done("explain", number, "--line", str(doubled), workspace=root)
    text = json.dumps(explained, ensure_ascii=False)
    assert "levantamento.gpkg" in text
    assert "rede [V00001, processo C1]" in text


@pytest.fixture(scope="module")
def surveyed(tmp_path_factory):
    """A town whose findings these tests leave as they are."""
    root = town(tmp_path_factory.mktemp("surveyed"))
    found = [
        finding(1, "undeclared_segment", "alfa", "1", 100),
        finding(2, "undeclared_segment", "beta", "2", 100),
        finding(3, "undeclared_segment", None, "3", 100),
        finding(4, "missing_in_survey", "alfa", "4", 100, permitted="S1"),
        replace(finding(5, "wider_than_permitted", "alfa", "5", 100, permitted="S1"), permitted_width_m=Decimal("0.5")),
        replace(finding(6, "more_than_permitted", "alfa", "6", 100), width_m=None),
        replace(finding(7, "undeclared_equipment", "alfa", "K7", 0), width_m=None),
        finding(8, "undeclared_segment", "alfa", "8", 100),
        finding(9, "undeclared_segment", "alfa", "9", 100),
    ]
    lines = [at((0, 20 + n), (100, 20 + n)) for n in range(len(found))]
    shapes = [at((5, 5), (5, 6)).centroid if not f.length_m else line for f, line in zip(found, lines, strict=True)]
    keep(root, lines, found, shapes)
    done("finding", "dismiss", "V00001-00008", "--by", "Ana", "--note", "sombra", workspace=root)
    done("finding", "uphold", *(f"V00001-{n:05d}" for n in (1, 2, 3, 5, 6, 7)), "--by", "Ana", workspace=root)
    return root


def opening(**more):
    return Opening(**{"id": "C9", "subject": "Cabo", "opened_on": date(2026, 11, 30), "by": "Rui", **more})


def fingerprint(root):
    """Everything that the store keeps, but for what SQLite keeps for itself."""
    with closing(sqlite3.connect(root / "cadastre.gpkg")) as database:
        return "\n".join(line for line in database.iterdump() if "gpkg_ogr" not in line)


@pytest.mark.parametrize(
    ("numbers", "typed", "said"),
    [
        ((3,), {}, "geobill finding attribute"),
        ((1, 2), {}, "several operators (alfa: V00001-00001; beta: V00001-00002)"),
        ((1, 5), {}, "art. 10 (clandestine): V00001-00001; art. 4 (nonconformity): V00001-00005"),
        ((4,), {}, "no case comes of it"),
        ((1, 9), {}, "nobody upheld V00001-00009: a person decides before a case is opened; geobill finding uphold"),
        ((1,), {"opened_on": date(2026, 12, 1)}, "2026-12-01 is after today, 2026-11-30: a step can't be taken back"),
        ((8,), {}, "geobill finding undo"),
        ((6,), {}, "--default-width METRES"),
        ((6,), {"default_width_m": Decimal(0)}, "--default-width 0 is no width"),
        ((7,), {}, "art. 7 § 2: the survey gives no volume for V00001-00007"),
        ((1,), {"kind": "nonconformity"}, "--kind nonconformity isn't that of the findings, which is clandestine"),
        ((1,), {"operator": "beta"}, "--operator beta isn't that of the findings"),
        ((1,), {"opened_on": date(2026, 11, 29)}, "compared as of 2026-11-30"),
        ((1,), {"permit": "P1"}, "has no permit 'P1'"),
        ((1,), {"subject": " "}, "--subject"),
        ((1,), {"by": ""}, "is no name"),
        ((), {}, "at least one"),
    ],
)
def test_a_case_that_cant_be_is_refused_and_nothing_is_kept(surveyed, numbers, typed, said):
    before = fingerprint(surveyed)
    with pytest.raises(InputError, match=re.escape(said)):
        open_case_on(
            open_workspace(surveyed),
            {f"V00001-{n:05d}": 0 if n in (4, 9) else 1 for n in numbers},
            opening(**typed),
            now=NOW,
            today=DAY,
        )
    assert fingerprint(surveyed) == before


def test_who_looked_at_an_earlier_version_opens_nothing(surveyed):
    before = fingerprint(surveyed)
    with pytest.raises(ConflictError, match="dismissed by Ana"):
        open_case_on(open_workspace(surveyed), {"V00001-00008": 0}, opening(), now=NOW, today=DAY)
    assert fingerprint(surveyed) == before


def test_a_fault_on_the_way_leaves_nothing_half_done(surveyed, monkeypatch):
    """The last thing that is made, the paper, fails."""
    before = fingerprint(surveyed)
    monkeypatch.setattr(finding_cases, "render_auto", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        open_case_on(open_workspace(surveyed), {"V00001-00001": 1}, opening(), now=NOW, today=DAY)
    assert fingerprint(surveyed) == before
    assert not (surveyed / "documents" / "casos").exists()


def test_what_differs_from_its_permit_is_a_case_of_article_4_about_the_permitted_row(tmp_path, surveyed):
    root = shutil.copytree(surveyed, tmp_path / "town")
    opened = open_case_on(open_workspace(root), {"V00001-00005": 1}, opening(), now=NOW, today=DAY)
    case = opened.state.file.case
    assert (case.kind, case.segments, opened.batches) == ("nonconformity", ("S1",), ())
    # a width that was typed stands in the batch's report, apart from those that were measured
    more = open_case_on(
        open_workspace(root),
        {"V00001-00006": 1},
        opening(id="C10", default_width_m=Decimal("0.40")),
        now=NOW,
        today=DAY,
    )
    with open_workspace(root).database.read() as connection:
        report = Batches(connection, open_workspace(root).database.tables).load_report(more.batches[0]).extra
    assert (report["default_width_m"], report["without_width"]) == ("0.40", ["V00001-00006"])


def test_a_finding_in_no_case_is_dismissed_as_a_reviewer_does_and_a_case_with_its_day(tmp_path, surveyed):
    root = shutil.copytree(surveyed, tmp_path / "town")
    said = ("--by", "Ana", "--reason", "é o cabo da iluminação")
    assert "belong to the dismissal of a case" in refused(root, "case", "dismiss", ONE, *said, "--on", "2026-11-30")
    done("case", "dismiss", ONE, *said, workspace=root)
    (shown,) = [f for f in done("finding", "list", workspace=root)["findings"] if f["id"] == ONE]
    assert shown["state"] == "dismissed"
    open_case_on(open_workspace(root), {"V00001-00005": 1}, opening(), now=NOW, today=DAY)
    assert "--on is missing" in refused(root, "case", "dismiss", "V00001-00005", *said)
    closed = done("case", "dismiss", "V00001-00005", *said, "--on", "2026-12-01", workspace=root)
    assert (closed["id"], closed["state"]) == ("C9", "dismissed")
    # its finding stays in the case, whose state says what became of it
    assert done("finding", "show", "V00001-00005", workspace=root)["state"] == "in_case"


def test_a_step_before_which_a_day_is_proven_needs_its_proof(surveyed):
    confirm = ("case", "confirm", "C1", "--on", "2026-12-07", "--by", SECRETARY, "--outcome")
    for more in (
        ("doubled", "--installed-on", "2026-10-16"),
        ("doubled", "--proof", "NF"),
        ("forfeited", "--installed-on", "2026-10-16", "--proof", "NF"),
    ):
        assert "--installed-on and --proof go together" in refused(surveyed, *confirm, *more)
