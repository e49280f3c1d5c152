"""A month priced from the store: the same for a look and for a bill."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date

import geopandas as gpd
from sqlalchemy import Connection

from geobill.domain.dates import BillingMonth
from geobill.domain.invoice import Basis, Bill, Decision, PolicyUse
from geobill.domain.permit import PermitFile
from geobill.errors import InputError
from geobill.law.policy import KEYS, Policy
from geobill.law.statutes import load_statute
from geobill.law.statutes.caieiras_lei_3057_2001 import StreetUseLaw
from geobill.pricing.permitted import follow_permits
from geobill.pricing.price import PricedMonth, price_segments
from geobill.store.networks import Cadastre
from geobill.store.permits import PermitRegister
from geobill.store.registers import Registers
from geobill.store.settings import Settings
from geobill.store.workspace import Workspace


@dataclass(frozen=True)
class Month:
    """A priced month with what it was priced from."""

    priced: PricedMonth
    law: StreetUseLaw
    segments: gpd.GeoDataFrame
    equipment: gpd.GeoDataFrame
    zones: gpd.GeoDataFrame
    batch: str | None
    decisions: dict[str, Decision]
    policy: Policy
    files: dict[str, PermitFile]

    @property
    def bill(self) -> Bill:
        """Return the bill itself."""
        return self.priced.bill


def price_month(workspace: Workspace, month: BillingMonth, *, located: bool = False) -> Month:
    """Price a month from the store; changes nothing. The very code that :func:`bill_month` runs."""
    with workspace.database.read() as connection:
        return price_stored(workspace, connection, month, located)


def price_stored(workspace: Workspace, connection: Connection, month: BillingMonth, located: bool = False) -> Month:
    """Price a month over an open transaction."""
    settings, database = workspace.settings, workspace.database
    registers, cadastre = Registers(connection, database.tables), Cadastre(connection, database.tables, database.srid)
    law = load_statute(settings.statute)
    law.figures.value("location_index", month.first_day)  # before the law there is nothing to price
    decisions = registers.load_decisions()
    segments, equipment = cadastre.load_segments(), cadastre.load_equipment()
    files = PermitRegister(connection, database.tables).load_files()
    segments, equipment = follow_permits(segments, files), follow_permits(equipment, files)
    name, since, batch = edition_on(cadastre, month.first_day, needed=bool(len(segments)))
    zones = cadastre.load_zones(batch or "")
    basis = basis_of(law, settings, decisions, name, since)
    priced = price_segments(
        month,
        segments,
        equipment,
        zones,
        registers.load_operators(),
        law,
        settings.policy,
        decisions,
        basis,
        located,
        decrees_of(files),
    )
    return Month(priced, law, segments, equipment, zones, batch, decisions, settings.policy, files)


def decrees_of(files: Mapping[str, PermitFile]) -> dict[str, date] | None:
    """Day of publication of each permit's decree; None while no permit is registered, so that any named one counts."""
    published = {number: file.published_on for number, file in files.items()}
    return {number: day for number, day in published.items() if day is not None} if files else None


def edition_on(cadastre: Cadastre, on: date, *, needed: bool = True) -> tuple[str, date, str] | tuple[None, None, None]:
    """Name, first day and batch of the edition of the Mapa de Valores in force on a day.

    Raises
    ------
    InputError
        Where none is in force and one is needed: art. 7 prices land by it.
    """
    editions = cadastre.find_editions()
    in_force = [e for e in editions if e[1] <= on]
    if not in_force and needed:
        known = ", ".join(f"{n} from {d.isoformat()}" for n, d, _ in editions) or "none"
        raise InputError(
            f"No edition of the Mapa de Valores is in force on {on.isoformat()} (imported: {known}): "
            "art. 7 prices land by it. Import the edition with geobill import land-values … --in-force-from DATE."
        )
    return in_force[-1] if in_force else (None, None, None)


def basis_of(
    law: StreetUseLaw, settings: Settings, decisions: dict[str, Decision], edition: str | None, since: date | None
) -> Basis:
    """Name what is priced from: statute, policy and the decisions that it rests on, edition."""
    policy = settings.policy.as_text()
    rests_on = {policy["above_100_km"]} - {"hold"}
    return Basis(
        statute=law.figures.id,
        statute_title=law.figures.title,
        edition=edition,
        edition_in_force_from=since,
        policy=tuple(
            PolicyUse(k.key, policy[k.key], k.default, policy[k.key] if policy[k.key] in rests_on else None)
            for k in KEYS
        ),
        decisions=tuple(d for d in decisions.values() if d.id in rests_on),
    )
