"""Surveys and permitted networks out of plain lines, for the tests of detection."""

import importlib.util
from decimal import Decimal
from pathlib import Path

import geopandas as gpd
import numpy as np
import pytest
import shapely

from geobill.domain.detection import DetectionTerms
from geobill.frames import SEGMENTS, SURVEY_LINES

SHARED = Path(__file__).parents[2] / "shared"
ORIGIN = np.array([321_000.0, 7_414_000.0])


def line(*places):
    """A line through places given in metres from the origin."""
    return shapely.linestrings(np.array(places, dtype=float) + ORIGIN)


def survey(lines, **columns):
    return _frame(lines, SURVEY_LINES, columns)


def permitted(lines, **columns):
    return _frame(lines, SEGMENTS, {"width_m": "0.50", **columns})


def _frame(lines, contract, columns):
    lines = list(lines)
    frame = gpd.GeoDataFrame({c: None for c in contract if c != "geometry"}, index=range(len(lines)), geometry=lines)
    frame["source_row"] = np.arange(1, len(lines) + 1)
    frame["segment"] = [f"{'S' if contract is SURVEY_LINES else 'P'}{n}" for n in frame["source_row"]]
    for name, value in columns.items():
        frame[name] = value
    return frame.set_crs("EPSG:31983")


def terms(tolerance=3, min_length=5, *, moved_within=None, survey_accuracy=0, permitted_accuracy=0):
    moved = 2 * tolerance if moved_within is None else moved_within
    given = (tolerance, min_length, survey_accuracy, permitted_accuracy, moved)
    return DetectionTerms(*(Decimal(str(x)) for x in given))


def acceptance():
    """The acceptance's own maker of surveys, or a skip that can be seen."""
    path = SHARED / "cases/run_detection.py"
    if not path.exists():
        pytest.skip(f"{path} isn't there")
    spec = importlib.util.spec_from_file_location("run_detection", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def network(name, layer):
    path = SHARED / "data/caieiras" / name
    if not path.exists():
        pytest.skip(f"{path} isn't there")
    return gpd.read_file(path, layer=layer)
