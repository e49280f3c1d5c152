"""Why an amount is what it is: the very factors, the articles, and every metre back to a row of a delivered file."""

import re
import shutil
import sqlite3
from contextlib import closing
from decimal import Decimal
from fractions import Fraction
from hashlib import sha256

import pypdfium2
import pytest
from workspaces import bill, done, geobill, import_network, import_zones, maps, write_network, write_zones

from geobill.documents.law_text import TEXTS

D = Decimal


@pytest.fixture(scope="module")
def issued(prepared, tmp_path_factory):
    """The prepared workspace with its month billed; not to be changed."""
    folder = tmp_path_factory.mktemp("issued")
    root = shutil.copytree(prepared, folder / "ws")
    shutil.copytree(prepared.parent / "files", folder / "files")
    bill(root)
    return root


def explain(root, *more, number="2026/000001"):
    return done("explain", number, *more, workspace=root)


def invoice_of(root, operator):
    """Number of an operator's invoice, among three."""
    issued = (f"2026/{n:06d}" for n in (1, 2, 3))
    return next(i for i in issued if explain(root, number=i)["operator"]["id"] == operator)


def line_with(root, **wanted):
    """Number of the first line with these values."""
    lines = explain(root)["lines"]
    return next(n for n, line in enumerate(lines, 1) if all(line[k] == v for k, v in wanted.items()))


def product(detail):
    """What a pocket calculator makes of the factors."""
    exact = Fraction(1)
    for f in detail["factors"]:
        value = Fraction(f["value"]) if "/" not in f["value"] else Fraction(*map(D, f["value"].split("/")))
        exact = exact / value if f["name"] == "month_days" else exact * value
    return exact


def test_every_line_is_the_product_of_its_factors_and_the_sum_of_its_pieces(issued):
    whole = explain(issued)
    assert (whole["kind"], whole["asked"], whole["detail"]) == ("invoice", None, None)
    assert sum(D(line["amount"]) for line in whole["lines"]) == D(whole["total"])
    for number in range(1, len(whole["lines"]) + 1):
        detail = explain(issued, "--line", number)["detail"]
        assert product(detail) == Fraction(detail["exact"])
        assert sum(Fraction(p["share"]) for p in detail["pieces"]) == Fraction(detail["exact"])
        assert sum(D(p["length_m"]) for p in detail["pieces"]) == D(detail["line"]["length_m"])
        assert all(p["origin"] is not None for p in detail["pieces"])


def test_a_piece_leads_to_the_row_of_the_file_as_it_was_delivered(issued):
    # A2 stands from 16 November: 50 m × 0.50 m × R$ 10.50 × 3 % × 50 % × 1.00 × 15 ÷ 30
    answer = explain(issued, "--line", line_with(issued, days=15))
    detail, (piece,) = answer["detail"], answer["detail"]["pieces"]
    assert (detail["exact"], detail["line"]["amount"]) == ("1.96875", "1.97")
    origin = piece["origin"]
    assert (piece["name"], origin["file"], origin["row"], origin["differs"]) == ("A2", "alfa.geojson", 2, [])
    assert origin["sha256"] == sha256((issued.parent / "files" / "alfa.geojson").read_bytes()).hexdigest()
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", origin["imported_at"])
    edition = answer["edition"]
    assert (edition["name"], edition["rows"], edition["origin"]["file"]) == ("2026", [1], "mapa.geojson")
    assert "proration" in {use["key"] for use in detail["policy"]}  # it bears on a line of some days


def test_a_doubled_line_cites_what_doubles_it_with_its_text(issued):
    detail = explain(issued, "--line", line_with(issued, multiplier="2"))["detail"]
    assert next(f for f in detail["factors"] if f["name"] == "multiplier")["articles"] == ["10 § 2"]
    text = {a["article"]: a["text"] for a in detail["articles"]}["10 § 2"]
    assert "a prestação pecuniária mensal será cobrada em dobro" in text


def test_equipment_leads_to_its_row_too(issued):
    number = len(explain(issued, number="2026/000002")["lines"])
    detail = explain(issued, "--line", number, number="2026/000002")["detail"]
    assert detail["line"]["kind"] == "equipment"
    assert {(p["name"], p["volume_m3"], p["origin"]["row"]) for p in detail["pieces"]} == {
        ("E1", "1.5", 1),
        ("E2", "2.345", 2),
    }


def test_it_answers_from_the_archive_and_says_what_came_after(issued, tmp_path):
    root = shutil.copytree(issued, tmp_path / "ws")
    number = line_with(root, days=15)
    before = explain(root, "--line", number)
    moved = ("A1", 0.6, [(10, 10), (90, 10)]), ("A2", 0.9, [(10, 20), (30, 20)])
    import_network(root, write_network(tmp_path / "alfa.geojson", *moved), "alfa", "--replace")
    import_zones(root, write_zones(tmp_path / "novo.geojson", ("Centro", "99", 0, 0, 200, 100)), "2027", "2026-06-01")
    after = explain(root, "--line", number)
    assert after["detail"]["line"] == before["detail"]["line"]
    (piece,) = after["detail"]["pieces"]
    assert piece["origin"] == before["detail"]["pieces"][0]["origin"] | {"replaced": True}
    assert after["edition"] == before["edition"]


def test_a_row_that_is_not_there_any_more_is_said_plainly(issued, tmp_path):
    root = shutil.copytree(issued, tmp_path / "ws")
    number = line_with(root, days=15)
    with closing(sqlite3.connect(root / "cadastre.gpkg")) as connection:
        for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            connection.execute(f'DROP TRIGGER "{name}"')
        connection.execute("DELETE FROM segments WHERE segment = 'A2'")
        connection.commit()
    (piece,) = explain(root, "--line", number)["detail"]["pieces"]
    assert piece["origin"] is None
    assert piece["untraced"] == "row 2 is in the archive and in no imported file that the store keeps"
    assert "not traced" in geobill("explain", "2026/000001", "--line", number, workspace=root).out


