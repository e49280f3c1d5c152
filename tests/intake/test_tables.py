"""Tables as maps: CSV and workbooks, and what a column tells about its values."""

import zipfile
from dataclasses import replace
from datetime import date, datetime
from decimal import Decimal

import pandas as pd
import pytest
import shapely
import xlsxwriter
from pyproj import CRS

from geobill.errors import InputError
from geobill.intake.columns import cut_columns, matching_columns, resolve_columns
from geobill.intake.formats import workbook_parts
from geobill.intake.reader import read_layer, read_layers
from geobill.intake.value_columns import read_dates, read_ids, read_numbers, without_absent

WKT = "LINESTRING (322000 7416000, 322060 7416000)"


@pytest.fixture
def csv(tmp_path):
    def write(text, encoding="utf-8", name="rede.csv"):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode(encoding))
        return path

    return write


@pytest.fixture
def xlsx(tmp_path):
    """Write a workbook: for each sheet a list of rows, or a function that draws on the sheet; returns its path."""

    def write(name="rede.xlsx", **sheets):
        path = tmp_path / name
        with xlsxwriter.Workbook(path, {"default_date_format": "dd/mm/yyyy"}) as book:
            for title, content in sheets.items():
                sheet = book.add_worksheet(title)
                if callable(content):
                    content(sheet)
                    continue
                for at, row in enumerate(content):
                    for column, value in enumerate(row):
                        if isinstance(value, str):
                            sheet.write_string(at, column, value)
                        elif value is not None:
                            sheet.write(at, column, value)
        return path

    return write


def codes(layer):
    return [f.code for f in layer.findings]


def said(layer, code):
    (found,) = [f for f in layer.findings if f.code == code]
    return found


# -- CSV


@pytest.mark.parametrize("separator", [";", ",", "\t", "|"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "cp1252", "cp850"])
def test_separators_and_encodings(csv, separator, encoding):
    rows = [
        ["id", "rua", "largura", "geom"],
        ["007", "Rua São João", '"0,50"', f'"{WKT}"'],
        ["008", '"A ""x"""', "", ""],
    ]
    layer = read_layer(csv("\r\n".join(separator.join(r) for r in rows) + "\r\n\r\n", encoding))
    assert layer.frame["id"].tolist() == ["007", "008"]
    assert layer.frame["rua"].tolist() == ["Rua São João", 'A "x"']
    assert layer.frame["largura"].iloc[0] == "0,50"
    assert layer.frame.geometry.iloc[0].equals(shapely.from_wkt(WKT))
    assert layer.frame.geometry.isna().tolist() == [False, True]
    assert layer.crs is None
    assert "4 columns between" in said(layer, "table_form").message


def test_what_excel_writes(csv):
    layer = read_layer(csv("sep=;\r\nid;larg;\r\n1;0,5;\r\n2;0,7;\r\n;;\r\n"))
    assert layer.frame.drop(columns="geometry").to_dict("list") == {"id": ["1", "2"], "larg": ["0,5", "0,7"]}
    assert "as its first line says" in said(layer, "table_form").message


def test_a_ragged_row_never_shifts(csv, network):
    rows = [
        "id;larg;rua;geom",
        f"1;0,5;Rua A;{WKT}",
        f"2;0,5;Rua A; fundos;{WKT}",
        f"3;0,5;{WKT}",
        f"4;0,7;Rua B;{WKT[:-2]}9)",
    ]
    layer = read_layer(csv("\n".join(rows)))
    assert said(layer, "row_ragged").rows == (2, 3)
    assert "line 3" in said(layer, "row_ragged").message
    assert layer.frame["larg"].tolist()[::3] == ["0,5", "0,7"]
    assert layer.frame.loc[[1, 2], ["id", "larg", "rua"]].isna().all(axis=None)
    reading = network(replace(layer, crs=CRS(31983)), {"segment": "id", "width": "larg"}, width=None)
    assert [(s.row, s.reason_code) for s in reading.set_aside] == [(2, "no_geometry"), (3, "no_geometry")]
    assert "as many fields" in reading.set_aside[0].reason


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('id;rua\n1;"Rua A\n2;b\n', "row that begins in line 2"),
        ('id;rua\n1;a\n2;"Rua "A""\n3;c\n', "row that begins in line 3"),
        ("1;0,50;aéreo\n2;0,70;solo\n", "row of names"),
        (f"1|{WKT}\n", "row of names"),
        ("\n\n\n", "no line with anything"),
        ("id,wkt\n1,LINESTRING (0 0, 1 1)\n2,LINESTRING (0 0, 1 1, 2 2)\n", "need quotes"),
        ("id;geom;wkt\n1;POINT(0 0);POINT(1 1)\n", "geometry in 2 columns"),
        (b"id;rua\n1;a\0b\n", "zero bytes"),
    ],
)
def test_tables_that_are_refused(csv, text, message):
    with pytest.raises(InputError, match=message):
        read_layer(csv(text))


