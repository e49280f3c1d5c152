"""Decisions typed in QGIS: checked as the page checks them, taken once, and never written over somebody else's."""

import hashlib
import shutil
import sqlite3
from contextlib import closing
from dataclasses import replace
from datetime import date
from decimal import Decimal

import geopandas as gpd
import pytest
from field_town import NOW, field_town
from workspaces import geobill

from geobill.domain.detection import IN_CASE, UPHELD, FindingAct
from geobill.errors import InputError
from geobill.intake import case_rows
from geobill.pipeline import review
from geobill.pipeline.case_sync import find_pending, sync_cases
from geobill.pipeline.findings_out import check_target, write_review
from geobill.store.finding_queue import Query
from geobill.store.geometry import register_functions
from geobill.store.surveys import SurveyRegister
from geobill.store.workspace import open_workspace

A, B, C, D, E = (f"V00001-{n:05d}" for n in range(1, 6))
LATER = "2026-12-01T09:00:00Z"
ON = date(2026, 11, 30)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sync")
    root = field_town(folder, more=7)
    write_review(open_workspace(root), root / "revisao.gpkg", ON)
    return root


@pytest.fixture
def town(made, tmp_path):
    """A workspace with its file for QGIS, of this test alone."""
    return open_workspace(shutil.copytree(made, tmp_path / "town"))


@pytest.fixture
def path(town):
    return town.root / "revisao.gpkg"


def run_sql(path, *statements):
    with closing(sqlite3.connect(path)) as database:
        register_functions(database)
        for sql, *values in statements:
            database.execute(sql, values)
        database.commit()


def typed(path, finding, **values):
    """Type into a finding's row, as QGIS saves it."""
    sets = ", ".join(f"{column} = ?" for column in values)
    run_sql(path, (f"UPDATE cases SET {sets} WHERE achado = ?", *values.values(), finding))


def sync(town, path, **more):
    return sync_cases(town, path, **{"by": "Ana Lima", "now": LATER, **more})


def acts_of(town, finding):
    file = review.look_at(town, finding).file
    return [(a.kind, a.by, a.note, a.other) for a in file.acts]


def count_acts(town):
    return len(review.load_audit(town, limit=10_000))


def decide(town, finding, kind=UPHELD, note="", seen=0):
    review.decide(town, {finding: seen}, kind, by="Caio Prado", note=note, now=NOW)


# -- what comes back


def test_decisions_owners_and_notes_come_back_at_once(town, path):
    typed(path, A, decisao="procede")
    typed(path, B, decisao="não procede", motivo="É da prefeitura", responsavel="Bia Reis", nota="ver <b>poste</b> 7")
    typed(path, D, operadora="alfa", decisao="procede", motivo="placa da Alfa")
    before = hashlib.sha256(path.read_bytes()).hexdigest()
    synced = sync(town, path)
    assert (synced.read, synced.typed, len(synced.done), synced.conflicts, synced.already) == (10, 3, 3, (), ())
    assert synced.sha256 == before == hashlib.sha256(path.read_bytes()).hexdigest()
    assert acts_of(town, A) == [("upheld", "Ana Lima", "", None)]
    who = "Bia Reis (trazido por Ana Lima)"
    assert acts_of(town, B) == [("dismissed", who, "É da prefeitura", None), ("noted", who, "ver <b>poste</b> 7", None)]
    assert acts_of(town, D) == [
        ("attributed", "Ana Lima", "placa da Alfa", "alfa"),
        ("upheld", "Ana Lima", "placa da Alfa", None),
    ]
    said = {t.finding: (t.state, t.version, t.operator) for t in synced.done}
    assert said == {A: ("upheld", 1, "alfa"), B: ("dismissed", 1, "alfa"), D: ("upheld", 2, "alfa")}
    assert review.look_at(town, D).file.state == "upheld"


def test_what_was_compared_anew_since_is_named_and_left(town, path):
    typed(path, A, decisao="procede")
    with town.database.write() as connection:
        register = SurveyRegister(connection, town.database.tables, town.database.srid)
        survey = replace(register.load_surveys()["V00001"], id="V00002")
        register.save(survey, register.load_lines("V00001"), register.load_equipment("V00001"), [], [], NOW)
        register.replace("V00001", "V00002", "Rui", NOW)
    before = count_acts(town)
    synced = sync(town, path)
    assert (synced.done, count_acts(town)) == ((), before)
    assert [c.what for _, c in synced.conflicts] == ["replaced"]


