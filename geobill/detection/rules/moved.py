"""A permitted stretch that lies elsewhere than permitted, near by (art. 4)."""

from geobill.detection.compared import MOVED as LIES_ELSEWHERE
from geobill.detection.line_rule import LineRule
from geobill.domain.detection import MOVED

RULE = LineRule(MOVED, lambda stretches: (stretches["state"] == LIES_ELSEWHERE).to_numpy())
