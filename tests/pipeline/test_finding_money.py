"""What a finding is worth: by hand, against the bill of a month that has such a row, against the retroactive billing."""

from dataclasses import replace
from datetime import date
from decimal import Decimal

import geopandas as gpd
import pandas as pd
import pytest
import shapely
from field_town import SRID, at, finding, keep
from pricing.shapes import ORIGIN
from workspaces import add_operator, done, import_network, import_zones, write_network, write_zones

from geobill.domain.case import DOUBLED, INSTALLED, Case, CaseAct
from geobill.domain.dates import BillingMonth
from geobill.frames import FOUND, SEGMENTS
from geobill.law.policy import parse_policy
from geobill.pipeline.beside import Ground
from geobill.pipeline.finding_money import look_at_money
from geobill.pipeline.finding_prices import as_found, price_findings
from geobill.pipeline.finding_worth import month_worths
from geobill.pipeline.month import Stored, Terms
from geobill.pipeline.review import look_at
from geobill.store.cases import CaseRegister
from geobill.store.workspace import open_workspace

D = Decimal
NOW, TODAY, NOV = "2026-11-30T12:00:00Z", date(2026, 11, 30), BillingMonth(2026, 11)
ACROSS = at((300, 100), (300, 300))  # 100 m in either zone
TWIN = at((100, 50.1), (400, 50.1))  # beside the permitted cable, in its strip
NEAR = at((500, 50.2), (520, 50.2), (520, 70))  # shares the strip for some metres, then turns away
OUTSIDE = at((300, 390), (300, 500))  # 90 m are farther than 20 m from every zone


def found(*rows):
    """Findings by ``frames.FOUND`` of (kind, geometry, other columns)."""
    data = [{c: None for c in FOUND if c != "geometry"} | {"kind": k, "segment": f"F{n}", "source_row": n, "operator": "alfa",
            "length_m": f"{g.length:.2f}", "confidence": "0.99", **more} for n, (k, g, more) in enumerate(rows, 1)]  # fmt: skip
    frame = pd.DataFrame(data, columns=[c for c in FOUND if c != "geometry"], dtype=object)
    return gpd.GeoDataFrame(frame, geometry=[g for _, g, _ in rows], crs=SRID)


def line(geometry, kind="undeclared_segment", **more):
    return (kind, geometry, {"width_m": "0.3", **more})


@pytest.fixture(scope="module")
def town(tmp_path_factory):
    """Alfa has 6,000 m under P-1 (R = 0.90) and 4,000 m that ended in 2024; two zones; the city's own water company."""
    folder = tmp_path_factory.mktemp("money")
    root = folder / "town"
    done("init", root)
    add_operator(root, "alfa", "Alfa S.A.")
    add_operator(root, "daec", "DAEC", kind="municipal")
    for edition, since, t1, t2 in (("2015", "2015-01-01", 180, 90), ("2023", "2023-01-01", 200, 100)):
        zones = (("Z1", t1, 0, 0, 8000, 200), ("Z2", t2, 0, 200, 8000, 400))
        import_zones(root, write_zones(folder / f"{edition}.geojson", *zones), edition, since)
    rows = (
        ("L1", 0.5, [(100, 50), (6100, 50)]),
        ("L2", 0.5, [(100, 150), (4100, 150)], {"implantado": "2018-05-10", "retirado": "2024-08-20"}),
        ("C1", 0.5, [(505, 50.1), (515, 50.1)], {"situacao": "clandestine"}),
    )
    import_network(root, write_network(folder / "alfa.geojson", *rows), "alfa")
    return root


@pytest.fixture
def stored(town):
    opened = open_workspace(town)
    with opened.database.read() as connection:
        yield Stored(opened, connection)


def amounts(stored, *rows, default=None):
    return price_findings(stored, found(*rows), NOV, default)[0]


# by hand: metres × 0.50 m × T × 3 % × 50 % × 0.90, T = 200 and 100
def test_a_line_pays_each_zone_its_part_once(stored):
    assert amounts(stored, line(ACROSS)) == [D("202.50")]  # 100 × 0.50 × 200 × 0.015 × 0.9 = 135.00, and 67.50
    (worth,) = month_worths(Ground(stored), found(line(ACROSS)), NOV, None)
    assert [(one.zone, one.amount) for one in worth.doubled] == [("Z1", D("270.00")), ("Z2", D("135.00"))]
    assert (worth.amount, worth.doubled_amount, worth.edition) == (D("202.50"), D("405.00"), "2023")
    assert "10 § 2" in worth.articles


