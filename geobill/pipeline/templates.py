"""The workspace's own templates: listed, copied from the package to be edited, tried out on sample records."""

import difflib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from geobill.documents.apostila import APOSTILA_FORMS, apostila_job
from geobill.documents.case_papers import CASE_FORMS
from geobill.documents.case_sample import SHOWN, sample_case_job
from geobill.documents.constatacao import CONSTATACAO_FORMS, FINDINGS_PAPER
from geobill.documents.docx_check import DocxCheck, check_docx
from geobill.documents.figures import NamedFigure
from geobill.documents.finding_sample import ON_FINDINGS, sample_constatacao_job, sample_job_on_findings
from geobill.documents.forms import Job, make
from geobill.documents.html import figures_in, read_page, text_lines
from geobill.documents.note import NOTE_FORMS, note_job
from geobill.documents.overrides.folder import (
    FOLDER,
    PACKAGE,
    SKELETON,
    WHAT,
    Templates,
    ignored_files,
    package_names,
    read_templates,
)
from geobill.documents.render import DECREE_FORMS, INVOICE_FORMS, decree_job, invoice_job
from geobill.documents.sample import (
    sample_change,
    sample_draft,
    sample_figures,
    sample_invoice,
    sample_map,
    sample_note,
)
from geobill.documents.templating import referenced
from geobill.documents.typesetting import TEMPLATES
from geobill.errors import InputError, StoreError, TemplateError
from geobill.store.settings import replace_file

DRAWINGS = frozenset({"mapa.svg.j2", "evidencia.svg.j2", "perfil.svg.j2"})


def _sample_of_case(paper: str) -> Callable[[Templates], Job]:
    return lambda _: sample_case_job(paper)


def _sample_on_findings(paper: str) -> Callable[[Templates], Job]:
    return lambda _: sample_job_on_findings(paper)


# Sample documents by the file name that they get, with their forms.
SAMPLES: dict[str, tuple[Callable[[Templates], Job], tuple[str, ...]]] = {
    "fatura": (lambda own: invoice_job(sample_invoice(), sample_map(own), sample_figures()), INVOICE_FORMS),
    "apostila": (lambda _: apostila_job(sample_change(), sample_figures()), APOSTILA_FORMS),
    "minuta": (lambda own: decree_job(sample_draft(), sample_map(own), sample_figures()), DECREE_FORMS),
    "nota": (lambda _: note_job(sample_note(), sample_figures()), NOTE_FORMS),
    FINDINGS_PAPER: (sample_constatacao_job, CONSTATACAO_FORMS),
    **{paper: (_sample_of_case(paper), CASE_FORMS) for paper in SHOWN},
    **{f"{paper}_achados": (_sample_on_findings(paper), CASE_FORMS) for paper in ON_FINDINGS},
}


@dataclass(frozen=True)
class ListedTemplate:
    """A template by name: what it makes, and whether it is the workspace's own."""

    name: str
    what: str
    own: bool
    sha256: str | None


@dataclass(frozen=True)
class TriedDocument:
    """A sample document made with the workspace's templates beside the package's.

    ``refusal`` is None where it was made; ``diff`` is the unified difference of the two texts; ``missing`` are figures of
    the record that the package prints and that don't appear any more.
    """

    name: str
    refusal: str | None
    diff: tuple[str, ...] = ()
    missing: tuple[NamedFigure, ...] = ()
    files: tuple[Path, ...] = ()


@dataclass(frozen=True)
class TemplatesCheck:
    """What the check found: per template of the workspace ok or refused, per document what changed."""

    templates: Mapping[str, str | None]
    documents: tuple[TriedDocument, ...]
    ignored: tuple[str, ...] = field(default=())

    @property
    def refused(self) -> bool:
        """Whether any template or document was refused."""
        return any(self.templates.values()) or any(d.refusal for d in self.documents)


def list_templates(root: Path) -> tuple[list[ListedTemplate], tuple[str, ...]]:
    """List templates of the package and the workspace's own parts, and files in the folder that are none."""
    templates = read_templates(root)
    digests = templates.digests
    names = sorted({*package_names(), *templates.files})
    rows = [
        ListedTemplate(n, WHAT.get(n, "a part of the workspace's own"), n in digests, digests.get(n)) for n in names
    ]
    return rows, ignored_files(templates)


def copy_template(root: Path, name: str) -> Path:
    """Put the package's template into the workspace to be edited; one that is there is never overwritten.

    Raises
    ------
    InputError
        If there is no such template, or the workspace has one of that name.
    """
    if name not in package_names():
        raise InputError(f"There is no template {name!r} to copy. The package has {', '.join(package_names())}.")
    target = root / FOLDER / name
    if target.exists() or target.is_symlink():
        raise InputError(
            f"{target} is there already and may hold somebody's work: nothing was changed. Edit it, or move it away first."
        )
    try:
        target.parent.mkdir(exist_ok=True)
    except OSError as fault:
        raise StoreError(f"The folder {target.parent} can't be made: {fault.strerror}.") from None
    replace_file(target, (TEMPLATES / name).read_bytes())
    return target


