"""What a kind of finding on lines is made of."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from geobill.detection.confidence import distance_confidence
from geobill.detection.intervals import Floats
from geobill.domain.detection import DetectionTerms

TO_PERMITTED, TO_RIVAL, TO_SURVEYED = "permitted", "rival", "surveyed"


@dataclass(frozen=True)
class LineRule:
    """Which stretches are a finding of a kind, and how sure it is.

    ``pick`` gets stretches of one side with the columns of `compared.Compared`, and ``width_m`` and ``other_width_m``
    (float, nan where there is none). ``apart`` says to what the distance is measured that makes it sure: the nearest
    permitted line, the surveyed line that has the place, or the nearest surveyed line. ``confidence`` gets that distance
    and the length in metres.
    """

    kind: str
    pick: Callable[[pd.DataFrame], NDArray[np.bool_]]
    on_permitted: bool = False
    by_other: bool = False  # a finding for each permitted row, not for the stretch as a whole
    least_length: bool = False  # shorter ones aren't told, where the row is longer
    apart: str = TO_PERMITTED
    confidence: Callable[[Floats, Floats, DetectionTerms], Floats] = distance_confidence
