"""A document's HTML as WordprocessingML: paragraphs by style, tables, blanks, and a locked control around each figure."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import count
from typing import Protocol
from xml.sax.saxutils import escape, quoteattr

from lxml.html import HtmlElement

from geobill.documents.figures import NamedFigure

TEXT_WIDTH_MM = 174.0
LONGEST_ALIAS = 64
TWIPS_PER_MM = 1440 / 25.4
EMU_PER_INCH = 914400
BLANK_CHARACTER_MM = 2.2
SIGNATURE_MM = 80
# Styles of the skeleton by what they are here.
STYLES: dict[str, str] = {
    "p": "Normal",
    "title": "Title",
    "h1": "Title",
    "h2": "Heading 1",
    "h3": "Heading 2",
    "h4": "Heading 3",
    "art": "Artigo",
    "sub": "Paragrafo",
    "item": "Inciso",
    "summary": "Ementa",
    "align": "Centralizado",
    "signatures": "Assinatura",
    "small": "Nota",
    "note": "Destaque",
    "figcaption": "Legenda",
    "td": "Celula",
    "th": "Cabecalho da tabela",
    "li": "List Bullet",
}
CONTAINERS = {"div", "body", "ul", "ol", "figure", "section", "footer", "blockquote"}
LEFT_OUT = {"letterhead", "record", "legend"}  # the skeleton has its own letterhead and footer; the picture its legend
INLINE_BLOCKS = {"h1", "h2", "h3", "h4", "p", "table", "hr", "img", "figcaption", "li"} | CONTAINERS


class Pictured(Protocol):
    """What a picture has to tell."""

    alt: str
    png: bytes
    ppi: float


@dataclass(frozen=True)
class Run:
    """How a run of text looks."""

    bold: bool = False
    italic: bool = False
    small: bool = False
    mono: bool = False
    alarm: bool = False

    def properties(self, extra: str = "") -> str:
        """Run properties in the order that the schema wants."""
        parts = [
            '<w:rFonts w:ascii="Courier New" w:hAnsi="Courier New" w:cs="Courier New"/>' if self.mono else "",
            "<w:b/>" if self.bold else "",
            "<w:i/>" if self.italic else "",
            '<w:color w:val="A3121A"/>' if self.alarm else "",
            '<w:sz w:val="14"/>' if self.mono else '<w:sz w:val="17"/>' if self.small else "",
            extra,
        ]
        inside = "".join(parts)
        return f"<w:rPr>{inside}</w:rPr>" if inside else ""


class _Writer:
    """Walks a page once, collecting paragraphs; everything that is written is escaped here."""

    def __init__(self, styles: Mapping[str, str], relation: str | None, picture: Pictured | None) -> None:
        self.styles, self.relation, self.picture = styles, relation, picture
        self.out: list[str] = []
        self.ids = count(1)
        self.figures: list[NamedFigure] = []
        self.break_before = False

    def blocks(self, element: HtmlElement, style: str) -> None:
        """Write what an element holds: blocks by their kind, loose text between them as paragraphs."""
        loose: list[str] = []
        if element.text:
            loose.append(_text(element.text, Run()))
        for child in element:
            if child.tag in INLINE_BLOCKS:
                self._flush(loose, style)
                self._block(child, style)
            else:
                loose.extend(self._inline(child, _seen(child, Run())))
            if child.tail:
                loose.append(_text(child.tail, Run()))
        self._flush(loose, style)

    def _block(self, element: HtmlElement, style: str) -> None:
        kinds = set(element.classes)
        if kinds & LEFT_OUT:
            return
        if "page-break" in kinds:
            self.break_before = True
        elif "signatures" in kinds:
            self._signatures(element)
        elif element.tag == "table":
            self._table(element)
        elif element.tag == "img":
            self._image(element)
        elif element.tag == "hr":
            return
        elif element.tag in CONTAINERS:
            self.blocks(element, next((k for k in kinds if k in STYLES), style))
        else:
            self.paragraph(self._children(element, Run()), _paragraph_style(element, kinds, style))

    def paragraph(self, runs: list[str], style: str, extra: str = "") -> None:
        """Write a paragraph in a style."""
        start = "<w:pageBreakBefore/>" if self.break_before else ""
        self.break_before = False
        self.out.append(
            f"<w:p><w:pPr><w:pStyle w:val={quoteattr(self.styles[STYLES[style]])}/>{start}{extra}</w:pPr>{''.join(runs)}</w:p>"
        )

    def _flush(self, loose: list[str], style: str) -> None:
        if any("<w:t" in part and not part.endswith("> </w:t></w:r>") for part in loose):
            self.paragraph(_trimmed(loose), style)
        loose.clear()

    def _children(self, element: HtmlElement, run: Run) -> list[str]:
        runs = [_text(element.text, run)] if element.text else []
        for child in element:
            runs.extend(self._inline(child, _seen(child, run)))
            if child.tail:
                runs.append(_text(child.tail, run))
        return runs

    def _inline(self, element: HtmlElement, run: Run) -> list[str]:
        if element.tag == "br":
            return ["<w:r><w:br/></w:r>"]
        if element.tag == "hr":
            return []
        if "blank" in element.classes:
            width = round(int(element.get("data-mm", "20")) / BLANK_CHARACTER_MM)
            return [_text("_" * max(width, 3), replace(run, bold=False))]
        if element.get("data-figure"):
            return [self._control(element, run)]
        return self._children(element, run)

    def _control(self, element: HtmlElement, run: Run) -> str:
        """Write a figure: a locked control for Word, within a bookmark, since LibreOffice drops a control's tag."""
        number = next(self.ids)
        figure = NamedFigure(element.get("data-figure", ""), element.get("data-name", ""), element.text_content())
        self.figures.append(figure)
        name, alias, tag = (quoteattr(text) for text in (bookmark(number), figure.name[:LONGEST_ALIAS], figure.key))
        inside = "".join(self._children(element, run))
        return (
            f'<w:bookmarkStart w:id="{number}" w:name={name}/><w:sdt><w:sdtPr>{run.properties()}<w:alias w:val={alias}/>'
            f'<w:tag w:val={tag}/><w:id w:val="{number}"/><w:lock w:val="sdtContentLocked"/></w:sdtPr>'
            f'<w:sdtContent>{inside}</w:sdtContent></w:sdt><w:bookmarkEnd w:id="{number}"/>'
        )

    def _signatures(self, block: HtmlElement) -> None:
        """Write place and date, lines to sign on, and the two offices side by side; kept on one page."""
        for part in _parts(block):
            if part.tag == "hr":
                self.paragraph([_text("_" * round(SIGNATURE_MM / BLANK_CHARACTER_MM), Run())], "signatures", _above(48))
            elif "grid" in part.classes:
                cells = [cell for cell in part if "cell" in cell.classes]
                self._side_by_side(cells)
            else:
                self.paragraph(_trimmed(self._children(part, Run())), "signatures", _above(0))

    def _side_by_side(self, cells: list[HtmlElement]) -> None:
        width = round(TEXT_WIDTH_MM / max(len(cells), 1) * TWIPS_PER_MM)
        row = ""
        for cell in cells:
            inner = _Writer(self.styles, None, None)
            inner.ids, inner.figures = self.ids, self.figures
            inner.paragraph([_text("_" * 30, Run())], "signatures", _above(48))
            inner.paragraph(_trimmed(inner._children(cell, Run())), "signatures", _above(0))
            row += f'<w:tc><w:tcPr><w:tcW w:w="{width}" w:type="dxa"/></w:tcPr>{"".join(inner.out)}</w:tc>'
        grid = f'<w:gridCol w:w="{width}"/>' * len(cells)
        self.out.append(
            f'<w:tbl><w:tblPr><w:tblW w:w="{width * len(cells)}" w:type="dxa"/><w:tblLayout w:type="fixed"/></w:tblPr>'
            f"<w:tblGrid>{grid}</w:tblGrid><w:tr><w:trPr><w:cantSplit/></w:trPr>{row}</w:tr></w:tbl>"
        )
        self.paragraph([], "signatures", _above(12))

    def _table(self, table: HtmlElement) -> None:
        widths = _widths(table)
        rows = list(table.iter("tr"))
        last = len(rows) - 1
        body = "".join(
            self._row(row, widths, keep=place >= last - 3 and place != last) for place, row in enumerate(rows)
        )
        grid = "".join(f'<w:gridCol w:w="{width}"/>' for width in widths)
        edge = 'w:val="single" w:sz="4" w:space="0" w:color="C3CAD4"'
        self.out.append(
            f'<w:tbl><w:tblPr><w:tblW w:w="{sum(widths)}" w:type="dxa"/><w:tblBorders><w:top {edge}/><w:bottom {edge}/>'
            f'<w:insideH {edge}/></w:tblBorders><w:tblLayout w:type="fixed"/><w:tblCellMar><w:left w:w="40" w:type="dxa"/>'
            f'<w:right w:w="40" w:type="dxa"/></w:tblCellMar></w:tblPr><w:tblGrid>{grid}</w:tblGrid>{body}</w:tbl>'
        )
        self.paragraph([], "td", "")

    def _row(self, row: HtmlElement, widths: list[int], keep: bool) -> str:
        head = row.getparent().tag == "thead"
        summed = "sum" in row.classes
        cells, at = "", 0
        for cell in row:
            span = int(cell.get("colspan", "1"))
            width = sum(widths[at : at + span])
            at += span
            shade = '<w:shd w:val="clear" w:color="auto" w:fill="EDF1F6"/>' if summed else ""
            spanned = f'<w:gridSpan w:val="{span}"/>' if span > 1 else ""
            inner = _Writer(self.styles, None, None)
            inner.ids, inner.figures = self.ids, self.figures
            side = next((s for s in ("right", "center") if s in cell.classes), "left")
            together = "<w:keepNext/>" if keep or head else ""
            inner.paragraph(
                inner._children(cell, Run()), "th" if cell.tag == "th" else "td", f'{together}<w:jc w:val="{side}"/>'
            )
            cells += (
                f'<w:tc><w:tcPr><w:tcW w:w="{width}" w:type="dxa"/>{spanned}{shade}</w:tcPr>{"".join(inner.out)}</w:tc>'
            )
        return f"<w:tr><w:trPr><w:cantSplit/>{'<w:tblHeader/>' if head else ''}</w:trPr>{cells}</w:tr>"

    def _image(self, image: HtmlElement) -> None:
        if self.relation is None or self.picture is None:
            self.paragraph([_text(image.get("alt", ""), Run(italic=True))], "figcaption")
            return
        width_px, height_px = _png_size(self.picture.png)
        across, down = (round(pixels / self.picture.ppi * EMU_PER_INCH) for pixels in (width_px, height_px))
        names = f'id="1" name="Mapa" descr={quoteattr(self.picture.alt)}'
        drawing = (
            '<w:r><w:drawing><wp:inline xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing" '
            f'distT="0" distB="0" distL="0" distR="0"><wp:extent cx="{across}" cy="{down}"/><wp:docPr {names}/>'
            '<a:graphic xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main">'
            '<a:graphicData uri="http://schemas.openxmlformats.org/drawingml/2006/picture">'
            '<pic:pic xmlns:pic="http://schemas.openxmlformats.org/drawingml/2006/picture">'
            f"<pic:nvPicPr><pic:cNvPr {names}/><pic:cNvPicPr/></pic:nvPicPr><pic:blipFill>"
            f'<a:blip xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships" r:embed="{self.relation}"/>'
            f'<a:stretch><a:fillRect/></a:stretch></pic:blipFill><pic:spPr><a:xfrm><a:off x="0" y="0"/><a:ext cx="{across}" '
            f'cy="{down}"/></a:xfrm><a:prstGeom prst="rect"><a:avLst/></a:prstGeom></pic:spPr></pic:pic></a:graphicData>'
            "</a:graphic></wp:inline></w:drawing></w:r>"
        )
        self.paragraph([drawing], "figcaption", "<w:keepNext/>")


