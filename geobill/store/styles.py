"""Styles that QGIS applies by itself, kept in the store as QGIS keeps them: in the table ``layer_styles``.

The table is QGIS' own, and a person may have saved styles there: only those that geobill wrote are replaced, and a person's
default stays the default.
"""

from collections.abc import Sequence

from sqlalchemy import Connection, text

OWNER = "geobill"
_TABLE = """CREATE TABLE layer_styles (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, f_table_catalog TEXT(256), f_table_schema TEXT(256),
    f_table_name TEXT(256), f_geometry_column TEXT(256), styleName TEXT(30), styleQML TEXT, styleSLD TEXT,
    useAsDefault BOOLEAN, description TEXT, owner TEXT(30), ui TEXT(30), update_time DATETIME NOT NULL)"""
_LISTED = "INSERT INTO gpkg_contents VALUES ('layer_styles', 'attributes', 'layer_styles', '', :now, NULL, NULL, NULL, NULL, NULL)"


def save_styles(connection: Connection, styles: Sequence[tuple[str, str, str, str]], now: str) -> bool:
    """Keep styles as defaults of their tables; nothing is written where they are there already.

    Parameters
    ----------
    styles : sequence of (table, geometry column, title, QML)
        The column is blank for a table without geometry.
    now : str
        ISO text with Z.

    Returns
    -------
    bool
        Whether anything changed.
    """
    moment = now if "." in now else now.replace("Z", ".000Z")
    there = connection.execute(text("SELECT 1 FROM sqlite_master WHERE name = 'layer_styles'")).first() is not None
    if not there:
        connection.execute(text(_TABLE))
        connection.execute(text(_LISTED), {"now": moment})
    kept = connection.execute(
        text(
            "SELECT f_table_name, f_geometry_column, description, styleQML FROM layer_styles WHERE owner = :owner ORDER BY id"
        ),
        {"owner": OWNER},
    ).all()
    if [tuple(row) for row in kept] == list(styles):
        return False
    connection.execute(text("DELETE FROM layer_styles WHERE owner = :owner"), {"owner": OWNER})
    theirs = set(connection.execute(text("SELECT f_table_name FROM layer_styles WHERE useAsDefault")).scalars())
    for table, column, title, style in styles:
        connection.execute(
            text(
                "INSERT INTO layer_styles (f_table_catalog, f_table_schema, f_table_name, f_geometry_column, styleName, styleQML, "
                "styleSLD, useAsDefault, description, owner, ui, update_time) VALUES ('', '', :table, :column, :table, :style, '', "
                ":default, :title, :owner, NULL, :now)"
            ),
            {"table": table, "column": column, "style": style, "default": int(table not in theirs), "title": title,
             "owner": OWNER, "now": moment},
        )  # fmt: skip
    return True
