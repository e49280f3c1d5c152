"""A survey of the sample town's cables, as a crew would bring it: shaken, cut elsewhere, and with what nobody declared.

Drawn from the town as it is, with a generator of its own: the town's files don't change by it.
"""

from typing import Any

import geopandas as gpd
import numpy as np
import shapely
import shapely.affinity
import shapely.ops

from geobill.demo.streets import CITY_CRS

FIELD_FILE, FIELD_LAYER, FIELD_OPERATOR = "levantamento_alfa.gpkg", "cabos", "alfa"
FIELD_COLUMNS = {"segment": "PONTO", "width": "LARGURA"}
FIELD_TOLERANCE_M = "3"
SHIFT_M, SHAKE_M = 0.5, 0.15  # one standard deviation: of a whole stretch, of its vertices
LEFT_OUT = (17, 52)  # stretches that the crew didn't find
FAULTY = "ALF-9"  # ids of the rows that the import sets aside
WIDER = 30  # the strip of this one measures more than was permitted


def make_field(cable: gpd.GeoDataFrame, seed: int = 3057) -> gpd.GeoDataFrame:
    """Draw the survey.

    Parameters
    ----------
    cable : GeoDataFrame
        Alfa's cables as they were delivered, in metres.
    seed : int
        Of the generator.

    Returns
    -------
    GeoDataFrame
        ``PONTO``, ``LARGURA`` (metres, absent where it wasn't measured), ``EQUIPE``; four stretches among them stand in no file
        of Alfa: one across the street, one over a crossing, one on past the end of a permitted one, a second cable on one.
    """
    rng = np.random.default_rng(seed)
    drawn = list(cable.geometry[~cable["COD_TRECHO"].str.startswith(FAULTY)])
    rows: list[tuple[Any, float | None]] = []
    for n, line in enumerate(drawn):
        if n not in LEFT_OUT:
            rows += [(part, 0.9 if n == WIDER else None) for part in _cut(_shaken(line, rng), rng)]
    rows += [(_shaken(line, rng), 0.3) for line in _undeclared(drawn)]
    order = rng.permutation(len(rows))
    return gpd.GeoDataFrame(
        {
            "PONTO": [f"P{n:03d}" for n in range(1, len(rows) + 1)],
            "LARGURA": [rows[at][1] for at in order],
            "EQUIPE": ["Equipe 1" if n % 2 else "Equipe 2" for n in range(len(rows))],
        },
        geometry=[shapely.transform(rows[at][0], lambda xy: np.round(xy, 2)) for at in order],
        crs=CITY_CRS,
    )


def _shaken(line: shapely.LineString, rng: np.random.Generator) -> shapely.LineString:
    dense = shapely.segmentize(line, 25.0)
    xy = shapely.get_coordinates(dense) + rng.normal(0, SHIFT_M, 2)
    xy = xy + rng.normal(0, SHAKE_M, xy.shape)
    return shapely.LineString(xy[::-1] if rng.random() < 0.4 else xy)


def _cut(line: shapely.LineString, rng: np.random.Generator) -> list[shapely.LineString]:
    """Cut a stretch where the crew stopped for the day, now and then."""
    if line.length < 60 or rng.random() > 0.3:
        return [line]
    at = rng.uniform(0.3, 0.7)
    return [
        shapely.ops.substring(line, 0, at, normalized=True),
        shapely.ops.substring(line, at, 1, normalized=True),
    ]


def _undeclared(drawn: list[shapely.LineString]) -> list[shapely.LineString]:
    first, over, end, twice = drawn[5], drawn[24], drawn[44], drawn[60]
    return [
        shapely.affinity.translate(first, *_aside(first, 9.0)),
        _across(over, 45.0),
        _on(end, 60.0),
        shapely.affinity.translate(twice, *_aside(twice, 0.4)),
    ]


def _way(line: shapely.LineString) -> np.ndarray:
    begin, end = np.asarray(line.coords[0]), np.asarray(line.coords[-1])
    return (end - begin) / np.hypot(*(end - begin))


def _aside(line: shapely.LineString, metres: float) -> np.ndarray:
    along = _way(line)
    return metres * np.array([-along[1], along[0]])


def _across(line: shapely.LineString, metres: float) -> shapely.LineString:
    middle, off = np.asarray(line.interpolate(0.5, normalized=True).coords[0]), _aside(line, metres)
    return shapely.LineString([middle - off, middle + off])


def _on(line: shapely.LineString, metres: float) -> shapely.LineString:
    end = np.asarray(line.coords[-1])
    return shapely.LineString([end, end + metres * _way(line)])
