"""The *auto de constatação*: what was seen in the field, how it was compared, where it is, and by which article it matters."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any

from geobill.documents import words
from geobill.documents.case_papers import INSPECTION, KINDS, LEGAL_OFFICE, SECRETARY, listed_ids
from geobill.documents.constatacao_facts import (
    Shown,
    check_sums,
    confidence_parts,
    ends_of,
    finding_told,
    reach_of,
    survey_told,
)
from geobill.documents.evidence_map import ALONE_MM, SMALL_MM, WIDE_MM, Ground, Mark, Sheet, evidence_sheet
from geobill.documents.finding_words import KIND_SENTENCES, KIND_WORDS
from geobill.documents.forms import Job, draw_all, make
from geobill.documents.grounds import is_point
from geobill.documents.offset_profile import SMALL_MM as SMALL_CHART_MM
from geobill.documents.offset_profile import WIDE_MM as WIDE_CHART_MM
from geobill.documents.offset_profile import Chart, offset_chart
from geobill.documents.overrides.folder import PACKAGE, Templates
from geobill.documents.photos import small_jpeg
from geobill.documents.typesetting import printable
from geobill.domain.case import Case
from geobill.domain.detection import (
    CLANDESTINE_KINDS,
    MOVED,
    PHOTOGRAPHED,
    Survey,
)
from geobill.domain.network import Authority, Operator
from geobill.domain.record import canonical_json, sha256
from geobill.errors import TemplateError

FINDINGS_PAPER, TITLE = "caso_constatacao", "Auto de constatação"
CONSTATACAO_FORMS: tuple[str, ...] = ("pdf", "html")
MAP, PROFILE = "evidencia.svg.j2", "perfil.svg.j2"
MOST_IN_FULL = 40  # beyond them a finding stands in the table of the annex, with its coordinates
MOST_PHOTOS = 12


@dataclass(frozen=True)
class Signed:
    """Who signs the paper, on which day, under which number of the city hall's (blank where it has none)."""

    on: date
    by: str
    reference: str = ""


def render_constatacao(
    case: Case,
    signed: Signed,
    operator: Operator,
    authority: Authority,
    surveys: Sequence[Survey],
    shown: Sequence[Shown],
    around: Ground,
    law: str,
    photos: Mapping[str, bytes] | None = None,
    templates: Templates = PACKAGE,
) -> dict[str, bytes]:
    """Render the paper as PDF and HTML, the same words in both; see :func:`constatacao_job`."""
    job = constatacao_job(case, signed, operator, authority, surveys, shown, around, law, photos, templates)
    return make(job, CONSTATACAO_FORMS, templates)


def constatacao_job(
    case: Case,
    signed: Signed,
    operator: Operator,
    authority: Authority,
    surveys: Sequence[Survey],
    shown: Sequence[Shown],
    around: Ground,
    law: str,
    photos: Mapping[str, bytes] | None = None,
    templates: Templates = PACKAGE,
) -> Job:
    """Gather what the paper of a case that stands on findings prints; its ``digest`` is the record's.

    Parameters
    ----------
    case : Case
    signed : Signed
    operator : Operator
    authority : Authority
    surveys : sequence of Survey
        Those in which the findings were found.
    shown : sequence of Shown
        The case's findings, in the order in which they get their numbers.
    around : Ground
        What the evidence map draws below them.
    law : str
        The statute's title, as in ``case_papers.Figures.statute_title``.
    photos : mapping of str to bytes, optional
        Contents by SHA-256 of the photos that findings' acts name; one that isn't there is listed and not printed.
    templates : Templates
        Whose drawings are used.

    Raises
    ------
    BooksDontCloseError
        If a survey's metres don't add up: surveyed = matched + undeclared.
    TemplateError
        If there is no finding, or one whose survey or place isn't there.
    """
    by_id = {s.id: s for s in surveys}
    for survey in surveys:
        check_sums(survey)
    if not shown or any(one.file.finding.survey not in by_id for one in shown):
        raise TemplateError(
            f"The case {case.id} has no finding, or one whose survey isn't there: the paper would say less than what was seen. "
            "Nothing was made."
        )
    full = min(len(shown), MOST_IN_FULL)
    pictures = _pictures(shown, full, by_id, around, templates)
    digest = sha256(canonical_json({
        "case": case, "findings": [one.file.finding for one in shown], "surveys": list(surveys), "on": signed.on, "by": signed.by,
        "reference": signed.reference, "places": [ends_of(one.shape) for one in shown],
    }))  # fmt: skip
    listed, small = _photos(shown, photos or {})
    named = {one.file.finding.id for one in shown}
    kinds = [one.file.finding.kind for one in shown]
    values = {
        "case": case,
        "kind": KINDS[case.kind],
        "act": signed,
        "title": TITLE,
        "operator": operator,
        "authority": authority,
        "secretariat": authority.secretariat or INSPECTION,
        "secretary": SECRETARY,
        "legal_office": authority.legal_office or LEGAL_OFFICE,
        "law": law,
        "segments": listed_ids([i for i in case.segments if i not in named]),
        "equipment": listed_ids([i for i in case.equipment if i not in named]),
        "finding_ids": "",
        "history": [],
        "signer": authority.secretariat or INSPECTION,
        "findings": [finding_told(n, one, by_id, n <= full) for n, one in enumerate(shown, 1)],
        "full": full,
        "total_m": sum((one.file.finding.length_m for one in shown), Decimal("0.00")),
        "counts": [(KIND_WORDS[k], n, KIND_SENTENCES[k]) for k, n in Counter(kinds).items()],
        "clandestine": any(k in CLANDESTINE_KINDS for k in kinds),
        "otherwise": any(k not in CLANDESTINE_KINDS for k in kinds),
        "surveys": [survey_told(s) for s in surveys],
        "sure": confidence_parts([one.file.finding for one in shown]),
        "moved": MOVED in kinds,
        "pictures": pictures.places,
        "scale_text": pictures.scale_text,
        "legend_text": pictures.legend_text,
        "photos": listed,
        "digest": digest,
    }
    inputs = {
        "title": printable(f"{TITLE} – processo {case.id} – {operator.name}"),
        "author": printable(authority.name),
        "pictures": json.dumps(pictures.made),
        "photos": json.dumps(small),
    }
    return Job(f"{FINDINGS_PAPER}.typ.j2", values, inputs, signed.on, digest)