def test_names_that_are_missing_or_shared(csv):
    layer = read_layer(csv("id;larg;larg;\n1;0,5;0,7;x\n"))
    assert list(layer.frame.columns) == ["id", "larg_1", "larg_2", "column_4", "geometry"]
    assert {"column_unnamed", "column_repeated"} <= set(codes(layer))
    with pytest.raises(InputError, match="no column 'larg'"):
        resolve_columns({"width": "larg"}, ["width"], list(layer.frame.columns), "rede.csv")


def test_a_title_above_the_names(csv):
    layer = read_layer(csv("Relatório de rede\n\nid;larg;rua\n" + "".join(f"{n};0,5;Rua {n}\n" for n in range(20))))
    assert list(layer.frame.columns) == ["id", "larg", "rua", "geometry"]
    assert len(layer.frame) == 20
    assert "Relatório de rede" in said(layer, "title_rows_skipped").message


def test_one_column_alone(csv):
    layer = read_layer(csv("wkt\nLINESTRING (0 0, 1 1)\nPOINT (1 1)\nLINESTRING (zz)\n"))
    assert layer.frame.geometry.isna().tolist() == [False, False, True]
    assert said(layer, "geometry_unreadable").rows == (3,)


@pytest.mark.parametrize(
    ("names", "values"),
    [
        ("x;y", ["322.123,5;7.416.123,25", "322123,5;7416123,25"]),
        ("X (m);y", []),
        ("utm_e;utm_n", ["322123.5;7416123.25"]),
        ("Este;Norte", ["322123,5;7416123,25"]),
        ("coord_x;coord_y", ["322123,5;7416123,25"]),
    ],
)
def test_points_from_coordinates(csv, names, values):
    layer = read_layer(csv(f"id;{names}\n" + "".join(f"{n};{v}\n" for n, v in enumerate(values)) + "9;;\n"))
    wanted = [shapely.Point(322123.5, 7416123.25)] * len(values)
    assert layer.frame.geometry.iloc[:-1].tolist() == wanted
    assert layer.frame.geometry.iloc[-1] is None
    assert ("geometry_from_xy" in codes(layer)) == bool(values)


def test_text_of_a_database(csv):
    line = shapely.from_wkt(WKT)
    hexed = shapely.to_wkb(shapely.set_srid(line, 31983), hex=True, include_srid=True)
    layer = read_layer(csv(f"id;the_geom\n1;{hexed}\n2;\n3;zz\n"))
    assert layer.frame.geometry.iloc[0].equals(line)
    assert layer.crs.to_epsg() == 31983
    assert said(layer, "geometry_unreadable").rows == (3,)
    layer = read_layer(csv(f'id,geom\n1,"SRID=4674;{WKT}"\n'))
    assert layer.crs.to_epsg() == 4674
    with pytest.raises(InputError, match="SRID 4674, SRID 31983"):
        read_layer(csv(f'id,geom\n1,"SRID=4674;{WKT}"\n2,"SRID=31983;{WKT}"\n'))


def test_a_table_without_a_map(csv):
    layer = read_layer(csv("zona\t2025\t2026\nA\t10,50\t11\n"))
    assert layer.frame["2026"].tolist() == ["11"]
    assert layer.frame.geometry.isna().all()


def test_single_quotation_marks(csv):
    layer = read_layer(csv("'id','rua'\n'1','Rua A, fundos'\n'2','b'\n"))
    assert layer.frame["rua"].tolist() == ["Rua A, fundos", "b"]
    assert read_layer(csv("id;rua\n1;'s-Gravenhage\n", name="b.csv")).frame["rua"].tolist() == ["'s-Gravenhage"]


# -- workbooks


def test_cells_keep_what_they_hold(xlsx):
    rows = [
        ["id", "n", "larg", "data", "misto", "geom"],
        ["007", 232146268, 1.234, date(2026, 11, 30), 1.234, WKT],
        ["008", 1, 0.5, datetime(2026, 11, 30), "0,50", None],
    ]
    layer = read_layer(xlsx(Rede=rows, Vazia=[]))
    assert layer.name == "Rede"
    frame = layer.frame
    assert frame["id"].tolist() == ["007", "008"]
    assert frame["n"].astype(str).tolist() == ["232146268", "1"]
    assert frame["data"].tolist() == [date(2026, 11, 30)] * 2
    assert read_numbers(frame["larg"], "larg").values.tolist() == [Decimal("1.234"), Decimal("0.5")]
    assert read_numbers(frame["misto"], "misto").values.tolist() == [Decimal("1.234"), Decimal("0.50")]
    assert frame.geometry.iloc[0].equals(shapely.from_wkt(WKT))


