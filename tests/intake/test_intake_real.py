"""The real network in its twelve ways, the cases of shared/cases, and every awkward file."""

import json
import shutil
from collections import Counter
from decimal import Decimal

import pytest

from geobill.errors import InputError
from geobill.intake.crs import CAIEIRAS
from geobill.intake.inspect import inspect_file
from geobill.intake.land_values import read_land_values
from geobill.intake.network import read_network
from geobill.intake.reader import read_layer
from geobill.intake.reading import Options, Part

BOUNDS = (316958.92, 7411801.47, 323886.32, 7416341.18)
DELIVERIES = [  # file, system it must be given, rows read, accepted, accuracy of the datum shift
    ("a_utm_cp1252_sem_cpg.shp", None, 1652, 1651, None),
    ("b_utm_sem_prj.shp", "EPSG:31983", 1652, 1651, None),
    ("c_latlong_4674.geojson", None, 1652, 1651, None),
    ("d_sad69_29193.shp", None, 1652, 1651, 5.0),
    ("e_corrego_alegre_22523.gpkg", None, 1652, 1651, 5.0),
    ("f_fuso22_31982.shp", None, 1652, 1651, None),
    ("g_com_z.gpkg", None, 1652, 1651, None),
    ("h_duplicados_10pct.gpkg", None, 1818, 1651, None),
    ("i_multiparte.gpkg", None, 2, 2, None),
]


@pytest.mark.parametrize(("name", "crs", "read", "accepted", "accuracy_m"), DELIVERIES)
def test_deliveries(shared, name, crs, read, accepted, accuracy_m):
    layer = read_layer(shared / "data/caieiras/entregas" / name)
    mapping = {} if name.startswith("i") else {"segment": "COD_ID", "width": "largura"}
    if crs:
        with pytest.raises(InputError, match="31983"):
            read_network([Part(layer, Options("alfa", None, Decimal("0.50"), mapping))], CAIEIRAS, ["alfa"])
    reading = read_network([Part(layer, Options("alfa", crs, Decimal("0.50"), mapping))], CAIEIRAS, ["alfa"])
    assert (reading.read, len(reading.accepted)) == (read, accepted)
    assert {s.reason_code for s in reading.set_aside} <= {"duplicate"}
    assert abs(float(reading.length_m) - 60473.855) < 0.5
    assert max(abs(a - b) for a, b in zip(reading.bounds, BOUNDS, strict=True)) < 0.05
    assert reading.crs.accuracy_m is None if accuracy_m is None else reading.crs.accuracy_m > 0
    assert len(inspect_file(layer.path)["layers"]) == 1


def test_the_zone_beside_without_its_prj(shared, tmp_path):
    for part in (shared / "data/caieiras/entregas").glob("f_fuso22_31982.*"):
        if part.suffix != ".prj":
            shutil.copy(part, tmp_path)
    path = tmp_path / "f_fuso22_31982.shp"
    assert inspect_file(path)["layers"][0]["crs_guesses"][0] == "EPSG:31982"
    with pytest.raises(InputError, match="31982"):
        read_network([Part(read_layer(path), Options("alfa", None, Decimal(1)))], CAIEIRAS, ["alfa"])


@pytest.mark.parametrize(("layer", "read", "row", "of"), [("SSDMT", 1652, 890, 836), ("SSDBT", 3438, 527, 283)])
def test_the_real_network(shared, layer, read, row, of):
    raw = read_layer(shared / "data/caieiras/rede_levantada_2024.gpkg", layer)
    reading = read_network(
        [Part(raw, Options("alfa", None, Decimal("0.50"), {"segment": "COD_ID"}))], CAIEIRAS, ["alfa"]
    )
    assert (reading.read, len(reading.accepted)) == (read, read - 1)
    [twice] = reading.set_aside
    assert (twice.row, twice.reason_code) == (row, "duplicate")
    assert f"in row {of}" in twice.reason
    assert round(raw.frame.geometry.iloc[row - 1].length, 3) in (20.443, 17.52)


def test_the_real_value_maps(shared):
    path = shared / "data/caieiras/mapa_de_valores.gpkg"
    with pytest.raises(InputError, match="zonas_bairro, zonas_quadra"):
        read_layer(path)
    districts = Options(mapping={"zone": "ZONA", "land_value": "VALOR_M2"})
    assert len(read_land_values(read_layer(path, "zonas_bairro"), districts, CAIEIRAS).accepted) == 60
    blocks = Options(mapping={"zone": "QUADRA", "land_value": "VALOR_M2"})
    reading = read_land_values(read_layer(path, "zonas_quadra"), blocks, CAIEIRAS)
    assert (reading.read, len(reading.accepted)) == (4304, 4268)
    assert Counter(s.reason_code for s in reading.set_aside) == {"value_missing": 36}


def test_case_12(shared):
    folder = shared / "cases/pricing/12-bad-rows"
    expected = json.loads((folder / "case.json").read_text())["expected"]
    mapping = {
        "segment": "id_trecho", "width": "largura_m", "operator": "entidade", "installed_on": "implantado",
        "removed_on": "retirado", "status": "situacao", "service": "servico",
    }  # fmt: skip
    reading = read_network([Part(read_layer(folder / "network.geojson"), Options(mapping=mapping))], CAIEIRAS, ["alfa"])
    assert (reading.read, len(reading.accepted)) == (expected["read"], expected["accepted"])
    assert {s.id: s.reason_code for s in reading.set_aside} == {
        "S2": "width_missing", "S3": "width_not_positive", "S4": "no_geometry", "S5": "zero_length",
        "S6": "duplicate", "S7": "wrong_geometry_type",
    }  # fmt: skip


def test_inspect_reads_windows_text(shared):
    report = inspect_file(shared / "data/caieiras/entregas/a_utm_cp1252_sem_cpg.shp")
    fields = {f["name"]: f for f in report["layers"][0]["fields"]}
    assert fields["descrição_"]["example"] == "Trecho aéreo – Praça João nº 2656"
    assert fields["largura"]["nulls"] == 551


READABLE = {
    "gdal_shp/poly_golden/poly.shp": 10, "gdal_shp/testshp/poly.shp": 10, "gdal_shp/testpoly.shp": 14,
    "gdal_shp/can_caps.shp": 13, "gdal_shp/CoHI_GCS12.shp": 4, "gdal_shp/gjmultiline.shp": 1,
    "pyogrio/test_gpkg_nulls.gpkg": 4, "pyogrio/line_zm.gpkg": 1, "pyogrio/curve.gpkg": 1,
    "shapefilejs/codepage.shp": 2, "shapefilejs/utf.shp": 2,
}  # fmt: skip


def test_every_awkward_file_is_read_or_refused_clearly(shared):
    messy, refused = shared / "data/messy", {}
    for path in sorted(p for p in messy.rglob("*") if p.is_file()):
        name = str(path.relative_to(messy))
        try:
            report = inspect_file(path)
        except InputError as e:
            refused[name] = str(e)
            continue
        json.dumps(report)
        count = sum(layer["features"] for layer in report["layers"])
        assert READABLE.get(name, count) == count
    assert all(len(message) > 20 for message in refused.values())
    assert not set(refused) & set(READABLE)
