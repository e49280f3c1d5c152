"""A seeded sample town in Caieiras: a value map with streets left open, four operators' files and every known fault.

Nothing is read; the same seed gives the same town. Coordinates are rounded to a centimetre, as drawings deliver them.
People, operators, streets and figures are invented. ``python -m geobill.demo.city DIR`` writes the files.
"""

import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import geopandas as gpd
import numpy as np
import pyogrio
from shapely.geometry import Polygon

from geobill.demo.field import FIELD_FILE, FIELD_LAYER, make_field
from geobill.demo.networks import draw_cabinets, draw_cable, draw_containers, draw_gas, draw_municipal_water, draw_water
from geobill.demo.streets import CITY_CRS, N_BLOCKS, Grid
from geobill.domain.network import Authority, Operator

CITY_MONTH = "2026-11"
CITY_EDITION = "2026"
CITY_EDITION_IN_FORCE_FROM = "2026-01-01"
CITY_AUTHORITY = Authority(
    municipality="Caieiras",
    state="SP",
    name="Prefeitura Municipal de Caieiras (dados de demonstração)",
    cnpj="99.999.999/0001-91",
    address="Praça da Demonstração, 1 – Centro",
    secretariat="Secretaria Municipal de Obras, Projetos e Planejamento",
    legal_office="Secretaria Municipal de Assuntos Jurídicos",
    mayor="Fulana de Tal Exemplo",
)
CITY_OPERATORS: tuple[Operator, ...] = (
    Operator(
        "alfa", "Alfa Telecomunicações S.A.", "private", "11.222.333/0001-81", "telecomunicações",
        "Rua dos Exemplos, 100 – Caieiras/SP", "faturas@alfa.example", "Beltrana de Exemplo",
    ),
    Operator(
        "beta", "Beta Saneamento S.A.", "private", "11.444.777/0001-61", "saneamento",
        "Avenida das Amostras, 2.000 – Caieiras/SP", "contas@beta.example", "Sicrano Amostra",
    ),
    Operator(
        "gama", "Gama Gás S.A.", "private", "22.222.233/0001-71", "gás canalizado",
        "Alameda do Modelo, 30 – Caieiras/SP", "financeiro@gama.example", "Fulano Modelo",
    ),
    Operator(
        "daec", "Departamento Autônomo de Água da Cidade – DAEC (autarquia municipal)", "municipal",
        "12.121.212/0001-06", "água", "Praça da Demonstração, 2 – Caieiras/SP", "daec@cidade.example",
    ),
)  # fmt: skip


@dataclass(frozen=True)
class CityFile:
    """One file of the sample town: which frame it holds, which command imports it and with which mapping.

    ``columns`` maps the keys of ``--map`` to the file's columns; ``operator`` is None where a column names it.
    """

    frame: str
    file: str
    layer: str
    kind: Literal["land-values", "network", "cabinets"]
    operator: str | None
    columns: dict[str, str] = field(default_factory=dict)


CITY_FILES: tuple[CityFile, ...] = (
    CityFile(
        "land_values", "mapa_de_valores.gpkg", "mapa_de_valores", "land-values", None,
        {"zone": "QUADRA", "land_value": "VALOR_M2"},
    ),
    CityFile(
        "cable", "alfa_cabos.shp", "alfa_cabos", "network", "alfa",
        {"segment": "COD_TRECHO", "width": "LARG_FAIXA", "installed_on": "DT_INSTAL", "removed_on": "DT_RETIR",
         "status": "SITUACAO", "level": "POSICAO"},
    ),
    CityFile(
        "water", "beta_redes.gpkg", "redes_beta", "network", "beta",
        {"segment": "id_rede", "width": "largura_vala_m", "installed_on": "implantacao", "removed_on": "desativacao",
         "status": "situacao", "service": "sistema"},
    ),
    CityFile(
        "gas", "gama_gasodutos.geojson", "gama_gasodutos", "network", "gama",
        {"segment": "trecho", "width": "faixa_m", "installed_on": "inicio_operacao", "removed_on": "fim_operacao",
         "status": "situacao"},
    ),
    CityFile(
        "cabinets", "alfa_armarios.geojson", "alfa_armarios", "cabinets", "alfa",
        {"equipment": "armario", "volume": "volume_m3", "installed_on": "instalado_em", "status": "situacao"},
    ),
    CityFile(
        "containers", "conteineres.gpkg", "conteineres", "cabinets", None,
        {"equipment": "codigo", "operator": "empresa", "length": "comprimento_m", "breadth": "largura_m",
         "height": "altura_m"},
    ),
    CityFile(
        "municipal_water", "daec_adutoras.gpkg", "adutoras", "network", "daec",
        {"segment": "codigo", "width": "largura_m"},
    ),
)  # fmt: skip


@dataclass(frozen=True)
class Fault:
    """A row that an import sets aside: its frame, the id in the file and the contract's reason code."""

    frame: str
    id: str
    reason_code: str


CITY_FAULTS: tuple[Fault, ...] = (
    Fault("land_values", "04.153", "value_missing"),
    Fault("land_values", "07.269", "value_not_positive"),
    Fault("cable", "ALF-9001", "width_missing"),
    Fault("cable", "ALF-9002", "number_unreadable"),
    Fault("cable", "ALF-9003", "no_geometry"),
    Fault("cable", "ALF-9004", "duplicate"),
    Fault("water", "0009001", "width_not_positive"),
    Fault("water", "0009002", "zero_length"),
    Fault("water", "0009003", "outside_municipality"),
    Fault("water", "0009004", "invalid_geometry"),
    Fault("gas", "GN-901", "wrong_geometry_type"),
    Fault("gas", "GN-902", "date_unreadable"),
    Fault("cabinets", "AR-901", "volume_missing"),
    Fault("cabinets", "AR-902", "volume_not_positive"),
    Fault("containers", "CT-901", "unknown_operator"),
)


