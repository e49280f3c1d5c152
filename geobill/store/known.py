"""What was on record at a moment: the one way in which a register leaves out what was recorded later."""

from typing import Any

from sqlalchemy import ColumnElement, Select


def known_before(query: Select[Any], recorded_at: ColumnElement[str], moment: str | None) -> Select[Any]:
    """Return a query over what was recorded before a moment (UTC, ISO text with Z); None takes all that is on record."""
    return query if moment is None else query.where(recorded_at < moment)
