"""The GeoPackage annex: what is charged to the centimetre and the cent, equal bytes, and what QGIS makes of it."""

import os
import shutil
import sqlite3
import subprocess
from contextlib import closing
from dataclasses import replace
from datetime import date
from decimal import Decimal
from xml.etree import ElementTree

import geopandas as gpd
import pandas as pd
import pyogrio
import pytest
import shapely
from workspaces import bill, done, import_cabinets, make_workspace, write_cabinets

from documents import records
from documents.qgis_run import run_qgis
from geobill.documents import words
from geobill.documents.gpkg_annex import CABINETS, COVERAGE, PIECES, SEGMENTS, annex_gpkg
from geobill.domain.ratio import Ratio
from geobill.errors import TemplateError

LAYERS = {"cobertura": COVERAGE, "trechos": SEGMENTS, "pecas": PIECES, "armarios": CABINETS}
X, Y = 322000.0, 7416000.0


def line(x0, y0, x1, y1):
    return shapely.MultiLineString([[(X + x0, Y + y0), (X + x1, Y + y1)]])


@pytest.fixture(scope="module")
def billed(tmp_path_factory):
    """A workspace whose month is billed; alfa has cabinets too, one of them doubled below."""
    root = make_workspace(tmp_path_factory.mktemp("annex"))
    extra = write_cabinets(root.parent / "files" / "mais.geojson", ("E7", "0.75", (60, 15)), ("E8", "6", (120, 30)))
    import_cabinets(root, extra, "alfa")
    return root, bill(root)


@pytest.fixture(scope="module")
def annex(billed):
    (path,) = (billed[0] / "documents" / "2026-11").glob("anexo-*-alfa.gpkg")
    return path


@pytest.fixture
def frames():
    """Rows of every state of a piece, by hand, for the invoice of ``records``; change and hand to ``annex_gpkg``."""
    invoice = records.invoice(
        [
            records.network_line(),
            records.network_line(multiplier="2"),
            records.equipment_line(),
            records.equipment_line(multiplier="2"),
        ]
    )
    piece = {"operator": "elektro", "service": "energia", "zone": "Centro", "land_value": Decimal("458.41"), "held": None,
             "length_m": Decimal("90.10"), "billed_width_m": Decimal("0.50"), "amount_exact": Decimal("1.230"), "flags": (),
             "priced_with": None, "line": 1}  # fmt: skip
    states = (
        {}, {"line": 2}, {"flags": ("in_gap", "no_decree")}, {"line": 2, "flags": ("in_gap",)},
        {"line": None, "priced_with": "T0"}, {"line": None, "held": "overlap", "zone": None, "land_value": float("nan")},
    )  # fmt: skip
    drawn = [line(5, 10 + 10 * n, 95, 10 + 10 * n) for n in range(len(states))]
    pieces = pd.DataFrame(
        [
            {**piece, "segment": f"T{n}", **state, "geometry": g}
            for n, (state, g) in enumerate(zip(states, drawn, strict=True))
        ],
        dtype=object,
    )
    segments = gpd.GeoDataFrame(
        {"segment": pieces["segment"], "service": "energia", "level": "aéreo", "permit": None, "status": "unregistered",
         "width_m": "0.5", "declared_length_m": None, "installed_on": "2020-02-29", "removed_on": None},
        geometry=drawn, crs=31983,
    )  # fmt: skip
    equipment = gpd.GeoDataFrame(
        {"equipment": ["C1", "C2"], "service": None, "status": ["permitted", "clandestine"]},
        geometry=[shapely.Point(X + 30, Y + 75), shapely.box(X + 60, Y + 70, X + 64, Y + 74)], crs=31983,
    )  # fmt: skip
    cabinets = pd.DataFrame(
        {"equipment": ["C1", "C2"], "operator": "elektro", "line": [3, 4], "volume_m3": [Decimal("2.40"), Decimal("9")],
         "amount_exact": [Decimal("360.00"), Decimal("2700.00")], "flags": [(), ("no_decree",)]},
    )  # fmt: skip
    coverage = gpd.GeoDataFrame(
        {"zone": ["Centro", 'Vila <"&">', "Centro", "Centro | Vila", "Longe", "Serra"],
         "land_value": ["458.41", "100", "458.41", None, "7", "7.255"],
         "kind": ["zone", "zone", "gap", "overlap", "zone", "overlap"],
         "status": ["priced", "priced", "priced", "held", "priced", "priced"]},
        geometry=[shapely.box(X + x, Y + y, X + x + w, Y + y + h) for x, y, w, h in
                  ((0, 0, 50, 55), (50, 0, 50, 55), (0, 65, 100, 20), (0, 55, 100, 10), (500, 0, 9, 9), (0, 85, 100, 10))],
        crs=31983,
    )  # fmt: skip
    return {"invoice": invoice, "pieces": pieces, "segments": segments, "equipment": equipment, "cabinets": cabinets,
            "coverage": coverage, "figures": records.FIGURES}  # fmt: skip


