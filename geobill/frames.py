"""Column contracts of the frames that rooms hand to each other, and the one rounding of measured lengths.

Frames carry geometry; money never travels in one. Figures that are exact (widths, values, volumes) are decimal text,
dates are ISO text, ids are exact text; None where absent. Geometry is planar, in the workspace's system, metres.
"""

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import geopandas as gpd
import numpy as np
import shapely

from geobill.errors import InputError

SEGMENTS: tuple[str, ...] = (
    "source_row",  # int, first row of the file is 1
    "segment",  # exact text id; the row number where none is mapped
    "operator",  # id of a stored operator
    "service",
    "level",
    "permit",
    "status",  # permitted, existing or clandestine
    "width_m",  # decimal text, more than 0
    "declared_length_m",  # decimal text
    "installed_on",  # ISO date, first day due
    "removed_on",  # ISO date, last day due
    "geometry",  # MultiLineString, two-dimensional
)
EQUIPMENT: tuple[str, ...] = (
    "source_row",
    "equipment",
    "operator",
    "service",
    "permit",
    "status",
    "volume_m3",  # decimal text, more than 0
    "installed_on",
    "removed_on",
    "geometry",  # any type, two-dimensional
)
ZONES: tuple[str, ...] = (
    "source_row",
    "zone",  # name as in the file; may repeat
    "land_value",  # decimal text, reais a square metre, more than 0
    "geometry",  # MultiPolygon, valid
)
SURVEY_LINES: tuple[str, ...] = (
    "source_row",  # int, counts through all layers of the survey; first is 1
    "segment",  # exact text id; the row number where none is mapped
    "operator",  # None where nobody said
    "service",
    "level",
    "width_m",  # decimal text, None where it wasn't measured
    "geometry",  # MultiLineString
)
SURVEY_EQUIPMENT: tuple[str, ...] = (
    "source_row",
    "equipment",
    "operator",
    "service",
    "volume_m3",  # decimal text, None where it wasn't measured
    "geometry",  # any type
)
FOUND: tuple[str, ...] = (  # a finding of a detection; figures are decimal text, None where there is none
    "kind",  # domain.detection.FINDING_KINDS
    "source_row",  # of the surveyed row; of the permitted one where kind is missing_in_survey
    "segment",  # its id
    "operator",
    "service",
    "level",
    "start_m",  # float, along the row's own line
    "end_m",
    "length_m",  # to the centimetre; 0.00 for equipment
    "permitted",  # id of the permitted row concerned
    "offset_mean_m",  # distance to the nearest permitted line along the stretch
    "offset_p95_m",
    "offset_max_m",
    "confidence",  # 0.00 to 1.00
    "width_m",
    "permitted_width_m",
    "volume_m3",
    "permitted_volume_m3",
    "geometry",  # LineString: a stretch of the row's own line; Point for equipment
)
ASIDE: tuple[str, ...] = (  # a row that was set aside
    "source_row",  # int, counts through all layers of its batch
    "layer",
    "row",  # int, in its layer; first is 1
    "id",
    "reason_code",
    "reason",
    "columns",  # its own columns as they came: text by name, in the order of the file; None where they weren't kept
    "geometry",  # as it came, in the workspace's system; None where there is none
)


def check_columns(frame: gpd.GeoDataFrame, columns: Sequence[str], what: str) -> None:
    """Raise InputError naming what is missing, unless the frame has all the columns of a contract."""
    missing = [c for c in columns if c not in frame.columns]
    if missing:
        raise InputError(
            f"{what} lacks the column(s) {', '.join(missing)}; it has {', '.join(map(str, frame.columns))}."
        )


def whole_units(lengths_m: Any, precision_m: Decimal) -> np.ndarray:
    """Measured lengths as whole multiples of the precision, rounded half up: the only rounding of a length.

    A hundredth of a micrometre is forgiven at the half, so that turning a drawing by an angle doesn't move a
    centimetre.

    Parameters
    ----------
    lengths_m : array of float
        Plan lengths in metres.
    precision_m : Decimal
        The policy ``length_precision_m``.

    Returns
    -------
    numpy.ndarray of int64
    """
    return np.floor(np.asarray(lengths_m, dtype=float) / float(precision_m) + 0.5 + 1e-6).astype(np.int64)


def plan_lengths(geometries: Any) -> np.ndarray:
    """Plan length of each geometry in metres, heights ignored; 0 where there is none."""
    return np.nan_to_num(shapely.length(shapely.force_2d(np.asarray(geometries, dtype=object))))
