"""A store of an older version is copied, then migrated in one transaction; whoever is cut off leaves a whole one behind."""

import re
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pyogrio
import pytest
from alembic import op
from alembic.script import ScriptDirectory
from workspaces import add_operator, bill, done, geobill, process

from geobill.errors import StoreError
from geobill.store import database as database_room
from geobill.store import migrations
from geobill.store.database import Database
from geobill.store.migrations import copying, upgrade
from geobill.store.tables import SCHEMA_VERSION
from geobill.store.workspace import open_workspace as open_in_python
from store.first_version import NOW, SRID, as_first_version, empty_store, rows, schema
from store.killed_migration import POINTS
from store.test_database import as_nobody, open_workspace  # noqa: F401

COPY = re.compile(r"cadastre\.v1-\d{8}T\d{6}Z(-\d+)?\.gpkg")
LOOK = ("operator", "list")


@pytest.fixture
def old(billed, tmp_path):
    """Workspace of version 1 with November's invoices in it."""
    return as_first_version(billed, tmp_path / "old")


def store(workspace):
    return workspace / "cadastre.gpkg"


def copies(workspace):
    return sorted(p for p in workspace.glob("*.gpkg") if COPY.fullmatch(p.name))


def version(path):
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute("SELECT version FROM geobill_schema").fetchone()[0]


def sound(path):
    with closing(sqlite3.connect(path)) as connection:
        return (
            connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
            and not connection.execute("PRAGMA foreign_key_check").fetchall()
        )


# -- the revisions


def test_today_is_the_last_revision_and_each_is_one_version():
    script = ScriptDirectory(str(Path(migrations.__file__).parent))
    names = [r.revision for r in script.walk_revisions()]
    assert names == [str(n) for n in range(SCHEMA_VERSION, 0, -1)]


def test_migrating_gives_the_schema_that_a_new_store_has(tmp_path):
    new = Database.create(tmp_path / "new.gpkg", SRID, NOW)
    old = empty_store(tmp_path / "old.gpkg")
    assert schema(old) != schema(new.path)
    Database.open(old, SRID, NOW)
    assert schema(old) == schema(new.path)


def test_an_older_store_is_migrated_with_its_invoices_to_the_byte(old):
    before = rows(store(old))
    assert len(before["invoices"]) == 2
    assert len(before["documents"]) >= 4
    answer = geobill(*LOOK, "--json", workspace=old)
    assert answer.code == 0, answer.err
    after = rows(store(old))
    listed = {"gpkg_contents", "gpkg_geometry_columns"}  # they gain the new tables
    for name in set(before) - listed - {"geobill_schema"}:
        was = [row[:-1] if name == "batches" else row for row in before[name]]  # replaced_by has become acts
        kept = [row[: len(was[0])] for row in after[name]] if was else after[name]  # columns are added
        assert kept == was, name
    assert all(set(before[name]) < set(after[name]) for name in listed)
    assert version(store(old)) == SCHEMA_VERSION
    assert sound(store(old))
    (copy,) = copies(old)
    assert rows(copy) == before
    assert answer.err == (
        f"· cadastre.gpkg was of schema version 1 and is now of version {SCHEMA_VERSION}; as it was before it is kept in {copy.name}\n"
    )


def test_what_was_replaced_becomes_an_act_and_stays_out_of_force(old):
    with closing(sqlite3.connect(store(old))) as connection:
        connection.execute("UPDATE batches SET replaced_by = 'B00003' WHERE id = 'B00002'")
        connection.commit()
    listed = {b["batch"]: b for b in done("batch", "list", workspace=old)["batches"]}
    assert (listed["B00002"]["state"], listed["B00002"]["replaced_by"]) == ("replaced", "B00003")
    assert {b["state"] for b in listed.values()} == {"in_force", "replaced"}
    with closing(sqlite3.connect(store(old))) as connection:
        at = connection.execute("SELECT imported_at FROM batches WHERE id = 'B00003'").fetchone()[0]
        found = connection.execute("SELECT batch, kind, other, done_by, note, recorded_at FROM batch_acts").fetchall()
        assert found == [("B00002", "replaced", "B00003", "", "", at)]
        aside = connection.execute("SELECT layer, layer_row, source_row, original, wkb FROM set_aside").fetchall()
    assert aside == [("alfa", 5, 5, None, None)]


def test_the_month_goes_on_after_a_migration(old, billed):
    again = bill(old, "--out", old / "documents")
    assert [i["issued_now"] for i in again["invoices"]] == [False, False]
    stored = {name: content for _, _, _, name, _, content in rows(store(billed))["documents"]}
    assert len(stored) >= 4
    for name, content in stored.items():
        assert (old / "documents" / name).read_bytes() == content
    december = bill(old, month="2026-12", issued_on="2027-01-02")
    assert [i["number"] for i in december["invoices"]] == ["2027/000001", "2027/000002"]


