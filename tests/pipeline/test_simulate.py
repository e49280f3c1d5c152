"""Two ways of pricing side by side: each side is what price says under it, the sums close, and the store isn't touched."""

import hashlib
import shutil
from dataclasses import replace
from datetime import date
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from notch_town import COLUMNS, MONTH, make_notch_town, proposed_map
from permit_town import add_permit, import_line, make_town, refused
from workspaces import done, geobill, import_zones

from geobill.billing.simulation import compare_bills
from geobill.domain.dates import BillingMonth
from geobill.domain.invoice import Basis, Bill, Books, Held, Line, OperatorBill, Suspended, WholeMonth
from geobill.domain.network import Operator
from geobill.errors import BooksDontCloseError

D = Decimal


@pytest.fixture(scope="module")
def town(tmp_path_factory):
    """Town of the notches; whoever reads it must leave every byte as it is."""
    root = make_notch_town(tmp_path_factory.mktemp("notches"))
    before = digests(root)
    yield root
    assert digests(root) == before


def digests(root):
    return {p.name: hashlib.sha256(p.read_bytes()).hexdigest() for p in root.rglob("*") if p.is_file()}


def simulate(root, *options, month=MONTH):
    before = digests(root)
    found = done("simulate", "--month", month, *options, workspace=root)
    assert digests(root) == before
    return found


def priced(root, month=MONTH):
    return {o["operator"]: o["total"] for o in done("price", "--month", month, workspace=root)["operators"]}


def side(found, name):
    return {o["operator"]: o[name] for o in found["operators"]}


def of(found, operator):
    return next(o for o in found["operators"] if o["operator"] == operator)


# -- each side is what price says


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("reducer_method", "graduated"),
        ("reducer_scope", "permit"),
        ("on_border", "higher"),
        ("on_overlap", "lower"),
        ("max_gap_m", "0"),
        ("proration", "full_month"),
        ("clandestine_counts_in_reducer", "true"),
        ("same_strip", "once"),
        ("length_precision_m", "1"),
        ("above_100_km", "D1"),
    ],
)
def test_base_and_scenario_are_what_price_says_under_either_policy(workspace, tmp_path, key, value):
    found = simulate(workspace, "--policy", f"{key}={value}")
    other = shutil.copytree(workspace, tmp_path / "other")
    done("policy", "set", key, value, workspace=other)
    assert side(found, "base") == priced(workspace)
    assert side(found, "scenario") == priced(other)
    assert found["scenario"]["policy"][key] == value != found["base"]["policy"][key]
    assert [c["name"] for c in found["changes"]] == [key]


def test_the_base_may_be_another_policy_too(town):
    found = simulate(town, "--base-policy", "reducer_method=graduated")
    assert of(found, "alfa")["base"] == "155.40"
    assert of(found, "alfa")["scenario"] == "140.40"
    assert of(found, "alfa")["reducers"] == {"base": ["5180.00/5200.00"], "scenario": ["0.90"]}


def test_a_named_profile_and_a_value_over_it(town, tmp_path):
    root = shutil.copytree(town, tmp_path / "ws")
    with (root / "geobill.toml").open("a", encoding="utf-8") as file:
        file.write('\n[policy.profile.estudo]\nreducer_method = "graduated"\nproration = "full_month"\n')
    found = simulate(root, "--profile", "estudo", "--policy", "proration=daily")
    assert found["scenario"]["profile"] == "estudo"
    assert [(c["name"], c["scenario"]) for c in found["changes"]] == [("reducer_method", "graduated")]
    assert of(found, "alfa")["scenario"] == "155.40"
    assert "estudo" in refused(root, "simulate", "--month", MONTH, "--profile", "outro")


@pytest.mark.parametrize(
    ("figure", "operator", "amount"),
    [
        ("location_index=0.04", "alfa", "187.20"),  # 5,200 × 0.50 × 4 × 4 % × 50 % × 0.90
        ("depreciation_index=0.25", "alfa", "70.20"),
        ("minimum_width_m=1.00", "alfa", "280.80"),
        ("price_per_m3=165.50", "beta", "478.00"),  # 147.00 + 2 × 165.50
        ("location_index=0", "alfa", "0.00"),
    ],
)
def test_a_proposed_figure_of_law(town, figure, operator, amount):
    found = simulate(town, "--figure", figure)
    assert of(found, operator)["scenario"] == amount
    name, value = figure.split("=")
    assert found["scenario"]["figures"] == {name: value}
    assert [(c["what"], c["name"], c["scenario"]) for c in found["changes"]] == [("figure", name, value)]


