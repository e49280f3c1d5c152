"""A statute's charges from plain figures, without a map: the same law and the same lines that bill a month."""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

from geobill.billing.month import due_date, is_banking_day
from geobill.domain.dates import BillingMonth, parse_date
from geobill.domain.invoice import Decision, Line
from geobill.domain.money import plain
from geobill.domain.network import DOUBLED, KINDS, NOT_YET, STATUSES
from geobill.domain.ratio import Ratio
from geobill.errors import InputError
from geobill.law.charge import Silence
from geobill.law.policy import Policy, decided_reducer, parse_policy
from geobill.law.reading import parse_statute
from geobill.law.statutes.street_use import StreetUseLaw
from geobill.pipeline.billing import business_days
from geobill.pipeline.law import load_named
from geobill.pricing.lines import ZERO_M, Cabinet, Prices, Stretch
from geobill.store.registers import Registers
from geobill.store.statutes import read_statute
from geobill.store.workspace import Workspace

_KEYS = ("date", "segments", "equipment", "operator_kind", "policy")
_SEGMENT = ("length_m", "width_m", "land_value", "status", "service", "permit", "zone")
_EQUIPMENT = ("volume_m3", "pieces", "status", "service", "permit")
MOST_DIGITS = 40
# policy keys that figures without a map, without dates and without rows of a delivery can't obey
_WITHOUT_EFFECT = (
    "on_border", "on_overlap", "max_gap_m", "same_strip", "length_source", "length_precision_m", "proration",
    "duplicate_stretch", "limitation_years", "ample_defence_days", "set_off_share", "deposit_follows_price",
)  # fmt: skip


@dataclass(frozen=True)
class Factor:
    """One factor of a charge, with the article that gives it."""

    name: str
    value: Decimal | Ratio
    article: str


@dataclass(frozen=True)
class AssessedCharge:
    """``quantity`` × ``rate`` × factors, rounded once: one line, as on an invoice."""

    item: str
    quantity: Decimal
    unit: str
    rate: Decimal
    factors: tuple[Factor, ...]
    amount: Decimal
    articles: tuple[str, ...]


@dataclass(frozen=True)
class AssessedHeld:
    """What the law leaves open: adds nothing."""

    item: str
    reason: str
    article: str


@dataclass(frozen=True)
class AssessedDeadline:
    """A day that the law sets."""

    name: str
    date: date
    article: str


@dataclass(frozen=True)
class Assessment:
    """The charges of one whole month; ``deposit`` and ``yearly`` are None where something in them is held."""

    statute: str
    date: date
    policy: Policy
    charges: tuple[AssessedCharge, ...]
    total: Decimal
    deposit: Decimal | None
    yearly: Decimal | None
    held: tuple[AssessedHeld, ...]
    exempt: str | None
    deadlines: tuple[AssessedDeadline, ...]


@dataclass(frozen=True)
class _Asked:
    """What the file asks for, read and checked."""

    on: date
    stretches: tuple[Stretch, ...]
    cabinets: tuple[Cabinet, ...]
    kind: str
    policy: Policy


def assess(statute: str, file: Path, workspace: Workspace | None) -> Assessment:
    """Work out a month's charges from a file of plain figures; changes nothing.

    Parameters
    ----------
    statute : str
        Its name; with a workspace also one of its own.
    file : Path
        JSON: ``date``, ``segments``, ``equipment``, and optionally ``operator_kind`` and ``policy``.
    workspace : Workspace or None
        Gives its own statutes, the acts and confirmations entered there, its decisions and its calendar.

    Raises
    ------
    InputError
        If the file isn't that, has a key that nothing obeys, or a figure that can't be one.
    LawError, PolicyError
        As the law and the policy refuse.
    """
    law, decisions = _law(statute, workspace)
    asked = _read(_json(file), law)
    month = BillingMonth.of(asked.on)
    article = law.exemption(asked.kind)
    if article is not None:
        return Assessment(statute, asked.on, asked.policy, (), ZERO_M, None, None, (), article, ())
    prices = Prices(law, month, asked.policy, on=asked.on)
    above = decided_reducer(asked.policy, decisions)
    lines, held = _lines(asked.stretches, asked.cabinets, prices, above)
    granted = [[s for s in found if s.status not in DOUBLED] for found in (asked.stretches, asked.cabinets)]
    regular, silent = _lines(*granted, prices, above)  # a deposit and a yearly payment are of what a decree may grant
    monthly = None if silent else sum((line.amount for line in regular), ZERO_M)
    figures = law.figures
    due = due_date(month, int(figures.value("due_day", asked.on)), asked.policy, _works(law, workspace))
    return Assessment(
        statute=statute,
        date=asked.on,
        policy=asked.policy,
        charges=tuple(_charge(line, law, asked.on) for line in lines),
        total=sum((line.amount for line in lines), ZERO_M),
        deposit=None if monthly is None else monthly * figures.value("deposit_months", asked.on),
        yearly=None if monthly is None else monthly * figures.value("yearly_months", asked.on),
        held=tuple(held),
        exempt=None,
        deadlines=(AssessedDeadline("payment", due, law.article("due_day", asked.on)),),
    )


