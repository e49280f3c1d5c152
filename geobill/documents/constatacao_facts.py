"""What an *auto de constatação* says in words: of each survey its terms and sums, of each finding its measures."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from math import hypot
from typing import Any

import shapely
from shapely.geometry.base import BaseGeometry

from geobill.documents import words
from geobill.documents.finding_words import KIND_SENTENCES, KIND_WORDS
from geobill.documents.grounds import is_point, size_of
from geobill.documents.offset_profile import OffsetProfile
from geobill.domain.detection import (
    CLANDESTINE_KINDS,
    DISMISSED,
    LARGER,
    MISSING,
    MORE,
    UNDONE,
    UPHELD,
    WIDER,
    DetectionTerms,
    FieldFinding,
    FindingAct,
    FindingFile,
    Survey,
)
from geobill.errors import BooksDontCloseError

CENTIMETRE, ZERO = Decimal("0.01"), Decimal(0)


@dataclass(frozen=True)
class Shown:
    """A finding as the paper shows it: with its acts (who upheld it, photos), its geometry in metres, where it is, its offsets.

    ``where`` is a street, a zone, or blank where nobody knows.
    """

    file: FindingFile
    shape: BaseGeometry
    where: str = ""
    profile: OffsetProfile | None = None


def reach_of(terms: DetectionTerms) -> Decimal:
    """Metres within which a surveyed line counts as permitted, to the centimetre, as the paper prints it."""
    return Decimal(repr(terms.reach_m)).quantize(CENTIMETRE)


def check_sums(survey: Survey) -> None:
    """Refuse a survey whose metres don't add up: surveyed = matched + undeclared."""
    parts = [Decimal(survey.figures[name]) for name in ("survey_length_m", "matched_m", "undeclared_m")]
    if parts[0] != parts[1] + parts[2]:
        raise BooksDontCloseError(
            f"The survey {survey.id} says {parts[0]} m surveyed, but {parts[1]} m matched and {parts[2]} m undeclared are "
            f"{parts[1] + parts[2]} m. No paper was made; compare the survey again."
        )


def survey_told(survey: Survey) -> dict[str, Any]:
    """Say what the paper does of a comparison: file, terms, formula of the reach, sums."""
    terms, figures = survey.terms, {k: Decimal(v) for k, v in survey.figures.items()}
    among = (
        ("below_minimum_m", "em trechos menores que a extensão mínima"),
        ("moved_m", "fora da posição permitida"),
        ("more_m", "em cabos a mais sobre uma rede permitida"),
        ("in_case_m", "sobre rede já tida por clandestina ou em processo"),
    )
    given = bool(terms.survey_accuracy_m or terms.permitted_accuracy_m)
    sigma = (
        hypot(float(terms.survey_accuracy_m), float(terms.permitted_accuracy_m))
        if given
        else float(terms.tolerance_m) / 2
    )
    return {
        "id": survey.id,
        "file": survey.file,
        "layer": survey.layer,
        "sha256": survey.sha256,
        "on": date.fromisoformat(survey.compared_on) if survey.compared_on else None,
        "by": survey.by,
        "services": ", ".join(words.service(s) for s in survey.services),
        "terms": terms,
        "given": given,
        "reach": reach_of(terms),
        "sigma": Decimal(repr(sigma)).quantize(CENTIMETRE),
        "surveyed": figures["survey_length_m"],
        "matched": figures["matched_m"],
        "undeclared": figures["undeclared_m"],
        "among": [f"{words.metres(figures[name])} {said}" for name, said in among if figures.get(name)],
        "boxes": figures.get("equipment_surveyed", 0),
        "boxes_declared": figures.get("equipment_surveyed", ZERO) - figures.get("equipment_undeclared", ZERO),
        "boxes_undeclared": figures.get("equipment_undeclared", 0),
    }


def finding_told(number: int, one: Shown, surveys: Mapping[str, Survey], in_full: bool) -> dict[str, Any]:
    """Say what the paper does of a finding: a row of the table, and its facts where it is shown in full."""
    f = one.file.finding
    first, last = ends_of(one.shape)
    return {
        "number": number,
        "id": f.id,
        "kind": KIND_WORDS[f.kind],
        "sentence": KIND_SENTENCES[f.kind],
        "to": one.profile.lines if one.profile is not None else "",
        "size": size_of(f),
        "permitted": f.permitted or "",
        "offset": " / ".join("–" if o is None else words.number(o) for o in _offsets(f)),
        "confidence": f.confidence,
        "where": one.where,
        "first": first,
        "last": last,
        "full": in_full,
        "facts": _facts(one, surveys[f.survey]) if in_full else [],
    }  # fmt: skip


