"""Typst's HTML made into one page that stands alone: our stylesheet inside, figures named, no script and no request."""

import re
from functools import cache
from html import escape

import lxml.html
from lxml.html import HtmlElement

from geobill.documents.figures import NamedFigure, key_of, name_of
from geobill.documents.typesetting import TEMPLATES
from geobill.errors import TemplateError

POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; form-action 'none'; base-uri 'none'"
_TAGS = (
    "html head meta title body h1 h2 h3 h4 h5 h6 p div span strong em b i u s sub sup br hr ul ol li dl dt dd table "
    "thead tbody tfoot tr th td caption colgroup col figure figcaption img footer blockquote code pre small a"
)
_ATTRIBUTES = (
    "class lang charset name content colspan rowspan scope alt src width height style href id role tabindex start "
    "data-columns data-align data-name data-mm aria-label"
)
TAGS, ATTRIBUTES = frozenset(_TAGS.split()), frozenset(_ATTRIBUTES.split())
COLOUR = re.compile(r"--colour: #[0-9a-fA-F]{6};?")
DATA_IMAGE = re.compile(r"data:image/(?:svg\+xml|png|jpeg|gif|webp);base64,[A-Za-z0-9+/=]*")
NOTHING_WIDE = {"0pt", "0% + 0pt"}
MANY_COLUMNS = 8
PRE_WRAPPED = "white-space: pre-wrap"


@cache
def stylesheet() -> str:
    """Look of the pages, as text that goes into each of them."""
    return (TEMPLATES / "pagina.css").read_text(encoding="utf-8")


def page(raw: str, digest: str, what: str) -> bytes:
    """Finish what Typst made: headings from ``h1``, cells aligned, stylesheet and policy in the head.

    Parameters
    ----------
    raw : str
        HTML as Typst wrote it.
    digest : str
        SHA-256 of the record, kept in the head, so that other files can be compared with this one.
    what : str
        Template's name, for the message.

    Raises
    ------
    TemplateError
        If the page holds what a document mustn't: scripts, forms, something fetched from elsewhere.
    """
    root = lxml.html.document_fromstring(raw)
    _check(root, what)
    for element in list(root.iter("h2", "h3", "h4", "h5", "h6")):
        element.tag = f"h{int(element.tag[1]) - 1}"
    for element in list(root.iter("span")):
        _plain_span(element)
    for holder in root.iter("div"):
        if "scroll" in holder.classes:
            _align(holder)
    for image in root.iter("img"):
        width_mm = re.search(r"width: ([\d.]+)pt", image.get("style", ""))
        image.attrib.pop("style", None)
        if width_mm:
            image.set("style", f"width: {round(float(width_mm[1]) / 72 * 25.4)}mm")
    for blank in root.iter("span"):
        if "blank" in blank.classes:
            blank.set("style", f"width: {int(blank.get('data-mm'))}mm")
    _name_figures(root)
    body = lxml.html.tostring(root.body, encoding="unicode")
    title = escape(root.findtext("head/title") or "")
    author = escape(next((m.get("content", "") for m in root.iter("meta") if m.get("name") == "authors"), ""))
    head = (
        '<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        f'<title>{title}</title><meta name="author" content="{author}">'
        f'<meta name="geobill-record" content="{escape(digest)}"><style>\n{stylesheet()}</style>'
    )
    return f'<!DOCTYPE html>\n<html lang="pt-BR"><head>{head}</head>\n{body}</html>\n'.encode()


def read_page(html: bytes) -> HtmlElement:
    """Return the body of a page."""
    return lxml.html.document_fromstring(html.decode()).body


def record_of(html: bytes) -> str:
    """Return the SHA-256 of the record that a page was made from."""
    root = lxml.html.document_fromstring(html.decode())
    return next((m.get("content", "") for m in root.iter("meta") if m.get("name") == "geobill-record"), "")


def figures_in(body: HtmlElement) -> tuple[NamedFigure, ...]:
    """Figures of a page in the order of the text."""
    return tuple(
        NamedFigure(span.get("data-figure", ""), span.get("data-name", ""), span.text_content())
        for span in body.iter("span")
        if span.get("data-figure")
    )


def text_lines(html: bytes) -> list[str]:
    """Text of a page, a line for each paragraph, heading, row; for comparing two pages."""
    lines: list[str] = []
    _gather(read_page(html), lines, [""])
    return [line for line in (re.sub(r"\s+", " ", text).strip() for text in lines) if line]


