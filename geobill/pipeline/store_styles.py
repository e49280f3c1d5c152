"""The store made ready for QGIS: a style for each of its tables, kept in it."""

from geobill.documents.store_styles import StoreStyle, store_styles
from geobill.store.registers import Registers
from geobill.store.styles import save_styles
from geobill.store.tables import FEATURES
from geobill.store.workspace import Workspace


def style_store(workspace: Workspace, now: str) -> tuple[StoreStyle, ...]:
    """Keep today's styles in the store, and return them; nothing is written where they are there already."""
    tables = workspace.database.tables
    columns = {
        t.name: [c.name for c in t.columns if c.name not in ("fid", "geom")] for t in tables.metadata.sorted_tables
    }
    with workspace.database.write() as connection:
        names = {o.id: o.name for o in Registers(connection, tables).load_operators().values()}
        styles = store_styles(columns, names)
        rows = [(s.table, "geom" if s.table in FEATURES else "", s.title, s.qml) for s in styles]
        save_styles(connection, rows, now)
    return styles
