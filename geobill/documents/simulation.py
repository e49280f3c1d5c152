"""A simulation on paper: one page without requests, a table for a spreadsheet, a chart by operator."""

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from geobill.documents import words
from geobill.documents.annex import BYTE_ORDER_MARK, number_cell, text_cell
from geobill.documents.policy_words import policy_line, policy_title
from geobill.documents.statute_words import StatuteWords
from geobill.documents.templating import fill
from geobill.documents.typesetting import typeset_picture
from geobill.domain.invoice import PolicyUse
from geobill.domain.network import Authority
from geobill.domain.ratio import Ratio
from geobill.domain.simulation import SUPPOSED, Change, Pair, Side, Simulation, ZonePair
from geobill.law.figures import StatuteFigures

FIGURES: dict[str, str] = {
    "location_index": "Índice de locação L",
    "depreciation_index": "Índice de depreciação D",
    "minimum_width_m": "Largura mínima b (m)",
    "price_per_m3": "Preço do m³ de armários (R$)",
    "price_per_piece": "Preço por equipamento (R$)",
    "clandestine_multiplier": "Multiplicador do clandestino",
    "unregistered_multiplier": "Multiplicador do não cadastrado",
}
EQUIPMENT = "Armários e contêineres"
NO_ZONE = "sem nome no mapa"
TOP = 12  # bars and rows of a short table
COLUMNS: tuple[str, ...] = (
    "Recorte", "Nome", "Base (R$)", "Cenário (R$)", "Diferença (R$)", "Diferença (%)", "Base, metros cobrados",
    "Cenário, metros cobrados", "Base, metros retidos", "Cenário, metros retidos", "R na base", "R no cenário",
)  # fmt: skip
WIDE, NARROW = 900, 340
_PICTURE_MARGIN = 12
_PICTURE_PPI = 144.0


@dataclass(frozen=True)
class Bar:
    """One operator in the chart: tops and lengths in the drawing's units, and what is written beside the bars."""

    name: str
    top: str
    base_width: str
    scenario_width: str
    base: str
    scenario: str
    difference: str


@dataclass(frozen=True)
class Chart:
    """The chart by operator, drawn for one width."""

    width: int
    height: int
    bars: tuple[Bar, ...]
    title: str
    alt: str


def render_simulation(
    found: Simulation,
    base: Side,
    scenario: Side,
    changes: Sequence[Change],
    figures: StatuteFigures,
    authority: Authority,
) -> bytes:
    """Render the comparison as one HTML page: no script, no request; it reads on a telephone, a screen and paper.

    Parameters
    ----------
    found : Simulation
        Sums of the two sides' bills.
    base, scenario : Side
        What each was priced by.
    changes : sequence of Change
        In what they differ.
    figures : StatuteFigures
        The base's statute: what the page cites.
    authority : Authority
        Whose workspace it is.

    Returns
    -------
    bytes
        HTML in UTF-8; the same records always give the same bytes.
    """
    statute = StatuteWords.of_month(figures, found.months[-1].month)
    moved = [z for z in found.zones if z.amount.difference and z.kind == "network"]
    page = fill(
        "simulacao.html.j2",
        "page",
        authority=authority,
        months=_months(found),
        found=found,
        base=base,
        scenario=scenario,
        statute=statute,
        changes=[
            (change_name(c, statute), *(change_value(c, v, statute) for v in (c.base, c.scenario))) for c in changes
        ],
        charts=(chart_of(found, WIDE), chart_of(found, NARROW)),
        difference=signed(found.amount),
        more=[(zone_name(z), z) for z in moved if z.amount.difference > 0][:TOP],
        less=[(zone_name(z), z) for z in moved if z.amount.difference < 0][:TOP],
        counted=_counted(found.zones),
        equipment=[z for z in found.zones if z.kind == "equipment"],
        zones=[(zone_name(z), z, sign(z.amount)) for z in found.zones],
        operators=[(o, sign(o.amount), _reducers(o.reducers[0]), _reducers(o.reducers[1])) for o in found.operators],
        supposed=[s.supposed_reducer for s in (base, scenario) if s.supposed_reducer is not None],
        policy=_policy(base, scenario, statute),
        several=len(found.months) > 1,
        would_be=bool(found.held_if.base or found.held_if.scenario),
        **{f.__name__: f for f in (signed, share, sign)},
    )
    return page.encode()


