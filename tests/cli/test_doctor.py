"""``geobill doctor``: things are damaged one by one, and it says so, changes nothing, and ends with 1 where there is a fault."""

import json
import re
import shutil
import sqlite3
import tomllib
import zlib
from contextlib import closing
from pathlib import Path

import pytest
from packaging.specifiers import SpecifierSet
from store.first_version import as_first_version
from workspaces import bill, geobill, make_workspace

from geobill.documents.typesetting import TEMPLATES
from geobill.pipeline import doctor as room
from geobill.store.tables import SCHEMA_VERSION

ROOT = Path(__file__).parents[2]
GRIDS = {"datum SAD69", "datum SAD69(96)", "datum Corrego Alegre 1961", "datum Corrego Alegre 1970-72"}


@pytest.fixture(scope="session")
def billed(tmp_path_factory):
    """Workspace with an issuer, its month issued; not to be changed."""
    root = make_workspace(tmp_path_factory.mktemp("doctor"))
    settings = root / "geobill.toml"
    text = settings.read_text(encoding="utf-8")
    for key, value in (
        ("cnpj", "46.523.064/0001-78"),
        ("address", "Av. Professor Carvalho Pinto, 207"),
        ("mayor", "Prefeita"),
    ):
        text = text.replace(f'{key} = ""', f'{key} = "{value}"')
    settings.write_text(text, encoding="utf-8")
    bill(root)
    return root


@pytest.fixture
def workspace(billed, tmp_path):
    return shutil.copytree(billed, tmp_path / "ws")


def store(workspace):
    return workspace / "cadastre.gpkg"


