"""Two ways of pricing the same months, by the billing code itself; nothing is written to the books."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from decimal import Decimal, InvalidOperation
from pathlib import Path

import geopandas as gpd
from sqlalchemy import Connection

from geobill.billing.simulation import compare_bills
from geobill.domain.dates import BillingMonth
from geobill.domain.invoice import Bill, Decision
from geobill.domain.money import plain
from geobill.domain.simulation import SUPPOSED, Change, MapRead, Side, Simulation
from geobill.errors import InputError
from geobill.intake.land_values import read_land_values, settle_zones
from geobill.intake.reader import read_layer
from geobill.intake.reading import Options
from geobill.law.figures import Bracket, StatuteFigures
from geobill.law.policy import KEYS, check_answer, check_policy_value, in_force, parse_policy
from geobill.law.statutes.street_use import StreetUseLaw
from geobill.law.supposed import IN_THE_PRICE, suppose
from geobill.pipeline.law import load_law
from geobill.pipeline.month import Stored, Terms, edition_on
from geobill.pipeline.place import place_of
from geobill.pricing.network import CutNetwork, cut_network
from geobill.store.networks import Cadastre
from geobill.store.registers import Registers
from geobill.store.workspace import Workspace

ABOVE, HOLD = "above_100_km", "hold"
LONGEST_RANGE = 120  # months
Say = Callable[[str], None]


@dataclass(frozen=True)
class MapFile:
    """A proposed Mapa de Valores: the file, its layer, and how it is read."""

    path: Path
    layer: str | None
    options: Options


@dataclass(frozen=True)
class Ask:
    """How one side is to be priced; what is left out is the workspace's own.

    ``policy`` are values by key over those of the ``profile``; ``above_100_km`` also takes a number, a supposed decision.
    ``figures`` and ``brackets`` are proposed, ``law_of`` is another month whose law, policy and edition apply.
    """

    policy: Mapping[str, str] = field(default_factory=dict)
    profile: str | None = None
    edition: str | None = None
    land_values: MapFile | None = None
    figures: Mapping[str, Decimal] = field(default_factory=dict)
    brackets: tuple[Bracket, ...] = ()
    law_of: BillingMonth | None = None


OWN = Ask()


@dataclass(frozen=True)
class Simulated:
    """The comparison with what each side was priced by, and in what they differ; ``figures`` are the base's statute."""

    simulation: Simulation
    base: Side
    scenario: Side
    changes: tuple[Change, ...]
    figures: StatuteFigures


@dataclass(frozen=True)
class _Priced:
    """One side while it is priced."""

    ask: Ask
    stored: Stored
    proposed: MapRead | None
    supposed: Decimal | None


def simulate(
    workspace: Workspace, months: Sequence[BillingMonth], base: Ask, scenario: Ask, say: Say = lambda _: None
) -> Simulated:
    """Price months twice and put the two side by side.

    Parameters
    ----------
    workspace : Workspace
        Only read.
    months : sequence of BillingMonth
        Ascending.
    base, scenario : Ask
    say : callable
        Takes the progress messages.

    Raises
    ------
    InputError
        If both sides are the same, or a map, a profile, an edition or a figure can't be used.
    LawError, PolicyError
        As pricing refuses.
    """
    if base == scenario:
        raise InputError(
            "Both sides are the same: there is nothing to compare. Say what the scenario changes: --policy KEY=VALUE, --profile, "
            "--edition, --land-values FILE, --figure NAME=VALUE, --brackets FILE or --at YYYY-MM."
        )
    cuts: dict[tuple[str, ...], CutNetwork] = {}
    with workspace.database.read() as connection:
        law = load_law(workspace, connection)
        sides = [_side(workspace, connection, law, ask, months[0], say) for ask in (base, scenario)]
        bills: tuple[list[Bill], list[Bill]] = ([], [])
        for month in months:
            say(f"pricing {month} twice")
            for side, done in zip(sides, bills, strict=True):
                done.append(side.stored.price(month, cut=_cut(side, month, cuts)).bill)
    return Simulated(
        compare_bills(*bills),
        *(_described(side, mine[-1]) for side, mine in zip(sides, bills, strict=True)),
        changes=_changes(sides, bills),
        figures=sides[0].stored.law.figures,
    )


