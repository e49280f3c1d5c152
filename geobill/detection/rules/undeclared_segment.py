"""A surveyed stretch that no permit allows (art. 10)."""

from geobill.detection.compared import UNDECLARED
from geobill.detection.line_rule import LineRule
from geobill.domain.detection import UNDECLARED_SEGMENT

RULE = LineRule(UNDECLARED_SEGMENT, lambda stretches: (stretches["state"] == UNDECLARED).to_numpy())
