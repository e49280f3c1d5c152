"""A permitted stretch that the survey doesn't have (art. 4)."""

from geobill.detection.compared import MISSING as NOT_SURVEYED
from geobill.detection.line_rule import TO_SURVEYED, LineRule
from geobill.domain.detection import MISSING

RULE = LineRule(
    MISSING, lambda stretches: (stretches["state"] == NOT_SURVEYED).to_numpy(), on_permitted=True, apart=TO_SURVEYED
)