def everything(folder):
    return {p.relative_to(folder): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def examine(workspace):
    """Run the doctor; the workspace is as it was."""
    before = everything(workspace)
    answer = geobill("doctor", "--json", workspace=workspace)
    assert everything(workspace) == before
    assert "Traceback" not in answer.err
    data = json.loads(answer.out)
    assert answer.code == (1 if data["faults"] else 0)
    return data


def states(data):
    return {c["name"]: c["state"] for c in data["checks"]}


def unwell(data):
    return {c["name"]: c for c in data["checks"] if c["state"] != "ok" and c["name"] not in GRIDS}


def alter(workspace, *statements, guards=()):
    """Write to the store behind geobill's back; guards that stand in the way are put back as they were."""
    with closing(sqlite3.connect(store(workspace), isolation_level=None)) as connection:
        written = [
            connection.execute("SELECT sql FROM sqlite_master WHERE name = ?", (g,)).fetchone()[0] for g in guards
        ]
        for guard in guards:
            connection.execute(f"DROP TRIGGER {guard}")
        for statement in statements:
            connection.execute(*([statement] if isinstance(statement, str) else statement))
        for sql in written:
            connection.execute(sql)


# -- the machine


def test_a_sound_workspace_has_no_fault(workspace):
    data = examine(workspace)
    assert unwell(data) == {}
    assert data["faults"] == 0
    assert {"Python", "packages", "fonts", "PDF/A", "integrity", "references", "ledger guards", "invoice numbers", "records",
            "documents", "archive", "papers", "locks", "leftovers", "free space", "write access", "settings", "issuer",
            "schema version", "GeoPackage", "coordinate system"} - set(states(data)) == {"issuer"}  # fmt: skip
    assert {"geobill", "Python", "GDAL", "GEOS", "PROJ", "SQLite", "typst"} <= set(data["versions"])


def test_a_person_reads_what_to_do(workspace):
    store(workspace).unlink()
    answer = geobill("doctor", workspace=workspace)
    assert answer.code == 1
    assert "FAULT    store: cadastre.gpkg is not there\n         → Name your workspace with -w DIR" in answer.out
    assert "1 faults" in answer.out
    assert "nothing was changed." in answer.out


def test_without_a_workspace_the_machine_is_looked_at(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GEOBILL_WORKSPACE", raising=False)
    answer = geobill("doctor", "--json")
    assert answer.code == 0
    assert answer.json["workspace"] is None
    assert "settings" not in states(answer.json)
    assert list(tmp_path.iterdir()) == []


def test_the_workspace_that_stands_here_is_looked_at(workspace, monkeypatch):
    monkeypatch.chdir(workspace)
    monkeypatch.delenv("GEOBILL_WORKSPACE", raising=False)
    assert "integrity" in states(geobill("doctor", "--json").json)


def test_the_grids_that_are_missing_are_named_with_what_they_would_give():
    checks = {c.name: c for c in room._grids(room.CAIEIRAS)}
    assert set(checks) == GRIDS
    sad = checks["datum SAD69"]
    if sad.state == "ok":
        pytest.skip("IBGE's grids are installed here")
    assert sad.message == "true to 5 m; with the grid br_ibge_SAD69_003.tif it would be 1 m"
    assert "ask for the file in EPSG:31983" in sad.fix


@pytest.mark.parametrize(
    ("requires", "said"),
    [
        ("shapely<2", "shapely is 2."),
        ("a-package-that-is-not-there>=1", "a-package-that-is-not-there is missing, it takes >=1"),
    ],
)
def test_a_package_outside_of_its_range_is_a_fault(requires, said):
    (check,) = room._packages(
        [requires, "typer>=0.1", 'never-asked-for; python_version < "3"', 'developers-only; extra == "dev"']
    )
    assert (check.state, "never" in check.message, "developers" in check.message) == ("fault", False, False)
    assert said in check.message


def test_the_pythons_are_those_of_the_project():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert SpecifierSet(project["requires-python"]) == room.PYTHONS


def test_a_python_that_is_too_new_is_a_fault(monkeypatch):
    monkeypatch.setattr(room.platform, "python_version", lambda: "3.14.0")
    assert [c.state for c in room._python()] == ["fault"]


def test_the_fonts_are_those_that_the_templates_name(monkeypatch):
    typeset = [*TEMPLATES.glob("*.typ.j2"), TEMPLATES / "mapa.svg.j2"]  # pages for a browser name what it may have
    named = {f for p in typeset for f in re.findall(r'font(?:-family)?[:=] ?"([^"]+)"', p.read_text("utf-8"))}
    assert named == set(room.FONTS)
    monkeypatch.setattr(room, "FONTS", ("Comic Sans",))
    assert [(c.name, c.state) for c in room._fonts()] == [("fonts", "fault"), ("PDF/A", "ok")]


def test_a_document_that_cannot_be_made_is_a_fault(monkeypatch):
    monkeypatch.setattr(room, "PROBE", "= Sem título")
    assert [(c.name, c.state) for c in room._fonts()] == [("fonts", "ok"), ("PDF/A", "fault")]


def test_a_temporary_folder_that_is_gone_is_a_fault(monkeypatch, tmp_path):
    monkeypatch.setattr(room.tempfile, "tempdir", str(tmp_path / "gone"))
    assert [c.state for c in room._temporary()] == ["fault"]


# -- the workspace, damaged


def test_no_workspace(tmp_path):
    assert "it has no geobill.toml" in unwell(examine(tmp_path))["settings"]["message"]


def test_settings_that_cannot_be_read(workspace):
    (workspace / "geobill.toml").write_text("isto = não é toml", encoding="utf-8")
    assert "can't be read" in unwell(examine(workspace))["settings"]["message"]


def test_an_issuer_without_a_name_to_print(workspace):
    settings = workspace / "geobill.toml"
    settings.write_text(settings.read_text(encoding="utf-8").replace('"46.523.064/0001-78"', '""'), encoding="utf-8")
    data = examine(workspace)
    assert unwell(data)["issuer"]["message"].startswith("cnpj blank")
    assert data["faults"] == 0


def test_an_older_version_is_a_warning_and_is_not_migrated(billed, tmp_path):
    data = examine(as_first_version(billed, tmp_path / "old"))
    assert set(unwell(data)) == {"schema version"}
    assert "copies the store beside itself and migrates it" in unwell(data)["schema version"]["message"]


def test_a_newer_version_is_a_fault(workspace):
    alter(workspace, "UPDATE geobill_schema SET version = 99")
    data = examine(workspace)
    assert unwell(data)["schema version"]["message"] == f"99, and this geobill knows up to {SCHEMA_VERSION}"
    assert data["faults"] == 1


@pytest.mark.parametrize(
    "content", [b"", b"um texto\n" * 500, b"SQLite format 3\0" + b"\xff" * 8000], ids=["empty", "text", "rubbish"]
)
def test_a_file_that_is_no_store(workspace, content):
    store(workspace).write_bytes(content)
    assert examine(workspace)["faults"] == 1


def test_a_damaged_page(workspace):
    data = bytearray(store(workspace).read_bytes())
    page = int.from_bytes(data[16:18], "big")
    with closing(sqlite3.connect(store(workspace))) as connection:
        root = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'documents'").fetchone()[0]
    data[(root - 1) * page : (root - 1) * page + 100] = b"\xff" * 100
    store(workspace).write_bytes(data)
    found = unwell(examine(workspace))
    assert found["integrity"]["state"] == "fault"
    assert (
        "SQLite finds the file damaged" in found["integrity"]["message"] or "malformed" in found["integrity"]["message"]
    )
    assert found["documents"]["state"] == "fault"


def test_loose_references(workspace):
    alter(workspace, "UPDATE segments SET batch = 'B99999' WHERE segment = 'A1'")
    assert (
        "1 rows point to rows that aren't there: segments → batches"
        in unwell(examine(workspace))["references"]["message"]
    )


@pytest.mark.parametrize(
    "statement",
    [
        "DROP TRIGGER invoices_no_update",
        "DROP TRIGGER month_checks_no_delete",
        "CREATE TRIGGER x AFTER INSERT ON batches BEGIN SELECT 1; END",
    ],
)
def test_the_ledgers_guards(workspace, statement):
    alter(workspace, statement)
    found = unwell(examine(workspace))
    assert set(found) == (set() if "CREATE" in statement else {"ledger guards"})


def test_a_guard_that_guards_nothing(workspace):
    alter(
        workspace,
        "DROP TRIGGER invoices_no_update",
        "CREATE TRIGGER invoices_no_update BEFORE UPDATE ON invoices BEGIN SELECT 1; END",
    )
    assert "invoices_no_update are missing or changed" in unwell(examine(workspace))["ledger guards"]["message"]


def test_a_table_that_is_gone(workspace):
    alter(workspace, "DROP TABLE set_aside", "ALTER TABLE operators DROP COLUMN email")
    found = unwell(examine(workspace))["tables"]["message"]
    assert found == "the store lacks table set_aside, column operators.email, index ix_set_aside_batch"


def test_an_index_of_qgis_is_nothing_to_worry_about(workspace):
    alter(workspace, "CREATE VIRTUAL TABLE rtree_segments_geom USING rtree(id, minx, maxx, miny, maxy)")
    assert unwell(examine(workspace)) == {}


BOTH = ("invoices_no_update", "invoices_no_delete")
ALL = (
    *BOTH,
    *(f"{t}_no_{v}" for t in ("invoice_lines", "invoice_inputs", "documents", "archive") for v in ("update", "delete")),
)


def test_a_gap_in_the_numbers(workspace):
    gone = "2026/000001"
    alter(
        workspace,
        *((f"DELETE FROM {t} WHERE invoice = ?", (gone,)) for t in ("invoice_lines", "invoice_inputs", "documents")),
        ("DELETE FROM invoices WHERE number = ?", (gone,)),
        guards=ALL,
    )
    found = unwell(examine(workspace))
    assert set(found) == {"invoice numbers"}
    assert "gaps, at 2026/000001" in found["invoice numbers"]["message"]


def test_numbers_against_their_days(workspace):
    bill(workspace, month="2026-12", issued_on="2026-12-31")
    alter(
        workspace,
        "UPDATE invoices SET issued_on = '2026-11-01' WHERE sequence = 3",
        "UPDATE invoices SET due_on = '2026-01-01' WHERE sequence = 4",
        guards=BOTH,
    )
    said = [(c["name"], c["state"], c["message"]) for c in examine(workspace)["checks"] if c["name"] == "invoice dates"]
    assert said == [
        ("invoice dates", "fault", "number, year and dates don't agree: 2026/000004"),
        ("invoice dates", "warning", "issued on an earlier day than the number before it: 2026/000003"),
    ]


@pytest.mark.parametrize(
    ("statement", "check"),
    [
        ("UPDATE invoices SET total_cents = total_cents + 1 WHERE sequence = 1", "records"),
        ("UPDATE invoices SET record = replace(record, 'Alfa', 'Beta') WHERE sequence = 1", "records"),
        ("UPDATE invoices SET digest = upper(digest) WHERE sequence = 1", "records"),
        ("UPDATE invoices SET record = 'x' WHERE sequence = 1", "records"),
        ("UPDATE invoices SET month = '2026-10' WHERE sequence = 1", "records"),
        ("UPDATE invoice_lines SET amount_cents = amount_cents + 1 WHERE fid = 1", "records"),
        ("DELETE FROM invoice_lines WHERE fid = 1", "records"),
        ("UPDATE documents SET content = substr(content, 1, 100) WHERE fid = 1", "documents"),
        ("UPDATE documents SET sha256 = lower(hex(randomblob(32))) WHERE fid = 1", "documents"),
        (("UPDATE archive SET content = ? WHERE fid = 1", (zlib.compress(b"outro"),)), "archive"),
        ("UPDATE archive SET content = x'00' WHERE fid = 2", "archive"),
    ],
)
def test_what_was_issued_was_changed(workspace, statement, check):
    alter(workspace, statement, guards=ALL)
    found = unwell(examine(workspace))
    assert {n for n in found if n != "papers"} == {check}
    assert found[check]["state"] == "fault"
    assert "Restore the workspace from a copy" in found[check]["fix"]


def test_a_decree_that_was_changed(workspace):
    alter(
        workspace,
        "INSERT INTO permits (number, operator, process, service, project, recorded_at) VALUES ('P1', 'alfa', '', '', '', '')",
        "INSERT INTO decrees (number, permit, date, signatory, published_on, total_cents, digest, record, recorded_at)"
        " VALUES ('D9', 'P1', '2026-11-01', 'Prefeita', '2026-11-02', 0, 'ab', '{}', '')",
    )
    assert "decree D9" in unwell(examine(workspace))["records"]["message"]


def test_a_paper_that_was_changed(workspace):
    paper = next((workspace / "documents").rglob("anexo-*.csv"))
    paper.write_bytes(paper.read_bytes() + b"1;2;3\n")
    found = unwell(examine(workspace))
    assert set(found) == {"papers"}
    assert paper.name in found["papers"]["message"]
    bill(workspace)
    assert unwell(examine(workspace)) == {}


def test_half_files(workspace):
    (workspace / "documents" / "2026-11" / ".fatura.pdf.17.part").write_bytes(b"%PDF")
    (workspace / ".cadastre.v1-20261130T120000Z.gpkg.part").write_bytes(b"SQLite")
    found = unwell(examine(workspace))
    assert set(found) == {"leftovers"}
    assert ".fatura.pdf.17.part" in found["leftovers"]["message"]
    assert ".cadastre.v1-20261130T120000Z.gpkg.part" in found["leftovers"]["message"]


@pytest.mark.parametrize("lock", ["BEGIN IMMEDIATE", "BEGIN EXCLUSIVE"])
def test_another_program_writes(workspace, lock):
    with closing(sqlite3.connect(store(workspace), isolation_level=None)) as other:
        other.execute(lock)
        found = unwell(examine_locked(workspace))
    assert found["locks"]["message"] == "another program is writing to the store"


def examine_locked(workspace):
    return json.loads(geobill("doctor", "--json", workspace=workspace).out)


def test_a_command_that_was_cut_off_left_its_journal(workspace):
    copy = workspace / "copy.gpkg"
    with closing(sqlite3.connect(store(workspace), isolation_level=None)) as other:
        other.execute("PRAGMA cache_size = 5")
        other.execute("BEGIN")
        other.execute("CREATE TABLE x AS SELECT * FROM segments, segments s, segments t")
        shutil.copy(store(workspace), copy)
        shutil.copy(store(workspace).with_name("cadastre.gpkg-journal"), workspace / "copy.gpkg-journal")
    copy.replace(store(workspace))
    (workspace / "copy.gpkg-journal").replace(workspace / "cadastre.gpkg-journal")
    data = examine(workspace)
    assert "a command is writing now, or one was cut off" in unwell(data)["locks"]["message"]
    assert data["faults"] == 1


def test_qgis_has_it_open_or_left_its_log(workspace):
    with closing(sqlite3.connect(store(workspace), isolation_level=None)) as qgis:
        qgis.execute("PRAGMA journal_mode = WAL")
        qgis.execute("UPDATE operators SET email = 'x@example.com'")
        found = unwell(examine_locked(workspace))
    assert set(found) == {"locks"}
    assert found["locks"]["state"] == "warning"
    assert unwell(examine(workspace)) == {}, "closed again: only the mode in the header is left"


def test_what_qgis_would_not_see(workspace):
    alter(workspace, "DELETE FROM gpkg_contents WHERE table_name = 'invoices'", "PRAGMA application_id = 0")
    found = unwell(examine(workspace))
    assert found["GeoPackage"]["state"] == "warning"
    assert "application_id is 0, invoices isn't listed in gpkg_contents" in found["GeoPackage"]["message"]


def test_geometry_of_another_system(workspace):
    alter(
        workspace,
        "UPDATE segments SET geom = CAST(substr(geom, 1, 4) || x'EE7C0000' || substr(geom, 9) AS BLOB) WHERE segment = 'A1'",
    )
    found = unwell(examine(workspace))
    assert set(found) == {"coordinate system"}
    assert "segments has geometry in EPSG:31982" in found["coordinate system"]["message"]


def test_geometry_that_is_none(workspace):
    alter(workspace, "UPDATE segments SET geom = '' WHERE segment = 'A1'")
    assert "can't be read" in unwell(examine(workspace))["systems"]["message"]


def test_a_settings_file_of_another_system(workspace):
    settings = workspace / "geobill.toml"
    settings.write_text(settings.read_text(encoding="utf-8").replace("EPSG:31983", "EPSG:31982"), encoding="utf-8")
    found = unwell(examine(workspace))
    assert "the settings say EPSG:31982" in found["coordinate system"]["message"]


def test_a_disk_that_is_nearly_full(workspace, monkeypatch):
    monkeypatch.setattr(room, "ROOM_MB", 10**9)
    found = unwell(examine(workspace))
    assert (set(found), found["free space"]["state"]) == ({"free space"}, "warning")