def test_numbers_among_points_are_written_with_points(xlsx):
    layer = read_layer(xlsx(Rede=[["id", "m"], ["a", 1.234], ["b", "0.50"]]))
    assert read_numbers(layer.frame["m"], "m").values.tolist() == [Decimal("1.234"), Decimal("0.50")]


def test_errors_titles_and_merged_cells(xlsx):
    def draw(sheet):
        sheet.merge_range(0, 0, 0, 2, "Relatório 2026")
        for at, row in enumerate(
            (["id", "larg", "zona"], [1, 0.5, "A"], [2, 0.5, None], [3, 12345678901234567, "B"]), 2
        ):
            sheet.write_row(at, 0, row)
        sheet.merge_range(3, 2, 4, 2, "A")
        sheet.write_formula(4, 1, "=1/0", None, "#DIV/0!")

    layer = read_layer(xlsx(Rede=draw))
    assert layer.frame["larg"].tolist()[1] == "#DIV/0!"
    assert said(layer, "cell_error").rows == (2,)
    assert said(layer, "cells_merged").rows == (1, 2)
    assert said(layer, "digits_lost").rows == (3,)
    assert "Relatório 2026" in said(layer, "title_rows_skipped").message


def test_each_sheet_is_a_layer(xlsx):
    path = xlsx(A=[["x", "y"], [322123.5, 7416123.25]], B=[["zona", "valor"], ["A", 10]])
    first, second = read_layers(path, ["A", "B"])
    assert first.frame.geometry.tolist() == [shapely.Point(322123.5, 7416123.25)]
    assert second.frame.geometry.isna().all()
    with pytest.raises(InputError, match="2 layers"):
        read_layers(xlsx(A=[["a", "b"], [1, 2]], B=[["c", "d"], [1, 2]]))


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (
            lambda s: (s.write(0, 0, "id"), s.merge_range(0, 1, 0, 2, "Largura"), s.write_row(1, 0, [1, 2, 3])),
            "merged over 2",
        ),
        (lambda s: (s.write(0, 0, "id"), s.write(1048575, 16383, "x")), "fill the memory"),
        (lambda s: s.write_row(0, 0, [1.5, "aéreo"]), "row of names"),
    ],
)
def test_sheets_that_are_refused(xlsx, draw, message):
    with pytest.raises(InputError, match=message):
        read_layer(xlsx(Rede=draw))


OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.xlsx", OLE + "EncryptedPackage".encode("utf-16-le"), "password"),
        ("a.xlsx", OLE, "save it as .xlsx"),
        ("a.xls", OLE, "save it as .xlsx"),
        ("a.xlsx", b"id;largura\n1;0,5\n", "doesn't begin as a workbook"),
        ("a.xlsx", b"PK\3\4" + bytes(40), "isn't whole"),
    ],
)
def test_files_that_are_no_workbooks(tmp_path, name, content, message):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=message):
        read_layer(tmp_path / name)


def test_a_workbook_that_would_fill_the_memory(xlsx, monkeypatch):
    path = xlsx(Rede=[["id", "t"], ["1", "a" * 30_000]])
    monkeypatch.setattr(workbook_parts, "MOST_BYTES", 20_000)
    with pytest.raises(InputError, match="fill the memory"):
        read_layer(path)


OFFICE = (
    " ".join(f'xmlns:{n}="urn:oasis:names:tc:opendocument:xmlns:{n}:1.0"' for n in ("office", "table", "text"))
    + ' xmlns:calcext="urn:org:documentfoundation:names:experimental:calc:xmlns:calcext:1.0"'
)


CELL = '<table:table-cell office:value-type="string"><text:p>{}</text:p></table:table-cell>'


def ods(path, rows, doctype=""):
    cells = {str: CELL,
             float: '<table:table-cell office:value-type="float" office:value="{0}"><text:p>{0}</text:p></table:table-cell>',
             Exception: '<table:table-cell office:value-type="string" office:string-value="" calcext:value-type="error">'
                        "<text:p>{}</text:p></table:table-cell>"}  # fmt: skip
    body = "".join(
        f"<table:table-row>{''.join(cells[type(c)].format(c) for c in row)}</table:table-row>"
        if isinstance(row, list) else row for row in rows
    )  # fmt: skip
    document = (
        f'<?xml version="1.0"?>{doctype}<office:document-content {OFFICE}><office:body><office:spreadsheet>'
        f'<table:table table:name="R">{body}</table:table></office:spreadsheet></office:body></office:document-content>'
    )
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        archive.writestr("content.xml", document)
        archive.writestr("META-INF/manifest.xml", "<manifest/>")
    return path