def months_from(first: BillingMonth, last: BillingMonth) -> list[BillingMonth]:
    """Months from one to another, both included.

    Raises
    ------
    InputError
        If the last is before the first, or they are more than ten years.
    """
    if last < first:
        raise InputError(f"--until {last} is before --month {first}: give the later month to --until.")
    months = [first]
    while months[-1] < last:
        if len(months) == LONGEST_RANGE:
            raise InputError(f"{first} to {last} are more than {LONGEST_RANGE} months: simulate a shorter range.")
        months.append(months[-1].following())
    return months


def _side(
    workspace: Workspace, connection: Connection, law: StreetUseLaw, ask: Ask, first: BillingMonth, say: Say
) -> _Priced:
    """Turn what is asked for into the terms of a price, and load what months are priced from."""
    tables = workspace.database.tables
    decisions = Registers(connection, tables).load_decisions()
    changes, supposed = _policy(ask, decisions, first)
    if ask.profile is not None and ask.profile not in workspace.settings.profiles:
        known = ", ".join(workspace.settings.profiles) or "none"
        raise InputError(
            f"There is no policy profile {ask.profile!r} (there: {known}). Write its values under [policy.profile.{ask.profile}] "
            "in geobill.toml, or name each with --policy KEY=VALUE."
        )
    if ask.edition is not None and ask.land_values is not None:
        raise InputError("A side takes an imported edition or a proposed map, not both: leave one of them out.")
    terms = Terms(profile=ask.profile, changes=changes, edition=ask.edition, supposed=supposed)
    if ask.figures or ask.brackets or ask.law_of is not None:
        as_of = law.day_for(ask.law_of) if ask.law_of else None
        terms = replace(terms, law=replace(law, figures=suppose(law.figures, ask.figures, ask.brackets, as_of)))
    proposed = None
    if ask.land_values is not None:
        proposed, zones = _read_map(workspace, ask.land_values)
        say(f"{proposed.accepted} of {proposed.read} rows of {proposed.file} are zones; nothing of it is stored")
        terms = replace(terms, edition=proposed.file, zones=zones)
    if ask.law_of is not None:
        terms = _as_of(workspace, connection, law, terms, decisions, ask.law_of)
    stored = Stored(workspace, connection, terms)
    above = next((Decimal(d.answer) for d in supposed.values()), None)
    return _Priced(ask, stored, proposed, above)


def _policy(
    ask: Ask, decisions: Mapping[str, Decision], first: BillingMonth
) -> tuple[dict[str, str], dict[str, Decision]]:
    """Policy values of a side, and the decision that it supposes where R above the scale is given as a number."""
    changes = dict(ask.policy)
    above = changes.get(ABOVE, HOLD).strip()
    if above.lower() == HOLD:
        changes |= {ABOVE: HOLD} if ABOVE in changes else {}
        supposed = {}
    elif above in decisions or not _is_number(above):
        supposed = {}
    else:
        answer = check_answer(ABOVE, above.replace(",", "."))
        decision = Decision(
            f"{SUPPOSED}{answer}", "none", first.first_day, "nobody: a simulation supposes it", ABOVE, answer
        )
        changes[ABOVE], supposed = decision.id, {decision.id: decision}
    return {key: check_policy_value(key, value) for key, value in changes.items()}, supposed


def _is_number(text: str) -> bool:
    try:
        return Decimal(text.replace(",", ".")).is_finite()
    except InvalidOperation:
        return False


def _as_of(
    workspace: Workspace,
    connection: Connection,
    law: StreetUseLaw,
    terms: Terms,
    decisions: Mapping[str, Decision],
    month: BillingMonth,
) -> Terms:
    """Take policy, decisions and edition of another month, on every day."""
    database, on = workspace.database, law.day_for(month)
    then = {
        d.id: replace(d, in_force_from=None if in_force(d, month.first_day) else date.max) for d in decisions.values()
    }
    own = workspace.settings.policy_in(month, terms.profile)
    edition = terms.edition
    if edition is None:
        edition, _, _ = edition_on(Cadastre(connection, database.tables, database.srid), on)
    policy = parse_policy({**own.as_text(), **terms.changes})
    return replace(terms, policy=policy, edition=edition, supposed={**then, **terms.supposed})


