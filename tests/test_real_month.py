"""The real month on the real network and both value maps: metres and sums against figures measured with an exact cut."""

from datetime import date
from decimal import Decimal

import pytest

from geobill.domain.dates import BillingMonth
from geobill.domain.invoice import Decision
from geobill.domain.network import Operator
from geobill.intake.reading import Options
from geobill.pipeline.billing import bill_month
from geobill.pipeline.imports import import_rows
from geobill.pipeline.month import price_month
from geobill.pipeline.registers import add_decision, add_operator
from geobill.pipeline.value_maps import import_land_values
from geobill.store.settings import FILE_NAME, set_policy
from geobill.store.workspace import init_workspace, open_workspace

D = Decimal
NOW = "2026-11-30T12:00:00Z"
NOV = BillingMonth(2026, 11)


def workspace(root, data, layer, owners, **policy):
    """A workspace with one map and the MT and BT networks, imported as an analyst would."""
    init_workspace(root, "caieiras-lei-3057-2001", NOW)
    for key, value in policy.items():
        set_policy(root / FILE_NAME, key, value)
    ws = open_workspace(root)
    for owner in dict.fromkeys(owners):
        add_operator(ws, Operator(owner, f"Energia {owner}"), NOW)
    column = {"zonas_bairro": "ZONA", "zonas_quadra": "QUADRA"}[layer]
    values = Options(mapping={"zone": column, "land_value": "VALOR_M2"})
    since = date(2026, 1, 1)
    report = import_land_values(
        ws, data / "mapa_de_valores.gpkg", layer, values, "2026", since, replace=False, dry_run=False, now=NOW
    )
    for owner, net in zip(owners, ("SSDMT", "SSDBT"), strict=True):
        asked = Options(
            operator=owner,
            mapping={"segment": "COD_ID"},
            default_width_m=D("0.50"),
            duplicate_stretch=ws.settings.policy.duplicate_stretch,
        )
        import_rows(
            ws, "network", data / "rede_levantada_2024.gpkg", [net], asked, replace=False, dry_run=False, now=NOW
        )
    return ws, report


def held(bill, operator, code):
    return sum((h.length_m for h in bill.held if h.operator == operator and h.code == code), D(0))


@pytest.fixture(scope="module")
def data(shared):
    return shared / "data/caieiras"


def test_districts_without_reach_and_the_duplicate_billed(tmp_path, data):
    ws, _ = workspace(tmp_path / "ws", data, "zonas_bairro", ("mt", "bt"), max_gap_m="0", duplicate_stretch="bill")
    bill = price_month(ws, NOV).bill
    mt = next(o for o in bill.operators if o.operator.id == "mt")
    assert mt.metres.priced == pytest.approx(D("56054.16"), abs=1)
    assert held(bill, "mt", "no_zone") == pytest.approx(D("4440.13"), abs=1)
    assert mt.metres.stored == pytest.approx(D("60494.298"), abs=1)


def test_blocks_with_reach_held_then_billed_after_a_decision(tmp_path, data):
    ws, report = workspace(tmp_path / "ws", data, "zonas_quadra", ("mt", "bt"))
    assert (report.read, len(report.set_aside)) == (4304, 36)
    # 742 pairs overlap among all 4,304 blocks; 729 among the 4,268 that have a value
    assert report.extra["coverage"]["overlap_pairs"] == 729
    bill = price_month(ws, NOV).bill
    for operator, no_zone, overlap in (("mt", "7356.09", "104.48"), ("bt", "5229.88", "240.23")):
        assert held(bill, operator, "no_zone") == pytest.approx(D(no_zone), abs=1)
        assert held(bill, operator, "overlap") == pytest.approx(D(overlap), abs=1)
    assert bill.metres.stored == sum((o.metres.stored for o in bill.operators), D(0))


def test_both_networks_of_one_operator_are_held_then_billed_after_a_decision(tmp_path, data):
    ws, _ = workspace(tmp_path / "ws", data, "zonas_bairro", ("luz", "luz"))
    run = {"issued_on": date(2026, 11, 30), "due_on": None, "out": tmp_path / "out", "now": NOW}
    first = bill_month(ws, NOV, **run)
    (one,) = first.month.bill.operators
    assert (first.invoices, one.reducer, one.total) == ((), None, 0)
    assert one.network_length_m == pytest.approx(D("159190.9"), abs=1)
    (silence,) = one.held
    assert silence.length_m == one.network_length_m
    add_decision(ws, Decision("D1", "1/2026", date(2026, 11, 3), "Prefeito", "above_100_km", "0.60"), NOW)
    set_policy(ws.root / FILE_NAME, "above_100_km", "D1")
    second = bill_month(open_workspace(ws.root), NOV, **run)
    assert [i.number for i in second.invoices] == ["2026/000001"]
    assert second.invoices[0].total == silence.amount_if.amount
    assert second.invoices[0].basis.decisions[0].id == "D1"
    assert second.month.bill.metres.held == held(second.month.bill, "luz", "no_zone")
