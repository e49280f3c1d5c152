"""Orders of courts from the command line to the paper: recorded, priced apart, archived, lifted; and legal risks."""

import csv
import json
import shutil
from dataclasses import replace
from datetime import date
from pathlib import Path

import geopandas as gpd
import pytest
import shapely
from documents.reading import packed, text_of
from workspaces import (
    ISSUED_ON,
    MONTH,
    bill,
    done,
    geobill,
    import_network,
    make_workspace,
    place,
    write_geojson,
    write_network,
)

from geobill.domain.suspension import EFFECTS, KINDS
from geobill.law.legal_risk import load_risks
from geobill.pipeline.replay import Frames, priced_again
from geobill.pipeline.verify_notes import note_differences
from geobill.store.ledger import Ledger
from geobill.store.notes import NoteBook
from geobill.store.workspace import open_workspace

ORDER = {
    "--id": "S1",
    "--case": "1001234-56.2026.8.26.0106",
    "--court": "TJSP, 1ª Vara de Caieiras",
    "--kind": "injunction",
    "--effect": "accrues",
    "--articles": "7",
    "--operator": "alfa",
    "--from": "2026-01-01",
}
LIFT = {
    "--on": "2026-12-01",
    "--by": "Ana Lima",
    "--reference": "Acórdão 9",
    "--months": "none",
    "--late-charges": "no",
}


def add(**changes):
    """Words of ``suspension add``; None leaves an option out."""
    given = ORDER | {f"--{k.replace('_', '-')}": v for k, v in changes.items()}
    return ("suspension", "add", *(str(w) for k, v in given.items() if v is not None for w in (k, v)))


def lift(name="S1", **changes):
    given = LIFT | {f"--{k.replace('_', '-')}": v for k, v in changes.items()}
    return ("suspension", "lift", name, *(w for k, v in given.items() if v is not None for w in (k, v)))


def refused(root, *command):
    answer = geobill(*command, workspace=root)
    assert (answer.code, answer.out) == (1, ""), answer
    assert "Traceback" not in answer.err
    return answer.err


def priced(root, month=MONTH, *more):
    return done("price", "--month", month, *more, workspace=root)


def totals(data):
    return {o["operator"]: o["total"] for o in data["operators"]}


def write_area(path, *corners, crs="EPSG:31983", kind=shapely.Polygon):
    shape = kind(place(*corners))
    gpd.GeoDataFrame({"n": [1]}, geometry=[shape], crs=31983).to_crs(crs).to_file(path)
    return path


@pytest.fixture(scope="module")
def town(tmp_path_factory):
    """A workspace that no test of this module changes."""
    return make_workspace(tmp_path_factory.mktemp("courts"))


@pytest.fixture
def root(town, tmp_path):
    return Path(shutil.copytree(town, tmp_path / "ws"))


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"operator": "delta"}, "no operator 'delta'"),
        ({"operator": None}, "whose equipment it suspends"),
        ({"operator": " "}, "--operator is blank"),
        ({"permit": "P7"}, "No permit 'P7'"),
        ({"until": "2025-12-31"}, "before --from"),
        ({"articles": "7 § 1"}, "art. 7 § 1 carries no amount"),
        ({"articles": "99"}, "art. 99 carries no amount in Lei nº 3.057"),
        ({"articles": "13, 7"}, "art. 13 carries no amount"),
        ({"articles": " , "}, "no article is given"),
        ({"kind": "liminar"}, f"Allowed: {', '.join(KINDS)}"),
        ({"effect": "free"}, f"Allowed: {', '.join(EFFECTS)}"),
        ({"case": " "}, "--case is blank"),
        ({"court": ""}, "--court is blank"),
        ({"court": "\x07"}, "can't be seen"),
        ({"note": "a\x1bb"}, "can't be seen"),
        ({"from": "amanhã"}, "not a date"),
        ({"area": "nowhere.gpkg"}, "no file"),
        ({"crs": "EPSG:31983"}, "--crs belong to the file of an area"),
    ],
)
def test_an_order_that_cant_be_is_refused_and_nothing_is_kept(town, changes, said):
    assert said in refused(town, *add(**changes))
    assert done("suspension", "list", workspace=town)["suspensions"] == []


