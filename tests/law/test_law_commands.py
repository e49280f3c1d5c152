"""law show, confirm and amend: by the command line, on a town that bills under Caieiras's law."""

import shutil

import pytest
from workspaces import bill, done, geobill, make_workspace

AMEND = ("law", "amend", "--act", "Decreto 9/2026", "--article", "1", "--by", "Ana Lima")
PRICE = (*AMEND, "--figure", "price_per_m3", "--value", "162.45", "--date", "2026-11-01")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return make_workspace(tmp_path_factory.mktemp("law"))


@pytest.fixture
def root(made, tmp_path):
    return shutil.copytree(made, tmp_path / "ws")


@pytest.fixture
def act(tmp_path):
    path = tmp_path / "decreto.pdf"
    path.write_bytes(b"%PDF-1.4\n% an act\n")
    return path


def figure(root, name, on):
    found = done("law", "show", "--on", on, workspace=root)["figures"]
    return next(f for f in found if f["name"] == name)


def equipment(root, month):
    """Amount, price and articles of beta's cabinets, 3.845 m³, in a month."""
    operators = done("price", "--month", month, workspace=root)["operators"]
    beta = next(o for o in operators if o["operator"] == "beta")
    return next(
        (line["amount"], line["price_per_m3"], line["articles"])
        for line in beta["lines"]
        if line["kind"] == "equipment"
    )


@pytest.fixture
def unlooked(tmp_path):
    """A workspace in which nobody has looked since the program was written."""
    done("init", tmp_path / "new")
    return tmp_path / "new"


def test_show_lists_the_figures_in_force_and_up_to_when_they_were_checked(unlooked):
    root = unlooked
    shown = done("law", "show", "--on", "2026-11-30", workspace=root)
    assert (shown["checked_until"], shown["published_on"]) == ("2026-12-31", "2001-06-27")
    assert [f["name"] for f in shown["figures"]][:3] == ["location_index", "depreciation_index", "reducer"]
    assert shown["figures"][2]["brackets"][-1] == {"up_to_m": "100000", "value": "0.60"}
    assert shown["articles"]["exemption"] == "13"
    text = geobill("law", "show", "--on", "2026-11-30", workspace=root).out
    assert "price_per_m3 = 150.00  [BRL/m3/month]  art. 7 § 2, Lei 3.057/2001, from 2001-06-27" in text
    for day in ("2001-06-26", "2027-01-01"):
        assert geobill("law", "show", "--on", day, workspace=root).code == 1


def test_a_month_past_the_checked_day_waits_for_somebody_to_look(unlooked):
    root = unlooked
    refused = geobill("price", "--month", "2027-01", workspace=root)
    assert refused.code == 1
    assert "geobill law confirm --until DATE --by NAME" in refused.err
    confirmed = done(
        "law", "confirm", "--until", "2027-06-30", "--by", "Ana Lima", "--note", "DO 1.234", workspace=root
    )
    assert (confirmed["until"], confirmed["before"]) == ("2027-06-30", "2026-12-31")
    done("price", "--month", "2027-06", workspace=root)
    assert geobill("price", "--month", "2027-07", workspace=root).code == 1
    for until, says in (("2027-01-31", "--shorten"), ("2027-06-30", "already"), ("2001-06-01", "before")):
        again = geobill("law", "confirm", "--until", until, "--by", "Rui", workspace=root)
        assert again.code == 1
        assert says in again.err
    assert geobill("law", "confirm", "--until", "2028-01-31", "--by", " ", workspace=root).code == 1
    done("law", "confirm", "--until", "2027-01-31", "--by", "Rui", "--shorten", workspace=root)
    assert geobill("price", "--month", "2027-06", workspace=root).code == 1
    seen = done("law", "show", "--on", "2027-01-31", workspace=root)["confirmations"]
    assert [c["by"] for c in seen] == ["Ana Lima", "Rui"]


def test_an_act_changes_the_months_from_its_day_and_no_invoice(root, act):
    assert equipment(root, "2026-11") == ("576.75", "150.00", ["7 § 2", "12", "16"])  # 3.845 m³ × 150.00
    issued = bill(root)["invoices"]
    made = done(*PRICE, "--file", act, workspace=root)
    (late,) = made["findings"]
    assert late["code"] == "billed_before"
    assert all(f"2026-11 ({i['number']})" in late["message"] for i in issued)
    assert equipment(root, "2026-10")[0] == "576.75"
    assert equipment(root, "2026-11") == ("624.62", "162.45", ["7 § 2", "1 (Decreto 9/2026)", "12", "16"])  # 624.62025
    assert [i["digest"] for i in bill(root)["invoices"]] == [i["digest"] for i in issued]
    assert figure(root, "price_per_m3", "2026-10-31")["in_force_until"] == "2026-11-01"
    now = figure(root, "price_per_m3", "2026-11-01")
    assert (now["value"], now["act"], now["amendment"]) == ("162.45", "Decreto 9/2026", "A1")