@dataclass(frozen=True)
class City:
    """The sample town's frames as they stand in its files, in EPSG:31983; see ``CITY_FILES`` for their columns.

    ``crossings`` (21 × 21 × 2) and ``street_widths_m`` (two rows of 21) are the street grid they were drawn on.
    """

    land_values: gpd.GeoDataFrame
    cable: gpd.GeoDataFrame
    water: gpd.GeoDataFrame
    gas: gpd.GeoDataFrame
    cabinets: gpd.GeoDataFrame
    containers: gpd.GeoDataFrame
    municipal_water: gpd.GeoDataFrame
    crossings: np.ndarray
    street_widths_m: np.ndarray


CHAMFER_M = 2.5
BOW_TIE, OVERLAP, NULL_VALUE, NEGATIVE_VALUE = (5, 13), (10, 10), (7, 12), (13, 8)


def make_city(seed: int = 3057) -> City:
    """Make the sample town.

    Parameters
    ----------
    seed : int
        Of the generator; the files in ``data/`` come from the default.

    Returns
    -------
    City
        About 400 blocks of 92 m between streets of 10 to 16 m that no block covers, and what lies in the streets.
    """
    rng = np.random.default_rng(seed)
    grid = Grid.draw(rng)
    return City(
        land_values=_land_values(grid, rng),
        cable=draw_cable(grid, rng),
        water=draw_water(grid, rng),
        gas=draw_gas(grid, rng),
        cabinets=draw_cabinets(grid, rng),
        containers=draw_containers(grid, rng),
        municipal_water=draw_municipal_water(grid, rng),
        crossings=grid.nodes,
        street_widths_m=grid.widths_m,
    )


def write_city(city: City, folder: str | Path) -> list[Path]:
    """Write the town's files (``CITY_FILES``) into a folder, replacing those of the same name.

    The content is the same each time; the date that a format keeps of its own is fixed too.

    Parameters
    ----------
    city : City
        What ``make_city`` gave.
    folder : str or Path
        Made where it doesn't exist.

    Returns
    -------
    list of Path
        One main file for each member of ``CITY_FILES``, in that order.
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    return [_write(getattr(city, spec.frame), folder / spec.file, spec.layer) for spec in CITY_FILES]


def write_survey(city: City, folder: str | Path) -> Path:
    """Write the survey of Alfa's cables beside the town's files; the content is the same each time."""
    return _write(make_field(city.cable), Path(folder) / FIELD_FILE, FIELD_LAYER)


def _write(frame: gpd.GeoDataFrame, path: Path, layer: str) -> Path:
    before = pyogrio.get_gdal_config_option("OGR_CURRENT_DATE")
    pyogrio.set_gdal_config_options({"OGR_CURRENT_DATE": "2026-01-01T00:00:00.000Z"})
    try:
        for old in path.parent.glob(f"{path.stem}.*"):
            old.unlink()
        pyogrio.write_dataframe(frame, path, layer=layer, **_FORMATS[path.suffix])
    finally:
        pyogrio.set_gdal_config_options({"OGR_CURRENT_DATE": before})
    return path


_FORMATS: dict[str, dict[str, Any]] = {
    ".gpkg": {
        "driver": "GPKG",
        "geometry_type": "Unknown",
        "promote_to_multi": False,
        "dataset_options": {"VERSION": "1.3"},  # read without a murmur by the GDAL of Debian 12
    },
    ".shp": {
        "driver": "ESRI Shapefile",
        "encoding": "UTF-8",
        "layer_options": {"DBF_DATE_LAST_UPDATE": "2026-01-01"},
    },
    ".geojson": {"driver": "GeoJSON", "layer_options": {"COORDINATE_PRECISION": "2"}},
}


def _land_values(grid: Grid, rng: np.random.Generator) -> gpd.GeoDataFrame:
    noise = rng.random((N_BLOCKS, N_BLOCKS))
    rows = []
    for i in range(N_BLOCKS):
        for j in range(N_BLOCKS):
            past = (0, grid.widths_m[0, i + 1] + 3, 0, 0) if (i, j) == OVERLAP else (0, 0, 0, 0)
            corners = grid.corners(i, j, past)
            if (i, j) == BOW_TIE:
                ring = corners[[0, 1, 3, 2]]
            else:
                before, after = np.roll(corners, 1, axis=0) - corners, np.roll(corners, -1, axis=0) - corners
                before, after = (CHAMFER_M * side / np.linalg.norm(side, axis=1)[:, None] for side in (before, after))
                ring = np.stack([corners + before, corners + after], axis=1).reshape(-1, 2)
            away = np.linalg.norm(corners.mean(axis=0) - grid.nodes[11, 9])
            value = round(float(80 + 790 * np.exp(-((away / 620) ** 2)) + 30 * noise[i, j]), 2)
            number, sector = i * N_BLOCKS + j + 1, f"{2 * (i // 4) + j // 10 + 1:02d}"
            rows.append(
                {
                    "SETOR": sector,
                    "QUADRA": f"{sector}.{number:03d}",
                    "VALOR_M2": {NULL_VALUE: np.nan, NEGATIVE_VALUE: -value}.get((i, j), value),
                    "geometry": Polygon(np.round(ring, 2)),
                }
            )
    return gpd.GeoDataFrame(rows, geometry="geometry", crs=CITY_CRS)


if __name__ == "__main__":
    _city, _folder = make_city(), sys.argv[1] if len(sys.argv) > 1 else "data"
    for _path in (*write_city(_city, _folder), write_survey(_city, _folder)):
        sys.stdout.write(f"{_path}\n")
