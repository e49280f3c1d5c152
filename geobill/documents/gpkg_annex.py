"""The annex of an invoice to look at in QGIS: a GeoPackage whose layers bring their own styles, labels and aliases.

Four layers in the workspace's system: what the invoice charges and what is held (``pecas``), the stretches as they
were handed in (``trechos``), cabinets (``armarios``) and the priced coverage around them (``cobertura``). QGIS applies
the styles in ``layer_styles`` by itself. Equal records give equal bytes: what GDAL and SQLite would write of
themselves (the time, the library's version) is replaced, the time by the day of issue.

Amounts are text as printed: never a float. Lengths, widths, volumes and land values, which are looked at, filtered and
summed, are REAL, and read as the decimals that they are.
"""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import geopandas as gpd
import numpy as np
import pandas as pd
import shapely

from geobill.documents import gpkg_styles as looks
from geobill.documents import held_words, words
from geobill.documents.annex import notes_in_words, number_cell, status_in_words
from geobill.documents.gpkg_layers import (
    DATE,
    INTEGER,
    REAL,
    TEXT,
    WRITE_FAULTS,
    Columns,
    Layer,
    given,
    gpkg_bytes,
    multi,
)
from geobill.documents.qml_forms import Form
from geobill.documents.statute_words import StatuteWords
from geobill.domain.invoice import Invoice, Line
from geobill.errors import TemplateError
from geobill.frames import plan_lengths
from geobill.law.figures import StatuteFigures

MARGIN_M = 50.0  # ground around the network that is shown with it

PIECES: Columns = (
    ("linha", INTEGER, "Linha da fatura"),
    ("trecho", TEXT, "Trecho"),
    ("servico", TEXT, "Serviço"),
    ("permissao", TEXT, "Permissão"),
    ("zona", TEXT, "Zona"),
    ("valor_m2", REAL, "Valor do terreno T (R$/m²)"),
    ("extensao_m", REAL, "Extensão a (m)"),
    ("largura_m", REAL, "Largura cobrada b (m)"),
    ("indice_l", TEXT, "Índice de locação L"),
    ("indice_d", TEXT, "Índice de depreciação D"),
    ("redutor_r", TEXT, "Coeficiente redutor R"),
    ("multiplicador", TEXT, "Multiplicador"),
    ("dias", INTEGER, "Dias"),
    ("dias_do_mes", INTEGER, "Dias do mês"),
    ("valor_exato", TEXT, "Valor exato do mês inteiro, sem arredondar (R$)"),
    ("valor_da_linha", TEXT, "Valor da linha inteira da fatura (R$)"),
    ("situacao", TEXT, "Situação"),
    ("motivo", TEXT, "Motivo da retenção"),
    ("pago_com", TEXT, "Pago com o trecho (mesma faixa)"),
    ("suspensao", TEXT, "Suspenso por ordem judicial"),
    ("observacoes", TEXT, "Observações"),
    ("rotulo", TEXT, "Rótulo no mapa"),
)
SEGMENTS: Columns = (
    ("trecho", TEXT, "Trecho"),
    ("servico", TEXT, "Serviço"),
    ("permissao", TEXT, "Permissão"),
    ("nivel", TEXT, "Posição"),
    ("situacao", TEXT, "Situação"),
    ("largura_m", REAL, "Largura declarada (m)"),
    ("extensao_m", REAL, "Extensão desenhada (m)"),
    ("declarada_m", REAL, "Extensão declarada (m)"),
    ("instalado_em", DATE, "Instalado em"),
    ("retirado_em", DATE, "Retirado em"),
)
CABINETS: Columns = (
    ("linha", INTEGER, "Linha da fatura"),
    ("equipamento", TEXT, "Equipamento"),
    ("servico", TEXT, "Serviço"),
    ("permissao", TEXT, "Permissão"),
    ("volume_m3", REAL, "Volume (m³)"),
    ("multiplicador", TEXT, "Multiplicador"),
    ("dias", INTEGER, "Dias"),
    ("dias_do_mes", INTEGER, "Dias do mês"),
    ("valor_exato", TEXT, "Valor exato do mês inteiro, sem arredondar (R$)"),
    ("valor_da_linha", TEXT, "Valor da linha inteira da fatura (R$)"),
    ("situacao", TEXT, "Situação"),
    ("suspensao", TEXT, "Suspenso por ordem judicial"),
    ("cadastro", TEXT, "Situação cadastral"),
    ("observacoes", TEXT, "Observações"),
)
COVERAGE: Columns = (
    ("zona", TEXT, "Zona"),
    ("valor_m2", REAL, "Valor do terreno T (R$/m²)"),
    ("tipo", TEXT, "Tipo"),
    ("situacao", TEXT, "Situação"),
    ("area_m2", REAL, "Área (m²)"),
)
# of pieces and cabinets, only where a case charges something: every other invoice keeps the annex that it was issued with
CASE: Columns = (("processo", TEXT, "Processo (arts. 10 e 12)"),)
KINDS: dict[str, str] = {"zone": looks.ZONE, "gap": looks.STREET, "overlap": looks.OVERLAPPED}