@pytest.fixture
def write(frames, tmp_path):
    def to(**changes):
        path = tmp_path / "anexo.gpkg"
        path.write_bytes(annex_gpkg(**{**frames, **changes}))
        return path

    return to


def rows(path, layer):
    return gpd.read_file(path, layer=layer)


def query(path, sql):
    with closing(sqlite3.connect(path)) as database:
        return database.execute(sql).fetchall()


def look(path, png, tmp_path):
    """What QGIS says of a file; the test skips where it isn't installed."""
    return run_qgis("qgis_look.py", path, png, *LAYERS, home=tmp_path)


# -- what is in it


def test_every_layer_opens_with_its_rows_and_index(annex):
    assert [name for name, _ in pyogrio.list_layers(annex)] == [*LAYERS, "layer_styles"]
    counts = {name: pyogrio.read_info(annex, layer=name)["features"] for name in LAYERS}
    assert counts == {"cobertura": 7, "trechos": 4, "pecas": 6, "armarios": 2}
    for name, columns in LAYERS.items():
        info = pyogrio.read_info(annex, layer=name)
        assert (info["crs"], list(info["fields"])) == ("EPSG:31983", [c for c, _, _ in columns])
        assert query(annex, f"SELECT count(*) FROM rtree_{name}_geom") == [(counts[name],)]
    assert query(annex, "PRAGMA integrity_check") == [("ok",)]
    assert query(annex, "PRAGMA application_id") == [(0x47504B47,)]


def test_metres_and_amounts_are_those_of_the_invoice(billed, annex):
    _, answer = billed
    pieces, boxes = rows(annex, "pecas"), rows(annex, "armarios")
    (mine,) = (o for o in answer["operators"] if o["operator"] == "alfa")
    charged = pieces[pieces["linha"].notna()]
    for number, printed in enumerate(mine["lines"], 1):
        own = charged[charged["linha"] == number] if printed["kind"] == "network" else boxes[boxes["linha"] == number]
        assert set(own["valor_da_linha"]) == {words.number(Decimal(printed["amount"]))}
        if printed["kind"] == "network":
            assert sum(Decimal(str(m)) for m in own["extensao_m"]) == Decimal(printed["length_m"])
            assert {Decimal(str(v)) for v in own["valor_m2"]} == {Decimal(printed["land_value"])}
        else:
            assert sum(Decimal(str(v)) for v in own["volume_m3"]) == Decimal(printed["volume_m3"])
    assert set(charged["linha"]) | set(boxes["linha"]) == set(range(1, len(mine["lines"]) + 1))
    held = sum(Decimal(h["length_m"]) for h in answer["held"] if h["operator"] == "alfa")
    assert sum(Decimal(str(m)) for m in pieces.loc[pieces["linha"].isna(), "extensao_m"]) == held > 0
    assert (abs(pieces.length - pieces["extensao_m"]) < 0.01).all()
    by_csv = (annex.with_suffix(".csv")).read_text("utf-8-sig").splitlines()
    assert len(by_csv) - 1 == len(charged) + len(boxes)


def test_no_amount_is_a_float(annex):
    for layer in ("pecas", "armarios"):
        info = pyogrio.read_info(annex, layer=layer)
        types = dict(zip(info["fields"], info["ogr_types"], strict=True))
        assert {types[c] for c in ("valor_exato", "valor_da_linha", "multiplicador")} == {"OFTString"}
        assert types["linha"] == "OFTInteger64"


def test_it_is_kept_with_the_invoice_as_written(billed, annex):
    kept = query(
        billed[0] / "cadastre.gpkg", "SELECT file_name, content FROM documents WHERE kind = 'anexo_gpkg' ORDER BY 1"
    )
    assert [name for name, _ in kept] == ["anexo-2026-000001-alfa.gpkg", "anexo-2026-000002-beta.gpkg"]
    assert kept[0][1] == annex.read_bytes()


def test_the_same_record_gives_the_same_bytes(billed, annex, tmp_path):
    root = make_workspace(tmp_path)  # another workspace, filled and billed later
    import_cabinets(root, billed[0].parent / "files" / "mais.geojson", "alfa")
    bill(root)
    assert (root / "documents" / "2026-11" / annex.name).read_bytes() == annex.read_bytes()


def test_no_time_but_the_day_of_issue(write, frames):
    path = write(invoice=replace(frames["invoice"], issued_on=date(2001, 2, 3)))
    moments = query(path, "SELECT last_change FROM gpkg_contents UNION ALL SELECT update_time FROM layer_styles")
    assert moments == [("2001-02-03T00:00:00.000Z",)] * 9


