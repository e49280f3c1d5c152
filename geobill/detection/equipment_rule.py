"""What a kind of finding on equipment is made of."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from geobill.detection.assignment import Floats
from geobill.detection.confidence import sigma_m
from geobill.domain.detection import DetectionTerms


def not_by_error(distance_m: Floats, terms: DetectionTerms) -> Floats:
    """Return the chance that errors leave two places of one thing nearer than this; 1 for nan.

    Errors are normal along both axes (Rayleigh): a line can only be off to its side, a pole in any direction.
    """
    sigma = sigma_m(terms)
    with np.errstate(divide="ignore", invalid="ignore"):
        sure = -np.expm1(-((distance_m / sigma) ** 2) / 2)
    return np.where(np.isnan(distance_m), 1.0, np.where(np.isnan(sure), 0.0, sure))


def apart_confidence(rows: pd.DataFrame, terms: DetectionTerms) -> Floats:
    """How sure it is that a row is none of those beside it, by ``apart_m``."""
    return not_by_error(rows["apart_m"].to_numpy(dtype=float), terms)


@dataclass(frozen=True)
class EquipmentRule:
    """Which rows are a finding of a kind, and how sure it is.

    ``pick`` gets the rows of one side with the columns of `equipment_pairs.Pairs`, and ``volume_m3`` and
    ``other_volume_m3`` (Decimal, None where there is none).
    """

    kind: str
    pick: Callable[[pd.DataFrame], NDArray[np.bool_]]
    on_permitted: bool = False
    confidence: Callable[[pd.DataFrame, DetectionTerms], Floats] = apart_confidence
