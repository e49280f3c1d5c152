"""Systems as files write them, traced to their codes."""

import pytest
from pyproj import CRS
from pyproj.database import query_crs_info
from pyproj.enums import PJType

from geobill.errors import InputError
from geobill.intake.crs import parse_crs
from geobill.intake.crs_known import DATUMS, UTM_ZONES, datum_of, identify
from geobill.intake.prj import read_prj
from geobill.intake.reader import read_layer

SOUTH = """PROJECTION["Transverse_Mercator"],PARAMETER["False_Easting",500000.0],PARAMETER["False_Northing",10000000.0],
PARAMETER["Central_Meridian",{meridian}],PARAMETER["Scale_Factor",0.9996],PARAMETER["Latitude_Of_Origin",0.0],UNIT["Meter",1.0]]"""
SHAPES = {"GRS80": "6378137.0,298.257222101", "SA69": "6378160.0,298.25", "67": "6378160.0,298.247167427", "intl": "6378388.0,297.0",
          "WGS": "6378137.0,298.257223563"}  # fmt: skip


def utm(name, geographic, datum, shape, meridian=-45, extra="", code=None):
    """WKT 1 of a southern UTM zone as desks write it."""
    ending = SOUTH.format(meridian=meridian)
    if code:
        ending = ending[:-1] + f',AUTHORITY["EPSG","{code}"]]'
    return (
        f'PROJCS["{name}",GEOGCS["{geographic}",DATUM["{datum}",SPHEROID["x",{SHAPES[shape]}]{extra}],PRIMEM["Greenwich",0.0],'
        f'UNIT["Degree",0.0174532925199433]],{ending}'
    )


def shift(*values):
    return f",TOWGS84[{','.join(map(str, values))}]"


SAD = ("GCS_South_American_1969", "D_South_American_1969", "SA69")
SIRGAS = ("GCS_SIRGAS_2000", "D_SIRGAS_2000", "GRS80")
UNNAMED = ("unnamed", "unknown")


def test_the_codes_are_those_of_projs_database():
    listed = {
        i.name: int(i.code)
        for i in query_crs_info("EPSG", [PJType.PROJECTED_CRS, PJType.GEOGRAPHIC_2D_CRS], allow_deprecated=False)
    }
    for datum in DATUMS:
        assert listed[datum.name] == datum.geographic
        for letter, codes in (("S", datum.south), ("N", datum.north)):
            said = {z: listed.get(f"{datum.name} / UTM zone {z}{letter}") for z in UTM_ZONES}
            assert {z: c for z, c in said.items() if c is not None} == codes


@pytest.mark.parametrize("dialect", ["WKT1_ESRI", "WKT1_GDAL", "WKT2_2015", "WKT2_2019", "WKT2_2019_SIMPLIFIED"])
def test_every_code_is_found_again_in_every_dialect(dialect):
    for datum in DATUMS:
        for code in (datum.geographic, datum.south[23]):
            assert identify(CRS.from_wkt(CRS.from_epsg(code).to_wkt(dialect)), "x")[0].to_epsg() == code