def test_the_same_file_twice_does_nothing_twice(town, path):
    typed(path, A, decisao="procede")
    typed(path, B, decisao="não procede", motivo="É da prefeitura", nota="ver")
    sync(town, path)
    before = count_acts(town)
    again = sync(town, path, by="Beto Nunes")
    assert (again.done, again.conflicts, set(again.already)) == ((), (), {A, B})
    assert count_acts(town) == before == 3


def test_what_was_brought_and_then_changed_by_another_stays_changed(town, path):
    typed(path, A, decisao="procede")
    sync(town, path)
    decide(town, A, "dismissed", "engano", seen=1)
    again = sync(town, path)
    assert (again.done, again.conflicts, again.already) == ((), (), (A,))
    assert review.look_at(town, A).file.state == "dismissed"


def test_a_dry_run_says_what_would_be_and_keeps_nothing(town, path):
    typed(path, A, decisao="procede")
    assert [(t.finding, t.acts, t.state) for t in sync(town, path, dry_run=True).done] == [(A, ("upheld",), "upheld")]
    assert count_acts(town) == 0
    assert find_pending(town, path) == (A,)


def test_somebody_elses_decision_is_named_and_left(town, path):
    typed(path, A, decisao="não procede", motivo="não é rede", nota="fica")
    typed(path, B, decisao="procede")
    decide(town, A)
    synced = sync(town, path)
    assert [t.finding for t in synced.done] == [B]
    ((row, conflict),) = synced.conflicts
    assert (row, conflict.subject, conflict.what, conflict.by, conflict.at) == (1, A, "upheld", "Caio Prado", NOW)
    assert acts_of(town, A) == [("upheld", "Caio Prado", "", None)]


def test_the_same_decision_by_somebody_else_is_no_conflict(town, path):
    typed(path, A, decisao="procede")
    decide(town, A)
    synced = sync(town, path)
    assert (synced.done, synced.conflicts, synced.already) == ((), (), (A,))


def test_a_decision_is_taken_however_it_is_typed(town, path):
    typed(path, A, decisao="  Procede ")
    typed(path, B, decisao="NÃO  PROCEDE", motivo="sombra")
    assert {t.finding: t.state for t in sync(town, path).done} == {A: "upheld", B: "dismissed"}


def test_a_decision_is_taken_back(town, path):
    decide(town, A)
    path.unlink()
    write_review(town, path, ON)
    typed(path, A, decisao="desfazer", motivo="foto trocada")
    assert [t.state for t in sync(town, path).done] == ["suspected"]
    assert acts_of(town, A)[-1] == ("undone", "Ana Lima", "foto trocada", None)
    assert sync(town, path).already == (A,)


@pytest.mark.parametrize(
    ("finding", "values", "said"),
    [
        (A, {"decisao": "talvez"}, r"row 1 \('V00001-00001'\), column decisao 'talvez': it can only be procede, não procede"),
        (A, {"decisao": "Procede; DROP TABLE findings"}, "column decisao 'Procede; DROP TABLE findings'"),
        (B, {"decisao": "não procede", "motivo": "  "}, r"row 2 \('V00001-00002'\), column motivo '': 'não procede' says why"),
        (A, {"decisao": "talvez", "motivo": "porque sim"}, r"desfazer\. Nothing was changed"),
        (A, {"motivo": "porque sim"}, "column motivo 'porque sim': a reason without a decision"),
        (A, {"decisao": "desfazer"}, "column decisao 'desfazer': nothing was decided"),
        (A, {"operadora": "gama"}, r"column operadora 'gama': no such operator \(known: alfa, beta\)"),
        (A, {"operadora": None}, "column operadora '': 'alfa' can be changed, and not taken away"),
        (A, {"decisao": "procede", "versao": 7}, "column versao '7': it isn't the version"),
        (A, {"decisao": "procede", "versao": None}, "column versao 'None'"),
        (A, {"decisao": "procede", "versao": -1}, "column versao '-1'"),
        (A, {"decisao": "procede", "achado": "V00009-00001"}, "row 1, column achado 'V00009-00001': there is no such finding"),
        (A, {"decisao": "procede", "achado": None}, "row 1, column achado '': the row names no finding"),
        (A, {"decisao": "procede", "achado": B}, None),
        (A, {"decisao": "procede", "responsavel": "x" * 130}, "column responsavel 'x+…': no name"),
        (A, {"nota": "um\x07dois"}, "column nota .*characters that can't be seen"),
        (A, {"nota": "x" * 5000}, "column nota .*too many of them"),
    ],
)  # fmt: skip
def test_a_row_that_cannot_be_is_named_and_nothing_is_changed(town, path, finding, values, said):
    typed(path, E, decisao="procede")
    if said is None:
        typed(path, B, decisao="procede")
        said = f"column achado '{B}': the finding stands in row [12] too"
    typed(path, finding, **values)
    with pytest.raises(InputError, match=said) as refused:
        sync(town, path)
    assert "Nothing was changed" in str(refused.value)
    assert count_acts(town) == 0


