"""What was found in a file, as one page that an analyst can send back to whoever sent the file."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any

import shapely

from geobill.documents import words
from geobill.documents.inspection_map import LayerMap, LayerShapes, draw_layer
from geobill.documents.inspection_words import (
    GEOMETRY,
    IMPORTS,
    KEYS,
    SEVERITIES,
    TYPES,
    Words,
    turned_words,
    words_of,
)
from geobill.documents.templating import fill
from geobill.domain.network import Authority

ROWS_SHOWN = 40
MOST_NAMED = 3
_ORDER = {"error": 0, "warning": 1, "note": 2}
# without these nothing can be charged; the page asks for them where no column seems to hold them
_NEEDED = {
    "network": {"width": "Qual é a largura da faixa de cada trecho, em metros? Nenhuma coluna parece trazê-la."},
    "cabinets": {"volume": "Qual é o volume de cada armário, em m³? Nenhuma coluna parece trazê-lo."},
    "land_values": {"land_value": "Qual coluna traz o valor do metro quadrado do terreno? Nenhuma parece trazê-lo."},
}


@dataclass(frozen=True)
class Found:
    """A finding on the page."""

    severity: str
    label: str
    words: Words
    rows: str
    count: int


@dataclass(frozen=True)
class Field:
    """A column on the page; ``meaning`` is blank where none is proposed."""

    name: str
    type: str
    empty: str
    distinct: str
    examples: str
    meaning: str


@dataclass(frozen=True)
class Section:
    """A layer on the page."""

    name: str
    rows: int
    shapes: str
    system: str
    encoding: str
    lines: bool
    length: Decimal | None
    drawing: LayerMap | None
    drawn: LayerShapes | None
    fields: tuple[Field, ...]
    proposal: str
    reason: str
    reads: tuple[tuple[str, tuple[str, ...]], ...]
    candidates: tuple[Mapping[str, Any], ...]
    findings: tuple[Found, ...]


def render_inspection(
    report: Mapping[str, Any],
    shapes: Sequence[LayerShapes],
    ground: shapely.Geometry,
    municipality: str,
    authority: Authority | None,
    day: date,
) -> bytes:
    """Render the report as one HTML page: no script, no request; it reads on a telephone, a screen and paper.

    Parameters
    ----------
    report : mapping
        As ``geobill inspect --json`` prints it.
    shapes : sequence of LayerShapes
        What can be drawn of each of its layers.
    ground : Polygon or MultiPolygon
        The municipality's boundary or box, in the workspace's system.
    municipality : str
        Its name.
    authority : Authority or None
        Whose workspace it is; None without one.
    day : date
        When the file was looked at.

    Returns
    -------
    bytes
        HTML in UTF-8; the same report always gives the same bytes.
    """
    drawn = {one.layer: one for one in shapes}
    layers = [_section(layer, report, drawn.get(layer["name"]), ground, municipality) for layer in report["layers"]]
    whole = _found([f for f in report["findings"] if f["layer"] not in {s.name for s in layers}], len(layers) != 1)
    everything = [*whole, *(f for s in layers for f in s.findings)]
    page = fill(
        "conferencia.html.j2",
        "page",
        authority=authority,
        municipality=municipality,
        day=words.long_date(day),
        file=_file_name(report["file"]),
        sha256=report["sha256"],
        layers=layers,
        whole=whole,
        unopened=report["unopened_layers"],
        rows=sum(s.rows for s in layers),
        lengths=[s.length for s in layers if s.lines and s.length is not None],
        length=sum((s.length for s in layers if s.length is not None), Decimal(0)),
        errors=sum(f.severity == "error" for f in everything),
        warnings=sum(f.severity == "warning" for f in everything),
        questions=_questions(report, layers, whole),
        turned=turned_words,
        place=_place,
        several=len(layers) > 1,
    )
    return page.encode()


def _file_name(path: str) -> str:
    return path.replace("\\", "/").rpartition("/")[2]


def _section(
    layer: Mapping[str, Any],
    report: Mapping[str, Any],
    drawn: LayerShapes | None,
    ground: shapely.Geometry,
    municipality: str,
) -> Section:
    findings = _found([f for f in report["findings"] if f["layer"] == layer["name"]], False)
    doubtful = layer["crs"] is None or any(f["code"] in ("crs_suspect", "axes_swapped") for f in report["findings"])
    reads = tuple((c["encoding"], tuple(c["samples"])) for c in layer["encoding_candidates"])
    telling = any(not s.isascii() for _, samples in reads for s in samples)
    meaning = {column: KEYS.get(key, key) for key, column in layer["proposed_mapping"].items()}
    return Section(
        name=layer["name"],
        rows=layer["features"],
        shapes=_shapes(layer["geometry_types"]),
        system=layer["crs"] or "desconhecido",
        encoding=layer["encoding"],
        lines=any("Line" in kind for kind in layer["geometry_types"]),
        length=None if layer["length_m"] is None else Decimal(layer["length_m"]),
        drawing=None if drawn is None else draw_layer(drawn, ground, municipality),
        drawn=drawn,
        fields=tuple(_field(f, layer["features"], meaning.get(f["name"], "")) for f in layer["fields"]),
        proposal=IMPORTS.get(layer["proposed_import"] or "", ""),
        reason=layer["import_reason"],
        reads=reads if telling else (),
        candidates=tuple(layer["crs_candidates"]) if doubtful else (),
        findings=findings,
    )


def _shapes(types: Mapping[str, int]) -> str:
    said = [f"{words.number(n)} {GEOMETRY.get(kind, (kind, kind))[n != 1]}" for kind, n in types.items()]
    return ", ".join(said) or "nenhum desenho"


def _field(field: Mapping[str, Any], rows: int, meaning: str) -> Field:
    empty = field["nulls"] + field["blanks"]
    share = f" ({empty * 100 // rows}%)" if rows and empty and empty < rows else ""
    at_least = "mais de " if field["distinct_more"] else ""
    return Field(
        name=field["name"],
        type=TYPES.get(field["type"], field["type"]),
        empty="todos" if rows and empty == rows else f"{words.number(empty)}{share}",
        distinct=at_least + words.number(field["distinct"]),
        examples=" · ".join(field["examples"]) or "–",
        meaning=meaning,
    )


def _found(findings: Sequence[Mapping[str, Any]], named: bool) -> tuple[Found, ...]:
    """Put findings into the page's words, the gravest first; ``named`` puts the layer into the title."""
    out = []
    for f in sorted(findings, key=lambda f: _ORDER[f["severity"]]):
        said = words_of(f["code"], f["message"], f["fix"])
        if named and f["layer"]:
            said = Words(f"{said.title}: {f['layer']}", said.why, said.fix, said.question)
        out.append(Found(f["severity"], SEVERITIES[f["severity"]], said, _rows(f["rows"]), len(f["rows"])))
    return tuple(out)