def test_it_is_migrated_once_and_a_store_of_today_is_not_copied(old, billed, tmp_path):
    for _ in range(2):
        done(*LOOK, workspace=old)
    assert len(copies(old)) == 1
    today = shutil.copytree(billed, tmp_path / "today")
    before = store(today).read_bytes()
    answer = geobill(*LOOK, workspace=today)
    assert (answer.code, answer.err, copies(today)) == (0, "", [])
    assert store(today).read_bytes() == before


def test_the_copy_can_be_put_back_and_migrated_again(old):
    done(*LOOK, workspace=old)
    (copy,) = copies(old)
    shutil.copy(copy, store(old))
    done(*LOOK, workspace=old)
    assert version(store(old)) == SCHEMA_VERSION
    assert len(copies(old)) == 2


def test_gdal_lists_the_tables_that_were_added(old):
    done(*LOOK, workspace=old)
    layers = dict(pyogrio.list_layers(store(old)).tolist())
    for name in ("permits", "permit_acts", "decrees", "decree_documents", "month_checks"):
        assert layers[name] is None
    assert "alembic_version" not in layers
    assert list(pyogrio.read_info(store(old), layer="permits")["fields"]) == [
        "number", "operator", "process", "service", "project", "requested_on", "recorded_at",
    ]  # fmt: skip


def test_a_log_that_qgis_left_is_no_obstacle(old):
    with closing(sqlite3.connect(store(old))) as connection:
        assert connection.execute("PRAGMA journal_mode = WAL").fetchone() == ("wal",)
    before = rows(store(old))
    done(*LOOK, workspace=old)
    (copy,) = copies(old)
    assert rows(copy) == before
    for path in (copy, store(old)):
        assert path.read_bytes()[18:20] == b"\x01\x01", "write-ahead log in the header"
    assert sorted(p.name for p in old.iterdir()) == sorted(["geobill.toml", "cadastre.gpkg", copy.name])


# -- cut off


@pytest.mark.parametrize("point", POINTS)
def test_a_run_that_is_cut_off_leaves_the_old_store_or_the_new_one(old, point):
    before = rows(store(old))
    script = Path(__file__).with_name("killed_migration.py")
    command = [sys.executable, script, point, "-w", old, *LOOK, "--json"]
    env = {"PYTHONPATH": str(Path(__file__).parents[2]), "HOME": str(old)}
    ended = subprocess.run(command, capture_output=True, text=True, env=env)
    assert ended.returncode == (0 if point == "nowhere" else -9), ended.stderr
    left = rows(store(old))
    assert sound(store(old))
    if point in ("after the commit", "nowhere"):
        assert version(store(old)) == SCHEMA_VERSION
        assert left["invoices"] == before["invoices"]
    else:
        assert left == before
    for copy in copies(old):
        assert rows(copy) == before
    done(*LOOK, workspace=old)
    assert version(store(old)) == SCHEMA_VERSION
    assert rows(store(old))["documents"] == before["documents"]
    assert copies(old)
    assert not [p.name for p in old.iterdir() if p.name.endswith((".part", "-journal"))]


def test_two_commands_at_once_migrate_once(old):
    both = [process("-w", old, *LOOK, "--json") for _ in range(4)]
    ended = [(p.communicate(), p.returncode) for p in both]
    assert [code for _, code in ended] == [0, 0, 0, 0], ended
    assert sum("is now of version" in err for (_, err), _ in ended) == 1
    assert len(copies(old)) == 1
    assert version(store(old)) == SCHEMA_VERSION


