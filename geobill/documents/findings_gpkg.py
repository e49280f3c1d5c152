"""What a survey found, for QGIS: findings, survey, what is permitted, zones, and the layer into which decisions are typed.

Findings lie in ``achados`` (network) and ``achados_pontos`` (cabinets, poles), above ``permitido``, ``levantamento``,
``equipamentos`` and ``zonas``. ``cases`` has a pin on every finding and is the only layer that takes anything; what is
typed there comes back by ``geobill case sync``. Amounts are text as printed, and whole cents to sort by.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import geopandas as gpd
import numpy as np
import shapely

from geobill.documents import field_styles as looks
from geobill.documents import gpkg_styles, words
from geobill.documents.annex import status_in_words
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
    titles,
)
from geobill.documents.qml_forms import Form
from geobill.documents.statute_words import StatuteWords
from geobill.domain.detection import FINDING_KINDS, FieldFinding
from geobill.domain.money import to_cents
from geobill.errors import TemplateError
from geobill.frames import plan_lengths

CASES = "cases"  # the name that geobill case sync looks for
FINDINGS: Columns = (
    ("achado", TEXT, "Achado"),
    ("tipo", TEXT, "O que se achou"),
    ("artigo", TEXT, "Artigo"),
    ("situacao", TEXT, "Situação"),
    ("operadora", TEXT, "Operadora"),
    ("servico", TEXT, "Serviço"),
    ("nivel", TEXT, "Posição"),
    ("extensao_m", REAL, "Extensão (m)"),
    ("confianca", REAL, "Confiança (0 a 1)"),
    ("desvio_medio_m", REAL, "Distância média à rede permitida (m)"),
    ("desvio_p95_m", REAL, "Distância que 95% não passam (m)"),
    ("desvio_max_m", REAL, "Maior distância (m)"),
    ("largura_m", REAL, "Largura levantada (m)"),
    ("largura_permitida_m", REAL, "Largura permitida (m)"),
    ("volume_m3", REAL, "Volume levantado (m³)"),
    ("volume_permitido_m3", REAL, "Volume permitido (m³)"),
    ("preco_mes", TEXT, "Preço de um mês, uma vez (R$)"),
    ("preco_mes_centavos", INTEGER, "Preço de um mês, em centavos (para ordenar)"),
    ("levantamento", TEXT, "Levantamento"),
    ("linha_arquivo", INTEGER, "Linha no arquivo"),
    ("trecho", TEXT, "Trecho ou equipamento no arquivo"),
    ("permitido", TEXT, "Trecho ou equipamento permitido"),
    ("inicio_m", REAL, "Do metro"),
    ("fim_m", REAL, "Ao metro"),
    ("comparado_em", TEXT, "Comparado em"),
    ("processo", TEXT, "Processo"),
    ("decidido_por", TEXT, "Decidido por"),
    ("decidido_em", TEXT, "Decidido em"),
    ("versao", INTEGER, "Versão"),
    ("rotulo", TEXT, "Rótulo no mapa"),
)
DECISIONS: Columns = (
    ("achado", TEXT, "Achado"),
    ("versao", INTEGER, "Versão (não mudar)"),
    ("tipo", TEXT, "O que se achou"),
    ("situacao", TEXT, "Situação"),
    ("extensao_m", REAL, "Extensão (m)"),
    ("preco_mes", TEXT, "Preço de um mês, uma vez (R$)"),
    ("processo", TEXT, "Processo"),
    ("decisao", TEXT, "Decisão"),
    ("motivo", TEXT, "Motivo"),
    ("responsavel", TEXT, "Quem decide (vazio: quem traz o arquivo)"),
    ("operadora", TEXT, "Operadora"),
    ("operadora_lida", TEXT, "Operadora quando o arquivo foi feito"),
    ("nota", TEXT, "Nota a juntar"),
    ("operadora_nome", TEXT, "Nome da operadora"),
)
SURVEYED: Columns = (
    ("levantamento", TEXT, "Levantamento"),
    ("linha_arquivo", INTEGER, "Linha no arquivo"),
    ("trecho", TEXT, "Trecho"),
    ("operadora", TEXT, "Operadora"),
    ("servico", TEXT, "Serviço"),
    ("nivel", TEXT, "Posição"),
    ("largura_m", REAL, "Largura levantada (m)"),
    ("extensao_m", REAL, "Extensão (m)"),
)
PERMITTED: Columns = (
    ("trecho", TEXT, "Trecho"),
    ("operadora", TEXT, "Operadora"),
    ("servico", TEXT, "Serviço"),
    ("permissao", TEXT, "Permissão"),
    ("nivel", TEXT, "Posição"),
    ("cadastro", TEXT, "Situação cadastral"),
    ("largura_m", REAL, "Largura (m)"),
    ("extensao_m", REAL, "Extensão (m)"),
    ("instalado_em", DATE, "Instalado em"),
    ("retirado_em", DATE, "Retirado em"),
)
EQUIPMENT: Columns = (
    ("origem", TEXT, "Origem"),
    ("equipamento", TEXT, "Equipamento"),
    ("operadora", TEXT, "Operadora"),
    ("servico", TEXT, "Serviço"),
    ("volume_m3", REAL, "Volume (m³)"),
    ("cadastro", TEXT, "Situação cadastral"),
    ("levantamento", TEXT, "Levantamento"),
)
ZONES: Columns = (
    ("zona", TEXT, "Zona"),
    ("valor_m2", REAL, "Valor do terreno T (R$/m²)"),
    ("tipo", TEXT, "Tipo"),
    ("situacao", TEXT, "Situação"),
)


@dataclass(frozen=True)
class Shown:
    """A finding as it is shown: where it lies (workspace's system), and where it stands in the review."""

    finding: FieldFinding
    shape: Any
    state: str
    version: int
    operator: str | None
    case: str | None = None
    by: str = ""
    changed_at: str = ""
    compared_at: str = ""


@dataclass(frozen=True)
class FieldMap:
    """What goes into the file; frames by `geobill.frames`, the survey's with ``survey``, all in EPSG:``srid``.

    ``operators`` are names by id. ``decidable`` is False for findings that no register keeps: no layer takes decisions then.
    """

    title: str
    srid: int
    moment: str
    findings: Sequence[Shown]
    lines: gpd.GeoDataFrame
    surveyed_equipment: gpd.GeoDataFrame
    segments: gpd.GeoDataFrame
    equipment: gpd.GeoDataFrame
    zones: gpd.GeoDataFrame
    operators: Mapping[str, str]
    statute: StatuteWords
    decidable: bool = True


def findings_gpkg(shown: FieldMap, layers: Sequence[Layer] | None = None) -> bytes:
    """Write findings with all that they were seen against as a GeoPackage that QGIS shows styled.

    Parameters
    ----------
    shown : FieldMap
    layers : sequence of Layer or None
        What `field_layers` made of it, where that is at hand.

    Returns
    -------
    bytes
        The same for the same findings and moment.

    Raises
    ------
    TemplateError
        If the file can't be made.
    """
    try:
        return gpkg_bytes(layers or field_layers(shown), shown.title, f"EPSG:{shown.srid}", full_moment(shown.moment))
    except WRITE_FAULTS as fault:
        raise TemplateError(
            f"The GeoPackage of the findings can't be made: {fault}. See that the folder for temporary files has room and may "
            "be written."
        ) from None


def field_layers(shown: FieldMap) -> tuple[Layer, ...]:
    """Return the layers, the lowest first: zones, permitted, surveyed, equipment, findings, decisions."""
    on_lines = [s for s in shown.findings if shapely.get_dimensions(s.shape) == 1]
    others = [s for s in shown.findings if shapely.get_dimensions(s.shape) != 1]
    layers = (
        _zone_layer(shown),
        _permitted_layer(shown),
        _survey_layer(shown),
        _equipment_layer(shown),
        _line_findings(shown, on_lines),
        _point_findings(shown, others),
    )
    return (*layers, _decision_layer(shown)) if shown.decidable else layers


def full_moment(now: str) -> str:
    """Return ISO text with Z as GeoPackage wants it: with a fraction of a second (requirement 15)."""
    return now if "." in now else now.replace("Z", ".000Z")


# -- findings


def _line_findings(shown: FieldMap, some: Sequence[Shown]) -> Layer:
    style = looks.finding_line_style(titles(FINDINGS), (s.finding.kind for s in some), shown.operators)
    shapes = multi([s.shape for s in some], shapely.multilinestrings)
    rows = [_finding(s) for s in some]
    return Layer("achados", "Achados na rede", FINDINGS, "MultiLineString", style, rows, shapes)


def _point_findings(shown: FieldMap, some: Sequence[Shown]) -> Layer:
    style = looks.finding_mark_style(titles(FINDINGS), (s.finding.kind for s in some), shown.operators)
    rows = [_finding(s) for s in some]
    points = _points(np.array([s.shape for s in some], dtype=object))
    return Layer("achados_pontos", "Achados em equipamentos", FINDINGS, "Point", style, rows, points)


def _finding(s: Shown) -> dict[str, Any]:
    f = s.finding
    return {
        "achado": f.id,
        "tipo": f.kind,
        "artigo": words.article(FINDING_KINDS[f.kind]),
        "situacao": s.state,
        "operadora": s.operator,
        "servico": _service(f.service),
        "nivel": f.level,
        "extensao_m": f.length_m,
        "confianca": f.confidence,
        "desvio_medio_m": f.offset_mean_m,
        "desvio_p95_m": f.offset_p95_m,
        "desvio_max_m": f.offset_max_m,
        "largura_m": f.width_m,
        "largura_permitida_m": f.permitted_width_m,
        "volume_m3": f.volume_m3,
        "volume_permitido_m3": f.permitted_volume_m3,
        "preco_mes": _amount(f.month_amount),
        "preco_mes_centavos": None if f.month_amount is None else to_cents(f.month_amount),
        "levantamento": f.survey,
        "linha_arquivo": f.source_row,
        "trecho": f.segment,
        "permitido": f.permitted,
        "inicio_m": round(f.start_m, 4),
        "fim_m": round(f.end_m, 4),
        "comparado_em": given(s.compared_at),
        "processo": s.case,
        "decidido_por": given(s.by),
        "decidido_em": given(s.changed_at) if s.by else None,
        "versao": s.version,
        "rotulo": _label(f),
    }


def _label(f: FieldFinding) -> str:
    number = f.id.rpartition("-")[2]
    return f"{number} · {words.metres(f.length_m)}" if f.length_m else number


def _decision_layer(shown: FieldMap) -> Layer:
    rows = [
        {
            "achado": s.finding.id,
            "versao": s.version,
            "tipo": s.finding.kind,
            "situacao": s.state,
            "extensao_m": s.finding.length_m,
            "preco_mes": _amount(s.finding.month_amount),
            "processo": s.case,
            **dict.fromkeys(("motivo", "responsavel", "nota"), ""),  # QGIS would show the letters NULL where one types
            "operadora": s.operator,
            "operadora_lida": s.operator,
            "operadora_nome": shown.operators.get(s.operator or ""),
        }
        for s in shown.findings
    ]
    pins = np.array([_pin(s.shape) for s in shown.findings], dtype=object)
    style = looks.case_style(titles(DECISIONS), shown.operators)
    return Layer(CASES, "Decisões: digite aqui", DECISIONS, "Point", style, rows, pins)


def _pin(shape: Any) -> Any:
    """Return the place where a finding is pointed at: the middle of its longest part, a place on it."""
    if shapely.get_dimensions(shape) != 1:
        return shapely.point_on_surface(shape)
    parts = shapely.get_parts(shape)
    return shapely.line_interpolate_point(parts[int(np.argmax(shapely.length(parts)))], 0.5, normalized=True)


# -- what they were seen against


def _survey_layer(shown: FieldMap) -> Layer:
    drawn = plan_lengths(shown.lines.geometry.values)
    rows = [
        {
            "levantamento": given(record.get("survey")),
            "linha_arquivo": record["source_row"],
            "trecho": record["segment"],
            "operadora": given(record["operator"]),
            "servico": _service(record["service"]),
            "nivel": given(record["level"]),
            "largura_m": given(record["width_m"]),
            "extensao_m": Decimal(f"{length:.2f}"),
        }
        for record, length in zip(shown.lines.to_dict("records"), drawn, strict=True)
    ]
    style = looks.survey_style(titles(SURVEYED), shown.operators)
    shapes = multi(shown.lines.geometry.values, shapely.multilinestrings)
    return Layer("levantamento", "Levantamento de campo", SURVEYED, "MultiLineString", style, rows, shapes)


def _permitted_layer(shown: FieldMap) -> Layer:
    drawn = plan_lengths(shown.segments.geometry.values)
    rows = [
        {
            "trecho": record["segment"],
            "operadora": given(record["operator"]),
            "servico": _service(record["service"]),
            "permissao": given(record["permit"]),
            "nivel": given(record["level"]),
            "cadastro": status_in_words(record["status"], shown.statute),
            "largura_m": given(record["width_m"]),
            "extensao_m": Decimal(f"{length:.2f}"),
            "instalado_em": given(record["installed_on"]),
            "retirado_em": given(record["removed_on"]),
        }
        for record, length in zip(shown.segments.to_dict("records"), drawn, strict=True)
    ]
    style = looks.permitted_style(titles(PERMITTED), shown.operators)
    shapes = multi(shown.segments.geometry.values, shapely.multilinestrings)
    return Layer("permitido", "Rede permitida", PERMITTED, "MultiLineString", style, rows, shapes)


def _equipment_layer(shown: FieldMap) -> Layer:
    rows, shapes = [], []
    for origin, frame in ((looks.PERMITTED, shown.equipment), (looks.SURVEYED, shown.surveyed_equipment)):
        for record in frame.to_dict("records"):
            status = given(record.get("status"))
            rows.append(
                {
                    "origem": origin,
                    "equipamento": record["equipment"],
                    "operadora": given(record["operator"]),
                    "servico": _service(record["service"]),
                    "volume_m3": given(record["volume_m3"]),
                    "cadastro": None if status is None else status_in_words(status, shown.statute),
                    "levantamento": given(record.get("survey")),
                }
            )
        shapes.append(np.asarray(frame.geometry.values, dtype=object))
    style = looks.equipment_style(titles(EQUIPMENT), shown.operators)
    points = _points(np.concatenate(shapes))
    return Layer("equipamentos", "Armários e postes", EQUIPMENT, "Point", style, rows, points)


def _zone_layer(shown: FieldMap) -> Layer:
    rows = [
        {
            "zona": given(record["zone"]),
            "valor_m2": given(record["land_value"]),
            "tipo": gpkg_styles.ZONE,
            "situacao": gpkg_styles.PRICED_GROUND,
        }
        for record in shown.zones.to_dict("records")
    ]
    values = [Decimal(row["valor_m2"]) for row in rows if row["valor_m2"] is not None]
    style = gpkg_styles.coverage_style(titles(ZONES), values, (), Form())
    shapes = multi(shown.zones.geometry.values, shapely.multipolygons)
    return Layer("zonas", "Mapa de Valores", ZONES, "MultiPolygon", style, rows, shapes)


def _points(shapes: np.ndarray) -> np.ndarray:
    return np.asarray(shapely.point_on_surface(shapes), dtype=object) if len(shapes) else np.empty(0, dtype=object)


def _service(value: Any) -> str | None:
    return None if given(value) is None else words.service(value)


def _amount(amount: Decimal | None) -> str | None:
    return None if amount is None else words.number(amount)
