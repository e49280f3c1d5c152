"""`geobill detect` from end to end: a file against what is on record, kept for the review or refused."""

import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from decimal import Decimal

import numpy as np
import pyogrio
import pytest
import shapely
from field_town import ALFA, town
from workspaces import done, geobill, import_network, maps, place, write_cabinets, write_geojson, write_network

ROUND = ("--tolerance", "3")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return town(tmp_path_factory.mktemp("detect"))


@pytest.fixture
def workspace(made, tmp_path):
    return shutil.copytree(made, tmp_path / "ws")


def survey(path, *rows):
    """Write lines of (id, points, other columns …) as a crew would bring them."""
    return write_geojson(path, [({"id": i, **(m[0] if m else {})}, "LineString", place(*xy)) for i, xy, *m in rows])


@pytest.fixture
def field(tmp_path):
    """The permitted line from its other end, shaken, and on past where it ends; another across the street; a crossing."""
    return survey(
        tmp_path / "campo.geojson",
        ("A", ((1300, 5.3), (1000, 5.2), (500, 4.4), (0, 5.5))),
        ("B", ((100, 25), (300, 25))),
        ("C", ((500, -40), (500, 60))),
    )


def detect(workspace, file, *more):
    return done("detect", "--survey", file, *ROUND, "--operator", "alfa", *more, workspace=workspace)


def kinds(answer):
    return sorted((f["kind"], f["segment"], f["length_m"]) for f in answer["findings"])


def test_what_no_permit_allows_is_found_by_the_metre(workspace, field):
    found = detect(workspace, field, *maps("segment=id"), "--default-width", "0.5", "--by", "Caio Prado")
    assert [(k, s) for k, s, _ in kinds(found)] == [("undeclared_segment", i) for i in "ABC"]
    metres = {s: Decimal(m) for _, s, m in kinds(found)}
    assert metres["B"] == 200
    assert metres["C"] == 100, "what crosses a permitted line is undeclared over its whole length"
    assert abs(metres["A"] - 300) < Decimal("0.05"), "what carries on is undeclared from the permitted end on"
    told = [Decimal(found[n]) for n in ("matched_m", "undeclared_m", "survey_length_m")]
    assert told[0] + told[1] == told[2]
    assert told[1] == sum(metres.values())
    assert found["survey"] == "V00001"
    for f in found["findings"]:
        drawn = shapely.from_wkt(f["geometry_wkt"])
        assert abs(Decimal(str(drawn.length)) - Decimal(f["length_m"])) < Decimal("0.01")
    # 200 m × 0.50 m × R$ 200 × 3 % × 50 % × R; alfa's 1,000 m of network set R = 1
    assert {f["segment"]: f["month_amount"] for f in found["findings"]}["B"] == "300.00"
    listed = done("finding", "list", workspace=workspace)
    assert listed["count"] == 3
    assert [f["state"] for f in listed["findings"]] == ["suspected"] * 3


def test_the_terms_are_printed_and_accuracies_widen_them(workspace, field):
    found = detect(workspace, field, "--survey-accuracy", "3", "--permitted-accuracy", "4", "--dry-run")
    assert found["reach_m"] == "8.000"
    assert found["moved_within_m"] == "16"
    assert found["survey"] is None
    assert done("finding", "list", workspace=workspace)["count"] == 0


def test_the_same_file_is_compared_once_unless_again(workspace, field):
    detect(workspace, field, *maps("segment=id"))
    refused = geobill("detect", "--survey", field, *ROUND, "--operator", "alfa", workspace=workspace)
    assert refused.code == 1
    assert "compared already as V00001" in refused.err
    assert "--again" in refused.err
    first = done("finding", "list", "--order", "id", workspace=workspace)["findings"]
    done(
        "finding",
        "dismiss",
        first[0]["id"],
        "--by",
        "Bia Reis",
        "--note",
        "é a rede da iluminação",
        workspace=workspace,
    )
    anew = detect(workspace, field, *maps("segment=id"), "--again")
    assert anew["replaces"] == ["V00001"]
    assert anew["decided"] == [first[0]["id"]]
    listed = done("finding", "list", "--order", "id", workspace=workspace)["findings"]
    assert [(f["survey"], f["state"]) for f in listed] == [("V00001", "dismissed"), *[("V00002", "suspected")] * 2]
    assert sorted(f["segment"] for f in listed) == ["A", "B", "C"], "what was decided isn't asked a second time"
    metres = sum(Decimal(f["length_m"]) for f in listed)
    assert metres == Decimal(anew["undeclared_m"])
    third = detect(workspace, field, *maps("segment=id"), "--again", "--tolerance", "3.1")
    assert (third["decided"], len(third["findings"])) == ([first[0]["id"]], 2)