@pytest.mark.parametrize(
    ("text", "code", "finding"),
    [(utm("SAD_1969_UTM_Zone_23S", *SAD), 29193, None),
     (utm("South_American_1969_UTM_Zone_23S", *SAD), 29193, None),
     (utm("SAD_1969_96_UTM_Zone_23S", "GCS_SAD_1969_96", "D_South_American_1969_96", "SA69"), 5533, None),
     (utm("SIRGAS_2000_UTM_Zone_23S", *SIRGAS), 31983, None),
     (utm("SIRGAS  2000 / UTM fuso 23 Sul", "Sirgas2000", "SIRGAS 2000", "GRS80"), 31983, None),
     (utm("Córrego Alegre / UTM 23S", "Córrego Alegre", "Córrego_Alegre", "intl"), 22523, None),
     (utm("Corrego_Alegre_UTM_Zone_23S", "GCS_Corrego_Alegre", "D_Corrego_Alegre", "intl"), 22523, None),
     (utm("Corrego_Alegre_1961_UTM_Zone_23S", "GCS_Corrego_Alegre_1961", "D_Corrego_Alegre_1961", "intl"), 5538, None),
     (utm("Datum Sul-Americano de 1969 23S", "Sul-Americano 1969", "Sul_Americano_de_1969", "SA69"), 29193, None),
     (utm("SAD_1969_UTM_Zone_23S", SAD[0], SAD[1], "67"), 29193, "crs_identified"),
     (utm("sem nome", *UNNAMED, "GRS80"), 31983, "crs_identified"),
     ("+proj=utm +zone=23 +south +ellps=GRS80 +towgs84=0,0,0,0,0,0,0 +units=m +no_defs", 31983, "crs_identified"),
     ("+proj=utm +zone=23 +south +ellps=intl +towgs84=-206.05,168.28,-3.82 +units=m", 22523, "crs_identified"),
     ("+proj=longlat +ellps=GRS80 +no_defs", 4674, "crs_identified"),
     ("EPSG:29183", 29193, "crs_identified"),
     ("+proj=merc +a=6378137 +b=6378137 +lat_ts=0 +lon_0=0 +x_0=0 +y_0=0 +k=1 +units=m +nadgrids=@null +no_defs", 3857, None),
     ("ESRI:102100", 3857, None), ("EPSG:4170", 4170, None), ("EPSG:5880", 5880, None), ("EPSG:20823", 20823, None)],
)  # fmt: skip
def test_told_by_its_names_or_its_shape(text, code, finding):
    known, findings = identify(CRS.from_user_input(text), "rede.prj")
    assert known.to_epsg() == code
    assert [f.code for f in findings] == ([finding] if finding else [])


@pytest.mark.parametrize(
    ("text", "codes", "why"),
    [(utm("x", *UNNAMED, "SA69"), (29193, 5533), "nothing in it names a datum"),
     (utm("x", *UNNAMED, "intl"), (22523, 5538), "nothing in it names a datum"),
     (utm("SIRGAS 2000 / UTM zone 22S", *SIRGAS), (31983, 31982), "name and its parameters"),
     (utm("SIRGAS 2000", *SIRGAS, code=31982), (31983, 31982), "code and its parameters"),
     (utm("SIRGAS 2000", SAD[0], SAD[1], "SA69"), (29193,), "names contradict"),
     (utm("SAD_1969_UTM_Zone_23S", SAD[0], SAD[1], "GRS80"), (29193, 31983), "ellipsoid disagree")],
)  # fmt: skip
def test_what_fits_several_is_asked_for_naming_them(text, codes, why):
    known, (finding,) = identify(CRS.from_user_input(text), "rede.prj")
    assert known is None
    assert finding.code == "crs_ambiguous"
    assert all(f"EPSG:{code}" in finding.message for code in codes)
    assert why in finding.message


@pytest.mark.parametrize(
    ("given", "said"),
    [((-57, 1, -41), "11.1 m apart"), ((-66.87, 4.37, -38.52), "0.7 m apart"), ((-67.35, 3.88, -38.22), None),
     ((-67.35, 3.88, -38.22, 0, 0, 0, 0), None), ((-67.35, 3.88, -38.22, 0, 0, 1, 0), "RPR 1/2005")],
)  # fmt: skip
def test_a_shift_that_isnt_ibges_is_left_aside_and_said(given, said):
    text = utm("SAD69 / UTM zone 23S", "SAD69", "South_American_Datum_1969", "SA69", extra=shift(*given))
    known, findings = identify(CRS.from_wkt(text), "rede.prj")
    assert known.to_epsg() == 29193
    assert [f.code for f in findings] == (["crs_towgs84_ignored"] if said else [])
    assert not said or said in findings[0].message


def test_a_system_that_a_user_types_is_traced_as_well():
    assert parse_crs("+proj=utm +zone=23 +south +ellps=GRS80").to_epsg() == 31983
    with pytest.raises(InputError, match=r"EPSG:29193.*or EPSG:5533"):
        parse_crs("+proj=utm +zone=23 +south +ellps=aust_SA")