def _law(statute: str, workspace: Workspace | None) -> tuple[StreetUseLaw, dict[str, Decision]]:
    if workspace is None:
        return StreetUseLaw(parse_statute(read_statute(None, statute))), {}
    with workspace.database.read() as connection:
        decisions = Registers(connection, workspace.database.tables).load_decisions()
        return load_named(workspace, connection, statute), decisions


def _works(law: StreetUseLaw, workspace: Workspace | None) -> Callable[[date], bool]:
    if workspace is not None:
        return business_days(workspace.settings)
    return lambda day: is_banking_day(day, state=law.figures.state, local_holiday=lambda _: False)


def _lines(
    stretches: Any, cabinets: Any, prices: Prices, above: Decimal | None
) -> tuple[list[Line], list[AssessedHeld]]:
    """Lines as an invoice has them, and what is held for its R; R is set by the operator's metres, or each permit's."""
    lines: list[Line] = []
    held: list[AssessedHeld] = []
    scopes: dict[str | None, list[Stretch]] = {}
    for s in stretches:
        scopes.setdefault(s.permit if prices.policy.reducer_scope == "permit" else None, []).append(s)
    counts = prices.policy.clandestine_counts_in_reducer
    for permit, mine in scopes.items():
        metres = sum((s.length_m for s in mine if prices.law.counts_in_reducer(s.status, counts)), ZERO_M)
        found = prices.law.reducer(metres, prices.on, method=prices.policy.reducer_method, above=above)
        if isinstance(found, Silence):
            whose = f"permit {permit}: " if permit is not None else ""
            held.append(AssessedHeld("network", whose + found.reason, found.article))
        else:
            lines += prices.network_lines(mine, found).values()
    return lines + list(prices.equipment_lines(cabinets).values()), held


def _charge(line: Line, law: StreetUseLaw, on: date) -> AssessedCharge:
    factors: list[Factor] = []

    def add(name: str, value: Decimal | Ratio | None, of: str) -> None:
        if value is not None:
            factors.append(Factor(name, value, law.article(of, on)))

    add("billed_width_m", line.billed_width_m, "minimum_width_m")
    for name in ("location_index", "depreciation_index", "reducer"):
        add(name, getattr(line, name), name)
    if line.multiplier != 1:
        own = ("clandestine_multiplier", "unregistered_multiplier")
        cited = [a for name in own for a in law.articles(name, on) if a in line.articles]
        factors.append(Factor("multiplier", line.multiplier, "; ".join(cited)))
    if line.kind == "network":
        assert line.length_m is not None
        assert line.land_value is not None
        quantity, unit, rate = line.length_m, "m", line.land_value
    elif line.pieces is not None and line.price_per_piece is not None:
        quantity, unit, rate = Decimal(line.pieces), "piece", line.price_per_piece
    else:
        assert line.volume_m3 is not None
        assert line.price_per_m3 is not None
        quantity, unit, rate = line.volume_m3, "m3", line.price_per_m3
    return AssessedCharge(line.kind, quantity, unit, rate, tuple(factors), line.amount, line.articles)


# -- the file


def _json(file: Path) -> Any:
    def refuse(word: str) -> Any:
        raise InputError(f'{file} holds {word}, which is no figure. Write a number, best as text: "7200.00".')

    def whole(digits: str) -> int | Decimal:
        return int(digits) if len(digits) < MOST_DIGITS else Decimal(digits)  # Python refuses to read very long ones

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        names = [name for name, _ in pairs]
        twice = sorted({n for n in names if names.count(n) > 1})
        if twice:
            raise InputError(
                f"{file} gives {', '.join(twice)} twice in one place: which one counts can't be told. Keep one."
            )
        return dict(pairs)

    try:
        text = file.read_bytes().decode("utf-8-sig")
        return json.loads(text, parse_float=Decimal, parse_int=whole, parse_constant=refuse, object_pairs_hook=once)
    except OSError as fault:
        raise InputError(f"{file} can't be read: {fault.strerror}.") from None
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError) as fault:
        raise InputError(f"{file} isn't JSON in UTF-8 ({fault}): correct it there.") from None


def _read(raw: Any, law: StreetUseLaw) -> _Asked:
    table = _table(raw, "the file", _KEYS)
    if "date" not in table:
        raise InputError('The file gives no date, and figures of law have dates: add "date": "YYYY-MM-DD".')
    on = parse_date(_text(table["date"], "date"), "date")
    kind = _text(table.get("operator_kind", "private"), "operator_kind")
    if kind not in KINDS:
        raise InputError(f"operator_kind can't be {kind!r}. Allowed: {', '.join(KINDS)}.")
    policy = _policy(_table(table.get("policy", {}), "policy", None), law, on)
    days = BillingMonth.of(on).days
    stretches = [_stretch(row, n, law, on, days) for n, row in enumerate(_rows(table, "segments"), 1)]
    by_piece = law.per_piece(on)
    cabinets = [
        box
        for n, row in enumerate(_rows(table, "equipment"), 1)
        for box in _cabinets(row, f"equipment {n}", by_piece, days)
    ]
    if not stretches and not cabinets:
        raise InputError(
            'The file has neither segments nor equipment: there is nothing to charge. Give "segments": [{…}].'
        )
    return _Asked(on, tuple(stretches), tuple(cabinets), kind, policy)