def annex_gpkg(
    invoice: Invoice,
    pieces: pd.DataFrame,
    segments: gpd.GeoDataFrame,
    equipment: gpd.GeoDataFrame,
    cabinets: pd.DataFrame,
    coverage: gpd.GeoDataFrame,
    figures: StatuteFigures,
) -> bytes:
    """Write the GeoPackage annex of an invoice.

    Parameters
    ----------
    invoice : Invoice
        Whose lines the rows belong to, issued or drafted.
    pieces : DataFrame
        The operator's pieces, priced and held, with ``geometry``.
    segments, equipment : GeoDataFrame
        The operator's rows of the month, by ``frames.SEGMENTS`` and ``frames.EQUIPMENT``, in the workspace's system.
    cabinets : DataFrame
        What the month charges for ``equipment``, row by row in the same order.
    coverage : GeoDataFrame
        The priced coverage; only what lies within ``MARGIN_M`` of the network is taken, whole.
    figures : StatuteFigures
        The statute by which the month was priced.

    Returns
    -------
    bytes
        The same for the same arguments.

    Raises
    ------
    TemplateError
        If rows belong to a line that the invoice doesn't have, cabinets aren't those of the equipment, or the file
        can't be made.
    """
    lines, statute = dict(enumerate(invoice.lines, 1)), StatuteWords.of_month(figures, invoice.month)
    charged = (*invoice.lines, *(line for apart in invoice.suspended for line in apart.lines))
    more = CASE if any(line.cases for line in charged) else ()
    layers = (  # the ground first: QGIS draws later layers above
        coverage_layer(coverage, np.concatenate([segments.geometry.values, equipment.geometry.values])),
        _segment_layer(segments, statute),
        _piece_layer(pieces, lines, statute, more),
        _cabinet_layer(equipment, cabinets, lines, statute, more),
    )
    title = f"Fatura {invoice.number}: {invoice.operator.name}, {words.month_name(invoice.month)}"
    try:
        return gpkg_bytes(layers, title, f"EPSG:{segments.crs.to_epsg()}", f"{invoice.issued_on}T00:00:00.000Z")
    except WRITE_FAULTS as fault:
        raise TemplateError(
            f"The GeoPackage annex of invoice {invoice.number} can't be made: {fault}. Nothing was issued. See that the "
            "folder for temporary files has room and may be written."
        ) from None


def _piece_layer(pieces: pd.DataFrame, lines: Mapping[int, Line], statute: StatuteWords, more: Columns) -> Layer:
    records = pieces.to_dict("records")
    rows = [piece_row(record, lines, statute) for record in records]
    shapes = np.array([record["geometry"] for record in records] or [], dtype=object)
    columns = (*PIECES, *more)
    style = looks.piece_style({n: a for n, _, a in columns}, (row["situacao"] for row in rows))
    return Layer("pecas", "Peças: o que a fatura cobra e o que está retido", columns, "MultiLineString", style, rows,
                 multi(shapes, shapely.multilinestrings))  # fmt: skip