def test_an_area_must_be_polygons_inside_the_municipality(town, tmp_path):
    far = write_area(tmp_path / "longe.gpkg", (90000, 0), (91000, 0), (91000, 900))
    assert "lie outside Caieiras" in refused(town, *add(area=far))
    line = write_area(tmp_path / "linha.gpkg", (0, 0), (100, 0), kind=shapely.LineString)
    assert "can't be used as an area" in refused(town, *add(area=line))
    empty = write_geojson(tmp_path / "vazio.geojson", [({"n": 1}, None, None)])
    assert "no_geometry" in refused(town, *add(area=empty))
    nothing = write_geojson(tmp_path / "nada.geojson", [])
    assert "has no polygon" in refused(town, *add(area=nothing))
    assert done("suspension", "list", workspace=town)["suspensions"] == []


def test_a_second_order_of_one_id_is_refused(root):
    done(*add(), workspace=root)
    assert "recorded already" in refused(root, *add(case="2"))


def test_the_month_sets_suspended_amounts_apart(root):
    before = priced(root)
    assert before["suspended"] == []
    made = done(*add(), workspace=root)
    assert made["rows"] == 4
    assert made["state"] == "in_force" if date.today() >= date(2026, 1, 1) else "not_yet"
    data = priced(root)
    (apart,) = data["suspended"]
    assert {k: apart[k] for k in ("operator", "suspension", "court_case", "court", "effect", "total", "length_m")} == {
        "operator": "alfa",
        "suspension": "S1",
        "court_case": ORDER["--case"],
        "court": ORDER["--court"],
        "effect": "accrues",
        "total": totals(before)["alfa"],
        "length_m": "305.00",
    }
    assert apart["lines"] == next(o for o in before["operators"] if o["operator"] == "alfa")["lines"]
    assert totals(data) == {"alfa": "0.00", "beta": totals(before)["beta"]}
    metres = data["conservation"]["metres"]
    assert metres == before["conservation"]["metres"] | {"priced": "80.00", "suspended": "305.00"}
    assert ORDER["--case"] in geobill("price", "--month", MONTH, workspace=root).out


def test_an_area_in_degrees_is_carried_over(root, tmp_path):
    area = write_area(tmp_path / "area.shp", (0, 0), (60, 0), (60, 15), (0, 15), crs="EPSG:4674")
    made = done(*add(area=area), workspace=root)
    assert (made["rows"], round(float(made["area_m2"]))) == (1, 900)
    assert priced(root)["suspended"][0]["length_m"] == "50.00"  # A1 runs from 10 to 180, its first 50 m lie within
    assert done("suspension", "show", "S1", workspace=root)["area_m2"] == made["area_m2"]


def test_part_of_an_operators_permits(root, tmp_path):
    other = write_network(tmp_path / "p.geojson", ("X1", 0.5, [(10, 45), (60, 45)]))
    import_network(root, other, "alfa", "--permit", "P2")
    before = totals(priced(root))
    done(*add(permit="P2"), workspace=root)
    (apart,) = priced(root)["suspended"]
    assert (apart["total"], apart["length_m"]) == ("3.94", "50.00")
    assert float(totals(priced(root))["alfa"]) == pytest.approx(float(before["alfa"]) - 3.94)
    assert "The permit P2 is alfa's, not beta's" in refused(root, *add(id="S2", permit="P2", operator="beta"))