def test_a_wider_strip_and_a_larger_cabinet_pay_the_difference(stored):
    along = at((1000, 50), (1400, 50))
    kinds = amounts(
        stored,
        ("wider_than_permitted", along, {"width_m": "0.80", "permitted_width_m": "0.50", "permitted": "L1"}),
        ("wider_than_permitted", along, {"width_m": "0.40", "permitted_width_m": "0.20", "permitted": "L1"}),
        ("larger_than_permitted", along.centroid, {"volume_m3": "3.5", "permitted_volume_m3": "2"}),
        ("undeclared_equipment", along.centroid, {"volume_m3": "2.25"}),
    )
    # 400 × 0.30 × 200 × 0.015 × 0.9; both under half a metre; 1.5 m³ and 2.25 m³ at R$ 150
    assert kinds == [D("324.00"), D("0.00"), D("225.00"), D("337.50")]


def test_what_cannot_be_said_has_no_price(stored):
    rows = (
        line(ACROSS, operator=None),
        line(ACROSS, operator="daec"),
        line(ACROSS, width_m=None),
        line(OUTSIDE),
        line(ACROSS, "missing_in_survey"),
        line(ACROSS, "moved"),
        ("undeclared_equipment", ACROSS.centroid, {}),
        ("wider_than_permitted", ACROSS, {"width_m": "0.80"}),
    )
    why = ["no_operator", "exempt", "no_width", "no_zone", "nothing_new", "nothing_new", "no_volume", "no_width"]
    worths = month_worths(Ground(stored), found(*rows), NOV, None)
    assert [w.why for w in worths] == why
    assert [w.amount for w in worths] == amounts(stored, *rows) == [None] * len(rows)
    assert amounts(stored, line(ACROSS, width_m=None), default=D("0.80")) == [D("324.00")]  # 202.50 × 0.80 ÷ 0.50


def test_above_100_km_it_is_held(stored):
    stored.segments.loc[stored.segments["segment"] == "L1", "geometry"] = at((0, 50), (100_001, 50))
    (worth,) = month_worths(Ground(stored), found(line(ACROSS)), NOV, None)
    assert (worth.why, worth.amount, worth.held) == ("above_100_km", None, (("above_100_km", D("200.00")),))


@pytest.mark.parametrize(
    "policy",
    [
        {},
        {"same_strip": "once"},
        {"clandestine_counts_in_reducer": "true"},
        {"reducer_scope": "permit"},
        {"reducer_method": "graduated", "clandestine_counts_in_reducer": "true"},
        {"length_precision_m": "0.1", "rounding": "half_even", "on_border": "higher"},
        {"same_strip": "once", "clandestine_counts_in_reducer": "true", "reducer_scope": "permit"},
    ],
)
@pytest.mark.parametrize(
    "shape", [ACROSS, TWIN, NEAR, at((700, 200), (733.33, 200))], ids=["across", "twin", "near", "border"]
)
def test_it_is_what_the_bill_asks_for_such_a_row(town, policy, shape):
    """The very lines: the bill of November with the finding in the network, doubled, less what the bill has without it."""
    opened = open_workspace(town)
    with opened.database.read() as connection:
        stored = Stored(opened, connection, Terms(policy=parse_policy(policy)))
        (worth,) = month_worths(Ground(stored), found(line(shape)), NOV, None)
        row = {c: None for c in SEGMENTS if c != "geometry"}
        row |= {"source_row": 9, "segment": "X", "operator": "alfa", "status": "clandestine", "width_m": "0.3"}
        new = gpd.GeoDataFrame([row], geometry=[shape], crs=SRID, index=[99]).astype({"segment": object})
        stored.segments = pd.concat([stored.segments, new])
        priced = stored.price(NOV).priced
    mine = priced.pieces[(priced.pieces["segment"] == "X") & priced.pieces["line"].notna()]
    lines = priced.bill.operators[0].lines
    exact = {}
    for piece in mine.itertuples():
        asked = lines[piece.line - 1]
        part = asked.exact * piece.length_m.as_integer_ratio()[0] / piece.length_m.as_integer_ratio()[1]
        part = part / asked.length_m.as_integer_ratio()[0] * asked.length_m.as_integer_ratio()[1]
        exact[piece.line] = exact.get(piece.line, 0) + part
    assert sorted(line.exact for line in worth.doubled) == sorted(exact.values())
    assert sorted(2 * line.exact for line in worth.lines) == sorted(exact.values())
    assert all(
        line.flags == lines[n - 1].flags and line.reducer == lines[n - 1].reducer
        for line, n in zip(worth.doubled, exact, strict=True)
    )
    assert abs(2 * worth.amount - worth.doubled_amount) <= D("0.01") * len(worth.lines)


