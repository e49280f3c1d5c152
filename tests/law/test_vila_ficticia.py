"""A month of a town whose law differs in figures alone, from its file to its invoice, by the command line; worked by hand."""

import shutil
from pathlib import Path

import pytest
from workspaces import (
    add_operator,
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

VILA = Path(__file__).with_name("vila_ficticia.toml")
NEW = ("statute", "new", "--like", "caieiras-lei-3057-2001")
ID = "vila-ficticia-lei-12-2010"


@pytest.fixture(scope="module")
def town(tmp_path_factory):
    """Ten lines of 1,000 m over two zones, one clandestine line, three cabinets, an entity of the town's own."""
    folder = tmp_path_factory.mktemp("vila")
    root = folder / "ws"
    done("init", root)
    done(*NEW, VILA, workspace=root)
    add_operator(root, "alfa", "Alfa Telecomunicações S.A.")
    add_operator(root, "agua", "Departamento de Águas", "municipal")
    zones = write_zones(folder / "mapa.geojson", ("Centro", "100", 0, 0, 600, 200), ("Serra", "40", 600, 0, 1100, 200))
    import_zones(root, zones)
    rows = [(f"A{n}", 0.2, [(0, 5 + 10 * n), (1000, 5 + 10 * n)]) for n in range(10)]
    rows.append(("A10", 0.5, [(0, 150), (100, 150)], {"situacao": "clandestine"}))
    import_network(root, write_network(folder / "alfa.geojson", *rows), "alfa")
    import_network(root, write_network(folder / "agua.geojson", ("G1", 0.5, [(0, 160), (50, 160)])), "agua")
    boxes = [(f"E{n}", 1.5 + n, (5 + n, 5)) for n in range(3)]
    import_cabinets(root, write_cabinets(folder / "armarios.geojson", *boxes), "alfa")
    return root


def test_a_month_by_another_town_s_figures(town):
    month = done("price", "--month", "2026-11", workspace=town)
    (alfa,) = month["operators"]
    assert month["statute"] == ID
    assert alfa["reducer"] == "9700.00/10000.00"  # 8,000 m at 1.00 and 2,000 m at 0.85, by the law itself
    lines = {(line["kind"], line["zone"], line["multiplier"]): line for line in alfa["lines"]}
    amounts = {key: line["amount"] for key, line in lines.items()}
    assert amounts == {
        ("network", "Centro", "1"): "1746.00",  # 6,000 m × 0.30 m × 100 × 0.025 × 0.40 × 0.97
        ("network", "Serra", "1"): "465.60",  # 4,000 m × 0.30 m × 40 × 0.025 × 0.40 × 0.97
        ("network", "Centro", "3"): "145.50",  # 100 m × 0.50 m × 100 × 0.025 × 0.40 × 0.97 × 3
        ("equipment", None, "1"): "141.90",  # 3 pieces × 47.30, that is 42.50 × 133.56 / 120.00
    }
    assert alfa["total"] == "2499.00"
    boxes = lines["equipment", None, "1"]
    assert (boxes["pieces"], boxes["price_per_piece"], boxes["volume_m3"], boxes["price_per_m3"]) == (
        3,
        "47.30",
        None,
        None,
    )
    assert boxes["articles"] == ["8", "10", "15", "19"]
    assert lines["network", "Centro", "3"]["articles"] == ["5", "5 § 1", "5 § 2", "14", "19"]
    assert [(e["operator"], e["article"]) for e in month["exempt"]] == [("agua", "18")]


def test_its_invoice_is_due_on_its_own_day_and_archives_its_own_figures(town, tmp_path):
    issued = shutil.copytree(town, tmp_path / "ws")
    billed = bill(issued, "--out", tmp_path / "out")
    (invoice,) = billed["invoices"]
    assert (invoice["total"], invoice["due_on"]) == ("2499.00", "2026-12-21")  # the 20th is a Sunday
    again = geobill(*NEW, VILA, workspace=issued)
    assert again.code == 1
    assert "its figures don't change under what is issued" in again.err
    other = tmp_path / "outra.toml"
    other.write_text(VILA.read_text(encoding="utf-8").replace(ID, "outra-lei-1-2011"), encoding="utf-8")
    refused = geobill(*NEW, other, workspace=issued)
    assert refused.code == 1
    assert f"was issued under {ID}" in refused.err
    assert not (issued / "statutes" / "outra-lei-1-2011.toml").exists()
    kept = issued / "statutes" / f"{ID}.toml"
    kept.write_text(kept.read_text(encoding="utf-8").replace('"42.50"', '"52.50"'), encoding="utf-8")
    edited = geobill("price", "--month", "2026-12", workspace=issued)
    assert edited.code == 1
    assert "isn't the text under which invoices were issued" in edited.err


def test_deposit_and_yearly_payment_take_its_own_months(town, tmp_path):
    file = tmp_path / "alfa.json"
    file.write_text(
        '{"date": "2026-11-30", "segments": [{"length_m": "6000.00", "width_m": "0.20", "land_value": "100"},'
        '{"length_m": "4000.00", "width_m": "0.20", "land_value": "40"},'
        '{"length_m": "100", "width_m": "0.50", "land_value": "100", "status": "clandestine"}], "equipment": [{"pieces": 3}]}'
    )
    made = done("assess", "--statute", ID, file, workspace=town)
    assert (made["total"], made["deposit"], made["yearly"]) == (
        "2499.00",
        "14121.00",
        "25888.50",
    )  # 2353.50 × 6 and × 11
    assert made["deadlines"] == [{"name": "payment", "date": "2026-12-21", "article": "9"}]
    assert "no statute" in geobill("assess", "--statute", ID, file).err


def test_the_settings_name_the_statute_and_what_it_decides_itself(town):
    text = (town / "geobill.toml").read_text(encoding="utf-8")
    assert f'[statute]\nname = "{ID}"\n' in text
    assert "# política: o que a lei deixa em aberto" in text
    assert 'reducer_method = "graduated"' in text
    listed = done("statute", "list", workspace=town)["statutes"]
    assert [(s["id"], s["shipped"], s["in_use"]) for s in listed] == [
        ("caieiras-lei-3057-2001", True, False),
        (ID, False, True),
    ]


def test_a_policy_against_the_law_s_own_word_is_refused(town, tmp_path):
    other = shutil.copytree(town, tmp_path / "ws")
    done("policy", "set", "reducer_method", "whole", workspace=other)
    refused = geobill("price", "--month", "2026-11", workspace=other)
    assert refused.code == 1
    assert "Art. 6 of Lei nº 12, de 3 de março de 2010 itself says how R is applied (graduated)" in refused.err


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda t: t.replace('value = "0.025"', 'value = "0.025"\nformula = "a × b"'), "never approximated"),
        (lambda t: t.replace("id =", "id ", 1), "isn't TOML"),
        (lambda t: t.replace('value = "20"', 'value = "31"'), "due_day"),
    ],
)
def test_a_file_that_is_refused_changes_nothing(tmp_path, make, says):
    root, file = tmp_path / "ws", tmp_path / "lei.toml"
    done("init", root)
    before = (root / "geobill.toml").read_bytes()
    file.write_text(make(VILA.read_text(encoding="utf-8")), encoding="utf-8")
    refused = geobill(*NEW, file, workspace=root)
    assert refused.code == 1
    assert says in refused.err
    assert (root / "geobill.toml").read_bytes() == before
    assert not (root / "statutes").exists()
    for wrong in ((*NEW, tmp_path / "none.toml"), ("statute", "new", "--like", "outra", file)):
        assert geobill(*wrong, workspace=root).code == 1
