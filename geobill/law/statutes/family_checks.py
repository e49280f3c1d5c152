"""The family's own checks on a file of figures and articles: what is refused, and what was tried and held."""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from typing import Any

from geobill.domain.network import STATUSES
from geobill.domain.ratio import Ratio, fraction
from geobill.errors import LawError
from geobill.law.charge import Silence
from geobill.law.figures import Bracket, StatuteFigures
from geobill.law.reading import parse_statute
from geobill.law.statutes.family import (
    BY_NAME,
    EQUIPMENT_PRICES,
    KNOWN,
    REQUIRED_RULES,
    RULES,
    figure_faults,
    price_basis_faults,
)
from geobill.law.statutes.street_use import StreetUseLaw

CENTIMETRE = Decimal("0.01")
MODULE = "write a module in geobill/law/statutes for it (README, 'Where does my change go?')"
_ALLOWED: dict[str, tuple[str, ...]] = {
    "statute": (
        "id", "municipality", "state", "title", "act", "published_on", "checked_until", "checked_by", "checked_on",
    ),
    "figure": (
        "name", "symbol", "value", "unit", "article", "act", "in_force_from", "in_force_until", "brackets", "method",
        "index_base",
    ),
    "index": ("name", "article", "act", "base_month", "step", "adjusts", "values"),
    "articles": tuple(RULES),
}  # fmt: skip


@dataclass(frozen=True)
class FamilyReport:
    """A law that the family can price, what was tried on it, and what a person should know."""

    law: StreetUseLaw
    checks: tuple[str, ...]
    notes: tuple[str, ...]


def check_family(text: str, packaged: tuple[str, ...] = ()) -> FamilyReport:
    """Check a sister law's file whole.

    Parameters
    ----------
    text : str
        The file's TOML.
    packaged : tuple of str
        Ids that geobill's own statutes have.

    Raises
    ------
    LawError
        With everything that can't be said in figures, is missing or is wrong; nothing is approximated.
    """
    raw = _toml(text)
    _refuse(_unknown(raw))
    figures = parse_statute(text)
    _refuse(
        [
            *_head_faults(raw["statute"], figures, packaged),
            *(fault for f in figures.figures for fault in figure_faults(f)),
            *_rule_faults(figures),
            *_index_faults(figures),
        ]
    )
    _refuse([*_missing(figures), *price_basis_faults(figures)])
    law = StreetUseLaw(figures)
    days = _days(figures)
    checks = [f"{len(figures.figures)} figures with article, act and dates, in force from {days[0]} to {days[-1]}"]
    for on in days:
        checks += _check_brackets(law, on)
        checks += _check_growth(law, on)
        checks += [_check_by_hand(law, on)]
    return FamilyReport(law, tuple(dict.fromkeys(checks)), tuple(_notes(law, days[-1])))


