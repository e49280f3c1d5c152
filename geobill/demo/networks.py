"""What lies in the sample town's streets: cables, pipes, cabinets, and one row of each fault that can be set aside."""

from typing import Any

import geopandas as gpd
import numpy as np
from shapely.geometry import LineString, MultiLineString, Point
from shapely.geometry.base import BaseGeometry

from geobill.demo.streets import CITY_CRS, N_BLOCKS, Grid, Node, grow

PERMITTED, EXISTING, CLANDESTINE = "permitido", "existente", "clandestino"


def _pick(rng: np.random.Generator, options: tuple[Any, ...]) -> Any:
    return options[int(len(options) * rng.random())]


def _frame(rows: list[dict[str, Any]]) -> gpd.GeoDataFrame:
    return gpd.GeoDataFrame(rows, geometry="geometry", crs=CITY_CRS)


def _past_date(rng: np.random.Generator, first_year: int, years: int) -> str:
    return f"{first_year + int(years * rng.random())}-{1 + int(12 * rng.random()):02d}-{1 + int(28 * rng.random()):02d}"


def draw_cable(grid: Grid, rng: np.random.Generator) -> gpd.GeoDataFrame:
    """Draw Alfa's cables along the kerbs, some through blocks, one along the overlap, one hidden; widths are text."""
    rows: list[dict[str, Any]] = []

    def add(
        line: BaseGeometry | None,
        width: str | None,
        *,
        street: str,
        installed: str | None = None,
        removed: str | None = None,
        status: str = PERMITTED,
        code: str = "",
    ) -> None:
        rows.append(
            {
                "COD_TRECHO": code or f"ALF-{len(rows) + 1:04d}",
                "LOGRADOURO": street,
                "POSICAO": _pick(rng, ("aéreo", "aéreo", "aéreo", "subterrâneo")),
                "LARG_FAIXA": width,
                "DT_INSTAL": installed,
                "DT_RETIR": removed,
                "SITUACAO": status,
                "geometry": line,
            }
        )

    for run in grow(grid, rng, (10, 10), 10800):
        street, width_m = grid.street(run)
        inside_a_block = rng.random() < 0.15
        side = 1 if (run[0][0] + run[0][1]) % 2 else -1
        line = LineString(grid.line(run, side * (width_m / 2 + (0.8 if inside_a_block else -1.2))))
        width = _pick(rng, ("0,25", "0,30", "0,30", "0,40", "0,50", "0,60", "1,20"))
        add(line, width, street=street, installed=_past_date(rng, 2004, 20))
    _mid_month(rows, "DT_INSTAL", "DT_RETIR")
    for path in ([(11, 10), (12, 11), (12, 12), (13, 13)], [(8, 8), (7, 7), (7, 6)], [(6, 12), (5, 13), (5, 14)]):
        add(LineString(grid.line(path)), "0,30", street="Travessia de quadra", installed="2012-05-07")
    beside_overlap = [(11, 10), (11, 11)]
    street, width_m = grid.street(beside_overlap)
    line = LineString(grid.line(beside_overlap, -(width_m / 2 + 0.8)))
    add(line, "0,60", street=street, installed="2015-02-02")
    hidden = [(2, 15), (3, 15), (4, 15)]
    street, width_m = grid.street(hidden)
    line = LineString(grid.line(hidden, width_m / 2 - 1.2))
    add(line, "0,40", street=street, installed="2019-03-08", status=CLANDESTINE)
    spare = [LineString(grid.line([(i, 1), (i + 1, 1)], 3)) for i in (2, 3)]
    add(spare[0], None, street="Rua sem largura", code="ALF-9001")
    add(spare[1], "1.234", street="Rua do ponto ambíguo", code="ALF-9002")
    add(None, "0,30", street="Rua sem desenho", code="ALF-9003")
    rows.append({**rows[0], "COD_TRECHO": "ALF-9004"})
    for row in rows:
        row |= {key: _brazilian(row[key]) for key in ("DT_INSTAL", "DT_RETIR")}
    return _frame(rows)


def _brazilian(iso_date: str | None) -> str | None:
    return None if iso_date is None else "/".join(reversed(iso_date.split("-")))


def _mid_month(rows: list[dict[str, Any]], installed: str, removed: str) -> None:
    """Let four rows begin or end in or about November 2026, two of them outside of it."""
    rows[4][installed], rows[9][removed] = "2026-11-16", "2026-11-10"
    rows[14][installed], rows[19][removed] = "2026-12-01", "2026-10-31"


