"""The sample town: made twice alike, kept in data/ as it is made, streets left open, each fault there once."""

import itertools
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pyogrio
import pytest
import shapely
from stdnum.br import cnpj

from geobill.demo.city import (
    CITY_AUTHORITY,
    CITY_CRS,
    CITY_FAULTS,
    CITY_FILES,
    CITY_OPERATORS,
    City,
    CityFile,
    make_city,
    write_city,
    write_survey,
)
from geobill.demo.networks import CLANDESTINE
from geobill.domain.finding import REASON_CODES
from geobill.intake.cabinets import read_cabinets
from geobill.intake.crs import CAIEIRAS
from geobill.intake.land_values import read_land_values
from geobill.intake.network import read_network
from geobill.intake.reader import read_layer
from geobill.intake.reading import Options, Part, Reading

DATA = Path(__file__).parents[2] / "data"
every_file = pytest.mark.parametrize("spec", CITY_FILES, ids=lambda spec: spec.frame)


@pytest.fixture(scope="module")
def city() -> City:
    return make_city()


def content(frame: pd.DataFrame) -> list[tuple]:
    """Rows with nulls as None, dates as ISO text and shapes to the centimetre, whatever types a driver gave them."""
    columns = []
    for name in frame.columns:
        if name == "geometry":
            columns.append([None if g is None else shapely.to_wkt(g, rounding_precision=2) for g in frame.geometry])
        elif pd.api.types.is_datetime64_any_dtype(frame[name].dtype):
            columns.append([None if pd.isna(v) else v.date().isoformat() for v in frame[name]])
        else:
            columns.append([None if pd.isna(v) else v for v in frame[name]])
    return list(zip(*columns, strict=True))


def read_by_command(folder: Path, spec: CityFile) -> Reading:
    layer = read_layer(folder / spec.file, spec.layer)
    options = Options(operator=spec.operator, mapping=spec.columns)
    operators = [o.id for o in CITY_OPERATORS]
    if spec.kind == "land-values":
        return read_land_values(layer, options, CAIEIRAS)
    read = read_network if spec.kind == "network" else read_cabinets
    return read([Part(layer, options)], CAIEIRAS, operators)


@pytest.mark.filterwarnings("ignore:invalid value encountered")
@every_file
def test_data_folder_holds_what_the_generator_makes(city, spec):
    stored = pyogrio.read_dataframe(DATA / spec.file, layer=spec.layer)
    made = getattr(city, spec.frame)
    assert list(stored.columns) == list(made.columns)
    assert stored.crs == CITY_CRS
    assert content(stored) == content(made)


@every_file
def test_same_seed_same_town_other_seed_another(city, spec):
    again, other = getattr(make_city(), spec.frame), getattr(make_city(seed=1), spec.frame)
    assert content(again) == content(getattr(city, spec.frame))
    assert content(other) != content(again)


def test_written_twice_is_the_same_to_the_byte(city, tmp_path):
    for name in ("one", "two", "two"):
        write_city(city, tmp_path / name)
    files = sorted(p.name for p in (tmp_path / "one").iterdir())
    assert files == sorted(p.name for p in (tmp_path / "two").iterdir())
    for name in files:
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes(), name


def test_data_folder_is_small_and_of_every_format():
    sizes = {p.suffix: p.stat().st_size for p in DATA.iterdir()}
    assert sum(p.stat().st_size for p in DATA.iterdir()) < 3_000_000
    assert {".gpkg", ".shp", ".geojson"} <= set(sizes)


def test_readme_of_the_data_names_every_file():
    text = (DATA / "README.md").read_text(encoding="utf-8")
    for spec in CITY_FILES:
        assert f"`{spec.file}`" in text
        assert all(f"`{column}`" in text for column in spec.columns.values()), spec.file
    for fault in CITY_FAULTS:
        assert f"`{fault.id}`" in text
        assert f"`{fault.reason_code}`" in text


@pytest.mark.filterwarnings("ignore:invalid value encountered")
@every_file
def test_import_sets_aside_exactly_the_faults_told(spec):
    reading = read_by_command(DATA, spec)
    told = {f.id: f.reason_code for f in CITY_FAULTS if f.frame == spec.frame}
    assert {s.id: s.reason_code for s in reading.set_aside} == told
    assert reading.read == len(reading.accepted) + len(told)


def test_each_fault_that_a_row_can_have_is_there_once():
    assert Counter(f.reason_code for f in CITY_FAULTS) == Counter(REASON_CODES)