def test_two_rows_of_one_id_are_told_apart_by_where_they_lie(prepared, tmp_path):
    root = shutil.copytree(prepared, tmp_path / "ws")
    twice = ("X", 0.5, [(20, 40), (60, 40)]), ("X", 0.5, [(20, 45), (50, 45)])
    import_network(root, write_network(tmp_path / "gama.geojson", *twice), "gama", "--replace")
    bill(root)
    number = invoice_of(root, "gama")
    detail = explain(root, "--line", 1, number=number)["detail"]
    assert {(p["length_m"], p["origin"]["row"]) for p in detail["pieces"]} == {("40.00", 1), ("30.00", 2)}


def page_text(path):
    with closing(pypdfium2.PdfDocument(path)) as pdf:
        assert len(pdf) == 1
        return " ".join(pdf[0].get_textpage().get_text_bounded().split())


def test_a_page_for_the_file_in_portuguese(issued, tmp_path):
    number = line_with(issued, multiplier="2")
    explain(issued, "--line", number, "--pdf", tmp_path / "linha.pdf")
    text = page_text(tmp_path / "linha.pdf")
    # 40 m × 0.50 m × R$ 10.50 × 3 % × 50 % × 1.00 × 2
    assert "40,00 × 0,50 × 10,50 × 0,03 × 0,50 × 1,00 × 2 × 30 ÷ 30 = 6,30" in text
    assert "será cobrada em dobro, até a cessação da irregularidade" in text
    assert "alfa.geojson" in text
    assert sha256((issued.parent / "files" / "alfa.geojson").read_bytes()).hexdigest() in text.replace(" ", "")
    explain(issued, "--pdf", tmp_path / "fatura.pdf")
    whole = page_text(tmp_path / "fatura.pdf")
    assert "As linhas que se somam" in whole
    assert "EM DOBRO, art. 10, § 2º" in whole


def test_a_line_of_many_pieces_and_long_articles_stays_on_one_page(prepared, tmp_path):
    root = shutil.copytree(prepared, tmp_path / "ws")
    many = [(f"U{n}", 0.5, [(3 * n, 2), (3 * n + 2, 2)]) for n in range(30)]
    unregistered = [(i, w, xy, {"situacao": "clandestine_unregistered"}) for i, w, xy in many]
    import_network(root, write_network(tmp_path / "gama.geojson", *unregistered), "gama", "--replace")
    bill(root)
    number = invoice_of(root, "gama")
    answer = explain(root, "--line", 1, "--pdf", tmp_path / "muitos.pdf", number=number)
    assert {"10 § 2", "12 § 3", "16"} <= set(answer["detail"]["line"]["articles"])
    assert len(answer["detail"]["pieces"]) == 30
    assert "e mais 20, no anexo da fatura" in page_text(tmp_path / "muitos.pdf")


def test_what_cannot_be_explained_is_refused(issued, tmp_path):
    for command, said in (
        (("explain", "2026/000009"), "2026/000009"),
        (("explain", "2026/000001", "--line", "99"), "no line 99"),
        (("explain", "2026/000001", "--pdf", "pagina.txt"), ".pdf"),
    ):
        answer = geobill(*command, workspace=issued)
        assert (answer.code, answer.out) == (1, "")
        assert said in answer.err
    root = shutil.copytree(issued, tmp_path / "ws")
    with closing(sqlite3.connect(root / "cadastre.gpkg")) as connection:
        for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            connection.execute(f'DROP TRIGGER "{name}"')
        connection.execute("DELETE FROM archive WHERE kind = 'policy'")
        connection.commit()
    answer = geobill("explain", "2026/000001", workspace=root)
    assert (answer.code, answer.out) == (1, "")
    assert "geobill verify 2026/000001" in answer.err


def test_a_note_is_explained_month_by_month(issued, tmp_path):
    root = shutil.copytree(issued, tmp_path / "ws")
    more = write_network(tmp_path / "mais.geojson", ("A9", 0.5, [(10, 70), (90, 70)]))
    done("import", "network", more, "--operator", "alfa", *maps("segment=id", "width=largura"), workspace=root)
    corrected = ("--month", "2026-11", "--operator", "alfa", "--reason", "trecho esquecido", "--by", "Ana")
    done("correct", *corrected, "--issued-on", "2026-12-02", workspace=root)
    answer = explain(root, "--pdf", tmp_path / "nota.pdf", number="2026/000003")
    (month,) = answer["months"]
    # 80 m × 0.50 m × R$ 10.50 × 3 % × 50 % × 1.00 more than was demanded
    assert (answer["kind"], answer["total"], month["amount"]) == ("difference", "6.30", "6.30")
    assert D(month["now"]) - D(month["before"]) == D("6.30")
    assert "Causa: trecho esquecido" in page_text(tmp_path / "nota.pdf")
    checked = done("verify", "2026/000003", workspace=root)
    assert checked["records"][0]["checked"][0] == "its months and sums computed again"


def test_the_text_of_the_law_is_the_published_one(shared):
    published = (shared / "law/caieiras-lei-3057-2001.txt").read_text(encoding="utf-8")
    lines = {line.strip() for line in published.splitlines()}
    for article, text in TEXTS["caieiras-lei-3057-2001"].items():
        assert [part for part in text.split("\n") if part not in lines] == [], article