def check_templates(root: Path, name: str | None = None, out: Path | None = None) -> TemplatesCheck:
    """Render every sample document with the workspace's templates and compare it with the package's.

    Each own template is also tried alone, over the package's others, so that a fault is laid at its own door.

    Parameters
    ----------
    root : Path
        The workspace's folder.
    name : str, optional
        Only this template, over the package's others.
    out : Path, optional
        Folder for the documents of both, ``modelos-proprios`` and ``pacote``.

    Raises
    ------
    InputError
        If the named template isn't in the workspace.
    """
    templates = read_templates(root)
    ignored = ignored_files(templates)
    if name is not None:
        if name not in templates.files:
            raise InputError(
                f"{root / FOLDER / name} isn't there, so there is nothing to check. geobill templates copy {name} puts the "
                "package's there to be edited."
            )
        templates = templates.only({name, *(n for n in templates.files if n not in package_names())})
    documents = tuple(_try(document, templates, out) for document in SAMPLES)
    named = [own for own in sorted(templates.files) if own in package_names()]
    if len(named) == 1:  # tried alone already
        alone = {named[0]: next((d.refusal for d in documents if d.refusal), None)}
    else:
        parts = {own for own in templates.files if own not in named}
        alone = {own: _refusal_of(templates.only({own, *parts})) for own in named}
    return TemplatesCheck(alone, documents, ignored)


def check_edited(file: Path, against: Path | None) -> DocxCheck:
    """Read an edited draft back; see :func:`geobill.documents.docx_check.check_docx`.

    Without ``against``, the HTML of the same name beside the file is compared with where there is one.
    """
    beside = file.with_suffix(".html")
    html = against or (beside if beside.is_file() else None)
    return check_docx(_read(file), file.name, _read(html) if html is not None else None)


def _refusal_of(templates: Templates) -> str | None:
    for job, forms in SAMPLES.values():
        try:
            if _is_touched(job(PACKAGE), templates):
                make(job(templates), forms, templates)
        except TemplateError as refusal:
            return str(refusal)
    return None


def _is_touched(job: Job, templates: Templates) -> bool:
    """Whether a document could come out otherwise with the workspace's templates; what isn't certain counts as touched."""
    if (DRAWINGS | {SKELETON}) & set(templates.files):  # drawn before the text, or filled after it
        return True
    seen: set[str] = set()
    todo: list[str | None] = [job.template]
    while todo:
        name = todo.pop()
        if name is None or name in templates.files:
            return True
        if name not in seen:
            seen.add(name)
            todo += referenced(templates.source(name) or "")
    return False


def _try(name: str, templates: Templates, out: Path | None) -> TriedDocument:
    job, forms = SAMPLES[name]
    touched = _is_touched(job(PACKAGE), templates)
    if out is None and not touched:
        return TriedDocument(name, None)
    package = make(job(PACKAGE), forms)
    try:
        own = make(job(templates), forms, templates) if touched else package
    except TemplateError as refusal:
        return TriedDocument(name, str(refusal))
    before, after = text_lines(package["html"]), text_lines(own["html"])
    diff = difflib.unified_diff(before, after, "pacote", "modelos próprios", lineterm="", n=1)
    files = () if out is None else _write(out, name, {"pacote": package, "modelos-proprios": own})
    return TriedDocument(name, None, tuple(diff), _missing(package["html"], own["html"]), files)


def _missing(before: bytes, after: bytes) -> tuple[NamedFigure, ...]:
    """Figures that the package's document prints and that the other's text doesn't hold, each once."""
    text = _squeezed(" ".join(text_lines(after)))
    gone: dict[str, NamedFigure] = {}
    for figure in figures_in(read_page(before)):
        shown = _squeezed(figure.text)
        if not re.search(rf"(?<![\d.,]){re.escape(shown)}(?!\d|[.,]\d)", text):
            gone.setdefault(shown, figure)
    return tuple(gone.values())


def _squeezed(text: str) -> str:
    return " ".join(text.replace("\u00a0", " ").split())


def _write(out: Path, name: str, made: Mapping[str, Mapping[str, bytes]]) -> tuple[Path, ...]:
    written = []
    for folder, forms in made.items():
        try:
            (out / folder).mkdir(parents=True, exist_ok=True)
        except OSError as fault:
            raise StoreError(
                f"The folder {out / folder} can't be made: {fault.strerror}. Name another with --out."
            ) from None
        for form, content in forms.items():
            replace_file(out / folder / f"{name}.{form}", content)
            written.append(out / folder / f"{name}.{form}")
    return tuple(written)


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as fault:
        raise InputError(f"{path} can't be read: {fault.strerror}. Name the file that was edited.") from None