def test_the_same_file_for_somebody_else_is_compared_and_said(workspace, field, tmp_path):
    def said(found):
        return [w for w in found["warnings"] if w["code"] == "compared_before"]

    import_network(workspace, write_network(tmp_path / "b.geojson", ("Z", 0.5, ((0, 300), (50, 300)))), "beta")
    compare = ("detect", "--survey", field, *ROUND)
    assert not said(done(*compare, workspace=workspace))
    (twice,) = said(detect(workspace, field))
    assert "V00001 (for nobody)" in twice["message"]
    assert "--again" in twice["fix"]
    (other,) = said(done(*compare, "--operator", "beta", workspace=workspace))
    assert "V00001 (for nobody), V00002 (for alfa)" in other["message"]
    anew = detect(workspace, field, "--again")
    assert anew["replaces"] == ["V00001", "V00002"], "what was found for nobody is found for an operator"
    assert "V00003 (for beta)" in said(anew)[0]["message"]
    assert {f["survey"] for f in done("finding", "list", workspace=workspace)["findings"]} == {"V00003", "V00004"}
    all_of_them = done(*compare, "--again", workspace=workspace)
    assert all_of_them["replaces"] == ["V00003", "V00004"], "for nobody every permit counts"
    assert not said(all_of_them)


def test_a_comparison_with_nothing_is_refused(workspace, field):
    refused = geobill("detect", "--survey", field, *ROUND, "--operator", "beta", workspace=workspace)
    assert refused.code == 1
    assert "No stretch of network of beta is on record" in refused.err
    assert geobill("detect", "--survey", field, *ROUND, "--operator", "gama", workspace=workspace).code == 1


@pytest.mark.parametrize("tolerance", ["0", "-1", "x", "nan", "1e9", ""])
def test_a_tolerance_that_is_none_is_refused(workspace, field, tolerance):
    refused = geobill("detect", "--survey", field, "--tolerance", tolerance, "--operator", "alfa", workspace=workspace)
    assert refused.code == 1
    assert "--tolerance" in refused.err


def test_a_survey_whose_owner_nobody_knows_counts_all_permits(workspace, field):
    found = done(
        "detect", "--survey", field, *ROUND, "--default-width", "0.5", *maps("segment=id"), workspace=workspace
    )
    assert {f["operator"] for f in found["findings"]} == {None}
    assert {f["month_amount"] for f in found["findings"]} == {None}
    first = found["findings"][0]["id"]
    told = done("finding", "attribute", first, "--operator", "beta", "--by", "Bia Reis", workspace=workspace)
    assert told["findings"][0]["operator"] == "beta"
    assert told["findings"][0]["month_amount"] is not None
    unknown = done("finding", "list", "--operator", "", workspace=workspace)
    assert (unknown["count"], unknown["without_amount"], unknown["month_amount"]) == (2, 2, "0.00")
    across = next(f["id"] for f in found["findings"] if f["segment"] == "B")
    done("finding", "attribute", across, "--operator", "alfa", "--by", "Bia Reis", workspace=workspace)
    # 200 m × 0.50 m × R$ 200 × 3 % × 50 %, R = 1: as it had been found for alfa
    alfas = done("finding", "list", "--operator", "alfa", workspace=workspace)
    assert (alfas["month_amount"], alfas["findings"][0]["month_amount"]) == ("300.00", "300.00")
    shown = done("finding", "show", across, workspace=workspace)
    assert shown["month_amount"] == "300.00"


def test_only_the_services_that_are_wanted_are_compared(workspace, tmp_path):
    water = write_network(tmp_path / "agua.geojson", ("W1", 0.3, ((0, 60), (400, 60)), {"servico": "água"}))
    import_network(workspace, water, "alfa", *maps("service=servico"))
    field = survey(
        tmp_path / "campo.geojson",
        ("A", ((0, 60), (400, 60)), {"tipo": "dados"}),
        ("B", ((0, 61), (400, 61)), {"tipo": "água"}),
        ("C", ((0, 80), (100, 80)), {"tipo": "água"}),
    )
    found = detect(workspace, field, *maps("segment=id", "service=tipo"), "--service", "água")
    assert [k for k in kinds(found) if k[0] == "undeclared_segment"] == [("undeclared_segment", "C", "100.00")]
    assert found["survey_length_m"] == "500.00"