def simulation_csv(found: Simulation) -> bytes:
    """Write the comparison, one row for each operator, zone and month, and the total; each kind adds up to the total.

    UTF-8 with byte order mark, semicolons, decimal commas, CRLF, as in the annex.
    """
    text = io.StringIO()
    writer = csv.writer(text, delimiter=";", lineterminator="\r\n")
    writer.writerow(COLUMNS)
    for o in found.operators:
        held = (number_cell(o.held_m.base), number_cell(o.held_m.scenario))
        reducers = (text_cell(_reducers(side)) for side in o.reducers)
        writer.writerow([*_cells("Entidade", o.name, o.amount), "", "", *held, *reducers])
    for z in found.zones:
        metres = ("", "") if z.kind == "equipment" else (number_cell(z.length_m.base), number_cell(z.length_m.scenario))
        writer.writerow([*_cells("Zona", zone_name(z), z.amount), *metres, "", "", "", ""])
    for m in found.months:
        writer.writerow([*_cells("Mês", str(m.month), m.amount), *[""] * 6])
    held = (number_cell(found.held_m.base), number_cell(found.held_m.scenario))
    writer.writerow([*_cells("Total", "", found.amount), "", "", *held, "", ""])
    return (BYTE_ORDER_MARK + text.getvalue()).encode("utf-8")


def simulation_chart(found: Simulation, suffix: str) -> bytes:
    """Draw the chart by operator as a file of its own.

    Parameters
    ----------
    found : Simulation
    suffix : {".svg", ".png"}
    """
    svg = fill("simulacao_grafico.html.j2", "page", chart=chart_of(found, WIDE), alone=True)
    if suffix == ".svg":
        return svg.encode()
    source = (
        f"#set page(width: auto, height: auto, margin: {_PICTURE_MARGIN}pt)\n"
        f'#image(bytes(sys.inputs.svg), format: "svg", width: {WIDE}pt)'
    )
    last = found.months[-1].month.last_day
    return typeset_picture(source, {"svg": svg}, date(last.year, last.month, last.day), "the chart", _PICTURE_PPI)


def chart_of(found: Simulation, width: int) -> Chart:
    """Lay out two bars for each operator; the smallest ones beyond ``TOP`` share one row."""
    ordered = sorted(found.operators, key=lambda o: (-max(o.amount.base, o.amount.scenario), o.operator))
    rows = [(o.name, o.amount) for o in ordered if o.amount.base or o.amount.scenario]
    if len(rows) > TOP:
        rest = [amount for _, amount in rows[TOP - 1 :]]
        others = Pair(sum((a.base for a in rest), Decimal(0)), sum((a.scenario for a in rest), Decimal(0)))
        rows = [*rows[: TOP - 1], (f"outras {len(rest)} entidades", others)]
    most = max((max(a.base, a.scenario) for _, a in rows), default=Decimal(0)) or Decimal(1)
    room = width - 116  # beside the longest bar, for its amount
    letters = width // 8 - 14
    bars = tuple(
        Bar(
            name=name if len(name) <= letters else f"{name[: letters - 1].rstrip()}…",
            top=str(46 + 66 * n),
            base_width=_units(a.base, most, room),
            scenario_width=_units(a.scenario, most, room),
            base=words.reais(a.base),
            scenario=words.reais(a.scenario),
            difference=f"{sign(a)} {signed(a)}" if a.difference else "igual",
        )
        for n, (name, a) in enumerate(rows)
    )
    said = "; ".join(f"{b.name}: base {b.base}, cenário {b.scenario}" for b in bars)
    return Chart(width, 46 + 66 * len(bars), bars, "Valor por entidade, na base e no cenário", said or "nada cobrado")


def _units(amount: Decimal, most: Decimal, room: int) -> str:
    """Length of a bar; what is charged at all stays visible."""
    length = (amount / most * room).quantize(Decimal("0.1"))
    return str(max(length, Decimal(1)) if amount else Decimal(0))


def sign(pair: Pair) -> str:
    """Mark who pays more and who pays less, without colour.

    Examples
    --------
    >>> sign(Pair(Decimal(1), Decimal(2))), sign(Pair(Decimal(2), Decimal(1))), sign(Pair(Decimal(1), Decimal(1)))
    ('▲', '▼', '=')
    """
    return "▲" if pair.difference > 0 else "▼" if pair.difference < 0 else "="


