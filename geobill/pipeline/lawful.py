"""What counts as permitted wherever a survey is shown beside it: rows that may stand in the street on a day."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

import geopandas as gpd
import numpy as np
from sqlalchemy import Connection

from geobill.domain import case as acts
from geobill.domain.case import CaseFile
from geobill.domain.detection import Survey
from geobill.domain.network import LAWFUL
from geobill.domain.permit import PermitFile
from geobill.pipeline.law import load_law
from geobill.pricing.cased import follow_cases
from geobill.pricing.in_force import stands
from geobill.pricing.permitted import follow_permits
from geobill.store.cases import CaseRegister
from geobill.store.permits import PermitRegister
from geobill.store.workspace import Workspace

FOLLOWED = ("permit", "status", "installed_on", "removed_on")  # columns that cases and permits change
# steps of a case after which its rows may be lawful or not: see pricing.cased.follow_cases
TURNING = (
    acts.DOUBLED, acts.INSTALLED, acts.DISMISSED, acts.DEFENCE_DECIDED, acts.APPEAL_DECIDED, acts.REGULARISED,
    acts.REGISTER_DELIVERED, acts.REMOVED, acts.FORFEITED,
)  # fmt: skip


def lawful(frame: gpd.GeoDataFrame, on: date) -> gpd.GeoDataFrame:
    """Keep the rows that may stand in the street on a day: permitted, or there before the law (art. 12), and standing on it.

    Neither what is planned and not granted, nor what is clandestine or unregistered, nor what is only suspected.

    Parameters
    ----------
    frame : GeoDataFrame
        Rows that follow cases and permits, as `pipeline.month.Stored` has them or :meth:`Rights.follow` makes them.
    on : date
    """
    frame = frame[frame["status"].isin(LAWFUL).to_numpy()]
    return frame[np.array([stands(row, on) for row in frame.itertuples()], dtype=bool)]


def held_against(frame: gpd.GeoDataFrame, survey: Survey) -> gpd.GeoDataFrame:
    """Keep the lawful rows that a survey was held against: of its operator and services, on its day.

    Parameters
    ----------
    frame : GeoDataFrame
        As for :func:`lawful`.
    survey : Survey
    """
    keep = np.ones(len(frame), dtype=bool)
    if survey.operator is not None:
        keep &= (frame["operator"] == survey.operator).to_numpy()
    if survey.services:
        keep &= (frame["service"].isna() | frame["service"].isin(survey.services)).to_numpy()
    return lawful(frame[keep], date.fromisoformat(survey.compared_on))


@dataclass(frozen=True)
class Rights:
    """What makes a stored row lawful or not: the cases, the permits, and the law's publication."""

    cases: Mapping[str, CaseFile]
    permits: Mapping[str, PermitFile]
    law_published_on: date

    def follow(self, frame: gpd.GeoDataFrame) -> gpd.GeoDataFrame:
        """Return stored rows as their cases and permits leave them; the frame needs the columns of `FOLLOWED`, id and operator."""
        followed: gpd.GeoDataFrame = follow_permits(
            follow_cases(frame, self.cases, self.law_published_on), self.permits
        )
        return followed

    def stamp(self, on: date) -> list[Any]:
        """Return what changes with every step of a case and of a permit that makes rows lawful or not on a day."""
        steps = [
            [f.case.id, a.kind, *_turn(a.on, on), a.note] for f in self.cases.values() for a in f.acts_of(*TURNING)
        ]
        ours = [[n, *_turn(f.published_on, on), *_turn(f.removed_on, on)] for n, f in self.permits.items()]
        return [steps, ours]


def _turn(day: date | None, on: date) -> tuple[date | None, int]:
    """Return a day, and whether it is to come, is there or has passed on another one."""
    return day, 0 if day is None else (day > on) - (day < on)


def load_rights(workspace: Workspace, connection: Connection) -> Rights:
    """Load the cases and permits that rows follow, without any row."""
    tables = workspace.database.tables
    return Rights(
        CaseRegister(connection, tables).load_files(),
        PermitRegister(connection, tables).load_files(),
        load_law(workspace, connection).figures.published_on,
    )
