"""How sure a finding is, as a share: what chance is left that errors of measurement explain it."""

import numpy as np
from scipy.special import erf

from geobill.detection.intervals import Floats
from geobill.domain.detection import DetectionTerms


def sigma_m(terms: DetectionTerms) -> float:
    """One standard deviation of the distance between two drawings of one line, in metres.

    Both accuracies, as errors add up; where none was given, half the tolerance: who allows 3 m expects to be off by 3 m
    once in twenty times.
    """
    given = float(np.hypot(float(terms.survey_accuracy_m), float(terms.permitted_accuracy_m)))
    return given if given > 0 else float(terms.tolerance_m) / 2


def not_by_error(distance_m: Floats, terms: DetectionTerms) -> Floats:
    """Return the chance that errors (normal, across the line) leave two drawings of one line nearer than this; 1 for nan."""
    sigma = sigma_m(terms)
    with np.errstate(divide="ignore", invalid="ignore"):
        sure = erf(np.abs(distance_m) / (sigma * np.sqrt(2.0)))
    return np.where(np.isnan(distance_m), 1.0, np.where(np.isnan(sure), 0.0, sure))


def by_length(length_m: Floats, terms: DetectionTerms) -> Floats:
    """Return length ÷ (length + minimum length): a stretch of just the minimum counts half, a long one nearly whole."""
    least = max(float(terms.min_length_m), 1e-9)
    return length_m / (length_m + least)


def distance_confidence(distance_m: Floats, length_m: Floats, terms: DetectionTerms) -> Floats:
    """Multiply both: how sure it is that two stretches that lie so far apart over such a length aren't one line."""
    return not_by_error(distance_m, terms) * by_length(length_m, terms)