def test_many_faults_are_counted(town, path):
    run_sql(path, ("UPDATE cases SET decisao = 'sim'",))
    run_sql(path, ("INSERT INTO cases (achado, versao, decisao) SELECT 'X' || fid, 0, 'procede' FROM cases",))
    with pytest.raises(InputError, match="; and 10 more"):
        sync(town, path)


def test_what_is_in_a_case_is_decided_there(town, path):
    with town.database.write() as connection:
        register = SurveyRegister(connection, town.database.tables, town.database.srid)
        register.save_acts([FindingAct(A, IN_CASE, "Caio", other="2026-001")], {A: 0}, NOW)
    typed(path, A, decisao="procede")
    assert [c.what for _, c in sync(town, path).conflicts] == ["in_case"]
    typed(path, A, versao=1)
    with pytest.raises(InputError, match="column decisao 'procede': it is in the case 2026-001"):
        sync(town, path)


def test_whose_it_is_now_sets_its_price(town, path):
    with town.database.write() as connection:
        register = SurveyRegister(connection, town.database.tables, town.database.srid)
        register.save_amounts({D: None})
    assert review.look_at(town, D).file.finding.month_amount is None
    typed(path, D, operadora="beta")
    sync(town, path, dry_run=True)
    assert review.look_at(town, D).file.finding.month_amount is None
    sync(town, path)
    # 5 m × 0.50 m × R$ 200 × 3 % × 50 %
    assert review.look_at(town, D).file.finding.month_amount == Decimal("7.50")
    priced = Query(operator="beta", min_amount=Decimal(7))
    assert D in [row.finding.id for row in review.list_findings(town, priced).rows]


def test_text_is_only_text(town, path):
    note = "'); DELETE FROM findings; -- <script>alert(1)</script> {{ 7*7 }} =cmd()"
    typed(path, A, decisao="procede", motivo=note, nota=note)
    sync(town, path)
    assert [a[2] for a in acts_of(town, A)] == [note, note]


# -- whose file it is


def test_a_view_is_refused(town, path):
    run_sql(
        path,
        ("ALTER TABLE cases RENAME TO theirs",),
        ("CREATE VIEW cases AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i AS fid, * FROM n, theirs",),
    )  # fmt: skip
    with pytest.raises(InputError, match="is a view"):
        sync(town, path)


@pytest.mark.parametrize("column", ["achado", "versao", "operadora_lida"])
def test_a_lost_column_is_named(town, path, column):
    typed(path, A, decisao="procede")
    run_sql(path, (f"ALTER TABLE cases RENAME COLUMN {column} TO outra",))
    with pytest.raises(InputError, match=rf"lacks the column\(s\) {column}"):
        sync(town, path)


def test_a_column_of_another_type_is_named(town, path):
    run_sql(path, ("ALTER TABLE cases DROP COLUMN decisao",), ("ALTER TABLE cases ADD COLUMN decisao INTEGER",))
    with pytest.raises(InputError, match=r"column\(s\) decisao .* hold no text"):
        sync(town, path)


