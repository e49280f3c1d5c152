"""A permitted piece of equipment that stands elsewhere than permitted, near by (art. 4)."""

from geobill.detection.compared import MOVED as STANDS_ELSEWHERE
from geobill.detection.equipment_rule import EquipmentRule
from geobill.domain.detection import MOVED

RULE = EquipmentRule(MOVED, lambda rows: (rows["state"] == STANDS_ELSEWHERE).to_numpy())
