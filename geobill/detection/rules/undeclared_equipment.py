"""A surveyed pole, cabinet or container that no permit allows (art. 10)."""

from geobill.detection.compared import UNDECLARED
from geobill.detection.equipment_rule import EquipmentRule
from geobill.domain.detection import UNDECLARED_EQUIPMENT

RULE = EquipmentRule(UNDECLARED_EQUIPMENT, lambda rows: (rows["state"] == UNDECLARED).to_numpy())
