"""What tells two states of a store apart, cheaply: whoever keeps something that was loaded asks whether it still holds."""

from typing import Any

from sqlalchemy import Connection, func, select, text

from geobill.store.survey_tables import SURVEY_FEATURES, SURVEY_LEDGER
from geobill.store.tables import Tables

# tables in which nothing stands that a price depends on
PRICELESS = frozenset(
    {"archive", "documents", "decree_documents", "set_aside", "month_checks", "priced_coverage", "finding_states"}
) | {*SURVEY_LEDGER, *SURVEY_FEATURES}
EDITED = (
    "SELECT table_name, last_change FROM gpkg_contents WHERE table_name IN ('segments', 'equipment', 'value_zones')"
)


def state_of(connection: Connection, tables: Tables) -> tuple[Any, ...]:
    """Return what changes whenever something is recorded that a price depends on.

    Tables only grow, so that their last key tells; a program that edits a layer, as QGIS, notes it in ``gpkg_contents``.
    """
    named = [tables.metadata.tables[n] for n in sorted(set(tables.metadata.tables) - PRICELESS)]
    newest = select(*(select(func.max(t.c.fid)).scalar_subquery() for t in named))
    edited = connection.execute(text(EDITED)).all()
    return (*connection.execute(newest).one(), *map(tuple, edited))