def _gather(element: HtmlElement, lines: list[str], open_line: list[str]) -> None:
    block = element.tag in {
        "p",
        "div",
        "h1",
        "h2",
        "h3",
        "h4",
        "tr",
        "li",
        "figcaption",
        "footer",
        "figure",
        "body",
        "br",
    }
    if block:
        lines.append(open_line.pop())
        open_line.append("")
    open_line[0] += element.text or ""
    for child in element:
        _gather(child, lines, open_line)
        open_line[0] += (" | " if child.tag in {"td", "th"} else "") + (child.tail or "")
    if block:
        lines.append(open_line.pop())
        open_line.append("")


def _check(root: HtmlElement, what: str) -> None:
    for element in root.iter():
        tag = element.tag if isinstance(element.tag, str) else "comment"
        fault = f"<{tag}>" if tag not in TAGS else None
        for name, value in element.attrib.items():
            if name not in ATTRIBUTES:
                fault = f"{name}= on <{tag}>"
            elif name == "src" and not DATA_IMAGE.fullmatch(value):
                fault = f"src={value[:40]!r}"
            elif name == "href" and not value.startswith(("#", "mailto:", "https://", "http://")):
                fault = f"href={value[:40]!r}"
            elif name == "style" and re.search(r"url|expression|@|\\", value, re.IGNORECASE):
                fault = f"style={value[:40]!r}"
        if fault:
            raise TemplateError(
                f"{what} puts {fault} into the HTML: a document there is text, tables and pictures that stand alone, without "
                "scripts, forms or anything fetched from elsewhere. No document was made. Take it out of the template."
            )


def _plain_span(span: HtmlElement) -> None:
    """Turn what Typst marks up for its own reasons into what it is: a space, a paragraph."""
    style = span.get("style", "")
    if PRE_WRAPPED in style and not len(span) and not span.classes:
        span.drop_tag()
    elif "display: block" in style:
        span.tag = "p"
        del span.attrib["style"]
    elif style and not COLOUR.fullmatch(style):
        del span.attrib["style"]


def _align(holder: HtmlElement) -> None:
    """Give cells their column's side; take out a column without width, which only keeps rows together on paper."""
    widths = holder.attrib.pop("data-columns").split(";")
    sides = holder.attrib.pop("data-align").split(";")
    kept = [place for place, width in enumerate(widths) if width not in NOTHING_WIDE]
    holder.set("data-columns", ";".join(_share(widths[place]) for place in kept))
    if len(kept) >= MANY_COLUMNS:
        holder.classes.add("wide")
    taken: dict[tuple[int, int], bool] = {}
    for y, row in enumerate(holder.iter("tr")):
        x = 0
        for cell in list(row):
            while taken.get((y, x)):
                x += 1
            across, down = int(cell.get("colspan", "1")), int(cell.get("rowspan", "1"))
            taken.update({(y + j, x + i): True for i in range(across) for j in range(down)})
            visible = sum(1 for place in range(x, x + across) if place in kept)
            if not visible:
                row.remove(cell)
            else:
                _set_span(cell, visible)
                whole_text = across > 1 and visible > 1
                cell.classes.add("left" if whole_text else sides[x % len(sides)])
            x += across
        if any("total" in strong.classes for strong in row.iter("strong")):
            row.classes.add("sum")


def _set_span(cell: HtmlElement, columns: int) -> None:
    cell.attrib.pop("colspan", None)
    if columns > 1:
        cell.set("colspan", str(columns))


def _share(width: str) -> str:
    """Width of a column in millimetres or shares: "10mm", "2fr", "auto"."""
    points = re.fullmatch(r"(?:0% \+ )?([\d.]+)pt", width)
    return f"{round(float(points[1]) / 72 * 25.4, 1):g}mm" if points else width


def _name_figures(root: HtmlElement) -> None:
    counts: dict[str, int] = {}
    for span in root.body.iter("span"):
        if "figure" in span.classes:
            expression = span.get("data-name", "")
            start = key_of(expression, 0)
            counts[start] = counts.get(start, 0) + 1
            span.set("data-figure", key_of(expression, counts[start]))
            span.set("data-name", name_of(expression, counts[start]))