def test_cabinets_are_compared_one_to_one(workspace, tmp_path):
    done(
        "import", "cabinets", write_cabinets(tmp_path / "k.geojson", ("K1", 2, (50, 8)), ("K2", 1, (400, 8))),
        "--operator", "alfa", *maps("equipment=id", "volume=volume"), workspace=workspace,
    )  # fmt: skip
    seen = write_cabinets(tmp_path / "campo.geojson", ("P1", 3, (50.5, 8)), ("P2", 1, (51, 8.4)))
    found = detect(workspace, seen, *maps("equipment=id", "volume=volume"))
    assert kinds(found) == [
        ("larger_than_permitted", "P1", "0.00"),
        ("missing_in_survey", "K2", "0.00"),
        ("undeclared_equipment", "P2", "0.00"),
    ]
    assert (found["equipment_surveyed"], found["equipment_matched"], found["equipment_undeclared"]) == ("2", "1", "1")


def test_a_file_can_stand_for_what_is_on_record(workspace, field, tmp_path):
    other = survey(tmp_path / "outro.geojson", ("X", ((100, 25), (300, 25))))
    out = tmp_path / "achados.gpkg"
    found = detect(workspace, field, *maps("segment=id"), "--against", other, "--out", out)
    assert [(k, s) for k, s, _ in kinds(found)] == [("undeclared_segment", "A"), ("undeclared_segment", "C")]
    (shown,) = pyogrio.read_dataframe(out, layer="permitido").geometry
    assert shown.length == pytest.approx(200, abs=0.01), "what it was compared with"


def test_what_is_in_a_case_already_isnt_found_again(workspace, field, tmp_path):
    known = write_network(tmp_path / "achado.geojson", ("N1", 0.5, ((100, 25), (300, 25)), {"situacao": "suspected"}))
    import_network(workspace, known, "alfa")
    found = detect(workspace, field, *maps("segment=id"))
    assert [s for _, s, _ in kinds(found)] == ["A", "C"]
    assert found["in_case_m"] == "200.00"
    # C crosses both: its distances are to the permitted line at y = 5 alone, and not to the suspected one at y = 25
    (crossing,) = [f for f in found["findings"] if f["segment"] == "C"]
    assert abs(Decimal(crossing["offset_mean_m"]) - Decimal("25.25")) <= Decimal("0.01")  # (45² + 55²) ÷ 2 ÷ 100


def test_a_survey_that_misses_as_a_whole_is_a_fault_of_coordinates(tmp_path):
    workspace = tmp_path / "ws"
    done("init", workspace)
    done("operator", "add", "--id", "alfa", "--name", ALFA, workspace=workspace)
    chance = np.random.default_rng(3057)  # streets as they grew: a regular grid lies on itself moved by any block
    begins, ways = chance.uniform(0, 1500, (60, 2)), chance.normal(0, 150, (60, 2))
    streets = [(tuple(map(float, a)), tuple(map(float, a + b))) for a, b in zip(begins, ways, strict=True)]
    permitted = write_network(tmp_path / "rede.geojson", *((f"S{n}", 0.5, xy) for n, xy in enumerate(streets)))
    import_network(workspace, permitted, "alfa")
    moved = [(f"A{n}", [(x - 45.09, y - 45.70) for x, y in xy]) for n, xy in enumerate(streets)]
    found = detect(workspace, survey(tmp_path / "campo.geojson", *moved))
    assert found["findings"] == []
    assert found["survey"] is None
    (suspect,) = [w for w in found["warnings"] if w["code"] == "crs_suspect"]
    assert "m east and 45.7" in suspect["message"]
    assert "SAD69" in suspect["message"]
    assert done("finding", "list", workspace=workspace)["count"] == 0
    with closing(sqlite3.connect(workspace / "cadastre.gpkg")) as store:
        assert store.execute("SELECT count(*) FROM surveys").fetchone() == (0,)