def test_streets_are_as_wide_as_said_and_lie_open(city):
    widths = city.street_widths_m
    assert widths.min() >= 10
    assert widths.max() <= 16
    blocks = city.land_values[city.land_values.is_valid]
    covered = shapely.union_all(blocks.geometry.values)
    hull = shapely.convex_hull(covered)
    assert 0.65 < covered.area / hull.area < 0.85
    middles = (city.crossings[1:] + city.crossings[:-1]) / 2
    inner = shapely.points(middles[:, 1:-1].reshape(-1, 2))
    half = np.tile(widths[1, 1:-1] / 2, len(middles))
    assert np.abs(shapely.distance(covered, inner) - half).max() < 0.02


def test_map_has_one_bow_tie_and_one_overlap_of_different_values(city):
    blocks = city.land_values
    assert (~blocks.is_valid).sum() == 1
    sound = blocks[blocks.is_valid].reset_index(drop=True)
    first, second = shapely.STRtree(sound.geometry.values).query(sound.geometry.values, predicate="overlaps")
    pairs = [(a, b) for a, b in zip(first, second, strict=True) if a < b]
    assert len(pairs) == 1
    (a, b) = pairs[0]
    assert sound.geometry[a].intersection(sound.geometry[b]).area > 100
    assert sound["VALOR_M2"][a] != sound["VALOR_M2"][b]


def test_values_fall_from_the_centre_in_cents(city):
    good = city.land_values[city.land_values["VALOR_M2"] > 0]
    values = good["VALOR_M2"]
    assert len(city.land_values) == 400
    assert values.min() >= 80
    assert values.max() <= 900
    assert (values.round(2) == values).all()
    away = good.centroid.distance(shapely.Point(city.crossings[11, 9]))
    assert values[away < 200].min() > values[away > 800].max()


def test_networks_are_of_the_sizes_that_reach_three_brackets(city):
    lengths = {}
    for spec in CITY_FILES:
        if spec.kind == "network":
            accepted = read_by_command(DATA, spec).accepted
            lengths[spec.operator] = accepted[accepted["status"] != "clandestine"].length.sum() / 1000
    assert 10 < lengths["alfa"] < 13
    assert 15 < lengths["beta"] < 19
    assert 3 < lengths["gama"] < 5
    assert 2 < lengths["daec"] < 3


def test_network_has_a_centre_line_a_leaver_and_lines_through_blocks(city):
    nodes = city.crossings
    centre = shapely.LineString(nodes[3:10, 10])
    assert sum(g is not None and g.equals(centre) for g in city.water.geometry) == 1
    blocks = shapely.union_all(city.land_values[city.land_values.is_valid].geometry.values)
    far = shapely.length(shapely.difference(city.water.geometry.iloc[:-4].values, blocks.buffer(20)))
    assert (far > 50).sum() == 1
    assert (shapely.length(shapely.intersection(city.cable.geometry.values, blocks)) > 60).sum() >= 3
    overlap = _overlap(city)
    assert np.nanmax(shapely.length(shapely.intersection(city.cable.geometry.values, overlap))) > 30


def _overlap(city: City) -> shapely.Geometry:
    sound = city.land_values[city.land_values.is_valid].geometry.values
    pairs = shapely.STRtree(sound).query(sound, predicate="overlaps")
    return shapely.intersection(sound[pairs[0][0]], sound[pairs[1][0]])


def test_one_hidden_cable_one_hidden_cabinet_and_days_of_november(city):
    assert (city.cable["SITUACAO"] == CLANDESTINE).sum() == 1
    assert (city.cabinets["situacao"] == CLANDESTINE).sum() == 1
    november = [
        v
        for frame, columns in (
            (city.cable, ("DT_INSTAL", "DT_RETIR")),
            (city.water, ("implantacao", "desativacao")),
            (city.gas, ("inicio_operacao", "fim_operacao")),
        )
        for v in itertools.chain.from_iterable(frame[c].dropna() for c in columns)
        if v[:7] == "2026-11" or v.endswith("/11/2026")
    ]
    assert len(november) == 7  # two of each network, and the day that no calendar has


def test_operators_are_of_their_kinds_with_valid_numbers():
    kinds = {o.id: o.kind for o in CITY_OPERATORS}
    assert kinds == {"alfa": "private", "beta": "private", "gama": "private", "daec": "municipal"}
    for owner in (*CITY_OPERATORS, CITY_AUTHORITY):
        assert cnpj.is_valid(owner.cnpj)


def test_the_survey_is_kept_as_it_is_made_and_shows_what_was_left_undeclared(city, tmp_path):
    made = write_survey(city, tmp_path)
    kept = pyogrio.read_dataframe(DATA / made.name)
    assert content(pyogrio.read_dataframe(made)) == content(kept)
    assert made.read_bytes() == write_survey(city, tmp_path).read_bytes()
    permitted = shapely.union_all([g for g in city.cable.geometry if g is not None])
    far = [line.length for line in kept.geometry if not shapely.dwithin(line, permitted, 3)]
    assert len(far) == 1, "one stretch runs across the street, away from all that is permitted"
