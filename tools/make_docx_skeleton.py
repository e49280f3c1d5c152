"""Makes geobill/documents/templates/modelo_decreto.docx: letterhead, page and styles of the draft decree for Word.

Run it after a change here and commit the file; a test compares it with what this script makes:

    python tools/make_docx_skeleton.py
"""

import sys
from pathlib import Path

from docx import Document
from docx.document import Document as DocumentObject
from docx.enum.style import WD_STYLE_TYPE
from docx.enum.text import WD_ALIGN_PARAGRAPH, WD_TAB_ALIGNMENT
from docx.oxml import OxmlElement
from docx.oxml.ns import qn
from docx.shared import Mm, Pt, RGBColor
from docx.styles.style import ParagraphStyle
from docx.text.paragraph import Paragraph

from geobill.documents.docx import STYLES, same_bytes

TARGET = Path(__file__).parents[1] / "geobill" / "documents" / "templates" / "modelo_decreto.docx"
NAVY, WINE, MUTED = RGBColor(0x16, 0x32, 0x5C), RGBColor(0xA3, 0x12, 0x1A), RGBColor(0x4D, 0x55, 0x60)
FONT = "Times New Roman"
LEFT, RIGHT, CENTRE, JUSTIFIED = (
    WD_ALIGN_PARAGRAPH.LEFT,
    WD_ALIGN_PARAGRAPH.RIGHT,
    WD_ALIGN_PARAGRAPH.CENTER,
    WD_ALIGN_PARAGRAPH.JUSTIFY,
)


def skeleton() -> bytes:
    """Make the skeleton's bytes; the same ones each time."""
    document = Document()
    _page(document)
    _styles(document)
    _header_and_footer(document)
    document.add_paragraph("{{p corpo }}")
    core = document.core_properties
    core.title, core.author, core.language = "{{ titulo }}", "{{ orgao }}", "pt-BR"
    core.comments = core.keywords = ""
    return same_bytes(document)


def _page(document: DocumentObject) -> None:
    section = document.sections[0]
    section.page_width, section.page_height = Mm(210), Mm(297)
    section.left_margin = section.right_margin = Mm(18)
    section.top_margin, section.bottom_margin = Mm(32), Mm(17)
    section.header_distance, section.footer_distance = Mm(9), Mm(8)


def _styles(document: DocumentObject) -> None:
    normal = document.styles["Normal"]
    _font(normal, 11)
    normal.paragraph_format.space_after = Pt(6)
    normal.paragraph_format.alignment = JUSTIFIED
    language = OxmlElement("w:lang")
    language.set(qn("w:val"), "pt-BR")
    normal.element.get_or_add_rPr().append(language)
    looks = {
        "Normal": (11, JUSTIFIED, 0, 6, 0, None, None),
        "Title": (12.5, CENTRE, 10, 12, 0, NAVY, True),
        "Heading 1": (12.5, LEFT, 14, 6, 0, NAVY, True),
        "Heading 2": (11.5, LEFT, 10, 4, 0, NAVY, True),
        "Heading 3": (11, LEFT, 9, 4, 0, NAVY, True),
        "Artigo": (11, JUSTIFIED, 8, 5, 0, None, None),
        "Paragrafo": (11, JUSTIFIED, 4, 4, 6, None, None),
        "Inciso": (11, JUSTIFIED, 3, 3, 12, None, None),
        "Ementa": (11, JUSTIFIED, 6, 14, 75, None, None),
        "Centralizado": (11, CENTRE, 8, 8, 0, None, None),
        "Assinatura": (11, CENTRE, 0, 0, 0, None, None),
        "Nota": (9, LEFT, 3, 5, 0, MUTED, None),
        "Destaque": (11, JUSTIFIED, 6, 8, 4, None, None),
        "Legenda": (8, CENTRE, 3, 4, 0, MUTED, None),
        "Celula": (8, LEFT, 1, 1, 0, None, None),
        "Cabecalho da tabela": (7.5, LEFT, 1, 1, 0, NAVY, True),
        "List Bullet": (11, JUSTIFIED, 2, 2, 6, None, None),
    }
    assert set(looks) == set(STYLES.values())
    for name, (size, side, before, after, indent_mm, colour, bold) in looks.items():
        exists = name in [style.name for style in document.styles]
        style = document.styles[name] if exists else document.styles.add_style(name, WD_STYLE_TYPE.PARAGRAPH)
        assert isinstance(style, ParagraphStyle)
        if not exists:
            style.base_style = normal
            style.quick_style = True
        _font(style, size)
        style.font.bold = bold
        style.font.color.rgb = colour or RGBColor(0, 0, 0)
        form = style.paragraph_format
        form.alignment, form.space_before, form.space_after = side, Pt(before), Pt(after)
        form.left_indent = Mm(indent_mm) if name != "List Bullet" else form.left_indent
        form.keep_with_next = name in {"Title", "Heading 1", "Heading 2", "Heading 3", "Assinatura"}
        form.widow_control = True
    title = document.styles["Title"].element.get_or_add_pPr()
    for border in title.findall(qn("w:pBdr")):
        title.remove(border)


