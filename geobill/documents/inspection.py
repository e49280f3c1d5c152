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
# nothing but lines has a length to be asked for
_ABOUT_LINES = frozenset({"geometry_from_xy", "wrong_geometry_type", "zero_length", "surfaces"})
_ORDER = {"error": 0, "warning": 1, "note": 2}
# without these nothing can be charged; the page asks for them where no column seems to hold them
_NEEDED = {
    "network": {"width": "Qual é a largura da faixa de cada trecho, em metros? Nenhuma coluna parece trazê-la."},
    "cabinets": {"volume": "Qual é o volume de cada armário, em m³? Nenhuma coluna parece trazê-lo."},
    "land_values": {"land_value": "Qual coluna traz o valor do metro quadrado do terreno? Nenhuma parece trazê-lo."},
}


@dataclass(frozen=True)
class Found:
    """A finding on the page; ``layers`` are those that share it, where there are several."""

    code: str
    severity: str
    label: str
    words: Words
    rows: str
    count: int
    layers: tuple[tuple[str, str], ...] = ()


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
    known_system: bool
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
    shared: bool


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
    shared = _shared(report)
    layers = [
        _section(layer, report, drawn.get(layer["name"]), ground, municipality, shared) for layer in report["layers"]
    ]
    whole = _found([f for f in report["findings"] if f["layer"] not in {s.name for s in layers}], len(layers) != 1)
    whole = tuple(sorted((*whole, *shared), key=lambda f: _ORDER[f.severity]))
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
        questions=_questions(report, layers),
        lacking={s.name for s, layer in zip(layers, report["layers"], strict=True) if _lacking(s, layer)},
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
    shared: Sequence[Found],
) -> Section:
    mine = [f for f in report["findings"] if f["layer"] == layer["name"]]
    together = {(f.severity, f.code) for f in shared}
    findings = _found([f for f in mine if (f["severity"], f["code"]) not in together], False)
    doubtful = layer["crs"] is None or any(f["code"] in ("crs_suspect", "axes_swapped") for f in report["findings"])
    reads = tuple((c["encoding"], tuple(c["samples"])) for c in layer["encoding_candidates"])
    telling = any(not s.isascii() for _, samples in reads for s in samples)
    meaning = {column: KEYS.get(key, key) for key, column in layer["proposed_mapping"].items()}
    return Section(
        name=layer["name"],
        rows=layer["features"],
        shapes=_shapes(layer["geometry_types"]),
        system=layer["crs"] or "desconhecido",
        known_system=layer["crs"] is not None,
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
        shared=len(mine) > len(findings),
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
        out.append(Found(f["code"], f["severity"], SEVERITIES[f["severity"]], said, _rows(f["rows"]), len(f["rows"])))
    return tuple(out)


def _shared(report: Mapping[str, Any]) -> tuple[Found, ...]:
    """Join findings of the same code on several layers: each once, with its layers and their rows."""
    names = [layer["name"] for layer in report["layers"]]
    by_code: dict[tuple[str, str], dict[str, list[int]]] = {}
    said: dict[tuple[str, str], Words] = {}
    for f in report["findings"]:
        if f["layer"] in names:
            key = f["severity"], f["code"]
            by_code.setdefault(key, {}).setdefault(f["layer"], []).extend(f["rows"])
            said.setdefault(key, words_of(f["code"], f["message"], f["fix"]))
    return tuple(
        Found(code, severity, SEVERITIES[severity], said[severity, code], "", sum(map(len, rows.values())),
              tuple((layer, _rows(its)) for layer, its in rows.items()))
        for (severity, code), rows in by_code.items() if len(rows) > 1
    )  # fmt: skip


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


def _questions(report: Mapping[str, Any], layers: Sequence[Section]) -> list[tuple[str, list[str]]]:
    """List what to ask of the sender: each question once, and the layers and rows it is about."""
    asked: dict[str, list[str]] = {}
    sections = {s.name: s for s in layers}
    kinds = {layer["name"]: layer["proposed_import"] for layer in report["layers"]}
    for f in sorted(report["findings"], key=lambda f: _ORDER[f["severity"]]):
        question, section = words_of(f["code"], f["message"], f["fix"]).question, sections.get(f["layer"])
        if not question:
            continue
        if section is None:
            asked.setdefault(question, []).extend([f["layer"]] if f["layer"] else [])
        elif section.lines or kinds[section.name] == "network" or f["code"] not in _ABOUT_LINES:
            count = len(f["rows"])
            rows = f" ({words.number(count)} registro{'s' if count > 1 else ''})" if count else ""
            asked.setdefault(question + _possible(question, section.candidates), []).append(section.name + rows)
    for section, layer in zip(layers, report["layers"], strict=True):
        for question in _lacking(section, layer):
            asked.setdefault(question, []).append(section.name)
    return [(question, list(dict.fromkeys(about))) for question, about in asked.items()]


def _lacking(section: Section, layer: Mapping[str, Any]) -> list[str]:
    """Ask for what an import needs and no column, or more than one, seems to hold."""
    mapped = {**layer["proposed_mapping"], **layer["unclear_columns"]}
    kind = layer["proposed_import"] or ("network" if layer["import_command"] else "")
    questions = []
    for key, question in _NEEDED.get(kind, {}).items():
        sides = key == "volume" and {"length", "breadth", "height"} <= set(mapped)
        if key not in mapped and not sides and section.rows:
            questions.append(question)
    for key, columns in layer["unclear_columns"].items():
        questions.append(f"Qual coluna traz: {KEYS.get(key, key)}? Pode ser {' ou '.join(columns)}.")
    return questions


def _possible(question: str, candidates: Sequence[Mapping[str, Any]]) -> str:
    """Name the systems that could be meant, where that is what is asked."""
    as_they_are = [f"{c['crs']} ({c['name']})" for c in candidates if not c["turned"]]
    if not as_they_are or "sistema" not in question:
        return ""
    return f" Pelas coordenadas, pode ser {' ou '.join(as_they_are[:MOST_NAMED])}."


def _place(candidate: Mapping[str, Any]) -> str:
    """Write where a candidate would put the data, in degrees."""
    return "; ".join(f"{candidate[axis]:.5f}°".replace(".", ",").replace("-", "−") for axis in ("lat", "lon"))