def test_every_state_has_its_words(write):
    pieces = rows(write(), "pecas")
    assert pieces["situacao"].tolist() == [
        "Cobrada uma vez", "Cobrada em dobro", "Em vão do mapa", "Em vão do mapa, em dobro", "Na faixa de outro trecho", "Retida",
    ]  # fmt: skip
    assert pieces["linha"].tolist()[:4] == [1, 2, 1, 2]
    assert pieces["linha"].isna().tolist()[4:] == [True, True]
    assert pieces["pago_com"].dropna().tolist() == ["T0"]
    assert pieces["motivo"].dropna().tolist() == ["Sobreposição de zonas"]
    assert pieces["rotulo"].tolist()[0].replace(words.NBSP, " ") == "Centro · R$ 458,41/m²"
    assert pieces["rotulo"].tolist()[5] == "Sobreposição de zonas"
    assert pieces["observacoes"].tolist()[2] == "em vão do mapa, pela zona mais próxima; sem decreto (art. 16)"
    assert pieces["valor_exato"].tolist()[0] == "1,230"


def test_a_fraction_stays_the_fraction_it_is(write, frames):
    lines = frames["invoice"].lines
    graduated = records.network_line()
    graduated = replace(graduated, reducer=Ratio(Decimal("5900.00"), Decimal("6000.00")))
    pieces = rows(write(invoice=records.invoice([graduated, *lines[1:]])), "pecas")
    assert pieces["redutor_r"].tolist()[:2] == ["5900,00/6000,00", "0,90"]


def test_segments_cabinets_and_ground(write):
    path = write()
    segments, cabinets, ground = (rows(path, layer) for layer in ("trechos", "armarios", "cobertura"))
    assert set(segments["situacao"]) == {"Sem cadastro (art. 12, § 3º)"}
    assert set(segments["extensao_m"]) == {90.0}
    assert str(segments["instalado_em"].iloc[0])[:10] == "2020-02-29"
    assert cabinets["situacao"].tolist() == ["Cobrado uma vez", "Cobrado em dobro"]
    assert cabinets["cadastro"].tolist() == ["Permitido", "Clandestino (art. 10)"]
    assert set(cabinets.geom_type) == {"Point"}
    assert "Longe" not in set(ground["zona"])
    assert 'Vila <"&">' in set(ground["zona"])
    assert ground["tipo"].tolist() == ["Zona", "Zona", "Vão (via)", "Sobreposição", "Sobreposição"]
    assert ground["situacao"].tolist() == ["Com valor", "Com valor", "Com valor", "Retida", "Com valor"]


def test_an_operator_without_cabinets_or_without_network(write, frames):
    for without in ({"equipment": frames["equipment"][:0], "cabinets": frames["cabinets"][:0]},
                    {"segments": frames["segments"][:0], "pieces": frames["pieces"][:0]},
                    {"coverage": frames["coverage"][["zone", "land_value", "geometry"]][:0]}):  # fmt: skip
        assert [name for name, _ in pyogrio.list_layers(write(**without))] == [*LAYERS, "layer_styles"]


def test_rows_of_another_month_are_refused(write, frames):
    with pytest.raises(TemplateError, match=r"line 9.*4 line\(s\).*same priced month"):
        write(pieces=frames["pieces"].assign(line=9))
    with pytest.raises(TemplateError, match=r"cabinets.*same priced month"):
        write(cabinets=frames["cabinets"][::-1])


# -- how it looks


def test_styles_are_defaults_of_their_layers(annex):
    kept = query(
        annex, "SELECT f_table_schema, f_table_name, f_geometry_column, useAsDefault, styleQML FROM layer_styles"
    )
    assert [r[:4] for r in kept] == [("", name, "geom", 1) for name in LAYERS]
    for _, name, _, _, style in kept:
        root = ElementTree.fromstring(style.split("\n", 1)[1])
        listed = {a.get("field"): a.get("name") for a in root.iter("alias")}
        assert listed == {c: alias for c, _, alias in LAYERS[name]}
        assert {f.get("name") for f in root.find("fieldConfiguration")} == set(listed)
    assert query(annex, "SELECT data_type FROM gpkg_contents WHERE table_name = 'layer_styles'") == [("attributes",)]
    titles = query(annex, "SELECT table_name, column_name, title FROM gpkg_data_columns")
    assert titles == [(name, c, alias) for name, columns in LAYERS.items() for c, _, alias in columns]


def test_states_differ_without_colour():
    from geobill.documents.gpkg_styles import STATES

    patterns = [(width, dashes) for *_, width, dashes in STATES]
    assert len({dashes for _, dashes in patterns}) == len(STATES)