def test_a_proposed_scale_of_r(town, tmp_path):
    file = tmp_path / "escala.toml"
    file.write_text("brackets = [{ up_to_m = '4000', value = '1.00' }, { value = '0.50' }]", encoding="utf-8")
    found = simulate(town, "--brackets", file)
    assert side(found, "scenario") == {"alfa": "78.00", "beta": "373.50", "longa": "1515.00"}
    assert found["scenario"]["brackets"] == [{"up_to_m": "4000", "value": "1.00"}, {"up_to_m": None, "value": "0.50"}]
    assert of(found, "longa")["reducers"] == {"base": ["held"], "scenario": ["0.50"]}
    assert of(found, "longa")["scenario_held"]["length_m"] == "0.00"


def test_another_edition_and_another_month_s_law_policy_and_map(town, tmp_path):
    # R$ 5.00 in the place of R$ 4.00
    assert of(simulate(town, "--edition", "dezembro"), "alfa")["scenario"] == "175.50"
    assert of(simulate(town, "--at", "2026-12"), "alfa")["scenario"] == "175.50"
    root = shutil.copytree(town, tmp_path / "ws")
    with (root / "geobill.toml").open("a", encoding="utf-8") as file:
        file.write('\n[policy.since.2026-12]\nreducer_method = "graduated"\n')
    found = simulate(root, "--at", "2026-12")
    assert (of(found, "alfa")["base"], of(found, "alfa")["scenario"]) == ("140.40", "194.25")
    assert {c["what"] for c in found["changes"]} == {"policy", "edition", "law_of"}
    # a range of months takes the dated change in its own month, on both sides
    ranged = simulate(root, "--until", "2026-12", "--figure", "price_per_m3=150")
    assert [m["base"] for m in ranged["months"]] == [m["scenario"] for m in ranged["months"]]
    assert ranged["changes"] == []
    assert of(ranged, "alfa")["reducers"]["base"] == ["0.90", "5180.00/5200.00"]
    assert [m["base_edition"] for m in ranged["months"]] == ["2026", "dezembro"]


def test_a_decision_counts_as_it_stood_in_the_other_month(town, tmp_path):
    root = shutil.copytree(town, tmp_path / "ws")
    act = ("--id", "D1", "--number", "1", "--date", "2026-11-20", "--signatory", "Prefeita")
    answer = ("--question", "above_100_km", "--answer", "0.60", "--from", "2026-12-01")
    done("decision", "add", *act, *answer, workspace=root)
    done("policy", "set", "above_100_km", "D1", workspace=root)
    found = of(simulate(root, "--at", "2026-12", "--edition", "2026"), "longa")
    assert (found["base"], found["scenario"]) == ("0.00", "1818.00")
    back = of(simulate(root, "--at", "2026-11", month="2026-12"), "longa")
    assert (back["base"], back["scenario"]) == ("2272.50", "0.00")


def test_a_proposed_map_is_priced_as_if_it_were_imported_and_is_not(town, tmp_path):
    file = proposed_map(tmp_path)
    found = simulate(town, "--land-values", file, *COLUMNS)
    root = shutil.copytree(town, tmp_path / "ws")
    import_zones(root, file, "proposta", "2026-11-01")
    assert side(found, "scenario") == priced(root)
    # alfa's line has 4,000 m in the west: (4,000 × 8 + 1,200 × 4) × 0.50 × 1.5 % × 0.90
    assert of(found, "alfa")["scenario"] == "248.40"
    proposed = found["scenario"]["land_values"]
    assert (proposed["file"], proposed["read"], proposed["accepted"]) == ("proposta.geojson", 3, 2)
    assert {z["zone"] for z in found["zones"] if z["kind"] == "network"} == {"Todo", "Oeste", "Leste"}


@pytest.mark.parametrize("given", ["0.60", "0,60"])
def test_a_supposed_r_above_100_km_is_named_as_such_and_never_recorded(town, given):
    found = simulate(town, "--policy", f"above_100_km={given}")
    longa = of(found, "longa")
    assert (longa["base"], longa["scenario"]) == ("0.00", "1818.00")
    assert longa["base_held"] == {"length_m": "101000.00", "amount_if": "1818.00"}
    assert longa["scenario_held"] == {"length_m": "0.00", "amount_if": "0.00"}
    assert D(found["scenario"]["supposed_reducer"]) == D("0.60")
    assert found["scenario"]["policy"]["above_100_km"].startswith("supposed ")
    assert found["base"]["supposed_reducer"] is None
    assert found["held"][0]["code"] == "above_100_km"