def test_opendocument(tmp_path):
    blank = '<table:table-cell table:number-columns-repeated="16384"/>'
    many = f'<table:table-row table:number-rows-repeated="1048000">{blank}</table:table-row>'
    layer = read_layer(ods(tmp_path / "a.ods", [["id", "larg"], ["007", 0.5], ["008", Exception("#DIV/0!")], many]))
    assert layer.frame["id"].tolist() == ["007", "008"]
    assert layer.frame["larg"].tolist() == ["0,5", "#DIV/0!"]
    assert said(layer, "cell_error").rows == (2,)
    full = f'<table:table-row table:number-rows-repeated="1048000">{"<table:table-cell/>" * 50}{CELL.format("x")}</table:table-row>'
    with pytest.raises(InputError, match="fill the memory"):
        read_layer(ods(tmp_path / "b.ods", [["id", "larg"], full]))
    with pytest.raises(InputError, match="document type"):
        read_layer(ods(tmp_path / "c.ods", [["id", "larg"]], '<!DOCTYPE x [<!ENTITY a "b">]>'))


# -- columns of values


@pytest.mark.parametrize(
    ("values", "read", "code", "rows"),
    [
        (["0,50", "1.234,50", "1.234"], ["0.50", "1234.50", "1234"], "number_form_decided", (2,)),
        (["12.50", "980.5", "1.234"], ["12.50", "980.5", "1.234"], "number_form_decided", (2,)),
        (["12.50", "1,234.50", "1,234"], ["12.50", "1234.50", "1234"], "number_form_decided", (2,)),
        (
            ["0.50", "2.75", "1,234"],
            ["0.50", "2.75", None],
            None,
            (),
        ),  # 1.234 among points would mix the forms silently
        (
            ["0,40", "0,60", "1.234"],
            ["0.40", "0.60", None],
            None,
            (),
        ),  # 1234 m among widths of half a metre: nobody knows
        (["0,40", "0.60", "1.234", "0,5"], ["0.40", "0.60", None, "0.5"], "number_form_mixed", (1, 2)),
        (["1.234", "10", None], [None, "10", None], None, ()),
        (["1,234", "10"], ["1.234", "10"], None, ()),
        (["1 234,50", "2 000"], ["1234.50", "2000"], None, ()),
        (["0,50 m", "\u22121", "１２", "50 cm", "R$ 3"], [None, "-1", None, None, None], None, ()),
    ],
)
def test_numbers_by_column(values, read, code, rows):
    reading = read_numbers(pd.Series(values, dtype=object), "LARG")
    assert reading.values.tolist() == [None if r is None else Decimal(r) for r in read]
    assert [(r.code, r.rows) for r in reading.remarks] == ([(code, rows)] if code else [])
    assert set(reading.faults) == {
        n for n, (v, r) in enumerate(zip(values, read, strict=True)) if v is not None and r is None
    }
    assert read_numbers(pd.Series(values, dtype="string"), "LARG").values.tolist() == reading.values.tolist()


@pytest.mark.parametrize(
    ("value", "reason"),
    [("0,50 m", "unit"), ("R$ 3", "unit"), ("50cm", "unit"), ("１２", "another script"), ("x", "not a number")],
)
def test_why_a_number_isnt_read(value, reason):
    assert reason in read_numbers(pd.Series([value]), "LARG").faults[0]


def test_a_column_of_american_dates():
    values = pd.Series(["05/11/2026", "11/16/2026", "2026-11-30", None, "31/12/2026"])
    reading = read_dates(values, "DT")
    assert reading.values.tolist() == [None, None, date(2026, 11, 30), None, None]
    assert reading.remarks[0].code == "date_month_first"
    assert reading.remarks[0].rows == (0, 1, 4)
    assert "row 2" in reading.remarks[0].message
    assert read_dates(values.drop(1).reset_index(drop=True), "DT").values[0] == date(2026, 11, 5)


@pytest.mark.parametrize(
    ("value", "reason"), [("30/11/26", "two figures"), (46356, "count of days"), ("ontem", "not a date")]
)
def test_why_a_date_isnt_read(value, reason):
    assert reason in read_dates(pd.Series([value], dtype=object), "DT").faults[0]