def test_ogr_of_debian_reads_it_without_a_warning(annex):
    if not shutil.which("ogrinfo"):
        pytest.skip("ogrinfo isn't installed (Debian: gdal-bin)")
    env = {k: v for k, v in os.environ.items() if not k.startswith(("GDAL", "PROJ"))}
    found = subprocess.run(["ogrinfo", "-ro", "-so", "-al", annex], capture_output=True, text=True, env=env, check=True)
    assert found.stderr == ""
    for name in LAYERS:
        assert f"Layer name: {name}" in found.stdout
    assert "Feature Count: 6" in found.stdout
    assert "SIRGAS 2000 / UTM zone 23S" in found.stdout


def test_qgis_shows_every_state_at_once(write, tmp_path):
    said = look(write(), tmp_path / "anexo.png", tmp_path)
    layers = said["layers"]
    assert {name: (v["rows"], v["crs"], v["index"], v["unseen"]) for name, v in layers.items()} == {
        "cobertura": (5, "EPSG:31983", True, 0), "trechos": (6, "EPSG:31983", True, 0),
        "pecas": (6, "EPSG:31983", True, 0), "armarios": (2, "EPSG:31983", True, 0),
    }  # fmt: skip
    assert {name: v["renderer"] for name, v in layers.items()} == {
        "cobertura": "RuleRenderer", "trechos": "singleSymbol", "pecas": "categorizedSymbol", "armarios": "categorizedSymbol",
    }  # fmt: skip
    assert layers["pecas"]["legend"] == [
        "Cobrada uma vez", "Cobrada em dobro (arts. 10 e 12)", "Em vão do mapa: valor da zona mais próxima",
        "Em vão do mapa, cobrada em dobro", "Na faixa de outro trecho: paga com ele", "Retida: ainda não cobrada",
    ]  # fmt: skip
    assert layers["armarios"]["legend"] == [
        "Armário ou contêiner, cobrado uma vez", "Armário ou contêiner, cobrado em dobro",
    ]  # fmt: skip
    assert [text.replace(words.NBSP, " ") for text in layers["cobertura"]["legend"]] == [
        "R$ 7,255 por m²", "R$ 100,00 por m²", "R$ 458,41 por m²", "Tom mais claro: via, pela zona mais próxima",
        "Sobreposição de zonas", "Sobreposição de zonas, retida",
    ]  # fmt: skip
    assert {name: v["labels"] for name, v in layers.items()} == {
        "cobertura": True, "trechos": False, "pecas": True, "armarios": True,
    }  # fmt: skip
    assert (layers["pecas"]["labelled"], layers["pecas"]["label_scale"]) == ('"rotulo"', 5000)
    for name, columns in LAYERS.items():
        assert layers[name]["aliases"] == {"fid": "", **{c: alias for c, _, alias in columns}}
    for drawn in ("#0b3c7d", "#d55e00", "#007a5a", "#8e4f86", "#000000", "#d7c5a4"):
        assert drawn in said["colours"], drawn


def test_qgis_shows_what_bill_wrote(annex, tmp_path):
    said = look(annex, tmp_path / "alfa.png", tmp_path)["layers"]
    assert {name: v["unseen"] for name, v in said.items()} == dict.fromkeys(LAYERS, 0)
    assert said["pecas"]["legend"] == [
        "Cobrada uma vez",
        "Cobrada em dobro (arts. 10 e 12)",
        "Retida: ainda não cobrada",
    ]


# -- pieces for programs


@pytest.mark.parametrize("ending", ["csv", "parquet", "gpkg"])
def test_pieces_in_every_form_are_the_same(billed, tmp_path, ending):
    root, _ = billed
    path = tmp_path / f"pecas.{ending}"
    priced = done("price", "--month", "2026-11", "--pieces", path, workspace=root)
    read = {"csv": lambda p: pd.read_csv(p, dtype=str), "parquet": gpd.read_parquet, "gpkg": gpd.read_file}[ending](
        path
    )
    assert list(read.columns[:7]) == [
        "segment",
        "operator",
        "zone",
        "length_m",
        "land_value",
        "billed_width_m",
        "amount_exact",
    ]
    assert sum(map(Decimal, read["length_m"])) == sum(
        Decimal(priced["conservation"]["metres"][k]) for k in ("priced", "held")
    )
    exact = read[(read["operator"] == "beta")]["amount_exact"]
    assert exact.tolist() == ["1.8000000000"]
    if ending != "csv":
        assert read.crs.to_epsg() == 31983
        assert (abs(read.length - read["length_m"].astype(float)) < 0.01).all()
        assert done("inspect", path)["layers"][0]["features"] == len(read)