@pytest.mark.parametrize("hold", ["hold", "HOLD"])
def test_the_base_of_a_decided_r_may_be_held(workspace, hold):
    done("policy", "set", "above_100_km", "D1", workspace=workspace)
    found = simulate(workspace, "--policy", f"above_100_km={hold}")
    assert found["scenario"]["policy"]["above_100_km"] == "hold"


# -- sums


def test_operators_zones_and_months_add_up_to_the_total(workspace):
    changed = ("--policy", "on_overlap=higher", "--figure", "price_per_m3=99")
    found = simulate(workspace, "--until", "2026-12", *changed, month="2026-10")
    assert [m["month"] for m in found["months"]] == ["2026-10", "2026-11", "2026-12"]
    for name in ("base", "scenario", "difference"):
        for parts in ("operators", "zones", "months"):
            assert sum(D(p[name]) for p in found[parts]) == D(found["total"][name])
    assert [m["base"] for m in found["months"]] == [
        str(sum(map(D, priced(workspace, m["month"]).values()))) for m in found["months"]
    ]
    held = [
        h for month in found["months"] for h in done("price", "--month", month["month"], workspace=workspace)["held"]
    ]
    assert sum(D(h["base_length_m"]) for h in found["held"]) == sum(D(h["length_m"]) for h in held) > 0


ZERO = D("0.00")
EMPTY = Books(ZERO, ZERO, ZERO, ZERO, ZERO, ZERO)
amounts = st.integers(0, 10**6).map(lambda cents: D(cents) / 100)
lines = st.lists(st.tuples(st.sampled_from(["network", "equipment"]), st.sampled_from([None, "A", "B"]), amounts))
months_of_lines = st.lists(st.dictionaries(st.sampled_from("xyz"), lines), min_size=1, max_size=3)


def bill_of(month, by_operator):
    """Bill of a month whose lines have only what a comparison adds up."""
    basis = Basis("law", "Law", "2026", date(2026, 1, 1), (), ())
    operators = []
    for id_, mine in by_operator.items():
        made = tuple(
            Line(
                kind, None, None, None if kind == "equipment" else zone, D(1), D("1.00") if kind == "network" else None,
                None, None, None, None, None, D("0.90"), D(1), 30, 30, amount, (), (),
            )
            for kind, zone, amount in mine
        )  # fmt: skip
        held = (Held(id_, "S", "no_zone", "", "7", D("2.00")),)
        whole = WholeMonth(month.last_day, ZERO, None, (), ZERO, ZERO)
        total = sum((line.amount for line in made), ZERO)
        operators.append(OperatorBill(Operator(id_, id_), made, total, D("0.90"), D("5.00"), held, EMPTY, EMPTY, whole))
    held = tuple(h for o in operators for h in o.held)
    return Bill(month, basis, tuple(operators), held, (), EMPTY, EMPTY)


@settings(max_examples=60)
@given(months_of_lines, st.data())
def test_any_two_sides_add_up_however_they_differ(base, data):
    other = data.draw(st.lists(st.dictionaries(st.sampled_from("xyz"), lines), min_size=len(base), max_size=len(base)))
    months = [BillingMonth(2026, 1 + n) for n in range(len(base))]
    sides = [[bill_of(m, lines) for m, lines in zip(months, given, strict=True)] for given in (base, other)]
    found = compare_bills(*sides)
    for name in ("base", "scenario"):
        for parts in (found.operators, found.zones, found.months):
            assert sum((getattr(p.amount, name) for p in parts), ZERO) == getattr(found.amount, name)
        assert sum((getattr(h.length_m, name) for h in found.held), ZERO) == getattr(found.held_m, name)
    assert found.amount.difference == sum((o.amount.difference for o in found.operators), ZERO)