def body_xml(
    body: HtmlElement, styles: Mapping[str, str], relation: str | None, picture: Pictured | None
) -> tuple[str, tuple[NamedFigure, ...]]:
    """Return a page's body as paragraphs and tables of WordprocessingML, and the figures in it in their order.

    Parameters
    ----------
    body : HtmlElement
        Body of a page of ours (:func:`geobill.documents.html.page`).
    styles : mapping
        Style ids of the skeleton by style name; those of ``STYLES`` must be there.
    relation, picture : str, Pictured or None
        Relationship id of the map's picture and the picture; None leaves its words alone.
    """
    writer = _Writer(styles, relation, picture)
    writer.blocks(body, "p")
    return "".join(writer.out), tuple(writer.figures)


def bookmark(number: int) -> str:
    """Name of the bookmark around a figure, by the figure's place in the document from 1."""
    return f"geobill_{number:05d}"


def _paragraph_style(element: HtmlElement, kinds: set[str], style: str) -> str:
    if element.tag in {"h1", "h2", "h3", "h4"}:
        return element.tag
    return next(kind for kind in (*sorted(kinds), style if element.tag == "p" else element.tag, "p") if kind in STYLES)


def _seen(element: HtmlElement, run: Run) -> Run:
    kinds = set(element.classes)
    return Run(
        bold=run.bold or element.tag in {"strong", "b"},
        italic=run.italic or element.tag in {"em", "i"},
        small=run.small or "small" in kinds,
        mono=run.mono or "mono" in kinds,
        alarm=run.alarm or "alarm" in kinds,
    )