def signed(pair: Pair) -> str:
    """Write a difference in reais with its sign."""
    amount = words.reais(abs(pair.difference))
    return f"+{amount}" if pair.difference > 0 else f"−{amount}" if pair.difference < 0 else amount


def share(pair: Pair) -> str:
    """Write a difference as a share of the base; a dash where the base is 0.

    Examples
    --------
    >>> share(Pair(Decimal(200), Decimal(190))), share(Pair(Decimal(0), Decimal(5)))
    ('−5,0%', '–')
    """
    if pair.share is None:
        return "–"
    digits = f"{words.number((abs(pair.share) * 100).quantize(Decimal('0.1')))}%"
    return f"+{digits}" if pair.share > 0 else f"−{digits}" if pair.share < 0 else digits


def zone_name(zone: ZonePair) -> str:
    """Name a zone, or the cabinets, which lie in none."""
    return EQUIPMENT if zone.kind == "equipment" else zone.zone or NO_ZONE


def change_name(change: Change, statute: StatuteWords) -> str:
    """Name what differs between the two sides."""
    if change.what == "policy":
        return policy_title(change.name, statute)
    if change.what == "figure":
        return FIGURES.get(change.name, change.name)
    return {"brackets": "Tabela do coeficiente R", "edition": "Mapa de Valores", "law_of": "Lei, política e mapa de"}[
        change.what
    ]


def change_value(change: Change, value: str, statute: StatuteWords) -> str:
    """Write one side's value of what differs."""
    if change.what == "policy":
        return policy_meaning(change.name, value, statute)
    if change.what == "brackets":
        return _scale(value)
    if change.what == "law_of":
        return value or "cada mês, o seu"
    if change.what == "figure":
        return words.figure(Decimal(value)) if value else "nenhum"
    return value or "nenhum"


def policy_meaning(key: str, value: str, statute: StatuteWords) -> str:
    """Say what a policy value means; a supposed decision is named as such."""
    if key == "above_100_km" and value.startswith(SUPPOSED):
        return f"R = {words.figure(Decimal(value.removeprefix(SUPPOSED)))}, por decisão suposta: ninguém a tomou"
    return policy_line(PolicyUse(key, value, value), statute).meaning or value


def _scale(text: str) -> str:
    """Write a scale of R, given as ``5000: 1.00; 15000: 0.90``."""
    steps = [step.split(": ") for step in text.split("; ")]
    return "; ".join(
        f"até {words.number(Decimal(edge) / 1000)} km, {value.replace('.', ',')}"
        if edge
        else f"acima, {value.replace('.', ',')}"
        for edge, value in ((s[0].rstrip(":"), s[-1]) for s in steps)
    )


def _reducers(texts: Iterable[str]) -> str:
    """Write the R of a side: numbers, fractions, or that it is held."""
    return "; ".join(_reducer(text) for text in texts) or "–"


def _reducer(text: str) -> str:
    if text == "held":
        return "retido"
    return words.figure(Ratio.parse(text) if "/" in text else Decimal(text))


def _policy(base: Side, scenario: Side, statute: StatuteWords) -> list[tuple[str, str, str]]:
    """Every policy key with its meaning on either side."""
    other = dict(scenario.policy)
    return [
        (policy_title(key, statute), *(policy_meaning(key, v, statute) for v in (value, other.get(key, ""))))
        for key, value in base.policy
    ]


def _counted(zones: Sequence[ZonePair]) -> tuple[int, int, int]:
    """How many zones pay more, less and the same."""
    marks = [sign(z.amount) for z in zones if z.kind == "network"]
    return marks.count("▲"), marks.count("▼"), marks.count("=")


def _months(found: Simulation) -> str:
    first, last = found.months[0].month, found.months[-1].month
    if first == last:
        return words.month_name(first)
    return f"{words.month_name(first)} a {words.month_name(last)} ({len(found.months)}{words.NBSP}meses)"


def _cells(kind: str, name: str, amount: Pair) -> list[str]:
    percent = "" if amount.share is None else number_cell((amount.share * 100).quantize(Decimal("0.1")))
    figures = (number_cell(a) for a in (amount.base, amount.scenario, amount.difference))
    return [kind, text_cell(name), *figures, percent]