def test_the_datum_of_a_projected_system():
    assert datum_of(CRS(29193)).name == "SAD69"
    assert datum_of(CRS(3857)).name == "WGS 84"
    assert datum_of(CRS(20823)) is None


PRJ = utm("SAD_1969_UTM_Zone_23S", *SAD)
CORREGO = utm("Córrego Alegre / UTM 23S", "Córrego Alegre", "Córrego_Alegre", "intl")


@pytest.mark.parametrize(
    ("content", "code"),
    [(PRJ.encode("utf-8-sig"), 29193), (PRJ.encode("utf-16"), 29193), (PRJ.replace(",", ",\r\n").encode(), 29193),
     (CORREGO.encode("cp1252"), 22523), (b" EPSG:31983 \n", 31983), (b"31983", 31983), (b"+init=epsg:31983", 31983),
     (b"", None), (b"\0\0", None), (b"sirgas", None), (b"/etc/passwd", None), (b"http://example.org/4674", None),
     (b"+init=/etc/passwd:1", None), (b"+proj=longlat +ellps=GRS80 +nadgrids=/etc/passwd", None), (b"PROJCS[" * 20_000, None)],
)  # fmt: skip
def test_what_a_prj_says(content, code):
    found = read_prj(content)
    assert (None if found is None else identify(found, "x.prj")[0].to_epsg()) == code


@pytest.mark.parametrize(
    ("content", "code", "finding"),
    [(PRJ.encode("utf-8-sig"), 29193, None), (CORREGO.encode("cp1252"), 22523, None), (b"", None, "crs_unreadable"),
     (utm("x", *UNNAMED, "SA69").encode(), None, "crs_ambiguous"),
     (utm("SAD69", "SAD69", "SAD69", "SA69", extra=shift(-57, 1, -41)).encode(), 29193, "crs_towgs84_ignored")],
)  # fmt: skip
def test_a_shapefile_is_read_by_its_own_prj(tmp_path, make_layer, content, code, finding):
    from shapely import LineString

    layer = make_layer([LineString([(322000, 7416000), (322060, 7416000)])], crs=None, a=[1])
    layer.frame.set_crs(31983).to_file(tmp_path / "rede.shp")
    (tmp_path / "rede.prj").write_bytes(content)
    found = read_layer(tmp_path / "rede.shp")
    assert (None if found.crs is None else found.crs.to_epsg()) == code
    assert [f.code for f in found.findings if f.code.startswith("crs_")] == ([finding] if finding else [])


def test_an_import_without_a_clear_system_names_them(network, make_layer):
    from dataclasses import replace

    from shapely import LineString

    layer = make_layer([LineString([(322000, 7416000), (322060, 7416000)])], crs=None)
    _, findings = identify(CRS.from_wkt(utm("x", *UNNAMED, "SA69")), "rede.prj")
    with pytest.raises(InputError, match=r"can be understood \(.*EPSG:29193 .* or EPSG:5533"):
        network(replace(layer, findings=findings))


def test_a_proj_string_in_a_geopackage(tmp_path, make_layer):
    import sqlite3

    from shapely import LineString

    layer = make_layer([LineString([(322000, 7416000), (322060, 7416000)])], crs=None)
    path = tmp_path / "rede.gpkg"
    layer.frame.set_crs("+proj=utm +zone=23 +south +ellps=intl +towgs84=-206.05,168.28,-3.82 +units=m").to_file(path)
    assert read_layer(path).crs.to_epsg() == 22523
    with sqlite3.connect(path) as connection:
        definition = "+proj=utm +zone=23 +south +ellps=GRS80 +units=m +no_defs"
        connection.execute("UPDATE gpkg_spatial_ref_sys SET definition = ? WHERE srs_id > 10000", (definition,))
    connection.close()
    assert read_layer(path).crs.to_epsg() == 31983