def draw_water(grid: Grid, rng: np.random.Generator) -> gpd.GeoDataFrame:
    """Draw Beta's water and sewage pipes; one on a centre line, one leaving the map, one of two parts."""
    rows: list[dict[str, Any]] = []

    def add(line: BaseGeometry, width_m: float, system: str, *, status: str = PERMITTED, code: str = "") -> None:
        rows.append(
            {
                "id_rede": code or f"{len(rows) + 1:07d}",
                "sistema": system,
                "diametro_mm": _pick(rng, (50, 75, 100, 150, 300)),
                "largura_vala_m": width_m,
                "implantacao": "1987-06-01" if status == EXISTING else _past_date(rng, 2002, 22),
                "desativacao": None,
                "situacao": status,
                "geometry": line,
            }
        )

    for system, source, target_m, widths in (
        ("água", (7, 6), 13000, (0.45, 0.5, 0.6, 0.8)),
        ("esgoto", (12, 14), 3600, (0.8, 0.9, 1.2)),
    ):
        for run in grow(grid, rng, source, target_m, twist=25):
            offset = grid.street(run)[1] / (4 if system == "água" else -5)
            status = EXISTING if rng.random() < 0.15 else PERMITTED
            add(LineString(grid.line(run, offset)), _pick(rng, widths), system, status=status)
    _mid_month(rows, "implantacao", "desativacao")
    add(LineString(grid.line([(i, 10) for i in range(3, 10)])), 1.2, "esgoto")
    edge = grid.nodes[10, N_BLOCKS]
    outward = (edge - grid.nodes[10, N_BLOCKS - 1]) / np.linalg.norm(edge - grid.nodes[10, N_BLOCKS - 1])
    beyond = [grid.nodes[10, N_BLOCKS - 2], edge, edge + 120 * outward, edge + 200 * outward + [35, -20]]
    add(LineString(np.round(beyond, 2)), 0.8, "água")
    add(MultiLineString([grid.line([(16, j), (17, j)], 2.5) for j in (4, 5)]), 0.6, "água")
    spare = LineString(grid.line([(17, 1), (18, 1)], 3))
    add(spare, 0.0, "água", code="0009001")
    add(LineString([grid.nodes[18, 2], grid.nodes[18, 2]]), 0.6, "água", code="0009002")
    add(LineString(np.round(grid.line([(18, 3), (19, 3)]) + [60000, 0], 2)), 0.6, "água", code="0009003")
    with np.errstate(invalid="ignore"):
        unfinished = LineString([*grid.line([(18, 4), (19, 4)]), (np.nan, np.nan)])
    add(unfinished, 0.6, "água", code="0009004")
    return _frame(rows)


def draw_gas(grid: Grid, rng: np.random.Generator) -> gpd.GeoDataFrame:
    """Draw Gama's gas pipes."""
    rows: list[dict[str, Any]] = []
    for run in grow(grid, rng, (14, 7), 3900, twist=10):
        line = LineString(grid.line(run, -(grid.street(run)[1] / 2 - 2.4)))
        rows.append(_gas_row(f"GN-{len(rows) + 1:03d}", line, _pick(rng, (0.3, 0.35, 0.5)), _past_date(rng, 2013, 10)))
    rows[2]["inicio_operacao"], rows[6]["fim_operacao"] = "2026-11-20", "2026-11-15"
    rows.append(_gas_row("GN-901", Point(grid.nodes[14, 7]), 0.3, "2020-01-15"))
    spare = LineString(grid.line([(18, 16), (19, 16)], 3))
    rows.append(_gas_row("GN-902", spare, 0.3, "31/11/2026"))
    return _frame(rows)


def _gas_row(code: str, geometry: BaseGeometry, width_m: float, begun: str) -> dict[str, Any]:
    return {
        "trecho": code,
        "material": "PEAD",
        "faixa_m": width_m,
        "inicio_operacao": begun,
        "fim_operacao": None,
        "situacao": PERMITTED,
        "geometry": geometry,
    }


def _kerb(grid: Grid, path: list[Node]) -> Point:
    """Find a place at the kerb, half-way along the path's first street."""
    line = grid.line(path, grid.street(path)[1] / 2 - 1.5)
    return Point(np.round((line[0] + line[1]) / 2, 2))


def draw_cabinets(grid: Grid, rng: np.random.Generator) -> gpd.GeoDataFrame:
    """Draw Alfa's cabinets by volume, one of them clandestine."""
    rows = []
    for n, (i, j) in enumerate([(10, 10), (9, 12), (12, 9), (7, 10), (11, 13), (13, 11), (8, 7), (10, 6), (14, 12)]):
        rows.append(
            {
                "armario": f"AR-{n + 1:03d}",
                "modelo": _pick(rng, ("óptico", "híbrido")),
                "volume_m3": _pick(rng, (0.48, 0.75, 1.26, 1.5, 2.345)),
                "instalado_em": _past_date(rng, 2010, 15),
                "situacao": PERMITTED,
                "geometry": _kerb(grid, [(i, j), (i + 1, j)]),
            }
        )
    rows[3]["instalado_em"] = "2026-11-06"
    rows[8]["situacao"] = CLANDESTINE
    rows.append({**rows[0], "armario": "AR-901", "volume_m3": np.nan, "geometry": _kerb(grid, [(3, 5), (3, 6)])})
    rows.append({**rows[0], "armario": "AR-902", "volume_m3": -0.75, "geometry": _kerb(grid, [(3, 6), (3, 7)])})
    return _frame(rows)


def draw_containers(grid: Grid, rng: np.random.Generator) -> gpd.GeoDataFrame:
    """Draw the city hall's own list of containers by length, breadth and height; the owner stands in a column."""
    sizes = ((6.06, 2.44, 2.59), (2.99, 2.44, 2.59), (1.2, 0.8, 1.75))
    rows = []
    owners = (("alfa", (5, 10)), ("alfa", (12, 8)), ("beta", (7, 5)), ("gama", (14, 6)), ("delta", (16, 16)))
    for n, (owner, (i, j)) in enumerate(owners):
        length, breadth, height = _pick(rng, sizes)
        rows.append(
            {
                "codigo": "CT-901" if owner == "delta" else f"CT-{n + 1:03d}",
                "empresa": owner,
                "comprimento_m": length,
                "largura_m": breadth,
                "altura_m": height,
                "geometry": _kerb(grid, [(i, j), (i, j + 1)]),
            }
        )
    return _frame(rows)


def draw_municipal_water(grid: Grid, rng: np.random.Generator) -> gpd.GeoDataFrame:
    """Draw the mains of the municipal water authority, exempt by art. 13."""
    runs = grow(grid, rng, (4, 16), 2400, twist=10)
    return _frame(
        [
            {
                "codigo": f"DAEC-{n + 1:02d}",
                "largura_m": _pick(rng, (0.6, 0.8)),
                "geometry": LineString(grid.line(run, -(grid.street(run)[1] / 4))),
            }
            for n, run in enumerate(runs)
        ]
    )
