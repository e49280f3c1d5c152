"""A surveyed piece of equipment of a larger volume than the permitted one that it is (art. 4)."""

from decimal import Decimal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from geobill.detection.assignment import Floats
from geobill.detection.equipment_rule import EquipmentRule, not_by_error
from geobill.domain.detection import LARGER, DetectionTerms

# three sides of a cabinet, taped to the centimetre, make a volume that is off by so much
ROUNDING_SHARE, ROUNDING_M3 = Decimal("0.02"), Decimal("0.01")


def rounding_m3(permitted_m3: Decimal) -> Decimal:
    """By how much a surveyed volume may be larger before it is a finding: 2 %, 0.01 m³ at least."""
    return max(permitted_m3 * ROUNDING_SHARE, ROUNDING_M3)


def _larger(rows: pd.DataFrame) -> NDArray[np.bool_]:
    return np.array(
        [
            seen is not None and allowed is not None and seen > allowed + rounding_m3(allowed)
            for seen, allowed in zip(rows["volume_m3"], rows["other_volume_m3"], strict=True)
        ],
        dtype=bool,
    )


def _sure(rows: pd.DataFrame, terms: DetectionTerms) -> Floats:
    # how sure it is that the two are one, times how far the excess is beyond what taping explains
    excess = np.array([float(s - a) for s, a in zip(rows["volume_m3"], rows["other_volume_m3"], strict=True)])
    allowance = np.array([float(rounding_m3(a)) for a in rows["other_volume_m3"]])
    return (1.0 - not_by_error(rows["distance_m"].to_numpy(dtype=float), terms)) * excess / (excess + allowance)


RULE = EquipmentRule(LARGER, _larger, confidence=_sure)