# -- pictures


@dataclass(frozen=True)
class _Pictures:
    """Drawings with their widths and alternative texts, and which of them belongs where: the map, then map and chart by finding."""

    made: list[dict[str, str]]
    places: dict[str, dict[str, str]]  # text: a number would be printed as a figure of the record
    scale_text: str
    legend_text: str


def _pictures(
    shown: Sequence[Shown], full: int, surveys: Mapping[str, Survey], around: Ground, templates: Templates
) -> _Pictures:
    alone = len(shown) == 1
    marks = [Mark(n, one.file.finding.kind, one.shape) for n, one in enumerate(shown, 1)]
    main = evidence_sheet(marks, around, ALONE_MM if alone else WIDE_MM)
    sheets: list[Sheet] = [main]
    charts: list[Chart] = []
    on_map: dict[str, str] = {}
    on_chart: dict[str, int] = {}
    for mark, one in zip(marks[:full], shown[:full], strict=True):
        if not alone:
            on_map[str(mark.number)] = str(len(sheets))
            sheets.append(evidence_sheet([mark], around, SMALL_MM, legend=False, key=False))
        if one.profile is not None and len(one.profile.places) > 1 and not is_point(one.file.finding):
            on_chart[str(mark.number)] = len(charts)
            reach = reach_of(surveys[one.file.finding.survey].terms)
            charts.append(offset_chart(one.profile, reach, mark.number, WIDE_CHART_MM if alone else SMALL_CHART_MM))
    places = {"map": on_map, "chart": {n: str(len(sheets) + i) for n, i in on_chart.items()}}
    svgs = draw_all(MAP, [s.values for s in sheets], templates)
    svgs += draw_all(PROFILE, [c.values for c in charts], templates) if charts else []
    made = [
        {"svg": svg, "alt": printable(one.alt), "width": f"{one.width_mm:g}"}
        for svg, one in zip(svgs, [*sheets, *charts], strict=True)
    ]
    return _Pictures(made, places, main.scale_text, main.legend_text)


def _photos(shown: Sequence[Shown], contents: Mapping[str, bytes]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Photos as the table lists them, and those that are printed, small."""
    listed: list[dict[str, Any]] = []
    small: list[dict[str, Any]] = []
    for n, one in enumerate(shown, 1):
        for act in one.file.acts:
            if act.kind != PHOTOGRAPHED:
                continue
            on = words.short_date(date.fromisoformat(act.at[:10])) if act.at else ""
            place = None
            jpeg = small_jpeg(contents[act.paper]) if act.paper in contents and len(small) < MOST_PHOTOS else None
            if jpeg is not None:
                place = len(small)
                alt = f"Foto {place + 1}, do achado {n}: {act.file_name}" + (f". {act.note}" if act.note else "")
                small.append(
                    {"bytes": list(jpeg), "alt": printable(alt), "said": printable(f"Foto {place + 1} – achado {n}")}
                )
            listed.append({"number": n, "name": act.file_name or "sem nome", "sha256": act.paper, "by": act.by, "on": on,
                           "note": act.note, "place": None if place is None else place + 1})  # fmt: skip
    return listed, small