def _policy(given: Mapping[str, Any], law: StreetUseLaw, on: date) -> Policy:
    text = {k: ("true" if v is True else "false" if v is False else str(v)) for k, v in given.items()}
    idle = [k for k in text if k in _WITHOUT_EFFECT]
    if idle:
        raise InputError(
            f"{', '.join(idle)} in policy: without a map, dates of installation and a delivery nothing obeys it here. Leave it out."
        )
    method = law.method(on)
    return parse_policy(({"reducer_method": method} if method else {}) | text)


def _stretch(raw: Any, number: int, law: StreetUseLaw, on: date, days: int) -> Stretch:
    where = f"segment {number}"
    row = _table(raw, where, _SEGMENT)
    return Stretch(
        segment=str(number),
        service=_label(row, "service", where),
        permit=_label(row, "permit", where),
        status=_status(row, where),
        zone=_label(row, "zone", where),
        land_value=_figure(row, "land_value", where),
        length_m=_figure(row, "length_m", where),
        billed_width_m=law.billed_width(_figure(row, "width_m", where), on),
        days=days,
        held=None,
        flags=(),
    )


def _cabinets(raw: Any, where: str, by_piece: bool, days: int) -> list[Cabinet]:
    row = _table(raw, where, _EQUIPMENT)
    pieces = _figure(row, "pieces", where) if "pieces" in row else Decimal(1)
    if pieces != pieces.to_integral_value() or pieces > 1_000_000:
        raise InputError(f"{where}: pieces = {plain(pieces)} is no count. Give a whole number, up to a million.")
    if not by_piece and "pieces" in row:
        raise InputError(f"{where} gives pieces; this law charges by volume. Give volume_m3, of all of them.")
    if by_piece and "volume_m3" in row:
        raise InputError(f"{where} gives volume_m3; this law charges by the piece. Give pieces.")
    box = Cabinet(
        equipment=where,
        service=_label(row, "service", where),
        permit=_label(row, "permit", where),
        status=_status(row, where),
        volume_m3=Decimal(0) if by_piece else _figure(row, "volume_m3", where),
        days=days,
        flags=(),
    )
    return [box] * int(pieces)


def _rows(table: Mapping[str, Any], name: str) -> list[Any]:
    rows = table.get(name, [])
    if not isinstance(rows, list):
        raise InputError(f'{name} must be a list of objects, for example "{name}": [{{…}}].')
    return rows


def _table(raw: Any, where: str, keys: tuple[str, ...] | None) -> dict[str, Any]:
    if not isinstance(raw, dict):
        raise InputError(f"{where} must be an object, {{…}}, not {json.dumps(raw, default=str)[:60]}.")
    unknown = sorted(set(raw) - set(keys)) if keys is not None else []
    if unknown:
        raise InputError(f"{where} has {', '.join(unknown)}, which nothing would obey. Known: {', '.join(keys or ())}.")
    return raw


def _text(value: Any, name: str) -> str:
    if not isinstance(value, str) or not value.strip():
        raise InputError(f"{name} must be text in quotes, not {value!r}.")
    return value.strip()


def _label(row: Mapping[str, Any], key: str, where: str) -> str | None:
    return None if row.get(key) is None else _text(row[key], f"{where}: {key}")


def _status(row: Mapping[str, Any], where: str) -> str:
    status = _text(row.get("status", "permitted"), f"{where}: status")
    charged = [s for s in STATUSES if s not in NOT_YET]
    if status not in charged:
        raise InputError(f"{where}: status can't be {status!r}. Allowed: {', '.join(charged)}.")
    return status


def _figure(row: Mapping[str, Any], key: str, where: str) -> Decimal:
    """Exact number above 0, from text or from a JSON number read digit by digit."""
    if key not in row:
        raise InputError(f"{where} gives no {key}, which its price is made of. Add it.")
    value = row[key]
    if isinstance(value, str):
        if not re.fullmatch(r"\d+(\.\d+)?", value.strip(), re.ASCII):
            raise InputError(
                f"{where}: {key} = {value!r} is no number above 0: write plain digits with a decimal point, for example 7200.00."
            )
        number = Decimal(value.strip())
    elif isinstance(value, (int, Decimal)) and not isinstance(value, bool):
        number = Decimal(value)
    else:
        raise InputError(f'{where}: {key} = {value!r} is no number above 0: write it as text, for example "7200.00".')
    exponent = number.as_tuple().exponent
    if number <= 0 or not isinstance(exponent, int) or exponent < -10 or number >= 10**12:
        raise InputError(
            f"{where}: {key} = {value} can't be: it must be above 0, below 10^12 and have at most 10 decimals."
        )
    return Decimal(plain(number))
