"""The kinds of finding, by hand: one file each, in the order in which they are told."""

from geobill.detection.rules import (
    larger_than_permitted,
    missing_equipment,
    missing_in_survey,
    more_than_permitted,
    moved,
    moved_equipment,
    undeclared_equipment,
    undeclared_segment,
    wider_than_permitted,
)

RULES = (
    undeclared_segment.RULE,
    undeclared_equipment.RULE,
    more_than_permitted.RULE,
    moved.RULE,
    moved_equipment.RULE,
    wider_than_permitted.RULE,
    larger_than_permitted.RULE,
    missing_in_survey.RULE,
    missing_equipment.RULE,
)