def _facts(one: Shown, survey: Survey) -> list[tuple[str, str]]:
    """Measures of a finding, each with its name."""
    f = one.file.finding
    return [
        *(_box_facts(one, survey) if is_point(f) else _line_facts(one)),
        *([("Local", one.where)] if one.where else []),
        *([("Serviço", _service(f))] if f.service or f.level else []),
        *_measure("Largura", f.width_m, f.permitted_width_m, "m"),
        *_measure("Volume", f.volume_m3, f.permitted_volume_m3, "m³"),
        ("Permitido", _permitted(one)),
        *([("Afastamento", _offset(f))] if f.offset_mean_m is not None else []),
        ("Confiança", words.number(f.confidence)),
        *_reviewed(one.file.acts),
    ]


def _line_facts(one: Shown) -> list[tuple[str, str]]:
    f = one.file.finding
    start, end = (words.number(Decimal(repr(m)).quantize(CENTIMETRE)) for m in (f.start_m, f.end_m))
    whose = "linha permitida" if f.kind == MISSING else "linha levantada"
    length = f"{words.metres(f.length_m)}, do metro {start} ao {end} da {whose} {f.segment}"
    return [("Extensão", length), ("Lugar", " a ".join(ends_of(one.shape)))]


def _box_facts(one: Shown, survey: Survey) -> list[tuple[str, str]]:
    f = one.file.finding
    row = "" if f.kind == MISSING else f", registro {f.source_row} do levantamento {survey.id}"
    return [("Equipamento", f.segment + row), ("Lugar", ends_of(one.shape)[0])]


def _service(f: FieldFinding) -> str:
    return ", ".join(filter(None, (words.service(f.service), f.level and f"nível {f.level}")))


def _measure(name: str, seen: Decimal | None, permitted: Decimal | None, unit: str) -> list[tuple[str, str]]:
    """Say a measure beside the permitted one; nothing where nobody knows either."""
    said = [
        f"{words.number(m)}{words.NBSP}{unit} {how}"
        for m, how in ((seen, "na medição"), (permitted, "na permissão"))
        if m
    ]
    return [(name, "; ".join(said))] if said else []


def _offsets(f: FieldFinding) -> tuple[Decimal | None, ...]:
    """Mean, 95 % and greatest offset of a line; of equipment, or where there is none, one of them."""
    one = is_point(f) or f.offset_mean_m is None
    return (f.offset_mean_m,) if one else (f.offset_mean_m, f.offset_p95_m, f.offset_max_m)


def _offset(f: FieldFinding) -> str:
    told = [words.metres(m) for m in _offsets(f) if m is not None]
    if len(told) < 3:
        return told[0]
    mean, most, greatest = told
    told = f"médio {mean}; em 95% até {most}; máximo {greatest}"
    return told + (" (à rede levantada)" if f.kind == MISSING else "")


def _reviewed(acts: Sequence[FindingAct]) -> list[tuple[str, str]]:
    """Who upheld the finding, where that decision stands."""
    standing: list[FindingAct] = []
    for act in acts:
        if act.kind in (UPHELD, DISMISSED):
            standing.append(act)
        elif act.kind == UNDONE and standing:
            standing.pop()
    if not standing or standing[-1].kind != UPHELD:
        return []
    act = standing[-1]
    on = f", {words.short_date(date.fromisoformat(act.at[:10]))}" if act.at else ""
    return [("Conferido", f"procede – {act.by}{on}" + (f": {act.note}" if act.note else ""))]


def _permitted(one: Shown) -> str:
    """Say which permitted row the finding concerns; of what isn't declared it is the nearest one."""
    f, profile = one.file.finding, one.profile
    if f.permitted:
        return f.permitted + (" (o mais próximo)" if f.kind in CLANDESTINE_KINDS else "")
    if profile is not None and not profile.to_surveyed and all(offset is None for _, offset in profile.places):
        return f"sem rede permitida a até {words.metres(Decimal(f'{profile.searched_m:.2f}'))}"
    return "nenhum que o abranja"


def ends_of(shape: BaseGeometry) -> tuple[str, str]:
    """First and last coordinate of a finding, to the decimetre, as people read them."""
    xy = shapely.get_coordinates(shape)
    return tuple(f"E {_coordinate(x)} · N {_coordinate(y)}" for x, y in (xy[0], xy[-1]))  # type: ignore[return-value]


def _coordinate(metres: float) -> str:
    return words.number(Decimal(f"{metres:.1f}"))


def confidence_parts(findings: Sequence[FieldFinding]) -> dict[str, bool]:
    """Which parts of the confidence the paper has to explain (``detection.confidence`` and the rules)."""
    lines = {f.kind for f in findings if not is_point(f)}
    boxes = {f.kind for f in findings if is_point(f)}
    return {
        "lines": bool(lines - {WIDER}),
        "more": MORE in lines,
        "missing": MISSING in lines,
        "wider": WIDER in lines,
        "boxes": bool(boxes - {LARGER}),
        "larger": LARGER in boxes,
    }
