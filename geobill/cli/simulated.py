"""What simulate and report answer: objects for programs, lines for a person; every figure is decimal text."""

from collections.abc import Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from geobill.domain.money import plain
from geobill.domain.record import to_plain

if TYPE_CHECKING:
    from geobill.domain.notch_report import EdgeRange, NotchReport, NotchRow
    from geobill.domain.simulation import Change, HeldPair, Pair, Side, Simulation

LINES_SHOWN = 10
CENTIMETRE = Decimal("0.01")


def simulation_answer(
    found: "Simulation", base: "Side", scenario: "Side", changes: "Sequence[Change]", files: Sequence[str]
) -> dict[str, Any]:
    """Answer of ``simulate``."""
    return {
        "base": _side(base),
        "scenario": _side(scenario),
        "changes": [to_plain(c) for c in changes],
        "months": [
            {
                "month": str(m.month),
                **_amounts(m.amount),
                "base_edition": m.editions[0],
                "scenario_edition": m.editions[1],
            }
            for m in found.months
        ],
        "operators": [
            {
                "operator": o.operator,
                "name": o.name,
                **_amounts(o.amount),
                "base_held": {"length_m": plain(o.held_m.base), "amount_if": plain(o.held_if.base)},
                "scenario_held": {"length_m": plain(o.held_m.scenario), "amount_if": plain(o.held_if.scenario)},
                "base_suspended": plain(o.suspended.base),
                "scenario_suspended": plain(o.suspended.scenario),
                "reducers": {"base": list(o.reducers[0]), "scenario": list(o.reducers[1])},
                "network_length_m": {"base": plain(o.network_m.base), "scenario": plain(o.network_m.scenario)},
            }
            for o in found.operators
        ],
        "zones": [
            {
                "zone": z.zone,
                "kind": z.kind,
                **_amounts(z.amount),
                "base_length_m": plain(z.length_m.base),
                "scenario_length_m": plain(z.length_m.scenario),
            }
            for z in found.zones
        ],
        "held": [_held(h) for h in found.held],
        "total": {
            **_amounts(found.amount),
            "share": None if found.amount.share is None else plain(found.amount.share),
            "base_held": {"length_m": plain(found.held_m.base), "amount_if": plain(found.held_if.base)},
            "scenario_held": {"length_m": plain(found.held_m.scenario), "amount_if": plain(found.held_if.scenario)},
            "base_suspended": plain(found.suspended.base),
            "scenario_suspended": plain(found.suspended.scenario),
        },
        "files": list(files),
    }


def _side(side: "Side") -> dict[str, Any]:
    return {
        "statute": side.statute,
        "edition": side.edition,
        "policy": dict(side.policy),
        "profile": side.profile,
        "land_values": None if side.proposed_map is None else to_plain(side.proposed_map),
        "figures": dict(side.figures),
        "brackets": [{"up_to_m": edge, "value": value} for edge, value in side.brackets],
        "at": None if side.law_of is None else str(side.law_of),
        "supposed_reducer": None if side.supposed_reducer is None else plain(side.supposed_reducer),
    }


def _amounts(pair: "Pair") -> dict[str, str]:
    return {"base": plain(pair.base), "scenario": plain(pair.scenario), "difference": plain(pair.difference)}


def _held(held: "HeldPair") -> dict[str, Any]:
    return {
        "code": held.code,
        "article": held.article,
        "base_length_m": plain(held.length_m.base),
        "scenario_length_m": plain(held.length_m.scenario),
        "base_amount_if": plain(held.amount_if.base),
        "scenario_amount_if": plain(held.amount_if.scenario),
    }


def simulation_summary(data: dict[str, Any]) -> str:
    """Lines of a simulation for a person at the terminal."""
    months, total = [m["month"] for m in data["months"]], data["total"]
    when = months[0] if len(months) == 1 else f"{months[0]} to {months[-1]} ({len(months)} months)"
    lines = [f"{when}, simulated: nothing was issued or stored"]
    lines += [f"  {_change(c)}" for c in data["changes"]] or ["  the two sides are priced alike"]
    lines.append(f"total: R$ {total['base']} -> R$ {total['scenario']}, difference {_signed(total['difference'])}")
    for o in data["operators"]:
        reducers = " -> ".join(", ".join(o["reducers"][side]) or "no R" for side in ("base", "scenario"))
        lines.append(
            f"  {o['operator']}: R$ {o['base']} -> R$ {o['scenario']}, difference {_signed(o['difference'])} (R {reducers})"
        )
    changed = [z for z in data["zones"] if Decimal(z["difference"])]
    for z in changed[:LINES_SHOWN]:
        name = "cabinets" if z["kind"] == "equipment" else f"zone {z['zone'] or 'without a name'}"
        lines.append(f"  {name}: R$ {z['base']} -> R$ {z['scenario']}, difference {_signed(z['difference'])}")
    if len(changed) > LINES_SHOWN:
        lines.append(f"  and {len(changed) - LINES_SHOWN} other zones that change (--json, --csv, --html)")
    for h in data["held"]:
        lines.append(f"  held, {h['code']} (art. {h['article']}): {h['base_length_m']} m -> {h['scenario_length_m']} m")
    return "\n".join([*lines, *(f"wrote {f}" for f in data["files"])])