def test_what_a_court_suspends_stands_apart_and_in_no_total():
    bill = bill_of(BillingMonth(2026, 11), {"x": [("network", "A", D("10.00"))]})
    (line,) = bill.operators[0].lines
    order = Suspended("x", "S1", "1000", "TJSP", "accrues", (line,), D("10.00"), D("1.00"))
    mine = replace(bill.operators[0], lines=(), total=ZERO, reducer=None, suspended=(order,))
    found = compare_bills([bill], [replace(bill, operators=(mine,), suspended=(order,))])
    assert (found.suspended.base, found.suspended.scenario) == (ZERO, D("10.00"))
    assert (found.amount.scenario, found.operators[0].suspended.scenario) == (ZERO, D("10.00"))
    assert found.operators[0].reducers == (("0.90",), ("0.90",))


def test_a_bill_whose_lines_are_not_its_total_is_found():
    bill = bill_of(BillingMonth(2026, 11), {"x": [("network", "A", D("10.00"))]})
    wrong = replace(bill, operators=(replace(bill.operators[0], total=D("10.01")),))
    with pytest.raises(BooksDontCloseError, match="zones"):
        compare_bills([bill], [wrong])


# -- refusals


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ((), "nothing to compare"),
        (("--policy", "on_border=lower", "--base-policy", "on_border=lower"), "nothing to compare"),
        (("--policy", "on_border"), "NAME=VALUE"),
        (("--policy", "on_border=lower", "--policy", "on_border=higher"), "twice"),
        (("--policy", "on_boarder=lower"), "on_border"),
        (("--policy", "on_border=middle"), "mean"),
        (("--policy", "above_100_km=D9"), "D9"),
        (("--policy", "above_100_km=1.5"), "above 0"),
        (("--edition", "1999"), "1999"),
        (("--figure", "due_day=3"), "location_index"),
        (("--figure", "price_per_m3=dez"), "decimal point"),
        (("--figure", "reducer=0.9"), "--brackets"),
        (("--brackets", "nada.toml"), "nada.toml"),
        (("--layer", "zonas"), "--land-values"),
        (("--base-map", "zone=a"), "--base-land-values"),
        (("--at", "1999-01"), "2001"),
        (("--until", "2026-10", "--figure", "price_per_m3=1"), "later month"),
        (("--until", "2099-10", "--figure", "price_per_m3=1"), "120"),
        (("--csv", "nowhere/x.csv", "--figure", "price_per_m3=1"), "folder that exists"),
        (("--chart", "x.jpg", "--figure", "price_per_m3=1"), ".png"),
    ],
)
def test_what_cannot_be_simulated_is_refused_with_what_to_do(town, options, said):
    assert said in refused(town, "simulate", "--month", MONTH, *options)


def test_results_never_go_over_the_workspace_s_own_files_or_each_other(town, tmp_path):
    changed = ("simulate", "--month", MONTH, "--figure", "price_per_m3=1")
    for name in ("cadastre.gpkg", "geobill.toml", "documents/2026-11/index.html"):
        assert "own file" in refused(town, *changed, "--csv", town / name)
    assert "two results" in refused(town, *changed, "--csv", tmp_path / "x", "--html", tmp_path / "x")
    assert not (tmp_path / "x").exists()


def test_a_map_of_no_zone_and_a_side_with_two_maps(town, tmp_path):
    file = proposed_map(tmp_path)
    both = ("--land-values", file, *COLUMNS, "--edition", "dezembro")
    assert "not both" in refused(town, "simulate", "--month", MONTH, *both)
    wrong = ("--land-values", file, "--map", "zone=valor", "--map", "land_value=zona")
    assert "--map" in refused(town, "simulate", "--month", MONTH, *wrong)


def test_a_simulation_is_told_in_lines(town):
    answer = geobill("simulate", "--month", MONTH, "--policy", "reducer_method=graduated", workspace=town)
    assert "nothing was issued or stored" in answer.out
    assert "reducer_method: whole -> graduated" in answer.out
    assert "alfa: R$ 140.40 -> R$ 155.40, difference +15.00 (R 0.90 -> 5180.00/5200.00)" in answer.out


# -- notches


def notches(root, *options):
    return done("report", "notches", "--month", MONTH, *options, workspace=root)


def network(found, operator, permit=None):
    return next(n for n in found["networks"] if (n["operator"], n["permit"]) == (operator, permit))