def test_many_are_priced_as_one_by_one(stored):
    rows = [line(ACROSS), line(TWIN, "more_than_permitted"), line(NEAR), line(at((2000, 100), (2000, 250)))]
    assert amounts(stored, *rows) == [one for row in rows for one in amounts(stored, row)]


def test_without_a_map_nothing_is_priced_and_nothing_fails(tmp_path):
    done("init", tmp_path / "ws")
    add_operator(tmp_path / "ws", "alfa", "Alfa S.A.")
    opened = open_workspace(tmp_path / "ws")
    with opened.database.read() as connection:
        stored = Stored(opened, connection)
        got, warnings = price_findings(stored, found(line(ACROSS), line(TWIN)), NOV, D("0.5"))
        assert price_findings(stored, found(line(ACROSS)).iloc[:0], NOV, None) == ([], ())
        before, refused = price_findings(stored, found(line(ACROSS)), BillingMonth(1999, 1), None)
    assert got == [None, None]
    assert [w.code for w in warnings] == ["not_priced"]
    assert "Mapa de Valores" in warnings[0].message
    assert "import land-values" in warnings[0].fix
    assert (before, len(refused)) == ([None], 1)


def test_where_the_law_says_nothing_the_warning_says_why(stored):
    got, (warning,) = price_findings(stored, found(line(ACROSS)), BillingMonth(2040, 1), None)
    assert got == [None]
    assert "law confirm" in warning.message


# -- one finding and its past


@pytest.fixture(scope="module")
def surveyed(town):
    """The town with stored findings: across both zones, a cabinet, one without an owner."""
    rows = [
        finding(1, "undeclared_segment", "alfa", "1", 200),
        finding(2, "undeclared_equipment", "alfa", "K1", 0, volume="2"),
        finding(3, "undeclared_segment", None, "3", 300),
        replace(finding(4, "missing_in_survey", "alfa", "L1", 100), width_m=None),
    ]
    keep(town, [ACROSS, TWIN], rows, [ACROSS, shapely.Point(ORIGIN[0] + 50, ORIGIN[1] + 8), TWIN, TWIN])
    return town


def test_a_finding_by_hand_with_its_past(surveyed):
    money = look_at_money(open_workspace(surveyed), "V00001-00001", TODAY)
    past = money.past
    assert (money.month.amount, money.month.doubled_amount) == (D("202.50"), D("405.00"))
    assert (past.since, past.presumed, past.last) == (date(2001, 6, 27), True, BillingMonth(2026, 10))
    assert (past.without_map[0], past.without_map[-1]) == (BillingMonth(2001, 6), BillingMonth(2014, 12))
    by_month = {m.month: m for m in past.months}
    assert by_month[BillingMonth(2026, 10)].now == D("405.00")
    assert by_month[BillingMonth(2022, 12)].now == D("364.50")  # T = 180 and 90
    assert by_month[BillingMonth(2020, 2)].lines[0].days == 29
    # five years: what was due on 15 December 2021 (the month of November) or later
    assert past.demand.demanded[0].month == BillingMonth(2021, 11)
    assert past.demand.total == sum(m.now for m in past.demand.demanded) == 14 * D("364.50") + 46 * D("405.00")
    assert past.waiting == sum(m.now for m in past.demand.held) > 0
    assert past.by_year[0] == (2026, 10, D("4050.00"), D("0.00"))


def test_a_proven_day_counts_instead_of_the_presumed_one(surveyed):
    past = look_at_money(open_workspace(surveyed), "V00001-00001", TODAY, installed_on=date(2026, 9, 16)).past
    assert [(str(m.month), m.now) for m in past.months] == [("2026-09", D("202.50")), ("2026-10", D("405.00"))]
    assert not past.presumed
    assert look_at_money(open_workspace(surveyed), "V00001-00001", TODAY, installed_on=TODAY).past is None


def test_a_cabinet_has_a_past_and_a_missing_stretch_none(surveyed):
    opened = open_workspace(surveyed)
    cabinet = look_at_money(opened, "V00001-00002", TODAY)
    assert (cabinet.month.amount, cabinet.month.doubled_amount) == (D("300.00"), D("600.00"))
    assert cabinet.past.demand.total == 60 * D("600.00")
    assert look_at_money(opened, "V00001-00004", TODAY).past is None
    unknown = look_at_money(opened, "V00001-00003", TODAY)
    assert (unknown.month.why, unknown.past) == ("no_operator", None)


