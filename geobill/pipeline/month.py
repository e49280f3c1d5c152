"""A month priced from the store: the same for a look and for a bill."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date

import geopandas as gpd
from sqlalchemy import Connection

from geobill.domain.case import CaseFile
from geobill.domain.dates import BillingMonth
from geobill.domain.invoice import Basis, Bill, Decision, PolicyUse
from geobill.domain.permit import PermitFile
from geobill.domain.suspension import SuspensionFile
from geobill.errors import InputError
from geobill.law.policy import KEYS, Policy
from geobill.law.statutes.street_use import StreetUseLaw
from geobill.pipeline.law import load_law
from geobill.pricing.cased import follow_cases
from geobill.pricing.permitted import follow_permits
from geobill.pricing.price import PricedMonth, price_segments
from geobill.store.cases import CaseRegister
from geobill.store.networks import Cadastre
from geobill.store.permits import PermitRegister
from geobill.store.registers import Registers
from geobill.store.suspensions import SuspensionRegister
from geobill.store.workspace import Workspace


@dataclass(frozen=True)
class Terms:
    """Where a month isn't priced by what the workspace says today: what is left None is the workspace's own.

    ``edition`` names an imported edition of the Mapa de Valores; ``known_until`` (UTC, ISO text with Z) takes only what
    was recorded before that moment.
    """

    policy: Policy | None = None
    law: StreetUseLaw | None = None
    edition: str | None = None
    known_until: str | None = None


OWN = Terms()


@dataclass(frozen=True)
class Month:
    """A priced month with what it was priced from; segments and equipment follow the permits and the decided cases."""

    priced: PricedMonth
    law: StreetUseLaw
    segments: gpd.GeoDataFrame
    equipment: gpd.GeoDataFrame
    zones: gpd.GeoDataFrame
    batch: str | None
    decisions: dict[str, Decision]
    policy: Policy
    files: dict[str, PermitFile]
    cases: dict[str, CaseFile]
    suspensions: dict[str, SuspensionFile]

    @property
    def bill(self) -> Bill:
        """Return the bill itself."""
        return self.priced.bill


def price_month(workspace: Workspace, month: BillingMonth, *, located: bool = False, terms: Terms = OWN) -> Month:
    """Price a month from the store; changes nothing. The very code that :func:`bill_month` runs."""
    with workspace.database.read() as connection:
        return price_stored(workspace, connection, month, located, terms)


def price_stored(
    workspace: Workspace, connection: Connection, month: BillingMonth, located: bool = False, terms: Terms = OWN
) -> Month:
    """Price a month over an open transaction."""
    tables, srid, known = workspace.database.tables, workspace.database.srid, terms.known_until
    registers, cadastre = Registers(connection, tables, known), Cadastre(connection, tables, srid, known)
    law = terms.law or load_law(workspace, connection, known)
    law.figures.value("location_index", month.first_day)  # before the law there is nothing to price
    policy = terms.policy or workspace.settings.policy_in(month)
    decisions = registers.load_decisions()
    files = PermitRegister(connection, tables, known).load_files()
    cases = CaseRegister(connection, tables, known).load_files()
    suspensions = SuspensionRegister(connection, tables, known).load_files()
    segments, equipment = (
        follow_cases(follow_permits(frame, files), cases)
        for frame in (cadastre.load_segments(), cadastre.load_equipment())
    )
    name, since, batch = edition_on(cadastre, month.first_day, terms.edition, needed=bool(len(segments)))
    zones = cadastre.load_zones(batch or "")
    basis = basis_of(law, policy, decisions, name, since)
    priced = price_segments(
        month,
        segments,
        equipment,
        zones,
        registers.load_operators(),
        law,
        policy,
        decisions,
        basis,
        located,
        decrees_of(files),
    )
    return Month(priced, law, segments, equipment, zones, batch, decisions, policy, files, cases, suspensions)


def decrees_of(files: Mapping[str, PermitFile]) -> dict[str, date] | None:
    """Day of publication of each permit's decree; None while no permit is registered, so that any named one counts."""
    published = {number: file.published_on for number, file in files.items()}
    return {number: day for number, day in published.items() if day is not None} if files else None


def edition_on(
    cadastre: Cadastre, on: date, named: str | None = None, *, needed: bool = True
) -> tuple[str, date, str] | tuple[None, None, None]:
    """Name, first day and batch of the edition of the Mapa de Valores in force on a day, or of the one that is named.

    Raises
    ------
    InputError
        Where none is in force and one is needed: art. 7 prices land by it; or where none has that name.
    """
    editions = cadastre.find_editions()
    if named is not None:
        found = [e for e in editions if e[0] == named]
        if not found:
            known = ", ".join(n for n, _, _ in editions) or "none"
            raise InputError(f"There is no edition {named!r} of the Mapa de Valores (imported: {known}).")
        return found[-1]
    in_force = [e for e in editions if e[1] <= on]
    if not in_force and needed:
        known = ", ".join(f"{n} from {d.isoformat()}" for n, d, _ in editions) or "none"
        raise InputError(
            f"No edition of the Mapa de Valores is in force on {on.isoformat()} (imported: {known}): "
            "art. 7 prices land by it. Import the edition with geobill import land-values … --in-force-from DATE."
        )
    return in_force[-1] if in_force else (None, None, None)


def basis_of(
    law: StreetUseLaw, rules: Policy, decisions: dict[str, Decision], edition: str | None, since: date | None
) -> Basis:
    """Name what is priced from: statute, policy and the decisions that it rests on, edition."""
    policy = rules.as_text()
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