def test_a_migration_waits_for_nobody_forever(old, monkeypatch):
    monkeypatch.setattr(database_room, "LOCK_WAIT_S", 0.1)
    before = store(old).read_bytes()
    with closing(sqlite3.connect(store(old), isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        answer = geobill(*LOOK, workspace=old)
    assert answer.code == 1
    assert "another program is writing to it" in answer.err
    assert store(old).read_bytes() == before
    assert copies(old) == []


def test_a_migration_that_fails_leaves_nothing(old, monkeypatch):
    monkeypatch.setattr(op, "create_table", _fail)
    before = rows(store(old))
    with pytest.raises(RuntimeError, match="out of ink"):
        Database.open(store(old), SRID, NOW)
    assert rows(store(old)) == before
    assert copies(old) == []


def _fail(*_, **__):
    raise RuntimeError("out of ink")


# -- refused


def test_a_newer_version_is_refused_and_left_alone(old):
    with closing(sqlite3.connect(store(old))) as connection:
        connection.execute("UPDATE geobill_schema SET version = ?", (SCHEMA_VERSION + 1,))
        connection.commit()
    before = store(old).read_bytes()
    answer = geobill(*LOOK, workspace=old)
    assert answer.code == 1
    assert f"has schema version {SCHEMA_VERSION + 1}, this geobill writes version {SCHEMA_VERSION}" in answer.err
    assert "Use the geobill that made it, or a newer one." in answer.err
    assert (store(old).read_bytes(), copies(old)) == (before, [])


@pytest.mark.parametrize("number", [0, -1])
def test_a_version_that_no_geobill_wrote_is_refused(old, number):
    with closing(sqlite3.connect(store(old))) as connection:
        connection.execute("UPDATE geobill_schema SET version = ?", (number,))
        connection.commit()
    with pytest.raises(StoreError, match=f"has schema version {number}"):
        Database.open(store(old), SRID, NOW)


@pytest.mark.parametrize("file_mode", [0o444, 0o666], ids=["file", "only the folder"])
def test_a_folder_that_cannot_be_written_is_refused_with_what_to_do(old, open_workspace, file_mode):  # noqa: F811
    shutil.copy(store(old), store(open_workspace))
    store(open_workspace).chmod(file_mode)
    open_workspace.chmod(0o555)
    before = store(open_workspace).read_bytes()
    answer = as_nobody("-w", open_workspace, *LOOK)
    assert (answer.returncode, answer.stdout) == (1, "")
    assert "is of an older schema version and must be copied and migrated" in answer.stderr
    assert "or copy the whole workspace folder to such a place" in answer.stderr
    assert (store(open_workspace).read_bytes(), copies(open_workspace)) == (before, [])


def test_a_full_disk_is_said(old, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(copying, "_copy", full)
    before = store(old).read_bytes()
    answer = geobill(*LOOK, workspace=old)
    assert answer.code == 1
    assert "the copy can't be written: No space left on device. Nothing was changed." in answer.err
    assert (store(old).read_bytes(), copies(old)) == (before, [])


def test_a_damaged_store_is_not_migrated(old):
    data = bytearray(store(old).read_bytes())
    page = int.from_bytes(data[16:18], "big")
    with closing(sqlite3.connect(store(old))) as connection:
        root = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'documents'").fetchone()[0]
    data[(root - 1) * page : (root - 1) * page + 100] = b"\xff" * 100
    store(old).write_bytes(data)
    answer = geobill(*LOOK, workspace=old)
    assert answer.code == 1
    assert "damaged" in answer.err
    assert (store(old).read_bytes(), copies(old)) == (bytes(data), [])
    assert list(old.glob(".*.part")) == []


def test_a_store_of_another_system_is_refused_before_it_is_touched(old):
    settings = old / "geobill.toml"
    settings.write_text(settings.read_text(encoding="utf-8").replace("EPSG:31983", "EPSG:31982"), encoding="utf-8")
    answer = geobill(*LOOK, workspace=old)
    assert answer.code == 1
    assert "geobill.toml says EPSG:31982" in answer.err
    assert (version(store(old)), copies(old)) == (1, [])


def test_loose_rows_are_found_before_anything_is_kept(old):
    with closing(sqlite3.connect(store(old))) as connection:  # foreign keys are off here
        connection.execute("UPDATE batches SET operator = 'ninguém' WHERE operator = 'alfa'")
        connection.commit()
    with pytest.raises(StoreError, match="rows would point to rows that aren't there, the first in batches"):
        Database.open(store(old), SRID, NOW)
    assert (version(store(old)), copies(old)) == (1, [])


def test_without_a_clock_an_older_store_is_refused(old):
    with pytest.raises(StoreError, match="geobill policy show: it copies and migrates the store"):
        open_in_python(old)
    said = []
    assert open_in_python(old, NOW, said.append).database.path == store(old)
    assert len(said) == 1
    assert copies(old)[0].name == "cadastre.v1-20261130T120000Z.gpkg"


def test_foreign_keys_hold_again_after_a_migration(old):
    opened = Database.open(store(old), SRID, NOW)
    with opened.read() as connection:
        assert connection.exec_driver_sql("PRAGMA foreign_keys").scalar() == 1
    add_operator(old, "eta", "Eta Redes S.A.")
    with opened.write() as connection, pytest.raises(Exception, match="FOREIGN KEY"):
        connection.exec_driver_sql("UPDATE segments SET operator = 'ninguém'")


def test_a_revision_says_what_it_reached(tmp_path):
    path = empty_store(tmp_path / "old.gpkg")
    with Database(path, SRID)._transaction(geobill_write=True, geobill_rebuild=True) as connection:
        assert upgrade(connection, since=1, srid=SRID, now=NOW) == tuple(range(2, SCHEMA_VERSION + 1))