def _text(text: str, run: Run) -> str:
    kept = text.replace("\n", " ")
    return f'<w:r>{run.properties()}<w:t xml:space="preserve">{escape(kept)}</w:t></w:r>' if kept else ""


def _trimmed(runs: list[str]) -> list[str]:
    """Take breaks and empty text off either end."""
    empty = ("<w:r><w:br/></w:r>", '<w:r><w:t xml:space="preserve"> </w:t></w:r>', "")
    kept = list(runs)
    while kept and kept[0] in empty:
        kept.pop(0)
    while kept and kept[-1] in empty:
        kept.pop()
    return kept


def _above(points: int) -> str:
    return f'<w:spacing w:before="{points * 20}" w:after="0"/>'


def _widths(table: HtmlElement) -> list[int]:
    """Column widths in twips: millimetres as they are, shares of what is left by their number, automatic ones by need."""
    told = (table.getparent().get("data-columns") or "").split(";")
    fixed = [float(w[:-2]) if w.endswith("mm") else 0.0 for w in told]
    longest = [4.0] * len(told)
    for row in table.iter("tr"):
        at = 0
        for cell in row:
            span = int(cell.get("colspan", "1"))
            if span == 1 and at < len(longest):
                words = [*cell.text_content().split(), ""]
                longest[at] = max(longest[at], max(map(len, words)), min(len(cell.text_content()), 16))
            at += span
    wanted = [f or (1.7 * n + 3 if w == "auto" else 0.0) for f, w, n in zip(fixed, told, longest, strict=True)]
    shares = [float(w[:-2]) if w.endswith("fr") else 0.0 for w in told]
    left = TEXT_WIDTH_MM - sum(wanted)
    per_share = max(left, 20.0) / sum(shares) if sum(shares) else 0.0
    mm = [w or s * per_share for w, s in zip(wanted, shares, strict=True)]
    scale = TEXT_WIDTH_MM / sum(mm)
    return [round(m * scale * TWIPS_PER_MM) for m in mm]


def _parts(block: HtmlElement) -> Iterator[HtmlElement]:
    """Parts of the block for signatures in order: lines, grids, and texts between them as paragraphs of their own."""
    inner = block
    while len(inner) == 1 and inner[0].tag == "div":
        inner = inner[0]
    loose = inner.makeelement("p")
    loose.text = inner.text
    for child in list(inner):
        if child.tag == "hr" or child.tag in INLINE_BLOCKS:
            if loose.text_content().strip():
                yield loose
            yield child
            loose = inner.makeelement("p")
            loose.text = child.tail
        else:
            loose.append(child)
    if loose.text_content().strip():
        yield loose


def _png_size(png: bytes) -> tuple[int, int]:
    """Width and height from a PNG's header."""
    return int.from_bytes(png[16:20], "big"), int.from_bytes(png[20:24], "big")
