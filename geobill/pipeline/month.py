"""A month priced from the store: the same for a look and for a bill."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date

import geopandas as gpd
from sqlalchemy import Connection

from geobill.domain.case import CaseFile
from geobill.domain.dates import BillingMonth
from geobill.domain.invoice import Basis, Bill, Decision, PolicyUse
from geobill.domain.permit import PermitFile
from geobill.domain.suspension import SuspensionFile
from geobill.errors import InputError
from geobill.law.policy import KEYS, Policy, as_decided, decision_behind, in_force, is_key, parse_policy
from geobill.law.statutes.street_use import StreetUseLaw
from geobill.pipeline.law import load_law
from geobill.pipeline.policy import settings_as_known
from geobill.pricing.cased import follow_cases
from geobill.pricing.network import CutNetwork
from geobill.pricing.permitted import follow_permits
from geobill.pricing.price import PricedMonth, price_segments
from geobill.store.cases import CaseRegister
from geobill.store.networks import Cadastre
from geobill.store.permits import PermitRegister
from geobill.store.policy import PolicyBook
from geobill.store.registers import Registers
from geobill.store.suspensions import SuspensionRegister
from geobill.store.workspace import Workspace


@dataclass(frozen=True)
class Terms:
    """Where a month isn't priced by what the workspace says today: what is left None is the workspace's own.

    ``edition`` names an imported edition of the Mapa de Valores, or a proposed map whose ``zones`` (by ``frames.ZONES``)
    are given with it; ``known_until`` (UTC, ISO text with Z) takes only what was recorded before that moment. Without a
    ``policy``, each month's own takes the values of the ``profile`` and then those of ``changes``. ``supposed`` are
    decisions by id that nobody took: a simulation names them, nothing records them.
    """

    policy: Policy | None = None
    law: StreetUseLaw | None = None
    edition: str | None = None
    known_until: str | None = None
    zones: gpd.GeoDataFrame | None = None
    profile: str | None = None
    changes: Mapping[str, str] = field(default_factory=dict)
    supposed: Mapping[str, Decision] = field(default_factory=dict)


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
    return Stored(workspace, connection, terms).price(month, located)


class Stored:
    """What months are priced from, loaded once over an open transaction: many can be priced from it.

    ``segments`` and ``equipment`` follow the decided cases and the permits.
    """

    def __init__(self, workspace: Workspace, connection: Connection, terms: Terms = OWN):
        tables, srid, known = workspace.database.tables, workspace.database.srid, terms.known_until
        registers = Registers(connection, tables, known)
        self.settings, self.terms = workspace.settings, terms
        if known is not None:
            self.settings = settings_as_known(workspace.settings, PolicyBook(connection, tables).load(), known)
        self.cadastre = Cadastre(connection, tables, srid, known)
        self.law = terms.law or load_law(workspace, connection, known)
        self.decisions, self.operators = {**registers.load_decisions(), **terms.supposed}, registers.load_operators()
        self.files = PermitRegister(connection, tables, known).load_files()
        self.decrees = decrees_of(self.files)
        self.cases = CaseRegister(connection, tables, known).load_files()
        self.suspensions = SuspensionRegister(connection, tables, known).load_files()
        published = self.law.figures.published_on
        self.segments, self.equipment = (
            follow_permits(follow_cases(frame, self.cases, published), self.files)
            for frame in (self.cadastre.load_segments(), self.cadastre.load_equipment())
        )
        self._zones: dict[str | None, gpd.GeoDataFrame] = {} if terms.zones is None else {None: terms.zones}

    def policy(self, month: BillingMonth) -> Policy:
        """Return the policy that a month is priced under: R above 100 km stays held until its decision is in force."""
        return as_decided(self._policy_named(month), self.decisions, month.first_day)

    def _policy_named(self, month: BillingMonth) -> Policy:
        if self.terms.policy is not None:
            return self.terms.policy
        own = self.settings.policy_in(month, self.terms.profile)
        return parse_policy({**own.as_text(), **self.terms.changes}) if self.terms.changes else own

    def edition(self, month: BillingMonth) -> tuple[str | None, date | None, str | None]:
        """Return the edition of the Mapa de Valores that a month takes; see :func:`edition_on`. A proposed one has no batch."""
        if self.terms.zones is not None:
            return self.terms.edition, None, None
        return edition_on(self.cadastre, self.law.day_for(month), self.terms.edition, needed=bool(len(self.segments)))

    def zones(self, batch: str | None) -> gpd.GeoDataFrame:
        """Return the zones of an edition."""
        if batch not in self._zones:
            self._zones[batch] = self.cadastre.load_zones(batch or "")
        return self._zones[batch]

    def price(
        self, month: BillingMonth, located: bool = False, *, operator: str | None = None, cut: CutNetwork | None = None
    ) -> Month:
        """Price a month of everybody, or of one operator; ``cut`` is its network already cut over the month's edition."""
        self.law.figures.value("location_index", self.law.day_for(month))  # before the law there is nothing to price
        policy, (name, since, batch) = self.policy(month), self.edition(month)
        segments, equipment = (
            frame if operator is None else frame[frame["operator"] == operator]
            for frame in (self.segments, self.equipment)
        )
        zones = self.zones(batch)
        basis = basis_of(self.law, policy, self.decisions, name, since, month.first_day)
        priced = price_segments(
            month,
            segments,
            equipment,
            zones,
            self.operators,
            self.law,
            policy,
            self.decisions,
            basis,
            located,
            self.decrees,
            cut,
            self.suspensions.values(),
        )
        return Month(
            priced,
            self.law,
            segments,
            equipment,
            zones,
            batch,
            self.decisions,
            policy,
            self.files,
            self.cases,
            self.suspensions,
        )


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
    law: StreetUseLaw,
    rules: Policy,
    decisions: Mapping[str, Decision],
    edition: str | None,
    since: date | None,
    on: date,
) -> Basis:
    """Name what is priced from on a day: statute, edition, policy, and the decisions in force that it rests on.

    Decisions on a question in free text, in force on that day, stand beside them: they are printed and move no amount.
    """
    policy = rules.as_text()
    found = {k.key: decision_behind(k.key, rules, decisions, on) for k in KEYS}
    behind = {key: decision.id for key, decision in found.items() if decision is not None}
    rests_on = {*behind.values(), *(d.id for d in decisions.values() if not is_key(d.question) and in_force(d, on))}
    return Basis(
        statute=law.figures.id,
        statute_title=law.figures.title,
        edition=edition,
        edition_in_force_from=since,
        policy=tuple(PolicyUse(k.key, policy[k.key], k.default, behind.get(k.key)) for k in KEYS),
        decisions=tuple(d for d in decisions.values() if d.id in rests_on),
    )