@pytest.mark.parametrize("changes", [{}, {"clandestine_counts_in_reducer": "true"}], ids=["alone", "counted"])
@pytest.mark.parametrize("ordered", [False, True], ids=["no order", "court"])
def test_the_past_is_that_of_the_retroactive_billing(tmp_path, changes, ordered):
    """The same stretch, imported and put into a decided case: month by month what ``bill --retroactive`` works out."""
    root = tmp_path / "town"
    done("init", root)
    add_operator(root, "alfa", "Alfa S.A.")
    for edition, since, value in (("2015", "2015-01-01", 180), ("2023", "2023-01-01", 240)):
        zones = (("Z1", value, 0, 0, 8000, 200), ("Z2", 90, 0, 200, 8000, 400))
        import_zones(root, write_zones(tmp_path / f"{edition}.geojson", *zones), edition, since)
    rows = (
        ("L1", 0.5, [(100, 50), (4900, 50)]),
        ("L2", 0.5, [(100, 150), (4100, 150)], {"implantado": "2018-05-10", "retirado": "2024-08-20"}),
    )
    import_network(root, write_network(tmp_path / "rede.geojson", *rows), "alfa")
    for key, value in changes.items():
        done("policy", "set", key, value, workspace=root)
    if ordered:
        order = ("--id", "S1", "--case", "0001234-56.2020.8.26.0106", "--court", "TJSP", "--kind", "injunction")
        limits = ("--effect", "accrues", "--articles", "10 § 2", "--operator", "alfa", "--from", "2025-03-10")
        done("suspension", "add", *order, *limits, workspace=root)
    keep(root, [ACROSS], [replace(finding(1, "undeclared_segment", "alfa", "X1", 200), width_m=D("0.3"))], [ACROSS])
    past = look_at_money(open_workspace(root), "V00001-00001", TODAY, installed_on=date(2017, 3, 12)).past
    drawn = [(x - ORIGIN[0], y - ORIGIN[1]) for x, y in ACROSS.coords]
    import_network(root, write_network(tmp_path / "x.geojson", ("X1", 0.3, drawn, {"situacao": "suspected"})), "alfa")
    opened = open_workspace(root)
    with opened.database.write() as connection:
        register = CaseRegister(connection, opened.database.tables)
        register.save_case(Case("C1", "clandestine", "alfa", date(2026, 8, 1), "cabo", segments=("X1",)), NOW)
        register.save_act(CaseAct("C1", INSTALLED, date(2017, 3, 12), reference="nota"), NOW)
        register.save_act(CaseAct("C1", DOUBLED, date(2026, 11, 20), by="Secretário"), NOW)
    real = done("bill", "--retroactive", "C1", "--issued-on", TODAY.isoformat(), "--dry-run", workspace=root)
    assert [(str(m.month), str(m.now), m.edition) for m in past.months] == [
        (m["month"], m["now"], m["edition"]) for m in real["months"]
    ]
    young = sum(D(m["amount"]) for m in real["months"] if m["state"] == "demanded")
    assert past.demand.total == young > 0
    assert len({m.now for m in past.months}) > 3


def test_what_is_kept_between_two_looks_follows_the_store(tmp_path):
    """A row that is imported meanwhile changes R, and so the next look; a decision of a reviewer loads nothing anew."""
    root = tmp_path / "town"
    done("init", root)
    add_operator(root, "alfa", "Alfa S.A.")
    import_zones(root, write_zones(tmp_path / "z.geojson", ("Z1", 200, 0, 0, 20000, 400)))
    keep(root, [ACROSS], [finding(1, "undeclared_segment", "alfa", "1", 200)], [ACROSS])
    before = look_at_money(open_workspace(root), "V00001-00001", TODAY)
    import_network(root, write_network(tmp_path / "rede.geojson", ("L1", 0.5, [(100, 50), (6100, 50)])), "alfa")
    after = look_at_money(open_workspace(root), "V00001-00001", TODAY)
    assert (before.month.amount, after.month.amount) == (D("300.00"), D("270.00"))
    done("policy", "set", "rounding", "half_even", workspace=root)
    act = ("--id", "D1", "--number", "1/2026", "--date", "2026-11-01", "--signatory", "Prefeito")
    done("decision", "add", *act, "--question", "limitation_years", "--answer", "10", workspace=root)
    done("policy", "set", "limitation_years", "10", workspace=root)
    later = look_at_money(open_workspace(root), "V00001-00001", TODAY).past
    assert (later.demand.limitation.years, len(later.demand.demanded)) == (10, 120)
    assert (later.lapsed > 0, later.waiting) == (True, 0)


def test_a_stored_finding_reads_as_it_was_found(surveyed):
    look = look_at(open_workspace(surveyed), "V00001-00001")
    shapes = gpd.GeoDataFrame(geometry=[look.shape], crs=SRID)
    frame = as_found([look.file], shapes)
    assert set(FOUND) == set(frame.columns)
    assert (frame["width_m"][0], frame["volume_m3"][0], frame["operator"][0]) == ("0.5", None, "alfa")
