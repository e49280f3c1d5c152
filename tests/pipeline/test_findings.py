"""What a person is told of an import or a bill that went through, but may not be what was meant."""

import pytest
from workspaces import add_operator, bill, done, geobill, import_network, import_zones, maps, write_network, write_zones

GOOD = ("X1", 0.5, [(10, 50), (90, 50)])


def codes(answer):
    return [f["code"] for f in answer["findings"]]


@pytest.fixture
def ws(tmp_path):
    done("init", tmp_path / "ws")
    add_operator(tmp_path / "ws", "alfa", "Alfa")
    import_zones(tmp_path / "ws", write_zones(tmp_path / "z.geojson", ("Z1", 100, 0, 0, 200, 200)))
    return tmp_path / "ws"


def test_stretches_of_another_import_are_told(ws, tmp_path):
    assert "already_stored" not in codes(import_network(ws, write_network(tmp_path / "a.geojson", GOOD), "alfa"))
    backwards, other = ("Y9", 0.5, [(90, 50), (40, 50), (10, 50)]), ("Y8", 0.5, [(10, 60), (90, 60)])
    again = import_network(ws, write_network(tmp_path / "b.geojson", backwards, other), "alfa")
    (told,) = [f for f in again["findings"] if f["code"] == "already_stored"]
    assert told["rows"] == [1]


def test_an_import_of_nothing_is_told_and_an_edition_of_nothing_refused(ws, tmp_path):
    network = write_network(tmp_path / "a.geojson", ("X1", -1, [(10, 50), (90, 50)]))
    assert "nothing_accepted" in codes(import_network(ws, network, "alfa"))
    edition = ("--edition", "2027", "--in-force-from", "2027-01-01")
    mapping = maps("zone=id", "land_value=largura")
    refused = geobill("import", "land-values", network, *edition, *mapping, workspace=ws)
    assert (refused.code, refused.out) == (1, "")
    assert "None of the 1 row(s)" in refused.err


def test_a_bill_before_the_month_is_over_without_issuer_and_a_due_date_too_late(ws, tmp_path):
    import_network(ws, write_network(tmp_path / "a.geojson", GOOD), "alfa")
    first = bill(ws, issued_on="2026-11-10")
    assert codes(first) == ["month_not_over", "issuer_incomplete"]
    second = bill(ws, "--due", "2027-01-10", issued_on="2026-11-10")
    assert codes(second) == ["due_ignored"]
    assert first["invoices"][0]["due_on"] == second["invoices"][0]["due_on"]
