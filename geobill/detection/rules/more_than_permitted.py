"""A surveyed stretch on a permitted one that another surveyed line has already (art. 10)."""

from geobill.detection.compared import MORE as LEFT_OVER
from geobill.detection.line_rule import TO_RIVAL, LineRule
from geobill.domain.detection import MORE

# the nearer the two surveyed lines lie, the likelier they are one line, drawn twice
RULE = LineRule(MORE, lambda stretches: (stretches["state"] == LEFT_OVER).to_numpy(), apart=TO_RIVAL)
