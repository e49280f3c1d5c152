"""What counts as permitted beside a survey: the same rows on the finding's page, on the map and in the files.

Alfa has 1,000 m of permitted cable along y = 5; the survey found 200 m at y = 20, 15 m away.
"""

from datetime import date, timedelta
from decimal import Decimal

import geopandas as gpd
import pyogrio
import pytest
import shapely
from field_town import NOW, SRID, at, field_town
from workspaces import done, import_network, write_network

from geobill.domain.case import CaseAct, CaseFile
from geobill.domain.permit import Decree, Permit, PermitFile
from geobill.pipeline.finding_cases import Opening, open_case_on
from geobill.pipeline.finding_profile import look_closely
from geobill.pipeline.findings_out import write_review
from geobill.pipeline.lawful import Rights, lawful, load_rights
from geobill.pipeline.map_near import look_close
from geobill.pipeline.map_tiles import find_tiles, make_tiles
from geobill.store.cases import CaseRegister
from geobill.store.workspace import open_workspace

TWO = "V00001-00002"
DAY, LATER = date(2026, 11, 30), date(2026, 12, 10)
PUBLISHED = date(2001, 7, 1)


@pytest.fixture(scope="module")
def workspace(tmp_path_factory):
    """The town in which a finding is in a case."""
    opened = open_workspace(field_town(tmp_path_factory.mktemp("lawful")))
    done("finding", "uphold", TWO, "--by", "Ana", workspace=opened.root)
    open_case_on(opened, {TWO: 1}, Opening("C1", "Cabo na Rua A", DAY, "Caio Prado"), now=NOW, today=DAY)
    return opened


def drawn(workspace, on):
    (file,) = (f for f in make_tiles(workspace, on) if (f.layer, f.level) == ("permitted", "detail"))
    return file.path.name, set(pyogrio.read_dataframe(file.path)["id"])


def test_what_is_in_a_case_is_permitted_nowhere(workspace, tmp_path):
    sheet = look_closely(workspace, TWO)
    assert {offset for _, offset in sheet.profile.places} == {Decimal("15.00")}, "not 0 m to its own suspected row"
    close = look_close(workspace, TWO, DAY)
    assert [round(float(shapely.length(line)) * 111_000) for line in close.offsets[:1]] == [15]
    assert len(close.permitted) == 1
    assert drawn(workspace, DAY)[1] == {"S1"}
    shown, _ = write_review(workspace, tmp_path / "rev.gpkg", DAY)
    assert list(shown.segments["segment"]) == ["S1"]


def test_what_was_regularised_is_from_its_day_on_and_the_tiles_are_made_anew(workspace):
    before, _ = drawn(workspace, LATER)
    with workspace.database.write() as connection:
        CaseRegister(connection, workspace.database.tables).save_act(CaseAct("C1", "notified", DAY, "Caio"), NOW)
    assert drawn(workspace, LATER)[0] == before, "a notice changes nothing about what is permitted"
    with workspace.database.write() as connection:
        CaseRegister(connection, workspace.database.tables).save_act(
            CaseAct("C1", "regularised", LATER, "Caio", note="P1"), NOW
        )
    after, ids = drawn(workspace, LATER)
    assert after != before
    assert ids == {"S1", TWO}
    assert drawn(workspace, LATER - timedelta(1))[1] == {"S1"}
    # the survey was held against what was permitted on its own day
    assert {offset for _, offset in look_closely(workspace, TWO).profile.places} == {Decimal("15.00")}
    assert len(look_close(workspace, TWO, LATER).permitted) == 2


def rows(*said):
    """Rows of (id, status, permit, first day, last day)."""
    names = ("segment", "status", "permit", "installed_on", "removed_on")
    columns = {n: [row[i] for row in said] for i, n in enumerate(names)}
    return gpd.GeoDataFrame({**columns, "operator": "alfa"}, geometry=[at((0, 0), (9, 0))] * len(said), crs=SRID)


def test_what_is_planned_is_permitted_from_its_decree_on():
    permit, draft = Permit("P1", "alfa"), None  # its price says nothing of where the network may stand
    decree = Decree("7.000", "P1", LATER, "Prefeito", LATER, draft)
    frame = rows(
        ("A", "planned", "P1", None, None), ("B", "planned", "P2", None, None), ("C", "existing", None, None, None),
        ("D", "permitted", None, None, "2026-12-01"), ("E", "clandestine", None, None, None), ("F", "unregistered", None, None, None),
        ("G", "suspected", None, None, None), ("H", "permitted", None, "2026-12-20", None),
    )  # fmt: skip
    rights = Rights({}, {"P1": PermitFile(permit, decrees=(decree,))}, PUBLISHED)
    assert list(lawful(rights.follow(frame), LATER)["segment"]) == ["A", "C"]
    assert list(lawful(rights.follow(frame), DAY)["segment"]) == ["C", "D"]
    assert rights.stamp(DAY) != rights.stamp(LATER) != Rights({}, {"P1": PermitFile(permit)}, PUBLISHED).stamp(LATER)


def test_rights_are_those_on_record(workspace):
    with workspace.database.read() as connection:
        rights = load_rights(workspace, connection)
    assert isinstance(rights.cases["C1"], CaseFile)
    assert rights.law_published_on.year == 2001


def test_a_town_where_nothing_is_lawful_has_a_map_all_the_same(tmp_path):
    root = tmp_path / "town"
    done("init", root)
    done("operator", "add", "--id", "alfa", "--name", "Alfa", workspace=root)
    planned = write_network(tmp_path / "alfa.geojson", ("S1", 0.5, ((0, 5), (1000, 5)), {"situacao": "planned"}))
    import_network(root, planned, "alfa")
    files = make_tiles(open_workspace(root), DAY)
    assert [(f.layer, f.is_empty) for f in files] == [("permitted", True)] * 2
    assert [find_tiles(open_workspace(root), f.path.name) for f in files] == [None, None]
