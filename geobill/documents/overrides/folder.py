"""The workspace's ``templates`` folder: which templates it holds, read once, so that a run uses one state of them."""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from geobill.documents.templating import package_source
from geobill.documents.typesetting import TEMPLATES
from geobill.errors import TemplateError

FOLDER = "templates"
SKELETON = "modelo_decreto.docx"
PACKAGE_PREFIX = "geobill/"
# What each template of the package makes, for people who look for the one to change.
WHAT: dict[str, str] = {
    "_achados.typ.j2": "the findings that a case's papers name",
    "_base.typ.j2": "what all documents share: letterhead, page, colours, macros",
    "_calculo.typ.j2": "how an amount is worked out, in invoice and draft decree",
    "_linhas.typ.j2": "the table of lines, in invoice and draft decree",
    "_memoria.typ.j2": "policy, decisions and digests, in invoice and draft decree",
    "_caso.typ.j2": "what the papers of a case share: head, matter, steps, signatures",
    "apostila.typ.j2": "the note to a decree whose price has changed (PDF)",
    "caso_advertencia.typ.j2": "a case's warning, art. 9 (PDF, HTML)",
    "caso_cessacao.typ.j2": "the end of a case's matter: removed, regularised, cured, register delivered (PDF, HTML)",
    "caso_constatacao.typ.j2": "what was seen in the field: findings, map, offsets, arts. 4, 10 (PDF, HTML)",
    "caso_decisao.typ.j2": "a case's decisions: double price, forfeiture, dismissal, defence, appeal (PDF, HTML)",
    "caso_desconformidade.typ.j2": "the notice of a nonconformity, art. 4 (PDF, HTML)",
    "caso_multa.typ.j2": "the decision on a daily fine, art. 9 (PDF, HTML)",
    "caso_notificacao.typ.j2": "a case's notice with its term, arts. 9, 10, 12 (PDF, HTML)",
    "caso_suspensao.typ.j2": "the suspension of new projects and its end, art. 9 (PDF, HTML)",
    "evidencia.svg.j2": "the evidence map of findings",
    "explicacao.typ.j2": "why an amount is what it is, one page for the file (PDF)",
    "fatura.typ.j2": "the monthly invoice (PDF, HTML)",
    "mapa.svg.j2": "the map of a network",
    "minuta_decreto.typ.j2": "the draft of the permit decree (PDF, HTML, text of the DOCX)",
    "nota.typ.j2": "notes: credit, difference, past months, fine, single payment (PDF, HTML)",
    "perfil.svg.j2": "the chart of a finding's offsets",
    SKELETON: "letterhead, page and styles of the draft decree for Word",
}
MOST_BYTES = 5_000_000
LIMIT_S, LIMIT_MB = 30.0, 1024
TEMPLATE_NAME = re.compile(r"[\w-]+\.(?:typ|svg)\.j2")


@dataclass(frozen=True)
class Templates:
    """Templates in use: those of a workspace by name, over those of the package.

    ``limit_s`` and ``limit_mb`` bound the process in which a workspace's templates run.
    """

    files: Mapping[str, bytes] = field(default_factory=dict)
    folder: Path | None = None
    limit_s: float = LIMIT_S
    limit_mb: int = LIMIT_MB

    def source(self, name: str) -> str | None:
        """Text of a template; ``geobill/NAME`` is always the package's. None where there is none."""
        own = name.removeprefix(PACKAGE_PREFIX)
        if own == name and name in self.files:
            return self.files[name].decode("utf-8")
        return package_source(own)

    @property
    def skeleton(self) -> bytes:
        """Skeleton of the draft decree for Word."""
        return self.files.get(SKELETON) or package_skeleton()

    @property
    def digests(self) -> dict[str, str]:
        """SHA-256 of each template of the workspace, by name."""
        return {name: hashlib.sha256(content).hexdigest() for name, content in sorted(self.files.items())}

    @property
    def as_text(self) -> dict[str, str]:
        """What an invoice keeps of a workspace's templates: their text, of a skeleton its SHA-256; empty without any."""
        return {
            name: f"sha256:{self.digests[name]}" if name == SKELETON else content.decode("utf-8")
            for name, content in sorted(self.files.items())
        }

    def only(self, names: set[str]) -> "Templates":
        """Return these templates with no other of the workspace's than the named ones."""
        return Templates(
            {name: content for name, content in self.files.items() if name in names},
            self.folder,
            self.limit_s,
            self.limit_mb,
        )


PACKAGE = Templates()


@cache
def package_skeleton() -> bytes:
    """Skeleton of the draft decree for Word as the package has it."""
    return (TEMPLATES / SKELETON).read_bytes()


def package_names() -> tuple[str, ...]:
    """Names of the package's templates."""
    return tuple(sorted(p.name for p in TEMPLATES.iterdir() if TEMPLATE_NAME.fullmatch(p.name) or p.name == SKELETON))


def read_templates(root: Path | None) -> Templates:
    """Read the templates of a workspace: those of the package's names, and its own parts, which begin with ``_``.

    Raises
    ------
    TemplateError
        If a template can't be read, is too long, isn't UTF-8, or leads out of the folder by a link.
    """
    folder = root / FOLDER if root is not None else None
    if folder is None or not folder.is_dir():
        return PACKAGE
    known = set(package_names())
    files = {}
    for path in sorted(folder.iterdir()):
        if path.name not in known and not (path.name.startswith("_") and TEMPLATE_NAME.fullmatch(path.name)):
            continue
        if path.is_symlink() or not path.is_file():
            raise _refused(
                path, "is a link or not a file: a template is a file in that folder", "Copy the file itself there"
            )
        try:
            content = path.read_bytes()
        except OSError as fault:
            raise _refused(path, f"can't be read: {fault.strerror}", "Give yourself the right to read it") from None
        if len(content) > MOST_BYTES:
            raise _refused(path, f"has {len(content):,} bytes, more than {MOST_BYTES:,}", "Make it smaller")
        if path.name != SKELETON:
            try:
                content.decode("utf-8")
            except UnicodeDecodeError as fault:
                raise _refused(path, f"isn't UTF-8 (byte {fault.start})", "Save it again as UTF-8") from None
        files[path.name] = content
    return Templates(files, folder)


def ignored_files(templates: Templates) -> tuple[str, ...]:
    """Files in the workspace's folder that are no template: neither of the package's names nor a part ``_NAME``."""
    if templates.folder is None:
        return ()
    return tuple(sorted(p.name for p in templates.folder.iterdir() if p.name not in templates.files))


def _refused(path: Path, what: str, do: str) -> TemplateError:
    return TemplateError(f"Template {path} {what}. No document was made. {do}, or take it away to use the package's.")