def _font(style: ParagraphStyle, size: float) -> None:
    style.font.name, style.font.size = FONT, Pt(size)
    fonts = style.element.get_or_add_rPr().get_or_add_rFonts()
    for name in list(fonts.attrib):
        del fonts.attrib[name]
    for name in ("ascii", "hAnsi", "cs", "eastAsia"):
        fonts.set(qn(f"w:{name}"), FONT)


def _header_and_footer(document: DocumentObject) -> None:
    section = document.sections[0]
    header = section.header
    head = header.paragraphs[0]
    _line(head, "{{ orgao }}", 14, NAVY, bold=True)
    _line(header.add_paragraph(), "{{ secretaria }}", 10, None)
    _line(header.add_paragraph(), "{{ endereco }}", 8.5, MUTED)
    last = header.add_paragraph()
    _line(last, "MINUTA · Decreto de Permissão de Uso", 9, WINE, bold=True)
    _border(last, "bottom")
    footer = section.footer
    foot = footer.paragraphs[0]
    _border(foot, "top")
    _line(foot, "SHA-256 do registro: {{ resumo }}", 6.5, MUTED)
    foot.paragraph_format.tab_stops.add_tab_stop(Mm(174), WD_TAB_ALIGNMENT.RIGHT)
    _line(foot, "\tPágina ", 8, MUTED)
    _field(foot, "PAGE")
    _line(foot, " de ", 8, MUTED)
    _field(foot, "NUMPAGES")


def _line(paragraph: Paragraph, text: str, size: float, colour: RGBColor | None, bold: bool = False) -> None:
    run = paragraph.add_run(text)
    run.font.size, run.font.bold = Pt(size), bold
    if colour is not None:
        run.font.color.rgb = colour
    paragraph.alignment = LEFT
    paragraph.paragraph_format.space_after = Pt(0)


def _field(paragraph: Paragraph, name: str) -> None:
    field = OxmlElement("w:fldSimple")
    field.set(qn("w:instr"), name)
    run = paragraph.add_run("1")
    run.font.size, run.font.color.rgb = Pt(8), MUTED
    field.append(run._r)
    paragraph._p.append(field)


def _border(paragraph: Paragraph, side: str) -> None:
    borders, edge = OxmlElement("w:pBdr"), OxmlElement(f"w:{side}")
    for name, value in (("val", "single"), ("sz", "6"), ("space", "4"), ("color", "16325C")):
        edge.set(qn(f"w:{name}"), value)
    borders.append(edge)
    paragraph._p.get_or_add_pPr().append(borders)


if __name__ == "__main__":
    TARGET.write_bytes(skeleton())
    sys.stdout.write(f"{TARGET}\n")
