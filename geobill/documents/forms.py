"""One filled record in the forms that are asked for: PDF, HTML and DOCX of the same wording."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from geobill.documents.html import page
from geobill.documents.overrides.folder import PACKAGE, Templates
from geobill.documents.templating import environment, fill_in, make_environment
from geobill.documents.typesetting import refuse_code_from_outside, typeset, typeset_html, typeset_picture

PICTURE_PPI = 200.0
PICTURE = """{% extends "_base.typ.j2" %}
{% block body %}
#set page(width: auto, height: auto, margin: 0mm, header: none, footer: none, background: none)
#map-figure(none)
{% endblock %}
"""


@dataclass(frozen=True)
class Job:
    """A document to be made: its template, what fills it, what Typst code reads, its day, its record's SHA-256."""

    template: str
    values: Mapping[str, Any]
    inputs: Mapping[str, str]
    dated: date
    digest: str
    skeleton: Mapping[str, str] | None = None


def make(job: Job, forms: Sequence[str], templates: Templates = PACKAGE) -> dict[str, bytes]:
    """Make a document in the forms asked for (``pdf``, ``html``, ``docx``).

    Where the workspace has templates of its own, all of it runs in a process apart, with limits
    (:mod:`geobill.documents.overrides.process`); otherwise here.

    Raises
    ------
    TemplateError
        If the template can't be filled or typeset, does what it may not, or takes too long.
    """
    if templates.files:
        from geobill.documents.overrides.process import make_apart

        return make_apart(job, forms, templates)
    return make_here(job, forms, templates)


def make_here(job: Job, forms: Sequence[str], templates: Templates) -> dict[str, bytes]:
    """Make a document in this process; see :func:`make`."""
    made: dict[str, bytes] = {}
    inputs = dict(job.inputs)
    if templates.files:
        refuse_code_from_outside(_fill("code", job, templates), job.template)
    if "pdf" in forms:
        made["pdf"] = typeset(_fill("typst", job, templates), inputs, job.dated, job.template)
    if {"html", "docx"} & set(forms):
        raw = typeset_html(_fill("html", job, templates), inputs, job.dated, job.template)
        html = page(raw, job.digest, job.template)
        if "html" in forms:
            made["html"] = html
        if "docx" in forms and job.skeleton is not None:
            from geobill.documents.docx import Picture, render_docx

            picture = Picture(_picture(job), PICTURE_PPI, job.inputs["map_alt"])
            made["docx"] = render_docx(html, templates.skeleton, job.skeleton, picture, job.dated)
    return made


def draw(template: str, values: Mapping[str, Any], templates: Templates = PACKAGE) -> str:
    """Fill a drawing (SVG); apart and with limits where the workspace has that template."""
    return draw_all(template, [values], templates)[0]


def draw_all(template: str, values: Sequence[Mapping[str, Any]], templates: Templates = PACKAGE) -> list[str]:
    """Fill one drawing (SVG) several times, all of them in one process where the workspace has that template."""
    if template in templates.files:
        from geobill.documents.overrides.process import draw_apart

        return draw_apart(template, values, templates)
    return [fill_in(environment("svg"), template, one) for one in values]


def draw_here(template: str, values: Sequence[Mapping[str, Any]], templates: Templates) -> list[str]:
    """Fill drawings in this process; see :func:`draw_all`."""
    made = make_environment("svg", templates.source)
    return [fill_in(made, template, one) for one in values]


def _fill(language: str, job: Job, templates: Templates) -> str:
    made = make_environment(language, templates.source) if templates.files else environment(language)
    return fill_in(made, job.template, job.values)


def _picture(job: Job) -> bytes:
    """Map and legend as a PNG for Word, always in the package's look."""
    name = "mapa.typ.j2"
    made = make_environment("typst", lambda wanted: PICTURE if wanted == name else PACKAGE.source(wanted))
    return typeset_picture(fill_in(made, name, job.values), dict(job.inputs), job.dated, name, PICTURE_PPI)