def piece_row(record: Mapping[str, Any], lines: Mapping[int, Line], statute: StatuteWords) -> dict[str, Any]:
    """Return a piece by the columns of `PIECES`; ``lines`` are those of its operator's invoice, by number."""
    line = _line_of(record, lines)
    flags = _flags(record)
    held, payer = given(record.get("held")), given(record.get("priced_with"))
    order = given(record.get("suspended"))
    zone, value = given(record.get("zone")), given(record.get("land_value"))
    doubled, in_gap = line is not None and line.multiplier > 1, "in_gap" in flags
    if held:
        state = looks.HELD
    elif order:
        state = looks.SUSPENDED
    elif payer:
        state = looks.SHARED
    elif in_gap:
        state = looks.GAP_DOUBLED if doubled else looks.GAP
    else:
        state = looks.DOUBLED if doubled else looks.ONCE
    reason = held_words.held_title(str(held), statute.scale_end) if held else None
    label = reason or (f"{zone} · {words.reais(value)}/m²" if value is not None else zone)
    return {
        "trecho": record["segment"],
        "servico": words.service(given(record.get("service"))),
        "zona": zone,
        "valor_m2": value,
        "extensao_m": record["length_m"],
        "largura_m": record["billed_width_m"],
        "valor_exato": _number(record.get("amount_exact")),
        "situacao": state,
        "motivo": reason,
        "pago_com": payer,
        "suspensao": order,
        "observacoes": notes_in_words(flags, statute),
        "rotulo": label,
        "processo": _case(record),
        **_of_line(record, line),
        "indice_l": None if line is None else _number(line.location_index),
        "indice_d": None if line is None else _number(line.depreciation_index),
        "redutor_r": None if line is None else _number(line.reducer),
    }


def _segment_layer(segments: gpd.GeoDataFrame, statute: StatuteWords) -> Layer:
    drawn = [Decimal(f"{length:.2f}") for length in plan_lengths(segments.geometry.values)]
    rows = [
        {
            "trecho": record["segment"],
            "servico": words.service(given(record["service"])),
            "permissao": given(record["permit"]),
            "nivel": given(record["level"]),
            "situacao": status_in_words(record["status"], statute),
            "largura_m": record["width_m"],
            "extensao_m": length,
            "declarada_m": given(record["declared_length_m"]),
            "instalado_em": given(record["installed_on"]),
            "retirado_em": given(record["removed_on"]),
        }
        for record, length in zip(segments.to_dict("records"), drawn, strict=True)
    ]
    style = looks.segment_style({n: a for n, _, a in SEGMENTS})
    shapes = multi(segments.geometry.values, shapely.multilinestrings)
    return Layer("trechos", "Trechos da rede, como entregues", SEGMENTS, "MultiLineString", style, rows, shapes)


