"""A workspace for a town in another zone: its crs is written into geobill.toml before the first import."""

import sqlite3

import pyogrio
import pytest
from workspaces import add_operator, done, geobill, import_network, write_network

from geobill.store.soundness import examine_store


@pytest.fixture
def edited(tmp_path):
    """A new workspace whose settings were made those of Curitiba's zone, and its store before anything opened it."""
    root = tmp_path / "ws"
    done("init", root)
    settings = root / "geobill.toml"
    settings.write_text(settings.read_text(encoding="utf-8").replace("EPSG:31983", "EPSG:31982"), encoding="utf-8")
    return root


def systems(root):
    with sqlite3.connect(root / "cadastre.gpkg") as connection:
        listed = connection.execute("SELECT DISTINCT srs_id FROM gpkg_geometry_columns").fetchall()
        return listed, connection.execute(
            "SELECT DISTINCT srs_id FROM gpkg_contents WHERE data_type = 'features'"
        ).fetchall()


def test_the_doctor_finds_nothing_wrong_with_a_store_that_measures_nothing_yet(edited):
    (check,) = [c for c in examine_store(edited / "cadastre.gpkg", 31982) if c.name == "coordinate system"]
    assert (check.state, "the next command takes it" in check.message) == ("ok", True)


def test_a_store_with_nothing_in_it_takes_the_system_of_the_settings_and_says_so(edited):
    answer = geobill("operator", "add", "--id", "alfa", "--name", "Alfa", workspace=edited)
    assert answer.code == 0, answer.err
    assert "measures in EPSG:31982 from now on" in answer.err
    assert systems(edited) == ([(31982,)], [(31982,)])
    assert pyogrio.read_info(edited / "cadastre.gpkg", layer="segments")["crs"] == "EPSG:31982"
    assert {c.state for c in examine_store(edited / "cadastre.gpkg", 31982)} == {"ok"}
    again = geobill("operator", "add", "--id", "beta", "--name", "Beta", workspace=edited)
    assert "from now on" not in again.err


def test_what_was_imported_is_carried_into_that_system(edited, tmp_path):
    add_operator(edited, "alfa", "Alfa S.A.")
    report = import_network(edited, write_network(tmp_path / "rede.geojson", ("1", "0.5", [(0, 0), (100, 0)])), "alfa")
    assert (report["accepted"], report["crs"]["to"]) == (1, "EPSG:31982")
    back = (edited / "geobill.toml").read_text(encoding="utf-8").replace("EPSG:31982", "EPSG:31983")
    (edited / "geobill.toml").write_text(back, encoding="utf-8")
    refusal = geobill("operator", "add", "--id", "beta", "--name", "Beta", workspace=edited)
    assert refusal.code == 1
    assert "measures in EPSG:31982, geobill.toml says EPSG:31983" in refusal.err
    assert systems(edited)[0] == [(31982,)]