def test_files_that_are_something_else_are_refused(town, path, tmp_path):
    other = tmp_path / "cases.geojson"
    gpd.read_file(path, layer="cases").to_file(other, layer="cases")
    for one, said in ((other, "no layer cases that geobill wrote"), (town.database.path, r"lacks the column\(s\)"),
                      (tmp_path / "not.gpkg", "not.gpkg"), (town.root / "geobill.toml", "geobill.toml")):  # fmt: skip
        with pytest.raises(InputError, match=said):
            sync(town, one)
    cut = tmp_path / "cut.gpkg"
    cut.write_bytes(path.read_bytes()[:50_000])
    with pytest.raises(InputError, match=r"cut\.gpkg"):
        sync(town, cut)


def test_triggers_and_extra_columns_of_theirs_do_nothing(town, path):
    run_sql(
        path,
        ("ALTER TABLE cases ADD COLUMN minha TEXT DEFAULT 'x'",),
        ("CREATE TRIGGER theirs AFTER UPDATE ON cases BEGIN UPDATE cases SET nota = 'y' WHERE achado = 'none'; END",),
    )
    typed(path, A, decisao="procede")
    before = path.read_bytes()
    assert len(sync(town, path).done) == 1
    assert path.read_bytes() == before


def test_a_long_layer_is_read_in_parts_and_an_endless_one_refused(town, path, monkeypatch):
    run_sql(
        path,
        ("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 150000) INSERT INTO cases (achado, versao) "
         "SELECT 'X' || i, 0 FROM n",),
    )  # fmt: skip
    typed(path, A, decisao="procede")
    synced = sync(town, path, dry_run=True)
    assert (synced.read, synced.typed) == (150_010, 1)
    monkeypatch.setattr(case_rows, "MOST_ROWS", 100_000)
    with pytest.raises(InputError, match="over 100000 rows"):
        sync(town, path)


# -- written anew


def test_a_file_with_decisions_that_wait_is_not_written_over(town, path):
    typed(path, A, decisao="procede")
    before = path.read_bytes()
    with pytest.raises(
        InputError, match=r"aren't on record yet \(V00001-00001\).*case sync.*names a conflict, empty that row"
    ):
        write_review(town, path, ON)
    assert path.read_bytes() == before
    sync(town, path)
    write_review(town, path, ON)
    row = gpd.read_file(path, layer="cases").set_index("achado").loc[A]
    assert (row["situacao"], row["versao"], row["decisao"]) == ("upheld", 1, None)


def test_a_file_of_somebody_else_or_open_in_qgis_is_not_written_over(town, path):
    other = town.root / "x.gpkg"
    other.write_text("not a map")
    for one in (other, town.database.path):
        with pytest.raises(InputError, match="is there already and is no file of findings"):
            check_target(town, one)
    path.with_name("revisao.gpkg-wal").write_bytes(b"x")
    with pytest.raises(InputError, match="open in QGIS"):
        check_target(town, path)
    for name, said in (("a.shp", "must end in .gpkg"), ("nowhere/a.gpkg", "isn't there")):
        with pytest.raises(InputError, match=said):
            check_target(town, town.root / name)


# -- the command


def test_the_command_says_what_it_did(town, path):
    typed(path, A, decisao="procede")
    typed(path, B, decisao="procede")
    decide(town, B, "dismissed", "engano")
    tried = geobill("case", "sync", path, "--by", "Ana Lima", "--dry-run", "--json", workspace=town.root)
    assert (tried.code, tried.json["dry_run"], len(tried.json["done"]), count_acts(town)) == (0, True, 1, 1)
    done = geobill("case", "sync", path, "--by", "Ana Lima", "--json", workspace=town.root)
    assert (done.code, done.json["read"], done.json["typed"], done.json["already"]) == (0, 10, 2, [])
    assert done.json["done"] == [
        {
            "finding": A,
            "row": 1,
            "by": "Ana Lima",
            "acts": ["upheld"],
            "state": "upheld",
            "version": 1,
            "operator": "alfa",
        }
    ]
    assert [(c["finding"], c["row"], c["by"]) for c in done.json["conflicts"]] == [(B, 2, "Caio Prado")]
    said = geobill("case", "sync", path, "--by", "Ana Lima", workspace=town.root)
    assert "1 on record already, 1 changed by somebody else" in said.out
    assert geobill("case", "sync", path, "--by", " ", workspace=town.root).code == 1
