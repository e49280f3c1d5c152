"""Findings within an area that a reviewer drew: what is at stake in it, before one decision is taken on all of them."""

from dataclasses import dataclass
from decimal import Decimal

import shapely

from geobill.domain.detection import SUSPECTED, FieldFinding
from geobill.pipeline.review import find_in_area
from geobill.store.finding_queue import Query
from geobill.store.surveys import SurveyRegister
from geobill.store.workspace import Workspace


@dataclass(frozen=True)
class Stake:
    """How many findings, their metres, and reais a month as far as they have a price."""

    count: int
    length_m: Decimal
    month_amount: Decimal
    without_amount: int


@dataclass(frozen=True)
class InArea:
    """What an area holds of a query: the findings that nobody decided, with the versions that were seen.

    ``decided`` counts those that somebody did decide: a decision on the area leaves them as they are.
    """

    seen: dict[str, int]
    by_kind: dict[str, Stake]
    whole: Stake
    decided: int


def count_area(workspace: Workspace, query: Query, area: shapely.Polygon) -> InArea:
    """Count the findings of a query that lie wholly within an area (workspace's system), and add up what is at stake."""
    found = find_in_area(workspace, query, area)
    open_ = found[found["state"] == SUSPECTED]
    with workspace.database.read() as connection:
        register = SurveyRegister(connection, workspace.database.tables, workspace.database.srid)
        files = register.load_files(open_["id"])
    findings = [file.finding for file in files.values()]
    kinds = dict.fromkeys(f.kind for f in findings)
    return InArea(
        dict(zip(open_["id"], open_["version"], strict=True)),
        {kind: _stake([f for f in findings if f.kind == kind]) for kind in kinds},
        _stake(findings),
        len(found) - len(open_),
    )


def _stake(findings: list[FieldFinding]) -> Stake:
    amounts = [f.month_amount for f in findings if f.month_amount is not None]
    return Stake(
        len(findings),
        sum((f.length_m for f in findings), Decimal("0.00")),
        sum(amounts, Decimal("0.00")),
        len(findings) - len(amounts),
    )