def test_a_decision_names_who_and_why_and_can_be_taken_back(workspace, field):
    detect(workspace, field, *maps("segment=id"))
    ids = [f["id"] for f in done("finding", "list", workspace=workspace)["findings"]]
    upheld = done("finding", "uphold", *ids[:2], "--by", "Bia Reis", workspace=workspace)
    assert [f["state"] for f in upheld["findings"]] == ["upheld", "upheld"]
    refused = geobill("finding", "dismiss", ids[2], "--by", "Bia Reis", workspace=workspace)
    assert refused.code == 1
    assert "says why" in refused.err
    back = done("finding", "undo", ids[0], "--by", "Bia Reis", workspace=workspace)
    assert [a["kind"] for a in back["findings"][0]["acts"]] == ["upheld", "undone"]
    assert back["findings"][0]["state"] == "suspected"
    assert geobill("finding", "undo", ids[2], "--by", "Bia Reis", workspace=workspace).code == 1
    assert geobill("finding", "show", "V00009-00001", workspace=workspace).code == 1
    with closing(sqlite3.connect(workspace / "cadastre.gpkg")) as store, pytest.raises(sqlite3.IntegrityError):
        store.execute("DELETE FROM finding_acts")


def test_the_acceptance_runner_is_satisfied(shared):
    command = f"{sys.executable} -m geobill.cli.main"
    runner = [sys.executable, shared / "cases" / "run_detection.py", "--geobill", command, "--seed", "41", "--json"]
    told = subprocess.run([*map(str, runner)], capture_output=True, text=True, check=False)
    assert told.returncode == 0, told.stdout + told.stderr


def test_a_kind_with_nothing_on_record_is_left_out_and_said(workspace, tmp_path):
    both = write_geojson(
        tmp_path / "campo.geojson",
        [
            ({"id": "A"}, "LineString", place((0, 5), (1000, 5))),
            ({"id": "P"}, "Point", place((50, 8))[0]),
        ],
    )
    found = detect(workspace, both)
    assert found["findings"] == []
    assert found["equipment_surveyed"] == "0"
    (said,) = [w for w in found["warnings"] if w["code"] == "not_compared"]
    assert "No cabinet of alfa is on record" in said["message"]


def test_what_two_comparisons_show_is_charged_by_one_case(workspace, field):
    detect(workspace, field, *maps("segment=id"))
    again = done("detect", "--survey", field, *ROUND, *maps("segment=id"), workspace=workspace)
    mine = next(f["id"] for f in again["findings"] if f["segment"] == "B")
    done("finding", "attribute", mine, "--operator", "alfa", "--by", "Bia", workspace=workspace)

    def opened(*findings):
        named = [x for f in findings for x in ("--finding", f)]
        more = ("--subject", "Cabo", "--by", "Bia", "--default-width", "0.5")
        return geobill("case", "open", *more, *named, workspace=workspace)

    first = next(f for f in done("finding", "list", workspace=workspace)["findings"] if f["id"] == mine)
    twin = first["id"].replace("V00002", "V00001")
    done("finding", "uphold", twin, mine, "--by", "Bia", workspace=workspace)
    for refused in (opened(twin, mine), opened(twin) and opened(mine)):
        assert refused.code == 1
        assert f"{mine} lies where {twin}" in refused.err
    assert "2026-001" in refused.err or "case" in refused.err


def test_no_case_rests_on_a_comparison_with_a_file(workspace, field, tmp_path):
    other = survey(tmp_path / "outro.geojson", ("Q", ((0, 5), (500, 5))))
    found = detect(workspace, field, "--against", other, "--default-width", "0.5", *maps("segment=id"))
    assert found["against"] == "outro.geojson"
    accused = next(f for f in found["findings"] if f["segment"] == "A")
    assert Decimal(accused["length_m"]) > 700, "500 m of it are permitted, on record"
    more = ("--subject", "Cabo", "--by", "Bia", "--default-width", "0.5", "--finding", accused["id"])
    refused = geobill("case", "open", *more, workspace=workspace)
    assert refused.code == 1
    assert "was compared with the file outro.geojson, and not with what is on record" in refused.err


def test_a_name_that_cant_be_seen_is_refused(workspace, field):
    refused = geobill("detect", "--survey", field, *ROUND, "--by", "a\nb", workspace=workspace)
    assert (refused.code, "is no name" in refused.err) == (1, True)