def test_an_invoice_keeps_what_is_suspended_and_is_priced_again_from_its_archive(root, tmp_path):
    area = write_area(tmp_path / "area.gpkg", (0, 0), (60, 0), (60, 15), (0, 15))
    done(*add(area=area, **{"from": "2026-11-11"}), workspace=root)
    done(*add(id="S2", articles="10§2", effect="not_charged", until="2026-11-20"), workspace=root)
    done(*add(id="S3", operator="beta", effect="judicial_deposit"), workspace=root)
    data = priced(root)
    billed = bill(root, "--out", tmp_path / "out")
    assert [i["operator"] for i in billed["invoices"]] == ["alfa"]  # beta takes no number
    (said,) = [f for f in billed["findings"] if f["code"] == "suspended"]
    assert "beta: all that is due, R$ 578.55" in said["message"]
    assert "depósito em juízo" in said["message"]
    opened = open_workspace(root)
    with opened.database.read() as connection:
        ledger = Ledger(connection, opened.database.tables)
        (invoice,) = ledger.load_invoices()
        kept = {role: ledger.load_archived(digest) for role, digest in invoice.basis.digests}
        again = priced_again(ledger, invoice, opened.settings.municipality.srid)
    assert [s.suspension for s in invoice.suspended] == ["S1", "S2"]
    assert [s["total"] for s in data["suspended"] if s["operator"] == "alfa"] == [
        str(s.total) for s in invoice.suspended
    ]
    assert [s["suspension"]["id"] for s in json.loads(kept["suspensions"])] == ["S1", "S2"]
    (mine,) = again.bill.operators
    assert (mine.lines, mine.suspended, mine.total) == (invoice.lines, invoice.suspended, invoice.total)
    page = (tmp_path / "out" / "index.html").read_text(encoding="utf-8")
    assert all(text in page for text in ("Suspenso por ordem judicial", ORDER["--case"], "depósito judicial"))
    with next((tmp_path / "out").glob("anexo-*.csv")).open(encoding="utf-8-sig") as file:
        rows = list(csv.DictReader(file, delimiter=";"))
    assert {r["Trecho"] for r in rows if r["Suspenso por ordem judicial"]} == {"A1", "A3"}
    assert all(bool(r["Linha da fatura"]) != bool(r["Suspenso por ordem judicial"]) for r in rows)
    drawn = gpd.read_file(next((tmp_path / "out").glob("anexo-*.gpkg")), layer="pecas")
    assert set(drawn[drawn["suspensao"].notna()]["situacao"]) == {"Suspensa"}
    assert set(drawn[drawn["suspensao"] == "S1"]["trecho"]) == {"A1"}


