"""A surveyed strip that is wider than the permitted one that it lies on (art. 4)."""

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from geobill.detection.compared import MATCHED, MOVED
from geobill.detection.confidence import by_length, not_by_error
from geobill.detection.intervals import Floats
from geobill.detection.line_rule import LineRule
from geobill.domain.detection import WIDER, DetectionTerms


def _wider(stretches: pd.DataFrame) -> NDArray[np.bool_]:
    paired = stretches["state"].isin((MATCHED, MOVED)) & (stretches["other"] >= 0)
    return (paired & (stretches["width_m"] > stretches["other_width_m"])).to_numpy()


def _sure(distance_m: Floats, length_m: Floats, terms: DetectionTerms) -> Floats:
    # how sure it is that the two are one line: errors alone often leave them as far apart as they lie
    return (1.0 - not_by_error(distance_m, terms)) * by_length(length_m, terms)


RULE = LineRule(WIDER, _wider, by_other=True, least_length=True, confidence=_sure)