def _cabinet_layer(
    equipment: gpd.GeoDataFrame,
    cabinets: pd.DataFrame,
    lines: Mapping[int, Line],
    statute: StatuteWords,
    more: Columns,
) -> Layer:
    charged_rows, stored_rows = cabinets.to_dict("records"), equipment.to_dict("records")
    places = [
        int(c.get("stretch", n)) - 1 for n, c in enumerate(charged_rows, 1)
    ]  # several rows where a court suspends a part
    drawn = [str(e["equipment"]) for e in stored_rows]
    if sorted(set(places)) != list(range(len(drawn))) or any(
        drawn[p] != str(c["equipment"]) for p, c in zip(places, charged_rows, strict=True)
    ):
        raise TemplateError(
            "The cabinets that the month charges aren't those of the equipment drawn: annex and invoice must come from the "
            "same priced month."
        )
    rows = []
    for charged, place in zip(charged_rows, places, strict=True):
        stored, line, order = stored_rows[place], _line_of(charged, lines), given(charged.get("suspended"))
        doubled = line is not None and line.multiplier > 1
        rows.append(
            {
                "equipamento": charged["equipment"],
                "servico": words.service(given(stored["service"])),
                "volume_m3": charged["volume_m3"],
                "valor_exato": _number(charged.get("amount_exact")),
                "situacao": looks.CABINET_SUSPENDED
                if order
                else looks.CABINET_DOUBLED
                if doubled
                else looks.CABINET_ONCE,
                "suspensao": order,
                "cadastro": status_in_words(stored["status"], statute),
                "observacoes": notes_in_words(_flags(charged), statute),
                "processo": _case(charged),
                **_of_line(charged, line),
            }
        )
    columns = (*CABINETS, *more)
    style = looks.cabinet_style({n: a for n, _, a in columns}, (row["situacao"] for row in rows))
    points = shapely.point_on_surface(np.asarray(equipment.geometry.values, dtype=object))
    return Layer(
        "armarios", "Armários e contêineres", columns, "Point", style, rows, points[np.array(places, dtype=int)]
    )


def coverage_layer(coverage: gpd.GeoDataFrame, network: np.ndarray, form: Form | None = None) -> Layer:
    """Return the faces of the coverage near the network, whole: a cut would move their corners."""
    faces = np.asarray(coverage.geometry.values, dtype=object)
    network = network[~shapely.is_missing(network)]
    near = np.unique(shapely.STRtree(faces).query(network, predicate="dwithin", distance=MARGIN_M)[1])
    shown = coverage.iloc[near]
    rows = [
        {
            "zona": given(record["zone"]),
            "valor_m2": given(record["land_value"]),
            "tipo": KINDS.get(record.get("kind", "zone"), record.get("kind")),
            "situacao": looks.HELD_GROUND if record.get("status") == "held" else looks.PRICED_GROUND,
            "area_m2": f"{face.area:.2f}",
        }
        for record, face in zip(shown.to_dict("records"), faces[near], strict=True)
    ]
    values = [Decimal(row["valor_m2"]) for row in rows if row["valor_m2"] is not None]
    style = looks.coverage_style(
        {n: a for n, _, a in COVERAGE}, values, ((r["tipo"], r["situacao"]) for r in rows), form
    )
    shapes = multi(faces[near], shapely.multipolygons)
    return Layer("cobertura", "Mapa de Valores em torno da rede", COVERAGE, "MultiPolygon", style, rows, shapes)


def _line_of(record: Mapping[str, Any], lines: Mapping[int, Line]) -> Line | None:
    number = given(record.get("line"))
    if number is None:
        return None
    if int(number) not in lines:
        raise TemplateError(
            f"A row of the annex belongs to line {number}, but the invoice has {len(lines)} line(s). Annex and invoice must "
            "come from the same priced month."
        )
    return lines[int(number)]


def _of_line(record: Mapping[str, Any], line: Line | None) -> dict[str, Any]:
    if line is None:
        return {}
    return {
        "linha": int(record["line"]),
        "permissao": line.permit,
        "multiplicador": _number(line.multiplier),
        "dias": line.days,
        "dias_do_mes": line.month_days,
        "valor_da_linha": words.number(line.amount),
    }


def _case(record: Mapping[str, Any]) -> str | None:
    """Name the cases that charge a row; None where none does."""
    return ", ".join(record.get("cases") or ()) or None


def _flags(record: Mapping[str, Any]) -> tuple[str, ...]:
    flags = record.get("flags") or ()
    return (flags,) if isinstance(flags, str) else tuple(flags)


def _number(value: Any) -> str | None:
    """Digits with a decimal comma, a fraction as the fraction it is: what the CSV annex prints."""
    return None if given(value) is None else number_cell(value if isinstance(value, Decimal) else str(value))