def _read_map(workspace: Workspace, file: MapFile) -> tuple[MapRead, gpd.GeoDataFrame]:
    """Read a proposed map as the import does, and keep nothing of it."""
    found = read_layer(file.path, file.layer)
    reading = read_land_values(found, file.options, place_of(workspace))
    reading, zones = settle_zones(reading, float(workspace.settings.policy.max_gap_m), file.path.name)
    if not len(zones):
        first = next(iter(reading.set_aside), None)
        raise InputError(
            f"No row of {file.path.name} can be used as a zone ({first.reason if first else 'it has no rows'}): every metre would be "
            "held. Check the layer and the --map columns, as for geobill import land-values."
        )
    return MapRead(file.path.name, found.sha256, reading.read, len(zones)), zones.reset_index(drop=True)


def _cut(side: _Priced, month: BillingMonth, cuts: dict[tuple[str, ...], CutNetwork]) -> CutNetwork:
    """Cut the network once for each map and each policy that decides where it is cut, whichever side asks."""
    stored, policy = side.stored, side.stored.policy(month)
    _, _, batch = stored.edition(month)
    land = side.proposed.sha256 + str(side.ask.land_values) if side.proposed else str(batch)
    key = (land, policy.on_border, policy.on_overlap, plain(policy.max_gap_m))
    if key not in cuts:
        cuts[key] = cut_network(stored.segments, stored.zones(batch), policy)
    return cuts[key]


def _described(side: _Priced, last: Bill) -> Side:
    ask = side.ask
    return Side(
        statute=last.basis.statute,
        statute_title=last.basis.statute_title,
        edition=last.basis.edition,
        policy=tuple((use.key, use.value) for use in last.basis.policy),
        profile=ask.profile,
        proposed_map=side.proposed,
        figures=tuple((name, plain(value)) for name, value in ask.figures.items()),
        brackets=tuple((None if b.up_to is None else plain(b.up_to), plain(b.value)) for b in ask.brackets),
        law_of=ask.law_of,
        supposed_reducer=side.supposed,
    )


def _changes(sides: Sequence[_Priced], bills: tuple[list[Bill], list[Bill]]) -> tuple[Change, ...]:
    """In what the two sides differ, whether somebody asked for it or it follows from the months."""
    found: dict[Change, None] = {}
    for base, scenario in zip(*bills, strict=True):
        texts = [{use.key: use.value for use in b.basis.policy} for b in (base, scenario)]
        for key in (k.key for k in KEYS):
            if texts[0][key] != texts[1][key]:
                found[Change("policy", key, texts[0][key], texts[1][key])] = None
        editions = base.basis.edition or "", scenario.basis.edition or ""
        if editions[0] != editions[1] or sides[0].proposed != sides[1].proposed:
            found[Change("edition", "", *editions)] = None
        laws, on = [side.stored.law for side in sides], sides[0].stored.law.day_for(base.month)
        for name in IN_THE_PRICE:
            values = [law.figures.value(name, on) if law.figures.has(name, on) else None for law in laws]
            if values[0] != values[1]:
                found[Change("figure", name, *("" if v is None else plain(v) for v in values))] = None
        scales = [law.figures.figure("reducer", on).brackets for law in laws]
        if scales[0] != scales[1]:
            found[Change("brackets", "reducer", *map(_scale, scales))] = None
    months = [str(side.ask.law_of or "") for side in sides]
    if months[0] != months[1]:
        found[Change("law_of", "", months[0], months[1])] = None
    return tuple(found)


def _scale(brackets: tuple[Bracket, ...]) -> str:
    """Write a scale of R as text: up to so many metres, R."""
    return "; ".join(f"{'' if b.up_to is None else plain(b.up_to)}: {plain(b.value)}" for b in brackets)