@pytest.mark.parametrize(
    ("values", "ids", "remarks"),
    [
        (["232146268.0", "7.0", None], ["232146268", "7", None], [("id_restored", (0, 1))]),
        (["232146268,00", "7,0"], ["232146268", "7"], [("id_restored", (0, 1))]),
        (["232146268.0", "007"], ["232146268.0", "007"], []),
        (["5.0", "5.00"], ["5.0", "5.00"], []),  # they would become one
        (["1.10", "2.0"], ["1.10", "2.0"], []),
        (["2.32E+08", "7"], ["2.32E+08", "7"], [("id_inexact", (0,))]),
        (["1E5", "E10"], ["1E5", "E10"], []),
        ([1.0, 2.0, float("nan")], ["1", "2", None], [("id_restored", (0, 1))]),
        ([1.5, 2.0], ["1.5", "2"], []),
        ([2.0**53, 1.0], ["9007199254740992", "1"], [("id_restored", (0, 1)), ("id_inexact", (0,))]),
        (["007", "07"], ["007", "07"], []),
    ],
)
def test_ids(values, ids, remarks):
    reading = read_ids(pd.Series(values), "COD")
    assert reading.values.tolist() == ids
    assert [(r.code, r.rows) for r in reading.remarks] == remarks


@pytest.mark.parametrize(
    ("values", "absent", "numbers", "left"),
    [
        ([-9999.0, 1.5], {"-9999"}, False, [True, False]),
        ([-9999, 1], {"-9999"}, False, [True, False]),
        (["-9999", " -9999 ", "9999", "x"], {"-9999", "9999"}, False, [True, True, True, False]),
        (["0", "00", "0,00"], {"0"}, False, [True, False, False]),
        (["0", "00", "0,00", "-9999.0"], {"0", "-9999"}, True, [True, True, True, True]),
        ([" ", "1"], {" "}, False, [False, False]),  # blank anyway
    ],
)
def test_what_says_not_informed(values, absent, numbers, left):
    kept = without_absent(pd.Series(values), frozenset(absent), as_numbers=numbers)
    assert kept.isna().tolist() == left


# -- names of columns


@pytest.mark.parametrize(
    ("name", "columns", "found"),
    [
        ("codigo_do_trecho", ["COD", "codigo_do_"], ("codigo_do_",)),
        ("Código do Trecho", ["CODIGO_DO_"], ("CODIGO_DO_",)),
        ("codigo_do_trecho", ["codigo_do_", "codigo_d_1"], ("codigo_do_", "codigo_d_1")),
        ("instalação_em", ["instalaç"], ("instalaç",)),
        ("descrição_rua", ["descriçã"], ("descriçã",)),
        ("descrição_rua", ["descrição_"], ("descrição_",)),
        ("largura da faixa", ["LARGURA_DA_FAIXA"], ("LARGURA_DA_FAIXA",)),
        ("largura", ["LARGURA_M"], ()),
        ("codigo_do_trecho", ["codigo"], ()),
        ("a", ["A", "a"], ("a",)),
    ],
)
def test_names_of_columns(name, columns, found):
    assert matching_columns(name, columns) == found


def test_names_that_were_cut(make_layer, network, at):
    lines = [shapely.LineString(at((10, 10), (70, 10))), shapely.LineString(at((10, 40), (70, 40)))]
    layer = make_layer(lines, codigo_do_=["007", "008"], largura_da=["0,5", "0,7"])
    reading = network(layer, {"segment": "codigo_do_trecho", "width": "largura_da_faixa"}, width=None)
    assert reading.accepted["segment"].tolist() == ["007", "008"]
    assert reading.accepted["width_m"].tolist() == ["0.5", "0.7"]
    (cut,) = [f for f in reading.findings if f.code == "column_name_cut"]
    assert "codigo_do_trecho is codigo_do_" in cut.message
    assert cut_columns({"segment": "COD"}, {"segment": "cod"}) == {}


@pytest.mark.parametrize(
    ("mapping", "columns", "message"),
    [
        ({"segment": "codigo_do_trecho"}, ["codigo_do_", "codigo_d_1"], "codigo_do_ and codigo_d_1"),
        ({"segment": "codigo_do_trecho", "permit": "codigo_do_decreto"}, ["codigo_do_"], "cuts its names at ten bytes"),
        ({"width": "Largura"}, ["LARGURA", "largura"], "LARGURA and largura"),
        ({"width": "largura_total"}, ["largura"], "Did you mean 'largura'"),
    ],
)
def test_names_that_could_be_two(mapping, columns, message):
    with pytest.raises(InputError, match=message):
        resolve_columns(mapping, ["segment", "permit", "width"], columns, "rede.shp")