def test_pieces_tell_the_order(root, tmp_path):
    done(*add(operator="beta", articles="7 § 2"), workspace=root)
    done(*add(id="S2", operator="alfa", articles="10 § 2"), workspace=root)
    priced(root, MONTH, "--pieces", tmp_path / "p.csv")
    with (tmp_path / "p.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    names = ("segment", "operator", "zone", "length_m", "land_value", "billed_width_m", "amount_exact")
    assert list(rows[0])[:7] == list(names)
    assert [(r["segment"], r["takes"]) for r in rows if r["suspended"]] == [("A3", "doubling")]


def test_an_order_that_suspends_nothing_says_so(root):
    (said,) = done(*add(service="gás"), workspace=root)["findings"]
    assert said["code"] == "suspends_nothing"
    (said,) = done(*add(id="S2", operator="daec"), workspace=root)["findings"]
    assert said["code"] == "suspends_exempt"
    assert priced(root)["suspended"] == []


def test_a_lifting_says_what_may_be_billed_and_bills_nothing(root):
    done(*add(**{"from": "2026-10-15"}), workspace=root)
    assert [i["operator"] for i in bill(root)["invoices"]] == ["beta"]
    for changes, said in (
        ({"months": "2026-09:2026-11"}, "only what it held back"),
        ({"months": "2026-11:2026-10"}, "ends before it begins"),
        ({"months": "2026-11"}, "decided, never assumed"),
        ({"late_charges": "maybe"}, "Write yes or no"),
        ({"on": "2026-10-14"}, "before the order itself"),
        ({"reference": " "}, "--reference is blank"),
        ({"reference": "\x07"}, "--reference is blank or can't be read"),
    ):
        assert said in refused(root, *lift(**changes))
    for option in ("months", "late_charges"):  # both must be said
        assert geobill(*lift(**{option: None}), workspace=root).code == 2
    assert "no suspension 'S9'" in refused(root, *lift("S9"))
    made = done(*lift(months="2026-11:2026-11"), workspace=root)
    assert made["billable"] == [
        {
            "month": MONTH,
            "operator": None,
            "invoices": [],
            "command": f"geobill bill --month {MONTH}",
            "said": "nothing was demanded",
        }
    ]
    assert made["lifting"]["late_charges"] is False
    assert "stays so" in refused(root, *lift())
    assert [s["state"] for s in done("suspension", "list", "--on", "2026-12-01", workspace=root)["suspensions"]] == [
        "lifted"
    ]
    assert [i["operator"] for i in done("invoice", "list", workspace=root)["invoices"]] == ["beta"]  # nothing by itself
    after = bill(root)
    assert [i["operator"] for i in after["invoices"] if i["issued_now"]] == ["alfa"]
    assert priced(root, "2026-10")["suspended"] != []  # October doesn't come back


def test_an_invoice_that_bears_the_order_is_corrected(root, tmp_path):
    plain = totals(priced(root))["alfa"]
    area = write_area(tmp_path / "area.gpkg", (0, 0), (60, 0), (60, 15), (0, 15))
    done(*add(area=area), workspace=root)
    number = next(i["number"] for i in bill(root)["invoices"] if i["operator"] == "alfa")
    made = done(*lift(months=f"{MONTH}:{MONTH}"), workspace=root)
    (back,) = made["billable"]
    assert back["invoices"] == [number]
    assert back["command"] == f"geobill correct --month {MONTH} --operator alfa --reason TEXT"
    assert f"the month costs R$ {plain} with the order lifted" in back["said"]
    assert totals(priced(root))["alfa"] == plain
    differs = [f for f in bill(root)["findings"] if f["code"] == "differs_from_issued"]
    assert number in differs[0]["message"]


def correct(root, *more, operator="alfa"):
    which = ("--month", MONTH, "--operator", operator, "--issued-on", "2026-12-05", "--reason", "Ordem judicial")
    return done("correct", *which, *more, workspace=root)


def test_an_order_that_comes_after_the_invoice_says_how_the_demand_is_lowered(root):
    numbers = {i["operator"]: i["number"] for i in bill(root)["invoices"]}
    (said,) = done(*add(**{"from": "2026-11-11"}), workspace=root)["findings"]
    assert (said["code"], said["severity"]) == ("already_demanded", "warning")
    assert f"{MONTH} was demanded before the order was recorded: invoice {numbers['alfa']} (alfa)." in said["message"]
    assert f"geobill correct --month {MONTH} --operator alfa --reason TEXT --dry-run" in said["fix"]
    assert "beta" not in said["message"] + said["fix"]
    assert done(*add(id="S2", **{"from": "2026-12-01"}), workspace=root)["findings"] == []  # reaches no billed month
    assert done(*add(id="S3", operator="beta", until="2026-10-31"), workspace=root)["findings"] == []
    answer = geobill(*add(id="S4", operator="beta"), workspace=root)
    assert f"invoice {numbers['beta']} (beta)" in answer.out


def test_a_month_that_was_demanded_in_full_has_nothing_to_do_when_it_comes_back(root):
    number = next(i["number"] for i in bill(root)["invoices"] if i["operator"] == "alfa")
    done(*add(**{"from": "2026-11-11"}), workspace=root)
    answer = geobill(*lift(months=f"{MONTH}:{MONTH}"), workspace=root)
    assert f"  {MONTH}, alfa: nothing to do: invoice {number} was issued in full\n" in answer.out
    assert "geobill bill" not in answer.out
    assert correct(root)["notes"] == []


def test_a_month_lowered_by_a_note_is_demanded_again_by_a_note(root, tmp_path):
    """The credit note names the court, isn't the entity's credit, is computed again, and is undone when the order ends."""
    full = totals(priced(root))["alfa"]
    bill(root)
    done(*add(**{"from": "2026-11-11"}), workspace=root)
    lowered = correct(root, "--out", tmp_path / "notas")["notes"][0]
    assert (lowered["kind"], lowered["operator"]) == ("credit", "alfa")
    opened = open_workspace(root)
    with opened.database.read() as connection:
        book, ledger = (kind(connection, opened.database.tables) for kind in (NoteBook, Ledger))
        (note,) = book.load()
        texts = {role: ledger.load_archived(digest) for role, digest in book.load_inputs(note.number).items()}
    (apart,) = note.suspended
    assert (apart.suspension, apart.court_case) == ("S1", ORDER["--case"])
    assert note.reduced_by_court == -note.total
    left_out = replace(note, lines=tuple(replace(line, suspended=()) for line in note.lines))
    frames = Frames(opened.settings.municipality.srid)
    assert note_differences(note, texts, frames)[0] == ()
    assert any("suspended" in d.message for d in note_differences(left_out, texts, frames)[0])
    assert geobill("verify", "--all", workspace=root).code == 0
    pdf = text_of(next((tmp_path / "notas").rglob("*.pdf")).read_bytes())
    for part in ("Valores com exigibilidade suspensa", "não são crédito da entidade", f"nº {ORDER['--case']} (TJSP"):
        assert packed(part) in packed(pdf), part
    assert packed("Crédito da entidade R$").casefold() not in packed(pdf).casefold()
    assert packed("decide o Município") not in packed(pdf)
    (back,) = done(*lift(months=f"{MONTH}:{MONTH}"), workspace=root)["billable"]
    assert back["command"] == f"geobill correct --month {MONTH} --operator alfa --reason TEXT"
    again = correct(root)["notes"][0]
    assert (again["kind"], again["total"]) == ("difference", str(-note.total))
    assert geobill("verify", "--all", workspace=root).code == 0
    assert totals(priced(root))["alfa"] == full


def test_the_check_names_the_order_as_the_cause(root):
    done(*add(**{"from": "2026-11-01"}, articles="10 § 2"), workspace=root)
    done(*add(**{"from": "2026-11-01"}, id="S2", operator="beta", until="2026-11-15"), workspace=root)

    def causes(month, operator):
        checked = done("bill", "check", "--month", month, workspace=root)["operators"]
        mine = next(o for o in checked if o["operator"] == operator)
        return {c["cause"]: c["amount"] for c in mine["causes"]}

    assert causes(MONTH, "alfa")["suspended"] == "-3.15"
    assert causes(MONTH, "beta")["suspended"] == "-289.28"
    assert causes("2026-12", "beta")["resumed"] == "289.28"


def test_an_order_doesnt_change_what_was_known_before_it(root):
    before = priced(root)
    done(*add(), workspace=root)
    assert priced(root, MONTH, "--as-known-on", "2020-01-01")["suspended"] == []
    assert before["suspended"] == []
    assert priced(root)["suspended"] != []


# -- legal risks


def test_every_note_says_of_whom_by_whom_and_in_both_languages(town):
    data = done("suspension", "risks", workspace=town)
    assert [r["id"] for r in data["risks"]] == [r.id for r in load_risks().notes]
    for risk in data["risks"]:
        assert all(risk[key] for key in ("utility", "services", "court", "reference", "says", "diz"))
        assert risk["favours"] in ("operator", "city")
    assert date.fromisoformat(data["checked_on"])


@pytest.mark.parametrize(
    ("service", "notes"),
    [
        ("telecomunicações", {"lei-13116"}),
        ("Energia Elétrica", {"tema-261"}),
        ("ÁGUA e esgoto", {"stj-saneamento"}),
        ("gás canalizado", {"tjrs-gas"}),
        ("electricity", {"tema-261"}),
        ("vagas", set()),
        ("", set()),
        (None, set()),
    ],
)
def test_a_note_knows_its_kind_of_service(service, notes):
    assert {r.id for r in load_risks().notes if r.concerns(service)} == notes


def test_risks_warn_before_issue_and_change_no_amount(town, tmp_path):
    """The same town twice, the operators' service named in one of them."""
    found = {}
    for service in ("", "telecomunicações"):
        root = Path(shutil.copytree(town, tmp_path / (service or "sem")))
        network = write_network(tmp_path / "z.geojson", ("Z1", 0.5, [(10, 45), (60, 45)]))
        named = ("--id", "zeta", "--name", "Zeta S.A.", "--service", service)
        done("operator", "add", *named, workspace=root)
        import_network(root, network, "zeta")
        price, draft = priced(root), done("bill", "--month", MONTH, "--draft", workspace=root)
        issued = done("bill", "--month", MONTH, "--issued-on", ISSUED_ON, workspace=root)
        found[service] = [[f for f in d["findings"] if f["code"] == "legal_risk"] for d in (price, draft, issued)]
        found[service, "amounts"] = [(o["operator"], o["lines"], o["total"]) for o in issued["operators"]]
    assert found[""] == [[], [], []]
    for (said,) in found["telecomunicações"]:
        assert said["severity"] == "warning"
        assert "zeta R$ 3.94" in said["message"]
        assert "Lei 13.116/2015, art. 12" in said["message"]
    assert found["", "amounts"] == found["telecomunicações", "amounts"]
