"""What was issued is computed again from its archive; whatever was altered behind the program's back is found and named."""

import json
import shutil
import sqlite3
import zlib
from contextlib import closing
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest
import shapely
from permit_town import grant, make_town, request, second_permit
from workspaces import bill, done, geobill

from geobill.domain.invoice import Invoice
from geobill.domain.permit import Decree, Permit, PermitFile
from geobill.domain.record import canonical_json, from_plain
from geobill.pipeline.replay import Frames, KeptDrafting, KeptMonth
from geobill.store.geometry import from_gpkg, to_gpkg
from geobill.store.workspace import open_workspace

SRID = 31983
# Records and inputs as geobill issued them before schema version 3: fewer policy keys, a statute's figures alone.
BEFORE = json.loads(Path(__file__).with_name("issued_by_schema_2.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def issued(prepared, tmp_path_factory):
    """The prepared workspace with its month billed; not to be changed."""
    root = shutil.copytree(prepared, tmp_path_factory.mktemp("issued") / "ws")
    bill(root)
    return root


@pytest.fixture
def copy(issued, tmp_path):
    return shutil.copytree(issued, tmp_path / "ws")


@pytest.fixture
def opened(copy):
    """The copy's store without its guards, as somebody with a database editor has it."""
    with closing(sqlite3.connect(copy / "cadastre.gpkg")) as connection:
        for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            connection.execute(f'DROP TRIGGER "{name}"')
        connection.commit()
        yield connection


def verify(root, *what):
    """Verify; return the exit code and the answer."""
    answer = geobill("verify", *(what or ("--all",)), "--json", workspace=root)
    return answer.code, answer.json


def found(root, code, *words, number="2026/000001"):
    """Assert that a finding of this code says all these words; return the answer, to look for others in it."""
    status, answer = (1, root) if isinstance(root, dict) else verify(root)
    said = [f["message"] for f in answer["findings"] if f["number"] == number and f["code"] == code]
    assert status == 1
    assert any(all(w in message for w in words) for message in said), answer["findings"]
    return answer


def archived(connection, role, number="2026/000001"):
    """Digest and text of an invoice's archived input."""
    (digest,) = connection.execute(
        "SELECT sha256 FROM invoice_inputs WHERE invoice = ? AND role = ?", (number, role)
    ).fetchone()
    (packed,) = connection.execute("SELECT content FROM archive WHERE sha256 = ?", (digest,)).fetchone()
    return digest, zlib.decompress(packed).decode()


def alter(connection, role, old, new, *, key=False):
    """Alter an archived text and compress it again; ``key`` gives it the SHA-256 that it has now."""
    digest, text = archived(connection, role)
    assert old in text
    changed = text.replace(old, new, 1).encode()
    connection.execute("UPDATE archive SET content = ? WHERE sha256 = ?", (zlib.compress(changed), digest))
    if key:
        connection.execute("UPDATE archive SET sha256 = ? WHERE sha256 = ?", (sha256(changed).hexdigest(), digest))
    connection.commit()


def test_what_was_issued_is_computed_and_printed_again_to_the_byte(issued):
    status, answer = verify(issued)
    assert (status, answer["sound"], answer["findings"]) == (0, True, [])
    assert [r["number"] for r in answer["records"]] == ["2026/000001", "2026/000002"]
    for record in answer["records"]:
        assert record["notes"] == []
        assert record["checked"][:2] == ["computed again to the byte", "4 document(s) with their SHA-256"]
        assert record["checked"][2].count("2026-00000") == 4


def test_one_number_alone_and_none_that_there_is_not(issued):
    assert [r["number"] for r in verify(issued, "2026/000002")[1]["records"]] == ["2026/000002"]
    answer = geobill("verify", "2026/000009", workspace=issued)
    assert (answer.code, answer.out) == (1, "")
    assert "2026/000009" in answer.err
    assert geobill("verify", workspace=issued).code == 2


@pytest.mark.parametrize("key", [False, True], ids=["digest kept", "digest altered too"])
def test_an_archived_width_is_named(copy, opened, key):
    alter(opened, "network", '"0.6"', '"0.9"', key=key)
    code = "input_missing" if key else "input_altered"
    answer = found(copy, code, "network")
    found(
        answer, "input_altered", "segment 'A1' (row 1 of alfa.geojson, batch", "width_m is '0.9' in the archive, '0.6'"
    )
    assert {f["number"] for f in answer["findings"]} == {"2026/000001"}  # beta's network is its own


@pytest.mark.parametrize("key", [False, True], ids=["digest kept", "digest altered too"])
def test_an_archived_vertex_is_named(copy, opened, key):
    _, text = archived(opened, "network")
    row = next(r for r in json.loads(text) if r[1] == "A2")
    line = shapely.from_wkb(row[-1])
    moved = shapely.transform(line, lambda xy: xy + [[0, 0], [1, 0]])
    alter(opened, "network", row[-1], moved.wkb_hex, key=key)
    answer = found(copy, "input_altered", "segment 'A2'", "vertex 2 is at", "in the archive")
    found(answer, "record_differs", "length_m: recorded 50.00, computed 51.00")


def test_a_vertex_of_the_cadastre_is_named_too(copy, opened):
    (blob,) = opened.execute("SELECT geom FROM segments WHERE segment = 'A2'").fetchone()
    moved = shapely.transform(from_gpkg(blob), lambda xy: xy + [[0, 0.5], [0, 0]])
    opened.execute("UPDATE segments SET geom = ? WHERE segment = 'A2'", (to_gpkg(moved, SRID),))
    opened.commit()
    answer = found(copy, "cadastre_differs", "segment 'A2'", "vertex 1 is at")
    assert {f["code"] for f in answer["findings"]} == {"cadastre_differs"}  # the invoice itself is as it was


def test_a_land_value_of_the_archived_map_is_named(copy, opened):
    alter(opened, "edition", '"10.50"', '"10.60"')
    answer = found(
        copy, "input_altered", "edition: zone 'Centro' (row 1 of mapa.geojson", "land_value is '10.60' in the archive"
    )
    found(answer, "input_altered", "edition: zone 'Centro'", number="2026/000002")  # both were computed from it


@pytest.mark.parametrize("key", [False, True], ids=["digest kept", "digest altered too"])
def test_a_figure_of_law_is_named(copy, opened, key):
    alter(opened, "statute", 'value = "0.03"', 'value = "0.04"', key=key)
    answer = found(copy, "input_altered", "statute: figure location_index (art. 7) is 0.04", "0.03")
    found(answer, "record_differs", "line 1, location_index: recorded 0.03, computed 0.04")


@pytest.mark.parametrize("key", [False, True], ids=["digest kept", "digest altered too"])
def test_a_policy_value_is_named(copy, opened, key):
    alter(opened, "policy", '"on_border":"lower"', '"on_border":"higher"', key=key)
    answer = found(copy, "input_altered", "policy: on_border is 'higher' in the archive, 'lower' in the record")
    found(answer, "record_differs", "policy on_border, value: recorded lower, computed higher")


def test_an_input_that_cannot_be_read_is_said_and_the_rest_is_checked(copy, opened):
    digest, _ = archived(opened, "network")
    opened.execute("UPDATE archive SET content = x'00' WHERE sha256 = ?", (digest,))
    opened.commit()
    answer = found(copy, "input_altered", "network", "can't be unpacked")
    found(answer, "not_computed", "network")


def test_the_byte_of_a_pdf_is_named(copy, opened):
    (pdf,) = opened.execute(
        "SELECT content FROM documents WHERE kind = 'fatura' AND invoice = '2026/000001'"
    ).fetchone()
    place = len(pdf) // 2
    changed = pdf[:place] + bytes([pdf[place] ^ 1]) + pdf[place + 1 :]
    update = "UPDATE documents SET content = ? WHERE kind = 'fatura' AND invoice = '2026/000001'"
    opened.execute(update, (changed,))
    opened.commit()
    byte = f"byte {place + 1} is 0x{pdf[place] ^ 1:02x}, not 0x{pdf[place]:02x}"
    found(copy, "document_altered", "fatura-2026-000001-alfa.pdf", "SHA-256", byte)
    opened.execute(update.replace("content = ?", "content = ?, sha256 = ?"), (changed, sha256(changed).hexdigest()))
    opened.commit()
    found(copy, "document_differs", "fatura-2026-000001-alfa.pdf", byte)


def test_a_paper_of_another_program_is_told_apart_from_an_altered_one(copy, opened):
    rows = opened.execute("SELECT sha256, content FROM archive WHERE kind = 'press'").fetchall()
    (pdf,) = opened.execute(
        "SELECT content FROM documents WHERE kind = 'fatura' AND invoice = '2026/000001'"
    ).fetchone()
    for digest, packed in rows:
        text = zlib.decompress(packed).decode()
        changed = json.loads(text)
        changed["press"]["typst"] = "0.1.0"
        opened.execute(
            "UPDATE archive SET content = ? WHERE sha256 = ?", (zlib.compress(json.dumps(changed).encode()), digest)
        )
    other = pdf + b"\n"
    opened.execute(
        "UPDATE documents SET content = ?, sha256 = ? WHERE kind = 'fatura' AND invoice = '2026/000001'",
        (other, sha256(other).hexdigest()),
    )
    opened.commit()
    status, answer = verify(copy, "2026/000001")
    assert (status, answer["findings"]) == (0, [])
    (note,) = answer["records"][0]["notes"]
    assert "fatura-2026-000001-alfa.pdf" in note
    assert "typst 0.1.0 → " in note


def test_the_cents_of_a_line_are_named_in_the_table_and_in_the_record(copy, opened):
    (cents,) = opened.execute(
        "SELECT amount_cents FROM invoice_lines WHERE invoice = '2026/000001' AND line = 2"
    ).fetchone()
    opened.execute(
        "UPDATE invoice_lines SET amount_cents = amount_cents + 1 WHERE invoice = '2026/000001' AND line = 2"
    )
    opened.commit()
    found(copy, "line_row_differs", f"line 2, amount_cents: {cents + 1} in the table of lines, {cents} by the record")
    (text,) = opened.execute("SELECT record FROM invoices WHERE number = '2026/000001'").fetchone()
    amount = json.loads(text)["lines"][0]["amount"]
    changed = text.replace(f'"amount":"{amount}"', '"amount":"77.77"', 1)
    opened.execute("UPDATE invoices SET record = ? WHERE number = '2026/000001'", (changed,))
    opened.commit()
    answer = found(copy, "record_altered", "something in it was altered")
    found(answer, "record_differs", f"line 1, amount: recorded 77.77, computed {amount}")


def test_columns_of_the_ledger_and_lost_numbers_are_named(copy, opened):
    opened.execute("UPDATE invoices SET due_on = '2026-12-16', total_cents = 1 WHERE number = '2026/000002'")
    for table in ("invoice_lines", "invoice_inputs", "documents"):
        opened.execute(f"DELETE FROM {table} WHERE invoice = '2026/000001'")
    opened.execute("DELETE FROM invoices WHERE number = '2026/000001'")
    opened.commit()
    answer = found(copy, "number_missing", "2026/000001")
    found(
        answer,
        "column_differs",
        "due_on is '2026-12-16' in the table, '2026-12-15' by the record",
        number="2026/000002",
    )
    found(answer, "column_differs", "total_cents is 1", number="2026/000002")


def test_later_imports_decisions_and_policy_change_nothing_that_was_issued(copy, tmp_path):
    done("policy", "set", "proration", "full_month", workspace=copy)
    done(
        *("decision", "add", "--id", "D9", "--number", "9", "--date", "2026-12-02", "--signatory", "Prefeita"),
        *("--question", "on_border", "--answer", "higher"),
        workspace=copy,
    )
    done("policy", "set", "on_border", "higher", workspace=copy)
    assert verify(copy)[0] == 0


def test_what_courts_suspend_what_is_set_off_own_templates_and_cancelled_invoices(prepared, tmp_path):
    root = shutil.copytree(prepared, tmp_path / "ws")
    order = ("--case", "1", "--court", "TJSP", "--kind", "injunction", "--effect", "accrues")
    days = ("--from", "2026-11-10", "--until", "2026-11-20")
    done("suspension", "add", "--id", "S1", *order, "--articles", "10 § 2", "--operator", "alfa", *days, workspace=root)
    done("suspension", "add", "--id", "S2", *order, "--articles", "7", "--service", "gas", *days, workspace=root)
    credit = ("--law", "Lei 1/2020", "--amount", "10.00", "--on", "2026-01-01")
    done("credit", "add", "--id", "C1", "--operator", "beta", *credit, workspace=root)
    done("policy", "set", "set_off_share", "0.5", workspace=root)
    done("templates", "copy", "fatura.typ.j2", workspace=root)
    bill(root)
    cancelled = ("--reason", "emitida por engano", "--by", "Ana")
    done("invoice", "cancel", "2026/000001", "--on", "2026-12-02", *cancelled, workspace=root)
    status, answer = verify(root)
    assert (status, answer["findings"]) == (0, [])
    assert answer["records"][0]["what"] == "alfa 2026-11 (cancelled)"
    assert all(r["notes"] == [] for r in answer["records"])
    explained = [done("explain", f"2026/00000{n}", workspace=root) for n in (1, 2)]
    assert [s["suspension"] for s in explained[0]["suspended"]] == ["S1"]
    assert [(s["credit"], s["amount"]) for s in explained[1]["set_offs"]] == [("C1", "10.00")]


def inputs_of(one):
    return {role: BEFORE["archive"][digest] for role, digest in one["inputs"].items()}


@pytest.mark.parametrize("one", BEFORE["invoices"], ids=["alfa", "beta"])
def test_an_invoice_of_an_older_geobill_is_computed_again_to_the_byte(one):
    invoice = from_plain(Invoice, json.loads(one["record"]))
    assert len(invoice.basis.policy) < 20  # younger keys aren't put into it
    kept = KeptMonth(invoice, inputs_of(one), Frames(SRID))
    made, _ = kept.invoice(kept.price(invoice.month), one["inputs"])
    assert canonical_json(made) == one["record"]


# -- decrees


@pytest.mark.parametrize("one", BEFORE["decrees"], ids=["decree", "second", "apostila"])
def test_a_decree_of_an_older_geobill_is_computed_again_to_the_byte(one, issued):
    decree = from_plain(Decree, json.loads(one["record"]))
    file = PermitFile(Permit(decree.permit, decree.draft.operator.id))
    drafting = KeptDrafting(decree, file, inputs_of(one), Frames(SRID), open_workspace(issued).settings)
    made = drafting.decree_draft(drafting.draft(file, decree.draft.price.on), one["inputs"])
    assert canonical_json(replace(decree, draft=made)) == one["record"]


@pytest.fixture(scope="module")
def town(tmp_path_factory):
    """Two decrees and an apostila, over two months billed; not to be changed."""
    root = make_town(tmp_path_factory.mktemp("town"))
    request(root)
    grant(root)
    second_permit(root)
    amended = (
        "--apostila",
        "8.001/2026-A",
        "--date",
        "2026-12-31",
        "--signatory",
        "Ana",
        "--published-on",
        "2027-01-02",
    )
    done("decree", "amend", "--number", "8.001/2026", *amended, workspace=root)
    return root


def test_decrees_and_apostilas_are_computed_and_printed_again(town):
    status, answer = verify(town)
    assert (status, answer["findings"]) == (0, [])
    kinds = {r["number"]: r["kind"] for r in answer["records"]}
    assert kinds == {"8.001/2026": "decree", "8.010/2026": "decree", "8.001/2026-A": "apostila"}
    for record in answer["records"]:
        assert record["checked"][0] == "computed again to the byte"
        assert record["checked"][2].startswith("printed again to the same bytes")
        assert record["notes"] == []


def test_a_paper_of_a_permit_that_was_added_later_changes_no_decree(town, tmp_path):
    root = shutil.copytree(town, tmp_path / "ws")
    released = ("--permit", "P1", "--on", "2027-02-01", "--reason", "revisão")
    done("permit", "remove", "--number", "P1", "--on", "2027-01-31", workspace=root)
    done("deposit", "release", *released, workspace=root)
    assert verify(root)[0] == 0


def test_an_altered_decree_is_named(town, tmp_path):
    root = shutil.copytree(town, tmp_path / "ws")
    with closing(sqlite3.connect(root / "cadastre.gpkg")) as connection:
        for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            connection.execute(f'DROP TRIGGER "{name}"')
        (text,) = connection.execute("SELECT record FROM decrees WHERE number = '8.001/2026'").fetchone()
        changed = text.replace('"total":"345.00"', '"total":"346.00"')
        connection.execute(
            "UPDATE decrees SET record = ?, digest = ?, total_cents = 34600 WHERE number = '8.001/2026'",
            (changed, sha256(changed.encode()).hexdigest()),
        )
        connection.commit()
    answer = found(root, "record_altered", "something in it was altered", number="8.001/2026")
    found(answer, "record_differs", "draft, price, total: recorded 346.00, computed 345.00", number="8.001/2026")