def _toml(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as fault:
        raise LawError(f"The statute isn't TOML: {fault}. Correct that line.") from None


def _refuse(faults: list[str]) -> None:
    if faults:
        raise LawError("This law can't be taken by its figures: " + " ".join(faults) + " Nothing was installed.")


def _unknown(raw: Mapping[str, Any]) -> list[str]:
    found = [
        f"[{name}] isn't something that figures say: a formula or a rule of its own is never approximated; {MODULE}."
        for name in raw
        if name not in _ALLOWED
    ]
    found += [f"[{name}] is missing." for name in ("statute", "articles", "figure") if name not in raw]
    for section, keys in _ALLOWED.items():
        tables = raw.get(section, [])
        for table in tables if isinstance(tables, list) else [tables]:
            if not isinstance(table, Mapping):
                found.append(f"{section} must be written as a table.")
                continue
            unknown = sorted(set(table) - set(keys))
            if unknown:
                named = f" of {table['name']!r}" if section in ("figure", "index") and "name" in table else ""
                found.append(
                    f"[{section}]{named} has {', '.join(unknown)}, which the family has no place for (it knows {', '.join(keys)}): a "
                    f"formula or a rule of its own is never approximated; {MODULE}."
                )
    return found


def _head_faults(head: Mapping[str, Any], figures: StatuteFigures, packaged: tuple[str, ...]) -> list[str]:
    found = []
    if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", str(figures.id), re.ASCII) or len(str(figures.id)) > 80:
        found.append(f"id = {figures.id!r}: write small letters, digits and hyphens, for example town-lei-12-2010.")
    if figures.id in packaged:
        found.append(f"The id {figures.id!r} is that of a statute that geobill ships: choose another.")
    found += [f"[statute] lacks {key}." for key in ("act", "checked_until", "checked_by") if not head.get(key)]
    texts = ("id", "municipality", "state", "title", "act", "checked_by")
    found += [f"{key} must be text in quotes." for key in texts if key in head and not isinstance(head[key], str)]
    if type(figures.published_on) is not date:
        found.append("published_on must be a date without quotes.")
        return found
    if figures.checked is not None and figures.checked.until < figures.published_on:
        found.append("checked_until is before published_on.")
    found += [
        f"{f.name} (art. {f.article}) is in force from {f.in_force_from.isoformat()}, before the law was published "
        f"({figures.published_on.isoformat()})."
        for f in figures.figures
        if f.in_force_from < figures.published_on
    ]
    return found


def _rule_faults(figures: StatuteFigures) -> list[str]:
    return [
        f'[articles] lacks {r} ({RULES[r]}), for example {r} = "7".' for r in REQUIRED_RULES if r not in figures.rules
    ]


def _index_faults(figures: StatuteFigures) -> list[str]:
    found = []
    adjusted: list[str] = []
    for index in figures.indexes:
        for name in index.adjusts:
            if name not in BY_NAME or not BY_NAME[name].is_money:
                prices = ", ".join(k.name for k in KNOWN if k.is_money)
                found.append(
                    f"The index {index.name} adjusts {name!r}: an index can adjust prices in reais ({prices})."
                )
            if name in adjusted:
                found.append(f"Two indexes adjust {name}: which one applies isn't said by figures; {MODULE}.")
            adjusted.append(name)
    return found


def _missing(figures: StatuteFigures) -> list[str]:
    """Figures that the family needs and the file lacks, or lacks for some days up to the checked one."""
    found = []
    assert figures.checked is not None
    for known in (k for k in KNOWN if k.required):
        gap = _gap(figures, (known.name,))
        if gap is not None:
            found.append(
                f"{known.name} ({known.what}) isn't given for {gap.isoformat()}: the family needs it on every day."
            )
    gap = _gap(figures, EQUIPMENT_PRICES)
    if gap is not None:
        found.append(f"Neither {' nor '.join(EQUIPMENT_PRICES)} is given for {gap.isoformat()}: one of them is needed.")
    return found


def _gap(figures: StatuteFigures, names: tuple[str, ...]) -> date | None:
    """First day between publication and the checked day on which none of the figures is in force."""
    assert figures.checked is not None
    day = figures.published_on
    dated = sorted((f for f in figures.figures if f.name in names), key=lambda f: f.in_force_from)
    for figure in dated:
        if figure.in_force(day):
            if figure.in_force_until is None:
                return None
            day = figure.in_force_until
    return day if day <= figures.checked.until else None


def _days(figures: StatuteFigures) -> list[date]:
    """Days on which some figure changes, up to the checked one, and that day itself."""
    assert figures.checked is not None
    last = figures.checked.until
    return sorted({f.in_force_from for f in figures.figures if f.in_force_from <= last} | {last})


def _check_brackets(law: StreetUseLaw, on: date) -> list[str]:
    """Ask for R a centimetre to either side of every edge, on both readings that the law leaves possible."""
    scale = law.figures.figure("reducer", on)
    methods = ("whole", "graduated") if scale.method is None else (scale.method,)
    edges = [b.up_to for b in scale.brackets if b.up_to is not None]
    for method in methods:
        for extension in (x for e in edges for x in (e - CENTIMETRE, e, e + CENTIMETRE)):
            found, meant = law.reducer(extension, on, method=method), _by_the_file(extension, scale.brackets, method)
            got = None if isinstance(found, Silence) else fraction(found)
            if got != meant:
                raise LawError(
                    f"R of {extension} m ({method}) came out as {got}, and the file says {meant}: please report this file."
                )
    kind = f"the law itself says {scale.method}" if scale.method else "whole and graduated, as the policy says"
    return [f"R on both sides of {len(edges)} edges of its brackets, to the centimetre ({kind})"]


def _by_the_file(extension: Decimal, brackets: tuple[Bracket, ...], method: str) -> Fraction | None:
    """R worked out a second way: the bracket looked up, or the area under the scale."""
    ends = [(Fraction(b.up_to) if b.up_to is not None else None, Fraction(b.value)) for b in brackets]
    metres = Fraction(extension)
    if ends[-1][0] is not None and metres > ends[-1][0]:
        return None
    if method == "whole":
        return next(value for end, value in ends if end is None or metres <= end)
    lows = [Fraction(0), *(end for end, _ in ends if end is not None)]
    area = sum(
        (max(min(metres, end if end is not None else metres) - low, Fraction(0)) * value)
        for low, (end, value) in zip(lows, ends, strict=False)
    )
    return Fraction(area) / metres if metres else ends[0][1]


def _check_growth(law: StreetUseLaw, on: date) -> list[str]:
    """Check that the price never falls when T, width or multiplier grows, and an irregular status pays no less."""
    values = [Decimal(v) for v in ("0.01", "1", "99.99", "100", "5000.50")]
    widths = [Decimal(w) for w in ("0.01", "0.29", "0.30", "0.50", "0.51", "3")]

    def exact(width: Decimal, value: Decimal, status: str) -> Decimal:
        return law.network(Decimal(100), width, value, Decimal(1), status, on).exact

    for grow in (
        [exact(Decimal(1), v, "permitted") for v in values],
        [exact(w, Decimal(100), "permitted") for w in widths],
    ):
        if any(lower > higher for lower, higher in pairwise(grow)):
            raise LawError(f"The price falls where T or width grows on {on.isoformat()}: please report this file.")
    regular = exact(Decimal(1), Decimal(100), "permitted")
    for status in STATUSES:
        if exact(Decimal(1), Decimal(100), status) < regular:
            raise LawError(
                f"What is {status} pays less than what is permitted on {on.isoformat()}: correct its multiplier."
            )
    return ["the price never falls when T, width or multiplier grows"]


def _check_by_hand(law: StreetUseLaw, on: date) -> str:
    """Price a sample stretch and a cabinet by the hand formula: (a × b × T) × L × D × R, and quantity × price."""
    value = law.figures.value
    length, width, land = Fraction(1234), Fraction(value("minimum_width_m", on)) + 1, Fraction(100)
    method = law.method(on) or "whole"
    found = law.reducer(Decimal(1234), on, method=method)
    rate: Decimal | Ratio = Decimal(1) if isinstance(found, Silence) else found
    asked = law.network(Decimal(1234), value("minimum_width_m", on) + 1, Decimal(100), rate, "permitted", on)
    hand = length * width * land * Fraction(value("location_index", on)) * Fraction(value("depreciation_index", on))
    if asked.for_days(30, 30) != hand * fraction(rate):
        raise LawError(f"The sample stretch doesn't come to its formula on {on.isoformat()}: please report this file.")
    try:
        box = law.equipment(Decimal("1.5"), "permitted", on, pieces=3)
    except LawError:
        if any(set(i.adjusts) & set(EQUIPMENT_PRICES) for i in law.figures.indexes):
            return "a sample stretch by the hand formula (its index has no value for every day)"
        raise
    price = value("price_per_piece" if law.per_piece(on) else "price_per_m3", on)
    if box.for_days(30, 30) != Fraction(price) * (3 if law.per_piece(on) else Fraction(3, 2)):
        raise LawError(f"The sample cabinet doesn't come to its price on {on.isoformat()}: please report this file.")
    return "a sample stretch and a sample cabinet by the hand formula"


def _notes(law: StreetUseLaw, on: date) -> list[str]:
    scale, found = law.figures.figure("reducer", on), []
    if scale.method is not None:
        found.append(
            f"art. {scale.article} itself says that R is applied {scale.method}: the policy reducer_method is fixed by the law"
        )
    falls = [low.up_to for low, high in pairwise(scale.brackets) if high.value < low.value and low.up_to is not None]
    if falls and scale.method != "graduated":
        edges = ", ".join(f"{e / 1000:f} km" for e in falls)
        found.append(f"R falls above {edges}: read on the whole extension, a little more network costs less there")
    if any(high.value > low.value for low, high in pairwise(scale.brackets)):
        found.append("R rises somewhere along its brackets: is that what the law says?")
    last = scale.brackets[-1].up_to
    found.append(
        "R answers for every extension: nothing is held above the last bracket"
        if last is None
        else f"above {last / 1000:f} km the law is silent: held until a decision (policy above_100_km)"
    )
    if "exemption" not in law.figures.rules:
        found.append("no article exempts the municipality's own entities: everybody is charged")
    for index in law.figures.indexes:
        month, lacks = index.base_month, []
        while month.first_day <= on:
            needed = index.month_on(month.first_day, index.base_month)
            if needed is not None and needed not in dict(index.values) and str(needed) not in lacks:
                lacks.append(str(needed))
            month = month.following()
        if lacks:
            found.append(
                f"the index {index.name} has no value for {', '.join(lacks)}: those months are refused until it is entered"
            )
    unset = [
        k.name for k in KNOWN if not k.required and not law.figures.has(k.name, on) and k.name not in EQUIPMENT_PRICES
    ]
    if unset:
        found.append(f"not set, and so refused or not charged where it is asked for: {', '.join(unset)}")
    return found