def _rows(rows: Sequence[int]) -> str:
    """Write row numbers, neighbours as a range, the first of them where there are many.

    Examples
    --------
    >>> _rows([1, 2, 3, 7, 9, 10])
    '1 a 3, 7, 9, 10'
    """
    ranges: list[list[int]] = []
    for row in sorted(rows):
        if ranges and row == ranges[-1][1] + 1:
            ranges[-1][1] = row
        else:
            ranges.append([row, row])
    parts: list[str] = []
    for first, last in ranges:
        if last - first > 1:
            parts.append(f"{words.number(first)} a {words.number(last)}")
        else:
            parts += [words.number(n) for n in range(first, last + 1)]
        if len(parts) > ROWS_SHOWN:
            break
    return ", ".join(parts[:ROWS_SHOWN]) + (" …" if len(parts) > ROWS_SHOWN else "")


def _questions(report: Mapping[str, Any], layers: Sequence[Section], whole: Sequence[Found]) -> list[tuple[str, str]]:
    """List what to ask of the sender: each question, and the layer and rows it is about; none twice."""
    asked: dict[tuple[str, str], None] = {}
    for finding in whole:
        if finding.words.question:
            asked[finding.words.question, ""] = None
    for section, layer in zip(layers, report["layers"], strict=True):
        for finding in section.findings:
            if finding.words.question:
                question = finding.words.question + _possible(finding, section.candidates)
                rows = f", {words.number(finding.count)} registro{'s' if finding.count > 1 else ''}"
                asked[question, section.name + (rows if finding.count else "")] = None
        mapped = {**layer["proposed_mapping"], **layer["unclear_columns"]}
        for key, question in _NEEDED.get(layer["proposed_import"] or "", {}).items():
            sides = key == "volume" and {"length", "breadth", "height"} <= set(mapped)
            if key not in mapped and not sides and section.rows:
                asked[question, section.name] = None
        widths = {f["name"]: f["nulls"] + f["blanks"] for f in layer["fields"]}
        empty = widths.get(layer["proposed_mapping"].get("width", ""), 0)
        if empty:
            question = "Qual é a largura da faixa, em metros, dos registros que não a trazem?"
            asked[question, f"{section.name}, {words.number(empty)} registros"] = None
        for key, columns in layer["unclear_columns"].items():
            asked[f"Qual coluna traz: {KEYS.get(key, key)}? Pode ser {' ou '.join(columns)}.", section.name] = None
    return list(asked)


def _possible(finding: Found, candidates: Sequence[Mapping[str, Any]]) -> str:
    """Name the systems that could be meant, where that is what is asked."""
    as_they_are = [f"{c['crs']} ({c['name']})" for c in candidates if not c["turned"]]
    if not as_they_are or "sistema" not in finding.words.question:
        return ""
    return f" Pelas coordenadas, pode ser {' ou '.join(as_they_are[:MOST_NAMED])}."


def _place(candidate: Mapping[str, Any]) -> str:
    """Write where a candidate would put the data, in degrees."""
    return "; ".join(f"{candidate[axis]:.5f}°".replace(".", ",").replace("-", "−") for axis in ("lat", "lon"))
