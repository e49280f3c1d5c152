"""The statute that a workspace bills under, with what the city hall recorded about it."""

from sqlalchemy import Connection

from geobill.law.statutes import load_statute
from geobill.law.statutes.street_use import StreetUseLaw
from geobill.store.workspace import Workspace


def load_law(workspace: Workspace, connection: Connection, known_until: str | None = None) -> StreetUseLaw:
    """Return the workspace's statute over an open transaction, as it was known before a moment."""
    return load_statute(workspace.settings.statute)
