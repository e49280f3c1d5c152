"""The draft decree for Word: the page's text in a skeleton with letterhead and styles, figures in locked controls."""

import io
import json
import re
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime

import jinja2
from docx.document import Document
from docx.opc.constants import RELATIONSHIP_TYPE
from docx.opc.packuri import PackURI
from docx.opc.part import Part
from docxtpl import DocxTemplate
from jinja2 import DictLoader, StrictUndefined
from jinja2.sandbox import ImmutableSandboxedEnvironment
from lxml import etree
from markupsafe import Markup

from geobill.documents.html import read_page, record_of
from geobill.documents.wordml import STYLES, body_xml
from geobill.errors import TemplateError

SKELETON = "modelo_decreto.docx"
BODY_TAG = re.compile(r"\{\{p\s+corpo\s*\}\}")
MOST_OF_A_PROPERTY = 255
EARLIEST = (1980, 1, 1, 0, 0, 0)  # the first moment that a zip can hold
MOST_BYTES, MOST_PARTS = 30_000_000, 500
CUSTOM = "http://schemas.openxmlformats.org/officeDocument/2006/custom-properties"
VARIANTS = "http://schemas.openxmlformats.org/officeDocument/2006/docPropsVTypes"
CUSTOM_TYPE = "application/vnd.openxmlformats-officedocument.custom-properties+xml"
CUSTOM_RELATION = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/custom-properties"
RECORD, FIGURES = "geobill_registro", "geobill_valores_"
FORMAT_ID = "{D5CDD505-2E9C-101B-9397-08002B2CF9AE}"
# A hyperlink is text that a reader may follow; whatever else lies outside would be fetched on opening.
HARMLESS_OUTSIDE = RELATIONSHIP_TYPE.HYPERLINK
MACRO_PARTS = re.compile(r"vbaProject|activeX|embeddings/|oleObject|attachedToolbars", re.IGNORECASE)


@dataclass(frozen=True)
class Picture:
    """The map as a PNG, its resolution (it stands at its true size, or its scale would be wrong), what it shows in words."""

    png: bytes
    ppi: float
    alt: str


def render_docx(
    page: bytes, skeleton: bytes, context: Mapping[str, str], picture: Picture | None, dated: date
) -> bytes:
    """Fill the skeleton with the page's text.

    Parameters
    ----------
    page : bytes
        The document as HTML (:func:`geobill.documents.html.page`), whose words are the document's words.
    skeleton : bytes
        A DOCX with a paragraph ``{{p corpo }}`` and, where it likes, ``{{ titulo }}``, ``{{ orgao }}`` …
    context : mapping
        What those tags give.
    picture : Picture or None
        Map to stand where the page has it.
    dated : date
        The record's date, written into the properties in place of the time of day.

    Raises
    ------
    TemplateError
        If the skeleton isn't a plain DOCX, lacks the body's tag or a style, or its Jinja reaches for what it may not.
    """
    template = DocxTemplate(io.BytesIO(checked_skeleton(skeleton)))
    template.init_docx()
    document = template.docx
    _check_document(document)
    relation = None
    if picture is not None:
        relation, _ = document.part.get_or_add_image(io.BytesIO(picture.png))
    ids = {style.name: style.style_id for style in document.styles}
    body, figures = body_xml(read_page(page), ids, relation, picture)
    document.core_properties.title = document.core_properties.author = ""  # written below, as far as they hold it
    nothing = DictLoader({})  # there is no other template within its reach
    environment = ImmutableSandboxedEnvironment(loader=nothing, undefined=StrictUndefined, autoescape=True)
    try:
        template.render({**context, "corpo": Markup(body)}, environment)
    except (jinja2.TemplateError, etree.XMLSyntaxError, TypeError, ValueError, ArithmeticError, LookupError) as error:
        line = f", line {error.lineno}" if isinstance(error, jinja2.TemplateSyntaxError) else ""
        raise TemplateError(
            f"Template {SKELETON}{line} can't be filled: {str(error).rstrip('.') or type(error).__name__}. No document was made. "
            "Correct the tag in Word and render again; the tags that exist are {{p corpo }} and "
            f"{', '.join('{{ ' + name + ' }}' for name in sorted(context))}."
        ) from error
    core = document.core_properties
    title, author = _property(context["titulo"]), _property(context["orgao"])
    core.title, core.author, core.language = title, author, "pt-BR"
    core.last_modified_by, core.revision = author, 1
    core.created = core.modified = datetime(dated.year, dated.month, dated.day, tzinfo=UTC).replace(tzinfo=None)
    _keep_properties(
        document,
        {
            RECORD: record_of(page),
            **_chunks(
                json.dumps([[f.key, f.name, f.text] for f in figures], ensure_ascii=False, separators=(",", ":"))
            ),
        },
    )
    return same_bytes(document)