def test_a_scale_and_an_index_value_and_a_correction(root, act, tmp_path):
    scale = tmp_path / "escala.toml"
    scale.write_text('brackets = [{ up_to_m = "100", value = "0.80" }, { value = "0.50" }]', encoding="utf-8")
    given = ("--figure", "reducer", "--brackets-file", scale, "--date", "2026-11-01", "--file", act)
    done(*AMEND, *given, "--method", "whole", workspace=root)
    operators = {o["operator"]: o for o in done("price", "--month", "2026-11", workspace=root)["operators"]}
    assert (operators["alfa"]["reducer"], operators["beta"]["reducer"]) == ("0.50", "0.80")  # 310 m and 80 m
    wrong = done(*AMEND, "--figure", "due_day", "--value", "5", "--date", "2026-12-01", "--file", act, workspace=root)
    right = ("--figure", "due_day", "--value", "25", "--date", "2026-12-01", "--file", act)
    done(*AMEND, *right, "--corrects", wrong["amendment"], workspace=root)
    assert figure(root, "due_day", "2026-12-01")["value"] == "25"
    entered = done("law", "show", "--on", "2026-12-01", workspace=root)["amendments"]
    assert [(a["id"], a["name"]) for a in entered] == [("A1", "reducer"), ("A2", "due_day"), ("A3", "due_day")]
    assert len({a["paper"] for a in entered}) == 1


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (("--figure", "price_per_m3", "--value", "162,45", "--date", "2026-11-01"), "decimal point"),
        (("--figure", "price_per_m3", "--value", "-1", "--date", "2026-11-01"), "plain number"),
        (("--figure", "price_per_m3", "--value", "0", "--date", "2026-11-01"), "above 0"),
        (("--figure", "price_per_m3", "--value", "1", "--date", "2001-06-01"), "the law is of 2001-06-27"),
        (("--figure", "price_per_km", "--value", "1", "--date", "2026-11-01"), "no figure 'price_per_km'"),
        (("--figure", "price_per_m3", "--value", "1"), "--date"),
        (("--figure", "price_per_m3", "--date", "2026-11-01"), "--brackets-file"),
        (("--value", "1", "--date", "2026-11-01"), "--figure NAME, or --index"),
        (("--index", "ufm", "--month", "2026-11", "--value", "1"), "no index 'ufm'"),
        (("--index", "ufm", "--value", "1"), "--month"),
        (("--figure", "price_per_m3", "--value", "1", "--date", "2026-11-01", "--corrects", "A9"), "no such entry"),
        (("--figure", "price_per_m3", "--value", "1", "--date", "2026-11-01", "--act", " "), "--act is blank"),
    ],
)
def test_an_act_that_is_refused_leaves_nothing(root, act, given, says):
    refused = geobill(*AMEND, *given, "--file", act, workspace=root)
    assert refused.code == 1
    assert says in refused.err
    assert done("law", "show", "--on", "2026-11-30", workspace=root)["amendments"] == []


def test_an_act_needs_its_paper(root, tmp_path):
    text = tmp_path / "decreto.txt"
    text.write_text("Decreto", encoding="utf-8")
    for file in (tmp_path / "none.pdf", text):
        assert geobill(*PRICE, "--file", file, workspace=root).code == 1
    assert geobill(*PRICE, workspace=root).code == 2


def test_the_law_as_it_was_known_before_an_act_was_entered(root, act):
    from geobill.pipeline.law import load_law
    from geobill.store.workspace import open_workspace

    done(*PRICE, "--file", act, workspace=root)
    opened = open_workspace(root)
    with opened.database.read() as connection:
        now, before = load_law(opened, connection), load_law(opened, connection, "2001-01-01T00:00:00Z")
    assert [f.amendment for f in now.figures.figures if f.amendment] == ["A1"]
    assert before.figures.source != now.figures.source
    assert not [f for f in before.figures.figures if f.amendment]