def test_the_notches_of_a_month_with_every_figure_worked_out_by_hand(town):
    found = notches(town)
    assert [(r["edge_m"], r["since_m"], r["until_m"]) for r in found["ranges"]] == [
        ("5000.00", "4500.00", "5555.56"),
        ("15000.00", "13333.33", "16875.00"),
        ("30000.00", "26250.00", "34285.72"),
        ("50000.00", "42857.14", "58333.34"),
    ]
    assert found["ranges"][0]["until_exact"] == "50000/9"
    alfa = network(found, "alfa")
    assert (alfa["position"], alfa["amount"], alfa["price_per_metre"]) == ("in_notch", "140.40", "0.0300")
    assert alfa["notch"]["metres_down_to_edge"] == "200.00"
    assert alfa["notch"]["metres_up_to_until"] == "355.56"
    assert alfa["graduated"] == "155.40"
    assert (alfa["metres_to_lower_edge"], alfa["metres_to_upper_edge"]) == ("200.00", "9800.00")
    assert {s["what"]: (s["extension_m"], s["reducer"], s["amount"], s["difference"]) for s in alfa["would_pay"]} == {
        "one_metre_less": ("5199.00", "0.90", "140.37", "-0.03"),
        "one_metre_more": ("5201.00", "0.90", "140.43", "0.03"),
        "lower_edge": ("5000.00", "1.00", "150.00", "9.60"),
        "upper_edge": ("15000.00", "0.90", "405.00", "264.60"),
        "past_upper_edge": ("15000.01", "0.80", "360.00", "219.60"),
    }
    beta = network(found, "beta")
    assert (beta["position"], beta["amount"], beta["notch"]) == ("before_edge", "147.00", None)  # without its cabinet
    assert beta["approach"]["metres_up_past_edge"] == "100.01"
    assert {s["what"]: s["amount"] for s in beta["would_pay"]}["past_upper_edge"] == "135.00"
    longa = network(found, "longa")
    assert (longa["position"], longa["amount"], longa["would_pay"]) == ("above_scale", None, [])
    assert longa["graduated"] is None
    assert longa["lower_edge_m"] == "100000.00"


def test_a_supposed_metre_is_what_a_real_one_costs(town, tmp_path):
    root = shutil.copytree(town, tmp_path / "ws")
    import_line(root, "A2", 356, 150)  # 5,556 m: the first whole metre out of the notch
    found = network(notches(root), "alfa")
    assert (found["position"], found["amount"]) == ("outside", "150.01")
    assert D(found["amount"]) > D("150.00")  # what 5,000 m would pay


def test_by_permit_each_permit_stands_for_itself(tmp_path):
    root = make_town(tmp_path)
    for number, metres, y in (("P1", 5100, 100), ("P2", 5600, 200)):
        add_permit(root, number)
        import_line(root, number, metres, y, "--permit", number, "--status", "permitted")
    import_line(root, "sem", 4600, 300)
    assert network(notches(root), "alfa")["network_length_m"] == "15300.00"
    assert network(notches(root), "alfa")["position"] == "in_notch"
    done("policy", "set", "reducer_scope", "permit", workspace=root)
    found = notches(root)
    positions = {n["permit"]: (n["network_length_m"], n["position"], n["amount"]) for n in found["networks"]}
    assert positions == {
        None: ("4600.00", "before_edge", "138.00"),
        "P1": ("5100.00", "in_notch", "137.70"),
        "P2": ("5600.00", "outside", "151.20"),
    }


def test_bracket_by_bracket_there_are_none_and_the_report_says_so(town, tmp_path):
    root = shutil.copytree(town, tmp_path / "ws")
    done("policy", "set", "reducer_method", "graduated", workspace=root)
    found = notches(root)
    assert (found["ranges"], found["networks"]) == ([], [])
    assert "no notches" in geobill("report", "notches", "--month", MONTH, workspace=root).out


def test_doubled_metres_pay_r_and_are_no_measure_of_a_declared_one(tmp_path):
    root = make_town(tmp_path)
    import_line(root, "A1", 5200, 100)
    import_line(root, "A2", 1000, 200, "--status", "clandestine", width=0.8)
    alfa = network(notches(root), "alfa")
    assert (alfa["network_length_m"], alfa["price_per_metre"]) == ("5200.00", "0.0300")
    # (5,200 × 0.03 + 1,000 × 0.048 × 2) × 0.90; at the edge the doubled line takes R = 1.00 as well
    assert alfa["amount"] == "226.80"
    assert {s["what"]: s["amount"] for s in alfa["would_pay"]}["lower_edge"] == "246.00"


def test_without_a_month_the_report_looks_at_this_one(town):
    found = done("report", "notches", workspace=town)
    assert found["month"] == date.today().isoformat()[:7]