def checked_skeleton(content: bytes) -> bytes:
    """Return a skeleton that is a DOCX of reasonable size, without macros and without anything fetched from elsewhere."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            entries = archive.infolist()
            size = sum(entry.file_size for entry in entries)
            if size > MOST_BYTES or len(entries) > MOST_PARTS:
                raise _refused(
                    f"unpacks to {size:,} bytes in {len(entries)} parts, more than {MOST_BYTES:,} bytes in {MOST_PARTS}",
                    "Take large pictures out of it",
                )
            for entry in entries:
                if MACRO_PARTS.search(entry.filename):
                    raise _refused(f"holds {entry.filename!r}: macros or embedded objects", "Save it as a plain .docx")
                if entry.filename.endswith(".rels"):
                    _check_relations(archive.read(entry).decode("utf-8", "replace"), entry.filename)
                if entry.filename.endswith((".xml", ".rels")) and b"<!DOCTYPE" in archive.read(entry)[:2000]:
                    raise _refused(f"declares a document type in {entry.filename!r}", "Save it again in Word")
    except zipfile.BadZipFile:
        raise _refused("isn't a DOCX (not even a zip)", "Save it in Word as .docx") from None
    return content


def same_bytes(document: Document) -> bytes:
    """Save a document so that the same content gives the same bytes: no time of day in the archive."""
    raw, out = io.BytesIO(), io.BytesIO()
    document.save(raw)
    with zipfile.ZipFile(raw) as source, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as target:
        for entry in source.infolist():
            info = zipfile.ZipInfo(entry.filename, EARLIEST)
            info.compress_type, info.create_system = zipfile.ZIP_DEFLATED, 0
            target.writestr(info, source.read(entry))
    return out.getvalue()


def _check_relations(text: str, part: str) -> None:
    for relation in re.findall(r"<Relationship\b[^>]*>", text):
        if re.search(r"TargetMode\s*=\s*[\"']External", relation) and HARMLESS_OUTSIDE not in relation:
            target = re.search(r"Target\s*=\s*[\"']([^\"']*)", relation)
            raise _refused(
                f"takes {target[1] if target else 'something'!r} from outside ({part})",
                "Put the picture or the template into the file itself",
            )


def _check_document(document: Document) -> None:
    tags = [p for p in document.paragraphs if BODY_TAG.search(p.text)]
    if len(tags) != 1:
        raise _refused(
            f"has {len(tags)} paragraphs with the tag {{{{p corpo }}}}, where the text of the decree goes",
            "Put that tag alone into one paragraph",
        )
    missing = sorted(set(STYLES.values()) - {style.name for style in document.styles})
    if missing:
        raise _refused(
            f"lacks the paragraph styles {', '.join(missing)}", "Start from geobill templates copy " + SKELETON
        )


def _refused(what: str, do: str) -> TemplateError:
    return TemplateError(f"Template {SKELETON} {what}. No document was made. {do} and render again.")


def _chunks(text: str) -> dict[str, str]:
    """Text in properties of a size that Word and LibreOffice keep."""
    return {f"{FIGURES}{n:03d}": text[at : at + 8000] for n, at in enumerate(range(0, len(text), 8000), start=1)}


def _property(text: str) -> str:
    """Text of a file property, which holds no more than 255 characters; the document itself has the whole name."""
    return text if len(text) <= MOST_OF_A_PROPERTY else text[: MOST_OF_A_PROPERTY - 1] + "…"


def _keep_properties(document: Document, values: Mapping[str, str]) -> None:
    """Write custom properties; those of the skeleton's own stay out, since a copy would claim to be its record."""
    root = etree.Element(f"{{{CUSTOM}}}Properties", nsmap={None: CUSTOM, "vt": VARIANTS})
    for number, (name, value) in enumerate(values.items(), start=2):
        prop = etree.SubElement(root, f"{{{CUSTOM}}}property", fmtid=FORMAT_ID, pid=str(number), name=name)
        etree.SubElement(prop, f"{{{VARIANTS}}}lpwstr").text = value
    package = document.part.package
    for key, relation in list(package.rels.items()):
        if relation.reltype == CUSTOM_RELATION:
            del package.rels[key]
    blob = etree.tostring(root, xml_declaration=True, encoding="UTF-8", standalone=True)
    package.relate_to(Part(PackURI("/docProps/custom.xml"), CUSTOM_TYPE, blob, package), CUSTOM_RELATION)
