"""The notch report on paper: a page and a table of whose extension lies where more metres cost less (art. 7)."""

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal
from fractions import Fraction

from geobill.documents import words
from geobill.documents.annex import BYTE_ORDER_MARK, number_cell, text_cell
from geobill.documents.statute_words import StatuteWords
from geobill.documents.templating import fill
from geobill.domain.network import Authority
from geobill.domain.notch_report import ABOVE_SCALE, BEFORE_EDGE, IN_NOTCH, OUTSIDE, NotchReport, NotchRow, Supposed
from geobill.law.figures import StatuteFigures

CENTIMETRE = Decimal("0.01")
POSITION: dict[str, str] = {
    IN_NOTCH: "no degrau: paga menos do que quem tem menos rede",
    BEFORE_EDGE: "antes do degrau: pagaria menos se declarasse mais",
    OUTSIDE: "fora dos degraus",
    ABOVE_SCALE: "acima da tabela: retido",
}
PLACE: dict[str, str] = {
    "one_metre_less": "um metro a menos",
    "one_metre_more": "um metro a mais",
    "lower_edge": "na borda de baixo",
    "upper_edge": "na borda de cima",
    "past_upper_edge": "um centímetro além da borda de cima",
}
COLUMNS: tuple[str, ...] = (
    "Entidade", "Permissão", "Extensão que define R (m)", "R", "Situação", "Borda do degrau (m)",
    "Metros acima da borda", "Metros até pagar o mesmo que na borda", "Metros que faltam para passar a borda",
    "Metros até a borda de baixo", "Metros até a borda de cima", "Paga no mês (R$)",
    *(f"Pagaria {place} (R$)" for place in PLACE.values()), "Pagaria faixa a faixa (R$)",
)  # fmt: skip


@dataclass(frozen=True)
class Card:
    """One network as the page prints it: metres to the edges of its notch, to the centimetre on which the price changes."""

    row: NotchRow
    position: str
    edge_m: Decimal | None
    down_m: Decimal | None
    up_m: Decimal | None
    lacking_m: Decimal | None
    supposed: tuple[tuple[str, Supposed, str], ...]


def render_notches(found: NotchReport, figures: StatuteFigures, authority: Authority) -> bytes:
    """Render the report as one HTML page: no script, no request.

    Parameters
    ----------
    found : NotchReport
    figures : StatuteFigures
        The statute: what the page cites.
    authority : Authority
        Whose workspace it is.

    Returns
    -------
    bytes
        HTML in UTF-8; the same records always give the same bytes.
    """
    cards = [_card(row) for row in found.rows]
    page = fill(
        "degraus.html.j2",
        "page",
        authority=authority,
        statute=StatuteWords.of_month(figures, found.month),
        found=found,
        by_permit=found.reducer_scope == "permit",
        graduated=found.reducer_method == "graduated",
        scale=_scale(found),
        ranges=[(r.edge_m, _floor(r.since_m), _ceiling(r.until_m)) for r in found.ranges],
        touched=[c for c in cards if c.row.position in (IN_NOTCH, BEFORE_EDGE)],
        others=[c for c in cards if c.row.position not in (IN_NOTCH, BEFORE_EDGE)],
        whole_metres=lambda m: words.metres(_ceiling(m) or Decimal(0)),
    )
    return page.encode()


def notches_csv(found: NotchReport) -> bytes:
    """Write the report, one row for each network: UTF-8 with byte order mark, semicolons, decimal commas, CRLF."""
    text = io.StringIO()
    writer = csv.writer(text, delimiter=";", lineterminator="\r\n")
    writer.writerow(COLUMNS)
    for card in map(_card, found.rows):
        row, by_place = card.row, {s.what: s.amount for _, s, _ in card.supposed}
        lower = None if row.lower_edge_m is None else row.extension_m - row.lower_edge_m
        upper = None if row.upper_edge_m is None else row.upper_edge_m - row.extension_m
        figures = (card.edge_m, card.down_m, card.up_m, card.lacking_m, lower, upper, row.amount)
        supposed = (by_place.get(place) for place in PLACE)
        writer.writerow(
            [
                text_cell(row.name),
                text_cell(row.permit or ""),
                number_cell(row.extension_m),
                _cell(row.reducer),
                card.position,
                *map(_cell, (*figures, *supposed, row.graduated)),
            ]
        )
    return (BYTE_ORDER_MARK + text.getvalue()).encode("utf-8")


def _card(row: NotchRow) -> Card:
    extension, at = Fraction(row.extension_m), row.notch or row.approach
    notch, approach = row.notch, row.approach
    return Card(
        row=row,
        position=POSITION[row.position],
        edge_m=_ceiling(at.edge_m) if at else None,
        down_m=_ceiling(extension - notch.edge_m) if notch else None,
        up_m=_ceiling(notch.until_m - extension) if notch and notch.until_m is not None else None,
        lacking_m=_ceiling(approach.edge_m - extension + Fraction(1, 100)) if approach else None,
        supposed=tuple((PLACE[s.what], s, _signed(s.difference)) for s in row.supposed),
    )


def _signed(difference: Decimal | None) -> str:
    if difference is None:
        return ""
    amount = words.reais(abs(difference))
    return f"▲ +{amount}" if difference > 0 else f"▼ −{amount}" if difference < 0 else f"= {amount}"


def _ceiling(exact: Fraction | None) -> Decimal | None:
    """Metres to the centimetre, rounded up: the first centimetre at which the price is no longer below."""
    if exact is None:
        return None
    return (Decimal(exact.numerator) / Decimal(exact.denominator)).quantize(CENTIMETRE, ROUND_CEILING)


def _floor(exact: Fraction | None) -> Decimal | None:
    """Metres to the centimetre, rounded down: the last centimetre at which the price is not above."""
    return None if exact is None else Decimal(exact * 100 // 1).scaleb(-2)


def _scale(found: NotchReport) -> Sequence[str]:
    return [
        (f"até {words.number(_short(edge / 1000))} km: {words.figure(value)}" if edge is not None else f"acima: {words.figure(value)}")
        for edge, value in found.scale
    ]  # fmt: skip


def _short(number: Decimal) -> Decimal:
    return number.quantize(Decimal(1)) if number == number.to_integral_value() else number.normalize()


def _cell(value: Decimal | None) -> str:
    return "" if value is None else number_cell(value)