def _change(change: dict[str, str]) -> str:
    what = {"policy": "", "figure": "figure ", "brackets": "scale of ", "edition": "edition", "law_of": "law of"}
    return f"{what[change['what']]}{change['name']}: {change['base'] or '-'} -> {change['scenario'] or '-'}"


def _signed(amount: str) -> str:
    return amount if amount.startswith("-") else f"+{amount}"


def notches_answer(found: "NotchReport", files: Sequence[str]) -> dict[str, Any]:
    """Answer of ``report notches``; metres to an edge are rounded to the centimetre on which the price changes."""
    return {
        "month": str(found.month),
        "statute": found.statute,
        "article": found.article,
        "reducer_method": found.reducer_method,
        "reducer_scope": found.reducer_scope,
        "ranges": [_range(r) for r in found.ranges],
        "networks": [_row(r) for r in found.rows],
        "files": list(files),
    }


def _range(found: "EdgeRange") -> dict[str, Any]:
    """One edge; ``since_m`` and ``until_m`` are the first centimetres that are and aren't touched."""
    return {
        "edge_m": _metres(found.edge_m, ROUND_CEILING),
        "since_m": None if found.since_m is None else _metres(found.since_m, ROUND_FLOOR),
        "until_m": None if found.until_m is None else _metres(found.until_m, ROUND_CEILING),
        "since_exact": None if found.since_m is None else str(found.since_m),
        "until_exact": None if found.until_m is None else str(found.until_m),
    }


def _row(row: "NotchRow") -> dict[str, Any]:
    extension = Fraction(row.extension_m)
    notch, approach = row.notch, row.approach
    return {
        "operator": row.operator,
        "name": row.name,
        "permit": row.permit,
        "network_length_m": plain(row.extension_m),
        "reducer": None if row.reducer is None else plain(row.reducer),
        "position": row.position,
        "notch": None
        if notch is None
        else {
            **_range(notch),
            "metres_down_to_edge": _metres(extension - notch.edge_m, ROUND_CEILING),
            "metres_up_to_until": None
            if notch.until_m is None
            else _metres(notch.until_m - extension, ROUND_CEILING),
        },
        "approach": None
        if approach is None
        else {**_range(approach), "metres_up_past_edge": _metres(approach.edge_m - extension + Fraction(1, 100), ROUND_CEILING)},
        "lower_edge_m": None if row.lower_edge_m is None else plain(row.lower_edge_m),
        "upper_edge_m": None if row.upper_edge_m is None else plain(row.upper_edge_m),
        "metres_to_lower_edge": None if row.lower_edge_m is None else plain(row.extension_m - row.lower_edge_m),
        "metres_to_upper_edge": None if row.upper_edge_m is None else plain(row.upper_edge_m - row.extension_m),
        "amount": None if row.amount is None else plain(row.amount),
        "price_per_metre": None if row.metre is None else plain(row.metre),
        "graduated": None if row.graduated is None else plain(row.graduated),
        "would_pay": [to_plain(s) for s in row.supposed],
    }  # fmt: skip


def _metres(exact: Fraction, rounding: str) -> str:
    """Metres to the centimetre, rounded to the side that matters."""
    return plain((Decimal(exact.numerator) / Decimal(exact.denominator)).quantize(CENTIMETRE, rounding))


def notches_summary(data: dict[str, Any]) -> str:
    """Lines of the notch report for a person at the terminal."""
    head = f"{data['month']}, {data['statute']}: R by {data['reducer_scope']}, reducer_method {data['reducer_method']}"
    if data["reducer_method"] == "graduated":
        return f"{head}\n  no notches: bracket by bracket, a longer network never costs less than a shorter one"
    lines = [head]
    for r in data["ranges"]:
        parts = [f"  edge {r['edge_m']} m:"]
        if r["since_m"]:
            parts.append(f"above {r['since_m']} m, declaring past the edge costs less;")
        if r["until_m"]:
            parts.append(f"up to {r['until_m']} m the price stays below the edge's")
        lines.append(" ".join(parts).rstrip(";"))
    shown = [n for n in data["networks"] if n["position"] in ("in_notch", "before_edge")]
    for n in shown:
        whose = (
            f"{n['operator']}, permit {n['permit'] or 'none'}" if data["reducer_scope"] == "permit" else n["operator"]
        )
        lines.append(f"  {n['position']}: {whose}: {n['network_length_m']} m, R {n['reducer']}, R$ {n['amount']}")
        if n["notch"]:
            lines.append(
                f"    {n['notch']['metres_down_to_edge']} m above the edge of {n['notch']['edge_m']} m; "
                f"{n['notch']['metres_up_to_until'] or 'no'} m more until it pays what the edge pays"
            )
        if n["approach"]:
            lines.append(
                f"    {n['approach']['metres_up_past_edge']} m more would pass the edge of {n['approach']['edge_m']} m"
            )
        lines += [f"    {s['what']}: {s['extension_m']} m, R$ {s['amount'] or 'held'}" for s in n["would_pay"]]
        if n["graduated"]:
            lines.append(f"    bracket by bracket: R$ {n['graduated']}")
    others = len(data["networks"]) - len(shown)
    lines.append(f"  {len(shown)} network(s) in or before a notch, {others} in none")
    if shown:
        lines.append("  supposed amounts take each metre more or less at the average price of the network's own metre")
    return "\n".join([*lines, *(f"wrote {f}" for f in data["files"])])
