"""What a finding is worth: reais of a whole month, once and doubled, and what the law would charge for the past."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal

import geopandas as gpd

from geobill.billing.past import Demand, PastMonth, divide, limitation_of, whole_days
from geobill.domain.dates import BillingMonth
from geobill.domain.detection import CLANDESTINE_KINDS, UNDECLARED_EQUIPMENT, FindingFile
from geobill.pipeline.beside import Beside, Ground, borrowed_ground
from geobill.pipeline.billing import due_day
from geobill.pipeline.finding_prices import as_found
from geobill.pipeline.finding_worth import UNPRICED, MonthWorth, month_worths, supposed_boxes, supposed_lines
from geobill.pipeline.review import find_files
from geobill.pricing.lines import ZERO_M
from geobill.store.finding_queue import FindingQueue
from geobill.store.ledger import Ledger
from geobill.store.surveys import SurveyRegister
from geobill.store.workspace import Workspace


@dataclass(frozen=True)
class PastWorth:
    """What the past would come to, were the finding confirmed today: doubled, month by month (art. 10 § 3).

    ``since`` is the day from which it counts: that of the proven installation, else the law's publication (``presumed``).
    ``demand`` divides the months by their age; ``without_map`` are months that no edition of the map prices yet, ``held`` the
    others that aren't priced, by the code of the reason.
    """

    since: date
    presumed: bool
    last: BillingMonth
    months: tuple[PastMonth, ...]
    demand: Demand
    without_map: tuple[BillingMonth, ...] = ()
    held: tuple[tuple[str, int], ...] = ()

    @property
    def waiting(self) -> Decimal:
        """Return what is older than the term of limitation and waits for a decision, in reais."""
        return sum((m.amount for m in self.demand.held), ZERO_M)

    @property
    def lapsed(self) -> Decimal:
        """Return what a decision on limitation gives up, in reais."""
        return sum((m.amount for m in self.demand.lapsed), ZERO_M)

    @property
    def by_year(self) -> tuple[tuple[int, int, Decimal, Decimal], ...]:
        """Year, its months, what of it is demanded and what isn't, in reais; the latest year first."""
        young = {m.month for m in self.demand.demanded}
        years: dict[int, list[PastMonth]] = {}
        for m in self.months:
            years.setdefault(m.month.year, []).append(m)
        return tuple(
            (
                year,
                len(mine),
                sum((m.amount for m in mine if m.month in young), ZERO_M),
                sum((m.amount for m in mine if m.month not in young), ZERO_M),
            )
            for year, mine in sorted(years.items(), reverse=True)
        )


@dataclass(frozen=True)
class FindingMoney:
    """A finding's worth: this month, and the past where a case of art. 10 could be opened on it."""

    file: FindingFile
    month: MonthWorth
    past: PastWorth | None = None


# -- one finding, with its past


def look_at_money(
    workspace: Workspace,
    finding: str,
    today: date,
    default_width_m: Decimal | None = None,
    installed_on: date | None = None,
) -> FindingMoney:
    """Work out what a finding is worth, and what its past would come to, were it confirmed; nothing is written.

    Parameters
    ----------
    workspace : Workspace
    finding : str
        Its id; an unknown one is refused.
    today : date
        Its month is priced, and the age of past months counts from it.
    default_width_m : Decimal, optional
        Width in metres where the survey gives none; else the one that it was compared with.
    installed_on : date, optional
        Day of installation as it would be proven; without one the law's publication is presumed (art. 10 § 3).
    """
    with workspace.database.read() as connection, borrowed_ground(workspace, connection) as ground:
        register = SurveyRegister(connection, workspace.database.tables, workspace.database.srid)
        queue = FindingQueue(connection, workspace.database.tables, workspace.database.srid)
        file = find_files(register, [finding])[finding]
        found = as_found([file], queue.load_shapes([finding]))
        month = BillingMonth.of(today)
        if default_width_m is None:
            default_width_m = register.load_surveys()[file.finding.survey].default_width_m
        (worth,) = month_worths(ground, found, month, default_width_m)
        if file.finding.kind not in CLANDESTINE_KINDS or worth.why in UNPRICED:
            return FindingMoney(file, worth)
        invoiced = Ledger(connection, workspace.database.tables).find_invoiced(file.operator or "")
        past = _past(workspace, ground, found, today, default_width_m, installed_on, invoiced)
    return FindingMoney(file, worth, past)


def _past(
    workspace: Workspace,
    ground: Ground,
    found: gpd.GeoDataFrame,
    today: date,
    default_width_m: Decimal | None,
    installed_on: date | None,
    invoiced: Sequence[BillingMonth],
) -> PastWorth | None:
    """Price each past month as ``bill --retroactive`` would; None where no month is past."""
    stored, this = ground.stored, BillingMonth.of(today)
    published = stored.law.figures.published_on
    since = max(installed_on or published, published)
    last = max((m for m in invoiced if m < this), default=this.preceding())
    if last < BillingMonth.of(since):
        return None
    box = found["kind"].iloc[0] == UNDECLARED_EQUIPMENT
    lines = supposed_lines(found.iloc[:0] if box else found, ground, default_width_m, since)
    boxes = supposed_boxes(found if box else found.iloc[:0], ground, since)
    beside = Beside(ground, str(found["operator"].iloc[0]), lines, boxes)
    months: list[PastMonth] = []
    without_map: list[BillingMonth] = []
    held: dict[str, int] = {}
    for month in BillingMonth.of(since).until(last):
        if not ground.has_map(month):
            without_map.append(month)
            continue
        price, whole = beside.price_month(month)
        for code, _ in price.held:
            held[code] = held.get(code, 0) + 1
        months.append(
            PastMonth(
                month=month,
                due_on=due_day(workspace.settings, stored.law, month),
                lines=whole_days(price.lines, month) if whole else price.lines,
                now=price.amount,
                before=ZERO_M,
                edition=ground.terms(month).edition,
                reducer=None if price.reducer is None else str(price.reducer),
                held=price.held,
            )
        )
    limitation = limitation_of(stored.policy(this), stored.decisions, today)
    demand = divide(months, limitation, today)
    presumed = installed_on is None
    return PastWorth(since, presumed, last, tuple(months), demand, tuple(without_map), tuple(sorted(held.items())))
