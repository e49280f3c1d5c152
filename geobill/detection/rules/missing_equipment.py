"""A permitted piece of equipment that the survey doesn't have (art. 4)."""

from geobill.detection.compared import MISSING as NOT_SURVEYED
from geobill.detection.equipment_rule import EquipmentRule
from geobill.domain.detection import MISSING

RULE = EquipmentRule(MISSING, lambda rows: (rows["state"] == NOT_SURVEYED).to_numpy(), on_permitted=True)
