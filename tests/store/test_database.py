"""The store refuses clearly where it can't be read or written, keeps all of a command or nothing, and its ledger only grows."""

import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from contextlib import closing
from pathlib import Path

import geopandas as gpd
import pytest
import shapely
from sqlalchemy.exc import IntegrityError
from workspaces import add_operator, done, geobill

from geobill.domain.network import Operator
from geobill.errors import StoreError
from geobill.store import database as database_room
from geobill.store.database import Database
from geobill.store.registers import Registers
from geobill.store.tables import LEDGER, SCHEMA_VERSION
from geobill.store.workspace import init_workspace

NOW = "2026-11-30T12:00:00Z"
NEW_OPERATOR = ("operator", "add", "--id", "eta", "--name", "Eta Redes S.A.")


def store(workspace):
    return workspace / "cadastre.gpkg"


def refused(workspace, *args):
    """Run a command that the store must refuse; return what it says."""
    answer = geobill(*args, workspace=workspace)
    assert (answer.code, answer.out) == (1, "")
    assert "Traceback" not in answer.err
    assert "fault of the program" not in answer.err
    return answer.err


# -- locked


@pytest.mark.parametrize("lock", ["BEGIN IMMEDIATE", "BEGIN EXCLUSIVE"])
@pytest.mark.parametrize("args", [NEW_OPERATOR, ("bill", "--month", "2026-11")], ids=["operator add", "bill"])
def test_a_locked_store_is_said_and_left_alone(workspace, monkeypatch, lock, args):
    monkeypatch.setattr(database_room, "LOCK_WAIT_S", 0.1)
    before = store(workspace).read_bytes()
    with closing(sqlite3.connect(store(workspace), isolation_level=None)) as other:
        other.execute(lock)
        said = refused(workspace, *args)
    assert "another program is writing to it" in said
    assert "Nothing was changed" in said
    assert store(workspace).read_bytes() == before
    assert geobill(*args, workspace=workspace).code == 0


def test_a_lock_that_ends_in_time_is_waited_for(workspace):
    script = (
        "import sqlite3, sys, time; c = sqlite3.connect(sys.argv[1], isolation_level=None); c.execute('BEGIN IMMEDIATE');"
        "print('held', flush=True); time.sleep(0.5)"
    )
    with subprocess.Popen([sys.executable, "-c", script, store(workspace)], stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout.readline() == "held\n"
        add_operator(workspace, "eta", "Eta Redes S.A.")


def test_a_locked_store_can_still_be_looked_at(workspace):
    with closing(sqlite3.connect(store(workspace), isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        assert done("price", "--month", "2026-11", workspace=workspace)["operators"]


# -- read-only


@pytest.fixture
def open_workspace(billed):
    """Copy of the workspace where another user of this machine may go."""
    with tempfile.TemporaryDirectory(prefix="geobill-test-") as folder:
        Path(folder).chmod(0o755)
        yield shutil.copytree(billed, Path(folder) / "ws")


def as_nobody(*args):
    """Run geobill with a plain user's rights, since permissions don't bind root."""
    command = [sys.executable, "-m", "geobill.cli.main", *map(str, args)]
    if os.geteuid() == 0:
        if not shutil.which("setpriv"):
            pytest.skip("runs as root, whom permissions don't bind, and setpriv isn't installed")
        command = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", *command]
    return subprocess.run(
        command, capture_output=True, text=True, cwd=Path(__file__).parents[2], env={"HOME": "/nonexistent"}
    )


@pytest.mark.parametrize("file_mode", [0o444, 0o666], ids=["file", "only the folder"])
def test_a_read_only_store_is_said(open_workspace, file_mode):
    store(open_workspace).chmod(file_mode)
    open_workspace.chmod(0o555)
    before = store(open_workspace).read_bytes()
    answer = as_nobody("-w", open_workspace, *NEW_OPERATOR)
    assert (answer.returncode, answer.stdout) == (1, "")
    assert "it is read-only here: check the file's and folder's permissions" in answer.stderr
    assert "Traceback" not in answer.stderr
    assert store(open_workspace).read_bytes() == before
    looked = as_nobody("-w", open_workspace, "price", "--month", "2026-11", "--json")
    assert looked.returncode == 0, looked.stderr


def test_a_read_only_folder_keeps_the_settings_as_they_are(open_workspace):
    open_workspace.chmod(0o555)
    before = (open_workspace / "geobill.toml").read_bytes()
    answer = as_nobody("-w", open_workspace, "policy", "set", "max_gap_m", "5")
    assert answer.returncode == 1
    assert "it is read-only here: check the file's and folder's permissions" in answer.stderr
    assert (open_workspace / "geobill.toml").read_bytes() == before
    assert list(open_workspace.glob(".*.part")) == []


def test_documents_that_cannot_be_written_are_said_to_be_issued(open_workspace):
    documents = open_workspace / "sem-acesso"
    documents.mkdir(mode=0o555)
    open_workspace.chmod(0o777)
    store(open_workspace).chmod(0o666)
    args = ("bill", "--month", "2026-12", "--issued-on", "2027-01-02", "--out")
    answer = as_nobody("-w", open_workspace, *args, documents / "12")
    assert answer.returncode == 1
    assert "can't be made: Permission denied" in answer.stderr
    assert "The invoices of 2026-12 are issued and kept (2027/000001, 2027/000002)" in answer.stderr
    again = as_nobody("-w", open_workspace, *args, open_workspace / "12")
    assert again.returncode == 0, again.stderr
    assert len(list((open_workspace / "12").glob("fatura-2027-*.pdf"))) == 2


# -- another file in its place


def truncated(path):
    path.write_bytes(path.read_bytes()[:20_000])


def overwritten(path):
    data = bytearray(path.read_bytes())
    data[4096:] = b"\xff" * (len(data) - 4096)
    path.write_bytes(data)


def text_file(path):
    path.write_text("isto não é um banco de dados\n" * 50, encoding="utf-8")


def empty_file(path):
    path.write_bytes(b"")


def other_geopackage(path):
    path.unlink()
    gpd.GeoDataFrame({"a": [1]}, geometry=[shapely.Point(1, 2)], crs=31983).to_file(path, layer="pontos", driver="GPKG")


def newer_schema(path):
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE geobill_schema SET version = 99")
        connection.commit()


def folder_instead(path):
    path.unlink()
    path.mkdir()


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (truncated, "damaged: restore it from a copy"),
        (overwritten, "damaged: restore it from a copy"),
        (text_file, "is not a GeoPackage or it is damaged: restore it from a copy"),
        (empty_file, "is no geobill store"),
        (other_geopackage, "is no geobill store (it lacks geobill_schema): name another workspace"),
        (newer_schema, f"has schema version 99, this geobill writes version {SCHEMA_VERSION}"),
        (Path.unlink, "is not there"),
        (folder_instead, "is not there"),
    ],
)
@pytest.mark.parametrize("args", [NEW_OPERATOR, ("price", "--month", "2026-11")], ids=["write", "read"])
def test_a_file_that_is_no_store_is_refused(workspace, spoil, said, args):
    spoil(store(workspace))
    before = store(workspace).read_bytes() if store(workspace).is_file() else None
    assert said in refused(workspace, *args)
    assert before is None or store(workspace).read_bytes() == before


def test_a_store_of_another_coordinate_system_is_refused(workspace):
    settings = workspace / "geobill.toml"
    settings.write_text(settings.read_text(encoding="utf-8").replace("EPSG:31983", "EPSG:31982"), encoding="utf-8")
    said = refused(workspace, "price", "--month", "2026-11")
    assert "measures in EPSG:31983, geobill.toml says EPSG:31982" in said


def test_a_workspace_that_could_not_be_made_leaves_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr("geobill.store.gpkg.USER_VERSION", "no number (")
    with pytest.raises(Exception, match="syntax"):
        init_workspace(tmp_path / "ws", "caieiras-lei-3057-2001", NOW)
    assert list((tmp_path / "ws").iterdir()) == []


# -- one transaction, foreign keys, and a ledger that only grows


@pytest.fixture
def opened(workspace):
    return Database.open(store(workspace), 31983)


def test_an_exception_inside_of_a_write_leaves_nothing(opened):
    before = opened.path.read_bytes()

    def fail():
        with opened.write() as connection:
            Registers(connection, opened.tables).save_operator(Operator("eta", "Eta"), NOW)
            connection.execute(opened.tables.set_aside.delete())
            raise RuntimeError("power cut")

    with pytest.raises(RuntimeError, match="power cut"):
        fail()
    assert opened.path.read_bytes() == before
    assert not opened.path.with_name("cadastre.gpkg-journal").exists()


def test_nobody_else_writes_while_a_command_does(opened, monkeypatch):
    monkeypatch.setattr(database_room, "LOCK_WAIT_S", 0.1)
    with (
        opened.write(),
        pytest.raises(StoreError, match="another program is writing"),
        Database.open(opened.path, 31983).write(),
    ):
        pass


def test_foreign_keys_are_enforced(opened):
    row = {"batch": "B99999", "source_row": 1, "row_id": "x", "reason_code": "duplicate", "reason": "x"}
    row |= {"layer": "x", "layer_row": 1}
    with opened.write() as connection, pytest.raises(IntegrityError, match="FOREIGN KEY"):
        connection.execute(opened.tables.set_aside.insert().values(row))


def rows_of(opened, name):
    with opened.read() as connection:
        return connection.exec_driver_sql(f"SELECT count(*) FROM {name}").scalar()


def put_a_row(path, table):
    """Add a row of nothing, so that there is one that a guard can guard; references aren't enforced here."""
    values = {
        c.name: (b"" if c.name == "content" else "0") for c in table.columns if c.name != "fid" and not c.nullable
    }
    with closing(sqlite3.connect(path)) as connection:
        marks = ", ".join("?" * len(values))
        connection.execute(f"INSERT INTO {table.name} ({', '.join(values)}) VALUES ({marks})", tuple(values.values()))
        connection.commit()


@pytest.mark.parametrize("name", LEDGER)
@pytest.mark.parametrize("verb", ["UPDATE", "DELETE"])
def test_a_row_of_the_ledger_is_never_changed_or_removed(opened, name, verb):
    table = opened.tables.metadata.tables[name]
    if not rows_of(opened, name):
        put_a_row(opened.path, table)
    column = next(c.name for c in table.columns if c.name != "fid")
    statement = f"UPDATE {name} SET {column} = {column}" if verb == "UPDATE" else f"DELETE FROM {name}"
    for open_ledger in (opened.write, lambda: closing(sqlite3.connect(opened.path))):
        with (
            open_ledger() as connection,
            pytest.raises((IntegrityError, sqlite3.IntegrityError), match="ledger only grows"),
        ):
            (getattr(connection, "exec_driver_sql", None) or connection.execute)(statement)


def test_a_number_or_a_month_is_never_booked_twice(opened):
    invoices = opened.tables.invoices
    with opened.read() as connection:
        row = dict(connection.execute(invoices.select()).first()._mapping)
    del row["fid"]
    for changed in (
        {"month": "2031-01"},
        {"number": "2031/000001", "series_year": 2031},
        {"number": "2026/000009", "month": "2031-01"},
    ):
        with opened.write() as connection, pytest.raises(IntegrityError, match="UNIQUE"):
            connection.execute(invoices.insert().values(row | changed))
